"""The stand-in for AWS refuses wrong signatures, keys, clocks, scopes and sessions in each protocol's own words."""

import hashlib
import hmac
import http.client
import re
import ssl
import time
from email.utils import parsedate_to_datetime

import pytest
from botocore.auth import S3SigV4Auth, SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from tests.services.aws.testing import (
    ACCOUNT,
    allow,
    aws,  # noqa: F401
    policy,
    refused,
)

# Who signed, and how.

PROBES = {
    "sts": ("get_caller_identity", {}),
    "iam": ("list_users", {}),
    "s3": ("list_buckets", {}),
    "ssm": ("get_parameter", {"Name": "/x"}),
    "emr-serverless": ("list_applications", {}),
    "ec2": ("describe_vpcs", {}),
}


@pytest.mark.parametrize(
    ("service", "code", "status"),
    [
        ("sts", "SignatureDoesNotMatch", 403),
        ("iam", "SignatureDoesNotMatch", 403),
        ("s3", "SignatureDoesNotMatch", 403),
        ("ssm", "InvalidSignatureException", 400),
        ("emr-serverless", "InvalidSignatureException", 400),
        ("ec2", "AuthFailure", 401),
    ],
)
def test_wrong_secret(aws, service, code, status):
    name, given = PROBES[service]
    found = refused(getattr(aws.client(service, aws.admin_key, "x" * 40), name), **given)
    assert (found[0], found[2]) == (code, status)
    assert aws.admin_secret not in str(found)


@pytest.mark.parametrize(
    ("service", "code"),
    [
        ("sts", "InvalidClientTokenId"),
        ("iam", "InvalidClientTokenId"),
        ("s3", "InvalidAccessKeyId"),
        ("ssm", "UnrecognizedClientException"),
        ("emr-serverless", "UnrecognizedClientException"),
        ("ec2", "AuthFailure"),
    ],
)
def test_unknown_key(aws, service, code):
    name, given = PROBES[service]
    assert refused(getattr(aws.client(service, "AKIA" + "X" * 16, "x" * 40), name), **given)[0] == code
    off = aws.client(service, region_name="ap-east-1")
    if service != "iam":  # a region that the account has not switched on knows no key
        assert refused(getattr(off, name), **given)[0] == code


@pytest.mark.parametrize(("hours", "word"), [(1, "Signature expired"), (-1, "Signature not yet current")])
def test_clock(aws, hours, word):
    aws.settings.skew = hours * 3600
    for service, code in (
        ("sts", "SignatureDoesNotMatch"),
        ("ssm", "InvalidSignatureException"),
        ("s3", "RequestTimeTooSkewed"),
        ("ec2", "RequestExpired"),
    ):
        name, given = PROBES[service]
        with pytest.raises(ClientError) as caught:
            getattr(aws.client(service), name)(**given)
        assert caught.value.response["Error"]["Code"] == code
        if service in ("sts", "ssm"):
            assert re.fullmatch(
                word + r": \d{8}T\d{6}Z is (now earlier|still later) than \d{8}T\d{6}Z \(\d{8}T\d{6}Z [-+] 15 min\.\)",
                caught.value.response["Error"]["Message"],
            )
        shown = caught.value.response["ResponseMetadata"]["HTTPHeaders"]["date"]
        assert abs(parsedate_to_datetime(shown).timestamp() - time.time() - hours * 3600) < 60


def send(aws, method, target, headers, body=b""):
    """One request as it stands; (status, headers, body)."""
    context = ssl.create_default_context(cafile=str(aws.ca_file))
    connection = http.client.HTTPSConnection("127.0.0.1", aws.port, context=context, timeout=10)
    connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
    for name, value in {**headers, "Content-Length": str(len(body))}.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return found


def signed(aws, service, method, target, headers=(), body=b"", region="us-east-1", signer=None):
    """A request signed by botocore for exactly this target; its headers."""
    given = {"Host": f"127.0.0.1:{aws.port}", **dict(headers)}
    if service == "s3":
        given.setdefault("X-Amz-Content-SHA256", hashlib.sha256(body).hexdigest())
    request = AWSRequest(method, aws.url + target, data=body, headers=given)
    make = signer or (S3SigV4Auth if service == "s3" else SigV4Auth)
    make(Credentials(aws.admin_key, aws.admin_secret), service, region).add_auth(request)
    return dict(request.headers.items()), request.url


WHO = b"Action=GetCallerIdentity&Version=2011-06-15"
FORM = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}


