/* The proof that a change reaches a reader of the log: a temporary slot, the publication as Estuary
 * names it, a write to the watermarks table, and the messages that come of it.
 *
 * START_REPLICATION does not look at the publication, and from PostgreSQL 18 on a missing one is no
 * error at all, so that only a change that arrives is a proof. The slot is temporary: it goes with
 * its connection. Its creation waits for all transactions that run, and a client that is gone does
 * not end that wait; lock_timeout in the connection's options does, so it is read back before the
 * slot is made (a pooler may drop it silently). */
#ifndef SLUICE_POSTGRES_ROUND_TRIP_H
#define SLUICE_POSTGRES_ROUND_TRIP_H

#include "postgres/link.h"

struct postgres_round_trip {     /* texts borrowed */
    struct postgres_login login; /* the capture user */
    const char *publication;
    const char *watermarks; /* schema.table, as answered: plain names */
    const char *slot;       /* of the capture: the key of the row that is written */
    /* Found, also when it fails as far as it came: */
    char *probe;                    /* name of the temporary slot; xfree */
    bool began, committed, changed; /* messages seen */
    int64_t took_ms;                /* from the write to its message */
    bool row_stays; /* the row was made here and may not be deleted by the capture user */
    struct text notices;
};
void postgres_round_trip_release(struct postgres_round_trip *t);
/* 0 when the change came through and the slot is gone; -1 and err with cause and fix in words.
 * Reports progress. */
int postgres_round_trip(struct run *run, struct postgres_round_trip *t, struct problem *err);

/* Whether one message of the stream is about this relation. Exposed for tests: bytes come from the
 * network. */
struct postgres_stream {
    const char *schema, *table;
    bool known; /* its Relation message came */
    uint32_t relation;
    bool in_change; /* a change of it stands in the open transaction */
    bool began, committed, changed;
};
/* Takes one pgoutput message (protocol 1); a malformed one is ignored. True once a change of the
 * relation was committed. */
bool postgres_stream_take(struct postgres_stream *s, const char *message, size_t n);
#endif
