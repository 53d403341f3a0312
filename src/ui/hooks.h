/* What front ends have done by the layer above them: the exported folder holds a report, and
 * reports are made in cli/. */
#ifndef SLUICE_UI_HOOKS_H
#define SLUICE_UI_HOOKS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/problem.h"

struct exported {
    char *path; /* absolute */
    size_t files;
    bool same;  /* it stood there already, byte by byte: nothing was written */
    char *form; /* what stands where secrets belong, a phrase */
    char *next; /* what comes first with it, a sentence */
};

struct front_hooks {
    void *ctx;
    /* Could it be written, in whichever form? -1 and why not. */
    int (*can_export)(void *ctx, struct problem *err);
    /* Writes the folder beside the state file, in the best form to be had, or with placeholders
     * where secrets belong. -1: nothing is written. exported_release it. */
    int (*export)(void *ctx, bool placeholders, struct exported *out, struct problem *err);
};

void exported_release(struct exported *e);
#define AUTO_EXPORTED __attribute__((cleanup(exported_release))) struct exported
#endif
