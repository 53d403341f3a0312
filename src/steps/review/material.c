/* Gathering what an export is made of. See material.h. */
#include "steps/review/material.h"

#include <string.h>

#include "core/mem.h"
#include "steps/spec/account.h"
#include "steps/spec/discovered.h"
#include "steps/spec/image.h"

const char *material_text(const struct material *m, const char *id)
{
    return snap_text(m->snapshot, id);
}

/* --- answers
 * ------------------------------------------------------------------------------------- */

static const char *const wanted[] = {
    "start.name",
    "start.prefix",
    "oauth.url",
    "oauth.branch",
    "oauth.warehouse",
    "oauth.client_id",
    "oauth.token_uri",
    "postgres.host",
    "postgres.port",
    "postgres.database",
    "postgres.user",
    "postgres.tables",
    "postgres.repairs",
    "postgres.publication",
    "postgres.slot",
    "postgres.watermarks",
    "emr.region",
    "emr.application",
    "bucket.lake",
    "bucket.lake_prefix",
    "bucket.staging",
    "bucket.staging_prefix",
    "iam.role",
    "iam.user",
    "iam.ssm_prefix",
    "iam.path",
    "capture.name",
    "capture.history",
    "capture.sslmode",
    "capture.bindings",
    "materialization.name",
    "materialization.namespace",
    "materialization.hard_delete",
    "materialization.sync_frequency",
    "materialization.bindings",
};

static int missing(struct problem *err, const char *what, const char *fix)
{
    problem_fail(err, PROBLEM_INPUT, EXPORT_MISSING, "%s", what);
    problem_fix(err, WHO_YOU, "%s", fix);
    return -1;
}

/* Fields that are only needed here, though their steps can do without them. */
static int need_more(const struct material *m, struct problem *err)
{
    static const char *const more[][3] = {
        {"start.prefix", "the Estuary prefix is not answered",
         "answer start.prefix; Estuary's dashboard lists yours under Admin, Account Access"},
        {"emr.application", "there is no EMR Serverless application yet",
         "have it made with sluice apply emr, or answer emr.application"},
    };
    for (size_t i = 0; i < ARRAY_LEN(more); i++)
        if (material_text(m, more[i][0])[0] == '\0')
            return missing(err, more[i][1], more[i][2]);
    return 0;
}

static int need_answers(struct material *m, struct problem *err)
{
    const struct rows *rows = wizard_rows(m->wizard);
    if (need_more(m, err) != 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        AUTO_PROBLEM why = PROBLEM_INIT;
        int field = rows_field(rows, wanted[i]);
        if (wizard_field_problem(m->wizard, field, &why) == 0)
            continue;
        AUTO(xfree) char *what = xasprintf("%s: %s", wanted[i], why.what);
        AUTO(xfree)
        char *fix = why.fix != NULL ? xstrdup(why.fix) : xasprintf("answer %s", wanted[i]);
        return missing(err, what, fix);
    }
    return 0;
}

/* --- facts
 * --------------------------------------------------------------------------------------- */

/* What is kept of a fact, if it is of the present answers. */
static struct node *fact_of(struct material *m, const char *fact)
{
    const struct rows *rows = wizard_rows(m->wizard);
    int giver = rows->givers[rows_fact(rows, fact)];
    return wizard_check_stands(m->wizard, giver) ? state_kept_fact(m->state, m->wizard, fact)
                                                 : NULL;
}

static void more_facts(struct material *m)
{
    m->discovered = fact_of(m, SPEC_FACT_DISCOVERED);
    m->account = fact_of(m, SPEC_FACT_ACCOUNT);
    m->image_kept = fact_of(m, SPEC_FACT_IMAGE);
    m->image = node_text(m->image_kept);
    if (m->image == NULL)
        m->image = ESTUARY_TARGET_IMAGE;
}

static int need_facts(struct material *m, struct problem *err)
{
    m->chosen = fact_of(m, SPEC_FACT_CHOSEN);
    m->identity = fact_of(m, SPEC_FACT_IDENTITY);
    m->role = fact_of(m, SPEC_FACT_ROLE);
    if (m->chosen == NULL)
        return missing(err, "the chosen tables were not looked at with these answers",
                       "run sluice check postgres");
    if (m->identity == NULL || node_get_text(m->identity, "account") == NULL)
        return missing(err, "the AWS account is not known with these answers",
                       "run sluice check emr");
    if (m->role == NULL)
        return missing(err, "role and user were not looked at with these answers",
                       "run sluice check iam");
    if (node_get_text(m->role, "arn") == NULL)
        return missing(err, "the execution role does not exist yet",
                       "have it made with sluice apply iam");
    more_facts(m);
    return 0;
}

