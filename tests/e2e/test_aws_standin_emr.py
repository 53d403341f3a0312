"""EMR Serverless in the stand-in for AWS: client tokens, refusals, fates, and jobs that need their role's rights."""

import json

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

SPARK = {"releaseLabel": "emr-7.12.0", "type": "SPARK"}


def _application(aws, **more):
    made = aws.client("emr-serverless").create_application(**SPARK, **more)["applicationId"]
    aws.clock.advance(aws.settings.life.creating)
    return made


def _job(aws, role, application=None, arguments=(), entry="s3://stage-1/job.py"):
    emr = aws.client("emr-serverless")
    if not aws.s3.owner("stage-1"):
        aws.make_bucket("stage-1")
        aws.put_object("stage-1", "job.py", b"pass")
    application = application or _application(aws)
    spark = {"entryPoint": entry, "entryPointArguments": list(arguments)}
    given = {"applicationId": application, "executionRoleArn": role, "jobDriver": {"sparkSubmit": spark}}
    run = emr.start_job_run(**given)["jobRunId"]
    for _ in range(100):
        found = emr.get_job_run(applicationId=application, jobRunId=run)["jobRun"]
        if found["state"] in ("SUCCESS", "FAILED", "CANCELLED"):
            return found
        aws.clock.advance(1)
    raise AssertionError(found["state"])


def test_a_new_role_is_neither_found_nor_named_nor_assumed_at_once(aws):
    aws.clock.run(0)
    aws.settings.propagation = {"default": 10, "iam-read": 5}
    iam = aws.client("iam")
    role = make_role(aws, allow("*"))
    assert refused(iam.get_role, RoleName="job")[0] == "NoSuchEntity"
    by_role = policy({"Effect": "Allow", "Principal": {"AWS": role}, "Action": "sts:AssumeRole"})
    code, text, _ = refused(iam.create_role, RoleName="next", AssumeRolePolicyDocument=by_role)
    assert code == "MalformedPolicyDocument" and text.startswith("Invalid principal in policy")
    job = _job(aws, role)
    assert job["state"] == "FAILED" and "Could not assume runtime role" in job["stateDetails"]
    aws.clock.advance(5)
    assert iam.get_role(RoleName="job")
    aws.clock.advance(5)
    assert iam.create_role(RoleName="next", AssumeRolePolicyDocument=by_role)
    assert _job(aws, role)["state"] == "SUCCESS"


def test_client_tokens(aws):
    emr = aws.client("emr-serverless")
    first = emr.create_application(**SPARK, clientToken="t1", name="shop")["applicationId"]
    assert emr.create_application(**SPARK, clientToken="t1", name="shop")["applicationId"] == first
    assert refused(emr.create_application, **SPARK, clientToken="t1", name="other")[::2] == ("ConflictException", 409)
    assert emr.create_application(**SPARK, clientToken="t2", name="shop")["applicationId"] != first
    assert len(emr.list_applications()["applications"]) == 2
    assert [e["client_token"] for e in aws.log.entries(action="emr-serverless:CreateApplication")] == [
        "t1",
        "t1",
        "t1",
        "t2",
    ]
    aws.clock.advance(2)
    run = {"jobDriver": {"sparkSubmit": {"entryPoint": "s3://b/x"}}, "executionRoleArn": make_role(aws)}
    job = emr.start_job_run(applicationId=first, clientToken="j", **run)["jobRunId"]
    assert emr.start_job_run(applicationId=first, clientToken="j", **run)["jobRunId"] == job
    assert refused(emr.start_job_run, applicationId=first, clientToken="j", name="x", **run)[0] == "ConflictException"


def test_what_a_new_application_is_refused_for(aws):
    emr, net = aws.client("emr-serverless"), aws.network()
    good, group = net.subnets["private-nat"], net.groups["open-egress"]

    def network(subnets, groups):
        return {**SPARK, "networkConfiguration": {"subnetIds": subnets, "securityGroupIds": groups}}

    for given, words in (
        (network([net.unsupported], [group]), f"availability zones for subnets [{net.unsupported}] are currently not"),
        (network([good], [net.groups["world-inbound"]]), "inbound"),
        (network([good], []), "SubnetIds and SecurityGroupIds are required"),
        (network(["subnet-0000"], [group]), "subnet-0000"),
        ({**SPARK, "releaseLabel": "emr-5.30.0"}, "emr-5.30.0"),
        ({**SPARK, "type": "FLINK"}, "FLINK"),
        ({**SPARK, "name": "two words"}, "regular expression"),
        ({**SPARK, "clientToken": "a/b"}, "regular expression"),
        ({**SPARK, "architecture": "RISCV"}, "enum"),
    ):
        code, text, _ = refused(emr.create_application, **given)
        assert code == "ValidationException" and words in text
    keys = make_user(aws, allow("emr-serverless:*"))
    code, text, _ = refused(aws.client("emr-serverless", *keys).create_application, **SPARK)
    assert (code, text) == ("ValidationException", "Access denied when calling CreateServiceLinkedRole operation")


