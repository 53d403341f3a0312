/* One check in full: what was tried, what was found, why it matters, what to do, who does it. */
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "ui/app.h"
#include "ui/pager.h"

#define LABEL_COLS 11 /* "Fails when" */

struct view_check {
    struct view view;
    int check;
    struct pager pager;
    uint64_t version; /* of the wizard, when the text was made */
};

static struct view_check *self(struct view *v)
{
    return (struct view_check *)v;
}

static void add(struct text *out, const char *label, const char *body)
{
    if (body == NULL || body[0] == '\0')
        return;
    text_addf(out, "%s\t%s\n\n", label, body);
}

static void add_items(struct text *out, struct app *a, const struct outcome *o)
{
    for (size_t i = 0; i < o->item_count; i++) {
        const struct item *it = &o->items[i];
        text_addf(out, "%s\t%s %s%s%s%s%s\n", i == 0 ? "Items" : "",
                  theme_mark_glyph(app_mark(it->status, false, false), a->utf8), it->name,
                  it->line != NULL ? ": " : "", it->line != NULL ? it->line : "",
                  it->fix != NULL ? " → " : "", it->fix != NULL ? it->fix : "");
    }
    if (o->item_count > 0)
        text_addc(out, '\n');
}

static void add_waiting_ones(struct text *out, struct app *a, int check)
{
    AUTO_TEXT names = TEXT_INIT;
    for (size_t i = 0; i < a->rows->check_count; i++) {
        struct check_view v;
        wizard_check_view(a->wizard, (int)i, &v);
        if (v.status != STATUS_WAITING || strcmp(v.waits, a->rows->checks[check]->title) != 0)
            continue;
        text_sep(&names, ", ");
        text_add(&names, a->rows->checks[i]->title);
    }
    add(out, "Waiting", names.s);
}

static void add_outcome(struct text *out, struct app *a, const struct check_view *v)
{
    const struct outcome *o = v->outcome;
    add(out, "Tried", o->tried);
    add(out, "Got", o->line);
    add(out, "Why", o->why);
    add(out, "Do", o->fix);
    if (o->fix != NULL)
        add(out, "Who", problem_who_name(o->who));
    if (o->suggest_field != NULL)
        text_addf(out, "Take over\t%s = %s   (t takes it over)\n\n", o->suggest_field,
                  o->suggest_value);
    if (o->copy != NULL)
        text_addf(out, "Copy\t%s   (Ctrl-Y copies)\n\n", o->copy);
    add(out, "Read", o->link);
    add(out, "Code", o->code);
    add_items(out, a, o);
    add(out, "Evidence", o->evidence);
    AUTO(xfree) char *at = clock_iso(o->at);
    text_addf(out, "When\t%s, %lld ms\n\n", at, (long long)o->took_ms);
}

static void make_text(struct view_check *v, struct app *a)
{
    const struct check *c = a->rows->checks[v->check];
    struct check_view view;
    AUTO_TEXT out = TEXT_INIT;
    wizard_check_view(a->wizard, v->check, &view);
    add(&out, "Proves", c->title);
    if (view.waits[0] != '\0')
        add(&out, "Waits for", view.waits);
    if (view.stale)
        add(&out, "Note", "this result is of other answers, or old: F5 checks again");
    if (view.accepted != NULL)
        add(&out, "Accepted", view.accepted);
    if (view.outcome != NULL)
        add_outcome(&out, a, &view);
    add(&out, "Writes", c->touches);
    if (view.outcome == NULL || view.outcome->why == NULL) {
        add(&out, "Fails when", c->cause);
        add(&out, "Then", c->fix);
    }
    add_waiting_ones(&out, a, v->check);
    pager_set(&v->pager, out.s);
    v->version = wizard_version(a->wizard);
}

/* How long already at the right, what it does in the line below. */
static void draw_running(struct app *a, const struct check_view *state, struct rect r)
{
    AUTO_TEXT since = TEXT_INIT;
    AUTO_TEXT doing = TEXT_INIT;
    text_addf(&since, "running %lld s", (long long)((clock_ms() - state->running_since) / 1000));
    canvas_put_right(&a->canvas, r, 0, ROLE_WAIT, since.s);
    if (state->doing != NULL)
        text_add(&doing, state->doing);
    if (state->total > 0)
        text_addf(&doing, " %lld of %lld", (long long)state->done, (long long)state->total);
    canvas_put_elided(&a->canvas, r, 1, 2, ROLE_WAIT, doing.s);
}

