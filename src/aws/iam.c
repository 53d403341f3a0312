/* AWS IAM: roles, users and their policies. See iam.h. Calls on users and on roles differ by a
 * word, so each is written once. */
#include "aws/iam.h"

#include <string.h>

#include "core/mem.h"

static const char *const words[] = {[IAM_ROLE] = "Role", [IAM_USER] = "User"};
static const char *const name_words[] = {[IAM_ROLE] = "RoleName", [IAM_USER] = "UserName"};

/* "Get%sPolicy" -> "GetRolePolicy"; xfree. */
static char *action_of(const char *before, enum iam_kind kind, const char *after)
{
    return xasprintf("%s%s%s", before, words[kind], after);
}

static int digit_of(char c)
{
    const char *digits = "0123456789abcdef0123456789ABCDEF";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;
    return at != NULL ? (int)((at - digits) % 16) : -1;
}

/* IAM percent-encodes policy documents in its answers (RFC 3986: '+' stays). */
static char *decoded(const char *s)
{
    AUTO_TEXT out = TEXT_INIT;
    for (; s != NULL && *s != '\0'; s++) {
        int high = *s == '%' ? digit_of(s[1]) : -1;
        int low = high >= 0 ? digit_of(s[2]) : -1;
        if (low >= 0 && (high != 0 || low != 0)) {
            text_addc(&out, (char)(high * 16 + low));
            s += 2;
        } else {
            text_addc(&out, *s);
        }
    }
    return text_take(&out);
}

static int read_entity(enum iam_kind kind, const char *action, const struct xml_node *n,
                       struct iam_entity *out, struct problem *err)
{
    const char *arn = xml_text(n, "Arn");
    const char *name = xml_text(n, name_words[kind]);
    if (arn == NULL || name == NULL)
        return aws_lacks(action, "Arn and name", err);
    const char *trust = xml_text(n, "AssumeRolePolicyDocument");
    const struct xml_node *tags = xml_find(n, "Tags");
    *out = (struct iam_entity){
        .kind = kind,
        .name = xstrdup(name),
        .arn = xstrdup(arn),
        .path = xstrdup(xml_text(n, "Path") != NULL ? xml_text(n, "Path") : "/"),
        .id = xstrdup(xml_text(n, kind == IAM_ROLE ? "RoleId" : "UserId")),
        .trust = trust != NULL ? decoded(trust) : NULL,
        .boundary = xstrdup(xml_text(n, "PermissionsBoundary/PermissionsBoundaryArn")),
        .created = aws_time(xml_text(n, "CreateDate")),
        .max_session_s = (int)aws_number(n, "MaxSessionDuration", 3600)};
    for (size_t i = 0; tags != NULL && i < tags->count; i++) {
        const char *key = xml_text(tags->children[i], "Key");
        const char *value = xml_text(tags->children[i], "Value");
        if (key != NULL && strcmp(key, AWS_TAG_RUN) == 0)
            xreplace(&out->tag_run, value);
        if (key != NULL && strcmp(key, AWS_TAG_STEP) == 0)
            xreplace(&out->tag_step, value);
    }
    return 0;
}

void iam_entity_release(struct iam_entity *e)
{
    xfree(e->name);
    xfree(e->path);
    xfree(e->arn);
    xfree(e->id);
    xfree(e->trust);
    xfree(e->boundary);
    xfree(e->tag_run);
    xfree(e->tag_step);
    *e = (struct iam_entity){0};
}

static int entity_of(const char *action, enum iam_kind kind, const struct aws_answer *a,
                     struct iam_entity *out, struct problem *err)
{
    AUTO(xfree) char *path = xasprintf("%sResult/%s", action, words[kind]);
    return read_entity(kind, action, xml_find(a->xml, path), out, err);
}

