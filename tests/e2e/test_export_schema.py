"""What sluice exports, judged from outside: by our own schema, which allows what sluice may write and nothing else, by the
connectors' schemas, by Estuary's published ones where they are found (tests/e2e/schemas.py), and by what no schema can say
(tests/e2e/tree.py). And that these judges bite: each of them gets what is wrong, and must say so."""

import copy
import datetime
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.e2e import schemas, tree
from tests.e2e.everything import aws, estuary, everything, whole  # noqa: F401
from tests.e2e.schemas import CATALOG, CONNECTORS, THEIR_CATALOG, THEIR_CONNECTORS
from tests.services import places
from tests.services.estuary import connector_schemas, sealing, sops
from tests.services.estuary.age import Identity

SAMPLE = yaml.safe_load((places.REPO / "tests" / "schemas" / "sample.yaml").read_text())
KINDS = {"capture": "captures", "materialization": "materializations"}


# --- What is exported


@pytest.fixture
def made(everything):  # noqa: F811
    """Everything made and proved, at Estuary too."""
    everything.sluice.run("apply", "--yes", *everything.args).ends(0)
    everything.values["materialization"]["hard_delete"] = True
    everything.save()
    everything.sluice.run("check", "--deep", *everything.args).ends(0)
    return everything


# Words that YAML takes for something else, folders, names that are folded.
OTHERS = {
    "start": {"prefix": "acmeCo/data.eu/"},
    "oauth": {"warehouse": "yes"},
    "bucket": {"lake_prefix": "a/b"},
    "capture": {"history": True, "sslmode": "disable", "bindings": {'public."Order Items"': "acmeCo/data.eu/shop/lines"}},
    "materialization": {"hard_delete": False, "sync_frequency": "4h", "namespace": "null", "bindings": {"audit.orders": "0x1f"}},
}


def test_what_is_exported_is_right(made, tmp_path):
    """In each form, with the answers that were proved and with others that were not: all judges agree, and the forms differ
    by the secrets alone."""
    print("judges:", ", ".join(schemas.judges()))
    proved = export(made, tmp_path / "proved")
    for step, others in OTHERS.items():
        made.values.setdefault(step, {}).update(others)
    made.save()
    done = made.sluice.run("check", *made.args)
    assert done.code in (0, 1, 2), str(done)      # not all stands as answered now: the export is judged, not the set-up
    drafts = export(made, tmp_path / "drafts")
    assert {"readSchema"} <= proved["sealed"].catalog["collections"]["acmeCo/shop/public/orders"].keys()
    assert {"schema", "key"} == drafts["sealed"].catalog["collections"]["acmeCo/data.eu/shop/lines"].keys()
    judged = [exported for found in (proved, drafts) for form, exported in found.items() if form != "plain"]
    for exported, verdict in zip(judged, schemas.judge([each.catalog for each in judged]), strict=True):
        assert verdict == {judge: [] for judge in schemas.judges()}, exported.folder
    for found in (proved, drafts):
        differ_by_secrets_alone(made, {form: exported.catalog for form, exported in found.items()})


def export(made, folder: Path) -> dict[str, tree.Tree]:
    """Written in each form, loaded again, and found in order."""
    found = {}
    for form in tree.FORMS:
        made.sluice.run("export", "-o", folder / form, "--secrets", form, "--passphrase-file", made.passphrase_file).ends(0)
        found[form] = tree.load(folder / form)
        assert tree.findings(found[form]) == []
        subprocess.run(["sha256sum", "--check", "--strict", "--quiet", tree.SUMS], cwd=folder / form, check=True)
    return found


def configs(catalog: dict) -> dict[str, dict]:
    return {kind: next(iter(catalog[sort].values()))["endpoint"]["connector"]["config"] for kind, sort in KINDS.items()}


