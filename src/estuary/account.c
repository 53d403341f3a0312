/* Prefixes, planes and storage mappings. See account.h. */
#include "estuary/account.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "estuary/pages.h"

#define PARTS_MAX 256 /* addresses of a plane, planes of a mapping */

static const char prefixes_query[] =
    "query($first: Int, $after: String) {"
    " prefixes(by: {minCapability: read}, first: $first, after: $after) {"
    " edges { node { prefix userCapability } } pageInfo { hasNextPage endCursor } } }";
static const char planes_query[] =
    "query($first: Int, $after: String) {"
    " dataPlanes(first: $first, after: $after) {"
    " edges { node { name cloudProvider region isPublic closed cidrBlocks } }"
    " pageInfo { hasNextPage endCursor } } }";
static const char mappings_query[] =
    "query($first: Int, $after: String) {"
    " storageMappings(first: $first, after: $after) {"
    " edges { node { catalogPrefix spec } } pageInfo { hasNextPage endCursor } } }";

/* --- reading ---------------------------------------------------------------------------------- */

static bool take_prefix(void *context, const cJSON *node)
{
    struct estuary_account *a = context;
    char *prefix = estuary_member(node, "prefix");
    if (prefix == NULL)
        return true;
    char *capability = estuary_member(node, "userCapability");
    a->prefixes = xrealloc(a->prefixes, a->prefix_count + 1, sizeof *a->prefixes);
    a->prefixes[a->prefix_count++] = (struct estuary_prefix){
        .prefix = prefix, .capability = capability != NULL ? capability : xstrdup("none")};
    return true;
}

/* "AWS" is "aws" in the names of planes and in what people say. */
static char *lower(char *s)
{
    for (char *p = s; p != NULL && *p != '\0'; p++)
        *p = (char)tolower((unsigned char)*p);
    return s != NULL ? s : xstrdup("");
}

/* They are copied into firewalls: what is no address, or block of them, is left out. */
static void only_addresses(struct estuary_plane *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->cidr_count; i++) {
        const char *s = p->cidrs[i];
        if (*s != '\0' && s[strspn(s, "0123456789abcdefABCDEF:./")] == '\0')
            p->cidrs[kept++] = p->cidrs[i];
        else
            xfree(p->cidrs[i]);
    }
    p->cidr_count = kept;
}

static bool take_plane(void *context, const cJSON *node)
{
    struct estuary_account *a = context;
    struct estuary_plane p = {.name = estuary_member(node, "name")};
    if (p.name == NULL)
        return true;
    p.cloud = lower(estuary_member(node, "cloudProvider"));
    p.region = lower(estuary_member(node, "region"));
    p.is_public = cJSON_IsTrue(json_member(node, "isPublic"));
    p.closed = cJSON_IsTrue(json_member(node, "closed"));
    p.cidrs = estuary_texts(json_member(node, "cidrBlocks"), PARTS_MAX, &p.cidr_count);
    only_addresses(&p);
    a->planes = xrealloc(a->planes, a->plane_count + 1, sizeof *a->planes);
    a->planes[a->plane_count++] = p;
    return true;
}

static bool take_mapping(void *context, const cJSON *node)
{
    struct estuary_account *a = context;
    struct estuary_mapping m = {.prefix = estuary_member(node, "catalogPrefix")};
    if (m.prefix == NULL)
        return true;
    const cJSON *planes = json_member(json_member(node, "spec"), "data_planes");
    m.planes = estuary_texts(planes, PARTS_MAX, &m.plane_count);
    a->mappings = xrealloc(a->mappings, a->mapping_count + 1, sizeof *a->mappings);
    a->mappings[a->mapping_count++] = m;
    return true;
}

static int by_first_text(const void *a, const void *b)
{
    /* each of the three begins with its name */
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

static void texts_free(char **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        xfree(list[i]);
    xfree(list);
}

static void prefix_release(void *item)
{
    struct estuary_prefix *p = item;
    xfree(p->prefix);
    xfree(p->capability);
}

static void plane_release(void *item)
{
    struct estuary_plane *p = item;
    xfree(p->name);
    xfree(p->cloud);
    xfree(p->region);
    texts_free(p->cidrs, p->cidr_count);
}

static void mapping_release(void *item)
{
    struct estuary_mapping *m = item;
    xfree(m->prefix);
    texts_free(m->planes, m->plane_count);
}

/* Sorted, each name once: pages overlap when something is added between them. */
static size_t sort(void *list, size_t count, size_t size, void (*release)(void *item))
{
    char *items = list;
    size_t kept = 0;
    if (count > 1)
        qsort(list, count, size, by_first_text);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && by_first_text(items + (kept - 1) * size, items + i * size) == 0)
            release(items + i * size);
        else if (kept++ < i)
            memcpy(items + (kept - 1) * size, items + i * size, size);
    }
    return kept;
}

