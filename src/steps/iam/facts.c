/* What the step learns of IAM: a role or user with its policies and keys. Hashed by what its
 * readers depend on: not by when a key was used last, which changes with every use. */
#include <string.h>

#include "core/mem.h"
#include "steps/iam/iam.h"

void iam_side_release(struct iam_side *s)
{
    iam_entity_release(&s->entity);
    for (size_t i = 0; i < s->policy_count; i++) {
        xfree(s->policies[i].name);
        xfree(s->policies[i].document);
    }
    xfree(s->policies);
    aws_names_release(&s->unread);
    for (size_t i = 0; i < s->key_count; i++) {
        xfree(s->keys[i].id);
        xfree(s->keys[i].service);
    }
    xfree(s->keys);
    *s = (struct iam_side){0};
}

static void side_free(void *data)
{
    iam_side_release(data);
    xfree(data);
}

static void side_hash(const void *data, struct hasher *h)
{
    const struct iam_side *s = data;
    hasher_number(h, s->exists);
    hasher_text(h, s->entity.arn);
    hasher_text(h, s->entity.id);
    hasher_text(h, s->entity.trust);
    hasher_text(h, s->entity.boundary);
    hasher_number(h, (int64_t)s->policy_count);
    for (size_t i = 0; i < s->policy_count; i++) {
        hasher_text(h, s->policies[i].name);
        hasher_text(h, s->policies[i].document);
        hasher_number(h, s->policies[i].managed);
    }
    hasher_number(h, (int64_t)s->unread.count);
    for (size_t i = 0; i < s->unread.count; i++)
        hasher_text(h, s->unread.list[i]);
    hasher_number(h, (int64_t)s->key_count);
    for (size_t i = 0; i < s->key_count; i++) {
        hasher_text(h, s->keys[i].id);
        hasher_number(h, s->keys[i].active);
        hasher_number(h, s->keys[i].created);
    }
}

/* Only its ARN, which the specification names. */
static struct node *role_save(const void *data)
{
    const struct iam_side *s = data;
    struct node *n = node_map();
    node_set_text(n, "arn", s->exists ? s->entity.arn : NULL);
    return n;
}

const struct fact_type iam_role_type = {
    .name = "iam role", .release = side_free, .hash = side_hash, .save = role_save};
const struct fact_type iam_user_type = {
    .name = "iam user", .release = side_free, .hash = side_hash};

struct fact *iam_side_fact(enum iam_kind kind, struct iam_side *side)
{
    struct iam_side *data = xmalloc(sizeof *data);
    *data = *side;
    *side = (struct iam_side){0};
    return fact_new(kind == IAM_ROLE ? &iam_role_type : &iam_user_type, data);
}

const struct iam_policy *iam_policy_named(const struct iam_side *s, const char *name)
{
    for (size_t i = 0; i < s->policy_count; i++)
        if (!s->policies[i].managed && strcmp(s->policies[i].name, name) == 0)
            return &s->policies[i];
    return NULL;
}

const struct iam_held_key *iam_key_of(const struct iam_side *s, const char *id)
{
    for (size_t i = 0; i < s->key_count; i++)
        if (strcmp(s->keys[i].id, id) == 0)
            return &s->keys[i];
    return NULL;
}
