"""The Condition element of a policy statement: operators, set qualifiers, policy variables.

By IAM's documented rules: every operator and every key of a Condition must hold; a key that the request does
not have fails a positive operator, satisfies a negated one, and is skipped with ...IfExists. An operator that
is not known here is a Defect, never a guess.
"""

from __future__ import annotations

import base64
import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any

from .messages import Defect

#: Condition keys of one request, in lower case, each with its values.
Context = Mapping[str, Sequence[str]]


@lru_cache(maxsize=4096)
def _pattern(text: str) -> re.Pattern[str]:
    out = "".join(".*" if c == "*" else "." if c == "?" else re.escape(c) for c in text)
    return re.compile(f"(?s:{out})\\Z")


def like(value: str, pattern: str) -> bool:
    """Whether a text matches a pattern of `*` (any run) and `?` (one character); case counts."""
    return _pattern(pattern).match(value) is not None


def _arn_like(value: str, pattern: str) -> bool:
    parts, wanted = value.split(":", 5), pattern.split(":", 5)
    if len(parts) != 6 or len(wanted) != 6:
        return like(value, pattern)
    return all(like(p, w) for p, w in zip(parts, wanted, strict=True))


def _number(text: str) -> float:
    return float(text)


def _moment(text: str) -> float:
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()


def _in_network(value: str, network: str) -> bool:
    return ipaddress.ip_address(value) in ipaddress.ip_network(network, strict=False)


def _ordered(convert: Callable[[str], float], name: str) -> Callable[[str, str], bool]:
    tests: dict[str, Callable[[float, float], bool]] = {
        "equals": lambda a, b: a == b,
        "lessthan": lambda a, b: a < b,
        "lessthanequals": lambda a, b: a <= b,
        "greaterthan": lambda a, b: a > b,
        "greaterthanequals": lambda a, b: a >= b,
    }

    def compare(value: str, wanted: str) -> bool:
        try:
            return tests[name](convert(value), convert(wanted))
        except ValueError:
            return False

    return compare


_POSITIVE: dict[str, Callable[[str, str], bool]] = {
    "stringequals": lambda v, w: v == w,
    "stringequalsignorecase": lambda v, w: v.lower() == w.lower(),
    "stringlike": like,
    "arnequals": _arn_like,
    "arnlike": _arn_like,
    "bool": lambda v, w: v.lower() == w.lower(),
    "binaryequals": lambda v, w: base64.b64decode(v) == base64.b64decode(w),
    "ipaddress": _in_network,
}
for _name in ("equals", "lessthan", "lessthanequals", "greaterthan", "greaterthanequals"):
    _POSITIVE["numeric" + _name] = _ordered(_number, _name)
    _POSITIVE["date" + _name] = _ordered(_moment, _name)
_NEGATED = {
    "stringnotequals": "stringequals",
    "stringnotequalsignorecase": "stringequalsignorecase",
    "stringnotlike": "stringlike",
    "arnnotequals": "arnequals",
    "arnnotlike": "arnlike",
    "numericnotequals": "numericequals",
    "datenotequals": "dateequals",
    "notipaddress": "ipaddress",
}


def as_list(value: Any) -> list[Any]:
    """A value that may be written alone or as a list."""
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def substitute(text: str, context: Context) -> str | None:
    """Replace policy variables; None when one has no value, so that the statement does not match."""
    missing = False

    def value(found: re.Match[str]) -> str:
        nonlocal missing
        name, _, default = found[1].partition(",")
        name = name.strip()
        if name in ("*", "?", "$"):
            return name
        values = context.get(name.lower())
        if values:
            return values[0]
        if default:
            return default.strip().strip("'")
        missing = True
        return ""

    replaced = re.sub(r"\$\{([^}]*)\}", value, text) if "${" in text else text
    return None if missing else replaced


def known_operator(name: str) -> bool:
    """Whether IAM has such an operator (used when a document is written)."""
    bare = name.rpartition(":")[2].lower()
    bare = bare.removesuffix("ifexists")
    return bare == "null" or bare in _POSITIVE or bare in _NEGATED


def _holds(operator: str, wanted: list[str], values: Sequence[str] | None) -> bool:
    qualifier, _, name = operator.rpartition(":")
    name, qualifier = name.lower(), qualifier.lower()
    if name == "null":
        return (values is None) == (wanted[0].lower() == "true")
    if_exists = name.endswith("ifexists")
    name = name.removesuffix("ifexists")
    negated = name in _NEGATED
    test = _POSITIVE.get(_NEGATED.get(name, name))
    if test is None:
        raise Defect(f"condition operator {operator!r} is not known")

    def one(value: str) -> bool:
        hit = any(test(value, w) for w in wanted)
        return not hit if negated else hit

    if qualifier == "forallvalues":
        return all(one(v) for v in values or ())
    if not values:
        return if_exists or (negated and qualifier != "foranyvalue")
    if qualifier == "foranyvalue":
        return any(one(v) for v in values)
    return all(one(v) for v in values) if negated else any(one(v) for v in values)


def condition_holds(condition: Any, context: Context) -> bool:
    """Whether a whole Condition element holds for a request."""
    for operator, keys in (condition or {}).items():
        for key, wanted in keys.items():
            texts = [substitute(_text(w), context) for w in as_list(wanted)]
            usable = [t for t in texts if t is not None]
            if not usable:
                return False
            if not _holds(operator, usable, context.get(key.lower())):
                return False
    return True


def missing_keys(condition: Any, context: Context) -> list[str]:
    """The condition keys of a statement that the request has no value for (the simulator names them)."""
    return [key for keys in (condition or {}).values() for key in keys if key.lower() not in context]
