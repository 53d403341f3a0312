/* Verdicts on the network: of the chosen application as it is, of one to be made as it was
 * answered. No I/O. */
#include <string.h>

#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "steps/emr/emr.h"
#include "steps/emr/network.h"

/* --- what is judged --------------------------------------------------------------------------- */

struct judged {
    const struct emr_application *app; /* NULL = one to be made */
    const struct ec2_network *net;     /* NULL = it may not be read */
    struct aws_names subnets, groups;
    const char *region;
};

static void add_answers(const struct value *v, struct aws_names *out)
{
    for (size_t i = 0; v != NULL && v->kind == VALUE_LIST && i < v->count; i++)
        aws_names_add(out, v->items[i]);
}

static void add_all(const struct aws_names *from, struct aws_names *out)
{
    for (size_t i = 0; i < from->count; i++)
        aws_names_add(out, from->list[i]);
}

static struct judged judged_of(const struct run *run)
{
    struct judged j = {.app = run_fact(run, FACT_CHOSEN, &emr_chosen_type),
                       .net = run_fact(run, FACT_NETWORK, &emr_network_type),
                       .region = run_text(run, "emr.region")};
    if (j.app != NULL) {
        add_all(&j.app->subnets, &j.subnets);
        add_all(&j.app->groups, &j.groups);
    } else {
        add_answers(run_value(run, "emr.subnets"), &j.subnets);
        add_answers(run_value(run, "emr.security_groups"), &j.groups);
    }
    return j;
}

static void judged_release(struct judged *j)
{
    aws_names_release(&j->subnets);
    aws_names_release(&j->groups);
}
#define AUTO_JUDGED __attribute__((cleanup(judged_release))) struct judged

#define READS_NETWORK                                                                              \
    (const char *const[])                                                                          \
    {                                                                                              \
        "?emr.application", "?" FACT_CHOSEN, "?" FACT_NETWORK, "emr.subnets",                      \
            "emr.security_groups", "emr.region", NULL                                              \
    }
#define AFTER_SURVEYS                                                                              \
    (const char *const[])                                                                          \
    {                                                                                              \
        "emr.chosen", "emr.network", NULL                                                          \
    }

/* True when there is nothing to judge, and that is said. */
static bool not_known(const struct judged *j, struct outcome *out)
{
    if (j->app != NULL && j->subnets.count == 0)
        outcome_skip(out, "the application has no network, see its way out");
    else if (j->net == NULL)
        outcome_skip(out, "not judged: subnets and groups may not be read");
    else
        return false;
    return true;
}

static void join(const struct aws_names *names, const char *separator, struct text *out)
{
    for (size_t i = 0; i < names->count; i++) {
        text_sep(out, separator);
        text_add(out, names->list[i]);
    }
}

/* A command that gives the application a network: the one we would choose, where one is seen. */
static void copy_network(struct outcome *out, const struct judged *j)
{
    AUTO_AWS_NAMES subnets = {0};
    AUTO_AWS_NAMES groups = {0};
    AUTO_TEXT line = TEXT_INIT;
    if (j->app == NULL || j->net == NULL)
        return;
    emr_good_subnets(j->net, j->region, &subnets);
    if (subnets.count == 0)
        return;
    emr_good_groups(j->net, emr_subnet_of(j->net, subnets.list[0])->vpc, &groups);
    if (groups.count == 0)
        return;
    join(&subnets, ",", &line);
    outcome_copy_command(out,
                         "aws emr-serverless update-application --region %s --application-id %s "
                         "--network-configuration subnetIds=%s,securityGroupIds=%s",
                         j->region, j->app->id, line.s, groups.list[0]);
}

/* Who acts on what is wrong with the choice. */
static enum who actor(const struct judged *j)
{
    return j->app != NULL ? WHO_AWS_ADMIN : WHO_YOU;
}

/* --- one VPC ---------------------------------------------------------------------------------- */

