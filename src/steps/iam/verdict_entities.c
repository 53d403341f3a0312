/* Verdicts on role and user as they stand: the right one, in the right place, trusted by the right
 * service. No I/O. */
#include <string.h>

#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "steps/iam/wanted.h"

#define MAKE_IT "open the plan and apply it, or hand it to the AWS admin"

/* --- role and user ---------------------------------------------------------------------------- */

static const char *word(enum iam_kind kind)
{
    return kind == IAM_ROLE ? "role" : "user";
}

static bool same_boundary(const struct iam_inputs *in, const struct iam_side *side)
{
    const char *has = side->entity.boundary != NULL ? side->entity.boundary : "";
    return in->boundary[0] == '\0' || strcmp(has, in->boundary) == 0;
}

/* The key of who sets this up must not be what Estuary gets. */
static bool is_caller(const struct iam_inputs *in, const struct iam_side *side)
{
    return strcmp(in->who->arn, side->entity.arn) == 0;
}

static void judge_standing(struct outcome *out, const struct iam_inputs *in, enum iam_kind kind,
                           const struct iam_side *side)
{
    const struct iam_entity *e = &side->entity;
    bool ours = iam_is_ours(in, side);
    if (kind == IAM_ROLE && strncmp(e->path, "/aws-service-role/", 18) == 0) {
        outcome_fail(out, "service role", "%s is a service's own role", e->name);
        outcome_why(out, "Only AWS itself may use and change it.");
        outcome_fix(out, WHO_YOU, "choose another name for the role");
    } else if (kind == IAM_USER && is_caller(in, side)) {
        outcome_fail(out, "caller", "%s is you: Estuary would get a key of yours", e->name);
        outcome_why(out, "The key leaves your account with all you may do.");
        outcome_fix(out, WHO_YOU, "choose another name, so that a user of its own is made");
    } else if (!same_boundary(in, side)) {
        outcome_warn(out, "%s stands under %s", e->name,
                     e->boundary != NULL ? e->boundary : "no permissions boundary");
        outcome_why(out, "You named %s. What exists is not changed here.", in->boundary);
        outcome_fix(out, WHO_AWS_ADMIN, "put the boundary on it, or choose another name");
    } else if (strcmp(e->path, in->path) != 0) {
        outcome_warn(out, "it lies at the path %s, you named %s", e->path, in->path);
        outcome_why(out, "IAM has one %s of a name, whatever its path; this one is used.",
                    word(kind));
        outcome_fix(out, WHO_YOU, "answer iam.path as %s, or choose another name", e->path);
        outcome_suggest(out, "iam.path", e->path);
    } else {
        outcome_pass(out, "%s%s", e->arn, ours ? ", made here" : "");
    }
}

static void judge_entity(struct run *run, struct outcome *out, enum iam_kind kind)
{
    struct iam_inputs in = iam_inputs_of_run(run);
    const struct iam_side *side = kind == IAM_ROLE ? in.role : in.user;
    if (side->exists) {
        judge_standing(out, &in, kind, side);
        return;
    }
    outcome_fail(out, "NoSuchEntity", "there is no %s %s", word(kind),
                 kind == IAM_ROLE ? in.role_name : in.user_name);
    outcome_fix(out, WHO_YOU, MAKE_IT);
}

static void run_role(struct run *run, struct outcome *out)
{
    judge_entity(run, out, IAM_ROLE);
}

const struct check iam_check_role = {
    .id = "iam.role",
    .title = "the execution role is there",
    .reads = (const char *const[]){READS_INPUTS, NULL},
    .needs = (const char *const[]){"iam.role", NULL},
    .severity = SEV_BLOCKS,
    .cause = "The role does not exist, is a service's own, or lies under another path or boundary "
             "than you named.",
    .fix = "Apply the plan, or name another role.",
    .run = run_role,
};

static void run_user(struct run *run, struct outcome *out)
{
    judge_entity(run, out, IAM_USER);
}

const struct check iam_check_user = {
    .id = "iam.user",
    .title = "the user is there, and is nobody else's",
    .reads = (const char *const[]){READS_INPUTS, NULL},
    .needs = (const char *const[]){"iam.user", NULL},
    .severity = SEV_BLOCKS,
    .cause = "The user does not exist, is the very one who sets this up, or lies under another "
             "path or boundary than you named.",
    .fix = "Apply the plan, or name another user.",
    .run = run_user,
};

/* --- trust ------------------------------------------------------------------------------------ */

