/* List (100,000 rows), pager and choice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/mem.h"
#include "ui/choice.h"
#include "ui/list.h"
#include "ui/pager.h"

#define AUTO_CANVAS __attribute__((cleanup(canvas_release))) struct canvas
#define AUTO_LIST __attribute__((cleanup(list_release))) struct list
#define AUTO_PAGER __attribute__((cleanup(pager_release))) struct pager

struct rows {
    size_t drawn, judged;
    size_t tall; /* a row of three lines; LIST_NONE: none */
};

static void name_of(size_t row, char *out, size_t size)
{
    snprintf(out, size, "table_%zu", row);
}

static void draw_row(void *owner, size_t row, struct canvas *c, struct rect r, bool at_cursor)
{
    struct rows *rows = owner;
    char name[32];
    name_of(row, name, sizeof(name));
    rows->drawn++;
    canvas_put(c, r, 0, 0, ROLE_TEXT, at_cursor ? ">" : " ");
    canvas_put(c, r, 0, 1, ROLE_TEXT, name);
    for (int i = 1; i < r.rows; i++)
        canvas_put(c, r, i, 1, ROLE_TEXT, "more");
}

static bool matches(void *owner, size_t row, const char *folded)
{
    struct rows *rows = owner;
    char name[32];
    name_of(row, name, sizeof(name));
    rows->judged++;
    return strstr(name, folded) != NULL;
}

static int height(void *owner, size_t row, int cols)
{
    const struct rows *rows = owner;
    (void)cols;
    return row == rows->tall ? 3 : 1;
}

static const struct list_source source = {.draw = draw_row, .height = height, .matches = matches};

static unsigned press(struct list *l, const char *name)
{
    struct key k;
    assert_true(key_parse(name, &k));
    return list_key(l, &k);
}

static void shows(struct list *l, int rows, const char *expected)
{
    AUTO_CANVAS c = CANVAS_INIT;
    AUTO_TEXT t = TEXT_INIT;
    canvas_resize(&c, rows, 20);
    list_draw(l, &c, canvas_rect(&c));
    canvas_dump(&c, &t);
    assert_string_equal(t.s, expected);
}

static void moves_and_scrolls(void **state)
{
    (void)state;
    struct rows rows = {.tall = LIST_NONE};
    AUTO_LIST l;
    list_init(&l, &source, &rows);
    assert_int_equal(l.cursor, LIST_NONE);
    assert_int_equal(press(&l, "Down"), UI_HANDLED);
    shows(&l, 2, "\n\n");
    list_set_count(&l, 5);
    shows(&l, 3, ">table_0\n table_1\n table_2\n");
    assert_int_equal(press(&l, "Up"), UI_HANDLED);
    assert_int_equal(press(&l, "Down"), UI_HANDLED | UI_REDRAW | UI_CHANGED);
    press(&l, "Down");
    press(&l, "Down");
    shows(&l, 3, " table_1\n table_2\n>table_3\n");
    press(&l, "Up");
    shows(&l, 3, " table_1\n>table_2\n table_3\n");
    press(&l, "End");
    shows(&l, 3, " table_2\n table_3\n>table_4\n");
    press(&l, "PgUp");
    shows(&l, 3, ">table_2\n table_3\n table_4\n");
    press(&l, "Home");
    press(&l, "PgDn");
    assert_int_equal(l.cursor, 2);
    /* A larger window leaves no blank rows below. */
    press(&l, "End");
    shows(&l, 2, " table_3\n>table_4\n");
    shows(&l, 6, " table_0\n table_1\n table_2\n table_3\n>table_4\n\n");
    list_set_count(&l, 2);
    assert_int_equal(l.cursor, 1);
    shows(&l, 1, ">table_1\n");
    assert_int_equal(press(&l, "Space"), UI_IGNORED);
    assert_int_equal(press(&l, "1"), UI_IGNORED);
    assert_int_equal(press(&l, "Enter"), UI_IGNORED);
}

