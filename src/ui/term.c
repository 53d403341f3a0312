/* ncurses lives here and nowhere else. It does what it is good at (terminfo, the shortest way to
 * change a screen, decoding keys); signals, sizes, pastes and the end are ours, as its own handlers
 * leave before anything is saved. */
#define NCURSES_WIDECHAR 1
#include "ui/term.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"
#include "ui/decode.h"
#include "ui/glyph.h"
#include "ui/guard.h"
#include "ui/osc.h"
#include "ui/sequence.h"

#define ESC_DELAY_MS 25
#define PASTE_ON "\033[?2004h"
#define PASTE_OFF "\033[?2004l"

struct terminal {
    int in, out;
    FILE *fin, *fout;
    SCREEN *screen;
    WINDOW *input; /* a pad: reading from it never refreshes */
    bool utf8;
    enum scheme scheme;
    int rows, cols;
    struct canvas shown; /* what the last term_draw showed */
    bool all;            /* nothing on the screen can be relied on */
    bool away;           /* between term_leave and term_enter */
    struct decode decode;
    int signal_fd, signal;
    struct termios saved;
    char restore[512];
    size_t n_restore;
};

/* ---- keys as ncurses names them ---- */

/* Codes of our own for ui/sequence.h, above those ncurses gives out. */
#define CODE_FIRST 0x4000

static const struct {
    int code;
    enum key_code key;
} curses_keys[] = {
    {KEY_ENTER, K_ENTER}, {KEY_BTAB, K_BACKTAB}, {KEY_BACKSPACE, K_BACKSPACE},
    {KEY_DC, K_DELETE},   {KEY_IC, K_INSERT},    {KEY_UP, K_UP},
    {KEY_DOWN, K_DOWN},   {KEY_LEFT, K_LEFT},    {KEY_RIGHT, K_RIGHT},
    {KEY_HOME, K_HOME},   {KEY_END, K_END},      {KEY_PPAGE, K_PGUP},
    {KEY_NPAGE, K_PGDN},  {KEY_FIND, K_HOME},    {KEY_SELECT, K_END},
    {KEY_A1, K_HOME},     {KEY_A3, K_PGUP},      {KEY_C1, K_END},
    {KEY_C3, K_PGDN},
};

static enum key_code from_curses(int code)
{
    if (code >= KEY_F(1) && code <= KEY_F(12))
        return (enum key_code)(K_F1 + code - KEY_F(1));
    for (size_t i = 0; i < ARRAY_LEN(curses_keys); i++) {
        if (curses_keys[i].code == code)
            return curses_keys[i].key;
    }
    return K_NONE;
}

/* ---- opening ---- */

static const char *capability(const char *name)
{
    const char *s = tigetstr(name);
    return s == NULL || s == (char *)-1 ? NULL : s;
}

int term_usable(int in, int out, struct problem *why)
{
    if (!isatty(in) || !isatty(out)) {
        problem_fail(why, PROBLEM_LOCAL, "no terminal", "%s is not a terminal",
                     !isatty(in) ? "the input" : "the output");
        problem_fix(why, WHO_YOU, "use `sluice check` or give the answers with --answers FILE");
        return -1;
    }
    const char *name = getenv("TERM");
    int status = 0;
    if (name == NULL || name[0] == '\0') {
        problem_fail(why, PROBLEM_LOCAL, "TERM", "TERM is not set");
    } else if (setupterm(NULL, out, &status) != OK) {
        problem_fail(why, PROBLEM_LOCAL, "TERM", "the terminal \"%s\" is not known here", name);
    } else {
        bool moves = capability("cup") != NULL;
        del_curterm(cur_term);
        if (moves)
            return 0;
        problem_fail(why, PROBLEM_LOCAL, "TERM", "on the terminal \"%s\" no cursor can move", name);
    }
    problem_fix(why, WHO_YOU, "TERM=xterm-256color may help; plain prompts are used otherwise");
    return -1;
}

static void add_restore(struct terminal *t, const char *s)
{
    for (; s != NULL && *s != '\0' && t->n_restore < sizeof(t->restore); s++) {
        const char *end = s[0] == '$' && s[1] == '<' ? strchr(s, '>') : NULL;
        if (end != NULL)
            s = end; /* padding is for terminals with moving parts */
        else
            t->restore[t->n_restore++] = *s;
    }
}

