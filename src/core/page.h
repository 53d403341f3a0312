/* struct page_action: what can be done on the page of a step without fields, as data. Both front
 * ends take key, verb and help from these rows and know how each sort is done; neither knows a step
 * by its id. */
#ifndef SLUICE_CORE_PAGE_H
#define SLUICE_CORE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/problem.h"

struct rows;
struct state;
struct wizard;

#define PAGE_FIRST_MAX 8           /* checks of `first` that are looked at */
#define PAGE_MISSING "missing"     /* code of a problem: an answer, or what is made, comes first */
#define PAGE_NOT_PROVED "unproved" /* code: it was not run, or to no end */

enum page_act {
    PAGE_EXPORT, /* writes the folder; with placeholders for the secrets unless `first` stands */
    PAGE_CHECK,  /* runs the check that `first` names and shows it */
    PAGE_UNDO    /* shows what was made and can be taken back */
};

struct page_action {
    enum page_act act;
    const char *key;          /* a small letter without a meaning elsewhere; NULL ends the rows */
    const char *verb;         /* in the footer: "export"; "undo…" asks before it does anything */
    const char *help;         /* a phrase, without a stop */
    const char *const *first; /* check ids, ends with NULL; may be NULL */
    /* 0 = what `first` is run for is to be had of the state, -1 and err = why not, for who has run
     * them in vain. NULL: their outcomes tell. */
    int (*had)(struct wizard *w, const struct state *s, struct problem *err);
};

/* The first action of this sort among all steps; NULL = none. */
const struct page_action *page_find(const struct rows *rows, enum page_act act);

/* Indexes of those in `first` that are to be run before, as they are not proved with the present
 * answers (whatever their age), or brought what is no longer to be had; into checks (room for
 * PAGE_FIRST_MAX). Gives their number. */
size_t page_due(struct wizard *w, const struct state *s, const struct page_action *a, int *checks);
/* Why the first of these is not to be had, down to what it waits for: -1 and err, whose code is
 * PAGE_MISSING where something is to be answered or made first. 0 = none is due. */
int page_why(struct wizard *w, const struct state *s, const struct page_action *a,
             struct problem *err);

/* The step where a problem is settled: the one that its code, or what it says is to be done, names
 * by a field, a check or `sluice check STEP`. -1 = none is named. */
int page_way(const struct rows *rows, const struct problem *p);
#endif
