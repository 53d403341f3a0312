"""The screens on a terminal: they bend to its size, speak its encoding, are left as found, let nobody be trapped, and
show no secret. Each test replays what went wrong in some other program."""

import base64
import os
import random
import re
import signal
import time
import urllib.parse
from pathlib import Path

import pytest

from tests.e2e.term import QUICK

STEPS = ("Start", "OAuth", "PostgreSQL")
FIELDS = {
    "Start": ["Name", "Estuary token", "Estuary prefix", "Data plane", "Keep secrets"],
    "OAuth": ["Catalog URL", "Branch", "Warehouse", "Client id", "Client secret", "Token URI"],
    "PostgreSQL": ["Host", "Port", "Database", "TLS", "CA file", "Admin", "Admin password", "Capture user",
                   "User password", "Tables", "Repairs", "Publication", "Slot", "Watermarks"],
}


# Nobody is trapped


def test_back_from_an_invalid_field(sluice, wizard):
    """Back leads out of a field that is not valid, and what was typed is still there, with its reason."""
    w = wizard()
    w.to_step("OAuth")
    w.go_to("Branch")
    w.type("no branch/ever ~ this")
    w.press("Esc")
    w.wait_step("Start")
    w.to_step("OAuth")
    assert w.value_of("Branch") == "no branch/ever ~ this"
    w.go_to("Branch")
    w.wait_for("branch")
    hint = w.line(w.screen.cursor.y) + w.picture()
    assert re.search(r"branch.*(has|may|cannot|is)", hint)
    w.quit()
    w = wizard()
    w.to_step("OAuth")
    assert w.value_of("Branch") == "no branch/ever ~ this"
    w.quit()


def test_back_from_an_empty_required_field(wizard):
    w = wizard()
    w.to_step("OAuth")
    w.go_to("Client id")
    w.press("Esc")
    w.wait_step("Start")
    w.quit()


def test_impatient_enter_goes_one_step(sluice, wizard, fault_proxy, catalog):
    """Enter, Enter, Enter while the checks hang: one step on, and back at once."""
    proxy = fault_proxy((catalog.host, catalog.port), mode="silent")
    w = wizard("--set", f"oauth.url=https://{proxy.host}:{proxy.port}/iceberg", "--set", "start.name=shop")
    w.to_step("OAuth")
    w.go_to("Token URI")
    w.press("Enter", "Enter", "Enter")
    w.settle()
    w.wait_step("PostgreSQL")
    assert w.at("Database")
    w.press("Esc")
    w.wait_step("OAuth")
    w.quit()


# Size


def test_resize_storm(wizard):
    """200 random sizes down to 1x1 while keys arrive: it lives, the text is whole, the last frame equals a fresh one."""
    w = wizard()
    w.to_step("Start")
    w.go_to("Data plane")
    chance = random.Random(7)
    typed = ""
    for i in range(200):
        w.resize(chance.randint(1, 60), chance.randint(1, 200))
        if i % 4 == 0:
            typed += "abcdef"[i % 6]
            w.type(typed[-1])
        w.pump(0.004)
    w.resize(24, 80)
    w.wait_for(lambda w: w.value_of("Data plane") == typed)
    w.settle()
    left = w.picture()
    w.screen.reset()
    w.press("Ctrl-L")
    w.wait_for("Data plane")
    w.settle()
    assert w.picture() == left
    w.quit()


@pytest.mark.parametrize("cols, rows", [(40, 12), (80, 24), (100, 30), (200, 60)])
def test_every_field_is_reached(wizard, cols, rows):
    """On each size that is promised, each field of each step can be walked to and is shown with its value's cursor."""
    w = wizard("--set", "start.name=shop", cols=cols, rows=rows)
    for step in STEPS:
        w.to_step(step)
        for label in FIELDS[step]:
            w.go_to(label)
            assert w.at(label), w.picture()
        assert len(w.footer()) > 10
    w.quit()


@pytest.mark.parametrize("cols, rows", [(20, 5), (39, 12), (40, 11), (79, 3)])
def test_too_small_says_so(wizard, cols, rows):
    w = wizard(ready=None, cols=cols, rows=rows)
    w.wait_for("sluice needs 40x12")
    assert "state is saved" in w.picture()
    w.resize(24, 80)
    w.wait_for("Checks")
    w.quit()


def test_one_cell(wizard):
    """Nothing can be seen, keys still count."""
    w = wizard()
    w.to_step("Start")
    w.go_to("Name")
    w.resize(1, 1)
    w.settle()
    w.type("tiny")
    w.settle()
    w.resize(24, 80)
    w.wait_for(lambda w: w.value_of("Name") == "tiny")
    w.resize(1, 1)
    w.press("F10")
    w.assert_ends(0)


