/* Page after page. See pages.h. */
#include "estuary/pages.h"

#include <string.h>

#include "core/clean.h"
#include "core/json.h"
#include "core/mem.h"

#define NODES 500      /* asked for at once; the API may give fewer */
#define TEXT_BYTES 512 /* no name or address is longer */

static int no_connection(const struct estuary_pages *p, struct problem *err)
{
    problem_fail(err, PROBLEM_PROTOCOL, "graphql", "Estuary's answer holds no list of %s",
                 p->field);
    problem_why(err, "It is not in the form that Estuary documents.");
    problem_fix(err, WHO_ESTUARY,
                "Look for a newer sluice; if there is none, ask support@estuary.dev.");
    return -1;
}

/* *next is the cursor of what follows, NULL at the end. */
static int read_page(const struct estuary_pages *p, const cJSON *data, size_t *seen, bool *cut,
                     char **next, struct problem *err)
{
    const cJSON *connection = json_member(data, p->field);
    const cJSON *edges = json_member(connection, "edges");
    if (!cJSON_IsArray(edges))
        return no_connection(p, err);
    for (const cJSON *edge = edges->child; edge != NULL; edge = edge->next) {
        if (*seen == p->max || !p->take(p->context, json_member(edge, "node"))) {
            *cut = true;
            return 0;
        }
        ++*seen;
    }
    const cJSON *info = json_member(connection, "pageInfo");
    const char *end = json_text(info, "endCursor");
    if (cJSON_IsTrue(json_member(info, "hasNextPage")) && end != NULL && edges->child != NULL)
        *next = xstrdup(end);
    return 0;
}

int estuary_pages(struct run *run, struct secret *token, const struct estuary_pages *p, bool *cut,
                  struct problem *err)
{
    size_t seen = 0;
    char *after = NULL;
    int rc = 0;
    do {
        node_set(p->variables, "first", node_number(NODES));
        node_set_text(p->variables, "after", after);
        AUTO(cJSON_Delete) cJSON *data = NULL;
        char *next = NULL;
        rc = estuary_graphql(run, token, p->query, p->variables, &data, err);
        if (rc == 0)
            rc = read_page(p, data, &seen, cut, &next, err);
        /* A cursor that stands still would never end. */
        bool still = next != NULL && after != NULL && strcmp(next, after) == 0;
        xfree(after);
        after = next;
        if (still)
            break;
        run_progress(run, (int64_t)seen, 0, p->field);
    } while (rc == 0 && after != NULL);
    xfree(after);
    return rc;
}

static char *text_of(const cJSON *item)
{
    if (!cJSON_IsString(item) || item->valuestring[0] == '\0' ||
        strlen(item->valuestring) > TEXT_BYTES)
        return NULL;
    return clean_copy(item->valuestring, CLEAN_LINE);
}

char *estuary_member(const cJSON *object, const char *key)
{
    return text_of(json_member(object, key));
}

char **estuary_texts(const cJSON *list, size_t max, size_t *count)
{
    *count = 0;
    size_t n = cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0;
    if (n > max)
        n = max;
    char **texts = xcalloc(n + 1, sizeof *texts);
    const cJSON *item = list != NULL ? list->child : NULL;
    for (size_t i = 0; i < n; i++, item = item->next) {
        char *s = text_of(item);
        if (s != NULL)
            texts[(*count)++] = s;
    }
    return texts;
}
