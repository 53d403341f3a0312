"""The stand-ins themselves: they answer as the real services do, and nothing of them outlives a killed test."""

import base64
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from urllib.parse import quote

import psycopg
import pytest

from tests.services import places
from tests.services.catalog import REFUSE_BASIC

GRANT = {"grant_type": "client_credentials"}


def basic(client_id: str, secret: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()}


def post(catalog, form, *, headers=None, url=None):
    status, _, body = catalog.request("POST", url or catalog.token_url, form=form, headers=headers)
    return status, json.loads(body)


def as_form(client) -> dict[str, str]:
    return GRANT | {"client_id": client.id, "client_secret": client.secret}


# The token endpoint: golden answers of oidc-provider, which sluice's classifier is written against.


def test_token_by_form_and_by_basic(catalog):
    good = catalog.clients["good"]
    for form, headers in ((as_form(good), None), (GRANT, basic(quote(good.id, ""), quote(good.secret, "")))):
        status, body = post(catalog, form, headers=headers)
        assert status == 200
        assert body.keys() == {"access_token", "expires_in", "token_type"}
        assert (body["expires_in"], body["token_type"]) == (3600, "Bearer")


@pytest.mark.parametrize("change", [{"client_secret": "wrong"}, {"client_id": "nobody"}])
def test_wrong_secret_or_client(catalog, change):
    status, body = post(catalog, as_form(catalog.clients["good"]) | change)
    assert (status, body) == (401, {"error": "invalid_client", "error_description": "client authentication failed"})


def test_basic_with_unencoded_secret(catalog):
    status, body = post(catalog, GRANT, headers=basic(catalog.client_id, catalog.client_secret))
    assert (status, body["error"]) == (400, "invalid_request")
    assert body["error_description"] == "client_id and client_secret in the authorization header are not properly encoded"


def test_form_with_unencoded_secret(catalog):
    data = f"grant_type=client_credentials&client_id={catalog.client_id}&client_secret={catalog.client_secret}"
    from tests.services.front import https_opener

    with pytest.raises(OSError) as refused:
        https_opener(catalog.ca_file).open(catalog.token_url, data.encode(), timeout=10)
    assert refused.value.code == 401


def test_grant_not_allowed(catalog):
    status, body = post(catalog, as_form(catalog.clients["no-grant"]))
    assert (status, body["error"], body["error_description"]) == (
        400, "invalid_request", "requested grant type is not allowed for this client")


def test_other_grants_and_bodies(catalog):
    exchange = as_form(catalog.clients["good"]) | {"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange"}
    assert post(catalog, exchange)[1]["error"] == "unsupported_grant_type"
    status, _, body = catalog.request("POST", catalog.token_url, as_form(catalog.clients["good"]))
    assert status == 400 and "only application/x-www-form-urlencoded" in json.loads(body)["error_description"]
    status, body = post(catalog, GRANT)
    assert (status, body["error_description"]) == (400, "no client authentication mechanism provided")
    status, headers, body = catalog.request("GET", catalog.token_url)
    assert (status, body) == (404, b"Not Found") and headers["content-type"].startswith("text/plain")


def test_scopes(catalog):
    good, strict = as_form(catalog.clients["good"]), as_form(catalog.clients["strict"])
    for scope in ("catalog", "whatever", ""):
        assert post(catalog, good | {"scope": scope})[0] == 200
    assert post(catalog, strict | {"scope": "catalog"}) == (400, {
        "error": "invalid_scope", "error_description": "requested scope is not allowed", "scope": "catalog"})
    assert post(catalog, strict)[0] == post(catalog, strict | {"scope": "PRINCIPAL_ROLE:ALL"})[0] == 200


