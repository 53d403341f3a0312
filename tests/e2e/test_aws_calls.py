"""Every call of src/aws against the stand-in for AWS, once; boto3 sees the same."""

import json
import subprocess
import sys
import time
from datetime import datetime, timezone

import pytest

from tests.e2e.aws_probe import digest, probe, probe_program  # noqa: F401
from tests.services import places
from tests.services.aws.testing import TRUST, allow, aws, make_role, make_user, policy  # noqa: F401

ACCOUNT = "123456789012"
ANYTHING = policy(allow("s3:*"))
TAGS = {"sluice:run": "7f3c9a", "sluice:step": "probe"}


def tags_of(given):
    """A list of tags as a mapping."""
    return {tag["Key"]: tag["Value"] for tag in given}


# STS.


def test_who_am_i(aws, probe):
    told = aws.client("sts").get_caller_identity()
    seen = probe.good("identity")
    assert (seen["arn"], seen["account"], seen["user_id"]) == (told["Arn"], told["Account"], told["UserId"])
    assert (seen["partition"], seen["name"], seen["kind"]) == ("aws", "admin", 0)


def test_becoming_a_role(aws, probe):
    trust = {**TRUST, "Statement": [{"Effect": "Allow", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
                                     "Action": "sts:AssumeRole"}]}
    role = make_role(aws, allow("s3:*"), name="visitor", trust=trust)
    seen = probe.good("assume-role", role)
    assert seen["arn"] == f"arn:aws:sts::{ACCOUNT}:assumed-role/visitor/probe"
    assert (seen["name"], seen["source"]) == ("visitor", f"role {role}")
    assert 3000 < seen["expires"] - time.time() <= 3700
    denied = probe.one("assume-role", make_role(aws, name="closed"))
    assert (denied.kind, denied.what) == ("denied", "sts:AssumeRole is denied")


