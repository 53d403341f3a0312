/* publish --dry-run: Estuary discovers, seals and builds the whole for trial; nothing goes live.
 * The word itself is the consent to the probes that this takes. Going live is done with the
 * exported folder, after somebody has read it. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/report.h"
#include "core/clock.h"

#define DRY_RUN "materialization.dry_run"

static int judge_words(const struct args *a)
{
    if (a->word_count == 0 && a->dry_run)
        return 0;
    fputs(
        a->word_count > 0
            ? "sluice: publish takes no words\n"
            : "sluice: publish is done here as a trial only: --dry-run\n  you: export the folder, "
              "have it read, then: flowctl catalog publish --source flow.yaml\n",
        stderr);
    return EXIT_USAGE;
}

/* With what it waits for: a trial that cannot be is told by its cause. */
static void choose(struct session *s, struct selection *sel, int check)
{
    const struct check *c = s->rows.checks[check];
    if (sel->checks[check])
        return;
    sel->checks[check] = true;
    sel->steps[rows_step(&s->rows, rows_step_of(&s->rows, c->id)->id)] = true;
    for (size_t i = 0; c->after != NULL && c->after[i] != NULL; i++)
        choose(s, sel, rows_check(&s->rows, c->after[i]));
}

/* All that Estuary is asked, the trial among it. */
static void choose_all(struct session *s, int dry_run, struct selection *sel)
{
    const char *service = s->rows.checks[dry_run]->service;
    for (size_t i = 0; i < s->rows.check_count; i++)
        sel->checks[i] = false;
    for (size_t i = 0; i < s->rows.check_count; i++) {
        const struct check *c = s->rows.checks[i];
        if (c->service != NULL && strcmp(c->service, service) == 0)
            choose(s, sel, (int)i);
    }
}

/* A trial that did not take place is no success, whatever it waits for. Passed over for want of a
 * login: then the answer is what is missing. */
static int not_tried(struct session *s, int dry_run, int code)
{
    struct check_view v;
    wizard_check_view(s->wizard, dry_run, &v);
    if (v.status == STATUS_SKIPPED) {
        fputs("sluice: start.token is not answered: Estuary cannot be asked\n  you: make a refresh "
              "token in its dashboard (Admin, CLI-API), and give it as --set start.token=env:NAME "
              "or file:/path\n",
              stderr);
        return EXIT_CANNOT_ASK;
    }
    bool waits = v.stale || v.status == STATUS_NONE || v.status == STATUS_WAITING;
    return waits && code == 0 ? EXIT_FAILED : 0;
}

static int try_it(struct session *s, const struct args *a, struct selection *sel)
{
    AUTO_TEXT out = TEXT_INIT;
    int dry_run = rows_check(&s->rows, DRY_RUN);
    int64_t started = clock_ms();
    choose_all(s, dry_run, sel);
    for (size_t i = 0; i < s->rows.check_count; i++)
        if (sel->checks[i])
            engine_want(s->engine, (int)i, EFFECT_PROBES, (int)i == dry_run);
    int code = session_run(s, a, NULL, NULL);
    if (code <= 128) {
        AUTO_PROBLEM p = PROBLEM_INIT;
        code = exit_worse(code, report_code(s, sel));
        code = exit_worse(code, not_tried(s, dry_run, code));
        if (session_first_missing(s, sel->steps, &p) == 0) {
            complain(&p);
            code = exit_worse(code, EXIT_CANNOT_ASK);
        }
    }
    if (a->json)
        report_checks_json(s, sel, code == 0, &out);
    else
        report_checks_text(s, sel, paint_of(a), clock_ms() - started, &out);
    fputs(out.s, stdout);
    return code;
}

int command_publish(const struct args *a)
{
    struct session s;
    struct selection sel = {0};
    AUTO_PROBLEM p = PROBLEM_INIT;
    struct args deep = *a;
    int code = judge_words(a);
    if (code != 0)
        return code;
    code = session_open(&s, a, SESSION_WRITE);
    if (code != 0)
        return code;
    deep.deep = true;
    if (selection_make(&s, &deep, &sel, &p) != 0) {
        complain(&p);
        return session_close(&s, EXIT_USAGE);
    }
    code = try_it(&s, a, &sel);
    selection_release(&sel);
    return session_close(&s, code);
}
