/* The engine's checks: what runs, when, how often, and what becomes of its outcome. The rows are
 * scripted: they sleep, fail, hang, ignore a cancel. */
#include "fake_world.h"

#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "core/engine.h"

/* --- scripted checks -------------------------------------------------------------------------- */

enum { SURVEY, VERDICT, AFTER, PROBE, GIVEN, COSTS, INFORMS, DEFAULTED, ROWS };

struct script {
    atomic_int sleep_ms;
    atomic_bool deaf;   /* sleeps through deadline and cancel */
    atomic_int result;  /* enum status */
    atomic_int problem; /* enum problem_kind, of a failure */
    atomic_bool gives_nothing;
    atomic_int runs;
    atomic_int inside;
    atomic_int steps; /* of progress */
};
static struct script scripts[ROWS];
static atomic_bool release_all; /* ends what is deaf */

static void sleep_deaf(int ms)
{
    for (int i = 0; i < ms && !release_all; i++)
        usleep(1000);
}

/* The fact is made of the input, so that one of old inputs is seen. */
static void play(int row, struct run *run, struct outcome *out, const char *input)
{
    struct script *s = &scripts[row];
    int value = atoi(input);
    s->runs++;
    s->inside++;
    for (int i = 1; i <= s->steps; i++)
        run_progress(run, i, s->steps, "step");
    AUTO_PROBLEM p = PROBLEM_INIT;
    int rc = 0;
    if (s->deaf)
        sleep_deaf(s->sleep_ms);
    else
        rc = run_sleep(run, s->sleep_ms, &p);
    s->inside--;
    if (rc != 0) {
        outcome_problem(out, &p);
        return;
    }
    if (s->problem != 0) {
        problem_fail(&p, (enum problem_kind)s->problem, "E", "no");
        outcome_problem(out, &p);
        return;
    }
    outcome_pass(out, "%s", input);
    if (s->result != 0)
        out->status = (enum status)s->result;
    if (s->result == 0 && !s->gives_nothing && row == SURVEY)
        outcome_give(out, "a.fact", number(value));
    if (s->result == 0 && !s->gives_nothing && row == PROBE)
        outcome_give(out, "a.probed", number(value));
}

#define PLAY(name, row, input)                                                                     \
    static void name(struct run *run, struct outcome *out)                                         \
    {                                                                                              \
        play(row, run, out, input);                                                                \
    }
PLAY(play_survey, SURVEY, run_text(run, "a.x"))
PLAY(play_after, AFTER, run_text(run, "a.x"))
PLAY(play_probe, PROBE, run_text(run, "a.x"))
PLAY(play_given, GIVEN, "0")
PLAY(play_costs, COSTS, run_text(run, "a.x"))
PLAY(play_informs, INFORMS, run_text(run, "a.x"))
PLAY(play_defaulted, DEFAULTED, run_text(run, "a.z"))

static void play_verdict(struct run *run, struct outcome *out)
{
    const int *n = run_fact(run, "a.fact", &number_type);
    char text[16];
    snprintf(text, sizeof text, "%d", n != NULL ? *n : -1);
    play(VERDICT, run, out, text);
}

static char *z_default(const struct snapshot *s)
{
    const int *n = snap_fact(s, "a.fact", &number_type);
    return n != NULL ? xasprintf("%d", *n) : NULL;
}

static const struct field fields[] = {
    {.id = "a.x", .label = "X", .required = true},
    {.id = "a.y", .label = "Y"},
    {.id = "a.z", .label = "Z", .required = true, .default_from = z_default},
};
static const struct check checks[ROWS] = {
    [SURVEY] = {.id = "a.survey",
                .title = "survey",
                .reads = IDS("a.x"),
                .gives = IDS("a.fact"),
                .service = "a",
                .deadline_ms = 700,
                .run = play_survey},
    [VERDICT] = {.id = "a.verdict",
                 .title = "verdict",
                 .reads = IDS("a.fact", "?a.y"),
                 .run = play_verdict},
    [AFTER] = {.id = "a.after",
               .title = "after",
               .reads = IDS("a.x"),
               .after = IDS("a.verdict"),
               .service = "a",
               .run = play_after},
    [PROBE] = {.id = "a.probe",
               .title = "probe",
               .reads = IDS("a.x"),
               .gives = IDS("a.probed"),
               .effect = EFFECT_PROBES,
               .touches = "things",
               .service = "p",
               .deadline_ms = 700,
               .run = play_probe},
    [GIVEN] = {.id = "a.given", .title = "given", .reads = IDS("a.probed"), .run = play_given},
    [COSTS] = {.id = "a.costs",
               .title = "costs",
               .reads = IDS("a.x"),
               .effect = EFFECT_COSTS,
               .service = "p",
               .run = play_costs},
    [INFORMS] = {.id = "a.informs",
                 .title = "informs",
                 .reads = IDS("a.x"),
                 .severity = SEV_INFORMS,
                 .service = "a",
                 .run = play_informs},
    [DEFAULTED] = {.id = "a.defaulted",
                   .title = "defaulted",
                   .reads = IDS("a.z"),
                   .service = "a",
                   .run = play_defaulted},
};
static const struct step step = {
    .id = "a",
    .fields = (const struct field *const[]){&fields[0], &fields[1], &fields[2], NULL},
    .checks = (const struct check *const[]){&checks[SURVEY], &checks[VERDICT], &checks[AFTER],
                                            &checks[PROBE], &checks[GIVEN], &checks[COSTS],
                                            &checks[INFORMS], &checks[DEFAULTED], NULL}};
