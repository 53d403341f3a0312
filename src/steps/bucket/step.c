/* The step bucket: where tables lie, and where files are staged. */
#include "steps/aws/begun.h"
#include "steps/bucket/bucket.h"
#include "steps/steps.h"

const struct check *const bucket_checks[] = {
    &bucket_check_table,    &bucket_check_region,
    &bucket_check_found,    &bucket_check_lake_access,
    &bucket_check_location, &bucket_check_staging_access,
    &bucket_check_prefixes, &bucket_check_public_access,
    &bucket_check_hygiene,  NULL,
};

const struct step step_bucket = {
    .id = "bucket",
    .number = "3b",
    .name = "Buckets",
    .title = "Lake and staging buckets",
    .intro = "Two places in S3, in the region of the application: the lake, where Bauplan's tables "
             "lie and which sluice never makes or changes, and the staging place, where Estuary "
             "puts files before they are merged.",
    .needs = "Bauplan: the name of the bucket your lake lies in",
    .link = "https://docs.bauplanlabs.com/integrations/data-int-and-etl/estuary",
    .fields = bucket_fields,
    .checks = bucket_checks,
    .plan = bucket_plan,
    .kinds = bucket_kinds,
    .begun = aws_begun,
};