def test_body_and_headers_are_signed(aws):
    headers, _ = signed(aws, "sts", "POST", "/", FORM, WHO)
    assert send(aws, "POST", "/", headers, WHO)[0] == 200
    status, _, body = send(aws, "POST", "/", headers, WHO + b"&x=y")
    assert status == 403 and b"<Code>SignatureDoesNotMatch</Code>" in body
    status, _, body = send(aws, "POST", "/", {**headers, "X-Amz-Extra": "1"}, WHO)
    assert status == 403 and b"must be a 'SignedHeader'" in body
    aws.make_bucket("stage-1")
    headers, _ = signed(aws, "s3", "PUT", "/stage-1/k", body=b"one")
    assert send(aws, "PUT", "/stage-1/k", headers, b"one")[0] == 200
    status, _, body = send(aws, "PUT", "/stage-1/k", headers, b"two")
    assert status == 400 and b"XAmzContentSHA256Mismatch" in body
    status, _, body = send(aws, "PUT", "/stage-1/k", {**headers, "X-Amz-Acl": "public-read"}, b"one")
    assert status == 403 and b"<HeadersNotSigned>x-amz-acl</HeadersNotSigned>" in body
    headers, _ = signed(aws, "s3", "GET", "/stage-1")
    del headers["X-Amz-Content-SHA256"]
    assert b"x-amz-content-sha256" in send(aws, "GET", "/stage-1", headers)[2]


@pytest.mark.parametrize(
    ("target", "accepted"),
    [
        ("/stage-1?list-type=2&prefix=estuary-staging%2F", True),
        ("/stage-1?list-type=2&prefix=estuary-staging/", False),
        ("/stage-1?prefix=a&list-type=2", True),
        ("/stage-1/a%2Bb", True),
        ("/stage-1/a+b", False),
        ("/stage-1?location=", True),
    ],
)
def test_query_and_path_must_be_encoded_as_signed(aws, target, accepted):
    """botocore signs a raw query and path as they stand; S3 encodes them anew and so refuses."""
    aws.make_bucket("stage-1")
    aws.put_object("stage-1", "a%2Bb")
    headers, _ = signed(aws, "s3", "GET", target)
    status, _, body = send(aws, "GET", target, headers)
    assert status == (200 if accepted else 403)
    assert accepted or b"SignatureDoesNotMatch" in body


def test_signature_in_the_query(aws):
    body = b""
    _, url = signed(aws, "sts", "GET", "/?" + WHO.decode(), body=body, signer=SigV4QueryAuth)
    target = url.removeprefix(aws.url)
    host = {"Host": f"127.0.0.1:{aws.port}"}
    assert send(aws, "GET", target, host)[0] == 200
    assert "Signature=…" in aws.log.entries()[-1]["target"]
    assert send(aws, "GET", target[:-1] + ("0" if target[-1] != "0" else "1"), host)[0] == 403
    aws.make_bucket("stage-1")
    aws.put_object("stage-1", "k", b"hello")
    s3 = aws.client("s3", config=Config(signature_version="s3v4"))
    url = s3.generate_presigned_url("get_object", Params={"Bucket": "stage-1", "Key": "k"}, ExpiresIn=60)
    assert send(aws, "GET", url.removeprefix(aws.url), host)[2] == b"hello"
    aws.settings.skew = 120
    assert b"Request has expired" in send(aws, "GET", url.removeprefix(aws.url), host)[2]


def stating(payload_hash):
    """A signer that says this of the payload, whatever the payload is."""
    return type("Stating", (S3SigV4Auth,), {"payload": lambda self, request: payload_hash})


def test_streamed_upload_with_signed_chunks(aws):
    """The older kind of stream, by AWS's published recipe: each chunk is signed over the one before it."""
    aws.make_bucket("stage-1")
    kind, parts = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", (b"x" * 1000, b"y" * 10, b"")
    given = {"X-Amz-Decoded-Content-Length": "1010", "Content-Encoding": "aws-chunked"}
    headers, _ = signed(aws, "s3", "PUT", "/stage-1/k", given, signer=stating(kind))
    stamp, previous = headers["X-Amz-Date"], headers["Authorization"].rpartition("Signature=")[2]
    scope = f"{stamp[:8]}/us-east-1/s3/aws4_request"
    key = b"AWS4" + aws.admin_secret.encode()
    for word in scope.split("/"):
        key = hmac.digest(key, word.encode(), "sha256")
    empty, body = hashlib.sha256(b"").hexdigest(), b""
    for part in parts:
        text = "\n".join(("AWS4-HMAC-SHA256-PAYLOAD", stamp, scope, previous, empty, hashlib.sha256(part).hexdigest()))
        previous = hmac.digest(key, text.encode(), "sha256").hex()
        body += b"%x;chunk-signature=%s\r\n%s\r\n" % (len(part), previous.encode(), part)
    assert send(aws, "PUT", "/stage-1/k", headers, body)[0] == 200
    stored = aws.client("s3").get_object(Bucket="stage-1", Key="k")["Body"].read()
    assert stored == b"x" * 1000 + b"y" * 10
    status, _, answer = send(aws, "PUT", "/stage-1/k", headers, body.replace(b"y", b"z"))
    assert status == 403 and b"SignatureDoesNotMatch" in answer
    assert b"IncompleteBody" in send(aws, "PUT", "/stage-1/k", headers, body[:500])[2]
    aws.settings.refuse_unsigned_payload = True
    headers, _ = signed(aws, "s3", "PUT", "/stage-1/k", signer=stating("UNSIGNED-PAYLOAD"))
    assert send(aws, "PUT", "/stage-1/k", headers, b"x")[0] == 400


