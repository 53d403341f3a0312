/* The proof behind rows_init (core/rows.c): flattened rows are judged and put in order. */
#ifndef SLUICE_CORE_ROWS_PROVE_H
#define SLUICE_CORE_ROWS_PROVE_H

#include "core/rows.h"

/* Fills r->order. 0, or -1 and PROBLEM_BUG naming the row that is wrong. */
int rows_prove(struct rows *r, struct problem *err);
#endif
