/* The questions of the step capture. What the capture reads, and as whom, was answered in the step
 * postgres; here is how it is called in Estuary and what becomes of the changes. */
#include "core/mem.h"
#include "core/snapshot.h"
#include "estuary/names.h"
#include "estuary/spec.h"
#include "steps/answer.h"
#include "steps/capture/capture.h"

static char *name_default(const struct snapshot *s)
{
    const char *prefix = snap_text(s, "start.prefix");
    const char *pipeline = snap_text(s, "start.name");
    if (prefix[0] == '\0' || pipeline[0] == '\0')
        return NULL;
    return xasprintf("%s%s/%s", prefix, pipeline, ESTUARY_SOURCE_NAME);
}

static const struct field name = {
    .id = "capture.name",
    .kind = FIELD_TEXT,
    .label = "Capture",
    .help = "Name of the capture in Estuary. It begins with your prefix; its collections stand "
            "beside it, in the folder the name is in. Each pipeline has a folder of its own, or "
            "two captures would write into one collection.",
    .example = "acmeCo/shop/source-postgres",
    .required = true,
    .default_from = name_default,
    .normalise = answer_trim,
    .valid = estuary_name_check,
};

static const struct field history = {
    .id = "capture.history",
    .kind = FIELD_SWITCH,
    .label = "Keep history",
    .help = "Yes keeps every change of a row as an event of its own; no reduces them to the row as "
            "it is now, which is what tables in Bauplan usually want.",
    .example = "no",
    .required = true,
    .initial = "no",
};

static const struct field_choice sslmodes[] = {
    {"verify-full", "encrypted, certificate and host name checked"},
    {"verify-ca", "encrypted, certificate checked"},
    {"require", "encrypted, nothing checked"},
    {"prefer", "encrypted where the server can"},
    {"disable", "in clear"},
    {NULL, NULL},
};

/* Estuary trusts the public CAs alone and can be given no other: what was proved here by a CA file
 * cannot be proved there. */
static char *sslmode_default(const struct snapshot *s)
{
    const char *here = snap_text(s, "postgres.sslmode");
    bool verifies = snap_is(s, "postgres.sslmode", "verify-full") ||
                    snap_is(s, "postgres.sslmode", "verify-ca");
    if (verifies && snap_text(s, "postgres.ca_file")[0] != '\0')
        return xstrdup("require");
    return here[0] != '\0' ? xstrdup(here) : NULL;
}

static const struct field sslmode = {
    .id = "capture.sslmode",
    .kind = FIELD_CHOICE,
    .label = "TLS",
    .help = "How Estuary connects to the database. It knows the public CAs only: where the "
            "server's certificate is signed by a private CA, as on RDS, Cloud SQL and most own "
            "servers, choose require.",
    .example = "require",
    .required = true,
    .default_from = sslmode_default,
    .choices = sslmodes,
};

static const struct field bindings = {
    .id = "capture.bindings",
    .kind = FIELD_MAP,
    .label = "Collections",
    .help = "For a table whose changes shall go to another collection than Estuary would name: "
            "schema.table=name of the collection. Needed where two tables would get one name.",
    .example = "audit.\"Orders\"=acmeCo/shop/audit/orders_2",
    .advanced = true,
    .valid = estuary_name_check,
};

const struct field *const capture_fields[] = {&name, &history, &sslmode, &bindings, NULL};
