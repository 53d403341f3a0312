/* Credentials from environment and shared files. See credentials.h. The files are INI, by inih. */
#include "aws/credentials.h"

#include <ini.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/clock.h"
#include "core/file.h"
#include "core/mem.h"
#include "core/text.h"

#define AWS_FILE_MAX ((size_t)1 << 20) /* bytes */

/* What one profile says in one file. */
struct profile {
    const char *wanted;
    bool config; /* the config file: sections are "profile NAME" */
    bool found;
    char *key_id, *secret, *token, *region;
    char *unsupported; /* the first key that asks for what we cannot do */
};

static const char *env(const char *name)
{
    const char *v = getenv(name);
    return v != NULL && v[0] != '\0' ? v : NULL;
}

static char *file_path(const char *variable, const char *file)
{
    const char *set = env(variable);
    const char *home = env("HOME");
    if (set != NULL)
        return xstrdup(set);
    return home != NULL ? xasprintf("%s/.aws/%s", home, file) : NULL;
}

/* "[profile name]" in the config file, "[name]" in the credentials file; [default] in both; names
 * may be quoted. */
static char *section_profile(const char *section, bool config)
{
    while (*section == ' ' || *section == '\t')
        section++;
    if (config && strncmp(section, "profile", 7) == 0 &&
        (section[7] == ' ' || section[7] == '\t')) {
        section += 7 + strspn(section + 7, " \t");
    } else if (config && strcmp(section, "default") != 0) {
        return NULL;
    }
    size_t n = strlen(section);
    while (n > 0 && (section[n - 1] == ' ' || section[n - 1] == '\t'))
        n--;
    if (n >= 2 && (section[0] == '"' || section[0] == '\'') && section[n - 1] == section[0])
        return xstrndup(section + 1, n - 2);
    return xstrndup(section, n);
}

static void take_secret(char **slot, const char *value)
{
    if (*slot != NULL)
        explicit_bzero(*slot, strlen(*slot));
    xreplace(slot, value);
}

static int take_key(void *ctx, const char *section, const char *name, const char *value)
{
    struct profile *p = ctx;
    static const char *const not_yet[] = {
        "sso_session", "sso_start_url",           "credential_process",
        "role_arn",    "web_identity_token_file", "login_session"};
    AUTO(xfree) char *profile = section_profile(section, p->config);
    if (profile == NULL || strcmp(profile, p->wanted) != 0)
        return 1;
    p->found = true;
    if (strcasecmp(name, "aws_access_key_id") == 0)
        xreplace(&p->key_id, value);
    else if (strcasecmp(name, "aws_secret_access_key") == 0)
        take_secret(&p->secret, value);
    else if (strcasecmp(name, "aws_session_token") == 0)
        take_secret(&p->token, value);
    else if (strcasecmp(name, "region") == 0)
        xreplace(&p->region, value);
    for (size_t i = 0; i < ARRAY_LEN(not_yet) && p->unsupported == NULL; i++)
        if (strcasecmp(name, not_yet[i]) == 0)
            p->unsupported = xstrdup(not_yet[i]);
    return 1;
}

static void profile_release(struct profile *p)
{
    take_secret(&p->secret, NULL);
    take_secret(&p->token, NULL);
    xfree(p->key_id);
    xfree(p->region);
    xfree(p->unsupported);
}

/* A file that is not there is an empty one; one that cannot be read or parsed is said. */
static int read_ini(const char *path, ini_handler take, void *ctx, struct problem *err)
{
    AUTO_TEXT bytes = TEXT_INIT;
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (path == NULL)
        return 0;
    if (file_read(path, AWS_FILE_MAX, false, &bytes, &why) != 0) {
        if (why.kind == PROBLEM_MISSING)
            return 0;
        problem_move(err, &why);
        return -1;
    }
    int line = ini_parse_string(bytes.s, take, ctx);
    text_wipe(&bytes);
    if (line > 0) {
        problem_fail(err, PROBLEM_INPUT, "ini", "%s: line %d cannot be understood", path, line);
        problem_fix(err, WHO_YOU, "correct the line");
        return -1;
    }
    return 0;
}

static void fill(struct aws_credentials *out, const char *key_id, const char *secret,
                 const char *token)
{
    out->key_id = xstrdup(key_id);
    out->secret_key = secret_new(secret, strlen(secret));
    if (token != NULL)
        out->session_token = secret_new(token, strlen(token));
}

/* What both files say of one profile; both are to be released in any case. */
static int read_profile(const char *name, const char *credentials, const char *config,
                        struct profile *a, struct profile *b, struct problem *err)
{
    *a = (struct profile){.wanted = name};
    *b = (struct profile){.wanted = name, .config = true};
    if (read_ini(credentials, take_key, a, err) != 0)
        return -1;
    return read_ini(config, take_key, b, err);
}

static const char *profile_name(const char *chosen)
{
    if (chosen != NULL && chosen[0] != '\0')
        return chosen;
    const char *name = env("AWS_PROFILE");
    if (name == NULL)
        name = env("AWS_DEFAULT_PROFILE");
    return name != NULL ? name : "default";
}

