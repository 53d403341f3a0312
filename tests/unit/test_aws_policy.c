/* Policies: what is rendered, what fits, what looks right and is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aws/policy_read.h"
#include "aws_policy_values.h"

/* --- rendering --- */

static const char role_document[] =
    "{\"Version\":\"2012-10-17\",\"Statement\":["
    "{\"Sid\":\"ListBuckets\",\"Effect\":\"Allow\",\"Action\":\"s3:ListBucket\",\"Resource\":["
    "\"arn:aws:s3:::bauplan-lake\",\"arn:aws:s3:::our-staging\"]},"
    "{\"Sid\":\"ReadObjects\",\"Effect\":\"Allow\",\"Action\":\"s3:GetObject\",\"Resource\":["
    "\"arn:aws:s3:::bauplan-lake/*\",\"arn:aws:s3:::our-staging/*\"]},"
    "{\"Sid\":\"WriteTables\",\"Effect\":\"Allow\",\"Action\":[\"s3:PutObject\","
    "\"s3:DeleteObject\",\"s3:AbortMultipartUpload\"],"
    "\"Resource\":\"arn:aws:s3:::bauplan-lake/iceberg/*\"},"
    "{\"Sid\":\"WriteStaging\",\"Effect\":\"Allow\",\"Action\":[\"s3:PutObject\","
    "\"s3:DeleteObject\",\"s3:AbortMultipartUpload\"],"
    "\"Resource\":\"arn:aws:s3:::our-staging/estuary-staging/*\"},"
    "{\"Sid\":\"ReadCatalogCredential\",\"Effect\":\"Allow\",\"Action\":\"ssm:GetParameter\","
    "\"Resource\":\"" SSM "\"}]}";

static void the_documents(void **state)
{
    (void)state;
    struct policy_values v = values();
    AUTO(xfree) char *role = rendered(POLICY_ROLE, &v);
    AUTO(xfree) char *trust = rendered(POLICY_TRUST, &v);
    AUTO(xfree) char *user = rendered(POLICY_USER, &v);
    assert_string_equal(role, role_document);
    assert_string_equal(trust, TRUST);
    assert_null(strpbrk(user, "<>"));
    assert_non_null(strstr(user, "\"" APP "\""));
    assert_non_null(strstr(user, "\"" APP "/jobruns/*\""));
    assert_non_null(strstr(user, "\"Resource\":\"" ROLE_ARN "\""));
    assert_non_null(strstr(user, "\"iam:PassedToService\":\"emr-serverless.amazonaws.com\""));
    assert_null(strstr(user, "ListApplications"));
    assert_null(strstr(user, "bauplan-lake"));
}

static void one_bucket_for_both_stands_once(void **state)
{
    (void)state;
    struct policy_values v = values();
    v.staging = v.lake;
    v.lake_prefix = "";
    AUTO(xfree) char *role = rendered(POLICY_ROLE, &v);
    assert_non_null(strstr(role, "\"Resource\":[\"arn:aws:s3:::bauplan-lake\"]"));
    assert_non_null(strstr(role, "\"Resource\":[\"arn:aws:s3:::bauplan-lake/*\"]"));
    assert_non_null(strstr(role, "\"Resource\":\"arn:aws:s3:::bauplan-lake/*\""));
    assert_non_null(strstr(role, "\"Resource\":\"arn:aws:s3:::bauplan-lake/estuary-staging/*\""));
}

static void another_partition(void **state)
{
    (void)state;
    struct policy_values v = values();
    v.partition = "aws-us-gov";
    v.region = "us-gov-west-1";
    v.role_arn = "arn:aws-us-gov:iam::123456789012:role/team/x";
    for (int kind = POLICY_ROLE; kind <= POLICY_USER; kind++) {
        AUTO(xfree) char *document = rendered((enum policy_kind)kind, &v);
        assert_null(strstr(document, "arn:aws:"));
    }
}

