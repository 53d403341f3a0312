/* Verdicts on the server as a whole: address, version, logical decoding, free places. No I/O: they
 * judge what the survey as admin found. */
#include <string.h>

#include "core/mem.h"
#include "core/run.h"
#include "postgres/facts.h"
#include "steps/postgres/postgres.h"

#define VERSION_LEAST 100000 /* the connector's own bound */
#define CONNECTIONS_NEEDED 5 /* the connector's pool, its replication connection, and ours */

static const struct postgres_server *server(struct run *run)
{
    return run_fact(run, FACT_SERVER, &postgres_server_type);
}

/* --- address --------------------------------------------------------------------------------- */

/* Names and ranges that mean something only in this network (RFC 1918, 4193, 3927, 4291). */
static bool only_from_here(const char *host)
{
    static const char *const starts[] = {"127.", "10.",   "192.168.", "169.254.",
                                         "::1",  "fe80:", "fc",       "fd"};
    if (strcmp(host, "localhost") == 0)
        return true;
    bool literal = host[strspn(host, "0123456789.")] == '\0' || strchr(host, ':') != NULL;
    for (size_t i = 0; literal && i < ARRAY_LEN(starts); i++)
        if (strncmp(host, starts[i], strlen(starts[i])) == 0)
            return true;
    if (!literal || strncmp(host, "172.", 4) != 0)
        return false;
    int second = 0;
    for (const char *p = host + 4; *p >= '0' && *p <= '9' && second < 1000; p++)
        second = second * 10 + (*p - '0');
    return second >= 16 && second <= 31;
}

static void run_address(struct run *run, struct outcome *out)
{
    const char *host = run_text(run, "postgres.host");
    struct postgres_host_note note;
    postgres_judge_host(host, run_text(run, "postgres.port"), &note);
    if (note.what != NULL) {
        outcome_fail(out, "address", "%s", note.what);
        outcome_why(out, "%s", note.why);
        outcome_fix(out, WHO_YOU, "%s", note.fix);
        if (note.instead != NULL)
            outcome_suggest(out, "postgres.host", note.instead);
    } else if (only_from_here(host)) {
        outcome_warn(out, "%s is an address of this network", host);
        outcome_why(
            out,
            "Estuary connects from its own data plane; the checks here say nothing of that way.");
        outcome_fix(out, WHO_YOU,
                    "for the capture have a public address, an SSH bastion, or a data plane of "
                    "your own in that network");
    } else {
        outcome_pass(out, "%s: no pooler or reader known by its name", host);
    }
    xfree(note.instead);
}

const struct check postgres_check_address = {
    .id = "postgres.address",
    .title = "the address is the server's own",
    .reads = (const char *const[]){"postgres.host", "postgres.port", NULL},
    .severity = SEV_BLOCKS,
    .cause = "The host is a connection pooler or a read replica: replication does not pass through "
             "the one, and changes cannot be captured from the other. Or it is an address Estuary "
             "cannot reach.",
    .fix = "Use the direct address of the primary server.",
    .run = run_address,
};

/* --- version, encoding, TLS ------------------------------------------------------------------ */

static void run_version(struct run *run, struct outcome *out)
{
    const struct postgres_server *s = server(run);
    if (s->version >= VERSION_LEAST) {
        outcome_pass(out, "%s", s->release);
        return;
    }
    outcome_fail(out, "version", "PostgreSQL %s is older than 10", s->release);
    outcome_why(out, "Estuary's connector refuses servers before 10.");
    outcome_fix(out, WHO_DBA, "upgrade the server, or capture from one that is 10 or newer");
}

const struct check postgres_check_version = {
    .id = "postgres.version",
    .title = "the version is 10 or newer",
    .reads = (const char *const[]){FACT_SERVER, NULL},
    .severity = SEV_BLOCKS,
    .cause = "The server is older than PostgreSQL 10, which has no logical replication of its own.",
    .fix = "Upgrade it, or capture from a newer server.",
    .run = run_version,
};

static void run_encoding(struct run *run, struct outcome *out)
{
    const struct postgres_server *s = server(run);
    if (strcmp(s->encoding, "SQL_ASCII") != 0) {
        outcome_pass(out, "%s%s", s->encoding,
                     strcmp(s->encoding, "UTF8") == 0 ? "" : ", converted by the server");
        return;
    }
    outcome_warn(out, "the database has no encoding (SQL_ASCII)");
    outcome_why(
        out,
        "Texts are handed out as the bytes they are; those that are not UTF-8 stop the capture.");
    outcome_fix(out, WHO_DBA,
                "make sure that all texts are UTF-8, or move the data into a UTF8 database");
}

