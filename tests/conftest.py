"""Fixtures that start the real services. Everything they start ends with the test process, also after kill -9.

A service that cannot be had (a package, Nessie or Node missing) fails each test that needs it, with the reason; nothing
is skipped. Programs are told about the services by arguments and environment only."""

import os
import shutil
import signal
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Callable, Iterator

import pytest

from tests.services import answers as prefilled
from tests.services import hang_dns as hanging
from tests.services import places
from tests.services.process import ServiceError

TEMPLATE = "shop_template"


def pytest_configure(config: pytest.Config) -> None:
    """Whoever runs the tests in the background may have them ignore signals (nohup, `&` in a script). What they start would
    inherit that, and a program that is told to end must not be one that cannot hear it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="also run the tests marked long")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--all"):
        return
    long = [item for item in items if item.get_closest_marker("long")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]


def _had(start: Callable):
    try:
        return start()
    except ServiceError as error:
        why = str(error)
    pytest.fail(why, pytrace=False)


@pytest.fixture(scope="session")
def sluice_bin() -> Path:
    """The program under test: $SLUICE_BIN, else build/asan/sluice. Fails when it is not built."""
    program = Path(os.environ.get("SLUICE_BIN", places.BUILD / "asan" / "sluice")).resolve()
    if not program.exists():
        pytest.fail(f"{program} is not built: scripts/test builds it", pytrace=False)
    return program


@pytest.fixture(scope="session")
def service_folder() -> Iterator[Path]:
    """A folder of this test process for the services' data and logs, which PostgreSQL's own user may enter.

    Removed at the end unless SLUICE_KEEP_LOGS is set; what a killed process left is removed by the next one."""
    base = places.enterable(places.BUILD / "services", places.service_user())
    base.mkdir(parents=True, exist_ok=True)
    for left in base.glob("run-*"):
        if not Path("/proc", left.name.split("-")[1]).exists():
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"run-{os.getpid()}-", dir=base))
    folder.chmod(0o711)
    yield folder
    if not os.environ.get("SLUICE_KEEP_LOGS"):
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def authority(service_folder):
    """Our own CA (tests.services.tls.Authority): .ca_file; .issue(label, names=(…), expired=False) gives a certificate
    with .cert_file and .key_file."""
    from tests.services.tls import Authority

    return Authority(service_folder / "ca")


@pytest.fixture(scope="session")
def pg_server(service_folder, authority):
    """One PostgreSQL 15 (tests.services.postgres.Postgres), wal_level=logical, TLS, SCRAM, with a filled template of the
    shop database: .host .port .admin_user .admin_password .ca_file; .connect(database, user=…, password=…)
    (psycopg, autocommit), .query(sql, database) -> rows, .uri(database), .log (Path). Most tests want `shop` instead."""
    from tests.services import shop as shops
    from tests.services.postgres import Postgres

    server = _had(Postgres(service_folder / "postgres", authority).start)
    shops.make(server, TEMPLATE, "owner-" + server.admin_password)
    yield server
    server.stop()


@pytest.fixture
def shop(pg_server):
    """A fresh copy of the shop database, only for this test (tests.services.shop.Shop): .server (as pg_server),
    .database ("shop"), .owner, .owner_password; .connect(), .query(sql) -> rows, .uri(). Afterwards the database and
    every role and replication slot that the test made are gone."""
    from tests.services.shop import Shop

    made = Shop(pg_server, TEMPLATE, "owner-" + pg_server.admin_password)
    yield made
    made.drop()


@pytest.fixture
def pg_factory(tmp_path_factory, service_folder, authority):
    """pg_factory(settings={"wal_level": "replica"}, hba=("…",), bindir=Path, shop=True) starts another server for this
    test and gives it as pg_server does, with a database shop unless shop=False. .restart(wal_level="logical") changes
    settings and keeps port and data; .stop() and .start() play an outage."""
    from tests.services import shop as shops
    from tests.services.postgres import Postgres

    started = []

    def make(*, shop: bool = True, **options):
        folder = Path(tempfile.mkdtemp(prefix="pg-", dir=service_folder))
        folder.chmod(0o711)
        server = _had(Postgres(folder, authority, **options).start)
        started.append(server)
        if shop:
            shops.make(server, "shop", "owner-" + server.admin_password)
        return server

    yield make
    for server in started:
        server.stop()


@pytest.fixture(scope="session")
def catalog(service_folder, authority):
    """The stand-in for Bauplan's catalog (tests.services.catalog.Catalog): .url (https://localhost:PORT/iceberg) .host
    .port .branch (alice.ingest) .branch_url .namespace .warehouse .token_url .client_id .client_secret .ca_file;
    .clients["no-grant" | "strict" | "short"] with .id and .secret; .token(role) -> access token;
    .request(method, path, body, form=…, headers=…, token=…) -> (status, headers, body)."""
    from tests.services.catalog import Catalog

    servers = _had(Catalog(service_folder / "catalog", authority).start)
    yield servers
    servers.stop()


@pytest.fixture
def front(service_folder, authority):
    """front("location / { return 302 https://portal.example/; }", certificate=…) starts a TLS server that answers as the
    nginx directives say (tests.services.front.Front): .url .host .port .ca_file .stop()."""
    from tests.services.front import Front

    yield from _starter(lambda locations, **more: Front(_new(service_folder, "front"), authority, locations, **more))


@pytest.fixture
def catalog_variant(service_folder, catalog):
    """catalog_variant(token_rule="return 503;", before="location = /iceberg/v1/config { return 404; }") starts another
    TLS front over the same catalog: .url is its origin, so its base is f"{it.url}/iceberg". token_rule
    tests.services.catalog.REFUSE_BASIC makes a form-only token route."""
    yield from _starter(lambda **more: catalog.variant(_new(service_folder, "variant"), **more))


def _new(base: Path, prefix: str) -> Path:
    return Path(tempfile.mkdtemp(prefix=f"{prefix}-", dir=base))


def _starter(make: Callable) -> Iterator[Callable]:
    started = []

    def start(*given, **more):
        service = _had(make(*given, **more).start)
        started.append(service)
        return service

    yield start
    for service in started:
        service.stop()


@pytest.fixture
def fault_proxy():
    """fault_proxy((host, port), mode="pass", latency=0.0, limit=0) starts a proxy (tests.services.faults.FaultProxy):
    .host .port; set .mode to pass, silent, reset, cut or stall, .latency, .limit at any time; reads .connections
    .bytes_up .bytes_down."""
    from tests.services.faults import FaultProxy

    yield from _starter(FaultProxy)


@pytest.fixture
def black_hole():
    """A port that never completes a connection: .host .port."""
    from tests.services.faults import BlackHole

    with BlackHole() as hole:
        yield hole


@pytest.fixture(scope="session")
def hang_dns() -> Callable[..., dict[str, str]]:
    """hang_dns("db.example.com", env=None) -> environment in which the program's look-up of that name never returns
    ("*": of every name), starting from env or this process's own."""
    _had(hanging.library)
    return lambda *names, env=None: hanging.environment(list(names), dict(os.environ if env is None else env))


@pytest.fixture
def ready_answers(tmp_path, catalog, shop):
    """A complete set of answers for `catalog` and `shop`: .folder .answers (path of answers.yaml) .passphrase_file
    .values (the mapping, for a test to change; .save() writes it) .env (SLUICE_CA_FILE …, to be added to a program's
    environment) .catalog .shop."""
    import yaml

    folder = tmp_path / "ready"
    prefilled.write(folder, catalog, shop.server, shop.database)
    values = prefilled.answers(folder, catalog, shop.server, shop.database)
    path = folder / "answers.yaml"
    return SimpleNamespace(
        folder=folder, answers=path, passphrase_file=folder / "passphrase", values=values, catalog=catalog, shop=shop,
        save=lambda: path.write_text(yaml.safe_dump(values, sort_keys=False, allow_unicode=True)),
        env=prefilled.for_sluice(prefilled.environment(folder, catalog, shop.server, shop.database)))
