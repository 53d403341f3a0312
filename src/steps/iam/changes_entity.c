/* Making role and user and taking them back. A name is unique in an account, so that what a lost
 * answer made is found by it; our mark tells it from another's. */
#include "steps/iam/changes.h"

#include <string.h>

#include "aws/policy.h"
#include "aws/policy_edit.h"
#include "aws/sts.h"
#include "core/clock.h"
#include "core/mem.h"
#include "core/run.h"
#include "steps/iam/wanted.h"

#define DEADLINE_MS 90000
#define SPREADS_MS 60000 /* until a new name is found everywhere in IAM */
#define LOOK_MS 1000

#define ROLE_DESCRIPTION "Spark jobs of Estuary, made by sluice"

const struct change_kind *const iam_kinds[] = {
    &iam_kind_role,        &iam_kind_trust,      &iam_kind_user, &iam_kind_role_policy,
    &iam_kind_user_policy, &iam_kind_access_key, NULL,
};

const char *iam_argument(const struct change *c, const char *key)
{
    const char *text = node_get_text(c->args, key);
    return text != NULL ? text : "";
}

int iam_open_shown(struct run *run, const struct change *c, struct aws_here *here,
                   struct problem *err)
{
    AUTO_STS_IDENTITY who = {0};
    if (aws_here_open(run, here, err) != 0 ||
        sts_get_caller_identity(run, &here->client, &who, err) != 0)
        return -1;
    if (strcmp(who.account, iam_argument(c, "account")) == 0)
        return 0;
    problem_fail(err, PROBLEM_CONFLICT, "account",
                 "these credentials lead to account %s, the plan was for %s", who.account,
                 iam_argument(c, "account"));
    problem_fix(err, WHO_YOU, "choose the profile the plan was made with, or make a new plan");
    return -1;
}

/* --- as shown --------------------------------------------------------------------------------- */

static void add_document(struct text *t, const char *option, const char *json)
{
    AUTO(xfree) char *pretty = policy_pretty(json);
    text_addf(t, " \\\n  %s '%s'", option, pretty);
}

static const char *word(enum iam_kind kind)
{
    return kind == IAM_ROLE ? "role" : "user";
}

char *iam_create_preview(const struct node *args, enum iam_kind kind)
{
    AUTO_TEXT t = TEXT_INIT;
    const char *boundary = node_get_text(args, "boundary"), *w = word(kind);
    text_addf(&t, "aws iam create-%s --%s-name %s --path %s", w, w, node_get_text(args, "name"),
              node_get_text(args, "path"));
    if (boundary != NULL)
        text_addf(&t, " \\\n  --permissions-boundary %s", boundary);
    text_addf(&t, " \\\n  --tags Key=" AWS_TAG_RUN ",Value=%s Key=" AWS_TAG_STEP ",Value=iam",
              node_get_text(args, "run"));
    if (kind == IAM_ROLE) {
        text_addf(&t, " \\\n  --description '%s'", ROLE_DESCRIPTION);
        add_document(&t, "--assume-role-policy-document", node_get_text(args, "trust"));
    }
    return text_take(&t);
}

char *iam_trust_preview(const struct node *args)
{
    AUTO_TEXT t = TEXT_INIT;
    text_addf(&t, "aws iam update-assume-role-policy --role-name %s", node_get_text(args, "name"));
    add_document(&t, "--policy-document", node_get_text(args, "trust"));
    return text_take(&t);
}

char *iam_policy_preview(const struct node *args, enum iam_kind kind)
{
    AUTO_TEXT t = TEXT_INIT;
    text_addf(&t, "aws iam put-%s-policy --%s-name %s --policy-name %s", word(kind), word(kind),
              node_get_text(args, "name"), node_get_text(args, "policy"));
    add_document(&t, "--policy-document", node_get_text(args, "document"));
    return text_take(&t);
}

/* --- finding ---------------------------------------------------------------------------------- */

static enum iam_kind kind_of(const struct change *c)
{
    return c->kind == &iam_kind_role ? IAM_ROLE : IAM_USER;
}

/* 1 and *out, 0 when there is none, -1 with err. */
static int look(struct run *run, const struct aws_here *here, const struct change *c,
                struct iam_entity *out, struct problem *err)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (iam_get(run, &here->client, kind_of(c), iam_argument(c, "name"), out, &why) == 0)
        return 1;
    if (why.kind == PROBLEM_MISSING)
        return 0;
    problem_move(err, &why);
    return -1;
}

/* A mark may be missing, since tags can be denied. */
static bool is_marked_otherwise(const struct iam_entity *e, const struct change *c)
{
    return e->tag_run != NULL && strcmp(e->tag_run, iam_argument(c, "run")) != 0;
}

static bool trusts(const struct iam_entity *e, const struct change *c)
{
    AUTO_POLICY_DIFF d = {0};
    const char *have = e->trust;
    if (have == NULL ||
        policy_compare(POLICY_TRUST, iam_argument(c, "trust"), &have, 1, &d, NULL) != 0)
        return false;
    for (size_t i = 0; i < d.count; i++)
        if (d.rows[i].mark == POLICY_MISSING || d.rows[i].mark == POLICY_DENIED)
            return false;
    return true;
}

