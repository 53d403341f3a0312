"""Lists in pages: real page sizes, and the pages that break careless clients (empty ones, repeated tokens)."""

from __future__ import annotations

import base64
import xml.etree.ElementTree as ET

from .errors import AwsError
from .messages import Answer
from .settings import Settings


def encode(offset: int) -> str:
    """A token that stands for a position."""
    return base64.urlsafe_b64encode(f"page-{offset}".encode()).decode().rstrip("=")


def decode(token: str, error: AwsError) -> int:
    """The position a token stands for; `error` when it is none of ours."""
    try:
        text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
        return int(text.removeprefix("page-"))
    except ValueError:
        raise error from None


def window(
    total: int, wanted: int | None, token: str | None, settings: Settings, error: AwsError
) -> tuple[int, int, str | None]:
    """Start, end and next token of one page of a list."""
    size = settings.page_size or wanted or total or 1
    if wanted:
        size = min(size, wanted)
    if not token and settings.empty_pages:
        return 0, 0, encode(0)
    start = decode(token, error) if token else 0
    end = min(start + size, total)
    following = encode(end) if end < total else None
    if following and token and settings.repeat_tokens:
        following = token
    return start, end, following


def page_xml(
    answer: Answer,
    list_name: str,
    token_name: str,
    wanted: int | None,
    token: str | None,
    settings: Settings,
    error: AwsError,
    truncated_name: str | None = None,
) -> None:
    """Cut the list in an XML answer down to one page and say where the next one starts."""
    root = ET.fromstring(answer.body)
    space = root.tag[1:].split("}")[0] if root.tag.startswith("{") else ""
    prefix = f"{{{space}}}" if space else ""
    parent = next((node for node in root.iter() if node.find(prefix + list_name) is not None), None)
    if parent is None:
        return
    found = parent.find(prefix + list_name)
    assert found is not None
    items = list(found)
    start, end, following = window(len(items), wanted, token, settings, error)
    for item in items[:start] + items[end:]:
        found.remove(item)
    for name, value in ((truncated_name, "true" if following else "false"), (token_name, following)):
        if name is None:
            continue
        old = parent.find(prefix + name)
        if old is not None:
            parent.remove(old)
        if value is not None:
            ET.SubElement(parent, prefix + name).text = value
    if space:
        ET.register_namespace("", space)
    answer.body = ET.tostring(root, encoding="utf-8", xml_declaration=False)
    answer.put("Content-Length", str(len(answer.body)))
