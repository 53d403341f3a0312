/* HTTP against a server that misbehaves: what is sent, what is taken, caps, cuts, and what may not
 * be sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/text.h"
#include "net/http.h"
#include "net_fixture.h"

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
        cmocka_unit_test(redirect_is_an_answer),
        cmocka_unit_test(early_headers_are_dropped),
        cmocka_unit_test(nothing_can_be_smuggled),
        cmocka_unit_test(urls_that_may_not_be_asked),
        cmocka_unit_test(urls_are_split_and_compared),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
