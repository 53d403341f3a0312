/* Fields: what a row says of its answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "core/field.h"
#include "core/mem.h"
#include "core/snapshot_make.h"

static int no_x(const char *text, struct problem *err)
{
    if (strchr(text, 'x') == NULL)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "x", "holds an x");
    problem_fix(err, WHO_YOU, "leave it out");
    return -1;
}

static void ten_choices(const struct snapshot *s, struct choices *out)
{
    (void)s;
    for (int i = 0; i < 10; i++) {
        char value[8];
        snprintf(value, sizeof value, "n%d", i);
        choices_add(out, value, i == 0 ? "the first" : NULL);
    }
}

static void no_choices(const struct snapshot *s, struct choices *out)
{
    (void)s;
    (void)out;
}

static const struct field_choice keep[] = {{"file", "in a file"}, {"memory", NULL}, {NULL, NULL}};

/* Takes v. what NULL = right. */
static void judge(const struct field *f, const struct snapshot *s, struct value *v,
                  const char *what)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    int rc = field_check_value(f, s, v, &err);
    assert_int_equal(rc, what == NULL ? 0 : -1);
    assert_int_equal(field_check_value(f, s, v, NULL), rc);
    assert_int_equal(err.kind, what == NULL ? PROBLEM_NONE : PROBLEM_INPUT);
    if (what != NULL)
        assert_string_equal(err.what, what);
    value_unref(v);
}

static void test_forms(void **state)
{
    (void)state;
    const struct field text = {.label = "Name", .kind = FIELD_TEXT, .valid = no_x};
    judge(&text, NULL, NULL, NULL);
    judge(&text, NULL, value_text(""), NULL);
    judge(&text, NULL, value_text("shöp"), NULL);
    judge(&text, NULL, value_text("ax"), "holds an x");
    judge(&text, NULL, value_text("a\xff"), "Name is not valid UTF-8");
    judge(&text, NULL, value_text("a\tb"), "Name holds a control character");
    judge(&text, NULL, value_list_parse("a"), "Name must be a text");
    const struct field secret = {.label = "Key", .kind = FIELD_SECRET, .valid = no_x};
    struct secret *good = secret_new("a\tb", 3), *bad = secret_new("ax", 2);
    judge(&secret, NULL, value_secret(good, NULL, NULL), NULL);
    judge(&secret, NULL, value_secret(bad, NULL, NULL), "holds an x");
    judge(&secret, NULL, value_secret(NULL, "env:X", NULL), NULL);
    judge(&secret, NULL, value_text("literal"), "Key must be a secret");
    secret_unref(good);
    secret_unref(bad);
    const struct field on = {.label = "On", .kind = FIELD_SWITCH};
    judge(&on, NULL, value_text("yes"), NULL);
    judge(&on, NULL, value_text("no"), NULL);
    judge(&on, NULL, value_text("true"), "On is yes or no");
    const struct field path = {.label = "Path", .kind = FIELD_PATH};
    judge(&path, NULL, value_map(NULL, NULL, 0), "Path must be the path of a file");
}

static void test_items(void **state)
{
    (void)state;
    const struct field list = {.label = "Tables", .kind = FIELD_LIST, .valid = no_x};
    judge(&list, NULL, value_list_parse("a, \"b\nc\""), NULL);
    judge(&list, NULL, value_list_parse("a, bx"), "bx: holds an x");
    judge(&list, NULL, value_list_parse("a, b\xff"), "Tables is not valid UTF-8");
    judge(&list, NULL, value_text("a"), "Tables must be a list");
    const struct field map = {.label = "Repairs", .kind = FIELD_MAP, .valid = no_x};
    const char *const keys[] = {"public.a", "public.x"};
    const char *const right[] = {"full", "by:i"}, *const wrong[] = {"full", "by:x"};
    judge(&map, NULL, value_map(keys, right, 2), NULL);
    judge(&map, NULL, value_map(keys, wrong, 2), "public.x: holds an x");
    AUTO_PROBLEM err = PROBLEM_INIT; /* what the row said beside stays */
    struct value *v = value_map(keys, wrong, 2);
    assert_int_equal(field_check_value(&map, NULL, v, &err), -1);
    assert_string_equal(err.fix, "leave it out");
    assert_string_equal(err.code, "x");
    value_unref(v);
}

static void test_choices(void **state)
{
    (void)state;
    const struct step bare = {.id = "bare"};
    const struct step *const steps[] = {&bare, NULL};
    struct rows rows;
    assert_int_equal(rows_init(&rows, steps, NULL), 0);
    struct snapshot *s = snapshot_make(&rows, NULL, NULL, NULL, NULL);

    const struct field fixed = {.label = "Keep", .kind = FIELD_CHOICE, .choices = keep};
    judge(&fixed, NULL, value_text("memory"), NULL);
    judge(&fixed, NULL, value_text("cloud"), "Keep: “cloud” is not one of the choices");
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct value *v = value_text("cloud");
    field_check_value(&fixed, NULL, v, &err);
    assert_string_equal(err.fix, "Choose file, memory.");

    const struct field live = {.label = "Plane", .kind = FIELD_CHOICE, .choices_from = ten_choices};
    judge(&live, s, value_text("n9"), NULL);
    judge(&live, s, value_text("n10"), "Plane: “n10” is not one of the choices");
    judge(&live, NULL, value_text("n10"), NULL); /* nothing to choose from is known */
    field_check_value(&live, s, v, &err);
    assert_string_equal(err.fix, "Choose n0, n1, n2, n3, n4, n5, n6, n7, ….");
    value_unref(v);
    const struct field waiting = {.label = "P", .kind = FIELD_CHOICE, .choices_from = no_choices};
    judge(&waiting, s, value_text("typed"), NULL);

    struct choices c = {0};
    field_choices(&live, s, &c);
    assert_int_equal(c.count, 10);
    assert_string_equal(c.rows[0].label, "the first");
    assert_string_equal(c.rows[9].label, "n9");
    choices_release(&c);
    choices_release(&c);
    snapshot_unref(s);
    rows_release(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_choices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
