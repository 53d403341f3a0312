/* Word wrap: cuts text into lines of at most so many columns, without copying it.
 *
 * Lines end at '\n', at blanks (those at the break are left out, those that open a line of the
 * source are kept as its indentation), beside a cluster of two columns (CJK), and inside a word
 * only where it is wider than a whole line. A width under 1 counts as 1; a cluster wider than the
 * width stands alone on a line and is cut by the canvas. */
#ifndef SLUICE_UI_WRAP_H
#define SLUICE_UI_WRAP_H

#include <stdbool.h>
#include <stddef.h>

struct wrap_line {
    size_t at, len; /* bytes of s */
    bool first;     /* first line of a line of the source */
};

/* The next line of s (n bytes) from *pos, which moves on. False at the end. Text that ends in '\n'
 * has no empty line after it; "" has no line. *pos must be 0 at the start. */
bool wrap_next(const char *s, size_t n, size_t *pos, int columns, struct wrap_line *line);
int wrap_height(const char *s, int columns); /* lines */
#endif
