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

from tests.services import places

SOURCES = sorted(Path(__file__).parent.glob("aws_probe*.c"))
LAYERS = ("aws", "net", "core")
LIBRARIES = "-lcurl -lpq -lssl -lcrypto -lcjson -lexpat -lyaml -lutf8proc -lpthread".split()


def digest(text: str) -> str:
    """How the probe shows a secret: as core/digest.h writes it."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _cached(build: Path, name: str) -> str:
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith(name + ":"):
            return line.split("=", 1)[1]
    return ""


@pytest.fixture(scope="session")
def probe_program(tmp_path_factory) -> Path:
    """aws_probe, built with the compiler, sanitizers and static layers of the build under test."""
    build = Path(os.environ.get("SLUICE_BIN", places.BUILD / "asan" / "sluice")).resolve().parent
    layers = [build / f"libsluice_{name}.a" for name in LAYERS]
    for layer in layers:
        if not layer.exists():
            pytest.fail(f"{layer} is not built: scripts/test builds it", pytrace=False)
    program = tmp_path_factory.mktemp("probe") / "aws_probe"
    sanitizers = _cached(build, "SLUICE_SANITIZE")
    compiler = _cached(build, "CMAKE_C_COMPILER") or "cc"
    command = [compiler, "-std=c17", "-D_GNU_SOURCE", "-g", f"-I{places.REPO / 'src'}", f"-I{SOURCES[0].parent}"]
    command += [f"-fsanitize={sanitizers}"] if sanitizers else []
    done = subprocess.run([*command, "-o", program, *SOURCES, *layers, *LIBRARIES], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program


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
