/* Writing the exported folder. See export_folder.h. */
#include "cli/export_folder.h"

#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "core/file.h"
#include "core/folder.h"
#include "core/mem.h"

static const struct export_form forms[] = {
    [SECRETS_SEALED] = {"sealed", SECRETS_SEALED, "the secrets sealed for Estuary alone"},
    [SECRETS_PLACEHOLDER] = {"placeholder", SECRETS_PLACEHOLDER, "placeholders for the secrets"},
    [SECRETS_PLAIN] = {"plain", SECRETS_PLAIN, "every secret in clear"},
};

const struct export_form *export_form(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (strcmp(forms[i].name, name) == 0)
            return &forms[i];
    return NULL;
}

void export_done_release(struct export_done *d)
{
    xfree(d->path);
    *d = (struct export_done){0};
}

char *export_words(const struct export_done *d)
{
    return xasprintf("%s%s", d->draft ? "a draft with " : "with ", d->form->words);
}

const char *export_next(const struct export_done *d)
{
    if (d->form->secrets == SECRETS_PLAIN)
        return "It is for this machine alone: remove it once it is published.";
    return d->draft ? "RUNBOOK.md says what comes first: flowctl discover."
                    : "RUNBOOK.md says how it is tested and published.";
}

static char *default_path(struct session *s)
{
    AUTO(xfree) char *beside = file_dirname(state_path(s->state));
    struct snapshot *now = wizard_snapshot(s->wizard);
    char *path = strcmp(beside, ".") == 0
                     ? xstrdup(snap_text(now, "start.name"))
                     : xasprintf("%s/%s", beside, snap_text(now, "start.name"));
    snapshot_unref(now);
    return path;
}

int export_possible(struct session *s, struct problem *err)
{
    AUTO_FOLDER files = {0};
    bool draft;
    return review_export(s->wizard, s->state, SECRETS_PLACEHOLDER, &files, &draft, err);
}

static const struct export_form *best_form(struct session *s)
{
    bool sealed = review_export_can(s->wizard, s->state, SECRETS_SEALED, NULL) == 0;
    return &forms[sealed ? SECRETS_SEALED : SECRETS_PLACEHOLDER];
}

int export_folder(struct session *s, const struct export_asked *asked, struct export_done *out,
                  struct problem *err)
{
    AUTO_FOLDER files = {0};
    AUTO_TEXT report = TEXT_INIT;
    AUTO_EXPORT_DONE done = {0};
    done.form = asked->form != NULL ? asked->form : best_form(s);
    if (review_export(s->wizard, s->state, done.form->secrets, &files, &done.draft, err) != 0)
        return -1;
    report_kept_json(s, &report);
    folder_add(&files, "report.json", report.s, report.len);
    done.path = asked->path != NULL ? xstrdup(asked->path) : default_path(s);
    if (folder_write(&files, done.path, &done.same, err) != 0)
        return -1;
    done.files = files.count;
    *out = done;
    done.path = NULL;
    return 0;
}

/* --- for the front ends ----------------------------------------------------------------------- */

static char *absolute(const char *path)
{
    char *real = realpath(path, NULL);
    char *copy = xstrdup(real != NULL ? real : path);
    free(real);
    return copy;
}

static int can_export(void *ctx, struct problem *err)
{
    return export_possible(ctx, err);
}

static int export(void *ctx, bool placeholders, struct exported *out, struct problem *err)
{
    AUTO_EXPORT_DONE done = {0};
    AUTO_PROBLEM p = PROBLEM_INIT;
    struct export_asked asked = {.form = placeholders ? &forms[SECRETS_PLACEHOLDER] : NULL};
    if (export_folder(ctx, &asked, &done, &p) != 0) {
        if (p.kind == PROBLEM_CONFLICT && p.code != NULL && strcmp(p.code, "folder") == 0)
            problem_fix(&p, WHO_YOU,
                        "Move it away, then export again; or leave, and name another folder: "
                        "sluice export -o DIR");
        problem_move(err, &p);
        return -1;
    }
    *out = (struct exported){.path = absolute(done.path),
                             .files = done.files,
                             .same = done.same,
                             .form = export_words(&done),
                             .next = xstrdup(export_next(&done))};
    return 0;
}

struct front_hooks export_hooks(struct session *s)
{
    return (struct front_hooks){.ctx = s, .can_export = can_export, .export = export};
}
