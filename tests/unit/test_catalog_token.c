/* Tokens: hostile and odd answers of a token endpoint, what is sent in each form, the order of the
 * tries, and the shared token. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "catalog/login.h"
#include "catalog/rest.h"
#include "catalog_server.h"
#include "core/clock.h"
#include "net/net.h"

#define SECRET "s3cret+/%:x \xc3\xa9"
#define SECRET_ENCODED "s3cret%2B%2F%25%3Ax%20%C3%A9"
#define GOOD "{\"access_token\":\"tok-1234567890\",\"token_type\":\"Bearer\",\"expires_in\":3600}"

/* --- judging answers -------------------------------------------------------------------------- */

static enum token_result read_answer(int status, const char *type, const char *body,
                                     enum token_form form, struct token_grant *grant,
                                     struct problem *err)
{
    struct secret *secret = secret_new("x-secret-x", 10);
    struct token_client client = {.token_url = "https://h/iceberg/v1/oauth/tokens",
                                  .catalog_url = "https://h/iceberg",
                                  .id = "app",
                                  .secret = secret};
    struct http_response r = {.status = status, .body = TEXT_INIT, .content_type = xstrdup(type)};
    text_add(&r.body, body);
    enum token_result result = token_read(&r, form, &client, grant, err);
    http_response_release(&r);
    secret_unref(secret);
    return result;
}

#define TOKEN(rest) "{\"access_token\":\"tok-1234567890\"" rest "}"

static const struct {
    const char *body;
    enum token_result estuary, spark;
    long long life;
} answers[] = {
    {GOOD, TOKEN_OK, TOKEN_OK, 3600},
    {TOKEN(",\"token_type\":\"bearer\""), TOKEN_OK, TOKEN_OK, -1},
    {TOKEN(",\"token_type\":\"BEARER\",\"expires_in\":null"), TOKEN_OK, TOKEN_OK, -1},
    {TOKEN(""), TOKEN_OK, TOKEN_OTHERWISE, -1},
    {TOKEN(",\"token_type\":\"bearer\",\"expires_in\":\"86400\""), TOKEN_OK, TOKEN_OTHERWISE,
     86400},
    {TOKEN(",\"token_type\":\"bearer\",\"expires_in\":1e12"), TOKEN_OK, TOKEN_OK, TOKEN_LIFE_MAX_S},
    {TOKEN(",\"token_type\":\"bearer\",\"expires_in\":90.5"), TOKEN_OK, TOKEN_OTHERWISE, 90},
    {TOKEN(",\"token_type\":\"bearer\",\"expires_in\":0"), TOKEN_OTHERWISE, TOKEN_OTHERWISE, -1},
    {TOKEN(",\"token_type\":\"bearer\",\"expires_in\":-1"), TOKEN_OTHERWISE, TOKEN_OTHERWISE, -1},
    {TOKEN(",\"token_type\":\"bearer\",\"expires_in\":\"soon\""), TOKEN_OTHERWISE, TOKEN_OTHERWISE,
     -1},
    {TOKEN(",\"token_type\":\"bearer\",\"expires_in\":[1]"), TOKEN_OTHERWISE, TOKEN_OTHERWISE, -1},
    {TOKEN(",\"token_type\":\"mac\",\"expires_in\":60"), TOKEN_OTHERWISE, TOKEN_OTHERWISE, -1},
    {TOKEN(",\"token_type\":\"N_A\",\"expires_in\":60"), TOKEN_OTHERWISE, TOKEN_OTHERWISE, -1},
    {"{\"access_token\":\"\",\"token_type\":\"bearer\"}", TOKEN_OTHERWISE, TOKEN_OTHERWISE, -1},
    {"{\"access_token\":\"a\\nX-Evil: 1\",\"token_type\":\"bearer\"}", TOKEN_OTHERWISE,
     TOKEN_OTHERWISE, -1},
    {"{\"access_token\":\"a b\",\"token_type\":\"bearer\"}", TOKEN_OTHERWISE, TOKEN_OTHERWISE, -1},
    {"{\"access_token\":\"\\u00e9\",\"token_type\":\"bearer\"}", TOKEN_OTHERWISE, TOKEN_OTHERWISE,
     -1},
    {"{\"access_token\":17,\"token_type\":\"bearer\"}", TOKEN_NOT_THERE, TOKEN_NOT_THERE, -1},
    {"{\"token_type\":\"bearer\"}", TOKEN_NOT_THERE, TOKEN_NOT_THERE, -1},
    {"{\"error\":\"invalid_client\",\"access_token\":\"tok-1234567890\"}", TOKEN_REFUSED,
     TOKEN_REFUSED, -1},
    {"[]", TOKEN_NOT_THERE, TOKEN_NOT_THERE, -1},
    {"<html>login</html>", TOKEN_NOT_THERE, TOKEN_NOT_THERE, -1},
    {"", TOKEN_NOT_THERE, TOKEN_NOT_THERE, -1},
};

