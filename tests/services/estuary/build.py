"""A catalog build: what the control plane checks in a draft before any connector is asked.

Under the world's lock. Errors are (scope, detail) as the table draft_errors has them; the words are the build's own
where public material has them. What is left to ask connectors comes out as tasks: see validate.py."""

from __future__ import annotations

import copy
import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from . import collection_specs, names, shapes
from .build_tasks import Task, task_of
from .store import ZERO_ID, Row
from .world import Caller, World

Json = Any
Specs = dict[str, tuple[str, Json]]       # name -> (type, model)


@dataclass
class Build:
    """The state of one build."""

    world: World
    caller: Caller
    rows: list[Row]
    plane: str | None = None
    #: job_status of what came out.
    status: Row = field(default_factory=lambda: {"type": "success"})
    errors: list[tuple[str, str]] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    #: Name -> data plane.
    planes: dict[str, str] = field(default_factory=dict)
    built: dict[str, Row] = field(default_factory=dict)

    def fail(self, kind: str, name: str, detail: str, pointer: str = "") -> None:
        """Note an error. A scope without a pointer is the spec's own."""
        self.errors.append((f"flow://{kind}/{name}" + (f"#{pointer}" if pointer else ""), detail))
        self.status = {**self.status, "type": "buildFailed"}

    def kind_of(self, row: Row) -> str:
        """The type of a drafted spec; of a deletion, that of what it deletes."""
        live = self.world.store.one("live_specs", catalog_name=row["catalog_name"])
        return str(row["spec_type"] or (live["spec_type"] if live else "capture"))

    # What there is, with the draft laid over it.

    def live(self) -> Specs:
        """All live specs."""
        return {row["catalog_name"]: (row["spec_type"], row["spec"]) for row in self.world.store.rows("live_specs")}

    def drafted(self) -> Specs:
        """Drafted specs that are no deletions."""
        return {row["catalog_name"]: (row["spec_type"], row["spec"]) for row in self.rows if row["spec"] is not None}

    def result(self) -> Specs:
        """What would be live afterwards."""
        gone = {row["catalog_name"] for row in self.rows if row["spec"] is None}
        return {name: spec for name, spec in {**self.live(), **self.drafted()}.items() if name not in gone}


def references(kind: str, spec: Json) -> Iterator[tuple[str, str, str]]:
    """(pointer, kind, name) of what a spec refers to; disabled bindings refer to nothing."""
    for index, binding in enumerate(spec.get("bindings", ())):
        if binding.get("disable"):
            continue
        if kind == "capture":
            yield f"/bindings/{index}/target", "collection", binding["target"]
        elif kind == "materialization":
            source = binding["source"]
            yield f"/bindings/{index}/source", "collection", source if isinstance(source, str) else source["name"]
    source = spec.get("source") or spec.get("sourceCapture") if kind == "materialization" else None
    capture = source if isinstance(source, str) else (source or {}).get("capture")
    if capture:
        yield "/source", "capture", capture


def prune_unbound(rows: list[Row], live: set[str]) -> list[Row]:
    """The draft without new collections that nothing in it refers to."""
    used = {name for row in rows if isinstance(row["spec"], dict)
            for _, _, name in _safe_references(row["spec_type"], row["spec"])}
    return [row for row in rows if row["spec_type"] != "collection" or row["catalog_name"] in used | live]


def _safe_references(kind: str, spec: Json) -> list[tuple[str, str, str]]:
    try:
        return list(references(kind, spec))
    except (KeyError, TypeError, AttributeError):
        return []


def check(world: World, caller: Caller, rows: list[Row], plane: str | None) -> Build:
    """Everything that needs no connector."""
    live = {row["catalog_name"] for row in world.store.rows("live_specs")}
    build = Build(world, caller, prune_unbound(copy.deepcopy(rows), live), plane)
    if not build.rows:
        build.status = {"type": "emptyDraft"}
        return build
    if _expectations(build):
        return build
    for step in (_shapes, _authorised, _names, _references, _collections, _planes, _tasks):
        step(build)
        if build.errors and step in (_shapes, _authorised):
            return build
    return build


def _expectations(build: Build) -> bool:
    failures = []
    for row in build.rows:
        live = build.world.store.one("live_specs", catalog_name=row["catalog_name"])
        actual = live["last_pub_id"] if live else ZERO_ID
        if row["expect_pub_id"] not in (None, actual):
            failures.append({"catalog_name": row["catalog_name"], "expected": row["expect_pub_id"],
                             "actual": live and actual})
            build.errors.append((f"flow://{build.kind_of(row)}/{row['catalog_name']}",
                                 f"expected publication ID {row['expect_pub_id']} was not matched (it's actually "
                                 f"{actual}): your changes have already been published or another publication has "
                                 "modified this spec; please try again with a fresh copy of the spec."))
    if failures:
        build.status = {"type": "expectPubIdMismatch", "failures": failures}
    return bool(failures)


def _shapes(build: Build) -> None:
    for row in build.rows:
        name, kind = row["catalog_name"], row["spec_type"]
        if row["spec"] is None:
            live = build.world.store.one("live_specs", catalog_name=name)
            if live is None:
                build.fail("capture", name, "drafted deletion references a specification that does not exist")
            continue
        for pointer, detail in shapes.wrong_parts(row["spec"], kind):
            build.fail(kind, name, f"parsing {kind} {name}: {detail}", pointer)


