/* Checks as the new user: its key is seen by AWS, and it does what Estuary's connector does in its
 * own Validate, call by call. What IAM still spreads is waited for, for a bounded time and in
 * sight. */
#include "steps/iam/probes.h"

#include <string.h>
#include <sys/random.h>

#include "aws/emr.h"
#include "aws/policy.h"
#include "aws/s3.h"
#include "aws/ssm.h"
#include "aws/sts.h"
#include "core/clock.h"
#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "steps/iam/keys.h"
#include "steps/iam/wanted.h"

#define SPREADS_S 90 /* IAM's changes mostly count within 15 s */
#define YOUNG_S 600
#define LOOK_MS 2000
#define DEADLINE_MS ((SPREADS_S + 60) * 1000)

char *iam_probe_name(const char *before)
{
    unsigned char bytes[8] = {0};
    AUTO_TEXT t = TEXT_INIT;
    text_add(&t, before);
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        mem_exhausted();
    for (size_t i = 0; i < sizeof bytes; i++)
        text_addf(&t, "%02x", bytes[i]);
    return text_take(&t);
}

/* --- waiting for IAM -------------------------------------------------------------------------- */

/* True = look again: the wait is not over. */
static bool spreads(struct run *run, int64_t began, const char *what)
{
    int64_t waited = (clock_ms() - began) / 1000;
    if (waited >= SPREADS_S)
        return false;
    AUTO(xfree) char *doing = xasprintf("%s; %lld s", what, (long long)waited);
    run_progress(run, waited, SPREADS_S, doing);
    return run_sleep(run, LOOK_MS, NULL) == 0;
}

static bool is_young(const struct iam_held_key *k)
{
    return k != NULL && k->active && clock_wall() - k->created < YOUNG_S;
}

static const struct iam_held_key *key_at_hand(struct run *run)
{
    AUTO(xfree) char *id = iam_key_id_of(run_secret(run, "iam.access_key"));
    const struct iam_side *user = run_fact(run, FACT_USER, &iam_user_type);
    return id != NULL ? iam_key_of(user, id) : NULL;
}

/* --- the key works ---------------------------------------------------------------------------- */

static void unknown_key(struct outcome *out, const struct problem *err, bool young, int64_t began)
{
    outcome_problem(out, err);
    if (!young || !aws_key_unknown(err))
        return;
    outcome_fail(out, err->code, "AWS does not know the new key after %lld s",
                 (long long)((clock_ms() - began) / 1000));
    outcome_why(out, "A new key mostly works within 15 seconds, at times only after a minute or "
                     "two.");
    outcome_fix(out, WHO_YOU, "check again in a minute");
}

static void judge_caller(struct run *run, struct outcome *out, const struct sts_identity *who,
                         int64_t waited)
{
    const struct aws_identity *us = run_fact(run, FACT_IDENTITY, &aws_identity_type);
    const char *user = run_text(run, "iam.user");
    if (strcmp(who->account, us->account) != 0) {
        outcome_fail(out, "account", "the key belongs to account %s, not to %s", who->account,
                     us->account);
        outcome_fix(out, WHO_YOU, "answer iam.access_key with a key of this account");
    } else if (who->kind != STS_USER || strcasecmp(who->name, user) != 0) {
        outcome_fail(out, "user", "the key belongs to %s, not to user %s", who->arn, user);
        outcome_fix(out, WHO_YOU,
                    "answer iam.access_key with a key of that user, or iam.user with "
                    "the user of this key");
    } else if (waited >= 1000) {
        outcome_pass(out, "seen by AWS after %lld s", (long long)(waited / 1000));
    } else {
        outcome_pass(out, "as %s", who->arn);
    }
}

