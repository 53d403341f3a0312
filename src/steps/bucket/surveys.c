/* What S3 and the catalog say: where a table lies, in which regions the buckets are, and what the
 * operator's keys see of them. */
#include <string.h>

#include "catalog/tables.h"
#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "steps/bucket/bucket.h"
#include "steps/oauth/facts.h"
#include "steps/oauth/target.h"

#define ASKING_MS 45000

/* --- a table ---------------------------------------------------------------------------------- */

static void run_table(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_OAUTH_TARGET target;
    struct catalog_place place = {0};
    if (oauth_target(run, &target, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    const struct catalog_config *config = run_fact(run, "oauth.config", &oauth_config_type);
    const struct catalog_names *names = run_fact(run, "oauth.namespaces", &oauth_namespaces_type);
    outcome_tried(out, "the first table of each namespace");
    if (catalog_find_table(run, &target.catalog, config, names, &place, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    struct fact *fact =
        place.location != NULL ? bucket_table_fact(place.name, place.location) : NULL;
    if (place.location == NULL)
        outcome_pass(out, "no table yet: the lake's bucket is to be typed");
    else if (fact == NULL)
        outcome_warn(out, "%s lies at %s, which is no place in S3", place.name, place.location);
    else
        outcome_pass(out, "%s lies at %s", place.name, place.location);
    if (fact != NULL)
        outcome_give(out, FACT_TABLE, fact);
    catalog_place_release(&place);
}

const struct check bucket_check_table = {
    .id = "bucket.table",
    .title = "place of an existing table",
    .reads = (const char *const[]){OAUTH_READS_TARGET, "oauth.config", "oauth.namespaces", NULL},
    .gives = (const char *const[]){FACT_TABLE, NULL},
    .severity = SEV_INFORMS,
    .effect = EFFECT_READS,
    .service = "catalog",
    .deadline_ms = ASKING_MS,
    .cause = "The client may list namespaces and not read tables.",
    .fix = "Type the lake's bucket; Bauplan tells its name.",
    .run = run_table,
};

/* --- regions ---------------------------------------------------------------------------------- */

struct places {
    struct s3_bucket lake, staging;
};

/* True when it is in the way. */
static bool elsewhere(const struct s3_bucket *b, const char *region)
{
    return b->presence != S3_ABSENT && b->region != NULL && strcmp(b->region, region) != 0;
}

static void fail_region(struct run *run, struct outcome *out, const struct places *p)
{
    const char *region = run_text(run, "emr.region");
    bool lake = elsewhere(&p->lake, region);
    const char *name = run_text(run, lake ? "bucket.lake" : "bucket.staging");
    const char *there = lake ? p->lake.region : p->staging.region;
    outcome_fail(out, "region", "bucket %s is in %s, the application's region is %s", name, there,
                 region);
    outcome_why(out, "Estuary takes one region for the application, its parameters and its "
                     "bucket, and Spark would read and write across regions.");
    if (lake) {
        outcome_fix(out, WHO_YOU, "Choose region %s for the application (step 3a).", there);
        outcome_suggest(out, "emr.region", there);
    } else {
        outcome_fix(out, WHO_YOU, "Name a staging bucket in %s, or a new one: it is made there.",
                    region);
    }
}

static void judge_region(struct run *run, struct outcome *out, const struct places *p)
{
    const char *region = run_text(run, "emr.region");
    const struct s3_bucket *both[] = {&p->lake, &p->staging};
    const char *names[] = {run_text(run, "bucket.lake"), run_text(run, "bucket.staging")};
    AUTO_TEXT there = TEXT_INIT;
    AUTO_TEXT absent = TEXT_INIT;
    if (elsewhere(&p->lake, region) || elsewhere(&p->staging, region)) {
        fail_region(run, out, p);
        return;
    }
    for (size_t i = 0; i < (bucket_is_one(run) ? 1U : 2U); i++) {
        struct text *list = both[i]->presence == S3_ABSENT ? &absent : &there;
        text_sep(list, " and ");
        text_add(list, names[i]);
    }
    if (there.len == 0)
        outcome_skip(out, "there is no bucket %s yet", absent.s);
    else if (absent.len > 0)
        outcome_pass(out, "%s in %s; %s is not there yet", there.s, region, absent.s);
    else
        outcome_pass(out, "%s in %s", there.s, region);
}

static void run_region(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_AWS_HERE here = {0};
    const char *lake = run_text(run, "bucket.lake");
    const char *staging = run_text(run, "bucket.staging");
    if (aws_here_open(run, &here, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    outcome_tried(out, "HEAD without a signature, as Estuary's connector asks");
    struct places p = {0};
    if (s3_probe_region(run, &here.client, lake, &p.lake, &err) != 0 ||
        s3_probe_region(run, &here.client, staging, &p.staging, &err) != 0)
        outcome_problem(out, &err);
    else
        judge_region(run, out, &p);
    s3_bucket_release(&p.lake);
    s3_bucket_release(&p.staging);
}

const struct check bucket_check_region = {
    .id = "bucket.region",
    .title = "buckets are in the region",
    .reads = (const char *const[]){READS_AWS, READS_BUCKETS, NULL},
    .after = (const char *const[]){"emr.identity", NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_READS,
    .service = "aws",
    .deadline_ms = ASKING_MS,
    .cause = "A bucket lies in another region than the application.",
    .fix = "Choose the region of the lake for the application, and a staging bucket there.",
    .run = run_region,
};

/* --- what the keys see ------------------------------------------------------------------------ */

/* Whose is a bucket that may not be looked into? The list of all of the account tells, if it may be
 * read. */
static enum bucket_owner owner_of(struct run *run, const struct aws_client *client,
                                  const char *bucket)
{
    AUTO_S3_BUCKETS all = {0};
    if (s3_list_buckets(run, client, &all, NULL) != 0)
        return OWNER_UNKNOWN;
    for (size_t i = 0; i < all.count; i++)
        if (strcmp(all.list[i].name, bucket) == 0)
            return OWNER_US;
    return OWNER_OTHER;
}

/* Settings that may not be read are unknown, no failure: they only inform. A cancel or a lost
 * network is one. */
static int look_closer(struct run *run, const struct aws_client *client, const char *bucket,
                       struct bucket_finding *f, struct problem *err)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    bool on = false;
    AUTO(xfree) char *mark = NULL;
    if (s3_get_public_block(run, client, bucket, &f->block, &why) == 0)
        f->block_known = true;
    else if (why.kind == PROBLEM_UNREACHABLE || why.kind == PROBLEM_CANCELLED) {
        problem_move(err, &why);
        return -1;
    }
    if (s3_get_versioning(run, client, bucket, &on, NULL) == 0)
        f->versions = on ? VERSIONS_ON : VERSIONS_OFF;
    if (s3_get_tag_run(run, client, bucket, &mark, NULL) == 0)
        f->marked = mark != NULL && strcmp(mark, run_text(run, "start.name")) == 0;
    return 0;
}

static int look(struct run *run, const struct aws_client *client, const char *bucket,
                struct bucket_finding *f, struct problem *err)
{
    AUTO_S3_BUCKET b = {0};
    if (s3_head_bucket(run, client, bucket, &b, err) != 0)
        return -1;
    f->presence = b.presence;
    if (b.presence == S3_FORBIDDEN)
        f->owner = owner_of(run, client, bucket);
    if (b.presence == S3_OPEN)
        f->owner = OWNER_US;
    return b.presence == S3_OPEN ? look_closer(run, client, bucket, f, err) : 0;
}

static const char *seen(const struct bucket_finding *f)
{
    static const char *const words[] = {[S3_ABSENT] = "not there",
                                        [S3_OPEN] = "there",
                                        [S3_FORBIDDEN] = "there, not for these keys"};
    return words[f->presence];
}

static void run_found(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_AWS_HERE here = {0};
    const char *lake = run_text(run, "bucket.lake");
    const char *staging = run_text(run, "bucket.staging");
    if (aws_here_open(run, &here, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    outcome_tried(out, "HEAD, and the settings of what may be looked into");
    struct bucket_findings f = {0};
    int rc = look(run, &here.client, lake, &f.lake, &err);
    if (rc == 0 && bucket_is_one(run))
        f.staging = f.lake;
    else if (rc == 0)
        rc = look(run, &here.client, staging, &f.staging, &err);
    if (rc != 0) {
        outcome_problem(out, &err);
        return;
    }
    if (bucket_is_one(run))
        outcome_pass(out, "%s is %s", lake, seen(&f.lake));
    else
        outcome_pass(out, "%s is %s; %s is %s", lake, seen(&f.lake), staging, seen(&f.staging));
    struct bucket_findings *data = xmalloc(sizeof *data);
    *data = f;
    outcome_give(out, FACT_FOUND, fact_new(&bucket_findings_type, data));
}

const struct check bucket_check_found = {
    .id = "bucket.found",
    .title = "looks at the buckets",
    .reads = (const char *const[]){READS_AWS, READS_BUCKETS, "start.name", NULL},
    .gives = (const char *const[]){FACT_FOUND, NULL},
    .after = (const char *const[]){"emr.identity", NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_READS,
    .service = "aws",
    .deadline_ms = ASKING_MS,
    .cause = "S3 could not be asked.",
    .fix = "See the message of S3.",
    .run = run_found,
};
