/* Tokens as operators paste them, and never a byte of them in a message. */
#include <openssl/evp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/mem.h"
#include "core/text.h"
#include "estuary/jwt.h"
#include "estuary/token.h"

static char *base64(const char *s)
{
    size_t n = strlen(s);
    unsigned char *out = xmalloc(n / 3 * 4 + 5);
    EVP_EncodeBlock(out, (const unsigned char *)s, (int)n);
    return (char *)out;
}

/* As in a JWT: the alphabet of URLs, no padding. */
static char *base64_url(const char *s)
{
    char *out = base64(s);
    for (char *p = out; *p != '\0'; p++)
        *p = *p == '+' ? '-' : *p == '/' ? '_' : *p;
    out[strcspn(out, "=")] = '\0';
    return out;
}

static char *jwt_of(const char *payload)
{
    AUTO(xfree) char *head = base64_url("{\"alg\":\"HS256\",\"typ\":\"JWT\"}");
    AUTO(xfree) char *body = base64_url(payload);
    return xasprintf("%s.%s.c2lnbmF0dXJlLW9mLXRoaXMtdG9rZW4", head, body);
}

static int read_text(const char *s, struct estuary_token *out, struct problem *err)
{
    struct secret *secret = secret_new(s, strlen(s));
    int rc = estuary_token_read(secret, out, err);
    secret_unref(secret);
    return rc;
}

#define PAIR "{\"id\": \"1122334455667788\", \"secret\": \"0f0e0d0c-aaaa-bbbb-cccc-1234567890ab\"}"

static void check_pair(const char *pasted)
{
    AUTO_ESTUARY_TOKEN t;
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (read_text(pasted, &t, &err) != 0)
        fail_msg("refused: %s", err.what);
    assert_int_equal(t.sort, ESTUARY_REFRESH);
    assert_string_equal(t.id, "1122334455667788");
    assert_string_equal(secret_bytes(t.secret), "0f0e0d0c-aaaa-bbbb-cccc-1234567890ab");
    assert_null(t.email);
}

static void refresh_token(void **state)
{
    (void)state;
    AUTO(xfree) char *word = base64(PAIR);
    check_pair(word);
    AUTO(xfree) char *surrounded = xasprintf("  \t%s\r\n", word);
    check_pair(surrounded);
    AUTO(xfree) char *url = base64_url(PAIR);
    check_pair(url);
    assert_int_equal(estuary_token_check(word, NULL), 0);
}

static void every_padding(void **state)
{
    (void)state;
    for (int blanks = 0; blanks < 3; blanks++) {
        AUTO(xfree) char *json = xasprintf("%.*s%s", blanks, "  ", PAIR);
        AUTO(xfree) char *word = base64(json);
        check_pair(word);
        word[strcspn(word, "=")] = '\0'; /* what a double click marks */
        check_pair(word);
    }
}

static void access_token(void **state)
{
    (void)state;
    AUTO(xfree)
    char *word = jwt_of("{\"exp\":1795000000,\"iat\":1794996400,\"email\":\"alice@acme.example\","
                        "\"role\":\"authenticated\"}");
    AUTO_ESTUARY_TOKEN t;
    assert_int_equal(read_text(word, &t, NULL), 0);
    assert_int_equal(t.sort, ESTUARY_ACCESS);
    assert_int_equal(t.until, 1795000000);
    assert_string_equal(t.email, "alice@acme.example");
    assert_string_equal(secret_bytes(t.secret), word);
    assert_null(t.id);
}

/* It is the service that tells an expired one: this is without a clock. */
static void access_token_expired(void **state)
{
    (void)state;
    AUTO(xfree) char *word = jwt_of("{\"exp\":1500000000}");
    AUTO_ESTUARY_TOKEN t;
    assert_int_equal(read_text(word, &t, NULL), 0);
    assert_int_equal(t.until, 1500000000);
    assert_null(t.email);
}

static void access_token_says_nothing(void **state)
{
    (void)state;
    static const char *const payloads[] = {"{}", "{\"exp\":\"soon\",\"email\":7}", "{\"exp\":-5}",
                                           "{\"exp\":1e300}"};
    for (size_t i = 0; i < ARRAY_LEN(payloads); i++) {
        AUTO(xfree) char *word = jwt_of(payloads[i]);
        AUTO_ESTUARY_TOKEN t;
        assert_int_equal(read_text(word, &t, NULL), 0);
        assert_int_equal(t.until, 0);
        assert_null(t.email);
    }
}

/* No eight bytes in a row of what was pasted. */
static void check_silent(const struct problem *err, const char *pasted)
{
    AUTO(xfree)
    char *all =
        xasprintf("%s|%s|%s|%s|%s|%s", err->code, err->what, err->why, err->fix,
                  err->evidence != NULL ? err->evidence : "", err->copy != NULL ? err->copy : "");
    for (size_t i = 0; i + 8 <= strlen(pasted); i++) {
        AUTO(xfree) char *part = xstrndup(pasted + i, 8);
        if (strstr(all, part) != NULL && strncmp(part, "flow_sa_", 8) != 0)
            fail_msg("quoted: %s", part);
    }
}

