/* The scheduling of checks. Threads and queue stand in engine_tasks.c, changes in apply.c. */
#include "core/engine.h"

#include <string.h>

#include "core/bug.h"
#include "core/clock.h"
#include "core/engine_parts.h"
#include "core/log.h"
#include "core/mem.h"

#define CHECK_DEADLINE_MS 15000

void engine_emit(struct engine *e, enum event_kind kind, int check, const char *change)
{
    if (e->observe == NULL)
        return;
    struct event ev = {.kind = kind, .check = check, .change = change};
    e->observe(e->observe_ctx, &ev);
}

/* --- checks ----------------------------------------------------------------------------------- */

static struct task *task_of(struct task *list, int check)
{
    while (list != NULL && (list->kind != TASK_CHECK || list->index != (size_t)check))
        list = list->next;
    return list;
}

static bool is_running(const struct engine *e, int check)
{
    return task_of(e->running, check) != NULL;
}

/* A probe that was given up may still be removing what it wrote: another one beside it would trip
 * over that. Over = at the latest when its deadline is. */
static struct task *still_at_it(const struct engine *e, int check)
{
    for (struct task *t = task_of(e->abandoned, check); t != NULL; t = task_of(t->next, check))
        if (t->check->effect != EFFECT_READS && clock_ms() < run_deadline(t->run))
            return t;
    return NULL;
}

static bool room_for(const struct engine *e, const struct check *c)
{
    int same = 0;
    for (const struct task *t = e->running; t != NULL; t = t->next)
        same += t->check != NULL && c->service != NULL && t->check->service != NULL &&
                strcmp(t->check->service, c->service) == 0;
    return engine_threads(e) < THREADS_MAX && same < SERVICE_MAX;
}

static void start_check(struct engine *e, int check)
{
    const struct check *c = wizard_rows(e->wizard)->checks[check];
    struct task *t = xcalloc(1, sizeof(*t));
    t->kind = TASK_CHECK;
    t->index = (size_t)check;
    t->check = c;
    t->digest = wizard_check_digest(e->wizard, check);
    t->out = outcome_new();
    e->wants[check] = (struct want){0};
    engine_start_task(e, t, c->deadline_ms > 0 ? c->deadline_ms : CHECK_DEADLINE_MS);
    wizard_running(e->wizard, check, true, t->started);
    engine_emit(e, EVENT_CHECK_STARTED, check, NULL);
}

/* A fact or check this one builds on is about to be made anew: it is worth waiting for. */
static bool depends_on_pending(struct engine *e, const struct check *c)
{
    const struct rows *rows = wizard_rows(e->wizard);
    for (size_t i = 0; c->reads != NULL && c->reads[i] != NULL; i++) {
        int fact = rows_fact(rows, c->reads[i][0] == '?' ? c->reads[i] + 1 : c->reads[i]);
        if (fact >= 0 && (is_running(e, rows->givers[fact]) || e->wants[rows->givers[fact]].wanted))
            return true;
    }
    for (size_t i = 0; c->after != NULL && c->after[i] != NULL; i++) {
        int before = rows_check(rows, c->after[i]);
        if (is_running(e, before) || e->wants[before].wanted)
            return true;
    }
    return false;
}

static bool give_up(struct want *want)
{
    *want = (struct want){0};
    return true;
}

/* Wants the check at the end of the chain of what must run first; the others follow it. Not one
 * that cannot run or that ran for this wish already: wanting it would only come back here. Rows
 * have no circles, so the chain ends. */
static bool pull_first(struct engine *e, struct want *want, int first)
{
    const struct rows *rows = wizard_rows(e->wizard);
    for (int next = first; next >= 0; next = wizard_check_first(e->wizard, next)) {
        first = next;
        if (rows->checks[first]->effect > want->effect)
            return give_up(want);
    }
    if (is_running(e, first) || e->wants[first].wanted)
        return false;
    char waits[120];
    wizard_check_waits(e->wizard, first, waits, sizeof(waits));
    uint64_t answers = wizard_answers_version(e->wizard);
    if (waits[0] != '\0' || (want->pulled == first + 1 && want->pulled_at == answers))
        return give_up(want);
    want->pulled = first + 1;
    want->pulled_at = answers;
    e->wants[first] = (struct want){.wanted = true, .again = true, .effect = want->effect};
    return true;
}

