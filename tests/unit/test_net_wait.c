/* HTTP in time: deadlines, cancel, retries, many at once, nothing to do, the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/clock.h"
#include "net/http.h"
#include "net/net.h"
#include "net_fixture.h"

static void deadline_names_the_phase(void **state)
{
    static const struct {
        const char *path;
        const char *phase;
    } rows[] = {{"/silent", "waiting for the answer"}, {"/dribble", "reading the answer"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_HTTP_RESPONSE r = {0};
        AUTO_PROBLEM err = PROBLEM_INIT;
        int64_t began = clock_ms();
        assert_int_equal(get(*state, rows[i].path, 400, 0, &r, &err), -1);
        assert_in_range(clock_ms() - began, 380, 700);
        assert_int_equal(err.kind, PROBLEM_UNREACHABLE);
        assert_string_equal(err.code, "curl 28");
        assert_non_null(strstr(err.what, rows[i].phase));
    }
}

static void *cancel_soon(void *arg)
{
    usleep(150000);
    run_cancel_detached(arg);
    return NULL;
}

static void cancel_returns_at_once(void **state)
{
    struct fixture *f = *state;
    AUTO(xfree) char *url = url_of(f, "/silent");
    struct run *run = run_new_detached(NULL, f->net, 30000);
    pthread_t id;
    int64_t began = clock_ms();
    assert_int_equal(pthread_create(&id, NULL, cancel_soon, run), 0);
    AUTO_HTTP_REQUEST q;
    http_request_init(&q, "GET", url);
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(http_send(run, &q, &r, &err), -1);
    int64_t took = clock_ms() - began;
    assert_in_range(took, 140, 250);
    assert_int_equal(err.kind, PROBLEM_CANCELLED);
    /* The connection is closed on the other side too. */
    for (int i = 0; i < 100 && atomic_load(&f->server.open) > 1; i++)
        usleep(10000);
    AUTO_PROBLEM again = PROBLEM_INIT;
    assert_int_equal(http_send(run, &q, &r, &again), -1);
    assert_int_equal(again.kind, PROBLEM_CANCELLED);
    pthread_join(id, NULL);
    run_free(run);
}

static void retries_after_what_is_asked(void **state)
{
    struct fixture *f = *state;
    AUTO(xfree) char *url = url_of(f, "/flaky");
    AUTO_HTTP_REQUEST q;
    http_request_init(&q, "GET", url);
    atomic_store(&f->server.requests, 0);
    struct run *run = run_new_detached(NULL, f->net, 10000);
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    int64_t began = clock_ms();
    assert_int_equal(http_send_retrying(run, &q, 3, &r, &err), 0);
    assert_int_equal(r.status, 200);
    assert_in_range(clock_ms() - began, 1000, 1800);
    assert_int_equal(atomic_load(&f->server.requests), 2);
    run_free(run);
    /* Never past the deadline: the last answer stands. */
    atomic_store(&f->server.requests, 0);
    run = run_new_detached(NULL, f->net, 600);
    AUTO_HTTP_RESPONSE r2 = {0};
    assert_int_equal(http_send_retrying(run, &q, 3, &r2, &err), 0);
    assert_int_equal(r2.status, 503);
    assert_int_equal(atomic_load(&f->server.requests), 1);
    run_free(run);
}

static void long_waits_are_left_to_the_caller(void **state)
{
    struct fixture *f = *state;
    AUTO(xfree) char *url = url_of(f, "/long-wait");
    AUTO_HTTP_REQUEST q;
    http_request_init(&q, "GET", url);
    struct run *run = run_new_detached(NULL, f->net, 10000);
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    int before = atomic_load(&f->server.requests);
    assert_int_equal(http_send_retrying(run, &q, 3, &r, &err), 0);
    assert_int_equal(r.status, 429);
    assert_int_equal(atomic_load(&f->server.requests) - before, 1);
    run_free(run);
}

static void retries_a_cut_connection(void **state)
{
    struct fixture *f = *state;
    AUTO(xfree) char *url = url_of(f, "/empty");
    AUTO_HTTP_REQUEST q;
    http_request_init(&q, "GET", url);
    struct run *run = run_new_detached(NULL, f->net, 10000);
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    int before = atomic_load(&f->server.requests);
    assert_int_equal(http_send_retrying(run, &q, 3, &r, &err), -1);
    assert_string_equal(err.code, "curl 52");
    /* libcurl itself sends a GET again when the connection was a kept one. */
    assert_in_range(atomic_load(&f->server.requests) - before, 3, 4);
    run_free(run);
}

