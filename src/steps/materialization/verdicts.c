/* Verdicts on the materialization: its name, its namespace, its rights, deletes and cost. No I/O.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "catalog/rest.h"
#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "estuary/names.h"
#include "steps/materialization/materialization.h"
#include "steps/oauth/facts.h"
#include "steps/spec/discovered.h"
#include "steps/spec/inputs.h"

/* --- name ------------------------------------------------------------------------------------- */

static void name_clash(const char *name, const char *other, struct outcome *out)
{
    outcome_fail(out, "name collision", "%s and %s do not go together", name, other);
    outcome_why(out, "All things in Estuary share one space of names, and none may be a folder of "
                     "another: the publication would be refused.");
    outcome_fix(out, WHO_YOU, "Let the name end in " ESTUARY_TARGET_NAME ".");
}

static void run_name(struct run *run, struct outcome *out)
{
    const char *name = run_text(run, "materialization.name");
    const char *capture = run_text(run, "capture.name");
    AUTO_SPEC_TABLES t = {0};
    if (spec_name_outside(name, run_text(run, "start.prefix"), out))
        return;
    if (estuary_names_clash(name, capture) != ESTUARY_APART) {
        name_clash(name, capture, out);
        return;
    }
    spec_collections(&(struct spec_from){.run = run}, &t);
    for (size_t i = 0; i < t.count; i++)
        if (estuary_names_clash(name, t.list[i].collection) != ESTUARY_APART) {
            name_clash(name, t.list[i].collection, out);
            return;
        }
    AUTO(xfree) char *parameter = estuary_parameter(run_text(run, "iam.ssm_prefix"), name);
    outcome_pass(out, "parameter %s", parameter);
}

const struct check materialization_check_name = {
    .id = "materialization.name",
    .title = "the name is yours to give",
    .reads = (const char *const[]){"materialization.name", "start.prefix", "iam.ssm_prefix",
                                   SPEC_READS_COLLECTIONS, NULL},
    .severity = SEV_BLOCKS,
    .cause = "The name stands outside the prefix, is taken by the capture or a collection, or is a "
             "folder of one.",
    .fix = "Begin it with the prefix and let it end in materialize-bauplan.",
    .run = run_name,
};

/* --- namespace -------------------------------------------------------------------------------- */

static void run_namespace(struct run *run, struct outcome *out)
{
    const char *ns = run_text(run, "materialization.namespace");
    const struct catalog_names *have = run_fact(run, SPEC_FACT_NAMESPACES, &oauth_namespaces_type);
    const char *other_case = NULL;
    if (strcmp(ns, "estuary") == 0) {
        outcome_warn(out, "estuary is also the name of the connector's catalog in Spark");
        outcome_why(out, "Older versions took the one for the other.");
        outcome_fix(out, WHO_YOU, "Choose another name.");
        return;
    }
    for (size_t i = 0; i < have->count; i++) {
        if (strcmp(have->names[i], ns) == 0) {
            outcome_pass(out, "%s is there", ns);
            return;
        }
        if (strcasecmp(have->names[i], ns) == 0)
            other_case = have->names[i];
    }
    if (other_case == NULL) {
        outcome_pass(out, "%s is new: Estuary makes it%s", ns,
                     have->more ? ", unless it is one of many not listed" : "");
        return;
    }
    outcome_warn(out, "there is %s; Estuary would make %s beside it", other_case, ns);
    outcome_why(out, "The connector writes namespaces in lower case and does not find one of "
                     "another case.");
    outcome_fix(out, WHO_YOU,
                "Choose a name that differs by more, or rename the one that is there.");
}

const struct check materialization_check_namespace = {
    .id = "materialization.namespace",
    .title = "namespace",
    .reads = (const char *const[]){"materialization.namespace", SPEC_FACT_NAMESPACES, NULL},
    .severity = SEV_WARNS,
    .cause = "A namespace of the same name in upper case stands on the branch.",
    .fix = "Choose a name that differs by more than case.",
    .run = run_namespace,
};

/* --- policies --------------------------------------------------------------------------------- */

static void run_policies(struct run *run, struct outcome *out)
{
    const char *staging = run_text(run, "bucket.staging");
    const char *path = run_text(run, "bucket.staging_prefix");
    if (path[0] == '\0') {
        outcome_fail(out, "bucket_path",
                     "Bucket Path would be empty: Estuary writes to the root of %s", staging);
        outcome_why(out,
                    "The policies allow writing in the staging folder and in the lake's folder, "
                    "nowhere else: every write would be denied.");
        outcome_fix(out, WHO_YOU, "Answer the staging folder; estuary-staging is the usual one.");
        outcome_suggest(out, "bucket.staging_prefix", "estuary-staging");
        return;
    }
    outcome_pass(out, "bucket_path %s in %s, as user and role may write", path, staging);
}

