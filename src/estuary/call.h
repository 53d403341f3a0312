/* One request with the shared login: what graphql.c and postgrest.c share, and what is said of
 * answers that are neither's. */
#ifndef SLUICE_ESTUARY_CALL_H
#define SLUICE_ESTUARY_CALL_H

#include "estuary/login.h"
#include "net/http.h"

#define ESTUARY_REDIRECTS 5
#define ESTUARY_TRIES 3 /* of what changes nothing, for 408, 429 and 5xx */

/* What is to be done where the login lacks a right. */
#define ESTUARY_HAVE_GRANTED                                                                       \
    "Have somebody who administers the prefix grant it on Estuary's dashboard (Admin, Account "    \
    "Access), or use a token of theirs."

struct estuary_request {
    bool pg; /* to PostgREST: with the public key, redirects are not followed; else the API */
    const char *method;
    const char *path; /* after the base, with its slash and query */
    const char *body; /* JSON; NULL none */
    size_t body_len;
    const char *accept, *prefer, *range; /* NULL: application/json, none, none */
    bool reads;                          /* changes nothing: tried again */
    /* Whether the answer says that the token is not taken (any more). */
    bool (*spent)(const struct http_response *r);
};
/* 0 with any answer but such a one: the token is renewed once, then it is PROBLEM_REFUSED. */
int estuary_send(struct run *run, struct secret *token, const struct estuary_request *request,
                 struct http_response *out, struct problem *err);

/* Where a redirect leads: `location` seen from `url`; NULL when it is of no form that is understood
 * or leads to another scheme, host or port. */
char *estuary_redirect(const char *url, const char *location);

/* Status, and an excerpt of the answer, as evidence. */
void estuary_evidence(const struct http_response *r, struct problem *err);
/* A web page instead of an answer: a portal, a proxy. */
bool estuary_is_page(const struct http_response *r);
/* What an answer means that is not one of the service itself (a portal, a proxy, an overload, a
 * path that is not there); -1. `url`: what was asked. */
int estuary_explain(const struct http_response *r, const char *url, struct problem *err);

/* 401 of PostgREST that is about the token; and one about the public key, which is explained. */
bool estuary_pg_spent(const struct http_response *r);
bool estuary_key_refused(const struct http_response *r, struct problem *err);
#endif
