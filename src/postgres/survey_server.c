/* The survey of the server as its admin: settings, free places, slots, open transactions, all
 * tables. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/text.h"
#include "postgres/survey.h"
#include "postgres/survey_rows.h"

#define SESSION_AGE_S                                                                              \
    300 /* open for longer: named; the connector itself only warns from 30 minutes on */
#define STRINGIZE_(x) #x
#define STRINGIZE(x) STRINGIZE_(x)

static const char sql_server[] =
    "SELECT current_setting('server_version') AS release, current_database() AS database,"
    " (SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()) "
    "AS encoding,"
    " pg_is_in_recovery() AS recovering, current_user::text AS admin, me.rolsuper, "
    "me.rolcreaterole,"
    " me.rolreplication, has_database_privilege(current_database(), 'CREATE') AS creates,"
    " me.rolsuper OR coalesce((SELECT pg_has_role(r.oid, 'USAGE') FROM pg_roles r"
    " WHERE r.rolname = 'pg_read_all_stats'), false) AS sees_all,"
    " to_regproc('aurora_version') IS NOT NULL AS aurora,"
    " (SELECT string_agg(rolname, E'\\n') FROM pg_roles WHERE rolname IN ('rds_superuser', "
    "'rds_replication',"
    " 'cloudsqlsuperuser', 'alloydbsuperuser', 'azure_pg_admin', 'supabase_admin', "
    "'neon_superuser')) AS roles,"
    " (SELECT count(*) FROM pg_replication_slots) AS slots,"
    " (SELECT count(*) FROM pg_stat_replication) AS senders,"
    " (SELECT count(*) FROM pg_stat_activity a WHERE coalesce(to_jsonb(a)->>'backend_type', "
    "'client backend')"
    " = 'client backend') AS connections"
    " FROM pg_roles me WHERE me.rolname = current_user";

static const char sql_settings[] =
    "SELECT name, setting, unit, pending_restart FROM pg_settings WHERE name IN ('wal_level',"
    " 'max_replication_slots', 'max_wal_senders', 'max_connections', 'max_slot_wal_keep_size',"
    " 'idle_replication_slot_timeout', 'wal_sender_timeout', 'default_transaction_read_only',"
    " 'rds.logical_replication', 'cloudsql.logical_decoding',"
    " 'alloydb.logical_decoding')";

static const char sql_slots[] =
    "SELECT s.slot_name, s.plugin, s.slot_type, s.database, s.active, s.active_pid, s.temporary,"
    " to_jsonb(s)->>'wal_status' AS wal_status, to_jsonb(s)->>'inactive_since' AS since,"
    " a.usename, a.application_name, pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery()"
    " THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, s.restart_lsn)::bigint AS "
    "retained"
    " FROM pg_replication_slots s LEFT JOIN pg_stat_activity a ON a.pid = s.active_pid ORDER BY 1 "
    "LIMIT 500";

/* Of all databases: slot creation waits for every transaction of the cluster. */
static const char sql_sessions[] =
    "SELECT * FROM (SELECT pid, usename::text AS usename, application_name, datname::text AS "
    "datname,"
    " host(client_addr) AS client, state, extract(epoch FROM clock_timestamp() - "
    "xact_start)::bigint AS age,"
    " left(query, 200) AS what FROM pg_stat_activity"
    " WHERE (backend_xid IS NOT NULL OR backend_xmin IS NOT NULL) AND pid <> pg_backend_pid()"
    " AND coalesce(to_jsonb(pg_stat_activity)->>'backend_type', 'client backend') = 'client "
    "backend'"
    " UNION ALL SELECT 0, owner::text, '', database::text, '', 'prepared',"
    " extract(epoch FROM clock_timestamp() - prepared)::bigint, gid FROM pg_prepared_xacts) t"
    " WHERE age > " STRINGIZE(SESSION_AGE_S) " ORDER BY age DESC LIMIT 50";

