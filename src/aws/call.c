/* One AWS call from its parts to its parsed answer. See call.h. */
#include "aws/call.h"

#include <ctype.h>
#include <curl/curl.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "aws/error.h"
#include "aws/service.h"
#include "aws/sigv4.h"
#include "core/clock.h"
#include "core/json.h"
#include "core/mem.h"

#define TRIES 4
#define BACKOFF_MS 250       /* of the first pause; doubled each time */
#define BACKOFF_MAX_MS 20000 /* also the longest Retry-After that is waited for */

void aws_call_init(struct aws_call *c, const struct aws_service *service, const char *action)
{
    *c = (struct aws_call){.service = service,
                           .action = action,
                           .method = "POST",
                           .path = TEXT_INIT,
                           .query = TEXT_INIT,
                           .form = TEXT_INIT,
                           .body = TEXT_INIT};
}

void aws_call_release(struct aws_call *c)
{
    text_wipe(&c->form); /* may hold a value of a SecureString */
    text_wipe(&c->body);
    text_release(&c->form);
    text_release(&c->body);
    text_release(&c->path);
    text_release(&c->query);
    for (size_t i = 0; i < ARRAY_LEN(c->extra); i++)
        xfree(c->extra[i].value);
    xfree(c->resource);
}

static void add_pair(struct text *out, const char *name, const char *value)
{
    text_sep(out, "&");
    sigv4_encode(out, name, strlen(name), false);
    text_addc(out, '=');
    sigv4_encode(out, value, strlen(value), false);
}

void aws_form(struct aws_call *c, const char *name, const char *value)
{
    add_pair(&c->form, name, value);
}

void aws_query(struct aws_call *c, const char *name, const char *value)
{
    add_pair(&c->query, name, value);
}

void aws_answer_release(struct aws_answer *a)
{
    http_response_release(&a->http);
    cJSON_Delete(a->json);
    xml_free(a->xml);
    a->json = NULL;
    a->xml = NULL;
}

static void wipe_xml(struct xml_node *node)
{
    explicit_bzero(node->text, strlen(node->text));
    for (size_t i = 0; i < node->count; i++)
        wipe_xml(node->children[i]);
}

void aws_answer_wipe(struct aws_answer *a)
{
    json_wipe(a->json);
    if (a->xml != NULL)
        wipe_xml(a->xml);
    text_wipe(&a->http.body);
    aws_answer_release(a);
}

/* --- one attempt ------------------------------------------------------------------------------ */

struct attempt {
    struct aws_endpoint endpoint;
    struct text path; /* as sent and signed */
    struct text body;
    const char *content_type;
    const char *target; /* X-Amz-Target */
    char target_name[128];
};

static bool is_query(const struct aws_call *c)
{
    return c->service->protocol == AWS_QUERY || c->service->protocol == AWS_EC2;
}

static int prepare(const struct aws_call *c, const char *region, struct attempt *a,
                   struct problem *err)
{
    *a = (struct attempt){.path = TEXT_INIT, .body = TEXT_INIT};
    if (aws_endpoint_of(c->service, region, c->bucket, &a->endpoint, err) != 0)
        return -1;
    if (c->bucket != NULL && a->endpoint.overridden)
        text_addf(&a->path, "/%s", c->bucket);
    if (c->path.len > 0 && !(a->path.len > 0 && strcmp(c->path.s, "/") == 0))
        text_add(&a->path, c->path.s);
    if (a->path.len == 0)
        text_addc(&a->path, '/');
    if (is_query(c)) {
        text_addf(&a->body, "Action=%s&Version=%s%s%s", c->action, c->service->version,
                  c->form.len > 0 ? "&" : "", c->form.s);
        a->content_type = "application/x-www-form-urlencoded; charset=utf-8";
    } else {
        text_addn(&a->body, c->body.s, c->body.len);
        a->content_type = c->content_type;
    }
    if (c->service->protocol == AWS_JSON11) {
        a->content_type = "application/x-amz-json-1.1";
        snprintf(a->target_name, sizeof(a->target_name), "%s.%s", c->service->version, c->action);
        a->target = a->target_name;
    } else if (c->service->protocol == AWS_REST_JSON && a->body.len > 0) {
        a->content_type = "application/json";
    }
    return 0;
}

