"""What src/aws does when AWS, the network or an attacker answers otherwise than wished: what is sent again and what
never, what is said, and where signatures do not go."""

import http.server
import json
import threading
import time

import pytest

from tests.e2e.aws_probe import probe, probe_program  # noqa: F401
from tests.services.aws import hostile
from tests.services.aws.testing import TRUST, allow, aws, make_role, make_user, policy  # noqa: F401

ACCOUNT = "123456789012"
APP = "00f0000000000000"
#: One reading call of each service: (words, service, operation).
READS = [
    (["identity"], "sts", "GetCallerIdentity"),
    (["get", "user", "admin"], "iam", "GetUser"),
    (["get-parameter", "/estuary/x"], "ssm", "GetParameter"),
    (["list-applications"], "emr-serverless", "ListApplications"),
    (["list-objects", "stage-1"], "s3", "ListObjectsV2"),
    (["network", None], "ec2", "DescribeVpcs"),
]
NAMES = [service for _, service, _ in READS]


@pytest.fixture
def account(aws):
    """Something for each of READS to find."""
    aws.make_bucket("stage-1")
    aws.client("ssm").put_parameter(Name="/estuary/x", Value="v", Type="SecureString")
    aws.log.clear()
    return aws


def sent(aws, operation):
    """How often an operation came."""
    return sum(action.endswith(f":{operation}") for action in aws.log.actions())


# Once more, and how often.


@pytest.mark.parametrize(("words", "service", "operation"), READS, ids=NAMES)
def test_throttling_is_waited_out(account, probe, words, service, operation):
    account.faults.add("throttle", service=service, operation=operation, count=2)
    assert probe.one(*words).ok
    assert sent(account, operation) == 3


@pytest.mark.parametrize(("words", "service", "operation"), READS, ids=NAMES)
def test_throttling_without_end_is_said(account, probe, words, service, operation):
    account.faults.add("throttle", service=service, operation=operation, count=0)
    answer = probe.one(*words)
    assert (answer.kind, answer.fix) == ("unreachable", "try again in a minute")
    assert answer.code in ("Throttling", "ThrottlingException", "SlowDown", "RequestLimitExceeded")
    assert sent(account, operation) == 4


@pytest.mark.parametrize(("words", "service", "operation"), READS, ids=NAMES)
@pytest.mark.parametrize("fault", [{"kind": "error"}, {"kind": "status", "status": 502, "body": "<html>Bad</html>"},
                                   {"kind": "status", "status": 503}, {"kind": "lost_reply"}, {"kind": "lost_request"},
                                   {"kind": "truncated"}],
                         ids=["500", "502-html", "503-empty", "lost-reply", "lost-request", "truncated"])
def test_a_reading_call_is_repeated(account, probe, words, service, operation, fault):
    account.faults.add(service=service, operation=operation, **fault)
    answer = probe.one(*words)
    assert answer.ok, answer
    assert sent(account, operation) == 2


CREATES = [
    (["create-key", "writer"], "CreateAccessKey"),
    (["create", "user", "other"], "CreateUser"),
    (["create", "role", "job", json.dumps(TRUST)], "CreateRole"),
    (["create-bucket", "stage-2"], "CreateBucket"),
]


MISHAPS = {"500": {"kind": "error"}, "504": {"kind": "status", "status": 504}, "lost-reply": {"kind": "lost_reply"},
           "lost-request": {"kind": "lost_request"}, "truncated": {"kind": "truncated", "keep": 20}}
#: The answer to CreateBucket has no body that could be cut.
SENT_ONCE = [pytest.param(words, operation, fault, id=f"{operation}-{name}") for words, operation in CREATES
             for name, fault in MISHAPS.items() if (operation, name) != ("CreateBucket", "truncated")]


