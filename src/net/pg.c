/* Statements: libpq in non-blocking mode, each wait beside cancel and deadline. */
#include "net/pg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/bug.h"
#include "core/mem.h"
#include "net/pg_impl.h"

#define CANCEL_STACK ((size_t)256 << 10)

struct pg_result {
    PGresult *r;
};

/* PQcancel connects and waits by itself, without end when packets are dropped. */
static void *cancel_body(void *arg)
{
    char ignored[256];
    PQcancel(arg, ignored, sizeof ignored);
    PQfreeCancel(arg);
    return NULL;
}

void pg_abandon(struct pg *pg)
{
    if (pg->conn == NULL)
        return;
    if (PQtransactionStatus(pg->conn) == PQTRANS_ACTIVE) {
        PGcancel *cancel = PQgetCancel(pg->conn);
        if (cancel != NULL && net_thread(cancel_body, cancel, CANCEL_STACK, NULL) != 0)
            PQfreeCancel(cancel);
    }
    PQfinish(pg->conn);
    pg->conn = NULL;
}

int pg_usable(const struct pg *pg, struct problem *err)
{
    if (pg->conn != NULL)
        return 0;
    problem_fail(err, PROBLEM_UNREACHABLE, "pg lost",
                 "the connection to PostgreSQL was given up before");
    problem_fix(err, WHO_YOU, "Try again.");
    return -1;
}

int pg_wait(struct run *run, struct pg *pg, short events, const char *phase, struct problem *err)
{
    enum net_waited w = net_wait(run, PQsocket(pg->conn), events, -1);
    if (w == NET_READY)
        return 0;
    pg_abandon(pg);
    if (run_over(run, phase, err) == 0)
        problem_fail(err, PROBLEM_UNREACHABLE, "pg timeout",
                     "PostgreSQL did not answer in time (%s)", phase);
    return -1;
}

int pg_flush(struct run *run, struct pg *pg, struct problem *err)
{
    int rc;
    while ((rc = PQflush(pg->conn)) == 1) {
        if (pg_wait(run, pg, POLLIN | POLLOUT, "sending to PostgreSQL", err) != 0)
            return -1;
        if (PQconsumeInput(pg->conn) == 0) /* a server that cannot send does not read either */
            break;
    }
    return rc == 0 ? 0 : pg_error_lost(pg, err);
}

int pg_ready(struct run *run, struct pg *pg, struct problem *err)
{
    if (pg_flush(run, pg, err) != 0)
        return -1;
    while (PQisBusy(pg->conn)) {
        if (pg_wait(run, pg, POLLIN, "PostgreSQL runs the statement", err) != 0)
            return -1;
        /* Lost: PQgetResult says so at once, while PQisBusy would stay true. */
        if (PQconsumeInput(pg->conn) == 0)
            break;
    }
    return 0;
}

static bool is_failure(const PGresult *r)
{
    ExecStatusType s = PQresultStatus(r);
    return s == PGRES_FATAL_ERROR || s == PGRES_BAD_RESPONSE || s == PGRES_NONFATAL_ERROR;
}

/* A failed result: of the statement, or of the connection. */
static int fail_result(struct pg *pg, const PGresult *r, const char *name, struct problem *err)
{
    if (PQstatus(pg->conn) == CONNECTION_OK || PQresultErrorField(r, PG_DIAG_SQLSTATE) != NULL)
        return pg_error_result(r, name, err);
    return pg_error_lost(pg, err);
}

static bool is_copy(const PGresult *r)
{
    ExecStatusType s = PQresultStatus(r);
    return s == PGRES_COPY_IN || s == PGRES_COPY_OUT || s == PGRES_COPY_BOTH;
}

/* All results of what was sent: the last one is kept, the first failure decides. */
static int collect(struct run *run, struct pg *pg, PGresult **last, struct problem *err)
{
    int rc = 0;
    *last = NULL;
    for (;;) {
        if (pg_ready(run, pg, rc == 0 ? err : NULL) != 0) {
            rc = -1;
            break;
        }
        PGresult *r = PQgetResult(pg->conn);
        if (r == NULL)
            break;
        if (is_copy(r))
            bug("COPY was sent as a query");
        if (is_failure(r) && rc == 0)
            rc = fail_result(pg, r, NULL, err);
        PQclear(*last);
        *last = r;
    }
    if (rc != 0) {
        PQclear(*last);
        *last = NULL;
    }
    return rc;
}

static int send_simple(struct run *run, struct pg *pg, const char *sql, PGresult **last,
                       struct problem *err)
{
    if (pg_usable(pg, err) != 0 || run_over(run, "asking PostgreSQL", err) != 0)
        return -1;
    if (PQsendQuery(pg->conn, sql) == 0)
        return pg_error_lost(pg, err);
    return collect(run, pg, last, err);
}

