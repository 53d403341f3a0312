/* The terminal guard: whatever ends the process, the terminal is given back as it was found.
 *
 * One of the two globals of the program, because signal handlers have no other way to it. At exit,
 * when memory is exhausted and on a crash it writes prepared bytes and restores the saved termios,
 * with async-signal-safe calls only; a crash then goes on to the handler that was there before (a
 * sanitizer's, or the default). Signals that ask the process to end only set a flag and wake the
 * loop, so that state is saved first. */
#ifndef SLUICE_UI_GUARD_H
#define SLUICE_UI_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "core/problem.h"

/* Remembers how to restore: the bytes that leave full-screen mode to out, then the modes of tty. */
void guard_arm(int tty, int out, const struct termios *saved, const char *bytes, size_t n);
void guard_disarm(void); /* the terminal is as it was found; nothing to do any more */
/* Restores if armed, once; async-signal-safe, from any thread. Typed-ahead input is discarded: the
 * rest of a paste must not reach the shell. */
void guard_restore(void);

/* Catches TERM, HUP, INT, QUIT (each unless ignored: nohup), WINCH, TSTP, CONT, and the crash
 * signals. Returns the descriptor that becomes readable when one of the first group came, -1 on
 * failure. */
int guard_signals(struct problem *err);
void guard_signals_end(void); /* previous handlers back */
/* The next pending signal of those, 0: none. Each is reported once however often it came. */
int guard_next_signal(void);
#endif
