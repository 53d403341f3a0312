"""The terminal layer on a real terminal: what it leaves behind after every kind of end, what arrives of keys and
pastes, what is drawn. The program is term_probe.c, linked with the layers under test."""

import base64
import os
import random
import re
import shlex
import signal
import subprocess
import termios
import time
from pathlib import Path

import pytest

from tests.e2e import probes
from tests.e2e.terminal import Terminal

SANITIZER = (1, 66)    # exit codes of ASan and TSan after a fault


@pytest.fixture(scope="session")
def probe(tmp_path_factory) -> Path:
    return probes.build(tmp_path_factory.mktemp("probe"), "term_probe", "ui", "core")


@pytest.fixture
def start(probe, tmp_path):
    """start(rows=…, cols=…, env=…, ignore=…) gives a Terminal in which the probe has drawn (what is typed before that
    the kernel echoes, which looks the same); ready="": at once. .saved() is what it saved."""
    opened = []

    def make(*, ready="probe", **options) -> Terminal:
        # A report of a crash that is wanted must not count as one found by the suite.
        env = {"ASAN_OPTIONS": f"log_path={tmp_path}/asan", **options.pop("env", {})}
        terminal = Terminal([probe, tmp_path / "saved"], env=env, **options)
        terminal.saved = lambda: (tmp_path / "saved").read_text().splitlines()
        opened.append(terminal)
        terminal.wait_for(ready)
        return terminal

    yield make
    for terminal in opened:
        terminal.__exit__()


def test_quits_and_leaves_nothing_behind(start):
    t = start()
    t.wait_for("probe 80x24 colours")
    t.press("hello", "Ctrl-C")
    assert t.wait() == 0
    t.assert_restored()
    assert t.saved() == ["quit", "hello"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT])
def test_signal_saves_first(start, number):
    t = start()
    t.press("half an ans")
    t.wait_for("half an ans")
    t.kill(number)
    assert t.wait() == 128 + number
    t.assert_restored()
    assert t.saved() == ["signal", "half an ans"]


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE])
def test_crash_from_outside_restores(start, number):
    t = start()
    t.kill(number)
    assert t.wait() != 0
    t.assert_restored()
    assert b"ended by a bug" in t.output


@pytest.mark.parametrize("key, status", [("F5", {-signal.SIGABRT}), ("F6", {-signal.SIGSEGV, *SANITIZER}), ("F7", {70}),
                                         ("F8", {-signal.SIGSEGV, *SANITIZER}), ("F9", {9}),
                                         ("F3", {-signal.SIGABRT}), ("F4", {70})],
                         ids=["abort", "fault", "memory", "stack", "exit", "thread abort", "thread memory"])
def test_crash_from_inside_restores(start, tmp_path, key, status):
    t = start()
    t.press(key)
    assert t.wait() in status
    t.assert_restored()
    if t.status in SANITIZER:    # a sanitizer's own handler still got its turn, with the true cause
        report = t.output.decode(errors="replace") + "".join(f.read_text() for f in tmp_path.glob("asan.*"))
        assert "SEGV on unknown address 0x000000000010" in report or "stack-overflow" in report


def test_crash_discards_what_was_typed_ahead(start):
    """The rest of a paste must not reach the shell as commands."""
    t = start()
    t.kill(signal.SIGSTOP)
    t.wait_stopped()
    t.send("rm -r x\r")
    t.kill(signal.SIGABRT)
    t.kill(signal.SIGCONT)
    t.wait()
    t.assert_restored()
    os.set_blocking(t.slave, False)
    with pytest.raises(BlockingIOError):
        os.read(t.slave, 100)


@pytest.mark.parametrize("ignore", [(), (signal.SIGHUP,)], ids=["plain", "nohup"])
def test_vanished_terminal_ends_it(start, ignore):
    t = start(ignore=ignore)
    t.press("kept")
    t.wait_for("kept")
    t.hang_up()
    began = time.monotonic()
    assert t.wait() == 128 + signal.SIGHUP
    assert time.monotonic() - began < 5
    assert t.saved()[1] == "kept"
    assert ignore == () or t.saved()[0] == "eof"


