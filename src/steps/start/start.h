/* Insides of the step start, shared by the files of this folder only. */
#ifndef SLUICE_STEPS_START_START_H
#define SLUICE_STEPS_START_START_H

#include "core/check.h"
#include "core/field.h"

extern const struct field *const start_fields[];
/* local.c */
extern const struct check start_check_clock, start_check_network;
/* account.c */
extern const struct check start_check_login, start_check_prefix, start_check_plane;
#endif
