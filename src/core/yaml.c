/* struct node from and to YAML, by libyaml's event interface: its document interface would expand
 * what is refused here (aliases) before anyone could count it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "core/mem.h"
#include "core/node.h"
#include "core/utf8.h"

#define DEPTH_MAX                                                                                  \
    80 /* JSON of the depth that json.h takes, and the levels of the state above it                \
        */
#define NODES_MAX 1000000

struct reader {
    yaml_parser_t parser;
    const char *name;
    const char *bytes;
    size_t size;
    struct problem *err;
    struct node *stack[DEPTH_MAX]; /* open lists and maps; each is already in its parent */
    size_t depth;
    char *key; /* of the entry whose value comes next, in the innermost map */
    size_t nodes;
    struct node *root;
};

static int refuse(struct reader *r, size_t line, const char *what, const char *fix)
{
    problem_fail(r->err, PROBLEM_INPUT, "yaml", "%s: line %zu: %s", r->name, line, what);
    problem_fix(r->err, WHO_YOU, "%s", fix);
    return -1;
}

static size_t line_of(const yaml_event_t *e)
{
    return e->start_mark.line + 1;
}

/* The line of a reader error (bad UTF-8, control character), which libyaml gives as an offset. */
static size_t line_at(const struct reader *r, size_t offset)
{
    size_t line = 1;
    for (size_t i = 0; i < offset && i < r->size; i++)
        line += r->bytes[i] == '\n';
    return line;
}

static bool tab_indents(const struct reader *r, size_t line)
{
    size_t at = 0;
    for (size_t i = 1; i < line && at < r->size; i++) {
        const char *nl = memchr(r->bytes + at, '\n', r->size - at);
        at = nl != NULL ? (size_t)(nl - r->bytes) + 1 : r->size;
    }
    while (at < r->size && r->bytes[at] == ' ')
        at++;
    return at < r->size && r->bytes[at] == '\t';
}

static int syntax_error(struct reader *r)
{
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR)
        mem_exhausted();
    const char *what = p->problem != NULL ? p->problem : "this is not YAML";
    bool bytes = p->error == YAML_READER_ERROR;
    size_t line = bytes ? line_at(r, p->problem_offset) : p->problem_mark.line + 1;
    if (tab_indents(r, line))
        return refuse(r, line, "a tab stands where the line is indented",
                      "Indent with spaces; YAML does not allow tabs there.");
    refuse(r, line, what, "Correct that line, or the one above it.");
    if (p->context != NULL)
        problem_why(r->err, "It was found %s that begins in line %zu.", p->context,
                    p->context_mark.line + 1);
    return -1;
}

static struct node *made(struct reader *r, const yaml_event_t *e, enum node_kind kind)
{
    struct node *n = xcalloc(1, sizeof *n);
    n->kind = kind;
    n->line = line_of(e) > INT32_MAX ? 0 : (int)line_of(e);
    r->nodes++;
    return n;
}

/* Puts n, a value, where it belongs; n becomes part of the tree. */
static void place(struct reader *r, struct node *n)
{
    if (r->depth == 0) {
        r->root = n;
        return;
    }
    struct node *parent = r->stack[r->depth - 1];
    if (parent->kind == NODE_LIST) {
        node_add(parent, n);
        return;
    }
    node_append(parent, r->key, n);
    xfree(r->key);
    r->key = NULL;
}

static bool wants_key(const struct reader *r)
{
    return r->depth > 0 && r->stack[r->depth - 1]->kind == NODE_MAP && r->key == NULL;
}

static int take_scalar(struct reader *r, const yaml_event_t *e)
{
    const char *s = (const char *)e->data.scalar.value;
    size_t n = e->data.scalar.length;
    bool plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (memchr(s, '\0', n) != NULL)
        return refuse(r, line_of(e), "a text holds a NUL character", "Remove the \\0 from it.");
    if (wants_key(r)) {
        if (plain && strcmp(s, "<<") == 0)
            return refuse(r, line_of(e), "merge keys (<<) are not supported",
                          "Write the keys out where they belong.");
        r->key = xstrndup(s, n);
        return 0;
    }
    struct node *node = made(r, e, NODE_SCALAR);
    node->plain = plain;
    node->text = xstrndup(s, n);
    place(r, node);
    return 0;
}

static int open_container(struct reader *r, const yaml_event_t *e, enum node_kind kind)
{
    if (wants_key(r))
        return refuse(r, line_of(e), "a list or map cannot be a key here", "Use a text as key.");
    if (r->depth == 0 && kind != NODE_MAP)
        return refuse(r, line_of(e), "the file must be a map of keys and values",
                      "Begin with a key, as in \"name: value\".");
    if (r->depth == DEPTH_MAX)
        return refuse(r, line_of(e), "it is nested over 80 levels deep",
                      "Check that this is the right file.");
    struct node *n = made(r, e, kind);
    place(r, n);
    r->stack[r->depth++] = n;
    return 0;
}

