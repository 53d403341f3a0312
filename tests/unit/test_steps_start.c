/* The step start: prefix and data plane judged by what the login may use, their defaults and
 * choices; words included. */
#include "spec_world.h"

#include "steps/spec/account.h"

#define EAST "ops/dp/public/aws-us-east-1-c2"
#define WEST "ops/dp/public/aws-eu-west-1-c1"
#define OLD "ops/dp/public/gcp-us-central1-c1"

static char **texts(size_t count, const char *const *from)
{
    char **list = xcalloc(count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = xstrdup(from[i]);
    return list;
}

struct sample {
    const char *prefixes[4][2];
    const char *mappings[3][4]; /* prefix and planes */
};

static const struct sample usual = {
    .prefixes = {{"acmeCo/", "admin"}, {"betaCo/", "write"}, {"gammaCo/", "read"}},
    .mappings = {{"acmeCo/", EAST, OLD}, {"acmeCo/data/", WEST}, {"betaCo/", EAST}},
};

static struct fact *account_of(const struct sample *s)
{
    static const char *const planes[][3] = {
        {WEST, "aws", "eu-west-1"}, {EAST, "aws", "us-east-1"}, {OLD, "gcp", "us-central1"}};
    static const char *const cidrs[] = {"192.0.2.7/32", "2001:db8:a::/64"};
    struct estuary_account a = {.prefixes = xcalloc(4, sizeof *a.prefixes),
                                .planes = xcalloc(3, sizeof *a.planes),
                                .mappings = xcalloc(3, sizeof *a.mappings)};
    for (; a.prefix_count < 4 && s->prefixes[a.prefix_count][0] != NULL; a.prefix_count++)
        a.prefixes[a.prefix_count] = (struct estuary_prefix){
            xstrdup(s->prefixes[a.prefix_count][0]), xstrdup(s->prefixes[a.prefix_count][1])};
    for (; a.plane_count < ARRAY_LEN(planes); a.plane_count++)
        a.planes[a.plane_count] =
            (struct estuary_plane){.name = xstrdup(planes[a.plane_count][0]),
                                   .cloud = xstrdup(planes[a.plane_count][1]),
                                   .region = xstrdup(planes[a.plane_count][2]),
                                   .closed = strcmp(planes[a.plane_count][0], OLD) == 0,
                                   .cidr_count = 2,
                                   .cidrs = texts(2, cidrs)};
    for (; a.mapping_count < 3 && s->mappings[a.mapping_count][0] != NULL; a.mapping_count++) {
        const char *const *row = s->mappings[a.mapping_count];
        size_t count = 0;
        while (count < 3 && row[count + 1] != NULL)
            count++;
        a.mappings[a.mapping_count] =
            (struct estuary_mapping){xstrdup(row[0]), count, texts(count, row + 1)};
    }
    return spec_account_fact(&a);
}

static void open_with(struct world *w, const struct sample *s)
{
    spec_open(w);
    world_text(w, "start.prefix", "");
    world_text(w, "start.data_plane", "");
    if (s != NULL)
        world_fact(w, SPEC_FACT_ACCOUNT, account_of(s));
}

static void the_form_of_a_prefix(void **state)
{
    (void)state;
    static const char *const good[] = {"acmeCo/", "acmeCo/data.eu/"};
    static const char *const bad[] = {"/",         "acmeCo",   "acmeCo//", "acmeCo/../",
                                      "acmeCo/./", "acme Co/", "/acmeCo/", "\xC3\xA4/"};
    const struct field *prefix = NULL;
    for (size_t i = 0; step_start.fields[i] != NULL; i++)
        if (strcmp(step_start.fields[i]->id, "start.prefix") == 0)
            prefix = step_start.fields[i];
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        assert_int_equal(prefix->valid(good[i], NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(prefix->valid(bad[i], NULL), -1);
}

/* --- prefix
 * ----------------------------------------------------------------------------------- */

static void prefixes(void **state)
{
    (void)state;
    static const struct {
        const char *prefix;
        enum status status;
        const char *line, *code, *suggest;
    } rows[] = {
        {"acmeCo/", STATUS_PASSED,
         "acmeCo/ is yours to administer, stored by the mapping of acmeCo/", NULL, NULL},
        {"acmeCo/shop/", STATUS_PASSED, "stored by the mapping of acmeCo/", NULL, NULL},
        {"acmeCo/data/x/", STATUS_PASSED, "stored by the mapping of acmeCo/data/", NULL, NULL},
        {"betaCo/", STATUS_FAILED, "you may only write betaCo/", "capability", "acmeCo/"},
        {"betaCo/shop/", STATUS_FAILED, "you may only write betaCo/shop/", "capability", "acmeCo/"},
        {"gammaCo/", STATUS_FAILED, "you may only read gammaCo/", "capability", "acmeCo/"},
        {"acmeCo2/", STATUS_FAILED, "acmeCo2/ is none of yours", "prefix", "acmeCo/"},
        {"AcmeCo/", STATUS_FAILED, "AcmeCo/ is none of yours", "prefix", "acmeCo/"},
    };
    AUTO_WORLD w;
    open_with(&w, &usual);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        world_text(&w, "start.prefix", rows[i].prefix);
        AUTO_OUTCOME *o = spec_judge(&w, "start.prefix");
        assert_int_equal(o->status, rows[i].status);
        assert_has(o->line, rows[i].line);
        if (rows[i].status == STATUS_FAILED) {
            assert_helps(o);
            assert_string_equal(o->code, rows[i].code);
            assert_string_equal(o->suggest_field, "start.prefix");
            assert_string_equal(o->suggest_value, rows[i].suggest);
            assert_has(o->fix, "Take acmeCo/");
        }
    }
}

static void prefix_without_a_way_of_ones_own(void **state)
{
    (void)state;
    static const struct sample s = {.prefixes = {{"betaCo/", "write"}, {"deltaCo/", "none"}},
                                    .mappings = {{"betaCo/", EAST}}};
    static const char *const rows[][2] = {{"betaCo/", "you may only write betaCo/"},
                                          {"other/", "other/ is none of yours"},
                                          {"deltaCo/", "deltaCo/ is none of yours"}};
    AUTO_WORLD w;
    open_with(&w, &s);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        world_text(&w, "start.prefix", rows[i][0]);
        AUTO_OUTCOME *o = spec_judge(&w, "start.prefix");
        assert_int_equal(o->status, STATUS_FAILED);
        assert_has(o->line, rows[i][1]);
        assert_helps(o);
        assert_int_equal(o->who, WHO_ESTUARY);
        assert_has(o->fix, "admin of the tenant");
        assert_null(o->suggest_value);
    }
}

static void prefix_without_a_mapping(void **state)
{
    (void)state;
    static const struct sample none = {.prefixes = {{"acmeCo/", "admin"}}};
    static const struct sample empty = {.prefixes = {{"acmeCo/", "admin"}},
                                        .mappings = {{"acmeCo/"}}};
    const struct sample *const rows[] = {&none, &empty};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_WORLD w;
        open_with(&w, rows[i]);
        world_text(&w, "start.prefix", "acmeCo/");
        AUTO_OUTCOME *o = spec_judge(&w, "start.prefix");
        assert_int_equal(o->status, STATUS_FAILED);
        assert_has(o->line, "acmeCo/ has no storage mapping");
        assert_helps(o);
        world_text(&w, "start.data_plane", EAST);
        AUTO_OUTCOME *plane = spec_judge(&w, "start.plane");
        assert_int_equal(plane->status, STATUS_FAILED);
        assert_has(plane->line, "acmeCo/ stores with no data plane");
        assert_helps(plane);
    }
}