static void run_key_works(struct run *run, struct outcome *out)
{
    AUTO_AWS_HERE here = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    bool young = is_young(key_at_hand(run));
    int64_t began = clock_ms();
    if (aws_here_as_user(run, &here, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    outcome_tried(out, "GetCallerIdentity with key %s", here.credentials.key_id);
    for (;;) {
        AUTO_STS_IDENTITY who = {0};
        if (sts_get_caller_identity(run, &here.client, &who, &err) == 0) {
            judge_caller(run, out, &who, clock_ms() - began);
            return;
        }
        if (!young || !aws_key_unknown(&err) || !spreads(run, began, "the new key is spreading"))
            break;
        problem_release(&err);
    }
    unknown_key(out, &err, young, began);
}

const struct check iam_check_key_works = {
    .id = "iam.key_works",
    .title = "the access key works",
    .reads = (const char *const[]){READS_USER, "iam.user", FACT_IDENTITY, FACT_USER, NULL},
    .after = (const char *const[]){"iam.access_keys", NULL},
    .needs = (const char *const[]){"iam.user", "iam.access_key", NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_READS,
    .service = SERVICE,
    .deadline_ms = DEADLINE_MS,
    .cause = "The key was made seconds ago and still spreads, was deleted or switched off, its "
             "secret is wrong, or it belongs to another user.",
    .fix = "Check again in a minute; else have the plan make another key.",
    .run = run_key_works,
};

/* --- Estuary's own test ----------------------------------------------------------------------- */

struct replay {
    struct run *run;
    struct aws_here here;
    const struct aws_identity *who;
    struct iam_judgement policy; /* of the user */
    const char *application, *bucket;
    char *parameter, *key; /* of the probe */
    struct secret *value;
    bool young, listed, put; /* of the key; what passed so far */
    int64_t began;
    size_t failed;
    bool softly;          /* something failed that only sluice does */
    bool stays;           /* the parameter, though it was tried to be deleted */
    struct problem first; /* failure */
    char *first_on;
};

static int list_jobs(struct replay *r, struct problem *err)
{
    AUTO_EMR_JOBS jobs = {0};
    return emr_list_jobs(r->run, &r->here.client, r->application, 1, &jobs, err);
}

static int put_parameter(struct replay *r, struct problem *err)
{
    return ssm_put(r->run, &r->here.client, r->parameter, r->value, err);
}

static int get_parameter(struct replay *r, struct problem *err)
{
    struct ssm_parameter p = {0};
    int rc = ssm_get(r->run, &r->here.client, r->parameter, &p, err);
    if (rc == 0 && !secret_equal(p.value, r->value))
        rc =
            problem_fail(err, PROBLEM_PROTOCOL, "content", "the parameter read is not the one put");
    ssm_parameter_release(&p);
    return rc;
}

/* Denied to the user, the operator tidies up. */
static int delete_parameter(struct replay *r, struct problem *err)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    AUTO_AWS_HERE admin = {0};
    if (ssm_delete(r->run, &r->here.client, r->parameter, &why) == 0)
        return 0;
    bool gone =
        why.kind == PROBLEM_MISSING || (aws_here_open(r->run, &admin, NULL) == 0 &&
                                        ssm_delete(r->run, &admin.client, r->parameter, NULL) == 0);
    r->stays = !gone;
    problem_move(err, &why);
    return -1;
}

static int head_region(struct replay *r, struct problem *err)
{
    AUTO_S3_BUCKET b = {0};
    if (s3_probe_region(r->run, &r->here.client, r->bucket, &b, err) != 0)
        return -1;
    if (b.presence == S3_ABSENT)
        return problem_fail(err, PROBLEM_CONFLICT, "NoSuchBucket", "there is no bucket %s",
                            r->bucket);
    if (b.region == NULL || strcmp(b.region, r->here.client.region) == 0)
        return 0;
    problem_fail(err, PROBLEM_CONFLICT, "region", "the bucket lies in %s, the application in %s",
                 b.region, r->here.client.region);
    problem_fix(err, WHO_YOU, "choose a bucket in the region of the application");
    return -1;
}

static int list_objects(struct replay *r, struct problem *err)
{
    AUTO_S3_LISTING l = {0};
    int rc = s3_list_objects(r->run, &r->here.client, r->bucket,
                             run_text(r->run, "bucket.staging_prefix"), 1, &l, err);
    r->listed = rc == 0;
    return rc;
}

static int put_object(struct replay *r, struct problem *err)
{
    int rc =
        s3_put_object(r->run, &r->here.client, r->bucket, r->key, "text/plain", "test", 4, err);
    r->put = rc == 0;
    return rc;
}

static int get_object(struct replay *r, struct problem *err)
{
    AUTO_TEXT t = TEXT_INIT;
    if (s3_get_object(r->run, &r->here.client, r->bucket, r->key, &t, err) != 0)
        return -1;
    if (strcmp(t.s, "test") == 0)
        return 0;
    return problem_fail(err, PROBLEM_PROTOCOL, "content", "the object read is not the one put");
}

static int delete_object(struct replay *r, struct problem *err)
{
    bool marker = false;
    if (s3_delete_object(r->run, &r->here.client, r->bucket, r->key, &marker, err) != 0)
        return -1;
    if (marker)
        run_log(r->run, "the bucket keeps versions: a marker of %s stays", r->key);
    return 0;
}

enum target { ON_APPLICATION, ON_PARAMETER, ON_BUCKET, ON_OBJECT };

/* In the connector's order. It never deletes its own parameter; ours is not left behind. */
static const struct replay_call {
    const char *action; /* as policies call it */
    const char *name;
    enum target target;
    int (*call)(struct replay *r, struct problem *err);
    bool soft; /* only sluice does it */
} calls[] = {
    {"emr-serverless:ListJobRuns", "lists job runs", ON_APPLICATION, list_jobs, false},
    {"ssm:PutParameter", "puts a parameter", ON_PARAMETER, put_parameter, false},
    {"ssm:GetParameter", "reads it back, decrypted", ON_PARAMETER, get_parameter, false},
    {"ssm:DeleteParameter", "deletes it", ON_PARAMETER, delete_parameter, true},
    {"", "finds the bucket's region", ON_BUCKET, head_region, false},
    {"s3:ListBucket", "lists the staging folder", ON_BUCKET, list_objects, false},
    {"s3:PutObject", "writes an object", ON_OBJECT, put_object, false},
    {"s3:GetObject", "reads it back", ON_OBJECT, get_object, false},
    {"s3:DeleteObject", "deletes it", ON_OBJECT, delete_object, false},
};

static char *resource_of(const struct replay *r, enum target target)
{
    const char *partition = r->who->partition;
    switch (target) {
    case ON_APPLICATION:
        return emr_arn(partition, r->who->region, r->who->account, r->application);
    case ON_PARAMETER:
        return ssm_arn(partition, r->who->region, r->who->account, r->parameter);
    case ON_BUCKET:
        return xasprintf("arn:%s:s3:::%s", partition, r->bucket);
    case ON_OBJECT:
        break;
    }
    return xasprintf("arn:%s:s3:::%s/%s", partition, r->bucket, r->key);
}

static bool is_granted(const struct replay *r, const char *action)
{
    for (size_t i = 0; i < r->policy.diff.count; i++) {
        const struct policy_row *row = &r->policy.diff.rows[i];
        if ((row->mark == POLICY_MISSING || row->mark == POLICY_DENIED) &&
            strcasecmp(row->action, action) == 0)
            return false;
    }
    return true;
}

/* A denial of what a policy gives, for no other reason: the policy still spreads. */
static bool may_spread(const struct replay *r, const struct replay_call *c,
                       const struct problem *err)
{
    if (aws_key_unknown(err))
        return r->young;
    if (err->kind != PROBLEM_DENIED || !is_granted(r, c->action))
        return false;
    const char *why = err->why != NULL ? err->why : "";
    return strstr(why, "explicit deny") == NULL && strstr(why, "boundary") == NULL &&
           strstr(why, "control policy") == NULL;
}

static int call_patiently(struct replay *r, const struct replay_call *c, struct problem *err)
{
    AUTO(xfree) char *what = xasprintf("%s: waits for IAM to spread", c->name);
    for (;;) {
        AUTO_PROBLEM why = PROBLEM_INIT;
        if (c->call(r, &why) == 0)
            return 0;
        if (!may_spread(r, c, &why) || !spreads(r->run, r->began, what)) {
            problem_move(err, &why);
            return -1;
        }
    }
}

/* Nothing that Estuary does fails by it. */
static void note_soft(struct replay *r, struct outcome *out, const struct replay_call *c,
                      const struct problem *err)
{
    AUTO(xfree) char *on = resource_of(r, c->target);
    AUTO(xfree)
    char *line = xasprintf("%s on %s; %s", err->what, on,
                           r->stays ? "it stays there" : "removed with your own credentials");
    outcome_item(out, STATUS_WARNED, c->name, line, err->fix);
    xreplace(&r->first_on, on);
    r->softly = true;
}

static void note_failure(struct replay *r, struct outcome *out, const struct replay_call *c,
                         struct problem *err)
{
    AUTO(xfree) char *on = resource_of(r, c->target);
    AUTO(xfree) char *line = xasprintf("%s on %s", err->what, on);
    outcome_item(out, STATUS_FAILED, c->name, line, err->fix);
    if (r->failed++ > 0)
        return;
    problem_move(&r->first, err);
    xreplace(&r->first_on, on);
}

/* What is not there because an earlier call failed was allowed to be looked for: that is the proof
 * that is wanted. Without the right to list, S3 does not tell that an object is missing. */
static void replay_call(struct replay *r, struct outcome *out, const struct replay_call *c)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (c->call == get_object && !r->put && !r->listed) {
        outcome_item(out, STATUS_SKIPPED, c->name, "nothing was written to be read", NULL);
        return;
    }
    int64_t began = clock_ms();
    if (call_patiently(r, c, &err) == 0 || (err.kind == PROBLEM_MISSING && r->failed > 0)) {
        AUTO(xfree) char *ms = xasprintf("%lld ms", (long long)(clock_ms() - began));
        outcome_item(out, STATUS_PASSED, c->name, ms, NULL);
    } else if (c->soft && err.kind == PROBLEM_DENIED) {
        note_soft(r, out, c, &err);
    } else {
        note_failure(r, out, c, &err);
    }
}

static void conclude(struct replay *r, struct outcome *out)
{
    if (r->failed == 0 && r->softly) {
        outcome_warn(out, "all that Estuary does; ssm:DeleteParameter on %s is denied",
                     r->first_on);
        outcome_fix(out, WHO_YOU, "apply the plan: it lets sluice remove what it tries");
        return;
    }
    if (r->failed == 0) {
        outcome_pass(out, "jobs, parameter, list, write, read, delete");
        return;
    }
    outcome_problem(out, &r->first);
    if (r->first.kind != PROBLEM_DENIED)
        return;
    bool granted = clock_ms() - r->began >= (int64_t)SPREADS_S * 1000;
    AUTO(xfree)
    char *more = r->failed > 1 ? xasprintf(", and %zu more", r->failed - 1) : xstrdup("");
    outcome_fail(out, r->first.code, "%s on %s%s", r->first.what, r->first_on, more);
    if (granted) {
        outcome_why(out, "The user's policy gives it, and AWS still denies it after %d s.",
                    SPREADS_S);
        outcome_fix(out, WHO_AWS_ADMIN,
                    "check again in a minute; if it stays, look for a policy "
                    "of the organisation or of the bucket that denies it");
    }
}

static int prepare(struct run *run, struct replay *r, struct problem *err)
{
    struct iam_inputs in = iam_inputs_of_run(run);
    const char *prefix = in.staging_prefix;
    const char *slash = prefix[0] != '\0' ? "/" : "";
    *r = (struct replay){.run = run,
                         .who = in.who,
                         .application = in.application,
                         .bucket = in.staging,
                         .young = is_young(key_at_hand(run)),
                         .began = clock_ms()};
    r->parameter = xasprintf("%swizard-probe", in.ssm_prefix);
    /* of one name each, so that what a killed run left is overwritten and removed by the next */
    r->key = xasprintf("%s%ssluice-probe-%s", prefix, slash, in.pipeline);
    r->value = secret_generate(24);
    if (in.application[0] == '\0')
        return problem_fail(err, PROBLEM_INPUT, "application", "the application is not known yet");
    if (iam_judge(POLICY_USER, &in, &r->policy, err) != 0)
        return -1;
    return aws_here_as_user(run, &r->here, err);
}

static void replay_release(struct replay *r)
{
    aws_here_release(&r->here);
    iam_judgement_release(&r->policy);
    problem_release(&r->first);
    secret_unref(r->value);
    xfree(r->parameter);
    xfree(r->key);
    xfree(r->first_on);
}

static void run_replay(struct run *run, struct outcome *out)
{
    struct replay r;
    AUTO_PROBLEM err = PROBLEM_INIT;
    outcome_tried(out, "the calls of Estuary's own test, in its order, with the new key");
    if (prepare(run, &r, &err) != 0) {
        outcome_problem(out, &err);
        replay_release(&r);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        run_progress(run, (int64_t)i, ARRAY_LEN(calls), calls[i].name);
        replay_call(&r, out, &calls[i]);
    }
    conclude(&r, out);
    replay_release(&r);
}

const struct check iam_check_replay = {
    .id = "iam.replay",
    .title = "does what Estuary's own test does",
    .reads = (const char *const[]){READS_AWS, READS_INPUTS, "iam.access_key", NULL},
    .after = (const char *const[]){"iam.key_works", NULL},
    .needs = (const char *const[]){"emr.application", "bucket.staging", "iam.user",
                                   "iam.access_key", NULL},
    .settled_by = (const char *const[]){"iam.user_policy", NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_PROBES,
    .service = SERVICE,
    .touches = "puts, reads and deletes one parameter below the prefix and one small object in the "
               "staging folder",
    .deadline_ms = DEADLINE_MS,
    .cause = "The user's policy lacks an action or names another application, bucket, folder or "
             "prefix; a policy of the organisation or of the bucket denies it; or IAM still "
             "spreads.",
    .fix = "Apply the plan; the message names action and resource.",
    .run = run_replay,
};
