"""STS: who am I, sessions of roles, and temporary credentials of users. All of it is the front's own.

Imitation: a multi-factor code is right when it has six digits and is not 000000; a web identity token is taken
as valid when it is a non-empty text without spaces, and names its provider in the role's trust document only.
"""

from __future__ import annotations

import json
import re

from .callers import credentials_xml, new_session
from .errors import AwsError
from .judgement import judged
from .messages import Answer, Call
from .policies import Document, Need, may_assume
from .service import Caller, Service, element, invalid, xml_answer

_SESSION_NAME = re.compile(r"[\w+=,.@-]{2,64}\Z")


def refusal(caller: str, role_arn: str, reason: str = "") -> AwsError:
    """STS's refusal: without a reason when the trust document (or the absence of the role) is the cause."""
    text = f"User: {caller} is not authorized to perform: sts:AssumeRole on resource: {role_arn}"
    return AwsError("AccessDenied", f"{text} {reason}".strip(), 403)


class Sts(Service):
    """The Security Token Service."""

    name = "sts"
    reading = ("GetCallerIdentity",)

    def needs(self, call: Call, caller: Caller) -> list[Need]:
        """AssumeRole judges itself (two policies meet there); the identity needs no permission."""
        if call.operation in ("GetCallerIdentity", "AssumeRole", "GetSessionToken"):
            return []
        raise self.unknown(call)

    def perform(self, call: Call, caller: Caller) -> Answer:
        if call.operation == "GetCallerIdentity":
            who = caller.principal
            inner = element("Arn", who.arn) + element("UserId", who.user_id) + element("Account", who.account)
            return xml_answer(call, inner)
        if call.operation == "GetSessionToken":
            return self._session_token(call, caller)
        return self._assume(call, caller)

    def _duration(self, call: Call, longest: int, default: int) -> int:
        text = call.text("DurationSeconds", str(default))
        seconds = int(text) if text.isdigit() else 0
        if not 900 <= seconds <= 43200 and call.operation != "GetSessionToken":
            edge = "greater than or equal to 900" if seconds < 900 else "less than or equal to 43200"
            raise invalid("durationSeconds", text, f"Member must have value {edge}")
        if seconds > longest:
            raise AwsError(
                "ValidationError",
                "The requested DurationSeconds exceeds the MaxSessionDuration set for this role.",
            )
        return seconds

    def _mfa(self, call: Call) -> dict[str, tuple[str, ...]]:
        code = call.text("TokenCode")
        if not call.text("SerialNumber"):
            return {}
        if not re.fullmatch(r"\d{6}", code) or code == "000000":
            text = "MultiFactorAuthentication failed with invalid MFA one time pass code. "
            raise AwsError("AccessDenied", text, 403)
        return {"aws:MultiFactorAuthPresent": ("true",), "aws:MultiFactorAuthAge": ("0",)}

    def _session_policies(self, call: Call) -> tuple[Document, ...]:
        documents = []
        if call.text("Policy"):
            try:
                json.loads(call.text("Policy"))
            except ValueError:
                raise AwsError("MalformedPolicyDocument", "This policy contains invalid Json", 400) from None
            if len(call.text("Policy")) > 2048:
                raise AwsError("PackedPolicyTooLarge", "Serialized token too large for session", 400)
            documents.append(Document("session", call.text("Policy")))
        policies = self.world.backend.model("iam").managed_policies
        for arn in (str(v) for k, v in sorted(call.params.items()) if k.startswith("PolicyArns.member.")):
            if arn not in policies:
                raise AwsError("InvalidParameterValue", f"Policy {arn} does not exist", 400)
            document = next(v.document for v in policies[arn].versions if v.is_default)
            documents.append(Document(arn, document))
        return tuple(documents)

    def _assume(self, call: Call, caller: Caller) -> Answer:
        arn, name = call.text("RoleArn"), call.text("RoleSessionName")
        if not _SESSION_NAME.match(name):
            pattern = "Member must satisfy regular expression pattern: [\\w+=,.@-]*"
            raise invalid("roleSessionName", name, pattern)
        role = self.world.directory.seen_by("sts").role_by_arn(arn)
        who = caller.principal
        context = {
            "sts:externalid": [call.text("ExternalId")] if call.text("ExternalId") else [],
            "sts:rolesessionname": [name],
            **{key.lower(): list(values) for key, values in who.context},
            **{key.lower(): list(values) for key, values in self._mfa(call).items()},
        }
        context = {key: values for key, values in context.items() if values}
        verdict = judged(self.world, call, caller, Need("sts:AssumeRole", arn))
        trusted = may_assume(role.trust, who, "sts:AssumeRole", context) if role and role.trust else ""
        if verdict.explicit or trusted == "denied":
            raise refusal(who.arn, arn, verdict.reason or "with an explicit deny in the role trust policy")
        if not trusted or role is None:
            raise refusal(who.arn, arn)
        if not verdict.allowed and trusted != "self":
            raise refusal(who.arn, arn, verdict.reason)
        chained = who.kind == "role"
        seconds = self._duration(call, role.max_session, 3600)
        if chained and seconds > 3600:
            text = "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining."
            raise AwsError("ValidationError", text, 400)
        session = self.world.callers.open(
            new_session(
                "role",
                role.name,
                name,
                self.world.clock.now() + seconds,
                self._session_policies(call),
                self._mfa(call),
                chained,
            )
        )
        return self._role_answer(call, session_name=name, role_name=role.name, role_id=role.id, key=session.key_id)

    def _role_answer(self, call: Call, session_name: str, role_name: str, role_id: str, key: str) -> Answer:
        session = self.world.callers.sessions[key]
        partition, account = self.world.settings.partition, self.world.account
        arn = f"arn:{partition}:sts::{account}:assumed-role/{role_name}/{session_name}"
        user = element("AssumedRoleId", f"{role_id}:{session_name}") + element("Arn", arn)
        inner = credentials_xml(session) + f"<AssumedRoleUser>{user}</AssumedRoleUser>"
        return xml_answer(call, inner + "<PackedPolicySize>6</PackedPolicySize>")

    def _session_token(self, call: Call, caller: Caller) -> Answer:
        if caller.credential.session is not None:
            raise AwsError("AccessDenied", "Cannot call GetSessionToken with session credentials", 403)
        seconds = self._duration(call, 129600, 43200)
        context = self._mfa(call)
        now = self.world.clock.now()
        session = self.world.callers.open(
            new_session("user", caller.principal.name, "", now + seconds, context=context)
        )
        return xml_answer(call, credentials_xml(session))

    def web_identity(self, call: Call) -> Answer:
        """AssumeRoleWithWebIdentity: the one call of STS that comes unsigned."""
        arn, name = call.text("RoleArn"), call.text("RoleSessionName")
        token = call.text("WebIdentityToken")
        if not _SESSION_NAME.match(name):
            raise invalid("roleSessionName", name, "Member must satisfy regular expression pattern: [\\w+=,.@-]*")
        if not 4 <= len(token) <= 20000 or re.search(r"\s", token):
            raise AwsError("InvalidIdentityToken", "The ID Token provided is not a valid JWT.", 400)
        role = self.world.directory.seen_by("sts").role_by_arn(arn)
        federated = (
            role is not None
            and role.trust is not None
            and any(
                statement.get("Effect") == "Allow"
                and "Federated" in (statement.get("Principal") or {})
                and "sts:AssumeRoleWithWebIdentity" in str(statement.get("Action"))
                for statement in role.trust.statements
            )
        )
        if role is None or not federated:
            raise AwsError("AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity", 403)
        seconds = self._duration(call, role.max_session, 3600)
        session = self.world.callers.open(
            new_session("role", role.name, name, self.world.clock.now() + seconds, self._session_policies(call))
        )
        return self._role_answer(call, name, role.name, role.id, session.key_id)
