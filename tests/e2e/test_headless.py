"""The whole set-up from an answers file, as a script or CI does it: exit codes, JSON, JUnit, and what stands afterwards."""

import json
import re
import xml.etree.ElementTree as ET

import jsonschema
import pytest

from tests.e2e import stands
from tests.services import places

SCHEMA = json.loads((places.REPO / "assets" / "report.schema.json").read_text())
LATER = ("emr", "bucket", "iam", "capture", "materialization", "review")


def valid(report: dict) -> dict:
    jsonschema.validate(report, SCHEMA, cls=jsonschema.Draft202012Validator)
    return report


def test_from_nothing_to_green(ready):
    """check says what waits for the plan (2), plan shows it (2), apply wants consent (3), has it (0); then check --deep
    proves all of it (0) and nothing is left to do (0)."""
    sluice, shop, args = ready.sluice, ready.shop, ready.args

    done = sluice.run("check", "--json", *args).ends(2)
    before = valid(done.json)
    assert before["ok"] is False or all(check["status"] != "failed" for check in before["checks"])
    waiting = {check["id"]: check["waits"] for check in before["checks"] if check["status"] == "waiting"}
    assert waiting and all("(planned)" in waits for waits in waiting.values()), waiting
    assert not [check for check in before["checks"] if check["status"] in ("failed", "unreachable")]
    assert not {check["step"] for check in before["checks"]} & set(LATER)

    done = sluice.run("plan", "--json", *args).ends(2)
    planned = valid(done.json)["changes"]
    assert [change["status"] for change in planned] == ["planned"] * 5
    assert {change["action"] for change in planned} == {"create", "alter"}
    previews = "\n".join(change["preview"] for change in planned)
    for statement in ("CREATE ROLE flow_shop WITH LOGIN REPLICATION PASSWORD 'SCRAM-SHA-256$…'",
                      "CREATE TABLE IF NOT EXISTS public.flow_watermarks", "CREATE PUBLICATION flow_shop FOR TABLE",
                      'public."Order Items"', "REPLICA IDENTITY USING INDEX order_tags_u",
                      "publish_via_partition_root = true", "GRANT CONNECT ON DATABASE shop TO flow_shop"):
        assert statement in previews, previews
    ids = [change["id"] for change in planned]
    assert all(needed in ids[:ids.index(change["id"])] for change in planned for needed in change["after"])

    done = sluice.run("apply", *args).ends(3)
    assert "consent is missing" in done.err and "--yes" in done.err
    stands.assert_nothing_made(shop)

    done = sluice.run("apply", "--yes", "--json", *args).ends(0)
    assert {change["status"] for change in valid(done.json)["changes"]} == {"made"}
    assert "postgres.cdc_round_trip" in done.err, "what was changed is proved at once"
    stands.assert_green(shop)

    done = sluice.run("check", "--deep", "--json", *args).ends(0)
    after = valid(done.json)
    assert after["ok"] is True
    apart = {check["id"] for check in after["checks"] if check["status"] not in ("passed", "warned")}
    assert apart == {"start.login", "start.prefix", "start.plane"}, "without a token Estuary is not asked"
    proved = {check["id"] for check in after["checks"] if check["status"] == "passed"}
    assert {"oauth.writable", "postgres.cdc_round_trip", "postgres.connect_capture"} <= proved
    assert sluice.run("plan", *args).ends(0).out.endswith("0 changes: everything stands as wanted.\n")
    assert sluice.run("apply", "--yes", *args).ends(0).out.endswith("0 changes: nothing was written.\n")
    stands.assert_green(shop)


def test_made_password_works_and_is_sealed(ready):
    """The password that sluice made opens the database for the capture user; it is nowhere in clear."""
    sluice, shop = ready.sluice, ready.shop
    sluice.run("apply", "--yes", *ready.args).ends(0)
    state = stands.load(sluice.state)
    kept = state["answers"]["postgres"]["password"]
    assert kept["secret"] == "stored" and kept["made"] is True
    assert sluice.secrets.stat().st_mode & 0o777 == 0o600 == sluice.state.stat().st_mode & 0o777
    verifier = shop.query("SELECT rolpassword FROM pg_authid WHERE rolname = 'flow_shop'")[0][0]
    assert verifier not in sluice.state.read_text()
    done = sluice.run("check", "--deep", "postgres", "--json", "--passphrase-file", ready.passphrase_file).ends(0)
    assert done.checks["postgres.connect_capture"]["status"] == "passed"


