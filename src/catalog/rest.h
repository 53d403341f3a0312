/* The calls of the Iceberg REST protocol the wizard makes, as Estuary's connector makes them: token
 * first, then /v1/config, then everything below {base}/v1/{prefix}. Bodies are capped, lists are
 * paged with an end. */
#ifndef SLUICE_CATALOG_REST_H
#define SLUICE_CATALOG_REST_H

#include <stdbool.h>
#include <stddef.h>

#include "core/mem.h"
#include "core/problem.h"
#include "core/run.h"
#include "core/secret.h"
#include "net/http.h"

#define CATALOG_BODY_MAX ((size_t)1 << 20) /* bytes of one answer */
#define CATALOG_PAGES_MAX 100              /* pages of one list */
#define CATALOG_PAGE_SIZE 100
#define CATALOG_NAMES_MAX 10000

/* A catalog and the client that uses it. All borrowed. */
struct catalog_target {
    const char *url;       /* with the branch: what Estuary's field url gets */
    const char *token_url; /* absolute */
    const char *branch;    /* "" = main; for messages */
    const char *warehouse;
    const char *client_id;
    struct secret *client_secret;
};

/* What /v1/config says. */
struct catalog_config {
    char *prefix;       /* as it came, still encoded; overrides before defaults; "" none */
    char *uri;          /* overrides.uri; "" none */
    char *defaults_uri; /* defaults.uri: Estuary follows it, Spark does not; "" none */
    char *separator;    /* of namespace levels, encoded; "%1F" unless said */
};
void catalog_config_release(struct catalog_config *c);
/* Pure. PROBLEM_PROTOCOL when the body is not the answer of an Iceberg catalog. */
int catalog_config_read(const char *body, size_t n, struct catalog_config *out,
                        struct problem *err);

/* "{base}/v1" or "{base}/v1/{prefix}", without a slash at the end: xfree; NULL and err.
 * overrides.uri is followed only to the scheme, host and port of target_url: PROBLEM_DENIED else,
 * as the token would go elsewhere. PROBLEM_PROTOCOL for a prefix that leads out of the catalog
 * ("..", a query). */
char *catalog_base(const struct catalog_config *c, const char *target_url, struct problem *err);

/* Names of namespaces, levels joined by ".". */
struct catalog_names {
    size_t count;
    char **names;
    size_t pages;
    bool more; /* there are more than were read (a cap, or a page token that came twice) */
};
void catalog_names_release(struct catalog_names *n);
/* Pure: adds one page; *next gets the token of the next page (xfree) or NULL. */
int catalog_names_read(const char *body, size_t n, struct catalog_names *out, char **next,
                       struct problem *err);

/* GET {url}/v1/config?warehouse=… without a token, to see who answers. Sent once: the operator
 * waits for it, and can ask again. 0 with any HTTP answer. */
int catalog_knock(struct run *run, const char *url, const char *warehouse,
                  struct http_response *out, struct problem *err);
/* The same with a token. */
int catalog_get_config(struct run *run, const struct catalog_target *t, struct catalog_config *out,
                       struct problem *err);
/* base by catalog_base. */
int catalog_list_namespaces(struct run *run, const struct catalog_target *t, const char *base,
                            struct catalog_names *out, struct problem *err);
/* HEAD, and GET where a server does not know HEAD or says anything but 204 and 404 (some answer 200
 * for what is not there, or 400 for all). */
int catalog_has_namespace(struct run *run, const struct catalog_target *t, const char *base,
                          const char *name, bool *out, struct problem *err);
/* One level, [a-z0-9_]. PROBLEM_CONFLICT when it exists. */
int catalog_create_namespace(struct run *run, const struct catalog_target *t, const char *base,
                             const char *name, struct problem *err);
int catalog_remove_namespace(struct run *run, const struct catalog_target *t, const char *base,
                             const char *name, struct problem *err); /* gone already is fine */

#define AUTO_CATALOG_CONFIG __attribute__((cleanup(catalog_config_release))) struct catalog_config
#define AUTO_CATALOG_NAMES __attribute__((cleanup(catalog_names_release))) struct catalog_names
#endif
