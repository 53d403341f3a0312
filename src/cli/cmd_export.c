/* export: the folder to review and publish. It is made of the state alone; only where its secrets
 * are to be sealed, the checks that do so run first. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/export_folder.h"
#include "core/mem.h"

static int judge_words(const struct args *a)
{
    if (a->word_count > 0) {
        fputs("sluice: export takes no words\n  you: name the folder with -o DIR\n", stderr);
        return EXIT_USAGE;
    }
    if (a->secrets == NULL || export_form(a->secrets) != NULL)
        return 0;
    fprintf(stderr,
            "sluice: --secrets %s: there is no such form\n  you: write sealed, placeholder or "
            "plain; left out, it is sealed where that can be had\n",
            a->secrets);
    return EXIT_USAGE;
}

static int code_of(const struct problem *p)
{
    if (p->code != NULL && strcmp(p->code, EXPORT_MISSING) == 0)
        return EXIT_CANNOT_ASK;
    return p->kind == PROBLEM_UNREACHABLE ? EXIT_UNREACHABLE : EXIT_FAILED;
}

/* --- sealing first ---------------------------------------------------------------------------- */

/* A signal, or the time given, ends the command; else what is to be had is written. */
static int run_due(struct session *s, const struct args *a)
{
    int due[PAGE_FIRST_MAX];
    size_t count = page_due(s->wizard, s->state, page_find(&s->rows, PAGE_EXPORT), due);
    if (count == 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        engine_want(s->engine, due[i], s->rows.checks[due[i]]->effect,
                    wizard_outcome(s->wizard, due[i]) != NULL);
    int code = session_run(s, a, NULL, NULL);
    s->saves = state_worth_saving(s->state, s->wizard); /* what was sealed is kept */
    return code;
}

/* 0, or the exit code. Where no form was asked for, placeholders do, and it is said why. */
static int seal_first(struct session *s, const struct args *a, struct export_asked *asked)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    if (asked->form != NULL && asked->form->secrets != SECRETS_SEALED)
        return 0;
    int code = run_due(s, a);
    if (code != 0 || page_why(s->wizard, s->state, page_find(&s->rows, PAGE_EXPORT), &p) == 0)
        return code;
    if (asked->form == NULL)
        fputs("sluice: placeholders stand where secrets belong, as they cannot be sealed:\n",
              stderr);
    complain(&p);
    if (asked->form != NULL)
        return code_of(&p);
    asked->form = export_form("placeholder");
    return 0;
}

/* --- the command ------------------------------------------------------------------------------ */

static int write_folder(struct session *s, const struct args *a)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    AUTO_EXPORT_DONE done = {0};
    struct export_asked asked = {.path = a->output,
                                 .form = a->secrets != NULL ? export_form(a->secrets) : NULL};
    if (export_possible(s, &p) != 0) { /* before anything is sent anywhere */
        complain(&p);
        return code_of(&p);
    }
    int code = seal_first(s, a, &asked);
    if (code != 0)
        return code;
    if (export_folder(s, &asked, &done, &p) != 0) {
        complain(&p);
        return code_of(&p);
    }
    AUTO(xfree) char *words = export_words(&done);
    printf("%s\n%zu files, %s%s. %s\n", done.path, done.files, words,
           done.same ? "; it stood there already, unchanged" : "", export_next(&done));
    return EXIT_DONE;
}

int command_export(const struct args *a)
{
    struct session s;
    int code = judge_words(a);
    if (code != 0)
        return code;
    code = session_open(&s, a, SESSION_READ);
    if (code != 0)
        return code;
    return session_close(&s, write_folder(&s, a));
}
