/* AWS S3: buckets. See s3.h; objects and lists are in s3_objects.c. */
#include "aws/s3.h"

#include <arpa/inet.h>
#include <openssl/evp.h>
#include <string.h>

#include "aws/s3_call.h"
#include "aws/service.h"
#include "core/mem.h"

/* --- names ------------------------------------------------------------------------------------ */

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

static const char *name_fault(const char *s)
{
    static const char *const prefixes[] = {"xn--", "sthree-", "amzn-s3-demo-"};
    static const char *const suffixes[] = {"-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3"};
    struct in_addr ip;
    size_t n = strlen(s);
    if (n < 3 || n > 63)
        return "it must have 3 to 63 characters";
    if (inet_pton(AF_INET, s, &ip) == 1)
        return "it must not look like an IP address";
    if (strchr(s, '.') != NULL)
        return "with a dot in it the certificate of S3 does not fit, for Estuary's connector "
               "neither";
    if (s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-")] != '\0')
        return "only lower-case letters, digits and hyphens are allowed";
    if (s[0] == '-' || s[n - 1] == '-')
        return "it must begin and end with a letter or digit";
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (strncmp(s, prefixes[i], strlen(prefixes[i])) == 0)
            return "AWS reserves this beginning";
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (ends_with(s, suffixes[i]))
            return "AWS reserves this ending";
    return NULL;
}

int s3_bucket_name_check(const char *bucket, struct problem *err)
{
    const char *fault = name_fault(bucket);
    if (fault == NULL)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "bucket", "“%s” is no name for a bucket here", bucket);
    problem_why(err, "%s", fault);
    problem_fix(err, WHO_YOU, "use 3 to 63 lower-case letters, digits and hyphens");
    return -1;
}

/* --- one call --------------------------------------------------------------------------------- */

int s3_call_init(struct aws_call *call, const struct aws_client *client, const char *action,
                 const char *method, const char *bucket, const char *key, struct problem *err)
{
    aws_call_init(call, &aws_s3, action);
    call->method = method;
    call->bucket = bucket;
    text_addc(&call->path, '/');
    if (bucket != NULL && s3_bucket_name_check(bucket, err) != 0)
        return -1;
    if (bucket != NULL)
        call->resource = xasprintf("arn:%s:s3:::%s%s%s",
                                   aws_partition_of(client->region != NULL ? client->region : ""),
                                   bucket, key != NULL ? "/" : "", key != NULL ? key : "");
    if (key != NULL)
        sigv4_encode(&call->path, key, strlen(key), true);
    return 0;
}

void s3_call_checksum(struct aws_call *call)
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    char base64[64];
    EVP_Digest(call->body.s, call->body.len, hash, &n, EVP_sha256(), NULL);
    EVP_EncodeBlock((unsigned char *)base64, hash, (int)n);
    call->extra[0] = (struct sigv4_extra){"x-amz-sdk-checksum-algorithm", xstrdup("SHA256")};
    call->extra[1] = (struct sigv4_extra){"x-amz-checksum-sha256", xstrdup(base64)};
}

bool s3_is(const struct aws_answer *a, const char *root)
{
    return a->xml != NULL && strcmp(a->xml->name, root) == 0;
}

/* --- is it there? ----------------------------------------------------------------------------- */

void s3_bucket_release(struct s3_bucket *b)
{
    xfree(b->region);
    *b = (struct s3_bucket){0};
}

static int head(struct run *run, const struct aws_client *client, const char *bucket,
                bool without_signature, struct s3_bucket *out, struct problem *err)
{
    AUTO_AWS_CALL call;
    AUTO_AWS_ANSWER a = {0};
    AUTO_PROBLEM why = PROBLEM_INIT;
    *out = (struct s3_bucket){0};
    if (s3_call_init(&call, client, "HeadBucket", "HEAD", bucket, NULL, err) != 0)
        return -1;
    call.unsigned_call = without_signature;
    int rc = aws_send(run, client, &call, &a, &why);
    const char *region = http_response_header(&a.http, "x-amz-bucket-region");
    if (region != NULL && aws_region_check(region, NULL) == 0)
        out->region = xstrdup(region);
    bool elsewhere = without_signature && aws_is(&why, "PermanentRedirect");
    if (rc == 0)
        out->presence = S3_OPEN;
    else if (why.kind == PROBLEM_DENIED || elsewhere)
        out->presence = S3_FORBIDDEN;
    else if (aws_is(&why, "NotFound"))
        out->presence = S3_ABSENT;
    else {
        s3_bucket_release(out);
        problem_move(err, &why);
        return -1;
    }
    return 0;
}

int s3_head_bucket(struct run *run, const struct aws_client *client, const char *bucket,
                   struct s3_bucket *out, struct problem *err)
{
    return head(run, client, bucket, false, out, err);
}

int s3_probe_region(struct run *run, const struct aws_client *client, const char *bucket,
                    struct s3_bucket *out, struct problem *err)
{
    return head(run, client, bucket, true, out, err);
}

/* --- making and removing ---------------------------------------------------------------------- */

int s3_create_bucket(struct run *run, const struct aws_client *client, const char *bucket,
                     struct problem *err)
{
    AUTO_AWS_CALL call;
    AUTO_AWS_ANSWER a = {0};
    if (s3_call_init(&call, client, "CreateBucket", "PUT", bucket, NULL, err) != 0)
        return -1;
    /* The first region has no constraint, and spelling it out is refused. */
    if (client->region != NULL && strcmp(client->region, "us-east-1") != 0)
        text_addf(&call.body,
                  "<CreateBucketConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                  "<LocationConstraint>%s</LocationConstraint></CreateBucketConfiguration>",
                  client->region);
    call.content_type = call.body.len > 0 ? "application/xml" : NULL;
    return aws_send(run, client, &call, &a, err);
}

