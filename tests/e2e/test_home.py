"""The opening screen: which set-ups there are, how they stand, who must act; that it opens the right file, and that
nothing is written before something is typed."""

import fcntl
import os
import re
import signal

import pytest
import yaml

from tests.e2e.lines import Lines
from tests.e2e.term import Wizard

DENIED = {"status": "failed", "at": "2026-11-30T10:00:00Z", "digest": "aa", "line": "refused", "who": "Bauplan",
          "fix": "Switch on the OAuth beta for the account."}
NO_LOG = {"status": "failed", "at": "2026-11-30T10:00:00Z", "digest": "aa", "line": "replica", "who": "AWS admin",
          "fix": "In parameter group shop-pg16 set rds.logical_replication = 1, reboot."}


@pytest.fixture
def place(sluice):
    """A folder with nothing in it, whose sluice knows no service and no answer."""
    folder = sluice.folder / "here"
    folder.mkdir()
    sluice.env.pop("SLUICE_OAUTH_URL")
    sluice.env["https_proxy"] = "http://127.0.0.1:1"    # the catalog's default address is a real one
    return folder


@pytest.fixture
def home(sluice, place):
    """home(rows=…, kind=…) starts sluice there without --state."""
    opened = []

    def start(*given, kind=Wizard, env=None, **size):
        gone = {name: None for name in os.environ if re.match(r"SLUICE|XDG|ACCESSIBLE", name)}
        terminal = kind([sluice.program, *given], env={**gone, **sluice.env, **(env or {})}, cwd=place, **size)
        opened.append(terminal)
        return terminal

    yield start
    for terminal in opened:
        terminal.__exit__()


@pytest.fixture
def setup(sluice, place):
    """setup("eu", "shop-eu", {check: outcome}) makes a state file in a folder ("": here) and remembers it."""

    def make(folder, name, checks=None, **more):
        path = (place / folder if folder else place) / "sluice.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump({"sluice": 1, "name": name, "answers": {"start": {"name": name}},
                                        "checks": checks or {}, **more}))
        path.chmod(0o600)
        recent = sluice.folder / "home" / "state" / "sluice" / "recent"
        recent.parent.mkdir(parents=True, exist_ok=True)
        with recent.open("a") as file:
            file.write(f"{path}\n")
        return path

    return make


def test_without_set_ups_the_wizard_begins_and_writes_nothing(home, place):
    w = home()
    w.wait_for("Checks")
    assert w.header().startswith(" sluice · new")
    w.wait_check("network", "!")    # an outcome is no reason to write either
    w.quit()
    assert {path.name for path in place.iterdir()} <= {"sluice.yaml.lock"}


def test_shows_how_each_stands_and_who_must_act(home, setup):
    setup("", "shop")
    setup("eu", "shop-eu", {"oauth.login": DENIED, "postgres.wal_level": NO_LOG})
    w = home()
    w.wait_for("Continue")
    assert re.match(r" ▸ shop +0 of 9 steps proved +just now$", w.line(3))
    assert re.match(r"   shop-eu +0 of 9 steps proved · waits for: Bauplan, AWS admin +just now$", w.line(4))
    assert "shop goes on at A new pipeline." in w.picture()
    assert w.footer() == " Enter open · n new · ? help · q quit"
    w.press("Down")
    w.wait_for("shop-eu waits for others:")
    assert "Bauplan     logs in: Switch on the OAuth beta for the account." in w.picture()
    assert re.search(r"AWS admin   wal_level.*\n? .*rds.logical_replication", w.picture())
    w.press("?")
    w.wait_for("a new pipeline, in a file of its own")
    w.press("Esc", "Enter")
    w.wait_for("sluice · shop-eu")
    w.quit()


