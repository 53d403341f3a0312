/* The connection cache with connections that only count: one opens for all, a failure is
 * everybody's, a leased one belongs to one thread, what is idle goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"
#include "net/conn.h"
#include "net/net.h"

struct fake {
    atomic_int users;
    atomic_bool dead;
};

static atomic_int opened, closed, overlaps;
static atomic_bool refuse;
static atomic_int open_ms;
static struct net *net;

static void *open_fake(struct run *run, void *context, struct problem *err)
{
    (void)context;
    atomic_fetch_add(&opened, 1);
    if (run_sleep(run, atomic_load(&open_ms), err) != 0)
        return NULL;
    if (atomic_load(&refuse)) {
        problem_fail(err, PROBLEM_REFUSED, "28P01", "refused");
        problem_fix(err, WHO_DBA, "another password");
        return NULL;
    }
    return xcalloc(1, sizeof(struct fake));
}

static void close_fake(void *conn)
{
    atomic_fetch_add(&closed, 1);
    xfree(conn);
}

static bool fake_alive(void *conn)
{
    return !atomic_load(&((struct fake *)conn)->dead);
}

static const struct conn_class leased = {"leased", false, open_fake, close_fake, fake_alive};
static const struct conn_class shared = {"shared", true, open_fake, close_fake, fake_alive};

static int set_up(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    atomic_store(&opened, 0);
    atomic_store(&closed, 0);
    atomic_store(&overlaps, 0);
    atomic_store(&refuse, false);
    atomic_store(&open_ms, 100);
    net = net_new(&(struct net_options){0}, &err);
    return net != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    net_free(net);
    return 0;
}

struct job {
    const struct conn_class *class;
    int deadline_ms;
    int hold_ms;
    struct run *run; /* given, or made here */
    char code[16];
    bool got;
};

static struct digest key_of(const char *s)
{
    return digest_of(s, strlen(s));
}

static void *use(void *arg)
{
    struct job *j = arg;
    struct run *run = j->run != NULL ? j->run : run_new_detached(NULL, net, j->deadline_ms);
    struct digest key = key_of("k");
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct fake *c = conn_lease(run, j->class, &key, NULL, &err);
    j->got = c != NULL;
    if (c != NULL) {
        if (atomic_fetch_add(&c->users, 1) > 0)
            atomic_fetch_add(&overlaps, 1);
        usleep((unsigned)j->hold_ms * 1000);
        atomic_fetch_sub(&c->users, 1);
        conn_return(run, j->class, &key, c, false);
    } else {
        strncpy(j->code, err.code, sizeof j->code - 1);
    }
    if (j->run == NULL)
        run_free(run);
    return NULL;
}

static void at_once(struct job *jobs, size_t count)
{
    pthread_t ids[32];
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&ids[i], NULL, use, &jobs[i]), 0);
    for (size_t i = 0; i < count; i++)
        pthread_join(ids[i], NULL);
}

static void one_opens_for_sixteen(void **state)
{
    (void)state;
    struct job jobs[16];
    for (size_t i = 0; i < 16; i++)
        jobs[i] = (struct job){.class = &shared, .deadline_ms = 2000, .hold_ms = 50};
    int64_t began = clock_ms();
    at_once(jobs, 16);
    assert_in_range(clock_ms() - began, 140, 400);
    assert_int_equal(atomic_load(&opened), 1);
    assert_true(atomic_load(&overlaps) > 0);
    for (size_t i = 0; i < 16; i++)
        assert_true(jobs[i].got);
}

static void a_lease_is_for_one_thread(void **state)
{
    (void)state;
    struct job jobs[16];
    for (size_t i = 0; i < 16; i++)
        jobs[i] = (struct job){.class = &leased, .deadline_ms = 150, .hold_ms = 20};
    at_once(jobs, 16); /* 16 * 20 ms: more than each deadline, which stands still while waiting */
    assert_int_equal(atomic_load(&opened), 1);
    assert_int_equal(atomic_load(&overlaps), 0);
    for (size_t i = 0; i < 16; i++)
        assert_true(jobs[i].got);
}

static void a_failure_is_everybodys(void **state)
{
    (void)state;
    atomic_store(&refuse, true);
    struct job jobs[16];
    for (size_t i = 0; i < 16; i++)
        jobs[i] = (struct job){.class = &leased, .deadline_ms = 2000};
    at_once(jobs, 16);
    assert_int_equal(atomic_load(&opened), 1);
    for (size_t i = 0; i < 16; i++) {
        assert_false(jobs[i].got);
        assert_string_equal(jobs[i].code, "28P01");
    }
    /* Who comes later tries again. */
    atomic_store(&refuse, false);
    struct job later = {.class = &leased, .deadline_ms = 2000};
    at_once(&later, 1);
    assert_true(later.got);
    assert_int_equal(atomic_load(&opened), 2);
}

