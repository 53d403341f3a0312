/* The line editor: clusters, words, pastes and what is said of them, secrets, drawing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/mem.h"
#include "core/utf8.h"
#include "ui/edit.h"

#define AUTO_CANVAS __attribute__((cleanup(canvas_release))) struct canvas
#define AUTO_EDIT __attribute__((cleanup(edit_release))) struct edit

/* Presses the keys whose names stand in s, separated by blanks. */
static unsigned press(struct edit *e, const char *s)
{
    unsigned result = 0;
    char *copy = xstrdup(s), *rest = copy, *name;
    while ((name = strsep(&rest, " ")) != NULL) {
        struct key k;
        assert_true(key_parse(name, &k));
        result = edit_key(e, &k);
    }
    xfree(copy);
    return result;
}

static void paste(struct edit *e, const char *s)
{
    edit_paste(e, s, strlen(s), false);
}

static void says(const struct edit *e, const char *expected)
{
    AUTO_TEXT t = TEXT_INIT;
    assert_int_equal(edit_say(e, &t), expected[0] != '\0');
    assert_string_equal(t.s, expected);
}

static void operations(void **state)
{
    (void)state;
    static const struct {
        const char *text, *keys, *expected; /* | is the cursor */
    } rows[] = {
        {"", "a b c", "abc|"},
        {"ac", "Left b", "ab|c"},
        {"abc", "Home x", "x|abc"},
        {"abc", "Ctrl-A Delete", "|bc"},
        {"abc", "Ctrl-A Ctrl-D", "|bc"},
        {"abc", "Ctrl-A Ctrl-E Backspace", "ab|"},
        {"abc", "Home End Right Right d", "abcd|"},
        {"abc", "Home Left Backspace", "|abc"},
        {"abc", "Left Ctrl-K", "ab|"},
        {"abc", "Left Ctrl-U", "|c"},
        {"one two  three", "Ctrl-W", "one two  |"},
        {"one two  ", "Ctrl-W", "one |"},
        {"one two  three", "Ctrl-Left Ctrl-Left", "one |two  three"},
        {"one two", "Home Ctrl-Right", "one| two"},
        {"one two", "Home Ctrl-Right Ctrl-Right Ctrl-Right", "one two|"},
        {"é作😀e\xCC\x81", "Left Left Backspace", "é|😀e\xCC\x81"},
        {"é作😀e\xCC\x81", "Backspace", "é作😀|"},
        {"a👩‍👩‍👧b", "Left Backspace", "a|b"},
        {"🇩🇪🇫🇷", "Backspace", "🇩🇪|"},
        {"a b", "Space Space", "a b  |"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_EDIT e;
        edit_init(&e, EDIT_TEXT);
        edit_set(&e, rows[i].text);
        press(&e, rows[i].keys);
        AUTO_TEXT t = TEXT_INIT;
        text_addn(&t, e.s, e.at);
        text_add(&t, "|");
        text_add(&t, e.s + e.at);
        assert_string_equal(t.s, rows[i].expected);
        assert_int_equal(strlen(e.s), e.len);
    }
}

static void says_what_a_key_did(void **state)
{
    (void)state;
    AUTO_EDIT e;
    edit_init(&e, EDIT_TEXT);
    assert_int_equal(press(&e, "a"), UI_HANDLED | UI_REDRAW | UI_CHANGED);
    assert_int_equal(press(&e, "Left"), UI_HANDLED | UI_REDRAW);
    assert_int_equal(press(&e, "Left"), UI_HANDLED);
    assert_int_equal(press(&e, "Backspace"), UI_HANDLED);
    static const char *const others[] = {"Enter", "Tab", "Shift-Tab", "Esc",    "Up",
                                         "Down",  "F2",  "Ctrl-Y",    "Ctrl-R", "Ctrl-C"};
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_int_equal(press(&e, others[i]), UI_IGNORED);
}

static void typed_mark_joins_its_base(void **state)
{
    (void)state;
    AUTO_EDIT e;
    edit_init(&e, EDIT_TEXT);
    edit_set(&e, "ex");
    press(&e, "Left");
    edit_insert(&e, "\xCC\x81", 2);
    assert_int_equal(e.at, 3);
    press(&e, "Backspace");
    assert_string_equal(e.s, "x");
    /* A base typed before a mark that stood alone takes it over: the cursor is behind both. */
    edit_set(&e, "\xCC\x81z");
    press(&e, "Home o");
    assert_int_equal(e.at, 3);
}

static void pasted_text(void **state)
{
    (void)state;
    AUTO_EDIT e;
    edit_init(&e, EDIT_TEXT);
    paste(&e, "db.example.com\n");
    assert_string_equal(e.s, "db.example.com");
    says(&e, "removed 1 blank around the pasted text");
    edit_set(&e, "");
    paste(&e, "one\ntwo\n\nthree");
    assert_string_equal(e.s, "one two  three");
    says(&e, "3 line breaks became blanks");
    edit_set(&e, "");
    paste(&e, "a\033[31mb\xC2\x9B\xFF"
              "c\t");
    assert_string_equal(e.s, "a[31mbc");
    says(&e, "left out 4 control characters");
    press(&e, "x");
    says(&e, "");
}

static void pasted_secret_is_trimmed_and_said(void **state)
{
    (void)state;
    AUTO_EDIT e;
    edit_init(&e, EDIT_SECRET);
    paste(&e, "  KEY with inner \n");
    assert_string_equal(e.s, "KEY with inner");
    says(&e, "removed 4 blanks around the pasted text");
    /* The blanks may have been meant. */
    assert_true(edit_untrim(&e));
    assert_string_equal(e.s, "  KEY with inner ");
    assert_int_equal(e.at, e.len);
    assert_false(edit_untrim(&e));
    edit_set(&e, "ab");
    press(&e, "Left");
    paste(&e, " X ");
    assert_string_equal(e.s, "aXb");
    press(&e, "y");
    assert_false(edit_untrim(&e));
}

static void secret_of_one_line_refuses_lines(void **state)
{
    (void)state;
    AUTO_EDIT e;
    edit_init(&e, EDIT_SECRET);
    edit_set(&e, "kept");
    paste(&e, "two\nlines\n");
    assert_string_equal(e.s, "kept");
    says(&e, "not pasted: it has a line break inside, a secret here is one line");
}

static void pem_keeps_its_lines(void **state)
{
    (void)state;
    AUTO_EDIT e;
    AUTO_CANVAS c = CANVAS_INIT;
    edit_init(&e, EDIT_PEM);
    paste(&e, "\n-----BEGIN KEY-----\nMII=\n-----END KEY-----\n");
    assert_string_equal(e.s, "-----BEGIN KEY-----\nMII=\n-----END KEY-----");
    canvas_resize(&c, 1, 60);
    e.reveal = true;
    edit_draw(&e, &c, canvas_rect(&c), &(struct edit_look){.focused = true});
    AUTO_TEXT t = TEXT_INIT;
    canvas_dump(&c, &t);
    assert_string_equal(t.s, "-----BEGIN KEY-----↵MII=↵-----END KEY-----\n");
}

static void has_a_limit(void **state)
{
    (void)state;
    AUTO_EDIT e;
    AUTO_TEXT big = TEXT_INIT;
    for (int i = 0; i < EDIT_MAX; i++)
        text_addc(&big, 'x');
    text_add(&big, "yz");
    edit_init(&e, EDIT_TEXT);
    paste(&e, big.s);
    assert_int_equal(e.len, EDIT_MAX);
    says(&e, "too long, cut at 64 KiB");
    assert_int_equal(press(&e, "a") & UI_CHANGED, 0);
    press(&e, "Backspace");
    edit_insert(&e, "é", 2);
    assert_int_equal(e.len, EDIT_MAX - 1);
    paste(&e, "a\nb");
    assert_int_equal(e.len, EDIT_MAX);
}

/* ---- drawing ---- */

static void draws(struct edit *e, int cols, const struct edit_look *look, const char *expected,
                  int cursor)
{
    AUTO_CANVAS c = CANVAS_INIT;
    AUTO_TEXT t = TEXT_INIT;
    canvas_resize(&c, 1, cols);
    edit_draw(e, &c, canvas_rect(&c), look);
    canvas_dump(&c, &t);
    assert_int_equal(t.s[t.len - 1], '\n');
    t.s[t.len - 1] = '\0';
    assert_string_equal(t.s, expected);
    assert_int_equal(c.cursor_col, cursor);
}

static const struct edit_look focused = {.focused = true, .placeholder = "name"};
static const struct edit_look idle = {.placeholder = "name"};

static void scrolls_with_the_cursor(void **state)
{
    (void)state;
    AUTO_EDIT e;
    edit_init(&e, EDIT_TEXT);
    draws(&e, 8, &focused, "name", 0);
    draws(&e, 8, &idle, "name", -1);
    edit_set(&e, "abcdefg");
    draws(&e, 8, &focused, "abcdefg", 7);
    edit_set(&e, "abcdefgh");
    draws(&e, 8, &focused, "…cdefgh", 7);
    press(&e, "Home");
    draws(&e, 8, &focused, "abcdefgh", 0);
    edit_set(&e, "abcdefghijklmnop");
    draws(&e, 8, &focused, "…klmnop", 7);
    press(&e, "Left Left Left Left Left Left");
    draws(&e, 8, &focused, "…jklmnop", 2);
    press(&e, "Left Left");
    draws(&e, 8, &focused, "…hijklm…", 2);
    press(&e, "Home");
    draws(&e, 8, &focused, "abcdefg…", 0);
    draws(&e, 8, &idle, "abcdefg…", -1);
    press(&e, "End");
    draws(&e, 1, &focused, "", 0);
    draws(&e, 0, &focused, "", -1);
}

static void wide_text_keeps_columns(void **state)
{
    (void)state;
    AUTO_EDIT e;
    edit_init(&e, EDIT_TEXT);
    edit_set(&e, "é作😀e\xCC\x81");
    draws(&e, 10, &focused, "é作😀e\xCC\x81", 6);
    press(&e, "Left Left");
    draws(&e, 10, &focused, "é作😀e\xCC\x81", 3);
    edit_set(&e, "作作作作作作");
    draws(&e, 7, &focused, "… 作作", 6);
}

static char *last_two(const char *s, size_t n)
{
    return xasprintf("••%s", s + n - 2);
}

static void secrets_are_dots(void **state)
{
    (void)state;
    AUTO_EDIT e;
    edit_init(&e, EDIT_SECRET);
    edit_set(&e, "hunter 2é");
    draws(&e, 20, &focused, "•••••••••", 9);
    draws(&e, 20, &idle, "••••••••", -1);
    draws(&e, 20, &(struct edit_look){.mask = last_two}, "••\xC3\xA9", -1);
    /* Words of a hidden secret do not show in how the cursor moves. */
    press(&e, "Ctrl-Left");
    assert_int_equal(e.at, 0);
    press(&e, "End");
    assert_int_equal(press(&e, "Ctrl-R"), UI_HANDLED | UI_REDRAW);
    draws(&e, 20, &focused, "hunter 2é", 9);
    press(&e, "Ctrl-R");
    press(&e, "Ctrl-W");
    assert_string_equal(e.s, "");
}

/* Any keys and pastes: the cursor stays between clusters, the text valid, the drawing inside. */
static void survives_anything(void **state)
{
    (void)state;
    static const char *const pieces[] = {"a", "作", "\xCC\x81", "😀", "‍", "🇩", " ", "\n", "x y"};
    static const char *const keys[] = {"Left",   "Right",  "Home",       "End",    "Backspace",
                                       "Delete", "Ctrl-W", "Ctrl-Right", "Ctrl-K", "Ctrl-Left"};
    srand(11);
    AUTO_CANVAS c = CANVAS_INIT;
    AUTO_EDIT e;
    edit_init(&e, EDIT_TEXT);
    for (int round = 0; round < 20000; round++) {
        int n = rand() % 20;
        if (n < 9)
            paste(&e, pieces[n]);
        else
            press(&e, keys[n % 10]);
        assert_true(e.at <= e.len);
        assert_true(utf8_valid(e.s, e.len));
        size_t i = 0;
        while (i < e.at)
            i += utf8_cluster(e.s + i, e.len - i, NULL);
        assert_int_equal(i, e.at);
        canvas_resize(&c, 1, rand() % 12);
        edit_draw(&e, &c, canvas_rect(&c), &focused);
        if (c.cols > 0)
            assert_in_range(c.cursor_col, 0, c.cols - 1);
        if (e.len > 200)
            edit_set(&e, NULL);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations),
        cmocka_unit_test(says_what_a_key_did),
        cmocka_unit_test(typed_mark_joins_its_base),
        cmocka_unit_test(pasted_text),
        cmocka_unit_test(pasted_secret_is_trimmed_and_said),
        cmocka_unit_test(secret_of_one_line_refuses_lines),
        cmocka_unit_test(pem_keeps_its_lines),
        cmocka_unit_test(has_a_limit),
        cmocka_unit_test(scrolls_with_the_cursor),
        cmocka_unit_test(wide_text_keeps_columns),
        cmocka_unit_test(secrets_are_dots),
        cmocka_unit_test(survives_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
