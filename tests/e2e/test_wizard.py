"""The whole set-up as a person does it, at 80x24: typed, mistaken, repaired, left in the middle, resumed, looked at,
applied, proved. And that the way there does not matter: the state equals that of the headless one."""

import re

import pytest

from tests.e2e import stands
from tests.services import shop as shops

PASSPHRASE = "correct horse battery staple"


def give_passphrase(w, text: str = PASSPHRASE) -> None:
    for again in ("Passphrase  ", "Again  "):
        w.wait_for(again)
        w.type(text)
        w.press("Enter")
    w.wait_for("secrets are kept under your passphrase")


def type_start(w) -> None:
    w.to_step("Start")
    w.fill("Name", "shop")


def type_oauth(w, catalog) -> None:
    """All answers, right at once."""
    w.to_step("OAuth")
    w.fill("Catalog URL", catalog.url)
    w.fill("Branch", catalog.branch)
    w.fill("Client id", catalog.client_id)
    w.fill("Client secret", catalog.client_secret)
    give_passphrase(w)


def type_postgres(w, shop) -> None:
    w.to_step("PostgreSQL")
    w.fill("Host", shop.server.host)
    w.fill("Port", str(shop.server.port))
    w.fill("Database", shop.database)
    w.fill("CA file", str(shop.server.ca_file))
    w.fill("Admin password", shop.server.admin_password)
    w.wait_check("connects as admin", "✓")


def choose_tables(w) -> None:
    """All that the prefilled answers choose: a filter, its rows, single ones; and the answer that order_tags needs."""
    w.go_to("Tables")
    w.press("Enter")
    w.wait_for("Tables to capture")
    w.wait_for("12 of 12 shown")
    w.press("/")
    w.type("ORD")
    w.wait_for("5 of 12 shown")
    w.press("Enter", "A")
    w.wait_for("5 chosen")
    w.press("Home", "Down", "Down", "Down")
    w.wait_for("order_tags has no primary key and REPLICA IDENTITY DEFAULT")
    assert "every UPDATE and DELETE on it fails in your application" in w.picture()
    w.press("3")
    w.wait_for(lambda w: "index:order_tags_u" in w.current())
    for table in ("customers", "products", "payments"):
        w.press("/")
        w.clear()
        w.type(table)
        w.wait_for("1 of 12 shown")
        w.press("Enter", "Home", "Space")
        w.wait_for(lambda w: "[x]" in w.current())
    w.press("Enter")
    w.wait_for("8 chosen")
    w.wait_for(lambda w: (w.value_of("Tables") or "").startswith("8: "))


def apply(w) -> None:
    w.press("F2")
    w.wait_for(re.compile(r"\d changes · nothing is written yet"))
    w.press("a")
    w.wait_for("Type apply and Enter")
    w.type("apply")
    w.press("Enter")
    w.wait_for("5 of 5 done")
    w.wait_for("finished; Enter goes on")
    w.press("Enter")


def allow_probes(w) -> None:
    w.to_step("OAuth")
    w.to_check("branch is writable")
    w.press("Space")
    w.wait_check("branch is writable", "✓")
    w.to_step("PostgreSQL")
    w.to_check("CDC round trip")
    w.press("Space")
    w.wait_check("CDC round trip", "✓")


