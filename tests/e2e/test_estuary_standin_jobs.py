"""Drafts, discovers and publications of the stand-in for Estuary's control plane, and what a build says of each fault."""

import copy
import re
from urllib.parse import quote

import pytest

from tests.services.aws.testing import allow, aws, make_user  # noqa: F401
from tests.services.estuary.testing import (
    BAUPLAN_IMAGE,
    CAPTURE,
    MATERIALIZATION,
    ORDERS,
    PLANE,
    POSTGRES_IMAGE,
    Client,
    estuary,  # noqa: F401
    iceberg_config,
    pipeline,
    postgres_config,
)
from tests.services.shop import TABLES

PRIVATE = "ops/dp/private/acmeCo/aws-eu-central-1-c1"


@pytest.fixture
def client(estuary):  # noqa: F811
    """Requests as the tenant's user."""
    return Client(estuary, estuary.access_token())


def publish(client, specs, dry_run=True, **more):
    """(job_status, errors, draft) of a publication of these specs."""
    draft = client.draft(specs)
    job = client.run("publications", {"draft_id": draft, "dry_run": dry_run, "detail": "test", **more})
    return job["job_status"], client.errors(draft), draft


def tag_of(client, image=POSTGRES_IMAGE):
    """The id of a connector's tag."""
    name, _, tag = image.rpartition(":")
    connector = client.rows(f"connectors?select=id&image_name=eq.{name}")[0]["id"]
    return client.rows(f"connector_tags?select=id&connector_id=eq.{quote(connector)}&image_tag=eq.:{tag}")[0]["id"]


def discover(client, config, draft=None, name=CAPTURE, image=POSTGRES_IMAGE, update_only=False, **more):
    """(job_status, errors, specs in the draft by name) of a discover."""
    draft = draft or client.draft()
    job = client.run("discovers", {"capture_name": name, "connector_tag_id": tag_of(client, image), "draft_id": draft,
                                   "endpoint_config": config, "update_only": update_only, **more})
    rows = client.rows(f"draft_specs_ext?select=catalog_name,spec_type,spec,expect_pub_id&draft_id=eq.{draft}")
    return job["job_status"], client.errors(draft), {row["catalog_name"]: row["spec"] for row in rows}


# Publications.


def test_a_dry_run_builds_and_commits_nothing(estuary, client):  # noqa: F811
    status, errors, draft = publish(client, pipeline(client))
    assert (status, errors) == ({"type": "success"}, [])
    assert estuary.contents()["live"] == [] and len(estuary.contents()["drafted"]) == 3
    rows = client.rows(f"draft_specs_ext?select=catalog_name,built_spec,validated&draft_id=eq.{draft}")
    built = {row["catalog_name"]: row for row in rows}[MATERIALIZATION]
    assert built["validated"]["bindings"][0]["constraints"]["id"]["type"] == "LOCATION_REQUIRED"
    assert built["built_spec"]["bindings"][0]["fieldSelection"] == {
        "keys": ["id"], "values": ["note"], "document": "flow_document"}


def test_a_publication_goes_live_and_then_starts(estuary, client):  # noqa: F811
    status, errors, draft = publish(client, pipeline(client), dry_run=False)
    assert (status, errors) == ({"type": "success"}, [])
    assert client.rows(f"drafts?id=eq.{draft}") == []
    assert sorted(estuary.contents()["live"]) == sorted([CAPTURE, ORDERS, MATERIALIZATION])
    ask = "query($n: [Name!]){liveSpecs(by:{names:$n}){edges{node{status{type summary} liveSpec{lastPubId}}}}}"
    node = client.ask(ask, n=[CAPTURE])["liveSpecs"]["edges"][0]["node"]
    assert node["status"] == {"type": "WARNING", "summary": "waiting on task activation"}
    estuary.advance(2)
    assert client.ask(ask, n=[CAPTURE])["liveSpecs"]["edges"][0]["node"]["status"]["type"] == "OK"
    estuary.world.statuses[CAPTURE] = "ERROR", "no pg_hba.conf entry for host"
    by_rest = client.send("GET", f"/api/v1/catalog/status?name={CAPTURE}&name={ORDERS}").json
    assert [entry["summary"]["status"] for entry in by_rest] == ["Error", "Ok"]
    assert by_rest[0]["last_pub_id"] == node["liveSpec"]["lastPubId"]
    assert client.send("GET", "/api/v1/catalog/status?name=eveCo/x").json["missing_capabilities"] == ["CatalogRead"]


