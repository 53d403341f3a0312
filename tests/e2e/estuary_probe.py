"""estuary_probe (estuary_probe.c): src/estuary asking a control plane, driven and asked from Python.

from tests.e2e.estuary_probe import probe  # noqa: F401
"""

import base64
import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.e2e import probes


@pytest.fixture(scope="session")
def probe_program(tmp_path_factory) -> Path:
    return probes.build(tmp_path_factory.mktemp("probe"), "estuary_probe", "estuary", "net", "core")


class Answer(SimpleNamespace):
    """ok, ms, and either result (a mapping) or kind, code, what, why, fix, who, evidence."""

    def __repr__(self):
        return json.dumps(self.__dict__, ensure_ascii=False)

    @property
    def json(self):
        """What the service answered, of the commands graphql and pg."""
        return json.loads(self.result["json"])


def secrets_of(token: str) -> list[str]:
    """What of a pasted token must be seen nowhere."""
    if token.count(".") == 2:
        return [token, token.rpartition(".")[2]]
    try:
        return [token, json.loads(base64.b64decode(token))["secret"]]
    except ValueError:
        return [token] if token else []


class Probe:
    """One process with one token: probe("who") gives an Answer; the login lasts from command to command."""

    def __init__(self, program: Path, estuary, folder: Path, token: str, env: dict, deadline_ms: int):
        self.secrets = secrets_of(token)
        file = folder / "token"
        file.write_text(token + "\n")
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **estuary.environment(), **env}
        environment.update({n: v for n, v in os.environ.items() if n.endswith("SAN_OPTIONS")})
        self.process = subprocess.Popen([program, file, estuary.ca_file, str(deadline_ms)], env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def send(self, *command) -> None:
        """A command whose answer comes later."""
        self.process.stdin.write("\t".join("-" if word is None else str(word) for word in command) + "\n")
        self.process.stdin.flush()

    def answer(self) -> Answer:
        """The answer to what was sent."""
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        for secret in self.secrets:
            assert secret not in line
        return Answer(**json.loads(line))

    def __call__(self, *command) -> Answer:
        self.send(*command)
        return self.answer()

    def good(self, *command):
        """A command that must succeed; its result."""
        answer = self(*command)
        assert answer.ok, answer
        return answer.result

    def bad(self, kind: str, *command) -> Answer:
        """A command that must fail so; people are told what, why and what to do."""
        answer = self(*command)
        assert not answer.ok and answer.kind == kind, answer
        assert answer.what and answer.why and answer.fix and answer.code, answer
        assert "\x1b" not in repr(answer) and "\\u001b" not in repr(answer)
        return answer

    def end(self) -> None:
        """The process ends well: nothing leaked, no sanitizer complains."""
        _, said = self.process.communicate(timeout=30)
        assert self.process.returncode == 0 and not said, said


@pytest.fixture
def probe(probe_program, estuary, tmp_path):
    """probe(token=None, env={}, deadline_ms=20000) starts a Probe that asks `estuary` (tests.services.estuary.testing,
    which is needed beside it), with the token of the tenant's user unless another is given."""
    started = []

    def start(token=None, env=None, deadline_ms=20000):
        folder = tmp_path / f"probe-{len(started)}"
        folder.mkdir()
        started.append(Probe(probe_program, estuary, folder, estuary.pasted if token is None else token, env or {},
                             deadline_ms))
        return started[-1]

    yield start
    for one in started:
        one.end()
