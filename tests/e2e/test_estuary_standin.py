"""The stand-in for Estuary's control plane: who may ask, GraphQL, PostgREST, faults and limits, life as a process."""

import base64
import json
import os
import signal
import threading
import time
from urllib.parse import quote

import pytest

from tests.services.estuary import connector_schemas
from tests.services.estuary.server import EstuaryServer
from tests.services.estuary.testing import (
    BAUPLAN_IMAGE,
    ORDERS,
    PLANE,
    POSTGRES_IMAGE,
    Client,
    Elsewhere,
    estuary,  # noqa: F811,F401
)
from tests.services.estuary.tokens import PROJECT_HOST, PROJECT_KEY


@pytest.fixture
def client(estuary):  # noqa: F811
    """Requests as the tenant's user."""
    return Client(estuary, estuary.access_token())


def credentials(pasted):
    """What is in a pasted refresh token."""
    return json.loads(base64.b64decode(pasted))


# Tokens.


def test_a_refresh_token_is_exchanged_in_both_ways(estuary):  # noqa: F811
    token = credentials(estuary.pasted)
    nobody = Client(estuary)
    by_pg = nobody.pg("POST", "rpc/generate_access_token", {"refresh_token_id": token["id"], "secret": token["secret"]})
    by_api = nobody.send("POST", "/api/v1/auth/token", {"grant_type": "refresh_token", "refresh_token_id": token["id"],
                                                        "secret": token["secret"]})
    for reply in (by_pg, by_api):
        assert reply.status == 200 and list(reply.json) == ["access_token"]
        claims = json.loads(base64.urlsafe_b64decode(reply.json["access_token"].split(".")[1] + "=="))
        assert claims["role"] == claims["aud"] == "authenticated" and claims["email"] == "alice@acme.example"
        assert 3500 < claims["exp"] - time.time() <= 3600
    wrong = {"refresh_token_id": token["id"], "secret": token["id"]}
    refused = nobody.send("POST", "/api/v1/auth/token", {"grant_type": "refresh_token", **wrong})
    assert (refused.status, refused.text) == (401, "invalid, expired, or unknown credential")
    refused = nobody.pg("POST", "rpc/generate_access_token", wrong)
    assert (refused.status, refused.json["code"]) == (400, "P0001")
    assert nobody.send("POST", "/api/v1/auth/token", {"grant_type": "password"}).status == 400


def test_a_token_for_one_use_is_replaced(estuary):  # noqa: F811
    first = credentials(estuary.token(multi_use=False))
    ask = {"grant_type": "refresh_token", "refresh_token_id": first["id"], "secret": first["secret"]}
    reply = Client(estuary).send("POST", "/api/v1/auth/token", ask)
    second = reply.json["refresh_token"]
    assert second["secret"] != first["secret"]
    assert Client(estuary).send("POST", "/api/v1/auth/token", ask).status == 401
    again = {"grant_type": "refresh_token", "refresh_token_id": second["id"], "secret": second["secret"]}
    assert Client(estuary).send("POST", "/api/v1/auth/token", again).status == 200


def test_a_pasted_token_is_a_bearer_of_the_api_only(estuary):  # noqa: F811
    client = Client(estuary, estuary.pasted)
    assert client.ask("{prefixes(by:{minCapability:admin}){edges{node{prefix}}}}")["prefixes"]["edges"]
    refused = client.pg("GET", "drafts")
    assert (refused.status, refused.json["code"]) == (401, "PGRST301")


def test_tokens_end(estuary):  # noqa: F811
    client = Client(estuary, estuary.access_token())
    pasted = estuary.token(valid_for="1d")
    estuary.advance(3601)
    assert client.pg("GET", "drafts").json["message"] == "JWT expired"
    refused = client.graphql("{publicDataPlanes{edges{node{name}}}}")
    assert (refused.status, refused.headers["Content-Type"].split(";")[0]) == (401, "text/plain")
    estuary.advance(86400)
    assert Client(estuary, pasted).graphql("{connectors{edges{cursor}}}").status == 401


def test_the_key_of_the_project(estuary):  # noqa: F811
    nobody = Client(estuary)
    assert nobody.send("GET", "/rest/v1/drafts").json["message"] == "No API key found in request"
    assert nobody.send("GET", "/rest/v1/drafts", apikey="x.y.z").json["message"] == "Invalid API key"
    refused = nobody.pg("GET", "drafts")
    assert (refused.status, refused.json["code"]) == (401, "42501")
    forged = Client(estuary, estuary.access_token()[:-4] + "AAAA").pg("GET", "drafts")
    assert (forged.status, forged.json["message"]) == (401, "JWSError JWSInvalidSignature")


