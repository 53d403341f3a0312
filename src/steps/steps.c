/* The list of steps: the only place that knows their order. */
#include "steps/steps.h"

const struct step *const *steps_all(void)
{
    static const struct step *const all[] = {
        &step_start, &step_oauth,   &step_postgres,        &step_emr,    &step_bucket,
        &step_iam,   &step_capture, &step_materialization, &step_review, NULL,
    };
    return all;
}