def test_token_routes(catalog):
    """Both documented routes work; the older guide's works on main only, because "api" is taken for a branch."""
    good = as_form(catalog.clients["good"])
    found = {path: catalog.request("POST", f"{catalog.url}/{path}", form=good)[0] for path in (
        "v1/oauth/tokens", "api/v1/oauth/tokens", "alice.ingest/v1/oauth/tokens", "alice.ingest/api/v1/oauth/tokens",
        "v1/oauth/tokens/", "a/b/v1/oauth/tokens")}
    assert list(found.values()) == [200, 200, 200, 404, 404, 404]


def test_form_only_front(catalog, catalog_variant):
    variant = catalog_variant(token_rule=REFUSE_BASIC)
    url, good = f"{variant.url}/iceberg/v1/oauth/tokens", catalog.clients["good"]
    assert post(catalog, as_form(good), url=url)[0] == 200
    assert catalog.request("POST", url, form=GRANT, headers=basic(good.id, quote(good.secret, "")))[0] == 401


# The catalog.


def test_config_of_the_branch(catalog):
    status, _, body = catalog.request("GET", f"{catalog.branch_url}/v1/config?warehouse=default", token=catalog.token())
    config = json.loads(body)
    assert status == 200
    assert config["defaults"]["prefix"] == "alice.ingest%7Cdefault"
    assert config["overrides"]["uri"] == f"{catalog.url}/"


def test_namespaces_prove_the_branch(catalog):
    token = catalog.token()
    status, _, body = catalog.request("GET", "/iceberg/v1/alice.ingest%7Cdefault/namespaces", token=token)
    assert (status, json.loads(body)["namespaces"]) == (200, [["shop"]])
    assert catalog.request("GET", "/iceberg/nobody.here/v1/config", token=token)[0] == 200
    status, _, body = catalog.request("GET", "/iceberg/v1/nobody.here%7Cdefault/namespaces", token=token)
    assert (status, json.loads(body)["error"]["type"]) == (400, "NoSuchReferenceException")


def test_main_is_protected_and_tokens_are_checked(catalog):
    path, body = "/iceberg/v1/main%7Cdefault/namespaces", {"namespace": ["never"]}
    assert catalog.request("POST", path, body, token=catalog.token())[0] == 403
    for token in (None, "bad", catalog.token()[:-4] + "AAAA"):
        status, headers, answer = catalog.request("GET", path, token=token)
        assert (status, answer, headers["www-authenticate"]) == (401, b"", "Bearer")


def test_short_token_expires(catalog):
    token = catalog.token("short")
    assert catalog.request("GET", f"{catalog.url}/v1/config", token=token)[0] == 200
    deadline = time.monotonic() + 10
    while catalog.request("GET", f"{catalog.url}/v1/config", token=token)[0] != 401:
        assert time.monotonic() < deadline, "a token of three seconds is still taken"
        time.sleep(0.2)


def test_tls_is_ours(catalog, authority, front):
    import ssl
    import urllib.request

    with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(catalog.url, timeout=10)
    other = front("location / { return 204; }", certificate=authority.issue("other", ("other.example",)))
    old = front("location / { return 204; }", certificate=authority.issue("old", expired=True))
    for server, words in ((other, "mismatch"), (old, "expired")):
        with socket.create_connection(("127.0.0.1", server.port)) as plain:
            with pytest.raises(ssl.SSLCertVerificationError, match=words):
                ssl.create_default_context(cafile=str(authority.ca_file)).wrap_socket(plain, server_hostname="localhost")


# PostgreSQL.


def test_server_is_as_the_connector_needs_it(pg_server):
    assert pg_server.query("SHOW wal_level") == [("logical",)]
    assert pg_server.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == [(True,)]
    with pytest.raises(psycopg.OperationalError, match="no encryption"):
        psycopg.connect(host="127.0.0.1", port=pg_server.port, user="postgres", dbname="postgres", sslmode="disable",
                        password=pg_server.admin_password)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        pg_server.connect(user="postgres", password="wrong")


