"""The front: every request is understood, its caller verified, a scripted fault met, then carried out and logged.

In this order: which service (and at its real name only that one), PostgREST's key, the caller's token, how many
requests the caller has made, a fault, the service's own rules. Requests are dealt with one at a time; waiting in a
fault holds up nobody else."""

from __future__ import annotations

import collections
import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qs

from tests.services.aws.faults import Fault, Faults, delivery_of, strike
from tests.services.aws.messages import Answer, Call, Delivery, Request
from tests.services.aws.request_log import RequestLog

from . import graphql_api, leaks, rest, sealing, spoiled, tokens
from .errors import ApiError, gateway, json_answer, pg, plain
from .jobs import Jobs
from .postgrest import ROOT, PostgRest
from .world import ANYBODY, Caller, World

ENCRYPT = "/v1/encrypt-config"
PATHS = {graphql_api.PATH: "graphql", rest.TOKEN: "auth", rest.STATUS: "status", ENCRYPT: "encrypt"}
#: Pattern of a real host name -> what is served there; the first that fits.
HOSTS = {
    r"api\.estuary\.dev|agent-api-\d+\.us-central1\.run\.app": ("graphql", "auth", "status"),
    re.escape(tokens.PROJECT_HOST): ("pg",),
    r"[a-z]+\.supabase\.co": (),
    r"config-encryption\.estuary\.dev": ("encrypt",),
    r"dashboard\.estuary\.dev": ("dashboard",),
}
MAX_GRAPHQL = 2 * 1024 * 1024
_PRIVATE = re.compile(r"((?:apikey|secret|token)=)[^&]*")


@dataclass
class _Progress:
    """What is known of a request so far; what the log entry is made of."""

    request: Request
    call: Call
    started: float
    caller: Caller = ANYBODY
    fault: Fault | None = None
    code: str = ""


