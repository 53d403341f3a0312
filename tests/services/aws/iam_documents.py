"""Policy documents as IAM takes them in: grammar, principals that must exist, sizes."""

from __future__ import annotations

import json
import re
from typing import Any

from .conditions import as_list, known_operator
from .directory import Picture
from .errors import AwsError

#: Services that may stand in a trust document here; IAM knows all of AWS's and refuses every other name.
SERVICES = frozenset(
    "emr-serverless ops.emr-serverless elasticmapreduce ec2 lambda ecs-tasks ecs glue s3 ssm states events "
    "cloudformation codebuild codepipeline rds monitoring.rds dms redshift sagemaker firehose kinesis "
    "apigateway backup config scheduler pods.eks eks transfer datasync logs airflow airflow-env".split()
)
_ELEMENTS = frozenset("Sid Effect Action NotAction Resource NotResource Principal NotPrincipal Condition".split())


def malformed(text: str) -> AwsError:
    """The one code for every fault in a document."""
    return AwsError("MalformedPolicyDocument", text, 400)


def size(text: str) -> int:
    """The size that quotas count: white space is free."""
    return len(re.sub(r"\s", "", text))


def parse(text: str) -> list[dict[str, Any]]:
    """The statements of a document, after the checks that all kinds share."""
    try:
        document = json.loads(text)
    except ValueError:
        raise malformed("This policy contains invalid Json") from None
    if not isinstance(document, dict) or set(document) - {"Version", "Id", "Statement"}:
        raise malformed("Syntax errors in policy.")
    if document.get("Version", "2008-10-17") not in ("2012-10-17", "2008-10-17"):
        raise malformed("The policy must contain a valid version string")
    statements = as_list(document.get("Statement", []))
    if not statements or not all(isinstance(s, dict) for s in statements):
        raise malformed("Syntax errors in policy.")
    sids: set[str] = set()
    for statement in statements:
        _check_statement(statement)
        sid = statement.get("Sid")
        if sid:
            if sid in sids:
                raise malformed("Statement IDs (SID) in a single policy must be unique.")
            sids.add(sid)
    return statements


def _check_statement(statement: dict[str, Any]) -> None:
    if set(statement) - _ELEMENTS or statement.get("Effect") not in ("Allow", "Deny"):
        raise malformed("Syntax errors in policy.")
    for one, other in (("Action", "NotAction"), ("Resource", "NotResource"), ("Principal", "NotPrincipal")):
        if one in statement and other in statement:
            raise malformed("Syntax errors in policy.")
    actions = as_list(statement.get("Action", statement.get("NotAction", [])))
    if not actions:
        raise malformed("Policy statement must contain actions.")
    for action in actions:
        if action != "*" and not re.fullmatch(r"[A-Za-z0-9*?-]+:[A-Za-z0-9*?]+", str(action)):
            raise malformed("Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc.")
    condition = statement.get("Condition", {})
    if not isinstance(condition, dict) or not all(isinstance(keys, dict) for keys in condition.values()):
        raise malformed("Syntax errors in policy.")
    if not all(known_operator(operator) for operator in condition):
        raise malformed("Syntax errors in policy.")


def check_identity(text: str) -> None:
    """A document for a user, a role or a group."""
    for statement in parse(text):
        if "Principal" in statement or "NotPrincipal" in statement:
            raise malformed("Policy document should not specify a principal.")
        resources = as_list(statement.get("Resource", statement.get("NotResource", [])))
        if not resources:
            raise malformed("Policy statement must contain resources.")
        for resource in resources:
            if resource == "*" or (str(resource).startswith("arn:") and str(resource).count(":") >= 5):
                continue
            if str(resource).startswith("arn:"):
                raise malformed("The policy failed legacy parsing")
            raise malformed(f'Resource {resource} must be in ARN format or "*".')


def check_trust(text: str, picture: Picture, account: str) -> None:
    """A role's trust document. `picture` is IAM's own view: a user made just now may not be in it yet."""
    for statement in parse(text):
        if "Resource" in statement or "NotResource" in statement:
            raise malformed("Has prohibited field Resource")
        if "Principal" not in statement and "NotPrincipal" not in statement:
            raise malformed("Missing required field Principal")
        for action in as_list(statement.get("Action", statement.get("NotAction", []))):
            if action != "*" and not str(action).lower().startswith("sts:"):
                raise malformed("AssumeRole policy may only specify STS AssumeRole actions.")
        check_principals(statement, picture, account)


def check_principals(statement: dict[str, Any], picture: Picture, account: str) -> None:
    """Every principal must be one that exists."""
    principal = statement.get("Principal", statement.get("NotPrincipal"))
    if principal == "*":
        return
    if not isinstance(principal, dict) or not principal:
        raise malformed("Invalid principal in policy")
    for kind, values in principal.items():
        for value in as_list(values):
            if not _exists(kind, str(value), picture, account):
                raise malformed(f'Invalid principal in policy: "{kind.upper()}":"{value}"')


def _exists(kind: str, value: str, picture: Picture, account: str) -> bool:
    if kind == "Service":
        found = re.fullmatch(r"([a-z0-9.-]+)\.amazonaws\.com(\.cn)?", value)
        return found is not None and found[1] in SERVICES
    if kind == "Federated":
        return bool(value)
    if kind == "CanonicalUser":
        return re.fullmatch(r"[0-9a-f]{64}", value) is not None
    if kind != "AWS":
        return False
    if value == "*" or re.fullmatch(r"\d{12}", value):
        return True
    found = re.fullmatch(r"arn:aws[a-z-]*:(iam|sts)::(\d{12}):(root|user/.+|role/.+|assumed-role/.+/.+)", value)
    if not found:
        return bool(re.fullmatch(r"A(IDA|ROA)[A-Z0-9]{10,}", value))
    if found[2] != account or found[3] == "root":
        return True
    if found[1] == "sts":
        return found[3].split("/")[1].lower() in picture.roles
    return picture.has_principal(value)
