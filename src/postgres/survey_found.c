/* The survey of what the answers name: user, chosen tables, publication, watermarks table. */
#include <string.h>

#include "core/mem.h"
#include "core/text.h"
#include "postgres/names.h"
#include "postgres/survey.h"
#include "postgres/survey_rows.h"

static const char sql_role[] =
    "SELECT r.oid IS NOT NULL AS exists, r.rolcanlogin, r.rolreplication, r.rolsuper, "
    "r.rolcreaterole,"
    " r.rolcreatedb, r.rolbypassrls, r.rolconnlimit, r.rolname = current_user AS "
    "is_admin,"
    " coalesce(r.rolvaliduntil < now(), false) AS expired,"
    " has_database_privilege(r.oid, current_database(), 'CONNECT') AS connects,"
    " rds.oid IS NOT NULL AS rds_role, pg_has_role(r.oid, rds.oid, 'MEMBER') AS rds_member,"
    " pg_has_role(r.oid, (SELECT oid FROM pg_roles WHERE rolname = 'pg_read_all_data'), 'USAGE') "
    "AS reads_all,"
    " (SELECT string_agg(g.rolname, ', ' ORDER BY g.rolname) FROM pg_auth_members m JOIN pg_roles g"
    " ON g.oid = m.roleid WHERE m.member = r.oid) AS member_of"
    " FROM (SELECT 1) one LEFT JOIN pg_roles r ON r.rolname = $1::name"
    " LEFT JOIN pg_roles rds ON rds.rolname = 'rds_replication'";

/* $1 schemas, $2 tables, as in postgres_sql_chosen. */
#define WANTED                                                                                     \
    "(SELECT w.n, c.oid, c.relkind FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS w(s, "   \
    "t, n)"                                                                                        \
    " JOIN pg_namespace ns ON ns.nspname = w.s::name"                                              \
    " JOIN pg_class c ON c.relnamespace = ns.oid AND c.relname = w.t::name) w"

/* Types that are stored aside when large: an unchanged such value is left out of an update's
 * message. */
#define COLUMNS(generated)                                                                         \
    "SELECT w.n, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull," \
    " " generated                                                                                  \
    " AS generated, a.attstorage <> 'p' AND a.attlen = -1 AND a.atttypid IN ('text'::regtype,"     \
    " 'json'::regtype, 'jsonb'::regtype, 'bytea'::regtype, 'xml'::regtype) AS wide"                \
    " FROM " WANTED " JOIN pg_attribute a ON a.attrelid = w.oid"                                   \
    " WHERE a.attnum > 0 AND NOT a.attisdropped AND w.relkind IN ('r', 'p') ORDER BY w.n, "        \
    "a.attnum"
static const char sql_columns[] = COLUMNS("a.attgenerated"); /* 12+ */
static const char sql_columns_10[] = COLUMNS("''::text");

/* What ALTER TABLE … REPLICA IDENTITY USING INDEX takes: unique, whole, immediate, valid, only NOT
 * NULL columns. */
static const char sql_indexes[] =
    "SELECT w.n, x.relname AS name FROM " WANTED " JOIN pg_index i ON i.indrelid = w.oid"
    " JOIN pg_class x ON x.oid = i.indexrelid WHERE w.relkind = 'r' AND i.indisunique AND "
    "i.indimmediate"
    " AND i.indisvalid AND NOT i.indisprimary AND i.indexprs IS NULL AND i.indpred IS NULL AND NOT "
    "EXISTS ("
    "SELECT FROM unnest(i.indkey) WITH ORDINALITY AS k(attnum, m) JOIN pg_attribute a ON "
    "a.attrelid = i.indrelid"
    " AND a.attnum = k.attnum WHERE NOT a.attnotnull"
    " AND k.m <= coalesce((to_jsonb(i)->>'indnkeyatts')::int, i.indnatts))"
    " ORDER BY w.n, x.relname::text COLLATE \"C\"";

/* Relations below a partitioned one, and whether UPDATE and DELETE on c can be published. */
#define IDENTIFIED                                                                                 \
    "CASE c.relreplident WHEN 'f' THEN true WHEN 'n' THEN false ELSE EXISTS (SELECT FROM "         \
    "pg_index i WHERE"                                                                             \
    " i.indrelid = c.oid AND i.indisvalid AND i.indimmediate AND CASE c.relreplident WHEN 'd'"     \
    " THEN i.indisprimary ELSE i.indisreplident END) END"

