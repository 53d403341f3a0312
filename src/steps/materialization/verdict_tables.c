/* The verdict on the tables in Bauplan: their names and places, worked out as the connector will.
 * No I/O. */
#include <string.h>

#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "estuary/names.h"
#include "steps/materialization/materialization.h"
#include "steps/spec/inputs.h"

/* Present answers, and for each table that came second to a name its schema before the name. */
static char *with_schemas(const struct value *map, const struct spec_tables *t,
                          const struct estuary_pair *pairs, size_t count)
{
    AUTO_TEXT out = TEXT_INIT;
    for (size_t i = 0; map != NULL && map->kind == VALUE_MAP && i < map->count; i++) {
        bool again = false;
        for (size_t k = 0; k < count; k++)
            again |= strcmp(t->list[pairs[k].second].written, map->keys[i]) == 0;
        if (again)
            continue;
        text_sep(&out, ", ");
        text_addf(&out, "%s=%s", map->keys[i], map->items[i]);
    }
    for (size_t k = 0; k < count; k++) {
        const struct spec_table *second = &t->list[pairs[k].second];
        AUTO(xfree) char *both = xasprintf("%s_%s", second->schema, second->table);
        AUTO(xfree) char *name = estuary_iceberg_name(both);
        text_sep(&out, ", ");
        text_addf(&out, "%s=%s", second->written, name);
    }
    return text_take(&out);
}

static void collide(const struct run *run, const struct spec_tables *t,
                    const struct estuary_pair *pairs, size_t count, struct outcome *out)
{
    const char *ns = run_text(run, "materialization.namespace");
    for (size_t i = 0; i < count; i++) {
        const struct spec_table *first = &t->list[pairs[i].first];
        const struct spec_table *second = &t->list[pairs[i].second];
        AUTO(xfree)
        char *line = xasprintf("and %s both become %s.%s", first->written, ns, second->iceberg);
        outcome_item(out, STATUS_FAILED, second->written, line,
                     "Answer another name for it, or leave one of them out.");
    }
    AUTO(xfree)
    char *names = with_schemas(run_value(run, "materialization.bindings"), t, pairs, count);
    outcome_fail(out, "name collision", "%zu table%s would share a name with another", count,
                 count == 1 ? "" : "s");
    outcome_why(out, "All tables of the pipeline go to one namespace, named without their schema; "
                     "Estuary makes names lower case, with _ for every other character. Of two "
                     "with one name it refuses the second.");
    outcome_fix(out, WHO_YOU, "Name the second with its schema before it: %s", names);
    outcome_suggest(out, "materialization.bindings", names);
}

static void list(const struct run *run, const struct spec_tables *t, struct outcome *out)
{
    const char *ns = run_text(run, "materialization.namespace");
    AUTO(xfree)
    char *base =
        xasprintf("s3://%s/%s", run_text(run, "bucket.lake"), run_text(run, "bucket.lake_prefix"));
    for (size_t i = 0; i < t->count; i++) {
        AUTO(xfree) char *place = estuary_table_location(base, ns, t->list[i].iceberg);
        AUTO(xfree) char *line = xasprintf("%s.%s at %s", ns, t->list[i].iceberg, place);
        outcome_item(out, STATUS_PASSED, t->list[i].written, line, NULL);
    }
}

static void run_tables(struct run *run, struct outcome *out)
{
    AUTO_SPEC_TABLES t = {0};
    struct estuary_pair *pairs;
    spec_tables(&(struct spec_from){.run = run}, &t);
    const char **names = xcalloc(t.count + 1, sizeof *names);
    for (size_t i = 0; i < t.count; i++)
        names[i] = t.list[i].iceberg;
    size_t count = estuary_collisions(names, t.count, &pairs);
    if (count > 0) {
        collide(run, &t, pairs, count, out);
    } else {
        list(run, &t, out);
        outcome_pass(out, "%zu, none share a name or a place", t.count);
    }
    xfree(pairs);
    xfree(names);
}

const struct check materialization_check_tables = {
    .id = "materialization.tables",
    .title = "table names and places",
    .reads = (const char *const[]){SPEC_READS_TABLES, "materialization.namespace", "bucket.lake",
                                   "bucket.lake_prefix", NULL},
    .severity = SEV_BLOCKS,
    .cause = "Tables of two schemas have one name, or names differ only by case or by characters "
             "that become _.",
    .fix = "Answer another name for one of them.",
    .run = run_tables,
};
