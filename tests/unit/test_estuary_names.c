/* Names as Estuary and its connectors make them, against the connectors' own vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "estuary/names.h"

static void hashes_are_the_connectors(void **state)
{
    (void)state;
    static const struct {
        const char *of, *hash, *name; /* name NULL = not compared */
    } rows[] = {
        {"", "EF46DB3751D8E999", "_EF46DB3751D8E999"},
        {"flow_mytable", "15EEAE2C604ABEC4", "flow_mytable_15EEAE2C604ABEC4"},
        {"flow_my.table", "D5723292493D5622", "flow_my_table_D5723292493D5622"},
        {"flow_my-table", "839FE986CB099DF4", "flow_my_table_839FE986CB099DF4"},
        {"flow/mytable", "D7D053D01D253AEB", NULL},
        {"flow/my_table", "25FBA56C761DB31B", NULL},
        {"analytics_orders", "48AF4B8B29A29B3C", "analytics_orders_48AF4B8B29A29B3C"},
        {"acmeCo/a-rather-long-team-name/with-a-long-pipeline-name/materialize-bauplan",
         "DFEBE332A0CDF5C3",
         "acmeCo_a_rather_long_team_name_with_a_long_pipeline_name_materia_DFEBE332A0CDF5C3"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char hash[ESTUARY_XXH64_HEX];
        AUTO(xfree) char *name = estuary_hashed_name(rows[i].of);
        estuary_xxh64(rows[i].of, hash);
        assert_string_equal(hash, rows[i].hash);
        if (rows[i].name != NULL)
            assert_string_equal(name, rows[i].name);
    }
}

static void parameters_and_places(void **state)
{
    (void)state;
    AUTO(xfree) char *prod = estuary_parameter("/estuary/", "acmeCo/prod/materialize-bauplan");
    AUTO(xfree) char *shop = estuary_parameter("/estuary/", "acmeCo/shop/materialize-bauplan");
    AUTO(xfree) char *flat = estuary_table_location("s3://lake/iceberg", "analytics", "orders");
    AUTO(xfree) char *slash = estuary_table_location("s3://lake/iceberg/", "analytics", "orders");
    AUTO(xfree) char *two = estuary_table_location("s3://lake/iceberg//", "analytics", "orders");
    assert_string_equal(prod, "/estuary/acmeCo_prod_materialize_bauplan_7FE21C193D7B41E8");
    assert_string_equal(shop, "/estuary/acmeCo_shop_materialize_bauplan_E6CD0446FFC44D10");
    assert_string_equal(flat, "s3://lake/iceberg/analytics_orders_48AF4B8B29A29B3C");
    assert_string_equal(slash, flat);
    assert_string_equal(two, "s3://lake/iceberg//analytics_orders_48AF4B8B29A29B3C");
}