def test_what_has_not_changed_is_pruned(estuary, client):  # noqa: F811
    specs = pipeline(client)
    publish(client, specs, dry_run=False)
    draft = client.add("drafts", {"detail": "again"})[0]["id"]
    changed = {**specs[MATERIALIZATION][1], "onIncompatibleSchemaChange": "abort"}
    for name, (kind, spec) in {**specs, MATERIALIZATION: ("materialization", changed)}.items():
        client.add("draft_specs", {"draft_id": draft, "catalog_name": name, "spec_type": kind, "spec": spec})
    pruned = client.pg("POST", "rpc/prune_unchanged_draft_specs", {"prune_draft_id": draft}).json
    assert {row["catalog_name"] for row in pruned} == {CAPTURE, ORDERS}
    assert estuary.contents()["drafted"] == [MATERIALIZATION]


def test_a_draft_that_is_behind_or_empty(estuary, client):  # noqa: F811
    assert publish(client, {})[0] == {"type": "emptyDraft"}
    assert publish(client, {ORDERS: pipeline(client)[ORDERS]})[:2] == ({"type": "emptyDraft"}, [])
    estuary.put_live(ORDERS, "collection", pipeline(client)[ORDERS][1])
    status, errors, _ = publish(client, pipeline(client))
    assert status["type"] == "expectPubIdMismatch"
    assert status["failures"][0]["catalog_name"] == ORDERS and status["failures"][0]["expected"] == "0" * 16
    assert "expected publication ID" in errors[0][1]


def test_jobs_take_their_time_and_can_be_scripted(estuary, client):  # noqa: F811
    draft = client.draft(pipeline(client))
    job = client.add("publications", {"draft_id": draft, "dry_run": True})[0]
    assert job["job_status"] == {"type": "queued"} == client.rows("publications")[0]["job_status"]
    estuary.advance(1)
    assert client.rows("publications")[0]["job_status"] == {"type": "queued"}
    estuary.advance(1)
    assert client.rows("publications")[0]["job_status"] == {"type": "success"}
    scope = f"flow://capture/{CAPTURE}#/endpoint"
    estuary.world.next_publications += [
        {"stay": True}, {"fail": "buildIdLockFailure", "status": {"failures": []}},
        {"fail": "buildFailed", "errors": [{"scope": scope, "detail": "first line\nsecond line"}]}]
    assert client.run("publications", {"draft_id": draft, "dry_run": True})["job_status"]["type"] == "queued"
    locked = client.run("publications", {"draft_id": draft, "dry_run": True})["job_status"]
    assert locked == {"type": "buildIdLockFailure", "failures": []}
    assert client.run("publications", {"draft_id": draft, "dry_run": True})["job_status"]["type"] == "buildFailed"
    assert client.errors(draft) == [(scope, "first line\nsecond line")]


def test_logs_are_coloured_and_come_in_pieces(estuary, client):  # noqa: F811
    estuary.settings.update({"life": {"logs": 3}})
    draft = client.draft(pipeline(client))
    job = client.run("publications", {"draft_id": draft, "dry_run": True})
    ask = {"bearer_token": job["logs_token"]}
    first = client.pg("POST", "rpc/view_logs", ask).json
    assert len(first) == 1 and set(first[0]) == {"token", "stream", "logged_at", "log_line"}
    assert "\x1b[1m" in first[0]["log_line"]
    assert client.pg("POST", "rpc/view_logs", ask, Range="1-").json == []
    estuary.advance(3)
    late = client.pg("POST", "rpc/view_logs", ask, Range="1-").json
    assert "publication ended: success" in late[-1]["log_line"]


def test_a_deleted_draft_takes_its_discovers_along(estuary, client):  # noqa: F811
    draft = client.draft()
    client.add("discovers", {"capture_name": CAPTURE, "connector_tag_id": tag_of(client), "draft_id": draft,
                             "endpoint_config": client.seal("capture", postgres_config())})
    client.pg("DELETE", f"drafts?id=eq.{draft}")
    estuary.advance(5)
    assert client.rows("discovers") == [] and estuary.contents()["drafted"] == []


# Builds that fail. Each changes a pipeline that is right; the error must name the place and the reason.


