/* Carries out a plan: what is ready runs, independent changes side by side; find, then the journal,
 * then send, then the journal again. Killed anywhere, a rerun finds what was made and makes nothing
 * twice. What must hold before stands in apply_consent.c. */
#include <string.h>

#include "core/clock.h"
#include "core/engine_parts.h"
#include "core/log.h"
#include "core/mem.h"

#define CHANGE_DEADLINE_MS 30000

const char *change_status_name(enum change_status s)
{
    static const char *const names[] = {
        [CHANGE_WAITING] = "waiting", [CHANGE_RUNNING] = "running", [CHANGE_MADE] = "made",
        [CHANGE_FOUND] = "found",     [CHANGE_FAILED] = "failed",   [CHANGE_BLOCKED] = "blocked",
        [CHANGE_STOPPED] = "stopped", [CHANGE_UNDONE] = "undone",
    };
    return names[s];
}

void apply_release(struct engine *e)
{
    if (!e->has_plan)
        return;
    for (size_t i = 0; i < e->plan.count; i++) {
        xfree(e->slots[i].doing);
        problem_release(&e->slots[i].problem);
    }
    xfree(e->slots);
    e->slots = NULL;
    plan_release(&e->plan);
    e->has_plan = false;
}

bool engine_applying(const struct engine *e)
{
    return e->applying;
}

const struct plan *engine_applied_plan(const struct engine *e)
{
    return e->has_plan ? &e->plan : NULL;
}

void engine_change_view(const struct engine *e, size_t change, struct change_view *out)
{
    const struct change_slot *s = &e->slots[change];
    *out = (struct change_view){.status = s->status,
                                .since = s->since,
                                .took_ms = s->took_ms,
                                .doing = s->doing,
                                .problem = s->problem.kind != PROBLEM_NONE ? &s->problem : NULL};
}

void engine_apply_stop(struct engine *e)
{
    if (!e->applying)
        return;
    e->stopping = true;
    log_line("apply: stops before the next change");
}

/* --- one phase of a change -------------------------------------------------------------------- */

void apply_body(struct task *t)
{
    const struct change_kind *kind = t->change->kind;
    switch (t->kind) {
    case TASK_FIND:
    case TASK_SETTLE:
        t->rc = kind->find(t->run, t->change, &t->found, &t->problem);
        break;
    case TASK_SEND:
        t->rc = kind->send(t->run, t->change, &t->made, &t->problem);
        break;
    case TASK_READY:
        t->rc = kind->ready(t->run, t->change, &t->problem);
        break;
    case TASK_UNDO:
        t->rc = kind->undo(t->run, t->change, &t->problem);
        break;
    case TASK_GONE:
        t->rc = kind->find(t->run, t->change, &t->found, &t->problem);
        break;
    case TASK_CHECK:
        break;
    }
}

void apply_start_phase(struct engine *e, size_t change, enum task_kind phase)
{
    if (e->closing)
        return;
    const struct change *c = e->plan.changes[change];
    struct task *t = xcalloc(1, sizeof(*t));
    t->kind = phase;
    t->index = change;
    t->change = c;
    engine_start_task(e, t, c->kind->deadline_ms > 0 ? c->kind->deadline_ms : CHANGE_DEADLINE_MS);
}

void apply_finish(struct engine *e, size_t change, enum change_status status, struct problem *p)
{
    struct change_slot *s = &e->slots[change];
    s->status = status;
    s->took_ms = clock_ms() - s->since;
    xfree(s->doing);
    s->doing = NULL;
    if (p != NULL)
        problem_move(&s->problem, p);
    log_line("%s: %s%s%s", e->plan.changes[change]->id, change_status_name(status),
             s->problem.what != NULL ? ", " : "", s->problem.what != NULL ? s->problem.what : "");
    engine_emit(e, EVENT_CHANGE_DONE, -1, e->plan.changes[change]->id);
}

int apply_journal(struct engine *e, const struct change *c, enum journal_status status,
                  struct problem *err)
{
    struct journal_entry *entry = wizard_journal_entry(e->wizard, c);
    entry->status = status;
    entry->at = clock_wall();
    wizard_touch(e->wizard);
    return state_save(e->state, e->wizard, err);
}

