/* How a step stands, by its checks, its answers and what is planned in it; and the plan itself. */
#include <string.h>

#include "core/wizard_parts.h"

static void count_check(const struct check *c, const struct check_view *v, struct step_view *out)
{
    out->running_count += v->running;
    out->stale |= v->stale;
    if (c->effect == EFFECT_COSTS && v->outcome == NULL)
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

/* --- plan ------------------------------------------------------------------------------------- */

void wizard_make_plan(struct wizard *w, int step, struct plan *out)
{
    plan_init(out);
    struct snapshot *s = wizard_snapshot(w);
    for (size_t i = 0; i < w->rows->step_count; i++) {
        const struct step *row = w->rows->steps[i];
        /* what has not begun has nothing to say, unless it is asked for by name */
        bool meant = step < 0 ? rows_step_begun(row, s) : (int)i == step;
        if (meant && row->plan != NULL)
            row->plan(s, out);
    }
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