static void run_one_vpc(struct run *run, struct outcome *out)
{
    AUTO_JUDGED j = judged_of(run);
    if (not_known(&j, out))
        return;
    const char *vpc = NULL;
    bool same = true;
    AUTO_TEXT missing = TEXT_INIT;
    for (size_t i = 0; i < j.subnets.count + j.groups.count; i++) {
        bool is_subnet = i < j.subnets.count;
        const char *id = is_subnet ? j.subnets.list[i] : j.groups.list[i - j.subnets.count];
        const struct ec2_subnet *s = is_subnet ? emr_subnet_of(j.net, id) : NULL;
        const struct ec2_group *g = is_subnet ? NULL : emr_group_of(j.net, id);
        const char *of = s != NULL ? s->vpc : g != NULL ? g->vpc : NULL;
        outcome_item(out, of != NULL ? STATUS_PASSED : STATUS_FAILED, id,
                     of != NULL ? of : "not found", NULL);
        if (of == NULL) {
            text_sep(&missing, ", ");
            text_add(&missing, id);
            continue;
        }
        same &= vpc == NULL || strcmp(vpc, of) == 0;
        vpc = of;
    }
    if (missing.len > 0) {
        outcome_fail(out, "missing", "not in %s: %s", j.region, missing.s);
        outcome_why(out, "They were deleted, or belong to another region or account.");
        outcome_fix(out, actor(&j), "Choose subnets and groups that exist.");
    } else if (!same) {
        outcome_fail(out, "vpc", "subnets and security groups are of several networks");
        outcome_why(out, "An application lies in one VPC; EMR Serverless refuses a mixture.");
        outcome_fix(out, actor(&j), "Choose subnets and groups of one VPC.");
    } else {
        outcome_pass(out, "%zu subnet%s and %zu group%s of %s", j.subnets.count,
                     j.subnets.count == 1 ? "" : "s", j.groups.count,
                     j.groups.count == 1 ? "" : "s", vpc != NULL ? vpc : "no network");
    }
}

const struct check emr_check_one_vpc = {
    .id = "emr.one_vpc",
    .title = "all of one network",
    .reads = READS_NETWORK,
    .after = AFTER_SURVEYS,
    .severity = SEV_BLOCKS,
    .cause = "A subnet or group does not exist in the region, or they are of several VPCs.",
    .fix = "Choose subnets and groups of one VPC.",
    .run = run_one_vpc,
};

/* --- the way out ------------------------------------------------------------------------------ */

static void no_network(const struct judged *j, struct outcome *out)
{
    outcome_fail(out, "no network", "%s has no network", j->app->name);
    outcome_why(out, "Without a VPC a job reaches only some AWS services of its region: neither "
                     "Bauplan's catalog nor SSM, where the catalog's login is kept for it.");
    outcome_fix(out, WHO_AWS_ADMIN,
                "Give it subnets with a way to the internet, and a security group. It must be "
                "stopped for that: aws emr-serverless stop-application.");
    copy_network(out, j);
}

struct ways {
    size_t bad, undecided, public, known;
};

static struct ways count_ways(const struct judged *j, struct outcome *out)
{
    struct ways w = {0};
    for (size_t i = 0; i < j->subnets.count; i++) {
        const struct ec2_subnet *s = emr_subnet_of(j->net, j->subnets.list[i]);
        if (s == NULL)
            continue;
        struct network_subnet n = network_judge_subnet(s, j->region, j->net);
        bool bad = network_way_is_bad(n.way);
        AUTO(xfree) char *way = emr_way_words(&n);
        AUTO(xfree)
        char *line =
            xasprintf("%s, %s%s", s->zone, way, n.s3_endpoint ? "; S3 by an endpoint" : "");
        outcome_item(out,
                     bad                          ? STATUS_FAILED
                     : n.way == NETWORK_UNDECIDED ? STATUS_WARNED
                                                  : STATUS_PASSED,
                     s->id, line, NULL);
        w.known++;
        w.bad += bad;
        w.undecided += n.way == NETWORK_UNDECIDED;
        w.public += n.way == NETWORK_PUBLIC;
    }
    return w;
}

static void judge_ways(const struct judged *j, const struct ways *w, struct outcome *out)
{
    if (w->bad == w->known && w->bad > 0) {
        outcome_fail(out, "no way out", "no subnet leads to the internet");
        outcome_why(out, "Jobs would reach neither Bauplan's catalog nor SSM, and hang until they "
                         "fail.");
    } else if (w->bad > 0) {
        outcome_fail(out, "mixed", "%zu of %zu subnets lead%s nowhere", w->bad, w->known,
                     w->bad == 1 ? "s" : "");
        outcome_why(out, "A job runs in one of the subnets, which AWS picks: jobs would fail now "
                         "and then, for no reason that is seen.");
    } else if (w->undecided > 0) {
        outcome_warn(out, "the way out of %zu subnet%s cannot be seen", w->undecided,
                     w->undecided == 1 ? "" : "s");
        outcome_why(out, "The default route leads to a gateway or appliance that others run.");
        outcome_fix(out, WHO_NETWORK, "Say whether it lets tcp 443 out to the internet.");
        return;
    } else {
        outcome_pass(out, "%zu subnet%s%s", w->known, w->known == 1 ? "" : "s",
                     w->public > 0 ? ", some of them public" : ", by NAT");
        return;
    }
    outcome_fix(out, j->app != NULL ? WHO_AWS_ADMIN : WHO_YOU,
                j->app != NULL
                    ? "Leave out the subnets without a default route to a public NAT gateway."
                    : "Choose subnets whose default route leads to a public NAT gateway.");
    copy_network(out, j);
}

