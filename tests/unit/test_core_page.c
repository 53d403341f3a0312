/* Actions of a page: what they need first, why that is not to be had, and where it is settled. */
#include "fake_world.h"

#include "core/page.h"

struct world {
    struct rows rows;
    struct wizard *w;
};

static int set_up(void **state)
{
    struct world *x = xcalloc(1, sizeof *x);
    x->w = fake_wizard(&x->rows);
    set_text(x->w, F_NAME, "shop");
    set_text(x->w, F_URL, "https://one.example");
    *state = x;
    return 0;
}

static int tear_down(void **state)
{
    struct world *x = *state;
    wizard_free(x->w);
    rows_release(&x->rows);
    xfree(x);
    return 0;
}

static struct wizard *wizard_of(void **state)
{
    return ((struct world *)*state)->w;
}

static const char *const probe_first[] = {"b.probe", "a.survey", NULL};
static const char *const after_first[] = {"b.after", NULL};
static const char *const planned_first[] = {"b.planned", NULL};
static const char *const survey_first[] = {"a.survey", NULL};
static const struct page_action probe = {.act = PAGE_EXPORT, .key = "x", .first = probe_first};
static const struct page_action after = {.act = PAGE_CHECK, .key = "y", .first = after_first};
static const struct page_action planned = {.act = PAGE_CHECK, .key = "y", .first = planned_first};
static const struct page_action survey = {.act = PAGE_EXPORT, .key = "x", .first = survey_first};

/* What the survey is run for: a version above 7. */
static int had_above_seven(struct wizard *w, const struct state *s, struct problem *err)
{
    assert_null(s);
    const struct fact *f = wizard_fact(w, rows_fact(wizard_rows(w), "a.version"));
    if (f != NULL && *(const int *)fact_data(f, &number_type) > 7)
        return 0;
    return problem_fail(err, PROBLEM_INPUT, PAGE_MISSING, "a.survey: version 8 is needed");
}
static const struct page_action above_seven = {
    .act = PAGE_EXPORT, .key = "x", .first = survey_first, .had = had_above_seven};

static size_t due(struct wizard *w, const struct page_action *a)
{
    int checks[PAGE_FIRST_MAX];
    return page_due(w, NULL, a, checks);
}

/* Why, and the step where it is settled. */
static void assert_why(struct wizard *w, const struct page_action *a, enum problem_kind kind,
                       const char *code, const char *what, const char *step)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    const struct rows *rows = wizard_rows(w);
    assert_int_equal(page_why(w, NULL, a, &p), -1);
    assert_int_equal(p.kind, kind);
    assert_string_equal(p.code, code);
    assert_string_equal(p.what, what);
    assert_int_equal(page_way(rows, &p), step != NULL ? rows_step(rows, step) : -1);
}

/* --- due -------------------------------------------------------------------------------------- */

static void due_until_proved_whatever_the_age(void **state)
{
    struct wizard *w = wizard_of(state);
    int checks[PAGE_FIRST_MAX];
    assert_int_equal(page_due(w, NULL, &probe, checks), 2);
    assert_int_equal(checks[0], C_PROBE);
    assert_int_equal(checks[1], C_SURVEY);
    struct outcome *o = brought(w, C_PROBE, STATUS_PASSED);
    o->at -= 1000000;
    assert_true(put_taken(w, C_PROBE, o));
    put_survey(w, 7, 8);
    assert_int_equal(due(w, &probe), 0);
    assert_int_equal(page_why(w, NULL, &probe, NULL), 0);
    set_text(w, F_URL, "https://two.example");
    assert_int_equal(due(w, &probe), 2);
}

/* It stands, and yet is run again: what it brought is no longer what is needed. */
static void due_while_what_it_is_run_for_is_not_had(void **state)
{
    struct wizard *w = wizard_of(state);
    assert_int_equal(due(w, &above_seven), 1);
    assert_why(w, &above_seven, PROBLEM_CANCELLED, PAGE_NOT_PROVED, "a.survey was not run", "a");
    put_survey(w, 7, 8);
    assert_int_equal(due(w, &survey), 0);
    assert_int_equal(due(w, &above_seven), 1);
    assert_why(w, &above_seven, PROBLEM_INPUT, PAGE_MISSING, "a.survey: version 8 is needed", "a");
    put_survey(w, 8, 8);
    assert_int_equal(due(w, &above_seven), 0);
    assert_int_equal(page_why(w, NULL, &above_seven, NULL), 0);
}

