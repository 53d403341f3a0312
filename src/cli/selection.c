/* Which checks a command means. */
#include <string.h>

#include "cli/report.h"
#include "core/mem.h"

static void choose(struct session *s, struct selection *out, int check)
{
    const struct check *c = s->rows.checks[check];
    out->checks[check] = true;
    out->steps[rows_step(&s->rows, rows_step_of(&s->rows, c->id)->id)] = true;
}

static void choose_step(struct session *s, size_t step, struct selection *out)
{
    out->steps[step] = true;
    for (size_t i = 0; i < s->rows.check_count; i++)
        if (rows_step_of(&s->rows, s->rows.checks[i]->id) == s->rows.steps[step])
            choose(s, out, (int)i);
}

static int choose_word(struct session *s, const char *word, struct selection *out,
                       struct problem *err)
{
    int step = rows_step(&s->rows, word);
    int check = rows_check(&s->rows, word);
    if (step < 0 && check < 0) {
        problem_fail(err, PROBLEM_INPUT, "usage", "“%s” is no step and no check", word);
        problem_fix(err, WHO_YOU, "name a step such as oauth, or a check such as oauth.branch");
        return -1;
    }
    if (check >= 0) {
        choose(s, out, check); /* a probe that is named still needs --deep: that is the consent */
        return 0;
    }
    choose_step(s, (size_t)step, out);
    return 0;
}

/* All steps that have rows, without those that have not begun: who proves the first steps is not
 * asked for what the last ones need. */
static void choose_begun(struct session *s, struct selection *out)
{
    struct snapshot *now = wizard_snapshot(s->wizard);
    for (size_t i = 0; i < s->rows.step_count; i++) {
        const struct step *step = s->rows.steps[i];
        if (step->fields == NULL && step->checks == NULL)
            continue;
        if (rows_step_begun(step, now))
            choose_step(s, i, out);
        else
            out->not_begun[i] = true;
    }
    snapshot_unref(now);
}

int selection_make(struct session *s, const struct args *a, struct selection *out,
                   struct problem *err)
{
    out->checks = xcalloc(s->rows.check_count + 1, sizeof(bool));
    out->steps = xcalloc(s->rows.step_count + 1, sizeof(bool));
    out->not_begun = xcalloc(s->rows.step_count + 1, sizeof(bool));
    out->effect = a->deep_costs ? EFFECT_COSTS : a->deep ? EFFECT_PROBES : EFFECT_READS;
    for (int i = 0; i < a->word_count; i++)
        if (choose_word(s, a->words[i], out, err) != 0) {
            selection_release(out);
            return -1;
        }
    if (a->word_count > 0)
        return 0;
    choose_begun(s, out);
    return 0;
}

void selection_release(struct selection *sel)
{
    xfree(sel->checks);
    xfree(sel->steps);
    xfree(sel->not_begun);
    *sel = (struct selection){0};
}
