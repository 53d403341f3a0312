/* Shared by seal.c and seal_judge.c only. */
#ifndef SLUICE_ESTUARY_SEAL_PARTS_H
#define SLUICE_ESTUARY_SEAL_PARTS_H

#include "estuary/seal.h"

/* Whose placeholder the text holds; NULL = it is no secret. */
const struct estuary_secret *seal_secret_of(const char *text, const struct estuary_secret *secrets,
                                            size_t count);
/* Makes each known to the redactor until seal_live_free, so that it is found, and is in no message:
 * what is a part of a longer secret is not, by itself. */
struct secret **seal_live(const struct estuary_secret *secrets, size_t count);
void seal_live_free(struct secret **live, size_t count);
#endif
