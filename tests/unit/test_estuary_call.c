/* What needs no network of the calls: addresses, redirects, what answers mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/mem.h"
#include "estuary/call.h"
#include "estuary/endpoints.h"

static void production(void **state)
{
    (void)state;
    AUTO_ENDPOINTS e;
    estuary_endpoints(&e);
    assert_string_equal(e.api, "https://api.estuary.dev");
    assert_string_equal(e.pg, "https://eyrcnmuzzyriypdajwdk.supabase.co/rest/v1");
    assert_string_equal(e.encryption, "https://config-encryption.estuary.dev");
    assert_string_equal(e.dashboard, "https://dashboard.estuary.dev");
    assert_int_equal(strlen(e.anon_key), 208);
}

static void overridden(void **state)
{
    (void)state;
    setenv("SLUICE_ESTUARY_API_URL", "http://localhost:8675//", 1);
    setenv("SLUICE_ESTUARY_ANON_KEY", "", 1);
    AUTO_ENDPOINTS e;
    estuary_endpoints(&e);
    unsetenv("SLUICE_ESTUARY_API_URL");
    unsetenv("SLUICE_ESTUARY_ANON_KEY");
    assert_string_equal(e.api, "http://localhost:8675");
    assert_int_equal(strlen(e.anon_key), 208);
}

static void redirects(void **state)
{
    (void)state;
    static const char from[] = "https://api.estuary.dev/api/graphql";
    static const struct {
        const char *location, *to;
    } rows[] = {
        {"/api/graphql?started=2026-11-30T10:00:00.000Z",
         "https://api.estuary.dev:443/api/graphql?started=2026-11-30T10:00:00.000Z"},
        {"https://api.estuary.dev/api/graphql", "https://api.estuary.dev/api/graphql"},
        {"https://API.estuary.dev:443/x", "https://API.estuary.dev:443/x"},
        {"//api.estuary.dev/x", "https://api.estuary.dev/x"},
        {"http://api.estuary.dev/api/graphql", NULL},
        {"https://api.estuary.dev:8443/api/graphql", NULL},
        {"https://api.estuary.dev.evil.example/", NULL},
        {"https://api.estuary.dev@evil.example/", NULL},
        {"https://me:pw@api.estuary.dev/", NULL},
        {"https://evil.example/?https://api.estuary.dev/", NULL},
        {"//evil.example/api/graphql", NULL},
        {"/\\evil.example/", "https://api.estuary.dev:443/\\evil.example/"},
        {"\\\\evil.example\\x", NULL},
        {"graphql", NULL},
        {"?started=1", NULL},
        {"", NULL},
        {NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(xfree) char *to = estuary_redirect(from, rows[i].location);
        if ((to == NULL) != (rows[i].to == NULL) || (to != NULL && strcmp(to, rows[i].to) != 0))
            fail_msg("%s leads to %s", rows[i].location, to != NULL ? to : "nowhere");
    }
    AUTO(xfree) char *v6 = estuary_redirect("https://[::1]:8443/api", "/api?x=1");
    assert_string_equal(v6, "https://[::1]:8443/api?x=1");
}

static struct http_response answer_of(int status, const char *type, const char *body)
{
    struct http_response r = {.status = status, .body = TEXT_INIT, .content_type = xstrdup(type)};
    text_add(&r.body, body);
    return r;
}

static void spent_tokens(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *body;
        bool spent, key;
    } rows[] = {
        {401, "{\"code\":\"PGRST301\",\"message\":\"JWT expired\"}", true, false},
        {401, "{\"code\":\"PGRST301\",\"message\":\"JWSError JWSInvalidSignature\"}", true, false},
        {401, "{\"message\":\"invalid JWT: unable to parse\"}", true, false},
        {401, "unauthorized", true, false},
        {401, "{\"code\":\"42501\",\"message\":\"permission denied for table drafts\"}", false,
         false},
        {401, "{\"message\":\"No API key found in request\",\"hint\":\"…\"}", false, true},
        {401, "{\"message\":\"Invalid API key\"}", false, true},
        {401, "<html><body>Login</body></html>", false, false},
        {403, "{\"code\":\"42501\",\"message\":\"row-level security\"}", false, false},
        {200, "[]", false, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_HTTP_RESPONSE r = answer_of(rows[i].status, "", rows[i].body);
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_int_equal(estuary_pg_spent(&r), rows[i].spent);
        assert_int_equal(estuary_key_refused(&r, &err), rows[i].key);
        assert_int_equal(err.kind, rows[i].key ? PROBLEM_REFUSED : PROBLEM_NONE);
    }
}

static void explained(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *type, *body;
        enum problem_kind kind;
        const char *what;
    } rows[] = {
        {302, "", "", PROBLEM_PROTOCOL, "api.estuary.dev sends us elsewhere instead of answering"},
        {200, "text/html", "<p>", PROBLEM_PROTOCOL,
         "a web page answers instead of api.estuary.dev"},
        {401, "", " <!DOCTYPE html>", PROBLEM_PROTOCOL,
         "a web page answers instead of api.estuary.dev"},
        {407, "text/html", "<p>", PROBLEM_UNREACHABLE,
         "the proxy before api.estuary.dev wants a login"},
        {429, "", "", PROBLEM_UNREACHABLE, "api.estuary.dev asks us to wait"},
        {404, "", "no", PROBLEM_PROTOCOL, "api.estuary.dev does not know what is asked of it"},
        {413, "", "", PROBLEM_INPUT, "the request is too large for api.estuary.dev"},
        {503, "text/html", "<p>", PROBLEM_UNREACHABLE,
         "api.estuary.dev does not work at the moment"},
        {200, "", "\033[2Jhi", PROBLEM_PROTOCOL,
         "api.estuary.dev gave an answer that is not expected"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_HTTP_RESPONSE r = answer_of(rows[i].status, rows[i].type, rows[i].body);
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_int_equal(estuary_explain(&r, "https://api.estuary.dev", &err), -1);
        assert_int_equal(err.kind, rows[i].kind);
        assert_string_equal(err.what, rows[i].what);
        assert_non_null(err.why);
        assert_non_null(err.fix);
        assert_non_null(err.evidence);
        assert_null(strchr(err.evidence, '\033'));
    }
}

static void waits(void **state)
{
    (void)state;
    static const struct {
        const char *wait, *fix;
    } rows[] = {
        {"17", "Wait 17 s, then try again."},
        {"soon", "Wait a minute, then try again."},
        {"", "Wait a minute, then try again."},
        {"99999999999999999999", "Wait a minute, then try again."},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_HTTP_RESPONSE r = answer_of(429, "", "");
        r.headers = xcalloc(1, sizeof *r.headers);
        r.headers[0] = (struct http_header){xstrdup("Retry-After"), xstrdup(rows[i].wait)};
        r.header_count = 1;
        AUTO_PROBLEM err = PROBLEM_INIT;
        estuary_explain(&r, "https://api.estuary.dev", &err);
        assert_string_equal(err.fix, rows[i].fix);
        assert_string_equal(err.evidence, "HTTP 429 without a body");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(production), cmocka_unit_test(overridden),   cmocka_unit_test(redirects),
        cmocka_unit_test(explained),  cmocka_unit_test(spent_tokens), cmocka_unit_test(waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
