/* The plan: every change with its exact statements, before anything is written. Applying is
 * confirmed by a word. */
#include <string.h>

#include "core/clean.h"
#include "core/mem.h"
#include "ui/app.h"
#include "ui/list.h"
#include "ui/pager.h"

struct view_plan {
    struct view view;
    struct app *app;
    struct plan plan; /* its own: the operator's leaving out survives a redraw */
    uint64_t version;
    bool undo; /* what would be taken back, instead of what would be made */
    int step;  /* -1 = all */
    struct list list;
    struct pager pager; /* statements of the change at the cursor */
    size_t shown;       /* change the pager holds */
};

static struct view_plan *self(struct view *v)
{
    return (struct view_plan *)v;
}

static void draw_change(void *owner, size_t row, struct canvas *c, struct rect r, bool at_cursor)
{
    struct view_plan *v = owner;
    const struct change *ch = v->plan.changes[row];
    static const enum role roles[] = {
        [CHANGE_CREATE] = ROLE_ADD, [CHANGE_ALTER] = ROLE_CHANGE, [CHANGE_REMOVE] = ROLE_REMOVE};
    enum role text = ch->left_out ? ROLE_MUTED : at_cursor ? ROLE_FOCUS : ROLE_TEXT;
    canvas_putf(c, r, 0, 0, ROLE_LABEL, "%2zu", row + 1);
    canvas_put(c, r, 0, 3, ch->left_out ? ROLE_MUTED : roles[ch->action],
               ch->left_out ? "o" : change_action_mark(ch->action));
    int end = canvas_put_elided(c, rect_cols(r, 0, 36), 0, 5, text, ch->title);
    AUTO_TEXT detail = TEXT_INIT;
    text_add(&detail, ch->detail);
    if (ch->caution != NULL && ch->caution[0] != '\0')
        text_addf(&detail, "%s! %s", detail.len > 0 ? "  " : "", ch->caution);
    canvas_put_elided(c, rect_cols(r, end + 2 > 32 ? end + 2 : 32, -1), 0, 0,
                      ch->left_out ? ROLE_MUTED : ROLE_VALUE, ch->left_out ? "left out" : detail.s);
    if (at_cursor)
        canvas_cursor(c, r, 0, 0);
}

static const struct list_source source = {.draw = draw_change};

/* Made anew when the model changed, keeping what was left out. */
static void refresh(struct view_plan *v)
{
    struct plan next;
    if (v->version == wizard_version(v->app->wizard))
        return;
    if (v->undo)
        wizard_make_undo(v->app->wizard, v->step, &next);
    else
        wizard_make_plan(v->app->wizard, v->step, &next);
    for (size_t i = 0; i < next.count; i++) {
        const struct change *old = plan_find(&v->plan, next.changes[i]->id);
        next.changes[i]->left_out = old != NULL && old->left_out;
    }
    plan_release(&v->plan);
    v->plan = next;
    v->version = wizard_version(v->app->wizard);
    v->shown = LIST_NONE;
    list_set_count(&v->list, v->plan.count);
}

static void fill_pager(struct view_plan *v)
{
    size_t at = v->list.cursor;
    if (at == v->shown)
        return;
    AUTO_TEXT out = TEXT_INIT;
    if (at != LIST_NONE && at < v->plan.count) {
        const struct change *c = v->plan.changes[at];
        if (c->caution != NULL &&
            c->caution[0] != '\0') /* its line above may have been too short */
            text_addf(&out, "! %s\n", c->caution);
        if (c->reason != NULL && c->reason[0] != '\0')
            text_addf(&out, "-- %s\n", c->reason);
        text_add(&out, c->preview);
    }
    pager_set(&v->pager, out.s);
    v->shown = at;
}

