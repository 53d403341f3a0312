"""The stand-in for AWS judges by the caller's real policies: the guide's own, denies, boundaries, groups, trust."""

import json

import pytest
from botocore.exceptions import ClientError

from tests.services.aws.testing import (
    ACCOUNT,
    ROLE,
    TRUST,
    allow,
    aws,  # noqa: F401
    make_user,
    policy,
    refused,
)


def test_head_of_a_bucket_without_permission(aws):
    aws.make_bucket("stage-1", "us-east-1")
    keys = make_user(aws)
    with pytest.raises(ClientError) as caught:
        aws.client("s3", *keys).head_bucket(Bucket="stage-1")
    answer = caught.value.response["ResponseMetadata"]
    assert (answer["HTTPStatusCode"], answer["HTTPHeaders"]["x-amz-bucket-region"]) == (403, "us-east-1")


def test_absence_is_hidden_from_those_who_may_not_list(aws):
    aws.make_bucket("stage-1")
    keys = make_user(aws, allow("s3:GetObject"))
    code, text, _ = refused(aws.client("s3", *keys).get_object, Bucket="stage-1", Key="none")
    assert code == "AccessDenied" and "s3:ListBucket" in text


def guide_user(application):
    """The guide's policy for the user, for one application and one bucket."""
    emr = f"arn:aws:emr-serverless:us-east-1:{ACCOUNT}:/applications/{application}"
    emr_actions = "ListApplications StartJobRun GetJobRun ListJobRuns CancelJobRun GetApplication StartApplication"
    objects = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"]
    passed = {"StringEquals": {"iam:PassedToService": "emr-serverless.amazonaws.com"}}
    parameters = ["ssm:PutParameter", "ssm:GetParameter", "ssm:GetParameters", "ssm:DeleteParameter"]
    return [
        allow([f"emr-serverless:{a}" for a in emr_actions.split()], [emr, emr + "/jobruns/*"]),
        allow("iam:PassRole", ROLE, Condition=passed),
        allow("s3:ListBucket", "arn:aws:s3:::lake-1"),
        allow(objects, "arn:aws:s3:::lake-1/estuary-staging/*"),
        allow(objects, "arn:aws:s3:::lake-1/iceberg/*"),
        allow(parameters, f"arn:aws:ssm:us-east-1:{ACCOUNT}:parameter/estuary/*"),
    ]


def test_the_guides_user_policy(aws):
    """What it grants and, in spite of its words, does not grant."""
    aws.make_bucket("lake-1")
    aws.client("iam").create_role(RoleName="job", AssumeRolePolicyDocument=json.dumps(TRUST))
    admin = aws.client("emr-serverless")
    application = admin.create_application(releaseLabel="emr-7.12.0", type="SPARK")["applicationId"]
    other = admin.create_application(releaseLabel="emr-7.12.0", type="SPARK")["applicationId"]
    aws.clock.advance(2)
    keys = make_user(aws, *guide_user(application))
    emr, s3, ssm = (aws.client(name, *keys) for name in ("emr-serverless", "s3", "ssm"))
    run = {"executionRoleArn": ROLE, "jobDriver": {"sparkSubmit": {"entryPoint": "s3://lake-1/x.py"}}}
    assert emr.list_job_runs(applicationId=application, maxResults=1)["jobRuns"] == []
    assert emr.get_application(applicationId=application)
    job = emr.start_job_run(applicationId=application, **run)["jobRunId"]
    assert emr.get_job_run(applicationId=application, jobRunId=job)
    ssm.put_parameter(Name="/estuary/test", Value="test", Type="SecureString", Overwrite=True)
    assert ssm.get_parameter(Name="/estuary/test", WithDecryption=True)["Parameter"]["Value"] == "test"
    s3.list_objects_v2(Bucket="lake-1", Prefix="estuary-staging")
    s3.put_object(Bucket="lake-1", Key="estuary-staging/x", Body=b"test")
    for call, given in (
        (emr.list_applications, {}),
        (emr.get_application, {"applicationId": other}),
        (emr.start_job_run, {"applicationId": application, "tags": {"a": "b"}, **run}),
        (emr.start_job_run, {"applicationId": application, **run, "executionRoleArn": ROLE + "-2"}),
        (s3.put_object, {"Bucket": "lake-1", "Key": "root", "Body": b"x"}),
        (ssm.put_parameter, {"Name": "/other/test", "Value": "x", "Type": "SecureString"}),
        (ssm.put_parameter, {"Name": "estuary", "Value": "x", "Type": "SecureString"}),
    ):
        assert refused(call, **given)[0] in ("AccessDenied", "AccessDeniedException")