def differ_by_secrets_alone(made, catalogs: dict[str, dict]) -> None:
    """What Estuary opens is what stands there in clear when asked for; it opens the database, the catalog and the account;
    and in its place the placeholders."""
    opened = copy.deepcopy(catalogs["sealed"])
    for sort in KINDS.values():
        connector = next(iter(opened[sort].values()))["endpoint"]["connector"]
        assert schemas.is_sealed(connector["config"])
        connector["config"] = made.estuary.open(connector["config"])     # fails if a letter was changed on the way
    assert opened == catalogs["plain"]
    capture, materialization = configs(opened)["capture"], configs(opened)["materialization"]
    key = materialization["compute"]["credentials"]
    with made.shop.connect(user=capture["user"], password=capture["credentials"]["password"]) as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("flow_shop",)
    assert materialization["credentials"]["credential"] == f"{made.catalog.client_id}:{made.catalog.client_secret}"
    assert made.aws.world.directory.now().keys[key["aws_access_key_id"]].secret == key["aws_secret_access_key"]
    capture["credentials"]["password"] = "PLACEHOLDER-postgres.password"
    materialization["credentials"]["credential"] = f"{made.catalog.client_id}:PLACEHOLDER-oauth.client_secret"
    key["aws_secret_access_key"] = "PLACEHOLDER-iam.secret_access_key"
    assert opened == catalogs["placeholder"]


# --- What the judges say of what is wrong


def at(catalog: dict, path: str):
    """(parent, key) of "capture.bindings.0.target"; capture and materialization are the only ones of their sort, config
    is the config of its connector, collection the first."""
    words = path.split(".")
    if words[0] in KINDS:
        node = next(iter(catalog[KINDS[words.pop(0)]].values()))
    elif words[0] == "collection":
        words.pop(0)
        node = next(iter(catalog["collections"].values()))
    else:
        node = catalog
    if words[0] == "config" and len(words) > 1:
        node = node["endpoint"]["connector"]["config"]
        words.pop(0)
    for word in words[:-1]:
        node = node[int(word) if isinstance(node, list) else word]
    return node, int(words[-1]) if isinstance(node, list) else words[-1]


def put(path: str, value):
    def spoil(catalog: dict) -> None:
        parent, key = at(catalog, path)
        parent[key] = value
    return spoil


def drop(path: str):
    def spoil(catalog: dict) -> None:
        parent, key = at(catalog, path)
        del parent[key]
    return spoil


def rename(sort: str, new: str):
    """The first of its sort, wherever it is named."""
    def spoil(catalog: dict) -> None:
        old = next(iter(catalog[sort]))
        text = json.dumps(catalog).replace(json.dumps(old), json.dumps(new))
        catalog.clear()
        catalog.update(json.loads(text))
    return spoil


