/* Only what is visible is asked for; the filter's index is narrowed while its text grows, and made
 * anew otherwise. */
#include "ui/list.h"

#include <string.h>

#include "core/mem.h"
#include "core/utf8.h"

void list_init(struct list *l, const struct list_source *source, void *owner)
{
    *l = (struct list){.source = source, .owner = owner, .cursor = LIST_NONE, .page = 1};
    edit_init(&l->filter, EDIT_TEXT);
}

void list_release(struct list *l)
{
    xfree(l->index);
    xfree(l->folded);
    edit_release(&l->filter);
    l->index = NULL;
    l->folded = NULL;
    l->count = l->shown = 0;
}

size_t list_shown(const struct list *l, size_t i)
{
    return l->index != NULL ? l->index[i] : i;
}

/* First shown place whose row is not before `row`. */
static size_t place_of(const struct list *l, size_t row)
{
    if (l->index == NULL)
        return row < l->shown ? row : l->shown;
    size_t low = 0, high = l->shown;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (l->index[mid] < row)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The cursor goes to the wanted row, or to the nearest one after it that is shown, or the last. */
static void settle(struct list *l)
{
    if (l->shown == 0) {
        l->cursor = LIST_NONE;
        l->top = 0;
        return;
    }
    size_t place = place_of(l, l->wanted);
    l->cursor = list_shown(l, place < l->shown ? place : l->shown - 1);
    if (l->top >= l->shown)
        l->top = l->shown - 1;
}

/* Keeps of the candidates (all rows when index is NULL) those that match. */
static void narrow(struct list *l, const char *folded)
{
    size_t candidates = l->shown, kept = 0;
    size_t *index = xcalloc(candidates + 1, sizeof(*index));
    for (size_t i = 0; i < candidates; i++) {
        size_t row = list_shown(l, i);
        if (l->source->matches(l->owner, row, folded))
            index[kept++] = row;
    }
    xfree(l->index);
    l->index = xrealloc(index, kept + 1, sizeof(*index));
    l->shown = kept;
}

static void refilter(struct list *l, bool fresh)
{
    char *folded = utf8_fold(l->filter.s);
    bool grown = !fresh && l->folded != NULL && strstr(folded, l->folded) != NULL;
    if (!grown) {
        xfree(l->index);
        l->index = NULL;
        l->shown = l->count;
    }
    if (folded[0] != '\0' && l->source->matches != NULL)
        narrow(l, folded);
    xfree(l->folded);
    l->folded = folded;
    settle(l);
}

void list_set_count(struct list *l, size_t count)
{
    l->count = count;
    refilter(l, true);
}

void list_select(struct list *l, size_t row)
{
    l->wanted = row;
    settle(l);
}

void list_set_filter(struct list *l, const char *text)
{
    edit_set(&l->filter, text);
    refilter(l, false);
}

/* ---- keys ---- */

static unsigned move(struct list *l, long by)
{
    if (l->shown == 0)
        return UI_HANDLED;
    size_t place = place_of(l, l->cursor), last = l->shown - 1;
    size_t step = (size_t)(by < 0 ? -by : by);
    size_t to =
        by < 0 ? (step > place ? 0 : place - step) : (step > last - place ? last : place + step);
    l->cursor = l->wanted = list_shown(l, to);
    return UI_HANDLED | (to != place ? UI_REDRAW | UI_CHANGED : 0);
}

static unsigned filter_key(struct list *l, const struct key *k)
{
    if (k->code == K_ENTER || k->code == K_TAB) {
        l->filtering = false;
        return UI_HANDLED | UI_REDRAW;
    }
    if (k->code == K_ESC) {
        l->filtering = false;
        list_set_filter(l, "");
        return UI_HANDLED | UI_REDRAW | UI_CHANGED | UI_CANCELLED;
    }
    unsigned result = edit_key(&l->filter, k);
    if (result & UI_CHANGED)
        refilter(l, false);
    return result;
}

unsigned list_key(struct list *l, const struct key *k)
{
    if (l->filtering) {
        unsigned result = filter_key(l, k);
        if (result != UI_IGNORED)
            return result;
    }
    long page = l->page > 1 ? l->page - 1 : 1;
    switch ((int)k->code) {
    case K_UP:
        return move(l, -1);
    case K_DOWN:
        return move(l, 1);
    case K_PGUP:
        return move(l, -page);
    case K_PGDN:
        return move(l, page);
    case K_HOME:
        return move(l, -(long)l->shown);
    case K_END:
        return move(l, (long)l->shown);
    case K_TEXT:
        if (l->source->matches == NULL || !key_is(k, "/"))
            return UI_IGNORED;
        l->filtering = true;
        return UI_HANDLED | UI_REDRAW;
    default:
        return UI_IGNORED;
    }
}

/* ---- drawing ---- */

static int height(const struct list *l, size_t place, int cols)
{
    if (l->source->height == NULL)
        return 1;
    int rows = l->source->height(l->owner, list_shown(l, place), cols);
    return rows < 1 ? 1 : rows;
}

/* The first place of a page that ends with `place`. */
static size_t page_ending_at(const struct list *l, size_t place, struct rect r)
{
    int used = height(l, place, r.cols);
    while (place > 0 && used < r.rows) {
        used += height(l, place - 1, r.cols);
        if (used > r.rows)
            break;
        place--;
    }
    return place;
}

static void scroll_to_cursor(struct list *l, struct rect r)
{
    size_t place = place_of(l, l->cursor);
    size_t least = page_ending_at(l, place, r);       /* the cursor's row is seen whole from here */
    size_t most = page_ending_at(l, l->shown - 1, r); /* no blank rows below the last */
    if (l->top < least)
        l->top = least;
    if (l->top > most)
        l->top = most;
    if (l->top > place)
        l->top = place;
}

void list_draw(struct list *l, struct canvas *c, struct rect r)
{
    l->page = r.rows;
    l->below = 0;
    if (l->shown == 0 || r.rows <= 0)
        return;
    scroll_to_cursor(l, r);
    int row = 0;
    size_t place = l->top;
    for (; place < l->shown && row < r.rows; place++) {
        int rows = height(l, place, r.cols);
        size_t source_row = list_shown(l, place);
        l->source->draw(l->owner, source_row, c, rect_rows(r, row, rows), source_row == l->cursor);
        row += rows;
    }
    l->below = l->shown - place;
}

void list_draw_filter(struct list *l, struct canvas *c, struct rect r)
{
    AUTO_TEXT count = TEXT_INIT;
    if (l->shown != l->count)
        text_addf(&count, "%zu of %zu shown", l->shown, l->count);
    else
        text_addf(&count, "%zu", l->count);
    canvas_fill(c, rect_rows(r, 0, 1), ROLE_TEXT);
    int right = canvas_put_right(c, r, 0, ROLE_HINT, count.s);
    int col = canvas_put(c, rect_cols(r, 0, right), 0, 0, ROLE_LABEL, "Filter  ");
    struct rect field =
        rect_rows(rect_cols(r, col, right - 1 - col > 0 ? right - 1 - col : 0), 0, 1);
    edit_draw(&l->filter, c, field,
              &(struct edit_look){.focused = l->filtering, .placeholder = "/"});
}
