"""What a build asks of captures and materializations by themselves: image, config, bindings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from . import collection_specs, names, rules, sealing, sops
from .store import Row
from .world import World

Json = Any
Faults = list[tuple[str, str]]
OWN_RULES = {"source-postgres": rules.postgres, "materialize-iceberg": rules.iceberg}


@dataclass
class Task:
    """A task whose connector may be asked: its config opened, its enabled bindings with their collections."""

    name: str
    kind: str
    family: str
    config: Json
    #: Of each enabled binding: resource, path, collection's name and spec.
    bindings: list[Row]

    def built_spec(self) -> Row:
        """What came out of the build, as far as clients look at it."""
        key = "collection"
        return {"name": self.name, "bindings": [
            {"resourcePath": list(b["path"]), key: {"name": b["collection"], "key": b["spec"].get("key", [])}}
            | ({"fieldSelection": _selection(b)} if self.kind == "materialization" else {}) for b in self.bindings]}

    def validated(self) -> Row:
        """What the connector said to each binding."""
        if self.kind == "capture":
            return {"bindings": [{"resourcePath": list(b["path"])} for b in self.bindings]}
        return {"bindings": [{"resourcePath": list(b["path"]), "constraints": {
            name: {"type": kind, "reason": _REASONS[kind]} for name, kind in collection_specs.fields(b["spec"]).items()}}
            for b in self.bindings]}


_REASONS = {
    "LOCATION_REQUIRED": "The location is required to be materialized",
    "LOCATION_RECOMMENDED": "The projection has a single scalar type",
    "FIELD_OPTIONAL": "This field is able to be materialized",
}


def _selection(binding: Row) -> Row:
    fields = collection_specs.fields(binding["spec"])
    keys = [pointer.lstrip("/") for pointer in binding["spec"].get("key", ())]
    wanted = binding.get("fields") or {"recommended": True}
    excluded, required = wanted.get("exclude", ()), {**wanted.get("require", {}), **wanted.get("include", {})}
    values = [name for name, kind in fields.items() if name not in keys and name != "flow_document"
              and name not in excluded and (name in required or wanted["recommended"] and kind != "FIELD_OPTIONAL")]
    return {"keys": keys, "values": values, "document": "flow_document"}


def task_of(world: World, name: str, kind: str, spec: Json, result: dict[str, tuple[str, Json]],
            before: Json) -> tuple[Task | None, Faults]:
    """The task in a spec, and what is wrong with it. result: what would be live; before: the live spec, if any."""
    if (spec.get("shards") or {}).get("disable"):
        return None, []
    connector = (spec["endpoint"] or {}).get("connector")
    if not connector:
        return None, [("/endpoint", f"{kind} {name} has no connector")]
    tag, faults = _tag(world, kind, connector["image"])
    if tag is None:
        return None, faults
    family = world.store.one("connectors", id=tag["connector_id"])["_family"]  # type: ignore[index]
    config, faults = open_config(world, tag["endpoint_spec_schema"], connector["config"])
    if config is None:
        return None, faults
    wrong = OWN_RULES[family](config)
    if wrong:
        return None, [("/endpoint", wrong)]
    task = Task(name, kind, family, config, [])
    faults = _bindings(task, spec, tag["resource_spec_schema"], result, before)
    if kind == "materialization":
        faults += _source(spec)
    return task, faults


def _tag(world: World, kind: str, image: str) -> tuple[Row | None, Faults]:
    at = "/endpoint/connector/image"
    parts = names.split_image(image)
    if parts is None:
        return None, [(at, f"connector image {image!r} has no tag")]
    if world.connector(parts[0]) is None:
        return None, [(at, f"Forbidden connector image '{image}'")]
    tag = world.tag(*parts)
    if tag is None:
        return None, [(at, f"no connector tag found for image {image}")]
    if tag["protocol"] != kind:
        return None, [(at, f"connector {image} is a {tag['protocol']} connector, not a {kind} connector")]
    return tag, []


def open_config(world: World, schema: Json, config: Json) -> tuple[Json | None, Faults]:
    """A config as the connector gets it, if it can be opened and fits its schema. No value of it is said."""
    at = "/endpoint/connector/config"
    if sops.is_sealed(config):
        try:
            config = sops.without_suffix(sops.open_sealed(config, world.identity))
        except sops.SopsError as wrong:
            return None, [(at, f"decrypting sops document failed: {wrong}")]
    complaints = sealing.complaints(schema, config)
    if complaints:
        said = "; ".join(f"{c['instanceLocation'] or '/'} {c['detail']}" for c in complaints)
        return None, [(at, f"Config failed schema validation: {said}")]
    return config, []


def _bindings(task: Task, spec: Json, schema: Json, result: dict[str, tuple[str, Json]], before: Json) -> Faults:
    faults: Faults = []
    seen: dict[tuple[str, ...], int] = {}
    counters = _counters(task, before)
    for index, binding in enumerate(spec["bindings"]):
        at = f"/bindings/{index}"
        if binding.get("disable"):
            continue
        complaints = sealing.complaints(schema, binding["resource"])
        if complaints:
            said = "; ".join(f"{c['instanceLocation'] or '/'} {c['detail']}" for c in complaints)
            faults.append((f"{at}/resource", f"resource config failed schema validation: {said}"))
            continue
        path = path_of(task.family, task.config, binding["resource"])
        if path in seen:
            faults.append((at, f"this {task.kind} binding at offset {index} is bound to endpoint resource "
                               f"{json.dumps(list(path))}, but so is the binding at offset {seen[path]}, which is not "
                               "permitted (each binding must have a unique endpoint resource)"))
        seen.setdefault(path, index)
        last = counters.get(path, 0)
        if binding.get("backfill", 0) < last:
            faults.append((f"{at}/backfill", f"`backfill` counters may only increase, but the draft {task.kind} for "
                                             f"{json.dumps(list(path))} has a value of {binding.get('backfill', 0)}, "
                                             f"which is less than the last value {last}"))
        other = _collection(task.kind, binding)
        task.bindings.append({"resource": binding["resource"], "path": path, "collection": other, "at": at,
                              "spec": result.get(other, ("", {}))[1], "fields": binding.get("fields")})
        faults += _fields(at, task.bindings[-1]) if task.kind == "materialization" else []
    return faults


def _collection(kind: str, binding: Json) -> str:
    source = binding["target"] if kind == "capture" else binding["source"]
    return str(source if isinstance(source, str) else source["name"])


def _counters(task: Task, before: Json) -> dict[tuple[str, ...], int]:
    found = {}
    for binding in (before or {}).get("bindings", ()):
        found[path_of(task.family, task.config, binding["resource"])] = binding.get("backfill", 0)
    return found


def _fields(at: str, binding: Row) -> Faults:
    known, wanted = collection_specs.fields(binding["spec"]), binding["fields"] or {}
    return [(f"{at}/fields/{part}/{name}", f"{part} projection {name} does not exist in collection "
                                           f"{binding['collection']}")
            for part in ("require", "include") for name in wanted.get(part, ()) if binding["spec"] and name not in known]


def path_of(family: str, config: Json, resource: Json) -> tuple[str, ...]:
    """The path of the resource that a binding is for."""
    if family == "source-postgres":
        return resource["namespace"], resource["stream"]
    return rules.table_path(config, resource)


def _source(spec: Json) -> Faults:
    source = spec.get("source") or spec.get("sourceCapture")
    if isinstance(source, dict) and source.get("deltaUpdates"):
        return [("/source", "deltaUpdates is set to true, but the materialization connector does not support it")]
    return []
