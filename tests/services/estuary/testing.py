"""What tests about the control plane write again and again: the fixture, a strict little client, specs that are right.

from tests.services.estuary.testing import estuary  # noqa: F401
"""

from __future__ import annotations

import base64
import copy
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from .standin import EstuaryStandIn

Json = Any
CAPTURE, MATERIALIZATION = "acmeCo/shop/source-postgres", "acmeCo/shop/materialize-bauplan"
ORDERS = "acmeCo/shop/public/orders"
POSTGRES_IMAGE, BAUPLAN_IMAGE = "ghcr.io/estuary/source-postgres:v3", "ghcr.io/estuary/materialize-bauplan:v1"
PLANE = "ops/dp/public/aws-us-east-1-c2"
NEW = "00:00:00:00:00:00:00:00"


@pytest.fixture
def estuary() -> Iterator[EstuaryStandIn]:
    """The stand-in of this test process, as new for each test: .environment() and .pasted for a client, .faults.add(…),
    .advance(…), .settings, .log, .grant(…), .put_live(…), .contents(), .open(sealed). Connectors ask nobody unless a
    test says so. A fault that no request met, a request that the stand-in does not know, and a secret in clear fail
    the test."""
    running = EstuaryStandIn.shared()
    running.reset()
    yield running
    running.check()


@dataclass
class Elsewhere:
    """What Client needs of a stand-in in another process: the environment of its clients, its CA, its control endpoint."""

    environment: dict[str, str]
    ca_file: Any
    control_url: str

    @property
    def url(self) -> str:
        """The origin of all services."""
        return self.environment["SLUICE_ESTUARY_API_URL"]

    @property
    def anon_key(self) -> str:
        """The key of PostgREST."""
        return self.environment["SLUICE_ESTUARY_ANON_KEY"]

    def control(self, path: str, body: Json) -> Json:
        """One request to the control endpoint: see control.py."""
        request = urllib.request.Request(self.control_url + path, json.dumps(body).encode())
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
            return json.loads(answer.read())

    def advance(self, seconds: float) -> None:
        """Let time pass; what becomes due is done when this returns."""
        self.control("/clock", {"advance": seconds})

    def login(self, pasted: str) -> "Client":
        """Requests as the owner of a pasted refresh token."""
        token = json.loads(base64.b64decode(pasted))
        ask = {"grant_type": "refresh_token", "refresh_token_id": token["id"], "secret": token["secret"]}
        reply = Client(self).send("POST", "/api/v1/auth/token", ask)
        assert reply.status == 200, reply.text
        return Client(self, reply.json["access_token"])


