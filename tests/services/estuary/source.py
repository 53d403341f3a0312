"""The source connector as it meets a real PostgreSQL: discovery of tables, and the prerequisites it validates.

Its order and its words; it repairs what the connector repairs (the watermarks table, tables that the publication
lacks). It starts no capture: no slot is made."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from .store import Row

Json = Any
_SYSTEM = ("pg_catalog", "pg_internal", "information_schema", "catalog_history", "cron", "pglogical")
_OURS = ("flow_materializations_v2", "flow_checkpoints_v1")

_TABLES = """
SELECT n.nspname AS schema, c.relname AS "table",
       (SELECT json_object_agg(a.attname, json_build_object('type', format_type(a.atttypid, NULL), 'base', t.typname,
               'notnull', a.attnotnull) ORDER BY a.attnum)
          FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
         WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated <> 's') AS columns,
       (SELECT array_agg(a.attname::text ORDER BY k.at)
          FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(num, at)
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.num
         WHERE i.indrelid = c.oid AND i.indisprimary) AS key,
       (SELECT array_agg(a.attname::text ORDER BY k.at)
          FROM (SELECT i.* FROM pg_index i JOIN pg_class ic ON ic.oid = i.indexrelid
                 WHERE i.indrelid = c.oid AND i.indisunique AND NOT i.indisprimary AND i.indexprs IS NULL
                   AND c.relkind = 'r' AND NOT EXISTS (SELECT 1 FROM unnest(i.indkey) AS u(num) JOIN pg_attribute a
                       ON a.attrelid = c.oid AND a.attnum = u.num WHERE NOT a.attnotnull)
                 ORDER BY ic.relname LIMIT 1) i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(num, at)
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.num) AS fallback,
       EXISTS (SELECT 1 FROM pg_publication_tables p WHERE p.pubname = %(publication)s
                  AND p.schemaname = n.nspname AND p.tablename = c.relname) AS published
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relpersistence = 'p' AND c.relkind IN ('r', 'p') AND n.nspname <> ALL(%(system)s)
   AND (NOT c.relispartition OR %(partitions)s) ORDER BY 1, 2