static void rows_of_several_lines(void **state)
{
    (void)state;
    struct rows rows = {.tall = 2};
    AUTO_LIST l;
    list_init(&l, &source, &rows);
    list_set_count(&l, 5);
    shows(&l, 4, ">table_0\n table_1\n table_2\n more\n");
    list_select(&l, 2);
    shows(&l, 4, " table_1\n>table_2\n more\n more\n");
    press(&l, "Down");
    shows(&l, 4, " table_2\n more\n more\n>table_3\n");
    press(&l, "Up");
    shows(&l, 2, ">table_2\n more\n"); /* taller than the window: its start is seen */
    press(&l, "End");
    shows(&l, 4, " table_3\n>table_4\n\n\n"); /* row 2 would not be whole */
}

static void filter_keeps_the_row(void **state)
{
    (void)state;
    struct rows rows = {.tall = LIST_NONE};
    AUTO_LIST l;
    list_init(&l, &source, &rows);
    list_set_count(&l, 340);
    list_select(&l, 127);
    assert_int_equal(press(&l, "/"), UI_HANDLED | UI_REDRAW);
    assert_true(l.filtering);
    press(&l, "2");
    press(&l, "7");
    assert_int_equal(l.shown, 4 + 10); /* 27 127 227 327, 270-279 */
    assert_int_equal(l.cursor, 127);
    list_set_filter(&l, "_3");
    assert_int_equal(l.cursor, 300); /* the next one shown */
    list_set_filter(&l, "TABLE_2");
    assert_int_equal(l.cursor, 200);
    list_set_filter(&l, "nothing");
    assert_int_equal(l.cursor, LIST_NONE);
    assert_int_equal(l.shown, 0);
    shows(&l, 1, "\n");
    /* Down moves in the list while the filter is open; Enter leaves it standing. */
    list_set_filter(&l, "27");
    press(&l, "Down");
    assert_int_equal(l.cursor, 227);
    assert_int_equal(press(&l, "Enter"), UI_HANDLED | UI_REDRAW);
    assert_false(l.filtering);
    assert_int_equal(press(&l, "2"), UI_IGNORED);
    press(&l, "/");
    assert_int_equal(press(&l, "Esc"), UI_HANDLED | UI_REDRAW | UI_CHANGED | UI_CANCELLED);
    assert_int_equal(l.shown, 340);
    assert_int_equal(l.cursor, 227);
    assert_int_equal(list_shown(&l, 5), 5);
}

static void filter_survives_other_rows(void **state)
{
    (void)state;
    struct rows rows = {.tall = LIST_NONE};
    AUTO_LIST l;
    list_init(&l, &source, &rows);
    list_set_count(&l, 20);
    list_set_filter(&l, "1");
    assert_int_equal(l.shown, 11);
    list_set_count(&l, 200);
    assert_int_equal(l.shown, 100 + 19);
    list_set_count(&l, 0);
    assert_int_equal(l.cursor, LIST_NONE);
}

/* Only visible rows are drawn, and a growing filter judges only what still matches. */
static void hundred_thousand_rows_are_cheap(void **state)
{
    (void)state;
    struct rows rows = {.tall = LIST_NONE};
    AUTO_LIST l;
    AUTO_CANVAS c = CANVAS_INIT;
    canvas_resize(&c, 20, 80);
    list_init(&l, &source, &rows);
    list_set_count(&l, 100000);
    press(&l, "End");
    list_draw(&l, &c, canvas_rect(&c));
    assert_int_equal(rows.drawn, 20);
    assert_int_equal(l.cursor, 99999);
    for (int i = 0; i < 1000; i++) {
        press(&l, "PgUp");
        list_draw(&l, &c, canvas_rect(&c));
    }
    assert_int_equal(rows.drawn, 20 * 1001);
    press(&l, "/");
    press(&l, "9");
    press(&l, "9");
    assert_int_equal(rows.judged, 100000 + 40951); /* second key: only those that hold a 9 */
    list_draw(&l, &c, canvas_rect(&c));
}