/* Private modes first, cooked mode last (by the guard): nothing the terminal still sends may be
 * echoed. */
static void prepare_restore(struct terminal *t)
{
    add_restore(t, PASTE_OFF);
    add_restore(t, capability("rmkx"));
    add_restore(t, capability("op"));
    add_restore(t, capability("sgr0"));
    add_restore(t, capability("cnorm"));
    const char *leave = capability("rmcup");
    add_restore(t, leave != NULL ? leave : "\r\n");
}

static void send_bytes(const struct terminal *t, const char *s, size_t n)
{
    while (n > 0) {
        ssize_t done = write(t->out, s, n);
        if (done < 0 && (errno == EINTR || errno == EAGAIN)) {
            poll(&(struct pollfd){.fd = t->out, .events = POLLOUT}, 1, 100);
            continue;
        }
        if (done <= 0)
            return; /* gone: the next read says so */
        s += done;
        n -= (size_t)done;
    }
}

/* The size from the terminal itself: exported LINES and COLUMNS would be wrong after a resize. */
static void take_size(struct terminal *t)
{
    struct winsize size = {0};
    ioctl(t->out, TIOCGWINSZ, &size);
    int rows = size.ws_row > 0 ? size.ws_row : 24, cols = size.ws_col > 0 ? size.ws_col : 80;
    t->rows = rows < CANVAS_MAX ? rows : CANVAS_MAX;
    t->cols = cols < CANVAS_MAX ? cols : CANVAS_MAX;
    if (t->rows != LINES || t->cols != COLS)
        resizeterm(t->rows, t->cols);
    t->all = true;
}

static void take_colours(struct terminal *t, bool no_color)
{
    int colours = 0;
    if (has_colors() && start_color() == OK && use_default_colors() == OK)
        colours = COLORS;
    t->scheme = theme_choose(no_color ? 0 : colours, getenv("NO_COLOR"), getenv("COLORFGBG"));
    if (t->scheme == SCHEME_MONO)
        return;
    for (int i = 0; i < ROLE_COUNT; i++) {
        const struct style *style = theme_style(t->scheme, (enum role)i);
        init_pair((short)(i + 1), style->fg, style->bg);
    }
}

static void take_modes(struct terminal *t)
{
    raw();
    noecho();
    nonl();
    intrflush(stdscr, FALSE);
    t->input = newpad(1, 1);
    keypad(t->input, TRUE);
    nodelay(t->input, TRUE);
    for (size_t i = 0; i < sequence_count(); i++)
        define_key(sequence_row(i)->bytes, CODE_FIRST + (int)i);
    send_bytes(t, PASTE_ON, sizeof(PASTE_ON) - 1);
}

static FILE *stream_of(int fd, const char *mode)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    FILE *f = copy >= 0 ? fdopen(copy, mode) : NULL;
    if (f == NULL && copy >= 0)
        close(copy);
    return f;
}

static void drop(struct terminal *t)
{
    guard_disarm();
    guard_signals_end();
    if (t->input != NULL)
        delwin(t->input);
    if (t->screen != NULL)
        delscreen(t->screen);
    if (t->fin != NULL)
        fclose(t->fin);
    if (t->fout != NULL)
        fclose(t->fout);
    decode_release(&t->decode);
    canvas_release(&t->shown);
    xfree(t);
}

struct terminal *term_open(int in, int out, bool no_color, struct problem *err)
{
    if (term_usable(in, out, err) != 0)
        return NULL;
    struct terminal *t = xcalloc(1, sizeof(*t));
    t->in = in;
    t->out = out;
    t->shown = CANVAS_INIT;
    t->decode = DECODE_INIT;
    t->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    t->fin = stream_of(in, "r");
    t->fout = stream_of(out, "w");
    t->signal_fd = guard_signals(err); /* before newterm, which then installs none of its own */
    if (t->signal_fd < 0 || t->fin == NULL || t->fout == NULL || tcgetattr(in, &t->saved) != 0) {
        if (t->signal_fd >= 0)
            problem_errno(err, errno, "cannot use the terminal");
        drop(t);
        return NULL;
    }
    use_env(FALSE);
    use_tioctl(TRUE); /* the entry of the Linux console names no size: newterm would fail */
    set_escdelay(ESC_DELAY_MS);
    t->screen = newterm(NULL, t->fout, t->fin);
    if (t->screen == NULL) {
        problem_fail(err, PROBLEM_LOCAL, "TERM", "the terminal \"%s\" cannot be used",
                     getenv("TERM"));
        tcsetattr(in, TCSANOW, &t->saved);
        drop(t);
        return NULL;
    }
    prepare_restore(t);
    guard_arm(in, out, &t->saved, t->restore, t->n_restore);
    take_modes(t);
    take_colours(t, no_color);
    take_size(t);
    return t;
}

