"""The whole way in one command: from an empty account, an empty database and a catalog to everything green, and back to
empty. boto3 looks at every object; the screens do the same as a person does."""

from tests.e2e import stands
from tests.e2e.aws_account import (  # noqa: F401
    CHANGES, EMPTY, LAKE, STAGING, account, assert_empty, assert_green, aws, the_application, whole)
from tests.e2e.test_headless import valid

AWS = ("emr", "bucket", "iam")
FINE = {"passed", "warned", "skipped"}


def test_from_empty_to_green_and_back(whole, aws):
    """One apply makes it all, check --deep proves it, nothing is left to do; undo leaves nothing, and a second apply makes
    it all anew (a new application, although its client token was used before)."""
    sluice, shop = whole.sluice, whole.shop
    done = sluice.run("apply", "--yes", "--json", *whole.args).ends(0)
    changes = {change["id"]: change["status"] for change in valid(done.json)["changes"]}
    assert set(CHANGES) <= set(changes) and set(changes.values()) <= {"made", "found"}, changes
    assert_green(aws)
    stands.assert_green(shop)
    first = the_application(aws)["applicationId"]

    done = sluice.run("check", "--deep", "--json", *whole.args).ends(0)
    statuses = {check["id"]: check["status"] for check in valid(done.json)["checks"] if check["step"] in AWS}
    assert set(statuses.values()) <= FINE, statuses
    assert {"emr.identity", "emr.application", "bucket.staging_access", "iam.role_policy", "iam.user_policy", "iam.key_works",
            "iam.replay", "iam.denied"} <= {name for name, status in statuses.items() if status == "passed"}
    assert sluice.run("plan", *whole.args).ends(0).out.endswith("0 changes: everything stands as wanted.\n")
    assert_green(aws)
    assert_no_secret(sluice, aws)

    assert "consent" in sluice.run("undo", "--passphrase-file", whole.passphrase_file).ends(3).err
    assert_green(aws)
    sluice.run("undo", "--yes", "--passphrase-file", whole.passphrase_file).ends(0)
    assert_empty(aws)
    stands.assert_nothing_made(shop)
    assert "access_key" not in stands.load(sluice.state)["answers"].get("iam", {})
    planned = sluice.run("plan", "--json", "--passphrase-file", whole.passphrase_file).ends(2).json["changes"]
    assert set(changes) == {change["id"] for change in planned}

    sluice.run("apply", "--yes", "--passphrase-file", whole.passphrase_file).ends(0)
    assert_green(aws)
    assert the_application(aws)["applicationId"] != first


def assert_no_secret(sluice, aws) -> None:
    """The made key's secret is in no file in clear; its id may be."""
    keys = aws.world.directory.now().keys
    for made in aws.contents()["keys"]:
        secret = keys[made].secret.encode()
        for file in sluice.folder.rglob("*"):
            assert not file.is_file() or secret not in file.read_bytes(), file


def test_only_the_aws_steps(account, aws):
    """The same without a catalog and a database: three steps by name, each also taken back by name."""
    sluice = account.sluice
    sluice.run("apply", *AWS, "--yes", *account.args).ends(0)
    assert_green(aws)
    sluice.run("undo", "iam", "--yes", *account.args).ends(0)
    assert aws.contents() == EMPTY | {"buckets": [LAKE, STAGING], "applications": aws.contents()["applications"]}
    sluice.run("undo", "--yes", *account.args).ends(0)
    assert_empty(aws)


def test_lake_for_both(account, aws):
    """Staging in the lake's bucket: nothing is made there, and nothing is taken away."""
    account.values["bucket"]["staging"] = LAKE
    account.save()
    account.sluice.run("apply", *AWS, "--yes", *account.args).ends(0)
    assert aws.contents()["buckets"] == [LAKE]
    account.sluice.run("check", "iam", "--deep", *account.args).ends(0)
    account.sluice.run("undo", "--yes", *account.args).ends(0)
    assert_empty(aws)


def test_changes_in_iam_take_their_time(account, aws):
    """New users, roles, policies and keys are unknown to the services for a while; that is waited for, not reported."""
    aws.settings.update({"propagation": {"default": 3.0, "iam-read": 1.0}})
    account.sluice.run("apply", *AWS, "--yes", *account.args).ends(0)
    assert_green(aws)
    account.sluice.run("check", *AWS, "--deep", *account.args).ends(0)
    account.sluice.run("undo", "--yes", *account.args).ends(0)
    aws.clock.advance(10)
    assert_empty(aws)
