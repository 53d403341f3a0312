/* Verdicts of the step postgres as pure functions over hand-made facts: what is found, who acts, in
 * which words. */
#include "postgres_world.h"

#include "core/text.h"

/* --- rows ------------------------------------------------------------------------------------- */

static void rows_are_complete(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    for (const struct check *const *c = postgres_checks; *c != NULL; c++) {
        assert_non_null((*c)->cause);
        assert_non_null((*c)->fix);
        assert_true(strlen((*c)->title) < 64);
    }
    for (const struct field *const *f = postgres_fields; *f != NULL; f++) {
        assert_non_null((*f)->help);
        assert_true(strlen((*f)->label) <= 15);
    }
    const struct snapshot *s = world_snapshot(&w);
    assert_string_equal(snap_text(s, "postgres.user"), "flow_shop");
    assert_string_equal(snap_text(s, "postgres.slot"), "flow_shop");
    assert_string_equal(snap_text(s, "postgres.publication"), "flow_shop");
    assert_string_equal(snap_text(s, "postgres.port"), "5432");
    assert_string_equal(snap_text(s, "postgres.sslmode"), "verify-full");
    assert_string_equal(snap_text(s, "postgres.watermarks"), "public.flow_watermarks");
}

static void dashes_of_the_name_become_underscores(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_text(&w, "start.name", "shop-eu-2");
    assert_string_equal(snap_text(world_snapshot(&w), "postgres.user"), "flow_shop_eu_2");
}

static void all_well_all_pass(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    for (const struct check *const *c = postgres_checks; *c != NULL; c++) {
        if ((*c)->service != NULL)
            continue;
        AUTO_OUTCOME *o = world_judge(&w, (*c)->id);
        if (o->status != STATUS_PASSED)
            fail_msg("%s: %s, %s", (*c)->id, status_name(o->status), o->line);
        assert_true(strlen(o->line) < 80);
    }
}

/* --- server ----------------------------------------------------------------------------------- */

static void addresses(void **state)
{
    (void)state;
    static const struct {
        const char *host, *port;
        enum status status;
        const char *line, *suggest;
    } rows[] = {
        {"db.example.com", "5432", STATUS_PASSED, "no pooler", NULL},
        {"aws-0-eu.pooler.supabase.com", "5432", STATUS_FAILED, "Supabase's connection pooler",
         NULL},
        {"db.abc.supabase.co", "6543", STATUS_FAILED, "Supabase's connection pooler", NULL},
        {"db.abc.supabase.co", "5432", STATUS_PASSED, "no pooler", NULL},
        {"ep-x-pooler.eu-central-1.aws.neon.tech", "5432", STATUS_FAILED,
         "Neon's connection pooler", "ep-x.eu-central-1.aws.neon.tech"},
        {"shop.proxy-abc.us-east-1.rds.amazonaws.com", "5432", STATUS_FAILED, "RDS Proxy", NULL},
        {"shop.cluster-ro-abc.us-east-1.rds.amazonaws.com", "5432", STATUS_FAILED,
         "reader endpoint", "shop.cluster-abc.us-east-1.rds.amazonaws.com"},
        {"localhost", "5432", STATUS_WARNED, "of this network", NULL},
        {"10.1.2.3", "5432", STATUS_WARNED, "of this network", NULL},
        {"172.16.0.1", "5432", STATUS_WARNED, "of this network", NULL},
        {"172.32.0.1", "5432", STATUS_PASSED, "no pooler", NULL},
        {"fd00::1", "5432", STATUS_WARNED, "of this network", NULL},
        {"fc.example.com", "5432", STATUS_PASSED, "no pooler", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_WORLD w;
        world_open(&w);
        world_text(&w, "postgres.host", rows[i].host);
        world_text(&w, "postgres.port", rows[i].port);
        AUTO_OUTCOME *o = world_judge(&w, "postgres.address");
        if (o->status != rows[i].status)
            fail_msg("%s: %s", rows[i].host, o->line);
        assert_has(o->line, rows[i].line);
        if (rows[i].suggest != NULL)
            assert_string_equal(o->suggest_value, rows[i].suggest);
        else
            assert_null(o->suggest_field);
    }
}

static void old_version_blocks(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    w.server->version = 90624;
    xreplace(&w.server->release, "9.6.24");
    AUTO_OUTCOME *o = world_judge(&w, "postgres.version");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->line, "9.6.24 is older than 10");
    assert_int_equal(o->who, WHO_DBA);
}

