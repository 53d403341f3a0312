"""The shapes of drafted specs: which keys a spec has, which it must have, of what kind. Any other key is an error.

The words are those of the deserialiser that reads specs, as far as it names a key."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from . import names

Json = Any
_DURATION = re.compile(r"\d+(s|m|h|d)")


@dataclass(frozen=True)
class Shape:
    """An object. keys: name -> kind; a kind is a word of _KINDS, another shape's name, or either with [] for a list
    or {} for a map. Names of required keys begin with an exclamation mark."""

    keys: dict[str, str]


def _shape(text: str) -> Shape:
    return Shape(dict(pair.split(":") for pair in text.split()))


SHAPES = {
    "capture": _shape("!endpoint:capture-endpoint !bindings:capture-binding[] autoDiscover:auto-discover "
                      "interval:duration shards:shards redactSalt:string expectPubId:id delete:bool reset:bool"),
    "capture-endpoint": _shape("connector:connector local:any"),
    "materialization-endpoint": _shape("connector:connector local:any"),
    "connector": _shape("!image:string !config:config"),
    "auto-discover": _shape("addNewBindings:bool evolveIncompatibleCollections:bool"),
    "capture-binding": _shape("!resource:any !target:name disable:bool backfill:count"),
    "shards": _shape("disable:bool logLevel:level minTxnDuration:duration maxTxnDuration:duration hotStandbys:count "
                     "flags:any"),
    "collection": _shape("!key:string[] schema:any writeSchema:any readSchema:any projections:any journals:any "
                         "derive:any expectPubId:id delete:bool reset:bool"),
    "materialization": _shape("!endpoint:materialization-endpoint !bindings:materialization-binding[] source:source "
                              "sourceCapture:source targetNaming:target-naming onIncompatibleSchemaChange:change "
                              "shards:shards triggers:any expectPubId:id delete:bool reset:bool"),
    "materialization-binding": _shape("!resource:any !source:collection-source disable:bool priority:count "
                                      "fields:fields backfill:count onIncompatibleSchemaChange:change"),
    "collection-source-object": _shape("!name:name partitions:any notBefore:string notAfter:string"),
    "fields": _shape("!recommended:depth require:any include:any exclude:string[] groupBy:string[]"),
    "source-object": _shape("capture:name fieldsRecommended:depth deltaUpdates:bool targetNaming:naming "
                            "targetSchema:naming"),
    "test": _shape("!description:string !steps:any"),
}
#: strategy -> its fields
STRATEGIES = {
    "matchSourceStructure": _shape("!strategy:string schemaTemplate:string tableTemplate:string"),
    "singleSchema": _shape("!strategy:string !schema:string tableTemplate:string"),
    "prefixTableNames": _shape("!strategy:string !schema:string skipCommonDefaults:bool tableTemplate:string"),
}
_CHANGES = ("abort", "backfill", "disableBinding", "disableTask")
_NAMINGS = ("noSchema", "withSchema", "prefixSchema", "prefixNonDefaultSchema", "leaveEmpty", "fromSourceName")
_LEVELS = ("error", "warn", "info", "debug", "trace")


def _said(value: Json) -> str:
    if isinstance(value, bool):
        return f"boolean `{str(value).lower()}`"
    if isinstance(value, str):
        return "string"       # the text itself may be a secret
    if isinstance(value, (int, float)):
        return f"number `{value}`"
    return "null" if value is None else "sequence" if isinstance(value, list) else "map"


def _choice(value: Json, choices: tuple[str, ...]) -> str:
    listed = ", ".join(f"`{choice}`" for choice in choices)
    return "" if value in choices else f"unknown variant, expected one of {listed}"


def _simple(value: Json, kind: str) -> str:
    """What is wrong with a value of a kind that has no keys; empty when nothing is."""
    count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**32
    if kind == "any":
        return ""
    if kind in ("change", "naming", "level"):
        return _choice(value, {"change": _CHANGES, "naming": _NAMINGS, "level": _LEVELS}[kind])
    if kind == "depth":
        return "" if count or isinstance(value, bool) else f"invalid type: {_said(value)}, expected a bool or a depth"
    if kind == "config":
        return "" if isinstance(value, dict) else f"invalid type: {_said(value)}, expected a JSON object"
    right = {"string": isinstance(value, str), "bool": isinstance(value, bool), "count": count,
             "name": isinstance(value, str), "id": isinstance(value, str), "duration": isinstance(value, str)}[kind]
    if not right:
        expected = {"bool": "a boolean", "count": "u32"}.get(kind, "a string")
        return f"invalid type: {_said(value)}, expected {expected}"
    if kind == "name" and names.unmatched(value):
        return f"{value} is not a valid name ({names.unmatched(value)!r} is invalid)"
    if kind == "duration" and not _DURATION.fullmatch(value):
        return f"invalid duration {value!r}, expected a number and one of s, m, h, d"
    return ""


def _check(value: Json, kind: str, at: str, found: list[tuple[str, str]]) -> None:
    if kind.endswith("[]"):
        if not isinstance(value, list):
            found.append((at, f"invalid type: {_said(value)}, expected a sequence"))
            return
        for index, inner in enumerate(value):
            _check(inner, kind[:-2], f"{at}/{index}", found)
    elif kind == "source" or kind == "collection-source":
        _check(value, "name" if isinstance(value, str) else f"{kind}-object", at, found)
    elif kind == "target-naming":
        strategy: Json = value.get("strategy") if isinstance(value, dict) else None
        wrong = _choice(strategy, tuple(STRATEGIES))
        if wrong:
            found.append((at, wrong))
        else:
            _object(value, STRATEGIES[strategy], at, found)
    elif kind in SHAPES:
        _object(value, SHAPES[kind], at, found)
    else:
        wrong = _simple(value, kind)
        if wrong:
            found.append((at, wrong))


def _object(value: Json, shape: Shape, at: str, found: list[tuple[str, str]]) -> None:
    if not isinstance(value, dict):
        found.append((at, f"invalid type: {_said(value)}, expected a map"))
        return
    kinds = {key.lstrip("!"): kind for key, kind in shape.keys.items()}
    for key, inner in value.items():
        if key not in kinds:
            listed = ", ".join(f"`{known}`" for known in kinds)
            found.append((at, f"unknown field `{key}`, expected one of {listed}"))
        elif inner is not None or "!" + key in shape.keys:
            _check(inner, kinds[key], f"{at}/{key}", found)
    for key in shape.keys:
        if key.startswith("!") and key[1:] not in value:
            found.append((at, f"missing field `{key[1:]}`"))


def wrong_parts(spec: Json, spec_type: str) -> list[tuple[str, str]]:
    """(JSON pointer, what is wrong) for each part of a spec that is not of its shape."""
    found: list[tuple[str, str]] = []
    if spec_type not in ("capture", "collection", "materialization", "test"):
        return [("", f"unknown catalog type {spec_type}")]
    _check(spec, spec_type, "", found)
    return found
