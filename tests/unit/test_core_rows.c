/* Rows: each way in which they can be wrong is named, and a right set is put in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/mem.h"
#include "core/rows.h"

#define IDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define FIELDS(...) ((const struct field *const[]){__VA_ARGS__, NULL})
#define CHECKS(...) ((const struct check *const[]){__VA_ARGS__, NULL})
#define STEPS(...) ((const struct step *const[]){__VA_ARGS__, NULL})

static void nothing(struct run *run, struct outcome *out)
{
    (void)run;
    (void)out;
}

static const struct field url = {.id = "a.url", .label = "URL"};
static const struct field key = {
    .id = "a.key", .kind = FIELD_SECRET, .label = "Key", .host_of = "a.url"};
static const struct field tables = {
    .id = "b.tables", .kind = FIELD_LIST, .label = "Tables", .picker = "b.all_tables"};

/* The verdict stands before the survey whose fact it judges, so that the order is not that of the
 * rows. */
static const struct check verdict = {
    .id = "a.verdict", .title = "judged", .reads = IDS("b.all_tables", "?a.token"), .run = nothing};
static const struct check token = {.id = "a.login",
                                   .title = "logs in",
                                   .reads = IDS("a.url", "?a.key"),
                                   .gives = IDS("a.token"),
                                   .run = nothing};
static const struct check survey = {.id = "b.survey",
                                    .title = "read",
                                    .reads = IDS("a.token"),
                                    .gives = IDS("b.all_tables", "b.version"),
                                    .run = nothing};
static const struct check last = {
    .id = "b.last", .title = "after all", .after = IDS("a.verdict"), .run = nothing};

static const struct step step_a = {
    .id = "a", .fields = FIELDS(&url, &key), .checks = CHECKS(&verdict, &token)};
static const struct step step_b = {
    .id = "b", .fields = FIELDS(&tables), .checks = CHECKS(&last, &survey)};
static const struct step step_bare = {.id = "bare"};

static void test_right(void **state)
{
    (void)state;
    struct rows r;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(rows_init(&r, STEPS(&step_a, &step_bare, &step_b), &err), 0);
    assert_int_equal(err.kind, PROBLEM_NONE);
    assert_int_equal(r.step_count, 3);
    assert_int_equal(r.field_count, 3);
    assert_int_equal(r.check_count, 4);
    assert_int_equal(r.fact_count, 3);
    assert_ptr_equal(r.fields[2], &tables);
    assert_int_equal(rows_field(&r, "b.tables"), 2);
    assert_int_equal(rows_field(&r, "a.url"), 0);
    assert_int_equal(rows_check(&r, "b.last"), 2);
    assert_int_equal(rows_step(&r, "b"), 2);
    assert_string_equal(r.checks[r.givers[rows_fact(&r, "b.version")]]->id, "b.survey");
    static const char *const order[] = {"a.login", "b.survey", "a.verdict", "b.last"};
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        assert_string_equal(r.checks[r.order[i]]->id, order[i]);
    assert_int_equal(rows_field(&r, "b.all_tables"), -1);
    assert_int_equal(rows_fact(&r, "a.url"), -1);
    assert_int_equal(rows_check(&r, ""), -1);
    assert_int_equal(rows_step(&r, "ba"), -1);
    assert_int_equal(rows_step(&r, "b.tables"), -1);
    assert_ptr_equal(rows_step_of(&r, "b.tables"), &step_b);
    assert_null(rows_step_of(&r, "ba.x"));
    rows_release(&r);

    assert_int_equal(rows_init(&r, STEPS(&step_bare), &err), 0);
    assert_int_equal(rows_field(&r, "a.url"), -1);
    rows_release(&r);
}

static void assert_wrong(const struct step *const *steps, const char *what)
{
    struct rows r;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(rows_init(&r, steps, &err), -1);
    assert_int_equal(err.kind, PROBLEM_BUG);
    assert_string_equal(err.what, what);
    assert_int_equal(rows_init(&r, steps, NULL), -1);
}

static void assert_field_wrong(struct field f, const char *what)
{
    const struct step s = {.id = "a", .fields = FIELDS(&url, &f)};
    assert_wrong(STEPS(&s), what);
}

static void assert_check_wrong(struct check c, const char *what)
{
    const struct step s = {.id = "a", .fields = FIELDS(&url), .checks = CHECKS(&token, &c)};
    const struct field hidden_key = key;
    const struct step with_key = {
        .id = "a", .fields = FIELDS(&url, &hidden_key), .checks = s.checks};
    assert_wrong(STEPS(&with_key), what);
}

static char *secret_default(const struct snapshot *s)
{
    (void)s;
    return NULL;
}

static void test_wrong_fields(void **state)
{
    (void)state;
    assert_field_wrong((struct field){.label = "x"}, "step a has a field without id");
    assert_field_wrong((struct field){.id = "b.x", .label = "x"},
                       "field b.x: its id must be of the form a.what");
    assert_field_wrong((struct field){.id = "a.", .label = "x"},
                       "field a.: its id must be of the form a.what");
    assert_field_wrong((struct field){.id = "a.X", .label = "x"},
                       "field a.X: its id must be of the form a.what");
    assert_field_wrong((struct field){.id = "a.b.c", .label = "x"},
                       "field a.b.c: its id must be of the form a.what");
    assert_field_wrong(url, "there are two fields a.url");
    assert_field_wrong((struct field){.id = "a.x"}, "field a.x has no label");
    assert_field_wrong((struct field){.id = "a.x", .label = "x", .host_of = "a.y"},
                       "field a.x: host_of names a.y, which is no field");
    assert_field_wrong((struct field){.id = "a.x", .label = "x", .picker = "a.url"},
                       "field a.x: picker names a.url, which is no fact");
    assert_field_wrong(
        (struct field){.id = "a.x", .label = "x", .kind = FIELD_SECRET, .initial = "geheim"},
        "field a.x: a secret has no default");
    assert_field_wrong(
        (struct field){
            .id = "a.x", .label = "x", .kind = FIELD_SECRET, .default_from = secret_default},
        "field a.x: a secret has no default");
}

