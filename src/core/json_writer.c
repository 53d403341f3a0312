/* Compact JSON, written straight into a text. */
#include <string.h>
#include <utf8proc.h>

#include "core/json.h"

static void separate(struct json_writer *w)
{
    if (w->need_comma)
        text_addc(w->out, ',');
    w->need_comma = true;
}

void json_begin(struct json_writer *w, char bracket)
{
    separate(w);
    text_addc(w->out, bracket);
    w->need_comma = false;
}

void json_end(struct json_writer *w, char bracket)
{
    text_addc(w->out, bracket);
    w->need_comma = true;
}

/* One character that is not plain ASCII; returns how many bytes it took. */
static size_t add_special(struct text *out, const char *s, size_t left)
{
    static const char shorts[] = "\b\f\n\r\t\"\\";
    static const char letters[] = "bfnrt\"\\";
    unsigned char u = (unsigned char)s[0];
    const char *at = strchr(shorts, u);
    if (at != NULL) {
        text_addc(out, '\\');
        text_addc(out, letters[at - shorts]);
        return 1;
    }
    if (u < 0x20) {
        text_addf(out, "\\u%04x", u);
        return 1;
    }
    utf8proc_int32_t c;
    utf8proc_ssize_t len =
        utf8proc_iterate((const utf8proc_uint8_t *)s, left > 4 ? 4 : (utf8proc_ssize_t)left, &c);
    if (len <= 0) {
        text_add(out, "\xEF\xBF\xBD");
        return 1;
    }
    text_addn(out, s, (size_t)len);
    return (size_t)len;
}

static void add_string(struct text *out, const char *s)
{
    size_t n = strlen(s);
    text_addc(out, '"');
    for (size_t at = 0; at < n;) {
        size_t run = at;
        while (run < n && s[run] >= 0x20 && (unsigned char)s[run] < 0x80 && s[run] != '"' &&
               s[run] != '\\')
            run++;
        text_addn(out, s + at, run - at);
        at = run;
        if (at < n)
            at += add_special(out, s + at, n - at);
    }
    text_addc(out, '"');
}

void json_key(struct json_writer *w, const char *key)
{
    separate(w);
    add_string(w->out, key);
    text_addc(w->out, ':');
    w->need_comma = false;
}

void json_add_text(struct json_writer *w, const char *s)
{
    separate(w);
    if (s == NULL)
        text_add(w->out, "null");
    else
        add_string(w->out, s);
}

void json_add_number(struct json_writer *w, long long v)
{
    separate(w);
    text_addf(w->out, "%lld", v);
}

void json_add_letters(struct json_writer *w, const char *json)
{
    separate(w);
    text_add(w->out, json);
}

void json_add_bool(struct json_writer *w, bool v)
{
    separate(w);
    text_add(w->out, v ? "true" : "false");
}

void json_add_null(struct json_writer *w)
{
    json_add_text(w, NULL);
}

void json_pair_text(struct json_writer *w, const char *key, const char *s)
{
    json_key(w, key);
    json_add_text(w, s);
}

void json_pair_number(struct json_writer *w, const char *key, long long v)
{
    json_key(w, key);
    json_add_number(w, v);
}

void json_pair_bool(struct json_writer *w, const char *key, bool v)
{
    json_key(w, key);
    json_add_bool(w, v);
}
