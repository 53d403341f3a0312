/* A small HTTP server in a thread of the test: each path misbehaves in a way of its own. TLS comes
 * from `openssl s_server`, as the program that speaks it best. Static, as each test is one source
 * file. */
#ifndef SLUICE_TESTS_NET_SERVER_H
#define SLUICE_TESTS_NET_SERVER_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"

struct server {
    int fd;
    int port;
    pthread_t thread;
    atomic_bool stop;
    atomic_int connections; /* accepted so far */
    atomic_int requests;
    atomic_int open; /* connections being served */
};

struct served {
    struct server *server;
    int fd;
};

static inline void server_say(int fd, const char *s)
{
    size_t n = strlen(s);
    while (n > 0) {
        ssize_t w = send(fd, s, n, MSG_NOSIGNAL);
        if (w <= 0)
            return;
        s += w;
        n -= (size_t)w;
    }
}

/* Waits for what the client does not send, so that nothing is answered until it goes. */
static inline void server_hang(const struct served *c)
{
    char byte;
    while (!atomic_load(&c->server->stop)) {
        struct pollfd p = {.fd = c->fd, .events = POLLIN};
        if (poll(&p, 1, 20) > 0 && recv(c->fd, &byte, 1, 0) <= 0)
            return;
    }
}

static inline void server_dribble(const struct served *c)
{
    server_say(c->fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
    for (int i = 0; i < 1000 && !atomic_load(&c->server->stop); i++) {
        if (send(c->fd, "x", 1, MSG_NOSIGNAL) != 1)
            return;
        struct pollfd p = {.fd = c->fd, .events = POLLIN};
        if (poll(&p, 1, 1000) > 0)
            return;
    }
}

static inline void server_flood(const struct served *c, const char *head, const char *piece)
{
    server_say(c->fd, head);
    size_t n = strlen(piece);
    while (!atomic_load(&c->server->stop) && send(c->fd, piece, n, MSG_NOSIGNAL) == (ssize_t)n)
        ;
}

static inline void server_reset(int fd)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

/* Answers with the request itself. */
static inline void server_echo(int fd, const char *request)
{
    char head[128];
    snprintf(
        head, sizeof head,
        "HTTP/1.1 200 OK\r\nContent-Type: Text/Plain; charset=x\r\nContent-Length: %zu\r\n\r\n",
        strlen(request));
    server_say(fd, head);
    if (strncmp(request, "HEAD ", 5) != 0)
        server_say(fd, request);
}

/* Asked as a proxy: the name says what happens. False: close the connection. */
static inline bool server_tunnel(const struct served *c, const char *name)
{
    if (strncmp(name, "silent.", 7) == 0) {
        server_hang(c);
        return false;
    }
    if (strncmp(name, "empty.", 6) == 0)
        return false;
    if (strncmp(name, "tunnel.", 7) == 0) { /* that leads nowhere */
        server_say(c->fd, "HTTP/1.1 200 Connected\r\n\r\n");
        server_hang(c);
        return false;
    }
    int status = strncmp(name, "say-", 4) == 0 ? atoi(name + 4) : 407;
    char head[128];
    snprintf(head, sizeof head, "HTTP/1.1 %d No\r\n%sContent-Length: 0\r\n\r\n", status,
             status == 407 ? "Proxy-Authenticate: Basic realm=\"x\"\r\n" : "");
    server_say(c->fd, head);
    return true;
}

/* False: close the connection. */
static inline bool server_answer(const struct served *c, const char *request)
{
    int n = atomic_fetch_add(&c->server->requests, 1);
    int fd = c->fd;
    const char *path = strchr(request, ' ');
    path = path != NULL ? path + 1 : "";
    if (strncmp(request, "CONNECT ", 8) == 0)
        return server_tunnel(c, request + 8);
#define AT(p) (strncmp(path, p " ", sizeof p) == 0)
    if (AT("/ok")) {
        server_say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        return true;
    }
    if (AT("/echo")) {
        server_echo(fd, request);
        return true;
    }
    if (AT("/slow")) {
        usleep(200000);
        server_say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow");
        return true;
    }
    if (AT("/redirect")) {
        server_say(
            fd,
            "HTTP/1.1 302 Found\r\nLocation: https://other.example/x\r\nContent-Length: 0\r\n\r\n");
        return true;
    }
    if (AT("/flaky")) {
        server_say(fd, n % 2 == 0
                           ? "HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
                           : "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nback");
        return true;
    }
    if (AT("/long-wait")) {
        server_say(fd, "HTTP/1.1 429 Slow\r\nRetry-After: 600\r\nContent-Length: 0\r\n\r\n");
        return true;
    }
    if (AT("/continue"))
        server_say(fd, "HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\nHTTP/1.1 200 OK\r\nX-Late: "
                       "2\r\nContent-Length: 0\r\n\r\n");
    else if (AT("/announced"))
        server_say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nx");
    else if (AT("/endless"))
        server_flood(c, "HTTP/1.1 200 OK\r\n\r\n",
                     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    else if (AT("/headers"))
        server_flood(c, "HTTP/1.1 200 OK\r\n",
                     "X-Many: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n");
    else if (AT("/short"))
        server_say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789");
    else if (AT("/chunk"))
        server_say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
    else if (AT("/rst"))
        server_reset(fd);
    else if (AT("/rst-late")) {
        server_say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n01234");
        usleep(50000);
        server_reset(fd);
    } else if (AT("/garbage"))
        server_say(fd, "SSH-2.0-OpenSSH_9.2\r\n");
    else if (AT("/dribble"))
        server_dribble(c);
    else if (AT("/silent"))
        server_hang(c);
#undef AT
    return false;
}

/* The request with its body; false when the client has gone. */
static inline bool server_read(const struct served *c, char *buffer, size_t room)
{
    size_t len = 0;
    while (len + 1 < room && !atomic_load(&c->server->stop)) {
        struct pollfd p = {.fd = c->fd, .events = POLLIN};
        if (poll(&p, 1, 20) == 0)
            continue;
        ssize_t n = recv(c->fd, buffer + len, room - 1 - len, 0);
        if (n <= 0)
            return false;
        len += (size_t)n;
        buffer[len] = '\0';
        const char *end = strstr(buffer, "\r\n\r\n");
        if (end == NULL)
            continue;
        const char *length = strcasestr(buffer, "\r\nContent-Length:");
        size_t body = length != NULL && length < end ? (size_t)atol(length + 17) : 0;
        if (len >= (size_t)(end + 4 - buffer) + body)
            return true;
    }
    return false;
}

static inline void *server_connection(void *arg)
{
    struct served c = *(struct served *)arg;
    free(arg);
    char request[65536];
    while (server_read(&c, request, sizeof request) && server_answer(&c, request))
        ;
    close(c.fd);
    atomic_fetch_sub(&c.server->open, 1);
    return NULL;
}

static inline void *server_body(void *arg)
{
    struct server *s = arg;
    while (!atomic_load(&s->stop)) {
        struct pollfd p = {.fd = s->fd, .events = POLLIN};
        if (poll(&p, 1, 20) <= 0)
            continue;
        int fd = accept(s->fd, NULL, NULL);
        if (fd < 0)
            continue;
        atomic_fetch_add(&s->connections, 1);
        atomic_fetch_add(&s->open, 1);
        struct served *c = malloc(sizeof *c);
        *c = (struct served){.server = s, .fd = fd};
        pthread_t id;
        if (c != NULL && pthread_create(&id, NULL, server_connection, c) == 0)
            pthread_detach(id);
    }
    return NULL;
}

static inline void server_start(struct server *s)
{
    memset(s, 0, sizeof *s);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    if (bind(s->fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(s->fd, 128) != 0 ||
        getsockname(s->fd, (struct sockaddr *)&a, &n) != 0 ||
        pthread_create(&s->thread, NULL, server_body, s) != 0)
        abort();
    s->port = ntohs(a.sin_port);
}

static inline void server_stop(struct server *s)
{
    atomic_store(&s->stop, true);
    pthread_join(s->thread, NULL);
    while (atomic_load(&s->open) > 0)
        usleep(5000);
    close(s->fd);
}

/* A port that nobody listens on. */
static inline int server_dead_port(void)
{
    struct server s;
    server_start(&s);
    server_stop(&s);
    return s.port;
}

/* Runs a program to its end; its exit code. Output goes to /dev/null. */
static inline int server_command(const char *const argv[])
{
    pid_t pid = fork();
    if (pid == 0) {
        if (chdir("/") != 0)
            _exit(127);
        int null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
        char *args[32] = {0}; /* execvp does not change them, but C17 cannot say so */
        for (int i = 0; i < 31 && argv[i] != NULL; i++)
            args[i] = strdup(argv[i]);
        execvp(args[0], args);
        _exit(127);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
#endif
