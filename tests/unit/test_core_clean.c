/* The sanitiser: nothing that a terminal obeys passes it, and what people write stays as it is. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/clean.h"
#include "core/mem.h"
#include "core/utf8.h"

struct row {
    const char *in;
    const char *line;
    const char *lines; /* NULL: as line */
};

static const struct row rows[] = {
    {"plain text, ~100 %", "plain text, ~100 %", NULL},
    /* what terminals obey */
    {"\x1b[2J\x1b[1;1H", "^[[2J^[[1;1H", NULL},
    {"\x1b]52;c;cm0gLXJm\x07", "^[]52;c;cm0gLXJm^G", NULL},
    {"\x1b]8;;http://evil\x1b\\x\x1b]8;;\x1b\\", "^[]8;;http://evil^[\\x^[]8;;^[\\", NULL},
    {"\xc2\x9b"
     "31m",
     "\\u{9B}31m", NULL}, /* C1 CSI in UTF-8 */
    {"\x9b"
     "31m",
     "\\x9B31m", NULL}, /* and as a byte */
    {"a\rb\x08\x7f", "a^Mb^H^?", NULL},
    {"a\tb\nc", "a^Ib^Jc", "a    b\nc"},
    {"\x01\x1f", "^A^_", NULL},
    /* bidi and invisible */
    {"user\u202Etxt.exe", "user\\u{202E}txt.exe", NULL},
    {"\u2066a\u2069\u200E\u061C", "\\u{2066}a\\u{2069}\\u{200E}\\u{61C}", NULL},
    {"a\u200Bb\u200Cc\u2060\u00AD\uFEFF", "a\\u{200B}b\\u{200C}c\\u{2060}\\u{AD}\\u{FEFF}", NULL},
    {"a\u2028b\u2029c\xc2\x85", "a\\u{2028}b\\u{2029}c\\u{85}", NULL},
    {"tag\U000E0041\U000E0100", "tag\\u{E0041}\\u{E0100}", NULL},
    {"\u3164\u115F", "\\u{3164}\\u{115F}", NULL}, /* Hangul fillers draw nothing */
    {"\uE000", "\\u{E000}", NULL},                /* private use */
    {"\uFFFE\U0003FFFF", "\\u{FFFE}\\u{3FFFF}", NULL},
    /* not UTF-8 */
    {"ab\xff\xfe", "ab\\xFF\\xFE", NULL},
    {"\xc3(", "\\xC3(", NULL},
    {"\xe2\x82", "\\xE2\\x82", NULL},                            /* ends within a character */
    {"\xc0\xaf\xe0\x80\xaf", "\\xC0\\xAF\\xE0\\x80\\xAF", NULL}, /* overlong */
    {"\xed\xa0\x80", "\\xED\\xA0\\x80", NULL},                   /* a surrogate */
    {"\xf4\x90\x80\x80", "\\xF4\\x90\\x80\\x80", NULL},
    /* what people write */
    {"naïve Zoë, Ω, Привет, 表, 한글, ไทย, हिन्दी, العربية",
     "naïve Zoë, Ω, Привет, 表, 한글, ไทย, हिन्दी, العربية", NULL},
    {"e\u0301 a\u030A", "e\u0301 a\u030A", NULL},
    {"✓ → — … “”", "✓ → — … “”", NULL},
    {"😀 👩\u200D💻 👩🏽\u200D🚀 ❤\uFE0F\u200D🔥 🇩🇪",
     "😀 👩\u200D💻 👩🏽\u200D🚀 ❤\uFE0F\u200D🔥 🇩🇪", NULL},
    /* a joiner that joins no pictographs */
    {"a\u200Db", "a\\u{200D}b", NULL},
    {"😀\u200Db", "😀\\u{200D}b", NULL},
    {"😀\u200D", "😀\\u{200D}", NULL},
    {"b\u200D😀", "b\\u{200D}😀", NULL},
    {"😀\u200D\u200D😀", "😀\\u{200D}\\u{200D}😀", NULL},
    /* a mark without base would join what stands on the screen before it */
    {"\u0301x", "\\u{301}x", NULL},
    {"a\n\u0301", "a^J\\u{301}", "a\n\\u{301}"},
    {"\xff\u0301", "\\xFF\\u{301}", NULL},
};

