/* From answers to what src/postgres works with; for checks (which may only read what their row
 * lists), changes and the pure plan alike. */
#ifndef SLUICE_STEPS_POSTGRES_INPUTS_H
#define SLUICE_STEPS_POSTGRES_INPUTS_H

#include "core/run.h"
#include "core/snapshot.h"
#include "postgres/link.h"
#include "postgres/survey.h"

/* What a row must list in `reads` to use postgres_admin_login or postgres_capture_login. */
#define READS_PLACE                                                                                \
    "postgres.host", "postgres.port", "postgres.database", "postgres.sslmode", "?postgres.ca_file"
#define READS_ADMIN READS_PLACE, "postgres.admin_user", "postgres.admin_password"
#define READS_CAPTURE READS_PLACE, "postgres.user", "postgres.password"

struct postgres_login postgres_admin_login(const struct run *run);
struct postgres_login postgres_capture_login(const struct run *run);

/* Borrowed from a run or a snapshot; of a run without repairs, which only some rows may read. */
struct postgres_wanted postgres_wanted_of_run(const struct run *run);
struct postgres_wanted postgres_wanted_of(const struct snapshot *s);
void postgres_wanted_repairs(struct postgres_wanted *w, const struct value *repairs);
/* The facts of the second survey, borrowed; members NULL when they are not there. Never release it.
 */
struct postgres_found postgres_found_of_run(const struct run *run);
struct postgres_found postgres_found_of(const struct snapshot *s);
/* The repair chosen for a table as written, or NULL. */
const char *postgres_repair_of(const struct value *repairs, const char *written);
#endif
