/* What s3.c and s3_objects.c share. */
#ifndef SLUICE_AWS_S3_CALL_H
#define SLUICE_AWS_S3_CALL_H

#include "aws/s3.h"
#include "aws/sigv4.h"

/* -1 and PROBLEM_INPUT for a bucket's name; the call is to be released in both cases. */
int s3_call_init(struct aws_call *call, const struct aws_client *client, const char *action,
                 const char *method, const char *bucket, const char *key, struct problem *err);
/* SHA-256 of the body as S3 wants it, in the first two extra headers. */
void s3_call_checksum(struct aws_call *call);
/* Is the answer a document of this name? */
bool s3_is(const struct aws_answer *a, const char *root);
#endif