static const struct step *const steps[] = {&step, NULL};

/* --- world ------------------------------------------------------------------------------------ */

#define EVENTS 4096

struct world {
    struct rows rows;
    struct wizard *w;
    struct engine *e;
    struct event events[EVENTS];
    size_t event_count;
};

static int set_up(void **state)
{
    struct world *x = xcalloc(1, sizeof *x);
    for (size_t i = 0; i < ROWS; i++) {
        struct script *s = &scripts[i];
        s->sleep_ms = s->result = s->problem = s->runs = s->inside = s->steps = 0;
        s->deaf = s->gives_nothing = false;
    }
    release_all = false;
    assert_int_equal(rows_init(&x->rows, steps, NULL), 0);
    x->w = wizard_new(&x->rows);
    x->e = engine_new(x->w, NULL, NULL);
    wizard_set_text(x->w, 0, "1", ORIGIN_TYPED, NULL);
    *state = x;
    return 0;
}

static int tear_down(void **state)
{
    struct world *x = *state;
    release_all = true;
    assert_true(engine_free(x->e));
    wizard_free(x->w);
    rows_release(&x->rows);
    xfree(x);
    return 0;
}

static void observe(void *ctx, const struct event *ev)
{
    struct world *x = ctx;
    if (x->event_count < EVENTS)
        x->events[x->event_count++] = *ev;
}

static int count_events(const struct world *x, enum event_kind kind, int check)
{
    int n = 0;
    for (size_t i = 0; i < x->event_count; i++)
        n += x->events[i].kind == kind && (check < 0 || x->events[i].check == check);
    return n;
}

/* As a main loop does: never sleeps longer than the engine says. */
static void pump_for(struct world *x, int ms)
{
    int64_t until = clock_ms() + ms;
    for (;;) {
        engine_pump(x->e, observe, x);
        int64_t left = until - clock_ms();
        if (left <= 0)
            return;
        int wait = engine_timeout(x->e);
        struct pollfd p = {.fd = engine_fd(x->e), .events = POLLIN};
        poll(&p, 1, wait >= 0 && wait < left ? wait : (int)left);
    }
}

/* Until nothing is left to do; fails when that takes longer. */
static void pump_out(struct world *x, int at_most_ms)
{
    int64_t until = clock_ms() + at_most_ms;
    engine_pump(x->e, observe, x);
    while (engine_busy(x->e)) {
        if (clock_ms() > until)
            fail_msg("still busy after %d ms", at_most_ms);
        int wait = engine_timeout(x->e);
        struct pollfd p = {.fd = engine_fd(x->e), .events = POLLIN};
        poll(&p, 1, wait >= 0 && wait < 1000 ? wait : 1000);
        engine_pump(x->e, observe, x);
    }
}

static void wait_inside(int row)
{
    for (int i = 0; i < 2000 && scripts[row].inside == 0; i++)
        usleep(1000);
    assert_int_equal(scripts[row].inside, 1);
}

static void want(struct world *x, int check, bool again)
{
    engine_want(x->e, check, EFFECT_READS, again);
}

static void type_x(struct world *x, const char *text)
{
    wizard_set_text(x->w, 0, text, ORIGIN_TYPED, NULL);
}

static int fact_now(struct world *x)
{
    const int *n = fact_data(wizard_fact(x->w, 0), &number_type);
    return n != NULL ? *n : -1;
}

static void assert_idle(struct world *x)
{
    engine_pump(x->e, observe, x);
    assert_false(engine_busy(x->e));
    assert_int_equal(engine_timeout(x->e), -1);
    struct pollfd p = {.fd = engine_fd(x->e), .events = POLLIN};
    assert_int_equal(poll(&p, 1, 0), 0); /* nobody is woken */
}

/* --- what runs -------------------------------------------------------------------------------- */

