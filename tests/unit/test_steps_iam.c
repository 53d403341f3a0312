/* The step iam: forms of answers, verdicts and plan as pure functions over hand-made facts, words
 * included. */
#include "aws_world.h"

#include "aws/policy.h"
#include "aws/policy_edit.h"
#include "core/clock.h"
#include "steps/iam/changes.h"
#include "steps/iam/keys.h"
#include "steps/iam/wanted.h"

#define ACCOUNT "123456789012"
#define APPLICATION "00f1abcd2efg3h09"
#define KEY "AKIAIOSFODNN7EXAMPLE"
#define SECRET "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
#define AUTO_PLAN __attribute__((cleanup(plan_release))) struct plan

static const char trust_of_ec2[] =
    "{\"Version\":\"2012-10-17\",\"Statement\":{\"Effect\":\"Allow\",\"Principal\":"
    "{\"Service\":\"ec2.amazonaws.com\"},\"Action\":\"sts:AssumeRole\"}}";
static const char trust_of_guide[] =
    "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":"
    "{\"Service\":\"emr-serverless.amazonaws.com\"},\"Action\":\"sts:AssumeRole\"}]}";

/* --- a world ---------------------------------------------------------------------------------- */

static struct iam_side nobody(void)
{
    return (struct iam_side){.exists = false};
}

static struct iam_side somebody(enum iam_kind kind)
{
    bool role = kind == IAM_ROLE;
    return (struct iam_side){
        .exists = true,
        .entity = {.kind = kind,
                   .name = xstrdup(role ? "sluice-shop-emr" : "sluice-shop"),
                   .path = xstrdup("/"),
                   .arn = xstrdup(role ? "arn:aws:iam::" ACCOUNT ":role/sluice-shop-emr"
                                       : "arn:aws:iam::" ACCOUNT ":user/sluice-shop"),
                   .id = xstrdup(role ? "AROAEXAMPLE" : "AIDAEXAMPLE"),
                   .trust = role ? xstrdup(trust_of_guide) : NULL},
    };
}

static void give_policy(struct iam_side *s, const char *name, const char *document)
{
    s->policies = xrealloc(s->policies, s->policy_count + 1, sizeof *s->policies);
    s->policies[s->policy_count++] =
        (struct iam_policy){.name = xstrdup(name), .document = xstrdup(document)};
}

static void give_key(struct iam_side *s, const char *id, bool active, int days, int64_t used)
{
    s->keys = xrealloc(s->keys, s->key_count + 1, sizeof *s->keys);
    s->keys[s->key_count++] = (struct iam_held_key){.id = xstrdup(id),
                                                    .active = active,
                                                    .created = clock_wall() - days * 86400LL - 60,
                                                    .used = used};
}

static void see(struct world *w, struct iam_side role, struct iam_side user)
{
    world_fact(w, FACT_ROLE, iam_side_fact(IAM_ROLE, &role));
    world_fact(w, FACT_USER, iam_side_fact(IAM_USER, &user));
}

static void open_all(struct world *w)
{
    world_open(w);
    world_text(w, "start.name", "shop");
    world_text(w, "emr.region", "us-east-1");
    world_text(w, "emr.application", APPLICATION);
    world_text(w, "bucket.lake", "lake-acme");
    world_text(w, "bucket.staging", "acme-staging");
    world_identity(w);
    see(w, nobody(), nobody());
}

static void answer_key(struct world *w, const char *text)
{
    struct secret *s = secret_new(text, strlen(text));
    world_answer(w, "iam.access_key", value_secret(s, NULL, NULL));
    secret_unref(s);
}

/* The document that is wanted; xfree. */
static char *wanted(struct world *w, enum policy_kind kind)
{
    struct iam_inputs in = iam_inputs_of(world_snapshot(w));
    AUTO_IAM_JUDGEMENT j = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (iam_judge(kind, &in, &j, &err) != 0)
        fail_msg("%s", err.what);
    return xstrdup(j.want);
}

static char *replaced(const char *in, const char *what, const char *by)
{
    const char *at = strstr(in, what);
    assert_non_null(at);
    return xasprintf("%.*s%s%s", (int)(at - in), in, by, at + strlen(what));
}

static const struct change *change_of(const struct plan *p, const char *id)
{
    const struct change *c = plan_find(p, id);
    if (c == NULL)
        fail_msg("no change %s", id);
    return c;
}

static bool comes_after(const struct change *c, const char *id)
{
    for (size_t i = 0; i < c->after_count; i++)
        if (strcmp(c->after[i], id) == 0)
            return true;
    return false;
}

