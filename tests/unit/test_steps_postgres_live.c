/* The step postgres against a real PostgreSQL: surveys read what is there, the plan is carried out
 * and is empty afterwards, the guard holds under lock, locks are waited for briefly, a change comes
 * through, and all is undone. */
#include "net_pg_fixture.h"
#include "postgres_world.h"

#include <pthread.h>

#include "postgres/round_trip.h"
#include "postgres/survey_rows.h"
#include "postgres/transact.h"
#include "steps/postgres/changes.h"

#define TABLES                                                                                     \
    "public.orders, public.\"Order Items\", public.events, public.tags, public.\"x\"\"; DROP "     \
    "TABLE y; --\""

static const char *const schema[] = {
    "CREATE TABLE orders (id int PRIMARY KEY, note text, two int GENERATED ALWAYS AS (2) STORED)",
    "CREATE TABLE \"Order Items\" (\"orderId\" int, line int, PRIMARY KEY (\"orderId\", line))",
    "CREATE TABLE events (id int, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day)",
    "CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')",
    "CREATE TABLE tags (a int NOT NULL, b int NOT NULL, c int)",
    "CREATE UNIQUE INDEX tags_u ON tags (a, b)",
    "CREATE UNIQUE INDEX a_partial ON tags (a) WHERE b > 0",
    "CREATE TABLE \"x\"\"; DROP TABLE y; --\" (id int PRIMARY KEY)",
    "CREATE TABLE clicks (at timestamptz)",
    "CREATE TABLE nullable (a int UNIQUE)",
    "CREATE TABLE deferred (id int PRIMARY KEY DEFERRABLE)",
    "CREATE TABLE nothing (id int PRIMARY KEY)",
    "ALTER TABLE nothing REPLICA IDENTITY NOTHING",
    "CREATE TABLE keyless_parts (id int, d int) PARTITION BY LIST (d)",
    "CREATE TABLE keyless_parts_1 PARTITION OF keyless_parts FOR VALUES IN (1)",
    "CREATE TABLE notes (id int PRIMARY KEY)",
    "ALTER TABLE notes ENABLE ROW LEVEL SECURITY",
    "CREATE TABLE open_notes (id int PRIMARY KEY)",
    "ALTER TABLE open_notes ENABLE ROW LEVEL SECURITY",
    "CREATE POLICY everybody ON open_notes USING (true)",
    "CREATE UNLOGGED TABLE cache (id int PRIMARY KEY)",
    "CREATE VIEW v AS SELECT 1 AS one",
    "INSERT INTO orders (id) SELECT generate_series(1, 100)",
    "ANALYZE orders",
};

static struct postgres_login admin(void)
{
    return (struct postgres_login){.host = "localhost",
                                   .port = server.port,
                                   .database = "shop",
                                   .user = "postgres",
                                   .password = password,
                                   .sslmode = "verify-full",
                                   .ca_file = server.ca};
}

static void sql(const char *text)
{
    struct run *run = new_run(10000);
    AUTO_PG *pg = open_plain(run);
    execute(run, pg, text);
    run_free(run);
}

static int prepare(void **state)
{
    if (set_up(state) != 0)
        return -1;
    postgres_write(&server, "pg_hba.conf", "a", "host all flow_shop all scram-sha-256\n");
    sql("SELECT pg_reload_conf()");
    for (size_t i = 0; i < ARRAY_LEN(schema); i++)
        sql(schema[i]);
    return 0;
}

/* --- surveys ---------------------------------------------------------------------------------- */

