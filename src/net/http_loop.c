/* The network thread: the only one that touches the curl multi handle and its easy handles. Jobs
 * come through a queue and leave through their eventfd. A caller that gives up marks its job and
 * goes; the job is taken out here. Without jobs it sleeps until it is woken. */
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "core/mem.h"
#include "net/http_impl.h"
#include "net/net_impl.h"

#define LOOP_STACK ((size_t)512 << 10)
#define FOREVER_MS 1000000000 /* libcurl shortens it where it has something to do */
#define CONNECTIONS_KEPT 64L

struct http_loop {
    CURLM *multi;
    const struct net *net;
    pthread_t thread;
    pthread_mutex_t lock; /* queue, stop */
    struct http_job *queue;
    bool stop;
    struct http_job *active; /* the thread's own */
};

static void signal_done(struct http_job *job)
{
    atomic_store(&job->ready, true);
    uint64_t one = 1;
    ssize_t ignored = write(job->done, &one, sizeof one);
    (void)ignored;
    http_job_unref(job);
}

/* Ends a job whose handle is in no multi. */
static void complete(struct http_job *job, CURLcode code)
{
    http_job_finish(job, code);
    http_job_drop_handle(job);
    signal_done(job);
}

static void unlink_active(struct http_loop *loop, const struct http_job *job)
{
    for (struct http_job **p = &loop->active; *p != NULL; p = &(*p)->next) {
        if (*p == job) {
            *p = job->next;
            return;
        }
    }
}

static void begin(struct http_loop *loop, struct http_job *job)
{
    int rc = http_job_start(job);
    if (rc == 0 && curl_multi_add_handle(loop->multi, job->easy) != CURLM_OK)
        rc = CURLE_OUT_OF_MEMORY;
    if (rc != 0) {
        complete(job, (CURLcode)rc);
        return;
    }
    job->next = loop->active;
    loop->active = job;
}

/* False when the thread must end. Jobs are begun in the order in which they came. */
static bool take_queue(struct http_loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    struct http_job *list = loop->queue;
    loop->queue = NULL;
    bool stop = loop->stop;
    pthread_mutex_unlock(&loop->lock);
    struct http_job *ordered = NULL;
    while (list != NULL) {
        struct http_job *next = list->next;
        list->next = ordered;
        ordered = list;
        list = next;
    }
    while (ordered != NULL) {
        struct http_job *next = ordered->next;
        if (stop) {
            ordered->fault = FAULT_SHUTDOWN;
            complete(ordered, CURLE_ABORTED_BY_CALLBACK);
        } else {
            begin(loop, ordered);
        }
        ordered = next;
    }
    return !stop;
}

static void end_active(struct http_loop *loop, bool all)
{
    struct http_job *job = loop->active;
    while (job != NULL) {
        struct http_job *next = job->next;
        if (all || atomic_load(&job->abandoned)) {
            unlink_active(loop, job);
            curl_multi_remove_handle(loop->multi, job->easy);
            job->fault = FAULT_SHUTDOWN;
            complete(job, CURLE_ABORTED_BY_CALLBACK);
        }
        job = next;
    }
}

static void collect(struct http_loop *loop)
{
    int left;
    CURLMsg *m;
    while ((m = curl_multi_info_read(loop->multi, &left)) != NULL) {
        if (m->msg != CURLMSG_DONE)
            continue;
        CURLcode code = m->data.result;
        struct http_job *job = NULL;
        CURL *easy = m->easy_handle;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &job);
        unlink_active(loop, job);
        http_job_finish(job, code); /* before the handle leaves its connection */
        curl_multi_remove_handle(loop->multi, easy);
        http_job_drop_handle(job);
        signal_done(job);
    }
}

static void *run_loop(void *arg)
{
    struct http_loop *loop = arg;
    while (take_queue(loop)) {
        end_active(loop, false);
        int running;
        curl_multi_perform(loop->multi, &running);
        collect(loop);
        curl_multi_poll(loop->multi, NULL, 0, FOREVER_MS, NULL);
    }
    end_active(loop, true);
    return NULL;
}

struct http_loop *http_loop_new(const struct net *net, struct problem *err)
{
    struct http_loop *loop = xcalloc(1, sizeof *loop);
    loop->net = net;
    pthread_mutex_init(&loop->lock, NULL);
    loop->multi = curl_multi_init();
    if (loop->multi == NULL)
        mem_exhausted();
    curl_multi_setopt(loop->multi, CURLMOPT_MAXCONNECTS, CONNECTIONS_KEPT);
    int rc = net_thread(run_loop, loop, LOOP_STACK, &loop->thread);
    if (rc == 0) {
        pthread_setname_np(loop->thread, "sluice-net");
        return loop;
    }
    problem_errno(err, rc, "cannot start the network thread");
    curl_multi_cleanup(loop->multi);
    pthread_mutex_destroy(&loop->lock);
    xfree(loop);
    return NULL;
}

void http_loop_free(struct http_loop *loop)
{
    if (loop == NULL)
        return;
    pthread_mutex_lock(&loop->lock);
    loop->stop = true;
    pthread_mutex_unlock(&loop->lock);
    http_loop_wake(loop);
    pthread_join(loop->thread, NULL);
    curl_multi_cleanup(loop->multi);
    pthread_mutex_destroy(&loop->lock);
    xfree(loop);
}

void http_loop_add(struct http_loop *loop, struct http_job *job)
{
    job->user_agent = loop->net->user_agent;
    job->ca_path = loop->net->ca.path;
    atomic_fetch_add(&job->refs, 1);
    pthread_mutex_lock(&loop->lock);
    bool stopped = loop->stop;
    if (!stopped) {
        job->next = loop->queue;
        loop->queue = job;
    }
    pthread_mutex_unlock(&loop->lock);
    if (!stopped) {
        http_loop_wake(loop);
        return;
    }
    job->fault = FAULT_SHUTDOWN;
    job->code = CURLE_ABORTED_BY_CALLBACK;
    signal_done(job);
}

void http_loop_wake(struct http_loop *loop)
{
    curl_multi_wakeup(loop->multi);
}
