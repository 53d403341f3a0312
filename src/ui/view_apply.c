/* What apply does while it does it: each change with its state, what it waits for, and what became
 * of it. */
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "ui/app.h"
#include "ui/list.h"
#include "ui/wrap.h"

struct view_apply {
    struct view view;
    struct app *app;
    struct list list;
};

static struct view_apply *self(struct view *v)
{
    return (struct view_apply *)v;
}

static enum mark mark_of(enum change_status s)
{
    static const enum mark marks[] = {
        [CHANGE_WAITING] = MARK_PENDING, [CHANGE_RUNNING] = MARK_RUNNING,
        [CHANGE_MADE] = MARK_PASSED,     [CHANGE_FOUND] = MARK_PASSED,
        [CHANGE_FAILED] = MARK_FAILED,   [CHANGE_BLOCKED] = MARK_SKIPPED,
        [CHANGE_STOPPED] = MARK_SKIPPED, [CHANGE_UNDONE] = MARK_PASSED,
    };
    return marks[s];
}

static void detail_text(const struct change_view *v, struct text *out)
{
    if (v->problem != NULL && v->status == CHANGE_FAILED) {
        text_add(out, v->problem->what);
        if (v->problem->why != NULL)
            text_addf(out, "\n%s", v->problem->why);
        if (v->problem->fix != NULL)
            text_addf(out, "\n→ %s: %s", problem_who_name(v->problem->who), v->problem->fix);
    } else if (v->doing != NULL) {
        text_add(out, v->doing);
    }
}

static int change_height(void *owner, size_t row, int cols)
{
    struct view_apply *v = owner;
    struct change_view view;
    AUTO_TEXT detail = TEXT_INIT;
    engine_change_view(v->app->engine, row, &view);
    detail_text(&view, &detail);
    return 1 + wrap_height(detail.s, cols - 4);
}

static void draw_change(void *owner, size_t row, struct canvas *c, struct rect r, bool at_cursor)
{
    struct view_apply *v = owner;
    struct change_view view;
    const struct change *ch = engine_applied_plan(v->app->engine)->changes[row];
    AUTO_TEXT detail = TEXT_INIT;
    AUTO_TEXT right = TEXT_INIT;
    engine_change_view(v->app->engine, row, &view);
    app_put_mark(v->app, r, 0, 0, mark_of(view.status));
    if (view.status == CHANGE_RUNNING)
        text_addf(&right, "%lld s", (long long)((clock_ms() - view.since) / 1000));
    else if (view.status == CHANGE_FOUND)
        text_add(&right, "already there");
    else if (view.status != CHANGE_WAITING)
        text_addf(&right, "%s  %lld ms", change_status_name(view.status), (long long)view.took_ms);
    int end = canvas_put_right(c, r, 0, ROLE_MUTED, right.s);
    canvas_put_elided(c, rect_cols(r, 2, end - 3), 0, 0, at_cursor ? ROLE_FOCUS : ROLE_TEXT,
                      ch->title);
    detail_text(&view, &detail);
    canvas_put_wrapped(c, rect_cols(rect_rows(r, 1, -1), 4, -1),
                       view.status == CHANGE_FAILED ? ROLE_FAIL : ROLE_WAIT, detail.s);
}

static const struct list_source source = {.draw = draw_change, .height = change_height};

static size_t count_done(const struct app *a, size_t *failed)
{
    const struct plan *p = engine_applied_plan(a->engine);
    size_t done = 0;
    *failed = 0;
    for (size_t i = 0; p != NULL && i < p->count; i++) {
        struct change_view v;
        engine_change_view(a->engine, i, &v);
        done += v.status == CHANGE_MADE || v.status == CHANGE_FOUND || v.status == CHANGE_UNDONE;
        *failed += v.status == CHANGE_FAILED;
    }
    return done;
}

static void draw_apply(struct view *view, struct app *a, struct rect r)
{
    struct view_apply *v = self(view);
    const struct plan *p = engine_applied_plan(a->engine);
    size_t failed;
    size_t done = count_done(a, &failed);
    size_t all = p != NULL ? p->count : 0;
    canvas_putf(&a->canvas, r, 0, 0, ROLE_TITLE, "%zu of %zu done", done, all);
    if (failed > 0)
        canvas_putf(&a->canvas, r, 0, 20, ROLE_FAIL, "%zu failed", failed);
    if (!engine_applying(a->engine))
        canvas_put_right(&a->canvas, r, 0, failed > 0 ? ROLE_FAIL : ROLE_PASS,
                         failed > 0 ? "finished; Esc, then F2 plans what is left"
                                    : "finished; Enter goes on");
    list_draw(&v->list, &a->canvas, rect_rows(r, 2, -1));
}

static unsigned key_apply(struct view *view, struct app *a, const struct key *k)
{
    if (k->code == K_ESC || k->code == K_ENTER) {
        app_pop(a);
        if (engine_applying(a->engine))
            app_notice(a, ROLE_HINT,
                       "goes on in the background; Ctrl-C stops it after the present change");
        return UI_HANDLED;
    }
    return list_key(&self(view)->list, k);
}

static void free_apply(struct view *view)
{
    list_release(&self(view)->list);
    xfree(view);
}

static bool goes_on(const struct view *v, const struct app *a)
{
    (void)v;
    return engine_applying(a->engine);
}

static const struct key_row keys[] = {
    {"Enter", "back to the step", "back to the step; a running apply goes on", NULL},
    {"Ctrl-C", "stop after this one", "stops before the next change, never inside one", goes_on},
    {"F6", "log", "the log (l)", NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct view_ops ops = {.name = "apply",
                                    .title = "Apply",
                                    .draw = draw_apply,
                                    .key = key_apply,
                                    .free = free_apply,
                                    .keys = keys};

struct view *view_apply_new(struct app *a)
{
    struct view_apply *v = xcalloc(1, sizeof(*v));
    const struct plan *p = engine_applied_plan(a->engine);
    v->view.ops = &ops;
    v->app = a;
    list_init(&v->list, &source, v);
    list_set_count(&v->list, p != NULL ? p->count : 0);
    return &v->view;
}
