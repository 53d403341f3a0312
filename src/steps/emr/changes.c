/* Making the application and taking it back. It is found by name and mark, made under a token that
 * gives the same one again when an answer was lost, and waited for until it takes jobs. */
#include "steps/emr/changes.h"

#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "steps/aws/planned.h"
#include "steps/emr/emr.h"

#define PATIENCE_MS 600000 /* an application is mostly ready within seconds */
#define LOOK_FIRST_MS 1000
#define LOOK_LATER_MS 5000
#define GENERATIONS 5 /* tokens tried, while one gives back an application that was deleted */

/* --- the call as shown ------------------------------------------------------------------------ */

static void add_list(struct text *out, const struct node *list)
{
    for (size_t i = 0; list != NULL && i < list->count; i++)
        text_addf(out, "%s%s", i > 0 ? "," : "", node_text(list->items[i]));
}

char *emr_create_preview(const struct node *args)
{
    struct text t = TEXT_INIT;
    text_addf(&t, "aws emr-serverless create-application --region %s \\\n",
              aws_planned(args, "region"));
    text_addf(&t, "  --name %s --type SPARK --release-label %s \\\n  --architecture X86_64 \\\n",
              aws_planned(args, "name"), aws_planned(args, "release"));
    text_addf(&t,
              "  --auto-start-configuration enabled=true \\\n"
              "  --auto-stop-configuration enabled=true,idleTimeoutMinutes=%d \\\n",
              EMR_IDLE_MINUTES);
    text_add(&t, "  --network-configuration subnetIds=");
    add_list(&t, node_get(args, "subnets"));
    text_add(&t, ",securityGroupIds=");
    add_list(&t, node_get(args, "groups"));
    text_addf(&t, " \\\n  --maximum-capacity 'cpu=%s,memory=%s' \\\n", aws_planned(args, "cpu"),
              aws_planned(args, "memory"));
    text_addf(&t, "  --tags " AWS_TAG_RUN "=%s," AWS_TAG_STEP "=emr \\\n  --client-token %s",
              aws_planned(args, "run"), aws_planned(args, "token"));
    return text_take(&t);
}

/* --- finding ---------------------------------------------------------------------------------- */

bool emr_is_ours(const struct emr_application *a, const char *name, const char *run)
{
    return strcmp(a->name, name) == 0 && strcmp(a->state, "TERMINATED") != 0 &&
           (a->tag_run == NULL || strcmp(a->tag_run, run) == 0);
}

/* 1 and *out, 0 when there is none, -1 with err. */
static int find_ours(struct run *run, const struct aws_client *client, const struct node *args,
                     struct emr_application *out, struct problem *err)
{
    AUTO_EMR_APPLICATIONS list = {0};
    *out = (struct emr_application){0};
    if (emr_list_applications(run, client, &list, err) != 0)
        return -1;
    for (size_t i = 0; i < list.count; i++) {
        AUTO_PROBLEM why = PROBLEM_INIT;
        if (strcmp(list.list[i].name, aws_planned(args, "name")) != 0)
            continue;
        if (emr_get_application(run, client, list.list[i].id, out, &why) != 0) {
            if (why.kind == PROBLEM_MISSING)
                continue; /* gone between the two calls */
            problem_move(err, &why);
            return -1;
        }
        if (emr_is_ours(out, aws_planned(args, "name"), aws_planned(args, "run")))
            return 1;
        emr_application_release(out);
    }
    return 0;
}

static int find_application(struct run *run, const struct change *c, struct found *out,
                            struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    AUTO_EMR_APPLICATION a = {0};
    if (aws_open_planned(run, c->args, &here, err) != 0)
        return -1;
    int there = find_ours(run, &here.client, c->args, &a, err);
    if (there < 0)
        return -1;
    out->present = out->as_wanted = there == 1;
    out->id = there == 1 ? xstrdup(a.id) : NULL;
    out->saw = there == 1 ? xasprintf("application %s, %s, %s", a.id, a.release, a.state)
                          : xasprintf("no application %s", aws_planned(c->args, "name"));
    return 0;
}

/* --- making ----------------------------------------------------------------------------------- */

