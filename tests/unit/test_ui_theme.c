/* The look: every row of every table is filled and consistent. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ui/canvas.h"
#include "ui/glyph.h"
#include "ui/theme.h"

static void every_role_has_a_look(void **state)
{
    (void)state;
    for (int role = 0; role < ROLE_COUNT; role++) {
        assert_non_null(theme_role_name((enum role)role));
        for (int other = 0; other < role; other++)
            assert_string_not_equal(theme_role_name((enum role)role),
                                    theme_role_name((enum role)other));
        for (int scheme = 0; scheme < SCHEME_COUNT; scheme++) {
            const struct style *s = theme_style((enum scheme)scheme, (enum role)role);
            assert_in_range(s->fg + 1, 0, 8);
            assert_in_range(s->bg + 1, 0, 8);
            assert_true(s->fg < 0 || s->fg != s->bg);
        }
        const struct style *mono = theme_style(SCHEME_MONO, (enum role)role);
        assert_int_equal(mono->fg, -1);
        assert_int_equal(mono->bg, -1);
        /* Hardly to be read on white. */
        short light = theme_style(SCHEME_LIGHT, (enum role)role)->fg;
        assert_true(light != 3 && light != 6 &&
                    (light != 7 || theme_style(SCHEME_LIGHT, (enum role)role)->bg >= 0));
    }
    /* What is to be seen first must not rest on colour. */
    assert_int_not_equal(theme_style(SCHEME_MONO, ROLE_FOCUS)->attrs, 0);
    assert_int_not_equal(theme_style(SCHEME_MONO, ROLE_FAIL)->attrs, 0);
}

static void every_mark_is_complete(void **state)
{
    (void)state;
    for (int i = 0; i < MARK_COUNT; i++) {
        const struct mark_row *m = theme_mark((enum mark)i);
        assert_non_null(m->name);
        assert_non_null(m->words);
        assert_int_equal(canvas_columns(m->glyph), 1);
        assert_int_equal(theme_ascii(m->glyph), m->ascii);
        assert_int_equal(theme_mark_by_name(m->name), i);
        assert_string_equal(theme_mark_glyph((enum mark)i, true), m->glyph);
        char ascii[2] = {m->ascii, '\0'};
        assert_string_equal(theme_mark_glyph((enum mark)i, false), ascii);
    }
    assert_int_equal(theme_mark_by_name("nonsense"), MARK_COUNT);
}

static void scheme_follows_the_surroundings(void **state)
{
    (void)state;
    assert_int_equal(theme_choose(256, NULL, NULL), SCHEME_COLOUR);
    assert_int_equal(theme_choose(256, "", "15;0"), SCHEME_COLOUR);
    assert_int_equal(theme_choose(256, "1", "0;15"), SCHEME_MONO);
    assert_int_equal(theme_choose(8, NULL, "0;15"), SCHEME_LIGHT);
    assert_int_equal(theme_choose(8, NULL, "0;default;7"), SCHEME_LIGHT);
    assert_int_equal(theme_choose(0, NULL, NULL), SCHEME_MONO);
}

static void ascii_twins(void **state)
{
    (void)state;
    AUTO_TEXT t = TEXT_INIT;
    theme_add_ascii(&t, "✓ é → 作 … • a─b");
    assert_string_equal(t.s, "+ ? > ? . * a-b");
}

static void splits(const char *text, int width, bool utf8, size_t n, const wchar_t *first,
                   const wchar_t *second)
{
    struct cell cell = {.width = (uint8_t)width};
    struct glyph out[2];
    snprintf(cell.ch, sizeof(cell.ch), "%s", text);
    assert_int_equal(glyph_split(&cell, utf8, out), n);
    assert_memory_equal(out[0].wide, first, (wcslen(first) + 1) * sizeof(wchar_t));
    assert_int_equal(out[0].col, 0);
    if (n == 2) {
        assert_memory_equal(out[1].wide, second, (wcslen(second) + 1) * sizeof(wchar_t));
        assert_int_equal(out[1].col, 1);
    }
}

static void glyphs_fill_their_cell(void **state)
{
    (void)state;
    assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
    splits("a", 1, true, 1, L"a", NULL);
    splits("e\xCC\x81", 1, true, 1, L"e\x301", NULL);
    splits("作", 2, true, 1, L"作", NULL);
    splits("👩‍👧", 2, true, 1, L"👩", NULL);
    splits("⚠\xEF\xB8\x8F", 1, true, 1, L"⚠", NULL);
    splits("⚠\xEF\xB8\x8F", 2, true, 2, L"⚠", L" ");
    splits("🇩🇪", 2, true, 2, L"D", L"E");
    splits("\xF3\xA0\x80\x81", 1, true, 1, L"?", NULL); /* no width of its own */
    splits("a\xCC\x81\xCC\x82\xCC\x83\xCC\x84\xCC\x85", 1, true, 1, L"a\x301\x302\x303\x304", NULL);
    splits("作", 2, false, 2, L"?", L" ");
    splits("✓", 1, false, 1, L"+", NULL);
    assert_non_null(setlocale(LC_CTYPE, "C"));
    splits("é", 1, true, 1, L"?", NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_role_has_a_look),           cmocka_unit_test(every_mark_is_complete),
        cmocka_unit_test(scheme_follows_the_surroundings), cmocka_unit_test(ascii_twins),
        cmocka_unit_test(glyphs_fill_their_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
