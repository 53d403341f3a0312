/* Verdicts on the two places. No I/O. */
#include <string.h>

#include "core/mem.h"
#include "core/run.h"
#include "steps/bucket/bucket.h"

#define NEEDS_STAGING                                                                              \
    (const char *const[])                                                                          \
    {                                                                                              \
        "bucket.staging", NULL                                                                     \
    }

static const struct bucket_findings *found_of(const struct run *run)
{
    return run_fact(run, FACT_FOUND, &bucket_findings_type);
}

/* --- the lake --------------------------------------------------------------------------------- */

static void lake_forbidden(struct run *run, struct outcome *out, enum bucket_owner owner)
{
    const char *lake = run_text(run, "bucket.lake");
    const struct aws_identity *who = run_fact(run, FACT_IDENTITY, &aws_identity_type);
    if (owner == OWNER_US) {
        outcome_warn(out, "%s is yours, and s3:ListBucket is denied to these keys", lake);
        outcome_why(out, "What is made here may have the right all the same: its own check will "
                         "tell.");
        outcome_fix(out, WHO_AWS_ADMIN,
                    "Allow s3:ListBucket on arn:%s:s3:::%s, to have it looked "
                    "at here.",
                    who->partition, lake);
        return;
    }
    outcome_warn(out, "%s is there and %s", lake,
                 owner == OWNER_OTHER ? "belongs to another account"
                                      : "these keys may not look into it");
    outcome_why(out,
                "%s, a role or user of account %s may only use it if the bucket's own policy "
                "lets it in.",
                owner == OWNER_OTHER ? "Of another account" : "If it belongs to another account",
                who->account);
    outcome_fix(out, WHO_BAUPLAN, "Ask for a bucket policy that lets in account %s.", who->account);
}

static void run_lake_access(struct run *run, struct outcome *out)
{
    const char *lake = run_text(run, "bucket.lake");
    const struct bucket_finding *f = &found_of(run)->lake;
    if (f->presence == S3_OPEN) {
        outcome_pass(out, "s3://%s/%s", lake, run_text(run, "bucket.lake_prefix"));
    } else if (f->presence == S3_FORBIDDEN) {
        lake_forbidden(run, out, f->owner);
    } else {
        outcome_fail(out, "404", "there is no bucket %s", lake);
        outcome_why(out, "The lake is Bauplan's and exists before all of this. sluice never makes "
                         "it.");
        outcome_fix(out, WHO_YOU, "Correct the name; Bauplan's page of the account tells it.");
    }
}

const struct check bucket_check_lake_access = {
    .id = "bucket.lake_access",
    .title = "the lake is there",
    .reads =
        (const char *const[]){FACT_FOUND, FACT_IDENTITY, READS_BUCKETS, "bucket.lake_prefix", NULL},
    .severity = SEV_BLOCKS,
    .cause = "The name is misspelt, or the bucket belongs to another account and does not let this "
             "one in.",
    .fix = "Correct the name, or have the bucket's policy let your account in.",
    .run = run_lake_access,
};

static void run_location(struct run *run, struct outcome *out)
{
    const struct bucket_table *t = run_fact(run, FACT_TABLE, &bucket_table_type);
    const char *lake = run_text(run, "bucket.lake");
    const char *prefix = run_text(run, "bucket.lake_prefix");
    if (t == NULL) {
        outcome_skip(out, "no table has been seen to compare with");
    } else if (strcmp(t->bucket, lake) == 0 &&
               (t->prefix[0] == '\0' || strcmp(t->prefix, prefix) == 0)) {
        outcome_pass(out, "as %s", t->name);
    } else {
        outcome_warn(out, "%s lies in s3://%s/%s, the answer is s3://%s/%s", t->name, t->bucket,
                     t->prefix, lake, prefix);
        outcome_why(out, "A catalog mostly takes tables in one place only, and refuses others when "
                         "Estuary makes the first one.");
        outcome_fix(out, WHO_YOU,
                    "Take the place where tables lie already, unless Bauplan told "
                    "you this one.");
        bool other_bucket = strcmp(t->bucket, lake) != 0;
        outcome_suggest(out, other_bucket ? "bucket.lake" : "bucket.lake_prefix",
                        other_bucket ? t->bucket : t->prefix);
    }
}

const struct check bucket_check_location = {
    .id = "bucket.location",
    .title = "tables lie there already",
    .reads = (const char *const[]){"bucket.lake", "bucket.lake_prefix", "?" FACT_TABLE, NULL},
    .severity = SEV_WARNS,
    .cause = "The bucket or folder that was answered is another than the one tables lie in.",
    .fix = "Take the place where tables lie already.",
    .run = run_location,
};

/* --- the staging place ------------------------------------------------------------------------ */

static void staging_forbidden(struct run *run, struct outcome *out, enum bucket_owner owner)
{
    const char *staging = run_text(run, "bucket.staging");
    const struct aws_identity *who = run_fact(run, FACT_IDENTITY, &aws_identity_type);
    outcome_fail(out, "403", "%s %s", staging,
                 owner == OWNER_OTHER ? "belongs to another account"
                 : owner == OWNER_US  ? "is yours, and s3:ListBucket is denied to these keys"
                                      : "is taken: these keys may not look into it");
    if (owner == OWNER_US) {
        outcome_fix(out, WHO_AWS_ADMIN, "Allow s3:ListBucket on arn:%s:s3:::%s.", who->partition,
                    staging);
        return;
    }
    AUTO(xfree)
    char *other = xasprintf("%.30s-%s-%s", staging, who->account, who->region);
    outcome_why(out, "Bucket names are unique among all accounts of AWS. It is another account's, "
                     "or s3:ListBucket is denied.");
    outcome_fix(out, WHO_YOU, "Take a name that nobody has, such as %s.", other);
    outcome_suggest(out, "bucket.staging", other);
}

