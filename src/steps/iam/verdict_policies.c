/* Verdicts on what role and user may: what is missing for which call, what is too much, and whether
 * it fits into IAM's limits. No I/O. */
#include <string.h>

#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "steps/iam/wanted.h"

#define ITEMS_MAX 40 /* of what is too much: an administrator may everything */

/* --- rows ------------------------------------------------------------------------------------- */

static void item(struct outcome *out, const struct policy_row *r)
{
    static const struct {
        enum status status;
        const char *words;
    } marks[] = {
        [POLICY_MISSING] = {STATUS_FAILED, "is missing"},
        [POLICY_DENIED] = {STATUS_FAILED, "is denied"},
        [POLICY_WIDER] = {STATUS_WARNED, "lacks its condition"},
        [POLICY_EXTRA] = {STATUS_WARNED, "is more than needed"},
    };
    AUTO_TEXT line = TEXT_INIT;
    text_addf(&line, "%s on %s", marks[r->mark].words, r->resource);
    if (r->detail != NULL)
        text_addf(&line, " (%s)", r->detail);
    if (r->needed_for != NULL)
        text_addf(&line, "; needed: %s", r->needed_for);
    outcome_item(out, r->soft ? STATUS_WARNED : marks[r->mark].status, r->action, line.s, NULL);
}

static size_t add_items(struct outcome *out, const struct policy_diff *d)
{
    size_t extra = 0;
    for (size_t i = 0; i < d->count; i++) {
        bool much = d->rows[i].mark == POLICY_EXTRA || d->rows[i].mark == POLICY_WIDER;
        if (!much || extra < ITEMS_MAX)
            item(out, &d->rows[i]);
        extra += much;
    }
    return extra;
}

/* Grants that look right and are not, of all that stands. */
static size_t add_faults(struct outcome *out, const struct iam_side *side)
{
    size_t count = 0;
    for (size_t i = 0; i < side->policy_count; i++) {
        AUTO_POLICY_FAULTS f = {0};
        if (side->policies[i].managed || policy_lint(side->policies[i].document, &f, NULL) != 0)
            continue;
        for (size_t k = 0; k < f.count; k++) {
            const struct policy_fault *p = &f.list[k];
            AUTO(xfree)
            char *line = xasprintf("on %s, in %s of %s: %s", p->resource, p->statement,
                                   side->policies[i].name, p->why);
            outcome_item(out, STATUS_WARNED, p->action, line, p->fix);
            count++;
        }
    }
    return count;
}

static void add_unread(struct outcome *out, const struct iam_side *side)
{
    for (size_t i = 0; i < side->unread.count; i++)
        outcome_item(out, STATUS_WARNED, side->unread.list[i],
                     "cannot be looked into with your credentials", NULL);
}

/* --- role and user ---------------------------------------------------------------------------- */

static const struct policy_row *first_hard(const struct policy_diff *d)
{
    for (size_t i = 0; i < d->count; i++)
        if ((d->rows[i].mark == POLICY_MISSING || d->rows[i].mark == POLICY_DENIED) &&
            !d->rows[i].soft)
            return &d->rows[i];
    return NULL;
}

static size_t count_hard(const struct policy_diff *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->count; i++)
        n += (d->rows[i].mark == POLICY_MISSING || d->rows[i].mark == POLICY_DENIED) &&
             !d->rows[i].soft;
    return n;
}

static void say_lack(struct outcome *out, const char *name, const struct iam_judgement *j)
{
    const struct policy_row *r = first_hard(&j->diff);
    size_t n = count_hard(&j->diff);
    bool denied = r->mark == POLICY_DENIED;
    AUTO(xfree) char *more = n > 1 ? xasprintf(", and %zu more", n - 1) : xstrdup("");
    outcome_fail(out, denied ? "deny" : "policy", "%s %s %s on %s%s", name,
                 denied ? "is denied" : "lacks", r->action, r->resource, more);
    if (r->needed_for != NULL)
        outcome_why(out, "%s", r->needed_for);
    outcome_fix(out, denied ? WHO_AWS_ADMIN : WHO_YOU, "%s",
                denied ? "take the Deny out of its policies, or choose another name"
                       : "open the plan and apply it, or hand the policy to the AWS admin");
}

static void judge_policy(struct outcome *out, const char *name, const struct iam_side *side,
                         const struct iam_judgement *j)
{
    size_t extra = add_items(out, &j->diff), faults = add_faults(out, side);
    add_unread(out, side);
    AUTO_TEXT also = TEXT_INIT;
    if (j->soft > 0)
        text_addf(&also, "%zu comfort%s missing", j->soft, j->soft == 1 ? " is" : "s are");
    if (extra > 0) {
        text_sep(&also, ", ");
        text_addf(&also, "%zu more than needed", extra);
    }
    if (faults > 0) {
        text_sep(&also, ", ");
        text_addf(&also, "%zu without effect or too wide", faults);
    }
    if (side->unread.count > 0) {
        text_sep(&also, ", ");
        text_add(&also, "attached policies are not looked into");
    }
    if (count_hard(&j->diff) > 0)
        say_lack(out, name, j);
    else if (also.len > 0)
        outcome_warn(out, "all that is needed; %s", also.s);
    else
        outcome_pass(out, "exactly what is needed");
    if (extra > 0 && count_hard(&j->diff) == 0) {
        outcome_why(out, "It works. What is more than needed is at the disposal of whoever gets "
                         "the key or runs a job.");
        outcome_fix(out, WHO_YOU,
                    "take it out of the policies, or let one of its own be made: "
                    "choose another name");
    }
}