"""


class SourceError(Exception):
    """What the connector says when it cannot go on."""


@dataclass
class Source:
    """One connection's worth of the connector. config is opened and has passed the offline rules."""

    config: Json
    ca_file: str
    timeout: int = 5
    advanced: Json = field(init=False)

    def __post_init__(self) -> None:
        self.advanced = self.config.get("advanced") or {}

    def _connect(self) -> Any:
        import psycopg

        if self.config.get("networkTunnel"):
            raise SourceError("the stand-in opens no SSH tunnel")
        credentials = self.config["credentials"]
        if credentials.get("auth_type", "UserPassword") != "UserPassword":
            raise SourceError("the stand-in logs in by password only")
        address = self.config["address"]
        host, colon, port = address.rpartition(":") if ":" in address else (address, "", "")
        options: Json = {"sslrootcert": self.ca_file} if self.ca_file else {}
        try:
            return psycopg.connect(
                host=host.strip("[]"), port=int(port) if colon else 5432, dbname=self.config["database"],
                user=self.config["user"], password=credentials.get("password"), autocommit=True,
                application_name="estuary_flow", sslmode=self.advanced.get("sslmode") or "prefer",
                connect_timeout=self.timeout, **options)
        except (psycopg.Error, ValueError) as wrong:
            raise SourceError(f"failed to connect to `user={self.config['user']} database={self.config['database']}`: "
                              f"{str(wrong).strip()}") from None

    @property
    def publication(self) -> str:
        """The publication's name."""
        return str(self.advanced.get("publicationName") or "flow_publication")

    @property
    def watermarks(self) -> str:
        """The watermarks table's name."""
        return str(self.advanced.get("watermarksTable") or "public.flow_watermarks")

    # Discovery.

    def tables(self) -> list[Row]:
        """What discovery lists: {schema, table, columns: {name: {type, base, notnull}}, key, fallback}."""
        from psycopg.rows import dict_row

        asked = {"publication": self.publication, "system": list(_SYSTEM),
                 "partitions": bool(self.advanced.get("capture_as_partitions"))}
        with self._connect() as connection:
            found = connection.cursor(row_factory=dict_row).execute(_TABLES, asked).fetchall()
        return [table for table in found if self._wanted(table)]

    def _wanted(self, table: Row) -> bool:
        filters = self.config.get("discoveryFilters") or {}
        schemas = [*filters.get("include_schemas", ()), *self.advanced.get("discover_schemas", ())]
        unpublished = filters.get("discover_unpublished_tables") or self.advanced.get("discover_unpublished_tables")
        patterns = filters.get("table_patterns", ())
        name = f"{table['schema']}.{table['table']}"
        return (
            (table["published"] or bool(unpublished)) and name.lower() != self.watermarks.lower()
            and table["table"] not in _OURS and "flow_published_at" not in (table["columns"] or {})
            and (not schemas or table["schema"] in schemas) and table["schema"] not in filters.get("exclude_schemas", ())
            and (not patterns or any(_glob(pattern, table) for pattern in patterns)))

    # Validation.

    def faults(self, tables: list[tuple[str, str]]) -> list[str]:
        """The prerequisites and what the connector asks of each bound table, in its order; what is not met."""
        with self._connect() as connection:
            version = connection.info.server_version // 10000
            if version < 10:
                return [f"minimum supported Postgres version is 10.0: attempted to capture from database version {version}"]
            found = [fault for fault in (self._wal(connection), self._replication(connection), self._slot(connection),
                                         self._publication(connection)) if fault]
            if not self.advanced.get("read_only_capture"):
                found += self._watermarks(connection)
            for schema, table in tables:
                found += self._table(connection, schema, table)
            return found

    def _wal(self, connection: Any) -> str:
        level = connection.execute("SHOW wal_level").fetchone()[0]
        return "" if level == "logical" else f'logical replication isn\'t enabled: current wal_level = "{level}"'

    def _replication(self, connection: Any) -> str:
        user = self.config["user"]
        row = connection.execute("SELECT rolreplication FROM pg_roles WHERE rolname = %s", [user]).fetchone()
        if row is None:
            return f'error querying REPLICATION role for user "{user}": no rows in result set'
        return "" if row[0] else f'user "{user}" must have the REPLICATION role (or \'rds_replication\' on RDS)'

    def _slot(self, connection: Any) -> str:
        slot, here = self.advanced.get("slotName") or "flow_slot", self.config["database"]
        row = connection.execute("SELECT database FROM pg_replication_slots WHERE slot_name = %s AND "
                                 "slot_type = 'logical'", [slot]).fetchone()
        if row is None or row[0] == here:
            return ""
        return (f'replication slot "{slot}" exists in database "{row[0]}", but the configured database is "{here}": '
                "consider using a different slot name or removing the existing slot")

    def _publication(self, connection: Any) -> str:
        row = connection.execute("SELECT count(*) FROM pg_publication WHERE pubname = %s", [self.publication]).fetchone()
        return "" if row[0] == 1 else f'publication "{self.publication}" does not exist'

    def _watermarks(self, connection: Any) -> list[str]:
        import psycopg

        table, slot = self.watermarks, self.advanced.get("slotName") or "flow_slot"
        write = (f"INSERT INTO {table} (slot, watermark) VALUES ('{slot}', 'existence-check') ON CONFLICT (slot) "
                 "DO UPDATE SET watermark = 'existence-check'")
        try:
            connection.execute(write)
        except psycopg.Error:
            try:
                connection.execute(f"CREATE TABLE IF NOT EXISTS {table} (slot TEXT PRIMARY KEY, watermark TEXT)")
                connection.execute(write)
            except psycopg.Error:
                return [f'user "{self.config["user"]}" cannot write to the watermarks table "{table}"']
        schema, _, name = table.partition(".")
        return self._published(connection, schema.lower(), name.lower())

    def _table(self, connection: Any, schema: str, table: str) -> list[str]:
        import psycopg
        from psycopg import sql

        try:
            connection.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(sql.Identifier(schema, table)))
        except psycopg.errors.InsufficientPrivilege as wrong:
            if "schema" in str(wrong):     # a denied SELECT is not noticed
                return [self._unreadable(schema, table)]
        except psycopg.Error:
            return [self._unreadable(schema, table)]
        return self._published(connection, schema, table)

    def _unreadable(self, schema: str, table: str) -> str:
        return f'user "{self.config["user"]}" cannot read from table "{f"{schema}.{table}".lower()}"'

    def _published(self, connection: Any, schema: str, table: str) -> list[str]:
        import psycopg
        from psycopg import sql

        listed = connection.execute(
            "SELECT 1 FROM pg_publication_tables WHERE pubname = %s AND lower(schemaname) = lower(%s) AND "
            "lower(tablename) = lower(%s)", [self.publication, schema, table]).fetchone()
        if listed:
            return []
        try:
            connection.execute(sql.SQL("ALTER PUBLICATION {} ADD TABLE {}").format(
                sql.Identifier(self.publication), sql.Identifier(schema, table)))
        except psycopg.Error:
            return [f'table "{schema}.{table}" is not in publication {self.publication} and couldn\'t be added '
                    "automatically"]
        return []


def _glob(pattern: str, table: Row) -> bool:
    """Whether a pattern with * and ? (escaped by \\) takes a table; without a dot it is the bare table's name."""
    found = ""
    for escaped, char in re.findall(r"(\\.)|(.)", pattern, re.DOTALL):
        found += re.escape(escaped[1]) if escaped else {"*": ".*", "?": "."}.get(char, re.escape(char))
    dotted = re.search(r"(?<!\\)\.", pattern)
    return bool(re.fullmatch(found, f"{table['schema']}.{table['table']}" if dotted else table["table"], re.DOTALL))
