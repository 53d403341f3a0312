/* Transactions with short waits for locks (transact.h). */
#include "postgres/transact.h"

#include <libpq-fe.h>
#include <string.h>

#include "core/mem.h"
#include "core/secret.h"
#include "postgres/facts.h"
#include "postgres/survey.h"

#define PAUSE_MS 1400 /* between tries, in which those that queued behind us go on */
#define RACE_PAUSE_MS 100
#define RESERVE_MS 4000 /* of the deadline: for a last try and its end */

struct holder {
    int pid;
    char *text; /* "pid 4711: app@10.0.3.7, idle in transaction for 4 min, "UPDATE …"" */
};

/* Holders of a lock that conflicts with SHARE UPDATE EXCLUSIVE or stronger; those that only read or
 * write rows come last, as they stand in the way of ALTER TABLE alone. */
static const char sql_holder[] =
    "SELECT a.pid, a.usename, a.application_name, host(a.client_addr) AS client, a.state,"
    " extract(epoch FROM clock_timestamp() - a.xact_start)::bigint AS age, left(a.query, 80) AS "
    "query"
    " FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype = 'relation' AND "
    "l.granted"
    " AND l.pid <> pg_backend_pid() AND l.database = (SELECT oid FROM pg_database WHERE datname ="
    " current_database()) AND l.relation IN (SELECT to_regclass(t.name) FROM unnest($1::text[]) AS "
    "t(name))"
    " ORDER BY l.mode IN ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock'), a.xact_start "
    "LIMIT 1";

static void find_holder(struct run *run, struct pg *pg, const struct postgres_work *w,
                        struct holder *out)
{
    xfree(out->text);
    *out = (struct holder){0};
    if (w->relation_count == 0)
        return;
    AUTO(xfree) char *names = postgres_array_literal(w->relations, w->relation_count);
    const char *const params[] = {names};
    AUTO(pg_result_free) struct pg_result *r = pg_query(run, pg, sql_holder, params, 1, NULL);
    if (r == NULL || pg_rows(r) == 0)
        return;
    AUTO(xfree) char *age = postgres_age_text(pg_number(r, 0, "age", 0));
    const char *client = pg_cell(r, 0, "client");
    const char *query = pg_cell(r, 0, "query");
    out->pid = (int)pg_number(r, 0, "pid", 0);
    out->text = xasprintf("pid %d: %s%s%s, %s for %s%s%s%s", out->pid, pg_cell(r, 0, "usename"),
                          client[0] != '\0' ? "@" : "", client, pg_cell(r, 0, "state"), age,
                          query[0] != '\0' ? ", \"" : "", query, query[0] != '\0' ? "\"" : "");
}

static int execute(struct run *run, struct pg *pg, const char *sql, struct problem *err)
{
    struct pg_result *r = pg_query(run, pg, sql, NULL, 0, err);
    pg_result_free(r);
    return r != NULL ? 0 : -1;
}

static int attempt(struct run *run, struct pg *pg, const struct postgres_work *w,
                   struct problem *err)
{
    if (execute(run, pg, "BEGIN", err) != 0)
        return -1;
    int rc = 0;
    for (size_t i = 0; i < w->count && rc == 0; i++)
        rc = execute(run, pg, w->statements[i], err);
    if (rc == 0 && w->guard != NULL)
        rc = w->guard(run, pg, w->ctx, err);
    if (rc == 0)
        return execute(run, pg, "COMMIT", err);
    /* On a lost connection this fails, and the server has rolled back by itself. */
    execute(run, pg, "ROLLBACK", NULL);
    return -1;
}

static void explain_lock(struct problem *err, const struct holder *h)
{
    problem_fail(err, PROBLEM_CONFLICT, "55P03", "a lock was not got in time; nothing was changed");
    if (h->text == NULL) {
        problem_fix(err, WHO_DBA, "apply again when less is going on");
        return;
    }
    problem_why(err, "It is held by %s.", h->text);
    problem_fix(err, WHO_DBA, "let that transaction end, or end it, then apply again");
    problem_evidence(err, "held by %s", h->text);
    problem_copy_command(err, "SELECT pg_terminate_backend(%d);", h->pid);
}

/* Two that change the same row of the server's own catalog at once, here GRANT and ALTER TABLE on
 * one table side by side, or somebody else's: the second is refused without a code of its own. */
static bool lost_race(const struct problem *p)
{
    return p->code != NULL && strcmp(p->code, "XX000") == 0 && p->what != NULL &&
           strstr(p->what, "tuple concurrently updated") != NULL;
}

static void explain_race(struct problem *err)
{
    problem_fail(err, PROBLEM_CONFLICT, "XX000", "others keep changing the same thing");
    problem_why(err, "The server does not let two at once; nothing was changed.");
    problem_fix(err, WHO_DBA, "apply again when less is going on");
}

static void log_notices(struct run *run, struct pg *pg)
{
    AUTO_TEXT notices = TEXT_INIT;
    pg_take_notices(pg, &notices);
    if (notices.len > 0)
        run_log(run, "server: %s", notices.s);
}

int postgres_transact(struct run *run, struct pg *pg, const struct postgres_work *w,
                      struct problem *err)
{
    struct holder holder = {0};
    int rc;
    for (;;) {
        AUTO_PROBLEM p = PROBLEM_INIT;
        rc = attempt(run, pg, w, &p);
        log_notices(run, pg);
        if (rc == 0)
            break;
        bool lock = p.code != NULL && strcmp(p.code, "55P03") == 0;
        bool race = lost_race(&p);
        if ((!lock && !race) || !pg_alive(pg)) {
            problem_move(err, &p);
            break;
        }
        int left = run_left_ms(run) - RESERVE_MS;
        if (race) {
            if (left <= POSTGRES_LOCK_WAIT_MS)
                explain_race(err);
            else if (run_sleep(run, RACE_PAUSE_MS, err) == 0)
                continue;
            break;
        }
        find_holder(run, pg, w, &holder);
        if (left <= POSTGRES_LOCK_WAIT_MS) {
            explain_lock(err, &holder);
            break;
        }
        AUTO(xfree)
        char *doing = xasprintf("waits for a lock held by %s; gives up by itself in %d s",
                                holder.text != NULL ? holder.text : "another session", left / 1000);
        run_progress(run, 0, 0, doing);
        if (run_sleep(run, PAUSE_MS, err) != 0)
            break;
    }
    xfree(holder.text);
    return rc;
}

char *postgres_verifier(struct pg *pg, struct secret *password, const char *user,
                        struct problem *err)
{
    char *v = PQencryptPasswordConn(pg_raw(pg), secret_bytes(password), user, "scram-sha-256");
    if (v == NULL)
        problem_fail(err, PROBLEM_LOCAL, "scram",
                     "the password could not be turned into a verifier");
    return v;
}

void postgres_verifier_free(char *verifier)
{
    if (verifier == NULL)
        return;
    explicit_bzero(verifier, strlen(verifier));
    PQfreemem(verifier);
}
