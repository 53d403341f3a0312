/* The negative proofs: what the new user must not be able to do. A key that leaves the account
 * should open no more than the pipeline needs. */
#include <string.h>

#include "aws/s3.h"
#include "aws/ssm.h"
#include "core/mem.h"
#include "core/run.h"
#include "steps/iam/probes.h"
#include "steps/iam/wanted.h"

#define DEADLINE_MS 45000
#define FORBIDDEN "sluice-must-be-denied"

struct denial {
    struct run *run;
    struct iam_inputs in;
    struct aws_here user, admin;
    struct outcome *out;
    size_t allowed, denied;
    const char *first; /* allowed, in words */
};

static void is_denied(struct denial *d, const char *name, const char *how)
{
    d->denied++;
    outcome_item(d->out, STATUS_PASSED, name, how, NULL);
}

static void is_allowed(struct denial *d, const char *name, const char *action, const char *on)
{
    AUTO(xfree) char *line = xasprintf("%s on %s is allowed", action, on);
    outcome_item(d->out, STATUS_FAILED, name, line,
                 "take the right out of the user's policies and groups, or choose another user");
    if (d->allowed++ == 0)
        d->first = name;
}

/* -1 when AWS could not be asked: then nothing is proved. */
static int other_folder(struct denial *d, struct problem *err)
{
    static const char name[] = "writing outside the staging folder";
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (d->in.staging_prefix[0] == '\0') {
        outcome_item(d->out, STATUS_SKIPPED, name, "the whole bucket is for staging", NULL);
        return 0;
    }
    AUTO(xfree) char *key = iam_probe_name(FORBIDDEN "-");
    if (s3_put_object(d->run, &d->user.client, d->in.staging, key, "text/plain", "test", 4, &why) !=
        0) {
        if (why.kind == PROBLEM_DENIED) {
            is_denied(d, name, "s3:PutObject is denied");
            return 0;
        }
        problem_move(err, &why);
        return -1;
    }
    AUTO(xfree) char *on = xasprintf("arn:%s:s3:::%s/%s", d->in.who->partition, d->in.staging, key);
    is_allowed(d, name, "s3:PutObject", on);
    if (s3_delete_object(d->run, &d->user.client, d->in.staging, key, NULL, NULL) != 0 &&
        s3_delete_object(d->run, &d->admin.client, d->in.staging, key, NULL, NULL) != 0)
        run_log(d->run, "%s stays in bucket %s: it may not be deleted", key, d->in.staging);
    return 0;
}

/* That there is none is only told to who may read it. */
static int other_parameter(struct denial *d, struct problem *err)
{
    static const char name[] = "reading another parameter";
    AUTO_PROBLEM why = PROBLEM_INIT;
    struct ssm_parameter p = {0};
    AUTO(xfree) char *parameter = iam_probe_name("/" FORBIDDEN "/");
    int rc = ssm_get(d->run, &d->user.client, parameter, &p, &why);
    ssm_parameter_release(&p);
    if (rc != 0 && why.kind == PROBLEM_DENIED) {
        is_denied(d, name, "ssm:GetParameter is denied");
        return 0;
    }
    if (rc != 0 && why.kind != PROBLEM_MISSING) {
        problem_move(err, &why);
        return -1;
    }
    AUTO(xfree)
    char *on = ssm_arn(d->in.who->partition, d->in.who->region, d->in.who->account, parameter);
    is_allowed(d, name, "ssm:GetParameter", on);
    return 0;
}

/* Trying it would start a job, so the simulator is asked, where the operator may. */
static int other_role(struct denial *d, struct problem *err)
{
    static const char name[] = "passing another role";
    static const char *const actions[] = {"iam:PassRole", NULL};
    AUTO_IAM_SIMULATION sim = {0};
    AUTO(xfree)
    char *role =
        xasprintf("arn:%s:iam::%s:role/" FORBIDDEN, d->in.who->partition, d->in.who->account);
    const char *const resources[] = {role, NULL};
    const struct iam_question q = {.source = d->in.user->entity.arn,
                                   .actions = actions,
                                   .resources = resources,
                                   .context_key = "iam:PassedToService",
                                   .context_value = "emr-serverless.amazonaws.com"};
    if (iam_simulate(d->run, &d->admin.client, &q, &sim, err) != 0)
        return -1;
    if (sim.unavailable || sim.count == 0)
        outcome_item(d->out, STATUS_SKIPPED, name,
                     "your credentials may not ask the policy simulator", NULL);
    else if (sim.list[0].decision == IAM_ALLOWED)
        is_allowed(d, name, "iam:PassRole", role);
    else
        is_denied(d, name, "iam:PassRole is denied, says the policy simulator");
    return 0;
}

static void conclude(struct denial *d)
{
    if (d->allowed == 0) {
        outcome_pass(d->out, "%zu of %zu tried are denied", d->denied, d->denied);
        return;
    }
    outcome_fail(d->out, "allowed", "the user may do more than it should: %s%s", d->first,
                 d->allowed > 1 ? ", and more" : "");
    outcome_why(d->out, "The key leaves your account. Whoever gets it could do this too.");
    outcome_fix(d->out, WHO_YOU,
                "let a user of its own be made: choose another name for it; or "
                "have the AWS admin take the right away");
}

static void run_denied(struct run *run, struct outcome *out)
{
    static int (*const tries[])(struct denial *, struct problem *) = {other_folder, other_parameter,
                                                                      other_role};
    struct denial d = {.run = run, .in = iam_inputs_of_run(run), .out = out};
    AUTO_PROBLEM err = PROBLEM_INIT;
    outcome_tried(out,
                  "an object outside the folder, a parameter outside the prefix, another role");
    int rc = aws_here_as_user(run, &d.user, &err);
    if (rc == 0)
        rc = aws_here_open(run, &d.admin, &err);
    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(tries); i++)
        rc = tries[i](&d, &err);
    if (rc == 0)
        conclude(&d);
    else
        outcome_problem(out, &err);
    aws_here_release(&d.user);
    aws_here_release(&d.admin);
}

const struct check iam_check_denied = {
    .id = "iam.denied",
    .title = "denied where it must be",
    .reads = (const char *const[]){READS_AWS, READS_INPUTS, "iam.access_key", NULL},
    .after = (const char *const[]){"iam.key_works", NULL},
    .needs = (const char *const[]){"bucket.staging", "iam.user", "iam.access_key", NULL},
    .severity = SEV_WARNS,
    .effect = EFFECT_PROBES,
    .service = SERVICE,
    .touches =
        "tries to put one small object outside the staging folder, which must be denied, and "
        "deletes it if it is not",
    .deadline_ms = DEADLINE_MS,
    .cause = "An existing user was named whose policies or groups give more than the pipeline "
             "needs.",
    .fix = "Name a user that does not exist yet, so that one is made with these rights only.",
    .run = run_denied,
};