ALL_OF_CATALOG, ALL_OF_CONNECTORS = {CATALOG, THEIR_CATALOG}, {CATALOG, CONNECTORS, THEIR_CONNECTORS}
# What is wrong -> how it comes about, and who must say so at least.
SPOILT = {
    "a space in a name": (rename("collections", "acmeCo/shop/or ders"), ALL_OF_CATALOG),
    "a capture's name with a space": (rename("captures", "acmeCo/shop/source postgres"), ALL_OF_CATALOG),
    "an empty part": (rename("collections", "acmeCo//orders"), ALL_OF_CATALOG),
    "a slash at the end": (rename("collections", "acmeCo/orders/"), ALL_OF_CATALOG),
    "a name of one part": (rename("collections", "orders"), {CATALOG}),
    "a part of dots": (rename("collections", "acmeCo/../orders"), {CATALOG}),
    "a letter that the dashboard does not take": (rename("collections", "acmeCo/bestellungen/größe"), {CATALOG}),
    "a name too long": (rename("collections", "acmeCo/" + 250 * "x"), {CATALOG}),
    "an unknown key": (put("storageMappings", {}), ALL_OF_CATALOG),
    "a test": (put("tests", {}), {CATALOG}),
    "no captures": (drop("captures"), {CATALOG}),
    "two captures": (lambda c: c["captures"].update({"acmeCo/shop/other": c["captures"]["acmeCo/shop/source-postgres"]}), {CATALOG}),
    "an unknown property of a capture": (put("capture.pollInterval", "5m"), ALL_OF_CATALOG),
    "an unknown property of a binding": (put("capture.bindings.0.syncMode", "x"), ALL_OF_CATALOG),
    "an unknown property of a materialization's binding": (put("materialization.bindings.0.table", "x"), ALL_OF_CATALOG),
    "an id of a publication": (put("capture.expectPubId", "1122334455667788"), {CATALOG}),
    "the new stanza of secrets": (put("materialization.secrets", {}), {CATALOG}),
    "no endpoint": (drop("capture.endpoint"), ALL_OF_CATALOG),
    "another kind of endpoint": (put("capture.endpoint", {"dekaf": {"variant": "x", "config": {}}}), ALL_OF_CATALOG),
    "a program in place of an image": (put("capture.endpoint", {"local": {"command": ["x"], "config": {}}}), {CATALOG}),
    "no image": (drop("capture.endpoint.connector.image"), ALL_OF_CATALOG),
    "a moving image": (put("capture.endpoint.connector.image", "ghcr.io/estuary/source-postgres:dev"), {CATALOG}),
    "an image from elsewhere": (put("materialization.endpoint.connector.image", "example.com/materialize-bauplan:v1"), {CATALOG}),
    "no bindings": (drop("capture.bindings"), ALL_OF_CATALOG),
    "a binding without target": (drop("capture.bindings.0.target"), ALL_OF_CATALOG),
    "a binding without resource": (drop("capture.bindings.0.resource"), ALL_OF_CATALOG),
    "a binding without source": (drop("materialization.bindings.0.source"), ALL_OF_CATALOG),
    "no key": (drop("collection.key"), ALL_OF_CATALOG),
    "an empty key": (put("collection.key", []), {CATALOG}),
    "a key that is no pointer": (put("collection.key", ["id"]), ALL_OF_CATALOG),
    "schema and readSchema": (put("collection.readSchema", {"type": "object"}), ALL_OF_CATALOG),
    "writeSchema alone": (lambda c: c["collections"]["acmeCo/shop/audit/orders"].pop("readSchema"), ALL_OF_CATALOG),
    "no schema": (drop("collection.schema"), ALL_OF_CATALOG),
    "documents that are no objects": (put("collection.schema.type", "array"), {CATALOG}),
    "a column's unknown word": (put("collection.schema.properties.price.nullable", True), {CATALOG}),
    "another strategy": (put("materialization.targetNaming.strategy", "oneSchema"), ALL_OF_CATALOG),
    "a strategy without its schema": (drop("materialization.targetNaming.schema"), ALL_OF_CATALOG),
    "no naming": (drop("materialization.targetNaming"), {CATALOG}),
    "a source without capture": (drop("materialization.source.capture"), ALL_OF_CATALOG),
    "delta updates": (put("materialization.source.deltaUpdates", True), {CATALOG}),
    "fields without recommended": (put("materialization.bindings.0.fields", {"exclude": []}), ALL_OF_CATALOG),
    "no fields": (drop("materialization.bindings.0.fields"), {CATALOG}),
    "all fields": (put("materialization.bindings.0.fields.recommended", True), {CATALOG}),
    "a config in a file": (put("capture.endpoint.connector.config", "source-postgres.config.yaml"), ALL_OF_CONNECTORS),
    "no historyMode": (drop("capture.config.historyMode"), ALL_OF_CONNECTORS),
    "historyMode as a text": (put("capture.config.historyMode", "false"), ALL_OF_CONNECTORS),
    "no address": (drop("capture.config.address"), ALL_OF_CONNECTORS),
    "no port": (put("capture.config.address", "db.example.com"), {CATALOG}),
    "a port beside": (put("capture.config.port", 5432), {CATALOG}),
    "no credentials": (drop("capture.config.credentials"), ALL_OF_CONNECTORS),
    "no password": (drop("capture.config.credentials.password"), ALL_OF_CONNECTORS),
    "no auth_type of the database": (drop("capture.config.credentials.auth_type"), {CATALOG}),
    "another auth_type of the database": (put("capture.config.credentials.auth_type", "Password"), ALL_OF_CONNECTORS),
    "a slot in capitals": (put("capture.config.advanced.slotName", "Flow"), {CATALOG, CONNECTORS}),
    "a watermarks table without schema": (put("capture.config.advanced.watermarksTable", "flow_watermarks"), {CATALOG, CONNECTORS}),
    "another sslmode": (put("capture.config.advanced.sslmode", "on"), ALL_OF_CONNECTORS),
    "an unknown advanced word": (put("capture.config.advanced.slot", "x"), ALL_OF_CONNECTORS),
    "a resource without stream": (drop("capture.bindings.0.resource.stream"), ALL_OF_CONNECTORS),
    "a mode that nobody asked for": (put("capture.bindings.0.resource.mode", "Only Changes"), {CATALOG}),
    "a resource without table": (drop("materialization.bindings.0.resource.table"), ALL_OF_CONNECTORS),
    "a table in capitals": (put("materialization.bindings.0.resource.table", "Orders"), {CATALOG}),
    "no warehouse": (drop("materialization.config.warehouse"), ALL_OF_CONNECTORS),
    "a namespace with a dot": (put("materialization.config.namespace", "a.b"), ALL_OF_CONNECTORS),
    "the URL with v1": (put("materialization.config.url", "https://catalog.example.com/iceberg/v1"), {CATALOG}),
    "hard_delete as a text": (put("materialization.config.hard_delete", "no"), ALL_OF_CONNECTORS),
    "no auth_type of the catalog": (drop("materialization.config.credentials.auth_type"), {CATALOG}),
    "another auth_type of the catalog": (put("materialization.config.credentials.auth_type", "OAuth"), ALL_OF_CONNECTORS),
    "no compute_type": (drop("materialization.config.compute.compute_type"), {CATALOG}),
    "no application": (drop("materialization.config.compute.application_id"), ALL_OF_CONNECTORS),
    "no role": (drop("materialization.config.compute.execution_role_arn"), ALL_OF_CONNECTORS),
    "the root of the bucket": (drop("materialization.config.compute.bucket_path"), {CATALOG}),
    "no place for parameters": (drop("materialization.config.compute.systems_manager_prefix"), {CATALOG}),
    "a place for parameters without slash": (put("materialization.config.compute.systems_manager_prefix", "/estuary"), ALL_OF_CONNECTORS),
    "no auth_type of the key": (drop("materialization.config.compute.credentials.auth_type"), {CATALOG}),
    "no secret of the key": (drop("materialization.config.compute.credentials.aws_secret_access_key"), ALL_OF_CONNECTORS),
    "another frequency": (put("materialization.config.syncSchedule.syncFrequency", "7m"), ALL_OF_CONNECTORS),
    "a password in clear": (put("capture.config.credentials.password", "hunter22"), {CATALOG}),
    "a client secret in clear": (put("materialization.config.credentials.credential", "app:hunter22"), {CATALOG}),
    "a client secret without its id": (
        put("materialization.config.credentials.credential", "PLACEHOLDER-oauth.client_secret"), {CATALOG}),
    "a key in clear": (put("materialization.config.compute.credentials.aws_secret_access_key", 40 * "k"), {CATALOG}),
    "a secret under the sealed name": (put("capture.config.credentials.password_sops", "ENC[x]"), {CATALOG}),
}
# The same of a catalog with sealed configs.
SPOILT_SEALED = {
    "a secret in clear beside": (put("capture.config.credentials.password", "hunter22"), {CATALOG}),
    "a placeholder left": (put("materialization.config.credentials.credential_sops", "app:PLACEHOLDER-oauth.client_secret"), {CATALOG}),
    "a sealed value that is none": (put("capture.config.credentials.password_sops", "ENC[AES256_GCM,data:x]"), {CATALOG}),
    "a sealed secret missing": (drop("capture.config.credentials.password_sops"), ALL_OF_CONNECTORS),
    "no sops": (drop("capture.config.sops"), {CATALOG, CONNECTORS, THEIR_CONNECTORS}),
    "no mac": (drop("capture.config.sops.mac"), {CATALOG}),
    "another suffix": (put("capture.config.sops.encrypted_suffix", "_sealed"), {CATALOG}),
    "a key nobody has": (put("capture.config.sops.age", []), {CATALOG}),
    "an unknown group of keys": (put("capture.config.sops.vault", []), {CATALOG}),
    "a moment without quotes": (put("materialization.config.sops.lastmodified", "2026-11-30 12:00:00+00:00"), {CATALOG}),
    "no historyMode under the seal": (drop("capture.config.historyMode"), ALL_OF_CONNECTORS),
    "no role under the seal": (drop("materialization.config.compute.execution_role_arn"), ALL_OF_CONNECTORS),
}


