/* What the encryption service is sent, and what is said of all that it may answer. No message may
 * hold a secret. */
#include "seal_samples.h"

#include "net/net.h"

struct asked {
    struct canned server;
    struct net *net;
    struct problem err;
    struct node *sealed;
    int rc;
};

/* Seals against a server that answers so; first: an answer before, or NULL. */
static void ask(struct asked *a, const char *config, const char *first, const char *status,
                const char *headers, const char *body)
{
    AUTO_NODE *sent = tree(config);
    AUTO(xfree) char *answer = answer_of(status, headers, body);
    *a = (struct asked){.err = PROBLEM_INIT};
    a->server.answers[0] = first != NULL ? first : answer;
    for (size_t i = 1; i < ANSWERS - 1; i++)
        a->server.answers[i] = answer;
    a->net = net_new(&(struct net_options){0}, &a->err);
    assert_non_null(a->net);
    canned_start(&a->server);
    struct run *run = run_new_detached(NULL, a->net, 5000);
    a->rc = estuary_seal(run, sent, secrets, ARRAY_LEN(secrets), &a->sealed, &a->err);
    run_free(run);
    net_free(a->net);
    canned_stop(&a->server);
    assert_silent(&a->err);
}

static void asked_release(struct asked *a)
{
    node_free(a->sealed);
    problem_release(&a->err);
}
#define AUTO_ASKED __attribute__((cleanup(asked_release))) struct asked

static void what_is_sent(void **state)
{
    (void)state;
    AUTO_ASKED a;
    AUTO(xfree) char *right = filled(right_json);
    ask(&a, config_json, NULL, "200 OK", "Content-Type: application/json\r\n", right);
    if (a.rc != 0)
        fail_msg("%s", a.err.what);
    assert_int_equal(a.server.asked, 1);
    assert_ptr_equal(strstr(a.server.request, "POST /v1/encrypt-config HTTP/1.1\r\n"),
                     a.server.request);
    assert_non_null(strcasestr(a.server.request, "\r\nContent-Type: application/json\r\n"));
    assert_null(strcasestr(a.server.request, "\r\nAuthorization:"));
    assert_null(strcasestr(a.server.request, "\r\napikey:"));
    const char *body = strstr(a.server.request, "\r\n\r\n") + 4;
    AUTO_NODE *sent = tree(body);
    assert_int_equal(sent->count, 2);
    AUTO_NODE *config = tree(
        "{\"address\":\"db.example.com:5432\",\"user\":\"flow_shop\",\"historyMode\":false,"
        "\"credentials\":{\"auth_type\":\"UserPassword\",\"password\":\"canary "
        "pa\\\"55/w\\u00f6rd\"},"
        "\"catalog\":{\"credential\":\"8f1c:canary:client+s3cret==\",\"url\":\"https://x.example/"
        "b\"},\"advanced\":{\"slotName\":\"flow \\\"slot\\\"\",\"empty\":\"\"}}");
    AUTO_NODE *schema = tree(
        "{\"type\":\"object\",\"properties\":{\"address\":{\"type\":\"string\"},"
        "\"user\":{\"type\":\"string\"},\"historyMode\":{\"type\":\"boolean\"},"
        "\"credentials\":{\"type\":\"object\",\"properties\":{\"auth_type\":{\"type\":\"string\"},"
        "\"password\":{\"type\":\"string\",\"secret\":true}},\"required\":[\"auth_type\","
        "\"password\"],\"additionalProperties\":false},"
        "\"catalog\":{\"type\":\"object\",\"properties\":{\"credential\":{\"type\":\"string\","
        "\"secret\":true},\"url\":{\"type\":\"string\"}},\"required\":[\"credential\",\"url\"],"
        "\"additionalProperties\":false},"
        "\"advanced\":{\"type\":\"object\",\"properties\":{\"slotName\":{\"type\":\"string\"},"
        "\"empty\":{\"type\":\"string\"}},\"required\":[\"slotName\",\"empty\"],"
        "\"additionalProperties\":false}},\"required\":[\"address\",\"user\",\"historyMode\","
        "\"credentials\",\"catalog\",\"advanced\"],\"additionalProperties\":false}");
    assert_true(node_equal(node_get(sent, "config"), config));
    assert_true(node_equal(node_get(sent, "schema"), schema));
    /* letter by letter, in the order it came */
    AUTO_TEXT back = TEXT_INIT;
    node_write_json(a.sealed, &back);
    assert_string_equal(back.s, right);
}

