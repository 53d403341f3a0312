/* Models and configs as trees. See spec.h. */
#include "estuary/spec.h"

#include <string.h>

#include "core/mem.h"
#include "core/text.h"

static void set(struct node *map, const char *key, const char *text)
{
    node_append(map, key, node_scalar(text));
}

static struct node *child(struct node *map, const char *key)
{
    struct node *n = node_map();
    node_append(map, key, n);
    return n;
}

/* --- configs ---------------------------------------------------------------------------------- */

struct node *estuary_source_config(const struct estuary_source *s)
{
    struct node *config = node_map();
    bool v6 = strchr(s->host, ':') != NULL;
    /* the port always: the connector only adds 5432 where it sees no colon at all */
    AUTO(xfree)
    char *address = xasprintf("%s%s%s:%s", v6 ? "[" : "", s->host, v6 ? "]" : "", s->port);
    set(config, "address", address);
    set(config, "user", s->user);
    set(config, "database", s->database);
    node_append(config, "historyMode", node_bool(s->history));
    struct node *credentials = child(config, "credentials");
    set(credentials, "auth_type", "UserPassword");
    set(credentials, "password", s->password);
    struct node *advanced = child(config, "advanced");
    set(advanced, "publicationName", s->publication);
    set(advanced, "slotName", s->slot);
    set(advanced, "watermarksTable", s->watermarks);
    if (s->sslmode[0] != '\0')
        set(advanced, "sslmode", s->sslmode);
    return config;
}

static void add_compute(struct node *config, const struct estuary_target *t)
{
    struct node *compute = child(config, "compute");
    set(compute, "compute_type", "AWS EMR Serverless");
    set(compute, "region", t->region);
    set(compute, "application_id", t->application);
    set(compute, "execution_role_arn", t->role_arn);
    set(compute, "bucket", t->bucket);
    set(compute, "bucket_path", t->bucket_path);
    set(compute, "systems_manager_prefix", t->ssm_prefix);
    struct node *credentials = child(compute, "credentials");
    set(credentials, "auth_type", "AWSAccessKey");
    set(credentials, "aws_access_key_id", t->key_id);
    set(credentials, "aws_secret_access_key", t->key_secret);
}

struct node *estuary_target_config(const struct estuary_target *t)
{
    struct node *config = node_map();
    set(config, "url", t->url);
    set(config, "warehouse", t->warehouse);
    set(config, "namespace", t->ns);
    set(config, "base_location", t->base_location);
    node_append(config, "hard_delete", node_bool(t->hard_delete));
    struct node *credentials = child(config, "credentials");
    set(credentials, "auth_type", "OAuth 2.0 Client Credentials");
    set(credentials, "oauth2_server_uri", t->token_uri);
    set(credentials, "credential", t->credential);
    add_compute(config, t);
    struct node *schedule = child(config, "syncSchedule");
    set(schedule, "syncFrequency", t->sync_frequency);
    return config;
}

/* --- tasks ------------------------------------------------------------------------------------ */

static void add_endpoint(struct node *model, const char *image, struct node *config)
{
    struct node *connector = child(child(model, "endpoint"), "connector");
    set(connector, "image", image);
    node_append(connector, "config", config);
}

struct node *estuary_capture_model(struct node *config, const struct estuary_binding *bindings,
                                   size_t count)
{
    struct node *model = node_map();
    struct node *discover = child(model, "autoDiscover");
    /* a table that appears in the publication is not captured before somebody says so; a column
     * that changes is followed */
    node_append(discover, "addNewBindings", node_bool(false));
    node_append(discover, "evolveIncompatibleCollections", node_bool(true));
    add_endpoint(model, ESTUARY_SOURCE_IMAGE, config);
    struct node *list = node_list();
    node_append(model, "bindings", list);
    for (size_t i = 0; i < count; i++) {
        struct node *binding = node_map();
        struct node *resource = child(binding, "resource");
        set(resource, "namespace", bindings[i].schema);
        set(resource, "stream", bindings[i].table);
        set(binding, "target", bindings[i].collection);
        node_add(list, binding);
    }
    return model;
}

struct node *estuary_materialization_model(const char *image, struct node *config,
                                           const char *capture, const char *ns,
                                           const struct estuary_binding *bindings, size_t count)
{
    struct node *model = node_map();
    struct node *source = child(model, "source");
    set(source, "capture", capture);
    node_append(source, "fieldsRecommended", node_number(1));
    struct node *naming = child(model, "targetNaming");
    set(naming, "strategy", "singleSchema");
    set(naming, "schema", ns);
    add_endpoint(model, image, config);
    struct node *list = node_list();
    node_append(model, "bindings", list);
    for (size_t i = 0; i < count; i++) {
        struct node *binding = node_map();
        struct node *resource = child(binding, "resource");
        set(resource, "namespace", bindings[i].ns);
        set(resource, "table", bindings[i].iceberg);
        set(binding, "source", bindings[i].collection);
        node_append(child(binding, "fields"), "recommended", node_number(1));
        node_add(list, binding);
    }
    return model;
}

/* --- collections ------------------------------------------------------------------------------ */

/* How a type of PostgreSQL arrives in a document (source-postgres's own mapping). */
struct type_row {
    const char *name; /* without precision */
    const char *type, *other;
    const char *format;
    const char *encoding;
};

