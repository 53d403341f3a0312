/* Answers as src/postgres takes them (inputs.h). */
#include "steps/postgres/inputs.h"

#include <string.h>

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
    const struct value *repairs = snap_value(s, "postgres.repairs");
    if (repairs != NULL && repairs->kind == VALUE_MAP) {
        w.repair_count = repairs->count;
        w.repair_tables = (const char *const *)repairs->keys;
        w.repairs = (const char *const *)repairs->items;
    }
    return w;
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
