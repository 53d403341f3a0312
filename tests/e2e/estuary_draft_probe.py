"""estuary_draft_probe (estuary_draft_probe.c): src/estuary's drafts, driven and asked from Python.

from tests.e2e.estuary_draft_probe import probe  # noqa: F401
"""

import json
import os
import subprocess
import threading
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import pytest

from tests.e2e import probes
from tests.services.estuary.testing import CAPTURE, POSTGRES_IMAGE, Client, pipeline, postgres_config

#: Seconds that jobs take, so that the first looks of a poll find them done.
SOON = {"life": {"discover": 0.05, "publish": 0.05}}


@pytest.fixture(scope="session")
def probe_program(tmp_path_factory) -> Path:
    return probes.build(tmp_path_factory.mktemp("probe"), "estuary_draft_probe", "estuary", "net", "core")


class Answer(SimpleNamespace):
    """ok, progress, complaints [sort, name, where, detail], and result or kind, code, what, why, fix, who, evidence."""

    def __repr__(self):
        return json.dumps(self.__dict__, ensure_ascii=False)


class Probe:
    """Runs commands in one process: probe(["new", "x"], ["try"]) gives an Answer each."""

    def __init__(self, program, estuary, folder):
        self.program, self.estuary, self.folder = program, estuary, folder
        self.token = folder / "token"
        self.token.write_text(estuary.pasted + "\n")
        self.client = Client(estuary, estuary.access_token())

    def start(self, *options):
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), **self.estuary.environment()}
        env.update({n: v for n, v in os.environ.items() if n.endswith("SAN_OPTIONS")})
        return subprocess.Popen([self.program, self.token, "--ca", str(self.estuary.ca_file), *options], env=env, text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def __call__(self, *commands, options=()):
        lines = ["\t".join(str(word) or "-" for word in command) + "\n" for command in commands]
        process = self.start(*options)
        out, err = process.communicate("".join(lines), timeout=60)
        assert process.returncode == 0, err
        answers = [Answer(**json.loads(line)) for line in out.splitlines()]
        assert len(answers) == len(commands), err
        for answer in answers:
            assert "\x1b" not in "".join(answer.progress) + str(answer.__dict__.get("evidence")), answer
        return answers

    def file(self, content, name="given.json"):
        """A file of JSON."""
        (self.folder / name).write_text(json.dumps(content))
        return self.folder / name

    def tried(self, specs=None, plane=""):
        """The answer of a trial of these specs in a new draft, which is deleted after it."""
        staged = self.file(specs if specs is not None else pipeline(self.client))
        made, put, tried, gone = self(["new", "t"], ["stage", staged, "fresh"], ["try", plane], ["delete"])
        assert made.ok and put.ok and gone.ok, (made, put, gone)
        return tried

    def capture(self, sealed):
        """A file with a capture that is to be discovered, and one with its config."""
        model = {"autoDiscover": {"addNewBindings": True, "evolveIncompatibleCollections": True},
                 "endpoint": {"connector": {"image": POSTGRES_IMAGE, "config": sealed}}, "bindings": []}
        return self.file({CAPTURE: ["capture", model]}), self.file(sealed, "config.json")

    def tag_of(self, image):
        """The id of a connector's tag."""
        name, _, tag = image.rpartition(":")
        connector = self.client.rows(f"connectors?select=id&image_name=eq.{name}")[0]["id"]
        asked = f"connector_tags?select=id&connector_id=eq.{quote(connector)}&image_tag=eq.:{tag}"
        return self.client.rows(asked)[0]["id"]

    def discovered(self, *more, sealed=None):
        """The answers of discovers in one draft, each ("",) or (image, plane), and of reading it at last."""
        sealed = sealed or self.client.seal("capture", postgres_config())
        staged, config = self.capture(sealed)
        asked = [["discover", CAPTURE, self.tag_of(image or POSTGRES_IMAGE), config, plane] for image, plane in
                 more or [("", "")]]
        made, put, *found, read, gone = self(["new", "t"], ["stage", staged, "fresh"], *asked, ["read"], ["delete"])
        assert made.ok and put.ok and read.ok and gone.ok, (made, put, read, gone)
        return *found, {name: (sort, spec) for name, (sort, spec) in read.result.items()}


class _Ticking:
    """The stand-in begins jobs when something is asked of it; this has them done when they are due."""

    def __init__(self, estuary):
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(estuary,), daemon=True)
        self._thread.start()

    def _run(self, estuary):
        while not self._over.wait(0.02):
            estuary.advance(0)

    def stop(self):
        self._over.set()
        self._thread.join()


@pytest.fixture
def probe(probe_program, estuary, tmp_path):
    """A Probe; no draft may be left when the test ends."""
    estuary.settings.update(SOON)
    ticking = _Ticking(estuary)
    yield Probe(probe_program, estuary, tmp_path)
    ticking.stop()
    assert estuary.contents()["drafts"] == []
