/* Credentials from environment and shared files. See credentials.h. */
#include "aws/credentials.h"

#include <stdlib.h>
#include <string.h>

#include "aws/ask.h"
#include "aws/ini.h"
#include "core/file.h"
#include "core/mem.h"
#include "core/text.h"

#define AWS_FILE_MAX ((size_t)1 << 20) /* bytes */

/* What a profile says besides keys of its own, in the order in which the SDKs ask. Static keys of
 * the credentials file stand between those of before and the rest. */
enum asks { ASKS_NOTHING, ASKS_BEFORE, ASKS_AFTER };
static const struct {
    const char *key;
    enum asks when;
} not_yet[] = {{"role_arn", ASKS_BEFORE},     {"web_identity_token_file", ASKS_BEFORE},
               {"sso_session", ASKS_BEFORE},  {"sso_start_url", ASKS_BEFORE},
               {"login_session", ASKS_AFTER}, {"credential_process", ASKS_AFTER}};

/* What one profile says in one file. */
struct profile {
    const char *wanted;
    bool config; /* the config file: sections are "profile NAME" */
    bool found;
    char *key_id, *secret, *token, *region;
    const char *asks_before, *asks_after; /* of not_yet, the first */
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

static void take_key(void *ctx, const char *section, const char *key, const char *value)
{
    struct profile *p = ctx;
    AUTO(xfree) char *profile = section_profile(section, p->config);
    if (profile == NULL || strcmp(profile, p->wanted) != 0)
        return;
    p->found = true;
    if (key == NULL || value[0] == '\0')
        return;
    if (strcmp(key, "aws_access_key_id") == 0)
        xreplace(&p->key_id, value);
    else if (strcmp(key, "aws_secret_access_key") == 0)
        take_secret(&p->secret, value);
    else if (strcmp(key, "aws_session_token") == 0 || strcmp(key, "aws_security_token") == 0)
        take_secret(&p->token, value);
    else if (strcmp(key, "region") == 0)
        xreplace(&p->region, value);
    for (size_t i = 0; i < ARRAY_LEN(not_yet); i++) {
        const char **slot = not_yet[i].when == ASKS_BEFORE ? &p->asks_before : &p->asks_after;
        if (*slot == NULL && strcmp(key, not_yet[i].key) == 0)
            *slot = not_yet[i].key;
    }
}

static void profile_release(struct profile *p)
{
    take_secret(&p->secret, NULL);
    take_secret(&p->token, NULL);
    xfree(p->key_id);
    xfree(p->region);
}

/* A file that is not there is an empty one; one that cannot be read or parsed is said. */
static int read_ini(const char *path, const struct ini_reader *reader, struct problem *err)
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
    size_t line = ini_read(bytes.s, reader);
    text_wipe(&bytes);
    if (line > 0) {
        problem_fail(err, PROBLEM_INPUT, "ini", "%s: line %zu cannot be understood", path, line);
        problem_fix(err, WHO_YOU, "correct the line: [section], or key = value below one");
        return -1;
    }
    return 0;
}

/* --- are these keys? -------------------------------------------------------------------------- */

/* They travel in headers, and a blank or quote in them is a slip of copying. */
static int check_part(const char *what, const char *s, bool is_id, const char *source,
                      struct problem *err)
{
    const char *bad = NULL;
    for (const char *c = s; *c != '\0' && bad == NULL; c++) {
        unsigned char u = (unsigned char)*c;
        bool letter = (u >= '0' && u <= '9') || (u >= 'A' && u <= 'Z') || (u >= 'a' && u <= 'z');
        if (u <= ' ' || u >= 0x7F)
            bad = "it holds a blank, a line break or another character that keys never have";
        else if (u == '"' || u == '\'')
            bad = "it holds a quote: the files take values without quotes";
        else if (is_id && !letter && u != '_')
            bad = "a key id has letters and digits only; are id and secret the wrong way round?";
    }
    if (bad == NULL)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "key", "the %s of %s cannot be one", what, source);
    problem_why(err, "%s", bad);
    problem_fix(err, WHO_YOU, "copy it again");
    return -1;
}