static void attempt_release(struct attempt *a)
{
    text_wipe(&a->body);
    text_release(&a->body);
    text_release(&a->path);
    aws_endpoint_release(&a->endpoint);
}

static int sign_into(const struct aws_client *client, const struct aws_call *c,
                     const struct attempt *a, int64_t skew, struct http_request *request,
                     struct problem *err)
{
    struct sigv4_header headers[8];
    size_t n = 0;
    headers[n++] = (struct sigv4_header){"host", a->endpoint.host};
    if (a->content_type != NULL)
        headers[n++] = (struct sigv4_header){"content-type", a->content_type};
    if (a->target != NULL)
        headers[n++] = (struct sigv4_header){"x-amz-target", a->target};
    for (size_t i = 0; i < ARRAY_LEN(c->extra) && c->extra[i].name != NULL; i++)
        headers[n++] = (struct sigv4_header){c->extra[i].name, c->extra[i].value};
    const struct aws_credentials *k = client->credentials;
    struct sigv4_request r = {.method = c->method,
                              .path = a->path.s,
                              .query = c->query.s,
                              .headers = headers,
                              .header_count = n,
                              .body = a->body.s,
                              .body_len = a->body.len,
                              .region = a->endpoint.signing_region,
                              .service = c->service->signing_name,
                              .key_id = k->key_id,
                              .secret_key = k->secret_key,
                              .session_token =
                                  k->session_token != NULL ? secret_bytes(k->session_token) : NULL,
                              .when = clock_wall() + skew,
                              .keep_path = c->service->protocol == AWS_REST_XML,
                              .normalise = c->service->protocol != AWS_REST_XML,
                              .sign_body_header = true};
    struct sigv4_result signature;
    if (sigv4_sign_header(&r, &signature, err) != 0)
        return -1;
    http_request_header(request, "x-amz-date", signature.date);
    http_request_header(request, "x-amz-content-sha256", signature.payload);
    if (r.session_token != NULL)
        http_request_secret_header(request, "x-amz-security-token", "", r.session_token,
                                   strlen(r.session_token));
    http_request_header(request, "authorization", signature.authorization.s);
    sigv4_result_release(&signature);
    return 0;
}

static int send_once(struct run *run, const struct aws_client *client, const struct aws_call *c,
                     const char *region, int64_t skew, struct http_response *out,
                     struct problem *err)
{
    struct attempt a;
    if (prepare(c, region, &a, err) != 0)
        return -1;
    AUTO(xfree)
    char *url =
        xasprintf("%s%s%s%s", a.endpoint.base, a.path.s, c->query.len > 0 ? "?" : "", c->query.s);
    AUTO_HTTP_REQUEST request;
    http_request_init(&request, c->method, url);
    bool has_body =
        a.body.len > 0 || strcasecmp(c->method, "POST") == 0 || strcasecmp(c->method, "PUT") == 0;
    if (has_body)
        http_request_body(&request, a.content_type, a.body.s, a.body.len);
    if (a.target != NULL)
        http_request_header(&request, "x-amz-target", a.target);
    for (size_t i = 0; i < ARRAY_LEN(c->extra) && c->extra[i].name != NULL; i++)
        http_request_header(&request, c->extra[i].name, c->extra[i].value);
    int rc = c->unsigned_call ? 0 : sign_into(client, c, &a, skew, &request, err);
    if (rc == 0)
        rc = http_send(run, &request, out, err);
    attempt_release(&a);
    return rc;
}

/* --- what the answer is ----------------------------------------------------------------------- */

