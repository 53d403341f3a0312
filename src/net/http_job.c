/* One request inside libcurl: the easy handle's settings and what libcurl calls while it runs. All
 * but http_job_new and the last unref happen on the network thread. */
#include <ctype.h>
#include <errno.h>
#include <openssl/ssl.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"
#include "net/http_impl.h"

#define CONNECT_MS 10000
#define HEADER_BYTES_MAX ((size_t)128 << 10)
#define HEADER_COUNT_MAX 256

int http_connect_ms(const struct http_request *r)
{
    return r->connect_ms > 0 ? r->connect_ms : CONNECT_MS;
}

struct http_job *http_job_new(const struct http_request *r, struct problem *err)
{
    int done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (done < 0) {
        problem_errno(err, errno, "cannot send a request");
        return NULL;
    }
    struct http_job *job = xcalloc(1, sizeof *job);
    atomic_init(&job->refs, 1);
    atomic_init(&job->abandoned, false);
    atomic_init(&job->ready, false);
    atomic_init(&job->phase, PHASE_QUEUED);
    job->done = done;
    http_request_copy(&job->request, r);
    job->body_max = r->body_max != 0 ? r->body_max : HTTP_BODY_MAX;
    job->response = (struct http_response){.body = TEXT_LIMITED(job->body_max)};
    return job;
}

void http_job_unref(struct http_job *job)
{
    if (atomic_fetch_sub(&job->refs, 1) != 1)
        return;
    close(job->done);
    http_request_release(&job->request);
    http_route_release(&job->route);
    http_response_release(&job->response);
    tls_notes_clear(&job->cert);
    xfree(job);
}

/* The nodes are made here, because curl_slist_append copies the text and would not wipe the copy.
 */
static struct curl_slist *list_add(struct curl_slist *list, char *line)
{
    struct curl_slist *node = xcalloc(1, sizeof *node);
    node->data = line;
    node->next = list;
    return node;
}

static void list_free(struct curl_slist **list)
{
    while (*list != NULL) {
        struct curl_slist *next = (*list)->next;
        explicit_bzero((*list)->data, strlen((*list)->data));
        xfree((*list)->data);
        xfree(*list);
        *list = next;
    }
}

static void headers(struct http_job *job)
{
    bool typed = false;
    for (size_t i = 0; i < job->request.header_count; i++) {
        const struct http_header *h = &job->request.headers[i];
        typed = typed || strcasecmp(h->name, "Content-Type") == 0;
        /* An empty value is written with a semicolon, else libcurl leaves the header out. */
        char *line = h->value[0] != '\0' ? xasprintf("%s: %s", h->name, h->value)
                                         : xasprintf("%s;", h->name);
        job->header_list = list_add(job->header_list, line);
    }
    job->header_list = list_add(job->header_list, xstrdup("Expect:"));
    if (!typed) /* libcurl would claim a form */
        job->header_list = list_add(job->header_list, xstrdup("Content-Type:"));
    curl_easy_setopt(job->easy, CURLOPT_HTTPHEADER, job->header_list);
}

static void method(struct http_job *job)
{
    const struct http_request *r = &job->request;
    bool post = strcmp(r->method, "POST") == 0;
    bool body =
        r->has_body || post || strcmp(r->method, "PUT") == 0 || strcmp(r->method, "PATCH") == 0;
    if (strcmp(r->method, "HEAD") == 0 && !r->has_body) {
        curl_easy_setopt(job->easy, CURLOPT_NOBODY, 1L);
        return;
    }
    curl_easy_setopt(job->easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)job->body_max);
    if (body) {
        curl_easy_setopt(job->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.len);
        curl_easy_setopt(job->easy, CURLOPT_POSTFIELDS, r->body.s);
    }
    if (!post && (body || strcmp(r->method, "GET") != 0))
        curl_easy_setopt(job->easy, CURLOPT_CUSTOMREQUEST, r->method);
}

static void enter(struct http_job *job, enum http_phase phase)
{
    atomic_store(&job->phase, phase);
}