def test_suspends_and_comes_back(probe, tmp_path):
    """Under a shell with job control, as only there a stop is possible."""
    with Terminal(["/bin/bash", "--norc", "--noprofile", "-i"], env={"PS1": "ready$ "}) as t:
        t.wait_for("ready$")
        t.send(f"stty -a | md5sum; {probe} {tmp_path / 'saved'}\r")
        t.wait_for("probe 80x24")
        t.press("abc")
        t.wait_for("abc")
        t.press("Ctrl-Z")
        t.wait_for("Stopped")
        t.send("stty -a | md5sum; echo o''k\r")
        t.wait_for(re.compile(r"^ok", re.M))
        sums = set(re.findall(rb"[0-9a-f]{32}", bytes(t.output)))
        assert len(sums) == 1
        t.resize(20, 60)
        t.send("fg\r")
        t.wait_for("probe 60x20")
        t.press("d")
        t.wait_for("abcd")
        t.press("Ctrl-C")
        t.wait_for(re.compile("ready"))
        assert (tmp_path / "saved").read_text() == "quit\nabcd\n"


def test_stop_and_continue_from_outside(start):
    t = start()
    raw = termios.tcgetattr(t.slave)
    t.kill(signal.SIGSTOP)
    t.wait_stopped()
    termios.tcsetattr(t.slave, termios.TCSANOW, t.before)    # as a shell would
    t.screen.reset()
    t.kill(signal.SIGCONT)
    t.wait_for("key resize")
    t.wait_for("probe 80x24")
    assert termios.tcgetattr(t.slave) == raw


def test_paste_is_one_event(start):
    t = start()
    t.paste("one\ntwo\n")
    t.wait_for("paste 8 bytes")
    assert "one two" in t.line(1)
    assert "key Enter" not in t.picture()


def test_paste_is_capped_and_drawn_once(start):
    t = start()
    t.pump(0.2)
    seen = len(t.output)
    t.paste("x" * 81053)
    t.wait_for("paste 65536 bytes cut")
    assert len(t.output) - seen < 4000
    t.press("Ctrl-C")
    assert t.wait() == 0
    assert len(t.saved()[1]) == 65536


def test_paste_that_ends_itself_types_no_command(start):
    t = start()
    t.paste("a\x1b[201~q")    # what follows are keystrokes, nothing can be done here: letters never destroy
    t.wait_for("paste 1 bytes")
    t.press("Ctrl-C")
    assert t.wait() == 0


def test_paste_without_an_end(start):
    t = start()
    t.send("\x1b[200~lost")
    t.wait_for("paste 4 bytes", 5)


def test_escape_is_quick_and_torn_arrows_do_nothing(start):
    t = start()
    began = time.monotonic()
    t.send("\x1b")
    t.wait_for("key Esc")
    assert time.monotonic() - began < 0.5
    t.send("\x1b")
    t.pump(0.06)
    t.send("[A")
    t.pump(0.3)
    t.press("end")
    t.wait_for("end")
    assert "[A" not in t.picture() and "key Up" not in t.picture()


def test_keys_by_name(start):
    t = start(rows=12)
    for sent, name in [("Up", "Up"), ("Down", "Down"), ("PgUp", "PgUp"), ("PgDn", "PgDn"), ("Shift-Tab", "Shift-Tab"),
                       ("Enter", "Enter"), ("F2", "F2"), ("F10", "F10"), ("Ctrl-R", "Ctrl-R"), ("\x1b[A", "Up"),
                       ("\x1b[11~", "F1"), ("\x1bOQ", "F2")]:
        t.press(sent)
        t.wait_for(f"key {name}")
    t.press("one two", "Ctrl-Left", "Home", "a", "End", "Left", "Delete", "\x08", "Ctrl-Left", "x")
    t.wait_for("aone xt")


def test_clusters_keep_the_columns(start):
    t = start(rows=12, cols=40)
    t.press("F2", "é作😀e\u0301")
    t.wait_for("…")
    t.press("Left", "Left", "Backspace")    # between 作 and 😀: 作 goes
    t.pump(0.3)
    assert t.screen.buffer[1][1].data == "é"
    assert t.screen.cursor.x == 2
    for row in range(1, 11):
        assert t.screen.buffer[row][39].data == "│", t.picture()
    row = [t.screen.buffer[7][col].data for col in range(1, 20)]
    assert row == list("✓|") + ["作", "", "|", "😀", "", "|", "é", "|", "👩", "", "|", "⚠", "|", "D", "E", "|", "…"]


