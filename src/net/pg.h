/* PostgreSQL by libpq, made cancellable: connecting and every wait poll the socket beside the run's
 * cancel and deadline. Host names come from the resolver (hostaddr beside host, for TLS names);
 * PQcancel, which blocks and is unencrypted in libpq 15, runs detached; what really bounds a
 * statement are the server-side timeouts put into the connection's options. Notices are kept.
 * Problems carry the SQLSTATE as code; a failed connection carries "pg connect" or the SQLSTATE its
 * text stands for (28P01 password, 3D000 database, 28000 pg_hba, 53300, 42501, 08P01). */
#ifndef SLUICE_NET_PG_H
#define SLUICE_NET_PG_H

#include <stdbool.h>
#include <stddef.h>

#include "core/run.h"
#include "core/text.h"

struct pg;

struct pg_options { /* all texts borrowed for the call */
    const char *host;
    const char *port;
    const char *database;
    const char *user;
    struct secret *password;      /* NULL: none is sent */
    const char *sslmode;          /* libpq's words */
    const char *ca_file;          /* PEM file, or NULL: the net's bundle */
    bool replication;             /* replication=database: simple protocol only */
    const char *application_name; /* NULL: "sluice" */
    int lock_timeout_ms; /* > 0: into the connection options, so that the server gives up by itself
                          */
    int statement_timeout_ms; /* likewise */
};

/* A new connection, client_encoding UTF8, English messages, gssencmode off. NULL and err. */
struct pg *pg_open(struct run *run, const struct pg_options *o, struct problem *err);
void pg_close(
    struct pg *pg); /* NULL is fine; closes the socket, so that a waiting backend notices */
bool pg_alive(struct pg *pg); /* no I/O that blocks */
struct pg_conn *
pg_raw(struct pg *pg); /* for escaping and PQencryptPasswordConn; never for queries */
int pg_server_version(struct pg *pg); /* 150018 */
const char *pg_tls(struct pg *pg);    /* "TLSv1.3" or NULL */

struct pg_result; /* rows as text */

/* One statement with text parameters (NULL = SQL NULL) by the extended protocol; on a replication
 * connection `count` must be 0 and the simple protocol is used. NULL and err on failure. */
struct pg_result *pg_query(struct run *run, struct pg *pg, const char *sql,
                           const char *const *params, int count, struct problem *err);
int pg_rows(const struct pg_result *r);
const char *pg_cell(const struct pg_result *r, int row,
                    const char *column); /* "" for NULL; unknown column is a bug */
bool pg_is_null(const struct pg_result *r, int row, const char *column);
long long pg_number(const struct pg_result *r, int row, const char *column, long long otherwise);
bool pg_true(const struct pg_result *r, int row, const char *column); /* 't' */
void pg_result_free(struct pg_result *r);

/* Many statements in one round trip (pipeline mode, one Sync each, so that a failed one does not
 * abort the rest). Fills item->result or item->problem for each; -1 only when the connection itself
 * failed. */
struct pg_item {
    const char *name; /* for messages */
    const char *sql;
    const char *const *params;
    int param_count;
    struct pg_result *result; /* owned; pg_items_release */
    struct problem problem;
};
int pg_pipeline(struct run *run, struct pg *pg, struct pg_item *items, size_t count,
                struct problem *err);
void pg_items_release(struct pg_item *items, size_t count);

/* Several statements as one transaction: BEGIN … COMMIT, rolled back whole on the first failure.
 * `sql` may hold many statements (simple protocol). Server notices (warnings such as 01007) are
 * appended to notices (may be NULL). */
int pg_transaction(struct run *run, struct pg *pg, const char *sql, struct text *notices,
                   struct problem *err);

/* Replication: after START_REPLICATION (CopyBoth). Returns 1 and the next message's payload
 * (without the XLogData header; keepalives are answered and skipped; free by pg_message_free), 0
 * when nothing came within wait_ms, -1 with err. The answers to keepalives confirm nothing, so no
 * slot is moved on. An error on a replication connection drops its temporary slots. */
int pg_copy_both(struct run *run, struct pg *pg, const char *command, struct problem *err);
int pg_copy_next(struct run *run, struct pg *pg, int wait_ms, char **message, size_t *n,
                 struct problem *err);
void pg_message_free(char *message);
/* Appends the notices since the last call, a line each: "WARNING 01007: …". */
void pg_take_notices(struct pg *pg, struct text *out);

/* PQescapeIdentifier and PQescapeLiteral; xfree. NULL when it is not UTF-8 or the connection was
 * given up. */
char *pg_identifier(struct pg *pg, const char *name);
char *pg_literal(struct pg *pg, const char *text);
/* quote_ident's rule without a server: quoted only when it must be (reserved words count); xfree.
 */
char *pg_quote_ident(const char *name);

static inline void pg_close_auto(struct pg **p)
{
    pg_close(*p);
}
static inline void pg_result_free_auto(struct pg_result **r)
{
    pg_result_free(*r);
}
#endif
