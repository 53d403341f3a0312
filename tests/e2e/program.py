"""Fixtures: the real program, without a terminal and in one. conftest.py takes them in."""

import os
import re
from types import SimpleNamespace

import pytest

from tests.e2e.cli import Sluice
from tests.e2e.term import Wizard

MACHINE = re.compile(r"(SLUICE|AWS|PG|XDG|LC)_\w+|LANG\w*|\w*(CA_BUNDLE|SSL_CERT_\w+)|\w*_proxy|NO_COLOR|ACCESSIBLE", re.I)


@pytest.fixture
def sluice(sluice_bin, tmp_path) -> Sluice:
    """The program with a folder of its own; of services it knows nothing."""
    return Sluice(sluice_bin, tmp_path / "work")


@pytest.fixture
def ready(sluice, ready_answers) -> SimpleNamespace:
    """sluice that reaches the services, and everything it wants to know: .sluice, .args (options that give the answers
    and the passphrase), and what ready_answers has."""
    sluice.env |= ready_answers.env
    return SimpleNamespace(sluice=sluice, args=("--answers", ready_answers.answers, "--passphrase-file",
                                                ready_answers.passphrase_file), **vars(ready_answers))


@pytest.fixture
def wizard(sluice):
    """wizard("--log", path, rows=…, cols=…, env=…) starts the screens on the state file of `sluice` and waits for the
    first one (ready=None: does not)."""
    opened: list[Wizard] = []

    def start(*given: object, env: dict[str, str | None] | None = None, ready: str | None = "Checks", **more) -> Wizard:
        gone = {name: None for name in os.environ if MACHINE.fullmatch(name)}
        terminal = Wizard(sluice.argv(*given), env={**gone, **sluice.env, **(env or {})}, cwd=sluice.folder, **more)
        opened.append(terminal)
        if ready is not None:
            terminal.wait_for(ready)
        return terminal

    yield start
    for terminal in opened:
        terminal.__exit__()
