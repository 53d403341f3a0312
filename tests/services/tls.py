"""Own certificate authority for the stand-ins: good server certificates and, on demand, expired or misnamed ones."""

import datetime
import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key as PEM files; the key is readable by its owner only."""

    cert_file: Path
    key_file: Path


def write_private(path: Path, data: bytes | str) -> None:
    """Writes a file that nobody else can read at any moment, replacing what was there."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)


def bundle(path: Path, *authorities: Path | str) -> Path:
    """All of them as one file: for a client of stand-ins that have authorities of their own."""
    path.write_bytes(b"".join(Path(each).read_bytes() for each in authorities))
    return path


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                             serialization.NoEncryption())


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


class Authority:
    """A CA that lives in a folder (ca.pem, ca.key) and is made there when missing."""

    def __init__(self, folder: Path, name: str = "sluice test CA"):
        self.folder, self.name = Path(folder).resolve(), name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ca_file = self.folder / "ca.pem"
        key_file = self.folder / "ca.key"
        if self.ca_file.exists() and key_file.exists():
            key = serialization.load_pem_private_key(key_file.read_bytes(), None)
            assert isinstance(key, ec.EllipticCurvePrivateKey)
            self._key = key
            self._certificate = x509.load_pem_x509_certificate(self.ca_file.read_bytes())
        else:
            self._key = ec.generate_private_key(ec.SECP256R1())
            self._certificate = self._sign_self()
            write_private(key_file, _key_pem(self._key))
            self.ca_file.write_bytes(self._certificate.public_bytes(serialization.Encoding.PEM))

    def _sign_self(self) -> x509.Certificate:
        now = datetime.datetime.now(datetime.timezone.utc)
        public = self._key.public_key()
        return (
            x509.CertificateBuilder().subject_name(_name(self.name)).issuer_name(_name(self.name)).public_key(public)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1)).not_valid_after(now + datetime.timedelta(days=3650))
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(x509.KeyUsage(False, False, False, False, False, True, True, False, False), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .sign(self._key, hashes.SHA256()))

    def issue(self, label: str, names: Iterable[str] = LOOPBACK, *, expired: bool = False) -> Certificate:
        """A server certificate for these names; expired: it ended yesterday."""
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.datetime.now(datetime.timezone.utc)
        begin = now - datetime.timedelta(days=30 if expired else 0, hours=1)
        end = now - datetime.timedelta(days=1) if expired else now + datetime.timedelta(days=3600)
        certificate = (
            x509.CertificateBuilder().subject_name(_name(label)).issuer_name(self._certificate.subject)
            .public_key(key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(begin).not_valid_after(end)
            .add_extension(x509.SubjectAlternativeName([_alternative(name) for name in names]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256()))
        issued = Certificate(self.folder / f"{label}.pem", self.folder / f"{label}.key")
        write_private(issued.key_file, _key_pem(key))
        issued.cert_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return issued
