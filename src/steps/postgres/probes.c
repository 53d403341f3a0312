/* Checks as the capture user that write something and take it back: the watermarks table, and a
 * change that comes through. */
#include <string.h>

#include "core/mem.h"
#include "postgres/facts.h"
#include "postgres/round_trip.h"
#include "steps/postgres/inputs.h"
#include "steps/postgres/postgres.h"

#define LOCK_TIMEOUT_MS 5000

/* --- writing the watermarks table ------------------------------------------------------------- */

static const struct write_row {
    const char *state, *what, *why;
    enum who who;
    const char *fix;
} write_rows[] = {
    {"42P01", "the watermarks table is not there", NULL, WHO_YOU, "apply the plan, which makes it"},
    {"42501", "the capture user may not write the watermarks table",
     "It needs USAGE on the schema, and SELECT, INSERT and UPDATE on the table: INSERT alone is "
     "not enough.",
     WHO_DBA, "apply the plan, or GRANT SELECT, INSERT, UPDATE on it"},
    {"42P10", "the watermarks table has no unique column slot",
     "Estuary writes one row a slot (ON CONFLICT) and needs a primary key or unique index there.",
     WHO_YOU, "choose another name for it, so that one is made"},
    {"42703", "the watermarks table has other columns", NULL, WHO_YOU,
     "choose another name for it, so that one is made"},
    {"25006", "transactions are read-only here",
     "The server is a standby, or default_transaction_read_only is on.", WHO_YOU,
     "use the primary's address"},
    {"55P03", "the watermarks table is locked", NULL, WHO_DBA, "check again when the lock is gone"},
};

static void write_failed(struct outcome *out, const struct problem *p)
{
    outcome_problem(out, p);
    for (size_t i = 0; p->code != NULL && i < ARRAY_LEN(write_rows); i++) {
        if (strcmp(p->code, write_rows[i].state) != 0)
            continue;
        outcome_fail(out, p->code, "%s", write_rows[i].what);
        if (write_rows[i].why != NULL)
            outcome_why(out, "%s", write_rows[i].why);
        outcome_fix(out, write_rows[i].who, "%s", write_rows[i].fix);
        outcome_evidence(out, "%s", p->evidence != NULL ? p->evidence : p->what);
        return;
    }
}

static int write_and_roll_back(struct run *run, struct pg *pg, const char *table,
                               struct problem *err)
{
    /* The name unquoted and the form of the connector's own statement. */
    AUTO(xfree)
    char *sql =
        xasprintf("INSERT INTO %s (slot, watermark) VALUES ('sluice-probe', 'existence-check') ON "
                  "CONFLICT (slot) DO UPDATE SET watermark = 'existence-check'",
                  table);
    const char *const statements[] = {"BEGIN", sql, "ROLLBACK"};
    for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
        struct pg_result *r = pg_query(run, pg, statements[i], NULL, 0, err);
        pg_result_free(r);
        if (r == NULL)
            return -1;
    }
    return 0;
}

static void run_watermarks_write(struct run *run, struct outcome *out)
{
    struct postgres_login login = postgres_capture_login(run);
    const char *table = run_text(run, "postgres.watermarks");
    AUTO_PROBLEM err = PROBLEM_INIT;
    outcome_tried(out, "upsert into %s as %s, rolled back", table, login.user);
    struct pg *pg = postgres_open(run, &login, LOCK_TIMEOUT_MS, &err);
    if (pg == NULL) {
        outcome_problem(out, &err);
        return;
    }
    int rc = write_and_roll_back(run, pg, table, &err);
    pg_close(pg);
    if (rc == 0)
        outcome_pass(out, "%s written, rolled back", table);
    else
        write_failed(out, &err);
}

const struct check postgres_check_watermarks_write = {
    .id = "postgres.watermarks_write",
    .title = "writes the watermarks table",
    .reads = (const char *const[]){READS_CAPTURE, "postgres.watermarks", NULL},
    .after = (const char *const[]){"postgres.connect_capture", NULL},
    .needs = (const char *const[]){"postgres.role", "postgres.password", "postgres.grants",
                                   "postgres.watermarks", NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_PROBES,
    .service = "postgres",
    .touches = "writes a row to the watermarks table in a transaction that is rolled back",
    .cause =
        "The table is missing or of another form, or SELECT, INSERT or UPDATE on it is missing.",
    .fix = "Apply the plan; choose another name when a table of another form has this one.",
    .run = run_watermarks_write,
};

/* --- the round trip --------------------------------------------------------------------------- */

static void passed(struct outcome *out, const struct postgres_round_trip *t)
{
    outcome_pass(out, "a change came through after %lld ms, the slot is gone",
                 (long long)t->took_ms);
    outcome_evidence(out,
                     "temporary slot %s with pgoutput, publication %s: Begin, Relation, change and "
                     "Commit of %s seen; slot gone%s%s",
                     t->probe, t->publication, t->watermarks,
                     t->row_stays ? "; its row stays, as Estuary's own check leaves it: " : "",
                     t->row_stays ? t->slot : "");
}

static void run_cdc_round_trip(struct run *run, struct outcome *out)
{
    struct postgres_round_trip t = {
        .login = postgres_capture_login(run),
        .publication = run_text(run, "postgres.publication"),
        .watermarks = run_text(run, "postgres.watermarks"),
        .slot = run_text(run, "postgres.slot"),
    };
    AUTO_PROBLEM err = PROBLEM_INIT;
    outcome_tried(out, "temporary slot, START_REPLICATION with publication %s, write to %s, as %s",
                  t.publication, t.watermarks, t.login.user);
    if (postgres_round_trip(run, &t, &err) == 0)
        passed(out, &t);
    else
        outcome_problem(out, &err);
    postgres_round_trip_release(&t);
}

const struct check postgres_check_cdc_round_trip = {
    .id = "postgres.cdc_round_trip",
    .title = "CDC round trip",
    .reads = (const char *const[]){READS_CAPTURE, "postgres.publication", "postgres.watermarks",
                                   "postgres.slot", NULL},
    .after =
        (const char *const[]){"postgres.wal_level", "postgres.primary", "postgres.slots_free",
                              "postgres.replication_connection", "postgres.watermarks_write", NULL},
    .needs = (const char *const[]){"postgres.role", "postgres.password", "postgres.grants",
                                   "postgres.watermarks", "postgres.publication", NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_PROBES,
    .service = "postgres",
    .touches = "makes a temporary replication slot, gone with its connection, and writes the "
               "capture's row to the watermarks table, as Estuary's own check does",
    .deadline_ms = 60000,
    .cause =
        "A transaction that does not end holds up the slot, no slot or sender is free, the "
        "publication is not known to the log reader, or does not hand out the watermarks table.",
    .fix = "See the message: end the transaction, free a slot, or mend the publication, then check "
           "again.",
    .run = run_cdc_round_trip,
};
