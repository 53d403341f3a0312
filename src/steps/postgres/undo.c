/* Taking back what was made, by what the journal kept of it; each in one transaction. Nothing is
 * dropped with CASCADE, and what is gone already is fine. */
#include <string.h>

#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "postgres/names.h"
#include "postgres/transact.h"
#include "steps/postgres/changes.h"
#include "steps/postgres/inputs.h"

struct undoing {
    struct pg *pg;
    char **statements;
    size_t count;
};

static void add(struct undoing *u, char *sql)
{
    u->statements = xrealloc(u->statements, u->count + 1, sizeof *u->statements);
    u->statements[u->count++] = sql;
}

/* What has the same name on another server or in another database is not ours. */
static int same_place(struct run *run, const struct change *c, struct problem *err)
{
    const char *made = node_get_text(c->args, "place"); /* NULL: by a version that kept none */
    AUTO(xfree)
    char *now = postgres_place(run_text(run, "postgres.host"), run_text(run, "postgres.port"),
                               run_text(run, "postgres.database"));
    if (made == NULL || strcmp(made, now) == 0)
        return 0;
    problem_fail(err, PROBLEM_CONFLICT, "place", "%s was made at %s, not at %s", c->title, made,
                 now);
    problem_why(err, "What has the same name there may belong to others: it is not touched.");
    problem_fix(err, WHO_YOU, "answer host, port and database as they were then, and undo again");
    return -1;
}

static int start(struct run *run, const struct change *c, struct undoing *u, struct problem *err)
{
    if (same_place(run, c, err) != 0)
        return -1;
    struct postgres_login login = postgres_admin_login(run);
    *u = (struct undoing){.pg = postgres_open(run, &login, POSTGRES_LOCK_WAIT_MS, err)};
    return u->pg != NULL ? 0 : -1;
}

/* Carries the statements out when rc is 0 and cleans up. */
static int finish(struct run *run, struct undoing *u, int rc, struct problem *err)
{
    if (rc == 0 && u->count > 0) {
        struct postgres_work work = {.statements = (const char *const *)u->statements,
                                     .count = u->count};
        rc = postgres_transact(run, u->pg, &work, err);
    }
    for (size_t i = 0; i < u->count; i++)
        xfree(u->statements[i]);
    xfree(u->statements);
    pg_close(u->pg);
    return rc;
}

/* 1 when the query about one name has a row, 0 when not, -1 with err. */
static int exists(struct run *run, struct pg *pg, const char *sql, const char *name,
                  struct problem *err)
{
    const char *const params[] = {name};
    AUTO(pg_result_free) struct pg_result *r = pg_query(run, pg, sql, params, 1, err);
    return r == NULL ? -1 : pg_rows(r) > 0;
}

static const char has_role[] = "SELECT 1 FROM pg_roles WHERE rolname = $1::name";
static const char has_table[] = "SELECT 1 WHERE to_regclass($1) IS NOT NULL";
static const char has_publication[] = "SELECT 1 FROM pg_publication WHERE pubname = $1::name";

static const char *argument(const struct change *c, const char *key)
{
    const char *text = node_get_text(c->args, key);
    return text != NULL ? text : "";
}

/* What the journal lists of a change; "" for what a hand made of another form. */
static const char *item_at(const struct node *items, size_t i)
{
    const char *text = node_text(items->items[i]);
    return text != NULL ? text : "";
}

int postgres_undo_role(struct run *run, const struct change *c, struct problem *err)
{
    struct undoing u;
    if (start(run, c, &u, err) != 0)
        return -1;
    const char *name = argument(c, "user");
    AUTO(xfree) char *user = pg_quote_ident(name);
    int there = exists(run, u.pg, has_role, name, err);
    if (there == 1 && postgres_announced(c, "create")) {
        add(&u, xasprintf("DROP ROLE %s", user));
    } else if (there == 1) {
        if (postgres_announced(c, "login"))
            add(&u, xasprintf("ALTER ROLE %s WITH NOLOGIN", user));
        if (postgres_announced(c, "replication"))
            add(&u, xasprintf("ALTER ROLE %s WITH NOREPLICATION", user));
        if (postgres_announced(c, "rds_replication"))
            add(&u, xasprintf("REVOKE rds_replication FROM %s", user));
    }
    int rc = finish(run, &u, there < 0 ? -1 : 0, err);
    if (rc != 0 && err != NULL && err->code != NULL && strcmp(err->code, "2BP01") == 0)
        problem_fix(err, WHO_DBA,
                    "it holds more than was given here, or a table was renamed since: REVOKE what "
                    "is named from %s, then undo again",
                    user);
    return rc;
}

/* "usage audit", "select public.orders", "connect". */
static int revoke(struct run *run, struct undoing *u, const char *item, const char *user,
                  struct problem *err)
{
    if (strcmp(item, "connect") == 0) {
        AUTO(xfree) char *database = pg_quote_ident(run_text(run, "postgres.database"));
        add(u, xasprintf("REVOKE CONNECT ON DATABASE %s FROM %s", database, user));
    } else if (strncmp(item, "usage ", 6) == 0) {
        add(u, xasprintf("REVOKE USAGE ON SCHEMA %s FROM %s", item + 6, user));
    } else if (strncmp(item, "select ", 7) == 0) {
        int there = exists(run, u->pg, has_table, item + 7, err);
        if (there == 1)
            add(u, xasprintf("REVOKE SELECT ON %s FROM %s", item + 7, user));
        return there < 0 ? -1 : 0;
    }
    return 0;
}

