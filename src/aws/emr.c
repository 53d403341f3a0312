/* AWS EMR Serverless: applications. See emr.h. */
#include "aws/emr.h"

#include <stdlib.h>
#include <string.h>

#include "aws/emr_call.h"
#include "core/mem.h"

/* --- one call --------------------------------------------------------------------------------- */

static int add_id(struct aws_call *call, const char *id, struct problem *err)
{
    if (id[0] == '\0' || strlen(id) > 64 ||
        id[strspn(id, "0123456789abcdefghijklmnopqrstuvwxyz")] != '\0') {
        problem_fail(err, PROBLEM_INPUT, "id", "“%s” is no id of EMR Serverless", id);
        problem_fix(err, WHO_YOU, "copy the id from the console: lower-case letters and digits");
        return -1;
    }
    text_addf(&call->path, "/%s", id);
    return 0;
}

int emr_call_init(struct aws_call *call, const char *action, const char *method, const char *id,
                  const char *rest, const char *job, struct problem *err)
{
    aws_call_init(call, &aws_emr, action);
    call->method = method;
    text_add(&call->path, "/applications");
    if (id != NULL && add_id(call, id, err) != 0)
        return -1;
    text_add(&call->path, rest);
    return job != NULL ? add_id(call, job, err) : 0;
}

void emr_write_tags(struct json_writer *w, const struct aws_tags *tags)
{
    if (tags == NULL)
        return;
    json_key(w, "tags");
    json_begin(w, '{');
    json_pair_text(w, AWS_TAG_RUN, tags->run);
    json_pair_text(w, AWS_TAG_STEP, tags->step);
    json_end(w, '}');
}

char *emr_arn(const char *partition, const char *region, const char *account, const char *id)
{
    return xasprintf("arn:%s:emr-serverless:%s:%s:/applications/%s", partition, region, account,
                     id);
}

/* --- reading ---------------------------------------------------------------------------------- */

void emr_application_release(struct emr_application *a)
{
    char **texts[] = {&a->id,       &a->name,   &a->arn,          &a->state,   &a->state_details,
                      &a->release,  &a->type,   &a->architecture, &a->max_cpu, &a->max_memory,
                      &a->max_disk, &a->tag_run};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        xfree(*texts[i]);
    aws_names_release(&a->subnets);
    aws_names_release(&a->groups);
    *a = (struct emr_application){0};
}

void emr_applications_release(struct emr_applications *a)
{
    for (size_t i = 0; i < a->count; i++)
        emr_application_release(&a->list[i]);
    xfree(a->list);
    *a = (struct emr_applications){0};
}

static void read_names(struct aws_names *out, const cJSON *array)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, array) aws_names_add(out, cJSON_GetStringValue(item));
}

static bool is_on(const cJSON *o, const char *key)
{
    return cJSON_IsTrue(json_member(o, key));
}

/* A time with more digits than a double holds comes as a string of them (core/json.h). */
static int64_t seconds_of(const cJSON *o, const char *key)
{
    const char *digits = json_text(o, key);
    double v = digits != NULL ? strtod(digits, NULL) : json_number(o, key, 0);
    return v > 0 && v < 1e11 ? (int64_t)v : 0;
}

