/* struct run: what a check or a change sees while it runs on its thread: its inputs, its deadline
 * and cancel, and a place to report progress. Everything blocking below (net/) takes a run and
 * honours both. */
#ifndef SLUICE_CORE_RUN_H
#define SLUICE_CORE_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/problem.h"
#include "core/snapshot.h"

struct net; /* net/net.h */
struct run;

/* Inputs. For a check an id that is not in its `reads` is a bug and ends the program; a change may
 * read all. */
const char *run_text(const struct run *run, const char *id); /* "" when there is none */
bool run_on(const struct run *run, const char *id);
const struct value *run_value(const struct run *run, const char *id);
struct secret *run_secret(const struct run *run,
                          const char *id); /* borrowed; NULL when not at hand */
const void *run_fact(const struct run *run, const char *id, const struct fact_type *type);

struct net *run_net(const struct run *run);
/* Milliseconds left, >= 0; 0 = over. */
int run_left_ms(const struct run *run);
int64_t run_deadline(const struct run *run); /* clock_ms() when it is over */
/* Waiting for a shared connection does not use up the deadline: between pause and resume it stands
 * still. */
void run_pause(struct run *run);
void run_resume(struct run *run);
/* Readable once the operator cancelled or the program ends; poll it beside the socket. */
int run_cancel_fd(const struct run *run);
bool run_cancelled(const struct run *run); /* of NULL: false */
/* -1 with PROBLEM_CANCELLED or PROBLEM_UNREACHABLE ("no answer within 15 s while PHASE"); 0 while
 * time is left. */
int run_over(const struct run *run, const char *phase, struct problem *err);
/* Sleeps, at most until deadline or cancel; 0 when slept in full. */
int run_sleep(struct run *run, int ms, struct problem *err);
/* Shown beside the running line; total 0 = unknown. `what` may be NULL and is copied. */
void run_progress(struct run *run, int64_t done, int64_t total, const char *what);
/* A line in the log (cleaned, redacted) with the row's id before it. */
void run_log(struct run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Time to take a probe's things away again, whatever became of its run: cancelled or over. Shorter
 * when it was cancelled, as a program that ends waits 2 s for its threads. run_free it. */
struct run *run_new_cleanup(const struct run *of);

/* For unit tests and tools: a run outside the engine over a snapshot (may be NULL), which may read
 * all; deadline_ms 0 = 30000. run_free it (NULL is fine). */
struct run *run_new_detached(const struct snapshot *s, struct net *net, int deadline_ms);
void run_cancel_detached(struct run *run); /* from any thread */
void run_free(struct run *run);
#endif
