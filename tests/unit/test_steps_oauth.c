/* Verdicts of the step OAuth as pure functions, with facts no live server gives on demand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/rows.h"
#include "core/text.h"
#include "steps/oauth/facts.h"
#include "steps/oauth/judge.h"
#include "steps/steps.h"

#define BAUPLAN "https://api.use1.aprod.bauplanlabs.com/iceberg"

static void unref(struct outcome **o)
{
    outcome_unref(*o);
}
#define AUTO_OUTCOME __attribute__((cleanup(unref))) struct outcome

/* --- address and reach ------------------------------------------------------------------------ */

static void test_address(void **state)
{
    (void)state;
    static const struct {
        const char *url, *branch;
        enum status status;
        const char *line;
    } rows[] = {
        {BAUPLAN, "alice.ingest", STATUS_PASSED, BAUPLAN "/alice.ingest"},
        {BAUPLAN "/alice.ingest", "alice.ingest", STATUS_PASSED, "taken once"},
        {"https://localhost:9443/iceberg", "alice.ingest", STATUS_PASSED, "localhost"},
        {BAUPLAN, "", STATUS_WARNED, "main"},
        {BAUPLAN, "main", STATUS_WARNED, "main"},
        {BAUPLAN, "ingest", STATUS_WARNED, "<username>.<name>"},
        {"https://catalog.example.com/iceberg", "alice.x", STATUS_WARNED, "not a host of Bauplan"},
        {"https://api.use1.aprod.bauplanlabs.com/catalog", "alice.x", STATUS_WARNED, "/iceberg"},
        {BAUPLAN "/bob.x", "alice.x", STATUS_FAILED, "bob.x"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_OUTCOME *o = outcome_new();
        judge_address(rows[i].url, rows[i].branch, o);
        assert_int_equal(o->status, rows[i].status);
        if (strstr(o->line, rows[i].line) == NULL)
            fail_msg("%s: %s", rows[i].url, o->line);
        if (o->status != STATUS_PASSED)
            assert_non_null(o->fix);
    }
    AUTO_OUTCOME *o = outcome_new();
    judge_address(BAUPLAN "/alice.ingest", "", o);
    assert_string_equal(o->suggest_field, "oauth.url");
    assert_string_equal(o->suggest_value, BAUPLAN);
}

static void test_reach(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *type, *body;
        enum status outcome;
    } rows[] = {
        {401, "", "", STATUS_PASSED},
        {403, "application/json", "{\"error\":{\"message\":\"x\",\"type\":\"FORBIDDEN\"}}",
         STATUS_PASSED},
        {200, "application/json", "{\"defaults\":{},\"overrides\":{}}", STATUS_PASSED},
        {404, "text/html", "<html>", STATUS_WARNED},
        {403, "text/html", "<html>", STATUS_WARNED},
        {400, "application/json", "{\"error\":{\"message\":\"x\",\"type\":\"INVALID_REF\"}}",
         STATUS_WARNED},
        {200, "text/html", "<html>", STATUS_FAILED},
        {302, "", "", STATUS_FAILED},
        {500, "", "", STATUS_FAILED},
        {502, "text/html", "<html>", STATUS_UNREACHABLE},
        {429, "", "", STATUS_UNREACHABLE},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct http_response r = {.status = rows[i].status,
                                  .body = TEXT_INIT,
                                  .content_type = xstrdup(rows[i].type),
                                  .tls = xstrdup("TLSv1.3"),
                                  .cert_until = 1802304000};
        text_add(&r.body, rows[i].body);
        AUTO_OUTCOME *o = outcome_new();
        judge_reach(&r, BAUPLAN, "default", o);
        http_response_release(&r);
        if (o->status != rows[i].outcome)
            fail_msg("HTTP %d: %s, %s", rows[i].status, status_name(o->status), o->line);
        if (rows[i].status == 401)
            assert_string_equal(o->line, "TLS 1.3, certificate until 2027-02-11");
    }
}

/* --- tokens
 * ---------------------------------------------------------------------------------------------------
 */