struct pg_result *pg_query(struct run *run, struct pg *pg, const char *sql,
                           const char *const *params, int count, struct problem *err)
{
    PGresult *last = NULL;
    if (pg->replication) {
        if (count != 0)
            bug("parameters on a replication connection");
        if (send_simple(run, pg, sql, &last, err) != 0)
            return NULL;
    } else {
        if (pg_usable(pg, err) != 0 || run_over(run, "asking PostgreSQL", err) != 0)
            return NULL;
        if (PQsendQueryParams(pg->conn, sql, count, NULL, params, NULL, NULL, 0) == 0) {
            pg_error_lost(pg, err);
            return NULL;
        }
        if (collect(run, pg, &last, err) != 0)
            return NULL;
    }
    struct pg_result *result = xcalloc(1, sizeof *result);
    result->r = last;
    return result;
}

int pg_rows(const struct pg_result *r)
{
    return PQntuples(r->r);
}

static int column_of(const struct pg_result *r, int row, const char *column)
{
    /* Not PQfnumber: it folds case unless the name is quoted. */
    for (int i = 0; i < PQnfields(r->r); i++) {
        if (strcmp(PQfname(r->r, i), column) == 0) {
            if (row < 0 || row >= PQntuples(r->r))
                bug("row %d of a result with %d rows", row, PQntuples(r->r));
            return i;
        }
    }
    bug("the result has no column %s", column);
}

const char *pg_cell(const struct pg_result *r, int row, const char *column)
{
    return PQgetvalue(r->r, row, column_of(r, row, column));
}

bool pg_is_null(const struct pg_result *r, int row, const char *column)
{
    return PQgetisnull(r->r, row, column_of(r, row, column)) == 1;
}

long long pg_number(const struct pg_result *r, int row, const char *column, long long otherwise)
{
    const char *s = pg_cell(r, row, column);
    char *end;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    return end == s || *end != '\0' || errno != 0 ? otherwise : v;
}

bool pg_true(const struct pg_result *r, int row, const char *column)
{
    return strcmp(pg_cell(r, row, column), "t") == 0;
}

void pg_result_free(struct pg_result *r)
{
    if (r == NULL)
        return;
    PQclear(r->r);
    xfree(r);
}

/* A replication connection knows no pipeline: one after the other, with the same outcome. */
static int one_by_one(struct run *run, struct pg *pg, struct pg_item *items, size_t count,
                      struct problem *err)
{
    for (size_t i = 0; i < count; i++) {
        items[i].result = pg_query(run, pg, items[i].sql, items[i].params, items[i].param_count,
                                   &items[i].problem);
        if (items[i].result == NULL && (pg->conn == NULL || PQstatus(pg->conn) != CONNECTION_OK)) {
            problem_move(err, &items[i].problem);
            return -1;
        }
    }
    return 0;
}

/* The results of one statement and its Sync. */
static int read_item(struct run *run, struct pg *pg, struct pg_item *item, struct problem *err)
{
    for (;;) {
        if (pg_ready(run, pg, err) != 0)
            return -1;
        PGresult *r = PQgetResult(pg->conn);
        if (r == NULL) {
            if (PQstatus(pg->conn) != CONNECTION_OK)
                return pg_error_lost(pg, err);
            continue; /* between the statement and its Sync */
        }
        if (PQresultStatus(r) == PGRES_PIPELINE_SYNC) {
            PQclear(r);
            return 0;
        }
        if (is_failure(r) || PQresultStatus(r) == PGRES_PIPELINE_ABORTED) {
            fail_result(pg, r, item->name, &item->problem);
            PQclear(r);
            if (PQstatus(pg->conn) == CONNECTION_OK)
                continue;
            problem_move(err, &item->problem);
            return -1;
        }
        pg_result_free(item->result);
        item->result = xcalloc(1, sizeof *item->result);
        item->result->r = r;
    }
}

static int send_items(struct pg *pg, const struct pg_item *items, size_t count, struct problem *err)
{
    if (PQenterPipelineMode(pg->conn) == 0)
        return pg_error_lost(pg, err);
    for (size_t i = 0; i < count; i++) {
        if (PQsendQueryParams(pg->conn, items[i].sql, items[i].param_count, NULL, items[i].params,
                              NULL, NULL, 0) == 0 ||
            PQpipelineSync(pg->conn) == 0)
            return pg_error_lost(pg, err);
    }
    return 0;
}

int pg_pipeline(struct run *run, struct pg *pg, struct pg_item *items, size_t count,
                struct problem *err)
{
    if (pg_usable(pg, err) != 0 || run_over(run, "asking PostgreSQL", err) != 0)
        return -1;
    if (pg->replication)
        return one_by_one(run, pg, items, count, err);
    if (send_items(pg, items, count, err) != 0) {
        pg_abandon(pg);
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        if (read_item(run, pg, &items[i], err) != 0) {
            pg_abandon(pg);
            return -1;
        }
    }
    if (PQexitPipelineMode(pg->conn) == 0) {
        pg_error_lost(pg, err);
        pg_abandon(pg);
        return -1;
    }
    return 0;
}

void pg_items_release(struct pg_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pg_result_free(items[i].result);
        items[i].result = NULL;
        problem_release(&items[i].problem);
    }
}
