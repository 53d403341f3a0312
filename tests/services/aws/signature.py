"""Signature Version 4, verified: header form, query form, and the streamed uploads that SDKs send to S3.

Written from the documented algorithm; it shares no code with sluice's signer nor with botocore, and boto3 and
the aws CLI, as clients in the tests, are its judges. It is strict where a lenient verifier hides bugs: query
and S3 path are decoded and encoded anew before they are hashed, every x-amz-* header, host and content type
must be signed, and a hash of the body is compared with the body.
"""

from __future__ import annotations

import hashlib
import hmac
import posixpath
import re
from dataclasses import dataclass
from datetime import datetime, timezone
from urllib.parse import quote, unquote_to_bytes

from .chunks import decode_chunks
from .clock import compact
from .errors import AwsError, failure
from .messages import Call, Request
from .settings import GLOBAL_REGION, REGIONS, Settings

ALGORITHM = "AWS4-HMAC-SHA256"
UNSIGNED = "UNSIGNED-PAYLOAD"
EMPTY_HASH = hashlib.sha256(b"").hexdigest()
_PARAMETERS = ("X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-SignedHeaders", "X-Amz-Signature")


@dataclass(frozen=True)
class Presented:
    """What a request says of itself: who signed, when, over what, and the signature."""

    key_id: str
    date: str
    region: str
    service: str
    signed_headers: tuple[str, ...]
    signature: str
    timestamp: str
    token: str | None
    in_query: bool
    expires: int | None = None

    @property
    def scope(self) -> str:
        """The credential scope."""
        return f"{self.date}/{self.region}/{self.service}/aws4_request"


def read(call: Call) -> Presented | None:
    """The signature a request carries, or None when it carries none. Raises for an unreadable one."""
    header = call.request.header("authorization")
    if header is not None:
        return _read_header(call, header)
    given = {name: value for name, value in call.query}
    if "X-Amz-Signature" in given or "X-Amz-Credential" in given:
        return _read_query(call, given)
    return None


def _incomplete(call: Call, text: str) -> AwsError:
    return failure("incomplete", call.service, text)


def _read_header(call: Call, header: str) -> Presented:
    kind, _, rest = header.partition(" ")
    if kind != ALGORITHM:
        raise _incomplete(call, f"Unsupported AWS 'algorithm': '{kind}'")
    fields = dict(piece.strip().partition("=")[::2] for piece in rest.split(","))
    for wanted in ("Credential", "SignedHeaders", "Signature"):
        if not fields.get(wanted):
            raise _incomplete(
                call, f"Authorization header requires '{wanted}' parameter. Authorization={kind} (rest withheld)"
            )
    stamp = call.request.header("x-amz-date") or _from_http_date(call.request.header("date"))
    if not stamp:
        raise _incomplete(call, "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.")
    return _presented(
        call,
        fields["Credential"],
        fields["SignedHeaders"],
        fields["Signature"],
        stamp,
        call.request.header("x-amz-security-token"),
        False,
    )


def _read_query(call: Call, given: dict[str, str]) -> Presented:
    for wanted in _PARAMETERS:
        if not given.get(wanted):
            raise _incomplete(call, f"AWS query-string parameters must include '{wanted}'.")
    if given["X-Amz-Algorithm"] != ALGORITHM:
        raise _incomplete(call, f"Unsupported AWS 'algorithm': '{given['X-Amz-Algorithm']}'")
    expires = given.get("X-Amz-Expires", "" if call.service == "s3" else "900")
    if not expires.isdigit() or int(expires) > 604800:
        raise AwsError("AuthorizationQueryParametersError", "X-Amz-Expires must be a number up to 604800", 400)
    return _presented(
        call,
        given["X-Amz-Credential"],
        given["X-Amz-SignedHeaders"],
        given["X-Amz-Signature"],
        given["X-Amz-Date"],
        given.get("X-Amz-Security-Token"),
        True,
        int(expires),
    )


