/* What is to be made in IAM: what stands compared with what is wanted, only what differs, each with
 * its exact call. Pure. */
#include <string.h>

#include "aws/policy_edit.h"
#include "core/mem.h"
#include "core/snapshot_make.h"
#include "core/text.h"
#include "steps/iam/changes.h"
#include "steps/iam/keys.h"
#include "steps/iam/wanted.h"

#define STEP "iam"

struct planning {
    const struct snapshot *snapshot;
    struct iam_inputs in;
    struct plan *plan;
};

static struct node *args_of(const struct planning *p, enum iam_kind kind)
{
    struct node *args = node_map();
    node_set_text(args, "account", p->in.who->account);
    node_set_text(args, "name", kind == IAM_ROLE ? p->in.role_name : p->in.user_name);
    node_set_text(args, "run", p->in.pipeline);
    return args;
}

static struct node *entity_args(const struct planning *p, enum iam_kind kind)
{
    struct node *args = args_of(p, kind);
    node_set_text(args, "path", p->in.path);
    if (p->in.boundary[0] != '\0')
        node_set_text(args, "boundary", p->in.boundary);
    return args;
}

static void no_document(struct planning *p, const char *what, const struct problem *err)
{
    plan_missing(p->plan, STEP ": %s cannot be made: %s", what, err->what);
}

/* --- role and its trust ----------------------------------------------------------------------- */

static void plan_role(struct planning *p, const struct iam_judgement *trust)
{
    struct node *args = entity_args(p, IAM_ROLE);
    node_set_text(args, "trust", trust->want);
    struct change *c = plan_add(p->plan, &iam_kind_role, STEP, "iam.role", CHANGE_CREATE, args);
    AUTO(xfree) char *preview = iam_create_preview(args, IAM_ROLE);
    change_text(&c->title, "role %s", p->in.role_name);
    change_text(&c->detail, "trusts EMR Serverless, only for account %s", p->in.who->account);
    change_text(&c->reason, "Spark jobs run as a role of their own, which nobody else may become.");
    change_text(&c->preview, "%s", preview);
}

/* A policy as a comment of the shell. */
static char *commented(const char *json)
{
    AUTO(xfree) char *pretty = policy_pretty(json);
    AUTO_TEXT out = TEXT_INIT;
    for (const char *s = pretty; *s != '\0'; s++) {
        if (s == pretty || s[-1] == '\n')
            text_add(&out, "# ");
        text_addc(&out, *s);
    }
    return text_take(&out);
}

static void plan_trust(struct planning *p, const struct iam_judgement *trust)
{
    const struct iam_side *role = p->in.role;
    bool ours = iam_is_ours(&p->in, role);
    struct node *args = args_of(p, IAM_ROLE);
    node_set_text(args, "trust", trust->put);
    node_set_text(args, "before", role->entity.trust);
    struct change *c = plan_add(p->plan, &iam_kind_trust, STEP, "iam.trust", CHANGE_ALTER, args);
    AUTO(xfree) char *call = iam_trust_preview(args);
    AUTO(xfree) char *was = commented(role->entity.trust != NULL ? role->entity.trust : "none");
    change_text(&c->title, "trust of role %s", p->in.role_name);
    change_text(&c->detail,
                ours ? "as it was made here" : "+ EMR Serverless; what is trusted stays");
    change_text(&c->reason, "A job starts by becoming this role.");
    change_text(&c->preview, "# it is now:\n%s\n%s", was, call);
    if (!ours)
        change_text(&c->caution, "the role was not made here: whoever uses it, jobs will too");
}

static bool is_of_service(const struct planning *p)
{
    const char *path = p->in.role->entity.path;
    return p->in.role->exists && path != NULL && strncmp(path, "/aws-service-role/", 18) == 0;
}

static void plan_role_side(struct planning *p)
{
    AUTO_IAM_JUDGEMENT trust = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (iam_judge(POLICY_TRUST, &p->in, &trust, &err) != 0)
        no_document(p, "the trust policy", &err);
    else if (!p->in.role->exists)
        plan_role(p, &trust);
    else if (trust.put == NULL)
        plan_right(p->plan, "role %s, trusted to EMR Serverless", p->in.role_name);
    else if (policy_fits(POLICY_TRUST, trust.sized, 0, &err) != 0)
        no_document(p, "the trust policy", &err);
    else
        plan_trust(p, &trust);
}

