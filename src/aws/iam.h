/* AWS IAM: roles, users, their inline policies, access keys, the simulator. IAM is global: the
 * client's region only chooses the partition. Names are unique in an account without regard to
 * case.
 *
 * What was changed takes seconds to spread, to each service for itself: a role just made may not be
 * found, a key just made is unknown (aws_key_unknown), a policy just put does not count yet. */
#ifndef SLUICE_AWS_IAM_H
#define SLUICE_AWS_IAM_H

#include "aws/ask.h"

enum iam_kind { IAM_ROLE, IAM_USER };

struct iam_entity { /* a role or a user */
    enum iam_kind kind;
    char *name, *path, *arn, *id; /* path "/" or "/team/"; id "AROA…", "AIDA…" */
    char *trust;                  /* role: its trust policy as JSON; NULL for a user */
    char *boundary;               /* ARN of the permissions boundary; NULL none */
    char *tag_run, *tag_step;     /* our tags on it; NULL none */
    int64_t created;              /* wall seconds; 0 unknown */
    int max_session_s;            /* role */
    bool untagged;                /* of a create: tags were asked for and denied */
};
void iam_entity_release(struct iam_entity *e);
#define AUTO_IAM_ENTITY __attribute__((cleanup(iam_entity_release))) struct iam_entity

/* PROBLEM_MISSING "NoSuchEntity" when there is none. */
int iam_get(struct run *run, const struct aws_client *client, enum iam_kind kind, const char *name,
            struct iam_entity *out, struct problem *err);

struct iam_new { /* borrowed */
    enum iam_kind kind;
    const char *name;
    const char *path;            /* NULL = "/" */
    const char *trust;           /* role: JSON */
    const char *description;     /* role; NULL none */
    const char *boundary;        /* ARN; NULL none */
    const struct aws_tags *tags; /* NULL none */
};
/* PROBLEM_CONFLICT "EntityAlreadyExists" when the name is taken. When tags are denied it is made
 * without and out->untagged says so. Not repeated when the answer is lost: iam_get settles it. */
int iam_create(struct run *run, const struct aws_client *client, const struct iam_new *n,
               struct iam_entity *out, struct problem *err);
/* Policies and keys must be gone first: else PROBLEM_CONFLICT "DeleteConflict". */
int iam_delete(struct run *run, const struct aws_client *client, enum iam_kind kind,
               const char *name, struct problem *err);
int iam_update_trust(struct run *run, const struct aws_client *client, const char *role,
                     const char *trust, struct problem *err);

/* Inline policies. put replaces one of the same name. */
int iam_put_policy(struct run *run, const struct aws_client *client, enum iam_kind kind,
                   const char *name, const char *policy, const char *document, struct problem *err);
/* *document: JSON as it was put, xfree. */
int iam_get_policy(struct run *run, const struct aws_client *client, enum iam_kind kind,
                   const char *name, const char *policy, char **document, struct problem *err);
int iam_delete_policy(struct run *run, const struct aws_client *client, enum iam_kind kind,
                      const char *name, const char *policy, struct problem *err);
int iam_list_policies(struct run *run, const struct aws_client *client, enum iam_kind kind,
                      const char *name, struct aws_names *out, struct problem *err);
/* ARNs of the managed policies attached. */
int iam_list_attached(struct run *run, const struct aws_client *client, enum iam_kind kind,
                      const char *name, struct aws_names *out, struct problem *err);
/* The document of a managed policy in its default version; *document: JSON, xfree. Two calls. */
int iam_get_managed(struct run *run, const struct aws_client *client, const char *arn,
                    char **document, struct problem *err);

/* --- access keys (aws/iam_keys.c) ------------------------------------------------------------- */

struct iam_key {
    char *id;
    bool active;
    int64_t created;
};
struct iam_keys {
    size_t count;
    struct iam_key *list;
};
void iam_keys_release(struct iam_keys *k);
#define AUTO_IAM_KEYS __attribute__((cleanup(iam_keys_release))) struct iam_keys

int iam_list_keys(struct run *run, const struct aws_client *client, const char *user,
                  struct iam_keys *out, struct problem *err);
/* *id: xfree; *secret: secret_unref; this is the only time AWS tells it. Never sent twice: after a
 * lost answer list the keys, delete the one that is new (nobody knows its secret), make another. */
int iam_create_key(struct run *run, const struct aws_client *client, const char *user, char **id,
                   struct secret **secret, struct problem *err);
int iam_set_key_active(struct run *run, const struct aws_client *client, const char *user,
                       const char *id, bool active, struct problem *err);
int iam_delete_key(struct run *run, const struct aws_client *client, const char *user,
                   const char *id, struct problem *err);
struct iam_key_use {
    int64_t when;           /* 0 = never, as far as AWS knows */
    char *service, *region; /* "s3"; NULL with 0 */
};
int iam_key_last_used(struct run *run, const struct aws_client *client, const char *id,
                      struct iam_key_use *out, struct problem *err);
void iam_key_use_release(struct iam_key_use *u);

/* --- the simulator ---------------------------------------------------------------------------- */

enum iam_decision { IAM_ALLOWED, IAM_EXPLICIT_DENY, IAM_IMPLICIT_DENY };
struct iam_verdict {
    char *action, *resource;
    enum iam_decision decision;
    bool by_organization; /* organisation policies do not allow it: known to be wrong at times */
    bool by_boundary;
    struct aws_names missing; /* context keys the simulator would have needed */
};
struct iam_simulation {
    size_t count;
    struct iam_verdict *list;
    bool unavailable; /* the caller may not simulate, or the principal cannot be: no verdicts */
    char *why;        /* then: what AWS said */
};
void iam_simulation_release(struct iam_simulation *s);
#define AUTO_IAM_SIMULATION __attribute__((cleanup(iam_simulation_release))) struct iam_simulation

struct iam_question {             /* borrowed */
    const char *source;           /* ARN of a user or role, with its path */
    const char *const *actions;   /* ends with NULL */
    const char *const *resources; /* ends with NULL; NULL = "*" */
    const char *context_key;      /* one string key, as iam:PassedToService; NULL none */
    const char *context_value;
};
/* Advice, no proof: allowed is green, implicit deny is "could not be confirmed" (conditions of
 * organisation policies are seen wrongly, trust policies are ignored). Not being allowed to ask is
 * no failure: `unavailable`. */
int iam_simulate(struct run *run, const struct aws_client *client, const struct iam_question *q,
                 struct iam_simulation *out, struct problem *err);
#endif
