"""The stand-in's evaluator by IAM's documented rules, above all where moto's class permits what IAM denies."""

import json

import pytest

from tests.services.aws.messages import Defect
from tests.services.aws.policies import Document, Need, Principal, judge, may_assume
from tests.services.aws.testing import ACCOUNT, ROLE, allow, policy

WHO = f"arn:aws:iam::{ACCOUNT}:user/team/writer"
EMR = {"StringEquals": {"iam:PassedToService": "emr-serverless.amazonaws.com"}}
PASSED = {"iam:PassedToService": ["emr-serverless.amazonaws.com"]}
OBJECT = "arn:aws:s3:::lake/k"


def deny(action, resource="*", **more):
    return {**allow(action, resource, **more), "Effect": "Deny"}


def not_resource(effect, action, resource):
    return {"Effect": effect, "Action": action, "NotResource": resource}


def caller(*statements, boundary=None):
    edge = Document("edge", boundary) if boundary else None
    return Principal(WHO, ACCOUNT, "user", "AIDAX", "writer", WHO, (Document("p", policy(*statements)),), edge)


@pytest.mark.parametrize(
    ("statements", "action", "resource", "context", "allowed"),
    [
        ([allow("s3:GetObject")], "s3:GetObject", OBJECT, {}, True),
        ([allow("S3:getobject")], "s3:GetObject", OBJECT, {}, True),
        ([allow("s3:?etObject")], "s3:GetObject", OBJECT, {}, True),
        ([allow("s3:G?etObject")], "s3:GetObject", OBJECT, {}, False),
        ([allow("s3:GetObject", "arn:aws:s3:::lake/a.b")], "s3:GetObject", "arn:aws:s3:::lake/aXb", {}, False),
        ([allow("s3:GetObject", "arn:aws:s3:::lake/a+(b")], "s3:GetObject", "arn:aws:s3:::lake/a+(b", {}, True),
        ([allow("s3:GetObject", "arn:aws:s3:::lake/*")], "s3:GetObject", "arn:aws:s3:::lake/a\nb", {}, True),
        ([allow("iam:PassRole", Condition=EMR)], "iam:PassRole", ROLE, {}, False),
        ([allow("iam:PassRole", Condition=EMR)], "iam:PassRole", ROLE, PASSED, True),
        (
            [allow("iam:PassRole", Condition=EMR)],
            "iam:PassRole",
            ROLE,
            {"iam:PassedToService": ["ec2.amazonaws.com"]},
            False,
        ),
        ([allow("iam:PassRole", ROLE + "-2", Condition=EMR)], "iam:PassRole", ROLE, PASSED, False),
        (
            [allow("iam:PassRole", Condition={"StringEquals": {"a:b": "c", **EMR["StringEquals"]}})],
            "iam:PassRole",
            ROLE,
            PASSED,
            False,
        ),
        ([allow("*"), deny("iam:PassRole", Condition=EMR)], "iam:PassRole", ROLE, {}, True),
        ([allow("*"), deny("iam:PassRole", Condition=EMR)], "iam:PassRole", ROLE, PASSED, False),
        ([allow("*"), not_resource("Deny", "s3:*", OBJECT)], "s3:GetObject", OBJECT, {}, True),
        ([allow("*"), not_resource("Deny", "s3:*", OBJECT)], "s3:GetObject", OBJECT + "2", {}, False),
        ([not_resource("Allow", "s3:*", OBJECT)], "s3:GetObject", OBJECT, {}, False),
        ([{"Effect": "Allow", "NotAction": "s3:*", "Resource": "*"}], "s3:GetObject", OBJECT, {}, False),
        ([{"Effect": "Allow", "NotAction": "s3:*", "Resource": "*"}], "iam:PassRole", ROLE, {}, True),
        ([allow("s3:ListBucket", Condition={"Null": {"s3:prefix": "true"}})], "s3:ListBucket", OBJECT, {}, True),
        (
            [allow("s3:ListBucket", Condition={"StringLike": {"s3:prefix": "stage/*"}})],
            "s3:ListBucket",
            OBJECT,
            {"s3:prefix": ["stage"]},
            False,
        ),
        (
            [allow("s3:ListBucket", Condition={"StringNotEqualsIfExists": {"s3:prefix": "x"}})],
            "s3:ListBucket",
            OBJECT,
            {},
            True,
        ),
        (
            [allow("iam:TagUser", Condition={"ForAllValues:StringEquals": {"aws:TagKeys": ["a", "b"]}})],
            "iam:TagUser",
            WHO,
            {"aws:TagKeys": ["a", "c"]},
            False,
        ),
        (
            [allow("iam:TagUser", Condition={"ForAnyValue:StringLike": {"aws:TagKeys": "sluice:*"}})],
            "iam:TagUser",
            WHO,
            {"aws:TagKeys": ["a", "sluice:run"]},
            True,
        ),
        ([allow("ssm:*", "arn:aws:ssm:*:*:parameter/${aws:username}/*")], "ssm:GetParameter", "", {}, False),
        (
            [allow("s3:GetObject", "arn:aws:s3:::lake/${aws:username}")],
            "s3:GetObject",
            "arn:aws:s3:::lake/w",
            {},
            False,
        ),
        (
            [allow("s3:GetObject", "arn:aws:s3:::lake/${aws:username}")],
            "s3:GetObject",
            "arn:aws:s3:::lake/w",
            {"aws:username": ["w"]},
            True,
        ),
        (
            [allow("emr-serverless:ListApplications", "arn:aws:x:/applications/1")],
            "emr-serverless:ListApplications",
            "*",
            {},
            False,
        ),
    ],
)
def test_verdict(statements, action, resource, context, allowed):
    assert judge(caller(*statements), Need(action, resource, context), {}).allowed is allowed


