/* Requests through a proxy that refuses, hangs, hangs up or wants another login: what is said, and
 * how often it is asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/clock.h"
#include "net_fixture.h"

static struct net *net_behind(const char *proxy)
{
    setenv("HTTPS_PROXY", proxy, 1);
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct net *net = net_new(&(struct net_options){0}, &err);
    unsetenv("HTTPS_PROXY");
    assert_non_null(net);
    return net;
}

static int set_up_proxy(void **state)
{
    static struct fixture f;
    server_start(&f.server);
    AUTO(xfree) char *proxy = xasprintf("http://127.0.0.1:%d", f.server.port);
    unsetenv("https_proxy");
    unsetenv("NO_PROXY");
    unsetenv("no_proxy");
    f.net = net_behind(proxy);
    *state = &f;
    return 0;
}

/* Asks the host with so many tries and so long for a connection; how often the proxy was asked. */
static int ask(struct fixture *f, struct run *run, const char *host, int tries, int connect_ms,
               struct problem *err)
{
    AUTO(xfree) char *url = xasprintf("https://%s/", host);
    AUTO_HTTP_REQUEST q;
    http_request_init(&q, "GET", url);
    q.connect_ms = connect_ms;
    AUTO_HTTP_RESPONSE r = {0};
    int before = atomic_load(&f->server.requests);
    assert_int_equal(http_send_retrying(run, &q, tries, &r, err), -1);
    return atomic_load(&f->server.requests) - before;
}

static int ask_once(struct fixture *f, const char *host, struct problem *err)
{
    struct run *run = run_new_detached(NULL, f->net, 10000);
    int asked = ask(f, run, host, 1, 300, err);
    run_free(run);
    return asked;
}

static void assert_word(const char *text, const char *word, const char *of)
{
    if (text == NULL || strstr(text, word) == NULL)
        fail_msg("%s: \"%s\" is not in \"%s\"", of, word, text != NULL ? text : "(none)");
}

static void what_failed_is_told_apart(void **state)
{
    static const struct {
        const char *host, *code;
        enum who who;
        const char *what, *why, *fix;
    } rows[] = {
        {"say-407.test", "proxy 407", WHO_YOU, "does not let say-407.test through", "wants a login",
         "USER:PASSWORD@"},
        {"say-403.test", "proxy 403", WHO_NETWORK, "does not let say-403.test through", "rules",
         "allow say-403.test:443"},
        {"say-502.test", "proxy 502", WHO_NETWORK, "cannot reach say-502.test", "no connection",
         "Try again"},
        {"say-503.test", "proxy 503", WHO_NETWORK, "cannot reach say-503.test", "for the moment",
         "does not reach say-503.test:443"},
        {"say-504.test", "proxy 504", WHO_NETWORK, "cannot reach say-504.test", "for the moment",
         "NO_PROXY"},
        {"say-405.test", "proxy 405", WHO_YOU, "no tunnel to say-405.test", "web server",
         "Correct HTTPS_PROXY"},
        {"say-501.test", "proxy 501", WHO_YOU, "no tunnel to say-501.test", "web server",
         "Correct HTTPS_PROXY"},
        {"say-500.test", "proxy 500", WHO_NETWORK, "does not let say-500.test", "fault of its own",
         "say-500.test:443"},
        {"silent.test", "curl 28", WHO_NETWORK, "silent.test within 0 s (connecting through",
         "The proxy does not answer, or",
         "reaches silent.test:443; or exempt the host by NO_PROXY"},
        {"tunnel.test", "curl 28", WHO_NETWORK, "(the TLS handshake through", "The proxy has",
         "NO_PROXY"},
        {"empty.test", "curl 56", WHO_NETWORK, "hung up instead of connecting to empty.test", NULL,
         "HTTPS_PROXY"},
    };
    struct fixture *f = *state;
    AUTO(xfree) char *place = xasprintf("the proxy 127.0.0.1:%d", f->server.port);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_int_equal(ask_once(f, rows[i].host, &err), 1);
        assert_int_equal(err.kind, PROBLEM_UNREACHABLE);
        assert_string_equal(err.code, rows[i].code);
        assert_int_equal(err.who, rows[i].who);
        assert_word(err.what, place, rows[i].host);
        assert_word(err.what, rows[i].what, rows[i].host);
        assert_true((err.why == NULL) == (rows[i].why == NULL));
        if (rows[i].why != NULL)
            assert_word(err.why, rows[i].why, rows[i].host);
        assert_word(err.fix, rows[i].fix, rows[i].host);
        assert_word(err.evidence, "through the proxy", rows[i].host);
    }
}

