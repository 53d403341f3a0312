/* Transactions and the replication stream. */
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "core/clock.h"
#include "core/mem.h"
#include "net/pg_impl.h"

#define XLOG_HEADER                                                                                \
    25 /* 'w', start, end, time (PostgreSQL manual, "Streaming Replication Protocol") */
#define KEEPALIVE_LEN 18 /* 'k', end, time, whether an answer is wanted */
#define STATUS_LEN 34    /* 'r', written, flushed, applied, time, whether an answer is wanted */
#define EPOCH_2000 INT64_C(946684800) /* PostgreSQL's time begins there */

/* COMMIT's own wait is not cut by a cancel: a commit whose outcome is not known is worse than a
 * moment more, and the deadline still ends it. */
static int wait_commit(struct run *run, struct pg *pg, struct problem *err)
{
    for (;;) {
        bool unsent = PQflush(pg->conn) == 1;
        if (!unsent && !PQisBusy(pg->conn))
            return 0;
        struct pollfd fd = {.fd = PQsocket(pg->conn), .events = unsent ? POLLIN | POLLOUT : POLLIN};
        int left = run_left_ms(run);
        if (left == 0) {
            pg_abandon(pg);
            problem_fail(err, PROBLEM_UNREACHABLE, "pg commit",
                         "the outcome of the transaction is not known");
            problem_why(err, "COMMIT was sent, but its answer did not come in time.");
            problem_fix(err, WHO_YOU, "Run the checks again: they read what is there now.");
            return -1;
        }
        poll(&fd, 1, left < 1000 ? left : 1000);
        if (PQconsumeInput(pg->conn) == 0)
            return 0; /* lost: PQgetResult says so at once */
    }
}

static int commit(struct run *run, struct pg *pg, struct problem *err)
{
    if (PQsendQuery(pg->conn, "COMMIT") == 0)
        return pg_error_lost(pg, err);
    if (wait_commit(run, pg, err) != 0)
        return -1;
    int rc = 0;
    PGresult *r = PQgetResult(pg->conn);
    if (r == NULL || PQresultStatus(r) != PGRES_COMMAND_OK) {
        if (r != NULL && PQresultErrorField(r, PG_DIAG_SQLSTATE) != NULL) {
            rc = pg_error_result(r, "COMMIT", err);
        } else {
            rc = pg_error_lost(pg, err);
            problem_why(err,
                        "It was lost during COMMIT: whether the changes were made is not known.");
            problem_fix(err, WHO_YOU, "Run the checks again: they read what is there now.");
        }
    } else if (strcmp(PQcmdStatus(r), "COMMIT") != 0) {
        rc = problem_fail(err, PROBLEM_PROTOCOL, "pg commit",
                          "the server rolled the transaction back");
    }
    PQclear(r);
    while (wait_commit(run, pg, NULL) == 0 && (r = PQgetResult(pg->conn)) != NULL)
        PQclear(r);
    return rc;
}

static int simple(struct run *run, struct pg *pg, const char *sql, struct problem *err)
{
    if (PQsendQuery(pg->conn, sql) == 0)
        return pg_error_lost(pg, err);
    int rc = 0;
    for (;;) {
        if (pg_ready(run, pg, rc == 0 ? err : NULL) != 0)
            return -1;
        PGresult *r = PQgetResult(pg->conn);
        if (r == NULL)
            return rc;
        ExecStatusType s = PQresultStatus(r);
        if (s == PGRES_COPY_IN || s == PGRES_COPY_OUT || s == PGRES_COPY_BOTH) {
            PQclear(r);
            pg_abandon(pg);
            return problem_fail(err, PROBLEM_PROTOCOL, "pg copy",
                                "COPY cannot be part of a transaction here");
        }
        if (s == PGRES_FATAL_ERROR && rc == 0)
            rc = PQstatus(pg->conn) == CONNECTION_OK ||
                         PQresultErrorField(r, PG_DIAG_SQLSTATE) != NULL
                     ? pg_error_result(r, NULL, err)
                     : pg_error_lost(pg, err);
        PQclear(r);
    }
}

static int in_transaction(struct run *run, struct pg *pg, const char *sql, struct problem *err)
{
    if (simple(run, pg, "BEGIN", err) != 0)
        return -1;
    int rc = simple(run, pg, sql, err);
    if (rc == 0 && PQtransactionStatus(pg->conn) != PQTRANS_INTRANS)
        rc = problem_fail(err, PROBLEM_PROTOCOL, "pg transaction",
                          "the statements ended the transaction themselves");
    if (rc == 0)
        return commit(run, pg, err);
    /* A closed socket rolls back as well. */
    if (pg->conn != NULL && simple(run, pg, "ROLLBACK", NULL) != 0)
        pg_abandon(pg);
    return -1;
}

