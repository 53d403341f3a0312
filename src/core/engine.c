/* The engine's threads and queue, and the scheduling of checks. Changes are carried out in apply.c.
 */
#include "core/engine.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/bug.h"
#include "core/clock.h"
#include "core/engine_parts.h"
#include "core/log.h"
#include "core/mem.h"

#define THREADS_MAX 64
#define SERVICE_MAX 16
#define STACK_BYTES                                                                                \
    ((size_t)1 << 20) /* TLS handshakes and sanitizers need more than the smallest */
#define CHECK_DEADLINE_MS 15000
#define QUIET_WAIT_S 2

struct engine *engine_new(struct wizard *w, struct state *s, struct net *net)
{
    struct engine *e = xcalloc(1, sizeof(*e));
    e->wizard = w;
    e->state = s;
    e->net = net;
    e->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (e->fd < 0)
        bug("eventfd: %s", strerror(errno));
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->quiet, NULL);
    e->last = &e->first;
    e->wants = xcalloc(wizard_rows(w)->check_count + 1, sizeof(struct want));
    return e;
}

static void task_free(struct task *t)
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

static void cancel_task(struct task *t)
{
    if (t->run != NULL)
        run_cancel(t->run);
}

static void drop_messages(struct engine *e)
{
    while (e->first != NULL) {
        struct message *m = e->first;
        e->first = m->next;
        if (m->finished)
            task_free(m->task);
        xfree(m->doing);
        xfree(m);
    }
    e->last = &e->first;
}

void engine_free(struct engine *e)
{
    if (e == NULL)
        return;
    for (struct task *t = e->running; t != NULL; t = t->next)
        cancel_task(t);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += QUIET_WAIT_S;
    pthread_mutex_lock(&e->lock);
    while (e->threads > 0 && pthread_cond_timedwait(&e->quiet, &e->lock, &until) != ETIMEDOUT)
        ;
    bool hanging = e->threads > 0;
    pthread_mutex_unlock(&e->lock);
    if (hanging)
        return; /* a thread may still report: what it touches must live on */
    drop_messages(e);
    apply_release(e);
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->quiet);
    close(e->fd);
    xfree(e->wants);
    xfree(e);
}

int engine_fd(const struct engine *e)
{
    return e->fd;
}

int engine_timeout(struct engine *e)
{
    (void)e;
    return -1;
}

/* --- threads ------------------------------------------------------------------------------------
 */

static void post(struct engine *e, struct message *m, bool thread_ends)
{
    pthread_mutex_lock(&e->lock);
    *e->last = m;
    e->last = &m->next;
    uint64_t one = 1;
    ssize_t n = write(e->fd, &one, sizeof(one));
    (void)n; /* a full counter is readable all the same */
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

static void *thread_main(void *arg)
{
    struct task *t = arg;
    if (t->kind == TASK_CHECK)
        t->check->run(t->run, t->out);
    else
        apply_body(t);
    struct message *m = xcalloc(1, sizeof(*m));
    m->task = t;
    m->finished = true;
    post(t->engine, m, true);
    return NULL;
}

/* The failure to start is reported the way a result is. */
static void report_not_started(struct engine *e, struct task *t)
{
    t->rc = -1;
    if (t->out != NULL)
        outcome_problem(t->out, &t->problem);
    struct message *m = xcalloc(1, sizeof(*m));
    m->task = t;
    m->finished = true;
    post(e, m, true);
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
        report_not_started(e, t);
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
        report_not_started(e, t);
    }
}

void engine_emit(struct engine *e, enum event_kind kind, int check, const char *change)
{
    if (e->observe == NULL)
        return;
    struct event ev = {.kind = kind, .check = check, .change = change};
    e->observe(e->observe_ctx, &ev);
}

/* --- checks -------------------------------------------------------------------------------------
 */

static bool is_running(const struct engine *e, int check)
{
    for (const struct task *t = e->running; t != NULL; t = t->next)
        if (t->kind == TASK_CHECK && t->index == (size_t)check)
            return true;
    return false;
}

static bool room_for(const struct engine *e, const struct check *c)
{
    int all = 0;
    int same = 0;
    for (const struct task *t = e->running; t != NULL; t = t->next) {
        all++;
        same += t->check != NULL && c->service != NULL && t->check->service != NULL &&
                strcmp(t->check->service, c->service) == 0;
    }
    return all < THREADS_MAX && same < SERVICE_MAX;
}

