"""sluice export: the folder that is reviewed and published. From a set-up that was made and proved against the stand-ins;
what stands in it is judged from outside, by JSON Schemas and by psql."""

import hashlib
import json
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest

from tests.e2e import stands, tree
from tests.e2e.everything import aws, estuary, everything, whole  # noqa: F401
from tests.services import places, shop as shops
from tests.services.answers import LAKE, STAGING
from tests.services.aws.testing import ACCOUNT

CAPTURE, TARGET = "acmeCo/shop/source-postgres", "acmeCo/shop/materialize-bauplan"
REPORT = json.loads((places.REPO / "assets" / "report.schema.json").read_text())
PLACEHOLDER = ("--secrets", "placeholder")


@pytest.fixture
def set_up(everything):  # noqa: F811
    """Everything answered but a token for Estuary, nothing made: what is exported is a draft."""
    del everything.values["start"]["token"]
    everything.values["materialization"]["namespace"] = "analytics"
    everything.save()
    return everything


@pytest.fixture
def proved(set_up):
    """Everything made and proved."""
    set_up.sluice.run("apply", "--yes", *set_up.args).ends(0)
    set_up.sluice.run("check", "--deep", *set_up.args).ends(0)
    return set_up


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def export(made, *words, form=PLACEHOLDER, code: int = 0):
    return made.sluice.run("export", *form, *words).ends(code)


def test_the_folder(proved, tmp_path):
    """One folder, private, with all that its list says; printed where it is."""
    target = tmp_path / "out"
    done = export(proved, "-o", target)
    assert done.out.splitlines()[0] == str(target) and "flowctl discover" in done.out and done.err == ""
    names = set(files(target))
    assert {"flow.yaml", "acmeCo/flow.yaml", "acmeCo/shop/flow.yaml", "acmeCo/shop/public/flow.yaml", f"{CAPTURE}.config.yaml",
            f"{TARGET}.config.yaml", "postgres.sql", "policies/role.json", "policies/role-trust.json", "policies/user.json",
            "RUNBOOK.md", "report.json", "SHA256SUMS"} <= names
    for path in [target, *target.rglob("*")]:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    sums = [line.split("  ", 1) for line in (target / "SHA256SUMS").read_text().splitlines() if not line.startswith("#")]
    assert {name for _, name in sums} | {"SHA256SUMS"} == names
    for digest, name in sums:
        assert hashlib.sha256((target / name).read_bytes()).hexdigest() == digest, name
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("out.")]


def test_the_specification(proved, tmp_path):
    """Names, bindings, keys and configs are those of the set-up."""
    export(proved, "-o", tmp_path / "out")
    specs = tree.load(tmp_path / "out").catalog
    capture, target = specs["captures"][CAPTURE], specs["materializations"][TARGET]
    assert len(specs["captures"]) == len(specs["materializations"]) == 1
    tables = {each["source"]: each["resource"]["table"] for each in target["bindings"]}
    assert tables["acmeCo/shop/public/orders"] == "orders" and tables["acmeCo/shop/audit/orders"] == "audit_orders"
    assert {(each["resource"]["namespace"], each["resource"]["stream"]) for each in capture["bindings"]} == {
        tuple(part.strip('"') for part in table.split(".", 1)) for table in shops.TABLES}
    assert {each["target"] for each in capture["bindings"]} == set(specs["collections"])
    assert {each["source"] for each in target["bindings"]} == set(specs["collections"])
    assert "acmeCo/shop/public/order_items" in specs["collections"]
    assert specs["collections"]["acmeCo/shop/public/orders"]["key"] == ["/id"]
    assert all(each["resource"]["namespace"] == "analytics" for each in target["bindings"])
    assert target["source"] == {"capture": CAPTURE, "fieldsRecommended": 1}
    source = capture["endpoint"]["connector"]
    assert source["image"] == "ghcr.io/estuary/source-postgres:v3"
    assert source["config"]["historyMode"] is False and source["config"]["credentials"]["auth_type"] == "UserPassword"
    assert source["config"]["advanced"]["sslmode"] == "require", "the stand-in's CA is a private one"
    config = target["endpoint"]["connector"]["config"]
    assert config["url"] == proved.catalog.branch_url and config["base_location"] == f"s3://{LAKE}/iceberg"
    compute = config["compute"]
    assert (compute["compute_type"], compute["bucket"], compute["bucket_path"]) == ("AWS EMR Serverless", STAGING, "estuary-staging")
    assert compute["execution_role_arn"] == f"arn:aws:iam::{ACCOUNT}:role/sluice-shop-emr"
    held = [key["AccessKeyId"] for key in proved.aws.client("iam").list_access_keys(UserName="sluice-shop")["AccessKeyMetadata"]]
    assert [compute["credentials"]["aws_access_key_id"]] == held, "no secret: it is known by the journal"


