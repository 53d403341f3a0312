/* What a failed call to the catalog means: status and shape of the body, looked up in one table
 * (classify_rules.c), give what failed, why, what to do and who must act. Statuses and bodies come
 * from the Iceberg REST specification, RFC 6749, Bauplan's public client, and answers of Nessie,
 * SeaweedFS and oidc-provider. */
#ifndef SLUICE_CATALOG_CLASSIFY_H
#define SLUICE_CATALOG_CLASSIFY_H

#include "catalog/answer.h"
#include "core/problem.h"

enum catalog_call {
    CALL_ANONYMOUS = 1, /* config without a login */
    CALL_TOKEN = 2,
    CALL_CONFIG = 4,
    CALL_LIST = 8,       /* namespaces */
    CALL_NAMESPACE = 16, /* one namespace, read */
    CALL_CREATE = 32,    /* a namespace */
    CALL_REMOVE = 64
};

/* What the texts of the rules name. All borrowed; "" where unknown. */
struct catalog_context {
    enum catalog_call call;
    const char *method; /* "POST" */
    const char *url;    /* that was asked */
    const char *host;
    const char *branch; /* "" = main */
    const char *warehouse;
    const char *name; /* namespace */
};

struct catalog_rule {
    const char *id;        /* unique */
    int from, to;          /* statuses */
    unsigned calls;        /* mask of enum catalog_call; 0 = any */
    unsigned shapes;       /* mask of enum answer_shape; 0 = any */
    const char *types;     /* one of these, separated by blanks, in any case; NULL = any */
    const char *says;      /* the message has this in it, in any case; NULL = any */
    const char *challenge; /* scheme of WWW-Authenticate; NULL = any */
    enum problem_kind kind;
    enum who who;
    /* {url} {host} {branch} {warehouse} {name} {status} {type} {message} {location} {wait} are put
     * in. */
    const char *what, *why, *fix, *copy; /* why, fix and copy may be NULL */
};

extern const struct catalog_rule catalog_rules[]; /* the first that fits holds; ends with id NULL */

/* Never NULL: the last rule fits all. */
const struct catalog_rule *catalog_rule_for(const struct answer *a, enum catalog_call call);
/* Fills err from the rule, with evidence and code ("http 401 invalid_client"); returns -1. */
int catalog_explain(const struct answer *a, const struct catalog_context *c, struct problem *err);
#endif