static int find_entity(struct run *run, const struct change *c, struct found *out,
                       struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    AUTO_IAM_ENTITY e = {0};
    if (iam_open_shown(run, c, &here, err) != 0)
        return -1;
    int there = look(run, &here, c, &e, err);
    if (there < 0)
        return -1;
    out->present = there == 1;
    out->as_wanted =
        there == 1 && !is_marked_otherwise(&e, c) && (kind_of(c) == IAM_USER || trusts(&e, c));
    out->id = there == 1 ? xstrdup(e.arn) : NULL;
    out->saw = there == 1 ? xasprintf("%s%s%s", e.arn, e.tag_run != NULL ? ", marked " : "",
                                      e.tag_run != NULL ? e.tag_run : "")
                          : xasprintf("no %s %s", word(kind_of(c)), iam_argument(c, "name"));
    return 0;
}

/* What was just made may not be found for some seconds, and the next calls need it. */
static int await_entity(struct run *run, const struct aws_here *here, const struct change *c,
                        struct problem *err)
{
    int64_t began = clock_ms();
    for (;;) {
        AUTO_IAM_ENTITY e = {0};
        int there = look(run, here, c, &e, err);
        if (there != 0)
            return there == 1 ? 0 : -1;
        int64_t waited = clock_ms() - began;
        if (waited > SPREADS_MS)
            return problem_fail(err, PROBLEM_MISSING, "NoSuchEntity",
                                "%s was made and is not found after %lld s", c->title,
                                (long long)(waited / 1000));
        run_progress(run, waited / 1000, SPREADS_MS / 1000, "spreads in IAM");
        if (run_sleep(run, LOOK_MS, err) != 0)
            return -1;
    }
}

/* --- making ----------------------------------------------------------------------------------- */

static int send_entity(struct run *run, const struct change *c, struct made *out,
                       struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    AUTO_IAM_ENTITY e = {0};
    const struct aws_tags tags = {.run = iam_argument(c, "run"), .step = "iam"};
    enum iam_kind kind = kind_of(c);
    const struct iam_new n = {.kind = kind,
                              .name = iam_argument(c, "name"),
                              .path = iam_argument(c, "path"),
                              .trust = kind == IAM_ROLE ? iam_argument(c, "trust") : NULL,
                              .description = kind == IAM_ROLE ? ROLE_DESCRIPTION : NULL,
                              .boundary = node_get_text(c->args, "boundary"),
                              .tags = &tags};
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (iam_open_shown(run, c, &here, err) != 0)
        return -1;
    if (iam_create(run, &here.client, &n, &e, &why) != 0) {
        /* made by a call whose answer was lost, and not found yet: find can only settle it then */
        if (aws_is(&why, "EntityAlreadyExists"))
            await_entity(run, &here, c, NULL);
        problem_move(err, &why);
        return -1;
    }
    if (e.untagged)
        run_log(run, "made without tags: iam:Tag%s is denied", kind == IAM_ROLE ? "Role" : "User");
    out->id = xstrdup(e.arn);
    return 0;
}

static int ready_entity(struct run *run, const struct change *c, struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    if (aws_here_open(run, &here, err) != 0)
        return -1;
    return await_entity(run, &here, c, err);
}

/* --- taking back ------------------------------------------------------------------------------ */

static int undo_entity(struct run *run, const struct change *c, struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    AUTO_IAM_ENTITY e = {0};
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (iam_open_shown(run, c, &here, err) != 0)
        return -1;
    int there = look(run, &here, c, &e, err);
    if (there <= 0)
        return there;
    if (is_marked_otherwise(&e, c)) {
        problem_fail(err, PROBLEM_CONFLICT, "mark", "%s bears the mark of another pipeline: %s",
                     e.arn, e.tag_run);
        problem_fix(err, WHO_YOU, "leave it there; it was made anew by somebody else");
        return -1;
    }
    if (iam_delete(run, &here.client, kind_of(c), e.name, &why) == 0 || why.kind == PROBLEM_MISSING)
        return 0;
    problem_move(err, &why);
    return -1;
}

static char *undo_role_text(const struct change *c)
{
    return xasprintf("aws iam delete-role --role-name %s", iam_argument(c, "name"));
}

static char *undo_user_text(const struct change *c)
{
    return xasprintf("aws iam delete-user --user-name %s", iam_argument(c, "name"));
}

const struct change_kind iam_kind_role = {
    .id = "iam.role",
    .label = "execution role",
    .deadline_ms = DEADLINE_MS,
    .find = find_entity,
    .send = send_entity,
    .ready = ready_entity,
    .undo = undo_entity,
    .undo_text = undo_role_text,
};

const struct change_kind iam_kind_user = {
    .id = "iam.user",
    .label = "IAM user",
    .deadline_ms = DEADLINE_MS,
    .find = find_entity,
    .send = send_entity,
    .ready = ready_entity,
    .undo = undo_entity,
    .undo_text = undo_user_text,
};
