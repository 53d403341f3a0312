/* Carrying out a change: what is there is read anew, only what was announced is sent, in one
 * transaction, and what it did is read once more before COMMIT, since GRANT can succeed and grant
 * nothing (01007). */
#ifndef SLUICE_STEPS_POSTGRES_LIVE_H
#define SLUICE_STEPS_POSTGRES_LIVE_H

#include "core/run.h"
#include "postgres/diff.h"
#include "steps/postgres/changes.h"

struct live {
    struct pg *pg; /* of its own, as admin */
    const struct postgres_server *server;
    struct postgres_wanted wanted;
    struct postgres_found found;
    const struct change *change;
    struct postgres_diff diff; /* that remains */
};

/* Adds to l->diff what is still to be done; verifier NULL: masked, for looking only. */
typedef void differ(struct live *l, const char *verifier);
/* What must hold besides, before sending and again in the transaction; NULL none. */
typedef int holding(struct live *l, struct problem *err);

int live_open(struct run *run, const struct change *c, struct live *l, struct problem *err);
void live_close(struct live *l);
/* The find of a change: nothing left to do = as wanted. */
int live_find(struct run *run, const struct change *c, differ *diff, const char *name,
              struct found *out, struct problem *err);
/* Sends what `send` lists, when all of it was announced; afterwards `diff` must have nothing left.
 */
int live_send(struct run *run, struct live *l, differ *send, differ *diff, const char *verifier,
              holding *more, struct problem *err);
/* The same from opening to closing; name goes into the journal. */
int live_send_plain(struct run *run, const struct change *c, differ *send, differ *diff,
                    const char *name, holding *more, struct made *out, struct problem *err);
#endif
