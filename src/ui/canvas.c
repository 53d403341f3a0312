/* The grid and its drawing verbs. All writing goes through set_cell, which keeps wide clusters
 * whole, and put_clusters, which clips. */
#include "ui/canvas.h"

#include <limits.h>
#include <string.h>

#include "core/mem.h"
#include "core/utf8.h"
#include "ui/wrap.h"

static int clamp(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}

static void blank(struct cell *cell, uint8_t role)
{
    memset(cell, 0, sizeof(*cell));
    cell->ch[0] = ' ';
    cell->width = 1;
    cell->role = role;
}

void canvas_resize(struct canvas *c, int rows, int cols)
{
    rows = clamp(rows, 0, CANVAS_MAX);
    cols = clamp(cols, 0, CANVAS_MAX);
    if (rows != c->rows || cols != c->cols || c->cells == NULL) {
        xfree(c->cells);
        c->cells = xcalloc((size_t)rows * (size_t)cols + 1, sizeof(*c->cells));
        c->rows = rows;
        c->cols = cols;
    }
    canvas_clear(c);
}

void canvas_release(struct canvas *c)
{
    xfree(c->cells);
    *c = CANVAS_INIT;
}

void canvas_clear(struct canvas *c)
{
    size_t n = (size_t)c->rows * (size_t)c->cols;
    for (size_t i = 0; i < n; i++)
        blank(&c->cells[i], ROLE_TEXT);
    c->cursor_row = c->cursor_col = -1;
}

/* ---- rectangles ---- */

struct rect canvas_rect(const struct canvas *c)
{
    return (struct rect){0, 0, c->rows, c->cols};
}

struct rect rect_rows(struct rect r, int from, int count)
{
    from = clamp(from, 0, r.rows > 0 ? r.rows : 0);
    int rest = r.rows - from;
    r.row += from;
    r.rows = clamp(count < 0 ? rest : count, 0, rest > 0 ? rest : 0);
    return r;
}

struct rect rect_cols(struct rect r, int from, int count)
{
    from = clamp(from, 0, r.cols > 0 ? r.cols : 0);
    int rest = r.cols - from;
    r.col += from;
    r.cols = clamp(count < 0 ? rest : count, 0, rest > 0 ? rest : 0);
    return r;
}

struct rect rect_intersect(struct rect a, struct rect b)
{
    int top = a.row > b.row ? a.row : b.row, left = a.col > b.col ? a.col : b.col;
    int bottom = a.row + a.rows < b.row + b.rows ? a.row + a.rows : b.row + b.rows;
    int right = a.col + a.cols < b.col + b.cols ? a.col + a.cols : b.col + b.cols;
    return (struct rect){top, left, bottom > top ? bottom - top : 0,
                         right > left ? right - left : 0};
}

/* ---- cells ---- */

static struct cell *at(const struct canvas *c, int row, int col)
{
    return &c->cells[(size_t)row * (size_t)c->cols + (size_t)col];
}

const struct cell *canvas_cell(const struct canvas *c, int row, int col)
{
    return row < 0 || col < 0 || row >= c->rows || col >= c->cols ? NULL : at(c, row, col);
}

/* Before a cell is overwritten: the other half of a wide cluster there becomes a blank. */
static void break_wide(struct canvas *c, int row, int col)
{
    struct cell *cell = at(c, row, col);
    if (cell->width == 0 && col > 0)
        blank(cell - 1, cell[-1].role);
    else if (cell->width == 2 && col + 1 < c->cols)
        blank(cell + 1, cell[1].role);
}

/* A cluster too long for a cell keeps its first whole characters. */
static size_t fit_cell(const char *s, size_t n)
{
    if (n < CELL_BYTES)
        return n;
    n = CELL_BYTES - 1;
    while (n > 0 && ((unsigned char)s[n] & 0xC0) == 0x80)
        n--;
    return n;
}