static void wal_level_names_the_knob_of_each_platform(void **state)
{
    (void)state;
    static const struct {
        enum postgres_platform platform;
        enum who who;
        const char *fix, *copy;
    } rows[] = {
        {POSTGRES_PLAIN, WHO_DBA, "set wal_level = logical, then restart",
         "ALTER SYSTEM SET wal_level"},
        {POSTGRES_RDS, WHO_AWS_ADMIN, "rds.logical_replication = 1, then reboot",
         "--db-instance-identifier shop-db "},
        {POSTGRES_AURORA, WHO_AWS_ADMIN, "cluster parameter group",
         "--db-cluster-identifier shop-db "},
        {POSTGRES_CLOUD_SQL, WHO_DBA, "cloudsql.logical_decoding = on", NULL},
        {POSTGRES_ALLOYDB, WHO_DBA, "alloydb.logical_decoding = on", NULL},
        {POSTGRES_AZURE, WHO_DBA, "max_worker_processes", NULL},
        {POSTGRES_SUPABASE, WHO_DBA, "Supabase's support", NULL},
        {POSTGRES_NEON, WHO_DBA, "project's settings", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_WORLD w;
        world_open(&w);
        w.server->platform = rows[i].platform;
        xreplace(&w.server->wal_level, "replica");
        AUTO_OUTCOME *o = world_judge(&w, "postgres.wal_level");
        assert_int_equal(o->status, STATUS_FAILED);
        assert_string_equal(o->line, "wal_level is replica; Estuary needs logical");
        assert_has(o->why, "write-ahead log");
        assert_int_equal(o->who, rows[i].who);
        assert_has(o->fix, rows[i].fix);
        assert_has(o->evidence, "pending restart: no");
        if (rows[i].copy != NULL)
            assert_has(o->copy, rows[i].copy);
        else
            assert_null(o->copy);
        assert_non_null(o->link);
    }
}

static void wal_level_waits_for_a_restart(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    w.server->platform = POSTGRES_RDS;
    xreplace(&w.server->wal_level, "replica");
    w.server->wal_level_pending = true;
    AUTO_OUTCOME *o = world_judge(&w, "postgres.wal_level");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->fix, "restart the server: the new value is set already");
    assert_null(o->copy);
}

static void a_hostile_host_gets_into_no_command(void **state)
{
    (void)state;
    AUTO(xfree) char *c = postgres_wal_command(POSTGRES_RDS, "$(reboot).rds.amazonaws.com");
    assert_null(c);
}

static void standby_and_read_only(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        AUTO_WORLD w;
        world_open(&w);
        w.server->recovering = i == 0;
        w.server->read_only = i == 1;
        AUTO_OUTCOME *o = world_judge(&w, "postgres.primary");
        assert_int_equal(o->status, STATUS_FAILED);
        assert_has(o->line, i == 0 ? "standby" : "read-only");
        assert_int_equal(o->who, i == 0 ? WHO_YOU : WHO_DBA);
    }
}

static void places_used_up(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    struct postgres_slot *s = world_slot(&w, "debezium");
    s->retained = INT64_C(5) << 30;
    w.server->max_slots = 1;
    w.server->max_senders = 2;
    w.server->used_senders = 2;
    w.server->used_connections = 97;
    AUTO_OUTCOME *slots = world_judge(&w, "postgres.slots_free");
    assert_int_equal(slots->status, STATUS_FAILED);
    assert_has(slots->line, "all 1 replication slots are in use");
    assert_has(item_of(slots, "debezium")->line, "idle, keeps 5.0 GB");
    assert_has(slots->fix, "raise max_replication_slots to 6");
    assert_has(slots->copy, "ALTER SYSTEM SET max_replication_slots = 6;");
    AUTO_OUTCOME *senders = world_judge(&w, "postgres.senders_free");
    assert_int_equal(senders->status, STATUS_FAILED);
    assert_has(senders->line, "all 2 WAL senders");
    AUTO_OUTCOME *connections = world_judge(&w, "postgres.connections_free");
    assert_int_equal(connections->status, STATUS_WARNED);
    assert_has(connections->line, "only 3 of 100");
}

