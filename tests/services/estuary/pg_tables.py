"""The tables that PostgREST shows: columns with their types, which a client may write, which rows it may see.

Only what a client of the documented calls needs. A column that is not here does not exist."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import names
from .errors import ApiError, pg
from .store import Row, colons, new_id
from .world import Caller, World

Judge = Callable[[World, Caller, Row], bool]
_ID = re.compile(r"[0-9a-f]{16}")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SPEC_TYPES = ("capture", "collection", "materialization", "test")


@dataclass(frozen=True)
class Column:
    """type: flowid, uuid, text, bool, int, json, timestamp, name, prefix, spec_type, texts. rights: letters of what a
    client may do besides reading: i(nsert), u(pdate)."""

    type: str
    rights: str = ""
    required: bool = False


@dataclass(frozen=True)
class Table:
    """visible: which rows a user sees; insertable: which a user may add; key: a unique set of columns; owner: filled
    with the caller's id."""

    columns: dict[str, Column]
    visible: Judge
    insertable: Judge = lambda *_: False
    verbs: str = ""                       # of i, u, d
    key: tuple[str, ...] = ()
    owner: str = ""
    defaults: dict[str, Any] = field(default_factory=dict)


def _columns(text: str) -> dict[str, Column]:
    """`name:type`, `name:type:iu`, `name:type:i!` (must be given)."""
    found = {}
    for word in text.split():
        name, kind, *more = word.split(":")
        rights = more[0] if more else ""
        found[name] = Column(kind, rights.rstrip("!"), rights.endswith("!"))
    return found


_TIMES = " created_at:timestamp updated_at:timestamp"


def _may_read(column: str) -> Judge:
    return lambda world, caller, row: world.may(caller, row[column], "read")


def _any_user(world: World, caller: Caller, row: Row) -> bool:
    return caller.known


def _own(column: str) -> Judge:
    return lambda world, caller, row: bool(row[column] == caller.user_id)


def _own_draft(world: World, caller: Caller, row: Row) -> bool:
    return world.store.one("drafts", id=row["draft_id"], user_id=caller.user_id) is not None


_SPEC_COLUMNS = ("draft_id:flowid:i! catalog_name:name:i! spec_type:spec_type:iu spec:json:iu "
                 "expect_pub_id:flowid:iu detail:text:iu built_spec:json validated:json" + _TIMES)
TABLES = {
    "connectors": Table(_columns("id:flowid image_name:text external_url:text title:json detail:text recommended:bool "
                                 "created_at:timestamp"), _any_user),
    "connector_tags": Table(_columns("id:flowid connector_id:flowid image_tag:text protocol:text documentation_url:text "
                                     "endpoint_spec_schema:json resource_spec_schema:json job_status:json "
                                     "default_capture_interval:text created_at:timestamp"), _any_user),
    "data_planes": Table(_columns("id:flowid data_plane_name:name data_plane_fqdn:text reactor_address:text "
                                  "cidr_blocks:texts gcp_service_account_email:text aws_iam_user_arn:text "
                                  "created_at:timestamp"), _may_read("data_plane_name")),
    "storage_mappings": Table(_columns("id:flowid catalog_prefix:prefix detail:text spec:json" + _TIMES),
                              _may_read("catalog_prefix")),
    "live_specs_ext": Table(_columns("id:flowid catalog_name:name spec_type:spec_type spec:json last_pub_id:flowid "
                                     "last_build_id:flowid" + _TIMES), _may_read("catalog_name")),
    "drafts": Table(_columns("id:flowid user_id:uuid detail:text:iu" + _TIMES), _own("user_id"), _own("user_id"), "iud",
                    ("id",), "user_id"),
    "draft_specs": Table(_columns(_SPEC_COLUMNS), _own_draft, _own_draft, "iud", ("draft_id", "catalog_name")),
    "draft_specs_ext": Table(_columns(_SPEC_COLUMNS.replace(":iu", "").replace(":i!", "") + " last_pub_id:flowid"),
                             _own_draft),
    "draft_errors": Table(_columns("draft_id:flowid scope:text detail:text"), _own_draft),
    "discovers": Table(_columns("id:flowid draft_id:flowid:i! capture_name:name:i! connector_tag_id:flowid:i! "
                                "endpoint_config:json:i! update_only:bool:i data_plane_name:text:i detail:text:i "
                                "job_status:json logs_token:uuid" + _TIMES), _own_draft, _own_draft, "i", ("id",),
                       defaults={"update_only": False}),
    "publications": Table(_columns("id:flowid user_id:uuid draft_id:flowid:i! dry_run:bool:i detail:text:i "
                                   "data_plane_name:text:i job_status:json logs_token:uuid" + _TIMES), _own("user_id"),
                          lambda world, caller, row: _own_draft(world, caller, row) and row["user_id"] == caller.user_id,
                          "i", ("id",), "user_id", {"dry_run": False}),
}
#: View -> the table whose rows it shows.
VIEWS = {"live_specs_ext": "live_specs", "draft_specs_ext": "draft_specs"}


def _bad(kind: str, text: str) -> ApiError:
    said = {"flowid": "macaddr8", "bool": "boolean", "int": "integer", "spec_type": "enum catalog_spec_type"}.get(kind, kind)
    return pg(400, "22P02", f'invalid input syntax for type {said}: "{text}"')


def from_text(kind: str, text: str) -> Any:
    """A value as a filter writes it."""
    if kind == "flowid":
        plain = text.replace(":", "").replace("-", "").lower()
        if not _ID.fullmatch(plain):
            raise _bad(kind, text)
        return plain
    if kind == "uuid":
        if not _UUID.fullmatch(text.lower()):
            raise _bad(kind, text)
        return text.lower()
    if kind == "bool":
        if text.lower() not in ("true", "false", "t", "f"):
            raise _bad(kind, text)
        return text.lower() in ("true", "t")
    return text


def from_json(name: str, kind: str, value: Any) -> Any:
    """A value as a body writes it."""
    if value is None or kind == "json":
        return value
    if kind == "bool":
        return value if isinstance(value, bool) else from_text(kind, str(value))
    if kind in ("int", "texts"):
        return value
    text = value if isinstance(value, str) else json.dumps(value)
    if kind in ("flowid", "uuid"):
        return from_text(kind, text)
    if kind in ("name", "prefix"):
        if not (names.is_name(text) if kind == "name" else names.is_prefix(text)):
            raise pg(400, "23514", f"value for domain catalog_{kind} violates check constraint "
                                   f'"Must be a valid catalog {kind}"')
    if kind == "spec_type" and text not in _SPEC_TYPES:
        raise pg(400, "22P02", f'invalid input value for enum catalog_spec_type: "{text}"')
    return text


def to_json(kind: str, value: Any) -> Any:
    """A value as an answer writes it."""
    return colons(value) if kind == "flowid" and isinstance(value, str) else value


def new_row(world: World, caller: Caller, name: str, given: Row) -> Row:
    """A row with everything that a client does not give."""
    table = TABLES[name]
    row: Row = {column: given.get(column, table.defaults.get(column)) for column in table.columns}
    if "id" in row:
        row["id"] = new_id()
    if table.owner:
        row[table.owner] = caller.user_id
    now = world.now()
    row.update({column: now for column in ("created_at", "updated_at") if column in row})
    row["_user"] = caller.user_id
    for column, about in table.columns.items():
        if about.required and row[column] is None:
            raise pg(400, "23502", f'null value in column "{column}" of relation "{name}" violates not-null constraint',
                     "Failing row contains (…).")
    return row
