/* The plan of the step postgres over hand-made facts: only what differs, exact SQL, order, and what
 * stays out. */
#include "postgres_world.h"

static void plan_of(struct world *w, struct plan *p)
{
    plan_init(p);
    postgres_plan(world_snapshot(w), p);
}

#define AUTO_PLAN __attribute__((cleanup(plan_release))) struct plan

static const struct change *change_of(const struct plan *p, const char *id)
{
    const struct change *c = plan_find(p, id);
    if (c == NULL)
        fail_msg("no change %s", id);
    return c;
}

static bool comes_after(const struct change *c, const char *id)
{
    for (size_t i = 0; i < c->after_count; i++)
        if (strcmp(c->after[i], id) == 0)
            return true;
    return false;
}

static void assert_line(char *const *lines, size_t count, const char *part)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(lines[i], part) != NULL)
            return;
    fail_msg("no line with \"%s\"", part);
}

static void all_is_made_from_nothing(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    world_table(&w, "public.\"Order Items\"");
    world_table(&w, "audit.orders");
    world_before(&w);
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_int_equal(p.count, 4);
    assert_int_equal(p.missing_count, 0);
    const struct change *role = change_of(&p, "postgres.role");
    assert_string_equal(role->preview,
                        "CREATE ROLE flow_shop WITH LOGIN REPLICATION PASSWORD 'SCRAM-SHA-256$…';");
    assert_string_equal(role->title, "user flow_shop");
    assert_string_equal(role->detail, "login, REPLICATION; password made here");
    assert_string_equal(role->uses, "postgres.password");
    assert_int_equal(role->action, CHANGE_CREATE);
    const struct change *grants = change_of(&p, "postgres.grants");
    assert_string_equal(
        grants->preview,
        "GRANT CONNECT ON DATABASE shop TO flow_shop;\n"
        "GRANT USAGE ON SCHEMA public, audit TO flow_shop;\n"
        "GRANT SELECT ON public.orders, public.\"Order Items\", audit.orders TO flow_shop;");
    assert_string_equal(grants->detail, "CONNECT, USAGE on 2 schemas, SELECT on 3 tables");
    assert_true(comes_after(grants, "postgres.role"));
    const struct change *marks = change_of(&p, "postgres.watermarks");
    assert_string_equal(marks->preview,
                        "CREATE TABLE IF NOT EXISTS public.flow_watermarks\n"
                        "    (slot TEXT PRIMARY KEY, watermark TEXT);\n"
                        "GRANT SELECT, INSERT, UPDATE ON public.flow_watermarks TO flow_shop;");
    const struct change *publication = change_of(&p, "postgres.publication");
    assert_string_equal(publication->preview, "CREATE PUBLICATION flow_shop FOR TABLE\n"
                                              "    public.flow_watermarks,\n"
                                              "    public.orders,\n"
                                              "    public.\"Order Items\",\n"
                                              "    audit.orders\n"
                                              "    WITH (publish_via_partition_root = true);");
    assert_string_equal(publication->detail, "3 tables + watermarks, via partition root");
    assert_true(comes_after(publication, "postgres.watermarks"));
    for (size_t i = 0; i < p.count; i++) {
        assert_non_null(p.changes[i]->reason);
        assert_string_equal(p.changes[i]->step, "postgres");
    }
}

static void nothing_is_left_when_all_is_right(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_int_equal(p.count, 0);
    assert_int_equal(p.missing_count, 0);
    assert_line(p.right, p.right_count, "user flow_shop");
    assert_line(p.right, p.right_count, "grants");
    assert_line(p.right, p.right_count, "table public.flow_watermarks");
    assert_line(p.right, p.right_count, "publication flow_shop");
    assert_line(p.right, p.right_count, "10 free slots, TLSv1.3");
}

static void only_what_lacks_is_altered(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    struct postgres_table *t = world_table(&w, "public.new");
    t->selects = t->published = t->listed = false;
    w.role->replication = false;
    w.watermarks->updates = false;
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_string_equal(change_of(&p, "postgres.role")->preview,
                        "ALTER ROLE flow_shop WITH REPLICATION;");
    assert_null(change_of(&p, "postgres.role")->uses);
    assert_int_equal(change_of(&p, "postgres.role")->action, CHANGE_ALTER);
    assert_string_equal(change_of(&p, "postgres.grants")->preview,
                        "GRANT SELECT ON public.new TO flow_shop;");
    assert_string_equal(change_of(&p, "postgres.watermarks")->preview,
                        "GRANT UPDATE ON public.flow_watermarks TO flow_shop;");
    assert_string_equal(change_of(&p, "postgres.publication")->preview,
                        "ALTER PUBLICATION flow_shop ADD TABLE public.new;");
    assert_string_equal(change_of(&p, "postgres.publication")->detail, "1 more table");
}

