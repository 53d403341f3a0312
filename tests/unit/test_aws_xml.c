/* XML answers: what AWS sends, and what only an attacker or a portal sends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "aws/xml.h"
#include "core/mem.h"
#include "core/text.h"

static struct xml_node *parsed(const char *s)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct xml_node *n = xml_parse(s, strlen(s), "the answer", &err);
    if (n == NULL)
        fail_msg("%s: %s", err.what, err.why);
    return n;
}

static void expect_refused(const char *s, size_t n, const char *why)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_null(xml_parse(s, n, "the answer", &err));
    assert_int_equal(err.kind, PROBLEM_PROTOCOL);
    assert_string_equal(err.what, "the answer is not the XML it should be");
    if (why != NULL && strstr(err.why, why) == NULL)
        fail_msg("no \"%s\" in: %s", why, err.why);
    assert_null(xml_parse(s, n, "the answer", NULL));
}

static void finds_by_path(void **state)
{
    (void)state;
    struct xml_node *n = parsed("<?xml version=\"1.0\"?>\n"
                                "<GetRoleResponse xmlns=\"https://iam.amazonaws.com/doc/\">\n"
                                "  <GetRoleResult><Role><Arn>arn:aws:iam::1:role/a</Arn><Path/>\n"
                                "  <Tags><member><Key>a</Key></member><member><Key>b</Key></member>"
                                "</Tags></Role></GetRoleResult></GetRoleResponse>");
    assert_string_equal(n->name, "GetRoleResponse");
    assert_string_equal(xml_text(n, "GetRoleResult/Role/Arn"), "arn:aws:iam::1:role/a");
    assert_string_equal(xml_text(n, "GetRoleResult/Role/Path"), "");
    assert_string_equal(xml_text(xml_find(n, "GetRoleResult/Role"), "Tags/member/Key"), "a");
    assert_int_equal(xml_find(n, "GetRoleResult/Role/Tags")->count, 2);
    assert_null(xml_text(n, "GetRoleResult/Role/Ar"));
    assert_null(xml_text(n, "GetRoleResult/Role/Arnn"));
    assert_null(xml_text(n, "GetRoleResult/Role/Arn/More"));
    assert_ptr_equal(xml_find(n, ""), n);
    assert_null(xml_find(NULL, "a"));
    assert_null(xml_text(NULL, ""));
    xml_free(n);
    xml_free(NULL);
}

static void text_is_put_together(void **state)
{
    (void)state;
    struct xml_node *n =
        parsed("<a>one &amp; <b>two</b> three&#x21;<![CDATA[<&>]]><!-- no --></a>");
    assert_string_equal(n->text, "one &  three!<&>");
    assert_string_equal(xml_text(n, "b"), "two");
    xml_free(n);
    n = parsed("<s:a xmlns:s=\"x\"><s:b>c</s:b></s:a>");
    assert_string_equal(n->name, "a");
    assert_string_equal(xml_text(n, "b"), "c");
    xml_free(n);
}

static void is_no_xml(void **state)
{
    (void)state;
    static const char *const rows[] = {"",
                                       " ",
                                       "hello",
                                       "{\"a\":1}",
                                       "<a>",
                                       "<a></b>",
                                       "</a>",
                                       "<a/><b/>",
                                       "<a b=c/>",
                                       "<a>&nbsp;</a>",
                                       "<a>&x;</a>",
                                       "<a>\x01</a>",
                                       "<a>\xff\xfe</a>",
                                       "<a>&#0;</a>",
                                       "<?xml version=\"1.0\" encoding=\"x-none\"?><a",
                                       "<a:b xmlns:a=''>"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_refused(rows[i], strlen(rows[i]), NULL);
    expect_refused("<a>\0</a>", 8, NULL);
}

static void cut_anywhere_it_is_no_xml(void **state)
{
    (void)state;
    const char *whole = "<a><b x=\"1\">t&amp;</b><c/></a>";
    for (size_t n = 0; n < strlen(whole); n++)
        expect_refused(whole, n, NULL);
}

/* "Billion laughs", files and URLs as entities: refused at the document type, before any of it. */
static void document_types_are_refused(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "<!DOCTYPE html><html><body/></html>", "<!DOCTYPE x [<!ENTITY a \"x\">]><x>&a;</x>",
        "<!DOCTYPE x [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><x>&a;</x>",
        "<!DOCTYPE x SYSTEM \"http://127.0.0.1/x.dtd\"><x/>",
        "<!DOCTYPE x [<!ENTITY % p SYSTEM \"http://127.0.0.1/\"> %p;]><x/>"};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_refused(rows[i], strlen(rows[i]), "it has a document type");
    AUTO_TEXT bomb = TEXT_INIT;
    text_add(&bomb, "<!DOCTYPE x [<!ENTITY l0 \"lol\">");
    for (int i = 1; i < 30; i++)
        text_addf(&bomb, "<!ENTITY l%d \"&l%d;&l%d;&l%d;\">", i, i - 1, i - 1, i - 1);
    text_add(&bomb, "]><x>&l29;</x>");
    expect_refused(bomb.s, bomb.len, "it has a document type");
}

static void depth_is_bounded(void **state)
{
    (void)state;
    for (int depth = 62; depth <= 67; depth++) {
        AUTO_TEXT t = TEXT_INIT;
        for (int i = 0; i < depth; i++)
            text_add(&t, "<a>t");
        for (int i = 0; i < depth; i++)
            text_add(&t, "</a>");
        if (depth > 64)
            expect_refused(t.s, t.len, "nested too deep");
        else
            xml_free(parsed(t.s));
    }
    AUTO_TEXT empty = TEXT_INIT;
    for (int i = 0; i < 64; i++)
        text_add(&empty, "<a>");
    text_add(&empty, "<a/><a/>");
    expect_refused(empty.s, empty.len, "nested too deep");
}

static void size_is_bounded(void **state)
{
    (void)state;
    AUTO_TEXT many = TEXT_INIT;
    text_add(&many, "<a>");
    for (int i = 0; i < 200001; i++)
        text_add(&many, "<b/>");
    text_add(&many, "</a>");
    expect_refused(many.s, many.len, "too many elements");
    size_t n = ((size_t)16 << 20) + 1;
    char *large = xmalloc(n);
    memset(large, ' ', n);
    expect_refused(large, n, "it is too long");
    xfree(large);
}

static void bytes_of_any_kind_end(void **state)
{
    (void)state;
    static const char alphabet[] = "<>/ab&;#x!\"= []?-DOCTYPE\xc3\xa4\x80";
    unsigned seed = 7;
    for (int round = 0; round < 20000; round++) {
        char bytes[48];
        size_t n = (size_t)rand_r(&seed) % sizeof(bytes);
        for (size_t i = 0; i < n; i++)
            bytes[i] = alphabet[(size_t)rand_r(&seed) % (sizeof(alphabet) - 1)];
        xml_free(xml_parse(bytes, n, "noise", NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_by_path),
        cmocka_unit_test(text_is_put_together),
        cmocka_unit_test(is_no_xml),
        cmocka_unit_test(cut_anywhere_it_is_no_xml),
        cmocka_unit_test(document_types_are_refused),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(size_is_bounded),
        cmocka_unit_test(bytes_of_any_kind_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
