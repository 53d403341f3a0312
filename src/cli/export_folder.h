/* The exported folder, written for the command and for both front ends alike: what steps/review
 * makes of the state, and the report beside it. */
#ifndef SLUICE_CLI_EXPORT_FOLDER_H
#define SLUICE_CLI_EXPORT_FOLDER_H

#include "cli/session.h"
#include "steps/review/export.h"
#include "ui/hooks.h"

struct export_form {
    const char *name; /* as --secrets takes it */
    enum export_secrets secrets;
    const char *words; /* "placeholders for the secrets" */
};
const struct export_form *export_form(const char *name); /* NULL = there is none */

struct export_asked {
    const char *path;               /* NULL: beside the state file, named as the pipeline */
    const struct export_form *form; /* what stands where secrets belong; NULL = sealed when the
                                       state has that, else placeholders */
};

struct export_done {
    char *path;
    size_t files;
    bool same;  /* it stood there already, byte by byte */
    bool draft; /* collections are drafted by hand, as Estuary did not discover them */
    const struct export_form *form;
};
void export_done_release(struct export_done *d);
#define AUTO_EXPORT_DONE __attribute__((cleanup(export_done_release))) struct export_done

/* "a draft with placeholders for the secrets"; xfree. And what comes first with it, a sentence. */
char *export_words(const struct export_done *d);
const char *export_next(const struct export_done *d);

/* Could it be written, in whichever form? As review_export says; nothing is asked of a service. */
int export_possible(struct session *s, struct problem *err);
/* Writes it; asks no service. Problems are those of review_export (PROBLEM_INPUT, code
 * EXPORT_MISSING: something comes first) and of folder_write. */
int export_folder(struct session *s, const struct export_asked *asked, struct export_done *out,
                  struct problem *err);

/* Both as hooks of the front ends. */
struct front_hooks export_hooks(struct session *s);
#endif
