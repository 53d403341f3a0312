/* All steps of the product, in the order of the guide. To add one: its file here, its line in
 * steps.c. */
#ifndef SLUICE_STEPS_STEPS_H
#define SLUICE_STEPS_STEPS_H

#include "core/step.h"

extern const struct step step_start;
extern const struct step step_oauth;
extern const struct step step_postgres;
extern const struct step step_emr;
extern const struct step step_bucket;
extern const struct step step_iam;
extern const struct step step_capture;
extern const struct step step_materialization;
extern const struct step step_review;

/* The array rows_init takes, ended by NULL; static storage. */
const struct step *const *steps_all(void);
#endif
