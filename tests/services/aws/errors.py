"""Errors in AWS's words and in the wire form of each protocol.

The same cause has another code and status in each protocol; the tables below hold them. Texts are those met
in public reports; where AWS's text is not publicly known the sentence is ours and says the same.
"""

from __future__ import annotations

import json
import re
from xml.sax.saxutils import escape

from .messages import Answer, Call

QUERY_NAMESPACES = {
    "iam": "https://iam.amazonaws.com/doc/2010-05-08/",
    "sts": "https://sts.amazonaws.com/doc/2011-06-15/",
}

_TOKEN_INVALID = "The security token included in the request is invalid."
_NO_MATCH = (
    "The request signature we calculated does not match the signature you provided. Check your AWS Secret "
    "Access Key and signing method. Consult the service documentation for details."
)
_EC2_AUTH = "AWS was not able to validate the provided access credentials"

#: cause -> protocol family -> (code, status, text). "json" serves ssm and emr-serverless.
_CAUSES: dict[str, dict[str, tuple[str, int, str]]] = {
    "unknown key": {
        "query": ("InvalidClientTokenId", 403, _TOKEN_INVALID),
        "json": ("UnrecognizedClientException", 400, _TOKEN_INVALID),
        "s3": ("InvalidAccessKeyId", 403, "The AWS Access Key Id you provided does not exist in our records."),
        "ec2": ("AuthFailure", 401, _EC2_AUTH),
    },
    "bad signature": {
        "query": ("SignatureDoesNotMatch", 403, _NO_MATCH),
        "json": ("InvalidSignatureException", 400, _NO_MATCH),
        "s3": (
            "SignatureDoesNotMatch",
            403,
            "The request signature we calculated does not match the signature you provided. "
            "Check your key and signing method.",
        ),
        "ec2": ("AuthFailure", 401, _EC2_AUTH),
    },
    "clock": {
        "query": ("SignatureDoesNotMatch", 403, ""),
        "json": ("InvalidSignatureException", 400, ""),
        "s3": (
            "RequestTimeTooSkewed",
            403,
            "The difference between the request time and the current time is too large.",
        ),
        "ec2": ("RequestExpired", 400, "Request has expired."),
    },
    "expired token": {
        "query": ("ExpiredToken", 403, "The security token included in the request is expired"),
        "json": ("ExpiredTokenException", 400, "The security token included in the request is expired"),
        "s3": ("ExpiredToken", 400, "The provided token has expired."),
        "ec2": ("RequestExpired", 400, "Request has expired."),
    },
    "bad token": {
        "query": ("InvalidClientTokenId", 403, _TOKEN_INVALID),
        "json": ("UnrecognizedClientException", 400, _TOKEN_INVALID),
        "s3": ("InvalidToken", 400, "The provided token is malformed or otherwise invalid."),
        "ec2": ("AuthFailure", 401, _EC2_AUTH),
    },
    "denied": {
        "query": ("AccessDenied", 403, ""),
        "json": ("AccessDeniedException", 400, ""),
        "s3": ("AccessDenied", 403, "Access Denied"),
        "ec2": ("UnauthorizedOperation", 403, "You are not authorized to perform this operation."),
    },
    "throttled": {
        "query": ("Throttling", 400, "Rate exceeded"),
        "json": ("ThrottlingException", 400, "Rate exceeded"),
        "s3": ("SlowDown", 503, "Please reduce your request rate."),
        "ec2": ("RequestLimitExceeded", 503, "Request limit exceeded."),
    },
    "unsigned": {
        "query": ("MissingAuthenticationToken", 403, "Request is missing Authentication Token"),
        "json": ("MissingAuthenticationTokenException", 403, "Missing Authentication Token"),
        "s3": ("AccessDenied", 403, "Access Denied"),
        "ec2": ("AuthFailure", 401, _EC2_AUTH),
    },
    "incomplete": {
        "query": ("IncompleteSignature", 400, ""),
        "json": ("IncompleteSignatureException", 400, ""),
        "s3": ("AuthorizationHeaderMalformed", 400, "The authorization header is malformed."),
        "ec2": ("AuthFailure", 401, _EC2_AUTH),
    },
    "internal": {
        "query": ("InternalFailure", 500, "The request processing has failed because of an unknown error."),
        "json": ("InternalServerError", 500, "The request has failed due to an internal error."),
        "s3": ("InternalError", 500, "We encountered an internal error. Please try again."),
        "ec2": ("InternalError", 500, "An internal error has occurred"),
    },
    "unavailable": {
        "query": ("ServiceUnavailable", 503, "Service is unavailable"),
        "json": ("ServiceUnavailableException", 503, "Service is unavailable"),
        "s3": ("ServiceUnavailable", 503, "Service is unable to handle request."),
        "ec2": ("Unavailable", 503, "The service is unavailable. Please try again shortly."),
    },
}


