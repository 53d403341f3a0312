/* The catalog and its client, from the answers of the step OAuth: for each check that asks it, of
 * whichever step. */
#ifndef SLUICE_STEPS_OAUTH_TARGET_H
#define SLUICE_STEPS_OAUTH_TARGET_H

#include "catalog/rest.h"
#include "catalog/url.h"
#include "core/run.h"

/* What oauth_target reads, for the rows of checks. */
#define OAUTH_READS_TARGET                                                                         \
    "oauth.url", "?oauth.branch", "oauth.warehouse", "oauth.client_id", "oauth.client_secret",     \
        "oauth.token_uri"

struct oauth_target {
    struct catalog_address address;
    char *token_url;
    struct catalog_target catalog; /* borrows of the two, and of the run */
};
/* -1 as catalog_address. */
int oauth_target(struct run *run, struct oauth_target *out, struct problem *err);
void oauth_target_release(struct oauth_target *t);
#define AUTO_OAUTH_TARGET __attribute__((cleanup(oauth_target_release))) struct oauth_target
#endif
