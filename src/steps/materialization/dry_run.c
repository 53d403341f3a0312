/* The whole specification built by Estuary for trial: its connectors validate against the real
 * database, catalog and AWS, and nothing goes live. The last proof before publishing. */
#include <string.h>

#include "core/mem.h"
#include "core/text.h"
#include "estuary/draft.h"
#include "estuary/live.h"
#include "steps/materialization/materialization.h"
#include "steps/spec/discovered.h"
#include "steps/spec/image.h"
#include "steps/spec/models.h"
#include "steps/spec/sealed.h"

#define DRY_RUN_MS 600000 /* a build takes a minute or two; queued behind others, longer */
#define DRY_RUN_FRESH_S 86400
#define COMPLAINTS_SHOWN 20

static void stage_all(const struct run *run, const struct spec_tables *t,
                      const struct spec_discovered *d, struct estuary_staging *out)
{
    const struct spec_sealed *source = run_fact(run, SPEC_FACT_SOURCE_SEALED, &spec_sealed_type);
    const struct spec_sealed *target = run_fact(run, SPEC_FACT_TARGET_SEALED, &spec_sealed_type);
    const struct spec_image *image = run_fact(run, SPEC_FACT_IMAGE, &spec_image_type);
    const char *capture = run_text(run, "capture.name");
    estuary_staging_add(out, capture, "capture",
                        spec_capture_model(t, node_copy(source->document)));
    for (size_t i = 0; i < t->count; i++)
        estuary_staging_add(out, t->list[i].collection, "collection",
                            node_copy(spec_discovered_model(d, t->list[i].collection)));
    estuary_staging_add(out, run_text(run, "materialization.name"), "materialization",
                        spec_materialization_model(t, node_copy(target->document),
                                                   spec_image_of(image), capture,
                                                   run_text(run, "materialization.namespace")));
}

/* True when none of the names is live: then the build may insist on that. */
static int all_new(struct run *run, const struct estuary_staging *s, bool *fresh,
                   struct problem *err)
{
    AUTO_LIVES live = {0};
    const char **names = xcalloc(s->count + 1, sizeof *names);
    for (size_t i = 0; i < s->count; i++)
        names[i] = s->list[i].name;
    int rc = estuary_live_read(run, run_secret(run, "start.token"), names, s->count, &live, err);
    *fresh = rc == 0 && live.count == 0;
    xfree(names);
    return rc;
}

static int try_in(struct run *run, const char *draft, const struct estuary_staging *s,
                  struct estuary_complaints *complaints, struct problem *err)
{
    struct secret *token = run_secret(run, "start.token");
    bool fresh;
    run_progress(run, 0, 0, "staging the specification");
    if (all_new(run, s, &fresh, err) != 0 ||
        estuary_draft_stage(run, token, draft, s, fresh, err) != 0)
        return -1;
    run_progress(run, 0, 0, "Estuary builds it");
    return estuary_draft_try(run, token, draft, run_text(run, "start.data_plane"), complaints, err);
}

static int try_all(struct run *run, const struct estuary_staging *s,
                   struct estuary_complaints *complaints, struct problem *left, struct problem *err)
{
    struct secret *token = run_secret(run, "start.token");
    AUTO(xfree) char *draft = NULL;
    AUTO(xfree)
    char *detail = xasprintf("sluice: dry run of %s", run_text(run, "materialization.name"));
    if (estuary_draft_new(run, token, detail, &draft, err) != 0)
        return -1;
    int rc = try_in(run, draft, s, complaints, err);
    estuary_draft_delete(run, token, draft, left);
    return rc;
}

static void list_complaints(const struct estuary_complaints *c, struct outcome *out)
{
    for (size_t i = 0; i < c->count && i < COMPLAINTS_SHOWN; i++) {
        const struct estuary_complaint *one = &c->list[i];
        AUTO(xfree)
        char *name = xasprintf("%s%s%s%s", one->sort, one->sort[0] != '\0' ? " " : "", one->name,
                               one->where);
        outcome_item(out, STATUS_FAILED, name[0] != '\0' ? name : "the draft", one->detail, NULL);
    }
}

static void run_dry_run(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_PROBLEM left = PROBLEM_INIT;
    AUTO_SPEC_TABLES t = {0};
    AUTO_STAGING s = {0};
    AUTO_COMPLAINTS complaints = {0};
    if (run_secret(run, "start.token") == NULL) {
        outcome_skip(out, "no Estuary token: flowctl catalog test does it in the exported folder");
        return;
    }
    spec_tables(&(struct spec_from){.run = run}, &t);
    const struct spec_discovered *d = run_fact(run, SPEC_FACT_DISCOVERED, &spec_discovered_type);
    const char *without = spec_undiscovered(d, &t);
    if (without != NULL) {
        outcome_fail(out, "discovery", "%s was not discovered", without);
        outcome_fix(out, WHO_YOU, "Have Estuary discover the tables again in the step Capture.");
        return;
    }
    stage_all(run, &t, d, &s);
    outcome_tried(out, "a draft of %zu specifications, built by Estuary for trial", s.count);
    if (try_all(run, &s, &complaints, &left, &err) != 0) {
        outcome_problem(out, &err);
        list_complaints(&complaints, out);
    } else {
        outcome_pass(out, "Estuary built both tasks with %zu tables; nothing went live", t.count);
    }
    spec_tell_left(&left, out);
}

const struct check materialization_check_dry_run = {
    .id = "materialization.dry_run",
    .title = "Estuary builds it for trial",
    .reads = (const char *const[]){"?start.token", "?start.data_plane", SPEC_READS_TABLES,
                                   "materialization.name", "materialization.namespace",
                                   SPEC_FACT_SOURCE_SEALED, SPEC_FACT_TARGET_SEALED,
                                   "?" SPEC_FACT_DISCOVERED, "?" SPEC_FACT_IMAGE, NULL},
    .after =
        (const char *const[]){"start.login", "start.prefix", "start.plane", "capture.discovery",
                              "materialization.name", "materialization.tables",
                              "materialization.deletes", "materialization.connector", NULL},
    .needs = (const char *const[]){"postgres.role", "postgres.password", "postgres.grants",
                                   "postgres.watermarks", "postgres.publication", "emr.application",
                                   "bucket.staging", "iam.role", "iam.role_policy", "iam.trust",
                                   "iam.user", "iam.user_policy", "iam.access_key", NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_PROBES,
    .service = SPEC_SERVICE,
    .touches = "a draft in Estuary with the whole specification, configs sealed; Estuary builds it "
               "for trial, its connectors log in to database, catalog and AWS as they will; the "
               "draft is deleted, nothing is published; one parameter named test, which the "
               "connector writes below your prefix in AWS, stays there",
    .deadline_ms = DRY_RUN_MS,
    .fresh_s = DRY_RUN_FRESH_S,
    .cause = "A connector cannot reach or may not use its service, a name is taken, or the prefix "
             "lacks a right.",
    .fix = "See what is said of each task; the checks of that step name the cause.",
    .run = run_dry_run,
};
