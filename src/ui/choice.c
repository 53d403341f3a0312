/* One layout rule: a row if all labels fit and no option has a note or a refusal to show. */
#include "ui/choice.h"

#include <string.h>

enum { MARK_COLS = 4, GAP_COLS = 3 };

void choice_set(struct choice *ch, const struct choice_option *options, size_t count, size_t chosen)
{
    ch->options = options;
    ch->count = count;
    ch->chosen = chosen < count ? chosen : CHOICE_NONE;
    ch->cursor = chosen < count ? chosen : 0;
    ch->moved = false;
}

static bool fits_in_row(const struct choice *ch, int cols)
{
    int used = 0;
    for (size_t i = 0; i < ch->count; i++) {
        if (ch->options[i].note != NULL || ch->options[i].refusal != NULL)
            return false;
        used += (i > 0 ? GAP_COLS : 0) + MARK_COLS + canvas_columns(ch->options[i].label);
        if (used > cols)
            return false;
    }
    return true;
}

int choice_height(const struct choice *ch, int cols)
{
    return fits_in_row(ch, cols) ? 1 : (int)ch->count;
}

static unsigned choose(struct choice *ch, size_t i)
{
    ch->cursor = i;
    ch->moved = false;
    if (ch->options[i].refusal != NULL || ch->chosen == i)
        return UI_HANDLED | UI_REDRAW;
    ch->chosen = i;
    return UI_HANDLED | UI_REDRAW | UI_CHANGED;
}

static unsigned step(struct choice *ch, bool back)
{
    if (back ? ch->cursor == 0 : ch->cursor + 1 >= ch->count)
        return UI_IGNORED;
    ch->cursor = back ? ch->cursor - 1 : ch->cursor + 1;
    ch->moved = true;
    return UI_HANDLED | UI_REDRAW;
}

unsigned choice_take(struct choice *ch)
{
    return ch->moved && ch->cursor < ch->count ? choose(ch, ch->cursor) : (unsigned)UI_IGNORED;
}

unsigned choice_key(struct choice *ch, const struct key *k)
{
    if (ch->count == 0)
        return UI_IGNORED;
    bool sideways = k->code == K_LEFT || k->code == K_RIGHT;
    if (sideways || (ch->column && (k->code == K_UP || k->code == K_DOWN)))
        return step(ch, k->code == K_LEFT || k->code == K_UP);
    if (key_is(k, " "))
        return choose(ch, ch->cursor);
    if (k->code == K_TEXT && k->text[0] >= '1' && k->text[0] <= '9' && k->text[1] == '\0') {
        size_t i = (size_t)(k->text[0] - '1');
        return i < ch->count ? choose(ch, i) : (unsigned)UI_IGNORED;
    }
    return UI_IGNORED;
}

static int draw_option(const struct choice *ch, size_t i, struct canvas *c, struct rect r, int row,
                       int col, bool focused)
{
    const struct choice_option *o = &ch->options[i];
    enum role role = o->refusal != NULL           ? ROLE_MUTED
                     : focused && i == ch->cursor ? ROLE_FOCUS
                                                  : ROLE_VALUE;
    if (focused && i == ch->cursor)
        canvas_cursor(c, r, row, col + 1);
    col = canvas_put(c, r, row, col, role, i == ch->chosen ? "(●) " : "( ) ");
    return canvas_put_elided(c, r, row, col, role, o->label);
}

void choice_draw(struct choice *ch, struct canvas *c, struct rect r, bool focused)
{
    ch->column = !fits_in_row(ch, r.cols);
    if (!ch->column) {
        int col = 0;
        for (size_t i = 0; i < ch->count; i++)
            col = draw_option(ch, i, c, r, 0, i > 0 ? col + GAP_COLS : 0, focused);
        return;
    }
    /* In fewer rows than options the part around the cursor is shown. */
    size_t rows = r.rows > 0 ? (size_t)r.rows : 0;
    size_t first = ch->cursor >= rows ? ch->cursor + 1 - rows : 0;
    int widest = 0;
    for (size_t i = 0; i < ch->count; i++) {
        int w = canvas_columns(ch->options[i].label);
        widest = w > widest ? w : widest;
    }
    if (widest > r.cols / 2)
        widest = r.cols / 2;
    for (size_t row = 0; row < rows && first + row < ch->count; row++) {
        const struct choice_option *o = &ch->options[first + row];
        int col = draw_option(ch, first + row, c, r, (int)row, 0, focused);
        int at = MARK_COLS + widest + GAP_COLS;
        const char *beside = o->refusal != NULL ? o->refusal : o->note;
        if (beside != NULL)
            canvas_put_elided(c, r, (int)row, at > col ? at : col + 1,
                              o->refusal != NULL ? ROLE_WARN : ROLE_HINT, beside);
    }
}
