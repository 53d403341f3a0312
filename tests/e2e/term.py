"""sluice in a terminal, driven and read as a person does: fields by their labels, checks by their titles.

    with Wizard([program, "--state", path], env=…) as w:
        w.fill("Name", "shop")
        w.go_to("Client secret"); w.type("…"); w.press("Enter")
        w.wait_check("token URI", "✗")
        w.quit()                        # F10, exit code 0, terminal as it was

Waiting is polling of what the screen shows, at most PATIENCE seconds; a failure shows the screen. Every byte that the
program sent is in `output`."""

import fcntl
import os
import re
import struct
import termios
import time
from typing import Callable

from .terminal import PATIENCE, Terminal

MARKS = "✓✗!…·~○≈●?"
ASCII_MARKS = "+x!.-~oa*?"
SIDE, WIDE = 24, 100
LABEL = 16     # columns of the label of a field
QUICK = 5.0    # what needs no service

What = str | re.Pattern | Callable[["Wizard"], object]


def gap(label: str) -> str:
    """What stands between a label and its value: the longest labels leave one blank of their column."""
    return " +" if len(label) >= LABEL - 1 else "  +"


def titled(title: str) -> str:
    """A check's title as a pattern with what follows: whole, or cut where its column ends."""
    if len(title) <= 25:
        return rf"{re.escape(title)}(?:  +|$)"
    return rf"(?:{re.escape(title)}(?: +|$)|{re.escape(title[:20])}[^…]{{0,9}}… )"