static const char sql_naked[] =
    "WITH RECURSIVE tree AS (SELECT w.n, i.inhrelid AS leaf FROM " WANTED
    " JOIN pg_inherits i ON i.inhparent = w.oid WHERE w.relkind = 'p'"
    " UNION ALL SELECT t.n, i.inhrelid FROM tree t JOIN pg_inherits i ON i.inhparent = t.leaf)"
    " SELECT t.n, quote_ident(ns.nspname) || '.' || quote_ident(c.relname) AS name FROM tree t"
    " JOIN pg_class c ON c.oid = t.leaf JOIN pg_namespace ns ON ns.oid = c.relnamespace"
    " WHERE c.relkind = 'r' AND NOT " IDENTIFIED " ORDER BY t.n, 2";

static const char sql_publication[] =
    "SELECT p.oid IS NOT NULL AS exists, p.puballtables, p.pubinsert, p.pubupdate, p.pubdelete,"
    " coalesce((to_jsonb(p)->>'pubviaroot')::boolean, "
    "false) AS via_root,"
    " pg_get_userbyid(p.pubowner) AS owner, pg_has_role(p.pubowner, 'USAGE') AS admin_owns,"
    " (SELECT count(*) FROM pg_publication_rel r WHERE r.prpubid = p.oid) AS members,"
    " EXISTS (SELECT FROM pg_publication_tables t WHERE t.pubname = p.pubname AND t.schemaname = "
    "$2::name"
    " AND t.tablename = $3::name) AS watermarks,"
    " EXISTS (SELECT FROM pg_publication_rel r WHERE r.prpubid = p.oid"
    " AND r.prrelid = to_regclass(quote_ident($2) || '.' || quote_ident($3))) AS watermarks_listed,"
    " (SELECT string_agg(o.pubname, ', ') FROM pg_publication o WHERE o.puballtables"
    " AND (o.pubupdate OR o.pubdelete) AND o.pubname <> $1::name) AS all_elsewhere"
    " FROM (SELECT 1) one LEFT JOIN pg_publication p ON p.pubname = $1::name";

/* Publications of whole schemas exist from 15 on. */
static const char sql_schemas[] = "SELECT count(*) AS count FROM pg_publication_namespace s JOIN "
                                  "pg_publication p ON p.oid = s.pnpubid"
                                  " WHERE p.pubname = $1::name";
static const char sql_no_schemas[] = "SELECT 0 AS count WHERE $1::text IS NOT NULL";

/* $1 publication, $2 and $3 schemas and tables that are wanted in it. */
static const char sql_others[] =
    "SELECT quote_ident(t.schemaname) || '.' || quote_ident(t.tablename) AS name, count(*) OVER () "
    "AS total"
    " FROM pg_publication_tables t JOIN pg_publication p ON p.pubname = t.pubname"
    " WHERE t.pubname = $1::name AND NOT p.puballtables AND NOT EXISTS ("
    "SELECT FROM unnest($2::text[], $3::text[]) AS w(s, t) WHERE w.s = t.schemaname AND w.t = "
    "t.tablename)"
    " ORDER BY 1 LIMIT 50";

static const char sql_broken[] =
    "WITH RECURSIVE tree AS (SELECT c.oid FROM pg_publication_tables t JOIN pg_publication p"
    " ON p.pubname = t.pubname AND (p.pubupdate OR p.pubdelete) JOIN pg_namespace n ON n.nspname = "
    "t.schemaname"
    " JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = t.tablename WHERE t.pubname = "
    "$1::name"
    " UNION SELECT i.inhrelid FROM tree t JOIN pg_class c ON c.oid = t.oid AND c.relkind = 'p'"
    " JOIN pg_inherits i ON i.inhparent = t.oid)"
    " SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name, count(*) OVER () AS "
    "total"
    " FROM tree t JOIN pg_class c ON c.oid = t.oid JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE c.relkind = 'r' AND NOT " IDENTIFIED " ORDER BY 1 LIMIT 50";

/* $1 schema, $2 table, $3 capture user. */
static const char sql_watermarks[] =
    "SELECT n.oid IS NOT NULL AS schema_exists, c.oid IS NOT NULL AS exists, c.relkind, "
    "c.relpersistence,"
    " (SELECT count(*) = 2 FROM pg_attribute a WHERE a.attrelid = c.oid AND NOT a.attisdropped"
    " AND a.attname IN ('slot', 'watermark') AND a.atttypid IN ('text'::regtype, "
    "'varchar'::regtype)) AS columns,"
    " EXISTS (SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = "
    "'slot'"
    " WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred "
    "IS NULL"
    " AND i.indexprs IS NULL AND i.indnatts = 1 AND i.indkey[0] = a.attnum) AS one_a_slot,"
    " pg_get_userbyid(c.relowner) AS owner, pg_has_role(c.relowner, 'USAGE') AS admin_owns,"
    " has_schema_privilege(n.oid, 'CREATE') AS admin_makes, has_schema_privilege(me.oid, n.oid, "
    "'USAGE') AS usage,"
    " has_table_privilege(me.oid, c.oid, 'SELECT') AS selects,"
    " has_table_privilege(me.oid, c.oid, 'INSERT') AS inserts,"
    " has_table_privilege(me.oid, c.oid, 'UPDATE') AS updates"
    " FROM (SELECT 1) one LEFT JOIN pg_namespace n ON n.nspname = $1::name"
    " LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = $2::name"
    " LEFT JOIN pg_roles me ON me.rolname = $3::name";

