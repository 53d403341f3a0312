/* The screen of a step: answers on top, proof below. Tab goes between the two. */
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "ui/form.h"
#include "ui/list.h"
#include "ui/wrap.h"

#define TITLE_COLS 27 /* of a check; more where there is room for whole titles */
#define TITLE_COLS_WIDE 38
#define FIX_ROWS 3 /* of what to do, beneath a failed line; all of it stands in its detail */

struct view_step {
    struct view view;
    struct app *app;
    struct form form;
    struct list checks;
    int *rows; /* the step's checks */
    size_t count;
    bool in_checks;
    bool placed; /* the cursor was put on the first thing to do */
};

static struct view_step *self(struct view *v)
{
    return (struct view_step *)v;
}

static const struct view_step *cself(const struct view *v)
{
    return (const struct view_step *)v;
}

static const struct step *step_of(const struct view_step *v)
{
    return v->app->rows->steps[v->app->step];
}

static int check_at_cursor(const struct view_step *v)
{
    return v->count > 0 && v->checks.cursor != LIST_NONE ? v->rows[v->checks.cursor] : -1;
}

/* --- check lines ------------------------------------------------------------------------------ */

static bool bad(enum status s)
{
    return s == STATUS_FAILED || s == STATUS_UNREACHABLE;
}

static void fix_text(const struct check_view *v, struct text *out)
{
    const struct outcome *o = v->outcome;
    if (o == NULL || o->fix == NULL || v->stale || v->running)
        return;
    if (bad(v->status) || v->status == STATUS_WARNED)
        text_addf(out, "→ %s: %s", problem_who_name(o->who), o->fix);
}

static int check_height(void *owner, size_t row, int cols)
{
    struct view_step *v = owner;
    struct check_view view;
    AUTO_TEXT fix = TEXT_INIT;
    wizard_check_view(v->app->wizard, v->rows[row], &view);
    if (!bad(view.status))
        return 1;
    fix_text(&view, &fix);
    int extra = wrap_height(fix.s, cols - 2);
    return 1 + (extra > FIX_ROWS ? FIX_ROWS : extra);
}

static void line_text(struct view_step *v, int check, const struct check_view *view,
                      struct text *out)
{
    const struct check *c = v->app->rows->checks[check];
    const struct outcome *o = view->outcome;
    if (view->running) {
        text_add(out, view->doing != NULL ? view->doing : "running");
        if (view->total > 0)
            text_addf(out, " %lld of %lld", (long long)view->done, (long long)view->total);
    } else if (view->status == STATUS_WAITING) {
        text_addf(out, "waits for: %s", view->waits);
    } else if (view->status == STATUS_ACCEPTED) {
        text_addf(out, "accepted: %s", view->accepted);
    } else if (view->stale) {
        text_add(out, "not checked yet with these answers");
    } else if (o != NULL) {
        text_add(out, o->line);
    } else if (c->effect == EFFECT_PROBES && !app_consented(v->app, check)) {
        text_add(out, "writes and removes something: Space allows it");
    } else if (c->effect == EFFECT_COSTS) {
        text_add(out, "never run; Space runs it once");
    }
}

static void time_text(const struct check_view *view, struct text *out)
{
    if (view->running)
        text_addf(out, "%lld s", (long long)((clock_ms() - view->running_since) / 1000));
    else if (view->outcome != NULL && !view->stale && view->status != STATUS_WAITING &&
             view->outcome->took_ms > 0)
        text_addf(out, "%lld ms", (long long)view->outcome->took_ms);
}

static void check_draw(void *owner, size_t row, struct canvas *c, struct rect r, bool at_cursor)
{
    struct view_step *v = owner;
    struct app *a = v->app;
    int check = v->rows[row];
    struct check_view view;
    AUTO_TEXT line = TEXT_INIT;
    AUTO_TEXT time = TEXT_INIT;
    AUTO_TEXT fix = TEXT_INIT;
    wizard_check_view(a->wizard, check, &view);
    bool here = at_cursor && v->in_checks;
    app_put_mark(a, r, 0, 0, app_mark(view.status, view.stale, view.running));
    int title = r.cols >= 90 ? TITLE_COLS_WIDE : TITLE_COLS;
    canvas_put_elided(c, rect_cols(r, 2, title), 0, 0, here ? ROLE_FOCUS : ROLE_TEXT,
                      a->rows->checks[check]->title);
    line_text(v, check, &view, &line);
    time_text(&view, &time);
    struct rect rest = rect_cols(r, title + 3, -1);
    int end = rest.cols;
    if (time.len > 0)
        end = canvas_put_right(c, rest, 0, ROLE_MUTED, time.s) - 1;
    canvas_put_elided(c, rect_cols(rest, 0, end), 0, 0,
                      bad(view.status) && !view.stale ? ROLE_FAIL : ROLE_VALUE, line.s);
    fix_text(&view, &fix);
    if (bad(view.status))
        canvas_put_wrapped(c, rect_cols(rect_rows(r, 1, -1), 2, -1), ROLE_HINT, fix.s);
    if (here)
        canvas_cursor(c, r, 0, 0);
}

