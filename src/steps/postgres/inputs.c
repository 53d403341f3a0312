/* Answers as src/postgres takes them (inputs.h). */
#include "steps/postgres/inputs.h"

#include <stdint.h>
#include <string.h>

#include "steps/postgres/postgres.h"

static struct postgres_login login(const struct run *run, const char *user, const char *password)
{
    return (struct postgres_login){
        .host = run_text(run, "postgres.host"),
        .port = run_text(run, "postgres.port"),
        .database = run_text(run, "postgres.database"),
        .sslmode = run_text(run, "postgres.sslmode"),
        .ca_file = run_text(run, "postgres.ca_file"),
        .user = run_text(run, user),
        .password = run_secret(run, password),
    };
}

struct postgres_login postgres_admin_login(const struct run *run)
{
    return login(run, "postgres.admin_user", "postgres.admin_password");
}

struct postgres_login postgres_capture_login(const struct run *run)
{
    return login(run, "postgres.user", "postgres.password");
}

static void add_tables(struct postgres_wanted *w, const struct value *tables)
{
    if (tables == NULL || tables->kind != VALUE_LIST)
        return;
    w->table_count = tables->count;
    w->tables = (const char *const *)tables->items;
}

struct postgres_wanted postgres_wanted_of_run(const struct run *run)
{
    struct postgres_wanted w = {
        .user = run_text(run, "postgres.user"),
        .publication = run_text(run, "postgres.publication"),
        .watermarks = run_text(run, "postgres.watermarks"),
    };
    add_tables(&w, run_value(run, "postgres.tables"));
    return w;
}

struct postgres_wanted postgres_wanted_of(const struct snapshot *s)
{
    struct postgres_wanted w = {
        .user = snap_text(s, "postgres.user"),
        .publication = snap_text(s, "postgres.publication"),
        .watermarks = snap_text(s, "postgres.watermarks"),
    };
    add_tables(&w, snap_value(s, "postgres.tables"));
    postgres_wanted_repairs(&w, snap_value(s, "postgres.repairs"));
    return w;
}

void postgres_wanted_repairs(struct postgres_wanted *w, const struct value *repairs)
{
    if (repairs == NULL || repairs->kind != VALUE_MAP)
        return;
    w->repair_count = repairs->count;
    w->repair_tables = (const char *const *)repairs->keys;
    w->repairs = (const char *const *)repairs->items;
}

/* Facts are immutable, the struct of a fresh survey is not: it is only read here. */
static void *readable(const void *fact)
{
    return (void *)(uintptr_t)fact;
}

struct postgres_found postgres_found_of_run(const struct run *run)
{
    return (struct postgres_found){
        .role = readable(run_fact(run, FACT_ROLE, &postgres_role_type)),
        .chosen = readable(run_fact(run, FACT_CHOSEN, &postgres_chosen_type)),
        .publication = readable(run_fact(run, FACT_PUBLISHED, &postgres_publication_type)),
        .watermarks = readable(run_fact(run, FACT_WATERMARKS, &postgres_watermarks_type)),
    };
}

struct postgres_found postgres_found_of(const struct snapshot *s)
{
    return (struct postgres_found){
        .role = readable(snap_fact(s, FACT_ROLE, &postgres_role_type)),
        .chosen = readable(snap_fact(s, FACT_CHOSEN, &postgres_chosen_type)),
        .publication = readable(snap_fact(s, FACT_PUBLISHED, &postgres_publication_type)),
        .watermarks = readable(snap_fact(s, FACT_WATERMARKS, &postgres_watermarks_type)),
    };
}

const char *postgres_repair_of(const struct value *repairs, const char *written)
{
    if (repairs == NULL || repairs->kind != VALUE_MAP)
        return NULL;
    for (size_t i = 0; i < repairs->count; i++)
        if (strcmp(repairs->keys[i], written) == 0)
            return repairs->items[i];
    return NULL;
}
