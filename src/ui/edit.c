/* The buffer is never handed to realloc: it is moved by hand and the old one wiped, for any kind,
 * so that no copy of a secret stays behind in freed memory. */
#include "ui/edit.h"

#include <string.h>

#include "core/mem.h"
#include "core/utf8.h"

void edit_init(struct edit *e, enum edit_kind kind)
{
    *e = (struct edit){.kind = kind, .room = 64};
    e->s = xcalloc(e->room, 1);
}

void edit_release(struct edit *e)
{
    if (e->s != NULL)
        explicit_bzero(e->s, e->room);
    xfree(e->s);
    *e = (struct edit){.kind = e->kind};
}

static bool is_secret(const struct edit *e)
{
    return e->kind != EDIT_TEXT;
}

static void reserve(struct edit *e, size_t need)
{
    if (need <= e->room)
        return;
    size_t room = e->room;
    while (room < need)
        room *= 2;
    char *moved = xcalloc(room, 1);
    memcpy(moved, e->s, e->len);
    explicit_bzero(e->s, e->room);
    xfree(e->s);
    e->s = moved;
    e->room = room;
}

static void forget_paste(struct edit *e)
{
    e->n_lead = e->n_trail = e->paste_len = 0;
    e->report = (struct edit_report){0};
}

/* After a change the cursor may stand inside a cluster (a mark typed before another): it moves to
 * its end. */
static void snap(struct edit *e)
{
    if (e->at == 0 || e->at == e->len)
        return;
    size_t i = 0;
    while (i < e->at)
        i += utf8_cluster(e->s + i, e->len - i, NULL);
    e->at = i;
}

static void insert_raw(struct edit *e, size_t at, const char *s, size_t n)
{
    reserve(e, e->len + n + 1);
    memmove(e->s + at + n, e->s + at, e->len - at);
    memcpy(e->s + at, s, n);
    e->len += n;
    e->s[e->len] = '\0';
}

static void cut_raw(struct edit *e, size_t from, size_t to)
{
    memmove(e->s + from, e->s + to, e->len - to);
    explicit_bzero(e->s + e->len - (to - from), to - from);
    e->len -= to - from;
    e->s[e->len] = '\0';
    e->at = from;
    snap(e);
}

/* Inserts what a field may hold, character by character; the rest is counted. */
static void insert_filtered(struct edit *e, const char *s, size_t n)
{
    size_t at = e->at;
    reserve(e, (e->len + n < EDIT_MAX ? e->len + n : EDIT_MAX) + 1);
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)s[i];
        size_t len = 1;
        while (c >= 0xC0 && len < 4 && i + len < n && ((unsigned char)s[i + len] & 0xC0) == 0x80)
            len++;
        bool newline = c == '\n' && e->kind == EDIT_PEM;
        bool c1 = c == 0xC2 && len == 2 && (unsigned char)s[i + 1] < 0xA0;
        if (c == '\n' && e->kind == EDIT_TEXT) {
            if (e->len < EDIT_MAX)
                insert_raw(e, at++, " ", 1);
            e->report.breaks++;
        } else if ((c < 0x20 && !newline) || c == 0x7F || c1 || !utf8_valid(s + i, len)) {
            e->report.dropped++;
        } else if (len > EDIT_MAX - e->len) {
            e->report.full = true;
            break;
        } else {
            insert_raw(e, at, s + i, len);
            at += len;
        }
        i += len;
    }
    e->at = at;
    snap(e);
}

void edit_set(struct edit *e, const char *s)
{
    explicit_bzero(e->s, e->room);
    e->len = e->at = 0;
    e->scroll = 0;
    forget_paste(e);
    if (s != NULL)
        insert_filtered(e, s, strlen(s));
    e->at = e->len;
    e->report = (struct edit_report){0};
}

void edit_insert(struct edit *e, const char *s, size_t n)
{
    forget_paste(e);
    insert_filtered(e, s, n);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Blanks that were cut off, as far as they could be meant: line breaks never are. */
static size_t keep_blanks(char *out, const char *s, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n && kept < EDIT_BLANKS; i++) {
        if (s[i] == ' ')
            out[kept++] = ' ';
    }
    return kept;
}

