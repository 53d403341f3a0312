"""Programs in a terminal with times: when the program began, when each piece of output arrived, when each key was sent.

The picture is worked out afterwards (tests/e2e/terminal.py), so that drawing it does not delay what is measured."""

import gc
import mmap
import os
import random
import re
import select
import signal
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.e2e.terminal import PATIENCE, Terminal

ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()*+][0-9A-Za-z]|[ -/]*[0-~])")
LATEST = 0.7             # seconds after the last key
PAUSE = (0.020, 0.060)   # seconds between keys: a fast typist, and never in step with anything


@dataclass(frozen=True)
class Frame:
    """The first frame of a program: how long after exec it stood, and what the process had of memory then."""

    seconds: float
    peak_kb: int   # VmHWM: the most that ever was resident
    pss_kb: int    # resident, with what it shares divided among those who share it
    parts: dict[str, int]   # kB resident by what is mapped: a library, the heap


class Fresh(Terminal):
    """A program whose first frame is waited for."""

    def __init__(self, *given, **more):
        self._began = mmap.mmap(-1, 8)   # shared with the child
        super().__init__(*given, **more)

    def _become(self, *given) -> None:
        become = os.execve

        def stamped(*what) -> None:
            self._began[:] = struct.pack("q", time.monotonic_ns())
            become(*what)

        os.execve = stamped   # in the child only
        super()._become(*given)

    def first_frame(self, last: str) -> Frame:
        """last: the text that this program draws last."""
        pieces: list[bytes] = []
        end = time.monotonic() + PATIENCE
        wanted = last.encode()
        while True:
            ready, _, _ = select.select([self.master], [], [], max(0.0, end - time.monotonic()))
            arrived = time.monotonic_ns()
            if not ready:
                raise AssertionError(f"never saw {last!r} in {b''.join(pieces)!r}")
            pieces.append(os.read(self.master, 65536))
            if wanted in ESCAPES.sub(b"", b"".join(pieces)):
                break
        self.kill(signal.SIGSTOP)    # as it stands: what it does next is not the first frame's
        self.wait_stopped()
        peak, pss, parts = self._kb("status", "VmHWM"), self._kb("smaps_rollup", "Pss"), self._parts()
        self.kill(signal.SIGCONT)
        self.stream.feed(b"".join(pieces))
        assert last in self.picture(), self.picture()
        return Frame((arrived - struct.unpack("q", self._began)[0]) / 1e9, peak, pss, parts)

    def _kb(self, file: str, name: str) -> int:
        with open(f"/proc/{self.pid}/{file}") as told:
            return int(re.search(rf"^{name}:\s+(\d+) kB", told.read(), re.M)[1])  # type: ignore[index]

    def _parts(self) -> dict[str, int]:
        found: dict[str, int] = {}
        what = ""
        with open(f"/proc/{self.pid}/smaps") as told:
            for line in told:
                if match := re.match(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+\s*(.*)", line):
                    what = os.path.basename(match[1]) or "anonymous"
                elif match := re.match(r"Rss:\s+(\d+) kB", line):
                    found[what] = found.get(what, 0) + int(match[1])
        return dict(sorted(found.items(), key=lambda each: -each[1]))


def growing_and_shrinking(count: int, longest: int = 24, seed: int = 1) -> tuple[str, list[tuple[bytes, str]]]:
    """What is in the field at first, and keys with what it holds after each: letters up to `longest` of them, then
    backspaces, again and again. Never empty: an empty field may show something else."""
    dice = random.Random(seed)
    first = text = "z"
    keys, grows = [], True
    for _ in range(count):
        grows = len(text) < longest if grows else len(text) <= 1
        if grows:
            text += dice.choice("abcdefghjklmnopqrstuvwxy")
            keys.append((text[-1:].encode(), text))
        else:
            text = text[:-1]
            keys.append((b"\x7f", text))
    return first, keys


def key_to_paint(terminal: Terminal, keys: list[tuple[bytes, str]], value: Callable[[Terminal], str | None],
                 seed: int = 1) -> list[float]:
    """Types the keys at random intervals, whatever the program does meanwhile. For each: seconds from its write to the
    arrival of the first output that shows it, or a later one."""
    dice = random.Random(seed)
    terminal.pump(0.2)
    written: list[float] = []
    pieces: list[tuple[float, bytes]] = []
    gc.collect()
    gc.disable()
    try:
        due = time.monotonic() + PAUSE[1]
        while True:
            ready, _, _ = select.select([terminal.master], [], [], max(0.0, due - time.monotonic()))
            now = time.monotonic()
            if ready:
                pieces.append((now, os.read(terminal.master, 65536)))
            if now < due:
                continue
            if len(written) == len(keys):
                break
            written.append(time.monotonic())
            os.write(terminal.master, keys[len(written) - 1][0])
            due = written[-1] + (dice.uniform(*PAUSE) if len(written) < len(keys) else LATEST)
    finally:
        gc.enable()
    return _shown(terminal, keys, value, written, pieces)


def _shown(terminal, keys, value, written, pieces) -> list[float]:
    took: list[float] = []
    for arrived, data in pieces:
        terminal.output += data
        terminal.stream.feed(data)
        seen = value(terminal)
        for at in range(len(took), len(keys)):
            if written[at] > arrived:
                break
            if keys[at][1] == seen:
                took += [arrived - written[one] for one in range(len(took), at + 1)]
                break
    assert len(took) == len(keys), f"key {len(took)}, {keys[len(took)]}, was never shown\n{terminal.picture()}"
    return took
