"""Steps 3a and 3b against the stand-in for AWS: from an empty account to an application and a bucket, what is found
wrong and in which words, what denied permissions cost, and what a lost answer or a kill leaves behind."""

import json
import re
import signal

import pytest

from tests.services.aws.testing import ACCOUNT, allow, aws, make_user  # noqa: F401

LAKE, STAGING = "lake-acme", "acme-staging"
WRITES = ("Create", "Put", "Delete", "Update", "Start", "Stop", "Tag")


@pytest.fixture
def there(sluice, aws):
    """sluice as the account's administrator, with a lake and with the answers that cannot be found out."""
    aws.make_bucket(LAKE)
    sluice.env |= aws.environment()
    for field, value in (("start.name", "shop"), ("bucket.lake", LAKE), ("bucket.staging", STAGING)):
        sluice.run("state", "set", field, value).ends(0)
    return sluice


def application(aws, **more) -> str:
    """A sound application of somebody else; its id."""
    net = aws.network()
    given = {"name": "analytics", "releaseLabel": "emr-7.12.0", "type": "SPARK",
             "networkConfiguration": {"subnetIds": [net.subnets["private-nat"], net.subnets["private-nat-b"]],
                                      "securityGroupIds": [net.groups["open-egress"]]}} | more
    emr = aws.client("emr-serverless")
    made = emr.create_application(**{name: value for name, value in given.items() if value is not None})["applicationId"]
    aws.clock.advance(aws.settings.life.creating)
    return made


def found(sluice, check: str, code: int = 1, *words: str) -> dict:
    """One check of a run over its step."""
    done = sluice.run("check", check.split(".")[0], "--json", *words).ends(code)
    return done.checks[check]


def live(aws) -> list[dict]:
    return [app for app in aws.client("emr-serverless").list_applications()["applications"] if app["state"] != "TERMINATED"]


# --- from nothing -----------------------------------------------------------------------------------------------------


def test_from_an_empty_account(there, aws):
    """check (2) and plan (2) write nothing, apply wants consent (3), then makes it (0): an application as Bauplan's guide
    wants it, in a network with a way out, and a bucket; again there is nothing to do (0), and undo leaves nothing (0)."""
    with aws.watching() as calls:
        done = there.run("check", "emr", "bucket", "--json").ends(2)
        planned = there.run("plan", "emr", "bucket", "--json").ends(2).json["changes"]
        refused = there.run("apply", "emr", "bucket").ends(3)
    assert not [call for call in calls if call["action"].split(":")[1].startswith(WRITES)]
    assert "consent is missing" in refused.err
    who = json.dumps(done.checks["emr.identity"], ensure_ascii=False)
    assert "1234 5678 9012 · us-east-1 · as admin" in who and "endpoint overridden" in who
    assert {check["status"] for check in done.checks.values()} <= {"passed", "skipped", "waiting"}
    assert [change["id"] for change in planned] == ["emr.application", "bucket.staging", "bucket.public_access_block"]
    assert planned[2]["after"] == ["bucket.staging"]
    shown = there.run("plan", "emr", "bucket").ends(2).out
    assert shown.count(f"account {ACCOUNT}") == 2, "which account is written to is seen before consent"

    there.run("apply", "emr", "bucket", "--yes").ends(0)
    net = aws.network()
    made = live(aws)
    assert [app["name"] for app in made] == ["sluice-shop"]
    whole = aws.client("emr-serverless").get_application(applicationId=made[0]["id"])["application"]
    assert (whole["type"], whole["releaseLabel"], whole["architecture"]) == ("Spark", "emr-7.12.0", "X86_64")
    assert whole["autoStartConfiguration"] == {"enabled": True}
    assert whole["autoStopConfiguration"] == {"enabled": True, "idleTimeoutMinutes": 15}
    assert whole["maximumCapacity"] == {"cpu": "16 vCPU", "memory": "64 GB"}
    assert set(whole["networkConfiguration"]["subnetIds"]) == {net.subnets["private-nat"], net.subnets["private-nat-b"]}
    assert whole["tags"] == {"sluice:run": "shop", "sluice:step": "emr"}
    s3 = aws.client("s3")
    assert set(s3.get_public_access_block(Bucket=STAGING)["PublicAccessBlockConfiguration"].values()) == {True}
    assert {tag["Key"]: tag["Value"] for tag in s3.get_bucket_tagging(Bucket=STAGING)["TagSet"]} == {
        "sluice:run": "shop", "sluice:step": "bucket"}
    assert there.run("state", "get", "emr.application").ends(0).out.strip() == made[0]["id"]

    assert there.run("plan", "emr", "bucket").ends(0).out.endswith("0 changes: everything stands as wanted.\n")
    after = there.run("check", "emr", "bucket", "--json").ends(0)
    assert {check["status"] for check in after.checks.values()} <= {"passed", "skipped", "waiting"}
    assert [check["id"] for check in after.checks.values() if check["status"] == "waiting"] == ["bucket.table"]

    there.run("undo", "--yes").ends(0)
    left = aws.contents()
    assert left["applications"] == [] and left["buckets"] == [LAKE]
    assert there.run("state", "get", "emr.application").out.strip() == ""


