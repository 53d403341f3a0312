/* What is to be made in PostgreSQL: facts compared with answers. */
#include "steps/postgres/postgres.h"

void postgres_plan(const struct snapshot *s, struct plan *out)
{
    (void)s;
    (void)out;
}