void edit_paste(struct edit *e, const char *s, size_t n, bool cut)
{
    forget_paste(e);
    size_t from = 0, to = n;
    while (from < to && (is_secret(e) ? is_space(s[from]) : s[from] == '\n'))
        from++;
    while (to > from && (is_secret(e) ? is_space(s[to - 1]) : s[to - 1] == '\n'))
        to--;
    if (e->kind == EDIT_SECRET && memchr(s + from, '\n', to - from) != NULL) {
        e->report.refused = true;
        return;
    }
    size_t len = e->len;
    insert_filtered(e, s + from, to - from);
    e->report.trimmed = n - (to - from);
    e->report.full = e->report.full || cut;
    e->paste_len = e->len - len;
    e->paste_at = e->at - (e->paste_len <= e->at ? e->paste_len : e->at);
    e->n_lead = keep_blanks(e->lead, s, from);
    e->n_trail = keep_blanks(e->trail, s + to, n - to);
}

bool edit_untrim(struct edit *e)
{
    size_t n = e->n_lead + e->n_trail;
    if (n == 0 || n > EDIT_MAX - e->len || e->paste_at + e->paste_len > e->len)
        return false;
    insert_raw(e, e->paste_at + e->paste_len, e->trail, e->n_trail);
    insert_raw(e, e->paste_at, e->lead, e->n_lead);
    e->at = e->paste_at + e->n_lead + e->paste_len + e->n_trail;
    forget_paste(e);
    return true;
}

bool edit_say(const struct edit *e, struct text *out)
{
    const struct edit_report *r = &e->report;
    if (r->refused)
        text_add(out, "not pasted: it has a line break inside, a secret here is one line");
    if (r->trimmed > 0) {
        text_sep(out, "; ");
        text_addf(out, "removed %zu blank%s around the pasted text", r->trimmed,
                  r->trimmed == 1 ? "" : "s");
    }
    if (r->breaks > 0) {
        text_sep(out, "; ");
        text_addf(out, "%zu line break%s became blank%s", r->breaks, r->breaks == 1 ? "" : "s",
                  r->breaks == 1 ? "" : "s");
    }
    if (r->dropped > 0) {
        text_sep(out, "; ");
        text_addf(out, "left out %zu control character%s", r->dropped, r->dropped == 1 ? "" : "s");
    }
    if (r->full) {
        text_sep(out, "; ");
        text_addf(out, "too long, cut at %d KiB", EDIT_MAX / 1024);
    }
    return out->len > 0;
}

/* ---- keys ---- */

static size_t left_of(const struct edit *e, size_t at)
{
    return at == 0 ? 0 : at - utf8_cluster_before(e->s, at);
}

static size_t right_of(const struct edit *e, size_t at)
{
    return at >= e->len ? e->len : at + utf8_cluster(e->s + at, e->len - at, NULL);
}

/* Of a cluster: a blank that carries a mark is none. */
static bool blank_between(const struct edit *e, size_t from, size_t to)
{
    return to - from == 1 && is_space(e->s[from]);
}

/* A word of a hidden secret ends nowhere: its shape must not show by how the cursor jumps. */
static size_t word_left(const struct edit *e)
{
    size_t at = is_secret(e) && !e->reveal ? 0 : e->at, to = at;
    while (at > 0 && blank_between(e, to = left_of(e, at), at))
        at = to;
    while (at > 0 && !blank_between(e, to = left_of(e, at), at))
        at = to;
    return at;
}

static size_t word_right(const struct edit *e)
{
    size_t at = is_secret(e) && !e->reveal ? e->len : e->at, to = at;
    while (at < e->len && blank_between(e, at, to = right_of(e, at)))
        at = to;
    while (at < e->len && !blank_between(e, at, to = right_of(e, at)))
        at = to;
    return at;
}

static unsigned move_to(struct edit *e, size_t at)
{
    unsigned moved = at != e->at ? UI_REDRAW : 0;
    e->at = at;
    return UI_HANDLED | moved;
}

static unsigned cut(struct edit *e, size_t from, size_t to)
{
    if (from >= to)
        return UI_HANDLED;
    forget_paste(e);
    cut_raw(e, from, to);
    return UI_HANDLED | UI_REDRAW | UI_CHANGED;
}

static unsigned put_in(struct edit *e, const struct key *k)
{
    size_t len = e->len;
    if (k->code == K_PASTE)
        edit_paste(e, k->paste, k->paste_len, k->paste_cut);
    else
        edit_insert(e, k->text, strlen(k->text));
    return UI_HANDLED | UI_REDRAW | (e->len != len ? UI_CHANGED : 0);
}

