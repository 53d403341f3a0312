"""What Estuary is asked for capture and materialization, against the stand-in whose connectors reach a real database, the
catalog and the account: sealing, discovery, connectors, names, the trial; and what becomes of the export."""

import copy
import json
import signal
import time
from pathlib import Path

import pytest
import yaml

from tests.e2e.estuary_world import estuary, set_up, world  # noqa: F401
from tests.services import shop as shops
from tests.services.estuary import connector_schemas, real_sops, sealing
from tests.services.estuary.testing import CAPTURE, MATERIALIZATION, ORDERS, PLANE, POSTGRES_IMAGE

OLDER, USUAL = "ghcr.io/estuary/materialize-iceberg:v1", "ghcr.io/estuary/materialize-bauplan:v1"
SEALED = ("capture.sealed", "materialization.sealed")
COLLECTIONS = {"acmeCo/shop/audit/orders", *(f"acmeCo/shop/public/{name}" for name in (
    "customers", "products", "orders", "order_items", "payments", "order_events", "order_tags"))}


def calls(estuary, operation: str) -> list[dict]:  # noqa: F811
    return [entry for entry in estuary.log.entries() if entry["operation"] == operation or entry["service"] == operation]


def facts(sluice) -> dict:
    return yaml.safe_load(sluice.state.read_text())["facts"]


def of_role(world) -> str:  # noqa: F811
    return world.shop.query("SELECT rolpassword FROM pg_authid WHERE rolname = 'flow_shop'")[0][0]


# --- sealing


def _put(path: str, value):
    def spoil(document: dict) -> None:
        *way, last = path.split("/")
        for part in way:
            document = document[part]
        document[last] = value
    return spoil


def _rename(document: dict) -> None:
    document["credentials"]["password"] = document["credentials"].pop("password_sops")


SPOILT = {
    "a plain value changed": (_put("user", "flow_shop2"), "/user came back changed"),
    "something more": (_put("advanced/min_backfill_xid", "1"), "/advanced has something that was not sent"),
    "the plain name": (_rename, "/credentials/password is a secret and came back under its plain name"),
    "no envelope": (lambda document: document.pop("sops"), "/sops is missing"),
}


def test_what_is_not_sealed_is_not_taken(set_up, monkeypatch):
    """A document that is not what was sent, or not sealed, is refused with the place, and nothing of it is kept."""
    encrypt, spoil = sealing.encrypt_config, None

    def spoilt(*given):
        document = encrypt(*given)
        spoil(document)
        return document

    monkeypatch.setattr(sealing, "encrypt_config", spoilt)
    for how, (spoil, says) in SPOILT.items():
        found = set_up.check("capture.sealed", code=1).checks["capture.sealed"]
        assert found["status"] == "failed" and found["code"] == "unsealed", how
        assert says in found["line"] and "--secrets placeholder" in found["fix"], how
    assert "capture.sealed_config" not in facts(set_up.sluice) and "ENC[" not in set_up.sluice.state.read_text()


def test_a_service_that_echoes_is_not_quoted(set_up, monkeypatch):
    """A refusal that repeats the password, bare text that does, and a document that hides it in itself."""
    sent = []

    def answer(how):
        def encrypt(body, *_):
            asked = json.loads(body)
            sent.append(asked["config"]["credentials"]["password"])
            if how == "refusal":
                wrong = [{"keywordLocation": "/properties/credentials/type", "instanceLocation": "/credentials",
                          "instanceValue": asked["config"]["credentials"]}]
                raise sealing.Refused(f"failed to validate config against schema: {json.dumps(wrong)}")
            return {**asked["config"], "echo": sent[-1]}
        return encrypt

    log = set_up.sluice.folder / "log"
    for how, code in (("refusal", "400"), ("document", "unsealed")):
        monkeypatch.setattr(sealing, "encrypt_config", answer(how))
        done = set_up.check("capture.sealed", "--log", log, code=1)
        assert done.checks["capture.sealed"]["code"] == code
        assert how != "refusal" or "/credentials" in done.checks["capture.sealed"]["evidence"]
        seen = done.out + done.err + log.read_text() + set_up.sluice.state.read_text()
        assert len(sent[-1]) > 20 and sent[-1] not in seen and sent[-1][:12] not in seen


