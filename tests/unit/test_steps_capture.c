/* The step capture: defaults, names that collide, TLS, keys, drafts; words included. */
#include "spec_world.h"

static void defaults_follow_what_was_answered(void **state)
{
    (void)state;
    AUTO_WORLD w;
    spec_open(&w);
    assert_string_equal(spec_default(&w, "capture.name"), "acmeCo/shop/source-postgres");
    assert_string_equal(spec_default(&w, "capture.history"), "no");
    assert_string_equal(spec_default(&w, "capture.sslmode"), "verify-full");
    world_text(&w, "postgres.ca_file", "/ca.pem");
    assert_string_equal(spec_default(&w, "capture.sslmode"), "require");
    world_text(&w, "postgres.sslmode", "prefer");
    assert_string_equal(spec_default(&w, "capture.sslmode"), "prefer");
    world_text(&w, "start.prefix", "");
    assert_string_equal(spec_default(&w, "capture.name"), "");
}

static void begins_with_tables_and_a_prefix(void **state)
{
    (void)state;
    AUTO_WORLD w;
    spec_open(&w);
    assert_true(step_capture.begun(world_snapshot(&w)));
    world_text(&w, "start.prefix", "");
    assert_false(step_capture.begun(world_snapshot(&w)));
    world_text(&w, "capture.history", "yes");
    assert_true(step_capture.begun(world_snapshot(&w)));
    world_text(&w, "capture.history", "");
    world_text(&w, "start.prefix", "acmeCo/");
    world_list(&w, "postgres.tables", "");
    assert_false(step_capture.begun(world_snapshot(&w)));
}

static void all_is_well(void **state)
{
    (void)state;
    static const char *const passes[][2] = {
        {"capture.name", "acmeCo/shop/source-postgres, collections below acmeCo/shop/"},
        {"capture.config", "db.example.com:5432, slot flow_shop, publication flow_shop"},
        {"capture.tls", "certificate checked by public CAs"},
        {"capture.collections", "2, all different"},
    };
    AUTO_WORLD w;
    spec_open(&w);
    for (size_t i = 0; i < ARRAY_LEN(passes); i++) {
        AUTO_OUTCOME *o = spec_judge(&w, passes[i][0]);
        assert_int_equal(o->status, STATUS_PASSED);
        assert_has(o->line, passes[i][1]);
    }
    AUTO_OUTCOME *o = spec_judge(&w, "capture.collections");
    assert_string_equal(spec_item(o, "public.\"Order Items\"")->line,
                        "acmeCo/shop/public/order_items");
}

static void a_name_outside_the_prefix(void **state)
{
    (void)state;
    AUTO_WORLD w;
    spec_open(&w);
    world_text(&w, "capture.name", "other/shop/source-postgres");
    AUTO_OUTCOME *o = spec_judge(&w, "capture.name");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->line, "stands outside your prefix acmeCo/");
    assert_helps(o);
    AUTO_OUTCOME *c = spec_judge(&w, "capture.collections");
    assert_has(spec_item(c, "public.orders")->line,
               "other/shop/public/orders stands outside acmeCo/");
}

static void two_tables_of_one_collection(void **state)
{
    (void)state;
    AUTO_WORLD w;
    spec_open(&w);
    world_list(&w, "postgres.tables", "public.orders, public.\"Orders\", audit.orders");
    spec_map(&w, "capture.bindings", "audit.orders", "acmeCo/shop/audit/all");
    AUTO_OUTCOME *o = spec_judge(&w, "capture.collections");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->line, "1 of 3 collections");
    assert_helps(o);
    assert_string_equal(spec_item(o, "public.\"Orders\"")->line,
                        "and public.orders both go to acmeCo/shop/public/orders");
    assert_string_equal(o->suggest_field, "capture.bindings");
    assert_string_equal(o->suggest_value, "audit.orders=acmeCo/shop/audit/all, "
                                          "public.\"Orders\"=acmeCo/shop/public/orders_2");
    spec_map(&w, "capture.bindings", "public.\"Orders\"", "acmeCo/shop/public/orders_2");
    AUTO_OUTCOME *again = spec_judge(&w, "capture.collections");
    assert_int_equal(again->status, STATUS_PASSED);
}

static void a_capture_that_is_a_folder(void **state)
{
    (void)state;
    AUTO_WORLD w;
    spec_open(&w);
    world_text(&w, "capture.name", "acmeCo/public");
    AUTO_OUTCOME *o = spec_judge(&w, "capture.collections");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(spec_item(o, "public.orders")->line,
               "acmeCo/public/orders and the capture acmeCo/public");
    assert_null(o->suggest_field);
}

