"""What stands in a source after everything was applied, seen from outside by psycopg; and when two state files tell the
same set-up."""

import re
from pathlib import Path

import yaml

from tests.services import shop as shops

USER = PUBLICATION = "flow_shop"
WATERMARKS = "public.flow_watermarks"
MEMBERS = {WATERMARKS, *shops.TABLES}

# Of one moment: when it ran, its digests, how long it took, where the log was, how many connections were free.
VOLATILE = {"at", "digest", "plain", "run"}
NUMBERS = re.compile(r"\b(\d+ ms|[0-9A-F]+/[0-9A-F]+|\d+ of \d+ free)\b")


def assert_green(shop) -> None:
    """The user with the least rights, the grants, the watermarks table, the publication, the replica identity; no slot."""
    role = shop.query("SELECT rolcanlogin, rolreplication, rolsuper, rolcreatedb, rolcreaterole, rolbypassrls"
                      f" FROM pg_roles WHERE rolname = '{USER}'")
    assert role == [(True, True, False, False, False, False)]
    password = shop.query(f"SELECT rolpassword FROM pg_authid WHERE rolname = '{USER}'")[0][0]
    assert password.startswith("SCRAM-SHA-256$")
    for table in shops.TABLES:
        assert rights(shop, table) == {"SELECT"}, table
    assert rights(shop, WATERMARKS) == {"SELECT", "INSERT", "UPDATE"}
    assert shop.query("SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute"
                      f" WHERE attrelid = '{WATERMARKS}'::regclass AND attnum > 0 ORDER BY attnum") == [
                          ("slot", "text"), ("watermark", "text")]
    rows = shop.query(f"SELECT * FROM {WATERMARKS}")
    assert rows in ([], [(USER, "existence-check")]), "nothing but what Estuary's own check leaves there"
    publications = shop.query("SELECT pubname::text, puballtables, pubinsert, pubupdate, pubdelete, pubviaroot FROM pg_publication")
    assert publications == [(PUBLICATION, False, True, True, True, True)]
    members = shop.query("SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) FROM pg_publication_rel r"
                         " JOIN pg_class c ON c.oid = r.prrelid JOIN pg_namespace n ON n.oid = c.relnamespace")
    assert sorted(row[0] for row in members) == sorted(MEMBERS)
    identity = shop.query("SELECT c.relreplident::text, i.indexrelid::regclass::text FROM pg_class c LEFT JOIN pg_index i"
                          " ON i.indrelid = c.oid AND i.indisreplident WHERE c.oid = 'order_tags'::regclass")
    assert identity == [("i", "order_tags_u")]
    assert_no_slot(shop)
    assert_application_works(shop)


def assert_nothing_made(shop) -> None:
    assert shop.query(f"SELECT 1 FROM pg_roles WHERE rolname = '{USER}'") == []
    assert shop.query(f"SELECT to_regclass('{WATERMARKS}')") == [(None,)]
    assert shop.query("SELECT 1 FROM pg_publication") == []
    assert shop.query("SELECT relreplident::text FROM pg_class WHERE oid = 'order_tags'::regclass") == [("d",)]
    assert_no_slot(shop)


def assert_no_slot(shop) -> None:
    assert shop.query(f"SELECT slot_name FROM pg_replication_slots WHERE database = '{shop.database}'") == []


def assert_application_works(shop) -> None:
    """The owner's own UPDATE and DELETE on what is published now: the very thing a missing identity breaks."""
    with shop.connect(user=shop.owner, password=shop.owner_password) as connection:
        for statement in ("UPDATE order_tags SET tagged_by = tagged_by", "DELETE FROM order_tags", "DELETE FROM payments",
                          "UPDATE orders SET note = note", 'UPDATE "Order Items" SET quantity = quantity',
                          "DELETE FROM order_events", "UPDATE audit.orders SET old_status = old_status"):
            with connection.transaction(force_rollback=True):
                connection.execute(statement)


def rights(shop, table: str) -> set[str]:
    every = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
    with shop.connect() as connection:
        return {right for right in every if connection.execute(
            "SELECT has_table_privilege(%s, %s, %s)", [USER, table, right]).fetchone()[0]}


def load(path: Path) -> dict:
    """A state file as its mapping."""
    return yaml.safe_load(path.read_text())


STEPS = ("start", "oauth", "postgres")


def same(state: dict) -> dict:
    """Of the steps that were gone through, the state without what may differ between two ways to the same set-up: times (and so the order of what was made
    side by side), ids, digests, and how a secret is kept (of an admin's nothing is kept at all when it was typed)."""
    answers = {step: {field: _answer(value) for field, value in state["answers"][step].items() if field != "admin_password"}
               for step in STEPS}
    journal = sorted(state["journal"], key=lambda entry: entry["change"])
    proved = {section: {key: value for key, value in state[section].items() if key.split(".")[0] in STEPS}
              for section in ("facts", "checks")}
    return _plain({**state, **proved, "answers": answers, "journal": journal})


def _answer(value):
    if isinstance(value, dict) and "secret" in value:
        return {key: held for key, held in value.items() if key != "secret"}
    return value


def _plain(node):
    if isinstance(node, dict):
        return {key: _plain(value) for key, value in node.items() if key not in VOLATILE}
    if isinstance(node, list):
        return [_plain(value) for value in node]
    return NUMBERS.sub("…", node) if isinstance(node, str) else node
