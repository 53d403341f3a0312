/* What the TLS handshake shows of the server's certificate. libcurl reports certificates only when
 * the handshake succeeds, but they are needed when it fails: who issued it, whom it is for, until
 * when. OpenSSL's verify callback sees each certificate and its verdict; it is passed through
 * unchanged. */
#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "core/mem.h"
#include "core/text.h"
#include "net/tls_notes.h"

#define NAMES_MAX 8

struct tls_notes *tls_notes_new(void)
{
    struct tls_notes *n = xcalloc(1, sizeof *n);
    n->refs = 1;
    return n;
}

void tls_notes_clear(struct tls_notes *n)
{
    xfree(n->subject);
    xfree(n->issuer);
    xfree(n->names);
    xfree(n->failing);
    n->subject = n->issuer = n->names = n->failing = NULL;
}

void tls_notes_unref(struct tls_notes *n)
{
    if (n == NULL || --n->refs > 0)
        return;
    tls_notes_clear(n);
    xfree(n);
}

void tls_notes_move(struct tls_notes *to, struct tls_notes *from)
{
    tls_notes_clear(to);
    *to = *from;
    from->subject = from->issuer = from->names = from->failing = NULL;
}

/* OpenSSL frees it with the context, which outlives the request when the connection is
 * kept. */
static void free_with_context(void *parent, void *ptr, CRYPTO_EX_DATA *ad, int idx, long argl,
                              void *argp)
{
    (void)parent, (void)ad, (void)idx, (void)argl, (void)argp;
    tls_notes_unref(ptr);
}

static int notes_index = -1;

static void make_index(void)
{
    notes_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_with_context);
}

static char *name_text(const X509_NAME *name)
{
    BIO *bio = BIO_new(BIO_s_mem());
    if (bio == NULL)
        mem_exhausted();
    X509_NAME_print_ex(bio, name, 0, XN_FLAG_ONELINE & ~ASN1_STRFLGS_ESC_MSB);
    char *data;
    long n = BIO_get_mem_data(bio, &data);
    char *s = xstrndup(data, n > 0 ? (size_t)n : 0);
    BIO_free(bio);
    return s;
}

static void add_alternative(struct text *out, const GENERAL_NAME *g)
{
    if (g->type == GEN_DNS) {
        text_sep(out, ", ");
        text_addn(out, (const char *)ASN1_STRING_get0_data(g->d.dNSName),
                  (size_t)ASN1_STRING_length(g->d.dNSName));
    } else if (g->type == GEN_IPADD) {
        int n = ASN1_STRING_length(g->d.iPAddress);
        char address[INET6_ADDRSTRLEN];
        if ((n == 4 || n == 16) &&
            inet_ntop(n == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(g->d.iPAddress), address,
                      sizeof address) != NULL) {
            text_sep(out, ", ");
            text_add(out, address);
        }
    }
}

/* NULL when the certificate has no such names. */
static char *alternative_names(const X509 *cert)
{
    GENERAL_NAMES *all = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
    if (all == NULL)
        return NULL;
    struct text t = TEXT_LIMITED(2048);
    int count = sk_GENERAL_NAME_num(all);
    for (int i = 0; i < count && i < NAMES_MAX; i++)
        add_alternative(&t, sk_GENERAL_NAME_value(all, i));
    if (count > NAMES_MAX)
        text_addf(&t, " and %d more", count - NAMES_MAX);
    GENERAL_NAMES_free(all);
    return text_take(&t);
}

static int64_t seconds(const ASN1_TIME *t)
{
    struct tm tm;
    return t != NULL && ASN1_TIME_to_tm(t, &tm) == 1 ? (int64_t)timegm(&tm) : 0;
}

static void note_certificate(struct tls_notes *n, const X509 *cert)
{
    tls_notes_clear(n);
    n->subject = name_text(X509_get_subject_name(cert));
    n->issuer = name_text(X509_get_issuer_name(cert));
    n->names = alternative_names(cert);
    n->from = seconds(X509_get0_notBefore(cert));
    n->until = seconds(X509_get0_notAfter(cert));
}

/* The certificate of the chain that broke it: its issuer is the one to add, its dates those to
 * tell. */
static void note_failing(struct tls_notes *n, const X509 *leaf, const X509 *failing)
{
    if (failing == NULL || failing == leaf)
        return;
    xfree(n->issuer);
    n->issuer = name_text(X509_get_issuer_name(failing));
    xfree(n->failing);
    n->failing = name_text(X509_get_subject_name(failing));
    n->from = seconds(X509_get0_notBefore(failing));
    n->until = seconds(X509_get0_notAfter(failing));
}

static int watch(int verdict, X509_STORE_CTX *store)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct tls_notes *n =
        ssl != NULL ? SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), notes_index) : NULL;
    if (n == NULL)
        return verdict;
    const X509 *leaf = X509_STORE_CTX_get0_cert(store);
    if (n->subject == NULL && leaf != NULL)
        note_certificate(n, leaf);
    if (!verdict && n->verify_error == X509_V_OK) {
        n->verify_error = X509_STORE_CTX_get_error(store);
        note_failing(n, leaf, X509_STORE_CTX_get_current_cert(store));
    }
    return verdict;
}

void tls_notes_watch(void *ssl_ctx, struct tls_notes *n)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_index);
    SSL_CTX *ctx = ssl_ctx;
    /* A proxy's own handshake comes before the server's: the last one counts. */
    tls_notes_clear(n);
    n->verify_error = X509_V_OK;
    if (SSL_CTX_set_ex_data(ctx, notes_index, n) == 1)
        n->refs++;
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, watch);
}