def test_state_alone_is_enough_afterwards(ready):
    """The answers file is needed once: what it referred to is kept as references, what was made is in the secrets file."""
    sluice = ready.sluice
    sluice.run("apply", "--yes", *ready.args).ends(0)
    sluice.run("check", "--deep", "--passphrase-file", ready.passphrase_file).ends(0)
    done = sluice.run("status", "--json").ends(0)
    assert valid(done.json)["checks"]


def test_without_a_place_for_made_secrets(ready):
    """A password that nobody could keep is not made: 3, and nothing is written."""
    done = ready.sluice.run("apply", "--yes", "--answers", ready.answers).ends(3)
    assert "postgres.password" in done.err and "--passphrase-file" in done.err
    stands.assert_nothing_made(ready.shop)
    assert not ready.sluice.secrets.exists()


def test_wrong_passphrase(ready, tmp_path):
    sluice = ready.sluice
    sluice.run("apply", "--yes", *ready.args).ends(0)
    before = sluice.secrets.read_bytes()
    other = tmp_path / "other"
    other.write_text("not the one\n")
    other.chmod(0o600)
    done = sluice.run("check", "--passphrase-file", other).ends(5)
    assert "passphrase" in done.err and str(sluice.secrets) in done.err
    assert sluice.secrets.read_bytes() == before


def test_single_steps_and_checks(ready):
    """Words choose: a step, a check and what it needs."""
    done = ready.sluice.run("check", "oauth", "--json", *ready.args).ends(0)
    assert {check["step"] for check in done.json["checks"]} == {"oauth"}
    done = ready.sluice.run("check", "oauth.branch", "--json", *ready.args).ends(0)
    assert list(done.checks) == ["oauth.branch"] and done.checks["oauth.branch"]["status"] == "passed"
    done = ready.sluice.run("check", "postgres.tables", *ready.args).ends(0)
    assert "8 chosen" in done.out and "oauth" not in done.out


def test_report_for_people(ready):
    """One line a check, what is wrong with cause, fix and who; what waits gathered; a sum at the end; no escape codes."""
    done = ready.sluice.run("check", *ready.args).ends(2)
    assert re.search(r"^  ✓ oauth\.token_spark +\S", done.out, re.M)
    assert re.search(r"^  … \d+ wait for: user flow_shop \(planned\)$", done.out, re.M)
    assert re.search(r"^\d+ passed, \d+ warned, \d+ not run · \d+\.\d\d s\n\Z", done.out, re.M)
    assert re.search(r"^      DBA: ", done.out, re.M) and re.search(r"^      why: ", done.out, re.M)
    assert max(map(len, done.out.splitlines())) < 130


def test_junit(ready):
    report = ready.sluice.folder / "junit.xml"
    ready.sluice.run("check", "--junit", report, *ready.args).ends(2)
    suite = ET.parse(report).getroot()
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert cases["oauth.branch"].get("classname") == "oauth" and not list(cases["oauth.branch"])
    assert cases["postgres.connect_capture"].find("skipped").get("message") == "user flow_shop (planned)"
    ready.values["oauth"]["branch"] = "alice.nope"
    ready.save()
    ready.sluice.run("check", "oauth", "--junit", report, *ready.args).ends(1)
    failure = ET.parse(report).getroot().find(".//testcase[@name='oauth.branch']/failure")
    assert failure.get("message") == "there is no branch alice.nope" and "Make the branch" in failure.text


def test_accepted_exception(ready):
    """A failed check that is accepted with a reason no longer counts, and says so everywhere."""
    ready.values["oauth"]["branch"] = "alice.nope"
    ready.save()
    ready.sluice.run("check", "oauth", *ready.args).ends(1)
    ready.sluice.run("accept", "oauth.branch", "--reason", "made on Monday").ends(0)
    done = ready.sluice.run("check", "oauth", "--json", *ready.args)
    assert done.checks["oauth.branch"]["status"] == "accepted"
    assert done.checks["oauth.branch"]["accepted"] == "made on Monday"
    done.ends(0)


def test_precedence(ready):
    """--set beats the answers file, that the state, that the environment."""
    sluice = ready.sluice
    sluice.run("state", "set", "oauth.branch", "from.state").ends(0)

    def branch(*given, **env):
        sluice.run("check", "oauth.url", *given, env=env)    # what else is missing does not matter here
        return sluice.run("state", "get", "oauth.branch").ends(0).out.strip()

    url = ("--set", f"oauth.url={ready.catalog.url}")
    assert branch(*url, SLUICE_OAUTH_BRANCH="from.environment") == "from.state"
    answers = ("--answers", ready.answers)
    assert branch(*answers, "--set", "oauth.branch=from.set") == "from.set"
    assert branch(*answers) == "alice.ingest"
    other = {"--state": ready.sluice.folder / "other.yaml"}
    sluice.run("check", "oauth.url", "--state", other["--state"], env={"SLUICE_OAUTH_BRANCH": "from.environment"})
    assert stands.load(other["--state"])["answers"]["oauth"]["branch"] == "from.environment"


