/* How the form looks: label, value, and for the focused field its editor and what to know about it.
 */
#include <string.h>

#include "core/clean.h"
#include "core/mem.h"
#include "core/utf8.h"
#include "ui/form.h"
#include "ui/form_parts.h"
#include "ui/wrap.h"

#define LABEL_COLS 16

static bool is_list(const struct field *row)
{
    return row->kind == FIELD_LIST;
}

/* "12: public.orders, …" */
static void list_text(const struct field *row, const struct value *v, struct text *out)
{
    size_t n = v != NULL && v->kind == VALUE_LIST ? v->count : 0;
    if (n == 0) {
        text_add(out, row->pick != NULL ? "none yet" : "");
    } else {
        AUTO(xfree) char *all = value_show(v);
        text_addf(out, "%zu: %s", n, all);
    }
    if (row->pick != NULL && n == 0)
        text_add(out, "  Enter chooses");
}

static void secret_text(struct app *a, int field, const struct value *given, struct text *out)
{
    const struct field *row = a->rows->fields[field];
    if (given == NULL) {
        if (row->make > 0)
            text_add(out, "blank: made here when it is needed");
        return;
    }
    if (given->reference != NULL)
        text_add(out, given->reference);
    else if (given->secret != NULL) {
        AUTO(xfree) char *mask = secret_mask(given->secret);
        text_add(out, mask);
    } else {
        text_add(out, "locked");
    }
    if (wizard_origin(a->wizard, field) == ORIGIN_MADE)
        text_add(out, "  made here");
    else if (given->host != NULL)
        text_addf(out, "  for %s", given->host);
}

static enum role value_role(struct app *a, int field)
{
    if (wizard_field_problem(a->wizard, field, NULL) != 0 &&
        wizard_answer(a->wizard, field) != NULL)
        return ROLE_FAIL;
    return wizard_origin(a->wizard, field) == ORIGIN_DEFAULT ? ROLE_MUTED : ROLE_VALUE;
}

static void draw_value(struct app *a, int field, struct rect r)
{
    const struct field *row = a->rows->fields[field];
    AUTO_TEXT text = TEXT_INIT;
    if (row->kind == FIELD_SECRET) {
        secret_text(a, field, wizard_answer(a->wizard, field), &text);
    } else if (is_list(row)) {
        list_text(row, wizard_effective(a->wizard, field), &text);
    } else {
        const struct value *v = wizard_effective(a->wizard, field);
        struct snapshot *s = wizard_snapshot(a->wizard);
        struct choices c = {0};
        field_choices(row, s, &c);
        AUTO(xfree) char *shown = v != NULL ? value_show(v) : xstrdup("");
        for (size_t i = 0; i < c.count; i++) /* no answer may be a choice as well */
            if (strcmp(c.rows[i].value, shown) == 0 && c.rows[i].label != NULL)
                xreplace(&shown, c.rows[i].label);
        text_add(&text, shown);
        choices_release(&c);
        snapshot_unref(s);
    }
    AUTO(xfree) char *clean = clean_copy(text.s, CLEAN_LINE);
    canvas_put_elided(&a->canvas, r, 0, 0, value_role(a, field), clean);
}

static bool lists_options(const struct field *row)
{
    return row->kind == FIELD_CHOICE || row->kind == FIELD_SWITCH;
}

static int row_height(struct form *f, struct app *a, int i, bool focused, int cols)
{
    if (!focused || i != f->focus || f->fields[i] < 0 ||
        !lists_options(a->rows->fields[f->fields[i]]))
        return 1;
    form_start_editing(f, a);
    return f->options != NULL ? choice_height(&f->choice, cols - LABEL_COLS - 1) : 1;
}

int form_height(struct form *f, struct app *a, bool focused, int cols)
{
    int height = 0;
    form_layout(f, a);
    for (int i = 0; i < f->count; i++)
        height += row_height(f, a, i, focused, cols);
    return height;
}

static void draw_focused(struct form *f, struct app *a, int field, struct rect r)
{
    const struct field *row = a->rows->fields[field];
    if (row->pick != NULL && !f->dirty) {
        draw_value(a, field, r);
        canvas_cursor(&a->canvas, r, 0, 0);
        return;
    }
    form_start_editing(f, a);
    if (f->options != NULL) {
        choice_draw(&f->choice, &a->canvas, r, true);
        return;
    }
    AUTO_TEXT hint = TEXT_INIT;
    if (row->kind == FIELD_SECRET) {
        secret_text(a, field, wizard_answer(a->wizard, field), &hint);
        if (wizard_answer(a->wizard, field) != NULL)
            text_add(&hint, "  blank keeps it");
    } else if (row->example != NULL) {
        text_addf(&hint, "e.g. %s", row->example);
    }
    struct edit_look look = {.focused = true, .placeholder = hint.len > 0 ? hint.s : NULL};
    edit_draw(&f->edit, &a->canvas, r, &look);
}