/* The kept connection is closed when the request arrives: libcurl alone would send it again. */
static void a_post_arrives_once(void **state)
{
    struct fixture *f = *state;
    AUTO_HTTP_RESPONSE warm = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(get(f, "/ok", 5000, 0, &warm, &err), 0);
    AUTO(xfree) char *url = url_of(f, "/empty");
    AUTO_HTTP_REQUEST q;
    http_request_init(&q, "POST", url);
    http_request_body(&q, "text/plain", "make one", 8);
    struct run *run = run_new_detached(NULL, f->net, 5000);
    AUTO_HTTP_RESPONSE r = {0};
    int before = atomic_load(&f->server.requests);
    int connections = atomic_load(&f->server.connections);
    assert_int_equal(http_send(run, &q, &r, &err), -1);
    assert_string_equal(err.code, "curl 52");
    assert_int_equal(atomic_load(&f->server.requests) - before, 1);
    assert_in_range(atomic_load(&f->server.connections) - connections, 0, 1);
    run_free(run);
}

static void *one_of_many(void *arg)
{
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    intptr_t good = get(arg, "/slow", 10000, 0, &r, &err) == 0 && strcmp(r.body.s, "slow") == 0;
    return (void *)good;
}

static void sixty_four_at_once(void **state)
{
    pthread_t ids[64];
    int64_t began = clock_ms();
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        assert_int_equal(pthread_create(&ids[i], NULL, one_of_many, *state), 0);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        void *good;
        pthread_join(ids[i], &good);
        assert_non_null(good);
    }
    assert_in_range(clock_ms() - began, 200, 3000);
}

static void *hang_until_the_end(void *arg)
{
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    int rc = get(arg, "/silent", 20000, 0, &r, &err);
    return (void *)(intptr_t)(rc == -1 && err.kind == PROBLEM_CANCELLED);
}

/* net_free with a request under way: the caller gets an answer, nothing is touched afterwards. */
static void ending_the_net_ends_requests(void **state)
{
    struct fixture *f = *state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct fixture mine = {.server = {.port = f->server.port}};
    mine.net = net_new(&(struct net_options){0}, &err);
    assert_non_null(mine.net);
    pthread_t id;
    assert_int_equal(pthread_create(&id, NULL, hang_until_the_end, &mine), 0);
    usleep(200000);
    net_free(mine.net);
    void *good;
    pthread_join(id, &good);
    assert_non_null(good);
}

/* How often the threads of that name have gone to sleep. */
static long sleeps_of(const char *name)
{
    long sum = 0;
    for (int tid = getpid(); tid < getpid() + 2000; tid++) {
        AUTO(xfree) char *path = xasprintf("/proc/self/task/%d/status", tid);
        FILE *f = fopen(path, "r");
        if (f == NULL)
            continue;
        char line[256];
        bool ours = false;
        while (fgets(line, sizeof line, f) != NULL) {
            ours = ours || (strncmp(line, "Name:", 5) == 0 && strstr(line, name) != NULL);
            if (ours && strncmp(line, "voluntary_ctxt_switches:", 24) == 0)
                sum += atol(line + 24);
        }
        fclose(f);
    }
    return sum;
}

/* With a kept connection and nothing to do the network thread is not woken. */
static void idle_means_asleep(void **state)
{
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(get(*state, "/ok", 5000, 0, &r, &err), 0);
    usleep(300000);
    long before = sleeps_of("sluice-net");
    assert_true(before > 0);
    usleep(1500000);
    assert_int_equal(sleeps_of("sluice-net"), before);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadline_names_the_phase),
        cmocka_unit_test(cancel_returns_at_once),
        cmocka_unit_test(retries_after_what_is_asked),
        cmocka_unit_test(long_waits_are_left_to_the_caller),
        cmocka_unit_test(retries_a_cut_connection),
        cmocka_unit_test(a_post_arrives_once),
        cmocka_unit_test(sixty_four_at_once),
        cmocka_unit_test(idle_means_asleep),
        cmocka_unit_test(ending_the_net_ends_requests),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
