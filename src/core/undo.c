/* Undo: the plan that takes back what the journal says we made, and its phases. What stood there
 * before our intent is never touched. What needed another change is taken back before it; each end
 * is proved by find. */
#include <string.h>

#include "core/engine_parts.h"
#include "core/mem.h"

/* --- plan ------------------------------------------------------------------------------------- */

static const struct change_kind *kind_of(const struct rows *rows, const char *id)
{
    for (size_t i = 0; i < rows->step_count; i++)
        for (size_t k = 0; rows->steps[i]->kinds != NULL && rows->steps[i]->kinds[k] != NULL; k++)
            if (strcmp(rows->steps[i]->kinds[k]->id, id) == 0)
                return rows->steps[i]->kinds[k];
    return NULL;
}

static bool chosen(const struct rows *rows, const struct journal_entry *e, int step)
{
    int of = e->step != NULL ? rows_step(rows, e->step) : -1;
    return of >= 0 && (step < 0 || of == step) && e->status != JOURNAL_UNDONE;
}

static void add_change(const struct rows *rows, const struct journal_entry *e, struct plan *out)
{
    const struct change_kind *kind = kind_of(rows, e->kind);
    if (e->was_there) {
        plan_right(out, "%s stood there before: it stays", e->title);
        return;
    }
    if (kind == NULL || kind->undo == NULL) {
        plan_missing(out, "%s cannot be taken back from here: %s", e->title,
                     kind == NULL ? "this version does not know how" : "it is to be done by hand");
        return;
    }
    struct change *c = plan_add(out, kind, rows->steps[rows_step(rows, e->step)]->id, e->change,
                                CHANGE_REMOVE, e->args != NULL ? node_copy(e->args) : node_map());
    change_text(&c->title, "%s", e->title);
    AUTO(xfree) char *text = kind->undo_text != NULL ? kind->undo_text(c) : NULL;
    if (text != NULL)
        change_text(&c->preview, "%s", text);
    else
        change_text(&c->preview, "takes back: %s%s%s", e->title, e->made != NULL ? ", " : "",
                    e->made != NULL ? e->made : "");
}

/* Who was made after another is taken back before it. */
static void add_order(const struct journal_entry *entries, size_t count, struct plan *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct node *after = node_get(entries[i].rest, "after");
        for (size_t k = 0; after != NULL && after->kind == NODE_LIST && k < after->count; k++)
            for (size_t c = 0; c < out->count; c++)
                if (node_text(after->items[k]) != NULL &&
                    strcmp(out->changes[c]->id, node_text(after->items[k])) == 0 &&
                    plan_find(out, entries[i].change) != NULL)
                    change_after(out->changes[c], entries[i].change);
    }
}

void wizard_make_undo(struct wizard *w, int step, struct plan *out)
{
    const struct journal_entry *entries;
    size_t count = wizard_journal(w, &entries);
    plan_init(out);
    for (size_t i = count; i-- > 0;)
        if (chosen(wizard_rows(w), &entries[i], step))
            add_change(wizard_rows(w), &entries[i], out);
    add_order(entries, count, out);
}

/* --- journal ---------------------------------------------------------------------------------- */

void undo_note_ties(struct journal_entry *entry, const struct change *c)
{
    if (entry->rest == NULL)
        entry->rest = node_map();
    node_remove(entry->rest, "after");
    if (c->after_count > 0) {
        struct node *after = node_list();
        for (size_t i = 0; i < c->after_count; i++)
            node_add(after, node_scalar(c->after[i]));
        node_set(entry->rest, "after", after);
    }
    node_set_text(entry->rest, "gives", c->gives);
    node_set_text(entry->rest, "uses", c->uses);
}

/* A value that was made for it is forgotten with it; one that was typed stays. */
static void forget_made(struct engine *e, const struct journal_entry *entry)
{
    static const char *const ties[] = {"gives", "uses"};
    for (size_t i = 0; i < ARRAY_LEN(ties); i++) {
        const char *id = node_get_text(entry->rest, ties[i]);
        int field = id != NULL ? rows_field(wizard_rows(e->wizard), id) : -1;
        if (field >= 0 && wizard_origin(e->wizard, field) == ORIGIN_MADE)
            wizard_set(e->wizard, field, NULL, ORIGIN_NONE, NULL);
    }
}

/* --- phases ----------------------------------------------------------------------------------- */

void undo_finished(struct engine *e, struct task *t)
{
    struct problem p = PROBLEM_INIT;
    if (t->rc != 0) {
        apply_finish(e, t->index, CHANGE_FAILED, &t->problem);
    } else if (t->kind == TASK_UNDO) {
        apply_start_phase(e, t->index, TASK_GONE);
    } else if (t->found.as_wanted) {
        problem_fail(&p, PROBLEM_CONFLICT, "still there", "%s still stands after it was taken back",
                     t->change->title);
        if (t->found.saw != NULL)
            problem_evidence(&p, "%s", t->found.saw);
        problem_fix(&p, WHO_YOU, "look at it, then undo again");
        apply_finish(e, t->index, CHANGE_FAILED, &p);
    } else {
        struct journal_entry *entry = wizard_journal_find(e->wizard, t->change->id);
        if (entry != NULL)
            forget_made(e, entry);
        if (apply_journal(e, t->change, JOURNAL_UNDONE, &p) != 0)
            apply_finish(e, t->index, CHANGE_FAILED, &p);
        else
            apply_finish(e, t->index, CHANGE_UNDONE, NULL);
    }
}

int engine_undo(struct engine *e, struct plan *plan, struct problem *err)
{
    if (apply_begin(e, plan, err) != 0)
        return -1;
    e->undoing = true;
    return 0;
}
