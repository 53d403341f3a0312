"""src/estuary's drafts (estuary_draft_probe.c) against the stand-in for Estuary's control plane: staged and read back
letter by letter, discovered, tried for real, told in words for people, and deleted whatever happens."""

import json

import pytest

from tests.e2e.estuary_draft_probe import probe, probe_program  # noqa: F401
from tests.services.estuary.testing import (
    BAUPLAN_IMAGE,
    CAPTURE,
    MATERIALIZATION,
    NEW,
    ORDERS,
    estuary,  # noqa: F401
    pipeline,
    postgres_config,
)


def calls(estuary, operation):  # noqa: F811
    """Entries of the request log."""
    return [entry for entry in estuary.log.entries() if entry["operation"] == operation]


# Staging and reading.


def test_what_was_staged_comes_back_letter_by_letter(probe):  # noqa: F811
    schema = ('{"type":"object","properties":{"zeta":{"type":"integer","minimum":-9223372036854775808,"maximum":'
              '9223372036854775807},"alpha":{"type":"number","multipleOf":1.0,"maximum":0.1},"e":{"const":"\\"é\\n"}},'
              '"required":["zeta"]}')
    spec = '{"schema":' + schema + ',"key":["/zeta"],"unsigned":18446744073709551615,"none":null,"b":[true,{},[]]}'
    staged = probe.folder / "staged.json"
    staged.write_text('{"acmeCo/shop/x":["collection",' + spec + "]}")
    answers = probe(["new", "letters"], ["stage", staged, "fresh"], ["read"], ["stage", staged], ["read"], ["delete"])
    assert all(answer.ok for answer in answers), answers
    assert answers[2].result == answers[4].result == {"acmeCo/shop/x": ["collection", spec]}


def test_batches_and_pages(estuary, probe):  # noqa: F811
    estuary.settings.max_rows = 40
    column = {f"column_{n}": {"type": "string", "description": "x" * 100} for n in range(80)}
    specs = {f"acmeCo/shop/public/t{n:03}": ["collection", {"schema": {"type": "object", "properties": column},
                                                            "key": ["/column_0"]}] for n in range(150)}
    answers = probe(["new", "many"], ["stage", probe.file(specs), "fresh"], ["read"], ["delete"])
    assert all(answer.ok for answer in answers), answers
    assert {name: ["collection", json.loads(spec)] for name, (_, spec) in answers[2].result.items()} == specs
    sent = calls(estuary, "draft_specs.insert")
    assert len(sent) >= 2 and all(entry["bytes"] <= 1 << 20 for entry in sent)
    assert {entry["prefer"] for entry in sent} == {"resolution=merge-duplicates,return=minimal"}
    assert [entry["range"] for entry in calls(estuary, "draft_specs_ext.select")] == [
        "0-99", "40-139", "80-179", "120-219", "150-249"]
    small = {name: ["collection", {"key": ["/id"]}] for name in specs}
    estuary.log.clear()
    assert all(answer.ok for answer in probe(["new", "m"], ["stage", probe.file(small), "fresh"], ["delete"]))
    assert len(calls(estuary, "draft_specs.insert")) == 2


def test_fresh_means_that_nothing_live_is_written_over(estuary, probe):  # noqa: F811
    specs = pipeline(probe.client)
    estuary.put_live(ORDERS, "collection", {**specs[ORDERS][1]})
    refused = probe.tried(specs)
    assert (refused.kind, refused.code) == ("conflict", "expectPubIdMismatch")
    assert f"{ORDERS}: expected publication {NEW.replace(':', '')}" in refused.evidence.replace(":00", "00")
    staged = probe.file(specs)
    answers = probe(["new", "t"], ["stage", staged], ["try"], ["delete"])
    assert all(answer.ok for answer in answers), answers


def test_what_the_database_says_of_a_name(probe):  # noqa: F811
    made, put, gone = probe(["new", "t"], ["stage", probe.file({"acmeCo/a b": ["collection", {}]}), "fresh"], ["delete"])
    assert made.ok and gone.ok and put.code == "23514" and "valid catalog name" in put.what


# Discovery.


def test_a_discover_writes_collections(estuary, probe):  # noqa: F811
    estuary.settings.update({"life": {"discover": 0.4}})
    sealed = probe.client.seal("capture", postgres_config())
    found, specs = probe.discovered(sealed=sealed)
    assert found.ok and found.complaints == []
    assert {name: sort for name, (sort, _) in specs.items()} == {
        CAPTURE: "capture", ORDERS: "collection", "acmeCo/shop/public/order_items": "collection",
        "acmeCo/shop/public/clicks": "collection"}
    assert json.dumps(sealed, separators=(",", ":"), ensure_ascii=False) in specs[CAPTURE][1]
    assert found.progress and found.progress[0].endswith(" is queued")


