/* The catalog's answers and calls: config and its traps, paging with an end, HEAD that lies, tokens
 * that expire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "catalog/rest.h"
#include "catalog/url.h"
#include "catalog_server.h"
#include "core/text.h"
#include "net/net.h"

#define URL "https://host:9443/iceberg/alice.ing"

/* --- config
 * ------------------------------------------------------------------------------------------------
 */

static char *base_of(const char *config, struct problem *err)
{
    AUTO_CATALOG_CONFIG c = {0};
    assert_int_equal(catalog_config_read(config, strlen(config), &c, NULL), 0);
    return catalog_base(&c, URL, err);
}

static void test_base(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"{\"defaults\":{},\"overrides\":{}}", URL "/v1"},
        {"{\"defaults\":{\"prefix\":\"alice.ing%7Cdefault\"},\"overrides\":{\"uri\":\"https://"
         "host:9443/iceberg/\"}}",
         "https://host:9443/iceberg/v1/alice.ing%7Cdefault"},
        {"{\"defaults\":{\"prefix\":\"a\"},\"overrides\":{\"prefix\":\"b\"}}", URL "/v1/b"},
        {"{\"overrides\":{\"prefix\":\"main|wh\"}}", URL "/v1/main%7Cwh"},
        {"{\"overrides\":{\"prefix\":\"catalogs/12\"}}", URL "/v1/catalogs/12"},
        {"{\"overrides\":{\"prefix\":\"x/\"}}", URL "/v1/x"},
        {"{\"defaults\":{\"uri\":\"https://host:9443/other\"}}", "https://host:9443/other/v1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(xfree) char *base = base_of(rows[i][0], NULL);
        assert_non_null(base);
        assert_string_equal(base, rows[i][1]);
    }
}

static void test_base_refused(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "{\"overrides\":{\"uri\":\"http://evil.example/\"}}",
        "{\"overrides\":{\"uri\":\"https://evil.example/iceberg\"}}",
        "{\"overrides\":{\"uri\":\"https://host:9444/iceberg\"}}",
        "{\"overrides\":{\"uri\":\"http://host:9443/iceberg\"}}",
        "{\"overrides\":{\"uri\":\"https://host:9443@evil.example/\"}}",
        "{\"overrides\":{\"uri\":\"file:///etc/passwd\"}}",
        "{\"defaults\":{\"uri\":\"https://evil.example/\"}}",
        "{\"overrides\":{\"prefix\":\"../../\"}}",
        "{\"overrides\":{\"prefix\":\"a/../b\"}}",
        "{\"overrides\":{\"prefix\":\"a/%2e%2E/b\"}}",
        "{\"overrides\":{\"prefix\":\"/a\"}}",
        "{\"overrides\":{\"prefix\":\"a?x=\"}}",
        "{\"overrides\":{\"prefix\":\"a#\"}}",
        "{\"overrides\":{\"prefix\":\"a\\r\\nX: y\"}}",
        "{\"overrides\":{\"prefix\":\"a//b\"}}",
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        AUTO(xfree) char *base = base_of(rows[i], &err);
        if (base != NULL)
            fail_msg("followed: %s", rows[i]);
        assert_non_null(err.why);
        assert_non_null(err.fix);
    }
}

static void test_config_not_iceberg(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "", "{}", "[]", "{\"defaults\":1}", "<html>", "{\"overrides\":{}} x"};
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        AUTO_CATALOG_CONFIG c = {0};
        assert_int_equal(catalog_config_read(bodies[i], strlen(bodies[i]), &c, &err), -1);
        assert_int_equal(err.kind, PROBLEM_PROTOCOL);
    }
}

static int names_of(const char *body, struct catalog_names *out, char **next)
{
    return catalog_names_read(body, strlen(body), out, next, NULL);
}

