"""The rendered policies do what they are for: a user and a role with nothing else make the connector's and the job's
calls, and no others; networks are judged as jobs meet them; credentials come from where boto3 takes them."""

import json
import os

import boto3
import pytest

from tests.e2e.aws_probe import digest, probe, probe_program  # noqa: F401
from tests.services.aws.testing import aws, make_user  # noqa: F401

ACCOUNT = "123456789012"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/sluice-shop"


@pytest.fixture
def pipeline(aws, probe):
    """Buckets, application, role and user with exactly the rendered policies: .app .keys .document."""
    for bucket in ("bauplan-lake", "our-staging", "other-1"):
        aws.make_bucket(bucket)
    aws.put_object("our-staging", "estuary-staging/script.py", b"print()")
    net = aws.network()
    app = probe.good("create-application", "x", "t1", "emr-7.12.0", net.subnets["private-nat"],
                     net.groups["open-egress"])["id"]
    aws.clock.advance(5)

    def document(kind):
        return probe.good("policy", kind, "bauplan-lake", "our-staging", app, ROLE)["document"]

    probe.good("create", "role", "sluice-shop", document("trust"))
    probe.good("put-policy", "role", "sluice-shop", "sluice", document("role"))
    keys = make_user(aws, name="sluice-shop")
    probe.good("put-policy", "user", "sluice-shop", "sluice", document("user"))
    return type("Pipeline", (), {"app": app, "keys": keys, "document": staticmethod(document)})


def test_the_user_may_do_what_the_connector_does_and_nothing_else(aws, probe, pipeline):
    app, may, may_not = pipeline.app, [], []
    start = ["start-job", app, "j1", ROLE, "s3://our-staging/estuary-staging/script.py"]
    may += [["identity"], ["get-application", app], ["list-jobs", app, "1"], ["list-objects", "our-staging"],
            ["put-parameter", "/estuary/x", "v"], ["get-parameter", "/estuary/x"], ["delete-parameter", "/estuary/x"],
            ["put-object", "our-staging", "estuary-staging/a", "v"], ["get-object", "our-staging", "estuary-staging/a"],
            ["delete-object", "our-staging", "estuary-staging/a"], ["put-object", "our-staging", "estuary-staging/d/e", "v"],
            start]
    answers = probe(*may, keys=pipeline.keys)
    assert all(a.ok for a in answers), [a for a in answers if not a.ok]
    assert answers[-1].result["untagged"] is False
    job = answers[-1].result["id"]
    assert all(a.ok for a in probe(["get-job", app, job], ["cancel-job", app, job], keys=pipeline.keys))
    probe.good("put-parameter", "/other/x", "v")
    may_not += [["put-object", "our-staging", "a", "v"], ["put-object", "our-staging", "estuary-stagingX/a", "v"],
                ["put-object", "bauplan-lake", "iceberg/a", "v"], ["list-objects", "bauplan-lake"],
                ["list-objects", "other-1"], ["get-parameter", "/other/x"], ["put-parameter", "/estuaryx", "v"],
                ["list-applications"], ["stop-application", app], ["get", "user", "sluice-shop"], ["list-buckets"],
                ["start-job", app, "j2", f"arn:aws:iam::{ACCOUNT}:role/other", "s3://our-staging/x"]]
    for words, answer in zip(may_not, probe(*may_not, keys=pipeline.keys), strict=True):
        assert not answer.ok and answer.kind == "denied", (words, answer)


def test_a_job_gets_along_with_its_role(aws, probe, pipeline):
    order = ("start-job", pipeline.app, "j1", ROLE, "s3://our-staging/estuary-staging/script.py")
    job = probe.good(*order, keys=pipeline.keys)["id"]
    aws.clock.advance(60)
    seen = probe.good("get-job", pipeline.app, job)
    assert seen["state"] == "SUCCESS", seen
    asked = {"s3:GetObject": "bauplan-lake/iceberg/t", "s3:PutObject": "bauplan-lake/iceberg/t",
             "s3:DeleteObject": "our-staging/estuary-staging/x", "s3:ListBucket": "our-staging"}
    for action, where in asked.items():
        verdict = probe.good("simulate", ROLE, action, f"arn:aws:s3:::{where}")["verdicts"][0]
        assert verdict["decision"] == 0, (action, verdict)
    for action, where in {"s3:PutObject": "bauplan-lake/other/t", "s3:GetObject": "other-1/x"}.items():
        assert probe.good("simulate", ROLE, action, f"arn:aws:s3:::{where}")["verdicts"][0]["decision"] == 2


