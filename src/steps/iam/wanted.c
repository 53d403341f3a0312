/* What is wanted, and what is to be put for it. See wanted.h. */
#include "steps/iam/wanted.h"

#include <string.h>

#include "aws/policy_edit.h"
#include "core/mem.h"
#include "core/snapshot.h"
#include "core/text.h"

#define APPLICATION_ID "00f1abcd2efg3h09" /* as long as they are */

/* --- inputs ----------------------------------------------------------------------------------- */

struct iam_inputs iam_inputs_of_run(const struct run *run)
{
    return (struct iam_inputs){
        .pipeline = run_text(run, "start.name"),
        .role_name = run_text(run, "iam.role"),
        .user_name = run_text(run, "iam.user"),
        .ssm_prefix = run_text(run, "iam.ssm_prefix"),
        .boundary = run_text(run, "iam.boundary"),
        .path = run_text(run, "iam.path"),
        .lake = run_text(run, "bucket.lake"),
        .lake_prefix = run_text(run, "bucket.lake_prefix"),
        .staging = run_text(run, "bucket.staging"),
        .staging_prefix = run_text(run, "bucket.staging_prefix"),
        .application = run_text(run, "emr.application"),
        .who = run_fact(run, FACT_IDENTITY, &aws_identity_type),
        .role = run_fact(run, FACT_ROLE, &iam_role_type),
        .user = run_fact(run, FACT_USER, &iam_user_type),
    };
}

struct iam_inputs iam_inputs_of(const struct snapshot *s)
{
    return (struct iam_inputs){
        .pipeline = snap_text(s, "start.name"),
        .role_name = snap_text(s, "iam.role"),
        .user_name = snap_text(s, "iam.user"),
        .ssm_prefix = snap_text(s, "iam.ssm_prefix"),
        .boundary = snap_text(s, "iam.boundary"),
        .path = snap_text(s, "iam.path"),
        .lake = snap_text(s, "bucket.lake"),
        .lake_prefix = snap_text(s, "bucket.lake_prefix"),
        .staging = snap_text(s, "bucket.staging"),
        .staging_prefix = snap_text(s, "bucket.staging_prefix"),
        .application = snap_text(s, "emr.application"),
        .who = snap_fact(s, FACT_IDENTITY, &aws_identity_type),
        .role = snap_fact(s, FACT_ROLE, &iam_role_type),
        .user = snap_fact(s, FACT_USER, &iam_user_type),
    };
}

bool iam_inputs_complete(const struct iam_inputs *in)
{
    const char *const texts[] = {in->pipeline, in->role_name, in->user_name, in->ssm_prefix,
                                 in->path,     in->lake,      in->staging};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (texts[i][0] == '\0')
            return false;
    return in->who != NULL && in->role != NULL && in->user != NULL;
}

char *iam_arn(const struct iam_inputs *in, enum iam_kind kind)
{
    const struct iam_side *side = kind == IAM_ROLE ? in->role : in->user;
    if (side->exists)
        return xstrdup(side->entity.arn);
    return xasprintf("arn:%s:iam::%s:%s%s%s", in->who->partition, in->who->account,
                     kind == IAM_ROLE ? "role" : "user", in->path,
                     kind == IAM_ROLE ? in->role_name : in->user_name);
}

char *iam_policy_name(const struct iam_inputs *in)
{
    return xasprintf("sluice-%s", in->pipeline);
}

bool iam_is_ours(const struct iam_inputs *in, const struct iam_side *side)
{
    return side->exists && side->entity.tag_run != NULL &&
           strcmp(side->entity.tag_run, in->pipeline) == 0;
}

/* --- documents -------------------------------------------------------------------------------- */

static char *announced(const struct iam_inputs *in)
{
    AUTO(xfree) char *made = xasprintf("application sluice-%s", in->pipeline);
    return aws_known_after(made);
}

static int render(enum policy_kind kind, const struct iam_inputs *in, char **out,
                  struct problem *err)
{
    AUTO(xfree) char *role_arn = iam_arn(in, IAM_ROLE);
    AUTO(xfree) char *later = announced(in);
    bool known = in->application[0] != '\0';
    struct policy_values v = {.partition = in->who->partition,
                              .region = in->who->region,
                              .account = in->who->account,
                              .lake = in->lake,
                              .lake_prefix = in->lake_prefix,
                              .staging = in->staging,
                              .staging_prefix = in->staging_prefix,
                              .application = known ? in->application : later,
                              .role_arn = role_arn,
                              .ssm_prefix = in->ssm_prefix,
                              .preview = !known};
    return policy_render(kind, &v, out, err);
}