@pytest.mark.parametrize(("words", "operation", "fault"), SENT_ONCE)
def test_what_makes_something_is_sent_once(account, probe, words, operation, fault):
    account.client("iam").create_user(UserName="writer")
    account.log.clear()
    account.faults.add(operation=operation, **fault)
    answer = probe.one(*words)
    assert answer.kind in ("unreachable", "protocol"), answer
    assert sent(account, operation) == 1
    assert len(account.client("iam").list_access_keys(UserName="writer")["AccessKeyMetadata"]) <= 1


@pytest.mark.parametrize(("words", "operation"), CREATES, ids=[o for _, o in CREATES])
def test_but_after_throttling_it_is_sent_again(account, probe, words, operation):
    account.client("iam").create_user(UserName="writer")
    account.log.clear()
    account.faults.add("throttle", operation=operation)
    assert probe.one(*words).ok
    assert sent(account, operation) == 2


@pytest.mark.parametrize("kind", ["lost_reply", "lost_request", "error"])
def test_a_token_makes_a_creation_repeatable(account, probe, kind):
    account.faults.add(kind, operation="CreateApplication")
    made = probe.good("create-application", "x", "t1", "emr-7.12.0")
    assert account.contents()["applications"] == [made["id"]]
    account.clock.advance(5)
    role = make_role(account, allow("s3:*"))
    account.faults.add(kind, operation="StartJobRun")
    job = probe.good("start-job", made["id"], "j1", role, "s3://stage-1/x.py")
    jobs = account.client("emr-serverless").list_job_runs(applicationId=made["id"])["jobRuns"]
    assert [j["id"] for j in jobs] == [job["id"]]


def test_what_changes_to_the_same_is_repeated(account, probe):
    make_role(account)
    account.log.clear()
    for operation, words in (("PutRolePolicy", ["put-policy", "role", "job", "p", policy(allow("s3:*"))]),
                             ("PutParameter", ["put-parameter", "/estuary/y", "v"]),
                             ("PutObject", ["put-object", "stage-1", "k", "v"]),
                             ("PutPublicAccessBlock", ["put-block", "stage-1"])):
        account.faults.add("lost_reply", operation=operation)
        assert probe.one(*words).ok
        assert sent(account, operation) == 2


def test_retry_after_is_honoured_and_bounded(account, probe):
    account.faults.add("throttle", operation="GetUser", retry_after="2")
    begin = time.monotonic()
    probe.good("get", "user", "admin")
    assert time.monotonic() - begin >= 2
    account.faults.add("throttle", operation="GetUser", retry_after="3600")
    begin = time.monotonic()
    answer = probe.one("get", "user", "admin")
    assert time.monotonic() - begin < 10
    assert answer.code == "Throttling" and "Retry-After 3600" in answer.evidence
    for nonsense in ("-5", "soon", "99999999999999999999", ""):
        account.faults.clear()
        account.faults.add("throttle", operation="GetUser", retry_after=nonsense)
        answer = probe.one("get", "user", "admin")
        assert answer.ok or "Retry-After 9999" in answer.evidence


def test_the_deadline_counts(account, probe):
    account.faults.add("delay", operation="GetCallerIdentity", seconds=8, count=0)
    begin = time.monotonic()
    answer = probe.one("identity", options=("--deadline", "1500"))
    assert time.monotonic() - begin < 6
    assert answer.kind == "unreachable" and "within" in answer.what
    account.faults.clear()
    account.faults.add("throttle", operation="GetCallerIdentity", count=0, retry_after="15")
    begin = time.monotonic()
    answer = probe.one("identity", options=("--deadline", "2000"))
    assert time.monotonic() - begin < 5
    assert answer.code == "Throttling"


# Pages.


LISTS = [
    (["list-policies", "user", "writer"], "inline", 4),
    (["list-keys", "writer"], "keys", 2),
    (["list-objects", "stage-1"], "keys", 5),
    (["list-buckets"], "buckets", 3),
    (["list-applications"], "applications", 3),
]


