/* The token an operator pastes, and what it is. Estuary's dashboard shows a refresh token (base64
 * of {"id", "secret"}), which lives for weeks; an access token (a JWT) dies within the hour and is
 * often pasted by mistake. Pure. */
#ifndef SLUICE_ESTUARY_TOKEN_H
#define SLUICE_ESTUARY_TOKEN_H

#include <stdint.h>

#include "core/problem.h"
#include "core/secret.h"

enum estuary_token_sort {
    ESTUARY_REFRESH, /* base64 of JSON: exchanged for access tokens */
    ESTUARY_ACCESS   /* exactly three parts between dots: used as it is, until `until` */
};

struct estuary_token {
    enum estuary_token_sort sort;
    char *id;              /* of a refresh token */
    struct secret *secret; /* of a refresh token; of an access token the token itself */
    int64_t until;         /* of an access token: `exp`, wall seconds; 0 = not said */
    char *email;           /* of an access token, when it says; NULL */
};

/* PROBLEM_INPUT in words for people, without a byte of the token: neither form, a service key
 * (flow_sa_…: production does not document it yet), JSON instead of its base64 form, cut short. */
int estuary_token_read(const struct secret *pasted, struct estuary_token *out, struct problem *err);
void estuary_token_release(struct estuary_token *t);
/* The same judgement of what is typed, for the field's row. */
int estuary_token_check(const char *text, struct problem *err);
#define AUTO_ESTUARY_TOKEN __attribute__((cleanup(estuary_token_release))) struct estuary_token
#endif
