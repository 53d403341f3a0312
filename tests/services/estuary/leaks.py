"""Secrets in clear where they would be kept: in drafted specs and in discovers. The service takes them; a client of
ours must never send them."""

from __future__ import annotations

import json
from typing import Any

from . import names, sealing
from .world import World


def found(world: World, operation: str, body: bytes) -> list[str]:
    """What lies open in the rows of a request: which place of which spec, never the value."""
    if operation not in ("draft_specs.insert", "draft_specs.update", "discovers.insert"):
        return []
    try:
        rows = json.loads(body)
    except ValueError:
        return []
    said = []
    for row in rows if isinstance(rows, list) else [rows]:
        if isinstance(row, dict):
            schema, config = _config(world, row)
            if schema is not None and config is not None:
                name = row.get("catalog_name") or row.get("capture_name")
                said += [f"{operation}: {name}: {pointer} in clear" for pointer in sealing.clear_secrets(schema, config)]
    return said


def _config(world: World, row: dict[str, Any]) -> tuple[Any, Any]:
    if "endpoint_config" in row:
        tag = world.store.one("connector_tags", id=str(row.get("connector_tag_id")).replace(":", ""))
        return tag and tag["endpoint_spec_schema"], row["endpoint_config"]
    try:
        connector = row["spec"]["endpoint"]["connector"]
        parts = names.split_image(connector["image"])
        tag = world.tag(*parts) if parts else None
        return tag and tag["endpoint_spec_schema"], connector["config"]
    except (KeyError, TypeError):
        return None, None