static const struct list_source check_source = {.draw = check_draw, .height = check_height};

/* The eye lands on the first thing to do, until the operator moves. */
static void place_cursor(struct view_step *v)
{
    for (size_t i = 0; i < v->count && !v->placed && !v->in_checks; i++) {
        struct check_view view;
        wizard_check_view(v->app->wizard, v->rows[i], &view);
        if (bad(view.status) && !view.stale) {
            list_select(&v->checks, i);
            return;
        }
    }
}

static void draw_heading(struct view_step *v, struct rect r)
{
    struct step_view s;
    AUTO_TEXT right = TEXT_INIT;
    wizard_step_view(v->app->wizard, v->app->step, &s);
    text_addf(&right, "%d of %d", s.passed + s.warned, s.total);
    if (s.running_count > 0)
        text_addf(&right, " · %d running", s.running_count);
    if (s.failed > 0)
        text_addf(&right, " · %d need%s someone", s.failed, s.failed == 1 ? "s" : "");
    if (s.changes > 0)
        text_addf(&right, " · %d planned: F2", s.changes);
    int col =
        canvas_put(&v->app->canvas, r, 0, 0, v->in_checks ? ROLE_FOCUS : ROLE_TITLE, "Checks");
    if (v->checks.below > 0)
        canvas_putf(&v->app->canvas, r, 0, col + 2, ROLE_MUTED, "%zu more below", v->checks.below);
    canvas_put_right(&v->app->canvas, r, 0, ROLE_MUTED, right.s);
}

/* --- pages without rows ----------------------------------------------------------------------- */

static void draw_page(struct view_step *v, struct rect r)
{
    const struct step *s = step_of(v);
    struct canvas *c = &v->app->canvas;
    int at = canvas_put_wrapped(c, r, ROLE_TITLE, s->title) + 1;
    if (s->intro != NULL)
        at += canvas_put_wrapped(c, rect_rows(r, at, -1), ROLE_TEXT, s->intro) + 1;
    AUTO_TEXT all = TEXT_INIT;
    for (size_t i = 0; s->later != NULL && s->later[i] != NULL; i++) {
        text_sep(&all, s->later[i][0] == ' ' ? "\n" : " ");
        text_add(&all, s->later[i]);
    }
    at += canvas_put_wrapped(c, rect_rows(r, at, -1), ROLE_HINT, all.s) + 1;
    if (s->needs != NULL)
        canvas_put_wrapped(c, rect_rows(r, at, -1), ROLE_TEXT, s->needs);
}

/* What every step will need, on the first screen. */
static int draw_needs(struct view_step *v, struct rect r)
{
    int at = 1;
    canvas_put(&v->app->canvas, r, 0, 0, ROLE_TITLE, "You will need");
    for (size_t i = 0; i < v->app->rows->step_count && at < r.rows; i++) {
        const struct step *s = v->app->rows->steps[i];
        if (s->needs == NULL)
            continue;
        canvas_put(&v->app->canvas, r, at, 1, ROLE_LABEL, s->number);
        canvas_put_elided(&v->app->canvas, rect_cols(r, 5, -1), at++, 0, ROLE_TEXT, s->needs);
    }
    return at;
}

/* --- view ------------------------------------------------------------------------------------- */

static void draw_step(struct view *view, struct app *a, struct rect r)
{
    struct view_step *v = self(view);
    const struct step *s = step_of(v);
    if (s->later != NULL || s->fields == NULL) {
        draw_page(v, r);
        return;
    }
    bool typing = !v->in_checks && a->top == view;
    int want = form_height(&v->form, a, typing, r.cols);
    int hint_rows = r.rows >= 14 ? 2 : 1;
    int most = r.rows - hint_rows - (v->count > 0 ? 5 : 1);
    if (v->in_checks && most > 3 && want > most / 2)
        want = most / 2; /* the proof has the focus: it gets the room */
    if (want > most)
        want = most;
    if (want < 1)
        want = 1;
    form_draw(&v->form, a, rect_rows(r, 0, want), typing);
    int at = want;
    if (!v->in_checks)
        form_draw_hint(&v->form, a, rect_rows(r, at, hint_rows));
    at += hint_rows;
    if (a->step == 0 && r.rows - at > (int)v->count + 7) {
        at += draw_needs(v, rect_rows(r, at, r.rows - at - (int)v->count - 2));
        at++;
    }
    if (v->count == 0)
        return;
    place_cursor(v);
    list_draw(&v->checks, &a->canvas, rect_rows(r, at + 1, -1));
    draw_heading(v, rect_rows(r, at, 1));
}