static void test_names(void **state)
{
    (void)state;
    AUTO_CATALOG_NAMES names = {0};
    char *next = NULL;
    assert_int_equal(
        names_of("{\"namespaces\":[[\"shop\"],[\"a\",\"b\"]],\"next-page-token\":\"t\"}", &names,
                 &next),
        0);
    assert_string_equal(next, "t");
    xfree(next);
    assert_int_equal(names_of("{\"namespaces\":[],\"next-page-token\":\"\"}", &names, &next), 0);
    assert_null(next);
    assert_int_equal(names_of("{\"namespaces\":[],\"next-page-token\":null}", &names, &next), 0);
    assert_null(next);
    assert_int_equal(names.count, 2);
    assert_string_equal(names.names[1], "a.b");
    assert_int_equal(names_of("{\"namespaces\":[\"shop\"]}", &names, &next), -1);
    assert_int_equal(names_of("{\"namespaces\":[[1]]}", &names, &next), -1);
    assert_int_equal(names_of("{}", &names, &next), -1);
}

/* --- calls
 * -------------------------------------------------------------------------------------------------
 */

struct world {
    struct script server;
    struct net *net;
    struct secret *secret;
    char *url, *token_url, *base;
    struct catalog_target target;
    struct run *run;
};

static atomic_int tokens_given;

static void world_start(struct world *w,
                        void (*answer)(const char *, int, int *, const char **, char *, size_t))
{
    *w = (struct world){.server = {.answer = answer}};
    atomic_store(&tokens_given, 0);
    script_start(&w->server);
    w->net = net_new(&(struct net_options){0}, NULL);
    assert_non_null(w->net);
    w->secret = secret_new("secret-secret", 13);
    w->url = xasprintf("http://127.0.0.1:%d/iceberg", w->server.port);
    w->token_url = catalog_token_url(w->url, CATALOG_TOKEN_URI);
    w->base = xasprintf("%s/v1/p", w->url);
    w->target = (struct catalog_target){w->url, w->token_url, "", "default", "app", w->secret};
    w->run = run_new_detached(NULL, w->net, 10000);
}

static void world_stop(struct world *w)
{
    run_free(w->run);
    net_free(w->net);
    script_stop(&w->server);
    secret_unref(w->secret);
    xfree(w->url);
    xfree(w->token_url);
    xfree(w->base);
}

/* True (and answered) when a token is asked for. */
static bool token_given(const char *request, char *body, size_t room)
{
    if (strncmp(request, "POST /iceberg/v1/oauth/tokens", 29) != 0)
        return false;
    int n = atomic_fetch_add(&tokens_given, 1);
    snprintf(body, room,
             "{\"access_token\":\"token-number-%d\",\"token_type\":\"bearer\",\"expires_in\":3600}",
             n);
    return true;
}

static void answer_pages(const char *request, int n, int *status, const char **type, char *body,
                         size_t room)
{
    (void)n, (void)status, (void)type;
    if (token_given(request, body, room))
        return;
    if (strstr(request, "pageToken=&pageSize=100") != NULL)
        snprintf(body, room, "{\"namespaces\":[[\"a\"]],\"next-page-token\":\"p/2 &\"}");
    else if (strstr(request, "pageToken=p%2F2%20%26&") != NULL)
        snprintf(body, room, "{\"namespaces\":[[\"b\"]]}");
    else
        *status = 400;
}

static void test_pages(void **state)
{
    (void)state;
    struct world w;
    world_start(&w, answer_pages);
    AUTO_CATALOG_NAMES names = {0};
    assert_int_equal(catalog_list_namespaces(w.run, &w.target, w.base, &names, NULL), 0);
    assert_int_equal(names.count, 2);
    assert_int_equal(names.pages, 2);
    assert_false(names.more);
    assert_int_equal(atomic_load(&tokens_given), 1);
    assert_non_null(
        strcasestr(w.server.requests[1], "\r\nauthorization: Bearer token-number-0\r\n"));
    assert_non_null(
        strcasestr(w.server.requests[1], "\r\nx-iceberg-access-delegation: vended-credentials"));
    world_stop(&w);
}

