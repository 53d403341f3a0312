/* The two large queries, over all tables and over the chosen ones. They share what they say about
 * keys and identity, and differ in what they look at, so both are put together from the same
 * pieces. */
#include "core/mem.h"
#include "postgres/survey.h"

/* Unique indexes without expressions, a row each. %s: columns of the key proper (11+), generated
 * columns (12+), which tables. */
static const char index_part[] =
    ", idx AS ("
    "SELECT i.indrelid AS rel, x.relname::text AS name, i.indisprimary AS pk, i.indisreplident AS "
    "picked,"
    " i.indisvalid AND i.indimmediate AS sound, i.indpred IS NULL AS whole,"
    " bool_and(a.attnotnull) AS filled, bool_or(%s) AS computed,"
    " string_agg(a.attname, ', ' ORDER BY k.n) AS cols, string_agg(k.attnum::text, ' ' ORDER BY "
    "k.n) AS nums"
    " FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid"
    " CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(attnum, n)"
    " JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum"
    " WHERE i.indisunique AND i.indexprs IS NULL AND k.n <= %s AND %s"
    " GROUP BY i.indexrelid, i.indrelid, x.relname, i.indisprimary, i.indisreplident, i.indisvalid,"
    " i.indimmediate, i.indpred IS NULL)";

/* A row a table: the connector's key (primary key, else the first index by name whose columns are
 * NOT NULL), and the first index the server would take as replica identity (whole, immediate,
 * valid). */
static const char key_part[] =
    ", keys AS ("
    "SELECT rel, bool_or(pk AND sound) AS has_pk, bool_or(picked AND sound) AS has_picked,"
    " min(cols) FILTER (WHERE pk) AS pk_cols, min(nums) FILTER (WHERE pk) AS pk_nums,"
    " bool_or(computed) FILTER (WHERE pk) AS pk_computed,"
    " (array_agg(name ORDER BY name COLLATE \"C\") FILTER (WHERE filled AND NOT pk))[1] AS spare,"
    " (array_agg(cols ORDER BY name COLLATE \"C\") FILTER (WHERE filled AND NOT pk))[1] AS "
    "spare_cols,"
    " (array_agg(nums ORDER BY name COLLATE \"C\") FILTER (WHERE filled AND NOT pk))[1] AS "
    "spare_nums,"
    " (array_agg(name ORDER BY name COLLATE \"C\")"
    " FILTER (WHERE filled AND sound AND whole AND NOT pk))[1] AS usable"
    " FROM idx GROUP BY rel)";

/* %s: which relations. identified: what CheckCmdReplicaIdentity asks of one relation. */
static const char relation_part[] =
    ", rel AS ("
    "SELECT c.oid, c.relnamespace, c.relname, c.relkind, c.relpersistence, c.relreplident, "
    "c.relrowsecurity,"
    " c.relforcerowsecurity, c.relowner, c.relispartition, c.reltuples::float8 AS reltuples,"
    " c.relpages::bigint + coalesce((SELECT t.relpages FROM pg_class t WHERE t.oid = "
    "c.reltoastrelid), 0)"
    " AS pages, k.*,"
    " CASE c.relreplident WHEN 'f' THEN true WHEN 'n' THEN false"
    " WHEN 'd' THEN coalesce(k.has_pk, false) ELSE coalesce(k.has_picked, false) END AS identified"
    " FROM pg_class c LEFT JOIN keys k ON k.rel = c.oid"
    " WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND %s)"
    ", parts AS ("
    "SELECT t.root, count(*) AS leaves, bool_and(r.identified) AS identified,"
    " CASE WHEN bool_or(r.reltuples < 0) THEN -1 ELSE sum(r.reltuples) END AS tuples, sum(r.pages) "
    "AS pages"
    " FROM tree t JOIN rel r ON r.oid = t.leaf WHERE r.relkind <> 'p' GROUP BY t.root)";