@pytest.mark.parametrize("fault, code, status, asked", [
    ({"kind": "throttle", "count": 3}, 4, "unreachable", 3), ({"kind": "status", "status": 503, "body": "busy"}, 0, "passed", 2),
    ({"kind": "redirect", "status": 307}, 1, "failed", 1), ({"kind": "captive"}, 1, "failed", 1),
    ({"kind": "hostile", "form": "deep"}, 1, "failed", 1)])
def test_other_answers_of_the_encryption_service(set_up, fault, code, status, asked):
    set_up.estuary.faults.add(service="encrypt", **fault)
    found = set_up.check("capture.sealed", code=code).checks["capture.sealed"]
    assert found["status"] == status and len(calls(set_up.estuary, "encrypt")) == asked
    assert code == 0 or found["fix"]


def test_a_secret_that_json_cannot_hold_is_not_sent(set_up):
    secret = set_up.sluice.folder / "latin1"
    secret.write_bytes(b"caf\xe9-secret")
    secret.chmod(0o600)
    found = set_up.check("materialization.sealed", "--set", f"oauth.client_secret=file:{secret}", code=1)
    assert found.checks["materialization.sealed"]["line"] == "oauth.client_secret is not UTF-8"
    assert not calls(set_up.estuary, "encrypt")


def test_what_is_sent_is_the_config_alone(set_up, monkeypatch):
    """Each secret in its place and marked, the connectors' own schemas would take it, nobody logs in for it."""
    sent, encrypt = [], sealing.encrypt_config
    monkeypatch.setattr(sealing, "encrypt_config", lambda body, *more: sent.append(json.loads(body)) or encrypt(body, *more))
    set_up.check(*SEALED)
    source, target = sorted((ask["config"] for ask in sent), key=lambda config: "url" in config)
    for family, config in (("source-postgres", source), ("materialize-iceberg", target)):
        assert not sealing.complaints(connector_schemas.of(family).endpoint, config)
        ours = next(ask["schema"] for ask in sent if ask["config"] is config)
        assert sealing.secret_paths(ours, config) == sealing.secret_paths(connector_schemas.of(family).endpoint, config)
    with set_up.world.shop.connect(user="flow_shop", password=source["credentials"]["password"]) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert target["credentials"]["credential"] == f"{set_up.world.catalog.client_id}:{set_up.world.catalog.client_secret}"
    key = target["compute"]["credentials"]
    assert set_up.world.aws.world.directory.now().keys[key["aws_access_key_id"]].secret == key["aws_secret_access_key"]
    assert {entry["service"] for entry in set_up.estuary.log.entries()} == {"encrypt"}


# --- discovery


def test_discovery_finds_all_tables(set_up):
    """The collections are kept as Estuary wrote them; nothing is left there."""
    found = set_up.check("capture.discovery", "capture.drafts").checks
    assert found["capture.discovery"]["line"] == "8 collections as Estuary writes them"
    assert {item["name"] for item in found["capture.discovery"]["items"]} == set(shops.TABLES)
    assert found["capture.drafts"]["status"] == "passed"
    kept = facts(set_up.sluice)["capture.discovered"]["value"]
    assert set(kept) == COLLECTIONS and kept[ORDERS]["key"] == ["/id"]
    assert kept["acmeCo/shop/public/order_tags"]["writeSchema"]["allOf"][0]["properties"]["_meta"]
    # the next process takes them up: nothing is asked again
    set_up.estuary.log.clear()
    assert set_up.check("capture.drafts", deep=False).checks["capture.drafts"]["status"] == "passed"
    assert not calls(set_up.estuary, "discovers.insert")


def test_a_table_that_is_not_published(set_up):
    shop = set_up.world.shop
    shop.query("ALTER PUBLICATION flow_shop DROP TABLE payments; SELECT 1")
    try:
        found = set_up.check("capture.discovery", code=1).checks["capture.discovery"]
    finally:
        shop.query("ALTER PUBLICATION flow_shop ADD TABLE payments; SELECT 1")
    assert found["line"] == "Estuary did not find 1 of 8 tables" and found["who"] == "DBA"
    assert [item["name"] for item in found["items"] if item["status"] == "failed"] == ["public.payments"]
    assert "capture.discovered" not in facts(set_up.sluice)


