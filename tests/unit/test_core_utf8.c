/* Columns, clusters, folding. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/mem.h"
#include "core/utf8.h"

static const struct {
    const char *s;
    size_t bytes; /* of the first cluster */
    int columns;
} clusters[] = {
    {"a", 1, 1},
    {"ab", 1, 1},
    {"é!", 2, 1},
    {"e\u0301x", 3, 1},
    {"表示", 3, 2},
    {"😀x", 4, 2},
    {"👩\u200D💻.", 11, 2},
    {"👩🏽x", 8, 2},
    {"🇩🇪🇫🇷", 8, 2},
    {"한", 3, 2},
    {"\u1112\u1161\u11AB", 9, 2}, /* the same in single letters */
    {"✓", 3, 1},
    {"\r\n", 2, 0},
    {"\xff"
     "a",
     1, 1},
    {"\xe2\x82", 1, 1},
    {"a\xcc", 1, 1},
};

static void each_cluster(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(clusters); i++) {
        int columns = -1;
        const char *s = clusters[i].s;
        assert_int_equal(utf8_cluster(s, strlen(s), &columns), clusters[i].bytes);
        assert_int_equal(columns, clusters[i].columns);
        assert_int_equal(utf8_cluster(s, strlen(s), NULL), clusters[i].bytes);
    }
}

/* Going back from the end gives the boundaries of going forward, whatever the bytes. */
static void backwards_agrees_with_forwards(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "abc",        "aé😀e\u0301x",           "🇩🇪🇫🇷🇮🇹",    "👩\u200D💻👩🏽\u200D🚀",
        "a\r\nb\r\n", "\377\376a\314\201\314", "क\u094Dषि",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char *s = texts[i];
        size_t n = strlen(s), bounds[64], count = 0;
        for (size_t at = 0; at < n; at += utf8_cluster(s + at, n - at, NULL))
            bounds[count++] = at;
        size_t at = n;
        while (at > 0) {
            at -= utf8_cluster_before(s, at);
            assert_true(count > 0);
            assert_int_equal(at, bounds[--count]);
        }
        assert_int_equal(count, 0);
    }
}

static void widths_of_whole_strings(void **state)
{
    (void)state;
    assert_int_equal(utf8_columns(""), 0);
    assert_int_equal(utf8_columns("aé作😀e\u0301"), 1 + 1 + 2 + 2 + 1);
    assert_int_equal(utf8_columns("\xff\xff"), 2);
}

static void fits_never_cut_a_cluster(void **state)
{
    (void)state;
    const char *s = "a作b👩\u200D💻c";
    static const size_t bytes[] = {0, 1, 1, 4, 5, 5, 16, 17, 17};
    static const int used[] = {0, 1, 1, 3, 4, 4, 6, 7, 7};
    for (int columns = 0; columns <= 8; columns++) {
        int got = -1;
        assert_int_equal(utf8_fit(s, columns, &got), bytes[columns]);
        assert_int_equal(got, used[columns]);
    }
    assert_int_equal(utf8_fit("abc", -1, NULL), 0);
    assert_int_equal(utf8_fit("abc", INT_MAX, NULL), 3);
    /* marks of no width belong to what they follow, even in the last column */
    assert_int_equal(utf8_fit("ae\u0301", 2, NULL), 4);
}

static void validity(void **state)
{
    (void)state;
    assert_true(utf8_valid("", 0));
    assert_true(utf8_valid("aé😀", 7));
    assert_false(utf8_valid("\xc0\x80", 2));
    assert_false(utf8_valid("\xed\xa0\x80", 3));
    assert_false(utf8_valid("\xf5\x80\x80\x80", 4));
    assert_false(utf8_valid("é", 1));
    struct text t = TEXT_INIT;
    utf8_repair(&t, "a\xff\xc3\xa9\xc3", 5);
    assert_string_equal(t.s, "a\uFFFDé\uFFFD");
    text_release(&t);
}

static void folds(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"Orders", "orders"},
        {"STRASSE", "strasse"},
        {"Straße", "strasse"},
        {"É", "e\u0301"},
        {"ﬁle", "file"},
        {"ＡＢＣ", "abc"},
        {"ΣΑΣ", "σασ"},
        {"a\xff"
         "B",
         "a\xff"
         "b"},
        {"İ", "i\u0307"},
        {"é\xffÉ", "e\u0301\xff"
                   "e\u0301"},
    };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        char *folded = utf8_fold(pairs[i][0]);
        assert_string_equal(folded, pairs[i][1]);
        xfree(folded);
    }
}

static void searches_folded(void **state)
{
    (void)state;
    assert_true(utf8_contains_folded("public.Orders", "ord"));
    assert_true(utf8_contains_folded("public.ORDERS", "s"));
    assert_true(utf8_contains_folded("x", ""));
    assert_true(utf8_contains_folded("", ""));
    assert_false(utf8_contains_folded("", "x"));
    assert_false(utf8_contains_folded("order", "orders"));
    assert_true(utf8_contains_folded("Größe", "gro\u0308ss"));
    assert_false(utf8_contains_folded("ascii", "\xc3\xa9"));
    assert_true(utf8_contains_folded("bad\xff"
                                     "Name",
                                     "name"));
}

static void a_long_storm_takes_linear_time(void **state)
{
    (void)state;
    struct text t = TEXT_INIT;
    for (int i = 0; i < 300000; i++)
        text_add(&t, "\u0301");
    assert_int_equal(utf8_cluster(t.s, t.len, NULL), t.len);
    assert_int_equal(utf8_columns(t.s), 0);
    assert_int_equal(utf8_cluster_before(t.s, t.len), t.len);
    text_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cluster),
        cmocka_unit_test(backwards_agrees_with_forwards),
        cmocka_unit_test(widths_of_whole_strings),
        cmocka_unit_test(fits_never_cut_a_cluster),
        cmocka_unit_test(validity),
        cmocka_unit_test(folds),
        cmocka_unit_test(searches_folded),
        cmocka_unit_test(a_long_storm_takes_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
