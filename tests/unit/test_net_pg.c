/* PostgreSQL statements, transactions and the replication stream, against a real server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/clock.h"
#include "net_pg_fixture.h"

static void rows_nulls_and_parameters(void **state)
{
    (void)state;
    struct run *run = new_run(5000);
    AUTO_PG *pg = open_plain(run);
    const char *const params[] = {"it's \\ \"q\"", NULL, "42"};
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_RESULT *r =
        pg_query(run, pg,
                 "SELECT $1::text AS a, $2::text AS b, $3::bigint AS n, true AS \"T\", false AS f,"
                 " '' AS empty, '9x' AS bad FROM generate_series(1,2)",
                 params, 3, &err);
    assert_non_null(r);
    assert_int_equal(pg_rows(r), 2);
    assert_string_equal(pg_cell(r, 1, "a"), params[0]);
    assert_true(pg_is_null(r, 0, "b"));
    assert_string_equal(pg_cell(r, 0, "b"), "");
    assert_false(pg_is_null(r, 0, "empty"));
    assert_int_equal(pg_number(r, 0, "n", -1), 42);
    assert_int_equal(pg_number(r, 0, "b", -1), -1);
    assert_int_equal(pg_number(r, 0, "bad", -1), -1);
    assert_true(pg_true(r, 0, "T"));
    assert_false(pg_true(r, 0, "f"));
    run_free(run);
}

static void a_failed_statement_leaves_the_connection(void **state)
{
    (void)state;
    static const struct {
        const char *sql, *code;
        enum problem_kind kind;
    } rows[] = {
        {"SELECT * FROM absent", "42P01", PROBLEM_MISSING},
        {"SELEC 1", "42601", PROBLEM_REFUSED},
        {"SELECT 1/0", "22012", PROBLEM_REFUSED},
        {"CREATE ROLE postgres", "42710", PROBLEM_CONFLICT},
        {"SELECT 1; SELECT 2", "42601", PROBLEM_REFUSED},
    };
    struct run *run = new_run(5000);
    AUTO_PG *pg = open_plain(run);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_null(pg_query(run, pg, rows[i].sql, NULL, 0, &err));
        assert_string_equal(err.code, rows[i].code);
        assert_int_equal(err.kind, rows[i].kind);
    }
    assert_true(pg_alive(pg));
    execute(run, pg, "SELECT 1");
    run_free(run);
}

static void a_pipeline_survives_failures(void **state)
{
    (void)state;
    struct run *run = new_run(10000);
    AUTO_PG *pg = open_plain(run);
    enum { COUNT = 60 };
    struct pg_item items[COUNT];
    for (int i = 0; i < COUNT; i++)
        items[i] = (struct pg_item){.name = "item",
                                    .sql = i % 7 == 3 ? "SELECT 1/0 AS v"
                                                      : "SELECT repeat('x', 100000) AS v"};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(pg_pipeline(run, pg, items, COUNT, &err), 0);
    for (int i = 0; i < COUNT; i++) {
        if (i % 7 == 3) {
            assert_null(items[i].result);
            assert_string_equal(items[i].problem.code, "22012");
        } else {
            assert_int_equal(strlen(pg_cell(items[i].result, 0, "v")), 100000);
            assert_int_equal(items[i].problem.kind, PROBLEM_NONE);
        }
    }
    pg_items_release(items, COUNT);
    execute(run, pg, "SELECT 1");
    run_free(run);
}

/* Large statements beside large answers: neither side may wait for the other to read. */
static void a_pipeline_does_not_deadlock(void **state)
{
    (void)state;
    struct run *run = new_run(20000);
    AUTO_PG *pg = open_plain(run);
    enum { COUNT = 12 };
    size_t n = 1 << 20;
    char *big = xmalloc(n + 1);
    memset(big, 'y', n);
    big[n] = '\0';
    const char *const params[] = {big};
    struct pg_item items[COUNT];
    for (int i = 0; i < COUNT; i++)
        items[i] = (struct pg_item){
            .sql = "SELECT $1::text || $1::text AS v", .params = params, .param_count = 1};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(pg_pipeline(run, pg, items, COUNT, &err), 0);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(strlen(pg_cell(items[i].result, 0, "v")), 2 * n);
    pg_items_release(items, COUNT);
    xfree(big);
    run_free(run);
}

