"""PostgREST: tables and functions over HTTP, with row-level rights."""

from __future__ import annotations

import json
from typing import Any

from tests.services.aws.messages import Answer, Request

from .errors import json_answer, pg
from .jobs import Jobs
from .pg_query import SINGLE, Query, parse, preferences, read_range, wants_single
from .pg_rpc import FUNCTIONS, Function
from .pg_tables import TABLES, VIEWS, Table, from_json, from_text, new_row, to_json
from .store import Row
from .world import Caller, World

ROOT = "/rest/v1/"


class PostgRest:
    """Answers requests below /rest/v1. Under the world's lock."""

    def __init__(self, world: World, jobs: Jobs) -> None:
        self._world, self._jobs = world, jobs

    @staticmethod
    def operation(request: Request) -> str:
        """What a request does, as logs and faults name it: `drafts.insert`, `rpc.auth_roles`."""
        name = request.path.removeprefix(ROOT)
        if name.startswith("rpc/"):
            return "rpc." + name[4:]
        verb = {"GET": "select", "HEAD": "select", "POST": "insert", "PATCH": "update", "DELETE": "delete"}
        return f"{name}.{verb.get(request.method, request.method)}"

    def perform(self, request: Request, caller: Caller) -> Answer:
        """The answer to an admitted request."""
        name = request.path.removeprefix(ROOT)
        if name.startswith("rpc/"):
            return self._call(request, caller, name[4:])
        table = TABLES.get(name)
        if table is None:
            raise pg(404, "PGRST205", f"Could not find the table 'public.{name}' in the schema cache")
        if not caller.known:
            raise pg(401, "42501", f"permission denied for table {name}")
        query = parse(request, name, table)
        if request.method in ("GET", "HEAD"):
            return self._select(name, table, query, caller)
        verb = {"POST": "i", "PATCH": "u", "DELETE": "d"}.get(request.method)
        if verb is None:
            raise pg(405, "PGRST117", f"Unsupported HTTP method: {request.method}")
        if verb not in table.verbs:
            raise pg(403, "42501", f"permission denied for {'view' if name in VIEWS else 'table'} {name}")
        if verb == "i":
            return self._insert(request, name, table, query, caller)
        rows = self._matching(name, table, query, caller)
        if not query.filters:
            raise pg(400, "21000", f"{'UPDATE' if verb == 'u' else 'DELETE'} requires a WHERE clause")
        if verb == "u":
            values = self._values(name, table, self._body(request), "u")
            for row in rows:
                self._world.store.change(row, **values, updated_at=self._world.now())
        else:
            for row in rows:
                self._delete(name, row)
        return self._written(rows, table, query, 200)

    # Reading.

    def _matching(self, name: str, table: Table, query: Query, caller: Caller) -> list[Row]:
        rows = [self._shown(name, row) for row in self._world.store.rows(VIEWS.get(name, name))]
        return [row for row in rows if table.visible(self._world, caller, row)
                and all(condition.holds(row) for condition in query.filters)]

    def _shown(self, name: str, row: Row) -> Row:
        if name != "draft_specs_ext":
            return row
        live = self._world.store.one("live_specs", catalog_name=row["catalog_name"])
        return {**row, "last_pub_id": live["last_pub_id"] if live else None}

    def _select(self, name: str, table: Table, query: Query, caller: Caller) -> Answer:
        if name == "connectors" and not self._world.settings.knows_bauplan:
            hidden = "/materialize-bauplan"
            rows = [row for row in self._matching(name, table, query, caller) if not row["image_name"].endswith(hidden)]
        else:
            rows = self._matching(name, table, query, caller)
        for column, falling in reversed(query.order):
            rows.sort(key=lambda row: (row[column] is None, row[column]), reverse=falling)
        return self._page([project(row, table, query) for row in rows], query)

    def _page(self, rows: list[Row], query: Query) -> Answer:
        most = self._world.settings.max_rows
        limit = most if query.limit is None else min(query.limit, most)
        page = rows[query.offset:query.offset + limit]
        if query.single:
            return single(page)
        exact = query.prefer.get("count") == "exact"
        total = str(len(rows)) if exact else "*"
        if exact and query.offset > len(rows):
            raise pg(416, "PGRST103", "Requested range not satisfiable",
                     f"An offset of {query.offset} was requested, but there are only {len(rows)} rows.")
        answer = json_answer(206 if exact and len(page) < len(rows) else 200, page, "application/json; charset=utf-8")
        span = f"{query.offset}-{query.offset + len(page) - 1}" if page else "*"
        answer.put("Content-Range", f"{span}/{total}")
        return answer

    # Writing.

    @staticmethod
    def _body(request: Request) -> Any:
        kind = (request.header("content-type") or "").split(";")[0].strip()
        if kind not in ("application/json", SINGLE):
            raise pg(415, "PGRST102", f"Content-Type not acceptable: {kind or 'none'}")
        try:
            return json.loads(request.body)
        except ValueError:
            raise pg(400, "PGRST102", "Empty or invalid json") from None

    @staticmethod
    def _values(name: str, table: Table, body: Any, right: str) -> Row:
        if not isinstance(body, dict):
            raise pg(400, "PGRST102", "Empty or invalid json")
        found = {}
        for column, value in body.items():
            if column not in table.columns:
                raise pg(400, "PGRST204", f"Could not find the '{column}' column of '{name}' in the schema cache")
            if right not in table.columns[column].rights:
                raise pg(403, "42501", f"permission denied for table {name}")
            found[column] = from_json(column, table.columns[column].type, value)
        return found

    def _insert(self, request: Request, name: str, table: Table, query: Query, caller: Caller) -> Answer:
        body = self._body(request)
        given = body if isinstance(body, list) else [body]
        if any(isinstance(row, dict) and row.keys() != given[0].keys() for row in given) and not query.given_columns:
            raise pg(400, "PGRST102", "All object keys must match")
        merging = query.prefer.get("resolution")
        conflict = query.on_conflict or table.key
        if query.on_conflict and set(query.on_conflict) != set(table.key):
            raise pg(400, "42P10", "there is no unique or exclusion constraint matching the ON CONFLICT specification")
        todo: list[tuple[Row | None, Row]] = []
        for one in given:
            values = self._values(name, table, one, "i")
            row = new_row(self._world, caller, name, values)
            if not table.insertable(self._world, caller, row):
                raise pg(403, "42501", f'new row violates row-level security policy for table "{name}"')
            before = self._world.store.one(name, **{column: row[column] for column in conflict})
            twice = any(all(other[column] == row[column] for column in conflict) for _, other in todo)
            if twice and merging == "merge-duplicates":
                raise pg(400, "21000", "ON CONFLICT DO UPDATE command cannot affect row a second time",
                         None, "Ensure that no rows proposed for insertion within the same command have duplicate "
                               "constrained values.")
            if (before or twice) and merging not in ("merge-duplicates", "ignore-duplicates"):
                values_said = ", ".join(str(to_json(table.columns[column].type, row[column])) for column in conflict)
                raise pg(409, "23505", "duplicate key value violates unique constraint "
                                       f'"{name}_{"_".join(conflict)}_key"',
                         f"Key ({', '.join(conflict)})=({values_said}) already exists.")
            todo.append((before, {**row, "_given": values}))
        self._check_references(name, todo)
        written = [self._put(name, before, row, merging) for before, row in todo]
        status = 200 if todo and all(before for before, _ in todo) else 201
        return self._written([row for row in written if row], table, query, status)

    def _check_references(self, name: str, todo: list[tuple[Row | None, Row]]) -> None:
        for _, row in todo:
            if name == "discovers" and not self._world.store.one("connector_tags", id=row["connector_tag_id"]):
                raise pg(409, "23503", 'insert or update on table "discovers" violates foreign key constraint '
                                       '"discovers_connector_tag_id_fkey"', 'Key is not present in table "connector_tags".')
            if name == "draft_specs" and (row["spec"] is None) != (row["spec_type"] is None):
                raise pg(400, "23514", 'new row for relation "draft_specs" violates check constraint '
                                       '"spec and spec_type must be consistent"')

    def _put(self, name: str, before: Row | None, row: Row, merging: str | None) -> Row | None:
        values = row.pop("_given")
        store = self._world.store
        if before:
            if merging == "ignore-duplicates":
                return None
            store.change(before, **values, updated_at=self._world.now())
            return before
        if name in ("discovers", "publications"):
            self._jobs.queue(name, row)
        return store.add(name, row)

    def _delete(self, name: str, row: Row) -> None:
        if name == "drafts":
            self._jobs.drop_draft(row["id"])
        else:
            self._world.store.remove(name, lambda other: other is row)

    def _written(self, rows: list[Row], table: Table, query: Query, status: int) -> Answer:
        if query.prefer.get("return") != "representation":
            return Answer(204 if status == 200 else status)
        found = [project(row, table, query) for row in rows]
        return single(found, status) if query.single else json_answer(status, found, "application/json; charset=utf-8")

    # Functions.

    def _call(self, request: Request, caller: Caller, name: str) -> Answer:
        function = FUNCTIONS.get(name)
        if request.method != "POST":
            raise pg(405, "PGRST101", "Cannot use the " + request.method + " method on RPC")
        body = self._body(request)
        if not isinstance(body, dict):
            raise pg(400, "PGRST102", "Empty or invalid json")
        if function is None or body.keys() - function.parameters.keys() or function.required - body.keys():
            listed = ", ".join(sorted(body))
            raise pg(404, "PGRST202", f"Could not find the function public.{name}({listed}) in the schema cache",
                     f"Searched for the function public.{name} with parameters {listed}, but no matches were found in "
                     "the schema cache.")
        if not caller.known and not function.anybody:
            raise pg(401, "42501", f"permission denied for function {name}")
        found = function.run(self._world, caller, _arguments(function, body))
        query = Query(prefer=preferences(request), single=wants_single(request))
        read_range(request, query)
        if function.rows:
            return self._page(found, query)
        return json_answer(200, found, "application/json; charset=utf-8")


def _arguments(function: Function, body: Row) -> Row:
    found = {}
    for name, kind in function.parameters.items():
        value = body.get(name, function.defaults.get(name))
        found[name] = from_text(kind, value) if isinstance(value, str) else value
    return found


def single(rows: list[Row], status: int = 200) -> Answer:
    """Exactly one row, or the refusal of any other number."""
    if len(rows) != 1:
        raise pg(406, "PGRST116", "JSON object requested, multiple (or no) rows returned", f"The result contains "
                                                                                           f"{len(rows)} rows")
    return json_answer(status, rows[0], SINGLE + "; charset=utf-8")


def project(row: Row, table: Table, query: Query) -> Row:
    """What of a row is shown."""
    columns = query.columns or [(name, name) for name in table.columns]
    return {alias: to_json(table.columns[name].type, row.get(name)) for alias, name in columns}