static void our_own_slot_is_no_lack_of_slots(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_slot(&w, "flow_shop");
    w.server->max_slots = 1;
    AUTO_OUTCOME *o = world_judge(&w, "postgres.slots_free");
    assert_int_equal(o->status, STATUS_PASSED);
}

static void tls_and_encoding(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_text(&w, "postgres.sslmode", "require");
    xreplace(&w.server->encoding, "SQL_ASCII");
    AUTO_OUTCOME *tls = world_judge(&w, "postgres.tls");
    assert_int_equal(tls->status, STATUS_WARNED);
    assert_has(tls->line, "not verified (require)");
    AUTO_OUTCOME *encoding = world_judge(&w, "postgres.encoding");
    assert_int_equal(encoding->status, STATUS_WARNED);
    assert_has(encoding->line, "SQL_ASCII");
}

static void in_clear_is_said(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    xreplace(&w.server->tls, NULL);
    AUTO_OUTCOME *tls = world_judge(&w, "postgres.tls");
    assert_int_equal(tls->status, STATUS_WARNED);
    assert_has(tls->line, "not encrypted");
    assert_string_equal(tls->suggest_value, "verify-full");
}

/* --- slots ------------------------------------------------------------------------------------ */

enum slot_form { IDLE, PHYSICAL, ELSEWHERE, OTHER_TOOL, BUSY_OTHER, BUSY_OURS, LOST };

