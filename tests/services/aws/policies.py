"""Policy documents and the verdict over one permission: which statement decides, and the reason AWS would give.

An evaluator of our own, by IAM's documented rules; moto's policy class is not used because it permits what IAM
denies (conditions, NotResource, trust documents) and knows no boundary.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from .conditions import Context, as_list, condition_holds, like, missing_keys, substitute


@dataclass(frozen=True)
class Document:
    """One policy: its text and what it is called where a verdict is explained."""

    name: str
    text: str

    @property
    def statements(self) -> tuple[dict[str, Any], ...]:
        """The statements, read once for each text."""
        return _statements(self.text)


@lru_cache(maxsize=1024)
def _statements(text: str) -> tuple[dict[str, Any], ...]:
    parsed = json.loads(unquote(text) if text.lstrip().startswith("%") else text)
    return tuple(as_list(parsed.get("Statement", [])))


@dataclass(frozen=True)
class Principal:
    """A caller as policies see it, with everything that limits it."""

    arn: str
    account: str
    kind: str  # "user", "role", "root" or "service"
    user_id: str
    name: str
    #: The ARN that policies name for it: for a role's session that of the role, with its path.
    issuer_arn: str
    identity: tuple[Document, ...] = ()
    boundary: Document | None = None
    session: tuple[Document, ...] = ()
    context: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class Need:
    """One permission that a call needs."""

    action: str
    resource: str
    context: dict[str, list[str]] = field(default_factory=dict)
    #: How the service names the resource in a refusal: None leaves "on resource" out, "" means the ARN.
    shown: str | None = ""
    #: A resource-based policy (bucket policy) and the account that owns the resource.
    resource_policy: Document | None = None
    owner: str = ""


@dataclass(frozen=True)
class Verdict:
    """The decision over one need, the statement that made it and the reason in AWS's words."""

    allowed: bool
    reason: str = ""
    policy: str = ""
    sid: str = ""
    explicit: bool = False
    missing: tuple[str, ...] = ()


def matches_action(statement: dict[str, Any], action: str) -> bool:
    """Whether a statement is about an action; upper and lower case do not count."""
    for name, hit in (("Action", True), ("NotAction", False)):
        if name in statement:
            found = any(like(action.lower(), str(p).lower()) for p in as_list(statement[name]))
            return found is hit
    return False


def matches_resource(statement: dict[str, Any], resource: str, context: Context) -> bool:
    """Whether a statement is about a resource; one without Resource (a trust document) is about its own."""
    for name, hit in (("Resource", True), ("NotResource", False)):
        if name in statement:
            patterns = (substitute(str(p), context) for p in as_list(statement[name]))
            found = any(p is not None and like(resource, p) for p in patterns)
            return found is hit
    return True


def matches_principal(statement: dict[str, Any], who: Principal) -> str:
    """How a statement of a resource's policy names a caller: "", "account" (all of it) or "self"."""
    if "NotPrincipal" in statement:
        return "" if _named(statement["NotPrincipal"], who) else "self"
    return _named(statement.get("Principal"), who)


def _named(principal: Any, who: Principal) -> str:
    if principal == "*":
        return "self"
    best = ""
    for kind, values in (principal or {}).items():
        for value in as_list(values):
            if kind == "Service" and who.kind == "service" and value == who.name:
                return "self"
            if kind != "AWS" or who.kind == "service":
                continue
            if value in ("*", who.arn, who.issuer_arn, who.user_id.split(":")[0]):
                return "self"
            if value == who.account or value.endswith(f":iam::{who.account}:root"):
                best = "account"
    return best


def _applies(statement: dict[str, Any], need: Need, context: Context) -> bool:
    return (
        matches_action(statement, need.action)
        and matches_resource(statement, need.resource, context)
        and condition_holds(statement.get("Condition"), context)
    )


def _scan(documents: Iterable[Document], need: Need, context: Context, effect: str) -> tuple[Document, str] | None:
    for document in documents:
        for statement in document.statements:
            if statement.get("Effect") == effect and _applies(statement, need, context):
                return document, str(statement.get("Sid", ""))
    return None


