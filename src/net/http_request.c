/* Requests, answers and URLs as data: nothing here touches the network. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "core/mem.h"
#include "net/http_impl.h"

#define HEADERS_MAX 64

void http_request_init(struct http_request *r, const char *method, const char *url)
{
    *r = (struct http_request){.method = xstrdup(method), .url = xstrdup(url), .body = TEXT_INIT};
}

static void add_header(struct http_header **list, size_t *count, const char *name, char *value)
{
    *list = xrealloc(*list, *count + 1, sizeof **list);
    (*list)[(*count)++] = (struct http_header){.name = xstrdup(name), .value = value};
}

void http_request_header(struct http_request *r, const char *name, const char *value)
{
    add_header(&r->headers, &r->header_count, name, xstrdup(value));
}

void http_request_secret_header(struct http_request *r, const char *name, const char *before,
                                const char *secret, size_t n)
{
    size_t b = strlen(before);
    char *value = xmalloc(b + n + 1);
    memcpy(value, before, b);
    memcpy(value + b, secret, n);
    value[b + n] = '\0';
    if (memchr(secret, '\0', n) != NULL)
        value[b] = '\n'; /* would be cut off silently: refused by http_request_check instead */
    add_header(&r->headers, &r->header_count, name, value);
}

void http_request_body(struct http_request *r, const char *content_type, const char *bytes,
                       size_t n)
{
    text_wipe(&r->body);
    r->body = TEXT_INIT;
    text_addn(&r->body, bytes, n);
    r->has_body = true;
    if (content_type != NULL)
        http_request_header(r, "Content-Type", content_type);
}

static bool unreserved(unsigned char c)
{
    return isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~'; /* RFC 3986 §2.3 */
}

static void encode(struct text *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c < 0x80 && unreserved(c))
            text_addc(out, (char)c);
        else
            text_addf(out, "%%%02X", c);
    }
}

void http_request_form(struct http_request *r, const char *name, const char *value, size_t n)
{
    if (!r->has_body) {
        r->has_body = true;
        http_request_header(r, "Content-Type", "application/x-www-form-urlencoded");
    }
    text_sep(&r->body, "&");
    encode(&r->body, name, strlen(name));
    text_addc(&r->body, '=');
    encode(&r->body, value, n);
}

static void headers_release(struct http_header **list, size_t *count)
{
    for (size_t i = 0; i < *count; i++) {
        struct http_header *h = &(*list)[i];
        explicit_bzero(h->value, strlen(h->value));
        xfree(h->name);
        xfree(h->value);
    }
    xfree(*list);
    *list = NULL;
    *count = 0;
}

void http_request_release(struct http_request *r)
{
    headers_release(&r->headers, &r->header_count);
    text_wipe(&r->body);
    xfree(r->method);
    xfree(r->url);
    *r = (struct http_request){.body = TEXT_INIT};
}

void http_request_copy(struct http_request *to, const struct http_request *from)
{
    http_request_init(to, from->method, from->url);
    for (size_t i = 0; i < from->header_count; i++)
        http_request_header(to, from->headers[i].name, from->headers[i].value);
    text_addn(&to->body, from->body.s, from->body.len);
    to->has_body = from->has_body;
    to->body_max = from->body_max;
    to->connect_ms = from->connect_ms;
}

/* RFC 9110 §5.6.2 */
static bool is_token(const char *s)
{
    if (*s == '\0')
        return false;
    for (; *s != '\0'; s++) {
        unsigned char c = (unsigned char)*s;
        if (c >= 0x80 || (!isalnum(c) && strchr("!#$%&'*+-.^_`|~", c) == NULL))
            return false;
    }
    return true;
}

static bool is_field_value(const char *s)
{
    for (; *s != '\0'; s++) {
        unsigned char c = (unsigned char)*s;
        if ((c < ' ' && c != '\t') || c == 0x7F)
            return false;
    }
    return true;
}

