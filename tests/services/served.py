"""All services of the sandbox as one, with a folder that keeps what they need to come back as they were."""

import fcntl
import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable, Self

from . import places, shop
from .answers import LAKE, Aws, Estuary, write_private
from .aws.server import AwsServer
from .catalog import Catalog
from .estuary.server import EstuaryServer
from .oidc import awkward_secret
from .ports import free_port, is_free
from .postgres import Postgres
from .process import Service, ServiceError
from .tls import Authority

PATIENCE = 40.0   # seconds that the servers of a killed sandbox may take to end
# A discover and a publication take long enough to be waited for, not long enough to be waited out.
LIFE = {"discover": 0.5, "publish": 0.7, "activate": 1.0}


class Served:
    """folder: what outlives us beside the services' own data (the secrets that the answers refer to). base: their data.

    more: folders in it that a fresh start removes too. moves: whether remembered ports may change. They may not once
    answers that name them have been used.
    The lock is inherited by the watchers of all servers: it is free only when the last server has ended."""

    def __init__(self, folder: Path, base: Path, say: Callable[[str], None], *, fresh: bool, moves: bool,
                 more: tuple[str, ...] = ()):
        self.folder, self.base, self.say, self.moves = folder.resolve(), base.resolve(), say, moves or fresh
        self.fresh, self.more = fresh, more
        self.server: Postgres
        self.catalog: Catalog
        self.aws: AwsServer
        self.estuary: EstuaryServer
        self._lock = -1

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._take_lock()
        if self.fresh:
            self._start_over()
        places.sweep()
        self.base.mkdir(exist_ok=True)
        return self

    def _take_lock(self) -> None:
        self._lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        end, told = time.monotonic() + PATIENCE, False
        while True:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                holder = os.pread(self._lock, 20, 0).decode(errors="replace").strip()
                if holder.isdigit() and Path("/proc", holder).exists():
                    raise ServiceError(f"a sandbox runs already in {self.folder} (process {holder}): end it first") from None
                if time.monotonic() > end:
                    raise ServiceError(f"servers of an earlier sandbox in {self.folder} do not end") from None
                if not told:
                    self.say("waiting for the servers of an earlier sandbox to end")
                    told = True
                time.sleep(0.1)
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, f"{os.getpid()}\n".encode(), 0)

    def _start_over(self) -> None:
        """Removes what a sandbox makes here, and nothing else: the folder may be anybody's."""
        places.forget(self.base)
        for name in ("answers.yaml", "passphrase", "env", "ready", "client-secret", "admin-password", "estuary-token"):
            (self.folder / name).unlink(missing_ok=True)
        for name in self.more:
            places.forget(self.folder / name)

    def start(self, ended: threading.Event) -> None:
        """Starts all; on return they answer, unless ended was set meanwhile (by a signal)."""
        ports = self._ports()
        authority = Authority(self.base / "ca", "sluice sandbox CA")
        self.server = Postgres(self.base / "postgres", authority, port=ports["postgres"], durable=True,
                               admin_password=self._secret("admin-password", lambda: os.urandom(12).hex()))
        self.catalog = Catalog(self.base / "catalog", authority, port=ports["catalog"], durable=True,
                               secret=self._secret("client-secret", awkward_secret))
        self.aws = AwsServer(self.base / "aws", authority, port=ports["aws"], buckets=(LAKE,))
        for service in (self.server, self.catalog, self.aws):
            self._bind(service, ended)
        with ThreadPoolExecutor(3) as pool:
            work = [pool.submit(self._told, "PostgreSQL 15 with the database shop", self._start_postgres),
                    pool.submit(self._told, "Iceberg catalog with OAuth", self.catalog.start),
                    pool.submit(self._start_aws_and_estuary, authority, ports["estuary"], ended)]
            try:
                for each in work:
                    each.result()
            except ServiceError:
                if not ended.is_set():
                    raise

    def _start_aws_and_estuary(self, authority: Authority, port: int, ended: threading.Event) -> None:
        """One after the other: Estuary's connectors are told where AWS is."""
        self._told("AWS (IAM, S3, EMR Serverless …)", self.aws.start)
        self.estuary = EstuaryServer(self.base / "estuary", authority, port=port, settings={
            "reach_postgres": True, "reach_catalog": True, "aws_url": self.aws.url, "connector_ca": "sandbox", "life": LIFE})
        self._bind(self.estuary, ended)
        self._told("Estuary (discovery, publication, sealing)", self.estuary.start)

    def aws_told(self) -> Aws:
        """What the answers need to know of AWS."""
        return Aws(self.aws.client_environment(), self.aws.network())

    def estuary_told(self) -> Estuary:
        """What the answers need to know of Estuary."""
        told = self.estuary.told
        return Estuary(self.estuary.client_environment(), told["tenant"], self.estuary.token_file.read_text().strip(),
                       told["control_url"], self.estuary.age_key_file)

    def _bind(self, service: Catalog | Service, ended: threading.Event) -> None:
        service.keep_fds, service.cancel = (self._lock,), ended

    def _told(self, what: str, start: Callable[[], object]) -> None:
        begin = time.monotonic()
        self.say(f"starting {what}")
        start()
        self.say(f"{what} answers after {time.monotonic() - begin:.1f} s")

    def _start_postgres(self) -> None:
        self.server.start()
        if not shop.exists(self.server, "shop"):
            # Under another name first: a load that was cut short must not be taken for the real one.
            self.server.query("DROP DATABASE IF EXISTS shop_loading WITH (FORCE)")
            shop.make(self.server, "shop_loading", os.urandom(12).hex())
            self.server.query("ALTER DATABASE shop_loading RENAME TO shop")

    def _ports(self) -> dict[str, int]:
        """Those that the answers or the environment name. The others are found anew each time."""
        file = self.base / "ports.json"
        ports = json.loads(file.read_text()) if file.exists() else {}
        for name in ("postgres", "catalog", "aws", "estuary"):
            port = ports.get(name)
            if port and not is_free(port):
                if not self.moves:
                    raise ServiceError(
                        f"port {port}, where the saved answers say that the {name} listens, is taken by another program. "
                        f"End that program, or start over with --fresh.")
                port = None
            ports[name] = port or free_port()
        write_private(file, json.dumps(ports))
        return ports

    def _secret(self, name: str, make: Callable[[], str]) -> str:
        path = self.folder / name
        if not path.exists():
            write_private(path, make())
        return path.read_text()

    def raise_if_ended(self) -> None:
        """Says which server ended by itself, if one did."""
        for service in (self.server, *self.catalog.services, self.aws, self.estuary):
            if not service.running:
                raise ServiceError(f"{service.name} ended by itself; end of {service.log}:\n{service.log_tail()}")

    def stop(self) -> None:
        with ThreadPoolExecutor(4) as pool:
            for name in ("server", "catalog", "aws", "estuary"):
                if service := getattr(self, name, None):
                    pool.submit(service.stop)

    def __exit__(self, *_: object) -> None:
        self.stop()
        os.close(self._lock)
