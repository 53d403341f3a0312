/* Which sealed documents are taken. No message may hold a secret. */
#include "seal_samples.h"

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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