static void slot_names(void **state)
{
    (void)state;
    static const struct {
        enum slot_form form;
        enum status status;
        const char *line, *why;
    } rows[] = {
        {IDLE, STATUS_FAILED, "exists already, idle", "drops it and makes it anew"},
        {LOST, STATUS_FAILED, "has lost its log", "drops it"},
        {PHYSICAL, STATUS_FAILED, "is a physical one", "standby"},
        {ELSEWHERE, STATUS_FAILED, "belongs to database billing", "one database"},
        {OTHER_TOOL, STATUS_FAILED, "another tool (plugin wal2json)", "whoever made it"},
        {BUSY_OTHER, STATUS_FAILED, "in use by another reader (pid 4711, debezium", "at its start"},
        {BUSY_OURS, STATUS_WARNED, "read now by flow_shop (pid 4711", "own capture runs"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_WORLD w;
        world_open(&w);
        struct postgres_slot *s = world_slot(&w, "flow_shop");
        s->logical = rows[i].form != PHYSICAL;
        if (rows[i].form == ELSEWHERE)
            xreplace(&s->database, "billing");
        if (rows[i].form == OTHER_TOOL)
            xreplace(&s->plugin, "wal2json");
        if (rows[i].form == LOST)
            xreplace(&s->wal_status, "lost");
        if (rows[i].form == BUSY_OTHER || rows[i].form == BUSY_OURS) {
            s->active = true;
            s->pid = 4711;
            xreplace(&s->user, rows[i].form == BUSY_OURS ? "flow_shop" : "debezium");
        }
        AUTO_OUTCOME *o = world_judge(&w, "postgres.slot_name");
        if (o->status != rows[i].status)
            fail_msg("%zu: %s", i, o->line);
        assert_has(o->line, rows[i].line);
        assert_has(o->why, rows[i].why);
        if (o->status == STATUS_FAILED) {
            assert_string_equal(o->suggest_field, "postgres.slot");
            assert_string_equal(o->suggest_value, "flow_shop_2");
        }
    }
}

static void idle_slots_of_others_are_named(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    struct postgres_slot *s = world_slot(&w, "old_standby");
    s->logical = false;
    s->retained = INT64_C(40) << 30;
    world_slot(&w, "quiet")->retained = 1000;
    AUTO_OUTCOME *o = world_judge(&w, "postgres.other_slots");
    assert_int_equal(o->status, STATUS_WARNED);
    assert_has(o->line, "1 idle slot keeps the log");
    assert_int_equal(o->item_count, 1);
    assert_has(item_of(o, "old_standby")->line, "40.0 GB");
}

static void log_kept(void **state)
{
    (void)state;
    static const struct {
        int64_t keep_mb, idle_s, timeout_ms;
        enum status status;
        const char *line;
    } rows[] = {
        {51200, 0, 60000, STATUS_PASSED, "up to 50 GB"},
        {-1, 0, 60000, STATUS_WARNED, "without bound"},
        {POSTGRES_NO_SETTING, POSTGRES_NO_SETTING, 60000, STATUS_WARNED, "without bound"},
        {512, 0, 60000, STATUS_WARNED, "only 512 MB"},
        {51200, 3600, 60000, STATUS_WARNED, "after 60 min"},
        {51200, 0, 5000, STATUS_WARNED, "only 5 s"},
        {51200, 0, 0, STATUS_PASSED, "up to 50 GB"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_WORLD w;
        world_open(&w);
        w.server->wal_keep_mb = rows[i].keep_mb;
        w.server->idle_slot_s = rows[i].idle_s;
        w.server->sender_timeout_ms = rows[i].timeout_ms;
        AUTO_OUTCOME *o = world_judge(&w, "postgres.wal_keep");
        if (o->status != rows[i].status)
            fail_msg("%zu: %s", i, o->line);
        assert_has(o->line, rows[i].line);
    }
}

static void long_transactions_are_named(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    w.sessions->count = 2;
    w.sessions->rows = xcalloc(2, sizeof *w.sessions->rows);
    w.sessions->rows[0] = (struct postgres_session){.pid = 4711,
                                                    .user = xstrdup("app"),
                                                    .database = xstrdup("shop"),
                                                    .state = xstrdup("idle in transaction"),
                                                    .what = xstrdup("UPDATE orders SET x = 1"),
                                                    .age_s = 4000};
    w.sessions->rows[1] = (struct postgres_session){.user = xstrdup("app"),
                                                    .database = xstrdup("shop"),
                                                    .state = xstrdup("prepared"),
                                                    .what = xstrdup("gid7"),
                                                    .age_s = 600};
    AUTO_OUTCOME *o = world_judge(&w, "postgres.long_transactions");
    assert_int_equal(o->status, STATUS_WARNED);
    assert_has(o->line, "2 open for long, the oldest for 66 min");
    assert_has(item_of(o, "pid 4711")->line, "idle in transaction: UPDATE orders");
    assert_has(item_of(o, "prepared gid7")->fix, "ROLLBACK PREPARED");
    assert_string_equal(o->copy, "SELECT pg_terminate_backend(4711);");
}

/* --- tables ----------------------------------------------------------------------------------- */

static void tables_that_cannot_be_captured(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    world_table(&w, "public.gone")->found = false;
    world_table(&w, "public.v")->kind = 'v';
    world_table(&w, "public.f")->kind = 'f';
    world_table(&w, "public.u")->persistence = 'u';
    world_table(&w, "public.orders_1")->partition = true;
    world_table(&w, "public.mine")->taken = true;
    world_table(&w, "public.flow_watermarks");
    world_table(&w, "public.flow_checkpoints_v1");
    AUTO_OUTCOME *o = world_judge(&w, "postgres.tables");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->line, "8 of 9 cannot be captured");
    assert_int_equal(o->item_count, 8);
    assert_has(item_of(o, "public.gone")->line, "no such table");
    assert_has(item_of(o, "public.v")->line, "view");
    assert_has(item_of(o, "public.f")->line, "foreign");
    assert_has(item_of(o, "public.u")->fix, "SET LOGGED");
    assert_has(item_of(o, "public.orders_1")->fix, "partitioned table above");
    assert_has(item_of(o, "public.mine")->line, "flow_published_at");
    assert_has(item_of(o, "public.flow_watermarks")->line, "watermarks table");
}

static void partitioned_tables_need_13(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.events")->kind = 'p';
    w.server->version = 120020;
    AUTO_OUTCOME *o = world_judge(&w, "postgres.tables");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(item_of(o, "public.events")->line, "from PostgreSQL 13 on");
}

static void colliding_names_are_both_shown(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.\"Orders\"");
    world_table(&w, "public.orders");
    world_table(&w, "public.\"or-ders\"");
    world_table(&w, "public.or_ders");
    world_table(&w, "audit.orders");
    AUTO_OUTCOME *o = world_judge(&w, "postgres.table_names");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->line, "2 names collide");
    AUTO_TEXT all = TEXT_INIT;
    for (size_t i = 0; i < o->item_count; i++)
        text_addf(&all, "%s %s\n", o->items[i].name, o->items[i].line);
    assert_has(all.s, "public.\"Orders\"");
    assert_has(all.s, "public.orders");
    assert_has(all.s, "public.\"or-ders\"");
    assert_has(all.s, "public.or_ders");
    assert_has_not(all.s, "audit");
}