def test_a_discover_that_fails_gives_the_connectors_words(estuary, probe):  # noqa: F811
    estuary.world.next_discovers.append({"fail": "discoverFailed", "log": ["\x1b[31mdriver\x1b[0m gave up"], "errors": [
        {"scope": f"flow://capture/{CAPTURE}", "detail": "failed to connect to `user=flow_capture database=shop`: FATAL: "
                                                        "password authentication failed for user \"flow_capture\""}]})
    found, specs = probe.discovered()
    assert (found.kind, found.code, found.who) == ("input", "discoverFailed", "DBA")
    assert found.what.endswith(f": capture {CAPTURE}") and "refuses the login" in found.why
    assert found.complaints[0][:3] == ["capture", CAPTURE, ""]
    assert "database=shop" in found.evidence and "log:" in found.evidence and "\n  driver gave up\n" in found.evidence
    assert list(specs) == [CAPTURE]


def test_ends_without_errors_have_words(estuary, probe):  # noqa: F811
    estuary.world.next_discovers += [{"fail": "tagFailed", "log": ["no manifest"]}, {"fail": "imageForbidden"},
                                     {"fail": "brandNew"}]
    usual = ("", "")
    *found, _ = probe.discovered(usual, usual, usual, ("", "ops/dp/public/nowhere"), (BAUPLAN_IMAGE, ""))
    estuary.grant("acmeCo/", "write")
    found += probe.discovered()[:1]
    assert [(each.code, each.kind, each.who) for each in found] == [
        ("tagFailed", "missing", "Estuary"), ("imageForbidden", "denied", "you"), ("brandNew", "protocol", "you"),
        ("noDataPlane", "missing", "you"), ("wrongProtocol", "input", "you"), ("notAuthorized", "denied", "you")]
    for each in found:
        assert each.what and each.why and each.fix and each.complaints == [], each
        assert f"discover ended: {each.code}" in each.evidence
    assert len({each.what for each in found}) == 6 and found[2].what.endswith(": brandNew")
    assert len(calls(estuary, "draft_errors.select")) == 1, "only of an end that is not known"


# Trials.


def test_a_trial_succeeds_and_commits_nothing(estuary, probe):  # noqa: F811
    tried = probe.tried()
    assert tried.ok and estuary.contents() == {"drafts": [], "drafted": [], "live": []}


def test_errors_of_several_specs(estuary, probe):  # noqa: F811
    specs = pipeline(probe.client)
    specs[CAPTURE][1]["bindings"].append({"resource": {"namespace": "public", "stream": "x"}, "target": "acmeCo/shop/x"})
    specs[MATERIALIZATION][1]["bindings"][0]["fields"]["require"] = {"nope": {}}
    estuary.settings.max_rows = 1
    tried = probe.tried(specs)
    assert (tried.kind, tried.code) == ("input", "buildFailed") and tried.what.endswith(": 2 errors")
    assert [complaint[:3] for complaint in tried.complaints] == [
        ["capture", CAPTURE, "/bindings/1/target"], ["materialization", MATERIALIZATION, "/bindings/0/fields/require/nope"]]
    assert "together with its collections" in tried.why and "Look for tables again" in tried.fix
    assert f"materialization {MATERIALIZATION} at /bindings/0/fields/require/nope: " in tried.evidence


@pytest.mark.parametrize("change, why, who", [
    (lambda e: e.put_mapping("acmeCo/shop/", ["ops/dp/private/acmeCo/aws-eu-central-1-c1"]), "no role grant", "Estuary"),
    (lambda e: e.put_mapping("acmeCo/", None), "No storage mapping covers", "you"),
    (lambda e: e.grant("acmeCo/", "write"), "capability admin", "you"),
], ids=["role grant", "no mapping", "rights"])
def test_known_texts_have_a_remedy(estuary, probe, change, why, who):  # noqa: F811
    change(estuary)
    tried = probe.tried()
    assert not tried.ok and tried.code == "buildFailed" and why in tried.why and tried.who == who, tried


def test_an_unknown_text_stands_as_it_came(estuary, probe):  # noqa: F811
    hostile = "first \x1b[2J line\x07 \u202eevil\nsecond line " + "x" * 5000
    estuary.world.next_publications.append({"fail": "buildFailed", "errors": [
        {"scope": "flow://capture/acmeCo/%1b]0;x#/a%0ab", "detail": hostile}, {"scope": "odd", "detail": ""}],
        "status": {"incompatible_collections": [{"collection": ORDERS, "requires_recreation": ["keyChange"],
                                                 "affected_materializations": [{"name": MATERIALIZATION}]}]}})
    tried = probe.tried()
    assert tried.why == "It says: first ^[[2J line^G \\u{202E}evil"
    assert "\nsecond line xxx" in tried.evidence and len(tried.evidence) < 4000
    assert f"incompatible: collection {ORDERS}, must be made anew: keyChange, affects {MATERIALIZATION}" in tried.evidence
    assert [complaint[0] for complaint in tried.complaints] == ["capture", ""]
    assert tried.complaints[0][1:3] == ["acmeCo/^[]0;x", "/a^Jb"] and len(tried.complaints[0][3]) < 4200


def test_an_empty_draft(probe):  # noqa: F811
    tried = probe.tried({ORDERS: pipeline(probe.client)[ORDERS]})
    assert (tried.code, tried.complaints) == ("emptyDraft", []) and "table" in tried.fix


