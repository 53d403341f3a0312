/* The list of checks of the step postgres, in the order they are shown. */
#include "steps/postgres/postgres.h"

const struct check *const postgres_checks[] = {
    /* the server */
    &postgres_check_address,
    &postgres_check_connect_admin,
    &postgres_check_tls,
    &postgres_check_version,
    &postgres_check_encoding,
    &postgres_check_wal_level,
    &postgres_check_primary,
    &postgres_check_slots_free,
    &postgres_check_senders_free,
    &postgres_check_connections_free,
    &postgres_check_slot_name,
    &postgres_check_other_slots,
    &postgres_check_wal_keep,
    &postgres_check_long_transactions,
    /* what the answers name */
    &postgres_check_found,
    &postgres_check_tables,
    &postgres_check_table_names,
    &postgres_check_keys,
    &postgres_check_replica_identity,
    &postgres_check_row_security,
    &postgres_check_generated_columns,
    &postgres_check_backfill,
    &postgres_check_admin_rights,
    &postgres_check_replication_right,
    &postgres_check_excess_rights,
    &postgres_check_grants,
    &postgres_check_watermarks,
    &postgres_check_publication,
    /* as the capture user */
    &postgres_check_connect_capture,
    &postgres_check_replication_connection,
    &postgres_check_select,
    &postgres_check_published,
    &postgres_check_watermarks_write,
    &postgres_check_cdc_round_trip,
    NULL,
};
