/* Making a run: the engine's side of core/run.h. A run is freed by the main thread, once its own
 * thread has reported the end; a run whose thread hangs is left to it. */
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
/* From any thread, any number of times: the cancel descriptor becomes readable and stays so. NULL
 * is fine. */
void run_cancel(struct run *run);
#endif