def test_no_secret_stands_in_it(proved, tmp_path):
    """Placeholders stand where secrets belong; neither the made nor the given ones are anywhere in it."""
    out = tmp_path / "out"
    for words in ((), ("--passphrase-file", proved.passphrase_file)):
        export(proved, "-o", out, *words)
        everything = b"\n".join(files(out).values())
        verifier = proved.shop.query("SELECT rolpassword FROM pg_authid WHERE rolname = 'flow_shop'")[0][0]
        for secret in (proved.catalog.client_secret, proved.shop.server.admin_password, verifier):
            assert secret.encode() not in everything
        assert b"SCRAM-SHA-256" not in everything
        for name in ("postgres.password", "oauth.client_secret", "iam.secret_access_key"):
            assert f"PLACEHOLDER-{name}".encode() in everything
        assert b"PLACEHOLDER-iam.access_key_id" not in everything


def test_twice_from_one_state(proved, tmp_path):
    """Byte by byte the same, whichever secrets are at hand and into whichever folder; a second time nothing is written."""
    export(proved, "-o", tmp_path / "one")
    before = (tmp_path / "one").stat()
    again = export(proved, "-o", tmp_path / "one", "--passphrase-file", proved.passphrase_file)
    assert "unchanged" in again.out and (tmp_path / "one").stat().st_ino == before.st_ino
    export(proved, "-o", tmp_path / "two")
    assert files(tmp_path / "one") == files(tmp_path / "two")
    state = proved.sluice.state.read_bytes()
    export(proved)
    assert proved.sluice.state.read_bytes() == state, "export only reads"
    assert files(proved.sluice.folder / "shop") == files(tmp_path / "one"), "beside the state unless told otherwise"


def test_edited_folders_stay(proved, tmp_path):
    """What flowctl or a person changed is not written over; what is ours follows a changed answer."""
    out = tmp_path / "out"
    export(proved, "-o", out)
    proved.sluice.run("state", "set", "materialization.sync_frequency", "5m").ends(0)
    export(proved, "-o", out)
    assert tree.read(out / f"{TARGET}.config.yaml")["syncSchedule"] == {"syncFrequency": "5m"}
    (out / "acmeCo" / "shop" / "flow.yaml").write_text("captures: {}\n")
    done = export(proved, "-o", out, code=1)
    assert "acmeCo/shop/flow.yaml was changed since" in done.err and "-o" in done.err
    assert (out / "acmeCo" / "shop" / "flow.yaml").read_text() == "captures: {}\n"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("mine")
    assert "other files lie there" in export(proved, "-o", tmp_path / "mine", code=1).err
    assert files(tmp_path / "mine") == {"notes": b"mine"}


def test_report_and_runbook(proved, tmp_path):
    """The report says of each check how it stands; the runbook what is first, what is proved, accepted and not."""
    proved.sluice.run("accept", "capture.drafts", "--reason", "discovered | on Monday").ends(0)
    export(proved, "-o", tmp_path / "out")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    jsonschema.validate(report, REPORT, cls=jsonschema.Draft202012Validator)
    checks = {check["id"]: check for check in report["checks"]}
    assert report["ok"] is True and not [check for check in checks.values() if check["stale"]]
    assert checks["postgres.cdc_round_trip"]["status"] == checks["iam.replay"]["status"] == "passed"
    assert checks["capture.drafts"]["status"] == "accepted"
    book = (tmp_path / "out" / "RUNBOOK.md").read_text()
    assert re.match(r"# shop: PostgreSQL → Bauplan, as proved on \d{4}-\d\d-\d\d \d\d:\d\d UTC\n\n\*\*This is a draft\.\*\*", book)
    assert re.search(r"^\| a change comes through.*\| `postgres.cdc_round_trip` \|", book, re.M) or "`postgres.cdc_round_trip`" in book
    assert "discovered \\| on Monday" in book and "Estuary reaches the database" in book
    first, then = book.index("`flowctl discover --source flow.yaml`"), book.index("flowctl catalog publish --source flow.yaml")
    assert first < then and "--init-data-plane ops/dp/public/aws-us-east-1-c2" in book
    assert "/estuary/shop/acmeCo_shop_materialize_bauplan_E6CD0446FFC44D10" in book
    assert "role sluice-shop-emr" in book, "what undo takes back"


def test_answers_changed_since_are_said(proved, tmp_path):
    """A proof of other answers is told as such; one that the specification needs is asked for first."""
    proved.sluice.run("state", "set", "iam.ssm_prefix", "/estuary/other/").ends(0)
    done = export(proved, "-o", tmp_path / "out")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    stale = {check["id"] for check in report["checks"] if check["stale"]}
    assert "iam.user_policy" in stale and "oauth.branch" not in stale and "postgres.cdc_round_trip" not in stale
    assert report["ok"] is False and "of other answers" in (tmp_path / "out" / "RUNBOOK.md").read_text(), str(done)
    proved.sluice.run("state", "set", "postgres.host", "127.0.0.1").ends(0)
    done = export(proved, "-o", tmp_path / "none", code=3)
    assert "sluice check postgres" in done.err and not (tmp_path / "none").exists()


