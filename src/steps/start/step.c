/* Step Start: how the pipeline is called, where its secrets are kept, what the Estuary login may
 * use, and whether this machine is fit for what follows. */
#include "steps/start/start.h"
#include "steps/steps.h"

static const struct check *const checks[] = {
    &start_check_clock,  &start_check_network, &start_check_login,
    &start_check_prefix, &start_check_plane,   NULL,
};

const struct step step_start = {
    .id = "start",
    .number = "",
    .name = "Start",
    .title = "A new pipeline",
    .intro = "PostgreSQL changes, carried by Estuary into Iceberg tables of Bauplan. Each step "
             "proves itself against "
             "the real service; everything can be left and resumed.",
    .link = "https://docs.bauplanlabs.com/integrations/data-int-and-etl/estuary",
    .fields = start_fields,
    .checks = checks,
};
