/* Access keys of the step iam: what verdict, plan and change share. */
#ifndef SLUICE_STEPS_IAM_KEYS_H
#define SLUICE_STEPS_IAM_KEYS_H

#include "steps/iam/iam.h"

#define IAM_KEYS_MAX 2 /* of a user; AWS's quota, which cannot be raised */

/* Key id of an answer "KEYID:SECRET"; NULL when there is none; xfree. */
char *iam_key_id_of(const struct secret *key);

enum iam_key_state {
    IAM_KEY_RIGHT,      /* the one at hand is the user's and active */
    IAM_KEY_INACTIVE,   /* the user's, and switched off */
    IAM_KEY_FOREIGN,    /* typed or referred to, and not the user's */
    IAM_KEY_LOCKED,     /* answered, but its secret is not at hand */
    IAM_KEY_MAKE,       /* one is to be made */
    IAM_KEY_MAKE_AFTER, /* there are two; one may be of a run of ours whose answer was lost */
    IAM_KEY_FULL        /* there are two, of others */
};
/* answered: iam.access_key has an answer, `made` here; `key` its secret, NULL when not at hand, and
 * `forgotten` when it was never to outlive its process. */
enum iam_key_state iam_key_judge(const struct iam_side *user, const struct secret *key,
                                 bool answered, bool made, bool forgotten);
#endif
