"""The strict front: every request is understood, verified and judged here before anything carries it out.

In this order: what is asked, of which service; a signature, by a known and active key, in time, for the right
region and service, over this very body; a session that has not expired; the bucket's region; each permission
by the caller's policies; a scripted fault; the service's own rules; moto. Every request leaves one log entry.
"""

from __future__ import annotations

import secrets
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import signature
from .errors import AwsError, failure, identify, render
from .faults import NOT_AWS, Fault, Faults, delivery_of, spoil, strike
from .judgement import Judged, judged, refusal
from .messages import Answer, Call, Delivery, Request
from .policies import Verdict
from .request_log import RequestLog, public_target
from .routing import PROTOCOLS, parse, route
from .s3 import S3
from .service import Caller, Service, World
from .sts import Sts


@dataclass
class _Progress:
    """What is known of a request so far; what the log entry is made of."""

    request: Request
    started: float
    call: Call | None = None
    caller: Caller | None = None
    key_id: str = ""
    signed: tuple[str, ...] = ()
    needs: list[Judged] = field(default_factory=list)
    fault: Fault | None = None
    code: str = ""


class Front:
    """Deals with one request at a time, except that waiting in a fault holds up nobody else."""

    def __init__(self, world: World, services: dict[str, Service], faults: Faults, log: RequestLog) -> None:
        self._world, self._services, self._faults, self._log = world, services, faults, log
        self._lock = threading.RLock()
        #: What the stand-in could not do; a test that leaves something here has failed.
        self.defects: list[str] = []
        #: How many calls may have changed something, and what is done after each before it is answered.
        self.changes = 0
        self.after_write: Callable[[], None] = lambda: None

    @property
    def lock(self) -> threading.RLock:
        """Held while a call is carried out: take it to look at the inside."""
        return self._lock

    def wall(self) -> float:
        """The service's wall clock."""
        return time.time() + self._world.settings.skew

    def handle(self, request: Request) -> tuple[Answer, Delivery]:
        """The answer to a request and how it is to be sent."""
        progress = _Progress(request, time.perf_counter())
        request_id = str(uuid.uuid4())
        try:
            answer = self._answer(progress, request_id)
        except AwsError as error:
            progress.code = error.code
            answer = render(error, progress.call, self._id_for(progress, request_id))
        except Exception as wrong:  # a fault of the stand-in: seen by the client, and by the test
            self.defects.append(f"{request.method} {public_target(request.target)}: {wrong!r}")
            progress.code = "Defect"
            answer = Answer(501, [("Content-Type", "text/plain")], f"stand-in: {wrong}\n".encode())
        protocol = progress.call.protocol if progress.call else "rest-xml"
        if not (progress.fault and progress.fault.kind in NOT_AWS):
            identify(answer, protocol, self._id_for(progress, request_id))
        self._write_log(progress, answer, request_id)
        fault = progress.fault
        if fault and fault.stage == "after" and progress.call:
            if fault.kind == "hold":
                self._faults.hold(progress.call)
            elif fault.kind == "kill":
                strike(fault)
        return answer, delivery_of(fault, answer)

    @staticmethod
    def _id_for(progress: _Progress, request_id: str) -> str:
        s3 = progress.call is not None and progress.call.service == "s3"
        return request_id.replace("-", "")[:16].upper() if s3 else request_id

    def _answer(self, progress: _Progress, request_id: str) -> Answer:
        call = progress.call = route(progress.request, self._world.settings)
        unreadable: AwsError | None = None
        try:
            parse(call)
        except AwsError as wrong:
            unreadable = wrong
        service = self._services[call.service]
        refused: AwsError | None = None
        with self._lock:
            try:
                self._settle()
                unsigned = self._admit(progress, call, unreadable)
            except AwsError as wrong:
                refused, unsigned = wrong, None
        resources = [entry.need.resource for entry in progress.needs]
        fault = progress.fault = self._faults.take(call, progress.key_id, resources, service.writes(call))
        if fault and fault.kind == "kill" and fault.stage == "before":
            strike(fault)
            return Answer(0)
        if refused:
            raise refused
        if fault and fault.kind == "lost_request":
            return Answer(0)
        if fault and fault.kind == "denied" and progress.caller and progress.needs:
            need = progress.needs[0].need
            reason = fault.reason or f"because no identity-based policy allows the {need.action} action"
            raise refusal(self._world, call, progress.caller, need, Verdict(False, reason))
        if fault and fault.spoils:
            progress.code = f"fault:{fault.kind}"
            return spoil(fault, call, self._id_for(progress, request_id))
        if fault and fault.kind == "hold" and fault.stage == "before":
            self._faults.hold(call)
        with self._lock:
            if unsigned is not None:
                return unsigned
            assert progress.caller is not None
            if not service.writes(call):
                return service.perform(call, progress.caller)
            self.changes += 1
            answer = service.perform(call, progress.caller)
            self.after_write()
            return answer

    def _settle(self) -> None:
        settle = getattr(self._services.get("emr-serverless"), "settle", None)
        if settle:
            settle()

    def settle(self) -> None:
        """Bring everything that ages up to the present, for a look from outside a request."""
        with self._lock:
            self._settle()

    def _admit(self, progress: _Progress, call: Call, unreadable: AwsError | None) -> Answer | None:
        """Verify and judge. Returns an answer only for the few calls that may come unsigned."""
        given = signature.read(call)
        if given is None:
            return self._unsigned(call)
        progress.key_id, progress.signed = given.key_id, given.signed_headers
        progress.caller = self._authenticate(call, given)
        if unreadable:
            raise unreadable
        service = self._services[call.service]
        if isinstance(service, S3):
            service.before(call)
        for need in service.needs(call, progress.caller):
            verdict = judged(self._world, call, progress.caller, need)
            progress.needs.append(Judged(need, verdict))
            if not verdict.allowed:
                error = refusal(self._world, call, progress.caller, need, verdict)
                if isinstance(service, S3) and call.bucket and service.owner(call.bucket):
                    error.headers["x-amz-bucket-region"] = service.region(call.bucket)
                raise error
        return None

    def _unsigned(self, call: Call) -> Answer:
        service = self._services[call.service]
        if isinstance(service, S3):
            return service.anonymous(call)
        if isinstance(service, Sts) and call.operation == "AssumeRoleWithWebIdentity":
            return service.web_identity(call)
        raise failure("unsigned", call.service)

    def _authenticate(self, call: Call, given: signature.Presented) -> Caller:
        settings, world = self._world.settings, self._world
        credential = world.callers.credential(given.key_id, call.service)
        if credential is None or not credential.active or given.region in settings.disabled_regions:
            extra = {"AWSAccessKeyId": given.key_id} if call.service == "s3" else {}
            raise failure("unknown key", call.service, **extra)
        signature.check_time(call, given, self.wall(), settings)
        signature.check_scope(call, given, settings)
        signature.check_signature(call, given, credential.secret, settings)
        session = credential.session
        if session is None and given.token is not None:
            raise failure("bad token", call.service)
        if session is not None:
            if given.token is None or not secrets.compare_digest(given.token.encode(), session.token.encode()):
                raise failure("bad token", call.service)
            if session.expires <= world.clock.now():
                raise failure("expired token", call.service)
        principal = world.callers.principal(credential, call.service)
        if principal is None:
            raise failure("unknown key", call.service)
        world.callers.used(credential, call.service, call.region)
        return Caller(credential, principal)

    def _write_log(self, progress: _Progress, answer: Answer, request_id: str) -> None:
        request, call = progress.request, progress.call
        entry: dict[str, Any] = {
            "time": time.time(),
            "connection": request.connection,
            "request_on_connection": request.number_on_connection,
            "service": call.service if call else "",
            "action": call.action if call else "",
            "method": request.method,
            "host": request.header("host") or "",
            "target": public_target(request.target),
            "region": call.region if call else "",
            "caller": progress.caller.principal.arn if progress.caller else "",
            "key": progress.key_id[-4:],
            "signed_headers": list(progress.signed),
            "payload": request.header("x-amz-content-sha256") or "",
            "body_sha256": request.body_hash,
            "writes": bool(call and call.service in PROTOCOLS and self._services[call.service].writes(call)),
            "needs": [entry.log() for entry in progress.needs],
            "fault": progress.fault.kind if progress.fault else "",
            "status": answer.status,
            "code": progress.code,
            "request_id": request_id,
            "ms": round((time.perf_counter() - progress.started) * 1000, 2),
        }
        token = call.params.get("clientToken") if call and call.service == "emr-serverless" else None
        if isinstance(token, str):
            entry["client_token"] = token
        self._log.add(entry)