static const struct type_row types[] = {
    {"smallint", "integer", NULL, NULL, NULL},
    {"integer", "integer", NULL, NULL, NULL},
    {"bigint", "integer", NULL, NULL, NULL},
    {"oid", "integer", NULL, NULL, NULL},
    {"boolean", "boolean", NULL, NULL, NULL},
    {"numeric", "string", NULL, "number", NULL},
    {"real", "number", "string", "number", NULL}, /* NaN and Infinity come as texts */
    {"double precision", "number", "string", "number", NULL},
    {"text", "string", NULL, NULL, NULL},
    {"character varying", "string", NULL, NULL, NULL},
    {"character", "string", NULL, NULL, NULL},
    {"name", "string", NULL, NULL, NULL},
    {"date", "string", NULL, "date", NULL},
    {"timestamp without time zone", "string", NULL, "date-time", NULL},
    {"timestamp with time zone", "string", NULL, "date-time", NULL},
    {"time without time zone", "string", NULL, "time", NULL},
    {"time with time zone", "string", NULL, "time", NULL},
    {"uuid", "string", NULL, "uuid", NULL},
    {"bytea", "string", NULL, NULL, "base64"},
    {"interval", "string", NULL, NULL, NULL},
    {"money", "string", NULL, NULL, NULL},
    {"inet", "string", NULL, NULL, NULL},
    {"cidr", "string", NULL, NULL, NULL},
    {"xml", "string", NULL, NULL, NULL},
};

/* "timestamp(3) with time zone" without its precision. */
static char *without_precision(const char *type)
{
    const char *open = strchr(type, '(');
    const char *close = open != NULL ? strchr(open, ')') : NULL;
    if (close == NULL)
        return xstrdup(type);
    return xasprintf("%.*s%s", (int)(open - type), type, close + 1);
}

static const struct type_row *type_of(const char *type)
{
    AUTO(xfree) char *bare = without_precision(type);
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (strcmp(types[i].name, bare) == 0)
            return &types[i];
    return NULL;
}

/* A part of a key is a whole number, a text or a yes or no: a float comes as text there. */
static void add_type(struct node *schema, const struct type_row *row,
                     const struct estuary_column *c)
{
    const char *first = row->other != NULL && c->key > 0 ? row->other : row->type;
    const char *second = c->key > 0 ? NULL : row->other;
    bool null = c->key == 0 && !c->filled;
    if (second == NULL && !null) {
        set(schema, "type", first);
        return;
    }
    struct node *list = node_list();
    node_add(list, node_scalar(first));
    if (second != NULL)
        node_add(list, node_scalar(second));
    if (null)
        node_add(list, node_scalar("null"));
    node_append(schema, "type", list);
}

static struct node *column_schema(const struct estuary_column *c)
{
    static const struct type_row array = {"", "array", NULL, NULL, NULL};
    static const struct type_row text = {"", "string", NULL, NULL, NULL};
    struct node *schema = node_map();
    size_t n = strlen(c->type);
    const struct type_row *row = type_of(c->type);
    if (n > 2 && strcmp(c->type + n - 2, "[]") == 0)
        row = &array;
    if (row == NULL && c->key > 0)
        row = &text;
    if (row == NULL)
        return schema; /* json, and types of extensions: anything */
    add_type(schema, row, c);
    if (row->format != NULL)
        set(schema, "format", row->format);
    if (row->encoding != NULL)
        set(schema, "contentEncoding", row->encoding);
    return schema;
}

/* A JSON pointer (RFC 6901) to one property. */
static char *pointer_to(const char *property)
{
    AUTO_TEXT out = TEXT_INIT;
    text_addc(&out, '/');
    for (const char *p = property; *p != '\0'; p++) {
        if (*p == '~')
            text_add(&out, "~0");
        else if (*p == '/')
            text_add(&out, "~1");
        else
            text_addc(&out, *p);
    }
    return text_take(&out);
}

static const struct estuary_column *key_part(const struct estuary_binding *b, int place)
{
    for (size_t i = 0; i < b->column_count; i++)
        if (b->columns[i].key == place)
            return &b->columns[i];
    return NULL;
}

/* Place of each change in the log: three numbers that are always there. */
static void add_place(struct node *schema, struct node *key)
{
    struct node *meta = node_map();
    node_set(node_get_mut(schema, "properties"), "_meta", meta); /* in place of a column's */
    set(meta, "type", "object");
    struct node *required = node_list();
    node_add(required, node_scalar("source"));
    node_append(meta, "required", required);
    struct node *source = child(child(meta, "properties"), "source");
    set(source, "type", "object");
    required = node_list();
    node_add(required, node_scalar("loc"));
    node_append(source, "required", required);
    struct node *loc = child(child(source, "properties"), "loc");
    set(loc, "type", "array");
    node_append(loc, "minItems", node_number(3));
    set(child(loc, "items"), "type", "integer");
    for (int i = 0; i < 3; i++) {
        AUTO(xfree) char *pointer = xasprintf("/_meta/source/loc/%d", i);
        node_add(key, node_scalar(pointer));
    }
    node_add(node_get_mut(schema, "required"), node_scalar("_meta"));
}

struct node *estuary_collection_draft(const struct estuary_binding *b)
{
    struct node *model = node_map();
    struct node *schema = child(model, "schema");
    AUTO(xfree)
    char *about =
        xasprintf("Draft from the columns of %s.%s. `flowctl discover` writes the real one.",
                  b->schema, b->table);
    set(schema, "description", about);
    set(schema, "type", "object");
    struct node *properties = child(schema, "properties");
    struct node *required = node_list();
    node_append(schema, "required", required);
    for (size_t i = 0; i < b->column_count; i++)
        node_set(properties, b->columns[i].name, column_schema(&b->columns[i]));
    struct node *key = node_list();
    node_append(model, "key", key);
    for (int place = 1; key_part(b, place) != NULL; place++) {
        AUTO(xfree) char *pointer = pointer_to(key_part(b, place)->name);
        node_add(key, node_scalar(pointer));
        node_add(required, node_scalar(key_part(b, place)->name));
    }
    if (key->count == 0)
        add_place(schema, key);
    return model;
}