static int check_keys(const struct aws_credentials *c, struct problem *err)
{
    if (check_part("access key id", c->key_id, true, c->source, err) != 0 ||
        check_part("secret access key", secret_bytes(c->secret_key), false, c->source, err) != 0)
        return -1;
    return c->session_token == NULL
               ? 0
               : check_part("session token", secret_bytes(c->session_token), false, c->source, err);
}

static void fill(struct aws_credentials *out, const char *key_id, const char *secret,
                 const char *token)
{
    out->key_id = xstrdup(key_id);
    out->secret_key = secret_new(secret, strlen(secret));
    if (token != NULL)
        out->session_token = secret_new(token, strlen(token));
}

/* --- the files -------------------------------------------------------------------------------- */

/* What both files say of one profile; both are to be released in any case. */
static int read_profile(const char *name, const char *credentials, const char *config,
                        struct profile *a, struct profile *b, struct problem *err)
{
    *a = (struct profile){.wanted = name};
    *b = (struct profile){.wanted = name, .config = true};
    if (read_ini(credentials, &(struct ini_reader){take_key, a}, err) != 0)
        return -1;
    return read_ini(config, &(struct ini_reader){take_key, b}, err);
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

static int cannot(const char *name, const char *asks, struct problem *err)
{
    problem_fail(err, PROBLEM_INPUT, "profile",
                 "profile %s gets its keys by %s, which sluice does not do yet", name, asks);
    problem_fix(err, WHO_YOU,
                "run `eval \"$(aws configure export-credentials --profile %s --format env)\"` (AWS "
                "CLI version 2), then start sluice again",
                name);
    return -1;
}

static int no_keys(const char *name, bool found, const char *credentials, const char *config,
                   struct problem *err)
{
    problem_fail(err, PROBLEM_MISSING, "credentials",
                 found ? "profile %s has no keys" : "there is no profile %s", name);
    problem_why(err, "looked at AWS_ACCESS_KEY_ID, %s and %s",
                credentials != NULL ? credentials : "(no HOME)",
                config != NULL ? config : "(no HOME)");
    problem_fix(err, WHO_YOU,
                "name a profile that has keys, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
    return -1;
}

static bool has_keys(const struct profile *p)
{
    return p->key_id != NULL && p->secret != NULL;
}

static int choose(const char *name, const struct profile *a, const struct profile *b,
                  const char *credentials, const char *config, struct aws_credentials *out,
                  struct problem *err)
{
    const char *before = b->asks_before != NULL ? b->asks_before : a->asks_before;
    const char *after = b->asks_after != NULL ? b->asks_after : a->asks_after;
    if (before != NULL)
        return cannot(name, before, err);
    if (!has_keys(a) && after != NULL)
        return cannot(name, after, err);
    const struct profile *keys = has_keys(a) ? a : b;
    if (!has_keys(keys))
        return no_keys(name, a->found || b->found, credentials, config, err);
    fill(out, keys->key_id, keys->secret, keys->token);
    out->source = xasprintf("profile %s in %s", name, keys == a ? credentials : config);
    out->profile = xstrdup(name);
    out->region = xstrdup(b->region != NULL ? b->region : a->region);
    return 0;
}

static int from_files(const char *name, struct aws_credentials *out, struct problem *err)
{
    AUTO(xfree) char *credentials = file_path("AWS_SHARED_CREDENTIALS_FILE", "credentials");
    AUTO(xfree) char *config = file_path("AWS_CONFIG_FILE", "config");
    struct profile a;
    struct profile b;
    int rc = read_profile(name, credentials, config, &a, &b, err);
    if (rc == 0)
        rc = choose(name, &a, &b, credentials, config, out, err);
    profile_release(&a);
    profile_release(&b);
    return rc;
}

/* --- the environment -------------------------------------------------------------------------- */

static int from_environment(const char *key_id, const char *secret, struct aws_credentials *out,
                            struct problem *err)
{
    if (key_id == NULL || secret == NULL) {
        problem_fail(err, PROBLEM_INPUT, "credentials", "%s is set, but %s is not",
                     key_id != NULL ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY",
                     key_id != NULL ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID");
        problem_fix(err, WHO_YOU, "set both, or unset both to use a profile");
        return -1;
    }
    const char *token = env("AWS_SESSION_TOKEN");
    fill(out, key_id, secret, token != NULL ? token : env("AWS_SECURITY_TOKEN"));
    out->source = xstrdup("environment");
    out->expires = aws_time(env("AWS_CREDENTIAL_EXPIRATION"));
    out->region = aws_region_named("");
    if (env("AWS_PROFILE") != NULL)
        out->note = xasprintf("AWS_PROFILE names %s, but keys in the environment count before it",
                              env("AWS_PROFILE"));
    return 0;
}

static void note_regions(struct aws_credentials *out)
{
    const char *one = env("AWS_REGION"), *other = env("AWS_DEFAULT_REGION");
    if (one == NULL || other == NULL || strcmp(one, other) == 0)
        return;
    char *both =
        xasprintf("%s%sAWS_REGION (%s) counts, not AWS_DEFAULT_REGION (%s)",
                  out->note != NULL ? out->note : "", out->note != NULL ? "; " : "", one, other);
    xfree(out->note);
    out->note = both;
}

int aws_credentials_load(const char *profile, struct aws_credentials *out, struct problem *err)
{
    *out = (struct aws_credentials){0};
    const char *key_id = env("AWS_ACCESS_KEY_ID");
    const char *secret = env("AWS_SECRET_ACCESS_KEY");
    bool chosen = profile != NULL && profile[0] != '\0';
    bool web = env("AWS_WEB_IDENTITY_TOKEN_FILE") != NULL && env("AWS_ROLE_ARN") != NULL;
    int rc;
    if (!chosen && (key_id != NULL || secret != NULL))
        rc = from_environment(key_id, secret, out, err);
    else if (!chosen && web)
        rc = cannot(profile_name(""), "AWS_WEB_IDENTITY_TOKEN_FILE", err);
    else
        rc = from_files(profile_name(profile), out, err);
    if (rc == 0)
        rc = check_keys(out, err);
    if (rc != 0) {
        aws_credentials_release(out);
        return rc;
    }
    if (env_region() != NULL)
        xreplace(&out->region, env_region());
    note_regions(out);
    return 0;
}

void aws_credentials_release(struct aws_credentials *c)
{
    xfree(c->key_id);
    secret_unref(c->secret_key);
    secret_unref(c->session_token);
    xfree(c->source);
    xfree(c->note);
    xfree(c->region);
    xfree(c->profile);
    *c = (struct aws_credentials){0};
}

/* --- names of profiles ------------------------------------------------------------------------ */

struct names {
    char **list;
    size_t count;
    bool config;
};

static void take_name(void *ctx, const char *section, const char *key, const char *value)
{
    struct names *n = ctx;
    (void)value;
    char *profile = key == NULL ? section_profile(section, n->config) : NULL;
    for (size_t i = 0; profile != NULL && i < n->count; i++)
        if (strcmp(n->list[i], profile) == 0) {
            xfree(profile);
            return;
        }
    if (profile != NULL) {
        n->list = aws_grow(n->list, n->count, sizeof(char *));
        n->list[n->count++] = profile;
    }
}

char **aws_profiles(size_t *count)
{
    AUTO(xfree) char *credentials = file_path("AWS_SHARED_CREDENTIALS_FILE", "credentials");
    AUTO(xfree) char *config = file_path("AWS_CONFIG_FILE", "config");
    struct names n = {0};
    const struct ini_reader reader = {take_name, &n};
    read_ini(credentials, &reader, NULL);
    n.config = true;
    read_ini(config, &reader, NULL);
    *count = n.count;
    return n.list;
}
