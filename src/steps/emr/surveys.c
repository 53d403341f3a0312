/* What AWS says: who calls, which applications there are, the chosen one, the network. */
#include <stdlib.h>
#include <string.h>

#include "aws/service.h"
#include "aws/sts.h"
#include "core/clock.h"
#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "steps/emr/emr.h"
#include "steps/emr/network.h"

#define SERVICE "aws"
#define ASKING_MS 45000
#define EXPIRES_SOON_S 900 /* an apply takes minutes */
#define MARKED_MAX 3       /* applications of our name whose tags are read */

/* --- who calls -------------------------------------------------------------------------------- */

/* "1234 5678 9012" as AWS's console writes it. */
static char *account_shown(const char *account)
{
    return strlen(account) == 12 ? xasprintf("%.4s %.4s %.4s", account, account + 4, account + 8)
                                 : xstrdup(account);
}

static const char *kind_words(enum sts_kind kind)
{
    static const char *const words[] = {
        [STS_USER] = "user",
        [STS_ROLE] = "role",
        [STS_ROOT] = "the root user",
        [STS_OTHER] = "",
        [STS_FEDERATED] = "federated user",
    };
    return words[kind];
}

/* Both are read by tools of AWS, not by all of them in this order. */
static void note_regions(struct outcome *out, const struct aws_here *here)
{
    const char *a = getenv("AWS_REGION"), *b = getenv("AWS_DEFAULT_REGION");
    bool differ = a != NULL && b != NULL && *a != '\0' && *b != '\0' && strcmp(a, b) != 0;
    outcome_evidence(out, "credentials: %s%s%s%s%s", here->credentials.source,
                     differ ? "\nAWS_REGION and AWS_DEFAULT_REGION differ: " : "", differ ? a : "",
                     differ ? ", " : "", differ ? b : "");
}

static void judge_identity(struct outcome *out, const struct sts_identity *who,
                           const struct aws_here *here, bool overridden)
{
    AUTO(xfree) char *account = account_shown(who->account);
    AUTO(xfree)
    char *line =
        xasprintf("account %s · %s · as %s%s%s%s", account, here->client.region, who->name,
                  who->kind == STS_USER || who->kind == STS_ROLE ? ", a " : "",
                  who->kind == STS_USER || who->kind == STS_ROLE ? kind_words(who->kind) : "",
                  overridden ? " · endpoint overridden" : "");
    int64_t left = here->credentials.expires - clock_wall();
    if (here->credentials.expires != 0 && left < EXPIRES_SOON_S) {
        outcome_warn(out, "%s · these keys expire in %lld min", line,
                     (long long)(left > 0 ? left / 60 : 0));
        outcome_why(out, "Making everything takes some minutes, and is better not interrupted.");
        outcome_fix(out, WHO_YOU, "Renew the session, then start sluice again.");
    } else if (who->kind == STS_ROOT) {
        outcome_warn(out, "%s", line);
        outcome_why(out, "These are keys of the account's owner, who may do everything.");
        outcome_fix(out, WHO_AWS_ADMIN, "Make a user or role for this, and delete the root keys.");
    } else {
        outcome_pass(out, "%s", line);
    }
}

