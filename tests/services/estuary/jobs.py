"""The jobs that a client queues by a row: discovers and publications. Their life, their logs, what they leave behind.

A job that is due runs on a thread of its own, so that a source that does not answer holds up no poll. What the next
jobs do can be scripted (World.next_discovers, next_publications):

    {"stay": true}                                   stays queued for ever
    {"fail": "<job_status.type>", "errors": [{"scope", "detail"}], "status": {more of job_status}, "log": [lines]}
    {"log": [lines]}                                 as usual, with more lines"""

from __future__ import annotations

import copy
import threading
from typing import Any

from . import build as builds
from . import discovery
from .build_tasks import OWN_RULES, Task, open_config
from .destination import Destination
from .source import Source, SourceError
from .store import ZERO_ID, Row, new_id
from .world import Caller, World, new_uuid

Json = Any
_BOLD, _GREEN, _RED, _OFF = "\x1b[1m", "\x1b[32m", "\x1b[31m", "\x1b[0m"
FAMILIES = ("discovers", "publications")


class Jobs:
    """Runs what is due."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._threads: list[threading.Thread] = []

    # Queueing.

    def queue(self, table: str, row: Row) -> None:
        """Take up a row that a client has inserted."""
        world, life = self._world, self._world.settings.life
        scripted = world.next_discovers if table == "discovers" else world.next_publications
        duration = life.discover if table == "discovers" else life.publish
        row.update(job_status={"type": "queued"}, logs_token=new_uuid(), _due=world.clock.now() + duration,
                   _script=scripted.pop(0) if scripted else {}, _begun=False)
        self._log(row, f"{_BOLD}{table[:-1]}{_OFF} {row['id']} is queued", late=False)

    def settle(self) -> None:
        """Begin what is due. Under the world's lock."""
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        for table in FAMILIES:
            for row in self._world.store.rows(table):
                due = row["job_status"]["type"] == "queued" and not row["_begun"] and not row["_script"].get("stay")
                if due and row["_due"] <= self._world.clock.now():
                    row["_begun"] = True
                    thread = threading.Thread(target=self._run, args=(table, row), daemon=True)
                    self._threads.append(thread)
                    thread.start()

    def restart(self) -> None:
        """After a restart of the process: what had begun begins again."""
        for table in FAMILIES:
            for row in self._world.store.rows(table):
                row["_begun"] = row["_begun"] and row["job_status"]["type"] != "queued"

    def wait(self, timeout: float = 30.0) -> None:
        """Wait for what runs. Not under the lock."""
        for thread in list(self._threads):
            thread.join(timeout)

    # Running.

    def _run(self, table: str, row: Row) -> None:
        world = self._world
        try:
            with world.lock:
                script, caller = row["_script"], self._caller(row)
                plan = None if "fail" in script else (
                    self._plan_discover if table == "discovers" else self._plan_publication)(row, caller)
            if "fail" in script:
                status = {"type": script["fail"], **script.get("status", {})}
                errors = [(e.get("scope", ""), e["detail"]) for e in script.get("errors", ())]
            else:
                status, errors = plan()  # type: ignore[misc]
        except Exception as wrong:  # noqa: BLE001 - the job fails, and the log says why
            failed = "discoverFailed" if table == "discovers" else "publishFailed"
            status, errors, script = {"type": failed}, [("", f"stand-in: {wrong!r}")], {}
        with world.lock:
            self._finish(table, row, status, errors, script)

    def _finish(self, table: str, row: Row, status: Row, errors: list[tuple[str, str]], script: Row) -> None:
        store = self._world.store
        if not self._alive(table, row):
            return
        store.remove("draft_errors", lambda e: bool(e["draft_id"] == row["draft_id"]))
        for scope, detail in errors:
            store.add("draft_errors", {"draft_id": row["draft_id"], "scope": scope, "detail": detail})
            self._log(row, f"{_RED}error{_OFF}: {scope}: {detail}")
        for line in script.get("log", ()):
            self._log(row, line)
        good = status["type"] == "success"
        self._log(row, f"{_GREEN if good else _RED}{table[:-1]} ended: {status['type']}{_OFF}")
        store.change(row, job_status=status, updated_at=self._world.now())

    def _alive(self, table: str, row: Row) -> bool:
        """Whether a job's draft has not been deleted under it."""
        return self._world.store.one(table, id=row["id"]) is row and bool(
            self._world.store.one("drafts", id=row["draft_id"]) or table == "publications" and not row["dry_run"])

    def _caller(self, row: Row) -> Caller:
        user = self._world.store.one("users", id=row["_user"])
        assert user
        return Caller(user["id"], user["email"])

    def _log(self, row: Row, line: str, late: bool = True) -> None:
        now = self._world.clock.now()
        self._world.store.add("logs", {
            "token": row["logs_token"], "stream": "temp-data-plane", "logged_at": self._world.now(), "log_line": line,
            "_seen_from": now + (self._world.settings.life.logs if late else 0.0)})

    @property
    def _ca(self) -> str:
        said = self._world.settings.connector_ca
        return str(self._world.ca_file or "") if said == "sandbox" else said

    # Discovers.

    def _plan_discover(self, row: Row, caller: Caller) -> Any:
        """Under the lock: what can be judged at once; returns what goes on without it."""
        world, name = self._world, row["capture_name"]
        tag = world.store.one("connector_tags", id=row["connector_tag_id"])
        early = None
        if not world.may(caller, name, "admin"):
            early = "notAuthorized"
        elif tag is None or tag["job_status"]["type"] != "success":
            early = "tagFailed"
        elif tag["protocol"] != "capture":
            early = "wrongProtocol"
        else:
            mapping = world.mapping(name)
            plane = row["data_plane_name"] or next(iter((mapping or {"spec": {}})["spec"].get("data_planes", ())), None)
            if not plane or not world.may(caller, plane, "read") or not world.store.one(
                    "data_planes", data_plane_name=plane):
                early = "noDataPlane"
        if early or tag is None:
            return lambda: ({"type": early}, [])
        connector = world.store.one("connectors", id=tag["connector_id"])
        assert connector
        image = connector["image_name"] + tag["image_tag"]
        config, faults = open_config(world, tag["endpoint_spec_schema"], row["endpoint_config"])
        wrong = faults[0][1] if faults or config is None else OWN_RULES[connector["_family"]](config)
        scope = f"flow://capture/{name}"
        if wrong:
            return lambda: ({"type": "discoverFailed"}, [(scope, wrong)])
        settings, history = copy.copy(world.settings), bool(config and config.get("historyMode"))

        def go_on() -> tuple[Row, list[tuple[str, str]]]:
            try:
                tables = self._tables(config, settings)
            except SourceError as failed:
                return {"type": "discoverFailed"}, [(scope, str(failed))]
            with world.lock:
                if self._alive("discovers", row):
                    self._into_draft(row, image, tables, history)
            return {"type": "success"}, []

        return go_on

    def _tables(self, config: Json, settings: Any) -> list[Row]:
        if not settings.reach_postgres:
            return copy.deepcopy(settings.tables)
        return Source(config, self._ca, settings.connect_timeout).tables()

    def _into_draft(self, row: Row, image: str, tables: list[Row], history: bool) -> None:
        store, name, draft = self._world.store, row["capture_name"], row["draft_id"]
        live = store.one("live_specs", catalog_name=name)
        staged = store.one("draft_specs", draft_id=draft, catalog_name=name) or live
        capture: Json = copy.deepcopy(staged["spec"]) if staged and staged["spec"] else {
            "autoDiscover": {"addNewBindings": True, "evolveIncompatibleCollections": True}, "bindings": []}
        capture["endpoint"] = {"connector": {"image": image, "config": row["endpoint_config"]}}
        auto = capture.get("autoDiscover")
        add = auto.get("addNewBindings", False) if auto and staged else not row["update_only"]
        known = {r["catalog_name"]: r["spec"] for table in ("live_specs", "draft_specs") for r in store.rows(table)
                 if r["spec_type"] == "collection" and r.get("draft_id", draft) == draft and r["spec"]}
        capture, found = discovery.merge(name, capture, tables, history, add, known)
        ordered = {key: capture[key] for key in ("autoDiscover", "endpoint", "bindings") if key in capture}
        self._stage(draft, name, "capture", {**ordered, **capture})
        for target, spec in found.items():
            self._stage(draft, target, "collection", spec)

    def _stage(self, draft: str, name: str, kind: str, spec: Json) -> None:
        store = self._world.store
        before = store.one("draft_specs", draft_id=draft, catalog_name=name)
        live = store.one("live_specs", catalog_name=name)
        if before:
            store.change(before, spec=spec, spec_type=kind, updated_at=self._world.now())
            return
        now = self._world.now()
        store.add("draft_specs", {
            "draft_id": draft, "catalog_name": name, "spec_type": kind, "spec": spec, "detail": None,
            "expect_pub_id": live["last_pub_id"] if live else ZERO_ID, "built_spec": None, "validated": None,
            "created_at": now, "updated_at": now})

    # Publications.

    def _plan_publication(self, row: Row, caller: Caller) -> Any:
        world = self._world
        drafted = list(world.store.rows("draft_specs", draft_id=row["draft_id"]))
        build = builds.check(world, caller, drafted, row["data_plane_name"])
        settings = copy.copy(world.settings)

        def go_on() -> tuple[Row, list[tuple[str, str]]]:
            if build.status["type"] == "success":
                for task in build.tasks:
                    for pointer, detail in self._ask(task, settings):
                        build.fail(task.kind, task.name, detail, pointer)
            with world.lock:
                self._built(row, build)
                alive = world.store.one("publications", id=row["id"]) is row
                if build.status["type"] == "success" and not row["dry_run"] and alive:
                    self._commit(row, build)
            return build.status, build.errors

        return go_on

    def _ask(self, task: Task, settings: Any) -> list[tuple[str, str]]:
        """What a task's connector says."""
        if task.kind == "materialization":
            destination = Destination(task.config, self._ca, settings.aws_url, settings.connect_timeout)
            return [("", detail) for detail in destination.faults(settings.reach_catalog)]
        fallback = [(b["at"], f'output collection for stream "{b["path"][0]}.{b["path"][1]}" has the fallback key, '
                              "which can't be used for a backfill")
                    for b in task.bindings if b["spec"].get("key") == discovery.FALLBACK
                    and b["resource"].get("mode") in ("Normal", "Precise")]
        if not settings.reach_postgres:
            return fallback
        try:
            source = Source(task.config, self._ca, settings.connect_timeout)
            found = source.faults([b["path"] for b in task.bindings])
        except SourceError as wrong:
            found = [str(wrong)]
        if not found:
            return fallback
        shown = found[:20] + ([f"additional {len(found) - 20} errors omitted"] if len(found) > 20 else [])
        text = "the capture cannot run due to the following error(s):\n - " + "\n - ".join(shown)
        return [("", text), *fallback]

    def _built(self, row: Row, build: builds.Build) -> None:
        for name, found in build.built.items():
            spec = self._world.store.one("draft_specs", draft_id=row["draft_id"], catalog_name=name)
            if spec:
                self._world.store.change(spec, **found)

    def _commit(self, row: Row, build: builds.Build) -> None:
        store, now = self._world.store, self._world.now()
        for drafted in build.rows:
            name = drafted["catalog_name"]
            if drafted["spec"] is None:
                store.remove("live_specs", lambda live, gone=name: bool(live["catalog_name"] == gone))  # type: ignore[misc]
                continue
            values = {"spec": drafted["spec"], "spec_type": drafted["spec_type"], "last_pub_id": row["id"],
                      "last_build_id": row["id"], "updated_at": now, "_plane": build.planes[name],
                      "_active_from": self._world.clock.now() + self._world.settings.life.activate}
            live = store.one("live_specs", catalog_name=name)
            if live:
                store.change(live, **values)
            else:
                store.add("live_specs", {"id": new_id(), "catalog_name": name, "created_at": now, **values})
        self.drop_draft(row["draft_id"], keep_jobs=True)

    def drop_draft(self, draft: str, keep_jobs: bool = False) -> None:
        """Delete a draft with what belongs to it; a publication outlives its draft, a discover does not."""
        for table in ("draft_specs", "draft_errors", "discovers"):
            if not (keep_jobs and table == "draft_errors"):
                self._world.store.remove(table, lambda row: bool(row["draft_id"] == draft))
        self._world.store.remove("drafts", lambda row: bool(row["id"] == draft))

    def status_of(self, live: Row) -> tuple[str, str]:
        """(type, summary) of a live spec, as the status of a task is summed up."""
        name, spec = live["catalog_name"], live["spec"]
        if name in self._world.statuses:
            return self._world.statuses[name]
        if (spec.get("shards") or {}).get("disable"):
            return "TASK_DISABLED", "Task shards are disabled"
        if live["_active_from"] > self._world.clock.now():
            return "WARNING", "waiting on task activation"
        return "OK", "Ok"
