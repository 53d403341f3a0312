/* Making the staging bucket and blocking public access to it, and taking it back while it is empty.
 * A name is looked at before it is made: in us-east-1 S3 answers the making of a bucket that is
 * ours already with success. */
#include <string.h>

#include "core/mem.h"
#include "core/run.h"
#include "steps/aws/planned.h"
#include "steps/bucket/bucket.h"

#define LOOK_MS 1000 /* between looks at a bucket just made */
#define PATIENCE_MS 60000

/* --- the calls as shown ----------------------------------------------------------------------- */

char *bucket_create_preview(const char *bucket, const char *region)
{
    bool first = strcmp(region, "us-east-1") == 0; /* it has no constraint, and refuses its name */
    return xasprintf("aws s3api create-bucket --region %s --bucket %s%s%s", region, bucket,
                     first ? "" : " \\\n  --create-bucket-configuration LocationConstraint=",
                     first ? "" : region);
}

char *bucket_block_preview(const char *bucket, const char *region)
{
    return xasprintf("aws s3api put-public-access-block --region %s --bucket %s \\\n"
                     "  --public-access-block-configuration BlockPublicAcls=true,"
                     "IgnorePublicAcls=true,BlockPublicPolicy=true,RestrictPublicBuckets=true",
                     region, bucket);
}

/* --- the bucket ------------------------------------------------------------------------------- */

static int find_bucket(struct run *run, const struct change *c, struct found *out,
                       struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    AUTO_S3_BUCKET b = {0};
    const char *name = aws_planned(c->args, "bucket");
    const char *region = aws_planned(c->args, "region");
    if (aws_open_planned(run, c->args, &here, err) != 0 ||
        s3_head_bucket(run, &here.client, name, &b, err) != 0)
        return -1;
    bool here_too = b.region == NULL || strcmp(b.region, region) == 0;
    out->present = b.presence != S3_ABSENT;
    out->as_wanted = b.presence == S3_OPEN && here_too;
    out->id = xstrdup(name);
    out->saw = b.presence == S3_ABSENT ? xasprintf("no bucket %s", name)
               : b.presence == S3_FORBIDDEN
                   ? xasprintf("bucket %s, not open to these keys", name)
                   : xasprintf("bucket %s in %s", name, b.region != NULL ? b.region : region);
    return 0;
}

/* Somebody else's by now, or ours elsewhere. */
static int taken(const char *name, const struct problem *why, struct problem *err)
{
    problem_fail(err, PROBLEM_CONFLICT, why->code, "the name %s is taken", name);
    problem_why(err, "Bucket names are unique among all accounts of AWS.");
    problem_fix(err, WHO_YOU,
                "Answer another name for the staging bucket, for example with "
                "account and region at its end.");
    problem_evidence(err, "%s", why->evidence != NULL ? why->evidence : why->what);
    return -1;
}

static int make_bucket(struct run *run, const struct change *c, struct made *out,
                       struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    AUTO_PROBLEM why = PROBLEM_INIT;
    const char *name = aws_planned(c->args, "bucket");
    if (aws_open_planned(run, c->args, &here, err) != 0)
        return -1;
    if (s3_create_bucket(run, &here.client, name, &why) != 0 &&
        !aws_is(&why, "BucketAlreadyOwnedByYou")) {
        if (aws_is(&why, "BucketAlreadyExists"))
            return taken(name, &why, err);
        problem_move(err, &why);
        return -1;
    }
    struct aws_tags tags = {.run = aws_planned(c->args, "run"), .step = "bucket"};
    if (s3_put_tags(run, &here.client, name, &tags, NULL) != 0)
        run_log(run, "made without tags: s3:PutBucketTagging is denied");
    out->id = xstrdup(name);
    return 0;
}