/* Nothing typed changes the shape of a policy or widens it. */
static void values_that_do_not_fit(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        const char *value;
    } rows[] = {
        {offsetof(struct policy_values, partition), "aws:iam"},
        {offsetof(struct policy_values, region), "*"},
        {offsetof(struct policy_values, region), "us-east-1a"},
        {offsetof(struct policy_values, account), "1234"},
        {offsetof(struct policy_values, account), "12345678901x"},
        {offsetof(struct policy_values, lake), "*"},
        {offsetof(struct policy_values, lake), "lake/x"},
        {offsetof(struct policy_values, lake), ""},
        {offsetof(struct policy_values, lake_prefix), "/iceberg"},
        {offsetof(struct policy_values, lake_prefix), "iceberg/"},
        {offsetof(struct policy_values, lake_prefix), "ice*"},
        {offsetof(struct policy_values, lake_prefix), "i?eberg"},
        {offsetof(struct policy_values, lake_prefix), "${aws:username}"},
        {offsetof(struct policy_values, lake_prefix), "a//b"},
        {offsetof(struct policy_values, lake_prefix), "a\",\"arn:aws:s3:::other/*"},
        {offsetof(struct policy_values, staging), "Our_Staging"},
        {offsetof(struct policy_values, staging_prefix), "a b"},
        {offsetof(struct policy_values, ssm_prefix), "estuary"},
        {offsetof(struct policy_values, ssm_prefix), "/*/"},
        {offsetof(struct policy_values, ssm_prefix), "(known after: x)"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        struct policy_values v = values();
        char *document = NULL;
        memcpy((char *)&v + rows[i].at, &rows[i].value, sizeof(rows[i].value));
        if (policy_render(POLICY_ROLE, &v, &document, &err) == 0)
            fail_msg("row %zu: %s", i, document);
        assert_int_equal(err.kind, PROBLEM_INPUT);
        assert_null(document);
    }
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct policy_values v = values();
    char *document = NULL;
    v.role_arn = "arn:aws:iam::123456789012:role/*";
    assert_int_equal(policy_render(POLICY_USER, &v, &document, &err), -1);
    v = values();
    v.application = NULL;
    assert_int_equal(policy_render(POLICY_USER, &v, &document, NULL), -1);
    v.application = "(known after: create application)";
    assert_int_equal(policy_render(POLICY_USER, &v, &document, NULL), -1);
    v.preview = true;
    AUTO(xfree) char *preview = rendered(POLICY_USER, &v);
    assert_non_null(strstr(preview, "/applications/(known after: create application)/jobruns/*"));
}

/* --- size --- */

static void sizes(void **state)
{
    (void)state;
    assert_int_equal(policy_size("{ \"a\" :\t[ 1,\n 2 ] }"), 11);
    assert_int_equal(policy_size("{\"a b\": \"c \\\" d\"}"), 16);
    assert_int_equal(policy_size(""), 0);
    assert_int_equal(policy_size("\"\\"), 2);
    assert_int_equal(policy_limit(POLICY_ROLE), 10240);
    assert_int_equal(policy_limit(POLICY_USER), 2048);
    assert_int_equal(policy_limit(POLICY_TRUST), 2048);
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct policy_values v = values();
    AUTO(xfree) char *user = rendered(POLICY_USER, &v);
    size_t size = policy_size(user);
    assert_int_equal(size, strlen(user));
    assert_int_equal(policy_fits(POLICY_USER, user, 2048 - size, NULL), 0);
    assert_int_equal(policy_fits(POLICY_USER, user, 2049 - size, &err), -1);
    assert_int_equal(err.kind, PROBLEM_CONFLICT);
    assert_string_equal(err.code, "policy size");
    AUTO(xfree)
    char *taken = xasprintf("2048 characters together, of which %zu are taken", 2049 - size);
    assert_non_null(strstr(err.why, taken));
}

/* With the longest names that AWS allows it still fits on a new user and role. */
static void the_longest_names_fit(void **state)
{
    (void)state;
    char bucket[64] = {0}, prefix[41] = {0}, arn[128];
    memset(bucket, 'b', 63);
    memset(prefix, 'p', 40);
    snprintf(arn, sizeof(arn), "arn:aws:iam::123456789012:role/%.64s",
             "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr");
    struct policy_values v = values();
    v.region = "ap-southeast-2";
    v.lake = v.staging = bucket;
    v.lake_prefix = v.staging_prefix = prefix;
    v.role_arn = arn;
    v.application = "00f123456789abcdef0";
    for (int kind = POLICY_ROLE; kind <= POLICY_USER; kind++) {
        AUTO(xfree) char *document = rendered((enum policy_kind)kind, &v);
        assert_int_equal(policy_fits((enum policy_kind)kind, document, 0, NULL), 0);
    }
}

/* --- patterns --- */

