/* The journal of changes in the model: one entry a change, which a new intent takes up again. */
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/wizard_parts.h"

const char *journal_status_name(enum journal_status s)
{
    static const char *const names[] = {
        [JOURNAL_INTENDED] = "intended",
        [JOURNAL_MADE] = "made",
        [JOURNAL_READY] = "ready",
        [JOURNAL_UNDONE] = "undone",
    };
    return names[s];
}

size_t wizard_journal(const struct wizard *w, const struct journal_entry **entries)
{
    *entries = w->journal;
    return w->journal_count;
}

static struct journal_entry *add_entry(struct wizard *w)
{
    w->journal = xrealloc(w->journal, w->journal_count + 1, sizeof(*w->journal));
    struct journal_entry *e = &w->journal[w->journal_count++];
    memset(e, 0, sizeof(*e));
    w->version++;
    return e;
}

struct journal_entry *wizard_journal_find(struct wizard *w, const char *change)
{
    for (size_t i = w->journal_count; i-- > 0;)
        if (strcmp(w->journal[i].change, change) == 0)
            return &w->journal[i];
    return NULL;
}

struct journal_entry *wizard_journal_entry(struct wizard *w, const struct change *c)
{
    struct journal_entry *e = wizard_journal_find(w, c->id);
    if (e != NULL)
        return e;
    e = add_entry(w);
    e->change = xstrdup(c->id);
    e->step = xstrdup(c->step);
    e->kind = xstrdup(c->kind->id);
    e->title = xstrdup(c->title);
    e->status = JOURNAL_INTENDED;
    e->at = clock_wall();
    e->args = node_copy(c->args);
    return e;
}

void wizard_journal_restore(struct wizard *w, struct journal_entry e)
{
    *add_entry(w) = e;
}