/* Of a get and, with fewer members and `id` for `applicationId`, of a list. */
static int read_application(const cJSON *o, struct emr_application *out)
{
    const char *id = json_text(o, "applicationId");
    id = id != NULL ? id : json_text(o, "id");
    const char *state = json_text(o, "state");
    *out = (struct emr_application){0};
    if (id == NULL || state == NULL)
        return -1;
    const cJSON *network = json_member(o, "networkConfiguration");
    const cJSON *most = json_member(o, "maximumCapacity");
    const cJSON *stop = json_member(o, "autoStopConfiguration");
    const char *architecture = json_text(o, "architecture");
    *out = (struct emr_application){
        .id = xstrdup(id),
        .name = xstrdup(json_text(o, "name") != NULL ? json_text(o, "name") : ""),
        .arn = xstrdup(json_text(o, "arn")),
        .state = xstrdup(state),
        .state_details = xstrdup(json_text(o, "stateDetails")),
        .release =
            xstrdup(json_text(o, "releaseLabel") != NULL ? json_text(o, "releaseLabel") : ""),
        .type = xstrdup(json_text(o, "type") != NULL ? json_text(o, "type") : ""),
        .architecture = xstrdup(architecture != NULL ? architecture : "X86_64"),
        .auto_start = is_on(json_member(o, "autoStartConfiguration"), "enabled"),
        .auto_stop = is_on(stop, "enabled"),
        .idle_minutes = (int)json_number(stop, "idleTimeoutMinutes", 0),
        .max_cpu = xstrdup(json_text(most, "cpu")),
        .max_memory = xstrdup(json_text(most, "memory")),
        .max_disk = xstrdup(json_text(most, "disk")),
        .created = seconds_of(o, "createdAt"),
        .tag_run = xstrdup(json_text(json_member(o, "tags"), AWS_TAG_RUN))};
    read_names(&out->subnets, json_member(network, "subnetIds"));
    read_names(&out->groups, json_member(network, "securityGroupIds"));
    return 0;
}

int emr_get_application(struct run *run, const struct aws_client *client, const char *id,
                        struct emr_application *out, struct problem *err)
{
    AUTO_AWS_CALL call;
    AUTO_AWS_ANSWER a = {0};
    *out = (struct emr_application){0};
    if (emr_call_init(&call, "GetApplication", "GET", id, NULL, NULL, err) != 0 ||
        aws_send(run, client, &call, &a, err) != 0)
        return -1;
    if (read_application(json_member(a.json, "application"), out) != 0)
        return aws_lacks("GetApplication", "application with id and state", err);
    return 0;
}

static int list_page(struct run *run, const struct aws_client *client, const char *token,
                     struct aws_answer *a, struct problem *err)
{
    AUTO_AWS_CALL call;
    *a = (struct aws_answer){0};
    if (emr_call_init(&call, "ListApplications", "GET", NULL, NULL, NULL, err) != 0)
        return -1;
    aws_query(&call, "maxResults", "50");
    if (token != NULL)
        aws_query(&call, "nextToken", token);
    return aws_send(run, client, &call, a, err);
}

int emr_list_applications(struct run *run, const struct aws_client *client,
                          struct emr_applications *out, struct problem *err)
{
    AUTO_AWS_PAGES pages = {0};
    int more;
    *out = (struct emr_applications){0};
    do {
        AUTO_AWS_ANSWER a;
        more = list_page(run, client, pages.token, &a, err);
        if (more == 0 && !cJSON_IsArray(json_member(a.json, "applications")))
            more = aws_lacks("ListApplications", "applications", err);
        const cJSON *row;
        cJSON_ArrayForEach(row, json_member(a.json, "applications"))
        {
            struct emr_application one;
            if (read_application(row, &one) != 0)
                continue;
            if (strcmp(one.state, "TERMINATED") == 0) {
                emr_application_release(&one);
                continue;
            }
            out->list = aws_grow(out->list, out->count, sizeof(*out->list));
            out->list[out->count++] = one;
        }
        if (more == 0)
            more = aws_pages_more(&pages, json_text(a.json, "nextToken"), "ListApplications", err);
    } while (more == 1);
    if (more != 0)
        emr_applications_release(out);
    return more;
}

/* --- making and changing ---------------------------------------------------------------------- */

void emr_made_release(struct emr_made *m)
{
    xfree(m->id);
    xfree(m->arn);
    *m = (struct emr_made){0};
}

static void write_names(struct json_writer *w, const char *key, const struct aws_names *n)
{
    json_key(w, key);
    json_begin(w, '[');
    for (size_t i = 0; n != NULL && i < n->count; i++)
        json_add_text(w, n->list[i]);
    json_end(w, ']');
}

