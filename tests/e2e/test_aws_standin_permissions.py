"""The stand-in for AWS names the missing permission and its resource, for every call of the product."""

import json

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

# What the caller may do: every call of the product with exactly its permission missing.


def calls(net):
    """(service, operation, parameters, action, resource as the refusal names it)"""
    emr = f"arn:aws:emr-serverless:us-east-1:{ACCOUNT}:"
    own = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/ops.emr-serverless.amazonaws.com/"
    own += "AWSServiceRoleForAmazonEMRServerless"
    document = {"PolicyName": "p", "PolicyDocument": policy(allow("s3:*"))}
    trust = json.dumps(TRUST)
    tags = [{"Key": "sluice:run", "Value": "x"}]
    spark = {"releaseLabel": "emr-7.12.0", "type": "SPARK"}
    network = {"subnetIds": [net.subnets["private-nat"]], "securityGroupIds": [net.groups["open-egress"]]}
    run = {
        "applicationId": "00fapp",
        "executionRoleArn": ROLE,
        "jobDriver": {"sparkSubmit": {"entryPoint": "s3://stage-1/x.py"}},
    }
    bucket, thing = {"Bucket": "stage-1"}, {"Bucket": "stage-1", "Key": "a/b c"}
    arn, object_arn = '"arn:aws:s3:::stage-1"', '"arn:aws:s3:::stage-1/a/b c"'
    parameter = f"arn:aws:ssm:us-east-1:{ACCOUNT}:parameter/estuary/x"
    user_arn, new_role = f"arn:aws:iam::{ACCOUNT}:user/fresh", f"arn:aws:iam::{ACCOUNT}:role/team/fresh"
    simulate = {"PolicySourceArn": ROLE, "ActionNames": ["s3:GetObject"]}
    block = {"PublicAccessBlockConfiguration": {"BlockPublicAcls": True}}
    sse = {"Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]}
    fresh_role = {"RoleName": "fresh", "Path": "/team/", "AssumeRolePolicyDocument": trust}
    rows = [
        ("iam", "get_role", {"RoleName": "job"}, "iam:GetRole", "role job"),
        ("iam", "create_role", fresh_role, "iam:CreateRole", new_role),
        ("iam", "create_role", {**fresh_role, "Tags": tags}, "iam:TagRole", new_role),
        ("iam", "update_assume_role_policy", {"RoleName": "job", "PolicyDocument": trust}, None, "role job"),
        ("iam", "put_role_policy", {"RoleName": "job", **document}, None, "role job"),
        ("iam", "get_role_policy", {"RoleName": "job", "PolicyName": "p"}, None, "role job"),
        ("iam", "list_role_policies", {"RoleName": "job"}, None, "role job"),
        ("iam", "list_attached_role_policies", {"RoleName": "job"}, None, "role job"),
        ("iam", "delete_role_policy", {"RoleName": "job", "PolicyName": "p"}, None, "role job"),
        ("iam", "delete_role", {"RoleName": "job"}, None, "role job"),
        ("iam", "get_user", {"UserName": "old"}, None, "user old"),
        ("iam", "create_user", {"UserName": "fresh"}, None, user_arn),
        ("iam", "create_user", {"UserName": "fresh", "Tags": tags}, "iam:TagUser", user_arn),
        ("iam", "put_user_policy", {"UserName": "old", **document}, None, "user old"),
        ("iam", "get_user_policy", {"UserName": "old", "PolicyName": "p"}, None, "user old"),
        ("iam", "list_user_policies", {"UserName": "old"}, None, "user old"),
        ("iam", "list_attached_user_policies", {"UserName": "old"}, None, "user old"),
        ("iam", "create_access_key", {"UserName": "old"}, None, "user old"),
        ("iam", "list_access_keys", {"UserName": "old"}, None, "user old"),
        (
            "iam",
            "update_access_key",
            {"UserName": "old", "AccessKeyId": "A" * 20, "Status": "Inactive"},
            None,
            "user old",
        ),
        ("iam", "delete_access_key", {"UserName": "old", "AccessKeyId": "A" * 20}, None, "user old"),
        ("iam", "delete_user_policy", {"UserName": "old", "PolicyName": "p"}, None, "user old"),
        ("iam", "delete_user", {"UserName": "old"}, None, "user old"),
        ("iam", "create_policy", document, None, "policy p"),
        ("iam", "list_users", {}, None, f"arn:aws:iam::{ACCOUNT}:user/"),
        ("iam", "list_roles", {}, None, f"arn:aws:iam::{ACCOUNT}:role/"),
        ("iam", "simulate_principal_policy", simulate, None, ROLE),
        ("iam", "create_service_linked_role", {"AWSServiceName": "ops.emr-serverless.amazonaws.com"}, None, own),
        ("s3", "list_buckets", {}, "s3:ListAllMyBuckets", None),
        ("s3", "create_bucket", {"Bucket": "fresh-1"}, None, '"arn:aws:s3:::fresh-1"'),
        ("s3", "delete_bucket", bucket, None, arn),
        ("s3", "list_objects_v2", bucket, "s3:ListBucket", arn),
        ("s3", "get_bucket_location", bucket, None, arn),
        ("s3", "get_public_access_block", bucket, "s3:GetBucketPublicAccessBlock", arn),
        ("s3", "put_public_access_block", {**bucket, **block}, "s3:PutBucketPublicAccessBlock", arn),
        ("s3", "get_bucket_encryption", bucket, "s3:GetEncryptionConfiguration", arn),
        (
            "s3",
            "put_bucket_encryption",
            {**bucket, "ServerSideEncryptionConfiguration": sse},
            "s3:PutEncryptionConfiguration",
            arn,
        ),
        ("s3", "put_bucket_tagging", {**bucket, "Tagging": {"TagSet": tags}}, None, arn),
        ("s3", "put_object", {**thing, "Body": b"x"}, None, object_arn),
        ("s3", "get_object", thing, None, object_arn),
        ("s3", "delete_object", thing, None, object_arn),
        ("ssm", "put_parameter", {"Name": "/estuary/x", "Value": "v", "Type": "SecureString"}, None, parameter),
        ("ssm", "get_parameter", {"Name": "/estuary/x"}, None, parameter),
        ("ssm", "delete_parameter", {"Name": "/estuary/x"}, None, parameter),
        ("emr-serverless", "create_application", spark, None, emr + "/*"),
        (
            "emr-serverless",
            "create_application",
            {**spark, "tags": {"a": "b"}},
            "emr-serverless:TagResource",
            emr + "/applications/*",
        ),
        (
            "emr-serverless",
            "create_application",
            {**spark, "networkConfiguration": network},
            "ec2:CreateNetworkInterface",
            f"arn:aws:ec2:us-east-1:{ACCOUNT}:network-interface/*",
        ),
        ("emr-serverless", "list_applications", {}, None, emr + "/*"),
        ("emr-serverless", "get_application", {"applicationId": "00fapp"}, None, emr + "/applications/00fapp"),
        ("emr-serverless", "update_application", {"applicationId": "00fapp"}, None, emr + "/applications/00fapp"),
        ("emr-serverless", "start_application", {"applicationId": "00fapp"}, None, emr + "/applications/00fapp"),
        ("emr-serverless", "stop_application", {"applicationId": "00fapp"}, None, emr + "/applications/00fapp"),
        ("emr-serverless", "delete_application", {"applicationId": "00fapp"}, None, emr + "/applications/00fapp"),
        ("emr-serverless", "list_job_runs", {"applicationId": "00fapp"}, None, emr + "/applications/00fapp"),
        ("emr-serverless", "start_job_run", run, None, emr + "/applications/00fapp"),
        ("emr-serverless", "start_job_run", run, "iam:PassRole", ROLE),
        (
            "emr-serverless",
            "start_job_run",
            {**run, "tags": {"a": "b"}},
            "emr-serverless:TagResource",
            emr + "/applications/00fapp/jobruns/*",
        ),
    ]
    job = {"applicationId": "00fapp", "jobRunId": "00frun"}
    for name in ("get_job_run", "cancel_job_run"):
        rows.append(("emr-serverless", name, job, None, emr + "/applications/00fapp/jobruns/00frun"))
    for name in ("vpcs", "subnets", "security_groups", "route_tables", "nat_gateways", "vpc_endpoints"):
        rows.append(("ec2", "describe_" + name, {}, None, None))
    return rows


def test_each_missing_permission_is_named(aws):
    """All is allowed but the one action; the refusal names exactly it and its resource; without it, no refusal."""
    iam = aws.client("iam")
    iam.create_role(RoleName="job", AssumeRolePolicyDocument=json.dumps(TRUST))
    iam.create_user(UserName="old")
    aws.make_bucket("stage-1")
    keys = make_user(aws)
    who = f"arn:aws:iam::{ACCOUNT}:user/writer"
    clients = {service: aws.client(service, *keys) for service in ("iam", "s3", "ssm", "emr-serverless", "ec2")}
    for service, name, given, action, resource in calls(aws.network()):
        client = clients[service]
        action = action or f"{service}:{client.meta.method_to_api_mapping[name]}"
        missing = {"Effect": "Allow", "NotAction": action, "Resource": "*"}
        iam.put_user_policy(UserName="writer", PolicyName="p", PolicyDocument=policy(missing))
        code, text, status = refused(getattr(client, name), **given)
        assert code in ("AccessDenied", "AccessDeniedException", "UnauthorizedOperation"), (name, code, text)
        shown = f" on resource: {resource}" if resource else ""
        wanted = f"User: {who} is not authorized to perform: {action}{shown} because no identity-based policy allows "
        assert wanted + f"the {action} action" in text, (name, text)
        judged = aws.log.entries()[-1]["needs"][-1]
        assert (judged["action"], judged["verdict"]) == (action, "deny")
        assert status == {"ssm": 400}.get(service, 403)