unsigned edit_key(struct edit *e, const struct key *k)
{
    switch ((int)k->code) {
    case K_TEXT:
    case K_PASTE:
        return put_in(e, k);
    case K_LEFT:
        return move_to(e, left_of(e, e->at));
    case K_RIGHT:
        return move_to(e, right_of(e, e->at));
    case K_WORD_LEFT:
        return move_to(e, word_left(e));
    case K_WORD_RIGHT:
        return move_to(e, word_right(e));
    case K_HOME:
    case K_CTRL_A:
        return move_to(e, 0);
    case K_END:
    case K_CTRL_E:
        return move_to(e, e->len);
    case K_BACKSPACE:
        return cut(e, left_of(e, e->at), e->at);
    case K_DELETE:
    case K_CTRL_D:
        return cut(e, e->at, right_of(e, e->at));
    case K_CTRL_W:
        return cut(e, word_left(e), e->at);
    case K_CTRL_U:
        return cut(e, 0, e->at);
    case K_CTRL_K:
        return cut(e, e->at, e->len);
    case K_CTRL_R:
        if (!is_secret(e))
            return UI_IGNORED;
        e->reveal = !e->reveal;
        return UI_HANDLED | UI_REDRAW;
    default:
        return UI_IGNORED;
    }
}

/* ---- drawing ---- */

/* A line break inside a field is shown as one glyph. */
static size_t shown(const struct edit *e, size_t i, bool dots, const char **glyph, size_t *n,
                    int *width)
{
    size_t len = canvas_cluster(e->s + i, e->len - i, width);
    *glyph = e->s + i;
    *n = len;
    if (e->s[i] == '\n')
        *glyph = "↵";
    else if (dots)
        *glyph = "•";
    if (*glyph != e->s + i) {
        *n = strlen(*glyph);
        *width = 1;
    }
    return len;
}

static int columns_before(const struct edit *e, size_t at, bool dots)
{
    int total = 0;
    for (size_t i = 0; i < at;) {
        const char *glyph;
        size_t n;
        int width;
        i += shown(e, i, dots, &glyph, &n, &width);
        total += width;
    }
    return total;
}

static void draw_line(struct edit *e, struct canvas *c, struct rect r, enum role role, bool dots)
{
    int col = -e->scroll;
    size_t i = 0;
    while (i < e->len && col < r.cols) {
        const char *glyph;
        size_t n;
        int width;
        i += shown(e, i, dots, &glyph, &n, &width);
        if (col + width > 0)
            canvas_putn(c, r, 0, col, role, glyph, n);
        col += width;
    }
    /* More at the left or the right is said by an ellipsis on that edge. */
    if (e->scroll > 0 && r.cols > 2)
        canvas_put(c, r, 0, 0, ROLE_HINT, "…");
    if ((i < e->len || col > r.cols) && r.cols > 2)
        canvas_put(c, r, 0, r.cols - 1, ROLE_HINT, "…");
}

/* Scrolls by as little as keeps the cursor, and a column of context for the ellipses, in view. */
static void scroll_to(struct edit *e, int cursor, int total, int cols)
{
    int edge = cols > 4 ? 2 : 0;
    if (total < cols) {
        e->scroll = 0;
        return;
    }
    if (cursor - e->scroll > cols - 1 - edge)
        e->scroll = cursor - (cols - 1 - edge);
    if (cursor - e->scroll < edge)
        e->scroll = cursor - edge;
    if (e->scroll > total + 1 - cols)
        e->scroll = total + 1 - cols;
    if (e->scroll < 0)
        e->scroll = 0;
}

void edit_draw(struct edit *e, struct canvas *c, struct rect r, const struct edit_look *look)
{
    enum role role = look->focused ? ROLE_FOCUS : ROLE_VALUE;
    r = rect_rows(r, 0, 1);
    canvas_fill(c, r, role);
    bool hidden = is_secret(e) && !e->reveal;
    if (e->len == 0) {
        if (look->placeholder != NULL)
            canvas_put_elided(c, r, 0, 0, look->focused ? ROLE_FOCUS : ROLE_HINT,
                              look->placeholder);
        if (look->focused)
            canvas_cursor(c, r, 0, 0);
        return;
    }
    if (!look->focused) {
        e->scroll = 0;
        if (hidden) {
            char *masked = look->mask != NULL ? look->mask(e->s, e->len) : xstrdup("••••••••");
            canvas_put_elided(c, r, 0, 0, role, masked);
            xfree(masked);
        } else {
            draw_line(e, c, r, role, false);
        }
        return;
    }
    int cursor = columns_before(e, e->at, hidden);
    scroll_to(e, cursor, columns_before(e, e->len, hidden), r.cols);
    draw_line(e, c, r, role, hidden);
    canvas_cursor(c, r, 0, cursor - e->scroll);
}