def context_of(who: Principal, need: Need, shared: Context) -> dict[str, list[str]]:
    """All condition keys of a request, in lower case."""
    merged = {key.lower(): list(values) for key, values in shared.items()}
    merged.update({key.lower(): list(values) for key, values in who.context})
    merged.update({key.lower(): list(values) for key, values in need.context.items()})
    merged["aws:resourceaccount"] = [need.owner or who.account]
    return merged


def judge(who: Principal, need: Need, shared: Context, organisation: tuple[Document, ...] = ()) -> Verdict:
    """The verdict over one need, in IAM's order: explicit denies, organisation, resource, identity, limits."""
    context = context_of(who, need, shared)
    layers: list[tuple[str, tuple[Document, ...]]] = [
        ("a service control policy", organisation),
        ("an identity-based policy", who.identity),
        ("a permissions boundary", (who.boundary,) if who.boundary else ()),
        ("a session policy", who.session),
    ]
    for name, documents in layers:
        found = _scan(documents, need, context, "Deny")
        if found:
            return Verdict(False, f"with an explicit deny in {name}", found[0].name, found[1], True)
    by_resource = ""
    if need.resource_policy:
        for statement in need.resource_policy.statements:
            named = matches_principal(statement, who)
            if named and _applies(statement, need, context):
                if statement.get("Effect") == "Deny":
                    sid = str(statement.get("Sid", ""))
                    return Verdict(False, "with an explicit deny in a resource-based policy", "resource", sid, True)
                by_resource = "self" if "self" in (named, by_resource) else named
    if who.kind == "root":
        return Verdict(True, policy="root")
    no = f"allows the {need.action} action"
    if organisation and not _scan(organisation, need, context, "Allow"):
        return Verdict(False, f"because no service control policy {no}")
    allowed = _scan(who.identity, need, context, "Allow")
    foreign = bool(need.owner) and need.owner != who.account
    if foreign and not by_resource:
        return Verdict(False, f"because no resource-based policy {no}")
    if allowed is None and (foreign or by_resource != "self"):
        gaps = _gaps(who.identity, need, context)
        return Verdict(False, f"because no identity-based policy {no}", missing=gaps)
    if by_resource == "self" and not foreign and who.kind == "user" and _names_exactly(need, who, context):
        return Verdict(True, policy="resource")  # a grant to the very user is not limited by its boundary
    if who.boundary and not _scan((who.boundary,), need, context, "Allow"):
        return Verdict(False, f"because no permissions boundary {no}")
    if who.session and not _scan(who.session, need, context, "Allow"):
        return Verdict(False, f"because no session policy {no}")
    if allowed:
        return Verdict(True, policy=allowed[0].name, sid=allowed[1])
    return Verdict(True, policy="resource")


def _names_exactly(need: Need, who: Principal, context: Context) -> bool:
    """Whether a statement of the resource's policy allows this and names the caller's own ARN."""
    return need.resource_policy is not None and any(
        statement.get("Effect") == "Allow"
        and isinstance(statement.get("Principal"), dict)
        and who.arn in as_list(statement["Principal"].get("AWS", []))
        and _applies(statement, need, context)
        for statement in need.resource_policy.statements
    )


def _gaps(documents: tuple[Document, ...], need: Need, context: Context) -> tuple[str, ...]:
    keys: list[str] = []
    for document in documents:
        for statement in document.statements:
            if matches_action(statement, need.action) and matches_resource(statement, need.resource, context):
                keys += missing_keys(statement.get("Condition"), context)
    return tuple(dict.fromkeys(keys))


def may_assume(trust: Document, who: Principal, action: str, context: Context) -> str:
    """What a role's trust document says of a caller: "denied", "", "account" or "self"."""
    best = ""
    need = Need(action, "*")
    for statement in trust.statements:
        named = matches_principal(statement, who)
        if not named or not _applies({**statement, "Resource": "*"}, need, context):
            continue
        if statement.get("Effect") == "Deny":
            return "denied"
        if best != "self":
            best = named
    return best
