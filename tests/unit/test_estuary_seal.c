/* Sealing: which documents are taken, what is sent, and what is said when the service answers
 * something else. No message may hold a secret. */
#include "estuary_samples.h"

#include <ctype.h>
#include <openssl/evp.h>

#include "core/json.h"
#include "core/node_json.h"
#include "core/secret.h"
#include "estuary/seal.h"
#include "net/net.h"
#include "net_server.h"

#define PASSWORD "canary pa\"55/w\xC3\xB6rd"
#define CLIENT_SECRET "canary:client+s3cret=="
#define SHORT "pw7"

static const struct estuary_secret secrets[] = {{"HOLE-password", PASSWORD},
                                                {"HOLE-client", CLIENT_SECRET}};

static const char config_json[] =
    "{\"address\":\"db.example.com:5432\",\"user\":\"flow_shop\",\"historyMode\":false,"
    "\"credentials\":{\"auth_type\":\"UserPassword\",\"password\":\"HOLE-password\"},"
    "\"catalog\":{\"credential\":\"8f1c:HOLE-client\",\"url\":\"https://x.example/b\"},"
    "\"advanced\":{\"slotName\":\"flow \\\"slot\\\"\",\"empty\":\"\"}}";

/* As it is to come back; % stands for a value of PASSWORD's length, & for the other's. */
static const char right_json[] =
    "{\"address\":\"db.example.com:5432\",\"user\":\"flow_shop\",\"historyMode\":false,"
    "\"credentials\":{\"auth_type\":\"UserPassword\",\"password_sops\":\"%\"},"
    "\"catalog\":{\"credential_sops\":\"&\",\"url\":\"https://x.example/b\"},"
    "\"advanced\":{\"slotName\":\"flow \\\"slot\\\"\",\"empty\":\"\"},"
    "\"sops\":{\"kms\":null,\"gcp_kms\":[{\"resource_id\":\"projects/x/key\",\"created_at\":"
    "\"2026-11-30T10:00:00Z\",\"enc\":\"CiQA\"}],\"azure_kv\":null,\"hc_vault\":null,\"age\":null,"
    "\"lastmodified\":\"2026-11-30T10:00:00Z\",\"mac\":\"$\",\"pgp\":null,\"encrypted_suffix\":"
    "\"_sops\",\"version\":\"3.7.3\"}}";

/* --- documents
 * -------------------------------------------------------------------------------- */

static char *base64(const char *bytes, size_t n)
{
    unsigned char *out = xcalloc(n / 3 * 4 + 5, 1);
    EVP_EncodeBlock(out, (const unsigned char *)bytes, (int)n);
    return (char *)out;
}

static char *sealed_data(const char *data, size_t n)
{
    char *coded = base64(data, n);
    char *out =
        xasprintf("ENC[AES256_GCM,data:%s,iv:%s,tag:%s,type:str]", coded,
                  "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=", "MTIzNDU2Nzg5MDEyMzQ1Ng==");
    xfree(coded);
    return out;
}

static char *sealed_value(size_t n)
{
    char *noise = xcalloc(n + 1, 1);
    for (size_t i = 0; i < n; i++)
        noise[i] = (char)(0x80 + i % 0x7f);
    char *out = sealed_data(noise, n);
    xfree(noise);
    return out;
}

/* text with `find`, which must be there, replaced once. */
static char *replaced(const char *text, const char *find, const char *with)
{
    const char *at = strstr(text, find);
    if (at == NULL)
        fail_msg("“%s” is not in %s", find, text);
    return xasprintf("%.*s%s%s", (int)(at - text), text, with, at + strlen(find));
}

static char *filled(const char *template)
{
    const struct {
        const char *mark;
        size_t n;
    } marks[] = {{"%", strlen(PASSWORD)}, {"&", strlen("8f1c:" CLIENT_SECRET)}, {"$", 128}};
    char *text = xstrdup(template);
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        AUTO(xfree) char *value = sealed_value(marks[i].n);
        if (strstr(text, marks[i].mark) == NULL)
            continue;
        char *next = replaced(text, marks[i].mark, value);
        xfree(text);
        text = next;
    }
    return text;
}

static struct node *tree(const char *json)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct node *n = node_parse_json(json, strlen(json), "a test's document", &err);
    if (n == NULL)
        fail_msg("%s: %s", err.what, json);
    return n;
}

