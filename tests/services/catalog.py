"""The stand-in for Bauplan's catalog: Nessie behind nginx-TLS with an OAuth server, in Bauplan's URL space, seeded with
one branch and one namespace through the public API."""

import json
import threading
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

from . import nessie
from .front import Front, fill, https_opener
from .oidc import Client, Oidc, awkward_secret
from .process import Service, ServiceError
from .tls import Authority

LOCATIONS = Path(__file__).with_name("bauplan.locations.in")
BRANCH, NAMESPACE, WAREHOUSE = "alice.ingest", "shop", "default"
REFUSE_BASIC = 'if ($http_authorization ~* "^basic ") { return 401; }'


class Catalog:
    """All three servers as one. After start():

    url            https://localhost:PORT/iceberg         branch, namespace, warehouse: what is there
    branch_url     url/alice.ingest                       token_url: url/v1/oauth/tokens
    client_id, client_secret   the good client (the secret has + / % : in it)
    clients        by role: good, no-grant (may not use the grant), strict (scope PRINCIPAL_ROLE:ALL only),
                   short (its tokens live 3 s)
    ca_file, host, port
    """

    def __init__(self, folder: Path, authority: Authority, *, port: int | None = None, durable: bool = False,
                 secret: str | None = None):
        self.folder, self.authority = Path(folder).resolve(), authority
        self.branch, self.namespace, self.warehouse = BRANCH, NAMESPACE, WAREHOUSE
        self.client_id, self.client_secret = "app", secret or awkward_secret()
        self.clients = {
            "good": Client(self.client_id, self.client_secret),
            "no-grant": Client("no-grant", awkward_secret(), grants=()),
            "strict": Client("strict", awkward_secret(), scope="PRINCIPAL_ROLE:ALL"),
            "short": Client("short", awkward_secret(), lifetime=3),
        }
        self.oidc = Oidc(self.folder, list(self.clients.values()))
        self.durable, self._port = durable, port
        self.nessie: nessie.Nessie
        self.front: Front
        self.keep_fds: tuple[int, ...] = ()
        self.cancel: threading.Event | None = None
        self._started: list[Service] = []

    services = property(lambda self: tuple(self._started))
    ca_file = property(lambda self: self.authority.ca_file)
    host = property(lambda self: self.front.host)
    port = property(lambda self: self.front.port)
    origin = property(lambda self: self.front.url)
    url = property(lambda self: f"{self.front.url}/iceberg")
    branch_url = property(lambda self: f"{self.url}/{urllib.parse.quote(self.branch, '')}")
    token_url = property(lambda self: f"{self.url}/v1/oauth/tokens")

    def locations(self, token_rule: str = "") -> str:
        """The server block of Bauplan's URL space over these upstreams; token_rule goes into the token routes."""
        return fill(LOCATIONS.read_text(), {"TOKEN_RULE": token_rule, "OIDC": f"http://127.0.0.1:{self.oidc.port}",
                                            "NESSIE": f"http://127.0.0.1:{self.nessie.port}"})

    def _run(self, service: Service) -> None:
        service.keep_fds, service.cancel = self.keep_fds, self.cancel
        service.start()
        self._started.append(service)

    def start(self) -> Self:
        try:
            nessie.jar()   # says at once what is missing
            self._run(self.oidc)
            self.nessie = nessie.Nessie(self.folder, self.oidc.issuer, durable=self.durable)
            self._run(self.nessie)
            self.front = Front(self.folder, self.authority, self.locations(), port=self._port)
            self._run(self.front)
            self._seed()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        running, self._started = self._started, []
        if running:
            with ThreadPoolExecutor(len(running)) as pool:
                list(pool.map(lambda service: service.stop(), running))

    __enter__ = start

    def __exit__(self, *_: object) -> None:
        self.stop()

    def variant(self, folder: Path, *, token_rule: str = "", before: str = "", **front: object) -> Front:
        """Another TLS front over the same servers, to be started by the caller. token_rule: nginx directives in the
        token routes (REFUSE_BASIC makes a form-only server); before: locations that win over the usual ones."""
        return Front(folder, self.authority, before + self.locations(token_rule), **front)  # type: ignore[arg-type]

    def request(self, method: str, path: str, body: dict | None = None, *, form: dict | None = None,
                headers: dict | None = None, token: str | None = None) -> tuple[int, dict, bytes]:
        """One HTTPS request (path below the origin, or a whole URL): status, headers in lower case, body."""
        data = json.dumps(body).encode() if body is not None else None
        sent = {"Content-Type": "application/json"} if body is not None else {}
        if form is not None:
            data = urllib.parse.urlencode(form).encode()
            sent = {"Content-Type": "application/x-www-form-urlencoded"}
        if token:
            sent["Authorization"] = f"Bearer {token}"
        url = path if path.startswith("https://") else self.origin + path
        request = urllib.request.Request(url, data, sent | (headers or {}), method=method)
        try:
            with https_opener(self.ca_file).open(request, timeout=30) as answer:
                return answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, {k.lower(): v for k, v in error.headers.items()}, error.read()

    def token(self, role: str = "good") -> str:
        """A fresh access token of one of the clients."""
        client = self.clients[role]
        status, _, body = self.request("POST", self.token_url, form={
            "grant_type": "client_credentials", "client_id": client.id, "client_secret": client.secret})
        if status != 200:
            raise ServiceError(f"no token for client {role}: {status} {body.decode(errors='replace')}")
        return json.loads(body)["access_token"]

    def _seed(self) -> None:
        token = self.token()
        status, _, body = self.request("GET", "/api/v2/trees/main", token=token)
        self._expect(status, {200}, "reading main", body)
        status, _, body = self.request("POST", f"/api/v2/trees?name={self.branch}&type=BRANCH",
                                       json.loads(body)["reference"], token=token)
        self._expect(status, {200, 409}, "creating the branch", body)
        status, _, body = self.request("POST", f"/iceberg/v1/{self.branch}%7C{self.warehouse}/namespaces",
                                       {"namespace": [self.namespace]}, token=token)
        self._expect(status, {200, 409}, "creating the namespace", body)

    @staticmethod
    def _expect(status: int, wanted: set[int], what: str, body: bytes) -> None:
        if status not in wanted:
            raise ServiceError(f"{what} in the catalog answered {status}: {body.decode(errors='replace')[:500]}")