static void next_step(struct view_step *v)
{
    struct app *a = v->app;
    app_want_step(a, a->step, true, false);
    if (a->step + 1 < (int)a->rows->step_count)
        app_go(a, a->step + 1); /* v is gone now */
}

static unsigned back(struct view_step *v)
{
    struct app *a = v->app;
    form_commit(&v->form, a);
    if (v->in_checks) {
        v->in_checks = false;
        return UI_HANDLED;
    }
    if (a->top != &v->view)
        return UI_HANDLED; /* committing asked for something first */
    if (a->step > 0)
        app_go(a, a->step - 1);
    else
        app_notice(a, ROLE_HINT, "this is the first screen; F10 leaves, everything is saved");
    return UI_HANDLED;
}

static unsigned take_over(struct view_step *v, const struct outcome *o)
{
    struct app *a = v->app;
    AUTO_PROBLEM p = PROBLEM_INIT;
    int field = rows_field(a->rows, o->suggest_field);
    if (field < 0 || app_read_only(a))
        return UI_HANDLED;
    AUTO(xfree) char *value = xstrdup(o->suggest_value);
    if (wizard_set_text(a->wizard, field, value, ORIGIN_TYPED, &p) != 0)
        app_notice(a, ROLE_FAIL, "%s", p.what);
    else
        app_notice(a, ROLE_PASS, "%s is %s now", a->rows->fields[field]->label, value);
    app_want_step(a, a->step, false, false);
    return UI_HANDLED;
}

static bool has_suggestion(const struct view_step *v)
{
    struct check_view view;
    int check = check_at_cursor(v);
    if (check < 0 || !v->in_checks)
        return false;
    wizard_check_view(v->app->wizard, check, &view);
    return view.outcome != NULL && view.outcome->suggest_field != NULL && !view.stale;
}

static unsigned key_in_checks(struct view_step *v, const struct key *k)
{
    int check = check_at_cursor(v);
    unsigned r = list_key(&v->checks, k);
    if (r != UI_IGNORED) {
        v->placed = true;
        return r;
    }
    if (check < 0)
        return UI_IGNORED;
    struct check_view view;
    wizard_check_view(v->app->wizard, check, &view);
    if (k->code == K_ENTER && has_suggestion(v))
        return take_over(v, view.outcome);
    if (k->code == K_ENTER || k->code == K_RIGHT) {
        app_push(v->app, view_check_new(v->app, check));
        return UI_HANDLED;
    }
    if (key_is(k, " ")) {
        app_run_check(v->app, check);
        return UI_HANDLED;
    }
    if (key_is(k, "n")) {
        next_step(v);
        return UI_HANDLED;
    }
    if (k->code == K_CTRL_Y && view.outcome != NULL && view.outcome->copy != NULL) {
        app_copy(v->app, view.outcome->copy);
        return UI_HANDLED;
    }
    return UI_IGNORED;
}

static unsigned key_in_form(struct view_step *v, const struct key *k)
{
    struct app *a = v->app;
    switch (form_key(&v->form, a, k)) {
    case FORM_USED:
        return UI_HANDLED;
    case FORM_PAST_END:
        if (a->top == &v->view)
            next_step(v);
        return UI_HANDLED;
    case FORM_IGNORED:
    case FORM_PAST_START:
        break;
    }
    if (k->code == K_F1) {
        app_push(a, view_help_new(a, &v->view, form_field(&v->form)));
        return UI_HANDLED;
    }
    return UI_IGNORED;
}