def test_as_a_person(ready, wizard):
    """From nothing to green, with every mistake of the guide on the way."""
    sluice, shop, catalog = ready.sluice, ready.shop, ready.catalog
    w = wizard()
    type_start(w)
    w.wait_for(lambda w: "sluice · shop" in w.header())

    # The guide's token URI on a branch URL, a branch that is not there, a secret with a slip.
    w.to_step("OAuth")
    w.fill("Catalog URL", catalog.url)
    w.fill("Branch", "alice.ingestion")
    w.fill("Client id", catalog.client_id)
    w.fill("Client secret", catalog.client_secret + "x")
    give_passphrase(w)
    w.fill("Token URI", "api/v1/oauth/tokens", leave="Up")
    w.wait_check("logs in", "✗")
    w.wait_for(re.compile(r"→ you: Copy id and secret once more"))
    assert w.check("token, Estuary's form") == (("…"), "waits for: logs in")
    w.fill("Client secret", catalog.client_secret)

    w.wait_check("token URI", "✗")
    w.wait_for("→ you: Use v1/oauth/tokens as Token URI")
    w.to_check("token URI")
    assert "Enter take over" in w.footer()
    w.press("Enter")
    w.wait_for("Token URI is v1/oauth/tokens now")
    w.wait_check("token URI", "✓")
    assert w.value_of("Token URI") == "v1/oauth/tokens"

    w.wait_check("branch", "✗")
    w.open_check("branch")
    for label, words in (("Got", "there is no branch alice.ingestion"), ("Who", "you"),
                         ("Do", "Make the branch, or correct its name"),
                         ("Copy", "bauplan branch create alice.ingestion --from-ref main")):
        assert re.search(rf"^ +{label} +{re.escape(words)}", w.picture(), re.M), w.picture()
    w.press("Esc")
    w.fill("Branch", catalog.branch)
    w.wait_check("branch", "✓")

    # PostgreSQL: a wrong password first, then the right one.
    w.to_step("PostgreSQL")
    w.fill("Host", shop.server.host)
    w.fill("Port", str(shop.server.port))
    w.fill("Database", shop.database)
    w.fill("CA file", str(shop.server.ca_file))
    w.fill("Admin password", "not-the-password")
    w.wait_check("connects as admin", "✗")
    w.wait_for(re.compile(r"→ \w+: .*[Pp]assword"))
    w.fill("Admin password", shop.server.admin_password)
    w.wait_check("connects as admin", "✓")

    # Left in the middle.
    w.quit()
    assert b"admin_password" not in sluice.bytes()

    # Resumed: the passphrase once, the admin password, nothing else.
    w = wizard(ready="Unlock secrets")
    w.wait_for("Passphrase  ")
    w.type(PASSPHRASE)
    w.press("Enter")
    w.wait_gone("Unlock secrets")
    w.to_step("PostgreSQL")
    assert w.value_of("Host") == shop.server.host and w.value_of("Database") == shop.database
    w.wait_check("connects as admin", "…")
    assert "Admin password" in w.check("connects as admin")[1]
    w.fill("Admin password", shop.server.admin_password)
    w.wait_check("connects as admin", "✓")
    choose_tables(w)

    # The plan is looked at, one change after the other; a wrong word applies nothing.
    w.press("F2")
    w.wait_for("5 changes · nothing is written yet")
    w.wait_for("CREATE ROLE flow_shop WITH LOGIN REPLICATION")
    seen = ""
    for _ in range(5):
        w.settle()
        seen += w.picture()
        w.press("Down")
    for words in ("GRANT CONNECT ON DATABASE shop", "CREATE TABLE IF NOT EXISTS public.flow_watermarks",
                  "REPLICA IDENTITY USING INDEX order_tags_u", "CREATE PUBLICATION flow_shop FOR TABLE",
                  "locks the table briefly", "= wal_level"):
        assert words in seen, seen
    w.press("a")
    w.wait_for("Type apply and Enter")
    w.type("yes")
    w.press("Enter")
    w.settle()
    stands.assert_nothing_made(shop)
    w.press("Esc")
    w.wait_for("nothing was done")
    w.press("Esc")
    apply(w)
    w.wait_check("the capture user logs in", "✓")
    allow_probes(w)
    stands.assert_green(shop)
    w.press("F2")
    w.wait_for("= user flow_shop: login, REPLICATION")    # what is right already, and nothing else of this step
    assert not re.search(r"^ +\d+ [+~-] ", w.picture(), re.M), w.picture()
    w.press("Esc")
    w.settle()
    assert "✓1 OAuth" in w.line(1)
    w.quit()
    ready.sluice.run("check", "--deep", "--set", f"postgres.admin_password=file:{ready.folder}/admin-password",
                     "--passphrase-file", passphrase_file(ready)).ends(0)
    stands.assert_green(shop)


def passphrase_file(ready):
    path = ready.folder / "typed-passphrase"
    path.write_text(PASSPHRASE + "\n")
    path.chmod(0o600)
    return path