def test_secret_from_the_environment(ready):
    """SLUICE_<STEP>_<FIELD> gives a secret; the program forgets the variable and writes it nowhere in clear."""
    del ready.values["oauth"]["client_secret"]
    ready.save()
    done = ready.sluice.run("check", "oauth", "--json", *ready.args,
                            env={"SLUICE_OAUTH_CLIENT_SECRET": ready.catalog.client_secret}).ends(0)
    assert done.checks["oauth.login"]["status"] == "passed"
    assert ready.catalog.client_secret not in ready.sluice.state.read_text()


def test_what_others_changed_is_found(ready):
    """Drift: a table dropped from the publication and a right taken away come back as a plan with just that."""
    sluice, shop = ready.sluice, ready.shop
    sluice.run("apply", "--yes", *ready.args).ends(0)
    shop.query("ALTER PUBLICATION flow_shop DROP TABLE orders")
    shop.query("REVOKE SELECT ON payments FROM flow_shop")
    done = sluice.run("check", "postgres", "--json", *ready.args).ends(2)
    planned = {change["id"]: change for change in sluice.run("plan", "--json", *ready.args).ends(2).json["changes"]}
    text = "\n".join(change["preview"] for change in planned.values())
    assert len(planned) == 2 and "public.orders" in text and "public.payments" in text, text
    assert "customers" not in text and "CREATE" not in text, text
    sluice.run("apply", "--yes", *ready.args).ends(0)
    stands.assert_green(shop)


def test_undo_only_where_it_was_made(ready):
    """With the answers changed to another database undo touches nothing there, although the names are the same."""
    sluice, shop, kept = ready.sluice, ready.shop, ("--passphrase-file", ready.passphrase_file)
    sluice.run("apply", "--yes", *ready.args).ends(0)
    shop.server.query("CREATE DATABASE other", "postgres")
    try:
        shop.server.query("CREATE TABLE flow_watermarks AS SELECT 'precious'::text AS slot", "other")
        shop.server.query("CREATE PUBLICATION flow_shop FOR TABLE flow_watermarks", "other")
        done = sluice.run("undo", "--yes", "--set", "postgres.database=other", *kept).ends(1)
        assert f"/{shop.database}, not at " in done.out, str(done)
        assert shop.server.query("SELECT slot FROM flow_watermarks", "other") == [("precious",)]
        assert shop.server.query("SELECT pubname FROM pg_publication", "other") == [("flow_shop",)]
    finally:
        shop.server.query("DROP DATABASE other", "postgres")
    stands.assert_green(shop)
    sluice.run("undo", "--yes", "--set", f"postgres.database={shop.database}", *kept).ends(0)
    stands.assert_nothing_made(shop)


def test_existing_user_is_adopted(ready):
    """A user that is there already is not made again; without its password the check says whose turn it is."""
    ready.shop.query("CREATE ROLE flow_shop LOGIN PASSWORD 'given-by-the-dba'")
    secret = ready.folder / "user-password"
    secret.write_text("given-by-the-dba")
    secret.chmod(0o600)
    ready.values["postgres"]["password"] = {"secret": f"file:{secret}"}
    ready.save()
    done = ready.sluice.run("plan", "--json", *ready.args).ends(2)
    user = next(change for change in done.json["changes"] if "user" in change["title"])
    assert user["action"] == "alter" and "REPLICATION" in user["preview"] and "CREATE ROLE" not in user["preview"]
    ready.sluice.run("apply", "--yes", *ready.args).ends(0)
    stands.assert_green(ready.shop)
    with ready.shop.connect(user="flow_shop", password="given-by-the-dba") as connection:
        assert connection.execute("SELECT count(*) FROM orders").fetchone() == (2000,)


@pytest.mark.parametrize("shell, words", [("bash", "complete -o default"), ("zsh", "#compdef sluice"), ("fish", "complete -c sluice")])
def test_completion(sluice, shell, words):
    out = sluice.run("completion", shell).ends(0).out
    assert out.startswith(words) and "postgres.cdc_round_trip" in out and "--answers" in out
