/* Grants that look right and are not. See policy.h. To add one: a row in `faults`. */
#include <string.h>
#include <strings.h>

#include "aws/policy.h"
#include "aws/policy_read.h"
#include "core/mem.h"

/* --- shapes of resources ---------------------------------------------------------------------- */

/* What follows the sixth part of an ARN ("arn:P:service:region:account:REST"); NULL when it is
 * none. */
static const char *rest_of(const char *arn)
{
    for (int i = 0; i < 5; i++) {
        arn = strchr(arn, ':');
        if (arn == NULL)
            return NULL;
        arn++;
    }
    return arn;
}

static bool is_star(const char *r)
{
    return strcmp(r, "*") == 0;
}

static bool is_not_star(const char *r)
{
    return !is_star(r);
}

static bool has_object(const char *r)
{
    const char *rest = rest_of(r);
    return rest != NULL && strchr(rest, '/') != NULL;
}

static bool has_no_object(const char *r)
{
    const char *rest = rest_of(r);
    return rest != NULL && strchr(rest, '/') == NULL && strchr(rest, '*') == NULL;
}

static bool is_double_slash(const char *r)
{
    return strstr(r, ":parameter//") != NULL;
}

static bool lacks_leading_slash(const char *r)
{
    const char *rest = rest_of(r);
    return rest != NULL && strncmp(rest, "applications", 12) == 0;
}

static bool is_application(const char *r)
{
    const char *rest = rest_of(r);
    return rest != NULL && strstr(rest, "/jobruns") == NULL && strchr(rest, '*') == NULL;
}

static bool is_job(const char *r)
{
    return strstr(r, "/jobruns/") != NULL;
}

static bool is_no_role(const char *r)
{
    return !is_star(r) && strstr(r, ":role/") == NULL && strchr(r, '*') == NULL;
}

/* --- rows ------------------------------------------------------------------------------------- */

struct fault {
    const char *action; /* pattern */
    bool (*matches)(const char *resource);
    const char *condition; /* a key that must stand in the condition; NULL = any */
    const char *why;
    const char *fix;
    bool each; /* told even when another resource of the statement fits */
};

#define NO_RESOURCE "this action knows no resource, so with an ARN it grants nothing"
#define STAR "put it in a statement with \"Resource\": \"*\", or leave it out"

static const struct fault faults[] = {
    {"emr-serverless:ListApplications", is_not_star, NULL, NO_RESOURCE, STAR, false},
    {"emr-serverless:CreateApplication", is_not_star, NULL, NO_RESOURCE, STAR, false},
    {"s3:ListAllMyBuckets", is_not_star, NULL, NO_RESOURCE, STAR, false},
    {"ssm:DescribeParameters", is_not_star, NULL, NO_RESOURCE, STAR, false},
    {"ec2:Describe*", is_not_star, NULL, NO_RESOURCE, STAR, false},
    {"s3:ListBucket", has_object, NULL,
     "listing is asked on the bucket, never on what is in it, so this grants nothing",
     "give the bucket's ARN without a slash", false},
    {"s3:ListBucket", is_not_star, "s3:prefix",
     "the connector lists its prefix without a slash at the end, which such a condition seldom "
     "allows",
     "leave the condition out", false},
    {"s3:GetObject", has_no_object, NULL, "objects are asked on ARNs with a slash", "add /*",
     false},
    {"s3:PutObject", has_no_object, NULL, "objects are asked on ARNs with a slash", "add /*",
     false},
    {"s3:DeleteObject", has_no_object, NULL, "objects are asked on ARNs with a slash", "add /*",
     false},
    {"ssm:*Parameter*", is_double_slash, NULL,
     "the name's own slash separates it from `parameter`; with two it matches nothing",
     "write :parameter/estuary/*", true},
    {"emr-serverless:*", lacks_leading_slash, NULL,
     "ARNs of EMR Serverless have a slash after the last colon, so this matches nothing",
     "write :/applications/ID", true},
    {"emr-serverless:GetJobRun", is_application, NULL,
     "it is asked on the job run, not on the application", "add /jobruns/*", false},
    {"emr-serverless:CancelJobRun", is_application, NULL,
     "it is asked on the job run, not on the application", "add /jobruns/*", false},
    {"emr-serverless:StartJobRun", is_job, NULL, "it is asked on the application, not on its runs",
     "give the application's ARN", false},
    {"emr-serverless:ListJobRuns", is_job, NULL, "it is asked on the application, not on its runs",
     "give the application's ARN", false},
    {"iam:PassRole", is_no_role, NULL, "only roles can be passed", "give the role's ARN", false},
    {"iam:PassRole", is_star, NULL,
     "every role of the account can be given away, an administrator's too",
     "name the execution role", true},
};

/* Of several resources for several actions some pairs never meet; that is no fault as long as the
 * action has a resource that fits it. */
static bool meets_elsewhere(const struct policy_statement *s, const struct fault *f)
{
    for (size_t i = 0; i < s->resources.count; i++)
        if (!f->matches(s->resources.list[i]))
            return true;
    return false;
}

static bool condition_fits(const struct policy_statement *s, const struct fault *f)
{
    return f->condition == NULL ||
           (s->condition != NULL && strstr(s->condition, f->condition) != NULL);
}

static void add(struct policy_faults *out, const struct policy_statement *s, const char *action,
                const char *resource, const struct fault *f)
{
    out->list = aws_grow(out->list, out->count, sizeof(*out->list));
    out->list[out->count++] = (struct policy_fault){.statement = xstrdup(s->sid),
                                                    .action = xstrdup(action),
                                                    .resource = xstrdup(resource),
                                                    .why = f->why,
                                                    .fix = f->fix};
}

static void lint_action(struct policy_faults *out, const struct policy_statement *s,
                        const char *action)
{
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        const struct fault *f = &faults[i];
        if (!policy_covers(f->action, action, true) || !condition_fits(s, f) ||
            (!f->each && meets_elsewhere(s, f)))
            continue;
        for (size_t r = 0; r < s->resources.count; r++)
            if (f->matches(s->resources.list[r]))
                add(out, s, action, s->resources.list[r], f);
    }
}

int policy_lint(const char *document, struct policy_faults *out, struct problem *err)
{
    AUTO_POLICY_DOCUMENT d = {0};
    *out = (struct policy_faults){0};
    if (policy_read(document, &d, err) != 0)
        return -1;
    for (size_t i = 0; i < d.count; i++) {
        const struct policy_statement *s = &d.list[i];
        bool plain = !s->deny && !s->not_actions && !s->not_resources;
        for (size_t a = 0; plain && a < s->actions.count; a++)
            lint_action(out, s, s->actions.list[a]);
    }
    return 0;
}

void policy_faults_release(struct policy_faults *f)
{
    for (size_t i = 0; i < f->count; i++) {
        xfree(f->list[i].statement);
        xfree(f->list[i].action);
        xfree(f->list[i].resource);
    }
    xfree(f->list);
    *f = (struct policy_faults){0};
}
