"""The sandbox: all local services, and sluice in front of them, prefilled. What scripts/sandbox runs.

    sandbox [--fresh] [ARGUMENTS OF SLUICE...]    the wizard in a terminal, else check, plan, apply, check, export
    sandbox --serve DIR [--fresh]                 only the services; DIR says how to reach them; until SIGTERM

The data, the ports, the certificate authority and sluice's state stay where they are, so that a half-finished set-up
can be taken up again."""

import argparse
import os
import signal
import sys
import threading
import time
from pathlib import Path

from . import answers, places
from .foreground import Foreground, headless
from .process import ServiceError
from .served import Served

HOME = Path(os.environ.get("SANDBOX_HOME", places.BUILD / "sandbox")).resolve()
CANNOT = 69   # EX_UNAVAILABLE: what sluice itself never returns


def say(text: str) -> None:
    print(f"sandbox: {text}", file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/sandbox", description="Real local services, and sluice against them.")
    parser.add_argument("--fresh", action="store_true", help="start over: the database, the catalog, the AWS account, sluice's state")
    parser.add_argument("--serve", metavar="DIR", type=Path,
                        help="only serve, until SIGTERM; DIR/answers.yaml, passphrase, env, and DIR/ready at last")
    parser.add_argument("sluice", nargs=argparse.REMAINDER, help="arguments for sluice, after --")
    return parser.parse_args()


def on_end(ended: threading.Event) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: ended.set())


def serve(folder: Path, fresh: bool) -> int:
    """Starts everything, says so in DIR/ready, and waits for a signal."""
    ended = threading.Event()
    on_end(ended)
    ready = folder / "ready"
    with Served(folder, folder / "services", say, fresh=fresh, moves=not (folder / "answers.yaml").exists()) as served:
        ready.unlink(missing_ok=True)
        served.start(ended)
        if ended.is_set():
            return 0
        answers.write(folder, served.catalog, served.server, aws=served.aws_told(), estuary=served.estuary_told())
        ready.write_text(f"{os.getpid()}\n")
        try:
            say(f"ready; {folder}/env says how to reach the services. SIGTERM or Ctrl-C ends them.")
            while not ended.wait(0.5):
                served.raise_if_ended()
        finally:
            ready.unlink(missing_ok=True)
        say("ending")
    return 0


def run(given: list[str], fresh: bool) -> int:
    """Starts everything and sluice in front of it."""
    state = HOME / "shop" / "sluice.yaml"
    program = Path(os.environ.get("SLUICE_BIN", places.BUILD / "release" / "sluice"))
    with Served(HOME, HOME / "services", say, fresh=fresh, moves=not state.exists(), more=("shop",)) as served:
        foreground = Foreground()
        served.start(foreground.ended)
        if foreground.ended.is_set():
            return foreground.code
        aws, estuary = served.aws_told(), served.estuary_told()
        answers.write(HOME, served.catalog, served.server, aws=aws, estuary=estuary)
        state.parent.mkdir(mode=0o700, exist_ok=True)
        given_here = answers.for_sluice(answers.environment(HOME, served.catalog, served.server, aws=aws, estuary=estuary))
        environment = {name: value for name, value in os.environ.items() if name not in answers.ELSEWHERE} | given_here
        options = ["--state", str(state), "--passphrase-file", str(HOME / "passphrase")]

        def command(*words: str) -> list[str]:
            seed = [] if state.exists() else ["--answers", str(HOME / "answers.yaml")]
            return [str(program), *words, *options, *seed]

        if sys.stdin.isatty() and sys.stdout.isatty():
            if state.exists():
                say(f"going on with {state}; --fresh starts over")
            return foreground.run([*command(), *given], environment)
        return headless(foreground, command, environment, state)


def main() -> int:
    given = arguments()
    for_sluice = given.sluice[1:] if given.sluice[:1] == ["--"] else given.sluice
    begin = time.monotonic()
    try:
        if given.serve:
            return serve(given.serve.resolve(), given.fresh)
        return run(for_sluice, given.fresh)
    except ServiceError as error:
        say(f"after {time.monotonic() - begin:.0f} s: {error}")
        return CANNOT


if __name__ == "__main__":
    sys.exit(main())
