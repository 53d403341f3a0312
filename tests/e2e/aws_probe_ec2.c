/* Commands of EC2. See aws_probe.c. */
#include "aws/ec2.h"
#include "aws_probe.h"

static void rules_out(struct probe *p, const char *key, const struct ec2_rule *r, size_t n)
{
    json_key(&p->w, key);
    json_begin(&p->w, '[');
    for (size_t i = 0; i < n; i++) {
        json_begin(&p->w, '{');
        json_pair_text(&p->w, "protocol", r[i].protocol);
        json_pair_number(&p->w, "from", r[i].from_port);
        json_pair_number(&p->w, "to", r[i].to_port);
        pair_names(p, "ranges", &r[i].ranges);
        pair_names(p, "groups", &r[i].groups);
        json_end(&p->w, '}');
    }
    json_end(&p->w, ']');
}

static void tables_out(struct probe *p, const struct ec2_route_tables *l)
{
    json_key(&p->w, "tables");
    json_begin(&p->w, '{');
    for (size_t i = 0; i < l->count; i++) {
        const struct ec2_route_table *t = &l->list[i];
        json_key(&p->w, t->id);
        json_begin(&p->w, '{');
        json_pair_bool(&p->w, "main", t->main);
        pair_names(p, "subnets", &t->subnets);
        json_key(&p->w, "routes");
        json_begin(&p->w, '{');
        for (size_t k = 0; k < t->route_count; k++)
            json_pair_text(&p->w, t->routes[k].destination, t->routes[k].target);
        json_end(&p->w, '}');
        json_end(&p->w, '}');
    }
    json_end(&p->w, '}');
}

static void places_out(struct probe *p, const struct ec2_network *n)
{
    json_key(&p->w, "vpcs");
    json_begin(&p->w, '{');
    for (size_t i = 0; i < n->vpcs.count; i++)
        json_pair_bool(&p->w, n->vpcs.list[i].id, n->vpcs.list[i].is_default);
    json_end(&p->w, '}');
    json_key(&p->w, "subnets");
    json_begin(&p->w, '{');
    for (size_t i = 0; i < n->subnets.count; i++) {
        const struct ec2_subnet *s = &n->subnets.list[i];
        json_key(&p->w, s->id);
        json_begin(&p->w, '{');
        json_pair_text(&p->w, "name", s->name);
        json_pair_text(&p->w, "vpc", s->vpc);
        json_pair_text(&p->w, "zone", s->zone);
        json_pair_text(&p->w, "zone_id", s->zone_id);
        json_pair_number(&p->w, "free", s->free_addresses);
        json_end(&p->w, '}');
    }
    json_end(&p->w, '}');
}

static int network(struct probe *p)
{
    AUTO_EC2_NETWORK n = {0};
    if (CALL(ec2_read_network, p->word[0], &n) != 0)
        return -1;
    places_out(p, &n);
    tables_out(p, &n.tables);
    json_key(&p->w, "groups");
    json_begin(&p->w, '{');
    for (size_t i = 0; i < n.groups.count; i++) {
        json_key(&p->w, n.groups.list[i].id);
        json_begin(&p->w, '{');
        json_pair_text(&p->w, "name", n.groups.list[i].name);
        rules_out(p, "inbound", n.groups.list[i].inbound, n.groups.list[i].inbound_count);
        rules_out(p, "outbound", n.groups.list[i].outbound, n.groups.list[i].outbound_count);
        json_end(&p->w, '}');
    }
    json_end(&p->w, '}');
    json_key(&p->w, "nats");
    json_begin(&p->w, '{');
    for (size_t i = 0; i < n.nats.count; i++)
        json_pair_text(&p->w, n.nats.list[i].id, n.nats.list[i].state);
    json_end(&p->w, '}');
    json_key(&p->w, "endpoints");
    json_begin(&p->w, '{');
    for (size_t i = 0; i < n.endpoints.count; i++)
        json_pair_text(&p->w, n.endpoints.list[i].id, n.endpoints.list[i].service);
    json_end(&p->w, '}');
    return 0;
}

const struct probe_command probe_ec2[] = {
    {"network", network},
    {NULL, NULL},
};
