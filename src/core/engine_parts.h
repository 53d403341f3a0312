/* Insides of struct engine, shared by engine.c (checks), engine_tasks.c (threads, queue) and
 * apply*.c (changes) only. */
#ifndef SLUICE_CORE_ENGINE_PARTS_H
#define SLUICE_CORE_ENGINE_PARTS_H

#include <pthread.h>

#include "core/engine.h"
#include "core/run_make.h"

#define THREADS_MAX 64
#define SERVICE_MAX 16
#define CHANGES_MAX 16 /* side by side */

enum task_kind { TASK_CHECK, TASK_FIND, TASK_SEND, TASK_READY, TASK_SETTLE, TASK_UNDO, TASK_GONE };

/* One thread's work. Made on the main thread, filled on its own, handed back through the queue.
 * What is written by its thread is read by the main thread only after it has reported. */
struct task {
    struct engine *engine;
    struct task *next; /* in engine->running or engine->abandoned */
    enum task_kind kind;
    size_t index; /* of the check in rows, or of the change in the applied plan */
    struct run *run;
    const struct check *check;
    const struct change *change;
    int64_t started;

    /* its thread's */
    struct outcome *out;
    struct found found;
    struct made made;
    struct problem problem;
    int rc;

    /* the main thread's */
    struct digest digest; /* of what its check reads */
    int64_t cancelled_at; /* clock_ms; 0 = it was not */
    bool outdated;        /* cancelled because its inputs are no longer the present ones */
};

struct message {
    struct message *next;
    struct task *task;
    bool finished;
    int64_t done, total; /* progress */
    char *doing;
};

struct want {
    bool wanted;
    bool again;
    enum effect effect;
    /* The check that was run for this one last, and the answers it was run with: it is not run for
     * it twice, whatever it brings. */
    int pulled;
    uint64_t pulled_at;
};

struct change_slot {
    enum change_status status;
    int64_t since;
    int64_t took_ms;
    char *doing;
    struct problem problem;
    bool planned; /* it stood in the model's plan when it was consented to */
    bool found;   /* it was as wanted before anything was sent */
};

struct engine {
    struct wizard *wizard;
    struct state *state;
    struct net *net;
    int fd;
    pthread_mutex_t lock; /* guards first, last, threads */
    pthread_cond_t quiet; /* threads fell to 0 */
    struct message *first, **last;
    int threads;
    struct task *running;
    struct task *abandoned; /* given up; their threads have not reported */
    bool closing;           /* nothing is started any more */
    struct want *wants;     /* by check */
    void (*observe)(void *ctx, const struct event *ev);
    void *observe_ctx;
    /* apply */
    struct plan plan;
    struct change_slot *slots; /* by change of plan */
    bool has_plan;
    bool applying;
    bool stopping;
    bool undoing;
};

/* --- engine_tasks.c --- */
/* Starts the task on a thread of its own; takes it. */
void engine_start_task(struct engine *e, struct task *t, int deadline_ms);
void task_cancel(struct task *t);
void task_free(struct task *t);
void task_unlink(struct task **list, struct task *t);
/* When a running check that has not reported is given up; clock_ms. */
int64_t task_limit(const struct task *t);
size_t engine_threads(const struct engine *e); /* running and abandoned */
void engine_poke(struct engine *e);            /* engine_fd becomes readable */
/* All that was reported; the caller frees each message. */
struct message *engine_messages(struct engine *e);

/* --- engine.c --- */
void engine_emit(struct engine *e, enum event_kind kind, int check, const char *change);

/* --- apply.c --- */
/* Runs the body of a change task on its thread. */
void apply_body(struct task *t);
/* Takes in a finished task; moves on. */
void apply_finished(struct engine *e, struct task *t);
void apply_progress(struct engine *e, const struct task *t, const char *doing);
/* Starts what can start; ends the apply when nothing is left. */
void apply_advance(struct engine *e);
void apply_release(struct engine *e);

int apply_begin(struct engine *e, struct plan *plan, struct problem *err);
void apply_start_phase(struct engine *e, size_t change, enum task_kind phase);
void apply_finish(struct engine *e, size_t change, enum change_status status, struct problem *p);
/* Writes the status of the change's entry and saves. */
int apply_journal(struct engine *e, const struct change *c, enum journal_status status,
                  struct problem *err);

/* --- undo.c --- */
void undo_finished(struct engine *e, struct task *t);
/* What undo needs to know besides the parameters: what it was made after, what it gave and used. */
void undo_note_ties(struct journal_entry *entry, const struct change *c);

/* --- apply_consent.c --- */
/* Values that have become known meanwhile go into the change, where its preview announced them. */
void apply_refresh(struct engine *e, size_t change);
/* Consent was given to what was shown: -1 when the change reads otherwise by now. */
int apply_same_as_shown(struct engine *e, size_t change, struct problem *err);
/* Whether `now` is `shown` but for the values announced as "(known after: …)". */
bool previews_agree(const char *shown, const char *now);
/* Makes the secrets the plan uses; -1 and nothing made when one could not be kept or is not at
 * hand. */
int apply_make_secrets(struct engine *e, const struct plan *plan, bool memory_ok,
                       struct problem *err);
#endif
