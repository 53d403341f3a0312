/* What the network layer shares, made once at the start and taken down at the end; waiting and
 * threads for the other files of net/. */
#include "net/net.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "net/http_impl.h"
#include "net/net_impl.h"

/* What libpq reads from the environment although no connection parameter can say "not that": it
 * would send a password or run with settings nobody entered here (libpq manual, "Environment
 * Variables"). */
static const char *const libpq_variables[] = {
    "PGPASSWORD",  "PGSERVICE", "PGSERVICEFILE", "PGSYSCONFDIR", "PGREQUIRESSL", "PGREQUIREPEER",
    "PGDATESTYLE", "PGTZ",      "PGGEQO",        "PGHOSTADDR",   "PGOPTIONS"};

static void libpq_environment(void)
{
    for (size_t i = 0; i < ARRAY_LEN(libpq_variables); i++)
        unsetenv(libpq_variables[i]);
    setlocale(LC_MESSAGES, "C"); /* libpq's own texts are matched (net/pg_error.c) */
}

struct net *net_new(const struct net_options *o, struct problem *err)
{
    const char *extra[] = {o->ca_file, o->more_ca_file};
    struct ca_bundle ca = {.fd = -1};
    if (ca_bundle_open(extra, ARRAY_LEN(extra), &ca, err) != 0)
        return NULL;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        ca_bundle_close(&ca);
        problem_fail(err, PROBLEM_LOCAL, "curl init", "libcurl could not be started");
        return NULL;
    }
    libpq_environment();
    struct net *net = xcalloc(1, sizeof *net);
    net->ca = ca;
    net->user_agent = xstrdup(o->user_agent != NULL ? o->user_agent : "sluice/" SLUICE_VERSION);
    proxy_settings_read(&net->proxy);
    net->conns = conn_cache_new();
    net->proxy_login = proxy_login_new(err);
    if (net->proxy_login != NULL)
        net->loop = http_loop_new(net, err);
    if (net->loop == NULL) {
        net_free(net);
        return NULL;
    }
    return net;
}

void net_free(struct net *net)
{
    if (net == NULL)
        return;
    conn_cache_free(net->conns);
    http_loop_free(net->loop);
    ca_bundle_close(&net->ca);
    proxy_login_free(net->proxy_login);
    proxy_settings_release(&net->proxy);
    xfree(net->user_agent);
    xfree(net);
    curl_global_cleanup();
}

const char *net_ca_bundle(const struct net *net)
{
    return net->ca.path;
}

enum net_waited net_wait(const struct run *run, int fd, short events, int most_ms)
{
    int64_t until = most_ms < 0 ? INT64_MAX : clock_ms() + most_ms;
    for (;;) {
        if (run_cancelled(run))
            return NET_CANCELLED;
        int left = run_left_ms(run);
        if (until != INT64_MAX) {
            int64_t mine = until - clock_ms();
            if (mine < left)
                left = mine > 0 ? (int)mine : 0;
        }
        struct pollfd fds[] = {{.fd = fd, .events = events},
                               {.fd = run_cancel_fd(run), .events = POLLIN}};
        int n = poll(fds, 2, left);
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return NET_TIME_UP;
        if (n > 0 && fds[1].revents != 0)
            return NET_CANCELLED;
        if (n > 0 && fds[0].revents != 0)
            return NET_READY;
        if (left == 0)
            return NET_TIME_UP;
    }
}

int net_thread(void *(*body)(void *), void *arg, size_t stack, pthread_t *thread)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, stack);
    if (thread == NULL)
        pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t id;
    int rc = pthread_create(&id, &attr, body, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (rc == 0 && thread != NULL)
        *thread = id;
    return rc;
}

bool net_is_loopback(const char *address)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, address, &v4) == 1)
        return (ntohl(v4.s_addr) >> 24) == 127;
    if (inet_pton(AF_INET6, address, &v6) == 1)
        return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
    return false;
}

bool net_is_address(const char *host)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}
