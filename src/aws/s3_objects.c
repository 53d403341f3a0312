/* AWS S3: objects, and lists of objects and buckets. See s3.h. */
#include <stdio.h>
#include <string.h>

#include "aws/s3_call.h"
#include "core/mem.h"

int s3_put_object(struct run *run, const struct aws_client *client, const char *bucket,
                  const char *key, const char *content_type, const char *bytes, size_t n,
                  struct problem *err)
{
    AUTO_AWS_CALL call;
    AUTO_AWS_ANSWER a = {0};
    if (s3_call_init(&call, client, "PutObject", "PUT", bucket, key, err) != 0)
        return -1;
    text_addn(&call.body, bytes, n);
    call.content_type = content_type;
    call.idempotent = true; /* the same bytes under the same key */
    s3_call_checksum(&call);
    return aws_send(run, client, &call, &a, err);
}

int s3_get_object(struct run *run, const struct aws_client *client, const char *bucket,
                  const char *key, struct text *out, struct problem *err)
{
    AUTO_AWS_CALL call;
    AUTO_AWS_ANSWER a = {0};
    if (s3_call_init(&call, client, "GetObject", "GET", bucket, key, err) != 0 ||
        aws_send(run, client, &call, &a, err) != 0)
        return -1;
    text_addn(out, a.http.body.s, a.http.body.len);
    return 0;
}

int s3_delete_object(struct run *run, const struct aws_client *client, const char *bucket,
                     const char *key, bool *marker, struct problem *err)
{
    AUTO_AWS_CALL call;
    AUTO_AWS_ANSWER a = {0};
    if (s3_call_init(&call, client, "DeleteObject", "DELETE", bucket, key, err) != 0)
        return -1;
    call.idempotent = true;
    if (aws_send(run, client, &call, &a, err) != 0)
        return -1;
    const char *marked = http_response_header(&a.http, "x-amz-delete-marker");
    if (marker != NULL)
        *marker = marked != NULL && strcmp(marked, "true") == 0;
    return 0;
}

/* --- lists ------------------------------------------------------------------------------------ */

void s3_listing_release(struct s3_listing *l)
{
    aws_names_release(&l->keys);
    l->more = false;
}

static const char *next_token(const struct xml_node *r)
{
    const char *truncated = xml_text(r, "IsTruncated");
    bool more = truncated != NULL && strcmp(truncated, "true") == 0;
    return more ? xml_text(r, "NextContinuationToken") : NULL;
}

static int list_page(struct run *run, const struct aws_client *client, const char *bucket,
                     const char *prefix, size_t most, const char *token, struct aws_answer *a,
                     struct problem *err)
{
    AUTO_AWS_CALL call;
    char keys[24];
    *a = (struct aws_answer){0};
    snprintf(keys, sizeof(keys), "%zu", most < 1000 ? most : (size_t)1000);
    if (s3_call_init(&call, client, "ListObjectsV2", "GET", bucket, NULL, err) != 0)
        return -1;
    aws_query(&call, "list-type", "2");
    aws_query(&call, "max-keys", keys);
    aws_query(&call, "prefix", prefix);
    if (token != NULL)
        aws_query(&call, "continuation-token", token);
    return aws_send(run, client, &call, a, err);
}

int s3_list_objects(struct run *run, const struct aws_client *client, const char *bucket,
                    const char *prefix, size_t most, struct s3_listing *out, struct problem *err)
{
    AUTO_AWS_PAGES pages = {0};
    int more;
    *out = (struct s3_listing){0};
    do {
        AUTO_AWS_ANSWER a;
        more = list_page(run, client, bucket, prefix, most, pages.token, &a, err);
        if (more == 0 && !s3_is(&a, "ListBucketResult"))
            more = aws_lacks("ListObjectsV2", "ListBucketResult", err);
        for (size_t i = 0; more == 0 && a.xml != NULL && i < a.xml->count; i++) {
            const struct xml_node *row = a.xml->children[i];
            const char *key = strcmp(row->name, "Contents") == 0 ? xml_text(row, "Key") : NULL;
            if (key != NULL && out->keys.count == most)
                out->more = true;
            else
                aws_names_add(&out->keys, key);
        }
        if (more == 0 && out->keys.count >= most && next_token(a.xml) != NULL)
            out->more = true;
        if (more == 0 && !out->more)
            more = aws_pages_more(&pages, next_token(a.xml), "ListObjectsV2", err);
    } while (more == 1);
    if (more != 0)
        s3_listing_release(out);
    return more;
}

void s3_buckets_release(struct s3_buckets *b)
{
    for (size_t i = 0; i < b->count; i++) {
        xfree(b->list[i].name);
        xfree(b->list[i].region);
    }
    xfree(b->list);
    *b = (struct s3_buckets){0};
}

static int buckets_page(struct run *run, const struct aws_client *client, const char *token,
                        struct aws_answer *a, struct problem *err)
{
    AUTO_AWS_CALL call;
    *a = (struct aws_answer){0};
    if (s3_call_init(&call, client, "ListBuckets", "GET", NULL, NULL, err) != 0)
        return -1;
    aws_query(&call, "max-buckets", "1000"); /* without it the regions are left out */
    if (token != NULL)
        aws_query(&call, "continuation-token", token);
    return aws_send(run, client, &call, a, err);
}

int s3_list_buckets(struct run *run, const struct aws_client *client, struct s3_buckets *out,
                    struct problem *err)
{
    AUTO_AWS_PAGES pages = {0};
    int more;
    *out = (struct s3_buckets){0};
    do {
        AUTO_AWS_ANSWER a;
        more = buckets_page(run, client, pages.token, &a, err);
        if (more == 0 && !s3_is(&a, "ListAllMyBucketsResult"))
            more = aws_lacks("ListBuckets", "ListAllMyBucketsResult", err);
        const struct xml_node *rows = xml_find(a.xml, "Buckets");
        for (size_t i = 0; more == 0 && rows != NULL && i < rows->count; i++) {
            const char *name = xml_text(rows->children[i], "Name");
            if (name == NULL)
                continue;
            out->list = aws_grow(out->list, out->count, sizeof(*out->list));
            out->list[out->count++] = (struct s3_named){
                xstrdup(name), xstrdup(xml_text(rows->children[i], "BucketRegion"))};
        }
        if (more == 0)
            more = aws_pages_more(&pages, xml_text(a.xml, "ContinuationToken"), "ListBuckets", err);
    } while (more == 1);
    if (more != 0)
        s3_buckets_release(out);
    return more;
}
