/* Exchange and renewal. The access token and the refresh token are two entries of the connection
 * cache: the first comes and goes, the second stays when the service replaced it. */
#include "estuary/login.h"

#include <string.h>

#include "core/clock.h"
#include "core/json.h"
#include "core/mem.h"
#include "estuary/call.h"
#include "estuary/jwt.h"
#include "estuary/token.h"
#include "net/conn.h"

#define RENEW_AHEAD_S 60 /* as flowctl */
#define LIFE_UNSAID_S 300
#define GRANT_MAX ((size_t)1 << 20)

/* What the refresh token is now: as pasted, or what replaced it. */
struct refresh {
    char *id;
    struct secret *secret;
    bool replaced;
};

struct login {
    struct secret *access;
    char *email;
    int64_t until;
    int64_t renew_at; /* clock_ms() */
    bool pasted, single_use;
};

struct context {
    const struct estuary_endpoints *e;
    struct secret *pasted;
    struct digest key;
};

/* --- what is said when it does not work ------------------------------------------------------- */

static void fix_refresh(const struct estuary_endpoints *e, struct problem *err)
{
    problem_fix(err, WHO_YOU,
                "Make a new refresh token on Estuary's dashboard, %s: Admin, CLI-API, Generate "
                "token. Paste it here.",
                e->dashboard);
}

static int refused(const struct estuary_endpoints *e, bool replaced, struct problem *err)
{
    problem_fail(err, PROBLEM_REFUSED, "token", "Estuary refuses the token");
    problem_why(
        err, "%s",
        replaced ? "It was good for one use. What replaced it was kept in this process, but is "
                   "not taken any more either."
                 : "It was revoked, has expired, is of another Estuary, was not copied whole, or "
                   "was good for one use and has been used.");
    fix_refresh(e, err);
    return -1;
}

/* An access token that was pasted; until 0: it does not say. */
static int over(const struct estuary_endpoints *e, int64_t until, struct problem *err)
{
    int64_t now = clock_wall();
    bool past = until > 0 && until <= now;
    problem_fail(err, PROBLEM_REFUSED, "token",
                 past ? "the access token has expired" : "Estuary refuses the access token");
    AUTO(xfree) char *when = clock_iso(until);
    if (past)
        problem_why(err,
                    "It ended at %s, %lld minutes ago: access tokens live for about an hour. A "
                    "refresh token, which lives for weeks, is what is wanted here.",
                    when, (long long)((now - until) / 60));
    else
        problem_why(
            err,
            "It was not copied whole, is of another Estuary, or is over by the service's "
            "clock (it says that it ends at %s). A refresh token, which lives for weeks, is "
            "what is wanted here.",
            until > 0 ? when : "no time");
    fix_refresh(e, err);
    return -1;
}

int estuary_lease_refused(const struct estuary_endpoints *e, const struct estuary_lease *lease,
                          const struct http_response *answer, struct problem *err)
{
    if (lease->pasted)
        over(e, lease->until, err);
    else
        refused(e, lease->single_use, err);
    estuary_evidence(answer, err);
    return -1;
}

/* --- the exchange ----------------------------------------------------------------------------- */

static int unusable(struct problem *err, const char *why)
{
    problem_fail(err, PROBLEM_PROTOCOL, "token", "Estuary's answer holds no usable access token");
    problem_why(err, "%s", why);
    problem_fix(err, WHO_ESTUARY, "Try again; if it stays, ask support@estuary.dev.");
    return -1;
}

/* A single-use token is spent by now: what replaces it is kept before anything else is judged. */
static void keep_replacement(const cJSON *grant, struct refresh *r)
{
    const cJSON *next = json_member(grant, "refresh_token");
    const char *id = json_text(next, "id"), *secret = json_text(next, "secret");
    if (id == NULL || secret == NULL || *id == '\0' || *secret == '\0')
        return;
    xreplace(&r->id, id);
    secret_unref(r->secret);
    r->secret = secret_new(secret, strlen(secret));
    r->replaced = true;
}

static struct login *login_of(const char *access, const struct estuary_jwt *jwt)
{
    struct login *l = xcalloc(1, sizeof *l);
    l->access = secret_new(access, strlen(access));
    l->email = xstrdup(jwt->email);
    l->until = jwt->until;
    /* By its own life, so that a clock that is wrong here does not renew it each time. */
    int64_t life = LIFE_UNSAID_S;
    if (jwt->until > 0)
        life = jwt->until - (jwt->since > 0 ? jwt->since : clock_wall());
    l->renew_at = clock_ms() + (life - RENEW_AHEAD_S) * 1000;
    return l;
}

static struct login *take_grant(const cJSON *grant, struct refresh *r, struct problem *err)
{
    keep_replacement(grant, r);
    const char *access = json_text(grant, "access_token");
    AUTO_JWT jwt = {0};
    if (access == NULL || !estuary_jwt_read(access, strlen(access), &jwt)) {
        unusable(err, access == NULL ? "It has no access_token." : "The access_token is no JWT.");
        return NULL;
    }
    struct login *l = login_of(access, &jwt);
    l->single_use = r->replaced;
    return l;
}

/* The function raises P0001 (PostgreSQL's raise_exception) for what it does not know, and the id's
 * type refuses what is no id: PostgREST makes both a 400. A 401 is what Estuary's newer exchange
 * answers. */
static bool is_refusal(const struct http_response *r, const cJSON *root)
{
    if (r->status == 401 || r->status == 403)
        return !estuary_is_page(r);
    const char *code = json_text(root, "code");
    return r->status == 400 && code != NULL && strncmp(code, "PGRST", strlen("PGRST")) != 0;
}

