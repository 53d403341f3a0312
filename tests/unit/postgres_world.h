/* A hand-made source for verdicts and plans of the step postgres: facts as surveys would give them,
 * with all well until a test spoils one thing. Nothing is asked of a server. */
#ifndef SLUICE_TESTS_POSTGRES_WORLD_H
#define SLUICE_TESTS_POSTGRES_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/mem.h"
#include "core/outcome.h"
#include "core/run_make.h"
#include "core/snapshot_make.h"
#include "postgres/diff.h"
#include "postgres/names.h"
#include "steps/postgres/postgres.h"
#include "steps/steps.h"

struct world {
    struct rows rows;
    struct value **answers;
    enum origin *origins;
    struct postgres_server *server;
    struct postgres_slots *slots;
    struct postgres_sessions *sessions;
    struct postgres_role *role;
    struct postgres_tables *chosen;
    struct postgres_publication *publication;
    struct postgres_watermarks *watermarks;
    struct postgres_login_state *login;
    struct snapshot *snapshot; /* made by world_snapshot; then facts belong to it */
};

static inline void world_answer(struct world *w, const char *id, struct value *v,
                                enum origin origin)
{
    int i = rows_field(&w->rows, id);
    assert_true(i >= 0);
    value_unref(w->answers[i]);
    w->answers[i] = v;
    w->origins[i] = origin;
}

static inline void world_text(struct world *w, const char *id, const char *text)
{
    world_answer(w, id, value_text(text), ORIGIN_TYPED);
}

static inline struct secret *world_secret(struct world *w, const char *id, const char *text,
                                          enum origin origin)
{
    struct secret *s = secret_new(text, strlen(text));
    world_answer(w, id, value_secret(s, NULL, NULL), origin);
    secret_unref(s);
    return s;
}

static inline void world_list(struct world *w, const char *id, const char *items)
{
    world_answer(w, id, value_list_parse(items), ORIGIN_TYPED);
}

static inline void world_repair(struct world *w, const char *table, const char *repair)
{
    world_answer(w, "postgres.repairs", value_map(&table, &repair, 1), ORIGIN_TYPED);
}

static inline struct postgres_server *world_server(void)
{
    struct postgres_server *s = xcalloc(1, sizeof *s);
    *s = (struct postgres_server){
        .version = 160003,
        .release = xstrdup("16.3"),
        .host = xstrdup("shop-db.abc.us-east-1.rds.amazonaws.com"),
        .database = xstrdup("shop"),
        .encoding = xstrdup("UTF8"),
        .tls = xstrdup("TLSv1.3"),
        .wal_level = xstrdup("logical"),
        .max_slots = 10,
        .max_senders = 10,
        .max_connections = 100,
        .used_connections = 10,
        .wal_keep_mb = 51200,
        .idle_slot_s = POSTGRES_NO_SETTING,
        .sender_timeout_ms = 60000,
        .admin = xstrdup("postgres"),
        .admin_super = true,
        .admin_roles = true,
        .admin_replication = true,
        .admin_creates = true,
        .admin_sees_all = true,
    };
    return s;
}

/* A role that has what it needs. */
static inline struct postgres_role *world_role(void)
{
    struct postgres_role *r = xcalloc(1, sizeof *r);
    *r = (struct postgres_role){.name = xstrdup("flow_shop"),
                                .exists = true,
                                .login = true,
                                .replication = true,
                                .connections = -1,
                                .connects = true,
                                .member_of = xstrdup("")};
    return r;
}

/* As it is before it is made. */
static inline void world_no_role(struct world *w)
{
    postgres_role_free(w->role);
    w->role = xcalloc(1, sizeof *w->role);
    w->role->name = xstrdup("flow_shop");
    w->role->member_of = xstrdup("");
}

static inline struct postgres_publication *world_publication(bool exists)
{
    struct postgres_publication *p = xcalloc(1, sizeof *p);
    *p = (struct postgres_publication){.name = xstrdup("flow_shop"),
                                       .exists = exists,
                                       .inserts = exists,
                                       .updates = exists,
                                       .deletes = exists,
                                       .via_root = exists,
                                       .owner = xstrdup(exists ? "postgres" : ""),
                                       .admin_owns = exists,
                                       .watermarks = exists,
                                       .watermarks_listed = exists,
                                       .all_elsewhere = xstrdup("")};
    return p;
}

