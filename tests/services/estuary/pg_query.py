"""What a request to PostgREST asks for: columns, filters, order, range, preferences. Parsed strictly.

What PostgREST knows and the stand-in does not (embedding, casts, JSON paths, and/or) is a defect of the stand-in and
fails the test; what PostgREST refuses is refused in its words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from tests.services.aws.messages import Defect, Request

from .errors import pg
from .pg_tables import Table, from_text
from .store import Row

_RESERVED = ("select", "order", "limit", "offset", "on_conflict", "columns", "apikey")
_UNKNOWN = ("and", "or", "not.and", "not.or")
_OPERATORS = ("eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike", "in", "is")
SINGLE = "application/vnd.pgrst.object+json"


@dataclass
class Filter:
    """One condition."""

    column: str
    operator: str
    value: Any
    negated: bool

    def holds(self, row: Row) -> bool:
        """Whether a row meets it. A comparison with null holds for nobody."""
        actual = row[self.column]
        if self.operator == "is":
            return (actual is self.value) != self.negated
        if actual is None:
            return False
        return self._compare(actual) != self.negated

    def _compare(self, actual: Any) -> bool:
        value = self.value
        if self.operator == "in":
            return actual in value
        if self.operator in ("like", "ilike"):
            pattern = re.escape(value).replace(r"\*", ".*").replace("%", ".*").replace("_", ".")
            flags = re.DOTALL | (re.IGNORECASE if self.operator == "ilike" else 0)
            return re.fullmatch(pattern, str(actual), flags) is not None
        return bool({"eq": actual == value, "neq": actual != value}.get(self.operator) if self.operator in ("eq", "neq")
                    else {"gt": actual > value, "gte": actual >= value, "lt": actual < value,
                          "lte": actual <= value}[self.operator])


@dataclass
class Query:
    """A request's query and headers. columns: (name in the answer, column); None: all."""

    columns: list[tuple[str, str]] | None = None
    filters: list[Filter] = field(default_factory=list)
    order: list[tuple[str, bool]] = field(default_factory=list)
    offset: int = 0
    limit: int | None = None
    on_conflict: tuple[str, ...] = ()
    given_columns: tuple[str, ...] = ()
    prefer: dict[str, str] = field(default_factory=dict)
    single: bool = False


def unknown_column(table: str, column: str) -> Exception:
    """What the database says of a column that is not there."""
    return pg(400, "42703", f"column {table}.{column} does not exist")


def parse(request: Request, name: str, table: Table) -> Query:
    """The query of a request to a table or view."""
    query = Query(prefer=preferences(request), single=wants_single(request))
    pairs = parse_qsl(request.query, keep_blank_values=True)
    for key, value in pairs:
        if key in _UNKNOWN:
            raise Defect(f"the stand-in knows no logical operators: {key}")
        if key == "select":
            query.columns = _select(name, table, value)
        elif key == "order":
            query.order = _order(name, table, value)
        elif key in ("limit", "offset"):
            if not value.isdigit():
                raise _unreadable(value)
            setattr(query, key, int(value))
        elif key in ("on_conflict", "columns"):
            columns = tuple(value.split(","))
            setattr(query, "given_columns" if key == "columns" else key, columns)
            _all_known(name, table, columns)
        elif key not in _RESERVED:
            query.filters.append(_filter(name, table, key, value))
    read_range(request, query)
    return query


def wants_single(request: Request) -> bool:
    """Whether the client accepts exactly one row; what it cannot be given is refused."""
    accepted = [part.split(";")[0].strip() for part in (request.header("accept") or "*/*").split(",")]
    if SINGLE in accepted:
        return True
    if not {"*/*", "application/json", "application/*"} & set(accepted):
        raise pg(406, "PGRST107", f"None of these media types are available: {', '.join(accepted)}")
    return False


def preferences(request: Request) -> dict[str, str]:
    """The Prefer headers."""
    found = {}
    for header in request.all("prefer"):
        for part in header.split(","):
            key, _, value = part.strip().partition("=")
            found[key] = value
    return found


def read_range(request: Request, query: Query) -> None:
    """The Range header, in items; the query's limit and offset go before."""
    header = request.header("range")
    if header is None or query.limit is not None or query.offset:
        return
    match = re.fullmatch(r"(?:items=)?(\d+)-(\d*)", header.strip())
    if not match:
        return                  # a range that is not understood is no range
    query.offset = int(match[1])
    if match[2]:
        if int(match[2]) < query.offset:
            raise pg(416, "PGRST103", "Requested range not satisfiable", "The lower boundary must be lower than or "
                                                                         "equal to the upper boundary in the Range header.")
        query.limit = int(match[2]) - query.offset + 1


def _unreadable(text: str) -> Exception:
    return pg(400, "PGRST100", f'"failed to parse filter ({text})" (line 1, column 1)', f"unexpected \"{text[:1]}\"")


def _all_known(name: str, table: Table, columns: tuple[str, ...]) -> None:
    for column in columns:
        if column not in table.columns:
            raise unknown_column(name, column)


def _select(name: str, table: Table, text: str) -> list[tuple[str, str]] | None:
    if text.strip() in ("", "*"):
        return None
    found = []
    for part in text.split(","):
        part = part.strip()
        if re.search(r"[()]|::|->", part):
            raise Defect(f"the stand-in knows no embedding, cast or path: select={text}")
        alias, colon, column = part.rpartition(":")
        if column == "*":
            found += [(known, known) for known in table.columns]
            continue
        if column not in table.columns:
            raise unknown_column(name, column)
        found.append((alias if colon else column, column))
    return found


def _order(name: str, table: Table, text: str) -> list[tuple[str, bool]]:
    found = []
    for part in text.split(","):
        column, *words = part.split(".")
        if set(words) - {"asc", "desc", "nullsfirst", "nullslast"}:
            raise _unreadable(part)
        _all_known(name, table, (column,))
        found.append((column, "desc" in words))
    return found


def _filter(name: str, table: Table, column: str, text: str) -> Filter:
    if re.search(r"->|\(", column):
        raise Defect(f"the stand-in knows no filter on {column}")
    operator, dot, value = text.partition(".")
    negated = operator == "not"
    if negated:
        operator, dot, value = value.partition(".")
    if not dot or operator not in _OPERATORS:
        raise _unreadable(text)
    if column not in table.columns:
        raise unknown_column(name, column)
    kind = table.columns[column].type
    if kind in ("json", "texts") and operator != "is":
        raise Defect(f"the stand-in compares no {kind}: {column}")
    if operator == "is":
        if value.lower() not in ("null", "true", "false"):
            raise _unreadable(text)
        return Filter(column, operator, {"null": None, "true": True, "false": False}[value.lower()], negated)
    if operator == "in":
        return Filter(column, operator, [from_text(kind, item) for item in _list(value)], negated)
    return Filter(column, operator, from_text(kind, value), negated)


def _list(text: str) -> list[str]:
    """The values of (a,b,"c,d")."""
    if not (text.startswith("(") and text.endswith(")")):
        raise _unreadable(text)
    pieces = re.findall(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^,]*))(?:,|$)', text[1:-1])
    values = [re.sub(r"\\(.)", r"\1", quoted) if quoted else bare for quoted, bare in pieces]
    return values[:-1] if values and not values[-1] else values
