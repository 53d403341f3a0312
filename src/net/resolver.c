/* Name lookups that can be left behind. getaddrinfo knows neither deadline nor cancel, so it runs
 * on a detached thread that owns what it writes to together with the caller; whoever is last frees
 * it. */
#include "net/resolver.h"

#include <errno.h>
#include <netdb.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"
#include "net/net_impl.h"

#define LOOKUP_MS                                                                                  \
    10000 /* longer than a resolver's first two tries of 5 s are not worth waiting for */
#define LOOKUP_STACK ((size_t)256 << 10)
#define HOST_MAX 253 /* RFC 1035 §2.3.4 */

struct lookup {
    atomic_int refs;   /* the thread and the caller */
    int done;          /* eventfd */
    atomic_bool ready; /* what is below is complete; set before `done` is signalled */
    int rc;            /* EAI_… */
    int errnum;        /* for EAI_SYSTEM */
    struct addresses found;
    char host[HOST_MAX + 1];
};

static const struct eai_row {
    int rc;
    const char *name;
    const char *why;
} eai_rows[] = {
    {EAI_NONAME, "EAI_NONAME",
     "No name service knows this name: a typing error, or a name that only a private "
     "network (VPN, VPC) knows."},
    {EAI_NODATA, "EAI_NODATA", "The name exists but has no address."},
    {EAI_ADDRFAMILY, "EAI_ADDRFAMILY", "The name has no address of a usable kind."},
    {EAI_AGAIN, "EAI_AGAIN", "The name server did not answer or failed for the moment."},
    {EAI_FAIL, "EAI_FAIL", "The name server answered with a failure."},
    {EAI_MEMORY, "EAI_MEMORY", NULL},
    {EAI_SYSTEM, "EAI_SYSTEM", NULL},
};

static void lookup_unref(struct lookup *l)
{
    if (atomic_fetch_sub(&l->refs, 1) != 1)
        return;
    close(l->done);
    xfree(l);
}

static bool known(const struct addresses *a, const char *text)
{
    for (size_t i = 0; i < a->count; i++) {
        if (strcmp(a->text[i], text) == 0)
            return true;
    }
    return false;
}

static void add_address(struct addresses *out, const struct sockaddr *sa, socklen_t n)
{
    char text[128];
    if (out->count == RESOLVE_MAX ||
        getnameinfo(sa, n, text, sizeof text, NULL, 0, NI_NUMERICHOST) != 0)
        return;
    size_t len = strlen(text);
    if (len < sizeof out->text[0] && !known(out, text))
        memcpy(out->text[out->count++], text, len + 1);
}

static void *look_up(void *arg)
{
    struct lookup *l = arg;
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    l->rc = getaddrinfo(l->host, NULL, &hints, &list);
    l->errnum = errno;
    if (l->rc == 0) {
        for (const struct addrinfo *a = list; a != NULL; a = a->ai_next)
            add_address(&l->found, a->ai_addr, a->ai_addrlen);
        freeaddrinfo(list);
        if (l->found.count == 0)
            l->rc = EAI_NODATA;
    }
    atomic_store(&l->ready, true);
    uint64_t one = 1;
    ssize_t ignored = write(l->done, &one, sizeof one);
    (void)ignored;
    lookup_unref(l);
    return NULL;
}

static int fail_lookup(const struct lookup *l, struct problem *err)
{
    const char *name = "EAI", *why = NULL;
    for (size_t i = 0; i < ARRAY_LEN(eai_rows); i++) {
        if (eai_rows[i].rc == l->rc) {
            name = eai_rows[i].name;
            why = eai_rows[i].why;
        }
    }
    char code[32] = "dns ";
    strncat(code, name, sizeof code - sizeof "dns ");
    problem_fail(err, PROBLEM_UNREACHABLE, code, "the name %s cannot be resolved", l->host);
    if (why != NULL)
        problem_why(err, "%s", why);
    if (l->rc == EAI_AGAIN || l->rc == EAI_FAIL || l->rc == EAI_SYSTEM)
        problem_fix(err, WHO_NETWORK,
                    "Check this machine's name service (/etc/resolv.conf, VPN), then try again.");
    else
        problem_fix(err, WHO_YOU,
                    "Check the spelling; if the name is private, connect to that network first.");
    if (l->rc == EAI_SYSTEM)
        problem_evidence(err, "%s: %s", gai_strerror(l->rc), strerrordesc_np(l->errnum));
    else
        problem_evidence(err, "getaddrinfo(\"%s\"): %s", l->host, gai_strerror(l->rc));
    return -1;
}

static int fail_slow(const struct lookup *l, int64_t waited_ms, struct problem *err)
{
    problem_fail(err, PROBLEM_UNREACHABLE, "dns timeout",
                 "no answer from the name service for %s within %lld s", l->host,
                 (long long)((waited_ms + 500) / 1000));
    problem_why(
        err, "The name server of this machine does not answer: a VPN that is down, or a firewall.");
    problem_fix(err, WHO_NETWORK,
                "Check this machine's name service (/etc/resolv.conf, VPN), then try again.");
    return -1;
}

static struct lookup *start(const char *host, struct problem *err)
{
    int done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (done < 0) {
        problem_errno(err, errno, "cannot look up %s", host);
        return NULL;
    }
    struct lookup *l = xcalloc(1, sizeof *l);
    l->done = done;
    atomic_init(&l->refs, 2);
    atomic_init(&l->ready, false);
    memcpy(l->host, host, strlen(host) + 1);
    int rc = net_thread(look_up, l, LOOKUP_STACK, NULL);
    if (rc != 0) {
        problem_errno(err, rc, "cannot start a thread to look up %s", host);
        close(done);
        xfree(l);
        return NULL;
    }
    return l;
}

int resolve(struct run *run, const char *host, struct addresses *out, struct problem *err)
{
    size_t n = strlen(host);
    if (n == 0 || n > HOST_MAX) {
        problem_fail(err, PROBLEM_INPUT, "dns EAI_NONAME", "\"%s\" is not a host name", host);
        problem_why(err, "A host name has 1 to %d characters.", HOST_MAX);
        return -1;
    }
    if (net_is_address(host)) {
        *out = (struct addresses){.count = 1};
        memcpy(out->text[0], host, n + 1);
        return 0;
    }
    AUTO(xfree) char *phase = xasprintf("looking up the name %s", host);
    if (run_over(run, phase, err) != 0)
        return -1;
    struct lookup *l = start(host, err);
    if (l == NULL)
        return -1;
    int64_t began = clock_ms();
    enum net_waited w = net_wait(run, l->done, POLLIN, LOOKUP_MS);
    int rc = 0;
    if (w == NET_CANCELLED)
        rc = run_over(run, phase, err);
    else if (!atomic_load(&l->ready))
        rc = fail_slow(l, clock_ms() - began, err);
    else if (l->rc != 0)
        rc = fail_lookup(l, err);
    else
        *out = l->found;
    lookup_unref(l);
    return rc;
}
