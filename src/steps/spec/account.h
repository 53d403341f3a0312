/* What the Estuary login may use, as a fact: given by the step start, read by all that speak of
 * prefixes, data planes and their addresses. */
#ifndef SLUICE_STEPS_SPEC_ACCOUNT_H
#define SLUICE_STEPS_SPEC_ACCOUNT_H

#include "core/fact.h"
#include "estuary/account.h"

#define SPEC_FACT_ACCOUNT "start.account"

extern const struct fact_type spec_account_type; /* struct estuary_account */
/* Takes the content, leaves it empty; one reference to be given on. */
struct fact *spec_account_fact(struct estuary_account *a);
#endif
