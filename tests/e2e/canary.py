"""Secrets that are recognised wherever they turn up, in whatever form, and the eyes that look for them."""

import base64
import html
import json
import re
import shlex
import stat
import struct
import subprocess
import threading
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from tests.e2e.cli import Done, Sluice

LEAST = 8          # bytes: what is shorter is found by chance
HALF = 12
EVERY = 0.02       # seconds between two looks at a running program
TOKEN = re.compile(rb"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}")     # a signed one (RFC 7519)


# --- The forms of a secret


def awkward(core: str) -> str:
    """A secret around a core that no encoding changes; what is around it, most of them do."""
    return f"ä +%/:#@'\"\\{core}\\\"'<&> $`ß"


def forms(secret: str, halves: bool = True) -> set[bytes]:
    """How a secret could stand somewhere: as it is, escaped for each language we write, encoded, in parts."""
    cores = [run for run in re.findall(r"[A-Za-z0-9_-]+", secret) if len(run) >= LEAST]
    texts = {secret, *cores, *_escaped(secret)}
    if halves:
        texts |= {part for core in cores if len(core) >= 2 * HALF for part in (core[:HALF], core[-HALF:])}
    found = {text.encode() for text in texts}
    for text in {secret, urllib.parse.quote_plus(secret), urllib.parse.quote(secret, ""), *cores}:
        found |= {text.encode().hex().encode(), text.encode().hex().upper().encode(), *_base64(text.encode())}
    return {form for form in found if len(form) >= LEAST}


def _escaped(text: str) -> Iterator[str]:
    for quoted in (urllib.parse.quote(text, ""), urllib.parse.quote_plus(text), urllib.parse.quote(text)):
        yield quoted
        yield re.sub("%[0-9A-F]{2}", lambda match: match[0].lower(), quoted)
    for quoted in (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
        yield quoted
        yield quoted.replace("/", "\\/")
    yield text.replace("'", "''")                               # SQL, YAML
    yield text.replace("\\", "\\\\").replace("'", "''")         # SQL with escapes
    yield html.escape(text, quote=False)
    yield html.escape(text)
    yield shlex.quote(text)[1:-1]


def _base64(raw: bytes) -> Iterator[bytes]:
    """At each place that it can have in a longer text, without the letters that its neighbours have a part in."""
    for before in range(3):
        whole = base64.b64encode(bytes(before) + raw)
        ours = whole[-(-before * 8 // 6):(before + len(raw)) * 8 // 6]
        yield ours
        yield ours.replace(b"+", b"-").replace(b"/", b"_")


# --- Looking for them


@dataclass
class Watch:
    """What came out of a program and lay about while it ran: (where, what)."""

    sluice: Sluice
    folders: list[Path]
    seen: dict[bytes, str] = field(default_factory=dict)
    looks: int = 0
    known: set[tuple] = field(default_factory=set)      # files that have not changed since

    def add(self, where: str, held: bytes | str) -> None:
        self.seen.setdefault(held.encode() if isinstance(held, str) else held, where)

    def files(self, when: str) -> None:
        for folder in self.folders:
            paths = list(folder.rglob("*"))
            self.add(f"names of files ({when})", "\n".join(map(str, paths)))
            for path in paths:
                try:
                    now = path.lstat()
                    state = (path, now.st_ino, now.st_mtime_ns, now.st_size)
                    if stat.S_ISREG(now.st_mode) and state not in self.known:
                        self.add(f"{path.name} ({when})", path.read_bytes())
                        self.known.add(state)
                except OSError:
                    continue    # gone in between

    def process(self, pid: int, when: str) -> None:
        """Its arguments and environment, and those of all its children."""
        for number, whose in _family(pid):
            for name in ("cmdline", "environ"):
                try:
                    self.add(f"{name} of {whose} ({when})", Path(f"/proc/{number}/{name}").read_bytes())
                    self.looks += 1
                except OSError:
                    continue    # ended, or not ours to read

    def run(self, *words: object, timeout: float = 120, **more) -> Done:
        """A command to its end, looked at all the time."""
        when = " ".join(map(str, words[:2]))
        before = self.looks
        with self.sluice.start(*words, **more) as process:
            over = threading.Event()
            eyes = threading.Thread(target=self._look, args=(process.pid, when, over))
            eyes.start()
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
            finally:
                over.set()
                eyes.join()
        assert self.looks > before, f"{when}: nobody looked"
        self.add(f"stdout ({when})", out)
        self.add(f"stderr ({when})", err)
        self.files(f"after {when}")
        return Done(process.returncode, out, err)

    def _look(self, pid: int, when: str, over: threading.Event) -> None:
        while True:
            self.process(pid, when)
            self.files(f"during {when}")
            if over.wait(EVERY):
                return

    def leaks(self, name: str, secret: str, halves: bool = True, but: str = "(?!)") -> list[str]:
        """Where a secret stands. but: places (a pattern) where it may."""
        wanted = forms(secret, halves)
        return [f"{name} in {where}: …{held[max(0, held.find(form) - 20):][:60]!r}" for held, where in self.seen.items()
                for form in wanted if form in held and not re.match(but, where)]

    def tokens(self, public: str) -> list[str]:
        """Where a signed token stands that is not the public one; what the program was given does not count."""
        return [f"a token in {where}" for held, where in self.seen.items() if not where.startswith("environ of")
                for found in TOKEN.findall(held) if found != public.encode()]


def _family(pid: int) -> Iterator[tuple[int, str]]:
    """A process and all that it started, as far as they live."""
    known = [(pid, "sluice")]
    for number, whose in known:
        yield number, whose
        for children in Path(f"/proc/{number}/task").glob("*/children"):
            try:
                known += [(int(child), "a child") for child in children.read_text().split()]
            except OSError:
                continue


# --- The secrets file, read from outside


def stored(path: Path, passphrase: str) -> dict[str, str]:
    """What sluice.secrets holds, by its documented form: header, scrypt, AES-256-GCM, a map."""
    held = path.read_bytes()
    magic, version, n, r, p = struct.unpack_from("<8sIIII", held)
    assert (magic, version) == (b"SLUICESF", 1)
    salt, nonce, body = held[24:40], held[40:52], held[52:]
    key = Scrypt(salt, 32, n, r, p).derive(passphrase.encode())
    clear = AESGCM(key).decrypt(nonce, body, held[:52])
    (count,), at, found = struct.unpack_from("<I", clear), 4, {}
    for _ in range(count):
        name, at = _counted(clear, at)
        found[name], at = _counted(clear, at + 8)
    assert at == len(clear)
    return found


def _counted(held: bytes, at: int) -> tuple[str, int]:
    (size,) = struct.unpack_from("<I", held, at)
    return held[at + 4:at + 4 + size].decode(), at + 4 + size
