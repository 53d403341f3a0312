"""Runs sluice as the foreground program of this terminal, or headless with a report, and never lets it outlive us."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import termios
import threading
from pathlib import Path
from typing import Callable

_libc = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
STOPPING = (3, 5, 64, 70)   # codes of sluice after which the next command would only say the same
# Back to the usual screen with a visible cursor, no bracketed paste, no mouse: for a program that was killed.
RESTORE = "\x1b[?1049l\x1b[?25h\x1b[?2004l\x1b[?1000l\x1b[0m"


class Foreground:
    """One child at a time. A signal that ends us is passed on to it, so that it can save; Ctrl-C is its own affair."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.code = 0
        self._child: subprocess.Popen | None = None
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, _frame: object) -> None:
        if number == signal.SIGINT and self._child and sys.stdin.isatty():
            return   # the terminal has sent it to the child as well, and the child decides
        self.ended.set()
        self.code = 128 + number
        if self._child and self._child.poll() is None:
            self._child.send_signal(number)

    def run(self, command: list[str], environment: dict[str, str], *, capture: bool = False) -> int:
        """The child's exit code, or 128 + its signal. With capture its stdout is kept in .output."""
        mine = os.getpid()

        def in_child() -> None:
            _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
            if os.getppid() != mine:
                os._exit(1)

        saved = termios.tcgetattr(0) if sys.stdin.isatty() else None
        try:
            self._child = subprocess.Popen(command, env=environment, preexec_fn=in_child, text=True,
                                           stdout=subprocess.PIPE if capture else None)
        except OSError as error:
            print(f"sandbox: {command[0]} cannot be started: {error.strerror}", file=sys.stderr)
            return 127
        self.output = self._child.communicate()[0] if capture else ""
        code = self._child.wait()
        self._child = None
        if code < 0 and saved is not None:
            termios.tcsetattr(0, termios.TCSANOW, saved)
            print(RESTORE, end="", flush=True)
        return code if code >= 0 else 128 - code


def headless(foreground: Foreground, command: Callable[..., list[str]], environment: dict[str, str], state: Path) -> int:
    """check, plan, apply --yes, check --deep, export; what was proved, and where the specification lies. The code is that
    of check --deep, or else of export."""
    for words in (("check",), ("plan",), ("apply", "--yes")):
        print(f"\n$ sluice {' '.join(words)}", flush=True)
        code = foreground.run(command(*words), environment)
        if code in STOPPING or code > 125 or foreground.ended.is_set():
            print(f"\nsluice {' '.join(words)} ended with code {code}; the state lies in {state}")
            return code
    print("\n$ sluice check --deep", flush=True)
    code = foreground.run(command("check", "--deep", "--json"), environment, capture=True)
    print(report(foreground.output, code))
    if code not in STOPPING and code < 126 and not foreground.ended.is_set():
        exported = export(foreground, command, environment, state.parent)
        code = code or exported
    print(f"The state lies in {state}\nSecrets, certificates and data: {state.parent.parent}")
    return code


def export(foreground: Foreground, command: Callable[..., list[str]], environment: dict[str, str], beside: Path) -> int:
    """Writes the specification into a folder beside the state. sluice replaces what it wrote itself; what was worked on
    since it leaves alone, and so do we: then the next free number is taken."""
    number = 1
    while True:
        folder = beside / ("export" if number == 1 else f"export-{number}")
        stood = folder.exists()
        print(f"\n$ sluice export -o {folder}", flush=True)
        code = foreground.run(command("export", "-o", str(folder)), environment)
        if code != 1 or not stood:
            break
        number += 1
    if code == 0:
        print(f"What would be published: ls {folder}\nRead {folder / 'RUNBOOK.md'} first.\n")
    return code


def report(text: str, code: int) -> str:
    """A line a check, and a sum."""
    try:
        checks = json.loads(text)["checks"]
    except (ValueError, KeyError, TypeError):
        return f"{text}\nsluice check --deep ended with code {code}"
    lines, sums = [], {}
    for check in checks:
        sums[check["status"]] = sums.get(check["status"], 0) + 1
        why = f" - {check['why']}" if check.get("why") and check["status"] not in ("passed", "accepted") else ""
        lines.append(f"  {check['status']:<11} {check['id']:<32} {check['title']}{why}")
    told = ", ".join(f"{count} {status}" for status, count in sorted(sums.items(), key=lambda each: -each[1]))
    return "\n".join([*lines, "", f"Proved live against the local services: {told or 'nothing'} (code {code})."])
