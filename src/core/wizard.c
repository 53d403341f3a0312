/* The answers half of the model: setting, validity, the snapshot. Outcomes and derived states stand
 * in wizard_checks.c, the journal in wizard_journal.c. */
#include "core/wizard.h"

#include <string.h>

#include "core/mem.h"
#include "core/snapshot_make.h"
#include "core/wizard_parts.h"

const char *origin_name(enum origin o)
{
    static const char *const names[] = {
        [ORIGIN_NONE] = "none",
        [ORIGIN_DEFAULT] = "default",
        [ORIGIN_ENVIRONMENT] = "environment",
        [ORIGIN_STATE] = "state",
        [ORIGIN_ANSWERS] = "answers",
        [ORIGIN_SET] = "--set",
        [ORIGIN_TYPED] = "typed",
        [ORIGIN_MADE] = "made",
    };
    return names[o];
}

struct wizard *wizard_new(const struct rows *rows)
{
    struct wizard *w = xcalloc(1, sizeof(*w));
    w->rows = rows;
    w->answers = xcalloc(rows->field_count + 1, sizeof(struct value *));
    w->origins = xcalloc(rows->field_count + 1, sizeof(enum origin));
    w->facts = xcalloc(rows->fact_count + 1, sizeof(struct fact *));
    w->fact_digests = xcalloc(rows->fact_count + 1, sizeof(struct digest));
    w->checks = xcalloc(rows->check_count + 1, sizeof(struct check_slot));
    plan_init(&w->plan);
    w->version = 1;
    w->answers_version = 1;
    return w;
}

static void journal_entry_release(struct journal_entry *e)
{
    xfree(e->change);
    xfree(e->step);
    xfree(e->kind);
    xfree(e->title);
    xfree(e->saw);
    xfree(e->made);
    node_free(e->args);
    node_free(e->rest);
}

void wizard_free(struct wizard *w)
{
    if (w == NULL)
        return;
    for (size_t i = 0; i < w->rows->field_count; i++)
        value_unref(w->answers[i]);
    for (size_t i = 0; i < w->rows->fact_count; i++)
        fact_unref(w->facts[i]);
    for (size_t i = 0; i < w->rows->check_count; i++) {
        outcome_unref(w->checks[i].outcome);
        xfree(w->checks[i].accepted);
        xfree(w->checks[i].doing);
    }
    for (size_t i = 0; i < w->journal_count; i++)
        journal_entry_release(&w->journal[i]);
    plan_release(&w->plan);
    snapshot_unref(w->snapshot);
    xfree(w->journal);
    xfree(w->answers);
    xfree(w->origins);
    xfree(w->facts);
    xfree(w->fact_digests);
    xfree(w->checks);
    xfree(w);
}

const struct rows *wizard_rows(const struct wizard *w)
{
    return w->rows;
}

void wizard_changed(struct wizard *w)
{
    snapshot_unref(w->snapshot);
    w->snapshot = NULL;
    w->planned = false;
    w->version++;
}

void wizard_touch(struct wizard *w)
{
    w->version++;
}

uint64_t wizard_version(const struct wizard *w)
{
    return w->version;
}

uint64_t wizard_answers_version(const struct wizard *w)
{
    return w->answers_version;
}

/* The snapshot of the model, borrowed. */
static struct snapshot *present(struct wizard *w)
{
    if (w->snapshot == NULL)
        w->snapshot = snapshot_make(w->rows, w->answers, w->origins, w->facts, w->fact_digests);
    return w->snapshot;
}

struct snapshot *wizard_snapshot(struct wizard *w)
{
    return snapshot_ref(present(w));
}

/* --- setting -----------------------------------------------------------------------------------
 */

static struct value *normalised(const struct field *f, struct value *v)
{
    if (f->normalise == NULL || v == NULL)
        return v;
    if (v->kind == VALUE_TEXT) {
        AUTO(xfree) char *text = f->normalise(v->text);
        value_unref(v);
        return value_text(text);
    }
    if (v->kind == VALUE_LIST) {
        char **items = xcalloc(v->count + 1, sizeof(char *));
        for (size_t i = 0; i < v->count; i++)
            items[i] = f->normalise(v->items[i]);
        struct value *out = value_list((const char *const *)items, v->count);
        for (size_t i = 0; i < v->count; i++)
            xfree(items[i]);
        xfree(items);
        value_unref(v);
        return out;
    }
    return v;
}

/* A secret that is not bound yet is bound to the host that stands in the form now. */
static void bind_host(struct wizard *w, int field)
{
    const struct field *f = w->rows->fields[field];
    struct value *v = w->answers[field];
    if (v == NULL || v->kind != VALUE_SECRET || v->host != NULL || f->host_of == NULL)
        return;
    AUTO(xfree) char *host = host_of_text(snap_text(present(w), f->host_of));
    if (host == NULL || host[0] == '\0')
        return;
    w->answers[field] = value_secret(v->secret, v->reference, host);
    value_unref(v);
    wizard_changed(w);
}