def test_shop_has_the_awkward_tables(shop):
    rows = shop.query("""SELECT c.oid::regclass::text, c.relkind::text, c.relpersistence::text, c.relrowsecurity,
        EXISTS (SELECT 1 FROM pg_index WHERE indrelid = c.oid AND indisprimary), c.relowner::regrole::text
        FROM pg_class AS c WHERE relnamespace IN ('public'::regnamespace, 'audit'::regnamespace)
        AND relkind IN ('r', 'p', 'v') AND NOT relispartition""")
    tables = {row[0]: row[1:] for row in rows}
    assert tables['"Order Items"'] == ("r", "p", False, True, "shop_owner")
    assert tables["order_events"] == ("p", "p", False, True, "shop_owner")
    assert tables["order_tags"][3] is False and tables["clickstream"][3] is False
    assert tables["customer_notes"][2] is True and tables["session_cache"][1] == "u"
    assert {"audit.orders", "daily_revenue", "payments", "customers", "products", "orders"} <= tables.keys()
    assert not shop.query("SELECT rolsuper FROM pg_roles WHERE rolname = 'shop_owner'")[0][0]


def test_shop_is_fresh_each_time(pg_server):
    from tests.services.shop import Shop

    before = pg_server.query("SELECT rolname FROM pg_roles ORDER BY 1")
    made = Shop(pg_server, "shop_template", "unused", "shop_once")
    made.query("CREATE ROLE flow_once LOGIN REPLICATION")
    made.query("GRANT pg_read_all_data TO flow_once; GRANT SELECT ON orders TO flow_once;"
               " ALTER DEFAULT PRIVILEGES FOR ROLE shop_owner GRANT SELECT ON TABLES TO flow_once")
    made.query("CREATE PUBLICATION flow_once FOR TABLE orders")
    made.query("SELECT pg_create_logical_replication_slot('flow_once', 'pgoutput')")
    made.drop()
    assert pg_server.query("SELECT rolname FROM pg_roles ORDER BY 1") == before
    assert not pg_server.query("SELECT slot_name FROM pg_replication_slots WHERE slot_name = 'flow_once'")


def test_a_change_arrives_through_a_slot(shop):
    shop.query("CREATE PUBLICATION p FOR TABLE orders, order_events WITH (publish_via_partition_root)")
    shop.query("SELECT pg_create_logical_replication_slot('p', 'pgoutput')")
    shop.query("UPDATE orders SET status = 'paid' WHERE id = 7")
    changes = shop.query("SELECT get_byte(data, 0) FROM pg_logical_slot_get_binary_changes('p', NULL, NULL,"
                         " 'proto_version', '1', 'publication_names', 'p')")
    assert bytes(row[0] for row in changes) == b"BRUC"


def test_another_server_with_other_settings(pg_factory):
    server = pg_factory(settings={"wal_level": "replica", "max_replication_slots": "1"})
    port = server.port
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        server.query("SELECT pg_create_logical_replication_slot('s', 'pgoutput')", "shop")
    server.restart(wal_level="logical")
    assert server.port == port
    server.query("SELECT pg_create_logical_replication_slot('s', 'pgoutput')", "shop")


# What breaks on purpose.


def test_fault_proxy(catalog, fault_proxy):
    proxy = fault_proxy((catalog.host, catalog.port))
    url = f"https://{proxy.host}:{proxy.port}/iceberg/v1/config"
    assert catalog.request("GET", url)[0] == 401
    assert proxy.connections == 1 and proxy.bytes_down > 1000
    for mode in ("reset", "cut"):
        proxy.mode, proxy.limit = mode, 100
        with pytest.raises(OSError):
            catalog.request("GET", url)
    for mode in ("silent", "stall"):
        proxy.mode = mode
        with socket.create_connection((proxy.host, proxy.port), timeout=0.3) as quiet, pytest.raises(TimeoutError):
            quiet.sendall(b"\x16\x03\x01")
            quiet.recv(1)
    proxy.mode, proxy.latency = "pass", 0.2
    begin = time.monotonic()
    assert catalog.request("GET", url)[0] == 401
    assert time.monotonic() - begin > 0.6


