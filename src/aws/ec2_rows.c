/* Rows of EC2's answers: reading and releasing. See ec2_rows.h. Element names are those on the
 * wire.
 */
#include "aws/ec2_rows.h"

#include <string.h>

#include "core/mem.h"

/* "" when it is not there: no row has a NULL text. */
static char *text_of(const struct xml_node *n, const char *path)
{
    const char *s = xml_text(n, path);
    return xstrdup(s != NULL ? s : "");
}

static bool is_true(const struct xml_node *n, const char *path)
{
    const char *s = xml_text(n, path);
    return s != NULL && strcmp(s, "true") == 0;
}

static char *name_tag(const struct xml_node *n)
{
    const struct xml_node *tags = xml_find(n, "tagSet");
    for (size_t i = 0; tags != NULL && i < tags->count; i++) {
        const char *key = xml_text(tags->children[i], "key");
        if (key != NULL && strcmp(key, "Name") == 0)
            return text_of(tags->children[i], "value");
    }
    return xstrdup("");
}

/* The items' own text, or that of one child of theirs. */
static void names_of(struct aws_names *out, const struct xml_node *n, const char *list,
                     const char *child)
{
    const struct xml_node *rows = xml_find(n, list);
    for (size_t i = 0; rows != NULL && i < rows->count; i++)
        aws_names_add(out, xml_text(rows->children[i], child));
}

/* --- VPCs and subnets ------------------------------------------------------------------------- */

void ec2_take_vpc(void *out, const struct xml_node *item)
{
    struct ec2_vpcs *l = out;
    l->list = aws_grow(l->list, l->count, sizeof(*l->list));
    struct ec2_vpc *v = &l->list[l->count++];
    *v = (struct ec2_vpc){.id = text_of(item, "vpcId"),
                          .name = name_tag(item),
                          .cidr = text_of(item, "cidrBlock"),
                          .state = text_of(item, "state"),
                          .is_default = is_true(item, "isDefault")};
}

void ec2_vpcs_release(struct ec2_vpcs *x)
{
    for (size_t i = 0; i < x->count; i++) {
        xfree(x->list[i].id);
        xfree(x->list[i].name);
        xfree(x->list[i].cidr);
        xfree(x->list[i].state);
    }
    xfree(x->list);
    *x = (struct ec2_vpcs){0};
}

void ec2_take_subnet(void *out, const struct xml_node *item)
{
    struct ec2_subnets *l = out;
    l->list = aws_grow(l->list, l->count, sizeof(*l->list));
    struct ec2_subnet *s = &l->list[l->count++];
    *s = (struct ec2_subnet){.id = text_of(item, "subnetId"),
                             .name = name_tag(item),
                             .vpc = text_of(item, "vpcId"),
                             .cidr = text_of(item, "cidrBlock"),
                             .state = text_of(item, "state"),
                             .zone = text_of(item, "availabilityZone"),
                             .zone_id = text_of(item, "availabilityZoneId"),
                             .free_addresses = (int)aws_number(item, "availableIpAddressCount", 0),
                             .public_addresses = is_true(item, "mapPublicIpOnLaunch")};
}

void ec2_subnets_release(struct ec2_subnets *x)
{
    for (size_t i = 0; i < x->count; i++) {
        struct ec2_subnet *s = &x->list[i];
        char *texts[] = {s->id, s->name, s->vpc, s->cidr, s->state, s->zone, s->zone_id};
        for (size_t k = 0; k < ARRAY_LEN(texts); k++)
            xfree(texts[k]);
    }
    xfree(x->list);
    *x = (struct ec2_subnets){0};
}

/* --- security groups -------------------------------------------------------------------------- */

static struct ec2_rule *rules_of(const struct xml_node *n, const char *list, size_t *count)
{
    const struct xml_node *rows = xml_find(n, list);
    *count = rows != NULL ? rows->count : 0;
    struct ec2_rule *rules = *count > 0 ? xcalloc(*count, sizeof(*rules)) : NULL;
    for (size_t i = 0; i < *count; i++) {
        const struct xml_node *row = rows->children[i];
        rules[i].protocol = text_of(row, "ipProtocol");
        rules[i].from_port = (int)aws_number(row, "fromPort", -1);
        rules[i].to_port = (int)aws_number(row, "toPort", -1);
        names_of(&rules[i].ranges, row, "ipRanges", "cidrIp");
        names_of(&rules[i].ranges, row, "ipv6Ranges", "cidrIpv6");
        names_of(&rules[i].groups, row, "groups", "groupId");
        names_of(&rules[i].lists, row, "prefixListIds", "prefixListId");
    }
    return rules;
}

void ec2_take_group(void *out, const struct xml_node *item)
{
    struct ec2_groups *l = out;
    l->list = aws_grow(l->list, l->count, sizeof(*l->list));
    struct ec2_group *g = &l->list[l->count++];
    g->id = text_of(item, "groupId");
    g->name = text_of(item, "groupName");
    g->vpc = text_of(item, "vpcId");
    g->inbound = rules_of(item, "ipPermissions", &g->inbound_count);
    g->outbound = rules_of(item, "ipPermissionsEgress", &g->outbound_count);
}

static void rules_free(struct ec2_rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        xfree(rules[i].protocol);
        aws_names_release(&rules[i].ranges);
        aws_names_release(&rules[i].groups);
        aws_names_release(&rules[i].lists);
    }
    xfree(rules);
}

