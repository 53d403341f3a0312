/* The registry of live secrets in the forms they take on their way out, and the search for them. */
#include "core/redact.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <utf8proc.h>

#include "core/mem.h"
#include "core/text.h"

#define LEAST_BYTES 8 /* shorter values would match by chance */
#define LEAST_LINE 16 /* a line of a key; shorter ones are common words */
#define LINES_MAX 128 /* lines of one secret that are searched on their own */
#define REPLACEMENT "[redacted]"

struct form {
    char *bytes;
    size_t n;
    bool before, after; /* base64: the character beside it holds bits of the secret, too */
};

struct entry {
    const void *owner;
    struct form *forms;
    size_t count;
    struct entry *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;
static uint32_t starts[256]; /* how many forms begin with this byte */

/* Takes the bytes of t; forms that repeat an earlier one or are too short are dropped. */
static void keep(struct entry *e, struct text *t, bool before, bool after)
{
    bool useless = t->len < LEAST_BYTES || t->cut;
    for (size_t i = 0; i < e->count && !useless; i++)
        useless = e->forms[i].n == t->len && memcmp(e->forms[i].bytes, t->s, t->len) == 0;
    if (!useless) {
        e->forms = xrealloc(e->forms, e->count + 1, sizeof *e->forms);
        size_t n = t->len;
        e->forms[e->count++] =
            (struct form){.n = n, .bytes = text_take(t), .before = before, .after = after};
    }
    text_wipe(t);
}

/* RFC 3986 2.1 in upper or lower case; plus: a blank as application/x-www-form-urlencoded has it.
 */
static void add_percent(struct entry *e, const char *s, size_t n, const char *digits, bool plus)
{
    struct text t = TEXT_INIT;
    for (size_t i = 0; i < n; i++) {
        unsigned char u = (unsigned char)s[i];
        bool alnum = (u >= '0' && u <= '9') || (u >= 'A' && u <= 'Z') || (u >= 'a' && u <= 'z');
        if (alnum || (u != 0 && strchr("-._~", u) != NULL)) {
            text_addc(&t, s[i]);
        } else if (u == ' ' && plus) {
            text_addc(&t, '+');
        } else {
            text_addc(&t, '%');
            text_addc(&t, digits[u >> 4]);
            text_addc(&t, digits[u & 15]);
        }
    }
    keep(e, &t, false, false);
}

static void add_json_unit(struct text *t, unsigned unit)
{
    text_addf(t, "\\u%04x", unit);
}

static void add_json_ascii(struct text *t, utf8proc_int32_t c)
{
    if (c < 0x10000) {
        add_json_unit(t, (unsigned)c);
        return;
    }
    add_json_unit(t, 0xD800 + (unsigned)((c - 0x10000) >> 10));
    add_json_unit(t, 0xDC00 + (unsigned)((c - 0x10000) & 0x3FF));
}

/* RFC 8259 7; slash: as writers that escape it; ascii: as those that escape all but ASCII. */
static void add_json(struct entry *e, const char *s, size_t n, bool slash, bool ascii)
{
    static const char shorts[] = "\b\f\n\r\t\"\\";
    static const char letters[] = "bfnrt\"\\";
    struct text t = TEXT_INIT;
    for (size_t i = 0; i < n; i++) {
        unsigned char u = (unsigned char)s[i];
        const char *at = u != 0 ? strchr(shorts, u) : NULL;
        utf8proc_int32_t c;
        utf8proc_ssize_t len = 1;
        if (at != NULL || (u == '/' && slash)) {
            text_addc(&t, '\\');
            text_addc(&t, at != NULL ? letters[at - shorts] : '/');
        } else if (u < 0x20) {
            add_json_unit(&t, u);
        } else if (u >= 0x80 && ascii &&
                   (len = utf8proc_iterate((const utf8proc_uint8_t *)s + i,
                                           (utf8proc_ssize_t)(n - i), &c)) > 0) {
            add_json_ascii(&t, c);
            i += (size_t)len - 1;
        } else {
            text_addc(&t, s[i]);
        }
    }
    keep(e, &t, false, false);
}

/* SQL literals ('' and, in E'', \\) and libpq's conninfo (\' and \\). */
static void add_quoted(struct entry *e, const char *s, size_t n, const char *quote, bool backslash)
{
    struct text t = TEXT_INIT;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\'')
            text_add(&t, quote);
        else if (s[i] == '\\' && backslash)
            text_add(&t, "\\\\");
        else
            text_addc(&t, s[i]);
    }
    keep(e, &t, false, false);
}

/* The characters that the secret alone decides when `offset` bytes stand before it (mod 3): so it
 * is found inside a longer base64 text, such as the "user:password" of Basic authentication. */
static void add_base64(struct entry *e, const char *s, size_t n, size_t offset,
                       const char *last_two)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    struct text t = TEXT_INIT;
    size_t first = (offset * 8 + 5) / 6, end = (offset + n) * 8 / 6;
    for (size_t i = first; i < end; i++) {
        unsigned value = 0;
        for (size_t bit = i * 6; bit < i * 6 + 6; bit++) {
            unsigned char u = (unsigned char)s[bit / 8 - offset];
            value = value << 1 | ((u >> (7 - bit % 8)) & 1U);
        }
        text_addc(&t, value < 62 ? digits[value] : last_two[value - 62]);
    }
    keep(e, &t, offset * 8 % 6 != 0, (offset + n) * 8 % 6 != 0);
}