def test_a_session_is_who_it_says(aws, probe):
    trust = {**TRUST, "Statement": [{"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}]}
    role = make_role(aws, allow("ssm:*"), name="visitor", trust=trust)
    made = aws.client("sts").assume_role(RoleArn=role, RoleSessionName="me")["Credentials"]
    keys = (made["AccessKeyId"], made["SecretAccessKey"], made["SessionToken"])
    answers = probe(["identity"], ["put-parameter", "/estuary/x", "y"], ["list-objects", "nobody-has-this"], keys=keys)
    assert answers[0].result["arn"].endswith(":assumed-role/visitor/me")
    assert answers[1].ok
    assert (answers[2].kind, answers[2].code) == ("missing", "NoSuchBucket")
    broken = probe.one("put-parameter", "/estuary/x", "y", keys=(*keys[:2], "x" + keys[2]))
    assert (broken.kind, broken.code) == ("refused", "UnrecognizedClientException")


# IAM.


def test_a_role_from_nothing_to_nothing(aws, probe):
    iam, trust = aws.client("iam"), json.dumps(TRUST)
    assert probe.one("get", "role", "job").code == "NoSuchEntity"
    made = probe.good("create", "role", "job", trust, "/team/")
    told = iam.get_role(RoleName="job")["Role"]
    assert (made["arn"], made["id"], made["path"]) == (told["Arn"], told["RoleId"], "/team/")
    assert json.loads(made["trust"]) == told["AssumeRolePolicyDocument"] == TRUST
    assert made["created"] == int(told["CreateDate"].timestamp())
    assert tags_of(iam.list_role_tags(RoleName="job")["Tags"]) == TAGS
    assert probe.good("get", "role", "job") == made
    assert (made["tag_run"], made["tag_step"], made["untagged"]) == (*TAGS.values(), False)
    again = probe.one("create", "role", "JOB", trust)
    assert (again.kind, again.code) == ("conflict", "EntityAlreadyExists")
    other = json.loads(json.dumps(TRUST).replace("emr-serverless", "ec2"))
    assert probe.good("update-trust", "job", json.dumps(other)) == {}
    assert iam.get_role(RoleName="job")["Role"]["AssumeRolePolicyDocument"] == other
    document = policy(allow("s3:GetObject", "arn:aws:s3:::a+b ü%2B/*"))
    answers = probe(["put-policy", "role", "job", "p+1", document], ["get-policy", "role", "job", "p+1"],
                    ["list-policies", "role", "job"])
    assert answers[1].result["document"] == document
    assert answers[2].result == {"inline": ["p+1"], "attached": []}
    assert iam.get_role_policy(RoleName="job", PolicyName="p+1")["PolicyDocument"] == json.loads(document)
    assert probe.one("delete", "role", "job").code == "DeleteConflict"
    assert all(a.ok for a in probe(["delete-policy", "role", "job", "p+1"], ["delete", "role", "job"]))
    assert aws.contents()["roles"] == []
    assert probe.one("delete", "role", "job").code == "NoSuchEntity"


def test_a_user_and_its_keys(aws, probe):
    iam = aws.client("iam")
    made = probe.good("create", "user", "writer", None, "/team/")
    told = iam.get_user(UserName="writer")["User"]
    assert (made["arn"], made["id"], made["trust"]) == (told["Arn"], told["UserId"], None)
    assert tags_of(iam.list_user_tags(UserName="writer")["Tags"]) == TAGS
    assert probe.good("get", "user", "writer") == made
    iam.attach_user_policy(UserName="writer", PolicyArn="arn:aws:iam::aws:policy/AdministratorAccess")
    probe.good("put-policy", "user", "writer", "p", ANYTHING)
    listed = probe.good("list-policies", "user", "writer")
    assert listed == {"inline": ["p"], "attached": ["arn:aws:iam::aws:policy/AdministratorAccess"]}
    key = probe.good("create-key", "writer")
    assert key["secret_length"] == 40
    assert probe.good("last-used", key["id"]) == {"when": 0, "service": None, "region": None}
    second = iam.create_access_key(UserName="writer")["AccessKey"]
    full = probe.one("create-key", "writer")
    assert (full.kind, full.code) == ("conflict", "LimitExceeded")
    assert "at most two access keys; inactive ones count too" in full.why
    probe.good("set-key", "writer", second["AccessKeyId"], "off")
    rows = {row["id"]: row["active"] for row in probe.good("list-keys", "writer")["keys"]}
    assert rows == {key["id"]: True, second["AccessKeyId"]: False}
    assert probe.one("identity", keys=(second["AccessKeyId"], second["SecretAccessKey"])).code == "InvalidClientTokenId"
    probe.good("set-key", "writer", second["AccessKeyId"], "on")
    keys = (second["AccessKeyId"], second["SecretAccessKey"])
    assert probe.good("identity", keys=keys)["arn"] == made["arn"]
    used = probe.good("last-used", second["AccessKeyId"])
    assert used["service"] == "sts" and abs(used["when"] - time.time()) < 90
    for one in (key["id"], second["AccessKeyId"]):
        probe.good("delete-key", "writer", one)
    assert probe.good("list-keys", "writer") == {"keys": []}
    assert second["SecretAccessKey"] not in probe.said


def test_limits_of_policies_are_said_by_cause(aws, probe):
    probe.good("create", "user", "writer")
    big = policy(allow([f"s3:Action{n}" for n in range(200)]))
    answer = probe.one("put-policy", "user", "writer", "p", big)
    assert (answer.kind, answer.code) == ("conflict", "LimitExceeded")
    assert "count together" in answer.why
    broken = probe.one("put-policy", "user", "writer", "p", "{}")
    assert (broken.kind, broken.code) == ("input", "MalformedPolicyDocument")


def test_denied_tags_are_left_out(aws, probe):
    keys = make_user(aws, allow(["iam:CreateRole", "iam:CreateUser", "iam:GetRole"]), name="narrow")
    for kind, trust in (("role", json.dumps(TRUST)), ("user", None)):
        made = probe.good("create", kind, "made", trust, keys=keys)
        assert made["untagged"] and made["tag_run"] is None
    assert [e["action"] for e in aws.log.entries() if e["action"].startswith("iam:Create")][-4:] == [
        "iam:CreateRole", "iam:CreateRole", "iam:CreateUser", "iam:CreateUser"]
    nothing = make_user(aws, allow("s3:*"), name="nothing")
    denied = probe.one("create", "role", "other", json.dumps(TRUST), keys=nothing)
    assert denied.what == "iam:CreateRole is denied"
    assert denied.fix == f"allow iam:CreateRole on arn:aws:iam::{ACCOUNT}:role/other for these credentials"


def test_the_simulator(aws, probe):
    role = make_role(aws)
    make_user(aws, allow("s3:GetObject", "arn:aws:s3:::a/*"),
              allow("iam:PassRole", role,
                    Condition={"StringEquals": {"iam:PassedToService": "emr-serverless.amazonaws.com"}}),
              {"Effect": "Deny", "Action": "s3:*", "Resource": "arn:aws:s3:::b/*"})
    user = f"arn:aws:iam::{ACCOUNT}:user/writer"
    seen = probe.good("simulate", user, "s3:GetObject,s3:PutObject", "arn:aws:s3:::a/*,arn:aws:s3:::b/*")
    verdicts = {(v["action"], v["resource"]): v["decision"] for v in seen["verdicts"]}
    assert verdicts == {("s3:GetObject", "arn:aws:s3:::a/*"): 0, ("s3:GetObject", "arn:aws:s3:::b/*"): 1,
                        ("s3:PutObject", "arn:aws:s3:::a/*"): 2, ("s3:PutObject", "arn:aws:s3:::b/*"): 1}
    asked = ("simulate", user, "iam:PassRole", role)
    assert probe.good(*asked)["verdicts"][0]["decision"] == 2
    assert probe.good(*asked)["verdicts"][0]["missing"] == ["iam:PassedToService"]
    right = probe.good(*asked, "iam:PassedToService", "emr-serverless.amazonaws.com")
    assert right["verdicts"][0]["decision"] == 0
    nobody = probe.good("simulate", f"arn:aws:iam::{ACCOUNT}:user/nobody", "s3:GetObject")
    assert nobody["unavailable"] and nobody["verdicts"] == []
    keys = make_user(aws, allow("iam:GetUser"), name="narrow")
    denied = probe.good("simulate", user, "s3:GetObject", keys=keys)
    assert denied["unavailable"] and denied["why"] == "iam:SimulatePrincipalPolicy is denied"
    aws.settings.simulator_blind = True
    blind = probe.good("simulate", user, "s3:GetObject", "arn:aws:s3:::a/*")["verdicts"][0]
    assert (blind["decision"], blind["by_organization"]) == (2, True)


# S3.


@pytest.mark.parametrize("region", ["us-east-1", "eu-west-1"])
def test_a_bucket_from_nothing_to_nothing(aws, probe, region):
    options = ("--region", region)
    s3 = aws.client("s3", region_name=region)
    steps = probe(["head-bucket", "stage-1"], ["create-bucket", "stage-1"], ["head-bucket", "stage-1"],
                  ["head-bucket", "stage-1", "unsigned"], ["get-block", "stage-1"], ["bucket-tag", "stage-1"],
                  ["put-block", "stage-1"], ["tag-bucket", "stage-1"], ["bucket-tag", "stage-1"], options=options)
    assert steps[0].result == {"presence": 0, "region": None}
    assert all(step.ok for step in steps), steps
    assert steps[2].result == {"presence": 1, "region": region}
    assert steps[3].result == {"presence": 2, "region": region}
    assert steps[4].result["all"] is True
    assert (steps[5].result["tag_run"], steps[8].result["tag_run"]) == (None, "7f3c9a")
    assert s3.head_bucket(Bucket="stage-1")["BucketRegion"] == region
    assert all(s3.get_public_access_block(Bucket="stage-1")["PublicAccessBlockConfiguration"].values())
    assert tags_of(s3.get_bucket_tagging(Bucket="stage-1")["TagSet"]) == TAGS
    assert probe.good("list-buckets", options=options) == {"buckets": {"stage-1": region}}
    s3.put_object(Bucket="stage-1", Key="k")
    full = probe.one("delete-bucket", "stage-1", options=options)
    assert (full.kind, full.code, full.why) == ("conflict", "BucketNotEmpty", "The bucket holds objects.")
    s3.delete_object(Bucket="stage-1", Key="k")
    assert probe.good("delete-bucket", "stage-1", options=options) == {}
    assert aws.contents()["buckets"] == []


def test_a_bucket_that_is_taken(aws, probe):
    aws.make_bucket("theirs-1", foreign=True)
    aws.make_bucket("ours-1", "eu-west-1")
    assert probe.good("head-bucket", "theirs-1") == {"presence": 2, "region": "us-east-1"}
    answer = probe.one("create-bucket", "theirs-1")
    assert (answer.kind, answer.code) == ("conflict", "BucketAlreadyExists")
    assert "somebody else has this one" in answer.why
    answer = probe.one("create-bucket", "ours-1", options=("--region", "eu-west-1"))
    assert answer.code == "BucketAlreadyOwnedByYou"
    aws.settings.bucket_defaults = False
    aws.make_bucket("bare-1")
    assert probe.good("get-block", "bare-1") == {"all": False, "any": False}


def test_names_of_buckets_are_judged_before_anything_is_sent(aws, probe):
    for name in ("with.dots", "Upper", "ab", "evil.com/x", "-a-", "xn--a1"):
        answer = probe.one("head-bucket", name)
        assert (answer.kind, answer.code) == ("input", "bucket"), answer
    assert aws.log.entries() == []


KEYS = ["plain", "a+b", "with blank", "= : @ & ? #", "ü/€", "%2B", "~", "a//b", "( ) ! * '", "/leading", "dir/",
        "..x/.."]


def test_objects_of_every_name(aws, probe):
    aws.make_bucket("stage-1")
    s3 = aws.client("s3")
    answers = probe(*[["put-object", "stage-1", key, f"body of {key}"] for key in KEYS])
    assert all(a.ok for a in answers), answers
    listed = [row["Key"] for row in s3.list_objects_v2(Bucket="stage-1")["Contents"]]
    assert sorted(listed) == sorted(KEYS)
    for key in KEYS:
        assert s3.get_object(Bucket="stage-1", Key=key)["Body"].read().decode() == f"body of {key}"
    assert sorted(probe.good("list-objects", "stage-1")["keys"]) == sorted(KEYS)
    answers = probe(*[["get-object", "stage-1", key] for key in KEYS])
    assert [a.result["body"] for a in answers] == [f"body of {key}" for key in KEYS]
    assert all(a.ok for a in probe(*[["delete-object", "stage-1", key] for key in KEYS]))
    assert "Contents" not in s3.list_objects_v2(Bucket="stage-1")
    assert probe.good("delete-object", "stage-1", "never was") == {"marker": False}
    gone = probe.one("get-object", "stage-1", "plain")
    assert (gone.kind, gone.code) == ("missing", "NoSuchKey")


def test_a_versioned_bucket_keeps_what_is_deleted(aws, probe):
    aws.make_bucket("stage-1")
    aws.client("s3").put_bucket_versioning(Bucket="stage-1", VersioningConfiguration={"Status": "Enabled"})
    probe.good("put-object", "stage-1", "k", "v")
    assert probe.good("delete-object", "stage-1", "k") == {"marker": True}


def test_listing_stops_where_enough_is_known(aws, probe):
    aws.make_bucket("stage-1")
    for number in range(7):
        aws.put_object("stage-1", f"p/{number}")
    aws.put_object("stage-1", "q/0")
    assert probe.good("list-objects", "stage-1", "p/", "3") == {"keys": ["p/0", "p/1", "p/2"], "more": True}
    assert probe.good("list-objects", "stage-1", "p/", "7")["more"] is False
    assert probe.good("list-objects", "stage-1", "none/") == {"keys": [], "more": False}


# SSM.


def test_a_parameter_from_nothing_to_nothing(aws, probe):
    ssm, value = aws.client("ssm"), '{"k":"geheim\\n\\"ü"}'
    assert probe.one("get-parameter", "/estuary/x").code == "ParameterNotFound"
    probe.good("put-parameter", "/estuary/x", value)
    told = ssm.get_parameter(Name="/estuary/x", WithDecryption=True)["Parameter"]
    assert (told["Value"], told["Type"]) == (value, "SecureString")
    seen = probe.good("get-parameter", "/estuary/x")
    assert seen == {"value": digest(value), "type": "SecureString", "version": 1}
    probe.good("put-parameter", "/estuary/x", value + "2")
    assert probe.good("get-parameter", "/estuary/x")["version"] == 2
    probe.good("delete-parameter", "/estuary/x")
    assert probe.one("delete-parameter", "/estuary/x").code == "ParameterNotFound"
    assert "geheim" not in probe.said
    bad = probe.one("put-parameter", "/aws/x", "v")
    assert (bad.kind, bad.what) == ("denied", "ssm:PutParameter is denied")
    assert bad.why == "AWS says: No access to reserved parameter name: /aws/x."


# EMR Serverless.


def test_an_application_from_nothing_to_nothing(aws, probe):
    emr, net = aws.client("emr-serverless"), aws.network()
    subnets = f"{net.subnets['private-nat']},{net.subnets['private-nat-b']}"
    order = ("sluice-shop", "token-1", "emr-7.12.0", subnets, net.groups["open-egress"])
    made = probe.good("create-application", *order)
    assert probe.good("create-application", *order)["id"] == made["id"]
    assert len(aws.contents()["applications"]) == 1
    told = emr.get_application(applicationId=made["id"])["application"]
    seen = probe.good("get-application", made["id"])
    assert (seen["arn"], seen["name"], seen["release"]) == (told["arn"], "sluice-shop", told["releaseLabel"])
    assert (seen["type"], seen["architecture"]) == (told["type"], "X86_64")
    assert seen["subnets"] == told["networkConfiguration"]["subnetIds"] == subnets.split(",")
    assert seen["groups"] == told["networkConfiguration"]["securityGroupIds"]
    assert (seen["max_cpu"], seen["max_memory"]) == ("16 vCPU", "64 GB")
    assert (seen["auto_start"], seen["auto_stop"], seen["idle_minutes"]) == (True, True, 15)
    assert told["tags"] == TAGS and seen["tag_run"] == "7f3c9a"
    created = datetime.fromtimestamp(seen["created"], timezone.utc)
    assert created == told["createdAt"].astimezone(timezone.utc).replace(microsecond=0)
    listed = probe.good("list-applications")["applications"]
    assert [(a["id"], a["created"]) for a in listed] == [(made["id"], seen["created"])]
    aws.clock.advance(5)
    assert probe.good("get-application", made["id"])["state"] == "CREATED"
    probe.good("update-application", made["id"], "token-2", "emr-7.11.0", subnets, net.groups["open-egress"])
    assert emr.get_application(applicationId=made["id"])["application"]["releaseLabel"] == "emr-7.11.0"
    probe.good("start-application", made["id"])
    aws.clock.advance(5)
    assert probe.good("get-application", made["id"])["state"] == "STARTED"
    assert probe.one("delete-application", made["id"]).kind in ("input", "conflict")
    probe.good("stop-application", made["id"])
    aws.clock.advance(5)
    probe.good("delete-application", made["id"])
    assert probe.good("list-applications") == {"applications": []}
    assert probe.good("get-application", made["id"])["state"] == "TERMINATED"
    assert probe.one("get-application", "00f0000000000000").code == "ResourceNotFoundException"


def test_ids_are_judged_before_anything_is_sent(aws, probe):
    for word in ("../x", "UPPER", "a/b", "", "a?b"):
        answer = probe.one("get-application", word)
        assert (answer.kind, answer.code) == ("input", "id")
    assert aws.log.entries() == []


def test_an_application_in_a_bad_network_is_refused_in_words(aws, probe):
    net = aws.network()
    answer = probe.one("create-application", "x", "t1", "emr-7.12.0", net.unsupported, net.groups["open-egress"])
    assert (answer.kind, answer.code) == ("input", "ValidationException")
    assert "choose subnets in other zones" in answer.fix
    keys = make_user(aws, allow("emr-serverless:*"), allow("ec2:*"), name="narrow")
    answer = probe.one("create-application", "x", "t2", "emr-7.12.0", keys=keys)
    assert (answer.kind, answer.who) == ("denied", "AWS admin"), answer
    assert "aws iam create-service-linked-role" in answer.fix


def test_a_job_from_start_to_end(aws, probe):
    aws.make_bucket("stage-1")
    aws.put_object("stage-1", "script.py", b"print()")
    role, emr = make_role(aws, allow(["s3:*", "ssm:*"])), aws.client("emr-serverless")
    net = aws.network()
    app = probe.good("create-application", "x", "t1", "emr-7.12.0", net.subnets["private-nat"],
                     net.groups["open-egress"])["id"]
    assert probe.good("list-jobs", app, "1") == {"jobs": []}
    aws.clock.advance(5)
    order = ("start-job", app, "job-1", role, "s3://stage-1/script.py")
    job = probe.good(*order)
    assert job["untagged"] is False and probe.good(*order)["id"] == job["id"]
    told = emr.get_job_run(applicationId=app, jobRunId=job["id"])["jobRun"]
    seen = probe.good("get-job", app, job["id"])
    assert (seen["role"], seen["name"]) == (told["executionRole"], "probe") == (role, "probe")
    assert told["jobDriver"]["sparkSubmit"]["entryPointArguments"] == ["--input", 's3://x/ü "y"']
    assert told["tags"] == TAGS and told["executionTimeoutMinutes"] == 10
    second = probe.good("start-job", app, "job-2", role, "s3://stage-1/script.py")["id"]
    probe.good("cancel-job", app, second)
    aws.clock.advance(60)
    assert probe.good("get-job", app, second)["state"] == "CANCELLED"
    assert probe.good("get-job", app, job["id"])["state"] == "SUCCESS"
    rows = probe.good("list-jobs", app, "1")["jobs"]
    assert [row["id"] for row in rows] == [second]
    assert len(probe.good("list-jobs", app, "50")["jobs"]) == 2
    missing = probe.one("get-job", app, "00f0000000000000")
    assert missing.code == "ResourceNotFoundException"


def test_a_job_without_the_right_to_tag(aws, probe):
    role = make_role(aws, allow("s3:*"))
    app = probe.good("create-application", "x", "t1", "emr-7.12.0")["id"]
    aws.clock.advance(5)
    arn = f"arn:aws:emr-serverless:us-east-1:{ACCOUNT}:/applications/{app}"
    pass_role = allow("iam:PassRole", role)
    keys = make_user(aws, allow("emr-serverless:StartJobRun", arn), pass_role, name="a")
    assert probe.good("start-job", app, "j1", role, "s3://stage-1/x.py", keys=keys)["untagged"] is True
    both = ["emr-serverless:StartJobRun", "emr-serverless:TagResource"]
    keys = make_user(aws, allow(both, arn + "*"), name="b")
    denied = probe.one("start-job", app, "j2", role, "s3://stage-1/x.py", keys=keys)
    assert denied.what == "iam:PassRole is denied" and role in denied.fix


# EC2.


def test_a_network_as_boto3_sees_it(aws, probe):
    ec2, net = aws.client("ec2"), aws.network()
    wanted = [{"Name": "vpc-id", "Values": [net.vpc]}]
    seen = probe.good("network", net.vpc)
    assert seen["vpcs"] == {v["VpcId"]: v["IsDefault"] for v in ec2.describe_vpcs()["Vpcs"]}
    assert seen["subnets"] == {
        s["SubnetId"]: {"name": tags_of(s.get("Tags", [])).get("Name", ""), "vpc": s["VpcId"],
                        "zone": s["AvailabilityZone"], "zone_id": s["AvailabilityZoneId"],
                        "free": s["AvailableIpAddressCount"]}
        for s in ec2.describe_subnets(Filters=wanted)["Subnets"]}
    tables = {t["RouteTableId"]: t for t in ec2.describe_route_tables(Filters=wanted)["RouteTables"]}
    assert set(seen["tables"]) == set(tables)
    for ident, told in tables.items():
        assert seen["tables"][ident]["main"] == any(a["Main"] for a in told["Associations"])
        assert seen["tables"][ident]["subnets"] == [a["SubnetId"] for a in told["Associations"] if "SubnetId" in a]
        routes = {r.get("DestinationCidrBlock", r.get("DestinationPrefixListId", "")):
                  r.get("NatGatewayId") or r.get("GatewayId", "") for r in told["Routes"]}
        assert seen["tables"][ident]["routes"] == routes
    for told in ec2.describe_security_groups(Filters=wanted)["SecurityGroups"]:
        group = seen["groups"][told["GroupId"]]
        assert group["name"] == told["GroupName"]
        for ours, theirs in (("inbound", "IpPermissions"), ("outbound", "IpPermissionsEgress")):
            assert [(r["protocol"], r["ranges"]) for r in group[ours]] == [
                (r["IpProtocol"], [x["CidrIp"] for x in r["IpRanges"]] + [x["CidrIpv6"] for x in r["Ipv6Ranges"]])
                for r in told[theirs]]
    nats = ec2.describe_nat_gateways(Filter=wanted)["NatGateways"]
    assert seen["nats"] == {n["NatGatewayId"]: n["State"] for n in nats}
    assert seen["endpoints"] == {e["VpcEndpointId"]: e["ServiceName"]
                                 for e in ec2.describe_vpc_endpoints(Filters=wanted)["VpcEndpoints"]}
    gone = probe.one("network", "vpc-00000000")
    assert gone.ok and gone.result["subnets"] == {}


# Another partition.


@pytest.fixture
def china(tmp_path):
    """The stand-in for AWS of another partition, in a process of its own: moto has one in each process."""
    folder = tmp_path / "china"
    command = [sys.executable, "-m", "tests.services.aws", "--dir", folder, "--region", "cn-north-1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=places.REPO) as process:
        assert process.stdout.readline() == "ready\n"
        pairs = (line.split("=", 1) for line in (folder / "environment").read_text().splitlines())
        yield dict(pairs)
        process.terminate()


def test_another_partition(aws, probe, china):
    user, app = probe(["get", "user", "admin"], ["create-application", "x", "t1", "emr-7.12.0"], env=china)
    assert user.result["arn"] == f"arn:aws-cn:iam::{ACCOUNT}:user/admin"
    assert app.result["arn"].startswith(f"arn:aws-cn:emr-serverless:cn-north-1:{ACCOUNT}:/applications/")
    identity, bucket, head = probe(["identity"], ["create-bucket", "stage-1"], ["head-bucket", "stage-1"], env=china)
    assert identity.result["partition"] == "aws-cn"
    assert bucket.ok and head.result == {"presence": 1, "region": "cn-north-1"}
    foreign = probe.one("identity", env={**china, "AWS_REGION": "us-east-1"})
    assert (foreign.kind, foreign.why) == ("refused", "The endpoint that was called is not that of the region.")
