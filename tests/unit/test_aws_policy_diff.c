/* Policies compared by meaning: equality, and what one lacks or has beyond what is needed. */
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
#include "core/json.h"

/* --- equality --- */

static void equality(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool equal;
    } rows[] = {
        {DOC(ALLOW("\"s3:GetObject\"", "\"r\"")), DOC(ALLOW("[\"s3:getobject\"]", "[\"r\"]")),
         true},
        {DOC(ALLOW("[\"a:b\",\"a:c\"]", "[\"r\",\"q\"]")),
         DOC(ALLOW("[\"a:c\",\"a:b\"]", "[\"q\",\"r\"]")), true},
        {DOC(ALLOW("[\"a:b\",\"a:c\"]", "\"r\"")),
         DOC(ALLOW("\"a:b\"", "\"r\"") "," ALLOW("\"a:c\"", "\"r\"")), true},
        {"{\"Statement\":" ALLOW("\"a:b\"", "\"r\"") "}",
         "{\"Version\":\"2008-10-17\",\"Id\":\"x\",\"Statement\":[{\"Sid\":\"S\",\"Effect\":"
         "\"Allow\","
         "\"Action\":\"a:b\",\"Resource\":\"r\"}]}",
         true},
        {DOC(ALLOW("\"a:b\"", "\"r\"")), DOC(ALLOW("\"a:b\"", "\"R\"")), false},
        {DOC(ALLOW("\"a:b\"", "\"r\"")), DOC(ALLOW("\"a:*\"", "\"r\"")), false},
        {DOC(ALLOW("\"a:b\"", "\"r\"")),
         DOC("{\"Effect\":\"Deny\",\"Action\":\"a:b\",\"Resource\":\"r\"}"), false},
        {DOC(ALLOW("\"a:b\"", "\"r\"")),
         DOC("{\"Effect\":\"Allow\",\"NotAction\":\"a:b\",\"Resource\":\"r\"}"), false},
        {DOC("{\"Effect\":\"Allow\",\"NotAction\":[\"a:b\",\"a:c\"],\"Resource\":\"r\"}"),
         DOC("{\"Effect\":\"Allow\",\"NotAction\":\"a:b\",\"Resource\":\"r\"},"
             "{\"Effect\":\"Allow\",\"NotAction\":\"a:c\",\"Resource\":\"r\"}"),
         false},
        {DOC(WITH("\"a:b\"", "\"r\"", "{\"StringEquals\":{\"aws:X\":\"v\"}}")),
         DOC(WITH("\"a:b\"", "\"r\"", "{\"stringequals\":{\"AWS:x\":[\"v\"]}}")), true},
        {DOC(WITH("\"a:b\"", "\"r\"", "{\"StringEquals\":{\"k\":[\"v\",\"w\"],\"l\":\"x\"}}")),
         DOC(WITH("\"a:b\"", "\"r\"", "{\"StringEquals\":{\"l\":\"x\",\"k\":[\"w\",\"v\"]}}")),
         true},
        {DOC(WITH("\"a:b\"", "\"r\"", "{\"Bool\":{\"k\":\"true\"}}")),
         DOC(WITH("\"a:b\"", "\"r\"", "{\"Bool\":{\"k\":true}}")), true},
        {DOC(WITH("\"a:b\"", "\"r\"", "{\"StringEquals\":{\"k\":\"v\"}}")),
         DOC(WITH("\"a:b\"", "\"r\"", "{\"StringEquals\":{\"k\":\"V\"}}")), false},
        {DOC(WITH("\"a:b\"", "\"r\"", "{\"StringEquals\":{\"k\":\"v\"}}")),
         DOC(ALLOW("\"a:b\"", "\"r\"")), false},
        {DOC(WITH("\"a:b\"", "\"r\"", "{}")), DOC(ALLOW("\"a:b\"", "\"r\"")), true},
        {DOC(ALLOW("\"a:b\"", "\"r\"")), "no json", false},
        {"{}", "{}", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (policy_equal(rows[i].a, rows[i].b) != rows[i].equal ||
            policy_equal(rows[i].b, rows[i].a) != rows[i].equal)
            fail_msg("row %zu: %s and %s", i, rows[i].a, rows[i].b);
}

static void what_is_no_policy(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "",
        "{}",
        "[]",
        "null",
        "{\"Statement\":[]}",
        "{\"Statement\":\"x\"}",
        "{\"Statement\":[1]}",
        DOC("{\"Effect\":\"allow\",\"Action\":\"a:b\",\"Resource\":\"r\"}"),
        DOC("{\"Action\":\"a:b\",\"Resource\":\"r\"}"),
        DOC("{\"Effect\":\"Allow\",\"Resource\":\"r\"}"),
        DOC("{\"Effect\":\"Allow\",\"Action\":\"a:b\"}"),
        DOC("{\"Effect\":\"Allow\",\"Action\":{\"a\":1},\"Resource\":\"r\"}"),
        DOC("{\"Effect\":\"Allow\",\"Action\":[[\"a:b\"]],\"Resource\":\"r\"}"),
        DOC(WITH("\"a:b\"", "\"r\"", "\"x\"")),
        DOC(WITH("\"a:b\"", "\"r\"", "{\"S\":\"x\"}")),
        DOC(WITH("\"a:b\"", "\"r\"", "{\"S\":{\"k\":{}}}")),
        DOC("{\"Effect\":\"Allow\",\"Action\":\"a:b\",\"Principal\":\"everybody\"}")};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        AUTO_POLICY_DOCUMENT d = {0};
        if (policy_read(rows[i], &d, &err) == 0)
            fail_msg("read: %s", rows[i]);
        assert_int_equal(err.kind, PROBLEM_PROTOCOL);
        assert_int_equal(d.count, 0);
    }
    AUTO_TEXT huge = TEXT_INIT;
    text_add(&huge, "{\"Statement\":[{\"Effect\":\"Allow\",\"Resource\":\"r\",\"Action\":[\"a\"");
    for (int i = 0; i < 6000; i++)
        text_addf(&huge, ",\"%d\"", i);
    text_add(&huge, "]}]}");
    AUTO_POLICY_DOCUMENT d = {0};
    assert_int_equal(policy_read(huge.s, &d, NULL), -1);
}

