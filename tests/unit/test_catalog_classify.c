/* The table of failed answers: known real bodies, and each row reached by at least one of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/classify.h"
#include "core/mem.h"

#define NESSIE_REF                                                                                 \
    "{\"error\":{\"message\":\"Named reference 'nobranch' not found\",\"type\":"                   \
    "\"NoSuchReferenceException\",\"code\":400,\"stack\":null}}"
#define BAUPLAN(type, message)                                                                     \
    "{\"error\":{\"message\":\"" message "\",\"type\":\"" type "\",\"context\":{}}}"
#define ICEBERG(type, message, code)                                                               \
    "{\"error\":{\"message\":\"" message "\",\"type\":\"" type "\",\"code\":" code "}}"
#define OAUTH(error, description)                                                                  \
    "{\"error\":\"" error "\",\"error_description\":\"" description "\"}"
#define HTML "<html><head><title>x</title></head><body>nginx</body></html>"

static const struct row {
    enum catalog_call call;
    int status;
    const char *body;
    const char *rule;
    enum problem_kind kind;
    const char *challenge; /* WWW-Authenticate; NULL none */
} rows[] = {
    /* oidc-provider */
    {CALL_TOKEN, 401, OAUTH("invalid_client", "client authentication failed"), "token.refused",
     PROBLEM_REFUSED, NULL},
    {CALL_TOKEN, 400,
     OAUTH("invalid_request", "client_id and client_secret in the authorization header are not "
                              "properly encoded"),
     "token.encoding", PROBLEM_PROTOCOL, NULL},
    {CALL_TOKEN, 400,
     OAUTH("invalid_request", "requested grant type is not allowed for this client"),
     "token.no_grant", PROBLEM_DENIED, NULL},
    {CALL_TOKEN, 400, OAUTH("unsupported_grant_type", "unsupported grant_type requested"),
     "token.no_such_grant", PROBLEM_DENIED, NULL},
    {CALL_TOKEN, 400, OAUTH("invalid_request", "no client authentication mechanism provided"),
     "token.request", PROBLEM_PROTOCOL, NULL},
    {CALL_TOKEN, 400,
     "{\"error\":\"invalid_scope\",\"error_description\":\"requested scope is not "
     "allowed\",\"scope\":\"catalog\"}",
     "token.scope", PROBLEM_DENIED, NULL},
    {CALL_TOKEN, 404, "Not Found", "token.no_route", PROBLEM_MISSING, NULL},
    /* Nessie on a token path, with and without authentication */
    {CALL_TOKEN, 501, OAUTH("NotImplemented", "Endpoint not implemented, use oauth2-server-uri"),
     "token.no_tokens", PROBLEM_MISSING, NULL},
    {CALL_TOKEN, 401, "", "token.wants_token", PROBLEM_MISSING, "Bearer"},
    {CALL_CONFIG, 401, "", "catalog.token_refused", PROBLEM_REFUSED, "Bearer"},
    {CALL_LIST, 400, NESSIE_REF, "branch.missing", PROBLEM_MISSING, NULL},
    {CALL_LIST, 404, ICEBERG("Other", "Named reference 'x' not found", "404"),
     "branch.missing_said", PROBLEM_MISSING, NULL},
    {CALL_CONFIG, 500, ICEBERG("IllegalStateException", "Warehouse 'nope' is not known", "500"),
     "warehouse.missing_said", PROBLEM_MISSING, NULL},
    {CALL_CREATE, 500, ICEBERG("AccessCheckException", "access denied", "500"),
     "catalog.write_denied_inside", PROBLEM_DENIED, NULL},
    {CALL_LIST, 500, ICEBERG("AccessCheckException", "access denied", "500"),
     "catalog.read_denied_inside", PROBLEM_DENIED, NULL},
    /* SeaweedFS */
    {CALL_LIST, 404, ICEBERG("NoSuchNamespaceException", "no such bucket", "404"),
     "catalog.nothing_below", PROBLEM_MISSING, NULL},
    {CALL_LIST, 403, ICEBERG("ForbiddenException", "Access Denied", "403"), "catalog.read_denied",
     PROBLEM_DENIED, NULL},
    /* Polaris */
    {CALL_TOKEN, 401, OAUTH("unauthorized_client", "The client is not authorized"),
     "token.refused_otherwise", PROBLEM_REFUSED, NULL},
    {CALL_CONFIG, 404, ICEBERG("NotFoundException", "Unable to find warehouse x", "404"),
     "warehouse.missing_said", PROBLEM_MISSING, NULL},
    {CALL_CONFIG, 404, ICEBERG("NoSuchWarehouseException", "x", "404"), "warehouse.missing",
     PROBLEM_MISSING, NULL},
    /* Bauplan's own shape */
    {CALL_TOKEN, 401, BAUPLAN("UNAUTHORIZED", "invalid credentials"), "token.refused_bauplan",
     PROBLEM_REFUSED, NULL},
    {CALL_TOKEN, 403, BAUPLAN("FORBIDDEN", "not enabled"), "token.forbidden_client", PROBLEM_DENIED,
     NULL},
    {CALL_LIST, 404, BAUPLAN("REF_NOT_FOUND", "x"), "branch.missing", PROBLEM_MISSING, NULL},
    {CALL_LIST, 404, BAUPLAN("BRANCH_NOT_FOUND", "x"), "branch.missing", PROBLEM_MISSING, NULL},
    {CALL_LIST, 400, BAUPLAN("INVALID_REF", "x"), "branch.bad_name", PROBLEM_MISSING, NULL},
    {CALL_CREATE, 400, BAUPLAN("NOT_A_WRITE_BRANCH_REF", "x"), "branch.not_one", PROBLEM_DENIED,
     NULL},
    {CALL_CREATE, 403,
     BAUPLAN("CREATE_NAMESPACE_FORBIDDEN", "namespace creation on main is forbidden"),
     "catalog.write_denied", PROBLEM_DENIED, NULL},
    {CALL_CONFIG, 403, BAUPLAN("FORBIDDEN", "x"), "catalog.denied", PROBLEM_DENIED, NULL},
    {CALL_NAMESPACE, 404, BAUPLAN("NAMESPACE_NOT_FOUND", "x"), "namespace.missing", PROBLEM_MISSING,
     NULL},
    {CALL_CREATE, 409, BAUPLAN("NAMESPACE_EXISTS", "x"), "namespace.exists", PROBLEM_CONFLICT,
     NULL},
    {CALL_REMOVE, 409, ICEBERG("NamespaceNotEmptyException", "x", "409"), "namespace.not_empty",
     PROBLEM_CONFLICT, NULL},
    /* RFC 6749, others */
    {CALL_TOKEN, 400, OAUTH("invalid_client", "x"), "token.refused", PROBLEM_REFUSED, NULL},
    {CALL_TOKEN, 400, OAUTH("unauthorized_client", "x"), "token.not_entitled", PROBLEM_DENIED,
     NULL},
    {CALL_TOKEN, 400, OAUTH("invalid_grant", "x"), "token.invalid_grant", PROBLEM_REFUSED, NULL},
    {CALL_TOKEN, 405, "", "token.no_route", PROBLEM_MISSING, NULL},
    {CALL_TOKEN, 415, HTML, "token.no_form", PROBLEM_MISSING, NULL},
    {CALL_TOKEN, 401, HTML, "token.wall", PROBLEM_REFUSED, NULL},
    {CALL_TOKEN, 200, "{\"token\":\"x\"}", "token.nothing", PROBLEM_PROTOCOL, NULL},
    /* gateways and what else stands in between */
    {CALL_CONFIG, 403, "{\"message\":\"Missing Authentication Token\"}", "any.no_such_path",
     PROBLEM_MISSING, NULL},
    {CALL_LIST, 403, "{\"message\":\"Forbidden\"}", "any.gateway_denied", PROBLEM_DENIED, NULL},
    {CALL_CONFIG, 403, HTML, "any.firewall", PROBLEM_DENIED, NULL},
    {CALL_TOKEN, 302, "", "any.redirect", PROBLEM_PROTOCOL, NULL},
    {CALL_CONFIG, 407, HTML, "any.proxy_login", PROBLEM_UNREACHABLE, NULL},
    {CALL_TOKEN, 429, HTML, "any.too_many", PROBLEM_UNREACHABLE, NULL},
    {CALL_CONFIG, 200, HTML, "any.portal", PROBLEM_PROTOCOL, NULL},
    {CALL_CONFIG, 502, HTML, "any.gateway_down", PROBLEM_UNREACHABLE, NULL},
    {CALL_CONFIG, 503, "", "any.gateway_down", PROBLEM_UNREACHABLE, NULL},
    {CALL_ANONYMOUS, 404,
     "{\"servlet\":\"x\",\"message\":\"Not Found\",\"url\":\"/x\",\"status\":\"404\"}",
     "catalog.no_path", PROBLEM_MISSING, NULL},
    {CALL_CONFIG, 404, HTML, "catalog.no_path", PROBLEM_MISSING, NULL},
    {CALL_CONFIG, 400, HTML, "any.bad_request", PROBLEM_PROTOCOL, NULL},
    {CALL_LIST, 400, ICEBERG("IllegalArgumentException", "x", "400"), "catalog.bad_request",
     PROBLEM_PROTOCOL, NULL},
    {CALL_CREATE, 406, ICEBERG("UnsupportedOperationException", "x", "406"), "any.method",
     PROBLEM_PROTOCOL, NULL},
    {CALL_CONFIG, 419, "", "catalog.expired", PROBLEM_REFUSED, NULL},
    {CALL_LIST, 501, "", "any.not_implemented", PROBLEM_PROTOCOL, NULL},
    {CALL_LIST, 500, ICEBERG("RuntimeException", "x", "500"), "any.failed", PROBLEM_PROTOCOL, NULL},
    {CALL_CONFIG, 200, "[]", "catalog.not_iceberg", PROBLEM_PROTOCOL, NULL},
    {CALL_CONFIG, 103, "", "any.other", PROBLEM_PROTOCOL, NULL},
};

