/* YAML: what a state file may hold comes back the same, what it must not hold is refused with the
 * line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/node.h"

static struct node *parse(const char *s)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct node *n = node_parse_yaml(s, strlen(s), "test.yaml", &err);
    if (n == NULL)
        print_error("%s\n", err.what);
    assert_non_null(n);
    assert_int_equal(err.kind, PROBLEM_NONE);
    return n;
}

static const char state_file[] =
    "# a comment, which is lost\n"
    "sluice: 1\n"
    "run: 7f3c9a\n"
    "answers:\n"
    "  oauth: {url: https://x.example/iceberg, client_secret: {secret: stored}}\n"
    "  postgres:\n"
    "    tables: [public.orders, 'public.\"Order Items\"']\n"
    "checks:\n"
    "  oauth.token: {status: passed, at: 2026-11-30T10:00:00Z, line: \"scope=catalog, life 24 "
    "h\"}\n"
    "from_the_future:\n"
    "  nested: [1, {deep: [~, true]}]\n"
    "  empty_map: {}\n"
    "  empty_list: []\n"
    "  nothing:\n";

static void reads_a_state_file(void **state)
{
    (void)state;
    AUTO(node_free) struct node *n = parse(state_file);
    assert_int_equal(node_get_number(n, "sluice", 0), 1);
    assert_string_equal(node_text(node_find(n, "answers.oauth.client_secret.secret")), "stored");
    const struct node *tables = node_find(n, "answers.postgres.tables");
    assert_int_equal(tables->count, 2);
    assert_string_equal(tables->items[1]->text, "public.\"Order Items\"");
    assert_int_equal(tables->line, 7);
    assert_null(node_text(node_find(n, "from_the_future.nothing")));
    /* a dot in a key: reached by get, not by find */
    assert_non_null(node_get(node_get(n, "checks"), "oauth.token"));
}

static void unknown_keys_survive_writing(void **state)
{
    (void)state;
    AUTO(node_free) struct node *n = parse(state_file);
    AUTO_TEXT out = TEXT_INIT;
    node_write_yaml(n, &out);
    assert_null(strstr(out.s, "comment"));
    AUTO(node_free) struct node *back = parse(out.s);
    assert_true(node_equal(n, back));
    assert_int_equal(n->count, back->count);
    for (size_t i = 0; i < n->count; i++)
        assert_string_equal(n->keys[i], back->keys[i]);
    /* what was plain stays plain: true is a truth value to other readers, "true" is not */
    assert_non_null(strstr(out.s, "deep:\n    - ~\n    - true\n"));
    assert_non_null(strstr(out.s, "sluice: 1\n"));
    assert_non_null(strstr(out.s, "empty_map: {}\n"));
    AUTO_TEXT again = TEXT_INIT;
    node_write_yaml(back, &again);
    assert_string_equal(out.s, again.s); /* stable: no changes in a diff without a change */
}

static const char *const texts[] = {
    "",
    "~",
    "null",
    "Null",
    "NULL",
    "true",
    "False",
    "yes",
    "no",
    "on",
    "OFF",
    "y",
    "N",
    "12",
    "-7",
    "+3",
    "0x1",
    "0o17",
    "017",
    "0b1",
    "1_000",
    "1.5",
    ".5",
    "-.5",
    "1e3",
    "1.2.3.4",
    ".inf",
    "-.INF",
    ".NaN",
    "12:30:45",
    "2026-11-30",
    "2026-11-30T10:00:00Z",
    "<<",
    "=",
    "7f3c9a",
    "1e",
    "-",
    "--- x",
    "---",
    "...",
    "- a",
    "? a",
    ": a",
    "a: b",
    "a #b",
    "#a",
    "&a",
    "*a",
    "!a",
    "|",
    ">",
    "%a",
    "@a",
    "`a",
    "{a",
    "a}",
    "[a",
    "a]",
    "a, b",
    "'",
    "\"",
    "it's",
    "\"quoted\"",
    " leading",
    "trailing ",
    "  ",
    "\t",
    "a\tb",
    "tab\t",
    "line\n",
    "two\nlines",
    "two\nlines\n",
    "end\n\n\n",
    "\n",
    "\n\n",
    "\nstart",
    " a\nb",
    "a \nb",
    "a\n b",
    "a\n\nb",
    "a\n\tb",
    "a\r\nb",
    "\r",
    "a\n#b\n",
    "a\n---\nb\n",
    "-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n",
    "é",
    "日本語",
    "😀",
    "two\n😀\n",
    "é\nü",
    "a\302\205b",
    "a\u2028b",
    "\uFEFF",
    "a\uFEFFb",
    "\x01\x1b\x7f",
    "C:\\dir\\n",
    "\\",
    "a\\",
    "%41",
    "null ",
    " ~",
    "k: [a, {b: c}]",
    "\xc2\x80",
    "\u200D",
    "a:",
    ":a",
    "a:b",
    "arn:aws:iam::123456789012:role/x",
    "http://x/y?z#w",
    "public.\"Order Items\"",
};

