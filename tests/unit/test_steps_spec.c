/* What the steps share of Estuary: facts that are kept in the state and come back as they went,
 * what their digests depend on, when a sealed config may still be used. */
#include "spec_world.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/node_json.h"
#include "net/net.h"
#include "seal_samples.h"
#include "steps/review/export.h"
#include "steps/spec/account.h"
#include "steps/spec/discovered.h"
#include "steps/spec/image.h"
#include "steps/spec/models.h"
#include "steps/spec/sealed.h"

static void fact_done(struct fact **f)
{
    fact_unref(*f);
}
#define AUTO_FACT __attribute__((cleanup(fact_done))) struct fact

/* As it comes back from the state file; NULL when it is not taken. */
static struct fact *through_file(const struct fact *f)
{
    const struct fact_type *type = fact_type_of(f);
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_TEXT yaml = TEXT_INIT;
    AUTO_NODE *file = node_map();
    node_set(file, "value", type->save(fact_data(f, type)));
    node_write_yaml(file, &yaml);
    AUTO_NODE *read = node_parse_yaml(yaml.s, yaml.len, "state", &err);
    if (read == NULL)
        fail_msg("%s\n%s", err.what, yaml.s);
    void *data = type->load(node_get(read, "value"));
    return data != NULL ? fact_new(type, data) : NULL;
}

static bool same(const struct fact *a, const struct fact *b)
{
    struct digest left = fact_digest(a), right = fact_digest(b);
    return digest_equal(&left, &right);
}

/* The digest stands after a restart, and a second way through the file changes nothing. */
static void assert_comes_back(const struct fact *f)
{
    const struct fact_type *type = fact_type_of(f);
    AUTO_FACT *back = through_file(f);
    assert_non_null(back);
    assert_true(same(f, back));
    AUTO_NODE *first = type->save(fact_data(f, type));
    AUTO_NODE *second = type->save(fact_data(back, type));
    assert_true(node_equal(first, second));
}

static void assert_not_loaded(const struct fact_type *type, const char *yaml)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_NODE *n = node_parse_yaml(yaml, strlen(yaml), "state", &err);
    assert_non_null(n);
    if (type->load(node_get(n, "value")) != NULL)
        fail_msg("%s was taken up from %s", type->name, yaml);
}

/* --- the account
 * ------------------------------------------------------------------------------ */

#define EAST "ops/dp/public/aws-us-east-1-c2"

static char **texts(const char *a, const char *b)
{
    char **list = xcalloc(2, sizeof *list);
    list[0] = xstrdup(a);
    list[1] = xstrdup(b);
    return list;
}

static struct estuary_account account(void)
{
    struct estuary_account a = {.prefix_count = 2, .plane_count = 2, .mapping_count = 1};
    a.who.email = xstrdup("alice@acme.example");
    a.who.until = 1795948860;
    a.prefixes = xcalloc(2, sizeof *a.prefixes);
    a.prefixes[0] = (struct estuary_prefix){xstrdup("acmeCo/"), xstrdup("admin")};
    a.prefixes[1] = (struct estuary_prefix){xstrdup("é: \"q\"/"), xstrdup("write")};
    a.planes = xcalloc(2, sizeof *a.planes);
    a.planes[0] = (struct estuary_plane){.name = xstrdup(EAST),
                                         .cloud = xstrdup("aws"),
                                         .region = xstrdup("us-east-1"),
                                         .is_public = true,
                                         .cidr_count = 2,
                                         .cidrs = texts("192.0.2.7/32", "2001:db8:a::/64")};
    a.planes[1] = (struct estuary_plane){
        .name = xstrdup("true"), .cloud = xstrdup(""), .region = xstrdup(""), .closed = true};
    a.mappings = xcalloc(1, sizeof *a.mappings);
    a.mappings[0] = (struct estuary_mapping){xstrdup("acmeCo/"), 2, texts(EAST, "12")};
    return a;
}

static struct fact *account_fact(void)
{
    struct estuary_account a = account();
    struct fact *f = spec_account_fact(&a);
    assert_null(a.prefixes);
    return f;
}

