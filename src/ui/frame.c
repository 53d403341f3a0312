/* The frame. See frame.h. From 100 columns the step list stands at the side; below it is one line.
 */
#include "ui/frame.h"

#include <string.h>
#include <time.h>

#include "core/mem.h"
#include "core/utf8.h"

#define SIDE_COLS 24
#define WIDE_COLS 100
#define NARROW_COLS 60

static const struct step *step_at(const struct app *a, size_t i)
{
    return a->rows->steps[i];
}

static enum mark step_mark(struct app *a, size_t i)
{
    struct step_view v;
    if ((int)i == a->step)
        return MARK_CURRENT;
    wizard_step_view(a->wizard, (int)i, &v);
    if (v.later)
        return MARK_PENDING;
    return app_mark(v.status, v.stale && v.status == STATUS_PASSED, v.running);
}

static void saved_text(struct app *a, struct text *out)
{
    if (state_holder(a->state) != NULL) {
        text_add(out, "read-only");
        return;
    }
    if (state_save_problem(a->state) != NULL) {
        text_add(out, "NOT SAVED");
        return;
    }
    int64_t at = state_saved_at(a->state);
    time_t t = (time_t)at;
    struct tm tm;
    if (at == 0 || localtime_r(&t, &tm) == NULL)
        text_add(out, state_is_new(a->state) ? "not saved yet" : "saved");
    else
        text_addf(out, "saved %02d:%02d", tm.tm_hour, tm.tm_min);
}

static void draw_header(struct app *a, struct rect r)
{
    const struct step *s = step_at(a, (size_t)a->step);
    struct snapshot *snap = wizard_snapshot(a->wizard);
    const char *name = snap_text(snap, "start.name");
    AUTO_TEXT right = TEXT_INIT;
    AUTO_TEXT saved = TEXT_INIT;
    const char *title = a->top != NULL && !a->top->ops->popup ? a->top->ops->title : NULL;
    saved_text(a, &saved);
    /* narrow: the short name; where one is and whether it is saved must stay readable */
    text_addf(&right, "%s%s%s%s%s · %s", s->number, s->number[0] != '\0' ? " " : "",
              r.cols < NARROW_COLS ? s->name : s->title, title != NULL ? " · " : "",
              title != NULL ? title : "", saved.s);
    int col = canvas_put(&a->canvas, r, 0, 0, ROLE_TITLE, "sluice · ");
    struct rect rest = rect_cols(r, col, -1);
    int used = canvas_put_right(
        &a->canvas, rest, 0,
        state_save_problem(a->state) != NULL || state_holder(a->state) != NULL ? ROLE_BANNER
                                                                               : ROLE_LABEL,
        right.s);
    if (used > 1)
        canvas_put_elided(&a->canvas, rect_cols(rest, 0, used - 1), 0, 0, ROLE_TITLE,
                          name[0] != '\0' ? name : "new");
    snapshot_unref(snap);
}

static int width_of(const struct step *s, bool named)
{
    int n = 1 + utf8_columns(s->number);
    if (named || s->number[0] == '\0')
        n += (s->number[0] != '\0') + utf8_columns(s->name);
    return n + 1;
}

/* Names are dropped from the steps farthest from the one on the screen until the line fits. */
static void draw_step_line(struct app *a, struct rect r)
{
    size_t count = a->rows->step_count;
    bool *named = xcalloc(count, sizeof(bool));
    int need = 0;
    for (size_t i = 0; i < count; i++) {
        named[i] = true;
        need += width_of(step_at(a, i), true);
    }
    for (size_t distance = count; need > r.cols && distance > 0; distance--)
        for (size_t i = 0; i < count && need > r.cols; i++) {
            size_t d = i > (size_t)a->step ? i - (size_t)a->step : (size_t)a->step - i;
            if (d != distance || !named[i] || step_at(a, i)->number[0] == '\0')
                continue;
            named[i] = false;
            need -= width_of(step_at(a, i), true) - width_of(step_at(a, i), false);
        }
    int col = 0;
    for (size_t i = 0; i < count; i++) {
        const struct step *s = step_at(a, i);
        enum role role = (int)i == a->step ? ROLE_FOCUS : ROLE_LABEL;
        app_put_mark(a, r, 0, col, step_mark(a, i));
        col = canvas_put(&a->canvas, r, 0, col + 1, role, s->number);
        if (named[i]) {
            if (s->number[0] != '\0')
                col = canvas_put(&a->canvas, r, 0, col, role, " ");
            col = canvas_put(&a->canvas, r, 0, col, role, s->name);
        }
        col++;
    }
    xfree(named);
}

