"""The stand-in for AWS as one of the sandbox's services: a process under watch.py that keeps its account."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import sys
import urllib.request
from pathlib import Path
from typing import Any

from tests.services import places
from tests.services.process import Service
from tests.services.tls import Authority


class AwsServer(Service):
    """`with AwsServer(folder, buckets=("lake",)) as aws:` then aws.url, aws.ca_file, aws.control_url, aws.network(),
    aws.client_environment(). The account is that of the last run in the folder; authority: who certifies it, else an
    authority of its own; port: of the endpoint, else the one of the last run."""

    name = "aws"
    deadline = 60.0

    def __init__(self, folder: Path, authority: Authority | None = None, *, port: int = 0,
                 buckets: tuple[str, ...] = (), options: tuple[str, ...] = ()) -> None:
        super().__init__(folder)
        self._options = [*options, *(f"--bucket={name}" for name in buckets)]
        if authority:
            self._options.append(f"--ca={authority.folder}")
        if port:
            self._options.append(f"--port={port}")
        self._told_before: int | None = None

    def prepare(self) -> None:
        """Remember what an earlier run left, so that it is not taken for this one's word."""
        self._told_before = self._told

    def command(self) -> list[str]:
        return [sys.executable, "-m", "tests.services.aws", "--dir", str(self.folder), "--keep", *self._options]

    def environment(self) -> dict[str, str]:
        """What the process itself gets (of this machine's settings of AWS nothing: moto would read them);
        `client_environment` is for those who call it."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        return {**kept, "PYTHONPATH": str(places.REPO)}

    def working_folder(self) -> Path:
        return places.REPO

    @property
    def _told(self) -> int | None:
        file = self.folder / "endpoint.json"
        return file.stat().st_mtime_ns if file.exists() else None

    def probe(self) -> None:
        if self._told == self._told_before:
            raise OSError("the stand-in for AWS has not said where it listens")
        answer = self.ask("HEAD", "/")
        if answer.status not in (200, 403, 404, 501):
            raise OSError(f"the stand-in for AWS answers {answer.status}")

    def ask(self, method: str, target: str) -> http.client.HTTPResponse:
        """One unsigned request."""
        context = ssl.create_default_context(cafile=str(self.ca_file))
        client = http.client.HTTPSConnection("127.0.0.1", int(self.url.rpartition(":")[2]), context=context, timeout=5)
        client.request(method, target)
        return client.getresponse()

    @property
    def _endpoint(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "endpoint.json").read_text())
        return found

    @property
    def url(self) -> str:
        """The endpoint for all services."""
        return str(self._endpoint["url"])

    @property
    def control_url(self) -> str:
        """The control endpoint."""
        return str(self._endpoint["control_url"])

    def network(self) -> dict[str, Any]:
        """Ids of subnets and security groups by what they are for: see network.py."""
        return self.control("/network")

    def contents(self) -> dict[str, list[str]]:
        """What exists in the account, as the stand-in itself sees it."""
        return self.control("/contents")

    def control(self, path: str, body: dict[str, Any] | None = None, method: str | None = None) -> Any:
        """One request to the control endpoint: see control.py."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.control_url + path, data, method=method)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            return json.loads(answer.read())

    @property
    def ca_file(self) -> Path:
        """The certificate authority to trust."""
        return Path(self._endpoint["ca_file"])

    def client_environment(self) -> dict[str, str]:
        """AWS_* for a client that acts as the account's administrator."""
        lines = (self.folder / "environment").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)
