/* The sanitiser. It decides by Unicode category (utf8proc), not by the C library, whose answer
 * depends on the locale: what is kept is what draws something of its own, all else is shown in an
 * escaped form. */
#include "core/clean.h"

#include <string.h>
#include <utf8proc.h>

#include "core/mem.h"

#define TAB_SPACES "    "
#define MARKS_MAX                                                                                  \
    8 /* combining marks on one base; living scripts stay below, a storm draws over lines */
#define ZWJ 0x200D
#define VS15 0xFE0E /* text presentation */
#define VS16 0xFE0F /* emoji presentation */

/* What was kept before the character in hand. */
struct before {
    bool base;         /* a kept character that marks may join */
    bool pictographic; /* an Extended_Pictographic and its extenders: ZWJ may follow */
    int marks;
};

static bool is_mark(utf8proc_category_t category)
{
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME;
}

static bool pictographic_at(const char *s, size_t n)
{
    utf8proc_int32_t c;
    if (n == 0 || utf8proc_iterate((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)n, &c) <= 0)
        return false;
    return utf8proc_get_property(c)->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

static bool keeps_category(utf8proc_category_t category)
{
    switch (category) {
    case UTF8PROC_CATEGORY_CN: /* unassigned */
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF: /* bidi controls, zero-width, tags, soft hyphen */
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO: /* private use: nobody knows the width */
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return false;
    default:
        return true;
    }
}

/* c is not ASCII; `rest` are the bytes after it. */
static bool printable(utf8proc_int32_t c, const struct before *b, const char *rest, size_t left)
{
    const utf8proc_property_t *p = utf8proc_get_property(c);
    if (c == ZWJ)
        return b->pictographic && pictographic_at(rest, left);
    if (c == VS15 || c == VS16)
        return b->base && b->marks < MARKS_MAX;
    if (p->ignorable || !keeps_category((utf8proc_category_t)p->category))
        return false;
    if (is_mark((utf8proc_category_t)p->category))
        return b->base && b->marks < MARKS_MAX;
    return true;
}

static void note_kept(struct before *b, utf8proc_int32_t c)
{
    const utf8proc_property_t *p = utf8proc_get_property(c);
    bool extends = p->boundclass == UTF8PROC_BOUNDCLASS_EXTEND || c == ZWJ;
    b->pictographic =
        p->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC || (b->pictographic && extends);
    b->marks = is_mark((utf8proc_category_t)p->category) ? b->marks + 1 : 0;
    b->base = true;
}

static void add_ascii(struct text *out, char c, enum clean_mode mode, struct before *b)
{
    unsigned char u = (unsigned char)c;
    *b = (struct before){.base = u >= 0x20 && u != 0x7F};
    if (b->base || (c == '\n' && mode == CLEAN_LINES))
        text_addc(out, c);
    else if (c == '\t' && mode == CLEAN_LINES)
        text_add(out, TAB_SPACES);
    else
        text_addf(out, "^%c", u ^ 0x40); /* DEL gives ^? */
}

void clean_add(struct text *out, const char *s, size_t n, enum clean_mode mode)
{
    struct before b = {0};
    size_t at = 0;
    while (at < n && !out->cut) {
        unsigned char u = (unsigned char)s[at];
        if (u < 0x80) {
            size_t end = at; /* the usual run goes in one piece */
            while (end < n && s[end] >= 0x20 && s[end] < 0x7F)
                end++;
            if (end > at) {
                text_addn(out, s + at, end - at);
                b = (struct before){.base = true};
                at = end;
            } else {
                add_ascii(out, s[at++], mode, &b);
            }
            continue;
        }
        utf8proc_int32_t c;
        size_t left = n - at;
        utf8proc_ssize_t len = utf8proc_iterate((const utf8proc_uint8_t *)s + at,
                                                left > 4 ? 4 : (utf8proc_ssize_t)left, &c);
        if (len <= 0) {
            text_addf(out, "\\x%02X", u);
            b = (struct before){0};
            at++;
            continue;
        }
        if (printable(c, &b, s + at + len, left - (size_t)len)) {
            text_addn(out, s + at, (size_t)len);
            note_kept(&b, c);
        } else {
            text_addf(out, "\\u{%02X}", (unsigned)c);
            b = (struct before){0};
        }
        at += (size_t)len;
    }
}

char *clean_copy(const char *s, enum clean_mode mode)
{
    struct text out = TEXT_INIT;
    if (s != NULL)
        clean_add(&out, s, strlen(s), mode);
    return text_take(&out);
}

char *clean_excerpt(const char *s, size_t n, size_t max)
{
    struct text head = TEXT_LIMITED(max);
    struct text out = TEXT_INIT;
    text_addn(&head, s, n); /* cuts at a character boundary */
    clean_add(&out, head.s, head.len, CLEAN_LINE);
    if (head.cut)
        text_add(&out, "…");
    text_wipe(&head);
    return text_take(&out);
}
