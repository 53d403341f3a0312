/* A whole set-up by hand for the steps capture, materialization and review: answers of all steps,
 * and the facts they read. */
#ifndef SLUICE_TESTS_SPEC_WORLD_H
#define SLUICE_TESTS_SPEC_WORLD_H

#include "aws_world.h"

#include "postgres/names.h"
#include "postgres/tables.h"
#include "steps/iam/iam.h"
#include "steps/oauth/facts.h"

static inline void spec_namespaces(struct world *w, const char *a, const char *b)
{
    struct catalog_names n = {.count = 2, .names = xcalloc(2, sizeof(char *))};
    n.names[0] = xstrdup(a);
    n.names[1] = xstrdup(b);
    world_fact(w, "oauth.namespaces", oauth_namespaces_fact(&n));
}

static inline void spec_role(struct world *w, const char *arn)
{
    struct iam_side side = {.exists = arn != NULL};
    side.entity.arn = xstrdup(arn);
    world_fact(w, "iam.role_found", iam_side_fact(IAM_ROLE, &side));
}

static inline void spec_table(struct postgres_tables *t, const char *written, enum postgres_key key,
                              const char *columns)
{
    char *schema, *name;
    assert_int_equal(postgres_split_table(written, &schema, &name, NULL), 0);
    struct postgres_table *r = postgres_tables_add(t);
    r->schema = postgres_tables_text(t, schema);
    r->name = postgres_tables_text(t, name);
    r->written = postgres_tables_text(t, written);
    r->kind = 'r';
    r->persistence = 'p';
    r->found = true;
    r->key = key;
    r->key_columns = columns;
    xfree(schema);
    xfree(name);
}

/* All is well; public.orders and public."Order Items" are captured. */
static inline void spec_open(struct world *w)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    memset(w, 0, sizeof *w);
    if (rows_init(&w->rows, steps_all(), &err) != 0)
        fail_msg("%s", err.what);
    w->answers = xcalloc(w->rows.field_count, sizeof *w->answers);
    w->origins = xcalloc(w->rows.field_count, sizeof *w->origins);
    w->facts = xcalloc(w->rows.fact_count, sizeof *w->facts);
    static const char *const texts[][2] = {
        {"start.name", "shop"},
        {"start.prefix", "acmeCo/"},
        {"oauth.branch", "alice.ingest"},
        {"oauth.client_id", "8f1ce2"},
        {"postgres.host", "db.example.com"},
        {"postgres.database", "shop"},
        {"emr.region", "us-east-1"},
        {"emr.application", "00f1abcd2efg3h09"},
        {"bucket.lake", "lake-acme"},
        {"materialization.namespace", "analytics"},
        {"materialization.hard_delete", "no"},
        {"materialization.sync_frequency", "30m"},
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        world_text(w, texts[i][0], texts[i][1]);
    world_list(w, "postgres.tables", "public.orders, public.\"Order Items\"");
    world_identity(w);
    spec_role(w, "arn:aws:iam::123456789012:role/data/sluice-shop-emr");
    spec_namespaces(w, "analytics", "Sales");
}

static inline void spec_map(struct world *w, const char *id, const char *key, const char *item)
{
    world_answer(w, id, value_map(&key, &item, 1));
}

static inline struct outcome *spec_judge(struct world *w, const char *id)
{
    int i = rows_check(&w->rows, id);
    assert_true(i >= 0);
    return world_judge(w, w->rows.checks[i]);
}

static inline const char *spec_default(struct world *w, const char *id)
{
    return snap_text(world_snapshot(w), id);
}

/* The item of that name. */
static inline const struct item *spec_item(const struct outcome *o, const char *name)
{
    for (size_t i = 0; i < o->item_count; i++)
        if (strcmp(o->items[i].name, name) == 0)
            return &o->items[i];
    fail_msg("no item %s", name);
    return NULL;
}
#endif
