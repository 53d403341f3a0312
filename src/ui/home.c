/* The opening screen as a screen: its own small loop, since no session is open yet whose events an
 * app would wait for. See home.h. */
#include "ui/home.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clean.h"
#include "core/clock.h"
#include "core/mem.h"
#include "ui/frame.h"
#include "ui/list.h"
#include "ui/term.h"
#include "ui/wrap.h"

#define NAME_COLS 12
#define WHO_COLS 12
#define AGE_FROM_COLS 60 /* below, the state of an entry stands under the list only */

struct screen {
    struct home *home;
    const struct rows *rows;
    struct terminal *term;
    struct canvas canvas;
    struct list list; /* the entries, then "New pipeline" */
    char *notice;
    bool help, leave;
    int code;
    char *path; /* chosen */
};

static const struct home_entry *entry_at(const struct screen *s, size_t row)
{
    return row < s->home->count ? &s->home->entries[row] : NULL;
}

/* --- list ------------------------------------------------------------------------------------- */

/* The first row carries "Continue" above it, the last one "Start" and a blank line. */
static int rows_above(const struct screen *s, size_t row)
{
    return row == s->home->count ? 2 : row == 0 ? 1 : 0;
}

static int row_height(void *owner, size_t row, int cols)
{
    (void)cols;
    return 1 + rows_above(owner, row);
}

static void draw_entry(const struct home_entry *e, struct canvas *c, struct rect r, enum role role)
{
    AUTO_TEXT status = TEXT_INIT;
    AUTO_TEXT age = TEXT_INIT;
    home_status(e, &status);
    if (e->at != 0)
        home_age(clock_wall() - e->at, &age);
    canvas_put_elided(c, rect_cols(r, 0, NAME_COLS), 0, 0, role, e->name);
    struct rect rest = rect_cols(r, NAME_COLS + 1, -1);
    int end = canvas_put_right(c, rest, 0, ROLE_MUTED, age.s);
    if (r.cols < AGE_FROM_COLS)
        return;
    enum role how = e->fault != NULL        ? ROLE_FAIL
                    : e->holder != NULL     ? ROLE_WARN
                    : e->need_count > 0     ? ROLE_WAIT
                    : e->proved == e->total ? ROLE_PASS
                                            : ROLE_VALUE;
    canvas_put_elided(c, rect_cols(rest, 0, end - 2), 0, 0, how, status.s);
}

static void draw_row(void *owner, size_t row, struct canvas *c, struct rect r, bool at_cursor)
{
    const struct screen *s = owner;
    const struct home_entry *e = entry_at(s, row);
    int above = rows_above(s, row);
    if (above > 0)
        canvas_put(c, r, above - 1, 0, ROLE_TITLE, e != NULL ? "Continue" : "Start");
    struct rect line = rect_rows(r, above, 1);
    enum role role = at_cursor ? ROLE_FOCUS : ROLE_TEXT;
    if (at_cursor) {
        canvas_put(c, line, 0, 0, role, "▸");
        canvas_cursor(c, line, 0, 0);
    }
    line = rect_cols(line, 2, -1);
    if (e != NULL)
        draw_entry(e, c, line, role);
    else
        canvas_put(c, line, 0, 0, role, "New pipeline");
}

static const struct list_source source = {.draw = draw_row, .height = row_height};

/* --- below the list --------------------------------------------------------------------------- */

static int put_muted(struct screen *s, struct rect r, int at, const char *before, const char *text)
{
    AUTO(xfree) char *all = xasprintf("%s%s", before, text);
    AUTO(xfree) char *clean = clean_copy(all, CLEAN_LINE);
    return at + canvas_put_wrapped(&s->canvas, rect_rows(r, at, -1), ROLE_MUTED, clean);
}

static void draw_new(struct screen *s, struct rect r)
{
    int at =
        canvas_put_wrapped(&s->canvas, r, ROLE_TEXT,
                           "A new set-up, step by step from an empty page: PostgreSQL, Estuary, "
                           "Bauplan. Nothing is written before you type something.");
    put_muted(s, r, at, "kept in ", s->home->new_path);
}

static void draw_needs(struct screen *s, const struct home_entry *e, struct rect r)
{
    AUTO_TEXT heading = TEXT_INIT;
    AUTO_TEXT status = TEXT_INIT;
    home_heading(e, &heading);
    int at =
        canvas_put_wrapped(&s->canvas, r, e->fault != NULL ? ROLE_FAIL : ROLE_TITLE, heading.s);
    if (r.cols < AGE_FROM_COLS && e->fault == NULL) {
        home_status(e, &status);
        at += canvas_put_wrapped(&s->canvas, rect_rows(r, at, -1), ROLE_VALUE, status.s);
    }
    for (size_t i = 0; i < e->need_count; i++) {
        const struct home_need *n = &e->needs[i];
        AUTO(xfree) char *text = xasprintf("%s: %s", n->title, n->fix);
        struct rect left = rect_rows(r, at, -1);
        canvas_put_elided(&s->canvas, rect_cols(left, 2, WHO_COLS - 1), 0, 0, ROLE_LABEL, n->who);
        at += canvas_put_wrapped(&s->canvas, rect_cols(left, WHO_COLS + 2, -1), ROLE_HINT, text);
    }
    if (e->holder != NULL) {
        AUTO(xfree) char *text = xasprintf("%s. Opened here it is read-only.", e->holder);
        at += canvas_put_wrapped(&s->canvas, rect_rows(r, at, -1), ROLE_WARN, text);
    }
    put_muted(s, r, at, "kept in ", e->path);
}