/* What stands already first: it belongs to the list above, and the rest may be long. */
static int draw_notes(struct view_plan *v, struct rect r)
{
    struct canvas *c = &v->app->canvas;
    int at = 0;
    AUTO_TEXT right = TEXT_INIT;
    for (size_t i = 0; i < v->plan.right_count; i++) {
        text_sep(&right, ", ");
        text_add(&right, v->plan.right[i]);
    }
    if (right.len > 0 && at < r.rows) {
        canvas_put(c, r, at, 3, ROLE_PASS, "=");
        canvas_put_elided(c, rect_cols(r, 5, -1), at, 0, ROLE_MUTED, right.s);
        at++;
    }
    for (size_t i = 0; i < v->plan.missing_count && at < r.rows; i++)
        at += canvas_put_wrapped(c, rect_rows(r, at, -1), ROLE_WARN, v->plan.missing[i]);
    return at;
}

static void draw_plan(struct view *view, struct app *a, struct rect r)
{
    struct view_plan *v = self(view);
    refresh(v);
    if (v->plan.count == 0) {
        canvas_put(&a->canvas, r, 0, 0, ROLE_TITLE,
                   v->undo ? "Nothing to take back: nothing stands that was made here."
                   : engine_busy(a->engine)    ? "Looking at what stands…"
                   : v->plan.missing_count > 0 ? "Not known yet"
                                               : "Nothing to change: everything stands as wanted.");
        draw_notes(v, rect_rows(r, 2, -1));
        return;
    }
    canvas_putf(&a->canvas, r, 0, 0, ROLE_TITLE, "%zu change%s · nothing is %s yet", v->plan.count,
                v->plan.count == 1 ? "" : "s", v->undo ? "removed" : "written");
    int most = (r.rows - 3) / 2;
    int rows = (int)v->plan.count < most ? (int)v->plan.count : most;
    list_draw(&v->list, &a->canvas, rect_rows(r, 1, rows));
    int at = 1 + rows + draw_notes(v, rect_rows(r, 1 + rows, 3));
    canvas_hline(&a->canvas, r, at, ROLE_BORDER);
    if (v->list.below > 0)
        canvas_putf(&a->canvas, r, at, 3, ROLE_MUTED, " %zu more changes below these ",
                    v->list.below);
    fill_pager(v);
    pager_draw(&v->pager, &a->canvas, rect_cols(rect_rows(r, at + 1, -1), 1, -1));
}

static void apply_confirmed(struct app *a, void *ctx)
{
    struct view_plan *v = ctx;
    AUTO_PROBLEM p = PROBLEM_INIT;
    struct plan plan = v->plan;
    plan_init(&v->plan);
    v->version = 0;
    bool undo = v->undo;
    if ((undo ? engine_undo(a->engine, &plan, &p) : engine_apply(a->engine, &plan, true, &p)) !=
        0) {
        app_notice(a, ROLE_FAIL, "%s%s%s", p.what, p.fix != NULL ? ": " : "",
                   p.fix != NULL ? p.fix : "");
        plan_release(&plan);
        return;
    }
    app_pop(a); /* the plan: what became of it is the apply view's */
    app_push(a, view_apply_new(a));
}

static void ask(struct view_plan *v)
{
    struct app *a = v->app;
    size_t count = 0;
    AUTO_TEXT text = TEXT_INIT;
    if (app_read_only(a))
        return;
    for (size_t i = 0; i < v->plan.count; i++) {
        const struct change *c = v->plan.changes[i];
        if (c->left_out)
            continue;
        count++;
        if (c->caution != NULL && c->caution[0] != '\0')
            text_addf(&text, "! %s: %s\n", c->title, c->caution);
    }
    if (count == 0) {
        app_notice(a, ROLE_HINT, "every change is left out");
        return;
    }
    AUTO_TEXT all = TEXT_INIT;
    if (v->undo)
        text_addf(&all,
                  "%zu thing%s made here will be removed, newest first, each proved gone. What "
                  "stood there before stays.\n%s",
                  count, count == 1 ? "" : "s", text.s);
    else
        text_addf(&all,
                  "%zu change%s will be made, exactly as shown. What is there already is not made "
                  "twice; a failure stops "
                  "what depends on it.\n%s",
                  count, count == 1 ? "" : "s", text.s);
    app_push(a, view_confirm_new(a, v->undo ? "Undo" : "Apply", all.s, v->undo ? "undo" : "apply",
                                 apply_confirmed, v));
}

