/* Text to read, wrapped and scrolled: help, the detail of a check, the log.
 *
 * A line "label<TAB>body" is drawn with the label in its own column and the body wrapped beside it;
 * other lines hang by their own indentation. The text must be cleaned already. The place is kept by
 * byte, so that a change of width leaves the same text at the top. */
#ifndef SLUICE_UI_PAGER_H
#define SLUICE_UI_PAGER_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/canvas.h"
#include "ui/key.h"
#include "ui/result.h"

struct pager_line;

struct pager {
    char *s;
    size_t len;
    int label_cols; /* width of the label column */
    struct pager_line *lines;
    size_t n_lines, room;
    int cols; /* width that lines were made for; 0: not made */
    size_t top;
    size_t place; /* byte at the top, to find it again in another width */
    int page;
    bool follow; /* stays at the end as text is added, until scrolled up */
};

#define PAGER_INIT ((struct pager){.label_cols = 10})

void pager_set(struct pager *p, const char *s); /* copies; to the top unless follow */
void pager_release(struct pager *p);
unsigned pager_key(struct pager *p, const struct key *k); /* Up Down PgUp PgDn Space Home End */
void pager_draw(struct pager *p, struct canvas *c, struct rect r);
bool pager_at_end(const struct pager *p); /* as of the last drawing */
#endif