static void run_subnets_out(struct run *run, struct outcome *out)
{
    AUTO_JUDGED j = judged_of(run);
    if (j.app != NULL && j.subnets.count == 0) {
        no_network(&j, out);
        return;
    }
    if (j.net == NULL) {
        outcome_warn(out, "not judged: the network may not be read");
        outcome_why(out, "A job in a subnet without a way to the internet hangs and fails.");
        outcome_fix(out, WHO_AWS_ADMIN,
                    "Say whether each subnet has a default route to a public "
                    "NAT gateway, or allow the six ec2:Describe… calls.");
        return;
    }
    struct ways w = count_ways(&j, out);
    judge_ways(&j, &w, out);
}

const struct check emr_check_subnets_out = {
    .id = "emr.subnets_out",
    .title = "subnets lead out",
    .reads = READS_NETWORK,
    .after = AFTER_SURVEYS,
    .severity = SEV_BLOCKS,
    .cause = "The application has no network, or a subnet has no default route to a public NAT "
             "gateway (or an internet gateway).",
    .fix = "Choose subnets behind a NAT gateway. One bad subnet is enough to make jobs fail at "
           "random.",
    .run = run_subnets_out,
};

/* --- zones and addresses ---------------------------------------------------------------------- */

static void run_zones(struct run *run, struct outcome *out)
{
    AUTO_JUDGED j = judged_of(run);
    if (not_known(&j, out))
        return;
    AUTO_TEXT bad = TEXT_INIT;
    AUTO_AWS_NAMES zones = {0};
    for (size_t i = 0; i < j.subnets.count; i++) {
        const struct ec2_subnet *s = emr_subnet_of(j.net, j.subnets.list[i]);
        if (s == NULL)
            continue;
        if (!aws_names_have(&zones, s->zone_id))
            aws_names_add(&zones, s->zone_id);
        if (network_zone_supported(j.region, s->zone_id))
            continue;
        text_sep(&bad, ", ");
        text_addf(&bad, "%s (%s)", s->id, s->zone_id);
    }
    if (bad.len > 0) {
        outcome_fail(out, "zone", "EMR Serverless does not work in the zone of %s", bad.s);
        outcome_why(out, "It refuses to make or start an application with such a subnet. What "
                         "counts is the id of the zone; its letter differs between accounts.");
        outcome_fix(out, actor(&j), "Choose subnets in other zones.");
    } else if (zones.count == 1) {
        outcome_pass(out, "one zone, %s: when it fails, nothing runs", zones.list[0]);
    } else {
        outcome_pass(out, "%zu zones", zones.count);
    }
}

const struct check emr_check_zones = {
    .id = "emr.zones",
    .title = "zones are supported",
    .reads = READS_NETWORK,
    .after = AFTER_SURVEYS,
    .severity = SEV_BLOCKS,
    .cause = "EMR Serverless works only in some zones of us-east-1, us-east-2, ca-central-1 and "
             "cn-north-1.",
    .fix = "Choose subnets in other zones.",
    .run = run_zones,
};

static void run_addresses(struct run *run, struct outcome *out)
{
    AUTO_JUDGED j = judged_of(run);
    if (not_known(&j, out))
        return;
    AUTO_TEXT few = TEXT_INIT;
    for (size_t i = 0; i < j.subnets.count; i++) {
        const struct ec2_subnet *s = emr_subnet_of(j.net, j.subnets.list[i]);
        if (s == NULL || s->free_addresses >= NETWORK_ADDRESSES_MIN)
            continue;
        text_sep(&few, ", ");
        text_addf(&few, "%s has %d", s->id, s->free_addresses);
    }
    if (few.len == 0) {
        outcome_pass(out, "enough for the workers");
        return;
    }
    outcome_warn(out, "few addresses are free: %s", few.s);
    outcome_why(out, "Each worker takes one; without it the job waits, then fails.");
    outcome_fix(out, actor(&j), "Choose larger subnets, or free addresses.");
}