static void keys_as_estuary_takes_them(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    world_naked(&w, "public.order_tags", "order_tags_u");
    world_naked(&w, "public.clickstream", NULL);
    AUTO_OUTCOME *o = world_judge(&w, "postgres.keys");
    assert_int_equal(o->status, STATUS_WARNED);
    assert_has(o->line, "1 of 3 without a key");
    assert_has(item_of(o, "public.order_tags")->line,
               "order_id, tag, by unique index order_tags_u");
    assert_int_equal(item_of(o, "public.clickstream")->status, STATUS_WARNED);
}

static void row_security_blocks(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.open")->secured = true;
    struct postgres_table *t = world_table(&w, "public.notes");
    t->secured = t->hidden_rows = true;
    AUTO_OUTCOME *o = world_judge(&w, "postgres.row_security");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->line, "1 table would be copied without the rows");
    assert_string_equal(o->copy, "ALTER ROLE flow_shop BYPASSRLS;");
    assert_has(item_of(o, "public.notes")->fix,
               "ON public.notes FOR SELECT TO flow_shop USING (true)");
    assert_int_equal(o->item_count, 1);
}

/* CREATE POLICY … TO and ALTER ROLE want the user to be there: its making may not wait for them. */
static void row_security_lets_the_plan_make_the_user(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_no_role(&w);
    struct postgres_table *t = world_table(&w, "public.notes");
    t->secured = t->hidden_rows = true;
    AUTO_OUTCOME *o = world_judge(&w, "postgres.row_security");
    assert_int_equal(o->status, STATUS_WARNED);
    assert_has(o->fix, "once the plan has made the user");
    assert_int_equal(item_of(o, "public.notes")->status, STATUS_WARNED);
}

static void generated_columns_are_told(void **state)
{
    (void)state;
    static const struct postgres_column columns[] = {
        {.name = "id", .type = "bigint"},
        {.name = "total", .type = "numeric", .generated = 's'},
        {.name = "tax", .type = "numeric", .generated = 'v'},
    };
    AUTO_WORLD w;
    world_open(&w);
    struct postgres_table *t = world_table(&w, "public.orders");
    t->columns = columns;
    t->column_count = ARRAY_LEN(columns);
    AUTO_OUTCOME *o = world_judge(&w, "postgres.generated_columns");
    assert_int_equal(o->status, STATUS_WARNED);
    assert_string_equal(item_of(o, "public.orders")->line,
                        "total: missing downstream; tax: copied once, then never updated");
}

static void unknown_sizes_make_no_totals(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    struct postgres_table *t = world_table(&w, "public.never");
    t->rows = t->bytes = -1;
    AUTO_OUTCOME *o = world_judge(&w, "postgres.backfill");
    assert_has(o->line, "never analysed");
    assert_has_not(o->line, "-");
}