static void set_cell(struct canvas *c, int row, int col, const char *s, size_t n, int width,
                     enum role role)
{
    break_wide(c, row, col);
    if (width == 2)
        break_wide(c, row, col + 1);
    struct cell *cell = at(c, row, col);
    memset(cell, 0, sizeof(*cell));
    memcpy(cell->ch, s, fit_cell(s, n));
    cell->width = (uint8_t)width;
    cell->role = (uint8_t)role;
    if (width == 2) {
        memset(cell + 1, 0, sizeof(*cell));
        cell[1].role = (uint8_t)role;
    }
}

/* ---- text ---- */

size_t canvas_cluster(const char *s, size_t n, int *columns)
{
    size_t len = utf8_cluster(s, n, columns);
    unsigned char c = (unsigned char)s[0];
    if (c < 0x20 || c == 0x7F || (c == 0xC2 && len >= 2 && (unsigned char)s[1] < 0xA0))
        *columns = 1;
    return len;
}

/* What canvas_cluster counted as one column although it cannot be shown as it is. */
static bool unshowable(const char *s, size_t len)
{
    unsigned char c = (unsigned char)s[0];
    if (c < 0x20 || c == 0x7F)
        return true;
    if (c == 0xC2 && len >= 2 && (unsigned char)s[1] < 0xA0)
        return true;
    return len == 1 && c >= 0x80;
}

static int put_clusters(struct canvas *c, struct rect r, int row, int col, enum role role,
                        const char *s, size_t n)
{
    struct rect clip = rect_intersect(r, canvas_rect(c));
    int y = r.row + row, right = clip.col + clip.cols;
    bool visible = y >= clip.row && y < clip.row + clip.rows;
    for (size_t i = 0; i < n && col < r.cols;) {
        int width;
        size_t len = canvas_cluster(s + i, n - i, &width);
        int x = r.col + col;
        if (width == 0) {
            i += len;
            continue;
        }
        if (visible && x >= clip.col && x + width <= right) {
            bool bad = unshowable(s + i, len);
            set_cell(c, y, x, bad ? "?" : s + i, bad ? 1 : len, width, role);
        } else if (visible && width == 2 && x == right - 1 && x >= clip.col) {
            set_cell(c, y, x, " ", 1, 1, role);
        } else if (visible && width == 2 && x + 1 == clip.col && clip.cols > 0) {
            set_cell(c, y, clip.col, " ", 1, 1, role);
        }
        col += width;
        i += len;
    }
    return col < r.cols ? col : r.cols;
}

int canvas_put(struct canvas *c, struct rect r, int row, int col, enum role role, const char *s)
{
    return put_clusters(c, r, row, col, role, s, strlen(s));
}

int canvas_putn(struct canvas *c, struct rect r, int row, int col, enum role role, const char *s,
                size_t n)
{
    return put_clusters(c, r, row, col, role, s, n);
}

int canvas_putf(struct canvas *c, struct rect r, int row, int col, enum role role, const char *fmt,
                ...)
{
    AUTO_TEXT t = TEXT_INIT;
    va_list ap;
    va_start(ap, fmt);
    text_addv(&t, fmt, ap);
    va_end(ap);
    return put_clusters(c, r, row, col, role, t.s, t.len);
}

size_t canvas_fit(const char *s, size_t n, int columns, int *used)
{
    size_t i = 0;
    int total = 0;
    while (i < n) {
        int width;
        size_t len = canvas_cluster(s + i, n - i, &width);
        if (width > columns - total)
            break;
        total += width;
        i += len;
    }
    if (used != NULL)
        *used = total;
    return i;
}

int canvas_columns(const char *s)
{
    int used;
    canvas_fit(s, strlen(s), INT_MAX, &used);
    return used;
}

/* Where the longest tail of s begins that fits in columns. */
static size_t fit_tail(const char *s, int columns)
{
    size_t n = strlen(s), start = n;
    int total = 0;
    while (start > 0) {
        size_t len = utf8_cluster_before(s, start);
        int width;
        canvas_cluster(s + start - len, len, &width);
        if (width > columns - total)
            break;
        total += width;
        start -= len;
    }
    return start;
}

