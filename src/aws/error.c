/* Errors of AWS: reading them out of four protocols, and what each means. To add a code: one row in
 * `causes`. */
#include "aws/error.h"

#include <string.h>

#include "core/clean.h"
#include "core/json.h"
#include "core/mem.h"

/* --- reading ---------------------------------------------------------------------------------- */

/* "com.amazonaws.ssm#ParameterNotFound:http://…" -> "ParameterNotFound" */
static char *bare_code(const char *s)
{
    const char *hash = strchr(s, '#');
    if (hash != NULL)
        s = hash + 1;
    return xstrndup(s, strcspn(s, ":"));
}

static void read_xml(const struct http_response *http, struct aws_error *out)
{
    static const char *const places[] = {"Error", "Errors/Error", ""};
    struct xml_node *root = xml_parse(http->body.s, http->body.len, "the error", NULL);
    for (size_t i = 0; root != NULL && i < ARRAY_LEN(places) && out->code == NULL; i++) {
        const struct xml_node *n = xml_find(root, places[i]);
        if (xml_text(n, "Code") == NULL)
            continue;
        out->code = xstrdup(xml_text(n, "Code"));
        out->message = xstrdup(xml_text(n, "Message"));
        out->region = xstrdup(xml_text(n, "Region"));
    }
    const char *id = xml_text(root, "RequestId") != NULL ? xml_text(root, "RequestId")
                                                         : xml_text(root, "RequestID");
    out->request_id = xstrdup(id);
    xml_free(root);
}

static void read_json(const struct http_response *http, struct aws_error *out)
{
    AUTO(cJSON_Delete) cJSON *body = json_parse(http->body.s, http->body.len, "the error", NULL);
    const char *type = http_response_header(http, "x-amzn-ErrorType");
    if (type == NULL)
        type = json_text(body, "__type");
    if (type == NULL)
        type = json_text(body, "code");
    if (type != NULL)
        out->code = bare_code(type);
    const char *message = json_text(body, "message");
    out->message = xstrdup(message != NULL ? message : json_text(body, "Message"));
}

void aws_error_read(const struct aws_service *service, const struct http_response *http,
                    struct aws_error *out)
{
    *out = (struct aws_error){0};
    if (service->protocol == AWS_JSON11 || service->protocol == AWS_REST_JSON)
        read_json(http, out);
    else
        read_xml(http, out);
    const char *id = http_response_header(http, "x-amzn-RequestId");
    if (id == NULL)
        id = http_response_header(http, "x-amz-request-id");
    if (id != NULL)
        xreplace(&out->request_id, id);
    const char *region = http_response_header(http, "x-amz-bucket-region");
    if (region != NULL)
        xreplace(&out->region, region);
    bool head_of_s3 = service->protocol == AWS_REST_XML && http->body.len == 0;
    if (out->code == NULL && head_of_s3) /* HEAD has no body: the status is all there is */
        out->code = xstrdup(http->status == 404                          ? "NotFound"
                            : http->status == 403                        ? "AccessDenied"
                            : http->status == 301 || http->status == 307 ? "PermanentRedirect"
                            : http->status == 400 && out->region != NULL ? "PermanentRedirect"
                            : http->status == 400                        ? "BadRequest"
                                                                         : "");
    if (out->code == NULL)
        out->code = xstrdup("");
    if (out->message == NULL)
        out->message = xstrdup("");
    if (out->request_id == NULL)
        out->request_id = xstrdup("");
}

void aws_error_release(struct aws_error *e)
{
    xfree(e->code);
    xfree(e->message);
    xfree(e->request_id);
    xfree(e->region);
    *e = (struct aws_error){0};
}

/* --- the texts of AccessDenied ---------------------------------------------------------------- */

/* A resource may be two words ("role NAME"), an action is one. Without a trailing dot or comma. */
static char *part_after(const char *message, const char *from, bool words)
{
    const char *at = message != NULL ? strstr(message, from) : NULL;
    if (at == NULL)
        return NULL;
    at += strlen(from);
    at += *at == '"'; /* S3 quotes the resource */
    size_t n = strcspn(at, words ? "\r\n\"" : " \t\r\n\"");
    static const char *const ends[] = {" because ", " with an explicit deny"};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        const char *end = strstr(at, ends[i]);
        if (end != NULL && (size_t)(end - at) < n)
            n = (size_t)(end - at);
    }
    while (n > 0 && strchr(" .,", at[n - 1]) != NULL)
        n--;
    return n > 0 ? xstrndup(at, n) : NULL;
}

