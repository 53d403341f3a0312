/* Making the application: what the plan hands over, and how it is found again. */
#ifndef SLUICE_STEPS_EMR_CHANGES_H
#define SLUICE_STEPS_EMR_CHANGES_H

#include "aws/emr.h"
#include "core/node.h"

/* Arguments of the change: account, region, name, run; of one to be made also release, cpu, memory,
 * subnets, groups, token. They suffice to undo it. */

/* The AWS CLI's command for the very call that is sent; xfree. */
char *emr_create_preview(const struct node *args);
/* Bears the name, and no mark of another set-up. (A mark may be missing: tags can be denied.) */
bool emr_is_ours(const struct emr_application *a, const char *name, const char *run);
#endif
