/* Reading policy documents. See policy_read.h. */
#include "aws/policy_read.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/json.h"
#include "core/mem.h"

/* Far beyond what AWS lets a policy hold. */
#define BYTES_MAX ((size_t)64 << 10)
#define STATEMENTS_MAX 200
#define GRANTS_MAX 5000 /* actions times resources */

/* --- patterns --------------------------------------------------------------------------------- */

static bool same_char(char a, char b, bool any_case)
{
    return a == b || (any_case && tolower((unsigned char)a) == tolower((unsigned char)b));
}

bool policy_covers(const char *pattern, const char *what, bool any_case)
{
    const char *star = NULL, *retry = NULL; /* last '*', and where what it took ends */
    while (*what != '\0') {
        bool one = *pattern == '?' && *what != '*';
        if (*pattern == '*') {
            star = pattern++;
            retry = what;
        } else if (one ||
                   (*pattern != '\0' && *what != '*' && same_char(*pattern, *what, any_case))) {
            pattern++;
            what++;
        } else if (star != NULL) {
            pattern = star + 1;
            what = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

static bool any_covers(const struct aws_names *patterns, const char *what, bool any_case)
{
    for (size_t i = 0; i < patterns->count; i++)
        if (policy_covers(patterns->list[i], what, any_case))
            return true;
    return false;
}

/* Either way round: sound for "may have something in common" but for patterns that cross. */
static bool any_meets(const struct aws_names *patterns, const char *what, bool any_case)
{
    for (size_t i = 0; i < patterns->count; i++)
        if (policy_covers(patterns->list[i], what, any_case) ||
            policy_covers(what, patterns->list[i], any_case))
            return true;
    return false;
}

bool policy_speaks_of(const struct policy_statement *s, const char *action, const char *resource)
{
    bool actions = s->not_actions ? !any_meets(&s->actions, action, true)
                                  : any_covers(&s->actions, action, true);
    bool resources = s->not_resources ? !any_meets(&s->resources, resource, false)
                                      : any_covers(&s->resources, resource, false);
    return actions && resources;
}

bool policy_touches(const struct policy_statement *s, const char *action, const char *resource)
{
    bool actions = s->not_actions ? !any_covers(&s->actions, action, true)
                                  : any_meets(&s->actions, action, true);
    bool resources = s->not_resources ? !any_covers(&s->resources, resource, false)
                                      : any_meets(&s->resources, resource, false);
    return actions && resources;
}

/* --- parts of a statement --------------------------------------------------------------------- */

static void add_with_prefix(struct aws_names *out, const char *prefix, const char *s)
{
    if (s == NULL)
        return;
    AUTO(xfree) char *whole = xasprintf("%s%s", prefix, s);
    if (!aws_names_have(out, whole))
        aws_names_add(out, whole);
}

/* A string, a number or a truth value, alone or in an array. false when it is something else. */
static bool values_of(const cJSON *v, const char *prefix, struct aws_names *out)
{
    if (cJSON_IsArray(v)) {
        const cJSON *item;
        cJSON_ArrayForEach(item, v) if (cJSON_IsArray(item) ||
                                        !values_of(item, prefix, out)) return false;
        return true;
    }
    if (cJSON_IsString(v))
        add_with_prefix(out, prefix, v->valuestring);
    else if (cJSON_IsBool(v))
        add_with_prefix(out, prefix, cJSON_IsTrue(v) ? "true" : "false");
    else if (cJSON_IsNumber(v)) {
        AUTO(xfree) char *number = xasprintf("%.15g", v->valuedouble);
        add_with_prefix(out, prefix, number);
    } else
        return false;
    return true;
}

/* {"Service": …, "AWS": […]} or "*". */
static bool principals_of(const cJSON *v, struct aws_names *out)
{
    if (cJSON_IsString(v) && strcmp(v->valuestring, "*") == 0) {
        aws_names_add(out, "*");
        return true;
    }
    const cJSON *kind;
    if (!cJSON_IsObject(v))
        return false;
    cJSON_ArrayForEach(kind, v)
    {
        AUTO(xfree) char *prefix = xasprintf("%s:", kind->string);
        if (!values_of(kind, prefix, out))
            return false;
    }
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void lower(char *s)
{
    for (; *s != '\0'; s++)
        *s = (char)tolower((unsigned char)*s);
}

static void sort(struct aws_names *n)
{
    if (n->count > 1)
        qsort(n->list, n->count, sizeof(*n->list), by_text);
}

/* "stringequals iam:passedtoservice = emr-serverless.amazonaws.com", one key: its values sorted. */
static bool one_condition(const char *operator, const cJSON * key, struct aws_names *out)
{
    AUTO_AWS_NAMES values = {0};
    AUTO_TEXT line = TEXT_INIT;
    if (!values_of(key, "", &values))
        return false;
    sort(&values);
    AUTO(xfree) char *head = xasprintf("%s %s = ", operator, key->string);
    lower(head);
    text_add(&line, head);
    for (size_t i = 0; i < values.count; i++)
        text_addf(&line, "%s%s", i > 0 ? " or " : "", values.list[i]);
    aws_names_add(out, line.s);
    return true;
}

/* NULL when there is none or it is empty; *fine says whether it is one. */
static char *condition_of(const cJSON *v, bool *fine)
{
    AUTO_AWS_NAMES lines = {0};
    AUTO_TEXT out = TEXT_INIT;
    const cJSON *operator, * key;
    *fine = v == NULL || cJSON_IsObject(v);
    cJSON_ArrayForEach(operator, v)
    {
        *fine = *fine && cJSON_IsObject(operator);
        cJSON_ArrayForEach(key, operator) *fine =
            *fine && one_condition(operator->string, key, &lines);
    }
    sort(&lines);
    for (size_t i = 0; i < lines.count; i++) {
        text_sep(&out, " and ");
        text_add(&out, lines.list[i]);
    }
    return lines.count > 0 ? text_take(&out) : NULL;
}

/* Of two spellings (X and NotX) the one that is there. */
static const cJSON *either(const cJSON *o, const char *name, const char *not_name, bool *negated)
{
    const cJSON *v = json_member(o, name);
    *negated = v == NULL && json_member(o, not_name) != NULL;
    return *negated ? json_member(o, not_name) : v;
}

static bool read_statement(const cJSON *o, size_t number, struct policy_statement *out)
{
    const char *sid = json_text(o, "Sid");
    const char *effect = json_text(o, "Effect");
    bool fine = true, not_principals = false;
    out->sid = sid != NULL && sid[0] != '\0' ? xstrdup(sid) : xasprintf("statement %zu", number);
    if (effect == NULL || (strcmp(effect, "Allow") != 0 && strcmp(effect, "Deny") != 0))
        return false;
    out->deny = strcmp(effect, "Deny") == 0;
    const cJSON *actions = either(o, "Action", "NotAction", &out->not_actions);
    const cJSON *resources = either(o, "Resource", "NotResource", &out->not_resources);
    const cJSON *principals = either(o, "Principal", "NotPrincipal", &not_principals);
    out->condition = condition_of(json_member(o, "Condition"), &fine);
    if (!fine || actions == NULL || !values_of(actions, "", &out->actions))
        return false;
    if (principals != NULL) {
        out->not_resources = not_principals;
        return principals_of(principals, &out->resources);
    }
    return resources != NULL && values_of(resources, "", &out->resources);
}

static int refuse(struct policy_document *d, const char *json, struct problem *err)
{
    AUTO(xfree) char *sid = d->count > 0 ? xstrdup(d->list[d->count - 1].sid) : NULL;
    policy_document_release(d);
    if (sid != NULL)
        problem_fail(err, PROBLEM_PROTOCOL, "policy", "%s of the policy is none as AWS has them",
                     sid);
    else
        problem_fail(err, PROBLEM_PROTOCOL, "policy",
                     "the policy has no statements, or more than it can");
    problem_evidence(err, "%.400s", json);
    return -1;
}

int policy_read(const char *json, struct policy_document *out, struct problem *err)
{
    size_t bytes = strlen(json), grants = 0;
    *out = (struct policy_document){0};
    if (bytes > BYTES_MAX)
        return refuse(out, json, err);
    AUTO(cJSON_Delete) cJSON *o = json_parse(json, bytes, "the policy", err);
    if (o == NULL)
        return -1;
    const cJSON *statements = json_member(o, "Statement");
    const cJSON *s = cJSON_IsObject(statements)  ? statements
                     : cJSON_IsArray(statements) ? statements->child
                                                 : NULL;
    size_t count = s == statements ? 1 : (size_t)cJSON_GetArraySize(statements);
    if (s == NULL || count > STATEMENTS_MAX)
        return refuse(out, json, err);
    out->list = xcalloc(count, sizeof(*out->list));
    for (; out->count < count; s = s->next) {
        struct policy_statement *into = &out->list[out->count++];
        if (!read_statement(s, out->count, into) ||
            (grants += into->actions.count * into->resources.count) > GRANTS_MAX)
            return refuse(out, json, err);
    }
    return 0;
}

void policy_document_release(struct policy_document *d)
{
    for (size_t i = 0; i < d->count; i++) {
        xfree(d->list[i].sid);
        aws_names_release(&d->list[i].actions);
        aws_names_release(&d->list[i].resources);
        xfree(d->list[i].condition);
    }
    xfree(d->list);
    *d = (struct policy_document){0};
}