static void answer_same_token(const char *request, int n, int *status, const char **type,
                              char *body, size_t room)
{
    (void)n, (void)status, (void)type;
    if (!token_given(request, body, room))
        snprintf(body, room, "{\"namespaces\":[[\"a\"]],\"next-page-token\":\"again\"}");
}

static void answer_endless(const char *request, int n, int *status, const char **type, char *body,
                           size_t room)
{
    (void)status, (void)type;
    if (!token_given(request, body, room))
        snprintf(body, room, "{\"namespaces\":[[\"a%d\"]],\"next-page-token\":\"%d\"}", n, n);
}

static void test_pages_end(void **state)
{
    (void)state;
    struct world w;
    AUTO_CATALOG_NAMES names = {0}, many = {0};
    world_start(&w, answer_same_token);
    assert_int_equal(catalog_list_namespaces(w.run, &w.target, w.base, &names, NULL), 0);
    assert_true(names.more);
    assert_int_equal(names.pages, 2);
    world_stop(&w);
    world_start(&w, answer_endless);
    assert_int_equal(catalog_list_namespaces(w.run, &w.target, w.base, &many, NULL), 0);
    assert_true(many.more);
    assert_int_equal(many.pages, CATALOG_PAGES_MAX);
    world_stop(&w);
}

/* Takes only the second token: the first has expired meanwhile. */
static void answer_expired(const char *request, int n, int *status, const char **type, char *body,
                           size_t room)
{
    (void)n, (void)type;
    if (token_given(request, body, room))
        return;
    if (strstr(request, "Bearer token-number-1") == NULL &&
        strstr(request, "/namespaces/first") == NULL)
        *status = 401;
    else
        *status = 204;
}

static void test_old_token_is_renewed_once(void **state)
{
    (void)state;
    struct world w;
    world_start(&w, answer_expired);
    bool there = false;
    assert_int_equal(catalog_has_namespace(w.run, &w.target, w.base, "first", &there, NULL), 0);
    assert_int_equal(atomic_load(&tokens_given), 1);
    usleep(5000); /* the token is older than the call that begins now */
    assert_int_equal(catalog_has_namespace(w.run, &w.target, w.base, "second", &there, NULL), 0);
    assert_true(there);
    assert_int_equal(atomic_load(&tokens_given), 2);
    world_stop(&w);
}

static void answer_never(const char *request, int n, int *status, const char **type, char *body,
                         size_t room)
{
    (void)n, (void)type;
    if (!token_given(request, body, room))
        *status = 401;
}

static void test_fresh_token_refused(void **state)
{
    (void)state;
    struct world w;
    world_start(&w, answer_never);
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_CATALOG_CONFIG config = {0};
    assert_int_equal(catalog_get_config(w.run, &w.target, &config, &err), -1);
    assert_int_equal(err.kind, PROBLEM_REFUSED);
    assert_int_equal(err.who, WHO_BAUPLAN);
    assert_int_equal(atomic_load(&tokens_given), 1);
    world_stop(&w);
}

/* HEAD: 400 for all of "old", 200 for "liar", which is not there; GET tells the truth. */
static void answer_head(const char *request, int n, int *status, const char **type, char *body,
                        size_t room)
{
    (void)n, (void)type;
    if (token_given(request, body, room))
        return;
    bool head = strncmp(request, "HEAD", 4) == 0;
    if (strstr(request, "/good ") != NULL)
        *status = 204;
    else if (strstr(request, "/gone ") != NULL)
        *status = 404;
    else if (head)
        *status = strstr(request, "/old ") != NULL ? 400 : 200;
    else if (strstr(request, "/old ") != NULL)
        snprintf(body, room, "{\"namespace\":[\"old\"],\"properties\":{}}");
    else {
        *status = 404;
        snprintf(body, room, "{\"error\":{\"message\":\"x\",\"type\":\"%s\",\"code\":404}}",
                 strstr(request, "/liar ") != NULL ? "NoSuchNamespaceException"
                                                   : "NoSuchReferenceException");
    }
}

