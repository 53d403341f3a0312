/* Waiting between attempts: the operator's cancel and the deadline end it. The server is a thread
 * that says the same to everybody. What calls say and mean is tested against the stand-in for AWS.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "aws/call.h"
#include "core/clock.h"
#include "core/mem.h"
#include "net/net.h"

#define SLOW_DOWN                                                                                  \
    "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"

static struct {
    int listener;
    pthread_t thread;
    _Atomic int requests;
} server;
static struct net *net;

static void *serve(void *arg)
{
    (void)arg;
    for (;;) {
        int fd = accept(server.listener, NULL, NULL);
        if (fd < 0)
            return NULL;
        char buffer[8192];
        size_t n = 0;
        ssize_t got;
        while (n < sizeof(buffer) - 1 && (got = read(fd, buffer + n, sizeof(buffer) - 1 - n)) > 0) {
            n += (size_t)got;
            buffer[n] = '\0';
            if (strstr(buffer, "\r\n\r\n") != NULL)
                break;
        }
        server.requests++;
        AUTO(xfree)
        char *answer = xasprintf("HTTP/1.1 503 Slow\r\nConnection: close\r\nRetry-After: 10\r\n"
                                 "Content-Type: application/xml\r\nContent-Length: %zu\r\n\r\n%s",
                                 strlen(SLOW_DOWN), SLOW_DOWN);
        if (write(fd, answer, strlen(answer)) < 0)
            perror("write");
        close(fd);
    }
}

static int begin(void **state)
{
    (void)state;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(at);
    server.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(server.listener, (struct sockaddr *)&at, size) != 0 ||
        listen(server.listener, 8) != 0 ||
        getsockname(server.listener, (struct sockaddr *)&at, &size) != 0)
        return -1;
    AUTO(xfree) char *url = xasprintf("http://127.0.0.1:%d", ntohs(at.sin_port));
    setenv("AWS_ENDPOINT_URL", url, 1);
    unsetenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
    unsetenv("http_proxy");
    net = net_new(&(struct net_options){0}, NULL);
    return net == NULL ? -1 : pthread_create(&server.thread, NULL, serve, NULL);
}

static int end(void **state)
{
    (void)state;
    shutdown(server.listener, SHUT_RDWR);
    pthread_join(server.thread, NULL);
    close(server.listener);
    net_free(net);
    return 0;
}

static int list(struct run *run, struct problem *err)
{
    char id[] = "AKIA";
    struct aws_credentials c = {.key_id = id, .secret_key = secret_new("x", 1)};
    const struct aws_client client = {.credentials = &c, .region = "us-east-1"};
    AUTO_AWS_CALL call;
    AUTO_AWS_ANSWER a;
    aws_call_init(&call, &aws_s3, "ListBuckets");
    call.method = "GET";
    int rc = aws_send(run, &client, &call, &a, err);
    assert_int_equal(a.status, a.http.status); /* both are told of a failed call, too */
    secret_unref(c.secret_key);
    return rc;
}

static void *cancel_soon(void *run)
{
    poll(NULL, 0, 300);
    run_cancel_detached(run);
    return NULL;
}

static void cancel_ends_the_pause(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct run *run = run_new_detached(NULL, net, 30000);
    pthread_t thread;
    int64_t before = clock_ms();
    server.requests = 0;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, run), 0);
    assert_int_equal(list(run, &err), -1);
    assert_int_equal(err.kind, PROBLEM_CANCELLED);
    assert_non_null(strstr(err.what, "ask again; last: ")); /* what it waited for */
    assert_true(clock_ms() - before < 5000);
    assert_int_equal(server.requests, 1);
    pthread_join(thread, NULL);
    run_free(run);
}

/* What the service said is worth more than that there was no time left for the next attempt. */
static void a_pause_past_the_deadline_is_not_begun(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct run *run = run_new_detached(NULL, net, 6000);
    int64_t before = clock_ms();
    server.requests = 0;
    assert_int_equal(list(run, &err), -1);
    assert_true(aws_is(&err, "SlowDown"));
    assert_int_equal(err.kind, PROBLEM_UNREACHABLE);
    assert_non_null(strstr(err.evidence, "Retry-After 10"));
    assert_true(clock_ms() - before < 5000);
    assert_int_equal(server.requests, 1);
    run_free(run);
}

/* As the proxy of another net, at the service's real name. */
static void a_proxy_that_refuses_is_asked_once(void **state)
{
    (void)state;
    AUTO(xfree) char *url = xstrdup(getenv("AWS_ENDPOINT_URL"));
    setenv("HTTPS_PROXY", url, 1);
    unsetenv("AWS_ENDPOINT_URL");
    struct net *behind = net_new(&(struct net_options){0}, NULL);
    unsetenv("HTTPS_PROXY");
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct run *run = run_new_detached(NULL, behind, 30000);
    server.requests = 0;
    int rc = list(run, &err);
    setenv("AWS_ENDPOINT_URL", url, 1);
    assert_int_equal(rc, -1);
    assert_true(aws_is(&err, "proxy 503"));
    assert_int_equal(server.requests, 1);
    run_free(run);
    net_free(behind);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancel_ends_the_pause),
        cmocka_unit_test(a_pause_past_the_deadline_is_not_begun),
        cmocka_unit_test(a_proxy_that_refuses_is_asked_once),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
