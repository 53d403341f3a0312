/* Canvas and wrap: nothing outside its rectangle, wide clusters stay whole, text measured as drawn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ui/canvas.h"
#include "ui/wrap.h"

#define AUTO_CANVAS __attribute__((cleanup(canvas_release))) struct canvas

static void shows(const struct canvas *c, const char *expected)
{
    AUTO_TEXT t = TEXT_INIT;
    canvas_dump(c, &t);
    assert_string_equal(t.s, expected);
}

/* Each head of two columns has its continuation, each continuation its head. */
static void whole(const struct canvas *c)
{
    for (int row = 0; row < c->rows; row++) {
        for (int col = 0; col < c->cols; col++) {
            const struct cell *cell = canvas_cell(c, row, col);
            const struct cell *next = canvas_cell(c, row, col + 1);
            if (cell->width == 2) {
                assert_non_null(next);
                assert_int_equal(next->width, 0);
            } else if (cell->width == 0) {
                assert_true(col > 0);
                assert_int_equal(canvas_cell(c, row, col - 1)->width, 2);
                assert_string_equal(cell->ch, "");
            } else {
                assert_string_not_equal(cell->ch, "");
            }
        }
    }
}

static void puts_and_chains(void **state)
{
    (void)state;
    AUTO_CANVAS c = CANVAS_INIT;
    canvas_resize(&c, 2, 12);
    struct rect r = canvas_rect(&c);
    int col = canvas_put(&c, r, 0, 1, ROLE_KEY, "Enter");
    col = canvas_put(&c, r, 0, col, ROLE_HINT, " next");
    assert_int_equal(col, 11);
    assert_int_equal(canvas_putf(&c, r, 1, 8, ROLE_TEXT, "%d more", 12345), 12);
    shows(&c, " Enter next\n        1234\n");
    assert_int_equal(canvas_cell(&c, 0, 1)->role, ROLE_KEY);
    assert_int_equal(canvas_cell(&c, 0, 6)->role, ROLE_HINT);
    assert_null(canvas_cell(&c, 2, 0));
    assert_null(canvas_cell(&c, 0, -1));
}

static void clips_to_the_rectangle(void **state)
{
    (void)state;
    AUTO_CANVAS c = CANVAS_INIT;
    canvas_resize(&c, 3, 6);
    canvas_fill(&c, canvas_rect(&c), ROLE_TEXT);
    struct rect inner = {1, 2, 1, 3};
    canvas_put(&c, inner, 0, -1, ROLE_TEXT, "abcdefgh");
    canvas_put(&c, inner, 1, 0, ROLE_TEXT, "below");
    canvas_put(&c, inner, -1, 0, ROLE_TEXT, "above");
    shows(&c, "\n  bcd\n\n");
    struct rect off = {-1, -2, 20, 40};
    canvas_put(&c, off, 1, 0, ROLE_TEXT, "xyz");
    shows(&c, "z\n  bcd\n\n");
    canvas_fill(&c, (struct rect){2, 5, 50, 50}, ROLE_FAIL);
    canvas_paint(&c, (struct rect){-5, -5, 6, 6}, ROLE_PASS);
    assert_int_equal(canvas_cell(&c, 2, 5)->role, ROLE_FAIL);
    assert_int_equal(canvas_cell(&c, 0, 0)->role, ROLE_PASS);
    assert_int_equal(canvas_cell(&c, 0, 1)->role, ROLE_TEXT);
}

static void wide_at_the_edges(void **state)
{
    (void)state;
    AUTO_CANVAS c = CANVAS_INIT;
    canvas_resize(&c, 1, 5);
    struct rect r = canvas_rect(&c);
    canvas_put(&c, r, 0, 0, ROLE_TEXT, "作者作");
    shows(&c, "作者\n"); /* the third would stick out: a blank remains */
    whole(&c);
    canvas_put(&c, r, 0, 1, ROLE_TEXT, "x");
    shows(&c, " x者\n");
    whole(&c);
    canvas_put(&c, r, 0, 2, ROLE_TEXT, "y");
    shows(&c, " xy\n");
    canvas_put(&c, r, 0, -1, ROLE_TEXT, "作z");
    shows(&c, " zy\n");
    canvas_put(&c, r, 0, 4, ROLE_TEXT, "e\xCC\x81");
    shows(&c, " zy e\xCC\x81\n");
    canvas_put(&c, r, 0, 3, ROLE_TEXT, "😀");
    shows(&c, " zy😀\n");
    whole(&c);
    canvas_put(&c, (struct rect){0, 0, 1, 4}, 0, 3, ROLE_TEXT, "😀");
    shows(&c, " zy\n");
    whole(&c);
}

