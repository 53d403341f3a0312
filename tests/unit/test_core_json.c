/* JSON: what RFC 8259 refuses and what cJSON would spoil never reaches cJSON. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/clock.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/utf8.h"

#define AUTO_JSON __attribute__((cleanup(cJSON_Delete_auto))) cJSON

static cJSON *parse(const char *s)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    /* exactly the bytes, without NUL, so that the address sanitizer sees a read behind them */
    size_t n = strlen(s);
    char *copy = xmalloc(n + (n == 0));
    memcpy(copy, s, n);
    cJSON *root = json_parse(copy, n, "the answer", &err);
    xfree(copy);
    if (root == NULL)
        print_error("%s: %s\n", s, err.what);
    assert_non_null(root);
    return root;
}

static void accepts_what_is_json(void **state)
{
    (void)state;
    static const char *const good[] = {
        "{}",
        "[]",
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1.5e+3",
        "\"\"",
        " \t\r\n[ ] \n",
        "{\"a\":{\"a\":1}}",
        "[1,[2,[3,{}]]]",
        "\"\\u00e9\\ud83d\\ude00\\/\\b\\f\\n\\r\\t\\\\\\\"\"",
        "\"é😀\x7f\"",
        "{\"\":0}",
        "[0.1, 1E9, -12.50e-2]",
    };
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        AUTO_JSON *root = parse(good[i]);
        assert_non_null(root);
    }
    AUTO_JSON *root = parse("{\"A\":\"x\",\"a\":\"y\",\"n\":12,\"z\":null}");
    assert_string_equal(json_text(root, "a"), "y");
    assert_string_equal(json_text(root, "A"), "x");
    assert_null(json_text(root, "n"));
    assert_null(json_text(root, "missing"));
    assert_true(json_number(root, "n", 0) == 12);
    assert_true(json_number(root, "a", -1) == -1);
    assert_true(json_number(NULL, "a", -1) == -1);
    assert_true(cJSON_IsNull(json_member(root, "z")));
    AUTO_JSON *list = parse("[1]");
    assert_null(json_member(list, "a"));
    assert_null(json_member(NULL, "a"));
}

static const struct {
    const char *json;
    const char *says;
} refused[] = {
    {"", "ends too early"},
    {"  ", "ends too early"},
    {"{} x", "follows after its end"},
    {"{}{}", "follows after its end"},
    {"1 2", "follows after its end"},
    {"[1,]", "does not know"},
    {"[,1]", "does not know"},
    {"[1 2]", "no comma"},
    {"[1", "ends too early"},
    {"[", "ends too early"},
    {"{\"a\":1,}", "key without quotes"},
    {"{a:1}", "key without quotes"},
    {"{'a':1}", "key without quotes"},
    {"{\"a\" 1}", "no colon"},
    {"{\"a\":}", "does not know"},
    {"{\"a\":1", "ends too early"},
    {"{", "ends inside an object"},
    {"{1:2}", "key without quotes"},
    {"[}", "does not know"},
    {"{\"a\":[1}", "no comma"},
    {"]", "does not know"},
    {"nul", "does not know"},
    {"True", "does not know"},
    {"NaN", "does not know"},
    {"-Infinity", "does not know"},
    {"01", "leading zeros"},
    {"-01", "leading zeros"},
    {"1.", "ends in its point"},
    {".5", "does not know"},
    {"+1", "does not know"},
    {"1e", "exponent"},
    {"1e+", "exponent"},
    {"-", "does not know"},
    {"0x10", "follows"},
    {"\"a", "ends inside a string"},
    {"\"a\\", "unknown escape"},
    {"\"\\x41\"", "unknown escape"},
    {"\"\\u12g4\"", "four hexadecimal"},
    {"\"\\u12", "four hexadecimal"},
    {"\"\\u0000\"", "NUL"},
    {"{\"a\\u0000b\":1}", "NUL"},
    {"\"\\ud800\"", "surrogate"},
    {"\"\\ud800\\n\"", "surrogate"},
    {"\"\\ud800\\u0041\"", "surrogate"},
    {"\"\\udc00\"", "surrogate"},
    {"\"a\nb\"", "control character"},
    {"\"a\tb\"", "control character"},
    {"\"\x1f\"", "control character"},
    {"\"\xff\"", "not UTF-8"},
    {"\"\xc0\xaf\"", "not UTF-8"},
    {"\"\xed\xa0\x80\"", "not UTF-8"},
    {"\"\xe2\x82\"", "not UTF-8"},
    {"\xEF\xBB\xBF{}", "does not know"},
    {"// c\n{}", "does not know"},
    {"[1] /* c */", "follows"},
    {"\x0b[]", "does not know"},
    {"[\x01"
     "1]",
     "does not know"},
    {"{\"a\":1,\"a\":2}", "\"a\" twice"},
    {"[{\"x\":{\"k\":1,\"b\":2,\"k\":3}}]", "\"k\" twice"},
    {"{\"a\":1,\"\\u0061\":2}", "\"a\" twice"},
    {"<html><body>Sign in</body></html>", "does not know"},
};

