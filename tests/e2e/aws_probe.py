"""aws_probe (aws_probe.c): src/aws making calls, driven and asked from Python.

from tests.e2e.aws_probe import probe  # noqa: F401
"""

import hashlib
import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.e2e import probes


def digest(text: str) -> str:
    """How the probe shows a secret: as core/digest.h writes it."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@pytest.fixture(scope="session")
def probe_program(tmp_path_factory) -> Path:
    return probes.build(tmp_path_factory.mktemp("probe"), "aws_probe", "aws", "net", "core")


class Answer(SimpleNamespace):
    """ok, skew, and either result (a namespace by attribute, a mapping inside) or kind, code, what, why, fix, who,
    evidence."""

    def __repr__(self):
        return json.dumps(self.__dict__, default=repr, ensure_ascii=False)


class Probe:
    """Runs commands in one process: probe(["identity"], ["get", "role", "x"]) gives an Answer each."""

    def __init__(self, program: Path, aws, home: Path):
        self.program, self.aws, self.home = program, aws, home
        self.said = ""

    def __call__(self, *commands, env=None, options=(), keys=None):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), **self.aws.environment(*(keys or ()))}
        environment.update({n: v for n, v in os.environ.items() if n.endswith("SAN_OPTIONS")})
        for name, value in (env or {}).items():
            environment.pop(name, None)
            if value is not None:
                environment[name] = value
        lines = ["\t".join("-" if word is None else word for word in command) for command in commands]
        done = subprocess.run([self.program, *options], input="".join(line + "\n" for line in lines), env=environment,
                              capture_output=True, text=True, timeout=120)
        self.said = done.stdout + done.stderr
        assert done.returncode == 0, done.stderr
        answers = [Answer(**json.loads(line)) for line in done.stdout.splitlines()]
        assert len(answers) == len(commands), done.stderr
        return answers

    def one(self, *command, **options):
        """One command, one Answer."""
        return self(list(command), **options)[0]

    def good(self, *command, **options):
        """One command that must succeed; its result."""
        answer = self.one(*command, **options)
        assert answer.ok, answer
        return answer.result


@pytest.fixture
def probe(probe_program, aws, tmp_path):
    """A Probe that calls `aws` (tests.services.aws.testing) as its administrator; needs that fixture beside it."""
    return Probe(probe_program, aws, tmp_path)