def sealed_sample(nulls: bool = True) -> dict:
    """The sample as Estuary's service gives its configs back."""
    catalog, identity = copy.deepcopy(SAMPLE), Identity.new()
    for sort, family in schemas.FAMILIES.items():
        connector = next(iter(catalog[sort].values()))["endpoint"]["connector"]
        body = json.dumps({"schema": connector_schemas.of(family, whole=False).endpoint, "config": connector["config"]})
        moment = datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.timezone.utc).timestamp()
        connector["config"] = sealing.encrypt_config(body.encode(), identity.recipient, moment, nulls)
        assert sops.open_sealed(connector["config"], identity)
    return catalog


@pytest.fixture(scope="module")
def verdicts() -> dict[str, dict[str, list[str]]]:
    """Of everything that is spoilt, judged at once: a judge is slow to come."""
    sealed, catalogs = sealed_sample(), {"the sample": SAMPLE, "older": sealed_sample(), "newer": sealed_sample(nulls=False)}
    for table, right in ((SPOILT, SAMPLE), (SPOILT_SEALED, sealed)):
        for name, (spoil, _) in table.items():
            catalogs[name] = copy.deepcopy(right)
            spoil(catalogs[name])
            assert json.dumps(catalogs[name]) != json.dumps(right), f"{name}: nothing is spoilt"
    return dict(zip(catalogs, schemas.judge(list(catalogs.values())), strict=True))


