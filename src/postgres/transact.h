/* Statements as one transaction that does not get in the way: each lock is waited for only briefly,
 * then all is rolled back, who holds it is named, and it is tried again. A long wait for a strong
 * lock would make every query behind it wait too. */
#ifndef SLUICE_POSTGRES_TRANSACT_H
#define SLUICE_POSTGRES_TRANSACT_H

#include "net/pg.h"

#define POSTGRES_LOCK_WAIT_MS 600 /* of one try; the lock_timeout to open the connection with */

struct postgres_work {
    const char *const *statements;
    size_t count;
    const char *const
        *relations; /* whose lock holders are named, as quote_ident writes them; may be NULL */
    size_t relation_count;
    /* In the transaction, before COMMIT: 0, or -1 and err to roll everything back. NULL = none. */
    int (*guard)(struct run *run, struct pg *pg, void *ctx, struct problem *err);
    void *ctx;
};
/* Until the run's deadline. PROBLEM_CONFLICT 55P03 when a lock was never got, with its holder.
 * Warnings of the server are given to run_log. */
int postgres_transact(struct run *run, struct pg *pg, const struct postgres_work *w,
                      struct problem *err);

/* SCRAM verifier of a password, so that the password itself is in no statement; free it by
 * postgres_verifier_free, which wipes it. */
char *postgres_verifier(struct pg *pg, struct secret *password, const char *user,
                        struct problem *err);
void postgres_verifier_free(char *verifier);
static inline void postgres_verifier_free_auto(char **p)
{
    postgres_verifier_free(*p);
}
#endif
