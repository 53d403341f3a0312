/* The step bucket: names, verdicts and plan as pure functions over hand-made facts, words included.
 */
#include "aws_world.h"

#include "catalog/tables.h"
#include "steps/bucket/bucket.h"

static struct bucket_finding there(void)
{
    return (struct bucket_finding){.presence = S3_OPEN,
                                   .owner = OWNER_US,
                                   .block_known = true,
                                   .block = {true, true, true, true},
                                   .versions = VERSIONS_OFF};
}

static void find(struct world *w, struct bucket_finding lake, struct bucket_finding staging)
{
    struct bucket_findings *f = xcalloc(1, sizeof *f);
    *f = (struct bucket_findings){.lake = lake, .staging = staging};
    world_fact(w, FACT_FOUND, fact_new(&bucket_findings_type, f));
}

static void open_all(struct world *w)
{
    world_open(w);
    world_text(w, "start.name", "shop");
    world_text(w, "emr.region", "us-east-1");
    world_text(w, "bucket.lake", "lake-acme");
    world_text(w, "bucket.staging", "acme-staging");
    world_identity(w);
    find(w, there(), there());
}

/* --- forms ------------------------------------------------------------------------------------ */

static const struct field *field_of(struct world *w, const char *id)
{
    int i = rows_field(&w->rows, id);
    assert_true(i >= 0);
    return w->rows.fields[i];
}

static void answers_take_their_form(void **state)
{
    (void)state;
    static const struct {
        const char *field, *typed, *kept, *fault; /* fault NULL = fine */
    } rows[] = {
        {"bucket.lake", "lake-acme", "lake-acme", NULL},
        {"bucket.lake", " s3://lake-acme/ ", "lake-acme", NULL},
        {"bucket.lake", "lake.acme", "lake.acme", "no name for a bucket"},
        {"bucket.lake", "s3://lake-acme/iceberg", "lake-acme/iceberg", "no name for a bucket"},
        {"bucket.lake", "Lake", "Lake", "no name for a bucket"},
        {"bucket.lake", "<your-bucket>", "<your-bucket>", "placeholder"},
        {"bucket.staging", "xn--a", "xn--a", "no name for a bucket"},
        {"bucket.staging_prefix", "/estuary-staging/", "estuary-staging", NULL},
        {"bucket.staging_prefix", "a/b", "a/b", NULL},
        {"bucket.staging_prefix", "a//b", "a//b", "empty parts"},
        {"bucket.staging_prefix", "a/../b", "a/../b", "dots as parts"},
        {"bucket.staging_prefix", "s3://b/a", "s3://b/a", "not a URL"},
        {"bucket.staging_prefix", "a*", "a*", "are allowed between slashes"},
        {"bucket.lake_prefix", "iceberg", "iceberg", NULL},
    };
    AUTO_WORLD w;
    open_all(&w);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct field *f = field_of(&w, rows[i].field);
        AUTO_PROBLEM err = PROBLEM_INIT;
        AUTO(xfree) char *kept = f->normalise(rows[i].typed);
        assert_string_equal(kept, rows[i].kept);
        if (f->valid(kept, &err) != (rows[i].fault != NULL ? -1 : 0))
            fail_msg("%s", kept);
        if (rows[i].fault != NULL)
            assert_has(err.what, rows[i].fault);
        if (rows[i].fault != NULL)
            assert_non_null(err.fix);
    }
}

static void folders_in_one_another_are_seen(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool overlap;
    } rows[] = {{"iceberg", "estuary-staging", false}, {"iceberg", "iceberg", true},
                {"iceberg", "iceberg/staging", true},  {"a/b", "a", true},
                {"iceberg", "iceberg-staging", false}, {"", "a", true}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(bucket_prefixes_overlap(rows[i].a, rows[i].b), rows[i].overlap);
        assert_int_equal(bucket_prefixes_overlap(rows[i].b, rows[i].a), rows[i].overlap);
    }
}