def test_black_hole(black_hole):
    with pytest.raises(TimeoutError):
        socket.create_connection((black_hole.host, black_hole.port), timeout=0.5)


def test_hanging_lookup(hang_dns):
    look_up = [sys.executable, "-c", "import socket, sys; socket.getaddrinfo(sys.argv[1], 1); print('found')"]
    environment = hang_dns("db.example.com", "other.example")
    done = subprocess.run([*look_up, "127.0.0.1"], env=environment, capture_output=True, text=True, timeout=20)
    assert done.stdout == "found\n"
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run([*look_up, "Other.Example"], env=environment, timeout=1)


def test_ready_answers_name_everything(ready_answers):
    assert ready_answers.values["oauth"]["url"].endswith("/iceberg")
    for file in ("answers.yaml", "passphrase", "client-secret", "admin-password", "env"):
        assert (ready_answers.folder / file).stat().st_mode & 0o777 == 0o600
    assert set(ready_answers.env) == {"SLUICE_CA_FILE"}
    text = ready_answers.answers.read_text()
    assert ready_answers.catalog.client_secret not in text and 'public."Order Items"' in text


# The end of everything.


def processes_naming(text: str) -> list[int]:
    """Living processes that carry this text in their command line."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as line, open(f"/proc/{name}/stat", "rb") as stat:
                    if text.encode() in line.read() and stat.read().rpartition(b")")[2].split()[0] != b"Z":
                        found.append(int(name))
            except OSError:
                continue
    return found


def start_all(folder) -> subprocess.Popen:
    """Another process that starts everything in this folder and then waits."""
    script = textwrap.dedent("""
        import sys, time
        from pathlib import Path
        from tests.services import catalog, postgres, tls
        folder = Path(sys.argv[1])
        authority = tls.Authority(folder / "ca")
        servers = [postgres.Postgres(folder / "pg", authority), catalog.Catalog(folder / "catalog", authority)]
        for server in servers:
            server.start()
        print("PORTS", servers[0].port, servers[1].port, servers[1].nessie.port, servers[1].oidc.port, flush=True)
        time.sleep(600)
        """)
    return subprocess.Popen([sys.executable, "-c", script, str(folder)], cwd=places.REPO, stdout=subprocess.PIPE, text=True)


def test_kill_9_leaves_nothing(service_folder, catalog):
    folder = service_folder / "killed"
    parent = start_all(folder)
    line = parent.stdout.readline().split()
    assert line and line[0] == "PORTS", "the services did not start"
    assert len(processes_naming(str(folder))) >= 8   # each server and its watcher
    server_pids = processes_naming(str(folder))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 20
    while processes_naming(str(folder)):
        assert time.monotonic() < deadline, f"still there: {processes_naming(str(folder))}"
        time.sleep(0.1)
    for pid in server_pids:
        assert not os.path.exists(f"/proc/{pid}/exe") or str(folder) not in open(f"/proc/{pid}/cmdline").read()
    for port in map(int, line[1:]):
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1)
    assert not postmaster_of(folder), "a PostgreSQL process outlived the kill"


def postmaster_of(folder) -> list[int]:
    """PostgreSQL's own children carry no path: they are found by their working folder."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.readlink(f"/proc/{name}/cwd").startswith(str(folder)):
                found.append(int(name))
        except OSError:
            continue
    return found


def test_killed_watcher_takes_its_server_along(service_folder, authority):
    from tests.services.postgres import Postgres

    server = Postgres(service_folder / "watched", authority).start()
    data = server.data
    server.process.kill()
    server.process.wait()
    deadline = time.monotonic() + 10
    while postmaster_of(data):
        assert time.monotonic() < deadline, "PostgreSQL outlived its watcher"
        time.sleep(0.1)
    server.start()   # and a crashed cluster comes back
    assert server.query("SELECT 1") == [(1,)]
    server.stop()
