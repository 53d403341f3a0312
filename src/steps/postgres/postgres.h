/* Insides of the step postgres, shared by the files of this folder only: its rows, its plan, and
 * the ids of the facts its surveys give. A fact's id differs from every field's, since both are
 * read by id. */
#ifndef SLUICE_STEPS_POSTGRES_POSTGRES_H
#define SLUICE_STEPS_POSTGRES_POSTGRES_H

#include "core/check.h"
#include "core/field.h"
#include "core/step.h"

/* Of the survey as admin: about the server as a whole. */
#define FACT_SERVER "postgres.server"     /* struct postgres_server */
#define FACT_SLOTS "postgres.slots"       /* struct postgres_slots */
#define FACT_SESSIONS "postgres.sessions" /* struct postgres_sessions */
#define FACT_CATALOGUE                                                                             \
    "postgres.catalogue" /* struct postgres_tables: all tables, to choose from                     \
                          */
/* Of the survey of what the answers name. */
#define FACT_ROLE "postgres.role"     /* struct postgres_role */
#define FACT_CHOSEN "postgres.chosen" /* struct postgres_tables: chosen ones, with columns */
#define FACT_PUBLISHED "postgres.publication_found" /* struct postgres_publication */
#define FACT_WATERMARKS "postgres.watermarks_found" /* struct postgres_watermarks */

extern const struct field *const postgres_fields[];
extern const struct picker postgres_picker; /* picker.c */
extern const struct check *const postgres_checks[];
extern const struct check postgres_check_connect_admin, postgres_check_found; /* surveys.c */
extern const struct check postgres_check_version;                             /* verdict_server.c */
void postgres_plan(const struct snapshot *s, struct plan *out);
#endif
