"""Who exists in IAM and what they may do, as each service sees it: at once, or some time after the change.

IAM is eventually consistent. After every change the whole picture is kept with its time; a service with a
delay judges by the newest picture that is old enough. That one rule gives keys that are not yet known, policies
that do not yet count, roles that cannot yet be assumed, and keys that still work after their deletion.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any
from urllib.parse import unquote

from moto.iam.models import AccessKeyLastUsed

from .backend import Backend
from .clock import Clock
from .policies import Document
from .settings import Settings


@dataclass(frozen=True)
class Entity:
    """A user or a role."""

    kind: str
    name: str
    arn: str
    id: str
    documents: tuple[Document, ...]
    boundary: Document | None
    tags: tuple[tuple[str, str], ...]
    trust: Document | None = None
    max_session: int = 3600
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class Key:
    """An access key of a user."""

    id: str
    secret: str
    user: str
    active: bool


@dataclass(frozen=True)
class Picture:
    """Everything authorization depends on, at one moment."""

    users: dict[str, Entity] = field(default_factory=dict)
    roles: dict[str, Entity] = field(default_factory=dict)
    keys: dict[str, Key] = field(default_factory=dict)

    def role_by_arn(self, arn: str) -> Entity | None:
        """The role with exactly this ARN (path included)."""
        role = self.roles.get(arn.rpartition("/")[2].lower())
        return role if role and role.arn == arn else None

    def has_principal(self, arn: str) -> bool:
        """Whether an ARN names a user or a role of this picture."""
        return any(e.arn == arn for e in (*self.users.values(), *self.roles.values()))


class Directory:
    """The pictures over time, read from moto's IAM."""

    def __init__(self, backend: Backend, settings: Settings, clock: Clock) -> None:
        self._backend, self._settings, self._clock = backend, settings, clock
        self._history: list[tuple[float, Picture]] = []

    def start(self) -> None:
        """Take the first picture: what it shows has always been so."""
        self._history = [(float("-inf"), self._take())]

    def changed(self) -> None:
        """Take a picture after a change in IAM; forget those that no service can still need."""
        now = self._clock.now()
        self._history.append((now, self._take()))
        longest = max([*self._settings.propagation.values(), 0.0])
        old = [i for i, (when, _) in enumerate(self._history) if when <= now - longest]
        if old:
            self._history = self._history[old[-1] :]

    def key_used(self, key_id: str, service: str, region: str) -> None:
        """What GetAccessKeyLastUsed will tell: moto notes it only for the calls that reach it."""
        key = self._backend.model("iam").access_keys.get(key_id)
        if key is not None:
            key.last_used = AccessKeyLastUsed(datetime.now(timezone.utc).replace(tzinfo=None), service, region)

    def settle(self) -> None:
        """Make the present picture the only one: every change so far has reached every service."""
        self._history = [(float("-inf"), self._history[-1][1])]

    def now(self) -> Picture:
        """The picture without any delay."""
        return self._history[-1][1]

    def seen_by(self, service: str, at: float | None = None) -> Picture:
        """The picture as a service has it (or had it at a moment)."""
        edge = (self._clock.now() if at is None else at) - self._settings.delay(service)
        for when, picture in reversed(self._history):
            if when <= edge:
                return picture
        return self._history[0][1]

    def _take(self) -> Picture:
        iam = self._backend.model("iam")
        groups = {group.name: ([u.name for u in group.users], self._documents(group)) for group in iam.groups.values()}
        users, keys = {}, {}
        for user in iam.users.values():
            member_of = [name for name, (members, _) in groups.items() if user.name in members]
            documents = self._documents(user)
            for name in member_of:
                documents += groups[name][1]
            tags = tuple((t["Key"], t["Value"]) for t in user.tags or ())
            boundary = self._boundary(iam, getattr(user, "permissions_boundary", None))
            users[user.name.lower()] = Entity(
                "user", user.name, user.arn, user.id, documents, boundary, tags, groups=tuple(member_of)
            )
            for key in user.access_keys:
                active = key.status == "Active"
                keys[key.access_key_id] = Key(key.access_key_id, key.secret_access_key, user.name, active)
        roles = {}
        for role in iam.roles.values():
            tags = tuple((t["Key"], t["Value"]) for t in role.tags or ())
            trust = Document("trust", _plain(role.assume_role_policy_document))
            roles[role.name.lower()] = Entity(
                "role",
                role.name,
                role.arn,
                role.id,
                self._documents(role),
                self._boundary(iam, role.permissions_boundary),
                tags,
                trust,
                int(role.max_session_duration or 3600),
            )
        return Picture(users, roles, keys)

    @staticmethod
    def _documents(holder: Any) -> tuple[Document, ...]:
        inline = tuple(Document(name, _plain(text)) for name, text in holder.policies.items())
        attached = tuple(Document(p.arn, _default_text(p)) for p in holder.managed_policies.values())
        return inline + attached

    @staticmethod
    def _boundary(iam: Any, boundary: dict[str, str] | None) -> Document | None:
        if not boundary:
            return None
        arn = boundary["PermissionsBoundaryArn"]
        policy = iam.managed_policies.get(arn)
        return Document(arn, _default_text(policy)) if policy else Document(arn, '{"Statement":[]}')


def _plain(text: str) -> str:
    return unquote(text) if text.lstrip().startswith("%") else text


def _default_text(policy: Any) -> str:
    for version in policy.versions:
        if version.is_default:
            return _plain(version.document)
    return '{"Statement":[]}'
