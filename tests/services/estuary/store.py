"""The control plane's tables in memory: rows are dictionaries, kept in a file between runs of the sandbox."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.services.tls import write_private

Row = dict[str, Any]
VERSION = 1
ZERO_ID = "0" * 16


def new_id() -> str:
    """An id of 16 hexadecimal digits, as GraphQL shows it; PostgREST puts colons between the bytes."""
    return secrets.token_hex(8)


def colons(identifier: str) -> str:
    """An id as PostgREST shows it."""
    return ":".join(identifier[i:i + 2] for i in range(0, 16, 2))


class Store:
    """All rows. A name that begins with `_` is ours: no client sees it."""

    def __init__(self) -> None:
        self.tables: dict[str, list[Row]] = {}
        #: How often something has changed.
        self.changes = 0

    def rows(self, table: str, **wanted: Any) -> Iterator[Row]:
        """Rows whose columns equal the wanted values."""
        for row in list(self.tables.get(table, ())):
            if all(row.get(name) == value for name, value in wanted.items()):
                yield row

    def one(self, table: str, **wanted: Any) -> Row | None:
        """The first such row."""
        return next(self.rows(table, **wanted), None)

    def add(self, table: str, row: Row) -> Row:
        """Put a row in."""
        self.tables.setdefault(table, []).append(row)
        self.changes += 1
        return row

    def change(self, row: Row, **values: Any) -> None:
        """Alter a row."""
        row.update(values)
        self.changes += 1

    def remove(self, table: str, unwanted: Callable[[Row], bool]) -> int:
        """Take rows out; how many there were."""
        before = self.tables.get(table, [])
        kept = [row for row in before if not unwanted(row)]
        if len(kept) != len(before):
            self.tables[table] = kept
            self.changes += 1
        return len(before) - len(kept)

    def save(self, path: Path, more: Row) -> None:
        """Write everything, readable by the owner only: it holds tokens."""
        partial = path.with_suffix(".part")
        write_private(partial, json.dumps({"version": VERSION, **more, "tables": self.tables}))
        partial.rename(path)

    def load(self, path: Path) -> Row | None:
        """Take up what save() wrote; its other entries, or None when there is nothing that fits."""
        try:
            kept = json.loads(path.read_text())
            if kept["version"] != VERSION:
                return None
            self.tables = kept["tables"]
        except (OSError, ValueError, KeyError):
            return None
        self.changes += 1
        return dict(kept)