@pytest.mark.parametrize("name", ["the sample", "older", "newer"])
def test_the_judges_take_what_is_right(verdicts, name):
    assert verdicts[name] == {judge: [] for judge in schemas.judges()}
    assert tree.meaning(SAMPLE) == []


@pytest.mark.parametrize("name", [*SPOILT, *SPOILT_SEALED])
def test_the_judges_bite(verdicts, name):
    wanted = (SPOILT | SPOILT_SEALED)[name][1] & set(schemas.judges())
    assert wanted <= {judge for judge, wrong in verdicts[name].items() if wrong}, verdicts[name]


# --- What no schema can say

MEANINGLESS = {
    "a name above another": (rename("captures", "acmeCo/shop"), "acmeCo/shop is the folder of acmeCo/shop/audit/orders"),
    "names that differ by case": (rename("captures", "acmeCo/shop/PUBLIC/clicks"), "are one name"),
    "a target nobody defines": (put("capture.bindings.0.target", "acmeCo/shop/x"), "acmeCo/shop/x is not defined"),
    "a source nobody defines": (put("materialization.bindings.0.source", "acmeCo/shop/x"), "acmeCo/shop/x is not defined"),
    "a capture nobody defines": (put("materialization.source.capture", "acmeCo/shop/x"), "acmeCo/shop/x is not defined"),
    "a collection nobody captures": (lambda c: c["captures"]["acmeCo/shop/source-postgres"]["bindings"].pop(),
                                     "acmeCo/shop/audit/orders is not captured"),
    "two tables in one collection": (put("capture.bindings.0.target", "acmeCo/shop/public/clicks"), "is captured twice"),
    "a table bound twice": (put("capture.bindings.0.resource.stream", "clicks"), "public.clicks is bound twice"),
    "two tables of one name but for case": (put("materialization.bindings.0.resource.table", "CLICKS"), "analytics.clicks is bound twice"),
    "a key that is not there": (put("collection.key", ["/id"]), "the key's /id is not in the schema"),
    "a key below what is not there": (put("collection.key", ["/order~1Id/x"]), "the key's /order~1Id/x is not in the schema"),
    "a key that is not required": (put("collection.schema.required", ["anything"]), "the key's /order~1Id is not required"),
    "a key that can be null": (put("collection.schema.properties.order/Id.type", ["integer", "null"]), "is of type"),
    "a key of fractions": (put("collection.schema.properties.order/Id.type", "number"), "is of type"),
    "a key of anything": (put("collection.schema.properties.order/Id", {}), "is of type any"),
    "a place that is not always there": (lambda c: c["collections"]["acmeCo/shop/public/clicks"]["schema"]["properties"]["_meta"][
        "properties"]["source"]["properties"]["loc"].update(minItems=2), "the key's /_meta/source/loc/2 is not required"),
    "a discovered key that is not required": (lambda c: c["collections"]["acmeCo/shop/audit/orders"]["writeSchema"]["$defs"][
        "Orders"].pop("required"), "the key's /id is not required"),
    "a reduced key": (lambda c: c["collections"]["acmeCo/shop/audit/orders"]["writeSchema"]["$defs"]["Orders"]["properties"][
        "id"].update(reduce={"strategy": "maximize"}), "the key's /id is reduced"),
}


