/* The shared login: an access token that all calls of a process use (net/conn.h), exchanged for the
 * refresh token at PostgREST, or pasted as it is. */
#ifndef SLUICE_ESTUARY_LOGIN_H
#define SLUICE_ESTUARY_LOGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/digest.h"
#include "core/run.h"
#include "core/secret.h"
#include "estuary/endpoints.h"
#include "net/http.h"

/* All borrowed while it is leased. */
struct estuary_lease {
    void *conn;
    struct digest key;
    struct secret *access;
    const char *email; /* NULL when the token does not say */
    int64_t until;     /* wall seconds; 0 not said */
    bool pasted;       /* an access token was pasted: there is nothing to renew it by */
    bool single_use;   /* the refresh token was replaced by one that lives in this process only */
};
/* A token that lasts for another minute; one that was pasted, just now. PROBLEM_REFUSED when the
 * service does not take what was pasted, or a pasted access token is over. */
int estuary_lease(struct run *run, const struct estuary_endpoints *e, struct secret *pasted,
                  struct estuary_lease *out, struct problem *err);
/* refused: the service did not take it; the next lease asks for a new one. */
void estuary_lease_return(struct run *run, struct estuary_lease *lease, bool refused);

/* PROBLEM_REFUSED for an answer that does not take this token, also after a renewal; -1. */
int estuary_lease_refused(const struct estuary_endpoints *e, const struct estuary_lease *lease,
                          const struct http_response *answer, struct problem *err);
#endif
