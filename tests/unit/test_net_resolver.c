/* Lookups that hang, fail or lead elsewhere. getaddrinfo is this program's own, so that nothing
 * depends on a name server, and so that a lookup by anybody but the resolver would be counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <netdb.h>

#include "core/clock.h"
#include "net/http.h"
#include "net/net.h"
#include "net/net_impl.h"
#include "net/resolver.h"
#include "net_server.h"

static atomic_int lookups;
static atomic_bool let_go;

static struct addrinfo *address(const char *text, struct addrinfo *next)
{
    struct addrinfo *a = calloc(1, sizeof *a);
    if (a == NULL)
        abort();
    a->ai_next = next;
    if (strchr(text, ':') != NULL) {
        struct sockaddr_in6 *v6 = calloc(1, sizeof *v6);
        v6->sin6_family = AF_INET6;
        inet_pton(AF_INET6, text, &v6->sin6_addr);
        a->ai_addr = (struct sockaddr *)v6;
        a->ai_addrlen = sizeof *v6;
    } else {
        struct sockaddr_in *v4 = calloc(1, sizeof *v4);
        v4->sin_family = AF_INET;
        inet_pton(AF_INET, text, &v4->sin_addr);
        a->ai_addr = (struct sockaddr *)v4;
        a->ai_addrlen = sizeof *v4;
    }
    a->ai_family = a->ai_addr->sa_family;
    return a;
}

static struct addrinfo *many(void)
{
    struct addrinfo *list = NULL;
    for (int i = 40; i > 0; i--) {
        char text[32];
        snprintf(text, sizeof text, "192.0.2.%d", i / 2 + 1);
        list = address(text, list);
    }
    return list;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **out)
{
    (void)service, (void)hints;
    atomic_fetch_add(&lookups, 1);
    if (strcmp(name, "hang.test") == 0) {
        while (!atomic_load(&let_go))
            usleep(10000);
        return EAI_AGAIN;
    }
    if (strcmp(name, "none.test") == 0)
        return EAI_NONAME;
    if (strcmp(name, "again.test") == 0)
        return EAI_AGAIN;
    if (strcmp(name, "many.test") == 0)
        *out = many();
    else if (strcmp(name, "two.test") == 0)
        *out = address("::1", address("127.0.0.1", NULL));
    else if (strcmp(name, "evil.localhost") == 0)
        *out = address("192.0.2.1", NULL);
    else
        *out = address("127.0.0.1", NULL);
    return 0;
}

void freeaddrinfo(struct addrinfo *list)
{
    while (list != NULL) {
        struct addrinfo *next = list->ai_next;
        free(list->ai_addr);
        free(list);
        list = next;
    }
}

static struct net *make_net(void)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct net *net = net_new(&(struct net_options){0}, &err);
    assert_non_null(net);
    return net;
}

static void literals_need_no_lookup(void **state)
{
    (void)state;
    struct run *run = run_new_detached(NULL, NULL, 1000);
    struct addresses a;
    AUTO_PROBLEM err = PROBLEM_INIT;
    int before = atomic_load(&lookups);
    assert_int_equal(resolve(run, "192.0.2.9", &a, &err), 0);
    assert_int_equal(a.count, 1);
    assert_string_equal(a.text[0], "192.0.2.9");
    assert_int_equal(resolve(run, "2001:db8::1", &a, &err), 0);
    assert_string_equal(a.text[0], "2001:db8::1");
    assert_int_equal(atomic_load(&lookups), before);
    run_free(run);
}

static void doubles_go_and_order_stays(void **state)
{
    (void)state;
    struct run *run = run_new_detached(NULL, NULL, 1000);
    struct addresses a;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(resolve(run, "many.test", &a, &err), 0);
    assert_int_equal(a.count, RESOLVE_MAX);
    assert_string_equal(a.text[0], "192.0.2.1");
    assert_string_equal(a.text[1], "192.0.2.2");
    assert_int_equal(resolve(run, "two.test", &a, &err), 0);
    assert_int_equal(a.count, 2);
    assert_string_equal(a.text[0], "::1");
    run_free(run);
}

static void failures_are_told_apart(void **state)
{
    (void)state;
    struct run *run = run_new_detached(NULL, NULL, 1000);
    struct addresses a;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(resolve(run, "none.test", &a, &err), -1);
    assert_int_equal(err.kind, PROBLEM_UNREACHABLE);
    assert_string_equal(err.code, "dns EAI_NONAME");
    assert_non_null(strstr(err.what, "none.test"));
    assert_int_equal(err.who, WHO_YOU);
    assert_int_equal(resolve(run, "again.test", &a, &err), -1);
    assert_string_equal(err.code, "dns EAI_AGAIN");
    assert_int_equal(err.who, WHO_NETWORK);
    assert_int_equal(resolve(run, "", &a, &err), -1);
    assert_int_equal(err.kind, PROBLEM_INPUT);
    char longer[300];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(resolve(run, longer, &a, &err), -1);
    assert_int_equal(err.kind, PROBLEM_INPUT);
    run_free(run);
}

static void a_hanging_lookup_is_left_behind(void **state)
{
    (void)state;
    struct run *run = run_new_detached(NULL, NULL, 300);
    struct addresses a;
    AUTO_PROBLEM err = PROBLEM_INIT;
    int64_t began = clock_ms();
    assert_int_equal(resolve(run, "hang.test", &a, &err), -1);
    assert_in_range(clock_ms() - began, 290, 450);
    assert_int_equal(err.kind, PROBLEM_UNREACHABLE);
    assert_string_equal(err.code, "dns timeout");
    run_free(run);
}

static void *cancel_soon(void *arg)
{
    usleep(100000);
    run_cancel_detached(arg);
    return NULL;
}

/* The network thread goes on while sixteen names hang, and each of them can be cancelled. */
static void *hanging_request(void *arg)
{
    struct run *run = run_new_detached(NULL, arg, 30000);
    pthread_t id;
    pthread_create(&id, NULL, cancel_soon, run);
    AUTO_HTTP_REQUEST q;
    http_request_init(&q, "GET", "https://hang.test/");
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    int64_t began = clock_ms();
    int rc = http_send(run, &q, &r, &err);
    intptr_t good = rc == -1 && err.kind == PROBLEM_CANCELLED && clock_ms() - began < 200 &&
                    strstr(err.what, "looking up the name hang") != NULL;
    pthread_join(id, NULL);
    run_free(run);
    return (void *)good;
}

