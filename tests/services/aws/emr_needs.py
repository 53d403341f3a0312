"""Which permission on which resource each operation of EMR Serverless needs.

Applications are made and listed on `…:/*`, the resource that AWS's own managed policies name for these two; a
statement about one application does not reach it.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from .emr_jobs import SERVICE
from .messages import Call
from .policies import Need
from .service import World

#: The service's own role acts for it in EC2, and is made with the first application.
OWN_ROLE = "ops.emr-serverless.amazonaws.com"
_ON_APPLICATION = frozenset(
    "GetApplication UpdateApplication DeleteApplication StartApplication StopApplication "
    "ListJobRuns StartJobRun".split()
)
_ON_TAGS = frozenset("TagResource UntagResource ListTagsForResource".split())


def _tag_context(call: Call) -> dict[str, list[str]]:
    tags: dict[str, Any] = call.params.get("tags") or {}
    context = {f"aws:RequestTag/{key}": [str(value)] for key, value in tags.items()}
    keys = list(tags) or [value for name, value in call.query if name == "tagKeys"]
    if keys:
        context["aws:TagKeys"] = keys
    return context


def emr_needs(world: World, call: Call, resource_tags: dict[str, str]) -> list[Need] | None:
    """The needs of one call; None for an operation that is not part of the stand-in."""
    action, params, tagged = f"emr-serverless:{call.operation}", call.params, _tag_context(call)
    if call.operation == "ListApplications":
        return [Need(action, world.arn("emr-serverless", call.region, "/*"))]
    if call.operation == "CreateApplication":
        return _create_needs(world, call, tagged)
    if call.operation in _ON_TAGS:
        return [Need(action, unquote(params["resourceArn"]), tagged)]
    arn = world.arn("emr-serverless", call.region, f"/applications/{params.get('applicationId')}")
    if call.operation in _ON_APPLICATION:
        context = {**tagged, **{f"aws:ResourceTag/{k}": [v] for k, v in resource_tags.items()}}
        needs = [Need(action, arn, context)]
        if call.operation == "StartJobRun":
            needs += _start_needs(params, arn, tagged)
        return needs
    if call.operation in ("GetJobRun", "CancelJobRun"):
        return [Need(action, f"{arn}/jobruns/{params['jobRunId']}")]
    return None


def _create_needs(world: World, call: Call, tagged: dict[str, list[str]]) -> list[Need]:
    needs = [Need("emr-serverless:CreateApplication", world.arn("emr-serverless", call.region, "/*"), tagged)]
    if tagged:
        every = world.arn("emr-serverless", call.region, "/applications/*")
        needs.append(Need("emr-serverless:TagResource", every, tagged))
    if (call.params.get("networkConfiguration") or {}).get("subnetIds"):
        via = {"aws:CalledViaLast": [OWN_ROLE], "aws:CalledViaFirst": [OWN_ROLE], "aws:CalledVia": [OWN_ROLE]}
        card = world.arn("ec2", call.region, "network-interface/*")
        needs.append(Need("ec2:CreateNetworkInterface", card, via))
    return needs


def _start_needs(params: dict[str, Any], arn: str, tagged: dict[str, list[str]]) -> list[Need]:
    needs = []
    if tagged:
        needs.append(Need("emr-serverless:TagResource", f"{arn}/jobruns/*", tagged))
    context = {"iam:PassedToService": [SERVICE], "iam:AssociatedResourceArn": [arn]}
    needs.append(Need("iam:PassRole", str(params.get("executionRoleArn", "")), context))
    return needs