@pytest.mark.parametrize("locale", ["C", "POSIX", "xx_YY.nothing"])
def test_without_utf8_everything_is_ascii(start, locale):
    t = start(rows=12, cols=40, env={"LC_ALL": locale})
    t.press("F2", "a", "é")
    t.pump(0.3)  # bytes that are no character here may take what follows at once with them
    t.press("b")
    t.wait_for("ab")
    t.wait_for("+|? |? |e|? |?|? |.")
    assert t.line(0) == "+-probe 40x12 colours" + 18 * "-" + "+"
    assert max(t.output) < 128


@pytest.mark.parametrize("env, words", [({}, "colours"), ({"NO_COLOR": "1"}, "mono"), ({"TERM": "vt100"}, "mono"),
                                        ({"NO_COLOR": ""}, "colours")])
def test_colours(start, env, words):
    t = start(env=env)
    t.wait_for(f"probe 80x24 {words}")
    coloured = re.search(rb"\x1b\[[0-9;]*3[0-7]m", bytes(t.output)) is not None
    assert coloured == (words == "colours")


@pytest.mark.parametrize("env, words", [({"TERM": "dumb"}, 'on the terminal "dumb" no cursor can move'),
                                        ({"TERM": "xterm-nope"}, 'the terminal "xterm-nope" is not known here'),
                                        ({"TERM": None}, "TERM is not set"), ({"TERM": ""}, "TERM is not set")])
def test_unusable_terminals_are_named(start, env, words):
    t = start(env=env, ready="")
    assert t.wait() == 3
    assert words in re.sub(r"\s+", " ", t.picture())
    assert b"\x1b" not in t.output
    t.assert_restored()


def test_not_a_terminal(probe):
    for stdin in (subprocess.DEVNULL, subprocess.PIPE):
        done = subprocess.run([probe], stdin=stdin, capture_output=True, timeout=20)
        assert done.returncode == 3
        assert done.stdout == b"" and b"is not a terminal" in done.stderr


def test_exported_size_is_not_believed(start):
    t = start(rows=20, cols=70, env={"LINES": "5", "COLUMNS": "9"})
    t.wait_for("probe 70x20")


def test_resize_storm(start):
    """Random sizes down to 1x1 while keys arrive: it lives, the text is whole, the last frame equals a fresh one."""
    t = start()
    chance = random.Random(4)
    typed = ""
    for i in range(200):
        t.resize(chance.randint(1, 60), chance.randint(1, 200))
        if i % 4 == 0:
            typed += "ab"[i % 8 // 4]
            t.press(typed[-1])
        t.pump(0.005)
    t.resize(24, 80)
    t.wait_for(typed)
    t.pump(0.3)
    left = t.picture()
    t.screen.reset()
    t.press("Ctrl-L")
    t.wait_for("key Ctrl-L")
    fresh = t.picture()
    assert left.splitlines()[:2] == fresh.splitlines()[:2]
    assert left.splitlines()[-1] == fresh.splitlines()[-1]
    t.press("Ctrl-C")
    assert t.wait() == 0
    assert t.saved()[1] == typed


def test_large_and_tiny(start):
    t = start(rows=200, cols=500)
    t.wait_for("probe 500x200")
    t.resize(1, 1)
    t.pump(0.2)
    t.resize(3000, 9)    # more than a canvas has
    t.pump(0.2)
    t.resize(24, 80)
    t.wait_for("probe 80x24")


def test_copies_to_the_clipboard(start):
    t = start()
    t.press("grüße", "Ctrl-Y")
    t.wait_for("key Ctrl-Y")
    assert b"\x1b]52;c;" + base64.b64encode("grüße".encode()) + b"\a" in t.output


def test_idle_means_no_wake_ups(start):
    t = start()
    t.press("Esc")
    t.wait_for("key Esc")
    t.pump(0.3)

    def used():
        fields = Path(f"/proc/{t.pid}/stat").read_text().rsplit(")", 1)[1].split()
        switches = re.findall(r"ctxt_switches:\s+(\d+)", Path(f"/proc/{t.pid}/status").read_text())
        return int(fields[11]) + int(fields[12]), sum(map(int, switches))

    before = used()
    t.pump(1.0)
    assert used() == before


def test_unchanged_cells_are_not_sent(start):
    t = start()
    t.pump(0.2)
    seen = len(t.output)
    t.press("x")
    t.wait_for("x")
    t.pump(0.1)
    assert len(t.output) - seen < 200