static void hanging_names_block_nobody(void **state)
{
    (void)state;
    struct server s;
    server_start(&s);
    struct net *net = make_net();
    pthread_t ids[16];
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        assert_int_equal(pthread_create(&ids[i], NULL, hanging_request, net), 0);
    AUTO(xfree) char *url = xasprintf("http://localhost:%d/ok", s.port);
    struct run *run = run_new_detached(NULL, net, 5000);
    AUTO_HTTP_REQUEST q;
    http_request_init(&q, "GET", url);
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    int64_t began = clock_ms();
    assert_int_equal(http_send(run, &q, &r, &err), 0);
    assert_in_range(clock_ms() - began, 0, 100);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        void *good;
        pthread_join(ids[i], &good);
        assert_non_null(good);
    }
    run_free(run);
    began = clock_ms();
    net_free(net);
    assert_in_range(clock_ms() - began, 0, 100);
    server_stop(&s);
}

/* One lookup a request, whatever form the name has: none by libcurl. */
static void libcurl_never_looks_up(void **state)
{
    (void)state;
    struct server s;
    server_start(&s);
    struct net *net = make_net();
    static const char *const hosts[] = {"localhost", "LOCALHOST", "a.localhost", "localhost."};
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        AUTO(xfree) char *url = xasprintf("http://%s:%d/ok", hosts[i], s.port);
        struct run *run = run_new_detached(NULL, net, 2000);
        AUTO_HTTP_REQUEST q;
        http_request_init(&q, "GET", url);
        AUTO_HTTP_RESPONSE r = {0};
        AUTO_PROBLEM err = PROBLEM_INIT;
        int before = atomic_load(&lookups);
        int rc = http_send(run, &q, &r, &err);
        if (rc == 0)
            assert_int_equal(r.status, 200);
        else
            assert_int_equal(err.kind, PROBLEM_INPUT);
        assert_int_equal(rc, i == 3 ? -1 : 0); /* "localhost." is no name of this machine for us */
        assert_int_equal(atomic_load(&lookups) - before, i == 3 ? 0 : 1);
        run_free(run);
    }
    net_free(net);
    server_stop(&s);
}

/* Over TLS with names of all forms: the handshake fails, but not for want of an address. */
static void names_reach_libcurl_as_it_asks_for_them(void **state)
{
    (void)state;
    struct server s;
    server_start(&s);
    struct net *net = make_net();
    static const char *const hosts[] = {"plain.test", "Upper.Test", "dotted.test.",
                                        "\xC3\xBC.test"};
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        AUTO(xfree) char *url = xasprintf("https://%s:%d/ok", hosts[i], s.port);
        struct run *run = run_new_detached(NULL, net, 200);
        AUTO_HTTP_REQUEST q;
        http_request_init(&q, "GET", url);
        AUTO_HTTP_RESPONSE r = {0};
        AUTO_PROBLEM err = PROBLEM_INIT;
        int before = atomic_load(&lookups);
        assert_int_equal(http_send(run, &q, &r, &err), -1);
        assert_string_equal(err.code, "curl 28");
        assert_non_null(strstr(err.what, "TLS handshake"));
        assert_int_equal(atomic_load(&lookups) - before, 1);
        run_free(run);
    }
    net_free(net);
    server_stop(&s);
}

static void a_local_name_that_leads_away_is_refused(void **state)
{
    (void)state;
    struct net *net = make_net();
    struct run *run = run_new_detached(NULL, net, 2000);
    AUTO_HTTP_REQUEST q;
    http_request_init(&q, "GET", "http://evil.localhost/");
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(http_send(run, &q, &r, &err), -1);
    assert_string_equal(err.code, "url");
    assert_non_null(strstr(err.why, "192.0.2.1"));
    run_free(run);
    net_free(net);
}

