/* What the handlers need is prepared outside them; inside only write, tcsetattr, tcflush, sigaction
 * and raise are called, all async-signal-safe (POSIX, signal-safety(7)). */
#include "ui/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"

enum { SIGNALS = 65, ALT_STACK = 65536 };

enum reaction {
    ENDS,    /* told to the loop, unless ignored when we started */
    INFORMS, /* likewise, not ending */
    CRASHES
};

static const struct {
    int signal;
    enum reaction reaction;
} rows[] = {
    {SIGTERM, ENDS},     {SIGHUP, ENDS},     {SIGINT, ENDS},     {SIGQUIT, ENDS},
    {SIGWINCH, INFORMS}, {SIGTSTP, INFORMS}, {SIGCONT, INFORMS}, {SIGSEGV, CRASHES},
    {SIGBUS, CRASHES},   {SIGILL, CRASHES},  {SIGFPE, CRASHES},  {SIGABRT, CRASHES},
};

static struct {
    atomic_bool armed;
    int tty, out;
    struct termios saved;
    char bytes[512];
    size_t n;
    bool at_exit; /* hooks are registered */
    bool catching;
    int wake[2];
    atomic_int any;
    atomic_int pending[SIGNALS];
    struct sigaction before[ARRAY_LEN(rows)];
} guard = {.wake = {-1, -1}};

static void write_all(int fd, const char *s, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, s, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return;
        s += done;
        n -= (size_t)done;
    }
}

void guard_restore(void)
{
    if (!atomic_exchange(&guard.armed, false))
        return;
    int kept = errno;
    write_all(guard.out, guard.bytes, guard.n);
    /* In the background the terminal is the shell's, and touching its modes would only stop us. */
    if (tcgetpgrp(guard.tty) == getpgrp()) {
        tcflush(guard.tty, TCIFLUSH);
        tcsetattr(guard.tty, TCSANOW, &guard.saved);
    }
    errno = kept;
}

void guard_arm(int tty, int out, const struct termios *saved, const char *bytes, size_t n)
{
    atomic_store(&guard.armed, false);
    guard.tty = tty;
    guard.out = out;
    guard.saved = *saved;
    guard.n = n < sizeof(guard.bytes) ? n : sizeof(guard.bytes);
    memcpy(guard.bytes, bytes, guard.n);
    atomic_store(&guard.armed, true);
    if (!guard.at_exit) {
        guard.at_exit = true;
        atexit(guard_restore);
        mem_on_exhausted(guard_restore);
    }
}

void guard_disarm(void)
{
    atomic_store(&guard.armed, false);
}

/* ---- signals ---- */

static void on_notice(int sig)
{
    int kept = errno;
    atomic_store(&guard.pending[sig], 1);
    atomic_store(&guard.any, 1);
    /* A full pipe is fine: then the loop has been woken already. */
    ssize_t done = write(guard.wake[1], "", 1);
    (void)done;
    errno = kept;
}

static void on_crash(int sig, siginfo_t *info, void *context)
{
    static const char words[] =
        "sluice: ended by a bug of its own. The terminal is restored, and what "
        "was saved is whole: start it again to go on.\r\n";
    (void)context;
    guard_restore();
    write_all(STDERR_FILENO, words, sizeof(words) - 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].signal == sig)
            sigaction(sig, &guard.before[i], NULL);
    }
    /* A fault happens again on return and reaches the handler from before with its true cause; what
     * was sent by someone must be sent again. */
    if (info->si_code <= 0)
        raise(sig);
}

/* A stack overflow can only be handled on another stack. A sanitizer has set one already. */
static void need_alt_stack(void)
{
    static char stack[ALT_STACK];
    stack_t now;
    if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE))
        sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
}

static void catch_one(size_t i)
{
    struct sigaction act = {.sa_flags = SA_RESTART};
    sigemptyset(&act.sa_mask);
    if (rows[i].reaction == CRASHES) {
        act.sa_sigaction = on_crash;
        act.sa_flags = SA_SIGINFO | SA_ONSTACK;
    } else {
        act.sa_handler = on_notice;
    }
    sigaction(rows[i].signal, NULL, &guard.before[i]);
    if (rows[i].reaction != CRASHES && !(guard.before[i].sa_flags & SA_SIGINFO) &&
        guard.before[i].sa_handler == SIG_IGN)
        return;
    sigaction(rows[i].signal, &act, NULL);
}

int guard_signals(struct problem *err)
{
    if (guard.catching)
        return guard.wake[0];
    if (guard.wake[0] < 0 && pipe2(guard.wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return problem_errno(err, errno, "cannot make a pipe for signals");
    need_alt_stack();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        catch_one(i);
    guard.catching = true;
    return guard.wake[0];
}

/* The pipe stays open: a handler that runs on another thread right now may still write to it. */
void guard_signals_end(void)
{
    if (!guard.catching)
        return;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        sigaction(rows[i].signal, &guard.before[i], NULL);
    guard.catching = false;
}

int guard_next_signal(void)
{
    if (atomic_load(&guard.any) == 0)
        return 0;
    char sink[64];
    while (read(guard.wake[0], sink, sizeof(sink)) > 0)
        ;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].reaction != CRASHES && atomic_exchange(&guard.pending[rows[i].signal], 0))
            return rows[i].signal;
    }
    /* Cleared only when none was found; one that comes meanwhile has set it again, or is found next
     * time because it wakes the loop. */
    atomic_store(&guard.any, 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].reaction != CRASHES && atomic_load(&guard.pending[rows[i].signal]))
            atomic_store(&guard.any, 1);
    }
    return 0;
}