# GraphQL.


def test_what_is_asked_before_authoring(client):
    data = client.ask("""query($image: String!, $prefix: String!) {
        prefixes(by: {minCapability: write}, first: 10) { edges { node { prefix userCapability } } pageInfo { endCursor } }
        connectorSpec(fullImageName: $image) { imageTag endpointSpecSchema resourceSpecSchema documentationUrl protocol
            defaultCaptureInterval id }
        connector(imageName: "ghcr.io/estuary/source-postgres") { id defaultImageTag defaultSpec { imageTag } }
        connectors(filter: {protocol: {eq: capture}}, first: 500) { edges { node { imageName } } }
        dataPlanes(first: 100) { edges { node { name fqdn cloudProvider region isPublic closed cidrBlocks awsIamUserArn
            gcpServiceAccountEmail azureApplicationClientId } } }
        storageMappings(filter: {catalogPrefix: {startsWith: $prefix}}) { edges { node { catalogPrefix spec } } }
        liveSpecs(by: {names: ["acmeCo/nothing"]}) { edges { node { catalogName liveSpec { catalogType lastPubId model }
            status { type summary } } } } }""", image=POSTGRES_IMAGE, prefix="acmeCo/")
    assert [edge["node"] for edge in data["prefixes"]["edges"]] == [
        {"prefix": "acmeCo/", "userCapability": "admin"}, {"prefix": "betaCo/", "userCapability": "write"}]
    assert data["connectorSpec"]["imageTag"] == ":v3" and data["connectorSpec"]["protocol"] == "capture"
    assert data["connectorSpec"]["endpointSpecSchema"] == connector_schemas.of("source-postgres").endpoint
    assert data["connector"]["defaultImageTag"] == ":v3"
    assert len(data["connectors"]["edges"]) == 2
    planes = {edge["node"]["name"]: edge["node"] for edge in data["dataPlanes"]["edges"]}
    assert len(planes[PLANE]["cidrBlocks"]) == 6 and planes[PLANE]["cloudProvider"] == "AWS"
    assert [name for name, plane in planes.items() if plane["closed"]] == ["ops/dp/public/gcp-us-central1-c1"]
    mapping = data["storageMappings"]["edges"][0]["node"]
    assert mapping["catalogPrefix"] == "acmeCo/" and mapping["spec"]["data_planes"][0] == PLANE
    assert data["liveSpecs"]["edges"] == [{"node": {"catalogName": "acmeCo/nothing", "liveSpec": None, "status": None}}]


@pytest.mark.parametrize("query, said", [
    ("{dataPlanes{edges{node{nam}}}}", "Cannot query field 'nam'"),
    ("{prefixes(by:{minCapability:admin,x:1}){edges{cursor}}}", "unknown field 'x'"),
    ("{connectorSpec{imageTag}}", "(fullImageName:)' of type 'String!' is required"),
    ("{prefixes(by:{minCapability:owner}){edges{cursor}}}", "Value 'owner' does not exist"),
    ("{drafts{id}}", "Cannot query field 'drafts'"),
    ("{", "Syntax Error"),
    ("{liveSpecs(by:{}){edges{cursor}}}", "InvalidArgument"),
])
def test_graphql_refuses_what_it_does_not_know(client, query, said):
    reply = client.graphql(query)
    assert reply.status == 200 and said in reply.json["errors"][0]["message"]


def test_graphql_for_nobody(estuary):  # noqa: F811
    nobody = Client(estuary)
    assert len(nobody.ask("{publicDataPlanes{edges{node{name cloudProvider region}}}}")["publicDataPlanes"]["edges"]) == 3
    errors = nobody.graphql("{dataPlanes{edges{node{name}}}}").json["errors"]
    assert errors[0]["message"].startswith("Unauthenticated: ")


def test_graphql_pages(estuary, client):  # noqa: F811
    estuary.settings.page_size = 1
    seen, after = [], None
    for _ in range(9):
        page = client.ask("query($a: String){connectors(first:500, after:$a){edges{node{imageName}} "
                          "pageInfo{endCursor hasNextPage}}}", a=after)["connectors"]
        seen += [edge["node"]["imageName"] for edge in page["edges"]]
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            break
    assert len(seen) == 4 == len(set(seen))


