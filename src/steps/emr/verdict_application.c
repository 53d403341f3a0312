/* Verdicts on the application: the one that exists as it is, the one to be made as it was answered.
 * No I/O. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/mem.h"
#include "core/run.h"
#include "steps/emr/emr.h"

/* Existing applications may be altered while they are CREATED or STOPPED. */
#define STOPPED_FIRST "It must be stopped for that: aws emr-serverless stop-application."

static const struct emr_application *chosen_of(const struct run *run)
{
    return run_fact(run, FACT_CHOSEN, &emr_chosen_type);
}

/* A command that alters the chosen application. */
static void copy_update(struct outcome *out, const struct run *run, const struct emr_application *a,
                        const char *change)
{
    outcome_copy_command(out,
                         "aws emr-serverless update-application --region %s --application-id %s %s",
                         run_text(run, "emr.region"), a->id, change);
}

/* --- region ----------------------------------------------------------------------------------- */

/* Of the user guide's table of endpoints. A new region may be missing: so it only warns. */
static const char *const offered[] = {
    "us-east-1",      "us-east-2",      "us-west-1",      "us-west-2",      "af-south-1",
    "ap-east-1",      "ap-east-2",      "ap-south-1",     "ap-south-2",     "ap-northeast-1",
    "ap-northeast-2", "ap-northeast-3", "ap-southeast-1", "ap-southeast-2", "ap-southeast-3",
    "ap-southeast-4", "ap-southeast-5", "ap-southeast-6", "ap-southeast-7", "ca-central-1",
    "ca-west-1",      "eu-central-1",   "eu-central-2",   "eu-west-1",      "eu-west-2",
    "eu-west-3",      "eu-south-1",     "eu-south-2",     "eu-north-1",     "il-central-1",
    "me-south-1",     "me-central-1",   "mx-central-1",   "sa-east-1",      "cn-north-1",
    "us-gov-east-1",  "us-gov-west-1",
};

static void run_region(struct run *run, struct outcome *out)
{
    const char *region = run_text(run, "emr.region");
    for (size_t i = 0; i < ARRAY_LEN(offered); i++)
        if (strcmp(offered[i], region) == 0) {
            outcome_pass(out, "%s", region);
            return;
        }
    outcome_warn(out, "%s is not known to offer EMR Serverless", region);
    outcome_why(out, "It is not in the list of regions that AWS gave in 2026. The first call will "
                     "tell.");
    outcome_fix(out, WHO_YOU, "Choose the region of Bauplan's lake, mostly us-east-1.");
}

const struct check emr_check_region = {
    .id = "emr.region",
    .title = "region has EMR Serverless",
    .reads = (const char *const[]){"emr.region", NULL},
    .severity = SEV_WARNS,
    .cause = "EMR Serverless is not offered in every region.",
    .fix = "Choose the region of Bauplan's lake.",
    .run = run_region,
};

/* --- the application -------------------------------------------------------------------------- */

static void run_application(struct run *run, struct outcome *out)
{
    const struct emr_application *a = chosen_of(run);
    if (a == NULL) {
        outcome_fail(out, "none", "no application is chosen, and none is planned");
        outcome_why(out, "Which applications there are could not be listed, so that none can be "
                         "made without making a second one by mistake.");
        outcome_fix(out, WHO_AWS_ADMIN,
                    "Allow emr-serverless:ListApplications on *; or make the application, and "
                    "answer its id.");
    } else if (strcasecmp(a->type, "Spark") != 0) {
        outcome_fail(out, "type", "%s runs %s, Spark is needed", a->name, a->type);
        outcome_why(out, "Estuary merges with Spark jobs. The type of an application is fixed.");
        outcome_fix(out, WHO_YOU,
                    "Choose another application, or clear the answer to have one "
                    "made.");
        outcome_copy_command(out, "sluice state set emr.application ''");
    } else if (strcmp(a->state, "TERMINATED") == 0) {
        outcome_fail(out, "TERMINATED", "%s (%s) is terminated%s%s", a->name, a->id,
                     a->state_details != NULL ? ": " : "",
                     a->state_details != NULL ? a->state_details : "");
        outcome_why(out, "It was deleted, or could not be made. It takes no jobs any more.");
        outcome_fix(out, WHO_YOU,
                    "Choose another application, or clear the answer to have one "
                    "made.");
        outcome_copy_command(out, "sluice state set emr.application ''");
    } else if (strcmp(a->state, "CREATING") == 0) {
        outcome_warn(out, "%s (%s) is still being made", a->name, a->id);
        outcome_fix(out, WHO_YOU, "Look again in a minute.");
    } else {
        outcome_pass(out, "%s (%s), Spark, %s", a->name, a->id, a->state);
    }
}

