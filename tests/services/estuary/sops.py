"""The document that sops writes for JSON: values under a suffix encrypted one by one, one MAC over all of them.

Only what the encryption service uses: AES-256-GCM, --encrypted-suffix _sops, the data key wrapped for an age
recipient (in production: for a key of Google's KMS, which nobody here has)."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import os
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from .age import AgeError, Identity
from .age import seal as age_seal

SUFFIX = "_sops"
VERSION = "3.13.3"
_SEALED = re.compile(r"ENC\[AES256_GCM,data:(.*),iv:(.*),tag:(.*),type:(.*)\]", re.DOTALL)
_TAG = 16
_NULL_GROUPS = ("kms", "azure_kv", "hc_vault", "pgp")

Json = Any
Leaf = Callable[[Json, tuple[str, ...], bool], Json]


class SopsError(Exception):
    """A document that cannot be opened; the words are those of sops where it has some."""


def is_sealed(config: Json) -> bool:
    """Whether a config has been encrypted already."""
    return isinstance(config, dict) and isinstance(config.get("sops"), dict)


def _as_bytes(value: Json) -> bytes:
    """A value as the MAC and the cipher see it: a JSON number is an integer of 64 bits, else a float of as many."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bool):
        return b"True" if value else b"False"
    if _kind(value) == "int":
        return str(value).encode()
    number = format(Decimal(repr(float(value))), "f")
    return (number.rstrip("0").rstrip(".") if "." in number else number).encode()


def _kind(value: Json) -> str:
    if isinstance(value, str):
        return "str"
    if isinstance(value, bool):
        return "bool"
    return "int" if isinstance(value, int) and -(2**63) <= value < 2**63 else "float"


def _walk(node: Json, path: tuple[str, ...], leaf: Leaf) -> Json:
    if isinstance(node, dict):
        return {key: _walk(value, (*path, key), leaf) for key, value in node.items()}
    if isinstance(node, list):
        return [_walk(value, path, leaf) for value in node]
    return None if node is None else leaf(node, path, any(part.endswith(SUFFIX) for part in path))


def _encrypt(key: bytes, content: bytes, extra: str, kind: str) -> str:
    iv = os.urandom(32)
    sealed = AESGCM(key).encrypt(iv, content, extra.encode())
    data, iv64, tag = (base64.b64encode(part).decode() for part in (sealed[:-_TAG], iv, sealed[-_TAG:]))
    return f"ENC[AES256_GCM,data:{data},iv:{iv64},tag:{tag},type:{kind}]"


def _decrypt(key: bytes, text: str, extra: str) -> Json:
    match = _SEALED.fullmatch(text)
    if not match:
        raise SopsError("Input string does not match sops' data format")
    data, iv, tag = (base64.b64decode(part) for part in match.groups()[:3])
    try:
        content = AESGCM(key).decrypt(iv, data + tag, extra.encode()).decode()
    except InvalidTag:
        raise SopsError("Could not decrypt with AES_GCM: cipher: message authentication failed") from None
    kind = match.group(4)
    return content if kind == "str" else content == "True" if kind == "bool" else json.loads(content)


def _extra(path: tuple[str, ...]) -> str:
    return "".join(f"{part}:" for part in path)


def seal(config: dict[str, Json], recipient: str, now: str, nulls: bool = True) -> dict[str, Json]:
    """The document for a config whose secret names already carry the suffix. now: RFC 3339, to the second.

    nulls: name the unused groups of keys with null, as older versions do; newer ones leave them out."""
    key, digest = os.urandom(32), hashlib.sha512()

    def leaf(value: Json, path: tuple[str, ...], secret: bool) -> Json:
        content = _as_bytes(value)
        digest.update(content)
        if not secret or value == "":
            return value
        return _encrypt(key, content, _extra(path), _kind(value))

    document = _walk(config, (), leaf)
    mac = _encrypt(key, digest.hexdigest().upper().encode(), now, "str")
    told: dict[str, Json] = {name: None for name in _NULL_GROUPS} if nulls else {}
    told.update(age=[{"recipient": recipient, "enc": age_seal(recipient, key)}], lastmodified=now, mac=mac)
    told.update(encrypted_suffix=SUFFIX, version=VERSION)
    return {**document, "sops": told}


def open_sealed(document: dict[str, Json], identity: Identity) -> dict[str, Json]:
    """The config in a document, its names still with the suffix. Any change, also of the order, is an error."""
    told = document["sops"]
    try:
        key = identity.open(next(e["enc"] for e in told["age"] if e["recipient"] == identity.recipient))
    except (AgeError, KeyError, TypeError, StopIteration) as wrong:
        raise SopsError(f"Failed to get the data key required to decrypt the SOPS file: {wrong!r}") from None
    digest = hashlib.sha512()

    def leaf(value: Json, path: tuple[str, ...], secret: bool) -> Json:
        if secret and value != "":
            value = _decrypt(key, str(value), _extra(path))
        digest.update(_as_bytes(value))
        return value

    config: dict[str, Json] = _walk({name: value for name, value in document.items() if name != "sops"}, (), leaf)
    if _decrypt(key, told["mac"], told["lastmodified"]) != digest.hexdigest().upper():
        raise SopsError("MAC mismatch")
    return config


def without_suffix(config: Json) -> Json:
    """The same with the names as the connector knows them."""
    if isinstance(config, dict):
        return {name.removesuffix(SUFFIX): without_suffix(value) for name, value in config.items()}
    return [without_suffix(value) for value in config] if isinstance(config, list) else copy.copy(config)