def test_a_new_one_gets_a_file_of_its_own_once_something_is_typed(home, setup, place):
    before = setup("", "shop").read_bytes()
    w = home()
    w.wait_for("Continue")
    w.press("n")
    w.wait_for("Checks")
    w.wait_check("network", "!")
    assert not (place / "sluice-2.yaml").exists()
    w.fill("Name", "second")
    w.wait_saved()
    w.quit()
    assert yaml.safe_load((place / "sluice-2.yaml").read_text())["name"] == "second"
    assert (place / "sluice.yaml").read_bytes() == before
    w = home()
    w.wait_for(re.compile(r"^   second ", re.M))
    w.press("End")
    w.wait_for("kept in sluice-3.yaml")
    w.press("q")
    w.assert_ends(0)


@pytest.mark.parametrize("how, code", [("q", 0), ("F10", 0), ("Esc", 0), ("Ctrl-C", 130), (signal.SIGTERM, 143),
                                       (signal.SIGHUP, 129)])
def test_leaves_the_terminal_as_it_was(home, setup, how, code):
    path = setup("", "shop")
    before = path.read_bytes()
    w = home()
    w.wait_for("Continue")
    w.press(how) if isinstance(how, str) else w.kill(how)
    w.assert_ends(code)
    assert path.read_bytes() == before and not path.with_name("sluice.yaml.lock").exists()


def test_one_in_use_is_shown_and_opens_read_only(home, setup):
    path = setup("", "shop")
    with path.with_name("sluice.yaml.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        w = home()
        w.wait_for("in use · 0 of 9 steps proved")
        w.wait_for("Opened here it is read-only.")
        w.press("Enter")
        w.wait_for("read-only")
        w.quit()
    w = home()
    w.wait_for("Continue")
    assert "in use" not in w.picture()


def test_what_cannot_be_opened_says_why_and_stays(home, setup):
    path = setup("", "shop")
    path.write_text("sluice: 99\n")
    w = home()
    w.wait_for("cannot be opened")
    w.press("Enter")
    w.settle()
    assert "newer sluice" in w.picture() and w.line(2).strip() == "Continue"
    path.write_text("sluice: 1\nname: mended\n")
    w.press("r")
    w.wait_for("mended")


@pytest.mark.parametrize("rows, cols", [(24, 80), (12, 40), (50, 140)])
def test_bends_to_the_terminal(home, setup, rows, cols):
    for number in range(8):
        setup(f"eu{number}", f"shop-{number}", {"oauth.login": DENIED})
    w = home(rows=rows, cols=cols)
    w.wait_for("Continue")
    w.wait_for("shop-0 waits for others:")
    assert w.line(2).strip() == "Continue" and w.footer().startswith(" Enter open")
    w.press("End")
    w.wait_for("▸ New pipeline")
    w.press("Up")
    w.wait_for("▸ shop-")
    w.resize(5, 20)
    w.wait_for("sluice needs 40x12")
    w.resize(24, 80)
    w.wait_for("▸ shop-")


def test_in_lines(home, setup, place):
    setup("", "shop")
    setup("eu", "shop-eu", {"oauth.login": DENIED})
    p = home("--plain", kind=Lines)
    told = p.answer("Which?", "7")
    assert "1 shop, 0 of 9 steps proved, just now (sluice.yaml)" in told
    assert "Do: Bauplan: logs in: Switch on the OAuth beta" in told
    p.until("Type the number of a set-up")
    p.answer("Which?", "n")
    p.until("sluice: a new pipeline, step 1 of 9")
    p.press("Ctrl-C")
    p.until("Nothing was typed, nothing is written.")
    assert p.wait() == 130
    p.assert_restored()
    p.assert_only_text()
    assert not (place / "sluice-2.yaml").exists()
    p = home("--plain", kind=Lines)
    p.answer("Which?", "2")
    p.until('sluice: pipeline "shop-eu"')
    p.press("Ctrl-D")
    assert p.wait() == 0


def test_words_on_the_command_line_say_which(home, setup):
    """With an answer or a file given there is nothing to choose."""
    setup("eu", "shop-eu")
    w = home("--set", "start.name=typed")
    w.wait_for("sluice · typed")
    w.quit()
