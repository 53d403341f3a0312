/* Review and export from a model by hand: groups, what is missing, what is refused, and the files
 * letter by letter where it matters. */
#include "spec_world.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/state.h"
#include "steps/review/export.h"
#include "steps/review/review.h"

struct set_up {
    char folder[64];
    struct rows rows;
    struct wizard *w;
    struct state *s;
};

static void answer(struct set_up *x, const char *id, const char *text)
{
    wizard_set_text(x->w, rows_field(&x->rows, id), text, ORIGIN_TYPED, NULL);
}

/* An outcome as the engine would bring it; takes the fact. */
static void bring(struct set_up *x, const char *id, enum status status, const char *fact,
                  struct fact *f)
{
    int check = rows_check(&x->rows, id);
    struct outcome *o = outcome_new();
    assert_true(check >= 0);
    outcome_pass(o, "found it");
    if (status == STATUS_FAILED) {
        outcome_fail(o, "E1", "it is wrong | or not");
        outcome_fix(o, WHO_DBA, "mend it");
    } else if (status == STATUS_SKIPPED) {
        outcome_skip(o, "not here");
    }
    o->digest = wizard_check_digest(x->w, check);
    o->at = 1795948860; /* 2026-11-29T10:01:00Z */
    if (fact != NULL)
        outcome_give(o, fact, f);
    assert_true(wizard_put_outcome(x->w, check, o));
    outcome_unref(o);
}

static struct fact *chosen(void)
{
    static const struct postgres_column columns[] = {
        {.name = "id", .type = "bigint", .key = 1, .filled = true},
        {.name = "total", .type = "numeric", .generated = 's'}};
    struct postgres_tables *t = postgres_tables_new();
    spec_table(t, "public.orders", POSTGRES_KEY_PRIMARY, "id");
    spec_table(t, "public.\"Order Items\"", POSTGRES_KEY_PRIMARY, "id");
    spec_table(t, "public.\"a\nb\"", POSTGRES_KEY_NONE, "");
    for (size_t i = 0; i < 2; i++) {
        t->rows[i].columns = columns;
        t->rows[i].column_count = 2;
        t->rows[i].identified = true;
    }
    return fact_new(&postgres_chosen_type, t);
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

static void look(struct set_up *x)
{
    bring(x, "emr.identity", STATUS_PASSED, "emr.identity", identity());
    bring(x, "iam.found", STATUS_PASSED, "iam.role_found", role());
    bring(x, "postgres.found", STATUS_PASSED, "postgres.chosen", chosen());
}

static int open_all(void **state)
{
    static const char *const texts[][2] = {
        {"start.name", "shop"},
        {"start.prefix", "acmeCo/"},
        {"oauth.branch", "alice.ingest"},
        {"oauth.client_id", "8f1ce2"},
        {"oauth.client_secret", "canary-of-the-client"},
        {"postgres.host", "shop-db.abc.us-east-1.rds.amazonaws.com"},
        {"postgres.database", "shop"},
        {"postgres.admin_password", "canary-of-the-admin"},
        {"postgres.password", "canary-of-the-capture"},
        {"postgres.tables", "public.orders\npublic.\"Order Items\""},
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
    memcpy(x->folder, "/tmp/sluice-review-XXXXXX", sizeof "/tmp/sluice-review-XXXXXX");
    assert_non_null(mkdtemp(x->folder));
    AUTO(xfree) char *path = xasprintf("%s/sluice.yaml", x->folder);
    if (rows_init(&x->rows, steps_all(), &err) != 0)
        fail_msg("%s", err.what);
    x->w = wizard_new(&x->rows);
    x->s = state_open(path, true, &err);
    assert_non_null(x->s);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        answer(x, texts[i][0], texts[i][1]);
    look(x);
    *state = x;
    return 0;
}

static int close_all(void **state)
{
    struct set_up *x = *state;
    AUTO(xfree) char *lock = xasprintf("%s/sluice.yaml.lock", x->folder);
    state_close(x->s);
    wizard_free(x->w);
    rows_release(&x->rows);
    unlink(lock);
    assert_int_equal(rmdir(x->folder), 0);
    xfree(x);
    return 0;
}

static const char *file(const struct folder *f, const char *path)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->files[i].path, path) == 0)
            return f->files[i].bytes;
    fail_msg("no file %s", path);
    return NULL;
}

static void export_all(struct set_up *x, struct folder *f)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    bool draft;
    if (review_export(x->w, x->s, SECRETS_PLACEHOLDER, f, &draft, &err) != 0)
        fail_msg("%s: %s", err.code, err.what);
}

/* --- review ----------------------------------------------------------------------------------- */

static enum review_group group_of(struct set_up *x, const char *id, bool ageing)
{
    AUTO_REVIEW r = {0};
    review_make(x->w, ageing, &r);
    assert_int_equal(r.count, x->rows.check_count);
    return r.rows[rows_check(&x->rows, id)].group;
}