/* What runs with inputs that are no longer the present ones is not waited for. */
static void hurry(struct engine *e, struct task *t)
{
    struct digest now = wizard_check_digest(e->wizard, (int)t->index);
    if (t->cancelled_at != 0 || digest_equal(&now, &t->digest))
        return;
    t->outdated = true;
    task_cancel(t);
}

static bool a_check_runs(const struct engine *e)
{
    for (const struct task *t = e->running; t != NULL; t = t->next)
        if (t->kind == TASK_CHECK)
            return true;
    return false;
}

/* Facts that did not come with the state file, though the outcome did: who wants a survey wants
 * what plans and pickers read of it, which no check may ask for. */
static bool facts_left_behind(const struct engine *e, int check)
{
    const struct rows *rows = wizard_rows(e->wizard);
    const struct check *c = rows->checks[check];
    const struct outcome *o = wizard_outcome(e->wizard, check);
    if (o == NULL || (o->status != STATUS_PASSED && o->status != STATUS_WARNED))
        return false;
    for (size_t i = 0; c->gives != NULL && c->gives[i] != NULL; i++) {
        int fact = rows_fact(rows, c->gives[i]);
        struct digest known = wizard_fact_digest(e->wizard, fact);
        if (wizard_fact(e->wizard, fact) == NULL && !digest_none(&known))
            return true;
    }
    return false;
}

/* True when something changed that may let another check go on. `nothing_runs`: nor can anything be
 * started, so that what waits for an answer waits in vain; before, what runs may bring the fact
 * that the answer defaults to. */
static bool consider(struct engine *e, int check, bool nothing_runs)
{
    struct want *want = &e->wants[check];
    const struct check *c = wizard_rows(e->wizard)->checks[check];
    struct task *running = task_of(e->running, check);
    if (running != NULL) {
        hurry(e, running);
        return false;
    }
    if (still_at_it(e, check) != NULL || depends_on_pending(e, c))
        return false;
    if (!want->again && wizard_check_current(e->wizard, check) && !facts_left_behind(e, check))
        return give_up(want);
    int first = wizard_check_first(e->wizard, check);
    if (first >= 0)
        return pull_first(e, want, first);
    char waits[120];
    wizard_check_waits(e->wizard, check, waits, sizeof(waits));
    if (waits[0] != '\0')
        return nothing_runs && give_up(want);
    if (!room_for(e, c))
        return false;
    start_check(e, check);
    return true;
}

static bool consider_all(struct engine *e, bool nothing_runs)
{
    const struct rows *rows = wizard_rows(e->wizard);
    bool moved = false;
    for (size_t i = 0; i < rows->check_count; i++)
        if (e->wants[rows->order[i]].wanted)
            moved |= consider(e, rows->order[i], nothing_runs);
    return moved;
}

static void schedule(struct engine *e)
{
    bool moved = !e->closing;
    for (struct task *t = e->running; t != NULL; t = t->next)
        if (t->kind == TASK_CHECK && t->check->effect == EFFECT_READS)
            hurry(e, t);
    while (moved) {
        moved = consider_all(e, false);
        if (!moved && !a_check_runs(e))
            moved = consider_all(e, true);
    }
}

void engine_want(struct engine *e, int check, enum effect effect, bool again)
{
    const struct rows *rows = wizard_rows(e->wizard);
    const struct check *c = rows->checks[check];
    if (c->effect > effect)
        return;
    struct want *want = &e->wants[check];
    want->effect = want->wanted && want->effect > effect ? want->effect : effect;
    want->wanted = true;
    want->again |= again;
    want->pulled = 0;
    engine_poke(e);
    if (!again)
        return;
    for (size_t i = 0; c->reads != NULL && c->reads[i] != NULL; i++) {
        int fact = rows_fact(rows, c->reads[i][0] == '?' ? c->reads[i] + 1 : c->reads[i]);
        int giver = fact >= 0 ? rows->givers[fact] : -1;
        if (giver >= 0 && !e->wants[giver].again &&
            rows_step_of(rows, rows->checks[giver]->id) == rows_step_of(rows, c->id))
            engine_want(e, giver, effect, true);
    }
}

