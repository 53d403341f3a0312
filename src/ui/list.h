/* A scrolling list over rows that it does not hold: the owner draws a row when it is visible and
 * says whether it matches the filter, so that 100,000 tables cost no more than their filter.
 *
 * The cursor belongs to a row, not to a place: it stays on it when the filter changes, and comes
 * back to it when a filter that hid it is taken away. Space, digits and letters are the owner's, as
 * is what is chosen. Keys: Up, Down, PgUp, PgDn, Home, End; "/" opens the filter, where text goes
 * into it, Enter leaves it standing, Esc clears it. */
#ifndef SLUICE_UI_LIST_H
#define SLUICE_UI_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/canvas.h"
#include "ui/edit.h"
#include "ui/key.h"

#define LIST_NONE ((size_t)-1)

/* What the owner supplies; `owner` is handed back. A row is 0 … count - 1. */
struct list_source {
    void (*draw)(void *owner, size_t row, struct canvas *c, struct rect r, bool at_cursor);
    /* Rows of the screen a row takes in so many columns, at least 1; NULL: one each. */
    int (*height)(void *owner, size_t row, int cols);
    /* Whether the row matches; folded is the filter after utf8_fold, never "". A row that does not
     * match "b" must not match "abc" either, as a search for a part does. NULL: the list has no
     * filter and "/" is ignored. */
    bool (*matches)(void *owner, size_t row, const char *folded);
};

struct list {
    const struct list_source *source;
    void *owner;
    size_t count;  /* rows of the source */
    size_t cursor; /* row of the source, LIST_NONE when none is shown */
    size_t wanted; /* row the operator chose last; cursor returns to it */
    size_t top;    /* first visible, as an index into what is shown */
    size_t *index; /* rows that match, ascending; NULL: all */
    size_t shown;
    int page;       /* rows of the last drawing, for PgUp and PgDn */
    size_t below;   /* shown ones that it had no room for, after those it drew */
    bool filtering; /* keys go to the filter */
    char *folded;   /* filter that index was made with */
    struct edit filter;
};

void list_init(struct list *l, const struct list_source *source, void *owner);
void list_release(struct list *l);
/* The source has other rows now: filters anew, the cursor stays at its row number where it exists.
 */
void list_set_count(struct list *l, size_t count);
void list_select(struct list *l, size_t row); /* puts the cursor on a row of the source */
void list_set_filter(struct list *l, const char *text);
size_t list_shown(const struct list *l, size_t i);      /* the i-th shown row of the source */
unsigned list_key(struct list *l, const struct key *k); /* enum ui_result; CHANGED: another row */
void list_draw(struct list *l, struct canvas *c, struct rect r);
/* "Filter  ord▏" in one row, with the count at the right: "6 of 340 shown". */
void list_draw_filter(struct list *l, struct canvas *c, struct rect r);
#endif
