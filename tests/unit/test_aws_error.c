/* What AWS's errors become: codes in every protocol, the half of AccessDenied that helps, and
 * answers that are not AWS's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "aws/error.h"
#include "core/mem.h"

static struct http_response answer(int status, const char *body)
{
    struct http_response r = {.status = status, .body = TEXT_INIT, .content_type = xstrdup("")};
    text_add(&r.body, body);
    return r;
}

static void header(struct http_response *r, const char *name, const char *value)
{
    r->headers = xrealloc(r->headers, r->header_count + 1, sizeof(*r->headers));
    r->headers[r->header_count++] = (struct http_header){xstrdup(name), xstrdup(value)};
}

/* Reads and words an answer to one call of a service. */
static void words(const struct aws_service *s, const char *action, struct http_response *r,
                  struct problem *err)
{
    AUTO_AWS_CALL call;
    struct aws_error e;
    aws_call_init(&call, s, action);
    aws_error_read(s, r, &e);
    aws_error_problem(&call, &e, r, err);
    aws_error_release(&e);
    http_response_release(r);
}

/* --- where the code stands --- */

static void codes_of_every_protocol(void **state)
{
    (void)state;
    static const struct {
        const struct aws_service *service;
        const char *header, *body, *code, *message;
    } rows[] = {
        {&aws_iam, NULL,
         "<ErrorResponse xmlns=\"x\"><Error><Type>Sender</Type><Code>NoSuchEntity</Code>"
         "<Message>gone</Message></Error><RequestId>r1</RequestId></ErrorResponse>",
         "NoSuchEntity", "gone"},
        {&aws_ec2, NULL,
         "<Response><Errors><Error><Code>InvalidVpcID.NotFound</Code><Message>m</Message></Error>"
         "</Errors><RequestID>r1</RequestID></Response>",
         "InvalidVpcID.NotFound", "m"},
        {&aws_ec2, NULL,
         "<ErrorResponse><Errors><Error><Code>AuthFailure</Code></Error></Errors><RequestId>r1"
         "</RequestId></ErrorResponse>",
         "AuthFailure", ""},
        {&aws_s3, NULL,
         "<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code><Message></Message>"
         "<RequestId>r1</RequestId></Error>",
         "NoSuchKey", ""},
        {&aws_ssm, NULL, "{\"__type\":\"com.amazonaws.ssm#ParameterNotFound\",\"message\":\"m\"}",
         "ParameterNotFound", "m"},
        {&aws_ssm, NULL, "{\"__type\":\"ThrottlingException\",\"Message\":\"slow\"}",
         "ThrottlingException", "slow"},
        {&aws_ssm, NULL, "{\"__type\":\"ParameterNotFound\"}", "ParameterNotFound", ""},
        {&aws_emr, "ResourceNotFoundException:http://internal.amazon.com/coral/",
         "{\"message\":\"m\"}", "ResourceNotFoundException", "m"},
        {&aws_emr, "ValidationException", "", "ValidationException", ""},
        {&aws_emr, "AccessDeniedException", "not json", "AccessDeniedException", ""},
        {&aws_emr, NULL, "{\"code\":\"ConflictException\",\"message\":\"m\"}", "ConflictException",
         "m"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct http_response r = answer(400, rows[i].body);
        struct aws_error e;
        if (rows[i].header != NULL)
            header(&r, "x-amzn-errortype", rows[i].header);
        header(&r, rows[i].service == &aws_s3 ? "x-amz-request-id" : "x-amzn-requestid", "r1");
        aws_error_read(rows[i].service, &r, &e);
        assert_string_equal(e.code, rows[i].code);
        assert_string_equal(e.message, rows[i].message);
        assert_string_equal(e.request_id, "r1");
        aws_error_release(&e);
        http_response_release(&r);
    }
}

static void head_has_no_body(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *region, *code;
    } rows[] = {{404, NULL, "NotFound"},
                {403, NULL, "AccessDenied"},
                {301, "eu-west-1", "PermanentRedirect"},
                {307, NULL, "PermanentRedirect"},
                {400, "eu-west-1", "PermanentRedirect"},
                {400, NULL, "BadRequest"},
                {503, NULL, ""}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct http_response r = answer(rows[i].status, "");
        struct aws_error e;
        if (rows[i].region != NULL)
            header(&r, "x-amz-bucket-region", rows[i].region);
        aws_error_read(&aws_s3, &r, &e);
        assert_string_equal(e.code, rows[i].code);
        if (rows[i].region != NULL)
            assert_string_equal(e.region, rows[i].region);
        aws_error_release(&e);
        http_response_release(&r);
    }
}

