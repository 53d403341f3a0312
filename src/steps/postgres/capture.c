/* Checks as the capture user that only read: login, replication connection, tables, publication. A
 * real login: SET ROLE would test neither password nor pg_hba nor replication. */
#include <string.h>

#include "core/mem.h"
#include "core/text.h"
#include "postgres/facts.h"
#include "postgres/names.h"
#include "steps/postgres/inputs.h"
#include "steps/postgres/postgres.h"

#define BATCH 200 /* statements in one round trip */
#define FROM_HERE "It is tested from this machine, not from Estuary."

static void tried(struct outcome *out, const struct postgres_login *l, const char *what)
{
    outcome_tried(out, "%s as %s on %s:%s/%s, TLS mode %s", what, l->user, l->host, l->port,
                  l->database, l->sslmode);
}

/* --- login ------------------------------------------------------------------------------------ */

static void give_login(struct outcome *out, bool works, bool refused)
{
    outcome_give(out, FACT_LOGIN,
                 fact_new(&postgres_login_type, postgres_login_state_new(works, refused)));
}

/* The connector compares the user literally with pg_roles and the database with the configured one.
 */
static void judge_identity(struct outcome *out, const struct pg_result *r,
                           const struct postgres_login *l)
{
    const char *user = pg_cell(r, 0, "user"), *database = pg_cell(r, 0, "database");
    if (strcmp(user, l->user) != 0) {
        outcome_fail(out, "user", "the server calls the user %s, not %s", user, l->user);
        outcome_why(out, "Estuary looks for a role of exactly the name that is configured.");
        outcome_fix(out, WHO_YOU, "write %s", user);
        outcome_suggest(out, "postgres.user", user);
    } else if (strcmp(database, l->database) != 0) {
        outcome_fail(out, "database", "the connection led to database %s, not %s", database,
                     l->database);
        outcome_why(out, "A pooler in between has rules of its own.");
        outcome_fix(out, WHO_YOU, "use the server's own address");
    } else {
        outcome_pass(out, "%s in %s", user, database);
    }
}

static void login_failed(struct outcome *out, const struct problem *p,
                         const struct postgres_login *l)
{
    bool refused = p->code != NULL && strcmp(p->code, "28P01") == 0;
    outcome_problem(out, p);
    if (refused)
        outcome_fix(out, WHO_YOU,
                    "type the password of %s; or clear it: then the plan sets a new one", l->user);
    give_login(out, false, refused);
}

static void run_connect_capture(struct run *run, struct outcome *out)
{
    struct postgres_login login = postgres_capture_login(run);
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct postgres_lease lease;
    tried(out, &login, "log in");
    if (login.password == NULL) {
        outcome_fail(out, "no password", "the password of %s is not there yet", login.user);
        outcome_fix(out, WHO_YOU, "type it, or leave it empty and apply the plan, which makes one");
        return;
    }
    if (postgres_lease(run, &login, &lease, &err) != 0) {
        login_failed(out, &err, &login);
        return;
    }
    AUTO(pg_result_free)
    struct pg_result *r = pg_query(
        run, lease.pg, "SELECT current_user::text AS \"user\", current_database() AS database",
        NULL, 0, &err);
    postgres_return(run, &lease);
    if (r == NULL) {
        outcome_problem(out, &err);
        return;
    }
    give_login(out, true, false);
    judge_identity(out, r, &login);
}