/* Each as value, as item and as key, by name and by bytes; and again when written from what was
 * read. */
static void texts_come_back_as_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        AUTO(node_free) struct node *n = node_map();
        node_set_text(n, "value", texts[i]);
        struct node *list = node_list();
        node_add(list, node_scalar(texts[i]));
        node_add(list, node_scalar("next"));
        node_set(n, "list", list);
        node_set_text(node_child_map(n, "map"), texts[i], texts[i]);
        node_set_text(n, "last", "end");
        AUTO_TEXT out = TEXT_INIT;
        node_write_yaml(n, &out);
        AUTO(node_free) struct node *back = parse(out.s);
        if (node_get_text(back, "value") == NULL || !node_equal(n, back))
            print_error("text %zu: %s", i, out.s);
        assert_non_null(node_get_text(back, "value")); /* "~" is not a null */
        assert_string_equal(node_get_text(back, "value"), texts[i]);
        assert_true(node_equal(n, back));
        AUTO_TEXT again = TEXT_INIT;
        node_write_yaml(back, &again);
        AUTO(node_free) struct node *third = parse(again.s);
        assert_true(node_equal(n, third));
    }
}

static void typed_looks_are_quoted(void **state)
{
    (void)state;
    static const char *const typed[] = {"yes", "no",  "on",  "y",    "n",    "12",         "null",
                                        "~",   "0x1", "1e3", "",     "true", "2026-11-30", "12:30",
                                        "1_0", ".5",  "<<",  ".nan", "0o7",  "+1"};
    for (size_t i = 0; i < ARRAY_LEN(typed); i++) {
        AUTO(node_free) struct node *n = node_map();
        node_set_text(n, "k", typed[i]);
        AUTO_TEXT out = TEXT_INIT;
        node_write_yaml(n, &out);
        AUTO(xfree) char *expected = xasprintf("k: \"%s\"\n", typed[i]);
        assert_string_equal(out.s, expected);
    }
    AUTO(node_free) struct node *n = node_map();
    node_set(n, "number", node_number(-12));
    node_set(n, "yes", node_bool(true));
    node_set_text(n, "plain", "db.example.com");
    node_set_text(n, "key", "A\nB\n");
    AUTO_TEXT out = TEXT_INIT;
    node_write_yaml(n, &out);
    assert_string_equal(out.s,
                        "number: -12\n\"yes\": true\nplain: db.example.com\nkey: |\n  A\n  B\n");
}

static void long_texts_stay_on_one_line(void **state)
{
    (void)state;
    AUTO_TEXT big = TEXT_INIT;
    for (int i = 0; i < 2000; i++)
        text_add(&big, "word ");
    text_add(&big, "end");
    AUTO(node_free) struct node *n = node_map();
    node_set_text(n, "k", big.s);
    node_set_text(node_child_map(n, "m"), big.s, "a key of ten thousand bytes");
    AUTO_TEXT out = TEXT_INIT;
    node_write_yaml(n, &out);
    AUTO(node_free) struct node *back = parse(out.s);
    assert_true(node_equal(n, back));
    assert_true(strchr(out.s, '\n') - out.s > 10000);
}

static void bad_utf8_is_repaired_on_writing(void **state)
{
    (void)state;
    AUTO(node_free) struct node *n = node_map();
    node_set_text(n, "k",
                  "a\xff"
                  "b");
    AUTO_TEXT out = TEXT_INIT;
    node_write_yaml(n, &out);
    AUTO(node_free) struct node *back = parse(out.s);
    assert_string_equal(node_get_text(back, "k"), "a\uFFFDb");
}

static void random_texts_come_back(void **state)
{
    (void)state;
    static const char *const parts[] = {" ",  "\n",     "a", ":",  "#", "-",  "'", "\"",
                                        "\t", "é",      "😀", "\\", "|", "\r", "{", ",",
                                        "1",  "\u2028", "!", "&",  "%", "?",  "~", "b c"};
    unsigned seed = 42;
    for (int round = 0; round < 2000; round++) {
        AUTO(node_free) struct node *n = node_map();
        struct node *list = node_list();
        for (int k = 0; k < 3; k++) {
            AUTO_TEXT t = TEXT_INIT;
            for (int len = rand_r(&seed) % 9; len > 0; len--)
                text_add(&t, parts[rand_r(&seed) % (int)ARRAY_LEN(parts)]);
            node_set_text(n, t.s, t.s);
            node_add(list, node_scalar(t.s));
        }
        node_set(n, "list", list);
        AUTO_TEXT out = TEXT_INIT;
        node_write_yaml(n, &out);
        AUTO(node_free) struct node *back = parse(out.s);
        if (!node_equal(n, back))
            print_error("%s\n", out.s);
        assert_true(node_equal(n, back));
    }
}

