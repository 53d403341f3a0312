/* Outcomes: the last result wins, every text is cleaned and redacted, facts are let go of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "core/check.h"
#include "core/mem.h"
#include "core/outcome.h"
#include "core/secret.h"
#include "test_death.h"

static void test_names(void **state)
{
    (void)state;
    for (int i = 0; i < STATUS_COUNT; i++)
        assert_int_equal(status_parse(status_name((enum status)i)), i);
    assert_string_equal(status_name(STATUS_UNREACHABLE), "unreachable");
    assert_string_equal(status_name((enum status)99), "none");
    assert_int_equal(status_parse("fine"), STATUS_NONE);
    assert_int_equal(status_parse(NULL), STATUS_NONE);
    assert_string_equal(severity_name(SEV_BLOCKS), "blocks");
    assert_string_equal(severity_name(SEV_INFORMS), "informs");
    assert_string_equal(effect_name(EFFECT_READS), "reads");
    assert_string_equal(effect_name(EFFECT_COSTS), "costs");
}

static void test_last_wins(void **state)
{
    (void)state;
    struct outcome *o = outcome_new();
    assert_int_equal(o->status, STATUS_NONE);
    outcome_fail(o, "42P01", "no table %s", "x");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_string_equal(o->code, "42P01");
    outcome_fail(o, o->code, "%s, really", o->line);
    assert_string_equal(o->line, "no table x, really");
    assert_string_equal(o->code, "42P01");
    outcome_warn(o, "%d of %d", 1, 2);
    assert_int_equal(o->status, STATUS_WARNED);
    assert_null(o->code);
    outcome_skip(o, "not on RDS");
    assert_int_equal(o->status, STATUS_SKIPPED);
    outcome_pass(o, "PostgreSQL %s", "16.3\n");
    assert_int_equal(o->status, STATUS_PASSED);
    assert_string_equal(o->line, "PostgreSQL 16.3^J");
    outcome_unref(o);
    outcome_unref(NULL);
    assert_null(outcome_ref(NULL));
}

static void test_problem(void **state)
{
    (void)state;
    static const struct {
        enum problem_kind kind;
        enum status status;
    } rows[] = {
        {PROBLEM_INPUT, STATUS_FAILED},        {PROBLEM_UNREACHABLE, STATUS_UNREACHABLE},
        {PROBLEM_REFUSED, STATUS_FAILED},      {PROBLEM_DENIED, STATUS_FAILED},
        {PROBLEM_CANCELLED, STATUS_CANCELLED}, {PROBLEM_LOCAL, STATUS_FAILED},
        {PROBLEM_PROTOCOL, STATUS_FAILED},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_PROBLEM p = PROBLEM_INIT;
        problem_fail(&p, rows[i].kind, "28P01", "password refused");
        problem_why(&p, "wrong");
        problem_fix(&p, WHO_DBA, "set it");
        problem_evidence(&p, "FATAL:\nline two");
        problem_copy_command(&p, "ALTER ROLE x");
        struct outcome *o = outcome_new();
        outcome_problem(o, &p);
        assert_int_equal(o->status, rows[i].status);
        assert_int_equal(o->kind, rows[i].kind);
        assert_int_equal(o->who, WHO_DBA);
        assert_string_equal(o->code, "28P01");
        assert_string_equal(o->line, "password refused");
        assert_string_equal(o->why, "wrong");
        assert_string_equal(o->fix, "set it");
        assert_string_equal(o->evidence, "FATAL:\nline two");
        assert_string_equal(o->copy, "ALTER ROLE x");
        outcome_unref(o);
    }
    const struct problem empty = PROBLEM_INIT;
    struct outcome *o = outcome_new();
    outcome_problem(o, &empty);
    assert_int_equal(o->status, STATUS_FAILED);
    assert_non_null(o->line);
    outcome_unref(o);
}

/* A refused login must not be tried again by itself, however it is worded in the end. */
static void test_refusal_stays(void **state)
{
    (void)state;
    AUTO_PROBLEM p = PROBLEM_INIT;
    problem_fail(&p, PROBLEM_REFUSED, "28P01", "refused");
    struct outcome *o = outcome_new();
    outcome_problem(o, &p);
    outcome_fail(o, p.code, "logs in as nobody");
    assert_int_equal(o->kind, PROBLEM_REFUSED);
    outcome_pass(o, "logs in");
    outcome_fail(o, NULL, "wal_level is replica");
    assert_int_equal(o->kind, PROBLEM_NONE);
    outcome_unref(o);
}

static void test_texts_enter_clean(void **state)
{
    (void)state;
    struct secret *s = secret_new("correct horse", 13);
    struct outcome *o = outcome_new();
    const char *bad = "\033]0;x\a correct horse";
    outcome_pass(o, "%s", bad);
    outcome_tried(o, "%s", bad);
    outcome_why(o, "%s", bad);
    outcome_fix(o, WHO_ESTUARY, "%s", bad);
    outcome_evidence(o, "%s", bad);
    outcome_copy_command(o, "%s", bad);
    outcome_link(o, bad);
    outcome_suggest(o, "a.name", bad);
    outcome_item(o, STATUS_PASSED, bad, bad, bad);
    const char *const texts[] = {
        o->line, o->tried,         o->why,           o->fix,           o->evidence,    o->copy,
        o->link, o->suggest_value, o->items[0].name, o->items[0].line, o->items[0].fix};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_string_equal(texts[i], "^[]0;x^G [redacted]");
    assert_int_equal(o->who, WHO_ESTUARY);
    outcome_fail(o, bad, "failed");
    assert_string_equal(o->code, "^[]0;x^G [redacted]");
    outcome_unref(o);
    secret_unref(s);
}

static void test_items(void **state)
{
    (void)state;
    struct outcome *o = outcome_new();
    for (int i = 0; i < 1000; i++) {
        char item[16];
        snprintf(item, sizeof item, "t%d", i);
        outcome_item(o, STATUS_FAILED, item, NULL, NULL);
    }
    assert_int_equal(o->item_count, 1000);
    assert_string_equal(o->items[999].name, "t999");
    assert_int_equal(o->items[0].status, STATUS_FAILED);
    assert_null(o->items[500].line);
    outcome_unref(o);
}

static int released;

static void release(void *data)
{
    (void)data;
    released++;
}

static void hash_nothing(const void *data, struct hasher *h)
{
    (void)data;
    (void)h;
}

static const struct fact_type type = {.name = "t", .release = release, .hash = hash_nothing};

static void give_again(void *o)
{
    outcome_give(o, "a.fact", fact_new(&type, NULL));
}

static void test_gives(void **state)
{
    (void)state;
    released = 0;
    struct outcome *o = outcome_new();
    struct fact *kept = fact_new(&type, NULL);
    outcome_give(o, "a.fact", fact_ref(kept));
    outcome_give(o, "a.other", fact_new(&type, NULL));
    outcome_give(o, "a.none", NULL);
    assert_int_equal(o->given_count, 2);
    assert_string_equal(o->given[1].id, "a.other");
    assert_dies(give_again, o, 70, "a.fact is given twice");
    outcome_ref(o);
    outcome_unref(o);
    assert_int_equal(released, 0);
    outcome_unref(o);
    assert_int_equal(released, 1);
    fact_unref(kept);
    fact_unref(NULL);
    assert_int_equal(released, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_last_wins),
        cmocka_unit_test(test_problem),
        cmocka_unit_test(test_refusal_stays),
        cmocka_unit_test(test_texts_enter_clean),
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