def test_scope_must_fit(aws):
    for service, region, word in (
        ("sts", "us-east-1a", b"Credential should be scoped to a valid region"),
        ("iam", "eu-west-1", b"Credential should be scoped to a valid region"),
        ("sts", "cn-north-1", b"Credential should be scoped to a valid region"),
    ):
        body = WHO if service == "sts" else b"Action=ListUsers&Version=2010-05-08"
        headers, _ = signed(aws, service, "POST", "/", FORM, body, region=region)
        assert word in send(aws, "POST", "/", headers, body)[2]
    regional = aws.regional_url("eu-west-1")
    s3 = aws.client("s3", endpoint_url=regional, region_name="us-west-2")
    aws.make_bucket("stage-1", "eu-west-1")
    with aws.watching() as seen:
        assert s3.list_objects_v2(Bucket="stage-1")["KeyCount"] == 0
    # boto3 takes the region out of the error and signs once more, for the right one
    assert [(e["status"], e["code"]) for e in seen] == [(400, "AuthorizationHeaderMalformed"), (200, "")]


def test_unsigned(aws):
    host = {"Host": f"127.0.0.1:{aws.port}"}
    assert b"MissingAuthenticationToken" in send(aws, "POST", "/", {**host, **FORM}, WHO)[2]
    target = {**host, "X-Amz-Target": "AmazonSSM.GetParameter", "Content-Type": "application/x-amz-json-1.1"}
    assert b"MissingAuthenticationTokenException" in send(aws, "POST", "/", target, b"{}")[2]
    aws.make_bucket("stage-1")
    assert b"<Code>AccessDenied</Code>" in send(aws, "GET", "/stage-1", host)[2]
    garbled = send(aws, "POST", "/", {**host, **FORM, "Authorization": "AWS4-HMAC-SHA256 Credential=x"}, WHO)
    assert garbled[0] == 400 and b"IncompleteSignature" in garbled[2]


def test_sessions(aws):
    iam, sts = aws.client("iam"), aws.client("sts")
    trust = {"Effect": "Allow", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}, "Action": "sts:AssumeRole"}
    iam.create_role(RoleName="ops", AssumeRolePolicyDocument=policy(trust))
    iam.put_role_policy(RoleName="ops", PolicyName="p", PolicyDocument=policy(allow("iam:List*"), allow("s3:*")))
    narrow = policy(allow("iam:ListUsers"))
    given = sts.assume_role(RoleArn=f"arn:aws:iam::{ACCOUNT}:role/ops", RoleSessionName="me", Policy=narrow)[
        "Credentials"
    ]
    keys = given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"]
    mine = aws.client("sts", *keys).get_caller_identity()
    assert mine["Arn"] == f"arn:aws:sts::{ACCOUNT}:assumed-role/ops/me"
    assert aws.client("iam", *keys).list_users()["Users"]
    _, text, _ = refused(aws.client("iam", *keys).list_roles)
    assert text.endswith("because no session policy allows the iam:ListRoles action")
    assert refused(aws.client("iam", *keys[:2], "garbled").list_users)[0] == "InvalidClientTokenId"
    assert refused(aws.client("s3", *keys[:2], "garbled").list_buckets)[0] == "InvalidToken"
    assert refused(aws.client("iam", *keys[:2]).list_users)[0] == "InvalidClientTokenId"
    aws.clock.advance(3601)
    assert refused(aws.client("iam", *keys).list_users)[0] == "ExpiredToken"
    assert refused(aws.client("ssm", *keys).get_parameter, Name="/x")[0] == "ExpiredTokenException"
