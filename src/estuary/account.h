/* What a login may use: prefixes of the catalog, data planes with their addresses, which planes a
 * prefix stores with. */
#ifndef SLUICE_ESTUARY_ACCOUNT_H
#define SLUICE_ESTUARY_ACCOUNT_H

#include "estuary/api.h"

#define ESTUARY_LIST_MAX 2000 /* of each list; more is cut and `cut` says so */

struct estuary_prefix {
    char *prefix;     /* "acmeCo/" */
    char *capability; /* "read" "write" "admin" */
};
struct estuary_plane {
    char *name;           /* "ops/dp/public/aws-us-east-1-c2" */
    char *cloud, *region; /* "aws", "us-east-1": lower case; "" when not said */
    bool is_public, closed;
    size_t cidr_count;
    char **cidrs; /* addresses it connects from: "192.0.2.7/32" */
};
struct estuary_mapping {
    char *prefix;
    size_t plane_count;
    char **planes; /* the first is the default of what is published below prefix */
};
struct estuary_account {
    struct estuary_who who;
    size_t prefix_count, plane_count, mapping_count;
    struct estuary_prefix *prefixes; /* each list sorted by name, each name once */
    struct estuary_plane *planes;
    struct estuary_mapping *mappings;
    bool cut;
};

/* Four questions: who, prefixes (minCapability read), dataPlanes, storageMappings; paged. `out` is
 * to be released in both cases. */
int estuary_account_read(struct run *run, struct secret *token, struct estuary_account *out,
                         struct problem *err);
void estuary_account_release(struct estuary_account *a);
#define AUTO_ESTUARY_ACCOUNT                                                                       \
    __attribute__((cleanup(estuary_account_release))) struct estuary_account

/* The highest capability of the listed prefixes that `prefix` is at or below, as a grant on a
 * prefix holds for all below it, whatever is granted there besides; NULL when none is. */
const char *estuary_capability(const struct estuary_account *a, const char *prefix);
/* The mapping of the longest prefix that it is at or below; NULL. */
const struct estuary_mapping *estuary_mapping_of(const struct estuary_account *a,
                                                 const char *prefix);
/* Does the mapping name this plane? Of NULL: no. */
bool estuary_stores_with(const struct estuary_mapping *m, const char *plane);
const struct estuary_plane *estuary_plane_of(const struct estuary_account *a, const char *name);
#endif
