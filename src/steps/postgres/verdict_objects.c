/* Verdicts on user, grants, watermarks table and publication as the admin sees them. What a planned
 * change will mend waits for it (`needs`); what is left is said here. No I/O. */
#include <string.h>

#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "net/pg.h"
#include "postgres/diff.h"
#include "steps/postgres/postgres.h"

#define CONNECTIONS_NEEDED 5 /* the connector's pool, its replication connection, and ours */
#define MAKE_IT "open the plan and apply it, or hand its SQL to the DBA"

static const struct postgres_role *role(struct run *run)
{
    return run_fact(run, FACT_ROLE, &postgres_role_type);
}

/* --- the right to replicate ------------------------------------------------------------------ */

static void run_replication_right(struct run *run, struct outcome *out)
{
    const struct postgres_role *r = role(run);
    const struct postgres_server *s = run_fact(run, FACT_SERVER, &postgres_server_type);
    bool granted = postgres_recipe(s->platform)->grants_replication;
    AUTO(xfree) char *user = pg_quote_ident(r->name);
    if (!r->exists) {
        outcome_fail(out, "no role", "user %s does not exist", r->name);
        outcome_fix(out, WHO_YOU, MAKE_IT);
    } else if (!r->login) {
        outcome_fail(out, "28000", "%s may not log in", r->name);
        outcome_fix(out, WHO_DBA, "ALTER ROLE %s LOGIN;", user);
    } else if (r->expired) {
        outcome_fail(out, "28P01", "the password of %s has expired (VALID UNTIL)", r->name);
        outcome_fix(out, WHO_DBA, "ALTER ROLE %s VALID UNTIL 'infinity';", user);
    } else if (r->connections >= 0 && r->connections < CONNECTIONS_NEEDED) {
        outcome_fail(out, "53300", "%s may open only %d connections", r->name, r->connections);
        outcome_why(out, "Estuary opens up to %d at a time.", CONNECTIONS_NEEDED);
        outcome_fix(out, WHO_DBA, "ALTER ROLE %s CONNECTION LIMIT -1;", user);
        outcome_copy_command(out, "ALTER ROLE %s CONNECTION LIMIT -1;", user);
    } else if (r->replication || r->rds_member) {
        outcome_pass(out, r->replication ? "REPLICATION" : "member of rds_replication");
    } else {
        outcome_fail(out, "42501", "%s may not replicate", r->name);
        outcome_why(out, "Estuary looks for the attribute on this very role, or for membership of "
                         "rds_replication; being a superuser or inheriting it from a role is not "
                         "enough for its check.");
        outcome_fix(out, WHO_DBA,
                    granted ? "GRANT rds_replication TO %s;" : "ALTER ROLE %s REPLICATION;", user);
        outcome_copy_command(
            out, granted ? "GRANT rds_replication TO %s;" : "ALTER ROLE %s REPLICATION;", user);
    }
}

const struct check postgres_check_replication_right = {
    .id = "postgres.replication_right",
    .title = "the capture user may replicate",
    .reads = (const char *const[]){"postgres.user", FACT_ROLE, FACT_SERVER, NULL},
    .needs = (const char *const[]){"postgres.role", NULL},
    .severity = SEV_BLOCKS,
    .cause = "The capture user does not exist, may not log in, or has neither REPLICATION nor, on "
             "RDS and Aurora, rds_replication. Role attributes are not inherited.",
    .fix = "Apply the plan, or: ALTER ROLE … LOGIN REPLICATION; on RDS and Aurora GRANT "
           "rds_replication TO ….",
    .run = run_replication_right,
};

/* --- more rights than needed ----------------------------------------------------------------- */

static void add_word(struct text *list, bool has, const char *word)
{
    if (!has)
        return;
    text_sep(list, ", ");
    text_add(list, word);
}

/* Roles that give more than reading; by their names, on any platform. */
static const char *const strong_roles[] = {
    "rds_superuser",        "cloudsqlsuperuser",     "alloydbsuperuser",
    "azure_pg_admin",       "neon_superuser",        "pg_write_all_data",
    "pg_read_server_files", "pg_write_server_files", "pg_execute_server_program",
};

