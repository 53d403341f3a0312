/* Values: equality and digests decide staleness, hosts decide where a secret may go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <string.h>

#include "core/mem.h"
#include "core/value.h"

#define ITEMS(...)                                                                                 \
    ((const char *const[]){__VA_ARGS__}), ARRAY_LEN(((const char *const[]){__VA_ARGS__}))

static struct digest hashed(const struct value *v)
{
    struct hasher *h = hasher_new();
    value_hash(v, h);
    return hasher_end(h);
}

/* Equal values have equal digests, others do not. */
static void assert_same(const struct value *a, const struct value *b, bool same)
{
    struct digest left = hashed(a), right = hashed(b);
    assert_int_equal(value_equal(a, b), same);
    assert_int_equal(value_equal(b, a), same);
    assert_int_equal(digest_equal(&left, &right), same);
}

static void test_equality(void **state)
{
    (void)state;
    const char *const keys[] = {"a", "b"}, *const items[] = {"1", "2"};
    const char *const swapped_keys[] = {"b", "a"}, *const swapped_items[] = {"2", "1"};
    struct value *all[] = {
        NULL,
        value_text(""),
        value_text("a"),
        value_list(NULL, 0),
        value_list(ITEMS("a")),
        value_list(ITEMS("ab", "c")),
        value_list(ITEMS("a", "bc")),
        value_list(ITEMS("bc", "a")),
        value_map(keys, items, 2),
        value_map(keys, swapped_items, 2),
        value_map(swapped_keys, items, 1),
        value_secret(NULL, NULL, NULL),
        value_secret(NULL, "env:A", NULL),
        value_secret(NULL, "env:B", NULL),
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        for (size_t j = 0; j < ARRAY_LEN(all); j++)
            assert_same(all[i], all[j], i == j);
    }
    struct value *again = value_map(swapped_keys, swapped_items, 2);
    assert_same(again, all[8], true);
    value_unref(again);
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        value_unref(all[i]);
}

static void test_secret_equality(void **state)
{
    (void)state;
    struct secret *one = secret_new("correct horse", 13), *two = secret_new("correct horse", 13);
    struct secret *other = secret_new("battery staple", 14);
    struct value *a = value_secret(one, NULL, "https://a"), *b = value_secret(one, NULL, NULL);
    struct value *retyped = value_secret(two, NULL, NULL), *c = value_secret(other, NULL, NULL);
    assert_same(a, b, true); /* the host says where it may go, not what it is */
    assert_same(a, c, false);
    /* Typed once more it is equal, and yet a new revision: what was proved is proved again. */
    struct digest before = hashed(a), after = hashed(retyped);
    assert_true(value_equal(a, retyped));
    assert_false(digest_equal(&before, &after));
    value_unref(a);
    value_unref(b);
    value_unref(c);
    value_unref(retyped);
    secret_unref(one);
    secret_unref(two);
    secret_unref(other);
}

static void test_empty(void **state)
{
    (void)state;
    struct secret *s = secret_new("x", 1);
    struct value *empty[] = {NULL, value_text(NULL), value_list(NULL, 0), value_map(NULL, NULL, 0),
                             value_secret(NULL, "env:A", "h")};
    struct value *full[] = {value_text("x"), value_list(ITEMS("")), value_secret(s, NULL, NULL)};
    for (size_t i = 0; i < ARRAY_LEN(empty); i++) {
        assert_true(value_empty(empty[i]));
        value_unref(empty[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(full); i++) {
        assert_false(value_empty(full[i]));
        value_unref(full[i]);
    }
    secret_unref(s);
}

static void assert_shown(struct value *v, const char *wanted)
{
    char *shown = value_show(v);
    assert_string_equal(shown, wanted);
    xfree(shown);
    value_unref(v);
}

static void test_show(void **state)
{
    (void)state;
    struct secret *s = secret_new("hunter2-hunter2k3", 17);
    const char *const keys[] = {"public.a"}, *const items[] = {"full"};
    assert_shown(NULL, "");
    assert_shown(value_text("a\033[31mb"), "a^[[31mb");
    assert_shown(value_list(ITEMS("a", "b\n")), "a, b^J");
    assert_shown(value_map(keys, items, 1), "public.a: full");
    assert_shown(value_secret(s, NULL, NULL), "••••••k3");
    assert_shown(value_secret(s, "env:PASSWORD", NULL), "env:PASSWORD");
    assert_shown(value_secret(NULL, NULL, NULL), "");
    secret_unref(s);
}

static void assert_written(struct value *v, const char *wanted)
{
    struct node *root = node_map(), *n = value_to_node(v);
    node_set(root, "v", n);
    AUTO_TEXT out = TEXT_INIT;
    node_write_yaml(root, &out);
    struct node *back = node_parse_yaml(wanted, strlen(wanted), "wanted", NULL);
    if (!node_equal(root, back))
        fail_msg("%s is not %s", out.s, wanted);
    node_free(back);
    node_free(root);
    value_unref(v);
}

static void test_to_node(void **state)
{
    (void)state;
    struct secret *s = secret_new("hunter2-hunter2k3", 17);
    const char *const keys[] = {"public.a"}, *const items[] = {"full"};
    assert_null(value_to_node(NULL));
    assert_written(value_text("yes"), "v: 'yes'\n");
    assert_written(value_list(ITEMS("a", "public.\"B, c\"")), "v: [a, 'public.\"B, c\"']\n");
    assert_written(value_map(keys, items, 1), "v: {public.a: full}\n");
    assert_written(value_secret(s, NULL, "h"), "v: {secret: stored}\n");
    assert_written(value_secret(NULL, NULL, NULL), "v: {secret: asked}\n");
    assert_written(value_secret(s, "file:/run/key", NULL), "v: {secret: 'file:/run/key'}\n");
    secret_unref(s);
}

static void test_list_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t count;
        const char *items[3];
    } rows[] = {
        {"", 0, {0}},
        {" ,\n, ", 0, {0}},
        {"a", 1, {"a"}},
        {"a, b,c", 3, {"a", "b", "c"}},
        {"a\r\nb\n", 2, {"a", "b"}},
        {"public.\"Order, Items\", b", 2, {"public.\"Order, Items\"", "b"}},
        {"\"a\"\",b\",c", 2, {"\"a\"\",b\"", "c"}},
        {"\"a\nb\",c", 2, {"\"a\nb\"", "c"}},
        {"\"open, b", 1, {"\"open, b"}},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct value *v = value_list_parse(rows[i].text);
        assert_int_equal(v->count, rows[i].count);
        for (size_t j = 0; j < v->count; j++)
            assert_string_equal(v->items[j], rows[i].items[j]);
        value_unref(v);
    }
    struct value *none = value_list_parse(NULL);
    assert_true(value_empty(none));
    value_unref(none);
}

