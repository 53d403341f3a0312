"""The stand-in for AWS answers like AWS: boto3 makes every call that sluice will make, and understands the answers."""

import io
import json

from tests.services.aws.testing import (
    TRUST,
    aws,  # noqa: F401
    make_role,
    policy,
    refused,
)

ANYTHING = policy({"Effect": "Allow", "Action": "s3:*", "Resource": "*"})


# Every call of the product, by boto3.


def test_identity(aws):
    answer = aws.client("sts").get_caller_identity()
    assert answer["Account"] == "123456789012"
    assert answer["Arn"] == "arn:aws:iam::123456789012:user/admin"
    assert answer["UserId"].startswith("AIDA")
    assert answer["ResponseMetadata"]["RequestId"] == aws.log.entries()[-1]["request_id"]


def test_role_with_its_policies(aws):
    iam = aws.client("iam")
    made = iam.create_role(
        RoleName="job",
        Path="/team/",
        AssumeRolePolicyDocument=json.dumps(TRUST),
        Tags=[{"Key": "sluice:run", "Value": "7f3c"}],
    )["Role"]
    assert made["Arn"] == "arn:aws:iam::123456789012:role/team/job"
    iam.put_role_policy(RoleName="job", PolicyName="lake", PolicyDocument=ANYTHING)
    found = iam.get_role(RoleName="job")["Role"]
    assert found["AssumeRolePolicyDocument"] == TRUST
    assert found["Tags"] == [{"Key": "sluice:run", "Value": "7f3c"}]
    assert iam.list_role_policies(RoleName="job")["PolicyNames"] == ["lake"]
    assert iam.list_attached_role_policies(RoleName="job")["AttachedPolicies"] == []
    assert iam.get_role_policy(RoleName="job", PolicyName="lake")["PolicyDocument"] == json.loads(ANYTHING)
    other = json.loads(json.dumps(TRUST))
    other["Statement"][0]["Principal"]["Service"] = "ec2.amazonaws.com"
    iam.update_assume_role_policy(RoleName="job", PolicyDocument=json.dumps(other))
    assert iam.get_role(RoleName="job")["Role"]["AssumeRolePolicyDocument"] == other
    assert refused(iam.delete_role, RoleName="job")[0] == "DeleteConflict"
    iam.delete_role_policy(RoleName="job", PolicyName="lake")
    iam.delete_role(RoleName="job")
    assert refused(iam.get_role, RoleName="job")[:2] == ("NoSuchEntity", "The role with name job cannot be found.")


def test_user_with_a_key(aws):
    iam = aws.client("iam")
    iam.create_user(UserName="writer", Tags=[{"Key": "sluice:run", "Value": "7f3c"}])
    iam.put_user_policy(UserName="writer", PolicyName="use", PolicyDocument=ANYTHING)
    assert iam.get_user_policy(UserName="writer", PolicyName="use")["PolicyDocument"] == json.loads(ANYTHING)
    assert iam.list_user_policies(UserName="writer")["PolicyNames"] == ["use"]
    key = iam.create_access_key(UserName="writer")["AccessKey"]
    mine = aws.client("sts", key["AccessKeyId"], key["SecretAccessKey"]).get_caller_identity()
    assert mine["Arn"] == "arn:aws:iam::123456789012:user/writer"
    listed = iam.list_access_keys(UserName="writer")["AccessKeyMetadata"]
    assert [(k["AccessKeyId"], k["Status"]) for k in listed] == [(key["AccessKeyId"], "Active")]
    used = iam.get_access_key_last_used(AccessKeyId=key["AccessKeyId"])["AccessKeyLastUsed"]
    assert used["ServiceName"] == "sts"
    assert iam.get_user(UserName="writer")["User"]["Tags"] == [{"Key": "sluice:run", "Value": "7f3c"}]
    assert iam.get_user()["User"]["UserName"] == "admin"
    iam.update_access_key(UserName="writer", AccessKeyId=key["AccessKeyId"], Status="Inactive")
    inactive = refused(aws.client("sts", key["AccessKeyId"], key["SecretAccessKey"]).get_caller_identity)
    assert inactive[0] == "InvalidClientTokenId"
    assert refused(iam.delete_user, UserName="writer")[0] == "DeleteConflict"
    iam.delete_access_key(UserName="writer", AccessKeyId=key["AccessKeyId"])
    iam.delete_user_policy(UserName="writer", PolicyName="use")
    iam.delete_user(UserName="writer")
    assert not any(aws.contents().values())


