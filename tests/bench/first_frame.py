"""From exec to the first frame, and the memory it takes: sluice on a new set-up in an empty folder beside whiptail, the
smallest thing with which a script asks a person for something.

What bounds ours is measured as well: an empty program that needs the same libraries."""

import itertools
import os
import re
import statistics
import subprocess
from pathlib import Path

from tests.e2e.cli import Sluice

from .figures import Figure, alternate, of_runs
from .screens import Frame, Fresh

PEER = "/usr/bin/whiptail"
ASKS = (PEER, "--title", "New set-up", "--inputbox", "Name of the pipeline", "10", "60", "shop")
LAST_OURS, LAST_PEER = "F10 quit", "<Cancel>"


EMPTY = '#include <unistd.h>\nint main(void) { return (int)write(1, "stands", 6) + pause(); }\n'


def measure(program: Path, folder: Path, count: int) -> list[Figure]:
    numbers = itertools.count()
    empty = _empty(program, folder)
    frames: dict[str, list[Frame]] = {"ours": [], "peer": [], "empty": []}
    plain = {"HOME": str(folder), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}

    def ours() -> float:
        sluice = Sluice(program, folder / f"new-{next(numbers)}")
        return _frame(frames["ours"], sluice.argv(), sluice.env, sluice.folder, LAST_OURS)

    def peer() -> float:
        return _frame(frames["peer"], list(ASKS), plain, folder, LAST_PEER)

    def nothing() -> float:
        return _frame(frames["empty"], [str(empty)], plain, folder, "stands")

    alternate(2, ours, peer, nothing)   # the pages of all are in memory now
    for runs in frames.values():
        runs.clear()
    alternate(count, ours, peer, nothing)

    largest = dict(list(frames["ours"][-1].parts.items())[:12])

    def figure(name: str, unit: str, what: str, per: float, goal: float) -> Figure:
        ours, peer, empty = ([getattr(frame, what) * per for frame in frames[who]] for who in ("ours", "peer", "empty"))
        least = statistics.median(empty)
        return of_runs(name, unit, ours, peer, goal, f"an empty program with our libraries: {least:.3g} {unit}",
                       empty_program_with_our_libraries=least, largest_parts_kb=largest)

    return [figure("exec to first frame, beside whiptail", "ms", "seconds", 1000, 3),
            figure("peak memory at first frame, RSS", "MB", "peak_kb", 1 / 1024, 2.5),
            # The least certain of them: it falls with each other process that has the same libraries.
            figure("memory at first frame, PSS", "MB", "pss_kb", 1 / 1024, 2.5)]


def _empty(program: Path, folder: Path) -> Path:
    """A program that does nothing but needs the same libraries."""
    dynamic = subprocess.run(["readelf", "-d", str(program)], capture_output=True, text=True, check=True).stdout
    found = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True).stdout
    paths = dict(re.findall(r"^\s*(\S+) => (\S+)", found, re.M))
    needed = [paths[name] for name in re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)]
    folder.mkdir(parents=True, exist_ok=True)
    source, target = folder / "empty.c", folder / "empty"
    source.write_text(EMPTY)
    subprocess.run(["gcc", "-O2", "-o", str(target), str(source), "-Wl,--no-as-needed", *needed], check=True)
    return target


def _frame(frames: list[Frame], argv: list[str], env: dict[str, str], folder: Path, last: str) -> float:
    gone: dict[str, str | None] = {name: None for name in os.environ}
    with Fresh(argv, env={**gone, **env}, cwd=folder) as terminal:
        frames.append(terminal.first_frame(last))
    return frames[-1].seconds
