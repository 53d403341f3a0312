/* The redactor, second net below the secret type: replaces every live secret (raw, percent-encoded,
 * JSON-escaped, SQL-quoted and base64 forms) in a text by "[redacted]". Values under 8 bytes are
 * not searched, as they would match by chance. Thread-safe; its registry is filled by core/secret.c
 * alone. */
#ifndef SLUICE_CORE_REDACT_H
#define SLUICE_CORE_REDACT_H

#include <stddef.h>

void redact_register(const void *owner, const char *bytes, size_t n);
void redact_unregister(const void *owner);
/* A copy of s without secrets; xfree. NULL gives NULL. */
char *redact_copy(const char *s);
#endif
