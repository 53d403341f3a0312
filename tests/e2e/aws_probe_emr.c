/* Commands of EMR Serverless. See aws_probe.c. */
#include <stdlib.h>

#include "aws/emr.h"
#include "aws_probe.h"
#include "core/mem.h"

static void application_out(struct probe *p, const struct emr_application *a)
{
    json_pair_text(&p->w, "id", a->id);
    json_pair_text(&p->w, "name", a->name);
    json_pair_text(&p->w, "arn", a->arn);
    json_pair_text(&p->w, "state", a->state);
    json_pair_text(&p->w, "state_details", a->state_details);
    json_pair_text(&p->w, "release", a->release);
    json_pair_text(&p->w, "type", a->type);
    json_pair_text(&p->w, "architecture", a->architecture);
    json_pair_bool(&p->w, "auto_start", a->auto_start);
    json_pair_bool(&p->w, "auto_stop", a->auto_stop);
    json_pair_number(&p->w, "idle_minutes", a->idle_minutes);
    json_pair_text(&p->w, "max_cpu", a->max_cpu);
    json_pair_text(&p->w, "max_memory", a->max_memory);
    json_pair_number(&p->w, "created", (long long)a->created);
    json_pair_text(&p->w, "tag_run", a->tag_run);
    pair_names(p, "subnets", &a->subnets);
    pair_names(p, "groups", &a->groups);
}

static int application_get(struct probe *p)
{
    AUTO_EMR_APPLICATION a = {0};
    if (CALL(emr_get_application, p->word[0], &a) != 0)
        return -1;
    application_out(p, &a);
    return 0;
}

static int application_list(struct probe *p)
{
    AUTO_EMR_APPLICATIONS l = {0};
    if (emr_list_applications(p->run, &p->client, &l, p->err) != 0)
        return -1;
    json_key(&p->w, "applications");
    json_begin(&p->w, '[');
    for (size_t i = 0; i < l.count; i++) {
        json_begin(&p->w, '{');
        application_out(p, &l.list[i]);
        json_end(&p->w, '}');
    }
    json_end(&p->w, ']');
    return 0;
}

/* NAME TOKEN RELEASE SUBNETS GROUPS, or for an update ID TOKEN … */
static int application_send(struct probe *p, bool update)
{
    AUTO_AWS_NAMES subnets = {0};
    AUTO_AWS_NAMES groups = {0};
    AUTO_EMR_MADE made = {0};
    split(&subnets, p->word[3]);
    split(&groups, p->word[4]);
    const struct emr_new_application n = {.name = p->word[0],
                                          .token = p->word[1],
                                          .settings = {.release = p->word[2],
                                                       .subnets = &subnets,
                                                       .groups = &groups,
                                                       .max_cpu = "16 vCPU",
                                                       .max_memory = "64 GB",
                                                       .auto_start = true,
                                                       .auto_stop = true,
                                                       .idle_minutes = 15},
                                          .tags = &probe_tags};
    if (update)
        return CALL(emr_update_application, p->word[0], p->word[1], &n.settings);
    if (CALL(emr_create_application, &n, &made) != 0)
        return -1;
    json_pair_text(&p->w, "id", made.id);
    json_pair_text(&p->w, "arn", made.arn);
    json_pair_bool(&p->w, "untagged", made.untagged);
    return 0;
}

static int application_create(struct probe *p)
{
    return application_send(p, false);
}

static int application_update(struct probe *p)
{
    return application_send(p, true);
}

static int application_start(struct probe *p)
{
    return CALL(emr_start_application, p->word[0]);
}

static int application_stop(struct probe *p)
{
    return CALL(emr_stop_application, p->word[0]);
}

static int application_delete(struct probe *p)
{
    return CALL(emr_delete_application, p->word[0]);
}

static void job_out(struct probe *p, const struct emr_job *j)
{
    json_pair_text(&p->w, "id", j->id);
    json_pair_text(&p->w, "name", j->name);
    json_pair_text(&p->w, "role", j->role_arn);
    json_pair_text(&p->w, "state", j->state);
    json_pair_text(&p->w, "state_details", j->state_details);
}

/* APPLICATION TOKEN ROLE ENTRY-POINT */
static int job_start(struct probe *p)
{
    AUTO_AWS_NAMES arguments = {0};
    AUTO(xfree) char *job = NULL;
    bool untagged;
    aws_names_add(&arguments, "--input");
    aws_names_add(&arguments, "s3://x/ü \"y\"");
    const struct emr_new_job n = {.application = p->word[0],
                                  .token = p->word[1],
                                  .role_arn = p->word[2],
                                  .entry_point = p->word[3],
                                  .name = "probe",
                                  .arguments = &arguments,
                                  .timeout_minutes = 10,
                                  .tags = &probe_tags};
    if (CALL(emr_start_job, &n, &job, &untagged) != 0)
        return -1;
    json_pair_text(&p->w, "id", job);
    json_pair_bool(&p->w, "untagged", untagged);
    return 0;
}

static int job_get(struct probe *p)
{
    AUTO_EMR_JOB j = {0};
    if (CALL(emr_get_job, p->word[0], p->word[1], &j) != 0)
        return -1;
    job_out(p, &j);
    return 0;
}

static int job_cancel(struct probe *p)
{
    return CALL(emr_cancel_job, p->word[0], p->word[1]);
}

static int job_list(struct probe *p)
{
    AUTO_EMR_JOBS l = {0};
    if (CALL(emr_list_jobs, p->word[0], (size_t)strtoul(p->word[1], NULL, 10), &l) != 0)
        return -1;
    json_key(&p->w, "jobs");
    json_begin(&p->w, '[');
    for (size_t i = 0; i < l.count; i++) {
        json_begin(&p->w, '{');
        job_out(p, &l.list[i]);
        json_end(&p->w, '}');
    }
    json_end(&p->w, ']');
    return 0;
}

const struct probe_command probe_emr[] = {
    {"get-application", application_get},
    {"list-applications", application_list},
    {"create-application", application_create},
    {"update-application", application_update},
    {"start-application", application_start},
    {"stop-application", application_stop},
    {"delete-application", application_delete},
    {"start-job", job_start},
    {"get-job", job_get},
    {"cancel-job", job_cancel},
    {"list-jobs", job_list},
    {NULL, NULL},
};
