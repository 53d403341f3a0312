/* What Estuary itself is asked for the capture: its config sealed, and the tables discovered. Both
 * leave nothing behind; they are run on consent, as the one sends a password to Estuary and the
 * other makes a draft there for a moment. */
#include <string.h>

#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "estuary/draft.h"
#include "estuary/live.h"
#include "steps/capture/capture.h"
#include "steps/spec/account.h"
#include "steps/spec/discovered.h"
#include "steps/spec/models.h"
#include "steps/spec/sealed.h"

#define SEAL_MS 30000
#define DISCOVER_MS 180000 /* the connector is started, and reads the catalog of all tables */
#define DISCOVERED_FRESH_S 604800 /* a week: tables change by migrations, not by the hour */

/* --- sealing
 * ------------------------------------------------------------------------------------- */

static void run_sealed(struct run *run, struct outcome *out)
{
    struct estuary_source source = spec_source(&(struct spec_from){.run = run});
    struct spec_secret password = {.field = "postgres.password",
                                   .placeholder = SPEC_NO_PASSWORD,
                                   .secret = run_secret(run, "postgres.password")};
    spec_run_seal(run, estuary_source_config(&source), &password, 1, SPEC_FACT_SOURCE_SEALED, out);
}

const struct check capture_check_sealed = {
    .id = "capture.sealed",
    .title = "config is sealed",
    .reads = (const char *const[]){SPEC_READS_SOURCE, "postgres.password", NULL},
    .gives = (const char *const[]){SPEC_FACT_SOURCE_SEALED, NULL},
    .kept = &spec_sealed_type,
    .after = (const char *const[]){"capture.config", NULL},
    .needs = (const char *const[]){"postgres.role", "postgres.password", NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_PROBES,
    .service = SPEC_SERVICE,
    .touches = "sends the capture user's password to Estuary's encryption service, which gives it "
               "back encrypted for Estuary alone; nothing is stored there",
    .deadline_ms = SEAL_MS,
    .fresh_s = SPEC_SEAL_FRESH_S,
    .cause = "Estuary's encryption service is not reachable, or gave something else back than what "
             "was sent.",
    .fix = "Try again; or export with placeholders, which flowctl seals.",
    .run = run_sealed,
};

/* --- discovery
 * ----------------------------------------------------------------------------------- */

/* Staged, discovered and read back, in a draft that exists already. */
static int discover_in(struct run *run, const char *draft, const char *tag_id,
                       const struct spec_tables *t, struct estuary_staging *found,
                       struct problem *err)
{
    AUTO_STAGING staging = {0};
    struct secret *token = run_secret(run, "start.token");
    const char *name = run_text(run, "capture.name");
    const struct spec_sealed *sealed = run_fact(run, SPEC_FACT_SOURCE_SEALED, &spec_sealed_type);
    estuary_staging_add(&staging, name, "capture",
                        spec_capture_model(t, node_copy(sealed->document)));
    if (estuary_draft_stage(run, token, draft, &staging, false, err) != 0 ||
        estuary_draft_discover(run, token, draft, name, tag_id, sealed->document,
                               run_text(run, "start.data_plane"), NULL, err) != 0)
        return -1;
    return estuary_draft_read(run, token, draft, found, err);
}

/* The draft is deleted whatever came of it; `left` says why it was not. */
static int discover(struct run *run, const char *tag_id, const struct spec_tables *t,
                    struct estuary_staging *found, struct problem *left, struct problem *err)
{
    struct secret *token = run_secret(run, "start.token");
    AUTO(xfree) char *draft = NULL;
    AUTO(xfree) char *detail = xasprintf("sluice: discovery for %s", run_text(run, "capture.name"));
    if (estuary_draft_new(run, token, detail, &draft, err) != 0)
        return -1;
    int rc = discover_in(run, draft, tag_id, t, found, err);
    estuary_draft_delete(run, token, draft, left);
    return rc;
}

static struct estuary_staged *staged_of(struct estuary_staging *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->list[i].name, name) == 0 && s->list[i].model != NULL &&
            strcmp(s->list[i].sort, "collection") == 0)
            return &s->list[i];
    return NULL;
}

/* "/id, /line" */
static char *key_shown(const struct node *model)
{
    AUTO_TEXT out = TEXT_INIT;
    const struct node *key = node_get(model, "key");
    for (size_t i = 0; key != NULL && key->kind == NODE_LIST && i < key->count; i++) {
        const char *pointer = node_text(key->items[i]);
        text_sep(&out, ", ");
        text_add(&out, pointer != NULL ? pointer : "?");
    }
    return text_take(&out);
}

/* Takes the models of the chosen tables; the count of tables without one. */
static size_t take_collections(const struct spec_tables *t, struct estuary_staging *found,
                               struct spec_discovered *d, struct outcome *out)
{
    size_t missing = 0;
    for (size_t i = 0; i < t->count; i++) {
        struct estuary_staged *s = staged_of(found, t->list[i].collection);
        if (s == NULL) {
            outcome_item(out, STATUS_FAILED, t->list[i].written, "Estuary did not find it",
                         "Have it added to the publication and granted to the capture user.");
            missing++;
            continue;
        }
        AUTO(xfree) char *key = key_shown(s->model);
        AUTO(xfree) char *line = xasprintf("%s, key %s", s->name, key);
        outcome_item(out, STATUS_PASSED, t->list[i].written, line, NULL);
        spec_discovered_add(d, s->name, s->model);
        s->model = NULL;
    }
    return missing;
}