static void the_server_is_surveyed(void **state)
{
    (void)state;
    struct run *run = new_run(10000);
    AUTO_PG *pg = open_plain(run);
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct postgres_overview o;
    if (postgres_survey_server(run, pg, "localhost", &o, &err) != 0)
        fail_msg("%s", err.what);
    assert_string_equal(o.server->wal_level, "logical");
    assert_string_equal(o.server->database, "shop");
    assert_int_equal(o.server->max_slots, 10);
    assert_int_equal(o.server->sender_timeout_ms, 2000);
    assert_int_equal(o.server->wal_keep_mb, -1);
    assert_true(o.server->admin_super && !o.server->recovering);
    assert_int_equal(o.slots->count, 0);
    const struct postgres_table *t = postgres_tables_find(o.catalogue, "public", "orders");
    assert_true(t->rows == 100 && t->bytes > 0);
    assert_string_equal(t->key_columns, "id");
    t = postgres_tables_find(o.catalogue, "public", "events");
    assert_int_equal(t->partitions, 1);
    assert_true(t->identified && t->rows < 0);
    t = postgres_tables_find(o.catalogue, "public", "Order Items");
    assert_string_equal(t->written, "public.\"Order Items\"");
    assert_string_equal(t->key_columns, "orderId, line");
    t = postgres_tables_find(o.catalogue, "public", "tags");
    /* The connector takes the first index by name, a partial one as well; the server only a whole
     * one. */
    assert_string_equal(t->key_index, "a_partial");
    assert_string_equal(t->usable, "tags_u");
    assert_true(postgres_table_breaks(t));
    assert_null(postgres_tables_find(o.catalogue, "public", "events_1"));
    assert_string_equal(postgres_table_refusal(postgres_tables_find(o.catalogue, "public", "v")),
                        "view");
    assert_string_equal(
        postgres_table_refusal(postgres_tables_find(o.catalogue, "public", "cache")), "unlogged");
    static const char *const naked[] = {"clicks", "nullable", "deferred", "nothing",
                                        "keyless_parts"};
    for (size_t i = 0; i < ARRAY_LEN(naked); i++)
        assert_true(postgres_table_breaks(postgres_tables_find(o.catalogue, "public", naked[i])));
    postgres_overview_release(&o);
    run_free(run);
}

static void row_security_is_judged_for_the_user(void **state)
{
    (void)state;
    static const char *const tables[] = {"public.notes", "public.open_notes", "public.orders",
                                         "public.gone", "public.events_1"};
    struct postgres_wanted w = {.user = "plain",
                                .publication = "flow_shop",
                                .watermarks = "public.flow_watermarks",
                                .table_count = ARRAY_LEN(tables),
                                .tables = tables};
    struct run *run = new_run(10000);
    AUTO_PG *pg = open_plain(run);
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct postgres_found f;
    if (postgres_survey_found(run, pg, &w, &f, &err) != 0)
        fail_msg("%s", err.what);
    assert_int_equal(f.chosen->count, 5);
    assert_true(f.chosen->rows[0].hidden_rows);
    assert_false(f.chosen->rows[1].hidden_rows);
    assert_false(f.chosen->rows[2].hidden_rows);
    assert_false(f.chosen->rows[3].found);
    assert_string_equal(f.chosen->rows[3].written, "public.gone");
    assert_true(f.chosen->rows[4].partition);
    assert_int_equal(f.chosen->rows[2].column_count, 3);
    assert_int_equal(f.chosen->rows[2].columns[0].key, 1);
    assert_int_equal(f.chosen->rows[2].columns[2].generated, 's');
    assert_true(f.role->exists && f.role->login && !f.role->replication && f.role->connects);
    assert_false(f.publication->exists || f.watermarks->exists);
    postgres_found_release(&f);
    run_free(run);
}

/* --- plan and apply --------------------------------------------------------------------------- */

