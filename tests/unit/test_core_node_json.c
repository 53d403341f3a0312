/* Trees from and to JSON: order and letters of numbers survive, types are kept, bad input is
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/mem.h"
#include "core/node_json.h"

static struct node *read(const char *s)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct node *n = node_parse_json(s, strlen(s), "a document", &err);
    if (n == NULL)
        fail_msg("%s: %s", s, err.what);
    return n;
}

static void refuses(const char *s)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_null(node_parse_json(s, strlen(s), "a document", &err));
    assert_int_equal(err.kind, PROBLEM_PROTOCOL);
}

static void test_round_trip(void **state)
{
    (void)state;
    static const char *const same[] = {
        "{\"z\":1,\"a\":[true,false,null,\"true\",\"1\",\"\"],\"m\":{}}",
        "[-9223372036854775808,1e15,1E+400,0.10,1000000000000000]",
        "[]",
        "\"\"",
        "12",
        "{\"k\":\"a\\nb\\t\\u0001 \xC3\xA9 \xF0\x9F\x98\x80 \\\"\\\\\"}",
    };
    for (size_t i = 0; i < ARRAY_LEN(same); i++) {
        struct node *n = read(same[i]);
        AUTO_TEXT out = TEXT_INIT;
        node_write_json(n, &out);
        assert_string_equal(out.s, same[i]);
        node_free(n);
    }
}

/* A state file keeps such documents as YAML. */
static void test_through_yaml(void **state)
{
    (void)state;
    const char *s = "{\"n\":-9223372036854775808,\"t\":\"12\",\"w\":\"null\",\"d\":"
                    "\"2026-11-30T10:00:00Z\",\"e\":\"\",\"b\":true,\"l\":\"a\\nb\\n\",\"o\":null}";
    struct node *n = read(s);
    AUTO_TEXT yaml = TEXT_INIT;
    node_write_yaml(n, &yaml);
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct node *back = node_parse_yaml(yaml.s, yaml.len, "it", &err);
    assert_non_null(back);
    AUTO_TEXT out = TEXT_INIT;
    node_write_json(back, &out);
    assert_string_equal(out.s, s);
    node_free(back);
    node_free(n);
}

/* As deep as JSON is taken at all, beneath the keys that it has in the state file. */
static void test_deepest_through_yaml(void **state)
{
    (void)state;
    AUTO_TEXT json = TEXT_INIT;
    AUTO_TEXT yaml = TEXT_INIT;
    AUTO_PROBLEM err = PROBLEM_INIT;
    for (int i = 0; i < 64; i++)
        text_add(&json, i % 2 ? "{\"k\":" : "[");
    text_add(&json, "1");
    for (int i = 64; i-- > 0;)
        text_addc(&json, i % 2 ? '}' : ']');
    struct node *n = read(json.s);
    for (int above = 0; above < 6; above++) {
        struct node *map = node_map();
        node_set(map, "key", n);
        n = map;
    }
    node_write_yaml(n, &yaml);
    struct node *again = node_parse_yaml(yaml.s, yaml.len, "state", &err);
    if (again == NULL)
        fail_msg("%s", err.what);
    node_free(again);
    node_free(n);
}

static void test_plain_but_no_literal(void **state)
{
    (void)state;
    static const char *const texts[] = {"~", "012", "1.", "+1", "0x10", "yes", "-", ".5", "1e"};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct node *n = node_scalar(texts[i]);
        n->plain = true;
        AUTO_TEXT out = TEXT_INIT;
        AUTO_TEXT want = TEXT_INIT;
        node_write_json(n, &out);
        text_addf(&want, "\"%s\"", texts[i]);
        assert_string_equal(out.s, want.s);
        node_free(n);
    }
}

static void test_refused(void **state)
{
    (void)state;
    refuses("{\"a\":1,\"a\":2}");
    refuses("[1] 2");
    refuses("[\"\\ufdd0\"]");
    refuses("[\"\xEF\xB7\x90\"]");
    refuses("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_through_yaml),
        cmocka_unit_test(test_deepest_through_yaml),
        cmocka_unit_test(test_plain_but_no_literal),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
