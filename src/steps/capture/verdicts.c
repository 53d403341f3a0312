/* Verdicts on the capture as it will be published. No I/O. */
#include <string.h>

#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "estuary/names.h"
#include "postgres/tables.h"
#include "steps/capture/capture.h"
#include "steps/spec/inputs.h"

/* --- name ------------------------------------------------------------------------------------- */

static void run_name(struct run *run, struct outcome *out)
{
    const char *name = run_text(run, "capture.name");
    AUTO(xfree) char *folder = estuary_folder(name);
    if (spec_name_outside(name, run_text(run, "start.prefix"), out))
        return;
    outcome_pass(out, "%s, collections below %s", name, folder);
}

const struct check capture_check_name = {
    .id = "capture.name",
    .title = "the name is yours to give",
    .reads = (const char *const[]){"capture.name", "start.prefix", NULL},
    .severity = SEV_BLOCKS,
    .cause = "The name stands outside the prefix that was answered in Start.",
    .fix = "Begin it with the prefix.",
    .run = run_name,
};

/* --- config ----------------------------------------------------------------------------------- */

static void run_config(struct run *run, struct outcome *out)
{
    struct estuary_source source = spec_source(&(struct spec_from){.run = run});
    struct node *config = estuary_source_config(&source);
    AUTO_ESTUARY_FAULTS faults = {0};
    estuary_source_faults(config, &faults);
    if (faults.count == 0)
        outcome_pass(out, "%s, slot %s, publication %s", node_get_text(config, "address"),
                     source.slot, source.publication);
    else
        spec_judge_config(&faults, out);
    node_free(config);
}

const struct check capture_check_config = {
    .id = "capture.config",
    .title = "connector takes the config",
    .reads = (const char *const[]){SPEC_READS_SOURCE, NULL},
    .severity = SEV_BLOCKS,
    .cause = "A value breaks a rule that Estuary's PostgreSQL connector or control plane has.",
    .fix = "Correct the answer that is named.",
    .run = run_config,
};

/* --- TLS -------------------------------------------------------------------------------------- */

static bool verifies(const char *mode)
{
    return strncmp(mode, "verify-", 7) == 0;
}

static void run_tls(struct run *run, struct outcome *out)
{
    const char *mode = run_text(run, "capture.sslmode");
    const char *here = run_text(run, "postgres.sslmode");
    bool private_ca = run_text(run, "postgres.ca_file")[0] != '\0';
    if (verifies(mode) && verifies(here) && private_ca) {
        outcome_fail(out, "private CA", "Estuary cannot check this server's certificate");
        outcome_why(out, "Here it was proved by the CA file that was answered. Estuary knows the "
                         "public CAs only and takes no other: it would refuse to connect.");
        outcome_fix(out, WHO_YOU, "Choose require: encrypted, without the check.");
        outcome_suggest(out, "capture.sslmode", "require");
    } else if (verifies(mode) && !verifies(here)) {
        outcome_warn(out, "%s was not tried here: the certificate is not checked from here", mode);
        outcome_why(out, "If a private CA signed it, Estuary cannot connect.");
        outcome_fix(out, WHO_YOU,
                    "Choose %s in the step PostgreSQL as well, without a CA file, or require "
                    "here.",
                    mode);
    } else if (strcmp(mode, "disable") == 0 || strcmp(mode, "prefer") == 0) {
        outcome_warn(out, strcmp(mode, "disable") == 0 ? "the rows travel in clear"
                                                       : "in clear where the server has no TLS");
        outcome_why(out, "Between Estuary and your database lies the internet.");
        outcome_fix(out, WHO_YOU, "Choose require, or have TLS switched on at the server.");
        outcome_suggest(out, "capture.sslmode", "require");
    } else {
        outcome_pass(out, "%s",
                     verifies(mode) ? "encrypted, certificate checked by public CAs"
                                    : "encrypted, certificate not checked");
    }
}

