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
/* A 2xx or other answer that has not the shape of the protocol: a proxy's or portal's. `why`: what
 * the parser said, may be NULL. */
void aws_error_foreign(const struct aws_call *call, const struct http_response *http,
                       const char *why, struct problem *err);
/* Refused before anything was done: any call may be sent again. */
bool aws_error_is_throttle(const struct aws_error *e, int status);
/* 500, 502, 503, 504: it may have been done all the same. */
bool aws_error_is_transient(int status);
bool aws_error_is_clock(const struct aws_error *e);
#endif