static void check_refused(const char *pasted, const char *what)
{
    AUTO_ESTUARY_TOKEN t;
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (read_text(pasted, &t, &err) == 0)
        fail_msg("accepted: %s", pasted);
    assert_int_equal(err.kind, PROBLEM_INPUT);
    if (strstr(err.what, what) == NULL)
        fail_msg("%s\nsays: %s", pasted, err.what);
    assert_non_null(err.why);
    assert_non_null(strstr(err.fix, "Generate token"));
    check_silent(&err, pasted);
    AUTO_PROBLEM again = PROBLEM_INIT;
    assert_int_equal(estuary_token_check(pasted, &again), -1);
    assert_string_equal(again.what, err.what);
}

static void refused_words(void **state)
{
    (void)state;
    static const struct {
        const char *pasted, *what;
    } rows[] = {
        {"", "no token"},
        {" \t\r\n", "no token"},
        {"flow_sa_MTEyMjMzNDQ1NTY2Nzc4ODpzZWNyZXQtb2YtYQ", "service account"},
        {PAIR, "JSON of a token"},
        {"hunter2hunter2", "no token of Estuary"},
        {"aGVsbG8gd29ybGQsIHRoaXMgaXMgbm90IEpTT04=", "no token of Estuary"},
        {"eyJpZCI6IjExIiwic2Vj cmV0IjoiYWJjIn0=", "a blank"},
        {"eyJpZCI6IjExIiwic2Vj\ncmV0IjoiYWJjIn0=", "a blank"},
        {"eyJpZCI6IjExIiwic2Vj\033[31mcmV0IjoiYWJjIn0=", "a blank"},
        {"eyJpZCI6IjExIiwic2Vj\x7f"
         "cmV0IjoiYWJjIn0=",
         "a blank"},
        {"eyJpZCI6IjExIiwic2Vj\xC3\xA9mV0IjoiYWJjIn0=", "cut short"},
        {"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "cut short"},
        {"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJleHAiOjE3OTUwMDAwMDB9", "cut short"},
        {"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJleHAiOjE3OTUwMDAwMDB9.", "cut short"},
        {"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJleHAiOjE3OTUw.c2lnbmF0dXJl", "cut short"},
        {"a.b.c", "no token of Estuary"},
        {"one.two.three.four.five", "no token of Estuary"},
        {"..", "no token of Estuary"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_refused(rows[i].pasted, rows[i].what);
}

/* Base64 of JSON that is no pair. */
static void refused_json(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "{}",
        "{\"id\":\"1122334455667788\"}",
        "{\"id\":\"1122334455667788\",\"secret\":\"\"}",
        "{\"id\":1122334455667788,\"secret\":\"abcdefghijkl\"}",
        "{\"id\":\"1122334455667788\",\"secret\":\"abc\\ndefghijkl\"}",
        "{\"id\":\"1122334455667788\",\"secret\":\"abc\xC3\xA9xyzxyzxyz\"}",
        "[\"1122334455667788\",\"abcdefghijkl\"]",
        "\"1122334455667788\"",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(xfree) char *word = base64(rows[i]);
        check_refused(word, "no token of Estuary");
    }
}

/* Wherever it is cut, it is told so or, near its end, that it is no token; never taken. */
static void cut_anywhere(void **state)
{
    (void)state;
    AUTO(xfree) char *word = base64_url(PAIR);
    for (size_t n = 8; n < strlen(word); n++) {
        AUTO(xfree) char *part = xstrndup(word, n);
        check_refused(part, "cut short");
    }
}

static void public_key(void **state)
{
    (void)state;
    AUTO(xfree) char *word = jwt_of("{\"iss\":\"supabase\",\"role\":\"anon\",\"exp\":1972963150}");
    check_refused(word, "public key");
}

static void too_long(void **state)
{
    (void)state;
    char *word = xmalloc(70001);
    memset(word, 'A', 70000);
    word[70000] = '\0';
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(estuary_token_check(word, &err), -1);
    assert_non_null(strstr(err.what, "too long"));
    xfree(word);
}

static void base64_forms(void **state)
{
    (void)state;
    static const struct {
        const char *coded, *plain; /* NULL: refused */
    } rows[] = {
        {"Zg==", "f"},      {"Zg", "f"},          {"Zg=", "f"},       {"Zm8=", "fo"},
        {"Zm9v", "foo"},    {"Pz8/Pw==", "????"}, {"Pz8_Pw", "????"}, {"fn5-fg", "~~~~"},
        {"fn5+fg", "~~~~"}, {"", NULL},           {"====", NULL},     {"Z", NULL},
        {"Zm9vZ", NULL},    {"Zg==Zg==", NULL},   {"Zm9v\n", NULL},   {"Zm 9v", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct text out;
        bool ok = estuary_base64(rows[i].coded, strlen(rows[i].coded), &out);
        assert_int_equal(ok, rows[i].plain != NULL);
        if (ok)
            assert_string_equal(out.s, rows[i].plain);
        text_wipe(&out);
    }
    struct text out;
    assert_false(estuary_base64("Zm9v\0Zm9", 8, &out));
    text_wipe(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refresh_token),
        cmocka_unit_test(every_padding),
        cmocka_unit_test(access_token),
        cmocka_unit_test(access_token_expired),
        cmocka_unit_test(access_token_says_nothing),
        cmocka_unit_test(refused_words),
        cmocka_unit_test(refused_json),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(public_key),
        cmocka_unit_test(too_long),
        cmocka_unit_test(base64_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
