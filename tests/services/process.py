"""What every stand-in is: a process under watch.py with a folder, a log, a probe and a deadline."""

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Self

WATCH = Path(__file__).with_name("watch.py")


class ServiceError(Exception):
    """A stand-in could not be had; the text says which, why, and what to do."""


class Service:
    """One server process. Subclasses give command() and probe(); start() returns when the probe passes."""

    name = "service"
    stop_signal = "TERM"
    grace = 5.0          # seconds from the stop signal to SIGKILL
    deadline = 60.0      # seconds until it must answer
    user: str | None = None
    cancel: threading.Event | None = None   # gives up starting once it is set
    keep_fds: tuple[int, ...] = ()   # inherited by the watcher: a lock that must be held as long as it lives

    def __init__(self, folder: Path):
        self.folder = Path(folder).resolve()
        self.log = self.folder / f"{self.name}.log"
        self.process: subprocess.Popen | None = None

    def choose_ports(self) -> None:
        """Chooses the ports that were not given; called again when a start lost the race for one."""

    def prepare(self) -> None:
        """Writes what the command needs."""

    def command(self) -> list[str]:
        raise NotImplementedError

    def environment(self) -> dict[str, str] | None:
        return None

    def probe(self) -> None:
        """Raises OSError (or a subclass's own error) while the server does not answer yet."""
        raise NotImplementedError

    def start(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        for attempt in range(3):
            self.choose_ports()
            self.prepare()
            already = self.log.stat().st_size if self.log.exists() else 0
            self._spawn()
            try:
                self._wait_ready()
                return self
            except ServiceError:
                self.stop()
                if attempt == 2 or "ddress already in use" not in self.log.read_text(errors="replace")[already:]:
                    raise
        raise AssertionError("unreachable")

    def _spawn(self) -> None:
        watch = [sys.executable, "-I", "-S", str(WATCH), "--signal", self.stop_signal, "--grace", str(self.grace)]
        if self.user:
            watch += ["--user", self.user]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*watch, "--", *self.command()], stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=self.working_folder(),
                env=self.environment(), start_new_session=True, pass_fds=self.keep_fds)

    def working_folder(self) -> Path:
        return self.folder

    def _wait_ready(self) -> None:
        assert self.process
        end = time.monotonic() + self.deadline
        while True:
            try:
                self.probe()
                return
            except Exception as error:  # noqa: BLE001 - whatever a client raises while nobody listens yet
                last = error
            if self.process.poll() is not None:
                raise ServiceError(f"{self.name} ended with code {self.process.returncode} while starting; "
                                   f"end of {self.log}:\n{self.log_tail()}")
            if self.cancel and self.cancel.is_set():
                raise ServiceError(f"the start of {self.name} was cancelled")
            if time.monotonic() > end:
                raise ServiceError(f"{self.name} did not answer within {self.deadline:.0f} s ({last}); "
                                   f"end of {self.log}:\n{self.log_tail()}")
            time.sleep(0.05)

    def log_tail(self, lines: int = 15) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self) -> None:
        """Closes the life line, the same way as when this process dies, and waits for the end."""
        if self.process is None:
            return
        assert self.process.stdin
        self.process.stdin.close()
        try:
            self.process.wait(self.grace + 10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
