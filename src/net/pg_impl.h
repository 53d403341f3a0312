/* A PostgreSQL connection from the inside: shared by the files pg_*.c. */
#ifndef SLUICE_NET_PG_IMPL_H
#define SLUICE_NET_PG_IMPL_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/net_impl.h"
#include "net/pg.h"
#include "net/tls_notes.h"

struct pg {
    PGconn *conn; /* NULL once it was given up: cancelled, out of time, lost */
    bool replication;
    uint64_t received; /* WAL position up to which messages came (CopyBoth) */
    struct text notices;
    char *tls;
    int version;
};

/* What stands for a failed attempt while no PGconn can be asked any more. */
struct pg_attempt {
    const char *host, *port, *database, *user, *sslmode;
    const char *address;
    const char *message; /* libpq's, with the SQLSTATE in it (PQERRORS_VERBOSE) */
    const char *phase;
    struct tls_notes *notes; /* of the server's certificate, by pg_peek */
    bool connected;          /* TCP stood */
    bool replication;
};
bool pg_error_is_certificate(const struct pg_attempt *a);
/* Looks at the server's certificate once more by a handshake of our own (a->notes), because libpq
 * says only that it was refused. Nothing is sent but what opens TLS. */
void pg_peek(const struct run *run, struct pg_attempt *a, const char *ca_path);
/* Fills err; -1. */
int pg_error_connect(const struct pg_attempt *a, struct problem *err);
int pg_error_connect_time(const struct pg_attempt *a, int64_t took_ms, struct problem *err);
/* A failed statement, from its result. */
int pg_error_result(const PGresult *r, const char *name, struct problem *err);
/* The connection broke during a statement. */
int pg_error_lost(struct pg *pg, struct problem *err);

/* Gives the connection up: the running statement is cancelled by a detached thread, the socket
 * closed at once. */
void pg_abandon(struct pg *pg);
/* Waits for the socket. 0; -1 and err (cancelled, out of time), then the connection was given up.
 */
int pg_wait(struct run *run, struct pg *pg, short events, const char *phase, struct problem *err);
/* Sends what is buffered and reads until a result can be had without blocking. */
int pg_ready(struct run *run, struct pg *pg, struct problem *err);
int pg_flush(struct run *run, struct pg *pg, struct problem *err);
/* PROBLEM_UNREACHABLE when it was given up. */
int pg_usable(const struct pg *pg, struct problem *err);
#endif