/* An announcement is longer than what it stands for. */
static char *sized(const struct iam_inputs *in, const char *document)
{
    AUTO(xfree) char *later = announced(in);
    AUTO_TEXT out = TEXT_INIT;
    for (const char *at; (at = strstr(document, later)) != NULL; document = at + strlen(later)) {
        text_addn(&out, document, (size_t)(at - document));
        text_add(&out, APPLICATION_ID);
    }
    text_add(&out, document);
    return text_take(&out);
}

/* --- judging ---------------------------------------------------------------------------------- */

static void count_rows(struct iam_judgement *j)
{
    for (size_t i = 0; i < j->diff.count; i++) {
        const struct policy_row *r = &j->diff.rows[i];
        j->missing += r->mark == POLICY_MISSING;
        j->soft += r->mark == POLICY_MISSING && r->soft;
        j->denied += r->mark == POLICY_DENIED;
    }
}

static bool has_mark(const struct policy_diff *d, enum policy_mark mark)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->rows[i].mark == mark)
            return true;
    return false;
}

/* Of our own policy: does it give what is no longer wanted, or without a condition? */
static int ours_is_off(enum policy_kind kind, const char *want, const char *ours, bool *off,
                       struct problem *err)
{
    AUTO_POLICY_DIFF d = {0};
    if (policy_compare(kind, want, &ours, 1, &d, err) != 0)
        return -1;
    *off = has_mark(&d, POLICY_EXTRA) || has_mark(&d, POLICY_WIDER);
    return 0;
}

static int judge_inline(enum policy_kind kind, const struct iam_inputs *in,
                        const struct iam_side *side, struct iam_judgement *j, struct problem *err)
{
    AUTO(xfree) char *name = iam_policy_name(in);
    const struct iam_policy *ours = iam_policy_named(side, name);
    const char **all = xcalloc(side->policy_count + 1, sizeof *all);
    const char **foreign = xcalloc(side->policy_count + 1, sizeof *all);
    size_t count = 0, others = 0;
    struct policy_diff rest = {0};
    bool off = false;
    for (size_t i = 0; i < side->policy_count; i++) {
        const struct iam_policy *p = &side->policies[i];
        all[count++] = p->document;
        if (p != ours)
            foreign[others++] = p->document;
        if (p != ours && !p->managed)
            j->others += policy_size(p->document);
    }
    int rc = policy_compare(kind, j->want, all, count, &j->diff, err);
    if (rc == 0)
        rc = policy_compare(kind, j->want, foreign, others, &rest, err);
    if (rc == 0 && ours != NULL)
        rc = ours_is_off(kind, j->want, ours->document, &off, err);
    if (rc == 0 && (has_mark(&j->diff, POLICY_MISSING) || off)) {
        j->put = policy_only_missing(j->want, &rest);
        j->replaces = ours != NULL;
    }
    policy_diff_release(&rest);
    xfree(all);
    xfree(foreign);
    return rc;
}

static int judge_trust(const struct iam_inputs *in, struct iam_judgement *j, struct problem *err)
{
    const struct iam_side *side = in->role;
    const char *have = side->exists && side->entity.trust != NULL ? side->entity.trust : NULL;
    if (policy_compare(POLICY_TRUST, j->want, &have, have != NULL, &j->diff, err) != 0)
        return -1;
    if (have == NULL || (iam_is_ours(in, side) && j->diff.count > 0))
        j->put = xstrdup(j->want);
    else if (has_mark(&j->diff, POLICY_MISSING))
        j->put = policy_added(have, j->want);
    j->replaces = have != NULL;
    return 0;
}

int iam_judge(enum policy_kind kind, const struct iam_inputs *in, struct iam_judgement *out,
              struct problem *err)
{
    *out = (struct iam_judgement){0};
    int rc = render(kind, in, &out->want, err);
    if (rc == 0 && kind == POLICY_TRUST)
        rc = judge_trust(in, out, err);
    else if (rc == 0)
        rc = judge_inline(kind, in, kind == POLICY_ROLE ? in->role : in->user, out, err);
    if (rc != 0)
        iam_judgement_release(out);
    else
        count_rows(out);
    if (rc == 0 && out->put != NULL)
        out->sized = sized(in, out->put);
    return rc;
}

void iam_judgement_release(struct iam_judgement *j)
{
    xfree(j->want);
    xfree(j->put);
    xfree(j->sized);
    policy_diff_release(&j->diff);
    *j = (struct iam_judgement){0};
}