int pg_transaction(struct run *run, struct pg *pg, const char *sql, struct text *notices,
                   struct problem *err)
{
    if (pg_usable(pg, err) != 0 || run_over(run, "asking PostgreSQL", err) != 0)
        return -1;
    struct text earlier = pg->notices;
    pg->notices = TEXT_LIMITED(earlier.limit);
    int rc = in_transaction(run, pg, sql, err);
    if (notices != NULL)
        text_add(notices, pg->notices.s);
    else
        text_add(&earlier, pg->notices.s);
    text_release(&pg->notices);
    pg->notices = earlier;
    return rc;
}

int pg_copy_both(struct run *run, struct pg *pg, const char *command, struct problem *err)
{
    if (pg_usable(pg, err) != 0 || run_over(run, "starting replication", err) != 0)
        return -1;
    if (PQsendQuery(pg->conn, command) == 0)
        return pg_error_lost(pg, err);
    if (pg_ready(run, pg, err) != 0)
        return -1;
    PGresult *r = PQgetResult(pg->conn);
    if (r != NULL && PQresultStatus(r) == PGRES_COPY_BOTH) {
        PQclear(r);
        return 0;
    }
    int rc;
    if (r != NULL && PQresultErrorField(r, PG_DIAG_SQLSTATE) != NULL)
        rc = pg_error_result(r, NULL, err);
    else if (PQstatus(pg->conn) != CONNECTION_OK)
        rc = pg_error_lost(pg, err);
    else
        rc = problem_fail(err, PROBLEM_PROTOCOL, "pg copy", "the server did not start to stream");
    while (r != NULL) {
        PQclear(r);
        if (pg_ready(run, pg, NULL) != 0)
            break;
        r = PQgetResult(pg->conn);
    }
    return rc;
}

static uint64_t get64(const char *p)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++)
        v = v << 8 | (unsigned char)p[i];
    return v;
}

static void put64(char *p, uint64_t v)
{
    for (int i = 7; i >= 0; i--, v >>= 8)
        p[i] = (char)(v & 0xFF);
}

/* Keeps the server from ending the connection. Flushed and applied stay 0 ("not known"): no slot is
 * moved on by what is only looked at. */
static int answer_keepalive(struct run *run, struct pg *pg, struct problem *err)
{
    char status[STATUS_LEN] = {'r'};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t micros = ((int64_t)now.tv_sec - EPOCH_2000) * 1000000 + now.tv_nsec / 1000;
    put64(status + 1, pg->received);
    put64(status + 25, (uint64_t)micros);
    int rc;
    while ((rc = PQputCopyData(pg->conn, status, sizeof status)) == 0) {
        if (pg_flush(run, pg, err) != 0)
            return -1;
    }
    return rc == 1 ? pg_flush(run, pg, err) : pg_error_lost(pg, err);
}

/* The stream ended: with an error, or because the server shuts down. */
static int ended(struct pg *pg, struct problem *err)
{
    PGresult *r = PQgetResult(pg->conn);
    int rc;
    if (r != NULL && PQresultErrorField(r, PG_DIAG_SQLSTATE) != NULL)
        rc = pg_error_result(r, NULL, err);
    else
        rc = pg_error_lost(pg, err);
    PQclear(r);
    pg_abandon(pg);
    return rc;
}

/* 1 and the payload; 0 when it was for the protocol only. */
static int take(struct run *run, struct pg *pg, const char *buffer, int len, char **message,
                size_t *n, struct problem *err)
{
    if (buffer[0] == 'w' && len >= XLOG_HEADER) {
        uint64_t start = get64(buffer + 1);
        if (start > pg->received)
            pg->received = start;
        *n = (size_t)len - XLOG_HEADER;
        *message = xmalloc(*n + 1);
        memcpy(*message, buffer + XLOG_HEADER, *n);
        (*message)[*n] = '\0';
        return 1;
    }
    if (buffer[0] == 'k' && len >= KEEPALIVE_LEN)
        return buffer[KEEPALIVE_LEN - 1] != 0 ? answer_keepalive(run, pg, err) : 0;
    return problem_fail(err, PROBLEM_PROTOCOL, "pg copy",
                        "the replication stream holds a message of unknown kind");
}

int pg_copy_next(struct run *run, struct pg *pg, int wait_ms, char **message, size_t *n,
                 struct problem *err)
{
    if (pg_usable(pg, err) != 0)
        return -1;
    int64_t until = clock_ms() + wait_ms;
    for (;;) {
        if (run_over(run, "reading the replication stream", err) != 0)
            return -1;
        char *buffer = NULL;
        int len = PQgetCopyData(pg->conn, &buffer, 1);
        if (len > 0) {
            int rc = take(run, pg, buffer, len, message, n, err);
            PQfreemem(buffer);
            if (rc != 0)
                return rc;
            continue;
        }
        if (len < 0)
            return ended(pg, err);
        int64_t left = until - clock_ms();
        if (left <= 0)
            return 0;
        if (net_wait(run, PQsocket(pg->conn), POLLIN, (int)left) == NET_READY &&
            PQconsumeInput(pg->conn) == 0)
            return ended(pg, err);
    }
}

void pg_message_free(char *message)
{
    xfree(message);
}
