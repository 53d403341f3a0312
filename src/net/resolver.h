/* The only caller of getaddrinfo: a detached thread a lookup, abandoned on deadline or cancel.
 * libcurl blocks for seconds when a handle with a hanging lookup is removed, and libpq's own lookup
 * blocks outright, so both get addresses from here (CURLOPT_RESOLVE, hostaddr). */
#ifndef SLUICE_NET_RESOLVER_H
#define SLUICE_NET_RESOLVER_H

#include <stddef.h>

#include "core/run.h"

#define RESOLVE_MAX 16

struct addresses {
    size_t count;
    char text[RESOLVE_MAX][46]; /* numeric IPv4 or IPv6 */
};

/* An address literal comes back as it is; the order is getaddrinfo's (RFC 6724).
 * PROBLEM_UNREACHABLE, code "dns EAI_…" or "dns timeout" (10 s, or the run's deadline);
 * PROBLEM_INPUT when no name can look like that; PROBLEM_CANCELLED. */
int resolve(struct run *run, const char *host, struct addresses *out, struct problem *err);
#endif