/* --- replica identity ------------------------------------------------------------------------- */

static void a_naked_table_is_danger(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    world_naked(&w, "public.order_tags", "order_tags_u");
    int i = rows_check(&w.rows, "postgres.replica_identity");
    assert_int_equal(w.rows.checks[i]->severity, SEV_DANGER);
    AUTO_OUTCOME *o = world_judge(&w, "postgres.replica_identity");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_string_equal(o->code, "55000");
    assert_string_equal(o->line, "UPDATE and DELETE on public.order_tags would fail");
    assert_has(o->why, "every UPDATE and DELETE on such a table fails in the application");
    assert_has(o->fix, "add a primary key");
    assert_has(o->fix, "\"full\"");
    assert_has(o->fix, "\"index:NAME\"");
    assert_has(o->fix, "leave it out");
    assert_int_equal(o->who, WHO_YOU);
    assert_has(item_of(o, "public.order_tags")->fix, "index:order_tags_u");
    assert_string_equal(o->suggest_field, "postgres.repairs");
    assert_string_equal(o->suggest_value, "public.order_tags=index:order_tags_u");
}

static void a_suggested_repair_keeps_those_chosen(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_naked(&w, "public.clickstream", NULL);
    world_naked(&w, "public.order_tags", "order_tags_u");
    world_repair(&w, "public.clickstream", "full");
    AUTO_OUTCOME *o = world_judge(&w, "postgres.replica_identity");
    assert_string_equal(o->suggest_value,
                        "public.clickstream=full, public.order_tags=index:order_tags_u");
    assert_has(item_of(o, "public.clickstream")->line, "repaired by \"full\"");
}

static void a_repair_settles_it(void **state)
{
    (void)state;
    static const char *const repairs[] = {"full", "index:order_tags_u", "index:nothing", NULL};
    for (size_t i = 0; repairs[i] != NULL; i++) {
        AUTO_WORLD w;
        world_open(&w);
        world_naked(&w, "public.order_tags", "order_tags_u");
        world_repair(&w, "public.order_tags", repairs[i]);
        AUTO_OUTCOME *o = world_judge(&w, "postgres.replica_identity");
        bool wrong = strcmp(repairs[i], "index:nothing") == 0;
        assert_int_equal(o->status, wrong ? STATUS_FAILED : STATUS_PASSED);
        if (wrong)
            assert_has(item_of(o, "public.order_tags")->line, "no unique, whole, immediate index");
    }
}

static void reasons_of_nakedness(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_naked(&w, "public.nothing", NULL)->replica = 'n';
    world_naked(&w, "public.index_gone", NULL)->replica = 'i';
    world_naked(&w, "public.deferred", NULL)->key = POSTGRES_KEY_PRIMARY;
    struct postgres_table *t = world_naked(&w, "public.parts", NULL);
    t->kind = 'p';
    t->partitions = 3;
    world_naked(&w, "public.live", NULL)->published = true;
    AUTO_OUTCOME *o = world_judge(&w, "postgres.replica_identity");
    assert_has(o->line, "on 5 tables would fail");
    assert_has(item_of(o, "public.nothing")->line, "NOTHING");
    assert_has(item_of(o, "public.index_gone")->line, "is gone");
    assert_has(item_of(o, "public.deferred")->line, "DEFERRABLE");
    assert_has(item_of(o, "public.parts")->line, "partitions without replica identity");
    assert_has(item_of(o, "public.live")->line, "UPDATE and DELETE fail now");
}

static void the_guard_looks_at_all_members(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    w.publication->all_tables = true;
    w.publication->broken_count = 1;
    w.publication->broken_total = 1;
    w.publication->broken = xcalloc(1, sizeof(char *));
    w.publication->broken[0] = xstrdup("public.others");
    AUTO_OUTCOME *o = world_judge(&w, "postgres.replica_identity");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_string_equal(o->line, "UPDATE and DELETE fail now on 1 tables of flow_shop");
    assert_has(item_of(o, "public.others")->line, "UPDATE and DELETE fail now");
    assert_int_equal(o->who, WHO_DBA);
}

