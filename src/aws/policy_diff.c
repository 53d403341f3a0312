/* Comparing policies by meaning. See policy.h. */
#include <string.h>
#include <strings.h>

#include "aws/policy.h"
#include "aws/policy_read.h"
#include "core/mem.h"

#define ROWS_MAX 2000 /* far more than AWS lets a policy hold */

/* --- which call needs what -------------------------------------------------------------------- */

struct need {
    enum policy_kind kind;
    const char *sid;    /* of our templates */
    const char *action; /* NULL = every action of the statement */
    const char *why;
    bool soft;
};

#define ABORT "Spark and the connector abort an upload that failed half-way"

static const struct need needs[] = {
    {POLICY_ROLE, "ListBuckets", NULL, "Spark looks for scripts, staged files and table files",
     false},
    {POLICY_ROLE, "ReadObjects", NULL,
     "Spark reads its script, its input, staged rows and table files", false},
    {POLICY_ROLE, "WriteTables", "s3:AbortMultipartUpload", ABORT, true},
    {POLICY_ROLE, "WriteTables", NULL,
     "Spark writes table files (unless the catalog lends it keys of its own)", false},
    {POLICY_ROLE, "WriteStaging", "s3:AbortMultipartUpload", ABORT, true},
    {POLICY_ROLE, "WriteStaging", NULL,
     "Spark removes its input and writes status and results, which the connector waits for", false},
    {POLICY_ROLE, "ReadCatalogCredential", NULL,
     "Spark reads the catalog's credential, which the connector keeps in SSM", false},
    {POLICY_TRUST, "EmrServerlessOfThisAccount", NULL,
     "EMR Serverless becomes this role for each job", false},
    {POLICY_USER, "Application", "emr-serverless:ListJobRuns",
     "the connector's first question when a task is validated", false},
    {POLICY_USER, "Application", "emr-serverless:StartJobRun",
     "the connector starts a Spark job for each transaction", false},
    {POLICY_USER, "Application", "emr-serverless:GetApplication",
     "sluice looks at the application with the new key", true},
    {POLICY_USER, "JobRuns", "emr-serverless:GetJobRun", "the connector waits for its jobs", false},
    {POLICY_USER, "JobRuns", "emr-serverless:CancelJobRun",
     "a job that hangs is cancelled, sluice's smoke job too", true},
    {POLICY_USER, "JobRuns", "emr-serverless:TagResource",
     "the connector tags its jobs; denied, it starts each first job twice and costs carry no tags",
     true},
    {POLICY_USER, "PassExecutionRole", NULL, "the connector gives its jobs the execution role",
     false},
    {POLICY_USER, "ListStaging", NULL, "the connector lists its files when a task is validated",
     false},
    {POLICY_USER, "Staging", "s3:AbortMultipartUpload", ABORT, true},
    {POLICY_USER, "Staging", NULL,
     "the connector stages rows and scripts, and tries put, get and delete when a task is "
     "validated",
     false},
    {POLICY_USER, "CatalogCredential", "ssm:DeleteParameter",
     "sluice removes the parameter it tried", true},
    {POLICY_USER, "CatalogCredential", NULL,
     "the connector writes the catalog's credential and reads it back when a task is validated",
     false},
};

static const struct need *need_of(enum policy_kind kind, const char *sid, const char *action)
{
    for (size_t i = 0; i < ARRAY_LEN(needs); i++)
        if (needs[i].kind == kind && strcmp(needs[i].sid, sid) == 0 &&
            (needs[i].action == NULL || strcasecmp(needs[i].action, action) == 0))
            return &needs[i];
    return NULL;
}

/* --- rows ------------------------------------------------------------------------------------- */

struct comparison {
    enum policy_kind kind;
    const struct policy_document *want;
    const struct policy_document *have;
    size_t have_count;
    struct policy_diff *out;
};

static void add_row(struct policy_diff *out, enum policy_mark mark, const char *action,
                    const char *resource, const char *detail, const struct need *need)
{
    if (out->count == ROWS_MAX)
        return;
    out->rows = aws_grow(out->rows, out->count, sizeof(*out->rows));
    out->rows[out->count++] = (struct policy_row){.mark = mark,
                                                  .action = xstrdup(action),
                                                  .resource = xstrdup(resource),
                                                  .detail = xstrdup(detail),
                                                  .needed_for = need != NULL ? need->why : NULL,
                                                  .soft = need != NULL && need->soft};
}