static void iceberg_names(void **state)
{
    (void)state;
    static const struct {
        const char *of, *name;
    } rows[] = {
        {"orders", "orders"},
        {"Order Items", "order_items"},
        {"my.table-2", "my_table_2"},
        {"ÄÖ", "__"},
        {"a\xffz", "a_z"},
        {"\xE2\x84\xAA\xC5\xBF", "k\xC5\xBF"}, /* what (?i) spares; one of them has a small form */
        {"日本", "__"},
        {"", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(xfree) char *name = estuary_iceberg_name(rows[i].of);
        assert_string_equal(name, rows[i].name);
    }
}

static void long_names_are_cut_by_characters(void **state)
{
    (void)state;
    char long_name[64 * 2 + 3] = "";
    for (int i = 0; i < 64; i++)
        strcat(long_name, "é");
    strcat(long_name, "ab");
    AUTO(xfree) char *name = estuary_hashed_name(long_name);
    assert_int_equal(strlen(name), 64 + 1 + 16);
    assert_int_equal(strspn(name, "_"), 65);
}

static void names_of_the_catalog(void **state)
{
    (void)state;
    static const char *const good[] = {"acmeCo/shop", "acmeCo/shop/source-postgres", "a.b/c_d-e",
                                       "acmeCo/shop/public/..a"};
    static const struct {
        const char *name, *fault;
    } bad[] = {
        {"acmeCo", "begins with your prefix"},
        {"", "neither begins nor ends"},
        {"/acmeCo/shop", "neither begins nor ends"},
        {"acmeCo/shop/", "neither begins nor ends"},
        {"acmeCo//shop", "two in a row"},
        {"acmeCo/./shop", "may not be . or .."},
        {"acmeCo/..", "may not be . or .."},
        {"acmeCo/my shop", "letters, digits"},
        {"acmeCo/läden", "letters, digits"},
        {"acmeCo/a\nb", "letters, digits"},
    };
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_int_equal(estuary_name_check(good[i], NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_int_equal(estuary_name_check(bad[i].name, &err), -1);
        assert_non_null(strstr(err.what, bad[i].fault));
        assert_non_null(err.fix);
    }
    char longest[ESTUARY_NAME_MAX + 2] = "a/";
    memset(longest + 2, 'b', ESTUARY_NAME_MAX - 2);
    assert_int_equal(estuary_name_check(longest, NULL), 0);
    longest[ESTUARY_NAME_MAX] = 'b';
    assert_int_equal(estuary_name_check(longest, NULL), -1);
}

static void names_that_do_not_go_together(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        enum estuary_clash clash;
    } rows[] = {
        {"acmeCo/a", "acmeCo/a", ESTUARY_SAME},
        {"acmeCo/a", "acmeCo/A", ESTUARY_SAME_BUT_CASE},
        {"acmeCo/a", "acmeCo/a/store", ESTUARY_WITHIN},
        {"acmeCo/A", "acmeCo/a/store", ESTUARY_WITHIN},
        {"acmeCo/a", "acmeCo/ab", ESTUARY_APART},
        {"acmeCo/a/b", "acmeCo/b/b", ESTUARY_APART},
        {"acmeCo/a-b", "acmeCo/a/b", ESTUARY_APART},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(estuary_names_clash(rows[i].a, rows[i].b), rows[i].clash);
        assert_int_equal(estuary_names_clash(rows[i].b, rows[i].a), rows[i].clash);
    }
}

static void collections_stand_beside_their_capture(void **state)
{
    (void)state;
    AUTO(xfree) char *c = estuary_collection("acmeCo/shop/source-postgres", "public/order_items");
    AUTO(xfree) char *bare = estuary_folder("acmeCo");
    assert_string_equal(c, "acmeCo/shop/public/order_items");
    assert_string_equal(bare, "");
    assert_string_equal(estuary_last_part(c), "order_items");
    assert_string_equal(estuary_last_part("acmeCo"), "acmeCo");
}

static void slots_and_publications(void **state)
{
    (void)state;
    static const char *const good[] = {
        "flow_shop", "_a", "a", "a23456789012345678901234567890123456789012345678901234567890123"};
    static const char *const bad[] = {
        "",          "Flow",
        "1slot",     "flow-slot",
        "flow shop", "ü",
        "a,b",       "a234567890123456789012345678901234567890123456789012345678901234"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_true(estuary_plain_name(good[i]));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(estuary_plain_name(bad[i]));
}

static void collisions_are_named_in_order(void **state)
{
    (void)state;
    static const char *const names[] = {"b", "a", NULL, "B", "c", "a", "a"};
    struct estuary_pair *pairs;
    assert_int_equal(estuary_collisions(names, ARRAY_LEN(names), &pairs), 3);
    static const struct estuary_pair wanted[] = {{0, 3}, {1, 5}, {1, 6}};
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        assert_int_equal(pairs[i].first, wanted[i].first);
        assert_int_equal(pairs[i].second, wanted[i].second);
    }
    xfree(pairs);
    assert_int_equal(estuary_collisions(names, 2, &pairs), 0);
    assert_null(pairs);
    assert_int_equal(estuary_collisions(NULL, 0, &pairs), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_the_connectors),
        cmocka_unit_test(parameters_and_places),
        cmocka_unit_test(iceberg_names),
        cmocka_unit_test(long_names_are_cut_by_characters),
        cmocka_unit_test(names_of_the_catalog),
        cmocka_unit_test(names_that_do_not_go_together),
        cmocka_unit_test(collections_stand_beside_their_capture),
        cmocka_unit_test(slots_and_publications),
        cmocka_unit_test(collisions_are_named_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