static struct http_response response(int status, const char *type, const char *body,
                                     const char *challenge)
{
    struct http_response r = {.status = status, .body = TEXT_INIT, .content_type = xstrdup(type)};
    text_add(&r.body, body);
    if (challenge != NULL) {
        r.headers = xcalloc(1, sizeof *r.headers);
        r.header_count = 1;
        r.headers[0] = (struct http_header){xstrdup("WWW-Authenticate"), xstrdup(challenge)};
    }
    return r;
}

static struct catalog_context context(enum catalog_call call)
{
    return (struct catalog_context){
        .call = call,
        .method = "GET",
        .url = "https://host/iceberg/x",
        .host = "host",
        .branch = "alice.ingest",
        .warehouse = "default",
        .name = "shop",
    };
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *row = &rows[i];
        AUTO_HTTP_RESPONSE r =
            response(row->status, strcmp(row->body, HTML) == 0 ? "text/html" : "application/json",
                     row->body, row->challenge);
        AUTO_ANSWER a;
        answer_read(&r, &a);
        const struct catalog_rule *rule = catalog_rule_for(&a, row->call);
        if (strcmp(rule->id, row->rule) != 0)
            fail_msg("HTTP %d %s: %s instead of %s", row->status, row->body, rule->id, row->rule);
        AUTO_PROBLEM err = PROBLEM_INIT;
        struct catalog_context c = context(row->call);
        assert_int_equal(catalog_explain(&a, &c, &err), -1);
        assert_int_equal(err.kind, row->kind);
        assert_non_null(err.fix);
        assert_non_null(err.evidence);
        assert_null(strchr(err.what, '{'));
        assert_null(strchr(err.fix, '{'));
    }
}