class AwsError(Exception):
    """An error to answer: code, text, HTTP status, and what the body or the headers carry besides."""

    def __init__(
        self,
        code: str,
        message: str,
        status: int = 400,
        extra: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.extra = extra or {}
        self.headers = headers or {}


def family(service: str) -> str:
    """Which column of the table a service reads."""
    return {"sts": "query", "iam": "query", "s3": "s3", "ec2": "ec2"}.get(service, "json")


def failure(cause: str, service: str, message: str | None = None, **extra: str) -> AwsError:
    """The error that a service answers for a cause; `message` replaces the standard text."""
    code, status, text = _CAUSES[cause][family(service)]
    shown = text if message is None or (family(service) == "ec2" and not message) else message
    return AwsError(code, shown, status, extra)


def render(error: AwsError, call: Call | None, request_id: str) -> Answer:
    """The error as an HTTP answer in the call's protocol."""
    protocol = call.protocol if call else "rest-xml"
    answer = Answer(error.status)
    for name, value in error.headers.items():
        answer.put(name, value)
    code, text = escape(error.code), escape(error.message)
    if protocol == "query":
        kind = "Receiver" if error.status >= 500 else "Sender"
        space = QUERY_NAMESPACES.get(call.service if call else "", "")
        body = (
            f'<ErrorResponse xmlns="{space}"><Error><Type>{kind}</Type><Code>{code}</Code>'
            f"<Message>{text}</Message></Error><RequestId>{request_id}</RequestId></ErrorResponse>"
        )
        answer.put("Content-Type", "text/xml")
    elif protocol == "ec2":
        body = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f"<Response><Errors><Error><Code>{code}</Code><Message>{text}</Message></Error></Errors>"
            f"<RequestID>{request_id}</RequestID></Response>"
        )
        answer.put("Content-Type", "text/xml;charset=UTF-8")
    elif protocol == "rest-xml":
        more = "".join(f"<{k}>{escape(v)}</{k}>" for k, v in error.extra.items())
        body = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f"<Error><Code>{code}</Code><Message>{text}</Message>{more}"
            f"<RequestId>{request_id}</RequestId><HostId>{host_id(request_id)}</HostId></Error>"
        )
        answer.put("Content-Type", "application/xml")
    else:
        fields = {"__type": error.code, "message": error.message, **error.extra}
        if protocol == "rest-json":
            del fields["__type"]
            answer.put("x-amzn-ErrorType", error.code)
            answer.put("Content-Type", "application/json")
        else:
            answer.put("Content-Type", "application/x-amz-json-1.1")
        body = json.dumps(fields)
    answer.body = body.encode()
    if protocol == "rest-xml" and call is not None and call.request.method == "HEAD":
        answer.body = b""
    return answer


def host_id(request_id: str) -> str:
    """The second id of an S3 answer: an imitation, derived from the first."""
    return (request_id.lower() * 5)[:75] + "="


def identify(answer: Answer, protocol: str, request_id: str) -> None:
    """Put the request id where the protocol's clients look for it, in place of any that moto made up."""
    if protocol in ("query", "ec2"):
        pattern = rb"(<[rR]equest(?:Id|ID)>)[^<]*(</[rR]equest(?:Id|ID)>)"
        answer.body = re.sub(pattern, rb"\g<1>" + request_id.encode() + rb"\g<2>", answer.body)
    if protocol == "rest-xml":
        answer.put("x-amz-request-id", request_id)
        answer.put("x-amz-id-2", host_id(request_id))
    else:
        answer.put("x-amzn-RequestId", request_id)
