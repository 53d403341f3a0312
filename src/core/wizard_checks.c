/* What is derived from answers, facts and outcomes: what a check waits for, whether its outcome is
 * current, how a step stands, what is planned. Nothing here is stored but the outcomes themselves.
 */
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/wizard_parts.h"

#define FRESH_DEFAULT_S 3600

static const char *bare(const char *read)
{
    return read[0] == '?' ? read + 1 : read;
}

static bool is_verdict(const struct check *c)
{
    return c->service == NULL;
}

struct digest wizard_check_digest(struct wizard *w, int check)
{
    const struct check *c = w->rows->checks[check];
    struct snapshot *s = wizard_snapshot(w);
    struct digest d = snap_digest(s, c->id, c->reads);
    snapshot_unref(s);
    return d;
}

/* Current = of the present inputs, not told to run again, young enough. */
static bool current(struct wizard *w, int check)
{
    const struct check_slot *slot = &w->checks[check];
    const struct check *c = w->rows->checks[check];
    if (slot->outcome == NULL || slot->expired)
        return false;
    struct digest now = wizard_check_digest(w, check);
    if (!digest_equal(&now, &slot->outcome->digest))
        return false;
    if (is_verdict(c))
        return true;
    int fresh_s = c->fresh_s > 0 ? c->fresh_s : FRESH_DEFAULT_S;
    return clock_wall() - slot->outcome->at <= fresh_s;
}

static bool good(const struct check_slot *slot)
{
    enum status s = slot->outcome->status;
    return slot->accepted != NULL || s == STATUS_PASSED || s == STATUS_WARNED ||
           s == STATUS_SKIPPED;
}

/* The first planned change among `needs`, or NULL. */
static const struct change *planned_need(struct wizard *w, const struct check *c)
{
    if (c->needs == NULL)
        return NULL;
    const struct plan *p = wizard_plan(w);
    for (size_t i = 0; c->needs[i] != NULL; i++) {
        const struct change *change = plan_find(p, c->needs[i]);
        if (change != NULL)
            return change;
    }
    return NULL;
}

/* Waiting for an answer: index of the field, or -1. */
static int missing_field(struct wizard *w, const struct check *c)
{
    for (size_t i = 0; c->reads != NULL && c->reads[i] != NULL; i++) {
        int field = rows_field(w->rows, bare(c->reads[i]));
        if (field < 0 || !wizard_visible(w, field))
            continue;
        bool optional = c->reads[i][0] == '?';
        if (optional && value_empty(wizard_effective(w, field)))
            continue;
        if (wizard_field_problem(w, field, NULL) != 0)
            return field;
    }
    return -1;
}

/* Waiting for a fact: index of its giver, or -1. */
static int missing_giver(struct wizard *w, const struct check *c)
{
    for (size_t i = 0; c->reads != NULL && c->reads[i] != NULL; i++) {
        int fact = rows_fact(w->rows, bare(c->reads[i]));
        if (fact >= 0 && c->reads[i][0] != '?' && w->facts[fact] == NULL)
            return w->rows->givers[fact];
    }
    return -1;
}

static int missing_after(struct wizard *w, const struct check *c)
{
    for (size_t i = 0; c->after != NULL && c->after[i] != NULL; i++) {
        int before = rows_check(w->rows, c->after[i]);
        if (!current(w, before) || !good(&w->checks[before]))
            return before;
    }
    return -1;
}

void wizard_check_waits(struct wizard *w, int check, char *out, size_t size)
{
    const struct check *c = w->rows->checks[check];
    out[0] = '\0';
    int field = missing_field(w, c);
    if (field >= 0) {
        snprintf(out, size, "%s", w->rows->fields[field]->label);
        return;
    }
    int before = missing_giver(w, c);
    if (before < 0)
        before = missing_after(w, c);
    if (before >= 0) {
        snprintf(out, size, "%s", w->rows->checks[before]->title);
        return;
    }
    const struct change *change = planned_need(w, c);
    if (change != NULL)
        snprintf(out, size, "%s (planned)", change->title);
}