/* Nothing that is said holds a secret, a piece of one, or its base64. */
static void assert_silent(const struct problem *p)
{
    const char *const texts[] = {p->code, p->what, p->why, p->fix, p->evidence, p->copy};
    static const char *const never[] = {"canary", "pa\"55", "s3cret", "Y2FuYXJ5", SHORT};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        for (size_t j = 0; texts[i] != NULL && j < ARRAY_LEN(never); j++)
            if (strstr(texts[i], never[j]) != NULL)
                fail_msg("a secret in “%s”", texts[i]);
}

static int judged(const char *config, const struct estuary_secret *list, size_t count,
                  const char *sealed, struct problem *err)
{
    AUTO_NODE *sent = tree(config);
    AUTO_NODE *back = tree(sealed);
    return estuary_seal_judge(sent, list, count, back, err);
}

static void assert_taken(const char *sealed)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (judged(config_json, secrets, ARRAY_LEN(secrets), sealed, &err) != 0)
        fail_msg("%s: %s", err.what, sealed);
}

static void assert_refused(const char *sealed, const char *says)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (judged(config_json, secrets, ARRAY_LEN(secrets), sealed, &err) == 0)
        fail_msg("taken (should be: %s): %s", says, sealed);
    assert_int_equal(err.kind, PROBLEM_PROTOCOL);
    assert_string_equal(err.code, "unsealed");
    assert_non_null(err.why);
    assert_non_null(err.fix);
    assert_non_null(strstr(err.fix, "--secrets placeholder"));
    if (strstr(err.what, says) == NULL)
        fail_msg("“%s” does not say “%s”", err.what, says);
    assert_silent(&err);
}

/* --- what is taken
 * ---------------------------------------------------------------------------- */

