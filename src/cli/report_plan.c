/* A plan, or what became of it, as people read it. */
#include <string.h>

#include "cli/report.h"
#include "core/mem.h"
#include "ui/theme.h"

static void add(struct text *out, struct paint p, const char *s)
{
    if (p.utf8)
        text_add(out, s != NULL ? s : "");
    else
        theme_add_ascii(out, s != NULL ? s : "");
}

static enum status as_status(enum change_status s)
{
    switch (s) {
    case CHANGE_MADE:
    case CHANGE_FOUND:
    case CHANGE_UNDONE:
        return STATUS_PASSED;
    case CHANGE_FAILED:
        return STATUS_FAILED;
    case CHANGE_STOPPED:
    case CHANGE_BLOCKED:
        return STATUS_SKIPPED;
    default:
        return STATUS_WAITING;
    }
}

static void add_lines(struct text *out, struct paint p, const char *indent, const char *s)
{
    for (const char *at = s; at != NULL && *at != '\0';) {
        size_t n = strcspn(at, "\n");
        AUTO(xfree) char *line = xstrndup(at, n);
        text_add(out, indent);
        add(out, p, line);
        text_addc(out, '\n');
        at += n + (at[n] == '\n');
    }
}

static void add_result(struct text *out, struct paint p, const struct change *c,
                       const struct change_view *v)
{
    text_add(out, "  ");
    paint_mark(out, p, as_status(v->status), false);
    AUTO(xfree)
    char *line =
        xasprintf(" %s · %s", c->title,
                  v->status == CHANGE_FOUND ? "already there" : change_status_name(v->status));
    add(out, p, line);
    text_addf(out, "  (%lld ms)\n", (long long)v->took_ms);
    if (v->problem == NULL)
        return;
    add_lines(out, p, "      ", v->problem->what);
    add_lines(out, p, "      why: ", v->problem->why);
    if (v->problem->fix != NULL) {
        AUTO(xfree) char *who = xasprintf("      %s: ", problem_who_name(v->problem->who));
        add_lines(out, p, who, v->problem->fix);
    }
}

static void add_change(struct text *out, struct paint p, const struct change *c)
{
    AUTO(xfree)
    char *head = xasprintf("  %s %s%s%s", change_action_mark(c->action), c->title,
                           c->detail != NULL ? "  " : "", c->detail != NULL ? c->detail : "");
    add(out, p, head);
    text_addc(out, '\n');
    if (c->caution != NULL)
        add_lines(out, p, "      ! ", c->caution);
    if (c->reason != NULL)
        add_lines(out, p, "      -- ", c->reason);
    add_lines(out, p, "      ", c->preview);
}

void report_plan_text(const struct plan *plan, const struct engine *engine, struct paint p,
                      struct text *out)
{
    const char *step = NULL;
    for (size_t i = 0; i < plan->count; i++) {
        const struct change *c = plan->changes[i];
        if (step == NULL || strcmp(step, c->step) != 0) {
            size_t count = 0; /* of this run: an undo may come back to a step */
            while (i + count < plan->count && strcmp(plan->changes[i + count]->step, c->step) == 0)
                count++;
            text_addf(out, "%s: %zu change%s\n", c->step, count, count == 1 ? "" : "s");
        }
        step = c->step;
        if (engine != NULL) {
            struct change_view v;
            engine_change_view(engine, i, &v);
            add_result(out, p, c, &v);
        } else {
            add_change(out, p, c);
        }
    }
    for (size_t i = 0; engine == NULL && i < plan->right_count; i++)
        add_lines(out, p, "  = ", plan->right[i]);
    for (size_t i = 0; i < plan->missing_count; i++)
        add_lines(out, p, "  ? ", plan->missing[i]);
}
