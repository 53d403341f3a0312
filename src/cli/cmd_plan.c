/* plan and apply: the surveys of the chosen steps first, then what differs from what is wanted,
 * and, with --yes, making it so and proving it. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/report.h"
#include "core/clock.h"
#include "core/mem.h"

/* Runs the reading checks of the chosen steps. A code of 128 and more = ended by a signal. */
static int survey(struct session *s, const struct args *a, const struct selection *sel)
{
    for (size_t i = 0; i < s->rows.check_count; i++)
        if (sel->checks[i])
            engine_want(s->engine, (int)i, EFFECT_READS, true);
    return session_run(s, a, NULL, NULL);
}

/* The exit code of one step's checks. */
static int step_code(struct session *s, const struct selection *sel, size_t step)
{
    struct selection one = {.effect = sel->effect};
    one.checks = xcalloc(s->rows.check_count + 1, sizeof(bool));
    one.steps = xcalloc(s->rows.step_count + 1, sizeof(bool));
    one.steps[step] = true;
    for (size_t i = 0; i < s->rows.check_count; i++)
        one.checks[i] =
            sel->checks[i] && rows_step_of(&s->rows, s->rows.checks[i]->id) == s->rows.steps[step];
    int code = report_code(s, &one);
    selection_release(&one);
    return code;
}

/* The array with what `from` has behind what is in it; either may be empty, which memcpy may not
 * be told by NULL. */
static void *joined(void *to, size_t have, const void *from, size_t more, size_t size)
{
    char *all = xrealloc(to, have + more + 1, size);
    if (more > 0)
        memcpy(all + have * size, from, more * size);
    return all;
}

static void append(struct plan *to, struct plan *from)
{
    to->changes = joined(to->changes, to->count, from->changes, from->count, sizeof(*to->changes));
    to->count += from->count;
    from->count = 0;
    to->right =
        joined(to->right, to->right_count, from->right, from->right_count, sizeof(*to->right));
    to->right_count += from->right_count;
    from->right_count = 0;
    to->missing = joined(to->missing, to->missing_count, from->missing, from->missing_count,
                         sizeof(*to->missing));
    to->missing_count += from->missing_count;
    from->missing_count = 0;
    plan_release(from);
}

/* The plan of the chosen steps; with `only_sound` without those that a blocking check holds back.
 */
static void make_plan(struct session *s, const struct selection *sel, bool only_sound,
                      struct plan *out)
{
    plan_init(out);
    for (size_t i = 0; i < s->rows.step_count; i++) {
        if (!sel->steps[i] || s->rows.steps[i]->plan == NULL)
            continue;
        int code = step_code(s, sel, i);
        struct plan of_step;
        wizard_make_plan(s->wizard, (int)i, &of_step);
        if (only_sound && code != 0 && code != EXIT_CHANGES && of_step.count > 0)
            plan_missing(out,
                         "%s: its %zu changes are held back until its failed checks are settled",
                         s->rows.steps[i]->id, of_step.count);
        else
            append(out, &of_step);
        plan_release(&of_step);
    }
}

static void print_plan(const struct plan *p, const struct engine *engine, const struct args *a)
{
    AUTO_TEXT out = TEXT_INIT;
    if (a->json)
        report_plan_json(p, engine, &out);
    else
        report_plan_text(p, engine, paint_of(a), &out);
    fputs(out.s, stdout);
}

static void print_failures(struct session *s, const struct selection *sel, const struct args *a,
                           int64_t started)
{
    AUTO_TEXT out = TEXT_INIT;
    report_checks_text(s, sel, paint_of(a), clock_ms() - started, &out);
    fputs(out.s, a->json ? stderr : stdout);
}

/* A failure that a planned change is to settle is no reason against that change. */
static void leave_to_plan(struct session *s, struct selection *sel)
{
    const struct plan *p = wizard_plan(s->wizard);
    for (size_t i = 0; i < s->rows.check_count; i++) {
        const char *const *by = s->rows.checks[i]->settled_by;
        for (; by != NULL && *by != NULL; by++)
            if (plan_find(p, *by) != NULL)
                sel->checks[i] = false;
    }
}