static inline struct postgres_watermarks *world_watermarks(bool exists)
{
    struct postgres_watermarks *m = xcalloc(1, sizeof *m);
    *m = (struct postgres_watermarks){.name = xstrdup("public.flow_watermarks"),
                                      .schema_exists = true,
                                      .exists = exists,
                                      .kind = exists ? 'r' : '\0',
                                      .persistence = exists ? 'p' : '\0',
                                      .columns = exists,
                                      .unique = exists,
                                      .owner = xstrdup(exists ? "postgres" : ""),
                                      .admin_owns = exists,
                                      .admin_makes = true,
                                      .usage = true,
                                      .selects = exists,
                                      .inserts = exists,
                                      .updates = exists};
    return m;
}

/* A table with primary key id, readable and published; its address holds until the next is added.
 */
static inline struct postgres_table *world_table(struct world *w, const char *written)
{
    char *schema, *name;
    assert_int_equal(postgres_split_table(written, &schema, &name, NULL), 0);
    struct postgres_table *t = postgres_tables_add(w->chosen);
    t->schema = postgres_tables_text(w->chosen, schema);
    t->name = postgres_tables_text(w->chosen, name);
    t->written = postgres_tables_text(w->chosen, written);
    xfree(schema);
    xfree(name);
    t->owner = "shop_owner";
    t->kind = 'r';
    t->persistence = 'p';
    t->replica = 'd';
    t->identified = t->found = t->selects = t->usage = t->admin_owns = true;
    t->admin_grants = t->admin_grants_usage = t->listed = t->published = true;
    t->key = POSTGRES_KEY_PRIMARY;
    t->key_columns = "id";
    t->rows = 1000;
    t->bytes = 65536;
    return t;
}

/* One without a key; with a unique index that could be its identity when `index` is not NULL. */
static inline struct postgres_table *world_naked(struct world *w, const char *written,
                                                 const char *index)
{
    struct postgres_table *t = world_table(w, written);
    t->identified = t->listed = t->published = false;
    t->key = index != NULL ? POSTGRES_KEY_INDEX : POSTGRES_KEY_NONE;
    t->key_columns = index != NULL ? "order_id, tag" : "";
    if (index != NULL) {
        t->usable = t->key_index = postgres_tables_text(w->chosen, index);
        const char **indexes = postgres_tables_memory(w->chosen, sizeof *indexes);
        indexes[0] = t->usable;
        t->indexes = indexes;
        t->index_count = 1;
    }
    return t;
}

