"""What the last page can do, in the screens and line by line: the folder, the dry run, what undo would take back. Its keys
are rows, so each is looked for in the footer, the page and the help."""

import fcntl
import os
import re
import shutil
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.everything import aws, estuary, everything, whole  # noqa: F401
from tests.e2e.lines import Lines
from tests.e2e.program import MACHINE
from tests.e2e.terminal import PATIENCE

KEYS = "x export · y dry run · u undo…"
SEALS = ("sends the capture user's password", "sends the OAuth client's secret")


@pytest.fixture
def made(everything):  # noqa: F811
    """Everything made, and what only reads is proved."""
    everything.sluice.run("apply", "--yes", *everything.args).ends(0)
    everything.folder_written = everything.sluice.folder / "shop"
    return everything


@pytest.fixture
def page(made, wizard):
    """page(rows=…, cols=…) starts the screens on the last page."""
    def start(**more):
        w = wizard("--passphrase-file", made.passphrase_file, ready=None, **more)
        w.wait_for("sluice")
        to_review(w)
        return w

    return start


def to_review(w) -> None:
    while not w._shows("Review"):
        assert w.moves("n" if "Tab form" in w.footer() else "Tab"), w.picture()
    w.wait_for("x export")


@pytest.fixture
def plain(made):
    """Plain mode on the last page, its "What now?" not yet read."""
    gone = {name: None for name in os.environ if MACHINE.fullmatch(name)}
    argv = made.sluice.argv("--plain", *made.args)
    with Lines(argv, env={**gone, **made.sluice.env}, cwd=made.sluice.folder) as p:
        keep_all(p)
        p.answer("What now?", "review")
        p.until("step 9 of 9, Review.")
        yield p
        assert made.catalog.client_secret not in p.told() and made.shop.server.admin_password not in p.told()


def keep_all(p: Lines) -> None:
    """Enter to whatever is asked, up to the menu of the step it began with."""
    end = time.monotonic() + PATIENCE
    while "What now?" not in (new := p.output[p.read:].decode()):
        assert time.monotonic() < end, new
        if re.search(r":\s$", new):
            p.read = len(p.output)
            p.send("\n")
        p.pump(0.05)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def asked_to_seal(made) -> int:
    return sum(entry["service"] == "encrypt" for entry in made.estuary.log.entries())


def is_sealed(folder: Path) -> bool:
    """Both configs, or neither."""
    configs = [content for name, content in files(folder).items() if name.endswith(".config.yaml")]
    found = {b"sops:" in each for each in configs}
    assert len(configs) == 2 and len(found) == 1 and found != {b"PLACEHOLDER" in each for each in configs}
    return found.pop()


def text(w) -> str:
    """The screen as one line of words."""
    return re.sub(r"\s+", " ", w.picture())


def export(w) -> None:
    """x, and the consent when it is asked for."""
    w.press("x")
    w.wait_for(re.compile("Written|Not written"))
    if "Space allow it" in w.footer():
        w.press("Space")
        w.wait_for("✓ Written")