def test_managed_policy_and_boundary(aws):
    iam = aws.client("iam")
    arn = iam.create_policy(PolicyName="edge", PolicyDocument=ANYTHING)["Policy"]["Arn"]
    iam.create_user(UserName="writer")
    iam.attach_user_policy(UserName="writer", PolicyArn=arn)
    iam.put_user_permissions_boundary(UserName="writer", PermissionsBoundary=arn)
    assert iam.list_attached_user_policies(UserName="writer")["AttachedPolicies"][0]["PolicyArn"] == arn
    boundary = iam.get_user(UserName="writer")["User"]["PermissionsBoundary"]
    assert boundary["PermissionsBoundaryArn"] == arn
    assert [p["PolicyName"] for p in iam.list_policies(Scope="Local")["Policies"]] == ["edge"]
    assert iam.get_policy_version(PolicyArn=arn, VersionId="v1")["PolicyVersion"]["Document"] == json.loads(ANYTHING)


def test_service_linked_role(aws):
    iam = aws.client("iam")
    made = iam.create_service_linked_role(AWSServiceName="ops.emr-serverless.amazonaws.com")["Role"]
    assert made["RoleName"] == "AWSServiceRoleForAmazonEMRServerless"
    assert made["Path"] == "/aws-service-role/ops.emr-serverless.amazonaws.com/"
    again = refused(iam.create_service_linked_role, AWSServiceName="ops.emr-serverless.amazonaws.com")
    assert again[0] == "InvalidInput" and "has been taken in this account" in again[1]
    assert refused(iam.delete_role, RoleName=made["RoleName"])[0] == "UnmodifiableEntity"


def test_simulator_uses_the_same_rules(aws):
    iam = aws.client("iam")
    iam.create_user(UserName="writer")
    pass_role = {
        "Effect": "Allow",
        "Action": "iam:PassRole",
        "Resource": "*",
        "Condition": {"StringEquals": {"iam:PassedToService": "emr-serverless.amazonaws.com"}},
    }
    deny = {"Effect": "Deny", "Action": "s3:DeleteObject", "Resource": "*"}
    iam.put_user_policy(UserName="writer", PolicyName="p", PolicyDocument=policy(pass_role, deny))
    who = "arn:aws:iam::123456789012:user/writer"
    actions = ["iam:PassRole", "s3:DeleteObject", "s3:GetObject"]
    results = iam.simulate_principal_policy(PolicySourceArn=who, ActionNames=actions)["EvaluationResults"]
    assert [r["EvalDecision"] for r in results] == ["implicitDeny", "explicitDeny", "implicitDeny"]
    assert results[0]["MissingContextValues"] == ["iam:PassedToService"]
    entry = {
        "ContextKeyName": "iam:PassedToService",
        "ContextKeyType": "string",
        "ContextKeyValues": ["emr-serverless.amazonaws.com"],
    }
    results = iam.simulate_principal_policy(PolicySourceArn=who, ActionNames=["iam:PassRole"], ContextEntries=[entry])[
        "EvaluationResults"
    ]
    assert results[0]["EvalDecision"] == "allowed"
    custom = iam.simulate_custom_policy(PolicyInputList=[ANYTHING], ActionNames=["s3:GetObject"])
    assert custom["EvaluationResults"][0]["EvalDecision"] == "allowed"


KEYS = ["plain", "a+b", "sp ace", "=:@", "ü", "%2B", "~", "a//b", "(x)!*'", "$&,;"]


