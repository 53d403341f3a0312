/* The model: what is in force, what an outcome depends on, what a check waits for, how steps stand.
 */
#include "fake_world.h"

#include <stdio.h>
#include <time.h>

#include "core/utf8.h"

struct world {
    struct rows rows;
    struct wizard *w;
};

static int set_up(void **state)
{
    struct world *x = xcalloc(1, sizeof *x);
    x->w = fake_wizard(&x->rows);
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

/* Everything of step a is there. */
static void answer_a(struct wizard *w)
{
    set_text(w, F_NAME, "shop");
    set_text(w, F_URL, "https://one.example");
}

static struct node *yaml(const char *text)
{
    struct node *n = node_parse_yaml(text, strlen(text), "test", NULL);
    assert_non_null(n);
    return n;
}

/* Sets the field from the node under "v" of a document. */
static int set_yaml(struct wizard *w, int field, const char *text, enum origin origin,
                    struct problem *err)
{
    struct node *n = yaml(text);
    int rc = wizard_set_node(w, field, node_get(n, "v"), origin, err);
    node_free(n);
    return rc;
}

/* --- answers ---------------------------------------------------------------------------------- */

static void answers_override_defaults(void **state)
{
    struct wizard *w = wizard_of(state);
    assert_int_equal(wizard_origin(w, F_BRANCH), ORIGIN_NONE);
    set_text(w, F_NAME, " shop ");
    assert_string_equal(effective_text(w, F_NAME), "shop");
    assert_string_equal(effective_text(w, F_BRANCH), "shop.ingest");
    assert_int_equal(wizard_origin(w, F_BRANCH), ORIGIN_DEFAULT);
    assert_null(wizard_answer(w, F_BRANCH));
    set_text(w, F_BRANCH, "mine");
    assert_string_equal(effective_text(w, F_BRANCH), "mine");
    assert_int_equal(wizard_origin(w, F_BRANCH), ORIGIN_TYPED);
    set_text(w, F_BRANCH, "");
    assert_string_equal(effective_text(w, F_BRANCH), "shop.ingest");
}

static void wrong_answer_is_kept_and_said(void **state)
{
    struct wizard *w = wizard_of(state);
    AUTO_PROBLEM p = PROBLEM_INIT;
    assert_int_equal(wizard_set_text(w, F_NAME, "shop!", ORIGIN_TYPED, &p), -1);
    assert_string_equal(p.what, "it shouts");
    assert_string_equal(effective_text(w, F_NAME), "shop!");
    assert_int_equal(wizard_field_problem(w, F_NAME, NULL), -1);
    assert_int_equal(wizard_field_problem(w, F_NAME, &p), -1); /* remembered, yet still told why */
    assert_string_equal(p.what, "it shouts");
    assert_int_equal(set_text(w, F_NAME, "shop"), 0);
    assert_int_equal(wizard_field_problem(w, F_NAME, NULL), 0);
    assert_int_equal(wizard_field_problem(w, F_URL, &p), -1);
    assert_string_equal(p.what, "URL is missing");
}

static void emptied_lists_are_no_answer(void **state)
{
    struct wizard *w = wizard_of(state);
    set_text(w, F_LIST, " a, \"b,c\"\n d ,, ");
    const struct value *v = wizard_answer(w, F_LIST);
    assert_int_equal(v->count, 3);
    assert_string_equal(v->items[1], "\"b,c\"");
    assert_string_equal(v->items[2], "d");
    set_text(w, F_LIST, " , ");
    assert_null(wizard_answer(w, F_LIST));
    assert_int_equal(set_yaml(w, F_LIST, "v: []", ORIGIN_STATE, NULL), 0);
    assert_null(wizard_answer(w, F_LIST));
}

static void maps_from_text(void **state)
{
    struct wizard *w = wizard_of(state);
    AUTO_PROBLEM p = PROBLEM_INIT;
    assert_int_equal(
        wizard_set_text(w, F_MAP, "\"a=b\" = index:\"x=y\", c=full\nc = nothing", ORIGIN_TYPED, &p),
        0);
    const struct value *v = wizard_answer(w, F_MAP);
    assert_int_equal(v->count, 2);
    assert_string_equal(v->keys[0], "\"a=b\"");
    assert_string_equal(v->items[0], "index:\"x=y\"");
    assert_string_equal(v->items[1], "nothing"); /* the later of two */
    assert_int_equal(wizard_set_text(w, F_MAP, "a=1, odd", ORIGIN_TYPED, &p), -1);
    assert_non_null(strstr(p.what, "odd"));
    assert_int_equal(wizard_answer(w, F_MAP)->count, 1);
}

static void nodes_have_their_kind(void **state)
{
    struct wizard *w = wizard_of(state);
    AUTO_PROBLEM p = PROBLEM_INIT;
    assert_int_equal(set_yaml(w, F_LIST, "v: [a, b]", ORIGIN_ANSWERS, &p), 0);
    assert_int_equal(set_yaml(w, F_MAP, "v: {a: full}", ORIGIN_ANSWERS, &p), 0);
    assert_int_equal(set_yaml(w, F_URL, "v: 12", ORIGIN_ANSWERS, &p), 0);
    assert_string_equal(effective_text(w, F_URL), "12");
    assert_int_equal(set_yaml(w, F_USE_KEY, "v: true", ORIGIN_ANSWERS, &p), 0);
    assert_string_equal(effective_text(w, F_USE_KEY), "yes");
    assert_int_equal(set_yaml(w, F_LIST, "v:", ORIGIN_ANSWERS, &p), 0); /* blanked by hand */
    assert_null(wizard_answer(w, F_LIST));
    assert_int_equal(set_yaml(w, F_URL, "\n\nv: [x]", ORIGIN_ANSWERS, &p), -1);
    assert_string_equal(p.what, "line 3: a.url must be a single text");
    assert_string_equal(effective_text(w, F_URL), "12"); /* nothing was set */
    assert_int_equal(set_yaml(w, F_LIST, "v: x", ORIGIN_ANSWERS, &p), -1);
    assert_int_equal(set_yaml(w, F_LIST, "v: [[x]]", ORIGIN_ANSWERS, &p), -1);
    assert_int_equal(set_yaml(w, F_NAME, "v: aloud!", ORIGIN_STATE, &p), 1); /* set, not valid */
    assert_string_equal(p.what, "line 1: start.name: it shouts");
    assert_string_equal(effective_text(w, F_NAME), "aloud!");
}

static void hidden_fields_keep_their_value(void **state)
{
    struct wizard *w = wizard_of(state);
    answer_a(w);
    set_text(w, F_USE_KEY, "yes");
    set_text(w, F_KEY, "sesame-sesame");
    assert_true(wizard_visible(w, F_KEY));
    struct digest with = wizard_check_digest(w, C_SURVEY);
    set_text(w, F_USE_KEY, "no");
    assert_false(wizard_visible(w, F_KEY));
    assert_null(wizard_effective(w, F_KEY));
    assert_non_null(wizard_answer(w, F_KEY));
    assert_int_equal(wizard_field_problem(w, F_KEY, NULL), 0);
    struct digest without = wizard_check_digest(w, C_SURVEY);
    assert_false(digest_equal(&with, &without));
    set_text(w, F_USE_KEY, "yes");
    struct digest again = wizard_check_digest(w, C_SURVEY);
    assert_true(digest_equal(&with, &again));
    assert_string_equal(secret_text(w, F_KEY), "sesame-sesame");
}

static void versions_count_what_changed(void **state)
{
    struct wizard *w = wizard_of(state);
    uint64_t version = wizard_version(w), answers = wizard_answers_version(w);
    set_text(w, F_NAME, "shop");
    assert_true(wizard_version(w) > version && wizard_answers_version(w) > answers);
    version = wizard_version(w);
    answers = wizard_answers_version(w);
    set_text(w, F_NAME, "shop");
    assert_true(wizard_version(w) == version && wizard_answers_version(w) == answers);
    struct snapshot *a = wizard_snapshot(w), *b = wizard_snapshot(w);
    assert_ptr_equal(a, b);
    snapshot_unref(a);
    snapshot_unref(b);
    set_text(w, F_URL, "https://one.example");
    answers = wizard_answers_version(w);
    put_survey(w, 1, 2);
    assert_true(wizard_version(w) > version);
    assert_true(wizard_answers_version(w) == answers);
}

/* --- secrets ---------------------------------------------------------------------------------- */

static void secrets_are_trimmed_judged_and_keep_their_revision(void **state)
{
    struct wizard *w = wizard_of(state);
    AUTO_PROBLEM p = PROBLEM_INIT;
    answer_a(w);
    set_text(w, F_USE_KEY, "yes");
    assert_int_equal(set_text(w, F_KEY, " sesame-sesame\n"), 0); /* pasted with its line end */
    assert_string_equal(secret_text(w, F_KEY), "sesame-sesame");
    struct digest once = wizard_check_digest(w, C_SURVEY);
    set_text(w, F_KEY, "sesame-sesame");
    struct digest twice = wizard_check_digest(w, C_SURVEY);
    assert_true(digest_equal(&once, &twice));
    set_text(w, F_KEY, "sesame-sesame2");
    set_text(w, F_KEY, "sesame-sesame");
    struct digest edited = wizard_check_digest(w, C_SURVEY);
    assert_false(digest_equal(&once, &edited)); /* by revision, never by value */
    assert_int_equal(set_text(w, F_KEY, "sesame!"), -1);
    assert_int_equal(wizard_field_problem(w, F_KEY, &p), -1);
    assert_string_equal(p.what, "it shouts");
    assert_int_equal(set_text(w, F_KEY, "  "), 0);
    assert_null(wizard_answer(w, F_KEY));
}

static const char *host_of_key(struct wizard *w)
{
    const struct value *v = wizard_answer(w, F_KEY);
    return v != NULL && v->host != NULL ? v->host : "";
}

static void secrets_go_to_their_host_only(void **state)
{
    struct wizard *w = wizard_of(state);
    AUTO_PROBLEM p = PROBLEM_INIT;
    set_text(w, F_USE_KEY, "yes");
    set_text(w, F_KEY, "sesame-sesame");
    assert_string_equal(host_of_key(w), "");
    set_text(w, F_URL, "https://one.example/path"); /* typed after it */
    assert_string_equal(host_of_key(w), "https://one.example");
    assert_int_equal(wizard_field_problem(w, F_KEY, NULL), 0);
    set_text(w, F_URL, "https://two.example");
    assert_int_equal(wizard_field_problem(w, F_KEY, &p), -1);
    assert_string_equal(p.code, "other host");
    assert_string_equal(host_of_key(w), "https://one.example");
    struct snapshot *s = wizard_snapshot(w);
    assert_null(snap_secret(s, "a.key"));
    snapshot_unref(s);
    wizard_allow_host(w, F_KEY);
    assert_string_equal(host_of_key(w), "https://two.example");
    assert_int_equal(wizard_field_problem(w, F_KEY, NULL), 0);
    set_text(w, F_URL, "https://three.example");
    set_text(w, F_KEY, "sesame-sesame"); /* typed again: consent as well */
    assert_string_equal(host_of_key(w), "https://three.example");
    assert_int_equal(wizard_field_problem(w, F_KEY, NULL), 0);
}

static void references_are_read_once_and_shared(void **state)
{
    struct wizard *w = wizard_of(state);
    AUTO_PROBLEM p = PROBLEM_INIT;
    answer_a(w);
    set_text(w, F_USE_KEY, "yes");
    setenv("FAKE_KEY", "from-the-environment", 1);
    assert_int_equal(set_yaml(w, F_KEY,
                              "v: {secret: \"env:FAKE_KEY\", host: \"https://one.example\"}",
                              ORIGIN_STATE, &p),
                     0);
    assert_null(getenv("FAKE_KEY"));
    uint64_t revision = secret_revision(wizard_answer(w, F_KEY)->secret);
    /* the answers file, --set and another field may name it as well */
    assert_int_equal(set_yaml(w, F_KEY, "v: {secret: \"env:FAKE_KEY\"}", ORIGIN_ANSWERS, &p), 0);
    assert_int_equal(wizard_set_reference(w, F_ADMIN, "env:FAKE_KEY", ORIGIN_SET, &p), 0);
    assert_string_equal(secret_text(w, F_ADMIN), "from-the-environment");
    assert_true(secret_revision(wizard_answer(w, F_KEY)->secret) == revision);
    assert_string_equal(host_of_key(w), "https://one.example");
    /* a file's word is no consent to another host */
    set_text(w, F_URL, "https://two.example");
    assert_int_equal(set_yaml(w, F_KEY, "v: {secret: \"env:FAKE_KEY\"}", ORIGIN_ANSWERS, &p), 0);
    assert_string_equal(host_of_key(w), "https://one.example");
    assert_int_equal(set_yaml(w, F_KEY, "v: {secret: \"env:NO_SUCH\"}", ORIGIN_ANSWERS, &p), -1);
    assert_non_null(strstr(p.what, "line 1: a.key: "));
    assert_int_equal(p.kind, PROBLEM_INPUT);
    assert_int_equal(wizard_set_reference(w, F_KEY, "env:NO_SUCH", ORIGIN_SET, NULL), -1);
    assert_string_equal(secret_text(w, F_KEY), "from-the-environment"); /* nothing was set */
}

static void a_secret_not_at_hand_keeps_its_origin(void **state)
{
    struct wizard *w = wizard_of(state);
    AUTO_PROBLEM p = PROBLEM_INIT;
    assert_int_equal(set_yaml(w, F_TOKEN, "v: {secret: stored, made: true}", ORIGIN_STATE, &p), 0);
    assert_int_equal(wizard_origin(w, F_TOKEN), ORIGIN_MADE);
    assert_int_equal(wizard_field_problem(w, F_TOKEN, &p), -1);
    assert_string_equal(p.code, "not at hand");
    assert_int_equal(set_yaml(w, F_TOKEN, "v: {secret: stored}", ORIGIN_ANSWERS, &p), -1);
    assert_int_equal(set_yaml(w, F_TOKEN, "v: hunter2-hunter2", ORIGIN_STATE, &p), -1);
    assert_null(strstr(p.what, "hunter2"));
}

/* --- staleness -------------------------------------------------------------------------------- */

static void staleness_is_derived(void **state)
{
    struct wizard *w = wizard_of(state);
    answer_a(w);
    assert_true(stands(w, C_SURVEY, STATUS_NONE));
    put_survey(w, 16, 3);
    put(w, C_VERDICT, STATUS_PASSED);
    assert_true(stands(w, C_SURVEY, STATUS_PASSED) && stands(w, C_VERDICT, STATUS_PASSED));
    set_text(w, F_URL, "https://two.example");
    assert_true(seen(w, C_SURVEY).stale);
    /* the verdict judged the other server: its facts are of other inputs */
    assert_true(seen(w, C_VERDICT).stale);
    assert_false(wizard_check_current(w, C_VERDICT));
    assert_int_equal(wizard_check_first(w, C_VERDICT), C_SURVEY);
    set_text(w, F_URL, "https://one.example");
    assert_true(stands(w, C_SURVEY, STATUS_PASSED) && stands(w, C_VERDICT, STATUS_PASSED));
    set_text(w, F_BRANCH, "other");
    assert_true(stands(w, C_SURVEY, STATUS_PASSED));
    assert_true(seen(w, C_VERDICT).stale);
    set_text(w, F_BRANCH, "");
    assert_true(stands(w, C_VERDICT, STATUS_PASSED));
}

static void outcomes_age(void **state)
{
    struct wizard *w = wizard_of(state);
    answer_a(w);
    put_survey(w, 16, 3);
    put(w, C_VERDICT, STATUS_PASSED);
    struct outcome *o = brought(w, C_SURVEY, STATUS_PASSED);
    o->at -= 3601;
    outcome_give(o, "a.version", number(16));
    assert_true(put_taken(w, C_SURVEY, o));
    assert_true(seen(w, C_SURVEY).stale);
    assert_true(stands(w, C_VERDICT, STATUS_PASSED)); /* until its survey ran again */
    o = brought(w, C_ITEMS, STATUS_PASSED);
    o->at -= 59; /* its row says 60 */
    assert_true(put_taken(w, C_ITEMS, o));
    assert_true(stands(w, C_ITEMS, STATUS_PASSED));
    o = brought(w, C_ITEMS, STATUS_PASSED);
    o->at -= 62;
    assert_true(put_taken(w, C_ITEMS, o));
    assert_true(seen(w, C_ITEMS).stale);
    o = brought(w, C_ITEMS, STATUS_PASSED);
    o->at += 86400; /* the clock was set back since */
    assert_true(put_taken(w, C_ITEMS, o));
    assert_true(seen(w, C_ITEMS).stale);
}

static void a_refused_login_does_not_age(void **state)
{
    struct wizard *w = wizard_of(state);
    answer_a(w);
    AUTO_PROBLEM p = PROBLEM_INIT;
    problem_fail(&p, PROBLEM_REFUSED, "28P01", "password refused");
    struct outcome *o = brought(w, C_SURVEY, STATUS_FAILED);
    outcome_problem(o, &p);
    o->at -= 86400;
    assert_true(put_taken(w, C_SURVEY, o));
    assert_true(wizard_check_current(w, C_SURVEY));
    assert_true(stands(w, C_SURVEY, STATUS_FAILED));
    assert_int_equal(wizard_check_first(w, C_VERDICT), -1);
    assert_string_equal(seen(w, C_VERDICT).waits, "looks at a");
    set_text(w, F_URL, "https://two.example");
    assert_false(wizard_check_current(w, C_SURVEY));
    assert_int_equal(wizard_check_first(w, C_VERDICT), C_SURVEY);
}

static void expiry(void **state)
{
    struct wizard *w = wizard_of(state);
    answer_a(w);
    put_survey(w, 16, 3);
    put(w, C_VERDICT, STATUS_PASSED);
    wizard_expire_check(w, C_SURVEY);
    assert_true(seen(w, C_SURVEY).stale && seen(w, C_VERDICT).stale);
    put_survey(w, 16, 3);
    assert_true(stands(w, C_SURVEY, STATUS_PASSED) && stands(w, C_VERDICT, STATUS_PASSED));
    /* what began before it was told to run again is of the world of before */
    wizard_running(w, C_SURVEY, true, 1);
    struct outcome *o = brought(w, C_SURVEY, STATUS_PASSED);
    wizard_expire_check(w, C_SURVEY);
    wizard_running(w, C_SURVEY, false, 0);
    assert_false(put_taken(w, C_SURVEY, o));
    wizard_running(w, C_SURVEY, true, 1);
    o = brought(w, C_SURVEY, STATUS_PASSED);
    wizard_running(w, C_SURVEY, false, 0);
    assert_true(put_taken(w, C_SURVEY, o));
    assert_true(stands(w, C_SURVEY, STATUS_PASSED));
}

static void old_inputs_are_not_stored(void **state)
{
    struct wizard *w = wizard_of(state);
    answer_a(w);
    struct outcome *slow = brought(w, C_SURVEY, STATUS_PASSED);
    outcome_give(slow, "a.version", number(12));
    set_text(w, F_URL, "https://two.example");
    put_survey(w, 16, 3);
    assert_false(put_taken(w, C_SURVEY, slow));
    assert_true(stands(w, C_SURVEY, STATUS_PASSED));
    struct snapshot *s = wizard_snapshot(w);
    assert_int_equal(*(const int *)snap_fact(s, "a.version", &number_type), 16);
    snapshot_unref(s);
}

static void facts_no_longer_given_are_dropped(void **state)
{
    struct wizard *w = wizard_of(state);
    answer_a(w);
    put_survey(w, 16, 3);
    put(w, C_MAYBE, STATUS_PASSED);
    put_survey(w, 16, -1);
    assert_null(wizard_fact(w, rows_fact(wizard_rows(w), "a.tables")));
    struct digest d = wizard_fact_digest(w, rows_fact(wizard_rows(w), "a.tables"));
    assert_true(digest_none(&d));
    assert_true(seen(w, C_MAYBE).stale);
    assert_string_equal(seen(w, C_MAYBE).waits, ""); /* it may be missing */
    put_survey(w, -1, -1);
    assert_string_equal(seen(w, C_VERDICT).waits, "looks at a");
}

/* --- waiting ---------------------------------------------------------------------------------- */

static const char *waits_for(struct wizard *w, int check)
{
    static char out[120];
    wizard_check_waits(w, check, out, sizeof out);
    return out;
}

static void waits_say_what_is_missing(void **state)
{
    struct wizard *w = wizard_of(state);
    set_text(w, F_NAME, "shop");
    assert_string_equal(waits_for(w, C_SURVEY), "URL");
    assert_int_equal(seen(w, C_SURVEY).status, STATUS_WAITING);
    set_text(w, F_URL, "https://one.example");
    assert_string_equal(waits_for(w, C_SURVEY), "");
    set_text(w, F_USE_KEY, "yes");
    assert_string_equal(waits_for(w, C_SURVEY), ""); /* "?a.key": only one that is wrong holds */
    set_text(w, F_KEY, "key!");
    assert_string_equal(waits_for(w, C_SURVEY), "Key");
    /* answered once, and locked away now: without it the outcome would be another one */
    wizard_set(w, F_KEY, value_secret(NULL, NULL, NULL), ORIGIN_STATE, NULL);
    assert_string_equal(waits_for(w, C_SURVEY), "Key");
    set_text(w, F_USE_KEY, "no");
    assert_string_equal(waits_for(w, C_SURVEY), "");
    assert_string_equal(waits_for(w, C_VERDICT), "looks at a");
    assert_string_equal(waits_for(w, C_AFTER), "looks at b");
    put_survey(w, 16, 3);
    struct outcome *o = brought(w, C_ITEMS, STATUS_PASSED);
    outcome_give(o, "b.items_found", number(1));
    assert_true(put_taken(w, C_ITEMS, o));
    assert_string_equal(waits_for(w, C_AFTER), "version is right");
    assert_int_equal(wizard_check_first(w, C_AFTER), C_VERDICT);
    put(w, C_VERDICT, STATUS_FAILED);
    assert_string_equal(waits_for(w, C_AFTER), "version is right");
    assert_int_equal(wizard_check_first(w, C_AFTER), -1);
    wizard_accept(w, C_VERDICT, "known\033[2J");
    assert_string_equal(wizard_accepted(w, C_VERDICT), "known^[[2J");
    assert_int_equal(seen(w, C_VERDICT).status, STATUS_ACCEPTED);
    assert_string_equal(waits_for(w, C_AFTER), "");
    put(w, C_VERDICT, STATUS_UNREACHABLE); /* no answer is no finding to make an exception of */
    assert_int_equal(seen(w, C_VERDICT).status, STATUS_UNREACHABLE);
    assert_string_equal(waits_for(w, C_AFTER), "version is right");
    wizard_accept(w, C_VERDICT, NULL);
    put(w, C_VERDICT, STATUS_WARNED);
    assert_string_equal(waits_for(w, C_AFTER), "");
}

static void waits_for_planned_changes(void **state)
{
    struct wizard *w = wizard_of(state);
    answer_a(w);
    assert_string_equal(waits_for(w, C_PLANNED), "application sluice-shop (planned)");
    put(w, C_PLANNED, STATUS_WARNED);
    assert_true(stands(w, C_PLANNED, STATUS_WARNED)); /* fine as it is: it waits for nothing */
    put(w, C_PLANNED, STATUS_FAILED);
    assert_true(stands(w, C_PLANNED, STATUS_WAITING)); /* unmet only because of the plan */
    assert_string_equal(seen(w, C_PLANNED).waits, "application sluice-shop (planned)");
    set_text(w, F_APP, "00abc");
    assert_true(stands(w, C_PLANNED, STATUS_FAILED));
    set_text(w, F_APP, "");
    set_text(w, F_NAME, "äöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöüäöü");
    const char *cut = waits_for(w, C_PLANNED);
    assert_true(strlen(cut) < 120 && strlen(cut) > 115);
    assert_true(utf8_valid(cut, strlen(cut)));
}

/* --- what comes first ------------------------------------------------------------------------- */

static void a_giver_that_gave_nothing_is_not_repeated(void **state)
{
    struct wizard *w = wizard_of(state);
    answer_a(w);
    assert_int_equal(wizard_check_first(w, C_VERDICT), C_SURVEY);
    put_survey(w, -1, -1); /* passes, gives nothing */
    assert_int_equal(wizard_check_first(w, C_VERDICT), -1);
    assert_string_equal(waits_for(w, C_VERDICT), "looks at a");
    put(w, C_SURVEY, STATUS_FAILED);
    assert_int_equal(wizard_check_first(w, C_VERDICT), -1);
    set_text(w, F_URL, "https://two.example");
    assert_int_equal(wizard_check_first(w, C_VERDICT), C_SURVEY);
}

/* As after a restart: the last outcomes and the digests of facts, not the facts. */
static void restored_verdicts_stand_until_their_survey_ran(void **state)
{
    struct world *x = *state;
    struct wizard *w = x->w;
    answer_a(w);
    put_survey(w, 16, 3);
    put(w, C_VERDICT, STATUS_PASSED);
    put(w, C_MAYBE, STATUS_PASSED);
    struct rows rows;
    struct wizard *again = fake_wizard(&rows);
    answer_a(again);
    for (int i = 0; i <= C_MAYBE; i++) {
        struct outcome *o = brought(w, i, STATUS_PASSED);
        wizard_restore_outcome(again, i, o);
        outcome_unref(o);
    }
    for (int i = 0; i < 2; i++)
        wizard_restore_fact(again, i, wizard_fact_digest(w, i), NULL);
    assert_true(stands(again, C_VERDICT, STATUS_PASSED) && stands(again, C_MAYBE, STATUS_PASSED));
    assert_true(wizard_check_current(again, C_SURVEY));
    /* who wants to judge anew needs the facts: they come with the survey */
    assert_int_equal(wizard_check_first(again, C_VERDICT), C_SURVEY);
    /* a fact that may be missing but is known counts, too: an outcome without it would pass for
     * one with it */
    set_text(again, F_BRANCH, "other");
    assert_int_equal(wizard_check_first(again, C_MAYBE), C_SURVEY);
    assert_string_equal(waits_for(again, C_MAYBE), "looks at a");
    set_text(again, F_BRANCH, "");
    put_survey(again, 16, 3);
    assert_true(stands(again, C_VERDICT, STATUS_PASSED));
    assert_int_equal(wizard_check_first(again, C_VERDICT), -1);
    put_survey(again, 17, 3);
    assert_true(seen(again, C_VERDICT).stale);
    assert_true(stands(again, C_MAYBE, STATUS_PASSED));
    wizard_free(again);
    rows_release(&rows);
}

/* --- defaults from the state file ------------------------------------------------------------- */

static void defaults_follow_what_they_come_from(void **state)
{
    struct wizard *w = wizard_of(state);
    wizard_set_text(w, F_NAME, "shop", ORIGIN_STATE, NULL);
    wizard_set_text(w, F_URL, "https://one.example", ORIGIN_STATE, NULL);
    wizard_set_text(w, F_BRANCH, "shop.ingest", ORIGIN_STATE, NULL);
    wizard_set_text(w, F_SIZE, "160", ORIGIN_STATE, NULL);
    wizard_unpin_defaults(w);
    assert_int_equal(wizard_origin(w, F_BRANCH), ORIGIN_DEFAULT);
    assert_int_equal(wizard_origin(w, F_NAME), ORIGIN_STATE);
    assert_int_equal(wizard_origin(w, F_SIZE), ORIGIN_STATE); /* its fact is not known yet */
    put_survey(w, 16, 1);
    assert_int_equal(wizard_origin(w, F_SIZE), ORIGIN_DEFAULT);
    set_text(w, F_NAME, "shop2");
    assert_string_equal(effective_text(w, F_BRANCH), "shop2.ingest");
    put_survey(w, 17, 1);
    assert_string_equal(effective_text(w, F_SIZE), "170");
    wizard_set_text(w, F_SIZE, "5", ORIGIN_STATE, NULL);
    put_survey(w, 18, 1);
    assert_string_equal(effective_text(w, F_SIZE), "5");
    set_text(w, F_SIZE, "180"); /* typed: meant as it is */
    wizard_unpin_defaults(w);
    assert_int_equal(wizard_origin(w, F_SIZE), ORIGIN_TYPED);
}

/* --- steps and journal ------------------------------------------------------------------------ */

static void steps_stand_by_their_worst(void **state)
{
    struct wizard *w = wizard_of(state);
    struct step_view v;
    assert_int_equal(wizard_first_open_step(w), 0); /* a name is missing */
    answer_a(w);
    wizard_step_view(w, 0, &v);
    assert_int_equal(v.status, STATUS_PASSED);
    assert_int_equal(wizard_first_open_step(w), 1);
    put_survey(w, 16, 3);
    put(w, C_VERDICT, STATUS_WARNED);
    put(w, C_MAYBE, STATUS_PASSED);
    wizard_step_view(w, 1, &v);
    assert_int_equal(v.status, STATUS_WARNED);
    assert_int_equal(v.passed, 2);
    assert_int_equal(wizard_first_open_step(w), 2);
    wizard_running(w, C_VERDICT, true, 5);
    wizard_progress(w, C_VERDICT, 3, 10, "counting");
    assert_int_equal(seen(w, C_VERDICT).done, 3);
    assert_string_equal(seen(w, C_VERDICT).doing, "counting");
    wizard_step_view(w, 1, &v);
    assert_true(v.running && v.running_count == 1);
    wizard_running(w, C_VERDICT, false, 0);
    assert_null(seen(w, C_VERDICT).doing);
    put(w, C_VERDICT, STATUS_FAILED);
    wizard_step_view(w, 1, &v);
    assert_int_equal(v.status, STATUS_FAILED);
    wizard_step_view(w, 2, &v);
    assert_int_equal(v.status, STATUS_WAITING);
    assert_int_equal(v.changes, 1);
    assert_int_equal(v.total, 4); /* what costs counts once it ran */
    set_text(w, F_APP, "00abc");
    put(w, C_VERDICT, STATUS_PASSED);
    struct outcome *o = brought(w, C_ITEMS, STATUS_PASSED);
    outcome_give(o, "b.items_found", number(1));
    assert_true(put_taken(w, C_ITEMS, o));
    put(w, C_AFTER, STATUS_PASSED);
    put(w, C_PROBE, STATUS_SKIPPED);
    put(w, C_PLANNED, STATUS_PASSED);
    wizard_step_view(w, 2, &v);
    assert_int_equal(v.status, STATUS_PASSED);
    assert_int_equal(wizard_first_open_step(w), 2); /* the last one, when all is proved */
}

static void journal_has_one_entry_a_change(void **state)
{
    struct wizard *w = wizard_of(state);
    answer_a(w);
    const struct change *c = plan_find(wizard_plan(w), "b.application");
    const struct journal_entry *all;
    assert_null(wizard_journal_find(w, c->id));
    struct journal_entry *e = wizard_journal_entry(w, c);
    assert_int_equal(e->status, JOURNAL_INTENDED);
    assert_string_equal(e->title, "application sluice-shop");
    assert_ptr_equal(wizard_journal_entry(w, c), e);
    assert_ptr_equal(wizard_journal_find(w, "b.application"), e);
    assert_int_equal(wizard_journal(w, &all), 1);
}

/* --- random edits against a simple model ------------------------------------------------------ */

struct model {
    int name, url, branch, key, use_key; /* 0 = none; key counts edits */
    char ran[3][64];                     /* inputs each outcome is of; "" = none */
    char survey_facts[64];               /* inputs the facts are of */
    int version, tables;                 /* -1 = not given */
};

static unsigned random_next(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16 & 0x7FFF;
}

static void model_inputs(const struct model *m, int check, char out[64])
{
    int branch = m->branch != 0 ? m->branch : -m->name;
    if (check == C_SURVEY)
        snprintf(out, 64, "u%d k%d", m->url, m->use_key ? m->key : 0);
    else if (check == C_VERDICT)
        snprintf(out, 64, "v%d b%d", m->version, branch);
    else
        snprintf(out, 64, "t%d b%d", m->tables, branch);
}

/* Of present inputs, and so is the survey whose facts it used. */
static bool model_current(const struct model *m, int check)
{
    char now[64];
    model_inputs(m, check, now);
    if (m->ran[check][0] == '\0' || strcmp(now, m->ran[check]) != 0)
        return false;
    bool uses = check == C_VERDICT ? true : check == C_MAYBE && m->tables >= 0;
    /* what may be missing is not waited for while its survey cannot run */
    if (check == C_MAYBE && m->url == 0)
        uses = false;
    return !uses || model_current(m, C_SURVEY);
}

static void model_edit(struct model *m, struct wizard *w, unsigned *seed)
{
    char text[32];
    int n = (int)(random_next(seed) % 3);
    snprintf(text, sizeof text, "x%d", n);
    const char *typed = n == 0 ? "" : text;
    switch (random_next(seed) % 5) {
    case 0:
        set_text(w, F_NAME, typed);
        m->name = n;
        break;
    case 1:
        set_text(w, F_URL, typed);
        m->url = n;
        break;
    case 2:
        set_text(w, F_BRANCH, typed);
        m->branch = n;
        break;
    case 3:
        set_text(w, F_USE_KEY, n == 1 ? "yes" : "no");
        m->use_key = n == 1;
        break;
    default:
        snprintf(text, sizeof text, "key-%u-%u", random_next(seed), *seed);
        set_text(w, F_ADMIN, text); /* nobody reads it */
        break;
    }
}

static void model_run(struct model *m, struct wizard *w, unsigned *seed)
{
    int check = (int)(random_next(seed) % 3);
    struct outcome *o = brought(w, check, STATUS_PASSED);
    model_inputs(m, check, m->ran[check]);
    if (check == C_SURVEY) {
        m->version = (int)(random_next(seed) % 2);
        m->tables = (int)(random_next(seed) % 3) - 1;
        outcome_give(o, "a.version", number(m->version));
        if (m->tables >= 0)
            outcome_give(o, "a.tables", number(m->tables));
    }
    assert_true(put_taken(w, check, o));
}

static void random_edits(void **state)
{
    struct wizard *w = wizard_of(state);
    struct model m = {.version = -1, .tables = -1};
    unsigned seed = 4711;
    for (int i = 0; i < 20000; i++) {
        if (random_next(&seed) % 3 == 0)
            model_run(&m, w, &seed);
        else
            model_edit(&m, w, &seed);
        for (int check = C_SURVEY; check <= C_MAYBE; check++)
            if (wizard_check_current(w, check) != model_current(&m, check))
                fail_msg("round %d: %s is %scurrent", i, fake_checks[check].id,
                         wizard_check_current(w, check) ? "" : "not ");
    }
}

/* --- cost ------------------------------------------------------------------------------------- */

#define MANY 100

/* Of this thread: others on the machine do not count. */
static int64_t cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Ten surveys with three facts each; the others judge all of them and come after the one before. */
static void many_checks_are_cheap(void **state)
{
    (void)state;
    static char ids[MANY][24], facts[MANY][24], names[MANY][24];
    static struct check checks[MANY];
    static const struct check *check_list[MANY + 1];
    static struct field fields[MANY];
    static const struct field *field_list[MANY + 1];
    static const char *reads[MANY][32], *gives[MANY][2], *after[MANY][2];
    for (int i = 0; i < MANY; i++) {
        snprintf(ids[i], sizeof ids[i], "m.check%d", i);
        snprintf(facts[i], sizeof facts[i], "m.fact%d", i);
        snprintf(names[i], sizeof names[i], "m.field%d", i);
        fields[i] = (struct field){
            .id = names[i], .label = names[i], .kind = FIELD_LIST, .valid = fake_valid};
        field_list[i] = &fields[i];
        checks[i] =
            (struct check){.id = ids[i], .title = ids[i], .reads = reads[i], .run = fake_run};
        reads[i][0] = names[i];
        reads[i][1] = names[(i + 1) % MANY];
        if (i < 10) {
            checks[i].service = "m";
            gives[i][0] = facts[i];
            checks[i].gives = gives[i];
        } else {
            after[i][0] = ids[i - 1];
            checks[i].after = after[i];
            for (int k = 0; k < 10; k++)
                reads[i][2 + k] = facts[k];
        }
        check_list[i] = &checks[i];
    }
    const struct step step = {.id = "m", .fields = field_list, .checks = check_list};
    struct rows rows;
    assert_int_equal(rows_init(&rows, (const struct step *const[]){&step, NULL}, NULL), 0);
    struct wizard *w = wizard_new(&rows);
    AUTO_TEXT tables = TEXT_INIT;
    for (int i = 0; i < 200; i++)
        text_addf(&tables, "public.table_%d,", i);
    for (int i = 0; i < MANY; i++)
        wizard_set_text(w, i, tables.s, ORIGIN_TYPED, NULL);
    for (int i = 0; i < MANY; i++) {
        struct outcome *o = brought(w, i, STATUS_PASSED);
        if (i < 10)
            outcome_give(o, facts[i], number(i));
        assert_true(put_taken(w, i, o));
    }
    struct step_view v;
    int64_t cold = cpu_us();
    for (int round = 0; round < 10; round++) {
        wizard_set_text(w, round, round % 2 ? "a" : "b", ORIGIN_TYPED, NULL);
        wizard_step_view(w, 0, &v);
    }
    cold = (cpu_us() - cold) / 10;
    int64_t warm = cpu_us();
    for (int round = 0; round < 100; round++)
        for (int i = 0; i < MANY; i++)
            assert_non_null(seen(w, i).outcome);
    warm = (cpu_us() - warm) / 100;
    print_message("100 checks: %lld us after an edit, %lld us at each further look\n",
                  (long long)cold, (long long)warm);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    assert_true(cold <= 20000); /* twice 200 tables a check are hashed and judged anew */
    assert_true(warm <= 2000);
#endif
    wizard_free(w);
    rows_release(&rows);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(answers_override_defaults),
        TEST(wrong_answer_is_kept_and_said),
        TEST(emptied_lists_are_no_answer),
        TEST(maps_from_text),
        TEST(nodes_have_their_kind),
        TEST(hidden_fields_keep_their_value),
        TEST(versions_count_what_changed),
        TEST(secrets_are_trimmed_judged_and_keep_their_revision),
        TEST(secrets_go_to_their_host_only),
        TEST(references_are_read_once_and_shared),
        TEST(a_secret_not_at_hand_keeps_its_origin),
        TEST(staleness_is_derived),
        TEST(outcomes_age),
        TEST(a_refused_login_does_not_age),
        TEST(expiry),
        TEST(old_inputs_are_not_stored),
        TEST(facts_no_longer_given_are_dropped),
        TEST(waits_say_what_is_missing),
        TEST(waits_for_planned_changes),
        TEST(a_giver_that_gave_nothing_is_not_repeated),
        TEST(restored_verdicts_stand_until_their_survey_ran),
        TEST(defaults_follow_what_they_come_from),
        TEST(steps_stand_by_their_worst),
        TEST(journal_has_one_entry_a_change),
        TEST(random_edits),
        TEST(many_checks_are_cheap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