static void what_is_right_is_taken(void **state)
{
    (void)state;
    static const char *const edits[][2] = {
        {"", ""},
        {"\"kms\":null,", ""},
        {"\"azure_kv\":null,\"hc_vault\":null,\"age\":null,", "\"age\":[],\"pgp_\":[],"},
        {"\"gcp_kms\":[{\"resource_id\":\"projects/x/key\",\"created_at\":"
         "\"2026-11-30T10:00:00Z\",\"enc\":\"CiQA\"}]",
         "\"age\":[{\"recipient\":\"age1x\",\"enc\":\"y\"}]"},
        {"\"version\":\"3.7.3\"", "\"version\":\"3.13.3\",\"mac_only_encrypted\":false"},
        {"\"address\":\"db.example.com:5432\",\"user\":\"flow_shop\"",
         "\"user\":\"flow_shop\",\"address\":\"db.example.com:5432\""},
        {"\"catalog\":{\"credential_sops\":\"&\",\"url\":\"https://x.example/b\"},"
         "\"advanced\":{\"slotName\":\"flow \\\"slot\\\"\",\"empty\":\"\"}",
         "\"advanced\":{\"empty\":\"\",\"slotName\":\"flow \\\"slot\\\"\"},"
         "\"catalog\":{\"url\":\"https://x.example/b\",\"credential_sops\":\"&\"}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
        AUTO(xfree) char *edited = replaced(right_json, edits[i][0], edits[i][1]);
        if (strstr(edited, "\"age\":null") != NULL && strstr(edited, "\"age\":[{") != NULL) {
            char *once = replaced(edited, "\"age\":null,", "");
            xfree(edited);
            edited = once;
        }
        AUTO(xfree) char *sealed = filled(edited);
        assert_taken(sealed);
    }
}

/* What the service would give back for these: each secret renamed and encrypted in its place. */
static struct node *renamed(const struct node *config)
{
    static const struct {
        const char *placeholder, *secret;
    } holes[] = {{"HOLE-password", PASSWORD}, {"HOLE-client", CLIENT_SECRET}};
    struct node *out = node_map();
    for (size_t i = 0; i < config->count; i++) {
        const struct node *item = config->items[i];
        if (item->kind == NODE_MAP) {
            node_append(out, config->keys[i], renamed(item));
            continue;
        }
        size_t n = 0;
        for (size_t j = 0; j < ARRAY_LEN(holes); j++)
            if (strstr(item->text, holes[j].placeholder) != NULL)
                n = strlen(item->text) - strlen(holes[j].placeholder) + strlen(holes[j].secret);
        AUTO(xfree) char *key = xasprintf("%s%s", config->keys[i], n > 0 ? "_sops" : "");
        AUTO(xfree) char *value = sealed_value(n);
        node_append(out, key, n > 0 ? node_scalar(value) : node_copy(item));
    }
    return out;
}

static void the_connectors_configs(void **state)
{
    (void)state;
    struct estuary_source source = sample_source();
    struct estuary_target target = sample_target();
    source.password = "HOLE-password";
    target.credential = "8f1c:HOLE-client";
    target.key_secret = "HOLE-password";
    struct node *configs[] = {estuary_source_config(&source), estuary_target_config(&target)};
    static const char *const sealed_at[] = {"credentials.password_sops",
                                            "compute.credentials.aws_secret_access_key_sops"};
    for (size_t i = 0; i < ARRAY_LEN(configs); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        AUTO(xfree) char *mac = sealed_value(128);
        AUTO_NODE *sealed = renamed(configs[i]);
        struct node *sops = tree("{\"gcp_kms\":[{\"enc\":\"x\"}],\"encrypted_suffix\":\"_sops\"}");
        node_set_text(sops, "mac", mac);
        node_append(sealed, "sops", sops);
        assert_non_null(node_find(sealed, sealed_at[i]));
        if (estuary_seal_judge(configs[i], secrets, ARRAY_LEN(secrets), sealed, &err) != 0)
            fail_msg("%s", err.what);
        node_free(configs[i]);
    }
}

/* A weak password that is also the user's name stands in the config by itself: that is no leak. */
static void what_was_sent_in_clear_may_come_back(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    static const struct estuary_secret weak[] = {{"HOLE", "flow_shop"}};
    AUTO(xfree) char *value = sealed_value(strlen("flow_shop"));
    AUTO(xfree) char *mac = sealed_value(128);
    AUTO(xfree)
    char *sealed = xasprintf("{\"user\":\"flow_shop\",\"password_sops\":\"%s\",\"sops\":{\"age\":"
                             "[{}],\"mac\":\"%s\",\"encrypted_suffix\":\"_sops\"}}",
                             value, mac);
    if (judged("{\"user\":\"flow_shop\",\"password\":\"HOLE\"}", weak, 1, sealed, &err) != 0)
        fail_msg("%s", err.what);
}

/* --- what is refused
 * -------------------------------------------------------------------------- */

static void another_config_is_refused(void **state)
{
    (void)state;
    static const char *const edits[][3] = {
        {"\"user\":\"flow_shop\"", "\"user\":\"flow_shoq\"", "/user came back changed"},
        {"\"user\":\"flow_shop\"", "\"user\":\"Flow_shop\"", "/user came back changed"},
        {"\"user\":\"flow_shop\"", "\"user\":\"flow_shop \"", "/user came back changed"},
        {"\"user\":\"flow_shop\"", "\"user\":null", "/user came back changed"},
        {"\"user\":\"flow_shop\"", "\"user\":{}", "/user came back changed"},
        {"\"user\":\"flow_shop\"", "\"user\":[\"flow_shop\"]", "/user came back changed"},
        {"\"user\":\"flow_shop\",", "", "/user is missing"},
        {"\"user\":", "\"user_sops\":", "/user is missing"},
        {"\"historyMode\":false", "\"historyMode\":true", "/historyMode came back changed"},
        {"\"historyMode\":false", "\"historyMode\":\"false\"", "/historyMode came back changed"},
        {"\"historyMode\":false", "\"historyMode\":0", "/historyMode came back changed"},
        {"\"historyMode\":false", "\"historyMode\":null", "/historyMode came back changed"},
        {"\"auth_type\":\"UserPassword\"", "\"auth_type\":\"AWSIAM\"",
         "/credentials/auth_type came back changed"},
        {"\"empty\":\"\"", "\"empty\":null", "/advanced/empty came back changed"},
        {",\"empty\":\"\"", "", "/advanced/empty is missing"},
        {"\"advanced\":{\"slotName\":\"flow \\\"slot\\\"\",\"empty\":\"\"}", "\"advanced\":\"\"",
         "/advanced is missing or of another kind"},
        {"\"advanced\":{\"slotName\":\"flow \\\"slot\\\"\",\"empty\":\"\"}",
         "\"advanced\":[\"flow\",\"\"]", "/advanced is missing or of another kind"},
        {",\"advanced\":{\"slotName\":\"flow \\\"slot\\\"\",\"empty\":\"\"}", "",
         "/advanced is missing or of another kind"},
        {"{\"address\"", "{\"more\":1,\"address\"", "/ has something that was not sent"},
        {"{\"address\"", "{\"more\":null,\"address\"", "/ has something that was not sent"},
        {"{\"slotName\"", "{\"more\":{},\"slotName\"", "/advanced has something that was not sent"},
        {"{\"auth_type\"", "{\"more\":\"x\",\"auth_type\"",
         "/credentials has something that was not sent"},
        {"{\"auth_type\"", "{\"sops\":{},\"auth_type\"",
         "/credentials has something that was not sent"},
        {"{\"auth_type\"", "{\"password_sops_sops\":\"x\",\"auth_type\"",
         "/credentials has something that was not sent"},
    };
    for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
        AUTO(xfree) char *edited = replaced(right_json, edits[i][0], edits[i][1]);
        AUTO(xfree) char *sealed = filled(edited);
        assert_refused(sealed, edits[i][2]);
    }
    assert_refused("[]", "/ is no object");
    assert_refused("\"ENC[AES256_GCM,data:AA==,iv:AA==,tag:AA==,type:str]\"", "/ is no object");
    assert_refused("null", "/ is no object");
    assert_refused("{}", "/sops is missing");
    assert_refused(config_json, "/sops is missing");
}

