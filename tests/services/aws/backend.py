"""moto, in this process, as the keeper of resources: IAM, S3, SSM and EC2. Its own authentication stays off.

Calls reach it through its WSGI application, without a socket. An exception or an inner status 500 is a Defect
of the stand-in and fails the test; it is never passed on as an answer.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlencode

os.environ.setdefault("MOTO_DISABLE_GLOBAL_CORS", "true")

import moto.backends
from moto.core.request import PRESERVED_HEADER_NAMES_ENVIRON_KEY, environ_key_for_header
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from .messages import Answer, Defect, Headers
from .routing import VERSIONS
from .settings import SUFFIX, Settings, partition_of

_SERVICES = ("iam", "s3", "ssm", "ec2", "sts")
#: Headers that belong to the client's connection or to the front, not to the resource.
_KEEP_OUT = frozenset(
    "authorization connection content-encoding content-length expect host transfer-encoding x-amz-content-sha256 "
    "x-amz-decoded-content-length x-amz-security-token x-amz-trailer content-type".split()
)


def _models(service: str) -> Any:
    """moto's models of one service, by account and place."""
    find: Any = moto.backends.get_backend
    return find(service)


class Backend:
    """moto's application and, for what has no API, its models."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._app = DomainDispatcherApplication(create_backend_app)
        self.reset()

    def reset(self, keep: tuple[str, ...] = ()) -> None:
        """Forget every resource, except of the services to keep."""
        for name in set(_SERVICES) - set(keep):
            for places in _models(name).values():  # the models' own reset() would reset every service
                places.reset()

    def model(self, service: str, region: str | None = None, account: str | None = None) -> Any:
        """moto's model of a service: IAM and S3 have one for the partition, the others one for each region."""
        where = region or self._settings.region
        if service in ("iam", "s3", "sts"):
            where = partition_of(where)
        return _models(service)[account or self._settings.account][where]

    def regions_of(self, service: str) -> list[str]:
        """The regions in which a service has been used."""
        return list(_models(service)[self._settings.account])

    def replace(self, service: str, model: Any, region: str | None = None, account: str | None = None) -> None:
        """Put a model in the place of the present one: what an earlier process kept."""
        where = region or self._settings.region
        if service in ("iam", "s3"):
            where = partition_of(where)
        owner = account or self._settings.account
        _models(service)[owner][where] = model
        if service == "s3":
            for bucket in model.buckets:
                _models("s3").bucket_accounts[bucket] = (where, owner)

    def forward(
        self, service: str, region: str, method: str, target: str, headers: Headers, body: bytes, key_id: str = ""
    ) -> Answer:
        """Let moto carry out one request."""
        suffix = SUFFIX[partition_of(region)]
        host = f"iam.{suffix}" if service == "iam" and suffix == SUFFIX["aws"] else f"{service}.{region}.{suffix}"
        environ = self._environ(method, target, host, headers, body)
        scope = f"{key_id or 'AKIAEXAMPLEEXAMPLE00'}/20260101/{region}/{service}/aws4_request"
        environ["HTTP_AUTHORIZATION"] = f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=0"
        environ["HTTP_X_MOTO_ACCOUNT_ID"] = self._settings.account
        started: list[Any] = []

        def start_response(status: str, answered: Headers, exc_info: Any = None) -> None:
            started[:] = [int(status.split(" ", 1)[0]), list(answered)]

        try:
            result: Iterable[bytes] = self._app(environ, start_response)
            content = b"".join(result)
        except Exception as wrong:
            raise Defect(f"moto failed on {service} {method} {target}: {wrong!r}") from wrong
        if not started or started[0] == 500:
            raise Defect(f"moto answered 500 to {service} {method} {target}: {content[:300]!r}")
        kept = [(n, v) for n, v in started[1] if n.lower() not in ("server", "date", "connection")]
        return Answer(started[0], kept, content)

    @staticmethod
    def _environ(method: str, target: str, host: str, headers: Headers, body: bytes) -> dict[str, Any]:
        path, _, query = target.partition("?")
        environ: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
            "QUERY_STRING": query,
            "RAW_URI": target,
            "SERVER_NAME": host,
            "SERVER_PORT": "443",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "HTTP_HOST": host,
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "https",
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": io.StringIO(),
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        spelled: dict[str, str] = {}
        for name, value in headers:
            low = name.lower()
            if low == "content-type":
                environ["CONTENT_TYPE"] = value
            elif low not in _KEEP_OUT:
                key = environ_key_for_header(name)
                environ[key] = value
                if "_" in name and low.startswith("x-amz-meta-"):
                    spelled[key] = name
        environ[PRESERVED_HEADER_NAMES_ENVIRON_KEY] = spelled
        return environ

    def form(self, service: str, region: str, action: str, params: dict[str, Any], key_id: str = "") -> Answer:
        """One call of a form protocol (IAM, EC2), made from parameters."""
        fields = {"Action": action, "Version": VERSIONS[service], **{k: str(v) for k, v in params.items()}}
        headers = [("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")]
        return self.forward(service, region, "POST", "/", headers, urlencode(fields).encode(), key_id)

    def made(self, service: str, region: str, action: str, params: dict[str, Any], tag: str) -> str:
        """The text of one element (if a tag is given) of a call that must succeed: used to build the network."""
        answer = self.form(service, region, action, params)
        found = re.search(rf"<{tag}>([^<]+)</{tag}>".encode(), answer.body) if tag else None
        if answer.status != 200 or (tag and not found):
            raise Defect(f"{action} {params}: {answer.status} {answer.body[:300]!r}")
        return found[1].decode() if found else ""

    def bucket(self, region: str, method: str, name: str, part: str = "", body: bytes = b"") -> Answer:
        """One S3 call on a bucket by the stand-in itself."""
        target = "/" + quote(name) + (f"?{part}" if part else "")
        headers = [("Content-Type", "application/xml")] if body else []
        return self.forward("s3", region, method, target, headers, body)
