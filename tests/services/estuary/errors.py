"""Refusals: PostgREST's JSON, the control-plane API's text or JSON, as answers."""

from __future__ import annotations

import json
from typing import Any

from tests.services.aws.messages import Answer


class ApiError(Exception):
    """An answer that is no success, and the code that the log shows for it."""

    def __init__(self, answer: Answer, code: str) -> None:
        super().__init__(code)
        self.answer, self.code = answer, code


def json_answer(status: int, content: Any, kind: str = "application/json") -> Answer:
    """JSON, compact."""
    body = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    return Answer(status, [("Content-Type", kind)], body)


def text_answer(status: int, text: str) -> Answer:
    """Plain text."""
    return Answer(status, [("Content-Type", "text/plain; charset=utf-8")], text.encode())


def pg(status: int, code: str, message: str, details: str | None = None, hint: str | None = None) -> ApiError:
    """An error of PostgREST or of the database behind it."""
    body = {"code": code, "details": details, "hint": hint, "message": message}
    return ApiError(json_answer(status, body, "application/json; charset=utf-8"), code)


def gateway(message: str, hint: str) -> ApiError:
    """What the gateway before PostgREST says to a request without the project's key."""
    return ApiError(json_answer(401, {"message": message, "hint": hint}), "apikey")


def plain(status: int, text: str, code: str = "") -> ApiError:
    """The control-plane API's refusal in plain text."""
    return ApiError(text_answer(status, text), code or str(status))


def denied(message: str, missing: list[str]) -> ApiError:
    """The control-plane API's refusal of a right."""
    body = {"error": "PermissionDenied", "message": message, "missing_capabilities": missing}
    return ApiError(json_answer(403, body), "PermissionDenied")
