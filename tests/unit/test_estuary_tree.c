/* The tree of files, as flowctl would have written it. */
#include "estuary_samples.h"

#include "estuary/tree.h"

static const char *file(const struct folder *f, const char *path)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->files[i].path, path) == 0)
            return f->files[i].bytes;
    return NULL;
}

static struct node *small(void)
{
    struct node *model = node_map();
    struct node *schema = node_child_map(model, "schema");
    node_set_text(schema, "type", "object");
    return model;
}

static struct node *large(void)
{
    struct node *model = small();
    char text[600];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    node_set_text(node_get_mut(model, "schema"), "description", text);
    return model;
}

static struct node *capture(void)
{
    struct estuary_source s = sample_source();
    struct estuary_binding b = {
        .schema = "public", .table = "orders", .collection = "acmeCo/shop/public/orders"};
    return estuary_capture_model(estuary_source_config(&s), &b, 1);
}

static void one_file_a_part_of_the_name(void **state)
{
    (void)state;
    AUTO_FOLDER f = {0};
    struct estuary_spec specs[] = {
        {ESTUARY_COLLECTION, "acmeCo/shop/public/orders", small()},
        {ESTUARY_CAPTURE, "acmeCo/shop/source-postgres", capture()},
        {ESTUARY_COLLECTION, "acmeCo/shop/audit/orders", large()},
        {ESTUARY_COLLECTION, "acmeCo/shop/public/items", small()},
        {ESTUARY_MATERIALIZATION, "acmeCo/shop/materialize-bauplan", small()},
    };
    estuary_tree(specs, ARRAY_LEN(specs), &f);
    assert_int_equal(f.count, 7);
    assert_string_equal(file(&f, "flow.yaml"), "import:\n- acmeCo/flow.yaml\n");
    assert_string_equal(file(&f, "acmeCo/flow.yaml"), "import:\n- shop/flow.yaml\n");
    assert_string_equal(file(&f, "acmeCo/shop/flow.yaml"),
                        "import:\n"
                        "- audit/flow.yaml\n"
                        "- public/flow.yaml\n"
                        "captures:\n"
                        "  acmeCo/shop/source-postgres:\n"
                        "    autoDiscover:\n"
                        "      addNewBindings: false\n"
                        "      evolveIncompatibleCollections: true\n"
                        "    endpoint:\n"
                        "      connector:\n"
                        "        image: ghcr.io/estuary/source-postgres:v3\n"
                        "        config: source-postgres.config.yaml\n"
                        "    bindings:\n"
                        "    - resource:\n"
                        "        namespace: public\n"
                        "        stream: orders\n"
                        "      target: acmeCo/shop/public/orders\n"
                        "materializations:\n"
                        "  acmeCo/shop/materialize-bauplan:\n"
                        "    schema:\n"
                        "      type: object\n");
    assert_string_equal(file(&f, "acmeCo/shop/public/flow.yaml"), "collections:\n"
                                                                  "  acmeCo/shop/public/items:\n"
                                                                  "    schema:\n"
                                                                  "      type: object\n"
                                                                  "  acmeCo/shop/public/orders:\n"
                                                                  "    schema:\n"
                                                                  "      type: object\n");
    assert_string_equal(file(&f, "acmeCo/shop/audit/flow.yaml"),
                        "collections:\n"
                        "  acmeCo/shop/audit/orders:\n"
                        "    schema: orders.schema.yaml\n");
    assert_non_null(strstr(file(&f, "acmeCo/shop/audit/orders.schema.yaml"), "description: xxx"));
    AUTO(xfree) char *config = estuary_config_path("acmeCo/shop/source-postgres");
    assert_non_null(strstr(file(&f, config), "address: db.example.com:5432\n"));
    for (size_t i = 0; i < ARRAY_LEN(specs); i++)
        node_free(specs[i].model);
}

static void nothing_is_an_empty_root(void **state)
{
    (void)state;
    AUTO_FOLDER f = {0};
    estuary_tree(NULL, 0, &f);
    assert_int_equal(f.count, 1);
    assert_string_equal(file(&f, "flow.yaml"), "{}\n");
}

/* Prefixes of several tenants meet at the root. */
static void two_tenants(void **state)
{
    (void)state;
    AUTO_FOLDER f = {0};
    struct estuary_spec specs[] = {{ESTUARY_COLLECTION, "b/x", small()},
                                   {ESTUARY_COLLECTION, "a/x/y", small()}};
    estuary_tree(specs, ARRAY_LEN(specs), &f);
    assert_string_equal(file(&f, "flow.yaml"), "import:\n- a/flow.yaml\n- b/flow.yaml\n");
    assert_string_equal(file(&f, "a/flow.yaml"), "import:\n- x/flow.yaml\n");
    assert_non_null(strstr(file(&f, "b/flow.yaml"), "  b/x:\n"));
    for (size_t i = 0; i < ARRAY_LEN(specs); i++)
        node_free(specs[i].model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_file_a_part_of_the_name),
        cmocka_unit_test(nothing_is_an_empty_root),
        cmocka_unit_test(two_tenants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