static void clusters_take_one_cell(void **state)
{
    (void)state;
    AUTO_CANVAS c = CANVAS_INIT;
    canvas_resize(&c, 1, 10);
    struct rect r = canvas_rect(&c);
    static const char family[] = "👩‍👩‍👧‍👦|";
    canvas_put(&c, r, 0, 0, ROLE_TEXT, family);
    assert_int_equal(canvas_cell(&c, 0, 0)->width, 2);
    assert_string_equal(canvas_cell(&c, 0, 2)->ch, "|");
    /* More marks than a cell holds: cut at a character. */
    AUTO_TEXT zalgo = TEXT_INIT;
    text_add(&zalgo, "a");
    for (int i = 0; i < 100; i++)
        text_add(&zalgo, "\xCC\x81");
    text_add(&zalgo, "b");
    canvas_put(&c, r, 0, 0, ROLE_TEXT, zalgo.s);
    assert_int_equal(strlen(canvas_cell(&c, 0, 0)->ch), 29);
    assert_string_equal(canvas_cell(&c, 0, 1)->ch, "b");
    whole(&c);
}

static void refuses_controls(void **state)
{
    (void)state;
    AUTO_CANVAS c = CANVAS_INIT;
    canvas_resize(&c, 1, 20);
    static const char bad[] = "a\033[2J\n\x7F\xC2\x9B\xFF\xCC\x81z";
    int end = canvas_put(&c, canvas_rect(&c), 0, 0, ROLE_TEXT, bad);
    assert_int_equal(end, canvas_columns(bad));
    for (int col = 0; col < 20; col++) {
        for (const char *s = canvas_cell(&c, 0, col)->ch; *s != '\0'; s++)
            assert_true((unsigned char)*s >= 0x20 && *s != 0x7F && (unsigned char)*s != 0x9B);
    }
    assert_string_equal(canvas_cell(&c, 0, 1)->ch, "?");
    assert_string_equal(canvas_cell(&c, 0, 2)->ch, "[");
}

static void elides(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        int columns;
        enum elide where;
        const char *expected;
    } rows[] = {
        {"orders", 6, ELIDE_END, "orders"},  {"orders", 5, ELIDE_END, "orde…"},
        {"orders", 1, ELIDE_END, "…"},       {"orders", 0, ELIDE_END, ""},
        {"orders", 4, ELIDE_START, "…ers"},  {"8f1c00aae2", 7, ELIDE_MIDDLE, "8f1…ae2"},
        {"作者作者", 5, ELIDE_END, "作者…"}, {"作者作者", 4, ELIDE_END, "作…"},
        {"作者作者", 4, ELIDE_START, "…者"}, {"", 3, ELIDE_END, ""},
        {"ab", 1, ELIDE_MIDDLE, "…"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO_TEXT t = TEXT_INIT;
        canvas_elide(&t, rows[i].s, rows[i].columns, rows[i].where);
        assert_string_equal(t.s, rows[i].expected);
        assert_true(canvas_columns(t.s) <= rows[i].columns);
    }
}

static void aligns_and_draws_lines(void **state)
{
    (void)state;
    AUTO_CANVAS c = CANVAS_INIT;
    canvas_resize(&c, 4, 8);
    struct rect r = canvas_rect(&c);
    assert_int_equal(canvas_put_right(&c, r, 0, ROLE_HINT, "42 ms"), 3);
    assert_int_equal(canvas_put_right(&c, rect_cols(r, 0, 4), 1, ROLE_HINT, "too long"), 0);
    canvas_put_elided(&c, r, 1, 5, ROLE_TEXT, "abcd");
    canvas_hline(&c, rect_cols(r, 1, 3), 2, ROLE_BORDER);
    shows(&c, "   42 ms\ntoo… ab…\n ───\n\n");
    canvas_box(&c, r, ROLE_BORDER);
    shows(&c, "┌──────┐\n│oo… ab│\n│───   │\n└──────┘\n");
    canvas_box(&c, (struct rect){0, 0, 1, 1}, ROLE_BORDER);
}

static void rectangles_never_turn_negative(void **state)
{
    (void)state;
    struct rect r = {2, 3, 4, 5};
    struct rect a = rect_rows(r, 1, -1), b = rect_rows(r, 9, 3), d = rect_cols(r, 3, 99);
    assert_int_equal(a.row, 3);
    assert_int_equal(a.rows, 3);
    assert_int_equal(b.rows, 0);
    assert_int_equal(d.cols, 2);
    assert_int_equal(rect_cols(r, -3, 2).col, 3);
    assert_int_equal(rect_intersect(r, (struct rect){20, 20, 5, 5}).rows, 0);
}

static void cursor_hides_outside(void **state)
{
    (void)state;
    AUTO_CANVAS c = CANVAS_INIT;
    canvas_resize(&c, 2, 2);
    canvas_cursor(&c, canvas_rect(&c), 1, 1);
    assert_int_equal(c.cursor_row, 1);
    canvas_cursor(&c, canvas_rect(&c), 1, 2);
    assert_int_equal(c.cursor_row, -1);
}