int iam_get(struct run *run, const struct aws_client *client, enum iam_kind kind, const char *name,
            struct iam_entity *out, struct problem *err)
{
    AUTO_AWS_ANSWER a;
    AUTO(xfree) char *action = action_of("Get", kind, "");
    const struct aws_pair pairs[] = {{name_words[kind], name}, {NULL, NULL}};
    *out = (struct iam_entity){0};
    if (aws_ask(run, client, &aws_iam, action, true, pairs, &a, err) != 0)
        return -1;
    return entity_of(action, kind, &a, out, err);
}

static int create(struct run *run, const struct aws_client *client, const struct iam_new *n,
                  const struct aws_tags *tags, struct iam_entity *out, struct problem *err)
{
    AUTO_AWS_ANSWER a;
    AUTO(xfree) char *action = action_of("Create", n->kind, "");
    bool tagged = tags != NULL;
    const struct aws_pair pairs[] = {
        {name_words[n->kind], n->name},
        {"Path", n->path},
        {"AssumeRolePolicyDocument", n->kind == IAM_ROLE ? n->trust : NULL},
        {"Description", n->kind == IAM_ROLE ? n->description : NULL},
        {"PermissionsBoundary", n->boundary},
        {"Tags.member.1.Key", tagged ? AWS_TAG_RUN : NULL},
        {"Tags.member.1.Value", tagged ? tags->run : NULL},
        {"Tags.member.2.Key", tagged ? AWS_TAG_STEP : NULL},
        {"Tags.member.2.Value", tagged ? tags->step : NULL},
        {NULL, NULL}};
    if (aws_ask(run, client, &aws_iam, action, false, pairs, &a, err) != 0)
        return -1;
    return entity_of(action, n->kind, &a, out, err);
}

int iam_create(struct run *run, const struct aws_client *client, const struct iam_new *n,
               struct iam_entity *out, struct problem *err)
{
    AUTO_PROBLEM tagged = PROBLEM_INIT;
    *out = (struct iam_entity){0};
    if (create(run, client, n, n->tags, out, &tagged) == 0)
        return 0;
    if (n->tags == NULL || tagged.kind != PROBLEM_DENIED) {
        problem_move(err, &tagged);
        return -1;
    }
    if (create(run, client, n, NULL, out, err) != 0)
        return -1;
    out->untagged = true;
    return 0;
}

int iam_delete(struct run *run, const struct aws_client *client, enum iam_kind kind,
               const char *name, struct problem *err)
{
    AUTO_AWS_ANSWER a;
    AUTO(xfree) char *action = action_of("Delete", kind, "");
    const struct aws_pair pairs[] = {{name_words[kind], name}, {NULL, NULL}};
    return aws_ask(run, client, &aws_iam, action, false, pairs, &a, err);
}

int iam_update_trust(struct run *run, const struct aws_client *client, const char *role,
                     const char *trust, struct problem *err)
{
    AUTO_AWS_ANSWER a;
    const struct aws_pair pairs[] = {{"RoleName", role}, {"PolicyDocument", trust}, {NULL, NULL}};
    return aws_ask(run, client, &aws_iam, "UpdateAssumeRolePolicy", true, pairs, &a, err);
}

int iam_put_policy(struct run *run, const struct aws_client *client, enum iam_kind kind,
                   const char *name, const char *policy, const char *document, struct problem *err)
{
    AUTO_AWS_ANSWER a;
    AUTO(xfree) char *action = action_of("Put", kind, "Policy");
    const struct aws_pair pairs[] = {{name_words[kind], name},
                                     {"PolicyName", policy},
                                     {"PolicyDocument", document},
                                     {NULL, NULL}};
    return aws_ask(run, client, &aws_iam, action, true, pairs, &a, err);
}

int iam_get_policy(struct run *run, const struct aws_client *client, enum iam_kind kind,
                   const char *name, const char *policy, char **document, struct problem *err)
{
    AUTO_AWS_ANSWER a;
    AUTO(xfree) char *action = action_of("Get", kind, "Policy");
    AUTO(xfree) char *path = xasprintf("%sResult/PolicyDocument", action);
    const struct aws_pair pairs[] = {
        {name_words[kind], name}, {"PolicyName", policy}, {NULL, NULL}};
    if (aws_ask(run, client, &aws_iam, action, true, pairs, &a, err) != 0)
        return -1;
    const char *text = xml_text(a.xml, path);
    if (text == NULL)
        return aws_lacks(action, "PolicyDocument", err);
    *document = decoded(text);
    return 0;
}

