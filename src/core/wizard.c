/* The answers half of the model: setting, validity, the snapshot. Their forms (texts, nodes,
 * references) stand in wizard_forms.c, outcomes in wizard_checks.c, steps and plan in
 * wizard_steps.c, the journal in wizard_journal.c. */
#include "core/wizard.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/snapshot_make.h"
#include "core/wizard_parts.h"

struct wizard *wizard_new(const struct rows *rows)
{
    struct wizard *w = xcalloc(1, sizeof(*w));
    w->rows = rows;
    w->answers = xcalloc(rows->field_count + 1, sizeof(struct value *));
    w->origins = xcalloc(rows->field_count + 1, sizeof(enum origin));
    w->fields = xcalloc(rows->field_count + 1, sizeof(struct field_slot));
    w->facts = xcalloc(rows->fact_count + 1, sizeof(struct fact *));
    w->fact_digests = xcalloc(rows->fact_count + 1, sizeof(struct digest));
    w->checks = xcalloc(rows->check_count + 1, sizeof(struct check_slot));
    plan_init(&w->plan);
    w->version = 1;
    w->inputs_version = 1;
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
    for (size_t i = 0; i < w->resolved_count; i++) {
        xfree(w->resolved[i].reference);
        secret_unref(w->resolved[i].secret);
    }
    plan_release(&w->plan);
    snapshot_unref(w->snapshot);
    xfree(w->resolved);
    xfree(w->journal);
    xfree(w->answers);
    xfree(w->origins);
    xfree(w->fields);
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
    w->inputs_version++;
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

struct snapshot *wizard_present(struct wizard *w)
{
    if (w->snapshot == NULL)
        w->snapshot = snapshot_make(w->rows, w->answers, w->origins, w->facts, w->fact_digests);
    return w->snapshot;
}

struct snapshot *wizard_snapshot(struct wizard *w)
{
    return snapshot_ref(wizard_present(w));
}

/* --- setting ---------------------------------------------------------------------------------- */

/* Trimmed and so on, as a text is; the copy made on the way is wiped. */
static struct value *normalised_secret(const struct field *f, struct value *v)
{
    if (v->secret == NULL || strlen(secret_bytes(v->secret)) != secret_len(v->secret))
        return v;
    char *text = f->normalise(secret_bytes(v->secret));
    size_t n = strlen(text);
    struct value *out = v;
    if (strcmp(text, secret_bytes(v->secret)) != 0) {
        struct secret *s = secret_new(text, n);
        out = value_secret(s, v->reference, v->host);
        secret_unref(s);
        value_unref(v);
    }
    explicit_bzero(text, n);
    xfree(text);
    return out;
}

static int by_text_then_place(const void *a, const void *b)
{
    char *const *x = *(char *const *const *)a;
    char *const *y = *(char *const *const *)b;
    int texts = strcmp(*x, *y);
    return texts != 0 ? texts : (x > y) - (x < y);
}

/* An item that stands there twice counts once, where it stood first. Sorted, so that long lists
 * stay cheap. */
static size_t drop_repeated(char **items, size_t count)
{
    char ***order = xcalloc(count + 1, sizeof(char **));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        order[i] = &items[i];
    qsort(order, count, sizeof(char **), by_text_then_place);
    const char *last = NULL;
    for (size_t i = 0; i < count; i++) {
        if (last != NULL && strcmp(*order[i], last) == 0) {
            xfree(*order[i]);
            *order[i] = NULL;
        } else {
            last = *order[i];
        }
    }
    xfree(order);
    for (size_t i = 0; i < count; i++)
        if (items[i] != NULL)
            items[kept++] = items[i];
    return kept;
}

static struct value *normalised_list(const struct field *f, struct value *v)
{
    char **items = xcalloc(v->count + 1, sizeof(char *));
    for (size_t i = 0; i < v->count; i++)
        items[i] = f->normalise != NULL ? f->normalise(v->items[i]) : xstrdup(v->items[i]);
    size_t count = drop_repeated(items, v->count);
    struct value *out = value_list((const char *const *)items, count);
    for (size_t i = 0; i < count; i++)
        xfree(items[i]);
    xfree(items);
    value_unref(v);
    return out;
}

static struct value *normalised(const struct field *f, struct value *v)
{
    if (v != NULL && v->kind == VALUE_LIST)
        return normalised_list(f, v);
    if (f->normalise == NULL || v == NULL)
        return v;
    if (v->kind == VALUE_SECRET)
        return normalised_secret(f, v);
    if (v->kind != VALUE_TEXT)
        return v;
    AUTO(xfree) char *text = f->normalise(v->text);
    value_unref(v);
    return value_text(text);
}

/* Nothing was answered: the field falls back to its default. A secret that is not at hand is an
 * answer. */
static bool says_nothing(const struct value *v)
{
    if (v == NULL || v->kind != VALUE_SECRET)
        return value_empty(v);
    return v->reference == NULL && v->secret != NULL && secret_len(v->secret) == 0;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* The same secret once more keeps its revision, so that nothing becomes stale by it. It keeps its
 * host, too: only who types it again says by that that it may go to the host in the form now. */
static struct value *merged_secret(const struct value *old, struct value *next, enum origin origin)
{
    if (old == NULL || old->kind != VALUE_SECRET)
        return next;
    bool same = next->secret != NULL && value_equal(old, next);
    bool same_place = next->reference != NULL && same_text(old->reference, next->reference);
    bool keeps_host = next->host == NULL && origin != ORIGIN_TYPED && (same || same_place);
    if (!same && !keeps_host)
        return next;
    struct value *out = value_secret(same ? old->secret : next->secret, next->reference,
                                     keeps_host ? old->host : next->host);
    value_unref(next);
    return out;
}

static bool identical(const struct value *a, const struct value *b)
{
    if (!value_equal(a, b) || a == NULL || b == NULL || a->kind != VALUE_SECRET)
        return value_equal(a, b);
    return a->secret == b->secret && same_text(a->host, b->host);
}

void wizard_bind_secrets(struct wizard *w)
{
    for (size_t i = 0; i < w->rows->field_count; i++) {
        const struct field *f = w->rows->fields[i];
        struct value *v = w->answers[i];
        if (f->host_of == NULL || v == NULL || v->kind != VALUE_SECRET || v->host != NULL)
            continue;
        AUTO(xfree) char *host = host_of_text(snap_text(wizard_present(w), f->host_of));
        if (host == NULL)
            continue;
        w->answers[i] = value_secret(v->secret, v->reference, host);
        value_unref(v);
        wizard_changed(w);
        w->answers_version++;
    }
}

int wizard_set(struct wizard *w, int field, struct value *v, enum origin origin,
               struct problem *err)
{
    const struct field *f = w->rows->fields[field];
    struct value *next = normalised(f, v);
    if (says_nothing(next)) {
        value_unref(next);
        next = NULL;
    }
    if (next != NULL && next->kind == VALUE_SECRET)
        next = merged_secret(w->answers[field], next, origin);
    if (next == NULL)
        origin = ORIGIN_NONE;
    if (!identical(next, w->answers[field]) || origin != w->origins[field]) {
        value_unref(w->answers[field]);
        w->answers[field] = next;
        w->origins[field] = origin;
        wizard_changed(w);
        w->answers_version++;
    } else {
        value_unref(next);
    }
    wizard_bind_secrets(w); /* a host that is typed after its secret binds it as well */
    return field_check_value(f, wizard_present(w), w->answers[field], err);
}

void wizard_unpin_defaults(struct wizard *w)
{
    struct snapshot *s = wizard_snapshot(w);
    bool any = false;
    for (size_t i = 0; i < w->rows->field_count; i++) {
        const struct value *given = w->answers[i];
        if (given == NULL || given->kind == VALUE_SECRET || w->origins[i] != ORIGIN_STATE ||
            !snapshot_visible(s, (int)i))
            continue;
        struct value *otherwise = snapshot_default(s, (int)i);
        if (otherwise != NULL && value_equal(given, otherwise)) {
            value_unref(w->answers[i]); /* what is in force stays the same */
            w->answers[i] = NULL;
            w->origins[i] = ORIGIN_NONE;
            any = true;
        }
        value_unref(otherwise);
    }
    snapshot_unref(s);
    if (any)
        wizard_changed(w);
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
    wizard_bind_secrets(w);
}

/* --- reading ---------------------------------------------------------------------------------- */

const struct value *wizard_answer(const struct wizard *w, int field)
{
    return w->answers[field];
}

const struct value *wizard_effective(struct wizard *w, int field)
{
    return snapshot_value(wizard_present(w), field);
}

enum origin wizard_origin(struct wizard *w, int field)
{
    const struct value *given = w->answers[field];
    if (!value_empty(given) || (given != NULL && given->kind == VALUE_SECRET))
        return w->origins[field];
    return value_empty(wizard_effective(w, field)) ? ORIGIN_NONE : ORIGIN_DEFAULT;
}

bool wizard_visible(struct wizard *w, int field)
{
    return snapshot_visible(wizard_present(w), field);
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
    if (f->host_of != NULL && given->host != NULL &&
        snap_secret(wizard_present(w), f->id) == NULL) {
        problem_fail(err, PROBLEM_INPUT, "other host", "%s was entered for %s", f->label,
                     given->host);
        problem_fix(err, WHO_YOU, "type it again, or allow it to be sent to %s",
                    snap_text(wizard_present(w), f->host_of));
        return -1;
    }
    return 0;
}

static int field_problem(struct wizard *w, int field, struct problem *err)
{
    const struct field *f = w->rows->fields[field];
    const struct value *given = w->answers[field];
    if (!wizard_visible(w, field))
        return 0;
    if (given != NULL && given->kind == VALUE_SECRET && secret_problem(w, field, err) != 0)
        return -1;
    const struct value *v = f->kind == FIELD_SECRET ? given : wizard_effective(w, field);
    if (value_empty(v)) {
        if (!f->required)
            return 0;
        problem_fail(err, PROBLEM_INPUT, "missing", "%s is missing", f->label);
        problem_fix(err, WHO_YOU, "answer %s", f->id);
        return -1;
    }
    return field_check_value(f, wizard_present(w), v, err);
}

int wizard_field_problem(struct wizard *w, int field, struct problem *err)
{
    struct field_slot *slot = &w->fields[field];
    /* whether a path is right may depend on the disk, which tells nobody when it changes */
    bool known = slot->bad_at == w->inputs_version && w->rows->fields[field]->kind != FIELD_PATH;
    if (known && (!slot->bad || err == NULL))
        return slot->bad ? -1 : 0;
    slot->bad = field_problem(w, field, err) != 0;
    slot->bad_at = w->inputs_version;
    return slot->bad ? -1 : 0;
}