/* --- data plane
 * -------------------------------------------------------------------------------- */

static void planes(void **state)
{
    (void)state;
    static const struct {
        const char *prefix, *plane;
        enum status status;
        const char *line, *code, *suggest;
    } rows[] = {
        {"acmeCo/", EAST, STATUS_PASSED, "aws us-east-1, 2 addresses to let in at the database",
         NULL, NULL},
        {"acmeCo/data/", WEST, STATUS_PASSED, "aws eu-west-1", NULL, NULL},
        {"acmeCo/", WEST, STATUS_FAILED, "acmeCo/ stores with other data planes", "mapping", EAST},
        {"acmeCo/data/", EAST, STATUS_FAILED, "stores with other data planes", "mapping", WEST},
        {"acmeCo/", OLD, STATUS_FAILED, OLD " takes nothing new", "closed", EAST},
        {"acmeCo/", "ops/dp/public/x", STATUS_FAILED, "there is no data plane ops/dp/public/x",
         "plane", EAST},
        {"elsewhere/", EAST, STATUS_FAILED, "elsewhere/ stores with no data plane", "mapping",
         NULL},
    };
    AUTO_WORLD w;
    open_with(&w, &usual);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        world_text(&w, "start.prefix", rows[i].prefix);
        world_text(&w, "start.data_plane", rows[i].plane);
        AUTO_OUTCOME *o = spec_judge(&w, "start.plane");
        if (o->status != rows[i].status)
            fail_msg("%zu: %s", i, o->line);
        assert_has(o->line, rows[i].line);
        if (rows[i].status != STATUS_FAILED)
            continue;
        assert_helps(o);
        assert_string_equal(o->code, rows[i].code);
        if (rows[i].suggest != NULL) {
            assert_string_equal(o->suggest_field, "start.data_plane");
            assert_string_equal(o->suggest_value, rows[i].suggest);
            assert_has(o->fix, rows[i].suggest);
        } else {
            assert_null(o->suggest_value);
        }
    }
}

