"""The stand-in for AWS answers like AWS: boto3 and Debian's aws CLI make every call that sluice will make."""

import http.client
import io
import json
import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.request

import pytest
from botocore.exceptions import ClientError

from tests.services import places
from tests.services.aws import AwsStandIn

TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"Service": "emr-serverless.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }
    ],
}


def policy(*statements):
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


ANYTHING = policy({"Effect": "Allow", "Action": "s3:*", "Resource": "*"})


@pytest.fixture
def aws():
    running = AwsStandIn.shared()
    running.reset()
    yield running
    running.check()


def code(call, **given):
    """The error code and the message of a call that must fail."""
    with pytest.raises(ClientError) as caught:
        call(**given)
    return caught.value.response["Error"]["Code"], caught.value.response["Error"]["Message"]


def plain(answer):
    return {k: v for k, v in answer.items() if k != "ResponseMetadata"}


# Every call of the product, by boto3.


def test_identity(aws):
    answer = aws.client("sts").get_caller_identity()
    assert answer["Account"] == "123456789012"
    assert answer["Arn"] == "arn:aws:iam::123456789012:user/admin"
    assert answer["UserId"].startswith("AIDA")
    assert answer["ResponseMetadata"]["RequestId"] == aws.log.entries()[-1]["request_id"]


def test_role_with_its_policies(aws):
    iam = aws.client("iam")
    made = iam.create_role(
        RoleName="job",
        Path="/team/",
        AssumeRolePolicyDocument=json.dumps(TRUST),
        Tags=[{"Key": "sluice:run", "Value": "7f3c"}],
    )["Role"]
    assert made["Arn"] == "arn:aws:iam::123456789012:role/team/job"
    iam.put_role_policy(RoleName="job", PolicyName="lake", PolicyDocument=ANYTHING)
    found = iam.get_role(RoleName="job")["Role"]
    assert found["AssumeRolePolicyDocument"] == TRUST
    assert found["Tags"] == [{"Key": "sluice:run", "Value": "7f3c"}]
    assert iam.list_role_policies(RoleName="job")["PolicyNames"] == ["lake"]
    assert iam.list_attached_role_policies(RoleName="job")["AttachedPolicies"] == []
    assert iam.get_role_policy(RoleName="job", PolicyName="lake")["PolicyDocument"] == json.loads(ANYTHING)
    other = json.loads(json.dumps(TRUST))
    other["Statement"][0]["Principal"]["Service"] = "ec2.amazonaws.com"
    iam.update_assume_role_policy(RoleName="job", PolicyDocument=json.dumps(other))
    assert iam.get_role(RoleName="job")["Role"]["AssumeRolePolicyDocument"] == other
    assert code(iam.delete_role, RoleName="job")[0] == "DeleteConflict"
    iam.delete_role_policy(RoleName="job", PolicyName="lake")
    iam.delete_role(RoleName="job")
    assert code(iam.get_role, RoleName="job") == ("NoSuchEntity", "The role with name job cannot be found.")


def test_user_with_a_key(aws):
    iam = aws.client("iam")
    iam.create_user(UserName="writer", Tags=[{"Key": "sluice:run", "Value": "7f3c"}])
    iam.put_user_policy(UserName="writer", PolicyName="use", PolicyDocument=ANYTHING)
    assert iam.get_user_policy(UserName="writer", PolicyName="use")["PolicyDocument"] == json.loads(ANYTHING)
    assert iam.list_user_policies(UserName="writer")["PolicyNames"] == ["use"]
    key = iam.create_access_key(UserName="writer")["AccessKey"]
    mine = aws.client("sts", key["AccessKeyId"], key["SecretAccessKey"]).get_caller_identity()
    assert mine["Arn"] == "arn:aws:iam::123456789012:user/writer"
    listed = iam.list_access_keys(UserName="writer")["AccessKeyMetadata"]
    assert [(k["AccessKeyId"], k["Status"]) for k in listed] == [(key["AccessKeyId"], "Active")]
    used = iam.get_access_key_last_used(AccessKeyId=key["AccessKeyId"])["AccessKeyLastUsed"]
    assert used["ServiceName"] == "sts"
    assert iam.get_user(UserName="writer")["User"]["Tags"] == [{"Key": "sluice:run", "Value": "7f3c"}]
    assert iam.get_user()["User"]["UserName"] == "admin"
    iam.update_access_key(UserName="writer", AccessKeyId=key["AccessKeyId"], Status="Inactive")
    refused = code(aws.client("sts", key["AccessKeyId"], key["SecretAccessKey"]).get_caller_identity)
    assert refused[0] == "InvalidClientTokenId"
    assert code(iam.delete_user, UserName="writer")[0] == "DeleteConflict"
    iam.delete_access_key(UserName="writer", AccessKeyId=key["AccessKeyId"])
    iam.delete_user_policy(UserName="writer", PolicyName="use")
    iam.delete_user(UserName="writer")
    assert not any(aws.contents().values())


