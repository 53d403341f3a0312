"""The stand-in for AWS breaks on purpose: every kind of fault, met by exactly the calls it was meant for."""

import http.client
import json
import threading
import time

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    EndpointConnectionError,
    HTTPClientError,
    ReadTimeoutError,
    ResponseStreamingError,
)
from botocore.parsers import ResponseParserError

from tests.services.aws import hostile
from tests.services.aws.testing import aws, make_user, refused  # noqa: F401

GONE = (ConnectionClosedError, EndpointConnectionError, HTTPClientError)


def test_lost_reply_has_been_carried_out(aws):
    iam = aws.client("iam")
    iam.create_user(UserName="writer")
    aws.faults.add("lost_reply", service="iam", operation="CreateAccessKey")
    with pytest.raises(GONE):
        iam.create_access_key(UserName="writer")
    assert len(iam.list_access_keys(UserName="writer")["AccessKeyMetadata"]) == 1
    assert [e["fault"] for e in aws.log.entries(action="iam:CreateAccessKey")] == ["lost_reply"]


def test_lost_request_has_not(aws):
    iam = aws.client("iam")
    aws.faults.add("lost_request", operation="CreateUser")
    with pytest.raises(GONE):
        iam.create_user(UserName="writer")
    assert aws.contents()["users"] == []


def test_truncated_delayed_and_dribbled(aws):
    aws.make_bucket("stage-1")
    aws.put_object("stage-1", "k", b"x" * 1000)
    s3 = aws.client("s3")
    aws.faults.add("truncated", service="s3", operation="GetObject", keep=10)
    with pytest.raises((ResponseStreamingError, ConnectionClosedError, OSError)):
        s3.get_object(Bucket="stage-1", Key="k")["Body"].read()
    assert len(s3.get_object(Bucket="stage-1", Key="k")["Body"].read()) == 1000
    sts = aws.client("sts")
    aws.faults.add("delay", service="sts", seconds=0.3)
    begin = time.monotonic()
    sts.get_caller_identity()
    assert time.monotonic() - begin >= 0.3
    aws.faults.add("dribble", service="sts", seconds=0.0005, nth=1)
    assert sts.get_caller_identity()["Account"] == "123456789012"
    from botocore.config import Config

    impatient = aws.client("sts", config=Config(read_timeout=0.2, retries={"total_max_attempts": 1}))
    aws.faults.add("delay", service="sts", seconds=1.0)
    with pytest.raises(ReadTimeoutError):
        impatient.get_caller_identity()


@pytest.mark.parametrize(
    ("service", "code", "status"),
    [
        ("iam", "Throttling", 400),
        ("ssm", "ThrottlingException", 400),
        ("emr-serverless", "ThrottlingException", 400),
        ("s3", "SlowDown", 503),
        ("ec2", "RequestLimitExceeded", 503),
    ],
)
def test_throttling_in_each_protocol(aws, service, code, status):
    calls = {
        "iam": ("list_users", {}),
        "ssm": ("get_parameter", {"Name": "/x"}),
        "emr-serverless": ("list_applications", {}),
        "s3": ("list_buckets", {}),
        "ec2": ("describe_vpcs", {}),
    }
    name, given = calls[service]
    client = aws.client(service)
    aws.faults.add("throttle", service=service, retry_after="3600", count=2)
    for _ in range(2):
        found = refused(getattr(client, name), **given)
        assert (found[0], found[2]) == (code, status)
    assert "fault" not in str(found)
    try:
        getattr(client, name)(**given)
    except ClientError as error:
        assert error.response["Error"]["Code"] == "ParameterNotFound"


def test_server_errors_and_strangers(aws):
    iam, emr = aws.client("iam"), aws.client("emr-serverless")
    aws.faults.add("error", service="iam", code="ServiceFailure", message="no <luck>", status=500)
    assert refused(iam.list_users) == ("ServiceFailure", "no <luck>", 500)
    aws.faults.add(
        "error", service="emr-serverless", code="ServiceQuotaExceededException", status=402, message="16 vCPU"
    )
    assert refused(emr.list_applications) == ("ServiceQuotaExceededException", "16 vCPU", 402)
    for status, body in ((502, "<html>Bad Gateway</html>"), (503, ""), (504, "upstream")):
        aws.faults.add("status", service="iam", status=status, body=body)
        with pytest.raises((ClientError, ResponseParserError)):
            iam.list_users()
        assert aws.log.entries()[-1]["status"] == status
    aws.faults.add("captive", service="iam")
    with pytest.raises((ResponseParserError, KeyError, ClientError)):
        assert iam.list_users()["Users"] is None
    aws.faults.add("expired_token", service="iam")
    assert refused(iam.list_users)[0] == "ExpiredToken"
    aws.faults.add("denied", service="iam", reason="with an explicit deny in a service control policy")
    where = "on resource: arn:aws:iam::123456789012:user/"
    assert refused(iam.list_users)[1].endswith(f"{where} with an explicit deny in a service control policy")
    aws.faults.add("date", service="sts", seconds=86400)
    header = aws.client("sts").get_caller_identity()["ResponseMetadata"]["HTTPHeaders"]["date"]
    assert header != time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime())
    aws.faults.add("redirect", service="iam", status=307, location="https://127.0.0.1:1/")
    with pytest.raises(Exception) as caught:
        iam.list_users()
    assert caught.value is not None
    assert aws.log.entries()[-1]["status"] == 307


