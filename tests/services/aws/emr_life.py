"""EMR Serverless's things and their states over time: applications and job runs.

A thing carries its states with the moments at which they begin; what is asked later sees the one whose moment
has come. Nothing sleeps: the clock decides.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any

from .policies import Principal
from .settings import Life

FINAL = ("SUCCESS", "FAILED", "CANCELLED")
_ALPHABET = "0123456789abcdefghijklmnopqrstuv"


def new_id() -> str:
    """An identifier like AWS's: `00f` and thirteen more of 0-9a-v."""
    return "00f" + "".join(secrets.choice(_ALPHABET) for _ in range(13))


@dataclass
class Stage:
    """One state and when it begins."""

    at: float
    state: str
    details: str = ""


@dataclass
class Timeline:
    """States in the order of their beginnings."""

    stages: list[Stage]

    def at(self, now: float) -> Stage:
        """The state that holds at a moment."""
        found = self.stages[0]
        for stage in self.stages:
            if stage.at <= now:
                found = stage
        return found

    def turn(self, now: float, *steps: tuple[float, str, str]) -> None:
        """Forget what was still to come and enter new states, each so many seconds after now."""
        self.stages = [stage for stage in self.stages if stage.at <= now]
        self.stages += [Stage(now + delay, state, details) for delay, state, details in steps]

    def begins(self, state: str) -> float | None:
        """When a state begins (the last time), or None."""
        found = [stage.at for stage in self.stages if stage.state == state]
        return found[-1] if found else None


@dataclass
class JobRun:
    """One job run and what it was asked to do."""

    id: str
    arn: str
    application: Application
    request: dict[str, Any]
    caller: Principal
    created: float
    timeline: Timeline
    #: What a test wants of it: {"fail": text}, {"stay": state}; empty for an honest run.
    script: dict[str, str] = field(default_factory=dict)
    token: str = ""
    fingerprint: str = ""
    role_checked: bool = False
    ran: bool = False

    @property
    def role(self) -> str:
        """The execution role's ARN."""
        return str(self.request["executionRoleArn"])

    def state(self, now: float) -> Stage:
        """The state at a moment."""
        return self.timeline.at(now)


@dataclass
class Application:
    """One application; `config` holds every field it was created with."""

    id: str
    arn: str
    region: str
    config: dict[str, Any]
    tags: dict[str, str]
    created: float
    timeline: Timeline
    updated: float = 0.0
    token: str = ""
    fingerprint: str = ""
    jobs: dict[str, JobRun] = field(default_factory=dict)

    def state(self, now: float) -> Stage:
        """The state at a moment."""
        return self.timeline.at(now)

    @property
    def auto_start(self) -> bool:
        """Whether a job run starts it."""
        return bool(self.config.get("autoStartConfiguration", {}).get("enabled", True))

    def active_jobs(self, now: float) -> list[JobRun]:
        """Job runs that have not ended."""
        return [job for job in self.jobs.values() if job.state(now).state not in FINAL]

    def start(self, now: float, life: Life) -> float:
        """Start unless it is started; the moment from which it is."""
        state = self.state(now).state
        if state == "STARTED":
            return now
        if state != "STARTING":
            self.timeline.turn(now, (0, "STARTING", ""), (life.starting, "STARTED", ""))
        return self.timeline.begins("STARTED") or now

    def stop(self, now: float, life: Life) -> None:
        """Stop."""
        self.timeline.turn(now, (0, "STOPPING", ""), (life.stopping, "STOPPED", ""))

    def rest(self, now: float, life: Life) -> None:
        """Stop by itself after the idle time, if it is to."""
        auto = self.config.get("autoStopConfiguration", {})
        if not auto.get("enabled", True) or self.state(now).state != "STARTED" or self.active_jobs(now):
            return
        ends = [job.timeline.stages[-1].at for job in self.jobs.values()]
        since = max([self.timeline.begins("STARTED") or now, *ends])
        stopping = since + 60.0 * int(auto.get("idleTimeoutMinutes", 15))
        if stopping <= now:
            self.timeline.stages.append(Stage(stopping, "STOPPING"))
            self.timeline.stages.append(Stage(stopping + life.stopping, "STOPPED", "AUTO_STOPPING"))

    def summary(self, now: float) -> dict[str, Any]:
        """As ListApplications shows it."""
        stage = self.state(now)
        shown = {
            "id": self.id,
            "arn": self.arn,
            "releaseLabel": self.config["releaseLabel"],
            "type": self.config["type"],
            "state": stage.state,
            "createdAt": self.created,
            "updatedAt": max(self.updated, stage.at),
            "architecture": self.config.get("architecture", "X86_64"),
        }
        if self.config.get("name"):
            shown["name"] = self.config["name"]
        if stage.details:
            shown["stateDetails"] = stage.details
        return shown

    def shown(self, now: float) -> dict[str, Any]:
        """As GetApplication shows it: everything it was given comes back."""
        full = {**self.config, **self.summary(now), "applicationId": self.id, "tags": dict(self.tags)}
        del full["id"]
        full.setdefault("autoStartConfiguration", {"enabled": True})
        full.setdefault("autoStopConfiguration", {"enabled": True, "idleTimeoutMinutes": 15})
        return full


def job_summary(job: JobRun, now: float) -> dict[str, Any]:
    """As ListJobRuns shows a job run."""
    stage = job.state(now)
    shown = {
        "applicationId": job.application.id,
        "id": job.id,
        "arn": job.arn,
        "createdBy": job.caller.arn,
        "createdAt": job.created,
        "updatedAt": max(job.created, stage.at),
        "executionRole": job.role,
        "state": stage.state,
        "stateDetails": stage.details,
        "releaseLabel": job.application.config["releaseLabel"],
        "type": "SPARK",
        "mode": job.request.get("mode", "BATCH"),
        "attempt": 1,
        "attemptCreatedAt": job.created,
        "attemptUpdatedAt": max(job.created, stage.at),
    }
    if job.request.get("name"):
        shown["name"] = job.request["name"]
    return shown


def job_shown(job: JobRun, now: float) -> dict[str, Any]:
    """As GetJobRun shows a job run."""
    full = job_summary(job, now)
    full["jobRunId"] = full.pop("id")
    full.pop("type")
    full["tags"] = dict(job.request.get("tags", {}))
    full["jobDriver"] = job.request.get("jobDriver", {})
    full["executionTimeoutMinutes"] = job.request.get("executionTimeoutMinutes", 720)
    for name in ("configurationOverrides", "executionIamPolicy", "retryPolicy"):
        if name in job.request:
            full[name] = job.request[name]
    if "networkConfiguration" in job.application.config:
        full["networkConfiguration"] = job.application.config["networkConfiguration"]
    running = job.timeline.begins("RUNNING")
    if running is not None and running <= now:
        full["startedAt"] = running
        end = job.state(now)
        seconds = (end.at if end.state in FINAL else now) - running
        full["totalExecutionDurationSeconds"] = int(seconds)
        if end.state in FINAL:
            hours = max(seconds, 60.0) / 3600
            used = {"vCPUHour": round(12 * hours, 3), "memoryGBHour": round(54 * hours, 3), "storageGBHour": 0.0}
            full.update(endedAt=end.at, totalResourceUtilization=used, billedResourceUtilization=dict(used))
    return full
