/* The caller's side of a request: hands a job to the network thread, waits beside cancel and
 * deadline, and tries again where that is safe. */
#include "net/http.h"

#include <ctype.h>
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "core/clock.h"
#include "core/mem.h"
#include "net/http_impl.h"
#include "net/net_impl.h"

#define BACKOFF_MS 200
#define BACKOFF_MAX_MS 5000
#define RETRY_AFTER_MAX_MS 20000

static int wait_for(struct run *run, struct http_job *job, int64_t began, struct problem *err)
{
    enum net_waited w = net_wait(run, job->done, POLLIN, -1);
    if (w == NET_READY && atomic_load(&job->ready))
        return job->code == CURLE_OK ? 0 : http_error(job, err);
    /* The network thread takes it out by itself: removing a handle is its business alone. */
    atomic_store(&job->abandoned, true);
    http_loop_wake(run_net(run)->loop);
    if (w == NET_CANCELLED)
        return run_over(run, "waiting for an answer", err);
    return http_error_time(job, clock_ms() - began, err);
}

/* `again`: whether another try could end otherwise. */
static int send_once(struct run *run, const struct http_request *request, struct http_response *out,
                     bool *again, struct problem *err)
{
    *again = false;
    if (http_request_check(request, err) != 0 || run_over(run, "sending a request", err) != 0)
        return -1;
    struct http_job *job = http_job_new(request, err);
    if (job == NULL)
        return -1;
    int64_t began = clock_ms();
    int rc = http_route_find(run, request->url, &job->route, err);
    if (rc != 0) {
        *again = err != NULL && err->code != NULL && strcmp(err->code, "dns EAI_AGAIN") == 0;
        http_job_unref(job);
        return -1;
    }
    http_loop_add(run_net(run)->loop, job);
    rc = wait_for(run, job, began, err);
    bool timely = !atomic_load(&job->abandoned);
    if (rc == 0) {
        *out = job->response;
        out->took_ms = clock_ms() - began;
        job->response = (struct http_response){.body = TEXT_INIT};
    } else if (timely) {
        *again = job->code != CURLE_PEER_FAILED_VERIFICATION &&
                 (job->fault == FAULT_NONE || job->fault == FAULT_RESEND) &&
                 job->code != CURLE_FILESIZE_EXCEEDED && job->code != CURLE_UNSUPPORTED_PROTOCOL &&
                 job->proxy_status < 300;
    }
    http_job_unref(job);
    return rc;
}

int http_send(struct run *run, const struct http_request *request, struct http_response *out,
              struct problem *err)
{
    bool again;
    return send_once(run, request, out, &again, err);
}

static bool is_transient(int status)
{
    static const int statuses[] = {408, 429, 500, 502, 503, 504};
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        if (statuses[i] == status)
            return true;
    }
    return false;
}

/* Seconds or a date (RFC 9110 §10.2.3), in milliseconds; -1 none. */
static int64_t retry_after_ms(const struct http_response *r)
{
    const char *s = http_response_header(r, "Retry-After");
    if (s == NULL || s[0] == '\0')
        return -1;
    if (isdigit((unsigned char)s[0]) && s[strspn(s, "0123456789")] == '\0')
        return strlen(s) > 6 ? INT64_MAX : atoll(s) * 1000;
    time_t at = curl_getdate(s, NULL);
    if (at < 0)
        return -1;
    int64_t left = (int64_t)at - clock_wall();
    return left > 0 ? left * 1000 : 0;
}

/* Half to whole of 200 ms, 400 ms, …: callers that failed together do not come back together. */
static int backoff_ms(int attempt)
{
    int whole = BACKOFF_MS;
    for (int i = 0; i < attempt && whole < BACKOFF_MAX_MS; i++)
        whole *= 2;
    if (whole > BACKOFF_MAX_MS)
        whole = BACKOFF_MAX_MS;
    unsigned random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
        random = 0;
    return whole / 2 + (int)(random % (unsigned)(whole / 2 + 1));
}

int http_send_retrying(struct run *run, const struct http_request *request, int tries,
                       struct http_response *out, struct problem *err)
{
    for (int attempt = 0;; attempt++) {
        bool again;
        AUTO_PROBLEM mine = PROBLEM_INIT;
        int rc = send_once(run, request, out, &again, &mine);
        if (rc == 0)
            again = is_transient(out->status);
        int64_t pause = backoff_ms(attempt);
        int64_t asked = rc == 0 ? retry_after_ms(out) : -1;
        if (asked > pause)
            pause = asked;
        if (!again || attempt + 1 >= tries || pause > RETRY_AFTER_MAX_MS ||
            pause >= run_left_ms(run)) {
            if (rc != 0)
                problem_move(err, &mine);
            return rc;
        }
        if (rc == 0)
            http_response_release(out);
        if (run_sleep(run, (int)pause, err) != 0)
            return -1;
    }
}