static void filter_line(void **state)
{
    (void)state;
    struct rows rows = {.tall = LIST_NONE};
    AUTO_LIST l;
    AUTO_CANVAS c = CANVAS_INIT;
    AUTO_TEXT t = TEXT_INIT;
    canvas_resize(&c, 1, 40);
    list_init(&l, &source, &rows);
    list_set_count(&l, 340);
    press(&l, "/");
    press(&l, "5");
    press(&l, "5");
    list_draw_filter(&l, &c, canvas_rect(&c));
    canvas_dump(&c, &t);
    assert_string_equal(t.s, "Filter  55                3 of 340 shown\n");
    assert_int_equal(c.cursor_col, 10);
    for (int cols = 0; cols < 20; cols++) {
        canvas_resize(&c, 1, cols);
        list_draw_filter(&l, &c, canvas_rect(&c));
    }
}

/* ---- pager ---- */

static void reads(struct pager *p, int rows, int cols, const char *expected)
{
    AUTO_CANVAS c = CANVAS_INIT;
    AUTO_TEXT t = TEXT_INIT;
    canvas_resize(&c, rows, cols);
    pager_draw(p, &c, canvas_rect(&c));
    canvas_dump(&c, &t);
    assert_string_equal(t.s, expected);
}

static unsigned turn(struct pager *p, const char *name)
{
    struct key k;
    assert_true(key_parse(name, &k));
    return pager_key(p, &k);
}

static void pager_wraps_and_hangs(void **state)
{
    (void)state;
    AUTO_PAGER p = PAGER_INIT;
    p.label_cols = 6;
    pager_set(&p, "Why\tthe log is not read\n\n  indented text\nplain");
    reads(&p, 7, 16, "Why   the log is\n      not read\n\n  indented text\nplain\n\n\n");
    reads(&p, 5, 9, "Why\n  the log\n  is not\n  read\n\n");
    assert_int_equal(turn(&p, "Down"), UI_HANDLED | UI_REDRAW);
    turn(&p, "Down");
    reads(&p, 3, 9, "  is not\n  read\n\n");
    reads(&p, 3, 16, "Why   the log is\n      not read\n\n"); /* the same text at the top */
    turn(&p, "End");
    assert_int_equal(turn(&p, "Down"), UI_HANDLED);
    reads(&p, 3, 16, "\n  indented text\nplain\n");
    assert_int_equal(turn(&p, "x"), UI_IGNORED);
    reads(&p, 1, 1, "\n");
    AUTO_PAGER none = PAGER_INIT;
    reads(&none, 1, 5, "\n");
    turn(&none, "PgUp");
    pager_set(&none, NULL);
    reads(&none, 1, 5, "\n");
}

static void pager_pages(void **state)
{
    (void)state;
    AUTO_PAGER p = PAGER_INIT;
    pager_set(&p, "1\n2\n3\n4\n5\n6\n7");
    reads(&p, 3, 5, "1\n2\n3\n");
    turn(&p, "Space");
    reads(&p, 3, 5, "3\n4\n5\n");
    turn(&p, "PgDn");
    reads(&p, 3, 5, "5\n6\n7\n");
    assert_true(pager_at_end(&p));
    turn(&p, "PgUp");
    turn(&p, "Up");
    reads(&p, 3, 5, "2\n3\n4\n");
    reads(&p, 9, 5, "1\n2\n3\n4\n5\n6\n7\n\n\n");
}

static void pager_follows_the_log(void **state)
{
    (void)state;
    AUTO_PAGER p = PAGER_INIT;
    p.follow = true;
    pager_set(&p, "1\n2\n3\n");
    reads(&p, 2, 5, "2\n3\n");
    pager_set(&p, "1\n2\n3\n4\n");
    reads(&p, 2, 5, "3\n4\n");
    turn(&p, "Up");
    pager_set(&p, "1\n2\n3\n4\n5\n");
    reads(&p, 2, 5, "2\n3\n");
    turn(&p, "End");
    pager_set(&p, "1\n2\n3\n4\n5\n6\n");
    reads(&p, 2, 5, "5\n6\n");
}

/* ---- choice ---- */

static void picks(struct choice *ch, int rows, int cols, const char *expected)
{
    AUTO_CANVAS c = CANVAS_INIT;
    AUTO_TEXT t = TEXT_INIT;
    canvas_resize(&c, rows, cols);
    choice_draw(ch, &c, canvas_rect(&c), true);
    canvas_dump(&c, &t);
    assert_string_equal(t.s, expected);
}

