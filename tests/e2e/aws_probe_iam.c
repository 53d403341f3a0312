/* Commands of IAM. See aws_probe.c. */
#include <string.h>

#include "aws/iam.h"
#include "aws_probe.h"
#include "core/mem.h"

static enum iam_kind kind(const struct probe *p)
{
    return strcmp(p->word[0], "role") == 0 ? IAM_ROLE : IAM_USER;
}

static void entity_out(struct probe *p, struct iam_entity *e)
{
    json_pair_text(&p->w, "name", e->name);
    json_pair_text(&p->w, "path", e->path);
    json_pair_text(&p->w, "arn", e->arn);
    json_pair_text(&p->w, "id", e->id);
    json_pair_text(&p->w, "trust", e->trust);
    json_pair_text(&p->w, "boundary", e->boundary);
    json_pair_text(&p->w, "tag_run", e->tag_run);
    json_pair_text(&p->w, "tag_step", e->tag_step);
    json_pair_number(&p->w, "created", (long long)e->created);
    json_pair_bool(&p->w, "untagged", e->untagged);
}

static int entity_get(struct probe *p)
{
    AUTO_IAM_ENTITY e = {0};
    if (CALL(iam_get, kind(p), p->word[1], &e) != 0)
        return -1;
    entity_out(p, &e);
    return 0;
}

/* role|user NAME TRUST PATH BOUNDARY */
static int entity_create(struct probe *p)
{
    AUTO_IAM_ENTITY e = {0};
    const struct iam_new n = {.kind = kind(p),
                              .name = p->word[1],
                              .trust = p->word[2],
                              .path = p->word[3],
                              .boundary = p->word[4],
                              .description = "a probe's",
                              .tags = &probe_tags};
    if (CALL(iam_create, &n, &e) != 0)
        return -1;
    entity_out(p, &e);
    return 0;
}

static int entity_delete(struct probe *p)
{
    return CALL(iam_delete, kind(p), p->word[1]);
}

static int update_trust(struct probe *p)
{
    return CALL(iam_update_trust, p->word[0], p->word[1]);
}

static int put_policy(struct probe *p)
{
    return CALL(iam_put_policy, kind(p), p->word[1], p->word[2], p->word[3]);
}

static int get_policy(struct probe *p)
{
    AUTO(xfree) char *document = NULL;
    if (CALL(iam_get_policy, kind(p), p->word[1], p->word[2], &document) != 0)
        return -1;
    json_pair_text(&p->w, "document", document);
    return 0;
}

static int delete_policy(struct probe *p)
{
    return CALL(iam_delete_policy, kind(p), p->word[1], p->word[2]);
}

static int list_policies(struct probe *p)
{
    AUTO_AWS_NAMES inline_ones = {0};
    AUTO_AWS_NAMES attached = {0};
    if (CALL(iam_list_policies, kind(p), p->word[1], &inline_ones) != 0 ||
        CALL(iam_list_attached, kind(p), p->word[1], &attached) != 0)
        return -1;
    pair_names(p, "inline", &inline_ones);
    pair_names(p, "attached", &attached);
    return 0;
}

static int create_key(struct probe *p)
{
    AUTO(xfree) char *id = NULL;
    struct secret *secret = NULL;
    if (CALL(iam_create_key, p->word[0], &id, &secret) != 0)
        return -1;
    json_pair_text(&p->w, "id", id);
    pair_secret(p, "secret", secret);
    json_pair_number(&p->w, "secret_length", (long long)secret_len(secret));
    secret_unref(secret);
    return 0;
}

static int list_keys(struct probe *p)
{
    AUTO_IAM_KEYS keys = {0};
    if (CALL(iam_list_keys, p->word[0], &keys) != 0)
        return -1;
    json_key(&p->w, "keys");
    json_begin(&p->w, '[');
    for (size_t i = 0; i < keys.count; i++) {
        json_begin(&p->w, '{');
        json_pair_text(&p->w, "id", keys.list[i].id);
        json_pair_bool(&p->w, "active", keys.list[i].active);
        json_pair_number(&p->w, "created", (long long)keys.list[i].created);
        json_end(&p->w, '}');
    }
    json_end(&p->w, ']');
    return 0;
}

static int set_key(struct probe *p)
{
    return CALL(iam_set_key_active, p->word[0], p->word[1], strcmp(p->word[2], "on") == 0);
}

static int delete_key(struct probe *p)
{
    return CALL(iam_delete_key, p->word[0], p->word[1]);
}

static int last_used(struct probe *p)
{
    struct iam_key_use use;
    if (CALL(iam_key_last_used, p->word[0], &use) != 0)
        return -1;
    json_pair_number(&p->w, "when", (long long)use.when);
    json_pair_text(&p->w, "service", use.service);
    json_pair_text(&p->w, "region", use.region);
    iam_key_use_release(&use);
    return 0;
}

/* ARN ACTIONS RESOURCES CONTEXT-KEY CONTEXT-VALUE; lists by comma */
static int simulate(struct probe *p)
{
    AUTO_IAM_SIMULATION s = {0};
    AUTO_AWS_NAMES actions = {0};
    AUTO_AWS_NAMES resources = {0};
    const char *action_list[16] = {0}, *resource_list[16] = {0};
    split(&actions, p->word[1]);
    split(&resources, p->word[2]);
    for (size_t i = 0; i < actions.count && i < 15; i++)
        action_list[i] = actions.list[i];
    for (size_t i = 0; i < resources.count && i < 15; i++)
        resource_list[i] = resources.list[i];
    const struct iam_question q = {.source = p->word[0],
                                   .actions = action_list,
                                   .resources = resources.count > 0 ? resource_list : NULL,
                                   .context_key = p->word[3],
                                   .context_value = p->word[4]};
    if (CALL(iam_simulate, &q, &s) != 0)
        return -1;
    json_pair_bool(&p->w, "unavailable", s.unavailable);
    json_pair_text(&p->w, "why", s.why);
    json_key(&p->w, "verdicts");
    json_begin(&p->w, '[');
    for (size_t i = 0; i < s.count; i++) {
        json_begin(&p->w, '{');
        json_pair_text(&p->w, "action", s.list[i].action);
        json_pair_text(&p->w, "resource", s.list[i].resource);
        json_pair_number(&p->w, "decision", (long long)s.list[i].decision);
        json_pair_bool(&p->w, "by_organization", s.list[i].by_organization);
        json_pair_bool(&p->w, "by_boundary", s.list[i].by_boundary);
        pair_names(p, "missing", &s.list[i].missing);
        json_end(&p->w, '}');
    }
    json_end(&p->w, ']');
    return 0;
}

const struct probe_command probe_iam[] = {
    {"get", entity_get},
    {"create", entity_create},
    {"delete", entity_delete},
    {"update-trust", update_trust},
    {"put-policy", put_policy},
    {"get-policy", get_policy},
    {"delete-policy", delete_policy},
    {"list-policies", list_policies},
    {"create-key", create_key},
    {"list-keys", list_keys},
    {"set-key", set_key},
    {"delete-key", delete_key},
    {"last-used", last_used},
    {"simulate", simulate},
    {NULL, NULL},
};
