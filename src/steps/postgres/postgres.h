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
/* Of the login as the capture user. */
#define FACT_LOGIN "postgres.login" /* struct postgres_login_state */

extern const struct field *const postgres_fields[];
extern const struct picker postgres_picker; /* picker.c */
extern const struct check *const postgres_checks[];
/* surveys.c */
extern const struct check postgres_check_connect_admin, postgres_check_found;
/* verdict_server.c */
extern const struct check postgres_check_address, postgres_check_version, postgres_check_encoding,
    postgres_check_tls, postgres_check_wal_level, postgres_check_primary, postgres_check_slots_free,
    postgres_check_senders_free, postgres_check_connections_free;
/* verdict_slots.c */
extern const struct check postgres_check_slot_name, postgres_check_other_slots,
    postgres_check_wal_keep, postgres_check_long_transactions;
/* verdict_tables.c */
extern const struct check postgres_check_tables, postgres_check_table_names, postgres_check_keys,
    postgres_check_row_security, postgres_check_generated_columns, postgres_check_backfill;
extern const struct check postgres_check_replica_identity; /* verdict_identity.c */
extern const struct check postgres_check_admin_rights;     /* verdict_admin.c */
/* verdict_objects.c */
extern const struct check postgres_check_replication_right, postgres_check_excess_rights,
    postgres_check_grants, postgres_check_watermarks, postgres_check_publication;
/* capture.c */
extern const struct check postgres_check_connect_capture, postgres_check_replication_connection,
    postgres_check_select, postgres_check_published;
/* probes.c */
extern const struct check postgres_check_watermarks_write, postgres_check_cdc_round_trip;

/* plan.c */
void postgres_plan(const struct snapshot *s, struct plan *out);
#endif
