"""The AWS steps as a person does them at 80x24: the application to be made, its network from the live lists, two buckets,
the plan, the word, the probes, green; and taken back in the same screens."""

import re

from tests.e2e import stands
from tests.e2e.aws_account import (  # noqa: F401
    LAKE, STAGING, account, assert_empty, assert_green, aws, whole)
from tests.e2e.test_wizard import allow_probes, choose_tables, give_passphrase, type_oauth, type_postgres, type_start

PROVED = ("iam.trust", "iam.role_policy", "iam.user_policy", "iam.key_works")
PROBES = ("iam.replay", "iam.denied")


def titles(there) -> dict[str, str]:
    """What stands on the screen for each check of the AWS steps, as the program itself says; its state is another one."""
    scratch = there.sluice.folder / "scratch" / "sluice.yaml"
    scratch.parent.mkdir()
    done = there.sluice.run("check", "emr", "bucket", "iam", "--deep", "--json", "--state", scratch, *there.args).ends(2)
    return {check["id"]: check["title"] for check in done.json["checks"]}


def choose_network(w, aws) -> None:  # noqa: F811
    """What was proposed is looked at; one subnet is left out, a closed one is refused, and the group is another one."""
    network = aws.network()
    w.go_to("Subnets")
    w.press("Enter")
    w.wait_for("2 chosen · 9 of 9 shown")
    pick(w, network.subnets["private-closed"], 1)
    assert "[-]" in w.current() and "2 chosen" in w.picture()
    pick(w, network.subnets["private-nat-b"], 1)
    w.wait_for("1 chosen")
    w.press("Space")
    w.wait_for("2 chosen")
    w.press("Enter")
    w.wait_for(lambda w: network.subnets["private-nat-b"] in (w.value_of("Subnets") or ""))
    w.go_to("Security groups")
    w.press("Enter")
    w.wait_for("1 chosen · 4 of 4 shown")
    w.press("Home", "Space")    # the default group, which was proposed
    w.wait_for("0 chosen")
    pick(w, network.groups["open-egress"], 1)
    w.wait_for("1 chosen")
    w.press("Enter")
    w.wait_for(lambda w: network.groups["open-egress"] in (w.value_of("Security groups") or ""))


def pick(w, identifier: str, shown: int) -> None:
    """The row of an id by the filter, and Space on it."""
    w.press("/")
    w.clear()
    w.type(identifier)
    w.wait_for(f"{shown} of ")
    w.press("Enter", "Home", "Space")
    w.settle()


def type_aws(w, aws, title) -> None:  # noqa: F811
    """Everything that is to be answered in the three steps."""
    w.to_step("EMR")
    for check in ("emr.identity", "emr.applications", "emr.network"):
        w.wait_check(title[check], "✓")
    w.go_to("Application")
    w.wait_for(re.compile(r"\(●\) create +sluice-shop"))
    choose_network(w, aws)
    w.to_step("Buckets")
    w.fill("Lake bucket", LAKE)
    w.fill("Staging bucket", STAGING)
    w.wait_check(title["bucket.lake_access"], "✓")
    w.to_step("IAM")
    assert (w.value_of("Role"), w.value_of("User")) == ("sluice-shop-emr", "sluice-shop")
    w.wait_check(title["iam.found"], "✓")


def apply(w, count: int) -> None:
    w.press("F2")
    w.wait_for(f"{count} changes · nothing is written yet")
    w.press("a")
    w.wait_for("Type apply and Enter")
    w.type("apply")
    w.press("Enter")
    w.wait_for(f"{count} of {count} done", 60)
    w.wait_for("finished; Enter goes on")
    w.press("Enter")


def prove(w, title) -> None:
    """What reads is green by itself, what writes after Space."""
    w.to_step("IAM")
    for check in PROVED:
        w.wait_check(title[check], "✓")
    assert w.wait_check(title[PROBES[0]], "·").startswith("writes and removes something")
    for check in PROBES:
        w.to_check(title[check])
        w.press("Space")
        w.wait_check(title[check], "✓")
    for step in ("Buckets", "EMR"):
        w.to_step(step)
        w.settle()
        w.wait_for(lambda w: "running" not in w.picture())
    assert "✓3a" in w.line(1) or "●3a" in w.line(1), w.picture()


def test_from_empty_to_green_and_back(whole, wizard, aws):
    """All of it, from the catalog to the access key, in one plan; then undo, and the account is as empty as before."""
    title = titles(whole)
    w = wizard()
    type_start(w)
    type_oauth(w, whole.catalog)
    type_postgres(w, whole.shop)
    choose_tables(w)
    type_aws(w, aws, title)
    assert aws.contents()["users"] == []
    apply(w, 13)
    prove(w, title)
    assert_green(aws)
    stands.assert_green(whole.shop)
    allow_probes(w)
    w.press("F2")
    w.wait_for("Nothing to change: everything stands as wanted.")
    w.press("u")
    w.wait_for(re.compile(r"1[0-3] changes"))
    w.press("a")
    w.wait_for("Type undo and Enter")
    w.type("undo")
    w.press("Enter")
    w.wait_for("finished; Enter goes on", 60)
    w.press("Enter")
    w.quit()
    assert_empty(aws)
    stands.assert_nothing_made(whole.shop)


def test_a_place_for_the_key_is_asked(account, wizard, aws):
    """The key that is to be made needs a place to be kept: the passphrase is asked before anything is made."""
    title = titles(account)
    w = wizard()
    type_start(w)
    type_aws(w, aws, title)
    w.press("F2")
    w.wait_for("8 changes · nothing is written yet")
    w.press("a")
    w.wait_for("Type apply and Enter")
    w.type("apply")
    w.press("Enter")
    give_passphrase(w)
    w.wait_for("8 of 8 done", 60)
    w.press("Enter")
    prove(w, title)
    w.quit()
    assert_green(aws)
    assert account.sluice.secrets.stat().st_mode & 0o777 == 0o600