@pytest.mark.parametrize("name", MEANINGLESS)
def test_meaning(name):
    spoil, words = MEANINGLESS[name]
    catalog = copy.deepcopy(SAMPLE)
    spoil(catalog)
    assert re.search(re.escape(words), "\n".join(tree.meaning(catalog))), tree.meaning(catalog)


# --- Folders

FILES = {
    "flow.yaml": "import:\n- acmeCo/flow.yaml\n",
    "acmeCo/flow.yaml": "import:\n- shop/flow.yaml\n",
    "acmeCo/shop/flow.yaml": "captures:\n  acmeCo/shop/source-postgres:\n    endpoint:\n      connector: {image: i, config: "
                             "source-postgres.config.yaml}\n    bindings: []\n"
                             "collections:\n  acmeCo/shop/orders: {schema: orders.schema.yaml, key: [/id]}\n",
    "acmeCo/shop/source-postgres.config.yaml": "user: flow_shop\n",
    "acmeCo/shop/orders.schema.yaml": "type: object\nproperties: {id: {type: integer}}\nrequired: [id]\n",
}


def laid_out(folder: Path) -> Path:
    for name in tree.BESIDE - {tree.SUMS}:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x\n")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    summed(folder)
    return folder


def summed(folder: Path) -> None:
    there = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != tree.SUMS)
    (folder / tree.SUMS).write_text("# of a test\n" + "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n" for path in there))


def layout(folder: Path) -> list[str]:
    """What is wrong with a folder, but for what its catalog means."""
    try:
        found = tree.load(folder)
    except tree.Refused as refused:
        return [str(refused)]
    return [*found.misplaced, *tree.files(found), *tree.sums(folder)]


