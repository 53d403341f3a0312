/* Lines on a terminal. See console.h. */
#include "ui/console.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/clean.h"
#include "core/mem.h"
#include "core/utf8.h"
#include "ui/guard.h"
#include "ui/theme.h"

#define LINE_BYTES 4096 /* what the kernel holds of one line (MAX_CANON of Linux) */

static void send_bytes(const struct console *c, const char *s, size_t n)
{
    while (n > 0) {
        ssize_t done = write(c->out, s, n);
        if (done < 0 && (errno == EINTR || errno == EAGAIN)) {
            poll(&(struct pollfd){.fd = c->out, .events = POLLOUT}, 1, 100);
            continue;
        }
        if (done <= 0)
            return; /* gone: the next question says so */
        s += done;
        n -= (size_t)done;
    }
}

/* 0 when it is not known: then nothing is wrapped. The last column stays free, as some terminals
 * move on when it is used. */
static int width_of(const struct console *c)
{
    struct winsize size = {0};
    return ioctl(c->out, TIOCGWINSZ, &size) == 0 && size.ws_col > 10 ? size.ws_col - 1 : 0;
}

/* Breaks a line at blanks; further lines stand two columns in from its first. A word that is wider
 * than the terminal (a URL, a path) is left whole, so that it can still be copied. */
static void wrap_line(struct text *out, const char *s, int width)
{
    int indent = (int)strspn(s, " "), at = indent;
    text_addn(out, s, (size_t)indent);
    for (s += indent; *s != '\0';) {
        size_t blanks = strspn(s, " "), n = strcspn(s + blanks, " ");
        AUTO(xfree) char *word = xstrndup(s + blanks, n);
        int columns = utf8_columns(word);
        if (width > 0 && blanks > 0 && at + (int)blanks + columns > width) {
            text_addf(out, "\n%*s%s", indent + 2, "", word);
            at = indent + 2 + columns;
        } else {
            text_addf(out, "%*s%s", (int)blanks, "", word);
            at += (int)blanks + columns;
        }
        s += blanks + n;
    }
}

static void show(const struct console *c, const char *s, const char *end, bool wrap)
{
    AUTO_TEXT clean = TEXT_INIT;
    AUTO_TEXT lines = TEXT_INIT;
    AUTO_TEXT bytes = TEXT_INIT;
    int width = wrap ? width_of(c) : 0;
    clean_add(&clean, s, strlen(s), CLEAN_LINES);
    for (const char *at = clean.s; *at != '\0';) {
        size_t n = strcspn(at, "\n");
        AUTO(xfree) char *one = xstrndup(at, n);
        wrap_line(&lines, one, width);
        at += n;
        if (*at == '\n')
            text_addc(&lines, *at++);
    }
    if (c->utf8)
        text_addn(&bytes, lines.s, lines.len);
    else
        theme_add_ascii(&bytes, lines.s);
    text_add(&bytes, end);
    send_bytes(c, bytes.s, bytes.len);
}

void console_say(struct console *c, const char *fmt, ...)
{
    AUTO_TEXT text = TEXT_INIT;
    va_list ap;
    va_start(ap, fmt);
    text_addv(&text, fmt, ap);
    va_end(ap);
    show(c, text.s, "\n", true);
}

void console_say_code(struct console *c, const char *fmt, ...)
{
    AUTO_TEXT text = TEXT_INIT;
    va_list ap;
    va_start(ap, fmt);
    text_addv(&text, fmt, ap);
    va_end(ap);
    show(c, text.s, "\n", false);
}

/* TCSADRAIN: what was typed ahead stays. */
static void set_echo(const struct console *c, bool hidden)
{
    struct termios modes = c->line;
    if (hidden) {
        modes.c_lflag &= ~(tcflag_t)ECHO;
        modes.c_lflag |= ECHONL;
    }
    tcsetattr(c->in, TCSADRAIN, &modes);
}