const struct check emr_check_application = {
    .id = "emr.application",
    .title = "takes Spark jobs",
    .reads = (const char *const[]){"?emr.application", "emr.subnets", "emr.security_groups",
                                   "?" FACT_CHOSEN, NULL},
    .after = (const char *const[]){"emr.chosen", "emr.applications", NULL},
    .needs = (const char *const[]){"emr.application", NULL},
    .severity = SEV_BLOCKS,
    .cause = "The application was deleted, could not be made, or is one for Hive.",
    .fix = "Choose another one, or clear the answer to have one made.",
    .run = run_application,
};

/* --- release ---------------------------------------------------------------------------------- */

static void too_old(struct run *run, struct outcome *out, const char *release, int number)
{
    const struct emr_application *a = chosen_of(run);
    outcome_fail(out, "release", "%s is too old: emr-7.11 at least, %s is advised", release,
                 EMR_RELEASE);
    outcome_why(out,
                "Its Iceberg cannot renew the keys that the catalog hands out: jobs would fail "
                "with %s.",
                number >= 7010 ? "an answer 401" : "“Target host is not specified”");
    if (a == NULL) {
        outcome_fix(out, WHO_YOU, "Answer %s.", EMR_RELEASE);
        outcome_suggest(out, "emr.release", EMR_RELEASE);
        return;
    }
    outcome_fix(out, WHO_AWS_ADMIN,
                "Set the application to %s, if its other jobs allow that; or have one made for "
                "this pipeline. " STOPPED_FIRST,
                EMR_RELEASE);
    copy_update(out, run, a, "--release-label " EMR_RELEASE);
}

static void run_release(struct run *run, struct outcome *out)
{
    const struct emr_application *a = chosen_of(run);
    const char *release = a != NULL ? a->release : run_text(run, "emr.release");
    int number = emr_release_number(release);
    if (number >= 0 && number < EMR_RELEASE_LEAST) {
        too_old(run, out, release, number);
    } else if (number != EMR_RELEASE_BEST) {
        outcome_warn(out, "%s; Estuary's jobs are proved with %s", release, EMR_RELEASE);
        outcome_why(out, "Iceberg comes with the release. Bauplan's guide names %s.", EMR_RELEASE);
        outcome_fix(out, WHO_YOU, "Take %s unless you have a reason not to.", EMR_RELEASE);
    } else {
        outcome_pass(out, "%s", release);
    }
}

const struct check emr_check_release = {
    .id = "emr.release",
    .title = "release is new enough",
    .reads = (const char *const[]){"?emr.application", "?" FACT_CHOSEN, "emr.release", "emr.region",
                                   NULL},
    .after = (const char *const[]){"emr.chosen", NULL},
    .severity = SEV_BLOCKS,
    .cause = "Releases before emr-7.11 bring an Iceberg that cannot use and renew the storage keys "
             "which the catalog hands out: “Target host is not specified” up to 7.9, 401 with "
             "7.10.",
    .fix = "Take emr-7.12.0.",
    .run = run_release,
};

/* --- architecture, start and stop ------------------------------------------------------------- */

static void run_architecture(struct run *run, struct outcome *out)
{
    const struct emr_application *a = chosen_of(run);
    if (strcmp(a->architecture, "X86_64") == 0) {
        outcome_pass(out, "x86_64");
        return;
    }
    outcome_fail(out, "architecture", "%s is %s, x86_64 is needed", a->name,
                 strcmp(a->architecture, "ARM64") == 0 ? "arm64" : a->architecture);
    outcome_why(out, "Bauplan's guide and Estuary's jobs are made for x86_64.");
    outcome_fix(out, WHO_AWS_ADMIN,
                "Set the application to x86_64, if its other jobs allow that; or have one made for "
                "this pipeline. " STOPPED_FIRST);
    copy_update(out, run, a, "--architecture X86_64");
}

#define READS_CHOSEN                                                                               \
    (const char *const[])                                                                          \
    {                                                                                              \
        FACT_CHOSEN, "emr.region", NULL                                                            \
    }
#define NEEDS_APPLICATION                                                                          \
    (const char *const[])                                                                          \
    {                                                                                              \
        "emr.application", NULL                                                                    \
    }

const struct check emr_check_architecture = {
    .id = "emr.architecture",
    .title = "architecture is x86_64",
    .reads = READS_CHOSEN,
    .needs = NEEDS_APPLICATION,
    .severity = SEV_BLOCKS,
    .cause = "The application was made for arm64.",
    .fix = "Take an application for x86_64, or have one made.",
    .run = run_architecture,
};

static void run_auto_start(struct run *run, struct outcome *out)
{
    const struct emr_application *a = chosen_of(run);
    if (a->auto_start) {
        outcome_pass(out, "starts when a job is submitted");
        return;
    }
    outcome_fail(out, "auto start", "%s does not start by itself", a->name);
    outcome_why(out, "Estuary submits jobs and starts nothing: while the application is stopped "
                     "each of them would be refused.");
    outcome_fix(out, WHO_AWS_ADMIN, "Switch on automatic start. " STOPPED_FIRST);
    copy_update(out, run, a, "--auto-start-configuration enabled=true");
}

