"""SSM's Parameter Store: moto keeps the values; names, sizes, types and encryption are judged here.

Imitation: encryption is not real. What a reader without decryption gets is a digest in base64, as opaque as
AWS's ciphertext; no KMS key exists but the default one, and no KMS permission is asked for it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re

from .errors import AwsError
from .messages import Answer, Call
from .policies import Need
from .service import Caller, Service
from .shapes import check

_ON_NAME = ("PutParameter", "GetParameter", "DeleteParameter", "GetParameterHistory", "LabelParameterVersion")
_ON_NAMES = ("GetParameters", "DeleteParameters")
_ON_PATH = ("GetParametersByPath",)
_ON_RESOURCE = ("AddTagsToResource", "RemoveTagsFromResource", "ListTagsForResource")
DEFAULT_KEY = "alias/aws/ssm"
#: AWS says this of almost any bad character, prefixed with ssm or not.
_BAD_NAME = (
    'Parameter name: can\'t be prefixed with "ssm" (case-insensitive). If formed as a path, it can consist of '
    "sub-paths divided by slash symbol; each sub-path can be formed as a mix of letters, numbers and the following "
    "3 symbols .-_"
)


class Ssm(Service):
    """Systems Manager, as far as parameters go."""

    name = "ssm"
    reading = ("Get", "List", "Describe")

    def arn(self, call: Call, name: str) -> str:
        """A parameter's ARN: the name's own slash is the separator."""
        if name.startswith("arn:"):
            return name
        plain = name.split(":")[0]
        slash = "" if plain.startswith("/") else "/"
        return self.world.arn("ssm", call.region, f"parameter{slash}{plain}")

    def needs(self, call: Call, caller: Caller) -> list[Need]:
        operation, action = call.operation, f"ssm:{call.operation}"
        if operation in _ON_NAME:
            name = call.text("Name")
            context = {}
            tags = {t.get("Key", ""): t.get("Value", "") for t in call.params.get("Tags") or []}
            for key, value in tags.items():
                context[f"aws:RequestTag/{key}"] = [value]
            if tags:
                context["aws:TagKeys"] = list(tags)
            if operation == "PutParameter":
                context["ssm:Overwrite"] = ["true" if call.params.get("Overwrite") else "false"]
            needs = [Need(action, self.arn(call, name), context)]
            if tags:
                needs.append(Need("ssm:AddTagsToResource", self.arn(call, name), context))
            return needs
        if operation in _ON_NAMES:
            return [Need(action, self.arn(call, str(name))) for name in call.params.get("Names") or []]
        if operation in _ON_PATH:
            return [Need(action, self.arn(call, call.text("Path")))]
        if operation in _ON_RESOURCE:
            return [Need(action, self.arn(call, call.text("ResourceId")))]
        if operation == "DescribeParameters":
            return [Need(action, self.world.arn("ssm", call.region, "*"))]
        raise self.unknown(call)

    def perform(self, call: Call, caller: Caller) -> Answer:
        check("ssm", call.operation, call.params)
        if call.operation == "PutParameter":
            self._check_put(call)
        answer = self.forward(call, caller)
        if answer.status == 200 and call.operation in ("GetParameter", "GetParameters", "GetParametersByPath"):
            self._veil(answer)
        answer.put("Content-Type", "application/x-amz-json-1.1")
        return answer

    def _check_put(self, call: Call) -> None:
        name, value = call.text("Name"), call.text("Value")
        if not re.fullmatch(r"[A-Za-z0-9_.\-/]+", name) or re.match(r"/?ssm", name, re.IGNORECASE):
            raise AwsError("ValidationException", _BAD_NAME, 400)
        if re.match(r"/?aws", name, re.IGNORECASE):
            text = f"No access to reserved parameter name: {name}."
            code = "AccessDeniedException" if name.lower().startswith("/aws") else "ValidationException"
            raise AwsError(code, text, 400)
        if "/" in name and not name.startswith("/"):
            raise AwsError("ValidationException", "Parameter name must be a fully qualified name.", 400)
        if "//" in name or name.endswith("/"):
            raise AwsError("ValidationException", _BAD_NAME, 400)
        if len(self.arn(call, name)) > 1011:
            raise AwsError("ValidationException", "Parameter name and ARN are longer than 1011 characters.", 400)
        if name.count("/") > 15:
            text = "A hierarchy can have a maximum of 15 levels."
            raise AwsError("HierarchyLevelLimitExceededException", text, 400)
        if "{{" in value:
            raise AwsError("ValidationException", "Parameter value can't nest another parameter. ", 400)
        advanced = call.text("Tier") == "Advanced"
        limit = 8192 if advanced else 4096
        if len(value.encode()) > limit and call.text("Tier") != "Intelligent-Tiering":
            text = (
                "Standard tier parameters support a maximum parameter value of 4096 characters. To create a larger "
                "parameter value, upgrade the parameter to use the advanced-parameter tier."
            )
            raise AwsError("ValidationException", text, 400)
        if call.params.get("Tags") and call.params.get("Overwrite"):
            text = (
                "Invalid request: tags and overwrite can't be used together. To create a parameter with tags, "
                "please remove overwrite flag. To update tags for an existing parameter, please use "
                "AddTagsToResource or RemoveTagsFromResource."
            )
            raise AwsError("ValidationException", text, 400)
        key = call.text("KeyId")
        if key and key not in (DEFAULT_KEY, self.world.arn("kms", call.region, DEFAULT_KEY)):
            raise AwsError("InvalidKeyId", f"Unable to retrieve key with id {key}", 400)
        self._check_type(call, name)

    def _check_type(self, call: Call, name: str) -> None:
        versions = self.world.backend.model("ssm", call.region)._parameters.get(name)
        if not versions or not call.params.get("Overwrite"):
            return
        if call.text("Type") and versions[-1].parameter_type != call.text("Type"):
            text = (
                "Parameter Store doesn't support changing a parameter type in a hierarchy. For example, you can't "
                "change a parameter from a String type to a SecureString type. You must create a new, unique parameter."
            )
            raise AwsError("HierarchyTypeMismatchException", text, 400)

    @staticmethod
    def _veil(answer: Answer) -> None:
        """Values that were not decrypted become opaque."""
        body = json.loads(answer.body)
        for found in [body.get("Parameter")] + (body.get("Parameters") or []):
            value = found and found.get("Value")
            if value and found.get("Type") == "SecureString" and value.startswith("kms:"):
                digest = hashlib.sha512(value.encode()).digest() * 2
                found["Value"] = "AQICAHh" + base64.b64encode(digest).decode().rstrip("=") + "=="
        answer.body = json.dumps(body).encode()
        answer.put("Content-Length", str(len(answer.body)))
