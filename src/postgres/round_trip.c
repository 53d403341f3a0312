/* The round trip (round_trip.h): reader R speaks replication, writer U is an ordinary connection.
 */
#include "postgres/round_trip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/secret.h"
#include "postgres/facts.h"
#include "postgres/names.h"

#define LOCK_TIMEOUT_MS 10000 /* the server gives up waiting for a transaction by itself */
#define CHANGE_WAIT_MS 10000  /* until the change must have come */
#define GONE_WAIT_MS 5000     /* until the slot must be gone after its connection */
#define STEPS 5

struct trip {
    struct run *run;
    struct postgres_round_trip *t;
    struct pg *reader, *writer;
    int64_t written; /* clock_ms() before the write */
};

void postgres_round_trip_release(struct postgres_round_trip *t)
{
    xfree(t->probe);
    t->probe = NULL;
    text_release(&t->notices);
}

/* --- the reader's guard ----------------------------------------------------------------------- */

static int guard_refused(struct problem *err, const char *shown)
{
    problem_fail(err, PROBLEM_PROTOCOL, "lock_timeout",
                 "a pooler stands between: it dropped lock_timeout");
    problem_why(
        err,
        "The connection was opened with lock_timeout = %d s and has %s. Without it a slot whose "
        "creation waits for a transaction would outlive this program, so none was made.",
        LOCK_TIMEOUT_MS / 1000, shown);
    problem_fix(err, WHO_YOU,
                "use the server's own address; Estuary's capture cannot work through a pooler");
    return -1;
}

static int prove_lock_timeout(struct trip *x, struct problem *err)
{
    AUTO(pg_result_free)
    struct pg_result *r = pg_query(x->run, x->reader, "SHOW lock_timeout", NULL, 0, err);
    if (r == NULL)
        return -1;
    if (pg_rows(r) == 1 && strcmp(pg_cell(r, 0, "lock_timeout"), "10s") == 0)
        return 0;
    return guard_refused(err, pg_rows(r) == 1 ? pg_cell(r, 0, "lock_timeout") : "nothing");
}

/* --- the slot --------------------------------------------------------------------------------- */

/* Every transaction that has written holds a lock on its own number, which anyone may see. */
static const char sql_holders[] =
    "SELECT l.pid, max(age(l.transactionid)) AS age, max(a.usename::text) AS usename, "
    "max(a.application_name) AS"
    " application_name, max(a.datname::text) AS datname, max(a.state) AS state, max(left(a.query, "
    "80)) AS query,"
    " max(extract(epoch FROM clock_timestamp() - a.xact_start)::bigint) AS seconds"
    " FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype = "
    "'transactionid'"
    " AND l.mode = 'ExclusiveLock' AND l.granted AND l.pid IS DISTINCT FROM pg_backend_pid()"
    " GROUP BY l.pid ORDER BY 2 DESC LIMIT 3";

static void describe_holder(const struct pg_result *r, int i, struct text *out)
{
    text_sep(out, "; ");
    if (pg_is_null(r, i, "pid")) {
        text_add(out, "a prepared transaction (pg_prepared_xacts)");
        return;
    }
    const char *application = pg_cell(r, i, "application_name");
    text_addf(out, "pid %s: %s in %s%s%s", pg_cell(r, i, "pid"), pg_cell(r, i, "usename"),
              pg_cell(r, i, "datname"), application[0] != '\0' ? ", " : "", application);
    if (pg_is_null(r, i, "seconds")) /* of other users' sessions a plain user sees no more */
        return;
    AUTO(xfree) char *age = postgres_age_text(pg_number(r, i, "seconds", 0));
    text_addf(out, ", %s for %s: %s", pg_cell(r, i, "state"), age, pg_cell(r, i, "query"));
}

/* Whom the creation will wait for, or waits for; NULL when nobody can be seen. */
static struct pg_result *find_holders(struct trip *x, struct text *out)
{
    struct pg_result *r = pg_query(x->run, x->writer, sql_holders, NULL, 0, NULL);
    for (int i = 0; r != NULL && i < pg_rows(r); i++)
        describe_holder(r, i, out);
    return r;
}