static void run_staging_access(struct run *run, struct outcome *out)
{
    const char *staging = run_text(run, "bucket.staging");
    const char *prefix = run_text(run, "bucket.staging_prefix");
    const struct bucket_finding *f = &found_of(run)->staging;
    if (f->presence == S3_OPEN) {
        outcome_pass(out, "s3://%s/%s%s", staging, prefix,
                     bucket_is_one(run) ? ", in the lake's bucket" : "");
    } else if (bucket_is_one(run)) {
        outcome_skip(out, "in the lake's bucket, see there");
    } else if (f->presence == S3_FORBIDDEN) {
        staging_forbidden(run, out, f->owner);
    } else {
        outcome_fail(out, "404", "there is no bucket %s, and none is planned", staging);
        outcome_fix(out, WHO_YOU, "See what the plan still lacks: sluice plan bucket.");
    }
}

const struct check bucket_check_staging_access = {
    .id = "bucket.staging_access",
    .title = "the staging place is there",
    .reads = (const char *const[]){FACT_FOUND, FACT_IDENTITY, READS_BUCKETS,
                                   "bucket.staging_prefix", NULL},
    .needs = NEEDS_STAGING,
    .severity = SEV_BLOCKS,
    .cause = "The name is taken by another account, or these keys may not list the bucket.",
    .fix = "Take another name, or have s3:ListBucket allowed.",
    .run = run_staging_access,
};

static void run_prefixes(struct run *run, struct outcome *out)
{
    const char *lake = run_text(run, "bucket.lake_prefix");
    const char *staging = run_text(run, "bucket.staging_prefix");
    if (!bucket_is_one(run)) {
        outcome_pass(out, "two buckets");
    } else if (!bucket_prefixes_overlap(lake, staging)) {
        outcome_pass(out, "%s and %s", lake, staging);
    } else {
        outcome_fail(out, "overlap", "tables and staged files would lie in one another: %s and %s",
                     lake, staging);
        outcome_why(out, "What cleans the one would remove the other, and the rights on the one "
                         "would hold for the other.");
        outcome_fix(out, WHO_YOU, "Take folders of which none lies in the other.");
        if (!bucket_prefixes_overlap(lake, "estuary-staging"))
            outcome_suggest(out, "bucket.staging_prefix", "estuary-staging");
    }
}

const struct check bucket_check_prefixes = {
    .id = "bucket.prefixes",
    .title = "folders do not overlap",
    .reads =
        (const char *const[]){READS_BUCKETS, "bucket.lake_prefix", "bucket.staging_prefix", NULL},
    .severity = SEV_BLOCKS,
    .cause = "In one bucket, one of the two folders is the other or lies in it.",
    .fix = "Take iceberg and estuary-staging.",
    .run = run_prefixes,
};

/* --- settings of the staging bucket ----------------------------------------------------------- */

static void run_public_access(struct run *run, struct outcome *out)
{
    const char *staging = run_text(run, "bucket.staging");
    const struct bucket_finding *f = &found_of(run)->staging;
    if (f->presence != S3_OPEN) {
        outcome_skip(out, "%s cannot be looked into", staging);
    } else if (!f->block_known) {
        outcome_skip(out, "s3:GetBucketPublicAccessBlock is denied: not known");
    } else if (bucket_all_blocked(&f->block)) {
        outcome_pass(out, "blocked in all four ways");
    } else {
        outcome_warn(out, "public access to %s is not blocked", staging);
        outcome_why(out, "Staged files hold the rows of your tables. One careless policy or ACL "
                         "would show them to everybody.");
        outcome_fix(out, WHO_AWS_ADMIN,
                    "Block it, unless something in this bucket is public on purpose. sluice does "
                    "so only for a bucket it made.");
        AUTO(xfree) char *command = bucket_block_preview(staging, run_text(run, "emr.region"));
        outcome_copy_command(out, "%s", command);
    }
}

const struct check bucket_check_public_access = {
    .id = "bucket.public_access",
    .title = "public access is blocked",
    .reads = (const char *const[]){FACT_FOUND, "bucket.staging", "emr.region", NULL},
    .needs = (const char *const[]){"bucket.public_access_block", "bucket.staging", NULL},
    .severity = SEV_WARNS,
    .cause = "The bucket is older than April 2023, or somebody switched the block off.",
    .fix = "Switch it on, unless something in the bucket is public on purpose.",
    .run = run_public_access,
};

static void run_hygiene(struct run *run, struct outcome *out)
{
    const char *staging = run_text(run, "bucket.staging");
    const struct bucket_finding *f = &found_of(run)->staging;
    if (f->versions == VERSIONS_UNKNOWN) {
        outcome_skip(out, "not known");
    } else if (f->versions == VERSIONS_OFF) {
        outcome_pass(out, "deleted files are gone");
    } else {
        outcome_warn(out, "%s keeps versions of what is deleted", staging);
        outcome_why(out, "Estuary deletes staged files after each merge; as old versions they stay "
                         "and cost.");
        outcome_fix(out, WHO_AWS_ADMIN,
                    "Add a lifecycle rule for %s/ that expires noncurrent versions after a day.",
                    run_text(run, "bucket.staging_prefix"));
    }
}

const struct check bucket_check_hygiene = {
    .id = "bucket.hygiene",
    .title = "staged files do not pile up",
    .reads = (const char *const[]){FACT_FOUND, "bucket.staging", "bucket.staging_prefix", NULL},
    .needs = NEEDS_STAGING,
    .severity = SEV_INFORMS,
    .cause = "The bucket is versioned.",
    .fix = "Expire noncurrent versions of the staging folder after a day.",
    .run = run_hygiene,
};