/* Seconds to add to our clock to get AWS's, by the answer's Date; 0 when it does not say. */
static int64_t skew_of(const struct http_response *http)
{
    const char *date = http_response_header(http, "date");
    time_t theirs = date != NULL ? curl_getdate(date, NULL) : -1;
    return theirs > 0 ? (int64_t)theirs - clock_wall() : 0;
}

static bool is_json(const struct aws_call *c)
{
    return c->service->protocol == AWS_JSON11 || c->service->protocol == AWS_REST_JSON;
}

/* Every answer of S3 and of the JSON services carries an id; what stands between us and them does
 * not know of it. Answers of the query protocols name the action in their root. */
static bool is_from_aws(const struct aws_call *c, const struct aws_answer *a)
{
    if (is_query(c)) {
        size_t n = strlen(c->action);
        return a->xml != NULL && strncmp(a->xml->name, c->action, n) == 0 &&
               strcmp(a->xml->name + n, "Response") == 0;
    }
    if (is_json(c) && a->json != NULL && !cJSON_IsObject(a->json))
        return false;
    return http_response_header(&a->http, "x-amz-request-id") != NULL ||
           http_response_header(&a->http, "x-amzn-RequestId") != NULL;
}

/* A body of S3's GetObject is the object, not an answer. */
static bool is_object(const struct aws_call *c)
{
    return c->service->protocol == AWS_REST_XML && strcmp(c->action, "GetObject") == 0;
}

/* 0 = this is an answer to the call. Its own status says success, its content may say otherwise:
 * S3 sends errors with 200, portals their page. */
static int parse(const struct aws_call *c, struct aws_answer *out, struct problem *err)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    const struct text *body = &out->http.body;
    bool broken = false;
    if (body->len > 0 && is_json(c))
        broken = (out->json = json_parse(body->s, body->len, c->action, &why)) == NULL;
    else if (body->len > 0 && !is_object(c))
        broken = (out->xml = xml_parse(body->s, body->len, c->action, &why)) == NULL;
    if (broken || !is_from_aws(c, out)) {
        aws_error_foreign(c, &out->http, why.why, err);
        return -1;
    }
    return 0;
}

/* Fills e when the answer is an error, whatever its status. */
static bool is_error(const struct aws_call *c, const struct aws_answer *a, struct aws_error *e)
{
    bool success = a->http.status >= 200 && a->http.status < 300;
    bool hidden = success && (json_text(a->json, "__type") != NULL ||
                              (a->xml != NULL && strcmp(a->xml->name, "Error") == 0));
    if (success && !hidden)
        return false;
    aws_error_read(c->service, &a->http, e);
    return true;
}

/* --- once more, or not ------------------------------------------------------------------------ */

struct course { /* what one call learnt on its way */
    char region[48];
    int64_t skew;
    bool clock_corrected, region_corrected;
    int attempt;
};

enum { FINAL = -1 }; /* instead of a pause in ms */

/* -1 when the answer does not say; more than the longest when it says nonsense. */
static long retry_after_ms(const struct http_response *http)
{
    const char *s = http_response_header(http, "Retry-After");
    if (s == NULL || !isdigit((unsigned char)s[0]) || s[strspn(s, "0123456789")] != '\0')
        return -1;
    return strlen(s) > 4 ? BACKOFF_MAX_MS + 1L : atol(s) * 1000;
}

static long next_pause(const struct aws_call *c, const struct course *course, long asked_ms)
{
    unsigned char random = 128;
    int tries = c->tries > 0 ? c->tries : TRIES;
    if (course->attempt + 1 >= tries || asked_ms > BACKOFF_MAX_MS)
        return FINAL;
    RAND_bytes(&random, 1);
    long most = (long)BACKOFF_MS << (course->attempt < 6 ? course->attempt : 6);
    long pause = most / 2 + most * random / 512;
    return pause > asked_ms ? pause : asked_ms;
}

static bool may_repeat(const struct aws_call *c)
{
    return c->idempotent || strcasecmp(c->method, "GET") == 0 || strcasecmp(c->method, "HEAD") == 0;
}

