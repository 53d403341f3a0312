/* Answers as values of the specification. See inputs.h. */
#include "steps/spec/inputs.h"

#include <string.h>

#include "catalog/url.h"
#include "core/mem.h"
#include "estuary/names.h"
#include "postgres/names.h"

/* --- reading
 * ------------------------------------------------------------------------------------- */

const char *spec_text(const struct spec_from *f, const char *id)
{
    return f->run != NULL ? run_text(f->run, id) : snap_text(f->snapshot, id);
}

static const struct value *value_of(const struct spec_from *f, const char *id)
{
    return f->run != NULL ? run_value(f->run, id) : snap_value(f->snapshot, id);
}

/* What a map answers for an item, "" when nothing. */
static const char *answer_for(const struct value *map, const char *item)
{
    for (size_t i = 0; map != NULL && map->kind == VALUE_MAP && i < map->count; i++)
        if (strcmp(map->keys[i], item) == 0)
            return map->items[i];
    return "";
}

/* --- tables
 * -------------------------------------------------------------------------------------- */

static void add_table(struct spec_tables *out, const char *written, const char *capture,
                      const struct value *renamed)
{
    struct spec_table t = {0};
    if (postgres_split_table(written, &t.schema, &t.table, NULL) != 0)
        return;
    t.written = xstrdup(written);
    const char *answered = answer_for(renamed, written);
    AUTO(xfree) char *tail = postgres_collection_tail(t.schema, t.table);
    t.collection = answered[0] != '\0' ? xstrdup(answered) : estuary_collection(capture, tail);
    out->list[out->count++] = t;
}

void spec_collections(const struct spec_from *f, struct spec_tables *out)
{
    const struct value *tables = value_of(f, "postgres.tables");
    const struct value *renamed = value_of(f, "capture.bindings");
    const char *capture = spec_text(f, "capture.name");
    size_t count = tables != NULL && tables->kind == VALUE_LIST ? tables->count : 0;
    *out = (struct spec_tables){.list = xcalloc(count + 1, sizeof *out->list)};
    for (size_t i = 0; i < count; i++)
        add_table(out, tables->items[i], capture, renamed);
}

void spec_tables(const struct spec_from *f, struct spec_tables *out)
{
    const struct value *renamed = value_of(f, "materialization.bindings");
    spec_collections(f, out);
    for (size_t i = 0; i < out->count; i++) {
        struct spec_table *t = &out->list[i];
        const char *answered = answer_for(renamed, t->written);
        t->iceberg =
            estuary_iceberg_name(answered[0] != '\0' ? answered : estuary_last_part(t->collection));
    }
}

void spec_tables_release(struct spec_tables *t)
{
    for (size_t i = 0; i < t->count; i++) {
        xfree(t->list[i].written);
        xfree(t->list[i].schema);
        xfree(t->list[i].table);
        xfree(t->list[i].collection);
        xfree(t->list[i].iceberg);
    }
    xfree(t->list);
    *t = (struct spec_tables){0};
}

/* --- configs
 * ------------------------------------------------------------------------------------- */

struct estuary_source spec_source(const struct spec_from *f)
{
    return (struct estuary_source){
        .host = spec_text(f, "postgres.host"),
        .port = spec_text(f, "postgres.port"),
        .user = spec_text(f, "postgres.user"),
        .database = spec_text(f, "postgres.database"),
        .password = SPEC_NO_PASSWORD,
        .history = strcmp(spec_text(f, "capture.history"), "yes") == 0,
        .publication = spec_text(f, "postgres.publication"),
        .slot = spec_text(f, "postgres.slot"),
        .watermarks = spec_text(f, "postgres.watermarks"),
        .sslmode = spec_text(f, "capture.sslmode"),
    };
}

