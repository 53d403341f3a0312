/* Tables and functions by PostgREST: errors are JSON with the database's code, or PostgREST's. */
#include <string.h>
#include <strings.h>

#include "core/clean.h"
#include "core/json.h"
#include "core/mem.h"
#include "estuary/api.h"
#include "estuary/call.h"

#define SHOWN 400 /* bytes of a message, of details, of a hint */
#define ONE_ROW "application/vnd.pgrst.object+json"

/* By the beginning of the code, the first that fits (SQLSTATE classes, PostgREST's own). Codes of a
 * token that is not taken have no row: estuary_pg_spent sees them first. */
static const struct rule {
    const char *code;
    enum problem_kind kind;
    enum who who;
    const char *why, *fix;
} rules[] = {
    {"42501", PROBLEM_DENIED, WHO_YOU, "The login has no right to this.", ESTUARY_HAVE_GRANTED},
    {"PGRST116", PROBLEM_MISSING, WHO_YOU, "It is not there, or not visible to this login.",
     "Check again; what was drafted may have been deleted meanwhile."},
    {"PGRST00", PROBLEM_UNREACHABLE, WHO_ESTUARY, "Estuary's database cannot be reached.",
     "Try again in a few minutes."},
    {"PGRST", PROBLEM_PROTOCOL, WHO_ESTUARY, "The request is not one that Estuary's tables take.",
     "Look for a newer sluice; if there is none, ask support@estuary.dev."},
    {"23", PROBLEM_CONFLICT, WHO_YOU, "It goes against what is there, or against a rule for names.",
     "Check the name, and whether somebody else made the same meanwhile."},
    {"22", PROBLEM_INPUT, WHO_YOU, "Estuary does not take a value.", "Check what was entered."},
    {"57", PROBLEM_UNREACHABLE, WHO_ESTUARY, "Estuary's database gave up, mostly for want of time.",
     "Try again in a few minutes."},
    {"53", PROBLEM_UNREACHABLE, WHO_ESTUARY, "Estuary's database is overloaded.",
     "Try again in a few minutes."},
    {"", PROBLEM_PROTOCOL, WHO_ESTUARY, "It is Estuary's database that says so.",
     "Try again; if it stays, ask support@estuary.dev."},
};

static cJSON *parse_error(const struct http_response *r)
{
    cJSON *root = json_parse(r->body.s, r->body.len, "Estuary's answer", NULL);
    if (cJSON_IsObject(root) && json_text(root, "message") != NULL)
        return root;
    cJSON_Delete(root);
    return NULL;
}

/* The gateway before PostgREST answers without a code when it does not know the public key. */
static bool is_key_error(const cJSON *error)
{
    const char *code = json_text(error, "code");
    return (code == NULL || *code == '\0') && strcasestr(json_text(error, "message"), "api key");
}

bool estuary_key_refused(const struct http_response *r, struct problem *err)
{
    if (r->status != 401)
        return false;
    AUTO(cJSON_Delete) cJSON *error = parse_error(r);
    if (error == NULL || !is_key_error(error))
        return false;
    problem_fail(err, PROBLEM_REFUSED, "apikey",
                 "Estuary does not know the public key of its project");
    problem_why(err, "The key names the project, not you: your token was not even looked at.");
    problem_fix(
        err, WHO_YOU,
        "Check SLUICE_ESTUARY_ANON_KEY and SLUICE_ESTUARY_PG_URL if they are set; else look "
        "for a newer sluice.");
    estuary_evidence(r, err);
    return true;
}

/* "JWT expired", "invalid JWT", "JWSError …"; 401 comes with 42501, too, which is about rights. */
bool estuary_pg_spent(const struct http_response *r)
{
    if (r->status != 401 || estuary_is_page(r))
        return false;
    AUTO(cJSON_Delete) cJSON *error = parse_error(r);
    if (error == NULL)
        return true;
    const char *code = json_text(error, "code");
    return !is_key_error(error) && (code == NULL || strcmp(code, "42501") != 0);
}

/* "its table drafts", "its function view_logs". */
static char *place_of(const char *path)
{
    bool function = strncmp(path, "rpc/", 4) == 0;
    return xasprintf("its %s %s", function ? "function" : "table", function ? path + 4 : path);
}

static void add_member(struct text *out, const cJSON *error, const char *key)
{
    const char *s = json_text(error, key);
    if (s == NULL || *s == '\0')
        return;
    AUTO(xfree) char *shown = clean_excerpt(s, strlen(s), SHOWN);
    text_sep(out, "\n");
    text_addf(out, "%s: %s", key, shown);
}

static int explain_error(const cJSON *error, const struct estuary_pg_call *call,
                         struct problem *err)
{
    const char *code = json_text(error, "code"), *message = json_text(error, "message");
    const struct rule *rule = rules;
    while (strncmp(code, rule->code, strlen(rule->code)) != 0)
        rule++;
    AUTO(xfree) char *shown = clean_excerpt(message, strlen(message), SHOWN);
    AUTO(xfree) char *shown_code = clean_excerpt(code, strlen(code), 40);
    AUTO(xfree) char *place = place_of(call->path);
    problem_fail(err, rule->kind, shown_code, "Estuary says of %s: %s", place, shown);
    problem_why(err, "%s", rule->why);
    problem_fix(err, rule->who, "%s", rule->fix);
    AUTO_TEXT more = TEXT_INIT;
    add_member(&more, error, "details");
    add_member(&more, error, "hint");
    if (more.len > 0)
        problem_evidence(err, "%s", more.s);
    return -1;
}

static int explain(const struct http_response *r, const struct estuary_pg_call *call,
                   const char *url, struct problem *err)
{
    if (estuary_key_refused(r, err))
        return -1;
    AUTO(cJSON_Delete) cJSON *error = parse_error(r);
    if (error != NULL && json_text(error, "code") != NULL)
        return explain_error(error, call, err);
    return estuary_explain(r, url, err);
}

static int read_answer(const struct http_response *r, const char *url, cJSON **answer,
                       struct problem *err)
{
    *answer = NULL;
    if (r->body.len == 0)
        return 0;
    *answer = json_parse(r->body.s, r->body.len, "Estuary's answer", NULL);
    return *answer != NULL ? 0 : estuary_explain(r, url, err);
}

int estuary_pg(struct run *run, struct secret *token, const struct estuary_pg_call *call,
               cJSON **answer, struct problem *err)
{
    AUTO(xfree)
    char *path = xasprintf("/%s%s%s", call->path, call->query != NULL ? "?" : "",
                           call->query != NULL ? call->query : "");
    const struct estuary_request request = {
        .pg = true,
        .method = call->method,
        .path = path,
        .body = call->body,
        .body_len = call->body != NULL ? strlen(call->body) : 0,
        .accept = call->one ? ONE_ROW : NULL,
        .prefer = call->prefer,
        .range = call->range,
        .reads = strcmp(call->method, "GET") == 0,
        .spent = estuary_pg_spent,
    };
    AUTO_HTTP_RESPONSE r = {0};
    if (estuary_send(run, token, &request, &r, err) != 0)
        return -1;
    AUTO_ENDPOINTS e;
    estuary_endpoints(&e);
    if (r.status < 200 || r.status > 299)
        return explain(&r, call, e.pg, err);
    cJSON *parsed = NULL;
    if (read_answer(&r, e.pg, &parsed, err) != 0)
        return -1;
    if (call->raw != NULL)
        text_addn(call->raw, r.body.s, r.body.len);
    if (answer != NULL)
        *answer = parsed;
    else
        cJSON_Delete(parsed);
    return 0;
}
