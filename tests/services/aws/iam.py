"""IAM: moto keeps users, roles, keys and policies; the limits, the grammar and the lateness are the front's.

Imitation: names of service-linked roles other than EMR Serverless's are guessed from the service; the quotas
on the number of users and roles are settings.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlencode

from . import iam_documents as documents
from .callers import random_id
from .errors import AwsError
from .iam_needs import iam_needs, linked_role_name, user_of
from .messages import Answer, Call
from .paging import page_xml
from .policies import Need
from .routing import VERSIONS
from .service import Caller, Service, World, element, xml_answer
from .shapes import check_form
from .simulate import simulate

_LISTS = {
    "ListUsers": "Users",
    "ListRoles": "Roles",
    "ListGroups": "Groups",
    "ListPolicies": "Policies",
    "ListAccessKeys": "AccessKeyMetadata",
    "ListUserPolicies": "PolicyNames",
    "ListRolePolicies": "PolicyNames",
    "ListGroupPolicies": "PolicyNames",
    "ListAttachedUserPolicies": "AttachedPolicies",
    "ListAttachedRolePolicies": "AttachedPolicies",
    "ListAttachedGroupPolicies": "AttachedPolicies",
    "ListGroupsForUser": "Groups",
    "ListPolicyVersions": "Versions",
    "ListUserTags": "Tags",
    "ListRoleTags": "Tags",
    "SimulatePrincipalPolicy": "EvaluationResults",
    "SimulateCustomPolicy": "EvaluationResults",
}
_INLINE_LIMIT = {"user": 2048, "role": 10240, "group": 5120}
MANAGED_LIMIT, TRUST_LIMIT = 6144, 2048


def _exceeded(text: str) -> AwsError:
    return AwsError("LimitExceeded", text, 409)


def _missing(kind: str, name: str) -> AwsError:
    return AwsError("NoSuchEntity", f"The {kind} with name {name} cannot be found.", 404)


class Iam(Service):
    """Identity and Access Management."""

    name = "iam"
    reading = ("Get", "List", "Simulate")

    def needs(self, call: Call, caller: Caller) -> list[Need]:
        found = iam_needs(self.world, call, caller, self.world.directory.now())
        if found is None:
            raise self.unknown(call)
        return found

    def perform(self, call: Call, caller: Caller) -> Answer:
        check_form("iam", call.operation, call.params)
        self._must_exist(call)
        own = getattr(self, "_do_" + re.sub(r"(?<!^)(?=[A-Z])", "_", call.operation).lower(), None)
        answer: Answer = own(call, caller) if own else self._through_moto(call, caller)
        if answer.status < 300 and self.writes(call):
            self._new_ids(call, answer)
            self.world.directory.changed()
        if call.operation in _LISTS and answer.status == 200:
            size = call.text("MaxItems")
            error = AwsError("ValidationError", "Invalid Marker.", 400)
            page_xml(
                answer,
                _LISTS[call.operation],
                "Marker",
                int(size) if size.isdigit() else 100,
                call.text("Marker") or None,
                self.world.settings,
                error,
                "IsTruncated",
            )
        answer.body = re.sub(rb"(T\d\d:\d\d:\d\d)\.\d+Z", rb"\1Z", answer.body)
        return answer

    def _through_moto(self, call: Call, caller: Caller) -> Answer:
        params = {k: v for k, v in call.params.items() if k not in ("MaxItems", "Marker")}
        if call.operation.startswith("List"):
            params["MaxItems"] = "1000"
        call.payload = urlencode({"Action": call.operation, "Version": VERSIONS["iam"], **params}).encode()
        return self.forward(call, caller)

    def _must_exist(self, call: Call) -> None:
        """What a call names must be there; to reads, one made just now may not be there yet."""
        picture = self.world.directory.now()
        if not self.writes(call) and self.world.settings.delay("iam-read"):
            picture = self.world.directory.seen_by("iam-read")
        for kind, parameter, known in (("user", "UserName", picture.users), ("role", "RoleName", picture.roles)):
            name = call.text(parameter)
            if not name or (call.operation.startswith("Create") and call.operation != "CreateAccessKey"):
                continue
            entity = known.get(name.lower())
            if entity is None:
                raise _missing(kind, name)
            call.params[parameter] = entity.name  # names are found without regard to case; moto does regard it
            if call.operation in ("GetUserPolicy", "DeleteUserPolicy", "GetRolePolicy", "DeleteRolePolicy"):
                wanted = call.text("PolicyName")
                if wanted not in (d.name for d in entity.documents):
                    raise _missing(f"{kind} policy", wanted)

    def _new_ids(self, call: Call, answer: Answer) -> None:
        """IAM's ids tell the type by their first letters; moto's user ids do not."""
        users = self.world.backend.model("iam").users
        if call.operation == "CreateUser" and call.text("UserName") in users:
            user = users[call.text("UserName")]
            old, user.id = user.id, random_id("AIDA", 17)
            answer.body = answer.body.replace(old.encode(), user.id.encode())

    # What must hold before moto may do it.

    def _do_create_user(self, call: Call, caller: Caller) -> Answer:
        name, picture = call.text("UserName"), self.world.directory.now()
        if name.lower() in picture.users:
            raise AwsError("EntityAlreadyExists", f"User with name {name} already exists.", 409)
        if len(picture.users) >= self.world.settings.users_quota:
            raise _exceeded(f"Cannot exceed quota for UsersPerAccount: {self.world.settings.users_quota}")
        boundary = call.text("PermissionsBoundary")
        if boundary:
            self._known_policy(boundary)
        answer = self._through_moto(call, caller)
        if boundary and answer.status == 200:
            self._set_boundary(name, boundary)
        return answer

    def _do_create_role(self, call: Call, caller: Caller) -> Answer:
        name, picture = call.text("RoleName"), self.world.directory.now()
        if name.lower() in picture.roles:
            raise AwsError("EntityAlreadyExists", f"Role with name {name} already exists.", 409)
        self._trust(call.text("AssumeRolePolicyDocument"))
        if len(picture.roles) >= self.world.settings.roles_quota:
            raise _exceeded(f"Cannot exceed quota for RolesPerAccount: {self.world.settings.roles_quota}")
        if call.text("PermissionsBoundary"):
            self._known_policy(call.text("PermissionsBoundary"))
        return self._through_moto(call, caller)

    def _trust(self, text: str) -> None:
        documents.check_trust(text, self.world.directory.seen_by("iam"), self.world.account)
        if documents.size(text) > TRUST_LIMIT:
            raise _exceeded(f"Cannot exceed quota for ACLSizePerRole: {TRUST_LIMIT}")

    def _do_update_assume_role_policy(self, call: Call, caller: Caller) -> Answer:
        role = self.world.directory.now().roles[call.text("RoleName").lower()]
        self._linked(role.arn, role.name)
        self._trust(call.text("PolicyDocument"))
        return self._through_moto(call, caller)

    def _linked(self, arn: str, name: str) -> None:
        if ":role/aws-service-role/" in arn:
            text = f"Cannot perform the operation on the protected role '{name}' - this role is only modifiable by AWS"
            raise AwsError("UnmodifiableEntity", text, 400)

    def _do_delete_role(self, call: Call, caller: Caller) -> Answer:
        role = self.world.directory.now().roles[call.text("RoleName").lower()]
        self._linked(role.arn, role.name)
        answer = self._through_moto(call, caller)
        if answer.status == 200:
            self._forget_principal(role.arn, role.id)
        return answer

    def _put_inline(self, call: Call, caller: Caller, kind: str, parameter: str) -> Answer:
        name = call.text(parameter)
        iam = self.world.backend.model("iam")
        holders = {"user": iam.users, "role": {r.name: r for r in iam.roles.values()}, "group": iam.groups}[kind]
        if name not in holders:
            raise _missing(kind, name)
        if kind == "role":
            self._linked(holders[name].arn, name)
        documents.check_identity(call.text("PolicyDocument"))
        present = {**holders[name].policies, call.text("PolicyName"): call.text("PolicyDocument")}
        if sum(documents.size(text) for text in present.values()) > _INLINE_LIMIT[kind]:
            raise _exceeded(f"Maximum policy size of {_INLINE_LIMIT[kind]} bytes exceeded for {kind} {name}")
        return self._through_moto(call, caller)

    def _do_put_user_policy(self, call: Call, caller: Caller) -> Answer:
        return self._put_inline(call, caller, "user", "UserName")

    def _do_put_role_policy(self, call: Call, caller: Caller) -> Answer:
        return self._put_inline(call, caller, "role", "RoleName")

    def _do_put_group_policy(self, call: Call, caller: Caller) -> Answer:
        return self._put_inline(call, caller, "group", "GroupName")

    def _managed(self, call: Call, caller: Caller) -> Answer:
        documents.check_identity(call.text("PolicyDocument"))
        if documents.size(call.text("PolicyDocument")) > MANAGED_LIMIT:
            raise _exceeded(f"Cannot exceed quota for PolicySize: {MANAGED_LIMIT}")
        return self._through_moto(call, caller)

    _do_create_policy = _managed
    _do_create_policy_version = _managed

    def _attach(self, call: Call, caller: Caller) -> Answer:
        iam, arn = self.world.backend.model("iam"), call.text("PolicyArn")
        kind = call.operation.removeprefix("Attach").removesuffix("Policy").lower()
        name = call.text(f"{kind.capitalize()}Name")
        holders = {"user": iam.users, "role": {r.name: r for r in iam.roles.values()}, "group": iam.groups}[kind]
        if name not in holders:
            raise _missing(kind, name)
        attached, quota = holders[name].managed_policies, self.world.settings.attached_quota
        if arn not in attached and len(attached) >= quota:
            raise _exceeded(f"Cannot exceed quota for PoliciesPer{kind.capitalize()}: {quota}")
        return self._through_moto(call, caller)

    _do_attach_user_policy = _attach
    _do_attach_role_policy = _attach
    _do_attach_group_policy = _attach

    def _do_create_access_key(self, call: Call, caller: Caller) -> Answer:
        if not user_of(call, caller):
            raise AwsError("ValidationError", "Must specify userName when calling with non-User credentials", 400)
        call.params["UserName"] = user_of(call, caller)
        return self._through_moto(call, caller)

    def _do_get_user(self, call: Call, caller: Caller) -> Answer:
        return self._do_create_access_key(call, caller)

    def _do_delete_user(self, call: Call, caller: Caller) -> Answer:
        user = self.world.backend.model("iam").users[call.text("UserName")]
        if user.access_keys:
            raise AwsError("DeleteConflict", "Cannot delete entity, must delete access keys first.", 409)
        if self.world.directory.now().users[user.name.lower()].groups:
            raise AwsError("DeleteConflict", "Cannot delete entity, must remove users from group first.", 409)
        answer = self._through_moto(call, caller)
        if answer.status == 200:
            self._forget_principal(user.arn, user.id)
        return answer

    def _forget_principal(self, arn: str, unique_id: str) -> None:
        """Trust in what was deleted shows its unique id from then on, and does not come back with the name."""
        for role in self.world.backend.model("iam").roles.values():
            old = role.assume_role_policy_document
            role.assume_role_policy_document = old.replace(json.dumps(arn), json.dumps(unique_id))

    # What moto does not have.

    def _known_policy(self, arn: str) -> None:
        if arn not in self.world.backend.model("iam").managed_policies:
            raise AwsError("NoSuchEntity", f"Policy {arn} does not exist or is not attachable.", 404)

    def _set_boundary(self, name: str, arn: str | None) -> None:
        user = self.world.backend.model("iam").users.get(name)
        if user is None:
            raise _missing("user", name)
        kind = "PermissionsBoundaryPolicy"
        user.permissions_boundary = {"PermissionsBoundaryType": kind, "PermissionsBoundaryArn": arn} if arn else None

    def _do_put_user_permissions_boundary(self, call: Call, caller: Caller) -> Answer:
        self._known_policy(call.text("PermissionsBoundary"))
        self._set_boundary(call.text("UserName"), call.text("PermissionsBoundary"))
        return xml_answer(call, "")

    def _do_delete_user_permissions_boundary(self, call: Call, caller: Caller) -> Answer:
        self._set_boundary(call.text("UserName"), None)
        return xml_answer(call, "")

    def _do_create_service_linked_role(self, call: Call, caller: Caller) -> Answer:
        service = call.text("AWSServiceName")
        role = create_linked_role(self.world, service)
        if role is None:
            text = (
                f"Service role name {linked_role_name(service)} has been taken in this account, "
                "please try a different suffix."
            )
            raise AwsError("InvalidInput", text, 400)
        inner = (
            element("Path", role.path)
            + element("RoleName", role.name)
            + element("RoleId", role.id)
            + element("Arn", role.arn)
            + element("CreateDate", role.create_date.strftime("%Y-%m-%dT%H:%M:%SZ"))
        )
        return xml_answer(call, f"<Role>{inner}</Role>")

    def _do_simulate_principal_policy(self, call: Call, caller: Caller) -> Answer:
        return simulate(self.world, call)

    def _do_simulate_custom_policy(self, call: Call, caller: Caller) -> Answer:
        return simulate(self.world, call)


def create_linked_role(world: World, service: str) -> Any:
    """Make a service's own role; None when the account has it already. The caller of this has been judged."""
    iam, name = world.backend.model("iam"), linked_role_name(service)
    if any(role.name == name for role in iam.roles.values()):
        return None
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    role = iam.create_role(name, trust, f"/aws-service-role/{service}/", None, "", [], "3600", service)
    world.directory.changed()
    return role