static void accounts_come_back(void **state)
{
    (void)state;
    struct estuary_account none = {0};
    AUTO_FACT *empty = spec_account_fact(&none);
    AUTO_FACT *f = account_fact();
    assert_comes_back(empty);
    assert_comes_back(f);
    AUTO_FACT *back = through_file(f);
    const struct estuary_account *a = fact_data(back, &spec_account_type);
    assert_string_equal(a->prefixes[1].prefix, "é: \"q\"/");
    assert_string_equal(a->prefixes[1].capability, "write");
    assert_string_equal(a->planes[0].cidrs[1], "2001:db8:a::/64");
    assert_string_equal(a->planes[0].region, "us-east-1");
    assert_true(a->planes[0].is_public && !a->planes[0].closed && a->planes[1].closed);
    assert_string_equal(a->planes[1].name, "true");
    assert_string_equal(a->mappings[0].planes[1], "12");
    assert_not_loaded(&spec_account_type, "value: {prefixes: {}, planes: {}}");
    assert_not_loaded(&spec_account_type, "value: x");
    assert_not_loaded(&spec_account_type, "value: [a]");
}

static void replace(char **text, const char *with)
{
    xfree(*text);
    *text = xstrdup(with);
}

static void account_digest(void **state)
{
    (void)state;
    AUTO_FACT *was = account_fact();
    struct estuary_account variants[9];
    for (size_t i = 0; i < ARRAY_LEN(variants); i++)
        variants[i] = account();
    replace(&variants[0].prefixes[0].prefix, "acmeCo2/");
    replace(&variants[1].prefixes[0].capability, "read");
    replace(&variants[2].planes[0].name, "ops/dp/public/other");
    variants[3].planes[0].closed = true;
    replace(&variants[4].planes[0].cidrs[0], "192.0.2.8/32");
    replace(&variants[5].mappings[0].prefix, "acmeCo/shop/");
    replace(&variants[6].mappings[0].planes[0], "ops/dp/public/other");
    replace(&variants[7].planes[0].region, "eu-west-1");
    replace(&variants[8].planes[0].cloud, "gcp");
    for (size_t i = 0; i < ARRAY_LEN(variants); i++) {
        AUTO_FACT *now = spec_account_fact(&variants[i]);
        if (same(was, now))
            fail_msg("variant %zu has the same digest", i);
    }
    struct estuary_account renewed = account();
    renewed.who.until += 3600;
    replace(&renewed.who.email, "bob@acme.example");
    AUTO_FACT *later = spec_account_fact(&renewed);
    assert_true(same(was, later));
}

/* --- discovered collections
 * ------------------------------------------------------------------- */

static const char model_json[] =
    "{\"schema\":{\"properties\":{\"a\":{\"minimum\":-9223372036854775808,\"maximum\":1.0,\"x\":1E-"
    "7},\"null\":{\"type\":[\"integer\",\"null\"]},\"\":null,\"1\":\"1\",\"true\":true,\"yes\":"
    "\"yes\",\"~\":\"~\",\"no\":\"null\",\"t\":\"a\\tb\\n c\\u0001\\u2028 \\u00e9 #: "
    "x\",\"long\":\"1234567890 1234567890 1234567890 1234567890 1234567890 1234567890 1234567890 "
    "1234567890 1234567890  \",\"e\":\"\",\"l\":[],\"m\":{},\"d\":\"2026-11-30\",\"o\":\"0o17\"}},"
    "\"key\":[\"/a~1b\",\"/~0\"]}";

static struct fact *discovered(const char *name, const char *json)
{
    struct spec_discovered d = {0};
    spec_discovered_add(&d, name, tree(json));
    spec_discovered_add(&d, "acmeCo/shop/public/other", tree("{\"key\":[]}"));
    struct fact *f = spec_discovered_fact(&d);
    assert_int_equal(d.count, 0);
    return f;
}

static void collections_come_back_letter_by_letter(void **state)
{
    (void)state;
    AUTO_FACT *f = discovered("acmeCo/shop/public/orders", model_json);
    assert_comes_back(f);
    AUTO_FACT *back = through_file(f);
    AUTO_TEXT json = TEXT_INIT;
    const struct spec_discovered *d = fact_data(back, &spec_discovered_type);
    assert_int_equal(d->count, 2);
    node_write_json(spec_discovered_model(d, "acmeCo/shop/public/orders"), &json);
    AUTO_NODE *was = tree(model_json);
    AUTO_TEXT wanted = TEXT_INIT;
    node_write_json(was, &wanted);
    assert_string_equal(json.s, wanted.s);
    assert_null(spec_discovered_model(d, "acmeCo/shop/public/Orders"));
    assert_null(spec_discovered_model(NULL, "acmeCo/shop/public/orders"));
    assert_not_loaded(&spec_discovered_type, "value: x");
    assert_not_loaded(&spec_discovered_type, "value: [a]");
    assert_not_loaded(&spec_discovered_type, "value: {acmeCo/shop/public/orders: text}");
}