const struct check postgres_check_encoding = {
    .id = "postgres.encoding",
    .title = "texts have an encoding",
    .reads = (const char *const[]){FACT_SERVER, NULL},
    .severity = SEV_WARNS,
    .cause =
        "The database was made with the encoding SQL_ASCII, which converts and checks nothing.",
    .fix = "Make sure that all texts are UTF-8, or move the data into a UTF8 database.",
    .run = run_encoding,
};

static void run_tls(struct run *run, struct outcome *out)
{
    const struct postgres_server *s = server(run);
    const char *mode = run_text(run, "postgres.sslmode");
    bool verified = strncmp(mode, "verify-", 7) == 0;
    if (s->tls != NULL && verified) {
        outcome_pass(out, "%s, %s", s->tls, mode);
    } else if (s->tls != NULL) {
        outcome_warn(out, "%s, but the server is not verified (%s)", s->tls, mode);
        outcome_why(out, "Who stands between could pose as the server and take the passwords.");
        outcome_fix(out, WHO_YOU,
                    "use verify-full, with the CA's file when its CA is a private one");
    } else {
        outcome_warn(out, "the connection is not encrypted");
        outcome_why(out, "Passwords and rows can be read and changed on the way.");
        outcome_fix(out, WHO_YOU, "use TLS mode verify-full; the server needs ssl = on");
        outcome_suggest(out, "postgres.sslmode", "verify-full");
    }
}

const struct check postgres_check_tls = {
    .id = "postgres.tls",
    .title = "the connection is encrypted and verified",
    .reads = (const char *const[]){FACT_SERVER, "postgres.sslmode", NULL},
    .severity = SEV_WARNS,
    .cause = "The TLS mode chosen does not encrypt, or does not check who the server is.",
    .fix = "Choose verify-full; name the CA's file when the server's CA is a private one.",
    .run = run_tls,
};

/* --- logical decoding ------------------------------------------------------------------------ */

static void run_wal_level(struct run *run, struct outcome *out)
{
    const struct postgres_server *s = server(run);
    const struct postgres_recipe *r = postgres_recipe(s->platform);
    outcome_tried(out, "SHOW wal_level as %s", s->admin);
    if (strcmp(s->wal_level, "logical") == 0) {
        outcome_pass(out, "logical%s",
                     s->wal_level_pending ? ", but another value waits for a restart" : "");
        return;
    }
    outcome_fail(out, "wal_level", "wal_level is %s; Estuary needs logical", s->wal_level);
    outcome_why(out,
                "Estuary reads changes from the write-ahead log; at \"%s\" they are not in it in a "
                "form that can be decoded. The capture would refuse to start.",
                s->wal_level);
    outcome_evidence(out, "wal_level = %s, pending restart: %s%s%s%s%s", s->wal_level,
                     s->wal_level_pending ? "yes" : "no", r->setting != NULL ? ", " : "",
                     r->setting != NULL ? r->setting : "", r->setting != NULL ? " = " : "",
                     r->setting == NULL      ? ""
                     : s->wal_switch != NULL ? s->wal_switch
                                             : "not there");
    if (s->wal_level_pending) {
        outcome_fix(out, r->who,
                    "restart the server: the new value is set already and waits for it");
    } else {
        AUTO(xfree) char *command = postgres_wal_command(s->platform, s->host);
        outcome_fix(out, r->who, "%s", r->switch_on);
        if (command != NULL)
            outcome_copy_command(out, "%s", command);
    }
    outcome_link(out, r->link);
}

const struct check postgres_check_wal_level = {
    .id = "postgres.wal_level",
    .title = "wal_level is logical",
    .reads = (const char *const[]){FACT_SERVER, NULL},
    .after = (const char *const[]){"postgres.version", NULL},
    .severity = SEV_BLOCKS,
    .cause =
        "Logical decoding is off, or was switched on and the server has not been restarted since.",
    .fix =
        "Own server: ALTER SYSTEM SET wal_level = 'logical' and restart. RDS and Aurora: "
        "rds.logical_replication = 1 in the parameter group and reboot. Cloud SQL: "
        "cloudsql.logical_decoding = on. AlloyDB: alloydb.logical_decoding = on. Azure: wal_level "
        "= logical and restart. Neon: enable logical replication in the project's settings.",
    .run = run_wal_level,
};

static void run_primary(struct run *run, struct outcome *out)
{
    const struct postgres_server *s = server(run);
    if (!s->recovering && !s->read_only) {
        outcome_pass(out, "takes writes");
        return;
    }
    if (s->recovering) {
        outcome_fail(out, "25006", "this server is a standby: it replays another one's log");
        outcome_why(
            out, "Estuary writes its watermarks and the publication must be made on the primary.");
        outcome_fix(out, WHO_YOU, "use the address of the primary (writer)");
    } else {
        outcome_fail(out, "25006",
                     "transactions are read-only here (default_transaction_read_only = on)");
        outcome_why(out, "Estuary writes its watermarks with each step of a backfill.");
        outcome_fix(
            out, WHO_DBA,
            "set default_transaction_read_only = off for the database and the capture user");
    }
}

