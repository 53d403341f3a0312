"""An exported folder as Estuary's flowctl takes it: imports followed, files put in their places, one catalog. And what is
wrong with it where no JSON Schema can tell.

load() refuses what flowctl would refuse; findings() says what it would take and should not have been written. Both give
sentences, so that tests can expect one."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

Json = Any
FORMS = ("placeholder", "sealed", "plain")       # what export --secrets can write
SORTS = ("captures", "collections", "materializations")
SCHEMAS = {"schema": "schema", "writeSchema": "write.schema", "readSchema": "read.schema"}
SUMS = "SHA256SUMS"
# Not part of the specification.
BESIDE = {"postgres.sql", "policies/role.json", "policies/role-trust.json", "policies/user.json", "RUNBOOK.md", "report.json", SUMS}
INLINE = 512       # bytes as JSON: flowctl writes more than that into a file of its own
NAME_PART = re.compile(r"[A-Za-z0-9._-]+")
LONGEST = 255


class Refused(Exception):
    """No specification."""


@dataclass
class Tree:
    folder: Path
    catalog: dict[str, dict[str, Json]] = field(default_factory=lambda: {sort: {} for sort in SORTS})
    read: set[str] = field(default_factory=set)       # files, relative to the folder
    misplaced: list[str] = field(default_factory=list)

    def file(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()


# --- Reading


class _Loader(yaml.SafeLoader):
    """YAML as serde reads it: a key that stands there twice is an error."""

    def construct_mapping(self, node, deep=False):
        names = [self.construct_object(key, deep=True) for key, _ in node.value]
        for name in names:
            if not isinstance(name, str):
                raise Refused(f"line {node.start_mark.line + 1}: the key {name!r} is no text")
            if names.count(name) > 1:
                raise Refused(f"line {node.start_mark.line + 1}: the key {name} stands there twice")
        return super().construct_mapping(node, deep)


def read(path: Path) -> Json:
    try:
        document = yaml.load(path.read_text(), _Loader)     # noqa: S506 (safe: it is a SafeLoader)
        json.dumps(document, allow_nan=False)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, Refused, TypeError, ValueError) as wrong:
        raise Refused(f"{path.name}: {wrong}") from None
    return document


def load(folder: Path) -> Tree:
    tree = Tree(folder)
    _load_file(tree, folder / "flow.yaml")
    return tree


def _load_file(tree: Tree, path: Path) -> None:
    document = _take(tree, path)
    if not isinstance(document, dict) or not document.keys() <= {"import", *SORTS}:
        raise Refused(f"{tree.file(path)}: no catalog")
    if list(document) != [name for name in ("import", *SORTS) if name in document]:
        tree.misplaced.append(f"{tree.file(path)}: its keys are not in flowctl's order")
    imports = document.get("import", [])
    if imports != sorted(set(imports)):
        tree.misplaced.append(f"{tree.file(path)}: its imports are not in order")
    for name in imports:
        if not re.fullmatch(rf"{NAME_PART.pattern}/flow\.yaml", name):
            tree.misplaced.append(f"{tree.file(path)}: imports {name}, which is not the next folder's")
        _load_file(tree, _beside(tree, path, name))
    for sort in SORTS:
        for name, spec in document.get(sort, {}).items():
            if name in tree.catalog[sort]:
                raise Refused(f"{name} is defined twice")
            home = "/".join([*name.split("/")[:-1], "flow.yaml"])
            if tree.file(path) != home:
                tree.misplaced.append(f"{name} stands in {tree.file(path)}, not in {home}")
            tree.catalog[sort][name] = spec
            _inline(tree, path, name, spec)


def _take(tree: Tree, path: Path) -> Json:
    if tree.file(path) in tree.read:
        raise Refused(f"{tree.file(path)} is referred to twice")
    tree.read.add(tree.file(path))
    return read(path)


def _beside(tree: Tree, path: Path, reference: str) -> Path:
    """Relative to the file that says it, and within the folder."""
    found = (path.parent / reference).resolve()
    if not found.is_relative_to(tree.folder.resolve()):
        raise Refused(f"{tree.file(path)}: {reference} leads out of the folder")
    if not found.is_file():
        raise Refused(f"{tree.file(path)}: there is no {reference}")
    return tree.folder / found.relative_to(tree.folder.resolve())


def _inline(tree: Tree, path: Path, name: str, spec: Json) -> None:
    """Puts files in their places: configs, resources, schemas."""
    last = name.rsplit("/", 1)[-1]
    connector = spec.get("endpoint", {}).get("connector")
    if connector is not None:
        _replace(tree, path, connector, "config", f"{last}.config.yaml", always=True)
    for i, binding in enumerate(spec.get("bindings", [])):
        _replace(tree, path, binding, "resource", f"{last}.resource.{i}.config.yaml")
    for key, middle in SCHEMAS.items():
        if key in spec:
            _replace(tree, path, spec, key, f"{last}.{middle}.yaml")


def _replace(tree: Tree, path: Path, parent: Json, key: str, wanted: str, always: bool = False) -> None:
    value, where = parent.get(key), f"{tree.file(path)}: {key}"
    if not isinstance(value, str):
        size = len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())
        if always or size > INLINE:
            tree.misplaced.append(f"{where} ({size} bytes) is not in a file of its own")
        return
    if value != wanted:
        tree.misplaced.append(f"{where} is in {value}, not in {wanted}")
    parent[key] = _take(tree, _beside(tree, path, value))


# --- What is wrong


def findings(tree: Tree) -> list[str]:
    return [*tree.misplaced, *files(tree), *sums(tree.folder), *meaning(tree.catalog)]


def files(tree: Tree) -> Iterator[str]:
    """Every file is of the specification or known."""
    there = {tree.file(path) for path in tree.folder.rglob("*") if not path.is_dir()}
    for name in sorted(there - tree.read - BESIDE):
        yield f"{name} is neither referred to nor known"
    for name in sorted(BESIDE - there):
        yield f"there is no {name}"


def sums(folder: Path) -> Iterator[str]:
    """SHA256SUMS names every file but itself, once, with its sum."""
    listed: dict[str, str] = {}
    for line in (folder / SUMS).read_text().splitlines() if (folder / SUMS).is_file() else ():
        if line.startswith("#"):
            continue
        match = re.fullmatch(r"([0-9a-f]{64})  (\S.*)", line)
        if not match or match[2] in listed:
            yield f"{SUMS}: {line!r} is no line of it, or stands there twice"
        else:
            listed[match[2]] = match[1]
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()} - {SUMS}
    yield from (f"{SUMS}: {name} is not listed" for name in sorted(there - listed.keys()))
    yield from (f"{SUMS}: {name} is listed and not there" for name in sorted(listed.keys() - there))
    for name in sorted(there & listed.keys()):
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != listed[name]:
            yield f"{SUMS}: {name} has another sum"


def meaning(catalog: Json) -> list[str]:
    """Of a catalog, wherever it comes from: names, references, keys, destinations."""
    return [*names([name for sort in SORTS for name in catalog[sort]]), *references(catalog), *resources(catalog),
            *(wrong for name, spec in catalog["collections"].items() for wrong in keys(name, spec))]


def names(given: list[str]) -> Iterator[str]:
    for name in given:
        parts = name.split("/")
        if len(parts) < 2 or len(name) > LONGEST or any(not NAME_PART.fullmatch(part) or part in (".", "..") for part in parts):
            yield f"{name} is no name"
    folded = sorted(given, key=str.lower)
    for i, name in enumerate(folded):
        for other in folded[i + 1:]:
            if other.lower() == name.lower():
                yield f"{name} and {other} are one name"
            elif other.lower().startswith(name.lower() + "/"):
                yield f"{name} is the folder of {other}"


def references(catalog: Json) -> Iterator[str]:
    """Whatever is named is there, and nothing is there in vain."""
    collections = set(catalog["collections"])
    targets = [(name, binding["target"]) for name, spec in catalog["captures"].items() for binding in spec["bindings"]]
    sources = [(name, binding["source"]) for name, spec in catalog["materializations"].items() for binding in spec["bindings"]]
    for name, collection in (*targets, *sources):
        if collection not in collections:
            yield f"{name}: {collection} is not defined"
    for name, spec in catalog["materializations"].items():
        if spec["source"]["capture"] not in catalog["captures"]:
            yield f"{name}: {spec['source']['capture']} is not defined"
    for what, bound in (("captured", [target for _, target in targets]), ("materialized", [source for _, source in sources])):
        yield from (f"{name} is not {what}" for name in sorted(collections - set(bound)))
        yield from (f"{name} is {what} twice" for name in sorted(set(bound)) if bound.count(name) > 1)


def resources(catalog: Json) -> Iterator[str]:
    """No two bindings of a task read or write one table. Iceberg's names are folded by the connector."""
    for sort, words, fold in (("captures", ("namespace", "stream"), str), ("materializations", ("namespace", "table"), str.lower)):
        for name, spec in catalog[sort].items():
            paths = [tuple(fold(binding["resource"][word]) for word in words) for binding in spec["bindings"]]
            yield from (f"{name}: {'.'.join(path)} is bound twice" for path in sorted(set(paths)) if paths.count(path) > 1)


