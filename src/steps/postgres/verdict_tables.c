/* Verdicts on the chosen tables: can they be captured, will their names hold, what will be missing.
 * No I/O. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "net/pg.h"
#include "postgres/diff.h"
#include "postgres/facts.h"
#include "postgres/names.h"
#include "postgres/tables.h"
#include "steps/postgres/postgres.h"

static const struct postgres_tables *chosen(struct run *run)
{
    return run_fact(run, FACT_CHOSEN, &postgres_chosen_type);
}

static bool is_table(const struct postgres_table *t)
{
    return t->found && (t->kind == 'r' || t->kind == 'p');
}

/* --- they exist and can be published --------------------------------------------------------- */

/* Why a chosen table cannot be captured, in words; NULL when it can. */
static const char *table_fault(const struct postgres_table *t, const char *watermarks, int version,
                               const char **fix)
{
    *fix = "leave it out";
    if (!t->found) {
        *fix = "leave it out, or correct its name";
        return "there is no such table";
    }
    if (strcmp(t->written, watermarks) == 0)
        return "it is the watermarks table: published anyway, never captured";
    if (t->kind == 'v' || t->kind == 'm') {
        *fix = "capture the tables below it";
        return t->kind == 'v' ? "a view has no changes in the log"
                              : "a materialized view has no changes in the log";
    }
    if (t->kind == 'f') {
        *fix = "capture it on the server it is on";
        return "a foreign table has no changes in the log";
    }
    if (t->persistence == 'u') {
        *fix = "ALTER TABLE … SET LOGGED, or leave it out";
        return "an unlogged table has no changes in the log";
    }
    if (t->persistence == 't')
        return "a temporary table goes with its session";
    if (t->partition) {
        *fix = "choose the partitioned table above it";
        return "a partition is captured through its partitioned table";
    }
    if (t->kind == 'p' && version < 130000)
        return "a partitioned table can be published from PostgreSQL 13 on";
    if (t->taken)
        return "it has a column flow_published_at: Estuary takes it for a table of its own and "
               "hides it";
    if (strcmp(t->name, "flow_materializations_v2") == 0 ||
        strcmp(t->name, "flow_checkpoints_v1") == 0)
        return "Estuary takes a table of this name for its own and hides it";
    return NULL;
}

static void run_tables(struct run *run, struct outcome *out)
{
    const struct postgres_tables *t = chosen(run);
    const struct postgres_server *s = run_fact(run, FACT_SERVER, &postgres_server_type);
    const char *watermarks = run_text(run, "postgres.watermarks");
    size_t bad = 0, missing = 0;
    for (size_t i = 0; i < t->count; i++) {
        const char *fix = NULL;
        const char *fault = table_fault(&t->rows[i], watermarks, s->version, &fix);
        if (fault == NULL)
            continue;
        bad++;
        missing += !t->rows[i].found;
        outcome_item(out, STATUS_FAILED, t->rows[i].written, fault, fix);
    }
    if (bad == 0) {
        outcome_pass(out, "%zu chosen, each can be captured", t->count);
        return;
    }
    outcome_fail(out, missing == bad ? "42P01" : "table", "%zu of %zu cannot be captured", bad,
                 t->count);
    outcome_why(out, "Estuary would not list %s, or refuse the whole capture.",
                bad == 1 ? "it" : "them");
    outcome_fix(out, WHO_YOU, "leave %s out, or see each line", bad == 1 ? "it" : "them");
}

const struct check postgres_check_tables = {
    .id = "postgres.tables",
    .title = "chosen tables can be captured",
    .reads = (const char *const[]){"postgres.tables", "postgres.watermarks", FACT_CHOSEN,
                                   FACT_SERVER, NULL},
    .severity = SEV_BLOCKS,
    .cause = "A chosen table is gone or renamed, is a view, foreign, unlogged or temporary, is a "
             "single partition, or looks like one of Estuary's own.",
    .fix =
        "Leave it out, choose the partitioned table instead of its partition, or make it LOGGED.",
    .run = run_tables,
};

/* --- names ----------------------------------------------------------------------------------- */

