"""GraphQL over HTTP: the documented queries, answered from the tables. Errors come with status 200 in errors[]."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from graphql import (
    GraphQLError,
    OperationDefinitionNode,
    build_schema,
    graphql_sync,
    parse,
)
from graphql.language.ast import FieldNode

from tests.services.aws.messages import Answer, Defect, Request

from . import tokens
from .errors import json_answer, plain
from .graphql_schema import SDL
from .jobs import Jobs
from .names import split_image
from .store import Row
from .world import LEVELS, Caller, World

Json = Any
_SCHEMA = build_schema(SDL)
PATH = "/api/graphql"


@dataclass
class Context:
    """What a resolver needs."""

    world: World
    jobs: Jobs
    caller: Caller


def operation(request: Request) -> str:
    """The root fields of a request, joined by +; `?` for one that cannot be read."""
    try:
        document = parse(json.loads(request.body)["query"])
    except (ValueError, KeyError, TypeError, GraphQLError):
        return "?"
    found = []
    for definition in document.definitions:
        if isinstance(definition, OperationDefinitionNode):
            found += [part.name.value for part in definition.selection_set.selections if isinstance(part, FieldNode)]
    return "+".join(found) or "?"


def perform(world: World, jobs: Jobs, request: Request, caller: Caller) -> Answer:
    """The answer to a request. Under the world's lock."""
    if request.method != "POST":
        raise plain(405, "Method Not Allowed")
    if (request.header("content-type") or "").split(";")[0].strip() != "application/json":
        raise plain(415, "Expected request with `Content-Type: application/json`")
    try:
        asked = json.loads(request.body)
        query, variables = asked["query"], asked.get("variables")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise plain(400, "Invalid request") from None
    if not isinstance(query, str) or not isinstance(variables, (dict, type(None))):
        raise plain(400, "Invalid request")
    result = graphql_sync(_SCHEMA, query, ROOT, Context(world, jobs, caller), variables, asked.get("operationName"))
    for error in result.errors or ():
        if error.original_error and not isinstance(error.original_error, GraphQLError):
            raise Defect(f"graphql: {error.original_error!r}")
    answer: Row = {"data": result.data}
    if result.errors:
        answer["errors"] = [{**error.formatted, "extensions": error.extensions or {}} for error in result.errors]
    return json_answer(200, answer)


def needs_user(run: Callable[..., Json]) -> Callable[..., Json]:
    """A resolver that nobody may ask without a login."""

    def resolve(info: Any, **given: Json) -> Json:
        if not info.context.caller.known:
            raise GraphQLError("Unauthenticated: this query requires a bearer token")
        return run(info.context, **given)

    return resolve


def for_anybody(run: Callable[..., Json]) -> Callable[..., Json]:
    """A resolver that needs no login."""
    return lambda info, **given: run(info.context, **given)


def connection(context: Context, nodes: Iterable[Row], key: Callable[[Row], str], first: int | None = None,
               after: str | None = None, last: int | None = None, before: str | None = None) -> Row:
    """A page of nodes sorted by their cursor. Each query takes either first/after or last/before."""
    if first is not None and last is not None:
        raise GraphQLError("The \"first\" and \"last\" parameters cannot exist at the same time")
    if (first or 0) < 0 or (last or 0) < 0:
        raise GraphQLError("The \"first\" and \"last\" parameters must be a non-negative number")
    ordered = sorted(((key(node), node) for node in nodes), key=lambda pair: pair[0])
    inside = [pair for pair in ordered if (after is None or pair[0] > after) and (before is None or pair[0] < before)]
    forced = context.world.settings.page_size
    if last is not None:
        page = inside[-last:] if last else []
    else:
        size = min(first if first is not None else len(inside), forced or len(inside))
        page = inside[:size]
    return {
        "edges": [{"cursor": cursor, "node": node} for cursor, node in page],
        "pageInfo": {"hasNextPage": bool(inside) and (not page or page[-1] != inside[-1]),
                     "hasPreviousPage": bool(page) and page[0] != ordered[0],
                     "startCursor": page[0][0] if page else None, "endCursor": page[-1][0] if page else None}}


# The queries.