def test_an_unknown_tag_falls_back_and_an_unknown_connector_is_none(estuary, client):  # noqa: F811
    query = "query($i: String!){connectorSpec(fullImageName:$i){imageTag}}"
    assert client.ask(query, i="ghcr.io/estuary/source-postgres:v9")["connectorSpec"] == {"imageTag": ":v3"}
    assert client.ask(query, i=BAUPLAN_IMAGE)["connectorSpec"] == {"imageTag": ":v1"}
    estuary.settings.knows_bauplan = False
    assert client.ask(query, i=BAUPLAN_IMAGE)["connectorSpec"] is None
    assert client.rows("connectors?select=id&image_name=eq.ghcr.io/estuary/materialize-bauplan") == []


# PostgREST.


def test_tables_that_are_read(client):
    found = client.rows("connectors?select=id,image_name&image_name=eq.ghcr.io/estuary/source-postgres")
    assert len(found) == 1 and found[0]["id"].count(":") == 7
    tags = client.rows("connector_tags?select=id,image_tag,endpoint_spec_schema,resource_spec_schema,documentation_url,"
                       f"protocol&connector_id=eq.{quote(found[0]['id'])}&image_tag=eq.:v3")
    assert tags[0]["protocol"] == "capture" and tags[0]["image_tag"] == ":v3"
    planes = client.rows("data_planes?select=data_plane_name,data_plane_fqdn,id,reactor_address,cidr_blocks,"
                         "gcp_service_account_email,aws_iam_user_arn&order=data_plane_name")
    assert [plane["data_plane_name"] for plane in planes] == sorted(plane["data_plane_name"] for plane in planes)
    assert all(not plane["data_plane_name"].startswith("ops/dp/private/") for plane in planes)
    assert {row["catalog_prefix"] for row in client.rows("storage_mappings?select=catalog_prefix,spec")} == {
        "acmeCo/", "betaCo/"}
    assert client.pg("POST", "rpc/auth_roles", {"min_capability": "admin"}).json == [
        {"role_prefix": "acmeCo/", "capability": "admin"}]


@pytest.mark.parametrize("method, path, body, status, code", [
    ("GET", "nothing", None, 404, "PGRST205"),
    ("GET", "drafts?select=idd", None, 400, "42703"),
    ("GET", "drafts?idd=eq.1", None, 400, "42703"),
    ("GET", "drafts?id=1", None, 400, "PGRST100"),
    ("GET", "drafts?id=eq.zz", None, 400, "22P02"),
    ("GET", "drafts?order=id.up", None, 400, "PGRST100"),
    ("POST", "drafts", {"detial": "x"}, 400, "PGRST204"),
    ("POST", "drafts", {"user_id": None}, 403, "42501"),
    ("POST", "drafts", b"{", 400, "PGRST102"),
    ("POST", "connectors", {}, 403, "42501"),
    ("POST", "draft_specs", {"draft_id": "0" * 16, "catalog_name": "acmeCo/x"}, 403, "42501"),
    ("POST", "draft_specs", {"draft_id": "0" * 16, "catalog_name": "acmeCo"}, 400, "23514"),
    ("POST", "draft_specs", {"draft_id": "0" * 16, "catalog_name": "acmeCo/a b"}, 400, "23514"),
    ("POST", "publications", {"dry_run": True}, 400, "23502"),
    ("DELETE", "drafts", None, 400, "21000"),
    ("PUT", "drafts", {}, 405, "PGRST117"),
    ("POST", "rpc/nothing", {}, 404, "PGRST202"),
    ("POST", "rpc/auth_roles", {"min": "admin"}, 404, "PGRST202"),
])
def test_postgrest_refuses(client, method, path, body, status, code):
    reply = client.pg(method, path, body)
    assert (reply.status, reply.json["code"]) == (status, code), reply.text
    assert set(reply.json) == {"code", "message", "details", "hint"}


def test_one_row_or_none(client):
    single = "application/vnd.pgrst.object+json"
    made = client.pg("POST", "drafts?select=id", {"detail": "x"}, Prefer="return=representation", Accept=single)
    assert made.status == 201 and set(made.json) == {"id"}
    none = client.pg("GET", "drafts?id=eq." + "0" * 16, Accept=single)
    assert (none.status, none.json["code"]) == (406, "PGRST116")
    assert client.pg("POST", "drafts", {"detail": "x"}).body == b""


def test_rows_are_staged_once_and_then_replaced(client):
    draft = client.draft()
    row = {"draft_id": draft, "catalog_name": ORDERS, "spec_type": "collection", "spec": {"key": ["/id"]}}
    client.add("draft_specs", [row])
    again = client.pg("POST", "draft_specs", [row])
    assert (again.status, again.json["code"]) == (409, "23505")
    merged = client.pg("POST", "draft_specs?on_conflict=draft_id,catalog_name", [{**row, "spec": {"key": ["/other"]}}],
                       Prefer="resolution=merge-duplicates,return=representation")
    assert merged.status == 200 and merged.json[0]["spec"] == {"key": ["/other"]}
    mixed = client.pg("POST", "draft_specs", [row, {**row, "detail": "x"}])
    assert mixed.json["message"] == "All object keys must match"
    assert client.rows(f"draft_specs_ext?select=catalog_name,spec&draft_id=in.({draft},{'0' * 16})") == [
        {"catalog_name": ORDERS, "spec": {"key": ["/other"]}}]


