/* Answers in the forms they come in: typed texts, nodes of YAML files, references to secrets. */
#include <string.h>

#include "core/mem.h"
#include "core/wizard_parts.h"

/* --- texts ------------------------------------------------------------------------------------ */

/* The first '=' outside double quotes, as a table's name may hold one; NULL none. */
static const char *equals_of(const char *item)
{
    bool quoted = false;
    for (const char *at = item; *at != '\0'; at++) {
        if (*at == '"')
            quoted = !quoted;
        else if (*at == '=' && !quoted)
            return at;
    }
    return NULL;
}

static char *trimmed(const char *from, size_t n)
{
    while (n > 0 && (*from == ' ' || *from == '\t')) {
        from++;
        n--;
    }
    while (n > 0 && (from[n - 1] == ' ' || from[n - 1] == '\t'))
        n--;
    return xstrndup(from, n);
}

static size_t slot_of(char **keys, size_t count, const char *key)
{
    size_t i = 0;
    while (i < count && strcmp(keys[i], key) != 0)
        i++;
    return i;
}

/* KEY=ANSWER items; of two with one key the later counts. What is not of this form is left out and
 * said. */
static struct value *map_from_text(const char *text, struct problem *err)
{
    struct value *list = value_list_parse(text);
    char **keys = xcalloc(list->count + 1, sizeof(char *));
    char **items = xcalloc(list->count + 1, sizeof(char *));
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const char *item = list->items[i];
        const char *equals = equals_of(item);
        if (equals == NULL) {
            problem_fail(err, PROBLEM_INPUT, "map", "“%s” is not of the form ITEM=ANSWER", item);
            continue;
        }
        char *key = trimmed(item, (size_t)(equals - item));
        char *answer = trimmed(equals + 1, strlen(equals + 1));
        size_t at = slot_of(keys, count, key);
        if (at == count)
            count++;
        xfree(keys[at]);
        xfree(items[at]);
        keys[at] = key;
        items[at] = answer;
    }
    struct value *v = value_map((const char *const *)keys, (const char *const *)items, count);
    for (size_t i = 0; i < count; i++) {
        xfree(keys[i]);
        xfree(items[i]);
    }
    xfree(keys);
    xfree(items);
    value_unref(list);
    return v;
}

int wizard_set_text(struct wizard *w, int field, const char *text, enum origin origin,
                    struct problem *err)
{
    const struct field *f = w->rows->fields[field];
    struct value *v = NULL;
    AUTO_PROBLEM bad = PROBLEM_INIT;
    if (text != NULL && text[0] != '\0') {
        switch (f->kind) {
        case FIELD_SECRET: {
            struct secret *s = secret_new(text, strlen(text));
            v = value_secret(s, NULL, NULL);
            secret_unref(s);
            break;
        }
        case FIELD_LIST:
            v = value_list_parse(text);
            break;
        case FIELD_MAP:
            v = map_from_text(text, &bad);
            break;
        default:
            v = value_text(text);
        }
    }
    int rc = wizard_set(w, field, v, origin, err);
    if (bad.kind != PROBLEM_NONE) {
        problem_move(err, &bad);
        return -1;
    }
    return rc;
}

/* --- references ------------------------------------------------------------------------------- */

/* A variable is gone from the environment once it was read; state and answers file may both name
 * it, and two fields as well. */
static struct secret *resolve(struct wizard *w, const char *reference, struct problem *err)
{
    for (size_t i = 0; i < w->resolved_count; i++)
        if (strcmp(w->resolved[i].reference, reference) == 0)
            return secret_ref(w->resolved[i].secret);
    struct secret *s = secret_from_reference(reference, err);
    if (s == NULL || strncmp(reference, "env:", 4) != 0)
        return s;
    w->resolved = xrealloc(w->resolved, w->resolved_count + 1, sizeof(*w->resolved));
    w->resolved[w->resolved_count++] =
        (struct resolved){.reference = xstrdup(reference), .secret = secret_ref(s)};
    return s;
}