char *aws_denied_action(const char *message)
{
    return part_after(message, "not authorized to perform: ", false);
}

char *aws_denied_resource(const char *message)
{
    return part_after(message, "on resource: ", true);
}

char *aws_denied_because(const char *message)
{
    const char *at = message != NULL ? strstr(message, " because ") : NULL;
    if (at != NULL)
        return xstrndup(at + 9, strcspn(at + 9, "\r\n"));
    at = message != NULL ? strstr(message, "with an explicit deny") : NULL;
    return at != NULL ? xstrndup(at, strcspn(at, "\r\n")) : NULL;
}

/* --- meaning ---------------------------------------------------------------------------------- */

struct cause {
    const char *code;
    const char *says; /* must stand in the message; NULL = any */
    enum problem_kind kind;
    enum who who;
    const char *why;
    const char *fix;
};

#define KEY_WHY                                                                                    \
    "AWS does not know this access key id here: deleted, inactive, of another partition, made "    \
    "seconds ago, or the region is not enabled for the account."
#define KEY_FIX "check the key id and the region; a new key needs some seconds"
#define SECRET_WHY "The secret access key does not belong to this key id."
#define SECRET_FIX "enter the secret again; it has 40 characters and may hold + and /"
#define SCOPE_WHY "The endpoint that was called is not that of the region."
#define SCOPE_FIX "check the region, and AWS_ENDPOINT_URL if it is set"
#define CLOCK_WHY "The clock of this machine is off, and correcting it by AWS's did not help."
#define CLOCK_FIX "set the clock"
#define EXPIRED_WHY "The temporary credentials have expired."
#define EXPIRED_FIX "log in again (for example `aws sso login`) and start sluice again"
#define ELSEWHERE_WHY "The bucket lies in another region."
#define ELSEWHERE_FIX "choose a bucket in the region of the application"
#define SLR "access denied when calling CreateServiceLinkedRole"