/* Directly; member_of is a list "a, b". */
static bool is_member(const struct postgres_role *r, const char *role)
{
    AUTO(xfree) char *list = xasprintf(", %s, ", r->member_of);
    AUTO(xfree) char *word = xasprintf(", %s, ", role);
    return strstr(list, word) != NULL;
}

static void run_excess(struct run *run, struct outcome *out)
{
    const struct postgres_role *r = role(run);
    const struct postgres_tables *t = run_fact(run, FACT_CHOSEN, &postgres_chosen_type);
    const char *watermarks = run_text(run, "postgres.watermarks");
    AUTO_TEXT much = TEXT_INIT;
    size_t writable = 0;
    for (size_t i = 0; i < t->count && !r->super; i++) {
        if (!t->rows[i].writes || strcmp(t->rows[i].written, watermarks) == 0)
            continue;
        writable++;
        outcome_item(out, STATUS_WARNED, t->rows[i].written, "the capture user may change its rows",
                     NULL);
    }
    add_word(&much, r->is_admin, "is the admin itself");
    add_word(&much, r->super, "SUPERUSER");
    add_word(&much, r->createrole, "CREATEROLE");
    add_word(&much, r->createdb, "CREATEDB");
    for (size_t i = 0; i < ARRAY_LEN(strong_roles); i++)
        add_word(&much, is_member(r, strong_roles[i]), strong_roles[i]);
    if (writable > 0) {
        text_sep(&much, ", ");
        text_addf(&much, "writes to %zu of the chosen tables", writable);
    }
    if (much.len == 0) {
        outcome_pass(out, r->exists ? "none" : "it is still to be made, with the least");
        return;
    }
    outcome_warn(out, "%s: %s", r->name, much.s);
    outcome_why(out, "Its password leaves your network: Estuary keeps it. Reading, replicating and "
                     "writing the watermarks is all it needs.");
    outcome_fix(out, WHO_YOU, "let the plan make a user of its own: choose another name for it");
}

const struct check postgres_check_excess_rights = {
    .id = "postgres.excess_rights",
    .title = "the capture user has no more rights than needed",
    .reads =
        (const char *const[]){"postgres.user", "postgres.watermarks", FACT_ROLE, FACT_CHOSEN, NULL},
    .needs = (const char *const[]){"postgres.role", NULL},
    .severity = SEV_WARNS,
    .cause = "An existing role was adopted that is an admin, a superuser, may make roles or "
             "databases, or may write to the captured tables.",
    .fix = "Name a user that does not exist yet and let the plan make it.",
    .run = run_excess,
};

/* --- grants ---------------------------------------------------------------------------------- */

static void run_grants(struct run *run, struct outcome *out)
{
    const struct postgres_role *r = role(run);
    const struct postgres_tables *t = run_fact(run, FACT_CHOSEN, &postgres_chosen_type);
    const char *watermarks = run_text(run, "postgres.watermarks");
    size_t bad = 0, good = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct postgres_table *row = &t->rows[i];
        if (!postgres_capturable(row, watermarks))
            continue;
        good += row->selects && row->usage;
        if (row->selects && row->usage)
            continue;
        bad++;
        outcome_item(out, STATUS_FAILED, row->written,
                     row->usage ? "no SELECT on the whole table" : "no USAGE on its schema", NULL);
    }
    if (!r->exists) {
        outcome_fail(out, "no role", "user %s does not exist", r->name);
        outcome_fix(out, WHO_YOU, MAKE_IT);
    } else if (!r->connects) {
        outcome_fail(out, "42501", "%s may not connect to the database", r->name);
        outcome_fix(out, WHO_DBA, "GRANT CONNECT ON DATABASE … TO …");
    } else if (bad > 0) {
        outcome_fail(out, "42501", "%s may not read %zu of %zu tables", r->name, bad, bad + good);
        outcome_why(
            out, "Estuary's own check does not notice a missing SELECT; the backfill then stops.");
        outcome_fix(out, WHO_DBA, MAKE_IT);
    } else {
        outcome_pass(out, "CONNECT, USAGE and SELECT on %zu tables%s", good,
                     r->reads_all ? " by pg_read_all_data" : "");
    }
}