static void patterns(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *what;
        bool covers, any_case;
    } rows[] = {
        {"s3:*", "s3:GetObject", true, true},
        {"S3:get*", "s3:GetObject", true, true},
        {"s3:GetObjec?", "s3:GetObject", true, true},
        {"s3:GetObject?", "s3:GetObject", false, true},
        {"*", "anything", true, false},
        {"*", "", true, false},
        {"", "", true, false},
        {"", "a", false, false},
        {"a*b*c", "aXXbYYc", true, false},
        {"a*b*c", "aXXbYY", false, false},
        {"*aab", "aaaaab", true, false},
        {"arn:aws:s3:::b/*", "arn:aws:s3:::b/x/*", true, false},
        {"arn:aws:s3:::b/x/*", "arn:aws:s3:::b/*", false, false},
        {"arn:aws:s3:::b/x?", "arn:aws:s3:::b/x*", false, false},
        {"arn:aws:s3:::b/x*", "arn:aws:s3:::b/x?", true, false},
        {"arn:aws:s3:::B/*", "arn:aws:s3:::b/x", false, false},
        {"a.b", "axb", false, false},
        {"*?", "*", false, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (policy_covers(rows[i].pattern, rows[i].what, rows[i].any_case) != rows[i].covers)
            fail_msg("%s against %s", rows[i].pattern, rows[i].what);
}

/* --- lint --- */

static void faults(void **state)
{
    (void)state;
    static const struct {
        const char *document, *why; /* NULL = none */
    } rows[] = {
        {DOC(ALLOW("\"emr-serverless:ListApplications\"", "\"*\"")), NULL},
        {DOC(ALLOW("\"emr-serverless:ListApplications\"", "\"" APP "\"")), "knows no resource"},
        {DOC(ALLOW("\"s3:ListBucket\"", "\"arn:aws:s3:::b/estuary-staging/*\"")), "on the bucket"},
        {DOC(ALLOW("\"s3:ListBucket\"", "[\"arn:aws:s3:::b\",\"arn:aws:s3:::b/*\"]")), NULL},
        {DOC(WITH("\"s3:ListBucket\"", "\"arn:aws:s3:::b\"",
                  "{\"StringLike\":{\"s3:prefix\":\"estuary-staging/*\"}}")),
         "without a slash at the end"},
        {DOC(ALLOW("\"s3:GetObject\"", "\"arn:aws:s3:::b\"")), "ARNs with a slash"},
        {DOC(ALLOW("\"s3:GetObject\"", "\"arn:aws:s3:::b*\"")), NULL},
        {DOC(ALLOW("\"ssm:GetParameter\"",
                   "\"arn:aws:ssm:us-east-1:123456789012:parameter//estuary//*\"")),
         "with two it matches nothing"},
        {DOC(ALLOW("\"emr-serverless:StartJobRun\"",
                   "\"arn:aws:emr-serverless:us-east-1:123456789012:applications/00f1\"")),
         "slash after the last colon"},
        {DOC(ALLOW("\"emr-serverless:GetJobRun\"", "\"" APP "\"")), "on the job run"},
        {DOC(ALLOW("\"emr-serverless:GetJobRun\"", "[\"" APP "\",\"" APP "/jobruns/*\"]")), NULL},
        {DOC(ALLOW("\"emr-serverless:ListJobRuns\"", "\"" APP "/jobruns/*\"")),
         "on the application"},
        {DOC(ALLOW("\"iam:PassRole\"", "\"*\"")), "an administrator's too"},
        {DOC(ALLOW("\"iam:PassRole\"", "[\"" ROLE_ARN "\",\"*\"]")), "an administrator's too"},
        {DOC(ALLOW("\"iam:PassRole\"", "\"arn:aws:iam::123456789012:user/x\"")), "only roles"},
        {DOC("{\"Effect\":\"Deny\",\"Action\":\"iam:PassRole\",\"Resource\":\"*\"}"), NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_POLICY_FAULTS f = {0};
        assert_int_equal(policy_lint(rows[i].document, &f, NULL), 0);
        if ((f.count > 0) != (rows[i].why != NULL))
            fail_msg("row %zu: %zu faults", i, f.count);
        if (f.count > 0 && strstr(f.list[0].why, rows[i].why) == NULL)
            fail_msg("row %zu: %s", i, f.list[0].why);
    }
    AUTO_POLICY_FAULTS f = {0};
    assert_int_equal(policy_lint("{", &f, NULL), -1);
    struct policy_values v = values();
    for (int kind = POLICY_ROLE; kind <= POLICY_USER; kind++) { /* ours have none */
        AUTO_POLICY_FAULTS own = {0};
        AUTO(xfree) char *document = rendered((enum policy_kind)kind, &v);
        assert_int_equal(policy_lint(document, &own, NULL), 0);
        assert_int_equal(own.count, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documents),
        cmocka_unit_test(one_bucket_for_both_stands_once),
        cmocka_unit_test(another_partition),
        cmocka_unit_test(values_that_do_not_fit),
        cmocka_unit_test(sizes),
        cmocka_unit_test(the_longest_names_fit),
        cmocka_unit_test(patterns),
        cmocka_unit_test(faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