int wizard_check_first(struct wizard *w, int check)
{
    const struct check *c = w->rows->checks[check];
    int giver = missing_giver(w, c);
    if (giver >= 0) /* a giver that ran and gave nothing is waited for, not repeated */
        return current(w, giver) && !good(&w->checks[giver]) ? -1 : giver;
    for (size_t i = 0; c->after != NULL && c->after[i] != NULL; i++) {
        int before = rows_check(w->rows, c->after[i]);
        if (!current(w, before))
            return before;
    }
    return -1;
}

void wizard_check_view(struct wizard *w, int check, struct check_view *out)
{
    const struct check_slot *slot = &w->checks[check];
    *out = (struct check_view){.outcome = slot->outcome,
                               .running = slot->running,
                               .running_since = slot->since,
                               .done = slot->done,
                               .total = slot->total,
                               .doing = slot->doing,
                               .accepted = slot->accepted};
    const struct change *change = planned_need(w, w->rows->checks[check]);
    bool is_current = current(w, check);
    if (change != NULL && !(is_current && good(slot))) {
        out->status = STATUS_WAITING;
        out->stale = slot->outcome != NULL;
        snprintf(out->waits, sizeof(out->waits), "%s (planned)", change->title);
        return;
    }
    if (is_current) {
        out->status = slot->outcome->status;
    } else {
        out->stale = slot->outcome != NULL;
        wizard_check_waits(w, check, out->waits, sizeof(out->waits));
        if (out->waits[0] != '\0')
            out->status = STATUS_WAITING;
        else
            out->status = slot->outcome != NULL ? slot->outcome->status : STATUS_NONE;
    }
    if (slot->accepted != NULL && (out->status == STATUS_FAILED || out->status == STATUS_WARNED))
        out->status = STATUS_ACCEPTED;
}

/* --- storing ------------------------------------------------------------------------------------
 */

/* An equal fact replaces the old one too: it may carry newer data that is not hashed (sizes, ages).
 */
static void put_fact(struct wizard *w, int fact, struct fact *f)
{
    fact_unref(w->facts[fact]);
    w->facts[fact] = f != NULL ? fact_ref(f) : NULL;
    w->fact_digests[fact] = f != NULL ? fact_digest(f) : (struct digest){{0}};
    wizard_changed(w);
}

bool wizard_put_outcome(struct wizard *w, int check, struct outcome *o)
{
    struct digest now = wizard_check_digest(w, check);
    if (!digest_equal(&now, &o->digest))
        return false;
    struct check_slot *slot = &w->checks[check];
    outcome_unref(slot->outcome);
    slot->outcome = outcome_ref(o);
    slot->expired = false;
    w->version++;
    for (size_t fact = 0; fact < w->rows->fact_count; fact++) {
        if (w->rows->givers[fact] != check)
            continue;
        struct fact *given = NULL;
        for (size_t i = 0; i < o->given_count; i++)
            if (strcmp(o->given[i].id, w->rows->facts[fact]) == 0)
                given = o->given[i].fact;
        put_fact(w, (int)fact, given);
    }
    return true;
}

void wizard_restore_outcome(struct wizard *w, int check, struct outcome *o)
{
    outcome_unref(w->checks[check].outcome);
    w->checks[check].outcome = outcome_ref(o);
    w->version++;
}

void wizard_restore_fact(struct wizard *w, int fact, struct digest digest, struct fact *kept)
{
    fact_unref(w->facts[fact]);
    w->facts[fact] = kept != NULL ? fact_ref(kept) : NULL;
    w->fact_digests[fact] = kept != NULL ? fact_digest(kept) : digest;
    wizard_changed(w);
}

void wizard_expire_check(struct wizard *w, int check)
{
    w->checks[check].expired = true;
    w->version++;
}

void wizard_running(struct wizard *w, int check, bool running, int64_t since)
{
    struct check_slot *slot = &w->checks[check];
    slot->running = running;
    slot->since = since;
    slot->done = 0;
    slot->total = 0;
    xfree(slot->doing);
    slot->doing = NULL;
}

