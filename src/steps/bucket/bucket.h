/* Insides of the step bucket, shared by the files of this folder only: its rows, its facts and its
 * plan. */
#ifndef SLUICE_STEPS_BUCKET_BUCKET_H
#define SLUICE_STEPS_BUCKET_BUCKET_H

#include "aws/s3.h"
#include "core/check.h"
#include "core/field.h"
#include "core/step.h"
#include "steps/aws/common.h"

/* What a row must list in `reads` to call AWS as the operator (aws_here_open). */
#define READS_AWS "?emr.profile", "emr.region"
#define READS_BUCKETS "bucket.lake", "bucket.staging"

/* Facts; an id differs from every field's, since both are read by id. */
#define FACT_IDENTITY "emr.identity" /* struct aws_identity, of the step emr */
#define FACT_TABLE "bucket.table"    /* struct bucket_table */
#define FACT_FOUND "bucket.found"    /* struct bucket_findings */

/* Where a table that exists lies: what the lake's bucket and prefix default to. */
struct bucket_table {
    char *name;   /* "shop.orders" */
    char *bucket; /* of its location */
    char *prefix; /* without the table's own directory; "" = the root */
};
extern const struct fact_type bucket_table_type;
/* Splits "s3://bucket/iceberg/shop_orders_9F0C/" (s3a:// too); the last part is the table's own.
 * NULL when it is of another form; one reference. */
struct fact *bucket_table_fact(const char *name, const char *location);

/* What the operator's keys see of them. */
enum bucket_owner { OWNER_UNKNOWN, OWNER_US, OWNER_OTHER };
struct bucket_finding {
    enum s3_presence presence;
    enum bucket_owner owner; /* of one that may not be listed; by the list of all buckets */
    bool marked;             /* bears our mark: made for this pipeline */
    bool block_known;        /* whether the public access block could be read */
    struct s3_public_block block;
    enum bucket_versions { VERSIONS_UNKNOWN, VERSIONS_OFF, VERSIONS_ON } versions;
};
struct bucket_findings {
    struct bucket_finding lake, staging; /* equal when both are one bucket */
};
extern const struct fact_type bucket_findings_type;
bool bucket_all_blocked(const struct s3_public_block *b);

/* Names are given back as bare ones: "s3://lake-acme/iceberg/" -> "lake-acme". xfree. */
char *bucket_normalise(const char *typed);
char *bucket_prefix_normalise(const char *typed); /* without slashes at both ends */
int bucket_prefix_valid(const char *text, struct problem *err);
/* Whether lake and staging are one bucket; the run must list READS_BUCKETS. */
bool bucket_is_one(const struct run *run);
/* Whether one prefix is the other or lies in it. "" holds all. */
bool bucket_prefixes_overlap(const char *a, const char *b);

extern const struct field *const bucket_fields[];
extern const struct check *const bucket_checks[];
/* surveys.c */
extern const struct check bucket_check_table, bucket_check_region, bucket_check_found;
/* verdicts.c */
extern const struct check bucket_check_lake_access, bucket_check_staging_access,
    bucket_check_prefixes, bucket_check_location, bucket_check_public_access, bucket_check_hygiene;

/* plan.c */
void bucket_plan(const struct snapshot *s, struct plan *out);
/* changes.c */
extern const struct change_kind bucket_kind_staging, bucket_kind_public_block;
extern const struct change_kind *const bucket_kinds[];
/* The AWS CLI's command for the very call that is sent; xfree. */
char *bucket_create_preview(const char *bucket, const char *region);
char *bucket_block_preview(const char *bucket, const char *region);
#endif
