"""A terminal with a program in it: a pty whose output goes through pyte, so that tests see what a person sees.

    with Terminal([program, "check"], rows=24, cols=80) as t:
        t.wait_for("Host")
        t.press("db", "Enter")
        assert t.line(3).startswith(…)
        assert t.wait() == 0
        t.assert_restored()

The program runs in a session of its own with the pty as its controlling terminal. The slave side stays open here, so
that the modes can be compared after the end and output is never lost; hang_up() closes both, as a vanished ssh does."""

import fcntl
import os
import re
import select
import signal
import struct
import termios
import time
from typing import Self

import pyte

NAMED = {
    "Enter": "\r", "Esc": "\x1b", "Tab": "\t", "Shift-Tab": "\x1b[Z", "Backspace": "\x7f", "Space": " ",
    "Delete": "\x1b[3~", "Up": "\x1bOA", "Down": "\x1bOB", "Right": "\x1bOC", "Left": "\x1bOD", "Home": "\x1bOH",
    "End": "\x1bOF", "PgUp": "\x1b[5~", "PgDn": "\x1b[6~", "Ctrl-Left": "\x1b[1;5D", "Ctrl-Right": "\x1b[1;5C",
    "F1": "\x1bOP", "F2": "\x1bOQ", "F3": "\x1bOR", "F4": "\x1bOS", "F5": "\x1b[15~", "F6": "\x1b[17~",
    "F7": "\x1b[18~", "F8": "\x1b[19~", "F9": "\x1b[20~", "F10": "\x1b[21~",
}
PATIENCE = 20.0    # seconds; a loaded machine under sanitizers is slow, a hang is a hang


class Screen(pyte.Screen):
    """With REP (CSI Ps b), SU and SD (CSI Ps S, T), which xterm's terminfo entry promises and pyte does not know."""

    drawn = " "

    def draw(self, data: str) -> None:
        super().draw(data)
        self.drawn = data[-1:] or self.drawn

    def repeat(self, count: int = 1) -> None:
        super().draw(self.drawn * (count or 1))

    def scroll_up(self, count: int = 1) -> None:
        self._scroll(self.index, self.margins.bottom if self.margins else self.lines - 1, count)

    def scroll_down(self, count: int = 1) -> None:
        self._scroll(self.reverse_index, self.margins.top if self.margins else 0, count)

    def _scroll(self, step, edge: int, count: int) -> None:
        row, self.cursor.y = self.cursor.y, edge
        for _ in range(count or 1):
            step()
        self.cursor.y = row


class Stream(pyte.ByteStream):
    csi = {**pyte.ByteStream.csi, "b": "repeat", "S": "scroll_up", "T": "scroll_down"}
    events = pyte.ByteStream.events | {"repeat", "scroll_up", "scroll_down"}


def key_bytes(name: str) -> bytes:
    """The bytes of a key by its name; what is no name is typed as it stands."""
    if match := re.fullmatch(r"Ctrl-([A-Z])", name):
        return bytes([ord(match[1]) - 64])
    return NAMED.get(name, name).encode()


