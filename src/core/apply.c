/* Carries out a plan: what is ready runs, independent changes side by side; find, then the journal,
 * then send, then the journal again. Killed anywhere, a rerun finds what was made and makes nothing
 * twice. */
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
        [CHANGE_STOPPED] = "stopped",
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
    e->stopping = true;
    log_line("apply: stops before the next change");
}

/* --- one phase of a change
 * --------------------------------------------------------------------------- */

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
    case TASK_CHECK:
        break;
    }
}

static void start_phase(struct engine *e, size_t change, enum task_kind phase)
{
    const struct change *c = e->plan.changes[change];
    struct task *t = xcalloc(1, sizeof(*t));
    t->kind = phase;
    t->index = change;
    t->change = c;
    engine_start_task(e, t, c->kind->deadline_ms > 0 ? c->kind->deadline_ms : CHANGE_DEADLINE_MS);
}

static void finish(struct engine *e, size_t change, enum change_status status, struct problem *p)
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

static int journal(struct engine *e, struct journal_entry *entry, enum journal_status status,
                   struct problem *err)
{
    entry->status = status;
    entry->at = clock_wall();
    wizard_touch(e->wizard);
    return state_save(e->state, e->wizard, err);
}

/* Consent was given to what was shown: a preview that reads otherwise by now is not sent. */
static int same_as_shown(struct engine *e, const struct change *c, struct problem *err)
{
    const struct change *now = plan_find(wizard_plan(e->wizard), c->id);
    if (now == NULL || now->preview == NULL || c->preview == NULL ||
        strcmp(now->preview, c->preview) == 0)
        return 0;
    problem_fail(err, PROBLEM_CONFLICT, "preview", "%s would no longer be what was shown",
                 c->title);
    problem_fix(err, WHO_YOU, "look at the plan again, then apply it");
    return -1;
}

static void found(struct engine *e, struct task *t)
{
    const struct change *c = t->change;
    struct problem p = PROBLEM_INIT;
    const struct journal_entry *all;
    size_t before = wizard_journal(e->wizard, &all);
    struct journal_entry *entry = wizard_journal_entry(e->wizard, c);
    size_t after = wizard_journal(e->wizard, &all);
    /* the first intent decides whether it is ours: what stands now may be its lost answer */
    if (after > before || entry->status == JOURNAL_UNDONE) {
        entry->was_there = t->found.present;
        xreplace(&entry->saw, t->found.saw);
    }
    if (t->found.as_wanted) {
        xreplace(&entry->made, t->found.id);
        if (journal(e, entry, JOURNAL_READY, &p) != 0)
            finish(e, t->index, CHANGE_FAILED, &p);
        else
            finish(e, t->index, CHANGE_FOUND, NULL);
        return;
    }
    node_free(entry->args);
    entry->args = node_copy(c->args);
    if (same_as_shown(e, c, &p) != 0 || journal(e, entry, JOURNAL_INTENDED, &p) != 0) {
        finish(e, t->index, CHANGE_FAILED, &p);
        return;
    }
    start_phase(e, t->index, TASK_SEND);
}

/* A made value becomes its field's answer; the secret is saved before the journal says `made`. */
static void give(struct engine *e, const struct change *c, struct made *made)
{
    int field = c->gives != NULL ? rows_field(wizard_rows(e->wizard), c->gives) : -1;
    if (field < 0)
        return;
    if (made->give_secret != NULL)
        wizard_set(e->wizard, field, value_secret(made->give_secret, NULL, NULL), ORIGIN_MADE,
                   NULL);
    else if (made->give_text != NULL)
        wizard_set(e->wizard, field, value_text(made->give_text), ORIGIN_MADE, NULL);
}

static void sent(struct engine *e, struct task *t, const char *id)
{
    const struct change *c = t->change;
    struct problem p = PROBLEM_INIT;
    give(e, c, &t->made);
    struct journal_entry *entry = wizard_journal_entry(e->wizard, c);
    xreplace(&entry->made, id);
    bool waits = c->kind->ready != NULL;
    if (journal(e, entry, waits ? JOURNAL_MADE : JOURNAL_READY, &p) != 0)
        finish(e, t->index, CHANGE_FAILED, &p);
    else if (waits)
        start_phase(e, t->index, TASK_READY);
    else
        finish(e, t->index, CHANGE_MADE, NULL);
}

/* No answer to a send says nothing about what was done: find decides. */
static void send_failed(struct engine *e, struct task *t)
{
    if (t->problem.kind != PROBLEM_UNREACHABLE && t->problem.kind != PROBLEM_PROTOCOL) {
        finish(e, t->index, CHANGE_FAILED, &t->problem);
        return;
    }
    problem_move(&e->slots[t->index].problem, &t->problem);
    start_phase(e, t->index, TASK_SETTLE);
}

static void settled(struct engine *e, struct task *t)
{
    if (t->rc == 0 && t->found.as_wanted) {
        problem_release(&e->slots[t->index].problem);
        sent(e, t, t->found.id);
        return;
    }
    finish(e, t->index, CHANGE_FAILED, NULL); /* with the send's own problem */
}