static struct login_try *add_try(struct logins *l, enum token_form form, const char *uri,
                                 const char *url, bool typed, enum token_result result, int status)
{
    struct login_try *t = &l->tries[l->count++];
    *t = (struct login_try){.form = form,
                            .uri = xstrdup(uri),
                            .url = xstrdup(url),
                            .typed = typed,
                            .result = result,
                            .status = status,
                            .problem = PROBLEM_INIT,
                            .life_s = result == TOKEN_OK ? 86400 : -1};
    if (result != TOKEN_OK) {
        problem_fail(&t->problem, PROBLEM_DENIED, "http 400 invalid_scope",
                     "the server refuses the scope");
        problem_why(&t->problem, "because");
        problem_fix(&t->problem, WHO_BAUPLAN, "Ask.");
        problem_evidence(&t->problem, "POST …");
    }
    return t;
}

#define BRANCH BAUPLAN "/alice.x/"
#define AUTO_LOGINS __attribute__((cleanup(logins_release))) struct logins

static void test_all_good(void **state)
{
    (void)state;
    AUTO_LOGINS l = {0};
    for (int f = TOKEN_FORM; f <= TOKEN_SPARK; f++)
        add_try(&l, (enum token_form)f, CATALOG_TOKEN_URI, BRANCH CATALOG_TOKEN_URI, true, TOKEN_OK,
                200);
    void (*const judges[])(const struct logins *, struct outcome *) = {
        judge_token_uri, judge_token_form, judge_token_basic, judge_token_spark, judge_token_life};
    for (size_t i = 0; i < ARRAY_LEN(judges); i++) {
        AUTO_OUTCOME *o = outcome_new();
        judges[i](&l, o);
        assert_int_equal(o->status, STATUS_PASSED);
        assert_null(o->suggest_field);
    }
}

static void test_guide_value(void **state)
{
    (void)state;
    AUTO_LOGINS l = {0};
    add_try(&l, TOKEN_FORM, CATALOG_TOKEN_URI_OLD, BRANCH CATALOG_TOKEN_URI_OLD, true,
            TOKEN_NOT_THERE, 404);
    add_try(&l, TOKEN_FORM, CATALOG_TOKEN_URI, BRANCH CATALOG_TOKEN_URI, false, TOKEN_OK, 200);
    AUTO_OUTCOME *o = outcome_new();
    judge_token_uri(&l, o);
    assert_int_equal(o->status, STATUS_FAILED);
    assert_string_equal(o->suggest_field, "oauth.token_uri");
    assert_string_equal(o->suggest_value, CATALOG_TOKEN_URI);
    assert_non_null(strstr(o->line, "404"));
    assert_non_null(strstr(o->why, "older guide"));
    assert_int_equal(o->who, WHO_YOU);
    assert_int_equal(o->item_count, 2);
}

static void test_guide_value_works(void **state)
{
    (void)state;
    AUTO_LOGINS l = {0};
    add_try(&l, TOKEN_FORM, CATALOG_TOKEN_URI_OLD, BAUPLAN "/" CATALOG_TOKEN_URI_OLD, true,
            TOKEN_OK, 200);
    add_try(&l, TOKEN_FORM, CATALOG_TOKEN_URI, BAUPLAN "/" CATALOG_TOKEN_URI, false, TOKEN_OK, 200);
    AUTO_OUTCOME *o = outcome_new();
    judge_token_uri(&l, o);
    assert_int_equal(o->status, STATUS_WARNED);
    assert_string_equal(o->suggest_value, CATALOG_TOKEN_URI);
}

static void test_only_above_the_branch(void **state)
{
    (void)state;
    AUTO_LOGINS l = {0};
    add_try(&l, TOKEN_FORM, CATALOG_TOKEN_URI, BRANCH CATALOG_TOKEN_URI, true, TOKEN_NOT_THERE,
            404);
    add_try(&l, TOKEN_FORM, CATALOG_TOKEN_URI_OLD, BRANCH CATALOG_TOKEN_URI_OLD, false,
            TOKEN_NOT_THERE, 404);
    add_try(&l, TOKEN_FORM, BAUPLAN "/v1/oauth/tokens", BAUPLAN "/v1/oauth/tokens", false, TOKEN_OK,
            200);
    AUTO_OUTCOME *o = outcome_new();
    judge_token_uri(&l, o);
    assert_int_equal(o->status, STATUS_FAILED);
    assert_string_equal(o->suggest_value, BAUPLAN "/v1/oauth/tokens");
    assert_non_null(strstr(o->why, "branch"));
}

