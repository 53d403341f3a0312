/* What the changes of the AWS steps carry along of the place they were planned for, so that what
 * was shown for one account is never sent to another. */
#ifndef SLUICE_STEPS_AWS_PLANNED_H
#define SLUICE_STEPS_AWS_PLANNED_H

#include "core/node.h"
#include "steps/aws/common.h"

/* Puts account, region and run (the pipeline's name, our mark in tags) into the arguments of a
 * change. */
void aws_plan_place(struct node *args, const struct aws_identity *who, const char *pipeline);
/* Text of an argument; "" when there is none. Borrowed. */
const char *aws_planned(const struct node *args, const char *key);
/* Opens AWS as the operator. PROBLEM_CONFLICT "account" when the keys now lead to another account
 * or region than the one planned for. *out is to be released in any case. */
int aws_open_planned(struct run *run, const struct node *args, struct aws_here *out,
                     struct problem *err);
#endif
