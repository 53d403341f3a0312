/* The checks of the step OAuth. */
#include "steps/oauth/oauth.h"

#include <stddef.h>

const struct check *const oauth_checks[] = {NULL};
