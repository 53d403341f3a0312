/* Putting inline policies and altering a trust policy. Both replace a whole document: so what
 * stands is read again before, and what is neither what was shown nor what is wanted is left alone.
 */
#include "steps/iam/changes.h"

#include <string.h>

#include "aws/policy.h"
#include "core/clock.h"
#include "core/mem.h"
#include "core/run.h"

#define DEADLINE_MS 90000
#define SPREADS_MS 60000 /* until a document just put is found everywhere in IAM */
#define FOUND_TRIES 10   /* a role or user made just now may not be found at once */
#define LOOK_MS 1000

static enum iam_kind kind_of(const struct change *c)
{
    return c->kind == &iam_kind_user_policy ? IAM_USER : IAM_ROLE;
}

/* *document: what stands, xfree; NULL when nothing does. */
static int look(struct run *run, const struct aws_here *here, const struct change *c,
                char **document, struct problem *err)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    AUTO_IAM_ENTITY e = {0};
    const char *name = iam_argument(c, "name");
    bool trust = c->kind == &iam_kind_trust;
    *document = NULL;
    int rc = trust ? iam_get(run, &here->client, IAM_ROLE, name, &e, &why)
                   : iam_get_policy(run, &here->client, kind_of(c), name, iam_argument(c, "policy"),
                                    document, &why);
    if (rc == 0 && trust)
        *document = xstrdup(e.trust);
    if (rc == 0 || why.kind == PROBLEM_MISSING)
        return 0;
    problem_move(err, &why);
    return -1;
}

static const char *wanted(const struct change *c)
{
    return iam_argument(c, c->kind == &iam_kind_trust ? "trust" : "document");
}

static bool is(const char *document, const char *other)
{
    return document != NULL && other != NULL && policy_equal(document, other);
}

static int find(struct run *run, const struct change *c, struct found *out, struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    AUTO(xfree) char *now = NULL;
    if (iam_open_shown(run, c, &here, err) != 0 || look(run, &here, c, &now, err) != 0)
        return -1;
    out->as_wanted = is(now, wanted(c));
    /* A trust policy always stands; what counts is whether it is altered. */
    out->present = c->kind == &iam_kind_trust ? out->as_wanted : now != NULL;
    out->id = xasprintf("%s%s%s", iam_argument(c, "name"), c->kind == &iam_kind_trust ? "" : "/",
                        iam_argument(c, "policy"));
    out->saw = xstrdup(now == NULL ? "none" : out->as_wanted ? "as wanted" : now);
    return 0;
}

static int changed(const struct change *c, const char *now, struct problem *err)
{
    problem_fail(err, PROBLEM_CONFLICT, "changed", "%s was changed by somebody else since",
                 c->title);
    problem_fix(err, WHO_YOU, "look at the plan again, then apply it");
    problem_evidence(err, "%s", now != NULL ? now : "it is gone");
    return -1;
}

static int put(struct run *run, const struct aws_here *here, const struct change *c,
               const char *document, struct problem *err)
{
    const char *name = iam_argument(c, "name");
    if (c->kind == &iam_kind_trust)
        return iam_update_trust(run, &here->client, name, document, err);
    return iam_put_policy(run, &here->client, kind_of(c), name, iam_argument(c, "policy"), document,
                          err);
}

static int put_patiently(struct run *run, const struct aws_here *here, const struct change *c,
                         struct problem *err)
{
    for (int i = 0;; i++) {
        AUTO_PROBLEM why = PROBLEM_INIT;
        if (put(run, here, c, wanted(c), &why) == 0)
            return 0;
        if (why.kind != PROBLEM_MISSING || i >= FOUND_TRIES || run_sleep(run, LOOK_MS, NULL) != 0) {
            problem_move(err, &why);
            return -1;
        }
        run_progress(run, i, FOUND_TRIES, "waits until IAM finds its owner");
    }
}