static void draw_side(struct app *a, struct rect r)
{
    for (size_t i = 0; i < a->rows->step_count; i++) {
        const struct step *s = step_at(a, i);
        enum role role = (int)i == a->step ? ROLE_FOCUS : ROLE_LABEL;
        app_put_mark(a, r, (int)i, 1, step_mark(a, i));
        canvas_put(&a->canvas, r, (int)i, 3, role, s->number);
        canvas_put_elided(&a->canvas, rect_cols(r, 6, -1), (int)i, 0, role, s->name);
    }
}

static void add_keys(struct app *a, const struct view *v, const struct key_row *rows,
                     struct text *out)
{
    for (; rows != NULL && rows->keys != NULL; rows++) {
        if (rows->verb == NULL || (rows->when != NULL && !rows->when(v, a)))
            continue;
        AUTO_TEXT one = TEXT_INIT;
        text_addf(&one, "%s %s", rows->keys, rows->verb);
        if (utf8_columns(out->s) + 3 + utf8_columns(one.s) > a->canvas.cols - 2)
            return; /* rows are in the order of use: the rest stands in the help */
        text_sep(out, " · ");
        text_add(out, one.s);
    }
}

void frame_draw_footer(struct app *a)
{
    struct rect all = canvas_rect(&a->canvas);
    struct rect r = rect_rows(all, all.rows - 1, 1);
    AUTO_TEXT keys = TEXT_INIT;
    if (a->top != NULL)
        add_keys(a, a->top, view_keys(a->top), &keys);
    canvas_put(&a->canvas, r, 0, 1, ROLE_KEY, keys.s);
}

static void draw_too_small(struct app *a, struct rect all)
{
    canvas_putf(&a->canvas, all, 0, 0, ROLE_TEXT, "sluice needs %dx%d", FRAME_MIN_COLS,
                FRAME_MIN_ROWS);
    canvas_put(&a->canvas, all, 1, 0, ROLE_TEXT,
               state_save_problem(a->state) != NULL ? "state is NOT saved" : "state is saved");
}

struct rect frame_draw(struct app *a)
{
    struct rect all = canvas_rect(&a->canvas);
    if (all.rows < FRAME_MIN_ROWS || all.cols < FRAME_MIN_COLS) {
        draw_too_small(a, all);
        return (struct rect){0};
    }
    bool wide = all.cols >= WIDE_COLS;
    draw_header(a, rect_cols(rect_rows(all, 0, 1), 1, all.cols - 2));
    int top = 2;
    struct rect body = all;
    if (!wide) {
        draw_step_line(a, rect_cols(rect_rows(all, 1, 1), 1, all.cols - 2));
        top = 3;
    }
    canvas_hline(&a->canvas, rect_cols(all, 1, all.cols - 2), top - 1, ROLE_BORDER);
    body = rect_rows(all, top, all.rows - top - 1);
    if (wide) {
        draw_side(a, rect_cols(body, 0, SIDE_COLS));
        body = rect_cols(body, SIDE_COLS, -1);
    }
    if (a->notice != NULL) {
        canvas_put_elided(&a->canvas, rect_cols(rect_rows(all, all.rows - 2, 1), 1, all.cols - 2),
                          0, 0, a->notice_role, a->notice);
        body.rows--;
    }
    return rect_cols(body, 1, body.cols - 2);
}
