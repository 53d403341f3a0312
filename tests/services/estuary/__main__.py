"""Runs the stand-in for Estuary's control plane as a process of its own, for the sandbox.

    python -m tests.services.estuary --dir DIR [--keep] [--port N] [--rate R] [--ca DIR] [--set NAME=JSON]…

Writes to DIR: endpoint.json (urls, control url, CA file, public key, pid), environment (NAME=value lines of a client),
token (the refresh token as the dashboard shows it) and age.key (what opens sealed configs), both mode 0600,
requests.jsonl (the request log), ca/ca.pem. It says `ready` on stdout when clients may come, and ends with SIGTERM or
with the process that started it. With --keep everything stays as an earlier run in DIR left it, the ports too."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from pathlib import Path

from tests.services.aws.__main__ import die_with_parent, earlier_ports
from tests.services.tls import Authority, write_private

from .settings import Settings
from .standin import EstuaryStandIn


def main() -> int:
    """Start, say so, wait for the end."""
    parent = os.getppid()
    parser = argparse.ArgumentParser(prog="python -m tests.services.estuary", description=__doc__.splitlines()[0])
    parser.add_argument("--dir", type=Path, required=True, help="folder for endpoint, CA, keys and log")
    parser.add_argument("--port", type=int, default=0, help="port of the services, if it is free")
    parser.add_argument("--rate", type=float, default=1.0, help="how fast the stand-in's clock runs")
    parser.add_argument("--ca", type=Path, metavar="DIR", help="the folder of an authority to be certified by")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=JSON", help="a setting: see settings.py")
    parser.add_argument("--keep", action="store_true", help="go on with what an earlier run left in DIR")
    parser.add_argument("--detached", action="store_true", help="do not end with the starting process")
    given = parser.parse_args()
    if not given.detached:
        die_with_parent(parent)
    settings = Settings()
    for text in given.set:
        name, _, value = text.partition("=")
        settings.update({name: json.loads(value)})
    authority = Authority(given.ca) if given.ca else None
    estuary = EstuaryStandIn(given.dir, settings, given.rate, authority)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    service_port, control_port = earlier_ports(given.dir) if given.keep else (0, 0)
    estuary.start((given.port or service_port, control_port), given.keep)
    estuary.log.write_to(given.dir / "requests.jsonl")
    write_private(given.dir / "token", estuary.pasted + "\n")
    write_private(given.dir / "age.key", estuary.world.identity.text + "\n")
    environment = estuary.environment()
    (given.dir / "environment").write_text("".join(f"{name}={value}\n" for name, value in environment.items()))
    partial = given.dir / "endpoint.json.part"
    partial.write_text(json.dumps({**estuary.told(), "pid": os.getpid()}, indent=1) + "\n")
    partial.rename(given.dir / "endpoint.json")
    print("ready", flush=True)
    while not ended.wait(1.0):
        pass
    estuary.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
