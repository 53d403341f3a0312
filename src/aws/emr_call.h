/* What emr.c and emr_jobs.c share. */
#ifndef SLUICE_AWS_EMR_CALL_H
#define SLUICE_AWS_EMR_CALL_H

#include "aws/emr.h"
#include "core/json.h"

/* Path is "/applications", then "/ID" and the rest, NULL = nothing; ids must be [0-9a-z]+, else -1
 * and PROBLEM_INPUT, before anything is sent. The call is to be released in both cases. */
int emr_call_init(struct aws_call *call, const char *action, const char *method, const char *id,
                  const char *rest, const char *job, struct problem *err);
void emr_write_tags(struct json_writer *w, const struct aws_tags *tags); /* NULL writes nothing */
#endif