def test_in_another_region(there, aws):
    """The bucket is made with the constraint that every region but the first wants."""
    aws.make_bucket("lake-eu", "eu-west-1")
    there.run("apply", "emr", "bucket", "--yes", "--set", "bucket.lake=lake-eu", "--set", "emr.region=eu-west-1").ends(0)
    assert aws.client("s3").get_bucket_location(Bucket=STAGING)["LocationConstraint"] == "eu-west-1"
    assert len(aws.client("emr-serverless", region_name="eu-west-1").list_applications()["applications"]) == 1


def test_the_lakes_bucket_for_both(there, aws):
    there.run("apply", "emr", "bucket", "--yes", "--set", f"bucket.staging={LAKE}").ends(0)
    assert aws.contents()["buckets"] == [LAKE]


def test_a_bucket_without_the_defaults_of_today(there, aws):
    """Before April 2023 a new bucket was open until somebody closed it: the block is made, and undo takes both."""
    aws.settings.bucket_defaults = False
    there.run("apply", "bucket", "--yes").ends(0)
    block = aws.client("s3").get_public_access_block(Bucket=STAGING)["PublicAccessBlockConfiguration"]
    assert set(block.values()) == {True}
    there.run("undo", "bucket", "--yes").ends(0)
    assert aws.contents()["buckets"] == [LAKE]


def test_a_bucket_in_use_is_not_removed(there, aws):
    there.run("apply", "bucket", "--yes").ends(0)
    aws.put_object(STAGING, "estuary-staging/x", b"1")
    done = there.run("undo", "bucket", "--yes").ends(1)
    assert f"bucket {STAGING} is not empty, it stays" in done.out + done.err
    assert STAGING in aws.contents()["buckets"]


# --- what exists ------------------------------------------------------------------------------------------------------


def test_a_sound_application_is_adopted(there, aws):
    there.run("state", "set", "emr.application", application(aws)).ends(0)
    there.run("apply", "emr", "--yes").ends(0)
    assert [app["name"] for app in live(aws)] == ["analytics"]
    there.run("undo", "--yes").ends(0)
    assert [app["name"] for app in live(aws)] == ["analytics"]


def test_one_of_our_name_is_taken_over_and_stays(there, aws):
    made = application(aws, name="sluice-shop")
    planned = there.run("plan", "emr", "--json").ends(2).json["changes"]
    assert [change["action"] for change in planned] == ["alter"]
    there.run("apply", "emr", "--yes").ends(0)
    assert there.run("state", "get", "emr.application").out.strip() == made
    assert len(live(aws)) == 1
    there.run("undo", "--yes").ends(0)
    assert len(live(aws)) == 1


OLD = "emr-7.10.0 is too old: emr-7.11 at least, emr-7.12.0 is advised"


@pytest.mark.parametrize("check, config, what, fix, who", [
    ("emr.release", {"releaseLabel": "emr-7.10.0"}, OLD, "--release-label emr-7.12.0", "AWS admin"),
    ("emr.architecture", {"architecture": "ARM64"}, "analytics is arm64, x86_64 is needed", "--architecture X86_64",
     "AWS admin"),
    ("emr.auto_start", {"autoStartConfiguration": {"enabled": False}}, "analytics does not start by itself",
     "--auto-start-configuration enabled=true", "AWS admin"),
    ("emr.subnets_out", {"networkConfiguration": None}, "analytics has no network", "--network-configuration subnetIds=",
     "AWS admin"),
    ("emr.capacity", {"maximumCapacity": {"cpu": "4 vCPU", "memory": "16 GB"}}, "4 vCPU and 16 GB are too little for one job",
     "--maximum-capacity", "AWS admin"),
    ("emr.application", {"type": "HIVE"}, "analytics runs Hive, Spark is needed", "sluice state set emr.application ''", "you"),
])
def test_an_application_that_does_not_fit(there, aws, check, config, what, fix, who):
    """What is wrong, what to do, a command that does it, and who: in the report for people as well."""
    there.run("state", "set", "emr.application", application(aws, **config)).ends(0)
    seen = found(there, check)
    assert seen["status"] == "failed"
    assert what in json.dumps(seen) and seen["who"] == who, seen
    shown = there.run("check", "emr").ends(1).out
    assert what in shown and fix in shown and re.search(rf"^      {who}: ", shown, re.M), shown