def test_narrow_screen_shows_where_and_what_to_do(wizard):
    """At 40x12 the step, the field, the first thing to do and the keys are there."""
    w = wizard("--set", "start.name=shop", cols=40, rows=12)
    w.to_step("OAuth")
    w.press("Tab")
    w.wait_for("reaches the catalog")
    w.wait_for("→ ")
    assert "shop" in w.header() and "Tab form" in w.footer()
    w.quit()


# However it ends, the terminal is as it was and what was typed is saved


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_ending_signals_save(sluice, wizard, number):
    w = wizard()
    w.to_step("Start")
    w.go_to("Name")
    w.type("half-an-ans")
    w.wait_for("half-an-ans")
    w.kill(number)
    w.assert_ends(128 + number)
    assert "name: half-an-ans" in sluice.state.read_text()
    assert nothing_half_written(sluice)


@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGSEGV])
def test_crash_gives_the_terminal_back(sluice, wizard, tmp_path, number):
    w = wizard(env={"ASAN_OPTIONS": f"log_path={tmp_path}/wanted"})    # this report is no finding
    w.kill(number)
    assert w.wait() != 0
    w.assert_restored()
    assert b"sluice ended by a bug" in w.output or b"ended by a bug" in w.output


@pytest.mark.parametrize("ignored", [(), (signal.SIGHUP,)], ids=["plain", "nohup"])
def test_vanished_terminal(sluice, wizard, ignored):
    """The ssh connection breaks in mid-word: it ends within a second or so, the half answer saved."""
    w = wizard(ignore=ignored)
    w.to_step("Start")
    w.go_to("Name")
    w.type("half-an-ans")
    w.wait_for("half-an-ans")
    w.hang_up()
    began = time.monotonic()
    assert w.wait() == 128 + signal.SIGHUP
    assert time.monotonic() - began < 5
    assert "name: half-an-ans" in sluice.state.read_text()
    assert nothing_half_written(sluice)


def nothing_half_written(sluice) -> bool:
    return not [path for path in sluice.folder.iterdir() if ".tmp" in path.name]


OPENINGS = {"form": [], "checks": ["Tab"], "check in full": ["Tab", "Right"], "plan": ["F2"], "log": ["F6"],
            "help": ["F1"]}


@pytest.mark.parametrize("keys", OPENINGS.values(), ids=[name.replace(" ", "-") for name in OPENINGS])
def test_ctrl_c_twice_leaves_from_everywhere(wizard, keys):
    w = wizard("--set", "start.name=shop")
    for key in keys:
        w.press(key)
        w.settle()
    w.press("Ctrl-C")
    w.wait_for("Ctrl-C again leaves")
    w.press("Ctrl-C")
    w.assert_ends(130)


def test_ctrl_c_once_does_nothing(wizard):
    w = wizard()
    w.to_step("Start")
    w.fill("Name", "shop")
    w.press("Ctrl-C")
    w.wait_for("Ctrl-C again leaves")
    w.fill("Name", "shopping")
    w.quit()


def test_letters_do_what_function_keys_do(sluice, wizard):
    """Terminals eat F keys: outside text fields each has a letter."""
    w = wizard("--set", "start.name=shop")
    w.press("Tab")
    for letter, shows in (("?", "Keys"), ("p", "Plan"), ("l", "Log")):
        w.press(letter)
        w.wait_for(lambda w: shows in w.picture())
        w.press("Esc")
        w.wait_for(lambda w: "Tab form" in w.footer())
    w.press("n")
    w.settle()
    w.press("Tab", "r", "q")
    w.assert_ends(0)


# Keys and pastes


def test_escape_is_quick(wizard):
    w = wizard("--set", "start.name=shop")
    w.press("F2")
    w.wait_for("Plan")
    began = time.monotonic()
    w.send("\x1b")
    w.wait_gone("Plan ·")
    assert time.monotonic() - began < 0.5


def test_torn_arrow_key(wizard):
    """Over a slow line an arrow key arrives in pieces: nothing is lost, no [A stands in a field."""
    w = wizard()
    w.to_step("Start")
    w.fill("Name", "shop")
    w.send("\x1b")
    w.pump(0.06)
    w.send("[A")
    w.settle()
    assert "[A" not in w.picture()
    assert w.value_of("Name") == "shop"
    w.quit()


