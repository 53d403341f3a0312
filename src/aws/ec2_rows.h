/* Rows of EC2's answers, each added to its list (a struct of ec2.h). */
#ifndef SLUICE_AWS_EC2_ROWS_H
#define SLUICE_AWS_EC2_ROWS_H

#include "aws/ec2.h"

void ec2_take_vpc(void *out, const struct xml_node *item);
void ec2_take_subnet(void *out, const struct xml_node *item);
void ec2_take_group(void *out, const struct xml_node *item);
void ec2_take_route_table(void *out, const struct xml_node *item);
void ec2_take_nat(void *out, const struct xml_node *item);
void ec2_take_endpoint(void *out, const struct xml_node *item);
#endif
