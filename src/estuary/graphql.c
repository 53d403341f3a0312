/* GraphQL over HTTP: what went wrong is said in errors[] with status 200. */
#include <string.h>

#include "core/clean.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/node_json.h"
#include "estuary/api.h"
#include "estuary/call.h"

#define PATH "/api/graphql"
#define SHOWN 400 /* bytes of a message */

/* Status words as the API writes them before the colon (tonic's codes), or their descriptions where
 * it shows the status whole. */
static const struct word {
    const char *word, *description;
    enum problem_kind kind;
    enum who who;
    const char *why, *fix;
} words[] = {
    {"Unauthenticated", "valid authentication credentials", PROBLEM_REFUSED, WHO_YOU,
     "The token is not taken.",
     "Make a new one on Estuary's dashboard: Admin, CLI-API, Generate token."},
    {"PermissionDenied", "does not have permission", PROBLEM_DENIED, WHO_YOU,
     "The login has no right to this.", ESTUARY_HAVE_GRANTED},
    {"NotFound", "requested entity was not found", PROBLEM_MISSING, WHO_YOU,
     "Estuary does not know it.", "Check the name."},
    {"InvalidArgument", "invalid argument", PROBLEM_INPUT, WHO_YOU,
     "Estuary does not take a value.", "Check what was entered."},
    {"AlreadyExists", "already exists", PROBLEM_CONFLICT, WHO_YOU, "It is there already.",
     "Choose another name."},
    {"FailedPrecondition", "not in a state required", PROBLEM_CONFLICT, WHO_YOU,
     "Something else is to be done first.", "See what Estuary says."},
    {"Unavailable", "service is currently unavailable", PROBLEM_UNREACHABLE, WHO_ESTUARY,
     "Estuary cannot do it at the moment.", "Try again in a few minutes."},
    {"DeadlineExceeded", "deadline expired", PROBLEM_UNREACHABLE, WHO_ESTUARY,
     "Estuary took too long.", "Try again in a few minutes."},
    {"ResourceExhausted", "resource has been exhausted", PROBLEM_UNREACHABLE, WHO_ESTUARY,
     "Too many requests, or too large ones.", "Try again in a few minutes."},
    {"Internal", "internal error", PROBLEM_PROTOCOL, WHO_ESTUARY,
     "The fault lies on Estuary's side.", "Try again; if it stays, ask support@estuary.dev."},
    {NULL, NULL, PROBLEM_PROTOCOL, WHO_ESTUARY, "Estuary does not take the query.",
     "Look for a newer sluice; if there is none, ask support@estuary.dev."},
};

/* errors[0], or the body of a 403 that has the same members. */
static const cJSON *first_error(const cJSON *root)
{
    const cJSON *errors = json_member(root, "errors");
    if (cJSON_IsArray(errors) && errors->child != NULL)
        return errors->child;
    return json_text(root, "error") != NULL && json_text(root, "message") != NULL ? root : NULL;
}

static const cJSON *more_of(const cJSON *error)
{
    const cJSON *more = json_member(error, "extensions");
    return more != NULL ? more : error;
}

static const struct word *word_of(const cJSON *error)
{
    const char *message = json_text(error, "message");
    const char *said = json_text(more_of(error), "error");
    if (cJSON_IsArray(json_member(more_of(error), "missing_capabilities")))
        return &words[1];
    const struct word *w = words;
    for (; w->word != NULL; w++) {
        size_t n = strlen(w->word);
        if (message != NULL && strncmp(message, w->word, n) == 0 && message[n] == ':')
            break;
        if (said != NULL && strcmp(said, w->word) == 0)
            break;
        if (message != NULL && strncmp(message, "status: '", 9) == 0 &&
            strstr(message, w->description) != NULL)
            break;
    }
    return w;
}

static char *missing_of(const cJSON *error)
{
    struct text t = TEXT_INIT;
    const cJSON *list = json_member(more_of(error), "missing_capabilities");
    size_t count = 0;
    for (const cJSON *c = list != NULL ? list->child : NULL; c != NULL && count < 20; c = c->next) {
        if (!cJSON_IsString(c))
            continue;
        AUTO(xfree) char *name = clean_excerpt(c->valuestring, strlen(c->valuestring), 60);
        text_sep(&t, ", ");
        text_add(&t, name);
        count++;
    }
    return text_take(&t);
}

static int explain_error(const cJSON *error, struct problem *err)
{
    const struct word *w = word_of(error);
    const char *message = json_text(error, "message");
    if (message == NULL)
        message = "no reason given";
    AUTO(xfree) char *shown = clean_excerpt(message, strlen(message), SHOWN);
    AUTO(xfree) char *missing = missing_of(error);
    problem_fail(err, w->kind, w->word != NULL ? w->word : "graphql", "Estuary says: %s", shown);
    if (*missing != '\0')
        problem_why(err, "%s Missing: %s.", w->why, missing);
    else
        problem_why(err, "%s", w->why);
    problem_fix(err, w->who, "%s", w->fix);
    return -1;
}

static bool spent(const struct http_response *r)
{
    if (r->status == 401)
        return !estuary_is_page(r);
    if (r->status != 200 || strstr(r->body.s, "\"errors\"") == NULL)
        return false;
    AUTO(cJSON_Delete) cJSON *root = json_parse(r->body.s, r->body.len, "an answer", NULL);
    const cJSON *error = first_error(root);
    return error != NULL && word_of(error)->kind == PROBLEM_REFUSED;
}

static int read_answer(const struct http_response *r, const char *url, cJSON **data,
                       struct problem *err)
{
    AUTO(cJSON_Delete) cJSON *root = json_parse(r->body.s, r->body.len, "Estuary's answer", NULL);
    const cJSON *error = first_error(root);
    bool own = r->status == 200 || r->status == 400 || r->status == 403; /* else a gateway's */
    if (error != NULL && own)
        return explain_error(error, err);
    if (r->status != 200 || !cJSON_IsObject(json_member(root, "data")))
        return estuary_explain(r, url, err);
    *data = cJSON_DetachItemFromObjectCaseSensitive(root, "data");
    return 0;
}

int estuary_graphql(struct run *run, struct secret *token, const char *query,
                    const struct node *variables, cJSON **data, struct problem *err)
{
    AUTO_TEXT body = TEXT_INIT;
    struct json_writer w = {.out = &body};
    json_begin(&w, '{');
    json_pair_text(&w, "query", query);
    if (variables != NULL) {
        json_key(&w, "variables");
        node_write_json(variables, &body);
        w.need_comma = true;
    }
    json_end(&w, '}');
    const struct estuary_request request = {
        .method = "POST",
        .path = PATH,
        .body = body.s,
        .body_len = body.len,
        .reads = strncmp(query, "mutation", strlen("mutation")) != 0,
        .spent = spent,
    };
    AUTO_HTTP_RESPONSE answer = {0};
    if (estuary_send(run, token, &request, &answer, err) != 0)
        return -1;
    AUTO_ENDPOINTS e;
    estuary_endpoints(&e);
    return read_answer(&answer, e.api, data, err);
}