static void checks_are_grouped(void **state)
{
    struct set_up *x = *state;
    bring(x, "capture.config", STATUS_PASSED, NULL, NULL);
    bring(x, "capture.tls", STATUS_FAILED, NULL, NULL);
    bring(x, "capture.name", STATUS_FAILED, NULL, NULL);
    bring(x, "capture.keys", STATUS_SKIPPED, NULL, NULL);
    wizard_accept(x->w, rows_check(&x->rows, "capture.name"), "because");
    assert_int_equal(group_of(x, "capture.config", true), REVIEW_PROVED);
    assert_int_equal(group_of(x, "capture.tls", true), REVIEW_OPEN);
    assert_int_equal(group_of(x, "capture.name", true), REVIEW_ACCEPTED);
    assert_int_equal(group_of(x, "capture.keys", false), REVIEW_APART);
    assert_int_equal(group_of(x, "iam.replay", true), REVIEW_OPEN);
    assert_int_equal(group_of(x, "emr.identity", true), REVIEW_STALE); /* of last year, or next */
    assert_int_equal(group_of(x, "emr.identity", false), REVIEW_PROVED);
    answer(x, "postgres.port", "5433");
    assert_int_equal(group_of(x, "capture.config", false), REVIEW_STALE);
    AUTO_REVIEW r = {0};
    review_make(x->w, false, &r);
    assert_int_equal(r.newest, 1795948860);
    assert_int_equal(r.of[REVIEW_ACCEPTED], 1);
}

/* --- export ----------------------------------------------------------------------------------- */

static void the_files(void **state)
{
    struct set_up *x = *state;
    AUTO_FOLDER f = {0};
    export_all(x, &f);
    assert_has(file(&f, "acmeCo/shop/source-postgres.config.yaml"),
               "address: shop-db.abc.us-east-1.rds.amazonaws.com:5432\n");
    assert_has(file(&f, "acmeCo/shop/source-postgres.config.yaml"),
               "password: PLACEHOLDER-postgres.password\n");
    const char *target = file(&f, "acmeCo/shop/materialize-bauplan.config.yaml");
    assert_has(target, "credential: 8f1ce2:PLACEHOLDER-oauth.client_secret\n");
    assert_has(target, "execution_role_arn: arn:aws:iam::123456789012:role/sluice-shop-emr\n");
    assert_has(target, "aws_access_key_id: AKIAIOSFODNN7EXAMPLE\n");
    assert_has(target, "aws_secret_access_key: PLACEHOLDER-iam.secret_access_key\n");
    const char *collections = file(&f, "acmeCo/shop/public/flow.yaml");
    assert_has(collections, "acmeCo/shop/public/order_items:\n");
    assert_null(strstr(collections, "total")); /* computed columns do not arrive */
    assert_has(file(&f, "policies/user.json"), "00f1abcd2efg3h09");
    assert_has(file(&f, "policies/role.json"), "arn:aws:s3:::lake-acme/iceberg/*");
    assert_has(file(&f, "policies/role-trust.json"), "emr-serverless.amazonaws.com");
    assert_has(file(&f, "RUNBOOK.md"), "# shop: PostgreSQL → Bauplan, as proved on 2026-11-29 ");
    for (size_t i = 0; i < f.count; i++)
        assert_null(strstr(f.files[i].bytes, "canary"));
}

static void the_sql(void **state)
{
    struct set_up *x = *state;
    AUTO_FOLDER f = {0};
    export_all(x, &f);
    const char *sql = file(&f, "postgres.sql");
    assert_has(sql, "CREATE ROLE flow_shop WITH LOGIN PASSWORD :'password';\n"
                    "GRANT rds_replication TO flow_shop;\n"); /* the host is RDS's */
    assert_has(sql, "GRANT SELECT ON public.orders, public.\"Order Items\" TO flow_shop;\n");
    assert_has(sql, "CREATE PUBLICATION flow_shop FOR TABLE public.flow_watermarks, public.orders, "
                    "public.\"Order Items\" WITH (publish_via_partition_root = true);\n");
    assert_null(strstr(sql, "SCRAM"));
    assert_null(strstr(sql, "left out"));
}

/* A name with a line end stays in its comment, and a table that would break is not published. */
static void odd_tables(void **state)
{
    struct set_up *x = *state;
    AUTO_FOLDER f = {0};
    int field = rows_field(&x->rows, "postgres.tables");
    static const char *const tables[] = {"public.orders", "public.\"a\nb\""};
    wizard_set(x->w, field, value_list(tables, 2), ORIGIN_TYPED, NULL);
    look(x);
    export_all(x, &f);
    const char *sql = file(&f, "postgres.sql");
    assert_has(sql, "-- left out, as it has no replica identity: public.U&\"a\\+00000Ab\"\n");
    assert_has(sql, "CREATE PUBLICATION flow_shop FOR TABLE public.flow_watermarks, public.orders "
                    "WITH");
    assert_has(file(&f, "RUNBOOK.md"), "| `public.\"a^Jb\"` | `acmeCo/shop/public/a_b` |");
    assert_has(file(&f, "acmeCo/shop/public/flow.yaml"), "- /_meta/source/loc/0\n");
}

