/* Makes AWS calls through src/aws for tests that watch them from outside: test_aws_calls.py.
 *
 * Reads commands from stdin, one a line, words separated by tabs ("-" = none), and answers each
 * with a line of JSON: {"ok":true,"result":…} or {"ok":false,"kind":…,"code":…,"what":…,…}. One
 * process is one network, so that kept connections and a learnt clock can be seen. Secrets are not
 * printed, but their length and SHA-256, which is enough to compare.
 *
 * aws_probe [--deadline MS] [--profile NAME] [--region REGION] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aws/ssm.h"
#include "aws/sts.h"
#include "aws_probe.h"
#include "core/digest.h"
#include "core/mem.h"
#include "core/run.h"
#include "net/net.h"
#include "probe.h"

const struct aws_tags probe_tags = {"7f3c9a", "probe"};

void pair_secret(struct probe *p, const char *key, const struct secret *s)
{
    struct digest d = digest_of(secret_bytes(s), secret_len(s));
    char hex[DIGEST_HEX];
    digest_hex(&d, hex);
    json_pair_text(&p->w, key, hex);
}

void pair_names(struct probe *p, const char *key, const struct aws_names *n)
{
    json_key(&p->w, key);
    json_begin(&p->w, '[');
    for (size_t i = 0; i < n->count; i++)
        json_add_text(&p->w, n->list[i]);
    json_end(&p->w, ']');
}

void split(struct aws_names *out, char *s)
{
    for (char *at = s; at != NULL; at = s) {
        s = strchr(at, ',');
        if (s != NULL)
            *s++ = '\0';
        aws_names_add(out, at);
    }
}

/* --- STS, SSM --------------------------------------------------------------------------------- */

static int identity(struct probe *p)
{
    AUTO_STS_IDENTITY i = {0};
    if (sts_get_caller_identity(p->run, &p->client, &i, p->err) != 0)
        return -1;
    json_pair_text(&p->w, "arn", i.arn);
    json_pair_text(&p->w, "account", i.account);
    json_pair_text(&p->w, "user_id", i.user_id);
    json_pair_text(&p->w, "partition", i.partition);
    json_pair_text(&p->w, "name", i.name);
    json_pair_number(&p->w, "kind", (long long)i.kind);
    return 0;
}

static int credentials(struct probe *p)
{
    const struct aws_credentials *c = p->client.credentials;
    json_pair_text(&p->w, "id", c->key_id);
    pair_secret(p, "secret", c->secret_key);
    if (c->session_token != NULL)
        pair_secret(p, "token", c->session_token);
    else
        json_pair_text(&p->w, "token", NULL);
    json_pair_text(&p->w, "source", c->source);
    json_pair_text(&p->w, "region", c->region);
    return 0;
}

static int assume_role(struct probe *p)
{
    struct aws_credentials c;
    AUTO_STS_IDENTITY i = {0};
    const struct sts_assume a = {.role_arn = p->word[0], .session = "probe"};
    if (CALL(sts_assume_role, &a, &c) != 0)
        return -1;
    const struct aws_client as_role = {.credentials = &c, .region = p->client.region};
    int rc = sts_get_caller_identity(p->run, &as_role, &i, p->err);
    json_pair_text(&p->w, "source", c.source);
    json_pair_number(&p->w, "expires", (long long)c.expires);
    json_pair_text(&p->w, "arn", i.arn);
    json_pair_text(&p->w, "name", i.name);
    aws_credentials_release(&c);
    return rc;
}

static int put_parameter(struct probe *p)
{
    struct secret *s = secret_new(p->word[1], strlen(p->word[1]));
    int rc = CALL(ssm_put, p->word[0], s);
    secret_unref(s);
    return rc;
}

static int get_parameter(struct probe *p)
{
    struct ssm_parameter v;
    if (CALL(ssm_get, p->word[0], &v) != 0)
        return -1;
    pair_secret(p, "value", v.value);
    json_pair_text(&p->w, "type", v.type);
    json_pair_number(&p->w, "version", v.version);
    ssm_parameter_release(&v);
    return 0;
}

static int delete_parameter(struct probe *p)
{
    return CALL(ssm_delete, p->word[0]);
}

/* --- the loop --------------------------------------------------------------------------------- */

static const struct probe_command own[] = {
    {"identity", identity},
    {"credentials", credentials},
    {"assume-role", assume_role},
    {"put-parameter", put_parameter},
    {"get-parameter", get_parameter},
    {"delete-parameter", delete_parameter},
    {NULL, NULL},
};
static const struct probe_command *const all[] = {own,       probe_iam, probe_s3,
                                                  probe_emr, probe_ec2, probe_judge};

static void answer(struct probe *p, int (*command)(struct probe *))
{
    AUTO_TEXT result = TEXT_INIT;
    AUTO_TEXT line = TEXT_INIT;
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct json_writer w = {.out = &line};
    p->w = (struct json_writer){.out = &result};
    p->err = &err;
    json_begin(&p->w, '{');
    int rc = command(p);
    json_end(&p->w, '}');
    json_begin(&w, '{');
    json_pair_bool(&w, "ok", rc == 0);
    json_pair_number(&w, "skew", atomic_load(p->client.skew));
    if (rc != 0)
        probe_problem(&w, &err);
    json_end(&w, '}');
    printf("%.*s%s%s}\n", (int)line.len - 1, line.s, rc == 0 ? ",\"result\":" : "",
           rc == 0 ? result.s : "");
    fflush(stdout);
}

static const struct probe_command *command_of(const char *name)
{
    for (size_t t = 0; name != NULL && t < ARRAY_LEN(all); t++)
        for (const struct probe_command *c = all[t]; c->name != NULL; c++)
            if (strcmp(c->name, name) == 0)
                return c;
    return NULL;
}

static void serve(struct net *net, struct probe *p, int deadline_ms)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        char *word[8];
        probe_words(line, word, ARRAY_LEN(word), NULL);
        const struct probe_command *command = command_of(word[0]);
        if (command == NULL) {
            fprintf(stderr, "no command %s\n", word[0] != NULL ? word[0] : "");
            break;
        }
        p->run = run_new_detached(NULL, net, deadline_ms);
        p->word = word + 1;
        answer(p, command->run);
        run_free(p->run);
    }
    free(line);
}

int main(int argc, char **argv)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    const char *profile = "", *region = NULL;
    int deadline_ms = 20000;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--deadline") == 0)
            deadline_ms = (int)strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--profile") == 0)
            profile = argv[i + 1];
        else if (strcmp(argv[i], "--region") == 0)
            region = argv[i + 1];
    }
    struct aws_credentials keys;
    const struct net_options options = {.more_ca_file = getenv("AWS_CA_BUNDLE")};
    struct net *net = net_new(&options, &err);
    if (net == NULL || aws_credentials_load(profile, &keys, &err) != 0) {
        fprintf(stderr, "%s\n%s\n", err.what, err.why != NULL ? err.why : "");
        net_free(net);
        return 1;
    }
    atomic_llong skew = 0;
    struct probe p = {.client = {.credentials = &keys,
                                 .region = region != NULL ? region : keys.region,
                                 .skew = &skew}};
    serve(net, &p, deadline_ms);
    aws_credentials_release(&keys);
    net_free(net);
    return 0;
}