def test_both_ways_lead_to_the_same_state(ready, wizard, pg_server):
    """What a person types and what an answers file says differ in nothing but times, ids, digests, made secrets and how
    a secret is kept."""
    sluice, shop, catalog = ready.sluice, ready.shop, ready.catalog
    w = wizard()
    type_start(w)
    type_oauth(w, catalog)
    type_postgres(w, shop)
    choose_tables(w)
    apply(w)
    allow_probes(w)
    w.to_step("Start")
    w.press("F5")
    w.wait_check("clock", "✓")
    w.wait_check("network", "!")    # nobody is Estuary here
    for step in ("OAuth", "PostgreSQL"):
        w.to_step(step)
        w.press("F5")
        w.settle()
        w.wait_for(lambda w: "running" not in w.picture())
    w.quit()
    typed = stands.load(sluice.state)
    take_back(shop)

    ready.values["postgres"]["tables"] = typed["answers"]["postgres"]["tables"]    # in the order of the picker
    assert sorted(typed["answers"]["postgres"]["tables"]) == sorted(shops.TABLES)
    ready.save()
    sluice.state = sluice.folder / "headless.yaml"
    sluice.run("check", *ready.args).ends(2)
    sluice.run("apply", "--yes", *ready.args).ends(0)
    sluice.run("check", "--deep", *ready.args).ends(0)
    one, other = stands.same(typed), stands.same(stands.load(sluice.state))
    assert one.keys() == other.keys()
    for section in one:
        assert one[section] == other[section], section


def take_back(shop) -> None:
    """As it was before anything was applied."""
    shop.query("DROP PUBLICATION flow_shop")
    shop.query("DROP TABLE flow_watermarks")
    shop.query("ALTER TABLE order_tags REPLICA IDENTITY DEFAULT")
    with shop.connect() as connection:
        connection.execute("DROP OWNED BY flow_shop")
        connection.execute("DROP ROLE flow_shop")
    stands.assert_nothing_made(shop)


def test_nothing_is_lost_when_leaving_anywhere(ready, wizard):
    """Every field that was left is on the disk at once, whatever happens next."""
    w = wizard()
    for step, label, text, said in (("Start", "Name", "shop", "name: shop"), ("OAuth", "Branch", "alice.x", "branch: alice.x"),
                                    ("PostgreSQL", "Database", "Shop Two", "database: Shop Two")):
        w.to_step(step)
        w.fill(label, text)
        w.wait_for(lambda w: said in ready.sluice.state.read_text() if ready.sluice.state.exists() else False)
    w.quit()


def test_memory_only(ready, wizard):
    """Secrets are to be kept in memory only: nobody asks for a passphrase, no secrets file is made, and after a restart
    the secret is asked again."""
    w = wizard("--set", "start.keep_secrets=memory")
    type_start(w)
    w.to_step("OAuth")
    w.fill("Catalog URL", ready.catalog.url)
    w.fill("Branch", ready.catalog.branch)
    w.fill("Client id", ready.catalog.client_id)
    w.fill("Client secret", ready.catalog.client_secret)
    w.wait_check("logs in", "✓")
    assert "Keep secrets ─" not in w.picture()
    w.quit()
    assert not ready.sluice.secrets.exists() and b"secret: asked" in ready.sluice.bytes()
    w = wizard()
    w.to_step("OAuth")
    assert "Client secret" in w.wait_check("logs in", "…") or w.check("logs in")[0] == "…"
    w.quit()


def test_secret_by_reference(ready, wizard):
    """env:NAME and file:/path are typed where the secret would be; the reference is kept, nothing is asked."""
    w = wizard()
    type_start(w)
    w.to_step("OAuth")
    w.fill("Catalog URL", ready.catalog.url)
    w.fill("Branch", ready.catalog.branch)
    w.fill("Client id", ready.catalog.client_id)
    w.fill("Client secret", f"file:{ready.folder}/client-secret")
    w.wait_check("logs in", "✓")
    w.quit()
    assert f"secret: file:{ready.folder}/client-secret" in ready.sluice.state.read_text()
    assert not ready.sluice.secrets.exists()
    w = wizard()
    w.to_step("OAuth")
    w.press("F5")
    w.wait_check("logs in", "✓")
    w.quit()