/* The world as the server stands, with the answers of a test. */
static void look_around(struct world *w, const char *tables)
{
    world_open(w);
    world_text(w, "postgres.host", "localhost");
    world_text(w, "postgres.port", server.port);
    world_text(w, "postgres.ca_file", server.ca);
    world_answer(w, "postgres.admin_password", value_secret(password, NULL, NULL), ORIGIN_TYPED);
    world_list(w, "postgres.tables", tables);
    world_repair(w, "public.tags", "index:tags_u");
    const struct value *list = w->answers[rows_field(&w->rows, "postgres.tables")];
    struct postgres_wanted wanted = {.user = "flow_shop",
                                     .publication = "flow_shop",
                                     .watermarks = "public.flow_watermarks",
                                     .table_count = list->count,
                                     .tables = (const char *const *)list->items};
    struct run *run = new_run(10000);
    AUTO_PG *pg = open_plain(run);
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct postgres_overview o;
    struct postgres_found f;
    if (postgres_survey_server(run, pg, "localhost", &o, &err) != 0 ||
        postgres_survey_found(run, pg, &wanted, &f, &err) != 0)
        fail_msg("%s", err.what);
    postgres_server_free(w->server);
    postgres_slots_free(w->slots);
    postgres_sessions_free(w->sessions);
    postgres_role_free(w->role);
    postgres_tables_free(w->chosen);
    postgres_publication_free(w->publication);
    postgres_watermarks_free(w->watermarks);
    w->server = o.server;
    w->slots = o.slots;
    w->sessions = o.sessions;
    w->role = f.role;
    w->chosen = f.chosen;
    w->publication = f.publication;
    w->watermarks = f.watermarks;
    postgres_tables_free(o.catalogue);
    run_free(run);
}

static void found_release(struct found *f)
{
    xfree(f->id);
    xfree(f->saw);
}

/* find, send, find again. */
static int carry_out(struct world *w, const struct change *c, int deadline_ms, struct problem *err)
{
    struct run *run = run_new_detached(world_snapshot(w), net, deadline_ms);
    struct found before = {0}, after = {0};
    struct made made = {0};
    if (c->kind->find(run, c, &before, err) != 0)
        fail_msg("find %s: %s", c->id, err->what);
    assert_false(before.as_wanted);
    assert_false(before.present);
    int rc = c->kind->send(run, c, &made, err);
    if (rc == 0) {
        assert_int_equal(c->kind->find(run, c, &after, err), 0);
        if (!after.as_wanted)
            fail_msg("%s: %s", c->id, after.saw);
        assert_true(after.present);
    }
    found_release(&before);
    found_release(&after);
    xfree(made.id);
    run_free(run);
    return rc;
}

static void apply_all(struct world *w)
{
    struct plan p;
    plan_init(&p);
    postgres_plan(world_snapshot(w), &p);
    for (size_t i = 0; i < p.count; i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        if (carry_out(w, p.changes[i], 20000, &err) != 0)
            fail_msg("%s: %s\n%s", p.changes[i]->id, err.what, p.changes[i]->preview);
    }
    plan_release(&p);
}

/* Takes back what the plan of this world would make, in reverse order. */
static void undo_all(struct world *w)
{
    struct plan p;
    plan_init(&p);
    postgres_plan(world_snapshot(w), &p);
    for (size_t i = p.count; i-- > 0;) {
        struct run *run = run_new_detached(world_snapshot(w), net, 20000);
        AUTO_PROBLEM err = PROBLEM_INIT;
        const struct change *c = p.changes[i];
        if (c->kind->undo(run, c, &err) != 0)
            fail_msg("undo %s: %s", c->id, err.what);
        if (c->kind->undo(run, c, &err) != 0) /* a second time nothing is left to do */
            fail_msg("undo %s again: %s", c->id, err.what);
        run_free(run);
    }
    plan_release(&p);
}

static void assert_nothing_planned(const char *tables)
{
    AUTO_WORLD w;
    look_around(&w, tables);
    struct plan p;
    plan_init(&p);
    postgres_plan(world_snapshot(&w), &p);
    if (p.count > 0)
        fail_msg("still planned: %s\n%s", p.changes[0]->id, p.changes[0]->preview);
    assert_int_equal(p.missing_count, 0);
    plan_release(&p);
}

static void run_checks(struct world *w, const char *const *ids)
{
    for (; *ids != NULL; ids++) {
        const struct check *c = w->rows.checks[rows_check(&w->rows, *ids)];
        struct run_spec spec = {
            .snapshot = world_snapshot(w), .check = c, .net = net, .deadline_ms = 30000};
        struct run *run = run_make(&spec, NULL);
        AUTO_OUTCOME *o = outcome_new();
        c->run(run, o);
        run_free(run);
        if (o->status != STATUS_PASSED)
            fail_msg("%s: %s, %s", *ids, o->line, o->evidence);
    }
}