def connector(specs, name):
    return specs[name][1]["endpoint"]["connector"]


def hand_written(specs, **changes):
    specs[ORDERS][1].update(changes)


def bound_twice(specs):
    specs[CAPTURE][1]["bindings"].append(copy.deepcopy(specs[CAPTURE][1]["bindings"][0]))


def prefixed(specs):
    specs["acmeCo/shop"] = specs.pop(CAPTURE)
    specs[MATERIALIZATION][1].pop("source")


def edit(path, value):
    """A change of one place in the specs."""
    def change(specs):
        node = specs[path[0]][1]
        for part in path[1:-1]:
            node = node[part]
        node[path[-1]] = value
    return change


def without(*path):
    def change(specs):
        node = specs[path[0]][1]
        for part in path[1:-1]:
            node = node[part]
        del node[path[-1]]
    return change


BINDING = (MATERIALIZATION, "bindings", 0)
FAULTS = [
    (lambda s: s.pop(ORDERS), CAPTURE, "#/bindings/0/target", f"collection {ORDERS}, referenced by .* is not defined"),
    (edit((CAPTURE, "endpoint", "connector", "image"), "ghcr.io/acme/other:v1"), CAPTURE, "image", "Forbidden connector"),
    (edit((CAPTURE, "endpoint", "connector", "image"), "ghcr.io/estuary/source-postgres:v8"), CAPTURE, "image",
     "no connector tag found for image"),
    (edit((CAPTURE, "endpoint", "connector", "image"), BAUPLAN_IMAGE), CAPTURE, "image", "not a capture connector"),
    (edit((CAPTURE, "endpoint", "connector", "config"), "x.yaml"), CAPTURE, "config", "expected a JSON object"),
    (edit((CAPTURE, "endpoint", "connector", "config", "user"), "other"), CAPTURE, "config", "MAC mismatch"),
    (edit((CAPTURE, "interfal"), "5m"), CAPTURE, "#/interfal|$", "unknown field `interfal`, expected one of `endpoint`"),
    (edit((CAPTURE, "interval"), "5 minutes"), CAPTURE, "#/interval", "invalid duration"),
    (without(CAPTURE, "bindings"), CAPTURE, "", "missing field `bindings`"),
    (bound_twice, CAPTURE, "#/bindings/1", "each binding must have a unique endpoint resource"),
    (edit((CAPTURE, "bindings", 0, "resource", "mode"), "Fast"), CAPTURE, "#/bindings/0/resource", "failed schema valid"),
    (prefixed, "acmeCo/shop", "", "capture acmeCo/shop is a prohibited prefix of"),
    (edit((ORDERS, "key"), []), ORDERS, "#/key", "key cannot be empty"),
    (edit((ORDERS, "key"), ["id"]), ORDERS, "#/key/0", "missing leading '/' slash"),
    (edit((ORDERS, "key"), ["/nowhere"]), ORDERS, "#/key/0", "location /nowhere is unknown"),
    (edit((ORDERS, "schema", "properties", "id", "type"), "number"), ORDERS, "#/key/0", "may only be null-able integers"),
    (edit((ORDERS, "schema", "properties", "id", "reduce"), {"strategy": "sum"}), ORDERS, "#/key/0", "reduction strategy"),
    (edit((ORDERS, "schema", "type"), ["object", "null"]), ORDERS, "#/schema", "must have type 'object'"),
    (edit((ORDERS, "readSchema"), {}), ORDERS, "", "must define either `schema` or both"),
    (without(*BINDING, "fields", "recommended"), MATERIALIZATION, "#/bindings/0/fields", "missing field `recommended`"),
    (edit((*BINDING, "fields", "require"), {"nope": {}}), MATERIALIZATION, "fields/require/nope", "does not exist"),
    (edit((*BINDING, "resource", "tabel"), "x"), MATERIALIZATION, "", "$^"),
    (without(*BINDING, "resource", "table"), MATERIALIZATION, "#/bindings/0/resource", "failed schema validation"),
    (edit((MATERIALIZATION, "source", "deltaUpdates"), True), MATERIALIZATION, "#/source", "does not support it"),
    (edit((MATERIALIZATION, "source", "capture"), "acmeCo/shop/other"), MATERIALIZATION, "#/source", "is not defined"),
    (edit((MATERIALIZATION, "targetNaming", "strategy"), "noSchema"), MATERIALIZATION, "#/targetNaming", "unknown variant"),
    (without(MATERIALIZATION, "targetNaming", "schema"), MATERIALIZATION, "#/targetNaming", "missing field `schema`"),
    (edit((*BINDING, "source"), "eveCo/x/y"), "eveCo/x/y", "", "not authorized to read this catalog name"),
]