def keys(name: str, spec: Json) -> Iterator[str]:
    """Each part of the key exists, is required on its whole way, and is one whole number, text or yes-or-no; never null, so
    that two rows cannot share it."""
    root = spec.get("writeSchema", spec.get("schema"))
    if "object" not in [part.get("type") for part in _parts(root, root)]:
        yield f"{name}: its documents need not be objects"
    for pointer in spec["key"]:
        spots = list(_parts(root, root))
        for token in pointer.split("/")[1:]:
            spots, must = _below(spots, token.replace("~1", "/").replace("~0", "~"), root)
            if not spots:
                yield f"{name}: the key's {pointer} is not in the schema"
                break
            if not must:
                yield f"{name}: the key's {pointer} is not required"
        else:
            types = {json.dumps(part["type"]) for part in spots if "type" in part}
            if len(types) != 1 or not types <= {'"integer"', '"string"', '"boolean"'}:
                yield f"{name}: the key's {pointer} is of type {', '.join(sorted(types)) or 'any'}"
            if any("reduce" in part for part in spots):
                yield f"{name}: the key's {pointer} is reduced"


def _parts(schema: Json, root: Json) -> Iterator[Json]:
    """A schema and all that holds beside it."""
    yield schema
    reference = schema.get("$ref", "")
    if reference.startswith("#/"):
        found = root
        for token in reference[2:].split("/"):
            found = found[token]
        yield from _parts(found, root)
    for part in schema.get("allOf", ()):
        yield from _parts(part, root)


def _below(spots: list[Json], token: str, root: Json) -> tuple[list[Json], bool]:
    """What the schemas say of a property or an item, and whether it must be there."""
    found, must = [], False
    for spot in spots:
        if token in spot.get("properties", {}):
            found += _parts(spot["properties"][token], root)
        if token.isdigit() and "items" in spot:
            found += _parts(spot["items"], root)
            must |= spot.get("minItems", 0) > int(token)
        must |= token in spot.get("required", ())
    return found, must
