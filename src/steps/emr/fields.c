/* The questions of the step emr. Account and region are asked here once for all of AWS. What an
 * application is made of is only asked while there is none to choose. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "aws/service.h"
#include "core/mem.h"
#include "core/snapshot.h"
#include "core/text.h"
#include "steps/answer.h"
#include "steps/emr/emr.h"
#include "steps/emr/network.h"

/* --- profile and region ----------------------------------------------------------------------- */

static void profile_choices(const struct snapshot *s, struct choices *out)
{
    (void)s;
    size_t count = 0;
    char **profiles = aws_profiles(&count);
    if (count > 0)
        choices_add(out, "", "as the AWS CLI without --profile");
    for (size_t i = 0; i < count; i++) {
        choices_add(out, profiles[i], NULL);
        xfree(profiles[i]);
    }
    xfree(profiles);
}

static const struct field profile = {
    .id = "emr.profile",
    .kind = FIELD_CHOICE,
    .label = "AWS profile",
    .help = "A profile of ~/.aws/credentials or ~/.aws/config. Empty: the keys of the environment, "
            "else AWS_PROFILE, else the profile default. A profile that is chosen here beats the "
            "environment.",
    .example = "data",
    .choices_from = profile_choices,
    .normalise = answer_trim,
    .valid = answer_line,
};

static char *region_default(const struct snapshot *s)
{
    return aws_region_named(snap_text(s, "emr.profile"));
}

static int region_valid(const char *text, struct problem *err)
{
    if (answer_word(text, err) != 0)
        return -1;
    return aws_region_check(text, err);
}

static const struct field region = {
    .id = "emr.region",
    .kind = FIELD_TEXT,
    .label = "Region",
    .help = "The AWS region of the application, the buckets and the parameters; the one of "
            "Bauplan's "
            "lake. Taken from AWS_REGION, AWS_DEFAULT_REGION or the profile unless you say "
            "otherwise.",
    .example = "us-east-1",
    .required = true,
    .default_from = region_default,
    .normalise = answer_trim,
    .valid = region_valid,
};

/* --- application ------------------------------------------------------------------------------ */

static void add_application(const struct emr_application *a, struct choices *out)
{
    const char *refusal = emr_refusal(a);
    AUTO(xfree)
    char *arm = strcmp(a->architecture, "ARM64") == 0 ? xstrdup("  arm64") : NULL;
    AUTO(xfree)
    char *label = xasprintf("%s  %s  %s%s%s%s", a->name[0] != '\0' ? a->name : "(no name)", a->id,
                            a->release, arm != NULL ? arm : "", refusal != NULL ? "  ! " : "",
                            refusal != NULL ? refusal : "");
    choices_add(out, a->id, label);
}

/* The answer is always among them: an application of another region, or one that is gone, is told
 * by its check and not as a wrong word. */
static void application_choices(const struct snapshot *s, struct choices *out)
{
    const struct emr_applications *a = snap_fact(s, FACT_LIST, &emr_list_type);
    if (a == NULL)
        return;
    const char *now = snap_text(s, "emr.application");
    AUTO(xfree) char *name = aws_made_name(s, "");
    const char *release = snap_text(s, "emr.release");
    AUTO(xfree)
    char *create = xasprintf("create %s  Spark, %s, x86_64", name != NULL ? name : "one",
                             release[0] != '\0' ? release : EMR_RELEASE);
    bool listed = now[0] == '\0';
    choices_add(out, "", create);
    for (size_t i = 0; i < a->count; i++) {
        add_application(&a->list[i], out);
        listed |= strcmp(a->list[i].id, now) == 0;
    }
    if (!listed) {
        AUTO(xfree) char *label = xasprintf("%s  (not in the list)", now);
        choices_add(out, now, label);
    }
}

static int application_valid(const char *text, struct problem *err)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    if (strlen(text) <= 64 && text[strspn(text, letters)] == '\0')
        return 0;
    problem_fail(err, PROBLEM_INPUT, "form",
                 "an application's id has small letters and digits, such as 00f1abcd2efg3h09");
    problem_fix(err, WHO_YOU,
                strncmp(text, "arn:", 4) == 0
                    ? "Take the part of the ARN behind applications/."
                    : "Copy the id from the console of EMR Serverless; it is not the name.");
    return -1;
}

static const struct field application = {
    .id = "emr.application",
    .kind = FIELD_CHOICE,
    .label = "Application",
    .help = "The EMR Serverless application whose Spark jobs merge the changes. Empty: one is made "
            "for this pipeline. One that exists is checked as it is and not changed.",
    .example = "00f1abcd2efg3h09",
    .choices_from = application_choices,
    .normalise = answer_trim,
    .valid = application_valid,
};

static bool creating(const struct snapshot *s)
{
    return snap_text(s, "emr.application")[0] == '\0';
}

static int release_valid(const char *text, struct problem *err)
{
    if (emr_release_number(text) >= 0)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "form", "a release looks like %s", EMR_RELEASE);
    problem_fix(err, WHO_YOU, "Take %s unless you have a reason not to.", EMR_RELEASE);
    return -1;
}