/* The first row that fits counts: rows with a text before those without. */
static const struct cause causes[] = {
    /* who are you? */
    {"InvalidClientTokenId", NULL, PROBLEM_REFUSED, WHO_YOU, KEY_WHY, KEY_FIX},
    {"UnrecognizedClientException", NULL, PROBLEM_REFUSED, WHO_YOU, KEY_WHY, KEY_FIX},
    {"InvalidAccessKeyId", NULL, PROBLEM_REFUSED, WHO_YOU, KEY_WHY, KEY_FIX},
    {"AuthFailure", NULL, PROBLEM_REFUSED, WHO_YOU,
     "The key is unknown, its secret is wrong, or the region is not enabled for the account.",
     "check the key, and that the region is enabled"},
    {"OptInRequired", NULL, PROBLEM_REFUSED, WHO_AWS_ADMIN,
     "The region is not enabled for this account.",
     "enable the region (Account, AWS Regions), or take another"},
    {"RegionDisabledException", NULL, PROBLEM_REFUSED, WHO_AWS_ADMIN,
     "AWS STS is not activated in this region.",
     "activate it in the account settings of IAM, or take another region"},
    {"SignatureDoesNotMatch", "Signature expired", PROBLEM_REFUSED, WHO_YOU, CLOCK_WHY, CLOCK_FIX},
    {"SignatureDoesNotMatch", "not yet current", PROBLEM_REFUSED, WHO_YOU, CLOCK_WHY, CLOCK_FIX},
    {"SignatureDoesNotMatch", "scoped to a valid region", PROBLEM_REFUSED, WHO_YOU, SCOPE_WHY,
     SCOPE_FIX},
    {"SignatureDoesNotMatch", NULL, PROBLEM_REFUSED, WHO_YOU, SECRET_WHY, SECRET_FIX},
    {"InvalidSignatureException", "Signature expired", PROBLEM_REFUSED, WHO_YOU, CLOCK_WHY,
     CLOCK_FIX},
    {"InvalidSignatureException", "not yet current", PROBLEM_REFUSED, WHO_YOU, CLOCK_WHY,
     CLOCK_FIX},
    {"InvalidSignatureException", "scoped to a valid region", PROBLEM_REFUSED, WHO_YOU, SCOPE_WHY,
     SCOPE_FIX},
    {"InvalidSignatureException", NULL, PROBLEM_REFUSED, WHO_YOU, SECRET_WHY, SECRET_FIX},
    {"ExpiredToken", NULL, PROBLEM_REFUSED, WHO_YOU, EXPIRED_WHY, EXPIRED_FIX},
    {"ExpiredTokenException", NULL, PROBLEM_REFUSED, WHO_YOU, EXPIRED_WHY, EXPIRED_FIX},
    {"InvalidToken", NULL, PROBLEM_REFUSED, WHO_YOU,
     "The session token is damaged or of other keys.",
     "copy AWS_SESSION_TOKEN again, together with its keys"},
    {"MissingAuthenticationToken", NULL, PROBLEM_REFUSED, WHO_YOU,
     "The request carried no signature.", "give AWS credentials"},
    {"MissingAuthenticationTokenException", NULL, PROBLEM_REFUSED, WHO_YOU,
     "The request carried no signature.", "give AWS credentials"},
    {"RequestTimeTooSkewed", NULL, PROBLEM_REFUSED, WHO_YOU, CLOCK_WHY, CLOCK_FIX},
    {"RequestExpired", NULL, PROBLEM_REFUSED, WHO_YOU,
     "The credentials have expired, or the clock of this machine is off.",
     "log in again; check the clock"},
    {"BadRequest", NULL, PROBLEM_REFUSED, WHO_YOU,
     "S3 says no more to this kind of request: the session token has expired or is damaged, or the "
     "region is wrong.",
     "log in again; check the region"},
    /* not there */
    {"NoSuchEntity", NULL, PROBLEM_MISSING, WHO_YOU, NULL, NULL},
    {"NoSuchBucket", NULL, PROBLEM_MISSING, WHO_YOU, NULL, NULL},
    {"NoSuchKey", NULL, PROBLEM_MISSING, WHO_YOU, NULL, NULL},
    {"NotFound", NULL, PROBLEM_MISSING, WHO_YOU, NULL, NULL},
    {"NoSuchPublicAccessBlockConfiguration", NULL, PROBLEM_MISSING, WHO_YOU, NULL, NULL},
    {"NoSuchTagSet", NULL, PROBLEM_MISSING, WHO_YOU, NULL, NULL},
    {"ParameterNotFound", NULL, PROBLEM_MISSING, WHO_YOU, NULL, NULL},
    {"ResourceNotFoundException", NULL, PROBLEM_MISSING, WHO_YOU, NULL, NULL},
    {"InvalidVpcID.NotFound", NULL, PROBLEM_MISSING, WHO_YOU, NULL, NULL},
    {"InvalidSubnetID.NotFound", NULL, PROBLEM_MISSING, WHO_YOU, NULL, NULL},
    {"InvalidGroup.NotFound", NULL, PROBLEM_MISSING, WHO_YOU, NULL, NULL},
    /* there otherwise, or in use, or used up */
    {"EntityAlreadyExists", NULL, PROBLEM_CONFLICT, WHO_YOU, NULL,
     "take it over after a look at it, or choose another name"},
    {"InvalidInput", "has been taken in this account", PROBLEM_CONFLICT, WHO_YOU, NULL, NULL},
    {"BucketAlreadyExists", NULL, PROBLEM_CONFLICT, WHO_YOU,
     "Bucket names are unique among all accounts; somebody else has this one.",
     "choose another name, for example with account and region at its end"},
    {"BucketAlreadyOwnedByYou", NULL, PROBLEM_CONFLICT, WHO_YOU, NULL, NULL},
    {"OperationAborted", NULL, PROBLEM_CONFLICT, WHO_YOU,
     "A bucket of this name was made or removed moments ago.",
     "try again later; it can take up to an hour"},
    {"TooManyBuckets", NULL, PROBLEM_CONFLICT, WHO_AWS_ADMIN,
     "The account has as many buckets as it may.",
     "use an existing bucket, or ask for a higher quota"},
    {"BucketNotEmpty", NULL, PROBLEM_CONFLICT, WHO_YOU, "The bucket holds objects.",
     "empty it first, if they may go"},
    {"ConflictException", NULL, PROBLEM_CONFLICT, WHO_YOU, NULL, NULL},
    {"DeleteConflict", NULL, PROBLEM_CONFLICT, WHO_YOU, NULL,
     "remove what still hangs on it (keys, policies) first"},
    {"UnmodifiableEntity", NULL, PROBLEM_CONFLICT, WHO_YOU,
     "It belongs to an AWS service, which alone may change it.", "choose another role"},
    {"LimitExceeded", "AccessKeysPerUser", PROBLEM_CONFLICT, WHO_YOU,
     "A user has at most two access keys; inactive ones count too.",
     "delete a key that is no longer used, or take another user"},
    {"LimitExceeded", "policy size", PROBLEM_CONFLICT, WHO_YOU,
     "All inline policies of one user or role count together, without white space.",
     "remove an inline policy that is no longer used, or take another user or role"},
    {"LimitExceeded", NULL, PROBLEM_CONFLICT, WHO_AWS_ADMIN, "A quota of the account is used up.",
     "remove what is no longer used, or ask for a higher quota"},
    {"ServiceQuotaExceededException", NULL, PROBLEM_CONFLICT, WHO_AWS_ADMIN,
     "A quota of the account is used up (new accounts have 16 vCPUs for EMR Serverless).",
     "ask for a higher quota in Service Quotas"},
    {"PermanentRedirect", NULL, PROBLEM_CONFLICT, WHO_YOU, ELSEWHERE_WHY, ELSEWHERE_FIX},
    {"TemporaryRedirect", NULL, PROBLEM_CONFLICT, WHO_YOU, ELSEWHERE_WHY, ELSEWHERE_FIX},
    {"AuthorizationHeaderMalformed", NULL, PROBLEM_CONFLICT, WHO_YOU, ELSEWHERE_WHY, ELSEWHERE_FIX},
    {"ParameterAlreadyExists", NULL, PROBLEM_CONFLICT, WHO_YOU, NULL, NULL},
    {"HierarchyTypeMismatchException", NULL, PROBLEM_CONFLICT, WHO_YOU,
     "A parameter of this name exists with another type, and SSM does not change types.",
     "delete that parameter, or choose another prefix"},
    {"ParameterLimitExceeded", NULL, PROBLEM_CONFLICT, WHO_AWS_ADMIN,
     "The account has as many parameters as it may (10,000).", "remove what is no longer used"},
    {"ParameterMaxVersionLimitExceeded", NULL, PROBLEM_CONFLICT, WHO_YOU,
     "The oldest version of the parameter carries a label, so no new one can be added.",
     "delete the parameter, or its label"},
    /* denied in other words */
    {"ValidationException", SLR, PROBLEM_DENIED, WHO_AWS_ADMIN,
     "The first application of an account needs EMR Serverless's own role, which the caller may "
     "not make.",
     "allow iam:CreateServiceLinkedRole for ops.emr-serverless.amazonaws.com, or make the role "
     "once: aws iam create-service-linked-role --aws-service-name "
     "ops.emr-serverless.amazonaws.com"},
    {"KMS.AccessDeniedException", NULL, PROBLEM_DENIED, WHO_AWS_ADMIN,
     "The bucket or parameter is encrypted with a key of your own, which these credentials may not "
     "use.",
     "allow kms:Decrypt and kms:GenerateDataKey on that key"},
    /* asked wrongly */
    {"ValidationException", "availability zone", PROBLEM_INPUT, WHO_YOU,
     "EMR Serverless does not work in every zone of a region.", "choose subnets in other zones"},
    {"ValidationException", "can't be prefixed with", PROBLEM_INPUT, WHO_YOU,
     "SSM says this of almost any bad character in a parameter's name.",
     "use letters, digits and . - _ / only, and no name that starts with aws or ssm"},
    {"ValidationException", NULL, PROBLEM_INPUT, WHO_YOU, NULL, NULL},
    {"ValidationError", NULL, PROBLEM_INPUT, WHO_YOU, NULL, NULL},
    {"MalformedPolicyDocument", "Invalid principal", PROBLEM_INPUT, WHO_YOU,
     "The policy names a user or role that does not exist, or not yet: a new one needs seconds to "
     "spread.",
     NULL},
    {"MalformedPolicyDocument", NULL, PROBLEM_INPUT, WHO_YOU, NULL, NULL},
    {"PackedPolicyTooLarge", NULL, PROBLEM_INPUT, WHO_YOU, NULL, NULL},
    {"InvalidInput", NULL, PROBLEM_INPUT, WHO_YOU, NULL, NULL},
    {"InvalidBucketName", NULL, PROBLEM_INPUT, WHO_YOU, NULL,
     "use 3 to 63 lower-case letters, digits and hyphens"},
    {"IllegalLocationConstraintException", NULL, PROBLEM_INPUT, WHO_YOU,
     "The bucket was asked for in another region than the one that was called.", NULL},
    {"InvalidLocationConstraint", NULL, PROBLEM_INPUT, WHO_YOU,
     "S3 does not know this region, or it is not enabled for the account.", "check the region"},
    {"InvalidKeyId", NULL, PROBLEM_INPUT, WHO_YOU, "The KMS key does not exist or is disabled.",
     NULL},
    {"HierarchyLevelLimitExceededException", NULL, PROBLEM_INPUT, WHO_YOU,
     "A parameter's name has at most 15 levels.", "choose a shorter prefix"},
};

