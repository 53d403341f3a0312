/* Whether the tables are there already: Estuary's connector takes a new binding onto no table that
 * exists, and would say so only when it is published. */
#include <string.h>

#include "catalog/tables.h"
#include "core/mem.h"
#include "steps/materialization/materialization.h"
#include "steps/oauth/facts.h"
#include "steps/oauth/target.h"

#define LIST_MS 45000

static bool has(const struct catalog_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->names[i], name) == 0)
            return true;
    return false;
}

static void judge_tables(const struct spec_tables *t, const struct catalog_names *there,
                         const char *ns, struct outcome *out)
{
    size_t found = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (!has(there, t->list[i].iceberg))
            continue;
        AUTO(xfree) char *line = xasprintf("%s.%s is there already", ns, t->list[i].iceberg);
        outcome_item(out, STATUS_WARNED, t->list[i].written, line,
                     "Drop it, or answer another name for it.");
        found++;
    }
    if (found == 0) {
        outcome_pass(out, "%zu, none there yet%s", t->count,
                     there->more ? "; of very many not all were listed" : "");
        return;
    }
    outcome_warn(out, "%zu of %zu tables are there already", found, t->count);
    outcome_why(out, "Estuary takes a table that exists only for a binding that made it: a new one "
                     "is refused with “already exists for new binding”. Fine when this pipeline "
                     "was published before.");
    outcome_fix(out, WHO_YOU, "See each line: drop the table, answer another name or namespace.");
}

static void run_existing(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_OAUTH_TARGET target;
    AUTO_SPEC_TABLES t = {0};
    AUTO_CATALOG_NAMES there = {0};
    const char *ns = run_text(run, "materialization.namespace");
    if (oauth_target(run, &target, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    const struct catalog_config *config = run_fact(run, "oauth.config", &oauth_config_type);
    spec_tables(&(struct spec_from){.run = run}, &t);
    outcome_tried(out, "the tables of namespace %s", ns);
    if (catalog_list_tables(run, &target.catalog, config, ns, &there, &err) != 0)
        outcome_problem(out, &err);
    else
        judge_tables(&t, &there, ns, out);
}

const struct check materialization_check_existing = {
    .id = "materialization.existing",
    .title = "tables are new in Bauplan",
    .reads = (const char *const[]){OAUTH_READS_TARGET, "oauth.config", "materialization.namespace",
                                   SPEC_READS_TABLES, NULL},
    .severity = SEV_WARNS,
    .effect = EFFECT_READS,
    .service = "catalog",
    .deadline_ms = LIST_MS,
    .cause = "A table of this name was made by hand, by another pipeline, or by this one before.",
    .fix = "Drop it, or answer another name or namespace.",
    .run = run_existing,
};
