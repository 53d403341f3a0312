"""Services that refuse, hang, lie or are gone: each is told in words, with its cause, what to do and who does it; keys are
echoed meanwhile; the state stays whole."""

import re
import socket
import time

import pytest

from tests.e2e import stands
from tests.e2e.term import Wizard

BAUPLAN_PAGE = "https://app.bauplanlabs.com/oauth-apps"


def said(check: dict) -> str:
    return " | ".join(filter(None, (check["line"], check["why"], check["fix"], check["copy"], check["evidence"])))


def failed(ready, code: int, check_id: str, *words: str, why: bool = True, also: set[str] = frozenset()) -> dict:
    """Runs the check's step with the answers as they are: it ends with code, and this check is the failed one."""
    step = check_id.split(".")[0]
    done = ready.sluice.run("check", step, "--json", *ready.args, timeout=90).ends(code)
    check = done.checks[check_id]
    assert check["status"] == ("unreachable" if code == 4 else "failed"), said(check)
    for word in words:
        assert word in said(check), said(check)
    assert (check["why"] or not why) and check["fix"] and check["who"], said(check)
    others = {other["id"] for other in done.json["checks"] if other["status"] in ("failed", "unreachable")}
    assert others - also == {check_id}, "one cause, one failure"
    return check


def change(ready, **fields) -> None:
    """Other answers than the ready ones: oauth_url="…"."""
    for name, value in fields.items():
        step, field = name.split("_", 1)
        ready.values[step][field] = value
    ready.save()


def secret(ready, name: str, text: str) -> dict:
    path = ready.folder / name
    path.write_text(text)
    path.chmod(0o600)
    return {"secret": f"file:{path}"}


# OAuth


def test_wrong_client_secret(ready):
    change(ready, oauth_client_secret=secret(ready, "wrong", "not-the-secret"))
    check = failed(ready, 1, "oauth.login", "the client is refused: id or secret is wrong", BAUPLAN_PAGE)
    assert check["who"] == "you" and "not-the-secret" not in said(check)


def test_unknown_branch(ready):
    change(ready, oauth_branch="alice.nope")
    check = failed(ready, 1, "oauth.branch", "there is no branch alice.nope", "Make the branch, or correct its name",
                   "bauplan branch create alice.nope --from-ref main")
    assert check["who"] == "you"


def test_guides_token_uri(ready):
    change(ready, oauth_token_uri="api/v1/oauth/tokens")
    check = failed(ready, 1, "oauth.token_uri", "api/v1/oauth/tokens gives no tokens", "Use v1/oauth/tokens as Token URI")
    assert check["who"] == "you"
    assert "sluice state set oauth.token_uri v1/oauth/tokens" in ready.sluice.run("check", "oauth", *ready.args).ends(1).out


def test_client_without_the_grant(ready):
    client = ready.catalog.clients["no-grant"]
    change(ready, oauth_client_id=client.id, oauth_client_secret=secret(ready, "no-grant", client.secret))
    check = failed(ready, 1, "oauth.token_form", "the client may not use client credentials",
                   also={"oauth.token_spark"})    # the same endpoint, asked in the other form
    assert check["who"] == "Bauplan"


def test_wrong_warehouse(ready):
    change(ready, oauth_warehouse="nowhere")
    done = ready.sluice.run("check", "oauth", "--json", *ready.args).ends(1)
    worst = [check for check in done.json["checks"] if check["status"] == "failed"]
    assert len(worst) == 1 and "warehouse" in said(worst[0]) and "default" in worst[0]["fix"]


def test_misspelt_host(ready):
    change(ready, oauth_url="https://catalog.invalid/iceberg")
    check = failed(ready, 4, "oauth.reach", "the name catalog.invalid cannot be resolved", "Check the spelling")
    assert check["who"] == "you"


def test_nothing_listens(ready):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    change(ready, oauth_url=f"https://127.0.0.1:{port}/iceberg")
    failed(ready, 4, "oauth.reach", f"nothing listens at 127.0.0.1:{port}", "Check host and port")


