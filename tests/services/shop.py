"""The shop database: made once in a server, and copied for each test that wants one of its own."""

from pathlib import Path

from psycopg import sql

from .postgres import Postgres

SCRIPT = Path(__file__).with_name("shop.sql")
OWNER = "shop_owner"
# What the prefilled answers choose, as quote_ident writes them. Left out: clickstream (no key of any kind),
# customer_notes (row-level security), session_cache (unlogged).
TABLES = ("public.customers", "public.products", "public.orders", 'public."Order Items"', "public.payments",
          "public.order_events", "public.order_tags", "audit.orders")
REPAIRS = {"public.order_tags": "index:order_tags_u"}


def make(server: Postgres, database: str, owner_password: str) -> None:
    """Creates the owner's role (if missing) and the filled database."""
    with server.connect() as connection:
        role, name = sql.Identifier(OWNER), sql.Identifier(database)
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [OWNER]).fetchone():
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(role, sql.Literal(owner_password)))
        connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(name, role))
    with server.connect(database) as connection:
        connection.execute(SCRIPT.read_text())  # type: ignore[arg-type]


def exists(server: Postgres, database: str) -> bool:
    return bool(server.query(f"SELECT 1 FROM pg_database WHERE datname = '{database}'"))


class Shop:
    """One database copied from the filled one, and what a test may have made in the server around it.

    connect() and query() as Postgres has them, for this database; drop() takes the database, every role and every
    replication slot away that was not there before."""

    def __init__(self, server: Postgres, template: str, owner_password: str, database: str = "shop"):
        self.server, self.database = server, database
        self.owner, self.owner_password = OWNER, owner_password
        self._roles = self._names("SELECT rolname FROM pg_roles")
        with server.connect() as connection:
            connection.execute(sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {} STRATEGY file_copy").format(
                sql.Identifier(database), sql.Identifier(OWNER), sql.Identifier(template)))

    def _names(self, query: str) -> set[str]:
        return {row[0] for row in self.server.query(query)}

    def connect(self, **who: str | None):
        return self.server.connect(self.database, **who)

    def query(self, statement: str, **who: str | None) -> list[tuple]:
        return self.server.query(statement, self.database, **who)

    def uri(self, **who: str | None) -> str:
        return self.server.uri(self.database, **who)

    def drop(self) -> None:
        with self.server.connect() as connection:
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [self.database])
            for (slot,) in connection.execute(
                    "SELECT slot_name FROM pg_replication_slots WHERE database = %s", [self.database]).fetchall():
                _drop_slot(connection, slot)
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(self.database)))
            for role in sorted(self._names("SELECT rolname FROM pg_roles") - self._roles):
                connection.execute(sql.SQL("DROP OWNED BY {0}; DROP ROLE {0}").format(sql.Identifier(role)))


def _drop_slot(connection, slot: str) -> None:
    """Drops a slot as soon as the walsender that held it is gone (temporary ones go with it)."""
    connection.execute(
        "DO $$ BEGIN FOR i IN 1..100 LOOP"
        "  PERFORM 1 FROM pg_replication_slots WHERE slot_name = " + sql.Literal(slot).as_string(connection) +
        "    AND NOT active;"
        "  IF FOUND THEN PERFORM pg_drop_replication_slot(" + sql.Literal(slot).as_string(connection) + "); RETURN; END IF;"
        "  PERFORM pg_sleep(0.05); END LOOP; END $$")