static void all_is_made_proved_and_taken_back(void **state)
{
    (void)state;
    static const char *const proofs[] = {
        "postgres.connect_capture",  "postgres.replication_connection",
        "postgres.select",           "postgres.published",
        "postgres.watermarks_write", "postgres.cdc_round_trip",
        "postgres.cdc_round_trip",   NULL};
    AUTO_WORLD before;
    look_around(&before, TABLES);
    apply_all(&before);
    assert_nothing_planned(TABLES);
    AUTO_WORLD after;
    look_around(&after, TABLES);
    run_checks(&after, proofs);
    undo_all(&before);
    AUTO_WORLD end;
    look_around(&end, TABLES);
    assert_false(end.role->exists || end.publication->exists || end.watermarks->exists);
    assert_int_equal(postgres_tables_written(end.chosen, "public.tags")->replica, 'd');
}

static void later_tables_are_added_and_only_they_taken_back(void **state)
{
    (void)state;
    AUTO_WORLD first;
    look_around(&first, "public.orders");
    apply_all(&first);
    AUTO_WORLD second;
    look_around(&second, TABLES);
    apply_all(&second);
    assert_nothing_planned(TABLES);
    undo_all(&second);
    assert_nothing_planned("public.orders");
    undo_all(&first);
}

/* A table renamed since keeps its right, which keeps the user. */
static void a_user_who_holds_more_is_told_how_to_go_on(void **state)
{
    (void)state;
    AUTO_WORLD w;
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct plan p;
    look_around(&w, "public.orders");
    apply_all(&w);
    plan_init(&p);
    postgres_plan(world_snapshot(&w), &p);
    const struct change *role = plan_find(&p, "postgres.role");
    sql("GRANT SELECT ON clicks TO flow_shop");
    struct run *run = run_new_detached(world_snapshot(&w), net, 20000);
    assert_int_equal(role->kind->undo(run, role, &err), -1);
    assert_string_equal(err.code, "2BP01");
    assert_int_equal(err.who, WHO_DBA);
    assert_non_null(strstr(err.fix, "REVOKE what is named from flow_shop"));
    run_free(run);
    plan_release(&p);
    sql("REVOKE SELECT ON clicks FROM flow_shop");
    undo_all(&w);
}

/* The journal is a file that people edit: items of another form are none. */
static void items_of_another_form_take_nothing_back(void **state)
{
    (void)state;
    AUTO_WORLD w;
    struct plan p;
    look_around(&w, TABLES);
    apply_all(&w);
    plan_init(&p);
    postgres_plan(world_snapshot(&w), &p);
    for (size_t i = 0; i < p.count; i++) {
        struct change *c = p.changes[i];
        struct node *items = node_list();
        node_add(items, node_map());
        node_add(items, node_list());
        node_set(c->args, "items", items);
        AUTO_PROBLEM err = PROBLEM_INIT;
        struct run *run = run_new_detached(world_snapshot(&w), net, 20000);
        /* a published table keeps its identity: that is refused */
        if (c->kind->undo(run, c, &err) != 0 && c->kind != &postgres_kind_repair)
            fail_msg("undo %s: %s", c->id, err.what);
        run_free(run);
    }
    plan_release(&p);
    assert_nothing_planned(TABLES);
    undo_all(&w);
}

/* As a table's name does that an SQL_ASCII database let in. */
static void bytes_that_are_no_text_are_explained(void **state)
{
    (void)state;
    struct run *run = new_run(10000);
    AUTO_PG *pg = open_plain(run);
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct pg_item item = {.name = "tables", .sql = "SELECT convert_from('\\xff', 'UTF8')"};
    assert_int_equal(pg_pipeline(run, pg, &item, 1, &err), 0);
    assert_int_equal(postgres_first_failure(&item, 1, &err), -1);
    assert_non_null(strstr(err.why, "SQL_ASCII"));
    assert_int_equal(err.who, WHO_DBA);
    assert_non_null(strstr(err.fix, "rename it"));
    pg_items_release(&item, 1);
    run_free(run);
}

/* --- the guard -------------------------------------------------------------------------------- */

