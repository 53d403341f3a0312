/* postgres.sql: what the database needs, from nothing, as the plan would carry it out; for a
 * database made anew, or for a DBA to read. The password is a variable of psql: it stands neither
 * in the file nor, as a verifier, in anybody's copy of it. */
#include <string.h>

#include "core/clean.h"
#include "core/mem.h"
#include "postgres/diff.h"
#include "postgres/names.h"
#include "steps/review/material.h"

#define VERSION 150000 /* of the server that is written for; see add_heading */

/* A source where nothing is made yet. */
struct nothing {
    struct postgres_server server;
    struct postgres_role role;
    struct postgres_publication publication;
    struct postgres_watermarks watermarks;
    struct postgres_tables *chosen;
    struct postgres_found found;
    struct postgres_wanted wanted;
};

/* A member that is never written through. */
static char *borrowed(const char *text)
{
    return (char *)(uintptr_t)text;
}

static void add_table(const struct material *m, struct nothing *n, const struct spec_table *t)
{
    const struct node *kept = material_table(m, t->written);
    const char *repair = postgres_repair_for(&n->wanted, t->written);
    struct postgres_table *row = postgres_tables_add(n->chosen);
    row->schema = postgres_tables_text(n->chosen, t->schema);
    row->name = postgres_tables_text(n->chosen, t->table);
    row->written = postgres_tables_text(n->chosen, t->written);
    row->kind = node_get(kept, "partitioned") != NULL ? 'p' : 'r';
    row->persistence = 'p';
    row->replica = 'd';
    row->found = true;
    row->identified = node_get(kept, "unidentified") == NULL;
    if (repair != NULL && strncmp(repair, "index:", 6) == 0) {
        const char **indexes = postgres_tables_memory(n->chosen, sizeof *indexes);
        indexes[0] = postgres_tables_text(n->chosen, repair + 6);
        row->indexes = indexes;
        row->index_count = 1;
    }
}

static bool on_rds(const char *host)
{
    static const char end[] = ".rds.amazonaws.com";
    size_t n = strlen(host), m = sizeof end - 1;
    return n > m && strcmp(host + n - m, end) == 0;
}

static void imagine(const struct material *m, struct nothing *n)
{
    const struct value *tables = snap_value(m->snapshot, "postgres.tables");
    const struct value *repairs = snap_value(m->snapshot, "postgres.repairs");
    const char *user = material_text(m, "postgres.user");
    const char *publication = material_text(m, "postgres.publication");
    const char *watermarks = material_text(m, "postgres.watermarks");
    const char *database = material_text(m, "postgres.database");
    *n = (struct nothing){
        .server = {.version = VERSION,
                   .platform =
                       on_rds(material_text(m, "postgres.host")) ? POSTGRES_RDS : POSTGRES_PLAIN,
                   .database = borrowed(database),
                   .admin_super = true},
        .role = {.name = borrowed(user)},
        .publication = {.name = borrowed(publication)},
        .watermarks = {.name = borrowed(watermarks), .schema_exists = true},
        .chosen = postgres_tables_new(),
        .wanted = {.user = user, .publication = publication, .watermarks = watermarks},
    };
    n->wanted.table_count = tables->count;
    n->wanted.tables = (const char *const *)tables->items;
    if (repairs != NULL && repairs->kind == VALUE_MAP) {
        n->wanted.repair_count = repairs->count;
        n->wanted.repair_tables = (const char *const *)repairs->keys;
        n->wanted.repairs = (const char *const *)repairs->items;
    }
    for (size_t i = 0; i < m->tables.count; i++)
        add_table(m, n, &m->tables.list[i]);
    n->found = (struct postgres_found){.role = &n->role,
                                       .chosen = n->chosen,
                                       .publication = &n->publication,
                                       .watermarks = &n->watermarks};
}

/* --- writing ---------------------------------------------------------------------------------- */

/* The statements of a difference, the mask of a verifier replaced by the variable. */
static void add_diff(struct postgres_diff *d, const char *about, struct text *out)
{
    static const char mask[] = "'" POSTGRES_MASKED_VERIFIER "'";
    if (d->statement_count > 0)
        text_addf(out, "\n-- %s\n", about);
    for (size_t i = 0; i < d->statement_count; i++) {
        const char *sql = d->statements[i];
        const char *hole = strstr(sql, mask);
        if (hole != NULL) {
            text_addn(out, sql, (size_t)(hole - sql));
            text_add(out, ":'password'");
            sql = hole + sizeof mask - 1;
        }
        text_addf(out, "%s;\n", sql);
    }
    postgres_diff_release(d);
}

static void add_heading(const struct material *m, struct text *out)
{
    AUTO(xfree) char *database = clean_copy(material_text(m, "postgres.database"), CLEAN_LINE);
    text_addf(
        out,
        "-- What the capture %s needs in PostgreSQL, from nothing. Written by sluice.\n"
        "--\n"
        "-- psql -h %s -p %s -d %s -U ADMIN -f postgres.sql\n"
        "--\n"
        "-- It asks for the new user's password, unless the variable password is set already\n"
        "-- (never with -v: others see the command line). All of it or nothing is done; where "
        "the\n"
        "-- user exists it ends at once. Before PostgreSQL 13 leave publish_via_partition_root "
        "out.\n\n",
        material_text(m, "capture.name"), material_text(m, "postgres.host"),
        material_text(m, "postgres.port"), database);
    text_add(out, "\\set ON_ERROR_STOP on\n"
                  "\\if :{?password}\n"
                  "\\else\n"
                  "  \\prompt 'Password of the new user (shown as you type): ' password\n"
                  "\\endif\n\n"
                  "BEGIN;\n"
                  "SET LOCAL lock_timeout = '5s';\n");
}

/* Publishing them would make every UPDATE and DELETE on them fail. */
static void name_left_out(const struct nothing *n, struct text *out)
{
    for (size_t i = 0; i < n->chosen->count; i++) {
        const struct postgres_table *t = &n->chosen->rows[i];
        AUTO(xfree) char *name = postgres_sql_name(t->written); /* always one line */
        if (postgres_capturable(t, n->wanted.watermarks) &&
            !postgres_may_publish(&n->found, &n->wanted, t))
            text_addf(out, "-- left out, as it has no replica identity: %s\n", name);
    }
}

void export_sql(const struct material *m, struct text *out)
{
    struct nothing n;
    struct postgres_diff d = {0};
    imagine(m, &n);
    add_heading(m, out);
    postgres_diff_role(&n.server, &n.role, NULL, &d);
    add_diff(&d, "Estuary logs in as a user of its own, with no more rights than it needs.", out);
    postgres_diff_watermarks(&n.found, &d);
    add_diff(&d, "Estuary marks its progress here during a backfill.", out);
    postgres_diff_grants(&n.server, &n.found, &d);
    add_diff(&d, "Estuary reads each table once from start to end before it follows its changes.",
             out);
    for (size_t i = 0; i < n.chosen->count; i++) {
        const struct postgres_table *t = &n.chosen->rows[i];
        const char *repair = postgres_repair_for(&n.wanted, t->written);
        if (repair != NULL)
            postgres_diff_repair(t, repair, &d);
    }
    add_diff(&d, "Without it UPDATE and DELETE on these tables would fail once they are published.",
             out);
    postgres_diff_publication(&n.server, &n.found, &n.wanted, &d);
    add_diff(&d, "Estuary follows only what a publication hands out, and does not make it itself.",
             out);
    name_left_out(&n, out);
    text_add(out, "\nCOMMIT;\n");
    postgres_tables_free(n.chosen);
}
