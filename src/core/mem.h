/* Allocation that cannot fail, and cleanup attributes.
 *
 * Out of memory is not an error a caller could handle in a useful way here: state on disk is always
 * whole (core/state.h), so the allocators run the hook that restores the terminal, say so on stderr
 * and end the process with code 70. */
#ifndef SLUICE_CORE_MEM_H
#define SLUICE_CORE_MEM_H

#include <stdarg.h>
#include <stddef.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* AUTO(free_fn) T *p = NULL; calls free_fn(p) when p leaves scope. Use AUTO_DEFINE once per type.
 */
#define AUTO(fn) __attribute__((cleanup(fn##_auto)))
#define AUTO_DEFINE(type, fn)                                                                      \
    static inline void fn##_auto(type **p)                                                         \
    {                                                                                              \
        fn(*p);                                                                                    \
    }

/* Memory is owned by the caller, freed with xfree; zeroed, save what xrealloc adds. */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t count, size_t size); /* count * size, overflow checked */
char *xstrdup(const char *s);                       /* NULL gives NULL */
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
void xfree(void *p);
/* Frees *slot and puts a copy of s (may be NULL) there; s may be part of *slot. */
void xreplace(char **slot, const char *s);

/* Called once before the process ends for want of memory; must not allocate. */
void mem_on_exhausted(void (*hook)(void));
/* What the allocators do when there is no memory; for those of libraries that answer NULL. */
void mem_exhausted(void) __attribute__((noreturn));

static inline void xfree_auto(char **p)
{
    xfree(*p);
}
#endif
