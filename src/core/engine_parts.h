/* Insides of struct engine, shared by engine.c (checks, queue, threads) and apply.c (changes) only.
 */
#ifndef SLUICE_CORE_ENGINE_PARTS_H
#define SLUICE_CORE_ENGINE_PARTS_H

#include <pthread.h>

#include "core/engine.h"
#include "core/run_make.h"

enum task_kind { TASK_CHECK, TASK_FIND, TASK_SEND, TASK_READY, TASK_SETTLE };

/* One thread's work. Made on the main thread, filled on its own, handed back through the queue. */
struct task {
    struct engine *engine;
    struct task *next; /* in engine->running */
    enum task_kind kind;
    size_t index; /* of the check in rows, or of the change in the applied plan */
    struct run *run;
    const struct check *check;
    struct outcome *out;
    const struct change *change;
    struct found found;
    struct made made;
    struct problem problem;
    int rc;
    int64_t started;
    bool over; /* its thread has reported */
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
};

struct change_slot {
    enum change_status status;
    int64_t since;
    int64_t took_ms;
    char *doing;
    struct problem problem;
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
    struct want *wants; /* by check */
    void (*observe)(void *ctx, const struct event *ev);
    void *observe_ctx;
    /* apply */
    struct plan plan;
    struct change_slot *slots; /* by change of plan */
    bool has_plan;
    bool applying;
    bool stopping;
};

/* Starts the task on a thread of its own; takes it. */
void engine_start_task(struct engine *e, struct task *t, int deadline_ms);
void engine_emit(struct engine *e, enum event_kind kind, int check, const char *change);
/* apply.c: runs the body of a change task on its thread. */
void apply_body(struct task *t);
/* apply.c: takes in a finished task; moves on. */
void apply_finished(struct engine *e, struct task *t);
void apply_progress(struct engine *e, const struct task *t, const char *doing);
void apply_release(struct engine *e);
#endif