@pytest.mark.parametrize("kind", ["role", "user"])
def test_each_action_is_needed(aws, probe, pipeline, kind):
    """Taking one action away makes exactly its own call fail: nothing in the documents is there twice or for show."""
    document = json.loads(pipeline.document(kind))
    source = ROLE if kind == "role" else f"arn:aws:iam::{ACCOUNT}:user/sluice-shop"
    context = ("iam:PassedToService", "emr-serverless.amazonaws.com")
    for at, statement in enumerate(document["Statement"]):
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        places = statement["Resource"] if isinstance(statement["Resource"], list) else [statement["Resource"]]
        for action in actions:
            left = json.loads(json.dumps(document))
            left["Statement"][at]["Action"] = [a for a in actions if a != action]
            if not left["Statement"][at]["Action"]:
                del left["Statement"][at]
            probe.good("put-policy", kind, "sluice-shop", "sluice", json.dumps(left))
            asked = ("simulate", source, action, ",".join(places), *context)
            assert {v["decision"] for v in probe.good(*asked)["verdicts"]} == {2}, (action, places)


# Networks.


def test_networks_are_judged_as_jobs_meet_them(aws, probe):
    net = aws.network()
    good, other, closed = (net.subnets[n] for n in ("private-nat", "private-nat-b", "private-closed"))
    public = next(ident for name, ident in net.subnets.items() if name.startswith("public"))
    seen = probe.good("judge-network", f"{good},{other}", net.groups["open-egress"])
    assert (seen["bad"], seen["note"], seen["undecided"]) == ([], [], False)
    assert seen["ways"][good] == "NAT gateway" and seen["ways"][closed] == "no default route"
    assert seen["ways"][public] == "internet gateway"
    bad = probe.good("judge-network", f"{good},{closed}", net.groups["open-egress"])["bad"]
    assert bad[0].startswith(f"{closed} has no default route") and "now and then" in bad[1]
    bad = probe.good("judge-network", f"{good},{net.unsupported}", net.groups["open-egress"])["bad"]
    assert any("zone use1-az3, where EMR Serverless does not work" in line for line in bad)
    bad = probe.good("judge-network", f"{good},{other}", net.groups["world-inbound"])["bad"]
    assert len(bad) == 1 and "lets 0.0.0.0/0 in" in bad[0]
    bad = probe.good("judge-network", f"{good},{other}", net.groups["no-egress"])["bad"]
    assert bad == ["no group lets HTTPS (tcp 443) out: jobs would hang without a word"]


# Credentials: the same bytes, the same keys.

DIALECT = [
    "[default]\naws_access_key_id = AKIA1\naws_secret_access_key = a/b+c=\n",
    "[default]\r\naws_access_key_id=AKIA1\r\naws_secret_access_key=a\r\naws_session_token=t==\r\n",
    "# c\n\n[default]\nAWS_ACCESS_KEY_ID: AKIA1\naws_secret_access_key: a#b;c\n",
    "[default] \n  aws_access_key_id = AKIA1\n  aws_secret_access_key = a\n",
    "[default]\naws_access_key_id = AKIA1\ns3 =\n  aws_secret_access_key = wrong\naws_secret_access_key = a\n",
    "[other]\nx = y\n[default]\naws_access_key_id = AKIA1\naws_secret_access_key = " + "s" * 500 + "\n",
    "[default]\naws_access_key_id = AKIA1\naws_secret_access_key = a\naws_session_token = " + "t" * 3000,
]


@pytest.mark.parametrize("content", DIALECT)
@pytest.mark.parametrize("file", ["credentials", "config"])
def test_the_shared_files_mean_what_boto3_reads(aws, probe, tmp_path, monkeypatch, file, content):
    folder = tmp_path / ".aws"
    folder.mkdir()
    (folder / file).write_bytes(content.encode())
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(folder / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(folder / "config"))
    theirs = boto3.Session().get_credentials().get_frozen_credentials()
    ours = probe.good("credentials", env={"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None})
    assert ours["id"] == theirs.access_key
    assert ours["secret"] == digest(theirs.secret_key)
    assert ours["token"] == (digest(theirs.token) if theirs.token else None)
