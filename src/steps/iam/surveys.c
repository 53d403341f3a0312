/* What stands in the account under the names of role and user: trust, policies, keys. */
#include "core/json.h"
#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "steps/iam/iam.h"

#define ASKING_MS 60000
#define POLICIES_MAX 40 /* read of one role or user; IAM allows fewer attached ones */

/* --- reading ---------------------------------------------------------------------------------- */

static void add_policy(struct iam_side *s, const char *name, char *document, bool managed)
{
    s->policies = xrealloc(s->policies, s->policy_count + 1, sizeof *s->policies);
    s->policies[s->policy_count++] =
        (struct iam_policy){.name = xstrdup(name), .document = document, .managed = managed};
}

/* One that went between the two calls is not there. */
static int read_inline(struct run *run, const struct aws_client *client, enum iam_kind kind,
                       const char *name, struct iam_side *out, struct problem *err)
{
    AUTO_AWS_NAMES names = {0};
    if (iam_list_policies(run, client, kind, name, &names, err) != 0)
        return -1;
    for (size_t i = 0; i < names.count && i < POLICIES_MAX; i++) {
        AUTO_PROBLEM why = PROBLEM_INIT;
        char *document = NULL;
        if (iam_get_policy(run, client, kind, name, names.list[i], &document, &why) == 0) {
            add_policy(out, names.list[i], document, false);
        } else if (why.kind != PROBLEM_MISSING) {
            problem_move(err, &why);
            return -1;
        }
    }
    return 0;
}

/* What is attached is looked into where the operator may; it is never changed here. */
static int read_attached(struct run *run, const struct aws_client *client, enum iam_kind kind,
                         const char *name, struct iam_side *out, struct problem *err)
{
    AUTO_AWS_NAMES arns = {0};
    AUTO_PROBLEM why = PROBLEM_INIT;
    int rc = iam_list_attached(run, client, kind, name, &arns, &why);
    for (size_t i = 0; rc == 0 && i < arns.count && i < POLICIES_MAX; i++) {
        char *document = NULL;
        rc = iam_get_managed(run, client, arns.list[i], &document, &why);
        if (rc == 0)
            add_policy(out, arns.list[i], document, true);
        else if (why.kind == PROBLEM_DENIED || why.kind == PROBLEM_MISSING)
            aws_names_add(&out->unread, arns.list[i]);
        if (rc != 0 && (why.kind == PROBLEM_DENIED || why.kind == PROBLEM_MISSING))
            rc = 0;
    }
    if (rc == 0)
        return 0;
    if (why.kind == PROBLEM_DENIED) {
        aws_names_add(&out->unread, "what is attached");
        run_log(run, "%s: managed policies of %s are not looked into", why.what, name);
        return 0;
    }
    problem_move(err, &why);
    return -1;
}

static int read_keys(struct run *run, const struct aws_client *client, const char *user,
                     struct iam_side *out, struct problem *err)
{
    AUTO_IAM_KEYS keys = {0};
    if (iam_list_keys(run, client, user, &keys, err) != 0)
        return -1;
    out->keys = xcalloc(keys.count + 1, sizeof *out->keys);
    for (size_t i = 0; i < keys.count; i++) {
        struct iam_key_use use = {0};
        struct iam_held_key *k = &out->keys[out->key_count++];
        *k = (struct iam_held_key){.id = xstrdup(keys.list[i].id),
                                   .active = keys.list[i].active,
                                   .created = keys.list[i].created,
                                   .used = -1};
        if (iam_key_last_used(run, client, k->id, &use, NULL) == 0) {
            k->used = use.when;
            k->service = xstrdup(use.service);
        }
        iam_key_use_release(&use);
    }
    return 0;
}

int iam_side_read(struct run *run, const struct aws_client *client, enum iam_kind kind,
                  const char *name, struct iam_side *out, struct problem *err)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    *out = (struct iam_side){0};
    if (iam_get(run, client, kind, name, &out->entity, &why) != 0) {
        if (why.kind == PROBLEM_MISSING)
            return 0;
        problem_move(err, &why);
        return -1;
    }
    out->exists = true;
    int rc = read_inline(run, client, kind, name, out, err);
    if (rc == 0)
        rc = read_attached(run, client, kind, name, out, err);
    if (rc == 0 && kind == IAM_USER)
        rc = read_keys(run, client, name, out, err);
    if (rc != 0)
        iam_side_release(out);
    return rc;
}

/* --- the operator's own rights ---------------------------------------------------------------- */

