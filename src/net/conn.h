/* The connection cache: what outlives a check (a PostgreSQL connection, an OAuth token), keyed by
 * the digest of what opens it. The first caller opens, others with the same key wait; their
 * deadline stands still meanwhile (run_pause). Never a fact, never written; wiped at exit or when
 * the key is no longer used. */
#ifndef SLUICE_NET_CONN_H
#define SLUICE_NET_CONN_H

#include <stdbool.h>

#include "core/digest.h"
#include "core/run.h"

struct conn_class {
    const char *name;
    bool shared; /* many threads at once (a token) or leased to one at a time (a database
                    connection) */
    void *(*open)(struct run *run, void *context,
                  struct problem *err); /* NULL and err when it fails */
    void (*close)(void *conn);
    bool (*alive)(void *conn); /* before reuse, without I/O that blocks: expiry, socket state */
};

/* A lease; NULL and err. A failure to open is given to every caller that waited for this attempt,
 * and not repeated for them (a refused login must not lock the account). */
void *conn_lease(struct run *run, const struct conn_class *class, const struct digest *key,
                 void *context, struct problem *err);
/* Gives it back; broken closes it so that the next lease opens anew. */
void conn_return(struct run *run, const struct conn_class *class, const struct digest *key,
                 void *conn, bool broken);
/* Closes what nobody leases and was not used for max_idle_ms. */
void conn_trim(struct net *net, int max_idle_ms);
#endif
