/* Plans and their changes; see change.h. Texts pass the gate of core/shown.h: a preview is shown,
 * logged and handed over. */
#include "core/change.h"

#include <string.h>

#include "core/bug.h"
#include "core/mem.h"
#include "core/shown.h"

static const struct {
    const char *name;
    const char *mark;
} actions[] = {
    [CHANGE_CREATE] = {"create", "+"},
    [CHANGE_ALTER] = {"alter", "~"},
    [CHANGE_REMOVE] = {"remove", "-"},
};

const char *change_action_name(enum change_action a)
{
    return actions[(unsigned)a < ARRAY_LEN(actions) ? a : CHANGE_ALTER].name;
}

const char *change_action_mark(enum change_action a)
{
    return actions[(unsigned)a < ARRAY_LEN(actions) ? a : CHANGE_ALTER].mark;
}

void plan_init(struct plan *p)
{
    *p = (struct plan){0};
}

static void change_free(struct change *c)
{
    char *const texts[] = {c->id,      c->title,   c->detail,   c->reason,
                           c->preview, c->caution, c->past_saw, c->past_made};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        xfree(texts[i]);
    for (size_t i = 0; i < c->after_count; i++)
        xfree(c->after[i]);
    xfree(c->after);
    node_free(c->args);
    xfree(c);
}

static void lines_release(char **lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        xfree(lines[i]);
    xfree(lines);
}

void plan_release(struct plan *p)
{
    for (size_t i = 0; i < p->count; i++)
        change_free(p->changes[i]);
    xfree(p->changes);
    lines_release(p->right, p->right_count);
    lines_release(p->missing, p->missing_count);
    plan_init(p);
}

struct change *plan_add(struct plan *p, const struct change_kind *kind, const char *step,
                        const char *id, enum change_action action, struct node *args)
{
    if (plan_find(p, id) != NULL)
        bug("the plan has two changes %s", id);
    struct change *c = xcalloc(1, sizeof *c);
    c->kind = kind;
    c->id = xstrdup(id);
    c->step = step;
    c->action = action;
    c->title = xstrdup(kind->label != NULL ? kind->label : id);
    c->detail = xstrdup("");
    c->reason = xstrdup("");
    c->preview = xstrdup("");
    c->args = args;
    p->changes = xrealloc(p->changes, p->count + 1, sizeof(struct change *));
    p->changes[p->count++] = c;
    return c;
}

void change_after(struct change *c, const char *id)
{
    for (size_t i = 0; i < c->after_count; i++) {
        if (strcmp(c->after[i], id) == 0)
            return;
    }
    c->after = xrealloc(c->after, c->after_count + 1, sizeof *c->after);
    c->after[c->after_count++] = xstrdup(id);
}

void change_text(char **slot, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = shown_format(CLEAN_LINES, fmt, ap);
    va_end(ap);
    xfree(*slot);
    *slot = s;
}

static void add_line(char ***lines, size_t *count, char *line)
{
    *lines = xrealloc(*lines, *count + 1, sizeof **lines);
    (*lines)[(*count)++] = line;
}

void plan_right(struct plan *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add_line(&p->right, &p->right_count, shown_format(CLEAN_LINE, fmt, ap));
    va_end(ap);
}

void plan_missing(struct plan *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add_line(&p->missing, &p->missing_count, shown_format(CLEAN_LINE, fmt, ap));
    va_end(ap);
}

const struct change *plan_find(const struct plan *p, const char *id)
{
    for (size_t i = 0; i < p->count; i++) {
        if (strcmp(p->changes[i]->id, id) == 0)
            return p->changes[i];
    }
    return NULL;
}
