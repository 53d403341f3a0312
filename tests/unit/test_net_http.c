/* HTTP against a server that misbehaves: caps, cuts, silence, cancel, retries, and what may not be
 * sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/clock.h"
#include "core/text.h"
#include "net/http.h"
#include "net/net.h"
#include "net_server.h"

struct fixture {
    struct server server;
    struct net *net;
};

static int set_up(void **state)
{
    static struct fixture f;
    static const char *const proxies[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
                                          "http_proxy"};
    for (size_t i = 0; i < ARRAY_LEN(proxies); i++)
        unsetenv(proxies[i]);
    server_start(&f.server);
    AUTO_PROBLEM err = PROBLEM_INIT;
    f.net = net_new(&(struct net_options){0}, &err);
    assert_non_null(f.net);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    net_free(f->net);
    server_stop(&f->server);
    return 0;
}

static char *url_of(const struct fixture *f, const char *path)
{
    return xasprintf("http://127.0.0.1:%d%s", f->server.port, path);
}

/* GET path within ms. */
static int get(struct fixture *f, const char *path, int ms, size_t body_max,
               struct http_response *out, struct problem *err)
{
    AUTO(xfree) char *url = url_of(f, path);
    struct run *run = run_new_detached(NULL, f->net, ms);
    AUTO_HTTP_REQUEST r;
    http_request_init(&r, "GET", url);
    r.body_max = body_max;
    int rc = http_send(run, &r, out, err);
    run_free(run);
    return rc;
}

static void gives_the_whole_answer(void **state)
{
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(get(*state, "/echo", 5000, 0, &r, &err), 0);
    assert_int_equal(r.status, 200);
    assert_string_equal(r.content_type, "text/plain");
    assert_string_equal(http_response_header(&r, "CONTENT-type"), "Text/Plain; charset=x");
    assert_null(http_response_header(&r, "X-None"));
    assert_string_equal(r.peer, "127.0.0.1");
    assert_null(r.tls);
    assert_null(r.location);
    assert_non_null(strstr(r.body.s, "User-Agent: sluice/"));
    assert_null(strstr(r.body.s, "Accept-Encoding"));
}

static void sends_body_form_and_secret_header(void **state)
{
    struct fixture *f = *state;
    AUTO(xfree) char *url = url_of(f, "/echo");
    struct run *run = run_new_detached(NULL, f->net, 5000);
    AUTO_HTTP_REQUEST q;
    http_request_init(&q, "POST", url);
    http_request_form(&q, "a b", "c+d&e=\xC3\xA9", 8);
    http_request_form(&q, "grant", "x", 1);
    http_request_secret_header(&q, "Authorization", "Bearer ", "tok-123", 7);
    http_request_header(&q, "X-Empty", "");
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(http_send(run, &q, &r, &err), 0);
    assert_non_null(strstr(r.body.s, "POST /echo HTTP/1.1\r\n"));
    assert_non_null(strstr(r.body.s, "Content-Type: application/x-www-form-urlencoded\r\n"));
    assert_non_null(strstr(r.body.s, "Authorization: Bearer tok-123\r\n"));
    assert_non_null(strstr(r.body.s, "X-Empty:\r\n"));
    assert_non_null(strstr(r.body.s, "\r\n\r\na%20b=c%2Bd%26e%3D%C3%A9&grant=x"));
    assert_null(strstr(r.body.s, "Expect:"));
    run_free(run);
}

static void sends_each_method(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *method;
        const char *body;
        const char *first;
        bool length;
    } rows[] = {
        {"PUT", "{}", "PUT /echo HTTP/1.1", true},
        {"PUT", NULL, "PUT /echo HTTP/1.1", true},
        {"DELETE", NULL, "DELETE /echo HTTP/1.1", false},
        {"POST", NULL, "POST /echo HTTP/1.1", true},
        {"PATCH", "x", "PATCH /echo HTTP/1.1", true},
        {"GET", NULL, "GET /echo HTTP/1.1", false},
    };
    AUTO(xfree) char *url = url_of(f, "/echo");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct run *run = run_new_detached(NULL, f->net, 5000);
        AUTO_HTTP_REQUEST q;
        http_request_init(&q, rows[i].method, url);
        if (rows[i].body != NULL)
            http_request_body(&q, "application/json", rows[i].body, strlen(rows[i].body));
        AUTO_HTTP_RESPONSE r = {0};
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_int_equal(http_send(run, &q, &r, &err), 0);
        assert_int_equal(strncmp(r.body.s, rows[i].first, strlen(rows[i].first)), 0);
        assert_int_equal(strstr(r.body.s, "Content-Length:") != NULL, rows[i].length);
        assert_int_equal(strstr(r.body.s, "Content-Type:") != NULL, rows[i].body != NULL);
        run_free(run);
    }
    struct run *run = run_new_detached(NULL, f->net, 5000);
    AUTO_HTTP_REQUEST q;
    http_request_init(&q, "HEAD", url);
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(http_send(run, &q, &r, &err), 0);
    assert_int_equal(r.body.len, 0);
    run_free(run);
}

