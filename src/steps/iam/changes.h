/* The sorts of changes of the step iam, and what the plan hands to them. */
#ifndef SLUICE_STEPS_IAM_CHANGES_H
#define SLUICE_STEPS_IAM_CHANGES_H

#include "core/change.h"
#include "core/text.h"
#include "steps/iam/iam.h"

/* Arguments of all: account, name (of the role or user), run (the pipeline, our mark).
 * role, user: path, boundary (may be missing); role: trust.
 * trust: trust, before. role_policy, user_policy: policy (its name), document, before (may be
 * missing). They suffice to undo the change. */
extern const struct change_kind iam_kind_role, iam_kind_user; /* changes_entity.c */
extern const struct change_kind iam_kind_trust, iam_kind_role_policy, iam_kind_user_policy;
extern const struct change_kind iam_kind_access_key; /* changes_key.c */
extern const struct change_kind *const iam_kinds[];

const char *iam_argument(const struct change *c, const char *key); /* "" when it is missing */
/* Opens AWS as the operator, and refuses an account other than the one that was shown. */
int iam_open_shown(struct run *run, const struct change *c, struct aws_here *here,
                   struct problem *err);
/* The AWS CLI's command for the very call that is sent, from the arguments; xfree. */
char *iam_create_preview(const struct node *args, enum iam_kind kind);
char *iam_trust_preview(const struct node *args);
char *iam_policy_preview(const struct node *args, enum iam_kind kind);
#endif
