/* Catalog addresses: what is judged wrong, what is corrected, and joining as Estuary joins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "catalog/url.h"

#define BAUPLAN "https://api.use1.aprod.bauplanlabs.com/iceberg"

static void test_url_valid(void **state)
{
    (void)state;
    static const char *const good[] = {
        BAUPLAN,
        BAUPLAN "/alice.ingest",
        BAUPLAN "/",
        "https://localhost:9443/iceberg",
        "http://localhost:9443/iceberg",
        "http://127.0.0.1:19120/iceberg",
        "http://[::1]:19120/iceberg",
        "https://catalog.example.com/api/catalog",
        BAUPLAN "/alice%2Fx",
    };
    static const char *const bad[] = {
        "",
        "iceberg",
        "api.use1.aprod.bauplanlabs.com/iceberg",
        "http://api.use1.aprod.bauplanlabs.com/iceberg",
        "ftp://localhost/iceberg",
        "https:///iceberg",
        "https://user:pw@localhost/iceberg",
        BAUPLAN "?warehouse=default",
        BAUPLAN "#x",
        BAUPLAN "/v1",
        BAUPLAN "/v1/config",
        BAUPLAN "/../x",
        BAUPLAN "/<branch_name>",
        "https://host/ice berg",
        "https://host/iceberg\n",
        "\"" BAUPLAN "\"",
        BAUPLAN "/50%",
        "https://ho st/iceberg",
    };
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (catalog_url_valid(good[i], NULL) != 0)
            fail_msg("refused: %s", good[i]);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        if (catalog_url_valid(bad[i], &err) == 0)
            fail_msg("accepted: %s", bad[i]);
        assert_int_equal(err.kind, PROBLEM_INPUT);
        assert_non_null(err.what);
        if (err.fix == NULL)
            fail_msg("no fix for: %s", bad[i]);
    }
}

static void test_normalise(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"  " BAUPLAN "/ \n", BAUPLAN},
        {BAUPLAN "/v1", BAUPLAN},
        {BAUPLAN "/v1/", BAUPLAN},
        {BAUPLAN "/v1/config", BAUPLAN},
        {BAUPLAN "/v1/oauth/tokens", BAUPLAN},
        {BAUPLAN "/alice.ingest/v1/config", BAUPLAN "/alice.ingest"},
        {"api.use1.aprod.bauplanlabs.com/iceberg", BAUPLAN},
        {"", ""},
        {"https://", "https://"},
    };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        AUTO(xfree) char *s = catalog_url_normalise(pairs[i][0]);
        assert_string_equal(s, pairs[i][1]);
    }
    AUTO(xfree) char *uri = catalog_token_uri_normalise(" v1/oauth/tokens/ ");
    assert_string_equal(uri, "v1/oauth/tokens");
}

static void test_branch_valid(void **state)
{
    (void)state;
    static const char *const good[] = {"",         "main", "alice.ingest", "alice.ingestion-pg",
                                       "ünï.code", "a+b"};
    static const char *const bad[] = {"a/b", "main@abc", "@abc",  "a b", "<branch_name>",
                                      "x?",  "x#",       "50%25", ".",   "..",
                                      "a'b", "a\\b",     "a\tb"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_int_equal(catalog_branch_valid(good[i], NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        if (catalog_branch_valid(bad[i], &err) == 0)
            fail_msg("accepted: %s", bad[i]);
        assert_non_null(err.fix);
    }
    assert_true(catalog_branch_usual("alice.ingestion-pg"));
    assert_true(catalog_branch_usual("a.b.c"));
    assert_false(catalog_branch_usual("ingest"));
    assert_false(catalog_branch_usual(".x"));
    assert_false(catalog_branch_usual("x."));
    assert_false(catalog_branch_usual("a.b+c"));
}

static void test_token_uri_valid(void **state)
{
    (void)state;
    static const char *const good[] = {"v1/oauth/tokens",      "/v1/oauth/tokens",
                                       "api/v1/oauth/tokens",  BAUPLAN "/v1/oauth/tokens",
                                       "http://localhost:1/t", "login.example.com/token"};
    static const char *const bad[] = {
        "v1/oauth/tokens?x=1",      "../v1/oauth/tokens", "v1 /oauth", "https://", "ftp://h/t",
        "http://api.example.com/t", "https://u:p@h/t",    "<uri>",     "v1/%zz"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (catalog_token_uri_valid(good[i], NULL) != 0)
            fail_msg("refused: %s", good[i]);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (catalog_token_uri_valid(bad[i], NULL) == 0)
            fail_msg("accepted: %s", bad[i]);
    assert_int_equal(catalog_client_id_valid("8f1c-e2", NULL), 0);
    assert_int_equal(catalog_client_id_valid("id:secret", NULL), -1);
    assert_int_equal(catalog_client_id_valid("<client_id>", NULL), -1);
}

static void test_address(void **state)
{
    (void)state;
    static const struct {
        const char *url, *branch, *base, *effective, *got_branch;
        bool carried;
    } rows[] = {
        {BAUPLAN, "", BAUPLAN, BAUPLAN, "", false},
        {BAUPLAN, "main", BAUPLAN, BAUPLAN, "", false},
        {BAUPLAN, "alice.ingest", BAUPLAN, BAUPLAN "/alice.ingest", "alice.ingest", false},
        {BAUPLAN "/alice.ingest", "", BAUPLAN, BAUPLAN "/alice.ingest", "alice.ingest", true},
        {BAUPLAN "/alice.ingest", "alice.ingest", BAUPLAN, BAUPLAN "/alice.ingest", "alice.ingest",
         true},
        {BAUPLAN "/main", "", BAUPLAN, BAUPLAN, "", true},
        {BAUPLAN, "a+b", BAUPLAN, BAUPLAN "/a%2Bb", "a+b", false},
        {BAUPLAN "/a%2Bb", "a+b", BAUPLAN, BAUPLAN "/a%2Bb", "a+b", true},
        {"https://h/api/catalog", "x.y", "https://h/api/catalog", "https://h/api/catalog/x.y",
         "x.y", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ADDRESS a = {0};
        assert_int_equal(catalog_address(rows[i].url, rows[i].branch, &a, NULL), 0);
        assert_string_equal(a.base, rows[i].base);
        assert_string_equal(a.url, rows[i].effective);
        assert_string_equal(a.branch, rows[i].got_branch);
        assert_int_equal(a.carried, rows[i].carried);
    }
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_ADDRESS none = {0};
    assert_int_equal(catalog_address(BAUPLAN "/alice.x", "bob.y", &none, &err), -1);
    assert_int_equal(err.kind, PROBLEM_INPUT);
    assert_non_null(strstr(err.what, "alice.x"));
    assert_non_null(strstr(err.what, "bob.y"));
}

static void test_address_kind(void **state)
{
    (void)state;
    AUTO_ADDRESS a = {0}, b = {0}, c = {0};
    assert_int_equal(catalog_address(BAUPLAN, "", &a, NULL), 0);
    assert_true(a.bauplan && a.iceberg && !a.loopback);
    assert_int_equal(catalog_address("https://bauplanlabs.com.evil.example/iceberg", "", &b, NULL),
                     0);
    assert_false(b.bauplan);
    assert_int_equal(catalog_address("https://[::1]:9443/x", "", &c, NULL), 0);
    assert_true(c.loopback && !c.iceberg);
}

static void test_join(void **state)
{
    (void)state;
    /* as Go's url.JoinPath(base, relative) */
    static const char *const rows[][3] = {
        {BAUPLAN, "v1/oauth/tokens", BAUPLAN "/v1/oauth/tokens"},
        {BAUPLAN "/", "v1/oauth/tokens", BAUPLAN "/v1/oauth/tokens"},
        {BAUPLAN, "/v1/oauth/tokens", BAUPLAN "/v1/oauth/tokens"},
        {BAUPLAN, "//v1//oauth/tokens", BAUPLAN "/v1/oauth/tokens"},
        {BAUPLAN "/alice.ing", "api/v1/oauth/tokens", BAUPLAN "/alice.ing/api/v1/oauth/tokens"},
        {BAUPLAN "/a%2Fb", "v1", BAUPLAN "/a%2Fb/v1"},
        {BAUPLAN, "v1/oauth/tokens/", BAUPLAN "/v1/oauth/tokens/"},
        {BAUPLAN, "./v1", BAUPLAN "/v1"},
        {BAUPLAN, "../v1", "https://api.use1.aprod.bauplanlabs.com/v1"},
        {BAUPLAN, "../../../v1", "https://api.use1.aprod.bauplanlabs.com/v1"},
        {"https://h", "v1", "https://h/v1"},
        {"https://h:1", "", "https://h:1/"},
        {"https://h//x//", "y", "https://h/x/y"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(xfree) char *s = catalog_join(rows[i][0], rows[i][1]);
        assert_string_equal(s, rows[i][2]);
    }
    AUTO(xfree) char *absolute = catalog_token_url(BAUPLAN, "https://login.example.com/token");
    assert_string_equal(absolute, "https://login.example.com/token");
    AUTO(xfree) char *hostlike = catalog_token_url(BAUPLAN, "login.example.com/token");
    assert_string_equal(hostlike, BAUPLAN "/login.example.com/token");
}