static void explain_wait(struct trip *x, struct problem *err)
{
    AUTO_TEXT holders = TEXT_INIT;
    AUTO(pg_result_free) struct pg_result *r = find_holders(x, &holders);
    problem_fail(err, PROBLEM_CONFLICT, "55P03",
                 "the slot's creation waits for a transaction that does not end");
    problem_why(err,
                "A slot is only ready once all transactions that ran before have ended; Estuary's "
                "would hang in the same way, without an error.%s%s",
                holders.len > 0 ? " Open now: " : "", holders.s);
    problem_fix(err, WHO_DBA,
                "let it end, or end it, then check again; postgres.long_transactions lists those "
                "that are open for long");
    if (holders.len > 0)
        problem_evidence(err, "%s", holders.s);
    if (r != NULL && pg_rows(r) > 0 && !pg_is_null(r, 0, "pid"))
        problem_copy_command(err, "SELECT pg_terminate_backend(%s);", pg_cell(r, 0, "pid"));
}

/* What a refused slot means, by SQLSTATE. */
static const struct slot_row {
    const char *state, *what, *why;
    enum who who;
    const char *fix;
} slot_rows[] = {
    {"53400", "no replication slot is free",
     "max_replication_slots is used up; Estuary's capture would fail at its start.", WHO_DBA,
     "drop slots that nobody reads, or raise max_replication_slots and restart"},
    {"55000", "the server does not decode its log (wal_level)", NULL, WHO_DBA,
     "see postgres.wal_level: set it to logical and restart"},
    {"0A000", "this server is a standby that cannot decode its log",
     "Decoding on a standby exists from PostgreSQL 16 on.", WHO_YOU, "use the primary's address"},
    {"42501", "the capture user may not make a slot", "It has no right to replicate.", WHO_DBA,
     "ALTER ROLE … REPLICATION; on RDS and Aurora GRANT rds_replication TO …"},
    {"42601", "the connection does not speak replication",
     "What answers takes the command for SQL: a pooler in between.", WHO_YOU,
     "use the server's own address"},
};

static int slot_failed(struct trip *x, struct problem *p, struct problem *err)
{
    const char *code = p->code != NULL ? p->code : "";
    if (strcmp(code, "55P03") == 0) {
        explain_wait(x, err);
        return -1;
    }
    for (size_t i = 0; i < ARRAY_LEN(slot_rows); i++) {
        if (strcmp(code, slot_rows[i].state) != 0)
            continue;
        problem_fail(err, p->kind, code, "%s", slot_rows[i].what);
        if (slot_rows[i].why != NULL)
            problem_why(err, "%s", slot_rows[i].why);
        problem_fix(err, slot_rows[i].who, "%s", slot_rows[i].fix);
        problem_evidence(err, "%s", p->evidence != NULL ? p->evidence : p->what);
        return -1;
    }
    problem_move(err, p);
    return -1;
}

static int make_slot(struct trip *x, struct problem *err)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    struct secret *word = secret_generate(10);
    x->t->probe = xasprintf("sluice_probe_%s", secret_bytes(word));
    secret_unref(word);
    for (char *c = x->t->probe; *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    AUTO(xfree)
    char *sql = xasprintf("CREATE_REPLICATION_SLOT %s TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT",
                          x->t->probe);
    AUTO_TEXT holders = TEXT_INIT;
    pg_result_free(find_holders(x, &holders));
    AUTO(xfree)
    char *doing = xasprintf("makes a temporary slot%s%s",
                            holders.len > 0 ? "; waits for the end of " : "", holders.s);
    run_progress(x->run, 1, STEPS, doing);
    struct pg_result *r = pg_query(x->run, x->reader, sql, NULL, 0, &p);
    pg_result_free(r);
    return r != NULL ? 0 : slot_failed(x, &p, err);
}