const struct check postgres_check_grants = {
    .id = "postgres.grants",
    .title = "the capture user may read",
    .reads = (const char *const[]){"postgres.tables", "postgres.user", "postgres.watermarks",
                                   FACT_ROLE, FACT_CHOSEN, NULL},
    .needs = (const char *const[]){"postgres.role", "postgres.grants", NULL},
    .severity = SEV_BLOCKS,
    .cause = "CONNECT, USAGE on a schema or SELECT on a whole table is missing. Grants on single "
             "columns are not "
             "enough.",
    .fix = "Apply the plan, or hand its SQL to the owner of the tables.",
    .run = run_grants,
};

/* --- watermarks table ------------------------------------------------------------------------ */

static void run_watermarks(struct run *run, struct outcome *out)
{
    const struct postgres_watermarks *w = run_fact(run, FACT_WATERMARKS, &postgres_watermarks_type);
    if (!w->schema_exists) {
        outcome_fail(out, "3F000", "the schema of %s does not exist", w->name);
        outcome_fix(out, WHO_YOU, "choose a schema that exists, or have it made");
    } else if (!w->exists) {
        outcome_fail(out, "42P01", "%s does not exist", w->name);
        outcome_fix(out, WHO_YOU, MAKE_IT);
    } else if (w->kind != 'r' || w->persistence != 'p') {
        outcome_fail(out, "42809", "%s is not an ordinary, logged table", w->name);
        outcome_fix(out, WHO_YOU, "choose another name for the watermarks table");
        outcome_suggest(out, "postgres.watermarks", "public.flow_watermarks_2");
    } else if (!w->columns || !w->unique) {
        outcome_fail(out, w->columns ? "42P10" : "42703", "%s is there, but of another form",
                     w->name);
        outcome_why(out,
                    w->columns
                        ? "Its column slot is not unique, so that Estuary's write fails (42P10)."
                        : "It lacks the text columns slot and watermark.");
        outcome_fix(out, WHO_YOU, "choose another name; what is there is not touched");
        outcome_suggest(out, "postgres.watermarks", "public.flow_watermarks_2");
    } else if (!w->selects || !w->inserts || !w->updates || !w->usage) {
        outcome_fail(out, "42501", "the capture user may not write %s", w->name);
        outcome_why(out, "Estuary needs SELECT, INSERT and UPDATE on it, and USAGE on its schema.");
        outcome_fix(out, WHO_DBA, MAKE_IT);
    } else {
        outcome_pass(out, "%s, owned by %s", w->name, w->owner);
    }
}

const struct check postgres_check_watermarks = {
    .id = "postgres.watermarks",
    .title = "the watermarks table is there",
    .reads = (const char *const[]){"postgres.watermarks", "postgres.user", FACT_WATERMARKS, NULL},
    .needs = (const char *const[]){"postgres.role", "postgres.grants", "postgres.watermarks", NULL},
    .severity = SEV_BLOCKS,
    .cause = "The table is missing, has other columns, lacks a unique slot column, or the capture "
             "user lacks SELECT, "
             "INSERT or UPDATE on it.",
    .fix = "Apply the plan; choose another name when a table of another form has this one.",
    .run = run_watermarks,
};

/* --- publication ----------------------------------------------------------------------------- */

static void judge_members(struct outcome *out, const struct postgres_tables *t,
                          const char *watermarks, size_t *missing, size_t *filtered,
                          size_t *capturable)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct postgres_table *r = &t->rows[i];
        if (!postgres_capturable(r, watermarks))
            continue;
        ++*capturable;
        if (r->filtered) {
            ++*filtered;
            outcome_item(out, STATUS_FAILED, r->written,
                         "only some rows or columns of it are published",
                         "ALTER PUBLICATION … SET TABLE without WHERE and column list");
        } else if (!r->published) {
            ++*missing;
            outcome_item(out, STATUS_FAILED, r->written,
                         r->listed ? "only its partitions are handed out" : "is not in it",
                         r->listed ? "ALTER PUBLICATION … SET (publish_via_partition_root = true)"
                                   : NULL);
        }
    }
}