static const struct item *item_of(const struct outcome *o, const char *name)
{
    for (size_t i = 0; i < o->item_count; i++)
        if (strcmp(o->items[i].name, name) == 0)
            return &o->items[i];
    fail_msg("no item %s", name);
    return NULL;
}

static void plan_of(struct world *w, struct plan *p)
{
    plan_init(p);
    iam_plan(world_snapshot(w), p);
}

/* --- forms ------------------------------------------------------------------------------------ */

static void answers_take_their_form(void **state)
{
    (void)state;
    static const struct {
        const char *field, *text, *fault; /* fault NULL = fine */
    } rows[] = {
        {"iam.role", "sluice-shop-emr", NULL},
        {"iam.role", "a+b=c,d.e@f_g-h", NULL},
        {"iam.role", "arn:aws:iam::" ACCOUNT ":role/x", "at most 64"},
        {"iam.user", "with blank", "at most 64"},
        {"iam.ssm_prefix", "/estuary/shop/", NULL},
        {"iam.ssm_prefix", "/estuary", "/"},
        {"iam.ssm_prefix", "estuary/", "/"},
        {"iam.ssm_prefix", "/aws/x/", "aws"},
        {"iam.path", "/", NULL},
        {"iam.path", "/data/team/", NULL},
        {"iam.path", "data", "begins and ends with /"},
        {"iam.path", "/a//b/", "begins and ends with /"},
        {"iam.boundary", "arn:aws:iam::" ACCOUNT ":policy/limit", NULL},
        {"iam.boundary", "arn:aws:iam::" ACCOUNT ":role/limit", "ARN of a policy"},
        {"iam.access_key", KEY ":" SECRET, NULL},
        {"iam.access_key", SECRET, "KEYID:SECRET"},
        {"iam.access_key", KEY ":short", "40 characters, this has 5"},
        {"iam.access_key", "ASIAIOSFODNN7EXAMPLE:" SECRET, "of a session"},
    };
    AUTO_WORLD w;
    open_all(&w);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct field *f = w.rows.fields[rows_field(&w.rows, rows[i].field)];
        AUTO_PROBLEM err = PROBLEM_INIT;
        int rc = f->valid(rows[i].text, &err);
        assert_int_equal(rc, rows[i].fault != NULL ? -1 : 0);
        if (rows[i].fault != NULL) {
            assert_has(err.what, rows[i].fault);
            assert_non_null(err.fix);
        }
    }
}

static void names_come_from_the_pipelines(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    const struct snapshot *s = world_snapshot(&w);
    assert_string_equal(snap_text(s, "iam.role"), "sluice-shop-emr");
    assert_string_equal(snap_text(s, "iam.user"), "sluice-shop");
    assert_string_equal(snap_text(s, "iam.ssm_prefix"), "/estuary/shop/");
    assert_string_equal(snap_text(s, "iam.path"), "/");
}

/* --- plan ------------------------------------------------------------------------------------- */

static void all_is_made_from_nothing(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_int_equal(p.count, 5);
    assert_int_equal(p.missing_count, 0);
    const struct change *role = change_of(&p, "iam.role");
    assert_has(role->preview, "aws iam create-role --role-name sluice-shop-emr --path / \\\n"
                              "  --tags Key=sluice:run,Value=shop Key=sluice:step,Value=iam \\\n");
    assert_has(role->preview, "\"aws:SourceAccount\": \"" ACCOUNT "\"");
    assert_true(comes_after(change_of(&p, "iam.role_policy"), "iam.role"));
    assert_has(change_of(&p, "iam.role_policy")->preview, "arn:aws:s3:::lake-acme/iceberg/*");
    assert_has(change_of(&p, "iam.role_policy")->preview,
               "arn:aws:s3:::acme-staging/estuary-staging/*");
    const struct change *policy = change_of(&p, "iam.user_policy");
    assert_true(comes_after(policy, "iam.user") && comes_after(policy, "iam.role") &&
                comes_after(policy, "emr.application"));
    assert_has(policy->preview, "/applications/" APPLICATION "/jobruns/*");
    assert_has(policy->preview, "arn:aws:iam::" ACCOUNT ":role/sluice-shop-emr");
    assert_has(policy->preview, "arn:aws:ssm:us-east-1:" ACCOUNT ":parameter/estuary/shop/*");
    const struct change *key = change_of(&p, "iam.access_key");
    assert_string_equal(key->gives, "iam.access_key");
    assert_true(comes_after(key, "iam.user"));
    for (size_t i = 0; i < p.count; i++) {
        assert_int_equal(p.changes[i]->action, CHANGE_CREATE);
        assert_true(p.changes[i]->reason[0] != '\0' && p.changes[i]->detail[0] != '\0');
        assert_string_equal(iam_argument(p.changes[i], "account"), ACCOUNT);
        assert_string_equal(iam_argument(p.changes[i], "run"), "shop");
    }
}

