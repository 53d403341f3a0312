"""From a key to a caller: users by their keys, sessions of roles by the keys that STS handed out."""

from __future__ import annotations

import base64
import secrets
import string
from collections.abc import Callable
from dataclasses import dataclass, field

from .clock import iso
from .directory import Directory, Entity
from .policies import Document, Principal
from .settings import Settings

_ID_LETTERS = string.ascii_uppercase + "234567"


def random_id(prefix: str, length: int = 16) -> str:
    """An identifier of the kind that IAM makes: a prefix that tells the type, then capitals and digits."""
    return prefix + "".join(secrets.choice(_ID_LETTERS) for _ in range(length))


def random_secret() -> str:
    """A secret key: 40 characters, `/` and `+` among them, as real ones have."""
    body = base64.b64encode(secrets.token_bytes(27)).decode()
    return "/" + body[:18] + "+" + body[18:36] + body[-2:]


@dataclass
class Session:
    """Temporary credentials."""

    key_id: str
    secret: str
    token: str
    expires: float
    #: What they act as: a role's session, or the user who asked for them.
    kind: str
    name: str
    session_name: str = ""
    policies: tuple[Document, ...] = ()
    context: tuple[tuple[str, tuple[str, ...]], ...] = ()
    chained: bool = False


@dataclass(frozen=True)
class Credential:
    """What a key id leads to: the secret to verify with, and who it is."""

    key_id: str
    secret: str
    active: bool = True
    user: str = ""
    session: Session | None = None


@dataclass
class Callers:
    """Looks up credentials and makes principals, each as the asked service sees IAM."""

    settings: Settings
    directory: Directory
    now: Callable[[], float]
    sessions: dict[str, Session] = field(default_factory=dict)

    def credential(self, key_id: str, service: str) -> Credential | None:
        """The credential behind a key id; None when this service does not know it (yet)."""
        session = self.sessions.get(key_id)
        if session:
            return Credential(key_id, session.secret, session=session)
        key = self.directory.seen_by(service).keys.get(key_id)
        if key is None:
            return None
        return Credential(key_id, key.secret, key.active, key.user)

    def used(self, credential: Credential, service: str, region: str) -> None:
        """Remember when and where a user's key was last used."""
        if credential.session is None:
            self.directory.key_used(credential.key_id, service, region)

    def open(self, session: Session) -> Session:
        """Hand out temporary credentials."""
        self.sessions[session.key_id] = session
        return session

    def principal(self, credential: Credential, service: str) -> Principal | None:
        """The caller with its policies as this service sees them; None when it is gone."""
        picture = self.directory.seen_by(service)
        session = credential.session
        if session is None or session.kind == "user":
            user = picture.users.get((session.name if session else credential.user).lower())
            return self._user(user, session) if user else None
        role = picture.roles.get(session.name.lower())
        return self._role(role, session) if role else None

    def _common(self, entity: Entity, arn: str, kind: str, user_id: str) -> dict[str, tuple[str, ...]]:
        context: dict[str, tuple[str, ...]] = {
            "aws:PrincipalArn": (entity.arn,),
            "aws:PrincipalAccount": (self.settings.account,),
            "aws:PrincipalType": (kind,),
            "aws:userid": (user_id,),
        }
        for key, value in entity.tags:
            context[f"aws:PrincipalTag/{key}"] = (value,)
        return context

    def _user(self, user: Entity, session: Session | None) -> Principal:
        context = self._common(user, user.arn, "User", user.id)
        context["aws:username"] = (user.name,)
        if session:
            context.update(dict(session.context))
        return Principal(
            user.arn,
            self.settings.account,
            "user",
            user.id,
            user.name,
            user.arn,
            user.documents,
            user.boundary,
            context=tuple(context.items()),
        )

    def role_session(self, role: Entity, session_name: str) -> Principal:
        """A role as a service that has assumed it acts: the session of a job run."""
        return self._role(role, Session("", "", "", 0.0, "role", role.name, session_name))

    def _role(self, role: Entity, session: Session) -> Principal:
        settings = self.settings
        arn = f"arn:{settings.partition}:sts::{settings.account}:assumed-role/{role.name}/{session.session_name}"
        user_id = f"{role.id}:{session.session_name}"
        context = self._common(role, arn, "AssumedRole", user_id)
        context.update(dict(session.context))
        return Principal(
            arn,
            settings.account,
            "role",
            user_id,
            role.name,
            role.arn,
            role.documents,
            role.boundary,
            session.policies,
            tuple(context.items()),
        )

    def service(self, name: str) -> Principal:
        """An AWS service as it knocks at a trust document."""
        return Principal(name, self.settings.account, "service", name, name, name)


def new_session(
    kind: str,
    name: str,
    session_name: str,
    expires: float,
    policies: tuple[Document, ...] = (),
    context: dict[str, tuple[str, ...]] | None = None,
    chained: bool = False,
) -> Session:
    """Fresh temporary credentials."""
    token = base64.b64encode(secrets.token_bytes(256)).decode()
    return Session(
        random_id("ASIA"),
        random_secret(),
        "IQoJb3JpZ2luX2VjE" + token,
        expires,
        kind,
        name,
        session_name,
        policies,
        tuple((context or {}).items()),
        chained,
    )


def credentials_xml(session: Session) -> str:
    """The Credentials element of STS's answers."""
    return (
        f"<Credentials><AccessKeyId>{session.key_id}</AccessKeyId>"
        f"<SecretAccessKey>{session.secret}</SecretAccessKey>"
        f"<SessionToken>{session.token}</SessionToken>"
        f"<Expiration>{iso(session.expires)}</Expiration></Credentials>"
    )