def test_an_application_that_is_not_there(there, aws):
    there.run("state", "set", "emr.application", "00fnothere").ends(0)
    seen = found(there, "emr.chosen")
    assert f"there is no application 00fnothere in us-east-1 of account {ACCOUNT}" in json.dumps(seen)
    made = application(aws)
    aws.client("emr-serverless").delete_application(applicationId=made)
    there.run("state", "set", "emr.application", made).ends(0)
    assert "is terminated" in json.dumps(found(there, "emr.application"))


def test_a_network_that_leads_nowhere(there, aws):
    """Nothing is made into a network in which jobs would hang: one bad subnet of two is enough."""
    net = aws.network()
    both = f"{net.subnets['private-nat']}, {net.subnets['private-closed']}"
    there.run("state", "set", "emr.subnets", both).ends(0)
    there.run("state", "set", "emr.security_groups", net.groups["world-inbound"]).ends(0)
    seen = there.run("check", "emr", "--json").ends(1).checks
    assert "1 of 2 subnets leads nowhere" in json.dumps(seen["emr.subnets_out"])
    assert "lets in 0.0.0.0/0" in json.dumps(seen["emr.security_groups_open"])
    there.run("apply", "emr", "--yes").ends(1)
    there.run("state", "set", "emr.subnets", net.unsupported).ends(0)
    there.run("state", "set", "emr.security_groups", net.groups["no-egress"]).ends(0)
    seen = there.run("check", "emr", "--json").ends(1).checks
    assert "use1-az3" in json.dumps(seen["emr.zones"])
    assert "no group lets tcp 443 out" in json.dumps(seen["emr.security_groups_out"])
    assert live(aws) == []


def test_an_old_release_is_not_made(there, aws):
    there.run("state", "set", "emr.release", "emr-7.10.0").ends(0)
    done = there.run("apply", "emr", "--yes").ends(1)
    assert OLD in done.out and "take over: sluice state set emr.release emr-7.12.0" in done.out
    assert live(aws) == []


def test_buckets_in_another_region(there, aws):
    aws.make_bucket("lake-eu", "eu-west-1")
    aws.make_bucket("stage-eu", "eu-west-1")
    seen = found(there, "bucket.region", 1, "--set", "bucket.lake=lake-eu")
    assert "bucket lake-eu is in eu-west-1, the application's region is us-east-1" in json.dumps(seen)
    seen = found(there, "bucket.region", 1, "--set", f"bucket.lake={LAKE}", "--set", "bucket.staging=stage-eu")
    assert "bucket stage-eu is in eu-west-1, the application's region is us-east-1" in json.dumps(seen)


def test_a_lake_that_is_not_there(there, aws):
    seen = found(there, "bucket.lake_access", 1, "--set", "bucket.lake=lake-nowhere")
    assert "there is no bucket lake-nowhere" in json.dumps(seen) and "never makes" in json.dumps(seen)


def test_a_name_that_is_taken(there, aws):
    """Somebody else's bucket: another name is proposed, and nothing is made."""
    aws.make_bucket("taken-name", foreign=True)
    done = there.run("apply", "bucket", "--yes", "--set", "bucket.staging=taken-name").ends(1)
    assert "taken-name belongs to another account" in done.out
    assert f"taken-name-{ACCOUNT}-us-east-1" in done.out


# --- permissions ------------------------------------------------------------------------------------------------------

DESCRIBES = ("DescribeVpcs", "DescribeSubnets", "DescribeSecurityGroups", "DescribeRouteTables", "DescribeNatGateways",
             "DescribeVpcEndpoints")


def without(sluice, aws, action: str) -> None:
    """sluice as a user who may do everything but this."""
    key, secret = make_user(aws, {"Effect": "Allow", "NotAction": action, "Resource": "*"})
    sluice.env |= aws.environment(key, secret)


