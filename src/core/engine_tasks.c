/* The engine's threads and the queue by which they report. A thread writes only into its own task,
 * and the main thread reads that only once the thread has reported. */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/bug.h"
#include "core/clock.h"
#include "core/engine_parts.h"
#include "core/mem.h"

/* TLS handshakes and sanitizers need more than the smallest stack. */
#define STACK_BYTES ((size_t)1 << 20)
#define CANCEL_GRACE_MS 60 /* a cancel is felt within 100 ms, even by a check that ignores it */
#define LATE_GRACE_MS 1000 /* who honours its deadline has reported by then */
#define SEND_WAIT_MS 1500  /* at the end: for answers to what was sent */
#define QUIET_WAIT_MS 2000

struct engine *engine_new(struct wizard *w, struct state *s, struct net *net)
{
    struct engine *e = xcalloc(1, sizeof(*e));
    pthread_condattr_t attr;
    e->wizard = w;
    e->state = s;
    e->net = net;
    e->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (e->fd < 0)
        bug("eventfd: %s", strerror(errno));
    pthread_mutex_init(&e->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&e->quiet, &attr);
    pthread_condattr_destroy(&attr);
    e->last = &e->first;
    e->wants = xcalloc(wizard_rows(w)->check_count + 1, sizeof(struct want));
    return e;
}

int engine_fd(const struct engine *e)
{
    return e->fd;
}

void engine_poke(struct engine *e)
{
    uint64_t one = 1;
    ssize_t n = write(e->fd, &one, sizeof(one));
    (void)n; /* a full counter is readable all the same */
}

/* --- tasks ------------------------------------------------------------------------------------ */

void task_free(struct task *t)
{
    outcome_unref(t->out);
    run_free(t->run);
    xfree(t->found.id);
    xfree(t->found.saw);
    xfree(t->made.id);
    xfree(t->made.give_text);
    secret_unref(t->made.give_secret);
    problem_release(&t->problem);
    xfree(t);
}

void task_cancel(struct task *t)
{
    if (t->cancelled_at == 0)
        t->cancelled_at = clock_ms();
    run_cancel(t->run);
}

void task_unlink(struct task **list, struct task *t)
{
    for (struct task **at = list; *at != NULL; at = &(*at)->next)
        if (*at == t) {
            *at = t->next;
            return;
        }
}

int64_t task_limit(const struct task *t)
{
    if (t->cancelled_at != 0)
        return t->cancelled_at + CANCEL_GRACE_MS;
    return t->run != NULL ? run_deadline(t->run) + LATE_GRACE_MS : INT64_MAX;
}

size_t engine_threads(const struct engine *e)
{
    size_t n = 0;
    for (const struct task *t = e->running; t != NULL; t = t->next)
        n++;
    for (const struct task *t = e->abandoned; t != NULL; t = t->next)
        n++;
    return n;
}

/* --- reports ---------------------------------------------------------------------------------- */

static void post(struct engine *e, struct message *m, bool thread_ends)
{
    pthread_mutex_lock(&e->lock);
    *e->last = m;
    e->last = &m->next;
    engine_poke(e);
    if (thread_ends && --e->threads == 0)
        pthread_cond_signal(&e->quiet);
    pthread_mutex_unlock(&e->lock);
}

static void report_progress(void *ctx, int64_t done, int64_t total, const char *doing)
{
    struct task *t = ctx;
    struct message *m = xcalloc(1, sizeof(*m));
    m->task = t;
    m->done = done;
    m->total = total;
    m->doing = xstrdup(doing);
    post(t->engine, m, false);
}

static void report_end(struct task *t)
{
    struct message *m = xcalloc(1, sizeof(*m));
    m->task = t;
    m->finished = true;
    post(t->engine, m, true);
}

struct message *engine_messages(struct engine *e)
{
    uint64_t count;
    ssize_t n = read(e->fd, &count, sizeof(count));
    (void)n; /* EAGAIN: nothing was reported, but something may be wanted */
    pthread_mutex_lock(&e->lock);
    struct message *m = e->first;
    e->first = NULL;
    e->last = &e->first;
    pthread_mutex_unlock(&e->lock);
    return m;
}

static void *thread_main(void *arg)
{
    struct task *t = arg;
    if (t->kind == TASK_CHECK)
        t->check->run(t->run, t->out);
    else
        apply_body(t);
    report_end(t);
    return NULL;
}

/* The failure to start is reported the way a result is. */
static void report_not_started(struct task *t)
{
    t->rc = -1;
    if (t->out != NULL)
        outcome_problem(t->out, &t->problem);
    report_end(t);
}

void engine_start_task(struct engine *e, struct task *t, int deadline_ms)
{
    struct snapshot *s = wizard_snapshot(e->wizard);
    struct run_spec spec = {.snapshot = s,
                            .check = t->check,
                            .id = t->check != NULL ? t->check->id : t->change->id,
                            .net = e->net,
                            .deadline_ms = deadline_ms,
                            .progress = report_progress,
                            .ctx = t};
    t->engine = e;
    t->started = clock_ms();
    t->run = run_make(&spec, &t->problem);
    snapshot_unref(s);
    t->next = e->running;
    e->running = t;
    pthread_mutex_lock(&e->lock);
    e->threads++;
    pthread_mutex_unlock(&e->lock);
    if (t->run == NULL) {
        report_not_started(t);
        return;
    }
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    int rc = pthread_create(&thread, &attr, thread_main, t);
    pthread_attr_destroy(&attr);
    if (rc != 0) {
        problem_errno(&t->problem, rc, "cannot start a thread");
        report_not_started(t);
    }
}

/* --- end -------------------------------------------------------------------------------------- */

static void cancel_all(struct engine *e, bool sends_too)
{
    for (struct task *t = e->running; t != NULL; t = t->next)
        if (sends_too || t->kind != TASK_SEND)
            task_cancel(t);
}

/* True when all threads have ended within ms from now. */
static bool wait_quiet(struct engine *e, int ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    pthread_mutex_lock(&e->lock);
    while (e->threads > 0 && pthread_cond_timedwait(&e->quiet, &e->lock, &until) != ETIMEDOUT)
        ;
    bool quiet = e->threads == 0;
    pthread_mutex_unlock(&e->lock);
    return quiet;
}

static bool sending(const struct engine *e)
{
    for (const struct task *t = e->running; t != NULL; t = t->next)
        if (t->kind == TASK_SEND)
            return true;
    return false;
}

/* What was made is written into the journal, even now: a key that was made could not be read again.
 */
static void take_in_sends(struct engine *e)
{
    struct message *next;
    for (struct message *m = engine_messages(e); m != NULL; m = next) {
        next = m->next;
        struct task *t = m->task;
        if (m->finished) {
            task_unlink(&e->running, t);
            if (t->kind == TASK_SEND && t->rc == 0)
                apply_finished(e, t);
            task_free(t);
        }
        xfree(m->doing);
        xfree(m);
    }
}

bool engine_free(struct engine *e)
{
    if (e == NULL)
        return true;
    int64_t until = clock_ms() + QUIET_WAIT_MS;
    e->closing = true;
    e->stopping = true;
    e->observe = NULL;
    cancel_all(e, false);
    if (sending(e))
        wait_quiet(e, SEND_WAIT_MS);
    cancel_all(e, true);
    int64_t left = until - clock_ms();
    bool quiet = wait_quiet(e, left > 0 ? (int)left : 0);
    take_in_sends(e);
    if (!quiet)
        return false; /* a thread may still report: what it touches must live on */
    apply_release(e);
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->quiet);
    close(e->fd);
    xfree(e->wants);
    xfree(e);
    return true;
}
