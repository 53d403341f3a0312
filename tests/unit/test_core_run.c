/* Runs: what may be read, how long it may take, and that a cancel is felt at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/bug.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/run_make.h"
#include "core/secret.h"
#include "core/snapshot_make.h"
#include "test_death.h"

#define IDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void hash_nothing(const void *data, struct hasher *h)
{
    (void)data;
    (void)h;
}

static const struct fact_type text_type = {.name = "text", .release = xfree, .hash = hash_nothing};

static void nothing(struct run *run, struct outcome *out)
{
    (void)run;
    (void)out;
}

static const struct field name = {.id = "a.name", .label = "Name", .initial = "shop"};
static const struct field on = {
    .id = "a.on", .kind = FIELD_SWITCH, .label = "On", .initial = "yes"};
static const struct field key = {.id = "a.key", .kind = FIELD_SECRET, .label = "Key"};
static const struct check survey = {.id = "a.survey",
                                    .title = "gives",
                                    .reads = IDS("a.name", "?a.on"),
                                    .gives = IDS("a.fact"),
                                    .run = nothing};
static const struct check blind = {.id = "a.blind", .title = "reads nothing", .run = nothing};
static const struct step step = {.id = "a",
                                 .fields = (const struct field *const[]){&name, &on, &key, NULL},
                                 .checks = (const struct check *const[]){&survey, &blind, NULL}};
static const struct step *const steps[] = {&step, NULL};

struct world {
    struct rows rows;
    struct snapshot *snapshot;
};

static int set_up(void **state)
{
    struct world *w = xcalloc(1, sizeof *w);
    assert_int_equal(rows_init(&w->rows, steps, NULL), 0);
    struct secret *s = secret_new("correct horse", 13);
    struct value *answers[3] = {NULL, NULL, value_secret(s, NULL, NULL)};
    struct fact *fact = fact_new(&text_type, xstrdup("learnt"));
    w->snapshot = snapshot_make(&w->rows, answers, NULL, &fact, NULL);
    fact_unref(fact);
    value_unref(answers[2]);
    secret_unref(s);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    snapshot_unref(w->snapshot);
    rows_release(&w->rows);
    xfree(w);
    return 0;
}

static struct run *run_of(const struct world *w, const struct check *c)
{
    const struct run_spec spec = {.snapshot = w->snapshot, .check = c};
    struct run *run = run_make(&spec, NULL);
    assert_non_null(run);
    return run;
}

static void read_undeclared(void *run)
{
    run_secret(run, "a.key");
}

static void read_own_fact(void *run)
{
    run_fact(run, "a.fact", &text_type);
}

static void read_unknown(void *run)
{
    run_text(run, "a.nowhere");
}

static void test_reads(void **state)
{
    struct run *run = run_of(*state, &survey);
    assert_string_equal(run_text(run, "a.name"), "shop");
    assert_true(run_on(run, "a.on"));
    assert_string_equal(run_value(run, "a.name")->text, "shop");
    assert_null(run_net(run));
    assert_dies(read_undeclared, run, 70,
                "check a.survey reads a.key, which is not among its reads");
    assert_dies(read_own_fact, run, 70, "a.fact, which is not among its reads");
    run_free(run);

    run = run_of(*state, &blind);
    assert_dies(read_undeclared, run, 70, "check a.blind reads a.key");
    run_free(run);

    run = run_of(*state, NULL); /* a change */
    assert_int_equal(secret_len(run_secret(run, "a.key")), 13);
    assert_string_equal(run_fact(run, "a.fact", &text_type), "learnt");
    assert_dies(read_unknown, run, 70, "a.nowhere is read, which is no field");
    run_free(run);

    run = run_new_detached(NULL, NULL, 0);
    assert_string_equal(run_text(run, "a.name"), "");
    assert_false(run_on(run, "a.on"));
    assert_null(run_value(run, "a.name"));
    assert_null(run_secret(run, "a.key"));
    assert_null(run_fact(run, "a.fact", &text_type));
    run_free(run);
    run_free(NULL);
}

static void test_deadline(void **state)
{
    struct run *run = run_of(*state, &survey);
    assert_in_range(run_left_ms(run), 10000, 15000);
    run_free(run);
    run = run_of(*state, NULL);
    assert_in_range(run_left_ms(run), 20000, 30000);
    assert_in_range(run_deadline(run), clock_ms() + 20000, clock_ms() + 30000);
    assert_int_equal(run_over(run, "asking", NULL), 0);
    run_free(run);

    AUTO_PROBLEM err = PROBLEM_INIT;
    run = run_new_detached(NULL, NULL, 20);
    assert_int_equal(run_sleep(run, 5000, &err), -1);
    assert_int_equal(err.kind, PROBLEM_UNREACHABLE);
    assert_string_equal(err.what, "no answer within 20 ms while waiting");
    assert_int_equal(err.who, WHO_NETWORK);
    assert_int_equal(run_left_ms(run), 0);
    assert_true(run_deadline(run) <= clock_ms());
    assert_int_equal(run_over(run, "asking", NULL), -1);
    run_free(run);

    run = run_new_detached(NULL, NULL, 60000);
    int64_t before = clock_ms();
    assert_int_equal(run_sleep(run, 30, &err), 0);
    assert_in_range(clock_ms() - before, 30, 30000);
    assert_int_equal(run_sleep(run, 0, &err), 0);
    run_free(run);
    run = run_new_detached(NULL, NULL, 1000);
    assert_int_equal(run_sleep(run, 5000, &err), -1);
    assert_string_equal(err.what, "no answer within 1 s while waiting");
    run_free(run);
}