def test_a_password_that_the_database_does_not_know(set_up):
    shop, before = set_up.world.shop, of_role(set_up.world)
    shop.query("ALTER ROLE flow_shop PASSWORD 'another'; SELECT 1")
    try:
        found = set_up.check("capture.discovery", code=1).checks["capture.discovery"]
    finally:
        shop.query(f"ALTER ROLE flow_shop PASSWORD '{before}'; SELECT 1")
    assert found["code"] == "discoverFailed" and "refuses the login" in found["why"] and found["who"] == "DBA"
    assert "password authentication failed" in found["evidence"]


@pytest.mark.parametrize("script, code, who, words", [
    ({"fail": "discoverFailed", "errors": [{"scope": f"flow://capture/{CAPTURE}", "detail":
        "failed to connect to `user=flow_shop database=shop`: dial tcp 192.0.2.7:5432: i/o timeout"}]},
     "discoverFailed", "network", "data plane's"),
    ({"fail": "noDataPlane"}, "noDataPlane", "you", "storage mapping"),
])
def test_a_data_plane_that_does_not_come_through(set_up, script, code, who, words):
    set_up.estuary.world.next_discovers.append(script)
    found = set_up.check("capture.discovery", code=1).checks["capture.discovery"]
    assert (found["status"], found["code"], found["who"]) == ("failed", code, who) and words in found["why"] + found["fix"]


def test_a_connector_that_is_not_listed(set_up):
    set_up.estuary.world.store.remove("connector_tags", lambda row: row["image_tag"] == ":v3")
    found = set_up.check("capture.discovery", code=1).checks["capture.discovery"]
    assert f"does not list {POSTGRES_IMAGE}; it offers :dev" in found["line"]
    assert not calls(set_up.estuary, "drafts.insert")


def test_a_draft_that_cannot_be_deleted_is_told(set_up):
    """What was found is taken; what is left is named, with what it is."""
    set_up.estuary.faults.add("denied", operation="drafts.delete", count=0)
    found = set_up.check("capture.discovery").checks["capture.discovery"]
    (draft,) = set_up.left = set_up.estuary.contents()["drafts"]
    (left,) = [item for item in found["items"] if item["status"] == "warned"]
    assert found["status"] == "passed" and draft in left["name"].replace(":", "") and "could not be deleted" in left["line"]
    assert "yours alone" in left["fix"]


@pytest.mark.parametrize("words", [("check", "capture.discovery", "--deep"), ("publish", "--dry-run")])
def test_cancelled_on_the_way(set_up, words):
    """SIGINT while Estuary is at it: the draft is deleted before sluice ends."""
    scripts = set_up.estuary.world.next_discovers if words[0] == "check" else set_up.estuary.world.next_publications
    scripts.append({"stay": True})
    queue = "discovers.insert" if words[0] == "check" else "publications.insert"
    process = set_up.sluice.start(*words, *set_up.world.args)
    end = time.monotonic() + 30
    while not calls(set_up.estuary, queue) and time.monotonic() < end:
        time.sleep(0.02)
    assert set_up.estuary.contents()["drafts"]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130, out + err
    assert "capture.discovered" not in facts(set_up.sluice) or words[0] == "publish"


# --- the materialization


def test_the_connector_by_its_older_name(set_up, tmp_path):
    """Where Bauplan's name is not listed the other one is taken, tried and exported."""
    set_up.estuary.settings.update({"knows_bauplan": False})
    done = set_up.run("publish", "--dry-run").ends(0)
    assert f"{OLDER}: the same program under its older name" in done.out
    set_up.run("export", "-o", tmp_path / "out").ends(0)
    exported = (tmp_path / "out" / "acmeCo" / "shop" / "flow.yaml").read_text()
    assert f"image: {OLDER}" in exported and USUAL not in exported
    assert "is unknown there, use" not in (tmp_path / "out" / "RUNBOOK.md").read_text()
    set_up.estuary.world.store.remove("connector_tags", lambda row: row["image_tag"] == ":v1")
    found = set_up.check("materialization.connector", code=1).checks["materialization.connector"]
    assert f"lists neither {USUAL} nor {OLDER}; it offers :dev" in found["line"] and found["fix"]
    answer = {"data": {"connectorSpec": {"id": "0a:1b", "imageTag": ":v9"}}}
    set_up.estuary.faults.add("status", service="graphql", operation="connectorSpec", status=200, body=json.dumps(answer), count=2)
    found = set_up.check("materialization.connector", code=1).checks["materialization.connector"]
    assert "it offers :v9" in found["line"], "both names, and neither with the version"


