/* What the files of net/ share and nobody else sees: the parts of struct net, waiting on a socket
 * beside cancel and deadline, starting threads. */
#ifndef SLUICE_NET_NET_IMPL_H
#define SLUICE_NET_NET_IMPL_H

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/run.h"
#include "net/net.h"

/* Certificates of the authorities that are trusted, in a file that libcurl and libpq open by path.
 */
struct ca_bundle {
    int fd;     /* -1 none */
    char *path; /* "/proc/self/fd/N", or a temp file */
    char *temp; /* the temp file to remove, NULL for memory */
};

/* System bundle and the files of `extra` (NULL entries are skipped) in one. */
int ca_bundle_open(const char *const *extra, size_t count, struct ca_bundle *out,
                   struct problem *err);
void ca_bundle_close(struct ca_bundle *b);

/* The proxy variables as they stood at the start (curl(1), "ENVIRONMENT"). */
struct proxy_settings {
    char *https; /* https_proxy, HTTPS_PROXY, else all_proxy, ALL_PROXY; NULL none */
    char *no_proxy;
};
void proxy_settings_read(struct proxy_settings *p);
void proxy_settings_release(struct proxy_settings *p);
/* Whether NO_PROXY exempts the host: names match themselves and what is below them, addresses match
 * themselves and CIDR blocks, "*" matches all. */
bool proxy_exempt(const char *no_proxy, const char *host);

/* proxy_login.c: who may send the login in the proxy's URL. */
struct proxy_login;
struct proxy_login *proxy_login_new(struct problem *err);
void proxy_login_free(struct proxy_login *l); /* NULL is fine */
enum proxy_turn {
    PROXY_GO,
    PROXY_FIRST,   /* alone: the others wait for what the proxy says */
    PROXY_REFUSED, /* the proxy refused this login before: it is not sent again */
    PROXY_NO_TURN  /* cancelled or out of time while another one was asking */
};
/* The run's deadline stands still while it waits. After GO and FIRST comes proxy_login_leave. */
enum proxy_turn proxy_login_enter(struct run *run, struct proxy_login *l);
enum proxy_said {
    PROXY_NOT_ASKED, /* the caller went before there was an answer: the next one is the first */
    PROXY_SAID_NO,   /* to the login */
    PROXY_SAID_MORE  /* anything else, be it that it is silent */
};
void proxy_login_leave(struct proxy_login *l, enum proxy_turn turn, enum proxy_said said);

struct http_loop;
struct conn_cache;

struct net {
    char *user_agent;
    struct ca_bundle ca;
    struct proxy_settings proxy;
    struct proxy_login *proxy_login;
    struct http_loop *loop;
    struct conn_cache *conns;
};

struct conn_cache *conn_cache_new(void);
void conn_cache_free(struct conn_cache *cache);

enum net_waited { NET_READY, NET_TIME_UP, NET_CANCELLED };
/* Waits until fd shows one of `events` (poll(2)), the run is cancelled or over, or `most_ms` have
 * passed
 * (-1: only the run's deadline counts). */
enum net_waited net_wait(const struct run *run, int fd, short events, int most_ms);

/* A thread that takes no signals, so that they reach main. Detached when `thread` is NULL. 0 or an
 * errno. */
int net_thread(void *(*body)(void *), void *arg, size_t stack, pthread_t *thread);

/* "127.x", "::1" */
bool net_is_loopback(const char *address);
/* An IPv4 or IPv6 literal without brackets. */
bool net_is_address(const char *host);
#endif
