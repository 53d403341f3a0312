/* Insides of the step start, shared by the files of this folder only. */
#ifndef SLUICE_STEPS_START_START_H
#define SLUICE_STEPS_START_START_H

#include "core/check.h"
#include "core/field.h"
#include "estuary/account.h"

extern const struct field *const start_fields[];
/* local.c */
extern const struct check start_check_clock, start_check_network;
/* account.c */
extern const struct check start_check_login, start_check_prefix, start_check_plane;
/* The first plane of the mapping (may be NULL) that takes new tasks; NULL = none does. Borrowed. */
const char *start_plane_of(const struct estuary_account *a, const struct estuary_mapping *m);
#endif