@pytest.mark.parametrize("action", [f"ec2:{name}" for name in DESCRIBES])
def test_a_network_that_may_not_be_read(there, aws, action):
    """A warning with the policy to ask for; subnets and groups are typed then, and the application is made."""
    without(there, aws, action)
    done = there.run("plan", "emr").ends(3)
    assert f"{action} is denied" in done.out and '"ec2:DescribeNatGateways"' in done.out
    assert "emr.subnets" in done.err or "Subnets" in done.err
    net = aws.network()
    there.run("state", "set", "emr.subnets", net.subnets["private-nat"]).ends(0)
    there.run("state", "set", "emr.security_groups", net.groups["open-egress"]).ends(0)
    there.run("apply", "emr", "--yes").ends(0)
    assert len(live(aws)) == 1


@pytest.mark.parametrize("action, words, step, code", [
    ("emr-serverless:ListApplications", "emr-serverless:ListApplications is denied", "emr", 1),
    ("emr-serverless:GetApplication", "emr-serverless:GetApplication is denied", "emr", 1),
    ("emr-serverless:CreateApplication", "emr-serverless:CreateApplication is denied", "emr", 1),
    ("ec2:CreateNetworkInterface", "ec2:CreateNetworkInterface is denied", "emr", 1),
    ("iam:CreateServiceLinkedRole", "iam:CreateServiceLinkedRole for ops.emr-serverless.amazonaws.com", "emr", 1),
    ("s3:CreateBucket", "s3:CreateBucket is denied", "bucket", 1),
    ("s3:PutBucketPublicAccessBlock", "s3:PutBucketPublicAccessBlock is denied", "bucket", 1),
    ("s3:ListBucket", "s3:ListBucket is denied", "bucket", 1),
])
def test_what_is_denied_is_named(there, aws, action, words, step, code):
    """Each call that makes or must read something, denied: the action, on what, and that the AWS admin acts."""
    aws.settings.bucket_defaults = False
    without(there, aws, action)
    done = there.run("apply", step, "--yes").ends(code)
    assert words in done.out + done.err, str(done)
    assert "AWS admin: " in done.out + done.err


@pytest.mark.parametrize("action, step", [("emr-serverless:TagResource", "emr"), ("s3:PutBucketTagging", "bucket"),
                                          ("s3:GetBucketPublicAccessBlock", "bucket"),
                                          ("s3:GetBucketVersioning", "bucket"), ("s3:ListAllMyBuckets", "bucket")])
def test_what_can_be_done_without(there, aws, action, step):
    """Marks and looks that only inform may be denied: all is made all the same, and found again."""
    without(there, aws, action)
    there.run("apply", step, "--yes").ends(0)
    assert there.run("plan", step).ends(0).out.endswith("0 changes: everything stands as wanted.\n")


# --- lost answers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["lost_reply", "lost_request", "throttle"])
@pytest.mark.parametrize("operation, step", [("CreateApplication", "emr"), ("CreateBucket", "bucket")])
def test_one_of_each_after_a_lost_answer(there, aws, kind, operation, step):
    aws.faults.add(kind, operation=operation)
    done = there.run("apply", step, "--yes")
    if done.code != 0:    # a bucket has no token: find settles it, and the next run goes on
        there.run("apply", step, "--yes").ends(0)
    if step == "emr":
        assert len(live(aws)) == 1
    else:
        assert sorted(aws.contents()["buckets"]) == sorted([STAGING, LAKE])
    there.run("undo", "--yes").ends(0)
    assert aws.contents()["applications"] == [] and aws.contents()["buckets"] == [LAKE]


@pytest.mark.parametrize("stage", ["before", "after"])
@pytest.mark.parametrize("operation, step", [("CreateApplication", "emr"), ("CreateBucket", "bucket")])
def test_one_of_each_after_a_kill(there, aws, stage, operation, step):
    """Killed inside the call that makes it, before or after AWS has: the next run ends with exactly one, which is ours."""
    aws.faults.add("hold", operation=operation, stage=stage)
    process = there.start("apply", step, "--yes")
    assert aws.faults.held()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    aws.faults.release()
    there.run("apply", step, "--yes").ends(0)
    if step == "emr":
        assert len(live(aws)) == 1
        assert there.run("state", "get", "emr.application").out.strip() == live(aws)[0]["id"]
    else:
        assert STAGING in aws.contents()["buckets"]
    there.run("undo", "--yes").ends(0)
    assert aws.contents()["applications"] == [] and aws.contents()["buckets"] == [LAKE]


def test_an_application_that_cannot_be_made(there, aws):
    """AWS takes the call and gives up later: its reason is shown; once the answer is cleared another one is made, though
    the parameters and so the client token are the same."""
    aws.emr.next_applications.append({"fail": "Insufficient capacity in the zone."})
    done = there.run("apply", "emr", "--yes").ends(1)
    assert "ended as TERMINATED" in done.out and "Insufficient capacity in the zone." in done.out
    assert "is terminated: Insufficient capacity" in json.dumps(found(there, "emr.application"))
    there.run("state", "set", "emr.application", "").ends(0)
    there.run("apply", "emr", "--yes").ends(0)
    assert len(live(aws)) == 1