def _presented(
    call: Call,
    credential: str,
    headers: str,
    signature: str,
    stamp: str,
    token: str | None,
    in_query: bool,
    expires: int | None = None,
) -> Presented:
    parts = credential.split("/")
    if len(parts) != 5 or parts[4] != "aws4_request":
        raise _incomplete(
            call, "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term"
        )
    if not re.fullmatch(r"\d{8}T\d{6}Z", stamp):
        raise _incomplete(call, f"Date must be in ISO-8601 'basic format'. Got '{stamp}'.")
    return Presented(
        parts[0], parts[1], parts[2], parts[3], tuple(headers.split(";")), signature, stamp, token, in_query, expires
    )


def _from_http_date(value: str | None) -> str | None:
    if not value:
        return None
    try:
        moment = datetime.strptime(value, "%a, %d %b %Y %H:%M:%S GMT")
    except ValueError:
        return value
    return moment.strftime("%Y%m%dT%H%M%SZ")


def check_time(call: Call, given: Presented, wall: float, settings: Settings) -> None:
    """Refuse a request from too far in the past or the future, in the words of the service."""
    sent = datetime.strptime(given.timestamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc).timestamp()
    if given.in_query and given.expires is not None and call.service == "s3":
        if wall > sent + given.expires:
            raise AwsError("AccessDenied", "Request has expired", 403, {"X-Amz-Expires": str(given.expires)})
        early = sent - wall > settings.tolerance
        late = False
    else:
        early, late = sent - wall > settings.tolerance, wall - sent > settings.tolerance
    minutes = int(settings.tolerance // 60)
    if call.service == "s3" and (early or late):
        raise failure(
            "clock",
            "s3",
            RequestTime=given.timestamp,
            ServerTime=datetime.fromtimestamp(wall, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            MaxAllowedSkewMilliseconds=str(int(settings.tolerance * 1000)),
        )
    if late:
        edge = compact(wall - settings.tolerance)
        text = f"Signature expired: {given.timestamp} is now earlier than {edge} ({compact(wall)} - {minutes} min.)"
        raise failure("clock", call.service, "" if call.service == "ec2" else text)
    if early:
        edge = compact(wall + settings.tolerance)
        text = f"Signature not yet current: {given.timestamp} is still later than {edge} "
        text += f"({compact(wall)} + {minutes} min.)"
        raise failure("clock", call.service, "" if call.service == "ec2" else text)
    if given.date != given.timestamp[:8]:
        text = (
            f"Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
            f"'{given.date}' != '{given.timestamp[:8]}', from '{given.timestamp}'."
        )
        raise failure("bad signature", call.service, "" if call.service == "ec2" else text)


def check_scope(call: Call, given: Presented, settings: Settings) -> None:
    """Refuse a signature made for another region or service than the one that got it."""
    known = REGIONS[settings.partition]
    if call.service == "s3":
        here = call.pinned_region or (given.region if given.region in known else settings.region)
        if given.region != here:
            text = f"The authorization header is malformed; the region '{given.region}' is wrong; expecting '{here}'"
            raise AwsError("AuthorizationHeaderMalformed", text, 400, {"Region": here})
        if given.service != "s3":
            text = f'The authorization header is malformed; incorrect service "{given.service}". '
            raise AwsError("AuthorizationHeaderMalformed", text + 'This endpoint belongs to "s3".', 400)
        return
    if call.service == "iam":
        right = given.region == GLOBAL_REGION[settings.partition]
    elif call.pinned_region:
        right = given.region == call.pinned_region
    else:
        right = given.region in known
    if not right:
        text = "Credential should be scoped to a valid region. "
        raise failure("bad signature", call.service, "" if call.service == "ec2" else text)
    if given.service != call.service:
        text = f"Credential should be scoped to correct service: '{call.service}'. "
        raise failure("bad signature", call.service, "" if call.service == "ec2" else text)


def check_signature(call: Call, given: Presented, secret: str, settings: Settings) -> None:
    """Compute the signature and compare; unpack a streamed body; compare body and hash."""
    _check_signed_headers(call, given)
    hashed = _payload_hash(call, given, settings)
    canonical = canonical_request(call.request, given, hashed, call.service == "s3")
    digest = hashlib.sha256(canonical.encode("utf-8", "surrogateescape")).hexdigest()
    to_sign = "\n".join((ALGORITHM, given.timestamp, given.scope, digest))
    key = signing_key(secret, given.date, given.region, given.service)
    wanted = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(wanted.encode(), given.signature.encode("utf-8", "replace")):
        extra = {}
        if call.service == "s3":
            extra = {
                "AWSAccessKeyId": given.key_id,
                "StringToSign": to_sign,
                "SignatureProvided": given.signature,
                "CanonicalRequest": canonical if given.token is None else "(withheld)",
            }
        raise failure("bad signature", call.service, **extra)
    if hashed.startswith("STREAMING-"):
        decode_chunks(call, hashed, given, key)


def _check_signed_headers(call: Call, given: Presented) -> None:
    signed = set(given.signed_headers)
    present = {name.lower() for name, _ in call.request.headers}
    wanted = {"host"} | {name for name in present if name.startswith("x-amz-")}
    if not given.in_query:
        wanted |= present & {"content-type"}
    missing = sorted(wanted - signed)
    if not missing:
        return
    if call.service == "s3":
        text = "There were headers present in the request which were not signed"
        raise AwsError("AccessDenied", text, 403, {"HeadersNotSigned": ", ".join(missing)})
    name = "'Host' or ':authority'" if missing[0] == "host" else f"'{missing[0]}'"
    text = f"{name} must be a 'SignedHeader' in the AWS Authorization."
    raise failure("bad signature", call.service, "" if call.service == "ec2" else text)


def _payload_hash(call: Call, given: Presented, settings: Settings) -> str:
    stated = call.request.header("x-amz-content-sha256")
    if call.service != "s3":
        if stated is not None and stated != call.request.body_hash:
            raise failure("bad signature", call.service)
        return call.request.body_hash
    if stated is None:
        if given.in_query:
            return UNSIGNED
        raise AwsError("InvalidRequest", "Missing required header for this request: x-amz-content-sha256", 400)
    if stated == UNSIGNED or stated.startswith("STREAMING-"):
        if not call.request.secure or settings.refuse_unsigned_payload:
            text = "Requests must have a signed payload here"
            raise AwsError("InvalidRequest", text, 400)
        return stated
    if not re.fullmatch(r"[0-9a-f]{64}", stated):
        text = "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-..., or a valid sha256 value."
        raise AwsError("InvalidArgument", text, 400, {"ArgumentName": "x-amz-content-sha256", "ArgumentValue": stated})
    if stated != call.request.body_hash:
        raise AwsError(
            "XAmzContentSHA256Mismatch",
            "The provided 'x-amz-content-sha256' header does not match what was computed.",
            400,
            {"ClientComputedContentSHA256": stated, "S3ComputedContentSHA256": call.request.body_hash},
        )
    return stated


def canonical_request(request: Request, given: Presented, payload_hash: str, s3: bool) -> str:
    """The text that is hashed and signed."""
    headers = ""
    for name in given.signed_headers:
        values = [" ".join(value.split()) for value in request.all(name)]
        headers += f"{name}:{','.join(values)}\n"
    return "\n".join(
        (
            request.method,
            _canonical_path(request.path, s3),
            _canonical_query(request.query),
            headers,
            ";".join(given.signed_headers),
            payload_hash,
        )
    )


def _canonical_path(path: str, s3: bool) -> str:
    if s3:
        return quote(unquote_to_bytes(path), safe="/-_.~")
    normal = posixpath.normpath(path)
    if normal.startswith("//"):
        normal = normal[1:]
    if path.endswith(("/", "/.", "/..")) and normal != "/":
        normal += "/"
    return quote(normal, safe="/-_.~")


def _canonical_query(query: str) -> str:
    pairs = []
    for piece in query.split("&"):
        if piece and not piece.startswith("X-Amz-Signature="):
            name, _, value = piece.partition("=")
            pairs.append((quote(unquote_to_bytes(name), safe="-_.~"), quote(unquote_to_bytes(value), safe="-_.~")))
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def signing_key(secret: str, date: str, region: str, service: str) -> bytes:
    """The key that signs on that day in that region for that service."""
    key = ("AWS4" + secret).encode()
    for part in (date, region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key
