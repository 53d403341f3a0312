/* Asking for tokens, and sharing them. */
#include "catalog/token.h"

#include <string.h>

#include "catalog/classify.h"
#include "core/clock.h"
#include "core/mem.h"
#include "net/conn.h"

#define TOKEN_BODY_MAX ((size_t)1 << 20) /* golang/oauth2 reads no more either */
#define RENEW_AHEAD_S 300                /* Iceberg Java: a tenth of the life, 5 minutes at most */

const char *token_form_name(enum token_form f)
{
    static const char *const names[] = {"form", "Basic", "form with scope=catalog"};
    return names[f];
}

const char *token_result_name(enum token_result r)
{
    static const char *const names[] = {"gives a token", "refuses the client", "no token endpoint",
                                        "refuses this form", "no answer"};
    return names[r];
}

void token_grant_release(struct token_grant *g)
{
    secret_unref(g->token);
    *g = (struct token_grant){.life_s = -1};
}

/* application/x-www-form-urlencoded, byte by byte into memory that is wiped. */
static void add_encoded(struct text *out, const char *s, size_t n)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    for (size_t i = 0; i < n; i++) {
        if (s[i] != '\0' && strchr(plain, s[i]) != NULL)
            text_addc(out, s[i]);
        else
            text_addf(out, "%%%02X", (unsigned char)s[i]);
    }
}

static void add_base64(struct text *out, const char *s, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p = (const unsigned char *)s;
    for (size_t i = 0; i < n; i += 3) {
        unsigned v = (unsigned)p[i] << 16;
        if (i + 1 < n)
            v |= (unsigned)p[i + 1] << 8;
        if (i + 2 < n)
            v |= p[i + 2];
        text_addc(out, digits[v >> 18 & 63]);
        text_addc(out, digits[v >> 12 & 63]);
        text_addc(out, i + 1 < n ? digits[v >> 6 & 63] : '=');
        text_addc(out, i + 2 < n ? digits[v & 63] : '=');
    }
}

static void add_login(struct http_request *request, const struct token_client *client,
                      enum token_form form)
{
    const char *secret = secret_bytes(client->secret);
    size_t n = secret_len(client->secret);
    static const char grant[] = "client_credentials";
    http_request_form(request, "grant_type", grant, sizeof grant - 1);
    if (form == TOKEN_BASIC) {
        struct text pair = TEXT_INIT, encoded = TEXT_INIT;
        add_encoded(&pair, client->id, strlen(client->id));
        text_addc(&pair, ':');
        add_encoded(&pair, secret, n);
        add_base64(&encoded, pair.s, pair.len);
        http_request_secret_header(request, "Authorization", "Basic ", encoded.s, encoded.len);
        text_wipe(&pair);
        text_wipe(&encoded);
        return;
    }
    http_request_form(request, "client_id", client->id, strlen(client->id));
    http_request_form(request, "client_secret", secret, n);
    if (form == TOKEN_SPARK)
        http_request_form(request, "scope", "catalog", strlen("catalog"));
}

static int other_host(const struct token_client *client, struct problem *err)
{
    problem_fail(err, PROBLEM_INPUT, "other host",
                 "the token URI leads to another host than the catalog");
    problem_why(err,
                "The secret was entered for the catalog, %s, and is not sent to any other host.",
                client->catalog_url);
    problem_fix(err, WHO_YOU, "Enter a token URI relative to the catalog URL: v1/oauth/tokens.");
    problem_evidence(err, "token URL: %s", client->token_url);
    return -1;
}

enum token_result token_ask(struct run *run, const struct token_client *client,
                            enum token_form form, struct token_grant *out, int *status,
                            struct problem *err)
{
    if (status != NULL)
        *status = 0;
    *out = (struct token_grant){.life_s = -1};
    if (!url_same_host(client->token_url, client->catalog_url)) {
        other_host(client, err);
        return TOKEN_UNANSWERED;
    }
    AUTO_HTTP_REQUEST request;
    http_request_init(&request, "POST", client->token_url);
    http_request_header(&request, "Accept", "application/json");
    request.body_max = TOKEN_BODY_MAX;
    add_login(&request, client, form);
    AUTO_HTTP_RESPONSE answer = {0};
    if (http_send(run, &request, &answer, err) != 0)
        return TOKEN_UNANSWERED;
    if (status != NULL)
        *status = answer.status;
    return token_read(&answer, form, client, out, err);
}

/* --- one token for all ------------------------------------------------------------------------ */

struct shared_token {
    struct secret *token;
    char *origin_url;
    int64_t since;
    int64_t renew_at; /* clock_ms() */
};

static void *shared_open(struct run *run, void *context, struct problem *err)
{
    const struct token_client *client = context;
    struct token_grant grant;
    if (token_ask(run, client, TOKEN_FORM, &grant, NULL, err) != TOKEN_OK)
        return NULL;
    long long life = grant.life_s >= 0 ? grant.life_s : TOKEN_LIFE_UNSAID_S;
    long long ahead = life * 100 < RENEW_AHEAD_S * 1000 ? life * 100 : RENEW_AHEAD_S * 1000;
    struct shared_token *t = xcalloc(1, sizeof *t);
    t->token = secret_ref(grant.token);
    t->origin_url = xstrdup(client->catalog_url);
    t->since = clock_ms();
    t->renew_at = t->since + life * 1000 - ahead;
    token_grant_release(&grant);
    return t;
}

static void shared_close(void *conn)
{
    struct shared_token *t = conn;
    secret_unref(t->token);
    xfree(t->origin_url);
    xfree(t);
}

static bool shared_alive(void *conn)
{
    const struct shared_token *t = conn;
    return clock_ms() < t->renew_at;
}

static const struct conn_class token_class = {
    .name = "catalog token",
    .shared = true,
    .open = shared_open,
    .close = shared_close,
    .alive = shared_alive,
};

int token_lease(struct run *run, const struct token_client *client, struct token_lease *out,
                struct problem *err)
{
    struct hasher *h = hasher_new();
    hasher_text(h, client->token_url);
    hasher_text(h, client->catalog_url);
    hasher_text(h, client->id);
    hasher_number(h, (int64_t)secret_revision(client->secret));
    *out = (struct token_lease){.key = hasher_end(h)};
    struct token_client copy = *client;
    struct shared_token *t = conn_lease(run, &token_class, &out->key, &copy, err);
    if (t == NULL)
        return -1;
    out->conn = t;
    out->token = t->token;
    out->origin_url = t->origin_url;
    out->since = t->since;
    return 0;
}

void token_return(struct run *run, struct token_lease *lease, bool refused)
{
    conn_return(run, &token_class, &lease->key, lease->conn, refused);
    *lease = (struct token_lease){0};
}