/* --- AccessDenied --- */

#define ME "User: arn:aws:sts::123456789012:assumed-role/Dev/me is not authorized to perform: "

static void texts_of_denials(void **state)
{
    (void)state;
    static const struct {
        const char *message, *action, *resource, *because;
    } rows[] = {
        {ME
         "iam:PassRole on resource: arn:aws:iam::123456789012:role/job because no identity-based "
         "policy allows the iam:PassRole action",
         "iam:PassRole", "arn:aws:iam::123456789012:role/job",
         "no identity-based policy allows the iam:PassRole action"},
        {ME "s3:PutObject on resource: \"arn:aws:s3:::b/k\" with an explicit deny in a service "
            "control policy",
         "s3:PutObject", "arn:aws:s3:::b/k", "with an explicit deny in a service control policy"},
        {ME "s3:PutObject on resource: arn:aws:s3:::b/a key with blanks with an explicit deny in a "
            "service control policy",
         "s3:PutObject", "arn:aws:s3:::b/a key with blanks",
         "with an explicit deny in a service control policy"},
        {ME "iam:CreateUser on resource: arn:aws:iam::123456789012:user/u because no permissions "
            "boundary allows the iam:CreateUser action",
         "iam:CreateUser", "arn:aws:iam::123456789012:user/u",
         "no permissions boundary allows the iam:CreateUser action"},
        {ME "iam:GetRole on resource: role sluice-shop because no identity-based policy allows the "
            "iam:GetRole action",
         "iam:GetRole", "role sluice-shop",
         "no identity-based policy allows the iam:GetRole action"},
        {"You are not authorized to perform this operation. " ME
         "ec2:DescribeVpcs because no identity-based policy allows the ec2:DescribeVpcs action",
         "ec2:DescribeVpcs", NULL, "no identity-based policy allows the ec2:DescribeVpcs action"},
        {ME "ssm:GetParameter on resource: arn:aws:ssm:us-east-1:123456789012:parameter/estuary/x.",
         "ssm:GetParameter", "arn:aws:ssm:us-east-1:123456789012:parameter/estuary/x", NULL},
        {"Access Denied", NULL, NULL, NULL},
        {"", NULL, NULL, NULL},
        {"is not authorized to perform: ", NULL, NULL, NULL},
        {"on resource:  because ", NULL, NULL, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *got[] = {aws_denied_action(rows[i].message), aws_denied_resource(rows[i].message),
                       aws_denied_because(rows[i].message)};
        const char *want[] = {rows[i].action, rows[i].resource, rows[i].because};
        for (size_t k = 0; k < 3; k++) {
            if ((got[k] == NULL) != (want[k] == NULL) ||
                (got[k] != NULL && strcmp(got[k], want[k]) != 0))
                fail_msg("row %zu part %zu: %s, not %s", i, k, got[k] != NULL ? got[k] : "NULL",
                         want[k] != NULL ? want[k] : "NULL");
            xfree(got[k]);
        }
    }
    assert_null(aws_denied_action(NULL));
    assert_null(aws_denied_resource(NULL));
    assert_null(aws_denied_because(NULL));
}

static void denials_in_words(void **state)
{
    (void)state;
    AUTO_PROBLEM one = PROBLEM_INIT;
    AUTO_PROBLEM two = PROBLEM_INIT;
    AUTO_PROBLEM three = PROBLEM_INIT;
    struct http_response r =
        answer(403, "<ErrorResponse><Error><Code>AccessDenied</Code><Message>" ME
                    "iam:CreateRole on resource: arn:aws:iam::1:role/x because no identity-based "
                    "policy allows the iam:CreateRole action</Message></Error></ErrorResponse>");
    words(&aws_iam, "CreateRole", &r, &one);
    assert_int_equal(one.kind, PROBLEM_DENIED);
    assert_int_equal(one.who, WHO_AWS_ADMIN);
    assert_string_equal(one.code, "AccessDenied");
    assert_string_equal(one.what, "iam:CreateRole is denied");
    assert_string_equal(one.why,
                        "on arn:aws:iam::1:role/x, because no identity-based policy allows "
                        "the iam:CreateRole action");
    assert_string_equal(one.fix, "allow iam:CreateRole on arn:aws:iam::1:role/x for these "
                                 "credentials");
    assert_true(aws_denied(&one, "iam:CreateRole"));
    assert_true(aws_denied(&one, "IAM:createrole"));
    assert_false(aws_denied(&one, "iam:Create"));
    assert_false(aws_denied(&one, "iam:TagRole"));
    r = answer(403,
               "<Error><Code>AccessDenied</Code><Message>" ME
               "s3:CreateBucket on resource: arn:aws:s3:::b with an explicit deny in a service "
               "control policy</Message></Error>");
    words(&aws_s3, "CreateBucket", &r, &two);
    assert_non_null(strstr(two.fix, "lift the denial of s3:CreateBucket on arn:aws:s3:::b"));
    /* S3 may say nothing: then the call says what it needed. */
    r = answer(403, "");
    words(&aws_s3, "HeadBucket", &r, &three);
    assert_string_equal(three.what, "s3:ListBucket is denied");
    assert_string_equal(three.fix, "allow s3:ListBucket on * for these credentials");
}

/* --- every other code --- */

static const char *kind_of(int status, const struct aws_service *s, const char *code,
                           const char *message, struct problem *err)
{
    AUTO(xfree)
    char *body = xasprintf("<ErrorResponse><Error><Code>%s</Code><Message>%s</Message></Error>"
                           "</ErrorResponse>",
                           code, message);
    struct http_response r = answer(status, body);
    words(s, "X", &r, err);
    return problem_kind_name(err->kind);
}

static void every_code(void **state)
{
    (void)state;
    static const struct {
        const char *code, *message;
        enum problem_kind kind;
        const char *says; /* in why or fix; NULL = nothing in particular */
    } rows[] = {
        {"InvalidClientTokenId", "m", PROBLEM_REFUSED, "does not know this access key id"},
        {"UnrecognizedClientException", "m", PROBLEM_REFUSED, "does not know this access key id"},
        {"InvalidAccessKeyId", "m", PROBLEM_REFUSED, "a new key needs some seconds"},
        {"AuthFailure", "m", PROBLEM_REFUSED, "its secret is wrong"},
        {"OptInRequired", "m", PROBLEM_REFUSED, "enable the region"},
        {"RegionDisabledException", "m", PROBLEM_REFUSED, "activate it"},
        {"SignatureDoesNotMatch", "The request signature we calculated", PROBLEM_REFUSED,
         "does not belong to this key id"},
        {"SignatureDoesNotMatch", "Signature expired: 1 is now earlier than 2", PROBLEM_REFUSED,
         "The clock of this machine is off"},
        {"SignatureDoesNotMatch", "Signature not yet current", PROBLEM_REFUSED, "The clock"},
        {"SignatureDoesNotMatch", "Credential should be scoped to a valid region, not 'x'",
         PROBLEM_REFUSED, "not that of the region"},
        {"InvalidSignatureException", "Credential should be scoped to a valid region, not 'x'",
         PROBLEM_REFUSED, "not that of the region"},
        {"InvalidSignatureException", "m", PROBLEM_REFUSED, "does not belong"},
        {"InvalidSignatureException", "Signature expired: x", PROBLEM_REFUSED, "The clock"},
        {"InvalidSignatureException", "Signature not yet current: x", PROBLEM_REFUSED, "The clock"},
        {"ExpiredToken", "m", PROBLEM_REFUSED, "have expired"},
        {"ExpiredTokenException", "m", PROBLEM_REFUSED, "log in again"},
        {"InvalidToken", "m", PROBLEM_REFUSED, "AWS_SESSION_TOKEN"},
        {"MissingAuthenticationToken", "m", PROBLEM_REFUSED, "no signature"},
        {"MissingAuthenticationTokenException", "m", PROBLEM_REFUSED, "no signature"},
        {"RequestTimeTooSkewed", "m", PROBLEM_REFUSED, "set the clock"},
        {"RequestExpired", "m", PROBLEM_REFUSED, "check the clock"},
        {"NoSuchEntity", "m", PROBLEM_MISSING, NULL},
        {"NoSuchBucket", "m", PROBLEM_MISSING, NULL},
        {"NoSuchKey", "m", PROBLEM_MISSING, NULL},
        {"NotFound", "m", PROBLEM_MISSING, NULL},
        {"ParameterNotFound", "m", PROBLEM_MISSING, NULL},
        {"ResourceNotFoundException", "m", PROBLEM_MISSING, NULL},
        {"InvalidVpcID.NotFound", "m", PROBLEM_MISSING, NULL},
        {"InvalidSubnetID.NotFound", "m", PROBLEM_MISSING, NULL},
        {"InvalidGroup.NotFound", "m", PROBLEM_MISSING, NULL},
        {"NoSuchPublicAccessBlockConfiguration", "m", PROBLEM_MISSING, NULL},
        {"NoSuchTagSet", "m", PROBLEM_MISSING, NULL},
        {"EntityAlreadyExists", "m", PROBLEM_CONFLICT, "another name"},
        {"InvalidInput", "Service role name X has been taken in this account", PROBLEM_CONFLICT,
         NULL},
        {"InvalidInput", "m", PROBLEM_INPUT, NULL},
        {"BucketAlreadyExists", "m", PROBLEM_CONFLICT, "unique among all accounts"},
        {"BucketAlreadyOwnedByYou", "m", PROBLEM_CONFLICT, NULL},
        {"OperationAborted", "m", PROBLEM_CONFLICT, "an hour"},
        {"TooManyBuckets", "m", PROBLEM_CONFLICT, "as many buckets"},
        {"BucketNotEmpty", "m", PROBLEM_CONFLICT, "holds objects"},
        {"ConflictException", "m", PROBLEM_CONFLICT, NULL},
        {"DeleteConflict", "m", PROBLEM_CONFLICT, "still hangs on it"},
        {"UnmodifiableEntity", "m", PROBLEM_CONFLICT, "belongs to an AWS service"},
        {"LimitExceeded", "Cannot exceed quota for AccessKeysPerUser: 2", PROBLEM_CONFLICT,
         "inactive ones count too"},
        {"LimitExceeded", "Maximum policy size of 2048 bytes exceeded for user u", PROBLEM_CONFLICT,
         "count together"},
        {"LimitExceeded", "Cannot exceed quota for UsersPerAccount: 5000", PROBLEM_CONFLICT,
         "quota of the account"},
        {"ServiceQuotaExceededException", "m", PROBLEM_CONFLICT, "16 vCPUs"},
        {"PermanentRedirect", "m", PROBLEM_CONFLICT, "another region"},
        {"TemporaryRedirect", "m", PROBLEM_CONFLICT, "another region"},
        {"AuthorizationHeaderMalformed", "m", PROBLEM_CONFLICT, "another region"},
        {"ParameterAlreadyExists", "m", PROBLEM_CONFLICT, NULL},
        {"HierarchyTypeMismatchException", "m", PROBLEM_CONFLICT, "another type"},
        {"ParameterLimitExceeded", "m", PROBLEM_CONFLICT, "10,000"},
        {"ParameterMaxVersionLimitExceeded", "m", PROBLEM_CONFLICT, "label"},
        {"ValidationException", "Access denied when calling CreateServiceLinkedRole operation",
         PROBLEM_DENIED, "iam:CreateServiceLinkedRole"},
        {"KMS.AccessDeniedException", "m", PROBLEM_DENIED, "kms:Decrypt"},
        {"ValidationException",
         "The availability zones for subnets [x] are currently not supported.", PROBLEM_INPUT,
         "subnets in other zones"},
        {"ValidationException", "Parameter name: can't be prefixed with \"ssm\" (case-insensitive)",
         PROBLEM_INPUT, "almost any bad character"},
        {"ValidationException", "m", PROBLEM_INPUT, NULL},
        {"ValidationError", "m", PROBLEM_INPUT, NULL},
        {"MalformedPolicyDocument", "Invalid principal in policy: x", PROBLEM_INPUT, "not yet"},
        {"MalformedPolicyDocument", "m", PROBLEM_INPUT, NULL},
        {"PackedPolicyTooLarge", "m", PROBLEM_INPUT, NULL},
        {"InvalidBucketName", "m", PROBLEM_INPUT, "3 to 63"},
        {"IllegalLocationConstraintException", "m", PROBLEM_INPUT, "another region"},
        {"InvalidLocationConstraint", "m", PROBLEM_INPUT, "check the region"},
        {"InvalidKeyId", "m", PROBLEM_INPUT, "KMS key"},
        {"HierarchyLevelLimitExceededException", "m", PROBLEM_INPUT, "15 levels"},
        {"SomethingNew", "m", PROBLEM_PROTOCOL, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        kind_of(400, &aws_iam, rows[i].code, rows[i].message, &err);
        if (err.kind != rows[i].kind)
            fail_msg("%s: %s", rows[i].code, problem_kind_name(err.kind));
        assert_string_equal(err.code, rows[i].code);
        assert_true(aws_is(&err, rows[i].code));
        AUTO(xfree)
        char *all =
            xasprintf("%s | %s", err.why != NULL ? err.why : "", err.fix != NULL ? err.fix : "");
        if (rows[i].says != NULL && strstr(all, rows[i].says) == NULL)
            fail_msg("%s (%s): no \"%s\" in: %s", rows[i].code, rows[i].message, rows[i].says, all);
        assert_non_null(strstr(err.evidence, "HTTP 400"));
    }
}

static void the_region_of_a_bucket_is_told(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct http_response r =
        answer(301, "<Error><Code>PermanentRedirect</Code><Message>m</Message>"
                    "<Endpoint>b.s3.eu-west-1.amazonaws.com</Endpoint></Error>");
    header(&r, "x-amz-bucket-region", "eu-west-1");
    words(&aws_s3, "PutObject", &r, &err);
    assert_string_equal(err.why, "The bucket lies in eu-west-1.");
}

static void keys_not_known_yet(void **state)
{
    (void)state;
    static const char *const codes[] = {"InvalidClientTokenId", "UnrecognizedClientException",
                                        "InvalidAccessKeyId", "AuthFailure"};
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        kind_of(403, &aws_iam, codes[i], "m", &err);
        assert_true(aws_key_unknown(&err));
    }
    AUTO_PROBLEM other = PROBLEM_INIT;
    kind_of(403, &aws_iam, "SignatureDoesNotMatch", "m", &other);
    assert_false(aws_key_unknown(&other));
    assert_false(aws_key_unknown(NULL));
    assert_false(aws_is(NULL, "x"));
}

/* --- when to try again --- */

static void throttling_and_trouble(void **state)
{
    (void)state;
    static const char *const slow[] = {
        "Throttling",           "ThrottlingException",      "SlowDown",
        "RequestLimitExceeded", "TooManyRequestsException", "ConcurrentModification",
        "TooManyUpdates",       "EC2ThrottledException",    "RequestThrottledException"};
    char none[] = "", limit[] = "LimitExceeded", message[] = "";
    for (size_t i = 0; i < ARRAY_LEN(slow); i++) {
        AUTO(xfree) char *code = xstrdup(slow[i]);
        assert_true(
            aws_error_is_throttle(&(struct aws_error){.code = code, .message = message}, 400));
    }
    assert_true(aws_error_is_throttle(&(struct aws_error){.code = none, .message = message}, 429));
    assert_false(
        aws_error_is_throttle(&(struct aws_error){.code = limit, .message = message}, 409));
    assert_false(aws_error_is_throttle(&(struct aws_error){.code = none, .message = message}, 503));
    static const int transient[] = {500, 502, 503, 504};
    static const int final[] = {200, 301, 400, 403, 404, 409, 429, 501, 505};
    for (size_t i = 0; i < ARRAY_LEN(transient); i++)
        assert_true(aws_error_is_transient(transient[i]));
    for (size_t i = 0; i < ARRAY_LEN(final); i++)
        assert_false(aws_error_is_transient(final[i]));
    AUTO_PROBLEM busy = PROBLEM_INIT;
    kind_of(400, &aws_iam, "Throttling", "Rate exceeded", &busy);
    assert_int_equal(busy.kind, PROBLEM_UNREACHABLE);
    assert_string_equal(busy.fix, "try again in a minute");
}

/* --- what is not AWS's, and what means harm --- */

static void pages_of_others(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "<!DOCTYPE html><html><title>Welcome to the airport</title></html>",
        "",
        "Bad Gateway",
        "{\"error\":\"no\"}",
        "<a>",
        "<?xml version=\"1.0\"?><Other/>",
        "[1,2]",
        "null"};
    static const struct aws_service *const services[] = {&aws_iam, &aws_ssm, &aws_emr, &aws_ec2};
    for (size_t s = 0; s < ARRAY_LEN(services); s++)
        for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
            AUTO_PROBLEM err = PROBLEM_INIT;
            struct http_response r = answer(502, bodies[i]);
            words(services[s], "X", &r, &err);
            assert_string_equal(err.code, "not AWS");
            assert_int_equal(err.kind, PROBLEM_UNREACHABLE);
            assert_int_equal(err.who, WHO_NETWORK);
            AUTO_PROBLEM denied = PROBLEM_INIT;
            r = answer(403, bodies[i]);
            words(services[s], "X", &r, &denied);
            assert_string_equal(denied.code, "not AWS");
            assert_int_equal(denied.kind, PROBLEM_PROTOCOL);
        }
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct http_response r = answer(403, bodies[0]);
    words(&aws_iam, "GetRole", &r, &err);
    assert_string_equal(err.what, "iam:GetRole: the answer is not AWS's (HTTP 403)");
    assert_non_null(strstr(err.evidence, "Welcome to the airport"));
}

