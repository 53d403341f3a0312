/* Judging the answer of a token endpoint: nothing of it is trusted until it is proved to be a
 * token. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "catalog/classify.h"
#include "catalog/token.h"
#include "core/json.h"
#include "core/mem.h"

/* A member of the answer, from JSON or from a form. */
struct granted {
    char *token;
    char *type;
    char *life;       /* digits, as text */
    bool life_quoted; /* it was a string in JSON */
};

static void wipe(char **s)
{
    if (*s != NULL)
        explicit_bzero(*s, strlen(*s));
    xfree(*s);
    *s = NULL;
}

static void granted_release(struct granted *g)
{
    wipe(&g->token);
    xfree(g->type);
    xfree(g->life);
}

static bool from_json(const struct http_response *r, struct granted *out)
{
    AUTO(cJSON_Delete) cJSON *root = json_parse(r->body.s, r->body.len, "the token", NULL);
    if (!cJSON_IsObject(root) || cJSON_IsString(json_member(root, "error")))
        return false; /* an error member is a failure, whatever the status */
    out->token = xstrdup(json_text(root, "access_token"));
    out->type = xstrdup(json_text(root, "token_type"));
    const cJSON *life = json_member(root, "expires_in");
    if (cJSON_IsString(life)) {
        out->life = xstrdup(life->valuestring);
        out->life_quoted = true;
    } else if (cJSON_IsNumber(life)) {
        out->life = xasprintf("%.17g", life->valuedouble);
    } else if (life != NULL && !cJSON_IsNull(life)) {
        out->life = xstrdup("?");
    }
    json_wipe(root);
    return true;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The decoded value of a pair of a form; NULL when it is not there. */
static char *form_value(const char *body, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = body; *p != '\0';) {
        size_t pair = strcspn(p, "&");
        if (pair > n && p[n] == '=' && strncmp(p, name, n) == 0) {
            char *out = xmalloc(pair - n);
            size_t w = 0;
            for (size_t i = n + 1; i < pair; i++) {
                if (p[i] == '%' && i + 2 < pair && hex(p[i + 1]) >= 0 && hex(p[i + 2]) >= 0) {
                    out[w++] = (char)(hex(p[i + 1]) * 16 + hex(p[i + 2]));
                    i += 2;
                } else {
                    out[w++] = p[i] == '+' ? ' ' : p[i];
                }
            }
            out[w] = '\0';
            return out;
        }
        p += pair + (p[pair] == '&');
    }
    return NULL;
}

/* golang/oauth2 takes answers that are forms by these content types; Iceberg Java takes JSON alone.
 */
static bool from_form(const struct http_response *r, struct granted *out)
{
    if (strcmp(r->content_type, "application/x-www-form-urlencoded") != 0 &&
        strcmp(r->content_type, "text/plain") != 0)
        return false;
    out->token = form_value(r->body.s, "access_token");
    out->type = form_value(r->body.s, "token_type");
    out->life = form_value(r->body.s, "expires_in");
    return out->token != NULL;
}

static enum token_result unusable(struct problem *err, const char *what, const char *why)
{
    problem_fail(err, PROBLEM_PROTOCOL, "token", "%s", what);
    problem_why(err, "%s", why);
    problem_fix(err, WHO_BAUPLAN,
                "Check the token URI; if it is right, show this to support@bauplanlabs.com.");
    return TOKEN_OTHERWISE;
}

/* RFC 6750: visible ASCII without blanks; anything else could break out of the header it is put
 * into. */
static bool token_clean(const char *token)
{
    size_t n = strlen(token);
    for (size_t i = 0; i < n; i++)
        if (token[i] <= ' ' || token[i] > '~')
            return false;
    return n > 0 && n <= TOKEN_MAX;
}

static enum token_result judge_life(const struct granted *g, enum token_form form,
                                    struct token_grant *out, struct problem *err)
{
    out->life_s = -1;
    if (g->life == NULL)
        return TOKEN_OK;
    char *end = NULL;
    double life = strtod(g->life, &end);
    bool digits = *g->life != '\0' && strspn(g->life, "0123456789") == strlen(g->life);
    if (end == g->life || *end != '\0' || !isfinite(life) || (g->life_quoted && !digits))
        return unusable(err, "expires_in of the token is not a number",
                        "Estuary and Spark cannot tell when to ask for a new one.");
    if (life < 1)
        return unusable(err, "the token has expired when it is given",
                        "Its expires_in is 0 or less: no call could be made with it.");
    if (form == TOKEN_SPARK && (g->life_quoted || !digits))
        return unusable(err, "expires_in of the token is not a whole number",
                        "Iceberg's Java library, which Spark uses, takes a JSON integer alone.");
    out->life_huge = life > TOKEN_LIFE_MAX_S;
    out->life_s = out->life_huge ? TOKEN_LIFE_MAX_S : (long long)life;
    return TOKEN_OK;
}

