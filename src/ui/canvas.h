/* The canvas: a grid of cells that views and widgets draw on; ui/term.c carries it to the terminal,
 * tests read it as text. It knows no terminal.
 *
 * Invariants: a cell holds one grapheme cluster; one of two columns has the empty continuation cell
 * (width 0) at its right, always; nothing is written outside the rectangle given and the canvas, so
 * that a 1x1 canvas needs no special case anywhere. Widths come from core/utf8.h, never from the
 * locale.
 *
 * Rows and columns given to a function count from the rectangle's corner and may lie outside it.
 * Foreign text must be cleaned before (core/clean.h); as a second net a control character or an
 * invalid byte is drawn as "?". A cluster without width of its own (a stray combining mark) is left
 * out. */
#ifndef SLUICE_UI_CANVAS_H
#define SLUICE_UI_CANVAS_H

#include <stddef.h>
#include <stdint.h>

#include "core/text.h"
#include "ui/theme.h"

#define CANVAS_MAX                                                                                 \
    1000              /* rows, columns: no terminal is larger, and a wrong size costs no memory    \
                       */
#define CELL_BYTES 30 /* a longer cluster loses its last marks */

struct rect {
    int row, col, rows, cols;
};

struct cell {
    char ch[CELL_BYTES]; /* NUL-terminated and NUL-filled, so that cells compare by memcmp */
    uint8_t width;       /* 1, 2, or 0 for the right half of a wide one */
    uint8_t role;        /* enum role */
};

struct canvas {
    int rows, cols;
    struct cell *cells;
    int cursor_row, cursor_col; /* where the terminal's cursor belongs; row -1 hides it */
};

#define CANVAS_INIT ((struct canvas){.cursor_row = -1, .cursor_col = -1})

/* Makes c blank and rows x cols (each clamped to 0…CANVAS_MAX); c must be CANVAS_INIT or in use. */
void canvas_resize(struct canvas *c, int rows, int cols);
void canvas_release(struct canvas *c);
void canvas_clear(struct canvas *c); /* blank, no cursor */

/* Rectangles: parts that would be negative in size come out empty. */
struct rect canvas_rect(const struct canvas *c);
struct rect rect_rows(struct rect r, int from, int count); /* count < 0: all the rest */
struct rect rect_cols(struct rect r, int from, int count);
struct rect rect_intersect(struct rect a, struct rect b);

/* Puts s at row, col; cut at the edges (of a wide cluster that would stick out a blank remains).
 * Returns the column after the text, at most r.cols, so that calls chain. */
int canvas_put(struct canvas *c, struct rect r, int row, int col, enum role role, const char *s);
int canvas_putn(struct canvas *c, struct rect r, int row, int col, enum role role, const char *s,
                size_t n);
int canvas_putf(struct canvas *c, struct rect r, int row, int col, enum role role, const char *fmt,
                ...) __attribute__((format(printf, 6, 7)));
/* As canvas_put, with "…" as the last column where s does not fit. */
int canvas_put_elided(struct canvas *c, struct rect r, int row, int col, enum role role,
                      const char *s);
/* Right-aligned: s ends at the right edge, elided where it is wider than r. Returns its first
 * column. */
int canvas_put_right(struct canvas *c, struct rect r, int row, enum role role, const char *s);
/* Word-wrapped (ui/wrap.h) from the top of r. Returns the rows needed, more than r.rows where the
 * rest did not fit. */
int canvas_put_wrapped(struct canvas *c, struct rect r, enum role role, const char *s);
void canvas_hline(struct canvas *c, struct rect r, int row, enum role role);
void canvas_box(struct canvas *c, struct rect r, enum role role);   /* a frame along the edge */
void canvas_fill(struct canvas *c, struct rect r, enum role role);  /* blanks */
void canvas_paint(struct canvas *c, struct rect r, enum role role); /* the role only, text stays */
void canvas_cursor(struct canvas *c, struct rect r, int row, int col); /* hidden when outside r */

/* The cell at an absolute place, or NULL. */
const struct cell *canvas_cell(const struct canvas *c, int row, int col);
/* The rows as lines, trailing blanks cut off. */
void canvas_dump(const struct canvas *c, struct text *out);

/* Measuring, by the very rules canvas_put draws with. */
size_t canvas_cluster(const char *s, size_t n, int *columns); /* bytes of the next cluster */
int canvas_columns(const char *s);
size_t canvas_fit(const char *s, size_t n, int columns, int *used); /* bytes that fit */
enum elide { ELIDE_END, ELIDE_START, ELIDE_MIDDLE };
/* Appends s cut to at most `columns` columns, with "…" where something was left out. */
void canvas_elide(struct text *out, const char *s, int columns, enum elide where);
#endif