struct named {
    char *name;
    const struct postgres_table *table;
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static void run_table_names(struct run *run, struct outcome *out)
{
    const struct postgres_tables *t = chosen(run);
    struct named *names = xcalloc(t->count, sizeof *names);
    for (size_t i = 0; i < t->count; i++)
        names[i] =
            (struct named){postgres_iceberg_name(t->rows[i].schema, t->rows[i].name), &t->rows[i]};
    qsort(names, t->count, sizeof *names, by_name);
    size_t collisions = 0;
    for (size_t i = 1; i < t->count; i++) {
        if (strcmp(names[i].name, names[i - 1].name) != 0)
            continue;
        bool twice = names[i].table->found &&
                     strcmp(names[i].table->written, names[i - 1].table->written) == 0;
        AUTO(xfree)
        char *line =
            twice ? xstrdup("is chosen twice")
                  : xasprintf("and %s both become %s", names[i - 1].table->written, names[i].name);
        outcome_item(out, STATUS_FAILED, names[i].table->written, line, "choose one of them");
        collisions++;
    }
    for (size_t i = 0; i < t->count; i++)
        xfree(names[i].name);
    xfree(names);
    if (collisions == 0) {
        outcome_pass(out, "%zu names, all different downstream", t->count);
        return;
    }
    outcome_fail(out, "name collision", "%zu name%s collide%s downstream", collisions,
                 collisions == 1 ? "" : "s", collisions == 1 ? "s" : "");
    outcome_why(out, "Estuary and the Iceberg tables use lower case, with _ for every other "
                     "character: rows of two tables would be mixed in one.");
    outcome_fix(out, WHO_YOU, "choose only one of each pair, or have one renamed");
}

const struct check postgres_check_table_names = {
    .id = "postgres.table_names",
    .title = "names stay different downstream",
    .reads = (const char *const[]){"postgres.tables", FACT_CHOSEN, NULL},
    .severity = SEV_BLOCKS,
    .cause = "Two chosen tables differ only by upper case or by characters that become _, as "
             "Orders and orders or or-ders and or_ders.",
    .fix = "Choose only one of them, or have one renamed.",
    .run = run_table_names,
};

/* --- keys ------------------------------------------------------------------------------------ */

static void run_keys(struct run *run, struct outcome *out)
{
    const struct postgres_tables *t = chosen(run);
    const char *watermarks = run_text(run, "postgres.watermarks");
    size_t without = 0, fallback = 0, tables = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct postgres_table *r = &t->rows[i];
        if (!postgres_capturable(r, watermarks))
            continue;
        tables++;
        AUTO(xfree) char *line = NULL;
        if (r->key == POSTGRES_KEY_NONE) {
            without++;
            outcome_item(out, STATUS_WARNED, r->written,
                         "no key: each change becomes a row of its own downstream",
                         "add a primary key");
        } else if (r->key == POSTGRES_KEY_INDEX) {
            fallback++;
            line = xasprintf("%s, by unique index %s", r->key_columns, r->key_index);
            outcome_item(out, STATUS_PASSED, r->written, line, NULL);
        } else {
            outcome_item(out, STATUS_PASSED, r->written, r->key_columns, NULL);
        }
    }
    if (without == 0) {
        outcome_pass(out,
                     fallback == 0 ? "%zu by primary key"
                                   : "%zu have a key, %zu of them by a unique index",
                     tables, fallback);
        return;
    }
    outcome_warn(out, "%zu of %zu without a key", without, tables);
    outcome_why(out, "Estuary cannot tell which row a change belongs to: it only appends.");
    outcome_fix(out, WHO_DBA, "add a primary key to %s", without == 1 ? "it" : "them");
}

const struct check postgres_check_keys = {
    .id = "postgres.keys",
    .title = "tables have a key for Estuary",
    .reads = (const char *const[]){"postgres.tables", "postgres.watermarks", FACT_CHOSEN, NULL},
    .severity = SEV_WARNS,
    .cause = "A table has neither a primary key nor a unique index whose columns are all NOT NULL, "
             "or its primary key holds a generated column, which Estuary leaves out.",
    .fix = "Add a primary key, or accept that its changes are appended as rows of their own.",
    .run = run_keys,
};

/* --- row-level security ---------------------------------------------------------------------- */

static void run_row_security(struct run *run, struct outcome *out)
{
    const struct postgres_tables *t = chosen(run);
    const struct postgres_role *role = run_fact(run, FACT_ROLE, &postgres_role_type);
    const char *user = run_text(run, "postgres.user");
    AUTO(xfree) char *quoted = pg_quote_ident(user);
    /* Neither way out can be taken for a user that the plan has still to make: a failure would hold
     * back that very plan. */
    bool planned = !role->exists;
    size_t hidden = 0, secured = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct postgres_table *r = &t->rows[i];
        secured += r->secured;
        if (!r->hidden_rows)
            continue;
        hidden++;
        AUTO(xfree)
        char *fix = xasprintf("CREATE POLICY flow_reads ON %s FOR SELECT TO %s USING (true);",
                              r->written, quoted);
        outcome_item(out, planned ? STATUS_WARNED : STATUS_FAILED, r->written,
                     "its policies hide rows from the capture user", fix);
    }
    if (hidden == 0) {
        outcome_pass(out, secured == 0 ? "no table uses it" : "%zu use it, none hides rows from %s",
                     secured, user);
        return;
    }
    AUTO(xfree)
    char *line = xasprintf("%zu table%s would be copied without the rows that policies hide",
                           hidden, hidden == 1 ? "" : "s");
    if (planned)
        outcome_warn(out, "%s", line);
    else
        outcome_fail(out, "row security", "%s", line);
    outcome_why(out, "The first copy sees only what the policies show, often nothing, without an "
                     "error, while later changes come through for all rows.");
    outcome_fix(
        out, WHO_DBA,
        "%sALTER ROLE … BYPASSRLS for the capture user, or give it a policy; or leave %s out",
        planned ? "once the plan has made the user: " : "", hidden == 1 ? "it" : "them");
    outcome_copy_command(out, "ALTER ROLE %s BYPASSRLS;", quoted);
}

