/* The connection cache. A slot is one connection, or one attempt to open it; threads that cannot
 * have it yet wait on an eventfd of their own, so that cancel is seen at once. Nothing is opened or
 * closed under the lock. */
#include "net/conn.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/bug.h"
#include "core/clock.h"
#include "core/mem.h"
#include "net/net_impl.h"

struct waiter {
    struct waiter *next;
    int wake;    /* eventfd: look again */
    bool failed; /* the attempt it waited for failed, `problem` says how */
    struct problem problem;
};

struct slot {
    struct slot *next;
    const struct conn_class *class;
    struct digest key;
    void *conn; /* NULL while it is being opened, and once it is closed */
    int leases;
    bool retired; /* nobody gets it any more; closed with the last lease, freed with the last waiter
                   */
    int64_t used; /* clock_ms() of the last return */
    struct waiter *waiters;
};

struct conn_cache {
    pthread_mutex_t lock;
    struct slot *slots;
};

struct conn_cache *conn_cache_new(void)
{
    struct conn_cache *c = xcalloc(1, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

static struct slot *find(struct conn_cache *c, const struct conn_class *class,
                         const struct digest *key)
{
    for (struct slot *s = c->slots; s != NULL; s = s->next) {
        if (s->class == class && !s->retired && memcmp(s->key.b, key->b, sizeof key->b) == 0)
            return s;
    }
    return NULL;
}

static struct slot *add(struct conn_cache *c, const struct conn_class *class,
                        const struct digest *key)
{
    struct slot *s = xcalloc(1, sizeof *s);
    s->class = class;
    s->key = *key;
    s->next = c->slots;
    c->slots = s;
    return s;
}

/* All look again: who comes first gets it, the others wait anew. */
static void wake_all(struct slot *slot)
{
    const uint64_t one = 1;
    for (struct waiter *w = slot->waiters; w != NULL; w = w->next) {
        ssize_t ignored = write(w->wake, &one, sizeof one);
        (void)ignored;
    }
}

/* Frees a retired slot that nobody holds. */
static void dispose(struct conn_cache *c, struct slot *slot)
{
    if (!slot->retired || slot->conn != NULL || slot->waiters != NULL)
        return;
    struct slot **p = &c->slots;
    while (*p != slot)
        p = &(*p)->next;
    *p = slot->next;
    xfree(slot);
}

/* Takes a slot out of use. Returns the connection that must be closed after unlocking, NULL while
 * it is leased. The slot may be gone afterwards. */
static void *retire(struct conn_cache *c, struct slot *slot)
{
    slot->retired = true;
    void *doomed = NULL;
    if (slot->leases == 0) {
        doomed = slot->conn;
        slot->conn = NULL;
    }
    wake_all(slot);
    dispose(c, slot);
    return doomed;
}

static void copy_problem(struct problem *to, const struct problem *from)
{
    problem_fail(to, from->kind, from->code, "%s", from->what != NULL ? from->what : "");
    if (from->why != NULL)
        problem_why(to, "%s", from->why);
    if (from->fix != NULL)
        problem_fix(to, from->who, "%s", from->fix);
    if (from->evidence != NULL)
        problem_evidence(to, "%s", from->evidence);
    if (from->copy != NULL)
        problem_copy_command(to, "%s", from->copy);
}

/* The first caller opens. A failure belongs to all who waited for it, save that a cancel is this
 * caller's own: then the next one tries. */
static void *open_slot(struct run *run, struct conn_cache *c, struct slot *slot, void *context,
                       struct problem *err)
{
    AUTO_PROBLEM mine = PROBLEM_INIT;
    void *conn = slot->class->open(run, context, &mine);
    if (conn == NULL && mine.kind == PROBLEM_NONE)
        bug("opening a connection of class %s failed without a problem", slot->class->name);
    pthread_mutex_lock(&c->lock);
    if (conn != NULL) {
        slot->conn = conn;
        slot->leases = 1;
        wake_all(slot);
    } else {
        for (struct waiter *w = slot->waiters; w != NULL && mine.kind != PROBLEM_CANCELLED;
             w = w->next) {
            w->failed = true;
            copy_problem(&w->problem, &mine);
        }
        retire(c, slot);
    }
    pthread_mutex_unlock(&c->lock);
    if (conn == NULL)
        problem_move(err, &mine);
    return conn;
}

static void leave(struct slot *slot, const struct waiter *w)
{
    struct waiter **p = &slot->waiters;
    while (*p != w)
        p = &(*p)->next;
    *p = w->next;
}

/* Waits until the slot may have changed; called and left with the lock held. 0, or -1 and err. */
static int wait_turn(struct run *run, struct conn_cache *c, struct slot *slot, struct problem *err)
{
    struct waiter w = {.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .problem = PROBLEM_INIT};
    if (w.wake < 0)
        return problem_errno(err, errno, "cannot wait for a connection");
    w.next = slot->waiters;
    slot->waiters = &w;
    pthread_mutex_unlock(&c->lock);
    run_pause(run);
    enum net_waited waited = net_wait(run, w.wake, POLLIN, -1);
    run_resume(run);
    pthread_mutex_lock(&c->lock);
    leave(slot, &w);
    dispose(c, slot);
    close(w.wake);
    int rc = 0;
    if (w.failed) {
        problem_move(err, &w.problem);
        rc = -1;
    } else if (waited != NET_READY) {
        rc = run_over(run, "waiting for a connection", err);
    }
    problem_release(&w.problem);
    return rc;
}

void *conn_lease(struct run *run, const struct conn_class *class, const struct digest *key,
                 void *context, struct problem *err)
{
    struct conn_cache *c = run_net(run)->conns;
    void *conn = NULL;
    int rc = 0;
    pthread_mutex_lock(&c->lock);
    while (rc == 0 && conn == NULL) {
        struct slot *slot = find(c, class, key);
        if (slot == NULL) {
            slot = add(c, class, key);
            pthread_mutex_unlock(&c->lock);
            return open_slot(run, c, slot, context, err);
        }
        if (slot->conn == NULL || (!class->shared && slot->leases > 0)) {
            rc = wait_turn(run, c, slot, err);
        } else if (class->alive == NULL || class->alive(slot->conn)) {
            slot->leases++;
            conn = slot->conn;
        } else {
            void *doomed = retire(c, slot);
            pthread_mutex_unlock(&c->lock);
            if (doomed != NULL)
                class->close(doomed);
            pthread_mutex_lock(&c->lock);
        }
    }
    pthread_mutex_unlock(&c->lock);
    return conn;
}

static struct slot *slot_of(struct conn_cache *c, const struct conn_class *class, const void *conn)
{
    for (struct slot *s = c->slots; s != NULL; s = s->next) {
        if (s->class == class && s->conn == conn)
            return s;
    }
    bug("a connection of class %s is returned that was not leased", class->name);
}

void conn_return(struct run *run, const struct conn_class *class, const struct digest *key,
                 void *conn, bool broken)
{
    (void)key;
    if (conn == NULL)
        return;
    struct conn_cache *c = run_net(run)->conns;
    void *doomed = NULL;
    pthread_mutex_lock(&c->lock);
    struct slot *slot = slot_of(c, class, conn);
    slot->leases--;
    slot->used = clock_ms();
    if (broken || slot->retired)
        doomed = retire(c, slot);
    else
        wake_all(slot);
    pthread_mutex_unlock(&c->lock);
    if (doomed != NULL)
        class->close(doomed);
}

/* One that may go, taken out; false when there is none. */
static bool take_idle(struct conn_cache *c, int64_t before, const struct conn_class **class,
                      void **conn)
{
    bool found = false;
    pthread_mutex_lock(&c->lock);
    for (struct slot *s = c->slots; s != NULL && !found; s = s->next) {
        if (s->conn == NULL || s->leases > 0 || s->used > before)
            continue;
        found = true;
        *class = s->class;
        *conn = retire(c, s);
        break;
    }
    pthread_mutex_unlock(&c->lock);
    return found;
}

void conn_trim(struct net *net, int max_idle_ms)
{
    const struct conn_class *class;
    void *conn;
    int64_t before = clock_ms() - max_idle_ms;
    while (take_idle(net->conns, before, &class, &conn))
        class->close(conn);
}

void conn_cache_free(struct conn_cache *c)
{
    if (c == NULL)
        return;
    while (c->slots != NULL) {
        struct slot *s = c->slots;
        c->slots = s->next;
        if (s->conn != NULL)
            s->class->close(s->conn);
        xfree(s);
    }
    pthread_mutex_destroy(&c->lock);
    xfree(c);
}