static void a_wish_brings_its_surveys(void **state)
{
    struct world *x = *state;
    assert_idle(x);
    want(x, VERDICT, false);
    struct pollfd p = {.fd = engine_fd(x->e), .events = POLLIN};
    assert_int_equal(poll(&p, 1, 0), 1); /* there is something to pump */
    pump_out(x, 2000);
    assert_int_equal(scripts[SURVEY].runs, 1);
    assert_int_equal(scripts[VERDICT].runs, 1);
    assert_true(stands(x->w, VERDICT, STATUS_PASSED));
    assert_string_equal(wizard_outcome(x->w, VERDICT)->line, "1");
    assert_int_equal(count_events(x, EVENT_CHECK_STARTED, -1), 2);
    assert_int_equal(count_events(x, EVENT_CHECK_DONE, -1), 2);
    want(x, VERDICT, false); /* current: not repeated */
    want(x, SURVEY, false);
    pump_out(x, 2000);
    assert_int_equal(scripts[SURVEY].runs + scripts[VERDICT].runs, 2);
    want(x, VERDICT, true); /* brings its survey as well */
    pump_out(x, 2000);
    assert_int_equal(scripts[SURVEY].runs, 2);
    assert_int_equal(scripts[VERDICT].runs, 2);
    assert_idle(x);
}

static void a_verdict_follows_its_survey(void **state)
{
    struct world *x = *state;
    want(x, SURVEY, false);
    pump_out(x, 2000);
    assert_int_equal(scripts[VERDICT].runs, 0); /* nobody asked for it */
    want(x, VERDICT, false);
    pump_out(x, 2000);
    type_x(x, "2");
    want(x, SURVEY, false);
    pump_out(x, 2000);
    assert_int_equal(scripts[SURVEY].runs, 2);
    assert_int_equal(scripts[VERDICT].runs, 2);
    assert_true(stands(x->w, VERDICT, STATUS_PASSED));
    assert_string_equal(wizard_outcome(x->w, VERDICT)->line, "2");
}

static void after_comes_after(void **state)
{
    struct world *x = *state;
    want(x, AFTER, false);
    pump_out(x, 2000);
    assert_int_equal(scripts[SURVEY].runs, 1);
    assert_int_equal(scripts[VERDICT].runs, 1);
    assert_true(stands(x->w, AFTER, STATUS_PASSED));
    type_x(x, "2");
    scripts[VERDICT].result = STATUS_FAILED;
    want(x, AFTER, false);
    pump_out(x, 2000);
    assert_int_equal(scripts[AFTER].runs, 1);
    assert_string_equal(seen(x->w, AFTER).waits, "verdict");
    wizard_accept(x->w, VERDICT, "known");
    want(x, AFTER, false);
    pump_out(x, 2000);
    assert_int_equal(scripts[AFTER].runs, 2);
    assert_int_equal(scripts[VERDICT].runs, 2);
}

/* Each wish ends, and nothing runs twice for it. */
static void wishes_that_cannot_come_true_are_dropped(void **state)
{
    struct world *x = *state;
    type_x(x, "");
    want(x, AFTER, false); /* an answer is missing three rows before it */
    pump_out(x, 1000);
    want(x, AFTER, true);
    pump_out(x, 1000);
    assert_int_equal(scripts[SURVEY].runs + scripts[VERDICT].runs + scripts[AFTER].runs, 0);
    type_x(x, "1");
    scripts[SURVEY].problem = PROBLEM_DENIED;
    want(x, VERDICT, false);
    pump_out(x, 1000);
    assert_int_equal(scripts[SURVEY].runs, 1);
    want(x, VERDICT, false);
    want(x, AFTER, false);
    pump_out(x, 1000);
    assert_int_equal(scripts[SURVEY].runs, 1); /* failed a moment ago, same inputs */
    want(x, VERDICT, true);
    pump_out(x, 1000);
    assert_int_equal(scripts[SURVEY].runs, 2);
    scripts[SURVEY].problem = 0;
    scripts[SURVEY].gives_nothing = true; /* passes, and brings no fact */
    want(x, VERDICT, true);
    pump_out(x, 1000);
    assert_int_equal(scripts[SURVEY].runs, 3);
    assert_int_equal(scripts[VERDICT].runs, 0);
    assert_string_equal(seen(x->w, VERDICT).waits, "survey");
    want(x, VERDICT, false);
    pump_out(x, 1000);
    assert_int_equal(scripts[SURVEY].runs, 3);
    type_x(x, "2"); /* edits bring it back to life */
    want(x, VERDICT, false);
    pump_out(x, 1000);
    assert_int_equal(scripts[SURVEY].runs, 4);
    assert_idle(x);
}

