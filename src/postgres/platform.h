/* Where a PostgreSQL server runs, and what that changes: how logical decoding is switched on, by
 * whom, and how the right to replicate is given. */
#ifndef SLUICE_POSTGRES_PLATFORM_H
#define SLUICE_POSTGRES_PLATFORM_H

#include <stdbool.h>

#include "core/problem.h"

enum postgres_platform {
    POSTGRES_PLAIN, /* own server, or one not recognised */
    POSTGRES_RDS,
    POSTGRES_AURORA,
    POSTGRES_CLOUD_SQL,
    POSTGRES_ALLOYDB,
    POSTGRES_AZURE,
    POSTGRES_SUPABASE,
    POSTGRES_NEON,
    POSTGRES_PLATFORMS
};

/* What is peculiar to a platform, a row each. */
struct postgres_recipe {
    const char *name;      /* "RDS"; "" for an own server */
    const char *role;      /* a role only this platform has; NULL */
    const char *setting;   /* its own switch of logical decoding, readable by SHOW; NULL */
    enum who who;          /* who changes settings there */
    const char *switch_on; /* sentence: how wal_level becomes logical */
    const char *copy;      /* command to copy; NULL, or see postgres_wal_command */
    const char *link;
    const char *retention;   /* how max_slot_wal_keep_size is set there */
    bool grants_replication; /* the right is membership of rds_replication, not the role's attribute
                              */
};
const struct postgres_recipe *postgres_recipe(enum postgres_platform p);

/* By the roles and settings that were found: names joined by newlines, each with one before and
 * behind. */
enum postgres_platform postgres_platform_of(const char *roles, bool aurora_function,
                                            const char *host);
/* A command that switches logical decoding on, where one would act; for RDS it finds the parameter
 * group by the instance's name in the host. NULL: none; xfree. */
char *postgres_wal_command(enum postgres_platform p, const char *host);

/* Hosts through which a capture cannot work: poolers and readers. */
struct postgres_host_note {
    const char *what; /* one line; NULL: nothing to say */
    const char *why;
    char *instead; /* the host to use, when it can be told; xfree */
    const char *fix;
};
void postgres_judge_host(const char *host, const char *port, struct postgres_host_note *out);
#endif