static const struct field release = {
    .id = "emr.release",
    .kind = FIELD_TEXT,
    .label = "Release",
    .help = "Release of EMR for the application that is made. Bauplan's guide names emr-7.12.0; "
            "releases before 7.11 cannot use the keys the catalog hands out.",
    .example = EMR_RELEASE,
    .required = true,
    .advanced = true,
    .initial = EMR_RELEASE,
    .when = creating,
    .normalise = answer_trim,
    .valid = release_valid,
};

/* --- network ---------------------------------------------------------------------------------- */

static int prefixed(const char *text, const char *prefix, const char *what, struct problem *err)
{
    size_t n = strlen(prefix);
    if (strncmp(text, prefix, n) == 0 && text[n] != '\0' &&
        text[n + strspn(text + n, "0123456789abcdef")] == '\0')
        return 0;
    problem_fail(err, PROBLEM_INPUT, "form", "the id of a %s looks like %s0a1b2c3d", what, prefix);
    problem_fix(err, WHO_YOU, "Copy the id from the console of VPC, not the name.");
    return -1;
}

static int subnet_valid(const char *text, struct problem *err)
{
    return prefixed(text, "subnet-", "subnet", err);
}

static int group_valid(const char *text, struct problem *err)
{
    return prefixed(text, "sg-", "security group", err);
}

static const struct field subnets = {
    .id = "emr.subnets",
    .kind = FIELD_LIST,
    .label = "Subnets",
    .help = "Subnets of one VPC, each with a way to the internet: a job runs in one of them and "
            "must reach Bauplan's catalog. Private subnets behind a NAT gateway are best. Unless "
            "you choose, those of the VPC that has them are taken.",
    .example = "subnet-0a1b2c3d, subnet-4e5f6a7b",
    .required = true,
    .picker = FACT_NETWORK,
    .pick = &emr_subnet_picker,
    .when = creating,
    .default_from = emr_default_subnets,
    .valid = subnet_valid,
};

static const struct field groups = {
    .id = "emr.security_groups",
    .kind = FIELD_LIST,
    .label = "Security groups",
    .help = "Up to five security groups of the same VPC that let tcp 443 out and nobody in from "
            "anywhere: EMR Serverless refuses a group with an inbound rule for 0.0.0.0/0 or ::/0.",
    .example = "sg-0a1b2c3d",
    .required = true,
    .picker = FACT_NETWORK,
    .pick = &emr_group_picker,
    .when = creating,
    .default_from = emr_default_groups,
    .valid = group_valid,
};

/* --- capacity --------------------------------------------------------------------------------- */

/* "16" and "16vCPU" become "16 vCPU"; what is no number stays for the validator to name. */
static char *with_unit(const char *typed, const char *unit)
{
    char *text = answer_trim(typed);
    size_t digits = strspn(text, "0123456789");
    const char *rest = text + digits + strspn(text + digits, " ");
    if (digits == 0 || (rest[0] != '\0' && strcasecmp(rest, unit) != 0))
        return text;
    char *out = xasprintf("%.*s %s", (int)digits, text, unit);
    xfree(text);
    return out;
}

static int unit_valid(const char *text, const char *unit, int least, int most, struct problem *err)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (end != text && strcmp(end + (*end == ' '), unit) == 0 && n >= least && n <= most)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "form", "a number of %s from %d to %d, such as %d %s", unit,
                 least, most, least * 4, unit);
    problem_fix(err, WHO_YOU, "Type the number; %s is added.", unit);
    return -1;
}

static char *vcpu_normalise(const char *typed)
{
    return with_unit(typed, "vCPU");
}

static int vcpu_valid(const char *text, struct problem *err)
{
    return unit_valid(text, "vCPU", 4, 4000, err);
}

static char *memory_normalise(const char *typed)
{
    return with_unit(typed, "GB");
}

static int memory_valid(const char *text, struct problem *err)
{
    return unit_valid(text, "GB", 16, 32000, err);
}

static const struct field max_vcpu = {
    .id = "emr.max_vcpu",
    .kind = FIELD_TEXT,
    .label = "At most",
    .help = "What all workers of the application may use together; it caps what a runaway job "
            "costs. A driver and an executor take 4 vCPU and 16 GB each. New AWS accounts may use "
            "16 vCPU at once.",
    .example = "16 vCPU",
    .required = true,
    .advanced = true,
    .initial = "16 vCPU",
    .when = creating,
    .normalise = vcpu_normalise,
    .valid = vcpu_valid,
};

static const struct field max_memory = {
    .id = "emr.max_memory",
    .kind = FIELD_TEXT,
    .label = "Memory at most",
    .help = "The same for memory: 16 GB for each 4 vCPU.",
    .example = "64 GB",
    .required = true,
    .advanced = true,
    .initial = "64 GB",
    .when = creating,
    .normalise = memory_normalise,
    .valid = memory_valid,
};

const struct field *const emr_fields[] = {
    &profile, &region, &application, &release, &subnets, &groups, &max_vcpu, &max_memory, NULL,
};
