"""A TCP proxy that misbehaves as told: the network between sluice and any service.

Each fault can be switched while connections stand; what it counts tells how often a client really tried."""

import select
import socket
import struct
import threading
import time
from typing import Literal, Self

from .ports import free_port, loopback_name

Mode = Literal["pass", "silent", "reset", "cut", "stall"]


class FaultProxy:
    """Listens on loopback and forwards to (host, port). Change mode, latency and limit at any time.

    mode     pass    forwards
             silent  accepts and never answers (nothing is forwarded)
             reset   answers every connection, and those that stand, with RST
             cut     closes with RST after limit bytes from the server (counted for each connection)
             stall   forwards until limit bytes from the server, then goes quiet
    latency  seconds that each piece of data waits, each way
    connections, bytes_up, bytes_down   counters
    host, port   where a client connects: localhost is a valid name of it, so certificates still fit
    """

    def __init__(self, target: tuple[str, int], *, mode: Mode = "pass", latency: float = 0.0, limit: int = 0):
        self.target, self.mode, self.latency, self.limit = target, mode, latency, limit
        self.host, self.port = loopback_name(), 0
        self.connections = self.bytes_up = self.bytes_down = 0
        self._listener: socket.socket | None = None
        self._closing = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> Self:
        self.port = free_port()
        self._listener = socket.create_server(("127.0.0.1", self.port), backlog=128)
        self._listener.settimeout(0.1)
        self._run(self._accept, self._listener)
        return self

    def stop(self) -> None:
        self._closing.set()
        for thread in self._threads:
            thread.join(5)
        if self._listener:
            self._listener.close()

    __enter__ = start

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self, work, *given: object) -> None:
        thread = threading.Thread(target=work, args=given, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        while not self._closing.is_set():
            try:
                client, _ = listener.accept()
            except TimeoutError:
                continue
            self.connections += 1
            self._run(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        with client:
            if not self._hold(client):
                return
            try:
                server = socket.create_connection(self.target, timeout=10)
            except OSError:
                _reset(client)
                return
            with server:
                try:
                    self._forward(client, server)
                except OSError:
                    _reset(client)

    def _hold(self, client: socket.socket) -> bool:
        """Keeps a connection while the mode forwards nothing. False: it has ended."""
        while not self._closing.is_set():
            if self.mode == "reset":
                _reset(client)
                return False
            if self.mode != "silent":
                return True
            time.sleep(0.02)
        return False

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        down = 0
        open_ends = {client: server, server: client}
        while open_ends and not self._closing.is_set():
            if self.mode in ("silent", "reset") and not self._hold(client):
                return
            readable, _, _ = select.select(list(open_ends), [], [], 0.05)
            for end in readable:
                data = end.recv(65536)
                if self.latency:
                    self._closing.wait(self.latency)
                if not data:
                    _half_close(open_ends.pop(end))
                    continue
                if end is client:
                    self.bytes_up += len(data)
                    server.sendall(data)
                    continue
                if self.mode in ("cut", "stall"):
                    data = data[:max(0, self.limit - down)]
                down += len(data)
                self.bytes_down += len(data)
                client.sendall(data)
                if self.mode == "cut" and down >= self.limit:
                    _reset(client)
                    return


def _half_close(end: socket.socket) -> None:
    try:
        end.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def _reset(end: socket.socket) -> None:
    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    end.close()


class BlackHole:
    """A port whose connections are never established: the handshake gets no answer, as behind a dropping firewall."""

    def __init__(self) -> None:
        self.host, self.port = "127.0.0.1", 0
        self._sockets: list[socket.socket] = []

    def start(self) -> Self:
        self.port = free_port()
        self._sockets = [socket.create_server((self.host, self.port), backlog=0)]
        for _ in range(8):   # fills the queue that nobody accepts from; the kernel then drops each further SYN
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex((self.host, self.port))
            self._sockets.append(filler)
        return self

    def stop(self) -> None:
        for each in self._sockets:
            each.close()
        self._sockets = []

    __enter__ = start

    def __exit__(self, *_: object) -> None:
        self.stop()
