"""What every part of the stand-in shares: the tables, the clock, the keys, who may do what."""

from __future__ import annotations

import datetime
import secrets
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.services.aws.clock import Clock

from .age import Identity
from .settings import Settings
from .store import Row, Store, new_id

LEVELS = ("none", "read", "write", "admin")


@dataclass(frozen=True)
class Caller:
    """Who asks: a user by an access token, or anybody."""

    user_id: str = ""
    email: str = ""

    @property
    def known(self) -> bool:
        """Whether it is a user."""
        return bool(self.user_id)


ANYBODY = Caller()


@dataclass
class World:
    """One control plane."""

    settings: Settings
    clock: Clock
    store: Store = field(default_factory=Store)
    identity: Identity = field(default_factory=Identity.new)
    jwt_secret: str = field(default_factory=lambda: secrets.token_hex(32))
    lock: Any = field(default_factory=threading.RLock)
    #: Secrets that a client sent in clear where they are kept: what, of which spec.
    clear: list[str] = field(default_factory=list)
    #: What the next jobs do instead of what they would: see jobs.py.
    next_discovers: list[Row] = field(default_factory=list)
    next_publications: list[Row] = field(default_factory=list)
    #: Task status by name, in place of the usual one: (type, summary).
    statuses: dict[str, tuple[str, str]] = field(default_factory=dict)
    #: A certificate authority's file that connectors trust.
    ca_file: Path | None = None

    def wall(self) -> float:
        """The service's wall clock: what HTTP dates and a sealed config's date come from."""
        return time.time() + self.settings.skew

    def now(self) -> str:
        """The present, as the database writes it."""
        return stamp(self.clock.now())

    def user(self, email: str) -> Row:
        """The user of that address, made when there is none."""
        found = self.store.one("users", email=email)
        return found or self.store.add("users", {"id": new_uuid(), "email": email})

    # Rights.

    def roles(self, caller: Caller) -> dict[str, str]:
        """Every prefix that a caller has a capability on, with the highest one: its own grants, and through prefixes
        where it is admin what those have been granted."""
        found: dict[str, str] = {}
        todo = [(row["object_role"], row["capability"]) for row in
                self.store.rows("user_grants", user_id=caller.user_id)]
        while todo:
            prefix, capability = todo.pop()
            if LEVELS.index(found.get(prefix, "none")) >= LEVELS.index(capability):
                continue
            found[prefix] = capability
            if capability == "admin":
                todo += [(row["object_role"], row["capability"]) for row in self.store.rows("role_grants")
                         if row["subject_role"].startswith(prefix) or prefix.startswith(row["subject_role"])]
        return found

    def capability(self, caller: Caller, name: str) -> str:
        """The highest capability on a name or prefix."""
        return max((level for prefix, level in self.roles(caller).items() if name.startswith(prefix)),
                   key=LEVELS.index, default="none")

    def may(self, caller: Caller, name: str, least: str) -> bool:
        """Whether a caller has at least this capability on a name."""
        return LEVELS.index(self.capability(caller, name)) >= LEVELS.index(least)

    def spec_grants(self, name: str) -> list[Row]:
        """What a spec of this name may use: grants of roles, not of users."""
        return [{key: row[key] for key in ("subject_role", "object_role", "capability")}
                for row in self.store.rows("role_grants") if name.startswith(row["subject_role"])]

    def spec_may(self, name: str, other: str, least: str) -> bool:
        """Whether a spec may read or write another."""
        return any(other.startswith(grant["object_role"]) and LEVELS.index(grant["capability"]) >= LEVELS.index(least)
                   for grant in self.spec_grants(name))

    # Look-ups that several parts make.

    def mapping(self, name: str) -> Row | None:
        """The storage mapping that covers a name: the longest prefix."""
        covering = [row for row in self.store.rows("storage_mappings") if name.startswith(row["catalog_prefix"])]
        return max(covering, key=lambda row: len(row["catalog_prefix"]), default=None)

    def tag(self, image: str, tag: str) -> Row | None:
        """A connector's tag."""
        connector = self.connector(image)
        return connector and self.store.one("connector_tags", connector_id=connector["id"], image_tag=tag)

    def connector(self, image: str) -> Row | None:
        """A connector by its image's name."""
        if image.endswith("/materialize-bauplan") and not self.settings.knows_bauplan:
            return None
        return self.store.one("connectors", image_name=image)


def stamp(seconds: float) -> str:
    """A moment as the database writes it."""
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat(timespec="microseconds")


def seconds(text: str) -> float:
    """The moment that stamp() wrote."""
    return datetime.datetime.fromisoformat(text).timestamp()


def new_uuid() -> str:
    """A random UUID."""
    import uuid

    return str(uuid.uuid4())


__all__ = ["ANYBODY", "Caller", "LEVELS", "World", "new_id", "new_uuid", "seconds", "stamp"]
