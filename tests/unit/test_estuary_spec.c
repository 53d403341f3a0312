/* What is written of a pipeline: configs, tasks, drafts of collections, letter by letter. */
#include "estuary_samples.h"

static void the_captures_config(void **state)
{
    (void)state;
    struct estuary_source s = sample_source();
    AUTO_NODE *config = estuary_source_config(&s);
    assert_yaml(config, "address: db.example.com:5432\n"
                        "user: flow_shop\n"
                        "database: shop\n"
                        "historyMode: false\n"
                        "credentials:\n"
                        "  auth_type: UserPassword\n"
                        "  password: a-placeholder\n"
                        "advanced:\n"
                        "  publicationName: flow_shop\n"
                        "  slotName: flow_shop\n"
                        "  watermarksTable: public.flow_watermarks\n"
                        "  sslmode: require\n");
}

static void a_host_may_be_an_address(void **state)
{
    (void)state;
    struct estuary_source s = sample_source();
    s.host = "2001:db8::1";
    s.history = true;
    s.sslmode = "";
    AUTO_NODE *config = estuary_source_config(&s);
    assert_string_equal(node_get_text(config, "address"), "[2001:db8::1]:5432");
    assert_string_equal(node_get_text(config, "historyMode"), "true");
    assert_null(node_find(config, "advanced.sslmode"));
}

static void the_materializations_config(void **state)
{
    (void)state;
    struct estuary_target t = sample_target();
    AUTO_NODE *config = estuary_target_config(&t);
    assert_yaml(config, "url: https://api.example.com/iceberg/alice.ingest\n"
                        "warehouse: default\n"
                        "namespace: analytics\n"
                        "base_location: s3://lake-acme/iceberg\n"
                        "hard_delete: false\n"
                        "credentials:\n"
                        "  auth_type: OAuth 2.0 Client Credentials\n"
                        "  oauth2_server_uri: v1/oauth/tokens\n"
                        "  credential: 8f1c:a-placeholder\n"
                        "compute:\n"
                        "  compute_type: AWS EMR Serverless\n"
                        "  region: us-east-1\n"
                        "  application_id: 00f1abcd2efg3h09\n"
                        "  execution_role_arn: arn:aws:iam::123456789012:role/sluice-shop-emr\n"
                        "  bucket: lake-acme\n"
                        "  bucket_path: estuary-staging\n"
                        "  systems_manager_prefix: /estuary/shop/\n"
                        "  credentials:\n"
                        "    auth_type: AWSAccessKey\n"
                        "    aws_access_key_id: AKIAIOSFODNN7EXAMPLE\n"
                        "    aws_secret_access_key: a-placeholder\n"
                        "syncSchedule:\n"
                        "  syncFrequency: 30m\n");
}

/* An id of digits alone stays a text, and so does a branch called "yes". */
static void texts_stay_texts(void **state)
{
    (void)state;
    struct estuary_target t = sample_target();
    t.application = "0012345678901234";
    t.ns = "yes";
    t.hard_delete = true;
    AUTO_NODE *config = estuary_target_config(&t);
    AUTO_TEXT out = TEXT_INIT;
    node_write_yaml(config, &out);
    assert_non_null(strstr(out.s, "application_id: \"0012345678901234\"\n"));
    assert_non_null(strstr(out.s, "namespace: \"yes\"\n"));
    assert_non_null(strstr(out.s, "hard_delete: true\n"));
}

static const struct estuary_column columns[] = {
    {"id", "bigint", 1, true},
    {"when", "timestamp(3) with time zone", 0, true},
    {"price", "numeric(10,2)", 0, false},
    {"weight", "double precision", 0, false},
    {"a~b/c", "real", 2, true},
    {"data", "jsonb", 0, false},
    {"tags", "text[]", 0, false},
    {"raw", "bytea", 0, false},
    {"state", "public.order_state", 0, false},
};

static struct estuary_binding sample_binding(void)
{
    return (struct estuary_binding){.schema = "public",
                                    .table = "Order Items",
                                    .collection = "acmeCo/shop/public/order_items",
                                    .ns = "analytics",
                                    .iceberg = "order_items",
                                    .column_count = ARRAY_LEN(columns),
                                    .columns = columns};
}