int wizard_set_reference(struct wizard *w, int field, const char *reference, enum origin origin,
                         struct problem *err)
{
    struct secret *s = resolve(w, reference, err);
    if (s == NULL)
        return -1;
    struct value *v = value_secret(s, reference, NULL);
    secret_unref(s);
    return wizard_set(w, field, v, origin, err);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static int bad_node(struct problem *err, const struct field *f, const struct node *n,
                    const char *wanted)
{
    problem_fail(err, PROBLEM_INPUT, "form", "line %d: %s must be %s", n->line, f->id, wanted);
    problem_fix(err, WHO_YOU, "correct the line");
    return -1;
}

/* A problem of the value itself, with the line and field it stands at. */
static void at_line(struct problem *err, const struct node *n, const struct field *f,
                    const struct problem *why)
{
    problem_fail(err, PROBLEM_INPUT, why->code, "line %d: %s: %s", n->line, f->id, why->what);
    problem_fix(err, why->who, "%s", why->fix != NULL ? why->fix : "correct the line");
}

/* {secret: stored|asked|env:NAME|file:/path, host: …, made: true}; the first two only in a state
 * file. */
static int secret_from_node(struct wizard *w, const struct field *f, const struct node *n,
                            enum origin origin, struct value **out, struct problem *err)
{
    const char *how = node_get_text(n, "secret");
    if (n->kind != NODE_MAP || how == NULL) {
        bad_node(err, f, n, "{secret: \"env:NAME\"} or {secret: \"file:/absolute\"}");
        problem_fix(err, WHO_YOU, "a secret never stands in a file as it is: name where it lies");
        return -1;
    }
    const char *host = node_get_text(n, "host");
    if (!secret_is_reference(how)) {
        bool kept = strcmp(how, "stored") == 0 || strcmp(how, "asked") == 0;
        if (!kept || origin != ORIGIN_STATE)
            return bad_node(err, f, n, "a reference, env:NAME or file:/absolute");
        *out = value_secret(NULL, NULL, host);
        return 0;
    }
    AUTO_PROBLEM why = PROBLEM_INIT;
    struct secret *s = resolve(w, how, &why);
    if (s == NULL && origin != ORIGIN_STATE) {
        at_line(err, n, f, &why);
        return -1;
    }
    *out = value_secret(s, how, host); /* from a state file it may be not at hand now */
    secret_unref(s);
    return 0;
}

static int many_from_node(const struct field *f, const struct node *n, struct value **out,
                          struct problem *err)
{
    enum node_kind wanted = f->kind == FIELD_LIST ? NODE_LIST : NODE_MAP;
    if (n->kind != wanted)
        return bad_node(err, f, n, f->kind == FIELD_LIST ? "a list" : "a mapping");
    const char **items = xcalloc(n->count + 1, sizeof(char *));
    for (size_t i = 0; i < n->count; i++) {
        items[i] = node_text(n->items[i]);
        if (items[i] == NULL) {
            xfree(items);
            return bad_node(err, f, n->items[i], "made of plain texts");
        }
    }
    *out = f->kind == FIELD_LIST ? value_list(items, n->count)
                                 : value_map((const char *const *)n->keys, items, n->count);
    xfree(items);
    return 0;
}

/* YAML's own words for a switch are taken as what they mean. */
static const char *switch_text(const struct node *n)
{
    static const struct {
        const char *yaml;
        const char *ours;
    } words[] = {{"true", "yes"}, {"on", "yes"}, {"false", "no"}, {"off", "no"}};
    for (size_t i = 0; n->plain && i < ARRAY_LEN(words); i++)
        if (strcmp(n->text, words[i].yaml) == 0)
            return words[i].ours;
    return n->text;
}

static int value_from_node(struct wizard *w, const struct field *f, const struct node *n,
                           enum origin origin, struct value **out, struct problem *err)
{
    if (n->kind == NODE_SCALAR && node_text(n) == NULL)
        return 0; /* "key:" or "key: ~" */
    if (f->kind == FIELD_SECRET)
        return secret_from_node(w, f, n, origin, out, err);
    if (f->kind == FIELD_LIST || f->kind == FIELD_MAP)
        return many_from_node(f, n, out, err);
    if (n->kind != NODE_SCALAR)
        return bad_node(err, f, n, "a single text");
    *out = value_text(f->kind == FIELD_SWITCH ? switch_text(n) : n->text);
    return 0;
}

int wizard_set_node(struct wizard *w, int field, const struct node *n, enum origin origin,
                    struct problem *err)
{
    const struct field *f = w->rows->fields[field];
    struct value *v = NULL;
    if (value_from_node(w, f, n, origin, &v, err) != 0)
        return -1;
    const char *made = node_get_text(n, "made");
    if (v != NULL && v->kind == VALUE_SECRET && origin == ORIGIN_STATE && made != NULL &&
        strcmp(made, "true") == 0)
        origin = ORIGIN_MADE;
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (wizard_set(w, field, v, origin, &why) == 0)
        return 0;
    at_line(err, n, f, &why);
    return 1;
}