static void test_nothing_works(void **state)
{
    (void)state;
    AUTO_LOGINS l = {0};
    add_try(&l, TOKEN_FORM, "oauth", BRANCH "oauth", true, TOKEN_NOT_THERE, 404);
    add_try(&l, TOKEN_FORM, CATALOG_TOKEN_URI, BRANCH CATALOG_TOKEN_URI, false, TOKEN_NOT_THERE,
            404);
    AUTO_OUTCOME *o = outcome_new();
    judge_token_uri(&l, o);
    assert_int_equal(o->status, STATUS_FAILED);
    assert_null(o->suggest_field);
    assert_non_null(o->fix);
}

static void test_forms_refused(void **state)
{
    (void)state;
    AUTO_LOGINS l = {0};
    add_try(&l, TOKEN_FORM, CATALOG_TOKEN_URI, BRANCH CATALOG_TOKEN_URI, true, TOKEN_OTHERWISE,
            400);
    add_try(&l, TOKEN_BASIC, CATALOG_TOKEN_URI, BRANCH CATALOG_TOKEN_URI, true, TOKEN_REFUSED, 401);
    add_try(&l, TOKEN_SPARK, CATALOG_TOKEN_URI, BRANCH CATALOG_TOKEN_URI, true, TOKEN_OTHERWISE,
            400);
    AUTO_OUTCOME *uri = outcome_new(), *form = outcome_new(), *basic = outcome_new(),
                 *spark = outcome_new(), *life = outcome_new();
    judge_token_uri(&l, uri);
    assert_int_equal(uri->status,
                     STATUS_PASSED); /* it is a token endpoint; the forms are judged apart */
    judge_token_form(&l, form);
    assert_int_equal(form->status, STATUS_FAILED);
    judge_token_basic(&l, basic);
    assert_int_equal(basic->status, STATUS_SKIPPED); /* one cause, one failure */
    judge_token_spark(&l, spark);
    assert_int_equal(spark->status, STATUS_FAILED);
    assert_int_equal(spark->who, WHO_BAUPLAN);
    assert_non_null(strstr(spark->line, "Spark"));
    assert_non_null(strstr(spark->why, "scope=catalog"));
    judge_token_life(&l, life);
    assert_int_equal(life->status, STATUS_SKIPPED);
}

static void test_form_only(void **state)
{
    (void)state;
    AUTO_LOGINS l = {0};
    add_try(&l, TOKEN_FORM, CATALOG_TOKEN_URI, BRANCH CATALOG_TOKEN_URI, true, TOKEN_OK, 200);
    add_try(&l, TOKEN_BASIC, CATALOG_TOKEN_URI, BRANCH CATALOG_TOKEN_URI, true, TOKEN_REFUSED, 401);
    AUTO_OUTCOME *o = outcome_new();
    judge_token_basic(&l, o);
    assert_int_equal(o->status, STATUS_WARNED);
    assert_non_null(strstr(o->line, "401"));
}

