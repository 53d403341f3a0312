/* The gate for texts that people will see: first redacted (core/redact.h), then cleaned
 * (core/clean.h). In this order, as cleaning would change the bytes of a secret with odd
 * characters. */
#ifndef SLUICE_CORE_SHOWN_H
#define SLUICE_CORE_SHOWN_H

#include <stdarg.h>

#include "core/clean.h"

/* Both return a new string, xfree. */
char *shown_copy(const char *s, enum clean_mode mode); /* NULL gives NULL */
char *shown_format(enum clean_mode mode, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));
#endif
