/* What Estuary's connectors refuse in a config before they connect anywhere, and what they let pass
 * and should not: rules as rows, each with the connector's own text and what it means.
 *
 * Pure; works on any config, also one that was edited by hand. The connectors' published schemas
 * are laxer than the connectors: they take a misspelt key and a missing auth_type. */
#ifndef SLUICE_ESTUARY_RULES_H
#define SLUICE_ESTUARY_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/node.h"

struct estuary_fault {
    char *path; /* "compute.bucket_path" */
    char *says; /* what the connector says, letter by letter; of a rule of ours, what is wrong */
    const char *why;
    const char *fix;
    bool ours; /* the connector takes it; it fails later, or silently does something else */
};

struct estuary_faults {
    size_t count;
    struct estuary_fault
        *list; /* in the order of the config; values of secrets never stand in it */
};
void estuary_faults_release(struct estuary_faults *f);
#define AUTO_ESTUARY_FAULTS __attribute__((cleanup(estuary_faults_release))) struct estuary_faults

/* Adds the faults of a config of source-postgres:v3, of materialize-bauplan:v1. */
void estuary_source_faults(const struct node *config, struct estuary_faults *out);
void estuary_target_faults(const struct node *config, struct estuary_faults *out);
#endif