class Front:
    """Deals with requests."""

    def __init__(self, world: World, jobs: Jobs, faults: Faults, log: RequestLog) -> None:
        self._world, self._jobs, self._faults, self._log = world, jobs, faults, log
        self._pg = PostgRest(world, jobs)
        self._times: dict[str, collections.deque[float]] = {}
        #: What the stand-in could not do; a test that leaves something here has failed.
        self.defects: list[str] = []
        #: Done after each request, under the world's lock.
        self.after: Callable[[], None] = lambda: None

    @property
    def lock(self) -> threading.RLock:
        """Held while a request is carried out."""
        return self._world.lock  # type: ignore[no-any-return]

    def handle(self, request: Request) -> tuple[Answer, Delivery]:
        """The answer to a request and how it is to be sent."""
        progress = _Progress(request, self._call(request), time.perf_counter())
        try:
            answer = self._answer(progress)
        except ApiError as refused:
            progress.code, answer = refused.code, refused.answer
        except Exception as wrong:  # noqa: BLE001 - a fault of the stand-in: seen by the client, and by the test
            self.defects.append(f"{request.method} {public(request.target)}: {wrong!r}")
            progress.code, answer = "Defect", Answer(501, [("Content-Type", "text/plain")], b"stand-in: not known\n")
        self._write_log(progress, answer)
        fault = progress.fault
        if fault and fault.stage == "after" and fault.kind == "hold":
            self._faults.hold(progress.call)
        elif fault and fault.stage == "after" and fault.kind == "kill":
            strike(fault)
        return answer, delivery_of(fault, answer)

    def _call(self, request: Request) -> Call:
        service = "pg" if request.path.startswith(ROOT) else PATHS.get(request.path, "")
        host = _host(request)
        served = next((services for pattern, services in HOSTS.items() if re.fullmatch(pattern, host)), None)
        if served is not None and service not in served:
            service = "dashboard" if "dashboard" in served else "elsewhere"
        operation = {"pg": self._pg.operation, "graphql": graphql_api.operation}.get(
            service, lambda _: service or "none")(request)
        return Call(request, service, "json", operation, "")

    def _answer(self, progress: _Progress) -> Answer:
        request, call = progress.request, progress.call
        if call.service == "dashboard" or request.path == "/":
            return Answer(200, [("Content-Type", "text/html")], b"<!DOCTYPE html><title>stand-in</title>")
        if not call.service:
            self.defects.append(f"{request.method} {public(request.target)}: nothing is there")
        if call.service in ("", "elsewhere"):
            raise plain(404, "no route matched", "none")
        with self.lock:
            self._jobs.settle()
            refused: ApiError | None = None
            try:
                progress.caller = self._authenticate(request, call.service)
                self._count(progress)
            except ApiError as wrong:
                refused = wrong
        fault = progress.fault = self._faults.take(call, progress.caller.email, [call.operation], self._writes(call))
        if refused:
            raise refused
        if fault:
            spoiled_answer = self._before(fault, call)
            if spoiled_answer:
                progress.code = f"fault:{fault.kind}"
                return spoiled_answer
        with self.lock:
            answer = self._perform(request, call.service, progress.caller)
            self.after()
        if call.service == "graphql" and b'"errors"' in answer.body:
            progress.code = str(json.loads(answer.body).get("errors", [{}])[0].get("message", ""))[:80]
        return answer

    def _before(self, fault: Fault, call: Call) -> Answer | None:
        if fault.kind == "kill" and fault.stage == "before":
            strike(fault)
            return Answer(500)
        if fault.kind == "lost_request":
            return Answer(500)
        if fault.kind == "hold" and fault.stage == "before":
            self._faults.hold(call)
        return spoiled.answer(fault, call) if fault.spoils else None

    @staticmethod
    def _writes(call: Call) -> bool:
        if call.service == "graphql":
            return call.operation.startswith("create")
        return call.service == "pg" and not call.operation.endswith(".select")

    # Who asks.

    def _authenticate(self, request: Request, service: str) -> Caller:
        given = request.header("authorization") or ""
        kind, _, token = given.partition(" ")
        if service == "encrypt":
            if given or request.header("apikey"):
                self._world.clear.append("a token was sent to the encryption service, which needs none")
            return ANYBODY
        if service == "pg":
            return self._pg_caller(request, kind, token)
        if not given or service == "auth":
            return ANYBODY
        if kind.lower() != "bearer" or not token:
            raise plain(401, "invalid authorization header", "credential")
        try:
            if "." in token:
                return tokens.caller_of(self._world, token)
            return tokens.exchange_pasted(self._world, token)
        except tokens.BadToken as wrong:
            if str(wrong) == "JWT expired":
                raise ApiError(spoiled.expired(service), "expired") from None
            raise plain(401, f"unauthorized: {wrong}", "credential") from None

    def _pg_caller(self, request: Request, kind: str, token: str) -> Caller:
        key = request.header("apikey") or parse_qs(request.query).get("apikey", [""])[0]
        if not key:
            raise gateway("No API key found in request", "No `apikey` request header or url param was found.")
        if key != tokens.key_at(self._world, _host(request)):
            raise gateway("Invalid API key", "Double check your Supabase `anon` or `service_role` API key.")
        if not kind or token == key:     # the key is a token too, which speaks for nobody
            return ANYBODY
        try:
            return tokens.caller_of(self._world, token)
        except tokens.BadToken as wrong:
            raise pg(401, "PGRST301", str(wrong)) from None

    def _count(self, progress: _Progress) -> None:
        settings, now = self._world.settings, self._world.clock.now()
        if not settings.rate_limit:
            return
        times = self._times.setdefault(progress.caller.email, collections.deque())
        while times and times[0] <= now - settings.rate_window:
            times.popleft()
        if len(times) >= settings.rate_limit:
            answer = spoiled.too_many(progress.call.service)
            answer.put("Retry-After", str(max(1, round(times[0] + settings.rate_window - now))))
            raise ApiError(answer, "rate")
        times.append(now)

    # What is done.

    def _perform(self, request: Request, service: str, caller: Caller) -> Answer:
        world = self._world
        if service == "graphql":
            if len(request.body) > MAX_GRAPHQL:
                raise plain(413, "Failed to buffer the request body: length limit exceeded")
            return graphql_api.perform(world, self._jobs, request, caller)
        if service == "auth":
            return rest.exchange(world, request)
        if service == "status":
            return rest.status(world, self._jobs, request, caller)
        if service == "encrypt":
            return self._encrypt(request)
        world.clear += leaks.found(world, self._pg.operation(request), request.body)
        return self._pg.perform(request, caller)

    def _encrypt(self, request: Request) -> Answer:
        world = self._world
        if request.method != "POST":
            raise plain(405, "Method Not Allowed")
        if (request.header("content-type") or "").split(";")[0].strip() != "application/json":
            raise plain(415, "Expected request with `Content-Type: application/json`")
        try:
            sealed = sealing.encrypt_config(request.body, world.identity.recipient, world.wall(),
                                            world.settings.sealed_nulls)
        except sealing.Refused as refused:
            raise plain(400, str(refused), "invalid") from None
        answer = json_answer(200, sealed)
        answer.put("Access-Control-Allow-Origin", "*")
        return answer

    def _write_log(self, progress: _Progress, answer: Answer) -> None:
        request, call = progress.request, progress.call
        self._log.add({
            "time": time.time(), "connection": request.connection,
            "request_on_connection": request.number_on_connection, "service": call.service, "action": call.action,
            "operation": call.operation, "method": request.method, "target": public(request.target),
            "host": request.header("host") or "", "caller": progress.caller.email, "writes": self._writes(call),
            "prefer": request.header("prefer") or "", "range": request.header("range") or "",
            "bytes": len(request.body), "fault": progress.fault.kind if progress.fault else "",
            "status": answer.status, "code": progress.code, "answer_bytes": len(answer.body),
            "ms": round((time.perf_counter() - progress.started) * 1000, 2)})


def _host(request: Request) -> str:
    """The name by which the caller reached us, without its port."""
    given = request.header("host") or ""
    return (given.rpartition(":")[0] or given).lower()


def public(target: str) -> str:
    """A request target without what no log may hold."""
    return _PRIVATE.sub(r"\1…", target)
