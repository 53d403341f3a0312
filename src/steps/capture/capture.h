/* Insides of the step capture, shared by the files of this folder only. */
#ifndef SLUICE_STEPS_CAPTURE_CAPTURE_H
#define SLUICE_STEPS_CAPTURE_CAPTURE_H

#include "core/check.h"
#include "core/field.h"

extern const struct field *const capture_fields[];
/* verdicts.c */
extern const struct check capture_check_name, capture_check_config, capture_check_tls,
    capture_check_collections, capture_check_keys;
/* online.c */
extern const struct check capture_check_sealed, capture_check_discovery, capture_check_drafts;
#endif