void engine_want_step(struct engine *e, int step, enum effect effect, bool again)
{
    const struct rows *rows = wizard_rows(e->wizard);
    for (size_t i = 0; i < rows->check_count; i++)
        if (rows_step_of(rows, rows->checks[i]->id) == rows->steps[step])
            engine_want(e, (int)i, effect, again);
}

void engine_cancel(struct engine *e, int check)
{
    const struct rows *rows = wizard_rows(e->wizard);
    for (size_t i = 0; i < rows->check_count; i++)
        if (check < 0 || (size_t)check == i)
            e->wants[i] = (struct want){0};
    for (struct task *t = e->running; t != NULL; t = t->next)
        if (t->kind == TASK_CHECK && (check < 0 || t->index == (size_t)check)) {
            t->outdated = false;
            task_cancel(t);
        }
}

bool engine_busy(const struct engine *e)
{
    if (e->running != NULL || e->applying)
        return true;
    for (size_t i = 0; i < wizard_rows(e->wizard)->check_count; i++)
        if (e->wants[i].wanted)
            return true;
    return false;
}

/* --- results ---------------------------------------------------------------------------------- */

/* What a finding of this severity amounts to: only blocking and dangerous ones fail. */
static void seal(const struct task *t, struct outcome *o)
{
    enum severity severity = t->check->severity;
    bool mild = severity == SEV_WARNS || severity == SEV_INFORMS;
    if (t->cancelled_at != 0)
        o->status = STATUS_CANCELLED;
    else if (o->status == STATUS_FAILED && mild)
        o->status = STATUS_WARNED;
    else if (o->status == STATUS_UNREACHABLE && severity == SEV_INFORMS)
        o->status = STATUS_WARNED;
    else if (o->status == STATUS_NONE)
        bug("%s ended without a result", t->check->id);
    o->digest = t->digest;
    o->at = clock_wall();
    o->took_ms = clock_ms() - t->started;
}

/* What costs is asked for each time: it does not run again by itself. */
static void dropped(struct engine *e, const struct task *t)
{
    int check = (int)t->index;
    struct want *want = &e->wants[check];
    if (t->check->effect != EFFECT_COSTS) {
        if (!want->wanted || want->effect < t->check->effect)
            want->effect = t->check->effect;
        want->wanted = true;
    }
    engine_emit(e, EVENT_CHECK_DROPPED, check, NULL);
}

static bool reads_of(const struct rows *rows, const struct check *c, int giver)
{
    for (size_t i = 0; c->reads != NULL && c->reads[i] != NULL; i++) {
        int fact = rows_fact(rows, c->reads[i][0] == '?' ? c->reads[i] + 1 : c->reads[i]);
        if (fact >= 0 && rows->givers[fact] == giver)
            return true;
    }
    return false;
}

/* Verdicts that were given of what the survey knew before are given anew, where nothing else is
 * missing for it: they cost nothing, and would stand there as stale until somebody asks. */
static void judge_anew(struct engine *e, int survey)
{
    const struct rows *rows = wizard_rows(e->wizard);
    for (size_t i = 0; i < rows->check_count; i++) {
        const struct check *c = rows->checks[i];
        char waits[120];
        if (c->service != NULL || wizard_outcome(e->wizard, (int)i) == NULL ||
            !reads_of(rows, c, survey) || wizard_check_current(e->wizard, (int)i) ||
            wizard_check_first(e->wizard, (int)i) >= 0)
            continue;
        wizard_check_waits(e->wizard, (int)i, waits, sizeof waits);
        if (waits[0] == '\0')
            engine_want(e, (int)i, EFFECT_READS, false);
    }
}

