/* export: the folder to review and publish, made of the state alone; asks no service. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/report.h"
#include "core/file.h"
#include "core/mem.h"
#include "steps/review/export.h"

/* Forms that are known by name and not to be had here, each with the reason. */
static const struct {
    const char *form, *why;
} refused[] = {
    {"sealed",
     "sealing goes through Estuary's encryption service, which this version does not call"},
    {"plain", "a secret is never written in clear into a folder that is handed on"},
};

/* 0, or the exit code. */
static int judge_form(const struct args *a)
{
    if (a->word_count > 0) {
        fputs("sluice: export takes no words\n  you: name the folder with -o DIR\n", stderr);
        return EXIT_USAGE;
    }
    if (a->secrets == NULL || strcmp(a->secrets, "placeholder") == 0)
        return 0;
    const char *why = "there is no such form";
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (strcmp(refused[i].form, a->secrets) == 0)
            why = refused[i].why;
    fprintf(
        stderr,
        "sluice: --secrets %s: not to be had\n  why: %s\n  you: leave it out, or write --secrets "
        "placeholder; flowctl discover seals the configs once the secrets are in them\n",
        a->secrets, why);
    return EXIT_USAGE;
}

/* Beside the state file, named as the pipeline. */
static char *default_folder(struct session *s)
{
    AUTO(xfree) char *beside = file_dirname(state_path(s->state));
    struct snapshot *now = wizard_snapshot(s->wizard);
    char *path = strcmp(beside, ".") == 0
                     ? xstrdup(snap_text(now, "start.name"))
                     : xasprintf("%s/%s", beside, snap_text(now, "start.name"));
    snapshot_unref(now);
    return path;
}

static int code_of(const struct problem *p)
{
    bool asks = p->code != NULL && strcmp(p->code, EXPORT_MISSING) == 0;
    return asks ? EXIT_CANNOT_ASK : EXIT_FAILED;
}

static int write_folder(struct session *s, const struct args *a)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    AUTO_FOLDER files = {0};
    AUTO_TEXT report = TEXT_INIT;
    bool same;
    if (review_export(s->wizard, s->state, &files, &p) != 0) {
        complain(&p);
        return code_of(&p);
    }
    report_kept_json(s, &report);
    folder_add(&files, "report.json", report.s, report.len);
    AUTO(xfree) char *path = a->output != NULL ? xstrdup(a->output) : default_folder(s);
    if (folder_write(&files, path, &same, &p) != 0) {
        complain(&p);
        return EXIT_FAILED;
    }
    printf("%s\n", path);
    printf("%zu files, a draft with placeholders for the secrets%s. RUNBOOK.md says what comes "
           "first: flowctl discover.\n",
           files.count, same ? "; it stood there already, unchanged" : "");
    return EXIT_DONE;
}

int command_export(const struct args *a)
{
    struct session s;
    int code = judge_form(a);
    if (code != 0)
        return code;
    code = session_open(&s, a, SESSION_READ);
    if (code != 0)
        return code;
    return session_close(&s, write_folder(&s, a));
}
