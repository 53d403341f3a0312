/* Which prefix, mapping and plane a name falls under. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/mem.h"
#include "estuary/account.h"

static char admin[] = "admin", writes[] = "write", reads[] = "read", none[] = "none";
static char acme[] = "acmeCo/", acme_data[] = "acmeCo/data/", acme_shop[] = "acmeCo/shop/";
static char other[] = "acmeCorp/", beta[] = "betaCo/", empty[] = "";
static char east[] = "ops/dp/public/aws-us-east-1-c2";

static struct estuary_prefix prefixes[] = {
    {acme, admin}, {acme_data, writes}, {acme_shop, none}, {other, reads}, {beta, writes},
};
static struct estuary_mapping mappings[] = {
    {.prefix = acme},
    {.prefix = acme_shop},
    {.prefix = other},
};
static struct estuary_plane planes[] = {{.name = east, .cloud = empty, .region = empty}};
static const struct estuary_account account = {
    .prefixes = prefixes,
    .prefix_count = ARRAY_LEN(prefixes),
    .mappings = mappings,
    .mapping_count = ARRAY_LEN(mappings),
    .planes = planes,
    .plane_count = ARRAY_LEN(planes),
};

static void capabilities(void **state)
{
    (void)state;
    static const struct {
        const char *prefix, *capability;
    } rows[] = {
        {"acmeCo/", "admin"},
        {"acmeCo", "admin"},
        {"acmeCo/data/", "admin"},
        {"acmeCo/shop", "admin"},
        {"acmeCo/data/x", "admin"},
        {"acmeCorp/", "read"},
        {"betaCo/x/y/", "write"},
        {"acme", NULL},
        {"acmeCo2/", NULL},
        {"AcmeCo/", NULL},
        {"", NULL},
        {"gammaCo/", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *c = estuary_capability(&account, rows[i].prefix);
        if (rows[i].capability == NULL)
            assert_null(c);
        else
            assert_string_equal(c, rows[i].capability);
    }
}

static void longest_mapping(void **state)
{
    (void)state;
    assert_string_equal(estuary_mapping_of(&account, "acmeCo/data/")->prefix, "acmeCo/");
    assert_string_equal(estuary_mapping_of(&account, "acmeCo/shop/")->prefix, "acmeCo/shop/");
    assert_string_equal(estuary_mapping_of(&account, "acmeCo/shop")->prefix, "acmeCo/shop/");
    assert_string_equal(estuary_mapping_of(&account, "acmeCo/shops/")->prefix, "acmeCo/");
    assert_null(estuary_mapping_of(&account, "betaCo/"));
}

static void planes_by_name(void **state)
{
    (void)state;
    assert_ptr_equal(estuary_plane_of(&account, east), &planes[0]);
    assert_null(estuary_plane_of(&account, "ops/dp/public/aws-us-east-1"));
    assert_null(estuary_plane_of(&account, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capabilities),
        cmocka_unit_test(longest_mapping),
        cmocka_unit_test(planes_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
