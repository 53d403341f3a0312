/* The calls themselves. */
#include "catalog/rest.h"

#include <string.h>

#include "catalog/rest_call.h"
#include "catalog/token.h"
#include "catalog/url.h"
#include "core/clock.h"
#include "core/json.h"

#define READ_TRIES 3 /* of GET and HEAD, for 408, 429 and 5xx; what writes is sent once */

static int prepare(struct http_request *request, const struct catalog_call_spec *call,
                   const struct token_lease *lease, struct problem *err)
{
    http_request_init(request, call->method, call->url);
    if (!url_same_host(call->url, lease->origin_url))
        return problem_fail(err, PROBLEM_BUG, "token host",
                            "a token would be sent to another host: %s", call->url);
    http_request_header(request, "Accept", "application/json");
    /* Estuary sends it with each call, so that what it provokes shows here first. */
    http_request_header(request, "X-Iceberg-Access-Delegation", "vended-credentials");
    http_request_secret_header(request, "Authorization", "Bearer ", secret_bytes(lease->token),
                               secret_len(lease->token));
    if (call->body != NULL)
        http_request_body(request, "application/json", call->body, strlen(call->body));
    request->body_max = CATALOG_BODY_MAX;
    return 0;
}

static int send_once(struct run *run, const struct catalog_call_spec *call,
                     const struct token_lease *lease, struct http_response *out,
                     struct problem *err)
{
    AUTO_HTTP_REQUEST request = {0};
    if (prepare(&request, call, lease, err) != 0)
        return -1;
    bool reads = strcmp(call->method, "GET") == 0 || strcmp(call->method, "HEAD") == 0;
    return reads ? http_send_retrying(run, &request, READ_TRIES, out, err)
                 : http_send(run, &request, out, err);
}

/* Statuses servers use for a token that has expired: 401 and 419 by the specification, 501 in the
 * wild. */
static bool token_spent(int status)
{
    return status == 401 || status == 419 || status == 501;
}

int catalog_send(struct run *run, const struct catalog_target *t,
                 const struct catalog_call_spec *call, struct http_response *out,
                 struct problem *err)
{
    struct token_client client = {
        .token_url = t->token_url,
        .catalog_url = t->url,
        .id = t->client_id,
        .secret = t->client_secret,
    };
    int64_t began = clock_ms();
    for (;;) {
        struct token_lease lease;
        if (token_lease(run, &client, &lease, err) != 0)
            return -1;
        int failed = send_once(run, call, &lease, out, err);
        bool old = lease.since < began;
        bool spent = !failed && token_spent(out->status);
        token_return(run, &lease, spent);
        if (failed)
            return -1;
        if (!spent || !old)
            return 0;
        http_response_release(out);
    }
}

int catalog_send_explain(const struct catalog_target *t, const struct catalog_call_spec *call,
                         const struct http_response *r, struct problem *err)
{
    AUTO_ANSWER a;
    answer_read(r, &a);
    struct url_parts u = {0};
    bool split = url_split(call->url, &u, NULL) == 0;
    struct catalog_context context = {
        .call = call->what,
        .method = call->method,
        .url = call->url,
        .host = split ? u.host : call->url,
        .branch = t->branch,
        .warehouse = t->warehouse,
        .name = call->name != NULL ? call->name : "",
    };
    catalog_explain(&a, &context, err);
    if (split)
        url_release(&u);
    return -1;
}

static char *config_url(const char *url, const char *warehouse)
{
    AUTO(xfree) char *base = catalog_join(url, "v1/config");
    AUTO(xfree) char *encoded = url_encode(warehouse);
    return xasprintf("%s?warehouse=%s", base, encoded);
}

int catalog_knock(struct run *run, const char *url, const char *warehouse,
                  struct http_response *out, struct problem *err)
{
    AUTO(xfree) char *asked = config_url(url, warehouse);
    AUTO_HTTP_REQUEST request;
    http_request_init(&request, "GET", asked);
    http_request_header(&request, "Accept", "application/json");
    request.body_max = CATALOG_BODY_MAX;
    return http_send(run, &request, out, err);
}

int catalog_get_config(struct run *run, const struct catalog_target *t, struct catalog_config *out,
                       struct problem *err)
{
    AUTO(xfree) char *url = config_url(t->url, t->warehouse);
    struct catalog_call_spec call = {.what = CALL_CONFIG, .method = "GET", .url = url};
    AUTO_HTTP_RESPONSE answer = {0};
    if (catalog_send(run, t, &call, &answer, err) != 0)
        return -1;
    if (answer.status != 200 || strcmp(answer.content_type, "text/html") == 0)
        return catalog_send_explain(t, &call, &answer, err);
    return catalog_config_read(answer.body.s, answer.body.len, out, err);
}

