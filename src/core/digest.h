/* SHA-256 digests of structured data. Each part is length-prefixed, so that ("ab","c") and
 * ("a","bc") differ. Digests decide staleness (core/wizard.h) and equality, not authenticity. */
#ifndef SLUICE_CORE_DIGEST_H
#define SLUICE_CORE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIGEST_HEX 33 /* with the NUL: the first 16 bytes are written, enough against chance */

struct digest {
    unsigned char b[32];
};

struct hasher; /* opaque, on the heap */

struct hasher *hasher_new(void);
void hasher_text(struct hasher *h, const char *s); /* NULL differs from "" */
void hasher_bytes(struct hasher *h, const void *p, size_t n);
void hasher_number(struct hasher *h, int64_t v);
struct digest hasher_end(struct hasher *h); /* frees h */

struct digest digest_of(const void *p, size_t n);
bool digest_equal(const struct digest *a, const struct digest *b); /* first 16 bytes */
bool digest_none(const struct digest *d);                          /* all zero */
void digest_hex(const struct digest *d, char out[DIGEST_HEX]);
bool digest_parse(const char *hex, struct digest *out);
#endif
