/* The state file (sluice.yaml), its lock, and the secrets file beside it.
 *
 * Saved at every committed field and around every call: temp file, fsync, rename, fsync of the
 * directory, the previous copy kept. Secrets are saved before the state that names them. Unknown
 * keys survive. Another process that holds the lock makes this one read-only, and the holder is
 * named. */
#ifndef SLUICE_CORE_STATE_H
#define SLUICE_CORE_STATE_H

#include <stdbool.h>

#include "core/wizard.h"

#define STATE_SCHEMA 1
#define STATE_FILE_MAX ((size_t)16 << 20) /* bytes */

struct state;

/* Opens (or prepares a new one at) path, takes the lock. PROBLEM_INPUT: malformed, unsafe
 * permissions, newer schema, with line and reason; nothing is overwritten. PROBLEM_CONFLICT only
 * when `need_lock` and another holds it; without need_lock the state is then read-only
 * (state_holder). */
struct state *state_open(const char *path, bool need_lock, struct problem *err);
void state_close(struct state *s); /* releases the lock; saves nothing */
const char *state_path(const struct state *s);
const char *state_holder(const struct state *s); /* NULL = we hold the lock */
bool state_is_new(const struct state *s);        /* no file yet */
const char *state_run(const struct state *s);    /* random id of this set-up, 16 hex */

/* Puts what the file says into the wizard. Answers of an unknown id stay in the file. A bad value
 * is kept and reported by wizard_field_problem; what is not of the form it must have (a list for a
 * text, a journal that is no list) is PROBLEM_INPUT with file, line, reason. */
int state_load(struct state *s, struct wizard *w, struct problem *err);
/* Writes the wizard's present state. A failure leaves the old file and is also remembered
 * (state_save_problem) until a save succeeds. No-op when nothing changed since. */
int state_save(struct state *s, struct wizard *w, struct problem *err);
const struct problem *state_save_problem(const struct state *s); /* NULL = last save went well */
int64_t state_saved_at(const struct state *s);                   /* wall; 0 never */
/* False while the file would be a new one and nothing was ever answered: front ends then leave the
 * disk as it is. */
bool state_worth_saving(const struct state *s, const struct wizard *w);

/* What is kept of a fact: of the one at hand, else what the file has, which may be of other answers
 * than the present ones. node_free; NULL = nothing, or its giver brought none the last time. */
struct node *state_kept_fact(const struct state *s, const struct wizard *w, const char *fact);
/* What is kept of an outcome, as another process would read it: its line, and what to do where it
 * is not good; no items, evidence, command or duration. outcome_unref. */
struct outcome *state_kept_outcome(const struct outcome *o);

/* --- secrets ---------------------------------------------------------------------------------- */

enum vault_status { VAULT_NONE, VAULT_LOCKED, VAULT_OPEN };
enum vault_status state_vault(const struct state *s);
/* True when the answers want a secrets file (start.keep_secrets = file, and there is a secret to
 * keep) that is not open. */
bool state_wants_passphrase(const struct state *s, struct wizard *w);
/* Opens or creates the secrets file and fills in the secrets it has for the wizard's fields. */
int state_unlock(struct state *s, struct wizard *w, const struct secret *passphrase,
                 struct problem *err);
/* Whether a secret of this field that is made now would outlive the process. */
bool state_can_keep(const struct state *s, struct wizard *w, int field);
/* Removes every stored secret and the file. */
int state_forget_secrets(struct state *s, struct wizard *w, struct problem *err);

/* --- answers from elsewhere ------------------------------------------------------------------- */

/* The mapping of an answers file. Unknown ids and malformed values: PROBLEM_INPUT with file, line,
 * reason. */
int answers_load(struct wizard *w, const char *path, struct problem *err);
/* SLUICE_<STEP>_<FIELD> for every row that has no answer of the state, or a secret that is not at
 * hand; variables of secrets are wiped and removed, used or not. */
int answers_environment(struct wizard *w, struct problem *err);
/* "step.field=value"; PROBLEM_INPUT: unknown id, or a literal secret (wrong usage, 64). */
int answers_set(struct wizard *w, const char *assignment, enum origin origin, struct problem *err);

/* --- recently used ---------------------------------------------------------------------------- */

/* Paths in $XDG_STATE_HOME/sluice/recent, newest first; best effort. xfree each and the array. */
char **recent_list(size_t *count);
void recent_add(const char *path);
char *state_default_path(void); /* ./sluice.yaml; xfree */
#endif