def test_managed_policy_and_boundary(aws):
    iam = aws.client("iam")
    arn = iam.create_policy(PolicyName="edge", PolicyDocument=ANYTHING)["Policy"]["Arn"]
    iam.create_user(UserName="writer")
    iam.attach_user_policy(UserName="writer", PolicyArn=arn)
    iam.put_user_permissions_boundary(UserName="writer", PermissionsBoundary=arn)
    assert iam.list_attached_user_policies(UserName="writer")["AttachedPolicies"][0]["PolicyArn"] == arn
    boundary = iam.get_user(UserName="writer")["User"]["PermissionsBoundary"]
    assert boundary["PermissionsBoundaryArn"] == arn
    assert [p["PolicyName"] for p in iam.list_policies(Scope="Local")["Policies"]] == ["edge"]
    assert iam.get_policy_version(PolicyArn=arn, VersionId="v1")["PolicyVersion"]["Document"] == json.loads(ANYTHING)


def test_service_linked_role(aws):
    iam = aws.client("iam")
    made = iam.create_service_linked_role(AWSServiceName="ops.emr-serverless.amazonaws.com")["Role"]
    assert made["RoleName"] == "AWSServiceRoleForAmazonEMRServerless"
    assert made["Path"] == "/aws-service-role/ops.emr-serverless.amazonaws.com/"
    again = code(iam.create_service_linked_role, AWSServiceName="ops.emr-serverless.amazonaws.com")
    assert again[0] == "InvalidInput" and "has been taken in this account" in again[1]
    assert code(iam.delete_role, RoleName=made["RoleName"])[0] == "UnmodifiableEntity"


def test_simulator_uses_the_same_rules(aws):
    iam = aws.client("iam")
    iam.create_user(UserName="writer")
    pass_role = {
        "Effect": "Allow",
        "Action": "iam:PassRole",
        "Resource": "*",
        "Condition": {"StringEquals": {"iam:PassedToService": "emr-serverless.amazonaws.com"}},
    }
    deny = {"Effect": "Deny", "Action": "s3:DeleteObject", "Resource": "*"}
    iam.put_user_policy(UserName="writer", PolicyName="p", PolicyDocument=policy(pass_role, deny))
    who = "arn:aws:iam::123456789012:user/writer"
    actions = ["iam:PassRole", "s3:DeleteObject", "s3:GetObject"]
    results = iam.simulate_principal_policy(PolicySourceArn=who, ActionNames=actions)["EvaluationResults"]
    assert [r["EvalDecision"] for r in results] == ["implicitDeny", "explicitDeny", "implicitDeny"]
    assert results[0]["MissingContextValues"] == ["iam:PassedToService"]
    entry = {
        "ContextKeyName": "iam:PassedToService",
        "ContextKeyType": "string",
        "ContextKeyValues": ["emr-serverless.amazonaws.com"],
    }
    results = iam.simulate_principal_policy(
        PolicySourceArn=who, ActionNames=["iam:PassRole"], ContextEntries=[entry]
    )["EvaluationResults"]
    assert results[0]["EvalDecision"] == "allowed"
    custom = iam.simulate_custom_policy(PolicyInputList=[ANYTHING], ActionNames=["s3:GetObject"])
    assert custom["EvaluationResults"][0]["EvalDecision"] == "allowed"


KEYS = ["plain", "a+b", "sp ace", "=:@", "ü", "%2B", "~", "a//b", "(x)!*'", "$&,;"]


