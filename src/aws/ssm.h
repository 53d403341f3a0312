/* AWS Systems Manager: the parameters in which Estuary's connector keeps the catalog's credential.
 */
#ifndef SLUICE_AWS_SSM_H
#define SLUICE_AWS_SSM_H

#include "aws/call.h"

/* The rules of a prefix, as connector and SSM have them: "/…/", letters, digits and . - _ /, not
 * below /aws or /ssm, at most 14 levels. PROBLEM_INPUT says which. SSM's own text would mislead. */
int ssm_prefix_check(const char *prefix, struct problem *err);
/* "arn:aws:ssm:us-east-1:123456789012:parameter/estuary/x": the name's own slash separates. xfree.
 */
char *ssm_arn(const char *partition, const char *region, const char *account, const char *name);

/* A SecureString under the account's default key; an existing one is overwritten. At most 4 KB. */
int ssm_put(struct run *run, const struct aws_client *client, const char *name,
            const struct secret *value, struct problem *err);
struct ssm_parameter {
    struct secret *value;
    char *type; /* "SecureString" */
    long long version;
};
/* Decrypted. PROBLEM_MISSING "ParameterNotFound". */
int ssm_get(struct run *run, const struct aws_client *client, const char *name,
            struct ssm_parameter *out, struct problem *err);
void ssm_parameter_release(struct ssm_parameter *p);
int ssm_delete(struct run *run, const struct aws_client *client, const char *name,
               struct problem *err);
#endif
