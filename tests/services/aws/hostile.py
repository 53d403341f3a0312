"""Bodies that no AWS service sends but a network, a proxy or an attacker may: what a parser must survive."""

from __future__ import annotations

import json
from collections.abc import Callable

from .messages import Answer, Call

PORTAL = (
    b"<!DOCTYPE html><html><head><title>Welcome to the airport</title></head>"
    b"<body><h1>Please accept our terms to use the network</h1></body></html>"
)
_ESCAPES = "\u202e\u2066evil\u2069 \x1b[31mred\x1b[0m \x07 \x00 \u009b2J"
_VISIBLE = "\u202e\u2066evil\u2069 \u009b2J"


def _xml_dtd() -> bytes:
    entities = "".join(f'<!ENTITY l{i} "{"&l%d;" % (i - 1) * 10}">' for i in range(1, 10))
    return (
        f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "lol">{entities}'
        '<!ENTITY f SYSTEM "file:///etc/passwd">]><x><Code>&l9;</Code><Message>&f;</Message></x>'
    ).encode()


def _deep(call: Call) -> bytes:
    if "json" in call.protocol:
        return b'{"a":' * 20000 + b"1" + b"}" * 20000
    return b"<a>" * 20000 + b"</a>" * 20000


def _control(call: Call) -> bytes:
    if "json" in call.protocol:
        return json.dumps({"__type": "AccessDeniedException", "message": _ESCAPES, "Message": _ESCAPES}).encode()
    error = f"<Error><Code>AccessDenied</Code><Message>{_VISIBLE}</Message></Error>"
    return f"<ErrorResponse>{error}</ErrorResponse>".encode()


def _error_200(call: Call) -> bytes:
    if "json" in call.protocol:
        return b'{"__type":"InternalServerException","message":"We encountered an internal error."}'
    return b"<Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>"


def _huge_number(call: Call) -> bytes:
    digits = b"9" * 4000
    if "json" in call.protocol:
        parameter = b',"Parameter":{"Version":1e99999},"application":{"createdAt":'
        return b'{"Version":' + digits + parameter + digits + b"}}"
    return b"<Result><KeyCount>" + digits + b"</KeyCount></Result>"


def _endless(call: Call) -> bytes:
    if "json" in call.protocol:
        return b'{"applications":[' + b",".join([b'{"id":"00fabc","name":"x"}'] * 50000) + b'],"nextToken":"same"}'
    row = b"<item><vpcId>vpc-1</vpcId></item>"
    rows = b"<vpcSet>" + row * 50000 + b"</vpcSet>"
    return b"<DescribeVpcsResponse>" + rows + b"<nextToken>same</nextToken></DescribeVpcsResponse>"


#: form -> (HTTP status, body)
FORMS: dict[str, Callable[[Call], tuple[int, bytes]]] = {
    "dtd": lambda call: (200, _xml_dtd()),
    "deep": lambda call: (200, _deep(call)),
    "wrong-root": lambda call: (200, b'["not","an","object"]' if "json" in call.protocol else b"<html><body/></html>"),
    "control": lambda call: (403, _control(call)),
    "error-200": lambda call: (200, _error_200(call)),
    "huge-number": lambda call: (200, _huge_number(call)),
    "endless": lambda call: (200, _endless(call)),
    "not-utf8": lambda call: (200, b'{"a":"\xff\xfe"}' if "json" in call.protocol else b"<a>\xff\xfe</a>"),
    "empty": lambda call: (200, b""),
}


def answer(form: str, call: Call) -> Answer:
    """The answer of a form, under the content type of the call's protocol."""
    status, body = FORMS[form](call)
    kind = "application/json" if "json" in call.protocol else "text/xml"
    return Answer(status, [("Content-Type", kind)], body)