/* Opens, chooses and surveys; 0 to go on, else the code to end with (the session is closed). */
static int begin(struct session *s, const struct args *a, struct selection *sel, int *code)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    *code = session_open(s, a, SESSION_WRITE);
    if (*code != 0)
        return -1;
    if (selection_make(s, a, sel, &p) != 0) {
        complain(&p);
        *code = session_close(s, EXIT_USAGE);
        return -1;
    }
    int64_t started = clock_ms();
    int ran = survey(s, a, sel);
    if (ran > 128) {
        selection_release(sel);
        *code = session_close(s, ran);
        return -1;
    }
    leave_to_plan(s, sel);
    if (session_first_missing(s, sel->steps, &p) == 0) { /* also not found by a survey */
        complain(&p);
        *code = EXIT_CANNOT_ASK;
    }
    *code = exit_worse(*code, exit_worse(ran, report_code(s, sel)));
    if (*code != 0 && *code != EXIT_CHANGES)
        print_failures(s, sel, a, started);
    return 0;
}

int command_plan(const struct args *a)
{
    struct session s;
    struct selection sel = {0};
    struct plan plan;
    int code;
    if (begin(&s, a, &sel, &code) != 0)
        return code;
    make_plan(&s, &sel, false, &plan);
    print_plan(&plan, NULL, a);
    if (plan.count > 0)
        code = exit_worse(code, EXIT_CHANGES);
    else if (code == EXIT_CHANGES)
        code = 0;
    if (!a->json)
        printf(plan.count > 0
                   ? "%zu change%s. Nothing was written. `sluice apply` carries them out.\n"
                   : "%zu change%s: everything stands as wanted.\n",
               plan.count, plan.count == 1 ? "" : "s");
    plan_release(&plan);
    selection_release(&sel);
    return session_close(&s, code);
}

/* The worst of what the changes came to. */
static int apply_code(struct session *s)
{
    const struct plan *p = engine_applied_plan(s->engine);
    int code = 0;
    for (size_t i = 0; p != NULL && i < p->count; i++) {
        struct change_view v;
        engine_change_view(s->engine, i, &v);
        if (v.status == CHANGE_MADE || v.status == CHANGE_FOUND)
            continue;
        bool unreachable = v.problem != NULL && v.problem->kind == PROBLEM_UNREACHABLE;
        code = exit_worse(code, unreachable ? EXIT_UNREACHABLE : EXIT_FAILED);
    }
    return code;
}

/* Afterwards: surveys again, and the probes of the steps that were changed. */
static int prove(struct session *s, const struct args *a, struct selection *sel)
{
    const struct plan *p = engine_applied_plan(s->engine);
    for (size_t i = 0; i < s->rows.check_count; i++) {
        const struct step *step = rows_step_of(&s->rows, s->rows.checks[i]->id);
        bool changed = false;
        for (size_t k = 0; p != NULL && k < p->count; k++)
            changed |= strcmp(p->changes[k]->step, step->id) == 0;
        sel->checks[i] = changed;
        if (changed)
            engine_want(s->engine, (int)i, EFFECT_PROBES, true);
    }
    sel->effect = EFFECT_PROBES;
    return session_run(s, a, NULL, NULL);
}

static int apply_plan(struct session *s, const struct args *a, struct selection *sel,
                      struct plan *plan)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    if (engine_apply(s->engine, plan, false, &p) != 0) {
        complain(&p);
        return p.kind == PROBLEM_INPUT ? EXIT_CANNOT_ASK : EXIT_STATE;
    }
    int code = session_run(s, a, NULL, NULL);
    print_plan(engine_applied_plan(s->engine), s->engine, a);
    if (code > 128)
        return code;
    code = exit_worse(code, apply_code(s));
    int64_t started = clock_ms();
    int proved = prove(s, a, sel);
    if (proved > 128)
        return proved;
    AUTO_TEXT out = TEXT_INIT;
    report_checks_text(s, sel, paint_of(a), clock_ms() - started, &out);
    fputs(out.s, a->json ? stderr : stdout);
    return exit_worse(code, exit_worse(proved, report_code(s, sel)));
}

int command_apply(const struct args *a)
{
    struct session s;
    struct selection sel = {0};
    struct plan plan;
    int code;
    if (begin(&s, a, &sel, &code) != 0)
        return code;
    make_plan(&s, &sel, true, &plan);
    if (code == EXIT_CHANGES)
        code = 0; /* they are about to be made */
    if (plan.missing_count > 0 || plan.count == 0 || !a->yes)
        print_plan(&plan, NULL, a);
    if (plan.count == 0) {
        if (!a->json)
            puts("0 changes: nothing was written.");
    } else if (!a->yes) {
        fputs("sluice: consent is missing: nothing was written\n  you: read the plan, then add "
              "--yes\n",
              stderr);
        code = exit_worse(code, EXIT_CANNOT_ASK);
    } else {
        int made = apply_plan(&s, a, &sel, &plan);
        code = made > 128 ? made : exit_worse(code, made);
    }
    plan_release(&plan);
    selection_release(&sel);
    return session_close(&s, code);
}