static void test_head(void **state)
{
    (void)state;
    struct world w;
    world_start(&w, answer_head);
    static const struct {
        const char *name;
        int result;
        bool there;
    } rows[] = {{"good", 0, true},
                {"gone", 0, false},
                {"old", 0, true},
                {"liar", 0, false},
                {"branchless", -1, false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool there = !rows[i].there;
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_int_equal(
            catalog_has_namespace(w.run, &w.target, w.base, rows[i].name, &there, &err),
            rows[i].result);
        if (rows[i].result == 0)
            assert_int_equal(there, rows[i].there);
        else
            assert_int_equal(err.kind, PROBLEM_MISSING);
    }
    world_stop(&w);
}

static void answer_write(const char *request, int n, int *status, const char **type, char *body,
                         size_t room)
{
    (void)n, (void)type;
    if (token_given(request, body, room))
        return;
    if (strncmp(request, "POST", 4) == 0 &&
        strstr(request, "{\"namespace\":[\"new\"],\"properties\":{}}") != NULL)
        snprintf(body, room, "{\"namespace\":[\"new\"]}");
    else if (strncmp(request, "POST", 4) == 0) {
        *status = 403;
        snprintf(body, room,
                 "{\"error\":{\"message\":\"no\",\"type\":\"CREATE_NAMESPACE_FORBIDDEN\","
                 "\"context\":{}}}");
    } else
        *status = strstr(request, "/new ") != NULL ? 204 : 404;
}

static void test_create_and_remove(void **state)
{
    (void)state;
    struct world w;
    world_start(&w, answer_write);
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(catalog_create_namespace(w.run, &w.target, w.base, "new", NULL), 0);
    assert_int_equal(catalog_create_namespace(w.run, &w.target, w.base, "denied", &err), -1);
    assert_int_equal(err.kind, PROBLEM_DENIED);
    assert_string_equal(err.what, "the client may not write to main");
    assert_int_equal(catalog_remove_namespace(w.run, &w.target, w.base, "new", NULL), 0);
    assert_int_equal(catalog_remove_namespace(w.run, &w.target, w.base, "gone", NULL), 0);
    world_stop(&w);
}

static void test_token_only_to_its_host(void **state)
{
    (void)state;
    struct world w;
    world_start(&w, answer_write);
    AUTO(xfree) char *elsewhere = xasprintf("http://localhost:%d/iceberg/v1", w.server.port);
    AUTO_PROBLEM err = PROBLEM_INIT;
    bool there;
    assert_int_equal(catalog_has_namespace(w.run, &w.target, elsewhere, "x", &there, &err), -1);
    assert_int_equal(err.kind, PROBLEM_BUG);
    assert_int_equal(atomic_load(&w.server.count), 1); /* the token alone */
    world_stop(&w);
}

static void answer_knock(const char *request, int n, int *status, const char **type, char *body,
                         size_t room)
{
    (void)n, (void)type, (void)body, (void)room;
    *status = strncmp(request, "GET /iceberg/v1/config?warehouse=my%20one ", 42) == 0 &&
                      strcasestr(request, "\r\nauthorization:") == NULL
                  ? 401
                  : 500;
}

static void test_knock(void **state)
{
    (void)state;
    struct world w;
    world_start(&w, answer_knock);
    AUTO_HTTP_RESPONSE r = {0};
    assert_int_equal(catalog_knock(w.run, w.url, "my one", &r, NULL), 0);
    assert_int_equal(r.status, 401);
    world_stop(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base),
        cmocka_unit_test(test_base_refused),
        cmocka_unit_test(test_config_not_iceberg),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_pages_end),
        cmocka_unit_test(test_old_token_is_renewed_once),
        cmocka_unit_test(test_fresh_token_refused),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_create_and_remove),
        cmocka_unit_test(test_token_only_to_its_host),
        cmocka_unit_test(test_knock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