static bool usable(const struct change_slot *s)
{
    return s->status == CHANGE_MADE || s->status == CHANGE_FOUND;
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

/* Surveys of the steps that were changed look again, so that what is proved is what stands now. */
static void expire_surveys(struct engine *e)
{
    const struct rows *rows = wizard_rows(e->wizard);
    for (size_t i = 0; i < rows->check_count; i++)
        for (size_t k = 0; k < e->plan.count; k++)
            if (rows->checks[i]->service != NULL &&
                strcmp(rows_step_of(rows, rows->checks[i]->id)->id, e->plan.changes[k]->step) == 0)
                wizard_expire_check(e->wizard, (int)i);
}

static void advance(struct engine *e)
{
    bool going = false;
    bool moved = true;
    while (moved) {
        moved = false;
        going = false;
        for (size_t i = 0; i < e->plan.count; i++) {
            struct change_slot *s = &e->slots[i];
            going |= s->status == CHANGE_RUNNING || s->status == CHANGE_WAITING;
            if (s->status != CHANGE_WAITING)
                continue;
            enum change_status may = may_start(e, e->plan.changes[i]);
            if (may == CHANGE_WAITING)
                continue;
            moved = true;
            s->since = clock_ms();
            if (may == CHANGE_BLOCKED) {
                finish(e, i, CHANGE_BLOCKED, NULL);
            } else if (e->stopping) {
                finish(e, i, CHANGE_STOPPED, NULL);
            } else {
                s->status = CHANGE_RUNNING;
                engine_emit(e, EVENT_CHANGE_STARTED, -1, e->plan.changes[i]->id);
                start_phase(e, i, TASK_FIND);
            }
        }
    }
    if (!going && e->applying) {
        e->applying = false;
        expire_surveys(e);
        engine_emit(e, EVENT_APPLY_DONE, -1, NULL);
    }
}

void apply_finished(struct engine *e, struct task *t)
{
    if (t->kind == TASK_SETTLE)
        settled(e, t);
    else if (t->rc != 0 && t->kind == TASK_SEND)
        send_failed(e, t);
    else if (t->rc != 0)
        finish(e, t->index, CHANGE_FAILED, &t->problem);
    else if (t->kind == TASK_FIND)
        found(e, t);
    else if (t->kind == TASK_SEND)
        sent(e, t, t->made.id);
    else {
        struct problem p = PROBLEM_INIT;
        struct journal_entry *entry = wizard_journal_entry(e->wizard, t->change);
        int rc = journal(e, entry, JOURNAL_READY, &p);
        finish(e, t->index, rc == 0 ? CHANGE_MADE : CHANGE_FAILED, rc == 0 ? NULL : &p);
    }
    advance(e);
}

void apply_progress(struct engine *e, const struct task *t, const char *doing)
{
    xreplace(&e->slots[t->index].doing, doing);
    engine_emit(e, EVENT_CHANGE_PROGRESS, -1, t->change->id);
}

/* --- start
 * -------------------------------------------------------------------------------------------- */

/* A made secret that nothing outliving the process keeps would be lost with it. */
static int can_keep(struct engine *e, const struct change *c, const char *field, bool memory_ok,
                    struct problem *err)
{
    bool kept = state_vault(e->state) == VAULT_OPEN;
    if (kept || memory_ok)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "cannot keep", "%s makes %s, and there is no place to keep it",
                 c->title, field);
    problem_fix(
        err, WHO_YOU,
        "give --passphrase-file FILE for the secrets file, or set %s to env:NAME or file:/PATH",
        field);
    return -1;
}

static int make_secrets(struct engine *e, const struct plan *plan, bool memory_ok,
                        struct problem *err)
{
    const struct rows *rows = wizard_rows(e->wizard);
    for (size_t i = 0; i < plan->count; i++) {
        const struct change *c = plan->changes[i];
        if (c->left_out)
            continue;
        if (c->gives != NULL && rows_field(rows, c->gives) >= 0 &&
            rows->fields[rows_field(rows, c->gives)]->kind == FIELD_SECRET &&
            can_keep(e, c, c->gives, memory_ok, err) != 0)
            return -1;
        int field = c->uses != NULL ? rows_field(rows, c->uses) : -1;
        if (field < 0 || !value_empty(wizard_answer(e->wizard, field)))
            continue;
        if (can_keep(e, c, c->uses, memory_ok, err) != 0)
            return -1;
        struct secret *s = secret_generate(rows->fields[field]->make);
        wizard_set(e->wizard, field, value_secret(s, NULL, NULL), ORIGIN_MADE, NULL);
        secret_unref(s);
    }
    return 0;
}

int engine_apply(struct engine *e, struct plan *plan, bool memory_ok, struct problem *err)
{
    if (e->applying)
        return problem_fail(err, PROBLEM_CONFLICT, "applying",
                            "changes are being carried out already");
    if (make_secrets(e, plan, memory_ok, err) != 0 || state_save(e->state, e->wizard, err) != 0)
        return -1;
    apply_release(e);
    e->plan = *plan;
    plan_init(plan);
    e->slots = xcalloc(e->plan.count + 1, sizeof(*e->slots));
    for (size_t i = 0; i < e->plan.count; i++)
        if (e->plan.changes[i]->left_out)
            e->slots[i].status = CHANGE_STOPPED;
    e->has_plan = true;
    e->applying = true;
    e->stopping = false;
    advance(e);
    return 0;
}
