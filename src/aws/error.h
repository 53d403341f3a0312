/* What AWS's errors say, in whichever protocol they come, as a problem. */
#ifndef SLUICE_AWS_ERROR_H
#define SLUICE_AWS_ERROR_H

#include "aws/call.h"

struct aws_error {
    char *code; /* "AccessDenied"; without namespace, URL and "Exception" kept as AWS writes it */
    char *message;    /* may be "" */
    char *request_id; /* may be "" */
    char *region;     /* S3: of the bucket, when it says so; NULL */
};

/* From an answer with a status of 300 and more. An answer that is none of AWS's: code "". */
void aws_error_read(const struct aws_service *service, const struct http_response *http,
                    struct aws_error *out);
void aws_error_release(struct aws_error *e);
/* Turns it into words, by the table of causes (aws/error.c). */
void aws_error_problem(const struct aws_call *call, const struct aws_error *e,
                       const struct http_response *http, struct problem *err);
bool aws_error_is_throttle(const struct aws_error *e, int status);
bool aws_error_is_clock(const struct aws_error *e);
#endif
