/* Runs; see run.h. Only the cancel flag and the clock are shared between threads: the flag is
 * atomic, the clock stands under a lock, as who reads it may be net's thread while the run's own
 * pauses it. */
#include "core/run.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/bug.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/run_make.h"
#include "core/shown.h"

#define CHECK_DEADLINE_MS 15000
#define CHANGE_DEADLINE_MS 30000
#define CLEANUP_MS 10000
#define CLEANUP_LEAVING_MS 1800

struct run {
    struct snapshot *snapshot;
    const struct check *check;
    char *id;
    struct net *net;
    void (*progress)(void *ctx, int64_t done, int64_t total, const char *what);
    void *ctx;
    int cancel_fd;
    atomic_bool cancelled;

    int allowed_ms;

    pthread_mutex_t lock; /* for all below */
    int64_t deadline;     /* clock_ms */
    int64_t paused_at;    /* clock_ms; of use while pauses > 0 */
    int pauses;
};

struct run *run_make(const struct run_spec *spec, struct problem *err)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) {
        problem_errno(err, errno, "cannot start %s",
                      spec->id != NULL      ? spec->id
                      : spec->check != NULL ? spec->check->id
                                            : "a run");
        return NULL;
    }
    struct run *run = xcalloc(1, sizeof *run);
    atomic_init(&run->cancelled, false);
    run->snapshot = snapshot_ref(spec->snapshot);
    run->check = spec->check;
    run->id = xstrdup(spec->id != NULL ? spec->id : spec->check != NULL ? spec->check->id : "run");
    run->net = spec->net;
    run->progress = spec->progress;
    run->ctx = spec->ctx;
    run->cancel_fd = fd;
    pthread_mutex_init(&run->lock, NULL);
    const int usual = spec->check != NULL ? CHECK_DEADLINE_MS : CHANGE_DEADLINE_MS;
    run->allowed_ms = spec->deadline_ms > 0 ? spec->deadline_ms : usual;
    run->deadline = clock_ms() + run->allowed_ms;
    return run;
}

struct run *run_new_detached(const struct snapshot *s, struct net *net, int deadline_ms)
{
    const struct run_spec spec = {.snapshot = s, .net = net, .deadline_ms = deadline_ms};
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct run *run = run_make(&spec, &err);
    if (run == NULL)
        bug("a detached run: %s", err.what);
    return run;
}

struct run *run_new_cleanup(const struct run *of)
{
    return run_new_detached(NULL, of->net, run_cancelled(of) ? CLEANUP_LEAVING_MS : CLEANUP_MS);
}

void run_free(struct run *run)
{
    if (run == NULL)
        return;
    close(run->cancel_fd);
    pthread_mutex_destroy(&run->lock);
    snapshot_unref(run->snapshot);
    xfree(run->id);
    xfree(run);
}

void run_cancel(struct run *run)
{
    if (run == NULL)
        return;
    atomic_store(&run->cancelled, true);
    const uint64_t one = 1;
    ssize_t ignored = write(run->cancel_fd, &one, sizeof one); /* full = readable already */
    (void)ignored;
}

void run_cancel_detached(struct run *run)
{
    run_cancel(run);
}

/* --- inputs ---------------------------------------------------------------------------------- */

/* False when there is nothing to read from; a check that reads what it did not declare would not
 * become stale with it. */
static bool may_read(const struct run *run, const char *id)
{
    if (run->check != NULL) {
        const char *const *at = run->check->reads;
        while (at != NULL && *at != NULL && strcmp(**at == '?' ? *at + 1 : *at, id) != 0)
            at++;
        if (at == NULL || *at == NULL)
            bug("check %s reads %s, which is not among its reads", run->check->id, id);
    }
    return run->snapshot != NULL;
}

const char *run_text(const struct run *run, const char *id)
{
    return may_read(run, id) ? snap_text(run->snapshot, id) : "";
}

bool run_on(const struct run *run, const char *id)
{
    return may_read(run, id) && snap_on(run->snapshot, id);
}