static void inserts_only_break_nothing(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_naked(&w, "public.clickstream", NULL);
    w.publication->updates = w.publication->deletes = false;
    AUTO_OUTCOME *o = world_judge(&w, "postgres.replica_identity");
    assert_int_equal(o->status, STATUS_PASSED);
}

/* --- objects ---------------------------------------------------------------------------------- */

static void replication_rights(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    w.role->replication = false;
    AUTO_OUTCOME *o = world_judge(&w, "postgres.replication_right");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_string_equal(o->line, "flow_shop may not replicate");
    assert_string_equal(o->copy, "ALTER ROLE flow_shop REPLICATION;");
}

static void too_few_connections(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    w.role->connections = 2;
    AUTO_OUTCOME *o = world_judge(&w, "postgres.replication_right");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->line, "may open only 2 connections");
}

static void replication_rights_on_rds(void **state)
{
    (void)state;
    for (int member = 0; member < 2; member++) {
        AUTO_WORLD w;
        world_open(&w);
        w.server->platform = POSTGRES_RDS;
        w.role->replication = false;
        w.role->rds_member = member;
        AUTO_OUTCOME *o = world_judge(&w, "postgres.replication_right");
        assert_int_equal(o->status, member ? STATUS_PASSED : STATUS_FAILED);
        if (!member)
            assert_string_equal(o->copy, "GRANT rds_replication TO flow_shop;");
    }
}

static void excess_rights_warn(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders")->writes = true;
    w.role->createrole = true;
    xreplace(&w.role->member_of, "app_readers, rds_superuser");
    AUTO_OUTCOME *o = world_judge(&w, "postgres.excess_rights");
    assert_int_equal(o->status, STATUS_WARNED);
    assert_string_equal(o->line,
                        "flow_shop: CREATEROLE, rds_superuser, writes to 1 of the chosen tables");
}

static void missing_grants_name_the_tables(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    world_table(&w, "public.secret")->selects = false;
    world_table(&w, "audit.orders")->usage = false;
    AUTO_OUTCOME *o = world_judge(&w, "postgres.grants");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->line, "may not read 2 of 3 tables");
    assert_has(item_of(o, "public.secret")->line, "no SELECT on the whole table");
    assert_has(item_of(o, "audit.orders")->line, "no USAGE on its schema");
}

static void watermarks_of_another_form(void **state)
{
    (void)state;
    static const struct {
        bool columns, unique, inserts;
        char kind;
        const char *line, *code;
    } rows[] = {
        {false, true, true, 'r', "of another form", "42703"},
        {true, false, true, 'r', "of another form", "42P10"},
        {true, true, false, 'r', "may not write", "42501"},
        {true, true, true, 'v', "not an ordinary", "42809"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_WORLD w;
        world_open(&w);
        w.watermarks->columns = rows[i].columns;
        w.watermarks->unique = rows[i].unique;
        w.watermarks->inserts = rows[i].inserts;
        w.watermarks->kind = rows[i].kind;
        AUTO_OUTCOME *o = world_judge(&w, "postgres.watermarks");
        assert_int_equal(o->status, STATUS_FAILED);
        assert_has(o->line, rows[i].line);
        assert_string_equal(o->code, rows[i].code);
    }
}

static void publications(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    world_table(&w, "public.events")->published = false;
    struct postgres_table *t = world_table(&w, "public.some_rows");
    t->filtered = true;
    t = world_table(&w, "public.new");
    t->published = t->listed = false;
    AUTO_OUTCOME *o = world_judge(&w, "postgres.publication");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->line, "lacks 3 of 5 tables");
    assert_has(item_of(o, "public.events")->fix, "publish_via_partition_root");
    assert_has(item_of(o, "public.some_rows")->line, "only some rows or columns");
    assert_has(item_of(o, "public.new")->line, "is not in it");
}