static long long sleeping(struct run *run, struct pg *pg)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_RESULT *r =
        pg_query(run, pg,
                 "SELECT count(*) AS n FROM pg_stat_activity WHERE state = 'active' AND query LIKE"
                 " 'SELECT pg_sleep%'",
                 NULL, 0, &err);
    return pg_number(r, 0, "n", -1);
}

static void cancel_ends_the_statement_on_both_sides(void **state)
{
    (void)state;
    struct run *watch = new_run(20000);
    AUTO_PG *other = open_plain(watch);
    for (int round = 0; round < 2; round++) {
        struct run *run = new_run(30000);
        AUTO_PG *pg = open_plain(run);
        pthread_t id;
        pthread_create(&id, NULL, cancel_soon, run);
        int64_t began = clock_ms();
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_null(pg_query(run, pg, "SELECT pg_sleep(60)", NULL, 0, &err));
        assert_in_range(clock_ms() - began, 150, 400);
        assert_int_equal(err.kind, PROBLEM_CANCELLED);
        pthread_join(id, NULL);
        assert_false(pg_alive(pg));
        AUTO_PROBLEM again = PROBLEM_INIT;
        struct run *later = new_run(1000);
        assert_null(pg_query(later, pg, "SELECT 1", NULL, 0, &again));
        assert_string_equal(again.code, "pg lost");
        run_free(later);
        int i = 0;
        while (sleeping(watch, other) > 0 && i++ < 100)
            usleep(20000);
        assert_int_equal(sleeping(watch, other), 0);
        run_free(run);
    }
    run_free(watch);
}

static void deadline_ends_the_statement(void **state)
{
    (void)state;
    struct run *run = new_run(600);
    AUTO_PG *pg = open_plain(run);
    AUTO_PROBLEM err = PROBLEM_INIT;
    int64_t began = clock_ms();
    assert_null(pg_query(run, pg, "SELECT pg_sleep(60)", NULL, 0, &err));
    assert_in_range(clock_ms() - began, 300, 800);
    assert_int_equal(err.kind, PROBLEM_UNREACHABLE);
    run_free(run);
}

static void the_server_gives_up_by_itself(void **state)
{
    (void)state;
    struct run *run = new_run(10000);
    AUTO_PG *holder = open_plain(run);
    execute(run, holder, "CREATE TABLE IF NOT EXISTS locked (id int)");
    execute(run, holder, "BEGIN");
    execute(run, holder, "LOCK TABLE locked");
    struct pg_options o = options();
    o.lock_timeout_ms = 200;
    o.statement_timeout_ms = 700;
    o.application_name = "estuary_flow";
    AUTO_PG *pg = open_with(run, &o);
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_null(pg_query(run, pg, "SELECT * FROM locked", NULL, 0, &err));
    assert_string_equal(err.code, "55P03");
    assert_int_equal(err.kind, PROBLEM_CONFLICT);
    assert_null(pg_query(run, pg, "SELECT pg_sleep(5)", NULL, 0, &err));
    assert_string_equal(err.code, "57014");
    assert_true(pg_alive(pg));
    assert_false(pg_alive(holder)); /* in a transaction: not to be shared */
    run_free(run);
}

static void a_transaction_is_whole_or_nothing(void **state)
{
    (void)state;
    struct run *run = new_run(10000);
    AUTO_PG *pg = open_plain(run);
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_TEXT notices = TEXT_INIT;
    assert_int_equal(
        pg_transaction(run, pg,
                       "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED);"
                       "DO $$ BEGIN RAISE WARNING 'not all' USING ERRCODE = '01007'; END $$;",
                       &notices, &err),
        0);
    assert_string_equal(notices.s, "WARNING 01007: not all\n");
    assert_int_equal(
        pg_transaction(run, pg, "INSERT INTO t VALUES (1); SELECT 1/0; INSERT INTO t VALUES (2)",
                       NULL, &err),
        -1);
    assert_string_equal(err.code, "22012");
    assert_true(pg_alive(pg));
    /* Refused only at COMMIT. */
    assert_int_equal(pg_transaction(run, pg, "INSERT INTO t VALUES (3), (3)", NULL, &err), -1);
    assert_string_equal(err.code, "23505");
    assert_true(pg_alive(pg));
    assert_int_equal(
        pg_transaction(run, pg, "INSERT INTO t VALUES (4); COMMIT; SELECT 1", NULL, &err), -1);
    assert_string_equal(err.code, "pg transaction");
    AUTO_RESULT *r = pg_query(run, pg, "SELECT count(*) AS n, max(id) AS id FROM t", NULL, 0, &err);
    assert_int_equal(pg_number(r, 0, "n", -1), 1);
    assert_int_equal(pg_number(r, 0, "id", -1), 4);
    run_free(run);
}