static void rds_grants_a_role(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    world_before(&w);
    w.server->platform = POSTGRES_RDS;
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_string_equal(change_of(&p, "postgres.role")->preview,
                        "CREATE ROLE flow_shop WITH LOGIN PASSWORD 'SCRAM-SHA-256$…';\n"
                        "GRANT rds_replication TO flow_shop;");
}

static void azure_gives_its_admin_the_right_first(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    world_before(&w);
    w.server->platform = POSTGRES_AZURE;
    w.server->admin_super = w.server->admin_replication = false;
    AUTO_PLAN p;
    plan_of(&w, &p);
    const struct change *c = change_of(&p, "postgres.role");
    assert_has(c->preview, "ALTER ROLE postgres WITH REPLICATION;\nCREATE ROLE");
    assert_has(c->caution, "the admin postgres as well");
}

static void before_13_there_is_no_partition_root(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    world_before(&w);
    w.server->version = 120017;
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_string_equal(
        change_of(&p, "postgres.publication")->preview,
        "CREATE PUBLICATION flow_shop FOR TABLE public.flow_watermarks, public.orders;");
}

static void naked_tables_stay_out(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    world_naked(&w, "public.clickstream", NULL);
    world_before(&w);
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_has_not(change_of(&p, "postgres.publication")->preview, "clickstream");
    assert_line(p.missing, p.missing_count, "public.clickstream stays out of the publication");
}

static void a_wrong_repair_does_not_let_them_in(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_naked(&w, "public.order_tags", "order_tags_u");
    world_repair(&w, "public.order_tags", "index:other");
    world_before(&w);
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_has_not(change_of(&p, "postgres.publication")->preview, "order_tags");
    assert_null(plan_find(&p, "postgres.repair.public.order_tags"));
}

static void repairs_come_before_the_publication(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_naked(&w, "public.order_tags", "order_tags_u");
    world_repair(&w, "public.order_tags", "index:order_tags_u");
    world_before(&w);
    AUTO_PLAN p;
    plan_of(&w, &p);
    const struct change *c = change_of(&p, "postgres.repair.public.order_tags");
    assert_string_equal(c->preview,
                        "ALTER TABLE public.order_tags REPLICA IDENTITY USING INDEX order_tags_u;");
    assert_has(c->caution, "locks the table briefly");
    assert_has(c->detail, "DEFAULT → USING INDEX order_tags_u");
    const struct change *publication = change_of(&p, "postgres.publication");
    assert_has(publication->preview, "public.order_tags");
    assert_true(comes_after(publication, "postgres.repair.public.order_tags"));
}

static void full_reaches_every_partition(void **state)
{
    (void)state;
    static const char *const naked[] = {"public.events_1", "public.\"Events 2\""};
    AUTO_WORLD w;
    world_open(&w);
    struct postgres_table *t = world_naked(&w, "public.events", NULL);
    t->kind = 'p';
    t->partitions = 2;
    t->naked = naked;
    t->naked_count = 2;
    world_repair(&w, "public.events", "full");
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_string_equal(change_of(&p, "postgres.repair.public.events")->preview,
                        "ALTER TABLE public.events REPLICA IDENTITY FULL;\n"
                        "ALTER TABLE public.events_1 REPLICA IDENTITY FULL;\n"
                        "ALTER TABLE public.\"Events 2\" REPLICA IDENTITY FULL;");
}

static void an_adopted_publication_is_only_added_to(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    w.publication->via_root = false;
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_null(plan_find(&p, "postgres.publication"));
}

static void a_partitioned_table_needs_via_root(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    struct postgres_table *t = world_table(&w, "public.events");
    t->kind = 'p';
    t->published = false; /* only its partitions are handed out */
    w.publication->via_root = false;
    AUTO_PLAN p;
    plan_of(&w, &p);
    const struct change *c = change_of(&p, "postgres.publication");
    assert_string_equal(c->preview,
                        "ALTER PUBLICATION flow_shop SET (publish_via_partition_root = true);");
    assert_has(c->caution, "other readers");
}

static void all_tables_publications_are_not_added_to(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders")->listed = false;
    w.publication->all_tables = true;
    w.publication->watermarks_listed = false;
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_null(plan_find(&p, "postgres.publication"));
}

static void tables_that_cannot_be_captured_get_nothing(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    world_table(&w, "public.u")->persistence = 'u';
    world_table(&w, "public.v")->kind = 'v';
    world_table(&w, "public.gone")->found = false;
    world_table(&w, "public.orders_1")->partition = true;
    world_before(&w);
    AUTO_PLAN p;
    plan_of(&w, &p);
    for (size_t i = 0; i < p.count; i++) {
        assert_has_not(p.changes[i]->preview, "public.u");
        assert_has_not(p.changes[i]->preview, "public.v");
        assert_has_not(p.changes[i]->preview, "gone");
        assert_has_not(p.changes[i]->preview, "orders_1");
    }
}