def test_buckets_and_objects(aws):
    s3 = aws.client("s3")
    s3.create_bucket(Bucket="stage-1")
    assert s3.head_bucket(Bucket="stage-1")["BucketRegion"] == "us-east-1"
    block = s3.get_public_access_block(Bucket="stage-1")["PublicAccessBlockConfiguration"]
    assert all(block.values()) and len(block) == 4
    s3.put_public_access_block(Bucket="stage-1", PublicAccessBlockConfiguration={**block, "BlockPublicAcls": False})
    changed = s3.get_public_access_block(Bucket="stage-1")["PublicAccessBlockConfiguration"]
    assert changed["BlockPublicAcls"] is False
    rule = {"Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]}
    s3.put_bucket_encryption(Bucket="stage-1", ServerSideEncryptionConfiguration=rule)
    shown = s3.get_bucket_encryption(Bucket="stage-1")["ServerSideEncryptionConfiguration"]["Rules"][0]
    assert shown["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    for key in KEYS:
        s3.put_object(Bucket="stage-1", Key="estuary-staging/" + key, Body=key.encode())
        assert s3.get_object(Bucket="stage-1", Key="estuary-staging/" + key)["Body"].read() == key.encode()
        assert s3.head_object(Bucket="stage-1", Key="estuary-staging/" + key)["ContentLength"] == len(key.encode())
    listed = s3.list_objects_v2(Bucket="stage-1", Prefix="estuary-staging/")
    assert sorted(o["Key"].removeprefix("estuary-staging/") for o in listed["Contents"]) == sorted(KEYS)
    s3.upload_fileobj(io.BytesIO(b"x" * 100_000), "stage-1", "streamed")
    assert s3.head_object(Bucket="stage-1", Key="streamed")["ContentLength"] == 100_000
    s3.put_object(Bucket="stage-1", Key="once", Body=b"1", IfNoneMatch="*")
    assert code(s3.put_object, Bucket="stage-1", Key="once", Body=b"2", IfNoneMatch="*")[0] == "PreconditionFailed"
    assert code(s3.get_object, Bucket="stage-1", Key="none")[0] == "NoSuchKey"
    assert code(s3.delete_bucket, Bucket="stage-1")[0] == "BucketNotEmpty"
    everything = [{"Key": o["Key"]} for o in s3.list_objects_v2(Bucket="stage-1")["Contents"]]
    assert len(s3.delete_objects(Bucket="stage-1", Delete={"Objects": everything})["Deleted"]) == len(everything)
    s3.delete_object(Bucket="stage-1", Key="never was")
    s3.delete_bucket(Bucket="stage-1")
    assert code(s3.head_bucket, Bucket="stage-1")[0] == "404"


def test_parameters(aws):
    ssm = aws.client("ssm")
    put = ssm.put_parameter(Name="/estuary/test", Value="test", Type="SecureString", Overwrite=True)
    assert put["Version"] == 1
    clear = ssm.get_parameter(Name="/estuary/test", WithDecryption=True)["Parameter"]
    assert clear["Value"] == "test"
    assert clear["ARN"] == "arn:aws:ssm:us-east-1:123456789012:parameter/estuary/test"
    assert "test" not in ssm.get_parameter(Name="/estuary/test")["Parameter"]["Value"]
    taken = code(ssm.put_parameter, Name="/estuary/test", Value="x", Type="SecureString")
    assert taken[0] == "ParameterAlreadyExists"
    ssm.delete_parameter(Name="/estuary/test")
    assert code(ssm.delete_parameter, Name="/estuary/test")[0] == "ParameterNotFound"


def test_network_is_there_to_choose_from(aws):
    ec2, net = aws.client("ec2"), aws.network()
    vpcs = ec2.describe_vpcs()["Vpcs"]
    assert [(v["VpcId"], v["IsDefault"]) for v in vpcs] == [(net.vpc, True)]
    subnets = {s["SubnetId"]: s for s in ec2.describe_subnets()["Subnets"]}
    assert set(net.subnets.values()) <= set(subnets)
    assert subnets[net.unsupported]["AvailabilityZoneId"] == "use1-az3"
    tables = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [net.vpc]}])["RouteTables"]
    routes = {}
    for table in tables:
        default = [r for r in table["Routes"] if r.get("DestinationCidrBlock") == "0.0.0.0/0"]
        for link in table["Associations"]:
            routes[link.get("SubnetId", "main")] = default[0] if default else None
    assert routes["main"]["GatewayId"].startswith("igw-")
    assert routes[net.subnets["private-nat"]]["NatGatewayId"].startswith("nat-")
    assert routes[net.subnets["private-closed"]] is None
    nats = ec2.describe_nat_gateways(Filters=[{"Name": "vpc-id", "Values": [net.vpc]}])["NatGateways"]
    assert nats[0]["ConnectivityType"] == "public" and nats[0]["State"] == "available"
    groups = {g["GroupId"]: g for g in ec2.describe_security_groups()["SecurityGroups"]}
    assert groups[net.groups["no-egress"]]["IpPermissionsEgress"] == []
    inbound = groups[net.groups["world-inbound"]]["IpPermissions"][0]
    assert inbound["IpRanges"][0]["CidrIp"] == "0.0.0.0/0"
    assert ec2.describe_vpc_endpoints()["VpcEndpoints"] == []