static const char *env_region(void)
{
    const char *region = env("AWS_REGION");
    return region != NULL ? region : env("AWS_DEFAULT_REGION");
}

char *aws_region_named(const char *profile)
{
    if (env_region() != NULL)
        return xstrdup(env_region());
    AUTO(xfree) char *credentials = file_path("AWS_SHARED_CREDENTIALS_FILE", "credentials");
    AUTO(xfree) char *config = file_path("AWS_CONFIG_FILE", "config");
    struct profile a;
    struct profile b;
    read_profile(profile_name(profile), credentials, config, &a, &b, NULL);
    char *region = xstrdup(b.region != NULL ? b.region : a.region);
    profile_release(&a);
    profile_release(&b);
    return region;
}

static int from_files(const char *name, struct aws_credentials *out, struct problem *err)
{
    AUTO(xfree) char *credentials = file_path("AWS_SHARED_CREDENTIALS_FILE", "credentials");
    AUTO(xfree) char *config = file_path("AWS_CONFIG_FILE", "config");
    struct profile a;
    struct profile b;
    int rc = read_profile(name, credentials, config, &a, &b, err);
    const struct profile *keys = a.key_id != NULL && a.secret != NULL ? &a : &b;
    if (rc == 0 && keys->key_id != NULL && keys->secret != NULL) {
        fill(out, keys->key_id, keys->secret, keys->token);
        out->source = xasprintf("profile %s in %s", name, keys == &a ? credentials : config);
        out->profile = xstrdup(name);
        out->region = xstrdup(b.region != NULL ? b.region : a.region);
    } else if (rc == 0) {
        const char *asks = b.unsupported != NULL ? b.unsupported : a.unsupported;
        rc = -1;
        if (asks != NULL) {
            problem_fail(err, PROBLEM_INPUT, "profile",
                         "profile %s gets its keys by %s, which sluice does not do yet", name,
                         asks);
            problem_fix(err, WHO_YOU,
                        "run `eval \"$(aws configure export-credentials --profile %s --format "
                        "env)\"`, then start sluice again",
                        name);
        } else {
            problem_fail(err, PROBLEM_MISSING, "credentials",
                         a.found || b.found ? "profile %s has no keys" : "there is no profile %s",
                         name);
            problem_why(err, "looked at %s and %s", credentials != NULL ? credentials : "(no HOME)",
                        config != NULL ? config : "(no HOME)");
            problem_fix(
                err, WHO_YOU,
                "name a profile that has keys, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
        }
    }
    profile_release(&a);
    profile_release(&b);
    return rc;
}

int aws_credentials_load(const char *profile, struct aws_credentials *out, struct problem *err)
{
    *out = (struct aws_credentials){0};
    const char *key_id = env("AWS_ACCESS_KEY_ID");
    const char *secret = env("AWS_SECRET_ACCESS_KEY");
    bool chosen = profile != NULL && profile[0] != '\0';
    int rc = 0;
    if (!chosen && key_id != NULL && secret != NULL) {
        const char *token = env("AWS_SESSION_TOKEN");
        fill(out, key_id, secret, token);
        out->source = xstrdup("environment");
        const char *expires = env("AWS_CREDENTIAL_EXPIRATION");
        out->expires = expires != NULL ? clock_parse_iso(expires) : 0;
    } else {
        rc = from_files(profile_name(profile), out, err);
    }
    if (env_region() != NULL && rc == 0)
        xreplace(&out->region, env_region());
    return rc;
}

void aws_credentials_release(struct aws_credentials *c)
{
    xfree(c->key_id);
    secret_unref(c->secret_key);
    secret_unref(c->session_token);
    xfree(c->source);
    xfree(c->region);
    xfree(c->profile);
    *c = (struct aws_credentials){0};
}

/* --- names of profiles
 * ------------------------------------------------------------------------------ */

struct names {
    char **list;
    size_t count;
    bool config;
};

static int take_name(void *ctx, const char *section, const char *name, const char *value)
{
    struct names *n = ctx;
    (void)name;
    (void)value;
    char *profile = section_profile(section, n->config);
    for (size_t i = 0; profile != NULL && i < n->count; i++)
        if (strcmp(n->list[i], profile) == 0) {
            xfree(profile);
            return 1;
        }
    if (profile != NULL) {
        n->list = xrealloc(n->list, n->count + 1, sizeof(char *));
        n->list[n->count++] = profile;
    }
    return 1;
}

char **aws_profiles(size_t *count)
{
    AUTO(xfree) char *credentials = file_path("AWS_SHARED_CREDENTIALS_FILE", "credentials");
    AUTO(xfree) char *config = file_path("AWS_CONFIG_FILE", "config");
    struct names n = {0};
    read_ini(credentials, take_name, &n, NULL);
    n.config = true;
    read_ini(config, take_name, &n, NULL);
    *count = n.count;
    return n.list;
}