static void run_identity(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_AWS_HERE here = {0};
    AUTO_STS_IDENTITY who = {0};
    if (aws_here_open(run, &here, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    outcome_tried(out, "GetCallerIdentity in %s with the keys of %s", here.client.region,
                  here.credentials.source);
    if (sts_get_caller_identity(run, &here.client, &who, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    struct aws_identity identity = {.account = who.account,
                                    .partition = who.partition,
                                    .arn = who.arn,
                                    .region = here.credentials.region,
                                    .source = here.credentials.source,
                                    .overridden = aws_endpoints_overridden()};
    judge_identity(out, &who, &here, identity.overridden);
    note_regions(out, &here);
    outcome_give(out, FACT_IDENTITY, aws_identity_fact(&identity));
}

const struct check emr_check_identity = {
    .id = "emr.identity",
    .title = "who calls AWS",
    .reads = (const char *const[]){READS_AWS, NULL},
    .gives = (const char *const[]){FACT_IDENTITY, NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_READS,
    .service = SERVICE,
    .deadline_ms = ASKING_MS,
    .cause = "No keys were found, they are wrong, deleted or expired, the clock is off, or the "
             "region is not switched on for the account.",
    .fix = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile that has keys.",
    .run = run_identity,
};

/* --- applications ----------------------------------------------------------------------------- */

/* A list says nothing of tags: of those that bear our name they are read. */
static void read_marks(struct run *run, const struct aws_client *client, const char *pipeline,
                       struct emr_applications *list)
{
    AUTO(xfree) char *ours = xasprintf("sluice-%s", pipeline);
    int read = 0;
    for (size_t i = 0; i < list->count && read < MARKED_MAX; i++) {
        struct emr_application whole;
        if (strcmp(list->list[i].name, ours) != 0)
            continue;
        read++;
        if (emr_get_application(run, client, list->list[i].id, &whole, NULL) != 0)
            continue;
        emr_application_release(&list->list[i]);
        list->list[i] = whole;
    }
}

static void list_items(struct outcome *out, const struct emr_applications *list)
{
    size_t fit = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct emr_application *a = &list->list[i];
        const char *refusal = emr_refusal(a);
        AUTO(xfree)
        char *line = xasprintf("%s, %s, %s%s%s", a->name, a->release, a->architecture,
                               refusal != NULL ? ": " : "", refusal != NULL ? refusal : "");
        fit += refusal == NULL;
        outcome_item(out, STATUS_PASSED, a->id, line, NULL);
    }
    if (list->count == 0)
        outcome_pass(out, "none yet in this region");
    else
        outcome_pass(out, "%zu, of which %zu could be used", list->count, fit);
}

static void run_applications(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_AWS_HERE here = {0};
    AUTO_EMR_APPLICATIONS list = {0};
    if (aws_here_open(run, &here, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    outcome_tried(out, "ListApplications in %s", here.client.region);
    if (emr_list_applications(run, &here.client, &list, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    read_marks(run, &here.client, run_text(run, "start.name"), &list);
    list_items(out, &list);
    outcome_give(out, FACT_LIST, emr_list_fact(&list));
}

const struct check emr_check_applications = {
    .id = "emr.applications",
    .title = "applications of the region",
    .reads = (const char *const[]){READS_AWS, "start.name", NULL},
    .gives = (const char *const[]){FACT_LIST, NULL},
    .after = (const char *const[]){"emr.identity", NULL},
    .severity = SEV_WARNS,
    .effect = EFFECT_READS,
    .service = SERVICE,
    .deadline_ms = ASKING_MS,
    .cause = "emr-serverless:ListApplications is denied; it can only be granted on all resources.",
    .fix = "Type the application's id; to have one made, get the permission.",
    .run = run_applications,
};

/* --- the chosen one --------------------------------------------------------------------------- */

static void not_there(struct run *run, struct outcome *out, const struct problem *err)
{
    const struct aws_identity *who = run_fact(run, FACT_IDENTITY, &aws_identity_type);
    outcome_fail(out, err->code, "there is no application %s in %s of account %s",
                 run_text(run, "emr.application"), who->region, who->account);
    outcome_why(out, "It was deleted, or belongs to another region or account.");
    outcome_fix(out, WHO_YOU,
                "Choose another one, or clear the answer to have one made; or correct the region.");
    outcome_copy_command(out, "sluice state set emr.application ''");
}

static void run_chosen(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_AWS_HERE here = {0};
    AUTO_EMR_APPLICATION a = {0};
    const char *id = run_text(run, "emr.application");
    if (id[0] == '\0') {
        outcome_skip(out, "none is chosen: the plan makes one");
        return;
    }
    if (aws_here_open(run, &here, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    outcome_tried(out, "GetApplication %s in %s", id, here.client.region);
    if (emr_get_application(run, &here.client, id, &a, &err) != 0) {
        if (err.kind == PROBLEM_MISSING)
            not_there(run, out, &err);
        else
            outcome_problem(out, &err);
        return;
    }
    outcome_pass(out, "%s: %s, %s, %s, %s", a.name, a.type, a.release, a.architecture, a.state);
    outcome_give(out, FACT_CHOSEN, emr_chosen_fact(&a));
}

const struct check emr_check_chosen = {
    .id = "emr.chosen",
    .title = "settings of the application",
    .reads = (const char *const[]){READS_AWS, FACT_IDENTITY, "?emr.application", NULL},
    .gives = (const char *const[]){FACT_CHOSEN, NULL},
    .after = (const char *const[]){"emr.identity", NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_READS,
    .service = SERVICE,
    .deadline_ms = ASKING_MS,
    .cause = "There is no application of that id in the region and account, or "
             "emr-serverless:GetApplication is denied.",
    .fix = "Choose another application, or correct region or profile.",
    .run = run_chosen,
};

/* --- network ---------------------------------------------------------------------------------- */

/* To be handed to the AWS admin: all six can only be granted on every resource. */
static const char reading_policy[] =
    "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":["
    "\"ec2:DescribeVpcs\",\"ec2:DescribeSubnets\",\"ec2:DescribeSecurityGroups\","
    "\"ec2:DescribeRouteTables\",\"ec2:DescribeNatGateways\",\"ec2:DescribeVpcEndpoints\"],"
    "\"Resource\":\"*\"}]}";

static void run_network(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_AWS_HERE here = {0};
    AUTO_EC2_NETWORK net = {0};
    if (aws_here_open(run, &here, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    outcome_tried(out, "subnets, route tables, NAT gateways, endpoints and security groups of %s",
                  here.client.region);
    if (ec2_read_network(run, &here.client, NULL, &net, &err) != 0) {
        outcome_problem(out, &err);
        if (err.kind == PROBLEM_DENIED)
            outcome_copy_command(out, "%s", reading_policy);
        return;
    }
    size_t ways = 0;
    for (size_t i = 0; i < net.subnets.count; i++) {
        struct network_subnet j =
            network_judge_subnet(&net.subnets.list[i], here.client.region, &net);
        ways += j.way == NETWORK_NAT || j.way == NETWORK_PUBLIC;
    }
    outcome_pass(out, "%zu subnet%s, %zu with a way out, %zu security group%s", net.subnets.count,
                 net.subnets.count == 1 ? "" : "s", ways, net.groups.count,
                 net.groups.count == 1 ? "" : "s");
    outcome_give(out, FACT_NETWORK, emr_network_fact(&net));
}

const struct check emr_check_network = {
    .id = "emr.network",
    .title = "subnets and security groups",
    .reads = (const char *const[]){READS_AWS, NULL},
    .gives = (const char *const[]){FACT_NETWORK, NULL},
    .after = (const char *const[]){"emr.identity", NULL},
    .severity = SEV_WARNS,
    .effect = EFFECT_READS,
    .service = SERVICE,
    .deadline_ms = 60000,
    .cause = "One of the ec2:Describe… calls is denied; they can only be granted on all "
             "resources.",
    .fix = "Get the permissions, or type subnets and security groups that you know to be right.",
    .run = run_network,
};