static void check_finished(struct engine *e, const struct task *t, struct outcome *o)
{
    int check = (int)t->index;
    seal(t, o);
    wizard_running(e->wizard, check, false, 0);
    log_line("%s: %s, %s (%lld ms)", t->check->id, status_name(o->status),
             o->line != NULL ? o->line : "", (long long)o->took_ms);
    if (o->status != STATUS_CANCELLED) {
        if (!wizard_put_outcome(e->wizard, check, o)) {
            dropped(e, t);
            return;
        }
        if (t->check->gives != NULL && !e->closing)
            judge_anew(e, check);
    } else if (t->outdated) {
        dropped(e, t);
        return;
    } else if (wizard_outcome(e->wizard, check) == NULL) {
        o->digest = (struct digest){{0}};
        wizard_restore_outcome(e->wizard, check, o);
    }
    engine_emit(e, EVENT_CHECK_DONE, check, NULL);
}

/* Its thread is left to itself; what it brings later is thrown away. */
static void abandon(struct engine *e, struct task *t)
{
    struct outcome *o = outcome_new();
    AUTO_PROBLEM p = PROBLEM_INIT;
    problem_fail(&p, PROBLEM_UNREACHABLE, "deadline", "no result within %lld s",
                 (long long)(clock_ms() - t->started) / 1000);
    problem_fix(&p, WHO_NETWORK,
                "See that the service can be reached from here, then check again.");
    outcome_problem(o, &p);
    task_unlink(&e->running, t);
    t->next = e->abandoned;
    e->abandoned = t;
    log_line("%s: is given up", t->check->id);
    check_finished(e, t, o);
    outcome_unref(o);
}

static void abandon_late(struct engine *e)
{
    struct task *next;
    for (struct task *t = e->running; t != NULL; t = next) {
        next = t->next;
        if (t->kind == TASK_CHECK && clock_ms() >= task_limit(t))
            abandon(e, t);
    }
}

int engine_timeout(struct engine *e)
{
    int64_t next = INT64_MAX;
    for (const struct task *t = e->running; t != NULL; t = t->next)
        if (t->kind == TASK_CHECK && task_limit(t) < next)
            next = task_limit(t);
    for (size_t i = 0; e->abandoned != NULL && i < wizard_rows(e->wizard)->check_count; i++) {
        const struct task *t = e->wants[i].wanted ? still_at_it(e, (int)i) : NULL;
        if (t != NULL && run_deadline(t->run) < next)
            next = run_deadline(t->run);
    }
    if (next == INT64_MAX)
        return -1;
    int64_t left = next - clock_ms();
    return left < 0 ? 0 : (int)left;
}

/* --- queue ------------------------------------------------------------------------------------ */

static bool is_abandoned(const struct engine *e, const struct task *t)
{
    const struct task *at = e->abandoned;
    while (at != NULL && at != t)
        at = at->next;
    return at != NULL;
}

static void take_in(struct engine *e, const struct message *m)
{
    struct task *t = m->task;
    bool late = is_abandoned(e, t);
    if (m->finished) {
        task_unlink(late ? &e->abandoned : &e->running, t);
        if (late)
            log_line("%s: its thread ended after %lld ms", t->check->id,
                     (long long)(clock_ms() - t->started));
        else if (t->kind == TASK_CHECK)
            check_finished(e, t, t->out);
        else
            apply_finished(e, t);
        task_free(t);
    } else if (late) {
        return;
    } else if (t->kind == TASK_CHECK) {
        wizard_progress(e->wizard, (int)t->index, m->done, m->total, m->doing);
        engine_emit(e, EVENT_CHECK_PROGRESS, (int)t->index, NULL);
    } else {
        apply_progress(e, t, m->doing);
    }
}

void engine_pump(struct engine *e, void (*observe)(void *ctx, const struct event *ev), void *ctx)
{
    e->observe = observe;
    e->observe_ctx = ctx;
    struct message *next;
    for (struct message *m = engine_messages(e); m != NULL; m = next) {
        next = m->next;
        take_in(e, m);
        xfree(m->doing);
        xfree(m);
    }
    abandon_late(e);
    apply_advance(e);
    schedule(e);
    e->observe = NULL;
}