/* A private key is often printed line by line, indented. */
static void add_lines(struct entry *e, const char *s, size_t n)
{
    size_t lines = 0;
    for (size_t at = 0; at < n && lines < LINES_MAX;) {
        const char *nl = memchr(s + at, '\n', n - at);
        size_t len = nl != NULL ? (size_t)(nl - (s + at)) : n - at;
        size_t used = len > 0 && s[at + len - 1] == '\r' ? len - 1 : len;
        if (used >= LEAST_LINE && used < n && memcmp(s + at, "-----", 5) != 0) {
            struct text t = TEXT_INIT;
            text_addn(&t, s + at, used);
            keep(e, &t, false, false);
            lines++;
        }
        at += len + 1;
    }
}

static void add_forms(struct entry *e, const char *s, size_t n)
{
    struct text raw = TEXT_INIT;
    text_addn(&raw, s, n);
    keep(e, &raw, false, false);
    for (int plus = 0; plus < 2; plus++) {
        add_percent(e, s, n, "0123456789ABCDEF", plus);
        add_percent(e, s, n, "0123456789abcdef", plus);
    }
    for (int form = 0; form < 4; form++)
        add_json(e, s, n, form & 1, form & 2);
    add_quoted(e, s, n, "''", false);
    add_quoted(e, s, n, "''", true);
    add_quoted(e, s, n, "\\'", true);
    for (size_t offset = 0; offset < 3; offset++) {
        add_base64(e, s, n, offset, "+/");
        add_base64(e, s, n, offset, "-_");
    }
    if (memchr(s, '\n', n) != NULL)
        add_lines(e, s, n);
}

void redact_register(const void *owner, const char *bytes, size_t n)
{
    if (n < LEAST_BYTES)
        return;
    struct entry *e = xcalloc(1, sizeof *e);
    e->owner = owner;
    add_forms(e, bytes, n);
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < e->count; i++)
        starts[(unsigned char)e->forms[i].bytes[0]]++;
    e->next = entries;
    entries = e;
    pthread_mutex_unlock(&lock);
}

void redact_unregister(const void *owner)
{
    pthread_mutex_lock(&lock);
    struct entry **link = &entries;
    while (*link != NULL && (*link)->owner != owner)
        link = &(*link)->next;
    struct entry *e = *link;
    if (e != NULL) {
        *link = e->next;
        for (size_t i = 0; i < e->count; i++)
            starts[(unsigned char)e->forms[i].bytes[0]]--;
    }
    pthread_mutex_unlock(&lock);
    if (e == NULL)
        return;
    for (size_t i = 0; i < e->count; i++) {
        explicit_bzero(e->forms[i].bytes, e->forms[i].n);
        xfree(e->forms[i].bytes);
    }
    xfree(e->forms);
    xfree(e);
}

static bool is_base64(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '+' ||
           c == '/' || c == '-' || c == '_';
}

/* Longest form at s + at; *from and *to give the range to hide, with the characters of base64
 * beside it that hold bits of the secret. */
static bool match_at(const char *s, size_t n, size_t at, size_t *from, size_t *to)
{
    bool found = false;
    for (const struct entry *e = entries; e != NULL; e = e->next) {
        for (size_t i = 0; i < e->count; i++) {
            const struct form *f = &e->forms[i];
            if (f->n > n - at || memcmp(s + at, f->bytes, f->n) != 0)
                continue;
            size_t start = at, end = at + f->n;
            if (f->before && start > 0 && is_base64(s[start - 1]))
                start--;
            if (f->after && end < n && is_base64(s[end]))
                end++;
            *from = !found || start < *from ? start : *from;
            *to = !found || end > *to ? end : *to;
            found = true;
        }
    }
    return found;
}

/* Ranges that touch or overlap are hidden as one, so that of two secrets sharing bytes none shows.
 */
static void redact_into(struct text *out, const char *s, size_t n)
{
    size_t copied = 0, hide_to = 0;
    bool hiding = false;
    for (size_t at = 0; at < n; at++) {
        if (hiding && at > hide_to) {
            text_add(out, REPLACEMENT);
            copied = hide_to;
            hiding = false;
        }
        size_t from, to;
        if (starts[(unsigned char)s[at]] == 0 || !match_at(s, n, at, &from, &to))
            continue;
        if (!hiding) {
            from = from < copied ? copied : from;
            text_addn(out, s + copied, from - copied);
            hide_to = to;
            hiding = true;
        } else if (to > hide_to) {
            hide_to = to;
        }
    }
    if (hiding) {
        text_add(out, REPLACEMENT);
        copied = hide_to;
    }
    text_addn(out, s + copied, n - copied);
}

char *redact_copy(const char *s)
{
    if (s == NULL)
        return NULL;
    struct text out = TEXT_INIT;
    pthread_mutex_lock(&lock);
    redact_into(&out, s, strlen(s));
    pthread_mutex_unlock(&lock);
    return text_take(&out);
}
