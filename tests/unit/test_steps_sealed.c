/* When a sealed config may be exported: of the present answers, and of the secrets that went in. */
#include "spec_world.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/page.h"
#include "core/state.h"
#include "seal_samples.h"
#include "steps/review/export.h"
#include "steps/review/material.h"
#include "steps/review/review.h"
#include "steps/spec/sealed.h"

struct set_up {
    char folder[64];
    struct rows rows;
    struct wizard *w;
    struct state *s;
};

static int field(struct set_up *x, const char *id)
{
    int i = rows_field(&x->rows, id);
    assert_true(i >= 0);
    return i;
}

static void answer(struct set_up *x, const char *id, const char *text)
{
    wizard_set_text(x->w, field(x, id), text, ORIGIN_TYPED, NULL);
}

/* An outcome as the engine would bring it; takes the fact. */
static void bring(struct set_up *x, const char *id, const char *fact, struct fact *f)
{
    int check = rows_check(&x->rows, id);
    struct outcome *o = outcome_new();
    assert_true(check >= 0);
    outcome_pass(o, "found it");
    o->digest = wizard_check_digest(x->w, check);
    o->at = 1795948860;
    outcome_give(o, fact, f);
    assert_true(wizard_put_outcome(x->w, check, o));
    outcome_unref(o);
}

static struct fact *role(void)
{
    struct iam_side side = {.exists = true};
    side.entity.arn = xstrdup("arn:aws:iam::123456789012:role/sluice-shop-emr");
    return iam_side_fact(IAM_ROLE, &side);
}

static struct fact *identity(void)
{
    char account[] = "123456789012", partition[] = "aws", region[] = "us-east-1";
    char arn[] = "arn:aws:iam::123456789012:user/alice", source[] = "environment";
    struct aws_identity who = {
        .account = account, .partition = partition, .arn = arn, .region = region, .source = source};
    return aws_identity_fact(&who);
}

static const struct {
    const char *check, *fact, *secrets[2];
} configs[] = {
    {"capture.sealed", SPEC_FACT_SOURCE_SEALED, {"postgres.password", NULL}},
    {"materialization.sealed", SPEC_FACT_TARGET_SEALED, {"oauth.client_secret", "iam.access_key"}},
};

/* Sealed with the secrets of this moment. */
static void seal(struct set_up *x, size_t which)
{
    struct spec_sealed *s = xcalloc(1, sizeof *s);
    snprintf(s->of, sizeof s->of, "0123456789abcdef0123456789abcde%zu", which);
    s->document = tree("{\"user\":\"flow_shop\",\"sops\":{\"mac\":\"x\"}}");
    s->revisions = node_map();
    for (size_t i = 0; i < 2 && configs[which].secrets[i] != NULL; i++) {
        const char *id = configs[which].secrets[i];
        AUTO(xfree) char *revision = spec_revision(wizard_answer(x->w, field(x, id)));
        node_set_text(s->revisions, id, revision);
    }
    bring(x, configs[which].check, configs[which].fact, fact_new(&spec_sealed_type, s));
}

static void seal_both(struct set_up *x)
{
    for (size_t i = 0; i < ARRAY_LEN(configs); i++)
        seal(x, i);
}

static int open_all(void **state)
{
    static const char *const texts[][2] = {
        {"start.name", "shop"},
        {"start.prefix", "acmeCo/"},
        {"start.keep_secrets", "none"},
        {"oauth.branch", "alice.ingest"},
        {"oauth.client_id", "8f1ce2"},
        {"oauth.client_secret", "canary-of-the-client"},
        {"postgres.host", "db.example.com"},
        {"postgres.database", "shop"},
        {"postgres.password", "canary-of-the-capture"},
        {"postgres.tables", "public.orders"},
        {"emr.region", "us-east-1"},
        {"emr.application", "00f1abcd2efg3h09"},
        {"bucket.lake", "lake-acme"},
        {"iam.access_key", "AKIAIOSFODNN7EXAMPLE:canary00000000000000000000000000000000key"},
        {"capture.sslmode", "require"},
        {"materialization.namespace", "analytics"},
        {"materialization.hard_delete", "no"},
        {"materialization.sync_frequency", "30m"},
    };
    struct set_up *x = xcalloc(1, sizeof *x);
    AUTO_PROBLEM err = PROBLEM_INIT;
    memcpy(x->folder, "/tmp/sluice-sealed-XXXXXX", sizeof "/tmp/sluice-sealed-XXXXXX");
    assert_non_null(mkdtemp(x->folder));
    AUTO(xfree) char *path = xasprintf("%s/sluice.yaml", x->folder);
    if (rows_init(&x->rows, steps_all(), &err) != 0)
        fail_msg("%s", err.what);
    x->w = wizard_new(&x->rows);
    x->s = state_open(path, true, &err);
    assert_non_null(x->s);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        answer(x, texts[i][0], texts[i][1]);
    bring(x, "emr.identity", "emr.identity", identity());
    bring(x, "iam.found", "iam.role_found", role());
    *state = x;
    return 0;
}

