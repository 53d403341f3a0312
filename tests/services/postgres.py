"""A real PostgreSQL server on a loopback port: logical replication, TLS by our own CA, SCRAM, nothing else.

As root it runs as the system's unprivileged user, with its data where that user may go (places.enterable); as an
ordinary user it runs as that user. Other majors: give the folder that holds their initdb and postgres."""

import os
import secrets
import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote

import psycopg

from . import places
from .ports import free_port, has_ipv6, loopback_name
from .process import Service, ServiceError
from .tls import Authority, write_private
from .watch import identity

DEBIAN_15 = Path("/usr/lib/postgresql/15/bin")
DEFAULTS = {
    "wal_level": "logical",
    "dynamic_shared_memory_type": "mmap",   # in the data folder: nothing stays in /dev/shm after a kill
    "max_replication_slots": "10",
    "max_wal_senders": "10",
    "shared_buffers": "32MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] %q%u@%d %a ",
}
QUICK = {"fsync": "off", "full_page_writes": "off", "autovacuum": "off"}


class Postgres(Service):
    """One cluster. settings overrides postgresql.conf, hba are lines put before the usual ones.

    admin_user / admin_password: the superuser. durable: keep fsync and autovacuum (the sandbox), else off (tests).
    The data stay in the folder: start() on a folder that has some goes on with them."""

    name = "postgres"
    stop_signal = "INT"   # fast shutdown
    grace = 15.0
    deadline = 30.0
    admin_user = "postgres"

    def __init__(self, folder: Path, authority: Authority, *, settings: dict[str, str] | None = None,
                 hba: tuple[str, ...] = (), bindir: Path = DEBIAN_15, port: int | None = None,
                 admin_password: str | None = None, durable: bool = False):
        super().__init__(folder)
        self.authority, self.bindir, self.hba = authority, Path(bindir), hba
        self.settings = DEFAULTS | ({} if durable else QUICK) | (settings or {})
        self.user = places.service_user()
        self.host = loopback_name()
        self.fixed_port, self.port = port is not None, port or 0
        self.admin_password = admin_password or secrets.token_urlsafe(16)
        self.data = Path()

    @property
    def ca_file(self) -> Path:
        return self.authority.ca_file

    def choose_ports(self) -> None:
        if not self.fixed_port:
            self.port = free_port()

    def prepare(self) -> None:
        if not (self.bindir / "postgres").exists():
            raise ServiceError(f"no PostgreSQL server in {self.bindir}: scripts/test installs Debian's postgresql-15")
        base = places.enterable(self.folder, self.user)
        base.mkdir(parents=True, exist_ok=True)
        self.data = base / "data"
        if not (self.data / "PG_VERSION").exists():
            self._initdb()
        self._clear_dead_lock()
        certificate = self.authority.issue(f"postgres-{self.port}")
        self._give(self.data / "server.key", certificate.key_file.read_bytes())
        self._give(self.data / "server.pem", certificate.cert_file.read_bytes())
        lines = [f"{key} = '{value}'" for key, value in self._all_settings().items()]
        self._give(self.data / "postgresql.conf", "\n".join(lines) + "\n")
        ours = [f"hostssl {what} all {where} scram-sha-256" for what in ("all", "replication")
                for where in ("127.0.0.1/32", "::1/128")]
        self._give(self.data / "pg_hba.conf", "\n".join([*self.hba, *ours, "hostnossl all all all reject"]) + "\n")

    def _clear_dead_lock(self) -> None:
        """After a kill the number in the lock file may live on, as a zombie or as somebody else's process; PostgreSQL
        would then refuse to start. A server that really runs here has the data folder as its working folder."""
        lock = self.data / "postmaster.pid"
        if not lock.exists():
            return
        try:
            alive = os.readlink(f"/proc/{lock.read_text().split()[0]}/cwd") == str(self.data)
        except (OSError, IndexError):
            alive = False
        if not alive:
            lock.unlink()

    def _all_settings(self) -> dict[str, str]:
        addresses = "127.0.0.1,::1" if has_ipv6() else "127.0.0.1"
        return self.settings | {
            "listen_addresses": addresses, "port": str(self.port), "unix_socket_directories": "", "ssl": "on",
            "ssl_cert_file": "server.pem", "ssl_key_file": "server.key", "password_encryption": "scram-sha-256"}

    def _give(self, path: Path, content: bytes | str) -> None:
        """Writes a private file that the server's user owns."""
        write_private(path, content)
        self._own(path)

    def _own(self, path: Path) -> None:
        if self.user:
            shutil.chown(path, self.user, identity(self.user)["group"])

    def _initdb(self) -> None:
        shutil.rmtree(self.data, ignore_errors=True)
        self.data.mkdir(mode=0o700)
        self._own(self.data)
        password_file = self.data.with_name("initial-password")
        self._give(password_file, self.admin_password + "\n")
        command = [str(self.bindir / "initdb"), "-D", str(self.data), "-U", self.admin_user, "-E", "UTF8",
                   "--locale=C.UTF-8", "--auth=scram-sha-256", f"--pwfile={password_file}", "--no-sync",
                   "--no-instructions"]
        try:
            done = subprocess.run(command, cwd=self.data, env=self.environment(), capture_output=True, text=True,
                                  timeout=60, **identity(self.user))
        finally:
            password_file.unlink(missing_ok=True)
        if done.returncode != 0:
            shutil.rmtree(self.data, ignore_errors=True)
            raise ServiceError(f"initdb failed with code {done.returncode}: {done.stderr.strip()}")

    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LANG": "C.UTF-8", "LC_MESSAGES": "C"}

    def working_folder(self) -> Path:
        return self.data

    def command(self) -> list[str]:
        return [str(self.bindir / "postgres"), "-D", str(self.data)]

    def probe(self) -> None:
        self.connect("postgres").close()

    def connect(self, database: str = "postgres", *, user: str | None = None, password: str | None = None,
                **more: object) -> psycopg.Connection:
        """A connection in autocommit mode, as the superuser unless told otherwise, certificate verified."""
        return psycopg.connect(
            host=self.host, port=self.port, dbname=database, user=user or self.admin_user,
            password=password if user else self.admin_password, sslmode="verify-full", sslrootcert=str(self.ca_file),
            autocommit=True, connect_timeout=10, **more)  # type: ignore[arg-type]

    def uri(self, database: str = "postgres", *, user: str | None = None, password: str | None = None) -> str:
        """The same as a connection URI with the password in it, for psql and the like."""
        who, word = (user, password or "") if user else (self.admin_user, self.admin_password)
        return (f"postgresql://{quote(who, '')}:{quote(word, '')}@{self.host}:{self.port}/{quote(database, '')}"
                f"?sslmode=verify-full&sslrootcert={quote(str(self.ca_file), '/')}")

    def query(self, sql: str, database: str = "postgres", **who: str | None) -> list[tuple]:
        """All rows of one statement; [] when it returns none."""
        with self.connect(database, **who) as connection:
            cursor = connection.execute(sql)  # type: ignore[arg-type]
            return cursor.fetchall() if cursor.description else []

    def restart(self, **settings: str) -> None:
        """Stops, changes settings, starts on the same port with the same data."""
        self.stop()
        self.settings |= settings
        self.fixed_port = True
        self.start()
