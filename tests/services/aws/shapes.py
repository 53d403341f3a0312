"""Input checked against AWS's published service models: required members, lengths, ranges, patterns, choices.

botocore carries those models but checks only a part of them before it sends; the services check all. Member
names start with a small letter in the services' messages, whatever the model says.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import botocore.loaders
import botocore.model

from .errors import AwsError


@lru_cache(maxsize=8)
def _service(name: str) -> botocore.model.ServiceModel:
    return botocore.model.ServiceModel(botocore.loaders.Loader().load_service_model(name, "service-2"), name)


@lru_cache(maxsize=256)
def _input(service: str, operation: str) -> Any:
    try:
        return _service(service).operation_model(operation).input_shape
    except botocore.model.OperationNotFoundError:
        return None


def _small(name: str) -> str:
    return name[:1].lower() + name[1:]


class _Check:
    def __init__(self) -> None:
        self.faults: list[str] = []

    def fault(self, path: str, value: Any, constraint: str) -> None:
        shown = "null" if value is None else f"'{value}'"
        self.faults.append(f"Value {shown} at '{path}' failed to satisfy constraint: Member must {constraint}")

    def structure(self, shape: Any, value: dict[str, Any], path: str) -> None:
        for name in shape.required_members:
            if value.get(name) is None:
                self.fault(f"{path}{_small(name)}", None, "not be null")
        for name, member in shape.members.items():
            if value.get(name) is not None:
                self.value(member, value[name], f"{path}{_small(name)}")

    def value(self, shape: Any, value: Any, path: str) -> None:
        kind = shape.type_name
        wanted: dict[str, tuple[type, ...]] = {
            "structure": (dict,),
            "map": (dict,),
            "list": (list,),
            "string": (str,),
            "boolean": (bool,),
        }
        if kind in wanted and not isinstance(value, wanted[kind]):
            raise AwsError("SerializationException", f"{path}: {kind} expected", 400)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if kind in ("integer", "long", "double", "float") and not number:
            raise AwsError("SerializationException", f"{path}: NUMBER_VALUE expected", 400)
        if kind == "structure":
            self.structure(shape, value, path + ".")
        elif kind == "list":
            self._size(shape, len(value), value, path, "length")
            for index, item in enumerate(value, 1):
                self.value(shape.member, item, f"{path}.{index}.member")
        elif kind == "map":
            self._size(shape, len(value), value, path, "length")
            for key, item in value.items():
                self.value(shape.value, item, f"{path}.{key}")
        elif kind == "string":
            self.string(shape, value, path)
        elif kind in ("integer", "long"):
            self._size(shape, value, value, path, "value")

    def _size(self, shape: Any, size: Any, value: Any, path: str, what: str) -> None:
        low, high = shape.metadata.get("min"), shape.metadata.get("max")
        if low is not None and size < low:
            self.fault(path, value, f"have {what} greater than or equal to {low}")
        if high is not None and size > high:
            self.fault(path, value, f"have {what} less than or equal to {high}")

    def string(self, shape: Any, value: str, path: str) -> None:
        self._size(shape, len(value), value, path, "length")
        pattern = shape.metadata.get("pattern")
        if pattern and not _matches(pattern, value):
            self.fault(path, value, f"satisfy regular expression pattern: {pattern}")
        if shape.enum and value not in shape.enum:
            self.fault(path, value, f"satisfy enum value set: [{', '.join(shape.enum)}]")


def _matches(pattern: str, value: str) -> bool:
    plain = re.sub(r"\\p\{[A-Za-z]+\}", r"\\w\\s", pattern)
    try:
        return re.fullmatch(plain, value) is not None
    except re.error:
        return True


def _raise(faults: list[str], code: str) -> None:
    if faults:
        count = f"{len(faults)} validation error{'s' if len(faults) > 1 else ''} detected: "
        raise AwsError(code, count + "; ".join(faults), 400)


def check(service: str, operation: str, params: dict[str, Any]) -> None:
    """Check the parameters of a JSON service. Unknown members are ignored, as the services do."""
    shape = _input(service, operation)
    if shape is None:
        return
    checking = _Check()
    checking.structure(shape, params, "")
    _raise(checking.faults, "ValidationException")


def check_form(service: str, operation: str, params: dict[str, Any]) -> None:
    """Check the parameters of a form service: its scalar members, and that required lists are there."""
    shape = _input(service, operation)
    if shape is None:
        return
    checking = _Check()
    for name, member in shape.members.items():
        present = name in params or any(key.startswith(name + ".") for key in params)
        if not present:
            if name in shape.required_members:
                checking.fault(_small(name), None, "not be null")
        elif member.type_name == "string":
            checking.string(member, str(params.get(name, "")), _small(name))
        elif member.type_name == "integer":
            text = str(params[name])
            if not re.fullmatch(r"-?\d+", text):
                raise AwsError("MalformedInput", f"{name}: a number is expected", 400)
            checking._size(member, int(text), text, _small(name), "value")
    _raise(checking.faults, "ValidationError")
