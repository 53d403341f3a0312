/* Whether the AWS steps are part of a set-up yet: a command that names no step leaves those out for
 * which nothing was answered and nothing is at hand, instead of asking for what comes later. */
#ifndef SLUICE_STEPS_AWS_BEGUN_H
#define SLUICE_STEPS_AWS_BEGUN_H

#include "core/snapshot.h"

/* True once a field of emr, bucket or iam has an answer that is no default, or AWS credentials are
 * found. Of struct step's `begun`: all three steps begin together, as they share both. Reads the
 * environment and the files of ~/.aws. */
bool aws_begun(const struct snapshot *s);
#endif
