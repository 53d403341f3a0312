"""Loopback names and free ports. Ports are taken from below the kernel's ephemeral range, so that no outgoing
connection of another test can take one between choosing and listening."""

import random
import socket

_given: set[int] = set()
_random = random.SystemRandom()


def _can_bind(family: socket.AddressFamily, host: str, port: int) -> bool:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            probe.listen(1)
        return True
    except OSError:
        return False


def has_ipv6() -> bool:
    """Whether ::1 exists here (many containers have none)."""
    return _can_bind(socket.AF_INET6, "::1", 0)


def is_free(port: int) -> bool:
    """Whether a server could listen on this port of both loopback addresses now."""
    return _can_bind(socket.AF_INET, "127.0.0.1", port) and (
        not has_ipv6() or _can_bind(socket.AF_INET6, "::1", port))


def free_port() -> int:
    """A port nobody listens on and that this process has not been given before."""
    for _ in range(500):
        port = _random.randrange(15000, 32000)
        if port not in _given and is_free(port):
            _given.add(port)
            return port
    raise RuntimeError("no free loopback port between 15000 and 32000")


def loopback_name() -> str:
    """localhost, or the address itself on a machine whose hosts file does not know the name."""
    try:
        socket.getaddrinfo("localhost", 1, type=socket.SOCK_STREAM)
        return "localhost"
    except OSError:
        return "127.0.0.1"
