"""The time by which things age in the stand-in: application states, job runs, IAM propagation, sessions.

It is apart from the wall clock that signatures are held against, so that a test can move it by an hour
without making every client's date wrong.
"""

from __future__ import annotations

import threading
import time
from datetime import datetime, timezone


class Clock:
    """A clock that runs at a chosen rate, can be stopped and can be moved forward."""

    def __init__(self, rate: float = 1.0) -> None:
        self._lock = threading.Lock()
        self.reset(rate)

    def reset(self, rate: float = 1.0) -> None:
        """Begin again at the present time."""
        with self._lock:
            self._base, self._since, self._rate = time.time(), time.monotonic(), rate

    def now(self) -> float:
        """Seconds since the epoch, as the stand-in sees them."""
        with self._lock:
            return self._base + (time.monotonic() - self._since) * self._rate

    def advance(self, seconds: float) -> None:
        """Move forward at once."""
        if seconds < 0:
            raise ValueError("time does not run backwards")
        with self._lock:
            self._base += seconds

    def run(self, rate: float) -> None:
        """Run at this many seconds a second; 0 stops the clock."""
        now = self.now()
        with self._lock:
            self._base, self._since, self._rate = now, time.monotonic(), rate


def iso(seconds: float) -> str:
    """A time as the XML protocols write it."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def compact(seconds: float) -> str:
    """A time as signatures write it."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y%m%dT%H%M%SZ")