def test_folders_are_read_as_flowctl_reads_them(tmp_path):
    found = tree.load(laid_out(tmp_path))
    assert layout(tmp_path) == [] and found.read == set(FILES)
    assert found.catalog["captures"]["acmeCo/shop/source-postgres"]["endpoint"]["connector"]["config"] == {"user": "flow_shop"}
    assert found.catalog["collections"]["acmeCo/shop/orders"]["schema"]["required"] == ["id"]


SHOP, CONFIG = "acmeCo/shop/flow.yaml", "acmeCo/shop/source-postgres.config.yaml"
DISORDER = {
    "no root": ("flow.yaml", None, "flow.yaml"),
    "an import that is not there": ("acmeCo/flow.yaml", "import:\n- sales/flow.yaml\n", "there is no sales/flow.yaml"),
    "an import twice": ("acmeCo/flow.yaml", "import:\n- shop/flow.yaml\n- shop/flow.yaml\n", "referred to twice"),
    "an import of itself": ("acmeCo/flow.yaml", "import:\n- ../flow.yaml\n", "referred to twice"),
    "an import from elsewhere": ("acmeCo/flow.yaml", "import:\n- ../../../etc/flow.yaml\n", "leads out of the folder"),
    "a key twice": (CONFIG, "user: a\nuser: b\n", "stands there twice"),
    "a moment that is no text": (CONFIG, "at: 2026-11-30T12:00:00Z\n", "not JSON serializable"),
    "not YAML": (CONFIG, "user: [\n", CONFIG.rsplit("/", 1)[1]),
    "an unknown key": ("flow.yaml", "import: [acmeCo/flow.yaml]\nresources: {}\n", "no catalog"),
    "a file that is not there": (CONFIG, None, "there is no source-postgres.config.yaml"),
    "a spec in another's file": ("acmeCo/flow.yaml", "import: [shop/flow.yaml]\ncaptures: {acmeCo/shop/x: {endpoint: {}, bindings: []}}\n",
                                 "acmeCo/shop/x stands in acmeCo/flow.yaml"),
    "a spec twice": ("acmeCo/flow.yaml", "import: [shop/flow.yaml]\ncollections: {acmeCo/shop/orders: {key: [/id]}}\n", "defined twice"),
    "keys in another order": (SHOP, FILES[SHOP].split("collections")[0] + "import: []\n", "not in flowctl's order"),
    "a file nobody refers to": ("acmeCo/shop/old.schema.yaml", "{}\n", "neither referred to nor known"),
    "no runbook": ("RUNBOOK.md", None, "there is no RUNBOOK.md"),
}


@pytest.mark.parametrize("name", DISORDER)
def test_disorder_is_seen(tmp_path, name):
    path, text, words = DISORDER[name]
    laid_out(tmp_path)
    if text is None:
        (tmp_path / path).unlink()
    else:
        (tmp_path / path).write_text(text)
    summed(tmp_path)
    assert words in "\n".join(layout(tmp_path)), layout(tmp_path)


def test_sizes_are_seen(tmp_path):
    """What is large has a file of its own, and a config has one always."""
    laid_out(tmp_path)
    (tmp_path / SHOP).write_text(FILES[SHOP].replace("source-postgres.config.yaml", "{user: x}").replace(
        "orders.schema.yaml", "{description: " + 600 * "x" + "}"))
    found = "\n".join(tree.load(tmp_path).misplaced)
    assert "config (12 bytes) is not in a file" in found and "schema (618 bytes) is not in a file" in found


@pytest.mark.parametrize("name", ["changed", "more", "fewer", "a line"])
def test_sums_are_seen(tmp_path, name):
    laid_out(tmp_path)
    sums = tmp_path / tree.SUMS
    {"changed": lambda: (tmp_path / "postgres.sql").write_text("y\n"), "more": lambda: (tmp_path / "more").write_text("x"),
     "fewer": lambda: shutil.rmtree(tmp_path / "policies"), "a line": lambda: sums.write_text(sums.read_text() + "x\n")}[name]()
    assert list(tree.sums(tmp_path))