static inline void world_open(struct world *w)
{
    *w = (struct world){0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (rows_init(&w->rows, steps_all(), &err) != 0)
        fail_msg("%s", err.what);
    w->answers = xcalloc(w->rows.field_count, sizeof(struct value *));
    w->origins = xcalloc(w->rows.field_count, sizeof(enum origin));
    world_text(w, "start.name", "shop");
    world_text(w, "postgres.host", "db.example.com");
    world_text(w, "postgres.database", "shop");
    world_secret(w, "postgres.password", "a password of ours", ORIGIN_TYPED);
    world_list(w, "postgres.tables", "public.orders");
    w->server = world_server();
    w->slots = xcalloc(1, sizeof *w->slots);
    w->sessions = xcalloc(1, sizeof *w->sessions);
    w->role = world_role();
    w->chosen = postgres_tables_new();
    w->publication = world_publication(true);
    w->watermarks = world_watermarks(true);
}

/* Nothing made yet; tables are neither readable nor published. */
static inline void world_before(struct world *w)
{
    world_no_role(w);
    world_answer(w, "postgres.password", NULL, ORIGIN_NONE);
    postgres_publication_free(w->publication);
    postgres_watermarks_free(w->watermarks);
    w->publication = world_publication(false);
    w->watermarks = world_watermarks(false);
    for (size_t i = 0; i < w->chosen->count; i++) {
        struct postgres_table *t = &w->chosen->rows[i];
        t->selects = t->usage = t->listed = t->published = false;
    }
}

static inline struct postgres_slot *world_slot(struct world *w, const char *name)
{
    w->slots->rows = xrealloc(w->slots->rows, w->slots->count + 1, sizeof *w->slots->rows);
    struct postgres_slot *s = &w->slots->rows[w->slots->count++];
    *s = (struct postgres_slot){.name = xstrdup(name),
                                .plugin = xstrdup("pgoutput"),
                                .database = xstrdup("shop"),
                                .wal_status = xstrdup("reserved"),
                                .since = xstrdup(""),
                                .user = xstrdup(""),
                                .application = xstrdup(""),
                                .logical = true};
    w->server->used_slots++;
    return s;
}

static inline void world_fact(struct world *w, struct fact **facts, const char *id,
                              const struct fact_type *type, void *data)
{
    int i = rows_fact(&w->rows, id);
    assert_true(i >= 0);
    facts[i] = data != NULL ? fact_new(type, data) : NULL;
}

static inline const struct snapshot *world_snapshot(struct world *w)
{
    if (w->snapshot != NULL)
        return w->snapshot;
    struct fact **facts = xcalloc(w->rows.fact_count, sizeof *facts);
    world_fact(w, facts, FACT_SERVER, &postgres_server_type, w->server);
    world_fact(w, facts, FACT_SLOTS, &postgres_slots_type, w->slots);
    world_fact(w, facts, FACT_SESSIONS, &postgres_sessions_type, w->sessions);
    world_fact(w, facts, FACT_ROLE, &postgres_role_type, w->role);
    world_fact(w, facts, FACT_CHOSEN, &postgres_chosen_type, w->chosen);
    world_fact(w, facts, FACT_PUBLISHED, &postgres_publication_type, w->publication);
    world_fact(w, facts, FACT_WATERMARKS, &postgres_watermarks_type, w->watermarks);
    world_fact(w, facts, FACT_LOGIN, &postgres_login_type, w->login);
    w->snapshot = snapshot_make(&w->rows, w->answers, w->origins, facts, NULL);
    for (size_t i = 0; i < w->rows.fact_count; i++)
        fact_unref(facts[i]);
    xfree(facts);
    return w->snapshot;
}

static inline void world_close(struct world *w)
{
    world_snapshot(w); /* takes the facts, which are freed with it */
    snapshot_unref(w->snapshot);
    for (size_t i = 0; i < w->rows.field_count; i++)
        value_unref(w->answers[i]);
    xfree(w->answers);
    xfree(w->origins);
    rows_release(&w->rows);
}

/* Runs a verdict as the engine does, so that what it reads must be in its row. */
static inline struct outcome *world_judge(struct world *w, const char *id)
{
    int i = rows_check(&w->rows, id);
    assert_true(i >= 0);
    const struct check *c = w->rows.checks[i];
    assert_null(c->service);
    struct run_spec spec = {.snapshot = world_snapshot(w), .check = c};
    struct run *run = run_make(&spec, NULL);
    assert_non_null(run);
    struct outcome *o = outcome_new();
    c->run(run, o);
    run_free(run);
    return o;
}

static inline void world_outcome_unref(struct outcome **o)
{
    outcome_unref(*o);
}
#define AUTO_OUTCOME __attribute__((cleanup(world_outcome_unref))) struct outcome
#define AUTO_WORLD __attribute__((cleanup(world_close))) struct world

static inline void assert_has(const char *text, const char *part)
{
    if (text == NULL || strstr(text, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, text != NULL ? text : "(none)");
}

static inline void assert_has_not(const char *text, const char *part)
{
    if (text != NULL && strstr(text, part) != NULL)
        fail_msg("\"%s\" is in \"%s\"", part, text);
}

/* The item of that name. */
static inline const struct item *item_of(const struct outcome *o, const char *name)
{
    for (size_t i = 0; i < o->item_count; i++)
        if (strcmp(o->items[i].name, name) == 0)
            return &o->items[i];
    fail_msg("no item %s", name);
    return NULL;
}
#endif