def test_scripted_fates(aws):
    aws.clock.run(0)
    emr = aws.client("emr-serverless")
    aws.emr.next_applications += [{"stay": "CREATING"}, {"fail": "no capacity"}]
    stuck, dead = _application(aws), _application(aws)
    aws.clock.advance(3600)
    states = {i: emr.get_application(applicationId=i)["application"] for i in (stuck, dead)}
    assert states[stuck]["state"] == "CREATING"
    assert (states[dead]["state"], states[dead]["stateDetails"]) == ("TERMINATED", "no capacity")
    role = make_role(aws, allow("*"))
    aws.emr.next_jobs.append({"fail": "out of memory"})
    job = _job(aws, role)
    assert (job["state"], job["stateDetails"]) == ("FAILED", "out of memory")
    aws.emr.next_jobs.append({"stay": "QUEUED"})
    application = _application(aws)
    given = {"executionRoleArn": role, "jobDriver": {"sparkSubmit": {"entryPoint": "s3://stage-1/job.py"}}}
    run = emr.start_job_run(applicationId=application, **given)["jobRunId"]
    aws.clock.advance(600)
    assert emr.get_job_run(applicationId=application, jobRunId=run)["jobRun"]["state"] == "QUEUED"
    assert refused(emr.stop_application, applicationId=application)[0] == "ValidationException"
    emr.cancel_job_run(applicationId=application, jobRunId=run)
    assert emr.get_job_run(applicationId=application, jobRunId=run)["jobRun"]["state"] == "CANCELLING"
    aws.clock.advance(1)
    assert emr.get_job_run(applicationId=application, jobRunId=run)["jobRun"]["state"] == "CANCELLED"
    off = _application(aws, autoStartConfiguration={"enabled": False})
    assert refused(emr.start_job_run, applicationId=off, **given)[0] == "ValidationException"


GRANTS = {
    "s3:ListBucket": "arn:aws:s3:::stage-1",
    "s3:GetObject": "arn:aws:s3:::stage-1/*",
    "s3:PutObject": "arn:aws:s3:::stage-1/status.json",
    "ssm:GetParameter": f"arn:aws:ssm:us-east-1:{ACCOUNT}:parameter/estuary/*",
}
ARGUMENTS = ("--status-output", "s3://stage-1/status.json", "--credential-secret-name", "/estuary/shop")


def test_a_job_needs_each_right_of_its_role_and_a_way_out(aws):
    aws.clock.run(0)
    net, iam = aws.network(), aws.client("iam")
    aws.client("ssm").put_parameter(Name="/estuary/shop", Value="id:secret", Type="SecureString")

    def network(subnet, group="open-egress"):
        return {"subnetIds": [net.subnets[subnet]], "securityGroupIds": [net.groups[group]]}

    application = _application(aws, networkConfiguration=network("private-nat"))
    role = make_role(aws)
    for missing in (*GRANTS, None):
        grants = [allow(action, resource) for action, resource in GRANTS.items() if action != missing]
        iam.put_role_policy(RoleName="job", PolicyName="p", PolicyDocument=policy(*grants))
        job = _job(aws, role, application, ARGUMENTS)
        assert job["state"] == ("FAILED" if missing else "SUCCESS")
        assert missing is None or f"is not authorized to perform: {missing}" in job["stateDetails"]
    for subnet, group in (("private-closed", "open-egress"), ("private-nat", "no-egress")):
        cut_off = _application(aws, networkConfiguration=network(subnet, group))
        job = _job(aws, role, cut_off, ARGUMENTS)
        assert job["state"] == "FAILED" and "Connect timeout" in job["stateDetails"]
    assert (
        "Connect timeout"
        in _job(aws, role, _application(aws), (*ARGUMENTS, "--catalog-url", "https://c"))["stateDetails"]
    )
    foreign = json.loads(json.dumps(TRUST).replace("emr-serverless", "ec2"))
    iam.update_assume_role_policy(RoleName="job", PolicyDocument=json.dumps(foreign))
    job = _job(aws, role, application)
    assert job["stateDetails"].startswith(
        f"Could not assume runtime role {role} because it doesn't exist or isn't setup"
    )
    bound = json.loads(json.dumps(TRUST))
    arn = f"arn:aws:emr-serverless:us-east-1:{ACCOUNT}:/applications/{application}"
    bound["Statement"][0]["Condition"] = {"ArnLike": {"aws:SourceArn": arn}}
    iam.update_assume_role_policy(RoleName="job", PolicyDocument=json.dumps(bound))
    assert _job(aws, role, application)["state"] == "SUCCESS"
    assert _job(aws, role, _application(aws))["state"] == "FAILED"
