/* Insides of the step iam, shared by the files of this folder only: its rows, its facts, what it
 * wants, and its plan. */
#ifndef SLUICE_STEPS_IAM_IAM_H
#define SLUICE_STEPS_IAM_IAM_H

#include "aws/iam.h"
#include "core/check.h"
#include "core/field.h"
#include "core/step.h"
#include "steps/aws/common.h"

/* What a row must list in `reads` to call AWS as the operator (aws_here_open), and as the user
 * whose key was made (aws_here_as_user). */
#define READS_AWS "?emr.profile", "emr.region"
#define READS_USER "emr.region", "iam.access_key"

#define FACT_IDENTITY "emr.identity" /* struct aws_identity, given by the step emr */
/* Facts of the survey; an id differs from every field's, since both are read by id. */
#define FACT_ROLE "iam.role_found" /* struct iam_side */
#define FACT_USER "iam.user_found" /* struct iam_side */

#define SERVICE "aws"

/* --- what stands in the account (facts.c) --- */

struct iam_policy {
    char *name;
    char *document; /* JSON as it was put */
    bool managed;   /* attached, name is its ARN; else inline */
};

struct iam_held_key {
    char *id;
    bool active;
    int64_t created, used; /* wall seconds; used 0 = never, -1 = AWS does not say */
    char *service;         /* used last with; NULL */
};

/* A role or a user with all that hangs on it. */
struct iam_side {
    bool exists;
    struct iam_entity entity;
    size_t policy_count;
    struct iam_policy *policies;
    struct aws_names unread; /* attached policies that the operator may not look into */
    size_t key_count;        /* of a user */
    struct iam_held_key *keys;
};

extern const struct fact_type iam_role_type, iam_user_type;
/* Take the content of what is given (left empty); one reference to be given on. */
struct fact *iam_side_fact(enum iam_kind kind, struct iam_side *side);
void iam_side_release(struct iam_side *s);
#define AUTO_IAM_SIDE __attribute__((cleanup(iam_side_release))) struct iam_side
/* Reads it anew; that there is none is no problem. */
int iam_side_read(struct run *run, const struct aws_client *client, enum iam_kind kind,
                  const char *name, struct iam_side *out, struct problem *err);
/* The inline policy, the key: NULL when there is none of that name, or id. */
const struct iam_policy *iam_policy_named(const struct iam_side *s, const char *name);
const struct iam_held_key *iam_key_of(const struct iam_side *s, const char *id);

/* --- rows --- */

extern const struct field *const iam_fields[];
extern const struct check *const iam_checks[];
/* surveys.c */
extern const struct check iam_check_found;
/* verdict_entities.c */
extern const struct check iam_check_role, iam_check_trust, iam_check_user;
/* verdict_policies.c */
extern const struct check iam_check_role_policy, iam_check_user_policy, iam_check_policy_size;
/* verdict_keys.c */
extern const struct check iam_check_access_keys;
/* probes.c, denied.c */
extern const struct check iam_check_key_works, iam_check_replay, iam_check_denied;

/* plan.c */
void iam_plan(const struct snapshot *s, struct plan *out);

#endif
