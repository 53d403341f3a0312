/* Snapshots: which answer is in force, where a secret may go, and what an outcome depends on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <string.h>

#include "core/mem.h"
#include "core/snapshot_make.h"
#include "test_death.h"

#define IDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void hash_number(const void *data, struct hasher *h)
{
    hasher_number(h, *(const int *)data);
}

static const struct fact_type number_type = {
    .name = "number", .release = xfree, .hash = hash_number};
static const struct fact_type other_type = {.name = "other", .hash = hash_number};

static struct fact *number(int n)
{
    int *data = xmalloc(sizeof *data);
    *data = n;
    return fact_new(&number_type, data);
}

static bool with_key(const struct snapshot *s)
{
    return snap_on(s, "a.use_key");
}

/* From an earlier answer, or from a fact. */
static char *user_default(const struct snapshot *s)
{
    const int *n = snap_fact(s, "a.number", &number_type);
    if (n != NULL)
        return xasprintf("user_%d", *n);
    const char *name = snap_text(s, "a.name");
    return name[0] != '\0' ? xasprintf("flow_%s", name) : NULL;
}

static char *reads_ahead(const struct snapshot *s)
{
    return xstrdup(snap_text(s, "a.url"));
}

static void give_number(struct run *run, struct outcome *out)
{
    (void)run;
    outcome_pass(out, "one");
}

static const struct check giver = {
    .id = "a.giver", .title = "gives", .gives = IDS("a.number", "a.second"), .run = give_number};

enum { NAME, USE_KEY, KEY, USER, URL, LATE_KEY, LIST, MAP, COUNT };

static const struct field fields[COUNT] = {
    [NAME] = {.id = "a.name", .label = "Name"},
    [USE_KEY] = {.id = "a.use_key", .kind = FIELD_SWITCH, .label = "Use key", .initial = "no"},
    [KEY] = {.id = "a.key",
             .kind = FIELD_SECRET,
             .label = "Key",
             .host_of = "a.url", /* which stands behind it */
             .when = with_key},
    [USER] = {.id = "a.user", .label = "User", .initial = "flow", .default_from = user_default},
    [URL] = {.id = "a.url", .label = "URL"},
    [LATE_KEY] = {.id = "a.late_key", .kind = FIELD_SECRET, .label = "Key", .host_of = "a.url"},
    [LIST] = {.id = "a.list", .kind = FIELD_LIST, .label = "List", .initial = "x, y"},
    [MAP] = {.id = "a.map", .kind = FIELD_MAP, .label = "Map"},
};

struct world {
    struct step step;
    const struct step *steps[2];
    const struct field *fields[COUNT + 2];
    const struct check *checks[2];
    struct rows rows;
    struct value *answers[COUNT + 1];
    enum origin origins[COUNT + 1];
    struct fact *facts[2];
    struct digest digests[2];
};

static struct world *world_new(const struct field *extra)
{
    struct world *w = xcalloc(1, sizeof *w);
    for (size_t i = 0; i < COUNT; i++)
        w->fields[i] = &fields[i];
    if (extra != NULL) { /* first, so that it stands before all it may read */
        memmove(w->fields + 1, w->fields, COUNT * sizeof w->fields[0]);
        w->fields[0] = extra;
    }
    w->checks[0] = &giver;
    w->step = (struct step){.id = "a", .fields = w->fields, .checks = w->checks};
    w->steps[0] = &w->step;
    assert_int_equal(rows_init(&w->rows, w->steps, NULL), 0);
    return w;
}

static void answer(struct world *w, int field, struct value *v, enum origin origin)
{
    value_unref(w->answers[field]);
    w->answers[field] = v;
    w->origins[field] = origin;
}

static struct snapshot *look(struct world *w)
{
    return snapshot_make(&w->rows, w->answers, w->origins, w->facts, w->digests);
}

static void world_free(struct world *w)
{
    for (size_t i = 0; i <= COUNT; i++)
        value_unref(w->answers[i]);
    fact_unref(w->facts[0]);
    fact_unref(w->facts[1]);
    rows_release(&w->rows);
    xfree(w);
}