static void a_secret_must_be_encrypted(void **state)
{
    (void)state;
    static const char at[] = "/credentials/password";
    static const char *const values[] = {
        "\"\"",
        "null",
        "{}",
        "[\"%\"]",
        "\"ENC[]\"",
        "\"ENC\"",
        "\"xENC[AES256_GCM,data:AAAA,iv:AAAA,tag:AAAA,type:str]\"",
        "\"ENC[AES256_GCM,data:AAAA,iv:AAAA,tag:AAAA,type:str\"",
        "\"ENC[AES256_GCM,data:AAAA,iv:AAAA,tag:AAAA,type:int]\"",
        "\"ENC[AES256_GCM,data:AAAA,iv:AAAA,tag:AAAA]\"",
        "\"ENC[AES256_GCM,data:AAAA,iv:,tag:AAAA,type:str]\"",
        "\"ENC[AES256_GCM,data:AAAA,iv:AAAA,tag:,type:str]\"",
        "\"ENC[AES256_GCM,data:AAAA,iv:A*AA,tag:AAAA,type:str]\"",
        "\"ENC[AES256_GCM,data:AAAA,tag:AAAA,type:str]\"",
        "\"ENC[AES256_GCM,iv:AAAA,tag:AAAA,type:str]\"",
        "\"ENC[AES256_GCM,data:AAA,iv:AAAA,tag:AAAA,type:str]\"",
        "\"ENC[AES128_CBC,data:AAAA,iv:AAAA,tag:AAAA,type:str]\"",
        /* of another length than what it is to hide: another value, or none */
        "\"ENC[AES256_GCM,data:,iv:AAAA,tag:AAAA,type:str]\"",
        "\"ENC[AES256_GCM,data:AAAA,iv:AAAA,tag:AAAA,type:str]\"",
        "\"&\"",
    };
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        AUTO(xfree) char *edited = replaced(right_json, "\"%\"", values[i]);
        AUTO(xfree) char *sealed = filled(edited);
        assert_refused(sealed, at);
    }
    static const char *const edits[][3] = {
        {"\"password_sops\":\"%\"", "\"password\":\"%\"", "came back under its plain name"},
        {"\"password_sops\":\"%\"", "\"password\":\"%\",\"password_sops\":\"%\"",
         "came back under its plain name"},
        {",\"password_sops\":\"%\"", "", "did not come back encrypted"},
        {"\"password_sops\"", "\"password_enc\"", "did not come back encrypted"},
        {"\"password_sops\"", "\"sops_password\"", "did not come back encrypted"},
    };
    for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
        AUTO(xfree) char *edited = replaced(right_json, edits[i][0], edits[i][1]);
        AUTO(xfree) char *sealed = filled(edited);
        assert_refused(sealed, edits[i][2]);
    }
}

