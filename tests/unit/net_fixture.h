/* A server that misbehaves and a net to ask it by, for the tests of HTTP. */
#ifndef SLUICE_TESTS_NET_FIXTURE_H
#define SLUICE_TESTS_NET_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/mem.h"
#include "net/http.h"
#include "net/net.h"
#include "net_server.h"

struct fixture {
    struct server server;
    struct net *net;
};

static inline int set_up(void **state)
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

static inline int tear_down(void **state)
{
    struct fixture *f = *state;
    net_free(f->net);
    server_stop(&f->server);
    return 0;
}

static inline char *url_of(const struct fixture *f, const char *path)
{
    return xasprintf("http://127.0.0.1:%d%s", f->server.port, path);
}

/* GET path within ms. */
static inline int get(struct fixture *f, const char *path, int ms, size_t body_max,
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
#endif
