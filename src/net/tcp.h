/* A bare TCP connection. Opened and closed at once it tells a closed door from a service that
 * refuses us. */
#ifndef SLUICE_NET_TCP_H
#define SLUICE_NET_TCP_H

#include "core/run.h"

/* Resolves host and connects to its first address that answers, within at most wait_ms and the
 * run's deadline. 0 when connected. PROBLEM_UNREACHABLE: code "dns EAI_…", "errno N" or "tcp
 * timeout"; PROBLEM_CANCELLED. */
int tcp_reach(struct run *run, const char *host, const char *port, int wait_ms,
              struct problem *err);
/* Connects to a numeric address until clock_ms() reaches `until`. 0 and the non-blocking socket,
 * which the caller closes; else an errno: ETIMEDOUT, ECANCELED, … */
int tcp_dial(const struct run *run, const char *address, int port, int64_t until, int *fd);
#endif
