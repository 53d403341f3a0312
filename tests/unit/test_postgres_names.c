/* Names as quote_ident writes them, judges of name fields, platforms by their marks, sizes in
 * words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/mem.h"
#include "net/pg.h"
#include "postgres/facts.h"
#include "postgres/names.h"

static void splits_and_joins(void **state)
{
    (void)state;
    static const struct {
        const char *written, *schema, *table;
    } rows[] = {
        {"public.orders", "public", "orders"},
        {"public.\"Order Items\"", "public", "Order Items"},
        {"\"My.Schema\".\"a.b\"", "My.Schema", "a.b"},
        {"public.\"x\"\"; DROP TABLE y; --\"", "public", "x\"; DROP TABLE y; --"},
        {"public.\"select\"", "public", "select"},
        {"public.\"new\nline\"", "public", "new\nline"},
        {"public.\"émile\"", "public", "émile"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(xfree) char *schema = NULL;
        AUTO(xfree) char *table = NULL;
        AUTO_PROBLEM err = PROBLEM_INIT;
        if (postgres_split_table(rows[i].written, &schema, &table, &err) != 0)
            fail_msg("%s: %s", rows[i].written, err.what);
        assert_string_equal(schema, rows[i].schema);
        assert_string_equal(table, rows[i].table);
        AUTO(xfree) char *written = postgres_join_table(schema, table);
        assert_string_equal(written, rows[i].written);
    }
}

static void refuses_other_spellings(void **state)
{
    (void)state;
    static const struct {
        const char *written, *fix;
    } rows[] = {
        {"orders", "quote_ident"},
        {"public.", "quote_ident"},
        {".orders", "quote_ident"},
        {"a.b.c", "quote_ident"},
        {"public.\"open", "quote_ident"},
        {"public.\"a\"b", "quote_ident"},
        {"", "quote_ident"},
        {"public.Orders", "write public.\"Orders\""},
        {"public.order items", "write public.\"order items\""},
        {"public.\"orders\"", "write public.orders"},
        {"public.select", "write public.\"select\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *schema = NULL, *table = NULL;
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_int_equal(postgres_split_table(rows[i].written, &schema, &table, &err), -1);
        assert_null(schema);
        assert_int_equal(err.kind, PROBLEM_INPUT);
        if (strstr(err.fix, rows[i].fix) == NULL)
            fail_msg("%s: %s", rows[i].written, err.fix);
    }
}

typedef int judge(const char *text, struct problem *err);

static void judges(void **state)
{
    (void)state;
    static const struct {
        judge *valid;
        const char *text;
        const char *wrong; /* part of what or fix; NULL = fine */
    } rows[] = {
        {postgres_valid_host, "db.example.com", NULL},
        {postgres_valid_host, "2001:db8::1", NULL},
        {postgres_valid_host, "192.0.2.1", NULL},
        {postgres_valid_host, "postgres://db.example.com/shop", "whole URL"},
        {postgres_valid_host, "db.example.com:5432", "port behind it"},
        {postgres_valid_host, "db.example.com/shop", "/ in it"},
        {postgres_valid_host, "/var/run/postgresql", "socket"},
        {postgres_valid_host, "[2001:db8::1]", "brackets"},
        {postgres_valid_host, "db example", "space"},
        {postgres_valid_host, "alice@db", "@"},
        {postgres_valid_port, "5432", NULL},
        {postgres_valid_port, "0", "1 to 65535"},
        {postgres_valid_port, "65536", "1 to 65535"},
        {postgres_valid_port, "+1", "1 to 65535"},
        {postgres_valid_port, "54 32", "1 to 65535"},
        {postgres_valid_user, "flow_shop", NULL},
        {postgres_valid_user, "Flow Shop", NULL},
        {postgres_valid_user, "o'brien", "quote or a backslash"},
        {postgres_valid_user, "pg_flow", "PostgreSQL itself"},
        {postgres_valid_publication, "flow_shop", NULL},
        {postgres_valid_publication, "FlowPub", "use flowpub"},
        {postgres_valid_publication, "flow-pub", "use flow_pub"},
        {postgres_valid_publication, "1flow", "use _1flow"},
        {postgres_valid_publication, "a,b", "use a_b"},
        {postgres_valid_slot, "flow_shop", NULL},
        {postgres_valid_slot, "flow-shop", "use flow_shop"},
        {postgres_valid_watermarks, "public.flow_watermarks", NULL},
        {postgres_valid_watermarks, "flow_watermarks", "schema.table"},
        {postgres_valid_watermarks, "a.b.c", "schema.table"},
        {postgres_valid_watermarks, "public.Marks", "schema.table"},
        {postgres_valid_watermarks, "public.select", "reserved word"},
        {postgres_valid_repair, "full", NULL},
        {postgres_valid_repair, "index:order_tags_u", NULL},
        {postgres_valid_repair, "index:", "repair"},
        {postgres_valid_repair, "FULL", "repair"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        int rc = rows[i].valid(rows[i].text, &err);
        if ((rc == 0) != (rows[i].wrong == NULL))
            fail_msg("%s: %d", rows[i].text, rc);
        if (rc == 0)
            continue;
        assert_int_equal(err.kind, PROBLEM_INPUT);
        if (strstr(err.what, rows[i].wrong) == NULL && strstr(err.fix, rows[i].wrong) == NULL)
            fail_msg("%s: %s %s", rows[i].text, err.what, err.fix);
    }
}