/* Everything on every small and one large size, with offsets in and out. */
static void any_size(void **state)
{
    (void)state;
    static const int sizes[][2] = {{0, 0}, {1, 1}, {1, 2}, {2, 1}, {3, 200}, {200, 500}, {5000, 3}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        AUTO_CANVAS c = CANVAS_INIT;
        canvas_resize(&c, sizes[i][0], sizes[i][1]);
        assert_true(c.rows <= CANVAS_MAX);
        for (int off = -3; off < 4; off++) {
            struct rect r = {off, off, c.rows, c.cols};
            canvas_put(&c, r, 0, off, ROLE_TEXT, "作a😀e\xCC\x81作作");
            canvas_put_right(&c, r, off, ROLE_TEXT, "右right");
            canvas_put_elided(&c, r, off, off, ROLE_TEXT, "作者作者 and more");
            canvas_put_wrapped(&c, r, ROLE_TEXT, "some words 作者 to wrap");
            canvas_hline(&c, r, off, ROLE_BORDER);
            canvas_box(&c, r, ROLE_BORDER);
            canvas_fill(&c, rect_cols(r, 1, 1), ROLE_TEXT);
            whole(&c);
        }
    }
}

static void wraps(void **state)
{
    (void)state;
    static const struct {
        const char *s;
        int columns;
        const char *expected; /* lines joined by | */
    } rows[] = {
        {"", 10, ""},
        {"one two three", 8, "one two|three"},
        {"one two three", 7, "one two|three"},
        {"one two three", 6, "one|two|three"},
        {"one  two", 4, "one|two"},
        {"abcdefgh", 3, "abc|def|gh"},
        {"ab cdefgh", 4, "ab|cdef|gh"},
        {"a\nb\n\nc\n", 5, "a|b||c"},
        {"  indented text", 10, "  indented|text"},
        {"abc   \ndef", 3, "abc|def"},
        {"作者作者", 5, "作者|作者"},
        {"ab作者", 5, "ab作|者"},
        {"作", 1, "作"},
        {"作\n作", 1, "作|作"},
        {"x y", 0, "x|y"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO_TEXT t = TEXT_INIT;
        struct wrap_line line;
        size_t n = strlen(rows[i].s), pos = 0;
        int lines = 0;
        while (wrap_next(rows[i].s, n, &pos, rows[i].columns, &line)) {
            if (lines++ > 0)
                text_add(&t, "|");
            text_addn(&t, rows[i].s + line.at, line.len);
        }
        assert_string_equal(t.s, rows[i].expected);
        assert_int_equal(wrap_height(rows[i].s, rows[i].columns), lines);
    }
}

/* For any text and width: it ends, no line is too wide, and only blanks and breaks are left out. */
static void wrap_loses_nothing(void **state)
{
    (void)state;
    static const char *const pieces[] = {"a", "word", " ", "  ", "\n", "作", "😀", "e\xCC\x81", "-"};
    srand(7);
    for (int round = 0; round < 3000; round++) {
        AUTO_TEXT t = TEXT_INIT;
        for (int i = rand() % 30; i > 0; i--)
            text_add(&t, pieces[rand() % 9]);
        int columns = 1 + rand() % 12;
        size_t pos = 0, seen = 0;
        struct wrap_line line;
        while (wrap_next(t.s, t.len, &pos, columns, &line)) {
            for (; seen < line.at; seen++)
                assert_true(t.s[seen] == ' ' || t.s[seen] == '\n');
            AUTO_TEXT one = TEXT_INIT;
            text_addn(&one, t.s + line.at, line.len);
            assert_null(strchr(one.s, '\n'));
            assert_true(canvas_columns(one.s) <= (columns < 2 ? 2 : columns));
            seen = line.at + line.len;
        }
        for (; seen < t.len; seen++)
            assert_true(t.s[seen] == ' ' || t.s[seen] == '\n');
    }
}

static void wrapped_text_says_its_height(void **state)
{
    (void)state;
    AUTO_CANVAS c = CANVAS_INIT;
    canvas_resize(&c, 2, 9);
    int rows = canvas_put_wrapped(&c, rect_cols(canvas_rect(&c), 2, 6), ROLE_TEXT, "one two three");
    assert_int_equal(rows, 3);
    shows(&c, "  one\n  two\n");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_and_chains),
        cmocka_unit_test(clips_to_the_rectangle),
        cmocka_unit_test(wide_at_the_edges),
        cmocka_unit_test(clusters_take_one_cell),
        cmocka_unit_test(refuses_controls),
        cmocka_unit_test(elides),
        cmocka_unit_test(aligns_and_draws_lines),
        cmocka_unit_test(rectangles_never_turn_negative),
        cmocka_unit_test(cursor_hides_outside),
        cmocka_unit_test(any_size),
        cmocka_unit_test(wraps),
        cmocka_unit_test(wrap_loses_nothing),
        cmocka_unit_test(wrapped_text_says_its_height),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