def test_another_region_than_planned_is_not_written_to(there, aws):
    """What was made in one region (or account) is not looked for, and not removed, in another one."""
    there.run("apply", "emr", "--yes").ends(0)
    done = there.run("undo", "--yes", "--set", "emr.region=eu-west-1").ends(1)
    assert f"these keys lead to account {ACCOUNT} in eu-west-1, this was planned for {ACCOUNT} in us-east-1" in done.out
    assert len(live(aws)) == 1


# --- beginning --------------------------------------------------------------------------------------------------------


def test_aws_steps_begin_with_keys_or_answers(sluice, aws):
    """Without words a command leaves the AWS steps out while nothing of them is answered or at hand, and says so; with
    keys it asks for what is missing, by name."""
    done = sluice.run("check", "--set", "start.name=shop")
    assert "emr, bucket" in done.out and "not begun" in done.out
    assert not re.search(r"^emr$", done.out, re.M)
    done = sluice.run("check", "emr", "--set", "start.name=shop").ends(3)
    assert "emr.region" in done.err or "Region" in done.err
    sluice.env |= aws.environment()
    done = sluice.run("check", "bucket", "--set", "start.name=shop").ends(3)
    assert "Lake bucket" in done.err or "bucket.lake" in done.err
    done = sluice.run("check")
    assert re.search(r"^emr$", done.out, re.M) and not re.search(r"^.*\b(emr|bucket|iam)\b.*not begun", done.out, re.M)


def test_no_keys_at_all(sluice):
    done = sluice.run("check", "emr", "--set", "start.name=shop", "--set", "emr.region=us-east-1").ends(3)
    assert "AWS_ACCESS_KEY_ID" in done.out and "profile default" in done.out
    done = sluice.run("check", "emr", "--set", "emr.profile=data").ends(3)
    assert "there is no profile data" in done.out


# --- the lake is read from a table ------------------------------------------------------------------------------------

TABLES = """location ~ /namespaces/[^/]+/tables$ { default_type application/json;
    return 200 '{"identifiers":[{"namespace":["shop"],"name":"orders"}]}'; }
location ~ /namespaces/[^/]+/tables/orders$ { default_type application/json;
    return 200 '{"metadata-location":"m","metadata":{"location":"s3://lake-acme/iceberg/shop_orders_9F0C"},"config":{}}'; }
"""


@pytest.fixture
def with_catalog(there, catalog, tmp_path):
    """`there`, logged in to a catalog whose front is given; without an answer for the lake."""

    def log_in(url: str):
        secret = tmp_path / "client-secret"
        secret.write_text(catalog.client_secret)
        secret.chmod(0o600)
        answers = tmp_path / "answers.json"
        answers.write_text(json.dumps({"oauth": {"url": url, "branch": catalog.branch, "client_id": catalog.client_id,
                                                 "client_secret": {"secret": f"file:{secret}"}}}))
        there.env["SLUICE_CA_FILE"] = str(catalog.ca_file)
        there.run("state", "set", "bucket.lake", "").ends(0)
        return "--answers", answers

    return log_in


def test_the_lake_is_read_from_a_table(there, with_catalog, catalog_variant):
    """Nobody types what the catalog knows; an answer that differs from it is told."""
    given = with_catalog(catalog_variant(before=TABLES).url + "/iceberg")
    done = there.run("check", "bucket", "--json", *given).ends(2)
    assert "s3://lake-acme/iceberg/shop_orders_9F0C" in json.dumps(done.checks["bucket.table"])
    assert done.checks["bucket.lake_access"]["status"] == "passed"
    assert there.run("state", "get", "bucket.lake").out.strip() == LAKE
    seen = found(there, "bucket.location", 2, *given, "--set", "bucket.lake_prefix=tables")
    assert seen["status"] == "warned" and "lies in s3://lake-acme/iceberg, the answer is s3://lake-acme/tables" in json.dumps(seen)


def test_a_catalog_without_tables(there, with_catalog, catalog):
    """The lake is asked for, by name."""
    given = with_catalog(catalog.url)
    done = there.run("check", "bucket", "--json", *given).ends(3)
    assert "no table yet: the lake's bucket is to be typed" in json.dumps(done.checks["bucket.table"])
    assert "bucket.lake" in done.err or "Lake bucket" in done.err