const struct check postgres_check_row_security = {
    .id = "postgres.row_security",
    .title = "row security hides nothing",
    .reads =
        (const char *const[]){"postgres.tables", "postgres.user", FACT_ROLE, FACT_CHOSEN, NULL},
    .severity = SEV_BLOCKS,
    .cause =
        "Row-level security is on for a chosen table, and its policies hide rows from the capture "
        "user: the backfill silently copies too little. pg_read_all_data does not change that.",
    .fix = "ALTER ROLE … BYPASSRLS (superuser), or a policy FOR SELECT TO the capture user USING "
           "(true), or leave "
           "the table out.",
    .run = run_row_security,
};

/* --- generated columns ----------------------------------------------------------------------- */

static void run_generated(struct run *run, struct outcome *out)
{
    const struct postgres_tables *t = chosen(run);
    size_t tables = 0;
    for (size_t i = 0; i < t->count; i++) {
        AUTO_TEXT stored = TEXT_INIT, virtual = TEXT_INIT;
        for (size_t c = 0; c < t->rows[i].column_count; c++) {
            const struct postgres_column *column = &t->rows[i].columns[c];
            struct text *list = column->generated == 's'   ? &stored
                                : column->generated == 'v' ? &virtual
                                                           : NULL;
            if (list == NULL)
                continue;
            text_sep(list, ", ");
            text_add(list, column->name);
        }
        if (stored.len == 0 && virtual.len == 0)
            continue;
        tables++;
        AUTO(xfree)
        char *line = xasprintf("%s%s%s%s%s", stored.s, stored.len > 0 ? ": missing downstream" : "",
                               stored.len > 0 && virtual.len > 0 ? "; " : "", virtual.s,
                               virtual.len > 0 ? ": copied once, then never updated" : "");
        outcome_item(out, STATUS_WARNED, t->rows[i].written, line, "compute it downstream");
    }
    if (tables == 0) {
        outcome_pass(out, "there are none");
        return;
    }
    outcome_warn(out, "%zu table%s with generated columns", tables, tables == 1 ? "" : "s");
    outcome_why(out, "The server does not put them into the log: Estuary leaves stored ones out, "
                     "and copies virtual ones (PostgreSQL 18) only at the start.");
    outcome_fix(out, WHO_YOU, "compute them downstream again");
}

const struct check postgres_check_generated_columns = {
    .id = "postgres.generated_columns",
    .title = "no column is generated",
    .reads = (const char *const[]){"postgres.tables", FACT_CHOSEN, NULL},
    .severity = SEV_WARNS,
    .cause = "A chosen table has generated columns. They are not in the log: stored ones are "
             "missing downstream, virtual ones get stale.",
    .fix = "Compute them downstream again.",
    .run = run_generated,
};

/* --- size of the first copy ------------------------------------------------------------------ */

static void run_backfill(struct run *run, struct outcome *out)
{
    const struct postgres_tables *t = chosen(run);
    double rows = 0;
    int64_t bytes = 0;
    size_t unknown = 0, tables = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct postgres_table *r = &t->rows[i];
        if (!is_table(r))
            continue;
        tables++;
        unknown += r->bytes < 0 || r->rows < 0;
        bytes += r->bytes > 0 ? r->bytes : 0;
        rows += r->rows > 0 ? r->rows : 0;
    }
    AUTO(xfree) char *size = postgres_size_text(bytes);
    AUTO(xfree) char *count = postgres_rows_text(rows);
    if (unknown == tables)
        outcome_pass(out, "unknown: the tables were never analysed");
    else if (unknown > 0)
        outcome_pass(out, "about %s, %s rows, and %zu tables never analysed", size, count, unknown);
    else
        outcome_pass(out, "about %s, %s rows", size, count);
}

const struct check postgres_check_backfill = {
    .id = "postgres.backfill",
    .title = "size of the first copy",
    .reads = (const char *const[]){"postgres.tables", FACT_CHOSEN, NULL},
    .severity = SEV_INFORMS,
    .cause = "Only informs: the server's own estimates, as of the last ANALYZE.",
    .fix = "ANALYZE the tables for better ones.",
    .run = run_backfill,
};
