/* AWS EC2: reading a network. See ec2.h. The six calls differ in their names and rows only: a table
 * says what each is called, `collect` pages through it. Rows are read in ec2_rows.c. */
#include "aws/ec2.h"

#include <string.h>

#include "aws/ec2_rows.h"

#define PAGE "100" /* the most that all six allow */

struct listing {
    const char *action;
    const char *rows; /* element that holds an <item> a row */
    void (*take)(void *out, const struct xml_node *item);
};

static const struct listing vpcs = {"DescribeVpcs", "vpcSet", ec2_take_vpc};
static const struct listing subnets = {"DescribeSubnets", "subnetSet", ec2_take_subnet};
static const struct listing groups = {"DescribeSecurityGroups", "securityGroupInfo",
                                      ec2_take_group};
static const struct listing tables = {"DescribeRouteTables", "routeTableSet", ec2_take_route_table};
static const struct listing nats = {"DescribeNatGateways", "natGatewaySet", ec2_take_nat};
static const struct listing endpoints = {"DescribeVpcEndpoints", "vpcEndpointSet",
                                         ec2_take_endpoint};

static int collect(struct run *run, const struct aws_client *client, const struct listing *l,
                   const char *vpc, void *out, struct problem *err)
{
    AUTO_AWS_PAGES pages = {0};
    int more;
    do {
        AUTO_AWS_ANSWER a;
        const struct aws_pair pairs[] = {{"MaxResults", PAGE},
                                         {"NextToken", pages.token},
                                         {"Filter.1.Name", vpc != NULL ? "vpc-id" : NULL},
                                         {"Filter.1.Value.1", vpc},
                                         {NULL, NULL}};
        more = aws_ask(run, client, &aws_ec2, l->action, true, pairs, &a, err);
        const struct xml_node *rows = xml_find(a.xml, l->rows);
        for (size_t i = 0; more == 0 && rows != NULL && i < rows->count; i++)
            l->take(out, rows->children[i]);
        if (more == 0)
            more = aws_pages_more(&pages, xml_text(a.xml, "nextToken"), l->action, err);
    } while (more == 1);
    return more;
}

int ec2_describe_vpcs(struct run *run, const struct aws_client *client, struct ec2_vpcs *out,
                      struct problem *err)
{
    *out = (struct ec2_vpcs){0};
    if (collect(run, client, &vpcs, NULL, out, err) == 0)
        return 0;
    ec2_vpcs_release(out);
    return -1;
}

int ec2_describe_subnets(struct run *run, const struct aws_client *client, const char *vpc,
                         struct ec2_subnets *out, struct problem *err)
{
    *out = (struct ec2_subnets){0};
    if (collect(run, client, &subnets, vpc, out, err) == 0)
        return 0;
    ec2_subnets_release(out);
    return -1;
}

int ec2_describe_groups(struct run *run, const struct aws_client *client, const char *vpc,
                        struct ec2_groups *out, struct problem *err)
{
    *out = (struct ec2_groups){0};
    if (collect(run, client, &groups, vpc, out, err) == 0)
        return 0;
    ec2_groups_release(out);
    return -1;
}

/* By VPC and not by subnet: the main table names no subnet. */
int ec2_describe_route_tables(struct run *run, const struct aws_client *client, const char *vpc,
                              struct ec2_route_tables *out, struct problem *err)
{
    *out = (struct ec2_route_tables){0};
    if (collect(run, client, &tables, vpc, out, err) == 0)
        return 0;
    ec2_route_tables_release(out);
    return -1;
}

int ec2_describe_nats(struct run *run, const struct aws_client *client, const char *vpc,
                      struct ec2_nats *out, struct problem *err)
{
    *out = (struct ec2_nats){0};
    if (collect(run, client, &nats, vpc, out, err) == 0)
        return 0;
    ec2_nats_release(out);
    return -1;
}

int ec2_describe_endpoints(struct run *run, const struct aws_client *client, const char *vpc,
                           struct ec2_endpoints *out, struct problem *err)
{
    *out = (struct ec2_endpoints){0};
    if (collect(run, client, &endpoints, vpc, out, err) == 0)
        return 0;
    ec2_endpoints_release(out);
    return -1;
}

int ec2_read_network(struct run *run, const struct aws_client *client, const char *vpc,
                     struct ec2_network *out, struct problem *err)
{
    *out = (struct ec2_network){0};
    if (ec2_describe_vpcs(run, client, &out->vpcs, err) == 0 &&
        ec2_describe_subnets(run, client, vpc, &out->subnets, err) == 0 &&
        ec2_describe_groups(run, client, vpc, &out->groups, err) == 0 &&
        ec2_describe_route_tables(run, client, vpc, &out->tables, err) == 0 &&
        ec2_describe_nats(run, client, vpc, &out->nats, err) == 0 &&
        ec2_describe_endpoints(run, client, vpc, &out->endpoints, err) == 0)
        return 0;
    ec2_network_release(out);
    return -1;
}

void ec2_network_release(struct ec2_network *n)
{
    ec2_vpcs_release(&n->vpcs);
    ec2_subnets_release(&n->subnets);
    ec2_groups_release(&n->groups);
    ec2_route_tables_release(&n->tables);
    ec2_nats_release(&n->nats);
    ec2_endpoints_release(&n->endpoints);
}