static enum token_result judge(const struct granted *g, enum token_form form,
                               struct token_grant *out, struct problem *err)
{
    if (!token_clean(g->token))
        return unusable(err, "the token cannot be sent: it is empty, too long, or no plain text",
                        "A token stands in a header line: visible ASCII characters, no blanks or "
                        "line ends.");
    bool bearer = g->type != NULL && strcasecmp(g->type, "bearer") == 0;
    if (g->type != NULL && !bearer)
        return unusable(err, "the token is not of type bearer",
                        "Estuary and Spark can only use bearer tokens.");
    out->type_missing = g->type == NULL;
    if (form == TOKEN_SPARK && out->type_missing)
        return unusable(
            err, "the answer does not say token_type",
            "Iceberg's Java library, which Spark uses, refuses a token without its type.");
    enum token_result result = judge_life(g, form, out, err);
    if (result == TOKEN_OK)
        out->token = secret_new(g->token, strlen(g->token));
    return result;
}

/* What a refusal means for the next try. */
static enum token_result result_of(const struct catalog_rule *rule)
{
    static const struct {
        const char *prefix;
        enum token_result result;
    } rows[] = {
        {"token.refused", TOKEN_REFUSED},       {"token.invalid_grant", TOKEN_REFUSED},
        {"token.wants_token", TOKEN_NOT_THERE}, {"token.no_route", TOKEN_NOT_THERE},
        {"token.no_form", TOKEN_NOT_THERE},     {"token.no_tokens", TOKEN_NOT_THERE},
        {"token.nothing", TOKEN_NOT_THERE},     {"any.no_such_path", TOKEN_NOT_THERE},
        {"any.redirect", TOKEN_NOT_THERE},      {"any.portal", TOKEN_NOT_THERE},
        {"any.bad_request", TOKEN_NOT_THERE},   {"any.proxy_login", TOKEN_UNANSWERED},
        {"any.too_many", TOKEN_UNANSWERED},     {"any.gateway_down", TOKEN_UNANSWERED},
        {"any.failed", TOKEN_UNANSWERED},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strncmp(rule->id, rows[i].prefix, strlen(rows[i].prefix)) == 0)
            return rows[i].result;
    return TOKEN_OTHERWISE;
}

static enum token_result explain(const struct http_response *r, const struct token_client *client,
                                 struct problem *err)
{
    AUTO_ANSWER a;
    answer_read(r, &a);
    if (r->status < 300 && a.shape != SHAPE_HTML && *a.type == '\0') {
        /* it may hold a token under a name that we do not know */
        explicit_bzero(a.excerpt, strlen(a.excerpt));
        xreplace(&a.excerpt, "not shown, there may be a secret in it");
    }
    struct url_parts u = {0};
    bool split = url_split(client->token_url, &u, NULL) == 0;
    struct catalog_context context = {
        .call = CALL_TOKEN,
        .method = "POST",
        .url = client->token_url,
        .host = split ? u.host : client->token_url,
        .branch = "",
        .warehouse = "",
        .name = "",
    };
    catalog_explain(&a, &context, err);
    enum token_result result = result_of(catalog_rule_for(&a, CALL_TOKEN));
    if (split)
        url_release(&u);
    return result;
}

enum token_result token_read(const struct http_response *r, enum token_form form,
                             const struct token_client *client, struct token_grant *out,
                             struct problem *err)
{
    *out = (struct token_grant){.life_s = -1};
    if (r->status < 200 || r->status > 299)
        return explain(r, client, err);
    struct granted g = {0};
    bool json = from_json(r, &g);
    bool found = json || from_form(r, &g);
    enum token_result result;
    if (!found || g.token == NULL)
        result = explain(r, client, err);
    else if (form == TOKEN_SPARK && !json)
        result = unusable(err, "the token does not come as JSON",
                          "Iceberg's Java library, which Spark uses, reads JSON alone.");
    else
        result = judge(&g, form, out, err);
    granted_release(&g);
    return result;
}