static bool is_denied(const char *code)
{
    return strcmp(code, "AccessDenied") == 0 || strcmp(code, "AccessDeniedException") == 0 ||
           strcmp(code, "UnauthorizedOperation") == 0;
}

static bool is_one_of(const char *code, const char *const *codes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(code, codes[i]) == 0)
            return true;
    return false;
}

/* IAM's LimitExceeded is a quota and not among them. */
bool aws_error_is_throttle(const struct aws_error *e, int status)
{
    static const char *const codes[] = {"Throttling",
                                        "ThrottlingException",
                                        "ThrottledException",
                                        "RequestThrottled",
                                        "RequestThrottledException",
                                        "TooManyRequestsException",
                                        "RequestLimitExceeded",
                                        "BandwidthLimitExceeded",
                                        "SlowDown",
                                        "PriorRequestNotComplete",
                                        "EC2ThrottledException",
                                        "ConcurrentModification",
                                        "TooManyUpdates"};
    return is_one_of(e->code, codes, ARRAY_LEN(codes)) || status == 429;
}

bool aws_error_is_transient(int status)
{
    return status == 500 || (status >= 502 && status <= 504);
}

bool aws_error_is_clock(const struct aws_error *e)
{
    return strcmp(e->code, "RequestTimeTooSkewed") == 0 || strcmp(e->code, "RequestExpired") == 0 ||
           strstr(e->message, "Signature expired") != NULL ||
           strstr(e->message, "Signature not yet current") != NULL;
}

