/* Commands of S3. See aws_probe.c. */
#include <stdlib.h>
#include <string.h>

#include "aws/s3.h"
#include "aws_probe.h"
#include "core/mem.h"

static int head_bucket(struct probe *p)
{
    AUTO_S3_BUCKET b = {0};
    bool without_signature = p->word[1] != NULL;
    if ((without_signature ? CALL(s3_probe_region, p->word[0], &b)
                           : CALL(s3_head_bucket, p->word[0], &b)) != 0)
        return -1;
    json_pair_number(&p->w, "presence", (long long)b.presence);
    json_pair_text(&p->w, "region", b.region);
    return 0;
}

static int create_bucket(struct probe *p)
{
    return CALL(s3_create_bucket, p->word[0]);
}

static int delete_bucket(struct probe *p)
{
    return CALL(s3_delete_bucket, p->word[0]);
}

static int put_block(struct probe *p)
{
    return CALL(s3_put_public_block, p->word[0]);
}

static int get_block(struct probe *p)
{
    struct s3_public_block b;
    if (CALL(s3_get_public_block, p->word[0], &b) != 0)
        return -1;
    json_pair_bool(&p->w, "all",
                   b.block_acls && b.ignore_acls && b.block_policy && b.restrict_buckets);
    json_pair_bool(&p->w, "any",
                   b.block_acls || b.ignore_acls || b.block_policy || b.restrict_buckets);
    return 0;
}

static int tag_bucket(struct probe *p)
{
    return CALL(s3_put_tags, p->word[0], &probe_tags);
}

static int bucket_tag(struct probe *p)
{
    AUTO(xfree) char *tag = NULL;
    if (CALL(s3_get_tag_run, p->word[0], &tag) != 0)
        return -1;
    json_pair_text(&p->w, "tag_run", tag);
    return 0;
}

static int put_object(struct probe *p)
{
    return CALL(s3_put_object, p->word[0], p->word[1], "text/plain", p->word[2],
                strlen(p->word[2]));
}

static int get_object(struct probe *p)
{
    AUTO_TEXT body = TEXT_INIT;
    if (CALL(s3_get_object, p->word[0], p->word[1], &body) != 0)
        return -1;
    json_pair_text(&p->w, "body", body.s);
    return 0;
}

static int delete_object(struct probe *p)
{
    bool marker;
    if (CALL(s3_delete_object, p->word[0], p->word[1], &marker) != 0)
        return -1;
    json_pair_bool(&p->w, "marker", marker);
    return 0;
}

static int list_objects(struct probe *p)
{
    AUTO_S3_LISTING l = {0};
    size_t most = p->word[2] != NULL ? (size_t)strtoul(p->word[2], NULL, 10) : 10000;
    if (CALL(s3_list_objects, p->word[0], p->word[1] != NULL ? p->word[1] : "", most, &l) != 0)
        return -1;
    pair_names(p, "keys", &l.keys);
    json_pair_bool(&p->w, "more", l.more);
    return 0;
}

static int list_buckets(struct probe *p)
{
    AUTO_S3_BUCKETS b = {0};
    if (s3_list_buckets(p->run, &p->client, &b, p->err) != 0)
        return -1;
    json_key(&p->w, "buckets");
    json_begin(&p->w, '{');
    for (size_t i = 0; i < b.count; i++)
        json_pair_text(&p->w, b.list[i].name, b.list[i].region);
    json_end(&p->w, '}');
    return 0;
}

const struct probe_command probe_s3[] = {
    {"head-bucket", head_bucket},
    {"create-bucket", create_bucket},
    {"delete-bucket", delete_bucket},
    {"put-block", put_block},
    {"get-block", get_block},
    {"tag-bucket", tag_bucket},
    {"bucket-tag", bucket_tag},
    {"put-object", put_object},
    {"get-object", get_object},
    {"delete-object", delete_object},
    {"list-objects", list_objects},
    {"list-buckets", list_buckets},
    {NULL, NULL},
};
