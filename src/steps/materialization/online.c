/* What Estuary is asked for the materialization: which image it lists, whether the names are free,
 * and its config sealed. */
#include <string.h>

#include "core/mem.h"
#include "core/text.h"
#include "estuary/live.h"
#include "steps/materialization/materialization.h"
#include "steps/spec/image.h"
#include "steps/spec/sealed.h"

#define ASK_MS 20000
#define SEAL_MS 30000
#define NO_TOKEN "no Estuary token"

/* --- the connector
 * ------------------------------------------------------------------------------- */

/* 1 listed, 0 not, -1 the outcome says why. */
static int listed(struct run *run, const char *image, char **offered, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_CONNECTOR c = {0};
    if (estuary_connector_read(run, run_secret(run, "start.token"), image, &c, &err) != 0) {
        outcome_problem(out, &err);
        return -1;
    }
    if (c.id != NULL && c.exact)
        return 1;
    if (c.tag != NULL)
        xreplace(offered, c.tag);
    return 0;
}

static void run_connector(struct run *run, struct outcome *out)
{
    static const char *const images[] = {ESTUARY_TARGET_IMAGE, ESTUARY_TARGET_IMAGE_OLDER};
    AUTO(xfree) char *offered = NULL;
    if (run_secret(run, "start.token") == NULL) {
        outcome_skip(out, NO_TOKEN ": %s is taken", ESTUARY_TARGET_IMAGE);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(images); i++) {
        int found = listed(run, images[i], &offered, out);
        if (found < 0)
            return;
        if (found == 0)
            continue;
        outcome_pass(out, "%s%s", images[i],
                     i > 0 ? ": the same program under its older name" : "");
        outcome_give(out, SPEC_FACT_IMAGE, spec_image_fact(images[i]));
        return;
    }
    outcome_fail(out, "tag", "Estuary lists neither %s nor %s%s%s", images[0], images[1],
                 offered != NULL ? "; it offers " : "", offered != NULL ? offered : "");
    outcome_why(out, "The config and its rules here are those of this version.");
    outcome_fix(out, WHO_YOU, "Use a newer sluice, or have the version confirmed by Estuary.");
}

const struct check materialization_check_connector = {
    .id = "materialization.connector",
    .title = "Estuary lists the connector",
    .reads = (const char *const[]){"?start.token", NULL},
    .gives = (const char *const[]){SPEC_FACT_IMAGE, NULL},
    .kept = &spec_image_type,
    .after = (const char *const[]){"start.login", NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_READS,
    .service = SPEC_SERVICE,
    .deadline_ms = ASK_MS,
    .cause = "Estuary has gone on to a newer version of the connector.",
    .fix = "Use a newer sluice.",
    .run = run_connector,
};

/* --- names
 * --------------------------------------------------------------------------------------- */

static const char **names_of(const struct run *run, const struct spec_tables *t, size_t *count)
{
    const char **names = xcalloc(t->count + 2, sizeof *names);
    *count = 0;
    names[(*count)++] = run_text(run, "capture.name");
    names[(*count)++] = run_text(run, "materialization.name");
    for (size_t i = 0; i < t->count; i++)
        names[(*count)++] = t->list[i].collection;
    return names;
}

static void judge_live(const struct estuary_lives *found, size_t asked, struct outcome *out)
{
    for (size_t i = 0; i < found->count; i++) {
        AUTO(xfree) char *line = xasprintf("a %s of this name is live", found->list[i].sort);
        outcome_item(out, STATUS_WARNED, found->list[i].name, line, NULL);
    }
    if (found->count == 0) {
        outcome_pass(out, "%zu names, all free", asked);
        return;
    }
    outcome_warn(out, "%zu of %zu names are live already", found->count, asked);
    outcome_why(out,
                "Published from here, this would change what runs under these names: fine when "
                "it is this pipeline, published before; a loss when it is another.");
    outcome_fix(out, WHO_YOU,
                "See each line. For a pipeline of its own give capture and "
                "materialization other names.");
}

static void run_live(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_SPEC_TABLES t = {0};
    AUTO_LIVES found = {0};
    struct secret *token = run_secret(run, "start.token");
    size_t count;
    if (token == NULL) {
        outcome_skip(out, NO_TOKEN ": not looked up");
        return;
    }
    spec_collections(&(struct spec_from){.run = run}, &t);
    const char **names = names_of(run, &t, &count);
    if (estuary_live_read(run, token, names, count, &found, &err) != 0)
        outcome_problem(out, &err);
    else
        judge_live(&found, count, out);
    xfree(names);
}

const struct check materialization_check_live = {
    .id = "materialization.live",
    .title = "names are free in Estuary",
    .reads =
        (const char *const[]){"?start.token", "materialization.name", SPEC_READS_COLLECTIONS, NULL},
    .after = (const char *const[]){"start.login", NULL},
    .severity = SEV_WARNS,
    .effect = EFFECT_READS,
    .service = SPEC_SERVICE,
    .deadline_ms = ASK_MS,
    .cause = "This pipeline was published before, or another one has the name.",
    .fix = "For a pipeline of its own give capture and materialization other names.",
    .run = run_live,
};

/* --- sealing
 * ------------------------------------------------------------------------------------- */

static void run_sealed(struct run *run, struct outcome *out)
{
    struct secret *key = run_secret(run, "iam.access_key");
    const char *colon = key != NULL ? strchr(secret_bytes(key), ':') : NULL;
    struct spec_secret secrets[] = {
        {.field = "oauth.client_secret",
         .placeholder = SPEC_NO_CLIENT_SECRET,
         .secret = run_secret(run, "oauth.client_secret")},
        {.field = "iam.access_key",
         .placeholder = SPEC_NO_KEY_SECRET,
         .secret = key,
         .skip = colon != NULL ? (size_t)(colon - secret_bytes(key)) + 1 : 0},
    };
    spec_run_seal(run, materialization_config(run), secrets, ARRAY_LEN(secrets),
                  SPEC_FACT_TARGET_SEALED, out);
}

const struct check materialization_check_sealed = {
    .id = "materialization.sealed",
    .title = "config is sealed",
    .reads = (const char *const[]){MATERIALIZATION_READS_CONFIG, "oauth.client_secret",
                                   "iam.access_key", NULL},
    .gives = (const char *const[]){SPEC_FACT_TARGET_SEALED, NULL},
    .kept = &spec_sealed_type,
    .after = (const char *const[]){"materialization.config", NULL},
    .needs = (const char *const[]){"emr.application", "iam.role", "iam.access_key", NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_PROBES,
    .service = SPEC_SERVICE,
    .touches =
        "sends the OAuth client's secret and the access key to Estuary's encryption service, "
        "which gives them back encrypted for Estuary alone; nothing is stored there",
    .deadline_ms = SEAL_MS,
    .fresh_s = SPEC_SEAL_FRESH_S,
    .cause = "Estuary's encryption service is not reachable, or gave something else back than what "
             "was sent.",
    .fix = "Try again; or export with placeholders, which flowctl seals.",
    .run = run_sealed,
};
