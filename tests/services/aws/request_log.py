"""The request log: one entry a request, as JSON lines, without any secret, token or signature."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
_PRIVATE = re.compile(r"(X-Amz-(?:Signature|Security-Token|Credential)=)[^&]*")


def public_target(target: str) -> str:
    """A request target without what a query-signed one carries."""
    return _PRIVATE.sub(r"\1…", target)


class RequestLog:
    """Entries in the order in which the requests were dealt with."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._changed = threading.Condition()
        self._file: Path | None = None

    def write_to(self, path: Path) -> None:
        """Also append every entry to a file."""
        self._file = path

    def add(self, entry: Entry) -> None:
        """Number and keep an entry."""
        with self._changed:
            entry = {"n": len(self._entries) + 1, **entry}
            self._entries.append(entry)
            if self._file:
                with self._file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(entry, ensure_ascii=False) + "\n")
            self._changed.notify_all()

    def entries(self, since: int = 0, **wanted: Any) -> list[Entry]:
        """Entries after number `since` whose fields equal the wanted ones."""
        with self._changed:
            chosen = self._entries[since:]
        return [e for e in chosen if all(e.get(k) == v for k, v in wanted.items())]

    def actions(self, since: int = 0) -> list[str]:
        """The calls in order, as `service:Operation`."""
        return [e["action"] for e in self.entries(since)]

    def mark(self) -> int:
        """The number of the last entry: what comes after can be asked for with `since`."""
        with self._changed:
            return len(self._entries)

    def wait(self, test: Callable[[Entry], bool], timeout: float = 10.0, since: int = 0) -> Entry:
        """The first entry that passes a test, waiting for it."""
        end = time.monotonic() + timeout
        with self._changed:
            while True:
                for entry in self._entries[since:]:
                    if test(entry):
                        return entry
                if not self._changed.wait(end - time.monotonic()):
                    raise TimeoutError("no such request within the time")

    def clear(self) -> None:
        """Forget all entries; numbering starts again."""
        with self._changed:
            self._entries.clear()