static int close_all(void **state)
{
    static const char *const files[] = {"sluice.yaml",     "sluice.yaml.lock", "sluice.yaml~",
                                        "sluice.yaml.bak", "secret",           "other"};
    struct set_up *x = *state;
    state_close(x->s);
    wizard_free(x->w);
    rows_release(&x->rows);
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        AUTO(xfree) char *path = xasprintf("%s/%s", x->folder, files[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(x->folder), 0);
    xfree(x);
    return 0;
}

static bool can(struct set_up *x)
{
    return review_export_can(x->w, x->s, SECRETS_SEALED, NULL) == 0;
}

static void assert_cannot(struct set_up *x, const char *check)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(review_export_can(x->w, x->s, SECRETS_SEALED, &err), -1);
    assert_int_equal(err.kind, PROBLEM_INPUT);
    assert_string_equal(err.code, EXPORT_MISSING);
    assert_has(err.what, check);
    assert_has(err.fix, check);
    assert_has(err.fix, "--secrets placeholder");
    assert_non_null(err.why);
}

/* A private file with a secret; xfree. */
static char *secret_file(struct set_up *x, const char *name, const char *bytes)
{
    AUTO(xfree) char *path = xasprintf("%s/%s", x->folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fputs(bytes, f) >= 0, 1);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0600), 0);
    return xasprintf("file:%s", path);
}

static void refer(struct set_up *x, const char *id, const char *reference)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (wizard_set_reference(x->w, field(x, id), reference, ORIGIN_TYPED, &err) != 0)
        fail_msg("%s", err.what);
}

/* --- answers
 * ---------------------------------------------------------------------------------- */

static void both_configs_are_needed(void **state)
{
    struct set_up *x = *state;
    assert_cannot(x, "capture.sealed");
    seal(x, 0);
    assert_cannot(x, "materialization.sealed");
    seal(x, 1);
    assert_true(can(x));
    assert_int_equal(review_export_can(x->w, x->s, SECRETS_PLACEHOLDER, NULL), 0);
    assert_int_equal(review_export_can(x->w, x->s, SECRETS_PLAIN, NULL), 0);
}

/* Whatever stands in a config makes the sealed one of before another's; what does not, does not. */
static void answers_that_stand_in_it(void **state)
{
    struct set_up *x = *state;
    static const struct {
        const char *id, *then, *back, *check;
    } rows[] = {
        {"postgres.host", "other.example.com", "db.example.com", "capture.sealed"},
        {"postgres.database", "shop2", "shop", "capture.sealed"},
        {"capture.history", "yes", "no", "capture.sealed"},
        {"capture.sslmode", "verify-full", "require", "capture.sealed"},
        {"oauth.client_id", "8f1ce3", "8f1ce2", "materialization.sealed"},
        {"emr.application", "00f1abcd2efg3h10", "00f1abcd2efg3h09", "materialization.sealed"},
        {"bucket.lake", "lake-other", "lake-acme", "materialization.sealed"},
        {"materialization.namespace", "other", "analytics", "materialization.sealed"},
        {"materialization.sync_frequency", "5m", "30m", "materialization.sealed"},
        {"postgres.tables", "public.customers", "public.orders", NULL},
        {"materialization.bindings", "public.orders=o", "", NULL},
        {"start.data_plane", "ops/dp/public/aws-us-east-1-c2", "", NULL},
    };
    seal_both(x);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        answer(x, rows[i].id, rows[i].then);
        if (rows[i].check != NULL)
            assert_cannot(x, rows[i].check);
        else if (!can(x))
            fail_msg("%s stands in no config", rows[i].id);
        answer(x, rows[i].id, rows[i].back);
        if (!can(x))
            fail_msg("%s is as it was", rows[i].id);
    }
}