/* data that hides nothing: the secret, or the secret with what stands before it. */
static void encryption_by_name_only(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"\"%\"", PASSWORD},
        {"\"&\"", "8f1c:" CLIENT_SECRET},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(xfree) char *bare = sealed_data(rows[i][1], strlen(rows[i][1]));
        AUTO(xfree) char *quoted = xasprintf("\"%s\"", bare);
        AUTO(xfree) char *edited = replaced(right_json, rows[i][0], quoted);
        AUTO(xfree) char *sealed = filled(edited);
        assert_refused(sealed, "is a secret and is not encrypted");
    }
    AUTO_PROBLEM err = PROBLEM_INIT;
    static const struct estuary_secret weak[] = {{"HOLE", SHORT}};
    AUTO(xfree) char *bare = sealed_data(SHORT, strlen(SHORT));
    AUTO(xfree) char *mac = sealed_value(128);
    AUTO(xfree)
    char *sealed = xasprintf("{\"p_sops\":\"%s\",\"sops\":{\"age\":[{}],\"mac\":\"%s\","
                             "\"encrypted_suffix\":\"_sops\"}}",
                             bare, mac);
    assert_int_equal(judged("{\"p\":\"HOLE\"}", weak, 1, sealed, &err), -1);
    assert_silent(&err);
}

static void the_envelope_must_be_whole(void **state)
{
    (void)state;
    static const char *const edits[][3] = {
        {"\"encrypted_suffix\":\"_sops\"", "\"encrypted_suffix\":\"_secret\"", "encrypted_suffix"},
        {"\"encrypted_suffix\":\"_sops\"", "\"encrypted_suffix\":\"\"", "encrypted_suffix"},
        {"\"encrypted_suffix\":\"_sops\",", "", "encrypted_suffix"},
        {"\"encrypted_suffix\":\"_sops\"", "\"encrypted_suffix\":[\"_sops\"]", "encrypted_suffix"},
        {"\"mac\":\"$\"", "\"mac\":\"\"", "/sops/mac"},
        {"\"mac\":\"$\"", "\"mac\":null", "/sops/mac"},
        {"\"mac\":\"$\"", "\"mac\":\"5D41402ABC4B2A76B9719D911017C592\"", "/sops/mac"},
        {"\"mac\":\"$\",", "", "/sops/mac"},
        {"[{\"resource_id\":\"projects/x/key\",\"created_at\":\"2026-11-30T10:00:00Z\",\"enc\":"
         "\"CiQA\"}]",
         "[]", "names no key"},
        {"[{\"resource_id\":\"projects/x/key\",\"created_at\":\"2026-11-30T10:00:00Z\",\"enc\":"
         "\"CiQA\"}]",
         "null", "names no key"},
        {"[{\"resource_id\":\"projects/x/key\",\"created_at\":\"2026-11-30T10:00:00Z\",\"enc\":"
         "\"CiQA\"}]",
         "{\"resource_id\":\"x\"}", "names no key"},
    };
    for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
        AUTO(xfree) char *edited = replaced(right_json, edits[i][0], edits[i][1]);
        AUTO(xfree) char *sealed = filled(edited);
        assert_refused(sealed, edits[i][2]);
    }
    static const char *const no_sops[] = {"\"\"", "null", "[]", "true", "{}"};
    const char *from = strstr(right_json, "\"sops\":");
    for (size_t i = 0; i < ARRAY_LEN(no_sops); i++) {
        AUTO(xfree)
        char *edited =
            xasprintf("%.*s\"sops\":%s}", (int)(from - right_json), right_json, no_sops[i]);
        AUTO(xfree) char *sealed = filled(edited);
        assert_refused(sealed, "/sops");
    }
}

/* Wherever a secret turns up in clear, in whatever form, the document is not taken. */
static void no_secret_in_clear(void **state)
{
    (void)state;
    static const char *const places[][2] = {
        {"\"version\":\"3.7.3\"", "\"version\":\"%s\""},
        {"\"version\":\"3.7.3\"", "\"version\":\"3.7.3\",\"comment\":\"was: %s.\""},
        {"\"version\":\"3.7.3\"", "\"version\":\"3.7.3\",\"%s\":null"},
        {"\"version\":\"3.7.3\"", "\"version\":\"3.7.3\",\"deep\":[{\"a\":[\"%s\"]}]"},
        {"\"enc\":\"CiQA\"", "\"enc\":\"%s\""},
    };
    AUTO(xfree) char *whole = base64(PASSWORD, strlen(PASSWORD));
    AUTO(xfree) char *basic = base64("x:" CLIENT_SECRET "!", strlen("x:" CLIENT_SECRET "!"));
    const char *const forms[] = {
        "canary pa\\\"55/w\xC3\xB6rd",        "canary:client+s3cret==",           whole, basic,
        "canary%%3Aclient%%2Bs3cret%%3D%%3D", "canary%%20pa%%2255%%2Fw%%C3%%B6rd"};
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        for (size_t j = 0; j < ARRAY_LEN(forms); j++) {
            AUTO(xfree) char *form = replaced(places[i][1], "%s", forms[j]);
            while (strstr(form, "%%") != NULL) {
                char *next = replaced(form, "%%", "%");
                xfree(form);
                form = next;
            }
            AUTO(xfree) char *early = filled(right_json);
            AUTO(xfree) char *sealed = replaced(early, places[i][0], form);
            assert_refused(sealed, "in clear");
        }
}