def test_buckets_and_objects(aws):
    s3 = aws.client("s3")
    s3.create_bucket(Bucket="stage-1")
    assert s3.head_bucket(Bucket="stage-1")["BucketRegion"] == "us-east-1"
    block = s3.get_public_access_block(Bucket="stage-1")["PublicAccessBlockConfiguration"]
    assert all(block.values()) and len(block) == 4
    s3.put_public_access_block(Bucket="stage-1", PublicAccessBlockConfiguration={**block, "BlockPublicAcls": False})
    changed = s3.get_public_access_block(Bucket="stage-1")["PublicAccessBlockConfiguration"]
    assert changed["BlockPublicAcls"] is False
    rule = {"Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]}
    s3.put_bucket_encryption(Bucket="stage-1", ServerSideEncryptionConfiguration=rule)
    shown = s3.get_bucket_encryption(Bucket="stage-1")["ServerSideEncryptionConfiguration"]["Rules"][0]
    assert shown["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    for key in KEYS:
        s3.put_object(Bucket="stage-1", Key="estuary-staging/" + key, Body=key.encode())
        assert s3.get_object(Bucket="stage-1", Key="estuary-staging/" + key)["Body"].read() == key.encode()
        assert s3.head_object(Bucket="stage-1", Key="estuary-staging/" + key)["ContentLength"] == len(key.encode())
    listed = s3.list_objects_v2(Bucket="stage-1", Prefix="estuary-staging/")
    assert sorted(o["Key"].removeprefix("estuary-staging/") for o in listed["Contents"]) == sorted(KEYS)
    s3.upload_fileobj(io.BytesIO(b"x" * 100_000), "stage-1", "streamed")
    assert s3.head_object(Bucket="stage-1", Key="streamed")["ContentLength"] == 100_000
    assert "STREAMING-UNSIGNED-PAYLOAD-TRAILER" in {e["payload"] for e in aws.log.entries(action="s3:PutObject")}
    s3.put_object(Bucket="stage-1", Key="once", Body=b"1", IfNoneMatch="*")
    assert refused(s3.put_object, Bucket="stage-1", Key="once", Body=b"2", IfNoneMatch="*")[0] == "PreconditionFailed"
    assert refused(s3.get_object, Bucket="stage-1", Key="none")[0] == "NoSuchKey"
    assert refused(s3.delete_bucket, Bucket="stage-1")[0] == "BucketNotEmpty"
    everything = [{"Key": o["Key"]} for o in s3.list_objects_v2(Bucket="stage-1")["Contents"]]
    assert len(s3.delete_objects(Bucket="stage-1", Delete={"Objects": everything})["Deleted"]) == len(everything)
    s3.delete_object(Bucket="stage-1", Key="never was")
    s3.delete_bucket(Bucket="stage-1")
    assert refused(s3.head_bucket, Bucket="stage-1")[0] == "404"


def test_parameters(aws):
    ssm = aws.client("ssm")
    put = ssm.put_parameter(Name="/estuary/test", Value="test", Type="SecureString", Overwrite=True)
    assert put["Version"] == 1
    clear = ssm.get_parameter(Name="/estuary/test", WithDecryption=True)["Parameter"]
    assert clear["Value"] == "test"
    assert clear["ARN"] == "arn:aws:ssm:us-east-1:123456789012:parameter/estuary/test"
    assert "test" not in ssm.get_parameter(Name="/estuary/test")["Parameter"]["Value"]
    taken = refused(ssm.put_parameter, Name="/estuary/test", Value="x", Type="SecureString")
    assert taken[0] == "ParameterAlreadyExists"
    ssm.delete_parameter(Name="/estuary/test")
    assert refused(ssm.delete_parameter, Name="/estuary/test")[0] == "ParameterNotFound"


def test_network_is_there_to_choose_from(aws):
    ec2, net = aws.client("ec2"), aws.network()
    vpcs = ec2.describe_vpcs()["Vpcs"]
    assert [(v["VpcId"], v["IsDefault"]) for v in vpcs] == [(net.vpc, True)]
    subnets = {s["SubnetId"]: s for s in ec2.describe_subnets()["Subnets"]}
    assert set(net.subnets.values()) <= set(subnets)
    assert subnets[net.unsupported]["AvailabilityZoneId"] == "use1-az3"
    tables = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [net.vpc]}])["RouteTables"]
    routes = {}
    for table in tables:
        default = [r for r in table["Routes"] if r.get("DestinationCidrBlock") == "0.0.0.0/0"]
        for link in table["Associations"]:
            routes[link.get("SubnetId", "main")] = default[0] if default else None
    assert routes["main"]["GatewayId"].startswith("igw-")
    assert routes[net.subnets["private-nat"]]["NatGatewayId"].startswith("nat-")
    assert routes[net.subnets["private-closed"]] is None
    nats = ec2.describe_nat_gateways(Filters=[{"Name": "vpc-id", "Values": [net.vpc]}])["NatGateways"]
    assert nats[0]["ConnectivityType"] == "public" and nats[0]["State"] == "available"
    groups = {g["GroupId"]: g for g in ec2.describe_security_groups()["SecurityGroups"]}
    assert groups[net.groups["no-egress"]]["IpPermissionsEgress"] == []
    inbound = groups[net.groups["world-inbound"]]["IpPermissions"][0]
    assert inbound["IpRanges"][0]["CidrIp"] == "0.0.0.0/0"
    assert ec2.describe_vpc_endpoints()["VpcEndpoints"] == []