const struct node *material_discovered(const struct material *m, const char *collection)
{
    return node_get(m->discovered, collection);
}

bool material_draft(const struct material *m)
{
    for (size_t i = 0; i < m->tables.count; i++)
        if (material_discovered(m, m->tables.list[i].collection) == NULL)
            return true;
    return false;
}

const struct node *material_table(const struct material *m, const char *written)
{
    const struct node *list = node_get(m->chosen, "tables");
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const char *name = node_get_text(list->items[i], "table");
        if (name != NULL && strcmp(name, written) == 0)
            return list->items[i];
    }
    return NULL;
}

/* The public part of the access key: of the secret when it is at hand, else as it was made. */
static char *key_id(struct material *m)
{
    int field = rows_field(wizard_rows(m->wizard), "iam.access_key");
    struct secret *key = snap_secret(m->snapshot, "iam.access_key");
    const char *colon = key != NULL ? strchr(secret_bytes(key), ':') : NULL;
    if (colon != NULL)
        return xstrndup(secret_bytes(key), (size_t)(colon - secret_bytes(key)));
    if (wizard_origin(m->wizard, field) != ORIGIN_MADE)
        return NULL;
    const struct journal_entry *e = wizard_journal_find(m->wizard, "iam.access_key");
    return e != NULL && e->status != JOURNAL_UNDONE ? xstrdup(e->made) : NULL;
}

/* --- bindings
 * ------------------------------------------------------------------------------------ */

static size_t read_columns(const struct node *kept, struct estuary_column *out)
{
    const struct node *list = node_get(kept, "columns");
    size_t count = 0;
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const struct node *c = list->items[i];
        const char *name = node_get_text(c, "name"), *type = node_get_text(c, "type");
        /* what the server computes is not in the log, nor in Estuary's documents */
        if (name == NULL || type == NULL || node_get(c, "generated") != NULL)
            continue;
        out[count++] = (struct estuary_column){.name = name,
                                               .type = type,
                                               .key = (int)node_get_number(c, "key", 0),
                                               .filled = node_get(c, "filled") != NULL};
    }
    return count;
}

static int make_bindings(struct material *m, struct problem *err)
{
    m->bindings = xcalloc(m->tables.count + 1, sizeof *m->bindings);
    m->columns = xcalloc(m->tables.count + 1, sizeof *m->columns);
    for (size_t i = 0; i < m->tables.count; i++) {
        const struct spec_table *t = &m->tables.list[i];
        const struct node *kept = material_table(m, t->written);
        const struct node *list = node_get(kept, "columns");
        if (kept == NULL) {
            AUTO(xfree) char *what = xasprintf("there is no table %s", t->written);
            return missing(err, what, "leave it out, or run sluice check postgres again");
        }
        m->columns[i] = xcalloc((list != NULL ? list->count : 0) + 1, sizeof **m->columns);
        m->bindings[i] = (struct estuary_binding){
            .schema = t->schema,
            .table = t->table,
            .collection = t->collection,
            .ns = material_text(m, "materialization.namespace"),
            .iceberg = t->iceberg,
            .column_count = read_columns(kept, m->columns[i]),
            .columns = m->columns[i],
        };
    }
    return 0;
}

/* --- all of it
 * ----------------------------------------------------------------------------------- */

int material_gather(struct wizard *w, const struct state *s, enum export_secrets form,
                    struct material *out, struct problem *err)
{
    *out = (struct material){.wizard = w, .state = s, .form = form, .snapshot = wizard_snapshot(w)};
    out->from.snapshot = out->snapshot;
    if (need_answers(out, err) != 0 || need_facts(out, err) != 0)
        return -1;
    spec_tables(&out->from, &out->tables);
    out->key_id = key_id(out);
    return make_bindings(out, err);
}

void material_release(struct material *m)
{
    for (size_t i = 0; m->columns != NULL && i < m->tables.count; i++)
        xfree(m->columns[i]);
    xfree(m->columns);
    xfree(m->bindings);
    spec_tables_release(&m->tables);
    node_free(m->chosen);
    node_free(m->identity);
    node_free(m->role);
    node_free(m->discovered);
    node_free(m->account);
    node_free(m->image_kept);
    xfree(m->key_id);
    snapshot_unref(m->snapshot);
    *m = (struct material){0};
}