void spec_target(const struct spec_from *f, const char *role_arn, const char *key_id,
                 struct spec_target *out)
{
    AUTO_ADDRESS a = {0};
    const char *typed = spec_text(f, "oauth.url");
    bool good = catalog_address(typed, spec_text(f, "oauth.branch"), &a, NULL) == 0;
    *out = (struct spec_target){
        .url = xstrdup(good ? a.url : typed), /* a wrong one is the address check's to tell */
        .base_location = xasprintf("s3://%s/%s", spec_text(f, "bucket.lake"),
                                   spec_text(f, "bucket.lake_prefix")),
        .credential = xasprintf("%s:%s", spec_text(f, "oauth.client_id"), SPEC_NO_CLIENT_SECRET),
    };
    out->target = (struct estuary_target){
        .url = out->url,
        .warehouse = spec_text(f, "oauth.warehouse"),
        .ns = spec_text(f, "materialization.namespace"),
        .base_location = out->base_location,
        .hard_delete = strcmp(spec_text(f, "materialization.hard_delete"), "yes") == 0,
        .token_uri = spec_text(f, "oauth.token_uri"),
        .credential = out->credential,
        .region = spec_text(f, "emr.region"),
        .application = spec_text(f, "emr.application"),
        .role_arn = role_arn,
        .bucket = spec_text(f, "bucket.staging"),
        .bucket_path = spec_text(f, "bucket.staging_prefix"),
        .ssm_prefix = spec_text(f, "iam.ssm_prefix"),
        .key_id = key_id != NULL ? key_id : SPEC_NO_KEY_ID,
        .key_secret = SPEC_NO_KEY_SECRET,
        .sync_frequency = spec_text(f, "materialization.sync_frequency"),
    };
}

void spec_target_release(struct spec_target *t)
{
    xfree(t->url);
    xfree(t->base_location);
    xfree(t->credential);
    *t = (struct spec_target){0};
}

/* --- judging
 * ------------------------------------------------------------------------------------- */

/* Which answer a value of a config comes from. */
static const struct {
    const char *path, *field;
} origins[] = {
    {"address", "postgres.host"},
    {"user", "postgres.user"},
    {"database", "postgres.database"},
    {"historyMode", "capture.history"},
    {"advanced.publicationName", "postgres.publication"},
    {"advanced.slotName", "postgres.slot"},
    {"advanced.watermarksTable", "postgres.watermarks"},
    {"advanced.sslmode", "capture.sslmode"},
    {"url", "oauth.url"},
    {"warehouse", "oauth.warehouse"},
    {"namespace", "materialization.namespace"},
    {"base_location", "bucket.lake_prefix"},
    {"hard_delete", "materialization.hard_delete"},
    {"credentials.oauth2_server_uri", "oauth.token_uri"},
    {"credentials.credential", "oauth.client_id"},
    {"compute.region", "emr.region"},
    {"compute.application_id", "emr.application"},
    {"compute.execution_role_arn", "iam.role"},
    {"compute.bucket", "bucket.staging"},
    {"compute.bucket_path", "bucket.staging_prefix"},
    {"compute.systems_manager_prefix", "iam.ssm_prefix"},
    {"compute.credentials.aws_access_key_id", "iam.access_key"},
    {"syncSchedule.syncFrequency", "materialization.sync_frequency"},
};

static const char *origin_of(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(origins); i++)
        if (strcmp(origins[i].path, path) == 0)
            return origins[i].field;
    return NULL;
}

static char *fix_of(const struct estuary_fault *f)
{
    const char *field = origin_of(f->path);
    return field != NULL ? xasprintf("%s The answer is %s.", f->fix, field) : xstrdup(f->fix);
}

void spec_judge_config(const struct estuary_faults *faults, struct outcome *out)
{
    for (size_t i = 0; i < faults->count; i++) {
        const struct estuary_fault *f = &faults->list[i];
        AUTO(xfree) char *fix = fix_of(f);
        outcome_item(out, STATUS_FAILED, f->path, f->says, fix);
    }
    if (faults->count == 0)
        return;
    const struct estuary_fault *first = &faults->list[0];
    AUTO(xfree) char *fix = fix_of(first);
    outcome_fail(out, first->path, "%s", first->says);
    outcome_why(out, "%s%s", first->why,
                first->ours ? "" : " The connector refuses the config with these words.");
    outcome_fix(out, WHO_YOU, "%s", fix);
}

bool spec_name_outside(const char *name, const char *prefix, struct outcome *out)
{
    if (strncmp(name, prefix, strlen(prefix)) == 0)
        return false;
    outcome_fail(out, "prefix", "%s stands outside your prefix %s", name, prefix);
    outcome_why(out, "Estuary lets you write below the prefixes you have; elsewhere it refuses "
                     "the publication.");
    outcome_fix(out, WHO_YOU, "Begin the name with %s, or correct Estuary prefix in Start.",
                prefix);
    return true;
}
