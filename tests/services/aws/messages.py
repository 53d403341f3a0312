"""What travels between the parts of the stand-in: a request as received, a call as understood, an answer."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

Headers = list[tuple[str, str]]


@dataclass
class Request:
    """One HTTP request, byte for byte as far as signatures care: raw target, headers in order, body."""

    method: str
    target: str
    headers: Headers
    body: bytes
    connection: int = 0
    number_on_connection: int = 1
    pinned_region: str | None = None
    secure: bool = True

    @property
    def path(self) -> str:
        """The path, still encoded."""
        return self.target.split("?", 1)[0] or "/"

    @property
    def query(self) -> str:
        """The query, still encoded."""
        return self.target.split("?", 1)[1] if "?" in self.target else ""

    def all(self, name: str) -> list[str]:
        """Every value of a header, in the order received."""
        return [value for key, value in self.headers if key.lower() == name]

    def header(self, name: str) -> str | None:
        """The first value of a header (name in lower case)."""
        found = self.all(name)
        return found[0] if found else None

    @property
    def body_hash(self) -> str:
        """SHA-256 of the body as sent."""
        return hashlib.sha256(self.body).hexdigest()


def split_query(query: str) -> list[tuple[str, str]]:
    """Names and values of a query, decoded; `+` is itself, as in signatures."""
    pairs = []
    for piece in query.split("&"):
        if piece:
            name, _, value = piece.partition("=")
            pairs.append((unquote(name), unquote(value)))
    return pairs


@dataclass
class Answer:
    """One HTTP answer before it is sent."""

    status: int
    headers: Headers = field(default_factory=list)
    body: bytes = b""

    def header(self, name: str) -> str | None:
        """The first value of a header (name in lower case)."""
        for key, value in self.headers:
            if key.lower() == name:
                return value
        return None

    def put(self, name: str, value: str) -> None:
        """Set a header, in place of any of that name."""
        self.headers = [(k, v) for k, v in self.headers if k.lower() != name.lower()]
        self.headers.append((name, value))


@dataclass
class Delivery:
    """How an answer goes out: whole and at once, or as a fault wants it."""

    drop: bool = False
    delay: float = 0.0
    dribble: float = 0.0
    keep_bytes: int | None = None
    date_shift: float = 0.0
    close: bool = False


@dataclass
class Call:
    """A request, understood: which operation of which service, on what, for which region."""

    request: Request
    service: str
    protocol: str
    operation: str
    region: str
    pinned_region: str | None = None
    params: dict[str, Any] = field(default_factory=dict)
    query: list[tuple[str, str]] = field(default_factory=list)
    bucket: str = ""
    key: str = ""
    #: The body without the framing of a streamed upload; what the service gets to see.
    payload: bytes = b""
    #: Headers that came behind a streamed upload.
    trailers: Headers = field(default_factory=list)

    def text(self, name: str, default: str = "") -> str:
        """A parameter as text."""
        value = self.params.get(name, default)
        return value if isinstance(value, str) else default

    def asked(self, name: str) -> str | None:
        """A value of the query, decoded; None when it is not there."""
        for key, value in self.query:
            if key == name:
                return value
        return None

    @property
    def action(self) -> str:
        """The operation as a log names it."""
        return f"{self.service}:{self.operation}"


class Defect(Exception):
    """The stand-in itself fell short: a call it does not know, or an inner failure. Fails the test."""
