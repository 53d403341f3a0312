/* A second look at a certificate that libpq refused. libpq's text is "certificate verify failed"
 * and no more, and the connection is gone by then; people need the issuer, the names and the dates.
 * The handshake here verifies in the same way with the same authorities; a watcher notes what comes
 * by, and nothing follows it. */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"
#include "net/pg_impl.h"
#include "net/tcp.h"

#define PEEK_MS 3000

/* SSLRequest: length 8, code 80877103 (PostgreSQL manual, "Message Formats"). */
static const unsigned char ssl_request[] = {0, 0, 0, 8, 0x04, 0xD2, 0x16, 0x2F};

struct peek {
    const struct run *run;
    int64_t until;
    int fd;
};

static bool wait_socket(const struct peek *p, short events)
{
    int64_t left = p->until - clock_ms();
    return left > 0 && net_wait(p->run, p->fd, events, (int)left) == NET_READY;
}

/* Asks for TLS; true when the server agrees. */
static bool ask_tls(const struct peek *p)
{
    char answer = '\0';
    return send(p->fd, ssl_request, sizeof ssl_request, MSG_NOSIGNAL) ==
               (ssize_t)sizeof ssl_request &&
           wait_socket(p, POLLIN) && recv(p->fd, &answer, 1, 0) == 1 && answer == 'S';
}

/* However it ends, the notes have what was seen. */
static void shake_hands(const struct peek *p, SSL *ssl)
{
    for (;;) {
        int rc = SSL_connect(ssl);
        if (rc == 1)
            return;
        int reason = SSL_get_error(ssl, rc);
        if (reason != SSL_ERROR_WANT_READ && reason != SSL_ERROR_WANT_WRITE)
            return;
        if (!wait_socket(p, reason == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT))
            return;
    }
}

static void look(const struct peek *p, struct pg_attempt *a, const char *ca_path)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    SSL *ssl = NULL;
    AUTO(xfree) char *host = xstrdup(a->host); /* OpenSSL's macro casts const away */
    if (ctx != NULL && SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1 &&
        SSL_CTX_load_verify_file(ctx, ca_path) == 1) {
        tls_notes_watch(ctx, a->notes);
        ssl = SSL_new(ctx);
    }
    if (ssl != NULL && SSL_set_fd(ssl, p->fd) == 1) {
        if (!net_is_address(host))
            SSL_set_tlsext_host_name(ssl, host);
        shake_hands(p, ssl);
    }
    SSL_free(ssl);
    SSL_CTX_free(ctx);
    ERR_clear_error();
}

void pg_peek(const struct run *run, struct pg_attempt *a, const char *ca_path)
{
    struct peek p = {.run = run, .until = clock_ms() + PEEK_MS, .fd = -1};
    if (tcp_dial(run, a->address, (int)strtol(a->port, NULL, 10), p.until, &p.fd) != 0)
        return;
    if (ask_tls(&p))
        look(&p, a, ca_path);
    close(p.fd);
}
