/* What the AWS steps share. See common.h. */
#include "steps/aws/common.h"

#include <string.h>

#include "core/mem.h"

int aws_here_open(struct run *run, struct aws_here *out, struct problem *err)
{
    *out = (struct aws_here){0};
    if (aws_credentials_load(run_text(run, "emr.profile"), &out->credentials, err) != 0)
        return -1;
    if (run_text(run, "emr.region")[0] != '\0')
        xreplace(&out->credentials.region, run_text(run, "emr.region"));
    if (out->credentials.region == NULL) {
        problem_fail(err, PROBLEM_INPUT, "region", "no AWS region is chosen");
        problem_fix(err, WHO_YOU, "answer emr.region, or set AWS_REGION or the profile's region");
        aws_here_release(out);
        return -1;
    }
    out->client =
        (struct aws_client){.credentials = &out->credentials, .region = out->credentials.region};
    return 0;
}

int aws_here_as_user(struct run *run, struct aws_here *out, struct problem *err)
{
    struct secret *key = run_secret(run, "iam.access_key");
    const char *colon = key != NULL ? strchr(secret_bytes(key), ':') : NULL;
    *out = (struct aws_here){0};
    if (colon == NULL) {
        problem_fail(err, PROBLEM_INPUT, "key", "there is no access key yet");
        problem_fix(err, WHO_YOU, "apply the plan, or answer iam.access_key as KEYID:SECRET");
        return -1;
    }
    out->credentials.key_id = xstrndup(secret_bytes(key), (size_t)(colon - secret_bytes(key)));
    out->credentials.secret_key = secret_new(colon + 1, strlen(colon + 1));
    out->credentials.source = xstrdup("the access key made here");
    out->credentials.region = xstrdup(run_text(run, "emr.region"));
    out->client =
        (struct aws_client){.credentials = &out->credentials, .region = out->credentials.region};
    return 0;
}

void aws_here_release(struct aws_here *h)
{
    aws_credentials_release(&h->credentials);
}

/* --- identity --------------------------------------------------------------------------------- */

static void identity_release(void *data)
{
    struct aws_identity *i = data;
    xfree(i->account);
    xfree(i->partition);
    xfree(i->arn);
    xfree(i->region);
    xfree(i->source);
    xfree(i);
}

static void identity_hash(const void *data, struct hasher *h)
{
    const struct aws_identity *i = data;
    hasher_text(h, i->account);
    hasher_text(h, i->partition);
    hasher_text(h, i->arn);
    hasher_text(h, i->region);
}

static struct node *identity_save(const void *data)
{
    const struct aws_identity *i = data;
    struct node *n = node_map();
    node_set_text(n, "account", i->account);
    node_set_text(n, "partition", i->partition);
    node_set_text(n, "region", i->region);
    node_set_text(n, "arn", i->arn);
    return n;
}

const struct fact_type aws_identity_type = {.name = "aws identity",
                                            .release = identity_release,
                                            .hash = identity_hash,
                                            .save = identity_save};

struct fact *aws_identity_fact(const struct aws_identity *from)
{
    struct aws_identity *i = xcalloc(1, sizeof(*i));
    i->account = xstrdup(from->account);
    i->partition = xstrdup(from->partition);
    i->arn = xstrdup(from->arn);
    i->region = xstrdup(from->region);
    i->source = xstrdup(from->source);
    i->overridden = from->overridden;
    return fact_new(&aws_identity_type, i);
}

/* --- names ------------------------------------------------------------------------------------ */

char *aws_made_name(const struct snapshot *s, const char *suffix)
{
    const char *name = snap_text(s, "start.name");
    return name[0] != '\0' ? xasprintf("sluice-%s%s", name, suffix) : NULL;
}

static void hash_node(struct hasher *h, const struct node *n)
{
    hasher_number(h, n->kind);
    hasher_text(h, n->text);
    for (size_t i = 0; i < n->count; i++) {
        if (n->kind == NODE_MAP)
            hasher_text(h, n->keys[i]);
        hash_node(h, n->items[i]);
    }
}

char *aws_client_token(const char *run_id, const char *change, const struct node *args)
{
    struct hasher *h = hasher_new();
    char hex[DIGEST_HEX];
    hasher_text(h, run_id);
    hasher_text(h, change);
    hash_node(h, args);
    struct digest d = hasher_end(h);
    digest_hex(&d, hex);
    return xstrdup(hex);
}

char *aws_known_after(const char *title)
{
    return xasprintf("(known after: %s)", title);
}