def test_explicit_deny_boundary_group_and_organisation(aws):
    iam = aws.client("iam")
    keys = make_user(
        aws, allow("*"), {"Sid": "NoDelete", "Effect": "Deny", "Action": "iam:DeleteUser", "Resource": "*"}
    )
    mine = aws.client("iam", *keys)
    _, text, _ = refused(mine.delete_user, UserName="writer")
    assert text.endswith("iam:DeleteUser on resource: user writer with an explicit deny in an identity-based policy")
    assert aws.log.entries()[-1]["needs"][-1]["sid"] == "NoDelete"
    edge = iam.create_policy(PolicyName="edge", PolicyDocument=policy(allow("iam:Get*")))["Policy"]["Arn"]
    iam.put_user_permissions_boundary(UserName="writer", PermissionsBoundary=edge)
    assert mine.get_user()
    _, text, _ = refused(mine.list_roles)
    assert text.endswith("because no permissions boundary allows the iam:ListRoles action")
    iam.delete_user_permissions_boundary(UserName="writer")
    assert mine.list_roles()
    iam.delete_user_policy(UserName="writer", PolicyName="p")
    iam.create_group(GroupName="readers")
    iam.put_group_policy(GroupName="readers", PolicyName="r", PolicyDocument=policy(allow("iam:ListRoles")))
    assert refused(mine.list_roles)[0] == "AccessDenied"
    iam.add_user_to_group(GroupName="readers", UserName="writer")
    assert mine.list_roles()
    aws.settings.organisation_policies = [policy({"Effect": "Allow", "NotAction": "iam:ListRoles", "Resource": "*"})]
    _, text, _ = refused(mine.list_roles)
    assert text.endswith("because no service control policy allows the iam:ListRoles action")
    deny = {"Effect": "Deny", "Action": "iam:ListRoles", "Resource": "*"}
    aws.settings.organisation_policies = [policy(allow("*"), deny)]
    _, text, _ = refused(mine.list_roles)
    assert text.endswith("with an explicit deny in a service control policy")
    assert aws.client("sts", *keys).get_caller_identity()


def test_bucket_policy_and_a_bucket_of_another_account(aws):
    keys = make_user(aws, allow(["s3:GetObject", "s3:ListBucket"]))
    who = f"arn:aws:iam::{ACCOUNT}:user/writer"
    s3 = aws.client("s3", *keys)
    aws.make_bucket(
        "closed-1",
        policy={
            "Version": "2012-10-17",
            "Statement": [
                {"Effect": "Deny", "Principal": {"AWS": who}, "Action": "s3:*", "Resource": "arn:aws:s3:::closed-1"}
            ],
        },
    )
    _, text, _ = refused(s3.list_objects_v2, Bucket="closed-1")
    assert text.endswith("with an explicit deny in a resource-based policy")
    aws.make_bucket("lake-1", foreign=True)
    _, text, _ = refused(s3.list_objects_v2, Bucket="lake-1")
    assert text.endswith("because no resource-based policy allows the s3:ListBucket action")
    assert refused(aws.client("s3").create_bucket, Bucket="lake-1")[0] == "BucketAlreadyExists"
    shared = {"Effect": "Allow", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}, "Action": "s3:*"}
    shared["Resource"] = ["arn:aws:s3:::lake-2", "arn:aws:s3:::lake-2/*"]
    aws.make_bucket("lake-2", foreign=True, policy={"Version": "2012-10-17", "Statement": [shared]})
    aws.put_object("lake-2", "k", b"hello")
    assert s3.get_object(Bucket="lake-2", Key="k")["Body"].read() == b"hello"
    assert refused(s3.put_object, Bucket="lake-2", Key="k", Body=b"x")[0] == "AccessDenied"


def test_trust_in_what_was_deleted(aws):
    """The trust document shows the unique id; a new user of the same name is not trusted."""
    iam = aws.client("iam")
    old = iam.create_user(UserName="writer")["User"]
    trust = {"Effect": "Allow", "Principal": {"AWS": old["Arn"]}, "Action": "sts:AssumeRole"}
    iam.create_role(RoleName="ops", AssumeRolePolicyDocument=policy(trust))
    iam.delete_user(UserName="WRITER")  # names are found without regard to case
    shown = iam.get_role(RoleName="ops")["Role"]["AssumeRolePolicyDocument"]
    assert shown["Statement"][0]["Principal"] == {"AWS": old["UserId"]}
    keys = make_user(aws)
    role = f"arn:aws:iam::{ACCOUNT}:role/ops"
    assert refused(aws.client("sts", *keys).assume_role, RoleArn=role, RoleSessionName="me")[0] == "AccessDenied"


def test_assume_role_meets_two_policies(aws):
    iam = aws.client("iam")
    keys = make_user(aws)
    who, role = f"arn:aws:iam::{ACCOUNT}:user/writer", f"arn:aws:iam::{ACCOUNT}:role/ops"
    assume = aws.client("sts", *keys).assume_role
    refusal = f"User: {who} is not authorized to perform: sts:AssumeRole on resource: {role}"

    def trusting(**statement):
        given = {"Effect": "Allow", "Action": "sts:AssumeRole", **statement}
        iam.update_assume_role_policy(RoleName="ops", PolicyDocument=policy(given))

    iam.create_role(RoleName="ops", AssumeRolePolicyDocument=json.dumps(TRUST))
    assert refused(assume, RoleArn=role, RoleSessionName="me")[1] == refusal
    trusting(Principal={"AWS": f"arn:aws:iam::{ACCOUNT}:root"})
    text = refused(assume, RoleArn=role, RoleSessionName="me")[1]
    assert text == refusal + " because no identity-based policy allows the sts:AssumeRole action"
    iam.put_user_policy(UserName="writer", PolicyName="p", PolicyDocument=policy(allow("sts:AssumeRole", role)))
    assert assume(RoleArn=role, RoleSessionName="me")["AssumedRoleUser"]["Arn"].endswith("assumed-role/ops/me")
    iam.delete_user_policy(UserName="writer", PolicyName="p")
    trusting(Principal={"AWS": who}, Condition={"StringEquals": {"sts:ExternalId": "abc"}})
    assert refused(assume, RoleArn=role, RoleSessionName="me")[1] == refusal
    assert assume(RoleArn=role, RoleSessionName="me", ExternalId="abc")
    assert refused(assume, RoleArn=role + "-none", RoleSessionName="me")[0] == "AccessDenied"
    too_long = refused(assume, RoleArn=role, RoleSessionName="me", ExternalId="abc", DurationSeconds=43200)
    assert too_long[0] == "ValidationError" and "MaxSessionDuration" in too_long[1]
