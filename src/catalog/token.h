/* Tokens for the catalog: asked in the forms Estuary's connector and its Spark jobs use
 * (materialize-iceberg's Go side, Iceberg Java's OAuth2Util), their answers judged before a token
 * may ever stand in a header, and one token shared by all calls of a client (net/conn.h). */
#ifndef SLUICE_CATALOG_TOKEN_H
#define SLUICE_CATALOG_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "catalog/answer.h"
#include "core/problem.h"
#include "core/run.h"
#include "core/secret.h"

enum token_form {
    TOKEN_FORM,  /* id and secret in the body, no scope: Estuary's second try */
    TOKEN_BASIC, /* id and secret in a Basic header, each form-encoded (RFC 6749 2.3.1): Estuary's
                    first try */
    TOKEN_SPARK  /* id and secret in the body, scope=catalog: what Spark sends when Estuary's Scope
                    is empty */
};
const char *token_form_name(enum token_form f); /* "form", "Basic", "form with scope=catalog" */

#define TOKEN_MAX                                                                                  \
    16384 /* bytes; a header line longer than this is refused by servers and proxies */
#define TOKEN_LIFE_MAX_S 2592000 /* 30 days: a longer life is cut to this */
#define TOKEN_LIFE_UNSAID_S 300  /* how long a token is used that does not say how long it lives */

/* A client, as its operator entered it. All borrowed. */
struct token_client {
    const char *token_url; /* absolute */
    const char
        *catalog_url; /* the only scheme, host and port its tokens and its secret are sent to */
    const char *id;
    struct secret *secret;
};

struct token_grant {
    struct secret *token;
    long long life_s;  /* as said, cut to TOKEN_LIFE_MAX_S; -1 not said */
    bool life_huge;    /* it was cut */
    bool type_missing; /* no token_type: Estuary's side takes it, Spark's does not */
};
void token_grant_release(struct token_grant *g);

/* What a try to get a token came to. */
enum token_result {
    TOKEN_OK,
    TOKEN_REFUSED, /* a token endpoint that does not know this client or secret: not to be repeated
                    */
    TOKEN_NOT_THERE, /* no token endpoint: other addresses are worth a try */
    TOKEN_OTHERWISE, /* a token endpoint that refuses this form, or fails */
    TOKEN_UNANSWERED /* no HTTP answer, or one that says nothing of the endpoint (429, 5xx, a proxy)
                      */
};
const char *token_result_name(enum token_result r);

/* Judges an answer; pure. TOKEN_OK fills out, anything else err. Refused (PROBLEM_PROTOCOL): no or
 * empty access_token, one with blanks, control or non-ASCII characters, longer than TOKEN_MAX; a
 * token_type other than bearer; expires_in of 0 or less, or not a number (digits in a string are
 * taken for Estuary's forms, as golang/oauth2 does, and refused for Spark's, as Iceberg Java does).
 */
enum token_result token_read(const struct http_response *r, enum token_form form,
                             const struct token_client *client, struct token_grant *out,
                             struct problem *err);
/* One POST, never repeated, redirects not followed. PROBLEM_INPUT when token_url is on another host
 * than catalog_url: the secret is not sent there. *status (may be NULL) gets the HTTP status, 0
 * when there was none. */
enum token_result token_ask(struct run *run, const struct token_client *client,
                            enum token_form form, struct token_grant *out, int *status,
                            struct problem *err);

/* A shared token, got by TOKEN_FORM, renewed when it nears its end. */
struct token_lease {
    void *conn;
    struct digest key;
    struct secret *token;   /* borrowed while leased */
    const char *origin_url; /* it may be sent to this scheme, host and port only */
    int64_t since;          /* clock_ms() when it was given */
};
int token_lease(struct run *run, const struct token_client *client, struct token_lease *out,
                struct problem *err);
/* refused: the catalog did not take it; the next lease asks for a new one. */
void token_return(struct run *run, struct token_lease *lease, bool refused);
#endif