struct key_line {
    const char *key;
    int line;
};

static int by_key_then_line(const void *a, const void *b)
{
    const struct key_line *left = a, *right = b;
    int order = strcmp(left->key, right->key);
    return order != 0 ? order : (left->line > right->line) - (left->line < right->line);
}

/* Sorted once at the end of the map: a hostile file with a million keys must not take quadratic
 * time. */
static int close_map(struct reader *r, const struct node *map)
{
    struct key_line *seen = xcalloc(map->count, sizeof *seen);
    for (size_t i = 0; i < map->count; i++)
        seen[i] = (struct key_line){map->keys[i], map->items[i]->line};
    qsort(seen, map->count, sizeof *seen, by_key_then_line);
    int rc = 0;
    for (size_t i = 1; i < map->count && rc == 0; i++) {
        if (strcmp(seen[i - 1].key, seen[i].key) != 0)
            continue;
        char *what = xasprintf("the key \"%s\" is there twice (first in line %d)", seen[i].key,
                               seen[i - 1].line);
        rc = refuse(r, (size_t)seen[i].line, what, "Remove one of the two.");
        xfree(what);
    }
    xfree(seen);
    return rc;
}

static int refuse_anchor_and_tag(struct reader *r, const yaml_event_t *e, const yaml_char_t *anchor,
                                 const yaml_char_t *tag)
{
    if (anchor != NULL)
        return refuse(r, line_of(e), "anchors (&name) are not supported",
                      "Write the value itself.");
    if (tag != NULL)
        return refuse(r, line_of(e), "tags (!name) are not supported",
                      "Write the value without it; quote it when it must be a text.");
    if (r->nodes >= NODES_MAX)
        return refuse(r, line_of(e), "it holds more than a million values",
                      "Check that this is the right file.");
    return 0;
}

static int take_event(struct reader *r, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_ALIAS_EVENT:
        return refuse(r, line_of(e), "aliases (*name) are not supported",
                      "Write the value itself.");
    case YAML_SCALAR_EVENT:
        if (refuse_anchor_and_tag(r, e, e->data.scalar.anchor, e->data.scalar.tag) != 0)
            return -1;
        return take_scalar(r, e);
    case YAML_SEQUENCE_START_EVENT:
        if (refuse_anchor_and_tag(r, e, e->data.sequence_start.anchor,
                                  e->data.sequence_start.tag) != 0)
            return -1;
        return open_container(r, e, NODE_LIST);
    case YAML_MAPPING_START_EVENT:
        if (refuse_anchor_and_tag(r, e, e->data.mapping_start.anchor, e->data.mapping_start.tag) !=
            0)
            return -1;
        return open_container(r, e, NODE_MAP);
    case YAML_SEQUENCE_END_EVENT:
        r->depth--;
        return 0;
    case YAML_MAPPING_END_EVENT:
        return close_map(r, r->stack[--r->depth]);
    case YAML_DOCUMENT_START_EVENT:
        if (r->root != NULL)
            return refuse(r, line_of(e), "a second document begins here",
                          "Keep one document (one ---) in the file.");
        return 0;
    default:
        return 0;
    }
}

static int read_all(struct reader *r)
{
    for (;;) {
        yaml_event_t e;
        if (!yaml_parser_parse(&r->parser, &e))
            return syntax_error(r);
        bool end = e.type == YAML_STREAM_END_EVENT;
        int rc = take_event(r, &e);
        yaml_event_delete(&e);
        if (rc != 0 || end)
            return rc;
    }
}

/* A document of nothing, or of a lone null, is an empty map. */
static int finish(struct reader *r)
{
    if (r->root == NULL || (r->root->kind == NODE_SCALAR && node_text(r->root) == NULL)) {
        node_free(r->root);
        r->root = node_map();
    }
    if (r->root->kind != NODE_MAP)
        return refuse(r, (size_t)r->root->line, "the file must be a map of keys and values",
                      "Begin with a key, as in \"name: value\".");
    return 0;
}

struct node *node_parse_yaml(const char *bytes, size_t n, const char *name, struct problem *err)
{
    struct reader r = {.name = name, .bytes = bytes, .size = n, .err = err};
    if (!yaml_parser_initialize(&r.parser))
        mem_exhausted();
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)bytes, n);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    int rc = read_all(&r);
    yaml_parser_delete(&r.parser);
    xfree(r.key);
    if (rc == 0)
        rc = finish(&r);
    if (rc == 0)
        return r.root;
    node_free(r.root);
    return NULL;
}

