/* The growing string. Memory that is outgrown is wiped before it is freed, because a text may hold
 * a secret and who calls text_wipe at the end cannot reach the earlier copies any more. */
#include "core/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"

char text_empty[1] = "";

static void wipe_free(char *s, size_t room)
{
    if (room == 0)
        return;
    explicit_bzero(s, room);
    xfree(s);
}

/* Makes room for n more bytes and the NUL; n is already within the limit. Returns the outgrown
 * memory, which the caller frees, as the bytes to add may lie in it. */
static char *reserve(struct text *t, size_t n, size_t *old_room)
{
    *old_room = 0;
    size_t need = t->len + n + 1;
    if (need <= t->room)
        return NULL;
    size_t room = t->room != 0 ? t->room : 32;
    while (room < need)
        room = room > SIZE_MAX / 2 ? need : room * 2;
    if (t->limit < SIZE_MAX && room > t->limit + 1)
        room = t->limit + 1;
    char *grown = xrealloc(NULL, room, 1);
    memcpy(grown, t->s, t->len + 1);
    char *old = t->s;
    *old_room = t->room;
    t->s = grown;
    t->room = room;
    return old;
}

/* How many of the n bytes fit. A character (at most four bytes, RFC 3629) is not cut in two; bytes
 * that are not UTF-8 are cut anywhere. */
static size_t fitting(const struct text *t, const char *s, size_t n)
{
    size_t left = t->limit > t->len ? t->limit - t->len : 0;
    if (n <= left)
        return n;
    size_t at = left;
    for (int back = 0; back < 4 && at > 0; back++, at--) {
        if (((unsigned char)s[at] & 0xC0) != 0x80)
            return at;
    }
    return at == 0 ? 0 : left;
}

void text_release(struct text *t)
{
    if (t->room != 0)
        xfree(t->s);
    *t = TEXT_LIMITED(t->limit);
}

void text_wipe(struct text *t)
{
    wipe_free(t->s, t->room);
    *t = TEXT_LIMITED(t->limit);
}

void text_reset(struct text *t)
{
    if (t->room != 0)
        t->s[0] = '\0';
    t->len = 0;
    t->cut = false;
}

char *text_take(struct text *t)
{
    char *s = t->room != 0 ? t->s : xstrdup("");
    *t = TEXT_LIMITED(t->limit);
    return s;
}

void text_add(struct text *t, const char *s)
{
    if (s != NULL)
        text_addn(t, s, strlen(s));
}

void text_addn(struct text *t, const char *s, size_t n)
{
    if (t->cut || n == 0)
        return;
    size_t fits = fitting(t, s, n);
    t->cut = fits < n;
    if (fits == 0)
        return;
    size_t old_room;
    char *old = reserve(t, fits, &old_room);
    memmove(t->s + t->len, s, fits);
    t->len += fits;
    t->s[t->len] = '\0';
    wipe_free(old, old_room);
}

void text_addc(struct text *t, char c)
{
    text_addn(t, &c, 1);
}

void text_addf(struct text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    text_addv(t, fmt, ap);
    va_end(ap);
}

void text_addv(struct text *t, const char *fmt, va_list ap)
{
    if (t->cut)
        return;
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0) { /* over INT_MAX bytes */
        t->cut = true;
        return;
    }
    if (t->len <= t->limit && (size_t)n <= t->limit - t->len) {
        size_t old_room;
        char *old = reserve(t, (size_t)n, &old_room);
        (void)vsnprintf(t->s + t->len, (size_t)n + 1, fmt, ap);
        t->len += (size_t)n;
        wipe_free(old, old_room);
        return;
    }
    char *whole = xvasprintf(fmt, ap);
    text_addn(t, whole, (size_t)n);
    wipe_free(whole, (size_t)n + 1);
}

void text_sep(struct text *t, const char *sep)
{
    if (t->len != 0)
        text_add(t, sep);
}