static void long_names(void **state)
{
    (void)state;
    char name[70];
    memset(name, 'a', sizeof name);
    name[63] = '\0';
    assert_true(postgres_plain_name(name));
    assert_int_equal(postgres_valid_user(name, NULL), 0);
    name[63] = 'a';
    name[64] = '\0';
    assert_false(postgres_plain_name(name));
    assert_int_equal(postgres_valid_user(name, NULL), -1);
}

static void names_downstream(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *table, *tail, *iceberg;
    } rows[] = {
        {"public", "orders", "public/orders", "public_orders"},
        {"public", "Order Items", "public/order_items", "public_order_items"},
        {"public", "or-ders", "public/or-ders", "public_or_ders"},
        {"public", "Prix €", "public/prix__", "public_prix__"},
        {".", "..", "_/__", "____"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(xfree) char *tail = postgres_collection_tail(rows[i].schema, rows[i].table);
        AUTO(xfree) char *iceberg = postgres_iceberg_name(rows[i].schema, rows[i].table);
        assert_string_equal(tail, rows[i].tail);
        assert_string_equal(iceberg, rows[i].iceberg);
    }
}

static void sql_names_are_fit_to_be_shown(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"public.orders", "public.orders"},
        {"public.\"Order Items\"", "public.\"Order Items\""},
        {"public.\"a\tb\"", "public.U&\"a\\+000009b\""},
        {"public.\"a\\b\"", "public.\"a\\b\""},
        {"public.\"a\\b\n\"", "public.U&\"a\\\\b\\+00000A\""},
        {"public.\"a\"\"\n\"", "public.U&\"a\"\"\\+00000A\""},
        {"public.\"\u202egnp\"", "public.U&\"\\+00202Egnp\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(xfree) char *sql = postgres_sql_name(rows[i][0]);
        assert_string_equal(sql, rows[i][1]);
    }
}

static void platforms(void **state)
{
    (void)state;
    static const struct {
        const char *roles;
        bool aurora;
        const char *host;
        enum postgres_platform platform;
    } rows[] = {
        {"\n\n", false, "db.example.com", POSTGRES_PLAIN},
        {"\nrds_superuser\nrds_replication\n", false, "x.rds.amazonaws.com", POSTGRES_RDS},
        {"\nrds_superuser\n", true, "x.rds.amazonaws.com", POSTGRES_AURORA},
        {"\ncloudsqlsuperuser\n", false, "10.0.0.3", POSTGRES_CLOUD_SQL},
        {"\ncloudsqlsuperuser\nalloydbsuperuser\n", false, "10.0.0.3", POSTGRES_ALLOYDB},
        {"\nazure_pg_admin\n", false, "x.postgres.database.azure.com", POSTGRES_AZURE},
        {"\nsupabase_admin\n", false, "db.x.supabase.co", POSTGRES_SUPABASE},
        {"\nneon_superuser\n", false, "ep-x.neon.tech", POSTGRES_NEON},
        {"\nrds_replication\n", false, "db.example.com", POSTGRES_PLAIN},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(postgres_platform_of(rows[i].roles, rows[i].aurora, rows[i].host),
                         rows[i].platform);
    for (int p = 0; p < POSTGRES_PLATFORMS; p++) {
        const struct postgres_recipe *r = postgres_recipe((enum postgres_platform)p);
        assert_non_null(r->name);
        assert_non_null(r->switch_on);
        assert_non_null(r->link);
        assert_non_null(r->retention);
    }
}

static void words(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *size, *rows;
    } table[] = {
        {-1, "unknown", "unknown"},     {0, "0 bytes", "0"},
        {999, "999 bytes", "999"},      {1048576, "1.0 MB", "1.0 M"},
        {332859965, "317 MB", "333 M"}, {13314398618, "12.4 GB", "13.3 G"},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        AUTO(xfree) char *size = postgres_size_text((int64_t)table[i].value);
        AUTO(xfree) char *rows = postgres_rows_text(table[i].value);
        assert_string_equal(size, table[i].size);
        assert_string_equal(rows, table[i].rows);
    }
    AUTO(xfree) char *nan = postgres_rows_text(0.0 / (table[1].value));
    assert_string_equal(nan, "unknown");
    static const struct {
        int64_t s;
        const char *text;
    } ages[] = {{-5, "0 s"}, {90, "90 s"}, {240, "4 min"}, {10800, "3 h"}, {259200, "3 days"}};
    for (size_t i = 0; i < ARRAY_LEN(ages); i++) {
        AUTO(xfree) char *age = postgres_age_text(ages[i].s);
        assert_string_equal(age, ages[i].text);
    }
}

static struct digest digest_of_server(int64_t used, const char *level)
{
    struct postgres_server *s = xcalloc(1, sizeof *s);
    s->max_slots = 10;
    s->used_slots = (int)used;
    s->wal_level = xstrdup(level);
    struct fact *f = fact_new(&postgres_server_type, s);
    struct digest d = fact_digest(f);
    fact_unref(f);
    return d;
}

static void what_moves_by_itself_makes_nothing_stale(void **state)
{
    (void)state;
    struct digest few = digest_of_server(1, "logical"), more = digest_of_server(9, "logical");
    struct digest all = digest_of_server(10, "logical"), other = digest_of_server(1, "replica");
    assert_true(digest_equal(&few, &more));
    assert_false(digest_equal(&few, &all));
    assert_false(digest_equal(&few, &other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_and_joins),
        cmocka_unit_test(refuses_other_spellings),
        cmocka_unit_test(judges),
        cmocka_unit_test(long_names),
        cmocka_unit_test(names_downstream),
        cmocka_unit_test(sql_names_are_fit_to_be_shown),
        cmocka_unit_test(platforms),
        cmocka_unit_test(words),
        cmocka_unit_test(what_moves_by_itself_makes_nothing_stale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
