"""Steps 3c and 3d against the stand-in for AWS: role, user, policies and key from nothing to proved and back, what exists
already and is otherwise, each right that is missing, and what a lost answer or a kill leaves behind."""

import json
import re
import signal

import pytest

from tests.services import places
from tests.services.aws.testing import ACCOUNT, TRUST, allow, aws, make_role, make_user, policy  # noqa: F401

LAKE, STAGING = "lake-acme", "acme-staging"
ROLE, USER, POLICY = "sluice-shop-emr", "sluice-shop", "sluice-shop"
ROLE_ARN = f"arn:aws:iam::{ACCOUNT}:role/{ROLE}"
WRITES = ("Create", "Put", "Delete", "Update", "Tag")
TEMPLATES = places.REPO / "assets" / "policies"


@pytest.fixture
def there(sluice, aws, tmp_path):
    """sluice as the account's administrator, with lake, staging and application, and with a place for the key."""
    for bucket in (LAKE, STAGING):
        aws.make_bucket(bucket)
    emr = aws.client("emr-serverless")
    net = aws.network()
    app = emr.create_application(
        name="analytics", releaseLabel="emr-7.12.0", type="SPARK",
        networkConfiguration={"subnetIds": [net.subnets["private-nat"]], "securityGroupIds": [net.groups["open-egress"]]})
    aws.clock.advance(aws.settings.life.creating)
    sluice.application = app["applicationId"]
    sluice.env |= aws.environment()
    for field, value in (("start.name", "shop"), ("bucket.lake", LAKE), ("bucket.staging", STAGING),
                         ("emr.application", sluice.application)):
        sluice.run("state", "set", field, value).ends(0)
    passphrase = tmp_path / "passphrase"
    passphrase.write_text("a phrase to pass\n")
    passphrase.chmod(0o600)
    sluice.kept = ("--passphrase-file", str(passphrase))
    return sluice


@pytest.fixture
def made(there):
    """Likewise, with everything made."""
    apply(there).ends(0)
    return there


def apply(sluice, *words: str, **more):
    return sluice.run("apply", "iam", "--yes", *sluice.kept, *words, **more)


def check(sluice, *words: str):
    return sluice.run("check", "iam", "--json", *sluice.kept, *words)


def plan(sluice, *words: str) -> dict[str, dict]:
    done = sluice.run("plan", "iam", "--json", *sluice.kept, *words)
    return {change["id"]: change for change in done.json["changes"]}


def red(done, *status: str) -> dict[str, dict]:
    wanted = status or ("failed", "unreachable")
    return {name: found for name, found in done.checks.items() if found["status"] in wanted}


def words(found: dict) -> str:
    return json.dumps(found, ensure_ascii=False)


def keys_of(aws, user: str = USER) -> list[str]:
    return [key["AccessKeyId"] for key in aws.client("iam").list_access_keys(UserName=user)["AccessKeyMetadata"]]


def held_key(sluice) -> str:
    """The id of the key that the journal says was made and is ready."""
    import yaml

    journal = {entry["change"]: entry for entry in yaml.safe_load(sluice.state.read_text())["journal"]}
    return journal["iam.access_key"]["made"]


def assert_whole(sluice, aws) -> None:
    """Exactly one of each, and the key is usable."""
    contents = aws.contents()
    assert contents["users"] == [USER] and contents["roles"] == [ROLE], contents
    assert keys_of(aws) == [held_key(sluice)]
    done = check(sluice, "--deep").ends(0)
    assert not red(done, "failed", "warned", "unreachable", "waiting"), done.out
    assert done.checks["iam.replay"]["status"] == done.checks["iam.denied"]["status"] == "passed"


# --- from nothing -----------------------------------------------------------------------------------------------------


