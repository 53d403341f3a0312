/* How tables are chosen: each with its size, and the key Estuary will use; what cannot be captured
 * is shown and refused, what would break the application says so and how it is mended. */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/snapshot.h"
#include "core/text.h"
#include "core/utf8.h"
#include "postgres/facts.h"
#include "postgres/tables.h"
#include "steps/postgres/postgres.h"

static const struct postgres_tables *catalogue(const struct snapshot *s)
{
    return snap_fact(s, FACT_CATALOGUE, &postgres_catalogue_type);
}

static bool ready(const struct snapshot *s)
{
    return catalogue(s) != NULL;
}

static size_t count(const struct snapshot *s)
{
    const struct postgres_tables *t = catalogue(s);
    return t != NULL ? t->count : 0;
}

static const char *refusal_of(const struct snapshot *s, const struct postgres_table *t)
{
    const char *refusal = postgres_table_refusal(t);
    if (refusal == NULL && snap_is(s, "postgres.watermarks", t->written))
        return "Estuary's own";
    return refusal;
}

static char *key_text(const struct postgres_table *t)
{
    if (t->kind != 'r' && t->kind != 'p')
        return NULL;
    if (t->key == POSTGRES_KEY_NONE)
        return xstrdup("none");
    if (t->key == POSTGRES_KEY_INDEX)
        return xasprintf("%s (%s)", t->key_columns, t->key_index);
    return xstrdup(t->key_columns);
}

static const char *refusal_note(const char *refusal)
{
    static const char *const notes[][2] = {
        {"view", "A view has no changes of its own in the log. Capture the tables below it."},
        {"materialized view",
         "A materialized view has no changes of its own in the log. Capture the tables below it."},
        {"foreign table", "The rows are on another server: capture them there."},
        {"unlogged", "Its changes are not written to the log. ALTER TABLE … SET LOGGED makes it an "
                     "ordinary table."},
        {"temporary", "It is gone with the session that made it."},
        {"Estuary's own", "Estuary keeps its marks here; it is published anyway and not captured."},
    };
    for (size_t i = 0; i < ARRAY_LEN(notes); i++)
        if (strcmp(notes[i][0], refusal) == 0)
            return notes[i][1];
    return "";
}

static void add_answer(struct pick_row *out, size_t *n, const char *value, const char *label)
{
    out->answers[*n].value = xstrdup(value);
    out->answers[(*n)++].label = xstrdup(label);
}

/* Partitions need an identity each; an index of theirs would have to be named for each, so only
 * full is offered there. */
static void add_answers(struct pick_row *out, const struct postgres_table *t)
{
    size_t n = 0;
    add_answer(out, &n, "", "add a primary key (yours)");
    add_answer(out, &n, "full", "REPLICA IDENTITY FULL (more log)");
    if (t->usable[0] != '\0') {
        AUTO(xfree) char *value = xasprintf("index:%s", t->usable);
        AUTO(xfree) char *label = xasprintf("use unique index %s (all NOT NULL)", t->usable);
        add_answer(out, &n, value, label);
    }
    add_answer(out, &n, "-", "leave it out");
}

static char *note_of(const struct postgres_table *t)
{
    AUTO_TEXT note = TEXT_INIT;
    if (postgres_table_breaks(t))
        text_addf(&note,
                  "%s has no %s. Once published, every UPDATE and DELETE on it fails in your "
                  "application (SQLSTATE 55000).",
                  t->name,
                  t->replica == 'n'   ? "replica identity (NOTHING is set)"
                  : t->kind == 'p'    ? "primary key that all its partitions share"
                  : t->replica == 'i' ? "replica identity any more (its index is gone)"
                                      : "primary key and REPLICA IDENTITY DEFAULT");
    else if (t->key == POSTGRES_KEY_NONE && (t->kind == 'r' || t->kind == 'p'))
        text_add(&note, "Estuary finds no key: each change becomes a document of its own, and rows "
                        "are only appended downstream.");
    if (t->secured) {
        text_sep(&note, " ");
        text_add(
            &note,
            "Row-level security is on: the capture user would silently miss the rows it hides.");
    }
    if (t->kind == 'p') {
        text_sep(&note, " ");
        text_addf(&note, "Captured as one table, with its %d partitions.", t->partitions);
    }
    return note.len > 0 ? text_take(&note) : NULL;
}

static void row(const struct snapshot *s, size_t i, struct pick_row *out)
{
    const struct postgres_table *t = &catalogue(s)->rows[i];
    *out = (struct pick_row){.item = xstrdup(t->written)};
    const char *refusal = refusal_of(s, t);
    bool view = t->kind == 'v';
    out->columns[0] = xstrdup(t->schema);
    out->columns[1] =
        t->kind == 'p' ? xasprintf("%s ▸%d parts", t->name, t->partitions) : xstrdup(t->name);
    out->columns[2] = view ? NULL : postgres_size_text(t->bytes);
    out->columns[3] = view ? NULL : postgres_rows_text(t->rows);
    out->columns[4] = key_text(t);
    if (refusal != NULL) {
        out->refusal = xstrdup(refusal);
        out->note = xstrdup(refusal_note(refusal));
        return;
    }
    out->note = note_of(t);
    if (postgres_table_breaks(t)) {
        out->warning = xstrdup("UPDATE breaks");
        add_answers(out, t);
    } else if (t->secured) {
        out->warning = xstrdup("row security");
    }
}

static bool matches(const struct snapshot *s, size_t i, const char *folded)
{
    const struct postgres_table *t = &catalogue(s)->rows[i];
    char name[160]; /* two identifiers of up to 63 bytes and the dot */
    snprintf(name, sizeof name, "%s.%s", t->schema, t->name);
    return utf8_contains_folded(name, folded);
}

static bool refused(const struct snapshot *s, size_t i)
{
    return refusal_of(s, &catalogue(s)->rows[i]) != NULL;
}

static char *item(const struct snapshot *s, size_t i)
{
    return xstrdup(catalogue(s)->rows[i].written);
}

static const char *group(const struct snapshot *s, size_t i)
{
    return catalogue(s)->rows[i].schema;
}

const struct picker postgres_picker = {
    .title = "Tables to capture",
    .headings = {"schema", "table", "size", "rows", "key Estuary will use"},
    .widths = {8, 20, 8, 7, 22},
    .answers_field = "postgres.repairs",
    .count = count,
    .ready = ready,
    .row = row,
    .matches = matches,
    .refused = refused,
    .item = item,
    .group = group,
};