/* What both say of a table. */
static const char common_columns[] =
    "n.nspname, r.relname, r.relkind, r.relpersistence, r.relreplident, r.relrowsecurity, "
    "r.relispartition,"
    " pg_get_userbyid(r.relowner) AS owner,"
    " coalesce(p.identified, r.identified) AS identified, coalesce(p.leaves, 0) AS leaves,"
    " coalesce(p.tuples, r.reltuples) AS tuples,"
    " coalesce(p.pages, r.pages) * current_setting('block_size')::bigint AS bytes,"
    " r.pk_cols, r.pk_nums, r.pk_computed, r.spare, r.spare_cols, r.spare_nums, r.usable";

static void add_parts(struct text *sql, int version, const char *indexes, const char *relations)
{
    const char *generated = version >= 120000 ? "a.attgenerated <> ''" : "false";
    const char *key_columns = version >= 110000 ? "i.indnkeyatts" : "i.indnatts";
    text_addf(sql, index_part, generated, key_columns, indexes);
    text_add(sql, key_part);
    text_addf(sql, relation_part, relations);
}

char *postgres_sql_catalogue(int version)
{
    AUTO_TEXT sql = TEXT_INIT;
    text_add(
        &sql,
        "WITH RECURSIVE tree AS ("
        "SELECT i.inhparent AS root, i.inhrelid AS leaf FROM pg_inherits i"
        " JOIN pg_class p ON p.oid = i.inhparent WHERE p.relkind = 'p' AND NOT p.relispartition"
        " UNION ALL SELECT t.root, i.inhrelid FROM tree t JOIN pg_inherits i ON i.inhparent = "
        "t.leaf)");
    add_parts(
        &sql, version,
        "i.indrelid IN (SELECT oid FROM pg_class WHERE relkind IN ('r', 'p') AND oid >= 16384)",
        "c.oid >= 16384");
    /* Schemas that the connector leaves out of its discovery, and all of the system's. */
    text_addf(&sql,
              " SELECT %s FROM rel r JOIN pg_namespace n ON n.oid = r.relnamespace"
              " LEFT JOIN parts p ON p.root = r.oid WHERE NOT r.relispartition AND left(n.nspname, "
              "3) <> 'pg_'"
              " AND n.nspname NOT IN ('information_schema', 'catalog_history', 'cron', 'pglogical')"
              " ORDER BY n.nspname::text COLLATE \"C\", r.relname::text COLLATE \"C\"",
              common_columns);
    return text_take(&sql);
}

/* $1 schemas, $2 tables, $3 capture user, $4 publication. Row-level security hides nothing from
 * superusers, BYPASSRLS, an owner it is not forced on, or where a permissive policy says true and
 * none restricts. */
