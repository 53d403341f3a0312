/* struct secret: bytes that must not be seen. Immutable, reference-counted (thread-safe), wiped at
 * the last release, locked in memory where that is allowed.
 *
 * There is no conversion into text: who needs the bytes for a protocol borrows them for the call by
 * secret_bytes and must copy them only into memory that is wiped (text_wipe, explicit_bzero). Every
 * new secret registers with the redactor (core/redact.h) until its last release. */
#ifndef SLUICE_CORE_SECRET_H
#define SLUICE_CORE_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/problem.h"

#define SECRET_MAX 65536 /* bytes */

struct secret;

/* Copies n bytes; the revision is random, so that a digest changes with each edit and says nothing
 * of the value. Trailing NUL is kept internally, not counted. */
struct secret *secret_new(const char *bytes, size_t n);
/* With a known revision: read back from the secrets file, so that kept digests stand after a
 * restart. */
struct secret *secret_restore(const char *bytes, size_t n, uint64_t revision);
struct secret *secret_ref(struct secret *s);
void secret_unref(struct secret *s);              /* NULL is fine */
const char *secret_bytes(const struct secret *s); /* borrowed, NUL-terminated */
size_t secret_len(const struct secret *s);
uint64_t secret_revision(const struct secret *s);
bool secret_equal(const struct secret *a,
                  const struct secret *b); /* constant time in the contents */
/* "••••••3f": dots and the last two characters, none of them when shorter than 8; xfree. */
char *secret_mask(const struct secret *s);
/* n random characters of [A-Za-z0-9] (about 5.95 bits each) from the system's generator. */
struct secret *secret_generate(size_t n);
/* Resolves a reference "env:NAME" or "file:/absolute" (one trailing newline is cut off; a file that
 * is group- or world-readable, a symlink or foreign-owned is refused). NULL and err on failure. The
 * variable is removed from the environment once read. */
struct secret *secret_from_reference(const char *reference, struct problem *err);
bool secret_is_reference(const char *s); /* starts with env: or file: */
#endif