static void trust_items(struct outcome *out, const struct policy_diff *d)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct policy_row *r = &d->rows[i];
        static const char *const lines[] = {
            [POLICY_MISSING] = "may not become the role, and must",
            [POLICY_DENIED] = "is denied by a statement, and must become the role",
            [POLICY_WIDER] = "may become the role on behalf of any account",
            [POLICY_EXTRA] = "may become the role as well",
        };
        AUTO(xfree)
        char *line = xasprintf("%s%s%s", lines[r->mark], r->detail != NULL ? "; " : "",
                               r->detail != NULL ? r->detail : "");
        bool bad = r->mark == POLICY_MISSING || r->mark == POLICY_DENIED;
        outcome_item(out, bad ? STATUS_FAILED : STATUS_WARNED, r->resource, line, NULL);
    }
}

static size_t count_mark(const struct policy_diff *d, enum policy_mark mark)
{
    size_t n = 0;
    for (size_t i = 0; i < d->count; i++)
        n += d->rows[i].mark == mark;
    return n;
}

static void others_of(const struct policy_diff *d, struct text *out)
{
    for (size_t i = 0; i < d->count; i++) {
        if (d->rows[i].mark != POLICY_EXTRA)
            continue;
        text_sep(out, ", ");
        text_add(out, d->rows[i].resource);
    }
}

static void trust_lacks(struct outcome *out, const struct iam_inputs *in,
                        const struct iam_judgement *j)
{
    AUTO_TEXT others = TEXT_LIMITED(300);
    others_of(&j->diff, &others);
    if (j->denied > 0) {
        outcome_fail(out, "trust", "%s denies EMR Serverless to become it", in->role_name);
        outcome_fix(out, WHO_AWS_ADMIN,
                    "take the Deny out of its trust policy, or choose another "
                    "role");
    } else {
        outcome_fail(out, "trust", "%s does not trust EMR Serverless%s%s", in->role_name,
                     others.len > 0 ? ", but " : "", others.s);
        outcome_fix(out, WHO_YOU,
                    others.len > 0 ? "choose another name for the role, so that one of its own is "
                                     "made; or apply the plan, which adds EMR Serverless and keeps "
                                     "the others"
                                   : MAKE_IT);
    }
    outcome_why(out, "A job starts by becoming this role; without trust it ends with “Could not "
                     "assume runtime role”.");
}

static void judge_trust(struct outcome *out, const struct iam_inputs *in,
                        const struct iam_judgement *j)
{
    size_t extra = count_mark(&j->diff, POLICY_EXTRA), wider = count_mark(&j->diff, POLICY_WIDER);
    trust_items(out, &j->diff);
    if (j->missing + j->denied > 0) {
        trust_lacks(out, in, j);
    } else if (extra > 0) {
        AUTO_TEXT others = TEXT_LIMITED(300);
        others_of(&j->diff, &others);
        outcome_warn(out, "%s may also be assumed by %s", in->role_name, others.s);
        outcome_why(out, "Who may become the role may read the lake and write its tables.");
        outcome_fix(out, WHO_YOU,
                    "take it out of the trust policy, or let a role of its own be "
                    "made: choose another name");
    } else if (wider > 0) {
        outcome_warn(out, "EMR Serverless is trusted on behalf of any account");
        outcome_why(out, "Without aws:SourceAccount somebody else's application could be led to "
                         "use this role (confused deputy). Bauplan's guide leaves it out; it "
                         "works without.");
        outcome_fix(out, WHO_AWS_ADMIN,
                    "add the condition StringEquals aws:SourceAccount %s to its trust policy",
                    in->who->account);
    } else {
        outcome_pass(out, "only EMR Serverless, only for account %s", in->who->account);
    }
}

static void run_trust(struct run *run, struct outcome *out)
{
    struct iam_inputs in = iam_inputs_of_run(run);
    AUTO_IAM_JUDGEMENT j = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (!in.role->exists) {
        outcome_skip(out, "there is no role yet");
        return;
    }
    if (iam_judge(POLICY_TRUST, &in, &j, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    judge_trust(out, &in, &j);
    outcome_evidence(out, "%s", in.role->entity.trust != NULL ? in.role->entity.trust : "none");
}

const struct check iam_check_trust = {
    .id = "iam.trust",
    .title = "the role trusts EMR Serverless alone",
    .reads = (const char *const[]){READS_INPUTS, NULL},
    .needs = (const char *const[]){"iam.role", NULL},
    .settled_by = (const char *const[]){"iam.trust", NULL},
    .severity = SEV_BLOCKS,
    .cause = "An existing role was named that trusts another service, other accounts or users, or "
             "EMR Serverless on behalf of any account.",
    .fix = "Name a role that does not exist yet, so that one is made; or apply the plan, which "
           "adds what lacks and takes nothing away.",
    .run = run_trust,
};
