/* Insides of struct state, shared by state*.c only. */
#ifndef SLUICE_CORE_STATE_PARTS_H
#define SLUICE_CORE_STATE_PARTS_H

#include "core/file.h"
#include "core/node.h"
#include "core/state.h"
#include "core/vault.h"

struct state {
    char *path;
    char *vault_path;
    char *holder; /* who has the lock, when we do not */
    struct file_lock *lock;
    struct node *doc; /* the whole file, with keys this version does not know */
    struct vault *vault;
    bool is_new;
    uint64_t saved_version; /* of the wizard */
    int64_t saved_at;
    struct problem save_problem;
};

/* state_write.c: puts the wizard's present state into the document. */
void state_fill(struct state *s, struct wizard *w);
/* The value in an entry of `facts`; NULL when there is none, or when it was altered since it was
 * written (`sum` beside it; a file of before has none): what was found is not for a person to
 * edit, and an edited one would be exported as if it had been proved. */
const struct node *state_fact_value(const struct node *entry);
/* The node {secret: stored, …} of an answer as the document has it; NULL = it is not stored. */
const struct node *state_stored_node(const struct state *s, const struct rows *rows,
                                     const struct field *f);
/* state.c: names the copy before the last save beside what is wrong with the file. */
void state_say_previous(const struct state *s, struct problem *err);
/* True when secrets are to outlive the process in the secrets file (start.keep_secrets). */
bool state_keeps_secrets(struct wizard *w);
/* Is this an answer whose secret belongs into the secrets file? */
bool state_secret_is_kept(const struct field *f, const struct value *v);
#endif
