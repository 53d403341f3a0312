/* The step materialization: how the changes become tables in Bauplan. */
#include <string.h>

#include "core/snapshot_make.h"
#include "steps/materialization/materialization.h"
#include "steps/steps.h"

static const struct check *const checks[] = {
    &materialization_check_name,
    &materialization_check_namespace,
    &materialization_check_tables,
    &materialization_check_config,
    &materialization_check_policies,
    &materialization_check_deletes,
    &materialization_check_schedule,
    &materialization_check_existing,
    &materialization_check_connector,
    &materialization_check_live,
    &materialization_check_sealed,
    &materialization_check_dry_run,
    NULL,
};

static bool begun(const struct snapshot *s)
{
    const struct rows *rows = snapshot_rows(s);
    for (size_t i = 0; i < rows->field_count; i++)
        if (strncmp(rows->fields[i]->id, "materialization.", 16) == 0 &&
            snapshot_origin(s, (int)i) > ORIGIN_DEFAULT)
            return true;
    return false;
}

const struct step step_materialization = {
    .id = "materialization",
    .number = "5",
    .name = "Iceberg",
    .title = "Estuary materialization",
    .intro = "Estuary merges the changes into Iceberg tables of Bauplan by Spark jobs. Names and "
             "places are worked out as the connector will, and all it demands is judged here; "
             "then, on your word, Estuary builds both tasks for trial. Nothing goes live.",
    .link =
        "https://docs.estuary.dev/reference/Connectors/materialization-connectors/apache-iceberg/",
    .fields = materialization_fields,
    .checks = checks,
    .begun = begun,
};
