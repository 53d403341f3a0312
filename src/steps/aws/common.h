/* What the AWS steps (emr, bucket, iam) share: who calls, the identity every one of them is about,
 * names and ARNs.
 *
 * Fields they rely on: emr.profile, emr.region (asked here once for all of AWS), start.name. A
 * check or change that calls AWS as the operator lists aws_reads among its reads. */
#ifndef SLUICE_STEPS_AWS_COMMON_H
#define SLUICE_STEPS_AWS_COMMON_H

#include "aws/call.h"
#include "core/fact.h"
#include "core/run.h"

/* The operator's own access: credentials by emr.profile or the environment, region by emr.region.
 */
struct aws_here {
    struct aws_credentials credentials;
    struct aws_client client;
};
int aws_here_open(struct run *run, struct aws_here *out, struct problem *err);
void aws_here_release(struct aws_here *h);
/* As the user whose key was made (iam.access_key = "KEYID:SECRET"); PROBLEM_INPUT when there is
 * none yet. */
int aws_here_as_user(struct run *run, struct aws_here *out, struct problem *err);

/* Fact emr.identity, given by check emr.identity: who the operator is to AWS. Kept in the state
 * file. */
struct aws_identity {
    char *account;   /* 12 digits */
    char *partition; /* "aws" */
    char *arn;       /* of the caller */
    char *region;    /* the one in use */
    char *source;    /* where the credentials come from */
    bool overridden; /* an endpoint override is in force */
};
extern const struct fact_type aws_identity_type;
struct fact *aws_identity_fact(const struct aws_identity *from); /* copies */

/* Names made from the pipeline's: "sluice-shop" + suffix. xfree. */
char *aws_made_name(const struct snapshot *s, const char *suffix);
/* Client token for an idempotent create: hash of run, change and parameters; 32 hex; xfree. */
char *aws_client_token(const char *run_id, const char *change, const struct node *args);
/* "(known after: create application)": stands in a preview for what is not known yet; apply accepts
 * any text in its place. */
char *aws_known_after(const char *title);

#define AUTO_AWS_HERE __attribute__((cleanup(aws_here_release))) struct aws_here
#endif