static void refuses_what_is_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        size_t n = strlen(refused[i].json);
        char *copy = xmalloc(n + (n == 0));
        memcpy(copy, refused[i].json, n);
        cJSON *root = json_parse(copy, n, "the token answer", &err);
        assert_null(root);
        assert_null(json_parse(copy, n, "x", NULL));
        xfree(copy);
        assert_int_equal(err.kind, PROBLEM_PROTOCOL);
        assert_string_equal(err.code, "json");
        if (strstr(err.what, refused[i].says) == NULL)
            print_error("row %zu: %s\n", i, err.what);
        assert_ptr_equal(strstr(err.what, "the token answer "), err.what);
        assert_non_null(strstr(err.what, refused[i].says));
    }
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_null(json_parse("[1,\0]", 5, "x", &err)); /* a NUL byte is no end */
    assert_null(json_parse("{}\0", 3, "x", &err));
    assert_null(json_parse("\"a\0b\"", 5, "x", &err));
}

static void says_where_and_shows_only_what_is_no_json(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    const char *token = "{\n \"access_token\": \"a-new-token\",\n bad}";
    assert_null(json_parse(token, strlen(token), "x", &err));
    assert_non_null(strstr(err.what, "line 3, byte 36"));
    assert_null(err.evidence); /* no redactor knows this token yet */
    const char *page = "\n<html>\x1b[2J<title>Sign in</title>";
    assert_null(json_parse(page, strlen(page), "x", &err));
    assert_non_null(strstr(err.evidence, "<html>^[[2J<title>Sign in"));
}