int http_request_check(const struct http_request *r, struct problem *err)
{
    if (!is_token(r->method))
        return problem_fail(err, PROBLEM_INPUT, "http request", "the HTTP method is not a word");
    if (r->header_count > HEADERS_MAX)
        return problem_fail(err, PROBLEM_INPUT, "http request", "more than %d headers",
                            HEADERS_MAX);
    if (r->body.cut)
        return problem_fail(err, PROBLEM_INPUT, "http request", "the request is too large");
    for (size_t i = 0; i < r->header_count; i++) {
        const struct http_header *h = &r->headers[i];
        if (is_token(h->name) && is_field_value(h->value))
            continue;
        problem_fail(err, PROBLEM_INPUT, "http request",
                     "the value for the header %s cannot be sent", h->name);
        problem_why(err, "It holds a line break or another control character.");
        problem_fix(err, WHO_YOU,
                    "Enter the value again; a pasted one often ends in a line break.");
        return -1;
    }
    return 0;
}

const char *http_response_header(const struct http_response *r, const char *name)
{
    for (size_t i = 0; i < r->header_count; i++) {
        if (strcasecmp(r->headers[i].name, name) == 0)
            return r->headers[i].value;
    }
    return NULL;
}

void http_response_release(struct http_response *r)
{
    headers_release(&r->headers, &r->header_count);
    text_wipe(&r->body);
    xfree(r->content_type);
    xfree(r->location);
    xfree(r->tls);
    xfree(r->peer);
    *r = (struct http_response){.body = TEXT_INIT};
}

static char *part(CURLU *u, CURLUPart which, unsigned flags)
{
    char *s = NULL;
    if (curl_url_get(u, which, &s, flags) != CURLUE_OK)
        return NULL;
    char *copy = xstrdup(s);
    curl_free(s);
    return copy;
}

int url_split(const char *url, struct url_parts *out, struct problem *err)
{
    CURLU *u = curl_url();
    if (u == NULL)
        mem_exhausted();
    CURLUcode rc =
        curl_url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME | CURLU_DISALLOW_USER);
    if (rc != CURLUE_OK) {
        curl_url_cleanup(u);
        problem_fail(err, PROBLEM_INPUT, "url", "this is not a URL");
        problem_why(err, "%s.", curl_url_strerror(rc));
        problem_fix(err, WHO_YOU, "Write it as https://HOST/PATH, without a user name.");
        return -1;
    }
    *out = (struct url_parts){.scheme = part(u, CURLUPART_SCHEME, 0),
                              .host = part(u, CURLUPART_HOST, 0),
                              .port = part(u, CURLUPART_PORT, CURLU_DEFAULT_PORT),
                              .path = part(u, CURLUPART_PATH, 0),
                              .query = part(u, CURLUPART_QUERY, 0)};
    curl_url_cleanup(u);
    size_t n = out->host != NULL ? strlen(out->host) : 0;
    if (n > 2 && out->host[0] == '[') {
        memmove(out->host, out->host + 1, n - 2);
        out->host[n - 2] = '\0';
    }
    if (n > 0)
        return 0;
    url_release(out);
    return problem_fail(err, PROBLEM_INPUT, "url", "the URL names no host");
}

void url_release(struct url_parts *u)
{
    xfree(u->scheme);
    xfree(u->host);
    xfree(u->port);
    xfree(u->path);
    xfree(u->query);
    *u = (struct url_parts){0};
}

char *url_encode(const char *s)
{
    struct text t = TEXT_INIT;
    encode(&t, s, strlen(s));
    return text_take(&t);
}

static bool same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcasecmp(a, b) == 0);
}

bool url_same_host(const char *a, const char *b)
{
    struct url_parts x = {0}, y = {0};
    bool equal = url_split(a, &x, NULL) == 0 && url_split(b, &y, NULL) == 0 &&
                 same(x.scheme, y.scheme) && same(x.host, y.host) && same(x.port, y.port);
    url_release(&x);
    url_release(&y);
    return equal;
}