static void test_candidates(void **state)
{
    (void)state;
    struct token_candidate c[TOKEN_CANDIDATES];
    AUTO_ADDRESS branch = {0}, main_one = {0};
    assert_int_equal(catalog_address(BAUPLAN, "alice.x", &branch, NULL), 0);
    assert_int_equal(catalog_address(BAUPLAN, "", &main_one, NULL), 0);

    assert_int_equal(catalog_token_candidates(&branch, CATALOG_TOKEN_URI_OLD, c), 3);
    assert_string_equal(c[0].uri, CATALOG_TOKEN_URI);
    assert_string_equal(c[0].url, BAUPLAN "/alice.x/v1/oauth/tokens");
    assert_string_equal(c[1].uri, BAUPLAN "/v1/oauth/tokens");
    assert_string_equal(c[1].url, BAUPLAN "/v1/oauth/tokens");
    assert_string_equal(c[2].uri, BAUPLAN "/api/v1/oauth/tokens");
    catalog_candidates_release(c, 3);

    assert_int_equal(catalog_token_candidates(&branch, "oauth/token", c), 4);
    catalog_candidates_release(c, 4);
    /* an absolute spelling of the same address is not asked twice */
    assert_int_equal(catalog_token_candidates(&main_one, BAUPLAN "/v1/oauth/tokens", c), 1);
    assert_string_equal(c[0].uri, CATALOG_TOKEN_URI_OLD);
    catalog_candidates_release(c, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_url_valid),    cmocka_unit_test(test_normalise),
        cmocka_unit_test(test_branch_valid), cmocka_unit_test(test_token_uri_valid),
        cmocka_unit_test(test_address),      cmocka_unit_test(test_address_kind),
        cmocka_unit_test(test_join),         cmocka_unit_test(test_candidates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
