/* wcwidth is asked here, and only here, for what the terminal library and mostly the terminal will
 * make of a character: where its answer differs from the cell's width (a newer emoji, a locale that
 * does not know it) the group is made to fit, so that the columns behind it stay where the canvas
 * has them. Joiners and variation selectors, which terminals disagree about, are left out. */
#include "ui/glyph.h"

#include <string.h>

#include "ui/theme.h"

static struct glyph *start(struct glyph *out, size_t *n, wchar_t c, int col)
{
    struct glyph *g = &out[(*n)++];
    memset(g, 0, sizeof(*g));
    g->wide[0] = c;
    g->col = col;
    return g;
}

static void add_mark(struct glyph *g, wchar_t c)
{
    bool joiner = c == 0x200D || (c >= 0xFE00 && c <= 0xFE0F);
    size_t n = wcslen(g->wide);
    if (!joiner && n < GLYPH_MAX)
        g->wide[n] = c;
}

size_t glyph_split(const struct cell *cell, bool utf8, struct glyph out[2])
{
    size_t n = 0;
    int used = 0;
    struct glyph *g = NULL;
    mbstate_t state = {0};
    const char *s = cell->ch, *end = utf8 ? s + strlen(s) : s;
    wchar_t c;
    for (size_t len; s < end; s += len) {
        len = mbrtowc(&c, s, (size_t)(end - s), &state);
        if (len == 0 || len > 4)
            break;
        if (c >= 0x1F1E6 && c <= 0x1F1FF)
            c = L'A' + (c - 0x1F1E6); /* half of a flag */
        int w = wcwidth(c);
        if (w == 0 && g != NULL) {
            add_mark(g, c);
            continue;
        }
        if (w < 1 || used + w > cell->width) {
            if (g != NULL)
                break;
            c = L'?';
            w = 1;
        }
        g = start(out, &n, c, used);
        used += w;
    }
    if (g == NULL) {
        start(out, &n, utf8 ? L'?' : (wchar_t)theme_ascii(cell->ch), 0);
        used = 1;
    }
    if (used < cell->width)
        start(out, &n, L' ', used);
    return n;
}