static void a_table_that_lost_its_key_is_not_published(void **state)
{
    (void)state;
    sql("CREATE TABLE fragile (id int CONSTRAINT fragile_pk PRIMARY KEY)");
    AUTO_WORLD w;
    look_around(&w, "public.orders, public.fragile");
    struct plan p;
    plan_init(&p);
    postgres_plan(world_snapshot(&w), &p);
    sql("ALTER TABLE fragile DROP CONSTRAINT fragile_pk");
    for (size_t i = 0; i < p.count; i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        bool last = strcmp(p.changes[i]->id, "postgres.publication") == 0;
        assert_int_equal(carry_out(&w, p.changes[i], 20000, &err), last ? -1 : 0);
        if (!last)
            continue;
        assert_string_equal(err.code, "55000");
        assert_string_equal(err.what,
                            "public.fragile has no replica identity: nothing was published");
    }
    plan_release(&p);
    sql("INSERT INTO fragile VALUES (1)");
    sql("UPDATE fragile SET id = 2"); /* the application goes on */
    undo_all(&w);
    sql("DROP TABLE fragile");
}

static void a_table_that_is_gone_is_left_out(void **state)
{
    (void)state;
    sql("CREATE TABLE brief (id int PRIMARY KEY)");
    AUTO_WORLD w;
    look_around(&w, "public.orders, public.brief");
    struct plan p;
    plan_init(&p);
    postgres_plan(world_snapshot(&w), &p);
    sql("DROP TABLE brief");
    for (size_t i = 0; i < p.count; i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        if (carry_out(&w, p.changes[i], 20000, &err) != 0)
            fail_msg("%s: %s", p.changes[i]->id, err.what);
    }
    plan_release(&p);
    undo_all(&w);
}

static void more_than_was_shown_is_not_sent(void **state)
{
    (void)state;
    AUTO_WORLD w;
    look_around(&w, "public.orders");
    apply_all(&w);
    AUTO_WORLD more;
    look_around(&more, "public.orders, public.tags");
    struct plan p;
    plan_init(&p);
    postgres_plan(world_snapshot(&more), &p);
    const struct change *c = plan_find(&p, "postgres.publication");
    assert_non_null(c);
    sql("ALTER PUBLICATION flow_shop DROP TABLE orders");
    AUTO_PROBLEM err = PROBLEM_INIT;
    for (size_t i = 0; i < p.count; i++)
        if (p.changes[i] != c)
            assert_int_equal(carry_out(&more, p.changes[i], 20000, &err), 0);
    assert_int_equal(carry_out(&more, c, 20000, &err), -1);
    assert_int_equal(err.kind, PROBLEM_CONFLICT);
    assert_has(err.what, "needs more by now than was shown: add public.orders");
    plan_release(&p);
    sql("ALTER PUBLICATION flow_shop ADD TABLE orders");
    sql("ALTER TABLE tags REPLICA IDENTITY DEFAULT");
    sql("REVOKE SELECT ON tags FROM flow_shop");
    undo_all(&w);
}

/* --- locks ------------------------------------------------------------------------------------ */

static void a_lock_is_waited_for_briefly_and_its_holder_named(void **state)
{
    (void)state;
    AUTO_WORLD w;
    look_around(&w, "public.orders, public.tags");
    struct plan p;
    plan_init(&p);
    postgres_plan(world_snapshot(&w), &p);
    const struct change *c = plan_find(&p, "postgres.repair.public.tags");
    struct run *run = new_run(20000);
    AUTO_PG *holder = open_plain(run);
    execute(run, holder, "BEGIN");
    execute(run, holder, "LOCK TABLE tags IN ROW EXCLUSIVE MODE");
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(carry_out(&w, c, 6000, &err), -1);
    assert_string_equal(err.code, "55P03");
    assert_has(err.why, "postgres");
    assert_has(err.why, "idle in transaction");
    assert_has(err.copy, "SELECT pg_terminate_backend(");
    execute(run, holder, "ROLLBACK");
    AUTO_PROBLEM none = PROBLEM_INIT;
    assert_int_equal(carry_out(&w, c, 20000, &none), 0);
    sql("ALTER TABLE tags REPLICA IDENTITY DEFAULT");
    plan_release(&p);
    run_free(run);
}

