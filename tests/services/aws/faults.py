"""Scripted faults: what goes wrong, for which call, how often. A fault that was never met is a failed test.

A fault is matched against calls in the order they come; only a call that would have been let through is
spoilt in its content, so that a fault never hides a wrong signature or a missing permission.
"""

from __future__ import annotations

import fnmatch
import itertools
import os
import signal
import threading
import time
from dataclasses import dataclass, field, fields
from typing import Any

from . import hostile
from .errors import AwsError, failure, render
from .messages import Answer, Call, Defect, Delivery

#: kind -> what it does
KINDS = {
    "lost_request": "drop the connection before anything is done",
    "lost_reply": "do it, then drop the connection",
    "truncated": "do it, send only `keep` bytes of the body (half of it, if not given), then close",
    "delay": "do it, wait `seconds` before the first byte",
    "dribble": "do it, send the body byte by byte with `seconds` between",
    "hold": "stop `stage` (before or after) doing it until it is released",
    "kill": "kill process `pid` `stage` (before or after) doing it, drop the connection",
    "throttle": "refuse with the protocol's throttling error; `retry_after` becomes a header",
    "error": "answer `code`, `message`, `status` in the call's protocol",
    "status": "answer this HTTP `status` with `body` (text) and no AWS error",
    "captive": "answer 200 with the HTML page of a captive portal",
    "redirect": "answer `status` (301 or 307) with a Location of `location`",
    "hostile": "answer with a body of the given `form`: see hostile.py",
    "date": "answer with a Date header that is `seconds` off (for a service whose clock is, see Settings.skew)",
    "expired_token": "refuse because the session has expired",
    "denied": "refuse the call's first permission with `reason` as the because-clause",
}
_SPOILING = frozenset("throttle error status captive redirect hostile expired_token denied".split())
#: Answers of something that stands between: it knows nothing of AWS's request ids.
NOT_AWS = frozenset("status captive redirect".split())


@dataclass
class Fault:
    """One scripted fault. Names may be patterns (`Put*`); nth counts the matching calls, from 1."""

    kind: str
    service: str = "*"
    operation: str = "*"
    resource: str = "*"
    key: str = "*"
    writes: bool = False
    nth: int = 1
    #: How many calls it hits; 0 means every one from the nth on.
    count: int = 1
    seconds: float = 1.0
    keep: int | None = None
    stage: str = "after"
    code: str = ""
    message: str = ""
    status: int = 0
    body: str = ""
    location: str = ""
    retry_after: str = ""
    reason: str = ""
    form: str = ""
    #: May be set a moment after the process has started.
    pid: int = 0
    seen: int = 0
    hits: int = 0
    id: int = field(default_factory=itertools.count(1).__next__)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"no such fault: {self.kind}; there are {', '.join(KINDS)}")
        if self.kind == "hostile" and self.form not in hostile.FORMS:
            raise ValueError(f"no such form: {self.form}; there are {', '.join(hostile.FORMS)}")

    @property
    def spoils(self) -> bool:
        """Whether it takes the place of the answer."""
        return self.kind in _SPOILING

    def matches(self, call: Call, key_id: str, resources: list[str], writes: bool) -> bool:
        """Whether a call is one of those it counts."""
        return (
            fnmatch.fnmatchcase(call.service, self.service)
            and fnmatch.fnmatchcase(call.operation, self.operation)
            and fnmatch.fnmatchcase(key_id, self.key)
            and (not self.writes or writes)
            and (self.resource == "*" or any(fnmatch.fnmatchcase(r, self.resource) for r in resources))
        )


def from_fields(given: dict[str, Any]) -> Fault:
    """A fault out of JSON."""
    known = {f.name for f in fields(Fault)} - {"seen", "hits", "id"}
    unknown = set(given) - known
    if unknown:
        raise ValueError(f"no such field of a fault: {', '.join(sorted(unknown))}")
    return Fault(**given)


