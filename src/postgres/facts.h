/* What is learnt of a PostgreSQL source by its surveys, as facts (core/fact.h): plain data,
 * immutable, whose hash leaves out what moves by itself (sizes, ages, counts of connections). All
 * texts are owned by the fact. */
#ifndef SLUICE_POSTGRES_FACTS_H
#define SLUICE_POSTGRES_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fact.h"
#include "postgres/platform.h"

#define POSTGRES_NO_SETTING (-2) /* the server does not know this setting */

/* The server and the admin's own rights. */
struct postgres_server {
    int version;   /* server_version_num: 150018 */
    char *release; /* "15.18" */
    enum postgres_platform platform;
    char *host;     /* as answered, for recipes */
    char *database; /* current_database() */
    char *encoding;
    char *tls; /* "TLSv1.3"; NULL = in clear */
    char *wal_level;
    bool wal_level_pending; /* changed, takes effect with the next restart */
    char *wal_switch; /* value of the platform's own switch (rds.logical_replication); NULL none */
    bool recovering;  /* a standby */
    bool read_only;   /* default_transaction_read_only */
    int max_slots, used_slots;
    int max_senders, used_senders;
    int max_connections, used_connections;
    int64_t wal_keep_mb;       /* max_slot_wal_keep_size; -1 = no bound */
    int64_t idle_slot_s;       /* idle_replication_slot_timeout (18+); 0 = never */
    int64_t sender_timeout_ms; /* wal_sender_timeout; 0 = never */
    char *admin;               /* current_user */
    bool admin_super, admin_roles, admin_replication; /* superuser, CREATEROLE, REPLICATION */
    bool admin_creates;                               /* CREATE on the database */
    bool admin_sees_all; /* pg_read_all_stats: what other sessions do */
};

struct postgres_slot {
    char *name, *plugin, *database, *wal_status, *since; /* since: inactive_since (17+); "" none */
    char *user, *application;                            /* of the reader, "" when idle or hidden */
    bool logical, active, temporary;
    int pid;
    int64_t retained; /* bytes of log kept for it; -1 unknown */
};

struct postgres_slots {
    size_t count;
    struct postgres_slot *rows;
};

/* A transaction that is open for long: slot creation waits for its end. */
struct postgres_session {
    int pid; /* 0: a prepared transaction, named by `what` */
    char *user, *application, *database, *client, *state, *what; /* what: query, cut; or gid */
    int64_t age_s;
};

struct postgres_sessions {
    size_t count;
    struct postgres_session *rows;
};

/* The capture user. */
struct postgres_role {
    char *name;
    bool exists;
    bool login, replication, super, createrole, createdb, bypassrls;
    bool expired;    /* rolvaliduntil is past */
    int connections; /* CONNECTION LIMIT; -1 none */
    bool rds_member; /* of rds_replication */
    bool rds_role;   /* the role rds_replication exists here */
    bool is_admin;   /* the same role as the admin's */
    bool connects;   /* CONNECT on the database */
    bool reads_all;  /* pg_read_all_data */
    char *member_of; /* names, ", " between; "" none */
};

/* A table in the publication whose UPDATE or DELETE fails now. */
struct postgres_publication {
    char *name;
    bool exists;
    bool all_tables, inserts, updates, deletes;
    bool via_root; /* publish_via_partition_root; false before 13 */
    int schemas;   /* FOR TABLES IN SCHEMA (15+) */
    char *owner;
    bool admin_owns;
    int members;     /* tables listed one by one */
    bool watermarks; /* it hands out the watermarks table */
    bool watermarks_listed;
    size_t broken_count; /* published tables without replica identity; the first 50 are named */
    int broken_total;
    char **broken;
    size_t other_count; /* chosen names of other members, not chosen here; the first 50 are named */
    int other_total;
    char **others;
    char *all_elsewhere; /* other FOR ALL TABLES publications that hand out UPDATE or DELETE; ""
                            none */
};

struct postgres_watermarks {
    char *name; /* as answered */
    bool schema_exists;
    bool exists;
    char kind, persistence;
    bool columns; /* text columns slot and watermark */
    bool unique;  /* a whole unique index on slot alone */
    char *owner;
    bool admin_owns;
    bool admin_makes;                      /* CREATE on its schema */
    bool usage, selects, inserts, updates; /* rights of the capture user */
};

/* Whether the capture user can log in with the password at hand. */
struct postgres_login_state {
    bool works;
    bool refused; /* by password (28P01) */
};

extern const struct fact_type postgres_login_type;
extern const struct fact_type postgres_server_type;
extern const struct fact_type postgres_slots_type;
extern const struct fact_type postgres_sessions_type;
extern const struct fact_type postgres_role_type;
extern const struct fact_type postgres_publication_type;
extern const struct fact_type postgres_watermarks_type;

struct postgres_login_state *postgres_login_state_new(bool works, bool refused);
/* For those that are not handed to a fact; NULL is fine. */
void postgres_server_free(void *data);
void postgres_slots_free(void *data);
void postgres_sessions_free(void *data);
void postgres_role_free(void *data);
void postgres_publication_free(void *data);
void postgres_watermarks_free(void *data);

const struct postgres_slot *postgres_slots_find(const struct postgres_slots *s, const char *name);
/* "3.1 GB", "unknown" below 0; xfree. */
char *postgres_size_text(int64_t bytes);
/* "88 M", "200 k", "unknown" below 0; xfree. */
char *postgres_rows_text(double rows);
/* "4 min", "3 h"; xfree. */
char *postgres_age_text(int64_t seconds);
#endif
