/* AWS IAM: access keys and the policy simulator. See iam.h. */
#include <stdio.h>
#include <string.h>

#include "aws/iam.h"
#include "core/mem.h"

static bool is_true(const struct xml_node *n, const char *path)
{
    const char *s = xml_text(n, path);
    return s != NULL && strcmp(s, "true") == 0;
}

/* Marker of the next page, NULL when this was the last. */
static const char *marker_of(const struct xml_node *result)
{
    return is_true(result, "IsTruncated") ? xml_text(result, "Marker") : NULL;
}

/* --- keys ------------------------------------------------------------------------------------- */

void iam_keys_release(struct iam_keys *k)
{
    for (size_t i = 0; i < k->count; i++)
        xfree(k->list[i].id);
    xfree(k->list);
    *k = (struct iam_keys){0};
}

static void add_keys(struct iam_keys *out, const struct xml_node *rows)
{
    for (size_t i = 0; rows != NULL && i < rows->count; i++) {
        const struct xml_node *row = rows->children[i];
        const char *status = xml_text(row, "Status");
        if (xml_text(row, "AccessKeyId") == NULL)
            continue;
        out->list = aws_grow(out->list, out->count, sizeof(*out->list));
        out->list[out->count++] =
            (struct iam_key){.id = xstrdup(xml_text(row, "AccessKeyId")),
                             .active = status != NULL && strcmp(status, "Active") == 0,
                             .created = aws_time(xml_text(row, "CreateDate"))};
    }
}

int iam_list_keys(struct run *run, const struct aws_client *client, const char *user,
                  struct iam_keys *out, struct problem *err)
{
    AUTO_AWS_PAGES pages = {0};
    int more;
    *out = (struct iam_keys){0};
    do {
        AUTO_AWS_ANSWER a;
        const struct aws_pair pairs[] = {{"UserName", user}, {"Marker", pages.token}, {NULL, NULL}};
        more = aws_ask(run, client, &aws_iam, "ListAccessKeys", true, pairs, &a, err);
        const struct xml_node *r = xml_find(a.xml, "ListAccessKeysResult");
        if (more == 0) {
            add_keys(out, xml_find(r, "AccessKeyMetadata"));
            more = aws_pages_more(&pages, marker_of(r), "ListAccessKeys", err);
        }
    } while (more == 1);
    if (more != 0)
        iam_keys_release(out);
    return more;
}

int iam_create_key(struct run *run, const struct aws_client *client, const char *user, char **id,
                   struct secret **secret, struct problem *err)
{
    AUTO_AWS_SECRET_ANSWER a;
    const struct aws_pair pairs[] = {{"UserName", user}, {NULL, NULL}};
    if (aws_ask(run, client, &aws_iam, "CreateAccessKey", false, pairs, &a, err) != 0)
        return -1;
    const struct xml_node *key = xml_find(a.xml, "CreateAccessKeyResult/AccessKey");
    const char *key_id = xml_text(key, "AccessKeyId");
    const char *bytes = xml_text(key, "SecretAccessKey");
    if (key_id == NULL || bytes == NULL || bytes[0] == '\0')
        return aws_lacks("CreateAccessKey", "AccessKeyId and SecretAccessKey", err);
    *id = xstrdup(key_id);
    *secret = secret_new(bytes, strlen(bytes));
    return 0;
}

int iam_set_key_active(struct run *run, const struct aws_client *client, const char *user,
                       const char *id, bool active, struct problem *err)
{
    AUTO_AWS_ANSWER a;
    const struct aws_pair pairs[] = {{"UserName", user},
                                     {"AccessKeyId", id},
                                     {"Status", active ? "Active" : "Inactive"},
                                     {NULL, NULL}};
    return aws_ask(run, client, &aws_iam, "UpdateAccessKey", true, pairs, &a, err);
}

int iam_delete_key(struct run *run, const struct aws_client *client, const char *user,
                   const char *id, struct problem *err)
{
    AUTO_AWS_ANSWER a;
    const struct aws_pair pairs[] = {{"UserName", user}, {"AccessKeyId", id}, {NULL, NULL}};
    return aws_ask(run, client, &aws_iam, "DeleteAccessKey", false, pairs, &a, err);
}

int iam_key_last_used(struct run *run, const struct aws_client *client, const char *id,
                      struct iam_key_use *out, struct problem *err)
{
    AUTO_AWS_ANSWER a;
    const struct aws_pair pairs[] = {{"AccessKeyId", id}, {NULL, NULL}};
    *out = (struct iam_key_use){0};
    if (aws_ask(run, client, &aws_iam, "GetAccessKeyLastUsed", true, pairs, &a, err) != 0)
        return -1;
    const struct xml_node *use = xml_find(a.xml, "GetAccessKeyLastUsedResult/AccessKeyLastUsed");
    out->when = aws_time(xml_text(use, "LastUsedDate"));
    if (out->when != 0) {
        out->service = xstrdup(xml_text(use, "ServiceName"));
        out->region = xstrdup(xml_text(use, "Region"));
    }
    return 0;
}

