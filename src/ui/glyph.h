/* From a cell to what the terminal library is given: one or two groups of a base character and its
 * marks, each with the column it stands in. Pure but for the locale. */
#ifndef SLUICE_UI_GLYPH_H
#define SLUICE_UI_GLYPH_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#include "ui/canvas.h"

#define GLYPH_MAX 5 /* characters of one group, ncurses' CCHARW_MAX */

struct glyph {
    wchar_t wide[GLYPH_MAX + 1]; /* NUL-terminated: a base and its marks */
    int col;                     /* from the cell's first column */
};

/* The groups of a cell of width 1 or 2, which together fill it; returns how many. */
size_t glyph_split(const struct cell *cell, bool utf8, struct glyph out[2]);
#endif
