"""Which permission on which resource each IAM operation needs, and how IAM names that resource in a refusal.

IAM writes `role NAME`, `user NAME` or `group NAME` when it refuses to touch an entity, and the full ARN when it
refuses to create one or to list; public error reports show both.
"""

from __future__ import annotations

from .directory import Entity, Picture
from .messages import Call
from .policies import Need
from .routing import members, pairs
from .service import Caller, World

_USER = frozenset(
    "GetUser DeleteUser UpdateUser PutUserPolicy GetUserPolicy DeleteUserPolicy ListUserPolicies "
    "ListAttachedUserPolicies AttachUserPolicy DetachUserPolicy CreateAccessKey DeleteAccessKey UpdateAccessKey "
    "ListAccessKeys PutUserPermissionsBoundary DeleteUserPermissionsBoundary TagUser UntagUser ListUserTags "
    "ListGroupsForUser ListMFADevices".split()
)
_ROLE = frozenset(
    "GetRole DeleteRole UpdateRole UpdateRoleDescription UpdateAssumeRolePolicy PutRolePolicy GetRolePolicy "
    "DeleteRolePolicy ListRolePolicies ListAttachedRolePolicies AttachRolePolicy DetachRolePolicy "
    "PutRolePermissionsBoundary DeleteRolePermissionsBoundary TagRole UntagRole ListRoleTags "
    "ListInstanceProfilesForRole DeleteServiceLinkedRole".split()
)
_GROUP = frozenset(
    "GetGroup DeleteGroup PutGroupPolicy GetGroupPolicy DeleteGroupPolicy ListGroupPolicies "
    "ListAttachedGroupPolicies AttachGroupPolicy DetachGroupPolicy AddUserToGroup RemoveUserFromGroup".split()
)
_POLICY = frozenset(
    "GetPolicy DeletePolicy GetPolicyVersion CreatePolicyVersion DeletePolicyVersion ListPolicyVersions "
    "SetDefaultPolicyVersion ListEntitiesForPolicy TagPolicy UntagPolicy ListPolicyTags".split()
)
_LISTS = {"ListUsers": "user", "ListRoles": "role", "ListGroups": "group"}
_CREATES = {
    "CreateUser": ("user", "UserName"),
    "CreateRole": ("role", "RoleName"),
    "CreateGroup": ("group", "GroupName"),
    "CreatePolicy": ("policy", "PolicyName"),
}
_ACCOUNT = frozenset("GetAccountSummary ListAccountAliases SimulateCustomPolicy".split())


def slr_arn(world: World, service: str, name: str) -> str:
    """The ARN of a service-linked role."""
    return world.arn("iam", "", f"role/aws-service-role/{service}/{name}")


def user_of(call: Call, caller: Caller) -> str:
    """The user a call is about: its parameter, else the caller."""
    return call.text("UserName") or (caller.principal.name if caller.principal.kind == "user" else "")


def _entity_need(world: World, call: Call, kind: str, name: str, entity: Entity | None) -> Need:
    arn = entity.arn if entity else world.arn("iam", "", f"{kind}/{name}")
    context: dict[str, list[str]] = {}
    for key, value in entity.tags if entity else ():
        context[f"aws:ResourceTag/{key}"] = [value]
        context[f"iam:ResourceTag/{key}"] = [value]
    if call.operation.startswith("Put") and call.operation.endswith("PermissionsBoundary"):
        context["iam:PermissionsBoundary"] = [call.text("PermissionsBoundary")]
    elif entity and entity.boundary:
        context["iam:PermissionsBoundary"] = [entity.boundary.name]
    if call.operation.startswith(("Attach", "Detach")):
        context["iam:PolicyARN"] = [call.text("PolicyArn")]
    context.update(_tag_context(call))
    return Need(f"iam:{call.operation}", arn, context, shown=f"{kind} {name}")


def _tag_context(call: Call) -> dict[str, list[str]]:
    tags = pairs(call.params, "Tags")
    keys = list(tags) or members(call.params, "TagKeys")
    context = {f"aws:RequestTag/{key}": [value] for key, value in tags.items()}
    if keys:
        context["aws:TagKeys"] = keys
    return context


def _create_needs(world: World, call: Call) -> list[Need]:
    kind, parameter = _CREATES[call.operation]
    name = call.text(parameter)
    arn = world.arn("iam", "", f"{kind}{call.text('Path', '/')}{name}")
    context = _tag_context(call)
    if call.text("PermissionsBoundary"):
        context["iam:PermissionsBoundary"] = [call.text("PermissionsBoundary")]
    shown = f"policy {name}" if kind == "policy" else ""
    needs = [Need(f"iam:{call.operation}", arn, context, shown=shown)]
    if "aws:TagKeys" in context:
        needs.append(Need(f"iam:Tag{kind.capitalize()}", arn, context))
    return needs


def iam_needs(world: World, call: Call, caller: Caller, picture: Picture) -> list[Need] | None:
    """The needs of one call; None for an operation that is not part of the stand-in."""
    operation = call.operation
    if operation in _USER:
        name = user_of(call, caller)
        return [_entity_need(world, call, "user", name, picture.users.get(name.lower()))]
    if operation in _ROLE:
        name = call.text("RoleName")
        return [_entity_need(world, call, "role", name, picture.roles.get(name.lower()))]
    if operation in _GROUP:
        return [_entity_need(world, call, "group", call.text("GroupName"), None)]
    if operation in _POLICY:
        arn = call.text("PolicyArn")
        return [Need(f"iam:{operation}", arn, _tag_context(call), shown=f"policy {arn}")]
    if operation in _CREATES:
        return _create_needs(world, call)
    if operation in _LISTS:
        arn = world.arn("iam", "", f"{_LISTS[operation]}{call.text('PathPrefix', '/')}")
        return [Need(f"iam:{operation}", arn)]
    if operation == "ListPolicies":
        return [Need("iam:ListPolicies", world.arn("iam", "", "policy/"), shown="policy path /")]
    if operation in _ACCOUNT:
        return [Need(f"iam:{operation}", "*", shown="*")]
    if operation == "GetAccessKeyLastUsed":
        key = picture.keys.get(call.text("AccessKeyId"))
        owner = picture.users.get(key.user.lower()) if key else None
        arn = owner.arn if owner else world.arn("iam", "", "user/*")
        return [Need("iam:GetAccessKeyLastUsed", arn)]
    if operation == "SimulatePrincipalPolicy":
        return [Need("iam:SimulatePrincipalPolicy", call.text("PolicySourceArn"))]
    if operation == "CreateServiceLinkedRole":
        service = call.text("AWSServiceName")
        arn = slr_arn(world, service, linked_role_name(service))
        return [Need("iam:CreateServiceLinkedRole", arn, {"iam:AWSServiceName": [service]})]
    if operation == "GetServiceLinkedRoleDeletionStatus":
        return [Need(f"iam:{operation}", "*", shown="*")]
    return None


def linked_role_name(service: str) -> str:
    """The name AWS gives a service's own role."""
    if service == "ops.emr-serverless.amazonaws.com":
        return "AWSServiceRoleForAmazonEMRServerless"
    first = service.split(".")[0]
    return "AWSServiceRoleFor" + "".join(part.capitalize() for part in first.split("-"))