/* An answer that comes out of a survey's fact is waited for while the survey runs. */
static void a_default_that_is_being_found_is_waited_for(void **state)
{
    struct world *x = *state;
    scripts[SURVEY].sleep_ms = 50;
    scripts[SURVEY].gives_nothing = true; /* no longer than that */
    for (int i = 0; i < 2; i++) {
        type_x(x, i == 0 ? "1" : "2");
        want(x, SURVEY, false);
        engine_pump(x->e, observe, x);
        want(x, DEFAULTED, false);
        pump_out(x, 2000);
        assert_int_equal(scripts[DEFAULTED].runs, i);
        assert_string_equal(seen(x->w, DEFAULTED).waits, i == 0 ? "Z" : "");
        scripts[SURVEY].gives_nothing = false;
    }
    assert_idle(x);
}

/* As after a restart: outcomes and digests of facts, but no facts. */
static void restart(struct world *x)
{
    struct wizard *w = wizard_new(&x->rows);
    wizard_set_text(w, 0, "1", ORIGIN_STATE, NULL);
    for (int i = SURVEY; i <= VERDICT; i++) {
        struct outcome *o = brought(x->w, i, STATUS_PASSED);
        wizard_restore_outcome(w, i, o);
        outcome_unref(o);
    }
    wizard_restore_fact(w, 0, wizard_fact_digest(x->w, 0), NULL);
    assert_true(engine_free(x->e));
    wizard_free(x->w);
    x->w = w;
    x->e = engine_new(w, NULL, NULL);
}

static void restored_outcomes_stand(void **state)
{
    struct world *x = *state;
    want(x, VERDICT, false);
    pump_out(x, 1000);
    restart(x);
    want(x, VERDICT, false);
    pump_out(x, 1000);
    assert_int_equal(scripts[SURVEY].runs + scripts[VERDICT].runs, 2);
    wizard_set_text(x->w, 1, "other", ORIGIN_TYPED, NULL); /* judged anew, with the fact at hand */
    want(x, VERDICT, false);
    pump_out(x, 1000);
    assert_int_equal(scripts[SURVEY].runs, 2);
    assert_int_equal(scripts[VERDICT].runs, 2);
    assert_string_equal(wizard_outcome(x->w, VERDICT)->line, "1");
}

/* Plans and pickers read facts that no verdict needs again. */
static void restored_surveys_run_for_their_facts(void **state)
{
    struct world *x = *state;
    want(x, VERDICT, false);
    pump_out(x, 1000);
    restart(x);
    engine_want_step(x->e, 0, EFFECT_READS, false);
    pump_out(x, 1000);
    assert_int_equal(scripts[SURVEY].runs, 2);
    assert_non_null(wizard_fact(x->w, 0));
    engine_want_step(x->e, 0, EFFECT_READS, false);
    pump_out(x, 1000);
    assert_int_equal(scripts[SURVEY].runs, 2);
}

static void refused_logins_are_not_repeated(void **state)
{
    struct world *x = *state;
    scripts[SURVEY].problem = PROBLEM_REFUSED;
    engine_want_step(x->e, 0, EFFECT_READS, false);
    pump_out(x, 1000);
    assert_int_equal(scripts[SURVEY].runs, 1);
    assert_true(stands(x->w, SURVEY, STATUS_FAILED));
    struct outcome *old = brought(x->w, SURVEY, STATUS_FAILED);
    old->kind = PROBLEM_REFUSED;
    old->at -= 86400;
    assert_true(put_taken(x->w, SURVEY, old));
    for (int i = 0; i < 3; i++) {
        engine_want_step(x->e, 0, EFFECT_PROBES, false);
        pump_out(x, 1000);
    }
    assert_int_equal(scripts[SURVEY].runs, 1);
    want(x, SURVEY, true); /* by name */
    pump_out(x, 1000);
    assert_int_equal(scripts[SURVEY].runs, 2);
    type_x(x, "2"); /* another input */
    want(x, VERDICT, false);
    pump_out(x, 1000);
    assert_int_equal(scripts[SURVEY].runs, 3);
}

static void effects_need_leave(void **state)
{
    struct world *x = *state;
    engine_want_step(x->e, 0, EFFECT_READS, false);
    pump_out(x, 1000);
    assert_int_equal(scripts[PROBE].runs + scripts[COSTS].runs, 0);
    want(x, GIVEN, false); /* its fact comes from a probe */
    want(x, PROBE, true);
    pump_out(x, 1000);
    assert_int_equal(scripts[PROBE].runs + scripts[GIVEN].runs, 0);
    engine_want(x->e, GIVEN, EFFECT_PROBES, false);
    pump_out(x, 1000);
    assert_int_equal(scripts[PROBE].runs, 1);
    assert_int_equal(scripts[GIVEN].runs, 1);
    engine_want(x->e, COSTS, EFFECT_COSTS, true);
    pump_out(x, 1000);
    assert_int_equal(scripts[COSTS].runs, 1);
}

