/* Where a service is reached and how it is signed; what is no region, no bucket, no endpoint. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "aws/s3.h"
#include "aws/service.h"
#include "aws/ssm.h"
#include "core/mem.h"

static int clean(void **state)
{
    static const char *const names[] = {"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3",
                                        "AWS_ENDPOINT_URL_EMR_SERVERLESS", "AWS_ENDPOINT_URL_STS",
                                        "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unsetenv(names[i]);
    return 0;
}

/* As botocore's endpoint resolver has them. */
static void hosts(void **state)
{
    (void)state;
    static const struct {
        const struct aws_service *service;
        const char *region, *bucket, *host, *signing;
    } rows[] = {
        {&aws_sts, "us-east-1", NULL, "sts.us-east-1.amazonaws.com", "us-east-1"},
        {&aws_sts, "mx-central-1", NULL, "sts.mx-central-1.amazonaws.com", "mx-central-1"},
        {&aws_iam, "eu-west-1", NULL, "iam.amazonaws.com", "us-east-1"},
        {&aws_iam, "cn-northwest-1", NULL, "iam.cn-north-1.amazonaws.com.cn", "cn-north-1"},
        {&aws_iam, "us-gov-east-1", NULL, "iam.us-gov.amazonaws.com", "us-gov-west-1"},
        {&aws_iam, "eusc-de-east-1", NULL, "iam.eusc-de-east-1.amazonaws.eu", "eusc-de-east-1"},
        {&aws_iam, "us-isob-east-1", NULL, "iam.us-isob-east-1.sc2s.sgov.gov", "us-isob-east-1"},
        {&aws_ssm, "ap-southeast-5", NULL, "ssm.ap-southeast-5.amazonaws.com", "ap-southeast-5"},
        {&aws_ec2, "us-iso-west-1", NULL, "ec2.us-iso-west-1.c2s.ic.gov", "us-iso-west-1"},
        {&aws_emr, "cn-north-1", NULL, "emr-serverless.cn-north-1.amazonaws.com.cn", "cn-north-1"},
        {&aws_emr, "us-west-2", NULL, "emr-serverless.us-west-2.amazonaws.com", "us-west-2"},
        {&aws_s3, "eu-west-1", NULL, "s3.eu-west-1.amazonaws.com", "eu-west-1"},
        {&aws_s3, "eu-west-1", "stage-1", "stage-1.s3.eu-west-1.amazonaws.com", "eu-west-1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct aws_endpoint e;
        assert_int_equal(aws_endpoint_of(rows[i].service, rows[i].region, rows[i].bucket, &e, NULL),
                         0);
        AUTO(xfree) char *base = xasprintf("https://%s", rows[i].host);
        assert_string_equal(e.base, base);
        assert_string_equal(e.host, rows[i].host);
        assert_string_equal(e.signing_region, rows[i].signing);
        assert_false(e.overridden);
        aws_endpoint_release(&e);
    }
    assert_false(aws_endpoints_overridden());
}

static void partitions(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"us-east-1", "aws"},
                                          {"cn-north-1", "aws-cn"},
                                          {"us-gov-west-1", "aws-us-gov"},
                                          {"eusc-de-east-1", "aws-eusc"},
                                          {"us-iso-east-1", "aws-iso"},
                                          {"us-isob-east-1", "aws-iso-b"},
                                          {"eu-isoe-west-1", "aws-iso-e"},
                                          {"us-isof-south-1", "aws-iso-f"},
                                          {"", "aws"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_string_equal(aws_partition_of(rows[i][0]), rows[i][1]);
}

static void regions(void **state)
{
    (void)state;
    static const char *const good[] = {"us-east-1",      "ap-northeast-3", "us-gov-east-1",
                                       "eusc-de-east-1", "il-central-1",   "us-isof-south-1"};
    static const char *const bad[] = {
        "",           "us-east",    "us-east-",           "US-EAST-1",  "us east 1",
        "us-east-1 ", "us-east-1/", "evil.com/",          "us-east-1a", "us-east-123",
        "1-us-east",  "us--east-1", "us-east-1.evil.com", "east-1"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_int_equal(aws_region_check(good[i], NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        struct aws_endpoint e;
        assert_int_equal(aws_region_check(bad[i], &err), -1);
        assert_int_equal(err.kind, PROBLEM_INPUT);
        assert_int_equal(aws_endpoint_of(&aws_sts, bad[i], NULL, &e, NULL), -1);
    }
    assert_int_equal(aws_region_check(NULL, NULL), -1);
    AUTO_PROBLEM zone = PROBLEM_INIT;
    aws_region_check("us-east-1a", &zone);
    assert_string_equal(zone.why, "It is an availability zone.");
    assert_string_equal(zone.fix, "give its region: us-east-1");
}

static void a_bucket_cannot_become_another_host(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",          "ab",     "with.dots",
        "evil.com/", "a/../b", "a@evil",
        "a:1",       "UPPER",  "a b c",
        "x\r\ny",    "a#bc",   "0123456789012345678901234567890123456789012345678901234567890123"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        struct aws_endpoint e;
        assert_int_equal(aws_endpoint_of(&aws_s3, "us-east-1", bad[i], &e, &err), -1);
        assert_int_equal(err.kind, PROBLEM_INPUT);
        assert_null(e.base);
    }
}

static void expect_override(const struct aws_service *s, const char *base, const char *host)
{
    struct aws_endpoint e;
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (aws_endpoint_of(s, "eu-west-1", NULL, &e, &err) != 0)
        fail_msg("%s", err.what);
    assert_string_equal(e.base, base);
    assert_string_equal(e.host, host);
    assert_true(e.overridden);
    assert_string_equal(e.signing_region, s->global ? "us-east-1" : "eu-west-1");
    assert_true(aws_endpoints_overridden());
    aws_endpoint_release(&e);
}

static void overrides(void **state)
{
    (void)state;
    setenv("AWS_ENDPOINT_URL", "https://aws.example.com:8443/", 1);
    expect_override(&aws_iam, "https://aws.example.com:8443", "aws.example.com:8443");
    setenv("AWS_ENDPOINT_URL_EMR_SERVERLESS", "https://emr.example.com", 1);
    expect_override(&aws_emr, "https://emr.example.com", "emr.example.com");
    expect_override(&aws_s3, "https://aws.example.com:8443", "aws.example.com:8443");
    setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:4566", 1);
    expect_override(&aws_s3, "http://127.0.0.1:4566", "127.0.0.1:4566");
    setenv("AWS_ENDPOINT_URL_S3", "http://localhost:80", 1);
    expect_override(&aws_s3, "http://localhost", "localhost");
    setenv("AWS_ENDPOINT_URL_S3", "http://[::1]:4566", 1);
    expect_override(&aws_s3, "http://[::1]:4566", "[::1]:4566");
    setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "True", 1);
    struct aws_endpoint e;
    assert_int_equal(aws_endpoint_of(&aws_s3, "eu-west-1", NULL, &e, NULL), 0);
    assert_string_equal(e.host, "s3.eu-west-1.amazonaws.com");
    assert_false(aws_endpoints_overridden());
    aws_endpoint_release(&e);
}

static void overrides_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *url, *says;
    } rows[] = {{"http://aws.example.com", "is not https"},
                {"http://127.evil.com", "is not https"},
                {"http://localhost.evil.com:4566", "is not https"},
                {"https://aws.example.com/v1", "has a path"},
                {"https://aws.example.com?x=y", "has a path"},
                {"ftp://x", NULL},
                {"not a url", NULL}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        struct aws_endpoint e;
        setenv("AWS_ENDPOINT_URL_STS", rows[i].url, 1);
        assert_int_equal(aws_endpoint_of(&aws_sts, "eu-west-1", NULL, &e, &err), -1);
        assert_int_equal(err.kind, PROBLEM_INPUT);
        if (rows[i].says != NULL)
            assert_non_null(strstr(err.what, rows[i].says));
        assert_null(e.host);
    }
}

