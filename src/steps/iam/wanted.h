/* What the answers want role and user to be, what of it stands, and what is to be put: shared by
 * the verdicts (which read a run) and the plan (which reads a snapshot). Pure. */
#ifndef SLUICE_STEPS_IAM_WANTED_H
#define SLUICE_STEPS_IAM_WANTED_H

#include "aws/policy.h"
#include "core/run.h"
#include "steps/iam/iam.h"

/* What a row must list in `reads` to use iam_inputs_of_run. */
#define READS_INPUTS                                                                               \
    "start.name", "iam.role", "iam.user", "iam.ssm_prefix", "?iam.boundary", "iam.path",           \
        "bucket.lake", "bucket.lake_prefix", "bucket.staging", "bucket.staging_prefix",            \
        "?emr.application", FACT_IDENTITY, FACT_ROLE, FACT_USER

struct iam_inputs { /* borrowed; facts are NULL when they are not there */
    const char *pipeline, *role_name, *user_name, *ssm_prefix, *boundary, *path;
    const char *lake, *lake_prefix, *staging, *staging_prefix;
    const char *application; /* "" = not known yet */
    const struct aws_identity *who;
    const struct iam_side *role, *user;
};
struct iam_inputs iam_inputs_of_run(const struct run *run);
struct iam_inputs iam_inputs_of(const struct snapshot *s);
/* Everything that policies are made of but the application is answered and looked at. */
bool iam_inputs_complete(const struct iam_inputs *in);

/* "arn:aws:iam::…:role/PATH/NAME": that of the one that stands, else of the one that will; xfree.
 */
char *iam_arn(const struct iam_inputs *in, enum iam_kind kind);
/* Name of the inline policy that is ours: "sluice-shop"; xfree. */
char *iam_policy_name(const struct iam_inputs *in);
/* Our mark is on it: made by a run of this pipeline. */
bool iam_is_ours(const struct iam_inputs *in, const struct iam_side *side);

struct iam_judgement {
    char *want;              /* the whole document */
    struct policy_diff diff; /* of everything that is there against it */
    char *put;               /* the document to put; NULL = nothing is to be put */
    char *sized;             /* likewise, with an id of usual length for one not known yet */
    bool replaces;           /* a policy of our name is there and is replaced by it */
    size_t others;           /* size of the other inline policies that stay */
    size_t missing, soft;    /* rows of diff: needed and not allowed; of these, soft ones */
    size_t denied;           /* rows a Deny matches: a put does not help */
};
/* POLICY_ROLE and POLICY_USER: inline policies; what other policies give already is not put again.
 * POLICY_TRUST: what stands in a role that is not ours is kept and added to. A side that does not
 * exist has nothing. PROBLEM_INPUT or PROTOCOL when a document cannot be made or read. */
int iam_judge(enum policy_kind kind, const struct iam_inputs *in, struct iam_judgement *out,
              struct problem *err);
void iam_judgement_release(struct iam_judgement *j);
#define AUTO_IAM_JUDGEMENT __attribute__((cleanup(iam_judgement_release))) struct iam_judgement
#endif
