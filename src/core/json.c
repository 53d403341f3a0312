/* The guard before cJSON, the few look-ups, and the writer.
 *
 * The scanner walks the bytes once by RFC 8259's grammar, with a stack of brackets instead of
 * recursion, and hands cJSON a copy when numbers had to become strings. What cJSON lets through and
 * must not: text after the value, control characters and bad UTF-8 in strings, \u0000 (it cuts the
 * string there), numbers over 63 characters, and any byte up to 0x20 as white space. */
#include "core/json.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "core/clean.h"
#include "core/mem.h"

#define DEPTH_MAX 64
#define VALUES_MAX 1000000
#define BYTES_MAX TEXT_LIMIT_DEFAULT
#define EXACT_DIGITS 15                   /* DBL_DIG: so many survive the way through a double */
#define EXACT_INTEGER 9007199254740992ULL /* 2^53 */
#define NUMBER_BYTES 40                   /* longer ones become strings; cJSON cuts at 63 */
#define EXPONENT_MAX 300
#define NUMBER_POINT 0xFDD0 /* JSON_NUMBER */

struct scan {
    const char *s;
    size_t n;
    size_t at;
    const char *wrong; /* set by the first error */
    char stack[DEPTH_MAX];
    size_t depth;
    size_t values;
    struct text copy; /* with numbers quoted; empty until the first one */
    size_t copied;    /* bytes of s that are in copy */
    bool quoted;
    bool letters; /* all numbers are quoted, behind JSON_NUMBER */
};

static bool fail(struct scan *j, const char *wrong)
{
    if (j->wrong == NULL)
        j->wrong = wrong;
    return false;
}

static int peek(const struct scan *j)
{
    return j->at < j->n ? (unsigned char)j->s[j->at] : -1;
}

static void skip_space(struct scan *j)
{
    for (int c = peek(j); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = peek(j))
        j->at++;
}

static int hex_value(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits after \u; at stands on the first. */
static bool hex4(struct scan *j, unsigned *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++, j->at++) {
        int v = hex_value(peek(j));
        if (v < 0)
            return fail(j, "\\u must be followed by four hexadecimal digits");
        *unit = *unit << 4 | (unsigned)v;
    }
    return true;
}

static bool scan_escape(struct scan *j)
{
    j->at++;
    int c = peek(j);
    if (c != 'u') {
        if (c <= 0 || strchr("\"\\/bfnrt", c) == NULL)
            return fail(j, "unknown escape in a string");
        j->at++;
        return true;
    }
    unsigned unit, low;
    j->at++;
    if (!hex4(j, &unit))
        return false;
    if (unit == 0)
        return fail(j, "a NUL character in a string");
    if (unit == NUMBER_POINT && j->letters)
        return fail(j, "U+FDD0, which is no character, in a string");
    if (unit < 0xD800 || unit > 0xDFFF)
        return true;
    if (unit > 0xDBFF || peek(j) != '\\' || j->at + 1 >= j->n || j->s[j->at + 1] != 'u')
        return fail(j, "half of a surrogate pair in a string");
    j->at += 2;
    if (!hex4(j, &low))
        return false;
    return (low >= 0xDC00 && low <= 0xDFFF) || fail(j, "half of a surrogate pair in a string");
}

static bool scan_string(struct scan *j)
{
    j->at++;
    for (;;) {
        int c = peek(j);
        if (c < 0)
            return fail(j, "it ends inside a string");
        if (c == '"') {
            j->at++;
            return true;
        }
        if (c < 0x20)
            return fail(j, "a control character in a string");
        if (c == '\\') {
            if (!scan_escape(j))
                return false;
        } else if (c < 0x80) {
            j->at++;
        } else {
            utf8proc_int32_t point;
            size_t left = j->n - j->at;
            utf8proc_ssize_t len = utf8proc_iterate((const utf8proc_uint8_t *)j->s + j->at,
                                                    left > 4 ? 4 : (utf8proc_ssize_t)left, &point);
            if (len <= 0)
                return fail(j, "a string that is not UTF-8");
            if (point == NUMBER_POINT && j->letters)
                return fail(j, "U+FDD0, which is no character, in a string");
            j->at += (size_t)len;
        }
    }
}

static size_t scan_digits(struct scan *j)
{
    size_t from = j->at;
    while (peek(j) >= '0' && peek(j) <= '9')
        j->at++;
    return j->at - from;
}

/* The exponent of a valid number; what is out of any range is only "large". */
static int exponent_of(const char *s, size_t n)
{
    int v = 0;
    for (size_t i = s[0] == '-' || s[0] == '+'; i < n; i++)
        v = v > 10000 ? v : v * 10 + (s[i] - '0');
    return s[0] == '-' ? -v : v;
}

