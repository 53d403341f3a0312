/* How subnets and security groups are chosen: each with what it leads to; what EMR Serverless
 * refuses, or no job could work in, is shown and refused. */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/snapshot.h"
#include "core/text.h"
#include "core/utf8.h"
#include "steps/emr/emr.h"
#include "steps/emr/network.h"

static const struct ec2_network *network_of(const struct snapshot *s)
{
    return snap_fact(s, FACT_NETWORK, &emr_network_type);
}

static bool ready(const struct snapshot *s)
{
    return network_of(s) != NULL;
}

static bool has(const char *folded, const char *a, const char *b, const char *c)
{
    return utf8_contains_folded(a, folded) || utf8_contains_folded(b, folded) ||
           utf8_contains_folded(c, folded);
}

/* --- subnets ---------------------------------------------------------------------------------- */

static size_t subnet_count(const struct snapshot *s)
{
    return ready(s) ? network_of(s)->subnets.count : 0;
}

static struct network_subnet judged_subnet(const struct snapshot *s, size_t i)
{
    const struct ec2_network *n = network_of(s);
    return network_judge_subnet(&n->subnets.list[i], snap_text(s, "emr.region"), n);
}

static const char *subnet_refusal(const struct network_subnet *j)
{
    if (j->bad_zone)
        return "bad zone";
    return network_way_is_bad(j->way) ? "no way out" : NULL;
}

static char *subnet_note(const struct network_subnet *j)
{
    struct text t = TEXT_INIT;
    AUTO(xfree) char *way = emr_way_words(j);
    text_addf(&t, "%s, zone %s, %s. ", j->subnet->vpc, j->subnet->zone_id, way);
    if (j->bad_zone)
        text_add(&t, "EMR Serverless does not work in this zone.");
    else if (network_way_is_bad(j->way))
        text_add(&t, "Jobs in it reach neither Bauplan's catalog nor SSM. It needs a default route "
                     "to a public NAT gateway.");
    else if (j->way == NETWORK_PUBLIC)
        text_add(&t,
                 "It works as EMR Serverless is today; AWS advises private subnets behind a NAT "
                 "gateway.");
    else if (j->way == NETWORK_UNDECIDED)
        text_add(&t, "Whether that reaches the internet cannot be seen from here.");
    else if (j->s3_endpoint)
        text_add(&t, "S3 by an endpoint, without NAT costs.");
    return text_take(&t);
}

static void subnet_row(const struct snapshot *s, size_t i, struct pick_row *out)
{
    struct network_subnet j = judged_subnet(s, i);
    const char *refusal = subnet_refusal(&j);
    *out = (struct pick_row){.item = xstrdup(j.subnet->id)};
    out->columns[0] = xstrdup(j.subnet->id);
    out->columns[1] = xstrdup(j.subnet->zone);
    out->columns[2] = xstrdup(emr_way_word(j.way));
    out->columns[3] = xasprintf("%d", j.subnet->free_addresses);
    out->columns[4] = xstrdup(j.subnet->name);
    out->note = subnet_note(&j);
    if (refusal != NULL)
        out->refusal = xstrdup(refusal);
    else if (j.few_addresses)
        out->warning = xstrdup("few addresses");
    else if (j.way == NETWORK_UNDECIDED)
        out->warning = xstrdup("way not seen");
}

static bool subnet_matches(const struct snapshot *s, size_t i, const char *folded)
{
    const struct ec2_subnet *n = &network_of(s)->subnets.list[i];
    return has(folded, n->id, n->name, n->zone);
}

static bool subnet_refused(const struct snapshot *s, size_t i)
{
    struct network_subnet j = judged_subnet(s, i);
    return subnet_refusal(&j) != NULL;
}

static char *subnet_item(const struct snapshot *s, size_t i)
{
    return xstrdup(network_of(s)->subnets.list[i].id);
}

static const char *subnet_group(const struct snapshot *s, size_t i)
{
    return network_of(s)->subnets.list[i].vpc;
}

const struct picker emr_subnet_picker = {
    .title = "Subnets the jobs run in",
    .headings = {"subnet", "zone", "way out", "free", "name"},
    .widths = {24, 10, 7, 5, 11},
    .count = subnet_count,
    .ready = ready,
    .row = subnet_row,
    .matches = subnet_matches,
    .refused = subnet_refused,
    .item = subnet_item,
    .group = subnet_group,
};

/* --- security groups -------------------------------------------------------------------------- */

static size_t group_count(const struct snapshot *s)
{
    return ready(s) ? network_of(s)->groups.count : 0;
}

static void group_row(const struct snapshot *s, size_t i, struct pick_row *out)
{
    struct network_group j = network_judge_group(&network_of(s)->groups.list[i]);
    *out = (struct pick_row){.item = xstrdup(j.group->id)};
    out->columns[0] = xstrdup(j.group->id);
    out->columns[1] = xstrdup(j.group->name);
    out->columns[2] = xstrdup(j.reaches_https   ? "443 anywhere"
                              : j.limited_https ? "443 to some"
                                                : "nothing out");
    out->columns[3] = xstrdup(j.open_inbound ? "open" : "closed");
    AUTO_TEXT note = TEXT_INIT;
    text_addf(&note, "Of %s. ", j.group->vpc);
    if (j.open_inbound) {
        out->refusal = xstrdup("open to anyone");
        text_addf(&note,
                  "An inbound rule lets in %s: EMR Serverless makes and starts no application with "
                  "such a group.",
                  j.open_from);
    } else if (!j.reaches_https) {
        out->warning = xstrdup(j.limited_https ? "443 to some" : "no way out");
        text_add(&note, "Jobs must reach Bauplan's catalog by tcp 443. What the chosen groups let "
                        "out counts together.");
    }
    out->note = text_take(&note);
}

static bool group_matches(const struct snapshot *s, size_t i, const char *folded)
{
    const struct ec2_group *g = &network_of(s)->groups.list[i];
    return has(folded, g->id, g->name, g->vpc);
}

static bool group_refused(const struct snapshot *s, size_t i)
{
    return network_judge_group(&network_of(s)->groups.list[i]).open_inbound;
}

static char *group_item(const struct snapshot *s, size_t i)
{
    return xstrdup(network_of(s)->groups.list[i].id);
}

static const char *group_group(const struct snapshot *s, size_t i)
{
    return network_of(s)->groups.list[i].vpc;
}

const struct picker emr_group_picker = {
    .title = "Security groups of the jobs",
    .headings = {"group", "name", "out", "in"},
    .widths = {20, 14, 12, 6},
    .count = group_count,
    .ready = ready,
    .row = group_row,
    .matches = group_matches,
    .refused = group_refused,
    .item = group_item,
    .group = group_group,
};