static void the_tasks(void **state)
{
    (void)state;
    struct estuary_binding b = sample_binding();
    AUTO_NODE *capture = estuary_capture_model(node_scalar("source-postgres.config.yaml"), &b, 1);
    AUTO_NODE *materialization = estuary_materialization_model(
        ESTUARY_TARGET_IMAGE, node_scalar("materialize-bauplan.config.yaml"),
        "acmeCo/shop/source-postgres", "analytics", &b, 1);
    assert_yaml(capture, "autoDiscover:\n"
                         "  addNewBindings: false\n"
                         "  evolveIncompatibleCollections: true\n"
                         "endpoint:\n"
                         "  connector:\n"
                         "    image: ghcr.io/estuary/source-postgres:v3\n"
                         "    config: source-postgres.config.yaml\n"
                         "bindings:\n"
                         "- resource:\n"
                         "    namespace: public\n"
                         "    stream: Order Items\n"
                         "  target: acmeCo/shop/public/order_items\n");
    assert_yaml(materialization, "source:\n"
                                 "  capture: acmeCo/shop/source-postgres\n"
                                 "  fieldsRecommended: 1\n"
                                 "targetNaming:\n"
                                 "  strategy: singleSchema\n"
                                 "  schema: analytics\n"
                                 "endpoint:\n"
                                 "  connector:\n"
                                 "    image: ghcr.io/estuary/materialize-bauplan:v1\n"
                                 "    config: materialize-bauplan.config.yaml\n"
                                 "bindings:\n"
                                 "- resource:\n"
                                 "    namespace: analytics\n"
                                 "    table: order_items\n"
                                 "  source: acmeCo/shop/public/order_items\n"
                                 "  fields:\n"
                                 "    recommended: 1\n");
}

static void a_collections_draft(void **state)
{
    (void)state;
    struct estuary_binding b = sample_binding();
    AUTO_NODE *draft = estuary_collection_draft(&b);
    assert_yaml(draft, "schema:\n"
                       "  description: Draft from the columns of public.Order Items. `flowctl "
                       "discover` writes the real one.\n"
                       "  type: object\n"
                       "  properties:\n"
                       "    id:\n"
                       "      type: integer\n"
                       "    when:\n"
                       "      type: string\n"
                       "      format: date-time\n"
                       "    price:\n"
                       "      type:\n"
                       "      - string\n"
                       "      - \"null\"\n"
                       "      format: number\n"
                       "    weight:\n"
                       "      type:\n"
                       "      - number\n"
                       "      - string\n"
                       "      - \"null\"\n"
                       "      format: number\n"
                       "    a~b/c:\n"
                       "      type: string\n"
                       "      format: number\n"
                       "    data: {}\n"
                       "    tags:\n"
                       "      type:\n"
                       "      - array\n"
                       "      - \"null\"\n"
                       "    raw:\n"
                       "      type:\n"
                       "      - string\n"
                       "      - \"null\"\n"
                       "      contentEncoding: base64\n"
                       "    state: {}\n"
                       "  required:\n"
                       "  - id\n"
                       "  - a~b/c\n"
                       "key:\n"
                       "- /id\n"
                       "- /a~0b~1c\n");
}

static void a_draft_without_a_key(void **state)
{
    (void)state;
    static const struct estuary_column only[] = {{"_meta", "text", 0, false}};
    struct estuary_binding b = sample_binding();
    b.columns = only;
    b.column_count = 1;
    AUTO_NODE *draft = estuary_collection_draft(&b);
    const struct node *properties = node_find(draft, "schema.properties");
    assert_int_equal(properties->count, 1);
    assert_string_equal(
        node_get_text(node_find(properties, "_meta.properties.source.properties.loc"), "minItems"),
        "3");
    assert_yaml(node_get(draft, "key"),
                "- /_meta/source/loc/0\n- /_meta/source/loc/1\n- /_meta/source/loc/2\n");
    assert_yaml(node_find(draft, "schema.required"), "- _meta\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_captures_config),
        cmocka_unit_test(a_host_may_be_an_address),
        cmocka_unit_test(the_materializations_config),
        cmocka_unit_test(texts_stay_texts),
        cmocka_unit_test(the_tasks),
        cmocka_unit_test(a_collections_draft),
        cmocka_unit_test(a_draft_without_a_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
