/* The rows of the services, and their hosts by partition. See service.h; hosts and signing regions
 * as botocore's endpoint data has them. */
#include "aws/service.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/mem.h"

const struct aws_service aws_sts = {"sts", "sts", "STS", AWS_QUERY, "2011-06-15", false, "sts:"};
const struct aws_service aws_iam = {"iam", "iam", "IAM", AWS_QUERY, "2010-05-08", true, "iam:"};
const struct aws_service aws_ec2 = {"ec2", "ec2", "EC2", AWS_EC2, "2016-11-15", false, "ec2:"};
const struct aws_service aws_ssm = {"ssm", "ssm", "SSM", AWS_JSON11, "AmazonSSM", false, "ssm:"};
const struct aws_service aws_emr = {
    "emr-serverless", "emr-serverless", "EMR_SERVERLESS", AWS_REST_JSON, NULL, false,
    "emr-serverless:"};
const struct aws_service aws_s3 = {"s3", "s3", "S3", AWS_REST_XML, NULL, false, "s3:"};

struct partition {
    const char *id;
    const char *region_prefix; /* of its regions; "" = all others */
    const char *suffix;
    const char *iam_host;
    const char *iam_region;
};

static const struct partition partitions[] = {
    {"aws-cn", "cn-", "amazonaws.com.cn", "iam.cn-north-1.amazonaws.com.cn", "cn-north-1"},
    {"aws-us-gov", "us-gov-", "amazonaws.com", "iam.us-gov.amazonaws.com", "us-gov-west-1"},
    {"aws-eusc", "eusc-", "amazonaws.eu", "iam.eusc-de-east-1.amazonaws.eu", "eusc-de-east-1"},
    {"aws-iso", "us-iso-", "c2s.ic.gov", "iam.us-iso-east-1.c2s.ic.gov", "us-iso-east-1"},
    {"aws-iso-b", "us-isob-", "sc2s.sgov.gov", "iam.us-isob-east-1.sc2s.sgov.gov",
     "us-isob-east-1"},
    {"aws-iso-e", "eu-isoe-", "cloud.adc-e.uk", "iam.eu-isoe-west-1.cloud.adc-e.uk",
     "eu-isoe-west-1"},
    {"aws-iso-f", "us-isof-", "csp.hci.ic.gov", "iam.us-isof-south-1.csp.hci.ic.gov",
     "us-isof-south-1"},
    {"aws", "", "amazonaws.com", "iam.amazonaws.com", "us-east-1"},
};

static const struct partition *partition_of(const char *region)
{
    const struct partition *p = partitions;
    while (strncmp(region, p->region_prefix, strlen(p->region_prefix)) != 0)
        p++;
    return p;
}

const char *aws_partition_of(const char *region)
{
    return partition_of(region)->id;
}

static const char *set_variable(const char *name)
{
    const char *v = getenv(name);
    return v != NULL && v[0] != '\0' ? v : NULL;
}

/* The override for a service, or NULL. */
static const char *override_of(const struct aws_service *s)
{
    const char *ignore = getenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
    if (ignore != NULL && strcasecmp(ignore, "true") == 0)
        return NULL;
    AUTO(xfree) char *name = xasprintf("AWS_ENDPOINT_URL_%s", s->env_suffix);
    const char *own = set_variable(name);
    return own != NULL ? own : set_variable("AWS_ENDPOINT_URL");
}

bool aws_endpoints_overridden(void)
{
    static const struct aws_service *const all[] = {&aws_sts, &aws_iam, &aws_ec2,
                                                    &aws_ssm, &aws_emr, &aws_s3};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (override_of(all[i]) != NULL)
            return true;
    return false;
}

/* Words of lower-case letters, then a number: "us-gov-west-1". What follows the number, if
 * anything, is at *rest. */
static bool has_region(const char *s, const char **rest)
{
    size_t words = 0;
    while (islower((unsigned char)*s)) {
        while (islower((unsigned char)*s))
            s++;
        words++;
        if (*s != '-')
            return false;
        s++;
    }
    size_t digits = strspn(s, "0123456789");
    *rest = s + digits;
    return words >= 2 && digits >= 1 && digits <= 2;
}

