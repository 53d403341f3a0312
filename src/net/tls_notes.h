/* What a TLS handshake showed of the server's certificate, and the words for one that was refused:
 * for HTTP and PostgreSQL alike. Watching changes nothing of the verification. */
#ifndef SLUICE_NET_TLS_NOTES_H
#define SLUICE_NET_TLS_NOTES_H

#include <stdint.h>

#include "core/problem.h"

struct tls_notes {
    int refs;            /* of one thread at a time: not atomic */
    int verify_error;    /* X509_V_ERR_…, 0 none */
    char *subject;       /* NULL: no certificate was seen */
    char *issuer;        /* of the certificate that failed, else of the server's own */
    char *names;         /* DNS names and addresses it is for; NULL none */
    char *failing;       /* subject of the one that failed, where it is not the server's own */
    int64_t from, until; /* wall seconds, 0 unknown */
};

struct tls_notes *tls_notes_new(void);
void tls_notes_unref(struct tls_notes *n); /* NULL is fine */
void tls_notes_clear(struct tls_notes *n);
void tls_notes_move(struct tls_notes *to, struct tls_notes *from);
/* Watches the handshakes of an SSL_CTX, which takes a reference; verification stays required. */
void tls_notes_watch(void *ssl_ctx, struct tls_notes *n);
/* How the words differ between who asks. */
struct tls_words {
    const char *who;       /* whose certificate: a host, "the proxy …" */
    const char *code;      /* for what cannot be trusted or has ended */
    const char *code_name; /* for a certificate of another name */
    const char *fix_ca;
    const char *fix_name;
    const char *library; /* its own message, evidence; may be "" */
};
/* Fills err for a certificate that was refused; -1. */
int tls_error(const struct tls_notes *n, const struct tls_words *w, struct problem *err);
#endif