def test_nobody_sees_what_is_not_theirs(estuary, client):  # noqa: F811
    draft = client.draft({ORDERS: ("collection", {"key": ["/id"]})})
    estuary.put_live("acmeCo/x/y", "collection", {"key": ["/id"]})
    estuary.grant("acmeCo/", "read", "bob@acme.example")
    bob = Client(estuary, estuary.access_token("bob@acme.example"))
    assert bob.rows("drafts") == bob.rows("draft_specs") == bob.rows("draft_specs_ext") == []
    assert bob.pg("DELETE", f"drafts?id=eq.{draft}").status == 204
    assert bob.pg("POST", "publications", {"draft_id": draft, "dry_run": True}).json["code"] == "42501"
    assert [row["catalog_name"] for row in bob.rows("live_specs_ext?select=catalog_name")] == ["acmeCo/x/y"]
    eve = Client(estuary, estuary.access_token("eve@other.example"))
    assert eve.rows("live_specs_ext") == eve.rows("data_planes") == eve.rows("storage_mappings") == []
    assert client.rows("drafts?select=id") == [{"id": draft}]
    assert client.pg("DELETE", f"drafts?id=eq.{draft}").status == 204
    assert estuary.contents()["drafted"] == []


def test_long_answers_come_in_ranges(estuary, client):  # noqa: F811
    estuary.settings.max_rows = 3
    for number in range(5):
        client.add("drafts", {"detail": str(number)})
    first = client.pg("GET", "drafts?order=detail", Range="0-999")
    assert first.headers["Content-Range"] == "0-2/*" and len(first.json) == 3
    second = client.pg("GET", "drafts?order=detail", Range="3-")
    assert [row["detail"] for row in second.json] == ["3", "4"]
    assert client.pg("GET", "drafts", Range="9-").json == []
    counted = client.pg("GET", "drafts", Prefer="count=exact")
    assert (counted.status, counted.headers["Content-Range"]) == (206, "0-2/5")
    assert client.pg("GET", "drafts", Range="9-", Prefer="count=exact").status == 416


# Faults, limits, log.


def test_faults_speak_the_service_s_language(estuary, client):  # noqa: F811
    faults = estuary.faults
    faults.add("expired_token", service="pg", nth=2)
    assert client.pg("GET", "drafts").status == 200
    assert client.pg("GET", "drafts").json["message"] == "JWT expired"
    faults.add("redirect", service="graphql", operation="prefixes")
    moved = client.graphql("{prefixes(by:{minCapability:read}){edges{cursor}}}")
    assert (moved.status, moved.headers["Location"]) == (307, "/api/graphql")
    assert client.graphql("{prefixes(by:{minCapability:read}){edges{cursor}}}").status == 200
    faults.add("denied", service="graphql", reason="no such luck")
    assert client.graphql("{connectors{edges{cursor}}}").json["errors"][0]["message"] == "PermissionDenied: no such luck"
    faults.add("error", service="pg", operation="drafts.insert", code="57014", message="statement timeout", status=500)
    assert client.pg("POST", "drafts", {"detail": "x"}).json["message"] == "statement timeout"
    faults.add("throttle", service="encrypt", retry_after="7")
    assert client.send("POST", "/v1/encrypt-config", {}, Authorization="").headers["Retry-After"] == "7"
    faults.add("captive", service="auth")
    assert b"airport" in client.send("POST", "/api/v1/auth/token", {}).body
    faults.add("hostile", form="deep")
    assert client.pg("GET", "drafts").body.startswith(b'{"a":' * 100)
    faults.add("lost_reply", operation="drafts.insert")
    with pytest.raises(OSError):
        client.pg("POST", "drafts", {"detail": "arrived"})
    assert client.rows("drafts?select=detail") == [{"detail": "arrived"}]
    estuary.world.clear.clear()    # the throttled request carried an empty token


def test_a_held_request_holds_up_nobody(estuary, client):  # noqa: F811
    estuary.faults.add("hold", service="pg", operation="rpc.*", stage="before")
    held = threading.Thread(target=client.pg, args=("POST", "rpc/auth_roles", {"min_capability": "read"}))
    held.start()
    assert estuary.faults.held() == [{"action": "pg:rpc.auth_roles"}]
    assert client.rows("drafts") == []
    estuary.faults.release()
    held.join(5)
    assert not held.is_alive()


