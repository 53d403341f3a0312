/* The terminal: the one file that knows ncurses. It shows a canvas, reads keys for a poll-based
 * loop, and gives the terminal back (ui/guard.h).
 *
 * Loop: poll the descriptors of term_fds for POLLIN with at most term_timeout, whatever poll says
 * (EINTR too) call term_read until TERM_NONE. One terminal at a time, used by one thread. */
#ifndef SLUICE_UI_TERM_H
#define SLUICE_UI_TERM_H

#include <stdbool.h>
#include <stddef.h>

#include "core/problem.h"
#include "ui/canvas.h"
#include "ui/key.h"
#include "ui/theme.h"

#define TERM_COPY_MAX 74994 /* bytes: base64 of it is the 100,000 that xterm and others accept */

struct terminal;

enum term_event {
    TERM_NONE,
    TERM_KEY,
    TERM_SIGNAL, /* asked to end: save, term_close, leave with 128 + term_signal */
    TERM_EOF     /* the terminal is gone: save and leave with 128 + SIGHUP */
};

/* 0 when a full-screen program can run here. Otherwise -1 and the reason (not a terminal, TERM
 * unset or unknown, no cursor movement): then plain mode or headless is the way. Touches nothing.
 */
int term_usable(int in, int out, struct problem *why);

/* Takes the terminal over; colours by theme_choose unless no_color. NULL and err on failure, the
 * terminal then being as before. Call theme_set_locale first. */
struct terminal *term_open(int in, int out, bool no_color, struct problem *err);
void term_close(struct terminal *t); /* NULL is fine */

int term_rows(const struct terminal *t);
int term_cols(const struct terminal *t);
bool term_utf8(const struct terminal *t);
enum scheme term_scheme(const struct terminal *t);

/* Shows c; what has not changed since the last time is not sent. A canvas of another size than the
 * terminal is shown in the upper left. Outside UTF-8 each cluster becomes its ASCII twin. */
void term_draw(struct terminal *t, const struct canvas *c);
void term_redraw(struct terminal *t); /* the next term_draw sends everything (Ctrl-L) */

void term_fds(const struct terminal *t, int fds[2]);
int term_timeout(const struct terminal *t); /* ms, -1: none */
/* The next key (to be released by the caller) or what else happened. Never waits, but for 25 ms on
 * a lone Esc. */
enum term_event term_read(struct terminal *t, struct key *k);
int term_signal(const struct terminal *t); /* after TERM_SIGNAL */

/* Gives the terminal back for a while (another program, Ctrl-Z) and takes it again; after
 * term_enter everything must be drawn anew. */
void term_leave(struct terminal *t);
void term_enter(struct terminal *t);
void term_suspend(
    struct terminal *t); /* leave, stop as the shell's job control wants, enter on return */

/* To the clipboard by OSC 52; that it arrived cannot be known. -1 when longer than TERM_COPY_MAX.
 */
int term_copy(struct terminal *t, const char *s, size_t n, struct problem *err);
#endif