def test_wide_and_combining_characters(wizard):
    """The cursor stands where the text ends, and a Backspace takes what looks like one character."""
    w = wizard()
    w.to_step("Start")
    w.go_to("Data plane")
    w.settle()
    start = w.screen.cursor.x
    w.type("é作😀e\u0301")
    w.wait_for(lambda w: w.screen.cursor.x == start + 6)
    w.press("Left", "Left", "Backspace")
    w.wait_for(lambda w: w.screen.cursor.x == start + 1)
    w.press("End")
    w.wait_for(lambda w: w.screen.cursor.x == start + 4)
    w.quit()


def test_pasted_line_break_submits_nothing(wizard):
    w = wizard()
    w.to_step("Start")
    w.go_to("Name")
    w.paste("shop\n")
    w.wait_for(lambda w: w.value_of("Name") == "shop")
    w.settle()
    assert w.at("Name"), w.picture()
    w.quit()


def test_pasted_secret_is_trimmed_and_says_so(sluice, wizard):
    w = wizard("--set", "start.name=shop", "--set", "start.keep_secrets=memory")
    w.to_step("OAuth")
    w.go_to("Client secret")
    w.paste("  pasted-secret-4711 \n")
    w.wait_for(re.compile(r"removed|trimmed|spaces|line break"))
    w.press("Enter")
    w.wait_for(lambda w: (w.value_of("Client secret") or "").startswith("••••••11"))
    assert b"4711" not in w.output
    w.quit()


def test_paste_that_ends_itself(wizard):
    """What follows a smuggled end of the paste are keys: they may not do any harm."""
    w = wizard("--set", "start.name=shop")
    w.press("Tab")
    w.send("\x1b[200~x\x1b[201~a\x0dy\x0d")
    w.settle()
    assert not w.ended()
    w.press("Esc")
    w.quit()


# Encoding and colours


@pytest.mark.parametrize("locale", ["C", "POSIX"])
def test_without_utf8_everything_is_ascii(wizard, locale):
    w = wizard("--set", "start.name=shop", env={"LC_ALL": locale})
    w.to_step("OAuth")
    w.press("Tab")
    w.wait_for(lambda w: w.check("reaches the catalog") and w.check("reaches the catalog")[0] == "x")
    w.wait_for(re.compile(r"^ *> (you|network): ", re.M))
    assert w.check("logs in")[0] == "."
    w.press("F1")
    w.wait_for("Keys")
    w.press("Esc")
    w.quit()
    assert max(w.output) < 128


def test_report_without_utf8_is_ascii(sluice):
    done = sluice.run("check", "oauth", "--set", "oauth.client_id=app", env={"LC_ALL": "C"})
    assert (done.out + done.err).isascii(), str(done)
    assert "  x oauth.reach" in done.out


@pytest.mark.parametrize("how", ["NO_COLOR", "--no-color", "vt100"])
def test_no_colours(wizard, how):
    given = ["--no-color"] if how == "--no-color" else []
    env = {"NO_COLOR": "1"} if how == "NO_COLOR" else {"TERM": "vt100"} if how == "vt100" else {}
    w = wizard(*given, env=env)
    w.to_step("OAuth")
    w.press("Tab")
    w.wait_for("reaches the catalog")
    w.press("q")    # an F10 of vt100 is another sequence
    w.assert_ends(0)
    assert not re.search(rb"\x1b\[[0-9;]*\b[349][0-8]\b", bytes(w.output))


def test_colours_when_wanted(wizard):
    w = wizard()
    w.quit()
    assert re.search(rb"\x1b\[[0-9;]*3[0-9]", bytes(w.output))


def test_report_to_a_terminal_is_coloured_and_to_a_pipe_is_not(sluice, wizard):
    """(cli.py asserts for every other run that a pipe gets no escape code.)"""
    w = wizard("check", "start", ready=None)
    w.wait()
    assert b"\x1b[3" in w.output
    w = wizard("check", "start", ready=None, env={"NO_COLOR": "1"})
    w.wait()
    assert not re.search(rb"\x1b\[[0-9;]*m", bytes(w.output))


@pytest.mark.parametrize("term", ["linux", "vt100", "screen", "xterm-mono"])
def test_terminals_whose_entry_names_no_size(wizard, term):
    """The Linux console's does not: the size is the kernel's to tell."""
    w = wizard(env={"TERM": term}, rows=30, cols=100)
    w.wait_for("Name")
    assert "cannot be used" not in w.picture()
    w.press("Ctrl-C", "Ctrl-C")
    w.assert_ends(130)