static void inexact_numbers_become_texts(void **state)
{
    (void)state;
    static const struct {
        const char *number;
        bool exact;
    } rows[] = {
        {"9007199254740992", true},
        {"9007199254740993", false},
        {"-9007199254740993", false},
        {"1000000000000001", true},
        {"18446744073709551615", false},
        {"1e999", false},
        {"-1e999", false},
        {"1e-999", false},
        {"0e999", true},
        {"0.1", true},
        {"123456789012.345", true},
        {"0.1234567890123456", false},
        {"1e22", true},
        {"1e308", false},
        {"12345678901234567890.5", false},
        {"0.00000000000000000000000000000000000000000000001", false},
        {"1e99999999999999999999", false},
        {"-0.0", true},
        {"100000000000000000000000000000000000000000000000000000000000000000000000000", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(xfree)
        char *in = xasprintf("{\"before\":\"x\", \"n\": %s , \"list\":[%s,7]}", rows[i].number,
                             rows[i].number);
        AUTO_JSON *root = parse(in);
        const cJSON *n = json_member(root, "n"),
                    *first = cJSON_GetArrayItem(json_member(root, "list"), 0);
        if (rows[i].exact != (bool)cJSON_IsNumber(n))
            print_error("%s\n", rows[i].number);
        assert_int_equal(cJSON_IsNumber(n), rows[i].exact);
        assert_int_equal(cJSON_IsNumber(first), rows[i].exact);
        if (rows[i].exact)
            assert_true(n->valuedouble == strtod(rows[i].number, NULL));
        else
            assert_string_equal(n->valuestring, rows[i].number);
        assert_int_equal(cJSON_GetArrayItem(json_member(root, "list"), 1)->valueint, 7);
        assert_string_equal(json_text(root, "before"), "x");
    }
    AUTO_JSON *lone = parse("123456789012345678901");
    assert_string_equal(lone->valuestring, "123456789012345678901");
}

static void fill(struct text *t, const char *s, int times)
{
    for (int i = 0; i < times; i++)
        text_add(t, s);
}

static void depth_is_bounded(void **state)
{
    (void)state;
    AUTO_TEXT ok = TEXT_INIT;
    fill(&ok, "[", 64);
    fill(&ok, "]", 64);
    AUTO_JSON *root = json_parse(ok.s, ok.len, "x", NULL);
    assert_non_null(root);
    static const char *const units[] = {"[", "{\"a\":"};
    static const int depths[] = {65, 100000};
    for (size_t i = 0; i < 4; i++) {
        AUTO_TEXT t = TEXT_INIT;
        AUTO_PROBLEM err = PROBLEM_INIT;
        fill(&t, units[i & 1], depths[i >> 1]);
        assert_null(json_parse(t.s, t.len, "x", &err));
        assert_non_null(strstr(err.what, "64 levels"));
    }
}

static void size_and_count_are_bounded(void **state)
{
    (void)state;
    AUTO_TEXT t = TEXT_INIT;
    AUTO_PROBLEM err = PROBLEM_INIT;
    text_add(&t, "[");
    fill(&t, "1,", 1000001);
    text_add(&t, "1]");
    assert_null(json_parse(t.s, t.len, "x", &err));
    assert_non_null(strstr(err.what, "million"));
    assert_null(json_parse("[", ((size_t)16 << 20) + 1, "x", &err)); /* not even looked at */
    assert_non_null(strstr(err.what, "16 MiB"));
}

static void many_keys_take_no_quadratic_time(void **state)
{
    (void)state;
    AUTO_TEXT t = TEXT_INIT;
    text_add(&t, "{");
    for (int i = 0; i < 200000; i++)
        text_addf(&t, "\"k%d\":0,", i);
    text_add(&t, "\"k77\":1}");
    int64_t from = clock_ms();
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_null(json_parse(t.s, t.len, "x", &err));
    assert_non_null(strstr(err.what, "\"k77\" twice"));
    assert_in_range(clock_ms() - from, 0, 10000);
}

static void truncation_at_every_byte(void **state)
{
    (void)state;
    static const char whole[] =
        "{\"a\":[1,-2.5e3,\"\\u00e9\\ud83d\\ude00é\",true,null,12345678901234567890],\"b\":{}}";
    for (size_t n = 0; n < sizeof whole - 1; n++) {
        char *cut = xmalloc(n + (n == 0));
        memcpy(cut, whole, n);
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_null(json_parse(cut, n, "x", &err));
        assert_int_equal(err.kind, PROBLEM_PROTOCOL);
        xfree(cut);
    }
    AUTO_JSON *root = parse(whole);
    assert_non_null(root);
}

/* Any byte in any place: refused or a tree, and never a surprise of cJSON (which would end the
 * process). */
static void mutation_of_every_byte(void **state)
{
    (void)state;
    static const char whole[] = "{\"a\":[1,-2.5e3,\"\\u00e9é\",true],\"b\":{\"c\":null}}";
    for (size_t at = 0; at < sizeof whole - 1; at++) {
        for (int byte = 0; byte < 256; byte++) {
            char copy[sizeof whole];
            memcpy(copy, whole, sizeof whole);
            copy[at] = (char)byte;
            cJSON *root = json_parse(copy, sizeof whole - 1, "x", NULL);
            cJSON_Delete(root);
        }
    }
}

static void writer_places_commas(void **state)
{
    (void)state;
    AUTO_TEXT out = TEXT_INIT;
    struct json_writer w = {.out = &out};
    json_begin(&w, '{');
    json_pair_text(&w, "a", "x");
    json_pair_number(&w, "n", INT64_MIN);
    json_pair_bool(&w, "t", true);
    json_pair_text(&w, "none", NULL);
    json_key(&w, "list");
    json_begin(&w, '[');
    json_add_number(&w, 1000000000000000);
    json_begin(&w, '[');
    json_end(&w, ']');
    json_begin(&w, '{');
    json_end(&w, '}');
    json_add_null(&w);
    json_add_bool(&w, false);
    json_end(&w, ']');
    json_pair_text(&w, "z", "");
    json_end(&w, '}');
    assert_string_equal(out.s, "{\"a\":\"x\",\"n\":-9223372036854775808,\"t\":true,\"none\":null,"
                               "\"list\":[1000000000000000,[],{},null,false],\"z\":\"\"}");
}

static void writer_escapes(void **state)
{
    (void)state;
    AUTO_TEXT out = TEXT_INIT;
    struct json_writer w = {.out = &out};
    json_begin(&w, '{');
    json_pair_text(&w, "k\"\\\n", "\b\f\n\r\t\x01\x1f/é😀\x7f\"\\");
    json_pair_text(&w, "bad", "a\xff\xc3");
    json_end(&w, '}');
    assert_string_equal(out.s, "{\"k\\\"\\\\\\n\":\"\\b\\f\\n\\r\\t\\u0001\\u001f/"
                               "é😀\x7f\\\"\\\\\",\"bad\":\"a\uFFFD\uFFFD\"}");
    AUTO_JSON *root = parse(out.s);
    assert_string_equal(json_text(root, "k\"\\\n"), "\b\f\n\r\t\x01\x1f/é😀\x7f\"\\");
}

static void random_texts_come_back(void **state)
{
    (void)state;
    unsigned seed = 3;
    for (int round = 0; round < 2000; round++) {
        char s[24];
        size_t n = (size_t)(rand_r(&seed) % (int)sizeof s);
        for (size_t i = 0; i < n; i++)
            s[i] = (char)(1 + rand_r(&seed) % 255);
        s[n == sizeof s ? n - 1 : n] = '\0';
        AUTO_TEXT out = TEXT_INIT;
        struct json_writer w = {.out = &out};
        json_begin(&w, '{');
        json_pair_text(&w, "k", s);
        json_end(&w, '}');
        AUTO_JSON *root = parse(out.s);
        AUTO_TEXT repaired = TEXT_INIT;
        utf8_repair(&repaired, s, strlen(s));
        assert_string_equal(json_text(root, "k"), repaired.s);
    }
}

static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    static const char *const comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"};
    for (size_t i = 0; i < ARRAY_LEN(comma); i++) {
        if (setlocale(LC_ALL, comma[i]) == NULL)
            continue;
        AUTO_JSON *root = parse("{\"n\":1.5}");
        assert_true(json_number(root, "n", 0) > 1.4);
    }
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_what_is_json),
        cmocka_unit_test(refuses_what_is_not),
        cmocka_unit_test(says_where_and_shows_only_what_is_no_json),
        cmocka_unit_test(inexact_numbers_become_texts),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(size_and_count_are_bounded),
        cmocka_unit_test(many_keys_take_no_quadratic_time),
        cmocka_unit_test(truncation_at_every_byte),
        cmocka_unit_test(mutation_of_every_byte),
        cmocka_unit_test(writer_places_commas),
        cmocka_unit_test(writer_escapes),
        cmocka_unit_test(random_texts_come_back),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
