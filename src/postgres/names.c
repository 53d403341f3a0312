/* Names: splitting and joining as quote_ident does, and the judges of fields that are names. */
#include "postgres/names.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/clean.h"
#include "core/mem.h"
#include "core/text.h"
#include "core/utf8.h"
#include "net/pg.h"

/* Reads one part of a name at *p up to its end; NULL when it is malformed. */
static char *read_part(const char **p)
{
    AUTO_TEXT part = TEXT_INIT;
    const char *s = *p;
    if (*s == '"') {
        for (s++; *s != '\0'; s++) {
            if (*s == '"' && s[1] != '"')
                break;
            s += *s == '"';
            text_addc(&part, *s);
        }
        if (*s != '"')
            return NULL;
        s++;
    } else {
        size_t n = strcspn(s, ".\"");
        text_addn(&part, s, n);
        s += n;
    }
    *p = s;
    return part.len > 0 ? text_take(&part) : NULL;
}

int postgres_split_table(const char *text, char **schema, char **table, struct problem *err)
{
    const char *p = text;
    AUTO(xfree) char *first = read_part(&p);
    bool dot = first != NULL && *p == '.';
    p += dot;
    AUTO(xfree) char *second = dot ? read_part(&p) : NULL;
    if (second == NULL || *p != '\0') {
        problem_fail(err, PROBLEM_INPUT, "table name", "\"%s\" is not schema.table", text);
        problem_fix(err, WHO_YOU,
                    "write it as quote_ident does: public.orders, or public.\"Order Items\"");
        return -1;
    }
    AUTO(xfree) char *right = postgres_join_table(first, second);
    if (strcmp(right, text) != 0) {
        problem_fail(err, PROBLEM_INPUT, "table name", "\"%s\" is not written as quote_ident does",
                     text);
        problem_fix(err, WHO_YOU, "write %s", right);
        return -1;
    }
    *schema = first;
    *table = second;
    first = second = NULL;
    return 0;
}

char *postgres_join_table(const char *schema, const char *table)
{
    AUTO(xfree) char *s = pg_quote_ident(schema);
    AUTO(xfree) char *t = pg_quote_ident(table);
    return xasprintf("%s.%s", s, t);
}

/* Bytes of the character at p, and whether the sanitiser lets it pass as it is. */
static size_t next_char(const char *p, bool *clean)
{
    size_t n = 1;
    while (((unsigned char)p[n] & 0xc0) == 0x80 && n < 4)
        n++;
    AUTO(xfree) char *one = xstrndup(p, n);
    AUTO(xfree) char *shown = clean_copy(one, CLEAN_LINE);
    *clean = strcmp(one, shown) == 0;
    return n;
}

static uint32_t code_point(const char *p, size_t n)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = (unsigned char)p[0] & masks[n];
    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)p[i] & 0x3f);
    return c;
}

static void add_escaped(struct text *out, const char *p, size_t n, bool clean)
{
    if (clean && *p == '\\')
        text_add(out, "\\\\");
    else if (clean || !utf8_valid(p, n)) /* bytes of no encoding have no escape */
        text_addn(out, p, n);
    else
        text_addf(out, "\\+%06X", (unsigned)code_point(p, n));
}

char *postgres_sql_name(const char *written)
{
    AUTO(xfree) char *shown = clean_copy(written, CLEAN_LINE);
    if (strcmp(shown, written) == 0)
        return xstrdup(written);
    AUTO_TEXT out = TEXT_INIT;
    bool quoted = false;
    for (const char *p = written; *p != '\0';) {
        bool clean;
        size_t n = next_char(p, &clean);
        if (*p == '"' && !(quoted && p[1] == '"')) {
            quoted = !quoted;
            text_add(&out, quoted ? "U&\"" : "\"");
        } else if (*p == '"') {
            text_add(&out, "\"\"");
            n = 2;
        } else {
            add_escaped(&out, p, n, clean);
        }
        p += n;
    }
    return text_take(&out);
}

bool postgres_plain_name(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return n > 0 && n <= POSTGRES_NAME_MAX && name[n] == '\0' && !isdigit((unsigned char)name[0]);
}

int postgres_valid_table(const char *text, struct problem *err)
{
    AUTO(xfree) char *schema = NULL;
    AUTO(xfree) char *table = NULL;
    return postgres_split_table(text, &schema, &table, err);
}

static int bad_host(struct problem *err, const char *why, const char *fix)
{
    problem_fail(err, PROBLEM_INPUT, "host", "%s", why);
    problem_fix(err, WHO_YOU, "%s", fix);
    return -1;
}

int postgres_valid_host(const char *text, struct problem *err)
{
    if (strstr(text, "://") != NULL)
        return bad_host(
            err, "the host is a whole URL",
            "give only the host name; port, database and user have answers of their own");
    if (text[strcspn(text, " \t\r\n")] != '\0')
        return bad_host(err, "the host has a space in it", "take the space out");
    if (text[strcspn(text, "@")] != '\0')
        return bad_host(err, "the host has an @ in it", "leave out user and @");
    if (text[0] == '/')
        return bad_host(err, "a socket's path is not a host",
                        "give a name that Estuary can reach as well");
    if (strchr(text, '/') != NULL)
        return bad_host(err, "the host has a / in it",
                        "leave it out; the database has an answer of its own");
    if (text[0] == '[')
        return bad_host(err, "the address stands in brackets", "write it without [ and ]");
    const char *colon = strchr(text, ':');
    if (colon != NULL && strchr(colon + 1, ':') == NULL)
        return bad_host(err, "the host has a port behind it",
                        "leave it out; the port has an answer of its own");
    if (strlen(text) > 253)
        return bad_host(err, "the host is longer than 253 characters", "give its real name");
    return 0;
}

