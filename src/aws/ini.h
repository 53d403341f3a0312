/* AWS's shared files (~/.aws/config, ~/.aws/credentials) as the AWS CLI reads them.
 *
 * Not inih: Debian's cuts lines at 200 bytes, and a session token has some hundreds to thousands.
 * The dialect: '#' or ';' first on a line is a comment, in a value only after a blank; '=' or ':'
 * divides, the first of them; keys have no case; a line further in than the one before continues
 * its value (nested settings such as those of s3 =); CRLF and a byte-order mark are fine. */
#ifndef SLUICE_AWS_INI_H
#define SLUICE_AWS_INI_H

#include <stddef.h>

/* key NULL = a section begins. All strings are borrowed for the call, the key is in lower case.
 * Continuations are not told. */
struct ini_reader {
    void (*take)(void *ctx, const char *section, const char *key, const char *value);
    void *ctx;
};
/* Cuts `bytes` up in place, so that no copy of a secret is left anywhere. 0, or the number of the
 * first line that is none of the dialect. */
size_t ini_read(char *bytes, const struct ini_reader *reader);
#endif