enum { Q_QUICK, Q_SERVER, Q_SETTINGS, Q_SLOTS, Q_SESSIONS, Q_CATALOGUE, Q_COUNT };

static char *cell(const struct pg_result *r, int row, const char *column)
{
    return xstrdup(pg_cell(r, row, column));
}

/* A setting in its smallest unit of interest: megabytes for sizes, milliseconds for times; -1 stays
 * -1. */
static int64_t scaled_setting(const char *value, const char *unit)
{
    static const struct {
        const char *unit;
        int64_t factor;
    } units[] = {{"ms", 1}, {"s", 1000}, {"min", 60000}, {"MB", 1}};
    int64_t number = strtoll(value, NULL, 10);
    for (size_t i = 0; number > 0 && i < ARRAY_LEN(units); i++)
        if (strcmp(units[i].unit, unit) == 0)
            return number * units[i].factor;
    return number;
}

static void take_setting(struct postgres_server *s, const char *name, const char *value,
                         const char *unit, bool pending)
{
    int64_t number = scaled_setting(value, unit);
    if (strcmp(name, "wal_level") == 0) {
        xreplace(&s->wal_level, value);
        s->wal_level_pending |= pending;
    } else if (strcmp(name, "max_replication_slots") == 0) {
        s->max_slots = (int)number;
    } else if (strcmp(name, "max_wal_senders") == 0) {
        s->max_senders = (int)number;
    } else if (strcmp(name, "max_connections") == 0) {
        s->max_connections = (int)number;
    } else if (strcmp(name, "max_slot_wal_keep_size") == 0) {
        s->wal_keep_mb = number;
    } else if (strcmp(name, "idle_replication_slot_timeout") == 0) {
        s->idle_slot_s = number / 1000;
    } else if (strcmp(name, "wal_sender_timeout") == 0) {
        s->sender_timeout_ms = number;
    } else if (strcmp(name, "default_transaction_read_only") == 0) {
        s->read_only = strcmp(value, "on") == 0;
    } else {
        xreplace(&s->wal_switch, value);
        s->wal_level_pending |= pending;
    }
}

static struct postgres_server *take_server(struct pg *pg, const char *host,
                                           const struct pg_result *r,
                                           const struct pg_result *settings)
{
    struct postgres_server *s = xcalloc(1, sizeof *s);
    s->version = pg_server_version(pg);
    s->host = xstrdup(host);
    s->tls = xstrdup(pg_tls(pg));
    s->wal_keep_mb = s->idle_slot_s = s->sender_timeout_ms = POSTGRES_NO_SETTING;
    s->wal_level = xstrdup("");
    const char *release = pg_cell(r, 0, "release"); /* "15.18 (Debian 15.18-0+deb12u1)" */
    s->release = xstrndup(release, strcspn(release, " "));
    s->database = cell(r, 0, "database");
    s->encoding = cell(r, 0, "encoding");
    s->admin = cell(r, 0, "admin");
    s->recovering = pg_true(r, 0, "recovering");
    s->admin_super = pg_true(r, 0, "rolsuper");
    s->admin_roles = pg_true(r, 0, "rolcreaterole");
    s->admin_replication = pg_true(r, 0, "rolreplication");
    s->admin_creates = pg_true(r, 0, "creates");
    s->admin_sees_all = pg_true(r, 0, "sees_all");
    s->used_slots = (int)pg_number(r, 0, "slots", 0);
    s->used_senders = (int)pg_number(r, 0, "senders", 0);
    s->used_connections = (int)pg_number(r, 0, "connections", 0);
    AUTO(xfree) char *roles = xasprintf("\n%s\n", pg_cell(r, 0, "roles"));
    s->platform = postgres_platform_of(roles, pg_true(r, 0, "aurora"), host);
    for (int i = 0; i < pg_rows(settings); i++)
        take_setting(s, pg_cell(settings, i, "name"), pg_cell(settings, i, "setting"),
                     pg_cell(settings, i, "unit"), pg_true(settings, i, "pending_restart"));
    return s;
}