static void read_list(const struct node *list, struct aws_names *out)
{
    for (size_t i = 0; list != NULL && i < list->count; i++)
        aws_names_add(out, node_text(list->items[i]));
}

/* Under a token of its own for each generation: the token of an application that was deleted would
 * give that one back. */
static int create(struct run *run, const struct aws_client *client, const struct node *args,
                  int generation, struct emr_made *made, struct problem *err)
{
    AUTO_AWS_NAMES subnets = {0};
    AUTO_AWS_NAMES groups = {0};
    read_list(node_get(args, "subnets"), &subnets);
    read_list(node_get(args, "groups"), &groups);
    AUTO(xfree)
    char *token = generation == 0 ? xstrdup(aws_planned(args, "token"))
                                  : xasprintf("%s-%d", aws_planned(args, "token"), generation);
    struct aws_tags tags = {.run = aws_planned(args, "run"), .step = "emr"};
    struct emr_new_application n = {
        .name = aws_planned(args, "name"),
        .token = token,
        .settings = {.release = aws_planned(args, "release"),
                     .subnets = &subnets,
                     .groups = &groups,
                     .max_cpu = aws_planned(args, "cpu"),
                     .max_memory = aws_planned(args, "memory"),
                     .auto_start = true,
                     .auto_stop = true,
                     .idle_minutes = EMR_IDLE_MINUTES},
        .tags = &tags,
    };
    return emr_create_application(run, client, &n, made, err);
}

static bool is_gone(struct run *run, const struct aws_client *client, const char *id)
{
    AUTO_EMR_APPLICATION a = {0};
    return emr_get_application(run, client, id, &a, NULL) == 0 &&
           strcmp(a.state, "TERMINATED") == 0;
}

static int make_application(struct run *run, const struct change *c, struct made *out,
                            struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    if (aws_open_planned(run, c->args, &here, err) != 0)
        return -1;
    if (node_get_text(c->args, "token") == NULL) { /* it was to be taken over, and is gone */
        problem_fail(err, PROBLEM_MISSING, "gone", "application %s is no longer there",
                     aws_planned(c->args, "name"));
        problem_fix(err, WHO_YOU, "Look at the plan again: it will make one.");
        return -1;
    }
    for (int generation = 0; generation < GENERATIONS; generation++) {
        AUTO_EMR_MADE made = {0};
        if (create(run, &here.client, c->args, generation, &made, err) != 0)
            return -1;
        if (made.untagged)
            run_log(run, "made without tags: emr-serverless:TagResource is denied");
        if (generation + 1 < GENERATIONS && is_gone(run, &here.client, made.id))
            continue;
        out->id = xstrdup(made.id);
        out->give_text = xstrdup(made.id);
        break;
    }
    return 0;
}

/* --- waiting ---------------------------------------------------------------------------------- */

static bool is_one_of(const char *state, const char *const *states)
{
    for (; *states != NULL; states++)
        if (strcmp(state, *states) == 0)
            return true;
    return false;
}

static const char *const usable[] = {"CREATED", "STARTED", "STARTING", "STOPPING", "STOPPED", NULL};
static const char *const ended[] = {"TERMINATED", NULL};
static const char *const still[] = {"CREATED", "STOPPED", "TERMINATED", NULL};

/* Until the application is in one of the states, or TERMINATED; *out is the last look. */
static int wait_for(struct run *run, const struct aws_client *client, const char *id,
                    const char *const *states, struct emr_application *out, struct problem *err)
{
    int64_t began = clock_ms();
    for (;;) {
        emr_application_release(out);
        if (emr_get_application(run, client, id, out, err) != 0)
            return -1;
        if (is_one_of(out->state, states) || is_one_of(out->state, ended))
            return 0;
        int64_t waited = clock_ms() - began;
        AUTO(xfree)
        char *doing = xasprintf("%s, %lld s", out->state, (long long)(waited / 1000));
        run_progress(run, 0, 0, doing);
        if (run_sleep(run, waited < 10000 ? LOOK_FIRST_MS : LOOK_LATER_MS, err) != 0)
            return -1;
    }
}

