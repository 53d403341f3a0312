/* The tree of flow.yaml files. See tree.h. */
#include "estuary/tree.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/node_json.h"
#include "core/text.h"
#include "estuary/names.h"

#define LARGE 512 /* bytes as JSON; flowctl's own bound */

/* --- what is large ---------------------------------------------------------------------------- */

static bool large(const struct node *n)
{
    AUTO_TEXT out = TEXT_INIT;
    node_write_json(n, &out);
    return out.len > LARGE;
}

static void add_yaml(const struct node *n, const char *path, struct folder *out)
{
    AUTO_TEXT yaml = TEXT_INIT;
    node_write_yaml(n, &yaml);
    folder_add(out, path, yaml.s, yaml.len);
}

/* Moves the value of a key to a file beside the spec's flow.yaml. */
static void move_out(struct node *map, const char *key, const char *folder, const char *file,
                     struct folder *out)
{
    AUTO(xfree) char *path = xasprintf("%s%s", folder, file);
    struct node *value = node_get_mut(map, key);
    if (value == NULL || value->kind == NODE_SCALAR)
        return;
    add_yaml(value, path, out);
    node_set_text(map, key, file);
}

static struct node *within(struct node *n, const char *first, const char *second)
{
    return node_get_mut(node_get_mut(n, first), second);
}

static void split(struct estuary_spec *s, struct folder *out)
{
    static const char *const parts[][2] = {
        {"schema", "schema"}, {"writeSchema", "write.schema"}, {"readSchema", "read.schema"}};
    const char *last = estuary_last_part(s->name);
    AUTO(xfree) char *folder = estuary_folder(s->name);
    AUTO(xfree) char *config = xasprintf("%s.config.yaml", last);
    struct node *connector = within(s->model, "endpoint", "connector");
    struct node *bindings = node_get_mut(s->model, "bindings");
    /* a config always: sealed it is large, and it is what people look for */
    if (connector != NULL)
        move_out(connector, "config", folder, config, out);
    for (size_t i = 0; bindings != NULL && i < bindings->count; i++) {
        AUTO(xfree) char *file = xasprintf("%s.resource.%zu.config.yaml", last, i);
        const struct node *resource = node_get(bindings->items[i], "resource");
        if (resource != NULL && large(resource))
            move_out(bindings->items[i], "resource", folder, file, out);
    }
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        AUTO(xfree) char *file = xasprintf("%s.%s.yaml", last, parts[i][1]);
        const struct node *schema = node_get(s->model, parts[i][0]);
        if (schema != NULL && large(schema))
            move_out(s->model, parts[i][0], folder, file, out);
    }
}

char *estuary_config_path(const char *task)
{
    return xasprintf("%s.config.yaml", task);
}

/* --- the tree --------------------------------------------------------------------------------- */

/* What stands in one flow.yaml. Keys are put in the order flowctl writes them. */
struct place {
    char *folder; /* "acmeCo/shop/"; "" = the root */
    struct node *imports;
    struct node *specs[3]; /* by sort */
};

struct places {
    size_t count;
    struct place *list;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct estuary_spec *)a)->name, ((const struct estuary_spec *)b)->name);
}

/* The place of a folder, made with all above it. */
static struct place *place_of(struct places *p, const char *folder)
{
    for (size_t i = p->count; i-- > 0;) /* specs come sorted: it is mostly the last one */
        if (strcmp(p->list[i].folder, folder) == 0)
            return &p->list[i];
    p->list = xrealloc(p->list, p->count + 1, sizeof *p->list);
    p->list[p->count++] = (struct place){.folder = xstrdup(folder), .imports = node_list()};
    if (folder[0] != '\0') {
        AUTO(xfree) char *bare = xstrndup(folder, strlen(folder) - 1);
        AUTO(xfree) char *above = estuary_folder(bare);
        AUTO(xfree) char *import = xasprintf("%s/flow.yaml", estuary_last_part(bare));
        node_add(place_of(p, above)->imports, node_scalar(import));
    }
    return place_of(p, folder); /* the list may have moved */
}

static int by_text(const void *a, const void *b)
{
    return strcmp((*(struct node *const *)a)->text, (*(struct node *const *)b)->text);
}

static void write_place(struct place *p, struct folder *out)
{
    static const char *const sorts[] = {"captures", "collections", "materializations"};
    struct node *doc = node_map();
    AUTO(xfree) char *path = xasprintf("%sflow.yaml", p->folder);
    if (p->imports->count > 0) {
        qsort(p->imports->items, p->imports->count, sizeof(struct node *), by_text);
        node_append(doc, "import", p->imports);
    } else {
        node_free(p->imports);
    }
    for (size_t i = 0; i < ARRAY_LEN(sorts); i++)
        if (p->specs[i] != NULL)
            node_append(doc, sorts[i], p->specs[i]);
    add_yaml(doc, path, out);
    node_free(doc);
    xfree(p->folder);
}

void estuary_tree(struct estuary_spec *specs, size_t count, struct folder *out)
{
    struct places places = {0};
    place_of(&places, "");
    if (count > 0)
        qsort(specs, count, sizeof *specs, by_name);
    for (size_t i = 0; i < count; i++) {
        AUTO(xfree) char *folder = estuary_folder(specs[i].name);
        split(&specs[i], out);
        struct place *p = place_of(&places, folder);
        if (p->specs[specs[i].sort] == NULL)
            p->specs[specs[i].sort] = node_map();
        node_append(p->specs[specs[i].sort], specs[i].name, node_copy(specs[i].model));
    }
    for (size_t i = 0; i < places.count; i++)
        write_place(&places.list[i], out);
    xfree(places.list);
}