/* A host that is typed after its secret binds the secret as well. */
static void bind_secrets_of(struct wizard *w, int host_field)
{
    const char *id = w->rows->fields[host_field]->id;
    for (size_t i = 0; i < w->rows->field_count; i++)
        if (w->rows->fields[i]->host_of != NULL && strcmp(w->rows->fields[i]->host_of, id) == 0)
            bind_host(w, (int)i);
}

int wizard_set(struct wizard *w, int field, struct value *v, enum origin origin,
               struct problem *err)
{
    const struct field *f = w->rows->fields[field];
    struct value *next = normalised(f, v);
    if (next != NULL && next->kind == VALUE_TEXT && next->text[0] == '\0') {
        value_unref(next);
        next = NULL; /* an emptied field falls back to its default */
    }
    bool same = next == NULL ? w->answers[field] == NULL
                             : w->answers[field] != NULL && value_equal(next, w->answers[field]);
    if (!same || (next != NULL && next->kind == VALUE_SECRET)) {
        if (same && w->answers[field]->host != NULL && next->host == NULL &&
            w->answers[field]->secret != NULL) {
            value_unref(next); /* the same secret once more: keeps its revision and its host */
            next = value_ref(w->answers[field]);
        }
        value_unref(w->answers[field]);
        w->answers[field] = next;
        wizard_changed(w);
        w->answers_version++;
    } else {
        value_unref(next);
    }
    w->origins[field] = w->answers[field] == NULL ? ORIGIN_NONE : origin;
    bind_host(w, field);
    bind_secrets_of(w, field);
    if (w->answers[field] == NULL)
        return 0;
    return field_check_value(f, present(w), w->answers[field], err);
}

/* Splits "a, b, "c,d"" at commas and newlines outside double quotes, as quote_ident writes names.
 */
static struct value *list_from_text(const char *text)
{
    char **items = NULL;
    size_t count = 0;
    const char *at = text;
    while (*at != '\0') {
        bool quoted = false;
        const char *end = at;
        while (*end != '\0' && (quoted || (*end != ',' && *end != '\n'))) {
            if (*end == '"')
                quoted = !quoted;
            end++;
        }
        const char *from = at;
        const char *to = end;
        while (from < to && (*from == ' ' || *from == '\t'))
            from++;
        while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r'))
            to--;
        if (to > from) {
            items = xrealloc(items, count + 1, sizeof(char *));
            items[count++] = xstrndup(from, (size_t)(to - from));
        }
        at = *end == '\0' ? end : end + 1;
    }
    struct value *v = count > 0 ? value_list((const char *const *)items, count) : NULL;
    for (size_t i = 0; i < count; i++)
        xfree(items[i]);
    xfree(items);
    return v;
}