static struct postgres_slots *take_slots(const struct pg_result *r)
{
    struct postgres_slots *s = xcalloc(1, sizeof *s);
    s->count = (size_t)pg_rows(r);
    s->rows = xcalloc(s->count, sizeof *s->rows);
    for (int i = 0; i < pg_rows(r); i++) {
        s->rows[i] = (struct postgres_slot){
            .name = cell(r, i, "slot_name"),
            .plugin = cell(r, i, "plugin"),
            .database = cell(r, i, "database"),
            .wal_status = cell(r, i, "wal_status"),
            .since = cell(r, i, "since"),
            .user = cell(r, i, "usename"),
            .application = cell(r, i, "application_name"),
            .logical = strcmp(pg_cell(r, i, "slot_type"), "logical") == 0,
            .active = pg_true(r, i, "active"),
            .temporary = pg_true(r, i, "temporary"),
            .pid = (int)pg_number(r, i, "active_pid", 0),
            .retained = pg_number(r, i, "retained", -1),
        };
    }
    return s;
}

static struct postgres_sessions *take_sessions(const struct pg_result *r)
{
    struct postgres_sessions *s = xcalloc(1, sizeof *s);
    s->count = (size_t)pg_rows(r);
    s->rows = xcalloc(s->count, sizeof *s->rows);
    for (int i = 0; i < pg_rows(r); i++) {
        s->rows[i] = (struct postgres_session){
            .pid = (int)pg_number(r, i, "pid", 0),
            .user = cell(r, i, "usename"),
            .application = cell(r, i, "application_name"),
            .database = cell(r, i, "datname"),
            .client = cell(r, i, "client"),
            .state = cell(r, i, "state"),
            .what = cell(r, i, "what"),
            .age_s = pg_number(r, i, "age", 0),
        };
    }
    return s;
}

void postgres_overview_release(struct postgres_overview *o)
{
    postgres_server_free(o->server);
    postgres_slots_free(o->slots);
    postgres_sessions_free(o->sessions);
    postgres_tables_free(o->catalogue);
    *o = (struct postgres_overview){0};
}

int postgres_survey_server(struct run *run, struct pg *pg, const char *host,
                           struct postgres_overview *out, struct problem *err)
{
    int version = pg_server_version(pg);
    AUTO(xfree) char *catalogue = postgres_sql_catalogue(version);
    struct pg_item items[Q_COUNT] = {
        [Q_QUICK] = {.name = "jit", .sql = postgres_sql_quick(version)},
        [Q_SERVER] = {.name = "server", .sql = sql_server},
        [Q_SETTINGS] = {.name = "settings", .sql = sql_settings},
        [Q_SLOTS] = {.name = "replication slots", .sql = sql_slots},
        [Q_SESSIONS] = {.name = "open transactions", .sql = sql_sessions},
        [Q_CATALOGUE] = {.name = "tables", .sql = catalogue},
    };
    /* Before 10 the functions and views have other names; all that matters then is the version. */
    size_t count = version >= 100000 ? Q_COUNT : Q_SETTINGS + 1;
    *out = (struct postgres_overview){0};
    int rc = pg_pipeline(run, pg, items, count, err);
    if (rc == 0)
        rc = postgres_first_failure(items, count, err);
    if (rc == 0) {
        out->server = take_server(pg, host, items[Q_SERVER].result, items[Q_SETTINGS].result);
        if (count == Q_COUNT) {
            out->slots = take_slots(items[Q_SLOTS].result);
            out->sessions = take_sessions(items[Q_SESSIONS].result);
            out->catalogue = postgres_take_catalogue(items[Q_CATALOGUE].result);
        }
    }
    pg_items_release(items, count);
    return rc;
}
