"""The age file format (age-encryption.org/v1), as far as a wrapped data key needs it: X25519, one recipient, armour."""

from __future__ import annotations

import base64
import hmac
import os
from dataclasses import dataclass

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import (
    X25519PrivateKey,
    X25519PublicKey,
)
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_CHARSET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_VERSION = b"age-encryption.org/v1\n"
_INFO = b"age-encryption.org/v1/X25519"
_BEGIN, _END = "-----BEGIN AGE ENCRYPTED FILE-----", "-----END AGE ENCRYPTED FILE-----"
_CHUNK = 64 * 1024


class AgeError(Exception):
    """Not a file of this format, or not for this identity."""


def _polymod(values: list[int]) -> int:
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for bit, term in enumerate(_GENERATOR):
            if (top >> bit) & 1:
                check ^= term
    return check


def _expand(prefix: str) -> list[int]:
    return [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]


def _regroup(data: list[int], bits_in: int, bits_out: int, pad: bool) -> list[int]:
    held = count = 0
    out = []
    for value in data:
        held, count = held << bits_in | value, count + bits_in
        while count >= bits_out:
            count -= bits_out
            out.append(held >> count & (1 << bits_out) - 1)
    if pad and count:
        out.append(held << bits_out - count & (1 << bits_out) - 1)
    return out


def bech32(prefix: str, data: bytes) -> str:
    """Bytes in the form that keys are written in."""
    values = _regroup(list(data), 8, 5, True)
    check = _polymod(_expand(prefix) + values + [0] * 6) ^ 1
    return prefix + "1" + "".join(_CHARSET[v] for v in values + [check >> 5 * (5 - i) & 31 for i in range(6)])


def unbech32(prefix: str, text: str) -> bytes:
    """The bytes of a key; its prefix and checksum must be right."""
    text = text.strip().lower()
    head, _, tail = text.rpartition("1")
    if head != prefix or any(c not in _CHARSET for c in tail):
        raise AgeError(f"not a key that begins with {prefix}1")
    values = [_CHARSET.index(c) for c in tail]
    if _polymod(_expand(prefix) + values) != 1:
        raise AgeError("the key's checksum is wrong")
    return bytes(_regroup(values[:-6], 5, 8, False))


def _derive(secret: bytes, salt: bytes, info: bytes) -> bytes:
    return HKDF(hashes.SHA256(), 32, salt, info).derive(secret)


def _encode(data: bytes) -> bytes:
    return base64.b64encode(data).rstrip(b"=")


def _decode(data: bytes) -> bytes:
    return base64.b64decode(data + b"=" * (-len(data) % 4), validate=True)


@dataclass(frozen=True)
class Identity:
    """A key pair."""

    secret: bytes

    @classmethod
    def new(cls) -> Identity:
        """A fresh one."""
        return cls(os.urandom(32))

    @classmethod
    def read(cls, text: str) -> Identity:
        """The one that is written AGE-SECRET-KEY-1…, perhaps among comments as age-keygen writes them."""
        lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
        if len(lines) != 1:
            raise AgeError("not exactly one identity")
        return cls(unbech32("age-secret-key-", lines[0]))

    @property
    def text(self) -> str:
        """As age and sops read it."""
        return bech32("age-secret-key-", self.secret).upper()

    @property
    def _private(self) -> X25519PrivateKey:
        return X25519PrivateKey.from_private_bytes(self.secret)

    @property
    def recipient(self) -> str:
        """The public half, age1…"""
        return bech32("age", self._private.public_key().public_bytes_raw())

    def open(self, armoured: str) -> bytes:
        """The content of an armoured file."""
        lines = armoured.strip().splitlines()
        if len(lines) < 3 or lines[0] != _BEGIN or lines[-1] != _END:
            raise AgeError("no armour")
        file = base64.b64decode("".join(lines[1:-1]), validate=True)
        header, mark, rest = file.partition(b"\n--- ")
        if not mark or not header.startswith(_VERSION):
            raise AgeError("no header")
        mac, _, payload = rest.partition(b"\n")
        file_key = self._file_key(header[len(_VERSION):].split(b"\n"))
        expected = hmac.digest(_derive(file_key, b"", b"header"), header + b"\n---", "sha256")
        if not hmac.compare_digest(expected, _decode(mac)):
            raise AgeError("the header was changed")
        return _unstream(_derive(file_key, payload[:16], b"payload"), payload[16:])

    def _file_key(self, lines: list[bytes]) -> bytes:
        own = self._private.public_key().public_bytes_raw()
        for at, line in enumerate(lines):
            if not line.startswith(b"-> X25519 "):
                continue
            share = _decode(line.split(b" ")[2])
            shared = self._private.exchange(X25519PublicKey.from_public_bytes(share))
            try:
                key = _derive(shared, share + own, _INFO)
                return ChaCha20Poly1305(key).decrypt(bytes(12), _decode(lines[at + 1]), None)
            except Exception:  # noqa: BLE001 - for somebody else
                continue
        raise AgeError("not for this identity")


def seal(recipient: str, content: bytes) -> str:
    """An armoured file for one recipient."""
    public = unbech32("age", recipient)
    ephemeral = X25519PrivateKey.generate()
    share = ephemeral.public_key().public_bytes_raw()
    shared = ephemeral.exchange(X25519PublicKey.from_public_bytes(public))
    file_key, nonce = os.urandom(16), os.urandom(16)
    wrapped = ChaCha20Poly1305(_derive(shared, share + public, _INFO)).encrypt(bytes(12), file_key, None)
    header = _VERSION + b"-> X25519 " + _encode(share) + b"\n" + _encode(wrapped) + b"\n---"
    mac = hmac.digest(_derive(file_key, b"", b"header"), header, "sha256")
    body = nonce + _stream(_derive(file_key, nonce, b"payload"), content)
    text = base64.b64encode(header + b" " + _encode(mac) + b"\n" + body).decode()
    lines = [text[i:i + 64] for i in range(0, len(text), 64)]
    return "\n".join([_BEGIN, *lines, _END]) + "\n"


def _stream(key: bytes, content: bytes) -> bytes:
    pieces = [content[i:i + _CHUNK] for i in range(0, len(content), _CHUNK)] or [b""]
    cipher, last = ChaCha20Poly1305(key), len(pieces) - 1
    return b"".join(cipher.encrypt(_nonce(n, n == last), piece, None) for n, piece in enumerate(pieces))


def _unstream(key: bytes, content: bytes) -> bytes:
    size = _CHUNK + 16
    pieces = [content[i:i + size] for i in range(0, len(content), size)]
    cipher, last = ChaCha20Poly1305(key), len(pieces) - 1
    try:
        return b"".join(cipher.decrypt(_nonce(n, n == last), piece, None) for n, piece in enumerate(pieces))
    except Exception as wrong:
        raise AgeError("the content was changed") from wrong


def _nonce(number: int, last: bool) -> bytes:
    return number.to_bytes(11, "big") + (b"\1" if last else b"\0")