static void test_host_of_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *host;
    } rows[] = {
        {NULL, NULL},
        {"", NULL},
        {"  ", NULL},
        {"https://", NULL},
        {"https:///", NULL},
        {"db.example.com", "db.example.com"},
        {" DB.Example.com. ", "db.example.com"},
        {"db.example.com:5433", "db.example.com:5433"},
        {"/var/run/postgresql", "/var/run/postgresql"},
        {"::1", "::1"},
        {"https://api.example.com", "https://api.example.com"},
        {"HTTPS://API.example.com:443/v1?x#y", "https://api.example.com"},
        {"https://api.example.com:8443/iceberg", "https://api.example.com:8443"},
        {"https://api.example.com.:8443/", "https://api.example.com:8443"},
        {"https://api.example.com:/", "https://api.example.com"},
        {"http://api.example.com:443", "http://api.example.com:443"},
        {"http://api.example.com:80", "http://api.example.com"},
        {"https://[::1]:8443/x", "https://[::1]:8443"},
        {"https://[::1]:443", "https://[::1]"},
        {"https://[2001:db8::443]", "https://[2001:db8::443]"},
        /* Where libcurl would go is what counts, however the text tries to look. */
        {"https://good.example@evil.example/", "https://evil.example"},
        {"https://good.example:pw@x@evil.example", "https://evil.example"},
        {"https://good.example\\@evil.example", "https://evil.example"},
        {"https:///evil.example/", "https://evil.example"},
        {"https://good.example#@evil.example", "https://good.example"},
        {"https://good.example?@evil.example", "https://good.example"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *host = host_of_text(rows[i].text);
        if (rows[i].host == NULL)
            assert_null(host);
        else if (host == NULL || strcmp(host, rows[i].host) != 0)
            fail_msg("%s: %s, not %s", rows[i].text, host != NULL ? host : "none", rows[i].host);
        char *twice = host_of_text(host);
        if (host != NULL)
            assert_string_equal(twice, host);
        xfree(twice);
        xfree(host);
    }
}

static void *hold_and_drop(void *arg)
{
    for (int i = 0; i < 5000; i++) {
        struct value *v = value_ref(arg);
        assert_string_equal(v->text, "shared");
        value_unref(v);
    }
    value_unref(arg);
    return NULL;
}

/* The last holder frees it, whichever thread that is (thread sanitizer, leak sanitizer). */
static void test_shared_by_threads(void **state)
{
    (void)state;
    struct value *v = value_text("shared");
    pthread_t threads[4];
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hold_and_drop, value_ref(v)), 0);
    value_unref(v);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equality),     cmocka_unit_test(test_secret_equality),
        cmocka_unit_test(test_empty),        cmocka_unit_test(test_show),
        cmocka_unit_test(test_to_node),      cmocka_unit_test(test_list_parse),
        cmocka_unit_test(test_host_of_text), cmocka_unit_test(test_shared_by_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
