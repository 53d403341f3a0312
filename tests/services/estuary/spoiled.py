"""The answers that scripted faults put in the place of the real ones, in the words of the service that is asked."""

from __future__ import annotations

from typing import Any

from tests.services.aws import hostile
from tests.services.aws.faults import Fault
from tests.services.aws.messages import Answer, Call

from . import errors


def answer(fault: Fault, call: Call) -> Answer:
    """For a fault that spoils; the kinds are those of tests.services.aws.faults."""
    if fault.kind == "status":
        kind = "text/html" if fault.body.lstrip().startswith("<") else "text/plain"
        return Answer(fault.status or 503, [("Content-Type", kind)], fault.body.encode())
    if fault.kind == "captive":
        return Answer(200, [("Content-Type", "text/html")], hostile.PORTAL)
    if fault.kind == "redirect":
        return Answer(fault.status or 307, [("Location", fault.location or call.request.target)])
    if fault.kind == "hostile":
        return hostile.answer(fault.form, call)
    if fault.kind == "throttle":
        found = too_many(call.service)
        if fault.retry_after:
            found.put("Retry-After", fault.retry_after)
        return found
    if fault.kind == "expired_token":
        return expired(call.service)
    if fault.kind == "denied":
        return _denied(call, fault.reason)
    return _error(call.service, fault.code, fault.message or "something went wrong", fault.status)


def too_many(service: str) -> Answer:
    """More requests than are allowed."""
    if service == "pg":
        return errors.json_answer(429, {"message": "API rate limit exceeded"})
    return errors.text_answer(429, "Too Many Requests")


def expired(service: str) -> Answer:
    """An access token whose time is over."""
    if service == "pg":
        return errors.pg(401, "PGRST301", "JWT expired").answer
    return errors.text_answer(401, "unauthorized: the access token has expired (ExpiredSignature)")


def _denied(call: Call, reason: str) -> Answer:
    if call.service == "pg":
        what = call.operation.split(".")[0]
        return errors.pg(403, "42501", reason or f'new row violates row-level security policy for table "{what}"').answer
    if call.service == "graphql":
        more: dict[str, Any] = {"error": "PermissionDenied", "message": reason, "missing_capabilities": ["CatalogRead"]}
        return _graphql(f"PermissionDenied: {reason or 'missing capability'}", more)
    return errors.denied(reason or "missing capability", ["CatalogRead"]).answer


def _graphql(message: str, extensions: dict[str, Any] | None = None) -> Answer:
    return errors.json_answer(200, {"data": None, "errors": [{"message": message, "extensions": extensions or {}}]})


def _error(service: str, code: str, message: str, status: int) -> Answer:
    if service == "pg":
        return errors.pg(status or 500, code or "XX000", message).answer
    if service == "graphql" and not status:
        return _graphql(f"{code or 'Internal'}: {message}")
    return errors.text_answer(status or 500, message)