static void keeps_connections(void **state)
{
    struct fixture *f = *state;
    int before = atomic_load(&f->server.connections);
    for (int i = 0; i < 5; i++) {
        AUTO_HTTP_RESPONSE r = {0};
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_int_equal(get(f, "/ok", 5000, 0, &r, &err), 0);
        assert_string_equal(r.body.s, "ok");
    }
    assert_in_range(atomic_load(&f->server.connections) - before, 0, 1);
}

/* Each way of failing with its kind, code and a word of its text. */
static void says_what_went_wrong(void **state)
{
    static const struct {
        const char *path;
        size_t body_max;
        enum problem_kind kind;
        const char *code;
        const char *word;
    } rows[] = {
        {"/announced", 0, PROBLEM_PROTOCOL, "http body", "too large"},
        {"/endless", 1000, PROBLEM_PROTOCOL, "http body", "too large"},
        {"/headers", 0, PROBLEM_PROTOCOL, "http headers", "too large"},
        {"/short", 0, PROBLEM_PROTOCOL, "curl 18", "not complete"},
        {"/chunk", 0, PROBLEM_PROTOCOL, "curl 18", "not complete"},
        {"/rst", 0, PROBLEM_UNREACHABLE, "curl 56", "cut while reading"},
        {"/rst-late", 0, PROBLEM_UNREACHABLE, "curl 56", "cut while reading"},
        {"/garbage", 0, PROBLEM_PROTOCOL, "curl 1", "does not answer in HTTP"},
        {"/empty", 0, PROBLEM_UNREACHABLE, "curl 52", "without an answer"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_HTTP_RESPONSE r = {0};
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_int_equal(get(*state, rows[i].path, 10000, rows[i].body_max, &r, &err), -1);
        assert_string_equal(err.code, rows[i].code);
        assert_int_equal(err.kind, rows[i].kind);
        assert_non_null(strstr(err.what, rows[i].word));
        assert_non_null(strstr(err.what, "127.0.0.1"));
        assert_non_null(err.fix);
        assert_int_equal(r.status, 0);
    }
}

static void body_of_exactly_the_cap_is_taken(void **state)
{
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(get(*state, "/ok", 5000, 2, &r, &err), 0);
    assert_int_equal(r.body.len, 2);
    AUTO_HTTP_RESPONSE r2 = {0};
    assert_int_equal(get(*state, "/ok", 5000, 1, &r2, &err), -1);
    assert_string_equal(err.code, "http body");
}

static void refused_port(void **state)
{
    struct fixture *f = *state;
    AUTO(xfree) char *url = xasprintf("http://127.0.0.1:%d/", server_dead_port());
    struct run *run = run_new_detached(NULL, f->net, 5000);
    AUTO_HTTP_REQUEST q;
    http_request_init(&q, "GET", url);
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(http_send(run, &q, &r, &err), -1);
    assert_string_equal(err.code, "curl 7");
    assert_non_null(strstr(err.what, "nothing listens at 127.0.0.1:"));
    run_free(run);
}

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

static void redirect_is_an_answer(void **state)
{
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(get(*state, "/redirect", 5000, 0, &r, &err), 0);
    assert_int_equal(r.status, 302);
    assert_string_equal(r.location, "https://other.example/x");
}

static void early_headers_are_dropped(void **state)
{
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(get(*state, "/continue", 5000, 0, &r, &err), 0);
    assert_null(http_response_header(&r, "X-Early"));
    assert_string_equal(http_response_header(&r, "X-Late"), "2");
}

static void nothing_can_be_smuggled(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *method, *name, *value;
    } rows[] = {{"GET", "X-A", "a\r\nX-B: b"},
                {"GET", "X-A", "a\nb"},
                {"GET", "X-A: x\r\nB", "v"},
                {"GET", "", "v"},
                {"GET", "X A", "v"},
                {"GET", "X-A", "\x7f"},
                {"GET /x HTTP/1.1\r\nA:", "X", "v"},
                {"", "X", "v"}};
    AUTO(xfree) char *url = url_of(f, "/echo");
    struct run *run = run_new_detached(NULL, f->net, 5000);
    int before = atomic_load(&f->server.requests);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_HTTP_REQUEST q;
        http_request_init(&q, rows[i].method, url);
        http_request_header(&q, rows[i].name, rows[i].value);
        AUTO_HTTP_RESPONSE r = {0};
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_int_equal(http_send(run, &q, &r, &err), -1);
        assert_int_equal(err.kind, PROBLEM_INPUT);
    }
    AUTO_HTTP_REQUEST q;
    http_request_init(&q, "GET", url);
    http_request_secret_header(&q, "Authorization", "Bearer ", "ab\0cd", 5);
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(http_send(run, &q, &r, &err), -1);
    assert_int_equal(err.kind, PROBLEM_INPUT);
    assert_int_equal(atomic_load(&f->server.requests), before);
    run_free(run);
}

