"""The control-plane API's plain REST calls: the token exchange and the status of specs."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

from tests.services.aws.messages import Answer, Request

from . import tokens
from .errors import denied, json_answer, plain
from .jobs import Jobs
from .store import Row
from .world import Caller, World

TOKEN, STATUS = "/api/v1/auth/token", "/api/v1/catalog/status"
_UNKNOWN = "invalid, expired, or unknown credential"
_STATES = {"OK": "Ok", "WARNING": "Warning", "ERROR": "Error", "TASK_DISABLED": "TaskDisabled"}


def exchange(world: World, request: Request) -> Answer:
    """POST /api/v1/auth/token."""
    if request.method != "POST":
        raise plain(405, "Method Not Allowed")
    try:
        asked: Any = json.loads(request.body)
    except ValueError:
        asked = None
    if not isinstance(asked, dict) or asked.get("grant_type") != "refresh_token":
        raise plain(400, 'Input validation error: ["grant_type"]')
    missing = [name for name in ("refresh_token_id", "secret") if not isinstance(asked.get(name), str)]
    if missing:
        raise plain(400, f"Input validation error: {json.dumps(missing)}")
    try:
        return json_answer(200, tokens.exchange(world, asked["refresh_token_id"], asked["secret"]))
    except tokens.BadToken:
        raise plain(401, _UNKNOWN, "credential") from None


def status(world: World, jobs: Jobs, request: Request, caller: Caller) -> Answer:
    """GET /api/v1/catalog/status?name=…&name=…"""
    if request.method != "GET":
        raise plain(405, "Method Not Allowed")
    if not caller.known:
        raise plain(401, "missing bearer token")
    names = [value for key, value in parse_qsl(request.query) if key == "name"]
    if not names:
        raise plain(400, 'Input validation error: ["name"]')
    found: list[Row] = []
    for name in names:
        if not world.may(caller, name, "read"):
            raise denied(f"you do not have read access to {name}", ["CatalogRead"])
        live = world.store.one("live_specs", catalog_name=name)
        if live is None:
            raise plain(404, f"no status found for {name}")
        kind, summary = jobs.status_of(live)
        found.append({
            "catalog_name": name, "live_spec_id": live["id"], "spec_type": live["spec_type"],
            "disabled": kind == "TASK_DISABLED", "last_pub_id": live["last_pub_id"],
            "last_build_id": live["last_build_id"], "live_spec_updated_at": live["updated_at"],
            "summary": {"status": _STATES[kind], "message": summary}})
    return json_answer(200, found)