static void notices_are_kept(void **state)
{
    (void)state;
    struct run *run = new_run(5000);
    AUTO_PG *pg = open_plain(run);
    execute(run, pg, "DROP TABLE IF EXISTS never_there");
    AUTO_TEXT t = TEXT_INIT;
    pg_take_notices(pg, &t);
    assert_non_null(strstr(t.s, "NOTICE 00000: table \"never_there\" does not exist"));
    text_reset(&t);
    pg_take_notices(pg, &t);
    assert_string_equal(t.s, "");
    run_free(run);
}

static void a_lost_connection_is_said(void **state)
{
    (void)state;
    struct run *run = new_run(10000);
    AUTO_PG *victim = open_plain(run);
    AUTO_PG *pg = open_plain(run);
    execute(run, pg,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            "AND datname = 'shop'");
    usleep(100000);
    assert_false(pg_alive(victim));
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_null(pg_query(run, victim, "SELECT 1", NULL, 0, &err));
    assert_int_equal(err.kind, PROBLEM_UNREACHABLE);
    AUTO_PG *second = open_plain(run);
    struct pg_item items[2] = {{.sql = "SELECT pg_terminate_backend(pg_backend_pid())"},
                               {.sql = "SELECT 1"}};
    assert_int_equal(pg_pipeline(run, second, items, 2, &err), -1);
    assert_int_equal(err.kind, PROBLEM_UNREACHABLE);
    pg_items_release(items, 2);
    run_free(run);
}

/* Changes come through a temporary slot; the stream lives on beyond wal_sender_timeout (2 s here),
 * because keepalives are answered. */
static void changes_are_streamed(void **state)
{
    (void)state;
    struct run *run = new_run(20000);
    AUTO_PG *pg = open_plain(run);
    execute(run, pg, "CREATE TABLE streamed (id int PRIMARY KEY)");
    execute(run, pg, "CREATE PUBLICATION pub FOR TABLE streamed");
    struct pg_options o = options();
    o.replication = true;
    AUTO_PG *stream = open_with(run, &o);
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_RESULT *id = pg_query(run, stream, "IDENTIFY_SYSTEM", NULL, 0, &err);
    assert_string_equal(pg_cell(id, 0, "dbname"), "shop");
    struct pg_item items[2] = {{.sql = "SHOW wal_level"}, {.sql = "NONSENSE"}};
    assert_int_equal(pg_pipeline(run, stream, items, 2, &err), 0);
    assert_string_equal(pg_cell(items[0].result, 0, "wal_level"), "logical");
    assert_string_equal(items[1].problem.code, "42601");
    pg_items_release(items, 2);
    assert_int_equal(pg_copy_both(run, stream, "START_REPLICATION SLOT absent LOGICAL 0/0", &err),
                     -1);
    assert_string_equal(err.code, "42704");
    /* Only now: an error drops the temporary slots of its connection. */
    execute(run, stream,
            "CREATE_REPLICATION_SLOT probe TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT");
    const char *begin =
        "START_REPLICATION SLOT probe LOGICAL 0/0 (proto_version '1', publication_names 'pub')";
    if (pg_copy_both(run, stream, begin, &err) != 0)
        fail_msg("%s: %s\n%s", err.code, err.what, err.evidence);
    char *message = NULL;
    size_t n = 0;
    int64_t began = clock_ms();
    assert_int_equal(pg_copy_next(run, stream, 3500, &message, &n, &err), 0);
    assert_in_range(clock_ms() - began, 3450, 3800);
    execute(run, pg, "INSERT INTO streamed VALUES (7)");
    char kinds[8] = "";
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pg_copy_next(run, stream, 5000, &message, &n, &err), 1);
        assert_true(n > 0);
        kinds[i] = message[0];
        pg_message_free(message);
    }
    assert_string_equal(kinds, "BRIC");
    run_free(run);
    /* Cancel while nothing comes. */
    run = new_run(20000);
    pthread_t thread;
    pthread_create(&thread, NULL, cancel_soon, run);
    began = clock_ms();
    assert_int_equal(pg_copy_next(run, stream, 10000, &message, &n, &err), -1);
    assert_int_equal(err.kind, PROBLEM_CANCELLED);
    assert_in_range(clock_ms() - began, 150, 300);
    pthread_join(thread, NULL);
    run_free(run);
}

