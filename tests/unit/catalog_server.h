/* An HTTP server on loopback whose answers the test decides, one request after the other; it
 * remembers what it was asked. Static, as each test is one source file. */
#ifndef SLUICE_TESTS_CATALOG_SERVER_H
#define SLUICE_TESTS_CATALOG_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define SCRIPT_REQUESTS 256

struct script {
    int fd, port;
    pthread_t thread;
    atomic_bool stop;
    atomic_int count;
    char *requests[SCRIPT_REQUESTS]; /* whole, with body */
    /* Answers request number n (from 0) with status, content type and body. */
    void (*answer)(const char *request, int n, int *status, const char **type, char *body,
                   size_t room);
};

static inline bool script_read(const struct script *s, int fd, char *buffer, size_t room)
{
    size_t len = 0;
    while (len + 1 < room && !atomic_load(&s->stop)) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, 20) == 0)
            continue;
        ssize_t n = recv(fd, buffer + len, room - 1 - len, 0);
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

static inline void script_serve(struct script *s, int fd)
{
    char request[65536] = "";
    if (!script_read(s, fd, request, sizeof request))
        return;
    int n = atomic_load(&s->count);
    if (n < SCRIPT_REQUESTS)
        s->requests[n] = strdup(request);
    char body[16384] = "", head[512];
    int status = 200;
    const char *type = "application/json";
    s->answer(request, n, &status, &type, body, sizeof body);
    snprintf(
        head, sizeof head,
        "HTTP/1.1 %d Any\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n",
        status, type, strlen(body), status == 401 ? "WWW-Authenticate: Bearer\r\n" : "");
    bool bodyless = strncmp(request, "HEAD ", 5) == 0 || status == 204;
    atomic_fetch_add(&s->count, 1);
    if (send(fd, head, strlen(head), MSG_NOSIGNAL) > 0 && !bodyless)
        (void)!send(fd, body, strlen(body), MSG_NOSIGNAL);
}

static inline void *script_body(void *arg)
{
    struct script *s = arg;
    while (!atomic_load(&s->stop)) {
        struct pollfd p = {.fd = s->fd, .events = POLLIN};
        if (poll(&p, 1, 20) <= 0)
            continue;
        int fd = accept(s->fd, NULL, NULL);
        if (fd < 0)
            continue;
        script_serve(s, fd);
        close(fd);
    }
    return NULL;
}

static inline void script_start(struct script *s)
{
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    if (bind(s->fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(s->fd, 64) != 0 ||
        getsockname(s->fd, (struct sockaddr *)&a, &n) != 0 ||
        pthread_create(&s->thread, NULL, script_body, s) != 0)
        abort();
    s->port = ntohs(a.sin_port);
}

static inline void script_stop(struct script *s)
{
    atomic_store(&s->stop, true);
    pthread_join(s->thread, NULL);
    close(s->fd);
    for (int i = 0; i < SCRIPT_REQUESTS; i++)
        free(s->requests[i]);
}

/* True when request n begins with `start` ("POST /iceberg/v1/oauth/tokens "). */
static inline bool script_asked(const struct script *s, int n, const char *start)
{
    return n < atomic_load(&s->count) && strncmp(s->requests[n], start, strlen(start)) == 0;
}
#endif
