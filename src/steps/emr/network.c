/* The network as a fact, and what is proposed of it. See network.h. */
#include "steps/emr/network.h"

#include <string.h>

#include "core/mem.h"
#include "core/text.h"
#include "steps/emr/emr.h"

#define SUBNETS_MAX 16 /* as many as an application takes */

/* --- the fact --------------------------------------------------------------------------------- */

static void network_free(void *data)
{
    ec2_network_release(data);
    xfree(data);
}

static void hash_rules(struct hasher *h, const struct ec2_rule *rules, size_t count)
{
    hasher_number(h, (int64_t)count);
    for (size_t i = 0; i < count; i++) {
        hasher_text(h, rules[i].protocol);
        hasher_number(h, rules[i].from_port);
        hasher_number(h, rules[i].to_port);
        emr_hash_names(h, &rules[i].ranges);
        emr_hash_names(h, &rules[i].groups);
        emr_hash_names(h, &rules[i].lists);
    }
}

static void hash_tables(struct hasher *h, const struct ec2_network *n)
{
    for (size_t i = 0; i < n->tables.count; i++) {
        const struct ec2_route_table *t = &n->tables.list[i];
        hasher_text(h, t->vpc);
        hasher_number(h, t->main);
        emr_hash_names(h, &t->subnets);
        for (size_t k = 0; k < t->route_count; k++) {
            hasher_text(h, t->routes[k].destination);
            hasher_text(h, t->routes[k].target);
            hasher_number(h, t->routes[k].blackhole);
        }
    }
    for (size_t i = 0; i < n->nats.count; i++) {
        hasher_text(h, n->nats.list[i].id);
        hasher_text(h, n->nats.list[i].state);
        hasher_number(h, n->nats.list[i].is_private);
    }
    for (size_t i = 0; i < n->endpoints.count; i++) {
        hasher_text(h, n->endpoints.list[i].service);
        emr_hash_names(h, &n->endpoints.list[i].route_tables);
    }
}

/* How many addresses are free changes with every job; whether they are few does not. */
static void network_hash(const void *data, struct hasher *h)
{
    const struct ec2_network *n = data;
    for (size_t i = 0; i < n->subnets.count; i++) {
        const struct ec2_subnet *s = &n->subnets.list[i];
        hasher_text(h, s->id);
        hasher_text(h, s->vpc);
        hasher_text(h, s->zone_id);
        hasher_number(h, s->free_addresses < NETWORK_ADDRESSES_MIN);
    }
    hash_tables(h, n);
    for (size_t i = 0; i < n->groups.count; i++) {
        const struct ec2_group *g = &n->groups.list[i];
        hasher_text(h, g->id);
        hasher_text(h, g->vpc);
        hash_rules(h, g->inbound, g->inbound_count);
        hash_rules(h, g->outbound, g->outbound_count);
    }
}

const struct fact_type emr_network_type = {
    .name = "network", .release = network_free, .hash = network_hash};

struct fact *emr_network_fact(struct ec2_network *n)
{
    struct ec2_network *data = xmalloc(sizeof *data);
    *data = *n;
    *n = (struct ec2_network){0};
    return fact_new(&emr_network_type, data);
}

const struct ec2_subnet *emr_subnet_of(const struct ec2_network *n, const char *id)
{
    for (size_t i = 0; i < n->subnets.count; i++)
        if (strcmp(n->subnets.list[i].id, id) == 0)
            return &n->subnets.list[i];
    return NULL;
}

const struct ec2_group *emr_group_of(const struct ec2_network *n, const char *id)
{
    for (size_t i = 0; i < n->groups.count; i++)
        if (strcmp(n->groups.list[i].id, id) == 0)
            return &n->groups.list[i];
    return NULL;
}

/* --- what is proposed ------------------------------------------------------------------------- */

static bool is_good(const struct ec2_network *n, const char *region, const struct ec2_subnet *s)
{
    struct network_subnet j = network_judge_subnet(s, region, n);
    return j.way == NETWORK_NAT && !j.bad_zone && !j.few_addresses;
}

void emr_good_subnets(const struct ec2_network *n, const char *region, struct aws_names *out)
{
    const char *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < n->subnets.count; i++) {
        const char *vpc = n->subnets.list[i].vpc;
        size_t count = 0;
        for (size_t k = 0; k < n->subnets.count; k++)
            count +=
                strcmp(n->subnets.list[k].vpc, vpc) == 0 && is_good(n, region, &n->subnets.list[k]);
        if (count > most) {
            most = count;
            best = vpc;
        }
    }
    for (size_t i = 0; best != NULL && i < n->subnets.count && out->count < SUBNETS_MAX; i++)
        if (strcmp(n->subnets.list[i].vpc, best) == 0 && is_good(n, region, &n->subnets.list[i]))
            aws_names_add(out, n->subnets.list[i].id);
}

void emr_good_groups(const struct ec2_network *n, const char *vpc, struct aws_names *out)
{
    const struct ec2_group *best = NULL;
    for (size_t i = 0; i < n->groups.count; i++) {
        const struct ec2_group *g = &n->groups.list[i];
        struct network_group j = network_judge_group(g);
        if (strcmp(g->vpc, vpc) != 0 || j.open_inbound || !j.reaches_https)
            continue;
        if (best == NULL || strcmp(g->name, "default") == 0)
            best = g;
    }
    if (best != NULL)
        aws_names_add(out, best->id);
}

static char *joined(const struct aws_names *names)
{
    struct text t = TEXT_INIT;
    if (names->count == 0)
        return NULL;
    for (size_t i = 0; i < names->count; i++) {
        text_sep(&t, ", ");
        text_add(&t, names->list[i]);
    }
    return text_take(&t);
}

char *emr_default_subnets(const struct snapshot *s)
{
    const struct ec2_network *n = snap_fact(s, FACT_NETWORK, &emr_network_type);
    AUTO_AWS_NAMES names = {0};
    if (n != NULL)
        emr_good_subnets(n, snap_text(s, "emr.region"), &names);
    return joined(&names);
}

char *emr_default_groups(const struct snapshot *s)
{
    const struct ec2_network *n = snap_fact(s, FACT_NETWORK, &emr_network_type);
    const struct value *subnets = snap_value(s, "emr.subnets");
    AUTO_AWS_NAMES names = {0};
    bool chosen = subnets != NULL && subnets->kind == VALUE_LIST && subnets->count > 0;
    const struct ec2_subnet *first =
        n != NULL && chosen ? emr_subnet_of(n, subnets->items[0]) : NULL;
    if (first != NULL)
        emr_good_groups(n, first->vpc, &names);
    return joined(&names);
}

char *emr_way_words(const struct network_subnet *j)
{
    const char *name = network_way_name(j->way);
    if (j->target[0] == '\0')
        return xstrdup(name);
    return xasprintf("%s → %s %s", j->way == NETWORK_PUBLIC ? "public" : "private", name,
                     j->target);
}

const char *emr_way_word(enum network_way way)
{
    static const char *const words[] = {
        [NETWORK_NAT] = "NAT",       [NETWORK_PUBLIC] = "public", [NETWORK_PRIVATE_NAT] = "inward",
        [NETWORK_BROKEN] = "broken", [NETWORK_NONE] = "none",     [NETWORK_UNDECIDED] = "unseen",
    };
    return words[way];
}