def test_a_lock_that_goes_away_and_one_that_stays(estuary, probe):  # noqa: F811
    lock = {"fail": "buildIdLockFailure", "status": {"failures": [{"catalog_name": ORDERS, "expected": "1", "actual": "2"}]}}
    estuary.world.next_publications.append(lock)
    tried = probe.tried()
    assert tried.ok and any("trying again" in line for line in tried.progress)
    estuary.world.next_publications += [lock] * 3
    tried = probe.tried()
    assert (tried.kind, tried.code) == ("conflict", "buildIdLockFailure")
    assert f"{ORDERS}: expected publication 1, found 2" in tried.evidence
    assert len(calls(estuary, "publications.insert")) == 5


# Polling.


def test_logs_come_in_pages_and_late(estuary, probe):  # noqa: F811
    estuary.settings.max_rows = 7
    estuary.settings.update({"life": {"logs": 0.3}})
    lines = [f"\x1b[1mline\x1b[0m {n:02}" for n in range(30)]
    estuary.world.next_publications.append({"fail": "testFailed", "log": lines})
    tried = probe.tried()
    assert tried.code == "testFailed"
    assert [line for line in tried.progress if line.startswith("line ")] == [f"line {n:02}" for n in range(30)]
    shown = tried.evidence.splitlines()
    assert shown[0] == "log:" and len(shown) == 21 and shown[-2:] == ["  line 29", "  publication ended: testFailed"]
    ranges = [entry["range"] for entry in calls(estuary, "rpc.view_logs")]
    assert {"0-499", "1-500", "8-507", "32-531"} <= set(ranges)


def test_logs_that_cannot_be_read_are_done_without(estuary, probe):  # noqa: F811
    estuary.faults.add("error", service="pg", operation="rpc.view_logs", code="42883", message="no such thing", status=404,
                       count=0)
    estuary.settings.update({"life": {"publish": 2}})
    assert probe.tried().ok
    assert len(calls(estuary, "rpc.view_logs")) == 3


def test_a_token_that_ends_while_polling_is_renewed(estuary, probe):  # noqa: F811
    estuary.settings.update({"life": {"publish": 0.6}})
    estuary.faults.add("expired_token", service="pg", operation="publications.select", nth=2)
    assert probe.tried().ok
    assert len(calls(estuary, "rpc.generate_access_token")) + len(calls(estuary, "auth")) == 2


def test_a_draft_deleted_under_a_job(estuary, probe):  # noqa: F811
    estuary.faults.add("error", service="pg", operation="discovers.select", nth=1, code="PGRST116", status=406,
                       message="JSON object requested, multiple (or no) rows returned")
    found, _ = probe.discovered()
    assert (found.kind, found.code) == ("missing", "gone") and "deleted" in found.why


def test_a_cancel_in_mid_poll_leaves_no_draft(estuary, probe):  # noqa: F811
    estuary.world.next_publications.append({"stay": True})
    staged = probe.file(pipeline(probe.client))
    answers = probe(["new", "t"], ["stage", staged, "fresh"], ["try"], ["delete"], options=("--cancel-on", "is queued"))
    assert answers[0].ok and answers[1].ok and answers[2].kind == "cancelled" and answers[3].ok, answers
    assert estuary.contents()["drafts"] == [] and [entry["status"] for entry in calls(estuary, "drafts.delete")] == [204]


def test_a_deadline_in_mid_poll_leaves_no_draft(estuary, probe):  # noqa: F811
    estuary.world.next_publications.append({"stay": True})
    staged = probe.file(pipeline(probe.client))
    answers = probe(["new", "t"], ["stage", staged, "fresh"], ["try"], ["delete"], options=("--deadline", "2000"))
    tried = answers[2]
    assert (tried.kind, tried.code) == ("unreachable", "deadline") and "building the draft" in tried.what
    assert "is queued" in tried.evidence and answers[3].ok and estuary.contents()["drafts"] == []


def test_a_draft_whose_answer_is_lost_is_taken_away(estuary, probe):  # noqa: F811
    """Made, and nobody was told its id: it is found by what it is called. Those of others stay."""
    other = probe.client.add("drafts", {"detail": "t"})[0]["id"]
    estuary.faults.add("lost_reply", service="pg", operation="drafts.insert")
    [made] = probe(["new", "t"])
    assert made.kind == "unreachable", made
    assert list(estuary.contents()["drafts"]) == [other.replace(":", "")]
    assert probe(["use", other], ["delete"])[1].ok


def test_a_draft_that_cannot_be_deleted_is_named(estuary, probe):  # noqa: F811
    estuary.faults.add("lost_reply", service="pg", operation="drafts.delete")
    made, gone = probe(["new", "t"], ["delete"])
    assert made.ok and gone.ok, "deleted twice is deleted"
    estuary.faults.add("denied", service="pg", operation="drafts.delete")
    made, gone = probe(["new", "t"], ["delete"])
    assert gone.kind == "denied" and made.result["id"] in gone.evidence
    assert gone.copy == f"flowctl draft select --id {made.result['id']} && flowctl draft delete"
    assert probe(["use", made.result["id"]], ["delete"])[1].ok
