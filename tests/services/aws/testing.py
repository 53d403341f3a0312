"""What tests about AWS write again and again: the fixture, policies, users with keys, roles, refusals.

from tests.services.aws.testing import aws  # noqa: F401
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from .standin import AwsStandIn

ACCOUNT = "123456789012"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/job"
TRUST: dict[str, Any] = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "emr-serverless.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ],
}


@pytest.fixture
def aws() -> Iterator[AwsStandIn]:
    """The stand-in of this test process, as empty as a new account for each test: .environment() for a client,
    .client("iam") for boto3 as the administrator, .faults.add(…), .clock.advance(…), .settings, .log, .network(),
    .make_bucket(…), .contents(). A scripted fault that no call met, and a call that the stand-in does not know,
    fail the test."""
    running = AwsStandIn.shared()
    running.reset()
    yield running
    running.check()


def policy(*statements: dict[str, Any]) -> str:
    """A policy document of these statements."""
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def allow(action: str | list[str], resource: str | list[str] = "*", **more: Any) -> dict[str, Any]:
    """A statement that allows."""
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


def refused(call: Callable[..., Any], **given: Any) -> tuple[str, str, int]:
    """Code, message and HTTP status of a call that must fail."""
    with pytest.raises(ClientError) as caught:
        call(**given)
    error = caught.value.response["Error"]
    return error["Code"], error.get("Message", ""), caught.value.response["ResponseMetadata"]["HTTPStatusCode"]


def make_user(aws: AwsStandIn, *statements: dict[str, Any], name: str = "writer") -> tuple[str, str]:
    """A user with these statements; key id and secret, to be given to `aws.client`."""
    iam = aws.client("iam")
    iam.create_user(UserName=name)
    if statements:
        iam.put_user_policy(UserName=name, PolicyName="p", PolicyDocument=policy(*statements))
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return key["AccessKeyId"], key["SecretAccessKey"]


def make_role(
    aws: AwsStandIn, *statements: dict[str, Any], name: str = "job", trust: dict[str, Any] | None = None
) -> str:
    """A role with these statements; its ARN."""
    iam = aws.client("iam")
    made = iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(trust or TRUST))
    if statements:
        iam.put_role_policy(RoleName=name, PolicyName="p", PolicyDocument=policy(*statements))
    return str(made["Role"]["Arn"])
