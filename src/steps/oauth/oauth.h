/* What the files of the step share. */
#ifndef SLUICE_STEPS_OAUTH_OAUTH_H
#define SLUICE_STEPS_OAUTH_OAUTH_H

#include "core/check.h"

extern const struct check *const oauth_checks[]; /* ends with NULL */

/* Checks that ask the catalog, surveys.c. */
void survey_reach(struct run *run, struct outcome *out);
void survey_login(struct run *run, struct outcome *out);
void survey_config(struct run *run, struct outcome *out);
void survey_branch(struct run *run, struct outcome *out);
void probe_writable(struct run *run, struct outcome *out);

#endif