def test_what_is_missing_is_named(set_up, tmp_path):
    """Before anything is made or answered: 3, what is missing and how it is had; nothing is written."""
    sluice = set_up.sluice
    assert "start.prefix" in sluice.run("export", "-o", tmp_path / "out").ends(3).err
    sluice.run("check", *set_up.args)
    done = sluice.run("export", "-o", tmp_path / "out").ends(3)
    assert "no EMR Serverless application yet" in done.err and "sluice apply emr" in done.err
    sluice.run("apply", "emr", "bucket", "iam", "--yes", *set_up.args).ends(0)
    sluice.run("state", "set", "materialization.namespace", "").ends(0)
    assert "materialization.namespace" in export(set_up, "-o", tmp_path / "out", code=3).err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("field, value, words", [
    ("materialization.hard_delete", "yes", "hard deletes need collections that Estuary discovered"),
    ("materialization.bindings", "public.orders=orders", "public.orders both become analytics.orders"),
    ("capture.name", "elsewhere/shop/source-postgres", "outside your prefix acmeCo/"),
    ("oauth.token_uri", "api/v1/oauth/tokens", "is of an older guide"),
])
def test_what_could_not_be_published_is_refused(proved, tmp_path, field, value, words):
    proved.sluice.run("state", "set", field, value)
    done = proved.sluice.run("export", "-o", tmp_path / "out")
    assert done.code in (1, 3) and not (tmp_path / "out").exists(), str(done)
    if words:
        assert done.ends(1) and words in done.err


@pytest.mark.parametrize("words, said", [(("--secrets", "x"), "no such form"), (("out",), "takes no words")])
def test_usage(sluice, words, said):
    assert said in sluice.run("export", *words).ends(64).err


def test_the_best_form_there_is(proved, tmp_path):
    """Sealed where it can be had: of what is sealed already no service is asked again."""
    def now(*words):
        return export(proved, "-o", tmp_path / "out", *words, form=())

    assert "the secrets sealed" in now().out
    sealed = (tmp_path / "out" / f"{CAPTURE}.config.yaml").read_bytes()
    assert b"password_sops" in sealed
    proved.sluice.env["SLUICE_ESTUARY_ENCRYPTION_URL"] = "https://127.0.0.1:1"
    assert "unchanged" in now().out
    done = now("--set", "capture.sslmode=disable")
    assert "placeholders for the secrets" in done.out and "cannot be sealed" in done.err
    proved.sluice.run("export", "-o", tmp_path / "none", "--secrets", "sealed", "--set", "capture.sslmode=disable",
                      "--passphrase-file", proved.passphrase_file).ends(4)
    assert not (tmp_path / "none").exists()


def test_the_sql_makes_a_source(proved, tmp_path):
    """psql carries out postgres.sql in a database where nothing is made: then all stands as the plan would have made it."""
    export(proved, "-o", tmp_path / "out")
    shop, server = proved.shop, proved.shop.server
    proved.sluice.run("undo", "--yes", *proved.args)
    stands.assert_nothing_made(shop)
    (tmp_path / "set.sql").write_text("\\set password 'a password, isn''t it'\n")
    script = tmp_path / "out" / "postgres.sql"
    subprocess.run(["psql", "-X", "-q", server.uri(shop.database), "-f", tmp_path / "set.sql", "-f", script], check=True, timeout=60,
                   stdin=subprocess.DEVNULL)
    stands.assert_green(shop)
    with shop.connect(user="flow_shop", password="a password, isn't it") as connection:
        assert connection.execute("SELECT count(*) FROM orders").fetchone() == (2000,)
    again = subprocess.run(["psql", "-X", "-q", server.uri(shop.database), "-f", tmp_path / "set.sql", "-f", script],
                           capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    assert again.returncode != 0 and 'role "flow_shop" already exists' in again.stderr


def test_the_page_of_the_last_step(proved, wizard):
    """Review shows how it stands, scrolls, and changes with the answers."""
    proved.sluice.run("accept", "capture.drafts", "--reason", "on Monday").ends(0)
    w = wizard("--passphrase-file", proved.passphrase_file)
    while not w._shows("Review"):
        assert w.moves("n" if "Tab form" in w.footer() else "Tab"), w.picture()
    w.wait_for("Proved")
    w.wait_for("capture.drafts: “on Monday”")
    assert "PgUp" in w.footer()
    w.press("End")
    w.wait_for("x export")
    w.press("Home")
    w.wait_for("Proved")
    w.quit()
