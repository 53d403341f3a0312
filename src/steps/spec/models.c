/* Tasks of tables. See models.h. */
#include "steps/spec/models.h"

#include "core/mem.h"

/* Without columns, which only drafts of collections need; xfree. */
static struct estuary_binding *bindings_of(const struct spec_tables *t, const char *ns)
{
    struct estuary_binding *bindings = xcalloc(t->count + 1, sizeof *bindings);
    for (size_t i = 0; i < t->count; i++)
        bindings[i] = (struct estuary_binding){.schema = t->list[i].schema,
                                               .table = t->list[i].table,
                                               .collection = t->list[i].collection,
                                               .ns = ns,
                                               .iceberg = t->list[i].iceberg};
    return bindings;
}

struct node *spec_capture_model(const struct spec_tables *t, struct node *config)
{
    struct estuary_binding *bindings = bindings_of(t, NULL);
    struct node *model = estuary_capture_model(config, bindings, t->count);
    xfree(bindings);
    return model;
}

struct node *spec_materialization_model(const struct spec_tables *t, struct node *config,
                                        const char *image, const char *capture, const char *ns)
{
    struct estuary_binding *bindings = bindings_of(t, ns);
    struct node *model =
        estuary_materialization_model(image, config, capture, ns, bindings, t->count);
    xfree(bindings);
    return model;
}

void spec_tell_left(const struct problem *left, struct outcome *out)
{
    if (left->kind == PROBLEM_NONE)
        return;
    AUTO(xfree)
    char *line = xasprintf("could not be deleted: %s", left->what);
    outcome_item(out, STATUS_WARNED, left->evidence != NULL ? left->evidence : "draft", line,
                 "It is yours alone and does nothing; the dashboard lists it under Drafts.");
}
