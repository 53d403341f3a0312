/* The folder's files. See export.h. */
#include "steps/review/export.h"

#include <string.h>

#include "aws/policy_edit.h"
#include "core/mem.h"
#include "core/run_make.h"
#include "estuary/tree.h"
#include "steps/review/material.h"
#include "steps/spec/models.h"
#include "steps/spec/sealed.h"

/* --- may it be written at all? ---------------------------------------------------------------- */

/* A specification that these would refuse is not worth a folder: it could not be published, or
 * would do harm. They read answers alone. */
static const char *const gates[] = {"capture.name", "capture.collections", "materialization.name",
                                    "materialization.tables", "materialization.deletes"};

static int gate(const struct material *m, const char *id, struct problem *err)
{
    const struct rows *rows = wizard_rows(m->wizard);
    struct run_spec spec = {.snapshot = m->snapshot, .check = rows->checks[rows_check(rows, id)]};
    struct run *run = run_make(&spec, err);
    if (run == NULL)
        return -1;
    struct outcome *o = outcome_new();
    spec.check->run(run, o);
    run_free(run);
    int rc = o->status == STATUS_FAILED ? -1 : 0;
    if (rc != 0) {
        problem_fail(err, PROBLEM_CONFLICT, id, "%s", o->line);
        problem_why(err, "%s", o->why != NULL ? o->why : "");
        problem_fix(err, o->who, "%s", o->fix != NULL ? o->fix : "");
    }
    for (size_t i = 0; rc != 0 && i < o->item_count; i++)
        if (o->items[i].status == STATUS_FAILED) {
            problem_evidence(err, "%s: %s", o->items[i].name, o->items[i].line);
            break;
        }
    outcome_unref(o);
    return rc;
}

static int refuse_faults(const char *connector, const struct estuary_faults *f, struct problem *err)
{
    if (f->count == 0)
        return 0;
    problem_fail(err, PROBLEM_CONFLICT, f->list[0].path, "%s would not take the config: %s",
                 connector, f->list[0].says);
    problem_why(err, "%s", f->list[0].why);
    problem_fix(err, WHO_YOU, "%s", f->list[0].fix);
    return -1;
}

/* --- the specification ------------------------------------------------------------------------ */

/* The configs as answered pass the connectors' rules, then take the form asked for. */
static int make_configs(const struct material *m, struct node **source, struct node **target,
                        struct problem *err)
{
    AUTO_ESTUARY_FAULTS of_source = {0};
    AUTO_ESTUARY_FAULTS of_target = {0};
    AUTO_SPEC_TARGET t = {0};
    struct estuary_source s = spec_source(&m->from);
    spec_target(&m->from, node_get_text(m->role, "arn"), m->key_id, &t);
    struct node *answered_source = estuary_source_config(&s);
    struct node *answered_target = estuary_target_config(&t.target);
    estuary_source_faults(answered_source, &of_source);
    estuary_target_faults(answered_target, &of_target);
    int rc = refuse_faults(ESTUARY_SOURCE_NAME, &of_source, err);
    if (rc == 0)
        rc = refuse_faults(ESTUARY_TARGET_NAME, &of_target, err);
    if (rc != 0) {
        node_free(answered_source);
        node_free(answered_target);
        return -1;
    }
    rc = material_config(m, SPEC_FACT_SOURCE_SEALED, answered_source, source, err);
    int other =
        material_config(m, SPEC_FACT_TARGET_SEALED, answered_target, target, rc == 0 ? err : NULL);
    return rc == 0 ? other : rc;
}

/* What Estuary's discovery wrote, else a draft by hand. */
static struct node *collection_of(const struct material *m, size_t i)
{
    const struct node *model = material_discovered(m, m->bindings[i].collection);
    return model != NULL ? node_copy(model) : estuary_collection_draft(&m->bindings[i]);
}

