"""Streamed uploads to S3: the `aws-chunked` framing that SDKs send, unpacked and checked."""

from __future__ import annotations

import base64
import hashlib
import hmac
import zlib
from typing import TYPE_CHECKING

from .errors import AwsError, failure
from .messages import Call

if TYPE_CHECKING:
    from .signature import Presented

_EMPTY = hashlib.sha256(b"").hexdigest()
_BROKEN = "The request body is not framed as its headers say."


def _malformed(text: str = _BROKEN) -> AwsError:
    return AwsError("IncompleteBody", text, 400)


def decode_chunks(call: Call, kind: str, given: Presented, key: bytes) -> None:
    """Put the plain body into `call.payload` and the trailing headers into `call.trailers`."""
    signed = kind.startswith("STREAMING-AWS4-HMAC-SHA256-PAYLOAD")
    if not signed and kind != "STREAMING-UNSIGNED-PAYLOAD-TRAILER":
        raise AwsError("InvalidArgument", "x-amz-content-sha256 names an unknown kind of stream", 400)
    previous = given.signature
    rest, plain = call.request.body, b""
    while True:
        line, found, rest = rest.partition(b"\r\n")
        if not found:
            raise _malformed()
        size_text, _, extension = line.partition(b";")
        try:
            size = int(size_text, 16)
        except ValueError:
            raise _malformed() from None
        data, rest = rest[:size], rest[size:]
        if len(data) != size:
            raise _malformed()
        if signed:
            previous = _check_chunk(call, given, key, previous, data, extension)
        if size == 0:
            break
        if not rest.startswith(b"\r\n"):
            raise _malformed()
        plain, rest = plain + data, rest[2:]
    length = call.request.header("x-amz-decoded-content-length")
    if length is None or not length.isdigit() or int(length) != len(plain):
        raise _malformed("You did not provide the number of bytes specified by x-amz-decoded-content-length")
    for line in rest.split(b"\r\n"):
        name, found, value = line.partition(b":")
        if found:
            call.trailers.append((name.decode().strip().lower(), value.decode().strip()))
    announced = {name.strip().lower() for value in call.request.all("x-amz-trailer") for name in value.split(",")}
    if announced - {name for name, _ in call.trailers}:
        raise AwsError("MalformedTrailerError", "The request contained trailing data that was not well-formed", 400)
    call.payload = plain


def _check_chunk(call: Call, given: Presented, key: bytes, previous: str, data: bytes, extension: bytes) -> str:
    stated = extension.partition(b"chunk-signature=")[2].decode()
    to_sign = "\n".join(
        (
            "AWS4-HMAC-SHA256-PAYLOAD",
            given.timestamp,
            given.scope,
            previous,
            _EMPTY,
            hashlib.sha256(data).hexdigest(),
        )
    )
    wanted = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(wanted, stated):
        raise failure("bad signature", call.service)
    return wanted


def check_checksums(call: Call, required: bool) -> None:
    """Compare Content-MD5 and x-amz-checksum-* with the body; complain when one is required and none is there."""
    stated = call.request.header("content-md5")
    seen = stated is not None
    if stated is not None and stated != base64.b64encode(hashlib.md5(call.payload).digest()).decode():
        raise AwsError("BadDigest", "The Content-MD5 you specified did not match what we received.", 400)
    for name, value in call.request.headers + call.trailers:
        kind = name.lower().removeprefix("x-amz-checksum-")
        if kind == name.lower() or kind in ("type", "mode", "algorithm"):
            continue
        seen = True
        computed = _checksum(kind, call.payload)
        if computed is not None and computed != value:
            raise AwsError("BadDigest", f"The {kind.upper()} you specified did not match the calculated checksum.", 400)
    if required and not seen:
        text = "Missing required header for this request: Content-MD5 OR x-amz-checksum-*"
        raise AwsError("InvalidRequest", text, 400)


def _checksum(kind: str, data: bytes) -> str | None:
    """The checksum in base64; None for the kinds that Python cannot compute (crc32c, crc64nvme)."""
    if kind == "crc32":
        raw = zlib.crc32(data).to_bytes(4, "big")
    elif kind == "sha256":
        raw = hashlib.sha256(data).digest()
    elif kind == "sha1":
        raw = hashlib.sha1(data).digest()
    else:
        return None
    return base64.b64encode(raw).decode()
