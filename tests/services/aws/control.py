"""The control endpoint: plain HTTP and JSON on a port of its own, for tests and a sandbox in other processes.

GET  /                  endpoint, CA file, environment of the administrator
GET  /log?since=N       entries of the request log          DELETE /log      forget them
GET  /faults            scripted faults with their hits     DELETE /faults   take them back
POST /faults            {"kind": …, "service": …, "operation": …, "nth": …, …}; see faults.py
GET  /held?timeout=S    calls that wait in a hold           POST /release    let them go
GET  /clock             {"now": …}                          POST /clock      {"advance": S} and/or {"rate": R}
POST /settings          any field of Settings
GET  /contents          what exists in the account
GET  /network?region=R  ids of subnets and security groups
POST /buckets           {"name", "region", "foreign", "policy", "objects": {key: text}}
POST /applications      {"next": {"stay"|"fail": …}} or {"id": …, "config": {…}}
POST /jobs              {"next": {"stay"|"fail": …}}
POST /spread            every change in IAM reaches every service now
POST /reset             an empty account again, same administrator
GET  /check             {"unmet": […], "defects": […]}
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
    from .standin import AwsStandIn

Ask = dict[str, Any]


class _Control:
    """One method a path; each takes the query or the body and returns what is sent back."""

    def __init__(self, aws: AwsStandIn) -> None:
        self.aws = aws

    def get_(self, ask: Ask) -> Any:
        aws = self.aws
        return {"url": aws.url, "ca_file": str(aws.ca_file), "environment": aws.environment()}

    def get_log(self, ask: Ask) -> Any:
        return self.aws.log.entries(int(ask.get("since", 0)))

    def delete_log(self, ask: Ask) -> Any:
        self.aws.log.clear()

    def get_faults(self, ask: Ask) -> Any:
        return [dataclasses.asdict(fault) for fault in self.aws.faults.all]

    def post_faults(self, ask: Ask) -> Any:
        return {"id": self.aws.faults.add(**ask).id}

    def delete_faults(self, ask: Ask) -> Any:
        self.aws.faults.clear()

    def get_held(self, ask: Ask) -> Any:
        return self.aws.faults.held(float(ask.get("timeout", 10)))

    def post_release(self, ask: Ask) -> Any:
        self.aws.faults.release()

    def get_clock(self, ask: Ask) -> Any:
        return {"now": self.aws.clock.now()}

    def post_clock(self, ask: Ask) -> Any:
        if "rate" in ask:
            self.aws.clock.run(float(ask["rate"]))
        self.aws.clock.advance(float(ask.get("advance", 0)))
        self.aws.front.settle()
        return {"now": self.aws.clock.now()}

    def post_settings(self, ask: Ask) -> Any:
        self.aws.settings.update(ask)

    def get_contents(self, ask: Ask) -> Any:
        return self.aws.contents()

    def get_network(self, ask: Ask) -> Any:
        return dataclasses.asdict(self.aws.network(ask.get("region")))

    def post_buckets(self, ask: Ask) -> Any:
        aws = self.aws
        aws.make_bucket(ask["name"], ask.get("region"), bool(ask.get("foreign")), ask.get("policy"))
        for key, text in ask.get("objects", {}).items():
            aws.put_object(ask["name"], key, text.encode())

    def post_applications(self, ask: Ask) -> Any:
        if "next" in ask:
            self.aws.emr.next_applications.append(ask["next"])
        if "id" in ask:
            self.aws.application(ask["id"]).config.update(ask["config"])

    def post_jobs(self, ask: Ask) -> Any:
        self.aws.emr.next_jobs.append(ask["next"])

    def post_spread(self, ask: Ask) -> Any:
        self.aws.spread()

    def post_reset(self, ask: Ask) -> Any:
        self.aws.reset()

    def get_check(self, ask: Ask) -> Any:
        unmet = [dataclasses.asdict(fault) for fault in self.aws.faults.unmet()]
        return {"unmet": unmet, "defects": self.aws.front.defects}


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
            ask: Ask = {k: v[0] for k, v in parse_qs(parts.query).items()}
            ask.update(json.loads(body) if body else {})
            status, answer = 200, method(ask)
        except Exception as wrong:  # told to the test that asked
            status, answer = 400, {"error": repr(wrong)}
        content = json.dumps(answer, default=str).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = _serve

    def log_message(self, format: str, *args: Any) -> None:
        """Silence: the request log is about AWS."""


class ControlServer:
    """Serves the control endpoint from a thread."""

    def __init__(self, aws: AwsStandIn, port: int = 0) -> None:
        handler = type("Handler", (_Handler,), {"control": _Control(aws)})
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
