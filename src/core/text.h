/* struct text: the one growing string of the program, always NUL-terminated, with a limit.
 *
 * TEXT_INIT gives an empty text with the default limit. Appending past the limit keeps what fits
 * (cut at a character boundary), sets `cut` and adds nothing more: network input can never grow
 * without bound, and who must not lose bytes checks `cut`. `s` is never NULL. */
#ifndef SLUICE_CORE_TEXT_H
#define SLUICE_CORE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#define TEXT_LIMIT_DEFAULT ((size_t)16 << 20) /* bytes; also the cap of a body, net/http.h */

struct text {
    char *s;
    size_t len;
    size_t room;  /* allocated bytes; 0 while s is the shared empty string */
    size_t limit; /* bytes without the NUL */
    bool cut;
};

extern char text_empty[];
#define TEXT_INIT ((struct text){.s = text_empty, .limit = TEXT_LIMIT_DEFAULT})
#define TEXT_LIMITED(bytes) ((struct text){.s = text_empty, .limit = (bytes)})

void text_release(struct text *t); /* frees, leaves an empty text with the same limit */
void text_reset(struct text *t);   /* empties, keeps the memory */
char *text_take(struct text *t);   /* hands the string over (never NULL; xfree), empties t */
void text_add(struct text *t, const char *s); /* NULL adds nothing */
void text_addn(struct text *t, const char *s, size_t n);
void text_addc(struct text *t, char c);
/* No argument may point into t itself (for text_add and text_addn it may). */
void text_addf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_addv(struct text *t, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Adds sep first unless t is empty: for lists. */
void text_sep(struct text *t, const char *sep);
/* Overwrites the memory before it is freed; for text that held a secret. */
void text_wipe(struct text *t);

#define AUTO_TEXT __attribute__((cleanup(text_release))) struct text
#endif
