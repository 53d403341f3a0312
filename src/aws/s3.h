/* AWS S3: buckets and small objects. Bucket names are 3 to 63 of [a-z0-9-] (a dot breaks the
 * certificate of the bucket's host); others are PROBLEM_INPUT "bucket" before anything is sent. */
#ifndef SLUICE_AWS_S3_H
#define SLUICE_AWS_S3_H

#include "aws/ask.h"

/* AWS's rules for a name that we may make (no IP address, no reserved prefix or suffix), and ours
 * (no dot). PROBLEM_INPUT says which rule. */
int s3_bucket_name_check(const char *bucket, struct problem *err);

enum s3_presence {
    S3_ABSENT,   /* nobody has it */
    S3_OPEN,     /* it is there and these credentials may list it */
    S3_FORBIDDEN /* it is there: another account's, or s3:ListBucket is missing */
};
struct s3_bucket {
    enum s3_presence presence;
    char *region; /* NULL when absent, or not said */
};
void s3_bucket_release(struct s3_bucket *b);
#define AUTO_S3_BUCKET __attribute__((cleanup(s3_bucket_release))) struct s3_bucket

int s3_head_bucket(struct run *run, const struct aws_client *client, const char *bucket,
                   struct s3_bucket *out, struct problem *err);
/* The same without a signature, as Estuary's connector asks for the region; needs no rights at all.
 * presence is never S3_OPEN for a private bucket. */
int s3_probe_region(struct run *run, const struct aws_client *client, const char *bucket,
                    struct s3_bucket *out, struct problem *err);
/* In the client's region. PROBLEM_CONFLICT "BucketAlreadyExists" (somebody else's),
 * "BucketAlreadyOwnedByYou" (not in us-east-1, which says 200: so head it first). */
int s3_create_bucket(struct run *run, const struct aws_client *client, const char *bucket,
                     struct problem *err);
int s3_delete_bucket(struct run *run, const struct aws_client *client, const char *bucket,
                     struct problem *err);

struct s3_public_block {
    bool block_acls, ignore_acls, block_policy, restrict_buckets;
};
/* All four on. */
int s3_put_public_block(struct run *run, const struct aws_client *client, const char *bucket,
                        struct problem *err);
/* A bucket without the setting: all false, no problem. */
int s3_get_public_block(struct run *run, const struct aws_client *client, const char *bucket,
                        struct s3_public_block *out, struct problem *err);
/* Whether the bucket keeps old versions; one that was suspended is not. */
int s3_get_versioning(struct run *run, const struct aws_client *client, const char *bucket,
                      bool *on, struct problem *err);
/* Replaces all tags of the bucket: only for one we made. */
int s3_put_tags(struct run *run, const struct aws_client *client, const char *bucket,
                const struct aws_tags *tags, struct problem *err);
/* *tag_run: our tag, NULL when it has none; xfree. */
int s3_get_tag_run(struct run *run, const struct aws_client *client, const char *bucket,
                   char **tag_run, struct problem *err);

int s3_put_object(struct run *run, const struct aws_client *client, const char *bucket,
                  const char *key, const char *content_type, const char *bytes, size_t n,
                  struct problem *err);
/* At most 16 MiB. PROBLEM_MISSING "NoSuchKey" (DENIED without s3:ListBucket). */
int s3_get_object(struct run *run, const struct aws_client *client, const char *bucket,
                  const char *key, struct text *out, struct problem *err);
/* Also when there is none. *marker (may be NULL): a versioned bucket kept the object and only
 * marked it deleted. */
int s3_delete_object(struct run *run, const struct aws_client *client, const char *bucket,
                     const char *key, bool *marker, struct problem *err);

struct s3_listing {
    struct aws_names keys;
    bool more; /* there are more than `most` */
};
void s3_listing_release(struct s3_listing *l);
#define AUTO_S3_LISTING __attribute__((cleanup(s3_listing_release))) struct s3_listing
/* The first `most` keys at prefix ("" = all). */
int s3_list_objects(struct run *run, const struct aws_client *client, const char *bucket,
                    const char *prefix, size_t most, struct s3_listing *out, struct problem *err);

struct s3_buckets {
    size_t count;
    struct s3_named {
        char *name, *region; /* region NULL when not said */
    } * list;
};
void s3_buckets_release(struct s3_buckets *b);
#define AUTO_S3_BUCKETS __attribute__((cleanup(s3_buckets_release))) struct s3_buckets
/* All of the account; needs s3:ListAllMyBuckets, which many do not have. */
int s3_list_buckets(struct run *run, const struct aws_client *client, struct s3_buckets *out,
                    struct problem *err);
#endif
