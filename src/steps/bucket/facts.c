/* What the step learns of buckets, and the forms of names and prefixes. */
#include <string.h>
#include <strings.h>

#include "core/mem.h"
#include "core/run.h"
#include "steps/answer.h"
#include "steps/bucket/bucket.h"

/* --- a table's place -------------------------------------------------------------------------- */

static void table_free(void *data)
{
    struct bucket_table *t = data;
    xfree(t->name);
    xfree(t->bucket);
    xfree(t->prefix);
    xfree(t);
}

static void table_hash(const void *data, struct hasher *h)
{
    const struct bucket_table *t = data;
    hasher_text(h, t->bucket);
    hasher_text(h, t->prefix);
}

const struct fact_type bucket_table_type = {
    .name = "place of a table", .release = table_free, .hash = table_hash};

/* Up to a part named iceberg, as Bauplan's lakes have it; else without the table's own part. */
static char *base_of(const char *path)
{
    for (const char *at = path; (at = strstr(at, "iceberg")) != NULL; at++) {
        bool starts = at == path || at[-1] == '/';
        if (starts && (at[7] == '/' || at[7] == '\0'))
            return xstrndup(path, (size_t)(at + 7 - path));
    }
    size_t n = strlen(path);
    while (n > 0 && path[n - 1] == '/')
        n--;
    while (n > 0 && path[n - 1] != '/')
        n--;
    while (n > 0 && path[n - 1] == '/')
        n--;
    return xstrndup(path, n);
}

struct fact *bucket_table_fact(const char *name, const char *location)
{
    const char *rest = strstr(location, "://");
    if (rest == NULL || strncasecmp(location, "s3", 2) != 0)
        return NULL;
    rest += 3;
    size_t n = strcspn(rest, "/");
    AUTO(xfree) char *bucket = xstrndup(rest, n);
    if (s3_bucket_name_check(bucket, NULL) != 0)
        return NULL;
    struct bucket_table *t = xcalloc(1, sizeof *t);
    t->name = xstrdup(name);
    t->bucket = xstrdup(bucket);
    t->prefix = base_of(rest + n + strspn(rest + n, "/"));
    return fact_new(&bucket_table_type, t);
}

/* --- findings --------------------------------------------------------------------------------- */

static void hash_finding(const struct bucket_finding *f, struct hasher *h)
{
    hasher_number(h, f->presence);
    hasher_number(h, f->owner);
    hasher_number(h, f->marked);
    hasher_number(h, f->block_known);
    hasher_number(h, f->block.block_acls + 2 * f->block.ignore_acls + 4 * f->block.block_policy +
                         8 * f->block.restrict_buckets);
    hasher_number(h, f->versions);
}

static void findings_hash(const void *data, struct hasher *h)
{
    const struct bucket_findings *f = data;
    hash_finding(&f->lake, h);
    hash_finding(&f->staging, h);
}

const struct fact_type bucket_findings_type = {
    .name = "buckets", .release = xfree, .hash = findings_hash};

bool bucket_all_blocked(const struct s3_public_block *b)
{
    return b->block_acls && b->ignore_acls && b->block_policy && b->restrict_buckets;
}

/* --- names ------------------------------------------------------------------------------------ */

char *bucket_normalise(const char *typed)
{
    AUTO(xfree) char *text = answer_trim(typed);
    const char *from = strncmp(text, "s3://", 5) == 0 ? text + 5 : text;
    size_t n = strlen(from);
    while (n > 0 && from[n - 1] == '/')
        n--;
    return xstrndup(from, n);
}

char *bucket_prefix_normalise(const char *typed)
{
    AUTO(xfree) char *text = answer_trim(typed);
    const char *from = text + strspn(text, "/");
    size_t n = strlen(from);
    while (n > 0 && from[n - 1] == '/')
        n--;
    return xstrndup(from, n);
}

int bucket_prefix_valid(const char *text, struct problem *err)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.=/";
    const char *wrong = NULL;
    if (answer_word(text, err) != 0)
        return -1;
    if (strstr(text, "://") != NULL)
        wrong = "a prefix is a folder within the bucket, not a URL";
    else if (text[0] == '/' || (text[0] != '\0' && text[strlen(text) - 1] == '/'))
        wrong = "a prefix neither begins nor ends with a slash";
    else if (strstr(text, "//") != NULL || strstr(text, "..") != NULL)
        wrong = "empty parts and dots as parts lead elsewhere than they seem to";
    else if (text[strspn(text, letters)] != '\0')
        wrong = "letters, digits and - _ . = are allowed between slashes";
    else if (strlen(text) > 200)
        wrong = "it is longer than 200 characters";
    if (wrong == NULL)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "form", "%s", wrong);
    problem_why(err, "Policies and paths are made of it, where other characters have a meaning of "
                     "their own.");
    problem_fix(err, WHO_YOU, "Type a folder such as estuary-staging.");
    return -1;
}

bool bucket_is_one(const struct run *run)
{
    return strcmp(run_text(run, "bucket.lake"), run_text(run, "bucket.staging")) == 0;
}

bool bucket_prefixes_overlap(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    size_t shorter = n < m ? n : m;
    if (strncmp(a, b, shorter) != 0)
        return false;
    const char *longer = n < m ? b : a;
    return shorter == 0 || longer[shorter] == '\0' || longer[shorter] == '/';
}
