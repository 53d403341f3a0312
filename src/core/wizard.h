/* struct wizard: the model on the main thread: answers, facts, outcomes, and everything derived
 * from them. Front ends read it, the engine (core/engine.h) feeds it, the state file (core/state.h)
 * keeps it.
 *
 * Staleness is derived, never stored: an outcome is current while the digest of what its check
 * reads equals the digest it ran with and it is younger than the row's fresh_s. */
#ifndef SLUICE_CORE_WIZARD_H
#define SLUICE_CORE_WIZARD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/change.h"
#include "core/outcome.h"
#include "core/rows.h"
#include "core/snapshot.h"
#include "core/value.h"

/* Where an answer comes from; of several the highest wins (design: --set, answers file, state,
 * environment, default). Typed and made ones are written over whatever stood before. */
enum origin {
    ORIGIN_NONE,
    ORIGIN_DEFAULT,
    ORIGIN_ENVIRONMENT,
    ORIGIN_STATE,
    ORIGIN_ANSWERS,
    ORIGIN_SET,
    ORIGIN_TYPED,
    ORIGIN_MADE
};

struct wizard;

struct wizard *wizard_new(const struct rows *rows); /* rows outlive it */
void wizard_free(struct wizard *w);
const struct rows *wizard_rows(const struct wizard *w);

/* --- answers ---------------------------------------------------------------------------------- */

/* Sets a field (index of rows->fields); takes the value, NULL clears it. The value is normalised
 * and kept even when it is not valid (nothing typed is lost); -1 and err say what is wrong with it.
 * A secret without a host is bound to the one its row's host_of field names. */
int wizard_set(struct wizard *w, int field, struct value *v, enum origin origin,
               struct problem *err);
/* From text, by the kind of the row: lists one item a line or comma-separated as quote_ident writes
 * them; maps likewise, each item KEY=ANSWER. Text for a secret is the secret itself. */
int wizard_set_text(struct wizard *w, int field, const char *text, enum origin origin,
                    struct problem *err);
/* A secret by reference: "env:NAME" or "file:/absolute". A variable is read once and kept for who
 * names it again. -1: it cannot be read, nothing is set. */
int wizard_set_reference(struct wizard *w, int field, const char *reference, enum origin origin,
                         struct problem *err);
/* From a node of an answers or state file (scalar, list, map, {secret: reference}); a plain null is
 * no answer. PROBLEM_INPUT with the node's line: -1 = not of this form, nothing is set; 1 = set,
 * but not valid. Takes nothing. */
int wizard_set_node(struct wizard *w, int field, const struct node *n, enum origin origin,
                    struct problem *err);
/* As given, NULL none; borrowed. */
const struct value *wizard_answer(const struct wizard *w, int field);
/* With default; NULL none or hidden. */
const struct value *wizard_effective(struct wizard *w, int field);
enum origin wizard_origin(struct wizard *w, int field); /* of the effective one */
bool wizard_visible(struct wizard *w, int field);
/* 0 = fine; -1 = missing though required, not valid, a secret not at hand or entered for another
 * host. */
int wizard_field_problem(struct wizard *w, int field, struct problem *err);
/* Binds the secret to the host its row names now: the operator's consent to send it there. (So does
 * typing it again.) */
void wizard_allow_host(struct wizard *w, int field);
/* An answer of the state file that equals its default is the default: it follows when what it is
 * derived from changes. Called once all is loaded, and by itself when facts arrive. */
void wizard_unpin_defaults(struct wizard *w);
/* A new reference to the present snapshot; cheap while nothing changed. */
struct snapshot *wizard_snapshot(struct wizard *w);
/* Counts up with every change of an answer, fact or outcome: front ends redraw, state saves. */
uint64_t wizard_version(const struct wizard *w);
uint64_t wizard_answers_version(const struct wizard *w);

/* --- outcomes --------------------------------------------------------------------------------- */

struct check_view {
    enum status status; /* WAITING with `waits`, NONE, or what the outcome says */
    bool stale;         /* the outcome is of other inputs or too old */
    bool running;
    int64_t running_since;         /* clock_ms */
    int64_t done, total;           /* progress while running; total 0 = unknown */
    const char *doing;             /* borrowed until the next call into the wizard; NULL none */
    const struct outcome *outcome; /* borrowed; NULL none. Its digest need not be current */
    char waits[120]; /* "Client secret", "token", "user flow_shop (planned)"; "" when not waiting */
    const char *accepted; /* reason, when status is ACCEPTED */
};
void wizard_check_view(struct wizard *w, int check, struct check_view *out);
/* The outcome is of the present inputs, not told to run again, and young enough. A verdict lives as
 * long as its facts: while the outcomes of their givers are of present inputs. A refused login does
 * not age: to repeat it by itself could lock the account. */
