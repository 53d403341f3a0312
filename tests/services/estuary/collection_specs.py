"""What a build asks of collections: which schemas, a key, and what the schema says of the key's locations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = Any
_KEY_TYPES = frozenset(("integer", "string", "boolean", "null"))
_EVERYTHING = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))
WRITE, INFERRED = "flow://write-schema", "flow://inferred-schema"


def schemas_of(spec: Json) -> tuple[Json, Json] | None:
    """(write, read) schema; None when the combination is not allowed."""
    given = {name for name in ("schema", "writeSchema", "readSchema") if spec.get(name) is not None}
    if given == {"schema"}:
        return spec["schema"], spec["schema"]
    if given == {"writeSchema", "readSchema"}:
        return spec["writeSchema"], spec["readSchema"]
    return None


def _parts(schema: Json, root: Json, write: Json, seen: int = 0) -> Iterator[tuple[Json, Json]]:
    """A schema and all that it refers to or combines; with the root that references in it are resolved by."""
    if not isinstance(schema, dict) or seen > 20:
        return
    yield schema, root
    reference = schema.get("$ref")
    if reference == WRITE:
        yield from _parts(write, write, write, seen + 1)
    elif isinstance(reference, str) and reference.startswith("#/"):
        target = root
        for part in reference[2:].split("/"):
            target = target.get(part.replace("~1", "/").replace("~0", "~"), {}) if isinstance(target, dict) else {}
        yield from _parts(target, root, write, seen + 1)
    for word in ("allOf", "oneOf", "anyOf"):
        for part in schema.get(word, ()):
            yield from _parts(part, root, write, seen + 1)
    for word in ("then", "else"):
        if word in schema:
            yield from _parts(schema[word], root, write, seen + 1)


def _types(schema: Json) -> frozenset[str]:
    said = schema.get("type")
    found = frozenset([said] if isinstance(said, str) else said) if said else _EVERYTHING
    return found | {"integer"} if "number" in found and said else found


def locate(pointer: str, schema: Json, write: Json) -> tuple[bool, frozenset[str], bool]:
    """(is the location known, types it may have, has it a reduction) by a schema."""
    spots: list[tuple[Json, Json]] = [(schema, schema)]
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        below: list[tuple[Json, Json]] = []
        for spot, root in spots:
            for part, base in _parts(spot, root, write):
                below += [(inner, base) for inner in _children(part, name)]
        spots = below
    types, reduces = _EVERYTHING, False
    for spot, root in spots:
        for part, _ in _parts(spot, root, write):
            types &= _types(part)
            reduces |= "reduce" in part
    return bool(spots), types, reduces


def _children(schema: Json, name: str) -> list[Json]:
    found = [schema["properties"][name]] if name in schema.get("properties", {}) else []
    if name.isdigit() and isinstance(schema.get("items"), dict):
        found.append(schema["items"])
    return found


def _listed(types: frozenset[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in sorted(types)) + "]"


def faults(name: str, spec: Json) -> list[tuple[str, str]]:
    """(JSON pointer in the spec, what is wrong) of one collection."""
    both = schemas_of(spec)
    if both is None:
        return [("", f"collection {name} must define either `schema` or both of `writeSchema` and `readSchema`")]
    write, read = both
    found = []
    url = f"flow://collection/{name}#/{'schema' if 'schema' in spec else 'readSchema'}"
    root_types = frozenset.intersection(*(_types(part) for part, _ in _parts(write, write, write)))
    if "object" not in root_types or root_types != {"object"}:
        found.append(("/schema" if "schema" in spec else "/writeSchema",
                      f"collection schema {url} must have type 'object'"))
    if not spec["key"]:
        found.append(("/key", f"collection {name} key cannot be empty (https://go.estuary.dev/Zq6zVB)"))
    for index, pointer in enumerate(spec["key"]):
        wrong = _key_fault(pointer, write, read, url)
        if wrong:
            found.append((f"/key/{index}", wrong))
    return found


def _key_fault(pointer: str, write: Json, read: Json, url: str) -> str:
    if not pointer.startswith("/"):
        return f"{pointer} is not a valid JSON pointer (missing leading '/' slash)"
    known, types, reduces = locate(pointer, write, write)
    if not known:
        return f"location {pointer} is unknown in schema {url}"
    if not types:
        return f"location {pointer} is prohibited from ever existing by the schema {url}"
    if not types <= _KEY_TYPES:
        return (f"location {pointer} accepts {_listed(types)} in schema {url}, but locations used as keys may only be "
                "null-able integers, strings, or booleans")
    if reduces:
        return f"location {pointer} has a reduction strategy, which is disallowed because the location is used as a key"
    read_known, read_types, _ = locate(pointer, read, write)
    if read_known and read_types != types:
        return (f"location {pointer} is {_listed(read_types)} in readSchema {url}, but {_listed(types)} in writeSchema. "
                "Types of keyed locations must be the same in read and write schemas.")
    return ""


def fields(spec: Json) -> dict[str, str]:
    """Field -> how a materialization would take it: the key, the top level, the operation, the whole document."""
    both = schemas_of(spec)
    if both is None:
        return {}
    write, read = both
    found = {pointer.lstrip("/"): "LOCATION_REQUIRED" for pointer in spec["key"]}
    for schema in (write, read):
        for part, _ in _parts(schema, schema, write):
            for name in part.get("properties", {}):
                found.setdefault(name, "FIELD_OPTIONAL" if name == "_meta" else "LOCATION_RECOMMENDED")
    if locate("/_meta/op", write, write)[0]:
        found.setdefault("_meta/op", "LOCATION_RECOMMENDED")
    return {**found, "flow_document": "LOCATION_REQUIRED"}