static void severity_tames_failures(void **state)
{
    struct world *x = *state;
    scripts[INFORMS].result = STATUS_FAILED;
    want(x, INFORMS, false);
    pump_out(x, 1000);
    assert_true(stands(x->w, INFORMS, STATUS_WARNED));
    scripts[INFORMS].problem = PROBLEM_UNREACHABLE;
    want(x, INFORMS, true);
    pump_out(x, 1000);
    assert_true(stands(x->w, INFORMS, STATUS_WARNED));
}

static void progress_is_seen(void **state)
{
    struct world *x = *state;
    scripts[SURVEY].steps = 5;
    scripts[SURVEY].sleep_ms = 300;
    want(x, SURVEY, false);
    pump_for(x, 100);
    struct check_view v = seen(x->w, SURVEY);
    assert_true(v.running && v.running_since > 0);
    assert_int_equal(v.done, 5);
    assert_int_equal(v.total, 5);
    assert_string_equal(v.doing, "step");
    assert_int_equal(count_events(x, EVENT_CHECK_PROGRESS, SURVEY), 5);
    pump_out(x, 1000);
    v = seen(x->w, SURVEY);
    assert_true(!v.running && v.doing == NULL && v.total == 0);
}

/* --- inputs that change meanwhile ------------------------------------------------------------- */

static void old_inputs_are_dropped_and_run_again(void **state)
{
    struct world *x = *state;
    scripts[SURVEY].sleep_ms = 500;
    want(x, VERDICT, false);
    engine_pump(x->e, observe, x);
    wait_inside(SURVEY);
    type_x(x, "2");
    scripts[SURVEY].sleep_ms = 10;
    int64_t started = clock_ms();
    pump_out(x, 2000);
    assert_true(clock_ms() - started < 400); /* the old one is not waited for */
    assert_int_equal(scripts[SURVEY].runs, 2);
    assert_int_equal(count_events(x, EVENT_CHECK_DROPPED, SURVEY), 1);
    assert_int_equal(fact_now(x), 2);
    assert_string_equal(wizard_outcome(x->w, VERDICT)->line, "2");
}

static void cancel_counts_for_what_is_hurried_as_well(void **state)
{
    struct world *x = *state;
    scripts[SURVEY].deaf = true;
    scripts[SURVEY].sleep_ms = 40;
    want(x, SURVEY, false);
    engine_pump(x->e, observe, x);
    wait_inside(SURVEY);
    type_x(x, "2");
    engine_pump(x->e, observe, x); /* hurried, to be run again */
    engine_cancel(x->e, -1);
    pump_out(x, 1000);
    assert_int_equal(scripts[SURVEY].runs, 1);
}

static void a_slow_old_answer_never_overwrites(void **state)
{
    struct world *x = *state;
    scripts[SURVEY].sleep_ms = 600;
    scripts[SURVEY].deaf = true;
    want(x, SURVEY, false);
    engine_pump(x->e, observe, x);
    wait_inside(SURVEY);
    scripts[SURVEY].deaf = false;
    scripts[SURVEY].sleep_ms = 0;
    type_x(x, "2");
    pump_out(x, 2000);
    assert_int_equal(scripts[SURVEY].runs, 2);
    assert_int_equal(fact_now(x), 2);
    type_x(x, "1"); /* even though its inputs are the present ones again */
    scripts[SURVEY].gives_nothing = true;
    want(x, SURVEY, false);
    pump_out(x, 2000);
    assert_int_equal(fact_now(x), -1);
    pump_for(x, 800);
    assert_int_equal(scripts[SURVEY].inside, 0);
    assert_int_equal(fact_now(x), -1);
    assert_idle(x);
}

static void what_costs_is_not_run_again_by_itself(void **state)
{
    struct world *x = *state;
    scripts[COSTS].sleep_ms = 100;
    engine_want(x->e, COSTS, EFFECT_COSTS, false);
    engine_pump(x->e, observe, x);
    wait_inside(COSTS);
    type_x(x, "2");
    pump_out(x, 2000);
    assert_int_equal(scripts[COSTS].runs, 1);
    assert_int_equal(count_events(x, EVENT_CHECK_DROPPED, COSTS), 1);
    assert_null(wizard_outcome(x->w, COSTS));
}