static void judge_found(const struct spec_tables *t, struct estuary_staging *found,
                        struct outcome *out)
{
    AUTO_SPEC_DISCOVERED d = {0};
    size_t missing = take_collections(t, found, &d, out);
    if (missing > 0) {
        outcome_fail(out, "tables", "Estuary did not find %zu of %zu tables", missing, t->count);
        outcome_why(out, "It lists what its user may read and the publication holds. A table that "
                         "is not listed would never be captured.");
        outcome_fix(out, WHO_DBA,
                    "See each line; the step PostgreSQL proves both and plans what "
                    "is missing.");
        return;
    }
    outcome_pass(out, "%zu collections as Estuary writes them", t->count);
    outcome_give(out, SPEC_FACT_DISCOVERED, spec_discovered_fact(&d));
}

static bool connector_known(const struct estuary_connector *c, struct outcome *out)
{
    if (c->exact && c->id != NULL)
        return true;
    outcome_fail(out, "tag", "Estuary does not list %s%s%s", ESTUARY_SOURCE_IMAGE,
                 c->tag != NULL ? "; it offers " : "", c->tag != NULL ? c->tag : "");
    outcome_why(out, "The config and its rules here are those of this version; of an image it does "
                     "not know Estuary would publish the config unsealed.");
    outcome_fix(out, WHO_YOU, "Use a newer sluice, or have the version confirmed by Estuary.");
    return false;
}

static void run_discovery(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_PROBLEM left = PROBLEM_INIT;
    AUTO_CONNECTOR connector = {0};
    AUTO_SPEC_TABLES t = {0};
    AUTO_STAGING found = {0};
    struct secret *token = run_secret(run, "start.token");
    if (token == NULL) {
        outcome_skip(out, "no Estuary token: the collections are drafts by hand");
        return;
    }
    spec_collections(&(struct spec_from){.run = run}, &t);
    outcome_tried(out, "a draft with %s, %zu bindings; discovery by %s",
                  run_text(run, "capture.name"), t.count, ESTUARY_SOURCE_IMAGE);
    if (estuary_connector_read(run, token, ESTUARY_SOURCE_IMAGE, &connector, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    if (!connector_known(&connector, out))
        return;
    if (discover(run, connector.id, &t, &found, &left, &err) != 0)
        outcome_problem(out, &err);
    else
        judge_found(&t, &found, out);
    spec_tell_left(&left, out);
}

const struct check capture_check_discovery = {
    .id = "capture.discovery",
    .title = "Estuary discovers the tables",
    .reads = (const char *const[]){SPEC_READS_COLLECTIONS, SPEC_FACT_SOURCE_SEALED, "?start.token",
                                   "?start.data_plane", NULL},
    .gives = (const char *const[]){SPEC_FACT_DISCOVERED, NULL},
    .kept = &spec_discovered_type,
    .after = (const char *const[]){"start.login", "start.prefix", "start.plane", "capture.name",
                                   "capture.collections", NULL},
    .needs = (const char *const[]){"postgres.role", "postgres.password", "postgres.grants",
                                   "postgres.watermarks", "postgres.publication", NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_PROBES,
    .service = SPEC_SERVICE,
    .touches = "a draft in Estuary with the capture, its config sealed; Estuary's connector reads "
               "the database's list of tables; the draft is deleted, nothing is published",
    .deadline_ms = DISCOVER_MS,
    .fresh_s = DISCOVERED_FRESH_S,
    .cause =
        "Estuary's data plane cannot reach the database, its user lacks a right, or a table is "
        "not in the publication.",
    .fix = "Let the data plane's addresses in; see what its connector says.",
    .run = run_discovery,
};

/* --- what the collections are
 * -------------------------------------------------------------------- */

static void run_drafts(struct run *run, struct outcome *out)
{
    AUTO_SPEC_TABLES t = {0};
    spec_collections(&(struct spec_from){.run = run}, &t);
    const struct spec_discovered *d = run_fact(run, SPEC_FACT_DISCOVERED, &spec_discovered_type);
    if (t.count > 0 && spec_undiscovered(d, &t) == NULL) {
        outcome_pass(out, "%zu, with what kind of change each document is", t.count);
        return;
    }
    outcome_warn(out, "%zu collection%s drafted by hand, not discovered by Estuary", t.count,
                 t.count == 1 ? "" : "s");
    outcome_why(out, "A draft lacks _meta, which says what kind of change a document is: without "
                     "it deleted rows cannot be removed, and types follow our reading of the "
                     "columns, not the connector's.");
    outcome_fix(out, WHO_YOU,
                "Answer the Estuary token in Start and allow the discovery here; or run flowctl "
                "discover in the exported folder before anything is published: it replaces the "
                "drafts.");
    outcome_copy_command(out, "flowctl discover --source flow.yaml");
}

const struct check capture_check_drafts = {
    .id = "capture.drafts",
    .title = "collections are discovered",
    .reads = (const char *const[]){SPEC_READS_COLLECTIONS, "?" SPEC_FACT_DISCOVERED, NULL},
    .severity = SEV_WARNS,
    .cause = "Without a login to Estuary collections are drafted from the tables' columns.",
    .fix = "Answer the Estuary token and allow the discovery, or run flowctl discover in the "
           "exported folder before anything is published.",
    .run = run_drafts,
};
