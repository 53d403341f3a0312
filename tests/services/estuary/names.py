"""Catalog names, prefixes and image names: the rules of the database's domains and of a catalog build."""

from __future__ import annotations

import re
import unicodedata

_TOKEN = r"(?:[^\W_]|[-_.])+"
_NAME = re.compile(rf"(?:{_TOKEN}/)+{_TOKEN}")
_PREFIX = re.compile(rf"(?:{_TOKEN}/)+")
_MODEL_NAME = re.compile(rf"{_TOKEN}(?:/{_TOKEN})*")
_IMAGE = re.compile(r"(?P<name>[a-z0-9.-]+(?:/[a-z0-9._-]+)+)(?P<tag>:[A-Za-z0-9._-]+|@sha256:[0-9a-f]{64})")


def is_name(text: str) -> bool:
    """Whether the database takes it as the name of a spec: two parts at least, in NFKC."""
    return bool(_NAME.fullmatch(text)) and unicodedata.normalize("NFKC", text) == text


def is_prefix(text: str) -> bool:
    """Whether the database takes it as a prefix."""
    return bool(_PREFIX.fullmatch(text)) and unicodedata.normalize("NFKC", text) == text


def unmatched(text: str) -> str:
    """What a build finds wrong in a name: the rest that no name may have; empty when nothing is."""
    match = _MODEL_NAME.match(text)
    return text[match.end():] if match else text


def split_image(image: str) -> tuple[str, str] | None:
    """Name and tag (with its colon) of an image."""
    match = _IMAGE.fullmatch(image)
    return (match["name"], match["tag"]) if match else None


def folder(name: str) -> str:
    """A name without its last part, with the slash."""
    return name[:name.rfind("/") + 1]


def recommended(text: str) -> str:
    """One part of a recommended collection name."""
    part = re.sub(r"[^A-Za-z0-9\-_.]", "_", text).lower()
    return part.replace(".", "_") if part in (".", "..") else part
