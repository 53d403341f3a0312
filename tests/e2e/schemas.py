"""JSON Schemas for what sluice exports, and ajv that judges by them: Estuary's patterns are no regular expressions of
Python's.

Our own schema of the whole catalog says what sluice may write and nothing else; the short schemas of the connectors are
those that the stand-in for the control plane works with. Estuary's published ones are stricter than ours in one place and
looser in another. They are not ours to keep a copy of: they are used where they are found, in $SLUICE_ESTUARY_SCHEMAS or
beside the repository."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.services import places
from tests.services.estuary import connector_schemas, sops
from tests.services.oidc import node

Json = Any
OWN: Json = json.loads((places.REPO / "tests" / "schemas" / "flow.schema.json").read_text())
SOURCE, TARGET = "source-postgres", "materialize-iceberg"
FAMILIES = {"captures": SOURCE, "materializations": TARGET}
JUDGE = places.REPO / "tests" / "schemas" / "ajv" / "judge.mjs"
INSTALLED = places.BUILD / "ajv"       # node_modules, put there by scripts/test
# Who judges: our schema of the catalog, the connectors' short ones, and of Estuary's the catalog's and the connectors'.
CATALOG, CONNECTORS, THEIR_CATALOG, THEIR_CONNECTORS = "catalog", "connectors", "their catalog", "their connectors"


def published() -> Path | None:
    """The folder with Estuary's schemas, if there is one."""
    given = os.environ.get("SLUICE_ESTUARY_SCHEMAS")
    folder = Path(given) if given else connector_schemas.WHOLE
    assert not given or folder.is_dir(), f"$SLUICE_ESTUARY_SCHEMAS: there is no folder {folder}"
    return folder if folder.is_dir() else None


def judges() -> list[str]:
    return [CATALOG, CONNECTORS, *([THEIR_CATALOG, THEIR_CONNECTORS] if published() else [])]


def is_sealed(config: Json) -> bool:
    return sops.is_sealed(config)


def as_connector_reads(config: Json) -> Json:
    """A sealed config with the names that its connector knows; any other as it is."""
    if not is_sealed(config):
        return config
    return sops.without_suffix({name: value for name, value in config.items() if name != "sops"})


def _known() -> dict[str, Json]:
    """Each schema by judge and part."""
    found = {CATALOG: OWN}
    for family in FAMILIES.values():
        own = connector_schemas.of(family, whole=False)
        found |= {f"{CONNECTORS} {family}.endpoint": own.endpoint, f"{CONNECTORS} {family}.resource": own.resource}
    folder = published()
    if folder:
        found[THEIR_CATALOG] = _read(folder, "flow")
        for family in FAMILIES.values():
            for part in ("endpoint", "resource"):
                found[f"{THEIR_CONNECTORS} {family}.{part}"] = _read(folder, f"{family}.{part}")
    return found


def _read(folder: Path, name: str) -> Json:
    return json.loads((folder / f"{name}.schema.json").read_text())


def _questions(catalog: Json) -> list[tuple[str, str, str, Json]]:
    """(judge, schema, where, document) for all of a catalog."""
    found: list[tuple[str, str, str, Json]] = []
    for judge in judges():
        if judge in (CATALOG, THEIR_CATALOG):
            found.append((judge, judge, "", catalog))
            continue
        for sort, family in FAMILIES.items():
            for task in catalog.get(sort, {}).values():
                config = as_connector_reads(task.get("endpoint", {}).get("connector", {}).get("config"))
                found.append((judge, f"{judge} {family}.endpoint", f"{family} config ", config))
                found += [(judge, f"{judge} {family}.resource", f"{family} resource {i} ", binding.get("resource"))
                          for i, binding in enumerate(task.get("bindings", []))]
    return found


def judge(catalogs: list[Json]) -> list[dict[str, list[str]]]:
    """What each judge finds wrong with each catalog."""
    asked = [(index, *question) for index, catalog in enumerate(catalogs) for question in _questions(catalog)]
    verdicts = _ask(_known(), [(schema, document) for _, _, schema, _, document in asked])
    found: list[dict[str, list[str]]] = [{name: [] for name in judges()} for _ in catalogs]
    for (index, name, _, where, _), wrong in zip(asked, verdicts, strict=True):
        found[index][name] += [where + each for each in wrong]
    return found


def _ask(known: dict[str, Json], documents: list[tuple[str, Json]]) -> list[list[str]]:
    assert (INSTALLED / "node_modules" / "ajv").is_dir(), (
        "npm package ajv is not installed: scripts/test installs it from tests/schemas/ajv/package-lock.json")
    asked = json.dumps({"schemas": known, "documents": documents})
    done = subprocess.run([node(), str(JUDGE), str(INSTALLED)], input=asked, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