/* --- differences --- */

static size_t rows_of(const struct policy_diff *d, enum policy_mark mark)
{
    size_t n = 0;
    for (size_t i = 0; i < d->count; i++)
        n += d->rows[i].mark == mark;
    return n;
}

static const struct policy_row *row_of(const struct policy_diff *d, enum policy_mark mark,
                                       const char *action)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->rows[i].mark == mark && strcmp(d->rows[i].action, action) == 0)
            return &d->rows[i];
    fail_msg("no row of %s", action);
    return NULL;
}

static void nothing_there_is_all_missing(void **state)
{
    (void)state;
    static const size_t grants[] = {[POLICY_ROLE] = 11, [POLICY_TRUST] = 1, [POLICY_USER] = 15};
    struct policy_values v = values();
    for (int kind = POLICY_ROLE; kind <= POLICY_USER; kind++) {
        AUTO_POLICY_DIFF d = {0};
        AUTO(xfree) char *want = rendered((enum policy_kind)kind, &v);
        assert_int_equal(policy_compare((enum policy_kind)kind, want, NULL, 0, &d, NULL), 0);
        assert_int_equal(d.count, grants[kind]);
        assert_int_equal(rows_of(&d, POLICY_MISSING), grants[kind]);
        for (size_t i = 0; i < d.count; i++) /* every grant has its reason */
            assert_non_null(d.rows[i].needed_for);
        const char *have[] = {want};
        AUTO_POLICY_DIFF same = {0};
        assert_int_equal(policy_compare((enum policy_kind)kind, want, have, 1, &same, NULL), 0);
        assert_int_equal(same.count, 0);
    }
}