void iam_key_use_release(struct iam_key_use *u)
{
    xfree(u->service);
    xfree(u->region);
    *u = (struct iam_key_use){0};
}

/* --- the simulator ---------------------------------------------------------------------------- */

void iam_simulation_release(struct iam_simulation *s)
{
    for (size_t i = 0; i < s->count; i++) {
        xfree(s->list[i].action);
        xfree(s->list[i].resource);
        aws_names_release(&s->list[i].missing);
    }
    xfree(s->list);
    xfree(s->why);
    *s = (struct iam_simulation){0};
}

static void add_verdict(struct iam_simulation *out, const struct xml_node *row, const char *action,
                        const char *resource, const char *decision)
{
    struct iam_verdict v = {.action = xstrdup(action),
                            .resource = xstrdup(resource != NULL ? resource : "*"),
                            .decision = IAM_IMPLICIT_DENY};
    if (strcmp(decision, "allowed") == 0)
        v.decision = IAM_ALLOWED;
    else if (strcmp(decision, "explicitDeny") == 0)
        v.decision = IAM_EXPLICIT_DENY;
    const char *organization = xml_text(row, "OrganizationsDecisionDetail/AllowedByOrganizations");
    const char *boundary =
        xml_text(row, "PermissionsBoundaryDecisionDetail/AllowedByPermissionsBoundary");
    v.by_organization = organization != NULL && strcmp(organization, "false") == 0;
    v.by_boundary = boundary != NULL && strcmp(boundary, "false") == 0;
    const struct xml_node *missing = xml_find(row, "MissingContextValues");
    for (size_t i = 0; missing != NULL && i < missing->count; i++)
        aws_names_add(&v.missing, missing->children[i]->text);
    out->list = aws_grow(out->list, out->count, sizeof(*out->list));
    out->list[out->count++] = v;
}

/* One row an action; with several resources a row each stands below it. */
static void add_verdicts(struct iam_simulation *out, const struct xml_node *rows)
{
    for (size_t i = 0; rows != NULL && i < rows->count; i++) {
        const struct xml_node *row = rows->children[i];
        const char *action = xml_text(row, "EvalActionName");
        const char *decision = xml_text(row, "EvalDecision");
        const struct xml_node *each = xml_find(row, "ResourceSpecificResults");
        if (action == NULL || decision == NULL)
            continue;
        if (each == NULL || each->count == 0)
            add_verdict(out, row, action, xml_text(row, "EvalResourceName"), decision);
        for (size_t k = 0; each != NULL && k < each->count; k++) {
            const struct xml_node *one = each->children[k];
            const char *own = xml_text(one, "EvalResourceDecision");
            add_verdict(out, row, action, xml_text(one, "EvalResourceName"),
                        own != NULL ? own : decision);
        }
    }
}

static void form_list(struct aws_call *call, const char *name, const char *const *values)
{
    char key[64];
    for (size_t i = 0; values != NULL && values[i] != NULL; i++) {
        snprintf(key, sizeof(key), "%s.member.%zu", name, i + 1);
        aws_form(call, key, values[i]);
    }
}

static int ask_page(struct run *run, const struct aws_client *client, const struct iam_question *q,
                    const char *marker, struct aws_answer *a, struct problem *err)
{
    AUTO_AWS_CALL call;
    aws_call_init(&call, &aws_iam, "SimulatePrincipalPolicy");
    call.idempotent = true;
    aws_form(&call, "PolicySourceArn", q->source);
    form_list(&call, "ActionNames", q->actions);
    form_list(&call, "ResourceArns", q->resources);
    if (q->context_key != NULL) {
        aws_form(&call, "ContextEntries.member.1.ContextKeyName", q->context_key);
        aws_form(&call, "ContextEntries.member.1.ContextKeyType", "string");
        aws_form(&call, "ContextEntries.member.1.ContextKeyValues.member.1", q->context_value);
    }
    if (marker != NULL)
        aws_form(&call, "Marker", marker);
    return aws_send(run, client, &call, a, err);
}

int iam_simulate(struct run *run, const struct aws_client *client, const struct iam_question *q,
                 struct iam_simulation *out, struct problem *err)
{
    AUTO_AWS_PAGES pages = {0};
    AUTO_PROBLEM why = PROBLEM_INIT;
    int more;
    *out = (struct iam_simulation){0};
    do {
        AUTO_AWS_ANSWER a;
        more = ask_page(run, client, q, pages.token, &a, &why);
        const struct xml_node *r = xml_find(a.xml, "SimulatePrincipalPolicyResult");
        if (more == 0) {
            add_verdicts(out, xml_find(r, "EvaluationResults"));
            more = aws_pages_more(&pages, marker_of(r), "SimulatePrincipalPolicy", &why);
        }
    } while (more == 1);
    if (more == 0)
        return 0;
    iam_simulation_release(out);
    /* Root cannot be simulated (InvalidInput), a principal just made is not found. */
    if (why.kind == PROBLEM_DENIED || why.kind == PROBLEM_MISSING || why.kind == PROBLEM_INPUT) {
        out->unavailable = true;
        out->why = xstrdup(why.what);
        return 0;
    }
    problem_move(err, &why);
    return -1;
}