def test_application_and_job_run_live(aws):
    """From CREATING to TERMINATED; the job's states in order; the file that its contract promises."""
    aws.clock.run(0)
    emr, s3, net = aws.client("emr-serverless"), aws.client("s3"), aws.network()
    aws.make_bucket("stage-1")
    aws.put_object("stage-1", "code/job.py", b"pass")
    role = make_role(aws, {"Effect": "Allow", "Action": ["s3:*", "ssm:*"], "Resource": "*"})
    given = dict(
        name="shop",
        releaseLabel="emr-7.12.0",
        type="SPARK",
        architecture="X86_64",
        maximumCapacity={"cpu": "16 vCPU", "memory": "64 GB"},
        networkConfiguration={
            "subnetIds": [net.subnets["private-nat"]],
            "securityGroupIds": [net.groups["open-egress"]],
        },
        tags={"sluice:run": "7f3c"},
    )
    application = emr.create_application(**given)["applicationId"]

    def state():
        return emr.get_application(applicationId=application)["application"]["state"]

    assert state() == "CREATING"
    assert emr.list_job_runs(applicationId=application, maxResults=1)["jobRuns"] == []
    aws.clock.advance(1)
    shown = emr.get_application(applicationId=application)["application"]
    assert shown["state"] == "CREATED" and shown["type"] == "Spark"
    for name in ("architecture", "maximumCapacity", "networkConfiguration", "tags"):
        assert shown[name] == given[name]
    emr.update_application(applicationId=application, autoStopConfiguration={"enabled": True, "idleTimeoutMinutes": 5})
    job = emr.start_job_run(
        applicationId=application,
        executionRoleArn=role,
        jobDriver={
            "sparkSubmit": {
                "entryPoint": "s3://stage-1/code/job.py",
                "entryPointArguments": ["--status-output", "s3://stage-1/status.json", "--catalog-url", "https://c"],
            }
        },
    )["jobRunId"]
    seen = []
    for _ in range(200):
        run = emr.get_job_run(applicationId=application, jobRunId=job)["jobRun"]
        if not seen or seen[-1] != run["state"]:
            seen.append(run["state"])
        if run["state"] == "SUCCESS":
            break
        aws.clock.advance(0.25)
    assert seen == ["SUBMITTED", "PENDING", "SCHEDULED", "RUNNING", "SUCCESS"]
    assert run["executionRole"] == role and run["createdBy"].endswith("user/admin")
    assert run["billedResourceUtilization"]["vCPUHour"] > 0
    assert json.loads(s3.get_object(Bucket="stage-1", Key="status.json")["Body"].read()) == {"success": True}
    emr.cancel_job_run(applicationId=application, jobRunId=job)
    assert emr.get_job_run(applicationId=application, jobRunId=job)["jobRun"]["state"] == "SUCCESS"
    assert state() == "STARTED"
    early = refused(emr.delete_application, applicationId=application)
    assert early[0] == "ValidationException" and "[CREATED, STOPPED]. Current status: STARTED" in early[1]
    aws.clock.advance(5 * 60 + 2)
    assert state() == "STOPPED"  # by itself, after five idle minutes
    emr.start_application(applicationId=application)
    emr.stop_application(applicationId=application)
    assert state() == "STOPPING"
    aws.clock.advance(2)
    emr.delete_application(applicationId=application)
    listed = emr.list_applications()["applications"]
    assert [(a["id"], a["state"]) for a in listed] == [(application, "TERMINATED")]
    assert refused(emr.get_application, applicationId="00fnone")[0] == "ResourceNotFoundException"