/* That the live policies allow just these places is what the checks of iam prove, of the same
 * answers: this one stands on them. */
const struct check materialization_check_policies = {
    .id = "materialization.policies",
    .title = "bucket path fits policies",
    .reads = (const char *const[]){"bucket.staging", "bucket.staging_prefix", NULL},
    .after = (const char *const[]){"bucket.prefixes", "iam.role_policy", "iam.user_policy", NULL},
    .severity = SEV_BLOCKS,
    .cause =
        "The older guide leaves Bucket Path out, while its policies only allow writing below a "
        "folder.",
    .fix = "Answer the staging folder that the policies name.",
    .run = run_policies,
};

/* --- deletes ---------------------------------------------------------------------------------- */

static void run_deletes(struct run *run, struct outcome *out)
{
    AUTO_SPEC_TABLES t = {0};
    if (strcmp(run_text(run, "materialization.hard_delete"), "yes") != 0) {
        outcome_pass(out, "deleted rows stay, marked d in _meta/op");
        return;
    }
    spec_collections(&(struct spec_from){.run = run}, &t);
    const struct spec_discovered *d = run_fact(run, SPEC_FACT_DISCOVERED, &spec_discovered_type);
    const char *without = spec_undiscovered(d, &t);
    if (without == NULL) {
        outcome_pass(out, "deleted rows vanish with the next sync");
        return;
    }
    if (run_secret(run, "start.token") != NULL) {
        outcome_warn(out, "known after the discovery in the step Capture");
        outcome_why(out, "Hard deletes need collections as Estuary writes them: a draft by hand "
                         "lacks _meta, by which the connector tells a deleted row.");
        outcome_fix(out, WHO_YOU,
                    "Go on; once the capture user is made, allow the discovery there with Space "
                    "(sluice check --deep).");
        return;
    }
    outcome_fail(out, "hard_delete",
                 "hard deletes need collections that Estuary discovered; %s is "
                 "a draft",
                 without);
    outcome_why(out, "A draft by hand lacks _meta, by which the connector tells a deleted row. "
                     "Rows would stay, as if nothing had been deleted.");
    outcome_fix(out, WHO_YOU,
                "Answer the Estuary token in Start, for Estuary to discover the tables; or choose "
                "soft deletes.");
    outcome_suggest(out, "materialization.hard_delete", "no");
}

const struct check materialization_check_deletes = {
    .id = "materialization.deletes",
    .title = "deletes arrive as wanted",
    .reads = (const char *const[]){"materialization.hard_delete", SPEC_READS_COLLECTIONS,
                                   "?start.token", "?" SPEC_FACT_DISCOVERED, NULL},
    .severity = SEV_BLOCKS,
    .cause = "Hard deletes were chosen, and the collections were not discovered by Estuary.",
    .fix = "Discover them first, or choose soft deletes.",
    .run = run_deletes,
};

/* --- schedule --------------------------------------------------------------------------------- */

long materialization_syncs(const char *frequency)
{
    static const struct {
        const char *unit;
        long seconds;
    } units[] = {{"s", 1}, {"m", 60}, {"h", 3600}};
    char *end;
    long n = strtol(frequency, &end, 10);
    for (size_t i = 0; n > 0 && i < ARRAY_LEN(units); i++)
        if (strcmp(end, units[i].unit) == 0)
            return 86400 / (n * units[i].seconds);
    return 0;
}

static void run_schedule(struct run *run, struct outcome *out)
{
    const char *every = run_text(run, "materialization.sync_frequency");
    long syncs = materialization_syncs(every);
    if (syncs > 0 && syncs <= 288) {
        outcome_pass(out, "every %s: up to %ld syncs a day, of one or two Spark jobs each", every,
                     syncs);
        return;
    }
    if (syncs > 0)
        outcome_warn(out, "every %s: up to %ld syncs a day", every, syncs);
    else
        outcome_warn(out, "one sync after the other, without a pause");
    outcome_why(out, "A Spark job takes minutes to start and to merge and is paid by the minute: "
                     "the application would hardly ever stop.");
    outcome_fix(out, WHO_YOU, "Choose 5 min or more, unless you need it.");
}

const struct check materialization_check_schedule = {
    .id = "materialization.schedule",
    .title = "what it costs",
    .reads = (const char *const[]){"materialization.sync_frequency", NULL},
    .severity = SEV_INFORMS,
    .cause = "Syncs follow each other more quickly than Spark jobs start.",
    .fix = "Choose a longer pause.",
    .run = run_schedule,
};