static void an_application_to_come_is_announced(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    world_answer(&w, "emr.application", NULL);
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_has(change_of(&p, "iam.user_policy")->preview,
               "/applications/(known after: application sluice-shop)/jobruns/*");
}

static void what_is_right_stays(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    AUTO(xfree) char *role_policy = wanted(&w, POLICY_ROLE);
    AUTO(xfree) char *user_policy = wanted(&w, POLICY_USER);
    struct iam_side role = somebody(IAM_ROLE), user = somebody(IAM_USER);
    give_policy(&role, "sluice-shop", role_policy);
    give_policy(&user, "by hand", user_policy);
    give_key(&user, KEY, true, 3, 0);
    see(&w, role, user);
    answer_key(&w, KEY ":" SECRET);
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_int_equal(p.count, 0);
    assert_int_equal(p.missing_count, 0);
    assert_int_equal(p.right_count, 5);
    static const struct check *const checks[] = {&iam_check_role,        &iam_check_user,
                                                 &iam_check_role_policy, &iam_check_user_policy,
                                                 &iam_check_policy_size, &iam_check_access_keys};
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        AUTO_OUTCOME *o = world_judge(&w, checks[i]);
        assert_int_equal(o->status, STATUS_PASSED);
    }
}

static void only_what_lacks_is_put(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    AUTO(xfree) char *whole = wanted(&w, POLICY_USER);
    AUTO(xfree) char *less = replaced(whole, "\"emr-serverless:TagResource\"", "\"x:Y\"");
    struct iam_side user = somebody(IAM_USER);
    give_policy(&user, "by hand", less);
    see(&w, somebody(IAM_ROLE), user);
    AUTO_PLAN p;
    plan_of(&w, &p);
    const struct change *c = change_of(&p, "iam.user_policy");
    assert_int_equal(c->action, CHANGE_ALTER);
    assert_string_equal(c->detail, "+ emr-serverless:TagResource");
    assert_has(c->preview, "emr-serverless:TagResource");
    assert_null(strstr(c->preview, "s3:"));
    assert_string_equal(iam_argument(c, "before"), "");
    AUTO_OUTCOME *o = world_judge(&w, &iam_check_user_policy);
    assert_int_equal(o->status, STATUS_WARNED);
    assert_has(o->line, "1 comfort is missing");
    assert_has(item_of(o, "x:Y")->line, "is more than needed");
}

static void a_policy_of_ours_is_replaced(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    AUTO(xfree) char *before = wanted(&w, POLICY_USER);
    struct iam_side user = somebody(IAM_USER);
    give_policy(&user, "sluice-shop", before);
    see(&w, somebody(IAM_ROLE), user);
    world_text(&w, "bucket.staging", "another-staging");
    AUTO_PLAN p;
    plan_of(&w, &p);
    const struct change *c = change_of(&p, "iam.user_policy");
    assert_string_equal(iam_argument(c, "before"), before);
    assert_has(c->preview, "another-staging");
    assert_null(strstr(c->preview, "acme-staging"));
    AUTO_OUTCOME *o = world_judge(&w, &iam_check_user_policy);
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->line, "sluice-shop lacks s3:ListBucket on arn:aws:s3:::another-staging");
    assert_helps(o);
}

static void what_lacks_is_named(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    world_text(&w, "iam.user", "alice"); /* who calls, as world_identity has it */
    struct iam_side user = somebody(IAM_USER);
    xreplace(&user.entity.arn, "arn:aws:iam::" ACCOUNT ":user/alice");
    see(&w, nobody(), user);
    AUTO_PLAN caller;
    plan_of(&w, &caller);
    assert_int_equal(caller.count, 0);
    assert_line(caller.missing, caller.missing_count, "alice is you");
    AUTO_OUTCOME *o = world_judge(&w, &iam_check_user);
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->line, "is you: Estuary would get a key of yours");

    struct iam_side role = somebody(IAM_ROLE);
    xreplace(&role.entity.path, "/aws-service-role/x.amazonaws.com/");
    see(&w, role, nobody());
    AUTO_PLAN service;
    plan_of(&w, &service);
    assert_line(service.missing, service.missing_count, "a service's own role");

    world_fact(&w, FACT_USER, NULL);
    AUTO_PLAN unseen;
    plan_of(&w, &unseen);
    assert_line(unseen.missing, unseen.missing_count, "have not been looked at");
}

