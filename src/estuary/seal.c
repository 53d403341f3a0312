/* The request to the encryption service. The schema sent along is made of the config itself, so
 * that what is a secret here is one there. What is accepted is judged in seal_judge.c. */
#include "estuary/seal.h"

#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/node_json.h"
#include "estuary/endpoints.h"
#include "estuary/seal_parts.h"
#include "net/http.h"

#define SEAL_TRIES 3
#define SEALED_MAX ((size_t)1 << 20) /* bytes; a sealed config has some thousands */

const struct estuary_secret *seal_secret_of(const char *text, const struct estuary_secret *secrets,
                                            size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(text, secrets[i].placeholder) != NULL)
            return &secrets[i];
    return NULL;
}

struct secret **seal_live(const struct estuary_secret *secrets, size_t count)
{
    struct secret **live = xcalloc(count + 1, sizeof *live);
    for (size_t i = 0; i < count; i++)
        live[i] = secret_new(secrets[i].bytes, strlen(secrets[i].bytes));
    return live;
}

void seal_live_free(struct secret **live, size_t count)
{
    for (size_t i = 0; i < count; i++)
        secret_unref(live[i]);
    xfree(live);
}

/* --- what is sent
 * -------------------------------------------------------------------------------- */

/* The value with the secret in its placeholder's place. */
static void add_secret(struct json_writer *w, const char *text, const struct estuary_secret *s)
{
    struct text value = TEXT_INIT;
    const char *at = strstr(text, s->placeholder);
    text_addn(&value, text, (size_t)(at - text));
    text_add(&value, s->bytes);
    text_add(&value, at + strlen(s->placeholder));
    json_add_text(w, value.s);
    text_wipe(&value);
}

static void add_config(struct json_writer *w, const struct node *n,
                       const struct estuary_secret *secrets, size_t count)
{
    if (n->kind == NODE_SCALAR) {
        const struct estuary_secret *s = n->plain ? NULL : seal_secret_of(n->text, secrets, count);
        if (s != NULL)
            add_secret(w, n->text, s);
        else if (n->plain)
            json_add_letters(w, n->text); /* true and false: spec.h writes no other */
        else
            json_add_text(w, n->text);
        return;
    }
    json_begin(w, '{');
    for (size_t i = 0; i < n->count; i++) {
        json_key(w, n->keys[i]);
        add_config(w, n->items[i], secrets, count);
    }
    json_end(w, '}');
}

static void add_schema(struct json_writer *w, const struct node *n,
                       const struct estuary_secret *secrets, size_t count)
{
    json_begin(w, '{');
    if (n->kind == NODE_SCALAR) {
        json_pair_text(w, "type", n->plain ? "boolean" : "string");
        if (!n->plain && seal_secret_of(n->text, secrets, count) != NULL)
            json_pair_bool(w, "secret", true);
        json_end(w, '}');
        return;
    }
    json_pair_text(w, "type", "object");
    json_key(w, "properties");
    json_begin(w, '{');
    for (size_t i = 0; i < n->count; i++) {
        json_key(w, n->keys[i]);
        add_schema(w, n->items[i], secrets, count);
    }
    json_end(w, '}');
    json_key(w, "required");
    json_begin(w, '[');
    for (size_t i = 0; i < n->count; i++)
        json_add_text(w, n->keys[i]);
    json_end(w, ']');
    json_pair_bool(w, "additionalProperties", false);
    json_end(w, '}');
}

static void write_request(const struct node *config, const struct estuary_secret *secrets,
                          size_t count, struct text *out)
{
    struct json_writer w = {.out = out};
    json_begin(&w, '{');
    json_key(&w, "schema");
    add_schema(&w, config, secrets, count);
    json_key(&w, "config");
    add_config(&w, config, secrets, count);
    json_end(&w, '}');
}

/* --- what comes back
 * ----------------------------------------------------------------------------- */

