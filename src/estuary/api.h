/* Calls to Estuary's control plane with the operator's token: GraphQL at the API, tables and
 * functions at PostgREST. One access token is shared by all calls of a process and renewed a minute
 * before it ends (net/conn.h); a call that is told its token has expired asks once more with a new
 * one. A refused token is not repeated: PROBLEM_REFUSED.
 *
 * The token goes to the hosts of estuary/endpoints.h only. The API answers 307 to itself while its
 * idea of our rights is older than the request: that redirect alone is followed, to the same
 * scheme, host and port, with method and body, at most five times. */
#ifndef SLUICE_ESTUARY_API_H
#define SLUICE_ESTUARY_API_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/node.h"
#include "core/run.h"
#include "core/secret.h"
#include "core/text.h"

/* Who the token belongs to and how long it lasts. Opens the shared login. */
struct estuary_who {
    char *email;     /* NULL when the access token does not say */
    bool access;     /* an access token was pasted: all ends at `until` */
    bool single_use; /* the refresh token is used up: what replaced it lives in this process only */
    int64_t until;   /* wall seconds: end of the access token at hand */
};
int estuary_who(struct run *run, struct secret *token, struct estuary_who *out,
                struct problem *err);
void estuary_who_release(struct estuary_who *w);

/* The `data` of an answer without errors; cJSON_Delete it. variables may be NULL. Problems by the
 * status word of errors[0].message: REFUSED (Unauthenticated), DENIED (PermissionDenied, with what
 * is missing), MISSING, INPUT; else PROTOCOL. Retried where nothing is changed by it. */
int estuary_graphql(struct run *run, struct secret *token, const char *query,
                    const struct node *variables, cJSON **data, struct problem *err);

struct estuary_pg_call {
    const char *method; /* "GET" "POST" "DELETE" */
    const char *path;   /* "drafts", "rpc/view_logs" */
    const char *query;  /* encoded pairs, without '?'; NULL */
    const char *body;   /* JSON; NULL = none. May hold a sealed config, never a secret in clear */
    const char *prefer; /* "return=representation"; NULL */
    const char *range;  /* "0-999"; NULL */
    bool one;           /* exactly one row is the answer (406 otherwise: PROBLEM_MISSING) */
    struct text *raw; /* gets the answer's bytes as well, for documents whose letters count; NULL */
};
/* 0: a 2xx; *answer is its JSON, NULL when there was no body; answer may be NULL. Problems have
 * PostgREST's code ("42501": DENIED; "PGRST116": MISSING; "23…": CONFLICT) and its message,
 * cleaned; details and hint as evidence. GETs are retried. */
int estuary_pg(struct run *run, struct secret *token, const struct estuary_pg_call *call,
               cJSON **answer, struct problem *err);
#endif
