/* Making a run: the engine's side of core/run.h. A run is freed by the main thread, once its own
 * thread has reported the end; a run whose thread hangs is left to it. */
#ifndef SLUICE_CORE_RUN_MAKE_H
#define SLUICE_CORE_RUN_MAKE_H

#include "core/check.h"
#include "core/run.h"

/* snapshot: a reference is taken; NULL = every answer and fact is missing. check: its `reads` are
 * enforced; NULL = a change, which may read all. net: borrowed, may be NULL. deadline_ms: from now;
 * 0 = 15000. progress (may be NULL) is called on the run's thread; `what` is redacted, cleaned and
 * borrowed for the call, and may be NULL. Free it by run_free. */
struct run *run_make(const struct snapshot *snapshot, const struct check *check, struct net *net,
                     int deadline_ms,
                     void (*progress)(void *ctx, int64_t done, int64_t total, const char *what),
                     void *ctx);
/* What stands before the lines of run_log, for a change; a check has its id. Copied; before the
 * thread starts. */
void run_name(struct run *run, const char *id);
/* From any thread, any number of times: the cancel descriptor becomes readable and stays so. */
void run_cancel(struct run *run);
#endif
