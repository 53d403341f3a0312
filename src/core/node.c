/* The tree itself; reading and writing it as YAML is yaml.c. Maps are arrays searched in order:
 * those of a state file have some dozens of keys, and the order of a file must survive. */
#include "core/node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

static struct node *new_node(enum node_kind kind)
{
    struct node *n = xcalloc(1, sizeof *n);
    n->kind = kind;
    return n;
}

struct node *node_scalar(const char *text)
{
    struct node *n = new_node(NODE_SCALAR);
    n->text = xstrdup(text != NULL ? text : "");
    return n;
}

static struct node *plain_scalar(char *text)
{
    struct node *n = new_node(NODE_SCALAR);
    n->plain = true;
    n->text = text;
    return n;
}

struct node *node_number(long long value)
{
    return plain_scalar(xasprintf("%lld", value));
}

struct node *node_bool(bool value)
{
    return plain_scalar(xstrdup(value ? "true" : "false"));
}

struct node *node_list(void)
{
    return new_node(NODE_LIST);
}

struct node *node_map(void)
{
    return new_node(NODE_MAP);
}

struct node *node_copy(const struct node *n)
{
    if (n == NULL)
        return NULL;
    struct node *copy = new_node(n->kind);
    copy->line = n->line;
    copy->plain = n->plain;
    copy->text = xstrdup(n->text);
    copy->count = copy->room = n->count;
    if (n->count != 0) {
        copy->items = xcalloc(n->count, sizeof *copy->items);
        if (n->kind == NODE_MAP)
            copy->keys = xcalloc(n->count, sizeof *copy->keys);
    }
    for (size_t i = 0; i < n->count; i++) {
        copy->items[i] = node_copy(n->items[i]);
        if (n->kind == NODE_MAP)
            copy->keys[i] = xstrdup(n->keys[i]);
    }
    return copy;
}

void node_free(struct node *n)
{
    if (n == NULL)
        return;
    for (size_t i = 0; i < n->count; i++) {
        node_free(n->items[i]);
        if (n->keys != NULL)
            xfree(n->keys[i]);
    }
    xfree(n->items);
    xfree(n->keys);
    xfree(n->text);
    xfree(n);
}

/* Index of key, or count when n is no map or has none. */
static size_t index_of(const struct node *n, const char *key)
{
    if (n->kind != NODE_MAP)
        return n->count;
    size_t i = 0;
    while (i < n->count && strcmp(n->keys[i], key) != 0)
        i++;
    return i;
}

struct node *node_get_mut(struct node *n, const char *key)
{
    if (n == NULL || n->kind != NODE_MAP)
        return NULL;
    size_t i = index_of(n, key);
    return i < n->count ? n->items[i] : NULL;
}

const struct node *node_get(const struct node *n, const char *key)
{
    if (n == NULL || n->kind != NODE_MAP)
        return NULL;
    size_t i = index_of(n, key);
    return i < n->count ? n->items[i] : NULL;
}

const char *node_text(const struct node *n)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    if (n == NULL || n->kind != NODE_SCALAR)
        return NULL;
    for (size_t i = 0; n->plain && i < ARRAY_LEN(nulls); i++) {
        if (strcmp(n->text, nulls[i]) == 0)
            return NULL;
    }
    return n->text;
}

const char *node_get_text(const struct node *n, const char *key)
{
    return node_text(node_get(n, key));
}

long long node_get_number(const struct node *n, const char *key, long long otherwise)
{
    const char *s = node_get_text(n, key);
    if (s == NULL || !((s[0] >= '0' && s[0] <= '9') || s[0] == '-'))
        return otherwise;
    char *end;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    return errno == 0 && end != s && *end == '\0' ? v : otherwise;
}

const struct node *node_find(const struct node *n, const char *path)
{
    while (n != NULL) {
        const char *dot = strchr(path, '.');
        if (dot == NULL)
            return node_get(n, path);
        char *key = xstrndup(path, (size_t)(dot - path));
        n = node_get(n, key);
        xfree(key);
        path = dot + 1;
    }
    return NULL;
}

static void make_room(struct node *n)
{
    if (n->count < n->room)
        return;
    n->room = n->room != 0 ? n->room * 2 : 4;
    n->items = xrealloc(n->items, n->room, sizeof *n->items);
    if (n->kind == NODE_MAP)
        n->keys = xrealloc(n->keys, n->room, sizeof *n->keys);
}

void node_set(struct node *map, const char *key, struct node *value)
{
    size_t i = index_of(map, key);
    if (i < map->count) {
        if (map->items[i] != value)
            node_free(map->items[i]);
        map->items[i] = value;
        return;
    }
    node_append(map, key, value);
}

void node_append(struct node *map, const char *key, struct node *value)
{
    make_room(map);
    map->keys[map->count] = xstrdup(key);
    map->items[map->count++] = value;
}

void node_set_text(struct node *map, const char *key, const char *text)
{
    if (text == NULL)
        node_remove(map, key);
    else
        node_set(map, key, node_scalar(text));
}

bool node_remove(struct node *map, const char *key)
{
    size_t i = index_of(map, key);
    if (i == map->count || map->kind != NODE_MAP)
        return false;
    node_free(map->items[i]);
    xfree(map->keys[i]);
    map->count--;
    memmove(map->items + i, map->items + i + 1, (map->count - i) * sizeof *map->items);
    memmove(map->keys + i, map->keys + i + 1, (map->count - i) * sizeof *map->keys);
    return true;
}

void node_add(struct node *list, struct node *value)
{
    make_room(list);
    list->items[list->count++] = value;
}

struct node *node_child_map(struct node *map, const char *key)
{
    struct node *child = node_get_mut(map, key);
    if (child == NULL || child->kind != NODE_MAP) {
        child = node_map();
        node_set(map, key, child);
    }
    return child;
}

static bool same_map(const struct node *a, const struct node *b)
{
    for (size_t i = 0; i < a->count; i++) {
        /* Two maps mostly have the same order, so the search is rarely needed. */
        size_t at = strcmp(a->keys[i], b->keys[i]) == 0 ? i : index_of(b, a->keys[i]);
        if (at == b->count || !node_equal(a->items[i], b->items[at]))
            return false;
    }
    return true;
}

bool node_equal(const struct node *a, const struct node *b)
{
    if (a == b)
        return true;
    if (a == NULL || b == NULL || a->kind != b->kind || a->count != b->count)
        return false;
    if (a->kind == NODE_MAP)
        return same_map(a, b);
    if (a->kind == NODE_SCALAR) {
        const char *left = node_text(a), *right = node_text(b);
        return left == NULL || right == NULL ? left == right : strcmp(left, right) == 0;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (!node_equal(a->items[i], b->items[i]))
            return false;
    }
    return true;
}
