/* The step postgres: a source that Estuary can capture from, proved live. */
#include "steps/postgres/changes.h"
#include "steps/postgres/postgres.h"
#include "steps/steps.h"

static const struct change_kind *const kinds[] = {
    &postgres_kind_role,
    &postgres_kind_password,
    &postgres_kind_grants,
    &postgres_kind_watermarks,
    &postgres_kind_repair,
    &postgres_kind_publication,
    NULL,
};

const struct step step_postgres = {
    .id = "postgres",
    .number = "2",
    .name = "PostgreSQL",
    .title = "PostgreSQL source",
    .intro =
        "Estuary reads changes from the server's log as a user of its own. Here that user, its "
        "rights, the publication and the watermarks table are planned against what is there, made "
        "with your consent, and proved as that user with a real change that comes through.",
    .needs = "PostgreSQL: an admin login, or a DBA to hand the SQL to",
    .link = "https://docs.estuary.dev/reference/Connectors/capture-connectors/PostgreSQL/",
    .fields = postgres_fields,
    .checks = postgres_checks,
    .kinds = kinds,
    .plan = postgres_plan,
};