void canvas_elide(struct text *out, const char *s, int columns, enum elide where)
{
    size_t n = strlen(s);
    if (columns <= 0)
        return;
    if (canvas_fit(s, n, columns, NULL) == n) {
        text_add(out, s);
        return;
    }
    int head = where == ELIDE_END ? columns - 1 : where == ELIDE_START ? 0 : columns / 2;
    int tail = columns - 1 - head;
    text_addn(out, s, canvas_fit(s, n, head, NULL));
    text_add(out, "…");
    if (tail > 0)
        text_add(out, s + fit_tail(s, tail));
}

int canvas_put_elided(struct canvas *c, struct rect r, int row, int col, enum role role,
                      const char *s)
{
    AUTO_TEXT t = TEXT_INIT;
    canvas_elide(&t, s, r.cols - col, ELIDE_END);
    return put_clusters(c, r, row, col, role, t.s, t.len);
}

int canvas_put_right(struct canvas *c, struct rect r, int row, enum role role, const char *s)
{
    AUTO_TEXT t = TEXT_INIT;
    canvas_elide(&t, s, r.cols, ELIDE_END);
    int col = r.cols - canvas_columns(t.s);
    put_clusters(c, r, row, col, role, t.s, t.len);
    return col;
}

int canvas_put_wrapped(struct canvas *c, struct rect r, enum role role, const char *s)
{
    size_t n = strlen(s), pos = 0;
    struct wrap_line line;
    int row = 0;
    while (wrap_next(s, n, &pos, r.cols, &line))
        put_clusters(c, r, row++, 0, role, s + line.at, line.len);
    return row;
}

/* ---- areas ---- */

static void repeat(struct canvas *c, struct rect r, int row, int from, int to, enum role role,
                   const char *glyph)
{
    for (int col = from; col < to; col++)
        canvas_put(c, r, row, col, role, glyph);
}

void canvas_hline(struct canvas *c, struct rect r, int row, enum role role)
{
    repeat(c, r, row, 0, r.cols, role, "─");
}

void canvas_box(struct canvas *c, struct rect r, enum role role)
{
    if (r.rows < 2 || r.cols < 2)
        return;
    for (int row = 0; row < r.rows; row++) {
        bool top = row == 0, bottom = row == r.rows - 1;
        canvas_put(c, r, row, 0, role, top ? "┌" : bottom ? "└" : "│");
        if (top || bottom)
            repeat(c, r, row, 1, r.cols - 1, role, "─");
        canvas_put(c, r, row, r.cols - 1, role, top ? "┐" : bottom ? "┘" : "│");
    }
}

void canvas_fill(struct canvas *c, struct rect r, enum role role)
{
    struct rect clip = rect_intersect(r, canvas_rect(c));
    for (int row = clip.row; row < clip.row + clip.rows; row++) {
        for (int col = clip.col; col < clip.col + clip.cols; col++)
            set_cell(c, row, col, " ", 1, 1, role);
    }
}

void canvas_paint(struct canvas *c, struct rect r, enum role role)
{
    struct rect clip = rect_intersect(r, canvas_rect(c));
    for (int row = clip.row; row < clip.row + clip.rows; row++) {
        for (int col = clip.col; col < clip.col + clip.cols; col++)
            at(c, row, col)->role = (uint8_t)role;
    }
}

void canvas_cursor(struct canvas *c, struct rect r, int row, int col)
{
    struct rect clip = rect_intersect(r, canvas_rect(c));
    int y = r.row + row, x = r.col + col;
    bool inside =
        y >= clip.row && y < clip.row + clip.rows && x >= clip.col && x < clip.col + clip.cols;
    c->cursor_row = inside ? y : -1;
    c->cursor_col = inside ? x : -1;
}

void canvas_dump(const struct canvas *c, struct text *out)
{
    for (int row = 0; row < c->rows; row++) {
        int end = c->cols;
        while (end > 0 && strcmp(at(c, row, end - 1)->ch, " ") == 0)
            end--;
        for (int col = 0; col < end; col++)
            text_add(out, at(c, row, col)->ch);
        text_addc(out, '\n');
    }
}
