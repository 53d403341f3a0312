"""sluice without a terminal: arguments in; exit code, stdout and stderr out. Nothing of this machine's own settings
reaches it, and no escape code may come from it."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

NOWHERE = "http://127.0.0.1:1/iceberg"    # so that no test asks the real catalog, which is the default; nor Estuary
NOBODY = {f"SLUICE_ESTUARY_{name}_URL": "http://127.0.0.1:1" for name in ("API", "PG", "ENCRYPTION", "DASHBOARD")}
KEPT = ("PATH", "HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict:
        return json.loads(self.out)

    @property
    def checks(self) -> dict[str, dict]:
        """Of check --json: each check by its id."""
        return {check["id"]: check for check in self.json["checks"]}

    def __str__(self) -> str:
        return f"exit code {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"

    def ends(self, code: int) -> "Done":
        assert self.code == code, str(self)
        return self


class Sluice:
    """The program with a home, a state file and an environment of its own.

    env: what every run gets; state: where its state lies; run(…) runs it to its end."""

    def __init__(self, program: Path, folder: Path, env: dict[str, str] | None = None):
        self.program, self.folder = program, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.state = folder / "sluice.yaml"
        self.secrets = folder / "sluice.secrets"
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.env = {**kept, "HOME": str(folder / "home"), "XDG_STATE_HOME": str(folder / "home" / "state"),
                    "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "SLUICE_OAUTH_URL": NOWHERE, **NOBODY,
                    **(env or {})}

    def argv(self, *given: object) -> list[str]:
        """The command line, with the state file unless another is named."""
        words = [str(word) for word in given]
        command = words[:1] if words and not words[0].startswith("-") else []
        state = [] if "--state" in words else ["--state", str(self.state)]
        return [str(self.program), *command, *state, *words[len(command):]]

    def start(self, *given: object, env: dict[str, str] | None = None, **more) -> subprocess.Popen:
        """The program running; for tests that interrupt it."""
        more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | more
        return subprocess.Popen(self.argv(*given), env=self.env | (env or {}), cwd=self.folder, **more)

    def run(self, *given: object, timeout: float = 120, escapes: bool = False, **more) -> Done:
        with self.start(*given, **more) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                raise AssertionError(f"{given} does not end\n--- stdout\n{out}\n--- stderr\n{err}") from None
        done = Done(process.returncode, out or "", err or "")
        assert escapes or "\x1b" not in done.out + done.err, str(done)
        return done

    def bytes(self) -> bytes:
        """The state file as it lies there."""
        return self.state.read_bytes()
