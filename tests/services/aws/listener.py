"""HTTP/1.1 over TLS, with connections that stay open, and with full control over what goes out on the wire.

A server of our own because faults need it (half a body, a byte at a time, nothing at all) and because moto's
closes every connection after one answer.
"""

from __future__ import annotations

import itertools
import socket
import socketserver
import ssl
import threading
import time
from collections.abc import Callable
from email.utils import formatdate
from http.client import responses
from pathlib import Path
from typing import Any

from .messages import Answer, Delivery, Headers, Request

MAX_BODY = 64 * 1024 * 1024
Handle = Callable[[Request], tuple[Answer, Delivery]]


class _Bad(Exception):
    """A request that is not HTTP/1.1 as we take it: answered with 400 and closed."""


class _Connection(socketserver.BaseRequestHandler):
    server: Server

    def setup(self) -> None:
        self.number = next(self.server.numbers)
        self.socket: Any = self.request
        self.socket.settimeout(self.server.keep_alive)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def handle(self) -> None:
        if self.server.tls is not None:
            try:
                self.socket = self.server.tls.wrap_socket(self.request, server_side=True)
            except (OSError, ssl.SSLError) as wrong:
                self.server.handshake_failures.append(str(wrong))
                return
        self.server.open_sockets.add(self.socket)
        self.stream = self.socket.makefile("rb", 65536)
        try:
            for count in itertools.count(1):
                if not self._one(count):
                    break
        except (OSError, ssl.SSLError, ValueError):
            pass
        finally:
            self.server.open_sockets.discard(self.socket)
            self._close()

    def _close(self) -> None:
        for close in (self.stream.close, lambda: self.socket.shutdown(socket.SHUT_RDWR), self.socket.close):
            try:
                close()
            except (OSError, ssl.SSLError, ValueError):
                pass

    def _one(self, count: int) -> bool:
        """Serve one request; whether the connection stays open."""
        try:
            request = self._read(count)
        except _Bad as wrong:
            body = f"{wrong}\n".encode()
            self._send(Answer(400, [("Content-Type", "text/plain")], body), Delivery(close=True), "GET")
            return False
        if request is None:
            return False
        answer, delivery = self.server.handle_call(request)
        asked = (request.header("connection") or "").lower()
        if "close" in asked:
            delivery.close = True
        if delivery.drop:
            return False
        self._send(answer, delivery, request.method)
        return not delivery.close

    # Reading.

    def _line(self) -> bytes:
        line: bytes = self.stream.readline(65537)
        if len(line) > 65536:
            raise _Bad("line too long")
        return line.rstrip(b"\r\n") if line.endswith(b"\n") else b""

    def _read(self, count: int) -> Request | None:
        first = self._line()
        if not first:
            return None
        parts = first.decode("latin-1").split(" ")
        if len(parts) != 3 or parts[2] != "HTTP/1.1":
            raise _Bad("not a request line of HTTP/1.1")
        headers = self._headers()
        low = [(name.lower(), value) for name, value in headers]
        if sum(1 for name, _ in low if name == "host") != 1:
            raise _Bad("exactly one Host header is needed")
        given = dict(low)
        if given.get("expect", "").lower() == "100-continue":
            self.socket.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = self._body(given)
        secure, region = self.server.tls is not None, self.server.pinned_region
        return Request(parts[0], parts[1], headers, body, self.number, count, region, secure)

    def _headers(self) -> Headers:
        headers: Headers = []
        for _ in range(200):
            line = self._line().decode("latin-1")
            if not line:
                return headers
            if line[0] in " \t" and headers:
                name, value = headers[-1]
                headers[-1] = (name, f"{value} {line.strip()}")
                continue
            name, colon, value = line.partition(":")
            if not colon or not name or name != name.strip():
                raise _Bad("a header without a name")
            headers.append((name, value.strip()))
        raise _Bad("too many headers")

    def _body(self, given: dict[str, str]) -> bytes:
        if "chunked" in given.get("transfer-encoding", "").lower():
            return self._chunked()
        length = given.get("content-length", "0")
        if not length.isdigit() or int(length) > MAX_BODY:
            raise _Bad("Content-Length is not a number that can be taken")
        body: bytes = self.stream.read(int(length))
        if len(body) != int(length):
            raise OSError("the client went away")
        return body

    def _chunked(self) -> bytes:
        body = b""
        while True:
            try:
                size = int(self._line().split(b";")[0], 16)
            except ValueError:
                raise _Bad("a chunk without a size") from None
            if size == 0:
                while self._line():
                    pass
                return body
            body += self.stream.read(size)
            self._line()
            if len(body) > MAX_BODY:
                raise _Bad("the body is too long")

    # Writing.

    def _send(self, answer: Answer, delivery: Delivery, method: str) -> None:
        if delivery.delay:
            time.sleep(delivery.delay)
        bare = method == "HEAD" or answer.status in (204, 304)
        length = answer.header("content-length") if method == "HEAD" else None
        skip = {"content-length", "transfer-encoding", "connection", "date"}
        lines = [f"HTTP/1.1 {answer.status} {responses.get(answer.status, 'Unknown')}"]
        lines += [f"{name}: {value}" for name, value in answer.headers if name.lower() not in skip]
        lines.append("Date: " + formatdate(self.server.wall() + delivery.date_shift, usegmt=True))
        if answer.status != 204:
            lines.append(f"Content-Length: {length or len(answer.body)}")
        lines.append("Connection: " + ("close" if delivery.close else "keep-alive"))
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
        body = b"" if bare else answer.body
        if delivery.keep_bytes is not None:
            body = body[: delivery.keep_bytes]
        if delivery.dribble:
            self.socket.sendall(head)
            for index in range(len(body)):
                self.socket.sendall(body[index : index + 1])
                time.sleep(delivery.dribble)
        else:
            self.socket.sendall(head + body)


class Server(socketserver.ThreadingTCPServer):
    """One listening port; every connection has a thread."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(
        self,
        handle: Handle,
        wall: Callable[[], float],
        certificate: tuple[Path, Path] | None,
        pinned_region: str | None = None,
        keep_alive: float = 60.0,
        port: int = 0,
    ) -> None:
        self.handle_call, self.wall = handle, wall
        self.pinned_region, self.keep_alive = pinned_region, keep_alive
        self.numbers = itertools.count(1)
        self.open_sockets: set[Any] = set()
        #: What was wrong with TLS handshakes that did not come about.
        self.handshake_failures: list[str] = []
        self.tls: ssl.SSLContext | None = None
        if certificate:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.minimum_version = ssl.TLSVersion.TLSv1_2
            self.tls.set_alpn_protocols(["http/1.1"])
            self.tls.load_cert_chain(*certificate)
        super().__init__(("127.0.0.1", port), _Connection)
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """The endpoint for clients."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def start(self) -> Server:
        """Serve from a thread of its own."""
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop listening and cut every connection."""
        if self._thread:
            self.shutdown()
            self._thread.join()
        self.server_close()
        for open_socket in list(self.open_sockets):
            try:
                open_socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is the client's affair."""