int estuary_account_read(struct run *run, struct secret *token, struct estuary_account *out,
                         struct problem *err)
{
    static const struct {
        const char *query, *field;
        bool (*take)(void *context, const cJSON *node);
    } lists[] = {
        {prefixes_query, "prefixes", take_prefix},
        {planes_query, "dataPlanes", take_plane},
        {mappings_query, "storageMappings", take_mapping},
    };
    *out = (struct estuary_account){0};
    int rc = estuary_who(run, token, &out->who, err);
    for (size_t i = 0; i < ARRAY_LEN(lists) && rc == 0; i++) {
        AUTO(node_free) struct node *variables = node_map();
        const struct estuary_pages pages = {
            .query = lists[i].query,
            .field = lists[i].field,
            .variables = variables,
            .max = ESTUARY_LIST_MAX,
            .take = lists[i].take,
            .context = out,
        };
        rc = estuary_pages(run, token, &pages, &out->cut, err);
    }
    out->prefix_count =
        sort(out->prefixes, out->prefix_count, sizeof *out->prefixes, prefix_release);
    out->plane_count = sort(out->planes, out->plane_count, sizeof *out->planes, plane_release);
    out->mapping_count =
        sort(out->mappings, out->mapping_count, sizeof *out->mappings, mapping_release);
    return rc;
}

void estuary_account_release(struct estuary_account *a)
{
    estuary_who_release(&a->who);
    for (size_t i = 0; i < a->prefix_count; i++)
        prefix_release(&a->prefixes[i]);
    for (size_t i = 0; i < a->plane_count; i++)
        plane_release(&a->planes[i]);
    for (size_t i = 0; i < a->mapping_count; i++)
        mapping_release(&a->mappings[i]);
    xfree(a->prefixes);
    xfree(a->planes);
    xfree(a->mappings);
    *a = (struct estuary_account){0};
}

/* --- asking ----------------------------------------------------------------------------------- */

/* Whether name is `prefix`, with or without its slash, or below it. */
static bool covers(const char *prefix, const char *name)
{
    size_t n = strlen(prefix);
    if (n > 0 && prefix[n - 1] == '/')
        n--;
    return strncmp(prefix, name, n) == 0 && (name[n] == '\0' || name[n] == '/');
}

static int rank(const char *capability)
{
    static const char *const ranks[] = {"read", "write", "admin"};
    for (int i = 0; i < (int)ARRAY_LEN(ranks); i++)
        if (strcmp(capability, ranks[i]) == 0)
            return i + 1;
    return 0;
}

const char *estuary_capability(const struct estuary_account *a, const char *prefix)
{
    const char *best = NULL;
    for (size_t i = 0; i < a->prefix_count; i++) {
        const struct estuary_prefix *p = &a->prefixes[i];
        if (covers(p->prefix, prefix) && (best == NULL || rank(p->capability) > rank(best)))
            best = p->capability;
    }
    return best;
}

const struct estuary_mapping *estuary_mapping_of(const struct estuary_account *a,
                                                 const char *prefix)
{
    const struct estuary_mapping *best = NULL;
    for (size_t i = 0; i < a->mapping_count; i++) {
        const struct estuary_mapping *m = &a->mappings[i];
        if (covers(m->prefix, prefix) && (best == NULL || strlen(m->prefix) > strlen(best->prefix)))
            best = m;
    }
    return best;
}

bool estuary_stores_with(const struct estuary_mapping *m, const char *plane)
{
    for (size_t i = 0; m != NULL && i < m->plane_count; i++)
        if (strcmp(m->planes[i], plane) == 0)
            return true;
    return false;
}

const struct estuary_plane *estuary_plane_of(const struct estuary_account *a, const char *name)
{
    for (size_t i = 0; i < a->plane_count; i++)
        if (strcmp(a->planes[i].name, name) == 0)
            return &a->planes[i];
    return NULL;
}
