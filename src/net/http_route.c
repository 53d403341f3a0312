/* Where a request goes: which scheme and host are allowed, whether a proxy stands between, and the
 * addresses of whoever is connected to, looked up before libcurl gets the request. */
#include <string.h>
#include <strings.h>

#include "core/mem.h"
#include "net/http_impl.h"
#include "net/net_impl.h"
#include "net/resolver.h"

/* The URL is not quoted where it may hold a password. */
static int refuse_url(struct problem *err, const char *why)
{
    problem_fail(err, PROBLEM_INPUT, "url", "this URL cannot be used");
    problem_why(err, "%s", why);
    return -1;
}

static char *url_part(CURLU *u, CURLUPart part, unsigned flags)
{
    char *s = NULL;
    if (curl_url_get(u, part, &s, flags) != CURLUE_OK)
        return NULL;
    char *copy = xstrdup(s);
    curl_free(s);
    return copy;
}

static void unbracket(char *host)
{
    size_t n = strlen(host);
    if (n > 2 && host[0] == '[' && host[n - 1] == ']') {
        memmove(host, host + 1, n - 2);
        host[n - 2] = '\0';
    }
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), e = strlen(end);
    return n >= e && strcasecmp(s + n - e, end) == 0;
}

/* RFC 6761 §6.3: localhost and what is below it never leaves the machine. */
static bool is_local_name(const char *host)
{
    return strcasecmp(host, "localhost") == 0 || ends_with(host, ".localhost") ||
           net_is_loopback(host);
}

static int read_url(const char *url, struct http_route *out, struct problem *err)
{
    for (const char *p = url; *p != '\0'; p++) {
        if ((unsigned char)*p <= ' ' || *p == 0x7F)
            return refuse_url(err, "It holds a blank or a control character.");
    }
    CURLU *u = curl_url();
    if (u == NULL)
        mem_exhausted();
    CURLUcode rc = curl_url_set(u, CURLUPART_URL, url, CURLU_DISALLOW_USER);
    if (rc == CURLUE_OK) {
        AUTO(xfree) char *scheme = url_part(u, CURLUPART_SCHEME, 0);
        out->https = scheme != NULL && strcmp(scheme, "https") == 0;
        out->host = url_part(u, CURLUPART_HOST, CURLU_PUNYCODE);
        out->port = url_part(u, CURLUPART_PORT, CURLU_DEFAULT_PORT);
        if (scheme == NULL || (!out->https && strcmp(scheme, "http") != 0))
            rc = CURLUE_UNSUPPORTED_SCHEME;
    }
    curl_url_cleanup(u);
    if (rc == CURLUE_USER_NOT_ALLOWED)
        return refuse_url(err, "A user name or password does not belong into a URL.");
    if (rc == CURLUE_UNSUPPORTED_SCHEME)
        return refuse_url(err, "Only https is used (http on this machine).");
    if (rc != CURLUE_OK || out->host == NULL || out->port == NULL)
        return refuse_url(
            err,
            rc != CURLUE_OK
                ? curl_url_strerror(rc)
                : "Its host name cannot be used here; an international one is also written xn--….");
    unbracket(out->host);
    if (!out->https && !is_local_name(out->host)) {
        problem_fail(err, PROBLEM_INPUT, "url", "%s would be asked without encryption", out->host);
        problem_why(err, "The URL begins with http:// and the host is not this machine.");
        problem_fix(err, WHO_YOU, "Write the URL with https://.");
        return -1;
    }
    return 0;
}

/* host:port:addresses, as CURLOPT_RESOLVE takes it. */
static char *pin_text(const char *host, const char *port, const struct addresses *a)
{
    struct text t = TEXT_INIT;
    text_addf(&t, "%s:%s:", host, port);
    for (size_t i = 0; i < a->count; i++) {
        bool v6 = strchr(a->text[i], ':') != NULL;
        text_addf(&t, "%s%s%s%s", i > 0 ? "," : "", v6 ? "[" : "", a->text[i], v6 ? "]" : "");
    }
    return text_take(&t);
}

