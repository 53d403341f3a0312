"""kill -9 while the AWS account is filled and emptied: before and after any call, its answer lost with the process.
Afterwards a second run ends with exactly one of each thing and a key that works, all of it ours: undo leaves nothing."""

import signal
from collections import Counter

import pytest

from tests.e2e import stands
from tests.e2e.aws_account import (  # noqa: F401
    CHANGES, account, assert_empty, assert_green, aws)
from tests.e2e.test_kill import SECRETS, STATE, count_saves, kill_at, preload  # noqa: F401

AWS = ("emr", "bucket", "iam")
# Every call of an apply that writes, once each, except those of the probes.
MAKES = ("CreateApplication", "CreateBucket", "PutBucketTagging", "PutPublicAccessBlock", "CreateRole", "PutRolePolicy",
         "CreateUser", "PutUserPolicy", "CreateAccessKey")
PROBES = ("PutParameter", "DeleteParameter", "PutObject", "DeleteObject")
UNMAKES = ("DeleteApplication", "DeleteBucket", "DeleteRolePolicy", "DeleteRole", "DeleteUserPolicy", "DeleteAccessKey",
           "DeleteUser")
CLOSED = "bucket.public_access_block"   # there from the start, as on AWS since 2023, unless a test opens new buckets
CALLS = 125    # of one apply, reads and probes included
SAVES = 30     # of the state in one apply


@pytest.fixture
def bare(account):  # noqa: F811
    return account


def open_for(bare, operation: str) -> None:
    """Lets the one change be made that is not needed on AWS today."""
    bare.aws.settings.bucket_defaults = operation != "PutPublicAccessBlock"


def apply(bare, *given: object, **more):
    return bare.sluice.run("apply", *AWS, "--yes", *given, **more)


def resume(bare) -> tuple[object, ...]:
    """What a person has to give after a crash: the passphrase. The answers are in the state, if it died after any save."""
    return ("--passphrase-file", bare.passphrase_file) if bare.sluice.state.exists() else bare.args


def killed(bare, *command: object, stage: str, given: tuple = (), **which) -> bool:
    """Runs a command that dies around a call; False when it made no such call and has ended well."""
    aws = bare.aws  # noqa: F811
    fault = aws.faults.add("kill", stage=stage, **which)
    process = bare.sluice.start(*command, "--yes", *(given or bare.args))
    fault.pid = process.pid
    out, err = process.communicate(timeout=120)
    aws.faults.clear()
    if process.returncode == 0 and not fault.hits:
        return False
    assert process.returncode == -signal.SIGKILL, f"{process.returncode}\n{out}\n{err}"
    return True


def assert_ends_green(bare) -> None:
    """A second run carries on, a third finds nothing to do; the key works; and what the killed run made is ours (a bucket
    whose answer was lost is so by the journal, not by tags, which are put by a call of their own)."""
    sluice, aws = bare.sluice, bare.aws  # noqa: F811
    apply(bare, *resume(bare)).ends(0)
    given = resume(bare)
    done = sluice.run("check", *AWS, "--deep", "--json", *given).ends(0)
    assert done.checks["iam.key_works"]["status"] == done.checks["iam.replay"]["status"] == "passed"
    assert_green(aws, marked=False)
    sluice.run("plan", *AWS, *given).ends(0)
    journal = stands.load(sluice.state)["journal"]
    entries = Counter(entry["change"] for entry in journal)
    assert set(entries) <= set(CHANGES) and set(entries.values()) == {1}, entries
    assert {entry["change"] for entry in journal if entry.get("was_there")} <= {CLOSED}, journal
    sluice.run("undo", "--yes", *given).ends(0)
    assert_empty(aws)


def assert_undone(bare) -> None:
    bare.sluice.run("undo", "--yes", *resume(bare)).ends(0)
    assert_empty(bare.aws)


# --- the table is complete --------------------------------------------------------------------------------------------


def test_all_places(bare, aws):  # noqa: F811
    """The calls and saves below are all there are."""
    open_for(bare, "PutPublicAccessBlock")
    with aws.watching() as calls:
        apply(bare, *bare.args).ends(0)
    assert len(calls) <= CALLS, len(calls)
    done = [call["action"].split(":")[1] for call in calls if call["writes"] and call["status"] < 300]
    admin = [call["action"].split(":")[1] for call in calls if call["writes"] and call["caller"].endswith("/admin")]
    assert sorted(admin) == sorted(MAKES), admin
    assert set(done) == {*MAKES, *PROBES}, done
    with aws.watching() as calls:
        bare.sluice.run("undo", "--yes", *bare.args).ends(0)
    assert sorted(call["action"].split(":")[1] for call in calls if call["writes"]) == sorted(UNMAKES)


# --- one call ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", [*MAKES, "PutParameter", "PutObject"])
def test_killed_inside_a_call_that_makes(bare, operation):
    """Done there, the answer never read: what it made is found, or, of a key whose secret nobody knows, made anew."""
    open_for(bare, operation)
    assert killed(bare, "apply", *AWS, stage="after", operation=operation)
    assert_ends_green(bare)


@pytest.mark.parametrize("operation", ["CreateApplication", "CreateRole", "PutUserPolicy", "CreateAccessKey", "DeleteObject"])
def test_killed_just_before_a_call(bare, operation):
    """Intended and never done."""
    assert killed(bare, "apply", *AWS, stage="before", operation=operation)
    assert_ends_green(bare)