void ec2_groups_release(struct ec2_groups *x)
{
    for (size_t i = 0; i < x->count; i++) {
        struct ec2_group *g = &x->list[i];
        xfree(g->id);
        xfree(g->name);
        xfree(g->vpc);
        rules_free(g->inbound, g->inbound_count);
        rules_free(g->outbound, g->outbound_count);
    }
    xfree(x->list);
    *x = (struct ec2_groups){0};
}

/* --- route tables ----------------------------------------------------------------------------- */

static const char *first_of(const struct xml_node *n, const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *s = xml_text(n, paths[i]);
        if (s != NULL && s[0] != '\0')
            return s;
    }
    return "";
}

static void take_route(struct ec2_route *r, const struct xml_node *row)
{
    static const char *const destinations[] = {"destinationCidrBlock", "destinationIpv6CidrBlock",
                                               "destinationPrefixListId"};
    static const char *const targets[] = {"natGatewayId",       "gatewayId",
                                          "transitGatewayId",   "vpcPeeringConnectionId",
                                          "networkInterfaceId", "egressOnlyInternetGatewayId",
                                          "localGatewayId",     "carrierGatewayId",
                                          "coreNetworkArn",     "instanceId"};
    const char *state = xml_text(row, "state");
    r->destination = xstrdup(first_of(row, destinations, ARRAY_LEN(destinations)));
    r->target = xstrdup(first_of(row, targets, ARRAY_LEN(targets)));
    r->blackhole = state != NULL && strcmp(state, "blackhole") == 0;
}

void ec2_take_route_table(void *out, const struct xml_node *item)
{
    struct ec2_route_tables *l = out;
    l->list = aws_grow(l->list, l->count, sizeof(*l->list));
    struct ec2_route_table *t = &l->list[l->count++];
    const struct xml_node *associations = xml_find(item, "associationSet");
    const struct xml_node *routes = xml_find(item, "routeSet");
    t->id = text_of(item, "routeTableId");
    t->vpc = text_of(item, "vpcId");
    for (size_t i = 0; associations != NULL && i < associations->count; i++)
        t->main = t->main || is_true(associations->children[i], "main");
    names_of(&t->subnets, item, "associationSet", "subnetId");
    t->route_count = routes != NULL ? routes->count : 0;
    t->routes = t->route_count > 0 ? xcalloc(t->route_count, sizeof(*t->routes)) : NULL;
    for (size_t i = 0; i < t->route_count; i++)
        take_route(&t->routes[i], routes->children[i]);
}

void ec2_route_tables_release(struct ec2_route_tables *x)
{
    for (size_t i = 0; i < x->count; i++) {
        struct ec2_route_table *t = &x->list[i];
        xfree(t->id);
        xfree(t->vpc);
        aws_names_release(&t->subnets);
        for (size_t k = 0; k < t->route_count; k++) {
            xfree(t->routes[k].destination);
            xfree(t->routes[k].target);
        }
        xfree(t->routes);
    }
    xfree(x->list);
    *x = (struct ec2_route_tables){0};
}

/* --- NAT gateways and endpoints --------------------------------------------------------------- */

void ec2_take_nat(void *out, const struct xml_node *item)
{
    struct ec2_nats *l = out;
    l->list = aws_grow(l->list, l->count, sizeof(*l->list));
    struct ec2_nat *n = &l->list[l->count++];
    const char *connectivity = xml_text(item, "connectivityType");
    *n = (struct ec2_nat){.id = text_of(item, "natGatewayId"),
                          .vpc = text_of(item, "vpcId"),
                          .subnet = text_of(item, "subnetId"),
                          .state = text_of(item, "state"),
                          .is_private =
                              connectivity != NULL && strcmp(connectivity, "private") == 0};
}

void ec2_nats_release(struct ec2_nats *x)
{
    for (size_t i = 0; i < x->count; i++) {
        xfree(x->list[i].id);
        xfree(x->list[i].vpc);
        xfree(x->list[i].subnet);
        xfree(x->list[i].state);
    }
    xfree(x->list);
    *x = (struct ec2_nats){0};
}

void ec2_take_endpoint(void *out, const struct xml_node *item)
{
    struct ec2_endpoints *l = out;
    l->list = aws_grow(l->list, l->count, sizeof(*l->list));
    struct ec2_endpoint *e = &l->list[l->count++];
    *e = (struct ec2_endpoint){.id = text_of(item, "vpcEndpointId"),
                               .vpc = text_of(item, "vpcId"),
                               .service = text_of(item, "serviceName"),
                               .type = text_of(item, "vpcEndpointType"),
                               .state = text_of(item, "state")};
    names_of(&e->route_tables, item, "routeTableIdSet", "");
    names_of(&e->subnets, item, "subnetIdSet", "");
}

void ec2_endpoints_release(struct ec2_endpoints *x)
{
    for (size_t i = 0; i < x->count; i++) {
        struct ec2_endpoint *e = &x->list[i];
        xfree(e->id);
        xfree(e->vpc);
        xfree(e->service);
        xfree(e->type);
        xfree(e->state);
        aws_names_release(&e->route_tables);
        aws_names_release(&e->subnets);
    }
    xfree(x->list);
    *x = (struct ec2_endpoints){0};
}