static void test_nothing_given(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    struct snapshot *s = snapshot_make(&w->rows, NULL, NULL, NULL, NULL);
    assert_ptr_equal(snapshot_rows(s), &w->rows);
    assert_null(snap_value(s, "a.name"));
    assert_string_equal(snap_text(s, "a.name"), "");
    assert_int_equal(snapshot_origin(s, NAME), ORIGIN_NONE);
    assert_false(snap_on(s, "a.use_key"));
    assert_string_equal(snap_text(s, "a.use_key"), "no");
    assert_int_equal(snapshot_origin(s, USE_KEY), ORIGIN_DEFAULT);
    assert_string_equal(snap_text(s, "a.user"), "flow");
    assert_null(snap_secret(s, "a.late_key"));
    assert_null(snap_fact(s, "a.number", &number_type));
    const struct value *list = snap_value(s, "a.list");
    assert_int_equal(list->kind, VALUE_LIST);
    assert_int_equal(list->count, 2);
    assert_string_equal(list->items[1], "y");
    snapshot_unref(s);
    snapshot_unref(NULL);
    assert_null(snapshot_ref(NULL));
    world_free(w);
}

static void test_defaults_follow(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    answer(w, NAME, value_text("shop"), ORIGIN_TYPED);
    struct snapshot *s = look(w);
    assert_string_equal(snap_text(s, "a.user"), "flow_shop");
    assert_int_equal(snapshot_origin(s, NAME), ORIGIN_TYPED);
    assert_int_equal(snapshot_origin(s, USER), ORIGIN_DEFAULT);
    snapshot_unref(s);

    w->facts[0] = number(7);
    s = look(w);
    assert_true(snap_is(s, "a.user", "user_7"));
    /* Shared, never copied. */
    assert_ptr_equal(snap_fact(s, "a.number", &number_type), fact_data(w->facts[0], &number_type));
    snapshot_unref(s);

    answer(w, USER, value_text("mine"), ORIGIN_ANSWERS);
    s = look(w);
    assert_true(snap_is(s, "a.user", "mine"));
    assert_int_equal(snapshot_origin(s, USER), ORIGIN_ANSWERS);
    assert_ptr_equal(snap_value(s, "a.user"), w->answers[USER]);
    snapshot_unref(s);

    answer(w, USER, value_text(""), ORIGIN_TYPED); /* emptied: the default again */
    s = look(w);
    assert_true(snap_is(s, "a.user", "user_7"));
    snapshot_unref(s);
    world_free(w);
}

static void test_hidden(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    struct secret *key = secret_new("correct horse", 13);
    answer(w, KEY, value_secret(key, NULL, NULL), ORIGIN_TYPED);
    struct snapshot *s = look(w);
    assert_false(snapshot_visible(s, KEY));
    assert_null(snap_value(s, "a.key"));
    assert_int_equal(snapshot_origin(s, KEY), ORIGIN_NONE);
    snapshot_unref(s);
    answer(w, USE_KEY, value_text("yes"), ORIGIN_TYPED);
    s = look(w);
    assert_true(snapshot_visible(s, KEY));
    assert_ptr_equal(snap_secret(s, "a.key"), key);
    snapshot_unref(s);
    secret_unref(key);
    world_free(w);
}