static void draw_fold(struct form *f, struct app *a, struct rect r, bool at_focus)
{
    AUTO_TEXT text = TEXT_INIT;
    for (size_t i = 0; i < a->rows->field_count; i++) {
        const struct field *row = a->rows->fields[i];
        if (row->advanced && rows_step_of(a->rows, row->id) == f->step &&
            wizard_visible(a->wizard, (int)i)) {
            text_sep(&text, ", ");
            text_add(&text, row->label);
        }
    }
    AUTO(xfree) char *line = xasprintf("%s more: %s", f->unfolded ? "-" : "+", text.s);
    canvas_put_elided(&a->canvas, r, 0, 1, at_focus ? ROLE_FOCUS : ROLE_MUTED,
                      f->unfolded ? "- fewer" : line);
}

/* The focus is on the screen, and no line stays empty while there are rows above. */
static void scroll(struct form *f, struct app *a, struct rect r, bool focused)
{
    if (f->focus < f->top)
        f->top = f->focus;
    int used = 0;
    for (int i = f->top; i <= f->focus && i < f->count; i++)
        used += row_height(f, a, i, focused, r.cols);
    while (used > r.rows && f->top < f->focus)
        used -= row_height(f, a, f->top++, focused, r.cols);
    for (int i = f->focus + 1; i < f->count; i++)
        used += row_height(f, a, i, focused, r.cols);
    while (f->top > 0 && used + row_height(f, a, f->top - 1, focused, r.cols) <= r.rows)
        used += row_height(f, a, --f->top, focused, r.cols);
}

void form_draw(struct form *f, struct app *a, struct rect r, bool focused)
{
    form_layout(f, a);
    scroll(f, a, r, focused);
    int at = 0, i = f->top;
    for (; i < f->count && at < r.rows; i++) {
        bool here = focused && i == f->focus;
        int height = row_height(f, a, i, focused, r.cols);
        struct rect line = rect_rows(r, at, height);
        at += height;
        if (f->fields[i] < 0) {
            draw_fold(f, a, line, here);
            if (here)
                canvas_cursor(&a->canvas, line, 0, 1);
            continue;
        }
        const struct field *row = a->rows->fields[f->fields[i]];
        struct rect value = rect_cols(line, LABEL_COLS + 1, -1);
        canvas_put_elided(&a->canvas, rect_cols(line, 1, LABEL_COLS), 0, 0,
                          here ? ROLE_FOCUS : ROLE_LABEL, row->label);
        if (here)
            draw_focused(f, a, f->fields[i], value);
        else
            draw_value(a, f->fields[i], value);
    }
    if (f->top > 0)
        canvas_put_right(&a->canvas, r, 0, ROLE_MUTED, "^");
    if (i < f->count || at > r.rows)
        canvas_put_right(&a->canvas, r, r.rows - 1, ROLE_MUTED, "v");
}

void form_draw_hint(struct form *f, struct app *a, struct rect r)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    AUTO_TEXT text = TEXT_INIT;
    int field = form_field(f);
    enum role role = ROLE_HINT;
    if (f->count == 0 || field < 0)
        return;
    const struct field *row = a->rows->fields[field];
    if (f->editing && f->dirty && f->options == NULL && f->edit.len > 0 && row->valid != NULL &&
        row->kind != FIELD_LIST && row->kind != FIELD_MAP && row->kind != FIELD_SECRET) {
        AUTO(xfree)
        char *typed = row->normalise != NULL ? row->normalise(f->edit.s) : xstrdup(f->edit.s);
        row->valid(typed, &p);
    } else if (!f->dirty && wizard_answer(a->wizard, field) != NULL) {
        wizard_field_problem(a->wizard, field, &p);
    }
    if (p.kind != PROBLEM_NONE) {
        role = ROLE_FAIL;
        text_addf(&text, "%s%s%s", p.what, p.fix != NULL ? ": " : "", p.fix != NULL ? p.fix : "");
        if (p.code != NULL && strcmp(p.code, "other host") == 0)
            text_add(&text, " (Enter allows it)");
    } else {
        text_add(&text, row->help);
    }
    AUTO(xfree) char *clean = clean_copy(text.s, CLEAN_LINE);
    r = rect_cols(r, 1, -1);
    canvas_put_wrapped(&a->canvas, r, role, clean);
    if (wrap_height(clean, r.cols) > r.rows)
        canvas_put_right(&a->canvas, r, r.rows - 1, ROLE_KEY, " … F1");
}