/* ---- writing ---- */

static int to_text(void *data, unsigned char *buffer, size_t size)
{
    text_addn(data, (const char *)buffer, size);
    return 1;
}

/* The emitter only fails for want of memory: events come in order and texts are made valid first.
 */
static void emit(yaml_emitter_t *emitter, yaml_event_t *e, int initialized)
{
    if (!initialized || !yaml_emitter_emit(emitter, e))
        mem_exhausted();
}

static bool in_list(const char *s, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(s, list[i]) == 0)
            return true;
    }
    return false;
}

/* Whether some reader of YAML 1.1 or 1.2 would take s, unquoted, for something else than a text.
 * Rather too often than too rarely: quotes do no harm. */
static bool looks_typed(const char *s)
{
    static const char *const words[] = {
        "",      "~",     "null", "Null", "NULL", "true",  "True",  "TRUE",  "false",
        "False", "FALSE", "yes",  "Yes",  "YES",  "no",    "No",    "NO",    "on",
        "On",    "ON",    "off",  "Off",  "OFF",  "y",     "Y",     "n",     "N",
        "<<",    "=",     ".inf", ".Inf", ".INF", "-.inf", "-.Inf", "-.INF", "+.inf",
        "+.Inf", "+.INF", ".nan", ".NaN", ".NAN",
    };
    if (in_list(s, words, ARRAY_LEN(words)))
        return true;
    const char *first = s[0] == '-' || s[0] == '+' ? s + 1 : s;
    if (*first == '.')
        first++;
    if (*first < '0' || *first > '9')
        return false;
    /* numbers of any base, sexagesimal ones, dates and times */
    return s[strspn(s, "0123456789abcdefABCDEFxXoOtTzZ_+-.: ")] == '\0';
}

static yaml_scalar_style_t style_of(const char *s, bool plain, bool key)
{
    if (strchr(s, '\n') != NULL) {
        bool odd = key || s[0] == '\n' || s[0] == ' ' || strpbrk(s, "\r\t") != NULL;
        return odd ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_LITERAL_SCALAR_STYLE;
    }
    if (strpbrk(s, "\r\t") != NULL || (!plain && looks_typed(s)))
        return YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    return YAML_PLAIN_SCALAR_STYLE; /* libyaml quotes what cannot stand plain */
}

static void emit_scalar(yaml_emitter_t *emitter, const char *s, bool plain, bool key)
{
    struct text valid = TEXT_INIT;
    size_t n = strlen(s);
    if (!utf8_valid(s, n)) {
        utf8_repair(&valid, s, n);
        s = valid.s;
        n = valid.len;
    }
    yaml_event_t e;
    emit(emitter, &e,
         yaml_scalar_event_initialize(&e, NULL, NULL, (const yaml_char_t *)s, (int)n, 1, 1,
                                      style_of(s, plain, key)));
    text_release(&valid);
}

static void emit_node(yaml_emitter_t *emitter, const struct node *n)
{
    yaml_event_t e;
    if (n->kind == NODE_SCALAR) {
        emit_scalar(emitter, n->text, n->plain, false);
    } else if (n->kind == NODE_LIST) {
        emit(emitter, &e,
             yaml_sequence_start_event_initialize(&e, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE));
        for (size_t i = 0; i < n->count; i++)
            emit_node(emitter, n->items[i]);
        emit(emitter, &e, yaml_sequence_end_event_initialize(&e));
    } else {
        emit(emitter, &e,
             yaml_mapping_start_event_initialize(&e, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
        for (size_t i = 0; i < n->count; i++) {
            emit_scalar(emitter, n->keys[i], false, true);
            emit_node(emitter, n->items[i]);
        }
        emit(emitter, &e, yaml_mapping_end_event_initialize(&e));
    }
}

void node_write_yaml(const struct node *n, struct text *out)
{
    yaml_emitter_t emitter;
    yaml_event_t e;
    if (!yaml_emitter_initialize(&emitter))
        mem_exhausted();
    yaml_emitter_set_output(&emitter, to_text, out);
    yaml_emitter_set_encoding(&emitter, YAML_UTF8_ENCODING);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, -1);
    emit(&emitter, &e, yaml_stream_start_event_initialize(&e, YAML_UTF8_ENCODING));
    emit(&emitter, &e, yaml_document_start_event_initialize(&e, NULL, NULL, NULL, 1));
    emit_node(&emitter, n);
    emit(&emitter, &e, yaml_document_end_event_initialize(&e, 1));
    emit(&emitter, &e, yaml_stream_end_event_initialize(&e));
    yaml_emitter_delete(&emitter);
}
