/* Keys and their decoding: names, pastes, and sequences that a slow line tears apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/text.h"
#include "ui/decode.h"
#include "ui/key.h"
#include "ui/osc.h"
#include "ui/sequence.h"

#define AUTO_DECODE __attribute__((cleanup(decode_release))) struct decode

static void every_name_reads_back(void **state)
{
    (void)state;
    for (int code = K_NONE; code < K_COUNT; code++) {
        struct key k = key_of((enum key_code)code), read;
        if (code == K_TEXT)
            continue;
        assert_non_null(key_label(&k));
        if (code >= K_ENTER) {
            assert_string_not_equal(key_label(&k), "");
            assert_true(key_parse(key_label(&k), &read));
            assert_int_equal(read.code, code);
        }
    }
    assert_string_equal(key_label(&(struct key){.code = K_CTRL('Y')}), "Ctrl-Y");
    assert_string_equal(key_label(&(struct key){.code = K_F(12)}), "F12");
}

static void text_keys(void **state)
{
    (void)state;
    struct key k;
    static const char *const good[] = {"a", "/", "é", "作", "😀", "Space"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(key_parse(good[i], &k));
        assert_int_equal(k.code, K_TEXT);
        assert_string_equal(key_label(&k), good[i]);
    }
    assert_true(key_is(&k, " "));
    static const char *const bad[] = {"", "ab", "Enterx", "éa", "\033", "\xFF"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(key_parse(bad[i], &k));
    k = key_char(0x1F600);
    assert_string_equal(k.text, "😀");
    assert_int_equal(key_char(0xE9).text[1], (char)0xA9);
    assert_int_equal(key_char(0x85).code, K_NONE);
    assert_int_equal(key_char(0xD800).code, K_NONE);
    assert_int_equal(key_char(0x110000).code, K_NONE);
    assert_int_equal(key_char(7).code, K_NONE);
}

/* Types s, 1 ms a character, and writes the labels of all events into out, a blank between them. */
static void type(struct decode *d, int64_t *now, const char *s, struct text *out)
{
    struct key k;
    for (; *s != '\0'; s++) {
        decode_char(d, (unsigned char)*s, (*now)++);
        while (decode_next(d, &k)) {
            text_sep(out, " ");
            text_add(out, k.code == K_PASTE ? k.paste : key_label(&k));
            key_release(&k);
        }
    }
}

static void rest(struct decode *d, int64_t *now, int ms, struct text *out)
{
    struct key k;
    *now += ms;
    decode_idle(d, *now);
    while (decode_next(d, &k)) {
        text_sep(out, " ");
        text_add(out, k.code == K_PASTE ? k.paste : key_label(&k));
        key_release(&k);
    }
}

static void plain_typing(void **state)
{
    (void)state;
    AUTO_DECODE d = DECODE_INIT;
    AUTO_TEXT out = TEXT_INIT;
    int64_t now = 5000;
    type(&d, &now, "a\r\n\t\x7F\x08\x03\x19 [O", &out);
    assert_string_equal(out.s, "a Enter Enter Tab Backspace Backspace Ctrl-C Ctrl-Y Space [ O");
}

static void torn_sequences_do_not_act(void **state)
{
    (void)state;
    static const struct {
        const char *first;
        int gap;
        const char *then;
        const char *expected;
    } rows[] = {
        {"\033", 0, "", "Esc"},          {"\033", 60, "[A", "Esc"}, /* Up, torn on a slow line */
        {"\033", 60, "OAx", "Esc x"},                               /* the other cursor key mode */
        {"\033", 60, "[1;5Cx", "Esc x"}, {"\033[", 60, "Ax", "x"},
        {"\033", 500, "[A", "Esc [ A"}, /* typed by a person */
        {"\033[99~x", 0, "", "x"},      /* a key nobody knows is not Esc */
        {"\033q", 0, "", "Esc q"},       {"\033\033", 0, "", "Esc Esc"},
        {"\033\033[A", 0, "", "Esc"},    {"\033[\r", 0, "", "Enter"}, /* no sequence after all */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO_DECODE d = DECODE_INIT;
        AUTO_TEXT out = TEXT_INIT;
        int64_t now = 5000;
        type(&d, &now, rows[i].first, &out);
        rest(&d, &now, 0, &out);
        now += rows[i].gap;
        type(&d, &now, rows[i].then, &out);
        rest(&d, &now, 0, &out);
        assert_string_equal(out.s, rows[i].expected);
    }
}

