/* Answers of the catalog, read without any network. */
#include <string.h>
#include <strings.h>

#include "catalog/rest.h"
#include "catalog/url.h"
#include "core/json.h"
#include "core/text.h"

void catalog_config_release(struct catalog_config *c)
{
    xfree(c->prefix);
    xfree(c->uri);
    xfree(c->defaults_uri);
    xfree(c->separator);
    *c = (struct catalog_config){0};
}

void catalog_names_release(struct catalog_names *n)
{
    for (size_t i = 0; i < n->count; i++)
        xfree(n->names[i]);
    xfree(n->names);
    *n = (struct catalog_names){0};
}

static int not_iceberg(struct problem *err, const char *why)
{
    problem_fail(err, PROBLEM_PROTOCOL, "not iceberg", "not an Iceberg catalog at this path");
    problem_why(err, "%s", why);
    problem_fix(err, WHO_YOU, "Correct Catalog URL: it ends in /iceberg.");
    return -1;
}

static char *first_text(const cJSON *overrides, const cJSON *defaults, const char *key,
                        const char *otherwise)
{
    const char *s = json_text(overrides, key);
    if (s == NULL)
        s = json_text(defaults, key);
    return xstrdup(s != NULL ? s : otherwise);
}

int catalog_config_read(const char *body, size_t n, struct catalog_config *out, struct problem *err)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    AUTO(cJSON_Delete) cJSON *root = json_parse(body, n, "/v1/config", &why);
    if (root == NULL)
        return not_iceberg(err, why.what);
    const cJSON *defaults = json_member(root, "defaults"),
                *overrides = json_member(root, "overrides");
    if (!cJSON_IsObject(defaults) && !cJSON_IsObject(overrides))
        return not_iceberg(err,
                           "Its /v1/config is JSON, but without defaults and overrides, which each "
                           "Iceberg catalog has.");
    const char *uri = json_text(overrides, "uri"), *defaults_uri = json_text(defaults, "uri");
    *out = (struct catalog_config){
        .prefix = first_text(overrides, defaults, "prefix", ""),
        .uri = xstrdup(uri != NULL ? uri : ""),
        .defaults_uri = xstrdup(defaults_uri != NULL ? defaults_uri : ""),
        .separator = first_text(overrides, defaults, "namespace-separator", "%1F"),
    };
    return 0;
}

/* --- the effective base ----------------------------------------------------------------------- */

static int elsewhere(const char *uri, const char *target_url, struct problem *err)
{
    problem_fail(err, PROBLEM_DENIED, "uri override",
                 "the catalog sends its clients to another host");
    problem_why(err,
                "Its config says uri = %s, but the token belongs to %s and is not sent elsewhere. "
                "Mostly a proxy in "
                "front of the catalog hides its real name, so that clients would be led astray.",
                uri, target_url);
    problem_fix(err, WHO_BAUPLAN,
                "Ask support@bauplanlabs.com whether this address is right; if so, enter it as "
                "Catalog URL.");
    problem_evidence(err, "overrides.uri: %s", uri);
    return -1;
}

/* Nothing in it may lead out of the path it is put into. */
static bool prefix_good(const char *prefix)
{
    if (*prefix == '/' || strlen(prefix) > 1024 || strpbrk(prefix, "?#\\") != NULL)
        return false;
    for (const char *p = prefix; *p != '\0';) {
        size_t n = strcspn(p, "/");
        if (n == 0 || (n <= 2 && strspn(p, ".") >= n))
            return false;
        for (size_t i = 0; i < n; i++)
            if ((unsigned char)p[i] < ' ' || (unsigned char)p[i] == 0x7f)
                return false;
        /* encoded dots and slashes count as what they stand for */
        if (strncasecmp(p, "%2e", 3) == 0 &&
            (n == 3 || (n == 6 && strncasecmp(p + 3, "%2e", 3) == 0)))
            return false;
        p += n + (p[n] == '/');
    }
    return true;
}

/* As it came; only what cannot stand in a path is encoded, and "%" never (it is encoded already).
 */
static void add_prefix(struct text *out, const char *prefix)
{
    static const char illegal[] = " \"<>^`{|}[]";
    for (const unsigned char *p = (const unsigned char *)prefix; *p != '\0'; p++) {
        if (*p >= 0x80 || strchr(illegal, *p) != NULL)
            text_addf(out, "%%%02X", *p);
        else
            text_addc(out, (char)*p);
    }
}

char *catalog_base(const struct catalog_config *c, const char *target_url, struct problem *err)
{
    const char *uri = *c->uri != '\0'            ? c->uri
                      : *c->defaults_uri != '\0' ? c->defaults_uri
                                                 : target_url;
    if (uri != target_url &&
        (catalog_url_valid(uri, NULL) != 0 || !url_same_host(uri, target_url))) {
        elsewhere(uri, target_url, err);
        return NULL;
    }
    if (!prefix_good(c->prefix)) {
        problem_fail(err, PROBLEM_PROTOCOL, "prefix", "the prefix the catalog gives is not a path");
        problem_why(err, "It would lead out of the catalog's own path.");
        problem_fix(err, WHO_BAUPLAN, "Show this to support@bauplanlabs.com.");
        problem_evidence(err, "prefix: %s", c->prefix);
        return NULL;
    }
    struct text out = TEXT_INIT;
    AUTO(xfree) char *v1 = catalog_join(uri, "v1");
    text_add(&out, v1);
    if (*c->prefix != '\0') {
        text_addc(&out, '/');
        add_prefix(&out, c->prefix);
        while (out.s[out.len - 1] == '/')
            out.s[--out.len] = '\0';
    }
    return text_take(&out);
}

/* --- namespaces ------------------------------------------------------------------------------- */

static char *joined_levels(const cJSON *levels)
{
    struct text out = TEXT_INIT;
    const cJSON *level;
    cJSON_ArrayForEach(level, levels)
    {
        if (!cJSON_IsString(level)) {
            text_release(&out);
            return NULL;
        }
        text_sep(&out, ".");
        text_add(&out, level->valuestring);
    }
    return text_take(&out);
}

int catalog_names_read(const char *body, size_t n, struct catalog_names *out, char **next,
                       struct problem *err)
{
    *next = NULL;
    AUTO_PROBLEM why = PROBLEM_INIT;
    AUTO(cJSON_Delete) cJSON *root = json_parse(body, n, "the list of namespaces", &why);
    if (root == NULL)
        return not_iceberg(err, why.what);
    const cJSON *list = json_member(root, "namespaces"), *levels;
    if (!cJSON_IsArray(list))
        return not_iceberg(err, "The answer has no list of namespaces in it.");
    cJSON_ArrayForEach(levels, list)
    {
        char *name = cJSON_IsArray(levels) ? joined_levels(levels) : NULL;
        if (name == NULL)
            return not_iceberg(err, "A namespace in the list is not a list of names.");
        if (out->count >= CATALOG_NAMES_MAX) {
            xfree(name);
            out->more = true;
            return 0;
        }
        out->names = xrealloc(out->names, out->count + 1, sizeof *out->names);
        out->names[out->count++] = name;
    }
    out->pages++;
    const char *token = json_text(root, "next-page-token");
    if (token != NULL && *token != '\0')
        *next = xstrdup(token);
    return 0;
}
