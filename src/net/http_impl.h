/* One request on its way: shared by the caller's side (http.c), the network thread (http_loop.c)
 * and the words for what went wrong (http_error.c). */
#ifndef SLUICE_NET_HTTP_IMPL_H
#define SLUICE_NET_HTTP_IMPL_H

#include <curl/curl.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "net/http.h"
#include "net/tls_notes.h"

struct net;

enum http_phase {
    PHASE_QUEUED,
    PHASE_CONNECTING,
    PHASE_TLS,
    PHASE_WAITING, /* the request is being sent or the answer has not begun */
    PHASE_READING
};

enum http_fault {
    FAULT_NONE,
    FAULT_BODY,
    FAULT_HEADERS,
    FAULT_RESEND, /* libcurl was about to send it a second time */
    FAULT_SHUTDOWN
};

/* Where a request goes, worked out before the network thread sees it. */
struct http_route {
    char *host; /* without brackets, lower case as libcurl's parser gives it */
    char *port;
    bool https;
    char *proxy;       /* URL for libcurl, NULL none; may hold a password */
    char *proxy_shown; /* host:port */
    bool proxy_login;  /* the URL has a user or a password */
    bool proxy_tls;    /* there is a handshake with the proxy before that with the host */
    char *pins[2];     /* CURLOPT_RESOLVE entries, NULL none */
    size_t pin_count;
    char *addresses; /* for evidence */
};

struct http_job {
    atomic_int refs;       /* the caller and the network thread */
    atomic_bool abandoned; /* the caller has gone: stop as soon as possible */
    atomic_int phase;
    int done;          /* eventfd */
    atomic_bool ready; /* what is below "answer" is complete; set before `done` is signalled */

    /* set by the caller before the job is handed over */
    struct http_request request; /* a copy */
    struct http_route route;
    size_t body_max;
    const char *user_agent, *ca_path; /* of the net */

    /* the network thread's own */
    struct http_job *next;
    CURL *easy;
    struct curl_slist *header_list, *pin_list;
    struct tls_notes *notes;
    size_t header_bytes;
    bool tls_seen;
    bool proxy_tls_begun;
    bool sent;

    /* answer */
    CURLcode code;
    enum http_fault fault;
    long os_errno, proxy_status, proxy_error, proxy_verify;
    char errbuf[CURL_ERROR_SIZE];
    struct tls_notes cert; /* refs unused */
    struct http_response response;
};

/* http_loop.c */
struct http_loop *http_loop_new(const struct net *net, struct problem *err);
void http_loop_free(struct http_loop *loop); /* ends all jobs with FAULT_SHUTDOWN; NULL is fine */
void http_loop_add(struct http_loop *loop, struct http_job *job); /* takes a reference */
void http_loop_wake(struct http_loop *loop);

/* http_job.c: the time for one connection, with lookups by a proxy, tunnel and TLS */
int http_connect_ms(const struct http_request *r);
/* the job and what libcurl calls while it runs */
struct http_job *http_job_new(const struct http_request *r, struct problem *err);
void http_job_unref(struct http_job *job);
int http_job_start(
    struct http_job *job); /* network thread: makes the easy handle; 0 or a CURLcode */
void http_job_finish(struct http_job *job, CURLcode code); /* network thread: keeps what is known */
void http_job_drop_handle(struct http_job *job);

/* http_route.c */
int http_route_find(struct run *run, const char *url, struct http_route *out, struct problem *err);
void http_route_release(struct http_route *r);

/* http_request.c: PROBLEM_INPUT when a header or method could smuggle a second one (CWE-113). */
int http_request_check(const struct http_request *r, struct problem *err);
void http_request_copy(struct http_request *to, const struct http_request *from);

/* http_error.c: fills err for a job that ended without an answer, or for one that ran out of time.
 */
int http_error(const struct http_job *job, struct problem *err);
int http_error_time(const struct http_job *job, int64_t took_ms, struct problem *err);
/* For one that is not sent, because the proxy refused the login before. */
int http_error_login(const struct http_job *job, struct problem *err);
/* For one whose wait for the first answer to that login ended: cancelled, or no time is left. */
int http_error_turn(const struct run *run, const struct http_job *job, struct problem *err);
/* Whether the proxy refused the login. */
bool http_login_refused(const struct http_job *job);
/* For one whose caller no longer waits: names what it waited for. */
int http_error_cancelled(const struct http_job *job, struct problem *err);
#endif
