/* AWS's shared files. See ini.h; the rules are those of Python's configparser as botocore uses it,
 * which the AWS CLI is built on, and blanks before comments as the other SDKs have them. */
#include "aws/ini.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static char *trimmed(char *s)
{
    while (*s == ' ' || *s == '\t')
        s++;
    size_t n = strlen(s);
    while (n > 0 && strchr(" \t\r", s[n - 1]) != NULL)
        s[--n] = '\0';
    return s;
}

/* "us-east-1 # ours" -> "us-east-1" */
static void cut_comment(char *s)
{
    for (char *at = s; *at != '\0'; at++)
        if ((*at == '#' || *at == ';') && (at == s || at[-1] == ' ' || at[-1] == '\t')) {
            *at = '\0';
            break;
        }
    trimmed(s);
}

struct state {
    const struct ini_reader *reader;
    const char *section; /* NULL before the first */
    bool in_option;      /* the line before was one, or continued one */
    size_t indent;       /* of the last line that continued nothing */
};

static bool take_section(struct state *st, char *s)
{
    char *end = strchr(s, ']');
    if (end == NULL)
        return false;
    *end = '\0'; /* what follows is a comment or nothing, and other readers pass it over too */
    st->section = trimmed(s + 1);
    st->in_option = false;
    st->reader->take(st->reader->ctx, st->section, NULL, NULL);
    return true;
}

static bool take_option(struct state *st, char *s)
{
    char *divider = s + strcspn(s, "=:");
    if (st->section == NULL || *divider == '\0' || divider == s)
        return false;
    *divider = '\0';
    char *key = trimmed(s), *value = trimmed(divider + 1);
    for (char *c = key; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    cut_comment(value);
    st->in_option = true;
    st->reader->take(st->reader->ctx, st->section, key, trimmed(value));
    return true;
}

static bool take_line(struct state *st, char *line)
{
    size_t indent = strspn(line, " \t");
    char *s = trimmed(line);
    if (*s == '\0' || *s == '#' || *s == ';')
        return true;
    if (st->in_option && indent > st->indent)
        return true;
    st->indent = indent;
    return *s == '[' ? take_section(st, s) : take_option(st, s);
}

size_t ini_read(char *bytes, const struct ini_reader *reader)
{
    struct state st = {.reader = reader};
    size_t number = 0;
    if (strncmp(bytes, "\xEF\xBB\xBF", 3) == 0)
        bytes += 3;
    while (bytes != NULL && *bytes != '\0') {
        char *line = bytes;
        bytes = strchr(bytes, '\n');
        if (bytes != NULL)
            *bytes++ = '\0';
        number++;
        if (!take_line(&st, line))
            return number;
    }
    return 0;
}