static void a_tables_place_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *location, *bucket, *prefix; /* bucket NULL = of another form */
    } rows[] = {
        {"s3://lake-acme/iceberg/shop_orders_9F0C", "lake-acme", "iceberg"},
        {"s3a://lake-acme/iceberg/shop/orders/", "lake-acme", "iceberg"},
        {"s3://lake-acme/data/iceberg/shop/orders", "lake-acme", "data/iceberg"},
        {"s3://lake-acme/warehouse/orders", "lake-acme", "warehouse"},
        {"s3://lake-acme/my-iceberg/orders", "lake-acme", "my-iceberg"},
        {"s3://lake-acme/orders", "lake-acme", ""},
        {"s3://lake-acme", "lake-acme", ""},
        {"file:///tmp/orders", NULL, NULL},
        {"s3://Lake/x", NULL, NULL},
        {"orders", NULL, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct fact *f = bucket_table_fact("shop.orders", rows[i].location);
        assert_int_equal(f != NULL, rows[i].bucket != NULL);
        if (f == NULL)
            continue;
        const struct bucket_table *t = fact_data(f, &bucket_table_type);
        assert_string_equal(t->bucket, rows[i].bucket);
        assert_string_equal(t->prefix, rows[i].prefix);
        fact_unref(f);
    }
}

static void answers_of_the_catalog_are_read(void **state)
{
    (void)state;
    static const char none[] = "{\"identifiers\":[]}";
    static const char table[] = "{\"metadata-location\":\"x\",\"metadata\":{\"location\":"
                                "\"s3://lake-acme/iceberg/o\"},\"config\":{}}";
    AUTO(xfree) char *location = NULL;
    AUTO(xfree) char *nowhere = NULL;
    static const char pages[] =
        "{\"identifiers\":[{\"namespace\":[\"shop\"],\"name\":\"a\"},{\"name\":\"b\"}],"
        "\"next-page-token\":\"2\"}";
    struct catalog_names names = {0};
    AUTO(xfree) char *next = NULL;
    assert_int_equal(catalog_tables_read(none, strlen(none), &names, &next, NULL), 0);
    assert_int_equal(names.count, 0);
    assert_null(next);
    assert_int_equal(catalog_tables_read("{}", 2, &names, &next, NULL), -1);
    assert_int_equal(catalog_tables_read(pages, strlen(pages), &names, &next, NULL), 0);
    assert_int_equal(names.count, 2);
    assert_string_equal(names.names[1], "b");
    assert_string_equal(next, "2");
    catalog_names_release(&names);
    assert_int_equal(catalog_location_read(table, strlen(table), &location, NULL), 0);
    assert_string_equal(location, "s3://lake-acme/iceberg/o");
    assert_int_equal(catalog_location_read("{}", 2, &nowhere, NULL), -1);
    assert_int_equal(catalog_location_read("<html>", 6, &nowhere, NULL), -1);
}

static void a_table_gives_the_defaults(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    assert_string_equal(snap_text(world_snapshot(&w), "bucket.lake"), "");
    assert_string_equal(snap_text(world_snapshot(&w), "bucket.staging"), "");
    assert_string_equal(snap_text(world_snapshot(&w), "bucket.lake_prefix"), "iceberg");
    assert_string_equal(snap_text(world_snapshot(&w), "bucket.staging_prefix"), "estuary-staging");
    world_fact(&w, FACT_TABLE, bucket_table_fact("shop.orders", "s3://lake-acme/data/orders"));
    assert_string_equal(snap_text(world_snapshot(&w), "bucket.lake"), "lake-acme");
    assert_string_equal(snap_text(world_snapshot(&w), "bucket.lake_prefix"), "data");
    assert_string_equal(snap_text(world_snapshot(&w), "bucket.staging"), "lake-acme");
    world_text(&w, "bucket.lake", "other"); /* its folder says nothing of another bucket */
    assert_string_equal(snap_text(world_snapshot(&w), "bucket.lake_prefix"), "iceberg");
}

/* --- verdicts --------------------------------------------------------------------------------- */

