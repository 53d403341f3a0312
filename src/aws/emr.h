/* AWS EMR Serverless: applications and job runs. */
#ifndef SLUICE_AWS_EMR_H
#define SLUICE_AWS_EMR_H

#include "aws/ask.h"

struct emr_application {
    char *id, *name, *arn;
    char *state; /* CREATING CREATED STARTING STARTED STOPPING STOPPED TERMINATED */
    char *state_details;
    char *release;      /* "emr-7.12.0" */
    char *type;         /* "Spark": sent in capitals, read otherwise; compare without case */
    char *architecture; /* "X86_64", also when AWS leaves it out */
    bool auto_start, auto_stop;
    int idle_minutes; /* of auto stop */
    struct aws_names subnets, groups;
    char *max_cpu, *max_memory, *max_disk; /* "16 vCPU", "64 GB"; NULL = no cap */
    int64_t created;                       /* wall seconds; 0 unknown */
    char *tag_run;                         /* NULL none */
};
void emr_application_release(struct emr_application *a);
#define AUTO_EMR_APPLICATION                                                                       \
    __attribute__((cleanup(emr_application_release))) struct emr_application

struct emr_applications {
    size_t count;
    struct emr_application *list; /* without network, capacity and tags: those need a get */
};
void emr_applications_release(struct emr_applications *a);
#define AUTO_EMR_APPLICATIONS                                                                      \
    __attribute__((cleanup(emr_applications_release))) struct emr_applications

struct emr_settings { /* borrowed; what a create or an update sends */
    const char *release;
    const struct aws_names *subnets, *groups; /* NULL or empty = no network */
    const char *max_cpu, *max_memory;         /* "16 vCPU", "64 GB"; NULL = no cap */
    bool auto_start, auto_stop;
    int idle_minutes; /* 1 to 10080 */
};
struct emr_new_application { /* borrowed */
    const char *name;        /* at most 64 of [A-Za-z0-9._/#-] */
    const char *token;       /* at most 64 of [A-Za-z0-9._-]; stored before the call */
    struct emr_settings settings;
    const struct aws_tags *tags; /* NULL none */
};
struct emr_made {
    char *id, *arn;
    bool untagged; /* tags were asked for and denied */
};
void emr_made_release(struct emr_made *m);
#define AUTO_EMR_MADE __attribute__((cleanup(emr_made_release))) struct emr_made
/* Spark on x86_64. The same token gives the same application, so it is repeated when an answer is
 * lost. */
int emr_create_application(struct run *run, const struct aws_client *client,
                           const struct emr_new_application *n, struct emr_made *out,
                           struct problem *err);
/* PROBLEM_MISSING "ResourceNotFoundException"; one that was deleted is found as TERMINATED. */
int emr_get_application(struct run *run, const struct aws_client *client, const char *id,
                        struct emr_application *out, struct problem *err);
/* Without those that are TERMINATED. */
int emr_list_applications(struct run *run, const struct aws_client *client,
                          struct emr_applications *out, struct problem *err);
/* Only in CREATED or STOPPED: else PROBLEM_INPUT or CONFLICT. */
int emr_update_application(struct run *run, const struct aws_client *client, const char *id,
                           const char *token, const struct emr_settings *s, struct problem *err);
int emr_start_application(struct run *run, const struct aws_client *client, const char *id,
                          struct problem *err);
int emr_stop_application(struct run *run, const struct aws_client *client, const char *id,
                         struct problem *err);
/* Only in CREATED or STOPPED. */
int emr_delete_application(struct run *run, const struct aws_client *client, const char *id,
                           struct problem *err);
/* "arn:aws:emr-serverless:us-east-1:123456789012:/applications/ID" (a slash after the colon);
 * xfree.
 */
char *emr_arn(const char *partition, const char *region, const char *account, const char *id);

/* --- job runs (aws/emr_jobs.c) ---------------------------------------------------------------- */

struct emr_new_job { /* borrowed */
    const char *application, *token, *role_arn, *name;
    const char *entry_point;           /* s3://…/script.py */
    const struct aws_names *arguments; /* NULL none */
    const char *parameters;            /* sparkSubmitParameters; NULL none */
    int timeout_minutes;               /* 5 at least */
    const struct aws_tags *tags;       /* NULL none */
};
/* *job: xfree. Tags that are denied are left out (*untagged, may be NULL). */
int emr_start_job(struct run *run, const struct aws_client *client, const struct emr_new_job *n,
                  char **job, bool *untagged, struct problem *err);
struct emr_job {
    char *id, *name, *role_arn;
    char
        *state; /* SUBMITTED PENDING SCHEDULED RUNNING SUCCESS FAILED CANCELLING CANCELLED QUEUED */
    char *state_details;
};
void emr_job_release(struct emr_job *j);
#define AUTO_EMR_JOB __attribute__((cleanup(emr_job_release))) struct emr_job
int emr_get_job(struct run *run, const struct aws_client *client, const char *application,
                const char *job, struct emr_job *out, struct problem *err);
int emr_cancel_job(struct run *run, const struct aws_client *client, const char *application,
                   const char *job, struct problem *err);
struct emr_jobs {
    size_t count;
    struct emr_job *list;
};
void emr_jobs_release(struct emr_jobs *j);
#define AUTO_EMR_JOBS __attribute__((cleanup(emr_jobs_release))) struct emr_jobs
/* The newest, at most `most`; with 1 it is the call that Estuary's connector makes first. An
 * application without runs gives none. */
int emr_list_jobs(struct run *run, const struct aws_client *client, const char *application,
                  size_t most, struct emr_jobs *out, struct problem *err);
#endif