class Terminal:
    def __init__(self, argv: list, *, rows: int = 24, cols: int = 80, env: dict[str, str | None] | None = None,
                 ignore: tuple[signal.Signals, ...] = (), cwd=None):
        self.output = bytearray()
        self.screen = Screen(cols, rows)
        self.stream = Stream(self.screen)
        self.master, self.slave = os.openpty()
        os.set_blocking(self.master, False)
        self._set_size(rows, cols)
        self.before = termios.tcgetattr(self.slave)
        self.status: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            self._become([str(a) for a in argv], env or {}, ignore, cwd)

    def _become(self, argv, env, ignore, cwd) -> None:
        try:
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(self.slave, fd)
            os.closerange(3, 256)
            for number in ignore:
                signal.signal(number, signal.SIG_IGN)
            merged = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **env}
            for gone in ("NO_COLOR", "COLORFGBG", "LINES", "COLUMNS"):
                if gone not in env:
                    merged.pop(gone, None)
            if cwd:
                os.chdir(cwd)
            os.execve(argv[0], argv, {k: v for k, v in merged.items() if v is not None})
        finally:
            os._exit(127)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        if self.status is None:
            try:
                os.kill(self.pid, signal.SIGKILL)
                os.kill(self.pid, signal.SIGCONT)
            except ProcessLookupError:
                pass
            self._reap(os.waitpid(self.pid, 0)[1])
        self.hang_up()

    # ---- input ----

    def send(self, data: bytes | str) -> None:
        data = data.encode() if isinstance(data, str) else data
        end = time.monotonic() + PATIENCE
        while data:
            if time.monotonic() > end:
                raise AssertionError("the program does not read its input\n" + self.picture())
            try:
                data = data[os.write(self.master, data[:1024]):]
            except BlockingIOError:
                pass
            self.pump(0.001)

    def press(self, *names: str) -> None:
        for name in names:
            self.send(key_bytes(name))
            if name == "Esc":
                self.pump(0.3)    # otherwise what follows would be read as the rest of a sequence

    def paste(self, text: str) -> None:
        """As a terminal with bracketed paste does it: line breaks arrive as CR."""
        self.send("\x1b[200~" + text.replace("\n", "\r") + "\x1b[201~")

    def resize(self, rows: int, cols: int) -> None:
        self._set_size(rows, cols)
        self.screen.resize(rows, cols)

    def _set_size(self, rows: int, cols: int) -> None:
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def kill(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def hang_up(self) -> None:
        for fd in (self.master, self.slave):
            if fd >= 0:
                os.close(fd)
        self.master = self.slave = -1

    # ---- output ----

    def pump(self, seconds: float) -> None:
        """Takes in what the program writes for so long."""
        end = time.monotonic() + seconds
        while self.master >= 0:
            ready, _, _ = select.select([self.master], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            self.output += data
            self.stream.feed(data)

    def line(self, row: int) -> str:
        return self.screen.display[row].rstrip()

    def picture(self) -> str:
        return "\n".join(row.rstrip() for row in self.screen.display)

    def wait_for(self, text: str | re.Pattern, seconds: float = PATIENCE) -> None:
        end = time.monotonic() + seconds
        while True:
            self.pump(0.02)
            picture = self.picture()
            if (text in picture) if isinstance(text, str) else text.search(picture):
                return
            if time.monotonic() > end:
                raise AssertionError(f"never saw {text!r} in\n{picture}")

    # ---- the end ----

    def _reap(self, status: int) -> None:
        self.status = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

    def wait(self, seconds: float = PATIENCE) -> int:
        """The exit code, or minus the signal that killed it."""
        end = time.monotonic() + seconds
        while self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._reap(status)
            elif time.monotonic() > end:
                raise AssertionError("still runs\n" + self.picture())
            self.pump(0.02)
        self.pump(0.05)
        return self.status

    def wait_stopped(self, seconds: float = PATIENCE) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.pump(0.02)
            with open(f"/proc/{self.pid}/stat") as f:
                if f.read().rsplit(")", 1)[1].split()[0] == "T":
                    return
        raise AssertionError("was not stopped")

    def assert_restored(self) -> None:
        """Modes as before, main screen, cursor seen, no bracketed paste, no attributes; said by the bytes themselves."""
        assert termios.tcgetattr(self.slave) == self.before
        for on, off, what in ((rb"\x1b\[\?1049h", rb"\x1b\[\?1049l", "alternate screen"),
                              (rb"\x1b\[\?2004h", rb"\x1b\[\?2004l", "bracketed paste"),
                              (rb"\x1b\[\?25l", rb"\x1b\[\?(?:12l\x1b\[\?)?25h|\x1b\[34h\x1b\[\?25h", "hidden cursor"),
                              (rb"\x1b\[\?1000h", rb"\x1b\[\?1000l", "mouse"),
                              (rb"\x1b\[\?1h", rb"\x1b\[\?1l", "application keys")):
            last_on = max((m.start() for m in re.finditer(on, self.output)), default=-1)
            last_off = max((m.start() for m in re.finditer(off, self.output)), default=-1)
            assert last_on < 0 or last_off > last_on, f"{what} is left on"
