/* AWS STS: who am I, and becoming a role. */
#ifndef SLUICE_AWS_STS_H
#define SLUICE_AWS_STS_H

#include "aws/call.h"

enum sts_kind { STS_USER, STS_ROLE, STS_ROOT, STS_FEDERATED, STS_OTHER };

struct sts_identity {
    char *arn;       /* "arn:aws:iam::123456789012:user/team/alice" */
    char *account;   /* twelve digits */
    char *user_id;   /* "AIDA…", "AROA…:session" */
    char *partition; /* of the ARN: every ARN we write has this one */
    enum sts_kind kind;
    char *name; /* user without path; role of an assumed role (its ARN has lost the path); "root" */
};

/* Needs no permission and works even under an explicit deny, so it is the first call of all and the
 * probe for "is this key live yet". */
int sts_get_caller_identity(struct run *run, const struct aws_client *client,
                            struct sts_identity *out, struct problem *err);
void sts_identity_release(struct sts_identity *i);
#define AUTO_STS_IDENTITY __attribute__((cleanup(sts_identity_release))) struct sts_identity

struct sts_assume { /* borrowed */
    const char *role_arn;
    const char *session;     /* 2 to 64 of [A-Za-z0-9_+=,.@-] */
    const char *external_id; /* NULL none */
    const char *mfa_serial;  /* with mfa_code; NULL none */
    const char *mfa_code;
    int duration_s; /* 900 to 43200; 0 = 3600, the most when a role assumes a role */
};
/* The keys of a session; `region` and `profile` of *out stay NULL. DENIED may mean the role's trust
 * policy, a missing sts:AssumeRole, MFA or a wrong external id: AWS does not tell them apart. */
int sts_assume_role(struct run *run, const struct aws_client *client, const struct sts_assume *a,
                    struct aws_credentials *out, struct problem *err);
#endif
