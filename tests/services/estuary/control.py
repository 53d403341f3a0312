"""The control endpoint: plain HTTP and JSON on a port of its own, for tests and a sandbox in other processes.

GET  /                  where the services are, CA file, public key, environment of a client
GET  /log?since=N       entries of the request log          DELETE /log      forget them
GET  /faults            scripted faults with their hits     DELETE /faults   take them back
POST /faults            {"kind": …, "service": …, "operation": …, "nth": …, …}; see tests/services/aws/faults.py
GET  /held?timeout=S    requests that wait in a hold        POST /release    let them go
GET  /clock             {"now": …}                          POST /clock      {"advance": S} and/or {"rate": R}
POST /settings          any field of Settings
GET  /contents          names of drafts, drafted and live specs
GET  /specs?name=N      a live spec with its config as it was published
POST /specs             {"name", "type", "spec", "plane"}: a live spec that was there before
POST /open              a sealed config: its content, or an error when anything in it was changed
POST /tokens            {"email", "multi_use", "valid_for"}: a refresh token, as pasted
POST /grants            {"email", "prefix", "capability"}; capability none takes it away
POST /planes            {"name", "cloud", "region", "public", "closed", "cidr_blocks"}
POST /mappings          {"prefix", "data_planes"}
POST /discovers         {"next": {…}}; see jobs.py          POST /publications {"next": {…}}
POST /statuses          {"name", "type", "summary"}: what the status of a task says
POST /reset             as at the start, same keys
GET  /check             {"unmet": […], "defects": […], "clear": […]}
"""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from .standin import EstuaryStandIn

Ask = dict[str, Any]


class _Control:
    """One method a path; each takes the query or the body and returns what is sent back."""

    def __init__(self, estuary: EstuaryStandIn) -> None:
        self.estuary = estuary

    def get_(self, ask: Ask) -> Any:
        return self.estuary.told()

    def get_log(self, ask: Ask) -> Any:
        return self.estuary.log.entries(int(ask.get("since", 0)))

    def delete_log(self, ask: Ask) -> Any:
        self.estuary.log.clear()

    def get_faults(self, ask: Ask) -> Any:
        return [dataclasses.asdict(fault) for fault in self.estuary.faults.all]

    def post_faults(self, ask: Ask) -> Any:
        return {"id": self.estuary.faults.add(**ask).id}

    def delete_faults(self, ask: Ask) -> Any:
        self.estuary.faults.clear()

    def get_held(self, ask: Ask) -> Any:
        return self.estuary.faults.held(float(ask.get("timeout", 10)))

    def post_release(self, ask: Ask) -> Any:
        self.estuary.faults.release()

    def get_clock(self, ask: Ask) -> Any:
        return {"now": self.estuary.clock.now()}

    def post_clock(self, ask: Ask) -> Any:
        if "rate" in ask:
            self.estuary.clock.run(float(ask["rate"]))
        self.estuary.advance(float(ask.get("advance", 0)))
        return {"now": self.estuary.clock.now()}

    def post_settings(self, ask: Ask) -> Any:
        self.estuary.settings.update(ask)

    def get_contents(self, ask: Ask) -> Any:
        return self.estuary.contents()

    def get_specs(self, ask: Ask) -> Any:
        return self.estuary.live(ask["name"])

    def post_specs(self, ask: Ask) -> Any:
        self.estuary.put_live(ask["name"], ask["type"], ask["spec"], ask.get("plane"))

    def post_open(self, ask: Ask) -> Any:
        return self.estuary.open(ask)

    def post_tokens(self, ask: Ask) -> Any:
        return {"token": self.estuary.token(**ask)}

    def post_grants(self, ask: Ask) -> Any:
        self.estuary.grant(**ask)

    def post_planes(self, ask: Ask) -> Any:
        self.estuary.put_plane(**ask)

    def post_mappings(self, ask: Ask) -> Any:
        self.estuary.put_mapping(ask["prefix"], ask["data_planes"])

    def post_discovers(self, ask: Ask) -> Any:
        self.estuary.world.next_discovers.append(ask["next"])

    def post_publications(self, ask: Ask) -> Any:
        self.estuary.world.next_publications.append(ask["next"])

    def post_statuses(self, ask: Ask) -> Any:
        self.estuary.world.statuses[ask["name"]] = ask["type"], ask["summary"]

    def post_reset(self, ask: Ask) -> Any:
        self.estuary.reset()

    def get_check(self, ask: Ask) -> Any:
        return self.estuary.findings()


class _Handler(BaseHTTPRequestHandler):
    control: _Control
    protocol_version = "HTTP/1.1"

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        name = f"{self.command.lower()}_{parts.path.strip('/')}"
        method: Callable[[Ask], Any] | None = getattr(self.control, name, None)
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        try:
            if method is None:
                raise KeyError(f"nothing at {self.command} {parts.path}")
            ask: Ask = {key: values[0] for key, values in parse_qs(parts.query).items()}
            ask.update(json.loads(body) if body else {})
            status, answer = 200, method(ask)
            self.control.estuary.save()
        except Exception as wrong:  # noqa: BLE001 - told to the test that asked
            status, answer = 400, {"error": repr(wrong)}
        content = json.dumps(answer, default=str).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = _serve

    def log_message(self, format: str, *args: Any) -> None:
        """Silence: the request log is about the control plane."""


class ControlServer:
    """Serves the control endpoint from a thread."""

    def __init__(self, estuary: EstuaryStandIn, port: int = 0) -> None:
        handler = type("Handler", (_Handler,), {"control": _Control(estuary)})
        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        except OSError:
            self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> ControlServer:
        """Serve."""
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def stop(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
