/* What is to be made in S3: the staging bucket, when there is none of that name, and its public
 * access block. The lake is never made. Pure. */
#include <string.h>

#include "core/mem.h"
#include "core/snapshot.h"
#include "steps/aws/planned.h"
#include "steps/bucket/bucket.h"

#define STEP "bucket"

struct planning {
    const struct snapshot *snapshot;
    const struct aws_identity *who;
    const struct bucket_findings *found;
    const char *lake, *staging;
    struct plan *plan;
};

static struct node *args_of(const struct planning *p)
{
    struct node *args = node_map();
    aws_plan_place(args, p->who, snap_text(p->snapshot, "start.name"));
    node_set_text(args, "bucket", p->staging);
    return args;
}

static struct change *plan_block(struct planning *p, enum change_action action)
{
    struct change *c = plan_add(p->plan, &bucket_kind_public_block, STEP,
                                "bucket.public_access_block", action, args_of(p));
    AUTO(xfree) char *preview = bucket_block_preview(p->staging, p->who->region);
    change_text(&c->title, "public access block of %s", p->staging);
    change_text(&c->detail, "all four settings");
    change_text(&c->reason, "Staged files hold rows of your tables: no policy or ACL may ever show "
                            "them to everybody.");
    change_text(&c->preview, "%s", preview);
    return c;
}

static void plan_bucket(struct planning *p)
{
    struct change *c =
        plan_add(p->plan, &bucket_kind_staging, STEP, "bucket.staging", CHANGE_CREATE, args_of(p));
    AUTO(xfree) char *preview = bucket_create_preview(p->staging, p->who->region);
    change_text(&c->title, "bucket %s", p->staging);
    change_text(&c->detail, "in %s, account %s; owned by the account alone, without ACLs",
                p->who->region, p->who->account);
    change_text(&c->reason, "Estuary stages files and scripts there before Spark merges them.");
    change_text(&c->preview, "%s", preview);
    change_after(plan_block(p, CHANGE_CREATE), "bucket.staging");
}

static void plan_staging(struct planning *p)
{
    const struct bucket_finding *f = &p->found->staging;
    if (strcmp(p->lake, p->staging) == 0) {
        if (f->presence == S3_ABSENT)
            plan_missing(p->plan, STEP ": there is no bucket %s", p->lake);
        else
            plan_right(p->plan, "staging in the lake's bucket %s, folder %s", p->lake,
                       snap_text(p->snapshot, "bucket.staging_prefix"));
    } else if (f->presence == S3_ABSENT) {
        plan_bucket(p);
    } else if (f->presence == S3_FORBIDDEN) {
        plan_missing(p->plan, STEP ": the bucket %s is not open to these keys", p->staging);
    } else if (f->marked && f->block_known && !bucket_all_blocked(&f->block)) {
        plan_right(p->plan, "bucket %s", p->staging);
        plan_block(p, CHANGE_ALTER);
    } else {
        plan_right(p->plan, "bucket %s%s", p->staging,
                   bucket_all_blocked(&f->block) ? ", public access blocked" : "");
    }
}

void bucket_plan(const struct snapshot *s, struct plan *out)
{
    struct planning p = {.snapshot = s,
                         .who = snap_fact(s, FACT_IDENTITY, &aws_identity_type),
                         .found = snap_fact(s, FACT_FOUND, &bucket_findings_type),
                         .lake = snap_text(s, "bucket.lake"),
                         .staging = snap_text(s, "bucket.staging"),
                         .plan = out};
    if (p.lake[0] == '\0' || p.staging[0] == '\0')
        plan_missing(out, STEP ": the lake's bucket is not named");
    else if (p.who == NULL)
        plan_missing(out, STEP ": who calls AWS has not been seen");
    else if (p.found == NULL)
        plan_missing(out, STEP ": the buckets have not been looked at");
    else
        plan_staging(&p);
}