/* A silent one is not given its whole time again. */
static void what_cannot_end_otherwise_is_asked_once(void **state)
{
    static const struct {
        const char *host;
        int asked;
    } rows[] = {{"say-407.test", 1}, {"say-403.test", 1}, {"say-502.test", 1},
                {"silent.test", 1},  {"tunnel.test", 1},  {"empty.test", 3}};
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        struct run *run = run_new_detached(NULL, f->net, 10000);
        int asked = ask(f, run, rows[i].host, 3, 300, &err);
        if (asked != rows[i].asked)
            fail_msg("%s was asked for %d times", rows[i].host, asked);
        assert_int_equal(http_is_final(&err), rows[i].asked == 1);
        run_free(run);
    }
}

static void the_run_s_end_names_the_proxy_too(void **state)
{
    struct fixture *f = *state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct run *run = run_new_detached(NULL, f->net, 300);
    ask(f, run, "silent.test", 3, 0, &err);
    assert_string_equal(err.code, "curl 28");
    assert_word(err.what, "connecting through the proxy 127.0.0.1:", "deadline");
    assert_word(err.evidence, "through the proxy", "deadline");
    run_free(run);
}

static void *cancel_soon(void *run)
{
    usleep(150000);
    run_cancel_detached(run);
    return NULL;
}

static void a_cancel_tells_what_was_waited_for(void **state)
{
    static const struct {
        const char *host, *phase;
    } rows[] = {{"silent.test", "connecting through the proxy 127.0.0.1:"},
                {"tunnel.test", "the TLS handshake through the proxy 127.0.0.1:"},
                {"empty.test", "ask again; last: the proxy 127.0.0.1:"}};
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        struct run *run = run_new_detached(NULL, f->net, 10000);
        pthread_t id;
        assert_int_equal(pthread_create(&id, NULL, cancel_soon, run), 0);
        ask(f, run, rows[i].host, 9, 0, &err);
        pthread_join(id, NULL);
        assert_int_equal(err.kind, PROBLEM_CANCELLED);
        assert_word(err.what, "cancelled while waiting", rows[i].host);
        assert_word(err.what, rows[i].host, rows[i].host);
        assert_word(err.what, rows[i].phase, rows[i].host);
        assert_word(err.evidence, "through the proxy", rows[i].host);
        run_free(run);
    }
}

/* --- the login -------------------------------------------------------------------------------- */

struct asker {
    struct run *run;
    const char *host;
    struct problem err;
};

static void *ask_beside(void *arg)
{
    struct asker *a = arg;
    AUTO(xfree) char *url = xasprintf("https://%s/", a->host);
    AUTO_HTTP_REQUEST q;
    http_request_init(&q, "GET", url);
    AUTO_HTTP_RESPONSE r = {0};
    return (void *)(intptr_t)http_send(a->run, &q, &r, &a->err);
}

static struct fixture with_login(const struct fixture *f)
{
    AUTO(xfree) char *proxy = xasprintf("http://alice:hidden-word@127.0.0.1:%d", f->server.port);
    return (struct fixture){.server = {.port = f->server.port}, .net = net_behind(proxy)};
}