/* Whether a double gives back the number of these n valid bytes. */
static bool exact(const char *s, size_t n)
{
    unsigned long long digits = 0; /* at most 17 of them, so no overflow */
    int significant = 0, point = 0, exponent = 0;
    bool fraction = false, plain = true;
    if (n > NUMBER_BYTES)
        return false;
    for (size_t i = s[0] == '-'; i < n; i++) {
        if (s[i] == '.') {
            fraction = true;
            plain = false;
        } else if (s[i] == 'e' || s[i] == 'E') {
            exponent = exponent_of(s + i + 1, n - i - 1);
            plain = false;
            break;
        } else {
            if (significant != 0 || s[i] != '0')
                significant++;
            if (significant > 17)
                return false;
            digits = digits * 10 + (unsigned)(s[i] - '0');
            point -= fraction;
        }
    }
    if (digits == 0)
        return true;
    if (plain)
        return digits <= EXACT_INTEGER;
    int magnitude = significant + point + exponent;
    return significant <= EXACT_DIGITS && magnitude > -EXPONENT_MAX && magnitude < EXPONENT_MAX;
}

/* Copies up to here, with the number from `from` on as a string. */
static void quote_number(struct scan *j, size_t from)
{
    if (!j->quoted)
        j->copy = TEXT_LIMITED(j->n * (3 + strlen(JSON_NUMBER)) + 2);
    j->quoted = true;
    text_addn(&j->copy, j->s + j->copied, from - j->copied);
    text_addc(&j->copy, '"');
    if (j->letters)
        text_add(&j->copy, JSON_NUMBER);
    text_addn(&j->copy, j->s + from, j->at - from);
    text_addc(&j->copy, '"');
    j->copied = j->at;
}

static bool scan_number(struct scan *j)
{
    size_t from = j->at;
    if (peek(j) == '-')
        j->at++;
    bool zero = peek(j) == '0';
    size_t whole = scan_digits(j);
    if (whole == 0)
        return fail(j, "a value that JSON does not know");
    if (zero && whole > 1)
        return fail(j, "a number with leading zeros");
    if (peek(j) == '.') {
        j->at++;
        if (scan_digits(j) == 0)
            return fail(j, "a number that ends in its point");
    }
    if (peek(j) == 'e' || peek(j) == 'E') {
        j->at++;
        if (peek(j) == '+' || peek(j) == '-')
            j->at++;
        if (scan_digits(j) == 0)
            return fail(j, "a number without digits in its exponent");
    }
    if (j->letters || !exact(j->s + from, j->at - from))
        quote_number(j, from);
    return true;
}

static bool scan_word(struct scan *j)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t len = strlen(words[i]);
        if (j->n - j->at >= len && memcmp(j->s + j->at, words[i], len) == 0) {
            j->at += len;
            return true;
        }
    }
    return fail(j, peek(j) < 0 ? "it ends too early" : "a value that JSON does not know");
}

static bool scan_key(struct scan *j)
{
    skip_space(j);
    if (peek(j) != '"')
        return fail(j, peek(j) < 0 ? "it ends inside an object" : "a key without quotes");
    if (!scan_string(j))
        return false;
    skip_space(j);
    if (peek(j) != ':')
        return fail(j, "no colon after a key");
    j->at++;
    return true;
}

/* An opening bracket; *empty when it is closed at once. */
static bool scan_open(struct scan *j, bool *empty)
{
    char close = peek(j) == '{' ? '}' : ']';
    if (j->depth == DEPTH_MAX)
        return fail(j, "it is nested over 64 levels deep");
    j->at++;
    skip_space(j);
    *empty = peek(j) == close;
    if (*empty) {
        j->at++;
        return true;
    }
    j->stack[j->depth++] = close;
    return close == ']' || scan_key(j);
}

/* After a value: closes what ends here; *more when a next value follows. */
static bool scan_after(struct scan *j, bool *more)
{
    *more = false;
    while (j->depth > 0) {
        skip_space(j);
        char close = j->stack[j->depth - 1];
        if (peek(j) == ',') {
            j->at++;
            *more = true;
            return close == ']' || scan_key(j);
        }
        if (peek(j) != close)
            return fail(j, peek(j) < 0 ? "it ends too early" : "no comma between two values");
        j->at++;
        j->depth--;
    }
    return true;
}

