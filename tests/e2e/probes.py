"""The probes (NAME_probe*.c): programs that call layers of sluice as they are told on stdin, for tests that watch those
layers from outside."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.services import places

HERE = Path(__file__).parent
LIBRARIES = ("-lcurl -lpq -lssl -lcrypto -lcjson -lexpat -lyaml -lutf8proc -lxxhash -lncursesw -ltinfo -lcmocka"
             " -lpthread").split()


def _cached(build: Path, name: str) -> str:
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith(name + ":"):
            return line.split("=", 1)[1]
    return ""


def build(folder: Path, name: str, *layers: str) -> Path:
    """The probe of that name, built with the compiler, sanitizers and static layers of the build under test."""
    under_test = Path(os.environ.get("SLUICE_BIN", places.BUILD / "asan" / "sluice")).resolve().parent
    archives = [under_test / f"libsluice_{layer}.a" for layer in layers]
    for archive in archives:
        if not archive.exists():
            pytest.fail(f"{archive} is not built: scripts/test builds it", pytrace=False)
    sanitizers = _cached(under_test, "SLUICE_SANITIZE")
    command = [_cached(under_test, "CMAKE_C_COMPILER") or "cc", "-std=c17", "-D_GNU_SOURCE", "-g",
               f"-I{places.REPO / 'src'}", f"-I{HERE}", *([f"-fsanitize={sanitizers}"] if sanitizers else [])]
    program = folder / name
    done = subprocess.run([*command, "-o", program, *sorted(HERE.glob(f"{name}*.c")), *archives, "-Wl,--as-needed",
                           *LIBRARIES], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program