static void test_wrong_checks(void **state)
{
    (void)state;
    struct check c = {.id = "a.c", .title = "c", .run = nothing};
    struct check bad = c;
    bad.id = NULL;
    assert_check_wrong(bad, "step a has a check without id");
    bad.id = "c";
    assert_check_wrong(bad, "check c: its id must be of the form a.what");
    bad = token;
    bad.gives = NULL;
    assert_check_wrong(bad, "there are two checks a.login");
    bad = c;
    bad.title = NULL;
    assert_check_wrong(bad, "check a.c has no title or no function");
    bad = c;
    bad.run = NULL;
    assert_check_wrong(bad, "check a.c has no title or no function");
    bad = c;
    bad.effect = EFFECT_PROBES;
    assert_check_wrong(bad, "check a.c writes and does not say what (touches)");
    bad = c;
    bad.reads = IDS("a.url", "?a.nowhere");
    assert_check_wrong(bad, "check a.c reads a.nowhere, which is no field and has no giver");
    bad.reads = IDS("a.login");
    assert_check_wrong(bad, "check a.c reads a.login, which is no field and has no giver");
    bad = c;
    bad.after = IDS("a.token");
    assert_check_wrong(bad, "check a.c comes after a.token, which is no check");
    bad = c;
    bad.gives = IDS("a.token");
    assert_check_wrong(bad, "fact a.token has two givers: a.login and a.c");
    bad.gives = IDS("a.url");
    assert_check_wrong(bad, "a.url is a field and a fact");
    static const struct fact_type type = {.name = "x"};
    bad.kept = &type;
    bad.gives = NULL;
    assert_check_wrong(bad, "check a.c keeps a fact and does not give just one");
    bad.gives = IDS("a.one", "a.two");
    assert_check_wrong(bad, "check a.c keeps a fact and does not give just one");
    bad.kept = NULL;
    bad.gives = IDS("other.fact");
    assert_check_wrong(bad, "fact other.fact: its id must be of the form a.what");
}

static void test_wrong_steps(void **state)
{
    (void)state;
    const struct step nameless = {.title = "x"}, odd = {.id = "A b"};
    assert_wrong(STEPS(&step_bare, &nameless), "step 1 has no proper id");
    assert_wrong(STEPS(&odd), "step 0 has no proper id");
    assert_wrong(STEPS(&step_bare, &step_bare), "there are two steps bare");
}

static void assert_action_wrong(struct page_action a, const char *what)
{
    const struct page_action actions[] = {a, {0}};
    const struct step s = {
        .id = "a", .fields = FIELDS(&url, &key), .checks = CHECKS(&token), .actions = actions};
    assert_wrong(STEPS(&s), what);
}

static void test_wrong_actions(void **state)
{
    (void)state;
    struct page_action a = {PAGE_EXPORT, "x", "export", "", IDS("a.login", "a.nowhere"), NULL};
    assert_action_wrong(a, "step a: export names a.nowhere, which is no check");
    a.first = IDS("a.login", "a.login", "a.login", "a.login", "a.login", "a.login", "a.login",
                  "a.login", "a.login");
    assert_action_wrong(a, "step a: export names 9 checks");
    a = (struct page_action){PAGE_CHECK, "y", "try", "", NULL, NULL};
    assert_action_wrong(a, "step a: try names 0 checks");
}

static void test_circles(void **state)
{
    (void)state;
    struct check self = {.id = "a.c", .title = "c", .run = nothing, .after = IDS("a.c")};
    assert_check_wrong(self, "checks in a circle: a.c waits for a.c");
    self.after = NULL;
    self.gives = IDS("a.made");
    self.reads = IDS("?a.made");
    assert_check_wrong(self, "checks in a circle: a.c waits for a.c");

    /* The one that waits for the circle is not part of it. */
    const struct check one = {
        .id = "a.one", .title = "1", .run = nothing, .reads = IDS("a.f3"), .gives = IDS("a.f1")};
    const struct check two = {.id = "a.two", .title = "2", .run = nothing, .after = IDS("a.one")};
    const struct check three = {
        .id = "a.three", .title = "3", .run = nothing, .after = IDS("a.two"), .gives = IDS("a.f3")};
    const struct check waits = {
        .id = "a.waits", .title = "w", .run = nothing, .reads = IDS("a.f1")};
    const struct step s = {.id = "a", .checks = CHECKS(&waits, &one, &two, &three)};
    struct rows r;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(rows_init(&r, STEPS(&s), &err), -1);
    assert_null(strstr(err.what, "a.waits"));
    for (size_t i = 0; i < 3; i++)
        assert_non_null(
            strstr(err.what, ((const char *[]){"a.one waits for a.three", "a.three waits for a.two",
                                               "a.two waits for a.one"})[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),         cmocka_unit_test(test_wrong_fields),
        cmocka_unit_test(test_wrong_checks),  cmocka_unit_test(test_wrong_steps),
        cmocka_unit_test(test_wrong_actions), cmocka_unit_test(test_circles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