static void paste_is_one_event(void **state)
{
    (void)state;
    AUTO_DECODE d = DECODE_INIT;
    AUTO_TEXT out = TEXT_INIT;
    int64_t now = 5000;
    decode_paste_begin(&d, now);
    type(&d, &now, "one\r\ntwo\rthree\n\nq\033", &out);
    decode_key(&d, K_UP, now);
    decode_char(&d, 0x4F5C, now);
    assert_string_equal(out.s, "");
    assert_int_equal(decode_timeout(&d, now), DECODE_PASTE_MS);
    struct key k;
    decode_paste_end(&d, now);
    assert_true(decode_next(&d, &k));
    assert_int_equal(k.code, K_PASTE);
    assert_string_equal(k.paste, "one\ntwo\nthree\n\nq\033作");
    assert_int_equal(k.paste_len, strlen(k.paste));
    assert_false(k.paste_cut);
    key_release(&k);
    type(&d, &now, "x", &out);
    assert_string_equal(out.s, "x");
    assert_int_equal(decode_timeout(&d, now), -1);
}

static void paste_has_a_limit(void **state)
{
    (void)state;
    AUTO_DECODE d = DECODE_INIT;
    decode_paste_begin(&d, 0);
    for (int i = 0; i < KEY_PASTE_MAX - 1; i++)
        decode_char(&d, 'x', 0);
    decode_char(&d, 0xE9, 0); /* does not fit any more */
    decode_char(&d, 'y', 0);  /* would fit, but after a gap */
    decode_paste_end(&d, 0);
    AUTO_KEY k = KEY_INIT;
    assert_true(decode_next(&d, &k));
    assert_true(k.paste_cut);
    assert_int_equal(k.paste_len, KEY_PASTE_MAX - 1);
}

static void torn_paste_markers(void **state)
{
    (void)state;
    AUTO_DECODE d = DECODE_INIT;
    AUTO_TEXT out = TEXT_INIT;
    int64_t now = 5000;
    type(&d, &now, "\033", &out);
    rest(&d, &now, 60, &out);
    type(&d, &now, "[200~q\r", &out);
    rest(&d, &now, 60, &out);
    type(&d, &now, "w\033[201~e", &out);
    assert_string_equal(out.s, "Esc q\nw e");
}

static void paste_without_end_ends(void **state)
{
    (void)state;
    AUTO_DECODE d = DECODE_INIT;
    AUTO_TEXT out = TEXT_INIT;
    int64_t now = 5000;
    decode_paste_begin(&d, now);
    type(&d, &now, "abc", &out);
    rest(&d, &now, DECODE_PASTE_MS - 10, &out);
    assert_string_equal(out.s, "");
    assert_in_range(decode_timeout(&d, now), 1, 20);
    rest(&d, &now, 20, &out);
    assert_string_equal(out.s, "abc");
}

static void sequences_are_distinct(void **state)
{
    (void)state;
    for (size_t i = 0; i < sequence_count(); i++) {
        const struct sequence *s = sequence_row(i);
        assert_int_equal(s->bytes[0], '\033');
        assert_true((s->kind == SEQUENCE_KEY) == (s->key != K_NONE));
        for (size_t other = 0; other < i; other++)
            assert_string_not_equal(s->bytes, sequence_row(other)->bytes);
    }
}

static void clipboard_bytes(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
        {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xFF\xFE", "//4="}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO_TEXT t = TEXT_INIT;
        AUTO_TEXT expected = TEXT_INIT;
        osc_copy(&t, rows[i][0], strlen(rows[i][0]));
        text_addf(&expected, "\033]52;c;%s\a", rows[i][1]);
        assert_string_equal(t.s, expected.s);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_reads_back),  cmocka_unit_test(text_keys),
        cmocka_unit_test(plain_typing),           cmocka_unit_test(torn_sequences_do_not_act),
        cmocka_unit_test(paste_is_one_event),     cmocka_unit_test(paste_has_a_limit),
        cmocka_unit_test(torn_paste_markers),     cmocka_unit_test(paste_without_end_ends),
        cmocka_unit_test(sequences_are_distinct), cmocka_unit_test(clipboard_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