int aws_region_check(const char *region, struct problem *err)
{
    const char *rest = NULL;
    bool begins = region != NULL && strlen(region) <= 40 && has_region(region, &rest);
    if (begins && *rest == '\0')
        return 0;
    problem_fail(err, PROBLEM_INPUT, "region", "“%s” is no AWS region",
                 region != NULL ? region : "");
    if (begins && islower((unsigned char)rest[0]) && rest[1] == '\0') {
        problem_why(err, "It is an availability zone.");
        problem_fix(err, WHO_YOU, "give its region: %.*s", (int)(rest - region), region);
    } else {
        problem_fix(err, WHO_YOU, "answer emr.region, or set AWS_REGION, as in us-east-1");
    }
    return -1;
}

static bool is_loopback(const char *host)
{
    struct in_addr four;
    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           (inet_pton(AF_INET, host, &four) == 1 && ntohl(four.s_addr) >> 24 == 127);
}

static int take_override(const char *url, struct aws_endpoint *out, struct problem *err)
{
    struct url_parts u;
    if (url_split(url, &u, err) != 0)
        return -1;
    bool tls = strcmp(u.scheme, "https") == 0;
    bool bare = (u.path == NULL || u.path[0] == '\0' || strcmp(u.path, "/") == 0) &&
                (u.query == NULL || u.query[0] == '\0');
    int rc = 0;
    if (!tls && !is_loopback(u.host)) {
        rc = problem_fail(err, PROBLEM_INPUT, "endpoint", "the endpoint override %s is not https",
                          url);
        problem_fix(err, WHO_YOU,
                    "use https, or unset AWS_ENDPOINT_URL: credentials are not sent in clear");
    } else if (!bare) {
        rc = problem_fail(err, PROBLEM_INPUT, "endpoint",
                          "the endpoint override %s has a path, which sluice cannot use", url);
        problem_fix(err, WHO_YOU, "give scheme, host and port only");
    } else {
        bool six = strchr(u.host, ':') != NULL;
        bool usual = strcmp(u.port, tls ? "443" : "80") == 0;
        out->host = xasprintf("%s%s%s%s%s", six ? "[" : "", u.host, six ? "]" : "",
                              usual ? "" : ":", usual ? "" : u.port);
        out->base = xasprintf("%s://%s", u.scheme, out->host);
        out->overridden = true;
    }
    url_release(&u);
    return rc;
}

/* A name that becomes part of the host must not become another host. Dots would break the
 * certificate. */
static int check_bucket(const char *bucket, struct problem *err)
{
    size_t n = strlen(bucket);
    if (n >= 3 && n <= 63 &&
        bucket[strspn(bucket, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0')
        return 0;
    problem_fail(err, PROBLEM_INPUT, "bucket", "“%s” cannot be used as a bucket here", bucket);
    problem_fix(
        err, WHO_YOU,
        "use a bucket with 3 to 63 lower-case letters, digits and hyphens in its name; with "
        "a dot the certificate of S3 does not fit, for Estuary's connector neither");
    return -1;
}

int aws_endpoint_of(const struct aws_service *s, const char *region, const char *bucket,
                    struct aws_endpoint *out, struct problem *err)
{
    *out = (struct aws_endpoint){0};
    if (aws_region_check(region, err) != 0 || (bucket != NULL && check_bucket(bucket, err) != 0))
        return -1;
    const struct partition *p = partition_of(region);
    out->signing_region = xstrdup(s->global ? p->iam_region : region);
    const char *override = override_of(s);
    if (override != NULL) {
        if (take_override(override, out, err) == 0)
            return 0;
        aws_endpoint_release(out);
        return -1;
    }
    if (s->global)
        out->host = xstrdup(p->iam_host);
    else if (bucket != NULL)
        out->host = xasprintf("%s.s3.%s.%s", bucket, region, p->suffix);
    else
        out->host = xasprintf("%s.%s.%s", s->id, region, p->suffix);
    out->base = xasprintf("https://%s", out->host);
    return 0;
}

void aws_endpoint_release(struct aws_endpoint *e)
{
    xfree(e->base);
    xfree(e->host);
    xfree(e->signing_region);
    *e = (struct aws_endpoint){0};
}
