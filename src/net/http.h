/* HTTP by libcurl: one network thread drives the multi handle, callers block on their own thread
 * and honour the run's deadline and cancel. TLS is always verified, TLS 1.2 at least; http:// only
 * to loopback. Redirects are never followed (a 3xx is an answer with `location`). HTTPS_PROXY /
 * NO_PROXY are honoured as curl reads them; a proxy that fails is named in the message. */
#ifndef SLUICE_NET_HTTP_H
#define SLUICE_NET_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "core/run.h"
#include "core/text.h"

#define HTTP_BODY_MAX ((size_t)16 << 20) /* bytes; more is PROBLEM_PROTOCOL */

struct http_header {
    char *name;
    char *value; /* may hold a secret: wiped when released */
};

struct http_request {
    char *method; /* "GET" …; HEAD uses CURLOPT_NOBODY. Its own copy: the network thread may still
                     look at it when the caller has gone on */
    char *url;
    size_t header_count;
    struct http_header *headers;
    struct text body; /* wiped when released */
    bool has_body;
    size_t body_max; /* of the answer; 0 = HTTP_BODY_MAX */
    int connect_ms;  /* until tunnel and TLS stand; 0 = 10000 */
};

struct http_response {
    int status;
    size_t header_count;
    struct http_header *headers;
    struct text body;
    char *content_type; /* "" when none; without parameters, lower case */
    char *location;     /* of a 3xx, else NULL */
    char *tls;          /* "TLSv1.3", NULL over http */
    char *peer;         /* address it came from */
    int64_t took_ms;
    int64_t cert_until; /* wall seconds when the server certificate ends; 0 unknown */
};

void http_request_init(struct http_request *r, const char *method, const char *url);
void http_request_header(struct http_request *r, const char *name, const char *value);
void http_request_secret_header(struct http_request *r, const char *name, const char *before,
                                const char *secret, size_t n);
void http_request_body(struct http_request *r, const char *content_type, const char *bytes,
                       size_t n);
/* application/x-www-form-urlencoded: adds one pair, percent-encoding both sides. */
void http_request_form(struct http_request *r, const char *name, const char *value, size_t n);
void http_request_release(struct http_request *r);

/* 0 when an answer with any status came whole; then `out` is filled (what it held is not released
 * before). -1 otherwise, `out` untouched: PROBLEM_INPUT (URL, or a header with a line break),
 * PROBLEM_UNREACHABLE (code "curl N": DNS, connect, TLS with issuer and names, proxy, deadline
 * naming the phase), PROBLEM_PROTOCOL (too large, truncated), PROBLEM_CANCELLED. Nothing is retried
 * here. */
int http_send(struct run *run, const struct http_request *request, struct http_response *out,
              struct problem *err);
/* Whether what http_send failed with cannot end otherwise by asking again at once: certificates,
 * what a proxy refuses (a wrong password sent again may lock its account), what hung for as long as
 * a connection may take, names that do not exist, answers too large. */
bool http_is_final(const struct problem *p);
/* The same with retries for 408, 429, 500, 502, 503, 504 and for failures that are not final (GET
 * and HEAD, or idempotent): at most `tries`, jittered back-off from 200 ms, Retry-After honoured up
 * to 20 s, never past the deadline. */
int http_send_retrying(struct run *run, const struct http_request *request, int tries,
                       struct http_response *out, struct problem *err);
const char *http_response_header(const struct http_response *r,
                                 const char *name); /* any case; NULL */
/* For who repeats requests itself: -1, and when the run was cancelled during a pause between two
 * tries, err says after what; when it was not, err is left. */
int http_cancelled_between(const struct run *run, const struct problem *last, struct problem *err);
void http_response_release(struct http_response *r);

/* URLs, by libcurl's parser. */
struct url_parts {
    char *scheme, *host, *port, *path,
        *query; /* port: explicit or the scheme's; host without brackets */
};
int url_split(const char *url, struct url_parts *out, struct problem *err); /* PROBLEM_INPUT */
void url_release(struct url_parts *u);
char *url_encode(const char *s); /* percent-encodes all but unreserved (RFC 3986); xfree */
bool url_same_host(const char *a, const char *b); /* scheme, host and port */

#define AUTO_HTTP_REQUEST __attribute__((cleanup(http_request_release))) struct http_request
#define AUTO_HTTP_RESPONSE __attribute__((cleanup(http_response_release))) struct http_response
#endif
