/* The list of checks of the step postgres, in the order they are shown. */
#include "steps/postgres/postgres.h"

const struct check *const postgres_checks[] = {
    &postgres_check_connect_admin,
    &postgres_check_version,
    &postgres_check_found,
    NULL,
};