@pytest.mark.parametrize("form", sorted(hostile.FORMS))
def test_hostile_bodies_go_out_as_they_are(aws, form):
    import ssl

    aws.faults.add("hostile", service="sts", form=form)
    sts = aws.client("sts")
    try:
        sts.get_caller_identity()
    except (ClientError, ResponseParserError, RecursionError, ValueError, KeyError):
        pass
    context = ssl.create_default_context(cafile=str(aws.ca_file))
    probe = http.client.HTTPSConnection("127.0.0.1", aws.port, context=context, timeout=5)
    probe.request("HEAD", "/none-1")
    assert probe.getresponse().status == 404  # the stand-in itself goes on


def test_which_call_is_hit(aws):
    iam = aws.client("iam")
    aws.faults.add("error", service="iam", operation="Put*", nth=2, count=1, code="Second")
    aws.faults.add("error", resource="*:user/b", code="OnlyB")
    aws.faults.add("error", writes=True, nth=5, code="FifthWrite")
    iam.create_user(UserName="a")
    assert refused(iam.create_user, UserName="b")[0] == "OnlyB"
    document = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]})
    put = {"UserName": "a", "PolicyDocument": document}
    iam.put_user_policy(PolicyName="1", **put)
    assert refused(iam.put_user_policy, PolicyName="2", **put)[0] == "Second"
    iam.list_users()
    assert refused(iam.put_user_policy, PolicyName="3", **put)[0] == "FifthWrite"
    iam.put_user_policy(PolicyName="3", **put)


def test_a_fault_hides_no_wrong_signature(aws):
    make_user(aws)
    aws.faults.add("error", service="sts", code="Spoilt", count=0)
    assert refused(aws.client("sts", aws.admin_key, "x" * 40).get_caller_identity)[0] == "SignatureDoesNotMatch"
    assert refused(aws.client("sts").get_caller_identity)[0] == "Spoilt"


def test_a_fault_that_was_never_met_fails(aws):
    aws.faults.add("delay", operation="NeverCalled")
    with pytest.raises(AssertionError, match="NeverCalled"):
        aws.check()
    aws.faults.clear()
    with pytest.raises(ValueError, match="no such fault"):
        aws.faults.add("nonsense")


def test_a_call_that_is_not_known_fails(aws):
    with pytest.raises((ClientError, ResponseParserError)):
        aws.client("iam").get_credential_report()
    with pytest.raises(AssertionError, match="GetCredentialReport"):
        aws.check()
    aws.front.defects.clear()


@pytest.mark.parametrize("stage", ["before", "after"])
def test_a_call_held_while_its_client_dies(aws, stage):
    """What a test of kill -9 inside a call needs: it waits at the right place until it is told to go on."""
    iam = aws.client("iam")
    aws.faults.add("hold", operation="CreateUser", stage=stage)
    caller = threading.Thread(target=lambda: iam.create_user(UserName="writer"))
    caller.start()
    assert aws.faults.held() == [{"action": "iam:CreateUser"}]
    assert aws.contents()["users"] == ([] if stage == "before" else ["writer"])
    assert aws.client("sts").get_caller_identity()  # others are not held up
    aws.faults.release()
    caller.join(5)
    assert aws.contents()["users"] == ["writer"]


def test_many_at_once(aws):
    """Eight callers side by side: nothing is lost, nothing is made twice."""
    clients = [aws.client("iam") for _ in range(8)]

    def work(number):
        for index in range(5):
            clients[number].create_user(UserName=f"u{number}-{index}")
            clients[number].list_users()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(aws.contents()["users"]) == 40
    assert len({e["connection"] for e in aws.log.entries()}) == 8
