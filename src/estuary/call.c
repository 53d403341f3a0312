/* Sending with the login, the one redirect that is followed, and answers of what stands between. */
#include "estuary/call.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/clean.h"
#include "core/mem.h"

#define EXCERPT 300 /* bytes of an answer that are shown */

/* --- answers of what stands between ----------------------------------------------------------- */

void estuary_evidence(const struct http_response *r, struct problem *err)
{
    AUTO(xfree) char *excerpt = clean_excerpt(r->body.s, r->body.len, EXCERPT);
    if (*excerpt != '\0')
        problem_evidence(err, "HTTP %d: %s", r->status, excerpt);
    else
        problem_evidence(err, "HTTP %d without a body", r->status);
}

bool estuary_is_page(const struct http_response *r)
{
    const char *s = r->body.s;
    while (*s == ' ' || *s == '\r' || *s == '\n' || *s == '\t')
        s++;
    return strcmp(r->content_type, "text/html") == 0 || strncasecmp(s, "<!doctype", 9) == 0 ||
           strncasecmp(s, "<html", 5) == 0;
}

/* The first that fits; %s is the host. */
static const struct rule {
    int from, to;
    bool html;
    enum problem_kind kind;
    enum who who;
    const char *what, *why, *fix;
} rules[] = {
    {300, 399, false, PROBLEM_PROTOCOL, WHO_NETWORK, "%s sends us elsewhere instead of answering",
     "A token is not sent after a redirect to another address.",
     "If the network has a login page, log in there; then try again."},
    {407, 407, false, PROBLEM_UNREACHABLE, WHO_NETWORK, "the proxy before %s wants a login",
     "The request never reached Estuary.",
     "Put user and password into HTTPS_PROXY, or name the host in NO_PROXY."},
    {429, 429, false, PROBLEM_UNREACHABLE, WHO_YOU, "%s asks us to wait",
     "Too many requests in a short time.", "Wait a minute, then try again."},
    {200, 499, true, PROBLEM_PROTOCOL, WHO_NETWORK, "a web page answers instead of %s",
     "A login page of the network or a proxy stands in between.",
     "Log in to the network, or have requests to this host allowed."},
    {404, 405, false, PROBLEM_PROTOCOL, WHO_ESTUARY, "%s does not know what is asked of it",
     "The address is another service's, or Estuary has changed its API.",
     "Check SLUICE_ESTUARY_API_URL and SLUICE_ESTUARY_PG_URL if they are set; else look for a "
     "newer sluice."},
    {413, 413, false, PROBLEM_INPUT, WHO_YOU, "the request is too large for %s",
     "Estuary takes 2 MiB at most.", "Choose fewer tables for one pipeline."},
    {500, 599, false, PROBLEM_UNREACHABLE, WHO_ESTUARY, "%s does not work at the moment",
     "The fault lies on the side of the service or of the gateway before it.",
     "Try again in a few minutes; if it stays, see status.estuary.dev or ask "
     "support@estuary.dev."},
    {0, 999, false, PROBLEM_PROTOCOL, WHO_ESTUARY, "%s gave an answer that is not expected",
     "It is not in the form that Estuary documents.",
     "Try again; if it stays, ask support@estuary.dev."},
};

static char *host_of(const char *url)
{
    struct url_parts u = {0};
    if (url_split(url, &u, NULL) != 0)
        return xstrdup("Estuary");
    char *host = xstrdup(u.host);
    url_release(&u);
    return host;
}

int estuary_explain(const struct http_response *r, const char *url, struct problem *err)
{
    const struct rule *rule = rules;
    while (r->status < rule->from || r->status > rule->to || (rule->html && !estuary_is_page(r)))
        rule++;
    AUTO(xfree) char *host = host_of(url);
    AUTO(xfree) char *code = xasprintf("http %d", r->status);
    const char *blank = strstr(rule->what, "%s");
    problem_fail(err, rule->kind, code, "%.*s%s%s", (int)(blank - rule->what), rule->what, host,
                 blank + 2);
    problem_why(err, "%s", rule->why);
    const char *wait = http_response_header(r, "Retry-After");
    if (r->status == 429 && wait != NULL && wait[strspn(wait, "0123456789")] == '\0' &&
        *wait != '\0' && strlen(wait) < 7)
        problem_fix(err, rule->who, "Wait %s s, then try again.", wait);
    else
        problem_fix(err, rule->who, "%s", rule->fix);
    estuary_evidence(r, err);
    return -1;
}

/* --- the redirect ----------------------------------------------------------------------------- */

/* scheme://host:port of a URL that was split. */
static char *origin_of(const struct url_parts *u)
{
    bool v6 = strchr(u->host, ':') != NULL;
    return xasprintf("%s://%s%s%s:%s", u->scheme, v6 ? "[" : "", u->host, v6 ? "]" : "", u->port);
}

