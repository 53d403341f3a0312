"""Measures sluice beside its peers and prints the ratios; what scripts/bench runs.

    bench [--only PART,...] [--quick] [--no-cli] [-o FILE]

Parts: frame (whiptail), postgres (psql), aws (boto3, the aws CLI), keys (htop). Each figure is a ratio of medians of
alternating runs on this machine in this hour; nothing is asserted of it, so the exit code is 0 when a goal is missed and 1
only when something could not be measured. The numbers of each run are in the JSON."""

import argparse
import datetime
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from tests.services import places

from . import aws_speed, first_frame, key_paint, postgres_survey
from .figures import Figure, table
from .world import World

Part = Callable[[World, argparse.Namespace], list[Figure]]
# keys is the last: it applies everything, and the others want services to which nothing was done.
PARTS: dict[str, Part] = {
    "frame": lambda world, given: first_frame.measure(world.program, world.folder / "frame", 5 if given.quick else 21),
    "postgres": lambda world, given: postgres_survey.measure(world, 3 if given.quick else 11),
    "aws": lambda world, given: aws_speed.measure(world, 3 if given.quick else 11, _cli_runs(given)),
    "keys": lambda world, given: key_paint.measure(world, 50 if given.quick else 300),
}


def _cli_runs(given: argparse.Namespace) -> tuple[int, int]:
    """The hundred calls of apply are enough of a sample in one run."""
    return (0, 0) if given.no_cli else (1, 1) if given.quick else (1, 3)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description="sluice beside its peers, as ratios.")
    parser.add_argument("--only", metavar="PART,...", type=lambda text: text.split(","), default=list(PARTS),
                        help=f"of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="few runs: to see that it works, not to know the figures")
    parser.add_argument("--no-cli", action="store_true", help="without the aws CLI, which takes half of the time")
    parser.add_argument("-o", metavar="FILE", type=Path, default=places.BUILD / "bench" / "figures.json", dest="output")
    given = parser.parse_args()
    if unknown := set(given.only) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    return given


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


def run(given: argparse.Namespace, program: Path, folder: Path, base: Path) -> dict:
    """All figures, with what the machine was doing meanwhile."""
    figures: list[Figure] = []
    seconds: dict[str, float] = {}
    failed: dict[str, str] = {}
    loads = [os.getloadavg()]
    with World(program, folder, base) as world:
        for name in PARTS:
            if name not in given.only:
                continue
            began = time.monotonic()
            say(f"{name} …")
            try:
                figures += PARTS[name](world, given)
            except Exception as wrong:  # noqa: BLE001 - the other parts are worth knowing all the same
                traceback.print_exc()
                failed[name] = f"{type(wrong).__name__}: {wrong}"
            seconds[name] = round(time.monotonic() - began, 1)
            loads.append(os.getloadavg())
            say(f"{name}: {seconds[name]} s, load average {loads[-1][0]:.2f}")
    print(table(figures))
    for name, why in failed.items():
        print(f"\n{name} could not be measured: {why}")
    return {"sluice_bench": 1, "at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"), "quick": given.quick,
            "program": str(program), "cpus": os.cpu_count(), "load": loads, "seconds": seconds, "failed": failed,
            "figures": [figure.told() for figure in figures]}


def _folder(home: Path, what: str) -> Path:
    """A new one; what a killed run left is removed."""
    for left in home.glob(f"{what}-*-*"):
        if not Path("/proc", left.name.split("-")[1]).exists():
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{what}-{os.getpid()}-", dir=home))


def main() -> int:
    given = arguments()
    program = Path(os.environ.get("SLUICE_BIN", places.BUILD / "release" / "sluice")).resolve()
    home = places.BUILD / "bench"
    home.mkdir(parents=True, exist_ok=True)
    servers = places.enterable(home, places.service_user())
    servers.mkdir(parents=True, exist_ok=True)
    folder, base = _folder(home, "work"), _folder(servers, "servers")
    base.chmod(0o711)
    try:
        told = run(given, program, folder, base)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(base, ignore_errors=True)
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    say(f"every run is in {given.output}")
    return 1 if told["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
