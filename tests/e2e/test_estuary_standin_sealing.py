"""The encryption service of the stand-in writes what sops writes: proved by opening it, and with the real sops."""

import json

import pytest

from tests.services.estuary import connector_schemas, real_sops, sops
from tests.services.estuary.age import Identity
from tests.services.estuary.testing import (
    Client,
    estuary,  # noqa: F401
    iceberg_config,
    postgres_config,
)

AWKWARD = {
    "text": 'pä"ss\\word\n\u0001\u2028🦊', "empty": "", "numbers": [0, -3, 1.5, 1e21, 1e-7, 50000, 2**53 + 1, 2**63 - 1, 1.0],
    "flags": [True, False, None], "deep": {"b": {"a": ["x", {"z": 1, "y": 2}]}}, "none": None,
    "secret_sops": {"text": "pä\"ss\n", "number": 12345678901, "float": 0.1, "flag": True, "list": ["a", ""], "none": None},
}


def encrypt(estuary, schema, config, **headers):  # noqa: F811
    return Client(estuary).send("POST", "/v1/encrypt-config", {"schema": schema, "config": config}, **headers)


@pytest.mark.parametrize("whole", [True, False])
def test_secrets_are_renamed_and_sealed_in_place(estuary, whole):  # noqa: F811
    schemas = connector_schemas.of("materialize-iceberg", whole)
    config = iceberg_config(dbt_job_trigger={"job_id": "1", "account_id": "2", "api_key": "dbt-key-value"})
    reply = encrypt(estuary, schemas.endpoint, config)
    assert reply.status == 200 and reply.headers["Access-Control-Allow-Origin"] == "*"
    sealed = reply.json
    assert list(sealed) == [*config, "sops"]
    assert list(sealed["credentials"]) == ["auth_type", "oauth2_server_uri", "credential_sops"]
    assert list(sealed["compute"]["credentials"]) == ["auth_type", "aws_access_key_id", "aws_secret_access_key_sops"]
    assert sealed["compute"]["credentials"]["aws_access_key_id"] == "AKIAEXAMPLE"
    assert sealed["dbt_job_trigger"]["api_key_sops"].startswith("ENC[AES256_GCM,data:")
    for secret in ("client-s3cret", "aws-secret-value", "dbt-key-value"):
        assert secret not in reply.text
    assert sealed["sops"]["encrypted_suffix"] == "_sops" and sealed["sops"]["kms"] is None
    assert estuary.open(sealed) == config


def test_unused_key_groups_can_be_left_out(estuary):  # noqa: F811
    estuary.settings.sealed_nulls = False
    sealed = encrypt(estuary, connector_schemas.of("source-postgres").endpoint, postgres_config()).json
    assert list(sealed["sops"]) == ["age", "lastmodified", "mac", "encrypted_suffix", "version"]


def test_only_the_fitting_variant_has_secrets(estuary):  # noqa: F811
    config = postgres_config()
    config["credentials"] = {"auth_type": "AWSIAM", "aws_region": "eu-west-1", "aws_role_arn": "arn:aws:iam::1:role/x",
                             "password": "not a secret of this variant"}
    sealed = encrypt(estuary, connector_schemas.of("source-postgres").endpoint, config).json
    assert "password" in sealed["credentials"] and "password_sops" not in sealed["credentials"]


def test_a_refusal_repeats_what_was_sent(estuary):  # noqa: F811
    config = postgres_config()
    config["credentials"] = {"auth_type": "UserPassword", "password": {"oops": "canary-secret-value"}}
    reply = encrypt(estuary, connector_schemas.of("source-postgres").endpoint, config)
    assert reply.status == 400 and reply.headers["Content-Type"].startswith("text/plain")
    assert reply.text.startswith("failed to validate config against schema: [")
    entries = json.loads(reply.text.partition(": ")[2])
    assert any(entry["instanceLocation"] == "/credentials" for entry in entries)
    assert "canary-secret-value" in reply.text
    assert "canary" not in json.dumps(estuary.log.entries())


@pytest.mark.parametrize("config", [{"sops": {}, "a": 1}, [], "text"])
def test_what_is_not_sealed(estuary, config):  # noqa: F811
    assert encrypt(estuary, {"type": "object"}, config).status == 400


def test_a_token_does_not_belong_here(estuary):  # noqa: F811
    assert encrypt(estuary, {"type": "object"}, {}, Authorization="Bearer x").status == 200
    assert "encryption service" in estuary.findings()["clear"][0]
    estuary.world.clear.clear()


def test_any_change_is_noticed(estuary):  # noqa: F811
    sealed = encrypt(estuary, connector_schemas.of("source-postgres").endpoint, postgres_config()).json
    turned = {key: sealed[key] for key in sorted(sealed)}
    for bad in ({**sealed, "user": "other"}, {**sealed, "more": 1}, turned):
        with pytest.raises(sops.SopsError, match="MAC mismatch"):
            estuary.open(bad)
    moved = {**sealed, "credentials": {**sealed["credentials"], "other_sops": sealed["credentials"]["password_sops"]}}
    with pytest.raises(sops.SopsError, match="Could not decrypt"):
        estuary.open(moved)


def test_own_document_opens_again():
    identity = Identity.new()
    assert Identity.read(f"# created: today\n{identity.text}\n") == identity
    assert sops.open_sealed(sops.seal(AWKWARD, identity.recipient, "2026-11-30T12:00:00Z"), identity) == AWKWARD


@pytest.mark.long
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("nulls", [True, False])
def test_real_sops_opens_ours_and_refuses_a_changed_one(tmp_path, nulls):
    identity = Identity.new()
    key = tmp_path / "key.txt"
    key.write_text(identity.text)
    sealed = sops.seal(AWKWARD, identity.recipient, "2026-11-30T12:00:00Z", nulls)
    document = tmp_path / "config.json"
    document.write_text(json.dumps(sealed, ensure_ascii=False))
    opened = real_sops.decrypt(document, key)
    assert opened.returncode == 0, opened.stderr
    assert json.loads(opened.stdout) == AWKWARD
    document.write_text(json.dumps(sops.seal({"beyond 64 bits": 2**63}, identity.recipient, "2026-11-30T12:00:00Z")))
    assert real_sops.decrypt(document, key).returncode == 0
    document.write_text(json.dumps({**sealed, "empty": "x"}))
    changed = real_sops.decrypt(document, key)
    assert changed.returncode == 51 and "MAC mismatch" in changed.stderr


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_ours_opens_what_real_sops_wrote(tmp_path):
    identity = Identity.new()
    document = tmp_path / "config.json"
    document.write_text(json.dumps(AWKWARD))
    theirs = json.loads(real_sops.encrypt(document, identity.recipient))
    ours = sops.seal(AWKWARD, identity.recipient, "2026-11-30T12:00:00Z", nulls=False)
    assert sops.open_sealed(theirs, identity) == AWKWARD
    assert set(ours["sops"]) == set(theirs["sops"])
    kinds = [[text.rpartition("type:")[2] for text in json.dumps(each["secret_sops"]).split(",") if "type:" in text]
             for each in (ours, theirs)]
    assert kinds[0] == kinds[1]