static void many_tables_are_said(void **state)
{
    (void)state;
    AUTO_WORLD w;
    AUTO_TEXT tables = TEXT_INIT;
    spec_open(&w);
    for (int i = 0; i <= 300; i++)
        text_addf(&tables, "public.t%d\n", i);
    world_list(&w, "postgres.tables", tables.s);
    AUTO_OUTCOME *o = spec_judge(&w, "capture.collections");
    assert_int_equal(o->status, STATUS_WARNED);
    assert_has(o->line, "301 collections");
}

static void the_connectors_words(void **state)
{
    (void)state;
    AUTO_WORLD w;
    spec_open(&w);
    world_text(&w, "postgres.host", "x.pooler.supabase.com");
    world_text(&w, "postgres.port", "6543");
    world_text(&w, "postgres.slot", "Flow");
    AUTO_OUTCOME *o = spec_judge(&w, "capture.config");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->line, "address must be a direct connection");
    assert_has(o->why, "refuses the config with these words");
    assert_has(o->fix, "The answer is postgres.host");
    assert_has(spec_item(o, "advanced.slotName")->fix, "postgres.slot");
}

static void tls_that_estuary_cannot_do(void **state)
{
    (void)state;
    static const struct {
        const char *mode, *here, *ca, *line;
        enum status status;
    } rows[] = {
        {"verify-full", "verify-full", "", "public CAs", STATUS_PASSED},
        {"verify-full", "verify-full", "/ca.pem", "cannot check", STATUS_FAILED},
        {"verify-ca", "require", "", "was not tried here", STATUS_WARNED},
        {"require", "verify-full", "/ca.pem", "certificate not checked", STATUS_PASSED},
        {"prefer", "require", "", "where the server has no TLS", STATUS_WARNED},
        {"disable", "disable", "", "in clear", STATUS_WARNED},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_WORLD w;
        spec_open(&w);
        world_text(&w, "capture.sslmode", rows[i].mode);
        world_text(&w, "postgres.sslmode", rows[i].here);
        world_text(&w, "postgres.ca_file", rows[i].ca);
        AUTO_OUTCOME *o = spec_judge(&w, "capture.tls");
        assert_int_equal(o->status, rows[i].status);
        assert_has(o->line, rows[i].line);
        if (o->status != STATUS_PASSED)
            assert_helps(o);
    }
}

static void keys_and_drafts(void **state)
{
    (void)state;
    AUTO_WORLD w;
    spec_open(&w);
    struct postgres_tables *t = postgres_tables_new();
    spec_table(t, "public.orders", POSTGRES_KEY_PRIMARY, "id");
    spec_table(t, "public.\"Order Items\"", POSTGRES_KEY_INDEX, "order_id, line");
    world_fact(&w, "postgres.chosen", fact_new(&postgres_chosen_type, t));
    AUTO_OUTCOME *good = spec_judge(&w, "capture.keys");
    assert_int_equal(good->status, STATUS_PASSED);
    t = postgres_tables_new();
    spec_table(t, "public.log", POSTGRES_KEY_NONE, "");
    world_fact(&w, "postgres.chosen", fact_new(&postgres_chosen_type, t));
    AUTO_OUTCOME *none = spec_judge(&w, "capture.keys");
    assert_int_equal(none->status, STATUS_WARNED);
    assert_has(none->line, "1 of 1 tables without a key");
    assert_helps(none);
    AUTO_OUTCOME *drafts = spec_judge(&w, "capture.drafts");
    assert_int_equal(drafts->status, STATUS_WARNED);
    assert_string_equal(drafts->copy, "flowctl discover --source flow.yaml");
    assert_has(drafts->why, "_meta");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_follow_what_was_answered),
        cmocka_unit_test(begins_with_tables_and_a_prefix),
        cmocka_unit_test(all_is_well),
        cmocka_unit_test(a_name_outside_the_prefix),
        cmocka_unit_test(two_tables_of_one_collection),
        cmocka_unit_test(a_capture_that_is_a_folder),
        cmocka_unit_test(many_tables_are_said),
        cmocka_unit_test(the_connectors_words),
        cmocka_unit_test(tls_that_estuary_cannot_do),
        cmocka_unit_test(keys_and_drafts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
