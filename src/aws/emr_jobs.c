/* AWS EMR Serverless: job runs. See emr.h. */
#include <stdio.h>
#include <string.h>

#include "aws/emr_call.h"
#include "core/mem.h"

void emr_job_release(struct emr_job *j)
{
    xfree(j->id);
    xfree(j->name);
    xfree(j->role_arn);
    xfree(j->state);
    xfree(j->state_details);
    *j = (struct emr_job){0};
}

void emr_jobs_release(struct emr_jobs *j)
{
    for (size_t i = 0; i < j->count; i++)
        emr_job_release(&j->list[i]);
    xfree(j->list);
    *j = (struct emr_jobs){0};
}

static void write_driver(struct json_writer *w, const struct emr_new_job *n)
{
    json_key(w, "jobDriver");
    json_begin(w, '{');
    json_key(w, "sparkSubmit");
    json_begin(w, '{');
    json_pair_text(w, "entryPoint", n->entry_point);
    json_key(w, "entryPointArguments");
    json_begin(w, '[');
    for (size_t i = 0; n->arguments != NULL && i < n->arguments->count; i++)
        json_add_text(w, n->arguments->list[i]);
    json_end(w, ']');
    if (n->parameters != NULL)
        json_pair_text(w, "sparkSubmitParameters", n->parameters);
    json_end(w, '}');
    json_end(w, '}');
}

static int start(struct run *run, const struct aws_client *client, const struct emr_new_job *n,
                 const struct aws_tags *tags, char **job, struct problem *err)
{
    AUTO_AWS_CALL call;
    AUTO_AWS_ANSWER a = {0};
    if (emr_call_init(&call, "StartJobRun", "POST", n->application, "/jobruns", NULL, err) != 0)
        return -1;
    call.idempotent = true; /* by its token */
    struct json_writer w = {.out = &call.body};
    json_begin(&w, '{');
    json_pair_text(&w, "clientToken", n->token);
    json_pair_text(&w, "executionRoleArn", n->role_arn);
    json_pair_text(&w, "name", n->name);
    json_pair_number(&w, "executionTimeoutMinutes", n->timeout_minutes);
    write_driver(&w, n);
    emr_write_tags(&w, tags);
    json_end(&w, '}');
    if (aws_send(run, client, &call, &a, err) != 0)
        return -1;
    const char *id = json_text(a.json, "jobRunId");
    if (id == NULL)
        return aws_lacks("StartJobRun", "jobRunId", err);
    *job = xstrdup(id);
    return 0;
}

int emr_start_job(struct run *run, const struct aws_client *client, const struct emr_new_job *n,
                  char **job, bool *untagged, struct problem *err)
{
    AUTO_PROBLEM tagged = PROBLEM_INIT;
    if (untagged != NULL)
        *untagged = false;
    if (start(run, client, n, n->tags, job, &tagged) == 0)
        return 0;
    if (n->tags == NULL || tagged.kind != PROBLEM_DENIED) {
        problem_move(err, &tagged);
        return -1;
    }
    if (start(run, client, n, NULL, job, err) != 0)
        return -1;
    if (untagged != NULL)
        *untagged = true;
    return 0;
}

static int read_job(const cJSON *o, struct emr_job *out)
{
    const char *id = json_text(o, "jobRunId");
    id = id != NULL ? id : json_text(o, "id");
    const char *state = json_text(o, "state");
    *out = (struct emr_job){0};
    if (id == NULL || state == NULL)
        return -1;
    *out = (struct emr_job){.id = xstrdup(id),
                            .name = xstrdup(json_text(o, "name")),
                            .role_arn = xstrdup(json_text(o, "executionRole")),
                            .state = xstrdup(state),
                            .state_details = xstrdup(json_text(o, "stateDetails"))};
    return 0;
}

int emr_get_job(struct run *run, const struct aws_client *client, const char *application,
                const char *job, struct emr_job *out, struct problem *err)
{
    AUTO_AWS_CALL call;
    AUTO_AWS_ANSWER a = {0};
    *out = (struct emr_job){0};
    if (emr_call_init(&call, "GetJobRun", "GET", application, "/jobruns", job, err) != 0 ||
        aws_send(run, client, &call, &a, err) != 0)
        return -1;
    if (read_job(json_member(a.json, "jobRun"), out) != 0)
        return aws_lacks("GetJobRun", "jobRun with id and state", err);
    return 0;
}

int emr_cancel_job(struct run *run, const struct aws_client *client, const char *application,
                   const char *job, struct problem *err)
{
    AUTO_AWS_CALL call;
    AUTO_AWS_ANSWER a = {0};
    if (emr_call_init(&call, "CancelJobRun", "DELETE", application, "/jobruns", job, err) != 0)
        return -1;
    call.idempotent = true;
    return aws_send(run, client, &call, &a, err);
}

static int jobs_page(struct run *run, const struct aws_client *client, const char *application,
                     size_t most, const char *token, struct aws_answer *a, struct problem *err)
{
    AUTO_AWS_CALL call;
    char results[24];
    *a = (struct aws_answer){0};
    snprintf(results, sizeof(results), "%zu", most < 50 ? most : (size_t)50);
    if (emr_call_init(&call, "ListJobRuns", "GET", application, "/jobruns", NULL, err) != 0)
        return -1;
    aws_query(&call, "maxResults", results);
    if (token != NULL)
        aws_query(&call, "nextToken", token);
    return aws_send(run, client, &call, a, err);
}

int emr_list_jobs(struct run *run, const struct aws_client *client, const char *application,
                  size_t most, struct emr_jobs *out, struct problem *err)
{
    AUTO_AWS_PAGES pages = {0};
    int more;
    *out = (struct emr_jobs){0};
    do {
        AUTO_AWS_ANSWER a;
        more = jobs_page(run, client, application, most, pages.token, &a, err);
        if (more == 0 && !cJSON_IsArray(json_member(a.json, "jobRuns")))
            more = aws_lacks("ListJobRuns", "jobRuns", err);
        const cJSON *row;
        cJSON_ArrayForEach(row, json_member(a.json, "jobRuns"))
        {
            struct emr_job one;
            if (out->count == most || read_job(row, &one) != 0)
                continue;
            out->list = aws_grow(out->list, out->count, sizeof(*out->list));
            out->list[out->count++] = one;
        }
        if (more == 0 && out->count < most)
            more = aws_pages_more(&pages, json_text(a.json, "nextToken"), "ListJobRuns", err);
    } while (more == 1);
    if (more != 0)
        emr_jobs_release(out);
    return more;
}