const struct check emr_check_addresses = {
    .id = "emr.addresses",
    .title = "subnets have free addresses",
    .reads = READS_NETWORK,
    .after = AFTER_SURVEYS,
    .severity = SEV_WARNS,
    .cause = "Fewer than 16 addresses are free in a subnet; each worker takes one.",
    .fix = "Choose larger subnets.",
    .run = run_addresses,
};

/* --- security groups -------------------------------------------------------------------------- */

/* A group as it should be: everything out, nobody in. */
static void copy_group(struct outcome *out, const struct judged *j)
{
    const struct ec2_subnet *s =
        j->subnets.count > 0 ? emr_subnet_of(j->net, j->subnets.list[0]) : NULL;
    if (s != NULL)
        outcome_copy_command(out,
                             "aws ec2 create-security-group --region %s --vpc-id %s --group-name "
                             "emr-serverless-jobs --description \"Spark jobs of EMR Serverless\"",
                             j->region, s->vpc);
}

static void run_groups_open(struct run *run, struct outcome *out)
{
    AUTO_JUDGED j = judged_of(run);
    if (not_known(&j, out))
        return;
    for (size_t i = 0; i < j.groups.count; i++) {
        const struct ec2_group *g = emr_group_of(j.net, j.groups.list[i]);
        if (g == NULL)
            continue;
        struct network_group n = network_judge_group(g);
        if (!n.open_inbound)
            continue;
        outcome_fail(out, "open", "%s (%s) lets in %s", g->id, g->name, n.open_from);
        outcome_why(out, "EMR Serverless makes and starts no application whose group has an "
                         "inbound rule from anywhere.");
        outcome_fix(out, actor(&j),
                    "Choose a group without that rule, or make one: a new group "
                    "lets everything out and nobody in.");
        copy_group(out, &j);
        return;
    }
    outcome_pass(out, "none lets in anybody");
}

const struct check emr_check_groups_open = {
    .id = "emr.security_groups_open",
    .title = "no group is open to anyone",
    .reads = READS_NETWORK,
    .after = AFTER_SURVEYS,
    .severity = SEV_BLOCKS,
    .cause = "A security group has an inbound rule from 0.0.0.0/0 or ::/0. EMR Serverless refuses "
             "it.",
    .fix = "Choose another group, or take the rule away.",
    .run = run_groups_open,
};

static void run_groups_out(struct run *run, struct outcome *out)
{
    AUTO_JUDGED j = judged_of(run);
    if (not_known(&j, out))
        return;
    bool all = false, some = false;
    for (size_t i = 0; i < j.groups.count; i++) {
        const struct ec2_group *g = emr_group_of(j.net, j.groups.list[i]);
        struct network_group n = g != NULL ? network_judge_group(g) : (struct network_group){0};
        all |= n.reaches_https;
        some |= n.limited_https;
    }
    if (all) {
        outcome_pass(out, "tcp 443 to anywhere");
    } else if (some) {
        outcome_warn(out, "tcp 443 is let out to some addresses only");
        outcome_why(out, "Jobs must reach Bauplan's catalog, SSM, STS and S3; which addresses "
                         "these have changes.");
        outcome_fix(out, WHO_AWS_ADMIN,
                    "Allow tcp 443 to 0.0.0.0/0, unless a proxy or endpoints "
                    "stand there.");
    } else {
        outcome_fail(out, "egress", "no group lets tcp 443 out");
        outcome_why(out, "Jobs would hang: they must reach Bauplan's catalog, SSM, STS and S3.");
        outcome_fix(out, actor(&j), "Choose a group that lets tcp 443 out to 0.0.0.0/0.");
        copy_group(out, &j);
    }
}

const struct check emr_check_groups_out = {
    .id = "emr.security_groups_out",
    .title = "jobs may leave by tcp 443",
    .reads = READS_NETWORK,
    .after = AFTER_SURVEYS,
    .severity = SEV_BLOCKS,
    .cause = "None of the groups has an outbound rule for tcp 443.",
    .fix = "Allow tcp 443 to 0.0.0.0/0.",
    .run = run_groups_out,
};