def test_exported_size_is_not_believed(wizard):
    w = wizard(rows=30, cols=90, env={"LINES": "5", "COLUMNS": "9"})
    w.wait_for(lambda w: "F10 quit" in w.footer())
    w.quit()


def test_idle_means_no_wake_ups(wizard):
    """Nothing runs, nothing is typed: the processor sleeps."""
    w = wizard("--set", "start.name=shop")
    w.wait_saved()
    w.wait_for(lambda w: "running" not in w.picture())
    w.pump(1.5)

    def switches():
        return sum(int(n) for task in Path(f"/proc/{w.pid}/task").iterdir()
                   for n in re.findall(r"ctxt_switches:\s+(\d+)", (task / "status").read_text()))

    before = switches()
    w.pump(2.0)
    assert switches() == before
    w.quit()


# Secrets

SECRETS = {"oauth.client_secret": "canary+Client/4711%:x", "postgres.admin_password": "canary #a@s:s/4712'\"\\ z",
           "passphrase": "canary pass phrase 4713"}


def forms(secret: str) -> set[bytes]:
    """As it stands, in a URL, in JSON, in SQL, in base64 at each place of a longer text."""
    raw = secret.encode()
    texts = {secret, urllib.parse.quote(secret, ""), urllib.parse.quote_plus(secret), secret.replace("'", "''"),
             secret.replace("\\", "\\\\").replace('"', '\\"')}
    encoded = {base64.b64encode(b"x" * n + raw)[4 * (n > 0) + 2:-4] for n in range(3)}
    return {text.encode() for text in texts} | encoded


def test_secrets_are_nowhere(sluice, wizard, catalog, shop):
    """Typed, used against the services and refused there: no form of them on the screen, in the state, the log, the
    arguments, the environment or any other file."""
    log = sluice.folder / "log"
    w = wizard("--log", log, env={"SLUICE_CA_FILE": str(catalog.ca_file)})
    w.to_step("Start")
    w.fill("Name", "shop")
    w.to_step("OAuth")
    w.fill("Catalog URL", catalog.url)
    w.fill("Branch", catalog.branch)
    w.fill("Client id", catalog.client_id)
    w.fill("Client secret", SECRETS["oauth.client_secret"])
    for again in ("Passphrase  ", "Again  "):
        w.wait_for(again)
        w.type(SECRETS["passphrase"])
        w.press("Enter")
    w.wait_check("logs in", "✗")
    w.to_step("PostgreSQL")
    w.fill("Host", shop.server.host)
    w.fill("Port", str(shop.server.port))
    w.fill("Database", shop.database)
    w.fill("CA file", str(shop.server.ca_file))
    w.fill("Admin password", SECRETS["postgres.admin_password"])
    w.wait_check("connects as admin", "✗")
    w.press("F6")
    w.wait_for("postgres")
    process = [Path(f"/proc/{w.pid}/{name}").read_bytes() for name in ("cmdline", "environ")]
    w.press("Esc")
    w.quit()
    assert log.stat().st_mode & 0o777 == 0o600 and "oauth.login" in log.read_text()
    places = {"screen": bytes(w.output), "arguments": process[0], "environment": process[1]}
    places |= {path.name: path.read_bytes() for path in sluice.folder.rglob("*") if path.is_file()}
    assert sluice.secrets.name in places and sluice.state.name in places
    for name, secret in SECRETS.items():
        for form in forms(secret):
            where = [place for place, held in places.items() if form in held]
            assert where == [], f"{name} as {form!r} in {where}"
    for path in sluice.folder.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0 or path.is_dir(), f"others may look into {path}"


def test_shown_only_on_request(wizard):
    """Ctrl-R shows what is being typed, and hides it again."""
    w = wizard("--set", "start.name=shop", "--set", "start.keep_secrets=memory")
    w.to_step("OAuth")
    w.go_to("Client secret")
    w.type("visible-for-once")
    w.settle()
    assert b"visible" not in w.output
    w.press("Ctrl-R")
    w.wait_for("visible-for-once", QUICK)
    w.press("Ctrl-R")
    w.wait_gone("visible-for-once", QUICK)
    w.quit()


def test_no_core_dump(sluice, wizard):
    """Nobody of the same user may attach, and a crash leaves no memory on the disk."""
    w = wizard()
    limits = Path(f"/proc/{w.pid}/limits").read_text()
    assert re.search(r"Max core file size\s+0\s+0", limits)
    if os.geteuid() == 0:
        assert Path(f"/proc/{w.pid}/mem").stat().st_uid == 0
    w.quit()