static void expired_while_running_runs_again(void **state)
{
    struct world *x = *state;
    scripts[SURVEY].sleep_ms = 50;
    want(x, SURVEY, false);
    engine_pump(x->e, observe, x);
    wait_inside(SURVEY);
    wizard_expire_check(x->w, SURVEY); /* a change was made meanwhile */
    pump_out(x, 2000);
    assert_int_equal(scripts[SURVEY].runs, 2);
    assert_true(stands(x->w, SURVEY, STATUS_PASSED));
}

/* --- time and cancel -------------------------------------------------------------------------- */

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define AT_ONCE_MS 300 /* several times slower */
#else
#define AT_ONCE_MS 100
#endif

static void cancel_within(struct world *x, int row, enum effect effect, enum status then)
{
    engine_want(x->e, row, effect, true);
    engine_pump(x->e, observe, x);
    wait_inside(row);
    int64_t started = clock_ms();
    engine_cancel(x->e, -1);
    pump_out(x, 2000);
    assert_true(clock_ms() - started < AT_ONCE_MS);
    assert_false(seen(x->w, row).running);
    assert_int_equal(seen(x->w, row).status, then);
}

static void cancel_is_felt_at_once(void **state)
{
    struct world *x = *state;
    scripts[SURVEY].sleep_ms = scripts[INFORMS].sleep_ms = 600;
    cancel_within(x, SURVEY, EFFECT_READS, STATUS_CANCELLED);
    scripts[INFORMS].deaf = true; /* does not even listen */
    cancel_within(x, INFORMS, EFFECT_READS, STATUS_CANCELLED);
    scripts[SURVEY].sleep_ms = 0;
    want(x, SURVEY, false); /* cancelled is not done */
    pump_out(x, 1000);
    assert_true(stands(x->w, SURVEY, STATUS_PASSED));
    scripts[SURVEY].sleep_ms = 600;
    want(x, SURVEY, true);
    engine_pump(x->e, observe, x);
    engine_cancel(x->e, SURVEY);
    pump_out(x, 1000);
    assert_true(stands(x->w, SURVEY, STATUS_PASSED)); /* the last outcome is kept */
}

/* Cancelling what another wish waits for ends that wish, too: it would start the thing anew. */
static void cancel_of_one_is_not_defeated_by_another(void **state)
{
    struct world *x = *state;
    scripts[SURVEY].sleep_ms = 600;
    want(x, VERDICT, false);
    engine_pump(x->e, observe, x);
    wait_inside(SURVEY);
    engine_cancel(x->e, SURVEY);
    pump_out(x, 500);
    assert_int_equal(scripts[SURVEY].runs, 1);
    assert_int_equal(scripts[VERDICT].runs, 0);
    scripts[SURVEY].sleep_ms = 0;
    want(x, VERDICT, false);
    pump_out(x, 500);
    assert_true(stands(x->w, VERDICT, STATUS_PASSED));
}

static void deadlines_hold(void **state)
{
    struct world *x = *state;
    scripts[SURVEY].sleep_ms = 3000;
    want(x, SURVEY, false);
    int64_t started = clock_ms();
    pump_out(x, 3000);
    int64_t took = clock_ms() - started;
    assert_true(took >= 690 && took < 1200);
    assert_true(stands(x->w, SURVEY, STATUS_UNREACHABLE));
    scripts[SURVEY].deaf = true; /* given up a second later, its thread left alone */
    want(x, SURVEY, true);
    started = clock_ms();
    pump_out(x, 3000);
    took = clock_ms() - started;
    assert_true(took >= 1690 && took < 2300);
    assert_true(stands(x->w, SURVEY, STATUS_UNREACHABLE));
    assert_non_null(wizard_outcome(x->w, SURVEY)->fix);
    assert_int_equal(scripts[SURVEY].inside, 1);
    scripts[SURVEY].deaf = false;
    scripts[SURVEY].sleep_ms = 0;
    want(x, SURVEY, true);
    pump_out(x, 1000);
    assert_true(stands(x->w, SURVEY, STATUS_PASSED));
    release_all = true;
    pump_for(x, 50); /* what it brings at last is thrown away */
    assert_true(stands(x->w, SURVEY, STATUS_PASSED));
}

static void a_probe_is_not_run_beside_its_own_cleaning(void **state)
{
    struct world *x = *state;
    scripts[PROBE].sleep_ms = 300;
    scripts[PROBE].deaf = true;
    cancel_within(x, PROBE, EFFECT_PROBES, STATUS_CANCELLED);
    engine_want(x->e, PROBE, EFFECT_PROBES, false);
    pump_for(x, 100);
    assert_int_equal(scripts[PROBE].runs, 1);
    scripts[PROBE].deaf = false;
    scripts[PROBE].sleep_ms = 0;
    pump_out(x, 1000);
    assert_int_equal(scripts[PROBE].runs, 2);
    assert_true(stands(x->w, PROBE, STATUS_PASSED));
    scripts[PROBE].deaf = true; /* one that never ends holds no longer than its deadline */
    scripts[PROBE].sleep_ms = 5000;
    cancel_within(x, PROBE, EFFECT_PROBES, STATUS_PASSED);
    scripts[PROBE].sleep_ms = 0;
    engine_want(x->e, PROBE, EFFECT_PROBES, true);
    pump_out(x, 1500);
    assert_int_equal(scripts[PROBE].runs, 4);
}

