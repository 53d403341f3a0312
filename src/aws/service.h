/* Where a service is reached and how it is signed: rows, partitions, endpoint overrides. */
#ifndef SLUICE_AWS_SERVICE_H
#define SLUICE_AWS_SERVICE_H

#include <stdbool.h>

#include "aws/call.h"

struct aws_endpoint {
    char *base; /* "https://iam.amazonaws.com", no trailing slash */
    char *host; /* as signed: with the port when it is not the scheme's */
    char *signing_region;
    bool overridden; /* by AWS_ENDPOINT_URL_<SERVICE> or AWS_ENDPOINT_URL */
};

/* bucket (s3 only, may be NULL): virtual host; path style under an override. PROBLEM_INPUT for an
 * override that is http off loopback, or for a region that is none. */
int aws_endpoint_of(const struct aws_service *s, const char *region, const char *bucket,
                    struct aws_endpoint *out, struct problem *err);
void aws_endpoint_release(struct aws_endpoint *e);
/* "aws", "aws-cn", "aws-us-gov", …: of a region by its form; "aws" when unknown. */
const char *aws_partition_of(const char *region);
/* PROBLEM_INPUT unless it has the form of a region ("us-east-1"); an availability zone
 * ("us-east-1a") is told as such. */
int aws_region_check(const char *region, struct problem *err);
/* Is an endpoint of any service overridden? For the banner. */
bool aws_endpoints_overridden(void);
#endif
