/* Judging a network. See network.h. */
#include "aws/network.h"

#include <string.h>

#include "core/mem.h"

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static bool starts(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

/* --- zones ------------------------------------------------------------------------------------ */

bool network_zone_supported(const char *region, const char *zone_id)
{
    /* Regions in which not every zone will do (user guide of EMR Serverless, "considerations"). */
    static const struct {
        const char *region, *zones; /* each with a blank behind it */
    } rows[] = {{"us-east-1", "use1-az1 use1-az2 use1-az4 use1-az5 use1-az6 "},
                {"us-east-2", "use2-az1 use2-az2 use2-az3 "},
                {"ca-central-1", "cac1-az1 cac1-az2 "},
                {"cn-north-1", "cnn1-az1 cnn1-az2 "}};
    if (zone_id[0] == '\0')
        return true;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (is(rows[i].region, region)) {
            AUTO(xfree) char *word = xasprintf("%s ", zone_id);
            return strstr(rows[i].zones, word) != NULL;
        }
    return true;
}

/* --- the way out ------------------------------------------------------------------------------ */

const char *network_way_name(enum network_way way)
{
    static const char *const names[] = {[NETWORK_NAT] = "NAT gateway",
                                        [NETWORK_PUBLIC] = "internet gateway",
                                        [NETWORK_PRIVATE_NAT] = "private NAT gateway",
                                        [NETWORK_BROKEN] = "default route to something gone",
                                        [NETWORK_NONE] = "no default route",
                                        [NETWORK_UNDECIDED] = "default route out of sight"};
    return names[way];
}

bool network_way_is_bad(enum network_way way)
{
    return way == NETWORK_PRIVATE_NAT || way == NETWORK_BROKEN || way == NETWORK_NONE;
}

/* The table that names the subnet, else the VPC's main one. */
static const struct ec2_route_table *table_of(const struct ec2_subnet *s,
                                              const struct ec2_route_tables *tables, bool *main)
{
    const struct ec2_route_table *fallback = NULL;
    *main = false;
    for (size_t i = 0; i < tables->count; i++) {
        const struct ec2_route_table *t = &tables->list[i];
        if (!is(t->vpc, s->vpc))
            continue;
        if (aws_names_have(&t->subnets, s->id))
            return t;
        if (t->main)
            fallback = t;
    }
    *main = fallback != NULL;
    return fallback;
}

static const struct ec2_nat *nat_of(const struct ec2_nats *nats, const char *id)
{
    for (size_t i = 0; i < nats->count; i++)
        if (is(nats->list[i].id, id))
            return &nats->list[i];
    return NULL;
}

/* IPv4 only: neither the catalog nor AWS's endpoints can be counted on over IPv6. */
static const struct ec2_route *default_route(const struct ec2_route_table *t)
{
    for (size_t i = 0; i < t->route_count; i++)
        if (is(t->routes[i].destination, "0.0.0.0/0"))
            return &t->routes[i];
    return NULL;
}

static void judge_route(const struct ec2_route *r, const struct ec2_nats *nats,
                        struct network_subnet *out)
{
    const struct ec2_nat *nat = starts(r->target, "nat-") ? nat_of(nats, r->target) : NULL;
    out->target = r->target;
    if (r->blackhole) {
        out->way = NETWORK_BROKEN;
    } else if (starts(r->target, "igw-")) {
        out->way = NETWORK_PUBLIC;
    } else if (!starts(r->target, "nat-")) {
        out->way = NETWORK_UNDECIDED;
    } else if (nat != NULL && !is(nat->state, "available")) {
        out->way = NETWORK_BROKEN;
        out->nat_state = nat->state;
    } else {
        out->way = nat != NULL && nat->is_private ? NETWORK_PRIVATE_NAT : NETWORK_NAT;
    }
}

static bool has_s3_endpoint(const struct ec2_endpoints *endpoints, const char *table)
{
    for (size_t i = 0; i < endpoints->count; i++) {
        const struct ec2_endpoint *e = &endpoints->list[i];
        size_t n = strlen(e->service);
        if (n > 3 && is(e->service + n - 3, ".s3") && is(e->type, "Gateway") &&
            aws_names_have(&e->route_tables, table))
            return true;
    }
    return false;
}

struct network_subnet network_judge_subnet(const struct ec2_subnet *s, const char *region,
                                           const struct ec2_network *n)
{
    struct network_subnet out = {.subnet = s, .way = NETWORK_NONE, .target = ""};
    const struct ec2_route_table *t = table_of(s, &n->tables, &out.main_table);
    const struct ec2_route *r = t != NULL ? default_route(t) : NULL;
    if (t != NULL) {
        out.table = t->id;
        out.s3_endpoint = has_s3_endpoint(&n->endpoints, t->id);
    }
    if (r != NULL)
        judge_route(r, &n->nats, &out);
    out.bad_zone = !network_zone_supported(region, s->zone_id);
    out.few_addresses = s->free_addresses < NETWORK_ADDRESSES_MIN;
    return out;
}

/* --- security groups -------------------------------------------------------------------------- */

static const char *anywhere_of(const struct ec2_rule *r)
{
    static const char *const anywhere[] = {"0.0.0.0/0", "::/0"};
    for (size_t i = 0; i < ARRAY_LEN(anywhere); i++)
        if (aws_names_have(&r->ranges, anywhere[i]))
            return anywhere[i];
    return NULL;
}

static bool lets_https(const struct ec2_rule *r)
{
    bool all = is(r->protocol, "-1");
    bool tcp = is(r->protocol, "tcp") || is(r->protocol, "6");
    return all || (tcp && ((r->from_port <= 443 && r->to_port >= 443) || r->from_port == -1));
}

struct network_group network_judge_group(const struct ec2_group *g)
{
    struct network_group out = {.group = g};
    for (size_t i = 0; i < g->inbound_count && out.open_from == NULL; i++)
        out.open_from = anywhere_of(&g->inbound[i]);
    out.open_inbound = out.open_from != NULL;
    for (size_t i = 0; i < g->outbound_count; i++) {
        const struct ec2_rule *r = &g->outbound[i];
        if (!lets_https(r))
            continue;
        if (aws_names_have(&r->ranges, "0.0.0.0/0"))
            out.reaches_https = true;
        else
            out.limited_https = true;
    }
    return out;
}

/* --- a choice --------------------------------------------------------------------------------- */

static void say(struct aws_names *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct aws_names *to, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    AUTO(xfree) char *line = xvasprintf(fmt, ap);
    va_end(ap);
    aws_names_add(to, line);
}

static const struct ec2_subnet *subnet_of(const struct ec2_network *n, const char *id)
{
    for (size_t i = 0; i < n->subnets.count; i++)
        if (is(n->subnets.list[i].id, id))
            return &n->subnets.list[i];
    return NULL;
}

static const struct ec2_group *group_of(const struct ec2_network *n, const char *id)
{
    for (size_t i = 0; i < n->groups.count; i++)
        if (is(n->groups.list[i].id, id))
            return &n->groups.list[i];
    return NULL;
}

static void say_way(const struct network_subnet *j, struct network_verdict *out)
{
    const char *id = j->subnet->id;
    switch (j->way) {
    case NETWORK_NAT:
        break;
    case NETWORK_PUBLIC:
        say(&out->note, "%s is a public subnet (%s): it works today, a NAT gateway is AWS's advice",
            id, j->target);
        break;
    case NETWORK_PRIVATE_NAT:
        say(&out->bad, "%s leads to %s, a private NAT gateway, which does not reach the internet",
            id, j->target);
        break;
    case NETWORK_BROKEN:
        say(&out->bad, "%s leads to %s, which %s%s", id, j->target,
            j->nat_state != NULL ? "is " : "no longer exists",
            j->nat_state != NULL ? j->nat_state : "");
        break;
    case NETWORK_NONE:
        say(&out->bad, "%s has no default route, so no way to the internet (route table %s%s)", id,
            j->table != NULL ? j->table : "none", j->main_table ? ", the VPC's main one" : "");
        break;
    case NETWORK_UNDECIDED:
        say(&out->note,
            "%s leads to %s; whether that reaches the internet cannot be seen from here", id,
            j->target);
        out->undecided = true;
        break;
    }
}

static void judge_subnets(const struct aws_names *ids, const char *region,
                          const struct ec2_network *n, const char **vpc,
                          struct network_verdict *out)
{
    size_t bad = 0, zones = 0;
    const char *zone = NULL;
    for (size_t i = 0; i < ids->count; i++) {
        const struct ec2_subnet *s = subnet_of(n, ids->list[i]);
        if (s == NULL) {
            say(&out->bad, "there is no subnet %s here", ids->list[i]);
            continue;
        }
        struct network_subnet j = network_judge_subnet(s, region, n);
        if (*vpc != NULL && !is(*vpc, s->vpc))
            say(&out->bad, "%s lies in %s, others in %s: one application has one VPC", s->id,
                s->vpc, *vpc);
        *vpc = *vpc != NULL ? *vpc : s->vpc;
        say_way(&j, out);
        bad += network_way_is_bad(j.way);
        if (j.bad_zone)
            say(&out->bad, "%s lies in zone %s, where EMR Serverless does not work", s->id,
                s->zone_id);
        if (j.few_addresses)
            say(&out->note, "%s has %d free addresses, and each worker takes one", s->id,
                s->free_addresses);
        zones += zone == NULL || !is(zone, s->zone_id);
        zone = s->zone_id;
    }
    if (bad > 0 && bad < ids->count)
        say(&out->bad, "a job runs in one of the subnets: with these it would fail now and then");
    if (zones == 1 && ids->count > 0)
        say(&out->note, "all in one zone: when it fails, nothing runs");
}

static void judge_groups(const struct aws_names *ids, const struct ec2_network *n, const char *vpc,
                         struct network_verdict *out)
{
    bool reaches = false, limited = false;
    for (size_t i = 0; i < ids->count; i++) {
        const struct ec2_group *g = group_of(n, ids->list[i]);
        if (g == NULL) {
            say(&out->bad, "there is no security group %s here", ids->list[i]);
            continue;
        }
        struct network_group j = network_judge_group(g);
        if (vpc != NULL && !is(vpc, g->vpc))
            say(&out->bad, "%s belongs to %s, the subnets to %s", g->id, g->vpc, vpc);
        if (j.open_inbound)
            say(&out->bad,
                "%s (%s) lets %s in: EMR Serverless refuses groups that are open to everybody",
                g->id, g->name, j.open_from);
        reaches = reaches || j.reaches_https;
        limited = limited || j.limited_https;
    }
    if (ids->count > 0 && !reaches && limited) {
        say(&out->note, "HTTPS may leave only to some addresses; whether the catalog and AWS are "
                        "among them cannot be seen from here");
        out->undecided = true;
    } else if (ids->count > 0 && !reaches) {
        say(&out->bad, "no group lets HTTPS (tcp 443) out: jobs would hang without a word");
    }
}

void network_judge(const struct aws_names *subnets, const struct aws_names *groups,
                   const char *region, const struct ec2_network *n, struct network_verdict *out)
{
    const char *vpc = NULL;
    *out = (struct network_verdict){0};
    if (subnets->count == 0)
        say(&out->bad, "no subnet: without a network a job reaches neither the catalog nor SSM");
    if (groups->count == 0)
        say(&out->bad, "no security group: EMR Serverless wants both or neither");
    judge_subnets(subnets, region, n, &vpc, out);
    judge_groups(groups, n, vpc, out);
}

void network_verdict_release(struct network_verdict *v)
{
    aws_names_release(&v->bad);
    aws_names_release(&v->note);
    v->undecided = false;
}