const struct check capture_check_tls = {
    .id = "capture.tls",
    .title = "TLS that Estuary can do",
    .reads =
        (const char *const[]){"capture.sslmode", "postgres.sslmode", "?postgres.ca_file", NULL},
    .severity = SEV_BLOCKS,
    .cause = "The server's certificate is signed by a private CA, which Estuary cannot be told; or "
             "the connection is not encrypted.",
    .fix = "Choose require.",
    .run = run_tls,
};

/* --- collections ------------------------------------------------------------------------------ */

/* Present answers and one more, as the field is typed. */
static char *with_answer(const struct value *map, const char *table, const char *collection)
{
    AUTO_TEXT out = TEXT_INIT;
    for (size_t i = 0; map != NULL && map->kind == VALUE_MAP && i < map->count; i++) {
        if (strcmp(map->keys[i], table) == 0)
            continue;
        text_sep(&out, ", ");
        text_addf(&out, "%s=%s", map->keys[i], map->items[i]);
    }
    text_sep(&out, ", ");
    text_addf(&out, "%s=%s", table, collection);
    return text_take(&out);
}

static size_t same_names(const struct spec_tables *t, struct outcome *out)
{
    const char **names = xcalloc(t->count + 1, sizeof *names);
    struct estuary_pair *pairs;
    for (size_t i = 0; i < t->count; i++)
        names[i] = t->list[i].collection;
    size_t count = estuary_collisions(names, t->count, &pairs);
    for (size_t i = 0; i < count; i++) {
        const struct spec_table *first = &t->list[pairs[i].first];
        const struct spec_table *second = &t->list[pairs[i].second];
        AUTO(xfree)
        char *line = xasprintf("and %s both go to %s", first->written, second->collection);
        outcome_item(out, STATUS_FAILED, second->written, line,
                     "Choose one of them, or answer another collection for it.");
    }
    xfree(pairs);
    xfree(names);
    return count;
}

/* A collection that is, or is a folder of, the capture. */
static size_t against_capture(const struct spec_tables *t, const char *capture, struct outcome *out)
{
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (estuary_names_clash(capture, t->list[i].collection) == ESTUARY_APART)
            continue;
        AUTO(xfree)
        char *line = xasprintf("%s and the capture %s: one is the other, or a folder of it",
                               t->list[i].collection, capture);
        outcome_item(out, STATUS_FAILED, t->list[i].written, line,
                     "Let the capture's name end in " ESTUARY_SOURCE_NAME ".");
        count++;
    }
    return count;
}

static size_t outside(const struct spec_tables *t, const char *prefix, struct outcome *out)
{
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (strncmp(t->list[i].collection, prefix, strlen(prefix)) == 0)
            continue;
        AUTO(xfree) char *line = xasprintf("%s stands outside %s", t->list[i].collection, prefix);
        outcome_item(out, STATUS_FAILED, t->list[i].written, line, "Begin it with your prefix.");
        count++;
    }
    return count;
}

static void list_collections(const struct spec_tables *t, struct outcome *out)
{
    for (size_t i = 0; i < t->count; i++)
        outcome_item(out, STATUS_PASSED, t->list[i].written, t->list[i].collection, NULL);
}

/* The first collision can be taken over: the second table's collection with a number behind it. */
static void suggest_name(const struct spec_tables *t, const struct value *answered,
                         struct outcome *out)
{
    const char **names = xcalloc(t->count + 1, sizeof *names);
    struct estuary_pair *pairs;
    for (size_t i = 0; i < t->count; i++)
        names[i] = t->list[i].collection;
    if (estuary_collisions(names, t->count, &pairs) > 0) {
        const struct spec_table *second = &t->list[pairs[0].second];
        AUTO(xfree) char *other = xasprintf("%s_2", second->collection);
        AUTO(xfree) char *map = with_answer(answered, second->written, other);
        outcome_suggest(out, "capture.bindings", map);
    }
    xfree(pairs);
    xfree(names);
}