/* A made value becomes its field's answer. When the answer to the send was lost, what find saw has
 * to do: an id; a secret cannot be found again. */
static void give(struct engine *e, const struct change *c, const struct made *made, const char *id)
{
    const struct rows *rows = wizard_rows(e->wizard);
    int field = c->gives != NULL ? rows_field(rows, c->gives) : -1;
    if (field < 0)
        return;
    const char *text = made != NULL ? made->give_text : id;
    if (made != NULL && made->give_secret != NULL)
        wizard_set(e->wizard, field, value_secret(made->give_secret, NULL, NULL), ORIGIN_MADE,
                   NULL);
    else if (text != NULL && rows->fields[field]->kind != FIELD_SECRET)
        wizard_set(e->wizard, field, value_text(text), ORIGIN_MADE, NULL);
}

/* It is there, made now or before; the secret it gave is saved before the journal says so. */
static void stands(struct engine *e, size_t change, const struct made *made, const char *id)
{
    const struct change *c = e->plan.changes[change];
    struct problem p = PROBLEM_INIT;
    give(e, c, made, id);
    struct journal_entry *entry = wizard_journal_entry(e->wizard, c);
    if (id != NULL)
        xreplace(&entry->made, id);
    bool waits = c->kind->ready != NULL;
    if (apply_journal(e, c, waits ? JOURNAL_MADE : JOURNAL_READY, &p) != 0)
        apply_finish(e, change, CHANGE_FAILED, &p);
    else if (waits)
        apply_start_phase(e, change, TASK_READY);
    else
        apply_finish(e, change, e->slots[change].found ? CHANGE_FOUND : CHANGE_MADE, NULL);
}

/* The first intent decides whether it is ours: what stands now may be its lost answer. */
static void note_intent(struct engine *e, const struct change *c, const struct found *seen)
{
    struct journal_entry *entry = wizard_journal_find(e->wizard, c->id);
    bool first = entry == NULL || entry->status == JOURNAL_UNDONE;
    entry = wizard_journal_entry(e->wizard, c);
    if (first) {
        entry->was_there = seen->present;
        xreplace(&entry->saw, seen->saw);
        xreplace(&entry->made, NULL);
    }
    node_free(entry->args);
    entry->args = node_copy(c->args);
    undo_note_ties(entry, c);
}

static void found(struct engine *e, struct task *t)
{
    const struct change *c = t->change;
    struct problem p = PROBLEM_INIT;
    if (t->found.as_wanted) {
        note_intent(e, c, &t->found);
        e->slots[t->index].found = true;
        stands(e, t->index, NULL, t->found.id);
    } else if (e->stopping) {
        apply_finish(e, t->index, CHANGE_STOPPED, NULL);
    } else if (apply_same_as_shown(e, t->index, &p) != 0) {
        apply_finish(e, t->index, CHANGE_FAILED, &p);
    } else {
        note_intent(e, c, &t->found);
        if (apply_journal(e, c, JOURNAL_INTENDED, &p) != 0)
            apply_finish(e, t->index, CHANGE_FAILED, &p);
        else
            apply_start_phase(e, t->index, TASK_SEND);
    }
}

/* Whatever a failed send says, find decides what became of it. Its own problem is kept. */
static void send_failed(struct engine *e, struct task *t)
{
    bool was_sent = t->run != NULL;
    problem_move(&e->slots[t->index].problem, &t->problem);
    if (was_sent)
        apply_start_phase(e, t->index, TASK_SETTLE);
    else
        apply_finish(e, t->index, CHANGE_FAILED, NULL);
}

/* The service said no, so that what may stand there is not ours. */
static bool was_refused(const struct problem *p)
{
    return p->kind == PROBLEM_REFUSED || p->kind == PROBLEM_DENIED || p->kind == PROBLEM_INPUT ||
           p->kind == PROBLEM_MISSING;
}