@pytest.fixture
def many(account):
    """More than one of everything that is listed."""
    iam, emr = account.client("iam"), account.client("emr-serverless")
    make_user(account)
    iam.create_access_key(UserName="writer")
    for number in range(4):
        iam.put_user_policy(UserName="writer", PolicyName=f"p{number}", PolicyDocument=policy(allow("s3:*")))
    for number in range(5):
        account.put_object("stage-1", f"k{number}")
    for number in range(3):
        emr.create_application(name=f"a{number}", type="SPARK", releaseLabel="emr-7.12.0", clientToken=f"t{number}")
    account.make_bucket("stage-2")
    account.make_bucket("stage-3", "eu-west-1")
    return account


@pytest.mark.parametrize("empty", [False, True])
def test_lists_are_read_to_the_end(many, probe, empty):
    many.settings.page_size, many.settings.empty_pages = 1, empty
    for (words, key, count), answer in zip(LISTS, probe(*[words for words, _, _ in LISTS]), strict=True):
        assert answer.ok, answer
        assert len(answer.result[key]) == count, (words, answer)
    network = probe.good("network", many.network().vpc)
    ec2 = many.client("ec2")
    many.settings.page_size, many.settings.empty_pages = None, False
    assert len(network["subnets"]) == len(ec2.describe_subnets()["Subnets"])


def test_a_page_that_repeats_is_no_list(many, probe):
    many.settings.page_size, many.settings.repeat_tokens = 1, True
    for words, _, count in LISTS:
        answer = probe.one(*words)
        if count > 2:  # the second page still has a token, which is that of the first
            assert (answer.kind, answer.code) == ("protocol", "pages"), answer
            assert "so the list is not complete" in answer.what
    assert len(many.log.entries()) < 60


# The clock.