void term_close(struct terminal *t)
{
    if (t == NULL)
        return;
    term_leave(t);
    drop(t);
}

int term_rows(const struct terminal *t)
{
    return t->rows;
}

int term_cols(const struct terminal *t)
{
    return t->cols;
}

bool term_utf8(const struct terminal *t)
{
    return t->utf8;
}

enum scheme term_scheme(const struct terminal *t)
{
    return t->scheme;
}

/* ---- showing ---- */

static void put_cell(struct terminal *t, int row, int col, const struct cell *cell)
{
    const struct style *style = theme_style(t->scheme, (enum role)cell->role);
    attr_t attrs = (style->attrs & STYLE_BOLD ? A_BOLD : 0) |
                   (style->attrs & STYLE_DIM ? A_DIM : 0) |
                   (style->attrs & STYLE_REVERSE ? A_REVERSE : 0) |
                   (style->attrs & STYLE_UNDERLINE ? A_UNDERLINE : 0);
    short pair = (short)(t->scheme == SCHEME_MONO ? 0 : cell->role + 1);
    struct glyph glyphs[2];
    size_t n = glyph_split(cell, t->utf8, glyphs);
    for (size_t i = 0; i < n; i++) {
        cchar_t wide;
        if (setcchar(&wide, glyphs[i].wide, attrs, pair, NULL) == OK)
            mvadd_wch(row, col + glyphs[i].col, &wide);
    }
}

static void draw_row(struct terminal *t, const struct canvas *c, int row)
{
    size_t start = (size_t)row * (size_t)c->cols, bytes = (size_t)c->cols * sizeof(*c->cells);
    if (!t->all && memcmp(&c->cells[start], &t->shown.cells[start], bytes) == 0)
        return;
    memcpy(&t->shown.cells[start], &c->cells[start], bytes);
    for (int col = 0; col < c->cols && col < t->cols; col++) {
        const struct cell *cell = &c->cells[start + (size_t)col];
        if (cell->width > 0 && col + cell->width <= t->cols)
            put_cell(t, row, col, cell);
    }
}

void term_draw(struct terminal *t, const struct canvas *c)
{
    if (t->away)
        return;
    if (c->rows != t->shown.rows || c->cols != t->shown.cols) {
        canvas_resize(&t->shown, c->rows, c->cols);
        t->all = true;
    }
    if (t->all) {
        erase();
        clearok(curscr, TRUE);
    }
    for (int row = 0; row < c->rows && row < t->rows; row++)
        draw_row(t, c, row);
    t->all = false;
    bool cursor = c->cursor_row >= 0 && c->cursor_row < t->rows && c->cursor_col < t->cols;
    curs_set(cursor ? 1 : 0);
    move(cursor ? c->cursor_row : t->rows - 1, cursor ? c->cursor_col : 0);
    wnoutrefresh(stdscr);
    doupdate();
}

void term_redraw(struct terminal *t)
{
    t->all = true;
}

/* ---- reading ---- */

void term_fds(const struct terminal *t, int fds[2])
{
    fds[0] = t->in;
    fds[1] = t->signal_fd;
}

int term_timeout(const struct terminal *t)
{
    return decode_timeout(&t->decode, clock_ms());
}

int term_signal(const struct terminal *t)
{
    return t->signal;
}

static void feed_code(struct terminal *t, int code, int64_t now)
{
    size_t i = (size_t)(code - CODE_FIRST);
    if (code < CODE_FIRST || i >= sequence_count()) {
        enum key_code key = from_curses(code);
        if (key != K_NONE)
            decode_key(&t->decode, key, now);
        return;
    }
    switch (sequence_row(i)->kind) {
    case SEQUENCE_KEY:
        decode_key(&t->decode, sequence_row(i)->key, now);
        break;
    case SEQUENCE_PASTE_BEGIN:
        decode_paste_begin(&t->decode, now);
        break;
    case SEQUENCE_PASTE_END:
        decode_paste_end(&t->decode, now);
        break;
    }
}

