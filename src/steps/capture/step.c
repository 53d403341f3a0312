/* The step capture: how Estuary reads the changes. */
#include <string.h>

#include "core/mem.h"
#include "core/snapshot_make.h"
#include "steps/capture/capture.h"
#include "steps/steps.h"

static const struct check *const checks[] = {
    &capture_check_name,        &capture_check_config, &capture_check_tls,
    &capture_check_collections, &capture_check_keys,   &capture_check_sealed,
    &capture_check_discovery,   &capture_check_drafts, NULL,
};

/* Everything here has a default once there is a prefix: then the step begins by itself when there
 * are tables to capture. */
static bool begun(const struct snapshot *s)
{
    const struct rows *rows = snapshot_rows(s);
    for (size_t i = 0; i < rows->field_count; i++)
        if (strncmp(rows->fields[i]->id, "capture.", 8) == 0 &&
            snapshot_origin(s, (int)i) > ORIGIN_DEFAULT)
            return true;
    return snap_text(s, "start.prefix")[0] != '\0' &&
           !value_empty(snap_value(s, "postgres.tables"));
}

const struct step step_capture = {
    .id = "capture",
    .number = "4",
    .name = "Capture",
    .title = "Estuary capture",
    .intro =
        "Estuary reads the changes of the chosen tables and keeps them in collections, one a "
        "table. Names, keys and the connector's own rules are judged here; then, on your word, "
        "Estuary seals the config and discovers the tables.",
    .needs = "Estuary: an account and a prefix you may write to",
    .link = "https://docs.estuary.dev/reference/Connectors/capture-connectors/PostgreSQL/",
    .fields = capture_fields,
    .checks = checks,
    .begun = begun,
};
