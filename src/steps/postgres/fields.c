/* The questions of the step postgres. Names default to the pipeline's name, so that a second
 * pipeline on the same server gets its own user, slot and publication. */
#include <string.h>

#include "core/mem.h"
#include "core/snapshot.h"
#include "postgres/names.h"
#include "steps/answer.h"
#include "steps/postgres/postgres.h"

/* flow_<name of the pipeline with _ for ->; NULL while it has no name. */
static char *flow_name(const struct snapshot *s)
{
    const char *name = snap_text(s, "start.name");
    if (name[0] == '\0')
        return NULL;
    char *made = xasprintf("flow_%s", name);
    for (char *p = made; *p != '\0'; p++)
        if (*p == '-')
            *p = '_';
    return made;
}

static const struct field host = {
    .id = "postgres.host",
    .kind = FIELD_TEXT,
    .label = "Host",
    .help = "Name or address of the primary server, as Estuary will reach it: the writer's "
            "endpoint, not a reader's and not a pooler's. Estuary connects from its own addresses, "
            "so localhost or a name that only resolves in your network works for the checks here "
            "and not for Estuary.",
    .example = "db.example.com",
    .required = true,
    .normalise = answer_trim,
    .valid = postgres_valid_host,
};

static const struct field port = {
    .id = "postgres.port",
    .kind = FIELD_TEXT,
    .label = "Port",
    .help = "Port of the server itself. 6432 and 6543 are usually poolers, through which "
            "replication cannot pass.",
    .example = "5432",
    .required = true,
    .initial = "5432",
    .normalise = answer_trim,
    .valid = postgres_valid_port,
};

static const struct field database = {
    .id = "postgres.database",
    .kind = FIELD_TEXT,
    .label = "Database",
    .help = "The database whose tables are captured. A capture reads one database; upper and lower "
            "case count.",
    .example = "shop",
    .required = true,
    .normalise = answer_trim,
};

static const struct field_choice sslmodes[] = {
    {"verify-full", "encrypted, certificate and host name checked"},
    {"verify-ca", "encrypted, certificate checked"},
    {"require", "encrypted, nothing checked"},
    {"prefer", "encrypted where the server can"},
    {"disable", "in clear"},
    {NULL, NULL},
};

static const struct field sslmode = {
    .id = "postgres.sslmode",
    .kind = FIELD_CHOICE,
    .label = "TLS",
    .help = "How the connections made here check the server. RDS and most own servers have a "
            "private CA: name its file below, or choose require. What Estuary uses is an answer of "
            "the capture step: it takes no CA file.",
    .example = "verify-full",
    .required = true,
    .initial = "verify-full",
    .choices = sslmodes,
};

static const struct field ca_file = {
    .id = "postgres.ca_file",
    .kind = FIELD_PATH,
    .label = "CA file",
    .help = "PEM file with the certificate of the CA that signed the server's certificate, when it "
            "is none of the system's: for RDS the bundle global-bundle.pem of AWS. Empty: the "
            "system's CAs.",
    .example = "/home/alice/global-bundle.pem",
    .advanced = true,
    .normalise = answer_trim,
};

static const struct field admin_user = {
    .id = "postgres.admin_user",
    .kind = FIELD_TEXT,
    .label = "Admin",
    .help = "Who makes the capture user, its grants and the publication: an owner of the tables "
            "that may create roles, or a superuser. On RDS the master user. It is only used here, "
            "never given to Estuary.",
    .example = "postgres",
    .required = true,
    .initial = "postgres",
    .normalise = answer_trim,
};

static const struct field admin_password = {
    .id = "postgres.admin_password",
    .kind = FIELD_SECRET,
    .label = "Admin password",
    .help = "Kept in memory only and asked again after a restart; or a reference, env:NAME or "
            "file:/path.",
    .required = true,
    .keep = KEEP_NEVER,
    .host_of = "postgres.host",
};

static const struct field user = {
    .id = "postgres.user",
    .kind = FIELD_TEXT,
    .label = "Capture user",
    .help = "The role Estuary logs in as. It is made with the least rights that do: login, "
            "replication, SELECT "
            "on the chosen tables, and writing to the watermarks table. One that exists is adopted "
            "and only given what it lacks.",
    .example = "flow_shop",
    .required = true,
    .default_from = flow_name,
    .normalise = answer_trim,
    .valid = postgres_valid_user,
};

static const struct field password = {
    .id = "postgres.password",
    .kind = FIELD_SECRET,
    .label = "User password",
    .help =
        "Password of the capture user. Empty: 32 random characters are made when the plan is "
        "carried out. The server gets a SCRAM verifier, so that it stands in no log of statements.",
    .host_of = "postgres.host",
    .make = 32,
};

static const struct field tables = {
    .id = "postgres.tables",
    .kind = FIELD_LIST,
    .label = "Tables",
    .help = "Tables to capture, as schema.table with quotes where SQL needs them. A partitioned "
            "table is chosen as the whole; its partitions come along.",
    .example = "public.orders, public.\"Order Items\"",
    .required = true,
    .picker = FACT_CATALOGUE,
    .pick = &postgres_picker,
    .valid = postgres_valid_table,
};

static const struct field repairs = {
    .id = "postgres.repairs",
    .kind = FIELD_MAP,
    .label = "Repairs",
    .help = "For a chosen table without a primary key: what tells its rows apart in the log. full "
            "writes the whole old row for every UPDATE and DELETE; index:NAME uses a unique index "
            "whose columns are NOT NULL. Without one, publishing the table makes every UPDATE and "
            "DELETE on it fail in your application.",
    .example = "public.order_tags: full",
    .advanced = true,
    .valid = postgres_valid_repair,
};

static const struct field publication = {
    .id = "postgres.publication",
    .kind = FIELD_TEXT,
    .label = "Publication",
    .help = "The list of tables whose changes the server hands out. Estuary does not make it. "
            "Lower case only: the server folds the name when Estuary subscribes.",
    .example = "flow_shop",
    .required = true,
    .advanced = true,
    .default_from = flow_name,
    .normalise = answer_trim,
    .valid = postgres_valid_publication,
};

static const struct field slot = {
    .id = "postgres.slot",
    .kind = FIELD_TEXT,
    .label = "Slot",
    .help = "Name of the replication slot that Estuary makes when the capture starts. It must not "
            "exist yet: an idle slot of that name would be dropped, whoever owns it. sluice never "
            "makes it, since a slot that nobody reads keeps the server's log from being recycled.",
    .example = "flow_shop",
    .required = true,
    .advanced = true,
    .default_from = flow_name,
    .normalise = answer_trim,
    .valid = postgres_valid_slot,
};

static const struct field watermarks = {
    .id = "postgres.watermarks",
    .kind = FIELD_TEXT,
    .label = "Watermarks",
    .help = "A small table that Estuary writes its marks to, a row a capture; it finds its place "
            "in the log by them during a backfill. schema.table, lower case.",
    .example = "public.flow_watermarks",
    .required = true,
    .advanced = true,
    .initial = "public.flow_watermarks",
    .normalise = answer_trim,
    .valid = postgres_valid_watermarks,
};

const struct field *const postgres_fields[] = {
    &host,       &port,           &database, &sslmode,    &ca_file,
    &admin_user, &admin_password, &user,     &password,   &tables,
    &repairs,    &publication,    &slot,     &watermarks, NULL,
};
