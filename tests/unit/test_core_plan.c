/* Plans: changes are found by id, their texts show no secret, and all of it is let go of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/change.h"
#include "core/mem.h"
#include "core/secret.h"
#include "test_death.h"

static const struct change_kind role = {.id = "postgres.role", .label = "user"};
static const struct change_kind unlabelled = {.id = "postgres.grant"};

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(change_action_name(CHANGE_CREATE), "create");
    assert_string_equal(change_action_name(CHANGE_ALTER), "alter");
    assert_string_equal(change_action_name(CHANGE_REMOVE), "remove");
    assert_string_equal(change_action_mark(CHANGE_CREATE), "+");
    assert_string_equal(change_action_mark(CHANGE_ALTER), "~");
    assert_string_equal(change_action_mark(CHANGE_REMOVE), "-");
}

static void add_again(void *p)
{
    plan_add(p, &role, "postgres", "postgres.user", CHANGE_ALTER, NULL);
}

static void test_changes(void **state)
{
    (void)state;
    struct plan p;
    plan_init(&p);
    assert_null(plan_find(&p, "postgres.user"));
    struct node *args = node_map();
    node_set_text(args, "name", "flow_shop");
    char id[] = "postgres.user";
    struct change *c = plan_add(&p, &role, "postgres", id, CHANGE_CREATE, args);
    id[0] = 'x'; /* the id was copied */
    struct change *g = plan_add(&p, &unlabelled, "postgres", "postgres.grants", CHANGE_ALTER, NULL);
    assert_int_equal(p.count, 2);
    assert_ptr_equal(plan_find(&p, "postgres.user"), c);
    assert_ptr_equal(plan_find(&p, "postgres.grants"), g);
    assert_string_equal(c->title, "user");
    assert_string_equal(g->title, "postgres.grants");
    assert_string_equal(c->detail, "");
    assert_string_equal(c->reason, "");
    assert_string_equal(c->preview, "");
    assert_null(c->caution);
    assert_ptr_equal(c->args, args);
    assert_int_equal(c->action, CHANGE_CREATE);
    change_after(g, "postgres.user");
    change_after(g, "postgres.publication");
    change_after(g, "postgres.user");
    assert_int_equal(g->after_count, 2);
    assert_string_equal(g->after[1], "postgres.publication");
    assert_dies(add_again, &p, 70, "the plan has two changes postgres.user");
    plan_release(&p);
    assert_int_equal(p.count, 0);
    plan_release(&p); /* an empty one */
}

static void test_texts(void **state)
{
    (void)state;
    struct secret *s = secret_new("correct horse", 13);
    struct plan p;
    plan_init(&p);
    struct change *c = plan_add(&p, &role, "postgres", "postgres.user", CHANGE_CREATE, NULL);
    change_text(&c->preview, "CREATE ROLE %s\nPASSWORD '%s'", "x\033[2J", "correct horse");
    assert_string_equal(c->preview, "CREATE ROLE x^[[2J\nPASSWORD '[redacted]'");
    change_text(&c->detail, "login");
    change_text(&c->detail, "%s, REPLICATION", c->detail);
    assert_string_equal(c->detail, "login, REPLICATION");
    change_text(&c->caution, "locks briefly");
    assert_string_equal(c->caution, "locks briefly");
    plan_right(&p, "publication %s", "flow\n");
    plan_missing(&p, "postgres: %s", "has not passed");
    plan_missing(&p, "emr: %s", "correct horse");
    assert_int_equal(p.right_count, 1);
    assert_string_equal(p.right[0], "publication flow^J");
    assert_int_equal(p.missing_count, 2);
    assert_string_equal(p.missing[1], "emr: [redacted]");
    plan_release(&p);
    assert_int_equal(p.missing_count, 0);
    secret_unref(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
