/* Snapshots: references to answers and facts, never copies of them, so that one costs the same
 * whether a fact lists ten tables or 100,000. */
#include "core/snapshot.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "core/bug.h"
#include "core/mem.h"
#include "core/snapshot_make.h"

struct snapshot {
    atomic_int refs;
    const struct rows *rows;
    size_t built; /* fields below it have their effective answer */
    struct value **values;
    bool *visible;
    enum origin *origins;
    struct fact **facts;
    struct digest *digests;
};

/* The default as a value of the row's kind; NULL when there is none. */
static struct value *default_of(const struct snapshot *s, const struct field *f)
{
    char *text = f->default_from != NULL ? f->default_from(s) : NULL;
    if (text == NULL || text[0] == '\0')
        xreplace(&text, f->initial);
    struct value *v = NULL;
    if (text != NULL && text[0] != '\0')
        v = f->kind == FIELD_LIST ? value_list_parse(text) : value_text(text);
    xfree(text);
    return v;
}

static void settle(struct snapshot *s, size_t i, const struct value *answer, enum origin origin)
{
    const struct field *f = s->rows->fields[i];
    s->visible[i] = f->when == NULL || f->when(s);
    if (!s->visible[i])
        return;
    if (!value_empty(answer) || f->kind == FIELD_SECRET) {
        s->values[i] =
            value_ref(answer); /* a secret that is not at hand is still one that was given */
        s->origins[i] = answer != NULL ? origin : ORIGIN_NONE;
        return;
    }
    s->values[i] = default_of(s, f);
    s->origins[i] = s->values[i] != NULL ? ORIGIN_DEFAULT : ORIGIN_NONE;
}

/* Whether the secret may be sent to the host that its row names now. */
static bool may_go(const struct snapshot *s, const struct field *f, const struct value *v)
{
    if (f->host_of == NULL || v->host == NULL)
        return true;
    char *bound = host_of_text(v->host);
    char *now = host_of_text(snap_text(s, f->host_of));
    bool same = bound != NULL && now != NULL && strcmp(bound, now) == 0;
    xfree(bound);
    xfree(now);
    return same;
}

static void withhold(struct snapshot *s, size_t i)
{
    struct value *v = s->values[i];
    if (v == NULL || v->kind != VALUE_SECRET || v->secret == NULL ||
        may_go(s, s->rows->fields[i], v))
        return;
    s->values[i] = value_secret(NULL, v->reference, v->host);
    value_unref(v);
}

struct snapshot *snapshot_make(const struct rows *rows, struct value *const *answers,
                               const enum origin *origins, struct fact *const *facts,
                               const struct digest *fact_digests)
{
    struct snapshot *s = xcalloc(1, sizeof *s);
    atomic_init(&s->refs, 1);
    s->rows = rows;
    s->values = xcalloc(rows->field_count, sizeof(struct value *));
    s->visible = xcalloc(rows->field_count, sizeof *s->visible);
    s->origins = xcalloc(rows->field_count, sizeof *s->origins);
    s->facts = xcalloc(rows->fact_count, sizeof(struct fact *));
    s->digests = xcalloc(rows->fact_count, sizeof *s->digests);
    for (size_t i = 0; i < rows->fact_count; i++) {
        s->facts[i] = facts != NULL ? fact_ref(facts[i]) : NULL;
        if (fact_digests != NULL)
            s->digests[i] = fact_digests[i];
        if (digest_none(&s->digests[i]) && s->facts[i] != NULL)
            s->digests[i] = fact_digest(s->facts[i]);
    }
    for (; s->built < rows->field_count; s->built++) {
        size_t i = s->built;
        settle(s, i, answers != NULL ? answers[i] : NULL,
               origins != NULL ? origins[i] : ORIGIN_NONE);
    }
    for (size_t i = 0; i < rows->field_count; i++)
        withhold(s, i); /* the host may stand behind its secret */
    return s;
}

struct snapshot *snapshot_ref(const struct snapshot *s)
{
    if (s == NULL)
        return NULL;
    /* Counting references is no change of the snapshot. */
    struct snapshot *counted = (struct snapshot *)(uintptr_t)s;
    atomic_fetch_add_explicit(&counted->refs, 1, memory_order_relaxed);
    return counted;
}

