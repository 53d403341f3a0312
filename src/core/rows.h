/* struct rows: all rows of all steps, flattened and proved consistent once at the start: ids are of
 * the form "step.what" with the step's own id and unique (of steps; of fields and facts; of
 * checks), every id that is read is a field or has exactly one giver, `after` and the actions of
 * pages name checks, no circles. */
#ifndef SLUICE_CORE_ROWS_H
#define SLUICE_CORE_ROWS_H

#include <stddef.h>

#include "core/check.h"
#include "core/field.h"
#include "core/problem.h"
#include "core/step.h"

struct rows {
    const struct step *const *steps; /* ends with NULL */
    size_t step_count;
    size_t field_count;
    const struct field **fields; /* in the order of steps and rows */
    size_t check_count;
    const struct check **checks; /* likewise */
    size_t fact_count;
    const char **facts; /* ids */
    int *givers;        /* fact -> index of the check that gives it */
    int *order;         /* check indexes so that givers and `after` come first */
    int *by_id[3];      /* rows.c's: indexes of fields, facts, checks, sorted by id */
};

/* 0, or -1 and PROBLEM_BUG naming the row that is wrong. */
int rows_init(struct rows *r, const struct step *const *steps, struct problem *err);
void rows_release(struct rows *r);
/* Index or -1. */
int rows_step(const struct rows *r, const char *id);
int rows_field(const struct rows *r, const char *id);
int rows_check(const struct rows *r, const char *id);
int rows_fact(const struct rows *r, const char *id);
/* The step a row "step.what" belongs to. */
const struct step *rows_step_of(const struct rows *r, const char *row_id);
/* "4 Capture", "Review": the number, where it has one, and the short name; xfree. */
char *rows_step_label(const struct step *s);
/* As step->begun says; one that does not say has. */
bool rows_step_begun(const struct step *s, const struct snapshot *now);
#endif