static void judge_flags(struct outcome *out, const struct postgres_publication *p)
{
    AUTO(xfree) char *name = pg_quote_ident(p->name);
    AUTO(xfree) char *other = xasprintf("%.60s_2", p->name);
    outcome_fail(out, "publish", "%s hands out only%s%s%s", p->name, p->inserts ? " INSERT" : "",
                 p->updates ? " UPDATE" : "", p->deletes ? " DELETE" : "");
    outcome_why(out, "The other changes would silently be missing downstream. It is not altered "
                     "here: other readers may rely on it.");
    outcome_fix(out, WHO_YOU,
                "choose another name, so that one is made; or have its owner (%s) alter it",
                p->owner);
    outcome_copy_command(
        out, "ALTER PUBLICATION %s SET (publish = 'insert, update, delete, truncate');", name);
    outcome_suggest(out, "postgres.publication", other);
}

static void pass_publication(struct outcome *out, const struct postgres_publication *p,
                             size_t count)
{
    if (p->all_tables)
        outcome_pass(out, "%s, FOR ALL TABLES: every table needs a replica identity, now and later",
                     p->name);
    else if (p->other_total > 0)
        outcome_pass(out, "%s: %zu tables and watermarks, and %d tables that are not captured",
                     p->name, count, p->other_total);
    else
        outcome_pass(out, "%s: %zu tables and watermarks%s", p->name, count,
                     p->via_root ? ", via partition root" : "");
}

static void run_publication(struct run *run, struct outcome *out)
{
    const struct postgres_publication *p =
        run_fact(run, FACT_PUBLISHED, &postgres_publication_type);
    const struct postgres_tables *t = run_fact(run, FACT_CHOSEN, &postgres_chosen_type);
    const char *watermarks = run_text(run, "postgres.watermarks");
    if (!p->exists) {
        outcome_fail(out, "42704", "publication %s does not exist", p->name);
        outcome_why(
            out,
            "Estuary does not make it; without it no table would be found, and no error shown.");
        outcome_fix(out, WHO_YOU, MAKE_IT);
        return;
    }
    if (!p->inserts || !p->updates || !p->deletes) {
        judge_flags(out, p);
        return;
    }
    size_t missing = 0, filtered = 0, capturable = 0;
    judge_members(out, t, watermarks, &missing, &filtered, &capturable);
    if (!p->watermarks)
        outcome_item(out, STATUS_FAILED, watermarks, "is not in it", NULL);
    if (missing + filtered > 0 || !p->watermarks) {
        outcome_fail(out, "publication", "%s lacks %zu of %zu tables", p->name,
                     missing + filtered + !p->watermarks, capturable + 1);
        outcome_why(
            out,
            "Estuary finds and follows only what the publication hands out as the table itself.");
        outcome_fix(out, filtered > 0 ? WHO_DBA : WHO_YOU,
                    filtered > 0 ? "see each line; a row filter or column list is not changed here"
                                 : MAKE_IT "; a table that is not safe is left out of it");
        return;
    }
    pass_publication(out, p, capturable);
}

const struct check postgres_check_publication = {
    .id = "postgres.publication",
    .title = "the publication hands out all of it",
    .reads = (const char *const[]){"postgres.tables", "postgres.publication", "postgres.watermarks",
                                   FACT_PUBLISHED, FACT_CHOSEN, NULL},
    .needs = (const char *const[]){"postgres.watermarks", "postgres.publication", NULL},
    .severity = SEV_BLOCKS,
    .cause =
        "The publication is missing, hands out only some sorts of changes, some rows or columns, "
        "or partitions instead of their table, or lacks a chosen table or the watermarks table.",
    .fix = "Apply the plan. A publication with filters, column lists or fewer operations is not "
           "altered: choose another name, or have its owner alter it.",
    .run = run_publication,
};
