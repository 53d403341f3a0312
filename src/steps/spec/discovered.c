/* Discovered collections. See discovered.h. */
#include "steps/spec/discovered.h"

#include <string.h>

#include "core/mem.h"
#include "core/node_json.h"

void spec_discovered_add(struct spec_discovered *d, const char *name, struct node *model)
{
    d->list = xrealloc(d->list, d->count + 1, sizeof *d->list);
    d->list[d->count++] = (struct spec_collection){xstrdup(name), model};
}

void spec_discovered_release(struct spec_discovered *d)
{
    for (size_t i = 0; i < d->count; i++) {
        xfree(d->list[i].name);
        node_free(d->list[i].model);
    }
    xfree(d->list);
    *d = (struct spec_discovered){0};
}

/* --- the fact
 * ------------------------------------------------------------------------------------ */

static void discovered_free(void *data)
{
    spec_discovered_release(data);
    xfree(data);
}

static void discovered_hash(const void *data, struct hasher *h)
{
    const struct spec_discovered *d = data;
    hasher_number(h, (int64_t)d->count);
    for (size_t i = 0; i < d->count; i++) {
        AUTO_TEXT json = TEXT_INIT;
        node_write_json(d->list[i].model, &json);
        hasher_text(h, d->list[i].name);
        hasher_text(h, json.s);
    }
}

static struct node *discovered_save(const void *data)
{
    const struct spec_discovered *d = data;
    struct node *n = node_map();
    for (size_t i = 0; i < d->count; i++)
        node_append(n, d->list[i].name, node_copy(d->list[i].model));
    return n;
}

static void *discovered_load(const struct node *n)
{
    if (n == NULL || n->kind != NODE_MAP)
        return NULL;
    for (size_t i = 0; i < n->count; i++)
        if (n->items[i]->kind != NODE_MAP)
            return NULL;
    struct spec_discovered *d = xcalloc(1, sizeof *d);
    for (size_t i = 0; i < n->count; i++)
        spec_discovered_add(d, n->keys[i], node_copy(n->items[i]));
    return d;
}

const struct fact_type spec_discovered_type = {.name = "discovered collections",
                                               .release = discovered_free,
                                               .hash = discovered_hash,
                                               .save = discovered_save,
                                               .load = discovered_load};

struct fact *spec_discovered_fact(struct spec_discovered *d)
{
    struct spec_discovered *data = xcalloc(1, sizeof *data);
    *data = *d;
    *d = (struct spec_discovered){0};
    return fact_new(&spec_discovered_type, data);
}

/* --- reading
 * ------------------------------------------------------------------------------------- */

const struct node *spec_discovered_model(const struct spec_discovered *d, const char *name)
{
    for (size_t i = 0; d != NULL && i < d->count; i++)
        if (strcmp(d->list[i].name, name) == 0)
            return d->list[i].model;
    return NULL;
}

/* A property of that name anywhere: schemas put it beneath allOf and $defs as they like. */
static bool has_property(const struct node *n, const char *name)
{
    const struct node *properties = node_get(n, "properties");
    if (node_get(properties, name) != NULL)
        return true;
    for (size_t i = 0; n != NULL && i < n->count; i++)
        if (n->items[i]->kind != NODE_SCALAR && has_property(n->items[i], name))
            return true;
    return false;
}

/* A property _meta anywhere that has op in turn, or leads elsewhere, where op is. */
static bool has_meta_op(const struct node *n, const struct node *whole)
{
    const struct node *meta = node_get(node_get(n, "properties"), "_meta");
    if (has_property(meta, "op") || (node_get(meta, "$ref") != NULL && has_property(whole, "op")))
        return true;
    for (size_t i = 0; n != NULL && i < n->count; i++)
        if (n->items[i]->kind != NODE_SCALAR && has_meta_op(n->items[i], whole))
            return true;
    return false;
}

bool spec_tells_deletes(const struct node *model)
{
    const struct node *schema = node_get(model, "writeSchema");
    if (schema == NULL)
        schema = node_get(model, "schema");
    return has_meta_op(schema, schema);
}

const char *spec_undiscovered(const struct spec_discovered *d, const struct spec_tables *t)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct node *model = spec_discovered_model(d, t->list[i].collection);
        if (model == NULL || !spec_tells_deletes(model))
            return t->list[i].collection;
    }
    return NULL;
}
