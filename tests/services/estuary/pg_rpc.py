"""The database's functions that PostgREST shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import tokens
from .errors import pg
from .store import Row, colons
from .world import LEVELS, Caller, World


@dataclass(frozen=True)
class Function:
    """parameters: name -> type; rows: whether it returns a set; anybody: whether no login is needed."""

    run: Callable[[World, Caller, Row], Any]
    parameters: dict[str, str]
    defaults: Row = field(default_factory=dict)
    rows: bool = False
    anybody: bool = False

    @property
    def required(self) -> set[str]:
        """Parameters without a default."""
        return set(self.parameters) - set(self.defaults)


def _generate_access_token(world: World, caller: Caller, given: Row) -> Row:
    try:
        found = tokens.exchange(world, str(given["refresh_token_id"]), str(given["secret"]))
    except tokens.BadToken as wrong:
        raise pg(400, "P0001", str(wrong)) from None
    if "refresh_token" in found:
        found["refresh_token"]["id"] = colons(found["refresh_token"]["id"])
    return found


def _create_refresh_token(world: World, caller: Caller, given: Row) -> Row:
    try:
        valid_for = tokens.interval(str(given["valid_for"]))
    except ValueError as wrong:
        raise pg(400, "22007", str(wrong)) from None
    made = tokens.make_refresh(world, caller.user_id, bool(given["multi_use"]), valid_for, given["detail"])
    return {**made, "id": colons(made["id"])}


def _auth_roles(world: World, caller: Caller, given: Row) -> list[Row]:
    if given["min_capability"] not in LEVELS[1:]:
        raise pg(400, "22P02", f'invalid input value for enum grant_capability: "{given["min_capability"]}"')
    least = LEVELS.index(given["min_capability"])
    return [{"role_prefix": prefix, "capability": level} for prefix, level in sorted(world.roles(caller).items())
            if LEVELS.index(level) >= least]


def _prune(world: World, caller: Caller, given: Row) -> list[Row]:
    draft = given["prune_draft_id"]
    if not world.store.one("drafts", id=draft, user_id=caller.user_id):
        return []
    pruned = []
    for row in world.store.rows("draft_specs", draft_id=draft):
        live = world.store.one("live_specs", catalog_name=row["catalog_name"])
        if live and live["spec"] == row["spec"] and live["spec_type"] == row["spec_type"]:
            pruned.append({"catalog_name": row["catalog_name"], "spec_type": row["spec_type"]})
    names = {row["catalog_name"] for row in pruned}
    world.store.remove("draft_specs", lambda row: row["draft_id"] == draft and row["catalog_name"] in names)
    return pruned


def _view_logs(world: World, caller: Caller, given: Row) -> list[Row]:
    now = world.clock.now()
    return [{key: row[key] for key in ("token", "stream", "logged_at", "log_line")}
            for row in world.store.rows("logs", token=given["bearer_token"]) if row["_seen_from"] <= now]


FUNCTIONS = {
    "generate_access_token": Function(_generate_access_token, {"refresh_token_id": "flowid", "secret": "text"},
                                      anybody=True),
    "create_refresh_token": Function(_create_refresh_token, {"multi_use": "bool", "valid_for": "text", "detail": "text"},
                                     {"multi_use": False, "detail": None}),
    "auth_roles": Function(_auth_roles, {"min_capability": "text"}, {"min_capability": "read"}, rows=True),
    "prune_unchanged_draft_specs": Function(_prune, {"prune_draft_id": "flowid"}, rows=True),
    "view_logs": Function(_view_logs, {"bearer_token": "uuid"}, rows=True),
}
