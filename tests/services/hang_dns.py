"""Builds hang_dns.c and says which environment makes a program's look-ups of some names hang."""

import subprocess
from pathlib import Path

from .places import BUILD
from .process import ServiceError

SOURCE = Path(__file__).with_suffix(".c")


def library() -> Path:
    """The shared object, built anew when its source is newer."""
    target = BUILD / "hang_dns.so"
    if not target.exists() or target.stat().st_mtime < SOURCE.stat().st_mtime:
        BUILD.mkdir(exist_ok=True)
        part = target.with_name(f"{target.name}.{id(target):x}")
        done = subprocess.run(["gcc", "-std=c17", "-Wall", "-Wextra", "-O1", "-shared", "-fPIC", "-o", str(part),
                               str(SOURCE), "-ldl"], capture_output=True, text=True)
        if done.returncode != 0:
            raise ServiceError(f"{SOURCE} does not compile:\n{done.stderr}")
        part.rename(target)
    return target


def environment(names: list[str], base: dict[str, str]) -> dict[str, str]:
    """A copy of base in which the look-up of these names never returns. Also fit for a sanitized program, whose
    runtime otherwise insists on coming before every preloaded library."""
    options = f"{base.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0".lstrip(":")
    return base | {"LD_PRELOAD": str(library()), "SLUICE_TEST_HANG_DNS": ",".join(names), "ASAN_OPTIONS": options}