/* --- the round trip --------------------------------------------------------------------------- */

static int trip(const char *publication, int deadline_ms, struct problem *err)
{
    struct run *run = new_run(deadline_ms);
    struct postgres_round_trip t = {.login = admin(),
                                    .publication = publication,
                                    .watermarks = "public.marks",
                                    .slot = "flow_shop"};
    int rc = postgres_round_trip(run, &t, err);
    if (rc == 0)
        assert_false(t.row_stays); /* an owner may delete it */
    postgres_round_trip_release(&t);
    run_free(run);
    return rc;
}

static long slots_there(void)
{
    struct run *run = new_run(10000);
    AUTO_PG *pg = open_plain(run);
    AUTO_RESULT *r =
        pg_query(run, pg, "SELECT count(*) AS n FROM pg_replication_slots", NULL, 0, NULL);
    long n = (long)pg_number(r, 0, "n", -1);
    run_free(run);
    return n;
}

static void a_change_comes_through_or_the_reason_is_told(void **state)
{
    (void)state;
    sql("CREATE TABLE marks (slot text PRIMARY KEY, watermark text)");
    sql("CREATE PUBLICATION good FOR TABLE marks");
    sql("CREATE PUBLICATION empty");
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (trip("good", 30000, &err) != 0)
        fail_msg("%s", err.what);
    assert_int_equal(trip("missing", 30000, &err), -1);
    assert_string_equal(err.code, "42704");
    assert_has(err.what, "knows no publication missing");
    assert_int_equal(trip("empty", 30000, &err), -1);
    assert_string_equal(err.code, "silence");
    assert_has(err.fix, "public.marks must be in empty");
    assert_int_equal(slots_there(), 0);
}

static void a_long_transaction_is_named(void **state)
{
    (void)state;
    struct run *run = new_run(30000);
    AUTO_PG *holder = open_plain(run);
    execute(run, holder, "BEGIN");
    execute(run, holder, "UPDATE orders SET note = 'x' WHERE id = 1");
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(trip("good", 30000, &err), -1);
    assert_string_equal(err.code, "55P03");
    assert_has(err.what, "waits for a transaction that does not end");
    assert_has(err.why, "pid ");
    assert_has(err.copy, "SELECT pg_terminate_backend(");
    assert_int_equal(err.who, WHO_DBA);
    execute(run, holder, "ROLLBACK");
    assert_int_equal(slots_there(), 0);
    run_free(run);
}

static void no_free_slot_is_told(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        AUTO(xfree) char *make = xasprintf("SELECT pg_create_physical_replication_slot('s%d')", i);
        sql(make);
    }
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(trip("good", 30000, &err), -1);
    assert_string_equal(err.code, "53400");
    assert_has(err.what, "no replication slot is free");
    for (int i = 0; i < 10; i++) {
        AUTO(xfree) char *drop = xasprintf("SELECT pg_drop_replication_slot('s%d')", i);
        sql(drop);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_server_is_surveyed),
        cmocka_unit_test(row_security_is_judged_for_the_user),
        cmocka_unit_test(bytes_that_are_no_text_are_explained),
        cmocka_unit_test(all_is_made_proved_and_taken_back),
        cmocka_unit_test(later_tables_are_added_and_only_they_taken_back),
        cmocka_unit_test(a_user_who_holds_more_is_told_how_to_go_on),
        cmocka_unit_test(items_of_another_form_take_nothing_back),
        cmocka_unit_test(a_table_that_lost_its_key_is_not_published),
        cmocka_unit_test(a_table_that_is_gone_is_left_out),
        cmocka_unit_test(more_than_was_shown_is_not_sent),
        cmocka_unit_test(a_lock_is_waited_for_briefly_and_its_holder_named),
        cmocka_unit_test(a_change_comes_through_or_the_reason_is_told),
        cmocka_unit_test(a_long_transaction_is_named),
        cmocka_unit_test(no_free_slot_is_told),
    };
    return cmocka_run_group_tests(tests, prepare, tear_down);
}