static const struct {
    const char *yaml;
    int line;
    const char *says;
} refused[] = {
    {"a: 1\nb: &x [1]\nc: *x\n", 2, "anchors"},
    {"a: 1\nb: *x\n", 2, "aliases"},
    {"a: 1\n<<: {b: 2}\n", 2, "merge keys"},
    {"a: !!str 12\n", 1, "tags"},
    {"a: !ruby/object:X {}\n", 1, "tags"},
    {"a: ! x\n", 1, "tags"},
    {"x:\n  a: 1\n  b: 2\n  a: 3\n", 4, "\"a\" is there twice (first in line 2)"},
    {"a: 1\n\"a\": 2\n", 2, "twice"},
    {"x: {a: 1, b: 2,\n a: 3}\n", 2, "twice"},
    {"a: 1\n\tb: 2\n", 2, "tab"},
    {"a:\n\t- b\n", 2, "tab"},
    {"a: [1\n", 2, "did not find"},
    {"a: 1\n- b\n", 2, "did not find"},
    {"a: \"x\n", 2, "end of stream"},
    {"a: b: c\n", 1, "not allowed"},
    {"- a\n- b\n", 1, "must be a map"},
    {"text\n", 1, "must be a map"},
    {"'~'\n", 1, "must be a map"},
    {"a: 1\n---\nb: 2\n", 2, "second document"},
    {"? [a]\n: b\n", 1, "cannot be a key"},
    {"? {a: b}\n: c\n", 1, "cannot be a key"},
    {"a: \"x\\0y\"\n", 1, "NUL"},
    {"a: 1\nb: \x01\n", 2, "control characters"},
    {"a: 1\nb: \xff\n", 2, "UTF-8"},
    {"\xff\xfe"
     "a\0",
     1, "UTF-8"},
    {"a: @b\n", 1, "cannot start"},
    {"%TAG ! x\n", 2, "did not find"},
};

static void each_is_refused_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        struct node *n =
            node_parse_yaml(refused[i].yaml, strlen(refused[i].yaml), "answers.yaml", &err);
        assert_null(n);
        assert_int_equal(err.kind, PROBLEM_INPUT);
        AUTO(xfree) char *start = xasprintf("answers.yaml: line %d: ", refused[i].line);
        if (strncmp(err.what, start, strlen(start)) != 0 ||
            strstr(err.what, refused[i].says) == NULL)
            print_error("row %zu: %s\n", i, err.what);
        assert_int_equal(strncmp(err.what, start, strlen(start)), 0);
        assert_non_null(strstr(err.what, refused[i].says));
        assert_non_null(err.fix);
        assert_null(node_parse_yaml(refused[i].yaml, strlen(refused[i].yaml), "x", NULL));
    }
}

static void a_quoted_merge_key_is_a_key(void **state)
{
    (void)state;
    AUTO(node_free) struct node *n = parse("'<<': 1\n");
    assert_int_equal(node_get_number(n, "<<", 0), 1);
}

static void nothing_is_an_empty_map(void **state)
{
    (void)state;
    static const char *const empty[] = {"",    "\n\n", "# only a comment\n", "---\n",
                                        "~\n", "{}\n", "\xEF\xBB\xBF"};
    for (size_t i = 0; i < ARRAY_LEN(empty); i++) {
        AUTO(node_free) struct node *n = parse(empty[i]);
        assert_int_equal(n->kind, NODE_MAP);
        assert_int_equal(n->count, 0);
    }
    AUTO(node_free)
    struct node *n = parse("\xEF\xBB\xBF"
                           "a: 1\n"); /* a BOM is no part of the key */
    assert_int_equal(node_get_number(n, "a", 0), 1);
}

static void crlf_files_are_read(void **state)
{
    (void)state;
    AUTO(node_free) struct node *n = parse("a: x\r\nb:\r\n  - y\r\n");
    assert_string_equal(node_get_text(n, "a"), "x");
    assert_string_equal(node_get(n, "b")->items[0]->text, "y");
}

