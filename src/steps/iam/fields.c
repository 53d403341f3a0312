/* The questions of the step iam. Role and user are named after the pipeline unless they are to be
 * existing ones; the access key is made here, and only asked for when somebody else makes it. */
#include <string.h>

#include "aws/ssm.h"
#include "core/mem.h"
#include "core/snapshot.h"
#include "steps/answer.h"
#include "steps/iam/iam.h"

#define NAME_LONGEST 64
#define PATH_LONGEST 512
#define SECRET_LENGTH 40
#define DIGITS "0123456789"
#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define SMALL "abcdefghijklmnopqrstuvwxyz"

/* --- names ------------------------------------------------------------------------------------ */

static int name_valid(const char *text, struct problem *err)
{
    size_t n = strlen(text);
    if (n <= NAME_LONGEST && strspn(text, DIGITS CAPITALS SMALL "+=,.@_-") == n)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "form",
                 "a name in IAM has letters, digits and + = , . @ _ -, at most 64");
    problem_fix(err, WHO_YOU,
                strncmp(text, "arn:", 4) == 0 ? "Take the last part of the ARN, behind the last /."
                                              : "Choose a name such as sluice-shop.");
    return -1;
}

static char *role_default(const struct snapshot *s)
{
    return aws_made_name(s, "-emr");
}

static const struct field role = {
    .id = "iam.role",
    .kind = FIELD_TEXT,
    .label = "Role",
    .help = "The execution role: what Spark jobs are in AWS. One that exists is compared with what "
            "is needed; one that does not is made, for EMR Serverless of this account alone.",
    .example = "sluice-shop-emr",
    .required = true,
    .default_from = role_default,
    .normalise = answer_trim,
    .valid = name_valid,
};

static char *user_default(const struct snapshot *s)
{
    return aws_made_name(s, "");
}

static const struct field user = {
    .id = "iam.user",
    .kind = FIELD_TEXT,
    .label = "User",
    .help = "The IAM user whose access key Estuary gets: it submits jobs, stages files and keeps "
            "the catalog's credential as a parameter. Best one of its own, with these rights only.",
    .example = "sluice-shop",
    .required = true,
    .default_from = user_default,
    .normalise = answer_trim,
    .valid = name_valid,
};

/* --- where ------------------------------------------------------------------------------------ */

static char *prefix_default(const struct snapshot *s)
{
    const char *name = snap_text(s, "start.name");
    return name[0] != '\0' ? xasprintf("/estuary/%s/", name) : NULL;
}

static const struct field ssm_prefix = {
    .id = "iam.ssm_prefix",
    .kind = FIELD_TEXT,
    .label = "Parameters",
    .help = "Prefix of the parameters in AWS Systems Manager in which Estuary's connector keeps "
            "the catalog's credential for its jobs. It begins and ends with /, and does not begin "
            "with /aws or /ssm. User and role may use parameters below it, and no others.",
    .example = "/estuary/shop/",
    .required = true,
    .default_from = prefix_default,
    .normalise = answer_trim,
    .valid = ssm_prefix_check,
};

static int boundary_valid(const char *text, struct problem *err)
{
    const char *policy = strstr(text, ":policy/");
    if (answer_word(text, err) != 0)
        return -1;
    if (strncmp(text, "arn:", 4) == 0 && strstr(text, ":iam::") != NULL && policy != NULL &&
        policy[8] != '\0')
        return 0;
    problem_fail(err, PROBLEM_INPUT, "form",
                 "a permissions boundary is the ARN of a policy: arn:aws:iam::ACCOUNT:policy/NAME");
    problem_fix(err, WHO_YOU,
                "Copy the ARN of the policy your AWS admin names, or leave it empty.");
    return -1;
}

static const struct field boundary = {
    .id = "iam.boundary",
    .kind = FIELD_TEXT,
    .label = "Boundary",
    .help = "ARN of a permissions boundary, where your account only allows roles and users that "
            "have one. It limits what the policies made here can give.",
    .example = "arn:aws:iam::123456789012:policy/boundary",
    .advanced = true,
    .normalise = answer_trim,
    .valid = boundary_valid,
};

static int path_valid(const char *text, struct problem *err)
{
    size_t n = strlen(text);
    bool good = n >= 1 && n <= PATH_LONGEST && text[0] == '/' && text[n - 1] == '/' &&
                strstr(text, "//") == NULL;
    for (const unsigned char *p = (const unsigned char *)text; good && *p != '\0'; p++)
        good = *p > 0x20 && *p < 0x7f;
    if (good)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "form", "a path in IAM begins and ends with /");
    problem_fix(err, WHO_YOU, "Take / unless your account sorts its users and roles by paths.");
    return -1;
}

static const struct field path = {
    .id = "iam.path",
    .kind = FIELD_TEXT,
    .label = "Path",
    .help = "Path of role and user that are made, where your account sorts them by paths. It "
            "becomes part of their ARNs.",
    .example = "/data/",
    .required = true,
    .advanced = true,
    .initial = "/",
    .normalise = answer_trim,
    .valid = path_valid,
};

/* --- the key ---------------------------------------------------------------------------------- */

static int key_wrong(struct problem *err, const char *what, const char *fix)
{
    problem_fail(err, PROBLEM_INPUT, "form", "%s", what);
    problem_fix(err, WHO_YOU, "%s", fix);
    return -1;
}

/* Nothing of the secret is told, only its length. */
static int key_valid(const char *text, struct problem *err)
{
    const char *colon = strchr(text, ':');
    size_t id = colon != NULL ? (size_t)(colon - text) : 0;
    if (answer_line(text, err) != 0)
        return -1;
    if (colon == NULL || id < 16 || strspn(text, CAPITALS DIGITS) < id)
        return key_wrong(err, "an access key is typed as KEYID:SECRET",
                         "Type the key id, a colon and the secret, without blanks.");
    if (strncmp(text, "ASIA", 4) == 0)
        return key_wrong(err, "this is a key of a session, which ends within hours",
                         "Take an access key of the user, which begins with AKIA.");
    if (strlen(colon + 1) == SECRET_LENGTH && strpbrk(colon, " \t") == NULL)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "form",
                 "the secret of an access key has 40 characters, this has %zu", strlen(colon + 1));
    problem_fix(err, WHO_YOU, "Copy it once more; it may hold + and /, and no blanks.");
    return -1;
}

static const struct field access_key = {
    .id = "iam.access_key",
    .kind = FIELD_SECRET,
    .label = "Access key",
    .help = "The user's access key as KEYID:SECRET. It is made here with the plan and kept as "
            "start.keep_secrets says; type one only when somebody else made it for you.",
    .example = "KEYID:SECRET",
    .advanced = true,
    .valid = key_valid,
};

const struct field *const iam_fields[] = {&role, &user,       &ssm_prefix, &boundary,
                                          &path, &access_key, NULL};