char *estuary_redirect(const char *url, const char *location)
{
    struct url_parts u = {0};
    if (location == NULL || url_split(url, &u, NULL) != 0)
        return NULL;
    AUTO(xfree) char *origin = origin_of(&u);
    char *to = NULL;
    if (location[0] == '/' && location[1] == '/')
        to = xasprintf("%s:%s", u.scheme, location);
    else if (location[0] == '/')
        to = xasprintf("%s%s", origin, location);
    else if (strstr(location, "://") != NULL)
        to = xstrdup(location);
    url_release(&u);
    if (to == NULL || url_same_host(url, to))
        return to;
    xfree(to);
    return NULL;
}

static int bad_redirect(const struct http_response *r, const char *url, bool often,
                        struct problem *err)
{
    AUTO(xfree) char *host = host_of(url);
    if (often)
        problem_fail(err, PROBLEM_PROTOCOL, "redirect", "%s sends us round in circles", host);
    else
        problem_fail(err, PROBLEM_PROTOCOL, "redirect", "%s sends us to another address", host);
    problem_why(err, "%s",
                often ? "It keeps asking to repeat the request, as it does while a right that was "
                        "just granted is not known everywhere."
                      : "A token is not sent to any other host than the one it was pasted for.");
    problem_fix(err, often ? WHO_YOU : WHO_NETWORK, "%s",
                often ? "Try again in a minute."
                      : "If the network has a login page, log in there; then try again.");
    AUTO(xfree)
    char *where = clean_excerpt(r->location != NULL ? r->location : "",
                                r->location != NULL ? strlen(r->location) : 0, EXCERPT);
    problem_evidence(err, "HTTP %d, Location: %s", r->status, where);
    return -1;
}

/* --- sending ---------------------------------------------------------------------------------- */

static int send_once(struct run *run, const struct estuary_endpoints *e,
                     const struct estuary_request *q, const char *url, const struct secret *access,
                     struct http_response *out, struct problem *err)
{
    AUTO_HTTP_REQUEST request;
    http_request_init(&request, q->method, url);
    http_request_header(&request, "Accept", q->accept != NULL ? q->accept : "application/json");
    http_request_secret_header(&request, "Authorization", "Bearer ", secret_bytes(access),
                               secret_len(access));
    if (q->pg)
        http_request_header(&request, "apikey", e->anon_key);
    if (q->prefer != NULL)
        http_request_header(&request, "Prefer", q->prefer);
    if (q->range != NULL) {
        http_request_header(&request, "Range-Unit", "items");
        http_request_header(&request, "Range", q->range);
    }
    if (q->body != NULL)
        http_request_body(&request, "application/json", q->body, q->body_len);
    return q->reads ? http_send_retrying(run, &request, ESTUARY_TRIES, out, err)
                    : http_send(run, &request, out, err);
}

/* The API's 307 names a time in Retry-After as well; a client that comes back at once is made to
 * wait by the API itself until it knows (estuary/flow, control-plane-api, authorization_outcome).
 */
static int send_following(struct run *run, const struct estuary_endpoints *e,
                          const struct estuary_request *q, const struct secret *access,
                          struct http_response *out, struct problem *err)
{
    AUTO(xfree) char *url = xasprintf("%s%s", q->pg ? e->pg : e->api, q->path);
    for (int followed = 0;; followed++) {
        if (send_once(run, e, q, url, access, out, err) != 0)
            return -1;
        if (q->pg || out->status != 307)
            return 0;
        char *next = estuary_redirect(url, out->location);
        if (next == NULL || followed == ESTUARY_REDIRECTS) {
            bad_redirect(out, url, next != NULL, err);
            xfree(next);
            http_response_release(out);
            return -1;
        }
        xfree(url);
        url = next;
        http_response_release(out);
    }
}

int estuary_send(struct run *run, struct secret *token, const struct estuary_request *request,
                 struct http_response *out, struct problem *err)
{
    AUTO_ENDPOINTS e;
    estuary_endpoints(&e);
    for (bool renewed = false;; renewed = true) {
        struct estuary_lease lease;
        if (estuary_lease(run, &e, token, &lease, err) != 0)
            return -1;
        int rc = send_following(run, &e, request, lease.access, out, err);
        bool spent = rc == 0 && request->spent(out);
        bool over = spent && (renewed || lease.pasted);
        if (over)
            rc = estuary_lease_refused(&e, &lease, out, err);
        estuary_lease_return(run, &lease, spent);
        if (spent)
            http_response_release(out);
        if (!spent || over)
            return rc;
    }
}
