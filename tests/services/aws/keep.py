"""An account that outlives the process: what a sandbox needs so that a half-finished set-up can be taken up again.

The models are pickled after each change, before its answer goes out, in one file that is replaced whole: what a
client was told outlives a kill at any moment. The file is read only by the version of moto that wrote it. Sessions,
faults and log are not kept.
"""

from __future__ import annotations

import importlib.metadata
import pickle
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.services.tls import write_private

if TYPE_CHECKING:
    from .standin import AwsStandIn

VERSION = f"1 moto {importlib.metadata.version('moto')}"


def _gather(aws: AwsStandIn) -> dict[str, Any]:
    backend, settings = aws.world.backend, aws.settings
    accounts = (settings.account, settings.foreign_account)
    regions = aws.ec2.regions()
    return {
        "version": VERSION,
        "account": (settings.account, settings.region),
        "admin": (aws.admin_key, aws.admin_secret),
        "now": aws.clock.now(),
        "iam": backend.model("iam"),
        "s3": {account: backend.model("s3", account=account) for account in accounts},
        "ec2": {region: backend.model("ec2", region) for region in regions},
        "networks": {region: aws.ec2.network(region) for region in regions},
        "ssm": {region: dict(backend.model("ssm", region)._parameters) for region in backend.regions_of("ssm")},
        "emr": aws.emr.applications,
    }


def save(aws: AwsStandIn, path: Path) -> None:
    """Write everything that exists."""
    with aws.front.lock:
        content = pickle.dumps(_gather(aws))
    partial = path.with_suffix(".part")
    write_private(partial, content)
    partial.rename(path)


def load(aws: AwsStandIn, path: Path) -> bool:
    """Put back what an earlier process kept; False when there is nothing that fits."""
    try:
        kept = pickle.loads(path.read_bytes())
    except (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError):
        return False
    if kept["version"] != VERSION or kept["account"] != (aws.settings.account, aws.settings.region):
        return False
    backend = aws.world.backend
    aws.admin_key, aws.admin_secret = kept["admin"]
    aws.clock.advance(max(0.0, kept["now"] - aws.clock.now()))
    backend.replace("iam", kept["iam"])
    for account, model in kept["s3"].items():
        backend.replace("s3", model, account=account)
    for region, model in kept["ec2"].items():
        backend.replace("ec2", model, region)
    aws.ec2.adopt(kept["networks"])
    for region, parameters in kept["ssm"].items():
        backend.model("ssm", region)._parameters.update(parameters)
    aws.emr.applications.update(kept["emr"])
    aws.world.directory.start()
    return True


class Keeper:
    """Saves at the start, with each change, and once more at the end."""

    def __init__(self, aws: AwsStandIn, path: Path) -> None:
        self._aws, self._path = aws, path
        self._ended = threading.Event()
        self._saved = -1
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> Keeper:
        """Begin. The thread takes in what changes without a call: a reset, a bucket made from outside."""
        self._once()
        self._thread.start()
        return self

    def stop(self) -> None:
        """Save what is unsaved and end."""
        self._ended.set()
        self._thread.join()
        self._once()

    def _run(self) -> None:
        while not self._ended.wait(0.5):
            self._once()

    def _once(self) -> None:
        front = self._aws.front
        with front.lock:
            front.after_write = self._once
            if front.changes != self._saved:
                save(self._aws, self._path)
                self._saved = front.changes