/* --- policies --------------------------------------------------------------------------------- */

/* "s3:PutObject, s3:DeleteObject": each once. */
static void list_missing(const struct policy_diff *d, struct text *out)
{
    for (size_t i = 0; i < d->count && out->len < 200; i++) {
        const struct policy_row *r = &d->rows[i];
        if (r->mark != POLICY_MISSING || (out->s != NULL && strstr(out->s, r->action) != NULL))
            continue;
        text_sep(out, ", ");
        text_add(out, r->action);
    }
}

static void describe_policy(struct change *c, const struct planning *p, enum policy_kind kind,
                            const struct iam_judgement *j, bool fresh)
{
    const struct iam_inputs *in = &p->in;
    bool role = kind == POLICY_ROLE;
    change_text(&c->title, "policy of %s %s", role ? "role" : "user",
                role ? in->role_name : in->user_name);
    change_text(&c->reason, "%s",
                role ? "Jobs read what Estuary staged, write the tables, and read the catalog's "
                       "credential; nothing else."
                     : "Estuary submits jobs as this role, stages files and keeps the catalog's "
                       "credential; nothing else.");
    if (fresh && role) {
        change_text(&c->detail, "read %s%s%s; write %s, %s; parameters %s*", in->lake,
                    strcmp(in->lake, in->staging) == 0 ? "" : " and ",
                    strcmp(in->lake, in->staging) == 0 ? "" : in->staging, in->lake_prefix,
                    in->staging_prefix, in->ssm_prefix);
    } else if (fresh) {
        change_text(&c->detail, "jobs of the application, pass %s, %s/%s, parameters %s*",
                    in->role_name, in->staging, in->staging_prefix, in->ssm_prefix);
    } else {
        AUTO_TEXT list = TEXT_INIT;
        list_missing(&j->diff, &list);
        change_text(&c->detail, "%s%s", list.len > 0 ? "+ " : "takes out what is not needed",
                    list.s);
    }
}

static void add_policy(struct planning *p, enum policy_kind kind, const struct iam_judgement *j)
{
    bool role = kind == POLICY_ROLE;
    const struct iam_side *side = role ? p->in.role : p->in.user;
    const char *owner = role ? "iam.role" : "iam.user";
    AUTO(xfree) char *name = iam_policy_name(&p->in);
    const struct iam_policy *ours = iam_policy_named(side, name);
    struct node *args = args_of(p, role ? IAM_ROLE : IAM_USER);
    node_set_text(args, "policy", name);
    node_set_text(args, "document", j->put);
    if (ours != NULL)
        node_set_text(args, "before", ours->document);
    struct change *c = plan_add(p->plan, role ? &iam_kind_role_policy : &iam_kind_user_policy, STEP,
                                role ? "iam.role_policy" : "iam.user_policy",
                                side->policy_count > 0 ? CHANGE_ALTER : CHANGE_CREATE, args);
    AUTO(xfree) char *preview = iam_policy_preview(args, role ? IAM_ROLE : IAM_USER);
    change_text(&c->preview, "%s", preview);
    describe_policy(c, p, kind, j, side->policy_count == 0);
    change_after(c, owner);
    if (!role) {
        change_after(c, "iam.role");
        change_after(c, "emr.application");
    }
}

static void plan_policy(struct planning *p, enum policy_kind kind)
{
    const char *what = kind == POLICY_ROLE ? "the role's policy" : "the user's policy";
    const char *whose = kind == POLICY_ROLE ? p->in.role_name : p->in.user_name;
    AUTO_IAM_JUDGEMENT j = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (iam_judge(kind, &p->in, &j, &err) != 0) {
        no_document(p, what, &err);
        return;
    }
    if (j.denied > 0)
        plan_missing(p->plan,
                     STEP ": a policy of %s denies what is needed; only who put it can lift "
                          "that",
                     whose);
    if (j.put == NULL)
        plan_right(p->plan, "policy of %s %s", kind == POLICY_ROLE ? "role" : "user", whose);
    else if (policy_fits(kind, j.sized, j.others, &err) != 0)
        plan_missing(p->plan, STEP ": %s does not fit: %s", what, err.why);
    else
        add_policy(p, kind, &j);
}

