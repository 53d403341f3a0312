/* Unicode by utf8proc alone: the C library's wcwidth answers -1 for all but ASCII in the C locale.
 */
#include "core/utf8.h"

#include <stdint.h>
#include <string.h>
#include <utf8proc.h>

#include "core/mem.h"
#include "core/text.h"

/* Length of the character at s, or 0 when the bytes are not UTF-8. */
static size_t decode(const char *s, size_t n, utf8proc_int32_t *c)
{
    if ((unsigned char)s[0] < 0x80) {
        *c = (unsigned char)s[0];
        return 1;
    }
    utf8proc_ssize_t len =
        utf8proc_iterate((const utf8proc_uint8_t *)s, n > 4 ? 4 : (utf8proc_ssize_t)n, c);
    return len > 0 ? (size_t)len : 0;
}

bool utf8_valid(const char *s, size_t n)
{
    for (size_t at = 0; at < n;) {
        utf8proc_int32_t c;
        size_t len = decode(s + at, n - at, &c);
        if (len == 0)
            return false;
        at += len;
    }
    return true;
}

static size_t valid_prefix(const char *s, size_t n)
{
    size_t at = 0;
    utf8proc_int32_t c;
    for (size_t len; at < n && (len = decode(s + at, n - at, &c)) != 0;)
        at += len;
    return at;
}

void utf8_repair(struct text *out, const char *s, size_t n)
{
    for (size_t at = 0; at < n;) {
        size_t run = valid_prefix(s + at, n - at);
        text_addn(out, s + at, run);
        at += run;
        if (at < n) {
            text_add(out, "\xEF\xBF\xBD");
            at++;
        }
    }
}

/* An unprintable (width 0, not part of a cluster) has no business on a screen; clean.h escapes it.
 */
static int width_of(utf8proc_int32_t c)
{
    return c >= 0x20 && c < 0x7F ? 1 : utf8proc_charwidth(c);
}

size_t utf8_cluster(const char *s, size_t n, int *columns)
{
    utf8proc_int32_t c;
    size_t at = decode(s, n, &c);
    if (at == 0) {
        if (columns != NULL)
            *columns = 1; /* drawn as one replacement character */
        return 1;
    }
    int width = width_of(c);
    utf8proc_int32_t state = 0;
    while (at < n) {
        utf8proc_int32_t next;
        if ((unsigned char)s[at] < 0x80 && c != '\r')
            break; /* nothing joins ASCII to what stands before it, but CR LF */
        size_t len = decode(s + at, n - at, &next);
        if (len == 0 || utf8proc_grapheme_break_stateful(c, next, &state))
            break;
        width += width_of(next);
        if (width > 2)
            width = 2; /* emoji sequences and flags take two columns, whatever they are made of */
        c = next;
        at += len;
    }
    if (columns != NULL)
        *columns = width;
    return at;
}

size_t utf8_cluster_before(const char *s, size_t at)
{
    /* Between two ASCII bytes there is always a boundary (but in CR LF): start from the nearest
     * one, as the rules for emoji and flags need all that stands before. */
    size_t start = at - 1;
    while (start > 0) {
        unsigned char here = (unsigned char)s[start], left = (unsigned char)s[start - 1];
        if (here < 0x80 && left < 0x80 && !(left == '\r' && here == '\n'))
            break;
        start--;
    }
    size_t len = 1;
    while (start < at) {
        len = utf8_cluster(s + start, at - start, NULL);
        start += len;
    }
    return len;
}

int utf8_columns(const char *s)
{
    int used;
    utf8_fit(s, INT32_MAX, &used);
    return used;
}

size_t utf8_fit(const char *s, int columns, int *used)
{
    size_t n = strlen(s), at = 0;
    int total = 0;
    while (at < n) {
        int width;
        size_t len = utf8_cluster(s + at, n - at, &width);
        if (width > columns - total)
            break;
        total += width;
        at += len;
    }
    if (used != NULL)
        *used = total;
    return at;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static size_t ascii_prefix(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && (unsigned char)s[i] < 0x80)
        i++;
    return i;
}

static void fold_valid(struct text *out, const char *s, size_t n)
{
    utf8proc_uint8_t *folded = NULL;
    utf8proc_ssize_t len =
        utf8proc_map((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)n, &folded,
                     UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD);
    if (len == UTF8PROC_ERROR_NOMEM)
        mem_exhausted();
    if (len < 0)
        text_addn(out, s, n);
    else
        text_addn(out, (const char *)folded, (size_t)len);
    xfree(folded);
}

char *utf8_fold(const char *s)
{
    size_t n = strlen(s);
    if (ascii_prefix(s, n) == n) {
        char *copy = xstrndup(s, n);
        for (size_t i = 0; i < n; i++)
            copy[i] = lower(copy[i]);
        return copy;
    }
    struct text out = TEXT_INIT;
    for (size_t at = 0; at < n;) {
        size_t run = valid_prefix(s + at, n - at);
        if (run > 0)
            fold_valid(&out, s + at, run);
        at += run;
        if (at < n)
            text_addc(&out, s[at++]);
    }
    return text_take(&out);
}

/* hay is ASCII: a filter over 100,000 names runs on every key, so nothing is allocated here. */
static bool contains_ascii(const char *hay, const char *needle)
{
    size_t n = strlen(needle);
    for (; *hay != '\0'; hay++) { /* not strcasestr: its idea of "I" depends on the locale */
        size_t i = 0;
        while (i < n && lower(hay[i]) == needle[i])
            i++;
        if (i == n)
            return true;
    }
    return false;
}

bool utf8_contains_folded(const char *hay, const char *folded_needle)
{
    if (folded_needle[0] == '\0')
        return true;
    size_t n = strlen(hay);
    if (ascii_prefix(hay, n) == n)
        return contains_ascii(hay, folded_needle);
    char *folded = utf8_fold(hay);
    bool found = strstr(folded, folded_needle) != NULL;
    xfree(folded);
    return found;
}
