/* Lines are made once a width; drawing and scrolling are then by index. */
#include "ui/pager.h"

#include <stdint.h>
#include <string.h>

#include "core/mem.h"
#include "ui/wrap.h"

struct pager_line {
    size_t at, len;
    size_t label_at, label_len; /* label in front, on the first line of its entry */
    int indent;
};

void pager_release(struct pager *p)
{
    xfree(p->s);
    xfree(p->lines);
    *p = (struct pager){.label_cols = p->label_cols, .follow = p->follow};
}

void pager_set(struct pager *p, const char *s)
{
    bool at_end = pager_at_end(p);
    xreplace(&p->s, s);
    p->len = s != NULL ? strlen(s) : 0;
    p->cols = 0;
    if (!p->follow)
        p->place = 0;
    else if (at_end)
        p->place = SIZE_MAX;
}

static void add_line(struct pager *p, struct pager_line line)
{
    if (p->n_lines == p->room) {
        p->room = p->room == 0 ? 64 : 2 * p->room;
        p->lines = xrealloc(p->lines, p->room, sizeof(*p->lines));
    }
    p->lines[p->n_lines++] = line;
}

/* Leading blanks, at most a third of the width. */
static int hang_of(const char *s, size_t n, int cols)
{
    int hang = 0;
    while ((size_t)hang < n && s[hang] == ' ' && hang < cols / 3)
        hang++;
    return hang;
}

/* One line of the source, [at, at + n), into lines. Where the label would leave too little room
 * beside it, it stands on a line of its own. */
static void lay_out_line(struct pager *p, size_t at, size_t n, int cols)
{
    const char *s = p->s + at;
    const char *tab = memchr(s, '\t', n);
    struct pager_line line = {.at = at, .indent = hang_of(s, n, cols)};
    size_t skip = (size_t)line.indent, pos = 0;
    if (tab != NULL) {
        line.label_at = at;
        line.label_len = (size_t)(tab - s);
        line.indent = p->label_cols;
        skip = line.label_len + 1;
    }
    if (tab != NULL && p->label_cols > cols / 2) {
        add_line(p, line);
        line.label_len = 0;
        line.indent = cols > 8 ? 2 : 0;
    } else if (skip == n) {
        add_line(p, line);
    }
    struct wrap_line cut;
    while (wrap_next(s + skip, n - skip, &pos, cols - line.indent, &cut)) {
        line.at = at + skip + cut.at;
        line.len = cut.len;
        add_line(p, line);
        line.label_len = 0;
    }
}

static void lay_out(struct pager *p, int cols)
{
    p->n_lines = 0;
    for (size_t at = 0; at < p->len;) {
        const char *nl = memchr(p->s + at, '\n', p->len - at);
        size_t n = nl != NULL ? (size_t)(nl - p->s) - at : p->len - at;
        lay_out_line(p, at, n, cols);
        at += n + 1;
    }
    p->cols = cols;
    p->top = 0;
    while (p->top + 1 < p->n_lines && p->lines[p->top + 1].at <= p->place)
        p->top++;
}

static size_t last_top(const struct pager *p)
{
    size_t page = p->page > 0 ? (size_t)p->page : 1;
    return p->n_lines > page ? p->n_lines - page : 0;
}

bool pager_at_end(const struct pager *p)
{
    return p->top >= last_top(p);
}

static unsigned scroll(struct pager *p, size_t to)
{
    size_t from = p->top;
    p->top = to < last_top(p) ? to : last_top(p);
    p->place = p->top < p->n_lines ? p->lines[p->top].at : 0;
    return UI_HANDLED | (p->top != from ? UI_REDRAW : 0);
}

unsigned pager_key(struct pager *p, const struct key *k)
{
    size_t page = p->page > 1 ? (size_t)p->page - 1 : 1;
    size_t top = p->top;
    switch ((int)k->code) {
    case K_UP:
        return scroll(p, top > 0 ? top - 1 : 0);
    case K_DOWN:
        return scroll(p, top + 1);
    case K_PGUP:
        return scroll(p, top > page ? top - page : 0);
    case K_PGDN:
        return scroll(p, top + page);
    case K_HOME:
        return scroll(p, 0);
    case K_END:
        return scroll(p, p->n_lines);
    case K_TEXT:
        return key_is(k, " ") ? scroll(p, top + page) : (unsigned)UI_IGNORED;
    default:
        return UI_IGNORED;
    }
}

void pager_draw(struct pager *p, struct canvas *c, struct rect r)
{
    if (r.rows <= 0 || r.cols <= 0)
        return;
    if (p->cols != r.cols)
        lay_out(p, r.cols);
    p->page = r.rows;
    if (p->top > last_top(p))
        p->top = last_top(p);
    for (int row = 0; row < r.rows && p->top + (size_t)row < p->n_lines; row++) {
        const struct pager_line *line = &p->lines[p->top + (size_t)row];
        struct rect label = line->len > 0 ? rect_cols(r, 0, line->indent - 1) : r;
        if (line->label_len > 0)
            canvas_putn(c, label, row, 0, ROLE_LABEL, p->s + line->label_at, line->label_len);
        canvas_putn(c, r, row, line->indent, ROLE_TEXT, p->s + line->at, line->len);
    }
}