static void start_check(struct engine *e, int check)
{
    const struct check *c = wizard_rows(e->wizard)->checks[check];
    struct task *t = xcalloc(1, sizeof(*t));
    t->kind = TASK_CHECK;
    t->index = (size_t)check;
    t->check = c;
    t->out = outcome_new();
    t->out->digest = wizard_check_digest(e->wizard, check);
    e->wants[check].wanted = false;
    e->wants[check].again = false;
    engine_start_task(e, t, c->deadline_ms > 0 ? c->deadline_ms : CHECK_DEADLINE_MS);
    wizard_running(e->wizard, check, true, t->started);
    engine_emit(e, EVENT_CHECK_STARTED, check, NULL);
}

/* A fact or check this one builds on is about to be made anew: it is worth waiting for. */
static bool depends_on_pending(struct engine *e, const struct check *c)
{
    const struct rows *rows = wizard_rows(e->wizard);
    for (size_t i = 0; c->reads != NULL && c->reads[i] != NULL; i++) {
        int fact = rows_fact(rows, c->reads[i][0] == '?' ? c->reads[i] + 1 : c->reads[i]);
        if (fact >= 0 && (is_running(e, rows->givers[fact]) || e->wants[rows->givers[fact]].wanted))
            return true;
    }
    for (size_t i = 0; c->after != NULL && c->after[i] != NULL; i++) {
        int before = rows_check(rows, c->after[i]);
        if (is_running(e, before) || e->wants[before].wanted)
            return true;
    }
    return false;
}

/* The check at the end of the chain of what must run first, or -1 when that one cannot run either: then wanting it
 * would only come back here. Rows have no circles, so the chain ends. */
static int runnable_first(struct engine *e, int check)
{
    int first = -1;
    for (int next = wizard_check_first(e->wizard, check); next >= 0;
         next = wizard_check_first(e->wizard, next))
        first = next;
    if (first < 0)
        return -1;
    char waits[120];
    wizard_check_waits(e->wizard, first, waits, sizeof(waits));
    return waits[0] == '\0' ? first : -1;
}

/* True when something changed that may let another check go on. */
static bool consider(struct engine *e, int check)
{
    struct want *want = &e->wants[check];
    const struct rows *rows = wizard_rows(e->wizard);
    const struct check *c = rows->checks[check];
    struct check_view v;
    if (is_running(e, check) || depends_on_pending(e, c))
        return false;
    wizard_check_view(e->wizard, check, &v);
    bool current = v.outcome != NULL && !v.stale && v.waits[0] == '\0';
    if (current && !want->again) {
        want->wanted = false;
        return true;
    }
    int first = runnable_first(e, check);
    if (first >= 0 && rows->checks[first]->effect <= want->effect) {
        e->wants[first] = (struct want){.wanted = true, .again = true, .effect = want->effect};
        return true;
    }
    char waits[120];
    wizard_check_waits(e->wizard, check, waits, sizeof(waits));
    if (waits[0] != '\0') {
        want->wanted = false; /* it waits for something no check here can bring */
        want->again = false;
        return true;
    }
    if (!room_for(e, c))
        return false;
    start_check(e, check);
    return true;
}

static void schedule(struct engine *e)
{
    const struct rows *rows = wizard_rows(e->wizard);
    bool moved = true;
    while (moved) {
        moved = false;
        for (size_t i = 0; i < rows->check_count; i++) {
            int check = rows->order[i];
            if (e->wants[check].wanted)
                moved |= consider(e, check);
        }
    }
}

void engine_want(struct engine *e, int check, enum effect effect, bool again)
{
    const struct rows *rows = wizard_rows(e->wizard);
    const struct check *c = rows->checks[check];
    if (c->effect > effect)
        return;
    struct want *want = &e->wants[check];
    want->effect = want->wanted && want->effect > effect ? want->effect : effect;
    want->wanted = true;
    want->again |= again;
    if (!again)
        return;
    for (size_t i = 0; c->reads != NULL && c->reads[i] != NULL; i++) {
        int fact = rows_fact(rows, c->reads[i][0] == '?' ? c->reads[i] + 1 : c->reads[i]);
        int giver = fact >= 0 ? rows->givers[fact] : -1;
        if (giver >= 0 && !e->wants[giver].again &&
            rows_step_of(rows, rows->checks[giver]->id) == rows_step_of(rows, c->id))
            engine_want(e, giver, effect, true);
    }
}