@contextmanager
def held(state: Path):
    """Another sluice has it open."""
    with open(f"{state}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# --- export


def test_export_in_the_screens(made, page):
    """What is sent is told first; after the word the folder lies beside the state and says its form; once more changes
    nothing, asks nobody, and the command makes the same, byte by byte."""
    w = page()
    assert w.footer().startswith(f" {KEYS} · PgUp PgDn scroll"), w.footer()
    w.press("End")
    w.wait_for("x export    the folder to review and publish")
    assert "y dry run   Estuary builds both tasks" in w.picture() and "u undo…     what was made here" in w.picture()
    w.press("F1")
    w.wait_for(re.compile(r"^ x +the folder to review and publish", re.M))
    w.press("Esc", "x")
    w.wait_for("· Not written yet")
    assert all(words in text(w) for words in SEALS) and "4 Capture: config is sealed" in text(w)
    assert not made.folder_written.exists() and asked_to_seal(made) == 0, "nothing before the consent"
    w.press("Space")
    w.wait_for("✓ Written")
    w.wait_for("Ctrl-Y copy the path")
    written = files(made.folder_written)
    assert re.search(rf"Files +{len(written)}$", w.picture(), re.M), w.picture()
    assert str(made.folder_written) in text(w).replace(" ", "") and "the secrets sealed for Estuary alone" in text(w)
    assert "flowctl discover" in text(w) and is_sealed(made.folder_written)
    assert asked_to_seal(made) == 2
    w.press("Ctrl-Y")
    w.wait_for("copied, if the terminal allows it")
    w.press("Esc", "x")
    w.wait_for("it stood there already, unchanged")
    assert asked_to_seal(made) == 2, "what is sealed stands"
    w.quit()
    done = made.sluice.run("export").ends(0)
    assert "unchanged" in done.out and done.err == "" and files(made.folder_written) == written


def test_without_consent_nothing_is_sent(made, page):
    """Esc writes nothing; d writes placeholders, and still nobody was asked."""
    w = page()
    w.press("x")
    w.wait_for("d placeholders")
    w.press("Esc")
    w.wait_for(KEYS)
    assert not made.folder_written.exists()
    w.press("x", "d")
    w.wait_for("✓ Written")
    assert "a draft with placeholders for the secrets" in text(w)
    assert asked_to_seal(made) == 0 and not is_sealed(made.folder_written)
    w.quit()


def test_a_folder_changed_by_hand_stays(made, page):
    w = page()
    export(w)
    changed = made.folder_written / "RUNBOOK.md"
    changed.write_text("my own notes\n")
    w.press("Esc", "x")
    w.wait_for("✗ Not written")
    assert "RUNBOOK.md was changed since" in text(w) and "Move it away, then export again" in text(w)
    assert changed.read_text() == "my own notes\n"
    shutil.rmtree(made.folder_written)
    w.press("x")
    w.wait_for("✓ Written")
    assert is_sealed(made.folder_written)
    w.quit()


def test_what_is_missing_is_named_with_the_way_to_it(made, page):
    """Before anything is sent anywhere; Enter leads to the step."""
    made.sluice.run("state", "set", "materialization.namespace", "").ends(0)
    w = page()
    w.press("x")
    w.wait_for("✗ Not written")
    assert "materialization.namespace" in text(w) and "Enter to 5 Iceberg" in w.footer()
    assert not made.folder_written.exists() and asked_to_seal(made) == 0
    w.press("Enter")
    w.wait_step("Iceberg")
    w.fill("Namespace", made.catalog.namespace)
    w.wait_saved()
    to_review(w)
    export(w)
    assert (made.folder_written / "flow.yaml").exists()
    w.quit()


def test_hard_deletes_lead_to_the_discovery(made, page):
    """Where a login is there for it."""
    made.sluice.run("state", "set", "materialization.hard_delete", "yes").ends(0)
    w = page()
    w.press("x")
    w.wait_for("✗ Not written")
    assert "hard deletes need collections" in text(w) and "Enter to 4 Capture" in w.footer()
    w.press("Enter")
    w.wait_step("Capture")
    w.quit()


def test_cancelled_while_it_proves(made, page):
    """Nothing is written; what the page says can be done there can be done."""
    made.estuary.faults.add("hold", service="encrypt", stage="before", count=0)
    w = page()
    w.press("x")
    w.wait_for("Space allow it")
    assert "d writes it at once" in text(w)
    w.press("Space")
    w.wait_for("Proving first")
    assert "d writes it at once" not in text(w) and "Ctrl-C cancel" in w.footer()
    w.press("Ctrl-C")
    w.wait_for("✗ Not written")
    made.estuary.faults.release()
    assert not made.folder_written.exists() and "d placeholders" in w.footer()
    w.quit()


def test_where_sealing_fails_placeholders_are_offered(made, page):
    made.estuary.faults.add("status", service="encrypt", status=503, count=0)
    w = page()
    w.press("x")
    w.wait_for("Space allow it")
    w.press("Space")
    w.wait_for("✗ Not written: what comes first is not to be had")
    assert "capture.sealed: Estuary's encryption service answered 503" in text(w) and "Enter to 4 Capture" in w.footer(), w.picture()
    assert not made.folder_written.exists()
    w.press("d")
    w.wait_for("✓ Written")
    assert "placeholders for the secrets" in text(w)
    made.estuary.faults.clear()
    w.press("Esc", "x")
    w.wait_for("✓ Written")
    assert "sealed for Estuary alone" in text(w) and is_sealed(made.folder_written), "consent stands for the session"
    w.quit()


def test_small_screens_show_all_of_it_before_consent(made, page):
    w = page(rows=12, cols=40)
    assert w.footer().startswith(f" {KEYS}")
    w.press("x")
    w.wait_for("Space read on")
    seen = text(w)
    while "Space read on" in w.footer():
        w.press("Space")
        w.settle()
        seen += text(w)
        assert asked_to_seal(made) == 0
    assert "OAuth client's" in seen and "Space allow it" in w.footer()
    w.press("Space")
    w.wait_for("✓ Written")
    assert is_sealed(made.folder_written)
    w.quit()


def test_beside_another_it_exports_all_the_same(made, page):
    """Export only reads the state."""
    before = made.sluice.bytes()
    with held(made.sluice.state):
        w = page()
        w.wait_for("read-only")
        export(w)
        assert is_sealed(made.folder_written)
        w.press("Esc", "u")
        w.wait_for("nothing is removed yet")
        w.quit()
    assert made.sluice.bytes() == before


# --- dry run and undo


def test_dry_run_is_watched_and_cancelled(made, page):
    """What it needs first is named while it runs; Ctrl-C ends it and its draft is gone; then it passes."""
    made.estuary.settings.update({"life": {"publish": 300}})
    w = page()
    w.press("y")
    w.wait_for("Type try and Enter")
    assert "password to Estuary's encryption service" in text(w) and "the draft is deleted" in text(w)
    w.press("Enter", "Esc")
    w.wait_for("nothing was done")
    assert not made.estuary.contents()["drafts"]
    w.press("y")
    w.wait_for("Type try and Enter")
    w.type("try")
    w.press("Enter")
    w.wait_for("materialization.dry_run")
    w.wait_for("first: ")
    w.wait_for(re.compile(r"materialization.dry_run · blocks +running \d+ s"))
    w.wait_for(lambda w: made.estuary.contents()["drafted"])
    w.press("Ctrl-C")
    w.wait_for("cancelled what ran")
    w.wait_for(lambda w: "running" not in w.line(3))
    w.wait_for(lambda w: not made.estuary.contents()["drafts"])
    made.estuary.settings.update({"life": {"publish": 0.5}})
    w.press("F5")
    w.wait_for("✓ materialization.dry_run", 60)
    w.wait_for("nothing went live")
    w.press("Esc")
    w.wait_for(KEYS)
    assert "Estuary's own validation" not in text(w), "it is proved now"
    w.quit()


def test_undo_lists_what_was_made(made, page):
    w = page()
    w.press("u")
    w.wait_for("12 changes · nothing is removed yet")
    assert "a undo…" in w.footer() and "policy of user sluice-shop" in w.picture()
    w.press("Esc")
    w.wait_for(KEYS)
    w.quit()


def test_everything_again(made, page):
    """F5 on the page that tells of all steps checks all of them."""
    w = page()
    made.shop.query("DROP PUBLICATION flow_shop")
    w.press("F5")
    w.wait_for("everything is checked again")
    w.wait_for("postgres.publication")
    w.quit()


# --- line by line


def test_line_by_line(made, plain):
    """The same by letters or words; each probe is asked for, and what is declined is not written by the way."""
    p = plain
    told = p.until("What now?")
    assert "x export: the folder to review and publish" in told and "y dry run: Estuary builds" in told
    p.send("x\n")
    told = p.answer("Run it?", "n")
    assert SEALS[0] in told
    p.answer("Write it with placeholders where secrets belong?", "n")
    told = p.answer("What now?", "export")
    assert "Not written." in told
    told = p.answer("Run it?", "y")
    assert "e[x]port, dr[y] run, [u]ndo, [p]lan, [n]ext step" in p.told(), told
    told = p.answer("What now?", "x")
    assert "passed: config is sealed" in told and "Written. Folder: " in told and "sealed for Estuary alone" in told
    assert str(made.folder_written) in told.replace(" ", "") and is_sealed(made.folder_written)
    told = p.answer("What now?", "undo")
    assert "Unchanged: it stood there already." in told
    told = p.answer("What now?", "y")
    assert re.search(r"\d+ policy of user sluice-shop", told) and "sluice undo --state" in told and "newest first" in told
    told = p.answer("What now?", "?")
    assert "Estuary builds it for trial, materialization.dry_run: passed." in told and "nothing went live" in told, told
    told = p.answer("What now?", "q")
    assert "u undo: what was made here" in told
    assert p.wait() == 0
    p.assert_only_text()


def test_line_by_line_what_is_missing(made, plain):
    made.estuary.faults.add("status", service="encrypt", status=503, count=0)
    (made.folder_written).mkdir()
    (made.folder_written / "mine").write_text("mine")
    p = plain
    p.answer("What now?", "x")
    p.answer("Run it?", "y")
    told = p.answer("Write it with placeholders where secrets belong?", "y")
    assert "capture.sealed: " in told and "503" in told, told
    told = p.answer("What now?", "q")
    assert "Not written." in told and "other files lie there" in told and "Do: you: Move it away" in told
    assert files(made.folder_written) == {"mine": b"mine"}
    made.estuary.faults.clear()
    assert p.wait() == 0


# --- the command


def test_the_command_seals_by_itself(made, tmp_path):
    """What is sealed is kept in the state: a second export asks nobody. Each form on its word; what is not to be had is said
    with its code, and nothing is written then."""
    out, run = tmp_path / "out", made.sluice.run
    locked = run("export", "-o", out).ends(0)
    assert "placeholders stand where secrets belong, as they cannot be sealed" in locked.err, str(locked)
    assert "you: " in locked.err and not is_sealed(out) and asked_to_seal(made) == 0
    assert "cannot be sealed" not in run("export", "-o", tmp_path / "none", "--secrets", "sealed").ends(3).err
    assert not (tmp_path / "none").exists()
    done = run("export", "-o", out, *made.args).ends(0)
    assert done.err == "" and "a draft with the secrets sealed" in done.out and is_sealed(out) and asked_to_seal(made) == 2
    assert "unchanged" in run("export", "-o", out).ends(0).out and asked_to_seal(made) == 2
    other = tmp_path / "other-secret"
    other.write_text(made.catalog.client_secret)
    other.chmod(0o600)
    run("export", "-o", tmp_path / "other", *made.args, "--set", f"oauth.client_secret=file:{other}").ends(0)
    assert asked_to_seal(made) > 2 and is_sealed(tmp_path / "other"), "another secret is sealed anew, though no answer changed"
    run("export", "-o", tmp_path / "words", "--secrets", "placeholder", *made.args).ends(0)
    assert not is_sealed(tmp_path / "words")
    assert run("export", "-o", tmp_path / "clear", "--secrets", "plain").ends(3).err
    assert not (tmp_path / "clear").exists()
    run("export", "-o", tmp_path / "clear", "--secrets", "plain", *made.args).ends(0)
    assert made.catalog.client_secret.encode() in b"".join(files(tmp_path / "clear").values())
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "clear").rglob("*")} == {0o600, 0o700}


def test_the_command_where_nobody_seals(made, tmp_path):
    made.estuary.faults.add("status", service="encrypt", status=503, count=0)
    run = made.sluice.run
    failed = run("export", "-o", tmp_path / "out", "--secrets", "sealed", *made.args)
    assert failed.code == 4 and "capture.sealed" in failed.err and "503" in failed.err, str(failed)
    nowhere = {"SLUICE_ESTUARY_ENCRYPTION_URL": "https://127.0.0.1:1"}
    failed = run("export", "-o", tmp_path / "out", "--secrets", "sealed", *made.args, env=nowhere).ends(4)
    assert "capture.sealed" in failed.err and not (tmp_path / "out").exists()
    done = run("export", "-o", tmp_path / "out", *made.args, env=nowhere).ends(0)
    assert "capture.sealed" in done.err and "placeholders" in done.out and not is_sealed(tmp_path / "out")
    made.estuary.faults.clear()
    made.values["materialization"]["namespace"] = ""
    made.save()
    before = asked_to_seal(made)
    missing = run("export", "-o", tmp_path / "two", *made.args).ends(3)
    assert "materialization.namespace" in missing.err and asked_to_seal(made) == before, "nothing is sent in vain"