def test_application_and_job_run_live(aws):
    """From CREATING to TERMINATED; the job's states in order; the file that its contract promises."""
    aws.clock.run(0)
    emr, s3, net = aws.client("emr-serverless"), aws.client("s3"), aws.network()
    aws.make_bucket("stage-1")
    aws.put_object("stage-1", "code/job.py", b"pass")
    role = make_role(aws, {"Effect": "Allow", "Action": ["s3:*", "ssm:*"], "Resource": "*"})
    given = dict(
        name="shop",
        releaseLabel="emr-7.12.0",
        type="SPARK",
        architecture="X86_64",
        maximumCapacity={"cpu": "16 vCPU", "memory": "64 GB"},
        networkConfiguration={
            "subnetIds": [net.subnets["private-nat"]],
            "securityGroupIds": [net.groups["open-egress"]],
        },
        tags={"sluice:run": "7f3c"},
    )
    application = emr.create_application(**given)["applicationId"]

    def state():
        return emr.get_application(applicationId=application)["application"]["state"]

    assert state() == "CREATING"
    assert emr.list_job_runs(applicationId=application, maxResults=1)["jobRuns"] == []
    aws.clock.advance(1)
    shown = emr.get_application(applicationId=application)["application"]
    assert shown["state"] == "CREATED" and shown["type"] == "Spark"
    for name in ("architecture", "maximumCapacity", "networkConfiguration", "tags"):
        assert shown[name] == given[name]
    emr.update_application(applicationId=application, autoStopConfiguration={"enabled": True, "idleTimeoutMinutes": 5})
    job = emr.start_job_run(
        applicationId=application,
        executionRoleArn=role,
        jobDriver={
            "sparkSubmit": {
                "entryPoint": "s3://stage-1/code/job.py",
                "entryPointArguments": ["--status-output", "s3://stage-1/status.json", "--catalog-url", "https://c"],
            }
        },
    )["jobRunId"]
    seen = []
    for _ in range(200):
        run = emr.get_job_run(applicationId=application, jobRunId=job)["jobRun"]
        if not seen or seen[-1] != run["state"]:
            seen.append(run["state"])
        if run["state"] == "SUCCESS":
            break
        aws.clock.advance(0.25)
    assert seen == ["SUBMITTED", "PENDING", "SCHEDULED", "RUNNING", "SUCCESS"]
    assert run["executionRole"] == role and run["createdBy"].endswith("user/admin")
    assert run["billedResourceUtilization"]["vCPUHour"] > 0
    assert json.loads(s3.get_object(Bucket="stage-1", Key="status.json")["Body"].read()) == {"success": True}
    emr.cancel_job_run(applicationId=application, jobRunId=job)
    assert emr.get_job_run(applicationId=application, jobRunId=job)["jobRun"]["state"] == "SUCCESS"
    assert state() == "STARTED"
    refused = code(emr.delete_application, applicationId=application)
    assert refused[0] == "ValidationException" and "[CREATED, STOPPED]. Current status: STARTED" in refused[1]
    aws.clock.advance(5 * 60 + 2)
    assert state() == "STOPPED"  # by itself, after five idle minutes
    emr.start_application(applicationId=application)
    emr.stop_application(applicationId=application)
    assert state() == "STOPPING"
    aws.clock.advance(2)
    emr.delete_application(applicationId=application)
    listed = emr.list_applications()["applications"]
    assert [(a["id"], a["state"]) for a in listed] == [(application, "TERMINATED")]
    assert code(emr.get_application, applicationId="00fnone")[0] == "ResourceNotFoundException"


def make_role(aws, *statements, name="job", trust=None):
    iam = aws.client("iam")
    arn = iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(trust or TRUST))["Role"]["Arn"]
    iam.put_role_policy(RoleName=name, PolicyName="p", PolicyDocument=policy(*statements))
    return arn


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
        import boto3

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
