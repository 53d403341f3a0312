/* Judging a config by rows. See rules.h. */
#include "estuary/rules.h"

#include <string.h>

#include "core/mem.h"
#include "core/text.h"
#include "estuary/rules_row.h"

void estuary_faults_release(struct estuary_faults *f)
{
    for (size_t i = 0; i < f->count; i++) {
        xfree(f->list[i].path);
        xfree(f->list[i].says);
    }
    xfree(f->list);
    *f = (struct estuary_faults){0};
}

const char *estuary_at(const struct node *config, const char *path)
{
    const char *text = node_text(node_find(config, path));
    return text != NULL ? text : "";
}

bool estuary_is(const struct node *config, const char *path, const char *text)
{
    return strcmp(estuary_at(config, path), text) == 0;
}

bool estuary_missing(const struct node *config, const char *value)
{
    (void)config;
    return value[0] == '\0';
}

bool estuary_among(const char *value, const char *words)
{
    size_t n = strlen(value);
    for (const char *at = words; n > 0 && (at = strstr(at, value)) != NULL; at++)
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

bool estuary_is_switch(const struct node *config, const char *path)
{
    const struct node *n = node_find(config, path);
    return n != NULL && n->kind == NODE_SCALAR && n->plain && estuary_among(n->text, "true false");
}

bool estuary_is_map(const struct node *config, const char *path)
{
    const struct node *n = node_find(config, path);
    return n != NULL && n->kind == NODE_MAP;
}

bool estuary_only(const char *value, const char *letters)
{
    return value[strspn(value, letters)] == '\0';
}

/* says with each {} replaced. */
static char *filled(const char *says, const char *value)
{
    AUTO_TEXT out = TEXT_INIT;
    for (const char *hole; (hole = strstr(says, "{}")) != NULL; says = hole + 2) {
        text_addn(&out, says, (size_t)(hole - says));
        text_add(&out, value);
    }
    text_add(&out, says);
    return text_take(&out);
}

static struct estuary_fault *add(struct estuary_faults *out, const char *path, const char *says,
                                 const char *value)
{
    out->list = xrealloc(out->list, out->count + 1, sizeof *out->list);
    struct estuary_fault *f = &out->list[out->count++];
    *f = (struct estuary_fault){.path = xstrdup(path), .says = filled(says, value)};
    return f;
}

static void judge_keys(const struct estuary_rules *rules, const struct estuary_keys *keys,
                       const struct node *config, struct estuary_faults *out)
{
    const struct node *object = keys->path[0] == '\0' ? config : node_find(config, keys->path);
    if (object == NULL || object->kind != NODE_MAP)
        return;
    for (size_t i = 0; i < object->count; i++) {
        const char *key = object->keys[i];
        if (strchr(key, ' ') == NULL && estuary_among(key, keys->known))
            continue;
        AUTO(xfree)
        char *path = keys->path[0] == '\0' ? xstrdup(key) : xasprintf("%s.%s", keys->path, key);
        struct estuary_fault *f =
            add(out, path,
                keys->ours ? "\"{}\" is no option here, and is passed over" : rules->unknown, key);
        f->why = keys->ours ? "Whoever wrote it meant something by it, and it has no effect."
                            : "The connector takes no key that it does not know.";
        f->fix = "Correct its spelling, or take it out.";
        f->ours = keys->ours;
    }
}

void estuary_judge(const struct estuary_rules *rules, const struct node *config,
                   struct estuary_faults *out)
{
    for (size_t i = 0; i < rules->key_count; i++)
        judge_keys(rules, &rules->keys[i], config, out);
    for (size_t i = 0; i < rules->rule_count; i++) {
        const struct estuary_rule *r = &rules->rules[i];
        const char *value = estuary_at(config, r->path);
        if (!r->broken(config, value))
            continue;
        struct estuary_fault *f = add(out, r->path, r->says, value);
        f->why = r->why;
        f->fix = r->fix;
        f->ours = r->ours;
    }
}