static void a_partial_publication_is_reported_not_altered(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    world_table(&w, "public.orders");
    w.publication->deletes = false;
    xreplace(&w.publication->owner, "other_team");
    AUTO_OUTCOME *o = world_judge(&w, "postgres.publication");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_string_equal(o->line, "flow_shop hands out only INSERT UPDATE");
    assert_has(o->fix, "other_team");
    assert_string_equal(o->suggest_value, "flow_shop_2");
}

static void admins_without_ownership(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    struct postgres_table *t = world_table(&w, "public.orders");
    t->admin_owns = t->admin_grants = false;
    world_table(&w, "public.ours");
    world_before(&w);
    w.server->admin_super = false;
    w.server->version = 150004;
    AUTO_OUTCOME *o = world_judge(&w, "postgres.admin_rights");
    assert_int_equal(o->status, STATUS_FAILED);
    assert_has(o->line, "postgres lacks rights for 2 of the things");
    assert_has(item_of(o, "user")->line, "only a superuser may give REPLICATION");
    assert_has(item_of(o, "public.orders")->line, "belongs to shop_owner");
    assert_string_equal(o->copy, "GRANT shop_owner TO postgres;");
    assert_int_equal(o->who, WHO_DBA);
}

static void admins_with_nothing_to_do_need_no_rights(void **state)
{
    (void)state;
    AUTO_WORLD w;
    world_open(&w);
    struct postgres_table *t = world_table(&w, "public.orders");
    t->admin_owns = t->admin_grants = false;
    w.server->admin_super = w.server->admin_roles = w.server->admin_creates = false;
    w.publication->admin_owns = w.watermarks->admin_owns = false;
    AUTO_OUTCOME *o = world_judge(&w, "postgres.admin_rights");
    assert_int_equal(o->status, STATUS_PASSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(dashes_of_the_name_become_underscores),
        cmocka_unit_test(all_well_all_pass),
        cmocka_unit_test(addresses),
        cmocka_unit_test(old_version_blocks),
        cmocka_unit_test(wal_level_names_the_knob_of_each_platform),
        cmocka_unit_test(wal_level_waits_for_a_restart),
        cmocka_unit_test(a_hostile_host_gets_into_no_command),
        cmocka_unit_test(standby_and_read_only),
        cmocka_unit_test(places_used_up),
        cmocka_unit_test(our_own_slot_is_no_lack_of_slots),
        cmocka_unit_test(tls_and_encoding),
        cmocka_unit_test(in_clear_is_said),
        cmocka_unit_test(slot_names),
        cmocka_unit_test(idle_slots_of_others_are_named),
        cmocka_unit_test(log_kept),
        cmocka_unit_test(long_transactions_are_named),
        cmocka_unit_test(tables_that_cannot_be_captured),
        cmocka_unit_test(partitioned_tables_need_13),
        cmocka_unit_test(colliding_names_are_both_shown),
        cmocka_unit_test(keys_as_estuary_takes_them),
        cmocka_unit_test(row_security_blocks),
        cmocka_unit_test(row_security_lets_the_plan_make_the_user),
        cmocka_unit_test(generated_columns_are_told),
        cmocka_unit_test(unknown_sizes_make_no_totals),
        cmocka_unit_test(a_naked_table_is_danger),
        cmocka_unit_test(a_suggested_repair_keeps_those_chosen),
        cmocka_unit_test(a_repair_settles_it),
        cmocka_unit_test(reasons_of_nakedness),
        cmocka_unit_test(the_guard_looks_at_all_members),
        cmocka_unit_test(inserts_only_break_nothing),
        cmocka_unit_test(replication_rights),
        cmocka_unit_test(too_few_connections),
        cmocka_unit_test(replication_rights_on_rds),
        cmocka_unit_test(excess_rights_warn),
        cmocka_unit_test(missing_grants_name_the_tables),
        cmocka_unit_test(watermarks_of_another_form),
        cmocka_unit_test(publications),
        cmocka_unit_test(a_partial_publication_is_reported_not_altered),
        cmocka_unit_test(admins_without_ownership),
        cmocka_unit_test(admins_with_nothing_to_do_need_no_rights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
