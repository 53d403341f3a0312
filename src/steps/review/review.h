/* How the whole set-up stands: every check in one group. Pure; for the page, the runbook
 * and the export alike. */
#ifndef SLUICE_STEPS_REVIEW_REVIEW_H
#define SLUICE_STEPS_REVIEW_REVIEW_H

#include "core/wizard.h"

enum review_group {
    REVIEW_PROVED,   /* also with a remark */
    REVIEW_APART,    /* does not apply here */
    REVIEW_ACCEPTED, /* an exception with a reason */
    REVIEW_OPEN,     /* failed, not answered, never run */
    REVIEW_STALE,    /* proved of other answers, or too long ago */
    REVIEW_GROUPS
};

struct review_row {
    int check;
    enum review_group group;
    const struct outcome *outcome; /* borrowed; NULL = never run */
};

struct review {
    size_t count;
    struct review_row *rows; /* in the order of steps */
    size_t of[REVIEW_GROUPS];
    int64_t oldest, newest; /* wall seconds of what is proved; 0 = nothing is */
};

/* ageing: what is too old is stale; else only what is of other answers is, so that one state gives
 * one review whenever it is made and whichever secrets are at hand. */
void review_make(struct wizard *w, bool ageing, struct review *out);
void review_release(struct review *r);
#define AUTO_REVIEW __attribute__((cleanup(review_release))) struct review

/* Its check can stop the pipeline or harm the source. */
bool review_matters(const struct check *c);
/* What no check on this machine can prove, and who can: lines for people; what NULL ends. */
struct review_beyond {
    const char *what, *how;
    const char *proved_by; /* a check in which Estuary itself proves it; NULL none */
};
extern const struct review_beyond review_beyond[];
/* It is still open: Estuary has not proved it with the present answers. */
bool review_is_beyond(struct wizard *w, const struct review_beyond *b);

/* The page of the step: lines as core/step.h's page has them; xfree. */
char *review_page(struct wizard *w);
#endif
