/* Insides of the step materialization, shared by the files of this folder only. */
#ifndef SLUICE_STEPS_MATERIALIZATION_MATERIALIZATION_H
#define SLUICE_STEPS_MATERIALIZATION_MATERIALIZATION_H

#include "core/check.h"
#include "core/field.h"
#include "core/run.h"
#include "steps/spec/inputs.h"

extern const struct field *const materialization_fields[];
/* verdicts.c */
extern const struct check materialization_check_name, materialization_check_namespace,
    materialization_check_policies, materialization_check_deletes, materialization_check_schedule;
/* verdict_config.c */
extern const struct check materialization_check_config;
/* verdict_tables.c */
extern const struct check materialization_check_tables;

/* online.c */
extern const struct check materialization_check_connector, materialization_check_live,
    materialization_check_sealed;
/* existing.c */
extern const struct check materialization_check_existing;
/* dry_run.c */
extern const struct check materialization_check_dry_run;

/* Its config as answered, with placeholders for secrets; node_free. */
#define MATERIALIZATION_READS_CONFIG                                                               \
    SPEC_READS_TARGET, "iam.role", "iam.path", SPEC_FACT_ROLE, SPEC_FACT_IDENTITY
struct node *materialization_config(const struct run *run);

/* Syncs a day at a frequency ("30m" -> 48); 0 = one after the other. */
long materialization_syncs(const char *frequency);
#endif