static struct login *judge(const struct context *c, const struct http_response *r,
                           struct refresh *held, struct problem *err)
{
    struct login *l = NULL;
    AUTO(cJSON_Delete) cJSON *root = json_parse(r->body.s, r->body.len, "the token", NULL);
    if (r->status >= 200 && r->status <= 299 && cJSON_IsObject(root)) {
        l = take_grant(root, held, err);
    } else if (r->status >= 200 && r->status <= 299 && !estuary_is_page(r)) {
        /* Not quoted: there may be a token in it. */
        unusable(err, "It is not the JSON that Estuary documents.");
    } else if (!estuary_key_refused(r, err)) {
        if (is_refusal(r, root)) {
            refused(c->e, held->replaced, err);
            estuary_evidence(r, err);
        } else {
            estuary_explain(r, c->e->pg, err);
        }
    }
    json_wipe(root);
    return l;
}

static struct login *exchange(struct run *run, const struct context *c, struct refresh *held,
                              struct problem *err)
{
    AUTO(xfree) char *url = xasprintf("%s/rpc/generate_access_token", c->e->pg);
    AUTO_HTTP_REQUEST request;
    http_request_init(&request, "POST", url);
    http_request_header(&request, "Accept", "application/json");
    http_request_header(&request, "apikey", c->e->anon_key);
    request.body_max = GRANT_MAX;
    struct text body = TEXT_INIT;
    struct json_writer w = {.out = &body};
    json_begin(&w, '{');
    json_pair_text(&w, "refresh_token_id", held->id);
    json_pair_text(&w, "secret", secret_bytes(held->secret));
    json_end(&w, '}');
    http_request_body(&request, "application/json", body.s, body.len);
    text_wipe(&body);
    AUTO_HTTP_RESPONSE answer = {0};
    /* Once: a token that is good for one use would be spent by a second try. */
    if (http_send(run, &request, &answer, err) != 0)
        return NULL;
    return judge(c, &answer, held, err);
}

/* --- the refresh token, kept ------------------------------------------------------------------ */

static void *refresh_open(struct run *run, void *context, struct problem *err)
{
    (void)run;
    (void)err;
    const struct estuary_token *t = context;
    struct refresh *r = xcalloc(1, sizeof *r);
    r->id = xstrdup(t->id);
    r->secret = secret_ref(t->secret);
    return r;
}

static void refresh_close(void *conn)
{
    struct refresh *r = conn;
    xfree(r->id);
    secret_unref(r->secret);
    xfree(r);
}

static const struct conn_class refresh_class = {
    .name = "Estuary refresh token",
    .shared = true,
    .open = refresh_open,
    .close = refresh_close,
};

/* Only the one caller that opens the access token comes here, others wait for it: `held` needs no
 * lock of its own. */
static struct login *renew(struct run *run, const struct context *c, struct estuary_token *t,
                           struct problem *err)
{
    struct refresh *held = conn_lease(run, &refresh_class, &c->key, t, err);
    if (held == NULL)
        return NULL;
    bool kept = held->replaced;
    struct login *l = exchange(run, c, held, err);
    /* One that replaced the pasted one stays leased to the end: nothing may trim it. */
    if (kept || !held->replaced)
        conn_return(run, &refresh_class, &c->key, held, false);
    return l;
}

/* --- the access token ------------------------------------------------------------------------- */

static void *login_open(struct run *run, void *context, struct problem *err)
{
    const struct context *c = context;
    AUTO_ESTUARY_TOKEN t;
    if (estuary_token_read(c->pasted, &t, err) != 0)
        return NULL;
    if (t.sort == ESTUARY_REFRESH)
        return renew(run, c, &t, err);
    if (t.until > 0 && t.until <= clock_wall()) {
        over(c->e, t.until, err);
        return NULL;
    }
    struct login *l = xcalloc(1, sizeof *l);
    l->access = secret_ref(t.secret);
    l->email = xstrdup(t.email);
    l->until = t.until;
    l->pasted = true;
    return l;
}

static void login_close(void *conn)
{
    struct login *l = conn;
    secret_unref(l->access);
    xfree(l->email);
    xfree(l);
}

static bool login_alive(void *conn)
{
    const struct login *l = conn;
    return l->pasted ? l->until == 0 || l->until > clock_wall() : clock_ms() < l->renew_at;
}

static const struct conn_class login_class = {
    .name = "Estuary login",
    .shared = true,
    .open = login_open,
    .close = login_close,
    .alive = login_alive,
};

int estuary_lease(struct run *run, const struct estuary_endpoints *e, struct secret *pasted,
                  struct estuary_lease *out, struct problem *err)
{
    struct hasher *h = hasher_new();
    hasher_text(h, e->api);
    hasher_text(h, e->pg);
    hasher_text(h, e->anon_key);
    hasher_number(h, (int64_t)secret_revision(pasted));
    struct context c = {.e = e, .pasted = pasted, .key = hasher_end(h)};
    *out = (struct estuary_lease){.key = c.key};
    struct login *l = conn_lease(run, &login_class, &c.key, &c, err);
    if (l == NULL)
        return -1;
    out->conn = l;
    out->access = l->access;
    out->email = l->email;
    out->until = l->until;
    out->pasted = l->pasted;
    out->single_use = l->single_use;
    return 0;
}

void estuary_lease_return(struct run *run, struct estuary_lease *lease, bool refused_by_service)
{
    conn_return(run, &login_class, &lease->key, lease->conn, refused_by_service);
    *lease = (struct estuary_lease){0};
}