/* The check it waits for, directly or not, that runs; -1 = none does. */
static int running_first(struct app *a, int check)
{
    struct check_view state = {0};
    while (check >= 0 && !state.running) {
        check = wizard_check_first(a->wizard, check);
        if (check >= 0)
            wizard_check_view(a->wizard, check, &state);
    }
    return check;
}

static void draw_running_first(struct app *a, int check, struct rect r)
{
    struct check_view state;
    int first = running_first(a, check);
    if (first < 0)
        return;
    wizard_check_view(a->wizard, first, &state);
    AUTO_TEXT line = TEXT_INIT;
    text_addf(&line, "first: %s", a->rows->checks[first]->title);
    if (state.doing != NULL)
        text_addf(&line, ", %s", state.doing);
    canvas_put_elided(&a->canvas, r, 1, 2, ROLE_WAIT, line.s);
}

static void draw_check(struct view *view, struct app *a, struct rect r)
{
    struct view_check *v = self(view);
    const struct check *c = a->rows->checks[v->check];
    struct check_view state;
    if (v->version != wizard_version(a->wizard))
        make_text(v, a);
    wizard_check_view(a->wizard, v->check, &state);
    app_put_mark(a, r, 0, 0, app_mark(state.status, state.stale, state.running));
    canvas_putf(&a->canvas, r, 0, 2, ROLE_TITLE, "%s · %s", c->id, severity_name(c->severity));
    if (state.running)
        draw_running(a, &state, r);
    else if (state.status == STATUS_WAITING)
        draw_running_first(a, v->check, r);
    pager_draw(&v->pager, &a->canvas, rect_rows(r, 2, -1));
}

static void take_over(struct view_check *v, struct app *a)
{
    struct check_view state;
    AUTO_PROBLEM p = PROBLEM_INIT;
    wizard_check_view(a->wizard, v->check, &state);
    if (state.outcome == NULL || state.outcome->suggest_field == NULL || app_read_only(a))
        return;
    AUTO(xfree) char *value = xstrdup(state.outcome->suggest_value);
    int field = rows_field(a->rows, state.outcome->suggest_field);
    wizard_set_text(a->wizard, field, value, ORIGIN_TYPED, &p);
    app_notice(a, ROLE_PASS, "%s is %s now", a->rows->fields[field]->label, value);
    app_want_step(a, a->step, false, false);
}

/* The next check of the same step. */
static void go(struct view_check *v, struct app *a, int delta)
{
    const struct step *s = rows_step_of(a->rows, a->rows->checks[v->check]->id);
    int to = v->check + delta;
    if (to < 0 || to >= (int)a->rows->check_count ||
        rows_step_of(a->rows, a->rows->checks[to]->id) != s)
        return;
    v->check = to;
    v->version = 0;
}

static unsigned key_check(struct view *view, struct app *a, const struct key *k)
{
    struct view_check *v = self(view);
    struct check_view state;
    wizard_check_view(a->wizard, v->check, &state);
    if (k->code == K_ESC || k->code == K_ENTER || k->code == K_LEFT) {
        app_pop(a);
    } else if (k->code == K_F(5) || key_is(k, "r") || key_is(k, " ")) {
        app_run_check(a, v->check);
    } else if (k->code == K_CTRL_Y) {
        if (state.outcome != NULL && state.outcome->copy != NULL)
            app_copy(a, state.outcome->copy);
    } else if (key_is(k, "t")) {
        take_over(v, a);
    } else if (k->code == K_TAB || k->code == K_BACKTAB) {
        go(v, a, k->code == K_TAB ? 1 : -1);
    } else {
        return pager_key(&v->pager, k);
    }
    return UI_HANDLED;
}

static void free_check(struct view *view)
{
    pager_release(&self(view)->pager);
    xfree(view);
}

static const struct key_row keys[] = {
    {"F5", "re-check", "runs this check again (r, Space)", NULL},
    {"Ctrl-Y", "copy", "copies its command", NULL},
    {"t", NULL, "takes over the answer that was found to work", NULL},
    {"Tab", "next", "the next check of this step", NULL},
    {"F1", "help", "this help (?)", NULL},
    {"Esc", "back", "back to the step", NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct view_ops ops = {.name = "check",
                                    .title = "Check",
                                    .draw = draw_check,
                                    .key = key_check,
                                    .free = free_check,
                                    .keys = keys};

struct view *view_check_new(struct app *a, int check)
{
    (void)a;
    struct view_check *v = xcalloc(1, sizeof(*v));
    v->view.ops = &ops;
    v->check = check;
    v->pager = PAGER_INIT;
    v->pager.label_cols = LABEL_COLS;
    return &v->view;
}