static int pin(struct run *run, const char *host, const char *port, bool loopback_only,
               struct http_route *out, struct problem *err)
{
    if (net_is_address(host)) {
        xreplace(&out->addresses, host);
        return 0;
    }
    struct addresses found;
    if (resolve(run, host, &found, err) != 0)
        return -1;
    AUTO_TEXT list = TEXT_INIT;
    for (size_t i = 0; i < found.count; i++) {
        if (loopback_only && !net_is_loopback(found.text[i])) {
            problem_fail(err, PROBLEM_INPUT, "url", "%s is not this machine", host);
            problem_why(err, "http:// is used with this machine only, but the name leads to %s.",
                        found.text[i]);
            problem_fix(err, WHO_YOU, "Write the URL with https://.");
            return -1;
        }
        text_sep(&list, ", ");
        text_add(&list, found.text[i]);
    }
    xreplace(&out->addresses, list.s);
    out->pins[out->pin_count++] = pin_text(host, port, &found);
    return 0;
}

struct proxy_kind {
    const char *scheme;
    const char *port;   /* libcurl's default for it */
    bool looks_up_here; /* the target's name is looked up on this side (SOCKS4, SOCKS5 without h) */
};

static const struct proxy_kind proxy_kinds[] = {
    {"http", "1080", false},    {"https", "443", false},  {"socks4", "1080", true},
    {"socks4a", "1080", false}, {"socks5", "1080", true}, {"socks5h", "1080", false},
};

static const struct proxy_kind *proxy_read(const char *url, char **host, char **port, bool *login)
{
    const struct proxy_kind *kind = NULL;
    CURLU *u = curl_url();
    if (u == NULL)
        mem_exhausted();
    if (curl_url_set(u, CURLUPART_URL, url, CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME) ==
        CURLUE_OK) {
        AUTO(xfree) char *scheme = url_part(u, CURLUPART_SCHEME, 0);
        for (size_t i = 0; scheme != NULL && i < ARRAY_LEN(proxy_kinds); i++) {
            if (strcmp(scheme, proxy_kinds[i].scheme) == 0)
                kind = &proxy_kinds[i];
        }
        *host = url_part(u, CURLUPART_HOST, 0);
        *port = url_part(u, CURLUPART_PORT, 0);
        AUTO(xfree) char *user = url_part(u, CURLUPART_USER, 0);
        *login = user != NULL;
    }
    curl_url_cleanup(u);
    if (kind == NULL || *host == NULL)
        return NULL;
    unbracket(*host);
    if (*port == NULL)
        *port = xstrdup(kind->port);
    return kind;
}

static int take_proxy(struct run *run, const char *url, struct http_route *out, struct problem *err)
{
    AUTO(xfree) char *host = NULL;
    AUTO(xfree) char *port = NULL;
    const struct proxy_kind *kind = proxy_read(url, &host, &port, &out->proxy_login);
    if (kind == NULL) {
        problem_fail(err, PROBLEM_INPUT, "proxy", "the proxy setting cannot be used");
        problem_why(err,
                    "HTTPS_PROXY (or ALL_PROXY) is not a URL of an http, https or socks proxy.");
        problem_fix(err, WHO_YOU, "Write it as http://HOST:PORT, or unset it.");
        return -1;
    }
    out->proxy = xstrdup(url);
    out->proxy_shown = xasprintf("%s:%s", host, port);
    out->proxy_tls = strcmp(kind->scheme, "https") == 0;
    struct problem inner = PROBLEM_INIT;
    if (pin(run, host, port, false, out, &inner) == 0) {
        if (kind->looks_up_here)
            return pin(run, out->host, out->port, false, out, err);
        return 0;
    }
    if (inner.kind == PROBLEM_UNREACHABLE)
        problem_fix(&inner, WHO_YOU,
                    "It is the proxy that HTTPS_PROXY names: correct it, or exempt %s by NO_PROXY.",
                    out->host);
    problem_move(err, &inner);
    return -1;
}

int http_route_find(struct run *run, const char *url, struct http_route *out, struct problem *err)
{
    const struct net *net = run_net(run);
    if (read_url(url, out, err) != 0)
        return -1;
    bool local = is_local_name(out->host);
    if (!local && net->proxy.https != NULL && !proxy_exempt(net->proxy.no_proxy, out->host))
        return take_proxy(run, net->proxy.https, out, err);
    return pin(run, out->host, out->port, !out->https, out, err);
}

void http_route_release(struct http_route *r)
{
    if (r->proxy != NULL)
        explicit_bzero(r->proxy, strlen(r->proxy));
    xfree(r->host);
    xfree(r->port);
    xfree(r->proxy);
    xfree(r->proxy_shown);
    xfree(r->pins[0]);
    xfree(r->pins[1]);
    xfree(r->addresses);
    *r = (struct http_route){0};
}
