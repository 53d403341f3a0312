/* A bare TCP connection attempt, cancellable like all of net/. */
#include "net/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "net/resolver.h"

/* Fills sa from a numeric address; its length, or 0 when it is neither IPv4 nor IPv6. */
static socklen_t socket_address(const char *text, int port, struct sockaddr_storage *sa)
{
    memset(sa, 0, sizeof *sa);
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        memcpy(sa, &v4, sizeof v4);
        return sizeof v4;
    }
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
        memcpy(sa, &v6, sizeof v6);
        return sizeof v6;
    }
    return 0;
}

int tcp_dial(const struct run *run, const char *text, int port, int64_t until, int *out)
{
    struct sockaddr_storage sa;
    socklen_t size = socket_address(text, port, &sa);
    if (size == 0)
        return EAFNOSUPPORT;
    int fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return errno;
    int result = 0;
    if (connect(fd, (struct sockaddr *)&sa, size) != 0)
        result = errno;
    while (result == EINPROGRESS || result == EINTR) {
        int64_t left = until - clock_ms();
        if (left <= 0) {
            result = ETIMEDOUT;
            break;
        }
        struct pollfd p[2] = {{.fd = fd, .events = POLLOUT},
                              {.fd = run_cancel_fd(run), .events = POLLIN}};
        int n = poll(p, 2, (int)left);
        if (n > 0 && p[1].revents != 0) {
            result = ECANCELED;
        } else if (n > 0) {
            socklen_t len = sizeof result;
            if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &result, &len) != 0)
                result = errno;
        }
    }
    if (result == 0)
        *out = fd;
    else
        close(fd);
    return result;
}

int tcp_reach(struct run *run, const char *host, const char *port, int wait_ms, struct problem *err)
{
    int64_t until = clock_ms() + wait_ms;
    if (run_deadline(run) < until)
        until = run_deadline(run);
    char *end = NULL;
    long number = strtol(port, &end, 10);
    if (end == port || *end != '\0' || number < 1 || number > 65535)
        return problem_fail(err, PROBLEM_INPUT, "port", "\"%s\" is not a port", port);
    struct addresses found;
    if (resolve(run, host, &found, err) != 0)
        return -1;
    int last = EHOSTUNREACH;
    for (size_t i = 0; i < found.count && clock_ms() < until; i++) {
        int fd = -1;
        last = tcp_dial(run, found.text[i], (int)number, until, &fd);
        if (last == 0) {
            close(fd);
            return 0;
        }
        if (last == ECANCELED)
            return problem_fail(err, PROBLEM_CANCELLED, "cancelled",
                                "cancelled while waiting for %s:%s (connecting)", host, port);
    }
    if (last == ETIMEDOUT || clock_ms() >= until) {
        problem_fail(err, PROBLEM_UNREACHABLE, "tcp timeout", "%s:%s does not answer", host, port);
        problem_why(err,
                    "No TCP connection within %d ms: mostly a firewall that drops packets, or a "
                    "host that is switched off.",
                    wait_ms);
    } else {
        problem_errno(err, last, "cannot connect to %s:%s", host, port);
        if (err != NULL)
            err->kind = PROBLEM_UNREACHABLE;
    }
    problem_fix(err, WHO_NETWORK,
                "Check host and port, and that this machine may connect to them.");
    return -1;
}
