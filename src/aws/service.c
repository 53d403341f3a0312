/* The rows of the services, and their hosts by partition. See service.h; hosts and signing regions
 * as botocore's endpoint data has them. */
#include "aws/service.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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
    if (ignore != NULL && strcmp(ignore, "true") == 0)
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

static bool is_region(const char *s)
{
    if (s == NULL || s[0] == '\0' || strlen(s) > 40)
        return false;
    for (; *s != '\0'; s++)
        if (!islower((unsigned char)*s) && !isdigit((unsigned char)*s) && *s != '-')
            return false;
    return true;
}

static int take_override(const char *url, struct aws_endpoint *out, struct problem *err)
{
    struct url_parts u;
    if (url_split(url, &u, err) != 0)
        return -1;
    bool tls = strcmp(u.scheme, "https") == 0;
    bool loopback = strcmp(u.host, "localhost") == 0 || strncmp(u.host, "127.", 4) == 0 ||
                    strcmp(u.host, "::1") == 0;
    if (!tls && !loopback) {
        problem_fail(err, PROBLEM_INPUT, "endpoint", "the endpoint override %s is not https", url);
        problem_fix(err, WHO_YOU,
                    "use https, or unset AWS_ENDPOINT_URL: credentials are not sent in clear");
        url_release(&u);
        return -1;
    }
    bool own_port = strcmp(u.port, tls ? "443" : "80") == 0;
    out->host = own_port ? xstrdup(u.host) : xasprintf("%s:%s", u.host, u.port);
    out->base = xasprintf("%s://%s", u.scheme, out->host);
    out->overridden = true;
    url_release(&u);
    return 0;
}

int aws_endpoint_of(const struct aws_service *s, const char *region, const char *bucket,
                    struct aws_endpoint *out, struct problem *err)
{
    *out = (struct aws_endpoint){0};
    if (!is_region(region)) {
        problem_fail(err, PROBLEM_INPUT, "region", "“%s” is no AWS region",
                     region != NULL ? region : "");
        problem_fix(err, WHO_YOU, "answer emr.region, or set AWS_REGION");
        return -1;
    }
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
