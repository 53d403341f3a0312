/* The list of checks of the step postgres, in the order they are shown. */
#include "steps/postgres/postgres.h"

const struct check *const postgres_checks[] = {NULL};