@pytest.mark.parametrize("change, name, pointer, said", FAULTS, ids=[fault[3][:36] for fault in FAULTS])
def test_a_build_names_place_and_reason(client, change, name, pointer, said):
    specs = pipeline(client)
    change(specs)
    status, errors, _ = publish(client, specs)
    if said == "$^":      # the schema of a resource does not close it: nothing is said
        assert (status["type"], errors) == ("success", [])
        return
    assert status["type"] == "buildFailed"
    found = [(scope, detail) for scope, detail in errors if re.search(said, detail)]
    assert found, errors
    assert re.fullmatch(rf"flow://[a-z]+/{re.escape(name)}(#.*)?", found[0][0]) and re.search(pointer, found[0][0])


@pytest.mark.parametrize("change, said", [
    ({"credentials": {"oauth2_server_uri": "v1/oauth/tokens", "credential": "a:b"}}, "unexpected auth_type: "),
    ({"bucketpath": "x"}, 'json: unknown field "bucketpath"'),
    ({"glue_optimizers": {"enable_retention": True}}, "Glue table optimizers"),
    ({"syncSchedule": {"fastSyncStartTime": "08:00"}}, "must provide 'timezone'"),
    ({"namespace": ""}, "missing 'namespace'"),
])
def test_connectors_say_more_than_their_schemas(client, change, said):
    specs = pipeline(client)
    connector(specs, MATERIALIZATION)["config"] = client.seal("materialization", iceberg_config(**change))
    status, errors, _ = publish(client, specs)
    assert status["type"] == "buildFailed" and said in errors[0][1], errors


def test_a_secret_in_clear_builds_and_fails_the_test(estuary, client):  # noqa: F811
    specs = pipeline(client)
    connector(specs, CAPTURE)["config"] = postgres_config()
    assert publish(client, specs)[0]["type"] == "success"
    assert estuary.findings()["clear"] == [f"draft_specs.insert: {CAPTURE}: /credentials/password in clear"]
    estuary.settings.allow_clear = True


def test_rights_mappings_and_planes(estuary, client):  # noqa: F811
    estuary.grant("acmeCo/", "write")
    estuary.grant("ops/dp/public/", "read")
    status, errors, _ = publish(client, pipeline(client))
    assert {detail for _, detail in errors} == {"User is not authorized to create or change this catalog name"}
    estuary.grant("acmeCo/", "admin")
    estuary.grant_role("acmeCo/", "acmeCo/", "none")
    details = [detail for _, detail in publish(client, pipeline(client))[1]]
    assert any(d.startswith(f"Specification '{CAPTURE}' is not write-authorized to '{ORDERS}'.\nAvail") for d in details)
    estuary.grant_role("acmeCo/", "acmeCo/", "write")
    estuary.put_mapping("acmeCo/shop/", [PRIVATE])
    details = [detail for _, detail in publish(client, pipeline(client))[1]]
    assert re.fullmatch(f"data plane {PRIVATE}, referenced by storage mapping acmeCo/shop/, was not found; did you mean "
                        "data plane ops/dp/public/[a-z0-9-]+[?]", details[0])
    details = [detail for _, detail in publish(client, pipeline(client), data_plane_name=PLANE)[1]]
    assert "is not one of those that storage mapping acmeCo/shop/ allows" in details[0]
    estuary.put_mapping("acmeCo/shop/", None)
    estuary.put_mapping("acmeCo/", None)
    details = [detail for _, detail in publish(client, pipeline(client))[1]]
    assert f"could not map collection {ORDERS} into a storage mapping" in details