static void nothing_hostile_reaches_the_screen(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_TEXT body = TEXT_INIT;
    text_add(&body, "{\"__type\":\"Bad\\u001b[2J\\u202eCode\",\"message\":\"\\u001b[31mred\\u0007 "
                    "\\u2066evil\\u2069 ");
    for (int i = 0; i < 5000; i++)
        text_add(&body, "long ");
    text_add(&body, "\"}");
    struct http_response r = answer(400, body.s);
    words(&aws_ssm, "GetParameter", &r, &err);
    const char *const parts[] = {err.code, err.what, err.evidence};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        assert_null(strchr(parts[i], '\033'));
        assert_null(strchr(parts[i], '\a'));
        assert_null(strstr(parts[i], "\xE2\x80\xAE"));
        assert_null(strstr(parts[i], "\xE2\x81\xA6"));
    }
    assert_true(strlen(err.what) < 600);
    assert_true(strlen(err.evidence) < 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_of_every_protocol),
        cmocka_unit_test(head_has_no_body),
        cmocka_unit_test(texts_of_denials),
        cmocka_unit_test(denials_in_words),
        cmocka_unit_test(every_code),
        cmocka_unit_test(the_region_of_a_bucket_is_told),
        cmocka_unit_test(keys_not_known_yet),
        cmocka_unit_test(throttling_and_trouble),
        cmocka_unit_test(pages_of_others),
        cmocka_unit_test(nothing_hostile_reaches_the_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