/* --- trust ------------------------------------------------------------------------------------ */

static void a_foreign_trust_is_added_to(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    struct iam_side role = somebody(IAM_ROLE);
    xreplace(&role.entity.trust, trust_of_ec2);
    see(&w, role, nobody());
    AUTO_OUTCOME *o = world_judge(&w, &iam_check_trust);
    assert_int_equal(o->status, STATUS_FAILED);
    assert_string_equal(
        o->line, "sluice-shop-emr does not trust EMR Serverless, but Service:ec2.amazonaws.com");
    assert_helps(o);
    AUTO_PLAN p;
    plan_of(&w, &p);
    const struct change *c = change_of(&p, "iam.trust");
    assert_int_equal(c->action, CHANGE_ALTER);
    assert_string_equal(iam_argument(c, "before"), trust_of_ec2);
    assert_has(iam_argument(c, "trust"), "ec2.amazonaws.com");
    assert_has(iam_argument(c, "trust"), "emr-serverless.amazonaws.com");
    assert_has(c->preview, "# it is now:\n# {\n#   \"Version\"");
    assert_non_null(c->caution);
    assert_null(plan_find(&p, "iam.role"));
}

static void a_trust_of_ours_becomes_as_it_was(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    struct iam_side role = somebody(IAM_ROLE);
    role.entity.tag_run = xstrdup("shop");
    see(&w, role, nobody());
    AUTO_PLAN p;
    plan_of(&w, &p);
    AUTO(xfree) char *want = wanted(&w, POLICY_TRUST);
    assert_string_equal(iam_argument(change_of(&p, "iam.trust"), "trust"), want);
    AUTO_OUTCOME *o = world_judge(&w, &iam_check_trust);
    assert_int_equal(o->status, STATUS_WARNED);
    assert_has(o->line, "on behalf of any account");
    assert_has(o->why, "aws:SourceAccount");
}

/* --- size ------------------------------------------------------------------------------------- */

static void what_does_not_fit_is_not_planned(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    AUTO_TEXT long_one = TEXT_INIT;
    text_add(&long_one, "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\","
                        "\"Action\":\"s3:GetObject\",\"Resource\":[\"arn:aws:s3:::b/a\"");
    for (int i = 0; i < 40; i++)
        text_addf(&long_one, ",\"arn:aws:s3:::bucket-%d/folder/*\"", i);
    text_add(&long_one, "]}]}");
    struct iam_side user = somebody(IAM_USER);
    give_policy(&user, "long", long_one.s);
    see(&w, nobody(), user);
    AUTO_OUTCOME *o = world_judge(&w, &iam_check_policy_size);
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->line, "of 2048");
    assert_helps(o);
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_null(plan_find(&p, "iam.user_policy"));
    assert_line(p.missing, p.missing_count, "the user's policy does not fit");
}

static void the_longest_names_fit(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    world_answer(&w, "emr.application", NULL);
    world_text(&w, "start.name", "a-name-of-thirty-one-characters");
    world_text(&w, "bucket.lake",
               "a-bucket-whose-name-has-all-of-the-sixty-three-characters-there");
    world_text(&w, "bucket.staging",
               "a-bucket-whose-name-has-all-of-the-sixty-three-characters-here");
    AUTO_OUTCOME *o = world_judge(&w, &iam_check_policy_size);
    assert_int_equal(o->status, STATUS_PASSED);
}

/* --- keys ------------------------------------------------------------------------------------- */