def test_keys_counters_and_deletions(estuary, client):  # noqa: F811
    specs = pipeline(client)
    specs[CAPTURE][1]["bindings"][0]["backfill"] = 2
    publish(client, specs, dry_run=False)
    changed = copy.deepcopy(specs)
    changed[ORDERS][1].update(key=["/note"])
    changed[ORDERS][1]["schema"]["required"] = ["note"]
    changed[CAPTURE][1]["bindings"][0]["backfill"] = 1
    draft = client.add("drafts", {"detail": "again"})[0]["id"]
    for name in (CAPTURE, ORDERS):
        client.add("draft_specs", {"draft_id": draft, "catalog_name": name, "spec_type": changed[name][0],
                                   "spec": changed[name][1]})
    job = client.run("publications", {"draft_id": draft, "dry_run": True})["job_status"]
    assert job["incompatible_collections"][0]["affected_materializations"][0]["name"] == MATERIALIZATION
    assert any("counters may only increase" in detail for _, detail in client.errors(draft))
    draft = client.add("drafts", {"detail": "delete"})[0]["id"]
    client.add("draft_specs", {"draft_id": draft, "catalog_name": ORDERS, "spec_type": None, "spec": None})
    assert client.run("publications", {"draft_id": draft, "dry_run": False})["job_status"]["type"] == "buildFailed"
    assert (f"flow://collection/{ORDERS}", f"deleted collection {ORDERS} is still referenced by capture {CAPTURE}") in (
        client.errors(draft))
    for name in (CAPTURE, MATERIALIZATION):
        client.add("draft_specs", {"draft_id": draft, "catalog_name": name, "spec_type": None, "spec": None})
    assert client.run("publications", {"draft_id": draft, "dry_run": False})["job_status"]["type"] == "success"
    assert estuary.contents()["live"] == []


# Discovers.


def test_a_discover_writes_a_capture_that_can_be_published(estuary, client):  # noqa: F811
    draft = client.draft()
    sealed = client.seal("capture", postgres_config())
    status, errors, specs = discover(client, sealed, draft)
    assert (status, errors) == ({"type": "success"}, [])
    capture = specs[CAPTURE]
    assert list(capture["endpoint"]["connector"]["config"]) == list(sealed)
    assert capture["bindings"][1] == {"resource": {"namespace": "public", "stream": "Order Items"},
                                      "target": "acmeCo/shop/public/order_items"}
    assert capture["bindings"][2]["resource"]["mode"] == "Without Primary Key"
    assert specs["acmeCo/shop/public/clicks"]["key"][0] == "/_meta/source/loc/0"
    assert specs[ORDERS]["readSchema"] == {"allOf": [{"$ref": "flow://write-schema"}, {"$ref": "flow://inferred-schema"}]}
    assert client.run("publications", {"draft_id": draft, "dry_run": True})["job_status"]["type"] == "success"
    assert client.errors(draft) == []


def test_a_discover_merges_with_what_is_staged(estuary, client):  # noqa: F811
    specs = pipeline(client)
    specs[CAPTURE][1].update(autoDiscover={"addNewBindings": False, "evolveIncompatibleCollections": True})
    specs[CAPTURE][1]["bindings"][0]["target"] = "acmeCo/shop/elsewhere/orders"
    draft = client.draft({CAPTURE: specs[CAPTURE]})
    config = specs[CAPTURE][1]["endpoint"]["connector"]["config"]
    _, _, found = discover(client, config, draft, update_only=True)
    assert set(found) == {CAPTURE, "acmeCo/shop/elsewhere/orders"}
    assert [binding.get("disable") for binding in found[CAPTURE]["bindings"]] == [None, True, True]


def test_discovers_that_fail(estuary, client):  # noqa: F811
    config = client.seal("capture", postgres_config())
    assert discover(client, config, name="eveCo/x/source")[0] == {"type": "notAuthorized"}
    assert discover(client, config, image=BAUPLAN_IMAGE)[0] == {"type": "wrongProtocol"}
    assert discover(client, config, data_plane_name=PRIVATE)[:2] == ({"type": "noDataPlane"}, [])
    status, errors, _ = discover(client, client.seal("capture", postgres_config(address="x.pooler.supabase.com")))
    assert status == {"type": "discoverFailed"} and "Supabase connection pooler" in errors[0][1]
    estuary.settings.update({"reach_postgres": True, "connect_timeout": 1})
    away = client.seal("capture", postgres_config(address="127.0.0.1:9"))
    status, errors, _ = discover(client, away)
    assert status == {"type": "discoverFailed"} and "failed to connect to `user=flow_capture" in errors[0][1]
    wrong_tag = client.pg("POST", "discovers", {"capture_name": CAPTURE, "connector_tag_id": "0" * 16,
                                                "draft_id": client.draft(), "endpoint_config": {}})
    assert (wrong_tag.status, wrong_tag.json["code"]) == (409, "23503")


