"""The prefilled answers: what an operator would type for the stand-ins, with every secret as a reference to a file."""

import secrets
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from . import shop
from .catalog import NAMESPACE, Catalog
from .postgres import Postgres
from .tls import write_private

LAKE, STAGING = "acme-lake", "acme-estuary-staging"
ESTUARY_NAMES = tuple(f"SLUICE_ESTUARY_{name}" for name in
                      ("API_URL", "PG_URL", "ENCRYPTION_URL", "DASHBOARD_URL", "ANON_KEY"))
# Settings of the machine that would lead a client of AWS or Estuary elsewhere, or give it other keys.
ELSEWHERE = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN", "AWS_ROLE_ARN",
             "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "AWS_USE_FIPS_ENDPOINT",
             "AWS_USE_DUALSTACK_ENDPOINT", *(f"AWS_ENDPOINT_URL_{service}" for service in
                                             ("STS", "IAM", "S3", "SSM", "EC2", "EMR_SERVERLESS")), *ESTUARY_NAMES)


@dataclass(frozen=True)
class Aws:
    """What is told of the stand-in for AWS, be it a process of its own or in this one."""

    environment: dict[str, str]   # of a client that is the account's administrator
    network: dict[str, Any]       # ids of subnets and groups: see aws/network.py


@dataclass(frozen=True)
class Estuary:
    """What is told of the stand-in for Estuary's control plane, be it a process of its own or in this one."""

    environment: dict[str, str]   # ESTUARY_NAMES with their values
    prefix: str                   # of the tenant
    token: str                    # the tenant's refresh token, as the dashboard shows it
    control_url: str
    age_key_file: Path | None = None   # opens what was sealed

    @property
    def outside(self) -> dict[str, str]:
        """Where tools that look from outside find it."""
        found = {"SANDBOX_ESTUARY": self.control_url}
        return found | ({"SANDBOX_ESTUARY_AGE_KEY_FILE": str(self.age_key_file)} if self.age_key_file else {})


def answers(folder: Path, catalog: Catalog, server: Postgres, database: str = "shop", aws: Aws | None = None,
            estuary: Estuary | None = None) -> dict:
    """The mapping for --answers. The secrets it refers to are written by write(). Without aws or estuary their steps
    have no answers."""
    told = for_estuary(folder, estuary) if estuary else {}
    return {
        "start": {"name": "shop", "keep_secrets": "file", **told.pop("start", {})},
        "oauth": {
            "url": catalog.url,
            "branch": catalog.branch,
            "warehouse": catalog.warehouse,
            "client_id": catalog.client_id,
            "client_secret": {"secret": f"file:{folder / 'client-secret'}"},
            "token_uri": "v1/oauth/tokens",
        },
        "postgres": {
            "host": server.host,
            "port": server.port,
            "database": database,
            "sslmode": "verify-full",
            "ca_file": str(server.ca_file),
            "admin_user": server.admin_user,
            "admin_password": {"secret": f"file:{folder / 'admin-password'}"},
            "tables": list(shop.TABLES),
            "repairs": dict(shop.REPAIRS),
        },
        **(for_aws(aws) if aws else {}),
        **told,
    }


def for_aws(aws: Aws) -> dict:
    """emr, bucket, iam: an application to be made in private subnets behind a NAT gateway, a lake that is there, a
    staging bucket that is not; what has a good default is left to it."""
    subnets, groups = aws.network["subnets"], aws.network["groups"]
    return {
        "emr": {
            "region": aws.network["region"],
            "subnets": [subnets["private-nat"], subnets["private-nat-b"]],
            "security_groups": [groups["open-egress"]],
        },
        "bucket": {"lake": LAKE, "lake_prefix": "iceberg", "staging": STAGING, "staging_prefix": "estuary-staging"},
        "iam": {"role": "sluice-shop-emr", "user": "sluice-shop", "ssm_prefix": "/estuary/shop/"},
    }


def for_estuary(folder: Path, estuary: Estuary) -> dict:
    """start (what it has besides), materialization; the capture has a good default for everything. Of the two tables
    called orders one needs another name in the one namespace of the catalog."""
    return {
        "start": {
            "token": {"secret": f"file:{folder / 'estuary-token'}"},
            "prefix": estuary.prefix,
            "data_plane": "ops/dp/public/aws-us-east-1-c2",
        },
        "materialization": {
            "namespace": NAMESPACE,
            "hard_delete": "yes",
            "sync_frequency": "30m",
            "bindings": {"audit.orders": "audit_orders"},
        },
    }


def environment(folder: Path, catalog: Catalog, server: Postgres, database: str = "shop", aws: Aws | None = None,
                estuary: Estuary | None = None) -> dict[str, str]:
    """What sluice needs to reach the stand-ins (SLUICE_*, AWS_*), and where tools that look from outside find them."""
    found = {
        "SLUICE_CA_FILE": str(catalog.ca_file),
        "SANDBOX_POSTGRES": server.uri(database),
        "SANDBOX_CATALOG": catalog.url,
        "SANDBOX_TOKEN_URL": catalog.token_url,
        "SANDBOX_CLIENT_ID": catalog.client_id,
        "SANDBOX_CLIENT_SECRET_FILE": str(folder / "client-secret"),
    }
    if aws:
        found |= {"SANDBOX_AWS": aws.environment["AWS_ENDPOINT_URL"], **aws.environment}
    if estuary:
        found |= {**estuary.environment, **estuary.outside}
    return found


def for_sluice(values: dict[str, str]) -> dict[str, str]:
    """Of environment() only what the program itself is given."""
    return {name: value for name, value in values.items() if not name.startswith("SANDBOX_")}


def write(folder: Path, catalog: Catalog, server: Postgres, database: str = "shop", aws: Aws | None = None,
          estuary: Estuary | None = None) -> None:
    """Fills the folder: answers.yaml, client-secret, admin-password, estuary-token (with estuary), passphrase (kept when
    there), env. All private."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    write_private(folder / "client-secret", catalog.client_secret)
    write_private(folder / "admin-password", server.admin_password)
    if estuary:
        write_private(folder / "estuary-token", estuary.token)
    if not (folder / "passphrase").exists():
        write_private(folder / "passphrase", secrets.token_urlsafe(24) + "\n")
    values = answers(folder, catalog, server, database, aws, estuary)
    write_private(folder / "answers.yaml", yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=120))
    lines = [f"export {name}={shlex.quote(value)}" for name, value in
             environment(folder, catalog, server, database, aws, estuary).items()]
    if aws or estuary:
        lines.insert(0, f"unset {' '.join(ELSEWHERE)}")
    write_private(folder / "env", "\n".join(lines) + "\n")
