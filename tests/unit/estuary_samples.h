/* Good values of a pipeline, for the tests of what is made of them. */
#ifndef SLUICE_TESTS_ESTUARY_SAMPLES_H
#define SLUICE_TESTS_ESTUARY_SAMPLES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/mem.h"
#include "core/node.h"
#include "core/text.h"
#include "estuary/spec.h"

#define AUTO_NODE __attribute__((cleanup(node_free_auto))) struct node

static inline struct estuary_source sample_source(void)
{
    return (struct estuary_source){.host = "db.example.com",
                                   .port = "5432",
                                   .user = "flow_shop",
                                   .database = "shop",
                                   .password = "a-placeholder",
                                   .publication = "flow_shop",
                                   .slot = "flow_shop",
                                   .watermarks = "public.flow_watermarks",
                                   .sslmode = "require"};
}

static inline struct estuary_target sample_target(void)
{
    return (struct estuary_target){.url = "https://api.example.com/iceberg/alice.ingest",
                                   .warehouse = "default",
                                   .ns = "analytics",
                                   .base_location = "s3://lake-acme/iceberg",
                                   .token_uri = "v1/oauth/tokens",
                                   .credential = "8f1c:a-placeholder",
                                   .region = "us-east-1",
                                   .application = "00f1abcd2efg3h09",
                                   .role_arn = "arn:aws:iam::123456789012:role/sluice-shop-emr",
                                   .bucket = "lake-acme",
                                   .bucket_path = "estuary-staging",
                                   .ssm_prefix = "/estuary/shop/",
                                   .key_id = "AKIAIOSFODNN7EXAMPLE",
                                   .key_secret = "a-placeholder",
                                   .sync_frequency = "30m"};
}

static inline void assert_yaml(const struct node *n, const char *wanted)
{
    AUTO_TEXT out = TEXT_INIT;
    node_write_yaml(n, &out);
    assert_string_equal(out.s, wanted);
}
#endif