static void settled(struct engine *e, struct task *t)
{
    const struct change *c = t->change;
    struct problem *why = &e->slots[t->index].problem;
    struct journal_entry *entry = wizard_journal_entry(e->wizard, c);
    bool refused = was_refused(why);
    if (t->rc == 0 && t->found.as_wanted) {
        if (refused && entry->made == NULL)
            entry->was_there = true;
        problem_release(why);
        stands(e, t->index, NULL, t->found.id);
        return;
    }
    /* the intent is over when nothing came of it: who makes it later makes his own */
    if (t->rc == 0 && refused && !t->found.present && entry->made == NULL)
        apply_journal(e, c, JOURNAL_UNDONE, NULL);
    apply_finish(e, t->index, CHANGE_FAILED, NULL);
}

static void ready(struct engine *e, struct task *t)
{
    struct problem p = PROBLEM_INIT;
    if (apply_journal(e, t->change, JOURNAL_READY, &p) != 0)
        apply_finish(e, t->index, CHANGE_FAILED, &p);
    else
        apply_finish(e, t->index, e->slots[t->index].found ? CHANGE_FOUND : CHANGE_MADE, NULL);
}

void apply_finished(struct engine *e, struct task *t)
{
    if (t->kind == TASK_UNDO || t->kind == TASK_GONE)
        undo_finished(e, t);
    else if (t->kind == TASK_SETTLE)
        settled(e, t);
    else if (t->rc != 0 && t->kind == TASK_SEND)
        send_failed(e, t);
    else if (t->rc != 0)
        apply_finish(e, t->index, CHANGE_FAILED, &t->problem);
    else if (t->kind == TASK_FIND)
        found(e, t);
    else if (t->kind == TASK_SEND)
        stands(e, t->index, &t->made, t->made.id);
    else
        ready(e, t);
}

/* --- order ------------------------------------------------------------------------------------ */

static bool usable(const struct change_slot *s)
{
    return s->status == CHANGE_MADE || s->status == CHANGE_FOUND || s->status == CHANGE_UNDONE;
}

/* What the changes it needs allow: WAITING, RUNNING (= may start) or BLOCKED. */
static enum change_status may_start(const struct engine *e, const struct change *c)
{
    enum change_status may = CHANGE_RUNNING;
    for (size_t i = 0; i < c->after_count; i++)
        for (size_t k = 0; k < e->plan.count; k++) {
            if (strcmp(e->plan.changes[k]->id, c->after[i]) != 0)
                continue;
            enum change_status s = e->slots[k].status;
            if (s == CHANGE_FAILED || s == CHANGE_BLOCKED || s == CHANGE_STOPPED)
                return CHANGE_BLOCKED;
            if (!usable(&e->slots[k]))
                may = CHANGE_WAITING;
        }
    return may;
}

static size_t count_running(const struct engine *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->plan.count; i++)
        n += e->slots[i].status == CHANGE_RUNNING;
    return n;
}

static void recall(struct engine *e, struct change *c)
{
    const struct journal_entry *entry = wizard_journal_find(e->wizard, c->id);
    bool stands = entry != NULL && entry->status != JOURNAL_UNDONE;
    xreplace(&c->past_saw, stands ? entry->saw : NULL);
    xreplace(&c->past_made, stands ? entry->made : NULL);
    c->past_at = stands ? entry->at : 0;
}

/* Undo goes back the way it came, a step at a time, whatever became of what was before. */
static bool has_turn(const struct engine *e, size_t i)
{
    for (size_t k = 0; e->undoing && k < i; k++)
        if ((e->slots[k].status == CHANGE_WAITING || e->slots[k].status == CHANGE_RUNNING) &&
            strcmp(e->plan.changes[k]->step, e->plan.changes[i]->step) == 0)
            return false;
    return true;
}

