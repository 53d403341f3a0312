"""Refresh tokens and access tokens: made, exchanged, verified.

A refresh token is {id, secret}; the dashboard shows base64 of that JSON. An access token is a JWT. A bearer without
dots is a refresh token, which only the control-plane API exchanges by itself."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
from typing import Any

from .store import Row, new_id
from .world import ANYBODY, Caller, World, new_uuid, seconds

_UNITS = {"d": 86400.0, "day": 86400.0, "days": 86400.0, "h": 3600.0, "hours": 3600.0, "m": 60.0, "minutes": 60.0,
          "s": 1.0, "seconds": 1.0}
#: Estuary's own project at Supabase, and the public key that names it; clients have both built in.
PROJECT_HOST = "eyrcnmuzzyriypdajwdk.supabase.co"
PROJECT_KEY = (
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJzdXBhYmFzZSIsInJlZiI6ImV5cmNubXV6enlyaXlwZGFqd2RrIiwicm9sZSI6ImFub24"
    "iLCJpYXQiOjE2NDg3NTA1NzksImV4cCI6MTk2NDMyNjU3OX0.y1OyXD3-DYMz10eGxzo1eeamVMMUwIIeOoMryTRAoco")
_ISO = re.compile(r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
_ISO_UNITS = (365 * 86400, 30 * 86400, 7 * 86400, 86400, 3600, 60, 1)


class BadToken(Exception):
    """A token that is not taken; the text is what PostgREST says of it."""


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def interval(text: str) -> float:
    """Seconds of a PostgreSQL interval (`90d`, `1 day`) or an ISO 8601 duration (`P90D`)."""
    iso = _ISO.fullmatch(text)
    if iso and any(iso.groups()):
        return float(sum(int(part or 0) * unit for part, unit in zip(iso.groups(), _ISO_UNITS, strict=True)))
    match = re.fullmatch(r"\s*(\d+)\s*([a-z]+)\s*", text)
    if not match or match[2] not in _UNITS:
        raise ValueError(f'invalid input syntax for type interval: "{text}"')
    return int(match[1]) * _UNITS[match[2]]


def sign(world: World, claims: dict[str, Any]) -> str:
    """A JWT over claims."""
    parts = ".".join(_b64(json.dumps(part, separators=(",", ":")).encode())
                     for part in ({"alg": "HS256", "typ": "JWT"}, claims))
    return f"{parts}.{_b64(hmac.digest(world.jwt_secret.encode(), parts.encode(), hashlib.sha256))}"


def verify(world: World, token: str) -> dict[str, Any]:
    """The claims of a JWT of ours that has not expired."""
    parts = token.split(".")
    if len(parts) != 3:
        raise BadToken("JWSError (CompactDecodeError Invalid number of parts: "
                       f"Expected 3 parts; got {len(parts)})")
    try:
        claims = json.loads(_unb64(parts[1]))
        given = _unb64(parts[2])
        json.loads(_unb64(parts[0]))
    except ValueError:
        raise BadToken("JWSError (JSONDecodeError \"invalid JWT\")") from None
    expected = hmac.digest(world.jwt_secret.encode(), f"{parts[0]}.{parts[1]}".encode(), hashlib.sha256)
    if not hmac.compare_digest(given, expected):
        raise BadToken("JWSError JWSInvalidSignature")
    if claims.get("exp", 0) <= world.clock.now():
        raise BadToken("JWT expired")
    return dict(claims)


def anon_key(world: World) -> str:
    """The public key that identifies the project; no secret."""
    return sign(world, {"iss": "supabase", "ref": "standin", "role": "anon", "iat": 1700000000, "exp": 1972963150})


def key_at(world: World, host: str) -> str:
    """The one key that opens PostgREST under a host name: Estuary's own at its real name, else the stand-in's."""
    return PROJECT_KEY if host == PROJECT_HOST else anon_key(world)


def access_token(world: World, user_id: str) -> str:
    """A fresh access token of a user."""
    user = world.store.one("users", id=user_id)
    assert user
    now = int(world.clock.now())
    return sign(world, {"sub": user_id, "role": "authenticated", "aud": "authenticated", "email": user["email"],
                        "iat": now, "exp": now + world.settings.access_token_life})


def caller_of(world: World, token: str) -> Caller:
    """Who an access token speaks for. The anon key is a token too: it speaks for nobody."""
    claims = verify(world, token)
    if claims.get("role") == "anon":
        return ANYBODY
    return Caller(claims["sub"], claims.get("email", ""))


def make_refresh(world: World, user_id: str, multi_use: bool, valid_for: float, detail: str | None) -> Row:
    """A fresh refresh token as it is given out, once."""
    secret = new_uuid()
    row = world.store.add("refresh_tokens", {
        "id": new_id(), "user_id": user_id, "_hash": _hash(secret), "multi_use": multi_use, "valid_for": valid_for,
        "uses": 0, "detail": detail, "created_at": world.now(), "updated_at": world.now()})
    return {"id": row["id"], "secret": secret}


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def pasted(token: Row) -> str:
    """A refresh token as the dashboard shows it."""
    return base64.b64encode(json.dumps({"id": token["id"], "secret": token["secret"]}).encode()).decode()


def exchange(world: World, identifier: str, secret: str) -> Row:
    """{access_token, and refresh_token when the given one was good for one use only}."""
    row = world.store.one("refresh_tokens", id=identifier.replace(":", "").lower())
    if row is None:
        raise BadToken("could not find refresh_token with the given `refresh_token_id`")
    if not secrets.compare_digest(row["_hash"], _hash(secret)):
        raise BadToken("invalid secret provided")
    if seconds(row["updated_at"]) + row["valid_for"] < world.clock.now():
        raise BadToken("refresh_token has expired.")
    answer: Row = {"access_token": access_token(world, row["user_id"])}
    if row["multi_use"]:
        world.store.change(row, uses=row["uses"] + 1, updated_at=world.now())
    else:
        world.store.remove("refresh_tokens", lambda other: other is row)
        answer["refresh_token"] = make_refresh(world, row["user_id"], False, row["valid_for"], row["detail"])
    return answer


def exchange_pasted(world: World, text: str) -> Caller:
    """Who a pasted refresh token speaks for: what the control-plane API does with a bearer without dots."""
    try:
        given = json.loads(base64.b64decode(text, validate=True))
        identifier, secret = str(given["id"]), str(given["secret"])
    except (ValueError, KeyError, TypeError):
        raise BadToken("invalid, expired, or unknown credential") from None
    try:
        return caller_of(world, exchange(world, identifier, secret)["access_token"])
    except BadToken:
        raise BadToken("invalid, expired, or unknown credential") from None