static void cancelling_the_opener_lets_the_next_open(void **state)
{
    (void)state;
    atomic_store(&open_ms, 300);
    struct run *run = run_new_detached(NULL, net, 5000);
    struct job first = {.class = &leased, .run = run},
               second = {.class = &leased, .deadline_ms = 2000};
    pthread_t a, b;
    pthread_create(&a, NULL, use, &first);
    usleep(50000);
    pthread_create(&b, NULL, use, &second);
    usleep(50000);
    run_cancel_detached(run);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert_false(first.got);
    assert_true(second.got);
    assert_int_equal(atomic_load(&opened), 2);
    run_free(run);
}

static void a_waiter_can_be_cancelled(void **state)
{
    (void)state;
    atomic_store(&open_ms, 0);
    struct job holder = {.class = &leased, .deadline_ms = 5000, .hold_ms = 600};
    struct run *run = run_new_detached(NULL, net, 5000);
    struct job waiter = {.class = &leased, .run = run};
    pthread_t a, b;
    pthread_create(&a, NULL, use, &holder);
    usleep(50000);
    pthread_create(&b, NULL, use, &waiter);
    usleep(50000);
    int64_t began = clock_ms();
    run_cancel_detached(run);
    pthread_join(b, NULL);
    assert_in_range(clock_ms() - began, 0, 100);
    assert_false(waiter.got);
    pthread_join(a, NULL);
    run_free(run);
}

static void broken_and_dead_ones_are_replaced(void **state)
{
    (void)state;
    atomic_store(&open_ms, 0);
    struct run *run = run_new_detached(NULL, net, 5000);
    struct digest key = key_of("k"), other = key_of("o");
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct fake *c = conn_lease(run, &leased, &key, NULL, &err);
    conn_return(run, &leased, &key, c, true);
    assert_int_equal(atomic_load(&closed), 1);
    c = conn_lease(run, &leased, &key, NULL, &err);
    assert_int_equal(atomic_load(&opened), 2);
    atomic_store(&c->dead, true);
    conn_return(run, &leased, &key, c, false);
    c = conn_lease(run, &leased, &key, NULL, &err);
    assert_int_equal(atomic_load(&opened), 3);
    assert_int_equal(atomic_load(&closed), 2);
    struct fake *d = conn_lease(run, &leased, &other, NULL, &err);
    assert_ptr_not_equal(c, d);
    conn_return(run, &leased, &key, c, false);
    conn_return(run, &leased, &other, d, false);
    run_free(run);
}

/* A shared one that has run out is renewed while others still use the old one. */
static void a_shared_one_is_renewed_under_use(void **state)
{
    (void)state;
    atomic_store(&open_ms, 0);
    struct run *run = run_new_detached(NULL, net, 5000);
    struct digest key = key_of("k");
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct fake *a = conn_lease(run, &shared, &key, NULL, &err);
    atomic_store(&a->dead, true);
    struct fake *b = conn_lease(run, &shared, &key, NULL, &err);
    assert_ptr_not_equal(a, b);
    assert_int_equal(atomic_load(&closed), 0);
    conn_return(run, &shared, &key, a, false);
    assert_int_equal(atomic_load(&closed), 1);
    conn_return(run, &shared, &key, b, false);
    assert_int_equal(atomic_load(&closed), 1);
    run_free(run);
}

static void idle_ones_are_trimmed(void **state)
{
    (void)state;
    atomic_store(&open_ms, 0);
    struct run *run = run_new_detached(NULL, net, 5000);
    struct digest key = key_of("k"), other = key_of("o");
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct fake *a = conn_lease(run, &leased, &key, NULL, &err);
    struct fake *b = conn_lease(run, &leased, &other, NULL, &err);
    conn_return(run, &leased, &key, a, false);
    conn_trim(net, 1000);
    assert_int_equal(atomic_load(&closed), 0);
    usleep(30000);
    conn_trim(net, 10);
    assert_int_equal(atomic_load(&closed), 1);
    conn_return(run, &leased, &other, b, false);
    run_free(run);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(one_opens_for_sixteen),
        CASE(a_lease_is_for_one_thread),
        CASE(a_failure_is_everybodys),
        CASE(cancelling_the_opener_lets_the_next_open),
        CASE(a_waiter_can_be_cancelled),
        CASE(broken_and_dead_ones_are_replaced),
        CASE(a_shared_one_is_renewed_under_use),
        CASE(idle_ones_are_trimmed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
