"""What a job run does, imitated: no Spark runs, but everything that can go wrong for want of a right is found.

At SCHEDULED the service assumes the execution role: it must exist, trust emr-serverless.amazonaws.com, and have
reached the service. While RUNNING the job, with the role's own policies, reads its entry point, the parameter
with the catalog's credential, its input; it needs a way to the internet for the catalog; and it writes what a
job that follows this contract of arguments writes:

    --status-output s3://…       {"success": true} goes there (on failure {"success": false, "error": …})
    --input-uri s3://…           is read and deleted
    --credential-secret-name N   the parameter N is read and decrypted
    --catalog-url URL            needs the internet (so does reading a parameter without an endpoint for it)

A test in this process can put a function of its own in the place of `run`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from urllib.parse import quote

from .emr_life import JobRun
from .network import Ec2Reader, lets_https_out, text
from .policies import Need, Principal, judge, may_assume
from .service import World

SERVICE = "emr-serverless.amazonaws.com"


class JobFailure(Exception):
    """Why a job run ends FAILED: its stateDetails."""


@dataclass
class JobContext:
    """What a running job can do."""

    world: World
    job: JobRun
    role: Principal
    internet: bool
    arguments: dict[str, str]

    def require(self, action: str, resource: str, doing: str) -> None:
        """Fail as a job does whose role may not do this."""
        need = Need(action, resource)
        verdict = judge(self.role, need, {"aws:requestedregion": [self.job.application.region]})
        if not verdict.allowed:
            raise JobFailure(
                f"Job failed, ExitCode: 1. {doing}: User: {self.role.arn} is not authorized to perform: {action} "
                f"on resource: {resource} {verdict.reason}"
            )

    def s3_arn(self, uri: str) -> str:
        """The ARN of an object by its URI."""
        bucket, key = split_uri(uri)
        return f"arn:{self.world.settings.partition}:s3:::{bucket}/{key}"

    def s3(self, method: str, uri: str, body: bytes = b"") -> int:
        """Touch an object without asking anybody; the HTTP status."""
        bucket, key = split_uri(uri)
        target = f"/{bucket}/{quote(key)}"
        region = self.job.application.region
        return self.world.backend.forward("s3", region, method, target, [], body).status

    def fail_unless_found(self, uri: str, doing: str) -> None:
        """Read an object: permission, bucket, existence."""
        self.require("s3:GetObject", self.s3_arn(uri), doing)
        if self.s3("HEAD", uri) != 200:
            raise JobFailure(f"Job failed, ExitCode: 1. {doing}: {uri} does not exist")


def split_uri(uri: str) -> tuple[str, str]:
    """Bucket and key of `s3://bucket/key`."""
    found = re.fullmatch(r"s3a?://([^/]+)/(.*)", uri)
    if not found:
        raise JobFailure(f"not an S3 URI: {uri}")
    return found[1], found[2]


def may_run(world: World, job: JobRun, moment: float) -> Principal | None:
    """The execution role's session, if the service can assume the role at that moment."""
    role = world.directory.seen_by("emr-serverless", moment).role_by_arn(job.role)
    if role is None or role.trust is None:
        return None
    context = {"aws:sourceaccount": [world.account], "aws:sourcearn": [job.application.arn]}
    if may_assume(role.trust, world.callers.service(SERVICE), "sts:AssumeRole", context) != "self":
        return None
    return world.callers.role_session(role, job.id)


def arguments_of(job: JobRun) -> dict[str, str]:
    """The arguments of the entry point, `--name value` by name."""
    given = job.request.get("jobDriver", {}).get("sparkSubmit", {}).get("entryPointArguments", [])
    found: dict[str, str] = {}
    for index, word in enumerate(given):
        if word.startswith("--"):
            name, _, value = word[2:].partition("=")
            found[name] = value or (given[index + 1] if index + 1 < len(given) else "")
    return found


def reaches_internet(world: World, job: JobRun) -> bool:
    """Whether the job's network leads out: every chosen subnet and one of the groups must."""
    chosen = job.application.config.get("networkConfiguration", {})
    if not chosen.get("subnetIds"):
        return False
    ec2 = Ec2Reader(world.backend, job.application.region)
    subnets = [ec2.subnet(s) for s in chosen["subnetIds"]]
    groups = [ec2.group(g) for g in chosen.get("securityGroupIds", [])]
    out = all(s is not None and ec2.way_out(s) for s in subnets)
    return out and any(g is not None and lets_https_out(g) for g in groups)


def _reaches(world: World, job: JobRun, service: str, internet: bool) -> bool:
    """Whether a service of AWS can be reached: by the internet or by an endpoint in the VPC."""
    chosen = job.application.config.get("networkConfiguration", {}).get("subnetIds")
    if internet:
        return True
    if not chosen:
        return service == "s3"
    ec2 = Ec2Reader(world.backend, job.application.region)
    subnet = ec2.subnet(chosen[0])
    return subnet is not None and ec2.has_endpoint(text(subnet, "vpcId"), service)


def _timeout(what: str) -> JobFailure:
    return JobFailure(f"Job failed, ExitCode: 1. Last few exceptions: Connect timeout on endpoint URL: {what}")


def run(context: JobContext) -> None:
    """The body of a job run by the contract in the module's text. Raises JobFailure."""
    world, job, given = context.world, context.job, context.arguments
    region = job.application.region
    if not _reaches(world, job, "s3", context.internet):
        raise _timeout(f"s3.{region}.amazonaws.com")
    entry = job.request.get("jobDriver", {}).get("sparkSubmit", {}).get("entryPoint", "")
    if entry.startswith("s3"):
        bucket = f"arn:{world.settings.partition}:s3:::{split_uri(entry)[0]}"
        context.require("s3:ListBucket", bucket, "reading the entry point")
        context.fail_unless_found(entry, "reading the entry point")
    output = given.get("status-output")
    try:
        _work(context, given, region)
    except JobFailure as failure:
        if output:
            _write(context, output, {"success": False, "error": str(failure)})
        raise
    if output:
        context.require("s3:PutObject", context.s3_arn(output), "writing the status")
        _write(context, output, {"success": True})


def _write(context: JobContext, uri: str, status: dict[str, object]) -> None:
    verdict = judge(context.role, Need("s3:PutObject", context.s3_arn(uri)), {})
    if verdict.allowed:
        context.s3("PUT", uri, json.dumps(status).encode())


def _work(context: JobContext, given: dict[str, str], region: str) -> None:
    world = context.world
    if given.get("input-uri"):
        context.fail_unless_found(given["input-uri"], "reading the input")
    name = given.get("credential-secret-name")
    if name:
        if not _reaches(world, context.job, "ssm", context.internet):
            raise _timeout(f"ssm.{region}.amazonaws.com")
        slash = "" if name.startswith("/") else "/"
        arn = world.arn("ssm", region, f"parameter{slash}{name}")
        context.require("ssm:GetParameter", arn, "reading the parameter")
        body = json.dumps({"Name": name}).encode()
        headers = [("X-Amz-Target", "AmazonSSM.GetParameter"), ("Content-Type", "application/x-amz-json-1.1")]
        if world.backend.forward("ssm", region, "POST", "/", headers, body).status != 200:
            raise JobFailure(f"ParameterNotFound: {name}")
    if given.get("catalog-url") and not context.internet:
        raise _timeout(given["catalog-url"])
    if given.get("input-uri"):
        context.require("s3:DeleteObject", context.s3_arn(given["input-uri"]), "deleting the input")
        context.s3("DELETE", given["input-uri"])
