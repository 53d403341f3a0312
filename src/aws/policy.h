/* The policies that the pipeline needs, and what an existing one lacks or has too much.
 *
 * The three documents are JSON templates (assets/policies), whose holes <name> are filled in the
 * strings of the parsed document, each checked for its type: nothing that is typed can change the
 * shape of a policy or widen it by a wildcard. Against the guide's documents: both buckets are
 * rendered; emr-serverless:TagResource (the connector tags its jobs) and s3:AbortMultipartUpload
 * (it cleans up failed uploads) are added; the user's ListApplications (grants nothing on an ARN),
 * StartApplication, ssm:GetParameters and its rights on table data, which the connector never
 * uses, are left out; the trust names the account (confused deputy).
 *
 * Pure: nothing is sent. Meaning is compared, not text: one string equals an array of it, order and
 * Sid do not count, actions have no case, a wildcard covers what it matches. */
#ifndef SLUICE_AWS_POLICY_H
#define SLUICE_AWS_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/problem.h"

enum policy_kind { POLICY_ROLE, POLICY_TRUST, POLICY_USER };

struct policy_values { /* borrowed */
    const char *partition, *region, *account;
    const char *lake, *lake_prefix;       /* bucket; "iceberg", "" = all of it */
    const char *staging, *staging_prefix; /* may be the same bucket */
    const char *application;              /* id */
    const char *role_arn;
    const char *ssm_prefix; /* "/estuary/" */
    bool preview;           /* a value that is not known yet may be a text in parentheses */
};
/* *document: compact JSON; xfree. PROBLEM_INPUT naming the value that does not fit. */
int policy_render(enum policy_kind kind, const struct policy_values *v, char **document,
                  struct problem *err);

/* Characters that count against AWS's limit: all but white space outside strings. */
size_t policy_size(const char *document);
/* 10240 for all inline policies of a role together, 2048 for all of a user, 2048 for a trust. */
size_t policy_limit(enum policy_kind kind);
/* Will it fit beside `others` (sum of policy_size of the other inline policies of that user or
 * role)? PROBLEM_CONFLICT "policy size" with the numbers. */
int policy_fits(enum policy_kind kind, const char *document, size_t others, struct problem *err);

enum policy_mark {
    POLICY_MISSING, /* needed and not allowed */
    POLICY_DENIED,  /* needed, and a Deny matches it (detail: under which condition, if any) */
    POLICY_WIDER,   /* allowed, but without the condition it should have */
    POLICY_EXTRA    /* allowed and not needed */
};
struct policy_row {
    enum policy_mark mark;
    char *action;
    char *resource;         /* or principal: "Service:emr-serverless.amazonaws.com" */
    char *detail;           /* condition in words; NULL none */
    const char *needed_for; /* static: which call needs it; NULL for EXTRA and foreign documents */
    bool soft;              /* it works without, with less comfort */
};
struct policy_diff {
    size_t count;
    struct policy_row *rows;
};
/* What `have` lacks of `want`, and has beyond it. `have` is what an entity has in all: give each of
 * its policies. PROBLEM_PROTOCOL when one is no policy. */
int policy_compare(enum policy_kind kind, const char *want, const char *const *have,
                   size_t have_count, struct policy_diff *out, struct problem *err);
void policy_diff_release(struct policy_diff *d);
#define AUTO_POLICY_DIFF __attribute__((cleanup(policy_diff_release))) struct policy_diff
/* Do two documents say the same? false also when one is no policy. */
bool policy_equal(const char *a, const char *b);

/* Grants that look right and are not: an action that knows no such resource, an ARN with a slash
 * too many or too few, a condition that the connector's calls never meet, PassRole without bounds.
 */
struct policy_fault {
    char *statement; /* its Sid, or "statement 2" */
    char *action, *resource;
    const char *why; /* static */
    const char *fix; /* static */
};
struct policy_faults {
    size_t count;
    struct policy_fault *list;
};
int policy_lint(const char *document, struct policy_faults *out, struct problem *err);
void policy_faults_release(struct policy_faults *f);
#define AUTO_POLICY_FAULTS __attribute__((cleanup(policy_faults_release))) struct policy_faults
#endif