static void planes_before_a_prefix(void **state)
{
    (void)state;
    static const struct sample two = {.prefixes = {{"acmeCo/", "admin"}, {"betaCo/", "admin"}}};
    static const struct {
        const char *plane;
        enum status status;
        const char *line;
    } rows[] = {
        {WEST, STATUS_PASSED, "aws eu-west-1"},
        {"ops/dp/public/x", STATUS_FAILED, "there is no data plane ops/dp/public/x"},
        {OLD, STATUS_FAILED, OLD " takes nothing new"},
        {"", STATUS_SKIPPED, "Estuary takes its default"},
    };
    AUTO_WORLD w;
    open_with(&w, &two);
    AUTO_OUTCOME *prefix = spec_judge(&w, "start.prefix");
    assert_int_equal(prefix->status, STATUS_SKIPPED);
    assert_has(prefix->line, "not answered yet");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        world_text(&w, "start.data_plane", rows[i].plane);
        AUTO_OUTCOME *o = spec_judge(&w, "start.plane");
        assert_int_equal(o->status, rows[i].status);
        assert_has(o->line, rows[i].line);
        if (rows[i].status == STATUS_FAILED) {
            assert_helps(o);
            assert_has(o->fix, "Estuary prefix first");
            assert_null(o->suggest_value);
        }
    }
}

static void addresses_are_listed(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_with(&w, &usual);
    world_text(&w, "start.prefix", "acmeCo/");
    world_text(&w, "start.data_plane", EAST);
    AUTO_OUTCOME *o = spec_judge(&w, "start.plane");
    assert_int_equal(o->item_count, 2);
    assert_string_equal(o->items[0].name, "192.0.2.7/32");
    assert_string_equal(o->copy, "192.0.2.7/32 2001:db8:a::/64");
}

/* The first of a mapping may have been closed since: then it is no way out. */
static void a_closed_plane_is_not_suggested(void **state)
{
    (void)state;
    static const struct sample s = {.prefixes = {{"acmeCo/", "admin"}},
                                    .mappings = {{"acmeCo/", OLD, EAST}}};
    static const struct sample closed = {.prefixes = {{"acmeCo/", "admin"}},
                                         .mappings = {{"acmeCo/", OLD}}};
    AUTO_WORLD w;
    open_with(&w, &s);
    world_text(&w, "start.prefix", "acmeCo/");
    assert_string_equal(spec_default(&w, "start.data_plane"), EAST);
    world_text(&w, "start.data_plane", OLD);
    AUTO_OUTCOME *o = spec_judge(&w, "start.plane");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_string_equal(o->suggest_value, EAST);
    AUTO_WORLD other;
    open_with(&other, &closed);
    world_text(&other, "start.prefix", "acmeCo/");
    assert_string_equal(spec_default(&other, "start.data_plane"), "");
    world_text(&other, "start.data_plane", OLD);
    AUTO_OUTCOME *none = spec_judge(&other, "start.plane");
    assert_int_equal(none->status, STATUS_FAILED);
    assert_helps(none);
    assert_null(none->suggest_value);
}

/* --- without a login
 * --------------------------------------------------------------------------- */

static void without_a_login(void **state)
{
    (void)state;
    static const char *const ids[] = {"start.prefix", "start.plane"};
    AUTO_WORLD w;
    open_with(&w, NULL);
    assert_string_equal(spec_default(&w, "start.prefix"), "");
    assert_string_equal(spec_default(&w, "start.data_plane"), "");
    world_text(&w, "start.prefix", "anyCo/");
    world_text(&w, "start.data_plane", "ops/dp/public/any");
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        AUTO_OUTCOME *o = spec_judge(&w, ids[i]);
        assert_int_equal(o->status, STATUS_SKIPPED);
        assert_has(o->line, "no Estuary token: taken as typed");
    }
    AUTO_OUTCOME *login = spec_judge(&w, "start.login");
    assert_int_equal(login->status, STATUS_SKIPPED);
    assert_has(login->line, "the export will be a draft");
}

/* --- defaults and choices
 * ---------------------------------------------------------------------- */

static void defaults(void **state)
{
    (void)state;
    static const struct sample two = {.prefixes = {{"acmeCo/", "admin"}, {"betaCo/", "admin"}},
                                      .mappings = {{"acmeCo/", EAST}}};
    static const struct sample none = {.prefixes = {{"acmeCo/", "write"}}};
    static const struct {
        const struct sample *sample;
        const char *prefix, *plane;
    } rows[] = {{&usual, "acmeCo/", EAST}, {&two, "", ""}, {&none, "", ""}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_WORLD w;
        open_with(&w, rows[i].sample);
        assert_string_equal(spec_default(&w, "start.prefix"), rows[i].prefix);
        assert_string_equal(spec_default(&w, "start.data_plane"), rows[i].plane);
    }
    AUTO_WORLD w;
    open_with(&w, &usual);
    world_text(&w, "start.prefix", "acmeCo/data/");
    assert_string_equal(spec_default(&w, "start.data_plane"), WEST);
    assert_string_equal(spec_default(&w, "capture.name"), "acmeCo/data/shop/source-postgres");
}

