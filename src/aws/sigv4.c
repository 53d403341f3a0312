/* SigV4: canonical request, string to sign, key chain, signature. See sigv4.h. The canonical forms
 * stand in sigv4_canon.c. */
#include "aws/sigv4.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "aws/sigv4_canon.h"
#include "core/mem.h"

#define DIGEST_BYTES 32

static void hex(const unsigned char *bytes, char out[65])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < DIGEST_BYTES; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[64] = '\0';
}

static void sha256_hex(const char *bytes, size_t n, char out[65])
{
    unsigned char digest[DIGEST_BYTES];
    EVP_Digest(bytes, n, digest, NULL, EVP_sha256(), NULL);
    hex(digest, out);
}

static void hmac(const unsigned char *key, size_t key_len, const char *text,
                 unsigned char out[DIGEST_BYTES])
{
    unsigned n = DIGEST_BYTES;
    HMAC(EVP_sha256(), key, (int)key_len, (const unsigned char *)text, strlen(text), out, &n);
}

/* The chain AWS4+secret -> date -> region -> service -> aws4_request; each key is wiped. */
static void sign(const struct sigv4_request *r, const char *date, const char *to_sign, char out[65])
{
    unsigned char a[DIGEST_BYTES];
    unsigned char b[DIGEST_BYTES];
    AUTO_TEXT first = TEXT_INIT;
    char day[9];
    snprintf(day, sizeof(day), "%.8s", date);
    text_add(&first, "AWS4");
    text_addn(&first, secret_bytes(r->secret_key), secret_len(r->secret_key));
    hmac((const unsigned char *)first.s, first.len, day, a);
    text_wipe(&first);
    hmac(a, sizeof(a), r->region, b);
    hmac(b, sizeof(b), r->service, a);
    hmac(a, sizeof(a), "aws4_request", b);
    hmac(b, sizeof(b), to_sign, a);
    hex(a, out);
    OPENSSL_cleanse(a, sizeof(a));
    OPENSSL_cleanse(b, sizeof(b));
}

static void scope_of(const struct sigv4_request *r, const char *date, struct text *out)
{
    text_addf(out, "%.8s/%s/%s/aws4_request", date, r->region, r->service);
}

static void date_of(int64_t when, char out[17])
{
    time_t t = (time_t)when;
    struct tm tm;
    gmtime_r(&t, &tm);
    strftime(out, 17, "%Y%m%dT%H%M%SZ", &tm);
}

static void result_init(const struct sigv4_request *r, struct sigv4_result *out)
{
    *out = (struct sigv4_result){.canonical = TEXT_INIT,
                                 .to_sign = TEXT_INIT,
                                 .authorization = TEXT_INIT,
                                 .query = TEXT_INIT};
    date_of(r->when, out->date);
    sha256_hex(r->body != NULL ? r->body : "", r->body_len, out->payload);
}

void sigv4_result_release(struct sigv4_result *r)
{
    text_release(&r->canonical);
    text_release(&r->to_sign);
    text_release(&r->authorization);
    text_release(&r->query);
}

/* Fills canonical, to_sign and signature; headers and query are canonical already. */
static void finish(const struct sigv4_request *r, const char *query, const struct text *headers,
                   const char *signed_names, struct sigv4_result *out)
{
    char digest[65];
    text_addf(&out->canonical, "%s\n", r->method);
    sigv4_canon_path(&out->canonical, r->path, r->keep_path, r->normalise);
    text_addf(&out->canonical, "\n%s\n%s\n%s\n%s", query, headers->s, signed_names, out->payload);
    sha256_hex(out->canonical.s, out->canonical.len, digest);
    text_addf(&out->to_sign, "AWS4-HMAC-SHA256\n%s\n", out->date);
    scope_of(r, out->date, &out->to_sign);
    text_addf(&out->to_sign, "\n%s", digest);
    sign(r, out->date, out->to_sign.s, out->signature);
}

int sigv4_sign_header(const struct sigv4_request *r, struct sigv4_result *out, struct problem *err)
{
    struct sigv4_headers h;
    AUTO_TEXT query = TEXT_INIT;
    AUTO_TEXT headers = TEXT_INIT;
    AUTO_TEXT names = TEXT_INIT;
    result_init(r, out);
    sigv4_headers_init(&h);
    int rc = sigv4_headers_take(&h, r->headers, r->header_count, err);
    sigv4_headers_add(&h, "x-amz-date", out->date);
    if (r->sign_body_header)
        sigv4_headers_add(&h, "x-amz-content-sha256", out->payload);
    if (r->session_token != NULL && !r->token_after)
        sigv4_headers_add(&h, "x-amz-security-token", r->session_token);
    sigv4_canon_headers(&h, &headers, &names);
    sigv4_canon_query(&query, r->query, NULL, 0);
    sigv4_headers_release(&h);
    if (rc != 0) {
        sigv4_result_release(out);
        return -1;
    }
    finish(r, query.s, &headers, names.s, out);
    text_addf(&out->authorization, "AWS4-HMAC-SHA256 Credential=%s/", r->key_id);
    scope_of(r, out->date, &out->authorization);
    text_addf(&out->authorization, ", SignedHeaders=%s, Signature=%s", names.s, out->signature);
    return 0;
}

int sigv4_sign_query(const struct sigv4_request *r, struct sigv4_result *out, struct problem *err)
{
    struct sigv4_headers h;
    AUTO_TEXT headers = TEXT_INIT;
    AUTO_TEXT names = TEXT_INIT;
    AUTO_TEXT scope = TEXT_INIT;
    result_init(r, out);
    sigv4_headers_init(&h);
    int rc = sigv4_headers_take(&h, r->headers, r->header_count, err);
    sigv4_canon_headers(&h, &headers, &names);
    sigv4_headers_release(&h);
    if (rc != 0) {
        sigv4_result_release(out);
        return -1;
    }
    text_addf(&scope, "%s/", r->key_id);
    scope_of(r, out->date, &scope);
    AUTO(xfree) char *expires = xasprintf("%d", r->expires_s);
    struct sigv4_header extra[6] = {
        {"X-Amz-Algorithm", "AWS4-HMAC-SHA256"},
        {"X-Amz-Credential", scope.s},
        {"X-Amz-Date", out->date},
        {"X-Amz-Expires", expires},
        {"X-Amz-SignedHeaders", names.s},
    };
    size_t count = 5;
    if (r->session_token != NULL && !r->token_after)
        extra[count++] = (struct sigv4_header){"X-Amz-Security-Token", r->session_token};
    sigv4_canon_query(&out->query, r->query, extra, count);
    finish(r, out->query.s, &headers, names.s, out);
    if (r->session_token != NULL && r->token_after) {
        text_add(&out->query, "&X-Amz-Security-Token=");
        sigv4_encode(&out->query, r->session_token, strlen(r->session_token), false);
    }
    text_addf(&out->query, "&X-Amz-Signature=%s", out->signature);
    return 0;
}
