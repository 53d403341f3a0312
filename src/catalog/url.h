/* Addresses of an Iceberg REST catalog: judged, put together, and joined with the token URI as
 * Estuary's connector joins them (Go's url.JoinPath), so that what is tested here is what Estuary
 * and Spark will ask later. */
#ifndef SLUICE_CATALOG_URL_H
#define SLUICE_CATALOG_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/mem.h"
#include "core/problem.h"

#define CATALOG_URL_DEFAULT "https://api.use1.aprod.bauplanlabs.com/iceberg"
#define CATALOG_TOKEN_URI "v1/oauth/tokens"
/* Of an older guide: on a branch URL no such route is known, on main it used to work. */
#define CATALOG_TOKEN_URI_OLD "api/v1/oauth/tokens"
#define CATALOG_BRANCH_MAX 256

/* --- judging what was typed: 0, or -1 and PROBLEM_INPUT with cause and fix -------------------- */

/* https (http only to loopback), a host, no login, query or fragment, not ending in /v1. */
int catalog_url_valid(const char *text, struct problem *err);
/* What comes along with a paste is taken off: blanks, slashes at the end, /v1, /v1/config,
 * /v1/oauth/tokens; a missing https:// is added. xfree. */
char *catalog_url_normalise(const char *typed);
/* One path segment: no "/", no "@" (a hash or tag cannot be written to), no blanks, no placeholder.
 */
int catalog_branch_valid(const char *text, struct problem *err);
/* Relative path or absolute http(s) URL; no query, fragment, "..". */
int catalog_token_uri_valid(const char *text, struct problem *err);
char *
catalog_token_uri_normalise(const char *typed); /* blanks and slashes at the end taken off; xfree */
/* A client id is sent before a colon: it has none itself. An API key instead of a client is told
 * apart. */
int catalog_client_id_valid(const char *text, struct problem *err);

/* --- addresses -------------------------------------------------------------------------------- */

struct catalog_address {
    char *base;    /* without the branch: "https://host/iceberg" */
    char *branch;  /* decoded; "" for main */
    char *url;     /* what is asked: base, or base/<branch percent-encoded> */
    char *host;    /* for messages */
    bool carried;  /* the URL that was given had the branch in it already */
    bool iceberg;  /* the path ends in /iceberg, as Bauplan's does */
    bool bauplan;  /* the host is of bauplanlabs.com */
    bool loopback; /* the host is this machine */
};

/* url must be valid by catalog_url_valid, branch by catalog_branch_valid or "" ("main" is the
 * same). PROBLEM_INPUT when url carries another branch than the one given. */
int catalog_address(const char *url, const char *branch, struct catalog_address *out,
                    struct problem *err);
void catalog_address_release(struct catalog_address *a);
/* The branch an …/iceberg/<branch> URL carries, decoded; NULL when none. xfree. */
char *catalog_url_branch(const char *url);
/* True for names Bauplan's convention knows: user.name (letters, digits, "_", "-", ".") */
bool catalog_branch_usual(const char *branch);

/* Joins as Go's url.JoinPath: doubled slashes and dots are cleaned, a leading "/" does not lead to
 * the root of the host. base has no query. xfree. */
char *catalog_join(const char *base, const char *relative);
/* Absolute (scheme and host): as it is; else joined. xfree. */
char *catalog_token_url(const char *catalog_url, const char *token_uri);

/* A token URI worth trying when the typed one gives nothing: as an answer of the field, and where
 * it leads. */
struct token_candidate {
    char *uri;
    char *url;
};
#define TOKEN_CANDIDATES 4
/* In the order to be tried, without those that lead where `typed` leads; their number. */
size_t catalog_token_candidates(const struct catalog_address *a, const char *typed,
                                struct token_candidate out[TOKEN_CANDIDATES]);
void catalog_candidates_release(struct token_candidate c[], size_t count);

#define AUTO_ADDRESS __attribute__((cleanup(catalog_address_release))) struct catalog_address
#endif
