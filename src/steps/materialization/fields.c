/* The questions of the step materialization: where in Bauplan the tables go, what becomes of
 * deleted rows, how often changes are merged. The last two have no default: each changes what is
 * paid or what is lost, and the connector's own defaults are not what the guide promises. */
#include <string.h>

#include "core/mem.h"
#include "core/snapshot.h"
#include "estuary/names.h"
#include "estuary/spec.h"
#include "steps/answer.h"
#include "steps/materialization/materialization.h"

#define WORD "abcdefghijklmnopqrstuvwxyz0123456789_"

static char *name_default(const struct snapshot *s)
{
    const char *prefix = snap_text(s, "start.prefix");
    const char *pipeline = snap_text(s, "start.name");
    if (prefix[0] == '\0' || pipeline[0] == '\0')
        return NULL;
    return xasprintf("%s%s/%s", prefix, pipeline, ESTUARY_TARGET_NAME);
}

static const struct field name = {
    .id = "materialization.name",
    .kind = FIELD_TEXT,
    .label = "Materialization",
    .help =
        "Name of the materialization in Estuary. It begins with your prefix. The parameter that "
        "holds the catalog's credential in AWS is named after it.",
    .example = "acmeCo/shop/materialize-bauplan",
    .required = true,
    .default_from = name_default,
    .normalise = answer_trim,
    .valid = estuary_name_check,
};

/* What the connector leaves as it is. Anything else it renames, so that nobody finds it again. */
static int word_valid(const char *text, const char *sort, struct problem *err)
{
    if (strlen(text) <= 255 && text[strspn(text, WORD)] == '\0')
        return 0;
    AUTO(xfree) char *other = estuary_iceberg_name(text);
    problem_fail(err, PROBLEM_INPUT, "form", "a %s has a-z, 0-9 and _, at most 255", sort);
    problem_why(err,
                "Estuary makes it lower case, and every other character an underscore; a dot in "
                "a namespace it refuses.");
    problem_fix(err, WHO_YOU, "Use %s.", other);
    return -1;
}

static int namespace_valid(const char *text, struct problem *err)
{
    return word_valid(text, "namespace", err);
}

static int table_valid(const char *text, struct problem *err)
{
    return word_valid(text, "table", err);
}

static const struct field namespace = {
    .id = "materialization.namespace",
    .kind = FIELD_TEXT,
    .label = "Namespace",
    .help = "The namespace in Bauplan that the tables go to; Estuary makes it when there is none. "
            "To move tables later means to delete the old ones and to fill the new ones from the "
            "start.",
    .example = "shop",
    .required = true,
    .normalise = answer_trim,
    .valid = namespace_valid,
};

static const struct field_choice deletes[] = {
    {"no", "keep them, marked (soft)"},
    {"yes", "remove the rows (hard)"},
    {NULL, NULL},
};

static char *yes_or_no(const char *typed)
{
    static const char *const words[][2] = {{"true", "yes"}, {"on", "yes"}, {"hard", "yes"},
                                           {"false", "no"}, {"off", "no"}, {"soft", "no"}};
    char *text = answer_trim(typed);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(text, words[i][0]) == 0)
            xreplace(&text, words[i][1]);
    return text;
}

static const struct field hard_delete = {
    .id = "materialization.hard_delete",
    .kind = FIELD_CHOICE,
    .label = "Deletes",
    .help = "What happens in Bauplan when a row is deleted in PostgreSQL. Hard: it vanishes with "
            "the next sync. Soft: it stays, and its column _meta/op says d. Hard deletes need "
            "collections as Estuary's discovery writes them.",
    .example = "no",
    .required = true,
    .choices = deletes,
    .normalise = yes_or_no,
};

static const struct field_choice frequencies[] = {
    {"0s", "one sync after the other"},
    {"30s", "30 s, up to 2880 Spark runs a day"},
    {"5m", "5 min, up to 288 Spark runs a day"},
    {"15m", "15 min, up to 96 Spark runs a day"},
    {"30m", "30 min, up to 48 Spark runs a day"},
    {"1h", "1 h, up to 24 Spark runs a day"},
    {"2h", "2 h, up to 12 Spark runs a day"},
    {"4h", "4 h, up to 6 Spark runs a day"},
    {NULL, NULL},
};

static const struct field sync_frequency = {
    .id = "materialization.sync_frequency",
    .kind = FIELD_CHOICE,
    .label = "Every",
    .help =
        "How long changes are gathered before Spark merges them. Each sync starts one or two "
        "Spark jobs, which cost by the minute; Estuary's own value is 30 min. The first sync of "
        "a table carries all its rows.",
    .example = "30m",
    .required = true,
    .choices = frequencies,
};

static const struct field bindings = {
    .id = "materialization.bindings",
    .kind = FIELD_MAP,
    .label = "Table names",
    .help =
        "For a table that shall be called otherwise in Bauplan: schema.table=name. Needed where "
        "two would get one name, as public.orders and audit.orders.",
    .example = "audit.orders=audit_orders",
    .advanced = true,
    .valid = table_valid,
};

const struct field *const materialization_fields[] = {&name,           &namespace, &hard_delete,
                                                      &sync_frequency, &bindings,  NULL};