def test_an_operator_that_is_not_known_is_no_guess():
    who = caller(allow("s3:GetObject", Condition={"StringEqual": {"a:b": "c"}}))
    with pytest.raises(Defect, match="StringEqual"):
        judge(who, Need("s3:GetObject", OBJECT, {"a:b": ["c"]}), {})


def test_boundary_and_the_reason():
    who = caller(allow("*"), boundary=policy(allow("s3:*")))
    assert judge(who, Need("s3:GetObject", OBJECT), {}).allowed
    verdict = judge(who, Need("iam:GetUser", WHO), {})
    assert (verdict.allowed, verdict.reason) == (
        False,
        "because no permissions boundary allows the iam:GetUser action",
    )
    granted = Document("bucket", policy({**allow("s3:GetObject"), "Principal": {"AWS": WHO}}))
    nothing = caller(boundary=policy(allow("iam:*")))
    assert judge(nothing, Need("s3:GetObject", OBJECT, resource_policy=granted, owner=ACCOUNT), {}).allowed
    assert not judge(nothing, Need("s3:GetObject", OBJECT, resource_policy=granted, owner="210987654321"), {}).allowed


@pytest.mark.parametrize(
    ("statement", "who", "said"),
    [
        ({"Principal": {"Service": "emr-serverless.amazonaws.com"}}, "emr-serverless.amazonaws.com", "self"),
        ({"Principal": {"Service": "ec2.amazonaws.com"}}, "emr-serverless.amazonaws.com", ""),
        ({"Effect": "Deny", "Principal": "*"}, "emr-serverless.amazonaws.com", "denied"),
        ({"Principal": {"AWS": WHO}}, WHO, "self"),
        ({"Principal": {"AWS": WHO + "x"}}, WHO, ""),
        ({"Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}}, WHO, "account"),
        ({"Principal": {"AWS": ACCOUNT}}, WHO, "account"),
        ({"Principal": {"AWS": "210987654321"}}, WHO, ""),
        ({"Principal": {"AWS": "AIDAX"}}, WHO, "self"),
        ({"Principal": "*"}, WHO, "self"),
        ({"Principal": {"AWS": WHO}, "Condition": {"StringEquals": {"sts:ExternalId": "a"}}}, WHO, ""),
    ],
)
def test_trust(statement, who, said):
    trust = Document("trust", json.dumps({"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", **statement}]}))
    service = Principal(who, ACCOUNT, "service", who, who, who)
    asked = service if who.endswith(".com") else caller()
    assert may_assume(trust, asked, "sts:AssumeRole", {}) == said