def test_catalog_that_never_answers(ready, fault_proxy):
    """The deadline is kept, the phase that hangs is named, and the answers are kept."""
    proxy = fault_proxy((ready.catalog.host, ready.catalog.port), mode="silent")
    change(ready, oauth_url=f"https://{proxy.host}:{proxy.port}/iceberg")
    began = time.monotonic()
    failed(ready, 4, "oauth.reach", "TLS")
    assert time.monotonic() - began < 60
    assert stands.load(ready.sluice.state)["answers"]["oauth"]["branch"] == "alice.ingest"


def test_catalog_behind_a_firewall(ready, black_hole):
    change(ready, oauth_url=f"https://127.0.0.1:{black_hole.port}/iceberg")
    check = failed(ready, 4, "oauth.reach", f"127.0.0.1:{black_hole.port}")
    assert check["who"] == "network"


def test_timeout_ends_what_hangs(ready, fault_proxy):
    """--timeout: code 4 after so many seconds, what ran is cancelled, nothing is lost."""
    proxy = fault_proxy((ready.catalog.host, ready.catalog.port), mode="silent")
    change(ready, oauth_url=f"https://{proxy.host}:{proxy.port}/iceberg")
    began = time.monotonic()
    ready.sluice.run("check", "oauth", "--timeout", "2", *ready.args).ends(4)
    assert time.monotonic() - began < 6
    assert ready.sluice.state.exists()


def test_hanging_name_service(ready, hang_dns):
    """A look-up that never returns keeps neither the check nor the end of the program."""
    change(ready, oauth_url="https://catalog.example.com/iceberg")
    began = time.monotonic()
    done = ready.sluice.run("check", "oauth", "--json", *ready.args,
                            env=hang_dns("catalog.example.com", env=ready.sluice.env)).ends(4)
    assert time.monotonic() - began < 45
    check = done.checks["oauth.reach"]
    assert check["status"] == "unreachable" and "catalog.example.com" in check["line"] and "name" in said(check)
    assert check["who"] == "network" and check["fix"]


def test_certificate_of_another_authority(ready):
    """Without the CA the reason names issuer and host, and how to add one; never to switch the check off."""
    del ready.sluice.env["SLUICE_CA_FILE"]
    check = failed(ready, 4, "oauth.reach", "sluice test CA", "--ca-file")
    assert "localhost" in said(check) and not re.search("insecure|disable|verify", said(check))


@pytest.mark.parametrize("how, words", [("expired", "expired"), ("other host", "other.example.com")])
def test_bad_certificate(ready, front, authority, how, words):
    names = ("other.example.com",) if how == "other host" else ("localhost",)
    certificate = authority.issue(f"bad-{how.replace(' ', '-')}", names, expired=how == "expired")
    server = front("location / { return 200; }", certificate=certificate)
    change(ready, oauth_url=f"{server.url}/iceberg")
    check = failed(ready, 4, "oauth.reach", words)
    assert server.host in said(check)


def test_captive_portal(ready, front):
    """A hotel's login page instead of the catalog is recognised as a page of somebody else."""
    page = "<html><head><title>Hotel Wi-Fi</title></head><body>Please accept our terms</body></html>"
    portal = front(f"location / {{ default_type text/html; return 200 '{page}'; }}")
    change(ready, oauth_url=f"{portal.url}/iceberg")
    done = ready.sluice.run("check", "oauth", "--json", *ready.args)
    check = done.checks["oauth.reach"]
    assert check["status"] == "failed" and done.code == 1, said(check)
    assert re.search(r"web page|portal|login page", said(check)) and check["who"] == "network", said(check)
    assert "<html>" not in check["line"]


def test_redirect_gets_no_secret(ready, front):
    """A redirect to another host is not followed with the secret."""
    other = front("location / { return 200 '{}'; }")
    portal = front(f"location / {{ return 302 {other.url}/login; }}")
    change(ready, oauth_url=f"{portal.url}/iceberg")
    done = ready.sluice.run("check", "oauth", "--json", *ready.args)
    assert done.code in (1, 4)
    assert ready.catalog.client_secret not in done.out + done.err