/* IAM's name for what a call does, where it is not the call's: for refusals that do not say it. */
static const char *permission_of(const char *action)
{
    static const char *const rows[][2] = {
        {"HeadBucket", "ListBucket"},
        {"ListObjectsV2", "ListBucket"},
        {"ListBuckets", "ListAllMyBuckets"},
        {"PutPublicAccessBlock", "PutBucketPublicAccessBlock"},
        {"GetPublicAccessBlock", "GetBucketPublicAccessBlock"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i][0], action) == 0)
            return rows[i][1];
    return action;
}

static void denied(const struct aws_call *call, const struct aws_error *e, struct problem *err)
{
    AUTO(xfree) char *action = aws_denied_action(e->message);
    AUTO(xfree) char *named = aws_denied_resource(e->message);
    AUTO(xfree) char *because = aws_denied_because(e->message);
    const char *resource = named != NULL ? named : call->resource;
    bool in_other_words = action == NULL && because == NULL && e->message[0] != '\0' &&
                          strcmp(e->message, "Access Denied") != 0;
    if (action == NULL)
        action = xasprintf("%s%s", call->service->iam_prefix, permission_of(call->action));
    problem_fail(err, PROBLEM_DENIED, e->code, "%s is denied", action);
    if (because != NULL)
        problem_why(err, "on %s, because %s", resource != NULL ? resource : "*", because);
    else if (in_other_words)
        problem_why(err, "AWS says: %s", e->message);
    else if (resource != NULL)
        problem_why(err, "on %s", resource);
    bool by_others =
        because != NULL &&
        (strstr(because, "explicit deny") != NULL || strstr(because, "boundary") != NULL ||
         strstr(because, "service control") != NULL || strstr(because, "resource control") != NULL);
    problem_fix(err, WHO_AWS_ADMIN,
                by_others ? "lift the denial of %s on %s, or let somebody do this who may"
                          : "allow %s on %s for these credentials",
                action, resource != NULL ? resource : "*");
}

