"""The stand-in for AWS on the wire: Debian's aws CLI, connections, certificates, a process of its own."""

import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.request

import boto3
import pytest
from botocore.exceptions import ClientError

from tests.services import places
from tests.services.aws.testing import (
    TRUST,
    allow,
    aws,  # noqa: F401
    policy,
)

ANYTHING = policy(allow("s3:*"))

# Debian's aws CLI: all commands in one process of the system's Python, because each start takes seconds.

CLI = """
import contextlib, io, json, sys
from awscli.clidriver import create_clidriver
answers = []
for words in json.load(sys.stdin):
    out, err = io.TextIOWrapper(io.BytesIO(), write_through=True), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = create_clidriver().main(words)
        except SystemExit as end:
            status = end.code
    answers.append([status, out.buffer.getvalue().decode(), err.getvalue()])
json.dump(answers, sys.stdout)
"""


def cli(aws, *commands, **environment):
    """Run commands of the aws CLI; (exit code, parsed output or None, errors) for each."""
    if subprocess.run(["/usr/bin/python3", "-c", "import awscli"], capture_output=True).returncode != 0:
        pytest.fail("Debian's awscli is not installed: apt-get install awscli", pytrace=False)
    everywhere = ["--endpoint-url", aws.url, "--output", "json", "--no-cli-pager"]
    words = [[*command, *everywhere] for command in commands]
    env = {"PATH": os.environ["PATH"], "HOME": str(aws.folder), **aws.environment(), **environment}
    done = subprocess.run(
        ["/usr/bin/python3", "-c", CLI], input=json.dumps(words), env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return [(s, json.loads(o) if o.strip().startswith("{") else o, e) for s, o, e in json.loads(done.stdout)]


def test_debians_aws_cli_accepts_it(aws, tmp_path):
    body = tmp_path / "body"
    body.write_bytes(b"hello" * 1000)
    net, trust = aws.network(), json.dumps(TRUST)
    network = f"subnetIds={net.subnets['private-nat']},securityGroupIds={net.groups['open-egress']}"
    results = cli(
        aws,
        ["sts", "get-caller-identity"],
        ["s3api", "create-bucket", "--bucket", "stage-1"],
        ["s3api", "put-object", "--bucket", "stage-1", "--key", "a+b c/ü", "--body", str(body)],
        ["s3api", "head-object", "--bucket", "stage-1", "--key", "a+b c/ü"],
        ["s3api", "list-objects-v2", "--bucket", "stage-1", "--prefix", "a+b"],
        ["s3api", "get-public-access-block", "--bucket", "stage-1"],
        ["s3api", "delete-object", "--bucket", "stage-1", "--key", "a+b c/ü"],
        ["iam", "create-role", "--role-name", "job", "--assume-role-policy-document", trust],
        ["iam", "put-role-policy", "--role-name", "job", "--policy-name", "p", "--policy-document", ANYTHING],
        ["iam", "create-user", "--user-name", "writer"],
        ["iam", "create-access-key", "--user-name", "writer"],
        ["iam", "list-users"],
        ["ssm", "put-parameter", "--name", "/estuary/x", "--value", "v", "--type", "SecureString"],
        ["ssm", "get-parameter", "--name", "/estuary/x", "--with-decryption"],
        ["emr-serverless", "create-application", "--type", "SPARK", "--release-label", "emr-7.12.0"]
        + ["--network-configuration", network],
        ["emr-serverless", "list-applications"],
        ["ec2", "describe-subnets"],
        ["ec2", "describe-route-tables"],
        ["iam", "get-role", "--role-name", "nobody"],
    )
    for status, _, errors in results[:-1]:
        assert (status, errors) == (0, "")
    assert results[0][1]["Arn"].endswith(":user/admin")
    assert results[3][1]["ContentLength"] == 5000
    assert [o["Key"] for o in results[4][1]["Contents"]] == ["a+b c/ü"]
    assert results[10][1]["AccessKey"]["SecretAccessKey"]
    assert results[13][1]["Parameter"]["Value"] == "v"
    assert results[15][1]["applications"][0]["state"] in ("CREATING", "CREATED")
    assert results[-1][0] == 254 and "(NoSuchEntity)" in results[-1][2]


def test_the_cli_understands_the_refusals(aws):
    key = aws.client("iam")
    key.create_user(UserName="nobody")
    made = key.create_access_key(UserName="nobody")["AccessKey"]
    asks = (
        ["iam", "list-users"],
        ["s3api", "list-buckets"],
        ["ssm", "get-parameter", "--name", "/x"],
        ["emr-serverless", "list-applications"],
        ["ec2", "describe-vpcs"],
    )
    nobody = {"AWS_ACCESS_KEY_ID": made["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": made["SecretAccessKey"]}
    denied = cli(aws, *asks, **nobody)
    for (status, _, errors), wanted in zip(
        denied,
        ("(AccessDenied)", "(AccessDenied)", "(AccessDeniedException)", "(AccessDeniedException)")
        + ("(UnauthorizedOperation)",),
        strict=True,
    ):
        assert status == 254 and wanted in errors and "is not authorized to perform: " in errors
    wrong = cli(aws, *asks, **{**nobody, "AWS_SECRET_ACCESS_KEY": "x" * 40})
    for (status, _, errors), wanted in zip(
        wrong,
        ("(SignatureDoesNotMatch)", "(SignatureDoesNotMatch)", "(InvalidSignatureException)")
        + ("(InvalidSignatureException)", "(AuthFailure)"),
        strict=True,
    ):
        assert status == 254 and wanted in errors


# The wire and the process.


def test_one_connection_for_many_calls(aws):
    sts = aws.client("sts")
    mark = aws.log.mark()
    for _ in range(20):
        sts.get_caller_identity()
    entries = aws.log.entries(mark)
    assert {e["connection"] for e in entries} == {entries[0]["connection"]}
    assert [e["request_on_connection"] for e in entries] == list(range(1, 21))


def test_calls_are_quick(aws):
    """A bound against accidents, not a measurement: the median is some milliseconds."""
    sts, iam = aws.client("sts"), aws.client("iam")
    for call in (sts.get_caller_identity, iam.list_users):
        call()
        begin = time.perf_counter()
        for _ in range(20):
            call()
        assert (time.perf_counter() - begin) / 20 < 0.2


def test_tls_is_real(aws):
    context = ssl.create_default_context(cafile=str(aws.ca_file))
    plain_client = http.client.HTTPSConnection("127.0.0.1", aws.port, context=context, timeout=5)
    plain_client.request("HEAD", "/some-bucket")
    assert plain_client.getresponse().status == 404
    plain_client.close()
    with pytest.raises(ssl.SSLCertVerificationError):
        http.client.HTTPSConnection("127.0.0.1", aws.port, context=ssl.create_default_context(), timeout=5).connect()
    for how in ("unknown-ca", "wrong-name", "expired"):
        port = int(aws.broken_tls_url(how).rpartition(":")[2])
        with pytest.raises(ssl.SSLCertVerificationError):
            http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=5).connect()


def test_region_of_a_bucket_without_signature(aws):
    aws.make_bucket("lake-1", "eu-west-1")
    context = ssl.create_default_context(cafile=str(aws.ca_file))
    client = http.client.HTTPSConnection("127.0.0.1", aws.port, context=context, timeout=5)
    client.request("HEAD", "/lake-1")
    answer = client.getresponse()
    assert (answer.status, answer.getheader("x-amz-bucket-region"), answer.read()) == (403, "eu-west-1", b"")


def test_as_a_process(tmp_path):
    """Files for clients, control over HTTP, and no life after the one who started it."""
    starter = (
        "import subprocess, sys, time\n"
        "p = subprocess.Popen([sys.executable, '-m', 'tests.services.aws', '--dir', sys.argv[1],"
        " '--bucket', 'lake-1:eu-west-1'], stdout=subprocess.PIPE, text=True)\n"
        "print(p.stdout.readline().strip(), p.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(places.REPO)}
    command = [sys.executable, "-c", starter, str(tmp_path)]
    parent = subprocess.Popen(command, cwd=places.REPO, env=env, stdout=subprocess.PIPE, text=True)
    try:
        ready, pid = parent.stdout.readline().split()
        assert ready == "ready"
        endpoint = json.loads((tmp_path / "endpoint.json").read_text())
        keys = json.loads((tmp_path / "admin.json").read_text())
        assert (tmp_path / "admin.json").stat().st_mode & 0o777 == 0o600
        s3 = boto3.client(
            "s3",
            endpoint_url=endpoint["url"],
            verify=endpoint["ca_file"],
            region_name="eu-west-1",
            aws_access_key_id=keys["access_key_id"],
            aws_secret_access_key=keys["secret_access_key"],
        )
        assert s3.head_bucket(Bucket="lake-1")["BucketRegion"] == "eu-west-1"

        def control(method, path, body=None):
            ask = urllib.request.Request(endpoint["control_url"] + path, json.dumps(body).encode() if body else None)
            ask.get_method = lambda: method
            with urllib.request.urlopen(ask, timeout=10) as answer:
                return json.load(answer)

        assert [e["action"] for e in control("GET", "/log")] == ["s3:HeadBucket"]
        assert control("GET", "/contents")["buckets"] == ["lake-1"]
        control("POST", "/faults", {"kind": "error", "operation": "HeadBucket", "code": "Odd", "status": 418})
        with pytest.raises(ClientError):
            s3.head_bucket(Bucket="lake-1")
        assert control("GET", "/check") == {"unmet": [], "defects": []}
        before = control("GET", "/clock")["now"]
        assert control("POST", "/clock", {"advance": 1000})["now"] >= before + 1000
        assert set(control("GET", "/network")["subnets"]) >= {"public", "private-nat", "private-closed"}
        assert control("POST", "/reset") is None
        assert control("GET", "/contents")["buckets"] == []
        logged = (tmp_path / "requests.jsonl").read_text()
        assert keys["secret_access_key"] not in logged and keys["access_key_id"] not in logged
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    for _ in range(100):
        if not os.path.exists(f"/proc/{pid}"):
            return
        time.sleep(0.05)
    pytest.fail("the stand-in outlived the process that started it")


def started(folder, *options, region="us-east-1"):
    """A stand-in in a process of its own: the process, a maker of boto3 clients, what it says of itself."""
    command = [sys.executable, "-m", "tests.services.aws", "--dir", str(folder), "--region", region, *options]
    process = subprocess.Popen(command, cwd=places.REPO, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().strip() == "ready"
    endpoint = json.loads((folder / "endpoint.json").read_text())
    keys = json.loads((folder / "admin.json").read_text())

    def client(service):
        return boto3.client(
            service,
            endpoint_url=endpoint["url"],
            verify=endpoint["ca_file"],
            region_name=region,
            aws_access_key_id=keys["access_key_id"],
            aws_secret_access_key=keys["secret_access_key"],
        )

    return process, client, endpoint


def test_an_account_that_is_kept(tmp_path):
    """Killed with -9 and started again: the same resources, keys, ports and CA; a job run goes on."""
    process, client, before = started(tmp_path, "--keep")
    try:
        client("iam").create_user(UserName="writer")
        key = client("iam").create_access_key(UserName="writer")["AccessKey"]
        client("s3").create_bucket(Bucket="stage-1")
        client("s3").put_object(Bucket="stage-1", Key="k", Body=b"hello")
        client("ssm").put_parameter(Name="/estuary/x", Value="v", Type="SecureString")
        subnets = [s["SubnetId"] for s in client("ec2").describe_subnets()["Subnets"]]
        given = {"releaseLabel": "emr-7.12.0", "type": "SPARK", "clientToken": "t"}
        application = client("emr-serverless").create_application(**given)["applicationId"]
        time.sleep(1.2)
    finally:
        process.kill()
        process.wait()
    process, client, after = started(tmp_path, "--keep")
    try:
        assert after == {**before, "pid": after["pid"]}
        listed = client("iam").list_access_keys(UserName="writer")["AccessKeyMetadata"]
        assert [k["AccessKeyId"] for k in listed] == [key["AccessKeyId"]]
        assert client("s3").get_object(Bucket="stage-1", Key="k")["Body"].read() == b"hello"
        parameter = client("ssm").get_parameter(Name="/estuary/x", WithDecryption=True)["Parameter"]
        assert parameter["Value"] == "v"
        assert [s["SubnetId"] for s in client("ec2").describe_subnets()["Subnets"]] == subnets
        assert client("emr-serverless").create_application(**given)["applicationId"] == application
    finally:
        process.kill()
        process.wait()


@pytest.mark.long
@pytest.mark.parametrize(("region", "partition"), [("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")])
def test_another_partition(tmp_path, region, partition):
    process, client, _ = started(tmp_path, region=region)
    try:
        arn = client("sts").get_caller_identity()["Arn"]
        assert arn == f"arn:{partition}:iam::123456789012:user/admin"
        assert client("iam").create_user(UserName="writer")["User"]["Arn"].startswith(f"arn:{partition}:iam::")
        client("s3").create_bucket(Bucket="stage-1", CreateBucketConfiguration={"LocationConstraint": region})
        client("ssm").put_parameter(Name="/x", Value="v", Type="String")
        parameter = client("ssm").get_parameter(Name="/x")["Parameter"]
        assert parameter["ARN"] == f"arn:{partition}:ssm:{region}:123456789012:parameter/x"
        made = client("emr-serverless").create_application(releaseLabel="emr-7.12.0", type="SPARK")
        assert made["arn"].startswith(f"arn:{partition}:emr-serverless:{region}:")
    finally:
        process.kill()
        process.wait()