def test_discovery_and_validation_of_a_real_database(estuary, client, shop):  # noqa: F811
    estuary.settings.reach_postgres = True
    estuary.world.ca_file = shop.server.ca_file
    password = "pass-of-the-capture-user"
    with shop.connect() as admin:
        admin.execute(f"CREATE USER flow_capture PASSWORD '{password}'")
        admin.execute(f"CREATE PUBLICATION flow_publication FOR TABLE {', '.join(TABLES)} "
                      "WITH (publish_via_partition_root)")
    config = client.seal("capture", postgres_config(
        password, address=f"{shop.server.host}:{shop.server.port}", database=shop.database,
        advanced={"slotName": "flow_slot", "publicationName": "flow_publication", "sslmode": "verify-full"}))
    draft = client.draft()
    status, errors, specs = discover(client, config, draft)
    assert (status["type"], errors) == ("success", [])
    assert len(specs[CAPTURE]["bindings"]) == len(TABLES)
    assert "acmeCo/shop/audit/orders" in specs and "email_domain" not in str(specs["acmeCo/shop/public/customers"])
    assert all(specs[binding["target"]]["key"] for binding in specs[CAPTURE]["bindings"])

    job = client.run("publications", {"draft_id": draft, "dry_run": True})["job_status"]
    text = client.errors(draft)[0][1]
    assert job["type"] == "buildFailed" and text.startswith("the capture cannot run due to the following error(s):\n - ")
    assert 'user "flow_capture" must have the REPLICATION role' in text
    assert 'cannot write to the watermarks table "public.flow_watermarks"' in text
    assert 'user "flow_capture" cannot read from table "audit.orders"' in text

    with shop.connect() as admin:
        admin.execute("ALTER USER flow_capture REPLICATION; GRANT USAGE ON SCHEMA audit TO flow_capture;"
                      "CREATE TABLE flow_watermarks (slot text PRIMARY KEY, watermark text);"
                      "GRANT ALL ON flow_watermarks TO flow_capture;"
                      "ALTER PUBLICATION flow_publication ADD TABLE flow_watermarks")
    job = client.run("publications", {"draft_id": draft, "dry_run": True})["job_status"]
    assert (job["type"], client.errors(draft)) == ("success", [])


def test_validation_asks_catalog_and_aws(estuary, client, catalog, aws, tmp_path):  # noqa: F811
    aws.make_bucket("acme-lake")
    application = aws.client("emr-serverless").create_application(
        name="job", releaseLabel="emr-7.12.0", type="SPARK", architecture="X86_64")["applicationId"]
    key, secret = make_user(aws, allow(["emr-serverless:ListJobRuns", "ssm:PutParameter", "s3:PutObject", "s3:ListBucket"]))
    bundle = tmp_path / "ca.pem"
    bundle.write_text(catalog.ca_file.read_text() + aws.ca_file.read_text())
    estuary.settings.update({"reach_catalog": True, "aws_url": aws.url, "connector_ca": str(bundle)})
    specs, config = pipeline(client), iceberg_config(url=catalog.url + "/" + catalog.branch, warehouse=catalog.warehouse)

    def errors(client_secret, application_id):
        config["credentials"]["credential"] = f"{catalog.client_id}:{client_secret}"
        config["compute"].update(application_id=application_id)
        config["compute"]["credentials"].update(aws_access_key_id=key, aws_secret_access_key=secret)
        connector(specs, MATERIALIZATION)["config"] = client.seal("materialization", config)
        return "".join(detail for _, detail in publish(client, specs)[1])

    assert 'creating catalog: failed to get /config: Get "' in errors("wrong", application)
    said = errors(catalog.client_secret, application)
    assert said.startswith("the connector cannot run due to the following error(s):\n - ")
    assert "failed to get secure string parameter from /estuary/shop/test: " in said and "AccessDenied" in said
    assert 'unable to read from "s3://acme-lake/estuary-staging": unauthorized' in said
    assert "unable to list" not in said and "failed to put" not in said
    key, secret = aws.admin_key, aws.admin_secret
    assert 'failed to list job runs for application "00abcdefghijkl01"' in errors(catalog.client_secret, "00abcdefghijkl01")
    assert errors(catalog.client_secret, application) == ""