void wizard_progress(struct wizard *w, int check, int64_t done, int64_t total, const char *doing)
{
    struct check_slot *slot = &w->checks[check];
    slot->done = done;
    slot->total = total;
    xreplace(&slot->doing, doing);
}

void wizard_accept(struct wizard *w, int check, const char *reason)
{
    xreplace(&w->checks[check].accepted, reason);
    w->version++;
}

const char *wizard_accepted(const struct wizard *w, int check)
{
    return w->checks[check].accepted;
}

const struct fact *wizard_fact(const struct wizard *w, int fact)
{
    return w->facts[fact];
}

struct digest wizard_fact_digest(const struct wizard *w, int fact)
{
    return w->fact_digests[fact];
}

/* --- steps
 * ---------------------------------------------------------------------------------------- */

static void count_check(const struct check *c, const struct check_view *v, struct step_view *out)
{
    out->running_count += v->running;
    out->stale |= v->stale;
    if (c->effect == EFFECT_COSTS && v->status == STATUS_NONE)
        return; /* only run by name: its absence holds nothing back */
    out->total++;
    switch (v->status) {
    case STATUS_PASSED:
    case STATUS_SKIPPED:
    case STATUS_ACCEPTED:
        out->passed++;
        break;
    case STATUS_WARNED:
        out->warned++;
        break;
    case STATUS_FAILED:
    case STATUS_UNREACHABLE:
        out->failed++;
        break;
    default:
        out->waiting += c->severity != SEV_INFORMS;
    }
}

void wizard_step_view(struct wizard *w, int step, struct step_view *out)
{
    const struct step *row = w->rows->steps[step];
    *out = (struct step_view){.later = row->later != NULL};
    for (size_t i = 0; i < w->rows->check_count; i++) {
        if (rows_step_of(w->rows, w->rows->checks[i]->id) != row)
            continue;
        struct check_view v;
        wizard_check_view(w, (int)i, &v);
        count_check(w->rows->checks[i], &v, out);
    }
    bool incomplete = false;
    for (size_t i = 0; i < w->rows->field_count; i++)
        if (rows_step_of(w->rows, w->rows->fields[i]->id) == row &&
            wizard_field_problem(w, (int)i, NULL) != 0)
            incomplete = true;
    const struct plan *p = wizard_plan(w);
    for (size_t i = 0; i < p->count; i++)
        out->changes += strcmp(p->changes[i]->step, row->id) == 0;
    out->running = out->running_count > 0;
    if (out->failed > 0)
        out->status = STATUS_FAILED;
    else if (out->changes > 0)
        out->status = STATUS_WAITING;
    else if (out->waiting > 0 || incomplete || (out->total == 0 && row->fields == NULL))
        out->status = STATUS_NONE;
    else
        out->status = out->warned > 0 ? STATUS_WARNED : STATUS_PASSED;
}

int wizard_first_open_step(struct wizard *w)
{
    for (size_t i = 0; i < w->rows->step_count; i++) {
        struct step_view v;
        wizard_step_view(w, (int)i, &v);
        if (v.status != STATUS_PASSED && v.status != STATUS_WARNED)
            return (int)i;
    }
    return (int)w->rows->step_count - 1;
}

/* --- plan
 * ----------------------------------------------------------------------------------------- */

void wizard_make_plan(struct wizard *w, int step, struct plan *out)
{
    plan_init(out);
    struct snapshot *s = wizard_snapshot(w);
    for (size_t i = 0; i < w->rows->step_count; i++)
        if ((step < 0 || (int)i == step) && w->rows->steps[i]->plan != NULL)
            w->rows->steps[i]->plan(s, out);
    snapshot_unref(s);
}

const struct plan *wizard_plan(struct wizard *w)
{
    if (!w->planned) {
        plan_release(&w->plan);
        wizard_make_plan(w, -1, &w->plan);
        w->planned = true;
    }
    return &w->plan;
}
