/* AWS credentials from the environment and the shared files (~/.aws), in the order of the SDKs: a
 * profile that was chosen beats the keys of the environment, which beat AWS_PROFILE and [default].
 * Which source won is told, always. Where an SDK would take another source first that sluice does
 * not know (a role, SSO, web identity), the profile's static keys are not taken instead: they would
 * be somebody else's. */
#ifndef SLUICE_AWS_CREDENTIALS_H
#define SLUICE_AWS_CREDENTIALS_H

#include "core/problem.h"
#include "core/secret.h"

struct aws_credentials {
    char *key_id;
    struct secret *secret_key;
    struct secret *session_token; /* NULL none */
    char *source;                 /* "environment", "profile data in ~/.aws/credentials" */
    char *note;                   /* what may surprise about the choice, in words; NULL nothing */
    char *region;                 /* AWS_REGION, AWS_DEFAULT_REGION, the profile's; NULL none */
    char *profile;                /* NULL none */
    int64_t expires;              /* wall seconds; 0 unknown */
};

/* profile "" = none chosen. PROBLEM_MISSING: no credentials anywhere; says what was looked at.
 * PROBLEM_INPUT: a profile that needs what is not supported yet (names it and a way on), half a
 * pair of keys, a key that cannot be one, a file that cannot be read. */
int aws_credentials_load(const char *profile, struct aws_credentials *out, struct problem *err);
void aws_credentials_release(struct aws_credentials *c);
/* The region the same sources name, without the keys: AWS_REGION, AWS_DEFAULT_REGION, the
 * profile's. NULL when none does, or a file cannot be read; xfree. */
char *aws_region_named(const char *profile);
/* Names of the profiles in both files, for a choice; xfree each and the array. */
char **aws_profiles(size_t *count);
#endif