static curl_socket_t on_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
    (void)purpose;
    enter(arg, PHASE_CONNECTING);
    int fd = socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
    return fd < 0 ? CURL_SOCKET_BAD : fd;
}

static CURLcode on_ssl_context(CURL *easy, void *ctx, void *arg)
{
    (void)easy;
    struct http_job *job = arg;
    if (job->route.proxy_tls && !job->proxy_tls_begun)
        job->proxy_tls_begun = true; /* for this it is still connecting */
    else
        enter(job, PHASE_TLS);
    tls_notes_watch(ctx, job->notes);
    return CURLE_OK;
}

/* libcurl sends again by itself when a kept connection turns out to be closed. What changes
 * something must not arrive twice without its caller knowing. */
static int on_request(void *arg, char *ip, char *local_ip, int port, int local_port)
{
    (void)ip, (void)local_ip, (void)port, (void)local_port;
    struct http_job *job = arg;
    enter(job, PHASE_WAITING);
    bool harmless =
        strcmp(job->request.method, "GET") == 0 || strcmp(job->request.method, "HEAD") == 0;
    if (job->sent && !harmless) {
        job->fault = FAULT_RESEND;
        return CURL_PREREQFUNC_ABORT;
    }
    job->sent = true;
    return CURL_PREREQFUNC_OK;
}

/* A lookup of libcurl's own could block the network thread when its handle is removed. */
static int on_lookup(void *state, void *reserved, void *arg)
{
    (void)state, (void)reserved, (void)arg;
    return 1;
}

/* Also for a connection that is used again, where there was no handshake. */
static void see_tls(struct http_job *job)
{
    struct curl_tlssessioninfo *info = NULL;
    job->tls_seen = true;
    if (curl_easy_getinfo(job->easy, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || info == NULL ||
        info->backend != CURLSSLBACKEND_OPENSSL || info->internals == NULL)
        return;
    const SSL *ssl = info->internals;
    xreplace(&job->response.tls, SSL_get_version(ssl));
    const X509 *cert = SSL_get0_peer_certificate(ssl);
    struct tm tm;
    if (cert != NULL && ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm) == 1)
        job->response.cert_until = (int64_t)timegm(&tm);
}

static void clear_headers(struct http_response *r)
{
    for (size_t i = 0; i < r->header_count; i++) {
        xfree(r->headers[i].name);
        xfree(r->headers[i].value);
    }
    r->header_count = 0;
}

static void take_header(struct http_response *r, const char *line, size_t n)
{
    const char *colon = memchr(line, ':', n);
    if (colon == NULL)
        return;
    const char *value = colon + 1, *end = line + n;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && isspace((unsigned char)end[-1]))
        end--;
    r->headers = xrealloc(r->headers, r->header_count + 1, sizeof *r->headers);
    r->headers[r->header_count++] = (struct http_header){
        .name = xstrndup(line, (size_t)(colon - line)),
        .value = xstrndup(value, (size_t)(end - value)),
    };
}

static size_t on_header(char *line, size_t size, size_t n, void *arg)
{
    struct http_job *job = arg;
    n *= size;
    enter(job, PHASE_READING);
    if (job->route.https && !job->tls_seen)
        see_tls(job);
    job->header_bytes += n;
    if (job->header_bytes > HEADER_BYTES_MAX || job->response.header_count >= HEADER_COUNT_MAX) {
        job->fault = FAULT_HEADERS;
        return 0;
    }
    if (n >= 5 && strncmp(line, "HTTP/", 5) == 0)
        clear_headers(&job->response); /* what came before was a 1xx */
    else
        take_header(&job->response, line, n);
    return n;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *arg)
{
    struct http_job *job = arg;
    n *= size;
    if (n > job->body_max - job->response.body.len) {
        job->fault = FAULT_BODY;
        return 0;
    }
    text_addn(&job->response.body, bytes, n);
    return n;
}

