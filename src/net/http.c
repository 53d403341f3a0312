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
        return http_error_cancelled(job, err);
    return http_error_time(job, clock_ms() - began, err);
}

static int hand_over(struct run *run, struct http_job *job, int64_t began, struct problem *err)
{
    http_loop_add(run_net(run)->loop, job);
    return wait_for(run, job, began, err);
}

/* Through a proxy that gets a login. */
static int send_with_login(struct run *run, struct http_job *job, struct problem *err)
{
    struct proxy_login *login = run_net(run)->proxy_login;
    enum proxy_turn turn = proxy_login_enter(run, login);
    if (turn == PROXY_NO_TURN)
        return http_error_turn(run, job, err);
    if (turn == PROXY_REFUSED)
        return http_error_login(job, err);
    int rc = hand_over(run, job, clock_ms(), err);
    bool answered = !atomic_load(&job->abandoned);
    proxy_login_leave(login, turn,
                      !answered && run_cancelled(run)       ? PROXY_NOT_ASKED
                      : answered && http_login_refused(job) ? PROXY_SAID_NO
                                                            : PROXY_SAID_MORE);
    return rc;
}

int http_send(struct run *run, const struct http_request *request, struct http_response *out,
              struct problem *err)
{
    if (http_request_check(request, err) != 0 || run_over(run, "sending a request", err) != 0)
        return -1;
    struct http_job *job = http_job_new(request, err);
    if (job == NULL)
        return -1;
    int64_t began = clock_ms();
    int rc = http_route_find(run, request->url, &job->route, err);
    if (rc == 0)
        rc = job->route.proxy_login ? send_with_login(run, job, err)
                                    : hand_over(run, job, began, err);
    if (rc == 0) {
        *out = job->response;
        out->took_ms = clock_ms() - began;
        job->response = (struct http_response){.body = TEXT_INIT};
    }
    http_job_unref(job);
    return rc;
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

int http_cancelled_between(const struct run *run, const struct problem *last, struct problem *err)
{
    if (!run_cancelled(run))
        return -1;
    problem_fail(err, PROBLEM_CANCELLED, "cancelled",
                 "cancelled while waiting to ask again; last: %s", last->what);
    if (last->evidence != NULL)
        problem_evidence(err, "%s", last->evidence);
    return -1;
}

/* An answer that is worth another try, as a problem; the answer is released. */
static void fail_busy(const struct http_request *request, struct http_response *out,
                      struct problem *err)
{
    struct url_parts u = {0};
    bool split = url_split(request->url, &u, NULL) == 0;
    problem_fail(err, PROBLEM_UNREACHABLE, "http", "%s answers %d", split ? u.host : "the service",
                 out->status);
    url_release(&u);
    http_response_release(out);
}

int http_send_retrying(struct run *run, const struct http_request *request, int tries,
                       struct http_response *out, struct problem *err)
{
    for (int attempt = 0;; attempt++) {
        AUTO_PROBLEM mine = PROBLEM_INIT;
        int rc = http_send(run, request, out, &mine);
        bool again = rc == 0 ? is_transient(out->status) : !http_is_final(&mine);
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
            fail_busy(request, out, &mine);
        if (run_sleep(run, (int)pause, err) != 0)
            return http_cancelled_between(run, &mine, err);
    }
}