/* --- why -------------------------------------------------------------------------------------- */

static void a_missing_answer_is_named(void **state)
{
    struct wizard *w = wizard_of(state);
    set_text(w, F_URL, "");
    assert_why(w, &after, PROBLEM_INPUT, PAGE_MISSING, "a.url: URL is missing", "a");
}

static void the_chain_is_followed_to_what_failed(void **state)
{
    struct wizard *w = wizard_of(state);
    put(w, C_SURVEY, STATUS_FAILED);
    assert_why(w, &after, PROBLEM_CONFLICT, "E1", "a.survey: wrong", "a");
    struct outcome *o = brought(w, C_SURVEY, STATUS_UNREACHABLE);
    assert_true(put_taken(w, C_SURVEY, o));
    assert_why(w, &after, PROBLEM_UNREACHABLE, "E1", "a.survey: wrong", "a");
    put_survey(w, 7, 8);
    put(w, C_VERDICT, STATUS_FAILED);
    o = brought(w, C_ITEMS, STATUS_PASSED);
    outcome_give(o, "b.items_found", number(3));
    assert_true(put_taken(w, C_ITEMS, o));
    assert_why(w, &after, PROBLEM_CONFLICT, "E1", "a.verdict: wrong", "a");
}

static void what_was_not_run_is_said(void **state)
{
    struct wizard *w = wizard_of(state);
    assert_why(w, &survey, PROBLEM_CANCELLED, PAGE_NOT_PROVED, "a.survey was not run", "a");
}

static void a_planned_change_comes_first(void **state)
{
    struct wizard *w = wizard_of(state);
    assert_why(w, &planned, PROBLEM_INPUT, PAGE_MISSING,
               "b.planned waits for: application sluice-shop (planned)", "b");
}

/* --- the way, the rows ------------------------------------------------------------------------ */

static int way(struct wizard *w, const char *what, const char *fix)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    problem_fail(&p, PROBLEM_INPUT, "missing", "%s", what);
    problem_fix(&p, WHO_YOU, "%s", fix);
    return page_way(wizard_rows(w), &p);
}

static void the_way_is_named_by_rows_and_commands(void **state)
{
    struct wizard *w = wizard_of(state);
    const struct rows *rows = wizard_rows(w);
    assert_int_equal(way(w, "there is none", "answer a.list."), rows_step(rows, "a"));
    assert_int_equal(way(w, "there is none", "have it made with sluice apply b, or answer a.list"),
                     rows_step(rows, "b"));
    assert_int_equal(way(w, "a start was made", "run b again"), -1);
    assert_int_equal(way(w, "", "…sluice check"), -1);
}

static void the_first_of_a_sort_is_found(void **state)
{
    struct wizard *w = wizard_of(state);
    assert_null(page_find(wizard_rows(w), PAGE_EXPORT));
    static const struct page_action actions[] = {
        {.act = PAGE_UNDO, .key = "u"}, {.act = PAGE_EXPORT, .key = "x"}, {0}};
    static const struct step with = {.id = "b", .actions = actions};
    static const struct step *const steps[] = {&fake_start, &with, NULL};
    struct rows rows;
    assert_int_equal(rows_init(&rows, steps, NULL), 0);
    assert_ptr_equal(page_find(&rows, PAGE_EXPORT), &actions[1]);
    assert_null(page_find(&rows, PAGE_CHECK));
    rows_release(&rows);
}

#define WORLD_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(due_until_proved_whatever_the_age),
        WORLD_TEST(due_while_what_it_is_run_for_is_not_had),
        WORLD_TEST(a_missing_answer_is_named),
        WORLD_TEST(the_chain_is_followed_to_what_failed),
        WORLD_TEST(what_was_not_run_is_said),
        WORLD_TEST(a_planned_change_comes_first),
        WORLD_TEST(the_way_is_named_by_rows_and_commands),
        WORLD_TEST(the_first_of_a_sort_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