const struct check postgres_check_primary = {
    .id = "postgres.primary",
    .title = "the server is the primary",
    .reads = (const char *const[]){FACT_SERVER, NULL},
    .severity = SEV_BLOCKS,
    .cause = "The address leads to a standby or reader, or all transactions are read-only.",
    .fix = "Use the address of the primary (the writer endpoint of a cluster).",
    .run = run_primary,
};

/* --- free places ----------------------------------------------------------------------------- */

static void fix_by_raising(struct outcome *out, const struct postgres_server *s,
                           const char *setting, int value)
{
    const struct postgres_recipe *r = postgres_recipe(s->platform);
    outcome_fix(out, r->who, "raise %s to %d and restart, or free one", setting, value);
    if (s->platform == POSTGRES_PLAIN)
        outcome_copy_command(out, "ALTER SYSTEM SET %s = %d;", setting, value);
}

static void run_slots_free(struct run *run, struct outcome *out)
{
    const struct postgres_server *s = server(run);
    const struct postgres_slots *slots = run_fact(run, FACT_SLOTS, &postgres_slots_type);
    if (postgres_slots_find(slots, run_text(run, "postgres.slot")) != NULL) {
        outcome_pass(out, "the capture's slot is there; %d of %d used", s->used_slots,
                     s->max_slots);
        return;
    }
    if (s->used_slots < s->max_slots) {
        outcome_pass(out, "%d of %d free", s->max_slots - s->used_slots, s->max_slots);
        return;
    }
    outcome_fail(out, "53400", "all %d replication slots are in use", s->max_slots);
    outcome_why(out, "Estuary makes a slot of its own when the capture starts; the failure would "
                     "only show as \"replication slot … does not exist\".");
    for (size_t i = 0; i < slots->count; i++) {
        const struct postgres_slot *r = &slots->rows[i];
        AUTO(xfree) char *kept = postgres_size_text(r->retained);
        AUTO(xfree)
        char *line = xasprintf("%s, keeps %s of log", r->active ? "in use" : "idle", kept);
        outcome_item(out, r->active ? STATUS_PASSED : STATUS_WARNED, r->name, line,
                     r->active ? NULL : "drop it, if its owner agrees: pg_drop_replication_slot");
    }
    fix_by_raising(out, s, "max_replication_slots", s->max_slots + 5);
}

const struct check postgres_check_slots_free = {
    .id = "postgres.slots_free",
    .title = "a replication slot is free",
    .reads = (const char *const[]){FACT_SERVER, FACT_SLOTS, "postgres.slot", NULL},
    .severity = SEV_BLOCKS,
    .cause = "max_replication_slots is used up, often by slots that nobody reads any more.",
    .fix = "Drop slots that are no longer needed, or raise max_replication_slots and restart.",
    .run = run_slots_free,
};

static void run_senders_free(struct run *run, struct outcome *out)
{
    const struct postgres_server *s = server(run);
    if (s->used_senders < s->max_senders) {
        outcome_pass(out, "%d of %d free", s->max_senders - s->used_senders, s->max_senders);
        return;
    }
    outcome_fail(out, "53300", "all %d WAL senders are in use", s->max_senders);
    outcome_why(out, "Each reader of a slot and each standby needs one while it is connected.");
    fix_by_raising(out, s, "max_wal_senders", s->max_senders + 5);
}

const struct check postgres_check_senders_free = {
    .id = "postgres.senders_free",
    .title = "a WAL sender is free",
    .reads = (const char *const[]){FACT_SERVER, NULL},
    .severity = SEV_BLOCKS,
    .cause = "max_wal_senders is used up by standbys and other readers of the log.",
    .fix = "Raise max_wal_senders and restart.",
    .run = run_senders_free,
};

static void run_connections_free(struct run *run, struct outcome *out)
{
    const struct postgres_server *s = server(run);
    int free = s->max_connections - s->used_connections;
    if (free >= CONNECTIONS_NEEDED) {
        outcome_pass(out, "%d of %d free", free, s->max_connections);
        return;
    }
    outcome_warn(out, "only %d of %d connections are free", free > 0 ? free : 0,
                 s->max_connections);
    outcome_why(out, "Estuary opens up to %d; without them the capture stops and starts again.",
                CONNECTIONS_NEEDED);
    outcome_fix(out, WHO_DBA, "close idle connections, or raise max_connections and restart");
}

const struct check postgres_check_connections_free = {
    .id = "postgres.connections_free",
    .title = "connections are free",
    .reads = (const char *const[]){FACT_SERVER, NULL},
    .severity = SEV_WARNS,
    .cause = "max_connections is nearly used up.",
    .fix = "Close idle connections, put the application behind a pooler, or raise max_connections.",
    .run = run_connections_free,
};