EVIL = r"\u001b[2J\u001b]0;owned\u0007\u000d OK \u009b31m \u202e"


def test_text_of_a_server_cannot_draw(ready, wizard, catalog_variant):
    """An answer that is full of escape codes is shown escaped, on the screen, in JSON, in the log; none of it acts."""
    body = '{"error":{"message":"%s","type":"Boom","code":400}}' % EVIL
    variant = catalog_variant(before=f"location ~ ^/iceberg/v1/.*namespaces {{ default_type application/json; return 400 '{body}'; }}")
    change(ready, oauth_url=f"{variant.url}/iceberg")
    log = ready.sluice.folder / "log"
    done = ready.sluice.run("check", "oauth", "--json", "--log", log, *ready.args).ends(1)
    check = done.checks["oauth.branch"]
    assert check["status"] == "failed"
    for text in (done.out, log.read_text(), ready.sluice.state.read_text()):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text), "control characters"
    assert "owned" in said(check)
    w = wizard(*ready.args)
    w.to_step("OAuth")
    w.press("F5")
    w.wait_check("branch", "✗")
    w.open_check("branch")
    w.wait_for("owned")
    assert w.screen.title == "" and w.footer().startswith(" F5 re-check"), w.picture()
    w.press("F6")
    w.wait_for("oauth.branch")
    w.press("Esc", "Esc", "F10")
    w.assert_ends(0)
    for code in (b"\x1b]0;", b"\x1b[2J\x1b]", b"\x9b31m ", "\u009b".encode(), "\u202e".encode()):
        assert code not in w.output


# PostgreSQL


def test_wrong_admin_password(ready):
    change(ready, postgres_admin_password=secret(ready, "wrong", "not-the-password"))
    check = failed(ready, 1, "postgres.connect_admin", "password")
    assert check["who"] in ("you", "DBA") and "not-the-password" not in said(check)


def test_refused_login_is_not_repeated(ready, wizard):
    """A wrong password is tried once: nothing but another answer tries again (accounts are locked by less)."""
    change(ready, postgres_admin_password=secret(ready, "wrong", "not-the-password"))
    log = ready.shop.server.log

    def refusals() -> int:
        return log.read_text().count("password authentication failed")

    before = refusals()
    w = wizard(*ready.args)
    w.to_step("PostgreSQL")
    w.wait_check("connects as admin", "✗")
    assert refusals() == before + 1
    w.to_step("OAuth")
    w.to_step("PostgreSQL")
    w.fill("Capture user", "flow_other")
    w.wait_check("connects as admin", "✗")
    w.settle()
    assert refusals() == before + 1
    w.quit()


def test_unknown_database(ready):
    change(ready, postgres_database="shoop")
    check = failed(ready, 1, "postgres.connect_admin", "there is no database shoop", why=False)
    assert check["who"] == "you"


def test_postgres_is_down(ready):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    change(ready, postgres_host="127.0.0.1", postgres_port=str(port))
    failed(ready, 4, "postgres.connect_admin", str(port))
    assert stands.load(ready.sluice.state)["answers"]["postgres"]["database"] == "shop"


@pytest.mark.long
def test_postgres_that_never_answers(ready, fault_proxy):
    proxy = fault_proxy((ready.shop.server.host, ready.shop.server.port), mode="silent")
    change(ready, postgres_port=str(proxy.port))
    began = time.monotonic()
    failed(ready, 4, "postgres.connect_admin", str(proxy.port))
    assert time.monotonic() - began < 60


def test_postgres_with_a_hanging_name(ready, hang_dns):
    change(ready, postgres_host="db.example.com")
    began = time.monotonic()
    done = ready.sluice.run("check", "postgres", "--json", *ready.args,
                            env=hang_dns("db.example.com", env=ready.sluice.env)).ends(4)
    check = done.checks["postgres.connect_admin"]
    assert check["status"] == "unreachable" and "db.example.com" in said(check) and check["fix"], said(check)
    assert time.monotonic() - began < 60