enum input { INPUT_NONE, INPUT_SOME, INPUT_REFUSED, INPUT_EOF };

/* One character or key from ncurses into the decoder. That ncurses gives nothing can mean: nothing
 * there; bytes that are no character in this locale; or the end, which poll alone would report for
 * ever. */
static enum input pump(struct terminal *t)
{
    wint_t c = 0;
    int got = wget_wch(t->input, &c);
    if (got == OK) {
        decode_char(&t->decode, (uint32_t)c, clock_ms());
        return INPUT_SOME;
    }
    if (got == KEY_CODE_YES) {
        feed_code(t, (int)c, clock_ms());
        return INPUT_SOME;
    }
    struct pollfd p = {.fd = t->in, .events = POLLIN};
    if (poll(&p, 1, 0) <= 0)
        return INPUT_NONE;
    int waiting = 0;
    if ((p.revents & POLLIN) && ioctl(t->in, FIONREAD, &waiting) == 0 && waiting > 0)
        return INPUT_REFUSED;
    return INPUT_EOF;
}

static enum term_event on_signal(struct terminal *t, int sig, struct key *k)
{
    switch (sig) {
    case SIGTSTP:
        term_suspend(t);
        break;
    case SIGCONT: /* stopped and continued by others: the modes may be anybody's */
        if (t->away)
            return TERM_NONE;
        term_leave(t);
        term_enter(t);
        break;
    case SIGWINCH:
        if (!t->away)
            take_size(t);
        break;
    default:
        t->signal = sig;
        return TERM_SIGNAL;
    }
    *k = key_of(K_RESIZE);
    return TERM_KEY;
}

enum term_event term_read(struct terminal *t, struct key *k)
{
    *k = KEY_INIT;
    for (int refused = 0; refused < 64;) {
        if (decode_next(&t->decode, k))
            return TERM_KEY;
        int sig = guard_next_signal();
        if (sig != 0) {
            enum term_event event = on_signal(t, sig, k);
            if (event != TERM_NONE)
                return event;
            continue;
        }
        if (t->away)
            return TERM_NONE;
        switch (pump(t)) {
        case INPUT_SOME:
            continue;
        case INPUT_REFUSED:
            refused++;
            continue;
        case INPUT_EOF:
            return TERM_EOF;
        case INPUT_NONE:
            break;
        }
        decode_idle(&t->decode, clock_ms());
        return decode_next(&t->decode, k) ? TERM_KEY : TERM_NONE;
    }
    return TERM_NONE;
}

/* ---- leaving for a while ---- */

void term_leave(struct terminal *t)
{
    if (t->away)
        return;
    t->away = true;
    send_bytes(t, PASTE_OFF, sizeof(PASTE_OFF) - 1);
    curs_set(1);
    endwin();
    tcsetattr(t->in, TCSANOW, &t->saved);
    guard_disarm();
}

void term_enter(struct terminal *t)
{
    if (!t->away)
        return;
    guard_arm(t->in, t->out, &t->saved, t->restore, t->n_restore);
    reset_prog_mode();
    send_bytes(t, PASTE_ON, sizeof(PASTE_ON) - 1);
    t->away = false;
    take_size(t);
}

void term_suspend(struct terminal *t)
{
    struct sigaction before, plain = {.sa_handler = SIG_DFL};
    term_leave(t);
    sigemptyset(&plain.sa_mask);
    sigaction(SIGTSTP, &plain, &before);
    kill(0, SIGTSTP); /* the whole job, as the terminal's own Ctrl-Z would; we stop here */
    sigaction(SIGTSTP, &before, NULL);
    term_enter(t);
}

int term_copy(struct terminal *t, const char *s, size_t n, struct problem *err)
{
    AUTO_TEXT bytes = TEXT_INIT;
    if (n > TERM_COPY_MAX)
        return problem_fail(err, PROBLEM_INPUT, "too long", "too long for the clipboard: %zu bytes",
                            n);
    osc_copy(&bytes, s, n);
    send_bytes(t, bytes.s, bytes.len);
    return 0;
}
