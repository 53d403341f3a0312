/* struct step: one screen, one documented step: its rows of fields and checks, and its plan.
 *
 * To add a step: one file in steps/, one line in steps/steps.c. */
#ifndef SLUICE_CORE_STEP_H
#define SLUICE_CORE_STEP_H

#include "core/change.h"
#include "core/check.h"
#include "core/field.h"
#include "core/page.h"

struct snapshot;
struct wizard;

struct step {
    const char *id;     /* "oauth" */
    const char *number; /* "1", "3a"; "" for Start and Review */
    const char *name;   /* in the step line: "OAuth" */
    const char *title;  /* "Bauplan OAuth client" */
    const char *intro;  /* a sentence or two: what this step is for */
    const char
        *needs;       /* what the operator needs, and from whom; for Start's list. NULL = nothing */
    const char *link; /* page where the thing is made, or read about */
    const char *const
        *later; /* lines of a page that says what will be done here, for a step without rows */
    /* Of a step without fields: a page that is worked out from the model each time it is shown.
     * Lines; "label\tbody" has the label in a column of its own, which may be empty. xfree. */
    char *(*page)(struct wizard *w);
    const struct page_action *actions; /* what can be done there, ends with key NULL; may be NULL */
    const struct field *const *fields; /* ends with NULL; may be NULL */
    const struct check *const *checks; /* ends with NULL; may be NULL */
    const struct change_kind *const *kinds; /* sorts of its changes, ends with NULL; for undo */
    void (*plan)(const struct snapshot *s, struct plan *out); /* pure; NULL = makes nothing */
    /* False = nothing of it is answered or at hand: a command that names no step, and the plan of
     * all, leave it out. NULL = it begins with the program. */
    bool (*begun)(const struct snapshot *s);
};
#endif