int s3_delete_bucket(struct run *run, const struct aws_client *client, const char *bucket,
                     struct problem *err)
{
    AUTO_AWS_CALL call;
    AUTO_AWS_ANSWER a = {0};
    if (s3_call_init(&call, client, "DeleteBucket", "DELETE", bucket, NULL, err) != 0)
        return -1;
    return aws_send(run, client, &call, &a, err);
}

/* --- settings --------------------------------------------------------------------------------- */

static int put_setting(struct run *run, const struct aws_client *client, const char *bucket,
                       const char *action, const char *name, const char *xml, struct problem *err)
{
    AUTO_AWS_CALL call;
    AUTO_AWS_ANSWER a = {0};
    if (s3_call_init(&call, client, action, "PUT", bucket, NULL, err) != 0)
        return -1;
    aws_query(&call, name, "");
    text_add(&call.body, xml);
    call.content_type = "application/xml";
    call.idempotent = true;
    s3_call_checksum(&call); /* S3 refuses these without one */
    return aws_send(run, client, &call, &a, err);
}

static int get_setting(struct run *run, const struct aws_client *client, const char *bucket,
                       const char *action, const char *name, struct aws_answer *a,
                       struct problem *err)
{
    AUTO_AWS_CALL call;
    *a = (struct aws_answer){0};
    if (s3_call_init(&call, client, action, "GET", bucket, NULL, err) != 0)
        return -1;
    aws_query(&call, name, "");
    return aws_send(run, client, &call, a, err);
}

int s3_put_public_block(struct run *run, const struct aws_client *client, const char *bucket,
                        struct problem *err)
{
    return put_setting(
        run, client, bucket, "PutPublicAccessBlock", "publicAccessBlock",
        "<PublicAccessBlockConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        "<BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls>"
        "<BlockPublicPolicy>true</BlockPublicPolicy>"
        "<RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>",
        err);
}

static bool is_true(const struct xml_node *n, const char *path)
{
    const char *s = xml_text(n, path);
    return s != NULL && strcasecmp(s, "true") == 0;
}

int s3_get_public_block(struct run *run, const struct aws_client *client, const char *bucket,
                        struct s3_public_block *out, struct problem *err)
{
    AUTO_AWS_ANSWER a;
    AUTO_PROBLEM why = PROBLEM_INIT;
    *out = (struct s3_public_block){0};
    if (get_setting(run, client, bucket, "GetPublicAccessBlock", "publicAccessBlock", &a, &why) ==
        0) {
        *out =
            (struct s3_public_block){.block_acls = is_true(a.xml, "BlockPublicAcls"),
                                     .ignore_acls = is_true(a.xml, "IgnorePublicAcls"),
                                     .block_policy = is_true(a.xml, "BlockPublicPolicy"),
                                     .restrict_buckets = is_true(a.xml, "RestrictPublicBuckets")};
        return 0;
    }
    if (aws_is(&why, "NoSuchPublicAccessBlockConfiguration"))
        return 0;
    problem_move(err, &why);
    return -1;
}

int s3_get_versioning(struct run *run, const struct aws_client *client, const char *bucket,
                      bool *on, struct problem *err)
{
    AUTO_AWS_ANSWER a;
    if (get_setting(run, client, bucket, "GetBucketVersioning", "versioning", &a, err) != 0)
        return -1;
    const char *status = xml_text(a.xml, "Status"); /* never switched on: no element */
    *on = status != NULL && strcmp(status, "Enabled") == 0;
    return 0;
}

int s3_put_tags(struct run *run, const struct aws_client *client, const char *bucket,
                const struct aws_tags *tags, struct problem *err)
{
    /* Values are ours: hex and the ids of steps, nothing that XML would want escaped. */
    AUTO(xfree)
    char *xml = xasprintf("<Tagging xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><TagSet>"
                          "<Tag><Key>" AWS_TAG_RUN "</Key><Value>%s</Value></Tag>"
                          "<Tag><Key>" AWS_TAG_STEP "</Key><Value>%s</Value></Tag>"
                          "</TagSet></Tagging>",
                          tags->run, tags->step);
    return put_setting(run, client, bucket, "PutBucketTagging", "tagging", xml, err);
}

int s3_get_tag_run(struct run *run, const struct aws_client *client, const char *bucket,
                   char **tag_run, struct problem *err)
{
    AUTO_AWS_ANSWER a;
    AUTO_PROBLEM why = PROBLEM_INIT;
    *tag_run = NULL;
    int rc = get_setting(run, client, bucket, "GetBucketTagging", "tagging", &a, &why);
    if (rc != 0 && !aws_is(&why, "NoSuchTagSet")) {
        problem_move(err, &why);
        return -1;
    }
    const struct xml_node *tags = xml_find(a.xml, "TagSet");
    for (size_t i = 0; tags != NULL && i < tags->count; i++) {
        const char *key = xml_text(tags->children[i], "Key");
        if (key != NULL && strcmp(key, AWS_TAG_RUN) == 0)
            xreplace(tag_run, xml_text(tags->children[i], "Value"));
    }
    return 0;
}
