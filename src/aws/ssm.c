/* AWS Systems Manager. See ssm.h. */
#include "aws/ssm.h"

#include <string.h>
#include <strings.h>

#include "aws/ask.h"
#include "core/json.h"
#include "core/mem.h"

#define LEVELS_MAX 15 /* of a whole name: one is for the name below the prefix */

static bool is_reserved(const char *first)
{
    return strncasecmp(first, "aws", 3) == 0 || strncasecmp(first, "ssm", 3) == 0;
}

static const char *prefix_fault(const char *s)
{
    size_t n = strlen(s), levels = 0;
    if (n < 3 || s[0] != '/' || s[n - 1] != '/')
        return "it must begin and end with a slash, as in /estuary/";
    if (s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/")] != '\0')
        return "only letters, digits and . - _ / are allowed";
    if (strstr(s, "//") != NULL)
        return "two slashes stand side by side";
    if (is_reserved(s + 1))
        return "names that begin with aws or ssm are reserved";
    for (const char *at = s; (at = strchr(at, '/')) != NULL; at++)
        levels++;
    if (levels > LEVELS_MAX)
        return "a name has at most 15 levels";
    if (n > 800)
        return "it is too long";
    return NULL;
}

int ssm_prefix_check(const char *prefix, struct problem *err)
{
    const char *fault = prefix_fault(prefix);
    if (fault == NULL)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "ssm prefix", "“%s” cannot be the prefix of parameters",
                 prefix);
    problem_why(err, "%s", fault);
    problem_fix(err, WHO_YOU, "use one like /estuary/");
    return -1;
}

char *ssm_arn(const char *partition, const char *region, const char *account, const char *name)
{
    return xasprintf("arn:%s:ssm:%s:%s:parameter%s%s", partition, region, account,
                     name[0] == '/' ? "" : "/", name);
}

static void begin(struct aws_call *call, struct json_writer *w, const char *action,
                  const char *name)
{
    aws_call_init(call, &aws_ssm, action);
    call->idempotent = true;
    *w = (struct json_writer){.out = &call->body};
    json_begin(w, '{');
    json_pair_text(w, "Name", name);
}

int ssm_put(struct run *run, const struct aws_client *client, const char *name,
            const struct secret *value, struct problem *err)
{
    AUTO_AWS_CALL call;
    AUTO_AWS_ANSWER a = {0};
    struct json_writer w;
    begin(&call, &w, "PutParameter", name);
    json_pair_text(&w, "Value", secret_bytes(value));
    json_pair_text(&w, "Type", "SecureString");
    json_pair_bool(&w, "Overwrite", true);
    json_end(&w, '}');
    return aws_send(run, client, &call, &a, err);
}

int ssm_get(struct run *run, const struct aws_client *client, const char *name,
            struct ssm_parameter *out, struct problem *err)
{
    AUTO_AWS_CALL call;
    AUTO_AWS_SECRET_ANSWER a = {0};
    struct json_writer w;
    *out = (struct ssm_parameter){0};
    begin(&call, &w, "GetParameter", name);
    json_pair_bool(&w, "WithDecryption", true);
    json_end(&w, '}');
    if (aws_send(run, client, &call, &a, err) != 0)
        return -1;
    const cJSON *p = json_member(a.json, "Parameter");
    const char *value = json_text(p, "Value");
    if (value == NULL)
        return aws_lacks("GetParameter", "Parameter.Value", err);
    out->value = secret_new(value, strlen(value));
    out->type = xstrdup(json_text(p, "Type"));
    out->version = (long long)json_number(p, "Version", 0);
    return 0;
}

void ssm_parameter_release(struct ssm_parameter *p)
{
    secret_unref(p->value);
    xfree(p->type);
    *p = (struct ssm_parameter){0};
}

int ssm_delete(struct run *run, const struct aws_client *client, const char *name,
               struct problem *err)
{
    AUTO_AWS_CALL call;
    AUTO_AWS_ANSWER a = {0};
    struct json_writer w;
    begin(&call, &w, "DeleteParameter", name);
    call.idempotent =
        false; /* said to be missing after a lost answer, it would look like an error */
    json_end(&w, '}');
    return aws_send(run, client, &call, &a, err);
}