static void absent(struct bucket_finding *f)
{
    *f = (struct bucket_finding){.presence = S3_ABSENT};
}

static void denied(struct bucket_finding *f)
{
    *f = (struct bucket_finding){.presence = S3_FORBIDDEN, .owner = OWNER_UNKNOWN};
}

static void ours_denied(struct bucket_finding *f)
{
    *f = (struct bucket_finding){.presence = S3_FORBIDDEN, .owner = OWNER_US};
}

static void foreign(struct bucket_finding *f)
{
    *f = (struct bucket_finding){.presence = S3_FORBIDDEN, .owner = OWNER_OTHER};
}

static void open_to_public(struct bucket_finding *f)
{
    f->block.block_policy = false;
}

static void unread(struct bucket_finding *f)
{
    f->block_known = false;
    f->versions = VERSIONS_UNKNOWN;
}

static void versioned(struct bucket_finding *f)
{
    f->versions = VERSIONS_ON;
}

static void fine(struct bucket_finding *f)
{
    (void)f;
}

static void each_finding_says_what_to_do(void **state)
{
    (void)state;
    static const struct {
        const struct check *check;
        void (*lake)(struct bucket_finding *f);
        void (*staging)(struct bucket_finding *f);
        enum status status;
        enum who who;
        const char *line, *fix;
    } rows[] = {
        {&bucket_check_lake_access, fine, fine, STATUS_PASSED, WHO_YOU, "s3://lake-acme/iceberg",
         NULL},
        {&bucket_check_lake_access, absent, fine, STATUS_FAILED, WHO_YOU,
         "there is no bucket lake-acme", "Correct the name"},
        {&bucket_check_lake_access, denied, fine, STATUS_WARNED, WHO_BAUPLAN,
         "lake-acme is there and these keys may not look into it", "lets in account 123456789012"},
        {&bucket_check_lake_access, foreign, fine, STATUS_WARNED, WHO_BAUPLAN,
         "lake-acme is there and belongs to another account", "lets in account 123456789012"},
        {&bucket_check_lake_access, ours_denied, fine, STATUS_WARNED, WHO_AWS_ADMIN,
         "lake-acme is yours, and s3:ListBucket is denied", "arn:aws:s3:::lake-acme"},
        {&bucket_check_staging_access, fine, fine, STATUS_PASSED, WHO_YOU,
         "s3://acme-staging/estuary-staging", NULL},
        {&bucket_check_staging_access, fine, absent, STATUS_FAILED, WHO_YOU,
         "there is no bucket acme-staging, and none is planned", "sluice plan bucket"},
        {&bucket_check_staging_access, fine, foreign, STATUS_FAILED, WHO_YOU,
         "acme-staging belongs to another account", "acme-staging-123456789012-us-east-1"},
        {&bucket_check_staging_access, fine, denied, STATUS_FAILED, WHO_YOU,
         "acme-staging is taken", "acme-staging-123456789012-us-east-1"},
        {&bucket_check_staging_access, fine, ours_denied, STATUS_FAILED, WHO_AWS_ADMIN,
         "acme-staging is yours, and s3:ListBucket is denied", "arn:aws:s3:::acme-staging"},
        {&bucket_check_public_access, fine, fine, STATUS_PASSED, WHO_YOU, "blocked", NULL},
        {&bucket_check_public_access, fine, open_to_public, STATUS_WARNED, WHO_AWS_ADMIN,
         "public access to acme-staging is not blocked", "only for a bucket it made"},
        {&bucket_check_public_access, fine, unread, STATUS_SKIPPED, WHO_YOU,
         "s3:GetBucketPublicAccessBlock is denied", NULL},
        {&bucket_check_hygiene, fine, fine, STATUS_PASSED, WHO_YOU, "gone", NULL},
        {&bucket_check_hygiene, fine, versioned, STATUS_WARNED, WHO_AWS_ADMIN,
         "acme-staging keeps versions", "lifecycle rule for estuary-staging/"},
        {&bucket_check_hygiene, fine, unread, STATUS_SKIPPED, WHO_YOU, "not known", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct bucket_finding lake = there(), staging = there();
        AUTO_WORLD w;
        open_all(&w);
        rows[i].lake(&lake);
        rows[i].staging(&staging);
        find(&w, lake, staging);
        AUTO_OUTCOME *o = world_judge(&w, rows[i].check);
        if (o->status != rows[i].status)
            fail_msg("%s: %s, %s", rows[i].check->id, status_name(o->status), o->line);
        assert_has(o->line, rows[i].line);
        if (rows[i].fix == NULL)
            continue;
        assert_has(o->fix, rows[i].fix);
        assert_int_equal(o->who, rows[i].who);
    }
}

static void a_taken_name_comes_with_another(void **state)
{
    (void)state;
    struct bucket_finding taken;
    AUTO_WORLD w;
    open_all(&w);
    foreign(&taken);
    find(&w, there(), taken);
    AUTO_OUTCOME *o = world_judge(&w, &bucket_check_staging_access);
    assert_string_equal(o->suggest_field, "bucket.staging");
    assert_int_equal(s3_bucket_name_check(o->suggest_value, NULL), 0);
    assert_helps(o);
}

static void one_bucket_for_both(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    world_text(&w, "bucket.staging", "lake-acme");
    AUTO_OUTCOME *fine_there = world_judge(&w, &bucket_check_staging_access);
    assert_has(fine_there->line, "s3://lake-acme/estuary-staging, in the lake's bucket");
    struct bucket_finding f;
    foreign(&f);
    find(&w, f, f);
    AUTO_OUTCOME *there_too = world_judge(&w, &bucket_check_staging_access);
    assert_int_equal(there_too->status, STATUS_SKIPPED); /* one cause, one finding */
    AUTO_OUTCOME *apart = world_judge(&w, &bucket_check_prefixes);
    assert_int_equal(apart->status, STATUS_PASSED);
    world_text(&w, "bucket.staging_prefix", "iceberg/staging");
    AUTO_OUTCOME *within = world_judge(&w, &bucket_check_prefixes);
    assert_int_equal(within->status, STATUS_FAILED);
    assert_has(within->line, "iceberg and iceberg/staging");
    assert_string_equal(within->suggest_value, "estuary-staging");
    assert_helps(within);
}

static void tables_elsewhere_are_told(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    AUTO_OUTCOME *none = world_judge(&w, &bucket_check_location);
    assert_int_equal(none->status, STATUS_SKIPPED);
    world_fact(&w, FACT_TABLE, bucket_table_fact("shop.orders", "s3://lake-acme/iceberg/o"));
    AUTO_OUTCOME *same = world_judge(&w, &bucket_check_location);
    assert_int_equal(same->status, STATUS_PASSED);
    world_text(&w, "bucket.lake_prefix", "tables");
    AUTO_OUTCOME *folder = world_judge(&w, &bucket_check_location);
    assert_int_equal(folder->status, STATUS_WARNED);
    assert_string_equal(folder->suggest_field, "bucket.lake_prefix");
    assert_string_equal(folder->suggest_value, "iceberg");
    world_text(&w, "bucket.lake", "lake-other");
    AUTO_OUTCOME *bucket = world_judge(&w, &bucket_check_location);
    assert_has(bucket->line,
               "shop.orders lies in s3://lake-acme/iceberg, the answer is s3://lake-other/tables");
    assert_string_equal(bucket->suggest_value, "lake-acme");
    assert_helps(bucket);
}

/* --- plan ------------------------------------------------------------------------------------- */

#define AUTO_PLAN __attribute__((cleanup(plan_release))) struct plan

static void plan_of(struct world *w, struct plan *p)
{
    plan_init(p);
    bucket_plan(world_snapshot(w), p);
}

static void a_bucket_that_is_not_there_is_planned(void **state)
{
    (void)state;
    struct bucket_finding none;
    AUTO_WORLD w;
    AUTO_PLAN p;
    open_all(&w);
    absent(&none);
    find(&w, there(), none);
    plan_of(&w, &p);
    assert_int_equal(p.count, 2);
    const struct change *bucket = plan_find(&p, "bucket.staging");
    const struct change *block = plan_find(&p, "bucket.public_access_block");
    assert_non_null(bucket);
    assert_non_null(block);
    assert_string_equal(bucket->preview,
                        "aws s3api create-bucket --region us-east-1 --bucket acme-staging");
    assert_has(bucket->detail, "in us-east-1, account 123456789012");
    assert_has(block->preview, "BlockPublicAcls=true,IgnorePublicAcls=true,BlockPublicPolicy=true,"
                               "RestrictPublicBuckets=true");
    assert_int_equal(block->after_count, 1);
    assert_string_equal(block->after[0], "bucket.staging");
    for (size_t i = 0; i < p.count; i++)
        assert_non_null(p.changes[i]->reason);
    AUTO(xfree) char *elsewhere = bucket_create_preview("b-1", "eu-west-1");
    assert_has(elsewhere, "--create-bucket-configuration LocationConstraint=eu-west-1");
}

static void what_is_there_stays_as_it_is(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    struct bucket_finding public_one = there();
    open_to_public(&public_one);
    find(&w, there(), public_one);
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_int_equal(p.count, 0); /* it is not ours: told by its check, not altered */
    assert_line(p.right, p.right_count, "bucket acme-staging");
    public_one.marked = true;
    find(&w, there(), public_one);
    AUTO_PLAN ours;
    plan_of(&w, &ours);
    assert_int_equal(ours.count, 1);
    assert_string_equal(ours.changes[0]->id, "bucket.public_access_block");
    assert_int_equal(ours.changes[0]->action, CHANGE_ALTER);
}

static void the_lake_is_never_made(void **state)
{
    (void)state;
    struct bucket_finding none;
    AUTO_WORLD w;
    AUTO_PLAN p;
    open_all(&w);
    absent(&none);
    world_text(&w, "bucket.staging", "lake-acme");
    find(&w, none, none);
    plan_of(&w, &p);
    assert_int_equal(p.count, 0);
    assert_line(p.missing, p.missing_count, "there is no bucket lake-acme");
    AUTO_PLAN right;
    find(&w, there(), there());
    plan_of(&w, &right);
    assert_line(right.right, right.right_count,
                "staging in the lake's bucket lake-acme, folder estuary-staging");
}

static void what_lacks_is_named(void **state)
{
    (void)state;
    struct bucket_finding taken;
    AUTO_WORLD w;
    open_all(&w);
    foreign(&taken);
    find(&w, there(), taken);
    AUTO_PLAN p;
    plan_of(&w, &p);
    assert_int_equal(p.count, 0);
    assert_line(p.missing, p.missing_count, "acme-staging is not open to these keys");
    AUTO_PLAN unseen;
    world_fact(&w, FACT_FOUND, NULL);
    plan_of(&w, &unseen);
    assert_line(unseen.missing, unseen.missing_count, "have not been looked at");
    AUTO_PLAN unnamed;
    world_answer(&w, "bucket.lake", NULL);
    plan_of(&w, &unnamed);
    assert_line(unnamed.missing, unnamed.missing_count, "lake's bucket is not named");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_take_their_form),
        cmocka_unit_test(folders_in_one_another_are_seen),
        cmocka_unit_test(a_tables_place_is_read),
        cmocka_unit_test(answers_of_the_catalog_are_read),
        cmocka_unit_test(a_table_gives_the_defaults),
        cmocka_unit_test(each_finding_says_what_to_do),
        cmocka_unit_test(a_taken_name_comes_with_another),
        cmocka_unit_test(one_bucket_for_both),
        cmocka_unit_test(tables_elsewhere_are_told),
        cmocka_unit_test(a_bucket_that_is_not_there_is_planned),
        cmocka_unit_test(what_is_there_stays_as_it_is),
        cmocka_unit_test(the_lake_is_never_made),
        cmocka_unit_test(what_lacks_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