/* Of a refusal only places and keywords: each entry repeats the value it is about. */
static void add_places(const char *body, struct problem *err)
{
    const char *list = strchr(body, '[');
    cJSON *entries = list != NULL ? json_parse(list, strlen(list), "the refusal", NULL) : NULL;
    AUTO_TEXT places = TEXT_INIT;
    for (const cJSON *e = cJSON_IsArray(entries) ? entries->child : NULL; e != NULL; e = e->next) {
        const char *keyword = json_text(e, "keyword"), *at = json_text(e, "instanceLocation");
        if (keyword == NULL)
            keyword = json_text(e, "keywordLocation");
        if (keyword == NULL && at == NULL)
            continue;
        text_sep(&places, "; ");
        text_addf(&places, "%s at %s", keyword != NULL ? keyword : "a rule",
                  at != NULL && at[0] != '\0' ? at : "/");
    }
    cJSON_Delete(entries);
    if (places.len > 0)
        problem_evidence(err, "%s", places.s);
}

static int refused(const struct http_response *r, const char *url, struct problem *err)
{
    if (r->status == 400) {
        problem_fail(err, PROBLEM_INPUT, "400", "Estuary's encryption service refused the config");
        add_places(r->body.s, err);
        problem_why(err, "Its own words are not shown: they repeat what was sent.");
        problem_fix(err, WHO_ESTUARY,
                    "Correct what is named; else report it to Estuary's support.");
        return -1;
    }
    AUTO(xfree) char *code = xasprintf("%d", r->status);
    bool later = r->status == 429 || r->status >= 500;
    problem_fail(err, later ? PROBLEM_UNREACHABLE : PROBLEM_PROTOCOL, code,
                 "Estuary's encryption service answered %d", r->status);
    problem_why(err, "%s was asked.", url);
    problem_fix(err, WHO_YOU,
                later
                    ? "Try again in a minute."
                    : "See whether a proxy stands between; SLUICE_ESTUARY_ENCRYPTION_URL may lead "
                      "elsewhere.");
    return -1;
}

/* What is no JSON is not quoted: it may repeat what was sent. */
static struct node *read_sealed(const struct http_response *r, struct problem *err)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    struct node *n = node_parse_json(r->body.s, r->body.len, "the sealed config", &why);
    if (n != NULL)
        return n;
    const char *sort = r->content_type[0] != '\0' ? r->content_type : "text of no kind";
    problem_fail(err, why.kind, why.code,
                 "what came back from Estuary's encryption service is "
                 "not JSON");
    problem_why(err,
                "%zu bytes, said to be %s. Its words are not shown: they may repeat what was "
                "sent.",
                r->body.len, sort);
    problem_fix(err, WHO_YOU,
                "Something else than Estuary's service may have answered: see "
                "whether a proxy stands between.");
    return NULL;
}

/* What the service gave back; NULL and err. */
static struct node *ask(struct run *run, const struct http_request *request, const char *url,
                        struct problem *err)
{
    struct http_response answer = {0};
    struct node *found = NULL;
    if (http_send_retrying(run, request, SEAL_TRIES, &answer, err) != 0)
        return NULL;
    if (answer.status != 200)
        refused(&answer, url, err);
    else
        found = read_sealed(&answer, err);
    text_wipe(&answer.body);
    http_response_release(&answer);
    return found;
}

int estuary_seal(struct run *run, const struct node *config, const struct estuary_secret *secrets,
                 size_t count, struct node **sealed, struct problem *err)
{
    AUTO_ENDPOINTS e = {0};
    AUTO_HTTP_REQUEST request;
    struct text body = TEXT_INIT;
    estuary_endpoints(&e);
    AUTO(xfree) char *url = xasprintf("%s/v1/encrypt-config", e.encryption);
    http_request_init(&request, "POST", url);
    request.body_max = SEALED_MAX;
    write_request(config, secrets, count, &body);
    http_request_body(&request, "application/json", body.s, body.len);
    text_wipe(&body);
    struct secret **live = seal_live(secrets, count);
    struct node *found = ask(run, &request, url, err);
    int rc = found != NULL ? estuary_seal_judge(config, secrets, count, found, err) : -1;
    seal_live_free(live, count);
    if (rc == 0)
        *sealed = found;
    else
        node_free(found);
    return rc;
}
