/* struct node: a tree of scalars, lists and maps, read from and written to YAML by libyaml.
 *
 * The whole state and answers files live in it, so that keys a newer sluice wrote survive an older
 * one. Every node knows its line (1-based; 0 = made here). Aliases, merge keys, tags, duplicate
 * keys, depth over 80 and more than a million nodes are refused (parser bombs). A map keeps its
 * order. */
#ifndef SLUICE_CORE_NODE_H
#define SLUICE_CORE_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/problem.h"
#include "core/text.h"

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
    enum node_kind kind;
    int line;
    bool plain;   /* scalar written without quotes: ~, true, 12 have their YAML meaning */
    char *text;   /* scalar */
    size_t count; /* items of a list, entries of a map */
    size_t room;
    char **keys;         /* map only */
    struct node **items; /* list and map */
};

struct node *node_scalar(const char *text); /* quoted on writing when it must be */
struct node *node_number(long long value);
struct node *node_bool(bool value);
struct node *node_list(void);
struct node *node_map(void);
struct node *node_copy(const struct node *n);
void node_free(struct node *n); /* NULL is fine */
static inline void node_free_auto(struct node **n)
{
    node_free(*n);
}

/* Reading; n may be NULL and of any kind, then the answer is NULL / the default. */
const struct node *node_get(const struct node *n, const char *key);
struct node *node_get_mut(struct node *n, const char *key);
const char *node_text(const struct node *n); /* of a scalar; NULL for others and plain null */
const char *node_get_text(const struct node *n, const char *key);
long long node_get_number(const struct node *n, const char *key, long long otherwise);
/* Path "a.b.c" by keys; a key that has a dot cannot be reached by it. */
const struct node *node_find(const struct node *n, const char *path);

/* Writing; they take ownership of `value`. */
void node_set(struct node *map, const char *key,
              struct node *value); /* replaces in place or appends */
/* As node_set for a key that is known to be new: no search, for maps of many. */
void node_append(struct node *map, const char *key, struct node *value);
void node_set_text(struct node *map, const char *key, const char *text); /* NULL removes */
bool node_remove(struct node *map, const char *key);
void node_add(struct node *list, struct node *value);
struct node *node_child_map(struct node *map, const char *key); /* made when missing or not a map */
bool node_equal(const struct node *a,
                const struct node *b); /* content; map order does not matter */

/* name is used in messages ("answers.yaml: line 4: …"); PROBLEM_INPUT. An empty document is an
 * empty map. The root must be a map. */
struct node *node_parse_yaml(const char *bytes, size_t n, const char *name, struct problem *err);
/* Block style. Bytes that are not UTF-8 become U+FFFD. The caller checks out->cut. */
void node_write_yaml(const struct node *n, struct text *out);
#endif
