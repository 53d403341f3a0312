"""What a discover writes into a draft: a binding and a collection for each table, merged with what is staged there."""

from __future__ import annotations

import copy
from typing import Any

from . import names
from .collection_specs import INFERRED, WRITE
from .store import Row

Json = Any
FALLBACK = ["/_meta/source/loc/0", "/_meta/source/loc/1", "/_meta/source/loc/2"]
_INTEGER, _TEXT = {"type": "integer"}, {"type": "string"}
#: PostgreSQL's name of a type -> JSON schema of its values.
_TYPES: dict[str, Json] = {
    **dict.fromkeys(("int2", "int4", "int8", "oid"), _INTEGER),
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "interval", "money"), _TEXT),
    "numeric": {"type": "string", "format": "number"},
    **dict.fromkeys(("float4", "float8"), {"type": ["number", "string"], "format": "number"}),
    "bool": {"type": "boolean"}, "date": {"type": "string", "format": "date"},
    **dict.fromkeys(("timestamp", "timestamptz"), {"type": "string", "format": "date-time"}),
    "time": {"type": "string", "format": "time"}, "uuid": {"type": "string", "format": "uuid"},
    "bytea": {"type": "string", "contentEncoding": "base64"}, "json": {}, "jsonb": {},
}


def key_of(table: Row) -> list[str]:
    """The key of a table's collection, as JSON pointers."""
    columns = table.get("key") or table.get("fallback")
    return ["/" + name.replace("~", "~0").replace("/", "~1") for name in columns] if columns else list(FALLBACK)


def _column(about: Json, key: bool) -> Json:
    base = about if isinstance(about, str) else about["base"]
    if base.startswith("_"):
        found: Json = {"type": "array"}
    else:
        found = dict(_TYPES.get(base, _TEXT))
    if key and base in ("float4", "float8"):
        found = {"type": "string", "format": "number"}
    nullable = not key and not (isinstance(about, dict) and about["notnull"])
    if nullable and "type" in found:
        kinds = found["type"] if isinstance(found["type"], list) else [found["type"]]
        found["type"] = [*kinds, "null"]
    return found


def _meta(table: Row, name: str) -> Json:
    source = {"type": "object", "properties": {
        "ts_ms": _INTEGER, "schema": {"type": "string", "const": table["schema"]}, "snapshot": {"type": "boolean"},
        "table": {"type": "string", "const": table["table"]}, "txid": _INTEGER,
        "loc": {"type": "array", "items": _INTEGER, "minItems": 3, "maxItems": 3}},
        "required": ["schema", "table", "loc"]}
    return {"type": "object", "properties": {
        "before": {"$ref": f"#{name}", "description": "Record state immediately before this change was applied.",
                   "reduce": {"strategy": "firstWriteWins"}},
        "op": {"enum": ["c", "d", "u"], "description": "Change operation type: 'c' create, 'u' update, 'd' delete."},
        "source": source}, "required": ["op", "source"], "reduce": {"strategy": "merge"}}


def write_schema(table: Row, history: bool) -> Json:
    """The connector's schema of a table's documents."""
    title = f"{table['schema']}.{table['table']}"
    anchor = "".join(part.capitalize() for part in names.recommended(title).replace(".", "_").split("_"))
    key = table.get("key") or table.get("fallback") or []
    columns = {name: _column(about, name in key) for name, about in (table["columns"] or {}).items()}
    row: Json = {"type": "object", "required": list(key), "$anchor": anchor, "properties": columns}
    merged: Json = {"type": "object", "required": ["_meta"], "properties": {"_meta": _meta(table, anchor)},
                    "x-infer-schema": True}
    if not history:
        merged["reduce"] = {"strategy": "merge"}
        merged["if"] = {"properties": {"_meta": {"properties": {"op": {"const": "d"}}}}}
        merged["then"] = {"reduce": {"strategy": "merge", "delete": True}}
    return {"$defs": {anchor: row}, "allOf": [merged, {"$ref": f"#/$defs/{anchor}"}]}


def collection(table: Row, history: bool) -> Json:
    """The collection of a table."""
    return {"writeSchema": {"type": "object", **write_schema(table, history)},
            "readSchema": {"allOf": [{"$ref": WRITE}, {"$ref": INFERRED}]}, "key": key_of(table)}


def merge(capture_name: str, capture: Json, tables: list[Row], history: bool, add: bool,
          known: dict[str, Json]) -> tuple[Json, dict[str, Json]]:
    """(the capture with its bindings, collections by name). add: whether tables that have no binding yet are captured;
    else they get a disabled one. known: collections there are, by name: they keep their key."""
    capture, found = copy.deepcopy(capture), {}
    bound = {(b["resource"].get("namespace"), b["resource"].get("stream")): b for b in capture["bindings"]}
    listed = {(table["schema"], table["table"]) for table in tables}
    capture["bindings"] = [b for path, b in bound.items() if path in listed or b.get("disable")]
    for table in tables:
        path = table["schema"], table["table"]
        binding = bound.get(path)
        if binding is None:
            recommended = names.folder(capture_name) + "/".join(names.recommended(part) for part in path)
            resource = {"namespace": path[0], "stream": path[1]}
            if not (table.get("key") or table.get("fallback")):
                resource["mode"] = "Without Primary Key"
            binding = {"resource": resource, "target": recommended} | ({} if add else {"disable": True})
            capture["bindings"].append(binding)
        if not binding.get("disable"):
            spec = collection(table, history)
            target = str(binding["target"])
            before = known.get(target)
            found[target] = {**(before or {}), **spec} | ({"key": before["key"]} if before else {})
            found[target].pop("schema", None)
    return capture, found