static void run_collections(struct run *run, struct outcome *out)
{
    AUTO_SPEC_TABLES t = {0};
    spec_collections(&(struct spec_from){.run = run}, &t);
    size_t same = same_names(&t, out);
    size_t wrong = same + against_capture(&t, run_text(run, "capture.name"), out) +
                   outside(&t, run_text(run, "start.prefix"), out);
    if (wrong > 0) {
        outcome_fail(out, "name collision", "%zu of %zu collections cannot have their names", wrong,
                     t.count);
        outcome_why(out, "Estuary names collections in lower case, with _ for every other "
                         "character. Of two tables in one collection the rows would be mixed; a "
                         "name that is a folder of another is refused.");
        outcome_fix(out, WHO_YOU, "See each line: choose one of a pair, or name its collection.");
        if (same > 0)
            suggest_name(&t, run_value(run, "capture.bindings"), out);
        return;
    }
    list_collections(&t, out);
    if (t.count <= ESTUARY_BINDINGS_MAX) {
        outcome_pass(out, "%zu, all different", t.count);
        return;
    }
    outcome_warn(out, "%zu collections in one capture, more than %d", t.count,
                 ESTUARY_BINDINGS_MAX);
    outcome_why(out, "Estuary's dashboard and its builds become slow with so many in one task.");
    outcome_fix(out, WHO_YOU, "Consider two pipelines, each with a part of the tables.");
}

const struct check capture_check_collections = {
    .id = "capture.collections",
    .title = "collections of their own",
    .reads = (const char *const[]){SPEC_READS_COLLECTIONS, "start.prefix", NULL},
    .severity = SEV_BLOCKS,
    .cause = "Two tables fold to one name, a name is a folder of another, or stands outside the "
             "prefix.",
    .fix = "Choose one of the two tables, or answer another collection for one of them.",
    .run = run_collections,
};

/* --- keys ------------------------------------------------------------------------------------- */

static void run_keys(struct run *run, struct outcome *out)
{
    const struct postgres_tables *t = run_fact(run, SPEC_FACT_CHOSEN, &postgres_chosen_type);
    size_t without = 0, fallback = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct postgres_table *r = &t->rows[i];
        if (!r->found)
            continue;
        without += r->key == POSTGRES_KEY_NONE;
        fallback += r->key == POSTGRES_KEY_INDEX;
        AUTO(xfree) char *columns = xasprintf("keyed by %s", r->key_columns);
        AUTO(xfree) char *index = xasprintf("keyed by %s, by its index", r->key_columns);
        if (r->key == POSTGRES_KEY_NONE)
            outcome_item(out, STATUS_WARNED, r->written,
                         "keyed by the place of each change: rows are only added downstream",
                         "Add a primary key to the table.");
        else
            outcome_item(out, STATUS_PASSED, r->written,
                         r->key == POSTGRES_KEY_INDEX ? index : columns, NULL);
    }
    if (without == 0) {
        outcome_pass(out, "%zu tables keyed%s", t->count,
                     fallback > 0 ? ", some by a unique index" : " by their primary keys");
        return;
    }
    outcome_warn(out, "%zu of %zu tables without a key", without, t->count);
    outcome_why(out, "Without a key Estuary cannot tell which row a change belongs to: an UPDATE "
                     "becomes a second row in Bauplan, a DELETE removes none.");
    outcome_fix(out, WHO_DBA, "Add a primary key, or leave the table out.");
}

const struct check capture_check_keys = {
    .id = "capture.keys",
    .title = "collections have a key",
    .reads = (const char *const[]){SPEC_FACT_CHOSEN, NULL},
    .severity = SEV_WARNS,
    .cause = "A table has neither a primary key nor a unique index whose columns are NOT NULL.",
    .fix = "Add a primary key, or leave the table out.",
    .run = run_keys,
};