static void one_state_gives_one_folder(void **state)
{
    struct set_up *x = *state;
    AUTO_FOLDER one = {0};
    AUTO_FOLDER two = {0};
    export_all(x, &one);
    export_all(x, &two);
    assert_int_equal(one.count, two.count);
    for (size_t i = 0; i < one.count; i++) {
        assert_string_equal(one.files[i].path, two.files[i].path);
        assert_string_equal(one.files[i].bytes, two.files[i].bytes);
    }
}

static void the_runbook_says_who(void **state)
{
    struct set_up *x = *state;
    AUTO_FOLDER f = {0};
    bring(x, "capture.tls", STATUS_FAILED, NULL, NULL);
    answer(x, "start.data_plane", "ops/dp/public/aws-us-east-1-c2");
    export_all(x, &f);
    const char *book = file(&f, "RUNBOOK.md");
    assert_has(book, "- **DBA** (`capture.tls`): mend it\n");
    assert_has(book, "- `capture.tls` (blocks): it is wrong \\| or not\n");
    assert_has(book, "- `iam.replay` (blocks): never run. ");
    assert_has(book, "--init-data-plane ops/dp/public/aws-us-east-1-c2`");
    assert_has(book, "Nothing was made by sluice.");
    assert_has(book, "pg_drop_replication_slot('flow_shop')");
    assert_true(strstr(book, "flowctl discover") < strstr(book, "flowctl catalog publish"));
}

static void refused(struct set_up *x, const char *code, const char *what)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_FOLDER f = {0};
    bool draft;
    assert_int_equal(review_export(x->w, x->s, SECRETS_PLACEHOLDER, &f, &draft, &err), -1);
    assert_string_equal(err.code, code);
    assert_has(err.what, what);
    assert_non_null(err.fix);
}

static void what_is_missing_is_named(void **state)
{
    static const char *const rows[][3] = {
        {"start.prefix", "acmeCo/", "the Estuary prefix"},
        {"emr.application", "00f1abcd2efg3h09", "no EMR Serverless application"},
        {"materialization.hard_delete", "no", "materialization.hard_delete"},
        {"postgres.tables", "public.orders\npublic.\"Order Items\"", "postgres.tables"},
    };
    struct set_up *x = *state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        answer(x, rows[i][0], "");
        refused(x, EXPORT_MISSING, rows[i][2]);
        answer(x, rows[i][0], rows[i][1]);
    }
    answer(x, "postgres.host", "other.example.com");
    refused(x, EXPORT_MISSING, "the chosen tables were not looked at");
    look(x);
    answer(x, "iam.role", "another");
    refused(x, EXPORT_MISSING, "role and user were not looked at");
    struct iam_side none = {0};
    bring(x, "iam.found", STATUS_PASSED, "iam.role_found", iam_side_fact(IAM_ROLE, &none));
    refused(x, EXPORT_MISSING, "the execution role does not exist");
}

static void what_could_not_be_published_is_refused(void **state)
{
    static const char *const rows[][4] = {
        {"materialization.hard_delete", "yes", "materialization.deletes", "hard deletes need"},
        {"materialization.bindings", "public.orders=order_items", "materialization.tables",
         "share a name"},
        {"capture.bindings", "public.orders=acmeCo/shop/public/order_items", "capture.collections",
         "cannot have their names"},
        {"capture.name", "x/shop/source-postgres", "capture.name", "outside your prefix"},
        {"materialization.name", "acmeCo/shop", "materialization.name", "do not go together"},
        {"oauth.token_uri", "api/v1/oauth/tokens", "credentials.oauth2_server_uri", "older guide"},
        {"bucket.staging_prefix", "iceberg/x", "base_location", "overlap"},
    };
    struct set_up *x = *state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        answer(x, rows[i][0], rows[i][1]);
        look(x);
        refused(x, rows[i][2], rows[i][3]);
        answer(x, rows[i][0], "");
        if (strcmp(rows[i][0], "materialization.hard_delete") == 0)
            answer(x, rows[i][0], "no");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(checks_are_grouped),
        TEST(the_files),
        TEST(the_sql),
        TEST(odd_tables),
        TEST(one_state_gives_one_folder),
        TEST(the_runbook_says_who),
        TEST(what_is_missing_is_named),
        TEST(what_could_not_be_published_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
