/* Rows of the large queries into the table fact; shared by the two surveys only. */
#ifndef SLUICE_POSTGRES_SURVEY_ROWS_H
#define SLUICE_POSTGRES_SURVEY_ROWS_H

#include "net/pg.h"
#include "postgres/survey.h"

struct postgres_tables *postgres_take_catalogue(const struct pg_result *r);

/* Results of the queries about chosen tables: themselves, their columns, indexes that could be an
 * identity, partitions without one. Each but the first has `n`, the place in the answer. */
struct postgres_chosen_results {
    const struct pg_result *tables, *columns, *indexes, *naked;
};
struct postgres_tables *postgres_take_chosen(const struct postgres_chosen_results *r);
/* First statement of a survey: compiling the large queries (11+) would take seconds and save
 * nothing. */
const char *postgres_sql_quick(int version);
/* The first item that failed, or 0. */
int postgres_first_failure(struct pg_item *items, size_t count, struct problem *err);
#endif