static void write_settings(struct json_writer *w, const struct emr_settings *s)
{
    json_pair_text(w, "releaseLabel", s->release);
    json_pair_text(w, "architecture", "X86_64");
    json_key(w, "autoStartConfiguration");
    json_begin(w, '{');
    json_pair_bool(w, "enabled", s->auto_start);
    json_end(w, '}');
    json_key(w, "autoStopConfiguration");
    json_begin(w, '{');
    json_pair_bool(w, "enabled", s->auto_stop);
    if (s->auto_stop && s->idle_minutes > 0)
        json_pair_number(w, "idleTimeoutMinutes", s->idle_minutes);
    json_end(w, '}');
    if (s->subnets != NULL && s->subnets->count > 0) {
        json_key(w, "networkConfiguration");
        json_begin(w, '{');
        write_names(w, "subnetIds", s->subnets);
        write_names(w, "securityGroupIds", s->groups);
        json_end(w, '}');
    }
    if (s->max_cpu != NULL && s->max_memory != NULL) {
        json_key(w, "maximumCapacity");
        json_begin(w, '{');
        json_pair_text(w, "cpu", s->max_cpu);
        json_pair_text(w, "memory", s->max_memory);
        json_end(w, '}');
    }
}

static int create(struct run *run, const struct aws_client *client,
                  const struct emr_new_application *n, const struct aws_tags *tags,
                  struct emr_made *out, struct problem *err)
{
    AUTO_AWS_CALL call;
    AUTO_AWS_ANSWER a = {0};
    if (emr_call_init(&call, "CreateApplication", "POST", NULL, NULL, NULL, err) != 0)
        return -1;
    call.idempotent = true; /* by its token */
    struct json_writer w = {.out = &call.body};
    json_begin(&w, '{');
    json_pair_text(&w, "name", n->name);
    json_pair_text(&w, "type", "SPARK");
    json_pair_text(&w, "clientToken", n->token);
    write_settings(&w, &n->settings);
    emr_write_tags(&w, tags);
    json_end(&w, '}');
    if (aws_send(run, client, &call, &a, err) != 0)
        return -1;
    const char *id = json_text(a.json, "applicationId");
    if (id == NULL)
        return aws_lacks("CreateApplication", "applicationId", err);
    out->id = xstrdup(id);
    out->arn = xstrdup(json_text(a.json, "arn"));
    return 0;
}

int emr_create_application(struct run *run, const struct aws_client *client,
                           const struct emr_new_application *n, struct emr_made *out,
                           struct problem *err)
{
    AUTO_PROBLEM tagged = PROBLEM_INIT;
    *out = (struct emr_made){0};
    if (create(run, client, n, n->tags, out, &tagged) == 0)
        return 0;
    if (n->tags == NULL || tagged.kind != PROBLEM_DENIED) {
        problem_move(err, &tagged);
        return -1;
    }
    if (create(run, client, n, NULL, out, err) != 0)
        return -1;
    out->untagged = true;
    return 0;
}

int emr_update_application(struct run *run, const struct aws_client *client, const char *id,
                           const char *token, const struct emr_settings *s, struct problem *err)
{
    AUTO_AWS_CALL call;
    AUTO_AWS_ANSWER a = {0};
    if (emr_call_init(&call, "UpdateApplication", "PATCH", id, NULL, NULL, err) != 0)
        return -1;
    call.idempotent = true;
    struct json_writer w = {.out = &call.body};
    json_begin(&w, '{');
    json_pair_text(&w, "clientToken", token);
    write_settings(&w, s);
    json_end(&w, '}');
    return aws_send(run, client, &call, &a, err);
}

static int plain(struct run *run, const struct aws_client *client, const char *action,
                 const char *method, const char *id, const char *rest, bool idempotent,
                 struct problem *err)
{
    AUTO_AWS_CALL call;
    AUTO_AWS_ANSWER a = {0};
    if (emr_call_init(&call, action, method, id, rest, NULL, err) != 0)
        return -1;
    call.idempotent = idempotent;
    return aws_send(run, client, &call, &a, err);
}

int emr_start_application(struct run *run, const struct aws_client *client, const char *id,
                          struct problem *err)
{
    return plain(run, client, "StartApplication", "POST", id, "/start", true, err);
}

int emr_stop_application(struct run *run, const struct aws_client *client, const char *id,
                         struct problem *err)
{
    return plain(run, client, "StopApplication", "POST", id, "/stop", true, err);
}

int emr_delete_application(struct run *run, const struct aws_client *client, const char *id,
                           struct problem *err)
{
    return plain(run, client, "DeleteApplication", "DELETE", id, NULL, false, err);
}