static const char *const operator_actions[] = {"iam:GetRole",
                                               "iam:CreateRole",
                                               "iam:UpdateAssumeRolePolicy",
                                               "iam:PutRolePolicy",
                                               "iam:GetRolePolicy",
                                               "iam:ListRolePolicies",
                                               "iam:DeleteRole",
                                               "iam:DeleteRolePolicy",
                                               "iam:ListAttachedRolePolicies",
                                               "iam:TagRole",
                                               "iam:GetUser",
                                               "iam:CreateUser",
                                               "iam:PutUserPolicy",
                                               "iam:GetUserPolicy",
                                               "iam:ListUserPolicies",
                                               "iam:DeleteUser",
                                               "iam:DeleteUserPolicy",
                                               "iam:ListAttachedUserPolicies",
                                               "iam:TagUser",
                                               "iam:CreateAccessKey",
                                               "iam:ListAccessKeys",
                                               "iam:DeleteAccessKey",
                                               "iam:SimulatePrincipalPolicy"};

/* A policy for the operator: all this step does, on these two names only. */
static void add_operator_policy(const struct run *run, struct outcome *out)
{
    const struct aws_identity *who = run_fact(run, FACT_IDENTITY, &aws_identity_type);
    AUTO_TEXT t = TEXT_INIT;
    struct json_writer w = {.out = &t};
    json_begin(&w, '{');
    json_pair_text(&w, "Version", "2012-10-17");
    json_key(&w, "Statement");
    json_begin(&w, '[');
    json_begin(&w, '{');
    json_pair_text(&w, "Effect", "Allow");
    json_key(&w, "Action");
    json_begin(&w, '[');
    for (size_t i = 0; i < ARRAY_LEN(operator_actions); i++)
        json_add_text(&w, operator_actions[i]);
    json_end(&w, ']');
    json_key(&w, "Resource");
    json_begin(&w, '[');
    static const char *const kinds[][2] = {{"role", "iam.role"}, {"user", "iam.user"}};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        AUTO(xfree)
        char *arn = xasprintf("arn:%s:iam::%s:%s%s%s", who->partition, who->account, kinds[i][0],
                              run_text(run, "iam.path"), run_text(run, kinds[i][1]));
        json_add_text(&w, arn);
    }
    json_end(&w, ']');
    json_end(&w, '}');
    json_end(&w, ']');
    json_end(&w, '}');
    outcome_copy_command(out, "%s", t.s);
}

static void look_failed(const struct run *run, struct outcome *out, const struct problem *err)
{
    outcome_problem(out, err);
    if (err->kind == PROBLEM_DENIED)
        add_operator_policy(run, out);
}

/* --- the survey ------------------------------------------------------------------------------- */

static void say_found(struct outcome *out, const char *role, const struct iam_side *r,
                      const char *user, const struct iam_side *u)
{
    AUTO(xfree)
    char *keys = u->exists
                     ? xasprintf(", %zu access key%s", u->key_count, u->key_count == 1 ? "" : "s")
                     : xstrdup("");
    outcome_pass(out, "role %s %s, user %s %s%s", role, r->exists ? "exists" : "not yet", user,
                 u->exists ? "exists" : "not yet", keys);
}

static void run_found(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_AWS_HERE here = {0};
    AUTO_IAM_SIDE of_role = {0};
    AUTO_IAM_SIDE of_user = {0};
    const char *role = run_text(run, "iam.role"), *user = run_text(run, "iam.user");
    outcome_tried(out, "GetRole %s, GetUser %s, their policies and keys", role, user);
    if (aws_here_open(run, &here, &err) != 0 ||
        iam_side_read(run, &here.client, IAM_ROLE, role, &of_role, &err) != 0 ||
        iam_side_read(run, &here.client, IAM_USER, user, &of_user, &err) != 0) {
        look_failed(run, out, &err);
        return;
    }
    say_found(out, role, &of_role, user, &of_user);
    outcome_give(out, FACT_ROLE, iam_side_fact(IAM_ROLE, &of_role));
    outcome_give(out, FACT_USER, iam_side_fact(IAM_USER, &of_user));
}

const struct check iam_check_found = {
    .id = "iam.found",
    .title = "looks at role and user",
    .reads =
        (const char *const[]){READS_AWS, "iam.role", "iam.user", "iam.path", FACT_IDENTITY, NULL},
    .gives = (const char *const[]){FACT_ROLE, FACT_USER, NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_READS,
    .service = SERVICE,
    .deadline_ms = ASKING_MS,
    .cause = "Your own AWS credentials may not read roles, users, policies or access keys.",
    .fix = "Have the AWS admin give you the policy that is shown, or make role and user for you.",
    .run = run_found,
};