static int await_bucket(struct run *run, const struct change *c, struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    if (aws_open_planned(run, c->args, &here, err) != 0)
        return -1;
    for (;;) {
        AUTO_S3_BUCKET b = {0};
        if (s3_head_bucket(run, &here.client, aws_planned(c->args, "bucket"), &b, err) != 0)
            return -1;
        if (b.presence != S3_ABSENT)
            return 0;
        run_progress(run, 0, 0, "waits for S3 to find it");
        if (run_sleep(run, LOOK_MS, err) != 0)
            return -1;
    }
}

static int undo_bucket(struct run *run, const struct change *c, struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    AUTO_PROBLEM why = PROBLEM_INIT;
    const char *name = aws_planned(c->args, "bucket");
    if (aws_open_planned(run, c->args, &here, err) != 0)
        return -1;
    if (s3_delete_bucket(run, &here.client, name, &why) == 0 || why.kind == PROBLEM_MISSING)
        return 0;
    if (!aws_is(&why, "BucketNotEmpty")) {
        problem_move(err, &why);
        return -1;
    }
    problem_fail(err, PROBLEM_CONFLICT, why.code, "bucket %s is not empty, it stays", name);
    problem_why(err, "What lies in it was not made here.");
    problem_fix(err, WHO_YOU, "Empty it, if its content may go, then undo again.");
    problem_copy_command(err, "aws s3 ls s3://%s --recursive --summarize", name);
    return -1;
}

static char *undo_bucket_text(const struct change *c)
{
    return xasprintf("aws s3api delete-bucket --region %s --bucket %s\n"
                     "(only while it is empty)",
                     aws_planned(c->args, "region"), aws_planned(c->args, "bucket"));
}

const struct change_kind bucket_kind_staging = {
    .id = "bucket.staging",
    .label = "staging bucket",
    .deadline_ms = PATIENCE_MS,
    .find = find_bucket,
    .send = make_bucket,
    .ready = await_bucket,
    .undo = undo_bucket,
    .undo_text = undo_bucket_text,
};

/* --- its public access block ------------------------------------------------------------------ */

static int find_block(struct run *run, const struct change *c, struct found *out,
                      struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    AUTO_PROBLEM why = PROBLEM_INIT;
    struct s3_public_block b = {0};
    const char *name = aws_planned(c->args, "bucket");
    if (c->action == CHANGE_REMOVE) { /* of an undo, which takes the bucket itself next */
        out->saw = xstrdup("goes with its bucket");
        return 0;
    }
    if (aws_open_planned(run, c->args, &here, err) != 0)
        return -1;
    /* who may set it need not be allowed to read it */
    bool known = s3_get_public_block(run, &here.client, name, &b, &why) == 0;
    if (!known && why.kind != PROBLEM_DENIED && why.kind != PROBLEM_MISSING) {
        problem_move(err, &why);
        return -1;
    }
    out->present = out->as_wanted = known && bucket_all_blocked(&b);
    out->id = xstrdup(name);
    out->saw = xstrdup(!known           ? "not known"
                       : out->as_wanted ? "all four settings on"
                                        : "not all four settings on");
    return 0;
}

static int make_block(struct run *run, const struct change *c, struct made *out,
                      struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    const char *name = aws_planned(c->args, "bucket");
    if (aws_open_planned(run, c->args, &here, err) != 0 ||
        s3_put_public_block(run, &here.client, name, err) != 0)
        return -1;
    out->id = xstrdup(name);
    return 0;
}

/* It goes with its bucket; opening a bucket that stays would be no undoing. */
static int undo_block(struct run *run, const struct change *c, struct problem *err)
{
    (void)run;
    (void)c;
    (void)err;
    return 0;
}

static char *undo_block_text(const struct change *c)
{
    return xasprintf("goes with bucket %s", aws_planned(c->args, "bucket"));
}

const struct change_kind bucket_kind_public_block = {
    .id = "bucket.public_access_block",
    .label = "public access block",
    .find = find_block,
    .send = make_block,
    .undo = undo_block,
    .undo_text = undo_block_text,
};

const struct change_kind *const bucket_kinds[] = {&bucket_kind_staging, &bucket_kind_public_block,
                                                  NULL};
