/* The engine: runs checks and changes on threads of their own and returns their results to the main
 * thread through one queue. Front ends only observe its events, so that all behave alike.
 *
 * Caps: 64 threads, 16 a service, 16 changes side by side. Idle means no wake-ups: the main loop
 * polls the queue's descriptor, for engine_timeout at most. */
#ifndef SLUICE_CORE_ENGINE_H
#define SLUICE_CORE_ENGINE_H

#include <stdbool.h>

#include "core/state.h"
#include "core/wizard.h"

struct engine;
struct net;

enum event_kind {
    EVENT_CHECK_STARTED,
    EVENT_CHECK_PROGRESS,
    EVENT_CHECK_DONE,    /* the wizard has its outcome now */
    EVENT_CHECK_DROPPED, /* its inputs changed meanwhile; it runs again if still wanted */
    EVENT_CHANGE_STARTED,
    EVENT_CHANGE_PROGRESS,
    EVENT_CHANGE_DONE, /* made, found as wanted, or failed: engine_change_view tells */
    EVENT_APPLY_DONE
};

struct event {
    enum event_kind kind;
    int check;          /* index; -1 */
    const char *change; /* id; NULL */
};

struct engine *engine_new(struct wizard *w, struct state *s, struct net *net);
/* Cancels everything (what was sent may still be answered for 1.5 s, and is journalled), waits at
 * most 2 s for threads, abandons those that still hang. False when there are such: they may still
 * look at rows and net, which must then stay until the process ends. */
bool engine_free(struct engine *e);

int engine_fd(const struct engine *e); /* readable when engine_pump has something to do */
/* Takes in what was reported, starts what can start now. `observe` may be NULL. */
void engine_pump(struct engine *e, void (*observe)(void *ctx, const struct event *ev), void *ctx);
/* Milliseconds until something must be pumped though nothing is reported: a check that neither its
 * deadline nor a cancel could end is given up then. -1 = never. */
int engine_timeout(struct engine *e);
bool engine_busy(const struct engine *e); /* something runs, or is wanted and can still run */

/* Wants a check, with the surveys whose facts it lacks or that are of other inputs. It runs unless
 * its outcome is current; `again` runs it anyway (and its surveys when they are of the same step).
 * Never runs an effect the operator has not allowed: `effect` is the strongest allowed one. A check
 * that cannot run (an answer is missing, a change is planned, a login was refused) is dropped. */
void engine_want(struct engine *e, int check, enum effect effect, bool again);
void engine_want_step(struct engine *e, int step, enum effect effect, bool again);
/* Drops wishes and cancels what runs: one check, or all (-1). Not changes. One that ignores it is
 * given up after 60 ms; a probe is not run anew while it may still be cleaning up. */
void engine_cancel(struct engine *e, int check);

/* --- apply ------------------------------------------------------------------------------------ */

enum change_status {
    CHANGE_WAITING,
    CHANGE_RUNNING,
    CHANGE_MADE,
    CHANGE_FOUND, /* already as wanted: nothing was sent */
    CHANGE_FAILED,
    CHANGE_BLOCKED, /* one it needs failed or was left out */
    CHANGE_STOPPED, /* the operator stopped before it, or left it out */
    CHANGE_UNDONE   /* taken back, and find proves it gone */
};
const char *change_status_name(enum change_status s);

struct change_view {
    enum change_status status;
    int64_t since; /* clock_ms while running */
    int64_t took_ms;
    const char *doing;             /* "waits for a lock held by pid 4711"; NULL none */
    const struct problem *problem; /* when failed; NULL */
};

/* Carries out the plan (moved into the engine, left empty): ready changes first, independent ones
 * side by side, the journal saved around each; it begins with the next pump. Secrets a change uses
 * are made and saved before it. PROBLEM_INPUT "cannot keep" when a change makes a secret that
 * nothing outliving the process would keep and !memory_ok, "not at hand" when it uses one that was
 * given before and must be unlocked or entered again; PROBLEM_LOCAL when the state cannot be saved.
 * Whether a lost answer means made or not, find decides; a value that change->gives names is then
 * the id find saw. */
int engine_apply(struct engine *e, struct plan *plan, bool memory_ok, struct problem *err);
/* Takes back what the plan of wizard_make_undo lists (moved into the engine): in its order, each
 * proved gone by find, the journal saved around each; values that were made for it are forgotten.
 * Views and events are those of an apply. */
int engine_undo(struct engine *e, struct plan *plan, struct problem *err);
bool engine_applying(const struct engine *e);
/* Stops before the next send; never inside one. */
void engine_apply_stop(struct engine *e);
const struct plan *engine_applied_plan(const struct engine *e); /* of the last apply; NULL none */
void engine_change_view(const struct engine *e, size_t change, struct change_view *out);
#endif
