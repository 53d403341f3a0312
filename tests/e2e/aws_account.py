"""sluice with the answers for an empty AWS account, and what stands there afterwards, seen from outside by boto3.

from tests.e2e.aws_account import account  # noqa: F401     only the AWS steps
from tests.e2e.aws_account import whole    # noqa: F401     the catalog and PostgreSQL as well
"""

import dataclasses
import json
from types import SimpleNamespace

import pytest
import yaml

from tests.services import answers as prefilled
from tests.services.answers import LAKE, STAGING
from tests.services.aws import AwsStandIn
from tests.services.aws.testing import ACCOUNT, aws  # noqa: F401

NAME, ROLE = "sluice-shop", "sluice-shop-emr"
TAGS = {"sluice:run": "shop"}
EMPTY = {"users": [], "roles": [], "keys": [], "policies": [], "buckets": [LAKE], "applications": [], "parameters": []}
CHANGES = ("emr.application", "bucket.staging", "bucket.public_access_block", "iam.role", "iam.role_policy", "iam.user",
           "iam.user_policy", "iam.access_key")


def told(aws: AwsStandIn) -> prefilled.Aws:  # noqa: F811
    return prefilled.Aws(aws.environment(), dataclasses.asdict(aws.network()))


@pytest.fixture
def account(sluice, aws):  # noqa: F811
    """An empty account with a lake, and sluice as its administrator: .sluice .aws .values (answers of the AWS steps)
    .args (options that give them and a passphrase) .save() .contents() (the lake is always there)."""
    aws.make_bucket(LAKE)
    values = {"start": {"name": "shop", "keep_secrets": "file"}, **prefilled.for_aws(told(aws))}
    given, passphrase = sluice.folder / "answers.yaml", sluice.folder / "passphrase"
    passphrase.write_text("the account's own passphrase\n")
    passphrase.chmod(0o600)
    sluice.env |= aws.environment()
    made = SimpleNamespace(sluice=sluice, aws=aws, values=values, answers=given, passphrase_file=passphrase,
                           args=("--answers", given, "--passphrase-file", passphrase), contents=aws.contents,
                           save=lambda: given.write_text(yaml.safe_dump(values, sort_keys=False)))
    made.save()
    return made


@pytest.fixture
def whole(ready, aws):  # noqa: F811
    """As `ready` (catalog, shop), with an empty account and its answers: .aws."""
    aws.make_bucket(LAKE)
    ready.values.update(prefilled.for_aws(told(aws)))
    ready.save()
    ready.sluice.env |= aws.environment()
    return SimpleNamespace(aws=aws, **vars(ready))


def assert_empty(aws: AwsStandIn) -> None:  # noqa: F811
    """Nothing but what was there before; boto3 says so, and the stand-in's own look inside."""
    assert aws.contents() == EMPTY
    iam, emr = aws.client("iam"), aws.client("emr-serverless")
    assert [user["UserName"] for user in iam.list_users()["Users"]] == [aws.settings.admin_user]
    assert not [role for role in iam.list_roles()["Roles"] if not role["Path"].startswith("/aws-service-role/")]
    assert {app["state"] for app in emr.list_applications()["applications"]} <= {"TERMINATED"}
    assert [bucket["Name"] for bucket in aws.client("s3").list_buckets()["Buckets"]] == [LAKE]


def assert_one_of_each(aws: AwsStandIn) -> None:  # noqa: F811
    """Exactly one application, bucket, role, user and key, whatever happened on the way; nothing of the probes."""
    held = aws.contents()
    assert sorted(held["buckets"]) == sorted([LAKE, STAGING]) and held["users"] == [NAME] and held["roles"] == [ROLE], held
    assert len(held["applications"]) == len(held["keys"]) == 1 and not held["parameters"] and not held["policies"], held


def assert_green(aws: AwsStandIn, marked: bool = True) -> None:  # noqa: F811
    """All that the plan promises, object by object. marked: the bucket too bears our tags, which are put by a second call."""
    assert_one_of_each(aws)
    application = the_application(aws)
    assert_application(aws, application)
    assert_staging(aws, marked)
    assert_role(aws)
    assert_user(aws, application["applicationId"])


def the_application(aws: AwsStandIn) -> dict:  # noqa: F811
    emr = aws.client("emr-serverless")
    live = [app for app in emr.list_applications()["applications"] if app["state"] != "TERMINATED"]
    assert len(live) == 1, live
    return emr.get_application(applicationId=live[0]["id"])["application"]


