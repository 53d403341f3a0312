"""What is there when the control plane begins: a tenant with its user, data planes, storage, connectors."""

from __future__ import annotations

import json

from . import connector_schemas, tokens
from .store import Row, new_id
from .world import World

#: name -> cloud, region, public, closed, how many address blocks. The blocks are addresses for documentation.
PLANES: dict[str, tuple[str, str, bool, bool, int]] = {
    "ops/dp/public/aws-us-east-1-c2": ("AWS", "us-east-1", True, False, 6),
    "ops/dp/public/aws-eu-west-1-c1": ("AWS", "eu-west-1", True, False, 4),
    "ops/dp/public/gcp-us-central1-c2": ("GCP", "us-central1", True, False, 3),
    "ops/dp/public/gcp-us-central1-c1": ("GCP", "us-central1", True, True, 1),
    "ops/dp/private/acmeCo/aws-eu-central-1-c1": ("AWS", "eu-central-1", False, False, 2),
}
_DOCUMENTATION = ("192.0.2", "198.51.100", "203.0.113")
POSTGRES, ICEBERG, BAUPLAN = (f"ghcr.io/estuary/{name}" for name in
                              ("source-postgres", "materialize-iceberg", "materialize-bauplan"))
CONNECTORS = {
    POSTGRES: ("capture", ":v3", "PostgreSQL", "source-postgres"),
    "ghcr.io/estuary/source-amazon-rds-postgres": ("capture", ":v3", "Amazon RDS for PostgreSQL", "source-postgres"),
    ICEBERG: ("materialization", ":v1", "Apache Iceberg", "materialize-iceberg"),
    BAUPLAN: ("materialization", ":v1", "Bauplan", "materialize-iceberg"),
}


def blocks(name: str, count: int) -> list[str]:
    """A plane's address blocks; the last of a larger plane is of IPv6."""
    at = sum(name.encode())
    found = [f"{_DOCUMENTATION[n % 3]}.{(at + 7 * n) % 256}/32" for n in range(count)]
    return [*found[:-1], f"2001:db8:{at:x}::/64"] if count > 3 else found


def begin(world: World) -> None:
    """Fill empty tables."""
    add_planes(world)
    add_connectors(world)
    tenant = world.settings.tenant
    user = world.user(world.settings.email)
    for role, capability in ((tenant, "admin"), ("betaCo/", "write")):
        world.store.add("user_grants", {"user_id": user["id"], "object_role": role, "capability": capability})
    for own in (tenant, "betaCo/"):
        for role, capability in ((own, "write"), ("ops/dp/public/", "read")):
            world.store.add("role_grants", {"subject_role": own, "object_role": role, "capability": capability})
    public = [name for name, plane in PLANES.items() if plane[2] and not plane[3]]
    add_mapping(world, tenant, public)
    add_mapping(world, "betaCo/", public[1:2])


def add_planes(world: World) -> None:
    """The data planes."""
    for name, (cloud, region, public, closed, count) in PLANES.items():
        add_plane(world, name, cloud, region, public, closed, blocks(name, count))


def add_plane(world: World, name: str, cloud: str, region: str, public: bool, closed: bool, cidrs: list[str]) -> Row:
    """One data plane."""
    short = name.rpartition("/")[2]
    fqdn = f"{short}.dp.estuary.example"
    return world.store.add("data_planes", {
        "id": new_id(), "data_plane_name": name, "data_plane_fqdn": fqdn,
        "reactor_address": f"https://reactor.{fqdn}:9000", "cidr_blocks": cidrs,
        "gcp_service_account_email": f"{short}@planes.example" if cloud == "GCP" else None,
        "aws_iam_user_arn": f"arn:aws:iam::210987654321:user/{short}" if cloud == "AWS" else None,
        "_cloud": cloud, "_region": region, "_public": public, "_closed": closed, "created_at": world.now()})


def add_mapping(world: World, prefix: str, planes: list[str]) -> Row:
    """A storage mapping; the first plane is the default one."""
    store = {"provider": "GCS", "bucket": "estuary-standin-collections", "prefix": "collection-data/"}
    return world.store.add("storage_mappings", {
        "id": new_id(), "catalog_prefix": prefix, "detail": None, "spec": {"stores": [store], "data_planes": planes},
        "created_at": world.now(), "updated_at": world.now()})


def add_connectors(world: World) -> None:
    """The connectors and their tags. A tag :dev besides, whose default comes last by name."""
    for image, (protocol, tag, title, family) in CONNECTORS.items():
        connector = world.store.add("connectors", {
            "id": new_id(), "image_name": image, "external_url": f"https://{family}.example", "_family": family,
            "title": {"en-US": title}, "recommended": False, "detail": None, "created_at": world.now()})
        for name in (world.settings.bauplan_tag if image == BAUPLAN else tag, ":dev"):
            schemas = connector_schemas.of(family, world.settings.whole_schemas)
            world.store.add("connector_tags", {
                "id": new_id(), "connector_id": connector["id"], "image_tag": name, "protocol": protocol,
                "documentation_url": f"https://go.estuary.dev/{family}", "endpoint_spec_schema": schemas.endpoint,
                "resource_spec_schema": schemas.resource, "job_status": {"type": "success"},
                "default_capture_interval": None, "created_at": world.now()})


def first_token(world: World) -> str:
    """A refresh token of the tenant's user, as pasted: good for 90 days and many uses."""
    user = world.user(world.settings.email)
    return tokens.pasted(tokens.make_refresh(world, user["id"], True, 90 * 86400.0, json.dumps("made at the start")))
