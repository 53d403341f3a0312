"""An HTTP proxy as companies have one: a client says CONNECT name:port, and what it then sends goes to the place that a
table gives for that name. So the real names of services lead to stand-ins, and who asked for what is known."""

import base64
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Self

from .ports import free_port

HEAD = 16384    # bytes of a request's head, at most
Place = tuple[str, int]


@dataclass(frozen=True)
class Asked:
    """One request. code: what was answered (200: a tunnel; 0: nothing at all). headers: their names, in lower case."""

    host: str
    port: int
    code: int
    headers: frozenset[str] = field(default=frozenset())


class ConnectProxy:
    """routes: "name:port" -> (host, port) on loopback; whatever is not in it is answered 403.

    login    "user:password" that a client must give; another or none is answered 407
    silent   names whose CONNECT gets no answer: the connection stands and nothing happens
    asked    every request, in order; .hosts(200) the names of those with that answer
    host, port, url   where it listens
    """

    def __init__(self, routes: dict[str, Place], *, login: str = "", silent: frozenset[str] = frozenset()):
        self.routes, self.login, self.silent = dict(routes), login, silent
        self.host, self.port = "127.0.0.1", 0
        self._asked: list[Asked] = []
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._listener: socket.socket | None = None
        self._closing = threading.Event()

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def asked(self) -> list[Asked]:
        with self._lock:
            return list(self._asked)

    def hosts(self, code: int) -> set[str]:
        return {each.host for each in self.asked if each.code == code}

    def clear(self) -> None:
        with self._lock:
            self._asked.clear()

    def start(self) -> Self:
        self.port = free_port()
        self._listener = socket.create_server((self.host, self.port), backlog=128)
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()
        return self

    def stop(self) -> None:
        self._closing.set()
        with self._lock:
            ends = [*self._open, *([self._listener] if self._listener else [])]
        for end in ends:
            _shut(end)
        if self._listener:
            self._listener.close()

    __enter__ = start

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _accept(self, listener: socket.socket) -> None:
        while not self._closing.is_set():
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, self._kept(client):
            try:
                head, rest = _head(client)
                server = self._answer(client, head)
                if server:
                    with server, self._kept(server):
                        server.sendall(rest)
                        _forward(client, server)
            except OSError:
                pass    # either side may go at any time

    def _answer(self, client: socket.socket, head: list[str]) -> socket.socket | None:
        """The other end of the tunnel; None when there is none, and that has been said."""
        lines = [line.partition(":") for line in head[1:]]
        given = {name.strip().lower(): value.strip() for name, _, value in lines}
        method, _, rest = head[0].partition(" ")
        target = rest.partition(" ")[0]
        host, _, port = target.rpartition(":")
        server = None
        if method != "CONNECT" or not port.isdigit():
            code, host, port = 405, target, "0"
        else:
            code = self._judge(host, target, given.get("proxy-authorization", ""))
        if code == 200:
            try:
                server = socket.create_connection(self.routes[target], timeout=10)
                server.settimeout(None)
            except OSError:
                code = 502
        with self._lock:
            self._asked.append(Asked(host, int(port), code, frozenset(given)))
        if code == 0:
            client.recv(1)    # until the client gives up
        else:
            client.sendall(_words(code))
        return server

    def _judge(self, host: str, target: str, login: str) -> int:
        if host in self.silent:
            return 0
        if self.login and login != _basic(self.login):
            return 407
        return 200 if target in self.routes else 403

    @contextmanager
    def _kept(self, end: socket.socket) -> Iterator[None]:
        """While it is in use, stop() may shut it."""
        with self._lock:
            self._open.add(end)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(end)


def _head(client: socket.socket) -> tuple[list[str], bytes]:
    """The lines of a request's head, and what came after it."""
    client.settimeout(10)
    data = b""
    while b"\r\n\r\n" not in data:
        piece = client.recv(4096)
        if not piece or len(data) > HEAD:
            raise OSError("no request")
        data += piece
    client.settimeout(None)
    head, _, rest = data.partition(b"\r\n\r\n")
    return head.decode("latin-1").split("\r\n"), rest


def _words(code: int) -> bytes:
    if code == 200:
        return b"HTTP/1.1 200 Connection established\r\n\r\n"
    more = 'Proxy-Authenticate: Basic realm="tests"\r\n' if code == 407 else ""
    return f"HTTP/1.1 {code} No\r\n{more}Content-Length: 0\r\nConnection: close\r\n\r\n".encode()


def _basic(login: str) -> str:
    return "Basic " + base64.b64encode(login.encode()).decode()


def _forward(client: socket.socket, server: socket.socket) -> None:
    back = threading.Thread(target=_pump, args=(server, client), daemon=True)
    back.start()
    _pump(client, server)
    back.join()


def _pump(source: socket.socket, target: socket.socket) -> None:
    """Passes on what comes until it ends; then both directions end, as nobody here speaks after a close."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    _shut(source)
    _shut(target)


def _shut(end: socket.socket) -> None:
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