static void judge_kind(struct run *run, struct outcome *out, enum policy_kind kind)
{
    struct iam_inputs in = iam_inputs_of_run(run);
    const struct iam_side *side = kind == POLICY_ROLE ? in.role : in.user;
    AUTO_IAM_JUDGEMENT j = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (!side->exists)
        outcome_skip(out, "there is no %s yet", kind == POLICY_ROLE ? "role" : "user");
    else if (kind == POLICY_USER && in.application[0] == '\0')
        outcome_warn(out, "cannot be compared yet: the application is not known");
    else if (iam_judge(kind, &in, &j, &err) != 0)
        outcome_problem(out, &err);
    else
        judge_policy(out, kind == POLICY_ROLE ? in.role_name : in.user_name, side, &j);
}

static void run_role_policy(struct run *run, struct outcome *out)
{
    judge_kind(run, out, POLICY_ROLE);
}

const struct check iam_check_role_policy = {
    .id = "iam.role_policy",
    .title = "the role may what jobs need",
    .reads = (const char *const[]){READS_INPUTS, NULL},
    .needs = (const char *const[]){"iam.role", NULL},
    .settled_by = (const char *const[]){"iam.role_policy", NULL},
    .severity = SEV_BLOCKS,
    .cause = "An action or resource is missing in the role's policies, another bucket or prefix "
             "was chosen since, or a Deny stands in the way.",
    .fix = "Apply the plan: it puts what is missing, and nothing else.",
    .run = run_role_policy,
};

static void run_user_policy(struct run *run, struct outcome *out)
{
    judge_kind(run, out, POLICY_USER);
}

const struct check iam_check_user_policy = {
    .id = "iam.user_policy",
    .title = "the user may what Estuary's connector does",
    .reads = (const char *const[]){READS_INPUTS, NULL},
    .needs = (const char *const[]){"emr.application", "iam.role", "iam.user", NULL},
    .settled_by = (const char *const[]){"iam.user_policy", NULL},
    .severity = SEV_BLOCKS,
    .cause = "An action or resource is missing in the user's policies, another application, role, "
             "bucket or prefix was chosen since, or a Deny stands in the way.",
    .fix = "Apply the plan: it puts what is missing, and nothing else.",
    .run = run_user_policy,
};

/* --- size ------------------------------------------------------------------------------------- */

static size_t held(const struct iam_side *side)
{
    size_t n = 0;
    for (size_t i = 0; i < side->policy_count; i++)
        if (!side->policies[i].managed)
            n += policy_size(side->policies[i].document);
    return n;
}

static int judge_size(struct outcome *out, enum policy_kind kind, const struct iam_inputs *in,
                      struct text *line, struct problem *err)
{
    static const char *const names[] = {
        [POLICY_ROLE] = "role", [POLICY_TRUST] = "trust", [POLICY_USER] = "user"};
    AUTO_IAM_JUDGEMENT j = {0};
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (iam_judge(kind, in, &j, err) != 0)
        return -1;
    const struct iam_side *side = kind == POLICY_USER ? in->user : in->role;
    size_t now = kind != POLICY_TRUST         ? held(side)
                 : side->entity.trust != NULL ? policy_size(side->entity.trust)
                                              : 0;
    size_t then = j.put != NULL ? j.others + policy_size(j.sized) : now;
    text_sep(line, " · ");
    text_addf(line, "%s %zu of %zu", names[kind], then, policy_limit(kind));
    if (j.put == NULL || policy_fits(kind, j.sized, j.others, &why) == 0)
        return 0;
    outcome_item(out, STATUS_FAILED, names[kind], why.why, why.fix);
    return 1;
}

static void run_size(struct run *run, struct outcome *out)
{
    static const enum policy_kind kinds[] = {POLICY_ROLE, POLICY_USER, POLICY_TRUST};
    struct iam_inputs in = iam_inputs_of_run(run);
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_TEXT line = TEXT_INIT;
    int over = 0;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        int rc = judge_size(out, kinds[i], &in, &line, &err);
        if (rc < 0) {
            outcome_problem(out, &err);
            return;
        }
        over += rc;
    }
    if (over == 0) {
        outcome_pass(out, "%s characters", line.s);
        return;
    }
    outcome_fail(out, "policy size", "too long for IAM: %s characters", line.s);
    outcome_why(out, "All inline policies of one user or role count together, without white "
                     "space.");
    outcome_fix(out, WHO_YOU,
                "take a user and a role of their own: choose names that do not exist "
                "yet; or have the AWS admin attach the policy as a managed one, "
                "which may have 6,144");
}

const struct check iam_check_policy_size = {
    .id = "iam.policy_size",
    .title = "the policies fit into IAM's limits",
    .reads = (const char *const[]){READS_INPUTS, NULL},
    .severity = SEV_BLOCKS,
    .cause = "An existing user or role has inline policies already, and all of them count "
             "together: 2,048 characters for a user, 10,240 for a role; 2,048 for a trust policy.",
    .fix = "Name a user and a role that do not exist yet.",
    .run = run_size,
};
