/* Tables and their places. See tables.h. */
#include "catalog/tables.h"

#include <string.h>

#include "catalog/rest_call.h"
#include "core/json.h"
#include "core/text.h"

#define NAMESPACES_ASKED 20 /* where tables are, they are in one of the first */

void catalog_place_release(struct catalog_place *p)
{
    xfree(p->name);
    xfree(p->location);
    *p = (struct catalog_place){0};
}

/* --- reading ---------------------------------------------------------------------------------- */

int catalog_tables_read(const char *body, size_t n, struct catalog_names *out, char **next,
                        struct problem *err)
{
    AUTO(cJSON_Delete) cJSON *root = json_parse(body, n, "the list of tables", err);
    *next = NULL;
    if (root == NULL)
        return -1;
    const cJSON *list = json_member(root, "identifiers"), *one;
    if (!cJSON_IsArray(list))
        return problem_fail(err, PROBLEM_PROTOCOL, "not iceberg",
                            "the list of tables has no identifiers");
    cJSON_ArrayForEach(one, list)
    {
        const char *name = json_text(one, "name");
        if (name == NULL || out->count >= CATALOG_NAMES_MAX) {
            out->more = true;
            continue;
        }
        out->names = xrealloc(out->names, out->count + 1, sizeof *out->names);
        out->names[out->count++] = xstrdup(name);
    }
    out->pages++;
    const char *token = json_text(root, "next-page-token");
    if (token != NULL && *token != '\0')
        *next = xstrdup(token);
    return 0;
}

int catalog_location_read(const char *body, size_t n, char **location, struct problem *err)
{
    AUTO(cJSON_Delete) cJSON *root = json_parse(body, n, "the table", err);
    *location = NULL;
    if (root == NULL)
        return -1;
    const char *text = json_text(json_member(root, "metadata"), "location");
    if (text == NULL)
        return problem_fail(err, PROBLEM_PROTOCOL, "not iceberg",
                            "the table's metadata has no location");
    *location = xstrdup(text);
    return 0;
}

/* --- asking ----------------------------------------------------------------------------------- */

/* Levels of a namespace are joined by what the catalog says, encoded already. */
static char *tables_url(const char *base, const char *namespace, const char *separator)
{
    struct text out = TEXT_INIT;
    text_addf(&out, "%s/namespaces/", base);
    for (const char *at = namespace; *at != '\0';) {
        size_t n = strcspn(at, ".");
        AUTO(xfree) char *level = xstrndup(at, n);
        AUTO(xfree) char *encoded = url_encode(level);
        text_add(&out, encoded);
        at += n;
        if (*at == '.') {
            text_add(&out, separator);
            at++;
        }
    }
    text_add(&out, "/tables");
    return text_take(&out);
}

static int ask(struct run *run, const struct catalog_target *t, const char *url, const char *name,
               struct http_response *answer, struct problem *err)
{
    struct catalog_call_spec call = {
        .what = CALL_NAMESPACE, .method = "GET", .url = url, .name = name};
    if (catalog_send(run, t, &call, answer, err) != 0)
        return -1;
    return answer->status == 200 ? 0 : catalog_send_explain(t, &call, answer, err);
}

/* The first table of a namespace: 0 also when it has none. */
static int look_in(struct run *run, const struct catalog_target *t, const char *tables,
                   const char *namespace, struct catalog_place *out, struct problem *err)
{
    AUTO_HTTP_RESPONSE list = {0};
    AUTO_HTTP_RESPONSE table = {0};
    AUTO_CATALOG_NAMES names = {0};
    AUTO(xfree) char *next = NULL;
    AUTO(xfree) char *listed = xasprintf("%s?pageToken=&pageSize=10", tables);
    if (ask(run, t, listed, namespace, &list, err) != 0 ||
        catalog_tables_read(list.body.s, list.body.len, &names, &next, err) != 0)
        return -1;
    if (names.count == 0)
        return 0;
    AUTO(xfree) char *encoded = url_encode(names.names[0]);
    AUTO(xfree) char *url = xasprintf("%s/%s?snapshots=refs", tables, encoded);
    if (ask(run, t, url, namespace, &table, err) != 0 ||
        catalog_location_read(table.body.s, table.body.len, &out->location, err) != 0)
        return -1;
    out->name = xasprintf("%s.%s", namespace, names.names[0]);
    return 0;
}

int catalog_find_table(struct run *run, const struct catalog_target *t,
                       const struct catalog_config *config, const struct catalog_names *namespaces,
                       struct catalog_place *out, struct problem *err)
{
    AUTO_PROBLEM last = PROBLEM_INIT;
    AUTO(xfree) char *base = catalog_base(config, t->url, err);
    bool read = namespaces->count == 0;
    *out = (struct catalog_place){0};
    if (base == NULL)
        return -1;
    for (size_t i = 0; i < namespaces->count && i < NAMESPACES_ASKED; i++) {
        AUTO(xfree) char *tables = tables_url(base, namespaces->names[i], config->separator);
        if (look_in(run, t, tables, namespaces->names[i], out, &last) == 0) {
            read = true;
            if (out->location != NULL)
                return 0;
        } else if (last.kind == PROBLEM_UNREACHABLE || last.kind == PROBLEM_CANCELLED) {
            read = false;
            break;
        }
    }
    if (read)
        return 0;
    problem_move(err, &last);
    return -1;
}

int catalog_list_tables(struct run *run, const struct catalog_target *t,
                        const struct catalog_config *config, const char *namespace,
                        struct catalog_names *out, struct problem *err)
{
    AUTO(xfree) char *base = catalog_base(config, t->url, err);
    if (base == NULL)
        return -1;
    AUTO(xfree) char *url = tables_url(base, namespace, config->separator);
    const struct catalog_list list = {.what = CALL_NAMESPACE,
                                      .url = url,
                                      .name = namespace,
                                      .things = "tables",
                                      .may_lack = true,
                                      .read = catalog_tables_read};
    return catalog_list_read(run, t, &list, out, err);
}