/* Takes the action out of the document, wherever it stands. */
static char *without(const char *document, const char *action, const char *sid)
{
    cJSON *o = cJSON_Parse(document), *s;
    cJSON_ArrayForEach(s, cJSON_GetObjectItem(o, "Statement"))
    {
        cJSON *a = cJSON_GetObjectItem(s, "Action");
        if (strcmp(json_text(s, "Sid"), sid) != 0)
            continue;
        if (cJSON_IsString(a)) {
            cJSON_SetValuestring(a, "none:Nothing");
            continue;
        }
        for (int i = cJSON_GetArraySize(a) - 1; i >= 0; i--)
            if (strcmp(cJSON_GetArrayItem(a, i)->valuestring, action) == 0)
                cJSON_DeleteItemFromArray(a, i);
    }
    char *printed = cJSON_PrintUnformatted(o);
    char *copy = xstrdup(printed);
    cJSON_free(printed);
    cJSON_Delete(o);
    return copy;
}

static void each_action_that_is_missing_is_named(void **state)
{
    (void)state;
    struct policy_values v = values();
    for (int kind = POLICY_ROLE; kind <= POLICY_USER; kind++) {
        AUTO(xfree) char *want = rendered((enum policy_kind)kind, &v);
        AUTO_POLICY_DOCUMENT w = {0};
        assert_int_equal(policy_read(want, &w, NULL), 0);
        for (size_t i = 0; i < w.count; i++)
            for (size_t a = 0; a < w.list[i].actions.count; a++) {
                AUTO_POLICY_DIFF d = {0};
                AUTO(xfree) char *have = without(want, w.list[i].actions.list[a], w.list[i].sid);
                const char *list[] = {have};
                assert_int_equal(policy_compare((enum policy_kind)kind, want, list, 1, &d, NULL),
                                 0);
                assert_int_equal(rows_of(&d, POLICY_MISSING), w.list[i].resources.count);
                const struct policy_row *row =
                    row_of(&d, POLICY_MISSING, w.list[i].actions.list[a]);
                assert_string_equal(row->resource, w.list[i].resources.list[0]);
            }
    }
}

/* The documents of the guide, as an operator may have made them before. */
static const char guide_user[] = DOC(
    "{\"Sid\":\"EMRServerlessManageJobs\",\"Effect\":\"Allow\",\"Action\":["
    "\"emr-serverless:ListApplications\",\"emr-serverless:StartJobRun\","
    "\"emr-serverless:GetJobRun\",\"emr-serverless:ListJobRuns\",\"emr-serverless:CancelJobRun\","
    "\"emr-serverless:GetApplication\",\"emr-serverless:StartApplication\"],\"Resource\":["
    "\"" APP "\",\"" APP "/jobruns/*\"]},"
    "{\"Effect\":\"Allow\",\"Action\":\"iam:PassRole\",\"Resource\":\"" ROLE_ARN "\","
    "\"Condition\":{\"StringEquals\":{\"iam:PassedToService\":\"emr-serverless.amazonaws.com\"}}}"
    "," ALLOW("\"s3:ListBucket\"", "\"arn:aws:s3:::our-staging\"") "," ALLOW(
        "[\"s3:GetObject\",\"s3:PutObject\",\"s3:DeleteObject\"]",
        "\"arn:aws:s3:::our-staging/estuary-staging/*\"") "," ALLOW("[\"s3:GetObject\",\"s3:"
                                                                    "PutObject\",\"s3:"
                                                                    "DeleteObject\"]",
                                                                    "\"arn:aws:s3:::our-staging/"
                                                                    "iceberg/*\"") "," ALLOW("[\"ss"
                                                                                             "m:"
                                                                                             "PutPa"
                                                                                             "ramet"
                                                                                             "er\","
                                                                                             "\"ssm"
                                                                                             ":GetP"
                                                                                             "arame"
                                                                                             "ter\""
                                                                                             ",\"ss"
                                                                                             "m:"
                                                                                             "GetPa"
                                                                                             "ramet"
                                                                                             "ers\""
                                                                                             ","
                                                                                             "\"ssm"
                                                                                             ":Dele"
                                                                                             "tePar"
                                                                                             "amete"
                                                                                             "r\"]",
                                                                                             "\"" SSM
                                                                                             "\""));

