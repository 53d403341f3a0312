/* The verdict on the materialization's config as it will be published, against the connector's own
 * rules. No I/O. */
#include <string.h>

#include "core/mem.h"
#include "core/run.h"
#include "steps/iam/iam.h"
#include "steps/materialization/materialization.h"
#include "steps/spec/inputs.h"

/* ARN of the execution role: that of the one that was found, else of the one its name and path will
 * give it; xfree. */
static char *role_arn(const struct run *run)
{
    const struct iam_side *role = run_fact(run, SPEC_FACT_ROLE, &iam_role_type);
    const struct aws_identity *who = run_fact(run, SPEC_FACT_IDENTITY, &aws_identity_type);
    if (role->exists)
        return xstrdup(role->entity.arn);
    return xasprintf("arn:%s:iam::%s:role%s%s", who->partition, who->account,
                     run_text(run, "iam.path"), run_text(run, "iam.role"));
}

/* The part of the access key that is no secret; NULL when it is not at hand; xfree. */
static char *key_id(const struct run *run)
{
    struct secret *key = run_secret(run, "iam.access_key");
    const char *bytes = key != NULL ? secret_bytes(key) : "";
    const char *colon = strchr(bytes, ':');
    return colon != NULL ? xstrndup(bytes, (size_t)(colon - bytes)) : NULL;
}

struct node *materialization_config(const struct run *run)
{
    AUTO(xfree) char *arn = role_arn(run);
    AUTO(xfree) char *id = key_id(run);
    AUTO_SPEC_TARGET t = {0};
    spec_target(&(struct spec_from){.run = run}, arn, id, &t);
    return estuary_target_config(&t.target);
}

static void run_config(struct run *run, struct outcome *out)
{
    AUTO_ESTUARY_FAULTS faults = {0};
    struct node *config = materialization_config(run);
    estuary_target_faults(config, &faults);
    if (faults.count == 0)
        outcome_pass(out, "%s, %s", node_get_text(config, "url"),
                     node_get_text(config, "base_location"));
    else
        spec_judge_config(&faults, out);
    node_free(config);
}

const struct check materialization_check_config = {
    .id = "materialization.config",
    .title = "connector takes the config",
    .reads = (const char *const[]){MATERIALIZATION_READS_CONFIG, "?iam.access_key", NULL},
    .needs = (const char *const[]){"emr.application", "iam.role", NULL},
    .severity = SEV_BLOCKS,
    .cause = "A value breaks a rule that Estuary's Iceberg connector has, or one that only its "
             "first job would meet.",
    .fix = "Correct the answer that is named.",
    .run = run_config,
};
