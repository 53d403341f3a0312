/* AWS EC2, only what says whether a job's network leads to the internet. All calls read; in IAM all
 * of them are on "*". `vpc` NULL = of the whole region. Judged by aws/network.h. */
#ifndef SLUICE_AWS_EC2_H
#define SLUICE_AWS_EC2_H

#include "aws/ask.h"

struct ec2_vpc {
    char *id, *name, *cidr, *state; /* name: its tag Name, "" none */
    bool is_default;
};
struct ec2_vpcs {
    size_t count;
    struct ec2_vpc *list;
};

struct ec2_subnet {
    char *id, *name, *vpc, *cidr, *state;
    char *zone, *zone_id; /* "us-east-1a" differs by account, "use1-az1" does not */
    int free_addresses;
    bool public_addresses; /* given at launch */
};
struct ec2_subnets {
    size_t count;
    struct ec2_subnet *list;
};

struct ec2_rule {
    char *protocol;          /* "tcp", "-1" = all */
    int from_port, to_port;  /* -1 = all */
    struct aws_names ranges; /* IPv4 and IPv6 */
    struct aws_names groups; /* other security groups */
    struct aws_names lists;  /* prefix lists */
};
struct ec2_group {
    char *id, *name, *vpc;
    size_t inbound_count, outbound_count;
    struct ec2_rule *inbound, *outbound;
};
struct ec2_groups {
    size_t count;
    struct ec2_group *list;
};

struct ec2_route {
    char *destination; /* CIDR of either family, or a prefix list */
    char *target; /* "nat-…", "igw-…", "local", "tgw-…", "eni-…", "vpce-…"; "" unknown */
    bool blackhole;
};
struct ec2_route_table {
    char *id, *vpc;
    bool main;                /* for subnets that no table names */
    struct aws_names subnets; /* that name it */
    size_t route_count;
    struct ec2_route *routes;
};
struct ec2_route_tables {
    size_t count;
    struct ec2_route_table *list;
};

struct ec2_nat {
    char *id, *vpc, *subnet, *state; /* pending failed available deleting deleted */
    bool is_private;                 /* does not reach the internet */
};
struct ec2_nats {
    size_t count;
    struct ec2_nat *list;
};

struct ec2_endpoint {
    char *id, *vpc, *service, *type, *state; /* "com.amazonaws.us-east-1.s3", "Gateway" */
    struct aws_names route_tables, subnets;
};
struct ec2_endpoints {
    size_t count;
    struct ec2_endpoint *list;
};

int ec2_describe_vpcs(struct run *run, const struct aws_client *client, struct ec2_vpcs *out,
                      struct problem *err);
int ec2_describe_subnets(struct run *run, const struct aws_client *client, const char *vpc,
                         struct ec2_subnets *out, struct problem *err);
int ec2_describe_groups(struct run *run, const struct aws_client *client, const char *vpc,
                        struct ec2_groups *out, struct problem *err);
int ec2_describe_route_tables(struct run *run, const struct aws_client *client, const char *vpc,
                              struct ec2_route_tables *out, struct problem *err);
int ec2_describe_nats(struct run *run, const struct aws_client *client, const char *vpc,
                      struct ec2_nats *out, struct problem *err);
int ec2_describe_endpoints(struct run *run, const struct aws_client *client, const char *vpc,
                           struct ec2_endpoints *out, struct problem *err);

void ec2_vpcs_release(struct ec2_vpcs *x);
void ec2_subnets_release(struct ec2_subnets *x);
void ec2_groups_release(struct ec2_groups *x);
void ec2_route_tables_release(struct ec2_route_tables *x);
void ec2_nats_release(struct ec2_nats *x);
void ec2_endpoints_release(struct ec2_endpoints *x);

/* All of it, for one region or VPC. */
struct ec2_network {
    struct ec2_vpcs vpcs;
    struct ec2_subnets subnets;
    struct ec2_groups groups;
    struct ec2_route_tables tables;
    struct ec2_nats nats;
    struct ec2_endpoints endpoints;
};
int ec2_read_network(struct run *run, const struct aws_client *client, const char *vpc,
                     struct ec2_network *out, struct problem *err);
void ec2_network_release(struct ec2_network *n);
#define AUTO_EC2_NETWORK __attribute__((cleanup(ec2_network_release))) struct ec2_network
#endif