static void test_each_rule_is_reached(void **state)
{
    (void)state;
    for (const struct catalog_rule *r = catalog_rules; r->id != NULL; r++) {
        bool reached = false;
        for (size_t i = 0; i < ARRAY_LEN(rows) && !reached; i++)
            reached = strcmp(rows[i].rule, r->id) == 0;
        if (!reached)
            fail_msg("no body of this test reaches %s", r->id);
        for (const struct catalog_rule *other = catalog_rules; other != r; other++)
            assert_string_not_equal(other->id, r->id);
    }
}

static void test_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *type, *body;
        enum answer_shape shape;
    } shapes[] = {
        {"application/json", OAUTH("invalid_client", "x"), SHAPE_OAUTH},
        {"", OAUTH("invalid_client", "x"), SHAPE_OAUTH}, /* the body decides, not its label */
        {"application/json", ICEBERG("A", "b", "400"), SHAPE_ICEBERG},
        {"application/json", "{\"error\":{\"message\":\"x\",\"type\":\"REF_NOT_FOUND\"}}",
         SHAPE_BAUPLAN},
        {"application/json", "{\"message\":\"Forbidden\"}", SHAPE_GATEWAY},
        {"application/json", "{\"a\":1}", SHAPE_JSON},
        {"application/json", "  \n", SHAPE_EMPTY},
        {"application/json", "{broken", SHAPE_TEXT},
        {"text/html", "x", SHAPE_HTML},
        {"application/json", "\n <!doctype html>", SHAPE_HTML},
        {"text/plain", "Not Found", SHAPE_TEXT},
    };
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        AUTO_HTTP_RESPONSE r = response(400, shapes[i].type, shapes[i].body, NULL);
        AUTO_ANSWER a;
        answer_read(&r, &a);
        if (a.shape != shapes[i].shape)
            fail_msg("%s: %s", shapes[i].body, answer_shape_name(a.shape));
    }
}

