/* What is inside of tokens: base64 and the payload of a JWT, read in memory that is wiped. A JWT is
 * not verified, as its key is the service's: what is read here is for people and for the time of
 * renewal only. */
#ifndef SLUICE_ESTUARY_JWT_H
#define SLUICE_ESTUARY_JWT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"

#define JWT_MAX 16384 /* bytes; servers and proxies refuse longer header lines */

/* The standard alphabet or that of URLs (RFC 4648 4, 5); the padding may be missing, as a double
 * click on a word leaves it out. False when it is neither; text_wipe `out` in both cases. */
bool estuary_base64(const char *s, size_t n, struct text *out);

struct estuary_jwt {
    int64_t since, until; /* `iat`, `exp`: wall seconds; 0 not said */
    char *email, *role;   /* NULL not said */
};
/* False unless it is exactly three parts of the URL alphabet between dots, none empty, the second a
 * JSON object. `out` is to be released in both cases. */
bool estuary_jwt_read(const char *s, size_t n, struct estuary_jwt *out);
void estuary_jwt_release(struct estuary_jwt *j);
#define AUTO_JWT __attribute__((cleanup(estuary_jwt_release))) struct estuary_jwt
#endif
