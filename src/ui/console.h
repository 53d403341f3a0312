/* The terminal as lines: for plain mode, where nothing but appended text may be sent. Lines are
 * edited by the kernel; what is said passes the sanitiser, so that no escape code can leave here.
 *
 * Signals that ask to end come back from console_ask and console_wait instead of ending the
 * process, and whatever does end it, the echo is switched on again (ui/guard.h). One at a time, one
 * thread. */
#ifndef SLUICE_UI_CONSOLE_H
#define SLUICE_UI_CONSOLE_H

#include <stdbool.h>
#include <termios.h>

#include "core/problem.h"
#include "core/text.h"

struct console {
    int in, out;
    bool utf8;
    struct termios found; /* as the terminal was found, and is left */
    struct termios line;  /* with line editing and Ctrl-C on */
    int signal_fd;
};

enum console_event {
    CONSOLE_LINE,
    CONSOLE_EOF,
    CONSOLE_SIGNAL, /* c's *signal: SIGINT is Ctrl-C */
    CONSOLE_READY,  /* console_wait: fd is readable */
    CONSOLE_TIMEOUT
};

int console_open(struct console *c, int in, int out, struct problem *err);
void console_close(struct console *c);

/* One line (or several) and its end, wrapped at blanks where the terminal says how wide it is. */
void console_say(struct console *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* As it is: what may be copied, such as SQL and commands, keeps its lines. */
void console_say_code(struct console *c, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Shows the prompt and a blank, reads a line into `line` (without its end; emptied before). Hidden:
 * nothing typed is shown; the caller wipes the text. Ctrl-Z is done here and asks again. */
enum console_event console_ask(struct console *c, const char *prompt, bool hidden,
                               struct text *line, int *signal);
/* Waits for fd (of the engine) at most ms (-1: for ever); what is typed meanwhile is kept for the
 * next question. */
enum console_event console_wait(struct console *c, int fd, int ms, int *signal);
#endif
