/* Changes: one planned mutation each (a SQL transaction, an AWS call), and the plan that lists
 * them.
 *
 * A step's plan function is pure: it compares the facts of its surveys with the answers and adds a
 * change for what differs. Nothing is sent before consent. Around each send the journal is written
 * (core/journal.h). */
#ifndef SLUICE_CORE_CHANGE_H
#define SLUICE_CORE_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/node.h"
#include "core/problem.h"
#include "core/text.h"

struct run;
struct change;
struct snapshot;

enum change_action { CHANGE_CREATE, CHANGE_ALTER, CHANGE_REMOVE };
const char *change_action_name(enum change_action a); /* "create" … */
const char *change_action_mark(enum change_action a); /* "+" "~" "-" */

/* What find saw: written into the journal before the send, so that a lost answer can be settled. */
struct found {
    bool present;   /* the thing exists already */
    bool as_wanted; /* and equals what the change would make: nothing is sent */
    char *id;       /* its id, when it has one; xfree by the engine */
    char *saw;      /* one line for the journal */
};

struct made {
    char *id;        /* name, ARN, … for the journal; xfree by the engine */
    char *give_text; /* value for change->gives when it is not a secret */
    struct secret *give_secret;
};

/* A const row for each sort of change. All are blocking functions on a thread of their own. */
struct change_kind {
    const char *id; /* "postgres.role" */
    const char *label;
    int deadline_ms; /* for find and send each; 0 = 30000 */
    int (*find)(struct run *run, const struct change *c, struct found *out, struct problem *err);
    int (*send)(struct run *run, const struct change *c, struct made *out, struct problem *err);
    int (*ready)(struct run *run, const struct change *c,
                 struct problem *err); /* waits; NULL = at once */
    int (*undo)(struct run *run, const struct change *c, struct problem *err); /* NULL = cannot */
    char *(*undo_text)(
        const struct change *c); /* exact preview of undo, from args; xfree; NULL = by its title */
};

struct change {
    const struct change_kind *kind;
    char *id;         /* "postgres.publication": stable, unique in the plan; check.needs names it */
    const char *step; /* id of the step */
    enum change_action action;
    char *title;   /* "user flow_shop" */
    char *detail;  /* "login, REPLICATION; password made here" */
    char *reason;  /* why it is needed, one sentence; becomes the comment above its SQL */
    char *preview; /* the exact statements or call, secrets masked */
    char *caution; /* NULL, or what it may disturb ("locks briefly") */
    char **after;  /* ids of changes that must be made first */
    size_t after_count;
    const char *uses;  /* secret field that is made before the send when it is empty; NULL none */
    const char *gives; /* field that gets the made value; NULL none */
    struct node *args; /* parameters for the kind's functions */
    bool left_out;     /* by the operator */
    /* What the journal knows of an earlier intent that was not taken back, set by the engine before
     * find and undo: what find saw then, the id of what came of it, and when; NULL and 0 = none. It
     * tells what is ours when an answer was lost with the process that waited for it. */
    char *past_saw, *past_made;
    int64_t past_at; /* wall seconds */
};

struct plan {
    size_t count;
    struct change **changes;
    size_t right_count;
    char **right; /* what is already right, a line each */
    size_t missing_count;
    char **missing; /* why the plan is not complete: "postgres: connects as admin has not passed" */
};

void plan_init(struct plan *p);
void plan_release(struct plan *p);
/* Adds a change whose title is the kind's label and whose other texts are empty, to be set by
 * change_text; takes args. The id is copied, step is not; a second change of one id is a bug. */
struct change *plan_add(struct plan *p, const struct change_kind *kind, const char *step,
                        const char *id, enum change_action action, struct node *args);
void change_after(struct change *c, const char *id);
/* Puts a text into a member; it is redacted and cleaned, lines are kept. */
void change_text(char **slot, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void plan_right(struct plan *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void plan_missing(struct plan *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const struct change *plan_find(const struct plan *p, const char *id);
#endif
