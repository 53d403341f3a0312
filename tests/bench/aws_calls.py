"""What a client asked of the stand-in for AWS, as calls that other clients can make: service, operation, parameters.

The parameters are read back from the requests by AWS's own service models (botocore carries them), so that the peers send
the same. What is only known while it runs, the id of the application and the new access key, stands as a placeholder."""

import base64
import re
import threading
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import botocore.loaders
import botocore.model

from tests.services.aws import AwsStandIn
from tests.services.aws.messages import Call, Request
from tests.services.aws.routing import parse, route

APPLICATION, KEY = "@application@", "@key@"
# Members that each client makes itself for what it sends.
OWN = re.compile(r"Checksum|ContentMD5|ContentLength|SdkChecksum|ExpectedBucketOwner")


@contextmanager
def listening(aws: AwsStandIn) -> Iterator[list[dict[str, Any]]]:
    """Collects the calls of a block in the order in which they arrived: "service" "operation" "params" "signer" (admin,
    user or none) "status" "ms" (what the stand-in itself took)."""
    inner, heard, lock = aws.front.handle, [], threading.Lock()

    def handle(request: Request):
        with lock:
            heard.append((request, entry := {}))
        answer, delivery = inner(request)
        entry["status"] = answer.status
        return answer, delivery

    found: list[dict[str, Any]] = []
    mark = aws.log.mark()
    aws.front.handle = handle   # type: ignore[method-assign]
    try:
        yield found
    finally:
        aws.front.handle = inner   # type: ignore[method-assign]
    known = _known(aws)
    found += [{**_call(aws, request, known), **entry} for request, entry in heard]
    assert len(found) == len(aws.log.entries(mark))


def _known(aws: AwsStandIn) -> dict[str, str]:
    held = aws.contents()
    return {**{value: APPLICATION for value in held["applications"]}, **{value: KEY for value in held["keys"]}}


def _call(aws: AwsStandIn, request: Request, known: dict[str, str]) -> dict[str, Any]:
    call = route(request, aws.settings)
    parse(call)
    key = re.search(r"Credential=([^/]+)/", request.header("authorization") or "")
    signer = "none" if not key else "admin" if key[1] == aws.admin_key else "user"
    shape = _model(call.service).operation_model(call.operation).input_shape
    params = _params(call, shape) if shape else {}
    return {"service": call.service, "operation": call.operation, "signer": signer, "params": _hide(params, known)}


@lru_cache
def _model(service: str) -> botocore.model.ServiceModel:
    return botocore.model.ServiceModel(botocore.loaders.Loader().load_service_model(service, "service-2"), service)


def _hide(value: Any, known: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _hide(each, known) for name, each in value.items()}
    if isinstance(value, list):
        return [_hide(each, known) for each in value]
    if isinstance(value, str):
        for text, placeholder in known.items():
            value = value.replace(text, placeholder)
    return value


def _params(call: Call, shape: Any) -> dict[str, Any]:
    if call.protocol in ("query", "ec2"):
        return _form(shape, call.params, "", call.protocol) or {}
    params = dict(call.params)
    for name, member in shape.members.items():
        where, wire = member.serialization.get("location"), member.serialization.get("locationName", name)
        if OWN.search(name):
            continue
        if where == "querystring" and (given := call.asked(wire)) is not None:
            params[name] = _scalar(member, given)
        elif where == "uri" and call.service == "s3":
            params[name] = {"Bucket": call.bucket, "Key": call.key}[name]
        elif where == "header" and (given := call.request.header(wire.lower())) is not None:
            params[name] = _scalar(member, given)
    body = shape.serialization.get("payload")
    if call.service == "s3" and body and call.payload:
        member = shape.members[body]
        params[body] = (_xml(member, ElementTree.fromstring(call.payload)) if member.type_name == "structure"
                        else {"base64": base64.b64encode(call.payload).decode()})
    return params


def _scalar(shape: Any, text: str) -> Any:
    if shape.type_name in ("integer", "long"):
        return int(text)
    return text == "true" if shape.type_name == "boolean" else text


def _form(shape: Any, flat: dict[str, str], prefix: str, protocol: str) -> Any:
    """A member of a form: None when it is not there."""
    if shape.type_name == "structure":
        found = {}
        for name, member in shape.members.items():
            wire = member.serialization.get("locationName", name)
            if protocol == "ec2":
                wire = member.serialization.get("queryName") or wire[:1].upper() + wire[1:]
            value = _form(member, flat, f"{prefix}.{wire}".lstrip("."), protocol)
            if value is not None:
                found[name] = value
        return found or None
    if shape.type_name == "list":
        step = "" if protocol == "ec2" or shape.serialization.get("flattened") else ".member"
        items = []
        while (value := _form(shape.member, flat, f"{prefix}{step}.{len(items) + 1}", protocol)) is not None:
            items.append(value)
        return items or None
    return _scalar(shape, flat[prefix]) if prefix in flat else None


def _xml(shape: Any, element: ElementTree.Element) -> Any:
    def children(of: ElementTree.Element, name: str) -> list[ElementTree.Element]:
        return [each for each in of if each.tag.rpartition("}")[2] == name]

    if shape.type_name == "structure":
        found = {}
        for name, member in shape.members.items():
            wire = member.serialization.get("locationName", name)
            if not (there := children(element, wire)):
                continue
            if member.type_name == "list":
                several = there if member.serialization.get("flattened") else list(there[0])
                found[name] = [_xml(member.member, each) for each in several]
            else:
                found[name] = _xml(member, there[0])
        return found
    return _scalar(shape, element.text or "")