static void callbacks(struct http_job *job)
{
    CURL *e = job->easy;
    curl_easy_setopt(e, CURLOPT_PRIVATE, job);
    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, job->errbuf);
    curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, job);
    curl_easy_setopt(e, CURLOPT_SSL_CTX_FUNCTION, on_ssl_context);
    curl_easy_setopt(e, CURLOPT_SSL_CTX_DATA, job);
    curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, on_request);
    curl_easy_setopt(e, CURLOPT_PREREQDATA, job);
    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(e, CURLOPT_HEADERDATA, job);
    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(e, CURLOPT_WRITEDATA, job);
    if (job->route.pin_count > 0)
        curl_easy_setopt(e, CURLOPT_RESOLVER_START_FUNCTION, on_lookup);
}

static void tls(struct http_job *job)
{
    CURL *e = job->easy;
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(e, CURLOPT_CAINFO, job->ca_path);
    curl_easy_setopt(e, CURLOPT_CAPATH, NULL); /* the compiled-in folder would add to the bundle */
    curl_easy_setopt(e, CURLOPT_PROXY_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(e, CURLOPT_PROXY_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(e, CURLOPT_PROXY_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(e, CURLOPT_PROXY_CAINFO, job->ca_path);
    curl_easy_setopt(e, CURLOPT_PROXY_CAPATH, NULL);
}

/* 0 or a CURLcode. HTTP/1.1 alone: every service speaks it, and a cut answer is told by its length.
 */
int http_job_start(struct http_job *job)
{
    CURL *e = job->easy = curl_easy_init();
    if (e == NULL)
        return CURLE_OUT_OF_MEMORY;
    job->notes = tls_notes_new();
    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, job->route.https ? "https" : "http");
    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(e, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_easy_setopt(e, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L); /* a signed path must arrive as it was signed */
    curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)http_connect_ms(&job->request));
    curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(e, CURLOPT_USERAGENT, job->user_agent);
    curl_easy_setopt(e, CURLOPT_PROXY, job->route.proxy != NULL ? job->route.proxy : "");
    curl_easy_setopt(e, CURLOPT_NOPROXY, "");
    for (size_t i = 0; i < job->route.pin_count; i++)
        job->pin_list = list_add(job->pin_list, xstrdup(job->route.pins[i]));
    curl_easy_setopt(e, CURLOPT_RESOLVE, job->pin_list);
    tls(job);
    callbacks(job);
    headers(job);
    method(job);
    return (int)curl_easy_setopt(e, CURLOPT_URL, job->request.url);
}

void http_job_drop_handle(struct http_job *job)
{
    curl_easy_cleanup(job->easy);
    job->easy = NULL;
    list_free(&job->header_list);
    list_free(&job->pin_list);
    tls_notes_unref(job->notes);
    job->notes = NULL;
}

static void take_answer(struct http_job *job)
{
    struct http_response *r = &job->response;
    long status = 0;
    const char *peer = NULL;
    curl_easy_getinfo(job->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(job->easy, CURLINFO_PRIMARY_IP, &peer);
    r->status = (int)status;
    r->peer = xstrdup(peer != NULL ? peer : "");
    const char *type = http_response_header(r, "Content-Type");
    r->content_type = xstrndup(type != NULL ? type : "", type != NULL ? strcspn(type, "; \t") : 0);
    for (char *p = r->content_type; *p != '\0'; p++)
        *p = (char)tolower((unsigned char)*p);
    if (r->status >= 300 && r->status < 400)
        r->location = xstrdup(http_response_header(r, "Location"));
}

void http_job_finish(struct http_job *job, CURLcode code)
{
    job->code = code;
    if (job->easy != NULL) {
        curl_easy_getinfo(job->easy, CURLINFO_OS_ERRNO, &job->os_errno);
        curl_easy_getinfo(job->easy, CURLINFO_HTTP_CONNECTCODE, &job->proxy_status);
        curl_easy_getinfo(job->easy, CURLINFO_PROXY_ERROR, &job->proxy_error);
        curl_easy_getinfo(job->easy, CURLINFO_PROXY_SSL_VERIFYRESULT, &job->proxy_verify);
        if (job->notes != NULL)
            tls_notes_move(&job->cert, job->notes);
        if (code == CURLE_OK)
            take_answer(job);
    }
}