def test_untrusted_postgres(ready):
    change(ready, postgres_ca_file="")
    del ready.sluice.env["SLUICE_CA_FILE"]
    done = ready.sluice.run("check", "postgres", "--json", *ready.args)
    check = done.checks["postgres.connect_admin"]
    assert check["status"] in ("failed", "unreachable") and "certificate" in said(check), said(check)
    assert "CA file" in said(check) and check["who"] == "you", said(check)


def test_server_without_logical_wal(ready, pg_factory):
    """wal_level=replica: what it means, the very setting, who sets it; and no plan is carried out meanwhile."""
    server = pg_factory(settings={"wal_level": "replica"})
    change(ready, postgres_port=str(server.port),
           postgres_admin_password=secret(ready, "other-admin", server.admin_password))
    check = failed(ready, 1, "postgres.wal_level", "replica", "logical")
    assert check["who"] == "DBA" and "wal_level" in said(check) and "restart" in said(check), said(check)
    done = ready.sluice.run("apply", "postgres", "--yes", *ready.args).ends(1)
    assert "held back" in done.out + done.err
    assert server.query("SELECT 1 FROM pg_roles WHERE rolname = 'flow_shop'") == []
    server.restart(wal_level="logical")
    ready.sluice.run("apply", "postgres", "--yes", *ready.args).ends(0)


def test_table_without_a_key_and_no_repair(ready):
    """Publishing it would break the application: said before, with the ways out; the plan is held back."""
    change(ready, postgres_repairs={})
    check = failed(ready, 1, "postgres.replica_identity", "order_tags")
    assert "UPDATE" in said(check) and check["severity"] == "danger", said(check)
    items = {item["name"]: item for item in check["items"] if item["status"] != "passed"}
    assert list(items) == ["public.order_tags"]
    ready.sluice.run("apply", "--yes", *ready.args).ends(1)
    stands.assert_nothing_made(ready.shop)


def test_table_that_is_not_there(ready):
    change(ready, postgres_tables=["public.orders", "public.oders"], postgres_repairs={})
    done = ready.sluice.run("check", "postgres", "--json", *ready.args).ends(1)
    check = done.checks["postgres.tables"]
    assert check["status"] == "failed" and "public.oders" in str(check["items"]) + said(check), said(check)


