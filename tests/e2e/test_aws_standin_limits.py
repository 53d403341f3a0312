"""The stand-in for AWS has AWS's limits: lateness, sizes, quotas, names, regions, checksums, pages."""

import json

import pytest

from tests.services.aws.testing import (  # noqa: F401
    ACCOUNT,
    TRUST,
    allow,
    aws,
    make_role,
    make_user,
    policy,
    refused,
)

# IAM is late.


def test_a_new_key_is_known_to_each_service_in_its_own_time(aws):
    aws.clock.run(0)
    aws.settings.propagation = {"default": 8, "sts": 3, "s3": 12}
    keys = make_user(aws, allow("*"))
    calls = {
        "sts": ("get_caller_identity", {}, "InvalidClientTokenId"),
        "iam": ("list_users", {}, "InvalidClientTokenId"),
        "s3": ("list_buckets", {}, "InvalidAccessKeyId"),
        "emr-serverless": ("list_applications", {}, "UnrecognizedClientException"),
        "ec2": ("describe_vpcs", {}, "AuthFailure"),
    }
    clients = {service: aws.client(service, *keys) for service in calls}
    known_at = {}
    for second in range(14):
        for service, (name, given, code) in calls.items():
            if service in known_at:
                continue
            try:
                getattr(clients[service], name)(**given)
                known_at[service] = second
            except clients[service].exceptions.ClientError as error:
                assert error.response["Error"]["Code"] == code
        aws.clock.advance(1)
    assert known_at == {"sts": 3, "iam": 8, "s3": 12, "emr-serverless": 8, "ec2": 8}


def test_a_new_policy_and_a_deleted_key_count_late(aws):
    aws.clock.run(0)
    aws.settings.propagation = {"default": 10}
    keys = make_user(aws)
    aws.clock.advance(11)
    iam, mine = aws.client("iam"), aws.client("iam", *keys)
    assert refused(mine.list_users)[0] == "AccessDenied"
    iam.put_user_policy(UserName="writer", PolicyName="p", PolicyDocument=policy(allow("iam:ListUsers")))
    assert refused(mine.list_users)[0] == "AccessDenied"
    aws.clock.advance(10)
    assert mine.list_users()
    iam.delete_access_key(UserName="writer", AccessKeyId=keys[0])
    assert mine.list_users()  # for a while the old key still works
    aws.spread()
    assert refused(mine.list_users)[0] == "InvalidClientTokenId"


# Sizes, quotas, grammar.


def test_iam_limits(aws):
    iam = aws.client("iam")
    make_user(aws)
    make_role(aws)

    def sized(count):
        return policy(allow("s3:GetObject", ["arn:aws:s3:::" + "x" * 40] * count))

    iam.put_user_policy(UserName="writer", PolicyName="a", PolicyDocument=sized(20))
    spaced = json.dumps(json.loads(sized(10)), indent=40)  # white space is free
    iam.put_user_policy(UserName="writer", PolicyName="b", PolicyDocument=spaced)
    code, text, status = refused(iam.put_user_policy, UserName="writer", PolicyName="c", PolicyDocument=sized(10))
    assert (code, status) == ("LimitExceeded", 409)
    assert text == "Maximum policy size of 2048 bytes exceeded for user writer"
    text = refused(iam.put_role_policy, RoleName="job", PolicyName="a", PolicyDocument=sized(200))[1]
    assert text == "Maximum policy size of 10240 bytes exceeded for role job"
    assert refused(iam.create_policy, PolicyName="m", PolicyDocument=sized(120))[0] == "LimitExceeded"
    iam.create_access_key(UserName="writer")
    code, text, _ = refused(iam.create_access_key, UserName="writer")
    assert (code, text) == ("LimitExceeded", "Cannot exceed quota for AccessKeysPerUser: 2")
    assert refused(iam.create_user, UserName="WRITER")[0] == "EntityAlreadyExists"
    assert (
        refused(iam.create_role, RoleName="job", AssumeRolePolicyDocument=json.dumps(TRUST))[0] == "EntityAlreadyExists"
    )
    assert refused(iam.create_user, UserName="a b")[0] == "ValidationError"
    aws.settings.roles_quota = 1
    trust = {"RoleName": "more", "AssumeRolePolicyDocument": json.dumps(TRUST)}
    assert refused(iam.create_role, **trust)[0] == "LimitExceeded"


