/* The step emr: who calls AWS, and the application whose Spark jobs merge the changes. */
#include "steps/aws/begun.h"
#include "steps/emr/emr.h"
#include "steps/steps.h"

const struct check *const emr_checks[] = {
    &emr_check_identity,
    &emr_check_region,
    &emr_check_applications,
    &emr_check_network,
    &emr_check_chosen,
    /* the application */
    &emr_check_application,
    &emr_check_release,
    &emr_check_architecture,
    &emr_check_auto_start,
    &emr_check_auto_stop,
    &emr_check_capacity,
    /* its network */
    &emr_check_one_vpc,
    &emr_check_subnets_out,
    &emr_check_zones,
    &emr_check_addresses,
    &emr_check_groups_open,
    &emr_check_groups_out,
    NULL,
};

const struct step step_emr = {
    .id = "emr",
    .number = "3a",
    .name = "EMR",
    .title = "EMR Serverless application",
    .intro = "Estuary merges changes into the tables with Spark jobs. They run here, in your AWS "
             "account: the application must take them by itself, and reach the internet.",
    .needs = "AWS: credentials that may make EMR, IAM and S3 resources, or an admin",
    .link = "https://docs.aws.amazon.com/emr/latest/EMR-Serverless-UserGuide/getting-started.html",
    .fields = emr_fields,
    .checks = emr_checks,
    .plan = emr_plan,
    .kinds = emr_kinds,
    .begun = aws_begun,
};
