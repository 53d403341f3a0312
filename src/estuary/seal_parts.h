/* Shared by seal.c and seal_judge.c only. */
#ifndef SLUICE_ESTUARY_SEAL_PARTS_H
#define SLUICE_ESTUARY_SEAL_PARTS_H

#include "estuary/seal.h"

/* Whose placeholder the text holds; NULL = it is no secret. */
const struct estuary_secret *seal_secret_of(const char *text, const struct estuary_secret *secrets,
                                            size_t count);
#endif