/* find proves by what stands now that a thing is gone. */
static void look_again(struct view_plan *v)
{
    refresh(v);
    for (size_t i = 0; i < v->plan.count; i++)
        app_want_step(v->app, rows_step(v->app->rows, v->plan.changes[i]->step), false, true);
}

static unsigned key_plan(struct view *view, struct app *a, const struct key *k)
{
    struct view_plan *v = self(view);
    size_t at = v->list.cursor;
    if (k->code == K_ESC) {
        app_pop(a);
    } else if (key_is(k, "a") || k->code == K_ENTER) {
        if (v->plan.count > 0)
            ask(v);
    } else if (key_is(k, " ") && at != LIST_NONE && at < v->plan.count) {
        v->plan.changes[at]->left_out = !v->plan.changes[at]->left_out;
    } else if (k->code == K_PGUP || k->code == K_PGDN) {
        return pager_key(&v->pager, k);
    } else if (k->code == K_CTRL_Y) {
        if (at != LIST_NONE && at < v->plan.count)
            app_copy(a, v->plan.changes[at]->preview);
    } else if (key_is(k, "u") && !engine_applying(a->engine)) {
        v->undo = !v->undo;
        v->version = 0;
        if (v->undo)
            look_again(v);
    } else if (k->code == K_F(2) || key_is(k, "p")) {
        return UI_HANDLED; /* it is open already */
    } else {
        return list_key(&v->list, k);
    }
    return UI_HANDLED;
}

static void free_plan(struct view *view)
{
    struct view_plan *v = self(view);
    list_release(&v->list);
    pager_release(&v->pager);
    plan_release(&v->plan);
    xfree(v);
}

static bool undoes(const struct view *v, const struct app *a)
{
    (void)a;
    return ((const struct view_plan *)v)->undo;
}

static bool makes(const struct view *v, const struct app *a)
{
    return !undoes(v, a);
}

static const struct key_row keys[] = {
    {"a", "apply…", "asks for the word, then carries the plan out (Enter)", makes},
    {"a", "undo…", "asks for the word, then takes the list back (Enter)", undoes},
    {"Space", "leave one out", "leaves out the change at the cursor, or takes it back in", NULL},
    {"PgDn", "scroll", "scrolls the statements", NULL},
    {"u", "undo list", "what was made here and can be taken back", makes},
    {"u", "plan", "back to what would be made", undoes},
    {"Ctrl-Y", NULL, "copies the statements", NULL},
    {"F1", "help", "this help (?)", NULL},
    {"Esc", "back", "back; nothing is written", NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct view_ops ops = {.name = "plan",
                                    .title = "Plan",
                                    .draw = draw_plan,
                                    .key = key_plan,
                                    .free = free_plan,
                                    .keys = keys};

struct view *view_plan_new(struct app *a, int step)
{
    struct view_plan *v = xcalloc(1, sizeof(*v));
    v->view.ops = &ops;
    v->app = a;
    v->step = step;
    v->shown = LIST_NONE;
    v->pager = PAGER_INIT;
    plan_init(&v->plan);
    list_init(&v->list, &source, v);
    if (step < 0) /* after a resume nothing but the step at hand was looked at */
        app_want_begun(a, false, false);
    refresh(v);
    return &v->view;
}

struct view *view_undo_new(struct app *a, int step)
{
    struct view *view = view_plan_new(a, step);
    struct view_plan *v = self(view);
    v->undo = true;
    v->version = 0;
    look_again(v);
    return view;
}