static void short_secrets_are_compared_whole(void **state)
{
    (void)state;
    static const struct estuary_secret weak[] = {{"HOLE", "abcd"}};
    static const struct {
        const char *more;
        bool taken;
    } rows[] = {{"abcd", false}, {"xabcdx", true}, {"ABCD", true}};
    AUTO(xfree) char *value = sealed_value(4);
    AUTO(xfree) char *mac = sealed_value(128);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        AUTO(xfree)
        char *sealed = xasprintf("{\"p_sops\":\"%s\",\"sops\":{\"age\":[{\"enc\":\"%s\"}],\"mac\":"
                                 "\"%s\",\"encrypted_suffix\":\"_sops\"}}",
                                 value, rows[i].more, mac);
        int rc = judged("{\"p\":\"HOLE\"}", weak, 1, sealed, &err);
        assert_int_equal(rc, rows[i].taken ? 0 : -1);
    }
}

/* --- the request
 * ------------------------------------------------------------------------------ */

#define ANSWERS 4

/* Answers one request after the other with what was given, and keeps the last. */
struct canned {
    struct server listening; /* only its socket is used */
    pthread_t thread;
    const char *answers[ANSWERS];
    size_t asked;
    char request[65536];
};

static void *canned_body(void *arg)
{
    struct canned *c = arg;
    while (c->asked < ANSWERS && c->answers[c->asked] != NULL) {
        struct served s = {.server = &c->listening, .fd = accept(c->listening.fd, NULL, NULL)};
        if (s.fd < 0)
            break;
        while (c->asked < ANSWERS && c->answers[c->asked] != NULL &&
               server_read(&s, c->request, sizeof c->request))
            server_say(s.fd, c->answers[c->asked++]);
        close(s.fd);
    }
    return NULL;
}

static void canned_start(struct canned *c)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    c->listening.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(c->listening.fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(c->listening.fd, 8), 0);
    assert_int_equal(getsockname(c->listening.fd, (struct sockaddr *)&a, &n), 0);
    AUTO(xfree) char *url = xasprintf("http://127.0.0.1:%d", ntohs(a.sin_port));
    setenv("SLUICE_ESTUARY_ENCRYPTION_URL", url, 1);
    assert_int_equal(pthread_create(&c->thread, NULL, canned_body, c), 0);
}

static char *answer_of(const char *status, const char *headers, const char *body)
{
    return xasprintf("HTTP/1.1 %s\r\nContent-Length: %zu\r\n%s\r\n%s", status, strlen(body),
                     headers, body);
}

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
    atomic_store(&a->server.listening.stop, true);
    shutdown(a->server.listening.fd, SHUT_RDWR);
    net_free(a->net);
    pthread_join(a->server.thread, NULL);
    close(a->server.listening.fd);
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
        cmocka_unit_test(what_is_right_is_taken),
        cmocka_unit_test(the_connectors_configs),
        cmocka_unit_test(what_was_sent_in_clear_may_come_back),
        cmocka_unit_test(another_config_is_refused),
        cmocka_unit_test(a_secret_must_be_encrypted),
        cmocka_unit_test(encryption_by_name_only),
        cmocka_unit_test(the_envelope_must_be_whole),
        cmocka_unit_test(no_secret_in_clear),
        cmocka_unit_test(short_secrets_are_compared_whole),
        cmocka_unit_test(what_is_sent),
        cmocka_unit_test(a_refusal_names_places_only),
        cmocka_unit_test(other_answers),
        cmocka_unit_test(a_busy_service_is_asked_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