@pytest.mark.parametrize("skew", [-7200.0, 4000.0])
@pytest.mark.parametrize(("words", "service", "operation"), READS, ids=NAMES)
def test_a_clock_that_is_off_is_corrected_once(account, probe, words, service, operation, skew):
    account.settings.skew = skew
    answers = probe(words, words)
    assert all(a.ok for a in answers), answers
    assert abs(answers[0].skew - skew) < 30
    calls = [e for e in account.log.entries() if e["action"] == f"{service}:{operation}"]
    assert [e["status"] // 100 for e in calls] == [4, 2, 2]


def test_a_date_that_lies_does_not_loop(account, probe):
    account.settings.skew = 4000.0
    account.faults.add("date", seconds=90000, count=0)
    answer = probe.one("identity")
    assert (answer.kind, answer.code) == ("refused", "SignatureDoesNotMatch")
    assert "The clock of this machine is off" in answer.why
    assert len(account.log.entries()) == 2


# Who is asking.

UNKNOWN = ("InvalidClientTokenId", "UnrecognizedClientException", "InvalidAccessKeyId", "AuthFailure")


def test_keys_that_are_none(account, probe):
    for words, service, _ in READS:
        unknown = probe.one(*words, keys=("AKIA0000000000000000", "x" * 40))
        assert (unknown.kind, unknown.who) == ("refused", "you"), unknown
        assert unknown.code in UNKNOWN
        wrong = probe.one(*words, keys=(account.admin_key, account.admin_secret[::-1]))
        assert wrong.kind == "refused", wrong
        if service != "ec2":
            assert wrong.code in ("SignatureDoesNotMatch", "InvalidSignatureException")
            assert "does not belong to this key id" in wrong.why
    assert account.admin_secret[::-1] not in probe.said


def test_sessions_that_have_ended(account, probe):
    for words, service, operation in READS:
        account.faults.add("expired_token", service=service, operation=operation, count=0)
        answer = probe.one(*words)
        assert (answer.kind, answer.who) == ("refused", "you")
        assert "expired" in answer.why, answer


DENIALS = [
    (["get", "role", "job"], "iam:GetRole", "role job"),
    (["create", "role", "new", json.dumps(TRUST)], "iam:CreateRole", f"arn:aws:iam::{ACCOUNT}:role/new"),
    (["delete", "role", "job"], "iam:DeleteRole", "role job"),
    (["update-trust", "job", json.dumps(TRUST)], "iam:UpdateAssumeRolePolicy", "role job"),
    (["put-policy", "role", "job", "p", policy(allow("s3:*"))], "iam:PutRolePolicy", "role job"),
    (["get-policy", "role", "job", "p"], "iam:GetRolePolicy", "role job"),
    (["delete-policy", "role", "job", "p"], "iam:DeleteRolePolicy", "role job"),
    (["list-policies", "role", "job"], "iam:ListRolePolicies", "role job"),
    (["create", "user", "new"], "iam:CreateUser", f"arn:aws:iam::{ACCOUNT}:user/new"),
    (["get", "user", "writer"], "iam:GetUser", "user writer"),
    (["delete", "user", "writer"], "iam:DeleteUser", "user writer"),
    (["put-policy", "user", "writer", "p", policy(allow("s3:*"))], "iam:PutUserPolicy", "user writer"),
    (["get-policy", "user", "writer", "p"], "iam:GetUserPolicy", "user writer"),
    (["delete-policy", "user", "writer", "p"], "iam:DeleteUserPolicy", "user writer"),
    (["list-policies", "user", "writer"], "iam:ListUserPolicies", "user writer"),
    (["create-key", "writer"], "iam:CreateAccessKey", "user writer"),
    (["list-keys", "writer"], "iam:ListAccessKeys", "user writer"),
    (["set-key", "writer", "AKIA0000000000000000", "off"], "iam:UpdateAccessKey", "user writer"),
    (["delete-key", "writer", "AKIA0000000000000000"], "iam:DeleteAccessKey", "user writer"),
    (["create-bucket", "stage-9"], "s3:CreateBucket", "arn:aws:s3:::stage-9"),
    (["delete-bucket", "stage-1"], "s3:DeleteBucket", "arn:aws:s3:::stage-1"),
    (["put-block", "stage-1"], "s3:PutBucketPublicAccessBlock", "arn:aws:s3:::stage-1"),
    (["get-block", "stage-1"], "s3:GetBucketPublicAccessBlock", "arn:aws:s3:::stage-1"),
    (["tag-bucket", "stage-1"], "s3:PutBucketTagging", "arn:aws:s3:::stage-1"),
    (["bucket-tag", "stage-1"], "s3:GetBucketTagging", "arn:aws:s3:::stage-1"),
    (["put-object", "stage-1", "a b/k", "v"], "s3:PutObject", "arn:aws:s3:::stage-1/a b/k"),
    (["get-object", "stage-1", "k"], "s3:GetObject", "arn:aws:s3:::stage-1/k"),
    (["delete-object", "stage-1", "k"], "s3:DeleteObject", "arn:aws:s3:::stage-1/k"),
    (["list-objects", "stage-1"], "s3:ListBucket", "arn:aws:s3:::stage-1"),
    (["list-buckets"], "s3:ListAllMyBuckets", None),
    (["put-parameter", "/estuary/x", "v"], "ssm:PutParameter", f"arn:aws:ssm:us-east-1:{ACCOUNT}:parameter/estuary/x"),
    (["get-parameter", "/estuary/x"], "ssm:GetParameter", f"arn:aws:ssm:us-east-1:{ACCOUNT}:parameter/estuary/x"),
    (["delete-parameter", "/estuary/x"], "ssm:DeleteParameter", f"arn:aws:ssm:us-east-1:{ACCOUNT}:parameter/estuary/x"),
    (["list-applications"], "emr-serverless:ListApplications", "*"),
    (["create-application", "x", "t", "emr-7.12.0"], "emr-serverless:CreateApplication", "*"),
    (["get-application", APP], "emr-serverless:GetApplication", f":/applications/{APP}"),
    (["update-application", APP, "t", "emr-7.12.0"], "emr-serverless:UpdateApplication", f":/applications/{APP}"),
    (["start-application", APP], "emr-serverless:StartApplication", f":/applications/{APP}"),
    (["stop-application", APP], "emr-serverless:StopApplication", f":/applications/{APP}"),
    (["delete-application", APP], "emr-serverless:DeleteApplication", f":/applications/{APP}"),
    (["list-jobs", APP, "1"], "emr-serverless:ListJobRuns", f":/applications/{APP}"),
    (["start-job", APP, "t", f"arn:aws:iam::{ACCOUNT}:role/job", "s3://b/x"], "emr-serverless:StartJobRun",
     f":/applications/{APP}"),
    (["get-job", APP, APP], "emr-serverless:GetJobRun", f":/applications/{APP}/jobruns/{APP}"),
    (["cancel-job", APP, APP], "emr-serverless:CancelJobRun", f":/applications/{APP}/jobruns/{APP}"),
    (["network", None], "ec2:DescribeVpcs", None),
]


def test_every_denial_names_action_and_resource(account, probe):
    make_role(account)
    account.client("iam").create_user(UserName="writer")
    keys = make_user(account, name="nobody")
    answers = probe(*[words for words, _, _ in DENIALS], keys=keys)
    for (words, action, resource), answer in zip(DENIALS, answers, strict=True):
        assert not answer.ok, words
        assert (answer.kind, answer.who) == ("denied", "AWS admin"), answer
        assert answer.what == f"{action} is denied", (words, answer)
        assert f"allow {action} on " in answer.fix and (resource or "*") in answer.fix, (words, answer)
        assert "because no identity-based policy allows" in answer.why, answer
    # S3 says nothing on HEAD: then what the call needed is told.
    head = probe.good("head-bucket", "stage-1", keys=keys)
    assert head == {"presence": 2, "region": "us-east-1"}


@pytest.mark.parametrize("reason", ["with an explicit deny in a service control policy",
                                    "because no permissions boundary allows the iam:GetUser action",
                                    "with an explicit deny in an identity-based policy"])
def test_denials_by_others_are_told_apart(account, probe, reason):
    account.faults.add("denied", operation="GetUser", reason=reason)
    answer = probe.one("get", "user", "admin")
    assert reason.removeprefix("because ") in answer.why
    assert answer.fix.startswith("lift the denial of iam:GetUser on ")


# Regions of buckets.


@pytest.mark.parametrize("status", [301, 307, 400])
def test_reading_follows_a_bucket_and_writing_does_not(account, probe, status):
    account.make_bucket("far-1", "eu-west-1")
    account.put_object("far-1", "k", b"v")
    account.settings.redirect_status = status
    assert probe.good("head-bucket", "far-1") == {"presence": 1, "region": "eu-west-1"}
    assert probe.good("get-object", "far-1", "k") == {"body": "v"}
    assert probe.good("list-objects", "far-1")["keys"] == ["k"]
    account.log.clear()
    for words in (["put-object", "far-1", "n", "v"], ["delete-object", "far-1", "k"], ["put-block", "far-1"]):
        answer = probe.one(*words)
        assert (answer.kind, answer.why) == ("conflict", "The bucket lies in eu-west-1."), answer
        assert answer.fix == "choose a bucket in the region of the application"
    assert [e["region"] for e in account.log.entries()] == ["us-east-1"] * 3
    assert probe.good("head-bucket", "far-1", "unsigned") == {"presence": 2, "region": "eu-west-1"}


def test_a_region_that_means_harm_is_not_followed(account, probe):
    for region in ("evil.com/", "x@evil.com", "cn-north-1", "us-east-1\\r\\nx"):
        account.log.clear()
        body = f"<Error><Code>PermanentRedirect</Code><Message>m</Message><Region>{region}</Region></Error>"
        account.faults.add("status", operation="GetObject", status=301, body=body)
        answer = probe.one("get-object", "stage-1", "k")
        assert answer.code == "PermanentRedirect", answer
        assert len(account.log.entries()) == 1


# Not AWS.


@pytest.mark.parametrize("form", sorted(hostile.FORMS))
def test_hostile_answers(account, probe, form):
    for words, service, operation in READS:
        account.faults.add("hostile", service=service, operation=operation, form=form, count=0)
    for words, answer in zip(READS, probe(*[words for words, _, _ in READS]), strict=True):
        told = "".join(part for part in answer.__dict__.values() if isinstance(part, str))
        assert not set(told) & set("\x1b\x07\x00\u202e\u2066\u009b") and "root:" not in told
        if form == "huge-number" and answer.ok:
            continue
        assert not answer.ok, (words, answer)
        assert answer.kind in ("protocol", "denied", "unreachable"), (words, answer)
    assert len(account.log.entries()) <= 60


def test_a_portal_in_between(account, probe):
    account.faults.add("captive", count=0)
    writes = [["put-object", "stage-1", "k", "v"], ["put-parameter", "/estuary/x", "v"], ["create", "user", "u"],
              ["get-object", "stage-1", "k"], ["delete-object", "stage-1", "k"], ["create-bucket", "stage-2"]]
    for answer in probe(*[words for words, _, _ in READS], *writes):
        assert (answer.kind, answer.code, answer.who) == ("protocol", "not AWS", "network"), answer
        assert "Welcome to the airport" in answer.evidence


class _Elsewhere(http.server.BaseHTTPRequestHandler):
    seen: list = []

    def do_GET(self):
        """Note whatever comes."""
        self.seen.append(dict(self.headers))
        self.send_response(200)
        self.end_headers()

    do_POST = do_PUT = do_HEAD = do_DELETE = do_GET

    def log_message(self, *_):
        """Silence."""


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_gets_no_signature(account, probe, status):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Elsewhere) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{server.server_address[1]}/"
        account.faults.add("redirect", status=status, location=place, count=0)
        answers = probe(*[words for words, _, _ in READS])
        server.shutdown()
    assert not any(a.ok for a in answers)
    assert _Elsewhere.seen == []


