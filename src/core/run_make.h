/* Making a run: the engine's side of core/run.h.
 *
 * A run has two holders: the thread that works and the main thread that may cancel it. Each lets go
 * with run_free; an abandoned thread may do so long after the engine has gone. */
#ifndef SLUICE_CORE_RUN_MAKE_H
#define SLUICE_CORE_RUN_MAKE_H

#include "core/check.h"
#include "core/run.h"

struct run_spec {
    const struct snapshot
        *snapshot;             /* a reference is taken; NULL = every answer and fact is missing */
    const struct check *check; /* its `reads` are enforced; NULL = a change, may read all */
    const char *id;            /* before the lines of run_log, copied; NULL = the check's */
    struct net *net;           /* borrowed; may be NULL */
    int deadline_ms;           /* from now; 0 = 15000 for a check, 30000 for a change */
    /* On the run's thread. `what` is redacted and cleaned, and borrowed for the call; may be NULL.
     */
    void (*progress)(void *ctx, int64_t done, int64_t total, const char *what);
    void *ctx;
};

/* The deadline starts now. NULL and PROBLEM_LOCAL when there is no descriptor left for its cancel.
 */
struct run *run_make(const struct run_spec *spec, struct problem *err);
struct run *run_ref(struct run *run); /* one more holder; each calls run_free */
/* From any thread, any number of times: the cancel descriptor becomes readable and stays so. */
void run_cancel(struct run *run);
/* The deadline starts anew: for the parts of a change (find, send, ready). */
void run_restart(struct run *run, int deadline_ms);
#endif
