/* AWS STS. See sts.h. */
#include "aws/sts.h"

#include <stdio.h>
#include <string.h>

#include "aws/ask.h"
#include "core/mem.h"

static char *part_of(const char *s, int index)
{
    for (; index > 0 && s != NULL; index--) {
        s = strchr(s, ':');
        s = s != NULL ? s + 1 : NULL;
    }
    return s != NULL ? xstrndup(s, strcspn(s, ":")) : xstrdup("");
}

/* "arn:aws:sts::A:assumed-role/ROLE/SESSION", "arn:aws:iam::A:user/path/NAME", "…:root" */
static void read_arn(struct sts_identity *out)
{
    out->partition = part_of(out->arn, 1);
    AUTO(xfree) char *who = part_of(out->arn, 5);
    static const struct {
        const char *prefix;
        enum sts_kind kind;
    } rows[] = {{"user/", STS_USER},
                {"assumed-role/", STS_ROLE},
                {"federated-user/", STS_FEDERATED},
                {"root", STS_ROOT}};
    out->kind = STS_OTHER;
    const char *name = who;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strncmp(who, rows[i].prefix, strlen(rows[i].prefix)) == 0) {
            out->kind = rows[i].kind;
            name = out->kind == STS_ROOT ? who : who + strlen(rows[i].prefix);
        }
    if (out->kind == STS_USER && strrchr(name, '/') != NULL)
        name = strrchr(name, '/') + 1;
    out->name = xstrndup(name, out->kind == STS_ROLE ? strcspn(name, "/") : strlen(name));
}

int sts_get_caller_identity(struct run *run, const struct aws_client *client,
                            struct sts_identity *out, struct problem *err)
{
    AUTO_AWS_ANSWER a;
    *out = (struct sts_identity){0};
    if (aws_ask(run, client, &aws_sts, "GetCallerIdentity", true, NULL, &a, err) != 0)
        return -1;
    const struct xml_node *r = xml_find(a.xml, "GetCallerIdentityResult");
    const char *arn = xml_text(r, "Arn");
    const char *account = xml_text(r, "Account");
    if (arn == NULL || strncmp(arn, "arn:", 4) != 0 || account == NULL)
        return aws_lacks("GetCallerIdentity", "Arn and Account", err);
    out->arn = xstrdup(arn);
    out->account = xstrdup(account);
    out->user_id = xstrdup(xml_text(r, "UserId"));
    read_arn(out);
    return 0;
}

void sts_identity_release(struct sts_identity *i)
{
    xfree(i->arn);
    xfree(i->account);
    xfree(i->user_id);
    xfree(i->partition);
    xfree(i->name);
    *i = (struct sts_identity){0};
}

int sts_assume_role(struct run *run, const struct aws_client *client, const struct sts_assume *s,
                    struct aws_credentials *out, struct problem *err)
{
    AUTO_AWS_SECRET_ANSWER a;
    char duration[16];
    *out = (struct aws_credentials){0};
    snprintf(duration, sizeof(duration), "%d", s->duration_s != 0 ? s->duration_s : 3600);
    const struct aws_pair pairs[] = {{"RoleArn", s->role_arn},
                                     {"RoleSessionName", s->session},
                                     {"DurationSeconds", duration},
                                     {"ExternalId", s->external_id},
                                     {"SerialNumber", s->mfa_serial},
                                     {"TokenCode", s->mfa_code},
                                     {NULL, NULL}};
    /* A code of an MFA device counts once, so a lost answer is not asked for again. */
    if (aws_ask(run, client, &aws_sts, "AssumeRole", s->mfa_code == NULL, pairs, &a, err) != 0)
        return -1;
    const struct xml_node *c = xml_find(a.xml, "AssumeRoleResult/Credentials");
    const char *id = xml_text(c, "AccessKeyId");
    const char *secret = xml_text(c, "SecretAccessKey");
    const char *token = xml_text(c, "SessionToken");
    if (id == NULL || secret == NULL || token == NULL)
        return aws_lacks("AssumeRole", "Credentials", err);
    out->key_id = xstrdup(id);
    out->secret_key = secret_new(secret, strlen(secret));
    out->session_token = secret_new(token, strlen(token));
    out->expires = aws_time(xml_text(c, "Expiration"));
    out->source = xasprintf("role %s", s->role_arn);
    return 0;
}