def test_a_caller_may_ask_only_so_often(estuary, client):  # noqa: F811
    estuary.settings.update({"rate_limit": 2})
    assert [client.pg("GET", "drafts").status for _ in range(3)] == [200, 200, 429]
    limited = client.graphql("{connectors{edges{cursor}}}")
    assert limited.status == 429 and int(limited.headers["Retry-After"]) > 5
    estuary.advance(10)
    assert client.pg("GET", "drafts").status == 200


def test_the_log_holds_no_secret(estuary, client):  # noqa: F811
    token = credentials(estuary.pasted)
    client.pg("POST", "rpc/generate_access_token", {"refresh_token_id": token["id"], "secret": token["secret"]})
    client.send("GET", f"/rest/v1/drafts?select=id&apikey={estuary.anon_key}")
    entries = estuary.log.entries()
    assert [entry["action"] for entry in entries] == ["pg:rpc.generate_access_token", "pg:drafts.select"]
    assert entries[1]["caller"] == "alice@acme.example" and entries[1]["target"].endswith("apikey=…")
    for secret in (token["secret"], estuary.pasted, client.token, estuary.anon_key):
        assert secret not in json.dumps(entries)


def test_real_names_serve_their_own_paths_only(estuary, client):  # noqa: F811
    query = {"query": "{publicDataPlanes{edges{node{name}}}}"}
    assert client.send("POST", "/api/graphql", query, Host="api.estuary.dev").status == 200
    assert client.send("POST", "/api/graphql", query, Host=f"{PROJECT_HOST}:443").status == 404
    assert client.send("GET", "/rest/v1/drafts", apikey=PROJECT_KEY, Host="api.estuary.dev").status == 404


def test_each_name_of_postgrest_has_its_own_key(estuary, client):  # noqa: F811
    def status(key: str, host: str, **headers: str) -> int:
        return client.send("GET", "/rest/v1/drafts", apikey=key, Host=host, **headers).status

    real, here = PROJECT_HOST, estuary.url.removeprefix("https://")
    assert [status(PROJECT_KEY, real), status(PROJECT_KEY, f"{real}:443"), status(estuary.anon_key, here)] == [200] * 3
    assert [status(estuary.anon_key, real), status(PROJECT_KEY, here)] == [401] * 2
    assert [status(PROJECT_KEY[:-1] + "p", real), status(client.token, real), status(client.token, here)] == [401] * 3
    assert status(PROJECT_KEY, "abcdefgh.supabase.co") == 404
    nobody = client.send("GET", "/rest/v1/drafts", apikey=PROJECT_KEY, Host=real, Authorization=f"Bearer {PROJECT_KEY}")
    assert nobody.status == 401 and nobody.json["code"] == "42501"


def test_what_is_not_there_fails_the_test(estuary, client):  # noqa: F811
    assert client.send("GET", "/api/v1/other").status == 404
    assert client.pg("GET", "drafts?select=id,draft_specs(spec)").status == 501
    with pytest.raises(AssertionError, match="embedding"):
        estuary.check()
    estuary.front.defects.clear()


# As a process.


def test_a_process_that_is_killed_goes_on_where_it_was(tmp_path):
    server = EstuaryServer(tmp_path / "estuary", settings={"reach_postgres": False})
    with server:
        url, environment, token = server.url, server.client_environment(), server.token_file.read_text().strip()
        assert environment["SLUICE_ESTUARY_PG_URL"] == url + "/rest/v1"
        assert server.token_file.stat().st_mode & 0o077 == 0 == server.age_key_file.stat().st_mode & 0o077
        draft = _elsewhere(server).login(token).draft()
        server.control("/grants", {"prefix": "newCo/", "capability": "admin"})
        os.kill(server.told["pid"], signal.SIGKILL)
    with server:
        assert (server.url, server.client_environment()) == (url, environment)
        assert server.control("/contents")["drafts"] == [draft.replace(":", "")]
        client = _elsewhere(server).login(token)
        roles = client.pg("POST", "rpc/auth_roles", {"min_capability": "admin"}).json
        assert {role["role_prefix"] for role in roles} == {"acmeCo/", "newCo/"}
        assert server.control("/check") == {"unmet": [], "defects": [], "clear": []}
        assert token not in (server.folder / "requests.jsonl").read_text()


def _elsewhere(server):
    return Elsewhere(server.client_environment(), server.ca_file, server.told["control_url"])
