/* The step iam: who the Spark jobs are in AWS, and who Estuary is; made, compared and proved. */
#include "steps/aws/begun.h"
#include "steps/iam/changes.h"
#include "steps/iam/iam.h"
#include "steps/steps.h"

const struct check *const iam_checks[] = {
    &iam_check_found,     &iam_check_role,        &iam_check_trust,       &iam_check_role_policy,
    &iam_check_user,      &iam_check_user_policy, &iam_check_policy_size, &iam_check_access_keys,
    &iam_check_key_works, &iam_check_replay,      &iam_check_denied,      NULL,
};

const struct step step_iam = {
    .id = "iam",
    .number = "3c",
    .name = "IAM",
    .title = "Execution role and IAM user",
    .intro = "Who the Spark jobs are in AWS, and who Estuary is. Both are planned against what "
             "stands, policies by what they allow and not by their text; then the new key does "
             "what Estuary's own test does, and what must be denied is tried as well.",
    .needs = "AWS: the right to make a role, a user and a key, or an admin",
    .link = "https://docs.bauplanlabs.com/integrations/data-int-and-etl/estuary",
    .fields = iam_fields,
    .checks = iam_checks,
    .kinds = iam_kinds,
    .plan = iam_plan,
    .begun = aws_begun,
};
