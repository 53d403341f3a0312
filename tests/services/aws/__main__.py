"""Runs the stand-in for AWS as a process of its own, for the sandbox and for tests that must not share a process.

    python -m tests.services.aws --dir DIR [--keep] [--region R] [--port N] [--propagation S] [--rate R]
                                 [--bucket NAME[:REGION]]…

Writes to DIR: endpoint.json (url, control url, CA file, region, account), environment (NAME=value lines for a
shell), admin.json (the administrator's keys, mode 0600), requests.jsonl (the request log), ca/ca.pem. It says
`ready` on stdout when clients may come, and ends with SIGTERM or with the process that started it. With --keep
account, keys and ports stay as an earlier run in DIR left them.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import signal
import sys
import threading
from pathlib import Path

from tests.services.tls import Authority, write_private

from .settings import Settings
from .standin import AwsStandIn

PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Be killed when the parent ends, however it ends."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the process that started this has already ended")


def earlier_ports(folder: Path) -> tuple[int, int]:
    """The ports of the last run in a folder, or any."""
    try:
        endpoint = json.loads((folder / "endpoint.json").read_text())
        return int(endpoint["url"].rpartition(":")[2]), int(endpoint["control_url"].rpartition(":")[2])
    except (OSError, ValueError, KeyError):
        return 0, 0


def main() -> int:
    """Start, say so, wait for the end."""
    parent = os.getppid()
    parser = argparse.ArgumentParser(prog="python -m tests.services.aws", description=__doc__.splitlines()[0])
    parser.add_argument("--dir", type=Path, required=True, help="folder for endpoint, CA, keys and log")
    parser.add_argument("--region", default="us-east-1", help="home region")
    parser.add_argument("--port", type=int, default=0, help="port of the endpoint, if it is free")
    parser.add_argument("--propagation", type=float, default=0.0, help="seconds a change in IAM needs to count")
    parser.add_argument("--rate", type=float, default=1.0, help="how fast the stand-in's clock runs")
    parser.add_argument("--bucket", action="append", default=[], metavar="NAME[:REGION]", help="a bucket to begin with")
    parser.add_argument("--ca", type=Path, metavar="DIR", help="the folder of an authority to be certified by")
    parser.add_argument("--keep", action="store_true", help="go on with the account that an earlier run left in DIR")
    parser.add_argument("--detached", action="store_true", help="do not end with the starting process")
    given = parser.parse_args()
    if not given.detached:
        die_with_parent(parent)
    settings = Settings(region=given.region, propagation={"default": given.propagation})
    authority = Authority(given.ca) if given.ca else None
    aws = AwsStandIn(given.dir, settings, given.rate, authority)
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    endpoint_port, control_port = earlier_ports(given.dir) if given.keep else (0, 0)
    aws.start((given.port or endpoint_port, control_port), given.keep)
    aws.log.write_to(given.dir / "requests.jsonl")
    for bucket in given.bucket:
        name, _, region = bucket.partition(":")
        if not aws.s3.owner(name):
            aws.make_bucket(name, region or None)
    endpoint = {
        "url": aws.url,
        "control_url": aws.control_url,
        "ca_file": str(aws.ca_file),
        "region": given.region,
        "account": settings.account,
        "pid": os.getpid(),
    }
    environment = aws.environment()
    keys = {"access_key_id": aws.admin_key, "secret_access_key": aws.admin_secret}
    write_private(given.dir / "admin.json", json.dumps(keys) + "\n")
    write_private(given.dir / "environment", "".join(f"{k}={v}\n" for k, v in environment.items()))
    partial = given.dir / "endpoint.json.part"
    partial.write_text(json.dumps(endpoint, indent=1) + "\n")
    partial.rename(given.dir / "endpoint.json")
    print("ready", flush=True)
    while not ended.wait(1.0):
        pass
    aws.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