static void collections_digest(void **state)
{
    (void)state;
    AUTO_FACT *was = discovered("acmeCo/a", "{\"key\":[\"/id\"],\"x\":1}");
    static const char *const others[][2] = {
        {"acmeCo/b", "{\"key\":[\"/id\"],\"x\":1}"},
        {"acmeCo/a", "{\"key\":[\"/id\"],\"x\":1.0}"},
        {"acmeCo/a", "{\"key\":[\"/id\"],\"x\":\"1\"}"},
        {"acmeCo/a", "{\"key\":[\"/id2\"],\"x\":1}"},
        {"acmeCo/a", "{\"key\":[\"/id\"]}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        AUTO_FACT *now = discovered(others[i][0], others[i][1]);
        assert_false(same(was, now));
    }
    AUTO_FACT *again = discovered("acmeCo/a", "{\"key\":[\"/id\"],\"x\":1}");
    assert_true(same(was, again));
}

static void which_collections_tell_deletes(void **state)
{
    (void)state;
#define OP "{\"properties\":{\"_meta\":{\"properties\":{\"op\":{\"enum\":[\"c\",\"d\",\"u\"]}}}}}"
    static const struct {
        const char *model;
        bool tells;
    } rows[] = {
        {"{\"writeSchema\":" OP ",\"readSchema\":{},\"key\":[]}", true},
        {"{\"schema\":" OP "}", true},
        {"{\"schema\":{\"$defs\":{\"M\":{\"properties\":{\"op\":{}}}},\"properties\":{\"_meta\":{"
         "\"$ref\":\"#/$defs/M\"}}}}",
         true},
        {"{\"writeSchema\":{\"$defs\":{\"A\":{}},\"allOf\":[" OP ",{\"$ref\":\"#/$defs/A\"}]}}",
         true},
        {"{\"writeSchema\":{\"$defs\":{\"Orders\":" OP "},\"$ref\":\"#/$defs/Orders\"}}", true},
        {"{\"writeSchema\":{\"properties\":{\"id\":{}}},\"schema\":" OP "}", false},
        {"{\"schema\":{\"properties\":{\"id\":{\"type\":\"integer\"}}}}", false},
        /* a column of the table's is not the connector's word */
        {"{\"schema\":{\"properties\":{\"op\":{},\"id\":{}}}}", false},
        {"{\"schema\":{\"properties\":{\"_meta\":{},\"id\":{}}}}", false},
        {"{\"schema\":{\"properties\":{\"_meta\":{\"type\":\"object\"},\"op\":{}}}}", false},
        {"{\"schema\":{\"required\":[\"_meta\",\"op\"]}}", false},
        {"{\"schema\":\"_meta op\"}", false},
        {"{\"schema\":[]}", false},
        {"{\"key\":[\"/id\"]}", false},
        {"{}", false},
        /* the draft by hand names the place of a change, not its kind */
        {"{\"schema\":{\"properties\":{\"_meta\":{\"properties\":{\"source\":{\"properties\":{"
         "\"loc\":{}}}}}}},\"key\":[\"/_meta/source/loc/0\"]}",
         false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_NODE *model = tree(rows[i].model);
        if (spec_tells_deletes(model) != rows[i].tells)
            fail_msg("%s", rows[i].model);
    }
    assert_false(spec_tells_deletes(NULL));
}

static void what_was_not_discovered(void **state)
{
    (void)state;
    AUTO_WORLD w;
    spec_open(&w);
    AUTO_SPEC_TABLES t = {0};
    spec_collections(&(struct spec_from){.snapshot = world_snapshot(&w)}, &t);
    AUTO_SPEC_DISCOVERED d = {0};
    assert_string_equal(spec_undiscovered(NULL, &t), "acmeCo/shop/public/orders");
    assert_string_equal(spec_undiscovered(&d, &t), "acmeCo/shop/public/orders");
    spec_discovered_add(&d, "acmeCo/shop/public/order_items", tree("{\"schema\":" OP "}"));
    assert_string_equal(spec_undiscovered(&d, &t), "acmeCo/shop/public/orders");
    spec_discovered_add(&d, "acmeCo/shop/public/orders", tree("{\"schema\":{\"type\":\"x\"}}"));
    assert_string_equal(spec_undiscovered(&d, &t), "acmeCo/shop/public/orders");
    node_free(d.list[1].model);
    d.list[1].model = tree("{\"schema\":" OP "}");
    assert_null(spec_undiscovered(&d, &t));
    struct spec_tables none = {0};
    assert_null(spec_undiscovered(NULL, &none));
}

/* --- the image
 * -------------------------------------------------------------------------------- */

static void images(void **state)
{
    (void)state;
    AUTO_FACT *older = spec_image_fact(ESTUARY_TARGET_IMAGE_OLDER);
    AUTO_FACT *usual = spec_image_fact(ESTUARY_TARGET_IMAGE);
    assert_comes_back(older);
    assert_false(same(older, usual));
    assert_string_equal(spec_image_of(fact_data(older, &spec_image_type)),
                        ESTUARY_TARGET_IMAGE_OLDER);
    assert_string_equal(spec_image_of(NULL), ESTUARY_TARGET_IMAGE);
    assert_not_loaded(&spec_image_type, "value: {image: x}");
    assert_not_loaded(&spec_image_type, "value: ~");
    assert_not_loaded(&spec_image_type, "value: []");
    assert_not_loaded(&spec_image_type, "{}");
}

/* --- sealed configs
 * --------------------------------------------------------------------------- */

static const char of_one[] = "0123456789abcdef0123456789abcdef";

static struct fact *sealed_fact(const char *of, const char *document, struct node *revisions)
{
    struct spec_sealed *s = xcalloc(1, sizeof *s);
    snprintf(s->of, sizeof s->of, "%s", of);
    s->document = tree(document);
    s->revisions = revisions;
    return fact_new(&spec_sealed_type, s);
}

static void sealed_configs_come_back(void **state)
{
    (void)state;
    struct node *revisions = node_map();
    node_set_text(revisions, "postgres.password", "r0123456789012345");
    AUTO(xfree) char *document = filled(right_json);
    AUTO_FACT *f = sealed_fact(of_one, document, revisions);
    assert_comes_back(f);
    AUTO_FACT *back = through_file(f);
    const struct spec_sealed *s = fact_data(back, &spec_sealed_type);
    AUTO_TEXT json = TEXT_INIT;
    node_write_json(s->document, &json);
    assert_string_equal(json.s, document); /* its checksum covers each letter, in this order */
    assert_string_equal(node_get_text(s->revisions, "postgres.password"), "r0123456789012345");
    /* who reads it depends on what went in: a document is another one with each sealing */
    AUTO_FACT *again = sealed_fact(of_one, "{\"sops\":{}}", node_map());
    AUTO_FACT *other = sealed_fact("ff23456789abcdef0123456789abcdef", document, node_map());
    assert_true(same(f, again));
    assert_false(same(f, other));
    static const char *const bad[] = {
        "value: x",
        "value: {document: {a: b}, revisions: {}}",
        "value: {of: xyz, document: {a: b}, revisions: {}}",
        "value: {of: 0123456789abcdef0123456789abcdef, revisions: {}}",
        "value: {of: 0123456789abcdef0123456789abcdef, document: [a], revisions: {}}",
        "value: {of: 0123456789abcdef0123456789abcdef, document: {a: b}}",
        "value: {of: 0123456789abcdef0123456789abcdef, document: {a: b}, revisions: [a]}",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_not_loaded(&spec_sealed_type, bad[i]);
}

/* Seals a config with p and q at a server of the test's, with the secrets that the world has. */
static struct outcome *sealing(struct world *w, const char *config, const char *answer)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct canned server = {.answers = {answer}};
    struct net *net = net_new(&(struct net_options){0}, &err);
    struct outcome *o = outcome_new();
    struct secret *a = snap_secret(world_snapshot(w), "postgres.password");
    struct secret *b = snap_secret(world_snapshot(w), "iam.access_key");
    struct spec_secret list[] = {
        {.field = "postgres.password", .placeholder = "HOLE-password", .secret = a},
        {.field = "iam.access_key", .placeholder = "HOLE-client", .secret = b, .skip = 5}};
    assert_non_null(net);
    canned_start(&server);
    struct run *run = run_new_detached(world_snapshot(w), net, 5000);
    spec_run_seal(run, tree(config), list, 2, SPEC_FACT_SOURCE_SEALED, o);
    run_free(run);
    net_free(net);
    canned_stop(&server);
    if (a != NULL && b != NULL)
        assert_non_null(strstr(server.request, "\"q\":\"x:canary-key\""));
    return o;
}

static const struct spec_sealed *given(const struct outcome *o)
{
    if (o->given_count != 1)
        fail_msg("%s", o->line);
    assert_string_equal(o->given[0].id, SPEC_FACT_SOURCE_SEALED);
    return fact_data(o->given[0].fact, &spec_sealed_type);
}

/* A secret of a new revision. */
static void give(struct world *w, const char *id, const char *bytes, const char *reference)
{
    struct secret *s = secret_new(bytes, strlen(bytes));
    world_answer(w, id, value_secret(s, reference, "db.example.com"));
    secret_unref(s);
}

/* What the service would make of {"u", "p", "q"}; xfree. */
static char *sealed_answer(const char *user)
{
    AUTO(xfree) char *p = sealed_value(strlen(PASSWORD));
    AUTO(xfree) char *q = sealed_value(strlen("x:canary-key"));
    AUTO(xfree) char *mac = sealed_value(128);
    AUTO(xfree)
    char *document =
        xasprintf("{\"u\":\"%s\",\"p_sops\":\"%s\",\"q_sops\":\"%s\",\"sops\":{\"age\":"
                  "[{}],\"mac\":\"%s\",\"encrypted_suffix\":\"_sops\"}}",
                  user, p, q, mac);
    return answer_of("200 OK", "", document);
}

static const char config_a[] = "{\"u\":\"a\",\"p\":\"HOLE-password\",\"q\":\"x:HOLE-client\"}";
static const char config_b[] = "{\"u\":\"b\",\"p\":\"HOLE-password\",\"q\":\"x:HOLE-client\"}";

/* The digest that others depend on; xfree. */
static char *sealed_of(struct world *w, const char *config, const char *user)
{
    AUTO(xfree) char *answer = sealed_answer(user);
    AUTO_OUTCOME *o = sealing(w, config, answer);
    assert_string_equal(o->line, "2 secrets sealed, all else unchanged");
    assert_has(o->tried, "/v1/encrypt-config");
    assert_int_equal(given(o)->revisions->count, 2);
    return xstrdup(given(o)->of);
}

static void sealing_depends_on_what_goes_in(void **state)
{
    (void)state;
    AUTO_WORLD w;
    spec_open(&w);
    give(&w, "postgres.password", PASSWORD, NULL);
    give(&w, "iam.access_key", "AKIA:canary-key", "file:/keys/key");
    AUTO(xfree) char *was = sealed_of(&w, config_a, "a");
    AUTO(xfree) char *again = sealed_of(&w, config_a, "a");
    AUTO(xfree) char *other = sealed_of(&w, config_b, "b");
    assert_string_equal(was, again);
    assert_string_not_equal(was, other);
    give(&w, "iam.access_key", "AKIA:canary-key", "file:/keys/key"); /* read by another process */
    AUTO(xfree) char *next = sealed_of(&w, config_a, "a");
    assert_string_equal(was, next);
    give(&w, "iam.access_key", "AKIA:canary-key", "file:/keys/other");
    AUTO(xfree) char *elsewhere = sealed_of(&w, config_a, "a");
    assert_string_not_equal(was, elsewhere);
    give(&w, "iam.access_key", "AKIA:canary-key", "file:/keys/key");
    give(&w, "postgres.password", PASSWORD, NULL); /* typed again */
    AUTO(xfree) char *retyped = sealed_of(&w, config_a, "a");
    assert_string_not_equal(was, retyped);
}

static void sealing_that_fails_gives_nothing(void **state)
{
    (void)state;
    AUTO_WORLD w;
    spec_open(&w);
    give(&w, "postgres.password", PASSWORD, NULL);
    AUTO(xfree) char *answer = sealed_answer("b");
    AUTO_OUTCOME *without = sealing(&w, config_a, answer);
    assert_int_equal(without->status, STATUS_FAILED);
    assert_has(without->line, "iam.access_key is not answered");
    assert_int_equal(without->given_count, 0);
    give(&w, "iam.access_key", "AKIA:canary-key", NULL);
    AUTO_OUTCOME *wrong = sealing(&w, config_a, answer);
    assert_int_equal(wrong->status, STATUS_FAILED);
    assert_string_equal(wrong->code, "unsealed");
    assert_int_equal(wrong->given_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accounts_come_back),
        cmocka_unit_test(account_digest),
        cmocka_unit_test(collections_come_back_letter_by_letter),
        cmocka_unit_test(collections_digest),
        cmocka_unit_test(which_collections_tell_deletes),
        cmocka_unit_test(what_was_not_discovered),
        cmocka_unit_test(images),
        cmocka_unit_test(sealed_configs_come_back),
        cmocka_unit_test(sealing_depends_on_what_goes_in),
        cmocka_unit_test(sealing_that_fails_gives_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