static int await_application(struct run *run, const struct change *c, struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    AUTO_EMR_APPLICATION a = {0};
    const char *id = run_text(run, "emr.application");
    if (aws_here_open(run, &here, err) != 0 ||
        wait_for(run, &here.client, id, usable, &a, err) != 0)
        return -1;
    if (is_one_of(a.state, usable))
        return 0;
    problem_fail(err, PROBLEM_CONFLICT, "TERMINATED", "%s ended as TERMINATED", c->title);
    problem_why(err, "%s", a.state_details != NULL ? a.state_details : "AWS gives no reason.");
    problem_fix(err, WHO_YOU, "Settle the cause, clear the answer emr.application, apply again.");
    problem_copy_command(err, "sluice state set emr.application ''");
    return -1;
}

/* --- taking back ------------------------------------------------------------------------------ */

/* Jobs keep an application from being stopped. */
static int cancel_jobs(struct run *run, const struct aws_client *client, const char *id,
                       struct problem *err)
{
    static const char *const over[] = {"SUCCESS", "FAILED", "CANCELLED", "CANCELLING", NULL};
    AUTO_EMR_JOBS jobs = {0};
    if (emr_list_jobs(run, client, id, 50, &jobs, err) != 0)
        return -1;
    for (size_t i = 0; i < jobs.count; i++)
        if (!is_one_of(jobs.list[i].state, over) &&
            emr_cancel_job(run, client, id, jobs.list[i].id, err) != 0)
            return -1;
    return 0;
}

/* A stop is refused while cancelled jobs are still ending. */
static int stop_application(struct run *run, const struct aws_client *client, const char *id,
                            struct problem *err)
{
    for (;;) {
        AUTO_PROBLEM why = PROBLEM_INIT;
        if (emr_stop_application(run, client, id, &why) == 0)
            return 0;
        bool busy = why.kind == PROBLEM_INPUT || why.kind == PROBLEM_CONFLICT;
        if (busy)
            run_progress(run, 0, 0, "waits for its jobs to end");
        if (!busy || run_sleep(run, LOOK_FIRST_MS, NULL) != 0) {
            problem_move(err, &why);
            return -1;
        }
    }
}

static int remove_application(struct run *run, const struct aws_client *client,
                              struct emr_application *a, struct problem *err)
{
    AUTO(xfree) char *id = xstrdup(a->id);
    if (strcmp(a->state, "CREATING") == 0 && wait_for(run, client, id, usable, a, err) != 0)
        return -1;
    if (!is_one_of(a->state, still) &&
        (cancel_jobs(run, client, id, err) != 0 || stop_application(run, client, id, err) != 0 ||
         wait_for(run, client, id, still, a, err) != 0))
        return -1;
    if (!is_one_of(a->state, ended) && emr_delete_application(run, client, id, err) != 0)
        return -1;
    return wait_for(run, client, id, ended, a, err);
}

/* Only the one that bears our name and no other's mark; when it is gone already all is well. */
static int undo_application(struct run *run, const struct change *c, struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    AUTO_EMR_APPLICATION a = {0};
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (aws_open_planned(run, c->args, &here, err) != 0)
        return -1;
    int there = find_ours(run, &here.client, c->args, &a, err);
    if (there <= 0)
        return there;
    if (remove_application(run, &here.client, &a, &why) == 0 || why.kind == PROBLEM_MISSING)
        return 0;
    problem_move(err, &why);
    return -1;
}

static char *undo_text(const struct change *c)
{
    const char *region = aws_planned(c->args, "region");
    return xasprintf("its jobs are cancelled, then\n"
                     "aws emr-serverless stop-application --region %s --application-id (%s)\n"
                     "aws emr-serverless delete-application --region %s --application-id (%s)",
                     region, aws_planned(c->args, "name"), region, aws_planned(c->args, "name"));
}

const struct change_kind emr_kind_application = {
    .id = "emr.application",
    .label = "EMR Serverless application",
    .deadline_ms = PATIENCE_MS,
    .find = find_application,
    .send = make_application,
    .ready = await_application,
    .undo = undo_application,
    .undo_text = undo_text,
};

const struct change_kind *const emr_kinds[] = {&emr_kind_application, NULL};
