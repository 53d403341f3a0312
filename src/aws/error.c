/* Errors of AWS: reading them out of four protocols, and what each means. To add a code: one row in
 * `causes`. */
#include "aws/error.h"

#include <string.h>

#include "core/clean.h"
#include "core/json.h"
#include "core/mem.h"

/* --- reading
 * ---------------------------------------------------------------------------------------- */

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
        out->code = xstrdup(http->status == 404   ? "NotFound"
                            : http->status == 403 ? "AccessDenied"
                            : http->status == 301 || http->status == 307 || http->status == 400
                                ? "PermanentRedirect"
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

/* --- the texts of AccessDenied
 * ------------------------------------------------------------------------- */

/* From after `from` to before the next blank, without a trailing dot or comma. */
static char *word_after(const char *message, const char *from)
{
    const char *at = message != NULL ? strstr(message, from) : NULL;
    if (at == NULL)
        return NULL;
    at += strlen(from);
    size_t n = strcspn(at, " \t\r\n\"");
    while (n > 0 && (at[n - 1] == '.' || at[n - 1] == ','))
        n--;
    return n > 0 ? xstrndup(at, n) : NULL;
}

char *aws_denied_action(const char *message)
{
    return word_after(message, "not authorized to perform: ");
}

char *aws_denied_resource(const char *message)
{
    return word_after(message, "on resource: ");
}

char *aws_denied_because(const char *message)
{
    const char *at = message != NULL ? strstr(message, " because ") : NULL;
    if (at != NULL)
        return xstrndup(at + 9, strcspn(at + 9, "\r\n"));
    at = message != NULL ? strstr(message, "with an explicit deny") : NULL;
    return at != NULL ? xstrndup(at, strcspn(at, "\r\n")) : NULL;
}

/* --- meaning
 * ------------------------------------------------------------------------------------------- */

struct cause {
    const char *code;
    enum problem_kind kind;
    enum who who;
    const char *why;
    const char *fix;
};

static const struct cause causes[] = {
    {"InvalidClientTokenId", PROBLEM_REFUSED, WHO_YOU,
     "AWS does not know this access key id here: deleted, of another partition, or made seconds "
     "ago.",
     "check the key id and the region; a new key needs some seconds"},
    {"UnrecognizedClientException", PROBLEM_REFUSED, WHO_YOU,
     "AWS does not know this access key id here: deleted, of another partition, or made seconds "
     "ago.",
     "check the key id and the region; a new key needs some seconds"},
    {"InvalidAccessKeyId", PROBLEM_REFUSED, WHO_YOU,
     "AWS does not know this access key id here: deleted, of another partition, or made seconds "
     "ago.",
     "check the key id and the region; a new key needs some seconds"},
    {"AuthFailure", PROBLEM_REFUSED, WHO_YOU,
     "The key is unknown, its secret is wrong, or the region is not enabled for the account.",
     "check the key, and that the region is enabled"},
    {"OptInRequired", PROBLEM_REFUSED, WHO_AWS_ADMIN, "The region is not enabled for this account.",
     "enable the region, or take another"},
    {"SignatureDoesNotMatch", PROBLEM_REFUSED, WHO_YOU,
     "The secret access key does not belong to this key id, or the clock is off.",
     "enter the secret again; check the clock"},
    {"InvalidSignatureException", PROBLEM_REFUSED, WHO_YOU,
     "The secret access key does not belong to this key id, or the clock is off.",
     "enter the secret again; check the clock"},
    {"ExpiredToken", PROBLEM_REFUSED, WHO_YOU, "The temporary credentials have expired.",
     "log in again (for example `aws sso login`) and start sluice again"},
    {"ExpiredTokenException", PROBLEM_REFUSED, WHO_YOU, "The temporary credentials have expired.",
     "log in again (for example `aws sso login`) and start sluice again"},
    {"InvalidToken", PROBLEM_REFUSED, WHO_YOU, "The session token is damaged or of other keys.",
     "copy AWS_SESSION_TOKEN again, together with its keys"},
    {"MissingAuthenticationToken", PROBLEM_REFUSED, WHO_YOU, "The request carried no signature.",
     "give AWS credentials"},
    {"RequestTimeTooSkewed", PROBLEM_REFUSED, WHO_YOU, "The clock of this machine is off.",
     "set the clock"},
    {"RequestExpired", PROBLEM_REFUSED, WHO_YOU,
     "The credentials have expired, or the clock of this machine is off.",
     "log in again; check the clock"},
    {"NoSuchEntity", PROBLEM_MISSING, WHO_YOU, NULL, NULL},
    {"NoSuchBucket", PROBLEM_MISSING, WHO_YOU, NULL, NULL},
    {"NoSuchKey", PROBLEM_MISSING, WHO_YOU, NULL, NULL},
    {"NotFound", PROBLEM_MISSING, WHO_YOU, NULL, NULL},
    {"ParameterNotFound", PROBLEM_MISSING, WHO_YOU, NULL, NULL},
    {"ResourceNotFoundException", PROBLEM_MISSING, WHO_YOU, NULL, NULL},
    {"EntityAlreadyExists", PROBLEM_CONFLICT, WHO_YOU, NULL, NULL},
    {"BucketAlreadyExists", PROBLEM_CONFLICT, WHO_YOU,
     "Bucket names are unique among all accounts; somebody else has this one.",
     "choose another name"},
    {"BucketAlreadyOwnedByYou", PROBLEM_CONFLICT, WHO_YOU, NULL, NULL},
    {"OperationAborted", PROBLEM_CONFLICT, WHO_YOU,
     "A bucket of this name was made or removed moments ago.",
     "try again later; it can take up to an hour"},
    {"ConflictException", PROBLEM_CONFLICT, WHO_YOU, NULL, NULL},
    {"DeleteConflict", PROBLEM_CONFLICT, WHO_YOU, NULL, NULL},
    {"BucketNotEmpty", PROBLEM_CONFLICT, WHO_YOU, "The bucket holds objects.",
     "empty it first, if they may go"},
    {"LimitExceeded", PROBLEM_CONFLICT, WHO_AWS_ADMIN, NULL,
     "remove what is no longer used, or ask for a higher quota"},
    {"ServiceQuotaExceededException", PROBLEM_CONFLICT, WHO_AWS_ADMIN,
     "A quota of the account is used up.", "ask for a higher quota in Service Quotas"},
    {"PermanentRedirect", PROBLEM_CONFLICT, WHO_YOU, "The bucket lies in another region.", NULL},
    {"AuthorizationHeaderMalformed", PROBLEM_CONFLICT, WHO_YOU,
     "The bucket lies in another region.", NULL},
    {"ValidationException", PROBLEM_INPUT, WHO_YOU, NULL, NULL},
    {"ValidationError", PROBLEM_INPUT, WHO_YOU, NULL, NULL},
    {"MalformedPolicyDocument", PROBLEM_INPUT, WHO_YOU, NULL, NULL},
    {"InvalidInput", PROBLEM_INPUT, WHO_YOU, NULL, NULL},
};

static bool is_denied(const char *code)
{
    return strcmp(code, "AccessDenied") == 0 || strcmp(code, "AccessDeniedException") == 0 ||
           strcmp(code, "UnauthorizedOperation") == 0;
}

bool aws_error_is_throttle(const struct aws_error *e, int status)
{
    static const char *const codes[] = {
        "Throttling",           "ThrottlingException",      "SlowDown",
        "RequestLimitExceeded", "TooManyRequestsException", "ConcurrentModification",
        "TooManyUpdates"};
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (strcmp(e->code, codes[i]) == 0)
            return true;
    return status == 429 || status == 500 || (status >= 502 && status <= 504);
}

bool aws_error_is_clock(const struct aws_error *e)
{
    return strcmp(e->code, "RequestTimeTooSkewed") == 0 || strcmp(e->code, "RequestExpired") == 0 ||
           strstr(e->message, "Signature expired") != NULL ||
           strstr(e->message, "Signature not yet current") != NULL;
}

static void denied(const struct aws_call *call, const struct aws_error *e, struct problem *err)
{
    AUTO(xfree) char *action = aws_denied_action(e->message);
    AUTO(xfree) char *resource = aws_denied_resource(e->message);
    AUTO(xfree) char *because = aws_denied_because(e->message);
    AUTO(xfree) char *guess = xasprintf("%s%s", call->service->iam_prefix, call->action);
    problem_fail(err, PROBLEM_DENIED, e->code, "%s is denied", action != NULL ? action : guess);
    if (because != NULL)
        problem_why(err, "on %s, because %s", resource != NULL ? resource : "this resource",
                    because);
    else if (resource != NULL)
        problem_why(err, "on %s", resource);
    bool by_others = because != NULL && (strstr(because, "explicit deny") != NULL ||
                                         strstr(because, "boundary") != NULL ||
                                         strstr(because, "service control") != NULL);
    problem_fix(err, WHO_AWS_ADMIN,
                by_others ? "lift the denial of %s on %s, or let somebody do this who may"
                          : "allow %s on %s for these credentials",
                action != NULL ? action : guess, resource != NULL ? resource : "*");
}

void aws_error_problem(const struct aws_call *call, const struct aws_error *e,
                       const struct http_response *http, struct problem *err)
{
    const struct cause *cause = NULL;
    for (size_t i = 0; i < ARRAY_LEN(causes) && cause == NULL; i++)
        if (strcmp(causes[i].code, e->code) == 0)
            cause = &causes[i];
    if (is_denied(e->code)) {
        denied(call, e, err);
    } else if (e->code[0] == '\0') {
        problem_fail(err, PROBLEM_PROTOCOL, "not AWS", "%s: the answer is not AWS's (HTTP %d)",
                     call->action, http->status);
        problem_fix(err, WHO_NETWORK, "a proxy or portal may stand between: let the host through");
    } else {
        problem_fail(err,
                     cause != NULL         ? cause->kind
                     : http->status >= 500 ? PROBLEM_UNREACHABLE
                                           : PROBLEM_PROTOCOL,
                     e->code, "%s:%s: %s", call->service->id, call->action,
                     e->message[0] != '\0' ? e->message : e->code);
        if (cause != NULL && cause->why != NULL)
            problem_why(err, "%s", cause->why);
        if (cause != NULL && cause->fix != NULL)
            problem_fix(err, cause->who, "%s", cause->fix);
    }
    AUTO(xfree)
    char *body =
        e->code[0] == '\0' ? clean_excerpt(http->body.s, http->body.len, 200) : xstrdup(e->message);
    problem_evidence(err, "HTTP %d %s %s; request id %s", http->status, e->code, body,
                     e->request_id[0] != '\0' ? e->request_id : "none");
}

bool aws_is(const struct problem *p, const char *code)
{
    return p != NULL && p->code != NULL && strcmp(p->code, code) == 0;
}