static void each_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *line = clean_copy(rows[i].in, CLEAN_LINE);
        char *lines = clean_copy(rows[i].in, CLEAN_LINES);
        assert_string_equal(line, rows[i].line);
        assert_string_equal(lines, rows[i].lines != NULL ? rows[i].lines : rows[i].line);
        xfree(line);
        xfree(lines);
    }
}

static void does_not_depend_on_the_locale(void **state)
{
    static const char *const locales[] = {"C", "C.UTF-8", "POSIX"};
    for (size_t i = 0; i < ARRAY_LEN(locales); i++) {
        if (setlocale(LC_ALL, locales[i]) != NULL)
            each_row(state);
    }
    setlocale(LC_ALL, "C");
}

static void a_storm_of_marks_is_bounded(void **state)
{
    (void)state;
    AUTO_TEXT in = TEXT_INIT;
    text_add(&in, "Z");
    for (int i = 0; i < 1000; i++)
        text_add(&in, "\u0334");
    char *out = clean_copy(in.s, CLEAN_LINE);
    size_t kept = 0;
    for (const char *p = out; (p = strstr(p, "\u0334")) != NULL; p += 2)
        kept++;
    assert_true(kept >= 4 && kept <= 16);
    xfree(out);
}

static void null_is_empty(void **state)
{
    (void)state;
    char *s = clean_copy(NULL, CLEAN_LINE);
    assert_string_equal(s, "");
    xfree(s);
}

static void nul_bytes_are_shown(void **state)
{
    (void)state;
    AUTO_TEXT t = TEXT_INIT;
    clean_add(&t, "a\0b", 3, CLEAN_LINES);
    assert_string_equal(t.s, "a^@b");
}

static void excerpts_are_cut_and_say_so(void **state)
{
    (void)state;
    char *s = clean_excerpt("<html>\n<b>", 10, 100);
    assert_string_equal(s, "<html>^J<b>");
    xfree(s);
    s = clean_excerpt("abcdef", 6, 3);
    assert_string_equal(s, "abc…");
    xfree(s);
    s = clean_excerpt("ab€f", 6, 4); /* within the euro sign */
    assert_string_equal(s, "ab…");
    xfree(s);
    s = clean_excerpt("", 0, 4);
    assert_string_equal(s, "");
    xfree(s);
}

/* Whatever comes in: only printable ASCII, newlines and valid UTF-8 without controls come out, and
 * cleaning again changes nothing. */
static void random_bytes_come_out_harmless(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int round = 0; round < 3000; round++) {
        char in[48], copy[sizeof in];
        size_t n = (size_t)(rand_r(&seed) % (int)sizeof in);
        for (size_t i = 0; i < n; i++) {
            static const unsigned char likely[] = {0xE2, 0x80, 0xAE, 0xF0, 0x9F,
                                                   0x98, 0x8D, 0xCC, 0x81, 0x1b};
            int r = rand_r(&seed);
            in[i] = (char)(r & 1 ? likely[(r >> 1) % (int)sizeof likely] : r >> 1);
        }
        memcpy(copy, in, n);
        AUTO_TEXT out = TEXT_INIT;
        clean_add(&out, copy, n, CLEAN_LINES);
        assert_true(utf8_valid(out.s, out.len));
        for (size_t i = 0; i < out.len; i++) {
            unsigned char u = (unsigned char)out.s[i];
            assert_true(u == '\n' || (u >= 0x20 && u != 0x7F));
            assert_false(u == 0xC2 && (unsigned char)out.s[i + 1] < 0xA0);
        }
        char *again = clean_copy(out.s, CLEAN_LINES);
        assert_string_equal(again, out.s);
        xfree(again);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row),
        cmocka_unit_test(does_not_depend_on_the_locale),
        cmocka_unit_test(a_storm_of_marks_is_bounded),
        cmocka_unit_test(null_is_empty),
        cmocka_unit_test(nul_bytes_are_shown),
        cmocka_unit_test(excerpts_are_cut_and_say_so),
        cmocka_unit_test(random_bytes_come_out_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