static void no_descriptor_is_said(void **state)
{
    struct world *x = *state;
    struct rlimit before, none;
    int next = dup(0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = (rlim_t)next;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    want(x, SURVEY, false);
    engine_pump(x->e, observe, x);
    engine_pump(x->e, observe, x);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(stands(x->w, SURVEY, STATUS_FAILED));
    assert_int_equal(wizard_outcome(x->w, SURVEY)->kind, PROBLEM_LOCAL);
    assert_int_equal(scripts[SURVEY].runs, 0);
    assert_idle(x);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void ending_does_not_wait_for_the_deaf(void **state)
{
    struct world *x = *state;
    static struct engine *left; /* reachable, as it is left to its thread */
    scripts[SURVEY].sleep_ms = 600;
    want(x, SURVEY, false);
    engine_pump(x->e, observe, x);
    wait_inside(SURVEY);
    int64_t started = clock_ms();
    assert_true(engine_free(x->e));
    assert_true(clock_ms() - started < AT_ONCE_MS);
    x->e = left = engine_new(x->w, NULL, NULL);
    scripts[SURVEY].sleep_ms = 5000;
    scripts[SURVEY].deaf = true;
    want(x, SURVEY, false);
    engine_pump(x->e, observe, x);
    wait_inside(SURVEY);
    started = clock_ms();
    assert_false(engine_free(x->e));
    int64_t took = clock_ms() - started;
    assert_true(took >= 1900 && took < 2400);
    release_all = true;
    for (int i = 0; i < 1000 && scripts[SURVEY].inside > 0; i++)
        usleep(1000);
    usleep(50000);
    assert_non_null(left);
    x->e = engine_new(x->w, NULL, NULL);
}

/* --- many at once ----------------------------------------------------------------------------- */

#define MANY 120
#define OF_ONE 40

static atomic_int inside_all, inside_one, most_all, most_one, ran_many;

static void enter(atomic_int *inside, atomic_int *most)
{
    int n = ++*inside;
    int seen_most = *most;
    while (n > seen_most && !atomic_compare_exchange_weak(most, &seen_most, n))
        ;
}

static void run_many(struct run *run, struct outcome *out)
{
    enter(&inside_all, &most_all);
    run_sleep(run, 30, NULL);
    inside_all--;
    ran_many++;
    outcome_pass(out, "fine");
}

static void run_one(struct run *run, struct outcome *out)
{
    enter(&inside_one, &most_one);
    run_many(run, out);
    inside_one--;
}

static void caps_hold(void **state)
{
    struct world *x = *state;
    static char ids[MANY][24];
    static struct check many[MANY];
    static const struct check *list[MANY + 1];
    for (int i = 0; i < MANY; i++) {
        snprintf(ids[i], sizeof ids[i], "m.check%d", i);
        many[i] = (struct check){.id = ids[i],
                                 .title = ids[i],
                                 .service = i < OF_ONE ? "one" : ids[i],
                                 .run = i < OF_ONE ? run_one : run_many};
        list[i] = &many[i];
    }
    const struct step big = {.id = "m", .checks = list};
    const struct step *const all[] = {&big, NULL};
    struct rows rows;
    assert_int_equal(rows_init(&rows, all, NULL), 0);
    struct wizard *w = wizard_new(&rows);
    struct engine *kept = x->e;
    x->e = engine_new(w, NULL, NULL);
    int64_t started = clock_ms();
    engine_want_step(x->e, 0, EFFECT_READS, false);
    pump_out(x, 5000);
    assert_int_equal(ran_many, MANY);
    assert_int_equal(most_one, 16);
    assert_true(most_all > 32 && most_all <= 64);
    assert_true(clock_ms() - started < 2000);
    assert_true(engine_free(x->e));
    wizard_free(w);
    rows_release(&rows);
    x->e = kept;
}

/* A key is echoed within a frame while sixteen checks hang: pumping never waits. */
static void pumping_never_waits(void **state)
{
    struct world *x = *state;
    scripts[SURVEY].sleep_ms = scripts[INFORMS].sleep_ms = 300;
    scripts[SURVEY].deaf = scripts[INFORMS].deaf = true;
    engine_want_step(x->e, 0, EFFECT_READS, false);
    int64_t longest = 0;
    for (int i = 0; i < 100; i++) {
        int64_t started = clock_ms();
        engine_pump(x->e, observe, x);
        int64_t took = clock_ms() - started;
        longest = took > longest ? took : longest;
        usleep(1000);
    }
    assert_true(longest < 30);
}

/* An observer may want more while it is told. */
static void observe_and_want(void *ctx, const struct event *ev)
{
    struct world *x = ctx;
    observe(ctx, ev);
    if (ev->kind == EVENT_CHECK_DONE && ev->check == SURVEY)
        engine_want(x->e, AFTER, EFFECT_READS, false);
    if (ev->kind == EVENT_CHECK_STARTED && ev->check == AFTER)
        engine_cancel(x->e, INFORMS);
}

static void observers_may_act(void **state)
{
    struct world *x = *state;
    scripts[INFORMS].sleep_ms = 5000;
    want(x, INFORMS, false);
    want(x, SURVEY, false);
    for (int i = 0; i < 200 && (i == 0 || engine_busy(x->e)); i++) {
        engine_pump(x->e, observe_and_want, x);
        usleep(2000);
    }
    assert_true(stands(x->w, AFTER, STATUS_PASSED));
    assert_int_equal(seen(x->w, INFORMS).status, STATUS_CANCELLED);
}

/* --- random edits, wishes and cancels --------------------------------------------------------- */

static unsigned random_next(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16 & 0x7FFF;
}

static void random_round(struct world *x, unsigned *seed)
{
    char text[16];
    snprintf(text, sizeof text, "%u", random_next(seed) % 4 + 1);
    switch (random_next(seed) % 8) {
    case 0:
    case 1:
        type_x(x, text);
        break;
    case 2:
        wizard_set_text(x->w, 1, text, ORIGIN_TYPED, NULL);
        break;
    case 3:
        engine_cancel(x->e, (int)(random_next(seed) % (ROWS + 1)) - 1);
        break;
    case 4:
        wizard_expire_check(x->w, (int)(random_next(seed) % ROWS));
        break;
    case 5:
        scripts[random_next(seed) % ROWS].sleep_ms = (int)(random_next(seed) % 8);
        scripts[SURVEY].deaf = random_next(seed) % 8 == 0;
        break;
    default:
        engine_want(x->e, (int)(random_next(seed) % ROWS), EFFECT_PROBES,
                    random_next(seed) % 4 == 0);
    }
}

static void random_use(void **state)
{
    struct world *x = *state;
    unsigned seed = 42;
    for (int round = 0; round < 40; round++) {
        for (int i = 0; i < 40; i++) {
            random_round(x, &seed);
            if (random_next(&seed) % 2)
                engine_pump(x->e, observe, x);
            if (random_next(&seed) % 4 == 0)
                usleep(1000);
        }
        engine_want_step(x->e, 0, EFFECT_PROBES, false);
        pump_out(x, 5000);
        /* at rest all is of the present inputs, whatever came in between */
        int now = atoi(effective_text(x->w, 0));
        char text[16];
        snprintf(text, sizeof text, "%d", now);
        assert_int_equal(fact_now(x), now);
        for (int i = SURVEY; i <= PROBE; i++) {
            if (!stands(x->w, i, STATUS_PASSED))
                fail_msg("round %d: %s is %s", round, checks[i].id, seen(x->w, i).waits);
            assert_string_equal(wizard_outcome(x->w, i)->line, text);
        }
        x->event_count = 0;
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_wish_brings_its_surveys),
        TEST(a_verdict_follows_its_survey),
        TEST(after_comes_after),
        TEST(wishes_that_cannot_come_true_are_dropped),
        TEST(a_default_that_is_being_found_is_waited_for),
        TEST(restored_outcomes_stand),
        TEST(restored_surveys_run_for_their_facts),
        TEST(refused_logins_are_not_repeated),
        TEST(effects_need_leave),
        TEST(severity_tames_failures),
        TEST(progress_is_seen),
        TEST(old_inputs_are_dropped_and_run_again),
        TEST(cancel_counts_for_what_is_hurried_as_well),
        TEST(a_slow_old_answer_never_overwrites),
        TEST(what_costs_is_not_run_again_by_itself),
        TEST(expired_while_running_runs_again),
        TEST(cancel_is_felt_at_once),
        TEST(cancel_of_one_is_not_defeated_by_another),
        TEST(deadlines_hold),
        TEST(a_probe_is_not_run_beside_its_own_cleaning),
        TEST(no_descriptor_is_said),
        TEST(ending_does_not_wait_for_the_deaf),
        TEST(caps_hold),
        TEST(pumping_never_waits),
        TEST(observers_may_act),
        TEST(random_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