@dataclass
class Reply:
    """An answer."""

    status: int
    headers: Any
    body: bytes

    @property
    def json(self) -> Json:
        """The body, parsed."""
        return json.loads(self.body)

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass
class Client:
    """Requests as the documentation writes them. token: an access token or a pasted refresh token; "" is nobody."""

    estuary: EstuaryStandIn | Elsewhere
    token: str = ""
    opener: urllib.request.OpenerDirector = field(init=False)

    def __post_init__(self) -> None:
        context = ssl.create_default_context(cafile=str(self.estuary.ca_file))
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context), _Stay())

    def send(self, method: str, path: str, body: Json = None, **headers: str) -> Reply:
        """One request; header names with underscores for hyphens."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if data is not None:
            named.setdefault("Content-Type", "application/json")
        if self.token:
            named.setdefault("Authorization", f"Bearer {self.token}")
        request = urllib.request.Request(self.estuary.url + path, data, named, method=method)
        try:
            with self.opener.open(request, timeout=30) as answer:
                return Reply(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as refused:
            return Reply(refused.code, refused.headers, refused.read())

    def pg(self, method: str, path: str, body: Json = None, **headers: str) -> Reply:
        """One request to PostgREST."""
        return self.send(method, "/rest/v1/" + path, body, apikey=self.estuary.anon_key, **headers)

    def add(self, table: str, body: Json, query: str = "") -> Json:
        """Insert, and get the rows back."""
        reply = self.pg("POST", f"{table}?{query}" if query else table, body, Prefer="return=representation")
        assert reply.status == 201, reply.text
        return reply.json

    def rows(self, path: str) -> Json:
        """Select."""
        reply = self.pg("GET", path)
        assert reply.status == 200, reply.text
        return reply.json

    def ask(self, query: str, **variables: Json) -> Json:
        """GraphQL: the data; errors fail."""
        answer = self.graphql(query, **variables).json
        assert not answer.get("errors"), answer
        return answer["data"]

    def graphql(self, query: str, **variables: Json) -> Reply:
        """GraphQL: the answer as it is."""
        return self.send("POST", "/api/graphql", {"query": query, "variables": variables})

    def draft(self, specs: dict[str, tuple[str, Json]] | None = None) -> str:
        """A draft with these specs: name -> (type, spec)."""
        draft = str(self.add("drafts", {"detail": "test"}, "select=id,created_at")[0]["id"])
        if specs:
            self.add("draft_specs", [{"draft_id": draft, "catalog_name": name, "spec_type": kind, "spec": spec,
                                      "expect_pub_id": NEW} for name, (kind, spec) in specs.items()])
        return draft

    def run(self, table: str, body: Json) -> Json:
        """Queue a discover or a publication, let time pass, and give its row."""
        job = self.add(table, body, "select=id,logs_token")[0]
        self.estuary.advance(5)
        return self.rows(f"{table}?select=job_status,logs_token&id=eq.{urllib.parse.quote(job['id'])}")[0]

    def errors(self, draft: str) -> list[tuple[str, str]]:
        """The errors of a draft."""
        found = self.rows(f"draft_errors?select=scope,detail&draft_id=eq.{draft}")
        return [(row["scope"], row["detail"]) for row in found]

    def seal(self, kind: str, config: Json) -> Json:
        """A config sealed by the schema of its connector: "capture" or "materialization"."""
        image = POSTGRES_IMAGE if kind == "capture" else BAUPLAN_IMAGE
        schema = self.ask("query($i: String!) { connectorSpec(fullImageName: $i) { endpointSpecSchema } }", i=image)
        asked = {"schema": schema["connectorSpec"]["endpointSpecSchema"], "config": config}
        reply = Client(self.estuary).send("POST", "/v1/encrypt-config", asked)
        assert reply.status == 200, reply.text
        return reply.json


def postgres_config(password: str = "pa55-word-of-capture", **more: Json) -> Json:
    """A config that source-postgres takes."""
    return {"address": "db.example.com:5432", "user": "flow_capture", "database": "shop", "historyMode": False,
            "credentials": {"auth_type": "UserPassword", "password": password},
            "advanced": {"slotName": "flow_slot", "publicationName": "flow_publication"}, **more}


def iceberg_config(**more: Json) -> Json:
    """A config that materialize-bauplan takes."""
    return {"url": "https://catalog.example.com/iceberg", "warehouse": "default", "namespace": "shop",
            "hard_delete": True,
            "credentials": {"auth_type": "OAuth 2.0 Client Credentials", "oauth2_server_uri": "v1/oauth/tokens",
                            "credential": "client-id:client-s3cret+value"},
            "compute": {"compute_type": "AWS EMR Serverless", "region": "us-east-1", "application_id": "00abcdefghijkl01",
                        "execution_role_arn": "arn:aws:iam::123456789012:role/job", "bucket": "acme-lake",
                        "bucket_path": "estuary-staging", "systems_manager_prefix": "/estuary/shop/",
                        "credentials": {"auth_type": "AWSAccessKey", "aws_access_key_id": "AKIAEXAMPLE",
                                        "aws_secret_access_key": "aws-secret-value-1234"}}, **more}


_COLLECTION = {"schema": {"type": "object", "properties": {"id": {"type": "integer"}, "note": {"type": "string"}},
                          "required": ["id"]}, "key": ["/id"]}


def pipeline(client: Client) -> dict[str, tuple[str, Json]]:
    """A capture, its collection and a materialization that pass a build, with sealed configs."""
    def endpoint(image: str, config: Json) -> Json:
        return {"connector": {"image": image, "config": config}}

    capture = {"endpoint": endpoint(POSTGRES_IMAGE, client.seal("capture", postgres_config())), "bindings": [
        {"resource": {"namespace": "public", "stream": "orders"}, "target": ORDERS}]}
    materialization = {
        "source": {"capture": CAPTURE, "fieldsRecommended": 1},
        "targetNaming": {"strategy": "singleSchema", "schema": "shop"},
        "endpoint": endpoint(BAUPLAN_IMAGE, client.seal("materialization", iceberg_config())),
        "bindings": [{"resource": {"namespace": "shop", "table": "orders"}, "source": ORDERS,
                      "fields": {"recommended": 1}}]}
    return {CAPTURE: ("capture", capture), ORDERS: ("collection", copy.deepcopy(_COLLECTION)),
            MATERIALIZATION: ("materialization", materialization)}
