"""From a request to a call: which service, which operation, which region, with which parameters.

One port serves all six services. A host name of AWS decides if there is one; else the service named in the
signature's scope; else, for the few calls that may come unsigned, what the request looks like.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qsl, unquote

from .errors import AwsError
from .messages import Call, Request, split_query
from .s3_operations import s3_operation
from .settings import GLOBAL_REGION, Settings

PROTOCOLS = {
    "sts": "query",
    "iam": "query",
    "ec2": "ec2",
    "ssm": "json",
    "emr-serverless": "rest-json",
    "s3": "rest-xml",
}
VERSIONS = {"sts": "2011-06-15", "iam": "2010-05-08", "ec2": "2016-11-15"}

_HOST = re.compile(
    r"^(?:(?P<bucket>[^/]+)\.)?(?P<service>sts|iam|s3|ssm|ec2|emr-serverless)"
    r"(?:\.(?P<region>[a-z]{2}(?:-[a-z]+)+-\d))?\.(?:amazonaws\.com(?:\.cn)?|aws\.localhost)$"
)
_SCOPE = re.compile(r"Credential=[^/,\s]+/[^/,\s]*/([^/,\s]*)/([^/,\s]*)/")

_EMR = (
    ("POST", r"/applications", "CreateApplication"),
    ("GET", r"/applications", "ListApplications"),
    ("GET", r"/applications/(?P<applicationId>[^/]+)", "GetApplication"),
    ("PATCH", r"/applications/(?P<applicationId>[^/]+)", "UpdateApplication"),
    ("DELETE", r"/applications/(?P<applicationId>[^/]+)", "DeleteApplication"),
    ("POST", r"/applications/(?P<applicationId>[^/]+)/start", "StartApplication"),
    ("POST", r"/applications/(?P<applicationId>[^/]+)/stop", "StopApplication"),
    ("POST", r"/applications/(?P<applicationId>[^/]+)/jobruns", "StartJobRun"),
    ("GET", r"/applications/(?P<applicationId>[^/]+)/jobruns", "ListJobRuns"),
    ("GET", r"/applications/(?P<applicationId>[^/]+)/jobruns/(?P<jobRunId>[^/]+)", "GetJobRun"),
    ("DELETE", r"/applications/(?P<applicationId>[^/]+)/jobruns/(?P<jobRunId>[^/]+)", "CancelJobRun"),
    ("GET", r"/tags/(?P<resourceArn>.+)", "ListTagsForResource"),
    ("POST", r"/tags/(?P<resourceArn>.+)", "TagResource"),
    ("DELETE", r"/tags/(?P<resourceArn>.+)", "UntagResource"),
)


def scope_of(request: Request) -> tuple[str, str]:
    """(region, service) of the signature's scope as claimed; empty when unsigned or unreadable."""
    given = request.header("authorization")
    if given:
        found = _SCOPE.search(given)
        return (found[1], found[2]) if found else ("", "")
    for name, value in split_query(request.query):
        if name.lower() == "x-amz-credential" and value.count("/") >= 4:
            parts = value.rsplit("/", 4)
            return parts[2], parts[3]
    return "", ""


def _looks_like(request: Request) -> str:
    """The service of an unsigned request, by its shape; S3 is what everything else looks like."""
    if (request.header("x-amz-target") or "").startswith("AmazonSSM."):
        return "ssm"
    kind = request.header("content-type") or ""
    if kind.startswith("application/x-www-form-urlencoded") and request.path == "/":
        form = dict(parse_qsl(request.body.decode("utf-8", "replace")))
        for service, version in VERSIONS.items():
            if form.get("Version") == version:
                return service
    if re.match(r"^/(applications|tags)(/|$)", request.path) and "json" in kind:
        return "emr-serverless"
    return "s3"