static void a_refusal_names_places_only(void **state)
{
    (void)state;
    static const struct {
        const char *body, *evidence;
    } rows[] = {
        {"failed to validate config against schema: [{\"keyword\":\"type\",\"instanceLocation\":"
         "\"/credentials/password\",\"instanceValue\":\"canary pa\\\"55/w\xC3\xB6rd\"},{"
         "\"instanceLocation\":\"\",\"instanceValue\":{\"credential\":\"canary:client+s3cret==\"}}"
         "]",
         "type at /credentials/password; a rule at /"},
        {"failed: [{\"keywordLocation\":\"/properties/user/maxLength\",\"instanceLocation\":"
         "\"/user\",\"instanceValue\":\"canary pa\\\"55/w\xC3\xB6rd\",\"detail\":\"canary "
         "pa\\\"55/w\xC3\xB6rd is too long\"}]",
         "/user"},
        {"[{\"keyword\":\"canary:client+s3cret==\",\"instanceLocation\":\"/canary "
         "pa\\\"55/w\xC3\xB6rd\"}]",
         NULL},
        {"canary pa\"55/w\xC3\xB6rd is no good", NULL},
        {"[\"canary:client+s3cret==\"]", NULL},
        {"[{\"instanceLocation\":[\"canary:client+s3cret==\"]},7,null]", NULL},
        {"[{\"instanceLocation\":\"/x\",\"instanceValue\":\"canary:client+s3", NULL},
        {"{\"error\":\"x\",\"details\":{\"document\":\"canary:client+s3cret==\"}}", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ASKED a;
        ask(&a, config_json, NULL, "400 Bad Request", "Content-Type: text/plain\r\n", rows[i].body);
        assert_int_equal(a.rc, -1);
        assert_null(a.sealed);
        assert_int_equal(a.err.kind, PROBLEM_INPUT);
        assert_string_equal(a.err.code, "400");
        assert_int_equal(a.server.asked, 1);
        assert_non_null(a.err.fix);
        if (rows[i].evidence != NULL &&
            (a.err.evidence == NULL || strstr(a.err.evidence, rows[i].evidence) == NULL))
            fail_msg("“%s” does not say “%s”", a.err.evidence, rows[i].evidence);
    }
}

static void other_answers(void **state)
{
    (void)state;
    static const char page[] = "<html><body>canary pa\"55/w\xC3\xB6rd pw7</body></html>";
    static const struct {
        const char *status, *headers, *body, *code;
        enum problem_kind kind;
        size_t asked;
    } rows[] = {
        {"429 Too Many Requests", "", "canary:client+s3cret==", "429", PROBLEM_UNREACHABLE, 3},
        {"503 Service Unavailable", "", page, "503", PROBLEM_UNREACHABLE, 3},
        {"500 Internal Server Error", "", "", "500", PROBLEM_UNREACHABLE, 3},
        {"307 Temporary Redirect", "Location: https://else.example/\r\n", "", "307",
         PROBLEM_PROTOCOL, 1},
        {"302 Found", "Location: /login?back=canary:client+s3cret==\r\n", page, "302",
         PROBLEM_PROTOCOL, 1},
        {"404 Not Found", "", page, "404", PROBLEM_PROTOCOL, 1},
        {"200 OK", "Content-Type: text/html\r\n", page, "json", PROBLEM_PROTOCOL, 1},
        {"200 OK", "", "pw7 canary:client+s3cret==", "json", PROBLEM_PROTOCOL, 1},
        {"200 OK", "", "{\"canary:client+s3cret==\":1,\"canary:client+s3cret==\":2}", "json",
         PROBLEM_PROTOCOL, 1},
        {"200 OK", "", "", "json", PROBLEM_PROTOCOL, 1},
        {"200 OK", "", "[]", "unsealed", PROBLEM_PROTOCOL, 1},
        {"200 OK", "", config_json, "unsealed", PROBLEM_PROTOCOL, 1},
        {"204 No Content", "", "", "204", PROBLEM_PROTOCOL, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_ASKED a;
        ask(&a, config_json, NULL, rows[i].status, rows[i].headers, rows[i].body);
        assert_int_equal(a.rc, -1);
        assert_null(a.sealed);
        if (a.err.kind != rows[i].kind || strcmp(a.err.code, rows[i].code) != 0)
            fail_msg("%s: %s (%s)", rows[i].status, a.err.what, a.err.code);
        assert_int_equal(a.server.asked, rows[i].asked);
        assert_non_null(a.err.fix);
    }
}

static void a_busy_service_is_asked_again(void **state)
{
    (void)state;
    AUTO_ASKED a;
    AUTO(xfree) char *right = filled(right_json);
    ask(&a, config_json, "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "200 OK", "", right);
    if (a.rc != 0)
        fail_msg("%s", a.err.what);
    assert_int_equal(a.server.asked, 2);
    assert_non_null(strstr(a.server.request, "\"secret\":true"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sent),
        cmocka_unit_test(a_refusal_names_places_only),
        cmocka_unit_test(other_answers),
        cmocka_unit_test(a_busy_service_is_asked_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
