/* Connectors by image and specifications by name. See live.h. */
#include "estuary/live.h"

#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/node_json.h"
#include "estuary/pages.h"

#define BATCH 100 /* names asked for at once */

/* --- connectors ------------------------------------------------------------------------------- */

static const char connector_query[] =
    "query($image: String!) {"
    " connectorSpec(fullImageName: $image) { id imageTag endpointSpecSchema } }";

/* Where the tag begins, with its colon; a port of the registry has a colon, too. NULL none. */
static const char *tag_of(const char *image)
{
    const char *slash = strrchr(image, '/');
    const char *tag = strrchr(slash != NULL ? slash : image, ':');
    return tag != NULL && tag[1] != '\0' ? tag : NULL;
}

static struct node *schema_of(const cJSON *schema)
{
    if (!cJSON_IsObject(schema))
        return NULL;
    char *json = cJSON_PrintUnformatted(schema);
    if (json == NULL)
        mem_exhausted();
    struct node *n = node_parse_json(json, strlen(json), "the connector's schema", NULL);
    cJSON_free(json);
    return n;
}

int estuary_connector_read(struct run *run, struct secret *token, const char *image,
                           struct estuary_connector *out, struct problem *err)
{
    *out = (struct estuary_connector){0};
    const char *tag = tag_of(image);
    if (tag == NULL) {
        problem_fail(err, PROBLEM_INPUT, "image", "the connector's image %s has no tag", image);
        problem_fix(err, WHO_YOU, "Write it with one: %s:v1.", image);
        return -1;
    }
    AUTO(node_free) struct node *variables = node_map();
    node_set_text(variables, "image", image);
    AUTO(cJSON_Delete) cJSON *data = NULL;
    if (estuary_graphql(run, token, connector_query, variables, &data, err) != 0)
        return -1;
    out->image = xstrndup(image, (size_t)(tag - image));
    const cJSON *spec = json_member(data, "connectorSpec");
    out->id = estuary_member(spec, "id");
    out->tag = estuary_member(spec, "imageTag");
    out->exact = out->tag != NULL && strcmp(out->tag, tag) == 0;
    out->schema = schema_of(json_member(spec, "endpointSpecSchema"));
    return 0;
}

void estuary_connector_release(struct estuary_connector *c)
{
    xfree(c->id);
    xfree(c->image);
    xfree(c->tag);
    node_free(c->schema);
    *c = (struct estuary_connector){0};
}

/* --- specifications --------------------------------------------------------------------------- */

static const char live_query[] = "query($names: [Name!], $first: Int, $after: String) {"
                                 " liveSpecs(by: {names: $names}, first: $first, after: $after) {"
                                 " edges { node { catalogName liveSpec { catalogType } } }"
                                 " pageInfo { hasNextPage endCursor } } }";

/* A name that does not exist comes as a node without a specification, or not at all. */
static bool take_live(void *context, const cJSON *node)
{
    struct estuary_lives *l = context;
    const cJSON *spec = json_member(node, "liveSpec");
    char *name = cJSON_IsObject(spec) ? estuary_member(node, "catalogName") : NULL;
    if (name == NULL)
        return true;
    char *sort = estuary_member(spec, "catalogType");
    l->list = xrealloc(l->list, l->count + 1, sizeof *l->list);
    l->list[l->count++] =
        (struct estuary_live){.name = name, .sort = sort != NULL ? sort : xstrdup("")};
    return true;
}

static int read_batch(struct run *run, struct secret *token, const char *const *names, size_t count,
                      struct estuary_lives *out, struct problem *err)
{
    AUTO(node_free) struct node *variables = node_map();
    struct node *list = node_list();
    for (size_t i = 0; i < count; i++)
        node_add(list, node_scalar(names[i]));
    node_set(variables, "names", list);
    const struct estuary_pages pages = {
        .query = live_query,
        .field = "liveSpecs",
        .variables = variables,
        .max = count,
        .take = take_live,
        .context = out,
    };
    bool cut = false;
    return estuary_pages(run, token, &pages, &cut, err);
}

int estuary_live_read(struct run *run, struct secret *token, const char *const *names, size_t count,
                      struct estuary_lives *out, struct problem *err)
{
    *out = (struct estuary_lives){0};
    for (size_t i = 0; i < count; i += BATCH) {
        size_t n = count - i < BATCH ? count - i : BATCH;
        if (read_batch(run, token, names + i, n, out, err) != 0) {
            estuary_lives_release(out);
            return -1;
        }
    }
    return 0;
}

void estuary_lives_release(struct estuary_lives *l)
{
    for (size_t i = 0; i < l->count; i++) {
        xfree(l->list[i].name);
        xfree(l->list[i].sort);
    }
    xfree(l->list);
    *l = (struct estuary_lives){0};
}