static bool scan_document(struct scan *j)
{
    bool more = true;
    while (more) {
        bool open = false, ok;
        skip_space(j);
        if (++j->values > VALUES_MAX)
            return fail(j, "it holds more than a million values");
        int c = peek(j);
        if (c == '{' || c == '[') {
            bool empty = false;
            ok = scan_open(j, &empty);
            open = !empty;
        } else if (c == '"') {
            ok = scan_string(j);
        } else if (c == '-' || (c >= '0' && c <= '9')) {
            ok = scan_number(j);
        } else {
            ok = scan_word(j);
        }
        if (!ok || (!open && !scan_after(j, &more)))
            return false;
    }
    skip_space(j);
    return j->at == j->n || fail(j, "something follows after its end");
}

static int by_key(const void *a, const void *b)
{
    const char *const *left = a, *const *right = b;
    return strcmp(*left, *right);
}

static const char *twice_in(const cJSON *object)
{
    size_t n = 0;
    for (const cJSON *m = object->child; m != NULL; m = m->next)
        n++;
    const char **keys = xcalloc(n, sizeof *keys);
    size_t i = 0;
    for (const cJSON *m = object->child; m != NULL; m = m->next)
        keys[i++] = m->string;
    qsort(keys, n, sizeof *keys, by_key);
    const char *twice = NULL;
    for (i = 1; i < n && twice == NULL; i++) {
        if (strcmp(keys[i - 1], keys[i]) == 0)
            twice = keys[i];
    }
    xfree(keys);
    return twice;
}

/* The first key that an object has twice, or NULL. The depth is at most DEPTH_MAX. */
static const char *duplicate_key(const cJSON *item)
{
    const char *twice = cJSON_IsObject(item) ? twice_in(item) : NULL;
    for (const cJSON *m = item->child; m != NULL && twice == NULL; m = m->next)
        twice = m->child != NULL ? duplicate_key(m) : NULL;
    return twice;
}

static void refuse(struct scan *j, const char *name, struct problem *err)
{
    size_t line = 1;
    for (size_t i = 0; i < j->at && i < j->n; i++)
        line += j->s[i] == '\n';
    problem_fail(err, PROBLEM_PROTOCOL, "json", "%s is not JSON: line %zu, byte %zu: %s", name,
                 line, j->at + 1, j->wrong);
    /* What is JSON for the most part may hold a token that no redactor knows yet; a page of HTML or
     * a line of text does not, and tells most. */
    j->at = 0;
    skip_space(j);
    int first = peek(j);
    if (first >= 0 && first != '{' && first != '[' && first != '"') {
        char *head = clean_excerpt(j->s, j->n, 160);
        problem_evidence(err, "%s", head);
        xfree(head);
    }
}

static cJSON *parse(const char *bytes, size_t n, const char *name, bool letters,
                    struct problem *err)
{
    struct scan j = {.s = bytes, .n = n, .copy = TEXT_INIT, .letters = letters};
    if (n > BYTES_MAX) {
        problem_fail(err, PROBLEM_PROTOCOL, "json", "%s is over 16 MiB", name);
        return NULL;
    }
    if (!scan_document(&j)) {
        refuse(&j, name, err);
        text_wipe(&j.copy);
        return NULL;
    }
    if (j.quoted)
        text_addn(&j.copy, j.s + j.copied, j.n - j.copied);
    const char *s = j.quoted ? j.copy.s : bytes;
    cJSON *root = cJSON_ParseWithLengthOpts(s, j.quoted ? j.copy.len : n, NULL, 0);
    text_wipe(&j.copy);
    if (root == NULL) /* the scanner let it pass, so only memory can be missing */
        mem_exhausted();
    const char *twice = duplicate_key(root);
    if (twice == NULL)
        return root;
    problem_fail(err, PROBLEM_PROTOCOL, "json", "%s has the key \"%s\" twice in one object", name,
                 twice);
    cJSON_Delete(root);
    return NULL;
}

cJSON *json_parse(const char *bytes, size_t n, const char *name, struct problem *err)
{
    return parse(bytes, n, name, false, err);
}

cJSON *json_parse_letters(const char *bytes, size_t n, const char *name, struct problem *err)
{
    return parse(bytes, n, name, true, err);
}

const cJSON *json_member(const cJSON *object, const char *key)
{
    return cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, key) : NULL;
}

const char *json_text(const cJSON *object, const char *key)
{
    const cJSON *m = json_member(object, key);
    return cJSON_IsString(m) ? m->valuestring : NULL;
}

double json_number(const cJSON *object, const char *key, double otherwise)
{
    const cJSON *m = json_member(object, key);
    return cJSON_IsNumber(m) ? m->valuedouble : otherwise;
}

void json_wipe(cJSON *root)
{
    if (root == NULL)
        return;
    if (cJSON_IsString(root))
        explicit_bzero(root->valuestring, strlen(root->valuestring));
    for (cJSON *c = root->child; c != NULL; c = c->next)
        json_wipe(c);
}