@pytest.mark.parametrize("how", ["unknown-ca", "wrong-name", "expired"])
def test_a_certificate_that_is_no_good(account, probe, how):
    account.log.clear()
    answer = probe.one("identity", env={"AWS_ENDPOINT_URL": account.broken_tls_url(how)})
    assert (answer.kind, answer.code) == ("unreachable", "curl 60"), answer
    assert account.log.entries() == []


def test_nobody_listens(account, probe, black_hole):
    answer = probe.one("identity", env={"AWS_ENDPOINT_URL": "https://127.0.0.1:9"})
    assert (answer.kind, answer.code) == ("unreachable", "curl 7")
    answer = probe.one("identity", env={"AWS_ENDPOINT_URL": f"https://{black_hole.host}:{black_hole.port}"},
                       options=("--deadline", "1500"))
    assert answer.kind == "unreachable"
    answer = probe.one("identity", env={"AWS_ENDPOINT_URL": "http://aws.example.com"})
    assert (answer.kind, answer.code) == ("input", "endpoint")


# Connections.


def test_connections_are_kept(account, probe):
    answers = probe(*[words for words, _, _ in READS] * 3)
    assert all(a.ok for a in answers)
    entries = account.log.entries()
    assert len(entries) >= 18 + 15
    assert len({e["connection"] for e in entries}) == 1, "one after the other they need one connection"


def test_a_kept_connection_that_has_been_closed(account, probe):
    """The server closes after each answer what the client would keep; nothing may be lost or done twice."""
    account.settings.keep_alive = 0.05
    answers = probe(["create", "user", "writer"], *[w for w, _, _ in READS], ["create-key", "writer"])
    assert all(a.ok for a in answers), answers
    assert sent(account, "CreateAccessKey") == 1