static void bring(struct wizard *w, enum status status, struct fact *account)
{
    int check = rows_check(wizard_rows(w), "start.login");
    struct outcome *o = outcome_new();
    outcome_pass(o, "logged in");
    if (status == STATUS_FAILED)
        outcome_fail(o, "token", "refused");
    else if (status == STATUS_SKIPPED)
        outcome_skip(o, "no token");
    o->digest = wizard_check_digest(w, check);
    if (account != NULL)
        outcome_give(o, SPEC_FACT_ACCOUNT, account);
    assert_true(wizard_put_outcome(w, check, o));
    outcome_unref(o);
}

static void assert_effective(struct wizard *w, const char *id, const char *text)
{
    const struct value *v = wizard_effective(w, rows_field(wizard_rows(w), id));
    assert_non_null(v);
    assert_string_equal(v->text, text);
}

/* What the login gave once is not lost with it: neither a service that is away nor a token that has
 * ended takes the names away. */
static void defaults_outlive_the_login(void **state)
{
    (void)state;
    static const enum status ends[] = {STATUS_FAILED, STATUS_SKIPPED};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        struct rows rows;
        assert_int_equal(rows_init(&rows, steps_all(), &err), 0);
        struct wizard *w = wizard_new(&rows);
        int prefix = rows_field(&rows, "start.prefix");
        wizard_set_text(w, rows_field(&rows, "start.name"), "shop", ORIGIN_TYPED, NULL);
        /* as read from a state file: it equals the default, so it follows it */
        wizard_set_text(w, prefix, "acmeCo/", ORIGIN_STATE, NULL);
        bring(w, STATUS_PASSED, account_of(&usual));
        assert_effective(w, "start.data_plane", EAST);
        assert_int_equal(wizard_origin(w, prefix), ORIGIN_DEFAULT);
        bring(w, ends[i], NULL);
        assert_effective(w, "start.prefix", "acmeCo/");
        assert_effective(w, "start.data_plane", EAST);
        assert_effective(w, "capture.name", "acmeCo/shop/source-postgres");
        bring(w, STATUS_PASSED, account_of(&usual));
        assert_int_equal(wizard_origin(w, prefix), ORIGIN_DEFAULT);
        assert_effective(w, "start.prefix", "acmeCo/");
        wizard_free(w);
        rows_release(&rows);
    }
}

static void choices_of_planes(void **state)
{
    (void)state;
    static const struct {
        const char *prefix, *answered, *values[3];
    } rows[] = {
        {"acmeCo/", "", {EAST}},       {"acmeCo/", EAST, {EAST}},
        {"acmeCo/", OLD, {EAST, OLD}}, {"acmeCo/data/", EAST, {WEST, EAST}},
        {"elsewhere/", "", {NULL}},
    };
    AUTO_WORLD w;
    open_with(&w, &usual);
    const struct field *f = w.rows.fields[rows_field(&w.rows, "start.data_plane")];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct choices list = {0};
        world_text(&w, "start.prefix", rows[i].prefix);
        world_text(&w, "start.data_plane", rows[i].answered);
        f->choices_from(world_snapshot(&w), &list);
        size_t count = 0;
        while (count < 3 && rows[i].values[count] != NULL)
            count++;
        assert_int_equal(list.count, count);
        for (size_t c = 0; c < count; c++)
            assert_string_equal(list.rows[c].value, rows[i].values[c]);
        choices_release(&list);
    }
    AUTO_WORLD without;
    open_with(&without, NULL);
    struct choices list = {0};
    world_text(&without, "start.data_plane", EAST);
    f->choices_from(world_snapshot(&without), &list);
    assert_int_equal(list.count, 0); /* typed */
    choices_release(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_form_of_a_prefix),
        cmocka_unit_test(prefixes),
        cmocka_unit_test(prefix_without_a_way_of_ones_own),
        cmocka_unit_test(prefix_without_a_mapping),
        cmocka_unit_test(planes),
        cmocka_unit_test(planes_before_a_prefix),
        cmocka_unit_test(addresses_are_listed),
        cmocka_unit_test(a_closed_plane_is_not_suggested),
        cmocka_unit_test(without_a_login),
        cmocka_unit_test(defaults),
        cmocka_unit_test(defaults_outlive_the_login),
        cmocka_unit_test(choices_of_planes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