bool wizard_check_current(struct wizard *w, int check);
/* It is of the present answers and facts, whatever its age and whether or not its secrets are at
 * hand: what may be reported of it by a process that did not run it. */
bool wizard_check_stands(struct wizard *w, int check);
/* Why a check cannot run now, without regard to an outcome it has; "" = it can. */
void wizard_check_waits(struct wizard *w, int check, char *out, size_t size);
/* Index of the check that must run first (giver of a fact that is missing or of other inputs, or
 * `after` one not current), or -1. A giver that ran and gave nothing is waited for, not repeated.
 */
int wizard_check_first(struct wizard *w, int check);
struct digest wizard_check_digest(struct wizard *w, int check); /* of what it would read now */
/* Stores a finished outcome (takes a reference of it) and the facts it gives; facts of the same
 * giver that it no longer gives are dropped. False when its digest is no longer current, or when it
 * was told to run again while it ran: then nothing is stored. */
bool wizard_put_outcome(struct wizard *w, int check, struct outcome *o);
/* The last outcome, current or not; borrowed, NULL none. */
const struct outcome *wizard_outcome(const struct wizard *w, int check);
/* As read from the state file: outcome without facts, and digests (and kept data) of facts. */
void wizard_restore_outcome(struct wizard *w, int check, struct outcome *o);
void wizard_restore_fact(struct wizard *w, int fact, struct digest digest, struct fact *kept);
/* Forgets that a fact's value is current, so that its survey runs again (after apply, F5). */
void wizard_expire_check(struct wizard *w, int check);
/* The engine reports what runs. */
void wizard_running(struct wizard *w, int check, bool running, int64_t since);
void wizard_progress(struct wizard *w, int check, int64_t done, int64_t total, const char *doing);
/* Records an exception for a failed check. reason NULL takes it back. */
void wizard_accept(struct wizard *w, int check, const char *reason);
const char *wizard_accepted(const struct wizard *w, int check);
const struct fact *wizard_fact(const struct wizard *w, int fact);
struct digest wizard_fact_digest(const struct wizard *w, int fact);

struct step_view {
    enum status status; /* FAILED, WARNED, WAITING, NONE, PASSED by the worst of its checks */
    bool running, stale, later;
    int total, passed, failed, warned, waiting, running_count;
    int changes; /* planned ones */
};
void wizard_step_view(struct wizard *w, int step, struct step_view *out);
/* The first step that is not proved: where resume opens. */
int wizard_first_open_step(struct wizard *w);

/* --- plan ------------------------------------------------------------------------------------- */

/* The plan of all steps against the present facts; borrowed until the next change of the model. */
const struct plan *wizard_plan(struct wizard *w);
/* A plan of its own, of one step or all that have begun (-1), in order; plan_release it. */
void wizard_make_plan(struct wizard *w, int step, struct plan *out);

/* What undo would take back, newest first: what the journal says we made, of one step or all (-1).
 * What stood there before is in `right`, what cannot be taken back from here in `missing`.
 * plan_release it. */
void wizard_make_undo(struct wizard *w, int step, struct plan *out);

/* --- journal ---------------------------------------------------------------------------------- */

enum journal_status {
    JOURNAL_INTENDED,
    JOURNAL_MADE,
    JOURNAL_READY,
    JOURNAL_UNDONE /* taken back, or refused by the service: nothing of it stands */
};
const char *journal_status_name(enum journal_status s);

struct journal_entry {
    char *change; /* id of the change */
    char *step;
    char *kind;
    char *title;
    enum journal_status status;
    char *saw;      /* what find saw before the send */
    bool was_there; /* it existed before our intent: not ours to undo */
    char *made;     /* id of what was made */
    int64_t at;
    struct node *args; /* parameters of the change, for undo */
    struct node
        *rest; /* further keys: `after`, `gives`, `uses` of the change; those of a newer version */
};
size_t wizard_journal(const struct wizard *w, const struct journal_entry **entries);
/* The entry of a change, made when there is none (status INTENDED). Borrowed until the next one is
 * made. */
struct journal_entry *wizard_journal_entry(struct wizard *w, const struct change *c);
/* Likewise, but NULL when there is none. */
struct journal_entry *wizard_journal_find(struct wizard *w, const char *change);
void wizard_journal_restore(struct wizard *w, struct journal_entry e); /* takes its members */
void wizard_touch(struct wizard *w); /* something the state file keeps has changed */
#endif