/* One page; *next as by list->read. */
static int list_page(struct run *run, const struct catalog_target *t,
                     const struct catalog_list *list, const char *token, struct catalog_names *out,
                     char **next, struct problem *err)
{
    AUTO(xfree) char *encoded = url_encode(token);
    AUTO(xfree)
    char *url = xasprintf("%s?pageToken=%s&pageSize=%d", list->url, encoded, CATALOG_PAGE_SIZE);
    struct catalog_call_spec call = {
        .what = list->what, .method = "GET", .url = url, .name = list->name};
    AUTO_HTTP_RESPONSE answer = {0};
    if (catalog_send(run, t, &call, &answer, err) != 0)
        return -1;
    if (answer.status == 404 && list->may_lack)
        return 0;
    if (answer.status != 200)
        return catalog_send_explain(t, &call, &answer, err);
    return list->read(answer.body.s, answer.body.len, out, next, err);
}

int catalog_list_read(struct run *run, const struct catalog_target *t,
                      const struct catalog_list *list, struct catalog_names *out,
                      struct problem *err)
{
    struct catalog_names names = {0};
    char *token = xstrdup("");
    int result = 0;
    while (token != NULL && result == 0) {
        char *next = NULL;
        result = list_page(run, t, list, token, &names, &next, err);
        bool again = next != NULL && strcmp(next, token) == 0;
        xfree(token);
        token = next;
        if (again || (next != NULL && names.pages >= CATALOG_PAGES_MAX)) {
            names.more = true;
            break;
        }
        run_progress(run, (int64_t)names.count, 0, list->things);
    }
    xfree(token);
    if (result != 0)
        catalog_names_release(&names);
    else
        *out = names;
    return result;
}

int catalog_list_namespaces(struct run *run, const struct catalog_target *t, const char *base,
                            struct catalog_names *out, struct problem *err)
{
    AUTO(xfree) char *url = xasprintf("%s/namespaces", base);
    const struct catalog_list list = {
        .what = CALL_LIST, .url = url, .things = "namespaces", .read = catalog_names_read};
    return catalog_list_read(run, t, &list, out, err);
}

static char *namespace_url(const char *base, const char *name)
{
    AUTO(xfree) char *encoded = url_encode(name);
    return xasprintf("%s/namespaces/%s", base, encoded);
}

int catalog_has_namespace(struct run *run, const struct catalog_target *t, const char *base,
                          const char *name, bool *out, struct problem *err)
{
    AUTO(xfree) char *url = namespace_url(base, name);
    static const char *const methods[] = {"HEAD", "GET"};
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        bool head = i == 0;
        struct catalog_call_spec call = {
            .what = CALL_NAMESPACE, .method = methods[i], .url = url, .name = name};
        AUTO_HTTP_RESPONSE answer = {0};
        if (catalog_send(run, t, &call, &answer, err) != 0)
            return -1;
        if (answer.status == (head ? 204 : 200)) {
            *out = true;
            return 0;
        }
        if (answer.status == 404 && head) {
            *out = false;
            return 0;
        }
        if (head)
            continue;
        AUTO_ANSWER a;
        answer_read(&answer, &a);
        if (answer.status == 404 &&
            strcmp(catalog_rule_for(&a, CALL_NAMESPACE)->id, "namespace.missing") == 0) {
            *out = false;
            return 0;
        }
        return catalog_send_explain(t, &call, &answer, err);
    }
    return -1;
}

int catalog_create_namespace(struct run *run, const struct catalog_target *t, const char *base,
                             const char *name, struct problem *err)
{
    AUTO(xfree) char *url = xasprintf("%s/namespaces", base);
    AUTO_TEXT body = TEXT_INIT;
    struct json_writer w = {.out = &body};
    json_begin(&w, '{');
    json_key(&w, "namespace");
    json_begin(&w, '[');
    json_add_text(&w, name);
    json_end(&w, ']');
    json_key(&w, "properties");
    json_begin(&w, '{');
    json_end(&w, '}');
    json_end(&w, '}');
    struct catalog_call_spec call = {
        .what = CALL_CREATE, .method = "POST", .url = url, .body = body.s, .name = name};
    AUTO_HTTP_RESPONSE answer = {0};
    if (catalog_send(run, t, &call, &answer, err) != 0)
        return -1;
    if (answer.status == 200 || answer.status == 201 || answer.status == 204)
        return 0;
    return catalog_send_explain(t, &call, &answer, err);
}

int catalog_remove_namespace(struct run *run, const struct catalog_target *t, const char *base,
                             const char *name, struct problem *err)
{
    AUTO(xfree) char *url = namespace_url(base, name);
    struct catalog_call_spec call = {
        .what = CALL_REMOVE, .method = "DELETE", .url = url, .name = name};
    AUTO_HTTP_RESPONSE answer = {0};
    if (catalog_send(run, t, &call, &answer, err) != 0)
        return -1;
    if (answer.status == 200 || answer.status == 204 || answer.status == 404)
        return 0;
    return catalog_send_explain(t, &call, &answer, err);
}