@pytest.mark.parametrize(
    "document",
    [
        "not json",
        policy(),
        policy({"Effect": "Maybe", "Principal": "*", "Action": "sts:AssumeRole"}),
        policy({"Effect": "Allow", "Principal": {"Service": "no-such.amazonaws.com"}, "Action": "sts:AssumeRole"}),
        policy(
            {"Effect": "Allow", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:user/none"}, "Action": "sts:AssumeRole"}
        ),
        policy({"Effect": "Allow", "Action": "sts:AssumeRole"}),
        policy({"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject"}),
        policy({"Effect": "Allow", "Principal": "*", "Action": "sts:AssumeRole", "Resource": "*"}),
        policy(
            {"Effect": "Allow", "Principal": "*", "Action": "sts:AssumeRole", "Condition": {"StringEqual": {"a": "b"}}}
        ),
    ],
)
def test_malformed_trust(aws, document):
    code = refused(aws.client("iam").create_role, RoleName="job", AssumeRolePolicyDocument=document)[0]
    assert code == "MalformedPolicyDocument"


# S3: names, regions, owners, checksums.


def test_bucket_names_and_places(aws):
    s3, west = aws.client("s3"), aws.client("s3", region_name="eu-west-1")

    def at(region):
        return {"CreateBucketConfiguration": {"LocationConstraint": region}}

    for name in ("Bad-Name", "xn--bad", "192.168.1.1", "bad-s3alias", "ab"):
        code = refused(s3.create_bucket, Bucket=name)[0]
        assert code == "InvalidBucketName"
    assert refused(s3.create_bucket, Bucket="stage-1", **at("us-east-1"))[0] == "InvalidLocationConstraint"
    assert refused(west.create_bucket, Bucket="stage-1")[0] == "IllegalLocationConstraintException"
    assert refused(west.create_bucket, Bucket="stage-1", **at("eu-west-2"))[0] == "IllegalLocationConstraintException"
    west.create_bucket(Bucket="stage-1", **at("eu-west-1"))
    assert refused(west.create_bucket, Bucket="stage-1", **at("eu-west-1"))[0] == "BucketAlreadyOwnedByYou"
    s3.create_bucket(Bucket="stage-2")
    s3.create_bucket(Bucket="stage-2")  # only in us-east-1 that is no error
    aws.clock.run(0)
    aws.settings.bucket_name_rest = 60
    s3.delete_bucket(Bucket="stage-2")
    assert refused(s3.create_bucket, Bucket="stage-2")[0] == "OperationAborted"
    aws.clock.advance(61)
    s3.create_bucket(Bucket="stage-2")


def test_bucket_in_another_region(aws):
    aws.make_bucket("lake-1", "eu-west-1")
    s3 = aws.client("s3")
    for status, code in ((301, "PermanentRedirect"), (307, "TemporaryRedirect"), (400, "AuthorizationHeaderMalformed")):
        aws.settings.redirect_status = status
        with aws.watching() as seen:
            assert s3.list_objects_v2(Bucket="lake-1")["KeyCount"] == 0
        first = seen[0]
        assert (first["status"], first["code"], first["region"]) == (status, code, "us-east-1")
        assert (seen[-1]["status"], seen[-1]["region"]) == (200, "eu-west-1")
        s3 = aws.client("s3")
    aws.settings.redirect_status = 301
    with aws.watching() as seen:
        assert aws.client("s3").head_bucket(Bucket="lake-1")["BucketRegion"] == "eu-west-1"
    assert seen[0]["status"] == 301


def test_checksum_is_required_and_checked(aws):
    aws.make_bucket("stage-1")
    s3 = aws.client("s3")

    def without(request, **_):
        for name in [
            n for n in request.headers if n.lower().startswith(("x-amz-checksum", "content-md5", "x-amz-sdk"))
        ]:
            del request.headers[name]

    def wrong(request, **_):
        del request.headers["x-amz-checksum-crc32"]
        request.headers["x-amz-checksum-crc32"] = "AAAAAA=="

    block = {"Bucket": "stage-1", "PublicAccessBlockConfiguration": {"BlockPublicAcls": True}}
    s3.meta.events.register("before-sign.s3.PutPublicAccessBlock", without)
    code, text, _ = refused(s3.put_public_access_block, **block)
    assert code == "InvalidRequest" and "Content-MD5 OR x-amz-checksum-*" in text
    s3 = aws.client("s3")
    s3.meta.events.register("before-sign.s3.PutPublicAccessBlock", wrong)
    assert refused(s3.put_public_access_block, **block)[0] == "BadDigest"


def test_parameter_names_and_values(aws):
    ssm = aws.client("ssm")
    for name, code in (
        ("/ssm/x", "ValidationException"),
        ("ssmx", "ValidationException"),
        ("awsx", "ValidationException"),
        ("/aws/x", "AccessDeniedException"),
        ("a/b", "ValidationException"),
        ("/a//b", "ValidationException"),
        ("/a b", "ValidationException"),
        ("/" + "/".join("x" * 16), "HierarchyLevelLimitExceededException"),
    ):
        assert refused(ssm.put_parameter, Name=name, Value="v", Type="String")[0] == code
    put = {"Name": "/estuary/x", "Type": "SecureString"}
    assert refused(ssm.put_parameter, **put, Value="v" * 4097)[0] == "ValidationException"
    assert refused(ssm.put_parameter, **put, Value="v", KeyId="alias/none")[0] == "InvalidKeyId"
    tags = [{"Key": "a", "Value": "b"}]
    assert refused(ssm.put_parameter, **put, Value="v", Tags=tags, Overwrite=True)[0] == "ValidationException"
    ssm.put_parameter(Name="/estuary/x", Type="String", Value="v")
    assert refused(ssm.put_parameter, **put, Value="v", Overwrite=True)[0] == "HierarchyTypeMismatchException"


# Pages.


def test_every_list_comes_in_pages(aws):
    iam, emr, s3, ec2 = (aws.client(name) for name in ("iam", "emr-serverless", "s3", "ec2"))
    aws.make_bucket("stage-1")
    spark = {"releaseLabel": "emr-7.12.0", "type": "SPARK"}
    for index in range(5):
        iam.create_user(UserName=f"u{index}")
        emr.create_application(**spark, name=f"a{index}")
        aws.put_object("stage-1", f"k{index}")
    aws.settings.page_size = 2
    aws.settings.empty_pages = True

    def everything(client, name, key, **given):
        pages = list(client.get_paginator(name).paginate(**given))
        return len(pages), [row for page in pages for row in page.get(key, [])]

    assert everything(iam, "list_users", "Users")[0] == 4
    assert len(everything(iam, "list_users", "Users")[1]) == 6
    assert [len(x) if isinstance(x, list) else x for x in everything(emr, "list_applications", "applications")] == [
        4,
        5,
    ]
    assert [
        len(x) if isinstance(x, list) else x for x in everything(s3, "list_objects_v2", "Contents", Bucket="stage-1")
    ] == [4, 5]
    assert len(everything(ec2, "describe_subnets", "Subnets")[1]) == 9
    assert len(everything(s3, "list_buckets", "Buckets")[1]) == 1
    aws.settings.empty_pages = False
    aws.settings.repeat_tokens = True
    first = iam.list_users()
    second = iam.list_users(Marker=first["Marker"])
    assert second["IsTruncated"] and second["Marker"] == first["Marker"]
    assert refused(iam.list_users, Marker="garbage")[0] == "ValidationError"
