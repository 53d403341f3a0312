/* What the files of the step share. */
#ifndef SLUICE_STEPS_OAUTH_OAUTH_H
#define SLUICE_STEPS_OAUTH_OAUTH_H

#include "core/check.h"

extern const struct check *const oauth_checks[]; /* ends with NULL */

#endif
