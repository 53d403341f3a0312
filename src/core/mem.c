/* Allocators that end the process instead of returning NULL, so that no caller needs a path that no
 * test could ever reach. Only async-signal-safe calls are made once memory is gone. */
#include "core/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_EXHAUSTED 70 /* EX_SOFTWARE of sysexits.h */

static void (*exhausted_hook)(void);

void mem_on_exhausted(void (*hook)(void))
{
    exhausted_hook = hook;
}

void mem_exhausted(void)
{
    static const char message[] =
        "sluice: out of memory. What was saved is whole; start sluice again to go on.\n";
    if (exhausted_hook != NULL)
        exhausted_hook();
    ssize_t ignored = write(STDERR_FILENO, message, sizeof message - 1);
    (void)ignored;
    _exit(EXIT_EXHAUSTED);
}

void *xmalloc(size_t size)
{
    return xcalloc(1, size);
}

void *xcalloc(size_t count, size_t size)
{
    void *p = calloc(count != 0 ? count : 1, size != 0 ? size : 1);
    if (p == NULL)
        mem_exhausted();
    return p;
}

void *xrealloc(void *p, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        mem_exhausted();
    void *grown = realloc(p, bytes != 0 ? bytes : 1);
    if (grown == NULL)
        mem_exhausted();
    return grown;
}

char *xstrdup(const char *s)
{
    return s != NULL ? xstrndup(s, strlen(s)) : NULL;
}

char *xstrndup(const char *s, size_t n)
{
    if (s == NULL)
        return NULL;
    size_t len = strnlen(s, n);
    if (len == SIZE_MAX)
        mem_exhausted();
    char *copy = xrealloc(NULL, len + 1, 1);
    memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *xasprintf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = xvasprintf(fmt, ap);
    va_end(ap);
    return s;
}

char *xvasprintf(const char *fmt, va_list ap)
{
    char *s = NULL;
    /* Besides memory only a result over INT_MAX can fail, which is want of memory for our purposes.
     */
    if (vasprintf(&s, fmt, ap) < 0)
        mem_exhausted();
    return s;
}

void xfree(void *p)
{
    free(p);
}

void xreplace(char **slot, const char *s)
{
    char *copy = xstrdup(s);
    xfree(*slot);
    *slot = copy;
}
