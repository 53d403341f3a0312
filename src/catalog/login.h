/* Logging in as Estuary and Spark will, with as few tries as tell all: a refused client is never
 * tried twice. */
#ifndef SLUICE_CATALOG_LOGIN_H
#define SLUICE_CATALOG_LOGIN_H

#include <stdbool.h>
#include <stddef.h>

#include "catalog/token.h"
#include "catalog/url.h"

#define LOGIN_TRIES 8

struct login_try {
    enum token_form form;
    char *uri;  /* as an answer of the field Token URI */
    char *url;  /* where it leads */
    bool typed; /* the operator's own token URI */
    enum token_result result;
    int status;             /* HTTP; 0 = none */
    struct problem problem; /* when result is not TOKEN_OK */
    long long life_s;       /* when it is; -1 not said */
    bool life_huge;
    bool type_missing;
    int64_t took_ms;
};

struct logins {
    size_t count;
    struct login_try tries[LOGIN_TRIES];
};
void logins_release(struct logins *l);

/* Posts, one after the other:
 *   the form to the typed URI; if no token endpoint is there, the form to each candidate until one
 * gives a token or refuses the client; if the typed URI is a token endpoint: Basic and the form
 * with scope=catalog to it; if the typed URI works and is not v1/oauth/tokens: the form to that one
 * as well. 0 when there is something to judge. -1 and err when the client was refused
 * (PROBLEM_REFUSED), when the first try got no answer that says anything, or the run is over. */
int catalog_login(struct run *run, const struct catalog_address *address, const char *token_uri,
                  const char *client_id, struct secret *client_secret, struct logins *out,
                  struct problem *err);
/* The first try of that form at the typed URI; NULL when it was not made. */
const struct login_try *logins_typed(const struct logins *l, enum token_form form);
/* The first other URI that gave a token; NULL none. */
const struct login_try *logins_other(const struct logins *l);
#endif