/* True when it moved on. */
static bool try_start(struct engine *e, size_t i)
{
    struct change_slot *s = &e->slots[i];
    if (!has_turn(e, i))
        return false;
    enum change_status may = may_start(e, e->plan.changes[i]);
    if (may == CHANGE_WAITING)
        return false;
    bool starts = may == CHANGE_RUNNING && !e->stopping;
    if (starts && (count_running(e) >= CHANGES_MAX || engine_threads(e) >= THREADS_MAX))
        return false;
    s->since = clock_ms();
    if (!starts) {
        apply_finish(e, i, may == CHANGE_BLOCKED ? CHANGE_BLOCKED : CHANGE_STOPPED, NULL);
        return true;
    }
    s->status = CHANGE_RUNNING;
    engine_emit(e, EVENT_CHANGE_STARTED, -1, e->plan.changes[i]->id);
    if (!e->undoing)
        apply_refresh(e, i);
    recall(e, e->plan.changes[i]);
    apply_start_phase(e, i, e->undoing ? TASK_UNDO : TASK_FIND);
    return true;
}

/* Surveys of the steps that were changed look again, so that what is proved is what stands now. A
 * change that failed may have come half way. */
static void expire_surveys(struct engine *e)
{
    const struct rows *rows = wizard_rows(e->wizard);
    for (size_t k = 0; k < e->plan.count; k++) {
        if (!usable(&e->slots[k]) && e->slots[k].status != CHANGE_FAILED)
            continue;
        for (size_t i = 0; i < rows->check_count; i++)
            if (rows->checks[i]->service != NULL &&
                strcmp(rows_step_of(rows, rows->checks[i]->id)->id, e->plan.changes[k]->step) == 0)
                wizard_expire_check(e->wizard, (int)i);
    }
}

/* Changes that wait for one another could wait forever: a fault in a plan, not of the operator. */
static void block_circle(struct engine *e)
{
    for (size_t i = 0; i < e->plan.count; i++) {
        if (e->slots[i].status != CHANGE_WAITING)
            continue;
        struct problem p = PROBLEM_INIT;
        problem_fail(&p, PROBLEM_BUG, "circle", "%s waits for a change that waits for it",
                     e->plan.changes[i]->title);
        e->slots[i].since = clock_ms();
        apply_finish(e, i, CHANGE_BLOCKED, &p);
    }
}

void apply_advance(struct engine *e)
{
    if (!e->applying || e->closing)
        return;
    bool moved = true;
    while (moved) {
        moved = false;
        for (size_t i = 0; i < e->plan.count; i++)
            if (e->slots[i].status == CHANGE_WAITING)
                moved |= try_start(e, i);
    }
    if (count_running(e) > 0)
        return;
    for (size_t i = 0; i < e->plan.count; i++)
        if (e->slots[i].status == CHANGE_WAITING && engine_threads(e) >= THREADS_MAX)
            return; /* for a thread */
    block_circle(e);
    e->applying = false;
    expire_surveys(e);
    engine_emit(e, EVENT_APPLY_DONE, -1, NULL);
}

void apply_progress(struct engine *e, const struct task *t, const char *doing)
{
    xreplace(&e->slots[t->index].doing, doing);
    engine_emit(e, EVENT_CHANGE_PROGRESS, -1, t->change->id);
}

/* --- start ------------------------------------------------------------------------------------ */

int apply_begin(struct engine *e, struct plan *plan, struct problem *err)
{
    if (e->applying)
        return problem_fail(err, PROBLEM_CONFLICT, "applying",
                            "changes are being carried out already");
    if (state_save(e->state, e->wizard, err) != 0)
        return -1;
    apply_release(e);
    e->plan = *plan;
    plan_init(plan);
    e->slots = xcalloc(e->plan.count + 1, sizeof(*e->slots));
    const struct plan *now = wizard_plan(e->wizard);
    for (size_t i = 0; i < e->plan.count; i++) {
        e->slots[i].planned = plan_find(now, e->plan.changes[i]->id) != NULL;
        if (e->plan.changes[i]->left_out)
            e->slots[i].status = CHANGE_STOPPED;
    }
    e->has_plan = true;
    e->applying = true;
    e->stopping = false;
    e->undoing = false;
    engine_poke(e); /* the next pump begins */
    return 0;
}

int engine_apply(struct engine *e, struct plan *plan, bool memory_ok, struct problem *err)
{
    if (!e->applying && apply_make_secrets(e, plan, memory_ok, err) != 0)
        return -1;
    return apply_begin(e, plan, err);
}
