/* The facts of the step: released, and hashed by what their readers depend on. */
#include "steps/oauth/facts.h"

static void logins_free(void *data)
{
    logins_release(data);
    xfree(data);
}

static void logins_hash(const void *data, struct hasher *h)
{
    const struct logins *l = data;
    hasher_number(h, (int64_t)l->count);
    for (size_t i = 0; i < l->count; i++) {
        const struct login_try *t = &l->tries[i];
        hasher_number(h, t->form);
        hasher_text(h, t->uri);
        hasher_text(h, t->url);
        hasher_number(h, t->typed);
        hasher_number(h, t->result);
        hasher_number(h, t->status);
        hasher_text(h, t->problem.code);
        hasher_text(h, t->problem.what);
        hasher_number(h, t->life_s < 0 ? -1 : t->life_s / 60); /* some servers count it down */
        hasher_number(h, t->type_missing);
    }
}

const struct fact_type oauth_logins_type = {
    .name = "logins", .release = logins_free, .hash = logins_hash};

static void config_free(void *data)
{
    catalog_config_release(data);
    xfree(data);
}

static void config_hash(const void *data, struct hasher *h)
{
    const struct catalog_config *c = data;
    hasher_text(h, c->prefix);
    hasher_text(h, c->uri);
    hasher_text(h, c->defaults_uri);
    hasher_text(h, c->separator);
}

const struct fact_type oauth_config_type = {
    .name = "catalog config", .release = config_free, .hash = config_hash};

static void namespaces_free(void *data)
{
    catalog_names_release(data);
    xfree(data);
}

static void namespaces_hash(const void *data, struct hasher *h)
{
    const struct catalog_names *n = data;
    hasher_number(h, (int64_t)n->count);
    for (size_t i = 0; i < n->count; i++)
        hasher_text(h, n->names[i]);
    hasher_number(h, n->more);
}

const struct fact_type oauth_namespaces_type = {
    .name = "namespaces", .release = namespaces_free, .hash = namespaces_hash};

struct fact *oauth_logins_fact(struct logins *l)
{
    struct logins *data = xmalloc(sizeof *data);
    *data = *l;
    *l = (struct logins){0};
    return fact_new(&oauth_logins_type, data);
}

struct fact *oauth_config_fact(struct catalog_config *c)
{
    struct catalog_config *data = xmalloc(sizeof *data);
    *data = *c;
    *c = (struct catalog_config){0};
    return fact_new(&oauth_config_type, data);
}

struct fact *oauth_namespaces_fact(struct catalog_names *n)
{
    struct catalog_names *data = xmalloc(sizeof *data);
    *data = *n;
    *n = (struct catalog_names){0};
    return fact_new(&oauth_namespaces_type, data);
}
