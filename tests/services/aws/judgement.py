"""One call before the law: the condition keys it has, the verdict over each need, the refusal in AWS's words."""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass

from .clock import iso
from .errors import AwsError, failure
from .messages import Call
from .policies import Document, Need, Verdict, judge
from .service import Caller, World


@dataclass(frozen=True)
class Judged:
    """A need and what was decided, for the request log."""

    need: Need
    verdict: Verdict

    def log(self) -> dict[str, str]:
        """As the request log shows it."""
        found = {
            "action": self.need.action,
            "resource": self.need.resource,
            "verdict": "allow" if self.verdict.allowed else "deny",
        }
        if self.verdict.sid:
            found["sid"] = self.verdict.sid
        if self.verdict.reason:
            found["reason"] = self.verdict.reason
        return found


def shared_context(world: World, call: Call, caller: Caller) -> dict[str, list[str]]:
    """The condition keys that every request has."""
    now = world.clock.now()
    context = {
        "aws:CurrentTime": [iso(now)],
        "aws:EpochTime": [str(int(now))],
        "aws:SecureTransport": ["true" if call.request.secure else "false"],
        "aws:SourceIp": ["127.0.0.1"],
        "aws:RequestedRegion": [call.region],
        "aws:UserAgent": [call.request.header("user-agent") or ""],
    }
    if caller.credential.session is not None:
        context["aws:MultiFactorAuthPresent"] = ["false"]
    return context


def judged(world: World, call: Call, caller: Caller, need: Need) -> Verdict:
    """The verdict over one need of a call."""
    organisation = tuple(Document(f"organisation-{i}", t) for i, t in enumerate(world.settings.organisation_policies))
    return judge(caller.principal, need, shared_context(world, call, caller), organisation)


def refusal(world: World, call: Call, caller: Caller, need: Need, verdict: Verdict) -> AwsError:
    """The refusal of one need, as the service of the call words it."""
    text = f"User: {caller.principal.arn} is not authorized to perform: {need.action}"
    if need.shown is not None and not (call.service == "ec2" and need.resource == "*"):
        shown = need.shown or need.resource
        text += f' on resource: "{shown}"' if call.service == "s3" else f" on resource: {shown}"
    text += f" {verdict.reason}"
    if call.service == "ec2":
        blob = base64.urlsafe_b64encode(os.urandom(96)).decode()
        text = f"You are not authorized to perform this operation. {text}. "
        text += f"Encoded authorization failure message: {blob}"
    error = failure("denied", call.service, text)
    if call.service == "emr-serverless":
        error.status = world.settings.emr_denied_status
    return error
