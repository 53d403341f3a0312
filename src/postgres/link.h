/* Connections to a source: a leased one a login for reading, and fresh ones for what writes, locks
 * or replicates. Server-side timeouts are always set, so that nothing waits there once we are gone.
 */
#ifndef SLUICE_POSTGRES_LINK_H
#define SLUICE_POSTGRES_LINK_H

#include <stdbool.h>

#include "core/digest.h"
#include "net/pg.h"

struct postgres_login { /* borrowed */
    const char *host, *port, *database, *user, *sslmode;
    const char *ca_file; /* "" = the system's */
    struct secret *password;
};

struct postgres_lease {
    struct digest key;
    struct pg *pg;
};
/* Leases a connection kept for this login (by host, port, database, user, TLS and the revision of
 * the secret). */
int postgres_lease(struct run *run, const struct postgres_login *login, struct postgres_lease *out,
                   struct problem *err);
/* Gives it back, or closes it when it broke. */
void postgres_return(struct run *run, struct postgres_lease *lease);

/* A connection of its own; pg_close it. lock_timeout_ms counts anew for every lock waited for. */
struct pg *postgres_open(struct run *run, const struct postgres_login *login, int lock_timeout_ms,
                         struct problem *err);
/* One that speaks the replication protocol (replication=database). */
struct pg *postgres_open_replication(struct run *run, const struct postgres_login *login,
                                     int lock_timeout_ms, struct problem *err);
#endif
