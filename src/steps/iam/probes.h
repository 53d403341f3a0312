/* What the probes of the step iam share. */
#ifndef SLUICE_STEPS_IAM_PROBES_H
#define SLUICE_STEPS_IAM_PROBES_H

/* The text with 16 random hexadecimal digits behind it: a name that nobody has; xfree. */
char *iam_probe_name(const char *before);
#endif
