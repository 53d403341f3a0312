/* The questions of the step bucket: two places, the lake that exists and the staging that may be
 * made. */
#include "core/mem.h"
#include "core/snapshot.h"
#include "steps/answer.h"
#include "steps/bucket/bucket.h"

static int bucket_valid(const char *text, struct problem *err)
{
    if (answer_word(text, err) != 0)
        return -1;
    return s3_bucket_name_check(text, err);
}

static char *lake_default(const struct snapshot *s)
{
    const struct bucket_table *t = snap_fact(s, FACT_TABLE, &bucket_table_type);
    return t != NULL ? xstrdup(t->bucket) : NULL;
}

static const struct field lake = {
    .id = "bucket.lake",
    .kind = FIELD_TEXT,
    .label = "Lake bucket",
    .help = "The bucket Bauplan's tables lie in. Read from a table that exists; else Bauplan tells "
            "it. sluice never makes or changes it.",
    .example = "lake-acme",
    .required = true,
    .default_from = lake_default,
    .normalise = bucket_normalise,
    .valid = bucket_valid,
};

static char *lake_prefix_default(const struct snapshot *s)
{
    const struct bucket_table *t = snap_fact(s, FACT_TABLE, &bucket_table_type);
    bool same = t != NULL && snap_is(s, "bucket.lake", t->bucket);
    return same && t->prefix[0] != '\0' ? xstrdup(t->prefix) : NULL;
}

static const struct field lake_prefix = {
    .id = "bucket.lake_prefix",
    .kind = FIELD_TEXT,
    .label = "Lake folder",
    .help = "The folder of the lake that Estuary's tables are put in: with the bucket it becomes "
            "Base Location, s3://bucket/folder. Bauplan takes tables in iceberg.",
    .example = "iceberg",
    .required = true,
    .initial = "iceberg",
    .default_from = lake_prefix_default,
    .normalise = bucket_prefix_normalise,
    .valid = bucket_prefix_valid,
};

static char *staging_default(const struct snapshot *s)
{
    return xstrdup(snap_text(s, "bucket.lake"));
}

static const struct field staging = {
    .id = "bucket.staging",
    .kind = FIELD_TEXT,
    .label = "Staging bucket",
    .help = "Where Estuary puts files and scripts before Spark merges them. The lake's bucket "
            "unless you name another; one that does not exist is made, in the region of the "
            "application.",
    .example = "acme-estuary-staging",
    .required = true,
    .default_from = staging_default,
    .normalise = bucket_normalise,
    .valid = bucket_valid,
};

static const struct field staging_prefix = {
    .id = "bucket.staging_prefix",
    .kind = FIELD_TEXT,
    .label = "Staging folder",
    .help = "The folder within the staging bucket, Estuary's Bucket Path. The policies allow "
            "writing there and in the lake's folder, nowhere else: left empty in Estuary, every "
            "write would be denied.",
    .example = "estuary-staging",
    .required = true,
    .initial = "estuary-staging",
    .normalise = bucket_prefix_normalise,
    .valid = bucket_prefix_valid,
};

const struct field *const bucket_fields[] = {&lake, &lake_prefix, &staging, &staging_prefix, NULL};
