/* The table fact: rows and texts in an arena, its hash, and how chosen tables are kept in the state
 * file. */
#include "postgres/tables.h"

#include <stdalign.h>
#include <string.h>

#include "core/mem.h"
#include "postgres/names.h"

#define ARENA_BLOCK ((size_t)256 << 10)

struct arena {
    size_t count; /* blocks */
    char **blocks;
    size_t used, size; /* of the last block */
};

static void *arena_get(struct arena *a, size_t size, size_t align)
{
    size_t at = (a->used + align - 1) / align * align;
    if (a->count == 0 || at + size > a->size) {
        a->size = size > ARENA_BLOCK ? size : ARENA_BLOCK;
        a->blocks = xrealloc(a->blocks, a->count + 1, sizeof(char *));
        a->blocks[a->count++] = xmalloc(a->size);
        at = 0;
    }
    a->used = at + size;
    return a->blocks[a->count - 1] + at;
}

struct postgres_tables *postgres_tables_new(void)
{
    struct postgres_tables *t = xcalloc(1, sizeof *t);
    t->arena = xcalloc(1, sizeof *t->arena);
    return t;
}

void postgres_tables_free(void *data)
{
    struct postgres_tables *t = data;
    if (t == NULL)
        return;
    for (size_t i = 0; i < t->arena->count; i++)
        xfree(t->arena->blocks[i]);
    xfree(t->arena->blocks);
    xfree(t->arena);
    xfree(t->rows);
    xfree(t);
}

struct postgres_table *postgres_tables_add(struct postgres_tables *t)
{
    if (t->count == t->room) {
        t->room = t->room == 0 ? 64 : t->room * 2;
        t->rows = xrealloc(t->rows, t->room, sizeof *t->rows);
    }
    struct postgres_table *row = &t->rows[t->count++];
    *row = (struct postgres_table){.schema = "",
                                   .name = "",
                                   .written = "",
                                   .owner = "",
                                   .key_columns = "",
                                   .key_index = "",
                                   .usable = "",
                                   .rows = -1,
                                   .bytes = -1};
    return row;
}

const char *postgres_tables_text(struct postgres_tables *t, const char *s)
{
    if (s == NULL || s[0] == '\0')
        return "";
    size_t n = strlen(s) + 1;
    return memcpy(arena_get(t->arena, n, 1), s, n);
}

void *postgres_tables_memory(struct postgres_tables *t, size_t size)
{
    return memset(arena_get(t->arena, size, alignof(max_align_t)), 0, size);
}

const struct postgres_table *postgres_tables_find(const struct postgres_tables *t,
                                                  const char *schema, const char *name)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct postgres_table *row = &t->rows[middle];
        int order = strcmp(schema, row->schema);
        if (order == 0)
            order = strcmp(name, row->name);
        if (order == 0)
            return row;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const struct postgres_table *postgres_tables_written(const struct postgres_tables *t,
                                                     const char *written)
{
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->rows[i].written, written) == 0)
            return &t->rows[i];
    return NULL;
}

const char *postgres_table_refusal(const struct postgres_table *t)
{
    switch (t->kind) {
    case 'v':
        return "view";
    case 'm':
        return "materialized view";
    case 'f':
        return "foreign table";
    default:
        break;
    }
    if (t->persistence == 'u')
        return "unlogged";
    if (t->persistence == 't')
        return "temporary";
    return t->partition ? "partition" : NULL;
}

bool postgres_table_breaks(const struct postgres_table *t)
{
    return (t->kind == 'r' || t->kind == 'p') && t->persistence == 'p' && !t->identified;
}

/* --- hash ------------------------------------------------------------------------------------ */

static void hash_columns(const struct postgres_table *t, struct hasher *h)
{
    for (size_t i = 0; i < t->column_count; i++) {
        const struct postgres_column *c = &t->columns[i];
        hasher_text(h, c->name);
        hasher_text(h, c->type);
        hasher_number(h, c->key);
        hasher_number(h, c->filled | c->wide << 1 | c->generated << 8);
    }
    for (size_t i = 0; i < t->index_count; i++)
        hasher_text(h, t->indexes[i]);
    for (size_t i = 0; i < t->naked_count; i++)
        hasher_text(h, t->naked[i]);
}

static void hash(const void *data, struct hasher *h)
{
    const struct postgres_tables *t = data;
    hasher_number(h, (int64_t)t->count);
    for (size_t i = 0; i < t->count; i++) {
        const struct postgres_table *r = &t->rows[i];
        hasher_text(h, r->schema);
        hasher_text(h, r->name);
        hasher_text(h, r->owner);
        hasher_text(h, r->key_columns);
        hasher_text(h, r->key_index);
        hasher_text(h, r->usable);
        const bool bits[] = {r->identified,
                             r->secured,
                             r->partition,
                             r->found,
                             r->selects,
                             r->usage,
                             r->hidden_rows,
                             r->admin_owns,
                             r->listed,
                             r->admin_grants,
                             r->admin_grants_usage,
                             r->published,
                             r->filtered,
                             r->taken,
                             r->writes};
        hasher_bytes(h, bits, sizeof bits);
        const char kinds[] = {r->kind, r->persistence, r->replica, (char)r->key};
        hasher_bytes(h, kinds, sizeof kinds);
        hasher_number(h, r->partitions);
        hash_columns(r, h);
    }
}

/* --- keeping --------------------------------------------------------------------------------- */

static struct node *save_table(const struct postgres_table *t)
{
    struct node *n = node_map();
    node_set_text(n, "table", t->written);
    if (t->key == POSTGRES_KEY_INDEX)
        node_set_text(n, "index", t->key_index);
    if (t->kind == 'p')
        node_set(n, "partitioned", node_bool(true));
    if (!t->identified)
        node_set(n, "unidentified", node_bool(true)); /* UPDATE and DELETE cannot be published */
    struct node *columns = node_list();
    for (size_t i = 0; i < t->column_count; i++) {
        const struct postgres_column *c = &t->columns[i];
        struct node *column = node_map();
        node_set_text(column, "name", c->name);
        node_set_text(column, "type", c->type);
        if (c->key > 0)
            node_set(column, "key", node_number(c->key));
        if (c->filled)
            node_set(column, "filled", node_bool(true));
        if (c->generated != 0)
            node_set(column, "generated", node_bool(true));
        node_add(columns, column);
    }
    node_set(n, "columns", columns);
    return n;
}

static struct node *save(const void *data)
{
    const struct postgres_tables *t = data;
    struct node *root = node_map();
    struct node *list = node_list();
    for (size_t i = 0; i < t->count; i++)
        if (t->rows[i].found)
            node_add(list, save_table(&t->rows[i]));
    node_set(root, "tables", list);
    return root;
}

const struct fact_type postgres_catalogue_type = {
    .name = "postgres catalogue",
    .release = postgres_tables_free,
    .hash = hash,
};

const struct fact_type postgres_chosen_type = {
    .name = "postgres chosen tables",
    .release = postgres_tables_free,
    .hash = hash,
    .save = save,
};
