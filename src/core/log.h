/* The log: a ring of recent lines for the log view and, with --log, a file (0600). One of the two
 * globals of the program. Lines are cleaned and redacted here; thread-safe. Library layers do not
 * log: the engine logs what its checks and changes did. */
#ifndef SLUICE_CORE_LOG_H
#define SLUICE_CORE_LOG_H

#include <stddef.h>

#include "core/problem.h"

int log_open(const char *path, struct problem *err); /* appends to a file besides the ring */
void log_close(void);
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Copies the newest `max` lines, oldest first; free each and the array with xfree. */
char **log_recent(size_t max, size_t *count);
#endif