static void test_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        static const enum token_form forms[] = {TOKEN_FORM, TOKEN_BASIC, TOKEN_SPARK};
        for (size_t f = 0; f < ARRAY_LEN(forms); f++) {
            AUTO_PROBLEM err = PROBLEM_INIT;
            struct token_grant grant;
            enum token_result wanted =
                forms[f] == TOKEN_SPARK ? answers[i].spark : answers[i].estuary;
            enum token_result got =
                read_answer(200, "application/json", answers[i].body, forms[f], &grant, &err);
            if (got != wanted)
                fail_msg("%s as %s: %s", answers[i].body, token_form_name(forms[f]),
                         token_result_name(got));
            if (got == TOKEN_OK) {
                assert_non_null(grant.token);
                assert_int_equal(grant.life_s, answers[i].life);
                assert_int_equal(err.kind, PROBLEM_NONE);
            } else {
                assert_null(grant.token);
                assert_non_null(err.what);
            }
            token_grant_release(&grant);
        }
    }
}

static void test_form_answer(void **state)
{
    (void)state;
    static const char body[] = "access_token=tok%2D1+x&token_type=bearer&expires_in=60";
    static const char good[] = "token_type=bearer&access_token=tok-%31234567&expires_in=60";
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct token_grant grant;
    assert_int_equal(read_answer(200, "text/plain", good, TOKEN_FORM, &grant, &err), TOKEN_OK);
    assert_string_equal(secret_bytes(grant.token), "tok-1234567");
    assert_int_equal(grant.life_s, 60);
    token_grant_release(&grant);
    assert_int_equal(read_answer(200, "text/plain", good, TOKEN_SPARK, &grant, &err),
                     TOKEN_OTHERWISE);
    assert_int_equal(read_answer(200, "text/plain", body, TOKEN_FORM, &grant, &err),
                     TOKEN_OTHERWISE);
    assert_int_equal(read_answer(200, "text/plain", "access_token", TOKEN_FORM, &grant, &err),
                     TOKEN_NOT_THERE);
}

static void test_unknown_member_is_not_shown(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct token_grant grant;
    read_answer(200, "application/json", "{\"token\":\"ey-very-secret\"}", TOKEN_FORM, &grant,
                &err);
    assert_null(strstr(err.evidence, "very-secret"));
}

static void test_too_long(void **state)
{
    (void)state;
    AUTO_TEXT body = TEXT_INIT;
    text_add(&body, "{\"token_type\":\"bearer\",\"access_token\":\"");
    for (int i = 0; i < TOKEN_MAX + 1; i++)
        text_addc(&body, 'x');
    text_add(&body, "\"}");
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct token_grant grant;
    assert_int_equal(read_answer(200, "application/json", body.s, TOKEN_FORM, &grant, &err),
                     TOKEN_OTHERWISE);
}

/* --- on the wire ------------------------------------------------------------------------------ */

struct world {
    struct script server;
    struct net *net;
    struct secret *secret;
    struct catalog_address address;
};