/* --- the stream ------------------------------------------------------------------------------- */

static int start_stream(struct trip *x, struct problem *err)
{
    /* The name stands where and as the connector puts it. */
    AUTO(xfree)
    char *sql = xasprintf(
        "START_REPLICATION SLOT %s LOGICAL 0/0 (\"proto_version\" '1', \"publication_names\" '%s')",
        x->t->probe, x->t->publication);
    run_progress(x->run, 2, STEPS, "starts to read the log");
    return pg_copy_both(x->run, x->reader, sql, err);
}

/* The row Estuary's own check writes; one that is there is written as it is, so that a running
 * capture's mark is not spoilt. */
static int write_mark(struct trip *x, bool *made, struct problem *err)
{
    AUTO(xfree)
    char *sql = xasprintf(
        "INSERT INTO %s AS w (slot, watermark) VALUES ($1, 'existence-check') ON CONFLICT (slot) "
        "DO UPDATE SET watermark = w.watermark RETURNING xmax = 0 AS made",
        x->t->watermarks);
    const char *const params[] = {x->t->slot};
    run_progress(x->run, 3, STEPS, "writes to the watermarks table");
    x->written = clock_ms();
    AUTO(pg_result_free) struct pg_result *r = pg_query(x->run, x->writer, sql, params, 1, err);
    if (r == NULL)
        return -1;
    *made = pg_rows(r) > 0 && pg_true(r, 0, "made");
    return 0;
}

/* The connector needs no DELETE, so the capture user seldom has it; then the row stays, as
 * Estuary's own check leaves it. Asked first: a refused statement would stand in the server's log.
 */
static void remove_mark(struct trip *x)
{
    const char *const table[] = {x->t->watermarks};
    const char *const slot[] = {x->t->slot};
    x->t->row_stays = true;
    AUTO(pg_result_free)
    struct pg_result *may =
        pg_query(x->run, x->writer, "SELECT has_table_privilege(to_regclass($1), 'DELETE') AS may",
                 table, 1, NULL);
    if (may == NULL || pg_rows(may) == 0 || !pg_true(may, 0, "may"))
        return;
    AUTO(xfree)
    char *sql = xasprintf("DELETE FROM %s WHERE slot = $1 AND watermark = 'existence-check'",
                          x->t->watermarks);
    struct pg_result *r = pg_query(x->run, x->writer, sql, slot, 1, NULL);
    x->t->row_stays = r == NULL;
    pg_result_free(r);
}

/* What PostgreSQL 18 says instead of failing. */
static bool skipped(const struct trip *x)
{
    return strstr(x->t->notices.s, "skipped loading publication") != NULL;
}

static int unknown_publication(const struct trip *x, struct problem *err)
{
    problem_fail(err, PROBLEM_MISSING, "42704",
                 "the server knows no publication %s when it reads the log", x->t->publication);
    problem_why(err, "It looks the name up in lower case, as it stood when the change was written; "
                     "from PostgreSQL 18 on a missing one is skipped without an error.");
    problem_fix(err, WHO_YOU,
                "see postgres.publication: it must exist, in lower case, before the slot is made");
    if (x->t->notices.len > 0)
        problem_evidence(err, "%s", x->t->notices.s);
    return -1;
}

static int nothing_came(const struct trip *x, struct problem *err)
{
    if (skipped(x))
        return unknown_publication(x, err);
    const struct postgres_round_trip *t = x->t;
    problem_fail(err, PROBLEM_MISSING, "silence", "the change did not come through within %d s",
                 CHANGE_WAIT_MS / 1000);
    if (t->changed || t->began)
        problem_why(
            err, "%s",
            t->changed ? "A change came, but not its commit."
                       : "The transaction came (Begin and Commit), without the change in it: the "
                         "publication does not hand out this table, or neither INSERT nor UPDATE.");
    else
        problem_why(err, "Not even its transaction was handed out: the watermarks table is not in "
                         "the publication, or the server's log is far behind.");
    problem_fix(err, WHO_YOU, "see postgres.publication: %s must be in %s, with INSERT and UPDATE",
                t->watermarks, t->publication);
    if (t->notices.len > 0)
        problem_evidence(err, "%s", t->notices.s);
    return -1;
}