static void keys_are_judged(void **state)
{
    (void)state;
    static const struct {
        int keys;     /* of others, old and used */
        bool young;   /* the last of them was made just now and never used */
        bool held;    /* ours is among them besides */
        bool active;  /* ours */
        bool at_hand; /* our secret */
        bool answered, made, forgotten;
        enum iam_key_state state;
    } rows[] = {
        {0, false, false, false, false, false, false, false, IAM_KEY_MAKE},
        {1, false, false, false, false, false, false, false, IAM_KEY_MAKE},
        {2, false, false, false, false, false, false, false, IAM_KEY_FULL},
        {2, true, false, false, false, false, false, false, IAM_KEY_MAKE_AFTER},
        {1, false, true, true, true, true, true, false, IAM_KEY_RIGHT},
        {0, false, true, true, true, true, false, false, IAM_KEY_RIGHT},
        {0, false, true, false, true, true, true, false, IAM_KEY_INACTIVE},
        {0, false, false, false, true, true, false, false, IAM_KEY_FOREIGN},
        {0, false, false, false, true, true, true, false, IAM_KEY_MAKE},
        {0, false, true, true, false, true, true, false, IAM_KEY_LOCKED},
        {0, false, true, true, false, true, true, true, IAM_KEY_MAKE},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_IAM_SIDE user = somebody(IAM_USER);
        struct secret *key = rows[i].at_hand ? secret_new(KEY ":" SECRET, 61) : NULL;
        for (int k = 0; k < rows[i].keys; k++) {
            bool young = rows[i].young && k == rows[i].keys - 1;
            give_key(&user, k == 0 ? "AKIAOTHER1" : "AKIAOTHER2", true, young ? 0 : 100,
                     young ? 0 : clock_wall() - 86400);
        }
        if (rows[i].held)
            give_key(&user, KEY, rows[i].active, 1, 0);
        assert_int_equal(
            iam_key_judge(&user, key, rows[i].answered, rows[i].made, rows[i].forgotten),
            rows[i].state);
        secret_unref(key);
    }
}

static void two_keys_leave_no_room(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    struct iam_side user = somebody(IAM_USER);
    give_key(&user, "AKIAUSED0000000000", true, 400, clock_wall() - 86400 - 60);
    give_key(&user, "AKIAIDLE0000000000", true, 30, 0);
    see(&w, nobody(), user);
    AUTO_OUTCOME *o = world_judge(&w, &iam_check_access_keys);
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->line, "has two access keys, and neither is at hand");
    assert_has(o->copy, "--access-key-id AKIAIDLE0000000000");
    assert_has(item_of(o, "AKIAUSED0000000000")->line, "made 400 days ago, used last yesterday");
    assert_helps(o);
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_null(plan_find(&p, "iam.access_key"));
    assert_line(p.missing, p.missing_count, "has two access keys");
}

static void an_old_key_is_told(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    struct iam_side user = somebody(IAM_USER);
    give_key(&user, KEY, true, 120, 0);
    see(&w, nobody(), user);
    answer_key(&w, KEY ":" SECRET);
    AUTO_OUTCOME *o = world_judge(&w, &iam_check_access_keys);
    assert_int_equal(o->status, STATUS_WARNED);
    assert_has(o->line, "is 120 days old");
    for (size_t i = 0; i < o->item_count; i++)
        assert_null(strstr(o->items[i].line, SECRET));
}

/* --- documents -------------------------------------------------------------------------------- */

static void policies_are_put_together(void **state)
{
    (void)state;
    AUTO(xfree) char *both = policy_added(trust_of_ec2, trust_of_guide);
    const char *const have[] = {both};
    AUTO_POLICY_DIFF d = {0};
    assert_int_equal(policy_compare(POLICY_TRUST, trust_of_guide, have, 1, &d, NULL), 0);
    assert_int_equal(d.count, 1);
    assert_int_equal(d.rows[0].mark, POLICY_EXTRA);
    AUTO(xfree) char *pretty = policy_pretty("{\"a\":{\"b\":\"\\tc\"}}");
    assert_string_equal(pretty, "{\n  \"a\": {\n    \"b\": \"\\tc\"\n  }\n}");
    AUTO(xfree) char *none = policy_pretty("no JSON");
    assert_string_equal(none, "no JSON");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_take_their_form),
        cmocka_unit_test(names_come_from_the_pipelines),
        cmocka_unit_test(all_is_made_from_nothing),
        cmocka_unit_test(an_application_to_come_is_announced),
        cmocka_unit_test(what_is_right_stays),
        cmocka_unit_test(only_what_lacks_is_put),
        cmocka_unit_test(a_policy_of_ours_is_replaced),
        cmocka_unit_test(what_lacks_is_named),
        cmocka_unit_test(a_foreign_trust_is_added_to),
        cmocka_unit_test(a_trust_of_ours_becomes_as_it_was),
        cmocka_unit_test(what_does_not_fit_is_not_planned),
        cmocka_unit_test(the_longest_names_fit),
        cmocka_unit_test(keys_are_judged),
        cmocka_unit_test(two_keys_leave_no_room),
        cmocka_unit_test(an_old_key_is_told),
        cmocka_unit_test(policies_are_put_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
