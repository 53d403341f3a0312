"""The policy simulator of IAM, answered by the evaluator that judges the real calls.

As on AWS it knows nothing of trust documents, and with the setting `simulator_blind` it denies by organisation
what would work, which is its best-known error.
"""

from __future__ import annotations

from .directory import Entity
from .errors import AwsError
from .messages import Answer, Call
from .policies import Document, Need, Principal, Verdict, judge
from .routing import members
from .service import World, element, xml_answer


def _principal(world: World, call: Call) -> Principal:
    texts = members(call.params, "PolicyInputList")
    extra = tuple(Document(f"PolicyInputList.{i}", text) for i, text in enumerate(texts, 1))
    if call.operation == "SimulateCustomPolicy":
        return Principal("custom", world.account, "user", "custom", "custom", "custom", extra)
    arn = call.text("PolicySourceArn")
    if ":assumed-role/" in arn or not arn.startswith("arn:"):
        raise AwsError("InvalidInput", f"Invalid Entity Arn: {arn} does not clearly define entity type and name.", 400)
    if arn.endswith(":root"):
        raise AwsError("InvalidInput", "Simulation of root is not supported.", 400)
    picture = world.directory.now()
    entity: Entity | None = next((e for e in (*picture.users.values(), *picture.roles.values()) if e.arn == arn), None)
    if entity is None:
        raise AwsError("NoSuchEntity", f"{arn} does not exist.", 404)
    context = [("aws:PrincipalArn", (entity.arn,)), ("aws:PrincipalAccount", (world.account,))]
    if entity.kind == "user":
        context.append(("aws:username", (entity.name,)))
    return Principal(
        entity.arn,
        world.account,
        entity.kind,
        entity.id,
        entity.name,
        entity.arn,
        entity.documents + extra,
        entity.boundary,
        context=tuple(context),
    )


def _context(call: Call) -> dict[str, list[str]]:
    entries: dict[str, list[str]] = {}
    for index in range(1, 100):
        prefix = f"ContextEntries.member.{index}."
        name = call.params.get(prefix + "ContextKeyName")
        if name is None:
            break
        entries[str(name)] = members(call.params, prefix + "ContextKeyValues")
    return entries


def _decision(verdict: Verdict) -> str:
    return "allowed" if verdict.allowed else "explicitDeny" if verdict.explicit else "implicitDeny"


def _result(world: World, who: Principal, action: str, resource: str, context: dict[str, list[str]]) -> str:
    verdict = judge(who, Need(action, resource), context)
    blind = world.settings.simulator_blind
    decision = "implicitDeny" if blind and verdict.allowed else _decision(verdict)
    missing = "".join(element("member", name) for name in verdict.missing)
    matched = ""
    if verdict.policy:
        kind = "IAM Policy"
        matched = f"<member>{element('SourcePolicyId', verdict.policy)}{element('SourcePolicyType', kind)}</member>"
    inner = (
        element("EvalActionName", action)
        + element("EvalResourceName", resource)
        + element("EvalDecision", decision)
        + f"<MatchedStatements>{matched}</MatchedStatements>"
        + f"<MissingContextValues>{missing}</MissingContextValues>"
    )
    if blind or world.settings.organisation_policies:
        allowed = "false" if blind else "true"
        detail = element("AllowedByOrganizations", allowed)
        inner += f"<OrganizationsDecisionDetail>{detail}</OrganizationsDecisionDetail>"
    if who.boundary:
        allowed = "false" if "boundary" in verdict.reason else "true"
        detail = element("AllowedByPermissionsBoundary", allowed)
        inner += f"<PermissionsBoundaryDecisionDetail>{detail}</PermissionsBoundaryDecisionDetail>"
    return f"<member>{inner}</member>"


def simulate(world: World, call: Call) -> Answer:
    """SimulatePrincipalPolicy and SimulateCustomPolicy: every action on every resource."""
    actions = members(call.params, "ActionNames")
    resources = members(call.params, "ResourceArns") or ["*"]
    for action in actions:
        if ":" not in action or "*" in action:
            raise AwsError("InvalidInput", f"Invalid Action Name: {action}", 400)
    who, context = _principal(world, call), _context(call)
    results = "".join(_result(world, who, a, r, context) for a in actions for r in resources)
    return xml_answer(call, f"<EvaluationResults>{results}</EvaluationResults><IsTruncated>false</IsTruncated>")
