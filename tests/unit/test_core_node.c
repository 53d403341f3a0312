/* The tree without its YAML form. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/mem.h"
#include "core/node.h"

static void null_and_wrong_kinds_answer_nothing(void **state)
{
    (void)state;
    AUTO(node_free) struct node *list = node_list();
    AUTO(node_free) struct node *scalar = node_scalar("x");
    const struct node *odd[] = {NULL, list, scalar};
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        assert_null(node_get(odd[i], "a"));
        assert_null(node_get_text(odd[i], "a"));
        assert_null(node_find(odd[i], "a.b"));
        assert_int_equal(node_get_number(odd[i], "a", 7), 7);
    }
    assert_null(node_get_mut(list, "a"));
    assert_null(node_text(list));
    assert_null(node_text(NULL));
    assert_false(node_remove(list, "a"));
    assert_null(node_copy(NULL));
    node_free(NULL);
}

static void maps_keep_their_order(void **state)
{
    (void)state;
    AUTO(node_free) struct node *m = node_map();
    node_set_text(m, "b", "1");
    node_set_text(m, "a", "2");
    node_set_text(m, "c", "3");
    node_set_text(m, "a", "4"); /* in place */
    assert_int_equal(m->count, 3);
    assert_string_equal(m->keys[1], "a");
    assert_string_equal(node_get_text(m, "a"), "4");
    node_set_text(m, "b", NULL);
    assert_int_equal(m->count, 2);
    assert_string_equal(m->keys[0], "a");
    assert_false(node_remove(m, "b"));
    struct node *same = node_get_mut(m, "c");
    node_set(m, "c", same); /* itself */
    assert_string_equal(node_get_text(m, "c"), "3");
}

static void many_entries_grow(void **state)
{
    (void)state;
    AUTO(node_free) struct node *m = node_map();
    AUTO(node_free) struct node *l = node_list();
    for (int i = 0; i < 1000; i++) {
        char *key = xasprintf("k%d", i);
        node_append(m, key, node_number(i));
        node_add(l, node_number(i));
        xfree(key);
    }
    assert_int_equal(node_get_number(m, "k999", -1), 999);
    assert_int_equal(l->count, 1000);
    assert_string_equal(l->items[500]->text, "500");
}

static void paths_and_child_maps(void **state)
{
    (void)state;
    AUTO(node_free) struct node *m = node_map();
    node_set_text(node_child_map(node_child_map(m, "a"), "b"), "c", "deep");
    assert_string_equal(node_text(node_find(m, "a.b.c")), "deep");
    assert_null(node_find(m, "a.x.c"));
    assert_null(node_find(m, "a.b.c.d"));
    assert_null(node_find(m, ""));
    assert_null(node_find(m, "."));
    node_set_text(m, "s", "text");
    assert_int_equal(node_child_map(m, "s")->kind, NODE_MAP); /* replaces what is no map */
    assert_ptr_equal(node_child_map(m, "a"), node_get(m, "a"));
}

static void numbers_are_strict(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        long long value;
    } rows[] = {{"0", 0},
                {"-5", -5},
                {"9223372036854775807", LLONG_MAX},
                {"9223372036854775808", 99},
                {"12x", 99},
                {"", 99},
                {" 1", 99},
                {"+1", 99},
                {"1.5", 99},
                {"0x10", 99},
                {"-", 99},
                {"010", 10}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(node_free) struct node *m = node_map();
        node_set_text(m, "n", rows[i].text);
        assert_true(node_get_number(m, "n", 99) == rows[i].value);
    }
}

static void equality_is_of_content(void **state)
{
    (void)state;
    AUTO(node_free) struct node *a = node_map();
    AUTO(node_free) struct node *b = node_map();
    node_set_text(a, "x", "1");
    node_set_text(a, "y", "2");
    node_set_text(b, "y", "2");
    assert_false(node_equal(a, b));
    node_set(b, "x", node_number(1));
    assert_true(node_equal(a, b)); /* any order, quoted or not */
    AUTO(node_free) struct node *copy = node_copy(a);
    assert_true(node_equal(a, copy));
    node_set_text(copy, "x", "2");
    assert_false(node_equal(a, copy));
    node_remove(copy, "x");
    node_set_text(copy, "z", "1");
    assert_false(node_equal(a, copy));
    AUTO(node_free) struct node *null = node_scalar("");
    AUTO(node_free) struct node *empty = node_scalar("");
    null->plain = true; /* as in "key:" */
    assert_null(node_text(null));
    assert_string_equal(node_text(empty), "");
    assert_false(node_equal(null, empty));
    AUTO(node_free) struct node *l1 = node_list();
    AUTO(node_free) struct node *l2 = node_list();
    node_add(l1, node_scalar("a"));
    node_add(l1, node_scalar("b"));
    node_add(l2, node_scalar("b"));
    node_add(l2, node_scalar("a"));
    assert_false(node_equal(l1, l2)); /* a list has an order */
    assert_false(node_equal(l1, a));
    assert_true(node_equal(NULL, NULL));
    assert_false(node_equal(NULL, a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_and_wrong_kinds_answer_nothing),
        cmocka_unit_test(maps_keep_their_order),
        cmocka_unit_test(many_entries_grow),
        cmocka_unit_test(paths_and_child_maps),
        cmocka_unit_test(numbers_are_strict),
        cmocka_unit_test(equality_is_of_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
