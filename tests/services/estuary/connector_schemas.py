"""The JSON schemas that connectors give for their configs: own short ones, or the whole ones beside the repository.

The short ones know the properties that a connector takes, what is required and what is secret; that is what a client
may rely on. The whole ones are used when they lie in ../shared/schemas, and are never part of the repository."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any

from tests.services.places import REPO

Schema = dict[str, Any]
WHOLE = REPO.parent / "shared" / "schemas"
DRAFT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True)
class Schemas:
    """Of a connector's endpoint and of its bindings."""

    endpoint: Schema
    resource: Schema


def _text(**more: Any) -> Schema:
    return {"type": "string", **more}


_SECRET = _text(secret=True)
_FLAG: Schema = {"type": "boolean"}
_COUNT: Schema = {"type": "integer"}
_TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
_CLOCK = _text(pattern="^(0?[0-9]|1[0-9]|2[0-3]):[0-5][0-9]$")


def _object(required: str = "", closed: bool = False, **properties: Schema) -> Schema:
    found: Schema = {"type": "object", "properties": properties}
    if required:
        found["required"] = required.split()
    if closed:
        found["additionalProperties"] = False
    return found


def _variant(discriminator: str, value: str, required: str = "", **properties: Schema) -> Schema:
    found = _object(required, False, **properties)
    found["properties"] = {discriminator: _text(const=value, default=value), **properties}
    return found


def _one_of(discriminator: str, *variants: Schema) -> Schema:
    return {"type": "object", "oneOf": list(variants), "discriminator": {"propertyName": discriminator}}


_POSTGRES = _object(
    "address user database historyMode credentials",
    address=_text(), user=_text(default="flow_capture"), database=_text(default="postgres"), historyMode=_FLAG,
    credentials=_one_of(
        "auth_type",
        _variant("auth_type", "UserPassword", "password", password=_SECRET),
        _variant("auth_type", "AWSIAM", "aws_region aws_role_arn", aws_region=_text(), aws_role_arn=_text()),
        _variant("auth_type", "GCPIAM", "gcp_service_account_to_impersonate gcp_workload_identity_pool_audience",
                 gcp_service_account_to_impersonate=_text(), gcp_workload_identity_pool_audience=_text()),
        _variant("auth_type", "AzureIAM", "azure_client_id azure_tenant_id",
                 azure_client_id=_text(), azure_tenant_id=_text())),
    discoveryFilters=_object(closed=True, include_schemas=_TEXTS, exclude_schemas=_TEXTS, table_patterns=_TEXTS,
                             discover_unpublished_tables=_FLAG),
    advanced=_object(
        closed=True, publicationName=_text(default="flow_publication"),
        slotName=_text(default="flow_slot", pattern="^[a-z_][a-z0-9_]{0,62}$"),
        watermarksTable=_text(default="public.flow_watermarks", pattern="^.+[.].+$"), skip_backfills=_text(),
        backfill_chunk_size=_COUNT,
        sslmode=_text(enum=["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]),
        discover_schemas=_TEXTS, min_backfill_xid=_text(pattern="^[0-9]+$"), read_only_capture=_FLAG,
        capture_as_partitions=_FLAG, discover_unpublished_tables=_FLAG, source_tag=_text(),
        rediscovery_interval=_text(pattern="^[0-9]+(ms|s|m|h)$"), feature_flags=_text(),
        statement_timeout=_text(enum=["", "0", "30s", "1m", "2m", "5m", "30m"])),
    networkTunnel=_object(closed=True, sshForwarding=_object(
        "sshEndpoint privateKey", closed=True, sshEndpoint=_text(pattern="^ssh://.+@.+$"), privateKey=_SECRET)))
_POSTGRES_RESOURCE = _object(
    "namespace stream",
    mode=_text(enum=["", "Normal", "Precise", "Only Changes", "Without Primary Key"]), namespace=_text(),
    stream=_text(), priority=_COUNT, advanced=_object(closed=True, additional_backfill_filter=_text()))

_ICEBERG = _object(
    "url warehouse namespace credentials compute",
    url=_text(), warehouse=_text(), namespace=_text(pattern="^[^.]*$"), base_location=_text(), hard_delete=_FLAG,
    credentials=_one_of(
        "auth_type",
        _variant("auth_type", "OAuth 2.0 Client Credentials", "oauth2_server_uri credential",
                 oauth2_server_uri=_text(default="v1/oauth/tokens"), credential=_SECRET, scope=_text()),
        _variant("auth_type", "AWS SigV4", "aws_access_key_id aws_secret_access_key aws_region",
                 aws_access_key_id=_text(), aws_secret_access_key=_SECRET, aws_region=_text()),
        _variant("auth_type", "AWS IAM", "aws_region aws_role_arn", aws_region=_text(), aws_role_arn=_text())),
    compute=_one_of("compute_type", _variant(
        "compute_type", "AWS EMR Serverless", "region application_id execution_role_arn bucket credentials",
        region=_text(), application_id=_text(), execution_role_arn=_text(), bucket=_text(), bucket_path=_text(),
        systems_manager_prefix=_text(pattern="^/.+/$"),
        credentials=_one_of(
            "auth_type",
            _variant("auth_type", "AWSAccessKey", "aws_access_key_id aws_secret_access_key",
                     aws_access_key_id=_text(), aws_secret_access_key=_SECRET),
            _variant("auth_type", "UseCatalogAuth")))),
    syncSchedule=_object(
        closed=True, syncFrequency=_text(enum=["0s", "30s", "5m", "15m", "30m", "1h", "2h", "4h"]), timezone=_text(),
        fastSyncStartTime=_CLOCK, fastSyncStopTime=_CLOCK, fastSyncEnabledDays=_text()),
    dbt_job_trigger=_object(
        "job_id account_id api_key", closed=True, job_id=_text(), account_id=_text(),
        access_url=_text(pattern="^https://.+$"), api_key=_SECRET, cause=_text(),
        mode=_text(enum=["skip", "replace", "ignore"]), interval=_text()),
    advanced=_object(
        closed=True, table_identifier_case=_text(enum=["lowercase", "uppercase", "preserve"]),
        field_name_case=_text(enum=["lowercase", "uppercase", "preserve"]), feature_flags=_text()),
    glue_optimizers=_object(
        closed=True, execution_role_arn=_text(), enable_compaction=_FLAG, enable_retention=_FLAG,
        snapshot_retention_days=_COUNT, number_of_snapshots_to_retain=_COUNT, enable_orphan_file_deletion=_FLAG,
        orphan_file_retention_days=_COUNT))
_ICEBERG_RESOURCE = _object(
    "table", table=_text(**{"x-collection-name": True}), namespace=_text(**{"x-schema-name": True}),
    additional_table_properties={"type": "object", "additionalProperties": {"type": "string"}})

_OWN = {
    "source-postgres": Schemas({"$schema": DRAFT, **_POSTGRES}, {"$schema": DRAFT, **_POSTGRES_RESOURCE}),
    "materialize-iceberg": Schemas({"$schema": DRAFT, **_ICEBERG}, {"$schema": DRAFT, **_ICEBERG_RESOURCE}),
}


@functools.lru_cache
def of(family: str, whole: bool = True) -> Schemas:
    """The schemas of a connector and its variants."""
    if whole:
        try:
            return Schemas(*(json.loads((WHOLE / f"{family}.{part}.schema.json").read_text())
                             for part in ("endpoint", "resource")))
        except OSError:
            pass
    return _OWN[family]