def route(request: Request, settings: Settings) -> Call:
    """Understand a request. Raises AwsError for what no AWS endpoint would understand."""
    host = (request.header("host") or "").rsplit(":", 1)[0].lower()
    named = _HOST.match(host)
    scope_region, scope_service = scope_of(request)
    pinned = request.pinned_region
    bucket = ""
    if named:
        service = named["service"]
        pinned = named["region"] or pinned
        bucket = named["bucket"] or ""
        if bucket and service != "s3":
            raise AwsError("UnknownEndpoint", f"no such host: {host}", 400)
    else:
        service = scope_service or _looks_like(request)
    if service not in PROTOCOLS:
        raise AwsError("UnknownEndpoint", f"this stand-in has no service {service!r}", 501)
    call = Call(
        request=request,
        service=service,
        protocol=PROTOCOLS[service],
        operation="",
        region=scope_region or pinned or settings.region,
        pinned_region=pinned,
        query=split_query(request.query),
        payload=request.body,
    )
    if service == "iam":
        call.region = GLOBAL_REGION[settings.partition]
    elif pinned and service != "s3":
        call.region = pinned
    if service == "s3":
        _route_s3(call, bucket)
    return call


def parse(call: Call) -> None:
    """Read operation and parameters out of the payload: done once the signature has been found good."""
    if call.protocol in ("query", "ec2"):
        _parse_form(call)
    elif call.protocol == "json":
        target = call.request.header("x-amz-target") or ""
        prefix, _, operation = target.partition(".")
        if prefix != "AmazonSSM" or not operation:
            raise AwsError("UnknownOperationException", "", 400)
        call.operation = operation
        call.params = _json(call)
    elif call.protocol == "rest-json":
        _parse_emr(call)


def _route_s3(call: Call, bucket: str) -> None:
    path = call.request.path
    if bucket:
        call.bucket, call.key = bucket, unquote(path[1:])
    else:
        first, _, rest = path[1:].partition("/")
        call.bucket, call.key = unquote(first), unquote(rest)
    call.operation = s3_operation(call)


def _parse_form(call: Call) -> None:
    body = call.payload.decode("utf-8", "replace")
    text = body if call.request.method == "POST" else call.request.query
    form = dict(parse_qsl(text, keep_blank_values=True))
    call.operation = form.pop("Action", "")
    version = form.pop("Version", "")
    call.params = dict(form)
    if not call.operation:
        raise AwsError("MissingAction", "Request must contain the parameter Action", 400)
    if version != VERSIONS[call.service]:
        raise AwsError("InvalidAction", f"Could not find operation {call.operation} for version {version}", 400)


def _json(call: Call) -> dict[str, Any]:
    if not call.payload:
        return {}
    try:
        parsed = json.loads(call.payload)
    except ValueError as wrong:
        raise AwsError("SerializationException", str(wrong), 400) from wrong
    if not isinstance(parsed, dict):
        raise AwsError("SerializationException", "Start of structure or map found where not expected.", 400)
    return parsed


def _parse_emr(call: Call) -> None:
    path = call.request.path
    for method, pattern, operation in _EMR:
        found = re.fullmatch(pattern, path)
        if found and method == call.request.method:
            call.operation = operation
            call.params = _json(call)
            call.params.update({k: unquote(v) for k, v in found.groupdict().items()})
            return
    raise AwsError("UnknownOperationException", f"no operation {call.request.method} {path}", 404)


def members(params: dict[str, Any], name: str) -> list[str]:
    """The list `name.member.N` of a form, in order."""
    found = []
    for index in range(1, 1000):
        value = params.get(f"{name}.member.{index}")
        if value is None:
            break
        found.append(str(value))
    return found


def pairs(params: dict[str, Any], name: str, key: str = "Key", value: str = "Value") -> dict[str, str]:
    """The list of structures `name.member.N.Key/Value` of a form as a mapping (tags, above all)."""
    found = {}
    for index in range(1, 1000):
        label = params.get(f"{name}.member.{index}.{key}")
        if label is None:
            break
        found[str(label)] = str(params.get(f"{name}.member.{index}.{value}", ""))
    return found