def test_outage_in_mid_apply(ready, fault_proxy):
    """The connection breaks while changes are made: 4 or 1 with words, what was made is known, and the next run ends it."""
    proxy = fault_proxy((ready.shop.server.host, ready.shop.server.port), mode="pass")
    change(ready, postgres_port=str(proxy.port))
    with ready.shop.connect() as application:
        application.autocommit = False
        application.execute("LOCK TABLE order_tags IN ACCESS EXCLUSIVE MODE")    # one change waits
        process = ready.sluice.start("apply", "--yes", *ready.args)
        end = time.monotonic() + 30
        while ready.shop.query("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                               " AND query LIKE '%REPLICA IDENTITY%'") == [(0,)]:
            assert time.monotonic() < end and process.poll() is None, "the change never waited"
            time.sleep(0.05)
        proxy.mode = "reset"
        out, err = process.communicate(timeout=90)
        application.rollback()
    assert process.returncode in (1, 4), out + err
    assert "order_tags" in out
    while ready.shop.query("SELECT 1 FROM pg_stat_activity WHERE query LIKE '%REPLICA IDENTITY USING%' AND state = 'active'"
                           " AND pid <> pg_backend_pid()"):
        time.sleep(0.05)    # the server goes on with what it had received
    proxy.mode = "pass"
    ready.sluice.run("apply", "--yes", *ready.args).ends(0)
    stands.assert_green(ready.shop)


@pytest.mark.long
def test_lock_that_is_not_given(ready):
    """A change waits for a lock for so long and no longer; the application is not held up behind it for ever."""
    with ready.shop.connect() as application:
        application.autocommit = False
        application.execute("SELECT 1 FROM order_tags LIMIT 1")
        began = time.monotonic()
        done = ready.sluice.run("apply", "--yes", "--json", *ready.args).ends(1)
        assert time.monotonic() - began < 90
        application.rollback()
    failures = [each for each in done.json["changes"] if each["status"] == "failed"]
    assert len(failures) == 1 and "lock" in str(failures[0]["error"]), failures
    assert failures[0]["error"]["fix"] and failures[0]["error"]["who"]
    ready.sluice.run("apply", "--yes", *ready.args).ends(0)
    stands.assert_green(ready.shop)


# Everything hangs, and a person types


def echo_times(w: Wizard, text: str) -> list[float]:
    """How long each key takes from the terminal's input to its picture on the screen."""
    times = []
    for end in range(1, len(text) + 1):
        began = time.monotonic()
        w.send(text[end - 1])
        w.wait_for(lambda w: text[:end] in w.current(), 10)
        times.append(time.monotonic() - began)
    return times


@pytest.mark.parametrize("what", ["silent services", "hanging names"])
def test_keys_are_echoed_while_everything_hangs(ready, wizard, fault_proxy, hang_dns, what):
    """Each key is on the screen within 100 ms (the median; the slowest within 400 on a loaded machine), elapsed seconds are
    counted, Ctrl-C cancels, and leaving takes no time."""
    env = {}
    if what == "silent services":
        catalog = fault_proxy((ready.catalog.host, ready.catalog.port), mode="silent")
        database = fault_proxy((ready.shop.server.host, ready.shop.server.port), mode="silent")
        change(ready, oauth_url=f"https://{catalog.host}:{catalog.port}/iceberg", postgres_port=str(database.port))
    else:
        change(ready, oauth_url="https://catalog.example.com/iceberg", postgres_host="db.example.com")
        env = {key: value for key, value in hang_dns("catalog.example.com", "db.example.com", env={}).items()}
    w = wizard(*ready.args, env=env)
    w.to_step("OAuth")
    w.wait_for(lambda w: w.check("reaches the catalog") and re.search(r"\b[1-9] s$", w.check("reaches the catalog")[1]))
    w.to_step("PostgreSQL")
    w.wait_for(lambda w: w.check("connects as admin") and re.search(r"\b\d s$", w.check("connects as admin")[1]))
    w.go_to("Slot")
    w.clear()
    times = echo_times(w, "typed_while_it_hangs")
    assert sorted(times)[len(times) // 2] < 0.1 and max(times) < 0.4, times
    w.press("Ctrl-C")
    w.wait_for("cancelled what ran", 5)
    began = time.monotonic()
    w.quit()
    assert time.monotonic() - began < 5
    assert stands.load(ready.sluice.state)["answers"]["postgres"]["slot"] == "typed_while_it_hangs"


def test_late_answer_to_an_old_question(ready, wizard, fault_proxy, front):
    """A slow catalog is asked, then another URL is typed that fails at once: the answer that comes late for the first one
    does not turn the second one green."""
    slow = fault_proxy((ready.catalog.host, ready.catalog.port), latency=0.7)
    other = front("location / { return 503; }")
    change(ready, oauth_url=f"https://{slow.host}:{slow.port}/iceberg")
    w = wizard(*ready.args)
    w.to_step("OAuth")
    w.press("F5")
    w.wait_for(lambda w: slow.bytes_up > 0)
    w.fill("Catalog URL", f"{other.url}/iceberg")
    w.wait_check("reaches the catalog", "✗")
    w.pump(4.0)
    assert w.check("reaches the catalog")[0] == "✗" and w.check("logs in")[0] == "…", w.picture()
    w.quit()


def test_somebody_grants_at_the_same_time(ready):
    """Another session changes the rights of the same table: the server refuses the second of two, so it is tried again
    and nobody notices."""
    with ready.shop.connect() as dba:
        dba.autocommit = False
        dba.execute("GRANT SELECT ON order_tags TO pg_monitor")
        process = ready.sluice.start("apply", "--yes", *ready.args)
        end = time.monotonic() + 30
        while ready.shop.query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'transactionid' AND query LIKE 'GRANT SELECT%'") == []:
            assert time.monotonic() < end and process.poll() is None, "the grant never waited"
            time.sleep(0.02)
        dba.commit()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, out + err
    stands.assert_green(ready.shop)