static void test_texts(void **state)
{
    (void)state;
    AUTO_HTTP_RESPONSE r = response(400, "application/json", NESSIE_REF, NULL);
    AUTO_ANSWER a;
    answer_read(&r, &a);
    struct catalog_context c = context(CALL_LIST);
    AUTO_PROBLEM err = PROBLEM_INIT;
    catalog_explain(&a, &c, &err);
    assert_string_equal(err.what, "there is no branch alice.ingest");
    assert_string_equal(err.code, "http 400 NoSuchReferenceException");
    assert_string_equal(err.copy, "bauplan branch create alice.ingest --from-ref main");
    assert_non_null(strstr(err.evidence, "Named reference 'nobranch' not found"));

    /* a name with a meaning for a shell cannot act in the command that is copied */
    c.branch = "a;rm$(x)";
    AUTO_PROBLEM odd = PROBLEM_INIT;
    catalog_explain(&a, &c, &odd);
    assert_string_equal(odd.copy, "bauplan branch create 'a;rm$(x)' --from-ref main");
    /* main is not made */
    c.branch = "";
    AUTO_PROBLEM main_one = PROBLEM_INIT;
    catalog_explain(&a, &c, &main_one);
    assert_null(main_one.copy);
    assert_string_equal(main_one.what, "there is no branch main");
}

static void test_page(void **state)
{
    (void)state;
    AUTO_HTTP_RESPONSE r =
        response(404, "text/html",
                 "<html>\r\n<head><title>404 Not  Found</title></head>\r\n<hr>nginx", NULL);
    AUTO_ANSWER a;
    answer_read(&r, &a);
    assert_string_equal(a.excerpt, "404 Not Found nginx");
}

static void test_wait(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        int wait;
    } waits[] = {{"5", 5}, {"999999999", 86400}, {"-1", -1}, {"soon", -1}};
    for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
        AUTO_HTTP_RESPONSE r = response(429, "", "", "Bearer");
        xreplace(&r.headers[0].name, "Retry-After");
        xreplace(&r.headers[0].value, waits[i].header);
        AUTO_ANSWER a;
        answer_read(&r, &a);
        assert_int_equal(a.wait_s, waits[i].wait);
    }
}

static void test_hostile_text(void **state)
{
    (void)state;
    AUTO_HTTP_RESPONSE r = response(
        500, "application/json",
        "{\"error\":{\"message\":\"\\u001b[2J\\u202e{url}\",\"type\":\"X\\u0007\",\"code\":1}}",
        NULL);
    AUTO_ANSWER a;
    answer_read(&r, &a);
    struct catalog_context c = context(CALL_LIST);
    AUTO_PROBLEM err = PROBLEM_INIT;
    catalog_explain(&a, &c, &err);
    assert_null(strchr(err.what, '\x1b'));
    assert_null(strstr(err.evidence, "\xe2\x80\xae"));
    assert_non_null(strstr(err.what, "{url}")); /* what a server says is not expanded */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),         cmocka_unit_test(test_each_rule_is_reached),
        cmocka_unit_test(test_shapes),       cmocka_unit_test(test_texts),
        cmocka_unit_test(test_page),         cmocka_unit_test(test_wait),
        cmocka_unit_test(test_hostile_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