enum {
    Q_QUICK,
    Q_ROLE,
    Q_CHOSEN,
    Q_COLUMNS,
    Q_INDEXES,
    Q_NAKED,
    Q_PUBLICATION,
    Q_SCHEMAS,
    Q_OTHERS,
    Q_BROKEN,
    Q_WATERMARKS,
    Q_COUNT
};

static struct postgres_role *take_role(const char *name, const struct pg_result *r)
{
    struct postgres_role *o = xcalloc(1, sizeof *o);
    o->name = xstrdup(name);
    o->exists = pg_true(r, 0, "exists");
    o->login = pg_true(r, 0, "rolcanlogin");
    o->replication = pg_true(r, 0, "rolreplication");
    o->super = pg_true(r, 0, "rolsuper");
    o->createrole = pg_true(r, 0, "rolcreaterole");
    o->createdb = pg_true(r, 0, "rolcreatedb");
    o->bypassrls = pg_true(r, 0, "rolbypassrls");
    o->expired = pg_true(r, 0, "expired");
    o->connections = (int)pg_number(r, 0, "rolconnlimit", -1);
    o->is_admin = pg_true(r, 0, "is_admin");
    o->connects = pg_true(r, 0, "connects");
    o->rds_role = pg_true(r, 0, "rds_role");
    o->rds_member = pg_true(r, 0, "rds_member");
    o->reads_all = pg_true(r, 0, "reads_all");
    o->member_of = xstrdup(pg_cell(r, 0, "member_of"));
    return o;
}

/* Names of a result that has the total number beside each. */
static char **take_names(const struct pg_result *r, size_t *count, int *total)
{
    *count = (size_t)pg_rows(r);
    *total = *count > 0 ? (int)pg_number(r, 0, "total", 0) : 0;
    char **names = xcalloc(*count, sizeof *names);
    for (size_t i = 0; i < *count; i++)
        names[i] = xstrdup(pg_cell(r, (int)i, "name"));
    return names;
}

static struct postgres_publication *take_publication(const char *name, const struct pg_item *items)
{
    const struct pg_result *r = items[Q_PUBLICATION].result;
    struct postgres_publication *p = xcalloc(1, sizeof *p);
    p->name = xstrdup(name);
    p->exists = pg_true(r, 0, "exists");
    p->all_tables = pg_true(r, 0, "puballtables");
    p->inserts = pg_true(r, 0, "pubinsert");
    p->updates = pg_true(r, 0, "pubupdate");
    p->deletes = pg_true(r, 0, "pubdelete");
    p->via_root = pg_true(r, 0, "via_root");
    p->owner = xstrdup(pg_cell(r, 0, "owner"));
    p->admin_owns = pg_true(r, 0, "admin_owns");
    p->members = (int)pg_number(r, 0, "members", 0);
    p->watermarks = pg_true(r, 0, "watermarks");
    p->watermarks_listed = pg_true(r, 0, "watermarks_listed");
    p->all_elsewhere = xstrdup(pg_cell(r, 0, "all_elsewhere"));
    if (pg_rows(items[Q_SCHEMAS].result) > 0)
        p->schemas = (int)pg_number(items[Q_SCHEMAS].result, 0, "count", 0);
    p->others = take_names(items[Q_OTHERS].result, &p->other_count, &p->other_total);
    p->broken = take_names(items[Q_BROKEN].result, &p->broken_count, &p->broken_total);
    return p;
}

static struct postgres_watermarks *take_watermarks(const char *name, const struct pg_result *r)
{
    struct postgres_watermarks *w = xcalloc(1, sizeof *w);
    w->name = xstrdup(name);
    w->schema_exists = pg_true(r, 0, "schema_exists");
    w->exists = pg_true(r, 0, "exists");
    w->kind = pg_cell(r, 0, "relkind")[0];
    w->persistence = pg_cell(r, 0, "relpersistence")[0];
    w->columns = pg_true(r, 0, "columns");
    w->unique = pg_true(r, 0, "one_a_slot");
    w->owner = xstrdup(pg_cell(r, 0, "owner"));
    w->admin_owns = pg_true(r, 0, "admin_owns");
    w->admin_makes = pg_true(r, 0, "admin_makes");
    w->usage = pg_true(r, 0, "usage");
    w->selects = pg_true(r, 0, "selects");
    w->inserts = pg_true(r, 0, "inserts");
    w->updates = pg_true(r, 0, "updates");
    return w;
}