/* Behind a proxy its name is looked up, not the target's. */
static void the_proxy_is_looked_up(void **state)
{
    (void)state;
    struct server s;
    server_start(&s);
    AUTO(xfree) char *proxy = xasprintf("http://user:hidden@proxy.test:%d", s.port);
    setenv("HTTPS_PROXY", proxy, 1);
    setenv("NO_PROXY", ".exempt.test", 1);
    struct net *net = make_net();
    unsetenv("HTTPS_PROXY");
    unsetenv("NO_PROXY");
    static const struct {
        const char *url, *code, *word;
    } rows[] = {
        {"https://hang.test/", "proxy 407", "proxy.test"}, /* its name is never asked for */
        {"https://none.exempt.test:1/", "curl 7", "nothing listens at none.exempt.test:1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct run *run = run_new_detached(NULL, net, 2000);
        AUTO_HTTP_REQUEST q;
        http_request_init(&q, "GET", rows[i].url);
        AUTO_HTTP_RESPONSE r = {0};
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_int_equal(http_send(run, &q, &r, &err), -1);
        assert_string_equal(err.code, rows[i].code);
        assert_non_null(strstr(err.what, rows[i].word));
        assert_null(strstr(err.what, "hidden"));
        assert_true(err.evidence == NULL || strstr(err.evidence, "hidden") == NULL);
        run_free(run);
    }
    net_free(net);
    server_stop(&s);
}

static void a_dead_proxy_is_named(void **state)
{
    (void)state;
    AUTO(xfree) char *proxy = xasprintf("proxy.test:%d", server_dead_port());
    static const struct {
        const char *value, *code;
    } rows[] = {
        {NULL, "curl 7"}, {"http://none.test:3128", "dns EAI_NONAME"}, {"ftp://x", "proxy"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        setenv("https_proxy", rows[i].value != NULL ? rows[i].value : proxy, 1);
        struct net *net = make_net();
        unsetenv("https_proxy");
        struct run *run = run_new_detached(NULL, net, 2000);
        AUTO_HTTP_REQUEST q;
        http_request_init(&q, "GET", "https://target.test/");
        AUTO_HTTP_RESPONSE r = {0};
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_int_equal(http_send(run, &q, &r, &err), -1);
        assert_string_equal(err.code, rows[i].code);
        assert_non_null(strstr(err.fix, "HTTPS_PROXY") != NULL ? err.fix
                                                               : strstr(err.why, "HTTPS_PROXY"));
        run_free(run);
        net_free(net);
    }
}

static void no_proxy_is_read_as_curl_does(void **state)
{
    (void)state;
    static const struct {
        const char *list, *host;
        bool exempt;
    } rows[] = {
        {NULL, "a.test", false},
        {"", "a.test", false},
        {"*", "a.test", true},
        {"a.test", "a.test", true},
        {"a.test", "A.TEST", true},
        {"a.test", "b.a.test", true},
        {".a.test", "a.test", true},
        {".a.test", "b.a.test", true},
        {"a.test", "ba.test", false},
        {"x.test, a.test", "a.test", true},
        {"x.test a.test", "a.test", true},
        {"a.test.", "a.test", true},
        {"192.0.2.1", "192.0.2.1", true},
        {"192.0.2.0/24", "192.0.2.77", true},
        {"192.0.2.0/25", "192.0.2.200", false},
        {"192.0.2.0/33", "192.0.2.1", false},
        {"192.0.2.0/x", "192.0.2.1", false},
        {"2001:db8::/32", "2001:db8:1::1", true},
        {"[2001:db8::1]", "2001:db8::1", true},
        {"0.0.0.0/0", "198.51.100.1", true},
        {"2.1", "192.0.2.1", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (proxy_exempt(rows[i].list, rows[i].host) != rows[i].exempt)
            fail_msg("NO_PROXY=%s, host %s", rows[i].list, rows[i].host);
    }
}

static int let_them_go(void **state)
{
    (void)state;
    atomic_store(&let_go, true);
    usleep(100000);
    return 0;
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    setlocale(LC_CTYPE, "C.UTF-8"); /* international names are read in the locale */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_need_no_lookup),
        cmocka_unit_test(doubles_go_and_order_stays),
        cmocka_unit_test(failures_are_told_apart),
        cmocka_unit_test(a_hanging_lookup_is_left_behind),
        cmocka_unit_test(hanging_names_block_nobody),
        cmocka_unit_test(libcurl_never_looks_up),
        cmocka_unit_test(names_reach_libcurl_as_it_asks_for_them),
        cmocka_unit_test(a_local_name_that_leads_away_is_refused),
        cmocka_unit_test(the_proxy_is_looked_up),
        cmocka_unit_test(a_dead_proxy_is_named),
        cmocka_unit_test(no_proxy_is_read_as_curl_does),
    };
    return cmocka_run_group_tests(tests, NULL, let_them_go);
}
