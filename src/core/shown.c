/* See shown.h. What was formatted is wiped: it may have held a secret until the redactor saw it. */
#include "core/shown.h"

#include <string.h>

#include "core/mem.h"
#include "core/redact.h"

char *shown_copy(const char *s, enum clean_mode mode)
{
    if (s == NULL)
        return NULL;
    char *redacted = redact_copy(s);
    char *clean = clean_copy(redacted, mode);
    xfree(redacted);
    return clean;
}

char *shown_format(enum clean_mode mode, const char *fmt, va_list ap)
{
    char *raw = xvasprintf(fmt, ap);
    char *shown = shown_copy(raw, mode);
    explicit_bzero(raw, strlen(raw));
    xfree(raw);
    return shown;
}
