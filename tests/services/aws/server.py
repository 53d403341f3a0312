"""The stand-in for AWS as one of the sandbox's services: a process under watch.py that keeps its account."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import sys
from pathlib import Path
from typing import Any

from tests.services import places
from tests.services.process import Service


class AwsServer(Service):
    """`with AwsServer(folder) as aws:` then aws.url, aws.ca_file, aws.control_url, aws.environment()."""

    name = "aws"
    deadline = 60.0

    def __init__(self, folder: Path, *options: str) -> None:
        super().__init__(folder)
        self._options = options

    def command(self) -> list[str]:
        return [sys.executable, "-m", "tests.services.aws", "--dir", str(self.folder), "--keep", *self._options]

    def environment(self) -> dict[str, str]:
        """What the process itself gets; `client_environment` is for those who call it."""
        return {**os.environ, "PYTHONPATH": str(places.REPO)}

    def working_folder(self) -> Path:
        return places.REPO

    def probe(self) -> None:
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

    @property
    def ca_file(self) -> Path:
        """The certificate authority to trust."""
        return Path(self._endpoint["ca_file"])

    def client_environment(self) -> dict[str, str]:
        """AWS_* for a client that acts as the account's administrator."""
        lines = (self.folder / "environment").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)