static void test_life(void **state)
{
    (void)state;
    static const struct {
        long long life;
        enum status status;
        const char *words;
    } rows[] = {{86400, STATUS_PASSED, "24 h"},      {3600, STATUS_PASSED, "1 h"},
                {5400, STATUS_PASSED, "1 h 30 min"}, {3599, STATUS_WARNED, "59 min"},
                {3, STATUS_WARNED, "3 s"},           {-1, STATUS_WARNED, "does not say"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_LOGINS l = {0};
        add_try(&l, TOKEN_FORM, CATALOG_TOKEN_URI, BRANCH CATALOG_TOKEN_URI, true, TOKEN_OK, 200)
            ->life_s = rows[i].life;
        AUTO_OUTCOME *o = outcome_new();
        judge_token_life(&l, o);
        assert_int_equal(o->status, rows[i].status);
        assert_non_null(strstr(o->line, rows[i].words));
    }
}

/* --- base
 * -----------------------------------------------------------------------------------------------------
 */

static void test_base(void **state)
{
    (void)state;
    static const struct {
        const char *config, *branch;
        enum status status;
    } rows[] = {
        {"{\"defaults\":{\"prefix\":\"alice.x%7Cdefault\"},\"overrides\":{\"uri\":\"https://h/"
         "iceberg/\"}}",
         "alice.x", STATUS_PASSED},
        {"{\"overrides\":{\"prefix\":\"alice.x\",\"uri\":\"https://h/iceberg/\"}}", "alice.x",
         STATUS_PASSED},
        {"{\"overrides\":{}}", "alice.x", STATUS_PASSED}, /* the URL names the branch itself */
        {"{\"overrides\":{\"prefix\":\"main%7Cdefault\",\"uri\":\"https://h/iceberg/\"}}", "",
         STATUS_PASSED},
        {"{\"overrides\":{\"prefix\":\"main\",\"uri\":\"https://h/iceberg/\"}}", "alice.x",
         STATUS_WARNED},
        {"{\"overrides\":{\"prefix\":\"alice.xy\",\"uri\":\"https://h/iceberg/\"}}", "alice.x",
         STATUS_WARNED},
        {"{\"defaults\":{\"uri\":\"https://h/iceberg/\",\"prefix\":\"alice.x\"}}", "alice.x",
         STATUS_WARNED},
        {"{\"overrides\":{\"uri\":\"https://evil.example/iceberg/\"}}", "alice.x", STATUS_FAILED},
        {"{\"overrides\":{\"prefix\":\"../..\"}}", "alice.x", STATUS_FAILED},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_CATALOG_CONFIG c = {0};
        assert_int_equal(catalog_config_read(rows[i].config, strlen(rows[i].config), &c, NULL), 0);
        AUTO(xfree)
        char *url = *rows[i].branch != '\0' ? xasprintf("https://h/iceberg/%s", rows[i].branch)
                                            : xstrdup("https://h/iceberg");
        AUTO_OUTCOME *o = outcome_new();
        judge_base(&c, url, rows[i].branch, o);
        if (o->status != rows[i].status)
            fail_msg("%s: %s, %s", rows[i].config, status_name(o->status), o->line);
    }
}

/* --- facts and rows --------------------------------------------------------------------------- */

static void test_fact_digest(void **state)
{
    (void)state;
    struct fact *facts[4];
    for (int i = 0; i < 4; i++) {
        struct logins l = {0};
        struct login_try *t = add_try(&l, TOKEN_FORM, "v1", "https://h/v1", true, TOKEN_OK, 200);
        t->took_ms = i;                      /* volatile: no part of it */
        t->life_s = i < 2 ? 3600 + i : 7200; /* nor are seconds */
        if (i == 3)
            t->result = TOKEN_OTHERWISE;
        facts[i] = oauth_logins_fact(&l);
        assert_int_equal(l.count, 0);
    }
    struct digest d[4];
    for (int i = 0; i < 4; i++)
        d[i] = fact_digest(facts[i]);
    assert_true(digest_equal(&d[0], &d[1]));
    assert_false(digest_equal(&d[1], &d[2]));
    assert_false(digest_equal(&d[2], &d[3]));
    for (int i = 0; i < 4; i++)
        fact_unref(facts[i]);
}

static void test_rows(void **state)
{
    (void)state;
    struct rows rows;
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (rows_init(&rows, steps_all(), &err) != 0)
        fail_msg("%s", err.what);
    static const char *const wanted[] = {"start", "oauth",   "postgres",        "emr",   "bucket",
                                         "iam",   "capture", "materialization", "review"};
    assert_int_equal(rows.step_count, ARRAY_LEN(wanted));
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        assert_int_equal(rows_step(&rows, wanted[i]), i);
    for (size_t i = 0; i < rows.step_count; i++) {
        const struct step *s = rows.steps[i];
        assert_int_equal((s->later != NULL) + (s->page != NULL) + (s->fields != NULL), 1);
    }
    for (size_t i = 0; i < rows.check_count; i++) {
        assert_non_null(rows.checks[i]->cause);
        assert_non_null(rows.checks[i]->fix);
        assert_int_equal(rows.checks[i]->effect == EFFECT_PROBES, rows.checks[i]->touches != NULL);
    }
    rows_release(&rows);
}

static void test_name_field(void **state)
{
    (void)state;
    const struct field *name = step_start.fields[0];
    static const char *const good[] = {"shop", "a", "shop-eu-2", "a234567890123456789012345678901"};
    static const char *const bad[] = {
        "", "Shop", "1shop", "-shop", "shop_eu", "a2345678901234567890123456789012", "é"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_int_equal(name->valid(good[i], NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(name->valid(bad[i], NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_address),
        cmocka_unit_test(test_reach),
        cmocka_unit_test(test_all_good),
        cmocka_unit_test(test_guide_value),
        cmocka_unit_test(test_guide_value_works),
        cmocka_unit_test(test_only_above_the_branch),
        cmocka_unit_test(test_nothing_works),
        cmocka_unit_test(test_forms_refused),
        cmocka_unit_test(test_form_only),
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_base),
        cmocka_unit_test(test_fact_digest),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_name_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