static unsigned key_step(struct view *view, struct app *a, const struct key *k)
{
    struct view_step *v = self(view);
    if (k->code == K_ESC)
        return back(v);
    if (k->code == K_TAB || k->code == K_BACKTAB) {
        form_commit(&v->form, a);
        v->in_checks = !v->in_checks && v->count > 0;
        return UI_HANDLED;
    }
    if (step_of(v)->fields == NULL) {
        if (k->code == K_ENTER)
            next_step(v);
        return k->code == K_ENTER ? UI_HANDLED : UI_IGNORED;
    }
    if (k->code == K_F(2) || k->code == K_F(5) || k->code == K_F(10))
        form_commit(&v->form, a);
    return v->in_checks ? key_in_checks(v, k) : key_in_form(v, k);
}

static void free_step(struct view *view)
{
    struct view_step *v = self(view);
    form_commit(&v->form, v->app);
    form_release(&v->form);
    list_release(&v->checks);
    xfree(v->rows);
    xfree(v);
}

static bool in_form(const struct view *v, const struct app *a)
{
    (void)a;
    return !cself(v)->in_checks;
}

/* The field in focus, or NULL: it is on the fold, or in the checks. */
static const struct field *focused(const struct view *v, const struct app *a)
{
    int field = form_field(&cself(v)->form);
    return !cself(v)->in_checks && field >= 0 ? a->rows->fields[field] : NULL;
}

static bool on_list(const struct view *v, const struct app *a)
{
    const struct field *f = focused(v, a);
    return f != NULL && f->pick != NULL;
}

static bool on_options(const struct view *v, const struct app *a)
{
    const struct field *f = focused(v, a);
    return f != NULL && (f->kind == FIELD_CHOICE || f->kind == FIELD_SWITCH);
}

static bool on_fold(const struct view *v, const struct app *a)
{
    const struct form *f = &cself(v)->form;
    (void)a;
    return !cself(v)->in_checks && f->count > 0 && form_field(f) < 0 && !f->unfolded;
}

static bool on_other(const struct view *v, const struct app *a)
{
    return in_form(v, a) && !on_list(v, a) && !on_fold(v, a);
}

static bool has_checks(const struct view *v, const struct app *a)
{
    (void)a;
    return !cself(v)->in_checks && cself(v)->count > 0;
}

static bool in_checks(const struct view *v, const struct app *a)
{
    (void)a;
    return cself(v)->in_checks;
}

static bool can_take_over(const struct view *v, const struct app *a)
{
    (void)a;
    return has_suggestion(cself(v));
}

static bool can_open(const struct view *v, const struct app *a)
{
    (void)a;
    return cself(v)->in_checks && !has_suggestion(cself(v));
}

static const struct key_row keys[] = {
    {"Enter", "next", "to the next field; on the last one to the next step", on_other},
    {"Enter", "choose…", "opens the list; Enter there leads to the next field", on_list},
    {"Enter", "show them", "shows the fields that are seldom needed", on_fold},
    {"Space", "choose", "chooses the option; so does its number, or arrows and Enter", on_options},
    {"Enter", "take over", "takes over the answer that was found to work", can_take_over},
    {"Enter", "open", "the check in full: tried, got, why, what to do, who", can_open},
    {"→", NULL, "the check in full, also where Enter takes over", in_checks},
    {"Space", "run", "runs this check; allows a probe that writes and removes something",
     in_checks},
    {"Tab", "checks", "between the answers and their checks", has_checks},
    {"Tab", "form", "between the answers and their checks", in_checks},
    {"n", NULL, "to the next step", in_checks},
    {"F2", "plan", "what would be made, before anything is (p)", NULL},
    {"F5", "re-check", "all checks of this step again (r)", NULL},
    {"F6", NULL, "the log (l)", NULL},
    {"Ctrl-Y", NULL, "copies the command of a check", in_checks},
    {"F1", "help", "this help (?)", NULL},
    {"F10", "quit", "leaves; everything is saved (q)", NULL},
    {"Esc", "back", "to the step before; nothing is lost", NULL},
    {"Ctrl-C", NULL, "cancels what runs; twice leaves", NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct view_ops ops = {
    .name = "step", .draw = draw_step, .key = key_step, .free = free_step, .keys = keys};

struct view *view_step_new(struct app *a)
{
    struct view_step *v = xcalloc(1, sizeof(*v));
    const struct step *s = a->rows->steps[a->step];
    v->view.ops = &ops;
    v->app = a;
    v->rows = xcalloc(a->rows->check_count + 1, sizeof(int));
    for (size_t i = 0; i < a->rows->check_count; i++)
        if (rows_step_of(a->rows, a->rows->checks[i]->id) == s)
            v->rows[v->count++] = (int)i;
    form_init(&v->form, s);
    list_init(&v->checks, &check_source, v);
    list_set_count(&v->checks, v->count);
    return &v->view;
}