/* Path of a request without its query; borrowed buffer. */
static bool at(const char *request, const char *start)
{
    size_t n = strlen(start);
    return strncmp(request, start, n) == 0 && (request[n] == ' ' || request[n] == '?');
}

static void world_start(struct world *w, const char *branch,
                        void (*answer)(const char *, int, int *, const char **, char *, size_t))
{
    *w = (struct world){.server = {.answer = answer}};
    script_start(&w->server);
    w->net = net_new(&(struct net_options){0}, NULL);
    assert_non_null(w->net);
    w->secret = secret_new(SECRET, strlen(SECRET));
    AUTO(xfree) char *url = xasprintf("http://127.0.0.1:%d/iceberg", w->server.port);
    assert_int_equal(catalog_address(url, branch, &w->address, NULL), 0);
}

static void world_stop(struct world *w)
{
    net_free(w->net);
    script_stop(&w->server);
    secret_unref(w->secret);
    catalog_address_release(&w->address);
}

static int login(struct world *w, const char *uri, struct logins *out, struct problem *err)
{
    struct run *run = run_new_detached(NULL, w->net, 5000);
    int result = catalog_login(run, &w->address, uri, "app", w->secret, out, err);
    run_free(run);
    return result;
}

static void say(char *body, size_t room, const char *s)
{
    snprintf(body, room, "%s", s);
}

static void answer_good(const char *request, int n, int *status, const char **type, char *body,
                        size_t room)
{
    (void)request, (void)n, (void)status, (void)type;
    say(body, room, GOOD);
}

