"""A network that takes its time: a TCP proxy whose pieces of data travel for a while, each way, without holding up those
behind them, as packets do on a long line. It can also be held: then nothing arrives at all, and nothing is lost."""

import queue
import socket
import threading
import time
from typing import Self

from tests.services.ports import free_port, loopback_name

PIECE = 65536


class Link:
    """Listens on loopback and forwards to (host, port), each piece after `delay` seconds.

    host, port   where a client connects: localhost is a valid name of it, so certificates still fit
    hold()       nothing more arrives on any connection, old or new, until release()

    No thread of it wakes up while nothing travels, so that it does not disturb what is measured."""

    def __init__(self, target: tuple[str, int], delay: float = 0.0):
        self.target, self.delay = target, delay
        self.host, self.port = loopback_name(), 0
        self._open = threading.Event()
        self._open.set()
        self._listener: socket.socket
        self._sockets: list[socket.socket] = []

    def start(self) -> Self:
        self.port = free_port()
        self._listener = socket.create_server(("127.0.0.1", self.port), backlog=128)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def stop(self) -> None:
        self.release()
        for each in [self._listener, *self._sockets]:
            try:
                each.shutdown(socket.SHUT_RDWR)   # wakes the thread that waits in it
            except OSError:
                pass
            each.close()

    __enter__ = start

    def __exit__(self, *_: object) -> None:
        self.stop()

    def hold(self) -> None:
        self._open.clear()

    def release(self) -> None:
        self._open.set()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(self.target, timeout=10)
            except OSError:
                return
            server.settimeout(None)
            self._sockets += [client, server]
            for source, sink in ((client, server), (server, client)):
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                travelling: queue.SimpleQueue = queue.SimpleQueue()
                threading.Thread(target=self._take, args=(source, travelling), daemon=True).start()
                threading.Thread(target=self._give, args=(travelling, sink), daemon=True).start()

    def _take(self, source: socket.socket, travelling: queue.SimpleQueue) -> None:
        data = b"more"
        while data:
            try:
                data = source.recv(PIECE)
            except OSError:
                data = b""
            travelling.put((time.monotonic() + self.delay, data))

    def _give(self, travelling: queue.SimpleQueue, sink: socket.socket) -> None:
        while True:
            due, data = travelling.get()
            time.sleep(max(0.0, due - time.monotonic()))
            self._open.wait()
            try:
                if not data:
                    sink.shutdown(socket.SHUT_WR)
                    return
                sink.sendall(data)
            except OSError:
                return