def test_killed_three_times_with_a_key(bare, aws):  # noqa: F811
    """Each run makes a key whose secret dies with it; none of them stays, although a user may have only two."""
    for _ in range(3):
        assert killed(bare, "apply", *AWS, stage="after", operation="CreateAccessKey", given=resume(bare))
        assert len(aws.contents()["keys"]) <= 2
    assert_ends_green(bare)


def test_undo_after_a_kill(bare, aws):  # noqa: F811
    """Instead of going on, the person takes back what the killed run left: nothing stays, neither a key nobody knows."""
    for operation in ("CreateAccessKey", "CreateApplication"):
        assert killed(bare, "apply", *AWS, stage="after", operation=operation, given=resume(bare))
        assert_undone(bare)


def test_names_that_are_late(bare, aws):  # noqa: F811
    """Killed, and run again while IAM does not find the new role and user yet: it is still one of each."""
    aws.settings.update({"propagation": {"default": 1.0, "iam-read": 4.0}})
    for operation in ("CreateRole", "CreateUser"):
        assert killed(bare, "apply", *AWS, stage="after", operation=operation, given=resume(bare))
    apply(bare, *resume(bare)).ends(0)
    assert_green(aws, marked=False)  # the kill may come between the bucket and its tags, which are made beside the role
    assert_undone(bare)


@pytest.mark.parametrize("operation", ["DeleteApplication", "DeleteAccessKey", "DeleteUser"])
def test_killed_while_taking_back(bare, operation):
    """Undo dies in the middle: a second one takes the rest."""
    apply(bare, *bare.args).ends(0)
    assert killed(bare, "undo", stage="after", operation=operation, given=resume(bare))
    assert_undone(bare)


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("number", [1, 2])
def test_around_the_save_of_the_key(bare, kill_at, side, number):  # noqa: F811
    """Its secret is on the disk before the state says that it was made."""
    done = apply(bare, *bare.args, env=kill_at(side, number, SECRETS))
    assert done.code in (0, -signal.SIGKILL), str(done)
    assert_ends_green(bare)


def test_killed_in_the_screens(bare, aws, wizard):  # noqa: F811
    """As a person: it dies while the key is made. Resumed, it asks for the passphrase and nothing else, and goes on."""
    bare.sluice.run("check", *AWS, *bare.args).ends(2)
    bare.answers.unlink()
    w = wizard("--passphrase-file", bare.passphrase_file)
    fault = aws.faults.add("kill", stage="after", operation="CreateAccessKey", pid=w.pid)
    apply_in_screens(w)
    assert w.wait() == -signal.SIGKILL and fault.hits == 1
    aws.faults.clear()
    w = wizard("--passphrase-file", bare.passphrase_file)
    apply_in_screens(w)
    w.wait_for("finished; Enter goes on", 60)
    w.press("Enter")
    w.to_step("IAM")
    w.wait_for(lambda w: (w.value_of("Role"), w.value_of("User")) == ("sluice-shop-emr", "sluice-shop"))
    w.wait_for(lambda w: "AKIA" in w.picture())
    w.quit()
    assert_ends_green(bare)


def apply_in_screens(w) -> None:
    w.to_step("IAM")
    w.wait_for(lambda w: "running" not in w.picture())
    w.press("F2")
    w.wait_for("nothing is written yet")
    w.press("a")
    w.wait_for("Type apply and Enter")
    w.type("apply")
    w.press("Enter")


# --- all of them ------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("number", range(1, CALLS + 1))
def test_killed_before_any_call(bare, number):
    """Between any two calls, those that read included: what was answered until then is done and journalled as far as it
    is; the call itself is not."""
    if killed(bare, "apply", *AWS, stage="before", nth=number):
        assert_ends_green(bare)


@pytest.mark.long
@pytest.mark.parametrize("stage", ["before", "after"])
@pytest.mark.parametrize("operation", [*MAKES, *PROBES])
def test_killed_around_any_write(bare, operation, stage):
    open_for(bare, operation)
    assert killed(bare, "apply", *AWS, stage=stage, operation=operation)
    assert_ends_green(bare)


@pytest.mark.long
@pytest.mark.parametrize("stage", ["before", "after"])
@pytest.mark.parametrize("operation", UNMAKES)
def test_killed_around_any_taking_back(bare, operation, stage):
    apply(bare, *bare.args).ends(0)
    assert killed(bare, "undo", stage=stage, operation=operation, given=resume(bare))
    assert_undone(bare)


@pytest.mark.long
@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("number", range(1, SAVES + 1))
def test_killed_around_any_save(bare, kill_at, side, number):  # noqa: F811
    done = apply(bare, *bare.args, env=kill_at(side, number, STATE))
    if done.code != 0:
        done.ends(-signal.SIGKILL)
        assert_ends_green(bare)


@pytest.mark.long
@pytest.mark.parametrize("operation", MAKES)
def test_lost_answer_without_a_kill(bare, aws, operation):  # noqa: F811
    """The connection ends before the answer comes: find settles it in the same run, or the next one does."""
    open_for(bare, operation)
    aws.faults.add("lost_reply", operation=operation)
    done = apply(bare, *bare.args)
    aws.check()
    aws.faults.clear()
    assert done.code in (0, 1), str(done)
    assert_ends_green(bare)