static void the_guides_user_policy(void **state)
{
    (void)state;
    AUTO_POLICY_DIFF d = {0};
    AUTO_POLICY_FAULTS f = {0};
    struct policy_values v = values();
    AUTO(xfree) char *want = rendered(POLICY_USER, &v);
    const char *have[] = {guide_user};
    assert_int_equal(policy_compare(POLICY_USER, want, have, 1, &d, NULL), 0);
    assert_int_equal(rows_of(&d, POLICY_MISSING), 2);
    const struct policy_row *tag = row_of(&d, POLICY_MISSING, "emr-serverless:TagResource");
    assert_string_equal(tag->resource, APP "/jobruns/*");
    assert_true(tag->soft);
    assert_true(row_of(&d, POLICY_MISSING, "s3:AbortMultipartUpload")->soft);
    assert_int_equal(rows_of(&d, POLICY_WIDER) + rows_of(&d, POLICY_DENIED), 0);
    row_of(&d, POLICY_EXTRA, "emr-serverless:ListApplications");
    row_of(&d, POLICY_EXTRA, "emr-serverless:StartApplication");
    row_of(&d, POLICY_EXTRA, "ssm:GetParameters");
    assert_null(row_of(&d, POLICY_EXTRA, "s3:GetObject")->needed_for);
    assert_int_equal(policy_lint(guide_user, &f, NULL), 0);
    assert_int_equal(f.count, 2); /* on the application and on its runs */
    assert_string_equal(f.list[0].action, "emr-serverless:ListApplications");
    assert_string_equal(f.list[0].statement, "EMRServerlessManageJobs");
    assert_string_equal(f.list[0].why,
                        "this action knows no resource, so with an ARN it grants nothing");
}

static void the_guides_trust_policy(void **state)
{
    (void)state;
    static const char guide[] =
        DOC("{\"Effect\":\"Allow\",\"Principal\":{\"Service\":\"emr-serverless.amazonaws.com\"},"
            "\"Action\":\"sts:AssumeRole\"}");
    static const char foreign[] =
        DOC("{\"Effect\":\"Allow\",\"Principal\":{\"Service\":[\"ec2.amazonaws.com\"],"
            "\"AWS\":\"123456789012\"},\"Action\":\"sts:AssumeRole\"}");
    AUTO_POLICY_DIFF d = {0};
    AUTO_POLICY_DIFF e = {0};
    const char *have[] = {guide};
    assert_int_equal(policy_compare(POLICY_TRUST, TRUST, have, 1, &d, NULL), 0);
    assert_int_equal(d.count, 1);
    assert_int_equal(d.rows[0].mark, POLICY_WIDER);
    assert_string_equal(d.rows[0].resource, "Service:emr-serverless.amazonaws.com");
    assert_string_equal(d.rows[0].detail, "stringequals aws:sourceaccount = 123456789012");
    have[0] = foreign;
    assert_int_equal(policy_compare(POLICY_TRUST, TRUST, have, 1, &e, NULL), 0);
    assert_int_equal(rows_of(&e, POLICY_MISSING), 1);
    assert_int_equal(rows_of(&e, POLICY_EXTRA), 2);
}