static void repeat(struct text *t, const char *s, int times)
{
    for (int i = 0; i < times; i++)
        text_add(t, s);
}

static void depth_is_bounded(void **state)
{
    (void)state;
    for (int depth = 78; depth <= 81; depth++) {
        AUTO_TEXT t = TEXT_INIT;
        text_add(&t, "a: ");
        repeat(&t, "[", depth);
        repeat(&t, "]", depth);
        AUTO_PROBLEM err = PROBLEM_INIT;
        AUTO(node_free) struct node *n = node_parse_yaml(t.s, t.len, "t", &err);
        assert_int_equal(n != NULL, depth <= 79); /* the root is the first level */
        if (n == NULL)
            assert_non_null(strstr(err.what, "80 levels"));
    }
}

static void bombs_end_early(void **state)
{
    (void)state;
    int64_t from = clock_ms();
    static const char *const units[] = {"[",   "{a: ", "- ",   "? ",  "a:\n ",
                                        "&a ", "!a ",  "\"\n", "[a, "};
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        AUTO_TEXT t = TEXT_INIT;
        text_add(&t, "x: ");
        repeat(&t, units[i], 100000);
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_null(node_parse_yaml(t.s, t.len, "t", &err));
        assert_int_equal(err.kind, PROBLEM_INPUT);
    }
    AUTO_TEXT laughs = TEXT_INIT;
    text_add(&laughs, "a: &a [x, x, x, x, x, x, x, x, x]\n");
    for (char c = 'b'; c <= 'i'; c++)
        text_addf(&laughs, "%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c]\n", c, c, c - 1, c - 1, c - 1,
                  c - 1, c - 1, c - 1);
    assert_null(node_parse_yaml(laughs.s, laughs.len, "t", NULL));
    assert_in_range(clock_ms() - from, 0, 20000);
}

static void the_number_of_values_is_bounded(void **state)
{
    (void)state;
    AUTO_TEXT t = TEXT_INIT;
    text_add(&t, "a: [");
    repeat(&t, "1,", 1000001);
    text_add(&t, "]");
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_null(node_parse_yaml(t.s, t.len, "t", &err));
    assert_non_null(strstr(err.what, "million"));
}

static void many_keys_take_no_quadratic_time(void **state)
{
    (void)state;
    AUTO_TEXT t = TEXT_INIT;
    for (int i = 0; i < 200000; i++)
        text_addf(&t, "key%d: %d\n", i, i);
    int64_t from = clock_ms();
    AUTO(node_free) struct node *n = parse(t.s);
    assert_int_equal(n->count, 200000);
    assert_in_range(clock_ms() - from, 0, 20000);
    text_add(&t, "key77: 0\n");
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_null(node_parse_yaml(t.s, t.len, "t", &err));
    assert_non_null(
        strstr(err.what, "line 200001: the key \"key77\" is there twice (first in line 78)"));
}

/* A file cut at any byte is refused or gives a map; it never crashes. */
static void truncation_at_every_byte(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof state_file; n++) {
        char *cut = xmalloc(n + 1); /* exactly n bytes, for the address sanitizer */
        memcpy(cut, state_file, n);
        AUTO_PROBLEM err = PROBLEM_INIT;
        AUTO(node_free) struct node *tree = node_parse_yaml(cut, n, "t", &err);
        assert_true((tree == NULL) == (err.kind == PROBLEM_INPUT));
        xfree(cut);
    }
}

static void hostile_keys_are_cleaned_in_messages(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    const char *yaml = "\"\\e[2J\": 1\n\"\\e[2J\": 2\n";
    assert_null(node_parse_yaml(yaml, strlen(yaml), "t", &err));
    assert_non_null(strstr(err.what, "\"^[[2J\" is there twice"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_state_file),
        cmocka_unit_test(unknown_keys_survive_writing),
        cmocka_unit_test(texts_come_back_as_texts),
        cmocka_unit_test(typed_looks_are_quoted),
        cmocka_unit_test(long_texts_stay_on_one_line),
        cmocka_unit_test(bad_utf8_is_repaired_on_writing),
        cmocka_unit_test(random_texts_come_back),
        cmocka_unit_test(each_is_refused_with_its_line),
        cmocka_unit_test(a_quoted_merge_key_is_a_key),
        cmocka_unit_test(nothing_is_an_empty_map),
        cmocka_unit_test(crlf_files_are_read),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(bombs_end_early),
        cmocka_unit_test(the_number_of_values_is_bounded),
        cmocka_unit_test(many_keys_take_no_quadratic_time),
        cmocka_unit_test(truncation_at_every_byte),
        cmocka_unit_test(hostile_keys_are_cleaned_in_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
