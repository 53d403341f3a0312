"""Runs one command and ends it, with all it started, as soon as standard input closes.

Standard input is a pipe whose other end only the starting process holds. The kernel closes it however that process
ends, also by kill -9, so a server never outlives its test. Runs on the bare interpreter (python -I -S), knows nothing
of the rest of this package.

    watch.py [--signal NAME] [--grace SECONDS] [--user NAME] -- command...
"""

import argparse
import ctypes
import os
import select
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
libc = ctypes.CDLL(None, use_errno=True)


def identity(user: str | None) -> dict:
    """Popen arguments that make the child that user, with no group but its own."""
    if not user:
        return {}
    import pwd

    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": [entry.pw_gid]}


def descendants() -> list[int]:
    """All living processes below this one; orphans come back to us because we are their subreaper."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as stat:
                    parents[int(name)] = int(stat.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError):
                continue
    found, frontier = [], {os.getpid()}
    while frontier:
        frontier = {pid for pid, parent in parents.items() if parent in frontier}
        found += frontier
    return found


class Watch:
    """One child, one life line, one way to the end."""

    def __init__(self, command: list[str], user: str | None, stop_signal: int, grace: float):
        self.stop_signal, self.grace = stop_signal, grace
        self.status: int | None = None
        self.wake, wake_write = os.pipe()
        os.set_blocking(wake_write, False)
        os.set_blocking(self.wake, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.ended = False
        signal.signal(signal.SIGTERM, self.end)
        for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(ignored, signal.SIG_IGN)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        watcher = os.getpid()

        def in_child() -> None:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            for ignored in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
                signal.signal(ignored, signal.SIG_DFL)
            if os.getppid() != watcher:
                os._exit(1)

        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0, preexec_fn=in_child,
                                      **identity(user)).pid

    def end(self, *_: object) -> None:
        self.ended = True

    def reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self.child:
                self.status = status

    def wait(self, seconds: float | None, life_line: bool) -> None:
        """Sleeps until a child ends, a signal comes, the time is over, or (if asked) the life line closes."""
        readable, _, _ = select.select([self.wake] + ([0] if life_line else []), [], [], seconds)
        if self.wake in readable:
            os.read(self.wake, 4096)
        if 0 in readable and not os.read(0, 4096):
            self.ended = True
        self.reap()

    def run(self) -> int:
        while self.status is None and not self.ended:
            self.wait(None, True)
        if self.status is None:
            os.kill(self.child, self.stop_signal)
            deadline = time.monotonic() + self.grace
            while self.status is None and time.monotonic() < deadline:
                self.wait(max(0.0, deadline - time.monotonic()), False)
        while left := descendants():
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.wait(0.05, False)
        return os.waitstatus_to_exitcode(self.status) & 0xFF if self.status is not None else 1


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--signal", default="TERM")
    parser.add_argument("--grace", type=float, default=5)
    parser.add_argument("--user")
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    return Watch(given.command, given.user, signal.Signals["SIG" + given.signal], given.grace).run()


if __name__ == "__main__":
    sys.exit(main())