class Wizard(Terminal):
    def wait_for(self, what: What, seconds: float = PATIENCE) -> None:
        """Until the text or pattern is on the screen, or the predicate (given the wizard) is true."""
        if not callable(what):
            super().wait_for(what, seconds)
            return
        if not self._until(lambda: what(self), seconds):
            raise AssertionError(f"never became true: {what}\n{self.picture()}")

    def wait_gone(self, text: str, seconds: float = PATIENCE) -> None:
        if not self._until(lambda: text not in self.picture(), seconds):
            raise AssertionError(f"{text!r} stays on\n{self.picture()}")

    def _until(self, true: Callable[[], object], seconds: float) -> bool:
        end = time.monotonic() + seconds
        while not true():
            if time.monotonic() > end:
                return False
            if self.ended():
                raise AssertionError(f"it has ended ({self.status})\n{self.picture()}")
            self.pump(0.02)
        return True

    def ended(self) -> bool:
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._reap(status)
                self.pump(0.05)
        return self.status is not None

    # ---- where we are ----

    def header(self) -> str:
        return self.line(0)

    def footer(self) -> str:
        return self.line(self.screen.lines - 1)

    def wait_step(self, title: str) -> None:
        """Until the step of this title ("PostgreSQL") is the one on the screen."""
        self.wait_for(lambda w: w._shows(title))

    def _shows(self, title: str) -> bool:
        """The current step is marked in the line of steps, from 100 columns on in the list at the side."""
        marked = re.compile(rf"^ .*?[●*] *(\d\w?)? *{re.escape(title)}( |$)")
        return any(marked.match(self.line(row)) for row in range(1, 12))

    def wait_saved(self) -> None:
        self.wait_for(lambda w: re.search(r"· saved \d\d:\d\d$", w.header()))

    def to_step(self, title: str) -> None:
        """Back, screen by screen, to an earlier step; or on, by n."""
        for key in ("Esc", "n"):
            for _ in range(12):
                if self._shows(title):
                    return
                if key == "n" and "Tab form" not in self.footer():
                    self.moves("Tab" if "Tab" in self.footer() else "Enter")
                elif not self.moves(key):
                    break
        raise AssertionError(f"no way to the step {title!r}\n{self.picture()}")

    # ---- fields ----

    def _body(self, row: int) -> str:
        """A line without the list of steps that stands at the side from 100 columns on."""
        return self.line(row)[SIDE if self.screen.columns >= WIDE else 0:]

    def current(self) -> str:
        """The line the cursor stands in."""
        return self._body(self.screen.cursor.y)

    def value_of(self, label: str) -> str | None:
        """What stands beside a label of the form; None when the label is not on the screen."""
        for row in range(self.screen.lines):
            if match := re.match(rf" {{1,3}}{re.escape(label)}(?:{gap(label)}(.*))?$", self._body(row)):
                return match[1] or ""
        return None

    def at(self, label: str) -> bool:
        """Of a choice the options stand one a line, the label at the first."""
        row = self.screen.cursor.y
        while row > 0 and re.match(rf" {{{LABEL}}} *\([ ●]\) ", self._body(row)):
            row -= 1
        return re.match(rf" {{1,3}}{re.escape(label)}({gap(label)}|$)", self._body(row)) is not None

    def go_to(self, label: str) -> None:
        """To a field of the form, by the arrow keys; opens what is folded on the way."""
        self.settle()
        if "Tab form" in self.footer():
            self.press("Tab")
            self.settle()
        for start in ((), ("PgUp",)):
            self.press(*start)
            self.settle()
            for _ in range(40):
                if self.at(label):
                    return
                if not self.moves("Enter" if re.match(r" +\+ more", self.current()) else "Down"):
                    break
        raise AssertionError(f"no way to the field {label!r}\n{self.picture()}")

    def fill(self, label: str, text: str, leave: str = "Enter") -> None:
        """Goes to a text field, replaces what is there, and leaves it (Enter on the last one leads to the next step)."""
        self.go_to(label)
        self.clear()
        self.type(text)
        self.press(leave)
        self.settle()

    def clear(self) -> None:
        self.press("End", "Ctrl-U")

    def type(self, text: str) -> None:
        self.send(text)

    def moves(self, key: str) -> bool:
        """Presses a key; whether that changed anything on the screen but running times."""
        def seen() -> tuple:
            return re.sub(r"\d+ m?s\b", "", self.picture()), self.screen.cursor.y, self.screen.cursor.x

        before = seen()
        self.press(key)
        self.settle()
        if seen() == before:
            self.pump(0.2)    # at rest only for a moment, perhaps
            self.settle()
        return seen() != before

    def settle(self) -> None:
        """Until the program has read every key, drawn what they did, and waits for more."""
        end = time.monotonic() + PATIENCE
        quiet = 0
        while quiet < 2 and not self.ended():
            seen = len(self.output)
            self.pump(0.008)
            quiet = quiet + 1 if self._waits() and len(self.output) == seen else 0
            if time.monotonic() > end:
                raise AssertionError(f"it never comes to rest\n{self.picture()}")

    def _waits(self) -> bool:
        unread = struct.unpack("i", fcntl.ioctl(self.slave, termios.FIONREAD, b"\0" * 4))[0]
        with open(f"/proc/{self.pid}/task/{self.pid}/stat") as stat:
            return unread == 0 and stat.read().rsplit(")", 1)[1].split()[0] == "S"

    # ---- checks ----

    def check(self, title: str) -> tuple[str, str] | None:
        """Mark and rest of the line of a check; None when it is not on the screen."""
        for row in range(self.screen.lines):
            if match := re.match(rf" *([{re.escape(MARKS + ASCII_MARKS)}]) {titled(title)}(.*)$", self._body(row)):
                return match[1], match[2] or ""
        return None

    def wait_check(self, title: str, mark: str, seconds: float = PATIENCE) -> str:
        """Until that check has the mark (walks to it when it is not on the screen); gives what stands beside it."""
        self.settle()
        if self.check(title) is None:
            self.to_check(title)
        self.wait_for(lambda w: (w.check(title) or "?")[0] == mark, seconds)
        found = self.check(title)
        assert found
        return found[1]

    def open_check(self, title: str) -> None:
        """From the form or the checks: the check in full."""
        self.to_check(title)
        self.press("Right")
        self.wait_for("Proves")

    def to_check(self, title: str) -> None:
        if "Tab form" not in self.footer():
            self.press("Tab")
            self.wait_for(lambda w: "Tab form" in w.footer())
        self.press("Home")
        self.settle()
        for _ in range(60):
            if re.match(rf" *\S {titled(title)}", self.current()):
                return
            if not self.moves("Down"):
                break
        raise AssertionError(f"no way to the check {title!r}\n{self.picture()}")

    # ---- the end ----

    def quit(self, code: int = 0) -> None:
        self.press("F10")
        self.assert_ends(code)

    def assert_ends(self, code: int, seconds: float = PATIENCE) -> None:
        """It ends with this code and gives the terminal back as it was."""
        assert self.wait(seconds) == code, self.picture()
        self.assert_restored()
        assert not self.screen.cursor.hidden