/* --- secrets
 * ---------------------------------------------------------------------------------- */

static void a_secret_typed_again(void **state)
{
    struct set_up *x = *state;
    static const char *const rows[][2] = {
        {"postgres.password", "capture.sealed"},
        {"oauth.client_secret", "materialization.sealed"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        seal_both(x);
        assert_true(can(x));
        answer(x, rows[i][0], "canary-another-one");
        assert_cannot(x, rows[i][1]);
        seal_both(x);
        assert_true(can(x));
    }
    answer(x, "iam.access_key", "AKIAIOSFODNN7EXAMPL2:canary11111111111111111111111111111111key");
    assert_cannot(x, "materialization.sealed");
}

/* The same reference is the same secret, in each process; another one is another. */
static void a_secret_by_reference(void **state)
{
    struct set_up *x = *state;
    AUTO(xfree) char *one = secret_file(x, "secret", "canary-by-reference");
    AUTO(xfree) char *two = secret_file(x, "other", "canary-by-reference");
    refer(x, "postgres.password", one);
    seal_both(x);
    assert_true(can(x));
    refer(x, "postgres.password", one); /* read again: of another revision */
    assert_true(can(x));
    refer(x, "postgres.password", two);
    assert_cannot(x, "capture.sealed");
    answer(x, "postgres.password", "canary-of-the-capture");
    assert_cannot(x, "capture.sealed");
    refer(x, "postgres.password", one);
    assert_true(can(x));
}

static void a_typed_secret_then_a_reference(void **state)
{
    struct set_up *x = *state;
    AUTO(xfree) char *one = secret_file(x, "secret", "canary-by-reference");
    seal_both(x);
    refer(x, "postgres.password", one);
    assert_cannot(x, "capture.sealed");
}

/* A process without the passphrase has no secret to compare with. */
static void a_secret_not_at_hand(void **state)
{
    struct set_up *x = *state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    seal_both(x);
    wizard_set(x->w, field(x, "postgres.password"), value_secret(NULL, NULL, "db.example.com"),
               ORIGIN_STATE, NULL);
    assert_true(can(x));
    assert_int_equal(review_export_can(x->w, x->s, SECRETS_PLAIN, &err), -1);
    assert_string_equal(err.code, EXPORT_MISSING);
    assert_has(err.what, "postgres.password");
}

/* From a variable a secret has another revision in each process, and no reference. */
static void a_secret_of_the_environment(void **state)
{
    struct set_up *x = *state;
    int password = field(x, "postgres.password");
    for (int i = 0; i < 2; i++) {
        wizard_set(x->w, password, NULL, ORIGIN_TYPED, NULL);
        wizard_set_text(x->w, password, "canary-of-the-environment", ORIGIN_ENVIRONMENT, NULL);
        if (i == 0)
            seal_both(x);
        if (!can(x))
            fail_msg("in process %d", i);
    }
}

/* --- the config
 * ----------------------------------------------------------------------------------- */

/* What of it is known to be another now, though no answer says so: a key that was made anew. */
static void a_document_of_another_config(void **state)
{
    struct set_up *x = *state;
    static const struct {
        const char *config;
        bool good;
    } rows[] = {
        {"{\"user\":\"flow_shop\"}", true},
        {"{\"user\":\"flow_shop\",\"password\":\"" SPEC_NO_PASSWORD "\"}", true},
        {"{\"user\":\"" SPEC_NO_KEY_ID "\"}", true},
        {"{\"user\":\"flow_shop2\"}", false},
        {"{\"user\":{\"flow_shop\":\"x\"}}", false},
        {"{\"user\":\"flow_shop\",\"more\":\"x\"}", false},
        {"{\"user\":\"flow_shop\",\"more\":{\"a\":\"x\"}}", false},
    };
    seal_both(x);
    struct material m = {.wizard = x->w, .state = x->s, .form = SECRETS_SEALED};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        AUTO_NODE *out = NULL;
        int rc = material_config(&m, SPEC_FACT_SOURCE_SEALED, tree(rows[i].config), &out, &err);
        if (rc != (rows[i].good ? 0 : -1))
            fail_msg("%s", rows[i].config);
        if (rows[i].good)
            assert_non_null(node_get(out, "sops"));
        else
            assert_string_equal(err.code, EXPORT_MISSING);
    }
}