int iam_delete_policy(struct run *run, const struct aws_client *client, enum iam_kind kind,
                      const char *name, const char *policy, struct problem *err)
{
    AUTO_AWS_ANSWER a;
    AUTO(xfree) char *action = action_of("Delete", kind, "Policy");
    const struct aws_pair pairs[] = {
        {name_words[kind], name}, {"PolicyName", policy}, {NULL, NULL}};
    return aws_ask(run, client, &aws_iam, action, false, pairs, &a, err);
}

/* A list of names: the members' own text, or that of one child of theirs. */
static int list_names(struct run *run, const struct aws_client *client, const char *action,
                      const struct aws_pair *about, const char *list, const char *child,
                      struct aws_names *out, struct problem *err)
{
    AUTO_AWS_PAGES pages = {0};
    AUTO(xfree) char *result = xasprintf("%sResult", action);
    int more;
    *out = (struct aws_names){0};
    do {
        AUTO_AWS_ANSWER a;
        const struct aws_pair pairs[] = {*about, {"Marker", pages.token}, {NULL, NULL}};
        more = aws_ask(run, client, &aws_iam, action, true, pairs, &a, err);
        const struct xml_node *r = xml_find(a.xml, result);
        const struct xml_node *rows = xml_find(r, list);
        for (size_t i = 0; more == 0 && rows != NULL && i < rows->count; i++)
            aws_names_add(out, xml_text(rows->children[i], child));
        const char *truncated = xml_text(r, "IsTruncated");
        bool last = truncated == NULL || strcmp(truncated, "true") != 0;
        if (more == 0)
            more = aws_pages_more(&pages, last ? NULL : xml_text(r, "Marker"), action, err);
    } while (more == 1);
    if (more != 0)
        aws_names_release(out);
    return more;
}

int iam_list_policies(struct run *run, const struct aws_client *client, enum iam_kind kind,
                      const char *name, struct aws_names *out, struct problem *err)
{
    AUTO(xfree) char *action = action_of("List", kind, "Policies");
    const struct aws_pair about = {name_words[kind], name};
    return list_names(run, client, action, &about, "PolicyNames", "", out, err);
}

int iam_list_attached(struct run *run, const struct aws_client *client, enum iam_kind kind,
                      const char *name, struct aws_names *out, struct problem *err)
{
    AUTO(xfree) char *action = action_of("ListAttached", kind, "Policies");
    const struct aws_pair about = {name_words[kind], name};
    return list_names(run, client, action, &about, "AttachedPolicies", "PolicyArn", out, err);
}

int iam_get_managed(struct run *run, const struct aws_client *client, const char *arn,
                    char **document, struct problem *err)
{
    AUTO_AWS_ANSWER a;
    AUTO_AWS_ANSWER b;
    const struct aws_pair about[] = {{"PolicyArn", arn}, {NULL, NULL}};
    memset(&b, 0, sizeof(b));
    if (aws_ask(run, client, &aws_iam, "GetPolicy", true, about, &a, err) != 0)
        return -1;
    const char *version = xml_text(a.xml, "GetPolicyResult/Policy/DefaultVersionId");
    if (version == NULL)
        return aws_lacks("GetPolicy", "DefaultVersionId", err);
    const struct aws_pair one[] = {{"PolicyArn", arn}, {"VersionId", version}, {NULL, NULL}};
    if (aws_ask(run, client, &aws_iam, "GetPolicyVersion", true, one, &b, err) != 0)
        return -1;
    const char *text = xml_text(b.xml, "GetPolicyVersionResult/PolicyVersion/Document");
    if (text == NULL)
        return aws_lacks("GetPolicyVersion", "Document", err);
    *document = decoded(text);
    return 0;
}
