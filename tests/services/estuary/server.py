"""The stand-in for Estuary's control plane as one of the sandbox's services: a process under watch.py that keeps what
it has been told."""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from pathlib import Path
from typing import Any

from tests.services import places
from tests.services.front import https_opener
from tests.services.process import Service
from tests.services.tls import Authority


class EstuaryServer(Service):
    """`with EstuaryServer(folder, authority) as estuary:` then estuary.url, estuary.ca_file, estuary.token_file,
    estuary.client_environment(), estuary.control("/contents"). settings: of Settings, by name; port: of the services,
    else the one of the last run in the folder."""

    name = "estuary"
    deadline = 60.0

    def __init__(self, folder: Path, authority: Authority | None = None, *, port: int = 0,
                 settings: dict[str, Any] | None = None, options: tuple[str, ...] = ()) -> None:
        super().__init__(folder)
        self._options = [*options, *(f"--set={name}={json.dumps(value)}" for name, value in (settings or {}).items())]
        if authority:
            self._options.append(f"--ca={authority.folder}")
        if port:
            self._options.append(f"--port={port}")
        self._told_before: int | None = None

    def prepare(self) -> None:
        """Remember what an earlier run left, so that it is not taken for this one's word."""
        self._told_before = self._told

    def command(self) -> list[str]:
        return [sys.executable, "-m", "tests.services.estuary", "--dir", str(self.folder), "--keep", *self._options]

    def environment(self) -> dict[str, str]:
        """What the process itself gets (of this machine's settings of AWS and PostgreSQL nothing: its connectors would
        read them); `client_environment` is for those who call it."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PG"))}
        return {**kept, "PYTHONPATH": str(places.REPO)}

    def working_folder(self) -> Path:
        return places.REPO

    @property
    def _told(self) -> int | None:
        file = self.folder / "endpoint.json"
        return file.stat().st_mtime_ns if file.exists() else None

    def probe(self) -> None:
        if self._told == self._told_before:
            raise OSError("the stand-in for Estuary has not said where it listens")
        with https_opener(self.ca_file).open(self.url + "/", timeout=5) as answer:
            answer.read()

    @property
    def told(self) -> dict[str, Any]:
        """What the process said of itself."""
        found: dict[str, Any] = json.loads((self.folder / "endpoint.json").read_text())
        return found

    @property
    def url(self) -> str:
        """The origin of all services."""
        return str(self.told["url"])

    @property
    def ca_file(self) -> Path:
        """The certificate authority to trust."""
        return Path(self.told["ca_file"])

    @property
    def token_file(self) -> Path:
        """The file that holds the tenant's refresh token as pasted."""
        return self.folder / "token"

    @property
    def age_key_file(self) -> Path:
        """The file that opens sealed configs, as sops reads it."""
        return self.folder / "age.key"

    def client_environment(self) -> dict[str, str]:
        """SLUICE_ESTUARY_* of a client."""
        return dict(self.told["environment"])

    def control(self, path: str, body: dict[str, Any] | None = None, method: str | None = None) -> Any:
        """One request to the control endpoint: see control.py."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(str(self.told["control_url"]) + path, data, method=method)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            return json.loads(answer.read())