char *postgres_sql_chosen(int version)
{
    AUTO_TEXT sql = TEXT_INIT;
    text_add(&sql,
             "WITH RECURSIVE want AS ("
             "SELECT w.n, w.s, w.t, c.oid FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS "
             "w(s, t, n)"
             " LEFT JOIN pg_namespace ns ON ns.nspname = w.s::name"
             " LEFT JOIN pg_class c ON c.relnamespace = ns.oid AND c.relname = w.t::name"
             " AND c.relkind IN ('r', 'p', 'v', 'm', 'f')), tree AS ("
             "SELECT i.inhparent AS root, i.inhrelid AS leaf FROM want w JOIN pg_class p ON p.oid "
             "= w.oid"
             " AND p.relkind = 'p' JOIN pg_inherits i ON i.inhparent = w.oid"
             " UNION ALL SELECT t.root, i.inhrelid FROM tree t JOIN pg_inherits i ON i.inhparent = "
             "t.leaf)"
             ", scope AS (SELECT oid FROM want WHERE oid IS NOT NULL UNION SELECT leaf FROM tree)");
    add_parts(&sql, version, "i.indrelid IN (SELECT oid FROM scope)",
              "c.oid IN (SELECT oid FROM scope)");
    text_addf(
        &sql,
        ", me AS (SELECT x.oid, coalesce(x.rolsuper OR x.rolbypassrls, false) AS sees FROM (SELECT "
        "1) one"
        " LEFT JOIN pg_roles x ON x.rolname = $3::name)"
        ", handed AS (SELECT DISTINCT schemaname, tablename FROM pg_publication_tables WHERE "
        "pubname = "
        "$4::name)"
        ", listed AS (SELECT pr.prrelid, (to_jsonb(pr)->>'prqual') IS NOT NULL OR"
        " (to_jsonb(pr)->>'prattrs') IS NOT NULL AS filtered FROM pg_publication_rel pr"
        " JOIN pg_publication pb ON pb.oid = pr.prpubid WHERE pb.pubname = $4::name)"
        " SELECT w.n, w.s AS asked_schema, w.t AS asked_table, r.oid IS NOT NULL AS found, %s,"
        " coalesce(has_table_privilege(me.oid, r.oid, 'SELECT'), false) AS selects,"
        " coalesce(has_schema_privilege(me.oid, n.oid, 'USAGE'), false) AS usage,"
        " coalesce(has_table_privilege(me.oid, r.oid, 'INSERT, UPDATE, DELETE, TRUNCATE'), false)"
        " AS writes,"
        " pg_has_role(r.relowner, 'USAGE') AS admin_owns,"
        " has_table_privilege(r.oid, 'SELECT WITH GRANT OPTION') AS admin_grants,"
        " has_schema_privilege(n.oid, 'USAGE WITH GRANT OPTION') AS admin_grants_usage,"
        " l.prrelid IS NOT NULL AS listed, coalesce(l.filtered, false) AS filtered,"
        " h.tablename IS NOT NULL AS published,"
        " r.relrowsecurity AND NOT me.sees AND NOT (coalesce(pg_has_role(me.oid, r.relowner, "
        "'USAGE'),"
        " false) AND NOT r.relforcerowsecurity) AND (EXISTS (SELECT FROM pg_policy y WHERE"
        " y.polrelid = r.oid AND y.polcmd IN ('r', '*') AND NOT y.polpermissive) OR NOT EXISTS ("
        "SELECT FROM pg_policy y WHERE y.polrelid = r.oid AND y.polcmd IN ('r', '*') AND "
        "y.polpermissive"
        " AND pg_get_expr(y.polqual, y.polrelid) = 'true' AND (0 = ANY (y.polroles) OR EXISTS ("
        "SELECT FROM unnest(y.polroles) AS z(role) WHERE z.role <> 0 AND me.oid IS NOT NULL"
        " AND pg_has_role(me.oid, z.role, 'USAGE'))))) AS hidden_rows,"
        " EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = r.oid AND a.attnum > 0"
        " AND a.attname = 'flow_published_at' AND NOT a.attisdropped) AS taken"
        " FROM want w CROSS JOIN me LEFT JOIN rel r ON r.oid = w.oid"
        " LEFT JOIN pg_namespace n ON n.oid = r.relnamespace LEFT JOIN parts p ON p.root = r.oid"
        " LEFT JOIN listed l ON l.prrelid = r.oid"
        " LEFT JOIN handed h ON h.schemaname = n.nspname AND h.tablename = r.relname ORDER BY w.n",
        common_columns);
    return text_take(&sql);
}

char *postgres_array_literal(const char *const *items, size_t n)
{
    AUTO_TEXT out = TEXT_INIT;
    text_addc(&out, '{');
    for (size_t i = 0; i < n; i++) {
        text_add(&out, i > 0 ? ",\"" : "\"");
        for (const char *p = items[i]; *p != '\0'; p++) {
            if (*p == '"' || *p == '\\')
                text_addc(&out, '\\');
            text_addc(&out, *p);
        }
        text_addc(&out, '"');
    }
    text_addc(&out, '}');
    return text_take(&out);
}
