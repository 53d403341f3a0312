"""Saving when the disk is full or may not be written: it is said at once, what was there stays, and nothing typed is lost
once there is room again. And who may read what was written."""

import os
import re
import resource

import pytest

from tests.e2e import stands


def test_full_disk(sluice, wizard):
    """The header says NOT SAVED, the reason stands below; as soon as there is room it is saved by itself."""
    w = wizard()
    w.to_step("Start")
    w.fill("Name", "before")
    w.wait_saved()
    w.settle()
    w.pump(1.0)
    whole = sluice.bytes()
    limits = resource.prlimit(w.pid, resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
    w.fill("Estuary prefix", "acmeCo/")
    w.wait_for(lambda w: "NOT SAVED" in w.header())
    w.wait_for("not saved: cannot save")
    assert sluice.bytes() == whole
    assert not [path.name for path in sluice.folder.iterdir() if ".tmp" in path.name]
    resource.prlimit(w.pid, resource.RLIMIT_FSIZE, limits)
    w.wait_saved()
    assert stands.load(sluice.state)["answers"]["start"]["prefix"] == "acmeCo/"
    w.quit()


def test_leaving_with_a_full_disk(sluice, wizard):
    """The first F10 says that it cannot be saved; the second leaves all the same, and what was saved before is whole."""
    w = wizard()
    w.to_step("Start")
    w.fill("Name", "before")
    w.wait_saved()
    w.pump(1.0)
    whole = sluice.bytes()
    resource.prlimit(w.pid, resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
    w.fill("Estuary prefix", "acmeCo/")
    w.wait_for(lambda w: "NOT SAVED" in w.header())
    w.press("F10")
    w.settle()
    assert not w.ended()
    w.press("F10")
    assert w.wait() in (0, 5)
    w.assert_restored()
    assert sluice.bytes() == whole


def test_place_that_may_not_be_written(sluice):
    """Said at the start, before anything is typed in vain."""
    (sluice.folder / "file").write_text("not a folder")
    state = sluice.folder / "file" / "sluice.yaml"
    done = sluice.run("state", "set", "start.name", "shop", "--state", state).ends(5)
    assert f"{state.parent} is not a folder" in done.err and re.search(r"^  you: ", done.err, re.M), str(done)
    if os.geteuid() != 0:    # root may write everywhere
        sluice.folder.chmod(0o500)
        done = sluice.run("state", "set", "start.name", "shop").ends(5)
        sluice.folder.chmod(0o700)
        assert "Permission denied" in done.err, str(done)


@pytest.mark.parametrize("mask", [0o000, 0o022])
def test_private_whatever_the_mask(sluice, mask):
    """State, its lock, the log and the copy before are the owner's alone."""
    log = sluice.folder / "log"
    for name in ("first", "second"):
        sluice.run("state", "set", "start.name", name, "--log", log, preexec_fn=lambda: os.umask(mask)).ends(0)
    made = [path for path in sluice.folder.iterdir() if path.is_file()]
    assert {path.name for path in made} >= {"sluice.yaml", "sluice.yaml.previous", "sluice.yaml.lock", "log"}
    assert {path.stat().st_mode & 0o777 for path in made} == {0o600}


def test_environment_is_forgotten(ready, wizard):
    """A secret from the environment is gone from the process's own, so that no child and no look at /proc shows it."""
    secret = ready.catalog.client_secret
    del ready.values["oauth"]["client_secret"]
    ready.save()
    w = wizard(*ready.args, env={"SLUICE_OAUTH_CLIENT_SECRET": secret})
    w.to_step("OAuth")
    w.wait_check("logs in", "✓")
    with open(f"/proc/{w.pid}/environ", "rb") as environ:
        assert secret.encode() not in environ.read()
    w.quit()
    assert secret.encode() not in ready.sluice.bytes() and secret.encode() not in w.output
