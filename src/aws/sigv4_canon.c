/* Canonical path, query and headers of SigV4. See sigv4_canon.h. */
#include "aws/sigv4_canon.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/mem.h"

void sigv4_encode(struct text *out, const char *s, size_t n, bool keep_slash)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '.' || c == '_' || c == '~' || (keep_slash && c == '/');
        if (plain) {
            text_addc(out, (char)c);
        } else {
            text_addc(out, '%');
            text_addc(out, digits[c >> 4]);
            text_addc(out, digits[c & 15]);
        }
    }
}

/* --- path ------------------------------------------------------------------------------------- */

/* Removes "." and "..", and doubled slashes (RFC 3986 5.2.4 as AWS does it). */
static void resolve(struct text *out, const char *path)
{
    size_t starts[256];
    size_t depth = 0;
    for (const char *at = path; *at != '\0';) {
        at += strspn(at, "/");
        size_t n = strcspn(at, "/");
        if (n == 2 && strncmp(at, "..", 2) == 0) {
            if (depth > 0)
                out->s[out->len = starts[--depth]] = '\0';
        } else if (n > 0 && !(n == 1 && at[0] == '.') && depth < ARRAY_LEN(starts)) {
            starts[depth++] = out->len;
            text_addc(out, '/');
            text_addn(out, at, n);
        }
        at += n;
    }
    size_t last = strlen(path);
    bool folder = last > 0 && path[last - 1] == '/';
    if (out->len == 0 || folder)
        text_addc(out, '/');
}

void sigv4_canon_path(struct text *out, const char *path, bool keep, bool normalise)
{
    if (path == NULL || path[0] == '\0') {
        text_addc(out, '/');
        return;
    }
    if (keep) {
        text_add(out, path);
        return;
    }
    AUTO_TEXT resolved = TEXT_INIT;
    if (normalise)
        resolve(&resolved, path);
    else
        text_add(&resolved, path);
    sigv4_encode(out, resolved.s, resolved.len, true);
}

/* --- query ------------------------------------------------------------------------------------ */