/* After a failure without an answer. */
static long pause_after_failure(const struct aws_call *c, const struct course *course,
                                const struct problem *p)
{
    if (http_is_final(p))
        return FINAL;
    bool unsent = aws_is(p, "dns EAI_AGAIN") || aws_is(p, "curl 7");
    bool lost = p->kind == PROBLEM_UNREACHABLE || aws_is(p, "curl 18");
    return unsent || (lost && may_repeat(c)) ? next_pause(c, course, -1) : FINAL;
}

static long pause_after_answer(struct run *run, const struct aws_call *c,
                               const struct http_response *http, const struct aws_error *e,
                               struct course *course)
{
    bool elsewhere = c->service->protocol == AWS_REST_XML && e->region != NULL &&
                     strcmp(e->region, course->region) != 0 &&
                     (http->status == 301 || http->status == 307 || http->status == 400);
    bool reads = strcasecmp(c->method, "GET") == 0 || strcasecmp(c->method, "HEAD") == 0;
    if (aws_error_is_clock(e) && !course->clock_corrected) {
        course->clock_corrected = true;
        int64_t skew = skew_of(http);
        if (skew == course->skew)
            return FINAL;
        course->skew = skew;
        run_log(run, "the clock is %lld s off AWS's; signing with AWS's", -(long long)course->skew);
        return 0;
    }
    if (elsewhere && reads && !c->unsigned_call && !course->region_corrected &&
        aws_region_check(e->region, NULL) == 0 &&
        aws_partition_of(e->region) == aws_partition_of(course->region)) {
        course->region_corrected = true;
        course->region[0] = '\0';
        strncat(course->region, e->region, sizeof(course->region) - 1);
        return 0;
    }
    if (aws_error_is_throttle(e, http->status) ||
        (may_repeat(c) && aws_error_is_transient(http->status)))
        return next_pause(c, course, retry_after_ms(http));
    return FINAL;
}

/* 0 = `out` is the answer; else a problem, and in *pause how long to wait before the next attempt,
 * or FINAL. */
static int attempt(struct run *run, const struct aws_client *client, const struct aws_call *call,
                   struct course *course, struct aws_answer *out, long *pause, struct problem *err)
{
    *pause = FINAL;
    if (send_once(run, client, call, course->region, course->skew, &out->http, err) != 0) {
        *pause = pause_after_failure(call, course, err);
        return -1;
    }
    out->status = out->http.status;
    if (out->status >= 200 && out->status < 300 && parse(call, out, err) != 0)
        return -1;
    struct aws_error e;
    if (!is_error(call, out, &e))
        return 0;
    *pause = pause_after_answer(run, call, &out->http, &e, course);
    aws_error_problem(call, &e, &out->http, err);
    aws_error_release(&e);
    return -1;
}

int aws_send(struct run *run, const struct aws_client *client, struct aws_call *call,
             struct aws_answer *out, struct problem *err)
{
    struct course course = {.skew = client->skew != NULL ? atomic_load(client->skew) : 0};
    *out = (struct aws_answer){0};
    strncat(course.region, client->region != NULL ? client->region : "", sizeof(course.region) - 1);
    for (;; course.attempt++) {
        AUTO_PROBLEM p = PROBLEM_INIT;
        AUTO_PROBLEM ended = PROBLEM_INIT;
        long pause;
        int rc = attempt(run, client, call, &course, out, &pause, &p);
        if (rc == 0 && course.clock_corrected && client->skew != NULL)
            atomic_store(client->skew, course.skew);
        if (rc == 0)
            return 0;
        if (pause != FINAL && pause < run_left_ms(run) && run_sleep(run, (int)pause, &ended) == 0) {
            aws_answer_release(out);
            *out = (struct aws_answer){0};
            continue;
        }
        if (ended.kind == PROBLEM_CANCELLED)
            return http_cancelled_between(run, &p, err);
        problem_move(err, &p);
        return -1;
    }
}