def assert_application(aws: AwsStandIn, made: dict) -> None:  # noqa: F811
    network = aws.network()
    assert (made["name"], made["type"], made["releaseLabel"], made["architecture"]) == (NAME, "Spark", "emr-7.12.0", "X86_64")
    assert made["autoStartConfiguration"] == {"enabled": True} and made["autoStopConfiguration"]["enabled"] is True
    assert set(made["networkConfiguration"]["subnetIds"]) == {network.subnets["private-nat"], network.subnets["private-nat-b"]}
    assert made["networkConfiguration"]["securityGroupIds"] == [network.groups["open-egress"]]
    assert made["maximumCapacity"] == {"cpu": "16 vCPU", "memory": "64 GB"}
    assert made["tags"] == TAGS | {"sluice:step": "emr"}


def assert_staging(aws: AwsStandIn, marked: bool) -> None:  # noqa: F811
    s3 = aws.client("s3")
    assert s3.get_bucket_location(Bucket=STAGING)["LocationConstraint"] in (None, "us-east-1")
    assert set(s3.get_public_access_block(Bucket=STAGING)["PublicAccessBlockConfiguration"].values()) == {True}
    if marked:
        assert tags(s3.get_bucket_tagging(Bucket=STAGING)["TagSet"]) == TAGS | {"sluice:step": "bucket"}
    left = [found["Key"] for bucket in (STAGING, LAKE) for found in s3.list_objects_v2(Bucket=bucket).get("Contents", ())]
    assert not left, f"left by a probe: {left}"


def assert_role(aws: AwsStandIn) -> None:  # noqa: F811
    iam = aws.client("iam")
    role = iam.get_role(RoleName=ROLE)["Role"]
    assert tags(role["Tags"]) == TAGS | {"sluice:step": "iam"}
    trust = statements(role["AssumeRolePolicyDocument"])
    assert [(each["Effect"], each["Action"], each["Principal"]) for each in trust] == [
        ("Allow", "sts:AssumeRole", {"Service": "emr-serverless.amazonaws.com"})]
    assert trust[0]["Condition"]["StringEquals"]["aws:SourceAccount"] == ACCOUNT
    names = iam.list_role_policies(RoleName=ROLE)["PolicyNames"]
    assert len(names) == 1 and not iam.list_attached_role_policies(RoleName=ROLE)["AttachedPolicies"]
    rights = granted(iam.get_role_policy(RoleName=ROLE, PolicyName=names[0])["PolicyDocument"])
    for bucket, folder in ((LAKE, "iceberg"), (STAGING, "estuary-staging")):
        assert {("s3:ListBucket", f"arn:aws:s3:::{bucket}"), ("s3:GetObject", f"arn:aws:s3:::{bucket}/*"),
                ("s3:PutObject", f"arn:aws:s3:::{bucket}/{folder}/*")} <= rights
    assert ("ssm:GetParameter", f"arn:aws:ssm:us-east-1:{ACCOUNT}:parameter/estuary/shop/*") in rights
    assert not any("*" in action for action, _ in rights) and "*" not in {where for _, where in rights}


def assert_user(aws: AwsStandIn, application: str) -> None:  # noqa: F811
    iam = aws.client("iam")
    assert tags(iam.get_user(UserName=NAME)["User"]["Tags"]) == TAGS | {"sluice:step": "iam"}
    names = iam.list_user_policies(UserName=NAME)["PolicyNames"]
    assert len(names) == 1 and not iam.list_attached_user_policies(UserName=NAME)["AttachedPolicies"]
    assert not iam.list_groups_for_user(UserName=NAME)["Groups"]
    rights = granted(iam.get_user_policy(UserName=NAME, PolicyName=names[0])["PolicyDocument"])
    where = f"arn:aws:emr-serverless:us-east-1:{ACCOUNT}:/applications/{application}"
    assert {("emr-serverless:StartJobRun", where), ("emr-serverless:GetJobRun", f"{where}/jobruns/*"),
            ("iam:PassRole", f"arn:aws:iam::{ACCOUNT}:role/{ROLE}"),
            ("s3:PutObject", f"arn:aws:s3:::{STAGING}/estuary-staging/*"),
            ("ssm:PutParameter", f"arn:aws:ssm:us-east-1:{ACCOUNT}:parameter/estuary/shop/*")} <= rights
    assert not any("*" in action for action, _ in rights) and not any(LAKE in place for _, place in rights)
    keys = iam.list_access_keys(UserName=NAME)["AccessKeyMetadata"]
    assert [key["Status"] for key in keys] == ["Active"]


def tags(given: list[dict]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in given}


def statements(document: dict | str) -> list[dict]:
    found = json.loads(document) if isinstance(document, str) else document
    return found["Statement"] if isinstance(found["Statement"], list) else [found["Statement"]]


def granted(document: dict | str) -> set[tuple[str, str]]:
    """Each allowed action with each resource."""
    def several(given: list | str) -> list[str]:
        return [given] if isinstance(given, str) else given

    return {(action, resource) for each in statements(document) if each["Effect"] == "Allow"
            for action in several(each["Action"]) for resource in several(each["Resource"])}