def test_from_nothing_and_back(there, aws):
    """check and plan write nothing (2), apply makes all of it and proves it as the new user (0); undo leaves nothing."""
    with aws.watching() as calls:
        done = check(there, "--deep").ends(2)
        changes = plan(there)
        there.run("apply", "iam", *there.kept).ends(3)
    assert not [call for call in calls if call["action"].split(":")[1].startswith(WRITES)]
    assert {found["status"] for found in done.checks.values()} == {"passed", "waiting"}
    assert list(changes) == ["iam.role", "iam.role_policy", "iam.user", "iam.user_policy", "iam.access_key"]
    assert {change["action"] for change in changes.values()} == {"create"}
    assert changes["iam.user_policy"]["after"] == ["iam.user", "iam.role", "emr.application"]
    assert f"/applications/{there.application}/jobruns/*" in changes["iam.user_policy"]["preview"]
    assert '"aws:SourceAccount": "123456789012"' in changes["iam.role"]["preview"]
    assert changes["iam.access_key"]["preview"] == f"aws iam create-access-key --user-name {USER}"

    with aws.watching() as calls:
        apply(there).ends(0)
    iam = aws.client("iam")
    role = iam.get_role(RoleName=ROLE)["Role"]
    statement, = role["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "emr-serverless.amazonaws.com"}
    assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": ACCOUNT}}
    for tags in (role["Tags"], iam.get_user(UserName=USER)["User"]["Tags"]):
        assert {tag["Key"]: tag["Value"] for tag in tags} == {"sluice:run": "shop", "sluice:step": "iam"}
    assert iam.list_role_policies(RoleName=ROLE)["PolicyNames"] == [POLICY]
    written = json.dumps(iam.get_role_policy(RoleName=ROLE, PolicyName=POLICY)["PolicyDocument"])
    assert f"arn:aws:s3:::{LAKE}/iceberg/*" in written and f"arn:aws:s3:::{STAGING}/estuary-staging/*" in written
    new = [call for call in calls if call["caller"].endswith(f"user/{USER}")]
    admin = [call for call in calls if call["caller"].endswith("user/admin")]
    assert {call["service"] for call in new} == {"sts", "emr-serverless", "ssm", "s3"}
    assert not [call for call in admin if call["service"] in ("ssm", "s3")], "the admin's key is not what is proved"
    assert sum(call["action"] == "iam:CreateAccessKey" for call in calls) == 1
    assert_whole(there, aws)
    assert aws.contents()["parameters"] == []
    for bucket in (LAKE, STAGING):
        assert not aws.client("s3").list_objects_v2(Bucket=bucket).get("Contents")
    assert plan(there) == {}

    there.run("undo", "iam", "--yes", *there.kept).ends(0)
    left = aws.contents()
    assert left["users"] == left["roles"] == left["keys"] == left["policies"] == [], left


def test_application_that_is_still_to_be_made(there, aws):
    """Its id stands as known after, and the policy that is put has the real one."""
    net = aws.network()
    args = ("--set", "emr.application=", "--set", f"emr.subnets={net.subnets['private-nat']}",
            "--set", f"emr.security_groups={net.groups['open-egress']}")
    done = there.run("plan", "emr", "iam", "--json", *there.kept, *args).ends(2)
    changes = {change["id"]: change for change in done.json["changes"]}
    assert "/applications/(known after: application sluice-shop)/jobruns/*" in changes["iam.user_policy"]["preview"]
    there.run("apply", "emr", "iam", "--yes", *there.kept, *args).ends(0)
    made = there.run("state", "get", "emr.application").ends(0).out.strip()
    assert made not in ("", there.application)
    document = json.dumps(aws.client("iam").get_user_policy(UserName=USER, PolicyName=POLICY)["PolicyDocument"])
    assert f"/applications/{made}" in document and "known after" not in document


def test_one_bucket_for_both(there, aws):
    apply(there, "--set", f"bucket.staging={LAKE}").ends(0)
    document = aws.client("iam").get_role_policy(RoleName=ROLE, PolicyName=POLICY)["PolicyDocument"]
    assert document["Statement"][0]["Resource"] == [f"arn:aws:s3:::{LAKE}"]
    done = check(there, "--deep").ends(0)
    assert not red(done, "failed", "warned")


def test_path_and_boundary(there, aws):
    iam = aws.client("iam")
    boundary = iam.create_policy(PolicyName="limit", PolicyDocument=policy(allow("*")))["Policy"]["Arn"]
    args = ("--set", "iam.path=/data/", "--set", f"iam.boundary={boundary}")
    assert "--permissions-boundary " + boundary in plan(there, *args)["iam.user"]["preview"]
    apply(there, *args).ends(0)
    assert iam.get_role(RoleName=ROLE)["Role"]["Arn"] == f"arn:aws:iam::{ACCOUNT}:role/data/{ROLE}"
    assert iam.get_user(UserName=USER)["User"]["PermissionsBoundary"]["PermissionsBoundaryArn"] == boundary
    passed = json.dumps(iam.get_user_policy(UserName=USER, PolicyName=POLICY)["PolicyDocument"])
    assert f"arn:aws:iam::{ACCOUNT}:role/data/{ROLE}" in passed
    done = check(there, "--deep", *args).ends(0)
    assert not red(done, "failed", "warned"), done.out


# --- each right that is missing ---------------------------------------------------------------------------------------


def actions(name: str) -> list[tuple[int, str]]:
    """(statement, action) of a template."""
    statements = json.loads(re.sub(r"<(\w+)>", r"\1", (TEMPLATES / name).read_text()))["Statement"]
    return [(i, action) for i, one in enumerate(statements)
            for action in ([one["Action"]] if isinstance(one["Action"], str) else one["Action"])]


def without(document: dict, index: int, action: str) -> str:
    statements = json.loads(json.dumps(document["Statement"]))
    left = statements[index]["Action"]
    left = [] if isinstance(left, str) else [one for one in left if one != action]
    statements[index]["Action"] = left
    return json.dumps(document | {"Statement": [one for one in statements if one["Action"]]})


COMFORTS = {"s3:AbortMultipartUpload", "emr-serverless:TagResource", "emr-serverless:GetApplication",
            "emr-serverless:CancelJobRun", "ssm:DeleteParameter"}
REPLAYED = {"emr-serverless:ListJobRuns", "ssm:PutParameter", "ssm:GetParameter", "ssm:DeleteParameter",
            "s3:ListBucket", "s3:GetObject", "s3:PutObject", "s3:DeleteObject"}


def test_each_action_of_the_users_policy(made, aws):
    """Its check is red and names action and resource, and so is the call that needs it; nothing else is."""
    iam = aws.client("iam")
    whole = iam.get_user_policy(UserName=USER, PolicyName=POLICY)["PolicyDocument"]
    for index, action in actions("user.json"):
        iam.put_user_policy(UserName=USER, PolicyName=POLICY, PolicyDocument=without(whole, index, action))
        soft = action in COMFORTS
        done = check(made, "--deep").ends(0 if soft else 1)
        bad = red(done, "failed", "warned", "unreachable")
        expected = {"iam.user_policy"} | ({"iam.replay"} if action in REPLAYED else set())
        assert set(bad) == expected, (action, done.out)
        assert {found["status"] for found in bad.values()} == {"warned" if soft else "failed"}, (action, done.out)
        resource = whole["Statement"][index]["Resource"]
        item = next(item for item in bad["iam.user_policy"]["items"] if item["name"] == action)
        assert resource in item["line"] and "needed: " in item["line"], item
        if not soft:
            assert f"lacks {action} on {resource}" in bad["iam.user_policy"]["line"]
        if "iam.replay" in bad:
            assert action in words(bad["iam.replay"]) and resource.rstrip("*") in words(bad["iam.replay"]), done.out
    # what lacks is put back by the plan, and by nothing else
    iam.put_user_policy(UserName=USER, PolicyName=POLICY, PolicyDocument=without(whole, 4, "s3:PutObject"))
    changes = plan(made)
    assert list(changes) == ["iam.user_policy"] and changes["iam.user_policy"]["action"] == "alter"
    apply(made).ends(0)
    assert iam.get_user_policy(UserName=USER, PolicyName=POLICY)["PolicyDocument"] == whole


def test_each_action_of_the_roles_policy(made, aws):
    iam = aws.client("iam")
    whole = iam.get_role_policy(RoleName=ROLE, PolicyName=POLICY)["PolicyDocument"]
    for index, action in actions("role.json"):
        iam.put_role_policy(RoleName=ROLE, PolicyName=POLICY, PolicyDocument=without(whole, index, action))
        soft = action in COMFORTS
        done = check(made, "--deep").ends(0 if soft else 1)
        bad = red(done, "failed", "warned", "unreachable")
        assert set(bad) == {"iam.role_policy"}, (action, done.out)
        assert bad["iam.role_policy"]["status"] == ("warned" if soft else "failed")
        resources = whole["Statement"][index]["Resource"]
        for resource in [resources] if isinstance(resources, str) else resources:
            assert any(item["name"] == action and resource in item["line"] for item in bad["iam.role_policy"]["items"])
    apply(made).ends(0)
    assert iam.get_role_policy(RoleName=ROLE, PolicyName=POLICY)["PolicyDocument"] == whole


def test_rights_that_policies_give_and_others_deny(made, aws):
    """An organisation's denial and a boundary are told as such, at once; the policy itself is right."""
    aws.settings.organisation_policies = [policy(allow("*"), {"Effect": "Deny", "Action": "ssm:PutParameter", "Resource": "*"})]
    done = check(made, "--deep").ends(1)
    assert set(red(done)) == {"iam.replay"}
    found = done.checks["iam.replay"]
    assert "ssm:PutParameter" in found["line"] and "parameter/estuary/shop/wizard-probe" in found["line"]
    assert "explicit deny in a service control policy" in found["why"] and found["who"] == "AWS admin"
    assert found["ms"] < 30000


# --- what exists already ----------------------------------------------------------------------------------------------


def test_role_with_a_foreign_trust(there, aws):
    """It is told whom it trusts; what is planned adds and takes nothing away, and undo puts back what stood there."""
    trust = {"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}]}
    make_role(aws, name=ROLE, trust=trust)
    done = check(there).ends(1)
    found = red(done)
    assert set(found) == {"iam.trust", "iam.role_policy"}
    assert found["iam.trust"]["line"] == f"{ROLE} does not trust EMR Serverless, but Service:ec2.amazonaws.com"
    assert "choose another name for the role" in found["iam.trust"]["fix"]
    assert "Could not assume runtime role" in found["iam.trust"]["why"]

    changes = plan(there)
    assert changes["iam.trust"]["action"] == "alter" and "iam.role" not in changes
    assert changes["iam.trust"]["preview"].startswith("# it is now:\n") and "ec2.amazonaws.com" in changes["iam.trust"]["preview"]
    apply(there).ends(0)
    now = aws.client("iam").get_role(RoleName=ROLE)["Role"]["AssumeRolePolicyDocument"]["Statement"]
    assert now[0] == trust["Statement"][0] and now[1]["Principal"] == {"Service": "emr-serverless.amazonaws.com"}
    done = check(there, "--deep").ends(0)
    assert "may also be assumed by Service:ec2.amazonaws.com" in red(done, "warned")["iam.trust"]["line"]

    there.run("undo", "iam", "--yes", *there.kept).ends(0)
    left = aws.client("iam").get_role(RoleName=ROLE)["Role"]["AssumeRolePolicyDocument"]
    assert left == trust and aws.contents()["roles"] == [ROLE] and aws.contents()["users"] == []


def test_role_as_the_guide_makes_it(there, aws):
    """Trust without the account's condition works: warned, and not altered."""
    make_role(aws, name=ROLE, trust=TRUST)
    done = check(there)
    assert done.checks["iam.trust"]["status"] == "warned"
    assert "aws:SourceAccount" in done.checks["iam.trust"]["why"] + done.checks["iam.trust"]["fix"]
    assert "iam.trust" not in plan(there)


def test_user_with_the_guides_policy(there, aws):
    """Only what is missing is put, beside what stands; what has no effect is named."""
    app = f"arn:aws:emr-serverless:us-east-1:{ACCOUNT}:/applications/{there.application}"
    emr = [f"emr-serverless:{name}" for name in ("ListApplications", "StartJobRun", "GetJobRun", "ListJobRuns",
                                                 "CancelJobRun", "GetApplication", "StartApplication")]
    files = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"]
    parameters = [f"ssm:{name}" for name in ("PutParameter", "GetParameter", "GetParameters", "DeleteParameter")]
    make_user(aws, allow(emr, [app, f"{app}/jobruns/*"]),
              allow("iam:PassRole", ROLE_ARN,
                    Condition={"StringEquals": {"iam:PassedToService": "emr-serverless.amazonaws.com"}}),
              allow("s3:ListBucket", f"arn:aws:s3:::{STAGING}"), allow(files, f"arn:aws:s3:::{STAGING}/estuary-staging/*"),
              allow(parameters, f"arn:aws:ssm:us-east-1:{ACCOUNT}:parameter/estuary/shop/*"), name=USER)
    make_role(aws, name=ROLE, trust=TRUST)
    done = check(there)
    found = done.checks["iam.user_policy"]
    assert found["status"] == "warned" and "2 comforts are missing" in found["line"], found
    names = {item["name"] for item in found["items"]}
    assert {"emr-serverless:TagResource", "s3:AbortMultipartUpload", "emr-serverless:ListApplications"} <= names
    changes = plan(there)
    document = changes["iam.user_policy"]["preview"]
    assert "emr-serverless:TagResource" in document and "s3:PutObject" not in document
    apply(there).ends(0)
    assert sorted(aws.client("iam").list_user_policies(UserName=USER)["PolicyNames"]) == ["p", POLICY]
    there.run("undo", "iam", "--yes", *there.kept).ends(0)
    assert aws.client("iam").list_user_policies(UserName=USER)["PolicyNames"] == ["p"]


def test_managed_policies_count(there, aws):
    """What an AWS admin attached is read too: nothing is put beside it, and it is not taken away by undo."""
    previews = plan(there)
    iam = aws.client("iam")
    make_role(aws, name=ROLE, trust=TRUST)
    iam.create_user(UserName=USER)
    for change, attach, name in (("iam.role_policy", iam.attach_role_policy, "RoleName"),
                                 ("iam.user_policy", iam.attach_user_policy, "UserName")):
        document = re.search(r"--policy-document '(.*)'", previews[change]["preview"], re.S)[1]
        arn = iam.create_policy(PolicyName=change.replace(".", "-"), PolicyDocument=document)["Policy"]["Arn"]
        attach(**{name: ROLE if "role" in change else USER}, PolicyArn=arn)
    assert list(plan(there)) == ["iam.access_key"]
    apply(there).ends(0)
    done = check(there, "--deep").ends(0)
    assert set(red(done, "failed", "warned")) == {"iam.trust"}, done.out
    there.run("undo", "iam", "--yes", *there.kept).ends(0)
    assert aws.contents()["users"] == [USER] and aws.contents()["keys"] == []


def test_user_whose_policies_leave_no_room(there, aws):
    long = [f"arn:aws:s3:::some-other-bucket-{i}/with/a/long/folder/*" for i in range(25)]
    make_user(aws, allow("s3:GetObject", long), name=USER)
    done = check(there).ends(1)
    found = done.checks["iam.policy_size"]
    assert found["status"] == "failed" and "of 2048" in found["line"] and "6,144" in found["fix"]
    assert "iam.user_policy" not in plan(there)
    apply(there).ends(1)
    assert aws.contents()["roles"] == []


def test_two_access_keys(there, aws):
    """There is no room for a third: told before, with the one that could go; nothing is made."""
    first, _ = make_user(aws, name=USER)
    second = aws.client("iam").create_access_key(UserName=USER)["AccessKey"]["AccessKeyId"]
    aws.client("iam").update_access_key(UserName=USER, AccessKeyId=first, Status="Inactive")
    aws.clock.advance(3 * 86400)
    for key in (first, second):
        age(aws, key, days=3)
    done = check(there).ends(1)
    found = done.checks["iam.access_keys"]
    assert found["line"] == f"user {USER} has two access keys, and neither is at hand"
    assert found["copy"] == f"aws iam delete-access-key --user-name {USER} --access-key-id {first}"
    lines = {item["name"]: item["line"] for item in found["items"]}
    assert lines == {first: "inactive, made 3 days ago, never used", second: "active, made 3 days ago, never used"}
    assert "iam.access_key" not in plan(there)
    apply(there).ends(1)
    assert sorted(keys_of(aws)) == sorted([first, second])


def age(aws, key: str, days: int) -> None:
    """Make a key look older, as the stand-in's resources have it."""
    import datetime

    held = aws.world.backend.model("iam").access_keys[key]
    held.create_date = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=days)


def test_key_that_was_deleted_or_switched_off(made, aws):
    iam = aws.client("iam")
    key = held_key(made)
    iam.update_access_key(UserName=USER, AccessKeyId=key, Status="Inactive")
    done = check(made).ends(1)
    assert done.checks["iam.access_keys"]["line"] == f"{key} is inactive"
    iam.delete_access_key(UserName=USER, AccessKeyId=key)
    assert list(plan(made)) == ["iam.access_key"]
    apply(made).ends(0)
    assert_whole(made, aws)


def test_user_who_may_too_much(there, aws):
    """What must be denied is tried, and told when it is not."""
    make_user(aws, allow("*"), name=USER)
    there.run("apply", "iam", "--yes", *there.kept)
    done = check(there, "--deep")
    found = done.checks["iam.denied"]
    assert found["status"] == "warned" and "writing outside the staging folder" in found["line"]
    assert {item["status"] for item in found["items"]} == {"failed"} and len(found["items"]) == 3
    assert {"s3:PutObject", "ssm:GetParameter", "iam:PassRole"} <= set(re.findall(r"\w+:\w+(?= on)", words(found)))
    assert not aws.client("s3").list_objects_v2(Bucket=STAGING).get("Contents")


def test_the_operator_is_not_the_user(there, aws):
    done = check(there, "--set", "iam.user=admin").ends(1)
    assert "admin is you" in done.checks["iam.user"]["line"]
    assert plan(there, "--set", "iam.user=admin") == {}


# --- the operator may not ---------------------------------------------------------------------------------------------


READS = ["iam:GetRole", "iam:GetUser", "iam:ListRolePolicies", "iam:GetRolePolicy", "iam:ListUserPolicies",
         "iam:GetUserPolicy", "iam:ListAccessKeys"]
MAKES = ["iam:CreateRole", "iam:PutRolePolicy", "iam:CreateUser", "iam:PutUserPolicy", "iam:CreateAccessKey"]


def as_operator_without(sluice, aws, action: str) -> None:
    key, secret = make_user(aws, allow("*"), {"Effect": "Deny", "Action": action, "Resource": "*"}, name="operator")
    sluice.env |= aws.environment(key, secret)


@pytest.mark.parametrize("action", READS)
def test_operator_may_not_look(there, aws, action):
    """The survey names action and resource, and hands over a policy for the operator."""
    make_user(aws, allow("s3:ListAllMyBuckets"), name=USER)
    make_role(aws, allow("s3:ListAllMyBuckets"), name=ROLE)
    as_operator_without(there, aws, action)
    done = check(there).ends(1)
    found = done.checks["iam.found"]
    assert found["status"] == "failed" and found["line"] == f"{action} is denied" and found["who"] == "AWS admin"
    name = ROLE if "Role" in action else USER
    assert name in found["why"] and "explicit deny" in found["why"]
    statement, = json.loads(found["copy"])["Statement"]
    assert action in statement["Action"] and ROLE_ARN in statement["Resource"]
    there.run("plan", "iam", *there.kept).ends(1)


@pytest.mark.parametrize("action", MAKES)
def test_operator_may_not_make(there, aws, action):
    """The change that needs it fails with action and resource; the others that do not need it are made; later the rest."""
    as_operator_without(there, aws, action)
    done = apply(there, "--json").ends(1)
    changes = {change["id"]: change for change in done.json["changes"]}
    failed = [change for change in changes.values() if change["status"] == "failed"]
    assert len(failed) == 1 and f"{action} is denied" in json.dumps(failed[0]["error"]), done.out
    assert (ROLE if "Role" in action else USER) in json.dumps(failed[0]["error"])
    there.env |= aws.environment()
    aws.client("iam").delete_user_policy(UserName="operator", PolicyName="p")
    for key in keys_of(aws, "operator"):
        aws.client("iam").delete_access_key(UserName="operator", AccessKeyId=key)
    aws.client("iam").delete_user(UserName="operator")
    apply(there).ends(0)
    assert_whole(there, aws)


@pytest.mark.parametrize("action", ["iam:TagRole", "iam:TagUser", "iam:ListAttachedRolePolicies",
                                    "iam:GetAccessKeyLastUsed", "iam:SimulatePrincipalPolicy"])
def test_operator_can_do_without(there, aws, action):
    """Marks, attached policies, last use and the simulator are comforts: it goes on without."""
    as_operator_without(there, aws, action)
    apply(there).ends(0)
    done = check(there, "--deep").ends(0)
    if action == "iam:SimulatePrincipalPolicy":
        item = next(item for item in done.checks["iam.denied"]["items"] if item["name"] == "passing another role")
        assert item["status"] == "skipped"
    tags = {"Role": aws.client("iam").get_role(RoleName=ROLE)["Role"], "User": aws.client("iam").get_user(UserName=USER)["User"]}
    assert {kind for kind, it in tags.items() if not it.get("Tags")} == {action[-4:]} & {"Role", "User"}


def killed(sluice, aws) -> None:
    """An apply that dies while a call of it is held."""
    process = sluice.start("apply", "iam", "--yes", *sluice.kept)
    assert aws.faults.held(30)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    aws.faults.release()


# --- time, lost answers, kills ----------------------------------------------------------------------------------------


def test_new_key_spreads(there, aws):
    """IAM needs seconds: the wait is bounded, seen, and told."""
    aws.settings.propagation = {"default": 4.0, "s3": 6.0}
    done = apply(there).ends(0)
    assert re.search(r"iam\.key_works +seen by AWS after \d+ s", done.out), done.out
    assert re.search(r"✓ iam\.replay ", done.out)


def test_new_right_of_an_old_key_spreads(made, aws):
    """A denial of what the policy gives since seconds is waited for; of what it does not give, it is not."""
    iam = aws.client("iam")
    whole = iam.get_user_policy(UserName=USER, PolicyName=POLICY)["PolicyDocument"]
    iam.put_user_policy(UserName=USER, PolicyName=POLICY, PolicyDocument=without(whole, 4, "s3:PutObject"))
    found = check(made, "--deep").ends(1).checks["iam.replay"]
    assert found["ms"] < 15000
    aws.settings.propagation = {"default": 5.0}
    done = apply(made).ends(0)
    assert re.search(r"✓ iam\.replay ", done.out), done.out


@pytest.mark.long
def test_new_key_never_comes(there, aws):
    aws.settings.propagation = {"sts": 1000.0}
    done = apply(there, timeout=150).ends(1)
    assert re.search(r"✗ iam\.key_works +AWS does not know the new key after 9\d s", done.out), done.out
    assert "you: check again in a minute" in done.out


@pytest.mark.parametrize("operation", ["CreateRole", "PutRolePolicy", "CreateUser", "PutUserPolicy", "CreateAccessKey"])
@pytest.mark.parametrize("kind", ["lost_reply", "lost_request", "truncated"])
def test_lost_answer(there, aws, operation, kind):
    """Whatever was lost, there is exactly one of each at the end, and the key is usable."""
    aws.faults.add(kind, service="iam", operation=operation)
    apply(there)
    apply(there).ends(0)
    assert_whole(there, aws)


@pytest.mark.parametrize("stage", ["before", "after"])
@pytest.mark.parametrize("operation", ["CreateRole", "PutRolePolicy", "CreateUser", "PutUserPolicy", "CreateAccessKey"])
def test_killed_inside(there, aws, operation, stage):
    """kill -9 while the call is under way, done or not: a rerun ends with exactly one of each, and undo with none."""
    aws.faults.add("hold", service="iam", operation=operation, stage=stage)
    killed(there, aws)
    apply(there).ends(0)
    assert_whole(there, aws)
    there.run("undo", "iam", "--yes", *there.kept).ends(0)
    left = aws.contents()
    assert left["users"] == left["roles"] == left["keys"] == left["policies"] == [], left


def test_key_of_somebody_else_is_not_taken_for_ours(there, aws):
    """Killed before the call: the key that a colleague made and uses since is left alone, ours is made beside it."""
    make_user(aws, name="x")
    aws.client("iam").create_user(UserName=USER)
    aws.faults.add("hold", service="iam", operation="ListAccessKeys", stage="before", nth=3)
    killed(there, aws)    # the survey's, find's, and then that of the send itself
    assert keys_of(aws) == []
    theirs = aws.client("iam").create_access_key(UserName=USER)["AccessKey"]
    aws.client("sts", theirs["AccessKeyId"], theirs["SecretAccessKey"]).get_caller_identity()
    apply(there).ends(0)
    assert set(keys_of(aws)) == {theirs["AccessKeyId"], held_key(there)}
    done = check(there, "--deep").ends(0)
    assert done.checks["iam.access_keys"]["line"].endswith("2 of 2")
    there.run("undo", "iam", "--yes", *there.kept).ends(0)
    assert keys_of(aws) == [theirs["AccessKeyId"]]


def test_secret_is_only_in_the_secrets_file(there, aws, tmp_path):
    log = tmp_path / "log"
    done = apply(there, "--log", str(log))
    again = check(there, "--deep", "--log", str(log))
    secret = aws.world.backend.model("iam").access_keys[held_key(there)].secret_access_key
    assert len(secret) == 40
    for text in (done.out, done.err, again.out, again.err, log.read_text(), there.state.read_text(),
                 there.secrets.read_bytes().decode("latin-1")):
        assert secret not in text and secret[8:32] not in text
    assert there.run("state", "get", "iam.access_key").out.strip() != secret