def test_names_that_are_live(set_up):
    """A warning with each; the trial then does not insist that they are new."""
    set_up.estuary.put_live(ORDERS, "collection", {"schema": {"type": "object"}, "key": ["/id"]})
    found = set_up.check("materialization.live", "materialization.dry_run").checks
    assert found["materialization.live"]["status"] == "warned"
    assert found["materialization.live"]["line"] == "1 of 10 names are live already"
    assert [(item["name"], item["line"]) for item in found["materialization.live"]["items"]] == [
        (ORDERS, "a collection of this name is live")]
    assert found["materialization.dry_run"]["status"] == "passed"


def test_a_trial_that_fails_says_which_task_says_what(set_up):
    set_up.estuary.settings.update({"aws_url": "https://127.0.0.1:1"})
    found = set_up.check("materialization.dry_run", code=1).checks["materialization.dry_run"]
    assert found["code"] == "buildFailed" and found["line"].endswith(f"materialization {MATERIALIZATION}")
    (item,) = found["items"]
    assert item["name"] == f"materialization {MATERIALIZATION}" and "could not determine bucket region" in item["line"]
    assert set_up.estuary.contents() == {"drafts": [], "drafted": [], "live": []}


def test_publish_is_a_trial_only(set_up):
    """All that Estuary is asked, as one command; alone it is wrong usage, without a login it says so."""
    done = set_up.run("publish", "--dry-run", "--json").ends(0)
    assert set(done.checks) >= {*SEALED, "start.login", "capture.discovery", "materialization.dry_run", "materialization.live"}
    assert {check["status"] for check in done.checks.values()} == {"passed"}
    assert done.checks["materialization.dry_run"]["line"] == "Estuary built both tasks with 8 tables; nothing went live"
    assert set_up.estuary.contents() == {"drafts": [], "drafted": [], "live": []}
    assert [entry["method"] for entry in calls(set_up.estuary, "publications.insert")] == ["POST"]
    alone = set_up.run("publish").ends(64)
    assert "--dry-run" in alone.err and "flowctl catalog publish" in alone.err
    set_up.run("state", "set", "materialization.hard_delete", "no").ends(0)
    done = set_up.run("publish", "--dry-run", "--json", "--set", "start.token=").ends(3)
    assert "start.token is not answered" in done.err and done.checks["materialization.dry_run"]["status"] == "skipped"


@pytest.mark.parametrize("answer, cause", [
    ("capture.bindings=public.orders=acmeCo/shop/x,audit.orders=acmeCo/shop/x", "capture.collections"),
    ("capture.name=elsewhere/shop/source-postgres", "capture.name")])
def test_a_trial_that_cannot_be_is_no_success(set_up, answer, cause):
    """It waits for a discovery, which waits for what fails: that is told, and nothing is asked of Estuary."""
    done = set_up.run("publish", "--dry-run", "--json", "--set", answer).ends(1)
    assert done.checks[cause]["status"] == "failed" and done.checks[cause]["fix"]
    assert done.checks["materialization.dry_run"]["status"] == done.checks["capture.discovery"]["status"] == "waiting"
    assert not calls(set_up.estuary, "drafts.insert")


# --- hard deletes


def test_hard_deletes_wait_for_the_discovery(set_up, tmp_path):
    """Refused without a login, open with one, good after it; and so is the export."""
    def deletes(*words, **more):
        return set_up.check("materialization.deletes", *words, deep=False, **more).checks["materialization.deletes"]

    assert set_up.world.values["materialization"]["hard_delete"] == "yes"
    out = tmp_path / "out"
    refused = deletes("--set", "start.token=", code=1)
    assert refused["status"] == "failed" and "start.token" in refused["fix"] or "Estuary token" in refused["fix"]
    assert "hard deletes need collections" in set_up.run("export", "-o", out, "--set", "start.token=").ends(1).err
    set_up.world.begin(set_up.sluice)
    before = deletes(code=None)
    assert before["status"] != "failed" and "discovery" in before["line"]
    assert "hard deletes need collections" in set_up.run("export", "-o", out, "--secrets", "placeholder").ends(1).err
    assert set_up.check("capture.discovery", "materialization.deletes").checks["materialization.deletes"]["status"] == "passed"
    set_up.run("export", "-o", out).ends(0)
    assert "hard_delete: true" in (out / f"{MATERIALIZATION}.config.yaml").read_text()
    assert "vanish with the next sync" in (out / "RUNBOOK.md").read_text()


