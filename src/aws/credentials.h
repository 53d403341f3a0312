/* AWS credentials from the environment and the shared files (~/.aws), in the order of the SDKs: a
 * profile that was chosen beats the keys of the environment, which beat AWS_PROFILE and [default].
 * Which source won is told, always. */
#ifndef SLUICE_AWS_CREDENTIALS_H
#define SLUICE_AWS_CREDENTIALS_H

#include "core/problem.h"
#include "core/secret.h"

struct aws_credentials {
    char *key_id;
    struct secret *secret_key;
    struct secret *session_token; /* NULL none */
    char *source;                 /* "environment", "profile data in ~/.aws/credentials" */
    char *region;                 /* AWS_REGION, AWS_DEFAULT_REGION, the profile's; NULL none */
    char *profile;                /* NULL none */
    int64_t expires;              /* wall seconds; 0 unknown */
};

/* profile "" = none chosen. PROBLEM_MISSING: no credentials anywhere; says what was looked at. A
 * profile that needs what is not supported yet (SSO, credential_process, web identity) is
 * PROBLEM_INPUT naming it and a way on. */
int aws_credentials_load(const char *profile, struct aws_credentials *out, struct problem *err);
void aws_credentials_release(struct aws_credentials *c);
/* The region the same sources name, without the keys: AWS_REGION, AWS_DEFAULT_REGION, the
 * profile's. NULL when none does, or a file cannot be read; xfree. */
char *aws_region_named(const char *profile);
/* Names of the profiles in both files, for a choice; xfree each and the array. */
char **aws_profiles(size_t *count);
#endif
