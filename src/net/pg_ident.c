/* Names and texts as SQL. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "net/pg_impl.h"

/* clang-format off */
/* All key words but the unreserved ones, as quote_ident treats them: PostgreSQL 13 to 18 together
 * (pg_get_keywords(), "SQL Key Words" in the manual), sorted. Quoting one that an older server
 * would not is harmless. */
static const char *const keywords[] = {
    "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric", "authorization",
    "between", "bigint", "binary", "bit", "boolean", "both", "case", "cast", "char", "character",
    "check", "coalesce", "collate", "collation", "column", "concurrently", "constraint", "create",
    "cross", "current_catalog", "current_date", "current_role", "current_schema", "current_time",
    "current_timestamp", "current_user", "dec", "decimal", "default", "deferrable", "desc",
    "distinct", "do", "else", "end", "except", "exists", "extract", "false", "fetch", "float",
    "for", "foreign", "freeze", "from", "full", "grant", "greatest", "group", "grouping", "having",
    "ilike", "in", "initially", "inner", "inout", "int", "integer", "intersect", "interval", "into",
    "is", "isnull", "join", "json", "json_array", "json_arrayagg", "json_exists", "json_object",
    "json_objectagg", "json_query", "json_scalar", "json_serialize", "json_table", "json_value",
    "lateral", "leading", "least", "left", "like", "limit", "localtime", "localtimestamp",
    "merge_action", "national", "natural", "nchar", "none", "normalize", "not", "notnull", "null",
    "nullif", "numeric", "offset", "on", "only", "or", "order", "out", "outer", "overlaps",
    "overlay", "placing", "position", "precision", "primary", "real", "references", "returning",
    "right", "row", "select", "session_user", "setof", "similar", "smallint", "some", "substring",
    "symmetric", "system_user", "table", "tablesample", "then", "time", "timestamp", "to",
    "trailing", "treat", "trim", "true", "union", "unique", "user", "using", "values", "varchar",
    "variadic", "verbose", "when", "where", "window", "with", "xmlattributes", "xmlconcat",
    "xmlelement", "xmlexists", "xmlforest", "xmlnamespaces", "xmlparse", "xmlpi", "xmlroot",
    "xmlserialize", "xmltable",
};
/* clang-format on */

static int compare(const void *key, const void *row)
{
    return strcmp(key, *(const char *const *)row);
}

static bool is_plain(const char *name)
{
    if (!((name[0] >= 'a' && name[0] <= 'z') || name[0] == '_'))
        return false;
    for (const char *p = name; *p != '\0'; p++) {
        if (!((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '_'))
            return false;
    }
    return bsearch(name, keywords, ARRAY_LEN(keywords), sizeof keywords[0], compare) == NULL;
}

char *pg_quote_ident(const char *name)
{
    if (is_plain(name))
        return xstrdup(name);
    struct text t = TEXT_INIT;
    text_addc(&t, '"');
    for (const char *p = name; *p != '\0'; p++) {
        if (*p == '"')
            text_addc(&t, '"');
        text_addc(&t, *p);
    }
    text_addc(&t, '"');
    return text_take(&t);
}

static char *taken(char *s)
{
    char *copy = xstrdup(s);
    if (s != NULL)
        explicit_bzero(s, strlen(s));
    PQfreemem(s);
    return copy;
}

char *pg_identifier(struct pg *pg, const char *name)
{
    return pg->conn != NULL ? taken(PQescapeIdentifier(pg->conn, name, strlen(name))) : NULL;
}

char *pg_literal(struct pg *pg, const char *text)
{
    return pg->conn != NULL ? taken(PQescapeLiteral(pg->conn, text, strlen(text))) : NULL;
}
