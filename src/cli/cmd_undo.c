/* undo: takes back what the journal says we made, newest first, and proves it gone. What stood
 * there before is listed and stays. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/report.h"
#include "core/mem.h"

static int choose_step(struct session *s, const struct args *a, int *step)
{
    *step = -1;
    if (a->word_count == 0)
        return 0;
    *step = a->word_count == 1 ? rows_step(&s->rows, a->words[0]) : -1;
    if (*step >= 0)
        return 0;
    fprintf(stderr, "sluice: undo takes one step, or none for all\n  you: sluice undo [STEP]\n");
    return EXIT_USAGE;
}

static int outcome_code(struct session *s)
{
    const struct plan *p = engine_applied_plan(s->engine);
    int code = p != NULL && p->missing_count > 0 ? EXIT_FAILED : 0; /* something of ours stays */
    for (size_t i = 0; p != NULL && i < p->count; i++) {
        struct change_view v;
        engine_change_view(s->engine, i, &v);
        bool unreachable = v.problem != NULL && v.problem->kind == PROBLEM_UNREACHABLE;
        if (v.status != CHANGE_UNDONE)
            code = exit_worse(code, unreachable ? EXIT_UNREACHABLE : EXIT_FAILED);
    }
    return code;
}

static void print(const struct plan *p, const struct engine *engine, const struct args *a)
{
    AUTO_TEXT out = TEXT_INIT;
    if (a->json)
        report_plan_json(p, engine, &out);
    else
        report_plan_text(p, engine, paint_of(a), &out);
    fputs(out.s, stdout);
}

/* What stands now is looked at first: find proves by it that a thing is gone. */
static int survey(struct session *s, const struct args *a, const struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        engine_want_step(s->engine, rows_step(&s->rows, plan->changes[i]->step), EFFECT_READS,
                         true);
    return session_run(s, a, NULL, NULL);
}

static int carry_out(struct session *s, const struct args *a, struct plan *plan)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    int looked = survey(s, a, plan);
    if (looked > 128)
        return looked;
    if (engine_undo(s->engine, plan, &p) != 0) {
        complain(&p);
        return EXIT_STATE;
    }
    int code = session_run(s, a, NULL, NULL);
    print(engine_applied_plan(s->engine), s->engine, a);
    return code > 128 ? code : exit_worse(code, outcome_code(s));
}

int command_undo(const struct args *a)
{
    struct session s;
    struct plan plan;
    int step;
    int code = session_open(&s, a, SESSION_WRITE);
    if (code != 0)
        return code;
    code = choose_step(&s, a, &step);
    if (code != 0)
        return session_close(&s, code);
    wizard_make_undo(s.wizard, step, &plan);
    if (plan.count == 0 || !a->yes)
        print(&plan, NULL, a);
    if (plan.count == 0) {
        if (!a->json)
            puts("Nothing to take back: nothing stands that was made here.");
        code = plan.missing_count > 0 ? EXIT_FAILED : EXIT_DONE;
    } else if (!a->yes) {
        fputs("sluice: consent is missing: nothing was removed\n  you: read the list, then add "
              "--yes\n",
              stderr);
        code = EXIT_CANNOT_ASK;
    } else {
        code = carry_out(&s, a, &plan);
    }
    plan_release(&plan);
    return session_close(&s, code);
}