/* A secret goes to the host it was entered for and to no other. */
static void test_hosts(void **state)
{
    (void)state;
    static const struct {
        const char *bound;
        const char *url;
        bool at_hand;
    } rows[] = {
        {NULL, NULL, true},
        {NULL, "https://a", true},
        {"https://a", "https://a", true},
        {"https://a", "https://A:443/iceberg?x", true},
        {"https://a:443", "https://a", true},
        {"https://a", "https://b", false},
        {"https://a", "https://a:8443", false},
        {"https://a", "http://a", false},
        {"https://a", "https://a@b", false},
        {"https://a", "a", false},
        {"https://a", NULL, false},
        {"", NULL, false},
        {"db.example.com", "DB.example.com", true},
        {"db.example.com", "db.example.com.evil", false},
    };
    struct world *w = world_new(NULL);
    struct secret *key = secret_new("correct horse", 13);
    answer(w, USE_KEY, value_text("yes"), ORIGIN_TYPED);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        answer(w, KEY, value_secret(key, "env:KEY", rows[i].bound), ORIGIN_TYPED);
        answer(w, LATE_KEY, value_secret(key, "env:KEY", rows[i].bound), ORIGIN_TYPED);
        answer(w, URL, rows[i].url != NULL ? value_text(rows[i].url) : NULL, ORIGIN_TYPED);
        struct snapshot *s = look(w);
        for (int late = 0; late < 2; late++) {
            const char *id = late ? "a.late_key" : "a.key";
            assert_ptr_equal(snap_secret(s, id), rows[i].at_hand ? key : NULL);
            /* It is there all the same, so that it can be said for which host it was. */
            assert_non_null(snap_value(s, id));
            assert_int_equal(value_empty(snap_value(s, id)), !rows[i].at_hand);
            assert_string_equal(snap_value(s, id)->reference, "env:KEY");
        }
        snapshot_unref(s);
    }
    secret_unref(key);
    world_free(w);
}

/* A hand-edited file may hold a list where a text belongs: kept, and no text to anyone. */
static void test_other_form(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    answer(w, NAME, value_list_parse("a, b"), ORIGIN_STATE);
    answer(w, URL, value_list_parse("a"), ORIGIN_STATE);
    answer(w, LATE_KEY, value_text("literal"), ORIGIN_STATE);
    struct snapshot *s = look(w);
    assert_string_equal(snap_text(s, "a.name"), "");
    assert_null(snap_secret(s, "a.late_key"));
    assert_non_null(snap_value(s, "a.name"));
    snapshot_unref(s);
    world_free(w);
}

static struct digest digest_now(struct world *w, const char *const *ids)
{
    struct snapshot *s = look(w);
    struct digest d = snap_digest(s, "check", ids);
    snapshot_unref(s);
    return d;
}

static void assert_digests(struct digest a, struct digest b, bool same)
{
    assert_int_equal(digest_equal(&a, &b), same);
}

static void test_digest_of_answers(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    const char *const *ids = IDS("a.user", "a.key");
    struct digest first = digest_now(w, ids);
    assert_digests(first, digest_now(w, ids), true);
    assert_digests(first, digest_now(w, IDS("?a.user", "?a.key")), true);
    assert_digests(first, digest_now(w, IDS("a.key", "a.user")), false);
    assert_digests(first, digest_now(w, IDS("a.user")), false);
    struct snapshot *s = look(w);
    assert_digests(first, snap_digest(s, "other check", ids), false);
    snapshot_unref(s);

    answer(w, URL, value_text("https://a"), ORIGIN_TYPED); /* not read */
    assert_digests(first, digest_now(w, ids), true);
    struct secret *key = secret_new("correct horse", 13);
    answer(w, KEY, value_secret(key, NULL, NULL), ORIGIN_TYPED); /* hidden */
    assert_digests(first, digest_now(w, ids), true);
    answer(w, USE_KEY, value_text("yes"), ORIGIN_TYPED); /* shown */
    assert_digests(first, digest_now(w, ids), false);
    /* Typing the default's text changes nothing that a check sees. */
    answer(w, USE_KEY, NULL, ORIGIN_NONE);
    answer(w, USER, value_text("flow"), ORIGIN_TYPED);
    assert_digests(first, digest_now(w, ids), true);
    answer(w, USER, NULL, ORIGIN_NONE);
    answer(w, NAME, value_text("shop"), ORIGIN_TYPED); /* by way of a default */
    assert_digests(first, digest_now(w, ids), false);
    secret_unref(key);
    world_free(w);
}