static unsigned choose(struct choice *ch, const char *name)
{
    struct key k;
    assert_true(key_parse(name, &k));
    return choice_key(ch, &k);
}

static void choice_in_a_row(void **state)
{
    (void)state;
    static const struct choice_option options[] = {{.label = "hard"}, {.label = "soft"}};
    struct choice ch = CHOICE_INIT;
    assert_int_equal(choose(&ch, "Space"), UI_IGNORED);
    choice_set(&ch, options, 2, CHOICE_NONE);
    picks(&ch, 1, 30, "( ) hard   ( ) soft\n");
    assert_int_equal(choose(&ch, "Down"), UI_IGNORED);
    assert_int_equal(choose(&ch, "Right"), UI_HANDLED | UI_REDRAW);
    assert_int_equal(choose(&ch, "Space"), UI_HANDLED | UI_REDRAW | UI_CHANGED);
    picks(&ch, 1, 30, "( ) hard   (●) soft\n");
    assert_int_equal(choose(&ch, "Right"), UI_IGNORED);
    assert_int_equal(choose(&ch, "1"), UI_HANDLED | UI_REDRAW | UI_CHANGED);
    assert_int_equal(choose(&ch, "3"), UI_IGNORED);
    assert_int_equal(ch.chosen, 0);
    assert_int_equal(choice_height(&ch, 10), 2);
    picks(&ch, 2, 10, "(●) hard\n( ) soft\n");
}

/* Enter takes what was moved to; where nobody went, it takes nothing. */
static void choice_takes_what_was_moved_to(void **state)
{
    (void)state;
    static const struct choice_option options[] = {
        {.label = "a"}, {.label = "b"}, {.label = "c", .refusal = "no"}};
    struct choice ch = CHOICE_INIT;
    assert_int_equal(choice_take(&ch), UI_IGNORED);
    choice_set(&ch, options, 3, CHOICE_NONE);
    assert_int_equal(choice_take(&ch), UI_IGNORED);
    assert_int_equal(ch.chosen, CHOICE_NONE);
    choose(&ch, "Right");
    assert_int_equal(choice_take(&ch), UI_HANDLED | UI_REDRAW | UI_CHANGED);
    assert_int_equal(ch.chosen, 1);
    assert_int_equal(choice_take(&ch), UI_IGNORED);
    choose(&ch, "Right");
    assert_int_equal(choice_take(&ch), UI_HANDLED | UI_REDRAW); /* refused */
    assert_int_equal(ch.chosen, 1);
}

static void choice_in_a_column(void **state)
{
    (void)state;
    static const struct choice_option options[] = {
        {.label = "create", .note = "Spark"},
        {.label = "ml-batch", .refusal = "x86_64 needed"},
        {.label = "etl"},
    };
    struct choice ch = CHOICE_INIT;
    choice_set(&ch, options, 3, 2);
    picks(&ch, 3, 40, "( ) create     Spark\n( ) ml-batch   x86_64 needed\n(●) etl\n");
    assert_int_equal(choose(&ch, "Down"), UI_IGNORED);
    assert_int_equal(choose(&ch, "Up"), UI_HANDLED | UI_REDRAW);
    assert_int_equal(choose(&ch, "Space"), UI_HANDLED | UI_REDRAW); /* refused */
    assert_int_equal(ch.chosen, 2);
    picks(&ch, 1, 40, "( ) ml-batch   x86_64 needed\n");
    picks(&ch, 1, 7, "( ) ml…\n");
    picks(&ch, 0, 0, "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_and_scrolls),
        cmocka_unit_test(rows_of_several_lines),
        cmocka_unit_test(filter_keeps_the_row),
        cmocka_unit_test(filter_survives_other_rows),
        cmocka_unit_test(hundred_thousand_rows_are_cheap),
        cmocka_unit_test(filter_line),
        cmocka_unit_test(pager_wraps_and_hangs),
        cmocka_unit_test(pager_pages),
        cmocka_unit_test(pager_follows_the_log),
        cmocka_unit_test(choice_in_a_row),
        cmocka_unit_test(choice_in_a_column),
        cmocka_unit_test(choice_takes_what_was_moved_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