static int read_change(struct trip *x, struct problem *err)
{
    AUTO(xfree) char *schema = NULL;
    AUTO(xfree) char *table = NULL;
    if (postgres_split_table(x->t->watermarks, &schema, &table, err) != 0)
        return -1;
    struct postgres_stream s = {.schema = schema, .table = table};
    int64_t start = clock_ms();
    bool done = false;
    run_progress(x->run, 4, STEPS, "waits for the change");
    while (!done && clock_ms() - start < CHANGE_WAIT_MS && !skipped(x)) {
        AUTO_PROBLEM p = PROBLEM_INIT;
        char *message = NULL;
        size_t n = 0;
        int rc = pg_copy_next(x->run, x->reader, 500, &message, &n, &p);
        pg_take_notices(x->reader, &x->t->notices);
        if (rc < 0 && p.code != NULL && strcmp(p.code, "42704") == 0)
            return unknown_publication(x, err);
        if (rc < 0) {
            problem_move(err, &p);
            return -1;
        }
        if (rc > 0)
            done = postgres_stream_take(&s, message, n);
        pg_message_free(message);
    }
    x->t->took_ms = clock_ms() - x->written;
    x->t->began = s.began;
    x->t->committed = s.committed;
    x->t->changed = s.changed;
    return done ? 0 : nothing_came(x, err);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* A temporary slot goes with its connection, within a moment. */
static int prove_gone(struct trip *x, struct problem *err)
{
    const char *const params[] = {x->t->probe};
    int64_t start = clock_ms();
    run_progress(x->run, STEPS, STEPS, "sees that the slot is gone");
    for (;;) {
        AUTO(pg_result_free)
        struct pg_result *r = pg_query(
            x->run, x->writer, "SELECT 1 FROM pg_replication_slots WHERE slot_name = $1::name",
            params, 1, err);
        if (r == NULL)
            return -1;
        if (pg_rows(r) == 0)
            return 0;
        if (clock_ms() - start > GONE_WAIT_MS)
            break;
        if (run_sleep(x->run, 50, err) != 0)
            return -1;
    }
    problem_fail(err, PROBLEM_CONFLICT, "slot stays", "the temporary slot %s is still there",
                 x->t->probe);
    problem_fix(err, WHO_DBA, "see who holds it: SELECT * FROM pg_replication_slots");
    problem_copy_command(err, "SELECT pg_drop_replication_slot('%s');", x->t->probe);
    return -1;
}

static int travel(struct trip *x, bool *made, struct problem *err)
{
    if (prove_lock_timeout(x, err) != 0 || make_slot(x, err) != 0 || start_stream(x, err) != 0 ||
        write_mark(x, made, err) != 0)
        return -1;
    return read_change(x, err);
}

int postgres_round_trip(struct run *run, struct postgres_round_trip *t, struct problem *err)
{
    struct trip x = {.run = run, .t = t};
    bool made = false;
    t->notices = TEXT_LIMITED(4096);
    run_progress(run, 0, STEPS, "opens two connections");
    x.writer = postgres_open(run, &t->login, LOCK_TIMEOUT_MS, err);
    x.reader =
        x.writer != NULL ? postgres_open_replication(run, &t->login, LOCK_TIMEOUT_MS, err) : NULL;
    int rc = x.reader != NULL ? travel(&x, &made, err) : -1;
    pg_close(x.reader);
    if (made && pg_alive(x.writer))
        remove_mark(&x);
    /* Of a failed trip the first problem is the one to tell; the slot went with its connection all
     * the same. */
    if (x.writer != NULL && t->probe != NULL && pg_alive(x.writer) &&
        prove_gone(&x, rc == 0 ? err : NULL) != 0)
        rc = -1;
    pg_close(x.writer);
    return rc;
}