const struct check emr_check_auto_start = {
    .id = "emr.auto_start",
    .title = "starts with a job",
    .reads = READS_CHOSEN,
    .needs = NEEDS_APPLICATION,
    .severity = SEV_BLOCKS,
    .cause = "Automatic start is switched off.",
    .fix = "Switch it on.",
    .run = run_auto_start,
};

static void run_auto_stop(struct run *run, struct outcome *out)
{
    const struct emr_application *a = chosen_of(run);
    AUTO(xfree)
    char *on =
        xasprintf("--auto-stop-configuration enabled=true,idleTimeoutMinutes=%d", EMR_IDLE_MINUTES);
    if (!a->auto_stop) {
        outcome_warn(out, "%s never stops by itself", a->name);
        outcome_why(out, "Workers that are kept ready cost money until somebody stops them.");
    } else if (a->idle_minutes > 60) {
        outcome_warn(out, "stops %d min after the last job", a->idle_minutes);
        outcome_why(out, "Workers that are kept ready cost money for all that time.");
    } else {
        outcome_pass(out, "stops %d min after the last job",
                     a->idle_minutes > 0 ? a->idle_minutes : EMR_IDLE_MINUTES);
        return;
    }
    outcome_fix(out, WHO_AWS_ADMIN, "Let it stop after %d idle minutes. " STOPPED_FIRST,
                EMR_IDLE_MINUTES);
    copy_update(out, run, a, on);
}

const struct check emr_check_auto_stop = {
    .id = "emr.auto_stop",
    .title = "stops when it is idle",
    .reads = READS_CHOSEN,
    .needs = NEEDS_APPLICATION,
    .severity = SEV_WARNS,
    .cause = "Automatic stop is switched off, or waits long.",
    .fix = "Let the application stop after 15 idle minutes.",
    .run = run_auto_stop,
};

/* --- capacity --------------------------------------------------------------------------------- */

/* Workers that fit under a cap; a driver or an executor takes 4 vCPU and 16 GB unless a job says
 * otherwise. */
static long workers(const char *cpu, const char *memory)
{
    long by_cpu = strtol(cpu, NULL, 10) / EMR_WORKER_VCPU;
    long by_memory = strtol(memory, NULL, 10) / EMR_WORKER_GB;
    return by_cpu < by_memory ? by_cpu : by_memory;
}

static void run_capacity(struct run *run, struct outcome *out)
{
    const struct emr_application *a = chosen_of(run);
    const char *cpu = a != NULL ? a->max_cpu : run_text(run, "emr.max_vcpu");
    const char *memory = a != NULL ? a->max_memory : run_text(run, "emr.max_memory");
    if (cpu == NULL || memory == NULL) {
        outcome_pass(out, "no limit of its own; the account's quota of vCPUs holds");
        return;
    }
    long fit = workers(cpu, memory);
    if (fit >= 2) {
        outcome_pass(out, "%s and %s: %ld workers at once", cpu, memory, fit);
        outcome_evidence(out, "The account's quota of concurrent vCPUs (16 in a new account) holds "
                              "for all applications together.");
        return;
    }
    outcome_fail(out, "capacity", "%s and %s are too little for one job", cpu, memory);
    outcome_why(out, "A job needs a driver and an executor, 4 vCPU and 16 GB each; with less its "
                     "executors wait until it fails (ApplicationMaxCapacityExceededException).");
    if (a == NULL) {
        outcome_fix(out, WHO_YOU, "Answer 16 vCPU and 64 GB.");
        outcome_suggest(out, strtol(cpu, NULL, 10) < 8 ? "emr.max_vcpu" : "emr.max_memory",
                        strtol(cpu, NULL, 10) < 8 ? "16 vCPU" : "64 GB");
    } else {
        outcome_fix(out, WHO_AWS_ADMIN, "Raise the application's maximum capacity. " STOPPED_FIRST);
        copy_update(out, run, a, "--maximum-capacity 'cpu=16 vCPU,memory=64 GB'");
    }
}

const struct check emr_check_capacity = {
    .id = "emr.capacity",
    .title = "there is room for a job",
    .reads = (const char *const[]){"?emr.application", "?" FACT_CHOSEN, "emr.max_vcpu",
                                   "emr.max_memory", "emr.region", NULL},
    .after = (const char *const[]){"emr.chosen", NULL},
    .severity = SEV_BLOCKS,
    .cause = "The application's maximum capacity holds no driver and executor.",
    .fix = "16 vCPU and 64 GB are enough to begin with.",
    .run = run_capacity,
};
