/* The login's rights as a fact. Kept in the state: the runbook names the addresses to let in. */
#include "steps/spec/account.h"

#include "core/mem.h"

static void account_free(void *data)
{
    estuary_account_release(data);
    xfree(data);
}

/* Not when the token ends: that changes with each renewal. */
static void account_hash(const void *data, struct hasher *h)
{
    const struct estuary_account *a = data;
    hasher_number(h, (int64_t)a->prefix_count);
    for (size_t i = 0; i < a->prefix_count; i++) {
        hasher_text(h, a->prefixes[i].prefix);
        hasher_text(h, a->prefixes[i].capability);
    }
    hasher_number(h, (int64_t)a->plane_count);
    for (size_t i = 0; i < a->plane_count; i++) {
        const struct estuary_plane *p = &a->planes[i];
        hasher_text(h, p->name);
        hasher_text(h, p->cloud);
        hasher_text(h, p->region);
        hasher_number(h, p->closed);
        hasher_number(h, (int64_t)p->cidr_count);
        for (size_t c = 0; c < p->cidr_count; c++)
            hasher_text(h, p->cidrs[c]);
    }
    hasher_number(h, (int64_t)a->mapping_count);
    for (size_t i = 0; i < a->mapping_count; i++) {
        const struct estuary_mapping *m = &a->mappings[i];
        hasher_text(h, m->prefix);
        hasher_number(h, (int64_t)m->plane_count);
        for (size_t p = 0; p < m->plane_count; p++)
            hasher_text(h, m->planes[p]);
    }
}

static struct node *texts_save(char *const *texts, size_t count)
{
    struct node *list = node_list();
    for (size_t i = 0; i < count; i++)
        node_add(list, node_scalar(texts[i]));
    return list;
}

static struct node *account_save(const void *data)
{
    const struct estuary_account *a = data;
    struct node *n = node_map();
    struct node *prefixes = node_child_map(n, "prefixes");
    for (size_t i = 0; i < a->prefix_count; i++)
        node_append(prefixes, a->prefixes[i].prefix, node_scalar(a->prefixes[i].capability));
    struct node *planes = node_child_map(n, "planes");
    for (size_t i = 0; i < a->plane_count; i++) {
        const struct estuary_plane *p = &a->planes[i];
        struct node *one = node_map();
        node_set_text(one, "cloud", p->cloud);
        node_set_text(one, "region", p->region);
        node_set(one, "public", node_bool(p->is_public));
        node_set(one, "closed", node_bool(p->closed));
        node_set(one, "cidrs", texts_save(p->cidrs, p->cidr_count));
        node_append(planes, p->name, one);
    }
    struct node *mappings = node_child_map(n, "mappings");
    for (size_t i = 0; i < a->mapping_count; i++)
        node_append(mappings, a->mappings[i].prefix,
                    texts_save(a->mappings[i].planes, a->mappings[i].plane_count));
    return n;
}

static char **texts_load(const struct node *list, size_t *count)
{
    size_t n = list != NULL && list->kind == NODE_LIST ? list->count : 0;
    char **texts = xcalloc(n + 1, sizeof *texts);
    for (size_t i = 0; i < n; i++) {
        const char *text = node_text(list->items[i]);
        texts[i] = xstrdup(text != NULL ? text : "");
    }
    *count = n;
    return texts;
}

static char *text_load(const struct node *n, const char *key)
{
    const char *text = node_get_text(n, key);
    return xstrdup(text != NULL ? text : "");
}

static bool on(const struct node *n, const char *key)
{
    const char *text = node_get_text(n, key);
    return text != NULL && text[0] == 't';
}

static size_t map_size(const struct node *n)
{
    return n != NULL && n->kind == NODE_MAP ? n->count : 0;
}

static void load_planes(const struct node *planes, struct estuary_account *a)
{
    a->plane_count = map_size(planes);
    a->planes = xcalloc(a->plane_count + 1, sizeof *a->planes);
    for (size_t i = 0; i < a->plane_count; i++) {
        const struct node *one = planes->items[i];
        struct estuary_plane *p = &a->planes[i];
        *p = (struct estuary_plane){.name = xstrdup(planes->keys[i]),
                                    .cloud = text_load(one, "cloud"),
                                    .region = text_load(one, "region"),
                                    .is_public = on(one, "public"),
                                    .closed = on(one, "closed")};
        p->cidrs = texts_load(node_get(one, "cidrs"), &p->cidr_count);
    }
}

static void *account_load(const struct node *n)
{
    const struct node *prefixes = node_get(n, "prefixes"), *mappings = node_get(n, "mappings");
    if (prefixes == NULL || mappings == NULL || node_get(n, "planes") == NULL)
        return NULL;
    struct estuary_account *a = xcalloc(1, sizeof *a);
    a->prefix_count = map_size(prefixes);
    a->prefixes = xcalloc(a->prefix_count + 1, sizeof *a->prefixes);
    for (size_t i = 0; i < a->prefix_count; i++)
        a->prefixes[i] = (struct estuary_prefix){xstrdup(prefixes->keys[i]),
                                                 text_load(prefixes, prefixes->keys[i])};
    load_planes(node_get(n, "planes"), a);
    a->mapping_count = map_size(mappings);
    a->mappings = xcalloc(a->mapping_count + 1, sizeof *a->mappings);
    for (size_t i = 0; i < a->mapping_count; i++) {
        a->mappings[i].prefix = xstrdup(mappings->keys[i]);
        a->mappings[i].planes = texts_load(mappings->items[i], &a->mappings[i].plane_count);
    }
    return a;
}

const struct fact_type spec_account_type = {.name = "Estuary account",
                                            .release = account_free,
                                            .hash = account_hash,
                                            .save = account_save,
                                            .load = account_load};

struct fact *spec_account_fact(struct estuary_account *a)
{
    struct estuary_account *data = xcalloc(1, sizeof *data);
    *data = *a;
    *a = (struct estuary_account){0};
    return fact_new(&spec_account_type, data);
}
