/* The addresses, and what stands in for them in tests and on local stacks. */
#include "estuary/endpoints.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* Public by design: it names the Supabase project to its gateway and opens nothing by itself. From
 * estuary/flow, crates/flow-client/src/lib.rs, DEFAULT_PG_PUBLIC_TOKEN; it ends in 2032. */
static const char anon_key[] =
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
    "eyJpc3MiOiJzdXBhYmFzZSIsInJlZiI6ImV5cmNubXV6enlyaXlwZGFqd2RrIiwicm9sZSI6ImFub24iLCJpYXQiOjE2ND"
    "g3NTA1NzksImV4cCI6MTk2NDMyNjU3OX0.y1OyXD3-DYMz10eGxzo1eeamVMMUwIIeOoMryTRAoco";

/* A variable that is empty counts as not set. */
static char *place(const char *variable, const char *otherwise)
{
    const char *v = getenv(variable);
    if (v == NULL || v[0] == '\0')
        v = otherwise;
    size_t n = strlen(v);
    while (n > 0 && v[n - 1] == '/')
        n--;
    return xstrndup(v, n);
}

void estuary_endpoints(struct estuary_endpoints *out)
{
    out->api = place("SLUICE_ESTUARY_API_URL", "https://api.estuary.dev");
    out->pg = place("SLUICE_ESTUARY_PG_URL", "https://eyrcnmuzzyriypdajwdk.supabase.co/rest/v1");
    out->encryption =
        place("SLUICE_ESTUARY_ENCRYPTION_URL", "https://config-encryption.estuary.dev");
    out->dashboard = place("SLUICE_ESTUARY_DASHBOARD_URL", "https://dashboard.estuary.dev");
    out->anon_key = place("SLUICE_ESTUARY_ANON_KEY", anon_key);
}

void estuary_endpoints_release(struct estuary_endpoints *e)
{
    xfree(e->api);
    xfree(e->pg);
    xfree(e->encryption);
    xfree(e->dashboard);
    xfree(e->anon_key);
    *e = (struct estuary_endpoints){0};
}