const struct check postgres_check_connect_capture = {
    .id = "postgres.connect_capture",
    .title = "the capture user logs in",
    .reads = (const char *const[]){READS_CAPTURE, NULL},
    .gives = (const char *const[]){FACT_LOGIN, NULL},
    .after = (const char *const[]){"postgres.found", NULL},
    .needs = (const char *const[]){"postgres.role", "postgres.password", "postgres.grants", NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_READS,
    .service = "postgres",
    .cause = "The password is not the role's, the role may not log in or connect to the database, "
             "or pg_hba.conf has no line for it.",
    .fix = "Type the right password, or clear it so that the plan sets a new one; else see the "
           "message. " FROM_HERE,
    .run = run_connect_capture,
};

/* --- replication connection ------------------------------------------------------------------- */

static void identify_failed(struct outcome *out, const struct problem *p)
{
    outcome_problem(out, p);
    if (p->code == NULL || strcmp(p->code, "42601") != 0)
        return;
    outcome_fail(out, "42601", "a pooler answers: it takes replication commands for SQL");
    outcome_why(
        out,
        "It swallowed the request for a replication connection, which Estuary's capture needs.");
    outcome_fix(out, WHO_YOU, "use the server's own address");
}

static void run_replication_connection(struct run *run, struct outcome *out)
{
    struct postgres_login login = postgres_capture_login(run);
    AUTO_PROBLEM err = PROBLEM_INIT;
    tried(out, &login, "replication connection, IDENTIFY_SYSTEM");
    struct pg *pg = postgres_open_replication(run, &login, 0, &err);
    if (pg == NULL) {
        outcome_problem(out, &err);
        return;
    }
    AUTO(pg_result_free) struct pg_result *r = pg_query(run, pg, "IDENTIFY_SYSTEM", NULL, 0, &err);
    pg_close(pg);
    if (r == NULL) {
        identify_failed(out, &err);
        return;
    }
    const char *database = pg_rows(r) > 0 ? pg_cell(r, 0, "dbname") : "";
    if (strcmp(database, login.database) != 0) {
        outcome_fail(out, "database", "the replication connection led to \"%s\", not %s", database,
                     login.database);
        outcome_fix(out, WHO_YOU, "use the server's own address");
        return;
    }
    outcome_pass(out, "log at %s, timeline %s", pg_cell(r, 0, "xlogpos"),
                 pg_cell(r, 0, "timeline"));
}

const struct check postgres_check_replication_connection = {
    .id = "postgres.replication_connection",
    .title = "opens a replication connection",
    .reads = (const char *const[]){READS_CAPTURE, NULL},
    .after = (const char *const[]){"postgres.connect_capture", NULL},
    .needs = (const char *const[]){"postgres.role", "postgres.password", NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_READS,
    .service = "postgres",
    .cause = "The role has no right to replicate, a pooler stands in between, or pg_hba.conf has "
             "no line for this database and user.",
    .fix = "ALTER ROLE … REPLICATION (RDS, Aurora: GRANT rds_replication); use the direct address; "
           "add a pg_hba line.",
    .run = run_replication_connection,
};

/* --- SELECT ----------------------------------------------------------------------------------- */

static const char *select_fault(const struct problem *p, const char **fix)
{
    const char *code = p->code != NULL ? p->code : "";
    *fix = NULL;
    if (strcmp(code, "42501") == 0) {
        bool schema = p->evidence != NULL && strstr(p->evidence, "schema") != NULL;
        *fix = schema ? "GRANT USAGE ON SCHEMA …" : "GRANT SELECT on the whole table";
        return schema ? "no USAGE on its schema" : "no SELECT on the whole table";
    }
    if (strcmp(code, "42P01") == 0) {
        *fix = "leave it out, or correct its name";
        return "there is no such table";
    }
    if (strcmp(code, "55P03") == 0) {
        *fix = "check again later";
        return "is locked by another transaction (ALTER TABLE …)";
    }
    return p->what != NULL ? p->what : "cannot be read";
}

struct selecting {
    struct outcome *out;
    size_t bad;
    bool denied; /* at least one */
};

static void judge_select(struct selecting *s, const char *table, const struct pg_item *item)
{
    if (item->result != NULL) {
        outcome_item(s->out, STATUS_PASSED, table, "read", NULL);
        return;
    }
    const char *fix;
    const char *fault = select_fault(&item->problem, &fix);
    outcome_item(s->out, STATUS_FAILED, table, fault, fix);
    s->bad++;
    s->denied |= item->problem.code != NULL && strcmp(item->problem.code, "42501") == 0;
}

/* One batch from `from` on; -1 with err when the connection failed. */
static int select_batch(struct run *run, struct pg *pg, const struct value *tables, size_t from,
                        size_t n, struct selecting *s, struct problem *err)
{
    struct pg_item items[BATCH] = {0};
    char *sql[BATCH] = {0};
    for (size_t i = 0; i < n; i++) {
        sql[i] = xasprintf("SELECT * FROM %s LIMIT 0", tables->items[from + i]);
        items[i] = (struct pg_item){.name = NULL, .sql = sql[i]};
    }
    int rc = pg_pipeline(run, pg, items, n, err);
    for (size_t i = 0; i < n; i++) {
        if (rc == 0)
            judge_select(s, tables->items[from + i], &items[i]);
        xfree(sql[i]);
    }
    pg_items_release(items, n);
    return rc;
}

static void run_select(struct run *run, struct outcome *out)
{
    struct postgres_login login = postgres_capture_login(run);
    const struct value *tables = run_value(run, "postgres.tables");
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct postgres_lease lease;
    tried(out, &login, "SELECT * FROM each table LIMIT 0");
    if (postgres_lease(run, &login, &lease, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    struct selecting s = {.out = out};
    size_t n = 0;
    int rc = 0;
    for (size_t i = 0; i < tables->count && rc == 0; i += n) {
        n = tables->count - i < BATCH ? tables->count - i : BATCH;
        run_progress(run, (int64_t)i, (int64_t)tables->count, NULL);
        rc = select_batch(run, lease.pg, tables, i, n, &s, &err);
    }
    postgres_return(run, &lease);
    if (rc != 0) {
        outcome_problem(out, &err);
    } else if (s.bad == 0) {
        outcome_pass(out, "%zu table%s read", tables->count, tables->count == 1 ? "" : "s");
    } else {
        outcome_fail(out, s.denied ? "42501" : "table", "%zu of %zu tables cannot be read", s.bad,
                     tables->count);
        if (s.denied)
            outcome_why(out, "Estuary's own check does not notice a denied SELECT; its backfill "
                             "would stop in the "
                             "middle.");
        outcome_fix(out, s.denied ? WHO_DBA : WHO_YOU, "see each line");
    }
}

const struct check postgres_check_select = {
    .id = "postgres.select",
    .title = "reads each chosen table",
    .reads = (const char *const[]){READS_CAPTURE, "postgres.tables", NULL},
    .after = (const char *const[]){"postgres.connect_capture", NULL},
    .needs = (const char *const[]){"postgres.role", "postgres.password", "postgres.grants", NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_READS,
    .service = "postgres",
    .deadline_ms = 60000,
    .cause = "USAGE on the schema or SELECT on the whole table is missing, or the table is gone.",
    .fix = "Apply the plan, or GRANT USAGE ON SCHEMA and SELECT ON TABLE to the capture user.",
    .run = run_select,
};

/* --- published -------------------------------------------------------------------------------- */

/* $1 publication, $2 schemas, $3 tables: those that it does not hand out. */
static const char sql_unpublished[] =
    "SELECT quote_ident(w.s) || '.' || quote_ident(w.t) AS name FROM unnest($2::text[], "
    "$3::text[]) AS w(s, t)"
    " WHERE NOT EXISTS (SELECT FROM pg_publication_tables p WHERE p.pubname = $1::name"
    " AND p.schemaname = w.s::name AND p.tablename = w.t::name) ORDER BY 1";

static struct pg_result *ask_unpublished(struct run *run, struct pg *pg, struct problem *err)
{
    const struct value *tables = run_value(run, "postgres.tables");
    size_t n = tables->count + 1;
    char **schemas = xcalloc(n, sizeof *schemas);
    char **names = xcalloc(n, sizeof *names);
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        const char *name =
            i < tables->count ? tables->items[i] : run_text(run, "postgres.watermarks");
        rc = postgres_split_table(name, &schemas[i], &names[i], err);
    }
    struct pg_result *r = NULL;
    if (rc == 0) {
        AUTO(xfree) char *s = postgres_array_literal((const char *const *)schemas, n);
        AUTO(xfree) char *t = postgres_array_literal((const char *const *)names, n);
        const char *const params[] = {run_text(run, "postgres.publication"), s, t};
        r = pg_query(run, pg, sql_unpublished, params, 3, err);
    }
    for (size_t i = 0; i < n; i++) {
        xfree(schemas[i]);
        xfree(names[i]);
    }
    xfree(schemas);
    xfree(names);
    return r;
}

static void run_published(struct run *run, struct outcome *out)
{
    struct postgres_login login = postgres_capture_login(run);
    const char *publication = run_text(run, "postgres.publication");
    size_t wanted = run_value(run, "postgres.tables")->count + 1;
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct postgres_lease lease;
    tried(out, &login, "pg_publication_tables");
    if (postgres_lease(run, &login, &lease, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    AUTO(pg_result_free) struct pg_result *r = ask_unpublished(run, lease.pg, &err);
    postgres_return(run, &lease);
    if (r == NULL) {
        outcome_problem(out, &err);
        return;
    }
    size_t missing = (size_t)pg_rows(r);
    for (int i = 0; i < pg_rows(r); i++)
        outcome_item(out, STATUS_FAILED, pg_cell(r, i, "name"), "is not handed out", NULL);
    if (missing == 0) {
        outcome_pass(out, "%zu tables and watermarks in %s", wanted - 1, publication);
        return;
    }
    outcome_fail(out, "publication", "%s does not hand out %zu of %zu tables", publication, missing,
                 wanted);
    outcome_why(out, "Estuary finds only what the publication hands out, and shows no error for "
                     "what it does not.");
    outcome_fix(out, WHO_YOU,
                "see postgres.publication and postgres.replica_identity; apply the plan, or leave "
                "them out");
}

const struct check postgres_check_published = {
    .id = "postgres.published",
    .title = "sees its tables in the publication",
    .reads = (const char *const[]){READS_CAPTURE, "postgres.tables", "postgres.publication",
                                   "postgres.watermarks", NULL},
    .after = (const char *const[]){"postgres.connect_capture", NULL},
    .needs = (const char *const[]){"postgres.role", "postgres.password", "postgres.watermarks",
                                   "postgres.publication", NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_READS,
    .service = "postgres",
    .cause = "The publication is missing, lacks a table, or hands out partitions instead of their "
             "table.",
    .fix = "Apply the plan; a table that is left out of it for want of a replica identity must be "
           "repaired or left out.",
    .run = run_published,
};