static void add_tree(const struct material *m, struct node *source, struct node *target,
                     struct folder *out)
{
    size_t tables = m->tables.count;
    const char *capture = material_text(m, "capture.name");
    struct estuary_spec *specs = xcalloc(tables + 2, sizeof *specs);
    for (size_t i = 0; i < tables; i++)
        specs[i] = (struct estuary_spec){ESTUARY_COLLECTION, m->bindings[i].collection,
                                         collection_of(m, i)};
    specs[tables] =
        (struct estuary_spec){ESTUARY_CAPTURE, capture, spec_capture_model(&m->tables, source)};
    specs[tables + 1] = (struct estuary_spec){
        ESTUARY_MATERIALIZATION, material_text(m, "materialization.name"),
        spec_materialization_model(&m->tables, target, m->image, capture,
                                   material_text(m, "materialization.namespace"))};
    estuary_tree(specs, tables + 2, out);
    for (size_t i = 0; i < tables + 2; i++)
        node_free(specs[i].model);
    xfree(specs);
}

/* --- the policies ----------------------------------------------------------------------------- */

static int add_policies(const struct material *m, struct folder *out, struct problem *err)
{
    static const struct {
        enum policy_kind kind;
        const char *path;
    } files[] = {{POLICY_ROLE, "policies/role.json"},
                 {POLICY_TRUST, "policies/role-trust.json"},
                 {POLICY_USER, "policies/user.json"}};
    struct policy_values v = {.partition = node_get_text(m->identity, "partition"),
                              .region = material_text(m, "emr.region"),
                              .account = node_get_text(m->identity, "account"),
                              .lake = material_text(m, "bucket.lake"),
                              .lake_prefix = material_text(m, "bucket.lake_prefix"),
                              .staging = material_text(m, "bucket.staging"),
                              .staging_prefix = material_text(m, "bucket.staging_prefix"),
                              .application = material_text(m, "emr.application"),
                              .role_arn = node_get_text(m->role, "arn"),
                              .ssm_prefix = material_text(m, "iam.ssm_prefix")};
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        AUTO(xfree) char *document = NULL;
        if (policy_render(files[i].kind, &v, &document, err) != 0)
            return -1;
        AUTO(xfree) char *pretty = policy_pretty(document);
        AUTO(xfree) char *lines = xasprintf("%s\n", pretty);
        folder_add(out, files[i].path, lines, strlen(lines));
    }
    return 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void add_text(void (*write)(const struct material *m, struct text *out),
                     const struct material *m, const char *path, struct folder *out)
{
    AUTO_TEXT text = TEXT_INIT;
    write(m, &text);
    folder_add(out, path, text.s, text.len);
}

/* Judged here once more, of what is exported: the gate's facts may be of other answers. */
static int deletes_hold(const struct material *m, struct problem *err)
{
    if (strcmp(material_text(m, "materialization.hard_delete"), "yes") != 0 || !material_draft(m))
        return 0;
    /* by the code a front end leads to where it is settled */
    problem_fail(err, PROBLEM_CONFLICT, "capture.discovery",
                 "hard deletes need collections that Estuary discovered with these answers");
    problem_fix(err, WHO_YOU,
                "Allow the discovery in the step Capture (sluice check --deep capture), or choose "
                "soft deletes.");
    return -1;
}

int review_export(struct wizard *w, const struct state *s, enum export_secrets form,
                  struct folder *out, bool *draft, struct problem *err)
{
    AUTO_MATERIAL m = {0};
    struct node *source = NULL, *target = NULL;
    int rc = material_gather(w, s, form, &m, err);
    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(gates); i++)
        rc = gate(&m, gates[i], err);
    if (rc == 0)
        rc = deletes_hold(&m, err);
    if (rc == 0)
        rc = make_configs(&m, &source, &target, err);
    if (rc != 0) {
        material_wipe(source);
        material_wipe(target);
        return -1;
    }
    *draft = material_draft(&m);
    add_tree(&m, source, target, out); /* takes both */
    add_text(export_sql, &m, "postgres.sql", out);
    add_text(export_runbook, &m, "RUNBOOK.md", out);
    return add_policies(&m, out, err);
}