def test_secret_is_bound_to_its_host(ready, wizard, front):
    """Another host in the URL does not get the secret that was typed for the first one, unless the person says so."""
    other = front("location / { return 404; }")
    w = wizard("--set", "start.keep_secrets=memory")
    type_start(w)
    w.to_step("OAuth")
    w.fill("Catalog URL", ready.catalog.url)
    w.fill("Client id", ready.catalog.client_id)
    w.fill("Client secret", ready.catalog.client_secret)
    w.wait_check("logs in", "✓")
    w.fill("Catalog URL", f"{other.url}/iceberg")
    w.wait_check("logs in", "…")
    assert "Client secret" in w.check("logs in")[1]
    w.go_to("Client secret")
    w.wait_for(f"was entered for https://{ready.catalog.host}:{ready.catalog.port}")
    w.wait_for("Enter allows it")
    w.press("Enter")
    w.wait_for("may be sent to this host now")
    w.wait_check("token URI", "✗")
    w.quit()


def test_leaving_one_change_out(ready, wizard):
    """Space in the plan leaves a change out; it is planned again afterwards."""
    w = wizard("--answers", ready.answers, "--passphrase-file", ready.passphrase_file)
    w.to_step("PostgreSQL")
    w.wait_check("connects as admin", "✓")
    w.press("F2")
    w.wait_for("5 changes")
    w.press("Home", "Down", "Down", "Down")
    w.wait_for(lambda w: "order_tags" in w.current())
    w.press("Space")
    w.wait_for(lambda w: "left out" in w.current())
    w.press("a")
    w.wait_for("Type apply and Enter")
    assert "4 changes will be made" in w.picture()
    w.type("apply")
    w.press("Enter")
    w.wait_for("finished")
    w.press("Enter")
    assert ready.shop.query("SELECT relreplident::text FROM pg_class WHERE oid = 'order_tags'::regclass") == [("d",)]
    w.press("F2")
    w.wait_for("REPLICA IDENTITY USING INDEX")
    w.press("Esc")
    w.quit()


@pytest.mark.parametrize("key, gone", [("Esc", "nothing changed"), ("F10", None)])
def test_picker_left_without_taking(ready, wizard, key, gone):
    """Esc in the picker changes nothing; what stood chosen stays chosen."""
    w = wizard("--answers", ready.answers, "--passphrase-file", ready.passphrase_file)
    w.to_step("PostgreSQL")
    w.wait_check("connects as admin", "✓")
    w.go_to("Tables")
    w.press("Enter")
    w.wait_for("8 chosen · 12 of 12 shown")
    w.press("A")
    w.wait_for(re.compile(r"(9|10|11) chosen"))
    w.press(key)
    if gone:
        w.wait_for(gone)
        w.press("F10")
    w.assert_ends(0)
    assert stands.load(ready.sluice.state)["answers"]["postgres"]["tables"] == list(shops.TABLES)


def test_refused_tables(ready, wizard):
    """A view and an unlogged table cannot be chosen, and say why; row-level security is warned of."""
    w = wizard("--answers", ready.answers, "--passphrase-file", ready.passphrase_file)
    w.to_step("PostgreSQL")
    w.wait_check("connects as admin", "✓")
    w.go_to("Tables")
    w.press("Enter")
    w.wait_for("8 chosen")
    for table, words in (("daily_revenue", "A view has no changes of its own in the log"),
                         ("session_cache", "Its changes are not written to the log")):
        w.press("/")
        w.clear()
        w.type(table)
        w.wait_for("1 of 12 shown")
        w.press("Enter", "Home", "Space")
        w.wait_for(words)
        assert "[-]" in w.current() and "8 chosen" in w.picture()
    w.press("/")
    w.clear()
    w.type("customer_notes")
    w.press("Enter", "Home")
    w.wait_for("the capture user would silently miss the rows it")
    w.press("Esc", "F10")
    w.assert_ends(0)