static int send(struct run *run, const struct change *c, struct made *out, struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    AUTO(xfree) char *now = NULL;
    const char *before = node_get_text(c->args, "before");
    if (strstr(wanted(c), "(known after") != NULL) {
        problem_fail(err, PROBLEM_INPUT, "not known", "%s needs an application, and there is none",
                     c->title);
        problem_fix(err, WHO_YOU, "apply the step emr first, or answer emr.application");
        return -1;
    }
    if (iam_open_shown(run, c, &here, err) != 0 || look(run, &here, c, &now, err) != 0)
        return -1;
    bool as_shown = before != NULL ? is(now, before) : now == NULL;
    if (!as_shown && !is(now, wanted(c)))
        return changed(c, now, err);
    if (put_patiently(run, &here, c, err) != 0)
        return -1;
    out->id = xasprintf("%s%s%s", iam_argument(c, "name"), c->kind == &iam_kind_trust ? "" : "/",
                        iam_argument(c, "policy"));
    return 0;
}

/* What was put may not be read back for some seconds, and what proves it next reads it. */
static int ready(struct run *run, const struct change *c, struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    int64_t began = clock_ms();
    if (aws_here_open(run, &here, err) != 0)
        return -1;
    for (;;) {
        AUTO(xfree) char *now = NULL;
        if (look(run, &here, c, &now, err) != 0)
            return -1;
        int64_t waited = clock_ms() - began;
        if (is(now, wanted(c)))
            return 0;
        if (waited > SPREADS_MS)
            return problem_fail(err, PROBLEM_MISSING, "NoSuchEntity",
                                "%s was put and is not read back after %lld s", c->title,
                                (long long)(waited / 1000));
        run_progress(run, waited / 1000, SPREADS_MS / 1000, "spreads in IAM");
        if (run_sleep(run, LOOK_MS, err) != 0)
            return -1;
    }
}

/* --- taking back ------------------------------------------------------------------------------ */

static int undo_policy(struct run *run, const struct change *c, struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (iam_open_shown(run, c, &here, err) != 0)
        return -1;
    if (iam_delete_policy(run, &here.client, kind_of(c), iam_argument(c, "name"),
                          iam_argument(c, "policy"), &why) == 0 ||
        why.kind == PROBLEM_MISSING)
        return 0;
    problem_move(err, &why);
    return -1;
}

/* The trust policy as it was, unless somebody else changed it since. */
static int undo_trust(struct run *run, const struct change *c, struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    AUTO(xfree) char *now = NULL;
    if (iam_open_shown(run, c, &here, err) != 0 || look(run, &here, c, &now, err) != 0)
        return -1;
    if (now == NULL || is(now, iam_argument(c, "before")))
        return 0;
    if (!is(now, wanted(c)))
        return changed(c, now, err);
    return put(run, &here, c, iam_argument(c, "before"), err);
}

static char *undo_policy_text(const struct change *c)
{
    const char *w = kind_of(c) == IAM_USER ? "user" : "role";
    return xasprintf("aws iam delete-%s-policy --%s-name %s --policy-name %s", w, w,
                     iam_argument(c, "name"), iam_argument(c, "policy"));
}

static char *undo_trust_text(const struct change *c)
{
    struct node *args = node_map();
    node_set_text(args, "name", iam_argument(c, "name"));
    node_set_text(args, "trust", iam_argument(c, "before"));
    char *text = iam_trust_preview(args);
    node_free(args);
    return text;
}

const struct change_kind iam_kind_trust = {
    .id = "iam.trust",
    .label = "trust policy",
    .deadline_ms = DEADLINE_MS,
    .find = find,
    .send = send,
    .ready = ready,
    .undo = undo_trust,
    .undo_text = undo_trust_text,
};

const struct change_kind iam_kind_role_policy = {
    .id = "iam.role_policy",
    .label = "policy of the role",
    .deadline_ms = DEADLINE_MS,
    .find = find,
    .send = send,
    .ready = ready,
    .undo = undo_policy,
    .undo_text = undo_policy_text,
};

const struct change_kind iam_kind_user_policy = {
    .id = "iam.user_policy",
    .label = "policy of the user",
    .deadline_ms = DEADLINE_MS,
    .find = find,
    .send = send,
    .ready = ready,
    .undo = undo_policy,
    .undo_text = undo_policy_text,
};
