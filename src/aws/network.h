/* Does a network lead a Spark job to the internet? EMR Serverless puts each job into one of the
 * application's subnets, so one bad subnet makes failures come and go. Pure functions over what
 * aws/ec2.h read. */
#ifndef SLUICE_AWS_NETWORK_H
#define SLUICE_AWS_NETWORK_H

#include "aws/ec2.h"

enum network_way {
    NETWORK_NAT,         /* 0.0.0.0/0 to an available public NAT gateway: good */
    NETWORK_PUBLIC,      /* to an internet gateway: works in today's service, worth a word */
    NETWORK_PRIVATE_NAT, /* to a NAT gateway that stays inside: no way out */
    NETWORK_BROKEN,      /* to something that is gone (blackhole), or a NAT that is not available */
    NETWORK_NONE,        /* no default route: no way out */
    NETWORK_UNDECIDED /* to a transit gateway, an appliance, a peering: cannot be seen from here */
};
const char *network_way_name(enum network_way way); /* "NAT gateway", "no default route" */
bool network_way_is_bad(enum network_way way);      /* PRIVATE_NAT, BROKEN, NONE */

struct network_subnet {
    const struct ec2_subnet *subnet; /* borrowed, as the rest */
    const char *table;               /* id of the route table that counts; NULL none */
    bool main_table;                 /* it counts because no table names the subnet */
    enum network_way way;
    const char *target;    /* of the default route: "nat-…"; "" none */
    const char *nat_state; /* with BROKEN by its NAT gateway; NULL otherwise */
    bool bad_zone;         /* EMR Serverless does not work in it */
    bool few_addresses;    /* fewer than NETWORK_ADDRESSES_MIN free: each worker takes one */
    bool s3_endpoint;      /* a gateway endpoint for S3 on its route table */
};
#define NETWORK_ADDRESSES_MIN 16
struct network_subnet network_judge_subnet(const struct ec2_subnet *s, const char *region,
                                           const struct ec2_network *n);
/* Zone ids that EMR Serverless knows in this region, by AWS's user guide; true where that names
 * none, and for a zone id that is not known (""). */
bool network_zone_supported(const char *region, const char *zone_id);

struct network_group {
    const struct ec2_group *group;
    bool open_inbound;     /* from anywhere: EMR Serverless refuses to create or start with it */
    const char *open_from; /* "0.0.0.0/0" or "::/0"; NULL none */
    bool reaches_https;    /* tcp 443 to anywhere may leave */
    bool limited_https;    /* only to some addresses, groups or prefix lists: cannot be decided */
};
struct network_group network_judge_group(const struct ec2_group *g);

/* A whole choice. Findings are sentences for people: the worst ones in `bad`, the others in `note`.
 */
struct network_verdict {
    struct aws_names bad;  /* the application or its jobs will fail */
    struct aws_names note; /* worth knowing */
    bool undecided;        /* a way out could not be seen, nor that there is none */
};
/* subnets and groups: ids. At least one of each, all of one VPC. */
void network_judge(const struct aws_names *subnets, const struct aws_names *groups,
                   const char *region, const struct ec2_network *n, struct network_verdict *out);
void network_verdict_release(struct network_verdict *v);
#define AUTO_NETWORK_VERDICT                                                                       \
    __attribute__((cleanup(network_verdict_release))) struct network_verdict
#endif