static void wildcards_and_denials(void **state)
{
    (void)state;
    static const char all[] = DOC(ALLOW("\"*\"", "\"*\""));
    static const char but_iam[] = DOC("{\"Effect\":\"Allow\",\"NotAction\":\"iam:*\","
                                      "\"Resource\":\"*\"}");
    static const char deny[] = DOC("{\"Effect\":\"Deny\",\"Action\":\"s3:Put*\","
                                   "\"Resource\":\"arn:aws:s3:::our-*\"}");
    static const char deny_if[] =
        DOC("{\"Effect\":\"Deny\",\"Action\":\"s3:*\",\"Resource\":\"*\",\"Condition\":{\"Bool\":"
            "{\"aws:SecureTransport\":\"false\"}}}");
    static const char deny_but[] = DOC("{\"Effect\":\"Deny\",\"Action\":\"ssm:*\",\"NotResource\":"
                                       "\"arn:aws:ssm:us-east-1:123456789012:parameter/other/*\"}");
    static const struct {
        const char *have[2];
        size_t missing, denied, wider, extra;
    } rows[] = {
        {{all, NULL}, 0, 0, 1, 1},     /* PassRole without its condition */
        {{but_iam, NULL}, 1, 0, 0, 1}, /* PassRole */
        {{all, deny}, 0, 1, 1, 1},     /* PutObject */
        {{deny, NULL}, 14, 1, 0, 0},
        {{all, deny_if}, 0, 5, 1, 1},  /* perhaps: ListBucket and the four of Staging */
        {{all, deny_but}, 0, 3, 1, 1}, /* the three of SSM */
    };
    struct policy_values v = values();
    AUTO(xfree) char *want = rendered(POLICY_USER, &v);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_POLICY_DIFF d = {0};
        assert_int_equal(policy_compare(POLICY_USER, want, rows[i].have,
                                        rows[i].have[1] != NULL ? 2 : 1, &d, NULL),
                         0);
        if (rows_of(&d, POLICY_MISSING) != rows[i].missing ||
            rows_of(&d, POLICY_DENIED) != rows[i].denied ||
            rows_of(&d, POLICY_WIDER) != rows[i].wider ||
            rows_of(&d, POLICY_EXTRA) != rows[i].extra)
            fail_msg("row %zu: missing %zu denied %zu wider %zu extra %zu", i,
                     rows_of(&d, POLICY_MISSING), rows_of(&d, POLICY_DENIED),
                     rows_of(&d, POLICY_WIDER), rows_of(&d, POLICY_EXTRA));
    }
}

static void a_condition_that_is_another_is_told(void **state)
{
    (void)state;
    static const char ip[] = DOC(WITH("\"s3:ListBucket\"", "\"arn:aws:s3:::our-staging\"",
                                      "{\"IpAddress\":{\"aws:SourceIp\":\"10.0.0.0/8\"}}"));
    AUTO_POLICY_DIFF d = {0};
    struct policy_values v = values();
    AUTO(xfree) char *want = rendered(POLICY_USER, &v);
    const char *have[] = {ip};
    assert_int_equal(policy_compare(POLICY_USER, want, have, 1, &d, NULL), 0);
    const struct policy_row *row = row_of(&d, POLICY_MISSING, "s3:ListBucket");
    assert_string_equal(row->detail, "ipaddress aws:sourceip = 10.0.0.0/8");
    assert_string_equal(row->needed_for, "the connector lists its files when a task is validated");
    AUTO_PROBLEM err = PROBLEM_INIT;
    const char *broken[] = {ip, "{"};
    AUTO_POLICY_DIFF e = {0};
    assert_int_equal(policy_compare(POLICY_USER, want, broken, 2, &e, &err), -1);
    assert_int_equal(e.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equality),
        cmocka_unit_test(what_is_no_policy),
        cmocka_unit_test(nothing_there_is_all_missing),
        cmocka_unit_test(each_action_that_is_missing_is_named),
        cmocka_unit_test(the_guides_user_policy),
        cmocka_unit_test(the_guides_trust_policy),
        cmocka_unit_test(wildcards_and_denials),
        cmocka_unit_test(a_condition_that_is_another_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
