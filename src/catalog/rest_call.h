/* One call to the catalog with a token: what rest.c and tables.c share. */
#ifndef SLUICE_CATALOG_REST_CALL_H
#define SLUICE_CATALOG_REST_CALL_H

#include "catalog/classify.h"
#include "catalog/rest.h"

struct catalog_call_spec {
    enum catalog_call what;
    const char *method;
    const char *url;
    const char *body; /* JSON; NULL none */
    const char *name; /* of a namespace, for messages; NULL none */
};
/* 0 with any HTTP answer. A token that was given before this call began is renewed once if it is
 * refused. */
int catalog_send(struct run *run, const struct catalog_target *t,
                 const struct catalog_call_spec *call, struct http_response *out,
                 struct problem *err);
/* Explains an answer that is not the one wanted; -1. */
int catalog_send_explain(const struct catalog_target *t, const struct catalog_call_spec *call,
                         const struct http_response *r, struct problem *err);
#endif
