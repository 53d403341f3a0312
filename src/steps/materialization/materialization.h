/* Insides of the step materialization, shared by the files of this folder only. */
#ifndef SLUICE_STEPS_MATERIALIZATION_MATERIALIZATION_H
#define SLUICE_STEPS_MATERIALIZATION_MATERIALIZATION_H

#include "core/check.h"
#include "core/field.h"

extern const struct field *const materialization_fields[];
/* verdicts.c */
extern const struct check materialization_check_name, materialization_check_namespace,
    materialization_check_policies, materialization_check_deletes, materialization_check_schedule;
/* verdict_config.c */
extern const struct check materialization_check_config;
/* verdict_tables.c */
extern const struct check materialization_check_tables;

/* Syncs a day at a frequency ("30m" -> 48); 0 = one after the other. */
long materialization_syncs(const char *frequency);
#endif
