/* Who the token belongs to; the calls themselves are graphql.c and postgrest.c. */
#include "estuary/api.h"

#include "core/clean.h"
#include "core/mem.h"
#include "estuary/login.h"

int estuary_who(struct run *run, struct secret *token, struct estuary_who *out, struct problem *err)
{
    *out = (struct estuary_who){0};
    AUTO_ENDPOINTS e;
    estuary_endpoints(&e);
    struct estuary_lease lease;
    if (estuary_lease(run, &e, token, &lease, err) != 0)
        return -1;
    if (lease.email != NULL)
        out->email = clean_copy(lease.email, CLEAN_LINE);
    out->access = lease.pasted;
    out->single_use = lease.single_use;
    out->until = lease.until;
    estuary_lease_return(run, &lease, false);
    return 0;
}

void estuary_who_release(struct estuary_who *w)
{
    xfree(w->email);
    *w = (struct estuary_who){0};
}
