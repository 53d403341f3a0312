/* The step materialization: what is asked, names and places, rules, deletes; words included. */
#include "spec_world.h"

#include "steps/materialization/materialization.h"

static const struct field *field_of(struct world *w, const char *id)
{
    int i = rows_field(&w->rows, id);
    assert_true(i >= 0);
    return w->rows.fields[i];
}

static void deletes_and_pace_are_asked(void **state)
{
    (void)state;
    static const char *const asked[] = {"materialization.namespace", "materialization.hard_delete",
                                        "materialization.sync_frequency"};
    AUTO_WORLD w;
    spec_open(&w);
    for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
        const struct field *f = field_of(&w, asked[i]);
        assert_true(f->required);
        assert_null(f->initial);
        assert_null(f->default_from);
    }
    static const char *const words[][2] = {
        {"true", "yes"}, {"hard", "yes"}, {" no ", "no"}, {"false", "no"}, {"maybe", "maybe"}};
    const struct field *f = field_of(&w, "materialization.hard_delete");
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        AUTO(xfree) char *kept = f->normalise(words[i][0]);
        assert_string_equal(kept, words[i][1]);
    }
    assert_string_equal(spec_default(&w, "materialization.name"),
                        "acmeCo/shop/materialize-bauplan");
}

static void names_that_would_be_changed_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *field, *text, *other; /* other NULL = fine */
    } rows[] = {
        {"materialization.namespace", "analytics_2", NULL},
        {"materialization.namespace", "My.Ns", "my_ns"},
        {"materialization.bindings", "Order-Items", "order_items"},
        {"materialization.bindings", "order_items", NULL},
    };
    AUTO_WORLD w;
    spec_open(&w);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        int rc = field_of(&w, rows[i].field)->valid(rows[i].text, &err);
        assert_int_equal(rc, rows[i].other != NULL ? -1 : 0);
        if (rows[i].other != NULL)
            assert_has(err.fix, rows[i].other);
    }
}

static void begins_with_an_answer(void **state)
{
    (void)state;
    static const char *const answered[] = {"materialization.namespace",
                                           "materialization.hard_delete",
                                           "materialization.sync_frequency"};
    AUTO_WORLD w;
    spec_open(&w);
    assert_true(step_materialization.begun(world_snapshot(&w)));
    for (size_t i = 0; i < ARRAY_LEN(answered); i++)
        world_text(&w, answered[i], "");
    assert_false(step_materialization.begun(world_snapshot(&w)));
}

static void all_is_well(void **state)
{
    (void)state;
    static const char *const passes[][2] = {
        {"materialization.name", "/estuary/shop/acmeCo_shop_materialize_bauplan_E6CD0446FFC44D10"},
        {"materialization.namespace", "analytics is there"},
        {"materialization.tables", "2, none share a name or a place"},
        {"materialization.config", "/iceberg/alice.ingest, s3://lake-acme/iceberg"},
        {"materialization.policies", "bucket_path estuary-staging in lake-acme"},
        {"materialization.deletes", "marked d"},
        {"materialization.schedule", "up to 48 syncs a day"},
    };
    AUTO_WORLD w;
    spec_open(&w);
    for (size_t i = 0; i < ARRAY_LEN(passes); i++) {
        AUTO_OUTCOME *o = spec_judge(&w, passes[i][0]);
        if (o->status != STATUS_PASSED)
            fail_msg("%s: %s", passes[i][0], o->line);
        assert_has(o->line, passes[i][1]);
    }
    AUTO_OUTCOME *o = spec_judge(&w, "materialization.tables");
    assert_string_equal(
        spec_item(o, "public.orders")->line,
        "analytics.orders at s3://lake-acme/iceberg/analytics_orders_48AF4B8B29A29B3C");
}

static void names_do_not_go_together(void **state)
{
    (void)state;
    static const struct {
        const char *name, *line;
    } rows[] = {
        {"elsewhere/x/y", "outside your prefix"},
        {"acmeCo/shop/source-postgres", "acmeCo/shop/source-postgres do not go together"},
        {"acmeCo/shop/Source-Postgres/x", "do not go together"},
        {"acmeCo/shop", "do not go together"},
        {"acmeCo/shop/public/orders", "acmeCo/shop/public/orders do not go together"},
    };
    AUTO_WORLD w;
    spec_open(&w);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        world_text(&w, "materialization.name", rows[i].name);
        AUTO_OUTCOME *o = spec_judge(&w, "materialization.name");
        assert_int_equal(o->status, STATUS_FAILED);
        assert_has(o->line, rows[i].line);
        assert_helps(o);
    }
}

static void namespaces(void **state)
{
    (void)state;
    static const struct {
        const char *ns, *line;
        enum status status;
    } rows[] = {
        {"fresh", "fresh is new", STATUS_PASSED},
        {"sales", "there is Sales; Estuary would make sales beside it", STATUS_WARNED},
        {"estuary", "also the name of", STATUS_WARNED},
    };
    AUTO_WORLD w;
    spec_open(&w);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        world_text(&w, "materialization.namespace", rows[i].ns);
        AUTO_OUTCOME *o = spec_judge(&w, "materialization.namespace");
        assert_int_equal(o->status, rows[i].status);
        assert_has(o->line, rows[i].line);
    }
}