static int nibble(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decoded first, so that a '/' that was sent as it is becomes %2F and one that was sent encoded
 * stays so. */
static char *reencoded(const char *s, size_t n)
{
    struct text raw = TEXT_INIT;
    struct text out = TEXT_INIT;
    for (size_t i = 0; i < n; i++) {
        int high = s[i] == '%' && i + 2 < n ? nibble(s[i + 1]) : -1;
        int low = high >= 0 ? nibble(s[i + 2]) : -1;
        if (low >= 0) {
            text_addc(&raw, (char)(high * 16 + low));
            i += 2;
        } else {
            text_addc(&raw, s[i]);
        }
    }
    sigv4_encode(&out, raw.s, raw.len, false);
    text_release(&raw);
    return text_take(&out);
}

static int by_name_then_value(const void *a, const void *b)
{
    const struct sigv4_pair *x = a;
    const struct sigv4_pair *y = b;
    int names = strcmp(x->name, y->name);
    return names != 0 ? names : strcmp(x->value, y->value);
}

static void take_pair(struct sigv4_headers *h, char *name, char *value)
{
    h->pairs = xrealloc(h->pairs, h->count + 1, sizeof(*h->pairs));
    h->pairs[h->count++] = (struct sigv4_pair){name, value};
}

void sigv4_canon_query(struct text *out, const char *query, const struct sigv4_header *extra,
                       size_t extra_count)
{
    struct sigv4_headers pairs;
    sigv4_headers_init(&pairs);
    for (const char *at = query != NULL ? query : ""; *at != '\0';) {
        size_t n = strcspn(at, "&");
        const char *equals = memchr(at, '=', n);
        size_t name = equals != NULL ? (size_t)(equals - at) : n;
        if (n > 0)
            take_pair(&pairs, reencoded(at, name),
                      equals != NULL ? reencoded(equals + 1, n - name - 1) : xstrdup(""));
        at += n + (at[n] == '&');
    }
    for (size_t i = 0; i < extra_count; i++) {
        struct text value = TEXT_INIT;
        sigv4_encode(&value, extra[i].value, strlen(extra[i].value), false);
        take_pair(&pairs, xstrdup(extra[i].name), text_take(&value));
    }
    if (pairs.count > 0)
        qsort(pairs.pairs, pairs.count, sizeof(*pairs.pairs), by_name_then_value);
    for (size_t i = 0; i < pairs.count; i++)
        text_addf(out, "%s%s=%s", i > 0 ? "&" : "", pairs.pairs[i].name, pairs.pairs[i].value);
    sigv4_headers_release(&pairs);
}

/* --- headers ---------------------------------------------------------------------------------- */

void sigv4_headers_init(struct sigv4_headers *h)
{
    *h = (struct sigv4_headers){0};
}

void sigv4_headers_release(struct sigv4_headers *h)
{
    for (size_t i = 0; i < h->count; i++) {
        xfree(h->pairs[i].name);
        xfree(h->pairs[i].value);
    }
    xfree(h->pairs);
    sigv4_headers_init(h);
}

/* Trimmed, inner runs of blanks (an obsolete fold too) as one. */
static char *collapsed(const char *value)
{
    struct text out = TEXT_INIT;
    for (const char *at = value + strspn(value, " \t\r\n"); *at != '\0';) {
        size_t blanks = strspn(at, " \t\r\n");
        if (blanks > 0 && at[blanks] != '\0')
            text_addc(&out, ' ');
        at += blanks;
        size_t n = strcspn(at, " \t\r\n");
        text_addn(&out, at, n);
        at += n;
    }
    return text_take(&out);
}

void sigv4_headers_add(struct sigv4_headers *h, const char *name, const char *value)
{
    char *lower = xstrdup(name);
    for (char *p = lower; *p != '\0'; p++)
        *p = (char)tolower((unsigned char)*p);
    take_pair(h, lower, collapsed(value));
}

/* What proxies and the transport may change is not signed. */
static bool is_signed(const char *name)
{
    static const char *const skipped[] = {"connection",        "expect",
                                          "user-agent",        "x-amzn-trace-id",
                                          "transfer-encoding", "authorization"};
    for (size_t i = 0; i < ARRAY_LEN(skipped); i++)
        if (strcasecmp(skipped[i], name) == 0)
            return false;
    return true;
}

int sigv4_headers_take(struct sigv4_headers *h, const struct sigv4_header *headers, size_t count,
                       struct problem *err)
{
    for (size_t i = 0; i < count; i++) {
        for (const char *p = strpbrk(headers[i].value, "\r\n"); p != NULL; p = strpbrk(p, "\r\n")) {
            p += strspn(p, "\r\n");
            if (*p != ' ' && *p != '\t')
                return problem_fail(err, PROBLEM_INPUT, "header", "the header %s has a line break",
                                    headers[i].name);
        }
        if (is_signed(headers[i].name))
            sigv4_headers_add(h, headers[i].name, headers[i].value);
    }
    return 0;
}

void sigv4_canon_headers(struct sigv4_headers *h, struct text *lines, struct text *names)
{
    bool *done = xcalloc(h->count + 1, sizeof(bool));
    for (size_t written = 0; written < h->count;) {
        size_t least = h->count;
        for (size_t i = 0; i < h->count; i++)
            if (!done[i] &&
                (least == h->count || strcmp(h->pairs[i].name, h->pairs[least].name) < 0))
                least = i;
        text_sep(names, ";");
        text_add(names, h->pairs[least].name);
        text_addf(lines, "%s:", h->pairs[least].name);
        const char *comma = "";
        for (size_t i = least; i < h->count; i++) {
            if (done[i] || strcmp(h->pairs[i].name, h->pairs[least].name) != 0)
                continue;
            text_addf(lines, "%s%s", comma, h->pairs[i].value);
            comma = ",";
            done[i] = true;
            written++;
        }
        text_addc(lines, '\n');
    }
    xfree(done);
}