int postgres_valid_port(const char *text, struct problem *err)
{
    char *end = NULL;
    long port = strtol(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || port < 1 || port > 65535) {
        problem_fail(err, PROBLEM_INPUT, "port", "the port is a number from 1 to 65535");
        problem_fix(err, WHO_YOU, "PostgreSQL's usual one is 5432");
        return -1;
    }
    return 0;
}

int postgres_valid_user(const char *text, struct problem *err)
{
    if (strlen(text) > POSTGRES_NAME_MAX)
        return problem_fail(err, PROBLEM_INPUT, "user", "a user's name has at most %d bytes",
                            POSTGRES_NAME_MAX);
    if (text[strcspn(text, "'\"\\")] != '\0' || !utf8_valid(text, strlen(text))) {
        problem_fail(err, PROBLEM_INPUT, "user", "the name has a quote or a backslash in it");
        problem_why(err, "Estuary's connector puts it into its SQL as it is, which would break.");
        problem_fix(err, WHO_YOU, "use letters, digits and underscores");
        return -1;
    }
    for (const char *p = text; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return problem_fail(err, PROBLEM_INPUT, "user",
                                "the name has a control character in it");
    if (strncmp(text, "pg_", 3) == 0)
        return problem_fail(err, PROBLEM_INPUT, "user",
                            "names that begin with pg_ belong to PostgreSQL itself");
    return 0;
}

/* Lower-case spelling of a name with what is not allowed replaced: an offer. */
static char *plain_offer(const char *text)
{
    AUTO_TEXT offer = TEXT_INIT;
    if (isdigit((unsigned char)text[0]))
        text_addc(&offer, '_');
    for (const char *p = text; *p != '\0' && offer.len < POSTGRES_NAME_MAX; p++) {
        unsigned char c = (unsigned char)*p;
        if (c >= 0x80 && (c & 0xc0) == 0x80)
            continue; /* the rest of a character whose first byte became one underscore */
        text_addc(&offer, isalnum(c) && c < 0x80 ? (char)tolower(c) : '_');
    }
    return text_take(&offer);
}

int postgres_valid_publication(const char *text, struct problem *err)
{
    if (postgres_plain_name(text))
        return 0;
    AUTO(xfree) char *offer = plain_offer(text);
    problem_fail(
        err, PROBLEM_INPUT, "publication",
        "a publication for Estuary has only a-z, 0-9 and _ in its name, and no digit first");
    problem_why(err, "The server folds the name to lower case when Estuary subscribes, so that any "
                     "other name passes its checks and then delivers nothing.");
    problem_fix(err, WHO_YOU, "use %s", offer);
    return -1;
}

int postgres_valid_slot(const char *text, struct problem *err)
{
    if (postgres_plain_name(text))
        return 0;
    AUTO(xfree) char *offer = plain_offer(text);
    problem_fail(err, PROBLEM_INPUT, "slot",
                 "a slot for Estuary has only a-z, 0-9 and _ in its name, and no digit first");
    problem_fix(err, WHO_YOU, "use %s", offer);
    return -1;
}

int postgres_valid_watermarks(const char *text, struct problem *err)
{
    const char *dot = strchr(text, '.');
    AUTO(xfree) char *schema = xstrndup(text, dot != NULL ? (size_t)(dot - text) : 0);
    const char *table = dot != NULL ? dot + 1 : "";
    if (!postgres_plain_name(schema) || !postgres_plain_name(table)) {
        problem_fail(err, PROBLEM_INPUT, "watermarks",
                     "the watermarks table is schema.table, both of a-z, 0-9 and _");
        problem_why(err, "Estuary writes the name without quotes and compares it in lower case.");
        problem_fix(err, WHO_YOU, "public.flow_watermarks is the usual one");
        return -1;
    }
    AUTO(xfree) char *quoted = postgres_join_table(schema, table);
    if (strcmp(quoted, text) != 0) {
        problem_fail(err, PROBLEM_INPUT, "watermarks",
                     "%s is a reserved word of SQL or has one in it", text);
        problem_why(err, "Estuary writes the name without quotes.");
        problem_fix(err, WHO_YOU, "public.flow_watermarks is the usual one");
        return -1;
    }
    return 0;
}

int postgres_valid_repair(const char *text, struct problem *err)
{
    if (strcmp(text, "full") == 0)
        return 0;
    if (strncmp(text, "index:", 6) == 0 && text[6] != '\0')
        return 0;
    problem_fail(err, PROBLEM_INPUT, "repair", "a repair is \"full\" or \"index:NAME\"");
    problem_fix(err, WHO_YOU,
                "full writes whole old rows into the log; index:NAME names a unique index on "
                "columns that are NOT NULL");
    return -1;
}

static void add_tail(struct text *out, const char *part)
{
    if (strcmp(part, ".") == 0 || strcmp(part, "..") == 0) { /* would be path steps */
        text_add(out, part[1] == '.' ? "__" : "_");
        return;
    }
    for (const char *p = part; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;
        if (c >= 0x80 && (c & 0xc0) == 0x80)
            continue; /* the rest of a character that became one underscore */
        bool keeps = (isalnum(c) && c < 0x80) || c == '-' || c == '_' || c == '.';
        text_addc(out, keeps ? (char)tolower(c) : '_');
    }
}

char *postgres_collection_tail(const char *schema, const char *table)
{
    AUTO_TEXT out = TEXT_INIT;
    add_tail(&out, schema);
    text_addc(&out, '/');
    add_tail(&out, table);
    return text_take(&out);
}

char *postgres_iceberg_name(const char *schema, const char *table)
{
    char *name = postgres_collection_tail(schema, table);
    for (char *p = name; *p != '\0'; p++)
        if (*p == '-' || *p == '.' || *p == '/')
            *p = '_';
    return name;
}
