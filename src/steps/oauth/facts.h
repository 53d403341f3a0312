/* What the step OAuth learns of the catalog, for its own verdicts and for later steps (namespaces
 * to choose from, the effective address). */
#ifndef SLUICE_STEPS_OAUTH_FACTS_H
#define SLUICE_STEPS_OAUTH_FACTS_H

#include "catalog/login.h"
#include "catalog/rest.h"
#include "core/fact.h"

extern const struct fact_type oauth_logins_type;     /* "oauth.logins": struct logins */
extern const struct fact_type oauth_config_type;     /* "oauth.config": struct catalog_config */
extern const struct fact_type oauth_namespaces_type; /* "oauth.namespaces": struct catalog_names */

/* Take the content of what is given (left empty); one reference to be given on. */
struct fact *oauth_logins_fact(struct logins *l);
struct fact *oauth_config_fact(struct catalog_config *c);
struct fact *oauth_namespaces_fact(struct catalog_names *n);
#endif