def _prefixes(context: Context, by: Row, first: int | None = None, after: str | None = None) -> Row:
    least = LEVELS.index(by["minCapability"])
    nodes = [{"prefix": prefix, "userCapability": level} for prefix, level in
             context.world.roles(context.caller).items() if LEVELS.index(level) >= least]
    return connection(context, nodes, lambda node: str(node["prefix"]), first, after)


def _tags(context: Context, connector: Row) -> list[Row]:
    tags = context.world.store.rows("connector_tags", connector_id=connector["id"])
    return sorted(tags, key=lambda tag: str(tag["image_tag"]))


def _spec(tag: Row | None) -> Row | None:
    return tag and {
        "defaultCaptureInterval": tag["default_capture_interval"], "disableBackfill": False, "id": tag["id"],
        "documentationUrl": tag["documentation_url"], "endpointSpecSchema": tag["endpoint_spec_schema"],
        "imageTag": tag["image_tag"], "protocol": tag["protocol"], "resourceSpecSchema": tag["resource_spec_schema"]}


def _connector_node(context: Context, connector: Row) -> Row:
    tags = _tags(context, connector)
    return {
        "createdAt": connector["created_at"], "defaultImageTag": tags[-1]["image_tag"], "defaultSpec": _spec(tags[-1]),
        "detail": connector["detail"], "externalUrl": connector["external_url"], "id": connector["id"],
        "imageName": connector["image_name"], "protocol": tags[-1]["protocol"], "recommended": connector["recommended"],
        "title": connector["title"]["en-US"],
        "spec": lambda info, imageTag: _spec(next((t for t in tags if t["image_tag"] == imageTag), None))}


def _connector(context: Context, id: str | None = None, imageName: str | None = None) -> Row | None:
    if id is None and imageName is None:
        raise GraphQLError("InvalidArgument: must provide at least one of `id` or `imageName`")
    for row in context.world.store.rows("connectors"):
        same = (id is None or row["id"] == id.replace(":", "")) and imageName in (None, row["image_name"])
        if same and context.world.connector(row["image_name"]):
            return _connector_node(context, row)
    return None


def _connector_spec(context: Context, fullImageName: str) -> Row | None:
    parts = split_image(fullImageName)
    if parts is None:
        raise GraphQLError("InvalidArgument: `fullImageName` must include a version tag")
    connector = context.world.connector(parts[0])
    if connector is None:
        return None
    return _spec(context.world.tag(*parts) or _tags(context, connector)[-1])


def _connectors(context: Context, filter: Row | None = None, **page: Json) -> Row:
    wanted = ((filter or {}).get("protocol") or {}).get("eq")
    nodes = [_connector_node(context, row) for row in context.world.store.rows("connectors")
             if context.world.connector(row["image_name"])]
    return connection(context, [node for node in nodes if wanted in (None, node["protocol"])],
                      lambda node: str(node["imageName"]), **page)


def _plane(context: Context, row: Row) -> Row:
    return {
        "awsIamUserArn": row["aws_iam_user_arn"], "azureApplicationClientId": None, "azureApplicationName": None,
        "cidrBlocks": row["cidr_blocks"], "closed": row["_closed"], "cloudProvider": row["_cloud"],
        "fqdn": row["data_plane_fqdn"], "gcpServiceAccountEmail": row["gcp_service_account_email"], "id": row["id"],
        "isPublic": row["_public"], "name": row["data_plane_name"], "reactorAddress": row["reactor_address"],
        "region": row["_region"], "tag": row["data_plane_name"].rpartition("-")[2],
        "userCapability": context.world.capability(context.caller, row["data_plane_name"])}


def _data_planes(context: Context, filter: Row | None = None, **page: Json) -> Row:
    asked = filter or {}
    if "tenant" in asked:
        raise Defect("the stand-in filters no data planes by tenant")
    closed, public = ((asked.get(name) or {}).get("eq") for name in ("closed", "public"))
    ids = (asked.get("id") or {}).get("in")
    nodes = [_plane(context, row) for row in context.world.store.rows("data_planes")
             if context.world.may(context.caller, row["data_plane_name"], "read")
             and closed in (None, row["_closed"]) and public in (None, row["_public"])
             and (ids is None or row["id"] in ids)]
    return connection(context, nodes, lambda node: str(node["name"]), **page)


