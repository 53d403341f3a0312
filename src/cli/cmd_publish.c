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

static void choose(struct session *s, struct selection *sel, int check)
{
    const struct step *step = rows_step_of(&s->rows, s->rows.checks[check]->id);
    sel->checks[check] = true;
    sel->steps[rows_step(&s->rows, step->id)] = true;
}

/* All that Estuary is asked, and what the trial waits for. */
static void choose_all(struct session *s, int dry_run, struct selection *sel)
{
    const struct check *trial = s->rows.checks[dry_run];
    for (size_t i = 0; i < s->rows.check_count; i++) {
        const struct check *c = s->rows.checks[i];
        bool asks = c->service != NULL && strcmp(c->service, trial->service) == 0;
        sel->checks[i] = false;
        if (asks)
            choose(s, sel, (int)i);
    }
    for (size_t i = 0; trial->after[i] != NULL; i++)
        choose(s, sel, rows_check(&s->rows, trial->after[i]));
}

/* Passed over for want of a login: then the answer is what is missing. */
static int no_login(struct session *s, int dry_run)
{
    struct check_view v;
    wizard_check_view(s->wizard, dry_run, &v);
    if (v.status != STATUS_SKIPPED)
        return 0;
    fputs("sluice: start.token is not answered: Estuary cannot be asked\n  you: make a refresh "
          "token in its dashboard (Admin, CLI-API), and give it as --set start.token=env:NAME or "
          "file:/path\n",
          stderr);
    return EXIT_CANNOT_ASK;
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
        code = exit_worse(code, no_login(s, dry_run));
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