static void tables_of_two_schemas(void **state)
{
    (void)state;
    AUTO_WORLD w;
    spec_open(&w);
    world_list(&w, "postgres.tables", "public.orders, audit.orders, public.\"or-ders\", a.or_ders");
    spec_map(&w, "materialization.bindings", "public.orders", "orders");
    AUTO_OUTCOME *o = spec_judge(&w, "materialization.tables");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->line, "2 tables would share");
    assert_helps(o);
    assert_string_equal(spec_item(o, "audit.orders")->line,
                        "and public.orders both become analytics.orders");
    assert_string_equal(spec_item(o, "a.or_ders")->line,
                        "and public.\"or-ders\" both become analytics.or_ders");
    assert_string_equal(o->suggest_field, "materialization.bindings");
    assert_string_equal(o->suggest_value,
                        "public.orders=orders, audit.orders=audit_orders, a.or_ders=a_or_ders");
    spec_map(&w, "materialization.bindings", "audit.orders", "audit_orders");
    world_list(&w, "postgres.tables", "public.orders, audit.orders");
    AUTO_OUTCOME *good = spec_judge(&w, "materialization.tables");
    assert_int_equal(good->status, STATUS_PASSED);
}

static void the_connectors_rules(void **state)
{
    (void)state;
    static const struct {
        const char *field, *value, *line, *answer;
    } rows[] = {
        {"bucket.staging_prefix", "", NULL, NULL}, /* falls back to its default */
        {"bucket.staging_prefix", "iceberg", "and the staging place overlap", "bucket.lake_prefix"},
        {"emr.application", "", "missing 'application_id'", "emr.application"},
        {"oauth.token_uri", "api/v1/oauth/tokens", "is of an older guide", "oauth.token_uri"},
        {"iam.ssm_prefix", "/", "is the root", "iam.ssm_prefix"},
        {"bucket.staging", "a.b", "bare name", "bucket.staging"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_WORLD w;
        spec_open(&w);
        world_text(&w, rows[i].field, rows[i].value);
        AUTO_OUTCOME *o = spec_judge(&w, "materialization.config");
        assert_int_equal(o->status, rows[i].line != NULL ? STATUS_FAILED : STATUS_PASSED);
        if (rows[i].line == NULL)
            continue;
        assert_has(o->line, rows[i].line);
        assert_has(o->fix, rows[i].answer);
        assert_helps(o);
    }
}

static void the_keys_of_a_session_are_refused(void **state)
{
    (void)state;
    AUTO_WORLD w;
    spec_open(&w);
    struct secret *key =
        secret_new("ASIAIOSFODNN7EXAMPLE:0123456789012345678901234567890123456789", 61);
    world_answer(&w, "iam.access_key", value_secret(key, NULL, NULL));
    secret_unref(key);
    AUTO_OUTCOME *o = spec_judge(&w, "materialization.config");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->line, "of a session");
}

static void a_role_that_is_still_to_be_made(void **state)
{
    (void)state;
    AUTO_WORLD w;
    spec_open(&w);
    spec_role(&w, NULL);
    AUTO_OUTCOME *o = spec_judge(&w, "materialization.config");
    assert_int_equal(o->status, STATUS_PASSED);
}

static void hard_deletes_of_drafts_are_refused(void **state)
{
    (void)state;
    AUTO_WORLD w;
    spec_open(&w);
    world_text(&w, "materialization.hard_delete", "yes");
    AUTO_OUTCOME *o = spec_judge(&w, "materialization.deletes");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->why, "_meta");
    assert_has(o->fix, "Answer the Estuary token");
    assert_string_equal(o->suggest_value, "no");
}

/* With a login they are still to be discovered: nothing the operator did wrong. */
static void hard_deletes_wait_for_the_discovery(void **state)
{
    (void)state;
    AUTO_WORLD w;
    spec_open(&w);
    world_text(&w, "materialization.hard_delete", "yes");
    struct secret *token = secret_new("a token", strlen("a token"));
    world_answer(&w, "start.token", value_secret(token, NULL, NULL));
    secret_unref(token);
    AUTO_OUTCOME *o = spec_judge(&w, "materialization.deletes");
    assert_int_equal(o->status, STATUS_WARNED);
    assert_has(o->fix, "allow the discovery");
    assert_null(o->suggest_value);
}

static void paces(void **state)
{
    (void)state;
    static const struct {
        const char *every;
        long syncs;
        enum status status;
    } rows[] = {{"0s", 0, STATUS_WARNED},  {"30s", 2880, STATUS_WARNED}, {"5m", 288, STATUS_PASSED},
                {"1h", 24, STATUS_PASSED}, {"4h", 6, STATUS_PASSED},     {"x", 0, STATUS_WARNED}};
    AUTO_WORLD w;
    spec_open(&w);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(materialization_syncs(rows[i].every), rows[i].syncs);
        world_text(&w, "materialization.sync_frequency", rows[i].every);
        AUTO_OUTCOME *o = spec_judge(&w, "materialization.schedule");
        assert_int_equal(o->status, rows[i].status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deletes_and_pace_are_asked),
        cmocka_unit_test(names_that_would_be_changed_are_refused),
        cmocka_unit_test(begins_with_an_answer),
        cmocka_unit_test(all_is_well),
        cmocka_unit_test(names_do_not_go_together),
        cmocka_unit_test(namespaces),
        cmocka_unit_test(tables_of_two_schemas),
        cmocka_unit_test(the_connectors_rules),
        cmocka_unit_test(the_keys_of_a_session_are_refused),
        cmocka_unit_test(a_role_that_is_still_to_be_made),
        cmocka_unit_test(hard_deletes_of_drafts_are_refused),
        cmocka_unit_test(hard_deletes_wait_for_the_discovery),
        cmocka_unit_test(paces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
