"""The encryption service: validate a config, find what its schema calls secret, rename, seal.

Which properties are secret depends on the config: only annotations of those alternatives of the schema count that
the config fits (a password is one in the variant that has a password)."""

from __future__ import annotations

import datetime
import json
import re
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from referencing.exceptions import Unresolvable

from . import sops

Json = Any
Path = tuple[str | int, ...]
_KEYS = frozenset(("schema", "config", "keychain"))


class Refused(Exception):
    """What the service answers with 400 and plain text. The text may repeat what was sent, as the real one's does."""


def _fits(schema: Json, root: Json, value: Json) -> bool:
    return Draft202012Validator(root).evolve(schema=schema).is_valid(value)


def _resolve(reference: str, root: Json) -> Json:
    node = root
    for part in reference.removeprefix("#").split("/")[1:]:
        node = node[part.replace("~1", "/").replace("~0", "~")]
    return node


def secret_paths(schema: Json, value: Json, root: Json | None = None, at: Path = ()) -> set[Path]:
    """Where the schema says `secret: true` (or `airbyte_secret`) of something that is there."""
    root = schema if root is None else root
    if not isinstance(schema, dict):
        return set()
    found: set[Path] = set()
    if at and (schema.get("secret") is True or schema.get("airbyte_secret") is True):
        found.add(at)
    if isinstance(schema.get("$ref"), str) and schema["$ref"].startswith("#"):
        found |= secret_paths(_resolve(schema["$ref"], root), value, root, at)
    for part in schema.get("allOf", ()):
        found |= secret_paths(part, value, root, at)
    for word in ("oneOf", "anyOf"):
        for part in schema.get(word, ()):
            if _fits(part, root, value):
                found |= secret_paths(part, value, root, at)
    if "if" in schema:
        chosen = "then" if _fits(schema["if"], root, value) else "else"
        found |= secret_paths(schema.get(chosen, {}), value, root, at)
    return found | _below(schema, value, root, at)


def _below(schema: dict[str, Json], value: Json, root: Json, at: Path) -> set[Path]:
    found: set[Path] = set()
    if isinstance(value, dict):
        named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        for name, inner in value.items():
            matching = [part for pattern, part in patterns.items() if re.search(pattern, name)]
            if name in named:
                matching.append(named[name])
            for part in matching or [schema.get("additionalProperties", {})]:
                found |= secret_paths(part, inner, root, (*at, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            found |= secret_paths(schema.get("items", {}), inner, root, (*at, index))
    return found


def rename(value: Json, secrets: set[Path], at: Path = ()) -> Json:
    """The config with the suffix on each secret's name. An element of a list has no name: its list gets it."""
    if isinstance(value, dict):
        return {_name(name, inner, secrets, (*at, name)): rename(inner, secrets, (*at, name))
                for name, inner in value.items()}
    return [rename(inner, secrets, (*at, i)) for i, inner in enumerate(value)] if isinstance(value, list) else value


def _name(name: str, value: Json, secrets: set[Path], at: Path) -> str:
    elements = isinstance(value, list) and any((*at, i) in secrets for i in range(len(value)))
    return name + sops.SUFFIX if at in secrets or elements else name


def clear_secrets(schema: Json, config: Json) -> list[str]:
    """Pointers to secrets that lie open in a config: empty for a sealed one."""
    if sops.is_sealed(config) or not isinstance(config, dict):
        return []
    found = []
    for path in sorted(secret_paths(schema, config), key=str):
        value: Json = config
        for part in path:
            value = value[part]
        if value is not None and value != "":
            found.append("/" + "/".join(str(part) for part in path))
    return found


def complaint(wrong: ValidationError) -> dict[str, Json]:
    """One entry of a refusal. instanceValue is the text that must never be shown."""
    return {
        "keywordLocation": "/" + "/".join(str(part) for part in wrong.absolute_schema_path),
        "instanceLocation": "".join(f"/{part}" for part in wrong.absolute_path),
        "instanceValue": wrong.instance,
        "detail": f"is not valid under the keyword {wrong.validator}",
    }


def complaints(schema: Json, config: Json) -> list[dict[str, Json]]:
    """What is wrong with a config, by its schema."""
    return [complaint(wrong) for wrong in Draft202012Validator(schema).iter_errors(config)]


def encrypt_config(body: bytes, recipient: str, now: float, nulls: bool) -> dict[str, Json]:
    """The answer to one request."""
    try:
        asked = json.loads(body)
    except ValueError as wrong:
        raise Refused(f"Failed to parse the request body as JSON: {wrong}") from None
    if not isinstance(asked, dict) or not {"schema", "config"} <= asked.keys() <= _KEYS:
        raise Refused("Failed to deserialize the JSON body into the target type: it has schema, config and perhaps "
                      "keychain")
    schema, config = asked["schema"], asked["config"]
    if not isinstance(config, dict):
        raise Refused("config is not an object")
    if sops.is_sealed(config):
        raise Refused("config is encrypted already")
    try:
        Draft202012Validator.check_schema(schema)
        wrong_parts = complaints(schema, config)
        secrets = secret_paths(schema, config)
    except (SchemaError, Unresolvable, re.error, KeyError) as wrong:
        raise Refused(f"failed to build the schema: {type(wrong).__name__}") from None
    if wrong_parts:
        raise Refused(f"failed to validate config against schema: {json.dumps(wrong_parts)}")
    moment = datetime.datetime.fromtimestamp(int(now), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return sops.seal(rename(config, secrets), recipient, moment, nulls)