const struct value *run_value(const struct run *run, const char *id)
{
    return may_read(run, id) ? snap_value(run->snapshot, id) : NULL;
}

struct secret *run_secret(const struct run *run, const char *id)
{
    return may_read(run, id) ? snap_secret(run->snapshot, id) : NULL;
}

const void *run_fact(const struct run *run, const char *id, const struct fact_type *type)
{
    return may_read(run, id) ? snap_fact(run->snapshot, id, type) : NULL;
}

struct net *run_net(const struct run *run)
{
    return run->net;
}

/* --- time and cancel ------------------------------------------------------------------------- */

struct run_clock {
    int64_t now;
    int64_t left;
    int allowed_ms;
};

static struct run_clock look(const struct run *run)
{
    /* A lock is no part of what const promises. */
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&run->lock;
    pthread_mutex_lock(lock);
    struct run_clock c = {.now = clock_ms(), .allowed_ms = run->allowed_ms};
    c.left = run->deadline - (run->pauses > 0 ? run->paused_at : c.now);
    pthread_mutex_unlock(lock);
    return c;
}

int run_left_ms(const struct run *run)
{
    int64_t left = look(run).left;
    return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

int64_t run_deadline(const struct run *run)
{
    struct run_clock c = look(run);
    return c.now + c.left;
}

void run_pause(struct run *run)
{
    pthread_mutex_lock(&run->lock);
    if (run->pauses++ == 0)
        run->paused_at = clock_ms();
    pthread_mutex_unlock(&run->lock);
}

void run_resume(struct run *run)
{
    pthread_mutex_lock(&run->lock);
    if (run->pauses == 0)
        bug("run %s is resumed more often than paused", run->id);
    if (--run->pauses == 0)
        run->deadline += clock_ms() - run->paused_at;
    pthread_mutex_unlock(&run->lock);
}

int run_cancel_fd(const struct run *run)
{
    return run->cancel_fd;
}

bool run_cancelled(const struct run *run)
{
    return run != NULL && atomic_load(&run->cancelled);
}

int run_over(const struct run *run, const char *phase, struct problem *err)
{
    if (run_cancelled(run))
        return problem_fail(err, PROBLEM_CANCELLED, "cancelled", "cancelled while %s", phase);
    struct run_clock c = look(run);
    if (c.left > 0)
        return 0;
    if (c.allowed_ms % 1000 == 0)
        problem_fail(err, PROBLEM_UNREACHABLE, "deadline", "no answer within %d s while %s",
                     c.allowed_ms / 1000, phase);
    else
        problem_fail(err, PROBLEM_UNREACHABLE, "deadline", "no answer within %d ms while %s",
                     c.allowed_ms, phase);
    problem_fix(err, WHO_NETWORK,
                "See that nothing between here and the service drops packets (firewall, security "
                "group, VPN), then check again.");
    return -1;
}

int run_sleep(struct run *run, int ms, struct problem *err)
{
    int64_t until = clock_ms() + ms;
    for (;;) {
        if (run_over(run, "waiting", err) != 0)
            return -1;
        struct run_clock c = look(run);
        int64_t rest = until - c.now;
        if (rest <= 0)
            return 0;
        /* One millisecond more than is left: poll may wake a little early. */
        if (c.left < rest)
            rest = c.left + 1;
        struct pollfd p = {.fd = run->cancel_fd, .events = POLLIN};
        (void)poll(&p, 1, rest > INT_MAX ? INT_MAX : (int)rest);
    }
}

/* --- reports --------------------------------------------------------------------------------- */

void run_progress(struct run *run, int64_t done, int64_t total, const char *what)
{
    if (run->progress == NULL)
        return;
    char *shown = shown_copy(what, CLEAN_LINE);
    run->progress(run->ctx, done, total, shown);
    xfree(shown);
}

void run_log(struct run *run, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *line = xvasprintf(fmt, ap);
    va_end(ap);
    log_line("%s: %s", run->id, line);
    explicit_bzero(line, strlen(line));
    xfree(line);
}
