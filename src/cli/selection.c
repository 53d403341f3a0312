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
    out->steps[step] = true;
    for (size_t i = 0; i < s->rows.check_count; i++)
        if (rows_step_of(&s->rows, s->rows.checks[i]->id) == s->rows.steps[step])
            choose(s, out, (int)i);
    return 0;
}

int selection_make(struct session *s, const struct args *a, struct selection *out,
                   struct problem *err)
{
    out->checks = xcalloc(s->rows.check_count + 1, sizeof(bool));
    out->steps = xcalloc(s->rows.step_count + 1, sizeof(bool));
    out->effect = a->deep_costs ? EFFECT_COSTS : a->deep ? EFFECT_PROBES : EFFECT_READS;
    for (int i = 0; i < a->word_count; i++)
        if (choose_word(s, a->words[i], out, err) != 0) {
            selection_release(out);
            return -1;
        }
    if (a->word_count > 0)
        return 0;
    for (size_t i = 0; i < s->rows.check_count; i++)
        choose(s, out, (int)i);
    for (size_t i = 0; i < s->rows.field_count; i++)
        out->steps[rows_step(&s->rows, rows_step_of(&s->rows, s->rows.fields[i]->id)->id)] = true;
    return 0;
}

void selection_release(struct selection *sel)
{
    xfree(sel->checks);
    xfree(sel->steps);
    *sel = (struct selection){0};
}
