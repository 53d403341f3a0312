/* pgoutput's messages as bytes: the change of one table is recognised, anything malformed ignored.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/mem.h"
#include "postgres/round_trip.h"
#include "postgres/tables.h"

#define TAKE(s, bytes) postgres_stream_take(s, bytes, sizeof(bytes) - 1)

#define BEGIN "B\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\2\1"
#define COMMIT "C\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0"
#define RELATION "R\0\0\x40\1public\0flow_watermarks\0d\0\2"
#define OTHER "R\0\0\x40\2public\0orders\0d\0\2"
#define INSERT "I\0\0\x40\1N\0\2"
#define UPDATE "U\0\0\x40\1N\0\2"
#define INSERT_OTHER "I\0\0\x40\2N\0\2"

static struct postgres_stream fresh(void)
{
    return (struct postgres_stream){.schema = "public", .table = "flow_watermarks"};
}

static void insert_and_update_count(void **state)
{
    (void)state;
    struct postgres_stream s = fresh();
    assert_false(TAKE(&s, BEGIN));
    assert_false(TAKE(&s, RELATION));
    assert_false(TAKE(&s, INSERT));
    assert_true(TAKE(&s, COMMIT));
    s = fresh();
    TAKE(&s, BEGIN);
    TAKE(&s, RELATION);
    TAKE(&s, UPDATE);
    assert_true(TAKE(&s, COMMIT));
}

static void changes_of_others_do_not(void **state)
{
    (void)state;
    struct postgres_stream s = fresh();
    TAKE(&s, BEGIN);
    TAKE(&s, OTHER);
    TAKE(&s, INSERT_OTHER);
    assert_false(TAKE(&s, COMMIT));
    TAKE(&s, BEGIN);
    TAKE(&s, RELATION);
    assert_false(TAKE(&s, COMMIT)); /* an empty transaction */
    assert_true(s.began && s.committed && !s.changed);
    TAKE(&s, BEGIN);
    TAKE(&s, INSERT);
    assert_true(TAKE(&s, COMMIT)); /* the relation is told only once */
}

static void a_change_before_its_relation_is_none(void **state)
{
    (void)state;
    struct postgres_stream s = fresh();
    TAKE(&s, BEGIN);
    TAKE(&s, INSERT);
    assert_false(TAKE(&s, COMMIT));
}

static void every_cut_is_survived(void **state)
{
    (void)state;
    static const char relation[] = RELATION;
    for (size_t n = 0; n < sizeof relation - 1; n++) {
        struct postgres_stream s = fresh();
        char *exact = xmalloc(n + 1); /* so that a sanitizer sees what is read behind the end */
        memcpy(exact, relation, n);
        char *bytes = memcpy(xmalloc(n == 0 ? 1 : n), exact, n);
        assert_false(postgres_stream_take(&s, bytes, n));
        xfree(bytes);
        xfree(exact);
        if (n < 28)
            assert_false(s.known);
    }
    struct postgres_stream s = fresh();
    assert_false(TAKE(&s, "I\0\0"));
    assert_false(TAKE(&s, "Z"));
    assert_false(postgres_stream_take(&s, "", 0));
}

/* --- the table fact --------------------------------------------------------------------------- */

static void a_hundred_thousand_tables(void **state)
{
    (void)state;
    struct postgres_tables *t = postgres_tables_new();
    for (int i = 0; i < 100000; i++) {
        AUTO(xfree) char *name = xasprintf("t%06d", i);
        AUTO(xfree) char *written = xasprintf("public.%s", name);
        struct postgres_table *row = postgres_tables_add(t);
        row->schema = "public";
        row->name = postgres_tables_text(t, name);
        row->written = postgres_tables_text(t, written);
    }
    assert_string_equal(postgres_tables_find(t, "public", "t099999")->written, "public.t099999");
    assert_string_equal(postgres_tables_find(t, "public", "t000000")->written, "public.t000000");
    assert_null(postgres_tables_find(t, "public", "t1"));
    assert_null(postgres_tables_find(t, "audit", "t000001"));
    struct fact *f = fact_new(&postgres_catalogue_type, t);
    assert_null(postgres_catalogue_type.save);
    fact_unref(f);
}

static void chosen_ones_are_kept_with_columns_and_keys(void **state)
{
    (void)state;
    static const struct postgres_column columns[] = {
        {.name = "id", .type = "bigint", .key = 1, .filled = true},
        {.name = "note", .type = "text", .generated = 's'}};
    struct postgres_tables *t = postgres_tables_new();
    struct postgres_table *row = postgres_tables_add(t);
    row->written = "public.orders";
    row->found = true;
    row->columns = columns;
    row->column_count = 2;
    postgres_tables_add(t)->written = "public.gone";
    struct node *n = postgres_chosen_type.save(t);
    const struct node *list = node_get(n, "tables");
    assert_int_equal(list->count, 1);
    assert_string_equal(node_get_text(list->items[0], "table"), "public.orders");
    const struct node *kept = node_get(list->items[0], "columns");
    assert_int_equal(kept->count, 2);
    assert_int_equal(node_get_number(kept->items[0], "key", 0), 1);
    assert_string_equal(node_get_text(kept->items[1], "type"), "text");
    assert_string_equal(node_get_text(kept->items[0], "filled"), "true");
    assert_null(node_get(kept->items[1], "filled"));
    assert_string_equal(node_get_text(kept->items[1], "generated"), "true");
    assert_string_equal(node_get_text(list->items[0], "unidentified"), "true");
    node_free(n);
    postgres_tables_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(insert_and_update_count),
        cmocka_unit_test(changes_of_others_do_not),
        cmocka_unit_test(a_change_before_its_relation_is_none),
        cmocka_unit_test(every_cut_is_survived),
        cmocka_unit_test(a_hundred_thousand_tables),
        cmocka_unit_test(chosen_ones_are_kept_with_columns_and_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
