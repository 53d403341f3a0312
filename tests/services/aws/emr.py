"""EMR Serverless, wholly the front's own: moto's loses fields, has no states over time and ignores client tokens.

Imitations, where AWS's exact words or codes are not public: the texts about a network that is refused, the
code for a client token used again with other parameters (ConflictException), stopping while jobs run, starting
a job run on an application that cannot take it, and ListJobRuns of an application that does not exist (404).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from . import emr_jobs
from .emr_life import (
    FINAL,
    Application,
    JobRun,
    Stage,
    Timeline,
    job_shown,
    job_summary,
    new_id,
)
from .emr_needs import OWN_ROLE, emr_needs
from .emr_network import check_network, invalid
from .errors import AwsError
from .iam import create_linked_role
from .iam_needs import linked_role_name, slr_arn
from .judgement import judged
from .messages import Answer, Call
from .paging import window
from .policies import Need
from .service import Caller, Service, World
from .shapes import check

_RELEASES = re.compile(r"emr-(6\.([6-9]|1[0-5])\.\d+|7\.([0-9]|1[0-3])\.\d+|spark-8\.0\.0(-preview)?)\Z")


def _absent(kind: str, name: str) -> AwsError:
    return AwsError("ResourceNotFoundException", f"{kind} {name} does not exist", 404)


def _reply(fields: dict[str, Any]) -> Answer:
    return Answer(200, [("Content-Type", "application/json")], json.dumps(fields).encode())


class Emr(Service):
    """EMR Serverless."""

    name = "emr-serverless"
    reading = ("Get", "List")

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.applications: dict[tuple[str, str], Application] = {}
        #: What a test wants of the next applications and job runs, taken in order.
        self.next_applications: list[dict[str, str]] = []
        self.next_jobs: list[dict[str, str]] = []
        #: What a job run does when nothing is scripted.
        self.runner: Callable[[emr_jobs.JobContext], None] = emr_jobs.run

    def needs(self, call: Call, caller: Caller) -> list[Need]:
        found = self.applications.get((call.region, str(call.params.get("applicationId"))))
        needs = emr_needs(self.world, call, found.tags if found else {})
        if needs is None:
            raise self.unknown(call)
        return needs

    def _arn(self, call: Call, rest: str) -> str:
        return self.world.arn("emr-serverless", call.region, rest)

    # Calls.

    def perform(self, call: Call, caller: Caller) -> Answer:
        if call.operation.startswith("List") and call.asked("maxResults") is not None:
            size = call.asked("maxResults") or ""
            if not size.isdigit() or not 1 <= int(size) <= 50:
                wrong = f"Value '{size}' at 'maxResults' failed to satisfy constraint"
                raise invalid(f"1 validation error detected: {wrong}: Member must have value between 1 and 50")
        given = {k: v for k, v in call.params.items() if k != "resourceArn"} | (
            {"resourceArn": unquote(call.params["resourceArn"])} if "resourceArn" in call.params else {}
        )
        if call.operation == "UntagResource":
            given["tagKeys"] = [v for n, v in call.query if n == "tagKeys"]
        check("emr-serverless", call.operation, given)
        handlers: dict[str, Callable[[Call, Caller], Answer]] = {
            "CreateApplication": self._create,
            "GetApplication": lambda c, _: _reply({"application": self._application(c).shown(self._now())}),
            "ListApplications": self._list,
            "UpdateApplication": self._update,
            "DeleteApplication": self._delete,
            "StartApplication": self._start,
            "StopApplication": self._stop,
            "StartJobRun": self._run,
            "GetJobRun": lambda c, _: _reply({"jobRun": job_shown(self._job(c), self._now())}),
            "ListJobRuns": self._list_jobs,
            "CancelJobRun": self._cancel,
            "TagResource": self._tag,
            "UntagResource": self._tag,
            "ListTagsForResource": self._tag,
        }
        return handlers[call.operation](call, caller)

    def _now(self) -> float:
        return self.world.clock.now()

    def _application(self, call: Call) -> Application:
        found = self.applications.get((call.region, call.params["applicationId"]))
        if found is None:
            raise _absent("Application", call.params["applicationId"])
        return found

    def _job(self, call: Call) -> JobRun:
        application = self._application(call)
        if call.params["jobRunId"] not in application.jobs:
            raise _absent("JobRun", call.params["jobRunId"])
        return application.jobs[call.params["jobRunId"]]

    @staticmethod
    def _fingerprint(params: dict[str, Any]) -> str:
        return json.dumps({k: v for k, v in params.items() if k != "clientToken"}, sort_keys=True)

    @staticmethod
    def _same(known: str, now: str) -> None:
        if known != now:
            text_ = "The client token was used before with different parameters."
            raise AwsError("ConflictException", text_, 409)

    def _create(self, call: Call, caller: Caller) -> Answer:
        params, now = dict(call.params), self._now()
        fingerprint = self._fingerprint(params)
        for known in self.applications.values():
            if known.region == call.region and known.token == params["clientToken"]:
                self._same(known.fingerprint, fingerprint)
                return self._created(known)
        if not _RELEASES.match(params["releaseLabel"]):
            raise invalid(f"Release label {params['releaseLabel']} is invalid or not supported.")
        kind = str(params["type"]).upper()
        if kind not in ("SPARK", "HIVE"):
            raise invalid(f"Application type {params['type']} is not supported.")
        check_network(self.world, call.region, params.get("networkConfiguration"))
        self._own_role(call, caller)
        config = {k: v for k, v in params.items() if k not in ("clientToken", "tags", "type")}
        config["type"] = kind.capitalize()
        config.setdefault("architecture", "X86_64")
        application = Application(
            identifier := new_id(),
            self._arn(call, f"/applications/{identifier}"),
            call.region,
            config,
            dict(params.get("tags") or {}),
            now,
            Timeline([Stage(now, "CREATING")]),
            now,
            params["clientToken"],
            fingerprint,
        )
        script = self.next_applications.pop(0) if self.next_applications else {}
        if script.get("fail"):
            application.timeline.turn(now, (self.world.settings.life.creating, "TERMINATED", script["fail"]))
        elif script.get("stay") != "CREATING":
            application.timeline.turn(now, (self.world.settings.life.creating, "CREATED", ""))
        self.applications[(call.region, identifier)] = application
        return self._created(application)

    @staticmethod
    def _created(application: Application) -> Answer:
        fields = {"applicationId": application.id, "arn": application.arn}
        if application.config.get("name"):
            fields["name"] = application.config["name"]
        return _reply(fields)

    def _own_role(self, call: Call, caller: Caller) -> None:
        """The first application of an account makes the service's role, by the caller's permission."""
        name = linked_role_name(OWN_ROLE)
        if name.lower() in self.world.directory.now().roles:
            return
        need = Need(
            "iam:CreateServiceLinkedRole",
            slr_arn(self.world, OWN_ROLE, name),
            {"iam:AWSServiceName": [OWN_ROLE]},
        )
        if not judged(self.world, call, caller, need).allowed:
            raise invalid("Access denied when calling CreateServiceLinkedRole operation")
        create_linked_role(self.world, OWN_ROLE)

    def _list(self, call: Call, caller: Caller) -> Answer:
        states = {v for n, v in call.query if n == "states"}
        now = self._now()
        rows = [a.summary(now) for a in self.applications.values() if a.region == call.region]
        rows.sort(key=lambda row: -row["createdAt"])
        return self._page(call, "applications", [r for r in rows if not states or r["state"] in states])

    def _page(self, call: Call, name: str, rows: list[dict[str, Any]]) -> Answer:
        size = call.asked("maxResults")
        error = invalid("Invalid nextToken")
        start, end, token = window(
            len(rows), int(size) if size else 50, call.asked("nextToken"), self.world.settings, error
        )
        fields: dict[str, Any] = {name: rows[start:end]}
        if token:
            fields["nextToken"] = token
        return _reply(fields)

    def _must_be(self, application: Application, *states: str) -> None:
        state = application.state(self._now()).state
        if state not in states:
            wanted = ", ".join(states)
            raise invalid(
                f"Application {application.id} must be in one of the following statuses [{wanted}]. "
                f"Current status: {state}"
            )

    def _update(self, call: Call, caller: Caller) -> Answer:
        application = self._application(call)
        self._must_be(application, "CREATED", "STOPPED")
        changes = {k: v for k, v in call.params.items() if k not in ("clientToken", "applicationId", "tags")}
        check_network(self.world, call.region, changes.get("networkConfiguration"))
        release = changes.get("releaseLabel")
        if release and not _RELEASES.match(release):
            raise invalid(f"Release label {release} is invalid or not supported.")
        application.config.update(changes)
        application.updated = self._now()
        return _reply({"application": application.shown(self._now())})

    def _delete(self, call: Call, caller: Caller) -> Answer:
        application = self._application(call)
        self._must_be(application, "CREATED", "STOPPED")
        application.timeline.turn(self._now(), (0, "TERMINATED", ""))
        return _reply({})

    def _start(self, call: Call, caller: Caller) -> Answer:
        application = self._application(call)
        self._must_be(application, "CREATED", "STOPPED", "STARTING", "STARTED")
        check_network(self.world, call.region, application.config.get("networkConfiguration"))
        application.start(self._now(), self.world.settings.life)
        return _reply({})

    def _stop(self, call: Call, caller: Caller) -> Answer:
        application, now = self._application(call), self._now()
        self._must_be(application, "CREATED", "STARTING", "STARTED", "STOPPING", "STOPPED")
        if application.active_jobs(now):
            raise invalid(f"Application {application.id} has active job runs: cancel them or wait for their end.")
        if application.state(now).state in ("STARTING", "STARTED"):
            application.stop(now, self.world.settings.life)
        return _reply({})

    def _tag(self, call: Call, caller: Caller) -> Answer:
        arn = unquote(call.params["resourceArn"])
        application = next((a for a in self.applications.values() if arn == a.arn), None)
        job = next((j for a in self.applications.values() for j in a.jobs.values() if j.arn == arn), None)
        if application is None and job is None:
            raise _absent("Resource", arn)
        tags: dict[str, str] = application.tags if application else job.request.setdefault("tags", {})  # type: ignore[union-attr]
        if call.operation == "TagResource":
            tags.update(call.params.get("tags") or {})
        elif call.operation == "UntagResource":
            for name, value in call.query:
                if name == "tagKeys":
                    tags.pop(value, None)
        return _reply({"tags": dict(tags)} if call.operation == "ListTagsForResource" else {})

    # Job runs.

    def _run(self, call: Call, caller: Caller) -> Answer:
        application, params, now = self._application(call), dict(call.params), self._now()
        fingerprint = self._fingerprint(params)
        for known in application.jobs.values():
            if known.token == params["clientToken"]:
                self._same(known.fingerprint, fingerprint)
                return self._started(known)
        if f"::{self.world.account}:" not in params["executionRoleArn"]:
            raise AwsError("AccessDeniedException", "Cross-account pass role is not allowed.", self._denied())
        if not params.get("jobDriver", {}).get("sparkSubmit"):
            raise invalid("jobDriver must hold sparkSubmit for an application of type Spark.")
        minutes = params.get("executionTimeoutMinutes", 720)
        if minutes and minutes < 5:
            raise invalid("executionTimeoutMinutes must be 0 or at least 5.")
        if application.auto_start:
            self._must_be(application, "CREATED", "STOPPED", "STARTING", "STARTED")
        else:
            self._must_be(application, "STARTED", "STARTING")
        identifier = new_id()
        job = JobRun(
            identifier,
            f"{application.arn}/jobruns/{identifier}",
            application,
            params,
            caller.principal,
            now,
            Timeline([Stage(now, "SUBMITTED")]),
            self.next_jobs.pop(0) if self.next_jobs else {},
            params["clientToken"],
            fingerprint,
        )
        life = self.world.settings.life
        started = application.start(now, life) - now
        pending = max(life.submitted, started)
        steps = [(life.submitted, "PENDING", ""), (pending + life.pending, "SCHEDULED", "")]
        if job.script.get("stay") == "QUEUED":
            steps = [(life.submitted, "QUEUED", "")]
        elif job.script.get("stay") == "PENDING":
            steps = steps[:1]
        job.timeline.turn(now, *steps)
        application.jobs[identifier] = job
        return self._started(job)

    def _denied(self) -> int:
        return self.world.settings.emr_denied_status

    @staticmethod
    def _started(job: JobRun) -> Answer:
        return _reply({"applicationId": job.application.id, "jobRunId": job.id, "arn": job.arn})

    def _list_jobs(self, call: Call, caller: Caller) -> Answer:
        application, now = self._application(call), self._now()
        states = {v for n, v in call.query if n == "states"}
        rows = [job_summary(job, now) for job in application.jobs.values()]
        rows.sort(key=lambda row: -row["createdAt"])
        return self._page(call, "jobRuns", [r for r in rows if not states or r["state"] in states])

    def _cancel(self, call: Call, caller: Caller) -> Answer:
        job, now = self._job(call), self._now()
        if job.state(now).state not in (*FINAL, "CANCELLING"):
            seconds = self.world.settings.life.cancelling
            job.timeline.turn(now, (0, "CANCELLING", ""), (seconds, "CANCELLED", "JobRun CANCELLED successfully."))
            job.ran = job.role_checked = True
        return _reply({"applicationId": job.application.id, "jobRunId": job.id})

    # Time passes.

    def settle(self) -> None:
        """Bring every application and job run up to the present: called before each call is judged."""
        now = self._now()
        for application in list(self.applications.values()):
            for job in application.jobs.values():
                self._advance(job, now)
            application.rest(now, self.world.settings.life)

    def _advance(self, job: JobRun, now: float) -> None:
        life = self.world.settings.life
        scheduled = job.timeline.begins("SCHEDULED")
        if not job.role_checked and scheduled is not None and scheduled <= now:
            job.role_checked = True
            if job.script.get("stay") == "SCHEDULED":
                job.ran = True
                return
            if emr_jobs.may_run(self.world, job, scheduled) is None:
                job.ran = True
                reason = (
                    f"Could not assume runtime role {job.role} because it doesn't exist or isn't setup with the "
                    "required trust relationship."
                )
                job.timeline.turn(scheduled, (life.scheduled, "FAILED", reason[:256]))
                return
            job.timeline.turn(scheduled, (life.scheduled, "RUNNING", ""))
        running = job.timeline.begins("RUNNING")
        if not job.ran and running is not None and running + life.running <= now:
            job.ran = True
            if job.script.get("stay") != "RUNNING":
                state, details = self._outcome(job, running)
                job.timeline.turn(running, (life.running, state, details[:256]))

    def _outcome(self, job: JobRun, moment: float) -> tuple[str, str]:
        if job.script.get("fail"):
            return "FAILED", job.script["fail"]
        role = emr_jobs.may_run(self.world, job, moment)
        if role is None:
            return "FAILED", f"The role {job.role} was lost while the job ran."
        internet = emr_jobs.reaches_internet(self.world, job)
        context = emr_jobs.JobContext(self.world, job, role, internet, emr_jobs.arguments_of(job))
        try:
            self.runner(context)
        except emr_jobs.JobFailure as failure:
            return "FAILED", str(failure)
        return "SUCCESS", ""