static int ask_by_many(struct fixture *f, struct fixture *mine, const char *host, const char *code)
{
    struct asker askers[8];
    pthread_t ids[8];
    int before = atomic_load(&f->server.requests);
    for (size_t i = 0; i < ARRAY_LEN(askers); i++) {
        askers[i] = (struct asker){.run = run_new_detached(NULL, mine->net, 10000), .host = host};
        assert_int_equal(pthread_create(&ids[i], NULL, ask_beside, &askers[i]), 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(askers); i++) {
        struct problem *err = &askers[i].err;
        void *rc;
        pthread_join(ids[i], &rc);
        assert_int_equal((intptr_t)rc, -1);
        assert_string_equal(err->code, code);
        assert_word(err->what, host, "host");
        const char *const texts[] = {err->what, err->why, err->fix, err->evidence};
        for (size_t n = 0; n < ARRAY_LEN(texts); n++)
            assert_true(texts[n] == NULL || strstr(texts[n], "hidden-word") == NULL);
        if (strcmp(code, "proxy 407") == 0)
            assert_word(err->fix, "Correct user and password in HTTPS_PROXY", "fix");
        problem_release(err);
        run_free(askers[i].run);
    }
    return atomic_load(&f->server.requests) - before;
}

static void a_refused_login_is_sent_once(void **state)
{
    struct fixture *f = *state;
    struct fixture mine = with_login(f);
    assert_int_equal(ask_by_many(f, &mine, "say-407.test", "proxy 407"), 1);
    assert_int_equal(ask_by_many(f, &mine, "other.test", "proxy 407"), 0);
    net_free(mine.net);
}

static void a_login_that_is_taken_holds_nobody_up(void **state)
{
    struct fixture *f = *state;
    struct fixture mine = with_login(f);
    assert_int_equal(ask_by_many(f, &mine, "say-403.test", "proxy 403"), 8);
    /* It may be refused later: what is under way then is all that sent it. */
    assert_in_range(ask_by_many(f, &mine, "say-407.test", "proxy 407"), 1, 8);
    assert_int_equal(ask_by_many(f, &mine, "say-407.test", "proxy 407"), 0);
    net_free(mine.net);
}

static void start_silent(struct fixture *f, struct asker *a, pthread_t *id)
{
    int before = atomic_load(&f->server.requests);
    assert_int_equal(pthread_create(id, NULL, ask_beside, a), 0);
    for (int i = 0; i < 500 && atomic_load(&f->server.requests) == before; i++)
        usleep(10000);
    assert_int_equal(atomic_load(&f->server.requests), before + 1);
}

/* Who is cancelled before the proxy has said anything leaves the first turn to the next. */
static void the_first_turn_is_handed_on(void **state)
{
    struct fixture *f = *state;
    struct fixture mine = with_login(f);
    struct asker silent = {.run = run_new_detached(NULL, mine.net, 10000), .host = "silent.test"};
    pthread_t id, canceller;
    start_silent(f, &silent, &id);
    assert_int_equal(pthread_create(&canceller, NULL, cancel_soon, silent.run), 0);
    assert_int_equal(ask_by_many(f, &mine, "say-407.test", "proxy 407"), 1);
    pthread_join(canceller, NULL);
    pthread_join(id, NULL);
    assert_int_equal(silent.err.kind, PROBLEM_CANCELLED);
    problem_release(&silent.err);
    run_free(silent.run);
    net_free(mine.net);
}

/* The deadline of who waits for the first answer stands still meanwhile, but its cancel counts. */
static void a_wait_for_the_first_answer_can_be_cancelled(void **state)
{
    struct fixture *f = *state;
    struct fixture mine = with_login(f);
    struct asker silent = {.run = run_new_detached(NULL, mine.net, 10000), .host = "silent.test"};
    pthread_t id, canceller;
    start_silent(f, &silent, &id);
    struct run *run = run_new_detached(NULL, mine.net, 100);
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(pthread_create(&canceller, NULL, cancel_soon, run), 0);
    int64_t began = clock_ms();
    assert_int_equal(ask(f, run, "say-403.test", 1, 0, &err), 0);
    assert_in_range(clock_ms() - began, 120, 1000);
    assert_int_equal(err.kind, PROBLEM_CANCELLED);
    assert_word(err.what, "say-403.test", "cancelled");
    assert_word(err.what, "the proxy 127.0.0.1:", "cancelled");
    pthread_join(canceller, NULL);
    run_cancel_detached(silent.run);
    pthread_join(id, NULL);
    problem_release(&silent.err);
    run_free(silent.run);
    run_free(run);
    net_free(mine.net);
}

static void codes_tell_what_is_final(void **state)
{
    (void)state;
    static const struct {
        enum problem_kind kind;
        const char *code;
        bool final;
    } rows[] = {
        {PROBLEM_UNREACHABLE, "curl 7", false},
        {PROBLEM_UNREACHABLE, "curl 28", true},
        {PROBLEM_UNREACHABLE, "curl 52", false},
        {PROBLEM_UNREACHABLE, "curl 56", false},
        {PROBLEM_UNREACHABLE, "curl 60", true},
        {PROBLEM_UNREACHABLE, "curl 97", true},
        {PROBLEM_UNREACHABLE, "proxy 407", true},
        {PROBLEM_UNREACHABLE, "proxy 503", true},
        {PROBLEM_UNREACHABLE, "dns timeout", true},
        {PROBLEM_UNREACHABLE, "dns EAI_NONAME", true},
        {PROBLEM_UNREACHABLE, "dns EAI_AGAIN", false},
        {PROBLEM_PROTOCOL, "curl 18", false},
        {PROBLEM_PROTOCOL, "curl 1", true},
        {PROBLEM_PROTOCOL, "http body", true},
        {PROBLEM_INPUT, "url", true},
        {PROBLEM_LOCAL, "errno 24", true},
        {PROBLEM_CANCELLED, "cancelled", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_PROBLEM p = PROBLEM_INIT;
        problem_fail(&p, rows[i].kind, rows[i].code, "x");
        if (http_is_final(&p) != rows[i].final)
            fail_msg("%s", rows[i].code);
    }
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_failed_is_told_apart),
        cmocka_unit_test(what_cannot_end_otherwise_is_asked_once),
        cmocka_unit_test(the_run_s_end_names_the_proxy_too),
        cmocka_unit_test(a_cancel_tells_what_was_waited_for),
        cmocka_unit_test(a_refused_login_is_sent_once),
        cmocka_unit_test(a_login_that_is_taken_holds_nobody_up),
        cmocka_unit_test(the_first_turn_is_handed_on),
        cmocka_unit_test(a_wait_for_the_first_answer_can_be_cancelled),
        cmocka_unit_test(codes_tell_what_is_final),
    };
    return cmocka_run_group_tests(tests, set_up_proxy, tear_down);
}