void engine_want_step(struct engine *e, int step, enum effect effect, bool again)
{
    const struct rows *rows = wizard_rows(e->wizard);
    for (size_t i = 0; i < rows->check_count; i++)
        if (rows_step_of(rows, rows->checks[i]->id) == rows->steps[step])
            engine_want(e, (int)i, effect, again);
}

void engine_cancel(struct engine *e, int check)
{
    const struct rows *rows = wizard_rows(e->wizard);
    for (size_t i = 0; i < rows->check_count; i++)
        if (check < 0 || (size_t)check == i)
            e->wants[i] = (struct want){0};
    for (struct task *t = e->running; t != NULL; t = t->next)
        if (t->kind == TASK_CHECK && (check < 0 || t->index == (size_t)check))
            cancel_task(t);
}

bool engine_busy(const struct engine *e)
{
    if (e->running != NULL || e->applying)
        return true;
    for (size_t i = 0; i < wizard_rows(e->wizard)->check_count; i++)
        if (e->wants[i].wanted)
            return true;
    return false;
}

/* What a finding of this severity amounts to: only blocking and dangerous ones fail. */
static void seal(const struct check *c, struct outcome *o, const struct task *t)
{
    bool mild = c->severity == SEV_WARNS || c->severity == SEV_INFORMS;
    if (t->run != NULL && run_cancelled(t->run))
        o->status = STATUS_CANCELLED;
    else if (o->status == STATUS_FAILED && mild)
        o->status = STATUS_WARNED;
    else if (o->status == STATUS_UNREACHABLE && c->severity == SEV_INFORMS)
        o->status = STATUS_WARNED;
    else if (o->status == STATUS_NONE)
        bug("%s ended without a result", c->id);
    o->at = clock_wall();
    o->took_ms = clock_ms() - t->started;
}

static void check_finished(struct engine *e, struct task *t)
{
    int check = (int)t->index;
    seal(t->check, t->out, t);
    wizard_running(e->wizard, check, false, 0);
    log_line("%s: %s, %s (%lld ms)", t->check->id, status_name(t->out->status),
             t->out->line != NULL ? t->out->line : "", (long long)t->out->took_ms);
    if (t->out->status == STATUS_CANCELLED) {
        struct check_view v;
        wizard_check_view(e->wizard, check, &v);
        if (v.outcome == NULL) {
            t->out->digest = (struct digest){{0}};
            wizard_restore_outcome(e->wizard, check, t->out);
        }
    } else if (!wizard_put_outcome(e->wizard, check, t->out)) {
        e->wants[check] = (struct want){.wanted = true, .effect = t->check->effect};
        engine_emit(e, EVENT_CHECK_DROPPED, check, NULL);
        return;
    }
    engine_emit(e, EVENT_CHECK_DONE, check, NULL);
}

/* --- queue --------------------------------------------------------------------------------------
 */

static void unlink_task(struct engine *e, struct task *t)
{
    for (struct task **at = &e->running; *at != NULL; at = &(*at)->next)
        if (*at == t) {
            *at = t->next;
            return;
        }
}

static void take_in(struct engine *e, struct message *m)
{
    struct task *t = m->task;
    if (m->finished) {
        unlink_task(e, t);
        if (t->kind == TASK_CHECK)
            check_finished(e, t);
        else
            apply_finished(e, t);
        task_free(t);
    } else if (t->kind == TASK_CHECK) {
        wizard_progress(e->wizard, (int)t->index, m->done, m->total, m->doing);
        engine_emit(e, EVENT_CHECK_PROGRESS, (int)t->index, NULL);
    } else {
        apply_progress(e, t, m->doing);
    }
    xfree(m->doing);
    xfree(m);
}

void engine_pump(struct engine *e, void (*observe)(void *ctx, const struct event *ev), void *ctx)
{
    e->observe = observe;
    e->observe_ctx = ctx;
    uint64_t count;
    ssize_t n = read(e->fd, &count, sizeof(count));
    (void)n; /* EAGAIN: nothing was reported, but something may be wanted */
    pthread_mutex_lock(&e->lock);
    struct message *m = e->first;
    e->first = NULL;
    e->last = &e->first;
    pthread_mutex_unlock(&e->lock);
    while (m != NULL) {
        struct message *next = m->next;
        take_in(e, m);
        m = next;
    }
    schedule(e);
    e->observe = NULL;
}