static void draw_help(struct screen *s, struct rect r)
{
    static const struct {
        const char *keys, *text;
    } lines[] = {
        {"Enter", "opens the set-up at the cursor where it was left"},
        {"n", "a new pipeline, in a file of its own"},
        {"r F5", "reads the files again"},
        {"q F10", "leaves"},
        {"", "What stands here is read from the files; no service was asked. Another file: "
             "sluice --state FILE"},
    };
    int at = 0;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct rect line = rect_rows(r, at, -1);
        canvas_put(&s->canvas, line, 0, 0, ROLE_KEY, lines[i].keys);
        at += canvas_put_wrapped(&s->canvas, rect_cols(line, 8, -1), ROLE_TEXT, lines[i].text);
    }
}

static void draw_below(struct screen *s, struct rect r)
{
    const struct home_entry *e = entry_at(s, s->list.cursor);
    if (s->help)
        draw_help(s, r);
    else if (e != NULL)
        draw_needs(s, e, r);
    else
        draw_new(s, r);
}

static void draw_all(struct screen *s)
{
    struct canvas *c = &s->canvas;
    canvas_resize(c, term_rows(s->term), term_cols(s->term));
    canvas_clear(c);
    struct rect all = canvas_rect(c);
    if (all.rows < FRAME_MIN_ROWS || all.cols < FRAME_MIN_COLS) {
        canvas_putf(c, all, 0, 0, ROLE_TEXT, "sluice needs %dx%d", FRAME_MIN_COLS, FRAME_MIN_ROWS);
        return;
    }
    struct rect r = rect_cols(all, 1, all.cols - 2);
    canvas_put(c, r, 0, 0, ROLE_TITLE, "sluice " SLUICE_VERSION);
    int wanted = (int)s->home->count + 4, most = (all.rows - 4) * 3 / 5;
    int height = wanted < most ? wanted : most;
    list_draw(&s->list, c, rect_rows(r, 2, height));
    canvas_hline(c, r, 2 + height, ROLE_BORDER);
    draw_below(s, rect_rows(r, 3 + height, all.rows - 4 - height));
    if (s->notice != NULL) {
        canvas_fill(c, rect_rows(r, all.rows - 2, 1), ROLE_TEXT);
        canvas_put_elided(c, r, all.rows - 2, 0, ROLE_FAIL, s->notice);
    }
    canvas_put_elided(c, r, all.rows - 1, 0, ROLE_KEY, "Enter open · n new · ? help · q quit");
}

/* --- keys ------------------------------------------------------------------------------------- */

static void choose(struct screen *s, size_t row)
{
    const struct home_entry *e = entry_at(s, row);
    if (e != NULL && e->fault != NULL) {
        xreplace(&s->notice, e->fault);
        return;
    }
    s->path = xstrdup(e != NULL ? e->path : s->home->new_path);
    s->leave = true;
}

static void reload(struct screen *s)
{
    home_release(s->home);
    home_load(s->home, s->rows);
    list_set_count(&s->list, s->home->count + 1);
}

static void leave(struct screen *s, int code)
{
    s->leave = true;
    s->code = code;
}

static void take_key(struct screen *s, const struct key *k)
{
    xfree(s->notice);
    s->notice = NULL;
    if (k->code == K_CTRL_C)
        leave(s, 128 + SIGINT);
    else if (k->code == K_F(10) || key_is(k, "q") || (k->code == K_ESC && !s->help))
        leave(s, 0);
    else if (k->code == K_ESC)
        s->help = false;
    else if (k->code == K_ENTER || k->code == K_RIGHT)
        choose(s, s->list.cursor);
    else if (key_is(k, "n"))
        choose(s, s->home->count);
    else if (key_is(k, "?") || k->code == K_F1)
        s->help = !s->help;
    else if (key_is(k, "r") || k->code == K_F(5))
        reload(s);
    else if (k->code == K_CTRL_L)
        term_redraw(s->term);
    else if (k->code == K_CTRL_Z)
        term_suspend(s->term);
    else if (list_key(&s->list, k) & UI_CHANGED)
        s->help = false;
}

static void read_keys(struct screen *s)
{
    while (!s->leave) {
        AUTO_KEY k = KEY_INIT;
        switch (term_read(s->term, &k)) {
        case TERM_NONE:
            return;
        case TERM_KEY:
            take_key(s, &k);
            break;
        case TERM_SIGNAL:
            leave(s, 128 + term_signal(s->term));
            break;
        case TERM_EOF:
            leave(s, 128 + SIGHUP);
            break;
        }
    }
}

int home_run(struct home *h, const struct rows *rows, bool no_color, char **path,
             struct problem *err)
{
    struct screen s = {.home = h, .rows = rows, .canvas = CANVAS_INIT};
    *path = NULL;
    theme_set_locale();
    s.term = term_open(STDIN_FILENO, STDOUT_FILENO, no_color, err);
    if (s.term == NULL)
        return -1;
    list_init(&s.list, &source, &s);
    list_set_count(&s.list, h->count + 1);
    while (!s.leave) {
        draw_all(&s);
        term_draw(s.term, &s.canvas);
        int fds[2];
        term_fds(s.term, fds);
        struct pollfd p[2] = {{.fd = fds[0], .events = POLLIN}, {.fd = fds[1], .events = POLLIN}};
        poll(p, 2, term_timeout(s.term)); /* EINTR too: everything is looked at */
        read_keys(&s);
    }
    term_close(s.term);
    list_release(&s.list);
    canvas_release(&s.canvas);
    xfree(s.notice);
    *path = s.path;
    return s.code;
}
