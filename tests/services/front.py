"""nginx with TLS by our own CA in front of anything: the catalog, or a handful of locations that misbehave."""

import shutil
import ssl
import urllib.error
import urllib.request
from pathlib import Path

from .ports import free_port, has_ipv6, loopback_name
from .process import Service, ServiceError
from .tls import Authority, Certificate

TEMPLATE = Path(__file__).with_name("nginx.conf.in")


def fill(template: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        template = template.replace(f"@{name}@", value)
    return template


def https_opener(ca_file: Path) -> urllib.request.OpenerDirector:
    """An HTTPS client that trusts only this CA and goes through no proxy."""
    context = ssl.create_default_context(cafile=str(ca_file))
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))


class Front(Service):
    """One TLS server. locations: what stands in nginx's server block. url: https://localhost:PORT after start()."""

    name = "nginx"
    stop_signal = "TERM"
    deadline = 20.0

    def __init__(self, folder: Path, authority: Authority, locations: str, *, port: int | None = None,
                 certificate: Certificate | None = None):
        super().__init__(folder)
        self.authority, self.locations, self.certificate = authority, locations, certificate
        self.host = loopback_name()
        self.fixed_port, self.port = port is not None, port or 0

    @property
    def ca_file(self) -> Path:
        return self.authority.ca_file

    @property
    def url(self) -> str:
        return f"https://{self.host}:{self.port}"

    def choose_ports(self) -> None:
        if not self.fixed_port:
            self.port = free_port()

    def prepare(self) -> None:
        certificate = self.certificate or self.authority.issue(f"nginx-{self.port}")
        listen = [f"listen 127.0.0.1:{self.port} ssl;"] + ([f"listen [::1]:{self.port} ssl;"] if has_ipv6() else [])
        (self.folder / "nginx.conf").write_text(fill(TEMPLATE.read_text(), {
            "FOLDER": str(self.folder), "LISTEN": " ".join(listen), "CERTIFICATE": str(certificate.cert_file),
            "KEY": str(certificate.key_file), "LOCATIONS": self.locations}))

    def command(self) -> list[str]:
        program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
        if not program:
            raise ServiceError("nginx is not installed: scripts/test and scripts/sandbox install Debian's nginx")
        return [program, "-p", f"{self.folder}/", "-c", str(self.folder / "nginx.conf"), "-e", "stderr"]

    def probe(self) -> None:
        import socket

        with socket.create_connection(("127.0.0.1", self.port), timeout=5):
            pass