void postgres_found_release(struct postgres_found *f)
{
    postgres_role_free(f->role);
    postgres_tables_free(f->chosen);
    postgres_publication_free(f->publication);
    postgres_watermarks_free(f->watermarks);
    *f = (struct postgres_found){0};
}

/* The wanted tables as two array literals, with the watermarks table behind them in a second pair.
 */
struct arrays {
    char *schemas, *tables;         /* chosen */
    char *all_schemas, *all_tables; /* and watermarks */
    char *mark_schema, *mark_table;
};

static void release_arrays(struct arrays *a)
{
    xfree(a->schemas);
    xfree(a->tables);
    xfree(a->all_schemas);
    xfree(a->all_tables);
    xfree(a->mark_schema);
    xfree(a->mark_table);
}

static int make_arrays(const struct postgres_wanted *w, struct arrays *a, struct problem *err)
{
    *a = (struct arrays){0};
    size_t n = w->table_count;
    char **schemas = xcalloc(n + 1, sizeof *schemas);
    char **tables = xcalloc(n + 1, sizeof *tables);
    int rc = postgres_split_table(w->watermarks, &a->mark_schema, &a->mark_table, err);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = postgres_split_table(w->tables[i], &schemas[i], &tables[i], err);
    if (rc == 0) {
        a->schemas = postgres_array_literal((const char *const *)schemas, n);
        a->tables = postgres_array_literal((const char *const *)tables, n);
        schemas[n] = xstrdup(a->mark_schema);
        tables[n] = xstrdup(a->mark_table);
        a->all_schemas = postgres_array_literal((const char *const *)schemas, n + 1);
        a->all_tables = postgres_array_literal((const char *const *)tables, n + 1);
    }
    for (size_t i = 0; i <= n; i++) {
        xfree(schemas[i]);
        xfree(tables[i]);
    }
    xfree(schemas);
    xfree(tables);
    if (rc != 0)
        release_arrays(a);
    return rc;
}

static void take_all(const struct postgres_wanted *w, const struct pg_item *items,
                     struct postgres_found *out)
{
    out->role = take_role(w->user, items[Q_ROLE].result);
    struct postgres_chosen_results chosen = {
        .tables = items[Q_CHOSEN].result,
        .columns = items[Q_COLUMNS].result,
        .indexes = items[Q_INDEXES].result,
        .naked = items[Q_NAKED].result,
    };
    out->chosen = postgres_take_chosen(&chosen);
    out->publication = take_publication(w->publication, items);
    out->watermarks = take_watermarks(w->watermarks, items[Q_WATERMARKS].result);
}

static struct pg_item ask(const char *name, const char *sql, const char *const *params, int count)
{
    return (struct pg_item){.name = name, .sql = sql, .params = params, .param_count = count};
}

int postgres_survey_found(struct run *run, struct pg *pg, const struct postgres_wanted *w,
                          struct postgres_found *out, struct problem *err)
{
    *out = (struct postgres_found){0};
    struct arrays a;
    if (make_arrays(w, &a, err) != 0)
        return -1;
    int version = pg_server_version(pg);
    AUTO(xfree) char *chosen = postgres_sql_chosen(version);
    const char *const role[] = {w->user};
    const char *const tables[] = {a.schemas, a.tables, w->user, w->publication};
    const char *const publication[] = {w->publication, a.mark_schema, a.mark_table};
    const char *const members[] = {w->publication, a.all_schemas, a.all_tables};
    const char *const marks[] = {a.mark_schema, a.mark_table, w->user};
    struct pg_item items[Q_COUNT] = {
        [Q_QUICK] = ask("jit", postgres_sql_quick(version), NULL, 0),
        [Q_ROLE] = ask("capture user", sql_role, role, 1),
        [Q_CHOSEN] = ask("chosen tables", chosen, tables, 4),
        [Q_COLUMNS] = ask("columns", version >= 120000 ? sql_columns : sql_columns_10, tables, 2),
        [Q_INDEXES] = ask("indexes", sql_indexes, tables, 2),
        [Q_NAKED] = ask("partitions", sql_naked, tables, 2),
        [Q_PUBLICATION] = ask("publication", sql_publication, publication, 3),
        [Q_SCHEMAS] = ask("published schemas", version >= 150000 ? sql_schemas : sql_no_schemas,
                          publication, 1),
        [Q_OTHERS] = ask("published tables", sql_others, members, 3),
        [Q_BROKEN] = ask("replica identities", sql_broken, publication, 1),
        [Q_WATERMARKS] = ask("watermarks table", sql_watermarks, marks, 3),
    };
    int rc = pg_pipeline(run, pg, items, Q_COUNT, err);
    if (rc == 0)
        rc = postgres_first_failure(items, Q_COUNT, err);
    if (rc == 0)
        take_all(w, items, out);
    pg_items_release(items, Q_COUNT);
    release_arrays(&a);
    return rc;
}
