/* Digests and the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "core/clock.h"
#include "core/digest.h"
#include "core/mem.h"

static struct digest of_texts(const char *a, const char *b)
{
    struct hasher *h = hasher_new();
    hasher_text(h, a);
    hasher_text(h, b);
    return hasher_end(h);
}

static void known_answer(void **state)
{
    (void)state;
    char hex[DIGEST_HEX];
    struct digest d = digest_of("abc", 3); /* FIPS 180-4 */
    digest_hex(&d, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223");
    d = digest_of("", 0);
    digest_hex(&d, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb924");
}

static void parts_do_not_run_together(void **state)
{
    (void)state;
    struct digest all[] = {
        of_texts("ab", "c"),   of_texts("a", "bc"),   of_texts("abc", ""),  of_texts("", "abc"),
        of_texts("abc", NULL), of_texts(NULL, "abc"), of_texts(NULL, NULL), of_texts("", ""),
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        for (size_t k = 0; k < ARRAY_LEN(all); k++)
            assert_int_equal(digest_equal(&all[i], &all[k]), i == k);
    }
    struct digest again = of_texts("ab", "c");
    assert_true(digest_equal(&all[0], &again));
}

static struct digest of_bytes(const char *a, size_t n, const char *b)
{
    struct hasher *h = hasher_new();
    hasher_bytes(h, a, n);
    if (b != NULL)
        hasher_bytes(h, b, strlen(b));
    return hasher_end(h);
}

/* A part that looks like the end of one and the begin of the next is still one part. */
static void parts_cannot_be_forged(void **state)
{
    (void)state;
    struct digest two = of_bytes("a", 1, "c");
    struct digest one = of_bytes("ab\1\0\0\0\0\0\0\0c", 11, NULL);
    struct digest zero = of_bytes("ab\0\0\0\0\0\0\0\0c", 11, NULL);
    assert_false(digest_equal(&two, &one));
    assert_false(digest_equal(&two, &zero));
}

static void kinds_differ(void **state)
{
    (void)state;
    struct hasher *h = hasher_new();
    hasher_number(h, 1);
    struct digest number = hasher_end(h);
    h = hasher_new();
    hasher_bytes(h, "\1\0\0\0\0\0\0\0", 8);
    struct digest bytes = hasher_end(h);
    h = hasher_new();
    hasher_number(h, -1);
    struct digest minus = hasher_end(h);
    assert_false(digest_equal(&number, &bytes));
    assert_false(digest_equal(&number, &minus));
}

static void hex_goes_both_ways(void **state)
{
    (void)state;
    char hex[DIGEST_HEX];
    struct digest d = digest_of("x", 1), back;
    digest_hex(&d, hex);
    assert_true(digest_parse(hex, &back));
    assert_true(digest_equal(&d, &back));
    static const char *const bad[] = {"", "00", "zz7816bf8f01cfea414140de5dae2223",
                                      "BA7816BF8F01CFEA414140DE5DAE2223",
                                      "ba7816bf8f01cfea414140de5dae22230"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(digest_parse(bad[i], &back));
    assert_false(digest_parse(NULL, &back));
    assert_true(digest_equal(&d, &back)); /* untouched by failures */
    struct digest none = {{0}};
    assert_true(digest_none(&none));
    assert_false(digest_none(&d));
}

static void iso_goes_both_ways(void **state)
{
    (void)state;
    static const struct {
        int64_t wall;
        const char *iso;
    } rows[] = {
        {0, "1970-01-01T00:00:00Z"},
        {951782400, "2000-02-29T00:00:00Z"},
        {1796032800, "2026-11-30T10:00:00Z"},
        {4102444799, "2099-12-31T23:59:59Z"},
        {253402300799, "9999-12-31T23:59:59Z"},
    };
    setenv("TZ", "Asia/Tokyo", 1);
    tzset();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *s = clock_iso(rows[i].wall);
        assert_string_equal(s, rows[i].iso);
        assert_int_equal(clock_parse_iso(s), rows[i].wall);
        xfree(s);
    }
    unsetenv("TZ");
    tzset();
}

static void other_forms_of_time_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "2026-11-30",
        "2026-11-30 10:00:00Z",
        "2026-11-30T10:00:00",
        "2026-11-30T10:00:00+00:00",
        "2026-02-30T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z",
        "1969-12-31T23:59:59Z",
        "2026-11-30T10:00:00Zx",
        "2026-11-30T1x:00:00Z",
        "-026-11-30T10:00:00Z",
        "2025-02-29T00:00:00Z",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(clock_parse_iso(bad[i]), -1);
    assert_int_equal(clock_parse_iso(NULL), -1);
    char *s = clock_iso(INT64_MAX);
    assert_string_equal(s, "9999-12-31T23:59:59Z");
    xfree(s);
    s = clock_iso(-5);
    assert_string_equal(s, "1970-01-01T00:00:00Z");
    xfree(s);
}

static void the_monotonic_clock_goes_on(void **state)
{
    (void)state;
    int64_t from = clock_ms();
    struct timespec nap = {0, 20 * 1000 * 1000};
    nanosleep(&nap, NULL);
    int64_t took = clock_ms() - from;
    assert_in_range(took, 19, 5000);
    assert_in_range(clock_wall() - time(NULL) + 1, 0, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answer),
        cmocka_unit_test(parts_do_not_run_together),
        cmocka_unit_test(parts_cannot_be_forged),
        cmocka_unit_test(kinds_differ),
        cmocka_unit_test(hex_goes_both_ways),
        cmocka_unit_test(iso_goes_both_ways),
        cmocka_unit_test(other_forms_of_time_are_refused),
        cmocka_unit_test(the_monotonic_clock_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