def _public_data_planes(context: Context, **page: Json) -> Row:
    nodes = [_plane(context, row) for row in context.world.store.rows("data_planes")
             if row["_public"] and not row["_closed"]]
    return connection(context, nodes, lambda node: str(node["name"]), **page)


def _storage_mappings(context: Context, filter: Row | None = None, **page: Json) -> Row:
    asked = (filter or {}).get("catalogPrefix") or {}
    if "in" in asked and "startsWith" in asked:
        raise GraphQLError("InvalidArgument: `startsWith` and `in` are mutually exclusive")
    if "in" in asked and not 1 <= len(asked["in"]) <= 100:
        raise GraphQLError("Failed to parse \"PrefixFilter\": the set must hold between 1 and 100 entries")
    nodes = [{"catalogPrefix": row["catalog_prefix"], "detail": row["detail"], "spec": row["spec"],
              "userCapability": context.world.capability(context.caller, row["catalog_prefix"])}
             for row in context.world.store.rows("storage_mappings")
             if context.world.may(context.caller, row["catalog_prefix"], "read")
             and row["catalog_prefix"].startswith(asked.get("startsWith", ""))
             and row["catalog_prefix"] in asked.get("in", (row["catalog_prefix"],))]
    return connection(context, nodes, lambda node: str(node["catalogPrefix"]), **page)


def _live_specs(context: Context, by: Row, **page: Json) -> Row:
    if bool(by.get("names")) == bool(by.get("prefix")):
        raise GraphQLError("InvalidArgument: exactly one of `names` or `prefix` must be given")
    live = {row["catalog_name"]: row for row in context.world.store.rows("live_specs")}
    wanted = by.get("names") or [name for name in live if name.startswith(by["prefix"])]
    if by.get("catalogType"):
        wanted = [name for name in wanted if name in live and live[name]["spec_type"] == by["catalogType"]]
    if by.get("dataPlaneName"):
        wanted = [name for name in wanted if name in live and live[name]["_plane"] == by["dataPlaneName"]]
    return connection(context, [_reference(context, name, live.get(name)) for name in dict.fromkeys(wanted)],
                      lambda node: str(node["catalogName"]), **page)


def _reference(context: Context, name: str, row: Row | None) -> Row:
    level = context.world.capability(context.caller, name)
    node: Row = {"catalogName": name, "userCapability": None if level == "none" else level}
    if row is None or level == "none":
        return {**node, "liveSpec": None, "status": None}
    kind, summary = context.jobs.status_of(row)
    plane = context.world.store.one("data_planes", data_plane_name=row["_plane"])
    spec = {"builtSpec": None, "catalogName": name, "catalogType": row["spec_type"], "createdAt": row["created_at"],
            "dataPlaneId": plane["id"] if plane else "0" * 16, "isDisabled": kind == "TASK_DISABLED",
            "lastBuildId": row["last_build_id"], "lastPubId": row["last_pub_id"], "liveSpecId": row["id"],
            "model": row["spec"], "updatedAt": row["updated_at"]}
    return {**node, "liveSpec": spec, "status": {"summary": summary, "type": kind}}


def _create_refresh_token(context: Context, detail: str | None, multiUse: bool, validFor: str) -> Row:
    try:
        valid_for = tokens.interval(validFor)
    except ValueError:
        raise GraphQLError("InvalidArgument: `validFor` must be an ISO 8601 duration") from None
    if not 0 < valid_for <= 366 * 86400:
        raise GraphQLError("InvalidArgument: `validFor` must be greater than zero and at most one year")
    return tokens.make_refresh(context.world, context.caller.user_id, multiUse, valid_for, detail)


ROOT = {
    "connector": needs_user(_connector), "connectorSpec": needs_user(_connector_spec),
    "connectors": needs_user(_connectors), "dataPlanes": needs_user(_data_planes),
    "liveSpecs": needs_user(_live_specs), "prefixes": needs_user(_prefixes),
    "publicDataPlanes": for_anybody(_public_data_planes), "storageMappings": needs_user(_storage_mappings),
    "createRefreshToken": needs_user(_create_refresh_token),
}
