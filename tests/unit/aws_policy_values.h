/* What the tests of policies share. */
#ifndef TEST_AWS_POLICY_VALUES_H
#define TEST_AWS_POLICY_VALUES_H

#include "aws/policy.h"
#include "core/mem.h"

#define ROLE_ARN "arn:aws:iam::123456789012:role/sluice-shop"
#define APP "arn:aws:emr-serverless:us-east-1:123456789012:/applications/00f1"
#define SSM "arn:aws:ssm:us-east-1:123456789012:parameter/estuary/*"

static inline struct policy_values values(void)
{
    return (struct policy_values){.partition = "aws",
                                  .region = "us-east-1",
                                  .account = "123456789012",
                                  .lake = "bauplan-lake",
                                  .lake_prefix = "iceberg",
                                  .staging = "our-staging",
                                  .staging_prefix = "estuary-staging",
                                  .application = "00f1",
                                  .role_arn = ROLE_ARN,
                                  .ssm_prefix = "/estuary/"};
}

static inline char *rendered(enum policy_kind kind, const struct policy_values *v)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    char *document = NULL;
    if (policy_render(kind, v, &document, &err) != 0)
        fail_msg("%s", err.what);
    return document;
}

#define DOC(statements) "{\"Version\":\"2012-10-17\",\"Statement\":[" statements "]}"
#define ALLOW(action, resource)                                                                    \
    "{\"Effect\":\"Allow\",\"Action\":" action ",\"Resource\":" resource "}"
#define WITH(action, resource, condition)                                                          \
    "{\"Effect\":\"Allow\",\"Action\":" action ",\"Resource\":" resource                           \
    ",\"Condition\":" condition "}"

#define TRUST                                                                                      \
    "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Sid\":\"EmrServerlessOfThisAccount\","          \
    "\"Effect\":\"Allow\",\"Principal\":{\"Service\":\"emr-serverless.amazonaws.com\"},"           \
    "\"Action\":\"sts:AssumeRole\",\"Condition\":{\"StringEquals\":{\"aws:SourceAccount\":"        \
    "\"123456789012\"}}}]}"
#endif