class Faults:
    """The scripted faults, and the calls that wait in a hold."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self.all: list[Fault] = []
        self._held: list[dict[str, str]] = []
        self._released = 0

    def add(self, kind: str, **given: Any) -> Fault:
        """Script a fault."""
        fault = from_fields({"kind": kind, **given})
        with self._lock:
            self.all.append(fault)
        return fault

    def clear(self) -> None:
        """Take all faults back and let go what is held."""
        with self._lock:
            self.all.clear()
        self.release()

    def unmet(self) -> list[Fault]:
        """Faults that no call has hit."""
        with self._lock:
            return [fault for fault in self.all if fault.hits == 0]

    def take(self, call: Call, key_id: str, resources: list[str], writes: bool) -> Fault | None:
        """Count a call against every fault; the first that is due hits."""
        due = None
        with self._lock:
            for fault in self.all:
                if not fault.matches(call, key_id, resources, writes):
                    continue
                fault.seen += 1
                spent = fault.count and fault.seen >= fault.nth + fault.count
                if due is None and fault.seen >= fault.nth and not spent:
                    fault.hits += 1
                    due = fault
        return due

    # Holding a call.

    def hold(self, call: Call, timeout: float = 60.0) -> None:
        """Wait until released."""
        with self._lock:
            self._held.append({"action": call.action})
            self._lock.notify_all()
            before = self._released
            self._lock.wait_for(lambda: self._released > before, timeout)

    def held(self, timeout: float = 10.0) -> list[dict[str, str]]:
        """The calls that are being held, waiting for one."""
        with self._lock:
            self._lock.wait_for(lambda: bool(self._held), timeout)
            return list(self._held)

    def release(self) -> None:
        """Let every held call go on."""
        with self._lock:
            self._released += 1
            self._held.clear()
            self._lock.notify_all()


def strike(fault: Fault, patience: float = 5.0) -> None:
    """Kill as a power cut does, and wait until the process has stopped working."""
    end = time.monotonic() + patience
    while not fault.pid and time.monotonic() < end:
        time.sleep(0.001)
    if fault.pid <= 1:
        raise Defect("a fault of kind kill has no process")
    os.kill(fault.pid, signal.SIGKILL)
    while time.monotonic() < end:
        try:
            with open(f"/proc/{fault.pid}/stat", encoding="utf-8") as stat:
                if stat.read().rpartition(")")[2].split()[0] in "ZX":
                    return
        except OSError:
            return
        time.sleep(0.001)


def spoil(fault: Fault, call: Call, request_id: str) -> Answer:
    """The answer that a fault puts in the place of the real one."""
    if fault.kind == "throttle":
        error = failure("throttled", call.service)
        if fault.retry_after:
            error.headers["Retry-After"] = fault.retry_after
    elif fault.kind == "expired_token":
        error = failure("expired token", call.service)
    elif fault.kind == "denied":  # a call that needs no permission
        error = failure("denied", call.service, fault.reason or None)
    elif fault.kind == "error":
        default = failure("internal", call.service)
        message = fault.message or default.message
        error = AwsError(fault.code or default.code, message, fault.status or default.status)
    elif fault.kind == "status":
        kind = "text/html" if fault.body.lstrip().startswith("<") else "text/plain"
        return Answer(fault.status or 503, [("Content-Type", kind)], fault.body.encode())
    elif fault.kind == "redirect":
        return Answer(fault.status or 307, [("Location", fault.location)])
    elif fault.kind == "captive":
        return Answer(200, [("Content-Type", "text/html")], hostile.PORTAL)
    else:
        return hostile.answer(fault.form, call)
    return render(error, call, request_id)


def delivery_of(fault: Fault | None, answer: Answer) -> Delivery:
    """How the answer goes out under a fault."""
    if fault is None:
        return Delivery()
    if fault.kind in ("lost_request", "lost_reply", "kill"):
        return Delivery(drop=True)
    if fault.kind == "truncated":
        keep = fault.keep if fault.keep is not None else len(answer.body) // 2
        return Delivery(keep_bytes=keep, close=True)
    if fault.kind == "delay":
        return Delivery(delay=fault.seconds)
    if fault.kind == "dribble":
        return Delivery(dribble=fault.seconds)
    if fault.kind == "date":
        return Delivery(date_shift=fault.seconds)
    return Delivery()