# --- the export


def configs(out: Path) -> list[dict]:
    return [yaml.safe_load((out / f"{name}.config.yaml").read_text()) for name in (CAPTURE, MATERIALIZATION)]


@pytest.fixture
def soft(set_up):
    """With soft deletes, which an export of drafts takes."""
    set_up.run("state", "set", "materialization.hard_delete", "no").ends(0)
    return set_up


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_export_is_sealed(soft, tmp_path):
    """By itself, in what is sealed already or can be; twice the same; opened, it is the placeholder's but for secrets."""
    done = soft.run("export", "-o", tmp_path / "one")
    assert "with the secrets sealed for Estuary alone" in done.out and len(calls(soft.estuary, "encrypt")) == 2
    soft.run("export", "-o", tmp_path / "two").ends(0)
    assert len(calls(soft.estuary, "encrypt")) == 2 and files(tmp_path / "one") == files(tmp_path / "two")
    soft.run("export", "-o", tmp_path / "open", "--secrets", "placeholder").ends(0)
    for sealed, placeholder in zip(configs(tmp_path / "one"), configs(tmp_path / "open"), strict=True):
        opened = soft.estuary.open(sealed)     # in the order of the file: any change would be noticed
        assert opened != placeholder
        for config in (opened, placeholder):
            config["credentials"].pop("password", None), config["credentials"].pop("credential", None)
            config.get("compute", {}).get("credentials", {}).pop("aws_secret_access_key", None)
        assert opened == placeholder


def test_no_seal_to_be_had(soft, tmp_path):
    """Asked for, it is an error with its reason and code; else placeholders, and it is said why."""
    soft.sluice.env["SLUICE_ESTUARY_ENCRYPTION_URL"] = "https://127.0.0.1:1"
    done = soft.run("export", "-o", tmp_path / "out", "--secrets", "sealed").ends(4)
    assert "nothing listens at 127.0.0.1:1" in done.err and not (tmp_path / "out").exists()
    done = soft.run("export", "-o", tmp_path / "out").ends(0)
    assert "cannot be sealed" in done.err and "placeholders for the secrets" in done.out
    assert "PLACEHOLDER-postgres.password" in (tmp_path / "out" / f"{CAPTURE}.config.yaml").read_text()


def test_a_secret_that_is_another_now(soft, tmp_path):
    """The config that was sealed with the old one is not used; with the service away there is none."""
    soft.run("export", "-o", tmp_path / "old").ends(0)
    old = soft.estuary.open(configs(tmp_path / "old")[1])["credentials"]["credential"]
    other = soft.sluice.folder / "other"
    other.write_text("another-client-secret")
    other.chmod(0o600)
    soft.run("state", "set", "oauth.client_secret", f"file:{other}").ends(0)
    env = {"SLUICE_ESTUARY_ENCRYPTION_URL": "https://127.0.0.1:1"}
    done = soft.run("export", "-o", tmp_path / "none", "--secrets", "sealed", env=env).ends(4)
    assert ".sealed" in done.err and not (tmp_path / "none").exists()
    soft.run("export", "-o", tmp_path / "new", "--secrets", "sealed").ends(0)
    new = soft.estuary.open(configs(tmp_path / "new")[1])["credentials"]["credential"]
    assert old != new and new.endswith(":another-client-secret")


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_the_real_sops_opens_it(soft, tmp_path):
    """As exported, letter by letter: as the YAML that is published, turned into the JSON that sops is given."""
    soft.run("export", "-o", tmp_path / "out").ends(0)
    key = tmp_path / "key.txt"
    key.write_text(soft.estuary.world.identity.text)
    for sealed in configs(tmp_path / "out"):
        document = tmp_path / "config.json"
        document.write_text(json.dumps(sealed, ensure_ascii=False))
        opened = real_sops.decrypt(document, key)
        assert opened.returncode == 0, opened.stderr
        assert json.loads(opened.stdout)
        changed = copy.deepcopy(sealed)
        changed[next(iter(changed))] = "x"
        document.write_text(json.dumps(changed))
        assert real_sops.decrypt(document, key).returncode == 51


# --- afterwards


def test_all_of_it_leaves_the_world_as_it_was(set_up):
    """Neither the database nor the account has changed by all these; the plan is empty."""
    assert "0 changes" in set_up.run("plan").ends(0).out
    assert PLANE in set_up.sluice.state.read_text()