/* --- names that have rules of their own --- */

static void names_of_buckets(void **state)
{
    (void)state;
    static const char *const good[] = {"abc", "sluice-shop-staging-123456789012-eu-west-1", "0a1"};
    static const char *const bad[][2] = {{"ab", "3 to 63"},
                                         {"192.168.5.4", "IP address"},
                                         {"a.b.c", "certificate"},
                                         {"Shop", "lower-case"},
                                         {"shop_x", "lower-case"},
                                         {"-shop", "begin and end"},
                                         {"shop-", "begin and end"},
                                         {"xn--shop", "this beginning"},
                                         {"sthree-shop", "this beginning"},
                                         {"shop-s3alias", "this ending"},
                                         {"shop--x-s3", "this ending"},
                                         {"", "3 to 63"}};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_int_equal(s3_bucket_name_check(good[i], NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_int_equal(s3_bucket_name_check(bad[i][0], &err), -1);
        if (strstr(err.why, bad[i][1]) == NULL)
            fail_msg("%s: %s", bad[i][0], err.why);
    }
}

static void prefixes_of_parameters(void **state)
{
    (void)state;
    static const char *const good[] = {"/estuary/", "/a/", "/team.x/est_u-ary/",
                                       "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/"};
    static const char *const bad[][2] = {{"estuary/", "begin and end"},
                                         {"/estuary", "begin and end"},
                                         {"/", "begin and end"},
                                         {"//", "begin and end"},
                                         {"/a//b/", "side by side"},
                                         {"/aws/x/", "reserved"},
                                         {"/SSM-x/", "reserved"},
                                         {"/a b/", "only letters"},
                                         {"/ü/", "only letters"},
                                         {"/a*/", "only letters"},
                                         {"/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/", "15 levels"}};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_int_equal(ssm_prefix_check(good[i], NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_int_equal(ssm_prefix_check(bad[i][0], &err), -1);
        if (strstr(err.why, bad[i][1]) == NULL)
            fail_msg("%s: %s", bad[i][0], err.why);
    }
    AUTO(xfree) char *arn = ssm_arn("aws", "us-east-1", "123456789012", "/estuary/x");
    assert_string_equal(arn, "arn:aws:ssm:us-east-1:123456789012:parameter/estuary/x");
    AUTO(xfree) char *flat = ssm_arn("aws-cn", "cn-north-1", "123456789012", "x");
    assert_string_equal(flat, "arn:aws-cn:ssm:cn-north-1:123456789012:parameter/x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(hosts, clean),
        cmocka_unit_test(partitions),
        cmocka_unit_test_setup(regions, clean),
        cmocka_unit_test_setup(a_bucket_cannot_become_another_host, clean),
        cmocka_unit_test_setup(overrides, clean),
        cmocka_unit_test_setup(overrides_that_are_refused, clean),
        cmocka_unit_test(names_of_buckets),
        cmocka_unit_test(prefixes_of_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
