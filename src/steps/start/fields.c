/* The questions of the step start. */
#include <string.h>

#include "core/mem.h"
#include "core/snapshot.h"
#include "estuary/names.h"
#include "estuary/token.h"
#include "steps/answer.h"
#include "steps/spec/account.h"
#include "steps/start/start.h"

#define NAME_MAX_LENGTH 31

static int name_valid(const char *text, struct problem *err)
{
    size_t n = strlen(text);
    bool good = n >= 1 && n <= NAME_MAX_LENGTH && text[0] >= 'a' && text[0] <= 'z';
    for (size_t i = 0; good && i < n; i++)
        good = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '0' && text[i] <= '9') ||
               text[i] == '-';
    if (good)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "form",
                 "a name has small letters, digits and hyphens, begins with a letter, 31 at most");
    problem_why(err,
                "SQL objects (flow_shop) and AWS resources (sluice-shop) are named after it, and "
                "these are the characters both allow.");
    problem_fix(err, WHO_YOU, "Choose a short name such as shop or shop-eu.");
    return -1;
}

/* What a name below it has to be, up to the last slash. */
static int prefix_valid(const char *text, struct problem *err)
{
    size_t n = strlen(text);
    AUTO(xfree) char *name = xasprintf("%sx", text);
    bool good = n >= 2 && text[n - 1] == '/' && estuary_name_check(name, NULL) == 0;
    if (good)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "form", "a prefix looks like acmeCo/ or acmeCo/shop/");
    problem_fix(
        err, WHO_YOU,
        "Take it from Estuary's dashboard under Admin, Account Access; letters, digits, - _ . "
        "are allowed, it ends with a slash.");
    return -1;
}

static char *prefix_normalise(const char *typed)
{
    char *s = answer_trim(typed);
    size_t n = strlen(s);
    if (n == 0 || s[n - 1] == '/')
        return s;
    char *with = xasprintf("%s/", s);
    xfree(s);
    return with;
}

static const struct field field_name = {
    .id = "start.name",
    .kind = FIELD_TEXT,
    .label = "Name",
    .help = "Names everything that is made: SQL user flow_<name>, AWS role sluice-<name>-emr and "
            "so on. It cannot "
            "be changed once something was made under it.",
    .example = "shop",
    .required = true,
    .normalise = answer_trim,
    .valid = name_valid,
};

static const struct field field_token = {
    .id = "start.token",
    .kind = FIELD_SECRET,
    .label = "Estuary token",
    .help = "A refresh token from Estuary's dashboard (Admin, CLI-API, Generate token). Optional "
            "until the capture is made; with it prefix and data plane are looked up, Estuary "
            "discovers the tables, and both tasks are tried before anything goes live.",
    .normalise = answer_trim,
    .valid = estuary_token_check,
};

/* --- what the login may use
 * ---------------------------------------------------------------------- */

static const struct estuary_account *account_of(const struct snapshot *s)
{
    return snap_fact(s, SPEC_FACT_ACCOUNT, &spec_account_type);
}

/* The only one that may be administered: specifications may be written below no other. */
static char *prefix_default(const struct snapshot *s)
{
    const struct estuary_account *a = account_of(s);
    const char *only = NULL;
    for (size_t i = 0; a != NULL && i < a->prefix_count; i++) {
        if (strcmp(a->prefixes[i].capability, "admin") != 0)
            continue;
        if (only != NULL)
            return NULL;
        only = a->prefixes[i].prefix;
    }
    return only != NULL ? xstrdup(only) : NULL;
}

static const struct estuary_mapping *mapping_of(const struct snapshot *s)
{
    const struct estuary_account *a = account_of(s);
    return a != NULL ? estuary_mapping_of(a, snap_text(s, "start.prefix")) : NULL;
}

/* What Estuary itself would take for something new, unless it is closed. */
static char *plane_default(const struct snapshot *s)
{
    const struct estuary_account *a = account_of(s);
    const char *plane = a != NULL ? start_plane_of(a, mapping_of(s)) : NULL;
    return plane != NULL ? xstrdup(plane) : NULL;
}

/* Those the prefix stores with; and what is answered, which the check judges. */
static void plane_choices(const struct snapshot *s, struct choices *out)
{
    const struct estuary_account *a = account_of(s);
    const struct estuary_mapping *m = mapping_of(s);
    const char *answered = snap_text(s, "start.data_plane");
    bool listed = answered[0] == '\0';
    for (size_t i = 0; a != NULL && i < a->plane_count; i++) {
        const struct estuary_plane *p = &a->planes[i];
        if (p->closed || !estuary_stores_with(m, p->name))
            continue;
        AUTO(xfree)
        char *label =
            xasprintf("%s, %s %s, %zu addresses", p->name, p->cloud, p->region, p->cidr_count);
        choices_add(out, p->name, label);
        listed = listed || strcmp(p->name, answered) == 0;
    }
    if (a != NULL && !listed)
        choices_add(out, answered, NULL);
}

static const struct field field_prefix = {
    .id = "start.prefix",
    .kind = FIELD_TEXT,
    .label = "Estuary prefix",
    .help = "The part of Estuary's catalog you may write to. Names of capture, collections and "
            "materialization "
            "begin with it.",
    .example = "acmeCo/",
    .default_from = prefix_default,
    .stays = true,
    .normalise = prefix_normalise,
    .valid = prefix_valid,
};

static const struct field field_data_plane = {
    .id = "start.data_plane",
    .kind = FIELD_CHOICE,
    .label = "Data plane",
    .help = "Where Estuary runs the connectors. Its addresses must be let in at the database. The "
            "region nearest to "
            "Bauplan (us-east-1) is advised.",
    .example = "ops/dp/public/aws-us-east-1-c2",
    .default_from = plane_default,
    .stays = true,
    .choices_from = plane_choices,
    .normalise = answer_trim,
    .valid = answer_word,
};

static const struct field_choice keep_choices[] = {
    {"file", "in the secrets file, under a passphrase"},
    {"memory", "only while sluice runs"},
    {"none", "nowhere: as env: and file: references"},
    {NULL, NULL},
};

static const struct field field_keep_secrets = {
    .id = "start.keep_secrets",
    .kind = FIELD_CHOICE,
    .label = "Keep secrets",
    .help = "Where typed and made secrets are kept. Passwords of administrators are never kept. "
            "Any single secret "
            "may be a reference (env:NAME, file:/path) in each case.",
    .required = true,
    .initial = "file",
    .choices = keep_choices,
};

const struct field *const start_fields[] = {
    &field_name, &field_token, &field_prefix, &field_data_plane, &field_keep_secrets, NULL,
};