static bool same_condition(const char *a, const char *b)
{
    return (a == NULL && b == NULL) || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

struct outlook { /* about one wanted grant */
    bool denied;
    const char *denied_if; /* condition of a Deny that has one */
    bool allowed;
    bool wider;               /* by a grant without condition where one is wanted */
    const char *allowed_only; /* condition of an Allow that has another than the wanted */
};

static void look(const struct policy_statement *s, const struct policy_statement *w,
                 const char *action, const char *resource, struct outlook *f)
{
    if (s->deny) {
        if (!policy_touches(s, action, resource))
            return;
        f->denied = f->denied || s->condition == NULL;
        f->denied_if = s->condition != NULL ? s->condition : f->denied_if;
    } else if (policy_speaks_of(s, action, resource)) {
        if (same_condition(s->condition, w->condition))
            f->allowed = true;
        else if (s->condition == NULL)
            f->wider = true;
        else
            f->allowed_only = s->condition;
    }
}

/* A Deny counts before every Allow; one with a condition may never hold, so it is only told beside
 * the Allow. */
static void judge_wanted(struct comparison *c, const struct policy_statement *w, const char *action,
                         const char *resource)
{
    const struct need *need = need_of(c->kind, w->sid, action);
    struct outlook f = {0};
    for (size_t d = 0; d < c->have_count; d++)
        for (size_t i = 0; i < c->have[d].count; i++)
            look(&c->have[d].list[i], w, action, resource, &f);
    if (f.denied)
        add_row(c->out, POLICY_DENIED, action, resource, NULL, need);
    else if (!f.allowed && !f.wider)
        add_row(c->out, POLICY_MISSING, action, resource, f.allowed_only, need);
    else if (f.wider)
        add_row(c->out, POLICY_WIDER, action, resource, w->condition, need);
    if (!f.denied && f.denied_if != NULL)
        add_row(c->out, POLICY_DENIED, action, resource, f.denied_if, need);
}

static void judge_each_wanted(struct comparison *c)
{
    for (size_t i = 0; i < c->want->count; i++) {
        const struct policy_statement *w = &c->want->list[i];
        for (size_t a = 0; !w->deny && a < w->actions.count; a++)
            for (size_t r = 0; r < w->resources.count; r++)
                judge_wanted(c, w, w->actions.list[a], w->resources.list[r]);
    }
}

static bool is_wanted(const struct policy_document *want, const char *action, const char *resource)
{
    for (size_t i = 0; i < want->count; i++)
        if (!want->list[i].deny && policy_speaks_of(&want->list[i], action, resource))
            return true;
    return false;
}

/* What is allowed without need. A NotAction or NotResource allows more than could be named. */
static void add_extras(struct comparison *c, const struct policy_statement *s)
{
    bool open = s->not_actions || s->not_resources;
    for (size_t a = 0; a < s->actions.count; a++)
        for (size_t r = 0; r < s->resources.count; r++) {
            const char *action = s->actions.list[a], *resource = s->resources.list[r];
            if (!open && is_wanted(c->want, action, resource))
                continue;
            AUTO(xfree)
            char *what = xasprintf("%s%s", s->not_actions ? "all but " : "", action);
            AUTO(xfree)
            char *where = xasprintf("%s%s", s->not_resources ? "all but " : "", resource);
            add_row(c->out, POLICY_EXTRA, what, where, s->condition, NULL);
        }
}

static void compare(struct comparison *c)
{
    judge_each_wanted(c);
    for (size_t d = 0; d < c->have_count; d++)
        for (size_t i = 0; i < c->have[d].count; i++)
            if (!c->have[d].list[i].deny)
                add_extras(c, &c->have[d].list[i]);
}

int policy_compare(enum policy_kind kind, const char *want, const char *const *have,
                   size_t have_count, struct policy_diff *out, struct problem *err)
{
    AUTO_POLICY_DOCUMENT wanted = {0};
    struct policy_document *had = xcalloc(have_count + 1, sizeof(*had));
    int rc = policy_read(want, &wanted, err);
    size_t read = 0;
    *out = (struct policy_diff){0};
    for (; rc == 0 && read < have_count; read++)
        rc = policy_read(have[read], &had[read], err);
    if (rc == 0)
        compare(&(struct comparison){kind, &wanted, had, have_count, out});
    for (size_t i = 0; i < read; i++)
        policy_document_release(&had[i]);
    xfree(had);
    return rc;
}

void policy_diff_release(struct policy_diff *d)
{
    for (size_t i = 0; i < d->count; i++) {
        xfree(d->rows[i].action);
        xfree(d->rows[i].resource);
        xfree(d->rows[i].detail);
    }
    xfree(d->rows);
    *d = (struct policy_diff){0};
}

/* --- equality --------------------------------------------------------------------------------- */

static bool have_any_case(const struct aws_names *n, const char *name)
{
    for (size_t i = 0; i < n->count; i++)
        if (strcasecmp(n->list[i], name) == 0)
            return true;
    return false;
}

/* "All but a and b" is one thing; it cannot be taken apart. */
static bool same_set(const struct aws_names *a, const struct aws_names *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = have_any_case(b, a->list[i]);
    return same;
}

static bool has(const struct policy_document *d, const struct policy_statement *s,
                const char *action, const char *resource)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct policy_statement *o = &d->list[i];
        if (o->deny != s->deny || o->not_actions != s->not_actions ||
            o->not_resources != s->not_resources || !same_condition(o->condition, s->condition))
            continue;
        bool actions = s->not_actions ? same_set(&o->actions, &s->actions)
                                      : have_any_case(&o->actions, action);
        bool resources = s->not_resources ? same_set(&o->resources, &s->resources)
                                          : aws_names_have(&o->resources, resource);
        if (actions && resources)
            return true;
    }
    return false;
}

/* Is each grant and denial of a one of b's as well, word for word but for what has no meaning? */
static bool is_part_of(const struct policy_document *a, const struct policy_document *b)
{
    for (size_t i = 0; i < a->count; i++) {
        const struct policy_statement *s = &a->list[i];
        for (size_t x = 0; x < s->actions.count; x++)
            for (size_t y = 0; y < s->resources.count; y++)
                if (!has(b, s, s->actions.list[x], s->resources.list[y]))
                    return false;
    }
    return true;
}

bool policy_equal(const char *a, const char *b)
{
    AUTO_POLICY_DOCUMENT x = {0};
    AUTO_POLICY_DOCUMENT y = {0};
    if (policy_read(a, &x, NULL) != 0 || policy_read(b, &y, NULL) != 0)
        return false;
    return is_part_of(&x, &y) && is_part_of(&y, &x);
}
