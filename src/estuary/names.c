/* Names of the catalog, of Iceberg and of parameters. See names.h. */
#include "estuary/names.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

#include "core/mem.h"
#include "core/text.h"
#include "core/utf8.h"

#define HASHED_LONGEST 64 /* characters of a hashed name before its hash */

#define SMALL "abcdefghijklmnopqrstuvwxyz"
#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

/* --- the catalog ------------------------------------------------------------------------------ */

static int wrong_name(struct problem *err, const char *what, const char *fix)
{
    problem_fail(err, PROBLEM_INPUT, "form", "%s", what);
    problem_fix(err, WHO_YOU, "%s", fix);
    return -1;
}

static int check_part(const char *part, size_t n, struct problem *err)
{
    if (n == 0)
        return wrong_name(err, "a name neither begins nor ends with a slash, nor has two in a row",
                          "Write it as acmeCo/shop/source-postgres.");
    if ((n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.'))
        return wrong_name(err, "a part of a name may not be . or ..",
                          "Names become paths of journals; choose another word.");
    if (strspn(part, SMALL CAPITALS DIGITS "-_.") < n)
        return wrong_name(err, "a name in Estuary has letters, digits and - _ . between slashes",
                          "Write it as acmeCo/shop/source-postgres.");
    return 0;
}

int estuary_name_check(const char *name, struct problem *err)
{
    size_t parts = 0;
    for (const char *at = name;; at++) {
        size_t n = strcspn(at, "/");
        if (check_part(at, n, err) != 0)
            return -1;
        parts++;
        at += n;
        if (*at == '\0')
            break;
    }
    if (parts < 2)
        return wrong_name(err, "a name in Estuary begins with your prefix",
                          "Write it as acmeCo/shop/source-postgres.");
    if (strlen(name) > ESTUARY_NAME_MAX)
        return wrong_name(err, "the name is longer than 255 characters", "Choose a shorter one.");
    return 0;
}

enum estuary_clash estuary_names_clash(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (strcmp(a, b) == 0)
        return ESTUARY_SAME;
    if (strcasecmp(a, b) == 0)
        return ESTUARY_SAME_BUT_CASE;
    const char *longer = n < m ? b : a;
    size_t shorter = n < m ? n : m;
    bool within = n != m && strncasecmp(a, b, shorter) == 0 && longer[shorter] == '/';
    return within ? ESTUARY_WITHIN : ESTUARY_APART;
}

char *estuary_folder(const char *name)
{
    const char *slash = strrchr(name, '/');
    return xstrndup(name, slash != NULL ? (size_t)(slash + 1 - name) : 0);
}

const char *estuary_last_part(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash != NULL ? slash + 1 : name;
}

char *estuary_collection(const char *capture, const char *tail)
{
    AUTO(xfree) char *folder = estuary_folder(capture);
    return xasprintf("%s%s", folder, tail);
}

bool estuary_plain_name(const char *name)
{
    size_t n = strspn(name, SMALL DIGITS "_");
    return n > 0 && n <= 63 && name[n] == '\0' && strchr(DIGITS, name[0]) == NULL;
}

/* --- Iceberg ---------------------------------------------------------------------------------- */

/* Bytes of the character at s: an invalid byte counts as one, as in Go. */
static size_t character(const char *s)
{
    size_t n = 1;
    while (((unsigned char)s[n] & 0xc0) == 0x80 && n < 4)
        n++;
    return n > 1 && utf8_valid(s, n) ? n : 1;
}

/* The connector's pattern is Go's (?i)[^a-z0-9_], which by folding spares two letters more: the
 * long s and the Kelvin sign. */
static bool spared(const char *s, size_t n)
{
    return (n == 2 && memcmp(s, "\xC5\xBF", 2) == 0) ||
           (n == 3 && memcmp(s, "\xE2\x84\xAA", 3) == 0);
}

/* Appends s with all other characters as _, at most `most` characters of it. */
static void add_cleaned(struct text *out, const char *s, size_t most)
{
    for (; *s != '\0' && most > 0; most--) {
        size_t n = character(s);
        bool keeps = n == 1 && strchr(SMALL CAPITALS DIGITS "_", *s) != NULL;
        if (keeps || spared(s, n))
            text_addn(out, s, n);
        else
            text_addc(out, '_');
        s += n;
    }
}

char *estuary_iceberg_name(const char *name)
{
    AUTO_TEXT cleaned = TEXT_INIT;
    AUTO_TEXT out = TEXT_INIT;
    add_cleaned(&cleaned, name, SIZE_MAX);
    for (const char *s = cleaned.s; *s != '\0';) {
        size_t n = character(s);
        if (n == 3) /* the Kelvin sign is a capital; the long s is small already */
            text_addc(&out, 'k');
        else if (*s >= 'A' && *s <= 'Z')
            text_addc(&out, (char)(*s - 'A' + 'a'));
        else
            text_addn(&out, s, n);
        s += n;
    }
    return text_take(&out);
}

void estuary_xxh64(const char *s, char out[ESTUARY_XXH64_HEX])
{
    snprintf(out, ESTUARY_XXH64_HEX, "%016" PRIX64, (uint64_t)XXH64(s, strlen(s), 0));
}

char *estuary_hashed_name(const char *s)
{
    char hash[ESTUARY_XXH64_HEX];
    AUTO_TEXT out = TEXT_INIT;
    estuary_xxh64(s, hash);
    add_cleaned(&out, s, HASHED_LONGEST);
    text_addf(&out, "_%s", hash);
    return text_take(&out);
}

/* base with exactly one slash behind it, unless it has several. */
static void add_base(struct text *out, const char *base)
{
    size_t n = strlen(base);
    text_addn(out, base, n > 0 && base[n - 1] == '/' ? n - 1 : n);
    text_addc(out, '/');
}

char *estuary_table_location(const char *base, const char *ns, const char *table)
{
    AUTO_TEXT out = TEXT_INIT;
    AUTO(xfree) char *path = xasprintf("%s_%s", ns, table);
    AUTO(xfree) char *hashed = estuary_hashed_name(path);
    add_base(&out, base);
    text_add(&out, hashed);
    return text_take(&out);
}

char *estuary_parameter(const char *ssm_prefix, const char *materialization)
{
    AUTO(xfree) char *hashed = estuary_hashed_name(materialization);
    return xasprintf("%s%s", ssm_prefix, hashed);
}

/* --- collisions ------------------------------------------------------------------------------- */

struct entry {
    const char *name;
    size_t at;
};

static int by_name(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = strcasecmp(x->name, y->name);
    return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

static int by_second(const void *a, const void *b)
{
    const struct estuary_pair *x = a, *y = b;
    return (x->second > y->second) - (x->second < y->second);
}

size_t estuary_collisions(const char *const *names, size_t count, struct estuary_pair **out)
{
    struct entry *sorted = xcalloc(count + 1, sizeof *sorted);
    size_t n = 0, found = 0, first = 0;
    *out = NULL;
    for (size_t i = 0; i < count; i++)
        if (names[i] != NULL)
            sorted[n++] = (struct entry){names[i], i};
    qsort(sorted, n, sizeof *sorted, by_name);
    for (size_t i = 1; i < n; i++) {
        if (strcasecmp(sorted[first].name, sorted[i].name) != 0) {
            first = i;
            continue;
        }
        *out = xrealloc(*out, found + 1, sizeof **out);
        (*out)[found++] = (struct estuary_pair){sorted[first].at, sorted[i].at};
    }
    if (found > 1)
        qsort(*out, found, sizeof **out, by_second);
    xfree(sorted);
    return found;
}
