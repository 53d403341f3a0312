"""What every service of the stand-in is: it names the permissions a call needs, and carries the call out."""

from __future__ import annotations

from dataclasses import dataclass
from xml.sax.saxutils import escape

from .backend import Backend
from .callers import Callers, Credential
from .clock import Clock
from .directory import Directory
from .errors import QUERY_NAMESPACES, AwsError
from .messages import Answer, Call, Defect
from .policies import Need, Principal
from .settings import Settings


@dataclass
class World:
    """What the services share."""

    settings: Settings
    clock: Clock
    backend: Backend
    directory: Directory
    callers: Callers

    @property
    def account(self) -> str:
        """The account's number."""
        return self.settings.account

    def arn(self, service: str, region: str, rest: str) -> str:
        """An ARN of this account."""
        return f"arn:{self.settings.partition}:{service}:{region}:{self.account}:{rest}"


@dataclass(frozen=True)
class Caller:
    """Who calls: the verified credential and the principal it stands for."""

    credential: Credential
    principal: Principal

    @property
    def key_for_moto(self) -> str:
        """The key id moto needs to find the calling user."""
        return self.credential.key_id if self.credential.session is None else ""


class Service:
    """The default: judge by the subclass's needs, then let moto do it."""

    name = ""
    #: Operations that change nothing, by the beginning of their name.
    reading: tuple[str, ...] = ("Get", "List", "Describe", "Head", "Simulate")

    def __init__(self, world: World) -> None:
        self.world = world

    def writes(self, call: Call) -> bool:
        """Whether a call may change something."""
        return not call.operation.startswith(self.reading)

    def needs(self, call: Call, caller: Caller) -> list[Need]:
        """The permissions a call needs, in the order they are asked. Raises AwsError for an invalid call."""
        raise NotImplementedError

    def perform(self, call: Call, caller: Caller) -> Answer:
        """Carry the call out."""
        return self.forward(call, caller)

    def forward(self, call: Call, caller: Caller | None, target: str | None = None) -> Answer:
        """Let moto carry it out, with the body as the service sees it."""
        headers = call.request.headers + call.trailers
        return self.world.backend.forward(
            call.service,
            call.region,
            call.request.method,
            target or call.request.target,
            headers,
            call.payload,
            caller.key_for_moto if caller else "",
        )

    def unknown(self, call: Call) -> Defect:
        """The complaint about an operation that the stand-in does not have."""
        return Defect(f"{call.action} is not part of the stand-in")


def xml_answer(call: Call, inner: str) -> Answer:
    """A successful answer of a query protocol; the front puts the request id in."""
    name = call.operation
    result = f"<{name}Result>{inner}</{name}Result>" if inner else ""
    body = (
        f'<{name}Response xmlns="{QUERY_NAMESPACES[call.service]}">{result}'
        f"<ResponseMetadata><RequestId></RequestId></ResponseMetadata></{name}Response>"
    )
    return Answer(200, [("Content-Type", "text/xml")], body.encode())


def element(name: str, value: str) -> str:
    """One XML element with text."""
    return f"<{name}>{escape(value)}</{name}>"


def invalid(parameter: str, value: str, constraint: str) -> AwsError:
    """The text of a failed model constraint, as all services write it."""
    text = f"1 validation error detected: Value '{value}' at '{parameter}' failed to satisfy constraint: {constraint}"
    return AwsError("ValidationError", text, 400)
