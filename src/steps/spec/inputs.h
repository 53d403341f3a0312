/* From answers to the specification: what the steps capture, materialization and review share. The
 * same values are judged by checks, which may only read what their rows list, and exported. */
#ifndef SLUICE_STEPS_SPEC_INPUTS_H
#define SLUICE_STEPS_SPEC_INPUTS_H

#include "core/run.h"
#include "core/snapshot.h"
#include "estuary/rules.h"
#include "estuary/spec.h"

/* Facts of earlier steps that are read here. */
#define SPEC_FACT_CHOSEN "postgres.chosen"      /* struct postgres_tables */
#define SPEC_FACT_NAMESPACES "oauth.namespaces" /* struct catalog_names */
#define SPEC_FACT_IDENTITY "emr.identity"       /* struct aws_identity */
#define SPEC_FACT_ROLE "iam.role_found"         /* struct iam_side */

/* What stands where a secret belongs; the operator finds it by its first word. */
#define SPEC_PLACEHOLDER "PLACEHOLDER-"
#define SPEC_NO_PASSWORD SPEC_PLACEHOLDER "postgres.password"
#define SPEC_NO_CLIENT_SECRET SPEC_PLACEHOLDER "oauth.client_secret"
#define SPEC_NO_KEY_ID SPEC_PLACEHOLDER "iam.access_key_id"
#define SPEC_NO_KEY_SECRET SPEC_PLACEHOLDER "iam.secret_access_key"

/* Where answers are read: one of the two. */
struct spec_from {
    const struct run *run;
    const struct snapshot *snapshot;
};
const char *spec_text(const struct spec_from *f, const char *id); /* "" when there is none */

/* --- tables and their names --- */

#define SPEC_READS_COLLECTIONS "postgres.tables", "capture.name", "?capture.bindings"
#define SPEC_READS_TABLES SPEC_READS_COLLECTIONS, "?materialization.bindings"

struct spec_table {
    char *written; /* as answered: public."Order Items" */
    char *schema, *table;
    char *collection; /* answered, else as the connector recommends */
    char *iceberg;    /* answered, else the collection's last part as the connector makes it */
};
struct spec_tables {
    size_t count;
    struct spec_table *list;
};
/* In the order of the answer; what is no table's name is passed over, its field says so. */
void spec_collections(const struct spec_from *f, struct spec_tables *out); /* without iceberg */
void spec_tables(const struct spec_from *f, struct spec_tables *out);
void spec_tables_release(struct spec_tables *t);
#define AUTO_SPEC_TABLES __attribute__((cleanup(spec_tables_release))) struct spec_tables

/* --- configs --- */

#define SPEC_READS_SOURCE                                                                          \
    "postgres.host", "postgres.port", "postgres.database", "postgres.user",                        \
        "postgres.publication", "postgres.slot", "postgres.watermarks", "capture.history",         \
        "capture.sslmode"
/* Borrowed; with a placeholder for the password. */
struct estuary_source spec_source(const struct spec_from *f);

#define SPEC_READS_TARGET                                                                          \
    "oauth.url", "?oauth.branch", "oauth.warehouse", "oauth.client_id", "oauth.token_uri",         \
        "emr.region", "emr.application", "bucket.lake", "bucket.lake_prefix", "bucket.staging",    \
        "bucket.staging_prefix", "iam.ssm_prefix", "materialization.namespace",                    \
        "materialization.hard_delete", "materialization.sync_frequency"
/* Borrowed and owned texts together. */
struct spec_target {
    struct estuary_target target;
    char *url, *base_location, *credential;
};
/* role_arn and key_id are borrowed; key_id NULL = a placeholder. */
void spec_target(const struct spec_from *f, const char *role_arn, const char *key_id,
                 struct spec_target *out);
void spec_target_release(struct spec_target *t);
#define AUTO_SPEC_TARGET __attribute__((cleanup(spec_target_release))) struct spec_target

/* --- judging --- */

/* The outcome of a config's faults: the first as its line, each as an item with the answer it comes
 * from. */
void spec_judge_config(const struct estuary_faults *faults, struct outcome *out);
/* A task's name: under the prefix, and no folder of others. Settles the outcome when it is wrong.
 */
bool spec_name_outside(const char *name, const char *prefix, struct outcome *out);
#endif