static void urls_that_may_not_be_asked(void **state)
{
    struct fixture *f = *state;
    static const char *const urls[] = {
        "http://192.0.2.1/",
        "http://example.invalid/",
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "https://u:p@127.0.0.1/",
        "https://127.0.0.1/a b",
        "https://127.0.0.1/\r\nX: y",
        "https://",
        "",
        "no url",
        "gopher://127.0.0.1/x",
        "http://127.0.0.1.example.invalid/",
        "http://127.0.0.1@192.0.2.1/",
    };
    struct run *run = run_new_detached(NULL, f->net, 5000);
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        AUTO_HTTP_REQUEST q;
        http_request_init(&q, "GET", urls[i]);
        AUTO_HTTP_RESPONSE r = {0};
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_int_equal(http_send(run, &q, &r, &err), -1);
        assert_int_equal(err.kind, PROBLEM_INPUT);
        assert_string_equal(err.code, "url");
        assert_null(strstr(err.what, "u:p"));
    }
    run_free(run);
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

static void urls_are_split_and_compared(void **state)
{
    (void)state;
    struct url_parts u = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(url_split("https://Example.com/a/b?c=d#e", &u, &err), 0);
    assert_string_equal(u.scheme, "https");
    assert_string_equal(u.host, "Example.com");
    assert_string_equal(u.port, "443");
    assert_string_equal(u.path, "/a/b");
    assert_string_equal(u.query, "c=d");
    url_release(&u);
    assert_int_equal(url_split("http://[::1]:8080/", &u, &err), 0);
    assert_string_equal(u.host, "::1");
    assert_string_equal(u.port, "8080");
    url_release(&u);
    assert_int_equal(url_split("https://user:secret@h/", &u, &err), -1);
    assert_null(strstr(err.what, "secret"));
    assert_true(url_same_host("https://A.example/x", "https://a.example:443/y"));
    assert_false(url_same_host("https://a.example", "http://a.example"));
    assert_false(url_same_host("https://a.example", "https://b.example"));
    assert_false(url_same_host("https://a.example", "nonsense"));
    AUTO(xfree) char *e = url_encode("a/b c~\xC3\xA9+");
    assert_string_equal(e, "a%2Fb%20c~%C3%A9%2B");
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_whole_answer),
        cmocka_unit_test(sends_body_form_and_secret_header),
        cmocka_unit_test(sends_each_method),
        cmocka_unit_test(keeps_connections),
        cmocka_unit_test(says_what_went_wrong),
        cmocka_unit_test(body_of_exactly_the_cap_is_taken),
        cmocka_unit_test(refused_port),
        cmocka_unit_test(deadline_names_the_phase),
        cmocka_unit_test(redirect_is_an_answer),
        cmocka_unit_test(early_headers_are_dropped),
        cmocka_unit_test(nothing_can_be_smuggled),
        cmocka_unit_test(urls_that_may_not_be_asked),
        cmocka_unit_test(cancel_returns_at_once),
        cmocka_unit_test(retries_after_what_is_asked),
        cmocka_unit_test(long_waits_are_left_to_the_caller),
        cmocka_unit_test(retries_a_cut_connection),
        cmocka_unit_test(a_post_arrives_once),
        cmocka_unit_test(sixty_four_at_once),
        cmocka_unit_test(idle_means_asleep),
        cmocka_unit_test(ending_the_net_ends_requests),
        cmocka_unit_test(urls_are_split_and_compared),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
