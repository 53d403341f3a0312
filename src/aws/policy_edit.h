/* Policies put together of others: only what is missing, what stands with more behind it, and how
 * they are shown. The results are compact JSON unless said otherwise; xfree. */
#ifndef SLUICE_AWS_POLICY_EDIT_H
#define SLUICE_AWS_POLICY_EDIT_H

#include "aws/policy.h"

/* Of `want` the statements and actions that stand as missing in the comparison; NULL when none
 * does: for an entity that has most of it by other policies. */
char *policy_only_missing(const char *want, const struct policy_diff *diff);
/* What stands, with the statements of `want` behind it: nothing is taken away. */
char *policy_added(const char *have, const char *want);
/* For people: in lines, indented by two. As it was when it is no JSON. */
char *policy_pretty(const char *json);
#endif