static void test_digest_of_facts(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    const char *const *ids = IDS("a.second");
    struct digest none = digest_now(w, ids);
    w->facts[1] = number(7);
    struct digest seven = digest_now(w, ids);
    assert_digests(none, seven, false);

    /* After a restart only the digest is known: written and read back, it counts the same. */
    char hex[DIGEST_HEX];
    struct digest own = fact_digest(w->facts[1]);
    digest_hex(&own, hex);
    fact_unref(w->facts[1]);
    w->facts[1] = NULL;
    assert_true(digest_parse(hex, &w->digests[1]));
    assert_digests(seven, digest_now(w, ids), true);
    struct snapshot *s = look(w);
    assert_null(snap_fact(s, "a.second", &number_type));
    struct digest kept = snapshot_fact_digest(s, rows_fact(&w->rows, "a.second"));
    assert_true(digest_equal(&kept, &own));
    snapshot_unref(s);

    w->digests[1] = (struct digest){{0}};
    w->facts[1] = number(8);
    assert_digests(seven, digest_now(w, ids), false);
    assert_ptr_equal(fact_type_of(w->facts[1]), &number_type);
    world_free(w);
}

static void read_unknown(void *s)
{
    snap_text(s, "a.nowhere");
}

static void read_fact_as_field(void *s)
{
    snap_value(s, "a.number");
}

static void read_unknown_fact(void *s)
{
    snap_fact(s, "a.name", &number_type);
}

static void read_secret_as_text(void *s)
{
    snap_text(s, "a.late_key");
}

static void read_text_as_secret(void *s)
{
    snap_secret(s, "a.name");
}

static void read_text_as_switch(void *s)
{
    snap_on(s, "a.name");
}

static void read_other_type(void *s)
{
    snap_fact(s, "a.number", &other_type);
}

static void make_one(void *w)
{
    look(w);
}

static void test_bugs_end_it(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    w->facts[0] = number(1);
    struct snapshot *s = look(w);
    assert_dies(read_unknown, s, 70, "a.nowhere is read, which is no field");
    assert_dies(read_fact_as_field, s, 70, "a.number is read, which is no field");
    assert_dies(read_unknown_fact, s, 70, "a.name is read, which is no fact");
    assert_dies(read_secret_as_text, s, 70, "a.late_key is read as a text");
    assert_dies(read_text_as_secret, s, 70, "a.name is read as a secret");
    assert_dies(read_text_as_switch, s, 70, "a.name is read as a switch");
    assert_dies(read_other_type, s, 70, "a fact of type number is read as other");
    snapshot_unref(s);
    world_free(w);

    const struct field ahead = {.id = "a.ahead", .label = "x", .default_from = reads_ahead};
    w = world_new(&ahead);
    assert_dies(make_one, w, 70, "field a.ahead reads a.url, which does not stand before it");
    world_free(w);
}

static void *read_on_thread(void *arg)
{
    struct snapshot *s = arg;
    for (int i = 0; i < 2000; i++) {
        struct snapshot *mine = snapshot_ref(s);
        const int *n = snap_fact(mine, "a.number", &number_type);
        assert_int_equal(*n, 7);
        assert_true(snap_is(mine, "a.user", "user_7"));
        struct secret *key = secret_ref(snap_secret(mine, "a.late_key"));
        assert_int_equal(secret_len(key), 13);
        secret_unref(key);
        snapshot_unref(mine);
    }
    snapshot_unref(s);
    return NULL;
}

/* The model goes on and lets go of all it had while threads still read. */
static void test_shared_by_threads(void **state)
{
    (void)state;
    struct world *w = world_new(NULL);
    struct secret *key = secret_new("correct horse", 13);
    answer(w, LATE_KEY, value_secret(key, NULL, NULL), ORIGIN_TYPED);
    w->facts[0] = number(7);
    struct snapshot *s = look(w);
    pthread_t threads[4];
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_on_thread, snapshot_ref(s)), 0);
    snapshot_unref(s);
    secret_unref(key);
    answer(w, LATE_KEY, NULL, ORIGIN_NONE);
    fact_unref(w->facts[0]);
    w->facts[0] = number(8);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        pthread_join(threads[i], NULL);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_given),
        cmocka_unit_test(test_defaults_follow),
        cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_other_form),
        cmocka_unit_test(test_digest_of_answers),
        cmocka_unit_test(test_digest_of_facts),
        cmocka_unit_test(test_bugs_end_it),
        cmocka_unit_test(test_shared_by_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