def _authorised(build: Build) -> None:
    for row in build.rows:
        name, kind = row["catalog_name"], build.kind_of(row)
        if not build.world.may(build.caller, name, "admin"):
            build.fail(kind, name, "User is not authorized to create or change this catalog name")
            continue
        if row["spec"] is None:
            continue
        for _, _, other in references(kind, row["spec"]):
            least = "write" if kind == "capture" else "read"
            if not build.world.may(build.caller, other, "read"):
                build.fail("unauthorized", other, "User is not authorized to read this catalog name")
            elif not build.world.spec_may(name, other, least):
                grants = json.dumps(build.world.spec_grants(name), indent=2)
                build.fail(kind, name, f"Specification '{name}' is not {least}-authorized to '{other}'.\n"
                                       f"Available grants are: {grants}")


def _names(build: Build) -> None:
    result = build.result()
    drafted = build.drafted()
    for name, (kind, _) in drafted.items():
        rest = names.unmatched(name)
        if rest:
            build.fail(kind, name, f"{name} cannot be used as name for {kind} ({rest!r} is invalid)")
    ordered = sorted(result, key=str.casefold)
    for short in ordered:
        for long in ordered:
            below = long.casefold().startswith(short.casefold() + "/")
            same = short < long and short.casefold() == long.casefold()
            if (below or same) and (short in drafted or long in drafted):
                said = "is a prohibited prefix of" if below else "collides with"
                kinds = result[short][0], result[long][0]
                build.fail(kinds[0], short, f"{kinds[0]} {short} {said} {kinds[1]} {long}, defined at "
                                            f"flow://{kinds[1]}/{long}")


def _references(build: Build) -> None:
    result = build.result()
    for name, (kind, spec) in build.drafted().items():
        for pointer, wanted, other in references(kind, spec):
            if result.get(other, ("",))[0] == wanted:
                continue
            known = [found for found, (what, _) in result.items() if what == wanted]
            close = difflib.get_close_matches(other, known, 1, 0.8)
            hint = f"; did you mean {close[0]} defined at flow://{wanted}/{close[0]} ?" if close else ""
            build.fail(kind, name, f"{wanted} {other}, referenced by {kind} {name}, is not defined{hint}", pointer)
    gone = {row["catalog_name"] for row in build.rows if row["spec"] is None}
    for name, (kind, spec) in result.items():
        for _, wanted, other in references(kind, spec):
            if other in gone and name not in build.drafted():
                build.fail(wanted, other, f"deleted {wanted} {other} is still referenced by {kind} {name}")


def _collections(build: Build) -> None:
    live, incompatible = build.live(), []
    for name, (kind, spec) in build.drafted().items():
        if kind != "collection":
            continue
        for pointer, detail in collection_specs.faults(name, spec):
            build.fail(kind, name, detail, pointer)
        before = live.get(name, ("", {}))[1].get("key")
        if before and before != spec["key"] and not spec.get("reset"):
            build.fail(kind, name, f"the key of existing collection {name} cannot change (from "
                                   f"{json.dumps(before)} to {json.dumps(spec['key'])}) without also resetting it")
            incompatible.append({"collection": name, "requires_recreation": ["keyChange"],
                                 "affected_materializations": _affected(live, name)})
    if incompatible:
        build.status["incompatible_collections"] = incompatible


def _affected(live: Specs, collection: str) -> list[Row]:
    return [{"name": name, "fields": [], "resource_path": []} for name, (kind, spec) in live.items()
            if kind == "materialization" and any(other == collection for _, _, other in references(kind, spec))]


def _planes(build: Build) -> None:
    for name, (kind, _) in build.drafted().items():
        mapping = build.world.mapping(name)
        if mapping is None:
            build.fail(kind, name, f"could not map {kind} {name} into a storage mapping")
            continue
        before = build.world.store.one("live_specs", catalog_name=name)
        allowed = mapping["spec"].get("data_planes", [])
        plane = before["_plane"] if before else build.plane or (allowed[0] if allowed else None)
        readable = plane and build.world.store.one("data_planes", data_plane_name=plane) and build.world.may(
            build.caller, plane, "read")
        prefix = mapping["catalog_prefix"]
        if not plane:
            build.fail(kind, name, f"{kind} {name} doesn't have an assigned data-plane, and no default data-plane is "
                                   "available")
        elif not readable:
            known = [row["data_plane_name"] for row in build.world.store.rows("data_planes")
                     if build.world.may(build.caller, row["data_plane_name"], "read")]
            close = difflib.get_close_matches(plane, known, 1, 0.0)
            hint = f"; did you mean data plane {close[0]}?" if close else ""
            told = "" if plane not in allowed else f", referenced by storage mapping {prefix},"
            build.fail(kind, name, f"data plane {plane}{told} was not found{hint}")
        elif plane not in allowed:
            build.fail(kind, name, f"data plane {plane} is not one of those that storage mapping {prefix} allows: "
                                   + ", ".join(allowed))
        else:
            build.planes[name] = plane


def _tasks(build: Build) -> None:
    result, live = build.result(), build.live()
    for name, (kind, spec) in build.drafted().items():
        if kind not in ("capture", "materialization"):
            if kind == "collection":
                build.built[name] = {"built_spec": {"name": name, "key": spec["key"]}, "validated": None}
            continue
        task, faults = task_of(build.world, name, kind, spec, result, live.get(name, ("", None))[1])
        for pointer, detail in faults:
            build.fail(kind, name, detail, pointer)
        if task and not faults:
            build.tasks.append(task)
            build.built[name] = {"built_spec": task.built_spec(), "validated": task.validated()}