static const struct cause *cause_of(const struct aws_error *e)
{
    for (size_t i = 0; i < ARRAY_LEN(causes); i++)
        if (strcmp(causes[i].code, e->code) == 0 &&
            (causes[i].says == NULL || strcasestr(e->message, causes[i].says) != NULL))
            return &causes[i];
    return NULL;
}

static void known(const struct aws_call *call, const struct aws_error *e, int status,
                  struct problem *err)
{
    const struct cause *cause = cause_of(e);
    bool busy = aws_error_is_throttle(e, status) || status >= 500;
    enum problem_kind kind = cause != NULL ? cause->kind
                             : busy        ? PROBLEM_UNREACHABLE
                                           : PROBLEM_PROTOCOL;
    AUTO(xfree)
    char *message = clean_excerpt(e->message[0] != '\0' ? e->message : e->code,
                                  strlen(e->message[0] != '\0' ? e->message : e->code), 400);
    problem_fail(err, kind, e->code, "%s:%s: %s", call->service->id, call->action, message);
    if (cause != NULL && cause->why != NULL)
        problem_why(err, "%s", cause->why);
    else if (busy)
        problem_why(err, "AWS is busy or in trouble (HTTP %d).", status);
    if (e->region != NULL && cause != NULL && cause->why != NULL &&
        strcmp(cause->why, ELSEWHERE_WHY) == 0)
        problem_why(err, "The bucket lies in %s.", e->region);
    if (cause != NULL && cause->fix != NULL)
        problem_fix(err, cause->who, "%s", cause->fix);
    else if (cause == NULL && busy)
        problem_fix(err, WHO_YOU, "try again in a minute");
}

void aws_error_foreign(const struct aws_call *call, const struct http_response *http,
                       const char *why, struct problem *err)
{
    AUTO(xfree) char *body = clean_excerpt(http->body.s, http->body.len, 200);
    bool gateway = http->status >= 500;
    problem_fail(err, gateway ? PROBLEM_UNREACHABLE : PROBLEM_PROTOCOL, "not AWS",
                 "%s:%s: the answer is not AWS's (HTTP %d)", call->service->id, call->action,
                 http->status);
    if (why != NULL)
        problem_why(err, "%s", why);
    problem_fix(err, WHO_NETWORK,
                "a proxy or portal may stand between: let this machine through to AWS");
    problem_evidence(err, "HTTP %d %s: %s", http->status, http->content_type, body);
}

void aws_error_problem(const struct aws_call *call, const struct aws_error *e,
                       const struct http_response *http, struct problem *err)
{
    if (e->code[0] == '\0') {
        aws_error_foreign(call, http, NULL, err);
        return;
    }
    if (is_denied(e->code))
        denied(call, e, err);
    else
        known(call, e, http->status, err);
    const char *later = http_response_header(http, "Retry-After");
    AUTO(xfree) char *message = clean_excerpt(e->message, strlen(e->message), 1000);
    problem_evidence(err, "HTTP %d %s %s; request id %s%s%s", http->status, e->code, message,
                     e->request_id[0] != '\0' ? e->request_id : "none",
                     later != NULL ? "; Retry-After " : "", later != NULL ? later : "");
}

bool aws_is(const struct problem *p, const char *code)
{
    return p != NULL && p->code != NULL && strcmp(p->code, code) == 0;
}

bool aws_key_unknown(const struct problem *p)
{
    static const char *const codes[] = {"InvalidClientTokenId", "UnrecognizedClientException",
                                        "InvalidAccessKeyId", "AuthFailure"};
    return p != NULL && p->code != NULL && is_one_of(p->code, codes, ARRAY_LEN(codes));
}

bool aws_denied(const struct problem *p, const char *action)
{
    size_t n = strlen(action);
    return p != NULL && p->kind == PROBLEM_DENIED && p->what != NULL &&
           strncasecmp(p->what, action, n) == 0 && p->what[n] == ' ';
}