int postgres_undo_grants(struct run *run, const struct change *c, struct problem *err)
{
    struct undoing u;
    if (start(run, c, &u, err) != 0)
        return -1;
    const char *name = argument(c, "user");
    AUTO(xfree) char *user = pg_quote_ident(name);
    const struct node *items = node_get(c->args, "items");
    int rc = exists(run, u.pg, has_role, name, err);
    for (size_t i = 0; rc == 1 && items != NULL && i < items->count; i++)
        if (revoke(run, &u, item_at(items, i), user, err) != 0)
            rc = -1;
    return finish(run, &u, rc < 0 ? -1 : 0, err);
}

int postgres_undo_watermarks(struct run *run, const struct change *c, struct problem *err)
{
    struct undoing u;
    if (start(run, c, &u, err) != 0)
        return -1;
    const char *table = argument(c, "watermarks");
    AUTO(xfree) char *user = pg_quote_ident(argument(c, "user"));
    int there = exists(run, u.pg, has_table, table, err);
    if (there == 1 && postgres_announced(c, "create")) {
        add(&u, xasprintf("DROP TABLE %s", table));
    } else if (there == 1) {
        static const char *const rights[] = {"SELECT", "INSERT", "UPDATE"};
        for (size_t i = 0; i < ARRAY_LEN(rights); i++)
            if (postgres_announced(c, rights[i]))
                add(&u, xasprintf("REVOKE %s ON %s FROM %s", rights[i], table, user));
    }
    return finish(run, &u, there < 0 ? -1 : 0, err);
}

/* A table that is still handed out would break by losing its identity. */
static int still_published(struct run *run, struct pg *pg, const char *table, struct problem *err)
{
    static const char sql[] =
        "SELECT p.pubname FROM pg_publication p JOIN pg_publication_tables t ON t.pubname = "
        "p.pubname"
        " JOIN pg_namespace n ON n.nspname = t.schemaname JOIN pg_class c ON c.relnamespace = n.oid"
        " AND c.relname = t.tablename WHERE c.oid = to_regclass($1) AND (p.pubupdate OR "
        "p.pubdelete) LIMIT 1";
    const char *const params[] = {table};
    AUTO(pg_result_free) struct pg_result *r = pg_query(run, pg, sql, params, 1, err);
    if (r == NULL)
        return -1;
    if (pg_rows(r) == 0)
        return 0;
    problem_fail(err, PROBLEM_CONFLICT, "55000", "%s is still in publication %s", table,
                 pg_cell(r, 0, "pubname"));
    problem_why(
        err,
        "Without this replica identity UPDATE and DELETE on it would fail in the application.");
    problem_fix(err, WHO_YOU, "take it out of the publication first");
    return -1;
}

int postgres_undo_repair(struct run *run, const struct change *c, struct problem *err)
{
    struct undoing u;
    if (start(run, c, &u, err) != 0)
        return -1;
    const char *table = argument(c, "table");
    const char *word = argument(c, "before")[0] == 'n' ? "NOTHING" : "DEFAULT";
    const struct node *items = node_get(c->args, "items");
    int rc = exists(run, u.pg, has_table, table, err);
    if (rc == 1 && still_published(run, u.pg, table, err) != 0)
        rc = -1;
    if (rc == 1)
        add(&u, xasprintf("ALTER TABLE %s REPLICA IDENTITY %s", table, word));
    for (size_t i = 0; rc == 1 && items != NULL && i < items->count; i++) {
        const char *item = item_at(items, i); /* "full <partition>" */
        if (strncmp(item, "full ", 5) == 0)
            add(&u, xasprintf("ALTER TABLE %s REPLICA IDENTITY DEFAULT", item + 5));
    }
    return finish(run, &u, rc < 0 ? -1 : 0, err);
}

/* Only members that were added here, and are in it still. */
static int drop_members(struct run *run, struct undoing *u, const struct change *c,
                        const char *name, struct problem *err)
{
    static const char sql[] =
        "SELECT 1 FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid"
        " WHERE p.pubname = $2::name AND r.prrelid = to_regclass($1)";
    const struct node *items = node_get(c->args, "items");
    for (size_t i = 0; items != NULL && i < items->count; i++) {
        const char *item = item_at(items, i);
        if (strncmp(item, "add ", 4) != 0)
            continue;
        const char *const params[] = {item + 4, argument(c, "publication")};
        AUTO(pg_result_free) struct pg_result *r = pg_query(run, u->pg, sql, params, 2, err);
        if (r == NULL)
            return -1;
        if (pg_rows(r) > 0)
            add(u, xasprintf("ALTER PUBLICATION %s DROP TABLE %s", name, item + 4));
    }
    return 0;
}

int postgres_undo_publication(struct run *run, const struct change *c, struct problem *err)
{
    struct undoing u;
    if (start(run, c, &u, err) != 0)
        return -1;
    AUTO(xfree) char *name = pg_quote_ident(argument(c, "publication"));
    int there = exists(run, u.pg, has_publication, argument(c, "publication"), err);
    int rc = there < 0 ? -1 : 0;
    if (there == 1 && postgres_announced(c, "create")) {
        add(&u, xasprintf("DROP PUBLICATION %s", name));
    } else if (there == 1) {
        rc = drop_members(run, &u, c, name, err);
        if (rc == 0 && postgres_announced(c, "via root"))
            add(&u,
                xasprintf("ALTER PUBLICATION %s SET (publish_via_partition_root = false)", name));
    }
    return finish(run, &u, rc, err);
}