int console_open(struct console *c, int in, int out, struct problem *err)
{
    *c = (struct console){.in = in, .out = out, .utf8 = theme_set_locale(), .signal_fd = -1};
    if (tcgetattr(in, &c->found) != 0)
        return problem_errno(err, errno, "cannot read the modes of the terminal");
    c->line = c->found;
    c->line.c_lflag |= ICANON | ISIG;
    c->line.c_iflag |= ICRNL | (c->utf8 ? IUTF8 : 0);
    c->signal_fd = guard_signals(err);
    if (c->signal_fd < 0)
        return -1;
    guard_arm(in, out, &c->found, "", 0);
    set_echo(c, false);
    return 0;
}

void console_close(struct console *c)
{
    tcsetattr(c->in, TCSADRAIN, &c->found);
    guard_disarm();
    guard_signals_end();
}

/* Stops as the shell's job control wants it, with the terminal as it was found. */
static void suspend(struct console *c)
{
    struct sigaction before, plain = {.sa_handler = SIG_DFL};
    tcsetattr(c->in, TCSADRAIN, &c->found);
    guard_disarm();
    sigemptyset(&plain.sa_mask);
    sigaction(SIGTSTP, &plain, &before);
    kill(0, SIGTSTP);
    sigaction(SIGTSTP, &before, NULL);
    guard_arm(c->in, c->out, &c->found, "", 0);
}

/* A pending signal that asks to end, or 0; *again when the prompt has to be shown anew. */
static int next_signal(struct console *c, bool *again)
{
    for (int sig = guard_next_signal(); sig != 0; sig = guard_next_signal()) {
        if (sig == SIGTSTP)
            suspend(c);
        if (sig == SIGTSTP || sig == SIGCONT)
            *again = true;
        else if (sig != SIGWINCH)
            return sig;
    }
    return 0;
}

/* Reads what the kernel has: CONSOLE_LINE when the line is complete, CONSOLE_READY when not. */
static enum console_event take_line(struct console *c, struct text *line)
{
    char bytes[LINE_BYTES];
    ssize_t got = read(c->in, bytes, sizeof(bytes));
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return CONSOLE_READY;
    if (got <= 0)
        return CONSOLE_EOF;
    bool whole = bytes[got - 1] == '\n';
    text_addn(line, bytes, (size_t)got - whole);
    explicit_bzero(bytes, sizeof(bytes));
    return whole ? CONSOLE_LINE : CONSOLE_READY;
}

/* The terminal has gone, rather than that Ctrl-D was typed; the signal may come later than its end.
 */
static bool hung_up(const struct console *c)
{
    struct pollfd p = {.fd = c->in, .events = POLLIN};
    return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR | POLLNVAL));
}

enum console_event console_ask(struct console *c, const char *prompt, bool hidden,
                               struct text *line, int *signal)
{
    bool again = true;
    text_reset(line);
    for (;;) {
        *signal = next_signal(c, &again);
        if (*signal != 0)
            break;
        if (again) {
            set_echo(c, hidden);
            show(c, prompt, " ", true);
            again = false;
        }
        struct pollfd fds[2] = {{.fd = c->in, .events = POLLIN},
                                {.fd = c->signal_fd, .events = POLLIN}};
        if (poll(fds, 2, -1) <= 0 || fds[1].revents != 0)
            continue;
        enum console_event got = take_line(c, line);
        if (got == CONSOLE_READY)
            continue;
        if (got == CONSOLE_EOF && hung_up(c)) {
            *signal = SIGHUP;
            break;
        }
        set_echo(c, false);
        return got;
    }
    text_wipe(line);
    set_echo(c, false);
    return CONSOLE_SIGNAL;
}

enum console_event console_wait(struct console *c, int fd, int ms, int *signal)
{
    struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = c->signal_fd, .events = POLLIN}};
    bool again = false;
    int got = poll(fds, 2, ms);
    *signal = next_signal(c, &again);
    if (*signal != 0)
        return CONSOLE_SIGNAL;
    if (again)
        set_echo(c, false);
    return got == 0 ? CONSOLE_TIMEOUT : CONSOLE_READY;
}
