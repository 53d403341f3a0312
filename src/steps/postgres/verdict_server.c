/* Verdicts on the server as a whole: version, logical decoding, free places. No I/O. */
#include "core/run.h"
#include "postgres/facts.h"
#include "steps/postgres/postgres.h"

#define VERSION_LEAST 100000 /* the connector's own bound */

static void run_version(struct run *run, struct outcome *out)
{
    const struct postgres_server *s = run_fact(run, FACT_SERVER, &postgres_server_type);
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