void snapshot_unref(struct snapshot *s)
{
    if (s == NULL || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < s->rows->field_count; i++)
        value_unref(s->values[i]);
    for (size_t i = 0; i < s->rows->fact_count; i++)
        fact_unref(s->facts[i]);
    xfree(s->values);
    xfree(s->visible);
    xfree(s->origins);
    xfree(s->facts);
    xfree(s->digests);
    xfree(s);
}

const struct rows *snapshot_rows(const struct snapshot *s)
{
    return s->rows;
}

struct value *snapshot_default(const struct snapshot *s, int field)
{
    return default_of(s, s->rows->fields[field]);
}

bool snapshot_visible(const struct snapshot *s, int field)
{
    return s->visible[field];
}

enum origin snapshot_origin(const struct snapshot *s, int field)
{
    return s->origins[field];
}

const struct value *snapshot_value(const struct snapshot *s, int field)
{
    return s->values[field];
}

struct digest snapshot_fact_digest(const struct snapshot *s, int fact)
{
    return s->digests[fact];
}

/* The index of a field that may be read now. */
static size_t readable(const struct snapshot *s, const char *id)
{
    int i = rows_field(s->rows, id);
    if (i < 0)
        bug("%s is read, which is no field", id);
    if ((size_t)i >= s->built && s->built < s->rows->field_count)
        bug("field %s reads %s, which does not stand before it", s->rows->fields[s->built]->id, id);
    return (size_t)i;
}

const struct value *snap_value(const struct snapshot *s, const char *id)
{
    return s->values[readable(s, id)];
}

const char *snap_text(const struct snapshot *s, const char *id)
{
    size_t i = readable(s, id);
    enum field_kind kind = s->rows->fields[i]->kind;
    if (kind == FIELD_SECRET || kind == FIELD_LIST || kind == FIELD_MAP)
        bug("%s is read as a text, which it is not", id);
    /* An answer of another form is kept for the operator to mend, and is none to all others. */
    const struct value *v = s->values[i];
    return v != NULL && v->kind == VALUE_TEXT ? v->text : "";
}

bool snap_is(const struct snapshot *s, const char *id, const char *text)
{
    return strcmp(snap_text(s, id), text) == 0;
}

bool snap_on(const struct snapshot *s, const char *id)
{
    if (s->rows->fields[readable(s, id)]->kind != FIELD_SWITCH)
        bug("%s is read as a switch, which it is not", id);
    return snap_is(s, id, "yes");
}

struct secret *snap_secret(const struct snapshot *s, const char *id)
{
    size_t i = readable(s, id);
    if (s->rows->fields[i]->kind != FIELD_SECRET)
        bug("%s is read as a secret, which it is not", id);
    const struct value *v = s->values[i];
    return v != NULL && v->kind == VALUE_SECRET ? v->secret : NULL;
}

const void *snap_fact(const struct snapshot *s, const char *id, const struct fact_type *type)
{
    int i = rows_fact(s->rows, id);
    if (i < 0)
        bug("%s is read, which is no fact", id);
    return fact_data(s->facts[i], type);
}

static bool is_secret(const struct snapshot *s, const char *id)
{
    int field = rows_field(s->rows, id);
    return field >= 0 && s->rows->fields[field]->kind == FIELD_SECRET;
}

static struct digest digest_by(const struct snapshot *s, const char *salt, const char *const *ids,
                               bool secrets)
{
    struct hasher *h = hasher_new();
    hasher_text(h, salt);
    for (; ids != NULL && *ids != NULL; ids++) {
        const char *id = **ids == '?' ? *ids + 1 : *ids;
        hasher_text(h, id);
        int fact = rows_fact(s->rows, id);
        if (fact >= 0)
            hasher_bytes(h, s->digests[fact].b, DIGEST_HEX / 2); /* as many as a kept one has */
        else if (secrets || !is_secret(s, id))
            value_hash(snap_value(s, id), h);
    }
    return hasher_end(h);
}

struct digest snap_digest(const struct snapshot *s, const char *salt, const char *const *ids)
{
    return digest_by(s, salt, ids, true);
}

struct digest snap_digest_plain(const struct snapshot *s, const char *salt, const char *const *ids)
{
    return digest_by(s, salt, ids, false);
}
