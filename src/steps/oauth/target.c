/* The answers as a target. See target.h. */
#include "steps/oauth/target.h"

#include "core/mem.h"

int oauth_target(struct run *run, struct oauth_target *out, struct problem *err)
{
    *out = (struct oauth_target){0};
    if (catalog_address(run_text(run, "oauth.url"), run_text(run, "oauth.branch"), &out->address,
                        err) != 0)
        return -1;
    out->token_url = catalog_token_url(out->address.url, run_text(run, "oauth.token_uri"));
    out->catalog = (struct catalog_target){
        .url = out->address.url,
        .token_url = out->token_url,
        .branch = out->address.branch,
        .warehouse = run_text(run, "oauth.warehouse"),
        .client_id = run_text(run, "oauth.client_id"),
        .client_secret = run_secret(run, "oauth.client_secret"),
    };
    return 0;
}

void oauth_target_release(struct oauth_target *t)
{
    catalog_address_release(&t->address);
    xfree(t->token_url);
    *t = (struct oauth_target){0};
}
