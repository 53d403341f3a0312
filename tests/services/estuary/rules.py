"""What the connectors say to a config before they ask anybody: unknown keys, missing values, contradictions.

Stricter than the schemas, like the connectors. Each rule returns the connector's words, or nothing."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from .connector_schemas import of

Json = dict[str, Any]
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def _unknown(config: Json, schema: Json, open_objects: tuple[str, ...] = (), at: str = "") -> str:
    """The first key that the short schema does not name."""
    properties = dict(schema.get("properties", {}))
    for variant in schema.get("oneOf", ()):
        properties.update(variant["properties"])
    for key, value in config.items():
        if key not in properties:
            return "" if at in open_objects else key
        if isinstance(value, dict) and properties[key].get("type") == "object" and (
                "properties" in properties[key] or "oneOf" in properties[key]):
            found = _unknown(value, properties[key], open_objects, f"{at}/{key}")
            if found:
                return found
    return ""


def _missing(config: Json, names: str) -> str:
    for name in names.split():
        if not config.get(name):
            return f"missing '{name}'"
    return ""


def _pattern(pattern: str) -> str:
    dots = escaped = 0
    parts = [""]
    for char in pattern:
        if escaped:
            escaped = 0
        elif char == "\\":
            escaped = 1
        elif char == ".":
            dots += 1
            parts.append("")
            continue
        parts[-1] += char
    wrong = ("empty pattern" if not pattern else "trailing backslash" if escaped else
             "more than one unescaped '.'" if dots > 1 else
             ("empty schema component" if not parts[0] else "empty table component" if not parts[1] else "")
             if dots == 1 else "")
    return f'invalid table pattern "{pattern}": {wrong}' if wrong else ""


def postgres(config: Json) -> str:
    """source-postgres."""
    key = _unknown(config, of("source-postgres", False).endpoint)
    if key and key != "password":
        return f'error parsing config json: json: unknown field "{key}"'
    advanced, credentials = config.get("advanced") or {}, config.get("credentials") or {}
    needs = {"UserPassword": "password", "AWSIAM": "aws_region aws_role_arn",
             "GCPIAM": "gcp_service_account_to_impersonate gcp_workload_identity_pool_audience",
             "AzureIAM": "azure_client_id azure_tenant_id"}
    address = str(config.get("address", ""))
    wrong = _missing(config, "address user") or _missing(credentials, needs.get(str(credentials.get("auth_type")), ""))
    if wrong:
        return wrong
    if re.search(r"\.pooler\.supabase\.com(:6543)?$", address):
        return (f'address must be a direct connection: address "{address}" is using the Supabase connection pooler, '
                "consult go.estuary.dev/supabase-direct-address for details")
    watermarks = advanced.get("watermarksTable", "public.flow_watermarks")
    if "." not in watermarks:
        return (f"invalid 'watermarksTable' configuration: table name \"{watermarks}\" must be fully-qualified as "
                '"<schema>.<table>"')
    for table in filter(None, advanced.get("skip_backfills", "").split(",")):
        if "." not in table:
            return (f"invalid 'skipBackfills' configuration: table name \"{table}\" must be fully-qualified as "
                    '"<schema>.<table>"')
    if any(not name.strip() for name in advanced.get("discover_schemas", ())):
        return "discovery schema selection must not contain any entries that are blank"
    interval = re.fullmatch(r"(\d+)(ms|s|m|h)", advanced.get("rediscovery_interval", "15m"))
    if interval and not 60 <= int(interval[1]) * _UNITS[interval[2]] <= 8760 * 3600:
        least = int(interval[1]) * _UNITS[interval[2]] < 60
        limit = "must be at least 1m0s" if least else "must not exceed 8760h0m0s"
        return f"invalid 'rediscovery_interval' configuration \"{interval[0]}\": {limit}"
    for pattern in (config.get("discoveryFilters") or {}).get("table_patterns", ()):
        wrong = _pattern(pattern)
        if wrong:
            return wrong
    return ""


def iceberg(config: Json) -> str:
    """materialize-iceberg and its variants."""
    key = _unknown(config, of("materialize-iceberg", False).endpoint, ("/credentials",))
    if key:
        return f'json: unknown field "{key}"'
    wrong = _missing(config, "url warehouse namespace")
    if wrong:
        return wrong
    if "." in config["namespace"]:
        return f'namespace "{config["namespace"]}" must not contain dots'
    credentials, compute = config.get("credentials"), config.get("compute") or {}
    if not credentials:
        return "missing 'credentials'"
    auth = credentials.get("auth_type", "")
    needs = {"OAuth 2.0 Client Credentials": "oauth2_server_uri credential",
             "AWS SigV4": "aws_access_key_id aws_secret_access_key aws_region", "AWS IAM": "aws_region aws_role_arn"}
    if auth not in needs:
        return f"unexpected auth_type: {auth}"
    wrong = _missing(credentials, needs[auth])
    if wrong:
        return wrong
    oauth = auth.startswith("OAuth")
    return (_token_uri(credentials) if oauth else "") or _compute(compute, oauth) or _schedule(config)


def _token_uri(credentials: Json) -> str:
    uri = credentials["oauth2_server_uri"]
    parts = urlsplit(uri)
    if ("://" in uri or parts.scheme) and (parts.scheme not in ("http", "https") or not parts.netloc):
        return f'oauth2_server_uri "{uri}" must be an http(s) URL or a path relative to the catalog URL'
    return ""


def _compute(compute: Json, oauth: bool) -> str:
    if compute.get("compute_type") != "AWS EMR Serverless":
        return f'invalid compute type "{compute.get("compute_type", "")}"'
    wrong = _missing(compute, "region application_id execution_role_arn bucket")
    if wrong:
        return wrong
    credentials = compute.get("credentials") or {}
    auth = credentials.get("auth_type", "")
    if auth not in ("AWSAccessKey", "UseCatalogAuth"):
        return f'unexpected EMR auth type "{auth}"'
    if auth == "AWSAccessKey" and _missing(credentials, "aws_access_key_id aws_secret_access_key"):
        return _missing(credentials, "aws_access_key_id aws_secret_access_key")
    path, prefix = compute.get("bucket_path", ""), compute.get("systems_manager_prefix", "")
    if path.startswith("/"):
        return f'bucket_path "{path}" cannot start with /'
    if "://" in path:
        return (f'bucket_path "{path}" must be a bare key prefix within the bucket, not a full URI like '
                '"s3://bucket/prefix"; the bucket is configured separately')
    if prefix and not (prefix.startswith("/") and prefix.endswith("/")):
        return f'systems manager prefix "{prefix}" must start and end with /'
    if oauth and not prefix:
        return ("must specify Systems Manager Prefix for AWS EMR Serverless compute with Client Credentials catalog "
                "authentication")
    if oauth and auth == "UseCatalogAuth":
        return "must use AWS EMR Serverless with SigV4 or IAM catalog credentials"
    return ""


def _schedule(config: Json) -> str:
    schedule = config.get("syncSchedule") or {}
    parts = ("timezone", "syncFrequency", "fastSyncStartTime", "fastSyncStopTime")
    if (schedule.get("fastSyncStartTime") or schedule.get("fastSyncStopTime")) and not all(
            schedule.get(part) for part in parts):
        return ("must provide 'timezone', 'syncFrequency', 'fastSyncStartTime', and 'fastSyncStopTime' when configuring "
                "sync frequency active times")
    if any((config.get("glue_optimizers") or {}).get(name) for name in
           ("enable_compaction", "enable_retention", "enable_orphan_file_deletion")):
        return "Glue table optimizers are only supported when using AWS Glue as the catalog"
    return ""


def table_path(config: Json, resource: Json) -> tuple[str, str]:
    """Where a binding's table lies, as the connector makes it of namespace and table."""
    case = (config.get("advanced") or {}).get("table_identifier_case", "lowercase")

    def fold(text: str) -> str:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", text)
        return plain.lower() if case == "lowercase" else plain.upper() if case == "uppercase" else plain

    return fold(resource.get("namespace") or config["namespace"]), fold(resource["table"])
