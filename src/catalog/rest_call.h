/* One call to the catalog with a token, and lists in pages: what rest.c and tables.c share. */
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

struct catalog_list {
    enum catalog_call what;
    const char *url;    /* without a query */
    const char *name;   /* of a namespace, for messages; NULL none */
    const char *things; /* that are listed, for the progress */
    bool may_lack;      /* what is not there (404) has none of them */
    /* Adds one page; *next gets the token of the next page (xfree) or NULL. */
    int (*read)(const char *body, size_t n, struct catalog_names *out, char **next,
                struct problem *err);
};
/* Page after page to the end, or to the caps of catalog/rest.h. */
int catalog_list_read(struct run *run, const struct catalog_target *t,
                      const struct catalog_list *list, struct catalog_names *out,
                      struct problem *err);
#endif
