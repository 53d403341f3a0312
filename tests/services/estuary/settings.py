"""What can be chosen about the stand-in: how long things take, what it knows, how far its connectors reach.

Everything may be changed while it runs, in Python or through the control endpoint."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any


@dataclass
class Life:
    """Seconds, on the stand-in's clock, until something that was asked for has happened."""

    discover: float = 1.0
    publish: float = 1.5
    activate: float = 2.0
    #: How much later than its job's end a job's last log lines can be read.
    logs: float = 0.0


@dataclass
class Settings:
    """One tenant's view of the control plane."""

    email: str = "alice@acme.example"
    tenant: str = "acmeCo/"
    life: Life = field(default_factory=Life)
    access_token_life: int = 3600
    #: Whether the control plane lists Bauplan's variant of the Iceberg connector (public material does not say).
    knows_bauplan: bool = True
    #: The tag by which Bauplan's variant is listed: another than :v1 plays a fallback to the default tag.
    bauplan_tag: str = ":v1"
    #: Most rows of one answer; most nodes of one GraphQL page whatever `first` says.
    max_rows: int = 1000
    page_size: int | None = None
    #: Whether a sealed config names the unused groups of keys with null.
    sealed_nulls: bool = True
    #: Whether discovery and validation of a capture ask the PostgreSQL that its config names; else `tables` is it.
    reach_postgres: bool = True
    #: Whether validation of a materialization asks its catalog for a token and its config.
    reach_catalog: bool = False
    #: Where validation of a materialization finds AWS; empty: it does not ask. The bucket's region is asked for with a
    #: HEAD of the bucket at this endpoint, in path style.
    aws_url: str = ""
    #: A certificate authority that connectors trust besides the system's; "sandbox" is the stand-in's own.
    connector_ca: str = "sandbox"
    connect_timeout: int = 5
    #: What discovery finds without PostgreSQL: {"schema", "table", "columns": {name: type}, "key": [names]}.
    tables: list[dict[str, Any]] = field(default_factory=lambda: [
        {"schema": "public", "table": "orders", "columns": {"id": "int8", "note": "text"}, "key": ["id"]},
        {"schema": "public", "table": "Order Items", "columns": {"order_id": "int8", "sku": "text"},
         "key": ["order_id", "sku"]},
        {"schema": "public", "table": "clicks", "columns": {"at": "timestamptz"}, "key": []},
    ])
    #: Whether the connector's whole JSON schemas are used where they lie beside the repository.
    whole_schemas: bool = True
    #: Whether a secret staged in clear is all right. It is not: it makes check() fail.
    allow_clear: bool = False
    #: Requests that one caller may make in `rate_window` seconds; 0: any number. One more is answered 429.
    rate_limit: int = 0
    rate_window: float = 10.0
    #: Seconds by which the service's wall clock differs from this machine's.
    skew: float = 0.0
    keep_alive: float = 60.0

    def update(self, changes: dict[str, Any]) -> None:
        """Change settings by name; an unknown name is a mistake of the test and refused."""
        known = {f.name for f in fields(self)}
        for name, value in changes.items():
            if name not in known:
                raise ValueError(f"no such setting: {name}")
            if name != "life":
                setattr(self, name, value)
                continue
            for part, seconds in value.items():
                if not hasattr(self.life, part):
                    raise ValueError(f"no such part of life: {part}")
                setattr(self.life, part, float(seconds))