/* "key=value" items to a map. */
static struct value *map_from_text(const char *text, struct problem *err)
{
    struct value *list = list_from_text(text);
    if (list == NULL)
        return NULL;
    char **keys = xcalloc(list->count, sizeof(char *));
    char **items = xcalloc(list->count, sizeof(char *));
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const char *equals = strrchr(list->items[i], '=');
        if (equals == NULL) {
            problem_fail(err, PROBLEM_INPUT, "map", "“%s” is not of the form ITEM=ANSWER",
                         list->items[i]);
            continue;
        }
        keys[count] = xstrndup(list->items[i], (size_t)(equals - list->items[i]));
        items[count++] = xstrdup(equals + 1);
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
            v = list_from_text(text);
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

static int bad_node(struct problem *err, const struct field *f, const struct node *n,
                    const char *wanted)
{
    return problem_fail(err, PROBLEM_INPUT, "form", "line %d: %s must be %s", n->line, f->id,
                        wanted);
}

/* {secret: stored|asked|env:NAME|file:/path, host: …, made: true} */
static struct value *secret_from_node(const struct field *f, const struct node *n,
                                      enum origin origin, struct problem *err)
{
    const char *how = node_get_text(n, "secret");
    if (n->kind != NODE_MAP || how == NULL) {
        bad_node(err, f, n, "{secret: \"env:NAME\"} or {secret: \"file:/absolute\"}");
        problem_fix(err, WHO_YOU, "a secret never stands in a file as it is: name where it lies");
        return NULL;
    }
    const char *host = node_get_text(n, "host");
    if (!secret_is_reference(how)) {
        bool kept = strcmp(how, "stored") == 0 || strcmp(how, "asked") == 0;
        if (kept && origin == ORIGIN_STATE)
            return value_secret(NULL, NULL, host);
        bad_node(err, f, n, "a reference, env:NAME or file:/absolute");
        return NULL;
    }
    AUTO_PROBLEM why = PROBLEM_INIT;
    struct secret *s = secret_from_reference(how, &why);
    if (s == NULL && origin != ORIGIN_STATE) {
        problem_move(err, &why);
        return NULL;
    }
    struct value *v = value_secret(s, how, host); /* from a state file it may be not at hand now */
    secret_unref(s);
    return v;
}

static struct value *many_from_node(const struct field *f, const struct node *n,
                                    struct problem *err)
{
    enum node_kind wanted = f->kind == FIELD_LIST ? NODE_LIST : NODE_MAP;
    const char *form = f->kind == FIELD_LIST ? "a list" : "a mapping";
    if (n->kind != wanted) {
        bad_node(err, f, n, form);
        return NULL;
    }
    const char **items = xcalloc(n->count + 1, sizeof(char *));
    for (size_t i = 0; i < n->count; i++) {
        items[i] = node_text(n->items[i]);
        if (items[i] == NULL) {
            bad_node(err, f, n->items[i], "made of plain texts");
            xfree(items);
            return NULL;
        }
    }
    struct value *v = f->kind == FIELD_LIST
                          ? value_list(items, n->count)
                          : value_map((const char *const *)n->keys, items, n->count);
    xfree(items);
    return v;
}

int wizard_set_node(struct wizard *w, int field, const struct node *n, enum origin origin,
                    struct problem *err)
{
    const struct field *f = w->rows->fields[field];
    struct value *v = NULL;
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (f->kind == FIELD_SECRET) {
        v = secret_from_node(f, n, origin, &why);
        if (v != NULL &&
            strcmp(node_get_text(n, "made") ? node_get_text(n, "made") : "", "true") == 0)
            origin = ORIGIN_MADE;
    } else if (f->kind == FIELD_LIST || f->kind == FIELD_MAP) {
        v = many_from_node(f, n, &why);
    } else if (n->kind == NODE_SCALAR) {
        const char *text = node_text(n);
        v = text == NULL ? NULL : value_text(text);
    } else {
        bad_node(&why, f, n, "a single text");
    }
    if (why.kind != PROBLEM_NONE) {
        problem_move(err, &why);
        return -1;
    }
    if (wizard_set(w, field, v, origin, &why) == 0)
        return 0;
    if (err != NULL) {
        problem_fail(err, PROBLEM_INPUT, why.code, "line %d: %s: %s", n->line, f->id, why.what);
        if (why.fix != NULL)
            problem_fix(err, WHO_YOU, "%s", why.fix);
    }
    return -1;
}

void wizard_allow_host(struct wizard *w, int field)
{
    struct value *v = w->answers[field];
    if (v == NULL || v->kind != VALUE_SECRET)
        return;
    w->answers[field] = value_secret(v->secret, v->reference, NULL);
    value_unref(v);
    wizard_changed(w);
    w->answers_version++;
    bind_host(w, field);
}

/* --- reading -----------------------------------------------------------------------------------
 */

const struct value *wizard_answer(const struct wizard *w, int field)
{
    return w->answers[field];
}

const struct value *wizard_effective(struct wizard *w, int field)
{
    return snap_value(present(w), w->rows->fields[field]->id);
}

enum origin wizard_origin(struct wizard *w, int field)
{
    if (!value_empty(w->answers[field]))
        return w->origins[field];
    return value_empty(wizard_effective(w, field)) ? ORIGIN_NONE : ORIGIN_DEFAULT;
}

bool wizard_visible(struct wizard *w, int field)
{
    const struct field *f = w->rows->fields[field];
    return f->when == NULL || f->when(present(w));
}

static int secret_problem(struct wizard *w, int field, struct problem *err)
{
    const struct field *f = w->rows->fields[field];
    const struct value *given = w->answers[field];
    if (given->secret == NULL) {
        if (given->reference != NULL) {
            problem_fail(err, PROBLEM_INPUT, "reference", "%s: nothing usable at %s", f->label,
                         given->reference);
            problem_fix(err, WHO_YOU, "set the variable, or make the file yours alone (mode 0600)");
            return -1;
        }
        problem_fail(err, PROBLEM_INPUT, "not at hand", "%s is not at hand", f->label);
        problem_fix(err, WHO_YOU, "unlock the secrets file, or type it again");
        return -1;
    }
    if (f->host_of != NULL && given->host != NULL && snap_secret(present(w), f->id) == NULL) {
        problem_fail(err, PROBLEM_INPUT, "other host", "%s was entered for %s", f->label,
                     given->host);
        problem_fix(err, WHO_YOU, "type it again, or allow it to be sent to %s",
                    snap_text(present(w), f->host_of));
        return -1;
    }
    return 0;
}

int wizard_field_problem(struct wizard *w, int field, struct problem *err)
{
    const struct field *f = w->rows->fields[field];
    if (!wizard_visible(w, field))
        return 0;
    if (f->kind == FIELD_SECRET && w->answers[field] != NULL)
        return secret_problem(w, field, err);
    const struct value *v = wizard_effective(w, field);
    if (value_empty(v)) {
        if (!f->required)
            return 0;
        problem_fail(err, PROBLEM_INPUT, "missing", "%s is missing", f->label);
        problem_fix(err, WHO_YOU, "answer %s", f->id);
        return -1;
    }
    return field_check_value(f, present(w), v, err);
}
