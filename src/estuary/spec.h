/* The catalog specification of a pipeline: capture, collections and materialization as Estuary's
 * models, and the configs of their connectors, built as trees from plain values.
 *
 * Everything that the connectors or the control plane need is always written, also where the
 * connectors' published schemas call it optional: historyMode (the control plane refuses a capture
 * without it), the three discriminators auth_type, compute_type, auth_type (the connector refuses a
 * config without them), compute.bucket_path (without it Estuary writes to the root of the bucket,
 * where no policy of ours lets it) and compute.systems_manager_prefix (needed with OAuth).
 *
 * No secret ever stands in these trees: their texts are not wiped. Callers give placeholders; what
 * is sealed is put in where the document is written. */
#ifndef SLUICE_ESTUARY_SPEC_H
#define SLUICE_ESTUARY_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "core/node.h"

#define ESTUARY_SOURCE_IMAGE "ghcr.io/estuary/source-postgres:v3"
#define ESTUARY_TARGET_IMAGE "ghcr.io/estuary/materialize-bauplan:v1"
/* The same program under its older name, for a control plane that does not list the other. */
#define ESTUARY_TARGET_IMAGE_OLDER "ghcr.io/estuary/materialize-iceberg:v1"
/* Last part of the names of tasks: a task whose name were its collections' folder is refused. */
#define ESTUARY_SOURCE_NAME "source-postgres"
#define ESTUARY_TARGET_NAME "materialize-bauplan"

/* Config of source-postgres. All texts are borrowed. */
struct estuary_source {
    const char *host, *port; /* host: a name or address literal, IPv6 without brackets */
    const char *user, *database;
    const char *password; /* a placeholder */
    bool history;         /* keep every change instead of the final state */
    const char *publication, *slot, *watermarks;
    const char *sslmode; /* "" = the connector's own choice */
};
struct node *estuary_source_config(const struct estuary_source *s);

/* Config of materialize-bauplan. All texts are borrowed. */
struct estuary_target {
    const char *url; /* with the branch, without /v1 */
    const char *warehouse, *ns, *base_location;
    bool hard_delete;
    const char *token_uri;
    const char *credential; /* "<client id>:" and a placeholder */
    const char *region, *application, *role_arn, *bucket, *bucket_path, *ssm_prefix;
    const char *key_id;
    const char *key_secret;     /* a placeholder */
    const char *sync_frequency; /* "30m" */
};
struct node *estuary_target_config(const struct estuary_target *t);

struct estuary_column {
    const char *name;
    const char *type; /* as PostgreSQL's format_type writes it */
    int key;          /* place in the key, from 1; 0 = none */
    bool filled;      /* NOT NULL */
};

/* A table on its whole way. All is borrowed. */
struct estuary_binding {
    const char *schema, *table; /* in the database, in its exact case */
    const char *collection;
    const char *ns, *iceberg; /* namespace and table in Bauplan */
    size_t column_count;
    const struct estuary_column *columns;
};

/* Models. `config` is taken. */
struct node *estuary_capture_model(struct node *config, const struct estuary_binding *bindings,
                                   size_t count);
/* image: one of the two above. `capture`: its bindings are followed, so that a table added there
 * later arrives here too. */
struct node *estuary_materialization_model(const char *image, struct node *config,
                                           const char *capture, const char *ns,
                                           const struct estuary_binding *bindings, size_t count);
/* A draft by hand, from the table's columns and key, so that a specification without a login is
 * whole. It lacks what only Estuary's discovery writes: _meta with the kind of each change, without
 * which a deleted row is not told from an updated one. A table without a key gets the key that
 * discovery gives it, the place of each change in the log. */
struct node *estuary_collection_draft(const struct estuary_binding *b);
#endif