/* A password that looks like the place of another secret stays what it is. */
static void in_clear_each_in_its_place(void **state)
{
    struct set_up *x = *state;
    answer(x, "postgres.password", "x" SPEC_NO_CLIENT_SECRET);
    struct material m = {.wizard = x->w, .state = x->s, .form = SECRETS_PLAIN};
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_NODE *out = NULL;
    struct node *config =
        tree("{\"p\":\"" SPEC_NO_PASSWORD "\",\"c\":{\"d\":\"8f1c:" SPEC_NO_CLIENT_SECRET
             "\"},\"k\":\"" SPEC_NO_KEY_SECRET "\"}");
    assert_int_equal(material_config(&m, SPEC_FACT_SOURCE_SEALED, config, &out, &err), 0);
    assert_string_equal(node_get_text(out, "p"), "x" SPEC_NO_CLIENT_SECRET);
    assert_string_equal(node_find(out, "c.d")->text, "8f1c:canary-of-the-client");
    assert_string_equal(node_get_text(out, "k"), "canary00000000000000000000000000000000key");
}

/* It would come out as another one. */
static void in_clear_only_as_utf8(void **state)
{
    struct set_up *x = *state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(review_export_can(x->w, x->s, SECRETS_PLAIN, &err), 0);
    answer(x, "postgres.password", "canary-of-latin-1-\xFC");
    assert_int_equal(review_export_can(x->w, x->s, SECRETS_PLAIN, &err), -1);
    assert_has(err.what, "postgres.password is not UTF-8");
}

/* --- through the state file
 * ------------------------------------------------------------------- */

static void after_a_restart(void **state)
{
    struct set_up *x = *state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO(xfree) char *path = xstrdup(state_path(x->s));
    seal_both(x);
    if (state_save(x->s, x->w, &err) != 0)
        fail_msg("%s", err.what);
    state_close(x->s);
    wizard_free(x->w);
    x->w = wizard_new(&x->rows);
    x->s = state_open(path, true, &err);
    assert_non_null(x->s);
    assert_int_equal(state_load(x->s, x->w, &err), 0);
    assert_true(can(x));
    answer(x, "postgres.host", "other.example.com");
    assert_cannot(x, "capture.sealed");
}

/* Sealed once, then with other answers to no end: what the file still has is of before. */
static void sealed_to_no_end_since(void **state)
{
    struct set_up *x = *state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    int check = rows_check(&x->rows, "capture.sealed");
    seal_both(x);
    assert_int_equal(state_save(x->s, x->w, &err), 0);
    answer(x, "capture.history", "yes");
    struct outcome *o = outcome_new();
    outcome_fail(o, "503", "busy");
    o->digest = wizard_check_digest(x->w, check);
    assert_true(wizard_put_outcome(x->w, check, o));
    outcome_unref(o);
    assert_cannot(x, "capture.sealed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_configs_are_needed, open_all, close_all),
        cmocka_unit_test_setup_teardown(answers_that_stand_in_it, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_secret_typed_again, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_secret_by_reference, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_typed_secret_then_a_reference, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_secret_not_at_hand, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_secret_of_the_environment, open_all, close_all),
        cmocka_unit_test_setup_teardown(a_document_of_another_config, open_all, close_all),
        cmocka_unit_test_setup_teardown(in_clear_each_in_its_place, open_all, close_all),
        cmocka_unit_test_setup_teardown(in_clear_only_as_utf8, open_all, close_all),
        cmocka_unit_test_setup_teardown(after_a_restart, open_all, close_all),
        cmocka_unit_test_setup_teardown(sealed_to_no_end_since, open_all, close_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