static void an_unknown_password_is_set(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    world_answer(&w, "postgres.password", NULL, ORIGIN_NONE);
    AUTO_PLAN p;
    plan_of(&w, &p);
    const struct change *c = change_of(&p, "postgres.password");
    assert_string_equal(c->preview, "ALTER ROLE flow_shop WITH PASSWORD 'SCRAM-SHA-256$…';");
    assert_string_equal(c->uses, "postgres.password");
    assert_has(c->caution, "needs the new one");
    assert_int_equal(p.count, 1);
}

/* Killed between making the password and setting it: it is ours, and refused. A typed one is the
 * operator's. */
static void a_made_password_that_is_refused_is_set_again(void **state)
{
    (void)state;
    static const enum origin origins[] = {ORIGIN_MADE, ORIGIN_TYPED};
    for (size_t i = 0; i < ARRAY_LEN(origins); i++) {
        AUTO_WORLD w;
        world_open(&w);
        world_table(&w, "public.orders");
        world_secret(&w, "postgres.password", "made before the kill", origins[i]);
        w.login = postgres_login_state_new(false, true);
        AUTO_PLAN p;
        plan_of(&w, &p);
        assert_int_equal(plan_find(&p, "postgres.password") != NULL, origins[i] == ORIGIN_MADE);
    }
}

static void the_admins_own_password_is_never_set(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    world_answer(&w, "postgres.password", NULL, ORIGIN_NONE);
    w.role->is_admin = true;
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_int_equal(p.count, 0);
    assert_line(p.missing, p.missing_count, "is the admin itself");
}

static void watermarks_of_another_form_are_not_touched(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    w.watermarks->unique = w.watermarks->inserts = false;
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_null(plan_find(&p, "postgres.watermarks"));
    assert_line(p.missing, p.missing_count, "of another form");
}

static void without_facts_it_says_what_is_missing(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    postgres_server_free(w.server);
    w.server = NULL;
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_int_equal(p.count, 0);
    assert_string_equal(p.missing[0], "postgres: connects as admin has not passed");
}

static void no_table_no_publication(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_before(&w);
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_null(plan_find(&p, "postgres.publication"));
    assert_line(p.missing, p.missing_count, "no table is chosen");
}

static void the_preview_does_not_depend_on_the_password(void **state)
{
    (void)state;
    char *previews[2];
    for (int given = 0; given < 2; given++) {
        AUTO_WORLD w;
        world_open(&w);
        world_table(&w, "public.orders");
        world_before(&w);
        if (given)
            world_secret(&w, "postgres.password", "made at apply, 32 characters", ORIGIN_MADE);
        AUTO_PLAN p;
        plan_of(&w, &p);
        previews[given] = xstrdup(change_of(&p, "postgres.role")->preview);
    }
    assert_string_equal(previews[0], previews[1]);
    xfree(previews[0]);
    xfree(previews[1]);
}

static void hostile_names_are_quoted(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.\"x\"\"; DROP TABLE y; --\"");
    world_table(&w, "public.\"new\nline\t$$\"");
    world_table(&w, "public.\"esc\x1b[2J\"");
    world_before(&w);
    AUTO_PLAN p;
    plan_of(&w, &p);
    const char *preview = change_of(&p, "postgres.grants")->preview;
    assert_has(preview, "public.\"x\"\"; DROP TABLE y; --\"");
    assert_has(preview, "public.U&\"new\\+00000Aline\\+000009$$\"");
    assert_has(preview, "public.U&\"esc\\+00001B[2J\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_made_from_nothing),
        cmocka_unit_test(nothing_is_left_when_all_is_right),
        cmocka_unit_test(only_what_lacks_is_altered),
        cmocka_unit_test(rds_grants_a_role),
        cmocka_unit_test(azure_gives_its_admin_the_right_first),
        cmocka_unit_test(before_13_there_is_no_partition_root),
        cmocka_unit_test(naked_tables_stay_out),
        cmocka_unit_test(a_wrong_repair_does_not_let_them_in),
        cmocka_unit_test(repairs_come_before_the_publication),
        cmocka_unit_test(full_reaches_every_partition),
        cmocka_unit_test(an_adopted_publication_is_only_added_to),
        cmocka_unit_test(a_partitioned_table_needs_via_root),
        cmocka_unit_test(all_tables_publications_are_not_added_to),
        cmocka_unit_test(tables_that_cannot_be_captured_get_nothing),
        cmocka_unit_test(an_unknown_password_is_set),
        cmocka_unit_test(a_made_password_that_is_refused_is_set_again),
        cmocka_unit_test(the_admins_own_password_is_never_set),
        cmocka_unit_test(watermarks_of_another_form_are_not_touched),
        cmocka_unit_test(without_facts_it_says_what_is_missing),
        cmocka_unit_test(no_table_no_publication),
        cmocka_unit_test(the_preview_does_not_depend_on_the_password),
        cmocka_unit_test(hostile_names_are_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