static void a_missing_publication_ends_the_stream(void **state)
{
    (void)state;
    struct run *run = new_run(10000);
    AUTO_PG *pg = open_plain(run);
    execute(run, pg, "CREATE TABLE IF NOT EXISTS written (id int)");
    struct pg_options o = options();
    o.replication = true;
    AUTO_PG *stream = open_with(run, &o);
    execute(run, stream,
            "CREATE_REPLICATION_SLOT probe2 TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT");
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(pg_copy_both(run, stream,
                                  "START_REPLICATION SLOT probe2 LOGICAL 0/0 (proto_version '1', "
                                  "publication_names 'absent')",
                                  &err),
                     0);
    execute(run, pg, "INSERT INTO written VALUES (1)");
    char *message = NULL;
    size_t n;
    int rc = pg_copy_next(run, stream, 5000, &message, &n, &err);
    while (rc == 1) {
        pg_message_free(message);
        rc = pg_copy_next(run, stream, 5000, &message, &n, &err);
    }
    assert_int_equal(rc, -1);
    assert_string_equal(err.code, "42704");
    run_free(run);
}

static void names_are_quoted_as_the_server_does(void **state)
{
    (void)state;
    struct run *run = new_run(10000);
    AUTO_PG *pg = open_plain(run);
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_RESULT *r = pg_query(
        run, pg,
        "SELECT w, quote_ident(w) AS q FROM (SELECT word AS w FROM pg_get_keywords() UNION ALL"
        " SELECT unnest(ARRAY['a','A','a b','1a','a1','a$b','_x','é','','a\"b','Order Items',"
        "'flow_watermarks','selects','-','a.b'])) AS x",
        NULL, 0, &err);
    assert_non_null(r);
    assert_true(pg_rows(r) > 400);
    for (int i = 0; i < pg_rows(r); i++) {
        AUTO(xfree) char *mine = pg_quote_ident(pg_cell(r, i, "w"));
        /* Words that PostgreSQL 16 to 18 added to those it quotes. */
        if (strncmp(pg_cell(r, i, "w"), "json", 4) != 0)
            assert_string_equal(mine, pg_cell(r, i, "q"));
    }
    AUTO(xfree) char *name = pg_identifier(pg, "x\"; DROP TABLE y; --");
    assert_string_equal(name, "\"x\"\"; DROP TABLE y; --\"");
    AUTO(xfree) char *text = pg_literal(pg, "it's a \\ back");
    AUTO(xfree) char *sql = xasprintf("SELECT %s AS v", text);
    AUTO_RESULT *v = pg_query(run, pg, sql, NULL, 0, &err);
    assert_string_equal(pg_cell(v, 0, "v"), "it's a \\ back");
    assert_null(pg_identifier(pg, "bad \xC3"));
    run_free(run);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_nulls_and_parameters),
        cmocka_unit_test(a_failed_statement_leaves_the_connection),
        cmocka_unit_test(a_pipeline_survives_failures),
        cmocka_unit_test(a_pipeline_does_not_deadlock),
        cmocka_unit_test(cancel_ends_the_statement_on_both_sides),
        cmocka_unit_test(deadline_ends_the_statement),
        cmocka_unit_test(the_server_gives_up_by_itself),
        cmocka_unit_test(a_transaction_is_whole_or_nothing),
        cmocka_unit_test(notices_are_kept),
        cmocka_unit_test(a_lost_connection_is_said),
        cmocka_unit_test(changes_are_streamed),
        cmocka_unit_test(a_missing_publication_ends_the_stream),
        cmocka_unit_test(names_are_quoted_as_the_server_does),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