static void resume(void *run)
{
    run_resume(run);
}

static void test_pause(void **state)
{
    (void)state;
    struct run *run = run_new_detached(NULL, NULL, 60000);
    run_pause(run);
    run_pause(run); /* a lease inside a lease */
    int left = run_left_ms(run);
    int64_t deadline = run_deadline(run);
    usleep(60 * 1000);
    assert_int_equal(run_left_ms(run), left);
    assert_true(run_deadline(run) >= deadline + 50);
    run_resume(run);
    usleep(20 * 1000);
    assert_int_equal(run_left_ms(run), left);
    run_resume(run);
    assert_in_range(run_left_ms(run), left - 20000, left);
    usleep(20 * 1000);
    assert_true(run_left_ms(run) <= left - 20);
    assert_dies(resume, run, 70, "resumed more often than paused");
    run_free(run);

    /* Once over, a pause does not bring it back. */
    run = run_new_detached(NULL, NULL, 1);
    usleep(5000);
    run_pause(run);
    assert_int_equal(run_over(run, "asking", NULL), -1);
    run_resume(run);
    assert_int_equal(run_over(run, "asking", NULL), -1);
    run_free(run);
}

static bool readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

static void *cancel_later(void *run)
{
    usleep(50 * 1000);
    run_cancel_detached(run);
    return NULL;
}

static void test_cancel(void **state)
{
    (void)state;
    struct run *run = run_new_detached(NULL, NULL, 60000);
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_false(run_cancelled(run));
    assert_false(readable(run_cancel_fd(run)));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_later, run), 0);
    int64_t before = clock_ms();
    assert_int_equal(run_sleep(run, 30000, &err), -1);
    assert_in_range(clock_ms() - before, 40, 20000);
    pthread_join(thread, NULL);
    assert_int_equal(err.kind, PROBLEM_CANCELLED);
    assert_string_equal(err.what, "cancelled while waiting");
    assert_true(run_cancelled(run));
    run_cancel(run);
    assert_true(readable(run_cancel_fd(run)));
    assert_true(readable(run_cancel_fd(run))); /* stays so */
    assert_int_equal(run_over(run, "asking", &err), -1);
    assert_string_equal(err.what, "cancelled while asking");
    run_free(run);
    run_cancel(NULL);
    assert_false(run_cancelled(NULL));
}

static void *pause_and_resume(void *run)
{
    for (int i = 0; i < 5000; i++) {
        run_pause(run);
        run_resume(run);
    }
    return NULL;
}

/* Another thread (net's) may ask for the time while the run's own one pauses it (thread sanitizer).
 */
static void test_clock_is_shared(void **state)
{
    (void)state;
    struct run *run = run_new_detached(NULL, NULL, 60000);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, pause_and_resume, run), 0);
    for (int i = 0; i < 5000; i++) {
        assert_true(run_left_ms(run) > 0);
        assert_false(run_cancelled(run));
    }
    pthread_join(thread, NULL);
    assert_int_equal(run_over(run, "asking", NULL), 0);
    run_free(run);
}

struct reports {
    int count;
    int64_t done, total;
    char *what;
};

static void note(void *ctx, int64_t done, int64_t total, const char *what)
{
    struct reports *r = ctx;
    r->count++;
    r->done = done;
    r->total = total;
    xreplace(&r->what, what);
}

static void test_reports(void **state)
{
    struct world *w = *state;
    struct reports seen = {0};
    const struct run_spec spec = {
        .snapshot = w->snapshot, .id = "a.change", .progress = note, .ctx = &seen};
    struct run *run = run_make(&spec, NULL);
    run_progress(run, 3, 12, "table \033[2Jx of correct horse");
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.done, 3);
    assert_int_equal(seen.total, 12);
    assert_string_equal(seen.what, "table ^[[2Jx of [redacted]");
    run_progress(run, 4, 0, NULL);
    assert_null(seen.what);
    run_log(run, "sent %d to correct horse", 1);
    run_free(run);

    size_t count = 0;
    char **lines = log_recent(1, &count);
    assert_int_equal(count, 1);
    assert_non_null(strstr(lines[0], " a.change: sent 1 to [redacted]"));
    xfree(lines[0]);
    xfree(lines);

    run = run_of(w, &survey);
    run_progress(run, 1, 1, "nobody looks");
    run_free(run);
    log_close();
}

static void test_no_descriptor(void **state)
{
    (void)state;
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    struct rlimit none = {.rlim_cur = 0, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    AUTO_PROBLEM err = PROBLEM_INIT;
    const struct run_spec spec = {.check = &survey};
    struct run *run = run_make(&spec, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_null(run);
    assert_int_equal(err.kind, PROBLEM_LOCAL);
    assert_string_equal(err.what, "cannot start a.survey: Too many open files");
}

static void restore_terminal(void)
{
    ssize_t ignored = write(STDERR_FILENO, "<restored>", 10);
    (void)ignored;
}

static void *bug_on_thread(void *arg)
{
    bug("found by %s\033[2J", (const char *)arg);
}

static void two_bugs(void *arg)
{
    (void)arg;
    bug_on(restore_terminal);
    char first[] = "one", second[] = "other";
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, bug_on_thread, first);
    pthread_create(&threads[1], NULL, bug_on_thread, second);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

static void test_bug_restores_the_terminal(void **state)
{
    (void)state;
    assert_dies(two_bugs, NULL, 70, "<restored>sluice: a bug in sluice: found by o");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),           cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_pause),           cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_clock_is_shared), cmocka_unit_test(test_reports),
        cmocka_unit_test(test_no_descriptor),   cmocka_unit_test(test_bug_restores_the_terminal),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