/* --- user and key ----------------------------------------------------------------------------- */

static void plan_user(struct planning *p)
{
    if (p->in.user->exists) {
        plan_right(p->plan, "user %s", p->in.user_name);
        return;
    }
    struct node *args = entity_args(p, IAM_USER);
    struct change *c = plan_add(p->plan, &iam_kind_user, STEP, "iam.user", CHANGE_CREATE, args);
    AUTO(xfree) char *preview = iam_create_preview(args, IAM_USER);
    change_text(&c->title, "user %s", p->in.user_name);
    change_text(&c->detail, "without a password for the console");
    change_text(&c->reason, "Estuary acts in your account as a user of its own.");
    change_text(&c->preview, "%s", preview);
}

static void add_key(struct planning *p, bool after_orphan)
{
    struct change *c = plan_add(p->plan, &iam_kind_access_key, STEP, "iam.access_key",
                                CHANGE_CREATE, args_of(p, IAM_USER));
    change_text(&c->title, "access key of user %s", p->in.user_name);
    change_text(&c->detail, "%zu of 2; its secret is kept as start.keep_secrets says",
                p->in.user->key_count + !after_orphan);
    change_text(&c->reason, "Estuary signs its calls to AWS with it.");
    change_text(&c->preview, "aws iam create-access-key --user-name %s", p->in.user_name);
    if (after_orphan)
        change_text(&c->caution, "the user has two keys: one that an earlier run made and whose "
                                 "secret was lost is deleted first; if there is none, this fails");
    c->gives = "iam.access_key";
    change_after(c, "iam.user");
}

static bool key_is_made(const struct snapshot *s)
{
    int field = rows_field(snapshot_rows(s), "iam.access_key");
    return field >= 0 && snapshot_origin(s, field) == ORIGIN_MADE;
}

static void plan_key(struct planning *p)
{
    const struct snapshot *s = p->snapshot;
    const char *user = p->in.user_name;
    enum iam_key_state state = iam_key_judge(
        p->in.user, snap_secret(s, "iam.access_key"), snap_value(s, "iam.access_key") != NULL,
        key_is_made(s), snap_is(s, "start.keep_secrets", "memory"));
    switch (state) {
    case IAM_KEY_RIGHT:
        plan_right(p->plan, "access key of user %s", user);
        break;
    case IAM_KEY_MAKE:
    case IAM_KEY_MAKE_AFTER:
        add_key(p, state == IAM_KEY_MAKE_AFTER);
        break;
    case IAM_KEY_INACTIVE:
        plan_missing(p->plan, STEP ": the access key at hand is inactive");
        break;
    case IAM_KEY_FOREIGN:
        plan_missing(p->plan, STEP ": the access key at hand is not one of user %s", user);
        break;
    case IAM_KEY_LOCKED:
        plan_missing(p->plan, STEP ": the access key is not at hand: unlock the secrets file");
        break;
    case IAM_KEY_FULL:
        plan_missing(p->plan, STEP ": user %s has two access keys, and neither is at hand", user);
        break;
    }
}

/* --- all of it -------------------------------------------------------------------------------- */

static bool is_caller(const struct planning *p)
{
    return p->in.user->exists && strcmp(p->in.user->entity.arn, p->in.who->arn) == 0;
}

void iam_plan(const struct snapshot *s, struct plan *out)
{
    struct planning p = {.snapshot = s, .in = iam_inputs_of(s), .plan = out};
    if (p.in.who == NULL)
        plan_missing(out, STEP ": who calls AWS has not been seen");
    else if (p.in.role == NULL || p.in.user == NULL)
        plan_missing(out, STEP ": role and user have not been looked at");
    else if (!iam_inputs_complete(&p.in))
        plan_missing(out, STEP ": the names of lake, staging, role or user are not answered yet");
    else if (is_of_service(&p))
        plan_missing(out, STEP ": %s is a service's own role: choose another name", p.in.role_name);
    else if (is_caller(&p))
        plan_missing(out, STEP ": %s is you: choose another user for Estuary", p.in.user_name);
    else {
        plan_role_side(&p);
        plan_policy(&p, POLICY_ROLE);
        plan_user(&p);
        plan_policy(&p, POLICY_USER);
        plan_key(&p);
    }
}
