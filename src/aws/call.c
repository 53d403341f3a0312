/* One AWS call from its parts to its parsed answer. See call.h. */
#include "aws/call.h"

#include <curl/curl.h>
#include <openssl/rand.h>
#include <stdio.h>
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
#define BACKOFF_MS 200

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

/* --- one attempt
 * -------------------------------------------------------------------------------------- */

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

static int prepare(const struct aws_client *client, const struct aws_call *c, const char *region,
                   struct attempt *a, struct problem *err)
{
    (void)client;
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
    if (prepare(client, c, region, &a, err) != 0)
        return -1;
    AUTO(xfree)
    char *url =
        xasprintf("%s%s%s%s", a.endpoint.base, a.path.s, c->query.len > 0 ? "?" : "", c->query.s);
    AUTO_HTTP_REQUEST request;
    http_request_init(&request, c->method, url);
    bool has_body =
        a.body.len > 0 || strcasecmp(c->method, "POST") == 0 || strcasecmp(c->method, "PUT") == 0;
    if (has_body)
        http_request_body(&request, a.content_type != NULL ? a.content_type : "", a.body.s,
                          a.body.len);
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

/* --- retries
 * ------------------------------------------------------------------------------------------ */

/* Seconds to add to our clock to get AWS's, by the answer's Date; 0 when it does not say. */
static int64_t skew_of(const struct http_response *http)
{
    const char *date = http_response_header(http, "date");
    time_t theirs = date != NULL ? curl_getdate(date, NULL) : -1;
    return theirs > 0 ? (int64_t)theirs - clock_wall() : 0;
}

static int back_off(struct run *run, int attempt, struct problem *err)
{
    unsigned char random = 128;
    RAND_bytes(&random, 1);
    int most = BACKOFF_MS << (attempt < 6 ? attempt : 6);
    return run_sleep(run, most / 2 + most * random / 512, err);
}

static int parse(const struct aws_call *c, struct aws_answer *out, struct problem *err)
{
    out->status = out->http.status;
    if (out->http.body.len == 0)
        return 0;
    if (c->service->protocol == AWS_JSON11 || c->service->protocol == AWS_REST_JSON) {
        out->json = json_parse(out->http.body.s, out->http.body.len, c->action, err);
        return out->json != NULL ? 0 : -1;
    }
    bool object = c->service->protocol == AWS_REST_XML && strcmp(c->action, "GetObject") == 0;
    if (object)
        return 0;
    out->xml = xml_parse(out->http.body.s, out->http.body.len, c->action, err);
    return out->xml != NULL ? 0 : -1;
}

struct course { /* what one call learnt on its way */
    char region[48];
    int64_t skew;
    bool clock_corrected, region_corrected;
};

/* 1 = once more, 0 = the answer is final. */
static int again(struct run *run, const struct aws_call *c, const struct http_response *http,
                 const struct aws_error *e, int attempt, struct course *course, struct problem *err)
{
    bool elsewhere = c->service->protocol == AWS_REST_XML && e->region != NULL &&
                     strcmp(e->region, course->region) != 0 &&
                     (http->status == 301 || http->status == 307 || http->status == 400);
    if (aws_error_is_clock(e) && !course->clock_corrected) {
        course->clock_corrected = true;
        course->skew = skew_of(http);
        run_log(run, "the clock is %lld s off AWS's; signing with AWS's", (long long)-course->skew);
        return course->skew != 0;
    }
    if (elsewhere && !course->region_corrected) {
        course->region_corrected = true;
        course->region[0] = '\0';
        strncat(course->region, e->region, sizeof(course->region) - 1);
        return 1;
    }
    int tries = c->tries > 0 ? c->tries : TRIES;
    return aws_error_is_throttle(e, http->status) && attempt + 1 < tries &&
           back_off(run, attempt, err) == 0;
}

int aws_send(struct run *run, const struct aws_client *client, struct aws_call *call,
             struct aws_answer *out, struct problem *err)
{
    struct course course = {0};
    bool safe = call->idempotent || strcasecmp(call->method, "GET") == 0 ||
                strcasecmp(call->method, "HEAD") == 0;
    *out = (struct aws_answer){0};
    strncat(course.region, client->region != NULL ? client->region : "", sizeof(course.region) - 1);
    for (int attempt = 0;; attempt++) {
        AUTO_PROBLEM p = PROBLEM_INIT;
        if (send_once(run, client, call, course.region, course.skew, &out->http, &p) != 0) {
            int tries = call->tries > 0 ? call->tries : TRIES;
            if (safe && p.kind == PROBLEM_UNREACHABLE && attempt + 1 < tries &&
                back_off(run, attempt, NULL) == 0)
                continue;
            problem_move(err, &p);
            return -1;
        }
        if (out->http.status >= 200 && out->http.status < 300) {
            if (parse(call, out, err) == 0)
                return 0;
            aws_answer_release(out);
            return -1;
        }
        struct aws_error e;
        aws_error_read(call->service, &out->http, &e);
        bool once_more = again(run, call, &out->http, &e, attempt, &course, &p) > 0;
        if (!once_more)
            aws_error_problem(call, &e, &out->http, err);
        aws_error_release(&e);
        aws_answer_release(out);
        if (!once_more)
            return -1;
    }
}