static void test_forms_on_the_wire(void **state)
{
    (void)state;
    struct world w;
    world_start(&w, "", answer_good);
    struct logins l;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(login(&w, CATALOG_TOKEN_URI, &l, &err), 0);
    assert_int_equal(l.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(l.tries[i].result, TOKEN_OK);
    assert_int_equal(atomic_load(&w.server.count), 3);
    const char *form = w.server.requests[0], *basic = w.server.requests[1],
               *spark = w.server.requests[2];
    assert_true(script_asked(&w.server, 0, "POST /iceberg/v1/oauth/tokens HTTP"));
    assert_non_null(strstr(
        form, "\r\n\r\ngrant_type=client_credentials&client_id=app&client_secret=" SECRET_ENCODED));
    assert_null(strstr(form, "scope"));
    assert_null(strcasestr(form, "\r\nauthorization:"));
    assert_non_null(strcasestr(form, "\r\ncontent-type: application/x-www-form-urlencoded"));
    /* base64("app:" SECRET_ENCODED) */
    assert_non_null(strstr(basic, "Basic YXBwOnMzY3JldCUyQiUyRiUyNSUzQXglMjAlQzMlQTk="));
    assert_non_null(strstr(basic, "\r\n\r\ngrant_type=client_credentials"));
    assert_null(strstr(basic, "client_secret"));
    assert_non_null(strstr(spark, "&client_secret=" SECRET_ENCODED "&scope=catalog"));
    logins_release(&l);
    world_stop(&w);
}

static void answer_refusing(const char *request, int n, int *status, const char **type, char *body,
                            size_t room)
{
    (void)request, (void)n, (void)type;
    *status = 401;
    say(body, room,
        "{\"error\":\"invalid_client\",\"error_description\":\"client authentication failed\"}");
}

static void test_refused_once(void **state)
{
    (void)state;
    struct world w;
    world_start(&w, "alice.x", answer_refusing);
    struct logins l;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(login(&w, CATALOG_TOKEN_URI_OLD, &l, &err), -1);
    assert_int_equal(err.kind, PROBLEM_REFUSED);
    assert_int_equal(err.who, WHO_YOU);
    assert_non_null(err.fix);
    assert_null(strstr(err.evidence, "s3cret"));
    assert_int_equal(atomic_load(&w.server.count), 1);
    world_stop(&w);
}

/* Routes of Bauplan's URL space: "api" is taken for a branch, deeper paths are not known. */
static void answer_routes(const char *request, int n, int *status, const char **type, char *body,
                          size_t room)
{
    (void)n, (void)type;
    static const char *const tokens[] = {"POST /iceberg/v1/oauth/tokens",
                                         "POST /iceberg/api/v1/oauth/tokens",
                                         "POST /iceberg/alice.x/v1/oauth/tokens"};
    for (size_t i = 0; i < ARRAY_LEN(tokens); i++)
        if (at(request, tokens[i])) {
            say(body, room, GOOD);
            return;
        }
    *status = 404;
    *type = "text/plain";
    say(body, room, "Not Found");
}

static void test_guide_value_on_branch(void **state)
{
    (void)state;
    struct world w;
    world_start(&w, "alice.x", answer_routes);
    struct logins l;
    assert_int_equal(login(&w, CATALOG_TOKEN_URI_OLD, &l, NULL), 0);
    assert_int_equal(l.count, 2);
    assert_int_equal(l.tries[0].result, TOKEN_NOT_THERE);
    assert_int_equal(l.tries[0].status, 404);
    assert_string_equal(logins_other(&l)->uri, CATALOG_TOKEN_URI);
    assert_null(logins_typed(&l, TOKEN_SPARK));
    logins_release(&l);
    world_stop(&w);
}

static void test_guide_value_on_main(void **state)
{
    (void)state;
    struct world w;
    world_start(&w, "", answer_routes);
    struct logins l;
    assert_int_equal(login(&w, CATALOG_TOKEN_URI_OLD, &l, NULL), 0);
    assert_int_equal(l.count, 4);
    assert_int_equal(logins_typed(&l, TOKEN_FORM)->result, TOKEN_OK);
    assert_string_equal(logins_other(&l)->uri, CATALOG_TOKEN_URI);
    logins_release(&l);
    world_stop(&w);
}

static void answer_nessie(const char *request, int n, int *status, const char **type, char *body,
                          size_t room)
{
    (void)n, (void)type, (void)body, (void)room;
    if (at(request, "POST /iceberg/v1/oauth/tokens")) {
        say(body, room, GOOD);
        return;
    }
    *status = 401; /* empty body, WWW-Authenticate: Bearer: some other part of the catalog */
}

static void test_only_above_the_branch(void **state)
{
    (void)state;
    struct world w;
    world_start(&w, "alice.x", answer_nessie);
    struct logins l;
    assert_int_equal(login(&w, CATALOG_TOKEN_URI, &l, NULL), 0);
    assert_int_equal(l.tries[0].result, TOKEN_NOT_THERE);
    AUTO(xfree) char *absolute = catalog_token_url(w.address.base, CATALOG_TOKEN_URI);
    assert_string_equal(logins_other(&l)->uri, absolute);
    logins_release(&l);
    world_stop(&w);
}

static void answer_refusing_candidate(const char *request, int n, int *status, const char **type,
                                      char *body, size_t room)
{
    if (n == 0) {
        *status = 405;
        return;
    }
    answer_refusing(request, n, status, type, body, room);
}

static void test_candidate_refuses(void **state)
{
    (void)state;
    struct world w;
    world_start(&w, "alice.x", answer_refusing_candidate);
    struct logins l;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(login(&w, CATALOG_TOKEN_URI_OLD, &l, &err), -1);
    assert_int_equal(err.kind, PROBLEM_REFUSED);
    assert_non_null(strstr(err.why, CATALOG_TOKEN_URI_OLD));
    assert_int_equal(atomic_load(&w.server.count), 2);
    world_stop(&w);
}

static void answer_strict(const char *request, int n, int *status, const char **type, char *body,
                          size_t room)
{
    (void)n, (void)type;
    if (strstr(request, "scope=catalog") == NULL &&
        strcasestr(request, "\r\nauthorization: basic") == NULL) {
        say(body, room, GOOD);
        return;
    }
    *status = 400;
    say(body, room, "{\"error\":\"invalid_scope\"}");
}

static void test_form_only(void **state)
{
    (void)state;
    struct world w;
    world_start(&w, "", answer_strict);
    struct logins l;
    assert_int_equal(login(&w, CATALOG_TOKEN_URI, &l, NULL), 0);
    assert_int_equal(logins_typed(&l, TOKEN_FORM)->result, TOKEN_OK);
    assert_int_equal(logins_typed(&l, TOKEN_BASIC)->result, TOKEN_OTHERWISE);
    assert_int_equal(logins_typed(&l, TOKEN_SPARK)->result, TOKEN_OTHERWISE);
    assert_int_equal(logins_typed(&l, TOKEN_SPARK)->problem.kind, PROBLEM_DENIED);
    logins_release(&l);
    world_stop(&w);
}

static void test_secret_stays_at_its_host(void **state)
{
    (void)state;
    struct world w;
    world_start(&w, "", answer_good);
    struct logins l;
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO(xfree) char *elsewhere = xasprintf("http://localhost:%d/token", w.server.port);
    assert_int_equal(login(&w, elsewhere, &l, &err), -1);
    assert_int_equal(err.kind, PROBLEM_INPUT);
    assert_int_equal(atomic_load(&w.server.count), 0);
    world_stop(&w);
}

static void test_nobody_answers(void **state)
{
    (void)state;
    struct world w;
    world_start(&w, "", answer_good);
    atomic_store(&w.server.stop, true);
    pthread_join(w.server.thread, NULL);
    close(w.server.fd);
    struct logins l;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(login(&w, CATALOG_TOKEN_URI, &l, &err), -1);
    assert_int_equal(err.kind, PROBLEM_UNREACHABLE);
    net_free(w.net);
    secret_unref(w.secret);
    catalog_address_release(&w.address);
}

/* --- the shared token ------------------------------------------------------------------------- */

static int lease_once(struct world *w, struct problem *err)
{
    AUTO(xfree) char *token_url = catalog_token_url(w->address.url, CATALOG_TOKEN_URI);
    struct token_client client = {token_url, w->address.url, "app", w->secret};
    struct run *run = run_new_detached(NULL, w->net, 5000);
    struct token_lease lease;
    int result = token_lease(run, &client, &lease, err);
    if (result == 0)
        token_return(run, &lease, false);
    run_free(run);
    return result;
}

static void answer_short(const char *request, int n, int *status, const char **type, char *body,
                         size_t room)
{
    (void)request, (void)n, (void)status, (void)type;
    say(body, room,
        "{\"access_token\":\"tok-1234567890\",\"token_type\":\"Bearer\",\"expires_in\":1}");
}

static void test_shared_and_renewed(void **state)
{
    (void)state;
    struct world w;
    world_start(&w, "", answer_good);
    for (int i = 0; i < 3; i++)
        assert_int_equal(lease_once(&w, NULL), 0);
    assert_int_equal(atomic_load(&w.server.count), 1);
    /* another secret is another login */
    secret_unref(w.secret);
    w.secret = secret_new("other-secret", 12);
    assert_int_equal(lease_once(&w, NULL), 0);
    assert_int_equal(atomic_load(&w.server.count), 2);
    world_stop(&w);

    world_start(&w, "", answer_short);
    assert_int_equal(lease_once(&w, NULL), 0);
    assert_int_equal(lease_once(&w, NULL), 0);
    assert_int_equal(atomic_load(&w.server.count), 1);
    usleep(950000); /* a tenth of its life before its end */
    assert_int_equal(lease_once(&w, NULL), 0);
    assert_int_equal(atomic_load(&w.server.count), 2);
    world_stop(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_form_answer),
        cmocka_unit_test(test_unknown_member_is_not_shown),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_forms_on_the_wire),
        cmocka_unit_test(test_refused_once),
        cmocka_unit_test(test_guide_value_on_branch),
        cmocka_unit_test(test_guide_value_on_main),
        cmocka_unit_test(test_only_above_the_branch),
        cmocka_unit_test(test_candidate_refuses),
        cmocka_unit_test(test_form_only),
        cmocka_unit_test(test_secret_stays_at_its_host),
        cmocka_unit_test(test_nobody_answers),
        cmocka_unit_test(test_shared_and_renewed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
