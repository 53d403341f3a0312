/* SHA-256 by OpenSSL, over parts that each carry a kind and a length. */
#include "core/digest.h"

#include <openssl/evp.h>
#include <string.h>

#include "core/mem.h"

#define KEPT 16 /* bytes of a digest that are written and compared */

struct hasher {
    EVP_MD_CTX *md;
};

/* The only failures of EVP here are for want of memory. */
static void must(int ok)
{
    if (ok != 1)
        mem_exhausted();
}

struct hasher *hasher_new(void)
{
    struct hasher *h = xcalloc(1, sizeof *h);
    h->md = EVP_MD_CTX_new();
    must(h->md != NULL);
    must(EVP_DigestInit_ex(h->md, EVP_sha256(), NULL));
    return h;
}

static void add_part(struct hasher *h, char kind, const void *p, uint64_t n)
{
    unsigned char head[9] = {(unsigned char)kind};
    for (int i = 0; i < 8; i++)
        head[1 + i] = (unsigned char)(n >> (8 * i));
    must(EVP_DigestUpdate(h->md, head, sizeof head));
    if (n != 0)
        must(EVP_DigestUpdate(h->md, p, n));
}

void hasher_text(struct hasher *h, const char *s)
{
    if (s == NULL)
        add_part(h, 'z', NULL, 0);
    else
        add_part(h, 't', s, strlen(s));
}

void hasher_bytes(struct hasher *h, const void *p, size_t n)
{
    add_part(h, 'b', p, n);
}

void hasher_number(struct hasher *h, int64_t v)
{
    unsigned char b[8];
    for (int i = 0; i < 8; i++)
        b[i] = (unsigned char)((uint64_t)v >> (8 * i));
    add_part(h, 'i', b, sizeof b);
}

struct digest hasher_end(struct hasher *h)
{
    struct digest d;
    must(EVP_DigestFinal_ex(h->md, d.b, NULL));
    EVP_MD_CTX_free(h->md);
    xfree(h);
    return d;
}

struct digest digest_of(const void *p, size_t n)
{
    struct digest d;
    must(EVP_Digest(p, n, d.b, NULL, EVP_sha256(), NULL));
    return d;
}

bool digest_equal(const struct digest *a, const struct digest *b)
{
    return memcmp(a->b, b->b, KEPT) == 0;
}

bool digest_none(const struct digest *d)
{
    static const struct digest none;
    return memcmp(d->b, none.b, sizeof none.b) == 0;
}

void digest_hex(const struct digest *d, char out[DIGEST_HEX])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < KEPT; i++) {
        out[2 * i] = digits[d->b[i] >> 4];
        out[2 * i + 1] = digits[d->b[i] & 15];
    }
    out[2 * KEPT] = '\0';
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool digest_parse(const char *hex, struct digest *out)
{
    if (hex == NULL || strlen(hex) != 2 * KEPT)
        return false;
    struct digest d = {{0}};
    for (size_t i = 0; i < KEPT; i++) {
        int high = digit_value(hex[2 * i]), low = digit_value(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        d.b[i] = (unsigned char)(high << 4 | low);
    }
    *out = d;
    return true;
}
