/* The network a job runs in, as the surveys found it: the fact, looking things up in it, and what
 * is proposed when nothing is chosen. Judged by aws/network.h. */
#ifndef SLUICE_STEPS_EMR_NETWORK_H
#define SLUICE_STEPS_EMR_NETWORK_H

#include "aws/network.h"
#include "core/fact.h"
#include "core/snapshot.h"
#include "core/value.h"

extern const struct fact_type emr_network_type; /* struct ec2_network */
/* Takes the content of what is given (left empty); one reference to be given on. */
struct fact *emr_network_fact(struct ec2_network *n);

/* NULL when there is none of that id. */
const struct ec2_subnet *emr_subnet_of(const struct ec2_network *n, const char *id);
const struct ec2_group *emr_group_of(const struct ec2_network *n, const char *id);

/* Behind a NAT gateway, in a zone EMR Serverless works in: of the VPC that has most of them. */
void emr_good_subnets(const struct ec2_network *n, const char *region, struct aws_names *out);
/* One that lets 443 out and nobody in, of that VPC; the VPC's own (named default) before others. */
void emr_good_groups(const struct ec2_network *n, const char *vpc, struct aws_names *out);
/* The same as defaults of the fields; xfree, NULL when there are none. */
char *emr_default_subnets(const struct snapshot *s);
char *emr_default_groups(const struct snapshot *s);

/* "private → NAT gateway nat-77"; xfree. And in at most six columns: "NAT", "public", "none". */
char *emr_way_words(const struct network_subnet *j);
const char *emr_way_word(enum network_way way);
#endif
